/* The requests that look and change nothing. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl_api.h"
#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "api/explain.h"
#include "base/clamp.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "buy/buy_api.h"
#include "cloud/cloud_api.h"
#include "core/claim.h"
#include "core/hops.h"
#include "core/pace.h"
#include "core/unit.h"
#include "jobs/jobs_api.h"
#include "keys/keys_api.h"
#include "store/journal_usage.h"

enum {
	WHY_MAX = 1024,
	SLURM_STATE_MAX = 256,
};

static const struct fleet *fleet_of(const struct ctl_reply *r)
{
	return engine_fleet(r->api->engine);
}

static const struct conf *conf_of(const struct ctl_reply *r)
{
	return engine_conf(r->api->engine);
}

/* --- status --------------------------------------------------------------------------------------
 */

static void put_source(struct ctl_reply *r, const struct engine_source *src)
{
	jsonw_bool(&r->w, "ok", src->ok_ms != 0 && src->error[0] == '\0');
	ctl_reply_time(r, "ok_ms", src->ok_ms);
	ctl_reply_time(r, "failed_ms", src->failed_ms);
	jsonw_text(&r->w, "error", src->error);
}

/* Requests in a second; "": nothing limits them. */
static void put_rate(struct ctl_reply *r, const char *key, int64_t rate)
{
	if (rate > 0)
		jsonw_money(&r->w, key, rate * (FMT_NANO / PACE_UNIT));
	else
		jsonw_text(&r->w, key, "");
}

static void put_flow(struct ctl_reply *r, size_t provider, enum provider_op_kind kind)
{
	const struct engine_flow f = engine_flow(r->api->engine, provider, kind);

	jsonw_open(&r->w, NULL, '{');
	jsonw_text(&r->w, "operation", provider_op_str(kind));
	put_rate(r, "allowed", f.limit.allowed);
	jsonw_text(&r->w, "allowed_by", limit_by_str(f.limit.by));
	put_rate(r, "allowed_instances", f.limit.instances);
	ctl_reply_time(r, "paused_until_ms", f.limit.until_ms);
	jsonw_int(&r->w, "sent", (int64_t)f.sent);
	jsonw_int(&r->w, "throttled", (int64_t)f.throttled);
	ctl_reply_time(r, "throttled_ms", f.limit.throttled_ms);
	jsonw_int(&r->w, "queued", (int64_t)f.queued);
	ctl_reply_time(r, "oldest_ms", f.oldest_ms);
	jsonw_close(&r->w, '}');
}

static void put_sources(struct ctl_reply *r)
{
	struct engine_source slurm = engine_slurm_source(r->api->engine);
	const struct conf *c = conf_of(r);
	int64_t rate;

	jsonw_open(&r->w, "slurm", '{');
	put_source(r, &slurm);
	jsonw_close(&r->w, '}');
	jsonw_open(&r->w, "providers", '[');
	for (size_t i = 0; i < c->nproviders; i++) {
		struct engine_source src = engine_provider_source(r->api->engine, i);

		jsonw_open(&r->w, NULL, '{');
		jsonw_text(&r->w, "name", c->providers[i].name);
		jsonw_text(&r->w, "driver", c->providers[i].driver);
		jsonw_bool(&r->w, "off", engine_off(r->api->engine, i) != NULL);
		jsonw_int(&r->w, "nodes", explain_nodes_at(r->api->engine, i, &rate));
		put_source(r, &src);
		jsonw_open(&r->w, "requests", '[');
		for (int k = 0; k < PROVIDER_NOPS; k++)
			put_flow(r, i, (enum provider_op_kind)k);
		jsonw_close(&r->w, ']');
		jsonw_close(&r->w, '}');
	}
	jsonw_close(&r->w, ']');
}

static void put_states(struct ctl_reply *r, const struct fleet_pool *sums)
{
	jsonw_open(&r->w, "states", '{');
	for (int s = 0; s < NODE_NSTATES; s++)
		if (s != NODE_GONE && sums->count[s] > 0)
			jsonw_int(&r->w, node_state_str((enum node_state)s), sums->count[s]);
	jsonw_close(&r->w, '}');
}

/* Only for pools with warm nodes, or with a billing quantum. */
static void put_warm(struct ctl_reply *r, size_t i)
{
	const struct engine_warm w = engine_warm(r->api->engine, i);

	if (w.wanted > 0) {
		jsonw_int(&r->w, "warm_wanted", w.wanted);
		jsonw_int(&r->w, "warm", w.up);
		jsonw_int(&r->w, "warm_coming", w.coming);
	}
	if (conf_of(r)->pools[i].quantum_ms > 0)
		jsonw_int(&r->w, "paid", w.paid);
}

