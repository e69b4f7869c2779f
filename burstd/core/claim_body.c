#include "core/claim_body.h"

#include <string.h>

#include "base/base64.h"
#include "base/jpull.h"

/* How a member is written. */
enum field_type {
	FIELD_TEXT,   /* printable ASCII */
	FIELD_BYTES,  /* base64, NUL-terminated */
	FIELD_NUMBER, /* whole, >= 0 */
	FIELD_OBJECT, /* fields of its own */
};

struct field {
	const char *name;
	enum field_type type;
	void *to;
	size_t size;               /* of `to`; FIELD_NUMBER: the largest */
	size_t *len;               /* FIELD_BYTES: how many, or NULL */
	const struct field *inner; /* FIELD_OBJECT: ended by one without a name */
};

static int bad(struct err *e, const char *name, const char *why)
{
	return err_set(e, ERR_INVALID, "claim: \"%s\" %s", name, why);
}

static int get_text(const struct field *f, const struct jpull_value *v, struct err *e)
{
	char *to = f->to;

	/* To unescape a text is to copy it, and a secret with it. */
	if ((v->type == JPULL_STRING && !v->plain) || jpull_text(v, to, f->size) < 0)
		return bad(e, f->name, "is not a plain string, or is too long");
	for (const char *p = to; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			return bad(e, f->name, "has other characters than printable ASCII");
	return 0;
}

static int get_bytes(const struct field *f, const struct jpull_value *v, struct err *e)
{
	unsigned char *to = f->to;
	size_t n = 0;

	if (v->type != JPULL_STRING || !v->plain ||
	    !base64_decode(BASE64_PLAIN, v->p, v->n, to, f->size - 1, &n))
		return bad(e, f->name, "is not base64, or is too long");
	to[n] = '\0';
	if (f->len != NULL)
		*f->len = n;
	else if (memchr(to, '\0', n) != NULL)
		return bad(e, f->name, "contains a NUL byte");
	return 0;
}

static int get_number(const struct field *f, const struct jpull_value *v, struct err *e)
{
	int64_t *to = f->to;

	if (jpull_int(v, to) < 0 || *to > (int64_t)f->size)
		return bad(e, f->name, "is not an integer, or is out of range");
	return 0;
}

static int get_field(const struct field *f, const struct jpull_value *v, struct err *e)
{
	if (f->type == FIELD_TEXT)
		return get_text(f, v, e);
	return f->type == FIELD_BYTES ? get_bytes(f, v, e) : get_number(f, v, e);
}

static int get_object(struct jpull *j, const struct field *fields, struct err *e);

static int get_member(const struct field *f, const struct jpull_value *v,
		      struct err *e) // NOLINT(misc-no-recursion)
{
	struct jpull in;

	if (f->type != FIELD_OBJECT)
		return get_field(f, v, e);
	if (v->type != JPULL_OBJECT)
		return bad(e, f->name, "is not an object");
	jpull_init(&in, v->p, v->n);
	return get_object(&in, f->inner, e);
}

/* Read the next object.  The tables limit the depth. */
static int get_object(struct jpull *j, const struct field *fields,
		      struct err *e) // NOLINT(misc-no-recursion)
{
	struct jpull_value key;
	unsigned seen = 0, n = 0;

	if (!jpull_enter(j, '{'))
		return err_set(e, ERR_INVALID, "claim: not a JSON object");
	while (jpull_key(j, &key)) {
		struct jpull_value v = jpull_take(j);
		size_t i = 0;

		if (j->bad || !key.plain || ++n > CLAIM_BODY_MEMBERS_MAX)
			return err_set(
				e, ERR_INVALID,
				"claim: malformed JSON, an escaped name, or more than %d members",
				CLAIM_BODY_MEMBERS_MAX);
		while (fields[i].name != NULL && !jpull_is(&key, fields[i].name))
			i++;
		if (fields[i].name == NULL)
			continue;
		if ((seen & 1u << i) != 0)
			return bad(e, fields[i].name, "occurs twice");
		seen |= 1u << i;
		if (get_member(&fields[i], &v, e) < 0)
			return -1;
	}
	return 0;
}

/* Check that required members are there, and values that need no other knowledge. */
static int check(struct claim_body *b, int64_t version, const char *kind, struct err *e)
{
	int k = kind[0] == '\0' ? ATTEST_NONE : attest_kind_parse(kind);

	if (version != CLAIM_BODY_VERSION)
		return bad(e, "v", "is not 1");
	if (b->id[0] == '\0' || b->secret[0] == '\0' || b->csr[0] == '\0')
		return err_set(e, ERR_INVALID, "claim: claim_id, claim_secret or csr is missing");
	if (b->node[0] != '\0' && !hostlist_is_name(b->node))
		return bad(e, "node", "is not a node name");
	if (k < 0)
		return bad(e, "type", "is an unknown attestation type");
	if (k != ATTEST_NONE && b->doc_len == 0)
		return bad(e, "doc", "is missing");
	b->attest = (enum attest_kind)k;
	return 0;
}

void claim_body_wipe(struct claim_body *b)
{
	explicit_bzero(b, sizeof(*b));
}

int claim_body_parse(struct claim_body *b, const char *text, size_t len, struct err *e)
{
	char kind[CLAIM_BODY_FACT_MAX + 1] = "";
	int64_t version = 0;
	const struct field attest[] = {
		{"type", FIELD_TEXT, kind, sizeof(kind), NULL, NULL},
		{"doc", FIELD_BYTES, b->doc, sizeof(b->doc), &b->doc_len, NULL},
		{"nonce", FIELD_TEXT, b->nonce, sizeof(b->nonce), NULL, NULL},
		{NULL, FIELD_TEXT, NULL, 0, NULL, NULL},
	};
	const struct field facts[] = {
		{"kernel", FIELD_TEXT, b->facts.kernel, sizeof(b->facts.kernel), NULL, NULL},
		{"driver", FIELD_TEXT, b->facts.driver, sizeof(b->facts.driver), NULL, NULL},
		{"gpus", FIELD_NUMBER, &b->facts.gpus, INT32_MAX, NULL, NULL},
		{"mem_mb", FIELD_NUMBER, &b->facts.mem_mb, INT64_MAX, NULL, NULL},
		{"cpus", FIELD_NUMBER, &b->facts.cpus, INT32_MAX, NULL, NULL},
		{NULL, FIELD_TEXT, NULL, 0, NULL, NULL},
	};
	const struct field fields[] = {
		{"v", FIELD_NUMBER, &version, INT32_MAX, NULL, NULL},
		{"claim_id", FIELD_TEXT, b->id, sizeof(b->id), NULL, NULL},
		{"claim_secret", FIELD_TEXT, b->secret, sizeof(b->secret), NULL, NULL},
		{"node", FIELD_TEXT, b->node, sizeof(b->node), NULL, NULL},
		{"provider", FIELD_TEXT, b->provider, sizeof(b->provider), NULL, NULL},
		{"instance_id", FIELD_TEXT, b->instance, sizeof(b->instance), NULL, NULL},
		{"boot_id", FIELD_TEXT, b->boot, sizeof(b->boot), NULL, NULL},
		{"csr", FIELD_BYTES, b->csr, sizeof(b->csr), NULL, NULL},
		{"attest", FIELD_OBJECT, NULL, 0, NULL, attest},
		{"facts", FIELD_OBJECT, NULL, 0, NULL, facts},
		{NULL, FIELD_TEXT, NULL, 0, NULL, NULL},
	};
	struct jpull j;
	int rc;

	memset(b, 0, sizeof(*b));
	jpull_init(&j, text, len);
	if (len > CLAIM_BODY_MAX)
		return err_set(e, ERR_LIMIT, "claim: more than %d bytes", CLAIM_BODY_MAX);
	rc = get_object(&j, fields, e);
	if (rc == 0 && !jpull_end(&j))
		rc = err_set(e, ERR_INVALID, "claim: malformed JSON, or followed by other data");
	if (rc == 0)
		rc = check(b, version, kind, e);
	if (rc < 0)
		claim_body_wipe(b);
	return rc;
}
