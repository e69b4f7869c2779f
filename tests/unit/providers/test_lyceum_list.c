/* test_lyceum_list.c - the driver lyceum: who and what Lyceum's VMs are.  Bodies are in the form of
 * those recorded by skypilot-lyceum (see lyceum.c), with our names. */
#include "lyceum_lab.h"

/* The only VM of a list with these members. */
static struct provider_instance only(const char *members)
{
	char body[1000];
	struct provider_instance i;
	struct provider_result r;

	(void)snprintf(body, sizeof(body),
		       VMS("{\"vm_id\":\"i-1\",\"display_name\":\"" NAME "\"%s}", "1"), members);
	r = parse(PROVIDER_LIST, 200, body);
	if (r.code != PROVIDER_OK || r.ninstances != 1)
		fail_msg("%s: %s", members, r.message);
	i = r.instances[0];
	provider_result_fini(&r);
	return i;
}

static void test_states(void **state)
{
	static const struct {
		const char *members;
		enum provider_state state;
	} rows[] = {
		{",\"status\":\"pending\"", PROVIDER_PENDING},
		{",\"status\":\"provisioning\"", PROVIDER_PENDING},
		{",\"status\":\"ready\"", PROVIDER_RUNNING},
		{",\"status\":\"running\"", PROVIDER_RUNNING},
		{",\"status\":\"terminated\"", PROVIDER_ENDED},
		/* Nothing says that their bill has ended: to be deleted. */
		{",\"status\":\"failed\"", PROVIDER_FAILED},
		{",\"status\":\"error\"", PROVIDER_FAILED},
		/* It exists, and bills. */
		{",\"status\":\"terminating\"", PROVIDER_UNKNOWN},
		{",\"status\":\"Terminated\"", PROVIDER_UNKNOWN},
		{",\"status\":\"\"", PROVIDER_UNKNOWN},
		{",\"status\":null", PROVIDER_UNKNOWN},
		{",\"status\":{}", PROVIDER_UNKNOWN},
		{"", PROVIDER_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_instance in = only(rows[i].members);

		if (in.state != rows[i].state)
			fail_msg("row %zu: %d", i, (int)in.state);
		assert_false(in.taken);
	}
}

/* F10: people are told who says that it failed. */
static void test_a_vm_that_failed_has_words(void **state)
{
	struct provider_result r =
		parse(PROVIDER_LIST, 200, VMS(OURS("a", "failed") "," OURS("b", "ready"), "2"));

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nfailures, 1);
	assert_string_equal(r.failures[0].id, "a");
	assert_int_equal(r.failures[0].code, PROVIDER_TRANSIENT);
	assert_string_equal(r.failures[0].message, "Lyceum says that it failed, and not why");
	provider_result_fini(&r);
}

static void test_a_vm_as_lyceum_shows_it(void **state)
{
	struct provider_result r =
		parse(PROVIDER_LIST, 200, VMS(OURS("fa292eba-16ba", "ready"), "1"));
	const struct provider_instance *i = &r.instances[0];

	(void)state;
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(i->id, "fa292eba-16ba");
	assert_string_equal(i->cluster, CLUSTER);
	assert_string_equal(i->node, "h100-7");
	assert_int_equal(i->gen, 12);
	assert_int_equal(i->state, PROVIDER_RUNNING);
	assert_string_equal(i->addr, "203.0.113.10");
	assert_int_equal(i->created_ms, 1785506644426);
	assert_string_equal(r.cursor, "");
	provider_result_fini(&r);
}

