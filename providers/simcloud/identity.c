#include "providers/simcloud/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs7.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { BITS = 2048, DAYS = 3650, PATH_BYTES = 1024, LINE = 64, MAC = 16 };

struct identity {
	EVP_PKEY *key;
	X509 *cert;
	unsigned char secret[32]; /* of tokens */
};

void identity_close(struct identity *i)
{
	if (i == NULL)
		return;
	EVP_PKEY_free(i->key);
	X509_free(i->cert);
	OPENSSL_cleanse(i->secret, sizeof(i->secret));
	free(i);
}

static int make(struct identity *i)
{
	X509_NAME *name;

	i->key = EVP_RSA_gen(BITS);
	i->cert = X509_new();
	if (i->key == NULL || i->cert == NULL)
		return -1;
	name = X509_get_subject_name(i->cert);
	if (X509_set_version(i->cert, X509_VERSION_3) != 1 ||
	    ASN1_INTEGER_set(X509_get_serialNumber(i->cert), 1) != 1 ||
	    X509_gmtime_adj(X509_getm_notBefore(i->cert), -3600) == NULL ||
	    X509_gmtime_adj(X509_getm_notAfter(i->cert), 86400L * DAYS) == NULL ||
	    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
				       (const unsigned char *)"simcloud instance identity", -1, -1,
				       0) != 1 ||
	    X509_set_issuer_name(i->cert, name) != 1 || X509_set_pubkey(i->cert, i->key) != 1)
		return -1;
	return X509_sign(i->cert, i->key, EVP_sha256()) > 0 ? 0 : -1;
}

static FILE *open_new(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	return fd >= 0 ? fdopen(fd, "w") : NULL;
}

/* The key first: a certificate without one would be in the way for ever. */
static int keep(const struct identity *i, const char *path, const char *key_path, struct err *e)
{
	FILE *f = open_new(key_path, 0600);
	bool good = f != NULL && PEM_write_PrivateKey(f, i->key, NULL, NULL, 0, NULL, NULL) == 1;

	if (f != NULL && fclose(f) != 0)
		good = false;
	if (!good)
		return err_set(e, ERR_IO, "%.200s: %s", key_path, strerror(errno));
	f = open_new(path, 0644);
	good = f != NULL && PEM_write_X509(f, i->cert) == 1;
	if (f != NULL && fclose(f) != 0)
		good = false;
	return good ? 0 : err_set(e, ERR_IO, "%.200s: %s", path, strerror(errno));
}

static int load(struct identity *i, const char *path, const char *key_path, struct err *e)
{
	FILE *f = fopen(path, "re"), *k = fopen(key_path, "re");

	if (f != NULL)
		i->cert = PEM_read_X509(f, NULL, NULL, NULL);
	if (k != NULL)
		i->key = PEM_read_PrivateKey(k, NULL, NULL, NULL);
	if (f != NULL)
		(void)fclose(f);
	if (k != NULL)
		(void)fclose(k);
	if (i->cert == NULL || i->key == NULL || X509_check_private_key(i->cert, i->key) != 1)
		return err_set(e, ERR_INVALID, "%.200s: no certificate with its key in %.200s.key",
			       path, path);
	return 0;
}

int identity_open(struct identity **out, const char *path, struct err *e)
{
	struct identity *i = mem_zalloc(sizeof(*i));
	char key_path[PATH_BYTES];
	int rc;

	*out = NULL;
	if (RAND_bytes(i->secret, sizeof(i->secret)) != 1) {
		identity_close(i);
		return err_set(e, ERR_IO, "no random bytes");
	}
	(void)snprintf(key_path, sizeof(key_path), "%s.key", path != NULL ? path : "");
	if (path != NULL && (access(path, F_OK) == 0 || access(key_path, F_OK) == 0))
		rc = load(i, path, key_path, e);
	else if (make(i) != 0)
		rc = err_set(e, ERR_IO, "cannot make a certificate");
	else
		rc = path != NULL ? keep(i, path, key_path, e) : 0;
	if (rc != 0) {
		identity_close(i);
		return -1;
	}
	*out = i;
	return 0;
}

static char *lines(const unsigned char *der, int len)
{
	char *flat = mem_zalloc((size_t)(len + 2) / 3 * 4 + 1), *out, *to;
	size_t n = (size_t)EVP_EncodeBlock((unsigned char *)flat, der, len);

	out = to = mem_zalloc(n + n / LINE + 2);
	for (size_t at = 0; at < n; at += LINE) {
		size_t part = n - at < LINE ? n - at : LINE;

		if (at > 0)
			*to++ = '\n';
		memcpy(to, flat + at, part);
		to += part;
	}
	free(flat);
	return out;
}

char *identity_sign(const struct identity *i, const char *text, size_t len)
{
	BIO *in = BIO_new_mem_buf(text, (int)len);
	PKCS7 *p7 = in != NULL ? PKCS7_sign(i->cert, i->key, NULL, in, PKCS7_BINARY) : NULL;
	unsigned char *der = NULL;
	int n = p7 != NULL ? i2d_PKCS7(p7, &der) : -1;
	char *out = n > 0 ? lines(der, n) : NULL;

	OPENSSL_free(der);
	PKCS7_free(p7);
	BIO_free(in);
	return out;
}

/* "UNTIL-MAC" in hex. */
void identity_token(const struct identity *i, uint32_t what, int64_t until_ms,
		    char out[IDENTITY_TOKEN_SIZE])
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	char text[48];
	unsigned n = 0;
	int len = snprintf(text, sizeof(text), "%lld/%lu", (long long)until_ms,
			   (unsigned long)what),
	    at;

	(void)HMAC(EVP_sha256(), i->secret, sizeof(i->secret), (const unsigned char *)text,
		   (size_t)len, mac, &n);
	at = snprintf(out, IDENTITY_TOKEN_SIZE, "%016llx", (unsigned long long)until_ms);
	for (int k = 0; k < MAC; k++)
		at += snprintf(out + at, (size_t)(IDENTITY_TOKEN_SIZE - at), "%02x", mac[k]);
}

bool identity_check(const struct identity *i, const char *token, uint32_t what, int64_t now_ms)
{
	char want[IDENTITY_TOKEN_SIZE], head[17];
	int64_t until;

	if (strlen(token) != 16 + 2 * MAC)
		return false;
	memcpy(head, token, 16);
	head[16] = '\0';
	until = (int64_t)strtoull(head, NULL, 16);
	identity_token(i, what, until, want);
	return CRYPTO_memcmp(want, token, 16 + 2 * MAC) == 0 && now_ms < until;
}
