/* test_node_said.c - what a node may say in its requests, and the steps of a boot. */
#include "core/node_said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

enum { BODY_MAX = 65536 };

static int read_text(struct node_said *s, const char *text)
{
	return node_said_read(s, text, strlen(text));
}

static void each_member_has_its_place(void **state)
{
	static const char text[] =
		"{\"v\":1,\"node\":\"c1\",\"generation\":7,\"key_version\":\"v2\",\"type\":\"t\","
		"\"id\":\"i\",\"detail\":\"d\",\"deadline\":8,\"step\":\"s\",\"why\":\"w\","
		"\"total_ms\":9,\"cert_until\":10,\"faulty\":true,\"csr\":\"PEM\",\"steps\":[{}],"
		"\"hardware\":\"CPUs=8\"}";
	struct node_said s;

	(void)state;
	assert_int_equal(read_text(&s, text), 0);
	assert_string_equal(s.node, "c1");
	assert_int_equal(s.generation, 7);
	assert_string_equal(s.key_version, "v2");
	assert_string_equal(s.type, "t");
	assert_string_equal(s.id, "i");
	assert_string_equal(s.detail, "d");
	assert_int_equal(s.deadline, 8);
	assert_string_equal(s.step, "s");
	assert_string_equal(s.why, "w");
	assert_string_equal(s.hardware, "CPUs=8");
	assert_int_equal(s.total_ms, 9);
	assert_int_equal(s.cert_until, 10);
	assert_true(s.faulty);
	assert_int_equal(s.csr.type, JPULL_STRING);
	assert_int_equal(s.csr.n, 3);
	assert_memory_equal(s.csr.p, "PEM", 3);
	assert_int_equal(s.steps.type, JPULL_ARRAY);
	assert_int_equal(s.steps.n, 4);
	assert_memory_equal(s.steps.p, "[{}]", 4);
}

/* Nor does anything remain of the request before it. */
static void what_is_not_given_is_empty(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"new_in_v2\":{\"node\":\"c9\",\"faulty\":[true]},\"Node\":\"c9\"}",
		"{\"node\":null,\"key_version\":null,\"generation\":null,\"faulty\":null}",
		"{\"node\":\"\",\"generation\":0,\"faulty\":false}",
	};
	static const struct node_said none;
	struct node_said s;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		print_message("# %s\n", texts[i]);
		memset(&s, 'x', sizeof(s));
		assert_int_equal(read_text(&s, texts[i]), 0);
		assert_memory_equal(&s, &none, sizeof(s));
	}
}

static void what_is_no_such_body_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{\"node\":\"c1\"",
		"{\"node\":\"c1\"}}",
		"{\"node\":\"c1\",\"node\":\"c1\"}",
		"{\"node\":null,\"node\":\"c2\"}",
		"{\"steps\":[],\"csr\":\"\",\"steps\":[]}",
		"{\"node\":7}",
		"{\"key_version\":[]}",
		"{\"key_version\":true}",
		"{\"generation\":\"7\"}",
		"{\"generation\":-1}",
		"{\"generation\":1.5}",
		"{\"generation\":9223372036854775808}",
		"{\"faulty\":1}",
		"{\"faulty\":}",
		"{\"faulty\":nul}",
		"{\"faulty\":\"true\"}",
	};
	struct node_said s;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		print_message("# %s\n", texts[i]);
		assert_int_equal(read_text(&s, texts[i]), -1);
	}
}

/* Versions are numbers in one store, and words in another. */
static void a_version_that_is_a_number_is_kept_in_its_digits(void **state)
{
	struct node_said s;

	(void)state;
	assert_int_equal(read_text(&s, "{\"key_version\":1234,\"node\":\"c1\"}"), 0);
	assert_string_equal(s.key_version, "1234");
	assert_int_equal(read_text(&s, "{\"key_version\":1e3}"), 0);
	assert_string_equal(s.key_version, "1e3");
}

/* Whether a member of n bytes is taken whole, between these two. */
static bool is_taken(const char *head, char c, size_t n, const char *tail)
{
	struct node_said said;
	struct str s;
	int rc;

	str_init(&s, BODY_MAX);
	str_adds(&s, head);
	for (size_t i = 0; i < n; i++)
		str_addf(&s, "%c", c);
	str_adds(&s, tail);
	rc = node_said_read(&said, s.p, s.len);
	if (rc == 0)
		assert_int_equal(strlen(said.key_version) + strlen(said.why), n);
	str_fini(&s);
	return rc == 0;
}

