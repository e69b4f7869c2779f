#include "engine/kernel.h"

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

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	*out = (struct node_limits){0};
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->limits != NULL)
			e->d.parts.row[i].part->limits(e, n, out);
	return out;
}

void engine_at(struct engine *e, enum part_moment moment)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->at[moment] != NULL)
			e->d.parts.row[i].part->at[moment](e);
}

/* If the wall clock was set, write an event, and the new difference to the journal. */
void engine_look_at_clock(struct engine *e)
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
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->clock_set != NULL)
			e->d.parts.row[i].part->clock_set(e, by);
}

/* --- the turn ----------------------------------------------------------------------------------
 */

static void arm(struct engine *e)
{
	int64_t next = e->fleet.wake_ms;

	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->next_ms != NULL) {
			int64_t at = e->d.parts.row[i].part->next_ms(e);

			next = at < next ? at : next;
		}
	if ((e->more || e->staging.n > 0 || e->unwritten.v != NULL) && engine_now(e) < next)
		next = engine_now(e);
	timer_at(e->timer, next);
}

static bool record(struct engine *e)
{
	bool some = false;

	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->record != NULL && e->d.parts.row[i].part->record(e))
			some = true;
	return some;
}

static void turn(struct engine *e)
{
	engine_look_at_clock(e);
	engine_at(e, PART_TAKE);
	engine_commit(e);
	engine_at(e, PART_RUN);
	(void)record(e);
	engine_commit(e);
	if (record(e)) /* what followed from the commit */
		engine_commit(e);
	if (e->dead)
		return;
	engine_at(e, PART_SEND);
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
	engine_at(e, PART_PASS);
	engine_turn(e);
}

/* --- events and questions for the parts --------------------------------------------------------
 */

void engine_heard(struct engine *e, struct cloud *c, enum provider_op_kind kind,
		  const struct provider_result *r, int64_t sent_ms)
{
	const struct engine_parts *p = &e->d.parts;

	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].part->heard != NULL)
			p->row[i].part->heard(c, kind, r, sent_ms);
}

bool engine_listed(struct engine *e, struct cloud *c)
{
	const struct engine_parts *p = &e->d.parts;
	bool taken = true;

	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].part->listed != NULL)
			taken = p->row[i].part->listed(c) && taken;
	return taken;
}

bool engine_noticed(struct engine *e, struct cloud *c, const struct provider_notice *n)
{
	const struct engine_parts *p = &e->d.parts;
	bool known = true;

	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].part->noticed != NULL)
			known = p->row[i].part->noticed(c, n) && known;
	return known;
}

void engine_quotes(struct engine *e, struct cloud *c, struct provider_quote *before, size_t nbefore)
{
	const struct engine_parts *p = &e->d.parts;

	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].part->quoted != NULL)
			p->row[i].part->quoted(c, before, nbefore);
}

void engine_tell_quotes(struct engine *e, bool cheaper)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->repriced != NULL)
			e->d.parts.row[i].part->repriced(e, cheaper);
}

void engine_job_ended(struct engine *e, uint64_t job)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->job_ended != NULL)
			e->d.parts.row[i].part->job_ended(e, job);
}

void engine_job_beside(struct engine *e, uint64_t job, uint64_t other)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->job_beside != NULL)
			e->d.parts.row[i].part->job_beside(e, job, other);
}

const char *engine_keyless(const struct engine *e, uint32_t provider)
{
	for (size_t i = 0; i < e->d.parts.n; i++) {
		const struct engine_part *p = e->d.parts.row[i].part;
		const char *why = p->keyless != NULL ? p->keyless(e, provider) : NULL;

		if (why != NULL)
			return why;
	}
	return NULL;
}

bool engine_on_trial(const struct engine *e, uint32_t pool)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->on_trial != NULL &&
		    e->d.parts.row[i].part->on_trial(e, pool))
			return true;
	return false;
}

int engine_may_use(struct engine *e, size_t provider, struct err *err)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->may_use != NULL &&
		    e->d.parts.row[i].part->may_use(e, provider, err) != 0)
			return -1;
	return 0;
}

/* --- the order of the table --------------------------------------------------------------------
 */

