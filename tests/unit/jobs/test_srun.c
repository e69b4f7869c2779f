/* test_srun.c - srun and salloc hear why their job ends: they alone, each sentence once, and the
 * order that ends the job waits for it.
 *
 * On a bare struct engine: the clock and slurmctld are the test's. */
#include "buy/buy.h"
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

static struct fix {
	struct engine e;
	char told[8][300]; /* "7: why" */
	unsigned ntold;
	bool talks, notifies, broken;
} F;

void slurm_notify(struct slurm *s, const char *job, const char *text)
{
	(void)s;
	assert_true(F.ntold < 8);
	(void)snprintf(F.told[F.ntold++], sizeof(F.told[0]), "%s: %s", job, text);
	F.notifies = true;
}

void slurm_talks(struct slurm *s, bool talks)
{
	(void)s;
	F.talks = talks;
}

bool slurm_notifies(const struct slurm *s)
{
	(void)s;
	return F.notifies;
}

static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN, .question = SLURM_WHO};
	memset(&F, 0, sizeof(F));
	bare_state(&F.e);
	job_table_part.at[PART_INIT](&F.e);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	job_table_part.at[PART_FREE](&F.e);
	return 0;
}

/* squeue's answer: jobs from 100 on are batch jobs. */
static void who(const char *a, const char *b)
{
	const char *const jobs[] = {a, b};
	char text[200] = "";

	for (size_t i = 0; i < 2 && jobs[i] != NULL; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%-24s%-24d\n",
			       jobs[i], strtol(jobs[i], NULL, 10) >= 100);
	srun_who(&F.e, text, strlen(text), NULL);
}

static void test_srun_is_told_and_batch_is_not(void **state)
{
	(void)state;
	srun_tell(&F.e, 7, "burstd: none left");
	srun_tell(&F.e, 107, "burstd: none left");
	assert_true(F.talks); /* from now on orders wait */
	srun_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "107 7");
	assert_true(F.talks);
	srun_part.at[PART_RUN](&F.e);
	assert_int_equal(W.nasked, 2); /* once */
	who("7", "107");
	assert_int_equal(F.ntold, 1);
	assert_string_equal(F.told[0], "7: burstd: none left");
	assert_int_equal(F.e.count.jobs_notified, 1);
	srun_part.at[PART_RUN](&F.e);
	assert_true(F.talks); /* it is on its way */
	F.notifies = false;
	srun_part.at[PART_RUN](&F.e);
	assert_true(F.talks); /* slurmctld has it, and hands it on */
	assert_int_equal(srun_part.next_ms(&F.e), BEGAN + 250);
	W.now += 249;
	srun_part.at[PART_RUN](&F.e);
	assert_true(F.talks);
	W.now++;
	srun_part.at[PART_RUN](&F.e);
	assert_false(F.talks);
	assert_true(srun_part.next_ms(&F.e) == INT64_MAX);
}

static void test_each_sentence_once(void **state)
{
	(void)state;
	srun_tell(&F.e, 7, "burstd: none left");
	srun_part.at[PART_RUN](&F.e);
	srun_tell(&F.e, 7, "burstd: none left");
	who("7", NULL);
	F.notifies = F.talks = false;
	srun_tell(&F.e, 7, "burstd: none left");
	assert_int_equal(F.ntold, 1);
	assert_false(F.talks);
	srun_tell(&F.e, 7, "burstd: no quota"); /* at once: whose it is, is known */
	assert_int_equal(F.ntold, 2);
	assert_string_equal(F.told[1], "7: burstd: no quota");
	assert_int_equal(W.nasked, 1);
	srun_tell(&F.e, 7, "burstd: none left"); /* the one before the last counts, too */
	srun_tell(&F.e, 7, "burstd: no quota");
	assert_int_equal(F.ntold, 2);
}

/* What came before squeue had answered, and gave way to another, was not heard. */
static void test_a_sentence_that_nobody_heard_is_told(void **state)
{
	(void)state;
	srun_tell(&F.e, 7, "a");
	srun_tell(&F.e, 7, "b");
	srun_part.at[PART_RUN](&F.e);
	who("7", NULL);
	srun_tell(&F.e, 7, "a");
	assert_int_equal(F.ntold, 2);
	assert_string_equal(F.told[1], "7: a");
}

/* F50: slurmctld has lost its state, and the number is another job's.  A batch job would have the
 * sentence in its output. */
static void test_a_number_may_be_another_jobs_by_now(void **state)
{
	static const char batch[] = "7                       1                       \n";

	(void)state;
	srun_tell(&F.e, 7, "a");
	srun_part.at[PART_RUN](&F.e);
	who("7", NULL);
	assert_int_equal(F.ntold, 1);
	W.now += 60000;
	srun_tell(&F.e, 7, "b");
	srun_part.at[PART_RUN](&F.e);
	assert_int_equal(W.nasked, 2);
	srun_who(&F.e, batch, sizeof(batch) - 1, NULL);
	assert_int_equal(F.ntold, 1);
}

