/* test_turn.c - engine.c: what a turn gives up and what it leaves, what is on record when it ends,
 * what a start and a reload do with what was there.  srun.c is the test's: it has its place in a
 * turn last, before the records are written. */
#include "loaded_engine.h"

#include <fcntl.h>
#include <uv.h>

#include "base/clock.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "store/journal_audit.h"

enum { PATIENCE_MS = 15000 };

static struct fleet_node *found; /* the next turn finds its address: a commit has to follow */

static void run(struct engine *e)
{
	static const struct provider_instance at = {
		.id = "i-1", .addr = "10.0.0.7", .state = PROVIDER_RUNNING};
	const struct node_event ev = {
		.type = NODE_EV_SEEN, .now_ms = engine_now(e), .instance = &at};

	if (found != NULL)
		engine_post(e, found, &ev);
	found = NULL;
}

void srun_tell(struct engine *e, uint64_t job, const char *text)
{
	(void)e;
	(void)job;
	(void)text;
}

bool srun_talks(struct engine *e)
{
	(void)e;
	return false;
}

void srun_who(struct engine *e, const char *text, size_t len, const struct err *err)
{
	(void)e;
	(void)text;
	(void)len;
	(void)err;
}

const struct engine_part srun_part = {.at = {[PART_RUN] = run}};

static struct fleet_node *row(const struct fix *f, const char *name)
{
	return fleet_live(fleet_find(&f->e->fleet, name));
}

/* c1 ... c<n>, of these gangs, in the journal; an engine that has started without a look at them.
 */
static void load_rows(struct fix *f, enum node_state s, const uint32_t *groups, int n)
{
	struct journal_tx *tx = journal_begin(f->journal);

	for (int i = 1; i <= n; i++) {
		struct node r;

		make_ready(f, i, &r);
		r.state = s;
		r.group = groups[i - 1];
		r.sent_ms = r.wanted_ms;
		r.wake_ms = s == NODE_READY ? INT64_MAX : loop_now(f->loop) - 5000;
		if (s == NODE_WANTED)
			r.instance[0] = '\0';
		journal_put_node(tx, &r, "pool");
	}
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
}

static const uint32_t alone[] = {0, 0, 0};

/* --- a deadline --------------------------------------------------------------------------------
 */

/* I18, F48: it has registered, and reboots or does not answer just now; a job may be on it. */
static void test_one_that_slurmctld_has_up_is_not_given_up_at_its_deadline(void **state)
{
	static const struct {
		uint32_t flags;
		enum node_state becomes;
	} rows[] = {{SLURM_KNOWN, NODE_BOOTING},
		    {SLURM_KNOWN | SLURM_ALLOCATED, NODE_BOOTING},
		    {SLURM_KNOWN | SLURM_POWERING_UP, NODE_DELETING},
		    {SLURM_KNOWN | SLURM_DOWN, NODE_DELETING},
		    {0, NODE_DELETING}};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		load_rows(f, NODE_BOOTING, alone, 1);
		f->e->started = true;
		f->e->poll.snapshot_ms = loop_now(f->loop);
		row(f, "c1")->name->flags = rows[i].flags;
		engine_turn(f->e);
		assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.state, rows[i].becomes);
	}
}

/* I18, F48: c1 is in the queue of those that registered, and has gone down since; c2 is not. */
static void test_the_deadline_of_one_does_not_wait_for_the_queue_of_others(void **state)
{
	struct fix *f = *state;

	load_rows(f, NODE_BOOTING, alone, 2);
	f->e->started = true;
	f->e->poll.snapshot_ms = loop_now(f->loop);
	for (int i = 0; i < 2; i++)
		row(f, i == 0 ? "c1" : "c2")->name->flags = SLURM_KNOWN | SLURM_DOWN;
	registered_add(f->e, row(f, "c1"));
	registered_add(f->e, row(f, "c1")); /* the next snapshot has it, too */
	assert_int_equal(f->e->diff->up.n, 1);
	f->e->more = true; /* creates go first */
	deadline_part.at[PART_RUN](f->e);
	assert_int_equal(row(f, "c1")->n.state, NODE_BOOTING);
	assert_null(row(f, "c2"));
	assert_int_equal(fleet_find(&f->e->fleet, "c2")->newest->n.state, NODE_DELETING);
	f->e->more = false;
	registered_part.at[PART_TAKE](f->e);
	engine_commit(f->e);
	assert_int_equal(row(f, "c1")->n.state, NODE_READY);
	assert_null(f->e->diff->up.v);
}

