/* test_demand.c - every schema of the resume file, and what a hostile one may not do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/demand.h"

/* Write a demand as "id:node,node id:node". */
static void show(const struct demand *d, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t j = 0; j < d->njobs; j++) {
		n += (size_t)snprintf(out + n, size - n, "%s%d:", j > 0 ? " " : "",
				      (int)d->jobs[j].id);
		for (size_t i = 0; i < d->jobs[j].n; i++)
			n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? "," : "",
					      demand_name(d, d->jobs[j].nodes[i]));
	}
}

static const struct {
	const char *name, *list, *file, *jobs, *error; /* error NULL: must be read */
} rows[] = {
	{"22.05", "c[1-4]",
	 "{\"jobs\":[{\"job_id\":3,\"nodes\":\"c[1-4]\"}],\"all_nodes\":\"c[1-4]\"}",
	 "3:c1,c2,c3,c4", NULL},
	{"23.02 to 25.11", "c[1-2],c4",
	 "{\"jobs\":[{\"extra\":null,\"job_id\":140814,\"features\":\"c1&c2\",\"nodes_alloc\":"
	 "\"c[1-2]\",\"nodes_resume\":\"c[1-2]\",\"oversubscribe\":\"OK\",\"partition\":\"cloud\","
	 "\"reservation\":\"\"},{\"job_id\":140815,\"nodes_alloc\":\"c4\",\"nodes_resume\":\"c4\"}]"
	 ","
	 "\"all_nodes_resume\":\"c[1-2],c4\"}",
	 "140814:c1,c2 140815:c4", NULL},
	{"26.05 adds exclusive and priority", "c1",
	 "{\"jobs\":[{\"job_id\":5,\"exclusive\":\"node\",\"priority\":4294901759,\"nodes_alloc\":"
	 "\"c1\","
	 "\"new_in_27\":{\"a\":[1]}}],\"all_nodes_resume\":\"c1\"}",
	 "5:c1", NULL},
	{"allocated nodes that are up already are not asked for", "c1",
	 "{\"jobs\":[{\"job_id\":5,\"nodes_alloc\":\"c[1-4]\",\"nodes_resume\":\"c1\"}]}", "5:c1",
	 NULL},
	{"no job: an admin's POWER_UP", "c1", "{\"jobs\":[],\"all_nodes_resume\":\"c1\"}", "",
	 NULL},
	{"two jobs share a node", "c[1-2]",
	 "{\"jobs\":[{\"job_id\":1,\"nodes_alloc\":\"c[1-2]\"},{\"job_id\":2,\"nodes_alloc\":"
	 "\"c2\"}]}",
	 "1:c1,c2 2:c2", NULL},
	{"job_id as text", "c1", "{\"jobs\":[{\"job_id\":\"7\",\"nodes_alloc\":\"c1\"}]}", "7:c1",
	 NULL},
	{"null nodes", "c1", "{\"jobs\":[{\"job_id\":7,\"nodes_alloc\":null}]}", "", NULL},
	{"not JSON", "c1", "POWER UP", "", "resume file: byte 0:"},
	{"cut short", "c1", "{\"jobs\":[{\"job_id\":7,", "", "resume file: byte 21:"},
	{"no jobs", "c1", "{\"all_nodes\":\"c1\"}", "", "no list of jobs"},
	{"jobs is no list", "c1", "{\"jobs\":{}}", "", "byte 8:"},
	{"negative id", "c1", "{\"jobs\":[{\"job_id\":-1,\"nodes\":\"c1\"}]}", "",
	 "without a job_id"},
	{"job is no object", "c1", "{\"jobs\":[17]}", "", "byte 9:"},
	{"duplicate keys", "c1", "{\"jobs\":[],\"jobs\":[]}", "", "byte 18:"},
	{"duplicate keys of a job", "c1",
	 "{\"jobs\":[{\"job_id\":1,\"nodes\":\"c1\",\"nodes\":\"c1\"}]}", "", "byte 46:"},
	{"something behind it", "c1", "{\"jobs\":[]}}", "", "byte 11:"},
	{"a hostile list inside", "c1",
	 "{\"jobs\":[{\"job_id\":1,\"nodes\":\"c1\"},{\"job_id\":2,\"nodes\":\"n[0-999999999]\"}]}",
	 "", "job 2"},
	{"path in a list", "c1", "{\"jobs\":[{\"job_id\":2,\"nodes\":\"../../etc[1-2]\"}]}", "",
	 "job 2"},
	{"an empty allocation is none", "c1",
	 "{\"jobs\":[{\"job_id\":7,\"nodes_alloc\":\"\",\"nodes_resume\":\"c1\"}]}", "7:c1", NULL},
	{"brackets that close after a duplicate key", "c1",
	 "{\"jobs\":[{\"job_id\":1,\"job_id\":1,{\"job_id\":2}]}}", "", "byte 31:"},
	{"two mistakes: the first is told", "c1", "{\"jobs\":[{\"job_id\":-1},\"jobs\":[]]}", "",
	 "without a job_id"},
	{"a mistake behind three jobs", "c1",
	 "{\"jobs\":[{\"job_id\":1,\"nodes\":\"c1\"},{\"job_id\":2,\"nodes\":\"c1\"},"
	 "{\"job_id\":3,\"nodes\":\"c1\"},{}]}",
	 "", "without a job_id"},
};

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct demand d;
		struct err e = {0};
		char jobs[512];
		int rc;

		print_message("# %s\n", rows[i].name);
		assert_int_equal(demand_init(&d, rows[i].list, strlen(rows[i].list), &e), 0);
		rc = demand_add_file(&d, rows[i].file, strlen(rows[i].file), &e);
		assert_int_equal(rc, rows[i].error == NULL ? 0 : -1);
		assert_int_equal(d.has_jobs, rows[i].error == NULL);
		if (rows[i].error != NULL && strstr(e.msg, rows[i].error) == NULL)
			fail_msg("%s: %s", rows[i].name, e.msg);
		show(&d, jobs, sizeof(jobs));
		assert_string_equal(jobs, rows[i].jobs);
		if (rc != 0) /* a file that was refused takes no place of what squeue says */
			assert_int_equal(d.members, 0);
		demand_fini(&d);
	}
}

