/* gcp_identity.c - Google's instance identity token (format=full), made for one audience.
 *
 * The receiver must check the audience: a token that the same machine got for another service is
 * signed just as well. */
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/attest/jwt.h"
#include "providers/attest/private.h"

#define ISSUER   "https://accounts.google.com"
#define KEYS_URL "https://www.googleapis.com/oauth2/v3/certs"

static const int64_t life_max_ms = INT64_C(24) * 3600 * 1000; /* tokens live for an hour */

struct gcp {
	struct jwt_keys *keys; /* NULL: none are known yet */
	bool given;            /* keys are configured: fetch no others */
};

static void gcp_close(void *self)
{
	struct gcp *g = self;

	if (g != NULL)
		jwt_keys_free(g->keys);
	free(g);
}

static int gcp_learn(void *self, const char *body, size_t len, struct err *e)
{
	struct gcp *g = self;
	struct jwt_keys *keys;

	if (jwt_keys_parse(&keys, body, len, e) < 0)
		return -1;
	jwt_keys_free(g->keys); /* a key that is no longer published does not count */
	g->keys = keys;
	return 0;
}

static int gcp_open(void **self, const struct attest_conf *conf, struct err *e)
{
	struct gcp *g = mem_zalloc(sizeof(*g));

	*self = NULL;
	if (conf->trust != NULL && gcp_learn(g, conf->trust, conf->trust_len, e) < 0) {
		gcp_close(g);
		return -1;
	}
	g->given = conf->trust != NULL;
	*self = g;
	return 0;
}

/* Returns 1 for an unknown key each time; the engine limits how often the keys are fetched. */
static int gcp_lacks(const void *self, const char *doc, size_t len, struct attest_lack *out)
{
	const struct gcp *g = self;
	char kid[JWT_KID_MAX + 1];

	memset(out, 0, sizeof(*out));
	if (g->given || jwt_has_key(g->keys, doc, len, kid))
		return 0;
	(void)snprintf(out->what, sizeof(out->what), "%s", kid);
	(void)snprintf(out->url, sizeof(out->url), "%s", KEYS_URL);
	return 1;
}

/* Whole seconds since 1970. */
static int get_time(const json_t *o, const char *key, int64_t *out_ms, struct err *e)
{
	const json_t *v = json_object_get(o, key);
	const json_int_t s = json_integer_value(v);

	*out_ms = 0;
	if (!json_is_integer(v) || s <= 0 || s > INT64_MAX / 1000)
		return err_set(e, ERR_INVALID, "identity document: \"%s\" is not a valid time",
			       key);
	*out_ms = s * 1000;
	return 0;
}

/* "europe-west4-a" is in europe-west4. */
static void region_of(struct attest_identity *id)
{
	const char *dash = strrchr(id->zone, '-');

	if (dash != NULL)
		memcpy(id->region, id->zone, (size_t)(dash - id->zone));
}

static int read_machine(const json_t *claims, struct attest_identity *out, struct err *e)
{
	const json_t *m = json_object_get(json_object_get(claims, "google"), "compute_engine");

	if (!json_is_object(m))
		return err_set(e, ERR_INVALID,
			       "identity document: it does not say which machine it "
			       "is of: was it asked for with format=full?");
	if (attest_word(m, "project_id", true, out->account, sizeof(out->account), e) < 0 ||
	    attest_word(m, "zone", true, out->zone, sizeof(out->zone), e) < 0 ||
	    attest_word(m, "instance_id", true, out->instance, sizeof(out->instance), e) < 0 ||
	    attest_word(m, "instance_name", true, out->name, sizeof(out->name), e) < 0)
		return -1;
	region_of(out);
	return json_object_get(m, "instance_creation_timestamp") != NULL
		       ? get_time(m, "instance_creation_timestamp", &out->created_ms, e)
		       : 0;
}

static int read_claims(const json_t *claims, struct attest_identity *out, struct err *e)
{
	char issuer[ATTEST_WORD_MAX + 1];

	if (attest_word(claims, "iss", true, issuer, sizeof(issuer), e) < 0 ||
	    attest_word(claims, "aud", true, out->nonce, sizeof(out->nonce), e) < 0 ||
	    get_time(claims, "iat", &out->issued_ms, e) < 0 ||
	    get_time(claims, "exp", &out->expires_ms, e) < 0)
		return -1;
	if (strcmp(issuer, ISSUER) != 0)
		return err_set(e, ERR_AUTH, "identity document: its issuer is '%.80s', not Google",
			       issuer);
	if (out->expires_ms - out->issued_ms > life_max_ms)
		return err_set(e, ERR_AUTH, "identity document: it never expires");
	return read_machine(claims, out, e);
}

static int check_times(const struct attest_identity *id, const X509 *cert, int64_t now_ms,
		       struct err *e)
{
	if (cert != NULL && attest_check_time(cert, now_ms, e) < 0)
		return -1;
	if (id->issued_ms > now_ms + ATTEST_SKEW_MS)
		return err_set(e, ERR_TIME, "identity document: it is from the future");
	if (id->expires_ms <= now_ms)
		return err_set(e, ERR_TIME, "identity document: it has expired");
	return 0;
}

static int gcp_verify(const void *self, const struct attest_expect *want, const char *doc,
		      size_t len, int64_t now_ms, struct attest_identity *out, struct err *e)
{
	const struct gcp *g = self;
	const X509 *cert;
	json_t *claims;
	int rc;

	*out = (struct attest_identity){.created_ms = 0};
	if (want->nonce == NULL || want->nonce[0] == '\0')
		return err_set(e, ERR_INVALID, "identity document: no audience is expected");
	rc = jwt_verify(g->keys, doc, len, &claims, &cert, e);
	if (rc == 0)
		rc = read_claims(claims, out, e);
	if (rc == 0)
		rc = attest_match(out, want, e);
	if (rc < 0)
		*out = (struct attest_identity){.created_ms = 0};
	else
		rc = check_times(out, cert, now_ms, e);
	json_decref(claims);
	ERR_clear_error();
	return rc;
}

const struct attest_ops attest_gcp = {.kind = ATTEST_GCP,
				      .open = gcp_open,
				      .close = gcp_close,
				      .verify = gcp_verify,
				      .lacks = gcp_lacks,
				      .learn = gcp_learn};