/* It is not asked about again, and holds nothing up. */
static void test_a_batch_job_is_remembered(void **state)
{
	(void)state;
	srun_tell(&F.e, 107, "a");
	srun_part.at[PART_RUN](&F.e);
	who("107", NULL);
	srun_part.at[PART_RUN](&F.e);
	assert_false(F.talks);
	srun_tell(&F.e, 107, "b");
	assert_false(F.talks);
	srun_part.at[PART_RUN](&F.e);
	assert_int_equal(W.nasked, 1);
	assert_int_equal(F.ntold, 0);
}

/* The last sentence counts when two come before squeue has answered. */
static void test_words_that_come_while_squeue_is_asked(void **state)
{
	(void)state;
	srun_tell(&F.e, 7, "a");
	srun_part.at[PART_RUN](&F.e);
	srun_tell(&F.e, 7, "b");
	srun_tell(&F.e, 8, "c");
	srun_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7"); /* one question at a time */
	who("7", NULL);
	assert_int_equal(F.ntold, 1);
	assert_string_equal(F.told[0], "7: b");
	srun_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "8");
	who("8", NULL);
	assert_string_equal(F.told[1], "8: c");
}

static void test_whom_slurmctld_does_not_know(void **state)
{
	const struct err err = {.code = ERR_NET, .msg = "squeue: timed out"};

	(void)state;
	srun_tell(&F.e, 7, "a");
	srun_part.at[PART_RUN](&F.e);
	who(NULL, NULL); /* it has ended */
	srun_part.at[PART_RUN](&F.e);
	assert_false(F.talks);
	assert_int_equal(W.nasked, 1);
	srun_tell(&F.e, 8, "b");
	srun_part.at[PART_RUN](&F.e);
	srun_who(&F.e, NULL, 0, &err);
	srun_part.at[PART_RUN](&F.e);
	assert_false(F.talks);
	assert_int_equal(F.ntold, 0);
	srun_tell(&F.e, 8, "b"); /* nobody has heard it */
	srun_part.at[PART_RUN](&F.e);
	who("8", NULL);
	assert_string_equal(F.told[0], "8: b");
}

static void test_hundreds_are_asked_about_in_parts(void **state)
{
	(void)state;
	for (uint64_t job = 1; job <= SLURM_ASK_MAX + 1; job++)
		srun_tell(&F.e, job, "a");
	srun_part.at[PART_RUN](&F.e);
	assert_int_equal(W.nasked, SLURM_ASK_MAX);
	who(NULL, NULL);
	srun_part.at[PART_RUN](&F.e);
	assert_int_equal(W.nasked, SLURM_ASK_MAX + 1);
	assert_true(F.talks);
}

static void test_jobs_are_forgotten(void **state)
{
	(void)state;
	srun_tell(&F.e, 7, "a");
	srun_part.at[PART_RUN](&F.e);
	who("7", NULL);
	W.now += 7199000;
	srun_part.at[PART_RUN](&F.e);
	assert_int_equal(F.e.jobs->nsruns, 1);
	W.now += 61000;
	srun_part.at[PART_RUN](&F.e);
	assert_int_equal(F.e.jobs->nsruns, 0);
	assert_null(F.e.jobs->parts[JOB_SRUN]);
}

/* squeue names all components of a heterogeneous job when it is asked about one of them: of one
 * that squeue could not be asked about a moment ago nobody knows a sentence any more. */
static void test_a_component_that_was_not_asked_about_hears_nothing(void **state)
{
	(void)state;
	srun_tell(&F.e, 6, "a");
	srun_part.at[PART_RUN](&F.e);
	srun_who(&F.e, "", 0, &(struct err){.code = ERR_NET});
	srun_tell(&F.e, 7, "b");
	srun_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7");
	who("6", "7");
	assert_int_equal(F.ntold, 1);
	assert_string_equal(F.told[0], "7: b");
	srun_tell(&F.e, 6, "c"); /* at once: whose it is, is known by now */
	assert_int_equal(F.ntold, 2);
	assert_string_equal(F.told[1], "6: c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_srun_is_told_and_batch_is_not, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_each_sentence_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_sentence_that_nobody_heard_is_told, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_batch_job_is_remembered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_number_may_be_another_jobs_by_now, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_words_that_come_while_squeue_is_asked, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_whom_slurmctld_does_not_know, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hundreds_are_asked_about_in_parts, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_jobs_are_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_component_that_was_not_asked_about_hears_nothing, setup, teardown),
	};

	return cmocka_run_group_tests_name("srun", tests, NULL, NULL);
}
