#include "io/node_ca.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own_file.h"
#include "base/str.h"
#include "io/node_cert.h"

enum { FILE_MAX = 16384 };

static const int64_t day_ms = INT64_C(86400000);
static const int64_t node_life_ms = INT64_C(86400000);
static const int64_t server_life_ms = 30 * INT64_C(86400000);
static const int64_t ca_life_ms = 3 * 365 * INT64_C(86400000);
/* How long before the present CA ends the next one is made, and takes over.  No node that knows
 * only the present one lives that long. */
static const int64_t prepare_ms = 365 * INT64_C(86400000);
static const int64_t switch_ms = 90 * INT64_C(86400000);

/* In the order in which they are tried. */
enum which { CURRENT, NEXT, OLD, NCAS };

static const char *const files[NCAS] = {
	[CURRENT] = "node-ca.pem",
	[NEXT] = "node-ca-next.pem",
	[OLD] = "node-ca-old.pem",
};

struct node_ca {
	int dir;
	char *path, *cluster;
	struct node_cert_ca cas[NCAS]; /* cert NULL: there is none */
	char *trust;
};

/* --- files -------------------------------------------------------------------------------------
 */

static int fail(const struct node_ca *ca, const char *file, struct err *e)
{
	return err_set(e, err_of_errno(errno), "%.150s/%s: %s", ca->path, file, strerror(errno));
}

static int check_private(const struct node_ca *ca, const char *file, int fd, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fail(ca, file, e);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return err_set(e, ERR_AUTH,
			       "%.150s/%s: must be a regular file owned by this user, mode 0600",
			       ca->path, file);
	return 0;
}

