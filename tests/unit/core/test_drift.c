/* test_drift.c - what is done about a node in a snapshot of slurmctld that is not as the journal
 * and the lists have it. */
#include "drift_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/drift.h"

enum { /* deeds, shorter */
       D_WATCH = DRIFT_WATCH,
       D_OFF = DRIFT_UNBAR | DRIFT_FORGET_JOB | DRIFT_FORGET_REFUSAL, /* every node that is off */
       D_ON = DRIFT_UNBAR | DRIFT_FORGET_REFUSAL, /* every one that is on, with an instance */
};

struct row {
	const char *name;
	uint32_t flags;
	unsigned state;
	unsigned but;
	unsigned deeds;
	enum node_reason release;
	enum drift_why why;
	bool dead;
};

#define REPLACED  NODE_BECAUSE_REPLACED
#define SUSPENDED NODE_BECAUSE_SUSPENDED

static const struct row coming[] = {
	{"one that is waited for and was never bought is bought", COMING | ALLOC, NO_NODE, 0,
	 D_WATCH | DRIFT_BUY | DRIFT_CANCEL, 0, 0, 0},
	{"before all is settled nobody asks for its job", COMING, NO_NODE, UNSETTLED,
	 D_WATCH | DRIFT_BUY, 0, 0, 0},
	{"one whose instance is gone is bought", COMING, NODE_GONE, 0,
	 D_WATCH | DRIFT_BUY | DRIFT_CANCEL, 0, 0, 0},
	{"F53 it waits for its job", COMING, NO_NODE, WAITS, D_WATCH | DRIFT_BUY | DRIFT_CANCEL, 0,
	 0, 0},
	{"F53 but was powered down since, and up anew", COMING, NO_NODE, WAITS | OBEYED,
	 D_WATCH | DRIFT_BUY | DRIFT_CANCEL | DRIFT_FORGET_JOB, 0, 0, 0},
	{"F53 which an older snapshot does not show", COMING, NO_NODE, WAITS | OBEYED | UNSETTLED,
	 D_WATCH | DRIFT_BUY, 0, 0, 0},
	{"F50 F53 nor is it known for whom it is up, when slurmctld was away", COMING, NO_NODE,
	 WAITS | UNSEEN, D_WATCH | DRIFT_BUY | DRIFT_CANCEL | DRIFT_FORGET_JOB, 0, 0, 0},
	{"F50 F53 whatever we told it since", COMING, NO_NODE, WAITS | UNSEEN | UNSETTLED,
	 D_WATCH | DRIFT_BUY | DRIFT_FORGET_JOB, 0, 0, 0},
	{"F53 for nobody, and then there is nobody to forget", COMING, NO_NODE, UNSEEN,
	 D_WATCH | DRIFT_BUY | DRIFT_CANCEL, 0, 0, 0},
	{"F53 but of a call of since then it is", COMING, NO_NODE, WAITS | WAITS_NEW | UNSEEN,
	 D_WATCH | DRIFT_BUY | DRIFT_CANCEL, 0, 0, 0},
	{"one that boots is left alone", COMING, NODE_BOOTING, 0, D_WATCH | DRIFT_CANCEL, 0, 0, 0},
	{"a refused one is not bought, and slurmctld told again", COMING, NO_NODE, BARRED,
	 D_WATCH | DRIFT_REFUSE, 0, 0, 0},
	{"but not by a snapshot that cannot show it yet", COMING, NO_NODE, BARRED | UNSETTLED,
	 D_WATCH, 0, 0, 0},
	{"nor by one that is older than the order", COMING, NO_NODE, BARRED | FORCED_NOW, D_WATCH,
	 0, 0, 0},
	{"the instance of an earlier request is replaced", COMING, NODE_READY, 0,
	 D_WATCH | DRIFT_RELEASE | DRIFT_CANCEL, REPLACED, 0, 0},
	{"also one that is about to be taken away", COMING, NODE_DRAINING, 0,
	 D_WATCH | DRIFT_RELEASE | DRIFT_CANCEL, REPLACED, 0, 0},
	{"unless the snapshot is the older one", COMING, NODE_READY, TOO_OLD,
	 D_WATCH | DRIFT_CANCEL, 0, 0, 0},
	{"F49 an address that was lost is sent again", COMING, NODE_BOOTING, ADDR_NONE,
	 D_WATCH | DRIFT_SET_ADDR | DRIFT_CANCEL, 0, 0, 0},
	{"not before what was sent is seen", COMING, NODE_BOOTING, ADDR_NONE | UNSETTLED, D_WATCH,
	 0, 0, 0},
	{"an instance without address has none to send", COMING, NODE_BOOTING, ADDR_OTHER | NO_ADDR,
	 D_WATCH | DRIFT_CANCEL, 0, 0, 0},
	{"F58 an address of an old journal is not sent", COMING, NODE_BOOTING,
	 ADDR_OTHER | UNPROVEN, D_WATCH | DRIFT_CANCEL, 0, 0, 0},
	{"F26 F50 but where no list comes", COMING, NODE_BOOTING, ADDR_NONE | UNPROVEN | BLIND,
	 D_WATCH | DRIFT_SET_ADDR | DRIFT_CANCEL, 0, 0, 0},
	{"F58 not if slurmctld has it on another one", COMING, NODE_BOOTING,
	 ADDR_OTHER | UNPROVEN | BLIND | ELSEWHERE_OLD, D_WATCH | DRIFT_CANCEL, 0, 0, 0},
	{"F58 but once a list has shown it", COMING, NODE_BOOTING, ADDR_OTHER | SHOWN,
	 D_WATCH | DRIFT_SET_ADDR | DRIFT_CANCEL, 0, 0, 0},
	{"F58 not if slurmctld has it on another one since", COMING, NODE_BOOTING,
	 ADDR_OTHER | SHOWN | ELSEWHERE, D_WATCH | DRIFT_CANCEL, 0, 0, 0},
	{"F58 but if the list came after that", COMING, NODE_BOOTING,
	 ADDR_OTHER | SHOWN | ELSEWHERE_OLD, D_WATCH | DRIFT_SET_ADDR | DRIFT_CANCEL, 0, 0, 0},
};

