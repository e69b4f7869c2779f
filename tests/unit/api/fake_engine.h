/* fake_engine.h - an engine that holds what a test puts there and records what it is asked; its
 * journal is fake_journal.h.
 *
 * The test includes it instead of linking the real ones: no member of their archives is pulled in
 * as long as every symbol they would bring is defined here. */
#ifndef BURSTD_TEST_FAKE_ENGINE_H
#define BURSTD_TEST_FAKE_ENGINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "buy/buy_api.h"
#include "cloud/cloud_api.h"
#include "core/claim.h"
#include "engine/engine.h"
#include "fake_journal.h"
#include "jobs/jobs_api.h"
#include "keys/keys_api.h"
#include "parts/parts.h"

struct engine {
	struct conf *conf;
	int64_t later_ms; /* later than FAKE_NOW by this */
	struct fleet fleet;
	struct engine_source slurm, provider;
	struct engine_secrets secrets; /* driver NULL: there is no store */
	char enroll_token[64];         /* the last one; "-" is refused */
	const char *token_wait, *door_off, *init_off;
	struct engine_boot boot;           /* of every node; claim NULL: they have none */
	struct engine_door_counters *door; /* NULL: nodes do not talk to us */
	struct engine_rotation rotation;
	struct engine_rotate_ask rotate_ask; /* the last */
	char rotate_credential[64];          /* ... and its credential */
	struct engine_counters counters;
	struct engine_breaches breaches;
	int64_t price; /* of every pool */
	struct journal_room room;
	const char *const *unreadable;      /* ids, NULL-terminated; NULL: none */
	const char *like, *undeleted, *off; /* off: of every provider; NULL: it is on */
	int64_t undeleted_ms, unheard_ms, ahead_ms;
	int64_t away_ms[2]; /* since when, for each provider */
	int64_t of_wall_ms; /* by this the engine's time is ahead of the wall clock */
	size_t undropped;   /* number of fabrics */
	size_t nstrays;     /* number of strays: i-0, i-1 ... */
	int64_t tried_ms;   /* of all strays but the first, which is young */
	bool leaves;        /* the second stray is stopping */
	bool stray_up;      /* slurmctld has the strays' node up */
	size_t npostponed;
	struct engine_postponed postponed; /* the soonest */
	unsigned reconciles;
	struct slurm_report *prereq; /* NULL: not known */
	const char *prereq_error;    /* NULL: none */
	bool paused[4];              /* pools */
	const char *paused_by;       /* NULL: not known */
	const char *closed[4];       /* why; NULL: it is not */
	struct engine_losses losses; /* of every pool */
	struct engine_warm warm[4];
	struct engine_request order; /* the last one; its texts are below */
	char order_nodes[256], order_by[64];
	unsigned orders, pauses; /* not counting requests that only look */
	bool broken;             /* the journal fails */
	size_t rung; /* this rung of all pools has nothing to sell; `why` NULL: all rungs have */
	const char *why;
	const char *passed;      /* why the first rung tried is passed over; NULL: it is not */
	struct engine_plan plan; /* the next plan; its one pool is below */
	struct engine_plan_pool plan_pool;
	struct engine_plan_ask plan_ask; /* the last one; its texts are below */
	char plan_list[64], plan_within[64], plan_wish[64], plan_without[64];
	unsigned plans;
	const char *partition, *all; /* the nodes of "gpu" and "all"; NULL: there is none */
	char retried[64];
	struct gate *gates;                   /* open; the newest first */
	struct engine_query *query;           /* the only one; NULL: none */
	const char *spool_error, *spool_note; /* NULL: there is none */
	struct engine_notice notice;          /* the last one; its texts are below */
	size_t notices;                       /* how many came in that call */
	char notice_text[256];
	enum engine_noticed noticed; /* the verdict on it */
	int64_t force_ms;            /* of every node */
	size_t ntaken;
	struct engine_taken lost; /* each lost job */
};

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

const char *engine_undeleted(const struct engine *e, size_t provider, int64_t *failed_ms)
{
	assert_true(provider < e->conf->nproviders);
	*failed_ms = e->undeleted_ms;
	return e->undeleted;
}

const char *engine_like_type(const struct engine *e, size_t provider, const char *type)
{
	assert_true(provider < e->conf->nproviders);
	assert_non_null(type);
	return e->like;
}

const char *engine_off(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders);
	return e->off;
}

