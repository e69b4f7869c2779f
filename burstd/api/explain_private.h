/* explain_private.h - what the files of explain_problems() share: the report that grows, and what
 * each of them adds to it. */
#ifndef BURSTD_EXPLAIN_PRIVATE_H
#define BURSTD_EXPLAIN_PRIVATE_H

#include "api/explain.h"

enum {
	EXPLAIN_NAMES_MAX = 160, /* bytes of a folded list of nodes; a longer one is left out */
};

struct explain_report {
	const struct engine *e;
	explain_fn fn;
	void *ctx;
	struct str s;
	unsigned said;
};

/* --- explain_report.c --- */
/* The sentence in r->s is whole; the next one begins. */
void explain_report_say(struct explain_report *r);
/* " (h100-[1-4])", or nothing when it would be too long to read. */
void explain_report_add_names(struct str *out, const char *const *names, size_t n);

/* --- explain_pools.c --- */
/* What keeps them from buying, or took their nodes. */
void explain_pools_check(struct explain_report *r);

/* --- explain_machines.c --- */
void explain_machines_check(struct explain_report *r);   /* what may bill on, or is not heard of */
void explain_machines_unknown(struct explain_report *r); /* those that the journal did not know */

#endif
