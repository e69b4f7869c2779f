/* test_postpone.c - what slurmctld and people are told of a job that could not have its nodes.
 *
 * On a bare struct engine: the clock, the journal and slurmctld are the test's. */
#include "bare_engine.h"
#include "base/fmt.h"

static struct fix {
	struct engine e;
	char event[400];
	/* what slurmctld was told last */
	char job[40], comment[300];
	int64_t wait_ms;
	unsigned told;
	/* rows */
	struct journal_refusal put;
	unsigned rows, dels;
	uint64_t mark, past;           /* updates of nodes queued, and run */
	struct postpone_why bad;       /* the next refusal */
	char cleared[40], started[40]; /* whose comment was; who may start at once */
	int64_t lowest;                /* price */
} F;

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	assert_string_equal(node, "");
	(void)snprintf(F.event, sizeof(F.event), "%s: %s", type, detail);
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
	assert_int_equal(job, 107);
	F.dels++;
}

/* Half an hour west of UTC: slurmctld has local time, and so have its answers. */
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

void slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, const char *comment)
{
	(void)s;
	(void)snprintf(F.job, sizeof(F.job), "%s", job);
	slurm_words(s, F.comment, sizeof(F.comment), comment != NULL ? comment : "left");
	F.wait_ms = wait_ms;
	F.told++;
}

void slurm_clear_comment(struct slurm *s, const char *job)
{
	(void)s;
	(void)snprintf(F.cleared, sizeof(F.cleared), "%s", job);
}

void slurm_start_now(struct slurm *s, const char *job, const char *comment)
{
	(void)s;
	assert_null(comment);
	(void)snprintf(F.started, sizeof(F.started), "%s", job);
}

int64_t place_lowest(const struct engine *e, uint32_t pool)
{
	(void)e;
	assert_int_equal(pool, 1);
	return F.lowest;
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
	map_init(&F.e.postponed_map);
	F.bad.pool = 1;
	F.lowest = 500;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	postpone_free(&F.e);
	return 0;
}

/* The nodes of task 2 of an array are sent back. */
static void refuse(const char *why)
{
	struct slurm_job j = {.number = 107, .id = "7_2"};

	(void)snprintf(F.bad.text, sizeof(F.bad.text), "%s", why);
	postpone_job(&F.e, &j, &F.bad);
}

/* slurmctld answers at once; begin: seconds from now. */
static void details(const char *state, unsigned priority, int64_t begin, const char *comment)
{
	char number[16], start[24];
	const char *text;

	(void)snprintf(number, sizeof(number), "%u", priority);
	(void)snprintf(start, sizeof(start), "%lld", (long long)(W.now / 1000 + begin));
	text = detail("107", state, number, start, comment);
	postpone_run(&F.e);
	W.now++;
	postpone_details(&F.e, text, strlen(text), W.now, NULL);
}

static void test_told(void **state)
{
	(void)state;
	refuse("pool h100: max_nodes 8 reached");
	assert_int_equal(F.put.job, 107);
	assert_int_equal(F.put.r.count, 1);
	postpone_run(&F.e);
	assert_string_equal(W.asked, "7_2");
	details("PENDING", 7, 6, "");
	assert_string_equal(F.job, "7_2");
	assert_true(F.wait_ms > 29000 && F.wait_ms <= 30000);
	assert_string_equal(F.comment, "burstd: pool h100: max_nodes 8 reached; next try "
				       "2027-01-15T07:30:30 (in 29s)");
	assert_string_equal(F.event, "job-postponed: job 7_2, refusal 1: pool h100: max_nodes 8 "
				     "reached; next try 2027-01-15T08:00:30Z (in 29s)");
	details("PENDING", 7, 6, ""); /* once */
	assert_int_equal(F.told, 1);
	W.now = BEGAN + 35000;
	refuse("pool h100: max_nodes 8 reached");
	details("PENDING", 7, 6, "burstd: pool h100 ...");
	assert_true(F.wait_ms > 59000 && F.wait_ms <= 60000);
	assert_non_null(strstr(F.event, "refusal 2:"));
}

