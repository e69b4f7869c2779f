/* fake_buy.h - buy_api.h of the fake engine: pools and their prices, plans, and orders of admins.
 */
#ifndef BURSTD_TEST_FAKE_BUY_H
#define BURSTD_TEST_FAKE_BUY_H

#include "fake_state.h"

const char *engine_like_type(const struct engine *e, size_t provider, const char *type)
{
	assert_true(provider < e->conf->nproviders);
	assert_non_null(type);
	return e->like;
}

const struct journal_room *engine_room(const struct engine *e)
{
	return &e->room;
}

int64_t engine_price(const struct engine *e, size_t pool, size_t rung)
{
	(void)pool;
	(void)rung;
	return e->price;
}

int64_t engine_price_age(const struct engine *e, size_t pool, size_t rung)
{
	(void)pool;
	(void)rung;
	return e->price_age;
}

int64_t engine_spent(const struct engine *e, size_t pool)
{
	return e->fleet.pools[pool].spent_nano + 7;
}

bool engine_paused(const struct engine *e, size_t pool)
{
	return pool < 4 && e->paused[pool];
}

struct engine_warm engine_warm(const struct engine *e, size_t pool)
{
	return pool < 4 ? e->warm[pool] : (struct engine_warm){.wanted = 0};
}

const char *engine_paused_by(const struct engine *e, size_t pool, int64_t *since_ms)
{
	bool known = engine_paused(e, pool) && e->paused_by != NULL;

	*since_ms = known ? FAKE_NOW : 0;
	return known ? e->paused_by : "";
}

const struct engine_losses *engine_losses(const struct engine *e, size_t pool)
{
	assert_true(pool < e->conf->npools);
	return e->losses.n > 0 ? &e->losses : NULL;
}

bool engine_image(const struct engine *e, size_t pool, const char *offer, struct engine_image *out)
{
	(void)offer;
	*out = (struct engine_image){.roll = NULL};
	if (pool == 0 || e->roll.next[0] == '\0')
		return false;
	*out = (struct engine_image){
		.roll = &e->roll, .with_next = 1, .with_others = 5, .untried = 1};
	return true;
}

int engine_image_order(struct engine *e, const char *pool, bool stop, const char *by, size_t *n,
		       struct err *err)
{
	(void)err;
	(void)snprintf(e->image_order, sizeof(e->image_order), "%s %s %s", stop ? "stop" : "resume",
		       pool, by);
	*n = 2;
	return 0;
}

const char *engine_blocked(const struct engine *e, size_t pool)
{
	return engine_paused(e, pool) ? "paused by an admin" : pool < 4 ? e->closed[pool] : NULL;
}

/* An order about three nodes: two of them have jobs, one was off. */
int engine_operate(struct engine *e, const struct engine_request *rq, struct engine_ordered *out,
		   struct err *err)
{
	*out = (struct engine_ordered){3, 2, 1};
	e->order = *rq;
	(void)snprintf(e->order_nodes, sizeof(e->order_nodes), "%s",
		       rq->nodes != NULL ? rq->nodes : "(all)");
	(void)snprintf(e->order_by, sizeof(e->order_by), "%s", rq->by);
	e->orders += !rq->look;
	return e->broken ? err_set(err, ERR_IO, "the journal failed") : 0;
}

int engine_pause(struct engine *e, const char *pool, bool paused, const char *by, struct err *err)
{
	for (size_t i = 0; i < e->conf->npools && i < 4; i++) {
		if (pool != NULL && strcmp(e->conf->pools[i].name, pool) != 0)
			continue;
		e->paused[i] = paused;
		if (!paused)
			e->closed[i] = NULL;
	}
	(void)snprintf(e->order_by, sizeof(e->order_by), "%s", by);
	e->pauses++;
	return e->broken ? err_set(err, ERR_IO, "the journal failed") : 0;
}

/* Three places of sim are closed, and one is half-open. */
void engine_cooldowns(const struct engine *e, cooldown_fn fn, void *ctx)
{
	static const struct cooldown_row rows[] = {
		{"capacity", "sim", "8xh100 east a spot", {COOLDOWN_CAPACITY, FAKE_NOW + 60000}, 2},
		{"capacity", "sim", "8xh100 east b spot", {COOLDOWN_HALF, 0}, 1},
		{"quota", "sim", "8xh100 west spot", {COOLDOWN_QUOTA, FAKE_NOW + 900000}, 1},
		{"failing", "sim", "8xh100 north spot", {COOLDOWN_FAILING, FAKE_NOW + 120000}, 2},
		{"denied", "sim", "", {COOLDOWN_HALF, 0}, 1},
	};

	for (size_t i = 0; e->why != NULL && i < sizeof(rows) / sizeof(rows[0]); i++)
		fn(ctx, &rows[i]);
}

