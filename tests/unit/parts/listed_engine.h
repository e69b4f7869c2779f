/* listed_engine.h - an engine with one row, of c1, to which a test shows lists and snapshots. */
#ifndef TESTS_LISTED_ENGINE_H
#define TESTS_LISTED_ENGINE_H

#include "cloud/cloud.h"
#include "diff/diff.h"
#include "loaded_engine.h"

struct shown { /* an instance in a list */
	const char *id;
	uint64_t gen; /* 0: its tags cannot be read */
	const char *addr;
	enum provider_state state;
};

/* Put one row of c1 into the journal, and load an engine from it. */
static inline void load(struct fix *f, enum node_state s, const struct shown *in)
{
	struct journal_tx *tx = journal_begin(f->journal);
	struct node n;

	engine_free(f->e);
	f->e = NULL;
	node_init(&n, "c1", in->gen, loop_now(f->loop) - 100000);
	n.state = s;
	n.rate_nano_h = 1000000000;
	n.sent_ms = n.wanted_ms;
	n.wake_ms = INT64_MAX;
	(void)snprintf(n.instance, sizeof(n.instance), "%s", in->id);
	(void)snprintf(n.addr, sizeof(n.addr), "%s", in->addr);
	for (uint64_t g = 0; g < 20; g++)
		journal_del_node(tx, "c1", g);
	journal_put_node(tx, &n, "pool");
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
}

/* Show a complete list with these rows. */
static inline void take_at(struct fix *f, size_t provider, const struct provider_instance *rows,
			   size_t n)
{
	struct cloud *c = &f->e->cloud->all[provider];

	c->seen = mem_zalloc((n + 1) * sizeof(*c->seen));
	memcpy(c->seen, rows, n * sizeof(*c->seen));
	c->nseen = n;
	c->unsure = false;
	/* after the snapshot, if both come within one millisecond */
	c->list_began = loop_now(f->loop) + 1 + f->ahead;
	while (!inventory_part.listed(c))
		;
	c->comparison = (struct comparison){.runs = false};
	engine_commit(f->e);
	free(c->seen);
	c->seen = NULL;
	c->nseen = 0;
}

static inline void take(struct fix *f, const struct provider_instance *rows, size_t n)
{
	take_at(f, 0, rows, n);
}

static inline struct provider_instance row_of(const struct fix *f, const struct shown *in)
{
	struct provider_instance p = {
		.gen = in->gen, .state = in->state, .created_ms = f->created_ms};

	(void)snprintf(p.id, sizeof(p.id), "%s", in->id);
	(void)snprintf(p.cluster, sizeof(p.cluster), "%s", uuid);
	(void)snprintf(p.node, sizeof(p.node), "%s", in->gen != 0 ? "c1" : "");
	(void)snprintf(p.addr, sizeof(p.addr), "%s", in->addr);
	return p;
}

static inline void list(struct fix *f, const struct shown *in, size_t n)
{
	struct provider_instance *rows = mem_zalloc((n + 1) * sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		rows[i] = row_of(f, &in[i]);
	take(f, rows, n);
	free(rows);
}

static inline const char *kept(const struct fix *f)
{
	const struct fleet_node *fn = fleet_live(fleet_find(&f->e->fleet, "c1"));

	return fn != NULL ? fn->n.instance : "none";
}

static inline enum node_state state_of(const struct fix *f)
{
	return fleet_live(fleet_find(&f->e->fleet, "c1"))->n.state;
}

static inline bool is_stray(const struct fix *f, const char *id)
{
	const struct cloud *c = &f->e->cloud->all[0];

	for (size_t i = 0; i < c->nstrays; i++)
		if (strcmp(c->strays[i].id, id) == 0)
			return true;
	return false;
}

#endif
