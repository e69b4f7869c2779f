/* test_http_tls.c - which certificates http_client trusts, against real TLS by openssl(1).
 *
 * F27: a request to a server that is not trusted is not sent. */
#include "io/http_client.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "io/loop.h"

struct tls {
	char dir[32], cert[64], other[64], key[64];
	const char *version; /* an option of s_server's; NULL: any */
	pid_t pid;
	int port;
};

static int quietly(const char *const *argv)
{
	union {
		const char *const *in;
		char **out;
	} u = {.in = argv};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		(void)dup2(null, 0);
		(void)dup2(null, 1);
		(void)dup2(null, 2);
		(void)execvp(u.out[0], u.out);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int make_cert(const struct tls *t, const char *cert, const char *san)
{
	const char *const argv[] = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
				    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
				    /* OpenSSL looks no further than to the first of a name. */
				    cert == t->other ? "/CN=other" : "/CN=test", "-addext", san,
				    "-keyout", t->key, "-out", cert, NULL};

	return quietly(argv);
}

static void tls_child(const struct tls *t, int out)
{
	int null = open("/dev/null", O_RDWR);

	(void)dup2(null, 0);
	(void)dup2(out, 1);
	(void)dup2(null, 2);
	(void)execlp("openssl", "openssl", "s_server", "-4", "-accept", "127.0.0.1:0", "-cert",
		     t->cert, "-key", t->key, "-www", t->version, (char *)NULL);
	_exit(127);
}

static void tls_start(struct tls *t, const char *san)
{
	char line[256];
	int fd[2];
	FILE *f;

	t->pid = 0;
	t->port = 0;
	assert_int_equal(make_cert(t, t->cert, san), 0);
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	t->pid = fork();
	if (t->pid == 0)
		tls_child(t, fd[1]);
	(void)close(fd[1]);
	f = fdopen(fd[0], "r");
	while (t->port == 0 && fgets(line, sizeof(line), f) != NULL)
		(void)sscanf(line, "ACCEPT 127.0.0.1:%d", &t->port);
	(void)fclose(f);
}

static void tls_stop(struct tls *t)
{
	if (t->pid > 0) {
		(void)kill(t->pid, SIGKILL);
		(void)waitpid(t->pid, NULL, 0);
	}
	t->pid = 0;
}

static const struct {
	const char *name, *san;
	bool own_ca; /* trust the server's certificate; else another's, or the system's */
	bool other_ca;
	int code;
} certs[] = {
	{"our own CA", "subjectAltName=IP:127.0.0.1", true, false, 0},
	{"the system's CAs", "subjectAltName=IP:127.0.0.1", false, false, ERR_NOTSENT},
	{"another CA", "subjectAltName=IP:127.0.0.1", false, true, ERR_NOTSENT},
	{"wrong host", "subjectAltName=DNS:example.org", true, false, ERR_NOTSENT},
	{"wrong address", "subjectAltName=IP:127.0.0.2", true, false, ERR_NOTSENT},
};

struct result {
	int code;
	long status;
};

static void done(void *ctx, const struct http_reply *r, const struct err *e)
{
	struct result *res = ctx;

	res->code = e ? e->code : 0;
	res->status = r ? r->status : 0;
}

static void closed(void *ctx)
{
	(void)ctx;
}

static struct result get(const char *url, const char *ca_file)
{
	const struct http_call k = {.method = "GET",
				    .url = url,
				    .ca_file = ca_file,
				    .timeout_ms = 10000,
				    .max_reply = 65536};
	struct result res = {.code = -1};
	struct http_client *c;
	struct loop *l;

	assert_int_equal(loop_new(&l, NULL), 0);
	assert_int_equal(http_client_new(&c, l, NULL), 0);
	assert_int_equal(http_client_send(c, &k, done, &res, NULL, NULL), 0);
	while (res.code < 0)
		(void)uv_run(loop_uv(l), UV_RUN_ONCE);
	http_client_close(c, closed, NULL);
	loop_run(l);
	loop_free(l);
	return res;
}

static void check_cert(struct tls *t, size_t i)
{
	const char *ca_file = certs[i].own_ca ? t->cert : certs[i].other_ca ? t->other : NULL;
	struct result res;
	char url[64];

	print_message("# %s\n", certs[i].name);
	tls_start(t, certs[i].san);
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%d/", t->port);
	res = get(url, ca_file);
	tls_stop(t);
	assert_int_equal(res.code, certs[i].code);
	assert_int_equal(res.status, res.code == 0 ? 200 : 0);
}

