/* burstctl events: pages, none at all, and what follows. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define S "--socket SOCKET "

#define EVENT(seq)                                                                                 \
	"{\"seq\":" seq ",\"at_ms\":1000,\"node\":\"n1\",\"generation\":3,\"type\":\"created\","   \
	"\"detail\":\"i-1\"}"
#define SHOWN(seq) "     " seq "  1970-01-01T00:00:01Z  n1#3            created          i-1\n"

static void test_events(void **state)
{
	static const char *const pages[] = {
		"{\"ok\":true,\"events\":[" EVENT("1") "],\"last\":1,\"more\":true}",
		"{\"ok\":true,\"events\":[" EVENT("2") "],\"last\":9,\"more\":false}",
	};
	/* Says that there is more and does not move: must not be asked for ever. */
	static const char stuck[] = "{\"ok\":true,\"events\":[],\"last\":0,\"more\":true}";
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "events --since 0 -N n1", pages, 2);
	lab_want(l, 0, SHOWN("1") SHOWN("2"), "");
	assert_int_equal(l->nrequests, 2);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"events\",\"since\":0,\"node\":\"n1\",\"v\":1}");
	assert_string_equal(l->requests[1],
			    "{\"op\":\"events\",\"since\":1,\"node\":\"n1\",\"v\":1}");
	lab_run(l, S "events --json", pages + 1, 1);
	lab_want(l, 0, EVENT("2") "\n", "");
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":20,\"v\":1}");
	lab_run(l, S "events -n 5", pages + 1, 1);
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":5,\"v\":1}");
	lab_run_once(l, S "events --since 0", stuck);
	lab_want(l, 0, "no events after 0\n", "");
	assert_int_equal(l->nrequests, 1);
	lab_free(l);
}

/* A node that was never bought, say: an empty screen could mean anything. */
static void test_no_events(void **state)
{
	static const char none[] = "{\"ok\":true,\"events\":[],\"last\":9,\"more\":false}";
	static const struct {
		const char *command, *out;
	} rows[] = {
		{S "events -N n1",
		 "no events of node n1: \"burstctl node show n1\" says how it is\n"},
		{S "events -N n1 --since 7",
		 "no events of node n1 after 7: \"burstctl node show n1\" says how it "
		 "is\n"},
		{S "events", "no events\n"},
		{S "events -N n1 --json", ""}, /* its line would be one */
		{S "events -n 0", ""},         /* as was asked */
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lab_run_once(l, rows[i].command, none);
		lab_want(l, 0, rows[i].out, "");
	}
	lab_free(l);
}

static void test_follow(void **state)
{
	/* The third answer is no answer, as when burstd restarts; it goes on where it was. */
	static const char *const replies[] = {
		"{\"ok\":true,\"events\":[" EVENT("1") "],\"last\":1,\"more\":false}",
		"{\"ok\":true,\"events\":[" EVENT("2") "],\"last\":2,\"more\":false}",
		lab_hang_up,
		"{\"ok\":true,\"events\":[" EVENT("3") "],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
	};
	struct lab *l = lab_new();

	(void)state;
	l->stop_after = 5;
	lab_run(l, S "events -f -n 1", replies, COUNT(replies));
	assert_int_equal(l->rc, -1); /* it would have gone on */
	assert_string_equal(l->out, SHOWN("1") SHOWN("2") SHOWN("3"));
	assert_string_equal(l->err, "burstctl: burstd went away; waiting for it\n");
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":1,\"v\":1}");
	assert_string_equal(l->requests[1],
			    "{\"op\":\"events\",\"since\":1,\"wait\":true,\"v\":1}");
	assert_string_equal(l->requests[3],
			    "{\"op\":\"events\",\"since\":2,\"wait\":true,\"v\":1}");
	assert_string_equal(l->requests[4],
			    "{\"op\":\"events\",\"since\":3,\"wait\":true,\"v\":1}");
	assert_in_range(l->took_ms, 500, 999); /* a pause where there was no answer, no other */
	lab_free(l);
}

/* A burstd that answers at once though there is nothing must not be asked without end; one that
 * says nothing has the time to wait for events, and the usual time. */
static void test_follow_is_patient(void **state)
{
	static const char *const nothing[] = {
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
	};
	static const char *const silent[] = {
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
		lab_hang,
		lab_hang,
	};
	struct lab *l = lab_new();

	(void)state;
	l->stop_after = 4;
	lab_run(l, S "events -f", nothing, COUNT(nothing));
	assert_true(l->took_ms >= 2 * 500);
	l->stop_after = 3;
	lab_run(l, S "events -f --timeout 300ms", silent, COUNT(silent));
	assert_string_equal(l->err, "burstctl: burstd went away; waiting for it\n");
	assert_in_range(l->took_ms, 10300, 11500);
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_no_events),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_follow_is_patient),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