static const struct row off[] = {
	{"off and nothing there: all is well", OFF | IDLE, NO_NODE, ADDR_NONE, D_OFF, 0, 0, 0},
	{"off, and its instance lives: it is released", OFF | IDLE, NODE_READY, 0,
	 D_OFF | DRIFT_RELEASE | DRIFT_RESET_ADDR, SUSPENDED, 0, 0},
	{"likewise on its way down, and looked at again", GOING | IDLE, NODE_READY, 0,
	 D_OFF | D_WATCH | DRIFT_RELEASE, SUSPENDED, 0, 0},
	{"a snapshot from before it was wanted says nothing", OFF | IDLE, NODE_BOOTING, TOO_OLD,
	 D_OFF & ~(unsigned)DRIFT_FORGET_JOB, 0, 0, 0},
	{"F46 a job has it already: what comes is for that job", OFF | ALLOC, NODE_BOOTING, 0,
	 D_OFF | D_WATCH, 0, 0, 0},
	{"but an instance from before cannot be", OFF | ALLOC, NODE_READY, 0,
	 D_OFF | D_WATCH | DRIFT_RELEASE | DRIFT_RESET_ADDR, SUSPENDED, 0, 0},
	{"a job on its way out does not hold it", GOING | ALLOC, NODE_BOOTING, 0,
	 D_OFF | D_WATCH | DRIFT_RELEASE, SUSPENDED, 0, 0},
	{"it waits for a job since later", OFF | IDLE, NO_NODE, ADDR_NONE | WAITS_NEW,
	 D_OFF & ~(unsigned)DRIFT_FORGET_JOB, 0, 0, 0},
	{"people still want to know why it was refused", OFF | IDLE, NO_NODE,
	 ADDR_NONE | REFUSED_NEW, D_OFF & ~(unsigned)DRIFT_FORGET_REFUSAL, 0, 0, 0},
	{"F47 it was refused since: its job is still to be told", OFF | IDLE, NO_NODE,
	 ADDR_NONE | REFUSED_SINCE, DRIFT_FORGET_JOB, 0, 0, 0},
	{"an address of the past is taken back", OFF | IDLE, NODE_GONE, ADDR_OTHER,
	 D_OFF | DRIFT_RESET_ADDR, 0, 0, 0},
	{"not before what was sent is seen", OFF | IDLE, NODE_GONE, ADDR_OTHER | UNSETTLED, D_OFF,
	 0, 0, 0},
	{"not while it only goes down", GOING | IDLE, NODE_GONE, ADDR_OTHER, D_OFF | D_WATCH, 0, 0,
	 0},
	{"one that we set down is brought back", OFF | DOWN, NO_NODE, ADDR_NONE | OURS,
	 D_OFF | DRIFT_RESUME, 0, 0, 0},
	{"likewise one that ResumeTimeout did", OFF | DOWN, NO_NODE, ADDR_NONE | TIMEOUT,
	 D_OFF | DRIFT_RESUME, 0, 0, 0},
	{"one that an admin did is the admin's", OFF | DOWN, NO_NODE, ADDR_NONE, D_OFF, 0, 0, 0},
	{"our word on one that is not down is history", OFF | IDLE, NO_NODE, ADDR_NONE | OURS,
	 D_OFF, 0, 0, 0},
	{"one that does not come up is kept from jobs", OFF | IDLE, NODE_GONE, ADDR_NONE | RESTS,
	 D_OFF | DRIFT_REST, 0, 0, 0},
	{"once is enough", OFF | DOWN, NODE_GONE, ADDR_NONE | OURS | RESTS, D_OFF, 0, 0, 0},
	{"and brought back when it has rested", OFF | DOWN, NODE_GONE, ADDR_NONE | OURS | RESTED,
	 D_OFF | DRIFT_RESUME, 0, 0, 0},
	{"an admin's drain keeps jobs away as well", OFF | IDLE | DRAIN, NODE_GONE,
	 ADDR_NONE | RESTS, D_OFF, 0, 0, 0},
	{"so does maintenance", OFF | IDLE | MAINT, NODE_GONE, ADDR_NONE | RESTS, D_OFF, 0, 0, 0},
	{"a job that has it already is refused, and waits", OFF | ALLOC, NODE_GONE,
	 ADDR_NONE | RESTS, D_OFF | D_WATCH, 0, 0, 0},
	{"one that cannot be deleted is kept from jobs", OFF | IDLE, NODE_QUARANTINED, ADDR_NONE,
	 D_OFF | DRIFT_REST, 0, 0, 0},
	{"powered down, and yet waited for: once more", OFF | IDLE | SILENT, NO_NODE, ADDR_NONE,
	 D_OFF | DRIFT_POWER_DOWN, 0, DRIFT_WHY_MUTE, false},
	{"not twice in a row", OFF | IDLE | SILENT, NO_NODE, ADDR_NONE | FORCED_LATELY, D_OFF, 0, 0,
	 0},
	{"nor one that is about to be used", OFF | IDLE | SILENT | ALLOC, NO_NODE, ADDR_NONE,
	 D_OFF | D_WATCH, 0, 0, 0},
	{"nor one that is not idle", OFF | SILENT, NO_NODE, ADDR_NONE, D_OFF, 0, 0, 0},
	{"nor one that an admin drains", OFF | IDLE | SILENT | DRAIN, NO_NODE, ADDR_NONE, D_OFF, 0,
	 0, 0},
	{"nor in maintenance", OFF | IDLE | SILENT | MAINT, NO_NODE, ADDR_NONE, D_OFF, 0, 0, 0},
	{"nor one that is down", OFF | IDLE | SILENT | DOWN, NO_NODE, ADDR_NONE, D_OFF, 0, 0, 0},
	{"nor one that is on its way down", OFF | IDLE | SILENT | GOING, NO_NODE, ADDR_NONE,
	 D_OFF | D_WATCH, 0, 0, 0},
	{"nor one that was told so", OFF | IDLE | SILENT | TOLD, NO_NODE, ADDR_NONE, D_OFF, 0, 0,
	 0},
	{"nor one that is to come up", OFF | IDLE | SILENT | SLURM_POWER_UP, NO_NODE, ADDR_NONE,
	 D_OFF, 0, 0, 0},
};

