/* fuzz_case.c - records of instances and budgets: what cannot be is one error with its line, and
 * the rest adds up (allocate() asserts that) and gives the same twice. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/case.h"

enum { OUT_MAX = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str a, b, notes;
	struct err e = {0};
	char *text = mem_zalloc(size + 1);
	int rc;

	memcpy(text, data, size);
	str_init(&a, OUT_MAX);
	str_init(&b, OUT_MAX);
	str_init(&notes, OUT_MAX);
	rc = case_run("x", text, &a, &notes, &e);
	assert(rc == 0 || (e.code != 0 && strncmp(e.msg, "x:", 2) == 0));
	assert(case_run("x", text, &b, &notes, &e) == rc);
	assert(a.len == b.len && memcmp(a.p, b.p, a.len) == 0);
	str_fini(&a);
	str_fini(&b);
	str_fini(&notes);
	free(text);
	return 0;
}
