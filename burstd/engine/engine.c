#include "engine/private.h"
#include "engine/vouchers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "io/loop.h"

int64_t engine_now(const struct engine *e)
{
	return loop_now(e->d.loop);
}

struct cloud *engine_cloud(struct engine *e, const struct node *n)
{
	return &e->clouds[n->cloud];
}

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	const struct cloud *c = &e->clouds[n->cloud];

	*out = (struct node_limits){.tokens = (c->caps.flags & PROVIDER_TOKENS) != 0,
				    .settle_ms = c->conf->settle_ms,
				    .token_ms = c->caps.token_ms / 2,
				    .boot_ms = e->conf->pools[n->pool].boot_ms};
	return out;
}

/* Was the wall clock set?  Then that is an event, and the journal has the new difference. */
static void look_at_clock(struct engine *e)
{
	int64_t ahead = loop_ahead(e->d.loop), by = e->ahead_ms - ahead;
	char text[FMT_DUR_SIZE], detail[64 + FMT_DUR_SIZE];

	if (by == 0)
		return;
	e->ahead_ms = ahead;
	journal_put_number(engine_tx(e), JOURNAL_AHEAD, ahead);
	(void)snprintf(detail, sizeof(detail), "the clock of this machine was set %s by %s",
		       by > 0 ? "forward" : "back", fmt_duration(text, by > 0 ? by : -by));
	engine_event(e, "", 0, "clock-set", detail);
	postpone_clock_set(e, by);
}

/* --- the turn ----------------------------------------------------------------------------------
 */

/* It has registered, whatever it does now: reboots, or does not answer for a while. */
static bool slurm_has_up(uint32_t flags)
{
	return (flags & SLURM_KNOWN) != 0 &&
	       (flags & (SLURM_POWERING_UP | SLURM_POWERED_DOWN | SLURM_POWERING_DOWN |
			 SLURM_POWER_DOWN | SLURM_DOWN | SLURM_INVALID_REG | SLURM_VANISHED)) == 0;
}

/* A node that did not register in time is given up only when slurmctld has said so since: while it
 * is silent the node may have registered and be at work (I18, F48). */
static bool deadline_known(const struct engine *e, const struct fleet_node *fn)
{
	return fn->n.state != NODE_BOOTING ||
	       (e->snapshot_ms >= fn->n.wake_ms && !slurm_has_up(fn->name->flags));
}

static void wake_nodes(struct engine *e)
{
	int64_t now = engine_now(e), next = INT64_MAX;

	if (now < e->fleet.wake_ms || e->up != NULL) /* some of those are in time */
		return;
	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older) {
			struct node_event ev = {.type = NODE_EV_TIMER, .now_ms = now};

			if (fn->n.wake_ms > now)
				next = fn->n.wake_ms < next ? fn->n.wake_ms : next;
			else if (!fn->busy && deadline_known(e, fn)) /* else an answer wakes us */
				engine_post(e, fn, &ev);
		}
	e->fleet.wake_ms = next;
	engine_commit(e);
}

/* Is anything under way that slurmctld will tell us about? */
static bool moving(const struct engine *e)
{
	return e->moving || !e->polled || e->calls != NULL ||
	       e->fleet.states[NODE_WANTED] != NULL || e->fleet.states[NODE_CREATING] != NULL ||
	       e->fleet.states[NODE_INDOUBT] != NULL || e->fleet.states[NODE_BOOTING] != NULL ||
	       notice_moving(e);
}

static void poll_run(struct engine *e)
{
	int64_t every = gate_poll_ms(e, moving(e) ? ENGINE_POLL_MS : ENGINE_POLL_IDLE_MS);
	int64_t now = engine_now(e);

	if (e->polling)
		return;
	if (e->slurm_error[0] == '\0' && e->poll_next > e->poll_began + every)
		e->poll_next = e->poll_began + every;
	if (now < e->poll_next)
		return;
	e->poll_began = now;
	e->poll_next = now + every;
	e->due = e->tx != NULL; /* ended calls have waited long enough */
	e->polling = slurm_ask(e->slurm, SLURM_SNAPSHOT);
	e->count.polls += e->polling;
}

