/* payer.c: who pays for a job, from lines as squeue prints them, and from hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/payer.h"

enum { ROWS_MAX = 4 };

struct seen {
	struct payer p[ROWS_MAX];
	struct slurm_job j[ROWS_MAX];
	bool known[ROWS_MAX];
	size_t n;
};

static void on_row(void *ctx, const struct slurm_job *j)
{
	struct seen *s = ctx;

	assert_true(s->n < ROWS_MAX);
	s->j[s->n] = *j;
	s->known[s->n] = slurm_payer_read(j, &s->p[s->n]);
	s->n++;
}

/* One line: the columns before the wckey, the wckey, and what follows. */
static struct seen parse(const char *columns, const char *key, const char *wishes)
{
	static char text[4096];
	struct seen s = {.n = 0};
	int n = snprintf(text, sizeof(text), "7|7_2|CONFIGURING|gpu|None|c[1-2]| |%s|%-65s|%s\n",
			 columns, key, wishes);

	assert_int_equal(slurm_job_whole(text, (size_t)n), true);
	slurm_job_parse(text, (size_t)n, on_row, &s);
	return s;
}

static void test_a_payer(void **state)
{
	struct seen s = parse("physics|ann|normal|1-04:00:30|2|192|NO|gres/gpu:h100:8", "*def", "");
	const struct payer *p = &s.p[0];

	(void)state;
	assert_int_equal(s.n, 1);
	assert_true(s.known[0]);
	assert_string_equal(p->id, "7_2");
	assert_string_equal(p->account, "physics");
	assert_string_equal(p->user, "ann");
	assert_string_equal(p->partition, "gpu");
	assert_string_equal(p->qos, "normal");
	assert_string_equal(p->wckey, "*def");
	assert_int_equal(p->limit_s, 86400 + 4 * 3600 + 30);
	assert_int_equal(p->nodes, 2);
	assert_int_equal(p->cpus, 192);
	assert_int_equal(p->node_gpus, 8);
	assert_true(p->exclusive);
	assert_null(s.j[0].constraint.p);
	assert_true(slurm_text_is(s.j[0].nodes, "c[1-2]"));
}

static void test_wishes_stand_behind_it(void **state)
{
	struct seen s = parse("a|u|q|30:00|1|1|OK|N/A", "(null)", "spot|x");

	(void)state;
	assert_true(slurm_text_is(s.j[0].constraint, "spot|x"));
	assert_string_equal(s.p[0].wckey, "");
	assert_int_equal(s.p[0].limit_s, 1800);
	assert_int_equal(s.p[0].node_gpus, 0);
	assert_false(s.p[0].exclusive);
}

static void test_who_was_not_asked_says_nothing(void **state)
{
	static const char text[] =
		"7|7|CONFIGURING|gpu|None|c1\n8|8|CONFIGURING|gpu|None|c2|spot\n";
	struct seen s = {.n = 0};

	(void)state;
	slurm_job_parse(text, sizeof(text) - 1, on_row, &s);
	assert_int_equal(s.n, 2);
	assert_false(s.known[0]);
	assert_false(s.known[1]);
	assert_true(slurm_text_is(s.j[1].constraint, "spot"));
}