static const struct row on[] = {
	{"up and known", IDLE, NODE_READY, 0, D_ON, 0, 0, 0},
	{"up, and booting so far: it has registered", IDLE, NODE_BOOTING, 0,
	 D_ON | DRIFT_REGISTERED, 0, 0, 0},
	{"F47 refused since", IDLE, NODE_READY, REFUSED_SINCE, 0, 0, 0, 0},
	{"not by an older snapshot", IDLE, NODE_BOOTING, TOO_OLD, D_ON, 0, 0, 0},
	{"not while nobody answers", IDLE | SILENT, NODE_BOOTING, 0, D_ON, 0, 0, 0},
	{"not while slurmctld does not know", UNKNOWN, NODE_BOOTING, 0, D_ON, 0, 0, 0},
	{"not if it was forced down while it booted", IDLE | TOLD, NODE_BOOTING, 0, D_ON, 0, 0, 0},
	{"but if its job runs", ALLOC | TOLD, NODE_BOOTING, 0, D_ON | DRIFT_REGISTERED, 0, 0, 0},
	{"or just ended", IDLE | COMPLETING | TOLD, NODE_BOOTING, 0, D_ON | DRIFT_REGISTERED, 0, 0,
	 0},
	{"an address that was lost is sent again", IDLE, NODE_READY, ADDR_NONE,
	 D_ON | DRIFT_SET_ADDR, 0, 0, 0},
	{"reclaimed: slurmctld must let go", ALLOC, NODE_DRAINING, 0, D_ON | DRIFT_POWER_DOWN, 0,
	 DRIFT_WHY_NOTICE, false},
	{"it was told to go when its jobs are done, and their time is over", ALLOC | TOLD,
	 NODE_DRAINING, 0, D_ON | DRIFT_POWER_DOWN, 0, DRIFT_WHY_NOTICE, false},
	{"once is enough", IDLE | TOLD, NODE_DRAINING, 0, D_ON, 0, 0, 0},
	{"its job ends", IDLE | TOLD | COMPLETING, NODE_DRAINING, 0, D_ON, 0, 0, 0},
	{"one of its jobs does, and another runs on (F41)", ALLOC | TOLD | COMPLETING,
	 NODE_DRAINING, 0, D_ON | DRIFT_POWER_DOWN, 0, DRIFT_WHY_NOTICE, false},
	{"old releases lose the one that ends when the node is forced down",
	 ALLOC | TOLD | COMPLETING, NODE_DRAINING, LOSES_REQUEUED, D_ON, 0, 0, 0},
	{"but not the one that runs", ALLOC | TOLD, NODE_DRAINING, LOSES_REQUEUED,
	 D_ON | DRIFT_POWER_DOWN, 0, DRIFT_WHY_NOTICE, false},
	{"one that stays is not told again either", ALLOC | TOLD | INVALID, NODE_READY, 0, D_ON, 0,
	 0, 0},
	{"a reboot is the admin's", IDLE | DOWN | REBOOT, NODE_READY, NOT_RESPONDING, D_ON, 0, 0,
	 0},
	{"F36 registered wrong: the pool's fault, and it goes", IDLE | INVALID, NODE_BOOTING, 0,
	 D_ON | DRIFT_FAILED | DRIFT_POWER_DOWN, 0, DRIFT_WHY_INVALID, false},
	{"its slurmd died", DOWN, NODE_READY, NOT_RESPONDING, D_ON | DRIFT_POWER_DOWN, 0,
	 DRIFT_WHY_DEAD, true},
	{"not before it was up", DOWN, NODE_BOOTING, NOT_RESPONDING, D_ON, 0, 0, 0},
	{"not if an admin drains it", DOWN | DRAIN, NODE_READY, NOT_RESPONDING, D_ON, 0, 0, 0},
	{"not in maintenance", DOWN | MAINT, NODE_READY, NOT_RESPONDING, D_ON, 0, 0, 0},
	{"not if an admin set it down", DOWN, NODE_READY, 0, D_ON, 0, 0, 0},
	{"not if it is back, and only the reason is left", IDLE, NODE_READY, NOT_RESPONDING, D_ON,
	 0, 0, 0},
	{"silent and no instance", DOWN, NODE_GONE, ADDR_OTHER, DRIFT_UNBAR | DRIFT_POWER_DOWN, 0,
	 DRIFT_WHY_NO_INSTANCE, true},
	{"not before a list has been seen", DOWN, NODE_GONE, UNLISTED, DRIFT_UNBAR, 0, 0, 0},
	{"not if an admin drains it", DOWN | DRAIN, NODE_GONE, 0, DRIFT_UNBAR, 0, 0, 0},
	{"nor has it rebooted", DOWN | REBOOT, NODE_GONE, 0, DRIFT_UNBAR, 0, 0, 0},
	{"nor maintained", DOWN | MAINT, NODE_GONE, 0, DRIFT_UNBAR, 0, 0, 0},
	{"up on an instance that is being deleted", IDLE, NODE_DELETING, 0,
	 DRIFT_UNBAR | DRIFT_POWER_DOWN, 0, DRIFT_WHY_DELETING, false},
	{"once is enough", IDLE | TOLD, NODE_DELETING, 0, DRIFT_UNBAR, 0, 0, 0},
	{"up, answers, and we never bought it: it is not ours to touch", IDLE, NO_NODE, 0,
	 DRIFT_UNBAR, 0, 0, 0},
	{"nor one that was ours", IDLE, NODE_GONE, 0, DRIFT_UNBAR, 0, 0, 0},
	{"nothing before what was sent is seen", ALLOC, NODE_DRAINING, UNSETTLED, D_ON, 0, 0, 0},
	{"nor twice in a row", ALLOC, NODE_DRAINING, FORCED_LATELY, D_ON, 0, 0, 0},
};