static void arm(struct engine *e)
{
	int64_t next = e->polling ? INT64_MAX : e->poll_next;

	if (e->fleet.wake_ms < next)
		next = e->fleet.wake_ms;
	for (size_t i = 0; i < e->conf->nproviders; i++) {
		int64_t at = cloud_next_ms(&e->clouds[i]);

		next = at < next ? at : next;
		for (size_t k = 0; k < e->clouds[i].nstrays; k++) {
			at = e->clouds[i].strays[k].first_ms + e->clouds[i].conf->settle_ms;
			if (at > engine_now(e) && at < next)
				next = at;
		}
	}
	if (e->postpone_next < next)
		next = e->postpone_next;
	if (slurm_held_until(e->slurm) < next)
		next = slurm_held_until(e->slurm);
	if (srun_next_ms(e) < next)
		next = srun_next_ms(e);
	if (rescue_next_ms(e) < next)
		next = rescue_next_ms(e);
	if (report_next_ms(e) < next)
		next = report_next_ms(e);
	if (checkpoint_next_ms(e) < next)
		next = checkpoint_next_ms(e);
	if (prereq_next_ms(e) < next)
		next = prereq_next_ms(e);
	if (warm_next_ms(e) < next)
		next = warm_next_ms(e);
	if (rotate_next_ms(e) < next)
		next = rotate_next_ms(e);
	if (secrets_next_ms(e) < next)
		next = secrets_next_ms(e);
	if (claims_next_ms(e) < next)
		next = claims_next_ms(e);
	if (vouchers_next_ms(e) < next)
		next = vouchers_next_ms(e);
	if (node_init_next_ms(e) < next)
		next = node_init_next_ms(e);
	if (e->unsent || e->more || e->nstaged > 0 || e->fresh != NULL || e->up != NULL ||
	    e->answers != NULL || (e->calls != NULL && !e->calls->asks))
		next = engine_now(e);
	timer_at(e->timer, next);
}

static void free_old(struct engine *e)
{
	for (size_t i = 0; i < e->nold; i++)
		conf_free(e->old[i]);
	e->nold = 0;
}

/* What is to be bought goes out before answers are taken in, and those before nodes that are up;
 * what is to be deleted before both. */
static void turn(struct engine *e)
{
	look_at_clock(e);
	for (size_t i = 0; i < e->conf->nproviders; i++)
		limit_turn(&e->clouds[i].limit);
	if (!e->more)
		launch_answered(e);
	if (!e->more && e->answers == NULL)
		engine_run_up(e);
	engine_commit(e);
	notice_run(e);
	wake_nodes(e);
	intake_run(e);
	report_run(e);
	remove_run(e);
	launch_run(e);
	refuse_run(e);
	postpone_run(e);
	rescue_run(e);
	checkpoint_run(e);
	gate_run(e);
	prereq_run(e);
	warm_run(e);
	claims_run(e);
	vouchers_run(e);
	rotate_run(e);
	secrets_run(e);
	if (!e->more) /* else most of them go out with their creates in a moment */
		engine_write_fresh(e);
	srun_run(e);
	if (e->look == NULL)
		(void)audit_order(e);
	engine_commit(e);
	if (e->look == NULL && audit_order(e)) /* what followed from that */
		engine_commit(e);
	if (e->dead)
		return;
	if (e->door != NULL)
		door_run(e);
	for (size_t i = 0; i < e->conf->nproviders; i++)
		cloud_run(&e->clouds[i]);
	jobs_run(e);
	query_run(e);
	if (e->look == NULL) /* else a job would be sent back by halves, one after the other */
		slurm_flush(e->slurm);
	poll_run(e);
	if (e->nold > 0 && cloud_quiet(e))
		free_old(e);
	arm(e);
}

void engine_turn(struct engine *e)
{
	if (!e->started || e->dead)
		return;
	log_hold(e->d.log);
	turn(e);
	if (e->d.turned != NULL)
		e->d.turned(e->d.ctx);
	log_release(e->d.log);
}

static void on_timer(void *ctx)
{
	struct engine *e = ctx;

	e->left = e->slice.write;
	cloud_fail_unsent(e);
	engine_turn(e);
}

