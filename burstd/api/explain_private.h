/* explain_private.h - the report of explain_problems(), and the functions that add to it. */
#ifndef BURSTD_EXPLAIN_PRIVATE_H
#define BURSTD_EXPLAIN_PRIVATE_H

#include "api/explain.h"

enum {
	EXPLAIN_NAMES_MAX = 160, /* bytes of a folded node list; a longer list is left out */
};

struct explain_report {
	const struct engine *e;
	explain_fn fn;
	void *ctx;
	struct str s;
	unsigned said;
};

/* --- explain_report.c --- */
/* Report the sentence in r->s, and clear it for the next one. */
void explain_report_say(struct explain_report *r);
/* Append " (h100-[1-4])", or nothing if the list is too long. */
void explain_report_add_names(struct str *out, const char *const *names, size_t n);

/* --- explain_pools.c --- */
/* Add what keeps pools from buying, and what took their nodes. */
void explain_pools_check(struct explain_report *r);

/* --- explain_machines.c --- */
void explain_machines_check(
	struct explain_report *r); /* instances that may bill on, silent nodes */
void explain_machines_unknown(struct explain_report *r); /* instances unknown to the journal */

#endif