static void test_limits(void **state)
{
	static const struct {
		const char *text;
		int64_t limit_s;
	} rows[] = {
		{"0:01", 1},
		{"30:00", 1800},
		{"1:00:00", 3600},
		{"364-23:59:59", INT64_C(365) * 86400 - 1},
		{"365-00:00:00", PAYER_UNLIMITED}, /* backfill's word for none */
		{"UNLIMITED", PAYER_UNLIMITED},
		{"NOT_SET", PAYER_UNLIMITED},
		{"INVALID", PAYER_UNLIMITED},
		{"", PAYER_UNLIMITED},
		{"5", PAYER_UNLIMITED},
		{":30", PAYER_UNLIMITED},
		{"-1:00", PAYER_UNLIMITED},
		{"1-2-3:00", PAYER_UNLIMITED},
		{"1:2:3:4", PAYER_UNLIMITED},
		{"99999999999999999999:00", PAYER_UNLIMITED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char columns[200];

		print_message("# %s\n", rows[i].text);
		(void)snprintf(columns, sizeof(columns), "a|u|q|%s|1|1|OK|N/A", rows[i].text);
		assert_true(parse(columns, "", "").p[0].limit_s == rows[i].limit_s);
	}
}

static void test_counts(void **state)
{
	static const struct {
		const char *text;
		uint32_t n;
	} rows[] = {
		{"96", 96},
		{"1K", 1024},
		{"1.5K", 1639}, /* rounded up, for it was rounded */
		{"1.50K", 1639},
		{"2M", 2 << 20},
		{"", 0},
		{"x", 0},
		{"99999999999", UINT32_MAX},
		{"4-8", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char columns[200];

		print_message("# %s\n", rows[i].text);
		(void)snprintf(columns, sizeof(columns), "a|u|q|1:00|1|%s|OK|N/A", rows[i].text);
		assert_int_equal(parse(columns, "", "").p[0].cpus, rows[i].n);
	}
}

static void test_gpus(void **state)
{
	static const struct {
		const char *text;
		uint32_t n;
	} rows[] = {
		{"N/A", 0},
		{"(null)", 0},
		{"gres/gpu:8", 8},
		{"gres:gpu:8", 8}, /* 22.05 */
		{"gres/gpu:h100:4", 4},
		{"gres/gpu", 1},
		{"gres/gpu:h100", 1},
		{"gpu:2", 2},
		{"gres/gpu:a100:2,gres/gpu:h100:3,gres/shard:9", 5},
		{"gres/gpux:7", 0},
		{"gres/shard:7", 0},
		{",,", 0},
		{"gres/gpu:", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char columns[200];

		print_message("# %s\n", rows[i].text);
		(void)snprintf(columns, sizeof(columns), "a|u|q|1:00|1|1|OK|%s", rows[i].text);
		assert_int_equal(parse(columns, "", "").p[0].node_gpus, rows[i].n);
	}
}

/* A wckey is a user's text: it ends no line, and names nobody else. */
static void test_a_wckey_cannot_pass_for_a_job(void **state)
{
	struct seen s = parse("a|u|q|1:00|1|1|OK|N/A", "k|\n9|9|CONFIGURING|gpu|None|c1\n\x01", "");

	(void)state;
	assert_int_equal(s.n, 1);
	assert_string_equal(s.p[0].account, "a");
	assert_string_equal(s.p[0].wckey, "k|?9|9|CONFIGURING|gpu|None|c1??");
}

static void test_a_wckey_of_another_width_is_not_read(void **state)
{
	static const char *const texts[] = {
		"7|7|CONFIGURING|gpu|None|c1| |a|u|q|1:00|1|1|OK|N/A|short|\n",
		"7|7|CONFIGURING|gpu|None|c1| |a|u|q|1:00|1|1|OK|N/A\n",
		"7|7|CONFIGURING|gpu|None|c1| |a|u\n",
		"7|7|CONFIGURING|gpu|None|c1| |",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct seen s = {.n = 0};

		assert_false(slurm_job_whole(texts[i], strlen(texts[i])));
		slurm_job_parse(texts[i], strlen(texts[i]), on_row, &s);
		assert_int_equal(s.n, 0);
	}
}

static void test_long_names_are_cut(void **state)
{
	char account[300], columns[400];
	struct seen s;

	(void)state;
	memset(account, 'x', sizeof(account) - 1);
	account[sizeof(account) - 1] = '\0';
	(void)snprintf(columns, sizeof(columns), "%s|u|q|1:00|1|1|OK|N/A", account);
	s = parse(columns, "", "");
	assert_int_equal(strlen(s.p[0].account), PAYER_NAME_MAX);
}

/* The widths that the parser reads are those that squeue is asked for. */
static void test_the_formats(void **state)
{
	char key[24];

	(void)state;
	(void)snprintf(key, sizeof(key), "|%%%dw|", SLURM_WCKEY_WIDTH);
	assert_non_null(strstr(SLURM_PAYER_FORMAT, key));
	assert_memory_equal(SLURM_PAYER_FORMAT, SLURM_JOB_FORMAT "| |",
			    strlen(SLURM_JOB_FORMAT) + 3);
	assert_string_equal(SLURM_PAYER_WISHES_FORMAT + strlen(SLURM_PAYER_FORMAT), "%f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_payer),
		cmocka_unit_test(test_wishes_stand_behind_it),
		cmocka_unit_test(test_who_was_not_asked_says_nothing),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_gpus),
		cmocka_unit_test(test_a_wckey_cannot_pass_for_a_job),
		cmocka_unit_test(test_a_wckey_of_another_width_is_not_read),
		cmocka_unit_test(test_long_names_are_cut),
		cmocka_unit_test(test_the_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