static void put_pool(struct ctl_reply *r, size_t i)
{
	const struct conf_pool *p = &conf_of(r)->pools[i];
	const struct fleet_pool *sums = &fleet_of(r)->pools[i];
	const char *blocked = engine_blocked(r->api->engine, i);
	bool paused = engine_paused(r->api->engine, i);
	int64_t since_ms;
	const char *by = engine_paused_by(r->api->engine, i, &since_ms);

	jsonw_open(&r->w, NULL, '{');
	jsonw_text(&r->w, "name", p->name);
	jsonw_bool(&r->w, "removed", p->removed);
	jsonw_text(&r->w, "provider", p->provider);
	jsonw_text(&r->w, "type", p->type);
	jsonw_bool(&r->w, "spot", p->spot);
	put_states(r, sums);
	jsonw_int(&r->w, "names", (int64_t)p->nodes->n);
	jsonw_int(&r->w, "nodes", sums->nodes);
	jsonw_int(&r->w, "max_nodes", p->max_nodes);
	jsonw_money(&r->w, "rate", sums->rate_nano_h);
	jsonw_money(&r->w, "max_rate", p->max_rate_nano_h);
	jsonw_money(&r->w, "spent", engine_spent(r->api->engine, i));
	jsonw_bool(&r->w, "paused", paused);
	jsonw_text(&r->w, "paused_by", by);
	ctl_reply_time(r, "paused_ms", since_ms);
	jsonw_text(&r->w, "blocked", blocked != NULL && !paused ? blocked : "");
	put_warm(r, i);
	jsonw_close(&r->w, '}');
}

/* Left out while it is not known: an empty list would say that all is well. */
static void put_slurm_conf(struct ctl_reply *r)
{
	const struct slurm_report *report = engine_prereq(r->api->engine);

	if (report == NULL)
		return;
	jsonw_open(&r->w, "slurm_conf", '[');
	for (size_t i = 0; i < report->n; i++)
		explain_put_slurm_problem(&r->w, &report->problems[i]);
	jsonw_close(&r->w, ']');
}

/* Only where nodes get their keys from us. */
static void put_claims(struct ctl_reply *r)
{
	size_t n[CLAIM_NSTATES], weak;

	if (engine_door_counters(r->api->engine) == NULL)
		return;
	weak = engine_claims(r->api->engine, n);
	jsonw_open(&r->w, "claims", '{');
	for (int i = 0; i < CLAIM_NSTATES; i++)
		if (n[i] > 0)
			jsonw_int(&r->w, claim_state_str((enum claim_state)i), (int64_t)n[i]);
	jsonw_int(&r->w, "weak", (int64_t)weak);
	jsonw_close(&r->w, '}');
}

static void put_problem(void *ctx, const char *sentence)
{
	struct ctl_reply *r = ctx;

	jsonw_text(&r->w, NULL, sentence);
}

/* Comes last: the other problems are about what burstd is for. */
static void put_unscraped(struct ctl_reply *r)
{
	char text[512];

	if (r->api->unscraped == NULL)
		return;
	(void)snprintf(text, sizeof(text),
		       "/metrics is not served: %s; tried again each few seconds; until then "
		       "whatever answers there is not burstd",
		       r->api->unscraped);
	put_problem(r, text);
}

static void put_spool_full(struct ctl_reply *r)
{
	if (r->api->spool_full)
		put_problem(r, "calls of slurmctld may be lost: the disk of the spool is full, and "
			       "burstd releases its reserve for them");
}

static void put_spool(struct ctl_reply *r)
{
	const char *note;
	struct err e = {0};

	(void)engine_spool(r->api->engine, &note, &e);
	jsonw_open(&r->w, "spool", '{');
	jsonw_text(&r->w, "error", e.msg);
	jsonw_text(&r->w, "note", note != NULL ? note : "");
	jsonw_close(&r->w, '}');
}

int ctl_show_status(struct ctl_reply *r)
{
	const struct engine *e = r->api->engine;

	jsonw_text(&r->w, "cluster", conf_of(r)->cluster);
	jsonw_text(&r->w, "version", BURSTD_VERSION);
	ctl_reply_time(r, "now_ms", engine_now(e));
	jsonw_int(&r->w, "uptime_ms", engine_now(e) - engine_started_ms(e));
	jsonw_text(&r->w, "currency", conf_of(r)->currency);
	put_sources(r);
	put_spool(r);
	ctl_secrets_put(r);
	put_claims(r);
	jsonw_open(&r->w, "pools", '[');
	for (size_t i = 0; i < conf_of(r)->npools && i < fleet_of(r)->npools; i++)
		put_pool(r, i);
	jsonw_close(&r->w, ']');
	jsonw_open(&r->w, "problems", '[');
	explain_problems(e, put_problem, r);
	if (ctl_is(r->who, CTL_SEES_BUDGETS)) {
		explain_budgets(e, put_problem, r);
		explain_overrides(e, put_problem, r);
		explain_alerts(e, put_problem, r);
	}
	put_spool_full(r);
	put_unscraped(r);
	jsonw_close(&r->w, ']');
	put_slurm_conf(r);
	return 0;
}