/* What registered and was released meanwhile meets the deadline that it has then. */
static void test_one_that_was_not_posted_as_registered_has_its_deadline_again(void **state)
{
	struct fix *f = *state;
	struct fleet_node *fn;

	load_rows(f, NODE_DELETING, alone, 1);
	fn = fleet_find(&f->e->fleet, "c1")->newest;
	registered_add(f->e, fn);
	f->e->fleet.wake_ms = INT64_MAX;
	registered_part.at[PART_TAKE](f->e);
	assert_false(fn->registered);
	assert_int_equal(f->e->fleet.wake_ms, fn->n.wake_ms);
}

/* I6, F5: the other half is for what is on its way when the provider forgets the token. */
static void test_a_create_is_repeated_for_half_of_its_tokens_life(void **state)
{
	struct fix *f = *state;
	struct node_limits lim;
	struct node n;

	load_rows(f, NODE_READY, alone, 1);
	n = row(f, "c1")->n;
	assert_int_equal(engine_limits(f->e, &n, &lim)->token_ms, 43200000);
	n.state = NODE_INDOUBT;
	n.attempts = 0;
	n.wake_ms = n.sent_ms;
	assert_int_equal(node_want(&n, n.sent_ms + 43200000, &lim), NODE_WANT_CREATE);
	assert_int_equal(node_want(&n, n.sent_ms + 43200001, &lim), NODE_WANT_LIST);
}

/* --- records -----------------------------------------------------------------------------------
 */

static int find_address(void *ctx, const struct journal_audit *a)
{
	unsigned *n = ctx;

	*n += strcmp(a->verb, "address") == 0 && strcmp(a->object, "c1") == 0 &&
	      strcmp(a->request, "10.0.0.7") == 0;
	return 0;
}

/* I28: the last commit of a turn tells a node's address; that goes out with this turn. */
static void test_what_follows_from_the_last_commit_is_on_record_before_it_goes_out(void **state)
{
	struct fix *f = *state;
	unsigned n = 0;

	load_rows(f, NODE_BOOTING, alone, 1);
	f->e->started = true;
	found = row(f, "c1");
	engine_turn(f->e);
	assert_null(found);
	assert_string_equal(row(f, "c1")->n.addr, "10.0.0.7");
	assert_int_equal(journal_audits(f->journal, 0, 100, find_address, &n, NULL), 0);
	assert_int_equal(n, 1);
}

/* --- a start -----------------------------------------------------------------------------------
 */

/* Else a create would take a part of each job. */
static void test_after_a_restart_those_of_a_job_stand_together(void **state)
{
	static const uint32_t groups[] = {2, 1, 2};
	struct fix *f = *state;
	char order[40] = "";

	load_rows(f, NODE_WANTED, groups, 3);
	engine_start(f->e);
	for (const struct fleet_node *fn = f->e->fleet.states[NODE_WANTED]; fn; fn = fn->state_next)
		(void)snprintf(order + strlen(order), sizeof(order) - strlen(order), "%.2s ",
			       fn->n.name);
	assert_string_equal(order, "c2 c1 c3 ");
}

/* --- slurmctld's answers -----------------------------------------------------------------------
 */

static void script(const struct fix *f, const char *name, const char *text)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

/* c1 and c2 are up; slurmctld is a script. */
static void load_scripts(struct fix *f, const char *scontrol, const char *squeue)
{
	load_rows(f, NODE_READY, alone, 2);
	script(f, "scontrol", scontrol);
	script(f, "squeue", squeue);
	slurm_configure(f->e->slurm, f->dir, "");
	f->e->started = true;
}

static void runs_until_updates(struct fix *f, uint64_t n)
{
	const int64_t until = clock_boot_ms() + PATIENCE_MS;

	while (f->e->count.updates < n && clock_boot_ms() < until)
		(void)uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	assert_int_equal(f->e->count.updates, n);
}

/* slurmctld takes its time with an order about this node alone. */
static void hold(const struct fix *f, const char *node)
{
	char name[40];

	(void)snprintf(name, sizeof(name), "hold-%s", node);
	script(f, name, "");
}

static void let_go(const struct fix *f, const char *node)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/hold-%s", f->dir, node);
	assert_int_equal(unlink(path), 0);
}