const char *engine_undropped(const struct engine *e, size_t provider, size_t *n)
{
	assert_true(provider < e->conf->nproviders);
	*n = e->undropped;
	return "no right to delete groups";
}

int64_t engine_wall(const struct engine *e, int64_t ms)
{
	return ms <= 0 || ms == INT64_MAX ? ms : ms - e->of_wall_ms;
}

int64_t engine_from_wall(const struct engine *e, int64_t wall_ms)
{
	return wall_ms <= 0 || wall_ms == INT64_MAX ? wall_ms : wall_ms + e->of_wall_ms;
}

char *engine_time(const struct engine *e, char *out, int64_t ms)
{
	return fmt_time(out, engine_wall(e, ms));
}

int64_t engine_clock_ahead(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders);
	return e->ahead_ms;
}

const char *engine_unheard(const struct engine *e, size_t provider, int64_t *since_ms)
{
	(void)provider;
	*since_ms = e->unheard_ms;
	return "the queue does not exist";
}

const char *engine_unreadable(const struct engine *e, size_t provider, size_t i)
{
	assert_true(provider < e->conf->nproviders);
	return e->unreadable != NULL ? e->unreadable[i] : NULL;
}

bool engine_stray(const struct engine *e, size_t provider, size_t i, struct engine_stray *out)
{
	static char id[32];

	assert_true(provider < e->conf->nproviders);
	if (i >= e->nstrays)
		return false;
	(void)snprintf(id, sizeof(id), "i-%zu", i);
	*out = (struct engine_stray){id,
				     "n9",
				     i == 0 ? FAKE_NOW - 5000 : e->tried_ms,
				     FAKE_NOW - 2000,
				     i == 1 && e->leaves,
				     e->stray_up};
	return true;
}

size_t engine_postponed(const struct engine *e, struct engine_postponed *soonest)
{
	if (e->npostponed > 0)
		*soonest = e->postponed;
	return e->npostponed;
}

int64_t engine_now(const struct engine *e)
{
	return FAKE_NOW + e->later_ms;
}

int64_t engine_started_ms(const struct engine *e)
{
	(void)e;
	return FAKE_NOW - 3600000;
}

struct engine_source engine_slurm_source(const struct engine *e)
{
	return e->slurm;
}

int64_t engine_away_since(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders && provider < 2);
	return e->away_ms[provider];
}

struct engine_source engine_provider_source(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders);
	return e->provider;
}

void engine_secrets(const struct engine *e, struct engine_secrets *out)
{
	*out = e->secrets;
	if (out->driver == NULL)
		*out = (struct engine_secrets){
			.driver = "", .phase = "", .version = "", .enrolled = ""};
}

bool engine_boot(const struct engine *e, const char *node, uint64_t gen, struct engine_boot *out)
{
	assert_true(node[0] != '\0' && gen > 0);
	*out = e->boot;
	return e->boot.claim != NULL;
}

const char *engine_token_wait(const struct engine *e, const struct node *n)
{
	(void)n;
	return e->token_wait;
}

const char *engine_keys_wait(const struct engine *e, const struct node *n)
{
	(void)n;
	return e->door_off;
}

const char *engine_init_off(const struct engine *e)
{
	return e->init_off;
}

const char *engine_door_off(const struct engine *e)
{
	return e->door_off;
}

const struct engine_door_counters *engine_door_counters(const struct engine *e)
{
	return e->door;
}

/* No claim in the first state, one in the second, two in the third ... */
size_t engine_claims(const struct engine *e, size_t *states)
{
	(void)e;
	for (size_t i = 0; i < CLAIM_NSTATES; i++)
		states[i] = i;
	return 2;
}

int engine_enroll(struct engine *e, const char *token, const char *by, struct err *err)
{
	assert_non_null(by);
	if (strcmp(token, "-") == 0)
		return err_set(err, ERR_INVALID, "not a wrapping token");
	(void)snprintf(e->enroll_token, sizeof(e->enroll_token), "%s", token);
	return 0;
}

int engine_rotate(struct engine *e, const struct engine_rotate_ask *ask, struct err *err)
{
	e->rotate_ask = *ask;
	(void)snprintf(e->rotate_credential, sizeof(e->rotate_credential), "%s",
		       ask->credential != NULL ? ask->credential : "");
	return ask->verb == ENGINE_ROTATE_ABORT
		       ? err_set(err, ERR_INVALID, "no rotation is under way")
		       : 0;
}

void engine_rotation(const struct engine *e, struct engine_rotation *out)
{
	*out = e->rotation;
	if (out->error == NULL)
		out->error = "";
}