/* --- wishes ------------------------------------------------------------------------------------
 */

/* The constraint in the file of a job, "-" for none, "?" when it is not known. */
static const struct {
	const char *name, *members, *want;
} wishes[] = {
	{"22.05 has no constraint", "\"nodes\":\"c1\"", "?"},
	{"from 23.02 on", "\"features\":\"spot&h100\",\"nodes_alloc\":\"c1\"", "spot&h100"},
	{"in any order", "\"nodes_alloc\":\"c1\",\"features\":\"[a|b]\"", "[a|b]"},
	{"none", "\"features\":null,\"nodes_alloc\":\"c1\"", "-"},
	{"an empty one", "\"features\":\"\",\"nodes_alloc\":\"c1\"", "-"},
	{"escaped", "\"features\":\"a\\u0026b\",\"nodes_alloc\":\"c1\"", "a&b"},
	{"a NUL", "\"features\":\"a\\u0000b\",\"nodes_alloc\":\"c1\"", "-"},
	{"Slurm's word for none", "\"features\":\"(null)\",\"nodes_alloc\":\"c1\"", "-"},
	{"no text: it says nothing", "\"features\":[],\"nodes_alloc\":\"c1\"", "?"},
	{"a number", "\"features\":7,\"nodes_alloc\":\"c1\"", "?"},
};

static const char *shown(const char *text, bool known)
{
	return !known ? "?" : text == NULL ? "-" : text;
}

static void test_the_constraint_in_a_resume_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		struct demand d;
		char file[300];
		int n = snprintf(file, sizeof(file), "{\"jobs\":[{\"job_id\":1,%s}]}",
				 wishes[i].members);

		print_message("# %s\n", wishes[i].name);
		assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
		assert_int_equal(demand_add_file(&d, file, (size_t)n, NULL), 0);
		assert_int_equal(d.njobs, 1);
		assert_string_equal(shown(d.jobs[0].constraint, d.jobs[0].wishes_known),
				    wishes[i].want);
		assert_string_equal(shown(d.jobs[0].comment, d.jobs[0].comment_known), "?");
		demand_fini(&d);
	}
}