/* What `status` says of those that wait: of those that were told, until their time comes. */
static void test_shown(void **state)
{
	struct slurm_job other = {.number = 108, .id = "108"};
	struct engine_postponed soonest;
	int64_t until = BEGAN + 30000;

	(void)state;
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	refuse("why");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0); /* not told yet */
	details("PENDING", 7, 6, "");
	assert_int_equal(engine_postponed(&F.e, &soonest), 1);
	assert_string_equal(soonest.job, "7_2");
	assert_int_equal(soonest.refusals, 1);
	assert_int_equal(soonest.until_ms, until);
	W.now = until;
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	refuse("why"); /* again */
	details("PENDING", 7, 6, "");
	postpone_load(&F.e, &(struct journal_refusal){109, {.count = 1, .last_ms = W.now - 5}});
	postpone_job(&F.e, &other, &F.bad); /* slurmctld has not heard of it */
	assert_int_equal(engine_postponed(&F.e, &soonest), 2);
	assert_string_equal(soonest.job, "109");
}

/* One that is held, or gone, waits for something else. */
static void test_not_shown(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	refuse("why");
	details("PENDING", 0, 6, "");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	refuse("why");
	details("RUNNING", 7, 6, "");
	W.now += 11000;
	details("RUNNING", 7, 6, "");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
}

/* It is not made to start sooner than it would, and its comment may be somebody's. */
static void test_not_ours(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	refuse("why");
	details("PENDING", 7, 600, "");
	assert_int_equal(F.wait_ms, 0);
	assert_string_equal(F.comment, "burstd: why; next try 2027-01-15T07:40:00 (in 9m59s)");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0); /* it waits for its user's time */
	refuse("why");
	details("PENDING", 7, 6, "budget 7");
	assert_true(F.wait_ms > 0);
	assert_string_equal(F.comment, "left");
}

static void test_held(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 0, 6, "");
	assert_int_equal(F.told, 0);
	details("PENDING", 7, 6, ""); /* whoever released it knows why */
	assert_int_equal(F.told, 0);
	assert_int_equal(F.rows, 1); /* it is counted all the same */
}

/* It is being requeued: looked at again, for ten seconds. */
static void test_not_yet(void **state)
{
	(void)state;
	refuse("why");
	postpone_run(&F.e);
	details("COMPLETING", 7, 0, "");
	assert_int_equal(F.told, 0);
	W.asked[0] = '\0';
	postpone_run(&F.e);
	assert_string_equal(W.asked, "");
	assert_true(F.e.postpone_next > W.now && F.e.postpone_next <= W.now + 1000);
	W.now = F.e.postpone_next;
	postpone_run(&F.e);
	assert_string_equal(W.asked, "7_2");
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 1);
	refuse("why");
	details("RUNNING", 7, 0, ""); /* it got nodes elsewhere */
	W.now += 10001;
	details("RUNNING", 7, 0, "");
	W.now += 1000;
	W.asked[0] = '\0';
	postpone_run(&F.e);
	assert_string_equal(W.asked, "");
	assert_int_equal(F.told, 1);
}

/* What was asked before the refusal shows the job as it was before: its begin time is not the one
 * that slurmctld sets when it requeues it. */
static void test_old_answer(void **state)
{
	int64_t asked = W.now;
	const char *text = detail("107", "PENDING", "7", "1", "(null)");

	(void)state;
	refuse("why");
	postpone_run(&F.e);
	postpone_details(&F.e, text, strlen(text), asked, NULL);
	assert_int_equal(F.told, 0);
}

/* The nodes are sent back first, and then it is asked about at once, whatever else slurmctld is to
 * be told of nodes: it would start the job again in the meantime. */
static void test_after_its_own_commands(void **state)
{
	(void)state;
	F.mark = 7;
	F.past = 6;
	refuse("why");
	F.mark = 20; /* addresses of others */
	postpone_run(&F.e);
	assert_string_equal(W.asked, "");
	F.past = 7;
	postpone_run(&F.e);
	assert_string_equal(W.asked, "7_2");
}