/* --- slurmctld's answers -----------------------------------------------------------------------
 */

static void slurm_failed(struct engine *e, const struct err *err)
{
	e->slurm_failed_ms = engine_now(e);
	if (strcmp(e->slurm_error, err->msg) != 0)
		log_write(e->d.log, LOG_WARN, "slurmctld does not answer", "error", err->msg, NULL);
	(void)snprintf(e->slurm_error, sizeof(e->slurm_error), "%s", err->msg);
	e->poll_step = engine_longer(e->poll_step);
	e->poll_next = engine_now(e) + e->poll_step;
}

/* A snapshot is looked at. */
static void snapshot_ends(struct engine *e)
{
	e->polling = false;
	engine_spend(e, e->slice.read / ENGINE_LOOKS); /* the last of it, in this turn */
	engine_turn(e);
}

static void on_look(void *ctx)
{
	struct engine *e = ctx;

	if (e->look == NULL || e->dead)
		return;
	log_hold(e->d.log);
	if (observe_some(e))
		snapshot_ends(e);
	log_release(e->d.log);
}

/* It counts as running until all of it is looked at. */
static void take_snapshot(struct engine *e, int64_t began_ms, const struct err *err)
{
	if (err != NULL && err->code != ERR_INVALID) {
		e->polling = false;
		slurm_failed(e, err);
		engine_turn(e);
		return;
	}
	e->poll_step = 0;
	if (e->slurm_failed_ms > e->slurm_ok_ms)
		prereq_hurry(e); /* perhaps with another slurm.conf */
	e->snapshot_took_ms = engine_now(e) - began_ms;
	if (observe_snapshot(e, began_ms, err))
		snapshot_ends(e);
}

static void on_answer(void *ctx, enum slurm_question q, const char *text, size_t len,
		      int64_t began_ms, const struct err *err)
{
	struct engine *e = ctx;

	log_hold(e->d.log);
	look_at_clock(e);
	switch (q) {
	case SLURM_SNAPSHOT: /* and a turn when it is looked at */
		take_snapshot(e, began_ms, err);
		log_release(e->d.log);
		return;
	case SLURM_CONFIGURING:
	case SLURM_JOBS:
		jobs_answer(e, text, len, err);
		break;
	case SLURM_ONE_JOB:
		query_answer(e, text, len, err);
		break;
	case SLURM_DETAILS:
		postpone_details(e, text, len, began_ms, err);
		break;
	case SLURM_SOME_JOBS:
		if (err == NULL) /* else in a minute */
			postpone_words(e, text, len);
		break;
	case SLURM_WHO:
		srun_who(e, text, len, err);
		break;
	case SLURM_FATES:
		rescue_fates(e, text, len, err);
		break;
	default:
		prereq_answer(e, q, text, len);
		break;
	}
	engine_turn(e);
	log_release(e->d.log);
}

static void told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool sent = err == NULL || err->code != ERR_NOTSENT;

	if (err != NULL)
		log_write(e->d.log, sent ? LOG_WARN : LOG_INFO,
			  sent ? "slurmctld refused an update" : "an update was not sent", "error",
			  err->msg, NULL);
	if (!sent && o->given)
		audit_unsent(e, o, err->msg);
	insist_told(e, o, err);
	notice_told(e, o, err == NULL);
	cancel_told(e, o, err == NULL);
	postpone_told(e, o, err);
	checkpoint_told(e, o, err);
	rescue_told(e, o, err);
}

static void on_updated(void *ctx, const struct slurm_order *o, const struct err *err)
{
	struct engine *e = ctx;

	e->count.updates += err == NULL || err->code != ERR_NOTSENT;
	if (!o->again)
		told(e, o, err);
	engine_turn(e);
}

/* --- start and end -----------------------------------------------------------------------------
 */

