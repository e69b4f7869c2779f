/* Requests that order something about nodes and pools.  The log and the events name who ordered
 * it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl_api.h"
#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "base/plain.h"
#include "buy/buy_api.h"
#include "core/reclaim.h"
#include "jobs/jobs_api.h"

static void log_it(struct ctl_reply *r, const char *what, const char *about, const char *outcome)
{
	char uid[FMT_U64_SIZE], pid[FMT_U64_SIZE], roles[CTL_ROLES_SIZE];

	log_write(r->api->log, LOG_INFO, what, "about", about, "uid", fmt_u64(uid, r->who->uid),
		  "role", ctl_roles_str(roles, r->who->roles), "pid", fmt_i64(pid, r->who->pid),
		  "outcome", outcome, NULL);
}

/* --- nodes -------------------------------------------------------------------------------------
 */

/* The list must be valid and name only our nodes: a typing error must not be half of an order. */
static int check_nodes(struct ctl_reply *r, const char *list)
{
	struct hostlist *h;
	struct err e = {0};
	int rc = 0;

	if (hostlist_parse(&h, list, strlen(list), &e) != 0)
		return ctl_reply_refuse(r, "invalid", "\"nodes\": %s", e.msg);
	for (size_t i = 0; i < h->n && rc == 0; i++)
		if (fleet_find(engine_fleet(r->api->engine), h->names[i]) == NULL)
			rc = ctl_reply_refuse(
				r, "not-found",
				"no pool names a node \"%.63s\"; burstd touches no other",
				h->names[i]);
	hostlist_free(h);
	return rc;
}

static int operate(struct ctl_reply *r, enum engine_order order, const char *nodes,
		   const char *what)
{
	struct engine_ordered o;
	char who[CTL_BY_SIZE], n[FMT_U64_SIZE];
	const struct engine_request rq = {.order = order,
					  .nodes = nodes,
					  .by = ctl_reply_by(who, r->who),
					  .look = json_is_true(json_object_get(r->args, "look"))};
	int rc;

	if (nodes != NULL && check_nodes(r, nodes) != 0)
		return -1;
	rc = engine_operate(r->api->engine, &rq, &o, &r->err);
	if (!rq.look)
		log_it(r, what, nodes != NULL ? nodes : "all nodes",
		       rc == 0 ? fmt_u64(n, o.n) : r->err.msg);
	jsonw_int(&r->w, "nodes", (int64_t)o.n);
	jsonw_int(&r->w, "busy", (int64_t)o.busy);
	jsonw_int(&r->w, "off", (int64_t)o.off);
	return rc;
}

int ctl_order_drain(struct ctl_reply *r)
{
	const char *nodes;

	if (ctl_reply_text(r, "nodes", NULL, &nodes) != 0)
		return -1;
	return operate(r, ENGINE_DRAIN, nodes, "drain asked for");
}

/* All nodes are terminated only by "all": a request that lost its list must not end everything. */
int ctl_order_terminate(struct ctl_reply *r)
{
	const char *nodes = NULL;
	bool all = json_is_true(json_object_get(r->args, "all"));

	if (all && json_object_get(r->args, "nodes") != NULL)
		return ctl_reply_refuse(r, "invalid", "\"nodes\" and \"all\": only one of them");
	if (!all && ctl_reply_text(r, "nodes", NULL, &nodes) != 0)
		return -1;
	return operate(r, ENGINE_TERMINATE, nodes, "terminate asked for");
}

/* --- a machine that will be taken away ---------------------------------------------------------
 */

static int read_when(struct ctl_reply *r, int64_t *at_ms)
{
	enum { IN_MAX_DAYS = 366 };
	const int64_t most = IN_MAX_DAYS * INT64_C(86400000);
	int64_t in_ms, now = engine_now(r->api->engine);

	if (ctl_reply_int(r, "at_ms", engine_wall(r->api->engine, now) + most, 0, at_ms) != 0 ||
	    ctl_reply_int(r, "in_ms", most, -1, &in_ms) != 0)
		return -1;
	if (*at_ms != 0 && in_ms >= 0)
		return ctl_reply_refuse(r, "invalid", "\"at_ms\" and \"in_ms\": only one of them");
	*at_ms = in_ms >= 0 ? now + in_ms : engine_from_wall(r->api->engine, *at_ms);
	return 0;
}

