#include "base/clamp.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "keys/keys.h"
#include "keys/vouchers.h"
#include "money/money.h"
#include "parts/parts.h"
#include "store/journal_jobs.h"
#include "store/journal_nodes.h"
#include "store/journal_pools.h"

#include <assert.h>

/* Loads the journal at a start: each row is given to the part that keeps it. */

static int load_node(void *ctx, const struct node *n, const char *pool, struct err *err)
{
	struct engine *e = ctx;
	const struct conf_pool *p = conf_pool_named(e->conf, pool);
	struct node copy = *n;

	(void)err;
	if (p == NULL && !node_counts(n))
		return 0;  /* gone, and of a pool that was removed */
	assert(p != NULL); /* off.c has made it */
	copy.pool = conf_pool_index(e->conf, p);
	place_load(e, &copy);
	(void)fleet_add(&e->fleet, &copy);
	return 0;
}

static int load_batch(void *ctx, const struct journal_batch *b, struct err *err)
{
	(void)err;
	launch_load(ctx, b);
	return 0;
}

static int load_spent(void *ctx, const char *pool, int64_t cost_nano, struct err *err)
{
	struct engine *e = ctx;
	const struct conf_pool *p = conf_pool_named(e->conf, pool);
	int64_t *sum = p != NULL ? &e->fleet.pools[conf_pool_index(e->conf, p)].spent_nano : NULL;

	(void)err;
	if (sum != NULL)
		*sum = clamp_add(*sum, cost_nano);
	return 0;
}

static int load_pool(void *ctx, const struct journal_pool *p, struct err *err)
{
	(void)err;
	pool_load(ctx, p);
	return 0;
}

static int load_roll(void *ctx, const struct journal_roll *x, struct err *err)
{
	(void)err;
	rolls_load(ctx, x);
	return 0;
}

static int load_refusal(void *ctx, const struct journal_refusal *r, struct err *err)
{
	(void)err;
	postpone_load(ctx, r);
	return 0;
}

static int load_rescue(void *ctx, const struct journal_rescue *r, struct err *err)
{
	(void)err;
	rescue_load(ctx, r);
	return 0;
}

static int load_claim(void *ctx, const struct claim *c, struct err *err)
{
	(void)err;
	return claims_load(ctx, c);
}

static int load_voucher(void *ctx, struct voucher *v, struct err *err)
{
	(void)err;
	vouchers_load(ctx, v);
	return 0;
}

static int load_hold(void *ctx, const struct journal_hold *h, struct err *err)
{
	return holds_load(ctx, h, err);
}

static int load_day(void *ctx, const struct journal_spent *s, struct err *err)
{
	(void)err;
	return holds_load_day(ctx, s);
}

static int load_budget(void *ctx, const struct journal_budget *b, struct err *err)
{
	(void)err;
	return money_lines_load(ctx, b);
}

static int load_past(void *ctx, const struct journal_past *p, struct err *err)
{
	(void)err;
	return money_lines_load_past(ctx, p);
}

static int load_override(void *ctx, const struct journal_override *o, struct err *err)
{
	(void)err;
	return overrides_load(ctx, o);
}

static int load_drained(void *ctx, const char *node, uint64_t gen, struct err *err)
{
	(void)err;
	ladder_drained_load(ctx, node, gen);
	return 0;
}

static int load_ending(void *ctx, const struct journal_ending *x, struct err *err)
{
	(void)err;
	ladder_jobs_load(ctx, x);
	return 0;
}

static int load_alert(void *ctx, const struct alert *a, struct err *err)
{
	(void)err;
	alerts_load(ctx, a);
	return 0;
}

static int load_alert_message(void *ctx, struct alert_message *m, struct err *err)
{
	(void)err;
	alerts_load_message(ctx, m);
	return 0;
}

static int load_price(void *ctx, const struct price *p, struct err *err)
{
	(void)err;
	book_load(ctx, p);
	return 0;
}

/* Give each part what the journal has of it. */
static int restore_open(struct engine *e, struct err *err)
{
	const struct journal_visitor v = {.node = load_node,
					  .batch = load_batch,
					  .spent = load_spent,
					  .refusal = load_refusal,
					  .pool = load_pool,
					  .roll = load_roll,
					  .rescue = load_rescue,
					  .claim = load_claim,
					  .voucher = load_voucher,
					  .hold = load_hold,
					  .day = load_day,
					  .budget = load_budget,
					  .budget_past = load_past,
					  .override = load_override,
					  .drained = load_drained,
					  .ending = load_ending,
					  .price = load_price,
					  .alert = load_alert,
					  .alert_message = load_alert_message,
					  .ctx = e};
	int64_t last_batch;

	if (journal_get_number(e->d.journal, JOURNAL_LAST_BATCH, &last_batch, err) != 0 ||
	    doubt_load(e, err) != 0)
		return err_wrap(err, "cannot load the journal");
	e->buy->last_batch = (uint64_t)last_batch;
	if (breach_load(e, err) != 0 || holds_since_load(e, err) != 0 ||
	    journal_load(e->d.journal, &v, err) != 0)
		return err_wrap(err, "cannot load the journal");
	launch_restore(e);
	pool_count_lost(e);
	return 0;
}

const struct engine_part restore_part = {
	.name = "journal",
	.open = restore_open,
};
