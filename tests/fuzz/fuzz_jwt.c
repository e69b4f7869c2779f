/* fuzz_jwt.c - any bytes as Google's identity token ('t'), as the claims of one that is signed here
 * ('c'), or as the keys that tokens are signed with.  Nothing but what was signed here is taken. */
#include <assert.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "providers/attest/jwt.h"
#include "providers/attest/registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static EVP_PKEY *key;
static void *gcp;

static void add_url64(struct str *s, const void *data, size_t n)
{
	char *text = mem_zalloc(n / 3 * 4 + 8);

	(void)EVP_EncodeBlock((unsigned char *)text, data, (int)n);
	for (char *p = text; *p != '\0' && *p != '='; p++)
		str_add(s, *p == '+' ? "-" : *p == '/' ? "_" : p, 1);
	free(text);
}

static void begin(void)
{
	struct attest_conf conf = {0};
	unsigned char bytes[512];
	BIGNUM *n = NULL;
	struct str s;

	if (key != NULL)
		return;
	key = mem_check(EVP_RSA_gen(2048));
	(void)EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n);
	str_init(&s, 1 << 16);
	str_adds(&s, "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"k\",\"e\":\"AQAB\",\"n\":\"");
	add_url64(&s, bytes, (size_t)BN_bn2bin(n, bytes));
	str_adds(&s, "\"}]}");
	conf.trust = s.p;
	conf.trust_len = s.len;
	if (attest_find(ATTEST_GCP)->open(&gcp, &conf, NULL) < 0)
		abort();
	BN_free(n);
	str_fini(&s);
}

static void verify(const char *token, size_t len, bool ours)
{
	const struct attest_expect want = {.account = "p", .nonce = "burst:b"};
	const struct attest_ops *ops = attest_find(ATTEST_GCP);
	struct attest_identity id;
	struct attest_lack lack;
	struct err e = {0};

	/* Of another time: right in all else. */
	if (ops->verify(gcp, &want, token, len, INT64_C(1794873600000), &id, &e) == 0 ||
	    e.code == ERR_TIME)
		assert(ours && strcmp(id.account, "p") == 0 && id.instance[0] != '\0');
	else
		assert(e.code != 0 && e.msg[0] != '\0' && id.instance[0] == '\0');
	(void)ops->lacks(gcp, token, len, &lack);
	assert(ERR_peek_error() == 0);
}

static void sign(const uint8_t *claims, size_t size)
{
	static const char head[] = "{\"alg\":\"RS256\",\"kid\":\"k\"}";
	EVP_MD_CTX *ctx = mem_check(EVP_MD_CTX_new());
	unsigned char sig[256];
	size_t n = sizeof(sig);
	struct str s;

	str_init(&s, 1 << 16);
	add_url64(&s, head, strlen(head));
	str_adds(&s, ".");
	add_url64(&s, claims, size);
	if (EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) != 1 ||
	    EVP_DigestSign(ctx, sig, &n, (unsigned char *)s.p, s.len) != 1)
		abort();
	str_adds(&s, ".");
	add_url64(&s, sig, n);
	verify(s.p, s.len, true);
	EVP_MD_CTX_free(ctx);
	str_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jwt_keys *keys;
	char *text;

	begin();
	if (size == 0)
		return 0;
	text = mem_zalloc(size);
	memcpy(text, data + 1, size - 1);
	if (data[0] == 't')
		verify(text, size - 1, false);
	else if (data[0] == 'c')
		sign(data + 1, size - 1);
	else if (jwt_keys_parse(&keys, text, size - 1, NULL) == 0)
		jwt_keys_free(keys);
	assert(ERR_peek_error() == 0);
	free(text);
	return 0;
}