/* The same as what squeue says of such a one: it asks for something, and nobody knows for what. */
static void test_a_constraint_too_long_in_a_resume_file_is_not_known(void **state)
{
	static const struct {
		int bytes;
		bool known;
	} texts[] = {{DEMAND_TEXT_MAX, true}, {DEMAND_TEXT_MAX + 1, false}, {9000, false}};
	static char file[9100];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct demand d;
		int n = snprintf(
			file, sizeof(file),
			"{\"jobs\":[{\"job_id\":1,\"nodes\":\"c1\",\"features\":\"%0*d\"}]}",
			texts[i].bytes, 7);

		assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
		assert_int_equal(demand_add_file(&d, file, (size_t)n, NULL), 0);
		assert_int_equal(d.njobs, 1);
		assert_int_equal(d.jobs[0].wishes_known, texts[i].known);
		if (texts[i].known)
			assert_int_equal(strlen(d.jobs[0].constraint), texts[i].bytes);
		else
			assert_null(d.jobs[0].constraint);
		demand_fini(&d);
	}
}

static void test_two_constraints_of_a_job_are_a_mistake(void **state)
{
	static const char file[] = "{\"jobs\":[{\"job_id\":1,\"nodes\":\"c1\",\"features\":\"a\","
				   "\"features\":\"b\"}]}";
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_file(&d, file, sizeof(file) - 1, NULL), -1);
	assert_int_equal(d.njobs, 0);
	demand_fini(&d);
}

/* Constraint and comment of each job, in the order of the file. */
static void check_wishes(const struct demand *d, const char *want)
{
	char got[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < d->njobs; i++) {
		const struct demand_job *j = &d->jobs[i];

		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%d:%s/%s", i > 0 ? " " : "",
				      (int)j->id, shown(j->constraint, j->wishes_known),
				      shown(j->comment, j->comment_known));
	}
	assert_string_equal(got, want);
}

static void test_what_squeue_says_goes_to_the_job_with_its_number(void **state)
{
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c[1-9]", 6, NULL), 0);
	demand_set_constraint(&d, 1, "spot", 4); /* there is no job at all */
	assert_int_equal(demand_add_job(&d, 9, "c9", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 2, "c[2-3]", 6, NULL), 0);
	assert_int_equal(demand_add_job(&d, 5, "c5", 2, NULL), 0);
	demand_set_constraint(&d, 2, "spot|x", 4); /* its length counts */
	demand_set_constraint(&d, 9, "(null)", 6);
	demand_set_comment(&d, 9, "burst:EU", 8);
	demand_set_comment(&d, 2, "", 0);
	demand_set_constraint(&d, 1, "a", 1); /* of nobody here: before, between, behind */
	demand_set_constraint(&d, 4, "a", 1);
	demand_set_constraint(&d, 10, "a", 1);
	check_wishes(&d, "9:-/burst:EU 2:spot/- 5:?/?");
	assert_int_equal(demand_add_job(&d, 1, "c1", 2, NULL), 0);
	demand_set_constraint(&d, 1, "a", 1);
	demand_set_constraint(&d, 2, "b", 1); /* the last word counts */
	check_wishes(&d, "9:-/burst:EU 2:b/- 5:?/? 1:a/?");
	demand_fini(&d);
}

static void test_a_job_that_is_there_twice_wishes_twice(void **state)
{
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c[1-2]", 6, NULL), 0);
	assert_int_equal(demand_add_job(&d, 7, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 8, "c2", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 7, "c2", 2, NULL), 0);
	demand_set_constraint(&d, 7, "spot", 4);
	check_wishes(&d, "7:spot/? 8:?/? 7:spot/?");
	demand_fini(&d);
}

static void test_a_text_too_long_is_none(void **state)
{
	static char text[DEMAND_TEXT_MAX + 1];
	struct demand d;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 7, "c1", 2, NULL), 0);
	demand_set_constraint(&d, 7, text, DEMAND_TEXT_MAX);
	assert_int_equal(strlen(d.jobs[0].constraint), DEMAND_TEXT_MAX);
	assert_true(d.jobs[0].wishes_known);
	demand_set_constraint(&d, 7, text, DEMAND_TEXT_MAX + 1);
	check_wishes(&d, "7:?/?"); /* it asks for something, and nobody knows for what */
	demand_set_constraint(&d, 7, "spot", 4);
	demand_set_constraint(&d, 7, "a\0b", 3); /* nor is one that cannot be one */
	check_wishes(&d, "7:-/?");
	demand_fini(&d);
}

