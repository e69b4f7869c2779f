#include "providers/attest/jwt.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "providers/attest/private.h"

enum {
	HEADER_MAX = 1024, /* bytes of the header's JSON */
	NUMBER_MAX = 513,  /* bytes of a modulus: 4096 bits and a leading zero */
	SIGNATURE_MAX = 512,
	EXPONENT_MIN = 65537, /* the usual one, and Google's */
};

struct key {
	char kid[JWT_KID_MAX + 1];
	EVP_PKEY *key;
	X509 *cert; /* NULL: the key came without one */
};

struct jwt_keys {
	struct key keys[JWT_KEYS_MAX];
	size_t n;
};

struct parts { /* the parts of a token */
	const char *head, *body, *sig;
	size_t head_len, body_len, sig_len, signed_len;
};

/* --- keys --------------------------------------------------------------------------------------
 */

void jwt_keys_free(struct jwt_keys *keys)
{
	for (size_t i = 0; keys != NULL && i < keys->n; i++) {
		EVP_PKEY_free(keys->keys[i].key);
		X509_free(keys->keys[i].cert);
	}
	free(keys);
}

static BIGNUM *number(const json_t *jwk, const char *name)
{
	const char *text = json_string_value(json_object_get(jwk, name));
	unsigned char bytes[NUMBER_MAX];
	size_t n;

	if (text == NULL ||
	    !base64_decode(BASE64_URL, text, strlen(text), bytes, sizeof(bytes), &n) || n == 0)
		return NULL;
	return mem_check(BN_bin2bn(bytes, (int)n, NULL));
}

