/* test_meta.c - what metadata services say, as their manuals and agents of others have it. */
#include "agent/meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct notice got[META_NOTICES_MAX];

static void test_times(void **state)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1: none */
	} rows[] = {
		{"2026-11-05T08:22:00Z", INT64_C(1793866920000)},
		{"21 Jan 2019 09:00:43 GMT", INT64_C(1548061243000)},
		{"1 Jan 1970 00:00:01 GMT", 1000},
		{"Mon, 19 Sep 2016 18:29:47 GMT", INT64_C(1474309787000)},
		{"Mon, 19 Sep 2016 18:29:47 CET", -1},
		{"Mon, 19 Sep 2016 18:29:47", -1},
		{"Mon, 19 Foo 2016 18:29:47 GMT", -1},
		{"31 Feb 2016 18:29:47 GMT", -1},
		{"21 Jan 2019 25:00:43 GMT", -1},
		{"21 Jan 2019 09:00:4", -1},
		{"21 Jan 20", -1},
		{"Mon, ", -1},
		{"Mon,", -1},
		{"2", -1},
		{"", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ms = -2;
		int rc = meta_time(rows[i].text, &ms);

		print_message("# %s\n", rows[i].text);
		assert_int_equal(rc, rows[i].ms < 0 ? -1 : 0);
		if (rc == 0)
			assert_int_equal(ms, rows[i].ms);
	}
}

enum service { ACTION, REBALANCE, EVENTS, PREEMPTED, HOST, AZURE, LINE, FILE_ };

static int ask(enum service s, const char *text)
{
	const size_t len = strlen(text);

	memset(got, 0x55, sizeof(got));
	switch (s) {
	case ACTION:
		return meta_aws_action(text, len, got);
	case REBALANCE:
		return meta_aws_rebalance(text, len, got);
	case EVENTS:
		return meta_aws_maintenance(text, len, got);
	case PREEMPTED:
		return meta_gcp_preempted(text, len, 5000, got);
	case HOST:
		return meta_gcp_maintenance(text, len, got);
	case AZURE:
		return meta_azure(text, len, "vm1", got);
	case LINE:
		return meta_line(text, len, false, got);
	case FILE_:
		return meta_line(text, len, true, got);
	}
	return -2;
}

#define EVENT(rest)                                                                                \
	"{\"EventId\":\"aa-1\",\"EventType\":\"Freeze\",\"Resources\":[\"VM1\"],"                  \
	"\"NotBefore\":\"Mon, 19 Sep 2016 18:29:47 GMT\"" rest "}"

