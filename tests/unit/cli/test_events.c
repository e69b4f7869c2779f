/* burstctl events: pages, none at all, and what follows. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define S "--socket SOCKET "

#define EVENT(seq)                                                                                 \
	"{\"seq\":" seq ",\"at_ms\":1000,\"node\":\"n1\",\"generation\":3,\"type\":\"created\","   \
	"\"detail\":\"i-1\"}"
#define HEADING    "   SEQ  TIME                 NODES           EVENT            DETAIL\n"
#define SHOWN(seq) "     " seq "  1970-01-01T09:00:01  n1#3            created          i-1\n"

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
	lab_want(l, 0, HEADING SHOWN("1") SHOWN("2"), "");
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
	lab_want(l, 0, "no events since 0\n", "");
	assert_int_equal(l->nrequests, 1);
	lab_free(l);
}

static const struct {
	int seq, at_ms;
	const char *node;
	int gen;
	const char *type, *detail;
} happened[] = {
	{1, 1000, "c1", 1, "wanted", "called, for job 7"},
	{2, 1001, "c1", 1, "start", "wanted -> creating"},
	{3, 1001, "c2", 4, "wanted", "called, for job 7"},
	{4, 1002, "c2", 4, "start", "wanted -> creating"},
	{5, 1003, "c3", 1, "wanted", "called, for job 71"},
	{6, 1900, "c1", 1, "created", "to booting, instance i-1"},
	{7, 1900, "c2", 4, "created", "to booting, instance i-2"},
	{8, 1950, "", 0, "reloaded", "job 7_1, refusal 1"},
	{9, 1950, "", 0, "reloaded", "/etc/burstd"},
	{10, 2000, "c4", 1, "created", "to booting, instance i-4"},
};

/* All of that; the caller's. */
static char *happened_reply(void)
{
	struct str s;

	str_init(&s, 8192);
	str_adds(&s, "{\"ok\":true,\"events\":[");
	for (size_t i = 0; i < COUNT(happened); i++)
		str_addf(&s,
			 "%s{\"seq\":%d,\"at_ms\":%d,\"node\":\"%s\",\"generation\":%d,"
			 "\"type\":\"%s\",\"detail\":\"%s\"}",
			 i > 0 ? "," : "", happened[i].seq, happened[i].at_ms, happened[i].node,
			 happened[i].gen, happened[i].type, happened[i].detail);
	str_adds(&s, "],\"last\":10,\"more\":false}");
	return str_take(&s);
}

#define WANTED  "     3  1970-01-01T09:00:01  c[1-2]          wanted           called, for job 7\n"
#define STARTED "     4  1970-01-01T09:00:01  c[1-2]          start            wanted -> creating\n"
#define CREATED                                                                                    \
	"     7  1970-01-01T09:00:01  c[1-2]          created          to booting, 2 instances\n"

/* What happened to several nodes in one second is one line, also in between others; what is of no
 * node, of another second or other words stands alone. */
static void test_folded(void **state)
{
	char *reply = happened_reply();
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "events --since 0 --pool p", reply);
	lab_want(
		l, 0,
		HEADING WANTED STARTED
		"     5  1970-01-01T09:00:01  c3#1            wanted           called, for job "
		"71\n" CREATED
		"     8  1970-01-01T09:00:01                  reloaded         job 7_1, refusal 1\n"
		"     9  1970-01-01T09:00:01                  reloaded         /etc/burstd\n"
		"    10  1970-01-01T09:00:02  c4#1            created          to booting, "
		"instance i-4\n",
		"");
	assert_string_equal(l->requests[0],
			    "{\"op\":\"events\",\"since\":0,\"pool\":\"p\",\"v\":1}");
	lab_free(l);
	free(reply);
}

/* The nodes of a line are in the order of their names, whatever came first. */
static void test_folded_in_order(void **state)
{
#define BOOTED(seq, name)                                                                          \
	"{\"seq\":" seq ",\"at_ms\":1000,\"node\":\"" name                                         \
	"\",\"generation\":1,\"type\":\"ready\",\"detail\":\"it is up\"}"
	static const char reply[] =
		"{\"ok\":true,\"events\":[" BOOTED("1", "c10") "," BOOTED("2", "c3") "," BOOTED(
			"3", "a1") "," BOOTED("4", "c9") "," BOOTED("5", "c1") "],\"last\":5}";
#undef BOOTED
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "events --since 0", reply);
	lab_want(l, 0,
		 HEADING "     5  1970-01-01T09:00:01  a1,c[1,3,9-10]  ready            it is up\n",
		 "");
	lab_free(l);
}

