#include "io/node_cert.h"

#include <inttypes.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pem.h"

#define NODE_URN "urn:burst:node:"

enum {
	SKEW_MS = 3600000, /* a node's clock may be behind, before it has been set */
	SERIAL_BITS = 128,
	POINT_SIZE = 65, /* of P-256, not compressed: one spelling of one key */
	SAN_MAX = 1024,
};

static int failed(struct err *e, const char *what)
{
	ERR_clear_error();
	return err_set(e, ERR_IO, "node CA: %s failed", what);
}

static int bad_csr(struct err *e, const char *why)
{
	ERR_clear_error();
	return err_set(e, ERR_INVALID, "certificate request: %s", why);
}

/* --- making ------------------------------------------------------------------------------------
 */

static bool extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *x;
	bool ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = x != NULL && X509_add_ext(cert, x, -1) == 1;
	X509_EXTENSION_free(x);
	return ok;
}

static bool set_serial(X509 *cert)
{
	BIGNUM *bn = mem_check(BN_new());
	bool ok = BN_rand(bn, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
		  BN_to_ASN1_INTEGER(bn, X509_get_serialNumber(cert)) != NULL;

	BN_free(bn);
	return ok;
}

/* Make a certificate without extensions.  NULL: no entropy, or the name does not fit. */
static X509 *begin_cert(EVP_PKEY *key, const char *cn, const X509_NAME *issuer, int64_t from_ms,
			int64_t to_ms)
{
	X509 *cert = mem_check(X509_new());
	X509_NAME *name = X509_get_subject_name(cert);
	bool ok = X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
		  X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
					     (const unsigned char *)cn, -1, -1, 0) == 1 &&
		  X509_set_issuer_name(cert, issuer != NULL ? issuer : name) == 1 &&
		  ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)(from_ms / 1000)) != NULL &&
		  ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)(to_ms / 1000)) != NULL &&
		  X509_set_pubkey(cert, key) == 1;

	if (ok)
		return cert;
	X509_free(cert);
	return NULL;
}

int node_cert_new_ca(struct node_cert_ca *out, const char *cluster, int64_t now_ms, int64_t life_ms,
		     struct err *e)
{
	char cn[64];
	X509 *cert;

