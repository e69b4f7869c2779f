/* test_ironic_list.c - the driver ironic: instances out of two lists, and what is bought.  Bodies
 * are in the form of Ironic 39's answers (tests/contract/ironic_driver.py). */
#include "ironic_lab.h"

#include "base/str.h"

#define UUID(n)      "9c3e4f1a-0000-4000-8000-00000000000" n
#define NODES(in)    "{\"nodes\":[" in "]}"
#define NODES_ON(in) "{\"nodes\":[" in "],\"next\":\"http://ironic:6385/v1/nodes?marker=x\"}"
#define ALLOCS(in)   "{\"allocations\":[" in "]}"
#define ALLOCS_ON(in)                                                                              \
	"{\"allocations\":[" in "],\"next\":\"http://ironic:6385/v1/allocations?marker=x\"}"
#define MACHINE_OF(n, state, power, error)                                                         \
	"{\"uuid\":\"1f2e3d4c-0000-4000-8000-00000000000" n                                        \
	"\",\"instance_uuid\":\"" UUID(n) "\",\"provision_state\":\"" state                        \
					  "\",\"power_state\":\"" power                            \
					  "\",\"target_power_state\":null,\"last_error\":" error   \
					  ",\"name\":\"gpu-" n "\"}"
#define RUNS(n) MACHINE_OF(n, "active", "power on", "null")
#define ONE(n, name, state, made)                                                                  \
	"{\"uuid\":\"" UUID(n) "\",\"name\":\"" name "\",\"state\":\"" state                       \
			       "\",\"last_error\":null,\"created_at\":" made "}"
#define LACKS(n, error)                                                                            \
	"{\"uuid\":\"" UUID(n) "\",\"name\":\"b0b1c2d3e4f50-c-n" n                                 \
			       "\",\"state\":\"error\",\"last_error\":\"" error "\"}"
#define MADE      "\"1970-01-01T00:00:01.000000+00:00\""
#define MINE(n)   ONE(n, "b0b1c2d3e4f50-c-n" n, "active", MADE)
#define ALL       "a - - ~\n"
#define LATER(op) ((op).at_ms += 7200000)

static void test_requests(void **state)
{
	static const char address[] = "extra.ip";
	const struct ironic_options o = {.address = address};
	struct provider_op op = op_at(PROVIDER_LIST, "");

	(void)state;
	assert_request(&op, "GET " API "nodes?associated=true&fields=uuid%2Cinstance_uuid%2C"
			    "provision_state%2Cpower_state%2Ctarget_power_state%2Clast_error%2Cname"
			    "&sort_key=instance_uuid&limit=30");
	op.cursor = "n " ID " " MACHINE " " ID "\n";
	provider_ironic.close(self);
	assert_int_equal(open_with(&o, NULL, NULL), 0);
	assert_request(&op,
		       "GET " API "nodes?associated=true&fields=uuid%2Cinstance_uuid%2C"
		       "provision_state%2Cpower_state%2Ctarget_power_state%2Clast_error%2Cextra"
		       "&sort_key=instance_uuid&limit=30&marker=" MACHINE);
	op.cursor = ALL;
	assert_request(&op, "GET " API "allocations?fields=uuid%2Cname%2Cstate%2Clast_error%2C"
			    "created_at&sort_key=uuid&limit=500");
	op.cursor = "a " ID " " MACHINE " ~\nr123 x\n";
	assert_request(&op, "GET " API "allocations?fields=uuid%2Cname%2Cstate%2Clast_error%2C"
			    "created_at&sort_key=uuid&limit=500&marker=" ID);
}

static void test_cursors_that_there_are_not(void **state)
{
	static const char *const cursors[] = {"x - - -\n", "n", "n - -\n", "n - - -", "a - - "};

	(void)state;
	for (size_t i = 0; i < COUNT(cursors); i++) {
		struct provider_op op = op_at(PROVIDER_LIST, cursors[i]);
		struct provider_request rq = {0};
		struct provider_result r;

		assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
		r = parse_op(&op, 200, NODES(""));
		assert_int_equal(r.code, PROVIDER_TRANSIENT);
		provider_result_fini(&r);
	}
}

static const char *scripted[8]; /* the answers, in order */