static int load_node(void *ctx, const struct node *n, const char *pool, struct err *err)
{
	struct engine *e = ctx;
	const struct conf_pool *p = conf_pool_named(e->conf, pool);
	struct node copy = *n;

	(void)err;
	if (p == NULL && !node_counts(n))
		return 0;  /* of a pool that was taken out: its story is over */
	assert(p != NULL); /* off_keep() */
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

/* A call that was not acted on before the end is a hint now: the first snapshot is newer. */
static int load_call(void *ctx, const struct journal_call *c, struct err *err)
{
	struct engine *e = ctx;

	(void)err;
	journal_end_call(engine_tx(e), c->seq);
	return 0;
}

static int load_spent(void *ctx, const char *pool, int64_t cost_nano, struct err *err)
{
	struct engine *e = ctx;
	const struct conf_pool *p = conf_pool_named(e->conf, pool);

	(void)err;
	if (p != NULL)
		e->fleet.pools[conf_pool_index(e->conf, p)].spent_nano += cost_nano;
	return 0;
}

static int load_pool(void *ctx, const struct journal_pool *p, struct err *err)
{
	(void)err;
	pool_load(ctx, p);
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

/* Every node of every pool, bought or not: what is not here is not ours to touch.  A node that was
 * taken out of its pool is ours while something of it may exist. */
static void name_nodes(struct engine *e)
{
	for (size_t i = 0; i < e->fleet.nall; i++)
		e->fleet.all[i]->listed = false;
	for (uint32_t p = 0; p < e->conf->npools; p++)
		for (size_t i = 0; i < e->conf->pools[p].nodes->n; i++) {
			struct fleet_name *nm =
				fleet_name(&e->fleet, e->conf->pools[p].nodes->names[i], p);

			nm->listed = true;
			nm->pool = p; /* it may have been another's; its incarnations stay there */
		}
}

static int load(struct engine *e, struct err *err)
{
	const struct journal_visitor v = {.node = load_node,
					  .batch = load_batch,
					  .call = load_call,
					  .spent = load_spent,
					  .refusal = load_refusal,
					  .pool = load_pool,
					  .rescue = load_rescue,
					  .claim = load_claim,
					  .voucher = load_voucher,
					  .ctx = e};
	int64_t last_batch;

	name_nodes(e);
	if (journal_get_number(e->d.journal, JOURNAL_LAST_BATCH, &last_batch, err) != 0 ||
	    place_load_doubt(e, err) != 0)
		return err_wrap(err, "cannot go on from the journal");
	e->last_batch = (uint64_t)last_batch;
	if (breach_load(e, err) != 0 || journal_load(e->d.journal, &v, err) != 0)
		return err_wrap(err, "cannot go on from the journal");
	launch_restore(e);
	pool_count_lost(e);
	return 0;
}

int engine_new(struct engine **out, const struct engine_deps *d, struct conf *conf, struct err *err)
{
	struct engine *e = mem_zalloc(sizeof(*e));
	const struct slurm_callbacks cb = {observe_node, on_answer, on_updated, e, d->zone};

	*out = NULL;
	e->d = *d;
	e->slice = d->slice.send != 0 ? d->slice
				      : (struct engine_slice){.send = ENGINE_SEND,
							      .write = ENGINE_WRITE,
							      .read = ENGINE_READ};
	e->conf = conf;
	e->left = e->slice.write;
	e->calls_last = &e->calls;
	e->answers_last = &e->answers;
	e->ahead_ms = loop_ahead(d->loop);
	e->started_ms = engine_now(e);
	if (off_keep(e, err) != 0) {
		free(e);
		return err_wrap(err, "cannot go on from the journal");
	}
	fleet_init(&e->fleet, conf->npools);
	pool_init(e);
	prereq_init(e);
	warm_init(e);
	map_init(&e->postponed_map);
	map_init(&e->sruns_map);
	map_init(&e->rescues_map);
	cooldown_init(&e->cooldown);
	unsold_init(&e->unsold);
	str_init(&e->cancel_waiting, ENGINE_PARTITIONS_MAX);
	e->postpone_next = INT64_MAX;
	e->clouds = mem_zalloc((conf->nproviders + 1) * sizeof(*e->clouds));
	e->slurm = slurm_new(d->proc, d->loop, d->log, e->slice.read, &cb);
	slurm_configure(e->slurm, conf->slurm_bin, conf->slurm_conf);
	e->timer = timer_new(d->loop, on_timer, e);
	e->look_timer = timer_new(d->loop, on_look, e);
	for (size_t i = 0; i < conf->nproviders; i++)
		if (cloud_open(&e->clouds[i], e, &conf->providers[i], err) != 0)
			goto fail;
	if (claims_open(e, err) != 0 || fabric_check(e, conf, err) != 0 ||
	    secrets_open(e, err) != 0 || vouchers_open(e, err) != 0 || rotate_load(e, err) != 0)
		goto fail;
	door_open(e);
	if (load(e, err) != 0)
		goto fail;
	*out = e;
	return 0;
fail:
	e->conf = NULL; /* the caller's still */
	engine_free(e);
	return -1;
}

static int by_gang(const void *a, const void *b)
{
	const struct node *x = &(*(struct fleet_node *const *)a)->n;
	const struct node *y = &(*(struct fleet_node *const *)b)->n;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->pool != y->pool)
		return x->pool < y->pool ? -1 : 1;
	return strverscmp(x->name, y->name);
}

/* The journal has them by their names; in the lists by state those of one job stand together. */
static void post_restarts(struct engine *e)
{
	struct fleet_node **v;
	size_t n = 0, max = 0;

	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older)
			max++;
	v = mem_zalloc((max + 1) * sizeof(struct fleet_node *));
	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older)
			v[n++] = fn;
	qsort(v, n, sizeof(struct fleet_node *), by_gang);
	for (size_t i = 0; i < n; i++) {
		struct node_event ev = {.type = NODE_EV_RESTART, .now_ms = engine_now(e)};

		fleet_last(&e->fleet, v[i]);
		engine_post(e, v[i], &ev);
	}
	free(v);
}

