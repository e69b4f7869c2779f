/* place.c: several machines that are taken back at once say that the place has no more. */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "two_offers.h"

static struct fleet_node *add_spot(struct fix *f, const char *name, enum node_state s)
{
	struct node n;

	node_init(&n, name, 1, engine_now(f->e));
	place_set(f->e, &n, &f->e->conf->pools[0].offers[0], OD / 2);
	n.state = s;
	n.notice = PROVIDER_NOTICE_RECLAIM;
	return fleet_add(&f->e->fleet, &n);
}

/* One machine that is taken back says little; several at once say that there are no more. */
static void test_a_wave_of_reclaims_closes_the_place(void **state)
{
	struct fix *f = *state;
	const struct conf_offer *o;
	struct fleet_node *fn;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	o = &f->e->conf->pools[0].offers[0];
	fn = add_spot(f, "c1", NODE_DRAINING);
	(void)add_spot(f, "c3", NODE_READY);
	place_reclaimed(f->e, fn);
	assert_int_equal(place_ready_ms(f->e, o), 0);
	fn = add_spot(f, "c2", NODE_DRAINING);
	place_reclaimed(f->e, fn);
	assert_int_not_equal(place_ready_ms(f->e, o), 0);
	assert_int_equal(engine_unsold(f->e, 0, PROVIDER_CAPACITY), 0); /* nobody wanted to buy */
	engine_commit(f->e);
}

/* A wave is what goes now, or went a moment ago, because the provider took it. */
static void test_only_what_is_taken_back_makes_a_wave(void **state)
{
	static const struct {
		enum node_state state;
		enum provider_notice_kind notice;
		enum node_reason reason;
		int64_t ago_ms;
		bool counts, released;
	} rows[] = {
		{NODE_DRAINING, PROVIDER_NOTICE_RECLAIM, 0, 0, true, false},
		{NODE_DRAINING, PROVIDER_NOTICE_MAINTENANCE, 0, 0, false, false},
		{NODE_DRAINING, PROVIDER_NOTICE_REBALANCE, 0, 0, false, false},
		{NODE_DELETING, PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_RECLAIMED, 0, true, false},
		{NODE_GONE, PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_ENDED, 0, true, false},
		{NODE_GONE, PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_ENDED, 60000, false, false},
		/* It stopped by itself, as it booted (F10). */
		{NODE_GONE, PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_STOPPED, 0, false, false},
		{NODE_DELETING, PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_STOPPED, 0, false, false},
		/* For another's end. */
		{NODE_DELETING, PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_ENDED, 0, false, true},
		{NODE_GONE, PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_ENDED, 0, false, true},
		{NODE_DELETING, PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_SUSPENDED, 0, false, false},
		{NODE_READY, PROVIDER_NOTICE_RECLAIM, 0, 0, false, false},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct conf_offer *o;
		struct fleet_node *fn, *other;

		assert_int_equal(load(f, two_offers(false), NULL), 0);
		o = &f->e->conf->pools[0].offers[0];
		fn = add_spot(f, "c1", NODE_DRAINING);
		other = add_spot(f, "c2", rows[i].state);
		other->n.notice = rows[i].notice;
		other->n.reason = rows[i].reason;
		other->n.release = rows[i].released;
		other->n.since_ms = engine_now(f->e) - rows[i].ago_ms;
		place_reclaimed(f->e, fn);
		if ((place_ready_ms(f->e, o) != 0) != rows[i].counts)
			fail_msg("row %zu", i);
	}
}

/* Of spot alone, and of one in ten at least. */
static void test_what_is_no_wave_closes_no_place(void **state)
{
	struct fix *f = *state;
	const struct conf_offer *o;
	struct fleet_node *fn;
	struct node n;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	o = &f->e->conf->pools[0].offers[0];
	f->e->conf->pools[0].offers[0].market = PROVIDER_ON_DEMAND;
	(void)add_spot(f, "c1", NODE_DRAINING);
	fn = add_spot(f, "c2", NODE_DRAINING);
	place_reclaimed(f->e, fn);
	assert_int_equal(place_ready_ms(f->e, o), 0);
	f->e->conf->pools[0].offers[0].market = PROVIDER_SPOT;
	for (uint64_t gen = 1; gen <= 19; gen++) {
		node_init(&n, "c3", gen, engine_now(f->e));
		place_set(f->e, &n, o, OD / 2);
		n.state = NODE_READY;
		(void)fleet_add(&f->e->fleet, &n);
	}
	place_reclaimed(f->e, fn);
	assert_int_equal(place_ready_ms(f->e, o), 0); /* 2 of 21 */
}

/* A machine that may be gone in a moment is no less so for having been said to need work: only then
 * is it known that the place takes back what it sells. */
static void test_a_reclaim_after_another_notice_is_one_of_a_wave(void **state)
{
	struct provider_notice n = {.kind = PROVIDER_NOTICE_MAINTENANCE};
	struct fix *f = *state;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	for (int i = 1; i <= 2; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "c%d", i);
		(void)snprintf(add_spot(f, name, NODE_READY)->n.instance, sizeof(n.id), "i-%d", i);
		fleet_find(&f->e->fleet, name)->newest->n.notice = 0;
	}
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			n.kind = PROVIDER_NOTICE_RECLAIM;
		assert_int_equal(place_ready_ms(f->e, &f->e->conf->pools[0].offers[0]), 0);
		(void)snprintf(n.id, sizeof(n.id), "i-%d", i % 2 + 1);
		notice_part.noticed(&f->e->cloud->all[0], &n);
		engine_commit(f->e);
	}
	assert_int_not_equal(place_ready_ms(f->e, &f->e->conf->pools[0].offers[0]), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_wave_of_reclaims_closes_the_place),
		T(test_only_what_is_taken_back_makes_a_wave),
		T(test_what_is_no_wave_closes_no_place),
		T(test_a_reclaim_after_another_notice_is_one_of_a_wave),
	};
#undef T

	return cmocka_run_group_tests_name("waves of reclaims", tests, NULL, NULL);
}
