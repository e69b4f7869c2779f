/* test_postpone_many.c - more jobs wait than squeue is asked about at once, and some of them ended
 * while burstd was not there.  On a bare struct engine, as in test_postpone.c. */
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

static struct fix {
	struct engine e;
	unsigned started;
} F;

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)node;
	(void)gen;
	(void)type;
	(void)detail;
}

void engine_job_ended(struct engine *e, uint64_t job)
{
	(void)e;
	(void)job;
}

void journal_put_refusal(struct journal_tx *tx, const struct journal_refusal *r)
{
	(void)tx;
	(void)r;
}

void journal_del_refusal(struct journal_tx *tx, uint64_t job)
{
	(void)tx;
	(void)job;
}

void slurm_words(const struct slurm *s, char *out, size_t size, const char *text)
{
	(void)s;
	slurm_clean(out, size, text);
}

bool slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, int64_t begin_ms,
		    const char *comment)
{
	(void)s;
	(void)job;
	(void)wait_ms;
	(void)begin_ms;
	(void)comment;
	return true;
}

void slurm_clear_comment(struct slurm *s, const char *job)
{
	(void)s;
	(void)job;
}

bool slurm_start_now(struct slurm *s, const char *job, int64_t begin_ms)
{
	(void)s;
	(void)job;
	(void)begin_ms;
	F.started++;
	return true;
}

void quote_costs(const struct engine *e, uint32_t pool, int64_t costs[CONF_OFFERS_MAX])
{
	(void)e;
	(void)pool;
	for (size_t i = 0; i < CONF_OFFERS_MAX; i++)
		costs[i] = INT64_MAX;
}

int64_t prereq_hold_ms(const struct engine *e)
{
	(void)e;
	return 0;
}

int64_t prereq_known_ms(const struct engine *e)
{
	(void)e;
	return 1;
}

uint64_t slurm_mark(const struct slurm *s)
{
	(void)s;
	return 0;
}

bool slurm_past(const struct slurm *s, uint64_t mark)
{
	(void)s;
	(void)mark;
	return true;
}

static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN, .question = SLURM_DETAILS};
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

static void load(uint64_t job, int64_t wait_ms)
{
	postpone_load(&F.e,
		      &(struct journal_refusal){
			      job, {.count = 1, .last_ms = BEGAN - 1000, .wait_ms = wait_ms}});
}

/* What squeue prints of jobs first ... last. */
static void words(unsigned first, unsigned last)
{
	struct str s;

	str_init(&s, 4 << 20);
	for (unsigned i = first; i <= last; i++)
		str_addf(&s, "%u|%u_1|PENDING|p|None||1000|12|||(null)|(null) %-1025s\n", i, i,
			 "(null)");
	W.words[0] = '\0';
	W.now += 61000;
	postpone_part.at[PART_RUN](&F.e);
	postpone_words(&F.e, s.p, s.len);
	str_fini(&s);
}

/* F54: all are known by their names in the end, and so may try again, though those before them wait
 * for a day. */
static void test_each_has_its_turn(void **state)
{
	static const char *const first[] = {"600 ", "100 ", "600 ", "100 "};
	const unsigned n = SLURM_ASK_MAX + 100;
	struct engine_postponed soonest;

	(void)state;
	for (unsigned i = 1; i <= n; i++)
		load(i, REFUSAL_DAY_MS);
	for (size_t k = 0; k < sizeof(first) / sizeof(first[0]); k++) {
		words(k % 2 == 0 ? 101 : 1, k % 2 == 0 ? n : 100); /* those that were asked about */
		assert_memory_equal(W.words, first[k], 4);
		assert_int_equal(engine_postponed(&F.e, &soonest), n);
	}
}

/* A job that ended while nobody looked is not in `status` for a day, nor asked about. */
static void test_one_that_is_not_there_is_settled(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	load(7, REFUSAL_DAY_MS);
	load(8, REFUSAL_DAY_MS);
	assert_int_equal(engine_postponed(&F.e, &soonest), 2);
	words(8, 8);
	assert_int_equal(engine_postponed(&F.e, &soonest), 1);
	assert_string_equal(soonest.job, "8_1");
	words(8, 8);
	assert_string_equal(W.words, "8");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_has_its_turn),
		TEST(test_one_that_is_not_there_is_settled),
	};

	return cmocka_run_group_tests_name("postpone/many", tests, NULL, NULL);
}
