/* place.c and the climb: where a row is bought, what refuses it, and what is tried next. */
#include "two_offers.h"

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"

/* ADR 48: a job that was passed over three times. */
static void test_who_was_passed_over_is_bought_for_first(void **state)
{
	struct postpone_why why = {.text = "none left", .passed_over = true};
	struct slurm_job job = {.number = 7, .id = "7"};
	struct fix *f = *state;
	int64_t before;
	struct node n;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	for (int i = 0; i < 3; i++)
		postpone_job(f->e, &job, &why);
	engine_commit(f->e);
	call(f, "c[1-3]", ONE);
	assert_true(name_of(f, "c1")->newest->goes_first);
	assert_true(name_of(f, "c2")->newest->goes_first);
	assert_false(postpone_goes_first(f->e, 7));

	before = engine_now(f->e) - 1;
	cool(f, 0, PROVIDER_CAPACITY);
	assert_false(cloud_sold_since(f->e, 0, 7, before));
	n = name_of(f, "c1")->newest->n;
	place_sold(f->e, &n); /* to itself */
	assert_false(cloud_sold_since(f->e, 0, 7, before));
	n.job = 8;
	place_sold(f->e, &n);
	assert_true(cloud_sold_since(f->e, 0, 7, before));
	assert_false(cloud_sold_since(f->e, 0, 7, engine_now(f->e) + 1000));
}

/* What one place refused is bought at the next, in a new generation, with its job; who came stays.
 */
static void test_a_refused_node_climbs(void **state)
{
	struct fix *f = *state;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	call(f, "c[1-2]", ONE);
	expect(f, "c1", 1, "here");
	expect(f, "c2", 1, "here");
	refuse(f, "c2", NODE_BECAUSE_CAPACITY);
	cool(f, 0, PROVIDER_CAPACITY);
	assert_false(name_of(f, "c2")->barred);
	assert_true(name_of(f, "c2")->climbs);
	intake_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted & JOBS_FOR_INTAKE, JOBS_FOR_INTAKE);
	squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
	expect(f, "c1", 1, "here");
	expect(f, "c2", 2, "there");
	assert_int_equal(name_of(f, "c2")->newest->n.job, 7);
	/* and when there is none left, the job is refused whole */
	refuse(f, "c2", NODE_BECAUSE_INVALID);
	assert_int_equal(name_of(f, "c2")->tried, 3); /* neither is asked again for this call */
	intake_part.at[PART_RUN](f->e);
	squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
	assert_true(name_of(f, "c2")->barred);
	assert_non_null(strstr(name_of(f, "c2")->why, "): no capacity: cools down until "));
	assert_non_null(strstr(name_of(f, "c2")->why, "; there: was tried a moment ago"));
	assert_true(name_of(f, "c2")->hint.not_before_ms > engine_now(f->e));
}

/* Where there is no other, its job comes back when this place may be tried again. */
static void test_who_cannot_climb_waits_for_its_place(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY, .message = "none left"};
	struct fix *f = *state;
	const struct conf_offer *own;

	assert_int_equal(load(f, make_conf(), NULL), 0);
	own = &f->e->conf->pools[0].own;
	call(f, "c1", NULL);
	place_bought(f->e, own, &none, 1, engine_now(f->e));
	refuse(f, "c1", NODE_BECAUSE_CAPACITY);
	assert_true(name_of(f, "c1")->barred);
	assert_true(place_ready_ms(f->e, own) > engine_now(f->e));
	assert_int_equal(name_of(f, "c1")->hint.not_before_ms, place_ready_ms(f->e, own));
}

static void test_a_job_that_is_over_does_not_climb(void **state)
{
	const struct err err = {.code = ERR_NET, .msg = "squeue: exit status 1"};
	struct fix *f = *state;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	call(f, "c[1-2]", ONE);
	refuse(f, "c1", NODE_BECAUSE_QUOTA);
	refuse(f, "c2", NODE_BECAUSE_DENIED);
	intake_part.at[PART_RUN](f->e);
	squeue(f, "9|9|CONFIGURING|gpu|None|c2|(null)\n", NULL);
	assert_int_equal(name_of(f, "c1")->newest->n.gen, 1);
	expect(f, "c2", 2, "there"); /* the next job has it */
	refuse(f, "c2", NODE_BECAUSE_CAPACITY);
	intake_part.at[PART_RUN](f->e);
	squeue(f, NULL, &err);
	assert_int_equal(name_of(f, "c2")->newest->n.gen, 2);
	assert_false(name_of(f, "c2")->climbs); /* the next snapshot says what is wanted */
	assert_false(f->e->buy->climbing);
}

