/* vouchers_world.h - machines with a token in their user-data: buy them, let things happen to them,
 * and play the store.  The test includes keys_engine.h besides, or whole_claims.h for all parts. */
#ifndef TESTS_VOUCHERS_WORLD_H
#define TESTS_VOUCHERS_WORLD_H

#include "claims_run.h"
#include "claims_store.h"

#include "keys/vouchers.h"

enum { BOOT_MS = 600000 };

/* Let slurm.conf give node i eight GPUs. */
static inline void has_gpus(int i)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "c%d", i);
	fleet_name(&F.e->fleet, name, 0)->gpus = 8;
	fleet_name(&F.e->fleet, name, 0)->gpu_model = "h100";
}

/* Want node i, and ask for its token, which is not there yet. */
static inline struct fleet_node *asks_for_token(int i)
{
	struct fleet_node *fn = want(i, 1);

	assert_false(vouchers_have(F.e, &fn, 1));
	return fn;
}

/* Let the token of node i come, and send its create. */
static inline void buy_with_token(int i, const char *accessor)
{
	struct fleet_node *fn = asks_for_token(i);

	keys_come(accessor);
	assert_true(vouchers_have(F.e, &fn, 1));
	launch(&fn, 1);
}

/* ... and let its machine run. */
static inline void boots_with_token(int i, const char *accessor)
{
	buy_with_token(i, accessor);
	boots(i, true);
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

/* Let slurmctld need it no more. */
static inline void is_let_go(int i)
{
	happens(i, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
}

/* Let its time to boot run out. */
static inline void is_late(int i)
{
	struct node_event ev = {.type = NODE_EV_TIMER, .now_ms = engine_now(F.e) + 2 * BOOT_MS};

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

static inline void act_on_tokens(void)
{
	vouchers_turn_part.at[PART_RUN](F.e);
}

/* Let the store answer the look, or the revoke, that goes out now. */
static inline void store_says(enum secret_code what)
{
	const struct secrets_look *look;

	act_on_tokens();
	look = F.look;
	assert_non_null(look);
	F.look = NULL;
	look->fn(look->ctx, what);
	engine_commit(F.e);
}

/* ... after the pause that c1 makes. */
static inline void later_the_store_says(enum secret_code what)
{
	struct voucher_run *r = vouchers_find(F.e, "c1", 1);

	assert_in_range(r->look_ms - engine_now(F.e), 1, VOUCHER_LOOK_MS);
	r->look_ms = 0;
	store_says(what);
}

static inline int setup_vouchers(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_AUTO, CONF_USER_DATA);
	restart();
	return 0;
}

#endif
