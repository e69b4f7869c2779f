/* azure_identity.c - Azure's attested document, made for our nonce.
 *
 * It is PKCS#7, signed by a short-lived certificate of metadata.azure.com that comes with it and
 * chains to configured roots.  The intermediate between them is not sent: if it is unknown, it is
 * fetched from the URL in the certificate, which must be on Microsoft's own host. */
#include <ctype.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/attest/private.h"

#define ISSUERS_HOST "www.microsoft.com"

enum {
	INTERMEDIATES_MAX = 32, /* configured ones, and as many learnt ones */
	DOMAIN_MAX = 127,
	DEPTH_MAX = 3,      /* intermediates between the signer and a root */
	SECURITY_LEVEL = 2, /* OpenSSL's level: 112 bits, no SHA-1 */
};

struct azure {
	X509_STORE *roots;
	STACK_OF(X509) * intermediates;
	char domain[DOMAIN_MAX + 1];
	size_t nroots;
	int given; /* configured intermediates, which come first */
};

static void azure_close(void *self)
{
	struct azure *a = self;

	if (a == NULL)
		return;
	X509_STORE_free(a->roots);
	sk_X509_pop_free(a->intermediates, X509_free);
	free(a);
}

static bool is_root(X509 *cert)
{
	return X509_NAME_cmp(X509_get_subject_name(cert), X509_get_issuer_name(cert)) == 0;
}

static bool has(STACK_OF(X509) * certs, const X509 *cert)
{
	for (int i = 0; i < sk_X509_num(certs); i++)
		if (X509_cmp(sk_X509_value(certs, i), cert) == 0)
			return true;
	return false;
}

/* Takes cert. */
static void add_intermediate(struct azure *a, X509 *cert)
{
	if (has(a->intermediates, cert))
		X509_free(cert);
	else
		(void)mem_check(sk_X509_push(a->intermediates, cert) > 0 ? cert : NULL);
}

static int add_trust(struct azure *a, const char *text, size_t len, struct err *e)
{
	X509 *cert;
	int rc;

	while ((rc = attest_next_cert(&cert, &text, &len, e)) == 1) {
		if (is_root(cert)) {
			(void)mem_check(X509_STORE_add_cert(a->roots, cert) == 1 ? a : NULL);
			X509_free(cert);
			a->nroots++;
		} else {
			add_intermediate(a, cert);
		}
		if (sk_X509_num(a->intermediates) > INTERMEDIATES_MAX)
			return err_set(e, ERR_LIMIT, "more than %d intermediate certificates",
				       INTERMEDIATES_MAX);
	}
	a->given = sk_X509_num(a->intermediates);
	if (rc == 0 && a->nroots == 0)
		return err_set(e, ERR_INVALID, "no root (self-signed) certificate");
	return rc;
}

static int azure_open(void **self, const struct attest_conf *conf, struct err *e)
{
	const char *domain = conf->domain != NULL ? conf->domain : "metadata.azure.com";
	struct azure *a;

	*self = NULL;
	if (conf->trust == NULL || strlen(domain) > DOMAIN_MAX || domain[0] == '\0')
		return err_set(e, ERR_INVALID,
			       "Azure's roots are not given, or the domain is too "
			       "long");
	a = mem_zalloc(sizeof(*a));
	a->roots = mem_check(X509_STORE_new());
	a->intermediates = mem_check(sk_X509_new_null());
	(void)snprintf(a->domain, sizeof(a->domain), "%s", domain);
	if (add_trust(a, conf->trust, conf->trust_len, e) < 0) {
		azure_close(a);
		return -1;
	}
	*self = a;
	return 0;
}

/* --- the document ------------------------------------------------------------------------------
 */

/* Open a document as the node got it, {"encoding":"pkcs7","signature":"..."}, or the signature
 * alone. */
static int open_document(PKCS7 **out, const char *doc, size_t len, struct err *e)
{
	const char *signature, *encoding;
	json_t *o;
	int rc;

	*out = NULL;
	if (len == 0 || doc[0] != '{')
		return envelope_open(out, doc, len, e);
	o = attest_json(doc, len, e);
	if (o == NULL)
		return -1;
	signature = json_string_value(json_object_get(o, "signature"));
	encoding = json_string_value(json_object_get(o, "encoding"));
	if (signature == NULL || encoding == NULL || strcmp(encoding, "pkcs7") != 0)
		rc = err_set(e, ERR_INVALID, "identity document: no signature by PKCS#7 in it");
	else
		rc = envelope_open(out, signature, strlen(signature), e);
	json_decref(o);
	return rc;
}

