#include "diff/diff.h"

#include <stdlib.h>

#include "buy/buy.h"

/* Posts REGISTERED to nodes that a snapshot shows up for the first time: if there are many, some in
 * each of the next turns, after the answers to creates. */

enum { REGISTERED_MAX = 65536 }; /* waiting nodes; the next snapshot shows others again */

void registered_add(struct engine *e, struct fleet_node *fn)
{
	if (fn->registered || e->diff->up.n >= REGISTERED_MAX)
		return;
	fn->registered = true;
	node_queue_add(&e->diff->up, fn);
}

/* After all answers to creates are posted. */
static void registered_run(struct engine *e)
{
	if (e->more || e->buy->answers != NULL)
		return;
	while (e->left > 0 && e->diff->up.at < e->diff->up.n) {
		struct fleet_node *fn = node_queue_take(&e->diff->up);
		struct node_event ev = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(e)};

		if (fn != NULL) {
			fn->registered = false;
			engine_post(e, fn, &ev);
			if (fn->next == NULL && fn->n.wake_ms < e->fleet.wake_ms)
				e->fleet.wake_ms = fn->n.wake_ms; /* its deadline counts again */
		}
		engine_spend(e, 1);
	}
	node_queue_end(&e->diff->up);
}

static int64_t registered_next_ms(const struct engine *e)
{
	return e->diff->up.v != NULL ? engine_now(e) : INT64_MAX;
}

static void registered_free(struct engine *e)
{
	free(e->diff->up.v);
}

const struct engine_part registered_part = {
	.name = "nodes that came up",
	.at = {[PART_TAKE] = registered_run, [PART_FREE] = registered_free},
	.next_ms = registered_next_ms,
};
