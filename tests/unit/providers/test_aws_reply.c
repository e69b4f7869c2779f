/* test_aws_reply.c - what the driver aws makes of replies about instances, recorded and made up. */
#include "tests/unit/providers/aws_lab.h"

static void test_a_recorded_launch_is_read(void **state)
{
	char *text = fixture("run-instances.xml");
	struct provider_op op = create(3);
	struct provider_result r;

	(void)state;
	(void)snprintf(names[2], sizeof(names[2]), "c4");
	parse(&r, &op, 200, text);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_string_equal(r.message, "");
	assert_int_equal(r.nitems, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(r.items[i].code, PROVIDER_OK);
		assert_string_equal(r.items[i].instance.node, names[i]);
		assert_int_equal(r.items[i].instance.state, PROVIDER_PENDING);
		assert_true(strncmp(r.items[i].instance.addr, "172.31.0.", 9) == 0);
		assert_int_equal(r.items[i].instance.addr[9], '4' + (int)i);
		assert_true(r.items[i].instance.created_ms > INT64_C(1790000000000));
	}
	provider_result_fini(&r);
	free(text);
}

#define RUN(instances)                                                                             \
	XML "<RunInstancesResponse><instancesSet>" instances                                       \
	    "</instancesSet></RunInstancesResponse>"
#define MADE(id, index)                                                                            \
	"<item><instanceId>" id "</instanceId><amiLaunchIndex>" index "</amiLaunchIndex></item>"

static void test_a_launch_is_read_by_launch_index_and_else_not_believed(void **state)
{
	static const struct {
		const char *body;
		const char *ids[3]; /* NULL: not had */
	} rows[] = {
		{RUN(MADE("i-c", "2") MADE("i-a", "0") MADE("i-b", "1")), {"i-a", "i-b", "i-c"}},
		{RUN(MADE("i-b", "1") MADE("i-a", "0")), {"i-a", "i-b", NULL}},
		{RUN(MADE("i-c", "2")), {NULL, NULL, "i-c"}},
		{RUN(""), {NULL}},
		{RUN(MADE("i-a", "0") MADE("i-b", "0")), {NULL}}, /* two of one name */
		{RUN(MADE("i-a", "0") MADE("i-a", "1")), {NULL}}, /* one of two names */
		{RUN(MADE("i-a", "3")), {NULL}},
		{RUN(MADE("i-a", "")), {NULL}},
		{RUN(MADE("i-a", "-1")), {NULL}},
		{RUN(MADE("", "0")), {NULL}},
		{XML "<CreateFleetResponse/>", {NULL}},
		{"", {NULL}},
	};
	struct provider_op op = create(3);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const *ids = rows[i].ids;
		bool any = ids[0] != NULL || ids[1] != NULL || ids[2] != NULL;
		struct provider_result r;

		print_message("# %s\n", rows[i].body);
		parse(&r, &op, 200, rows[i].body);
		assert_int_equal(r.code, any ? PROVIDER_OK : PROVIDER_AMBIGUOUS);
		assert_int_equal(r.nitems, any ? 3 : 0);
		for (size_t k = 0; k < r.nitems; k++) {
			assert_int_equal(r.items[k].code,
					 ids[k] != NULL ? PROVIDER_OK : PROVIDER_CAPACITY);
			assert_string_equal(r.items[k].instance.id, ids[k] != NULL ? ids[k] : "");
		}
		provider_result_fini(&r);
	}
}

/* A6: EC2 may take one back in the answer to its launch. */
static void test_a_launch_says_who_was_taken(void **state)
{
	static const char body[] =
		RUN("<item><instanceId>i-a</instanceId><amiLaunchIndex>0</amiLaunchIndex>"
		    "<instanceState><code>48</code><name>terminated</name></instanceState>"
		    "<stateReason><code>Server.SpotInstanceTermination</code></stateReason></"
		    "item>" MADE("i-b", "1"));
	struct provider_op op = create(2);
	struct provider_result r;

	(void)state;
	parse(&r, &op, 200, body);
	assert_true(r.items[0].instance.taken);
	assert_false(r.items[1].instance.taken);
	provider_result_fini(&r);
}

