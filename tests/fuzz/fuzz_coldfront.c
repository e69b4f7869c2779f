/* fuzz_coldfront.c - any bytes as ColdFront's allocations: they are refused, or what was read of
 * them can be sent to burstd, one amount for each account. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/plain.h"
#include "cli/coldfront.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { TODAY = 20000 };
	struct err e = {0};
	struct coldfront c;

	if (coldfront_parse(&c, (const char *)data, size, "Cloud Budget (EUR)", TODAY, &e) != 0) {
		assert(e.code != 0 && e.msg[0] != '\0' && plain_is(e.msg));
		assert(c.v == NULL && c.n == 0);
		return 0;
	}
	for (size_t i = 0; i < c.n; i++) {
		assert(c.v[i].account[0] != '\0' && plain_is(c.v[i].account));
		assert(c.v[i].nano >= 0 && c.v[i].last_day >= TODAY);
		assert(i == 0 || strcmp(c.v[i - 1].account, c.v[i].account) < 0);
	}
	coldfront_fini(&c);
	return 0;
}