/* A comment takes nothing away that is not in it: one too long is none. */
static void test_a_comment_too_long_is_none(void **state)
{
	static char text[DEMAND_TEXT_MAX + 1];
	struct demand d;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 7, "c1", 2, NULL), 0);
	demand_set_comment(&d, 7, text, DEMAND_TEXT_MAX);
	assert_int_equal(strlen(d.jobs[0].comment), DEMAND_TEXT_MAX);
	demand_set_comment(&d, 7, text, DEMAND_TEXT_MAX + 1);
	check_wishes(&d, "7:?/-");
	demand_fini(&d);
}

static void test_only_the_whole_word_of_slurm_is_none(void **state)
{
	static const char *const texts[] = {"(nul", "(null) run", "a&b&c1", "(null]"};
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 7, "c1", 2, NULL), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		demand_set_comment(&d, 7, texts[i], strlen(texts[i]));
		assert_string_equal(d.jobs[0].comment, texts[i]);
	}
	demand_set_comment(&d, 7, "(null)", 6);
	assert_null(d.jobs[0].comment);
	demand_fini(&d);
}

static void test_a_job_is_found_by_its_number(void **state)
{
	static const uint64_t there[] = {9, 2, 5}, absent[] = {0, 1, 3, 4, 6, 8, 10, UINT64_MAX};
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c[1-9]", 6, NULL), 0);
	assert_null(demand_get_job(&d, 0)); /* there is none at all */
	assert_null(demand_get_job(&d, 9));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(demand_add_job(&d, there[i], "c1", 2, NULL), 0);
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(demand_get_job(&d, there[i]), &d.jobs[i]);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		assert_null(demand_get_job(&d, absent[i]));
	demand_fini(&d);
}

/* ... whoever looked for one before. */
static void test_a_bad_file_leaves_no_job(void **state)
{
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c[1-9]", 6, NULL), 0);
	assert_int_equal(demand_add_job(&d, 1, "c1", 2, NULL), 0);
	assert_non_null(demand_get_job(&d, 1));
	assert_int_equal(demand_add_file(&d, "{]", 2, NULL), -1);
	assert_int_equal(d.njobs, 0);
	assert_null(demand_get_job(&d, 1));
	assert_null(demand_get_job(&d, 0));
	assert_int_equal(demand_add_job(&d, 2, "c2", 2, NULL), 0);
	assert_null(demand_get_job(&d, 1));
	assert_int_equal(demand_get_job(&d, 2)->nodes[0], 1);
	assert_int_equal(demand_add_job(&d, 3, "c3", 2, NULL), 0);
	assert_int_equal(demand_get_job(&d, 3)->nodes[0], 2);
	demand_fini(&d);
}

static void test_whatever_was_in_its_memory_there_are_no_jobs_at_first(void **state)
{
	struct demand d;

	(void)state;
	memset(&d, 0x7f, sizeof(d));
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	assert_int_equal(d.njobs, 0);
	assert_false(d.has_jobs);
	assert_int_equal(demand_add_job(&d, 1, "c1", 2, NULL), 0);
	assert_non_null(demand_get_job(&d, 1));
	demand_fini(&d);
}

static void test_depth(void **state)
{
	size_t n = 1 << 20;
	char *deep = mem_zalloc(n + 1);
	struct demand d;
	struct err e;

	(void)state;
	memset(deep, '[', n); /* a recursive parser would overrun its stack */
	assert_int_equal(demand_init(&d, "c1", 2, &e), 0);
	assert_int_equal(demand_add_file(&d, deep, n, &e), -1);
	assert_non_null(strstr(e.msg, "byte 0:"));
	demand_fini(&d);
	free(deep);
}

static void test_brackets_in_strings(void **state)
{
	static const char file[] = "{\"jobs\":[{\"job_id\":1,\"extra\":\"[[[[[[[[[[[[[[[[[[[[[[[[[["
				   "[[[[[[[[[[[[[[\\\"[[\","
				   "\"nodes\":\"c1\"}]}";
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_file(&d, file, sizeof(file) - 1, NULL), 0);
	assert_int_equal(d.njobs, 1);
	demand_fini(&d);
}

static void test_bad_list(void **state)
{
	struct demand d;
	struct err e = {0};

	(void)state;
	assert_int_equal(demand_init(&d, "n[0-999999999]", 14, &e), -1);
	assert_int_equal(demand_count(&d), 0);
	assert_true(e.msg[0] != '\0');
}

