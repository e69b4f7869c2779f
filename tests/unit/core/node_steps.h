/* node_steps.h - a node in any state, and the events that it may get. */
#ifndef TESTS_NODE_STEPS_H
#define TESTS_NODE_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/node.h"

enum { W = 60000, BOOT = 300000, TOKEN = 1800000, T0 = 1000000 };

static const struct node_limits with_tokens = {
	.tokens = true, .settle_ms = W, .token_ms = TOKEN, .boot_ms = BOOT};
static const struct node_limits without_tokens = {.settle_ms = W, .boot_ms = BOOT};

static inline struct provider_instance instance(enum provider_state s)
{
	struct provider_instance in = {.state = s};

	(void)snprintf(in.id, sizeof(in.id), "i-1");
	(void)snprintf(in.addr, sizeof(in.addr), "10.0.0.1");
	return in;
}

static inline bool step(struct node *n, struct node_event ev)
{
	struct provider_instance in = instance(PROVIDER_RUNNING);

	if (ev.instance == NULL && (ev.type == NODE_EV_CREATED || ev.type == NODE_EV_SEEN))
		ev.instance = &in;
	return node_step(n, &ev, &with_tokens);
}

static inline bool at_time(struct node *n, enum node_event_type type, int64_t now)
{
	return step(n, (struct node_event){.type = type, .now_ms = now});
}

static inline bool absent(struct node *n, int64_t list_ms)
{
	return step(n, (struct node_event){.type = NODE_EV_ABSENT,
					   .now_ms = list_ms + 500,
					   .list_ms = list_ms});
}

static inline bool seen(struct node *n, enum provider_state s, int64_t now)
{
	struct provider_instance in = instance(s);

	return step(n, (struct node_event){.type = NODE_EV_SEEN, .now_ms = now, .instance = &in});
}

static inline bool release(struct node *n, enum node_reason why, int64_t now)
{
	return step(n, (struct node_event){.type = NODE_EV_RELEASE, .now_ms = now, .reason = why});
}

static inline bool denied(struct node *n, int64_t now)
{
	return at_time(n, NODE_EV_DELETE_DENIED, now);
}

/* A node that reached this state by the shortest way that node.h draws, at T0. */
static inline struct node node_at(enum node_state s)
{
	struct node n;

	node_init(&n, "c1", 7, T0);
	n.rate_nano_h = 5;
	if (s == NODE_WANTED)
		return n;
	(void)step(&n,
		   (struct node_event){.type = NODE_EV_START, .now_ms = T0, .batch = 9, .slot = 3});
	if (s == NODE_CREATING)
		return n;
	if (s == NODE_INDOUBT) {
		(void)at_time(&n, NODE_EV_LOST, T0);
		return n;
	}
	if (s == NODE_GONE) {
		(void)step(&n, (struct node_event){.type = NODE_EV_REFUSED,
						   .now_ms = T0,
						   .reason = NODE_BECAUSE_CAPACITY});
		return n;
	}
	(void)at_time(&n, NODE_EV_CREATED, T0);
	if (s == NODE_READY || s == NODE_DRAINING)
		(void)at_time(&n, NODE_EV_REGISTERED, T0);
	if (s == NODE_DRAINING)
		(void)seen(&n, PROVIDER_RECLAIMING, T0);
	if (s == NODE_DELETING || s == NODE_QUARANTINED)
		(void)release(&n, NODE_BECAUSE_SUSPENDED, T0);
	for (int i = 0; s == NODE_QUARANTINED && i < NODE_RETRIES; i++)
		(void)denied(&n, T0);
	return n;
}

#endif