/* --- nodes ---------------------------------------------------------------------------------------
 */

static const char *pool_of(const struct ctl_reply *r, const char *name, const struct fleet_name *nm)
{
	const struct conf *c = conf_of(r);
	const struct conf_pool *p = conf_pool_of(c, name);

	if (p != NULL)
		return p->name;
	return nm != NULL && nm->pool < c->npools ? c->pools[nm->pool].name : "";
}

static unsigned older_alive(const struct fleet_node *fn)
{
	unsigned n = 0;

	for (fn = fn != NULL ? fn->older : NULL; fn != NULL; fn = fn->older)
		n += fn->n.state != NODE_GONE;
	return n;
}

/* Only of those that get their keys from us. */
static void put_boot(struct ctl_reply *r, const struct node *n)
{
	struct engine_boot b;

	if (n->name[0] == '\0' || !engine_boot(r->api->engine, n->name, n->gen, &b))
		return;
	jsonw_open(&r->w, "boot", '{');
	jsonw_text(&r->w, "claim", b.claim);
	jsonw_text(&r->w, "claim_why", b.why);
	ctl_reply_time(r, "claim_ms", b.since_ms);
	jsonw_text(&r->w, "attest", b.unproved ? "none" : b.weak ? "weak" : "");
	jsonw_int(&r->w, "key_version", b.key_version);
	jsonw_bool(&r->w, "old_keys", b.old_keys);
	jsonw_bool(&r->w, "faulty", b.faulty);
	ctl_reply_time(r, "heartbeat_ms", b.heartbeat_ms);
	ctl_reply_time(r, "ready_ms", b.ready_ms);
	jsonw_int(&r->w, "took_ms", b.boot_ms);
	jsonw_int(&r->w, "cert_until_ms", b.cert_until_ms);
	jsonw_close(&r->w, '}');
}

/* The fields of a row of "nodes"; nm may be NULL. */
static void put_node(struct ctl_reply *r, const char *name, const struct fleet_name *nm)
{
	static const struct node never = {.since_ms = 0};
	const struct fleet_node *newest = nm != NULL ? nm->newest : NULL;
	const struct node *n = newest != NULL ? &newest->n : &never;
	char slurm[SLURM_STATE_MAX];

	jsonw_text(&r->w, "name", name);
	jsonw_int(&r->w, "generation", (int64_t)n->gen);
	jsonw_text(&r->w, "state", newest != NULL ? node_state_str(n->state) : "none");
	jsonw_text(&r->w, "pool", pool_of(r, name, nm));
	jsonw_text(&r->w, "instance", n->instance);
	jsonw_text(&r->w, "image", n->image);
	jsonw_text(&r->w, "address", n->addr);
	ctl_reply_time(r, "since_ms", n->since_ms);
	jsonw_money(&r->w, "rate", newest != NULL && node_counts(n) ? n->rate_nano_h : 0);
	jsonw_text(&r->w, "reason", node_reason_str(n->reason));
	jsonw_text(&r->w, "reason_text", newest != NULL ? fleet_why(newest, n) : "");
	jsonw_text(&r->w, "told", explain_told(r->api->engine, nm));
	jsonw_text(&r->w, "refused",
		   node_reason_str(nm != NULL && fleet_live(nm) == NULL ? nm->refused
									: NODE_BECAUSE_NONE));
	jsonw_int(&r->w, "older", older_alive(newest));
	jsonw_int(&r->w, "job", newest != NULL && node_counts(n) ? (int64_t)n->job : 0);
	jsonw_text(&r->w, "slurm", engine_slurm_state(r->api->engine, name, slurm, sizeof(slurm)));
	put_boot(r, n);
}

/* The index of the first node after this name. */
static size_t first_after(struct fleet_name *const *all, size_t n, const char *after)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strverscmp(all[mid]->name, after) > 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

