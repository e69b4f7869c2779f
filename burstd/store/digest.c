#include "store/digest.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

/* These calls of OpenSSL fail only for lack of memory. */
static void check(const struct digest *d, bool ok)
{
	(void)mem_check(ok ? d->md : NULL);
}

void digest_begin(struct digest *d, const char *before)
{
	d->md = mem_check(EVP_MD_CTX_new());
	check(d, EVP_DigestInit_ex(d->md, EVP_sha256(), NULL) == 1 &&
			 EVP_DigestUpdate(d->md, before, strlen(before)) == 1);
}

void digest_text(struct digest *d, const char *text)
{
	char head[32];
	size_t len = strlen(text);
	int n = snprintf(head, sizeof(head), "%zu:", len);

	check(d, EVP_DigestUpdate(d->md, head, (size_t)n) == 1 &&
			 EVP_DigestUpdate(d->md, text, len) == 1 &&
			 EVP_DigestUpdate(d->md, ",", 1) == 1);
}

void digest_int(struct digest *d, int64_t v)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRId64, v);
	digest_text(d, text);
}

void digest_end(struct digest *d, char out[DIGEST_SIZE])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];

	check(d, EVP_DigestFinal_ex(d->md, bytes, NULL) == 1);
	EVP_MD_CTX_free(d->md);
	d->md = NULL;
	(void)fmt_hex(out, bytes, DIGEST_SIZE / 2);
}
