/* fake_engine.h - an engine and a journal that hold what a test puts there and record what they are
 * asked.
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
#include "engine/engine.h"
#include "store/journal.h"

enum { FAKE_NOW = 1000000000, FAKE_EVENTS_MAX = 8000 };

struct fake_event {
	char node[HOSTLIST_NAME_MAX + 1];
	const char *detail;
};

struct engine {
	struct conf *conf;
	struct fleet fleet;
	struct engine_source slurm, provider;
	struct engine_counters counters;
	int64_t price; /* of every pool */
	unsigned reconciles;
	int take_rc;
	struct journal_call taken;
	char taken_list[256], taken_file[256];
};

struct journal {
	struct fake_event events[FAKE_EVENTS_MAX];
	int64_t last;
	int fail;
};

const struct conf *engine_conf(const struct engine *e)
{
	return e->conf;
}

const struct fleet *engine_fleet(const struct engine *e)
{
	return &e->fleet;
}

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return FAKE_NOW;
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

struct engine_source engine_provider_source(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders);
	return e->provider;
}

int64_t engine_price(const struct engine *e, size_t pool)
{
	(void)pool;
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

void engine_reconcile(struct engine *e)
{
	e->reconciles++;
}

int engine_take_call(struct engine *e, const struct journal_call *call, int64_t *seq,
		     struct err *err)
{
	if (e->take_rc != 0)
		return err_set(err, ERR_IO, "disk full");
	e->taken = *call;
	(void)snprintf(e->taken_list, sizeof(e->taken_list), "%.*s", (int)call->list_len,
		       call->list);
	(void)snprintf(e->taken_file, sizeof(e->taken_file), "%.*s", (int)call->file_len,
		       call->file != NULL ? call->file : "");
	*seq = 42;
	return 0;
}

int journal_events(struct journal *j, int64_t after, const char *node, unsigned limit,
		   journal_event_fn fn, void *ctx, struct err *e)
{
	if (j->fail)
		return err_set(e, ERR_IO, "journal: disk I/O error");
	for (int64_t seq = after + 1; seq <= j->last && limit > 0; seq++) {
		const struct fake_event *f = &j->events[seq - 1];
		const struct journal_event ev = {seq, FAKE_NOW + seq, f->node,
						 1,   "created",      f->detail};

		if (node != NULL && strcmp(f->node, node) != 0)
			continue;
		limit--;
		if (fn(ctx, &ev) != 0)
			return err_set(e, ERR_CANCELLED, "stopped");
	}
	return 0;
}

int64_t journal_last_event(struct journal *j)
{
	return j->last;
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
	e->slurm = (struct engine_source){"slurmctld", FAKE_NOW - 1000, 0, ""};
	e->provider = (struct engine_source){"sim", FAKE_NOW - 12000, 0, ""};
}

static void fake_fini(struct engine *e)
{
	fleet_fini(&e->fleet);
	conf_free(e->conf);
}

/* A generation of a node of pool 0, at 29.52 an hour for an hour. */
static struct fleet_node *fake_node(struct engine *e, const char *name, uint64_t gen,
				    enum node_state state)
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

static void fake_refuse(struct engine *e, const char *name, uint32_t pool, const char *why)
{
	struct fleet_name *nm = fleet_name(&e->fleet, name, pool);

	nm->refused = NODE_BECAUSE_CAPACITY;
	(void)snprintf(nm->why, sizeof(nm->why), "%s", why);
}

#endif
