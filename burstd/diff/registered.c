#include "diff/diff.h"

#include <stdlib.h>

#include "buy/buy.h"

/* Nodes that a snapshot shows registered for the first time: when there are many, some are posted
 * in each of the next turns, behind what creates were answered. */

enum { REGISTERED_MAX = 65536 }; /* that wait; the next snapshot has the others again */

void registered_add(struct engine *e, struct fleet_node *fn)
{
	if (fn->registered || e->diff->up.n >= REGISTERED_MAX)
		return;
	fn->registered = true;
	node_queue_add(&e->diff->up, fn);
}

void registered_run(struct engine *e)
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
				e->fleet.wake_ms = fn->n.wake_ms; /* its deadline holds again */
		}
		engine_spend(e, 1);
	}
	node_queue_end(&e->diff->up);
}

int64_t registered_next_ms(const struct engine *e)
{
	return e->diff->up.v != NULL ? engine_now(e) : INT64_MAX;
}

void registered_free(struct engine *e)
{
	free(e->diff->up.v);
}
