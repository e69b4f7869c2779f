#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/node_words.h"

/* Creates the nodes of dynamic pools in slurmctld: they are in no slurm.conf, and slurmctld keeps
 * them with its state.
 *
 * Only nodes are created that two snapshots lack, DYNAMIC_SURE_MS apart, which began after the last
 * order had ended: 25.11 refuses to create a node that is there, loses it from its table, and dies
 * at the next job.  No node is ever deleted to create it anew: from 23.11 to 26.05.2 such a node
 * gets no jobs. */

/* A busy slurmctld obeys late, and burstd may have been killed since it gave the order: it does not
 * know of that one.  scontrol itself waits for so long (MessageTimeout). */
enum { DYNAMIC_SURE_MS = 10000 };

struct dynamic {
	bool runs;       /* orders are on their way, up to ... */
	uint64_t mark;   /* ... this one */
	int64_t idle_ms; /* when the last order ended; 0: none has */
	int64_t seen_ms; /* snapshots that began until then are not looked at any more */
	int64_t next_ms; /* when nodes may be ordered again ... */
	int64_t step_ms; /* ... which is later each time that some still lack */
	char error[120]; /* why slurmctld refused the last order; "": it did not */
};

static void dynamic_init(struct engine *e)
{
	e->jobs->dynamic = mem_zalloc(sizeof(*e->jobs->dynamic));
}

static void dynamic_free(struct engine *e)
{
	free(e->jobs->dynamic);
}

static bool is_dynamic(const struct conf_pool *p)
{
	return p->dynamic && !p->removed;
}

bool dynamic_any(const struct engine *e)
{
	for (size_t i = 0; i < e->conf->npools; i++)
		if (is_dynamic(&e->conf->pools[i]))
			return true;
	return false;
}

static bool lacks(const struct engine *e, const char *node)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, node);

	return nm != NULL && nm->missing_ms != 0;
}

/* When this is known for sure of a node that snapshots lack. */
static int64_t sure_ms(const struct engine *e, const char *node)
{
	int64_t since = fleet_find(&e->fleet, node)->missing_ms;

	if (since < e->jobs->dynamic->idle_ms)
		since = e->jobs->dynamic->idle_ms;
	return since + DYNAMIC_SURE_MS;
}

/* When this is known for sure of the first of all that slurmctld lacks; INT64_MAX: it has all. */
static int64_t first_sure_ms(const struct engine *e)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < e->conf->npools; i++) {
		const struct conf_pool *p = &e->conf->pools[i];

		for (size_t k = 0; is_dynamic(p) && k < p->nodes->n; k++)
			if (lacks(e, p->nodes->names[k]) && sure_ms(e, p->nodes->names[k]) < first)
				first = sure_ms(e, p->nodes->names[k]);
	}
	return first;
}

/* Order those nodes of the pool that slurmctld lacks.  If too many orders wait, the others come
 * after the next snapshot. */
static void create_nodes(struct engine *e, uint32_t pool)
{
	const struct conf_pool *p = &e->conf->pools[pool];
	struct str words;

	str_init(&words, SLURM_NODE_WORDS_MAX);
	slurm_node_words(p, &words);
	for (size_t i = 0; i < p->nodes->n; i++)
		if (lacks(e, p->nodes->names[i]) &&
		    sure_ms(e, p->nodes->names[i]) <= e->poll.snapshot_ms &&
		    !slurm_create(e->slurm, p->nodes->names[i], pool, words.p))
			break;
	str_fini(&words);
}

/* Have all orders ended? */
static bool is_idle(struct engine *e)
{
	struct dynamic *d = e->jobs->dynamic;

	if (d->runs && slurm_past(e->slurm, d->mark)) {
		d->runs = false;
		d->idle_ms = d->seen_ms = engine_now(e);
		e->poll.next_ms = d->seen_ms + 1; /* so that it begins after this */
	}
	return !d->runs;
}

static void order(struct engine *e)
{
	struct dynamic *d = e->jobs->dynamic;

	for (size_t i = 0; i < e->conf->npools; i++)
		if (is_dynamic(&e->conf->pools[i]))
			create_nodes(e, (uint32_t)i);
	d->runs = true;
	d->mark = slurm_mark(e->slurm);
	d->step_ms = engine_longer(d->step_ms);
	d->next_ms = engine_now(e) + d->step_ms;
}

/* Have a snapshot begin then, if none would before. */
static void poll_by(struct engine *e, int64_t ms)
{
	if (ms < e->poll.next_ms)
		e->poll.next_ms = ms;
}

/* Look at each snapshot once. */
static void dynamic_run(struct engine *e)
{
	struct dynamic *d = e->jobs->dynamic;
	int64_t sure;

	if (!is_idle(e) || !e->poll.polled || e->poll.snapshot_ms <= d->seen_ms)
		return;
	d->seen_ms = e->poll.snapshot_ms;
	sure = first_sure_ms(e);
	if (sure == INT64_MAX) {
		d->step_ms = 0;
		d->error[0] = '\0';
	} else if (sure > d->seen_ms) {
		poll_by(e, sure);
	} else if (engine_now(e) >= d->next_ms) {
		order(e);
	}
}

void dynamic_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	if (strcmp(o->verb, "create-node") == 0)
		(void)snprintf(e->jobs->dynamic->error, sizeof(e->jobs->dynamic->error), "%.110s",
			       err != NULL ? err->msg : "");
}

const char *dynamic_why(const struct engine *e)
{
	const struct dynamic *d = e->jobs->dynamic;

	if (d->error[0] != '\0')
		return d->error;
	return d->step_ms > ENGINE_RETRY_MS ? "slurmctld created them, and does not show them"
					    : NULL;
}

const struct engine_part dynamic_part = {
	.name = "dynamic nodes",
	.at = {[PART_INIT] = dynamic_init, [PART_RUN] = dynamic_run, [PART_FREE] = dynamic_free},
};