uint64_t engine_unsold(const struct engine *e, size_t provider, enum provider_code code)
{
	assert_true(provider < e->conf->nproviders);
	return code == PROVIDER_QUOTA ? 7 : 0;
}

/* The second rung of each pool was refused for want of capacity, three times in pool 1. */
uint64_t engine_offer_refused(const struct engine *e, size_t pool, const char *offer,
			      enum provider_code code)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	if (code != PROVIDER_CAPACITY || strcmp(rungs[n - 1].name, offer) != 0)
		return 0;
	return pool == 1 ? 3 : 0;
}

/* Rungs in the order of the configuration; the one with nothing to sell comes last. */
void engine_ladder(struct engine *e, size_t pool, struct engine_ladder *out)
{
	size_t n, at = 0;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	*out = (struct engine_ladder){.n = n, .listed = true};
	for (size_t i = 0; i < n; i++) {
		if (e->why != NULL && i == e->rung)
			continue;
		out->rungs[at] = (struct engine_rung){.offer = &rungs[i],
						      .price = e->price,
						      .limited = at == 0 && e->over_rate,
						      .nodes = (uint32_t)i + 1,
						      .place = (uint32_t)at + 1,
						      .terms = e->terms};
		at++;
	}
	if (e->passed != NULL)
		(void)snprintf(out->rungs[0].why, sizeof(out->rungs[0].why), "%s", e->passed);
	if (at == n)
		return;
	out->rungs[at] = (struct engine_rung){
		.offer = &rungs[e->rung],
		.price = -1,
		.cool = {COOLDOWN_CAPACITY, FAKE_NOW + 60000},
		.cause = LADDER_CAPACITY,
		.said = {{FAKE_NOW - 5000, PROVIDER_CAPACITY, 3, "no \"hosts\" left"}},
		.nsaid = 1};
	(void)snprintf(out->rungs[at].why, sizeof(out->rungs[at].why), "%s", e->why);
}

/* Note which of the pools' nodes are in `within`. */
static void copy_within(struct engine *e, const struct map *within)
{
	struct str s;

	str_init(&s, sizeof(e->plan_within));
	for (size_t i = 0; within != NULL && i < e->conf->npools; i++) {
		const struct hostlist *h = e->conf->pools[i].nodes;

		for (size_t k = 0; k < h->n; k++)
			if (map_get(within, h->names[k]) != NULL)
				str_addf(&s, "%s%s", s.len > 0 ? "," : "", h->names[k]);
	}
	(void)snprintf(e->plan_within, sizeof(e->plan_within), "%s", s.p);
	str_fini(&s);
}

int engine_plan(struct engine *e, const struct engine_plan_ask *ask, struct engine_plan *out,
		struct err *err)
{
	*out = e->plan;
	e->plans++;
	e->plan_ask = *ask;
	(void)snprintf(e->plan_list, sizeof(e->plan_list), "%s",
		       ask->list != NULL ? ask->list : "");
	(void)snprintf(e->plan_comment, sizeof(e->plan_comment), "%s",
		       ask->comment != NULL ? ask->comment : "(none)");
	copy_within(e, ask->within);
	(void)snprintf(e->plan_without, sizeof(e->plan_without), "%s",
		       ask->without != NULL ? ask->without : "");
	(void)snprintf(e->plan_wish, sizeof(e->plan_wish), "%s %s %s",
		       ask->wish.constraint != NULL ? ask->wish.constraint : "-",
		       ask->wish.jurisdictions != NULL ? ask->wish.jurisdictions[0] : "-",
		       ask->wish.jurisdictions != NULL && ask->wish.jurisdictions[1] != NULL
			       ? ask->wish.jurisdictions[1]
			       : "-");
	if (ask->list != NULL && ask->list[0] == '[')
		return err_set(err, ERR_INVALID, "not a node list");
	out->npools = 1;
	out->pools = mem_zalloc(sizeof(*out->pools));
	*out->pools = e->plan_pool;
	out->pools->pool = ask->pool;
	engine_ladder(e, ask->pool, &out->pools->ladder);
	return 0;
}

void engine_plan_fini(struct engine_plan *p)
{
	free(p->pools);
}

char *engine_partition(const struct engine *e, const char *name)
{
	if (e->all != NULL && strcmp(name, "all") == 0)
		return mem_strdup(e->all);
	return e->partition != NULL && strcmp(name, "gpu") == 0 ? mem_strdup(e->partition) : NULL;
}

int engine_retry(struct engine *e, const char *what, const char *by, size_t *n, struct err *err)
{
	*n = 2;
	(void)snprintf(e->retried, sizeof(e->retried), "%s by %s", what != NULL ? what : "all", by);
	return e->broken ? err_set(err, ERR_IO, "the journal failed") : 0;
}

int engine_spool(const struct engine *e, const char **note, struct err *err)
{
	*note = e->spool_note;
	return e->spool_error != NULL ? err_set(err, ERR_IO, "%s", e->spool_error) : 0;
}

#endif