/* A list of all pages. */
static struct provider_result list_at(int64_t at_ms, size_t *requests)
{
	char cursor[PROVIDER_CURSOR_MAX + 1] = "";
	struct provider_op op = op_at(PROVIDER_LIST, cursor);
	struct provider_result all = {0}, r = {.code = PROVIDER_MORE};
	size_t i = 0;

	op.at_ms = at_ms;
	for (; r.code == PROVIDER_MORE; i++) {
		char *text = request_of(&op);
		bool nodes = strstr(text, "/nodes") != NULL;

		if (scripted[i] == NULL)
			fail_msg("a request too many: %s", text);
		assert_true(nodes == (strstr(scripted[i], "\"nodes\"") != NULL));
		free(text);
		r = parse_op(&op, 200, scripted[i]);
		if (r.code == PROVIDER_OK || r.code == PROVIDER_MORE)
			for (size_t k = 0; k < r.ninstances; k++) {
				all.instances =
					mem_realloc(all.instances,
						    (all.ninstances + 1) * sizeof(*all.instances));
				all.instances[all.ninstances++] = r.instances[k];
			}
		memcpy(cursor, r.cursor, sizeof(cursor));
		all.code = r.code;
		memcpy(all.message, r.message, sizeof(all.message));
		provider_result_fini(&r);
		r.code = all.code;
	}
	assert_null(scripted[i]);
	*requests = i;
	return all;
}

static struct provider_result list(const char *a, const char *b, const char *c, const char *d,
				   const char *e)
{
	const char *all[] = {a, b, c, d, e};
	size_t n;

	memset(scripted, 0, sizeof(scripted));
	memcpy(scripted, all, sizeof(all));
	return list_at(NOW, &n);
}

static void test_an_instance_as_ironic_shows_it(void **state)
{
	struct provider_result r = list(NODES(RUNS("1")), ALLOCS(MINE("1")), NULL, NULL, NULL);
	const struct provider_instance *i = &r.instances[0];

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(i->id, UUID("1"));
	assert_string_equal(i->cluster, CLUSTER);
	assert_string_equal(i->node, "n1");
	assert_int_equal(i->gen, 12);
	assert_int_equal(i->state, PROVIDER_RUNNING);
	assert_string_equal(i->addr, "gpu-1");
	assert_int_equal(i->created_ms, 1000);
	provider_result_fini(&r);
}

static void test_states(void **state)
{
	static const struct {
		const char *word, *power;
		enum provider_state state;
	} rows[] = {
		{"deploying", "power off", PROVIDER_PENDING},
		{"wait call-back", "power on", PROVIDER_PENDING},
		{"deploy hold", "power on", PROVIDER_PENDING},
		{"rebuild", "power on", PROVIDER_PENDING},
		{"active", "power on", PROVIDER_RUNNING},
		/* It has died, or somebody has switched it off. */
		{"active", "power off", PROVIDER_STOPPING},
		{"deploy failed", "power off", PROVIDER_FAILED},
		{"deleting", "power on", PROVIDER_STOPPING},
		{"error", "power on", PROVIDER_STOPPING},
		{"clean failed", "power on", PROVIDER_STOPPING},
		{"rescue", "power on", PROVIDER_UNKNOWN},
		{"servicing", "power on", PROVIDER_UNKNOWN},
		{"on fire", "power on", PROVIDER_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;
		char body[1000];

		(void)snprintf(body, sizeof(body), NODES(MACHINE_OF("1", "%s", "%s", "null")),
			       rows[i].word, rows[i].power);
		r = list(body, ALLOCS(MINE("1")), NULL, NULL, NULL);
		assert_int_equal(r.ninstances, 1);
		if (r.instances[0].state != rows[i].state)
			fail_msg("%s: %d", rows[i].word, (int)r.instances[0].state);
		provider_result_fini(&r);
	}
}

/* On its way on again, as at a reset. */
static void test_a_reset_is_no_end(void **state)
{
	struct provider_result r =
		list(NODES("{\"uuid\":\"" MACHINE "\",\"instance_uuid\":\"" UUID(
			     "1") "\",\"provision_state\":\"active\",\"power_state\":\"power "
				  "off\",\"target_power_state\":\"power on\"}"),
		     ALLOCS(MINE("1")), NULL, NULL, NULL);

	(void)state;
	assert_int_equal(r.instances[0].state, PROVIDER_RUNNING);
	assert_string_equal(r.instances[0].addr, "");
	provider_result_fini(&r);
}

/* An allocation of ours, or none of ours. */
static void test_a_create_under_way_is_no_instance(void **state)
{
	static const char free_one[] = NODES(MACHINE_OF("1", "available", "power off", "null"));
	struct provider_result r = list(free_one, ALLOCS(MINE("1")), NULL, NULL, NULL);

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 0);
	provider_result_fini(&r);
	r = list(NODES(""), ALLOCS(ONE("1", "b0b1c2d3e4f50-c-n1", "allocating", MADE)), NULL, NULL,
		 NULL);
	assert_int_equal(r.ninstances, 0);
	provider_result_fini(&r);
}