/* The signer's certificate in p7; borrowed, NULL: missing. */
static X509 *signer_of(PKCS7 *p7)
{
	STACK_OF(X509) *signers = PKCS7_get0_signers(p7, NULL, 0);
	X509 *cert = sk_X509_num(signers) == 1 ? sk_X509_value(signers, 0) : NULL;

	sk_X509_free(signers);
	ERR_clear_error();
	return cert;
}

/* Is the name the domain, or below it?  A name with a NUL byte is not what it looks like. */
static bool is_ours(const struct azure *a, const ASN1_IA5STRING *name)
{
	const char *text = (const char *)ASN1_STRING_get0_data(name);
	const size_t len = (size_t)ASN1_STRING_length(name), want = strlen(a->domain);

	if (memchr(text, '\0', len) != NULL || len < want ||
	    strncasecmp(text + len - want, a->domain, want) != 0)
		return false;
	return len == want || text[len - want - 1] == '.';
}

static int check_name(const struct azure *a, X509 *cert, struct err *e)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	bool ok = false;

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		int type;
		const void *v = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &type);

		ok = ok || (type == GEN_DNS && is_ours(a, v));
	}
	GENERAL_NAMES_free(names);
	ERR_clear_error();
	return ok ? 0
		  : err_set(e, ERR_AUTH, "identity document: its signer is not of %.60s",
			    a->domain);
}

/* Certificates that may complete a chain: our intermediates, and all that came with the document
 * (p7 NULL: none). */
static STACK_OF(X509) * untrusted(const struct azure *a, const PKCS7 *p7)
{
	STACK_OF(X509) *all = mem_check(sk_X509_dup(a->intermediates));

	for (int i = 0; p7 != NULL && i < sk_X509_num(p7->d.sign->cert); i++)
		(void)mem_check(sk_X509_push(all, sk_X509_value(p7->d.sign->cert, i)) > 0 ? all
											  : NULL);
	return all;
}

/* Verify the chain of cert: X509_V_OK, or the error.  now_ms 0: ignore the time.  p7 NULL: cert is
 * an issuer's, not a signer's. */
static int chain_error(const struct azure *a, const PKCS7 *p7, X509 *cert, int64_t now_ms)
{
	STACK_OF(X509) *others = untrusted(a, p7);
	X509_STORE_CTX *ctx = mem_check(X509_STORE_CTX_new());
	const int purpose = p7 != NULL ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_ANY;
	X509_VERIFY_PARAM *param;
	int rc = X509_V_ERR_UNSPECIFIED;

	if (X509_STORE_CTX_init(ctx, a->roots, cert, others) == 1 &&
	    X509_STORE_CTX_set_purpose(ctx, purpose) == 1) {
		param = X509_STORE_CTX_get0_param(ctx);
		if (now_ms != 0)
			X509_VERIFY_PARAM_set_time(param, (time_t)(now_ms / 1000));
		else
			(void)X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_NO_CHECK_TIME);
		X509_VERIFY_PARAM_set_depth(param, DEPTH_MAX);
		X509_VERIFY_PARAM_set_auth_level(param, SECURITY_LEVEL);
		(void)X509_verify_cert(ctx);
		rc = X509_STORE_CTX_get_error(ctx);
	}
	X509_STORE_CTX_free(ctx);
	sk_X509_free(others);
	ERR_clear_error();
	return rc;
}

/* Check all keys in p7 before any is used: one of a strange kind or size would cost us time. */
static int check_certs(PKCS7 *p7, X509 **signer, struct err *e)
{
	STACK_OF(X509) *certs = p7->d.sign->cert;

	for (int i = 0; i < sk_X509_num(certs); i++)
		if (attest_check_key(sk_X509_value(certs, i), e) < 0)
			return -1;
	*signer = signer_of(p7);
	return *signer != NULL ? 0
			       : err_set(e, ERR_INVALID,
					 "identity document: its signer's "
					 "certificate is not in it");
}

static bool is_issuer_missing(int chain)
{
	return chain == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
	       chain == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
	       chain == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT;
}