/* 1: text, with a NUL byte, and *n; 0: there is no such file. */
static int read_file(const struct node_ca *ca, const char *file, char *text, size_t *n,
		     struct err *e)
{
	int fd = openat(ca->dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc;
	ssize_t got;

	if (fd < 0)
		return errno == ENOENT ? 0 : fail(ca, file, e);
	rc = check_private(ca, file, fd, e);
	got = rc == 0 ? read(fd, text, FILE_MAX) : 0;
	if (got < 0)
		rc = fail(ca, file, e);
	(void)close(fd);
	if (rc < 0)
		return -1;
	*n = (size_t)got;
	text[got] = '\0';
	return 1;
}

static int write_file(const struct node_ca *ca, const char *file, const char *text, struct err *e)
{
	return own_file_write(ca->dir, file, text, strlen(text), OWN_FILE_REPLACE) == 0
		       ? 0
		       : fail(ca, file, e);
}

static int load(struct node_ca *ca, enum which w, struct err *e)
{
	char *text = mem_zalloc(FILE_MAX + 1);
	size_t n = 0;
	int rc = read_file(ca, files[w], text, &n, e);

	if (rc == 1 && node_cert_parse_ca(&ca->cas[w], text, n, w != OLD, e) < 0) {
		(void)err_wrap(e, "%.100s/%s", ca->path, files[w]);
		rc = -1;
	}
	explicit_bzero(text, FILE_MAX);
	free(text);
	return rc < 0 ? -1 : 0;
}

/* --- which key signs ---------------------------------------------------------------------------
 */

static void make_trust(struct node_ca *ca)
{
	struct str s;

	str_init(&s, (size_t)NCAS * NODE_CA_PEM_MAX);
	for (int w = 0; w < NCAS; w++)
		if (ca->cas[w].cert != NULL) {
			char *text = node_cert_print_ca(&ca->cas[w], false);

			str_adds(&s, text);
			node_cert_free_text(text);
		}
	free(ca->trust);
	ca->trust = str_take(&s);
}

/* Make a new key and certificate in place w, durably. */
static int make(struct node_ca *ca, enum which w, int64_t now_ms, struct err *e)
{
	struct node_cert_ca made;
	char *text;
	int rc;

	if (node_cert_new_ca(&made, ca->cluster, now_ms, ca_life_ms, e) < 0)
		return -1;
	text = node_cert_print_ca(&made, true);
	rc = write_file(ca, files[w], text, e);
	node_cert_free_text(text);
	if (rc == 0)
		ca->cas[w] = made;
	else
		node_cert_free_ca(&made);
	return rc;
}

/* Replace the present CA by the next.  If burstd is killed in between, the present one is saved as
 * the old one and still signs, and this is done again. */
static int take_over(struct node_ca *ca, struct err *e)
{
	char *text = node_cert_print_ca(&ca->cas[CURRENT], false);
	int rc = write_file(ca, files[OLD], text, e);

	node_cert_free_text(text);
	if (rc < 0)
		return -1;
	if (renameat(ca->dir, files[NEXT], ca->dir, files[CURRENT]) < 0 || fsync(ca->dir) < 0)
		return fail(ca, files[CURRENT], e);
	node_cert_free_ca(&ca->cas[OLD]);
	ca->cas[OLD] = ca->cas[CURRENT];
	EVP_PKEY_free(ca->cas[OLD].key); /* it signs nothing any more */
	ca->cas[OLD].key = NULL;
	ca->cas[CURRENT] = ca->cas[NEXT];
	ca->cas[NEXT] = (struct node_cert_ca){.key = NULL};
	return 0;
}

static int64_t left_ms(const struct node_ca *ca, enum which w, int64_t now_ms)
{
	return ca->cas[w].cert != NULL ? node_cert_end_ms(ca->cas[w].cert) - now_ms : 0;
}

static int drop_old(struct node_ca *ca, struct err *e)
{
	if (unlinkat(ca->dir, files[OLD], 0) < 0 && errno != ENOENT)
		return fail(ca, files[OLD], e);
	node_cert_free_ca(&ca->cas[OLD]);
	return 1;
}

/* Do one step of the rollover.  1: done; 0: none is due. */
static int roll(struct node_ca *ca, int64_t now_ms, struct err *e)
{
	const int64_t left = left_ms(ca, CURRENT, now_ms);

	if (ca->cas[CURRENT].cert == NULL)
		return make(ca, CURRENT, now_ms, e) < 0 ? -1 : 1;
	if (ca->cas[NEXT].cert == NULL && left < prepare_ms)
		return make(ca, NEXT, now_ms, e) < 0 ? -1 : 1;
	if (ca->cas[NEXT].cert != NULL && left < switch_ms)
		return take_over(ca, e) < 0 ? -1 : 1;
	if (ca->cas[OLD].cert != NULL && left_ms(ca, OLD, now_ms) < -day_ms)
		return drop_old(ca, e);
	return 0;
}

int node_ca_roll(struct node_ca *ca, int64_t now_ms, struct err *e)
{
	int rc, done = 0;

	while ((rc = roll(ca, now_ms, e)) == 1)
		done = 1;
	if (done || ca->trust == NULL)
		make_trust(ca);
	return rc < 0 ? -1 : done;
}

const char *node_ca_trust(const struct node_ca *ca)
{
	return ca->trust;
}

/* --- opening -----------------------------------------------------------------------------------
 */

static int open_all(struct node_ca *ca, int64_t now_ms, struct err *e)
{
	ca->dir = open(ca->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ca->dir < 0)
		return fail(ca, ".", e);
	for (int w = 0; w < NCAS; w++)
		if (load(ca, (enum which)w, e) < 0)
			return -1;
	/* There is a next CA but no present one: somebody removed that, and running nodes trust it.
	 */
	if (ca->cas[CURRENT].cert == NULL && ca->cas[NEXT].cert != NULL)
		return err_set(e, ERR_INVALID, "%.150s/%s: missing, but %s exists", ca->path,
			       files[CURRENT], files[NEXT]);
	return node_ca_roll(ca, now_ms, e) < 0 ? -1 : 0;
}

int node_ca_open(struct node_ca **out, const char *dir, const char *cluster, int64_t now_ms,
		 struct err *e)
{
	struct node_ca *ca = mem_zalloc(sizeof(*ca));

	*out = NULL;
	ca->path = mem_strdup(dir);
	ca->cluster = mem_strdup(cluster);
	if (open_all(ca, now_ms, e) < 0) {
		node_ca_close(ca);
		return -1;
	}
	*out = ca;
	return 0;
}

void node_ca_close(struct node_ca *ca)
{
	if (ca == NULL)
		return;
	for (int w = 0; w < NCAS; w++)
		node_cert_free_ca(&ca->cas[w]);
	free(ca->trust);
	free(ca->cluster);
	free(ca->path);
	if (ca->dir >= 0)
		(void)close(ca->dir);
	free(ca);
}

/* --- certificates ------------------------------------------------------------------------------
 */

int node_ca_read_csr(const char *pem, size_t len, unsigned char spki[NODE_CA_SPKI_SIZE],
		     struct err *e)
{
	X509_REQ *req = node_cert_read_csr(pem, len, e);