static void test_a_recorded_list_is_read_and_a_piece_of_it_is_no_list(void **state)
{
	char *text = fixture("describe-instances.xml"), *end;
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_result r;

	(void)state;
	op.u.list.cluster = UUID;
	op.cursor = "";
	parse(&r, &op, 200, text);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 4);
	assert_string_equal(r.cursor, "");
	assert_string_equal(r.instances[0].node, "c1");
	assert_int_equal(r.instances[0].gen, 7);
	assert_int_equal(r.instances[0].state, PROVIDER_ENDED);
	assert_true(r.instances[0].ended_ms > r.instances[0].created_ms);
	assert_true(r.instances[0].ended_ms - r.instances[0].created_ms < 60000);
	assert_string_equal(r.instances[1].node, "c2");
	assert_int_equal(r.instances[1].state, PROVIDER_RUNNING);
	assert_string_equal(r.instances[1].addr, "172.31.0.5");
	assert_string_equal(r.instances[1].type, "g4dn.metal");
	assert_string_equal(r.instances[1].zone, "eu-west-1a");
	for (size_t i = 0; i < 4; i++) {
		assert_true(r.instances[i].says_market);
		assert_int_equal(r.instances[i].spot, i == 3);
	}
	assert_string_equal(r.instances[2].node, "c4");
	assert_string_equal(r.instances[3].node, "f1");
	assert_int_equal(r.instances[3].gen, 3);
	provider_result_fini(&r);
	end = strrchr(text, '>');
	for (size_t n = 0; n < (size_t)(end - text); n += n < 200 ? 1 : 97) { /* I12 */
		struct provider_reply reply = {.status = 200, .body = text, .len = n};

		r = (struct provider_result){0};
		provider_aws.parse(self, &op, &reply, &r);
		assert_int_equal(r.code, PROVIDER_TRANSIENT);
		assert_int_equal(r.ninstances, 0);
		provider_result_fini(&r);
	}
	free(text);
}

static void test_lists_that_cannot_be_believed_are_none(void **state)
{
	static const struct {
		const char *body;
		enum provider_code code;
		const char *cursor;
	} rows[] = {
		{LIST("", ""), PROVIDER_OK, ""},
		{LIST("", "<nextToken>n</nextToken>"), PROVIDER_MORE, "n"},
		{LIST("", "<nextToken/>"), PROVIDER_OK, ""},
		{LIST("", "<nextToken>again</nextToken>"), PROVIDER_TRANSIENT, ""},
		{XML "<DescribeInstancesResponse/>", PROVIDER_TRANSIENT, ""},
		{XML "<html>login</html>", PROVIDER_TRANSIENT, ""},
		{LIST("<item><amiLaunchIndex>0</amiLaunchIndex></item>", ""), PROVIDER_TRANSIENT,
		 ""},
		{LIST(ONE("0", TAG("burstd-cluster", "0123456789012345678901234567890123456789"
						     "0123456789012345678901234567890123")),
		      ""),
		 PROVIDER_TRANSIENT, ""},
		{"<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>",
		 PROVIDER_OK, ""},
		{"<!DOCTYPE x [<!ENTITY a \"b\">]><DescribeInstancesResponse><reservationSet/>"
		 "</DescribeInstancesResponse>",
		 PROVIDER_TRANSIENT, ""},
		{"{}", PROVIDER_TRANSIENT, ""},
	};
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	op.u.list.cluster = UUID;
	op.cursor = "again";
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;

		print_message("# %s\n", rows[i].body);
		parse(&r, &op, 200, rows[i].body);
		assert_int_equal(r.code, rows[i].code);
		assert_string_equal(r.cursor, rows[i].cursor);
		provider_result_fini(&r);
	}
}

/* F43: stopped instead of ended, it may be started again, and its volumes bill. */
static void test_states_of_ec2_are_ours_and_a_new_one_still_bills(void **state)
{
	static const struct {
		const char *word;
		enum provider_state state;
	} rows[] = {
		{"pending", PROVIDER_PENDING},        {"running", PROVIDER_RUNNING},
		{"shutting-down", PROVIDER_STOPPING}, {"stopping", PROVIDER_STOPPING},
		{"stopped", PROVIDER_STOPPING},       {"terminated", PROVIDER_ENDED},
		{"hibernating", PROVIDER_UNKNOWN},    {"", PROVIDER_UNKNOWN},
	};
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	op.u.list.cluster = UUID;
	op.cursor = "";
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;
		struct str s;

		str_init(&s, 4096);
		str_addf(&s,
			 "<DescribeInstancesResponse><reservationSet><item><instancesSet><item>"
			 "<instanceId>i-1</instanceId><instanceState><name>%s</name>"
			 "</instanceState></item></instancesSet></item></reservationSet>"
			 "</DescribeInstancesResponse>",
			 rows[i].word);
		parse(&r, &op, 200, s.p);
		assert_int_equal(r.code, PROVIDER_OK);
		assert_int_equal(r.instances[0].state, rows[i].state);
		assert_string_equal(r.instances[0].cluster, ""); /* a stranger's */
		provider_result_fini(&r);
		str_fini(&s);
	}
}