#define NEVER INT64_MAX
#define LATER (NOW + 1)

static enum drift_reason reason_of(unsigned but)
{
	if ((but & OURS) != 0)
		return DRIFT_REASON_OURS;
	if ((but & TIMEOUT) != 0)
		return DRIFT_REASON_TIMEOUT;
	return (but & NOT_RESPONDING) != 0 ? DRIFT_REASON_SILENT : DRIFT_REASON_OTHER;
}

static void set_up(struct world *w, const struct row *r, struct drift_seen *s)
{
	begin(w, r->state);
	w->nm->barred = (r->but & BARRED) != 0;
	w->nm->rests_ms = (r->but & RESTS) != 0 ? NOW + 1 : (r->but & RESTED) != 0 ? NOW : 0;
	w->nm->waits_ms = (r->but & (WAITS_NEW | TOO_OLD)) != 0 ? BEGAN : 0;
	if ((r->but & WAITS) != 0) {
		w->nm->waits_for = 7;
		w->nm->waits_ms = (r->but & WAITS_NEW) != 0 ? BEGAN - DRIFT_UNSEEN_MS : SINCE;
		w->nm->obeyed_ms = (r->but & OBEYED) != 0 ? SINCE : SINCE - 1;
	}
	w->nm->refused_ms = (r->but & REFUSED_SINCE) != 0 ? BEGAN
			    : (r->but & REFUSED_NEW) != 0 ? BEGAN - 1
							  : 0;
	if ((r->but & FORCED_NOW) != 0)
		w->nm->forced_ms = BEGAN;
	if ((r->but & FORCED_LATELY) != 0)
		w->nm->forced_ms = BEGAN - DRIFT_REFORCE_MS;
	if ((r->but & (ELSEWHERE | ELSEWHERE_OLD)) != 0)
		put_elsewhere(w, "i-9", "10.0.0.9", (r->but & ELSEWHERE) != 0 ? SINCE : SINCE - 1);
	if (w->fn != NULL && (r->but & TOO_OLD) != 0)
		w->fn->n.wanted_ms = w->fn->n.since_ms = BEGAN;
	if (w->fn != NULL && (r->but & NO_ADDR) != 0)
		w->fn->n.addr[0] = '\0';
	if (w->fn != NULL && (r->but & (UNPROVEN | SHOWN)) != 0)
		w->fn->n.wanted_ms = STARTED;
	if (w->fn != NULL && (r->but & SHOWN) != 0)
		w->fn->seen_ms = SINCE;
	*s = (struct drift_seen){.flags = r->flags | K,
				 .reason = reason_of(r->but),
				 .addr = DRIFT_ADDR_OURS,
				 .settled = (r->but & UNSETTLED) == 0,
				 .listed = (r->but & UNLISTED) == 0,
				 .blind = (r->but & BLIND) != 0,
				 .loses_requeued = (r->but & LOSES_REQUEUED) != 0,
				 .began_ms = BEGAN,
				 .now_ms = NOW,
				 .started_ms = STARTED,
				 .before_ms = BEGAN - DRIFT_UNSEEN_MS};
	if ((r->but & UNSEEN) != 0)
		s->before_ms--;
	if ((r->but & ADDR_OTHER) != 0)
		s->addr = DRIFT_ADDR_OTHER;
	if ((r->but & ADDR_NONE) != 0)
		s->addr = DRIFT_ADDR_NONE;
	w->nm->flags = s->flags;
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		struct drift_seen s;
		struct drift_todo t;
		struct world w;

		set_up(&w, r, &s);
		memset(&t, 0xff, sizeof(t));
		drift_node(w.nm, &s, &t);
		if (t.deeds != r->deeds || t.release != r->release || t.why != r->why ||
		    t.dead != r->dead)
			fail_msg("%s: deeds %#x (not %#x), release %d, why %d, dead %d", r->name,
				 t.deeds, r->deeds, t.release, t.why, t.dead);
		finish(&w);
	}
}