	if (req == NULL)
		return -1;
	node_cert_spki(X509_REQ_get_X509_PUBKEY(req), spki);
	X509_REQ_free(req);
	return 0;
}

static void print_cert(X509 *cert, char out[NODE_CA_PEM_MAX])
{
	char *text = node_cert_print_ca(&(struct node_cert_ca){.cert = cert}, false);

	(void)mem_check(snprintf(out, NODE_CA_PEM_MAX, "%s", text) < NODE_CA_PEM_MAX ? out : NULL);
	node_cert_free_text(text);
}

int node_ca_sign(struct node_ca *ca, const char *pem, size_t len, const char *node, uint64_t gen,
		 int64_t now_ms, struct node_ca_cert *out, struct err *e)
{
	char san[HOSTLIST_NAME_MAX + 64];
	X509_REQ *req;
	X509 *cert;

	*out = (struct node_ca_cert){.until_ms = 0};
	if (!hostlist_is_name(node))
		return err_set(e, ERR_INVALID, "certificate request: not a node name");
	req = node_cert_read_csr(pem, len, e);
	if (req == NULL)
		return -1;
	(void)snprintf(san, sizeof(san), "URI:urn:burst:node:%s:%" PRIu64, node, gen);
	cert = node_cert_sign(&ca->cas[CURRENT], X509_REQ_get0_pubkey(req), node, san, false,
			      now_ms, node_life_ms, e);
	X509_REQ_free(req);
	if (cert == NULL)
		return -1;
	print_cert(cert, out->pem);
	node_cert_serial(cert, out->serial);
	node_cert_spki(X509_get_X509_PUBKEY(cert), out->spki);
	out->until_ms = node_cert_end_ms(cert);
	X509_free(cert);
	return 0;
}

/* Add a name to the text that OpenSSL makes a SAN from, where a comma would begin another name. */
static int add_name(struct str *san, const char *name, struct err *e)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-.";
	unsigned char bytes[16];
	bool addr = inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;

	if (!addr && (name[0] == '\0' || name[strspn(name, plain)] != '\0'))
		return err_set(e, ERR_INVALID, "'%.60s' is neither a host name nor an address",
			       name);
	str_addf(san, "%s%s:%s", san->len > 0 ? "," : "", addr ? "IP" : "DNS", name);
	return 0;
}

static int make_server(struct node_ca *ca, const char *san, int64_t now_ms,
		       struct node_ca_server *out, struct err *e)
{
	struct node_cert_ca made = {.key = EVP_EC_gen("P-256")};
	char *text;

	if (made.key != NULL)
		made.cert = node_cert_sign(&ca->cas[CURRENT], made.key, "burstd", san, true, now_ms,
					   server_life_ms, e);
	if (made.cert == NULL) {
		EVP_PKEY_free(made.key);
		return err_wrap(e, "the listener's certificate");
	}
	print_cert(made.cert, out->pem);
	out->until_ms = node_cert_end_ms(made.cert);
	text = node_cert_print_ca(&made, true); /* the key, then the certificate */
	(void)snprintf(out->key, sizeof(out->key), "%.*s",
		       (int)(strstr(text, "-----BEGIN CERTIFICATE") - text), text);
	node_cert_free_text(text);
	node_cert_free_ca(&made);
	return 0;
}

int node_ca_serve(struct node_ca *ca, const char *const *names, size_t n, int64_t now_ms,
		  struct node_ca_server *out, struct err *e)
{
	struct str san;
	int rc = 0;

	*out = (struct node_ca_server){.until_ms = 0};
	str_init(&san, NODE_CA_NAMES_MAX * 256);
	if (n == 0 || n > NODE_CA_NAMES_MAX)
		rc = err_set(e, ERR_INVALID, "the listener must have 1 to %d names",
			     NODE_CA_NAMES_MAX);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_name(&san, names[i], e);
	if (rc == 0 && san.full)
		rc = err_set(e, ERR_INVALID, "the listener's names are too long");
	if (rc == 0)
		rc = make_server(ca, san.p, now_ms, out, e);
	str_fini(&san);
	return rc;
}

/* --- who is who --------------------------------------------------------------------------------
 */

int node_ca_check(const struct node_ca *ca, const void *der, size_t len, int64_t now_ms,
		  struct node_ca_peer *out, struct err *e)
{
	const unsigned char *p = der;
	X509 *cert = NULL;
	int rc = 0;

	*out = (struct node_ca_peer){.gen = 0};
	if (len <= NODE_CA_CERT_MAX)
		cert = d2i_X509(NULL, &p, (long)len);
	if (cert != NULL && p == (const unsigned char *)der + len)
		for (int w = 0; w < NCAS && rc == 0; w++)
			if (ca->cas[w].cert != NULL)
				rc = node_cert_check(&ca->cas[w], cert, now_ms, out, e);
	X509_free(cert);
	ERR_clear_error();
	if (rc == 0)
		return err_set(e, ERR_AUTH, "the certificate was not issued by this cluster's CA");
	return rc < 0 ? -1 : 0;
}
