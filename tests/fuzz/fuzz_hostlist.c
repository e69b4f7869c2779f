/* fuzz_hostlist.c - what parses is valid, and folds to a text that parses to the same names. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"

enum { TEXT_MAX = (HOSTLIST_NAME_MAX + 1) * HOSTLIST_NAMES_MAX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hostlist *a, *b;
	struct err e = {0};
	struct str s;

	if (hostlist_parse(&a, (const char *)data, size, &e) != 0) {
		assert(a == NULL && e.code != 0 && e.msg[0] != '\0');
		return 0;
	}
	assert(a->n > 0 && a->n <= HOSTLIST_NAMES_MAX);
	for (size_t i = 0; i < a->n; i++)
		assert(hostlist_is_name(a->names[i]));
	str_init(&s, TEXT_MAX);
	hostlist_fold(&s, a->names, a->n);
	assert(!s.full);
	assert(hostlist_parse(&b, s.p, s.len, &e) == 0);
	assert(b->n == a->n);
	for (size_t i = 0; i < a->n; i++)
		assert(strcmp(a->names[i], b->names[i]) == 0);
	str_fini(&s);
	hostlist_free(a);
	hostlist_free(b);
	return 0;
}