static int verify(const struct azure *a, PKCS7 *p7, X509 **by, json_t **json, struct err *e)
{
	X509 *cert;
	int chain;

	*json = NULL;
	if (check_certs(p7, &cert, e) < 0 || check_name(a, cert, e) < 0)
		return -1;
	*by = cert;
	chain = chain_error(a, p7, cert, 0);
	if (chain != X509_V_OK)
		return err_set(e, is_issuer_missing(chain) ? ERR_LIMIT : ERR_AUTH,
			       "identity document: its signer is not trusted: %s",
			       X509_verify_cert_error_string(chain));
	return envelope_verify(p7, cert, json, e) == 1 ? 0 : -1;
}

/* Parse "11/28/26 00:16:17 -0000"; any other zone is an error. */
static int get_time(const json_t *o, const char *key, int64_t *out_ms, struct err *e)
{
	static const char form[] = "dd/dd/dd dd:dd:dd -0000";
	char text[ATTEST_WORD_MAX + 1], iso[FMT_TIME_SIZE];
	size_t i = 0;

	if (attest_word(o, key, true, text, sizeof(text), e) < 0)
		return -1;
	while (form[i] != '\0' &&
	       (form[i] == 'd' ? isdigit((unsigned char)text[i]) != 0 : text[i] == form[i]))
		i++;
	if (form[i] != '\0' || text[i] != '\0')
		return err_set(e, ERR_INVALID, "identity document: \"%s\" is not a valid time",
			       key);
	(void)snprintf(iso, sizeof(iso), "20%.2s-%.2s-%.2sT%.8sZ", text + 6, text, text + 3,
		       text + 9);
	if (fmt_time_parse(iso, out_ms, e) < 0)
		return err_wrap(e, "identity document: \"%s\"", key);
	return 0;
}

static int read_document(const json_t *o, struct attest_identity *out, struct err *e)
{
	const json_t *times = json_object_get(o, "timeStamp");

	if (attest_word(o, "vmId", true, out->instance, sizeof(out->instance), e) < 0 ||
	    attest_word(o, "subscriptionId", true, out->account, sizeof(out->account), e) < 0 ||
	    attest_word(o, "nonce", true, out->nonce, sizeof(out->nonce), e) < 0 ||
	    attest_word(o, "sku", false, out->type, sizeof(out->type), e) < 0 ||
	    get_time(times, "createdOn", &out->issued_ms, e) < 0 ||
	    get_time(times, "expiresOn", &out->expires_ms, e) < 0)
		return -1;
	return 0;
}

static int check_times(const struct azure *a, PKCS7 *p7, X509 *by, const struct attest_identity *id,
		       int64_t now_ms, struct err *e)
{
	int chain = chain_error(a, p7, by, now_ms);

	if (chain != X509_V_OK)
		return err_set(
			e, ERR_TIME,
			"identity document: its signer's certificate is not valid at this time: %s",
			X509_verify_cert_error_string(chain));
	if (id->issued_ms > now_ms + ATTEST_SKEW_MS)
		return err_set(e, ERR_TIME, "identity document: it is from the future");
	if (id->expires_ms <= now_ms)
		return err_set(e, ERR_TIME, "identity document: it has expired");
	return 0;
}

static int azure_verify(const void *self, const struct attest_expect *want, const char *doc,
			size_t len, int64_t now_ms, struct attest_identity *out, struct err *e)
{
	json_t *json = NULL;
	X509 *by = NULL;
	PKCS7 *p7;
	int rc;

	*out = (struct attest_identity){.created_ms = 0};
	if (want->nonce == NULL || want->nonce[0] == '\0')
		return err_set(e, ERR_INVALID, "identity document: no nonce is expected");
	if (open_document(&p7, doc, len, e) < 0)
		return -1;
	rc = verify(self, p7, &by, &json, e);
	if (rc == 0)
		rc = read_document(json, out, e);
	if (rc == 0)
		rc = attest_match(out, want, e);
	if (rc < 0)
		*out = (struct attest_identity){.created_ms = 0};
	else
		rc = check_times(self, p7, by, out, now_ms, e);
	json_decref(json);
	PKCS7_free(p7);
	ERR_clear_error();
	return rc;
}

/* --- what is missing in the chain --------------------------------------------------------------
 */

/* Accept only URLs as Microsoft's certificates have them, http://www.microsoft.com/pki..., of plain
 * characters, and make them https. */