/* A job's events: where it is named, and what became of the machines that were bought for it. */
static void test_folded_of_a_job(void **state)
{
	char *reply = happened_reply();
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "events --job 7", reply);
	lab_want(l, 0, HEADING WANTED STARTED CREATED, "");
	/* All that are kept. */
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"since\":0,\"v\":1}");
	/* Those that were bought before that are its, too. */
	lab_run_once(l, S "events --job 7 --since 4", reply);
	lab_want(l, 0, HEADING CREATED, "");
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"since\":0,\"v\":1}");
	lab_run_once(l, S "events --job 7 --since 1970-01-01T00:00:02Z", reply);
	lab_want(l, 0, "no events of job 7 since 1970-01-01T00:00:02Z\n", "");
	lab_run_once(l, S "events --job 8", reply);
	lab_want(l, 0, "no events of job 8\n", "");
	lab_free(l);
	free(reply);
}

#define TOLD(seq, node, gen, type, detail)                                                         \
	"{\"seq\":" seq ",\"at_ms\":1000,\"node\":\"" node "\",\"generation\":" gen                \
	",\"type\":\"" type "\",\"detail\":\"" detail "\"}"

/* A task of an array is bought for by its number; an event that has both says which that is. */
static void test_a_task_of_an_array(void **state)
{
	static const char reply[] =
		"{\"ok\":true,\"events\":[" TOLD("1", "c1", "1", "wanted", "called, for job 12") "," TOLD(
			"2", "c2", "1", "wanted",
			"called, for job 1") "," TOLD("3", "c1", "1", "created",
						      "instance i-1") "," TOLD("4", "", "0",
									       "job-postponed",
									       "job 7_3 (job 12), "
									       "refusal 1") "],"
											    "\"last"
											    "\":4,"
											    "\"more"
											    "\":"
											    "false"
											    "}";
	static const char shown[] = HEADING
		"     1  1970-01-01T09:00:01  c1#1            wanted           called, for job 12\n"
		"     3  1970-01-01T09:00:01  c1#1            created          instance i-1\n"
		"     4  1970-01-01T09:00:01                  job-postponed    job 7_3 (job 12), "
		"refusal 1\n";
	const char *const twice[] = {reply, reply};
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "events --job 7_3", twice, 2);
	lab_want(l, 0, shown, "");
	assert_string_equal(l->requests[1], "{\"op\":\"events\",\"since\":0,\"v\":1}");
	lab_run_once(l, S "events --job 12", reply);
	lab_want(l, 0, shown, "");
	lab_run(l, S "events --job 7_3 --since 9", twice, 2);
	lab_want(l, 0, "no events of job 7_3 since 9\n", "");
	lab_run(l, S "events --job 7_1", twice, 2);
	lab_want(l, 0,
		 "no events of job 7_1: purchases for it are listed by its number, which \"sacct "
		 "-X -j 7_1 -o jobidraw\" shows\n",
		 "");
	lab_free(l);
}

/* A time goes to burstd as one, in UTC. */
static void test_since_a_time(void **state)
{
	static const char none[] = "{\"ok\":true,\"events\":[],\"last\":9,\"more\":false}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "events --since 2026-01-02T12:30", none);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"events\",\"since_ms\":1767324600000,\"v\":1}");
	lab_run_once(l, S "audit --since 2026-01-02T03:30:00Z --job 7",
		     "{\"ok\":true,\"records\":[],\"last\":9,\"more\":false}");
	assert_string_equal(l->requests[0],
			    "{\"op\":\"audit\",\"since_ms\":1767324600000,\"job\":\"7\",\"v\":1}");
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
		 "no events of node n1: \"burstctl node show n1\" shows its state\n"},
		{S "events -N n1 --since 7",
		 "no events of node n1 since 7: \"burstctl node show n1\" shows its state\n"},
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
	assert_string_equal(l->out, HEADING SHOWN("1") SHOWN("2") SHOWN("3"));
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
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_folded_in_order),
		cmocka_unit_test(test_folded_of_a_job),
		cmocka_unit_test(test_a_task_of_an_array),
		cmocka_unit_test(test_since_a_time),
		cmocka_unit_test(test_no_events),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_follow_is_patient),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
