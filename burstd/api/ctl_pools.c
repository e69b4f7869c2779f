/* "pools" and "plan": where nodes are bought, and where they would be.  Both change nothing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl_api.h"
#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "buy/buy_api.h"
#include "jobs/jobs_api.h"

enum { CODES_MAX = 16 }; /* of the jurisdictions of one job */

static const struct conf *conf_of(const struct ctl_reply *r)
{
	return engine_conf(r->api->engine);
}

static int no_such_pool(struct ctl_reply *r, const char *name)
{
	return ctl_reply_refuse(r, "not-found", "no pool is named \"%.60s\"", name);
}

/* --- a ladder ----------------------------------------------------------------------------------
 */

static const char *cause_word(const struct engine_rung *rung)
{
	return rung->limited ? "max-rate" : ladder_cause_str(rung->cause);
}

static const char *state_word(enum cooldown_state state)
{
	static const char *const words[] = {
		[COOLDOWN_READY] = "ready",     [COOLDOWN_HALF] = "half-open",
		[COOLDOWN_PROBING] = "probing", [COOLDOWN_CAPACITY] = "capacity",
		[COOLDOWN_FAILING] = "failing", [COOLDOWN_QUOTA] = "quota",
		[COOLDOWN_DENIED] = "denied",
	};

	return words[state];
}

/* "": it is not known, or there is none. */
static void put_price(struct ctl_reply *r, const char *key, int64_t nano)
{
	if (nano > 0)
		jsonw_money(&r->w, key, nano);
	else
		jsonw_text(&r->w, key, "");
}

static void put_said(struct ctl_reply *r, const struct engine_rung *rung)
{
	jsonw_open(&r->w, "refusals", '[');
	for (size_t i = 0; i < rung->nsaid; i++) {
		jsonw_open(&r->w, NULL, '{');
		ctl_reply_time(r, "at_ms", rung->said[i].at_ms);
		jsonw_text(&r->w, "reason", provider_code_str(rung->said[i].code));
		jsonw_int(&r->w, "nodes", rung->said[i].nodes);
		jsonw_text(&r->w, "words", rung->said[i].words);
		jsonw_close(&r->w, '}');
	}
	jsonw_close(&r->w, ']');
}

static void put_rung(struct ctl_reply *r, const struct engine_rung *rung)
{
	const struct conf_offer *o = rung->offer;

	jsonw_open(&r->w, NULL, '{');
	jsonw_text(&r->w, "offer", o->name);
	jsonw_text(&r->w, "provider", o->provider);
	jsonw_text(&r->w, "type", o->type);
	jsonw_text(&r->w, "region", o->region);
	jsonw_text(&r->w, "zone", o->zone);
	jsonw_text(&r->w, "market", provider_market_str((enum provider_market)o->market));
	jsonw_text(&r->w, "fabric", o->in_fabric != NULL ? o->in_fabric : "");
	put_price(r, "price", rung->price);
	jsonw_int(&r->w, "nodes", rung->nodes);
	jsonw_int(&r->w, "place", rung->place);
	jsonw_text(&r->w, "cause", cause_word(rung));
	jsonw_text(&r->w, "why", rung->why);
	jsonw_text(&r->w, "state", state_word(rung->cool.state));
	ctl_reply_time(r, "until_ms", rung->cool.until_ms);
	ctl_reply_terms(r, &rung->terms);
	put_said(r, rung);
	jsonw_close(&r->w, '}');
}

static void put_ladder(struct ctl_reply *r, const struct engine_ladder *l)
{
	jsonw_text(&r->w, "probes", l->probes != NULL ? l->probes : "");
	jsonw_bool(&r->w, "listed", l->listed);
	jsonw_int(&r->w, "others", l->others);
	jsonw_open(&r->w, "offers", '[');
	for (size_t i = 0; i < l->n; i++)
		put_rung(r, &l->rungs[i]);
	jsonw_close(&r->w, ']');
}

