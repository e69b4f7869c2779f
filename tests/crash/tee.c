/* Every transaction goes into the real journal and, when that is durable, into the simulator's.
 * After a restart they must hold the same; a transaction that the crash cut short is in the real
 * one whole, or not at all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/sim_journal.h"
#include "base/mem.h"
#include "base/str.h"
#include "crash.h"
#include "store/journal_price.h"
#include "store/journal_rolls.h"

struct tee_tx {
	struct journal_tx *real, *shadow;
};

/* What the crash cut short. */
struct cut_tx {
	struct journal_tx *tx;
	int64_t at; /* 0: nothing */
};

static struct journal *real;
static struct cut_tx pending;

#define WRAP(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

struct journal *tee_real(void)
{
	return real;
}

static struct tee_tx *tee(struct journal_tx *tx)
{
	return (struct tee_tx *)(void *)tx;
}

/* --- what they hold, as text -------------------------------------------------------------------
 */

int __real_journal_load(struct journal *j, const struct journal_visitor *v, struct err *e);
int __real_journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e);
int64_t __real_journal_last_event(struct journal *j);

static char *dump_shadow(const struct crash *c)
{
	char *text;

	(void)crash_dump(c->w.journal, shadow_load, shadow_get_number, &text, NULL);
	return text;
}

/* The first line that only one of them has. */
static void differ(struct crash *c, const char *what, const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");

		if (n != m || strncmp(a, b, n) != 0)
			break;
		a += n + 1;
		b += m + 1;
	}
	world_fail(&c->w, "%s: committed: %.*s; on the disk: %.*s", what, (int)strcspn(a, "\n"), a,
		   (int)strcspn(b, "\n"), b);
}

/* --- after a crash ---------------------------------------------------------------------------- */

/* When it happened is when the crash did. */
static void apply(struct crash *c)
{
	int64_t now = c->w.now;

	c->w.now = pending.at;
	(void)shadow_commit(pending.tx, NULL);
	c->w.now = now;
}

static void settle(struct crash *c, const char *found)
{
	char *want = dump_shadow(c);
	bool same = strcmp(want, found) == 0;

	if (pending.at == 0) {
		if (!same)
			differ(c, "durability", want, found);
	} else if (same) {
		shadow_abandon(pending.tx);
	} else {
		apply(c);
		free(want);
		want = dump_shadow(c);
		if (strcmp(want, found) != 0)
			differ(c, "atomicity or durability", want, found);
	}
	free(want);
	pending = (struct cut_tx){0};
}

/* No death leaves a gap in the audit log (I28). */
static void check_chain(struct crash *c)
{
	struct journal_chain chain = {.begun = false};
	struct err e = {0};

	do {
		if (journal_audit_check(real, &chain, &e) != 0)
			world_fail(&c->w, "I28: the audit log cannot be read: %s", e.msg);
	} while (chain.more && chain.bad == 0);
	if (chain.bad != 0)
		world_fail(&c->w, "I28: audit record %lld: %s", (long long)chain.bad, chain.what);
}

int tee_open(struct crash *c, struct err *e)
{
	bool existed;
	char *found;
	int rc;

	if (journal_open(&real, CRASH_JOURNAL, &existed, e) != 0)
		return -1;
	if (c->dead)
		return 0;
	rc = crash_dump(real, __real_journal_load, __real_journal_get_number, &found, e);
	if (rc == 0)
		settle(c, found);
	check_chain(c);
	free(found);
	return rc;
}

void tee_close(void)
{
	journal_close(real);
	real = NULL;
}

void tee_compare(struct crash *c)
{
	char *want = dump_shadow(c), *found = NULL;
	struct err e;

	if (crash_dump(real, __real_journal_load, __real_journal_get_number, &found, &e) != 0)
		world_fail(&c->w, "the journal cannot be read: %s", e.msg);
	else if (strcmp(want, found) != 0)
		differ(c, "at the end", want, found);
	check_chain(c);
	if (journal_audit_head(real)->seq == 0)
		world_fail(&c->w, "I28: nothing is on record");
	free(want);
	free(found);
}

/* --- what burstd calls ------------------------------------------------------------------------ */

WRAP(struct journal_tx *, journal_begin, struct journal *j)
{
	struct tee_tx *t = mem_zalloc(sizeof(*t));

	(void)j;
	t->real = __real_journal_begin(real);
	t->shadow = shadow_begin(crash.w.journal);
	return (struct journal_tx *)(void *)t;
}

#define BOTH(name, params, tail)                                                                   \
	void __real_journal_##name params;                                                         \
	void __wrap_journal_##name params;                                                         \
	void __wrap_journal_##name params                                                          \
	{                                                                                          \
		struct tee_tx *t = tee(tx);                                                        \
                                                                                                   \
		tx = t->real;                                                                      \
		__real_journal_##name tail;                                                        \
		tx = t->shadow;                                                                    \
		if (!crash.dead)                                                                   \
			shadow_##name tail;                                                        \
	}
BOTH(put_node, (struct journal_tx * tx, const struct node *n, const char *pool), (tx, n, pool))
BOTH(del_node, (struct journal_tx * tx, const char *name, uint64_t gen), (tx, name, gen))
BOTH(put_batch, (struct journal_tx * tx, const struct journal_batch *b), (tx, b))
BOTH(del_batch, (struct journal_tx * tx, uint64_t id), (tx, id))
BOTH(put_event,
     (struct journal_tx * tx, int64_t at_ms, const char *node, uint64_t gen, const char *type,
      const char *detail),
     (tx, at_ms, node, gen, type, detail))
