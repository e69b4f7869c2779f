/* identity_keys.c - makes, stores and loads the keys and certificates of the metadata service. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/own_file.h"
#include "providers/simcloud/identity_private.h"

enum {
	BITS = 2048,
	DAYS = 3650,
	LEAF_DAYS = 90,
	NUMBER_BYTES = 512,
	JWKS_MAX_BYTES = 4096,
};

/* --- certificates ----------------------------------------------------------------------------- */

struct wanted {
	const char *name;
	EVP_PKEY *key;
	X509 *issuer; /* NULL: self-signed */
	EVP_PKEY *by; /* the issuer's key */
	long serial, days;
	const char *const *extensions; /* name, value, ..., NULL; or NULL */
};

static int extend(X509 *cert, X509 *issuer, const char *const *what)
{
	X509V3_CTX ctx;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	for (; what != NULL && what[0] != NULL; what += 2) {
		X509_EXTENSION *x = X509V3_EXT_conf(NULL, &ctx, what[0], what[1]);
		int rc = x != NULL ? X509_add_ext(cert, x, -1) : 0;

		X509_EXTENSION_free(x);
		if (rc != 1)
			return -1;
	}
	return 0;
}

static X509 *make_cert(const struct wanted *w)
{
	X509 *cert = mem_check(X509_new()), *issuer = w->issuer != NULL ? w->issuer : cert;
	X509_NAME *name = X509_get_subject_name(cert);

	if (X509_set_version(cert, X509_VERSION_3) == 1 &&
	    ASN1_INTEGER_set(X509_get_serialNumber(cert), w->serial) == 1 &&
	    X509_gmtime_adj(X509_getm_notBefore(cert), -3600) != NULL &&
	    X509_gmtime_adj(X509_getm_notAfter(cert), 86400L * w->days) != NULL &&
	    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)w->name, -1,
				       -1, 0) == 1 &&
	    X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
	    X509_set_pubkey(cert, w->key) == 1 && extend(cert, issuer, w->extensions) == 0 &&
	    X509_sign(cert, w->by, EVP_sha256()) > 0)
		return cert;
	X509_free(cert);
	return NULL;
}

/* --- azure: a root (key dropped), an intermediate (key kept), a leaf that signs --------------- */

static int make_leaf(struct identity *i)
{
	/* No URL of its issuer in it: nobody shall be sent to Microsoft. */
	static const char *const extensions[] = {"basicConstraints",
						 "critical,CA:FALSE",
						 "keyUsage",
						 "critical,digitalSignature,keyEncipherment",
						 "extendedKeyUsage",
						 "serverAuth,clientAuth",
						 "subjectAltName",
						 "DNS:metadata.azure.com",
						 NULL};
	struct wanted w = {.name = "metadata.azure.com",
			   .issuer = i->inter,
			   .by = i->kept,
			   .serial = 3,
			   .days = LEAF_DAYS,
			   .extensions = extensions};

	w.key = i->key = EVP_RSA_gen(BITS);
	i->cert = w.key != NULL ? make_cert(&w) : NULL;
	return i->cert != NULL ? 0 : -1;
}

static int make_authorities(struct identity *i)
{
	static const char *const root_is[] = {"basicConstraints", "critical,CA:TRUE", "keyUsage",
					      "critical,keyCertSign,cRLSign", NULL};
	static const char *const inter_is[] = {"basicConstraints", "critical,CA:TRUE,pathlen:0",
					       "keyUsage", "critical,keyCertSign,cRLSign", NULL};
	EVP_PKEY *key = EVP_RSA_gen(BITS);
	struct wanted root = {.name = "simcloud metadata root",
			      .key = key,
			      .by = key,
			      .serial = 1,
			      .days = DAYS,
			      .extensions = root_is},
		      inter = {.name = "simcloud metadata intermediate",
			       .by = key,
			       .serial = 2,
			       .days = DAYS,
			       .extensions = inter_is};

	if (i->kept == NULL)
		i->kept = EVP_RSA_gen(BITS);
	inter.key = i->kept;
	if (key != NULL && inter.key != NULL)
		inter.issuer = i->root = make_cert(&root);
	if (i->root != NULL)
		i->inter = make_cert(&inter);
	EVP_PKEY_free(key);
	return i->inter != NULL ? 0 : -1;
}

