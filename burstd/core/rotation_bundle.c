#include "core/rotation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/jpull.h"
#include "base/mem.h"
#include "core/secret_store.h"

/* Write the secret store's bundle anew, with one key more or less; all else is copied as it is.  It
 * is all secret, so buffers have a fixed size: a buffer that grows leaves copies in memory. */

enum { JWKS_MAX = 4096, JWKS_KEY_BYTES = 32, KEYS_MAX = 16, MORE = 1024 };

struct text {
	char *p;
	size_t len, size;
	bool full;
};

static struct text text_new(size_t size)
{
	return (struct text){.p = mem_zalloc(size), .size = size};
}

static void text_free(struct text *t)
{
	if (t->p != NULL)
		explicit_bzero(t->p, t->size);
	free(t->p);
	t->p = NULL;
}

static void add(struct text *t, const char *p, size_t n)
{
	if (t->full || n >= t->size - t->len) {
		t->full = true;
		return;
	}
	memcpy(t->p + t->len, p, n);
	t->len += n;
}

static void adds(struct text *t, const char *p)
{
	add(t, p, strlen(p));
}

static void add_base64(struct text *t, const unsigned char *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned v = (unsigned)p[i] << 16 | (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) |
			     (i + 2 < n ? p[i + 2] : 0);
		char out[4] = {digits[v >> 18], digits[v >> 12 & 63],
			       i + 1 < n ? digits[v >> 6 & 63] : '=',
			       i + 2 < n ? digits[v & 63] : '='};

		add(t, out, sizeof(out));
		explicit_bzero(out, sizeof(out));
	}
}

/* Begin a member with "name":, and with a comma if it is not the first. */
static void key(struct text *t, const char *name, size_t n, bool *first)
{
	adds(t, *first ? "\"" : ",\"");
	add(t, name, n);
	adds(t, "\":");
	*first = false;
}

static void value(struct text *t, const struct jpull_value *v)
{
	bool string = v->type == JPULL_STRING;

	adds(t, string ? "\"" : "");
	add(t, v->p, v->n);
	adds(t, string ? "\"" : "");
}

static void member(struct text *t, const char *name, const char *p, size_t n, bool *first)
{
	const struct jpull_value v = {.type = JPULL_STRING, .p = p, .n = n};

	key(t, name, strlen(name), first);
	value(t, &v);
}

static void kid_of(const struct rotation *r, char out[ROTATION_MARK_SIZE])
{
	(void)snprintf(out, ROTATION_MARK_SIZE, "r%llx", (unsigned long long)r->id);
}

/* --- slurm.jwks --------------------------------------------------------------------------------
 */

struct jwk {
	struct jpull_value all, kid;
};

struct jwks { /* borrowed from its text */
	struct jwk keys[KEYS_MAX];
	size_t n;
};

static int read_jwks(const char *p, size_t n, struct jwks *out)
{
	struct jpull_value k;
	struct jpull j;

	*out = (struct jwks){.n = 0};
	jpull_init(&j, p, n);
	if (!jpull_enter(&j, '{'))
		return -1;
	while (jpull_key(&j, &k)) {
		if (!jpull_is(&k, "keys")) {
			(void)jpull_take(&j);
			continue;
		}
		if (!jpull_enter(&j, '['))
			return -1;
		while (jpull_item(&j)) {
			struct jpull_value v = jpull_take(&j);

			if (v.type != JPULL_OBJECT || out->n == KEYS_MAX)
				return -1;
			out->keys[out->n++].all = v;
		}
	}
	return jpull_end(&j) && out->n > 0 ? 0 : -1;
}

static int read_kids(struct jwks *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct jpull_value k;
		struct jpull j;

		jpull_init(&j, s->keys[i].all.p, s->keys[i].all.n);
		if (!jpull_enter(&j, '{'))
			return -1;
		while (jpull_key(&j, &k)) {
			struct jpull_value v = jpull_take(&j);

			if (jpull_is(&k, "kid"))
				s->keys[i].kid = v;
		}
		if (!jpull_end(&j))
			return -1;
	}
	return 0;
}

