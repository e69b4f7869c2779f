/* namesakes.h - which jobs of a report have one number and several users: slurmctld begins its
 * numbers anew when it has lost its state, and these are not one job. */
#ifndef BURSTD_LEDGER_NAMESAKES_H
#define BURSTD_LEDGER_NAMESAKES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct namesake { /* job NULL: free */
	const char *job;
	int64_t user;
	bool several; /* users */
};

struct namesakes { /* all zero: empty */
	struct namesake *v;
	size_t n, cap; /* an open table, at most half full */
};

/* A job as people write it, which is borrowed, and a number for its user. */
void namesakes_add(struct namesakes *all, const char *job, int64_t user);
/* Was it added with another user, too? */
bool namesakes_has(const struct namesakes *all, const char *job);
void namesakes_fini(struct namesakes *all);

#endif