static void test_coming(void **state)
{
	(void)state;
	check_rows(coming, COUNT(coming));
}

static void test_off(void **state)
{
	(void)state;
	check_rows(off, COUNT(off));
}

/* A machine that will be taken away, and its jobs have some time: what follows from a snapshot. */
static void test_draining(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		unsigned but;
		int64_t signal_ms, force_ms, told_ms, fenced_ms; /* told_ms: the signal */
		unsigned deeds;
		bool dead;
	} rows[] = {
		{"it is fenced", ALLOC, 0, NEVER, LATER, 0, 0, DRIFT_FENCE, false},
		{"once", ALLOC, 0, NEVER, LATER, 0, BEGAN - DRIFT_REFORCE_MS, 0, false},
		{"but the order may be lost", ALLOC, 0, NEVER, LATER, 0,
		 BEGAN - DRIFT_REFORCE_MS - 1, DRIFT_FENCE, false},
		{"not before what was sent is seen", ALLOC, UNSETTLED, NEVER, LATER, 0, 0, 0,
		 false},
		{"it is fenced already", ALLOC | DRAIN | TOLD, 0, NEVER, LATER, 0, 0, 0, false},
		{"an admin drained it", ALLOC | DRAIN, 0, NEVER, LATER, 0, 0, 0, false},
		{"or set it down", DOWN, 0, NEVER, LATER, 0, 0, 0, false},
		{"its jobs are told", ALLOC | TOLD, 0, NOW, LATER, 0, 0, DRIFT_SIGNAL, false},
		{"with the fence", ALLOC, 0, NOW, LATER, 0, 0, DRIFT_FENCE | DRIFT_SIGNAL, false},
		{"not yet", ALLOC | TOLD, 0, NOW + 1, LATER, 0, 0, 0, false},
		{"not twice", ALLOC | TOLD, 0, NOW, LATER, NOW - 5, 0, 0, false},
		{"it goes", ALLOC | TOLD, 0, NOW - 5, NOW, NOW - 5, 0, DRIFT_POWER_DOWN, false},
		{"told or not", ALLOC | TOLD, 0, NOW - 5, NOW, 0, 0, DRIFT_POWER_DOWN, false},
		{"though another job completes there (F41)", ALLOC | COMPLETING | TOLD, 0, NOW - 5,
		 NOW, NOW - 5, 0, DRIFT_POWER_DOWN, false},
		{"it has its time, and was told to go then", ALLOC | TOLD | INVALID, 0, NEVER,
		 LATER, NOW - 5, 0, 0, false},
		{"all that ran there completes", COMPLETING | TOLD, 0, NOW - 5, NOW, NOW - 5, 0, 0,
		 false},
		{"as a dead one", ALLOC, 0, NEVER, NOW, 0, 0, DRIFT_POWER_DOWN, true},
		{"it may stay for ever", ALLOC | TOLD, 0, NEVER, NEVER, 0, 0, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row r = {
			.flags = rows[i].flags, .state = NODE_DRAINING, .but = rows[i].but};
		struct drift_seen s;
		struct drift_todo t;
		struct world w;

		set_up(&w, &r, &s);
		s.plan = (struct reclaim_plan){rows[i].signal_ms, rows[i].force_ms, rows[i].dead};
		w.fn->n.signal_ms = rows[i].told_ms;
		w.nm->fenced_ms = rows[i].fenced_ms;
		memset(&t, 0xff, sizeof(t));
		drift_node(w.nm, &s, &t);
		if (t.deeds != (D_ON | rows[i].deeds) || t.dead != rows[i].dead)
			fail_msg("%s: deeds %#x, dead %d", rows[i].name, t.deeds, t.dead);
		finish(&w);
	}
}