struct engine_breaches engine_breaches(const struct engine *e)
{
	return e->breaches;
}

const char *engine_rotate_command(const struct engine *e)
{
	(void)e;
	return "burstctl secrets rotate --munge";
}

size_t engine_rotation_lack(const struct engine *e, const char **nodes, size_t max)
{
	assert_true(max > 0);
	nodes[0] = "n7";
	return e->rotation.nodes.lack > 0 ? 1 : 0;
}

const struct journal_room *engine_room(const struct engine *e)
{
	return &e->room;
}

int64_t engine_price(const struct engine *e, size_t pool, size_t rung)
{
	(void)pool;
	(void)rung;
	return e->price;
}

int64_t engine_spent(const struct engine *e, size_t pool)
{
	return e->fleet.pools[pool].spent_nano + 7;
}

const struct engine_counters *engine_counters(const struct engine *e)
{
	return &e->counters;
}

const char *engine_slurm_state(const struct engine *e, const char *node, char *buf, size_t size)
{
	(void)e;
	(void)snprintf(buf, size, "%s", strcmp(node, "n1") == 0 ? "IDLE+CLOUD" : "");
	return buf;
}

bool engine_paused(const struct engine *e, size_t pool)
{
	return pool < 4 && e->paused[pool];
}

struct engine_warm engine_warm(const struct engine *e, size_t pool)
{
	return pool < 4 ? e->warm[pool] : (struct engine_warm){.wanted = 0};
}

const char *engine_paused_by(const struct engine *e, size_t pool, int64_t *since_ms)
{
	bool known = engine_paused(e, pool) && e->paused_by != NULL;

	*since_ms = known ? FAKE_NOW : 0;
	return known ? e->paused_by : "";
}

const struct engine_losses *engine_losses(const struct engine *e, size_t pool)
{
	assert_true(pool < e->conf->npools);
	return e->losses.n > 0 ? &e->losses : NULL;
}

const char *engine_blocked(const struct engine *e, size_t pool)
{
	return engine_paused(e, pool) ? "paused by an admin" : pool < 4 ? e->closed[pool] : NULL;
}

const struct slurm_report *engine_prereq(const struct engine *e)
{
	return e->prereq;
}

const char *engine_prereq_error(const struct engine *e)
{
	return e->prereq_error != NULL ? e->prereq_error : "";
}

