/* fuzz_sacct.c - what sacct and squeue print: what cannot be read is left out or an error, and what
 * is read is an attempt that the ledger can keep. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "ledger/sacct.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int see(void *ctx, const struct ledger_attempt *a, const char *nodes, struct err *e)
{
	size_t *n = ctx;
	const char *const texts[] = {a->job_id, a->name,      a->state, a->account,
				     a->user,   a->partition, a->qos,   a->wckey};

	(void)e;
	++*n;
	assert(a->job <= UINT32_MAX && a->start_s > 0 && nodes[0] != '\0');
	assert(a->running ? a->end_s == a->start_s : a->end_s > 0);
	assert(a->cpus >= 0 && a->gpus >= 0 && a->memory_mb >= 0 && a->nnodes >= 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert(plain_is(texts[i]) && strlen(texts[i]) <= SACCT_TEXT_MAX);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int squeue = 0; squeue < 2; squeue++) {
		char *text = mem_zalloc(size + 1);
		const struct sacct_text t = {.p = text, .len = size, .delimiter = "|"};
		struct sacct_count n;
		struct err e = {0};
		size_t seen = 0;
		int rc;

		memcpy(text, data, size);
		rc = squeue != 0 ? sacct_parse_squeue(&t, see, &seen, &n, &e)
				 : sacct_parse(&t, see, &seen, &n, &e);
		assert(rc == 0 || e.code == ERR_INVALID);
		assert(seen + n.bad <= n.records);
		free(text);
	}
	return 0;
}