BOTH(put_audit, (struct journal_tx * tx, const struct journal_audit *a), (tx, a))
BOTH(put_usage, (struct journal_tx * tx, const struct journal_usage *u), (tx, u))
BOTH(put_life, (struct journal_tx * tx, const struct journal_life *l), (tx, l))
BOTH(put_machine, (struct journal_tx * tx, const struct journal_machine *m), (tx, m))
BOTH(put_buyer, (struct journal_tx * tx, const char *node, uint64_t gen, uint64_t job),
     (tx, node, gen, job))
BOTH(put_job_said, (struct journal_tx * tx, int64_t at_ms, uint64_t job, const struct payer *p),
     (tx, at_ms, job, p))
BOTH(put_hold, (struct journal_tx * tx, const struct journal_hold *h), (tx, h))
BOTH(del_hold, (struct journal_tx * tx, const struct journal_hold *h), (tx, h))
BOTH(put_spent, (struct journal_tx * tx, const struct journal_spent *s), (tx, s))
BOTH(del_spent, (struct journal_tx * tx, int64_t day), (tx, day))
BOTH(put_budget, (struct journal_tx * tx, const struct journal_budget *b), (tx, b))
BOTH(put_budget_steps, (struct journal_tx * tx, const struct journal_budget *b), (tx, b))
BOTH(put_budget_end, (struct journal_tx * tx, const struct journal_budget *b), (tx, b))
BOTH(del_budgets, (struct journal_tx * tx, int64_t end_ms), (tx, end_ms))
BOTH(put_override, (struct journal_tx * tx, const struct journal_override *o), (tx, o))
BOTH(put_alert, (struct journal_tx * tx, const struct alert *a), (tx, a))
BOTH(del_alert, (struct journal_tx * tx, int64_t seq), (tx, seq))
BOTH(put_alert_message, (struct journal_tx * tx, const struct alert_message *m), (tx, m))
BOTH(del_alert_message, (struct journal_tx * tx, int64_t seq), (tx, seq))
BOTH(put_number, (struct journal_tx * tx, const char *key, int64_t value), (tx, key, value))
BOTH(put_refusal, (struct journal_tx * tx, const struct journal_refusal *r), (tx, r))
BOTH(del_refusal, (struct journal_tx * tx, uint64_t job), (tx, job))
BOTH(put_rescue, (struct journal_tx * tx, const struct journal_rescue *r), (tx, r))
BOTH(del_rescue, (struct journal_tx * tx, uint64_t job), (tx, job))
BOTH(put_drained, (struct journal_tx * tx, const char *node, uint64_t gen), (tx, node, gen))
BOTH(del_drained, (struct journal_tx * tx, const char *node, uint64_t gen), (tx, node, gen))
BOTH(put_ending, (struct journal_tx * tx, const struct journal_ending *x), (tx, x))
BOTH(del_ending, (struct journal_tx * tx, uint64_t job), (tx, job))
BOTH(put_claim, (struct journal_tx * tx, const struct claim *c), (tx, c))
BOTH(del_claim, (struct journal_tx * tx, const char *node, uint64_t gen), (tx, node, gen))
BOTH(put_voucher, (struct journal_tx * tx, const struct voucher *v), (tx, v))
BOTH(del_voucher, (struct journal_tx * tx, const char *node, uint64_t gen), (tx, node, gen))
BOTH(put_pool, (struct journal_tx * tx, const struct journal_pool *p), (tx, p))
BOTH(put_roll, (struct journal_tx * tx, const struct journal_roll *x), (tx, x))
BOTH(put_price, (struct journal_tx * tx, const struct price *p), (tx, p))
#undef BOTH

void __real_journal_abandon(struct journal_tx *tx);
void __wrap_journal_abandon(struct journal_tx *tx);
void __wrap_journal_abandon(struct journal_tx *tx)
{
	if (tx == NULL)
		return;
	__real_journal_abandon(tee(tx)->real);
	shadow_abandon(tee(tx)->shadow);
	free(tx);
}

/* The dead are told that all went well: nothing that they do now is seen. */
WRAP(int, journal_commit, struct journal_tx *tx, struct err *e)
{
	struct tee_tx t = *tee(tx);
	int rc;

	if (crash.dead) {
		__wrap_journal_abandon(tx);
		return 0;
	}
	free(tx);
	rc = __real_journal_commit(t.real, e);
	if (crash.dead) {
		pending = (struct cut_tx){.tx = t.shadow, .at = crash.w.now};
		return 0;
	}
	crash.commits++;
	if (rc == 0)
		return shadow_commit(t.shadow, e);
	world_fail(&crash.w, "a commit failed: %s", e != NULL ? e->msg : "");
	shadow_abandon(t.shadow);
	return rc;
}

int __wrap_journal_load(struct journal *j, const struct journal_visitor *v, struct err *e);
int __wrap_journal_load(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	(void)j;
	return __real_journal_load(real, v, e);
}

int __wrap_journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e);
int __wrap_journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e)
{
	(void)j;
	return __real_journal_get_number(real, key, out, e);
}

int __real_journal_usage_of(struct journal *j, const struct journal_usage_key *k,
			    journal_usage_fn fn, void *ctx, struct err *e);
int __wrap_journal_usage_of(struct journal *j, const struct journal_usage_key *k,
			    journal_usage_fn fn, void *ctx, struct err *e);
int __wrap_journal_usage_of(struct journal *j, const struct journal_usage_key *k,
			    journal_usage_fn fn, void *ctx, struct err *e)
{
	(void)j;
	return __real_journal_usage_of(real, k, fn, ctx, e);
}

int64_t __wrap_journal_last_event(struct journal *j);
int64_t __wrap_journal_last_event(struct journal *j)
{
	(void)j;
	return __real_journal_last_event(real);
}

WRAP(struct journal_room, journal_look, struct journal *j)
{
	(void)j;
	return __real_journal_look(real);
}