/* An order about three nodes: two of them have jobs, one was off. */
int engine_operate(struct engine *e, const struct engine_request *rq, struct engine_ordered *out,
		   struct err *err)
{
	*out = (struct engine_ordered){3, 2, 1};
	e->order = *rq;
	(void)snprintf(e->order_nodes, sizeof(e->order_nodes), "%s",
		       rq->nodes != NULL ? rq->nodes : "(all)");
	(void)snprintf(e->order_by, sizeof(e->order_by), "%s", rq->by);
	e->orders += !rq->look;
	return e->broken ? err_set(err, ERR_IO, "the journal failed") : 0;
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

int engine_pause(struct engine *e, const char *pool, bool paused, const char *by, struct err *err)
{
	for (size_t i = 0; i < e->conf->npools && i < 4; i++) {
		if (pool != NULL && strcmp(e->conf->pools[i].name, pool) != 0)
			continue;
		e->paused[i] = paused;
		if (!paused)
			e->closed[i] = NULL;
	}
	(void)snprintf(e->order_by, sizeof(e->order_by), "%s", by);
	e->pauses++;
	return e->broken ? err_set(err, ERR_IO, "the journal failed") : 0;
}

/* Three places of sim are closed, and one is half-open. */
void engine_cooldowns(const struct engine *e, cooldown_fn fn, void *ctx)
{
	static const struct cooldown_row rows[] = {
		{"capacity", "sim", "8xh100 east a spot", {COOLDOWN_CAPACITY, FAKE_NOW + 60000}, 2},
		{"capacity", "sim", "8xh100 east b spot", {COOLDOWN_HALF, 0}, 1},
		{"quota", "sim", "8xh100 west spot", {COOLDOWN_QUOTA, FAKE_NOW + 900000}, 1},
		{"failing", "sim", "8xh100 north spot", {COOLDOWN_FAILING, FAKE_NOW + 120000}, 2},
		{"denied", "sim", "", {COOLDOWN_HALF, 0}, 1},
	};

	for (size_t i = 0; e->why != NULL && i < sizeof(rows) / sizeof(rows[0]); i++)
		fn(ctx, &rows[i]);
}

uint64_t engine_throttled(const struct engine *e, size_t provider, enum provider_op_kind kind)
{
	(void)e;
	(void)provider;
	return kind == PROVIDER_LIST ? 12 : 0;
}

uint64_t engine_unsold(const struct engine *e, size_t provider, enum provider_code code)
{
	assert_true(provider < e->conf->nproviders);
	return code == PROVIDER_QUOTA ? 7 : 0;
}

/* Rungs in the order of the configuration; the one with nothing to sell comes last. */
void engine_ladder(struct engine *e, size_t pool, struct engine_ladder *out)
{
	size_t n, at = 0;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	*out = (struct engine_ladder){.n = n, .listed = true};
	for (size_t i = 0; i < n; i++) {
		if (e->why != NULL && i == e->rung)
			continue;
		out->rungs[at] = (struct engine_rung){.offer = &rungs[i],
						      .price = e->price,
						      .nodes = (uint32_t)i + 1,
						      .place = (uint32_t)at + 1};
		at++;
	}
	if (e->passed != NULL)
		(void)snprintf(out->rungs[0].why, sizeof(out->rungs[0].why), "%s", e->passed);
	if (at == n)
		return;
	out->rungs[at] = (struct engine_rung){
		.offer = &rungs[e->rung],
		.price = -1,
		.cool = {COOLDOWN_CAPACITY, FAKE_NOW + 60000},
		.cause = LADDER_CAPACITY,
		.said = {{FAKE_NOW - 5000, PROVIDER_CAPACITY, 3, "no \"hosts\" left"}},
		.nsaid = 1};
	(void)snprintf(out->rungs[at].why, sizeof(out->rungs[at].why), "%s", e->why);
}

/* Note which of the pools' nodes are in `within`. */
static void copy_within(struct engine *e, const struct map *within)
{
	struct str s;

	str_init(&s, sizeof(e->plan_within));
	for (size_t i = 0; within != NULL && i < e->conf->npools; i++) {
		const struct hostlist *h = e->conf->pools[i].nodes;

		for (size_t k = 0; k < h->n; k++)
			if (map_get(within, h->names[k]) != NULL)
				str_addf(&s, "%s%s", s.len > 0 ? "," : "", h->names[k]);
	}
	(void)snprintf(e->plan_within, sizeof(e->plan_within), "%s", s.p);
	str_fini(&s);
}

int engine_plan(struct engine *e, const struct engine_plan_ask *ask, struct engine_plan *out,
		struct err *err)
{
	*out = e->plan;
	e->plans++;
	e->plan_ask = *ask;
	(void)snprintf(e->plan_list, sizeof(e->plan_list), "%s",
		       ask->list != NULL ? ask->list : "");
	copy_within(e, ask->within);
	(void)snprintf(e->plan_without, sizeof(e->plan_without), "%s",
		       ask->without != NULL ? ask->without : "");
	(void)snprintf(e->plan_wish, sizeof(e->plan_wish), "%s %s %s",
		       ask->wish.constraint != NULL ? ask->wish.constraint : "-",
		       ask->wish.jurisdictions != NULL ? ask->wish.jurisdictions[0] : "-",
		       ask->wish.jurisdictions != NULL && ask->wish.jurisdictions[1] != NULL
			       ? ask->wish.jurisdictions[1]
			       : "-");
	if (ask->list != NULL && ask->list[0] == '[')
		return err_set(err, ERR_INVALID, "not a node list");
	out->npools = 1;
	out->pools = mem_zalloc(sizeof(*out->pools));
	*out->pools = e->plan_pool;
	out->pools->pool = ask->pool;
	engine_ladder(e, ask->pool, &out->pools->ladder);
	return 0;
}

void engine_plan_fini(struct engine_plan *p)
{
	free(p->pools);
}

char *engine_partition(const struct engine *e, const char *name)
{
	if (e->all != NULL && strcmp(name, "all") == 0)
		return mem_strdup(e->all);
	return e->partition != NULL && strcmp(name, "gpu") == 0 ? mem_strdup(e->partition) : NULL;
}

int engine_retry(struct engine *e, const char *what, const char *by, size_t *n, struct err *err)
{
	*n = 2;
	(void)snprintf(e->retried, sizeof(e->retried), "%s by %s", what != NULL ? what : "all", by);
	return e->broken ? err_set(err, ERR_IO, "the journal failed") : 0;
}

void engine_reconcile(struct engine *e)
{
	e->reconciles++;
}

int engine_spool(const struct engine *e, const char **note, struct err *err)
{
	*note = e->spool_note;
	return e->spool_error != NULL ? err_set(err, ERR_IO, "%s", e->spool_error) : 0;
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

void engine_gate_close(struct gate *g)
{
	struct gate **at = &g->e->gates;

	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	free(g);
}

int64_t engine_gate_boot_ms(const struct gate *g)
{
	(void)g;
	return 60000;
}

/* One provider "sim", one pool for each list of nodes. */
static struct conf *fake_conf(const char *const *lists, size_t npools)
{
	struct conf *c = mem_zalloc(sizeof(*c));

	c->path = mem_strdup("/etc/burstd/burstd.conf");
	c->cluster = mem_strdup("falcon");
	(void)snprintf(c->currency, sizeof(c->currency), "USD");
	c->nproviders = 1;
	c->providers = mem_zalloc(sizeof(*c->providers));
	c->providers[0].name = mem_strdup("sim");
	c->providers[0].driver = mem_strdup("sim");
	c->providers[0].url = mem_strdup("http://127.0.0.1:1");
	c->npools = npools;
	c->pools = mem_zalloc(npools * sizeof(*c->pools));
	for (size_t i = 0; i < npools; i++) {
		struct conf_pool *p = &c->pools[i];
		char name[32];

		(void)snprintf(name, sizeof(name), "pool%zu", i);
		p->name = mem_strdup(name);
		p->nodes_text = mem_strdup(lists[i]);
		p->provider = mem_strdup("sim");
		p->type = mem_strdup("8xh100");
		p->region = mem_strdup("east");
		p->zone = mem_strdup("");
		p->own = (struct conf_offer){.name = mem_strdup(""),
					     .provider = p->provider,
					     .type = p->type,
					     .region = p->region,
					     .zone = p->zone};
		p->max_nodes = 4;
		p->max_rate_nano_h = 100 * FMT_NANO;
		assert_int_equal(hostlist_parse(&p->nodes, lists[i], strlen(lists[i]), NULL), 0);
		for (size_t k = 0; k < p->nodes->n; k++)
			map_put(&c->by_node, p->nodes->names[k], p);
	}
	return c;
}

static void fake_init(struct engine *e, const char *const *lists, size_t npools)
{
	*e = (struct engine){.conf = fake_conf(lists, npools)};
	fleet_init(&e->fleet, npools);
	for (uint32_t p = 0; p < npools; p++) /* as the real engine does */
		for (size_t i = 0; i < e->conf->pools[p].nodes->n; i++)
			(void)fleet_name(&e->fleet, e->conf->pools[p].nodes->names[i], p);
	e->slurm = (struct engine_source){"slurmctld", FAKE_NOW - 1000, 0, ""};
	e->provider = (struct engine_source){"sim", FAKE_NOW - 12000, 0, ""};
}

static void fake_fini(struct engine *e)
{
	fleet_fini(&e->fleet);
	conf_free(e->conf);
}

/* A generation of a node of pool 0, at 29.52 an hour for an hour. */
__attribute__((unused)) static struct fleet_node *fake_node(struct engine *e, const char *name,
							    uint64_t gen, enum node_state state)
{
	struct node n;

	(void)fleet_name(&e->fleet, name, 0);
	node_init(&n, name, gen, FAKE_NOW - 3700000);
	n.state = state;
	n.rate_nano_h = INT64_C(29520000000);
	n.since_ms = FAKE_NOW - 60000;
	n.wake_ms = INT64_MAX;
	if (state != NODE_WANTED && state != NODE_CREATING && state != NODE_INDOUBT) {
		n.start_ms = FAKE_NOW - 3600000;
		(void)snprintf(n.instance, sizeof(n.instance), "i-%s-%d", name, (int)gen);
		(void)snprintf(n.addr, sizeof(n.addr), "10.0.0.%d", (int)gen);
	}
	return fleet_add(&e->fleet, &n);
}

__attribute__((unused)) static void fake_refuse(struct engine *e, const char *name, uint32_t pool,
						const char *why)
{
	struct fleet_name *nm = fleet_name(&e->fleet, name, pool);

	nm->refused = NODE_BECAUSE_CAPACITY;
	nm->refused_ms = FAKE_NOW - 12000;
	(void)snprintf(nm->why, sizeof(nm->why), "%s", why);
}

#endif
