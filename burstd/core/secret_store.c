#include "core/secret_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/jpull.h"

static void wipe(char *text, size_t len)
{
	if (text != NULL)
		explicit_bzero(text, len);
	free(text);
}

void secret_request_fini(struct secret_request *r)
{
	for (size_t i = 0; i < SECRET_HEADERS_MAX && r->headers[i] != NULL; i++)
		wipe(r->headers[i], strlen(r->headers[i]));
	free(r->url);
	wipe(r->body, r->body_len);
	*r = (struct secret_request){0};
}

void secret_result_fini(struct secret_result *r)
{
	secret_free(r->value);
	*r = (struct secret_result){0};
}

const char *secret_code_str(enum secret_code c)
{
	static const char *const words[SECRET_NCODES] = {
		[SECRET_OK] = "ok",
		[SECRET_ELSEWHERE] = "elsewhere",
		[SECRET_AWAY] = "away",
		[SECRET_BEHIND] = "behind",
		[SECRET_RATE] = "rate",
		[SECRET_TRANSIENT] = "transient",
		[SECRET_DENIED] = "denied",
		[SECRET_MISSING] = "missing",
		[SECRET_CONFLICT] = "conflict",
		[SECRET_SPENT] = "spent",
		[SECRET_INVALID] = "invalid",
		[SECRET_NEW] = "new",
	};

	return (unsigned)c < SECRET_NCODES ? words[c] : "?";
}

const char *secret_op_str(enum secret_op_kind k)
{
	static const char *const words[SECRET_NOPS] = {
		[SECRET_HEALTH] = "health", [SECRET_LOGIN] = "login",
		[SECRET_RENEW] = "renew",   [SECRET_LOGOUT] = "logout",
		[SECRET_RIGHTS] = "rights", [SECRET_VERSION] = "version",
		[SECRET_READ] = "read",     [SECRET_WRAP] = "wrap",
		[SECRET_REVOKE] = "revoke", [SECRET_LOOK] = "look",
		[SECRET_WRITE] = "write",   [SECRET_PROMOTE] = "promote",
		[SECRET_PEEK] = "peek",     [SECRET_UNWRAP] = "unwrap",
	};

	return (unsigned)k < SECRET_NOPS ? words[k] : "?";
}

/* Length of "https://host:port" at the start of a URL; 0: it has none. */
static size_t origin(const char *url)
{
	const char *host = strstr(url, "://");

	if (host == NULL || host[3] == '\0' || host[3] == '/')
		return 0;
	return (size_t)(host + 3 - url) + strcspn(host + 3, "/?#");
}

int secret_address_of(const struct secret_store_ops *ops, const void *self, const char *location)
{
	size_t n = origin(location);
	const char *address;

	/* Compare all of it: "https://ours:8200@theirs" begins like ours. */
	if (n == 0)
		return -1;
	for (uint32_t i = 0; (address = ops->address(self, i)) != NULL; i++)
		if (strlen(address) == n && strncasecmp(address, location, n) == 0)
			return (int)i;
	return -1;
}

/* --- the bundle --------------------------------------------------------------------------------
 */

enum { DECODED_MAX = SECRET_BUNDLE_MAX / 4 * 3, FEW = 8, JWKS_MAX = 4096 };

/* Decode strictly, without blanks and in whole groups of four: two readers must not see two keys.
 * Returns the number of bytes, or -1. */
static int decode(const struct secret_piece *b, unsigned char *out, size_t size)
{
	size_t n;

	return base64_decode(BASE64_PLAIN, b->p, b->n, out, size, &n) ? (int)n : -1;
}

/* Is the key a repetition of a shorter text? */
static bool repeats(const unsigned char *key, size_t n)
{
	for (size_t period = 1; period <= n / 2; period++)
		if (memcmp(key, key + period, n - period) == 0)
			return true;
	return false;
}

/* Is it a key from a published script: a repeated text, or few distinct bytes? */
static bool is_known(const unsigned char *key, size_t n)
{
	static const char sample[] = "welcometoslurm";
	bool seen[256] = {false};
	unsigned kinds = 0;

	for (size_t i = 0; i < n; i++) {
		kinds += !seen[key[i]];
		seen[key[i]] = true;
	}
	return kinds < FEW || repeats(key, n) || memmem(key, n, sample, strlen(sample)) != NULL;
}

