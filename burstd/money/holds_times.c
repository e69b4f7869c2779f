/* Learns from slurmctld's settings how long a job may outlive its limit, and a node its job: so
 * much more is held.  Partitions may have times of their own. */
#include "money/hold.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "jobs/jobs.h"
#include "slurm/show.h"

enum { OVER_UNIT_MS = 60000, IDLE_UNIT_MS = 1000 };

struct exceptions {
	struct budget_exception *v;
	size_t n;
};

static void add(struct exceptions *x, const char *name, size_t len, int64_t ms)
{
	struct budget_exception *at;

	x->v = mem_realloc(x->v, (x->n + 1) * sizeof(*x->v));
	at = &x->v[x->n++];
	*at = (struct budget_exception){.ms = ms};
	(void)snprintf(at->name, sizeof(at->name), "%.*s", (int)len, name);
}

/* "NONE" is no time of its own. */
static void take_over(struct exceptions *x, struct slurm_text line, int64_t kill_ms)
{
	const struct slurm_text name = slurm_show_word(line, "PartitionName");
	const struct slurm_text over = slurm_show_word(line, "OverTimeLimit");
	const int64_t minutes = slurm_show_number(over);

	if (slurm_text_is(over, "UNLIMITED"))
		add(x, name.p, name.n, -1);
	else if (minutes >= 0 && minutes < INT32_MAX)
		add(x, name.p, name.n, kill_ms + OVER_UNIT_MS * minutes);
}

/* The nodes of a partition idle for so long: note that for each pool that has some of them. */
static void idle_for(const struct engine *e, struct slurm_text nodes, int64_t ms, int64_t *pools)
{
	struct hostlist *h;

	if (nodes.n == 0 || hostlist_parse(&h, nodes.p, nodes.n, NULL) != 0)
		return;
	for (size_t i = 0; i < h->n; i++) {
		const struct conf_pool *p = conf_pool_of(e->conf, h->names[i]);
		int64_t *most = p != NULL ? &pools[conf_pool_index(e->conf, p)] : NULL;

		if (most != NULL && *most < ms)
			*most = ms;
	}
	hostlist_free(h);
}

static int64_t own_idle(struct slurm_text line)
{
	const int64_t s = slurm_show_number(slurm_show_word(line, "SuspendTime"));

	return s >= 0 && s < INT32_MAX ? IDLE_UNIT_MS * s : -1;
}

/* A node has the largest time of its partitions; the pool, that of its nodes. */
static void take_idle(const struct engine *e, struct exceptions *x, struct slurm_text partitions)
{
	int64_t *pools = mem_zalloc((e->conf->npools + 1) * sizeof(*pools));
	struct slurm_text rest = partitions, line;

	while (slurm_show_cut(&rest, '\n', &line)) {
		const int64_t own = own_idle(line);

		idle_for(e, slurm_show_word(line, "Nodes"),
			 own >= 0 ? own : e->money->times.idle_ms, pools);
	}
	for (size_t i = 0; i < e->conf->npools; i++)
		if (pools[i] > 0)
			add(x, e->conf->pools[i].name, PAYER_NAME_MAX, pools[i]);
	free(pools);
}

static void take_partitions(struct engine *e, struct slurm_text partitions, int64_t kill_ms)
{
	struct exceptions over = {NULL, 0}, idle = {NULL, 0};
	struct slurm_text rest = partitions, line;
	bool own = false;

	while (slurm_show_cut(&rest, '\n', &line)) {
		take_over(&over, line, kill_ms);
		own |= own_idle(line) >= 0;
	}
	if (own)
		take_idle(e, &idle, partitions);
	holds_times_free(e);
	e->money->times.over = over.v;
	e->money->times.nover = over.n;
	e->money->times.idle = idle.v;
	e->money->times.nidle = idle.n;
}

void holds_times_free(struct engine *e)
{
	free((void *)(uintptr_t)e->money->times.over);
	free((void *)(uintptr_t)e->money->times.idle);
	e->money->times.over = e->money->times.idle = NULL;
	e->money->times.nover = e->money->times.nidle = 0;
}

void holds_settings(struct engine *e, const char *text, size_t len, int64_t asked_ms)
{
	const struct slurm_text conf = {text, len};
	const int64_t kill_s = slurm_show_number(slurm_show_setting(conf, "KillWait"));
	const int64_t over_min = slurm_show_number(slurm_show_setting(conf, "OverTimeLimit"));
	const int64_t idle_s = slurm_show_number(slurm_show_setting(conf, "SuspendTime"));
	const bool endless = slurm_text_is(slurm_show_setting(conf, "OverTimeLimit"), "UNLIMITED");
	const bool kills = kill_s >= 0 && kill_s < INT32_MAX;
	struct budget_times *t = &e->money->times;

	(void)asked_ms;
	e->money->times_known = true;
	/* From 24.11 on it is "PrologSlurmctld[0]". */
	e->money->no_prolog = slurm_show_setting(conf, "PrologSlurmctld").n == 0 &&
			      slurm_show_setting(conf, "PrologSlurmctld[0]").n == 0;
	if (endless)
		t->over_ms = -1;
	else if (kills && over_min >= 0 && over_min < INT32_MAX)
		t->over_ms = 1000 * kill_s + OVER_UNIT_MS * over_min;
	if (idle_s >= 0 && idle_s < INT32_MAX)
		t->idle_ms = IDLE_UNIT_MS * idle_s;
	take_partitions(e, prereq_shown_partitions(e), kills ? 1000 * kill_s : HOLDS_OVER_MS);
}
