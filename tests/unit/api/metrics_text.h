/* metrics_text.h - the text of /metrics, parsed. */
#ifndef TESTS_METRICS_TEXT_H
#define TESTS_METRICS_TEXT_H

#include "fake_engine.h"

#include <ctype.h>
#include <stdbool.h>

#include "api/metrics.h"
#include "buy/buy_api.h"
#include "keys/keys_api.h"

static inline void fill(struct engine *e)
{
	static const char *const lists[] = {"n[1-9]", "m[1-2]"};

	fake_init(e, lists, 2);
	(void)fake_node(e, "n1", 1, NODE_GONE);
	fake_node(e, "n2", 1, NODE_READY)->path = mem_strdup("z/b1");
	fake_node(e, "n3", 1, NODE_READY)->path = mem_strdup(""); /* nobody says so */
	e->naparts = 2;
	(void)fake_node(e, "n4", 1, NODE_QUARANTINED);
	fake_refuse(e, "n5", 0, "none");
	fake_refuse(e, "n6", 0, "none");
	e->fleet.pools[0].spent_nano = 5 * FMT_NANO;
	e->price = 29 * FMT_NANO;
	e->price_age = 61500;
	e->counters = (struct engine_counters){
		.calls = {1, 2, 3},
		.calls_bad = 36,
		.calls_refused = 4,
		.notices_unreadable = 23,
		.notices_foreign = 24,
		.instances_created = 9,
		.instances_refused = 10,
		.instances_lost = 11,
		.polls = 12,
		.updates = 13,
		.strays = 14,
		.foreign = 15,
		.unreadable = 21,
		.commits = 16,
		.gates_waiting = 17,
		.gates_up = 18,
		.gates_gone = 19,
		.gate_ms = 20500,
		.jobs_signalled = 31,
		.jobs_lifted = 32,
		.jobs_notified = 34,
		.fences = 33,
		.fence_ms = 4500,
		.fence_max_ms = 250,
	};
}

#endif