const struct engine_part *engine_parts_late(const struct engine_parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t b = 0; b < PART_BEFORE_MAX && p->row[i].before[b] != NULL; b++)
			for (size_t k = 0; k < i; k++)
				if (p->row[k].part == p->row[i].before[b])
					return p->row[i].part;
	return NULL;
}

/* --- start and end -----------------------------------------------------------------------------
 */

void engine_name_nodes(struct engine *e)
{
	for (size_t i = 0; i < e->fleet.nall; i++)
		e->fleet.all[i]->listed = false;
	for (uint32_t p = 0; p < e->conf->npools; p++)
		for (size_t i = 0; i < e->conf->pools[p].nodes->n; i++) {
			struct fleet_name *nm =
				fleet_name(&e->fleet, e->conf->pools[p].nodes->names[i], p);

			nm->listed = true;
			nm->pool = p; /* rows stay in the pool that the node had before */
		}
}

static int complete(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->complete != NULL &&
		    e->d.parts.row[i].part->complete(e, err) != 0)
			return err_wrap(err, "cannot load the journal");
	return 0;
}

static int open_parts(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->open != NULL &&
		    e->d.parts.row[i].part->open(e, err) != 0)
			return -1;
	return 0;
}

int engine_new(struct engine **out, const struct engine_deps *d, struct conf *conf, struct err *err)
{
	struct engine *e = mem_zalloc(sizeof(*e));

	assert(engine_parts_late(&d->parts) == NULL);
	*out = NULL;
	e->d = *d;
	e->slice = d->slice.send != 0 ? d->slice
				      : (struct engine_slice){.send = ENGINE_SEND,
							      .write = ENGINE_WRITE,
							      .read = ENGINE_READ};
	e->conf = conf;
	e->left = e->slice.write;
	e->ahead_ms = loop_ahead(d->loop);
	e->started_ms = engine_now(e);
	if (complete(e, err) != 0) {
		free(e);
		return -1;
	}
	fleet_init(&e->fleet, conf->npools);
	engine_name_nodes(e);
	engine_at(e, PART_INIT);
	e->timer = timer_new(d->loop, on_timer, e);
	if (open_parts(e, err) != 0) {
		e->conf = NULL; /* still the caller's */
		engine_free(e);
		return -1;
	}
	*out = e;
	return 0;
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

/* The journal has rows by name.  In the lists by state put the rows of one job side by side. */
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
	engine_event(e, "", 0, "started", BURSTD_VERSION);
	engine_at(e, PART_START);
	engine_turn(e);
	log_release(e->d.log);
}

void engine_free_old(struct engine *e)
{
	for (size_t i = 0; i < e->nold; i++)
		conf_free(e->old[i]);
	e->nold = 0;
}

void engine_free(struct engine *e)
{
	if (e == NULL)
		return;
	e->dead = true;
	if (e->staging.tx != NULL)
		journal_abandon(e->staging.tx);
	engine_at(e, PART_STOP);
	timer_free(e->timer);
	engine_at(e, PART_FREE);
	fleet_fini(&e->fleet);
	free(e->staging.rows);
	free(e->cloud);
	free(e->jobs);
	free(e->keys);
	free(e->money);
	free(e->buy);
	free(e->diff);
	free(e->unwritten.v);
	conf_free(e->conf);
	engine_free_old(e);
	free(e->old);
	free(e);
}

static int may_reload(struct engine *e, const struct conf *next, struct err *err)
{
	if (conf_may_replace(e->conf, next, err) != 0)
		return -1;
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->may_reload != NULL &&
		    e->d.parts.row[i].part->may_reload(e, next, err) != 0)
			return -1;
	return 0;
}

int engine_reload(struct engine *e, struct conf *next, struct err *err)
{
	conf_keep_removed(next, e->conf);
	if (may_reload(e, next, err) != 0)
		return -1;
	e->old = mem_realloc(e->old, (e->nold + 1) * sizeof(struct conf *));
	e->old[e->nold++] = e->conf; /* requests on the wire may still use it */
	e->conf = next;
	fleet_grow(&e->fleet, next->npools);
	engine_name_nodes(e);
	for (size_t i = 0; i < e->fleet.nall; i++)
		e->fleet.all[i]->tried = 0; /* its bits are places of offers in the file */
	engine_at(e, PART_RELOAD);
	engine_event(e, "", 0, "reloaded", next->path);
	engine_turn(e);
	return 0;
}
