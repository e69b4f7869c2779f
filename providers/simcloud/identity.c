#include "providers/simcloud/identity.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/pkcs7.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "providers/simcloud/identity_private.h"

enum { PATH_BYTES = 1024, MAC = 16, JWT_MAX_BYTES = 16384, SIGNATURE_BYTES = 512 };

int identity_kind_parse(const char *word, enum identity_kind *k, struct err *e)
{
	static const char *const words[IDENTITY_KINDS] = {
		[IDENTITY_AWS] = "aws", [IDENTITY_GCP] = "gcp", [IDENTITY_AZURE] = "azure"};

	for (int i = 0; i < IDENTITY_KINDS; i++)
		if (strcmp(words[i], word) == 0) {
			*k = (enum identity_kind)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "want aws, gcp or azure");
}

enum identity_kind identity_kind(const struct identity *i)
{
	return i->kind;
}

void identity_close(struct identity *i)
{
	if (i == NULL)
		return;
	EVP_PKEY_free(i->key);
	EVP_PKEY_free(i->kept);
	X509_free(i->cert);
	X509_free(i->inter);
	X509_free(i->root);
	OPENSSL_cleanse(i->secret, sizeof(i->secret));
	free(i);
}

int identity_open(struct identity **out, enum identity_kind kind, const char *path, struct err *e)
{
	struct identity *i = mem_zalloc(sizeof(*i));
	char key_path[PATH_BYTES];
	int rc;

	*out = NULL;
	i->kind = kind;
	if (RAND_bytes(i->secret, sizeof(i->secret)) != 1) {
		identity_close(i);
		return err_set(e, ERR_IO, "no random bytes");
	}
	(void)snprintf(key_path, sizeof(key_path), "%s.key", path != NULL ? path : "");
	if (path != NULL && access(path, F_OK) == 0)
		rc = identity_load(i, path, key_path, e);
	else if (path != NULL && access(key_path, F_OK) == 0)
		rc = identity_mend(i, path, key_path, e);
	else if (identity_make(i) != 0)
		rc = err_set(e, ERR_IO, "cannot make a key and its certificate");
	else
		rc = path != NULL ? identity_keep(i, path, key_path, e) : 0;
	if (rc != 0) {
		identity_close(i);
		return -1;
	}
	*out = i;
	return 0;
}

static char *lines(const unsigned char *der, int len, size_t line)
{
	char *flat = mem_zalloc((size_t)(len + 2) / 3 * 4 + 1), *out, *to;
	size_t n = (size_t)EVP_EncodeBlock((unsigned char *)flat, der, len);

	out = to = mem_zalloc(n + n / line + 2);
	for (size_t at = 0; at < n; at += line) {
		size_t part = n - at < line ? n - at : line;

		if (at > 0)
			*to++ = '\n';
		memcpy(to, flat + at, part);
		to += part;
	}
	free(flat);
	return out;
}

char *identity_sign(const struct identity *i, const char *text, size_t len, size_t line)
{
	BIO *in = i->cert != NULL ? BIO_new_mem_buf(text, (int)len) : NULL;
	PKCS7 *p7 = in != NULL ? PKCS7_sign(i->cert, i->key, NULL, in, PKCS7_BINARY) : NULL;
	unsigned char *der = NULL;
	int n = p7 != NULL ? i2d_PKCS7(p7, &der) : -1;
	char *out = n > 0 ? lines(der, n, line) : NULL;

	OPENSSL_free(der);
	PKCS7_free(p7);
	BIO_free(in);
	return out;
}

char *identity_jwt(const struct identity *i, const char *claims, size_t len)
{
	EVP_MD_CTX *ctx = mem_check(EVP_MD_CTX_new());
	unsigned char sig[SIGNATURE_BYTES];
	size_t n = sizeof(sig);
	char head[128];
	struct str s;
	int rc;

	str_init(&s, JWT_MAX_BYTES);
	rc = snprintf(head, sizeof(head), "{\"alg\":\"RS256\",\"kid\":\"%s\",\"typ\":\"JWT\"}",
		      i->kid);
	identity_add_url64(&s, head, (size_t)rc);
	str_adds(&s, ".");
	identity_add_url64(&s, claims, len);
	rc = EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, i->key);
	if (rc == 1)
		rc = EVP_DigestSign(ctx, sig, &n, (const unsigned char *)s.p, s.len);
	EVP_MD_CTX_free(ctx);
	str_adds(&s, ".");
	if (rc == 1)
		identity_add_url64(&s, sig, n);
	if (rc == 1 && !s.full)
		return str_take(&s);
	str_fini(&s);
	return NULL;
}

/* A token is its end and a MAC, in hex. */
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
