/* test_times.c - whose clock a time is by: the wall clock of the machine, or a provider's (F57). */
#include "engine/times.h"

#include "base/fmt.h"
#include "cloud/cloud.h"
#include "tests/unit/engine/bare_engine.h"

#define HOUR INT64_C(3600000)

static void test_what_is_no_time_stays(void **state)
{
	const struct engine e = {.ahead_ms = HOUR};
	char text[FMT_TIME_SIZE];

	(void)state;
	assert_true(engine_wall(&e, BEGAN) == BEGAN - HOUR);
	assert_true(engine_from_wall(&e, BEGAN) == BEGAN + HOUR);
	assert_true(engine_wall(&e, 0) == 0 && engine_from_wall(&e, 0) == 0);
	assert_true(engine_wall(&e, INT64_MAX) == INT64_MAX);
	assert_true(engine_from_wall(&e, INT64_MAX) == INT64_MAX);
	assert_string_equal(engine_time(&e, text, BEGAN), "2027-01-15T07:00:00.000Z");
}

/* From answer to answer a time of the provider's stays the same time of ours: else a deadline would
 * be news each time. */
static void test_a_providers_clock_is_known_by_its_dates(void **state)
{
	static const struct {
		const char *what;
		int64_t wall;             /* our time is ahead of the wall clock */
		int64_t sent, took, date; /* date 0: none */
		int64_t ahead;
	} rows[] = {
		{"nothing was said: as the wall clock", HOUR, 0, 0, 0, HOUR},
		{"it agrees with the wall clock", HOUR, 10000, 300, 10000 - HOUR, HOUR},
		{"the wall clock was set: the provider's was not", -HOUR, 20000, 300, 20000 - HOUR,
		 HOUR},
		{"... back, not forward", 3 * HOUR, 25000, 300, 25000 - HOUR, HOUR},
		{"a second that is not whole", -HOUR, 30999, 1, 30000 - HOUR, HOUR},
		{"it is known better", -HOUR, 40000, 5, 41000 - HOUR, HOUR - 995},
		{"... and stays", -HOUR, 50000, 300, 50000 - HOUR, HOUR - 995},
		{"a slow answer, from which the wall clock's could be it", HOUR - 20000, 60000,
		 24000, 83000 - HOUR, HOUR - 995},
		{"a slow one that needs another: no more than it must", HOUR - 20000, 60000, 24000,
		 85000 - HOUR, HOUR - 1000},
		{"without a date nothing is learnt", -HOUR, 60000, 0, 0, HOUR - 1000},
		{"the provider's was wrong", -HOUR, 70000, 300, 90000, -19700},
		{"the wall clock's is one of many that a slow one allows", 0, 75000, 1001, 75000,
		 -999},
		{"... of which a quick answer leaves few", 500, 80000, 1000, 80000, 500},
		{"... and a slow one too many", 0, 85000, 1001, 85000, 500},
		{"a quick one that just allows the wall clock's", -999, 90000, 300, 90000, -999},
	};
	struct engine e = {.ahead_ms = 0};
	struct cloud c = {.e = &e};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t date = rows[i].date != 0 ? BEGAN + rows[i].date : 0;

		e.ahead_ms = rows[i].wall;
		times_date(&c, BEGAN + rows[i].sent, BEGAN + rows[i].sent + rows[i].took, date);
		if (times_from(&c, BEGAN) - BEGAN != rows[i].ahead)
			fail_msg("%s: %lld", rows[i].what,
				 (long long)(times_from(&c, BEGAN) - BEGAN));
		assert_true(times_of(&c, times_from(&c, BEGAN)) == BEGAN);
	}
	assert_true(times_from(&c, 0) == 0 && times_of(&c, 0) == 0);
	assert_true(times_from(&c, INT64_MAX) == INT64_MAX);
}

static void test_an_instances_times_become_ours(void **state)
{
	struct engine e = {.ahead_ms = HOUR};
	struct cloud c = {.e = &e};
	struct provider_instance in = {.created_ms = BEGAN, .ended_ms = BEGAN + 5};

	(void)state;
	times_instance(&c, &in);
	assert_true(in.created_ms == BEGAN + HOUR && in.ended_ms == BEGAN + HOUR + 5);
	in = (struct provider_instance){.created_ms = BEGAN};
	times_instance(&c, &in);
	assert_true(in.ended_ms == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_time_stays),
		cmocka_unit_test(test_a_providers_clock_is_known_by_its_dates),
		cmocka_unit_test(test_an_instances_times_become_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
