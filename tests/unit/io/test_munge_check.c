/* test_munge_check.c - a node's credential, before a real munged with a key and a socket of its
 * own: good, seen before, of another request, another user or another key; and a munged that is
 * away. */
#include "io/munge_check.h"

#include <fcntl.h>
#include <munge.h>
#include <openssl/sha.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/loop.h"

#define BODY  "{\"v\":1,\"node\":\"c1\",\"generation\":2,\"key_version\":7}"
#define NONCE "0123456789abcdef0123456789abcdef"

static char dir[64], sock[96];
static pid_t munged;

static struct fix {
	struct loop *loop;
	struct munge_check *m;
	unsigned ended, want;
	enum munge_word word;
	char why[512], cred[1024];
	char payload[512];
	size_t len;
} F;

/* --- munged ----------------------------------------------------------------------------------- */

static void path_of(char *out, size_t size, const char *name)
{
	(void)snprintf(out, size, "%s/%s", dir, name);
}

static const char *find_munged(void)
{
	return access("/usr/sbin/munged", X_OK) == 0 ? "/usr/sbin/munged" : NULL;
}

static void write_key(const char *name, char byte)
{
	char path[96], key[64];
	int fd;

	path_of(path, sizeof(path), name);
	memset(key, byte, sizeof(key));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, key, sizeof(key)) == (ssize_t)sizeof(key));
	(void)close(fd);
}

static pid_t run_munged(const char *key, const char *socket)
{
	char opt[5][160];
	pid_t pid;

	(void)snprintf(opt[0], sizeof(opt[0]), "--key-file=%s/%s", dir, key);
	(void)snprintf(opt[1], sizeof(opt[1]), "--socket=%s", socket);
	(void)snprintf(opt[2], sizeof(opt[2]), "--pid-file=%s/%s.pid", dir, key);
	(void)snprintf(opt[3], sizeof(opt[3]), "--log-file=%s/%s.log", dir, key);
	(void)snprintf(opt[4], sizeof(opt[4]), "--seed-file=%s/%s.seed", dir, key);
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		(void)dup2(null, 1);
		(void)dup2(null, 2);
		(void)execl(find_munged(), "munged", "--foreground", "--force", opt[0], opt[1],
			    opt[2], opt[3], opt[4], (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 500 && access(socket, F_OK) != 0; i++)
		(void)usleep(10000);
	return pid;
}

static void end_munged(pid_t pid)
{
	int status;

	if (pid <= 0)
		return;
	(void)kill(pid, SIGTERM);
	(void)waitpid(pid, &status, 0);
}

static int start_all(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/burst-munge-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0711), 0); /* the way to a socket is open, or munged refuses */
	path_of(sock, sizeof(sock), "socket");
	if (find_munged() == NULL)
		return 0;
	write_key("one", 'a');
	write_key("two", 'b');
	munged = run_munged("one", sock);
	return 0;
}

static int end_all(void **state)
{
	static const char *const names[] = {"one",    "one.log",     "one.seed", "one.pid",
					    "two",    "two.log",     "two.seed", "two.pid",
					    "socket", "socket.lock", "other",    "other.lock"};
	char path[96];

	(void)state;
	end_munged(munged);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(path, sizeof(path), names[i]);
		(void)unlink(path);
	}
	return rmdir(dir);
}

/* --- a node's side ---------------------------------------------------------------------------- */

struct node_says { /* what its credential is for; NULL: what it should be */
	const char *host, *method, *path, *body, *node, *nonce;
};

static void field(const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(F.payload + F.len, text, n);
	F.len += n;
}

static const char * or (const char *a, const char *b)
{
	return a != NULL ? a : b;
}

static void make_payload(const struct node_says *s)
{
	const char *body = or (s->body, BODY);
	unsigned char hash[SHA256_DIGEST_LENGTH];
	char hex[2 * sizeof(hash) + 1];

	assert_non_null(SHA256((const unsigned char *)body, strlen(body), hash));
	for (size_t i = 0; i < sizeof(hash); i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", hash[i]);
	F.len = 0;
	field("burst1");
	field(or (s->host, "burst.example.com"));
	field(or (s->method, "POST"));
	field(or (s->path, "/v1/node/confirm"));
	field(hex);
	field(or (s->node, "c1"));
	field(or (s->nonce, NONCE));
	F.len--; /* no NUL byte behind the last */
}

static char *encode(const char *socket, const char *payload, size_t len)
{
	munge_ctx_t ctx = munge_ctx_create();
	char *cred = NULL;

	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket), EMUNGE_SUCCESS);
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_TTL, 60), EMUNGE_SUCCESS);
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, geteuid()), EMUNGE_SUCCESS);
	assert_int_equal(munge_encode(&cred, ctx, payload, (int)len), EMUNGE_SUCCESS);
	munge_ctx_destroy(ctx);
	return cred;
}

static const char *const hosts[] = {"other.example.com", "burst.example.com", NULL};

static struct munge_ask ask_for(const char *cred)
{
	return (struct munge_ask){.credential = cred,
				  .hosts = hosts,
				  .method = "POST",
				  .path = "/v1/node/confirm",
				  .body = BODY,
				  .len = strlen(BODY),
				  .node = "c1",
				  .uid = geteuid()};
}