/* Nobody goes on with it: it has to go. */
static void test_an_old_allocation_that_was_never_deployed_has_failed(void **state)
{
	struct provider_op op = op_at(PROVIDER_LIST, "a - - ~\nu000000000001 \n");
	struct provider_result r;

	(void)state;
	LATER(op);
	r = parse_op(&op, 200, ALLOCS(MINE("1")));
	assert_int_equal(r.ninstances, 1);
	assert_int_equal(r.instances[0].state, PROVIDER_FAILED);
	assert_int_equal(r.nfailures, 1);
	assert_string_equal(r.failures[0].id, UUID("1"));
	assert_int_equal(r.failures[0].code, PROVIDER_TRANSIENT);
	assert_string_equal(r.failures[0].message, "allocated, and never deployed");
	provider_result_fini(&r);
	/* The machine was not on the page: it may run. */
	op.cursor = ALL;
	r = parse_op(&op, 200, ALLOCS(MINE("1")));
	assert_int_equal(r.ninstances, 1);
	assert_int_equal(r.instances[0].state, PROVIDER_UNKNOWN);
	provider_result_fini(&r);
}

static void test_failures_say_why(void **state)
{
	struct provider_op op = op_at(PROVIDER_LIST, "");
	struct provider_result r = parse_op(
		&op, 200,
		NODES(MACHINE_OF("1", "deploy failed", "power off",
				 "\"Deploy step deploy.prepare failed:\\nno route to " SECRET
				 "\"")));
	char cursor[PROVIDER_CURSOR_MAX + 1];

	(void)state;
	memcpy(cursor, r.cursor, sizeof(cursor));
	provider_result_fini(&r);
	op.cursor = cursor;
	r = parse_op(
		&op, 200,
		ALLOCS(MINE("1") "," LACKS("2", "Failed to process allocation x: none.") "," LACKS(
			"3", "Unexpected exception during allocation: x")));
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nfailures, 3);
	assert_string_equal(r.failures[0].id, UUID("1"));
	assert_int_equal(r.failures[0].code, PROVIDER_TRANSIENT);
	assert_non_null(strstr(r.failures[0].message, "no route to ***"));
	assert_int_equal(r.instances[1].state, PROVIDER_FAILED);
	assert_int_equal(r.failures[1].code, PROVIDER_CAPACITY);
	assert_string_equal(r.failures[1].message, "Failed to process allocation x: none.");
	/* Not for want of a machine. */
	assert_int_equal(r.failures[2].code, PROVIDER_NOT_YET);
	provider_result_fini(&r);
}

static void test_who_is_ours(void **state)
{
	struct provider_result r =
		list(NODES(RUNS("1") "," RUNS("2") "," RUNS("3") "," RUNS("4")),
		     ALLOCS("{\"uuid\":\"" UUID("1") "\",\"name\":null}," ONE(
			     "2", "b0b1c2d3e4f51-1-n2", "active",
			     "7") "," ONE("3", "b0b1c2d3e4f50-what", "active", MADE) "," MINE("4")),
		     NULL, NULL, NULL);

	(void)state;
	assert_int_equal(r.ninstances, 2);
	assert_string_equal(r.instances[0].node, "");
	assert_int_equal(r.instances[0].gen, 0);
	assert_string_equal(r.instances[0].cluster, CLUSTER);
	assert_string_equal(r.instances[1].node, "n4");
	provider_result_fini(&r);
}

/* --- pages ---
 */