	(void)snprintf(cn, sizeof(cn), "burstd nodes of %.40s", cluster);
	*out = (struct node_cert_ca){.key = EVP_EC_gen("P-256")};
	if (out->key == NULL)
		return failed(e, "a new key");
	cert = begin_cert(out->key, cn, NULL, now_ms - SKEW_MS, now_ms + life_ms);
	out->cert = cert;
	if (cert != NULL &&
	    extend(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
	    extend(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") &&
	    extend(cert, cert, NID_subject_key_identifier, "hash") &&
	    X509_sign(cert, out->key, EVP_sha256()) > 0)
		return 0;
	node_cert_free_ca(out);
	return failed(e, "a new certificate");
}

void node_cert_free_ca(struct node_cert_ca *ca)
{
	EVP_PKEY_free(ca->key);
	X509_free(ca->cert);
	*ca = (struct node_cert_ca){.key = NULL};
}

X509 *node_cert_sign(const struct node_cert_ca *ca, EVP_PKEY *key, const char *cn, const char *san,
		     bool server, int64_t now_ms, int64_t life_ms, struct err *e)
{
	const int64_t ca_end = node_cert_end_ms(ca->cert), end = now_ms + life_ms;
	X509 *cert = begin_cert(key, cn, X509_get_subject_name(ca->cert), now_ms - SKEW_MS,
				end < ca_end ? end : ca_end);

	if (cert != NULL && extend(cert, ca->cert, NID_basic_constraints, "critical,CA:FALSE") &&
	    extend(cert, ca->cert, NID_key_usage, "critical,digitalSignature") &&
	    extend(cert, ca->cert, NID_ext_key_usage, server ? "serverAuth" : "clientAuth") &&
	    extend(cert, ca->cert, NID_authority_key_identifier, "keyid") &&
	    extend(cert, ca->cert, NID_subject_alt_name, san) &&
	    X509_sign(cert, ca->key, EVP_sha256()) > 0)
		return cert;
	X509_free(cert);
	(void)failed(e, "a new certificate");
	return NULL;
}

/* --- text --------------------------------------------------------------------------------------
 */

char *node_cert_print_ca(const struct node_cert_ca *ca, bool key)
{
	BIO *b = mem_check(BIO_new(BIO_s_secmem()));
	char *data, *text;
	long n;

	if (key && ca->key != NULL)
		(void)mem_check(
			PEM_write_bio_PKCS8PrivateKey(b, ca->key, NULL, NULL, 0, NULL, NULL) == 1
				? b
				: NULL);
	(void)mem_check(PEM_write_bio_X509(b, ca->cert) == 1 ? b : NULL);
	n = BIO_get_mem_data(b, &data);
	text = mem_zalloc((size_t)n + 1);
	memcpy(text, data, (size_t)n);
	BIO_free(b);
	return text;
}

void node_cert_free_text(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
}

static EVP_PKEY *parse_key(const char **text, size_t *len)
{
	unsigned char der[NODE_CA_PEM_MAX];
	const unsigned char *p = der;
	EVP_PKEY *key = NULL;
	size_t n;

	if (pem_next(text, len, "PRIVATE KEY", der, sizeof(der), &n) == 1)
		key = d2i_AutoPrivateKey(NULL, &p, (long)n);
	explicit_bzero(der, sizeof(der));
	return key;
}

static X509 *parse_cert(const char **text, size_t *len)
{
	unsigned char der[NODE_CA_CERT_MAX];
	const unsigned char *p = der;
	size_t n;

	if (pem_next(text, len, "CERTIFICATE", der, sizeof(der), &n) != 1)
		return NULL;
	return d2i_X509(NULL, &p, (long)n);
}

int node_cert_parse_ca(struct node_cert_ca *out, const char *text, size_t len, bool key,
		       struct err *e)
{
	*out = (struct node_cert_ca){.key = key ? parse_key(&text, &len) : NULL};
	if (!key || out->key != NULL)
		out->cert = parse_cert(&text, &len);
	if (out->cert != NULL && X509_check_ca(out->cert) == 1 &&
	    (!key || X509_check_private_key(out->cert, out->key) == 1))
		return 0;
	node_cert_free_ca(out);
	ERR_clear_error();
	return err_set(e, ERR_INVALID, "damaged");
}

int64_t node_cert_end_ms(const X509 *cert)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) != 1)
		return 0;
	return (int64_t)timegm(&tm) * 1000;
}

void node_cert_spki(const X509_PUBKEY *key, unsigned char out[NODE_CA_SPKI_SIZE])
{
	unsigned char *der = NULL;
	int n = i2d_X509_PUBKEY(key, &der);

	(void)mem_check(n > 0 ? der : NULL);
	(void)mem_check(SHA256(der, (size_t)n, out));
	OPENSSL_free(der);
}

void node_cert_serial(const X509 *cert, char out[NODE_CA_SERIAL_MAX + 1])
{
	const ASN1_INTEGER *serial = X509_get0_serialNumber(cert);
	const unsigned char *data = ASN1_STRING_get0_data(serial);

	out[0] = '\0';
	for (int i = 0; i < ASN1_STRING_length(serial) && i < NODE_CA_SERIAL_MAX / 2; i++)
		(void)snprintf(out + 2 * (size_t)i, 3, "%02x", data[i]);
}

/* --- reading -----------------------------------------------------------------------------------
 */

/* Accept P-256 only by name, not by parameters, and only the whole point, so that a key has one
 * hash. */
static bool is_p256(const X509_PUBKEY *key)
{
	const unsigned char *point;
	const ASN1_OBJECT *curve;
	ASN1_OBJECT *algorithm;
	const void *value;
	X509_ALGOR *alg;
	int n, type;

	if (X509_PUBKEY_get0_param(&algorithm, &point, &n, &alg, key) != 1 ||
	    OBJ_obj2nid(algorithm) != NID_X9_62_id_ecPublicKey || n != POINT_SIZE || point[0] != 4)
		return false;
	X509_ALGOR_get0(NULL, &type, &value, alg);
	curve = value;
	return type == V_ASN1_OBJECT && OBJ_obj2nid(curve) == NID_X9_62_prime256v1;
}

