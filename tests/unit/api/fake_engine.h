/* fake_engine.h - an engine that holds what a test puts there and records what it is asked; its
 * journal is fake_journal.h.
 *
 *   fake_state.h   struct engine: what is put there, what was asked
 *   fake_cloud.h   cloud_api.h
 *   fake_buy.h     buy_api.h
 *   fake_money.h   money_api.h, and the names of callers (user_name.h)
 *   fake_jobs.h    jobs_api.h
 *   fake_keys.h    keys_api.h
 *   fake_engine.h  engine.h and parts.h; a fleet, its configuration, and its nodes
 *
 * The test includes it instead of linking the real ones: no member of their archives is pulled in
 * as long as every symbol they would bring is defined here. */
#ifndef BURSTD_TEST_FAKE_ENGINE_H
#define BURSTD_TEST_FAKE_ENGINE_H

#include "fake_buy.h"
#include "fake_cloud.h"
#include "fake_jobs.h"
#include "fake_keys.h"
#include "fake_money.h"
#include "fake_state.h"

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

int64_t engine_now(const struct engine *e)
{
	return FAKE_NOW + e->later_ms;
}

int64_t engine_started_ms(const struct engine *e)
{
	return e->started_ms;
}

struct engine_source engine_slurm_source(const struct engine *e)
{
	return e->slurm;
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

void engine_reconcile(struct engine *e)
{
	e->reconciles++;
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
	*e = (struct engine){
		.conf = fake_conf(lists, npools), .price = 1, .started_ms = FAKE_NOW - 3600000};
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