void engine_start(struct engine *e)
{
	log_hold(e->d.log);
	e->started = true;
	post_restarts(e);
	for (size_t i = 0; i < e->conf->nproviders; i++)
		cloud_hurry(&e->clouds[i]);
	place_write_back(e);
	engine_event(e, "", 0, "started", BURSTD_VERSION);
	off_start(e);
	(void)pool_look(e);
	engine_turn(e);
	log_release(e->d.log);
}

void engine_free(struct engine *e)
{
	if (e == NULL)
		return;
	e->dead = true;
	if (e->tx != NULL)
		journal_abandon(e->tx);
	cloud_cancel_all(e);
	slurm_free(e->slurm);
	timer_free(e->timer);
	timer_free(e->look_timer);
	for (size_t i = 0; e->clouds[i].e != NULL; i++)
		cloud_close(&e->clouds[i]);
	free(e->clouds);
	launch_free(e);
	intake_free(e);
	gate_free(e);
	query_free(e);
	postpone_free(e);
	srun_free(e);
	rescue_free(e);
	checkpoint_free(e);
	observe_free(e);
	report_free(e);
	notice_free(e);
	free(e->pools);
	cooldown_fini(&e->cooldown);
	unsold_fini(&e->unsold);
	prereq_free(e);
	warm_free(e);
	claims_free(e); /* it cancels what it waits for there */
	rotate_free(e);
	vouchers_free(e);
	secrets_free(e);
	door_free(e);
	str_fini(&e->cancel_waiting);
	fleet_fini(&e->fleet);
	free(e->staged);
	free(e->fresh);
	free(e->up);
	conf_free(e->conf);
	free_old(e);
	free(e->old);
	free(e);
}

void engine_reconcile(struct engine *e)
{
	e->poll_next = engine_now(e);
	prereq_hurry(e);
	for (size_t i = 0; i < e->conf->nproviders; i++)
		e->clouds[i].list_next = e->clouds[i].offers_next = engine_now(e);
	engine_turn(e);
}