/* --- pools -------------------------------------------------------------------------------------
 */

static void put_rules(struct ctl_reply *r, const struct conf_pool *p)
{
	jsonw_text(&r->w, "policy", p->policy == CONF_CHEAPEST ? "cheapest" : "ordered");
	jsonw_text(&r->w, "gang", p->gang == CONF_BEST_EFFORT ? "best_effort" : "all_or_nothing");
	put_price(r, "max_price", p->max_price_nano_h);
	jsonw_int(&r->w, "spot_share", p->spot_share);
	jsonw_int(&r->w, "fallback_refusals", p->fallback_refusals);
	jsonw_int(&r->w, "fallback_ms", p->fallback_ms);
	jsonw_open(&r->w, "jurisdictions", '[');
	for (char **code = p->jurisdictions; code != NULL && *code != NULL; code++)
		jsonw_text(&r->w, NULL, *code);
	jsonw_close(&r->w, ']');
}

static void put_pool(struct ctl_reply *r, size_t i)
{
	const struct conf_pool *p = &conf_of(r)->pools[i];
	const struct fleet_pool *sums = &engine_fleet(r->api->engine)->pools[i];
	const char *blocked = engine_blocked(r->api->engine, i);
	struct engine_ladder l;

	engine_ladder(r->api->engine, i, &l);
	jsonw_open(&r->w, NULL, '{');
	jsonw_text(&r->w, "name", p->name);
	jsonw_bool(&r->w, "removed", p->removed);
	jsonw_int(&r->w, "names", (int64_t)p->nodes->n);
	jsonw_int(&r->w, "nodes", sums->nodes);
	jsonw_int(&r->w, "spot", sums->spot);
	jsonw_int(&r->w, "max_nodes", p->max_nodes);
	jsonw_money(&r->w, "rate", sums->rate_nano_h);
	jsonw_money(&r->w, "max_rate", p->max_rate_nano_h);
	put_rules(r, p);
	jsonw_bool(&r->w, "paused", engine_paused(r->api->engine, i));
	jsonw_text(&r->w, "blocked", blocked != NULL ? blocked : "");
	put_ladder(r, &l);
	jsonw_close(&r->w, '}');
}

static void put_cooldown(void *ctx, const struct cooldown_row *c)
{
	struct ctl_reply *r = ctx;
	struct ctl_row row = ctl_reply_row(r);

	jsonw_open(&r->w, NULL, '{');
	jsonw_text(&r->w, "reason", c->reason);
	jsonw_text(&r->w, "provider", c->provider);
	jsonw_text(&r->w, "place", c->place);
	jsonw_text(&r->w, "state", state_word(c->view.state));
	ctl_reply_time(r, "until_ms", c->view.until_ms);
	jsonw_int(&r->w, "times", c->times);
	jsonw_close(&r->w, '}');
	(void)ctl_reply_fits(r, row);
}

/* The pool of that name and no other, or those that follow `after`. */
static int first_pool(struct ctl_reply *r, const char *pool, const char *after, size_t *from)
{
	const char *name = pool[0] != '\0' ? pool : after;
	const struct conf_pool *p;

	*from = 0;
	if (name[0] == '\0')
		return 0;
	p = conf_pool_named(conf_of(r), name);
	if (p == NULL)
		return no_such_pool(r, name);
	*from = conf_pool_index(conf_of(r), p) + (pool[0] == '\0');
	return 0;
}

