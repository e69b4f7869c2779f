/* sim_tx.h - a transaction of the simulated journal: a list of effects.  sim_tx.c collects them,
 * sim_journal.c applies them. */
#ifndef SIM_TX_H
#define SIM_TX_H

#include "sim_alert.h"
#include "sim_book.h"
#include "sim_facts.h"
#include "sim_journal.h"
#include "sim_money.h"

enum effect_kind {
	PUT_NODE,
	DEL_NODE,
	PUT_BATCH,
	DEL_BATCH,
	PUT_EVENT,
	PUT_USAGE,
	PUT_NUMBER,
	PUT_REFUSAL,
	DEL_REFUSAL,
	PUT_POOL,
	PUT_ROLL,
	PUT_RESCUE,
	DEL_RESCUE,
	PUT_ENDING,
	DEL_ENDING,
	PUT_CLAIM,
	DEL_CLAIM,
	PUT_VOUCHER,
	DEL_VOUCHER,
	PUT_AUDIT,
	PUT_FACT, /* value: it has a step */
	PUT_HOLD,
	DEL_HOLD,
	PUT_DAY,
	PUT_BUDGET,
	PUT_STEPS,
	PUT_DRAINED, /* name, id */
	DEL_DRAINED,
	PUT_OVERRIDE,
	PUT_PRICE,
	PUT_ALERT,
	DEL_ALERT, /* id */
	PUT_MESSAGE,
	DEL_MESSAGE /* id */
};

struct effect {
	enum effect_kind kind;
	char name[HOSTLIST_NAME_MAX + 1]; /* pool, node or key */
	uint64_t id;                      /* gen or batch */
	int64_t value;
	union {
		struct node node;
		struct journal_batch batch;
		struct sim_bill bill;
		struct refusal refusal;
		struct journal_pool pool;
		struct sim_roll roll;
		struct journal_rescue rescue;
		struct journal_ending ending;
		struct claim claim;
		struct sim_voucher voucher;
		struct sim_hold hold;
		struct sim_day day;
		struct sim_came_to came;
		struct sim_override override;
		struct {
			struct sim_life is;
			struct life_step step;
		} fact;
		struct sim_quote quote;
		struct alert alert;
		struct sim_message *message; /* large, and rare */
	} u;
};

struct journal_tx {
	struct journal *j;
	struct world *w;
	struct effect *effects;
	size_t n, cap;
	struct journal_tx *next; /* spare */
};

struct sim_txs { /* of one journal; all 0: none */
	struct journal_tx *spare;
	unsigned open; /* not yet ended */
};

void sim_txs_free(struct world *w, struct sim_txs *all);

/* --- sim_journal.c --- */
struct sim_txs *sim_journal_txs(struct journal *j);
struct world *sim_journal_world(struct journal *j);
/* Room for one more in an array that has a bound (I25). */
void *sim_journal_grow(struct journal *j, void *p, size_t n, size_t *cap, size_t max_size[2]);

#endif