static void test_on(void **state)
{
	(void)state;
	check_rows(on, COUNT(on));
}

/* Bought again, and nothing came of that. */
static void test_up_on_an_older_one_that_is_being_deleted(void **state)
{
	const struct row r = {.flags = ALLOC, .state = NODE_DELETING};
	struct drift_seen s;
	struct drift_todo t;
	struct world w;

	(void)state;
	set_up(&w, &r, &s);
	(void)add(&w, 6, NODE_GONE, "", "");
	drift_node(w.nm, &s, &t);
	assert_int_equal(t.deeds, DRIFT_UNBAR | DRIFT_POWER_DOWN);
	assert_int_equal(t.why, DRIFT_WHY_DELETING);
	finish(&w);
}

static void test_a_refusal_is_shown_for_its_time(void **state)
{
	const struct row r = {.flags = OFF | IDLE, .state = NO_NODE, .but = ADDR_NONE};
	struct drift_seen s;
	struct drift_todo t;
	struct world w;

	(void)state;
	set_up(&w, &r, &s);
	for (int over = 0; over < 2; over++) {
		w.nm->refused_ms = NOW - DRIFT_REFUSAL_MS - over;
		drift_node(w.nm, &s, &t);
		assert_int_equal((t.deeds & DRIFT_FORGET_REFUSAL) != 0, over);
	}
	finish(&w);
}

/* A reason of ours is known by its first word: what we set down we bring back. */
static void test_reasons_are_ours(void **state)
{
	(void)state;
	assert_string_equal(drift_why_text(DRIFT_WHY_NONE), "");
	for (unsigned w = DRIFT_WHY_NONE + 1; w <= DRIFT_WHY_MUTE; w++)
		assert_memory_equal(drift_why_text(w), "burstd: ", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coming),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_on),
		cmocka_unit_test(test_draining),
		cmocka_unit_test(test_up_on_an_older_one_that_is_being_deleted),
		cmocka_unit_test(test_a_refusal_is_shown_for_its_time),
		cmocka_unit_test(test_reasons_are_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