static void test_deletes_are_read_id_by_id(void **state)
{
	char *ended = fixture("terminate-instances.xml"), *unknown = fixture("error-not-found.xml");
	const char *ids[] = {"i-0123456789abcdef0", "i-8737acccc977028e1", "i-0123456789abcdef"};
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;

	(void)state;
	op.u.del.ids = ids;
	op.u.del.nids = 3;
	parse(&r, &op, 200, ended);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 3);
	assert_int_equal(r.items[0].code, PROVIDER_TRANSIENT); /* nobody spoke of it */
	assert_int_equal(r.items[1].code, PROVIDER_OK);
	assert_int_equal(r.items[1].instance.state, PROVIDER_STOPPING);
	provider_result_fini(&r);
	/* One that EC2 does not know spoils the call: the others are asked for again. */
	parse(&r, &op, 400, unknown);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_NOT_FOUND);
	assert_int_equal(r.items[1].code, PROVIDER_TRANSIENT);
	assert_int_equal(r.items[2].code, PROVIDER_TRANSIENT); /* the beginning of another id */
	provider_result_fini(&r);
	op.u.del.ids = ids + 1; /* it speaks of none of ours */
	op.u.del.nids = 1;
	parse(&r, &op, 400, unknown);
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_int_equal(r.nitems, 0);
	provider_result_fini(&r);
	ids[0] = "i-1"; /* nor is the end of another word an id */
	op.u.del.ids = ids;
	parse(&r, &op, 400,
	      "<Response><Errors><Error><Code>InvalidInstanceID.NotFound</Code><Message>not "
	      "'ami-1'</Message></Error></Errors></Response>");
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_int_equal(r.nitems, 0);
	provider_result_fini(&r);
	free(ended);
	free(unknown);
}

/* All at once, not some with each request. */
static void test_all_ids_that_ec2_does_not_know_are_told(void **state)
{
	static char ids[250][32];
	const char *all[250];
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;
	struct str s;

	(void)state;
	str_init(&s, BODY_MAX);
	str_adds(&s, "<Response><Errors><Error><Code>InvalidInstanceID.NotFound</Code>"
		     "<Message>The instance IDs '");
	for (int i = 0; i < 250; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "i-%017x", (unsigned)i);
		all[i] = ids[i];
		str_addf(&s, "%s%s", i > 0 ? ", " : "", ids[i]);
	}
	str_adds(&s, "' do not exist</Message></Error></Errors></Response>");
	op.u.del.ids = all;
	op.u.del.nids = 250;
	parse(&r, &op, 400, s.p);
	assert_int_equal(r.nitems, 250);
	for (size_t i = 0; i < 250; i++)
		assert_int_equal(r.items[i].code, PROVIDER_NOT_FOUND);
	provider_result_fini(&r);
	str_fini(&s);
}

/* The others are sent again without it, and end. */
static void test_one_that_cannot_end_yet_keeps_no_other(void **state)
{
	const char *ids[] = {"i-1", "i-2"};
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;

	(void)state;
	op.u.del.ids = ids;
	op.u.del.nids = 2;
	parse(&r, &op, 400,
	      "<Response><Errors><Error><Code>IncorrectInstanceState</Code><Message>The instance "
	      "'i-2' is not in a state from which it can be terminated.</Message></Error></Errors>"
	      "</Response>");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_TRANSIENT);
	assert_int_equal(r.items[1].code, PROVIDER_NOT_YET);
	provider_result_fini(&r);
}

static void test_one_that_is_protected_is_told_to_an_admin(void **state)
{
	const char *ids[] = {"i-1", "i-2"};
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;

	(void)state;
	op.u.del.ids = ids;
	op.u.del.nids = 2;
	parse(&r, &op, 400,
	      "<Response><Errors><Error><Code>OperationNotPermitted</Code><Message>The instance "
	      "'i-2' may not be terminated. Modify its 'disableApiTermination' instance attribute "
	      "and try again.</Message></Error></Errors></Response>");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_TRANSIENT);
	assert_int_equal(r.items[1].code, PROVIDER_DENIED);
	provider_result_fini(&r);
}

