/* sim_journal.h - the simulated disk: what was committed is there after a crash, and nothing else.
 */
#ifndef SIM_JOURNAL_H
#define SIM_JOURNAL_H

#include "sim_audit.h"
#include "sim_bills.h"
#include "sim_claims.h"
#include "sim_opinions.h"
#include "sim_vouchers.h"
#include "store/journal.h"
#include "store/journal_nodes.h"
#include "world.h"

struct sim_row {
	struct node n;
	char pool[16];
	uint64_t updates;
	int64_t born; /* first written, by the world's clock */
};

struct journal *sim_journal_new(struct world *w);
void sim_journal_free(struct journal *j);

/* The durable row of a generation, or of the newest if gen is 0; NULL: none. */
const struct sim_row *sim_journal_row(const struct journal *j, const char *node, uint64_t gen);
size_t sim_journal_rows(const struct journal *j, const struct sim_row **rows);
const struct journal_batch *sim_journal_batch(const struct journal *j, uint64_t id);
const struct sim_bills *sim_journal_bills(const struct journal *j);
/* Has an instance two bills, of which the second took the place of the first (sim_facts.h)? */
bool sim_journal_billed_twice(const struct journal *j);
const struct sim_opinions *sim_journal_opinions(const struct journal *j);
/* The durable claim of a generation; NULL: none. */
const struct claim *sim_journal_claim(const struct journal *j, const char *node, uint64_t gen);
struct sim_claims *sim_journal_claims(struct journal *j);
struct sim_vouchers *sim_journal_vouchers(struct journal *j);
/* --- sim_row.c: the judge of what is committed --- */
void sim_row_change(struct world *w, const struct sim_row *old, const struct node *n);
void sim_row_deadline(struct world *w, const char *node, uint64_t gen); /* it has passed */
void sim_row_alone(struct world *w, const struct sim_row *r);
void sim_row_bill(struct world *w, const struct journal_usage *u);

/* --- sim_voucher.c: likewise, of vouchers --- */
/* A row is about to become *next; old NULL: it is new. */
void sim_voucher_row(struct world *w, const struct sim_row *old, const struct node *next);
void sim_voucher_put(struct world *w, const struct sim_voucher *x);
void sim_voucher_del(struct world *w, const char *node, uint64_t gen);
/* People are told that its token was used, or (not breach) that nobody can say so: durably. */
void sim_voucher_told(struct world *w, const char *node, uint64_t gen, bool breach);

/* Over a restart: perhaps an older copy is put back in place of what was committed since (F58). */
void sim_journal_restore(struct journal *j);
struct sim_money;
struct sim_alerts *sim_journal_alerts(const struct journal *j);
const struct sim_money *sim_journal_money(const struct journal *j);
struct sim_audit *sim_journal_audit(struct journal *j); /* its durable records */
/* Count a fault that meets every row there is. */
void sim_journal_met_all(struct journal *j, enum sim_fault f);

#endif