static int read_kind(struct ctl_reply *r, enum provider_notice_kind *kind)
{
	const char *word;
	int k;

	if (ctl_reply_text(r, "kind", NULL, &word) != 0)
		return -1;
	k = reclaim_kind_parse(word);
	if (k < 0)
		return ctl_reply_refuse(
			r, "invalid",
			"\"kind\": want reclaim, rebalance, maintenance or faulty, not \"%.20s\"",
			word);
	*kind = (enum provider_notice_kind)k;
	return 0;
}

static const char *const results[] = {[ENGINE_NOTICE_TAKEN] = "taken",
				      [ENGINE_NOTICE_LATE] = "late",
				      [ENGINE_NOTICE_IGNORED] = "ignored",
				      [ENGINE_NOTICE_UNKNOWN] = "unknown",
				      [ENGINE_NOTICE_SEVERAL] = "several"};

enum { NRESULTS = sizeof(results) / sizeof(results[0]) };

struct notice_rq {
	struct engine_notice all; /* what holds for each */
	const json_t *machines;   /* NULL: one, as "machine" */
	size_t n;
	struct engine_notice *list;
	struct engine_notice_end *ends;
};

static int read_machines(struct ctl_reply *r, struct notice_rq *rq)
{
	rq->n = 1;
	rq->machines = json_object_get(r->args, "machines");
	if (rq->machines == NULL)
		return ctl_reply_text(r, "machine", NULL, &rq->all.instance);
	rq->n = json_array_size(rq->machines);
	if (rq->n == 0 || rq->n > CTL_API_MACHINES_MAX ||
	    json_object_get(r->args, "machine") != NULL)
		return ctl_reply_refuse(r, "invalid",
					"\"machines\": want a list of 1 to %d, and no \"machine\"",
					CTL_API_MACHINES_MAX);
	return 0;
}

static int read_notice(struct ctl_reply *r, struct notice_rq *rq)
{
	struct engine_notice *all = &rq->all;

	if (read_machines(r, rq) != 0 || read_kind(r, &all->kind) != 0 ||
	    read_when(r, &all->at_ms) != 0 || ctl_reply_text(r, "reason", "", &all->reason) != 0)
		return -1;
	rq->list = mem_zalloc(rq->n * sizeof(*rq->list));
	rq->ends = mem_zalloc(rq->n * sizeof(*rq->ends));
	for (size_t i = 0; i < rq->n; i++) {
		const char *name = rq->machines != NULL
					   ? json_string_value(json_array_get(rq->machines, i))
					   : all->instance;

		if (name == NULL)
			return ctl_reply_refuse(r, "invalid", "\"machines\": want strings in it");
		if (!plain_is(all->reason) || !plain_is(name))
			return ctl_reply_refuse(r, "invalid",
						"a control character in \"machine\" or \"reason\"");
		rq->list[i] = *all;
		rq->list[i].instance = name;
	}
	return 0;
}

/* "12 taken, 1 unknown" */
static void log_notices(struct ctl_reply *r, const struct notice_rq *rq, const char *failure)
{
	char about[64], outcome[120] = "";
	size_t counts[NRESULTS] = {0}, at = 0;

	for (size_t i = 0; i < rq->n; i++)
		counts[rq->ends[i].so]++;
	for (size_t k = 0; k < NRESULTS; k++)
		if (counts[k] > 0)
			at += (size_t)snprintf(outcome + at, sizeof(outcome) - at, "%s%zu %s",
					       at > 0 ? ", " : "", counts[k], results[k]);
	(void)snprintf(about, sizeof(about), "%zu machines", rq->n);
	log_it(r, "notice", rq->n > 1 ? about : rq->list[0].instance,
	       failure != NULL ? failure
	       : rq->n > 1     ? outcome
			       : results[rq->ends[0].so]);
}

static int put_notices(struct ctl_reply *r, const struct notice_rq *rq)
{
	if (rq->machines == NULL && rq->ends[0].so == ENGINE_NOTICE_UNKNOWN)
		return ctl_reply_refuse(r, "not-found",
					"no node and no instance of ours is named \"%.95s\"",
					rq->list[0].instance);
	if (rq->machines == NULL && rq->ends[0].so == ENGINE_NOTICE_SEVERAL)
		return ctl_reply_refuse(
			r, "invalid",
			"instances of several providers have the id \"%.95s\": name the node",
			rq->list[0].instance);
	if (rq->machines != NULL)
		jsonw_open(&r->w, "results", '[');
	for (size_t i = 0; i < rq->n; i++) {
		if (rq->machines != NULL) {
			jsonw_open(&r->w, NULL, '{');
			jsonw_text(&r->w, "machine", rq->list[i].instance);
		}
		jsonw_text(&r->w, "result", results[rq->ends[i].so]);
		jsonw_text(&r->w, "node", rq->ends[i].node);
		if (rq->machines != NULL)
			jsonw_close(&r->w, '}');
	}
	if (rq->machines != NULL)
		jsonw_close(&r->w, ']');
	return 0;
}