/* slurmctld had given it another of the nodes that are being sent back: it is requeued once more,
 * to a later time than the answer says. */
static void test_an_update_that_overtakes_the_answer(void **state)
{
	(void)state;
	refuse("why");
	W.settled_ms = INT64_MAX; /* it waits */
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 0);
	W.now += 300;
	W.settled_ms = W.now + 2; /* it ran while slurmctld was asked */
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 0);
	W.now += 300;
	details("PENDING", 7, 36, "");
	assert_int_equal(F.told, 1);
	assert_int_equal(F.wait_ms, 0); /* not before that */
	/* In a storm there is no such moment. */
	refuse("why");
	W.settled_ms = INT64_MAX;
	details("PENDING", 7, 6, "");
	W.now += 4000;
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 1);
	W.now += 1000;
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 2);
	W.settled_ms = 0;
}

static void updated(const char *verb, const char *names, const struct err *err)
{
	const struct slurm_order o = {.verb = verb, .names = names, .of_jobs = true};

	postpone_told(&F.e, &o, err);
	W.now += 1000;
	W.asked[0] = '\0';
	postpone_run(&F.e);
}

/* A slurmctld that was away would start the job again at the end of its own delay. */
static void test_told_again_when_it_was_not_taken(void **state)
{
	static const struct err away = {.code = ERR_NET, .msg = "unable to contact slurmctld"};
	struct engine_postponed soonest;

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	updated("start", "7_2", &away);
	assert_string_equal(W.asked, "");
	updated("postpone", "7_1,7_20", &away);
	assert_string_equal(W.asked, "");
	updated("postpone", "7_2", NULL);
	assert_string_equal(W.asked, "");
	updated("postpone", "7_1,7_2", &away);
	assert_string_equal(W.asked, "7_2");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	details("PENDING", 7, 6, "burstd: why; next try 2027-01-15T07:30:30");
	assert_int_equal(F.told, 2);
	assert_true(F.wait_ms > 0 && F.wait_ms < 30000);
	updated("postpone", "7_2", &away); /* of others it was said, and this one heard it: */
	details("PENDING", 7, 30, "burstd: why; next try 2027-01-15T07:30:30");
	assert_int_equal(F.told, 2);
	assert_int_equal(engine_postponed(&F.e, &soonest), 1);
}

/* I30: not for ever. */
static void test_not_told_again_and_again(void **state)
{
	static const struct err no = {.code = ERR_NET, .msg = "Access denied"};

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	for (int i = 0; i < 10; i++) {
		updated("postpone", "7_2", &no);
		details("PENDING", 7, 6, "");
	}
	assert_int_equal(F.told, 3);
	refuse("why"); /* another matter */
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 4);
}

/* I30: one that does not answer is not asked three times a second; nor is the job given up. */
static void test_no_answer(void **state)
{
	static const struct err away = {.code = ERR_NET, .msg = "away"};

	(void)state;
	refuse("why");
	postpone_run(&F.e);
	W.now += 20000;
	postpone_details(&F.e, NULL, 0, W.now, &away);
	postpone_run(&F.e);
	assert_int_equal(F.e.postpone_next, W.now + 5000);
	W.now += 5000;
	postpone_run(&F.e);
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 1);
}

/* More than fit one question: those that were not asked about are not given up. */
static void test_many(void **state)
{
	struct slurm_job j = {.number = 1};
	unsigned waits = 0;

	(void)state;
	for (; j.number <= 600; j.number++) {
		(void)snprintf(j.id, sizeof(j.id), "%u", (unsigned)j.number);
		postpone_job(&F.e, &j, &F.bad);
	}
	postpone_run(&F.e);
	W.now += 20000; /* slurmctld is slow */
	postpone_details(&F.e, "", 0, W.now, NULL);
	W.now += 60000;
	W.nasked = 0;
	postpone_run(&F.e);
	waits += W.nasked;
	postpone_details(&F.e, "", 0, W.now, NULL); /* it knows none of these any more */
	W.nasked = 0;
	postpone_run(&F.e);
	waits += W.nasked;
	assert_int_equal(waits, 600);
}

