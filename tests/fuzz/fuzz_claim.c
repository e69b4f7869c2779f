/* fuzz_claim.c - any bytes as the body of a claim: what is taken keeps every promise of its header,
 * what is not leaves no trace, and no error says a part of the secret. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/claim_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENDS(text) (memchr(text, '\0', sizeof(text)) != NULL)

static void check(const struct claim_body *b)
{
	assert(ENDS(b->id) && ENDS(b->secret) && ENDS(b->node) && ENDS(b->provider));
	assert(ENDS(b->instance) && ENDS(b->boot) && ENDS(b->csr) && ENDS(b->nonce));
	assert(ENDS(b->facts.kernel) && ENDS(b->facts.driver));
	assert(b->id[0] != '\0' && b->secret[0] != '\0' && b->csr[0] != '\0');
	assert(b->node[0] == '\0' || hostlist_is_name(b->node));
	assert(b->attest < ATTEST_NKINDS && b->doc_len <= ATTEST_DOC_MAX);
	assert(b->doc[b->doc_len] == '\0' && (b->attest == ATTEST_NONE || b->doc_len > 0));
	assert(b->facts.gpus >= 0 && b->facts.mem_mb >= 0 && b->facts.cpus >= 0);
	for (const char *p = b->id; *p != '\0'; p++)
		assert(*p >= ' ' && *p <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct claim_body b, empty;
	char *text = mem_zalloc(size + 1);
	struct err e = {0};

	memcpy(text, data, size);
	memset(&b, 0xff, sizeof(b));
	if (claim_body_parse(&b, text, size, &e) == 0)
		check(&b);
	else
		assert(e.code != 0 && memcmp(&b, &empty, sizeof(b)) == 0);
	free(text);
	return 0;
}