int ctl_show_pools(struct ctl_reply *r)
{
	size_t n = conf_of(r)->npools, from, at, end;
	const char *pool, *after;

	if (ctl_reply_text(r, "pool", "", &pool) != 0 ||
	    ctl_reply_text(r, "after", "", &after) != 0 || first_pool(r, pool, after, &from) != 0)
		return -1;
	ctl_reply_time(r, "now_ms", engine_now(r->api->engine));
	jsonw_text(&r->w, "currency", conf_of(r)->currency);
	end = pool[0] != '\0' ? from + 1 : n;
	jsonw_open(&r->w, "pools", '[');
	for (at = from; at < end && at - from < CTL_API_POOLS_MAX; at++) {
		struct ctl_row row = ctl_reply_row(r);

		put_pool(r, at);
		if (!ctl_reply_fits(r, row))
			break;
	}
	jsonw_close(&r->w, ']');
	jsonw_text(&r->w, "next", at > from && at < end ? conf_of(r)->pools[at - 1].name : "");
	if (at < end)
		return 0; /* with the last page */
	jsonw_open(&r->w, "cooldowns", '[');
	engine_cooldowns(r->api->engine, put_cooldown, r);
	jsonw_close(&r->w, ']');
	return 0;
}

/* --- plan --------------------------------------------------------------------------------------
 */

struct plan_rq {
	struct engine_plan_ask ask;
	const char *pool, *partition;
	char codes[CODES_MAX][4]; /* of jurisdictions */
	const char *wanted[CODES_MAX + 1];
};

/* "EU,CH" */
static int read_codes(struct ctl_reply *r, struct plan_rq *rq)
{
	const char *text;
	size_t n = 0;

	if (ctl_reply_text(r, "jurisdictions", "", &text) != 0)
		return -1;
	for (; *text != '\0'; text += text[0] == ',') {
		size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

		if (len < 2 || len >= sizeof(rq->codes[0]) || n == CODES_MAX ||
		    (text[len] != '\0' && text[len] != ','))
			return ctl_reply_refuse(r, "invalid",
						"\"jurisdictions\": want up to %d codes, such as "
						"EU,CH",
						CODES_MAX);
		memcpy(rq->codes[n], text, len);
		rq->wanted[n] = rq->codes[n];
		n++;
		text += len;
	}
	rq->ask.wish.jurisdictions = n > 0 ? rq->wanted : NULL;
	return 0;
}

static int read_wish(struct ctl_reply *r, struct plan_rq *rq)
{
	struct ladder_wish *w = &rq->ask.wish;
	const char *constraint, *price, *comment;
	struct err e = {0};

	if (ctl_reply_text(r, "constraint", "", &constraint) != 0 ||
	    ctl_reply_text(r, "comment", "", &comment) != 0 ||
	    ctl_reply_text(r, "max_price", "", &price) != 0 || read_codes(r, rq) != 0)
		return -1;
	rq->ask.comment = comment[0] != '\0' ? comment : NULL;
	w->constraint = constraint[0] != '\0' ? constraint : NULL;
	if (price[0] != '\0' && fmt_money_parse(price, &w->max_price_nano_h, &e) != 0)
		return ctl_reply_refuse(r, "invalid", "\"max_price\": %s", e.msg);
	return 0;
}

static int read_plan(struct ctl_reply *r, struct plan_rq *rq)
{
	const char *list;
	int64_t nodes;
	int given;

	if (ctl_reply_int(r, "nodes", HOSTLIST_NAMES_MAX, 1, &nodes) != 0 ||
	    ctl_reply_text(r, "list", "", &list) != 0 ||
	    ctl_reply_text(r, "pool", "", &rq->pool) != 0 ||
	    ctl_reply_text(r, "partition", "", &rq->partition) != 0 || read_wish(r, rq) != 0)
		return -1;
	given = (list[0] != '\0') + (rq->pool[0] != '\0') + (rq->partition[0] != '\0');
	if (given > 1)
		return ctl_reply_refuse(r, "invalid",
					"\"list\", \"pool\" and \"partition\": only one of them");
	if (nodes == 0)
		return ctl_reply_refuse(r, "invalid", "\"nodes\": want 1 or more");
	rq->ask.list = list[0] != '\0' ? list : NULL;
	rq->ask.nodes = (uint32_t)nodes;
	return 0;
}