/* Copy a key.  The default ("use") is the key with is_default; keep_use: as before. */
static void put_jwk(struct text *t, const struct jwk *k, bool is_default, bool keep_use)
{
	struct jpull_value name;
	bool first = true;
	struct jpull j;

	adds(t, "{");
	jpull_init(&j, k->all.p, k->all.n);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &name)) {
		struct jpull_value v = jpull_take(&j);

		if (!keep_use && jpull_is(&name, "use"))
			continue;
		key(t, name.p, name.n, &first);
		value(t, &v);
	}
	if (is_default)
		member(t, "use", "default", 7, &first);
	adds(t, "}");
}

static void new_jwk(struct text *t, const char *kid, const unsigned char *fresh)
{
	bool first = true;

	adds(t, ",{");
	member(t, "alg", "HS256", 5, &first);
	member(t, "kty", "oct", 3, &first);
	member(t, "kid", kid, strlen(kid), &first);
	key(t, "k", 1, &first);
	adds(t, "\"");
	add_base64(t, fresh, JWKS_KEY_BYTES);
	adds(t, "\"}");
}

/* Put the new key last: without a default Slurm uses the first. */
static int put_jwks(const struct rotation *r, struct text *out, const struct jwks *s,
		    const unsigned char *fresh, struct err *e)
{
	bool switching = r->phase == ROTATION_SWITCHING, first = true, ours = false;
	bool keep_use = r->phase == ROTATION_STAGING || r->phase == ROTATION_ABORTING;
	/* A longer list could not be read again, neither to switch nor to abort. */
	bool too_many = r->phase == ROTATION_STAGING && s->n == KEYS_MAX;
	char kid[ROTATION_MARK_SIZE];

	kid_of(r, kid);
	adds(out, "{\"keys\":[");
	for (size_t i = 0; i < s->n; i++) {
		bool is_ours = jpull_is(&s->keys[i].kid, kid);

		ours = ours || is_ours;
		if ((r->phase == ROTATION_DROPPING && !is_ours) ||
		    (r->phase == ROTATION_ABORTING && is_ours))
			continue;
		if (!first)
			adds(out, ",");
		first = false;
		put_jwk(out, &s->keys[i], is_ours && (switching || r->phase == ROTATION_DROPPING),
			keep_use);
	}
	if (r->phase == ROTATION_STAGING)
		new_jwk(out, kid, fresh);
	adds(out, "]}");
	if (r->phase != ROTATION_STAGING && r->phase != ROTATION_ABORTING && !ours)
		return err_set(e, ERR_INVALID, "slurm_jwks no longer has the new key");
	return out->full || first || too_many
		       ? err_set(e, ERR_LIMIT, "slurm_jwks has no room for another key")
		       : 0;
}

static int add_jwks(const struct rotation *r, struct text *out, const struct secret_bundle *b,
		    const unsigned char *fresh, struct err *e)
{
	struct text old = text_new(JWKS_MAX + 1), now = text_new(JWKS_MAX + 1);
	struct jwks s;
	size_t n = 0;
	int rc;

	if (!base64_decode(BASE64_PLAIN, b->slurm_jwks.p, b->slurm_jwks.n, (unsigned char *)old.p,
			   JWKS_MAX, &n) ||
	    read_jwks(old.p, n, &s) != 0 || read_kids(&s) != 0)
		rc = err_set(e, ERR_INVALID, "slurm_jwks has no usable list of keys");
	else
		rc = put_jwks(r, &now, &s, fresh, e);
	if (rc == 0)
		add_base64(out, (const unsigned char *)now.p, now.len);
	text_free(&old);
	text_free(&now);
	return rc;
}

/* --- the whole bundle --------------------------------------------------------------------------
 */

static bool is_ours(const struct jpull_value *k, bool munge)
{
	if (jpull_is(k, "rotation") || jpull_is(k, "munge_key_next"))
		return true;
	return munge ? jpull_is(k, "munge_key") : jpull_is(k, "slurm_jwks");
}

/* Copy all that the rotation does not write.  kid names the key in use, so a switch writes it. */
static int copy_rest(const struct rotation *r, struct text *out, const char *bundle, size_t len,
		     bool *first)
{
	struct jpull_value k;
	struct jpull j;

	jpull_init(&j, bundle, len);
	if (!jpull_enter(&j, '{'))
		return -1;
	while (jpull_key(&j, &k)) {
		struct jpull_value v = jpull_take(&j);

		if (is_ours(&k, r->kind == ROTATION_MUNGE) ||
		    (r->phase == ROTATION_SWITCHING && jpull_is(&k, "kid")))
			continue;
		key(out, k.p, k.n, first);
		value(out, &v);
	}
	return jpull_end(&j) ? 0 : -1;
}

