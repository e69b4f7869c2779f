/* story.h - random lives of machines and jobs, for tests of ledger/. */
#ifndef TESTS_LEDGER_STORY_H
#define TESTS_LEDGER_STORY_H

#include "fixture.h"
#include "ledger/report.h"

enum { NODES = 6, JOBS = 25, SPAN = 200000, ROUNDS = 40, OUT = 1 << 20 };

static uint64_t dice = 88172645463325252;

static inline int64_t roll(int64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (int64_t)(dice % (uint64_t)below);
}

struct fate { /* of a node */
	char name[8];
	int64_t created, ready, ended;
	bool ends, taken;
};

struct work {
	struct job j;
	char nodes[32];
};

static struct fate fates[NODES];
static struct work works[JOBS];

static inline void draw(void)
{
	static const char *const states[] = {"COMPLETED", "REQUEUED", "NODE_FAIL", "FAILED"};

	for (int i = 0; i < NODES; i++) {
		struct fate *n = &fates[i];

		(void)snprintf(n->name, sizeof(n->name), "c%d", i);
		n->created = 10 + roll(SPAN / 2);
		n->ready = n->created + roll(500);
		n->ended = n->ready + roll(SPAN / 2);
		n->ends = roll(4) != 0;
		n->taken = roll(2) == 0;
	}
	for (int i = 0; i < JOBS; i++) {
		struct work *w = &works[i];
		int a = (int)roll(NODES), b = (int)roll(NODES);
		int64_t life = fates[a].ended - fates[a].ready + 1;

		w->j = (struct job){.job = 1 + (int)roll(12), .gpus = (int)roll(9)};
		/* Each attempt of a job has another begin. */
		w->j.start = fates[a].ready + roll(life) * JOBS / JOBS + i;
		w->j.end = w->j.start + roll(life);
		w->j.state = states[roll(4)];
		(void)snprintf(w->nodes, sizeof(w->nodes), a == b ? "c%d" : "c%d,c%d", a, b);
		w->j.nodes = w->nodes;
	}
}

static inline void write_life(const struct fixture *f, const struct fate *n)
{
	machine(f, n->name);
	buyer(f, n->name, 1);
	buyer(f, n->name, 2);
	life(f, n->name, "wanted", 0, 0);
	life(f, n->name, "created", n->created, 0);
	life(f, n->name, "ready", n->ready, 0);
	if (n->taken)
		life(f, n->name, "taken", n->ended, 0);
	if (n->ends)
		life(f, n->name, "ended", n->ended, n->ended);
}

static inline void write_all(const struct fixture *f, bool backwards)
{
	for (int i = 0; i < NODES; i++)
		write_life(f, &fates[backwards ? NODES - 1 - i : i]);
	pass(f, 1);
	for (int i = 0; i < JOBS; i++)
		job(f, &works[backwards ? JOBS - 1 - i : i].j);
}

static inline void put_json(const struct report *r, struct str *out)
{
	struct jsonw w = {.out = out, .first = true};

	jsonw_open(&w, NULL, '{');
	report_json_put(r, &w);
	jsonw_close(&w, '}');
}

#endif
