#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/feature.h"
#include "slurm/show.h"
#include "slurm/unknown.h"

/* Checks slurm.conf when slurmctld first answers, after it was away, and every minute, since a
 * quick restart with another slurm.conf would go unnoticed otherwise.  Each problem is logged when
 * it is new; `burstctl status` has them all. */

enum { PREREQ_MS = 60000 };

struct prereq {
	struct slurm_report *report; /* NULL: not known yet */
	char *config;                /* of show config, until show partitions ends */
	size_t config_len;
	char error[160]; /* why there is no report, though asked; "": see report */
	int64_t asked_ms, next_ms;
	int64_t known_ms;               /* when the report's settings were asked for */
	struct slurm_feature *features; /* of the nodes in a snapshot; NULL: none are wanted */
	size_t nfeatures;
	int64_t look_ms;
	bool *own_gres; /* prereq_has_own_gres(); of each pool that there was then */
	size_t nown_gres;
	struct str partitions;   /* "NAME LIST" of each, one a line */
	struct slurm_text shown; /* all of it, while parts are told */
};

static void prereq_init(struct engine *e)
{
	e->jobs->prereq = mem_zalloc(sizeof(*e->jobs->prereq));
	str_init(&e->jobs->prereq->partitions, SLURM_PARTITIONS_MAX);
}

static void prereq_free(struct engine *e)
{
	if (e->jobs->prereq == NULL)
		return;
	slurm_features_free(e->jobs->prereq->features, e->jobs->prereq->nfeatures);
	free(e->jobs->prereq->report);
	free(e->jobs->prereq->config);
	free(e->jobs->prereq->own_gres);
	str_fini(&e->jobs->prereq->partitions);
	free(e->jobs->prereq);
}

void prereq_hurry(struct engine *e)
{
	e->jobs->prereq->next_ms = e->jobs->prereq->look_ms = 0;
}

static void note_gres(struct engine *e, const struct slurm_node *nodes, size_t n)
{
	struct prereq *p = e->jobs->prereq;

	free(p->own_gres);
	p->nown_gres = e->conf->npools;
	p->own_gres = mem_zalloc((e->conf->npools + 1) * sizeof(*p->own_gres));
	for (size_t i = 0; i < n; i++) {
		const struct conf_pool *pool = conf_pool_of(e->conf, nodes[i].name);

		if (pool != NULL && pool->gres != NULL && pool->gres[0] != '\0' &&
		    !slurm_same_gpus(nodes[i].gres, pool->gres))
			p->own_gres[conf_pool_index(e->conf, pool)] = true;
	}
}

bool prereq_has_own_gres(const struct engine *e, size_t pool)
{
	const struct prereq *p = e->jobs->prereq;

	return pool < p->nown_gres && p->own_gres[pool];
}

void prereq_nodes(struct engine *e, const struct slurm_node *nodes, size_t n)
{
	struct prereq *p = e->jobs->prereq;

	if (engine_now(e) < p->look_ms)
		return;
	p->look_ms = engine_now(e) + PREREQ_MS;
	note_gres(e, nodes, n);
	slurm_features_free(p->features, p->nfeatures);
	p->features = slurm_features_new(e->conf);
	p->nfeatures = e->conf->npools;
	for (size_t i = 0; p->features != NULL && i < n; i++)
		slurm_features_look(p->features, e->conf, &nodes[i]);
}

/* Wait for the first poll.  A failed one counts, too, since slurm.conf may be its cause: without
 * PrivateData=cloud 22.05 shows no node at all while all are powered down. */
static int64_t prereq_next_ms(const struct engine *e)
{
	return e->poll.polled || e->poll.failed_ms != 0 ? e->jobs->prereq->next_ms : INT64_MAX;
}

static void prereq_run(struct engine *e)
{
	if (engine_now(e) < prereq_next_ms(e))
		return;
	e->jobs->prereq->next_ms = engine_now(e) + PREREQ_MS;
	if (slurm_ask(e->slurm, SLURM_CONFIG))
		e->jobs->prereq->asked_ms = engine_now(e);
}

