/* test_fault.c - which request meets which fault, again and again the same. */
#include "providers/simcloud/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct faults F;

static int add(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	int id = faults_add(&F, o, NULL);

	json_decref(o);
	return id;
}

static const char *get(const void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

/* The id of the rule that fires on a request about n1 and n2; 0: none. */
static unsigned pick(enum op op)
{
	static const char *const names[] = {"n1", "n2"};
	struct fault_nodes nodes = {.get = get, .ctx = names, .n = 2};
	const struct fault_rule *r = faults_pick(&F, op, &nodes);

	return r != NULL ? r->id : 0;
}

static void test_when_a_rule_fires(void **state)
{
	static const struct {
		const char *rule, *fires; /* on ten creates */
	} rows[] = {
		{"{\"action\":\"error\"}", "1111111111"},
		{"{\"action\":\"error\",\"op\":\"create\"}", "1111111111"},
		{"{\"action\":\"error\",\"op\":\"any\"}", "1111111111"},
		{"{\"action\":\"error\",\"op\":\"list\"}", "0000000000"},
		{"{\"action\":\"error\",\"nth\":3}", "0010000000"},
		{"{\"action\":\"error\",\"every\":3}", "0010010010"},
		{"{\"action\":\"error\",\"every\":3,\"count\":2}", "0010010000"},
		{"{\"action\":\"error\",\"count\":4}", "1111000000"},
		{"{\"action\":\"error\",\"probability\":0}", "0000000000"},
		{"{\"action\":\"error\",\"node\":\"n2\"}", "1111111111"},
		{"{\"action\":\"error\",\"node\":\"n*\"}", "1111111111"},
		{"{\"action\":\"error\",\"node\":\"m*\"}", "0000000000"},
		{"{\"action\":\"error\",\"node\":\"n2\",\"nth\":1}", "1000000000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char seen[11] = "";

		F = (struct faults){.seed = 1};
		assert_int_equal(add(rows[i].rule), 1);
		for (int k = 0; k < 10; k++)
			seen[k] = pick(OP_CREATE) != 0 ? '1' : '0';
		assert_string_equal(seen, rows[i].fires);
	}
}

static void test_chance_follows_the_seed(void **state)
{
	char runs[3][101] = {"", "", ""};
	unsigned fired = 0;

	(void)state;
	for (int run = 0; run < 3; run++) {
		F = (struct faults){.seed = run == 2 ? 2 : 1};
		(void)add("{\"action\":\"error\",\"probability\":0.3}");
		for (int k = 0; k < 100; k++) {
			runs[run][k] = pick(OP_LIST) != 0 ? '1' : '0';
			fired += run == 0 && runs[0][k] == '1';
		}
	}
	assert_string_equal(runs[0], runs[1]);
	assert_string_not_equal(runs[0], runs[2]);
	assert_in_range(fired, 15, 45);
}

static void test_first_that_fires_has_it_and_others_keep_their_count(void **state)
{
	(void)state;
	F = (struct faults){.seed = 1};
	assert_int_equal(add("{\"action\":\"error\",\"nth\":2}"), 1);
	assert_int_equal(add("{\"action\":\"drop-reply\",\"count\":2}"), 2);
	assert_int_equal(pick(OP_GET), 2);
	assert_int_equal(pick(OP_GET), 1);
	assert_int_equal(pick(OP_GET), 2); /* the one it lost does not count */
	assert_int_equal(pick(OP_GET), 0);
	assert_true(faults_remove(&F, 1));
	assert_false(faults_remove(&F, 1));
	assert_int_equal(F.n, 1);
	assert_int_equal(F.rules[0].id, 2);
}

static void test_refused_rules(void **state)
{
	static const char *const rows[] = {
		"[]",
		"{}",
		"{\"action\":\"novel\"}",
		"{\"action\":\"error\",\"op\":\"novel\"}",
		"{\"action\":\"error\",\"code\":\"novel\"}",
		"{\"action\":\"error\",\"code\":\"ok\"}",
		"{\"action\":\"error\",\"when\":\"during\"}",
		"{\"action\":\"error\",\"status\":100}",
		"{\"action\":\"error\",\"status\":\"503\"}",
		"{\"action\":\"error\",\"probability\":2}",
		"{\"action\":\"error\",\"nth\":-1}",
		"{\"action\":\"delay\",\"ms\":86400001}",
		"{\"action\":\"error\",\"typo\":1}",
	};

	(void)state;
	F = (struct faults){.seed = 1};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *o = json_loads(rows[i], 0, NULL);
		struct err e = {0};

		assert_int_equal(faults_add(&F, o, &e), -1);
		assert_true(e.msg[0] != '\0');
		json_decref(o);
	}
	assert_int_equal(F.n, 0);
	for (int i = 0; i < FAULT_RULES_MAX; i++)
		assert_int_equal(add("{\"action\":\"hold\"}"), i + 1);
	assert_int_equal(add("{\"action\":\"hold\"}"), -1);
}

static void test_rule_may_be_for_each_operation(void **state)
{
	json_t *wrong = json_loads("{\"action\":\"error\",\"op\":\"novel\"}", 0, NULL);
	struct err e = {0};
	char rule[64];

	(void)state;
	F = (struct faults){.seed = 1};
	assert_int_equal(faults_add(&F, wrong, &e), -1);
	json_decref(wrong);
	for (int i = 0; i < OP_COUNT; i++) {
		const char *op = op_word((enum op)i);

		(void)snprintf(rule, sizeof(rule), "{\"action\":\"error\",\"op\":\"%s\"}", op);
		assert_int_equal(add(rule), i + 1);
		assert_int_equal(pick((enum op)i), i + 1);
		assert_non_null(strstr(e.msg, op));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when_a_rule_fires),
		cmocka_unit_test(test_chance_follows_the_seed),
		cmocka_unit_test(test_first_that_fires_has_it_and_others_keep_their_count),
		cmocka_unit_test(test_refused_rules),
		cmocka_unit_test(test_rule_may_be_for_each_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