static void test_forgotten(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	W.now = BEGAN + 60000 + REFUSAL_SLACK_MS;
	postpone_run(&F.e);
	assert_int_equal(F.dels, 0);
	W.now++;
	postpone_run(&F.e);
	assert_int_equal(F.dels, 1);
	refuse("why");
	assert_int_equal(F.put.r.count, 1);
}

/* Over a restart the count stays, and nothing is said twice; F57: a clock that went back does not
 * keep it for years. */
static void test_loaded(void **state)
{
	const int64_t year = INT64_C(365) * 86400 * 1000;

	(void)state;
	postpone_load(&F.e, &(struct journal_refusal){107, {.count = 3, .last_ms = BEGAN + year}});
	postpone_run(&F.e);
	assert_string_equal(W.asked, "");
	refuse("why");
	assert_int_equal(F.put.r.count, 4);
	assert_int_equal(F.put.r.last_ms, BEGAN);
	postpone_free(&F.e);
	F.e.postponed = NULL;
	map_init(&F.e.postponed_map);
	postpone_load(&F.e, &(struct journal_refusal){107, {.count = 3, .last_ms = BEGAN + year}});
	W.now += 2 * REFUSAL_MAX_MS + REFUSAL_SLACK_MS;
	postpone_run(&F.e);
	assert_int_equal(F.dels, 1);
}

/* F57: the wall clock, which is slurmctld's and people's, was set since the start.  What slurmctld
 * says and what it and people are told are by that clock. */
static void test_told_by_the_wall_clock(void **state)
{
	static const struct {
		int64_t ahead_s; /* our time, of the wall clock */
		const char *comment;
	} rows[] = {
		{-3600, "burstd: why; next try 2027-01-15T08:30:30 (in 29s)"},
		{3600, "burstd: why; next try 2027-01-15T06:30:30 (in 29s)"},
		{365 * 86400, "burstd: why; next try 2026-01-15T07:30:30 (in 29s)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)teardown(state);
		(void)setup(state);
		F.e.ahead_ms = rows[i].ahead_s * 1000;
		refuse("why");
		details("PENDING", 7, 6 - rows[i].ahead_s, "");
		assert_true(F.wait_ms > 29000 && F.wait_ms <= 30000);
		assert_string_equal(F.comment, rows[i].comment);
		W.now = BEGAN + 31000; /* its user's own time is kept */
		refuse("why");
		details("PENDING", 7, 600 - rows[i].ahead_s, "");
		assert_int_equal(F.wait_ms, 0);
	}
}

/* F57: the clock is set back while it waits: it is told again, for it would wait for as much
 * longer; not so a job that waits for a time of its user's. */
static void test_told_again_when_the_clock_is_set_back(void **state)
{
	static const struct {
		const char *what;
		int64_t begins, passed_ms, wait_ms; /* begins: by slurmctld, in s from now */
	} rows[] = {
		{"as it was told", 3600 + 30, 10, 29000},
		{"the command took a second", 3600 + 31, 10, 29000},
		{"the time is over already", 3600, 31000, 1000},
		{"its user has changed it since", 3600 + 34, 10, 0},
		{"or to a time before", 3600 + 26, 10, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)teardown(state);
		(void)setup(state);
		refuse("why");
		details("PENDING", 7, 6, "");
		assert_int_equal(F.told, 1);
		W.now += rows[i].passed_ms;
		F.e.ahead_ms = 3600 * 1000; /* set back by an hour */
		postpone_clock_set(&F.e);
		details("PENDING", 7, rows[i].begins - 3600, "");
		if (F.told != 2 || F.wait_ms < rows[i].wait_ms || F.wait_ms > rows[i].wait_ms + 999)
			fail_msg("%s: told %u, %lld", rows[i].what, F.told, (long long)F.wait_ms);
	}
}

/* ... nor one that was never told a time by us. */
static void test_not_told_again_what_is_its_users(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 600, "");
	assert_int_equal(F.told, 1);
	F.e.ahead_ms = 3600 * 1000;
	postpone_clock_set(&F.e);
	details("PENDING", 7, 600, "");
	assert_int_equal(F.told, 1);
}