/* --- gcp: a key with a name ------------------------------------------------------------------- */

/* Name the key as Google does, by 40 hex digits. */
static int name_key(struct identity *i)
{
	unsigned char *der = NULL, sum[SHA256_DIGEST_LENGTH];
	int n = i2d_PUBKEY(i->key, &der);

	if (n <= 0)
		return -1;
	(void)SHA256(der, (size_t)n, sum);
	OPENSSL_free(der);
	(void)fmt_hex(i->kid, sum, (IDENTITY_KID_SIZE - 1) / 2);
	return 0;
}

void identity_add_url64(struct str *s, const void *data, size_t n)
{
	char *text = mem_zalloc((n + 2) / 3 * 4 + 1);

	(void)EVP_EncodeBlock((unsigned char *)text, data, (int)n);
	for (char *p = text; *p != '\0' && *p != '='; p++)
		str_add(s, *p == '+' ? "-" : *p == '/' ? "_" : p, 1);
	free(text);
}

static int add_number(struct str *s, const char *key, const EVP_PKEY *of, const char *name)
{
	unsigned char bytes[NUMBER_BYTES];
	BIGNUM *bn = NULL;
	int n;

	if (EVP_PKEY_get_bn_param(of, name, &bn) != 1)
		return -1;
	n = BN_bn2bin(bn, bytes);
	BN_free(bn);
	str_addf(s, ",\"%s\":\"", key);
	identity_add_url64(s, bytes, (size_t)n);
	str_adds(s, "\"");
	return 0;
}

/* Write the key as www.googleapis.com/oauth2/v3/certs has it. */
static int write_jwks(FILE *f, const struct identity *i)
{
	struct str s;
	int rc = -1;

	str_init(&s, JWKS_MAX_BYTES);
	str_addf(&s, "{\"keys\":[{\"kty\":\"RSA\",\"alg\":\"RS256\",\"use\":\"sig\",\"kid\":\"%s\"",
		 i->kid);
	if (add_number(&s, "n", i->key, OSSL_PKEY_PARAM_RSA_N) == 0 &&
	    add_number(&s, "e", i->key, OSSL_PKEY_PARAM_RSA_E) == 0) {
		str_adds(&s, "}]}\n");
		rc = !s.full && fputs(s.p, f) >= 0 ? 0 : -1;
	}
	str_fini(&s);
	return rc;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int make_own(struct identity *i)
{
	struct wanted w = {.name = "simcloud instance identity", .serial = 1, .days = DAYS};

	if (i->key == NULL)
		i->key = EVP_RSA_gen(BITS);
	if (i->key == NULL)
		return -1;
	w.key = w.by = i->key;
	if (i->kind == IDENTITY_GCP)
		return name_key(i);
	i->cert = make_cert(&w);
	return i->cert != NULL ? 0 : -1;
}

int identity_make(struct identity *i)
{
	if (i->kind != IDENTITY_AZURE)
		return make_own(i);
	return make_authorities(i) == 0 ? make_leaf(i) : -1;
}

typedef int (*write_fn)(FILE *f, const struct identity *i);

static int write_key(FILE *f, const struct identity *i)
{
	const EVP_PKEY *key = i->kept != NULL ? i->kept : i->key;

	return PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1 ? 0 : -1;
}

static int write_public(FILE *f, const struct identity *i)
{
	if (i->kind == IDENTITY_GCP)
		return write_jwks(f, i);
	if (i->kind == IDENTITY_AWS)
		return PEM_write_X509(f, i->cert) == 1 ? 0 : -1;
	return PEM_write_X509(f, i->inter) == 1 && PEM_write_X509(f, i->root) == 1 ? 0 : -1;
}

/* What `write` writes, in memory; NULL: it cannot.  The caller's (free()). */
static char *text_of(const struct identity *i, write_fn write, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);
	bool good = f != NULL && write(f, i) == 0;

	if (f != NULL && fclose(f) != 0)
		good = false;
	if (good)
		return text;
	free(text);
	return NULL;
}