static int check_key(const char *name, const struct secret_piece *b, int max, struct err *e)
{
	unsigned char key[DECODED_MAX];
	int n, rc = 0;

	if (b->n == 0)
		return 0;
	n = decode(b, key, sizeof(key));
	if (n < 0)
		rc = err_set(e, ERR_INVALID, "%s is not base64", name);
	else if (n < SECRET_KEY_MIN || n > max)
		rc = err_set(e, ERR_INVALID, "%s has %d bytes: want %d to %d", name, n,
			     SECRET_KEY_MIN, max);
	else if (is_known(key, (size_t)n))
		rc = err_set(e, ERR_INVALID,
			     "%s is a sample or a pattern: make a key with "
			     "\"mungekey\" or from random bytes",
			     name);
	explicit_bzero(key, sizeof(key));
	return rc;
}

static int check_jwks(const struct secret_piece *b, struct err *e)
{
	unsigned char text[DECODED_MAX];
	int n, rc = 0;
	struct jpull j;

	if (b->n == 0)
		return 0;
	n = decode(b, text, sizeof(text));
	if (n > 0 && n <= JWKS_MAX) {
		jpull_init(&j, (const char *)text, (size_t)n);
		if (jpull_take(&j).type != JPULL_OBJECT || !jpull_end(&j))
			n = -1;
	}
	if (n <= 0 || n > JWKS_MAX)
		rc = err_set(e, ERR_INVALID, "slurm_jwks is not the base64 of a JSON object");
	explicit_bzero(text, sizeof(text));
	return rc;
}

/* Take one member; 0 or -1. */
static int take_piece(struct jpull *j, struct secret_piece *out)
{
	struct jpull_value v = jpull_take(j);

	if (v.type == JPULL_NULL)
		return 0;
	if (v.type != JPULL_STRING || !v.plain || out->p != NULL)
		return -1;
	*out = (struct secret_piece){v.p, v.n};
	return 0;
}

static int read_members(struct jpull *j, struct secret_bundle *b, struct err *e)
{
	struct secret_piece kid = {0};
	struct {
		const char *name;
		struct secret_piece *to;
	} members[] = {{"munge_key", &b->munge_key},
		       {"slurm_key", &b->slurm_key},
		       {"slurm_jwks", &b->slurm_jwks},
		       {"munge_key_next", &b->munge_key_next},
		       {"kid", &kid}};
	struct jpull_value key;

	if (!jpull_enter(j, '{'))
		return err_set(e, ERR_INVALID, "the bundle is not a JSON object");
	while (jpull_key(j, &key)) {
		struct secret_piece *to = NULL;

		for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
			if (jpull_is(&key, members[i].name))
				to = members[i].to;
		if (to == NULL)
			(void)jpull_take(j);
		else if (take_piece(j, to) < 0)
			return err_set(e, ERR_INVALID,
				       "%.*s is not a plain string, or occurs twice", (int)key.n,
				       key.p);
	}
	if (!jpull_end(j))
		return err_set(e, ERR_INVALID, "the bundle is malformed JSON");
	if (kid.n >= sizeof(b->kid))
		return err_set(e, ERR_INVALID, "kid has more than %zu bytes", sizeof(b->kid) - 1);
	if (kid.n > 0)
		memcpy(b->kid, kid.p, kid.n);
	return 0;
}

int secret_bundle_read(const char *text, size_t len, struct secret_bundle *out, struct err *e)
{
	struct secret_bundle b = {0};
	struct jpull j;

	if (out != NULL)
		*out = b;
	if (len > SECRET_BUNDLE_MAX)
		return err_set(e, ERR_LIMIT, "the bundle has more than %d bytes",
			       SECRET_BUNDLE_MAX);
	jpull_init(&j, text, len);
	if (read_members(&j, &b, e) < 0)
		return -1;
	if (b.munge_key.n + b.slurm_key.n + b.slurm_jwks.n == 0)
		return err_set(e, ERR_INVALID,
			       "the bundle has neither munge_key, slurm_key nor slurm_jwks");
	if (check_key("munge_key", &b.munge_key, SECRET_KEY_MAX, e) < 0 ||
	    check_key("munge_key_next", &b.munge_key_next, SECRET_KEY_MAX, e) < 0 ||
	    check_key("slurm_key", &b.slurm_key, SECRET_KEY_MAX, e) < 0 ||
	    check_jwks(&b.slurm_jwks, e) < 0)
		return -1;
	if (out != NULL)
		*out = b;
	return 0;
}