static void put_part(struct ctl_reply *r, const struct engine_plan_pool *part)
{
	const struct conf_pool *p = &conf_of(r)->pools[part->pool];
	const struct fleet_pool *sums = &engine_fleet(r->api->engine)->pools[part->pool];
	const struct engine_rung *rung = part->rung >= 0 ? &part->ladder.rungs[part->rung] : NULL;
	uint32_t more = rung != NULL ? part->nodes : 0;
	int64_t total = rung != NULL ? rung->price * (int64_t)more : 0;

	jsonw_open(&r->w, NULL, '{');
	jsonw_text(&r->w, "name", p->name);
	jsonw_int(&r->w, "new", part->nodes);
	jsonw_int(&r->w, "units", part->units);
	jsonw_int(&r->w, "unit", p->unit);
	jsonw_text(&r->w, "offer", rung != NULL ? rung->offer->name : "");
	jsonw_int(&r->w, "place", rung != NULL ? rung->place : 0);
	put_price(r, "price", rung != NULL ? rung->price : 0);
	put_price(r, "total", total);
	jsonw_int(&r->w, "nodes", sums->nodes);
	jsonw_int(&r->w, "nodes_then", sums->nodes + more);
	jsonw_int(&r->w, "max_nodes", p->max_nodes);
	jsonw_money(&r->w, "rate", sums->rate_nano_h);
	jsonw_money(&r->w, "rate_then", sums->rate_nano_h + total);
	jsonw_money(&r->w, "max_rate", p->max_rate_nano_h);
	put_ladder(r, &part->ladder);
	jsonw_close(&r->w, '}');
}

static void put_plan(struct ctl_reply *r, const struct engine_plan *p)
{
	static const char *const words[] = {[PLAN_HAVE] = "have",
					    [PLAN_BUY] = "buy",
					    [PLAN_WAIT] = "wait",
					    [PLAN_REFUSE] = "refuse"};

	jsonw_open(&r->w, NULL, '{');
	jsonw_text(&r->w, "verdict", words[p->verdict]);
	jsonw_text(&r->w, "why", p->why);
	jsonw_text(&r->w, "note", p->note);
	jsonw_bool(&r->w, "no_offer", p->no_offer);
	ctl_reply_time(r, "again_ms", p->again_ms);
	jsonw_int(&r->w, "nodes", p->nodes);
	jsonw_int(&r->w, "have", p->have);
	jsonw_int(&r->w, "placed", p->placed);
	jsonw_int(&r->w, "hops", p->hops);
	jsonw_money(&r->w, "aside_job", p->aside_job);
	jsonw_money(&r->w, "aside_machines", p->aside_machines);
	jsonw_open(&r->w, "pools", '[');
	for (size_t i = 0; i < p->npools; i++)
		put_part(r, &p->pools[i]);
	jsonw_close(&r->w, ']');
	jsonw_close(&r->w, '}');
}

static int plan_one(struct ctl_reply *r, const struct engine_plan_ask *ask)
{
	struct engine_plan p;

	if (engine_plan(r->api->engine, ask, &p, &r->err) != 0)
		return ctl_reply_refuse(r, "invalid", "\"list\": %s", r->err.msg);
	put_plan(r, &p);
	engine_plan_fini(&p);
	return 0;
}

static int plan_list(struct ctl_reply *r, const struct plan_rq *rq)
{
	int rc;

	jsonw_open(&r->w, "plans", '[');
	rc = plan_one(r, &rq->ask);
	jsonw_close(&r->w, ']');
	return rc;
}

struct within {           /* nodes of partitions, in pools; partitions may overlap */
	struct map names; /* of these lists */
	struct hostlist **lists;
	size_t nlists, known; /* known: partitions that slurmctld has shown */
	bool *meant;          /* by pool: it has some of them; borrowed */
};

static void within_fini(struct within *in)
{
	map_fini(&in->names);
	for (size_t i = 0; i < in->nlists; i++)
		hostlist_free(in->lists[i]);
	free(in->lists);
}

