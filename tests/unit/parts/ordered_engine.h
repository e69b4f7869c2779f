/* ordered_engine.h - an engine of which c1 and c2 are up, to which an admin gives orders: what
 * slurmctld shows, what is told to it, and what is written down of it. */
#ifndef TESTS_ORDERED_ENGINE_H
#define TESTS_ORDERED_ENGINE_H

#include "diff/diff.h"
#include "loaded_engine.h"
#include "store/journal_events.h"

/* c1 and c2 are READY in the journal, c3 is off. */
static inline void load(struct fix *f)
{
	struct journal_tx *tx = journal_begin(f->journal);

	for (int i = 1; i <= 2; i++) {
		struct node n;

		make_ready(f, i, &n);
		n.rate_nano_h = 1000000000;
		(void)snprintf(n.addr, sizeof(n.addr), "10.0.0.%d", i);
		journal_put_node(tx, &n, "pool");
	}
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
}

static inline void snapshot(struct fix *f, const char *c1, const char *c2, const char *c3)
{
	char text[400];
	int n = snprintf(text, sizeof(text),
			 "NodeName=c1 NodeAddr=10.0.0.1 NodeHostName=c1 State=%s\n"
			 "NodeName=c2 NodeAddr=10.0.0.2 NodeHostName=c2 State=%s\n"
			 "NodeName=c3 NodeAddr=c3 NodeHostName=c3 State=%s\n",
			 c1, c2, c3);

	assert_true(slurm_parse_nodes(text, (size_t)n, observe_node, f->e, NULL) > 0);
	observe_snapshot(f->e, loop_now(f->loop), NULL);
}

struct sought {
	const char *node, *type, *detail;
	unsigned n;
};

static inline int count(void *ctx, const struct journal_event *ev)
{
	struct sought *s = ctx;

	s->n += strcmp(ev->node, s->node) == 0 && strcmp(ev->type, s->type) == 0 &&
		strcmp(ev->detail, s->detail) == 0;
	return 0;
}

/* How many such events are written down. */
static inline unsigned events(struct fix *f, const char *node, const char *type, const char *detail)
{
	struct sought s = {node, type, detail, 0};

	engine_commit(f->e);
	assert_int_equal(journal_events(f->journal, 0, NULL, UINT32_MAX, count, &s, NULL), 0);
	return s.n;
}

static inline void order(struct fix *f, const struct engine_request *rq, size_t n, size_t busy,
			 size_t off)
{
	struct engine_ordered o;

	assert_int_equal(engine_operate(f->e, rq, &o, NULL), 0);
	assert_int_equal(o.n, n);
	assert_int_equal(o.busy, busy);
	assert_int_equal(o.off, off);
}

#endif