static EVP_PKEY *make_rsa(const BIGNUM *n, const BIGNUM *exponent)
{
	OSSL_PARAM_BLD *bld = mem_check(OSSL_PARAM_BLD_new());
	EVP_PKEY_CTX *ctx = mem_check(EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL));
	OSSL_PARAM *params = NULL;
	EVP_PKEY *key = NULL;

	if (OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
	    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
		params = OSSL_PARAM_BLD_to_param(bld);
	if (params == NULL || EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
		key = NULL;
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(bld);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

/* Make the key of a JWK; NULL: not an RSA key for signatures, or incomplete. */
static EVP_PKEY *jwk_key(const json_t *jwk)
{
	const char *kty = json_string_value(json_object_get(jwk, "kty"));
	const char *alg = json_string_value(json_object_get(jwk, "alg"));
	const char *use = json_string_value(json_object_get(jwk, "use"));
	BIGNUM *n, *exponent;
	EVP_PKEY *key = NULL;

	if (kty == NULL || strcmp(kty, "RSA") != 0 || (alg != NULL && strcmp(alg, "RS256") != 0) ||
	    (use != NULL && strcmp(use, "sig") != 0))
		return NULL;
	n = number(jwk, "n");
	exponent = number(jwk, "e");
	if (n != NULL && exponent != NULL && BN_is_odd(n) && BN_is_word(exponent, EXPONENT_MIN))
		key = make_rsa(n, exponent);
	BN_free(n);
	BN_free(exponent);
	return key;
}

static int add_key(struct jwt_keys *keys, const char *kid, EVP_PKEY *key, X509 *cert, struct err *e)
{
	struct key *to = &keys->keys[keys->n];
	const int bits = key != NULL ? EVP_PKEY_get_bits(key) : 0;
	const bool rsa = key != NULL && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;

	if (!rsa || bits < ATTEST_KEY_BITS_MIN || bits > ATTEST_KEY_BITS_MAX || kid == NULL ||
	    kid[0] == '\0' || strlen(kid) > JWT_KID_MAX || keys->n == JWT_KEYS_MAX) {
		EVP_PKEY_free(key);
		X509_free(cert);
		return err_set(e, ERR_INVALID,
			       "token keys: one is not an RSA key of 2048 to 4096 "
			       "bits with a name, or there are too many");
	}
	memcpy(to->kid, kid, strlen(kid) + 1);
	to->key = key;
	to->cert = cert;
	keys->n++;
	return 0;
}

static int add_cert(struct jwt_keys *keys, const char *kid, const json_t *pem, struct err *e)
{
	const char *text = json_string_value(pem);
	size_t len = text != NULL ? strlen(text) : 0;
	X509 *cert = NULL;

	if (text == NULL || attest_next_cert(&cert, &text, &len, e) != 1)
		return err_set(e, ERR_INVALID, "token keys: one is not a certificate in PEM");
	return add_key(keys, kid, X509_get_pubkey(cert), cert, e);
}

static int add_all(struct jwt_keys *keys, json_t *o, struct err *e)
{
	const json_t *list = json_object_get(o, "keys");
	const char *kid;
	json_t *v;
	size_t i;

	if (!json_is_array(list)) {
		json_object_foreach(o, kid, v) if (add_cert(keys, kid, v, e) < 0) return -1;
		return 0;
	}
	json_array_foreach(list, i,
			   v) if (add_key(keys, json_string_value(json_object_get(v, "kid")),
					  jwk_key(v), NULL, e) < 0) return -1;
	return 0;
}

int jwt_keys_parse(struct jwt_keys **out, const char *text, size_t len, struct err *e)
{
	json_t *o = attest_json(text, len, e);
	struct jwt_keys *keys;
	int rc;

	*out = NULL;
	if (o == NULL)
		return err_set(e, ERR_INVALID, "token keys: not a JSON object");
	keys = mem_zalloc(sizeof(*keys));
	rc = add_all(keys, o, e);
	if (rc == 0 && keys->n == 0)
		rc = err_set(e, ERR_INVALID, "token keys: there are none");
	json_decref(o);
	ERR_clear_error();
	if (rc == 0)
		*out = keys;
	else
		jwt_keys_free(keys);
	return rc;
}

static const struct key *find_key(const struct jwt_keys *keys, const char *kid)
{
	for (size_t i = 0; keys != NULL && i < keys->n; i++)
		if (strcmp(keys->keys[i].kid, kid) == 0)
			return &keys->keys[i];
	return NULL;
}

/* --- tokens ------------------------------------------------------------------------------------
 */

static int bad(struct err *e, const char *why)
{
	return err_set(e, ERR_INVALID, "identity document: %s", why);
}

static int take_apart(const char *token, size_t len, struct parts *p)
{
	const char *dot, *dot2;

	if (len > JWT_TOKEN_MAX || (dot = memchr(token, '.', len)) == NULL)
		return -1;
	p->head = token;
	p->head_len = (size_t)(dot - token);
	p->body = dot + 1;
	dot2 = memchr(p->body, '.', len - p->head_len - 1);
	if (dot2 == NULL)
		return -1;
	p->body_len = (size_t)(dot2 - p->body);
	p->sig = dot2 + 1;
	p->signed_len = (size_t)(dot2 - token);
	p->sig_len = len - p->signed_len - 1;
	return 0;
}

/* Read the header's kid; the header must say RS256 and have no critical extension. */
static int read_header(const struct parts *p, char *kid, struct err *e)
{
	unsigned char text[HEADER_MAX];
	char alg[16];
	json_t *o;
	size_t n;
	int rc;

	if (!base64_decode(BASE64_URL, p->head, p->head_len, text, sizeof(text), &n))
		return bad(e, "its header is not base64, or too long");
	o = attest_json(text, n, e);
	if (o == NULL)
		return -1;
	rc = attest_word(o, "alg", true, alg, sizeof(alg), e);
	if (rc == 0)
		rc = attest_word(o, "kid", true, kid, JWT_KID_MAX + 1, e);
	if (rc == 0 && strcmp(alg, "RS256") != 0)
		rc = err_set(e, ERR_AUTH, "identity document: it is signed by '%s', not by RS256",
			     alg);
	if (rc == 0 && json_object_get(o, "crit") != NULL)
		rc = bad(e, "it has critical extensions");
	json_decref(o);
	return rc;
}

static bool is_signed(const struct parts *p, EVP_PKEY *key)
{
	unsigned char sig[SIGNATURE_MAX];
	EVP_MD_CTX *ctx;
	bool ok;
	size_t n;

	if (!base64_decode(BASE64_URL, p->sig, p->sig_len, sig, sizeof(sig), &n))
		return false;
	ctx = mem_check(EVP_MD_CTX_new());
	ok = EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
	     EVP_DigestVerify(ctx, sig, n, (const unsigned char *)p->head, p->signed_len) == 1;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return ok;
}

bool jwt_has_key(const struct jwt_keys *keys, const char *token, size_t len,
		 char kid[JWT_KID_MAX + 1])
{
	struct parts p;

	kid[0] = '\0';
	return take_apart(token, len, &p) < 0 || read_header(&p, kid, NULL) < 0 ||
	       find_key(keys, kid) != NULL;
}

int jwt_verify(const struct jwt_keys *keys, const char *token, size_t len, json_t **claims,
	       const X509 **cert, struct err *e)
{
	unsigned char *body;
	char kid[JWT_KID_MAX + 1];
	const struct key *key;
	struct parts p;
	size_t n;

	*claims = NULL;
	*cert = NULL;
	if (take_apart(token, len, &p) < 0)
		return bad(e, "it is not a token of three parts");
	if (read_header(&p, kid, e) < 0)
		return -1;
	key = find_key(keys, kid);
	if (key == NULL)
		return err_set(e, ERR_LIMIT, "identity document: the key '%.60s' is not known",
			       kid);
	*cert = key->cert;
	if (!is_signed(&p, key->key))
		return err_set(e, ERR_AUTH, "identity document: its signature is not good");
	body = mem_zalloc(p.body_len + 1);
	if (base64_decode(BASE64_URL, p.body, p.body_len, body, p.body_len, &n))
		*claims = attest_json(body, n, e);
	else
		(void)bad(e, "its content is not base64");
	free(body);
	return *claims != NULL ? 0 : -1;
}