static void test_pages_of_both(void **state)
{
	struct provider_result r;

	(void)state;
	/* The second page of machines is read when the allocations have come that far. */
	r = list(NODES_ON(RUNS("1") "," RUNS("3")),
		 ALLOCS(MINE("1") "," MINE("2") "," MINE("3") "," MINE("4") "," MINE("5")),
		 NODES(RUNS("4") "," MACHINE_OF("5", "deploying", "power on", "null")),
		 ALLOCS(MINE("4") "," MINE("5")), NULL);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 4); /* "2" is a create under way */
	assert_string_equal(r.instances[2].node, "n4");
	assert_int_equal(r.instances[2].state, PROVIDER_RUNNING);
	assert_int_equal(r.instances[3].state, PROVIDER_PENDING);
	provider_result_fini(&r);
	/* Allocations have more pages than machines. */
	r = list(NODES(RUNS("1") "," RUNS("2")), ALLOCS_ON(MINE("1")), ALLOCS_ON(MINE("2")),
		 ALLOCS(""), NULL);
	assert_int_equal(r.ninstances, 2);
	assert_int_equal(r.instances[1].state, PROVIDER_RUNNING);
	provider_result_fini(&r);
	/* A full page has a next, which may be empty. */
	r = list(NODES_ON(RUNS("1")), ALLOCS_ON(MINE("1")), ALLOCS(MINE("2")), NODES(RUNS("2")),
		 ALLOCS(MINE("2")));
	assert_int_equal(r.ninstances, 2);
	provider_result_fini(&r);
	/* After the last allocation no machine is of interest. */
	r = list(NODES_ON(RUNS("1")), ALLOCS(MINE("1")), NULL, NULL, NULL);
	assert_int_equal(r.ninstances, 1);
	provider_result_fini(&r);
}