/* --- words that were true once -----------------------------------------------------------------
 */

/* A minute later slurmctld says this. */
static void later(const char *state, unsigned priority, int64_t begin, const char *comment)
{
	W.now += 61000;
	W.asked[0] = '\0';
	details(state, priority, begin, comment);
}

static void test_a_comment_is_taken_back(void **state)
{
	static const struct {
		const char *state, *comment; /* NULL: what we wrote */
		bool cleared;
	} rows[] = {
		{"RUNNING", NULL, true},
		{"CONFIGURING", NULL, true},
		{"RUNNING", "burstd: something else", false}, /* another hand */
		{"RUNNING", "(null)", false},
		{"PENDING", NULL, false},   /* it waits for its turn */
		{"COMPLETED", NULL, false}, /* slurmctld would not take it */
		{"CANCELLED", NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		F.cleared[0] = '\0';
		refuse("none='left'"); /* as scontrol has it: without these */
		details("PENDING", 7, 6, "");
		W.now += 3600000; /* however long it waited */
		later(rows[i].state, 7, 0, rows[i].comment != NULL ? rows[i].comment : F.comment);
		assert_string_equal(F.cleared, rows[i].cleared ? "7_2" : "");
	}
}

static void test_it_is_taken_back_once(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	later("RUNNING", 7, 0, F.comment);
	assert_string_equal(F.cleared, "7_2");
	F.cleared[0] = '\0';
	later("RUNNING", 7, 0, F.comment);
	assert_string_equal(W.asked, "");
	assert_string_equal(F.cleared, "");
}

/* When its nodes are bought it is looked at soon, for a short job is over in a minute; a refusal
 * would have come by then. */
static void test_looked_at_when_its_nodes_are_bought(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	W.now += 40000;
	postpone_bought(&F.e, 107);
	postpone_bought(&F.e, 8); /* never refused */
	postpone_run(&F.e);
	assert_int_equal(F.e.postpone_next, W.now + 2000);
	W.now += 2000;
	details("CONFIGURING", 7, 0, F.comment);
	assert_string_equal(F.cleared, "7_2");
}

/* What rescue.c wrote; and after a restart any comment that begins as ours do, once it is known
 * how people call the job: its number would be the whole array. */
static void test_others_words_are_taken_back_too(void **state)
{
	const char *words = "107|7_2|RUNNING|p|None|c1|1000|1|||(null)|(null) ";
	char line[1200];

	(void)state;
	postpone_said(&F.e, 107, "7_2", "burstd: lost node c1: x; it was requeued");
	later("RUNNING", 7, 0, "burstd: lost node c1: x; it was requeued");
	assert_string_equal(F.cleared, "7_2");
	postpone_free(&F.e);
	F.e.postponed = NULL;
	map_init(&F.e.postponed_map);
	F.cleared[0] = '\0';
	postpone_load(&F.e, &(struct journal_refusal){107, {.count = 1, .last_ms = W.now - 1000}});
	W.asked[0] = '\0';
	postpone_run(&F.e);
	assert_string_equal(W.asked, "");
	assert_string_equal(W.words, "107");
	(void)snprintf(line, sizeof(line), "%s%-1025s\n", words, "(null)");
	postpone_words(&F.e, line, strlen(line));
	W.now++;
	details("RUNNING", 7, 0, "burstd: from before");
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.cleared, "7_2");
}