int engine_reload(struct engine *e, struct conf *next, struct err *err)
{
	conf_keep_removed(next, e->conf);
	if (conf_may_replace(e->conf, next, err) != 0 || fabric_check(e, next, err) != 0 ||
	    secrets_may_replace(e, next, err) != 0)
		return -1;
	if (vouchers_reload(e, next, err) != 0) /* the last that can fail */
		return -1;
	e->old = mem_realloc(e->old, (e->nold + 1) * sizeof(struct conf *));
	e->old[e->nold++] = e->conf; /* requests on the wire may still name it */
	e->conf = next;
	pool_grow(e, e->old[e->nold - 1]->npools, next->npools);
	fleet_grow(&e->fleet, next->npools);
	name_nodes(e);
	for (size_t i = 0; i < e->fleet.nall; i++)
		e->fleet.all[i]->tried = 0; /* places of offers in the file */
	warm_hurry(e);
	refuse_anew(e);
	postpone_anew(e);
	for (size_t i = 0; i < next->nproviders; i++)
		cloud_reload(&e->clouds[i], &next->providers[i]);
	off_hurry(e);
	secrets_hurry(e);
	slurm_configure(e->slurm, next->slurm_bin, next->slurm_conf);
	door_reload(e);
	engine_event(e, "", 0, "reloaded", next->path);
	engine_turn(e);
	return 0;
}

/* --- what the API shows ------------------------------------------------------------------------
 */

const struct conf *engine_conf(const struct engine *e)
{
	return e->conf;
}

const struct fleet *engine_fleet(const struct engine *e)
{
	return &e->fleet;
}

struct fleet_name *const *engine_sorted(struct engine *e)
{
	return fleet_sorted(&e->fleet);
}

uint64_t engine_last_batch(const struct engine *e)
{
	return e->last_batch;
}

int64_t engine_started_ms(const struct engine *e)
{
	return e->started_ms;
}

struct engine_source engine_slurm_source(const struct engine *e)
{
	return (struct engine_source){"slurmctld", e->slurm_ok_ms, e->slurm_failed_ms,
				      e->slurm_error};
}

struct engine_source engine_provider_source(const struct engine *e, size_t provider)
{
	const struct cloud *c = &e->clouds[provider];

	return (struct engine_source){c->conf->name, c->ok_ms, c->failed_ms,
				      off_is(c) ? c->off : c->error};
}

const char *engine_undeleted(const struct engine *e, size_t provider, int64_t *failed_ms)
{
	*failed_ms = e->clouds[provider].undeleted_ms;
	return e->clouds[provider].undeleted;
}

const char *engine_unheard(const struct engine *e, size_t provider, int64_t *since_ms)
{
	*since_ms = e->clouds[provider].unheard_ms;
	return e->clouds[provider].unheard;
}

const char *engine_unreadable(const struct engine *e, size_t provider, size_t i)
{
	const struct cloud *c = &e->clouds[provider];

	for (size_t k = 0; k < c->nodd; k++)
		if (c->odd[k].shown && i-- == 0)
			return c->odd[k].id;
	return NULL;
}

bool engine_stray(const struct engine *e, size_t provider, size_t i, struct engine_stray *out)
{
	const struct cloud *c = &e->clouds[provider];

	if (i >= c->nstrays)
		return false;
	*out = (struct engine_stray){c->strays[i].id, c->strays[i].node,   c->strays[i].tried_ms,
				     c->strays_ms,    c->strays[i].leaves, c->strays[i].up};
	return true;
}

int64_t engine_spent(const struct engine *e, size_t pool)
{
	int64_t sum = e->fleet.pools[pool].spent_nano;

	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn; fn = fn->state_next)
			if (fn->n.pool == pool && s != NODE_GONE && fn->n.start_ms != 0 &&
			    engine_now(e) > fn->n.start_ms)
				sum += fmt_cost(engine_now(e) - fn->n.start_ms, fn->n.rate_nano_h) -
				       engine_billed(&fn->n);
	return sum;
}

int64_t engine_price(const struct engine *e, size_t pool, size_t rung)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	assert(rung < n);
	return place_price(e, &rungs[rung]);
}

const struct engine_counters *engine_counters(const struct engine *e)
{
	return &e->count;
}

const char *engine_slurm_state(const struct engine *e, const char *node, char *buf, size_t size)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, node);

	buf[0] = '\0';
	if (nm != NULL)
		slurm_print_state(nm->flags, buf, size);
	return buf;
}