static void test_a_place_that_has_nothing_is_not_asked_by_the_next_job(void **state)
{
	struct fix *f = *state;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	cool(f, 0, PROVIDER_CAPACITY);
	call(f, "c[1-2]", ONE);
	expect(f, "c1", 1, "there");
	cool(f, 1, PROVIDER_QUOTA);
	call(f, "c3", "{\"jobs\":[{\"job_id\":8,\"features\":null,\"nodes_alloc\":\"c3\"}]}");
	assert_null(name_of(f, "c3")->newest);
	assert_true(name_of(f, "c3")->barred);
	assert_int_equal(name_of(f, "c3")->refused, NODE_BECAUSE_QUOTA);
}

/* F7: nothing was sent that bought anything.  Who is WANTED there would wait for the provider's
 * pauses, and be told nothing; a row that is up is one of an older journal (F58). */
static void test_who_is_throttled_for_long_climbs(void **state)
{
	const struct provider_result r = {.code = PROVIDER_RATE, .retry_after_ms = 900000};
	struct fix *f = *state;
	struct conf_offer *o;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->providers[0].unreachable_ms = 60000;
	f->e->started_ms--; /* or the call came in the very millisecond of the start */
	o = &f->e->conf->pools[0].offers[0];
	call(f, "c[1-2]", ONE);
	expect(f, "c1", 1, "here");
	away_run(f->e);
	expect(f, "c1", 1, "here");
	place_bought(f->e, o, &r, 1, engine_now(f->e));
	engine_commit(f->e);
	assert_true(place_ready_ms(f->e, o) >= engine_now(f->e) + 890000);
	name_of(f, "c2")->flags = SLURM_KNOWN | SLURM_ALLOCATED;
	away_run(f->e);
	assert_int_equal(name_of(f, "c1")->newest->n.state, NODE_GONE);
	assert_int_equal(name_of(f, "c1")->newest->n.reason, NODE_BECAUSE_UNREACHABLE);
	assert_true(name_of(f, "c1")->climbs);
	assert_non_null(strstr(name_of(f, "c1")->why, "purchases fail there: not tried until "));
	assert_int_equal(name_of(f, "c2")->newest->n.state, NODE_WANTED);
	name_of(f, "c2")->flags = 0; /* now it is not */
	away_run(f->e);
	assert_int_equal(name_of(f, "c2")->newest->n.state, NODE_GONE);
	intake_part.at[PART_RUN](f->e);
	squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
	expect(f, "c1", 2, "there");
	expect(f, "c2", 2, "there");
}

/* F58: what the journal does not know may be at any of them.  A journal that is not doubtful knows
 * all: then one that sends no list keeps no other from selling, and nothing is sent to itself. */
static void test_a_provider_that_is_silent_stops_the_others_only_in_doubt(void **state)
{
	struct fix *f = *state;
	struct node here, there;

	assert_int_equal(load(f, two_providers("dear"), NULL), 0);
	node_init(&here, "c1", 1, engine_now(f->e));
	place_set(f->e, &here, &f->e->conf->pools[0].offers[0], OD / 2);
	node_init(&there, "c2", 1, engine_now(f->e));
	place_set(f->e, &there, &f->e->conf->pools[0].offers[1], OD / 2);
	f->e->started_ms = engine_now(f->e);
	f->e->cloud->all[0].listed = true;
	assert_false(doubt_looked(f->e, 0));
	f->e->cloud->doubtful = true;
	assert_false(doubt_may_send(f->e, &here));
	f->e->cloud->doubtful = false;
	assert_true(doubt_may_send(f->e, &here));
	assert_false(doubt_may_send(f->e, &there));
	f->e->started_ms -= 300000;
	assert_true(doubt_looked(f->e, 0));
	assert_true(doubt_may_send(f->e, &here));
	assert_false(doubt_may_send(f->e, &there));
	assert_false(doubt_listed(f->e, 0));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_who_was_passed_over_is_bought_for_first),
		T(test_a_refused_node_climbs),
		T(test_who_cannot_climb_waits_for_its_place),
		T(test_a_job_that_is_over_does_not_climb),
		T(test_a_place_that_has_nothing_is_not_asked_by_the_next_job),
		T(test_who_is_throttled_for_long_climbs),
		T(test_a_provider_that_is_silent_stops_the_others_only_in_doubt),
	};
#undef T

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