/* `status` speaks of no job that has ended, or has what it lacked. */
static void test_no_problem_of_a_job_that_is_over(void **state)
{
	static const char *const states[] = {"RUNNING", "RUNNING", "COMPLETED", "CANCELLED"};
	struct engine_postponed soonest;
	struct fleet_name *nm;

	(void)state;
	fleet_init(&F.e.fleet, 2);
	nm = fleet_name(&F.e.fleet, "c1", 1);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		W.now += 3600000;
		for (int k = 0; k < 4; k++) /* so that it waits longer than until the next look */
			refuse("why");
		details("PENDING", 7, 6, "");
		nm->refused = NODE_BECAUSE_CAPACITY;
		nm->refused_for = 107;
		assert_int_equal(engine_postponed(&F.e, &soonest), 1);
		later("PENDING", 7, 239 - 61, F.comment);
		assert_int_equal(engine_postponed(&F.e, &soonest), 1);
		assert_int_equal(nm->refused, NODE_BECAUSE_CAPACITY);
		nm->barred = i == 0; /* refused anew: the reason is needed */
		later(states[i], 7, 0, F.comment);
		if (nm->barred) {
			assert_int_equal(nm->refused, NODE_BECAUSE_CAPACITY);
			continue;
		}
		assert_int_equal(engine_postponed(&F.e, &soonest), 0);
		assert_int_equal(nm->refused, NODE_BECAUSE_NONE);
	}
	refuse("why");
	for (int k = 0; k < 4; k++)
		refuse("why");
	details("PENDING", 7, 6, "");
	later("PENDING", 7, 0, F.comment); /* released by hand */
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	fleet_fini(&F.e.fleet);
}

static void test_no_problem_of_a_job_that_slurmctld_has_forgotten(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	for (int k = 0; k < 4; k++)
		refuse("why");
	details("PENDING", 7, 6, "");
	W.now += 61000;
	postpone_run(&F.e);
	assert_string_equal(W.asked, "7_2");
	postpone_details(&F.e, "", 0, W.now, NULL);
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
}

/* --- what no wait can mend ---------------------------------------------------------------------
 */

static void refuse_for_good(void)
{
	F.bad.hint.lasting = true;
	F.started[0] = '\0';
	refuse("this job needs 12 nodes, the pool allows 8");
	details("PENDING", 7, 6, "");
	W.now += 10000; /* slurmctld's own time is over */
}

static void words(unsigned count, const char *constraint)
{
	char line[1200];

	(void)snprintf(line, sizeof(line), "107|7_2|PENDING|p|None||1000|%u|||(null)|%s %-1025s\n",
		       count, constraint, "(null)");
	W.words[0] = '\0';
	W.now += 60000;
	postpone_run(&F.e);
	assert_string_equal(W.words, "107");
	postpone_words(&F.e, line, strlen(line));
}

static void test_it_waits_a_day(void **state)
{
	(void)state;
	refuse_for_good();
	assert_true(F.wait_ms > 86390000 && F.wait_ms <= 86400000);
	assert_string_equal(F.comment, "burstd: this job needs 12 nodes, the pool allows 8; tried "
				       "again when that changes, or at 2027-01-16T07:30:00");
	later("PENDING", 7, 86339, F.comment);
	assert_string_equal(F.started, "");
}

static void test_decided_anew_after_a_reload(void **state)
{
	(void)state;
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(F.started, "7_2");
	assert_string_equal(F.event, "job-anew: job 7_2 may try again: something has changed");
	F.started[0] = '\0';
	later("PENDING", 7, 0, F.comment); /* once */
	assert_string_equal(F.started, "");
}

/* It is never let go against somebody's wish. */
static void test_nobodys_wish_is_overruled(void **state)
{
	(void)state;
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 7, 90000, F.comment); /* begin time of its user */
	assert_string_equal(F.started, "");
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 0, 86400, F.comment); /* held */
	assert_string_equal(F.started, "");
	refuse_for_good();
	postpone_anew(&F.e);
	details("RUNNING", 7, 86400, F.comment);
	assert_string_equal(F.started, "");
}

static void test_decided_anew_when_it_is_cheaper(void **state)
{
	(void)state;
	refuse_for_good();
	F.lowest = 501;
	postpone_prices(&F.e);
	W.asked[0] = '\0';
	postpone_run(&F.e);
	assert_string_equal(W.asked, "");
	F.lowest = 499;
	postpone_prices(&F.e);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(F.started, "7_2");
}