static void test_lists_that_are_wrong(void **state)
{
	static const struct {
		const char *cursor, *body, *message;
	} rows[] = {
		{"", "", "malformed reply: empty"},
		{"", "<html>", "malformed reply: no JSON"},
		{"", "{}", "malformed reply: nodes: want a list"},
		{"", NODES_ON(""), "malformed reply: nodes: want machines"},
		{"", NODES(RUNS("2") "," RUNS("1")), "malformed reply: nodes[1].instance_uuid"},
		{"", NODES("{\"uuid\":\"" MACHINE "\",\"instance_uuid\":null}"),
		 "malformed reply: nodes[0].instance_uuid"},
		{"", NODES("{\"uuid\":\"../x\",\"instance_uuid\":\"" ID "\"}"),
		 "malformed reply: nodes[0].uuid: want a uuid"},
		/* The same page again (F16). */
		{"n - " MACHINE " " UUID("2") "\n", NODES_ON(RUNS("1")),
		 "malformed reply: nodes[0].instance_uuid"},
		{ALL, "{\"allocations\":null}", "malformed reply: allocations"},
		{ALL, ALLOCS_ON(""), "malformed reply: allocations"},
		{ALL, ALLOCS(MINE("2") "," MINE("1")), "malformed reply: allocations[1].uuid"},
		{"a " UUID("2") " - ~\n", ALLOCS(MINE("2")), "malformed reply: allocations[0]"},
		{ALL, ALLOCS("7"), "malformed reply: allocations[0]"},
		{ALL, ALLOCS("{\"uuid\":\"" ID "\",\"name\":\"" NAME "\",\"created_at\":\"then\"}"),
		 "malformed reply: allocations[0].created_at"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r =
			parse_at(PROVIDER_LIST, rows[i].cursor, 200, rows[i].body);

		if (r.code != PROVIDER_TRANSIENT ||
		    strncmp(r.message, rows[i].message, strlen(rows[i].message)) != 0)
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
}

static void test_a_list_that_is_cut_fails(void **state)
{
	static const char whole[] = ALLOCS(MINE("1") "," MINE("2"));
	char part[sizeof(whole)];

	(void)state;
	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		struct provider_result r;

		memcpy(part, whole, n);
		part[n] = '\0';
		r = parse_at(PROVIDER_LIST, ALL, 200, part);
		assert_int_equal(r.code, PROVIDER_TRANSIENT);
		provider_result_fini(&r);
	}
}

static void test_refusals_of_a_list(void **state)
{
	static const struct {
		long status;
		enum provider_code code;
	} rows[] = {{401, PROVIDER_DENIED},   {403, PROVIDER_DENIED},    {404, PROVIDER_INVALID},
		    {429, PROVIDER_RATE},     {500, PROVIDER_TRANSIENT}, {503, PROVIDER_TRANSIENT},
		    {409, PROVIDER_TRANSIENT}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r = parse_at(PROVIDER_LIST, "", rows[i].status, FAULT("x"));

		assert_int_equal(r.code, rows[i].code);
		assert_string_equal(r.message, "x");
		provider_result_fini(&r);
	}
}

/* Machines with the longest names, and all of them failed with long words: the cursor has room. */
static void test_thirty_machines_fit_into_a_cursor(void **state)
{
	struct provider_result r;
	struct str s;

	(void)state;
	for (int failed = 0; failed < 2; failed++) {
		str_init(&s, 1 << 20);
		str_adds(&s, "{\"nodes\":[");
		for (int k = 0; k < 30; k++)
			str_addf(&s,
				 "%s{\"uuid\":\"1f2e3d4c-0000-4000-8000-0000000000%02d\","
				 "\"instance_uuid\":\"9c3e4f1a-0000-4000-8000-0000000000%02d\","
				 "\"provision_state\":\"%s\",\"name\":\"%045d\","
				 "\"last_error\":\"%0300d\"}",
				 k > 0 ? "," : "", k, k, failed ? "deploy failed" : "active", k, k);
		str_adds(&s, "],\"next\":\"x\"}");
		r = parse_at(PROVIDER_LIST,
			     "n " UUID("0") " " MACHINE " 9c3e4f1a-0000-4000-7000-000000000000\n",
			     200, s.p);
		assert_int_equal(r.code, PROVIDER_MORE);
		assert_non_null(
			strstr(r.cursor, failed ? "\nf000000000029 0000" : "\nr000000000029 0000"));
		provider_result_fini(&r);
		str_fini(&s);
	}
}

static void test_ten_mebibytes(void **state)
{
	struct provider_result r;
	struct str s;

	(void)state;
	str_init(&s, 16 << 20);
	str_adds(&s, "{\"allocations\":[");
	for (int k = 0; s.len < 10 << 20; k++)
		str_addf(&s,
			 "%s{\"uuid\":\"%08x-0000-4000-8000-000000000000\",\"name\":"
			 "\"b0b1c2d3e4f50-1-n%d\",\"state\":\"active\"}",
			 k > 0 ? "," : "", (unsigned)k, k);
	str_adds(&s, "]}");
	r = parse_at(PROVIDER_LIST, ALL, 200, s.p);
	assert_int_equal(r.code, PROVIDER_TRANSIENT); /* more than a page may have */
	provider_result_fini(&r);
	str_fini(&s);
}

/* --- what is bought --- */

static void test_which_classes_there_are(void **state)
{
	struct provider_op op = op_at(PROVIDER_QUOTES, "");
	struct provider_request rq = {0};
	struct provider_result r;

	(void)state;
	assert_request(&op, "GET " API "nodes?resource_class=h100&fields=resource_class&limit=1");
	r = parse_op(&op, 200, NODES_ON("{\"resource_class\":\"h100\"}"));
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_int_equal(r.nquotes, 1);
	assert_string_equal(r.quotes[0].type, "h100");
	assert_int_equal(r.quotes[0].price_nano_h, 0);
	assert_int_equal(r.quotes[0].cpus, 0);
	provider_result_fini(&r);
	op.cursor = "2";
	assert_request(&op, "GET " API "nodes?resource_class=a100&fields=resource_class&limit=1");
	r = parse_op(&op, 200, NODES(""));
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 0);
	provider_result_fini(&r);
	r = parse_op(&op, 200, "{}");
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
	op.cursor = "3";
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
}

static void test_there_is_no_other_request(void **state)
{
	struct provider_op op = op_at(PROVIDER_LOGIN, "");
	struct provider_request rq = {0};

	(void)state;
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_requests),
		T(test_cursors_that_there_are_not),
		T(test_an_instance_as_ironic_shows_it),
		T(test_states),
		T(test_a_reset_is_no_end),
		T(test_a_create_under_way_is_no_instance),
		T(test_an_old_allocation_that_was_never_deployed_has_failed),
		T(test_failures_say_why),
		T(test_who_is_ours),
		T(test_pages_of_both),
		T(test_lists_that_are_wrong),
		T(test_a_list_that_is_cut_fails),
		T(test_refusals_of_a_list),
		T(test_thirty_machines_fit_into_a_cursor),
		T(test_ten_mebibytes),
		T(test_which_classes_there_are),
		T(test_there_is_no_other_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