static bool take_url(const ASN1_IA5STRING *name, char url[ATTEST_URL_MAX + 1])
{
	static const char plain[] = "http://" ISSUERS_HOST "/pki",
			  tls[] = "https://" ISSUERS_HOST "/pki";
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-._~/%+";
	char text[ATTEST_URL_MAX] = "";
	const char *path;

	if (ASN1_STRING_length(name) >= ATTEST_URL_MAX - 1)
		return false;
	memcpy(text, ASN1_STRING_get0_data(name), (size_t)ASN1_STRING_length(name));
	if (strncasecmp(text, plain, strlen(plain)) == 0)
		path = text + strlen(plain);
	else if (strncasecmp(text, tls, strlen(tls)) == 0)
		path = text + strlen(tls);
	else
		return false;
	if (strstr(path, "..") != NULL || path[strspn(path, letters)] != '\0')
		return false;
	(void)snprintf(url, ATTEST_URL_MAX + 1, "%s%s", tls, path);
	return true;
}

static bool issuer_url(X509 *cert, char url[ATTEST_URL_MAX + 1])
{
	AUTHORITY_INFO_ACCESS *aia = X509_get_ext_d2i(cert, NID_info_access, NULL, NULL);
	bool ok = false;

	for (int i = 0; i < sk_ACCESS_DESCRIPTION_num(aia) && !ok; i++) {
		const ACCESS_DESCRIPTION *d = sk_ACCESS_DESCRIPTION_value(aia, i);
		int type;
		const void *v = GENERAL_NAME_get0_value(d->location, &type);

		ok = OBJ_obj2nid(d->method) == NID_ad_ca_issuers && type == GEN_URI &&
		     take_url(v, url);
	}
	AUTHORITY_INFO_ACCESS_free(aia);
	ERR_clear_error();
	return ok;
}

static int azure_lacks(const void *self, const char *doc, size_t len, struct attest_lack *out)
{
	const struct azure *a = self;
	X509 *cert;
	PKCS7 *p7;
	bool lacks;

	memset(out, 0, sizeof(*out));
	out->said = true;
	if (open_document(&p7, doc, len, NULL) < 0)
		return 0;
	lacks = check_certs(p7, &cert, NULL) == 0 && check_name(a, cert, NULL) == 0 &&
		is_issuer_missing(chain_error(a, p7, cert, 0)) && issuer_url(cert, out->url);
	memcpy(out->what, out->url, sizeof(out->what));
	PKCS7_free(p7);
	ERR_clear_error();
	return lacks;
}

static bool leads_to_a_root(const struct azure *a, X509 *cert)
{
	bool yes = attest_check_key(cert, NULL) == 0 && X509_check_ca(cert) == 1 &&
		   chain_error(a, NULL, cert, 0) == X509_V_OK;

	ERR_clear_error();
	return yes;
}

/* Takes cert.  Configured intermediates stay; of the learnt ones the oldest goes if there are too
 * many. */
static void keep_learnt(struct azure *a, X509 *cert)
{
	add_intermediate(a, cert);
	if (sk_X509_num(a->intermediates) > a->given + INTERMEDIATES_MAX)
		X509_free(sk_X509_delete(a->intermediates, a->given));
}

/* Add an intermediate, in DER as Microsoft sends it, or in PEM.  Its origin earns no trust: it must
 * chain to a root, or bogus ones would push out good ones. */
static int azure_learn(void *self, const char *body, size_t len, struct err *e)
{
	const unsigned char *p = (const unsigned char *)body;
	struct azure *a = self;
	X509 *cert = NULL;

	if (len > 0 && len <= ATTEST_CERT_MAX && *p == 0x30) {
		cert = d2i_X509(NULL, &p, (long)len);
		if (cert != NULL && p != (const unsigned char *)body + len) {
			X509_free(cert);
			cert = NULL;
		}
	} else if (len <= ATTEST_DOC_MAX) {
		(void)attest_next_cert(&cert, &body, &len, NULL);
	}
	ERR_clear_error();
	if (cert == NULL)
		return err_set(e, ERR_INVALID, "not a certificate");
	if (!leads_to_a_root(a, cert)) {
		X509_free(cert);
		return err_set(e, ERR_AUTH, "the certificate does not lead to a trusted root");
	}
	keep_learnt(a, cert);
	return 0;
}

const struct attest_ops attest_azure = {.kind = ATTEST_AZURE,
					.open = azure_open,
					.close = azure_close,
					.verify = azure_verify,
					.lacks = azure_lacks,
					.learn = azure_learn};