static void test_tls(void **state)
{
	static const char *const version[] = {"openssl", "version", NULL};
	struct tls t = {.dir = "/tmp/httpsXXXXXX"};

	(void)state;
	if (quietly(version) != 0)
		skip();
	assert_non_null(mkdtemp(t.dir));
	(void)snprintf(t.cert, sizeof(t.cert), "%s/cert.pem", t.dir);
	(void)snprintf(t.other, sizeof(t.other), "%s/other.pem", t.dir);
	(void)snprintf(t.key, sizeof(t.key), "%s/key.pem", t.dir);
	assert_int_equal(make_cert(&t, t.other, "subjectAltName=IP:127.0.0.1"), 0);
	for (size_t i = 0; i < sizeof(certs) / sizeof(certs[0]); i++)
		check_cert(&t, i);
	(void)unlink(t.cert);
	(void)unlink(t.other);
	(void)unlink(t.key);
	(void)rmdir(t.dir);
}

/* PEM as a system keeps it in a directory: by the hash of its subject. */
static void put_by_hash(const char *dir, const char *pem)
{
	char link[96];
	FILE *f = fopen(pem, "r");
	X509 *x = PEM_read_X509(f, NULL, NULL, NULL);

	assert_int_equal(mkdir(dir, 0755), 0);
	(void)snprintf(link, sizeof(link), "%s/%08lx.0", dir, X509_subject_name_hash(x));
	assert_int_equal(symlink(pem, link), 0);
	X509_free(x);
	(void)fclose(f);
}

enum { NO_NAMESPACES = 77, NOT_THE_SYSTEMS = 78 };

/* Where libcurl was built to look, DIR and PEM are, for this process; the file may be in the
 * directory. */
static int be_the_system(const char *dir, const char *pem)
{
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);

	if (unshare(CLONE_NEWNS | (geteuid() != 0 ? CLONE_NEWUSER : 0)) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    (v->capath != NULL && mount(dir, v->capath, NULL, MS_BIND, NULL) != 0))
		return NO_NAMESPACES;
	if (v->cainfo == NULL || symlink(pem, v->cainfo) == 0)
		return 0;
	return mount(pem, v->cainfo, NULL, MS_BIND, NULL) == 0 ? 0 : NO_NAMESPACES;
}

static int ask_as_system(const struct tls *t, const char *dir, const char *url)
{
	int rc = be_the_system(dir, t->cert);

	if (rc != 0)
		return rc;
	if (get(url, NULL).code != 0)
		return NOT_THE_SYSTEMS;
	return get(url, t->other).code == ERR_NOTSENT ? 0 : 1;
}

/* Who is given an authority believes nobody else: neither the system's file nor its directory,
 * which libcurl knows by itself. */
static void test_system_is_not_believed_besides(void **state)
{
	struct tls t = {.dir = "/tmp/httpsXXXXXX"};
	char url[64], dir[64];
	int status;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(t.dir));
	(void)snprintf(t.cert, sizeof(t.cert), "%s/cert.pem", t.dir);
	(void)snprintf(t.other, sizeof(t.other), "%s/other.pem", t.dir);
	(void)snprintf(t.key, sizeof(t.key), "%s/key.pem", t.dir);
	(void)snprintf(dir, sizeof(dir), "%s/certs", t.dir);
	assert_int_equal(make_cert(&t, t.other, "subjectAltName=IP:127.0.0.1"), 0);
	tls_start(&t, "subjectAltName=IP:127.0.0.1");
	put_by_hash(dir, t.cert);
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%d/", t.port);
	pid = fork();
	if (pid == 0)
		_exit(ask_as_system(&t, dir, url));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	tls_stop(&t);
	assert_int_equal(quietly((const char *const[]){"rm", "-rf", t.dir, NULL}), 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_NAMESPACES)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_tls),
					   cmocka_unit_test(test_system_is_not_believed_besides)};
	int rc;

	(void)curl_global_init(CURL_GLOBAL_ALL);
	rc = cmocka_run_group_tests_name("http_tls", tests, NULL, NULL);
	curl_global_cleanup();
	return rc;
}
