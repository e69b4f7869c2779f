/* fuzz_claims.c - any bytes as the body of a claim, from who knows nothing: it is never let through
 * but with the secret, however often it is tried. */
#include <assert.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/node_claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char secret[] = "0123456789abcdef";

static void ask(struct node_claims *t, const char *path, const char *body, size_t len)
{
	struct node_request rq = {
		.http = {.method = "POST", .path = path, .query = "", .body = body, .len = len}};
	struct http_answer an = {.status = 500};

	if (node_claims_check(t, &rq, &an)) {
		assert(an.status == 400 || an.status == 401 || an.status == 404);
		assert(an.body == NULL);
		return;
	}
	assert(memmem(body, len, "b-1", 3) != NULL || memchr(body, '\\', len) != NULL);
	if (strcmp(path, "/v1/claim") == 0)
		assert(memmem(body, len, secret, sizeof(secret) - 1) != NULL ||
		       memchr(body, '\\', len) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node_claims *t = node_claims_new();
	uint8_t hash[EVP_MAX_MD_SIZE];
	char *body = calloc(1, size + 1);

	if (body == NULL ||
	    EVP_Digest(secret, sizeof(secret) - 1, hash, NULL, EVP_sha256(), NULL) != 1)
		abort();
	memcpy(body, data, size);
	(void)node_claims_put(t, "b-1", hash);
	for (int i = 0; i <= NODE_CLAIM_GUESSES; i++)
		ask(t, "/v1/claim", body, size);
	ask(t, "/v1/alarm", body, size);
	node_claims_free(t);
	free(body);
	return 0;
}