int ctl_order_notice(struct ctl_reply *r)
{
	struct notice_rq rq = {.n = 0};
	char who[CTL_BY_SIZE];
	int rc;

	rq.all.by = ctl_reply_by(who, r->who);
	rc = read_notice(r, &rq);
	if (rc == 0) {
		rc = engine_take_notices(r->api->engine, rq.list, rq.n, rq.ends, &r->err);
		log_notices(r, &rq, rc == 0 ? NULL : r->err.msg);
		if (rc == 0)
			rc = put_notices(r, &rq);
	}
	free(rq.list);
	free(rq.ends);
	return rc;
}

/* --- pools -------------------------------------------------------------------------------------
 */

static bool is_meant(const struct conf_pool *p, const char *pool)
{
	return pool[0] == '\0' || strcmp(p->name, pool) == 0;
}

/* Would the order change the pool?  A resume also closes its circuit. */
static bool changes(const struct engine *e, size_t i, bool paused)
{
	return paused ? !engine_paused(e, i) : engine_blocked(e, i) != NULL;
}

static void put_pools(struct ctl_reply *r, const char *key, const char *pool, bool paused,
		      bool changed)
{
	const struct conf *c = engine_conf(r->api->engine);

	jsonw_open(&r->w, key, '[');
	for (size_t i = 0; i < c->npools; i++)
		if (is_meant(&c->pools[i], pool) && changes(r->api->engine, i, paused) == changed)
			jsonw_text(&r->w, NULL, c->pools[i].name);
	jsonw_close(&r->w, ']');
}

static int set_paused(struct ctl_reply *r, bool paused, const char *what)
{
	const struct conf *c = engine_conf(r->api->engine);
	char who[CTL_BY_SIZE];
	const char *pool;
	int rc;

	if (ctl_reply_text(r, "pool", "", &pool) != 0)
		return -1;
	if (pool[0] != '\0' && conf_pool_named(c, pool) == NULL)
		return ctl_reply_refuse(r, "not-found", "no pool is named \"%.60s\"", pool);
	put_pools(r, "changed", pool, paused, true);
	put_pools(r, "unchanged", pool, paused, false);
	rc = engine_pause(r->api->engine, pool[0] != '\0' ? pool : NULL, paused,
			  ctl_reply_by(who, r->who), &r->err);
	log_it(r, what, pool[0] != '\0' ? pool : "all pools", rc == 0 ? "done" : r->err.msg);
	return rc;
}

int ctl_order_pause(struct ctl_reply *r)
{
	return set_paused(r, true, "pause asked for");
}

int ctl_order_resume(struct ctl_reply *r)
{
	return set_paused(r, false, "resume asked for");
}

/* --- places ------------------------------------------------------------------------------------
 */

static bool is_known(const struct conf *c, const char *what)
{
	for (size_t i = 0; i < c->nproviders; i++)
		if (strcmp(c->providers[i].name, what) == 0)
			return true;
	return conf_pool_named(c, what) != NULL;
}

/* Forget cooldowns, so that places are tried again: those of a pool, of a provider, or all. */
int ctl_order_retry(struct ctl_reply *r)
{
	char who[CTL_BY_SIZE];
	const char *what;
	size_t n;
	int rc;

	if (ctl_reply_text(r, "what", "", &what) != 0)
		return -1;
	if (what[0] != '\0' && !is_known(engine_conf(r->api->engine), what))
		return ctl_reply_refuse(r, "not-found",
					"no pool and no provider is named \"%.60s\"", what);
	rc = engine_retry(r->api->engine, what[0] != '\0' ? what : NULL, ctl_reply_by(who, r->who),
			  &n, &r->err);
	log_it(r, "retry asked for", what[0] != '\0' ? what : "all places",
	       rc == 0 ? "done" : r->err.msg);
	jsonw_int(&r->w, "places", (int64_t)n);
	return rc;
}