int ctl_show_nodes(struct ctl_reply *r)
{
	size_t n = fleet_of(r)->nall, most, from, at;
	struct fleet_name *const *all;
	const char *after;
	int64_t limit;

	if (ctl_reply_text(r, "after", "", &after) != 0 ||
	    ctl_reply_int(r, "limit", CTL_API_NODES_MAX, 0, &limit) != 0)
		return -1;
	most = ctl_is(r->who, CTL_SEES_LONG_PAGES) ? CTL_API_NODES_MAX : CTL_API_VIEWER_NODES;
	if (limit > 0 && (size_t)limit < most)
		most = (size_t)limit;
	all = engine_sorted(r->api->engine);
	from = first_after(all, n, after);
	ctl_reply_time(r, "now_ms", engine_now(r->api->engine));
	jsonw_text(&r->w, "currency", conf_of(r)->currency);
	jsonw_open(&r->w, "nodes", '[');
	for (at = from; at < n && at - from < most; at++) {
		struct ctl_row row = ctl_reply_row(r);

		jsonw_open(&r->w, NULL, '{');
		put_node(r, all[at]->name, all[at]);
		jsonw_close(&r->w, '}');
		if (!ctl_reply_fits(r, row))
			break;
	}
	jsonw_close(&r->w, ']');
	jsonw_text(&r->w, "next", at > from && at < n ? all[at - 1]->name : "");
	return 0;
}

/* --- node ----------------------------------------------------------------------------------------
 */

/* 0: it has not ended, or is there again. */
static int64_t end_of(const struct node *n)
{
	return node_counts(n) ? 0 : n->end_ms;
}

static int64_t cost_of(const struct node *n, int64_t now)
{
	int64_t end = end_of(n) != 0 ? end_of(n) : now;

	return n->start_ms != 0 && end > n->start_ms ? fmt_cost(end - n->start_ms, n->rate_nano_h)
						     : 0;
}

static void put_generation(struct ctl_reply *r, const struct fleet_node *fn)
{
	const struct node *n = &fn->n;

	jsonw_open(&r->w, NULL, '{');
	jsonw_int(&r->w, "generation", (int64_t)n->gen);
	jsonw_text(&r->w, "state", node_state_str(n->state));
	jsonw_text(&r->w, "reason", node_reason_str(n->reason));
	jsonw_text(&r->w, "reason_text", fleet_why(fn, n));
	jsonw_text(&r->w, "instance", n->instance);
	jsonw_text(&r->w, "image", n->image);
	jsonw_text(&r->w, "address", n->addr);
	ctl_reply_time(r, "wanted_ms", n->wanted_ms);
	ctl_reply_time(r, "since_ms", n->since_ms);
	ctl_reply_time(r, "sent_ms", n->sent_ms);
	ctl_reply_time(r, "start_ms", n->start_ms);
	ctl_reply_time(r, "end_ms", end_of(n));
	jsonw_int(&r->w, "attempts", n->attempts);
	jsonw_int(&r->w, "batch", (int64_t)n->batch);
	jsonw_int(&r->w, "job", (int64_t)n->job);
	jsonw_money(&r->w, "rate", n->rate_nano_h);
	jsonw_money(&r->w, "cost", cost_of(n, engine_now(r->api->engine)));
	jsonw_close(&r->w, '}');
}

struct bills { /* of one node */
	struct ctl_reply *r;
	const struct fleet_name *nm; /* or NULL */
	unsigned shown;
	int64_t left_out, left_out_nano;
};

/* Is the bill for a row that is shown already? */
static bool is_shown(const struct bills *b, const struct journal_usage *u)
{
	const struct fleet_node *fn = b->nm != NULL ? fleet_gen(b->nm, u->gen) : NULL;

	return fn != NULL && strcmp(fn->n.instance, u->instance) == 0;
}

static int put_bill(void *ctx, const struct journal_usage *u)
{
	struct bills *b = ctx;
	struct jsonw *w = &b->r->w;

	if (is_shown(b, u))
		return 0;
	if (b->shown >= CTL_API_GENERATIONS_MAX) {
		b->left_out++;
		b->left_out_nano = clamp_add(b->left_out_nano, u->cost_nano);
		return 0;
	}
	b->shown++;
	jsonw_open(w, NULL, '{');
	jsonw_int(w, "generation", (int64_t)u->gen);
	jsonw_text(w, "state", node_state_str(NODE_GONE));
	jsonw_text(w, "pool", u->pool);
	jsonw_text(w, "instance", u->instance);
	ctl_reply_time(b->r, "start_ms", u->start_ms);
	ctl_reply_time(b->r, "end_ms", u->end_ms);
	jsonw_money(w, "rate", u->rate_nano_h);
	jsonw_money(w, "cost", u->cost_nano);
	jsonw_close(w, '}');
	return 0;
}

