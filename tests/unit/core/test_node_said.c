/* test_node_said.c - the steps of a boot, as a node reports them. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_has_its_steps_in_order),
		cmocka_unit_test(of_too_many_steps_the_last_is_kept),
	};

	return cmocka_run_group_tests_name("node_said", tests, NULL, NULL);
}
