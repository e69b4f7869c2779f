#include "engine/private.h"

#include <stdio.h>

/* A reclaim is what a list that showed it would say; of the other kinds nothing is made yet. */
void notice_take(struct cloud *c, const struct provider_notice *n)
{
	static const enum node_state of[] = {NODE_BOOTING, NODE_READY};
	struct provider_instance in = {.state = PROVIDER_RECLAIMING, .reclaim_ms = n->at_ms};
	struct node_event ev = {.type = NODE_EV_SEEN, .now_ms = engine_now(c->e), .instance = &in};

	for (size_t s = 0; n->kind == PROVIDER_NOTICE_RECLAIM && s < sizeof(of) / sizeof(of[0]);
	     s++)
		for (struct fleet_node *fn = c->e->fleet.states[of[s]]; fn; fn = fn->state_next)
			if (engine_cloud(c->e, fn->n.pool) == c &&
			    strcmp(fn->n.instance, n->id) == 0) {
				(void)snprintf(in.id, sizeof(in.id), "%s", n->id);
				(void)snprintf(in.addr, sizeof(in.addr), "%s", fn->n.addr);
				engine_post(c->e, fn, &ev);
				return;
			}
}
