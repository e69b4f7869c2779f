/* What slurm-conf has to say, when it has too much to say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "slurmconf/finding.h"

static const struct slurmconf_place here = {"/s/slurm.conf", 7};

static void fill(struct slurmconf_findings *f, size_t n, enum slurm_severity severity)
{
	for (size_t i = 0; i < n; i++)
		slurmconf_find(f, severity, here, "%zu", i);
}

/* Nothing is written because of an error: it is shown, however many lines are worth a warning. */
static void test_an_error_is_shown_in_any_case(void **state)
{
	struct slurmconf_findings f = {.n = 0};

	(void)state;
	fill(&f, 3, SLURM_ERROR);
	fill(&f, SLURMCONF_FINDINGS_MAX + 10, SLURM_WARNING);
	assert_int_equal(f.more, 13);
	slurmconf_find(&f, SLURM_ERROR, here, "here it is");
	slurmconf_find(&f, SLURM_ERROR, here, "and here");
	assert_int_equal(f.n, SLURMCONF_FINDINGS_MAX);
	assert_int_equal(f.more, 15);
	assert_int_equal(f.by_severity[SLURM_ERROR], 5);
	assert_int_equal(f.by_severity[SLURM_WARNING], SLURMCONF_FINDINGS_MAX + 10);
	/* In order; the last warnings went. */
	assert_string_equal(f.v[2].text, "2");
	assert_string_equal(f.v[SLURMCONF_FINDINGS_MAX - 3].text, "250");
	assert_string_equal(f.v[SLURMCONF_FINDINGS_MAX - 2].text, "here it is");
	assert_string_equal(f.v[SLURMCONF_FINDINGS_MAX - 1].text, "and here");
	slurmconf_findings_fini(&f);
}

static void test_many_errors(void **state)
{
	struct slurmconf_findings f = {.n = 0};

	(void)state;
	fill(&f, SLURMCONF_FINDINGS_MAX + 10, SLURM_ERROR);
	fill(&f, 1, SLURM_ADVICE);
	assert_int_equal(f.n, SLURMCONF_FINDINGS_MAX);
	assert_int_equal(f.more, 11);
	assert_string_equal(f.v[SLURMCONF_FINDINGS_MAX - 1].text, "255");
	slurmconf_findings_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_error_is_shown_in_any_case),
		cmocka_unit_test(test_many_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