static void test_decided_anew_when_somebody_edits_the_job(void **state)
{
	(void)state;
	refuse_for_good();
	words(12, "(null)");
	words(12, "(null)");
	details("PENDING", 7, 86400 - 120, F.comment);
	assert_string_equal(F.started, "");
	words(8, "(null)");
	details("PENDING", 7, 86400 - 180, F.comment);
	assert_string_equal(F.started, "7_2");
	refuse_for_good();
	words(8, "(null)");
	words(8, "spot");
	details("PENDING", 7, 86400 - 120, F.comment);
	assert_string_equal(F.started, "7_2");
}

/* A requeued job has the number of its nodes from its last run; its tasks say that it was edited.
 */
static void test_decided_anew_when_it_has_other_tasks(void **state)
{
	char line[500];

	(void)state;
	refuse_for_good();
	for (int i = 0; i < 3; i++) {
		W.now += 61000;
		postpone_run(&F.e);
		(void)snprintf(line, sizeof(line), "%-24s%-24s%-24s%-24lld%-300s%-24d%-24d%-24d\n",
			       "107", "PENDING", "7", (long long)(BEGAN / 1000 + 86400), F.comment,
			       i < 2 ? 12 : 8, 12, 12);
		assert_string_equal(F.started, "");
		W.now++;
		postpone_details(&F.e, line, strlen(line), W.now, NULL);
	}
	assert_string_equal(F.started, "7_2");
}

/* slurmctld holds back what it requeued, for what is left of its last run. */
static void test_anew_is_not_before_slurmctlds_own_time(void **state)
{
	(void)state;
	F.bad.hint.lasting = true;
	refuse("why");
	details("PENDING", 7, 120, "");
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(F.started, "");
	assert_string_equal(F.job, "7_2");
	assert_true(F.wait_ms > 118000 && F.wait_ms <= 120000);
}

/* The configuration may be another. */
static void test_decided_anew_after_a_restart(void **state)
{
	(void)state;
	postpone_load(
		&F.e,
		&(struct journal_refusal){
			107, {.count = 1, .last_ms = BEGAN - 1000, .wait_ms = REFUSAL_DAY_MS}});
	W.now += 120000;
	words(12, "(null)");
	details("PENDING", 7, 86400 - 181, "burstd: x");
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.started, "7_2");
}

/* One that waits for a while is not hurried, whatever changes. */
static void test_others_are_not_decided_anew(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	postpone_anew(&F.e);
	F.lowest = 1;
	postpone_prices(&F.e);
	W.asked[0] = '\0';
	postpone_run(&F.e);
	assert_string_equal(W.asked, "");
	assert_string_equal(W.words, "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_told),
		TEST(test_shown),
		TEST(test_not_shown),
		TEST(test_not_ours),
		TEST(test_held),
		TEST(test_not_yet),
		TEST(test_old_answer),
		TEST(test_after_its_own_commands),
		TEST(test_an_update_that_overtakes_the_answer),
		TEST(test_told_again_when_it_was_not_taken),
		TEST(test_not_told_again_and_again),
		TEST(test_no_answer),
		TEST(test_forgotten),
		TEST(test_loaded),
		TEST(test_told_by_the_wall_clock),
		TEST(test_told_again_when_the_clock_is_set_back),
		TEST(test_not_told_again_what_is_its_users),
		TEST(test_many),
		TEST(test_a_comment_is_taken_back),
		TEST(test_it_is_taken_back_once),
		TEST(test_looked_at_when_its_nodes_are_bought),
		TEST(test_others_words_are_taken_back_too),
		TEST(test_no_problem_of_a_job_that_is_over),
		TEST(test_no_problem_of_a_job_that_slurmctld_has_forgotten),
		TEST(test_it_waits_a_day),
		TEST(test_decided_anew_after_a_reload),
		TEST(test_nobodys_wish_is_overruled),
		TEST(test_decided_anew_when_it_is_cheaper),
		TEST(test_decided_anew_when_somebody_edits_the_job),
		TEST(test_decided_anew_when_it_has_other_tasks),
		TEST(test_anew_is_not_before_slurmctlds_own_time),
		TEST(test_decided_anew_after_a_restart),
		TEST(test_others_are_not_decided_anew),
	};

	return cmocka_run_group_tests_name("postpone", tests, NULL, NULL);
}