static const struct {
	const char *name;
	enum service service;
	const char *text;
	int n;
	enum notice_type type;
	int64_t deadline;
	const char *id;
} rows[] = {
	{"spot", ACTION, "{\"action\": \"terminate\", \"time\": \"2026-11-05T08:22:00Z\"}", 1,
	 NOTICE_PREEMPT, INT64_C(1793866920000), "spot:terminate:2026-11-05T08:22:00Z"},
	{"spot, without a time", ACTION, "{\"action\":\"stop\"}", 1, NOTICE_PREEMPT, 0,
	 "spot:stop:"},
	{"spot, a page", ACTION, "<html>", -1, 0, 0, NULL},
	{"spot, nothing", ACTION, "", -1, 0, 0, NULL},
	{"spot, an empty object", ACTION, "{}", -1, 0, 0, NULL},
	{"spot, half", ACTION, "{\"action\":\"stop\"", -1, 0, 0, NULL},
	{"spot, twice", ACTION, "{\"action\":\"stop\"}{}", -1, 0, 0, NULL},
	{"spot, a number", ACTION, "{\"action\":1}", -1, 0, 0, NULL},
	{"rebalance", REBALANCE, "{\"noticeTime\":\"2026-11-05T08:22:00Z\"}", 1, NOTICE_REBALANCE,
	 0, "rebalance:2026-11-05T08:22:00Z:"},
	{"rebalance, another", REBALANCE, "{\"action\":\"stop\"}", -1, 0, 0, NULL},
	{"no events", EVENTS, "[]", 0, 0, 0, NULL},
	{"an event", EVENTS,
	 "[{\"NotBefore\":\"21 Jan 2019 09:00:43 GMT\",\"Code\":\"system-reboot\","
	 "\"EventId\":\"e-1\",\"State\":\"active\"}]",
	 1, NOTICE_MAINTENANCE, INT64_C(1548061243000), "event:e-1:system-reboot"},
	{"a past event", EVENTS, "[{\"Code\":\"x\",\"EventId\":\"e-1\",\"State\":\"completed\"}]",
	 0, 0, 0, NULL},
	{"events, an object", EVENTS, "{}", -1, 0, 0, NULL},
	{"events of numbers", EVENTS, "[1]", -1, 0, 0, NULL},
	{"preempted", PREEMPTED, "TRUE\n", 1, NOTICE_PREEMPT, 35000, "preempted"},
	{"not preempted", PREEMPTED, "FALSE", 0, 0, 0, NULL},
	{"preempted?", PREEMPTED, "TRUEFALSE", -1, 0, 0, NULL},
	{"host", HOST, "TERMINATE_ON_HOST_MAINTENANCE", 1, NOTICE_MAINTENANCE, 0,
	 "maintenance:TERMINATE_ON_HOST_MAINTENANCE:"},
	{"no maintenance", HOST, "NONE", 0, 0, 0, NULL},
	{"host?", HOST, "MAYBE", -1, 0, 0, NULL},
	{"azure", AZURE, "{\"DocumentIncarnation\":1,\"Events\":[" EVENT("") "]}", 1,
	 NOTICE_MAINTENANCE, INT64_C(1474309787000), "aa-1"},
	{"azure, no events", AZURE, "{\"DocumentIncarnation\":1,\"Events\":[]}", 0, 0, 0, NULL},
	{"azure, for others", AZURE,
	 "{\"Events\":[{\"EventId\":\"a\",\"EventType\":\"Preempt\",\"Resources\":[\"vm2\"]}]}", 0,
	 0, 0, NULL},
	{"azure, preempted", AZURE,
	 "{\"Events\":[{\"EventId\":\"a\",\"EventType\":\"Preempt\",\"Resources\":[\"vm1\"],"
	 "\"NotBefore\":\"\"}]}",
	 1, NOTICE_PREEMPT, 0, "a"},
	{"azure, an id that is none", AZURE,
	 "{\"Events\":[{\"EventId\":\"a\\\"}\",\"EventType\":\"Preempt\",\"Resources\":[\"vm1\"]}]"
	 "}",
	 0, 0, 0, NULL},
	{"azure, no list", AZURE, "{\"DocumentIncarnation\":1}", -1, 0, 0, NULL},
	{"azure, a page", AZURE, "<html>", -1, 0, 0, NULL},
	{"nothing printed", LINE, "\n", 0, 0, 0, NULL},
	{"an empty file", FILE_, "", 1, NOTICE_PREEMPT, 0, "told::"},
	{"a word", LINE, "rebalance\nmore", 1, NOTICE_REBALANCE, 0, "told:rebalance:"},
	{"a word and a time", LINE, "maintenance 1893553445\n", 1, NOTICE_MAINTENANCE,
	 INT64_C(1893553445000), "told:maintenance 1893553445:"},
	{"a time beyond all", LINE, "preempt 99999999999999999999", 1, NOTICE_PREEMPT, 0,
	 "told:preempt 99999999999999999999:"},
	{"another word", LINE, "Faultyish", 1, NOTICE_PREEMPT, 0, "told:Faultyish:"},
	{"shutdown is ours to say", LINE, "shutdown", 1, NOTICE_PREEMPT, 0, "told:shutdown:"},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		assert_int_equal(ask(rows[i].service, rows[i].text), rows[i].n);
		if (rows[i].n < 1)
			continue;
		assert_int_equal(got[0].type, rows[i].type);
		assert_int_equal(got[0].deadline, rows[i].deadline);
		assert_string_equal(got[0].id, rows[i].id);
	}
}

/* More events than are kept: the first ones count. */
static void test_many(void **state)
{
	char text[4096] = "{\"Events\":[" EVENT("");

	(void)state;
	for (int i = 0; i < 20; i++)
		memcpy(text + strlen(text), "," EVENT(""), sizeof("," EVENT("")));
	memcpy(text + strlen(text), "]}", 3);
	assert_int_equal(ask(AZURE, text), META_NOTICES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
