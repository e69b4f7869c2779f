/* sim_audit.h - the audit records that are durable and whose request has not left yet (I28): there
 * is one for each that leaves, and none for what never does. */
#ifndef SIM_AUDIT_H
#define SIM_AUDIT_H

#include "store/journal_audit.h"
#include "world.h"

enum { SIM_AUDITS_MAX = 4096 };

struct sim_audit {
	uint64_t keys[SIM_AUDITS_MAX];
	size_t n;
};

uint64_t sim_audit_key(const struct journal_audit *a); /* its verb, and what it is about */
void sim_audit_put(struct world *w, struct sim_audit *all, uint64_t key, bool again);
/* what: a create's token, a delete's instances, or whom an order is about. */
/* A record says that this one's request is not sent after all. */
void sim_audit_unsent(struct world *w, struct sim_audit *all, uint64_t key);
bool sim_audit_has(const struct sim_audit *all, const char *verb, const char *what);
/* This is about to leave burstd: a record says so. */
void sim_audit_take(struct world *w, struct sim_audit *all, const char *verb, const char *what);
/* Likewise; names with commas, in any order. */
void sim_audit_take_nodes(struct world *w, struct sim_audit *all, const char *verb,
			  const char *names);

#endif
