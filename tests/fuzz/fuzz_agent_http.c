/* Any bytes as an HTTP answer: it is the same however they are cut, no limit is passed, and what is
 * behind the end is never taken for more. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY = 300 };

static void check(bool ok)
{
	if (!ok)
		abort();
}

static int feed(struct answer *a, const char *p, size_t len, size_t step)
{
	struct err e = {0};
	int rc = 0;

	for (size_t i = 0; i < len && rc >= 0; i += step)
		rc = answer_feed(a, p + i, len - i < step ? len - i : step, &e);
	check((rc < 0) == (e.code != ERR_NONE));
	check(a->body.len <= BODY && a->head <= ANSWER_HEAD_MAX + 1);
	check(rc != 1 || a->state == ANSWER_DONE);
	if (rc == 0)
		rc = answer_eof(a, &e) == 1 ? 2 : 3;
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct answer one, many;
	bool to_eof;
	int rc;

	if (size == 0)
		return 0;
	to_eof = (data[0] & 1) != 0;
	answer_init(&one, BODY, to_eof);
	answer_init(&many, BODY, to_eof);
	rc = feed(&one, text + 1, size - 1, size);
	check(feed(&many, text + 1, size - 1, 1U + (data[0] >> 1) % 13U) == rc);
	if (rc > 0) {
		check(one.status == many.status && one.close == many.close);
		check(strcmp(one.etag, many.etag) == 0 && one.google == many.google);
		check(one.body.len == many.body.len);
		check(memcmp(one.body.p, many.body.p, one.body.len) == 0);
	}
	answer_fini(&one);
	answer_fini(&many);
	return 0;
}