/* A megabyte of jobs that name 65,536 nodes each must not hold the loop for minutes (I25). */
static void test_all_jobs_together_are_bounded(void **state)
{
	struct demand d;
	struct err e = {0};
	int n = 0;

	(void)state;
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	while (n < 1000 && demand_add_job(&d, 1, "n[0-65535]", 10, &e) == 0)
		n++;
	assert_int_equal(n, DEMAND_MEMBERS_MAX / 65536);
	assert_non_null(strstr(e.msg, "in all jobs"));
	demand_fini(&d);
	/* What was refused takes no place of others. */
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	while (demand_add_job(&d, 1, "n[0-65534]", 10, NULL) == 0)
		continue;
	assert_int_equal(demand_add_job(&d, 2, "c1", 2, NULL), 0);
	demand_fini(&d);
}

static void test_the_number_of_jobs_is_bounded(void **state)
{
	struct demand d;
	struct err e = {0};

	(void)state;
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	for (int i = 0; i < DEMAND_JOBS_MAX; i++)
		assert_int_equal(demand_add_job(&d, 1, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 1, "c1", 2, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_int_equal(d.njobs, DEMAND_JOBS_MAX);
	demand_fini(&d);
}

static void test_a_bad_list_of_a_job_is_ignored(void **state)
{
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 1, "c[", 2, NULL), -1);
	assert_int_equal(d.njobs, 0);
	demand_fini(&d);
}

/* A repeat has a place of its own, which no job has: so a plan knows it. */
static void test_a_job_has_the_first_of_a_repeated_node(void **state)
{
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c2,c1,c2", 8, NULL), 0);
	assert_int_equal(demand_count(&d), 3);
	assert_string_equal(demand_name(&d, 2), "c2");
	assert_int_equal(demand_add_job(&d, 1, "c[1-2]", 6, NULL), 0);
	assert_int_equal(d.jobs[0].n, 2);
	assert_int_equal(d.jobs[0].nodes[0], 1);
	assert_int_equal(d.jobs[0].nodes[1], 0);
	demand_fini(&d);
}

static void test_a_job_that_repeats_a_node_has_it_once(void **state)
{
	static const char file[] = "{\"jobs\":[{\"job_id\":5,\"nodes_alloc\":\"c1\"},{]}";
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c[1-2]", 6, NULL), 0);
	assert_int_equal(demand_add_file(&d, file, sizeof(file) - 1, NULL), -1); /* forgotten */
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(demand_add_job(&d, 1, "c1,c2,c1,x1,c1", 14, NULL), 0);
		assert_int_equal(d.jobs[i].n, 2);
		assert_int_equal(d.jobs[i].nodes[0], 0);
		assert_int_equal(d.jobs[i].nodes[1], 1);
	}
	demand_fini(&d);
}

static void test_after_fini_nothing_is_asked_for(void **state)
{
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "c1", 2, NULL), 0);
	assert_int_equal(demand_add_job(&d, 1, "c1", 2, NULL), 0);
	demand_fini(&d);
	assert_int_equal(demand_count(&d), 0);
	assert_int_equal(d.njobs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_the_constraint_in_a_resume_file),
		cmocka_unit_test(test_a_constraint_too_long_in_a_resume_file_is_not_known),
		cmocka_unit_test(test_two_constraints_of_a_job_are_a_mistake),
		cmocka_unit_test(test_what_squeue_says_goes_to_the_job_with_its_number),
		cmocka_unit_test(test_a_job_that_is_there_twice_wishes_twice),
		cmocka_unit_test(test_a_text_too_long_is_none),
		cmocka_unit_test(test_a_comment_too_long_is_none),
		cmocka_unit_test(test_only_the_whole_word_of_slurm_is_none),
		cmocka_unit_test(test_a_job_is_found_by_its_number),
		cmocka_unit_test(test_a_bad_file_leaves_no_job),
		cmocka_unit_test(test_whatever_was_in_its_memory_there_are_no_jobs_at_first),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_brackets_in_strings),
		cmocka_unit_test(test_bad_list),
		cmocka_unit_test(test_all_jobs_together_are_bounded),
		cmocka_unit_test(test_the_number_of_jobs_is_bounded),
		cmocka_unit_test(test_a_bad_list_of_a_job_is_ignored),
		cmocka_unit_test(test_a_job_has_the_first_of_a_repeated_node),
		cmocka_unit_test(test_a_job_that_repeats_a_node_has_it_once),
		cmocka_unit_test(test_after_fini_nothing_is_asked_for),
	};

	return cmocka_run_group_tests_name("demand", tests, NULL, NULL);
}