static void on_end(void *ctx, const struct munge_end *end)
{
	assert_int_equal(*(int *)ctx, 42);
	F.word = end->word;
	(void)snprintf(F.why, sizeof(F.why), "%s", end->why);
	(void)snprintf(F.cred, sizeof(F.cred), "%s", end->cred);
	if (++F.ended == F.want)
		loop_stop(F.loop);
}

static int *a_ctx(void)
{
	int *p = mem_zalloc(sizeof(*p));

	*p = 42;
	return p;
}

static enum munge_word check(const struct munge_ask *ask)
{
	F.ended = 0;
	F.want = 1;
	assert_int_equal(munge_check_begin(F.m, ask, on_end, a_ctx(), NULL), 0);
	assert_int_equal(F.ended, 0); /* never from inside */
	loop_run(F.loop);
	assert_int_equal(F.ended, 1);
	return F.word;
}

static enum munge_word say(const struct node_says *s)
{
	struct munge_ask ask;
	enum munge_word w;
	char *cred;

	make_payload(s);
	cred = encode(sock, F.payload, F.len);
	ask = ask_for(cred);
	w = check(&ask);
	free(cred);
	return w;
}

static int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	if (munged <= 0)
		return 0;
	assert_int_equal(loop_new(&F.loop, NULL), 0);
	F.m = munge_check_new(F.loop, sock);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	munge_check_free(F.m);
	loop_free(F.loop);
	return 0;
}

#define NEEDS_MUNGED                                                                               \
	do {                                                                                       \
		(void)state;                                                                       \
		if (munged <= 0)                                                                   \
			skip();                                                                    \
	} while (0)

/* --- tests ------------------------------------------------------------------------------------ */

static void a_good_credential_is_answered_with_one_for_root(void **state)
{
	munge_ctx_t ctx;
	void *payload = NULL;
	int len = 0;

	NEEDS_MUNGED;
	assert_int_equal(say(&(struct node_says){0}), MUNGE_GOOD);
	assert_int_equal(strncmp(F.cred, "MUNGE:", 6), 0);
	ctx = munge_ctx_create();
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_SOCKET, sock), EMUNGE_SUCCESS);
	assert_int_equal(munge_decode(F.cred, ctx, &payload, &len, NULL, NULL),
			 geteuid() == 0 ? EMUNGE_SUCCESS : EMUNGE_CRED_UNAUTHORIZED);
	if (geteuid() == 0) {
		uid_t only = 1;
		int ttl = 0;

		assert_int_equal(len, MUNGE_CHECK_NONCE);
		assert_memory_equal(payload, NONCE, MUNGE_CHECK_NONCE);
		assert_int_equal(munge_ctx_get(ctx, MUNGE_OPT_UID_RESTRICTION, &only),
				 EMUNGE_SUCCESS);
		assert_int_equal(only, 0);
		assert_int_equal(munge_ctx_get(ctx, MUNGE_OPT_TTL, &ttl), EMUNGE_SUCCESS);
		assert_int_equal(ttl, MUNGE_CHECK_TTL_S);
	}
	free(payload);
	munge_ctx_destroy(ctx);
}

static void a_credential_is_good_once(void **state)
{
	struct munge_ask ask;
	char *cred;

	NEEDS_MUNGED;
	make_payload(&(struct node_says){0});
	cred = encode(sock, F.payload, F.len);
	ask = ask_for(cred);
	assert_int_equal(check(&ask), MUNGE_GOOD);
	assert_int_equal(check(&ask), MUNGE_REPLAYED);
	assert_string_equal(F.cred, "");
	free(cred);
}

static void a_credential_for_another_request_is_refused(void **state)
{
	static const struct {
		struct node_says s;
		const char *why;
	} cases[] = {
		{{.host = "evil.example.com"}, "credential is for another host"},
		{{.host = "burst"}, "credential is for another host"},
		{{.path = "/v1/node/event"}, "credential is for another path"},
		{{.method = "GET"}, "credential is for another method"},
		{{.body = "{}"}, "credential is for another body"},
		{{.node = "c2"}, "credential is for another node"},
		{{.nonce = "short"}, "credential has a malformed nonce"},
		{{.nonce = "0123456789ABCDEF0123456789ABCDEF"}, "credential has a malformed nonce"},
	};

	NEEDS_MUNGED;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(say(&cases[i].s), MUNGE_WRONG);
		assert_string_equal(F.why, cases[i].why);
		assert_string_equal(F.cred, "");
	}
}

static void a_credential_of_another_user_is_refused(void **state)
{
	struct munge_ask ask;
	char *cred;

	NEEDS_MUNGED;
	make_payload(&(struct node_says){0});
	cred = encode(sock, F.payload, F.len);
	ask = ask_for(cred);
	ask.uid = geteuid() + 1;
	assert_int_equal(check(&ask), MUNGE_WRONG);
	assert_non_null(strstr(F.why, "credential was made by uid "));
	free(cred);
}

