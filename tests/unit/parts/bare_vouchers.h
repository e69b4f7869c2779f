/* bare_vouchers.h - machines with a token in their user-data, on the engine of whole_claims.h: buy
 * them, let things happen to them, and play the store. */
#ifndef TESTS_BARE_VOUCHERS_H
#define TESTS_BARE_VOUCHERS_H

#include "tests/unit/keys/claims_store.h"
#include "whole_claims.h"

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "keys/vouchers.h"

enum { BOOT_MS = 600000 };

static inline struct fleet_node *want(int i)
{
	char name[16];
	struct node node;

	(void)snprintf(name, sizeof(name), "c%d", i);
	node_init(&node, name, 1, engine_now(F.e));
	node.rate_nano_h = 1;
	place_set(F.e, &node, &F.e->conf->pools[0].own, 1);
	return fleet_add(&F.e->fleet, &node);
}

/* Let the token of node i come, and send its create. */
static inline void buy_with_token(int i, const char *accessor)
{
	struct fleet_node *fn = want(i);

	assert_false(vouchers_have(F.e, &fn, 1));
	keys_come(accessor);
	assert_true(vouchers_have(F.e, &fn, 1));
	launch_send(&F.e->cloud->all[0], &fn, 1);
	engine_commit(F.e);
}

static inline const char *sent(void)
{
	return F.wire[F.nwire - 1].body;
}

static inline const struct voucher *voucher_of(const struct fleet_node *fn)
{
	return vouchers_of(F.e, fn->n.name, fn->n.gen);
}

static inline const struct voucher *voucher(int i)
{
	return voucher_of(row(i));
}

static inline void happens(int i, enum node_event_type type, enum node_reason why)
{
	const struct node_event ev = {.type = type, .reason = why, .now_ms = engine_now(F.e)};

	engine_post(F.e, row(i), &ev);
	engine_commit(F.e);
}

/* Let its time to boot run out. */
static inline void is_late(int i)
{
	struct node_event ev = {.type = NODE_EV_TIMER, .now_ms = engine_now(F.e) + 2 * BOOT_MS};

	F.e->poll.snapshot_ms = F.e->poll.ok_ms = ev.now_ms;
	engine_post(F.e, row(i), &ev);
	engine_commit(F.e);
	assert_true(goes(i, NODE_BECAUSE_BOOT));
}

/* Let a list of the provider show it in this state. */
static inline void is_seen(int i, enum provider_state s)
{
	struct provider_instance in = {.state = s};
	struct node_event ev = {.type = NODE_EV_SEEN, .now_ms = engine_now(F.e), .instance = &in};

	(void)snprintf(in.id, sizeof(in.id), "i-%d", i);
	(void)snprintf(in.node, sizeof(in.node), "c%d", i);
	engine_post(F.e, row(i), &ev);
	engine_commit(F.e);
}

static inline void store_says(enum secret_code what)
{
	const struct secrets_look *look = F.look;

	vouchers_turn_part.at[PART_RUN](F.e);
	look = F.look;
	assert_non_null(look);
	F.look = NULL;
	look->fn(look->ctx, what);
	engine_commit(F.e);
}

static inline int setup_vouchers(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_AUTO, CONF_USER_DATA);
	restart();
	return 0;
}

#endif