static void a_text_is_as_long_as_its_limit_at_most(void **state)
{
	(void)state;
	assert_true(is_taken("{\"key_version\":", '7', NODE_WORD_MAX, "}"));
	assert_false(is_taken("{\"key_version\":", '7', NODE_WORD_MAX + 1, "}"));
	assert_true(is_taken("{\"key_version\":\"", '7', NODE_WORD_MAX, "\"}"));
	assert_false(is_taken("{\"key_version\":\"", '7', NODE_WORD_MAX + 1, "\"}"));
	assert_true(is_taken("{\"why\":\"", 'x', NODE_WHY_MAX, "\"}"));
	assert_false(is_taken("{\"why\":\"", 'x', NODE_WHY_MAX + 1, "\"}"));
}

static void what_cannot_be_printed_is_replaced(void **state)
{
	struct node_said s;

	(void)state;
	assert_int_equal(read_text(&s, "{\"why\":\" a~\\u001f\\u007f\\n\\u00e9\\u001b[2J\","
				       "\"key_version\":\"7\\t\"}"),
			 0);
	assert_string_equal(s.why, " a~?????"
				   "?[2J");
	assert_string_equal(s.key_version, "7?");
}

/* Read a report of n steps, all alike, and one more. */
static struct node_report *read_report(int n, const char *last)
{
	struct node_report *p = mem_zalloc(sizeof(*p));
	struct node_said said;
	struct str s;

	str_init(&s, BODY_MAX);
	str_adds(&s, "{\"v\":1,\"steps\":[");
	for (int i = 0; i < n; i++)
		str_addf(&s,
			 "{\"name\":\"s%d\",\"result\":\"warning\",\"ms\":%d,\"why\":\"slow\"},", i,
			 1000 + i);
	str_addf(&s, "%s]}", last);
	assert_int_equal(node_said_read(&said, s.p, s.len), 0);
	assert_int_equal(node_report_read(p, &said.steps), 0);
	str_fini(&s);
	return p;
}

static void a_report_has_its_steps_in_order(void **state)
{
	struct node_report *p = read_report(2, "{\"name\":\"gpu\",\"result\":\"ok\",\"ms\":7}");

	(void)state;
	assert_int_equal(p->n, 3);
	assert_string_equal(p->steps[0].name, "s0");
	assert_string_equal(p->steps[1].why, "slow");
	assert_string_equal(p->steps[2].name, "gpu");
	assert_string_equal(p->steps[2].why, "");
	assert_int_equal(p->steps[2].ms, 7);
	free(p);
}

static void of_too_many_steps_the_last_is_kept(void **state)
{
	static const struct {
		const char *text, *name, *result, *why;
		int64_t ms;
	} rows[] = {
		{"{\"name\":\"gpu\",\"result\":\"failed\",\"ms\":7,\"why\":\"7 GPUs\"}", "gpu",
		 "failed", "7 GPUs", 7},
		/* What it lacks is not what the step before it had. */
		{"{\"name\":\"gpu\",\"result\":\"ok\"}", "gpu", "ok", "", 0},
		{"{\"ms\":7}", "", "", "", 7},
		{"{}", "", "", "", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node_report *p = read_report(NODE_STEPS_MAX + 3, rows[i].text);

		print_message("# %s\n", rows[i].text);
		assert_int_equal(p->n, NODE_STEPS_MAX);
		assert_string_equal(p->steps[NODE_STEPS_MAX - 2].name, "s62");
		assert_string_equal(p->steps[NODE_STEPS_MAX - 1].name, rows[i].name);
		assert_string_equal(p->steps[NODE_STEPS_MAX - 1].result, rows[i].result);
		assert_string_equal(p->steps[NODE_STEPS_MAX - 1].why, rows[i].why);
		assert_int_equal(p->steps[NODE_STEPS_MAX - 1].ms, rows[i].ms);
		free(p);
	}
}

/* --- reports that are none, or odd --- */

static int read_steps(struct node_report *p, const char *steps)
{
	struct node_said said;
	char text[2000];

	(void)snprintf(text, sizeof(text), "{\"steps\":%s}", steps);
	assert_int_equal(read_text(&said, text), 0);
	return node_report_read(p, &said.steps);
}

static void a_report_without_steps_has_none(void **state)
{
	struct node_report *p = mem_zalloc(sizeof(*p));
	struct node_said said;

	(void)state;
	p->n = 3;
	assert_int_equal(read_steps(p, "null"), 0);
	assert_int_equal(p->n, 0);
	p->n = 3;
	assert_int_equal(read_text(&said, "{}"), 0);
	assert_int_equal(node_report_read(p, &said.steps), 0);
	assert_int_equal(p->n, 0);
	assert_int_equal(read_steps(p, "[]"), 0);
	assert_int_equal(p->n, 0);
	free(p);
}

static void what_is_no_report_is_refused(void **state)
{
	static const char *const steps[] = {
		"{}",
		"\"gpu\"",
		"7",
		"[7]",
		"[[]]",
		"[{},null]",
		"[{\"name\":7}]",
		"[{\"name\":7,\"result\":\"ok\",\"ms\":1}]",
		"[{\"result\":true}]",
		"[{\"ms\":\"7\"}]",
		"[{\"ms\":-7}]",
		/* a byte too long for its place: 63 and 15 */
		"[{\"name\":\"1234567890123456789012345678901234567890123456789012345678901234\"}]",
		"[{\"result\":\"1234567890123456\"}]",
	};
	struct node_report *p = mem_zalloc(sizeof(*p));

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		print_message("# %s\n", steps[i]);
		assert_int_equal(read_steps(p, steps[i]), -1);
	}
	free(p);
}

