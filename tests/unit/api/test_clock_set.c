/* test_clock_set.c - F57: whatever people and programs are told, its times are by the wall clock.
 *
 * Each request is answered twice, and the second time the engine's time is an hour ahead: each time
 * in the answer must be an hour earlier, and nothing else may differ. */
#include "ctl_ask.h"
#include "keys/keys_api.h"

enum { HOUR = 3600000, LEAST = FAKE_NOW / 2 }; /* what is less is no time of day */

static unsigned compared;

static void compare(const char *request, const char *key, json_t *a, const json_t *b)
{
	const char *name;
	json_t *v;
	size_t i;

	if (json_is_object(a)) {
		json_object_foreach(a, name, v) compare(request, name, v, json_object_get(b, name));
	} else if (json_is_array(a)) {
		json_array_foreach(a, i, v) compare(request, key, v, json_array_get(b, i));
	} else if (json_is_integer(a) && json_integer_value(a) > LEAST) {
		compared++;
		if (json_integer_value(a) - json_integer_value(b) != HOUR)
			fail_msg("%s: %s is not by the wall clock", request, key);
	} else if (json_is_integer(a)) {
		if (json_integer_value(a) != json_integer_value(b))
			fail_msg("%s: %s is no time of day", request, key);
	}
}

static void test_times_are_by_the_wall_clock(void **state)
{
	static const struct {
		const char *request;
		unsigned times;
	} rows[] = {
		{"{\"v\":1,\"op\":\"status\"}", 5},
		{"{\"v\":1,\"op\":\"nodes\"}", 3},
		{"{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}", 9},
		{"{\"v\":1,\"op\":\"events\"}", 3},
		{"{\"v\":1,\"op\":\"pools\"}", 1},
		{"{\"v\":1,\"op\":\"secrets\"}", 3},
		{"{\"v\":1,\"op\":\"secrets-rotation\"}", 4},
		{"{\"v\":1,\"op\":\"audit\"}", 1},
	};
	struct fixture *f = start("n[1-2]");

	(void)state;

	f->e.secrets = (struct engine_secrets){.driver = "vault",
					       .source = {"x", FAKE_NOW - 5, FAKE_NOW - 9, "x"},
					       .phase = "ready",
					       .version = "7",
					       .enrolled = "",
					       .version_ms = FAKE_NOW - 7};
	f->e.rotation = (struct engine_rotation){.there = true,
						 .r = {.kind = ROTATION_MUNGE,
						       .phase = ROTATION_WINDOW,
						       .begun_ms = FAKE_NOW - 9,
						       .since_ms = FAKE_NOW - 8,
						       .switch_ms = FAKE_NOW + 7,
						       .life_ms = 900000},
						 .error = ""};
	f->e.boot = (struct engine_boot){.claim = "confirmed",
					 .why = "",
					 .since_ms = FAKE_NOW - 5,
					 .heartbeat_ms = FAKE_NOW - 4,
					 .ready_ms = FAKE_NOW - 3,
					 .boot_ms = 77};
	f->j.head.seq = 3;
	f->j.nbills = 2; /* of which one is of a generation that only bills still tell of */
	(void)fake_node(&f->e, "n1", 1, NODE_READY);
	(void)fake_node(&f->e, "n2", 1, NODE_GONE);
	for (int i = 0; i < 3; i++)
		f->j.events[f->j.last++] = (struct fake_event){.node = "n1", .detail = "x"};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *was, *is;

		f->e.of_wall_ms = 0;
		was = ask_as(f, &admin, rows[i].request);
		f->e.of_wall_ms = HOUR;
		is = ask_as(f, &admin, rows[i].request);
		compared = 0;
		compare(rows[i].request, "", was, is);
		if (compared < rows[i].times)
			fail_msg("%s: only %u times", rows[i].request, compared);
		json_decref(was);
		json_decref(is);
	}
	stop(f);
}

/* What people ask for is by the wall clock, too: the fifth event and those behind it. */
static void test_a_time_that_is_asked_for_is_by_the_wall_clock(void **state)
{
	static const char *const rows[][2] = {{"events", "events"}, {"audit", "records"}};
	struct fixture *f = start("n[1-2]");

	(void)state;
	f->e.of_wall_ms = HOUR;
	f->j.head.seq = 9;
	for (int i = 0; i < 9; i++)
		f->j.events[f->j.last++] = (struct fake_event){.node = "n1", .detail = "x"};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char request[96];
		json_t *r, *list;

		(void)snprintf(request, sizeof(request),
			       "{\"v\":1,\"op\":\"%s\",\"since_ms\":%lld}", rows[i][0],
			       (long long)FAKE_NOW + 5 - HOUR);
		r = ask_as(f, &admin, request);
		list = json_object_get(r, rows[i][1]);
		assert_int_equal(json_array_size(list), 5);
		assert_int_equal(number(json_array_get(list, 0), "seq"), 5);
		json_decref(r);
	}
	stop(f);
}

/* When a machine is taken away, too. */
static void test_a_time_that_is_told_is_by_the_wall_clock(void **state)
{
	struct fixture *f = start("n[1-2]");
	char request[128];

	(void)state;
	f->e.of_wall_ms = HOUR;
	(void)snprintf(request, sizeof(request),
		       "{\"v\":1,\"op\":\"notice\",\"machine\":\"n1\",\"kind\":\"reclaim\","
		       "\"at_ms\":%lld}",
		       (long long)FAKE_NOW + 5 - HOUR);
	json_decref(ask_as(f, &admin, request));
	assert_true(f->e.notice.at_ms == FAKE_NOW + 5);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_are_by_the_wall_clock),
		cmocka_unit_test(test_a_time_that_is_asked_for_is_by_the_wall_clock),
		cmocka_unit_test(test_a_time_that_is_told_is_by_the_wall_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
