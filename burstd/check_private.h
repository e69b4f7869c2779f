/* check_private.h - what check.c and check_provider.c share: check.c reads the file and checks all
 * but its providers.  Only these include this header. */
#ifndef BURSTD_CHECK_PRIVATE_H
#define BURSTD_CHECK_PRIVATE_H

#include "core/conf.h"

enum { CHECK_PROBLEM_MAX = 8192 }; /* bytes of one */

struct check {
	const struct conf *conf;
	unsigned problems;
};

/* --- check.c --- */
/* Print "FILE:LINE: ..." and count it; line 0: of the file as a whole. */
void check_problem(struct check *c, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- check_provider.c --- */
/* Check a provider's files and options by its driver, and whether that can buy its pools' offers.
 */
void check_provider(struct check *c, struct conf_provider *p);

#endif