static void take_list(struct ctl_reply *r, struct within *in, struct hostlist *h)
{
	in->lists = mem_realloc(in->lists, (in->nlists + 1) * sizeof(struct hostlist *));
	in->lists[in->nlists++] = h;
	for (size_t i = 0; i < h->n; i++) {
		const struct conf_pool *p = conf_pool_of(conf_of(r), h->names[i]);

		if (p == NULL)
			continue;
		in->meant[conf_pool_index(conf_of(r), p)] = true;
		map_put(&in->names, h->names[i], h);
	}
}

/* The nodes of a partition; one that slurmctld has not shown has none. */
static int add_partition(struct ctl_reply *r, struct within *in, const char *name)
{
	char *list = engine_partition(r->api->engine, name);
	struct hostlist *h;
	struct err e;
	int rc = 0;

	if (list == NULL)
		return 0;
	if (hostlist_parse(&h, list, strlen(list), &e) == 0)
		take_list(r, in, h);
	else
		rc = ctl_reply_refuse(r, "failed", "the nodes of partition %.60s: %s", name, e.msg);
	in->known++;
	free(list);
	return rc;
}

static int add_partitions(struct ctl_reply *r, struct within *in, const char *partitions)
{
	char *names = mem_strdup(partitions), *at = NULL;
	int rc = 0;

	for (char *name = strtok_r(names, ",", &at); name != NULL && rc == 0;
	     name = strtok_r(NULL, ",", &at))
		rc = add_partition(r, in, name);
	free(names);
	return rc;
}

/* A plan for each pool that is meant: they are alternatives. */
static int plan_each(struct ctl_reply *r, struct engine_plan_ask *ask, const bool *meant)
{
	int64_t n = 0, left_out = 0;
	int rc = 0;

	jsonw_open(&r->w, "plans", '[');
	for (uint32_t i = 0; rc == 0 && i < conf_of(r)->npools; i++) {
		if (!meant[i])
			continue;
		if (n == CTL_API_PLANS_MAX) {
			left_out++;
			continue;
		}
		ask->pool = i;
		rc = plan_one(r, ask);
		n++;
	}
	jsonw_close(&r->w, ']');
	jsonw_int(&r->w, "left_out", left_out);
	return rc == 0 && n == 0
		       ? ctl_reply_refuse(r, "not-found", "no pool has a node of that partition")
		       : rc;
}

static int plan_partition(struct ctl_reply *r, struct plan_rq *rq, bool *meant)
{
	struct within in = {.meant = meant};
	int rc = add_partitions(r, &in, rq->partition);

	rq->ask.within = &in.names;
	if (in.known == 0)
		rc = ctl_reply_refuse(r, "not-found",
				      "slurmctld showed no partition \"%.60s\" when it was last "
				      "asked, a minute ago at most",
				      rq->partition);
	else if (rc == 0)
		rc = plan_each(r, &rq->ask, meant);
	rq->ask.within = NULL;
	within_fini(&in);
	return rc;
}

static int plan_pools(struct ctl_reply *r, struct plan_rq *rq, bool *meant)
{
	const struct conf_pool *p = conf_pool_named(conf_of(r), rq->pool);

	if (rq->partition[0] != '\0')
		return plan_partition(r, rq, meant);
	if (rq->pool[0] != '\0' && (p == NULL || p->removed))
		return no_such_pool(r, rq->pool);
	for (size_t i = 0; i < conf_of(r)->npools; i++)
		meant[i] = (rq->pool[0] == '\0' && !conf_of(r)->pools[i].removed) ||
			   p == &conf_of(r)->pools[i];
	return plan_each(r, &rq->ask, meant);
}

/* --- of an existing job --- */

static const char *or_empty(const char *text)
{
	return text != NULL ? text : "";
}