static void test_addresses(void **state)
{
	static const struct {
		const char *said, *addr;
	} rows[] = {
		{"\"203.0.113.10\"", "203.0.113.10"},
		{"\"198.51.100.20:22\"", "198.51.100.20"},
		{"\"198.51.100.20:2222\"", "198.51.100.20"},
		{"\"2a01:4f8:c17::1\"", "2a01:4f8:c17::1"},
		{"\"[2a01:4f8:c17::1]:22\"", "2a01:4f8:c17::1"},
		{"\"[2a01:4f8:c17::1]\"", "2a01:4f8:c17::1"},
		/* Ready, and without an address: it is not down, but on its way. */
		{"null", ""},
		{"\"\"", ""},
		/* What cannot be read does not cost the list. */
		{"\"203.0.113.10:22:22\"", ""},
		{"\":22\"", ""},
		{"\"[\"", ""},
		{"\"a host\"", ""},
		{"\"203.0.113.256\"", ""},
		{"7", ""},
		{"\"2001:0db8:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0001\"",
		 ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_instance in;
		char members[200];

		(void)snprintf(members, sizeof(members), ",\"status\":\"ready\",\"ip_address\":%s",
			       rows[i].said);
		in = only(members);
		assert_string_equal(in.addr, rows[i].addr);
		assert_int_equal(in.state, PROVIDER_RUNNING);
	}
}

/* A create's time had no zone, and a list's had one: both are UTC. */
static void test_times(void **state)
{
	(void)state;
	assert_int_equal(only(",\"created_at\":\"2026-07-31T14:04:04.426796Z\"").created_ms,
			 1785506644426);
	assert_int_equal(only(",\"created_at\":\"2026-07-31T14:04:04.426796\"").created_ms,
			 1785506644426);
	assert_int_equal(only(",\"created_at\":\"2026-07-31T16:04:04.426796+02:00\"").created_ms,
			 1785506644426);
	assert_int_equal(only(",\"created_at\":\"yesterday\"").created_ms, 0);
	assert_int_equal(only(",\"created_at\":\"1901-07-31T14:04:04Z\"").created_ms, 0);
	assert_int_equal(only(",\"created_at\":null").created_ms, 0);
	assert_int_equal(only("").created_ms, 0);
}

/* Whose VM is it, and which node's?  "-": not ours; "?": ours, but who? */
static void test_who_a_vm_is(void **state)
{
	static const struct {
		const char *name, *node;
		uint64_t gen;
	} rows[] = {
		{"\"" NAME "\"", "h100-7", 12},
		{"\"" PREFIX "-1-c1\"", "c1", 1},
		/* One that is ours is never lost, whatever somebody has made of its name. */
		{"\"" PREFIX "-oops\"", "?", 0},
		{"\"" PREFIX "\"", "?", 0},
		{"\"" PREFIX "-0-c1\"", "?", 0},
		{"\"" PREFIX "-1-C1\"", "?", 0},
		{"\"sky-cluster-abc\"", "-", 0},
		{"\"b0b1c2d3e4f51-c-h100-7\"", "-", 0},
		{"\"\"", "-", 0},
		{"null", "-", 0},
		{"7", "-", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const bool ours = strcmp(rows[i].node, "-") != 0;
		const char *node = strcmp(rows[i].node, "?") == 0 ? "" : rows[i].node;
		struct provider_result r;
		char body[300];

		(void)snprintf(body, sizeof(body),
			       VMS("{\"vm_id\":\"i-1\",\"display_name\":%s}", "1"), rows[i].name);
		r = parse(PROVIDER_LIST, 200, body);
		if (r.code != PROVIDER_OK || r.ninstances != ours)
			fail_msg("row %zu: %s %zu", i, r.message, r.ninstances);
		if (ours &&
		    (strcmp(r.instances[0].node, node) != 0 || r.instances[0].gen != rows[i].gen ||
		     strcmp(r.instances[0].cluster, CLUSTER) != 0))
			fail_msg("row %zu: %s %llu", i, r.instances[0].node,
				 (unsigned long long)r.instances[0].gen);
		provider_result_fini(&r);
	}
}

static void test_odd_vms_of_others_spoil_no_list(void **state)
{
	struct provider_result r =
		parse(PROVIDER_LIST, 200,
		      VMS("{\"vm_id\":{},\"status\":7},7,null,[]," OURS(
				  "i-1", "ready") ",{\"display_name\":[]}," OURS("i-2", "pending"),
			  "7"));

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 2);
	assert_string_equal(r.instances[1].id, "i-2");
	provider_result_fini(&r);
}

/* A list with a total of its own: all are asked for, and there the total must be that of the rows.
 * Otherwise it would be a page, and who is not on it would be taken for gone (I12). */
static void test_a_total_that_differs(void **state)
{
	struct provider_op op = op_of(PROVIDER_LIST);
	static const char *const totals[] = {"2", "0", "1000"};

	(void)state;
	for (size_t i = 0; i < COUNT(totals); i++) {
		struct provider_result r;
		char body[1000];

		(void)snprintf(body, sizeof(body), "{\"vms\":[%s],\"total\":%s}",
			       OURS("i-1", "ready"), totals[i]);
		op.cursor = "";
		r = parse_later(&op, 200, body, NULL);
		assert_int_equal(r.code, PROVIDER_MORE);
		assert_string_equal(r.cursor, "all");
		provider_result_fini(&r);
		op.cursor = "all";
		r = parse_later(&op, 200, body, NULL);
		assert_int_equal(r.code, PROVIDER_TRANSIENT);
		assert_string_equal(r.message,
				    "malformed reply: total: want the number of VMs in the list");
		provider_result_fini(&r);
	}
}

/* The dead are listed for ever, whether or not one has asked for them: they are no machines. */
static void test_ended_ones_that_are_still_listed(void **state)
{
	struct provider_op op = op_of(PROVIDER_LIST);
	struct provider_result r;

	(void)state;
	op.cursor = "all";
	r = parse_later(&op, 200, VMS(OURS("i-1", "terminated") "," OURS("i-2", "ready"), "2"),
			NULL);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_string_equal(r.cursor, "");
	assert_int_equal(r.ninstances, 2);
	assert_int_equal(r.instances[0].state, PROVIDER_ENDED);
	assert_int_equal(r.instances[1].state, PROVIDER_RUNNING);
	provider_result_fini(&r);
}

/* I12: a list that is cut is no list, wherever it is cut. */
static void test_a_list_that_is_cut_short(void **state)
{
	static const char body[] = VMS(OURS("i-1", "ready") "," OURS("i-2", "pending"), "2");
	char text[sizeof(body)];

	(void)state;
	for (size_t n = 0; n < sizeof(body) - 1; n++) {
		struct provider_result r;

		memcpy(text, body, n);
		text[n] = '\0';
		r = parse(PROVIDER_LIST, 200, text);
		assert_int_equal(r.code, PROVIDER_TRANSIENT);
		assert_int_equal(r.ninstances, 0);
		provider_result_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_states),
		T(test_a_vm_that_failed_has_words),
		T(test_a_vm_as_lyceum_shows_it),
		T(test_addresses),
		T(test_times),
		T(test_who_a_vm_is),
		T(test_odd_vms_of_others_spoil_no_list),
		T(test_a_total_that_differs),
		T(test_ended_ones_that_are_still_listed),
		T(test_a_list_that_is_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