static void test_a_report_is_taken_or_not(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code;
	} rows[] = {
		{200,
		 "<ReportInstanceStatusResponse><requestId>r</requestId><return>true</return>"
		 "</ReportInstanceStatusResponse>",
		 PROVIDER_OK},
		{200,
		 "<ReportInstanceStatusResponse><return>false</return>"
		 "</ReportInstanceStatusResponse>",
		 PROVIDER_TRANSIENT},
		{200, "", PROVIDER_TRANSIENT},
		{403,
		 "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no</Message>"
		 "</Error></Errors></Response>",
		 PROVIDER_DENIED},
		{400,
		 "<Response><Errors><Error><Code>InvalidInstanceID.NotFound</Code><Message>no"
		 "</Message></Error></Errors></Response>",
		 PROVIDER_INVALID},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_op op = {.kind = PROVIDER_REPORT};
		struct provider_result r;

		op.u.report.id = "i-1";
		op.u.report.words = "";
		parse(&r, &op, rows[i].status, rows[i].body);
		assert_int_equal(r.code, rows[i].code);
		provider_result_fini(&r);
	}
}

#define CONSOLE(inner)                                                                             \
	"<GetConsoleOutputResponse "                                                               \
	"xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>1"                          \
	"</requestId><instanceId>i-1</instanceId>" inner "</GetConsoleOutputResponse>"

static void test_a_console_is_read(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code;
		const char *log; /* NULL: none */
	} rows[] = {
		{200, CONSOLE("<output>S2VybmVsIHBhbmljCg==</output>"), PROVIDER_OK,
		 "Kernel panic\n"},
		{200, CONSOLE("<output>S2VybmVs\nIHBhbmljCg==\n</output>"), PROVIDER_OK,
		 "Kernel panic\n"},
		{200, CONSOLE("<output>YQBi</output>"), PROVIDER_OK, "a?b"},
		{200, CONSOLE("<timestamp>2026-11-28T00:00:00.000Z</timestamp>"), PROVIDER_OK,
		 NULL},
		{200, CONSOLE("<output/>"), PROVIDER_OK, NULL},
		{200, CONSOLE("<output>Kernel panic!</output>"), PROVIDER_TRANSIENT, NULL},
		{200, "<GetConsoleOutputResponse><output>YQ", PROVIDER_TRANSIENT, NULL},
		{200, "", PROVIDER_TRANSIENT, NULL},
		{400,
		 "<Response><Errors><Error><Code>UnsupportedOperation</Code><Message>This instance "
		 "type does not support retrieving the latest console logs</Message></Error>"
		 "</Errors></Response>",
		 PROVIDER_INVALID, NULL},
		{403,
		 "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no</Message>"
		 "</Error></Errors></Response>",
		 PROVIDER_DENIED, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_op op = {.kind = PROVIDER_CONSOLE};
		struct provider_result r;

		op.u.console.id = "i-1";
		parse(&r, &op, rows[i].status, rows[i].body);
		assert_int_equal(r.code, rows[i].code);
		if (rows[i].log == NULL)
			assert_null(r.console);
		else
			assert_string_equal(r.console, rows[i].log);
		provider_result_fini(&r);
	}
}

/* EC2 keeps 64 KiB; a longer one is no reason to read none. */
static void test_of_a_long_console_the_end_is_read(void **state)
{
	struct provider_op op = {.kind = PROVIDER_CONSOLE};
	struct provider_result r;
	struct str s;

	(void)state;
	op.u.console.id = "i-1";
	str_init(&s, 1 << 20);
	str_adds(&s, "<GetConsoleOutputResponse><output>");
	for (size_t i = 0; i < 22000; i++)
		str_adds(&s, "eHh4"); /* xxx */
	str_adds(&s, "ZW5k</output></GetConsoleOutputResponse>");
	parse(&r, &op, 200, s.p);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(strlen(r.console), PROVIDER_CONSOLE_MAX);
	assert_string_equal(r.console + PROVIDER_CONSOLE_MAX - 4, "xend");
	provider_result_fini(&r);
	str_fini(&s);
}