/* The log of a driver is worth less than the report that it came with. */
static void a_why_that_is_too_long_does_not_lose_the_report(void **state)
{
	char steps[NODE_TEXT_MAX + 100], why[NODE_TEXT_MAX + 2];
	struct node_report *p = mem_zalloc(sizeof(*p));

	(void)state;
	memset(why, 'x', sizeof(why));
	why[NODE_TEXT_MAX + 1] = '\0';
	(void)snprintf(steps, sizeof(steps), "[{\"why\":\"%s\",\"name\":\"gpu\"}]", why);
	assert_int_equal(read_steps(p, steps), 0);
	assert_string_equal(p->steps[0].why, "...");
	assert_string_equal(p->steps[0].name, "gpu");
	why[NODE_TEXT_MAX] = '\0';
	(void)snprintf(steps, sizeof(steps), "[{\"why\":\"%s\"}]", why);
	assert_int_equal(read_steps(p, steps), 0);
	assert_string_equal(p->steps[0].why, why);
	assert_int_equal(read_steps(p, "[{\"why\":7}]"), 0);
	assert_string_equal(p->steps[0].why, "...");
	free(p);
}

static void of_a_step_only_what_is_known_counts(void **state)
{
	struct node_report *p = mem_zalloc(sizeof(*p));

	(void)state;
	assert_int_equal(
		read_steps(p, "[{\"name\":\"gpu\",\"why\":\"slow\",\"new\":[7],\"log\":7}]"), 0);
	assert_string_equal(p->steps[0].name, "gpu");
	assert_string_equal(p->steps[0].why, "slow");
	assert_int_equal(
		read_steps(p, "[{\"name\":null,\"result\":null,\"ms\":null,\"why\":null}]"), 0);
	assert_int_equal(p->n, 1);
	assert_string_equal(p->steps[0].name, "");
	assert_string_equal(p->steps[0].result, "");
	assert_string_equal(p->steps[0].why, "");
	assert_int_equal(p->steps[0].ms, 0);
	free(p);
}

static void the_words_of_a_step_can_be_printed(void **state)
{
	struct node_report *p = mem_zalloc(sizeof(*p));

	(void)state;
	assert_int_equal(read_steps(p, "[{\"name\":\"g\\npu\",\"why\":\"\\u001b[2J\"}]"), 0);
	assert_string_equal(p->steps[0].name, "g?pu");
	assert_string_equal(p->steps[0].why, "?[2J");
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_member_has_its_place),
		cmocka_unit_test(what_is_not_given_is_empty),
		cmocka_unit_test(what_is_no_such_body_is_refused),
		cmocka_unit_test(a_version_that_is_a_number_is_kept_in_its_digits),
		cmocka_unit_test(a_text_is_as_long_as_its_limit_at_most),
		cmocka_unit_test(what_cannot_be_printed_is_replaced),
		cmocka_unit_test(a_report_has_its_steps_in_order),
		cmocka_unit_test(of_too_many_steps_the_last_is_kept),
		cmocka_unit_test(a_report_without_steps_has_none),
		cmocka_unit_test(what_is_no_report_is_refused),
		cmocka_unit_test(a_why_that_is_too_long_does_not_lose_the_report),
		cmocka_unit_test(of_a_step_only_what_is_known_counts),
		cmocka_unit_test(the_words_of_a_step_can_be_printed),
	};

	return cmocka_run_group_tests_name("node_said", tests, NULL, NULL);
}
