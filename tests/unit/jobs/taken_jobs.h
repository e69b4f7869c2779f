/* taken_jobs.h - four nodes with jobs, for the tests of rescue*.c: what it puts into the journal,
 * commits and tells slurmctld is kept in one story, in order; the test plays squeue. */
#ifndef TESTS_TAKEN_JOBS_H
#define TESTS_TAKEN_JOBS_H

#include "buy/buy.h"
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

static struct fix {
	struct engine e;
	char events[800]; /* all events, one a line */
	char story[400];  /* commits and orders to slurmctld, in order */
	char comment[300];
	char heard[200]; /* what srun was told */
	size_t heard_at; /* length of the story when srun was told last */
	char reason[64];
	unsigned wanted; /* how often squeue was asked for */
	struct journal_rescue put;
	uint64_t del;
	bool disk_fails, loses_requeued;
	bool is_full; /* the queue of orders to slurmctld is full */
	int64_t hold_ms, known_ms;
	unsigned hurried;
	struct refusal refused; /* refusal of job 107 */
	int64_t begin_ms;       /* begin time of the job that may start */
} F;

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	add(F.events, sizeof(F.events), node, " ", type);
	add(F.events, sizeof(F.events), ": ", detail, "\n");
}

bool prereq_may_have(const struct engine *e, enum slurm_trait t)
{
	(void)e;
	return F.loses_requeued && t == SLURM_BUG_REQUEUE_LOST;
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

void prereq_hurry(struct engine *e)
{
	(void)e;
	F.hurried++;
}

struct refusal postpone_look(const struct engine *e, uint64_t number)
{
	(void)e;
	return number == 107 ? F.refused : (struct refusal){0};
}

void engine_commit(struct engine *e)
{
	e->dead = F.disk_fails;
	add(F.story, sizeof(F.story), "commit ", "", "");
}

void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r)
{
	(void)tx;
	F.put = *r;
	add(F.story, sizeof(F.story), "put ", r->id, " ");
}

void journal_del_rescue(struct journal_tx *tx, uint64_t job)
{
	(void)tx;
	F.del = job;
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	(void)e;
	assert_int_equal(ev->type, NODE_EV_SIGNALLED);
	add(F.story, sizeof(F.story), "signalled ", fn->n.name, " ");
}

void notice_text(char out[NOTICE_WHY_SIZE], const struct node *n)
{
	(void)n;
	(void)snprintf(out, NOTICE_WHY_SIZE, "burstd: spot will be over");
}

void notice_plan(const struct engine *e, const struct fleet_node *fn, struct reclaim_plan *out)
{
	(void)e;
	(void)fn;
	*out = (struct reclaim_plan){.signal_ms = INT64_MAX, .force_ms = BEGAN + 110000};
}

bool slurm_start_now(struct slurm *s, const char *job, int64_t begin_ms)
{
	(void)s;
	F.begin_ms = begin_ms;
	add(F.story, sizeof(F.story), "start ", job, " ");
	return !F.is_full;
}

bool slurm_requeue(struct slurm *s, const char *job, const char *why)
{
	(void)s;
	assert_string_equal(why, "");
	add(F.story, sizeof(F.story), "requeue ", job, " ");
	return !F.is_full;
}

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_RESCUE);
	F.wanted++;
}

bool slurm_power_down(struct slurm *s, const char *node, const char *addr, bool dead,
		      const char *reason)
{
	(void)s;
	(void)addr;
	(void)snprintf(F.reason, sizeof(F.reason), "%s", reason);
	add(F.story, sizeof(F.story), dead ? "down " : "force ", node, " ");
	return !F.is_full;
}

void postpone_say(struct engine *e, const struct slurm_job_detail *d, const char *id,
		  const char *text)
{
	(void)e;
	assert_true(d->pending);
	(void)snprintf(F.comment, sizeof(F.comment), "%s <- %s", id, text);
}

void srun_tell(struct engine *e, uint64_t job, const char *text)
{
	char number[24];

	(void)e;
	F.heard_at = strlen(F.story);
	(void)snprintf(number, sizeof(number), "%llu ", (unsigned long long)job);
	add(F.heard, sizeof(F.heard), number, text, "\n");
}

static inline struct fleet_name *node(const char *name)
{
	return fleet_name(&F.e.fleet, name, 0);
}

/* Start with c1 to c4 up, in generation 3. */
static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN, .question = SLURM_FATES};
	memset(&F, 0, sizeof(F));
	bare_state(&F.e);
	F.hold_ms = 121000;
	fleet_init(&F.e.fleet, 1);
	job_table_part.at[PART_INIT](&F.e);
	for (int i = 1; i <= 4; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "c%d", i);
		node(name)->flags = SLURM_KNOWN | SLURM_ALLOCATED;
		node_init(&n, name, 3, BEGAN);
		(void)fleet_add(&F.e.fleet, &n);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rescue_free(&F.e);
	job_table_part.at[PART_FREE](&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* The job that was written down last. */
static inline struct rescue *followed(void)
{
	return F.e.jobs->parts[JOB_RESCUED];
}

static inline void squeue(const char *text)
{
	F.e.jobs->runs++;
	rescue_jobs(&F.e, text, strlen(text), NULL);
}

/* Let time pass until burstd asks about the jobs; slurmctld then answers this. */
static inline void shows(const char *text)
{
	W.now = rescue_part.next_ms(&F.e);
	assert_true(W.now != INT64_MAX);
	W.asked[0] = '\0';
	rescue_part.at[PART_RUN](&F.e);
	assert_string_not_equal(W.asked, "");
	rescue_fates(&F.e, text, strlen(text), NULL);
}

static inline void take_c1(void)
{
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	F.events[0] = '\0';
}

#define DETAIL(state, priority, start) detail("107", state, priority, start, "(null)")

/* Set the state of this node's newest row. */
static inline void becomes(const char *name, enum node_state state)
{
	struct fleet_node *fn = node(name)->newest;

	fleet_stage(fn)->state = state;
	fleet_publish(&F.e.fleet, fn);
}

/* Requeue the job, so that slurmctld holds it for two minutes. */
static inline void hold(void)
{
	becomes("c1", NODE_DRAINING);
	becomes("c2", NODE_READY);
	take_c1();
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_int_equal(F.del, 0);
	assert_int_equal(F.put.hold_ms, BEGAN + 121000);
	assert_string_equal(F.put.nodes, "c[1-2]");
	F.events[0] = F.story[0] = '\0';
}

/* Until then burstd must ask nothing and do nothing. */
static inline void waits(int64_t until_ms)
{
	while (rescue_part.next_ms(&F.e) < until_ms) {
		W.now = rescue_part.next_ms(&F.e);
		W.asked[0] = '\0';
		rescue_part.at[PART_RUN](&F.e);
		assert_string_equal(W.asked, "");
	}
	assert_string_equal(F.story, "");
}

#endif
