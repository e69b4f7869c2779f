#include "keys/vouchers.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "keys/claims.h"
#include "store/journal_vouchers.h"

/* Gets tokens for machines: burstd asks the store for one for each machine to buy, and buys when
 * each has a token that outlasts its boot timeout. */

static void failed(struct engine *e, const struct voucher_run *r, const char *why)
{
	e->keys->vouchers->again_ms = engine_now(e) + VOUCHER_AGAIN_MS;
	e->keys->vouchers->longer_ms = 0; /* its policy may not allow more */
	(void)snprintf(e->keys->vouchers->why, sizeof(e->keys->vouchers->why), "%.150s", why);
	log_write(e->d.log, LOG_WARN, "there is no token for a node: it is not bought now", "node",
		  r->v.node, "error", why, NULL);
}

static int64_t boot_ms_of(const struct engine *e, const struct voucher *v)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, v->node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, v->gen) : NULL;

	return fn != NULL ? e->conf->pools[fn->n.pool].boot_ms : 0;
}

/* The token is too short-lived: the store shortened it, or took too long to answer.  Another one
 * would be as bad, so pause. */
static void came_bad(struct engine *e, struct voucher_run *r)
{
	int64_t left_ms = r->v.ends_ms - engine_now(e);
	char why[160];

	/* To the nearest second, since of 600 s some milliseconds are gone. */
	(void)snprintf(why, sizeof(why),
		       "the secret store made a token that is good for %" PRId64
		       " s, and a machine needs one for %" PRId64 " s",
		       (left_ms + 500) / 1000, (boot_ms_of(e, &r->v) + VOUCHER_RESERVE_MS) / 1000);
	failed(e, r, why);
	vouchers_step(e, r, VOUCHER_EV_VOID, NULL);
}

/* Is the row still WANTED?  A list may have found an instance of it meanwhile, from before an older
 * copy of the journal (F58), with another token. */
static bool is_waited_for(const struct engine *e, const struct voucher *v)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, v->node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, v->gen) : NULL;

	return fn != NULL && (fn->next != NULL ? fn->next : &fn->n)->state == NODE_WANTED;
}

static void on_token(void *ctx, const struct secrets_released *rel, const struct err *err)
{
	struct voucher_run *r = ctx;
	struct engine *e = r->e;
	const struct fleet_name *nm = fleet_find(&e->fleet, r->v.node);

	r->asked = false;
	e->keys->vouchers->nasked--;
	if (rel == NULL) {
		failed(e, r, err->msg);
		vouchers_forget(e, r);
		return;
	}
	r->v.token = secret_dup(rel->token);
	(void)snprintf(r->v.accessor, sizeof(r->v.accessor), "%s", rel->accessor);
	r->v.version = door_key_version(rel->version);
	r->v.gpus = nm != NULL ? nm->gpus : 0;
	if (r->v.gpus > 0 && nm->gpu_model != NULL)
		(void)snprintf(r->v.gpu_type, sizeof(r->v.gpu_type), "%s", nm->gpu_model);
	r->v.made_ms = r->v.since_ms = engine_now(e);
	/* Count the life from when the request was sent: the token lives a little longer. */
	r->v.ends_ms = rel->sent_ms + rel->ttl_ms;
	if (!is_waited_for(e, &r->v)) {
		vouchers_step(e, r, VOUCHER_EV_VOID, NULL);
		return;
	}
	if (!voucher_is_good(&r->v, engine_now(e), boot_ms_of(e, &r->v))) {
		came_bad(e, r);
		return;
	}
	e->keys->vouchers->why[0] = '\0';
	journal_put_voucher(engine_tx(e), &r->v);
}

static void ask(struct engine *e, const struct fleet_node *fn, int64_t boot_ms)
{
	struct vouchers *vs = e->keys->vouchers;
	struct voucher_run *r = vouchers_put(e, fn->n.name, fn->n.gen);
	int64_t life = voucher_life_ms(boot_ms);

	if (engine_now(e) < vs->longer_until_ms)
		life += vs->longer_ms;
	if (secrets_wrap(e, life, on_token, r, &r->handle, NULL) != 0) {
		vouchers_forget(e, r); /* too many requests wait: try in a later turn */
		return;
	}
	r->asked = true;
	vs->nasked++;
}

/* May a token be asked for now?  After a failure only one at a time, as a probe. */
static bool may_ask(const struct engine *e)
{
	const struct vouchers *vs = e->keys->vouchers;

	assert(vs != NULL); /* vouchers_wanted() was true */
	return engine_now(e) >= vs->again_ms && (vs->why[0] == '\0' || vs->nasked == 0);
}

/* Is the token for the current version of the keys, as far as is known? */
static bool is_current(const struct engine *e, const struct voucher *v)
{
	int64_t version = door_key_version(secrets_version(e));

	return version == 0 || v->version == 0 || v->version == version;
}

/* A gang's tokens are made so slowly that the first expires before the last is there: ask for a
 * longer life from now on, or the gang would never be complete. */
static void make_longer(struct engine *e, const struct voucher *old)
{
	struct vouchers *vs = e->keys->vouchers;
	int64_t age = engine_now(e) - old->made_ms;

	if (2 * age > vs->longer_ms)
		vs->longer_ms = 2 * age < VOUCHER_LONGER_MAX_MS ? 2 * age : VOUCHER_LONGER_MAX_MS;
	vs->longer_until_ms = engine_now(e) + VOUCHER_LONGER_FOR_MS;
}

/* Has the row a good token?  One that is too old, or for outdated keys, is given up. */
static bool has_good(struct engine *e, const struct fleet_node *fn, int64_t boot_ms)
{
	struct voucher_run *r = vouchers_find(e, fn->n.name, fn->n.gen);
	bool good;

	if (r == NULL || r->asked || r->v.state != VOUCHER_HELD)
		return false;
	good = voucher_is_good(&r->v, engine_now(e), boot_ms);
	if (good && is_current(e, &r->v))
		return true;
	if (!good)
		make_longer(e, &r->v);
	vouchers_step(e, r, VOUCHER_EV_VOID, NULL); /* after that another one is asked for */
	return false;
}

bool vouchers_have(struct engine *e, struct fleet_node *const *v, size_t n)
{
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		const struct fleet_node *fn = v[i];
		int64_t boot_ms = e->conf->pools[fn->n.pool].boot_ms;

		if (!vouchers_wanted(e, fn->n.cloud))
			continue;
		all = all && secrets_serves(e); /* otherwise the machine would boot for nothing */
		if (has_good(e, fn, boot_ms))
			continue;
		all = false;
		if (may_ask(e) && vouchers_find(e, fn->n.name, fn->n.gen) == NULL)
			ask(e, fn, boot_ms);
	}
	return all;
}

bool vouchers_waits(const struct engine *e, const struct node *n)
{
	const struct voucher_run *r;

	if (!vouchers_wanted(e, n->cloud))
		return false;
	r = vouchers_find(e, n->name, n->gen);
	if (r == NULL)
		return !may_ask(e);
	return r->asked || r->v.state != VOUCHER_HELD || !secrets_serves(e);
}