static bool was_there(const struct slurm_report *r, const struct slurm_problem *p)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (strcmp(r->problems[i].setting, p->setting) == 0 &&
		    strcmp(r->problems[i].found, p->found) == 0)
			return true;
	return false;
}

static void tell_new(struct engine *e, const struct slurm_report *was,
		     const struct slurm_report *is)
{
	static const enum log_level levels[] = {
		[SLURM_ADVICE] = LOG_INFO, [SLURM_WARNING] = LOG_WARN, [SLURM_ERROR] = LOG_ERROR};

	for (size_t i = 0; i < is->n; i++) {
		const struct slurm_problem *p = &is->problems[i];

		if (!was_there(was, p))
			log_write(e->d.log, levels[p->severity], "slurm.conf", "setting",
				  p->setting, "found", p->found, "wanted", p->wanted, "why", p->why,
				  NULL);
	}
}

static bool is_known(void *ctx, const char *node)
{
	const struct fleet_name *nm = fleet_find(ctx, node);

	return nm == NULL || nm->missing_ms == 0; /* by the last whole snapshot */
}

/* burstd creates the nodes of a dynamic pool: until it could not, none are unknown. */
static void find_unknown(struct engine *e, const struct conf_pool *p, struct slurm_need_pool *out)
{
	out->uncreated = p->dynamic ? dynamic_why(e) : NULL;
	if (!p->dynamic || out->uncreated != NULL)
		out->unknown = slurm_unknown(p->nodes, is_known, &e->fleet);
}

static int judge(struct engine *e, struct slurm_text partitions, struct slurm_report *out,
		 struct err *err)
{
	const struct conf *c = e->conf;
	const struct prereq *p = e->jobs->prereq;
	struct slurm_need_pool *pools = mem_zalloc((c->npools + 1) * sizeof(*pools));
	struct slurm_need need = {.cluster = c->cluster, .auth = conf_auth_type(c), .pools = pools};
	struct slurm_text config = {p->config, p->config_len};
	int rc;

	for (size_t i = 0; i < c->npools; i++) {
		const struct slurm_feature *f =
			p->features != NULL && i < p->nfeatures ? &p->features[i] : NULL;

		if (c->pools[i].removed)
			continue;
		pools[need.npools] = (struct slurm_need_pool){
			.name = c->pools[i].name,
			.nodes = c->pools[i].nodes,
			.boot_ms = c->pools[i].boot_ms,
			.max_nodes = c->pools[i].max_nodes,
			.warm = c->pools[i].warm,
			.quantum_ms = c->pools[i].quantum_ms,
			.features = f != NULL ? f->wanted : NULL,
			.bare = f != NULL && f->bare[0] != '\0' ? f->bare : NULL};
		find_unknown(e, &c->pools[i], &pools[need.npools++]);
	}
	slurm_need_budgets(&need, c->budgets, c->nbudgets);
	rc = slurm_require(config, partitions, &need, out, err);
	for (size_t i = 0; i < need.npools; i++)
		free((char *)(uintptr_t)pools[i].unknown);
	free(pools);
	return rc;
}

/* Keep the node list of each partition and nothing else: it stays in memory. */
static void keep_partitions(struct prereq *p, struct slurm_text rest)
{
	struct slurm_text line;

	str_clear(&p->partitions);
	while (slurm_show_cut(&rest, '\n', &line)) {
		struct slurm_text name = slurm_show_word(line, "PartitionName"),
				  nodes = slurm_show_word(line, "Nodes");

		if (name.p != NULL && nodes.p != NULL)
			str_addf(&p->partitions, "%.*s %.*s\n", (int)name.n, name.p, (int)nodes.n,
				 nodes.p);
	}
}

struct slurm_text prereq_partition(const struct engine *e, const char *name)
{
	struct slurm_text rest = {e->jobs->prereq->partitions.p, e->jobs->prereq->partitions.len},
			  line, word;

