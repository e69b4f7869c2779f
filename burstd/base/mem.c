#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mem_check(void *p)
{
	if (p == NULL) {
		(void)fputs("burstd: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *mem_zalloc(size_t size)
{
	return mem_check(calloc(1, size));
}

void *mem_realloc(void *p, size_t size)
{
	assert(size > 0);
	return mem_check(realloc(p, size));
}

char *mem_strdup(const char *s)
{
	return mem_check(strdup(s));
}
