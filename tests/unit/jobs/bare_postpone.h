/* bare_postpone.h - postpone.c on a bare struct engine, and one job that could not get its nodes;
 * clock, journal and slurmctld are replaced by the test. */
#ifndef TESTS_BARE_POSTPONE_H
#define TESTS_BARE_POSTPONE_H

#include "base/fmt.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

static struct fix {
	struct engine e;
	char event[400];
	/* the last order to slurmctld */
	char job[40], comment[300];
	char order[300]; /* the comment as in the order */
	int64_t wait_ms, begin_ms;
	unsigned told;
	bool full; /* too many orders wait */
	/* rows of the journal */
	struct journal_refusal put;
	unsigned rows, dels;
	uint64_t mark, past;           /* node updates that are queued, and that have run */
	struct postpone_why bad;       /* the next refusal */
	char cleared[40], started[40]; /* job whose comment was cleared, that was started */
	int64_t costs[2];              /* cost of each rung */
	int64_t hold_ms, known_ms;     /* from slurm.conf, by jobs/prereq.c */
	uint64_t ended;                /* the last job that ended */
} F;

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	assert_string_equal(node, "");
	(void)snprintf(F.event, sizeof(F.event), "%s: %s", type, detail);
}

void engine_job_ended(struct engine *e, uint64_t job)
{
	(void)e;
	F.ended = job;
}

void journal_put_refusal(struct journal_tx *tx, const struct journal_refusal *r)
{
	(void)tx;
	F.put = *r;
	F.rows++;
}

void journal_del_refusal(struct journal_tx *tx, uint64_t job)
{
	(void)tx;
	assert_true(job == 107 || job <= 600); /* 600: of test_many() */
	F.dels++;
}

/* Half an hour west of UTC: slurmctld and its output use local time. */
static int64_t west(int64_t wall_ms)
{
	(void)wall_ms;
	return -1800000;
}

void slurm_words(const struct slurm *s, char *out, size_t size, const char *text)
{
	(void)s;
	slurm_clean(out, size, text);
	fmt_local(out, west);
}

bool slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, int64_t begin_ms,
		    const char *comment)
{
	(void)s;
	F.begin_ms = begin_ms;
	(void)snprintf(F.job, sizeof(F.job), "%s", job);
	slurm_words(s, F.comment, sizeof(F.comment), comment != NULL ? comment : "left");
	(void)snprintf(F.order, sizeof(F.order), "%s", comment != NULL ? comment : "");
	F.wait_ms = wait_ms;
	F.told++;
	return !F.full;
}

void slurm_clear_comment(struct slurm *s, const char *job)
{
	(void)s;
	(void)snprintf(F.cleared, sizeof(F.cleared), "%s", job);
}

bool slurm_start_now(struct slurm *s, const char *job, int64_t begin_ms)
{
	(void)s;
	F.begin_ms = begin_ms;
	(void)snprintf(F.started, sizeof(F.started), "%s", job);
	return !F.full;
}

void quote_costs(const struct engine *e, uint32_t pool, int64_t costs[CONF_OFFERS_MAX])
{
	(void)e;
	assert_int_equal(pool, 1);
	for (size_t i = 0; i < CONF_OFFERS_MAX; i++)
		costs[i] = i < 2 ? F.costs[i] : INT64_MAX;
}

int64_t prereq_hold_ms(const struct engine *e)
{
	(void)e;
	return F.hold_ms;
}

int64_t prereq_known_ms(const struct engine *e)
{
	(void)e;
	return F.known_ms;
}

uint64_t slurm_mark(const struct slurm *s)
{
	(void)s;
	return F.mark;
}

bool slurm_past(const struct slurm *s, uint64_t mark)
{
	(void)s;
	return F.past >= mark;
}

static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN, .question = SLURM_DETAILS};
	memset(&F, 0, sizeof(F));
	bare_state(&F.e);
	job_table_part.at[PART_INIT](&F.e);
	F.bad.pool = 1;
	F.costs[0] = F.costs[1] = 500;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	job_table_part.at[PART_FREE](&F.e);
	return 0;
}

/* Send back the nodes of task 2 of an array. */
static void refuse(const char *why)
{
	struct slurm_job j = {.number = 107, .id = "7_2"};

	(void)snprintf(F.bad.text, sizeof(F.bad.text), "%s", why);
	postpone_job(&F.e, &j, &F.bad);
}

/* Let slurmctld answer at once; begin: seconds from now. */
static void details(const char *state, unsigned priority, int64_t begin, const char *comment)
{
	char number[16], start[24];
	const char *text;

	(void)snprintf(number, sizeof(number), "%u", priority);
	(void)snprintf(start, sizeof(start), "%lld", (long long)(W.now / 1000 + begin));
	text = detail("107", state, number, start, comment);
	postpone_part.at[PART_RUN](&F.e);
	W.now++;
	postpone_details(&F.e, text, strlen(text), W.now, NULL);
}

/* Let slurmctld answer this a minute later. */
static inline void later(const char *state, unsigned priority, int64_t begin, const char *comment)
{
	W.now += 61000;
	W.asked[0] = '\0';
	details(state, priority, begin, comment);
}

/* Set the wall clock, also slurmctld's: our time is ahead of it by this now. */
static inline void clock_set(int64_t ahead_ms)
{
	int64_t by = F.e.ahead_ms - ahead_ms;

	F.e.ahead_ms = ahead_ms;
	postpone_part.clock_set(&F.e, by);
}

/* Report the end of a command to slurmctld. */
static inline void ended(const char *verb, const char *reason, const struct err *err)
{
	postpone_told(&F.e,
		      &(struct slurm_order){
			      .verb = verb, .names = "7_2", .reason = reason, .of_jobs = true},
		      err);
}

/* Say of the job what rescue_hold.c does. */
static inline void lose(const char *comment)
{
	char there[300];
	const struct slurm_job_detail d = {
		.number = 107, .pending = true, .comment = {there, strlen(comment)}};

	(void)snprintf(there, sizeof(there), "%s", comment);
	F.comment[0] = '\0';
	postpone_say(&F.e, &d, "7_2", "burstd: lost node c1: x; it was requeued");
}

/* Restart burstd, with the row that it has. */
static inline void restart(void)
{
	job_table_part.at[PART_FREE](&F.e);
	job_table_part.at[PART_INIT](&F.e);
	postpone_load(&F.e, &F.put);
}

/* ... and let it hear the id that people use: by its number the job would be the whole array. */
static inline void named(const char *state)
{
	char line[1200];

	W.words[0] = '\0';
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.words, "107");
	(void)snprintf(line, sizeof(line), "107|7_2|%s|p|None||1000|1|||(null)|(null) %-1025s\n",
		       state, "(null)");
	postpone_words(&F.e, line, strlen(line));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
