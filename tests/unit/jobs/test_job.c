/* test_job.c - the table of jobs: a job is there while a concern has a part in it. */
#include "tests/unit/engine/bare_engine.h"

#include "jobs/jobs.h"
#include "tests/unit/engine/bare_state.h"

struct part {
	struct job_part in;
	int64_t x;
};

static struct engine E;

static int setup(void **state)
{
	(void)state;
	memset(&E, 0, sizeof(E));
	bare_state(&E);
	job_table_part.at[PART_INIT](&E);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	job_table_part.at[PART_FREE](&E);
	return 0;
}

static struct part *get(uint64_t number, enum job_concern c)
{
	return job_get(&E, number, c, sizeof(struct part));
}

/* The numbers of the concern's jobs, in order. */
static const char *all(enum job_concern c)
{
	static char out[100];
	const struct job_part *prev = NULL;

	out[0] = '\0';
	for (struct part *p = E.jobs->parts[c]; p != NULL; p = p->in.next) {
		assert_ptr_equal(p->in.prev, prev);
		prev = &p->in;
		add(out, sizeof(out), out[0] != '\0' ? " " : "", p->in.job->key, "");
	}
	assert_ptr_equal(E.jobs->oldest[c], prev);
	return out;
}

static void test_a_part_is_made_once(void **state)
{
	struct part *p;

	(void)state;
	assert_null(job_find(&E, 7, JOB_SRUN));
	p = get(7, JOB_SRUN);
	assert_int_equal(p->x, 0);
	assert_int_equal(p->in.job->number, 7);
	assert_ptr_equal(get(7, JOB_SRUN), p);
	assert_ptr_equal(job_find(&E, 7, JOB_SRUN), p);
	assert_null(job_find(&E, 8, JOB_SRUN));
	assert_null(job_find(&E, 7, JOB_RESCUED));
}

static void test_a_job_goes_with_its_last_part(void **state)
{
	struct part *told, *taken;

	(void)state;
	told = get(7, JOB_SRUN);
	taken = get(7, JOB_RESCUED);
	assert_ptr_equal(told->in.job, taken->in.job);
	job_drop(&E, told);
	assert_null(job_find(&E, 7, JOB_SRUN));
	assert_ptr_equal(job_find(&E, 7, JOB_RESCUED), taken);
	assert_int_equal(E.jobs->by_number.n, 1);
	job_drop(&E, taken);
	assert_int_equal(E.jobs->by_number.n, 0);
}

/* F50: slurmctld gives the number again. */
static void test_a_part_made_anew_knows_nothing(void **state)
{
	(void)state;
	(void)get(7, JOB_RESCUED);
	get(7, JOB_SRUN)->x = 1;
	job_drop(&E, get(7, JOB_SRUN));
	assert_int_equal(get(7, JOB_SRUN)->x, 0);
}

/* Of those that are asked about together, and whose orders go out, the newest comes first. */
static void test_each_concern_has_an_order_of_its_own(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 4; n++)
		(void)get(n, JOB_POSTPONED);
	(void)get(2, JOB_RESCUED);
	(void)get(1, JOB_RESCUED);
	(void)get(2, JOB_RESCUED); /* it is there */
	assert_string_equal(all(JOB_POSTPONED), "4 3 2 1");
	assert_string_equal(all(JOB_RESCUED), "1 2");
	job_drop(&E, get(4, JOB_POSTPONED));
	job_drop(&E, get(2, JOB_POSTPONED));
	assert_string_equal(all(JOB_POSTPONED), "3 1");
	job_drop(&E, get(1, JOB_POSTPONED));
	assert_string_equal(all(JOB_POSTPONED), "3");
	assert_string_equal(all(JOB_RESCUED), "1 2");
}

static bool is_odd(struct engine *e, void *part)
{
	const struct part *p = part;

	assert_ptr_equal(e, &E);
	return p->in.job->number % 2 == 1;
}

static void test_those_that_are_over_are_forgotten(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 5; n++) {
		(void)get(n, JOB_POSTPONED);
		(void)get(n, JOB_SRUN);
	}
	job_forget(&E, JOB_POSTPONED, is_odd);
	assert_string_equal(all(JOB_POSTPONED), "4 2");
	assert_string_equal(all(JOB_SRUN), "5 4 3 2 1");
	job_forget(&E, JOB_SRUN, NULL);
	assert_string_equal(all(JOB_SRUN), "");
	assert_int_equal(E.jobs->by_number.n, 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_part_is_made_once),
		TEST(test_a_job_goes_with_its_last_part),
		TEST(test_a_part_made_anew_knows_nothing),
		TEST(test_each_concern_has_an_order_of_its_own),
		TEST(test_those_that_are_over_are_forgotten),
	};

	return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