static int add_munge(const struct rotation *r, struct text *out, const struct secret_bundle *b,
		     const unsigned char *fresh, bool *first, struct err *e)
{
	const struct secret_piece *now =
		r->phase == ROTATION_SWITCHING ? &b->munge_key_next : &b->munge_key;

	if (now->n == 0)
		return err_set(e, ERR_INVALID, "the bundle has no %s",
			       now == &b->munge_key ? "munge_key" : "munge_key_next");
	member(out, "munge_key", now->p, now->n, first);
	if (r->phase != ROTATION_STAGING)
		return 0;
	key(out, "munge_key_next", strlen("munge_key_next"), first);
	adds(out, "\"");
	add_base64(out, fresh, ROTATION_FRESH);
	adds(out, "\"");
	return 0;
}

static int fill(const struct rotation *r, struct text *out, const char *bundle, size_t len,
		const unsigned char *fresh, struct err *e)
{
	char mark[ROTATION_MARK_SIZE], kid[ROTATION_MARK_SIZE];
	struct secret_bundle b;
	bool first = true;

	if (secret_bundle_read(bundle, len, &b, e) != 0)
		return -1;
	adds(out, "{");
	if (copy_rest(r, out, bundle, len, &first) != 0)
		return err_set(e, ERR_INVALID, "the bundle is not a JSON object");
	if (r->kind == ROTATION_MUNGE) {
		if (add_munge(r, out, &b, fresh, &first, e) != 0)
			return -1;
	} else {
		if (b.slurm_jwks.n == 0)
			return err_set(e, ERR_INVALID, "the bundle has no slurm_jwks");
		key(out, "slurm_jwks", strlen("slurm_jwks"), &first);
		adds(out, "\"");
		if (add_jwks(r, out, &b, fresh, e) != 0)
			return -1;
		adds(out, "\"");
	}
	rotation_mark(r, mark);
	kid_of(r, kid);
	member(out, "rotation", mark, strlen(mark), &first);
	if (r->phase == ROTATION_SWITCHING)
		member(out, "kid", kid, strlen(kid), &first);
	adds(out, "}");
	if (out->full)
		return err_set(e, ERR_LIMIT, "the bundle would have more than %d bytes",
			       SECRET_BUNDLE_MAX);
	return secret_bundle_read(out->p, out->len, NULL, e);
}

char *rotation_bundle(const struct rotation *r, const char *bundle, size_t len,
		      const unsigned char *fresh, size_t *size, struct err *e)
{
	struct text out = text_new(SECRET_BUNDLE_MAX + MORE);

	if (fill(r, &out, bundle, len, fresh, e) != 0) {
		text_free(&out);
		return NULL;
	}
	*size = out.size;
	return out.p;
}

/* Do both marks belong to one rotation? */
static bool is_of(const char *mark, const char *want)
{
	size_t n = strcspn(want, "-");

	return mark[0] != '\0' && strcspn(mark, "-") == n && strncmp(mark, want, n) == 0;
}

enum rotation_found rotation_look(const struct rotation *r, int64_t version, const char *bundle,
				  size_t len, struct err *e)
{
	char want[ROTATION_MARK_SIZE], mark[ROTATION_MARK_SIZE] = "";
	struct jpull_value k;
	struct jpull j;

	jpull_init(&j, bundle, len);
	if (jpull_enter(&j, '{'))
		while (jpull_key(&j, &k)) {
			struct jpull_value v = jpull_take(&j);

			if (jpull_is(&k, "rotation") && jpull_text(&v, mark, sizeof(mark)) != 1)
				mark[0] = '\0';
		}
	rotation_mark(r, want);
	if (!jpull_end(&j))
		mark[0] = '\0';
	if (strcmp(mark, want) == 0)
		return ROTATION_FOUND_OURS;
	/* Aborted while it was not known whether the new key was written: it may have been. */
	if (version == r->now || (r->phase == ROTATION_ABORTING && is_of(mark, want)))
		return ROTATION_FOUND_OLD;
	(void)err_set(e, ERR_INVALID, "somebody else has written the bundle meanwhile");
	return ROTATION_FOUND_OTHER;
}
