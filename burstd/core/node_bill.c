#include "core/node_bill.h"

/* As the provider says, if that is not before the create was sent (less NODE_SKEW_MS for its clock)
 * and not in the future; else now.  A create that was sent in the future was by a clock that has
 * gone back since (F57), and says nothing. */
int64_t node_bill_begin(const struct node *n, const struct node_event *ev)
{
	int64_t said = ev->instance->created_ms;
	int64_t sent = n->sent_ms <= ev->now_ms ? n->sent_ms : 0;
	int64_t least = sent > NODE_SKEW_MS ? sent - NODE_SKEW_MS : 1;

	return said >= least && said <= ev->now_ms ? said : ev->now_ms;
}

/* Differences up to NODE_SKEW_MS come from the two clocks. */
int64_t node_bill_mended(const struct node *n, const struct node_event *ev)
{
	int64_t said = ev->instance->created_ms;

	if (n->end_ms != 0 || node_bill_begin(n, ev) != said)
		return n->start_ms;
	return said < n->start_ms - NODE_SKEW_MS || said > n->start_ms + NODE_SKEW_MS ? said
										      : n->start_ms;
}

/* A list that shows it as ended, or the first that did not show it, came after the end. */
static int64_t seen_end(const struct node *n, const struct node_event *ev)
{
	const int64_t said = ev->instance != NULL ? ev->instance->ended_ms : 0;

	if (said >= n->start_ms && said < ev->now_ms)
		return said;
	return ev->type == NODE_EV_ABSENT && ev->lacked_ms != 0 ? ev->lacked_ms : ev->now_ms;
}

int64_t node_bill_end(const struct node *n, const struct node_event *ev)
{
	const int64_t at = seen_end(n, ev);
	const int64_t least = n->end_ms > n->start_ms ? n->end_ms : n->start_ms;

	return at > least ? at : least;
}
