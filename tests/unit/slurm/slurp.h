/* slurp.h - reads a file of the repository as one text; tests run from the top of the
 * repository. */
#ifndef TESTS_SLURP_H
#define TESTS_SLURP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

enum { TEXT_MAX = 1 << 20 };

/* The file's text; the caller's. */
static inline char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = mem_zalloc(TEXT_MAX);
	size_t n;

	if (f == NULL)
		fail_msg("cannot open %s", path);
	n = fread(text, 1, TEXT_MAX - 1, f);
	assert_int_equal(ferror(f), 0);
	(void)fclose(f);
	text[n] = '\0';
	return text;
}

#endif