/* Show the rows in memory, then those of which only bills are left. */
static int put_generations(struct ctl_reply *r, const char *name, const struct fleet_name *nm)
{
	struct bills b = {.r = r, .nm = nm};
	int rc;

	jsonw_open(&r->w, "generations", '[');
	for (const struct fleet_node *fn = nm != NULL ? nm->newest : NULL;
	     fn != NULL && b.shown < CTL_API_GENERATIONS_MAX; fn = fn->older, b.shown++)
		put_generation(r, fn);
	rc = journal_usages(r->api->journal, name, put_bill, &b, &r->err);
	jsonw_close(&r->w, ']');
	jsonw_int(&r->w, "left_out", b.left_out);
	jsonw_money(&r->w, "left_out_cost", b.left_out_nano);
	return rc;
}

static int any_bill(void *ctx, const struct journal_usage *u)
{
	(void)u;
	*(bool *)ctx = true;
	return -1;
}

/* Was a node of this name paid for, though no pool names it now? */
static bool was_bought(const struct ctl_reply *r, const char *name)
{
	bool any = false;

	return journal_usages(r->api->journal, name, any_bill, &any, NULL) == 0 && any;
}

static void put_console(struct ctl_reply *r, const char *name)
{
	struct engine_console c;

	if (!ctl_is(r->who, CTL_SEES_CONSOLES) || !engine_console(r->api->engine, name, &c))
		return;
	jsonw_open(&r->w, "console", '{');
	jsonw_int(&r->w, "generation", (int64_t)c.gen);
	jsonw_text(&r->w, "instance", c.instance);
	ctl_reply_time(r, "at_ms", c.at_ms);
	jsonw_text(&r->w, "text", c.text);
	jsonw_close(&r->w, '}');
}

/* Where its machine is, or would be: its placement unit (0: none), and a fabric that it is in. */
static void put_fabric(struct ctl_reply *r, const char *name, const struct fleet_name *nm)
{
	const struct conf_pool *p = conf_pool_of(conf_of(r), name);
	char fabric[PROVIDER_WORD_MAX + 1] = "";

	if (nm != NULL && nm->newest != NULL && node_counts(&nm->newest->n))
		(void)engine_fabric(r->api->engine, &nm->newest->n, fabric);
	jsonw_int(&r->w, "unit", p != NULL ? unit_of(p, name) : 0);
	jsonw_text(&r->w, "fabric", fabric);
}

/* How far from each other the machines are that were bought for the same job and are up, once the
 * provider has said where at least two of them are. */
static void put_hops(struct ctl_reply *r, const struct node *n)
{
	struct hops h = {.first = NULL};

	for (const struct fleet_node *fn = fleet_of(r)->states[NODE_READY]; fn != NULL;
	     fn = fn->state_next)
		if (fn->n.job == n->job)
			hops_add(&h, fn->path);
	if (n->job == 0 || h.known < 2)
		return;
	jsonw_int(&r->w, "job_hops", hops_of(&h));
	jsonw_int(&r->w, "job_placed", (int64_t)h.known);
	jsonw_int(&r->w, "job_unplaced", (int64_t)h.unknown);
}

/* Where its machine is by its provider's word. */
static void put_path(struct ctl_reply *r, const struct fleet_name *nm)
{
	const struct fleet_node *fn = nm != NULL ? nm->newest : NULL;

	if (fn == NULL || !node_counts(&fn->n))
		return;
	jsonw_text(&r->w, "path", fn->path != NULL ? fn->path : "");
	put_hops(r, &fn->n);
}

int ctl_show_node(struct ctl_reply *r)
{
	const struct fleet_name *nm;
	struct str why;
	const char *name;

	if (ctl_reply_text(r, "name", NULL, &name) != 0)
		return -1;
	nm = fleet_find(fleet_of(r), name);
	if (nm == NULL && conf_pool_of(conf_of(r), name) == NULL && !was_bought(r, name))
		return ctl_events_stranger(r, name);
	ctl_reply_time(r, "now_ms", engine_now(r->api->engine));
	jsonw_text(&r->w, "currency", conf_of(r)->currency);
	put_node(r, name, nm);
	str_init(&why, WHY_MAX);
	explain_node(&why, r->api->engine, nm);
	put_fabric(r, name, nm);
	put_path(r, nm);
	jsonw_text(&r->w, "why", why.p);
	str_fini(&why);
	put_console(r, name);
	if (put_generations(r, name, nm) != 0)
		return -1;
	return ctl_events_of_node(r, name, CTL_API_NODE_EVENTS);
}