/* Each half has its own answer: of the whole it is not known what became of a node. */
static void test_a_command_that_is_cut_in_two_is_not_answered_as_a_whole(void **state)
{
	struct fix *f = *state;
	struct fleet_name *c1, *c2;

	hold(f, "c1");
	hold(f, "c2");
	load_scripts(f,
		     "#!/bin/sh\ncd \"${0%/*}\"; n=${2#*=}\n[ \"$1\" = update ] || exit 1\n"
		     "while [ -e \"hold-$n\" ]; do sleep 0.02; done\n"
		     "[ \"$n\" = c1 ] || { echo 'Invalid node name' >&2; exit 1; }\n",
		     "#!/bin/sh\nexit 1\n");
	c1 = fleet_find(&f->e->fleet, "c1");
	c2 = fleet_find(&f->e->fleet, "c2");
	c1->fencing = c2->fencing = true;
	slurm_drain(f->e->slurm, "c1", "burstd: x");
	slurm_drain(f->e->slurm, "c2", "burstd: x");
	engine_turn(f->e);
	runs_until_updates(f, 1);
	assert_true(c1->fencing && c2->fencing);
	assert_false(c1->unheard || c2->unheard);
	let_go(f, "c1");
	runs_until_updates(f, 2);
	assert_true(!c1->fencing && c2->fencing);
	let_go(f, "c2");
	runs_until_updates(f, 3);
	assert_true(!c2->fencing && c2->unheard && !c1->unheard);
}

/* --- a reload ----------------------------------------------------------------------------------
 */

/* What no wait can mend the new configuration may. */
static void test_a_reload_looks_anew_at_a_job_that_no_wait_can_mend(void **state)
{
	static const struct slurm_job job = {.number = 7, .id = "7"};
	static const struct postpone_why why = {.text = "too dear", .hint = {.lasting = true}};
	static const char *const ids[] = {"7"};
	struct fix *f = *state;
	struct conf *next = make_conf();

	free(next->slurm_bin);
	next->slurm_bin = mem_strdup(f->dir);
	load_scripts(f, "#!/bin/sh\n[ \"$1\" = update ]\n",
		     "#!/bin/sh\nprintf '%-24s%-24s%-24s%-24s%-40s\\n' 7 PENDING 5 1000000000 "
		     "'(null)'\n");
	postpone_job(f->e, &job, &why);
	engine_turn(f->e);
	runs_until_updates(f, 1); /* it was told, and waits a day */
	assert_int_equal(postpone_look(f->e, 7).count, 1);
	assert_true(f->e->jobs->postpone_next > engine_now(f->e) + 30000); /* nobody asks, until: */
	assert_int_equal(engine_reload(f->e, next, NULL), 0);
	assert_false(slurm_ask_jobs(f->e->slurm, SLURM_DETAILS, ids, 1)); /* it is asked about */
}

/* --- the clock ---------------------------------------------------------------------------------
 */

/* F57: the next turn sees that the wall clock was set: the journal has the new difference, for the
 * process that comes after this one, and what slurmctld was told is at another time of ours. */
static void test_a_turn_sees_that_the_clock_was_set(void **state)
{
	static const struct slurm_job job = {.number = 7, .id = "7"};
	static const struct postpone_why why = {.text = "too dear", .hint = {.lasting = true}};
	struct fix *f = *state;
	struct engine_postponed was, is;
	char line[200];
	int64_t ahead;

	load_scripts(f, "#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 1\n");
	postpone_job(f->e, &job, &why);
	engine_turn(f->e); /* it is asked about */
	f->e->ahead_ms += 3600000;
	journal_put_number(engine_tx(f->e), JOURNAL_AHEAD, f->e->ahead_ms);
	engine_commit(f->e);
	(void)snprintf(line, sizeof(line), "%-24s%-24s%-24s%-24s%-40s\n", "7", "PENDING", "5",
		       "1000000000", "(null)");
	postpone_details(f->e, line, strlen(line), loop_now(f->loop) + 1, NULL);
	assert_int_equal(engine_postponed(f->e, &was), 1);
	engine_turn(f->e);
	assert_int_equal(f->e->ahead_ms, loop_ahead(f->loop));
	assert_int_equal(journal_get_number(f->journal, JOURNAL_AHEAD, &ahead, NULL), 0);
	assert_int_equal(ahead, loop_ahead(f->loop));
	assert_int_equal(engine_postponed(f->e, &is), 1);
	assert_int_equal(is.until_ms, was.until_ms - 3600000);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_one_that_slurmctld_has_up_is_not_given_up_at_its_deadline),
		T(test_the_deadline_of_one_does_not_wait_for_the_queue_of_others),
		T(test_one_that_was_not_posted_as_registered_has_its_deadline_again),
		T(test_a_create_is_repeated_for_half_of_its_tokens_life),
		T(test_what_follows_from_the_last_commit_is_on_record_before_it_goes_out),
		T(test_after_a_restart_those_of_a_job_stand_together),
		T(test_a_command_that_is_cut_in_two_is_not_answered_as_a_whole),
		T(test_a_reload_looks_anew_at_a_job_that_no_wait_can_mend),
		T(test_a_turn_sees_that_the_clock_was_set),
	};
#undef T

	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
