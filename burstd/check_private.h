/* check_private.h - what check.c, check_provider.c and check_cloud.c share: check.c reads the file
 * and checks all but its providers, check_provider.c these, and check_cloud.c asks one of them.
 * Only these include this header. */
#ifndef BURSTD_CHECK_PRIVATE_H
#define BURSTD_CHECK_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>

#include "core/conf.h"

enum { CHECK_PROBLEM_MAX = 8192 }; /* bytes of one */

/* A cluster that nobody has, for requests that are only tried. */
#define CHECK_NO_UUID "00000000-0000-4000-8000-000000000000"

struct check {
	const struct conf *conf;
	unsigned problems;
	json_t *list; /* an array that takes problems instead of standard error; or NULL */
};

/* --- check.c --- */
/* The text of others as JSON: without what no terminal may be shown. */
json_t *check_plain(const char *text);
/* If run by root, become the user that burstd runs as, for good: root may read what burstd may not.
 */
void check_become_burstd(struct check *c);
/* Is path a credential that systemd loads for burstd, and are we not in its service?  Then nobody
 * can look at it, and a note says so. */
bool check_out_of_sight(const char *path);
/* Print "FILE:LINE: ..." and count it; line 0: of the file as a whole. */
void check_problem(struct check *c, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- check_provider.c --- */
/* Check a provider's files and options by its driver, and whether that can buy its pools' offers.
 */
void check_provider(struct check *c, struct conf_provider *p);
/* Check its files and options, and open its driver: *self is the caller's (ops->close()).  NULL: a
 * problem was noted. */
const struct provider_ops *check_provider_open(struct check *c, struct conf_provider *p,
					       void **self);
struct check_driver { /* an open one; borrowed */
	const struct conf_provider *provider;
	const struct provider_ops *ops;
	const void *self;
};
/* Can it build a create for this pool and offer at all, and would the machine take its user-data
 * and become a node?  -1: *e says why not. */
int check_provider_builds(const struct check_driver *d, const struct conf_pool *p,
			  const struct conf_offer *o, struct err *e);

#endif
