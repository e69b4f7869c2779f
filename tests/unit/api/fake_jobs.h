/* fake_jobs.h - jobs_api.h of the fake engine: notices, what jobs lost, and who waits for an
 * answer. */
#ifndef BURSTD_TEST_FAKE_JOBS_H
#define BURSTD_TEST_FAKE_JOBS_H

#include "fake_state.h"

struct engine_query {
	struct engine *e;
	char id[64];
	int64_t uid;
	engine_query_fn fn;
	void *ctx;
};

struct gate {
	struct gate *next;
	struct engine *e;
	struct gate_ask ask;
	char nodes[256];
};

size_t engine_postponed(const struct engine *e, struct engine_postponed *soonest)
{
	if (e->npostponed > 0)
		*soonest = e->postponed;
	return e->npostponed;
}

void engine_waiting(const struct engine *e, size_t n[NODE_NREASONS])
{
	for (int i = 0; i < NODE_NREASONS; i++)
		n[i] = i == NODE_BECAUSE_BUDGET ? e->npostponed : 0;
}

const char *engine_joblist_private(const struct engine *e)
{
	return e->jobs_private;
}

int64_t engine_joblist_ms(const struct engine *e)
{
	return e->njobs > 0 ? FAKE_NOW - 4000 : 0;
}

size_t engine_joblist_more(const struct engine *e)
{
	return e->more_jobs;
}

void engine_joblist(const struct engine *e, engine_joblist_fn fn, void *ctx)
{
	for (size_t i = 0; i < e->njobs; i++)
		fn(ctx, &e->jobs[i]);
}

const struct slurm_report *engine_prereq(const struct engine *e)
{
	return e->prereq;
}

const char *engine_prereq_error(const struct engine *e)
{
	return e->prereq_error != NULL ? e->prereq_error : "";
}

/* An instance called "x..." is unknown. */
int engine_take_notices(struct engine *e, const struct engine_notice *list, size_t n,
			struct engine_notice_end *out, struct err *err)
{
	e->notice = list[n - 1];
	e->notices = n;
	(void)snprintf(e->notice_text, sizeof(e->notice_text), "%s|%s|%s", e->notice.instance,
		       e->notice.reason, e->notice.by);
	for (size_t i = 0; i < n; i++) {
		bool known = list[i].instance[0] != 'x';

		out[i].so = known ? e->noticed : ENGINE_NOTICE_UNKNOWN;
		out[i].node = known ? "n1" : "";
	}
	return e->broken ? err_set(err, ERR_IO, "the journal failed") : 0;
}

uint64_t engine_notices(const struct engine *e, size_t provider, enum provider_notice_kind kind)
{
	(void)e;
	return 10 * provider + (uint64_t)kind;
}

int64_t engine_force_ms(const struct engine *e, const char *node)
{
	(void)node;
	return e->force_ms;
}

bool engine_taken(const struct engine *e, const char *node, size_t i, struct engine_taken *out)
{
	(void)node;
	if (i >= e->ntaken)
		return false;
	*out = e->lost;
	return true;
}

/* Nodes "n..." are ours; "[" is no node list. */
int engine_gate_open(struct engine *e, const struct gate_ask *ask, struct gate **out,
		     struct err *err)
{
	struct gate *g;

	*out = NULL;
	if (ask->nodes[0] == '[')
		return err_set(err, ERR_INVALID, "not a node list");
	if (ask->nodes[0] != 'n')
		return 0;
	g = mem_zalloc(sizeof(*g));
	*g = (struct gate){.next = e->gates, .e = e, .ask = *ask};
	(void)snprintf(g->nodes, sizeof(g->nodes), "%.*s", (int)ask->len, ask->nodes);
	e->gates = g;
	*out = g;
	return 0;
}

int64_t engine_gate_boot_ms(const struct gate *g)
{
	(void)g;
	return 60000;
}

/* For job 8 nobody knows whether there is money. */
bool engine_gate_is_unsaid(const struct gate *g)
{
	return g->ask.job == 8;
}

void engine_gate_close(struct gate *g)
{
	struct gate **at = &g->e->gates;

	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	free(g);
}

struct engine_query *engine_query_job(struct engine *e, const char *id, int64_t uid,
				      engine_query_fn fn, void *ctx)
{
	assert_null(e->query);
	e->query = mem_zalloc(sizeof(*e->query));
	*e->query = (struct engine_query){.e = e, .uid = uid, .fn = fn, .ctx = ctx};
	(void)snprintf(e->query->id, sizeof(e->query->id), "%s", id);
	return e->query;
}

void engine_query_cancel(struct engine_query *q)
{
	assert_ptr_equal(q->e->query, q);
	q->e->query = NULL;
	free(q);
}

#endif