static void put_job(struct ctl_reply *r, const struct engine_job *j)
{
	jsonw_open(&r->w, "job", '{');
	jsonw_text(&r->w, "id", j->id);
	jsonw_text(&r->w, "state", or_empty(j->state));
	jsonw_text(&r->w, "reason", or_empty(j->reason));
	jsonw_text(&r->w, "partition", or_empty(j->partition));
	if (j->payer != NULL) {
		jsonw_text(&r->w, "account", j->payer->account);
		jsonw_int(&r->w, "limit_ms",
			  j->payer->limit_s >= 0 ? 1000 * j->payer->limit_s : -1);
	}
	jsonw_int(&r->w, "nodes", j->count);
	jsonw_text(&r->w, "list", or_empty(j->nodes));
	jsonw_text(&r->w, "constraint", or_empty(j->constraint));
	jsonw_int(&r->w, "refusals", j->refusals);
	ctl_reply_time(r, "until_ms", j->until_ms);
	jsonw_int(&r->w, "others", j->others);
	jsonw_close(&r->w, '}');
}

static int plan_anywhere(struct ctl_reply *r, struct plan_rq *rq, bool *meant)
{
	const struct engine_job *j = r->job;
	struct within in = {.meant = meant};
	int rc = add_partitions(r, &in, or_empty(j->partition));

	rq->ask.within = &in.names;
	if (in.known == 0)
		rc = ctl_reply_refuse(r, "failed",
				      "slurmctld has not shown the nodes of partition %.60s of "
				      "job %s yet: ask again in a minute",
				      or_empty(j->partition), j->id);
	else if (rc == 0 && in.names.n == 0)
		rc = ctl_reply_refuse(r, "not-found",
				      "no pool has a node of partition %.60s: burstd buys nothing "
				      "for job %s",
				      or_empty(j->partition), j->id);
	else if (rc == 0)
		rc = plan_each(r, &rq->ask, meant);
	within_fini(&in);
	return rc;
}

/* Plan for a job as squeue shows it; without r->job squeue must be asked first. */
static int plan_job(struct ctl_reply *r, struct plan_rq *rq, const char *id, bool *meant)
{
	static const char *const own[] = {"pool",       "partition",     "list",      "nodes",
					  "constraint", "jurisdictions", "max_price", "comment"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (json_object_get(r->args, own[i]) != NULL)
			return ctl_reply_refuse(r, "invalid",
						"\"job\": cannot be combined with \"%s\"", own[i]);
	if (r->no_job != NULL)
		return ctl_reply_refuse(r, r->no_job->code == ERR_INVALID ? "not-found" : "failed",
					"%s", r->no_job->msg);
	if (r->job == NULL && !slurm_job_is_id(id))
		return ctl_reply_refuse(r, "invalid",
					"\"job\": want the id of one job, such as 7, 7_2 or 7+1");
	if (r->job == NULL) {
		(void)snprintf(r->about, sizeof(r->about), "%s", id);
		return 0;
	}
	put_job(r, r->job);
	rq->ask = (struct engine_plan_ask){.list = r->job->nodes,
					   .nodes = r->job->count,
					   .without = r->job->without,
					   .job = r->job};
	if (rq->ask.list == NULL)
		return plan_anywhere(r, rq, meant);
	return plan_list(r, rq);
}

int ctl_show_plan(struct ctl_reply *r)
{
	struct plan_rq rq = {.pool = ""};
	const char *job;
	bool *meant;
	int rc;

	if (read_plan(r, &rq) != 0 || ctl_reply_text(r, "job", "", &job) != 0)
		return -1;
	ctl_reply_time(r, "now_ms", engine_now(r->api->engine));
	jsonw_text(&r->w, "currency", conf_of(r)->currency);
	if (job[0] == '\0' && conf_of(r)->nbudgets > 0)
		jsonw_bool(&r->w, "budgets_left_out", true);
	meant = mem_zalloc((conf_of(r)->npools + 1) * sizeof(*meant));
	if (job[0] != '\0')
		rc = plan_job(r, &rq, job, meant);
	else if (rq.ask.list != NULL)
		rc = plan_list(r, &rq);
	else
		rc = plan_pools(r, &rq, meant);
	free(meant);
	return rc;
}