/* Nobody could read half a key: the file is whole or not there. */
static int keep_file(const struct identity *i, const char *path, enum own_file_how how,
		     write_fn write, struct err *e)
{
	size_t len = 0;
	const char *name;
	char *text = text_of(i, write, &len), *at = own_file_split(path, &name);
	int dir = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = text != NULL && dir >= 0 && own_file_write(dir, name, text, len, how) == 0;

	if (!good)
		(void)err_set(e, ERR_IO, "%.200s: %s", path, strerror(errno));
	if (dir >= 0)
		(void)close(dir);
	if (text != NULL)
		explicit_bzero(text, len); /* it may be the key */
	free(text);
	free(at);
	return good ? 0 : -1;
}

/* Write the key first: identity_mend() makes what is missing of it, and nothing could make a key
 * for a certificate. */
int identity_keep(const struct identity *i, const char *path, const char *key_path, struct err *e)
{
	if (keep_file(i, key_path, OWN_FILE_NEW, write_key, e) != 0)
		return -1;
	return keep_file(i, path, OWN_FILE_NEW_PUBLIC, write_public, e);
}

static void read_key(struct identity *i, const char *key_path)
{
	FILE *k = fopen(key_path, "re");

	if (k == NULL)
		return;
	i->key = PEM_read_PrivateKey(k, NULL, NULL, NULL);
	(void)fclose(k);
}

int identity_mend(struct identity *i, const char *path, const char *key_path, struct err *e)
{
	read_key(i, key_path);
	if (i->key == NULL || EVP_PKEY_is_a(i->key, "RSA") != 1)
		return err_set(e, ERR_INVALID, "%.200s: no RSA key", key_path);
	if (i->kind == IDENTITY_AZURE) {
		i->kept = i->key;
		i->key = NULL;
	}
	if (identity_make(i) != 0)
		return err_set(e, ERR_IO, "cannot make a certificate for %.200s", key_path);
	return keep_file(i, path, OWN_FILE_NEW_PUBLIC, write_public, e);
}

/* Is the loaded key the one that the file publishes? */
static bool is_known(struct identity *i, FILE *f)
{
	const char *kid;
	json_t *o;
	bool same;

	if (name_key(i) != 0)
		return false;
	o = json_loadf(f, 0, NULL);
	kid = json_string_value(
		json_object_get(json_array_get(json_object_get(o, "keys"), 0), "kid"));
	same = kid != NULL && strcmp(kid, i->kid) == 0;
	json_decref(o);
	return same;
}

static int load_azure(struct identity *i, FILE *f)
{
	i->kept = i->key;
	i->key = NULL;
	i->inter = PEM_read_X509(f, NULL, NULL, NULL);
	i->root = i->inter != NULL ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
	if (i->root == NULL || X509_check_private_key(i->inter, i->kept) != 1)
		return -1;
	return make_leaf(i);
}

static int load_public(struct identity *i, FILE *f)
{
	if (i->kind == IDENTITY_AZURE)
		return load_azure(i, f);
	if (i->kind == IDENTITY_GCP)
		return is_known(i, f) ? 0 : -1;
	i->cert = PEM_read_X509(f, NULL, NULL, NULL);
	return i->cert != NULL && X509_check_private_key(i->cert, i->key) == 1 ? 0 : -1;
}

int identity_load(struct identity *i, const char *path, const char *key_path, struct err *e)
{
	static const char *const what[] = {[IDENTITY_AWS] = "no certificate",
					   [IDENTITY_GCP] = "no set of keys (JWK)",
					   [IDENTITY_AZURE] = "no intermediate and root"};
	FILE *f = fopen(path, "re");
	int rc;

	read_key(i, key_path);
	rc = f != NULL && i->key != NULL ? load_public(i, f) : -1;
	if (f != NULL)
		(void)fclose(f);
	if (rc != 0)
		return err_set(e, ERR_INVALID, "%.200s: %s with its key in %.200s.key", path,
			       what[i->kind], path);
	return 0;
}