/* As parse() would have it, wherever it is cut. */
static void read_in_pieces(struct provider_result *r, const char *text, size_t step)
{
	const struct provider_op op = {.kind = PROVIDER_LIST, .cursor = ""};
	const struct provider_reply reply = {.status = 200, .body = ""};
	void *reader = provider_aws.read_begin(self, &op);
	size_t n = strlen(text);

	*r = (struct provider_result){0};
	for (size_t at = 0; at < n; at += step)
		provider_aws.read_some(reader, text + at, n - at < step ? n - at : step);
	provider_aws.read_end(reader, self, &op, &reply, r);
}

static void test_a_list_may_come_in_pieces(void **state)
{
	static const size_t steps[] = {1, 7, 1000, BODY_MAX};
	const struct provider_op op = {.kind = PROVIDER_LIST, .cursor = ""};
	const struct provider_op other = {.kind = PROVIDER_QUOTES, .cursor = ""};
	char *texts[] = {fixture("describe-instances.xml"), fixture("run-instances.xml"),
			 mem_strdup(""),
			 mem_strdup(LIST(ONE("0", OURS), "<nextToken>n</nextToken>")),
			 mem_strdup(LIST(ONE("0", OURS), ""))};
	void *reader;

	(void)state;
	assert_null(provider_aws.read_begin(self, &other));
	reader = provider_aws.read_begin(self, &op);
	provider_aws.read_some(reader, texts[0], strlen(texts[0])); /* and dropped */
	provider_aws.read_end(reader, NULL, NULL, NULL, NULL);
	texts[4][strlen(texts[4]) - 9] = '\0'; /* cut off */
	for (size_t i = 0; i < 5; i++) {
		struct provider_result whole, pieces;

		parse(&whole, &op, 200, texts[i]);
		for (size_t k = 0; k < 4; k++) {
			read_in_pieces(&pieces, texts[i], steps[k]);
			assert_int_equal(pieces.code, whole.code);
			assert_int_equal(
				strncmp(pieces.message, whole.message, strlen(pieces.message)),
				0); /* the id of the request is in a header alone */
			assert_string_equal(pieces.cursor, whole.cursor);
			assert_int_equal(pieces.ninstances, whole.ninstances);
			assert_int_equal(pieces.nfailures, whole.nfailures);
			assert_memory_equal(pieces.instances, whole.instances,
					    whole.ninstances * sizeof(*whole.instances));
			provider_result_fini(&pieces);
		}
		assert_int_equal(whole.code, i == 0   ? PROVIDER_OK
					     : i == 3 ? PROVIDER_MORE
						      : PROVIDER_TRANSIENT);
		provider_result_fini(&whole);
		free(texts[i]);
	}
}

/* F30: nor may a page have any number of instances. */
static void test_a_page_has_an_end(void **state)
{
	const struct provider_op op = {.kind = PROVIDER_LIST, .cursor = ""};
	struct provider_result r;
	struct str s;

	(void)state;
	for (int n = 4000; n <= 4001; n++) {
		str_init(&s, 1 << 24);
		str_adds(&s, "<DescribeInstancesResponse><reservationSet><item><instancesSet>");
		for (int i = 0; i < n; i++)
			str_addf(&s,
				 "<item><instanceId>i-%d</instanceId><instanceState><name>running"
				 "</name></instanceState></item>",
				 i);
		str_adds(&s, "</instancesSet></item></reservationSet></DescribeInstancesResponse>");
		parse(&r, &op, 200, s.p);
		assert_int_equal(r.code, n == 4000 ? PROVIDER_OK : PROVIDER_TRANSIENT);
		provider_result_fini(&r);
		str_fini(&s);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_recorded_launch_is_read),
		T(test_a_launch_is_read_by_launch_index_and_else_not_believed),
		T(test_a_launch_says_who_was_taken),
		T(test_a_recorded_list_is_read_and_a_piece_of_it_is_no_list),
		T(test_lists_that_cannot_be_believed_are_none),
		T(test_a_list_may_come_in_pieces),
		T(test_a_page_has_an_end),
		T(test_states_of_ec2_are_ours_and_a_new_one_still_bills),
		T(test_deletes_are_read_id_by_id),
		T(test_all_ids_that_ec2_does_not_know_are_told),
		T(test_one_that_cannot_end_yet_keeps_no_other),
		T(test_one_that_is_protected_is_told_to_an_admin),
		T(test_a_report_is_taken_or_not),
		T(test_a_console_is_read),
		T(test_of_a_long_console_the_end_is_read),
	};
#undef T

	return cmocka_run_group_tests_name("aws replies", tests, NULL, NULL);
}