static bool only_blanks(const char *text, size_t len)
{
	return len == 0 || strspn(text, " \t\r\n") >= len;
}

X509_REQ *node_cert_read_csr(const char *pem, size_t len, struct err *e)
{
	unsigned char der[NODE_CA_CSR_MAX];
	const unsigned char *p = der;
	char text[NODE_CA_CSR_MAX + 1] = "";
	const char *at = text;
	X509_REQ *req;
	EVP_PKEY *key;
	size_t n;

	if (len > NODE_CA_CSR_MAX) {
		(void)bad_csr(e, "too long");
		return NULL;
	}
	memcpy(text, pem, len);
	if (pem_next(&at, &len, "CERTIFICATE REQUEST", der, sizeof(der), &n) != 1 ||
	    !only_blanks(at, len)) {
		(void)bad_csr(e, "not one request in PEM");
		return NULL;
	}
	req = d2i_X509_REQ(NULL, &p, (long)n);
	key = req != NULL ? X509_REQ_get0_pubkey(req) : NULL;
	if (req == NULL || p != der + n)
		(void)bad_csr(e, "not one request in DER");
	else if (key == NULL || !is_p256(X509_REQ_get_X509_PUBKEY(req)))
		(void)bad_csr(e, "its key is not a named, uncompressed P-256 key");
	else if (X509_REQ_verify(req, key) != 1)
		(void)bad_csr(e, "not signed with its own key");
	else
		return req;
	X509_REQ_free(req);
	return NULL;
}

/* Parse "urn:burst:node:c1:3". */
static int read_urn(const ASN1_IA5STRING *name, struct node_ca_peer *out)
{
	char text[sizeof(NODE_URN) + HOSTLIST_NAME_MAX + 24] = "", again[sizeof(text)];
	const size_t prefix = strlen(NODE_URN), len = (size_t)ASN1_STRING_length(name);
	char *colon;

	if (len >= sizeof(text))
		return -1;
	memcpy(text, ASN1_STRING_get0_data(name), len);
	colon = strrchr(text, ':');
	if (strncmp(text, NODE_URN, prefix) != 0 || colon < text + prefix ||
	    (size_t)(colon - text) - prefix > HOSTLIST_NAME_MAX)
		return -1;
	memcpy(out->node, text + prefix, (size_t)(colon - text) - prefix);
	out->gen = strtoull(colon + 1, NULL, 10);
	(void)snprintf(again, sizeof(again), NODE_URN "%s:%" PRIu64, out->node, out->gen);
	return hostlist_is_name(out->node) && strlen(text) == len && strcmp(text, again) == 0 ? 0
											      : -1;
}

static int read_names(X509 *cert, struct node_ca_peer *out)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	int type = -1, rc = -1;
	const void *v = NULL;

	if (sk_GENERAL_NAME_num(names) == 1)
		v = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, 0), &type);
	if (type == GEN_URI)
		rc = read_urn(v, out);
	GENERAL_NAMES_free(names);
	return rc;
}

int node_cert_check(const struct node_cert_ca *ca, X509 *cert, int64_t now_ms,
		    struct node_ca_peer *out, struct err *e)
{
	time_t now = (time_t)(now_ms / 1000);
	bool ours = X509_verify(cert, X509_get0_pubkey(ca->cert)) == 1;

	ERR_clear_error();
	*out = (struct node_ca_peer){.gen = 0};
	if (!ours)
		return 0;
	if (X509_cmp_time(X509_get0_notBefore(cert), &now) >= 0 ||
	    X509_cmp_time(X509_get0_notAfter(cert), &now) <= 0 ||
	    node_cert_end_ms(ca->cert) <= now_ms)
		return err_set(e, ERR_AUTH,
			       "the node's certificate has expired, or is not valid yet");
	if (X509_check_purpose(cert, X509_PURPOSE_SSL_CLIENT, 0) != 1 ||
	    read_names(cert, out) < 0) {
		*out = (struct node_ca_peer){.gen = 0};
		return err_set(e, ERR_AUTH, "the certificate is not a node certificate");
	}
	node_cert_serial(cert, out->serial);
	node_cert_spki(X509_get_X509_PUBKEY(cert), out->spki);
	return 1;
}