	while (slurm_show_cut(&rest, '\n', &line))
		if (slurm_show_cut(&line, ' ', &word) && slurm_text_is(word, name))
			return line;
	return (struct slurm_text){NULL, 0};
}

struct slurm_text prereq_partitions(const struct engine *e)
{
	return (struct slurm_text){e->jobs->prereq->partitions.p, e->jobs->prereq->partitions.len};
}

struct slurm_text prereq_shown_partitions(const struct engine *e)
{
	return e->jobs->prereq->shown;
}

int64_t prereq_hold_ms(const struct engine *e)
{
	const struct slurm_report *r = e->jobs->prereq->report;

	return r != NULL ? r->hold_ms : 0;
}

uint32_t prereq_memory_percent(const struct engine *e)
{
	const struct slurm_report *r = e->jobs->prereq->report;

	return r != NULL ? r->memory_percent : 0;
}

int64_t prereq_known_ms(const struct engine *e)
{
	return e->jobs->prereq->known_ms;
}

static void tell_parts(struct engine *e, const struct prereq *p)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->settings != NULL)
			e->d.parts.row[i].part->settings(e, p->config, p->config_len, p->asked_ms);
}

static void take_partitions(struct engine *e, const char *text, size_t len)
{
	struct prereq *p = e->jobs->prereq;
	struct slurm_report *r = mem_zalloc(sizeof(*r));
	struct err err = {0};

	if (p->config != NULL && judge(e, (struct slurm_text){text, len}, r, &err) == 0) {
		tell_new(e, p->report, r);
		free(p->report);
		p->report = r;
		slurm_set_release(e->slurm, &r->version);
		p->error[0] = '\0';
		p->known_ms = p->asked_ms;
		p->shown = (struct slurm_text){text, len};
		tell_parts(e, p);
		p->shown = (struct slurm_text){NULL, 0};
		keep_partitions(p, (struct slurm_text){text, len});
	} else {
		free(r);
		log_write(e->d.log, LOG_WARN, "cannot parse slurmctld's settings", "error", err.msg,
			  NULL);
		(void)snprintf(p->error, sizeof(p->error),
			       "cannot parse slurmctld's settings: %.120s", err.msg);
	}
	free(p->config);
	p->config = NULL;
}

void prereq_answer(struct engine *e, enum slurm_question q, const char *text, size_t len)
{
	struct prereq *p = e->jobs->prereq;

	if (text == NULL) { /* the poll mostly fails as well, and that is logged */
		(void)snprintf(p->error, sizeof(p->error), "scontrol show %s failed",
			       q == SLURM_PARTITIONS ? "partitions" : "config");
		return;
	}
	if (q == SLURM_PARTITIONS) {
		take_partitions(e, text, len);
		return;
	}
	free(p->config);
	p->config = mem_zalloc(len + 1);
	memcpy(p->config, text, len);
	p->config_len = len;
	(void)slurm_ask(e->slurm, SLURM_PARTITIONS);
}

bool prereq_may_have(const struct engine *e, enum slurm_trait t)
{
	const struct slurm_report *r = e->jobs->prereq->report;

	return r == NULL || slurm_version_has(&r->version, t);
}

bool prereq_has(const struct engine *e, enum slurm_trait t)
{
	const struct slurm_report *r = e->jobs->prereq->report;

	return r != NULL && slurm_version_has(&r->version, t);
}

const struct slurm_report *engine_prereq(const struct engine *e)
{
	return e->jobs->prereq->report;
}

const char *engine_prereq_error(const struct engine *e)
{
	return e->jobs->prereq->report == NULL ? e->jobs->prereq->error : "";
}

const struct engine_part prereq_part = {
	.name = "prerequisites",
	.at = {[PART_INIT] = prereq_init, [PART_RUN] = prereq_run, [PART_FREE] = prereq_free},
	.next_ms = prereq_next_ms,
};