static void a_credential_of_another_key_is_refused(void **state)
{
	struct munge_ask ask;
	char other[96], *cred;
	pid_t pid;

	NEEDS_MUNGED;
	path_of(other, sizeof(other), "other");
	pid = run_munged("two", other);
	make_payload(&(struct node_says){0});
	cred = encode(other, F.payload, F.len);
	end_munged(pid);
	ask = ask_for(cred);
	assert_int_equal(check(&ask), MUNGE_WRONG);
	ask.credential = "MUNGE:AAAA:";
	assert_int_equal(check(&ask), MUNGE_WRONG);
	free(cred);
}

static void without_munged_it_says_so(void **state)
{
	struct munge_ask ask = ask_for("MUNGE:AAAA:");

	NEEDS_MUNGED;
	munge_check_free(F.m);
	F.m = munge_check_new(F.loop, "/nowhere/munge.socket");
	assert_int_equal(check(&ask), MUNGE_AWAY);
	assert_int_equal(strncmp(F.why, "munge: ", 7), 0);
}

/* Who hangs: a socket that nobody answers at. */
static int listen_only(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

/* In a process of its own, for its exit counts, too. */
static void ends_while_munged_hangs(const char *path)
{
	struct munge_ask ask = ask_for("MUNGE:AwQDAAA=:");
	struct loop *l;
	struct munge_check *m;

	if (loop_new(&l, NULL) != 0)
		_exit(2);
	m = munge_check_new(l, path);
	for (int i = 0; i < 2 * MUNGE_CHECK_AT_ONCE; i++)
		if (munge_check_begin(m, &ask, on_end, a_ctx(), NULL) != 0)
			_exit(3);
	(void)usleep(100000); /* by then they wait for munged */
	munge_check_free(m);
	loop_free(l);
	exit(F.ended == 0 ? 0 : 4);
}

static void a_munged_that_hangs_keeps_nobody_from_ending(void **state)
{
	char path[96];
	int64_t from = clock_boot_ms();
	int fd, status = -1;
	pid_t pid;

	(void)state;
	path_of(path, sizeof(path), "hangs");
	fd = listen_only(path);
	pid = fork();
	if (pid == 0)
		ends_while_munged_hangs(path);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(clock_boot_ms() - from < 3000); /* libmunge alone takes more than that */
	(void)close(fd);
	(void)unlink(path);
}

static void what_is_too_much_or_no_credential_is_not_taken(void **state)
{
	struct munge_ask ask = ask_for("Bearer x");
	char *large = mem_zalloc(MUNGE_CHECK_CRED_MAX + 64);
	struct err err = {0};
	int *ctx = a_ctx(), n = 0;

	NEEDS_MUNGED;
	assert_int_equal(munge_check_begin(F.m, &ask, on_end, ctx, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	memset(large, 'A', MUNGE_CHECK_CRED_MAX + 1);
	memcpy(large, "MUNGE:", 6);
	ask.credential = large;
	assert_int_equal(munge_check_begin(F.m, &ask, on_end, ctx, &err), -1);
	ask.credential = "MUNGE:AAAA:";
	F.want = 0;
	while (munge_check_begin(F.m, &ask, on_end, ctx, &err) == 0) {
		ctx = a_ctx();
		n++;
	}
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(n, MUNGE_CHECK_WAITING_MAX + MUNGE_CHECK_AT_ONCE);
	free(ctx);
	free(large);
	/* Ended with all of them on their way: nobody is told, and nothing is left (teardown). */
}

static bool payload_is_good(const char *payload, size_t len)
{
	const struct munge_ask ask = ask_for("");
	char nonce[MUNGE_CHECK_NONCE + 1];

	return munge_check_payload(&ask, payload, len, nonce, NULL) == 0;
}

/* Each prefix of it, with a NUL byte behind it or more, a field too many. */
static void a_payload_has_its_fields_and_no_other(void **state)
{
	char more[600];

	(void)state;
	make_payload(&(struct node_says){0});
	assert_true(payload_is_good(F.payload, F.len));
	for (size_t n = 0; n < F.len; n++)
		assert_false(payload_is_good(F.payload, n));
	memcpy(more, F.payload, F.len);
	more[F.len] = '\0';
	assert_false(payload_is_good(more, F.len + 1));
	more[F.len + 1] = 'x';
	assert_false(payload_is_good(more, F.len + 2));
	memset(more, 'x', sizeof(more));
	assert_false(payload_is_good(more, sizeof(more)));
	assert_false(payload_is_good(NULL, 0));
	make_payload(&(struct node_says){.host = "BURST.example.COM"});
	assert_true(payload_is_good(F.payload, F.len));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_credential_is_answered_with_one_for_root),
		TEST(a_credential_is_good_once),
		TEST(a_credential_for_another_request_is_refused),
		TEST(a_credential_of_another_user_is_refused),
		TEST(a_credential_of_another_key_is_refused),
		TEST(without_munged_it_says_so),
		TEST(a_munged_that_hangs_keeps_nobody_from_ending),
		TEST(what_is_too_much_or_no_credential_is_not_taken),
		TEST(a_payload_has_its_fields_and_no_other),
	};

	return cmocka_run_group_tests(tests, start_all, end_all);
}
