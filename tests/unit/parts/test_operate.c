/* operate.c and pool.c: what an admin orders.  The orders go nowhere here; what is counted, noted
 * and refused is looked at. */
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "loaded_engine.h"

/* c1 and c2 are READY in the journal, c3 is off. */
static void load(struct fix *f)
{
	struct journal_tx *tx = journal_begin(f->journal);

	for (int i = 1; i <= 2; i++) {
		struct node n;

		make_ready(f, i, &n);
		n.rate_nano_h = 1000000000;
		(void)snprintf(n.addr, sizeof(n.addr), "10.0.0.%d", i);
		journal_put_node(tx, &n, "pool");
	}
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
}

static void snapshot(struct fix *f, const char *c1, const char *c2, const char *c3)
{
	char text[400];
	int n = snprintf(text, sizeof(text),
			 "NodeName=c1 NodeAddr=10.0.0.1 NodeHostName=c1 State=%s\n"
			 "NodeName=c2 NodeAddr=10.0.0.2 NodeHostName=c2 State=%s\n"
			 "NodeName=c3 NodeAddr=c3 NodeHostName=c3 State=%s\n",
			 c1, c2, c3);

	assert_true(slurm_parse_nodes(text, (size_t)n, observe_node, f->e, NULL) > 0);
	observe_snapshot(f->e, loop_now(f->loop), NULL);
}

struct sought {
	const char *node, *type, *detail;
	unsigned n;
};

static int count(void *ctx, const struct journal_event *ev)
{
	struct sought *s = ctx;

	s->n += strcmp(ev->node, s->node) == 0 && strcmp(ev->type, s->type) == 0 &&
		strcmp(ev->detail, s->detail) == 0;
	return 0;
}

/* How many such events are written down. */
static unsigned events(struct fix *f, const char *node, const char *type, const char *detail)
{
	struct sought s = {node, type, detail, 0};

	engine_commit(f->e);
	assert_int_equal(journal_events(f->journal, 0, NULL, UINT32_MAX, count, &s, NULL), 0);
	return s.n;
}

static const char *told(const struct fix *f, const char *name)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, name);

	return nm->told != NULL ? nm->told : "nothing";
}

static void order(struct fix *f, const struct engine_request *rq, size_t n, size_t busy, size_t off)
{
	struct engine_ordered o;

	assert_int_equal(engine_operate(f->e, rq, &o, NULL), 0);
	assert_int_equal(o.n, n);
	assert_int_equal(o.busy, busy);
	assert_int_equal(o.off, off);
}

/* A node counts once; to look is to do nothing. */
static void test_look(void **state)
{
	struct engine_request rq = {ENGINE_TERMINATE, "c3,c1,c2,c1", "root", true};
	struct fix *f = *state;

	load(f);
	snapshot(f, "MIXED+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 2, 1, 1);
	rq.nodes = NULL;
	order(f, &rq, 2, 1, 1);
	rq.nodes = "c3";
	order(f, &rq, 0, 0, 1);
	assert_string_equal(told(f, "c1"), "nothing");
	assert_int_equal(events(f, "c1", "terminated", "ordered by root"), 0);
}

static void test_done(void **state)
{
	static const struct {
		enum engine_order order;
		const char *type, *told;
	} rows[] = {{ENGINE_DRAIN, "drained", "drained by an admin"},
		    {ENGINE_TERMINATE, "terminated", "terminated by an admin"}};
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+COMPLETING+CLOUD", "ALLOCATED+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	for (size_t i = 0; i < 2; i++) {
		const struct engine_request rq = {rows[i].order, "c[1-3]", "uid 1001", false};

		order(f, &rq, 2, 2, 1);
		assert_string_equal(told(f, "c1"), rows[i].told);
		assert_string_equal(told(f, "c2"), rows[i].told);
		assert_string_equal(told(f, "c3"), "nothing");
		assert_int_equal(events(f, "c1", rows[i].type, "ordered by uid 1001"), 1);
		assert_int_equal(events(f, "c3", rows[i].type, "ordered by uid 1001"), 0);
	}
}

static int keep_record(void *ctx, const struct journal_audit *a)
{
	struct str *s = ctx;

	str_addf(s, "%s: %s %s %s %s: %s\n", a->actor, a->verb, a->target, a->object, a->request,
		 a->reason);
	return 0;
}

static void assert_records(struct fix *f, const char *want)
{
	struct str s;
	char *wait;

	str_init(&s, 4096);
	assert_int_equal(journal_audits(f->journal, 0, 100, keep_record, &s, NULL), 0);
	wait = strstr(s.p, "=now+61:");
	if (wait != NULL) /* a whole second, and no sooner: one more, unless this one begins now */
		wait[6] = '0';
	assert_string_equal(s.p, want);
	str_fini(&s);
}

/* I28: what goes out is on record, a record for each request, with who is behind it; and a turn in
 * which nothing goes out writes nothing. */
static void test_each_request_is_on_record_before_it_is_sent(void **state)
{
	const struct engine_request rq = {ENGINE_TERMINATE, "c[1-2]", "uid 1001", false};
	struct fix *f = *state;
	uint64_t commits;

	load(f);
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 2, 0, 0);
	f->e->jobs->runs++;
	rescue_jobs(f->e, "", 0, NULL);
	assert_true(audit_order(f->e));
	assert_records(f, "");
	engine_commit(f->e);
	assert_records(f, "uid 1001: power-down slurmctld c[1-2] : burstd: terminated by an "
			  "admin\n");
	commits = f->e->count.commits;
	assert_false(audit_order(f->e)); /* the same command: once */
	remove_run(f->e);
	engine_commit(f->e);
	assert_int_equal(f->e->count.commits, commits);
}

static bool is_given(struct fix *f)
{
	bool given;

	f->e->jobs->runs++;
	rescue_jobs(f->e, "", 0, NULL); /* no job is there */
	given = audit_order(f->e);
	engine_commit(f->e);
	return given;
}

/* scontrol fails, and says why. */
static void all_fail(struct fix *f, const char *words)
{
	struct fleet_name *nm = fleet_find(&f->e->fleet, "c1");
	char path[96];
	FILE *script;

	(void)snprintf(path, sizeof(path), "%s/scontrol", f->dir);
	script = fopen(path, "w");
	assert_non_null(script);
	(void)fprintf(script, "#!/bin/sh\necho 'slurm_update error: %s' >&2\nexit 1\n", words);
	assert_int_equal(fclose(script), 0);
	assert_int_equal(chmod(path, 0700), 0);
	slurm_configure(f->e->slurm, f->dir, NULL);
	slurm_flush(f->e->slurm);
	while (nm->insist.lost_ms == 0 || slurm_settled_ms(f->e->slurm) == INT64_MAX)
		(void)uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	nm->insist.lost_ms--; /* the next snapshot is a later one */
}

/* slurmctld is away: the order is lost. */
static void all_are_lost(struct fix *f)
{
	all_fail(f, "Unable to contact slurm controller (connect failure)");
}

static void is_taken(struct fix *f, const char *verb)
{
	const struct slurm_order o = {.verb = verb, .names = "c1", .reason = ""};

	insist_told(f->e, &o, NULL);
}

/* F48, F49: an order that slurmctld did not take is given again, for no snapshot would repeat it:
 * as long as it has the node as it was, and until it has taken it. */
static void test_an_order_that_is_lost_is_given_again(void **state)
{
	static const struct {
		enum engine_order order;
		const char *verb, *other, *then; /* the node's state after the order was lost */
		bool again;
	} rows[] = {
		{ENGINE_DRAIN, "drain", "resume", "IDLE+CLOUD", true},
		{ENGINE_DRAIN, "drain", "power-down", "ALLOCATED+CLOUD", true},
		{ENGINE_DRAIN, "drain", "resume", "IDLE+CLOUD+DRAIN", false},
		{ENGINE_DRAIN, "drain", "resume", "DOWN+CLOUD", false},
		{ENGINE_DRAIN, "drain", "resume", "IDLE+CLOUD+POWERED_DOWN", false},
		{ENGINE_TERMINATE, "power-down", "drain", "IDLE+CLOUD", true},
		{ENGINE_TERMINATE, "down", "drain", "IDLE+CLOUD+DRAIN", true},
		{ENGINE_TERMINATE, "power-down", "drain", "IDLE+CLOUD+POWERING_DOWN", false},
		{ENGINE_TERMINATE, "power-down", "drain", "IDLE+CLOUD+POWER_DOWN", false},
	};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct engine_request rq = {rows[i].order, "c1", "root", false};
		struct fix *f;

		(void)printf("# row %zu\n", i);
		teardown(state);
		setup(state);
		f = *state;
		load(f);
		snapshot(f, up, up, off);
		order(f, &rq, 1, 0, 0);
		assert_true(is_given(f));
		is_taken(f, rows[i].other); /* of another order */
		snapshot(f, up, up, off);
		assert_false(is_given(f)); /* it is on its way */
		all_are_lost(f);
		snapshot(f, rows[i].then, up, off);
		if (!rows[i].again) {
			assert_null(fleet_find(&f->e->fleet, "c1")->insist.why);
			continue;
		}
		assert_true(is_given(f));
		all_are_lost(f);
		snapshot(f, up, up, off);
		assert_true(is_given(f));
		is_taken(f, rows[i].verb);
		assert_true(fleet_find(&f->e->fleet, "c1")->insist.lost_ms == 0);
		snapshot(f, up, up, off);
		assert_false(is_given(f));
	}
}

/* F50: slurmctld took it, and comes back without it.  Where it was there all the time, somebody has
 * taken the order back, and has his will (F51). */
static void test_an_order_that_slurmctld_forgot_is_given_again(void **state)
{
	static const struct {
		enum engine_order order;
		const char *verb, *then;
		bool away, again;
		int64_t ago_ms; /* it took the order, and has shown it since */
	} rows[] = {
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD", true, true, 0},
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD", false, false, 0},
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD", true, true, 59000},
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD", true, false, 61000}, /* written down */
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD+DRAIN", true, false, 0},
		{ENGINE_TERMINATE, "power-down", "IDLE+CLOUD", true, true, 0},
		{ENGINE_TERMINATE, "power-down", "IDLE+CLOUD", false, false, 0},
		{ENGINE_TERMINATE, "power-down", "IDLE+CLOUD+POWERING_DOWN", true, false, 0},
	};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct engine_request rq = {rows[i].order, "c1", "root", false};
		struct fleet_insist *in;
		struct fix *f;

		(void)printf("# row %zu\n", i);
		teardown(state);
		setup(state);
		f = *state;
		load(f);
		snapshot(f, up, up, off);
		order(f, &rq, 1, 0, 0);
		assert_true(is_given(f));
		all_are_lost(f); /* as for scontrol */
		is_taken(f, rows[i].verb);
		in = &fleet_find(&f->e->fleet, "c1")->insist;
		in->took_ms -= 2 + rows[i].ago_ms;
		if (rows[i].ago_ms != 0)
			snapshot(f, "IDLE+CLOUD+DRAIN+POWER_DOWN", up, off);
		f->e->poll.failed_ms = rows[i].away ? in->took_ms + 1 : in->took_ms;
		snapshot(f, rows[i].then, up, off);
		assert_int_equal(is_given(f), rows[i].again);
		snapshot(f, up, up, off);
		assert_false(is_given(f)); /* once, until it is answered */
	}
}

/* ... and is not another machine's. */
static void test_an_order_that_is_lost_is_not_the_next_machines(void **state)
{
	const struct engine_request rq = {ENGINE_DRAIN, "c1", "root", false};
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 1, 0, 0);
	assert_true(is_given(f));
	all_are_lost(f);
	fleet_find(&f->e->fleet, "c1")->insist.gen--;
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_false(is_given(f));
}

/* F48: an admin's terminate that slurmctld did not take is not forgotten for a drain of our own;
 * for his own it is, as jobs may end well then. */
static void test_a_lost_terminate_outlives_a_drain_for_old_keys(void **state)
{
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	const struct engine_request drain = {ENGINE_DRAIN, "c1", "root", false};
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f);
	snapshot(f, "ALLOCATED+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	nm = fleet_find(&f->e->fleet, "c1");
	order(f, &rq, 1, 1, 0);
	assert_true(is_given(f));
	all_are_lost(f);                                   /* slurmctld is away */
	insist_drain(f->e, nm, "burstd: it has old keys"); /* as drain() in rotate_nodes.c */
	assert_true(is_given(f));
	all_are_lost(f);
	snapshot(f, "ALLOCATED+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_true(nm->insist.ends);
	assert_true(is_given(f));
	order(f, &drain, 1, 1, 0);
	assert_false(nm->insist.ends);
}

static void fill_queue(struct fix *f)
{
	char job[24], text[40];

	for (int i = 0; i < SLURM_QUEUE_MAX; i++) {
		(void)snprintf(job, sizeof(job), "%d", i + 1);
		(void)snprintf(text, sizeof(text), "burstd: %d", i);
		assert_true(slurm_postpone(f->e->slurm, job, 1, 0, text));
	}
	assert_false(slurm_postpone(f->e->slurm, "9999", 1, 0, "burstd: x"));
}

/* What waits is over: it is dropped, one command a turn. */
static void empty_queue(struct fix *f)
{
	for (int i = 0; i < 12; i++) {
		(void)usleep(100000);
		(void)uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
	}
	(void)audit_order(f->e);
	for (int i = 0; i < 3 * SLURM_QUEUE_MAX; i++)
		(void)uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

/* An admin was told that it is done.  What found no room in the queue is given once there is. */
static void test_an_order_that_found_no_room_is_given_again(void **state)
{
	static const enum engine_order orders[] = {ENGINE_DRAIN, ENGINE_TERMINATE};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const struct engine_request rq = {orders[i], "c1", "root", false};
		struct fix *f;

		teardown(state);
		setup(state);
		f = *state;
		load(f);
		snapshot(f, up, up, off);
		fill_queue(f);
		order(f, &rq, 1, 0, 0);
		f->e->jobs->runs++;
		rescue_jobs(f->e, "", 0, NULL); /* no job is there */
		empty_queue(f);
		assert_false(is_given(f)); /* it is not among what waits */
		snapshot(f, up, up, off);
		assert_true(is_given(f));
	}
}

static int count_record(void *ctx, const struct journal_audit *a)
{
	*(unsigned *)ctx += strcmp(a->verb, "power-down") == 0;
	return 0;
}

static unsigned tries(struct fix *f)
{
	unsigned n = 0;

	assert_int_equal(journal_audits(f->journal, 0, 1000, count_record, &n, NULL), 0);
	return n;
}

/* I30: what slurmctld refuses is not ordered with each snapshot; each try is a durable record. */
static void test_a_refused_order_is_given_ever_more_seldom(void **state)
{
	static const int64_t waits[] = {10, 20, 40, 80, 160, 320, 600, 600}; /* seconds */
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";
	struct fleet_insist *in;
	struct fix *f = *state;

	load(f);
	snapshot(f, up, up, off);
	order(f, &rq, 1, 0, 0);
	in = &fleet_find(&f->e->fleet, "c1")->insist;
	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		assert_true(is_given(f));
		all_fail(f, "Access/permission denied");
		snapshot(f, up, up, off);
		assert_false(is_given(f));
		in->lost_ms -= waits[i] * 1000 - 5000;
		snapshot(f, up, up, off);
		assert_false(is_given(f));
		in->lost_ms -= 5000;
		snapshot(f, up, up, off);
		assert_int_equal(tries(f), i + 1);
	}
	assert_int_equal(events(f, "c1", "order-refused",
				"slurmctld refuses to power it down, and is asked again: scontrol "
				"update: exit status 1: slurm_update error: Access/permission "
				"denied"),
			 1);
	assert_true(is_given(f));
	all_are_lost(f); /* what it has not heard is not refused */
	snapshot(f, up, up, off);
	assert_true(is_given(f));
}

static void test_deletes_of_a_turn_share_a_commit(void **state)
{
	struct fix *f = *state;
	uint64_t commits;

	load(f);
	for (int i = 1; i <= 2; i++) {
		struct node_event ev = {.type = NODE_EV_RELEASE,
					.reason = i == 1 ? NODE_BECAUSE_OPERATOR
							 : NODE_BECAUSE_SUSPENDED,
					.now_ms = loop_now(f->loop)};
		char name[16];

		(void)snprintf(name, sizeof(name), "c%d", i);
		fleet_find(&f->e->fleet, name)->listed = false;
		engine_post(f->e, fleet_live(fleet_find(&f->e->fleet, name)), &ev);
	}
	engine_commit(f->e);
	f->e->cloud->all[0].caps.delete_max = 1;
	commits = f->e->count.commits;
	remove_run(f->e);
	assert_int_equal(f->e->count.commits, commits + 1);
	assert_int_equal(f->e->count.deletes, 2);
	assert_records(f, "an admin: delete cloud c1 i-1: an admin's order\n"
			  "reconciler: delete cloud c2 i-2: Slurm powered it down\n");
}

/* F55: what fails again and again, on a full disk, takes next to no room of it. */
static void test_what_is_deleted_again_is_named_by_its_node(void **state)
{
	struct fix *f = *state;
	struct fleet_node *fn;
	struct node_event ev = {.type = NODE_EV_RELEASE, .reason = NODE_BECAUSE_SUSPENDED};

	load(f);
	fn = fleet_live(fleet_find(&f->e->fleet, "c1"));
	fn->name->listed = false;
	ev.now_ms = loop_now(f->loop) - 100000;
	engine_post(f->e, fn, &ev);
	engine_commit(f->e);
	remove_run(f->e);
	fn->busy = false;
	ev.type = NODE_EV_DELETE_FAILED;
	engine_post(f->e, fn, &ev);
	engine_commit(f->e);
	remove_run(f->e);
	assert_records(f, "reconciler: delete cloud c1 i-1: Slurm powered it down\n"
			  "reconciler: delete-again cloud c1 : Slurm powered it down\n");
	/* With one that is asked for the first time, all are named. */
	fn->busy = false;
	engine_post(f->e, fn, &ev);
	ev.type = NODE_EV_RELEASE;
	fleet_find(&f->e->fleet, "c2")->listed = false;
	engine_post(f->e, fleet_live(fleet_find(&f->e->fleet, "c2")), &ev);
	engine_commit(f->e);
	remove_run(f->e);
	assert_records(f, "reconciler: delete cloud c1 i-1: Slurm powered it down\n"
			  "reconciler: delete-again cloud c1 : Slurm powered it down\n"
			  "reconciler: delete cloud c[1-2] i-2,i-1: Slurm powered it down\n");
}

/* A call of ResumeProgram, or burstd's own comparison, or from before its start. */
static void test_who_caused_a_purchase(void **state)
{
	static const struct {
		const char *made, *actor;
	} rows[] = {{ENGINE_WHY_CALL, "hook"},
		    {"slurmctld has it powering up", "reconciler"},
		    {NULL, "reconciler"}};
	struct fix *f = *state;

	load(f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_name *nm = fleet_find(&f->e->fleet, "c1");
		struct audit a;

		nm->newest->made = rows[i].made;
		audit_begin(&a, 1);
		audit_create(&a, nm, nm->newest);
		assert_string_equal(a.actor.p, rows[i].actor);
		audit_put(f->e, &a, "create", "cloud", "token");
	}
	engine_commit(f->e);
}

static void tell_address(struct slurm *s)
{
	slurm_set_addr(s, "c1", "10.0.0.1", "c1");
}

static void tell_power_down(struct slurm *s)
{
	slurm_power_down(s, "c2", "10.0.0.2", false, "burstd: its slurmd does not answer");
}

static void tell_resume(struct slurm *s)
{
	slurm_resume(s, "c3");
}

static void tell_postpone(struct slurm *s)
{
	slurm_postpone(s, "7_1", 60000, 0, NULL);
}

/* What nobody ordered is the reconciler's. */
static void test_what_burstd_does_by_itself_is_on_record_as_such(void **state)
{
	static const struct {
		void (*tell)(struct slurm *s);
		const char *want;
	} rows[] = {
		{tell_address,
		 "reconciler: address slurmctld c1 10.0.0.1: address of its instance\n"},
		{tell_power_down, "reconciler: power-down slurmctld c2 : burstd: its slurmd does "
				  "not answer\n"},
		{tell_resume,
		 "reconciler: resume slurmctld c3 : it was down after ResumeTimeout\n"},
		{tell_postpone,
		 "reconciler: postpone slurmctld 7_1 StartTime=now+60: its nodes were refused\n"},
	};
	struct fix *f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(state);
		setup(state);
		f = *state;
		load(f);
		rows[i].tell(f->e->slurm);
		assert_true(audit_order(f->e));
		engine_commit(f->e);
		assert_records(f, rows[i].want);
	}
}

/* What a record says, and is not done, the next one takes back. */
static void test_what_is_not_sent_after_all_is_on_record_too(void **state)
{
	struct fix *f = *state;
	struct slurm_order o = {.verb = "postpone", .names = "7_1", .reason = "", .of_jobs = true};

	load(f);
	audit_unsent(f->e, &o, "it may have started");
	engine_commit(f->e);
	assert_records(f, "reconciler: unsent slurmctld 7_1 postpone: it may have started\n");
}

static void test_a_stray_is_deleted_as_one(void **state)
{
	struct fix *f = *state;
	struct cloud *c;

	load(f);
	c = &f->e->cloud->all[0];
	c->strays = mem_zalloc(sizeof(*c->strays));
	c->nstrays = 1;
	*c->strays = (struct stray){.id = "i-9", .node = "c3", .gen = 4, .first_ms = 1};
	remove_run(f->e);
	engine_commit(f->e);
	assert_records(f,
		       "reconciler: delete cloud c3 i-9: it has our tag, but belongs to no node\n");
}

/* "uid 10" is not "uid 1000"; and who is left out is not left out silently. */
static void test_who_asked_is_told_in_whole(void **state)
{
	struct fix *f = *state;
	struct audit a;
	struct str s;

	load(f);
	fleet_find(&f->e->fleet, "c1")->listed = true;
	audit_begin(&a, 3);
	for (int i = 0; i < 3; i++) {
		struct fleet_node *fn = fleet_live(fleet_find(&f->e->fleet, i == 1 ? "c2" : "c1"));

		(void)snprintf(fn->name->by, sizeof(fn->name->by), "uid %d", i == 1 ? 10 : 1000);
		fn->n.reason = NODE_BECAUSE_OPERATOR;
		audit_delete(&a, fn, "i-1");
	}
	assert_string_equal(a.actor.p, "uid 1000; uid 10");
	assert_true(a.first); /* the last of them was asked for before, the others were not */
	audit_put_delete(f->e, &a, "cloud");
	audit_begin(&a, 200);
	for (int i = 0; i < 200; i++) {
		struct fleet_node *fn = fleet_live(fleet_find(&f->e->fleet, "c1"));

		(void)snprintf(fn->name->by, sizeof(fn->name->by), "uid %d", 1000 + i);
		audit_delete(&a, fn, "i-1");
	}
	s = a.actor;
	assert_string_equal(s.p + s.len - 5, "; ...");
	assert_in_range(s.len, 300, 420);
	audit_put_delete(f->e, &a, "cloud");
	engine_commit(f->e);
}

/* A list that is not all ours, or about which too little is known, is not even half of an order. */
static void test_refused(void **state)
{
	static const char *const lists[] = {"c1,x1", "c[1-", ""};
	struct engine_request rq = {.order = ENGINE_TERMINATE, .by = "root"};
	struct engine_ordered o;
	struct fix *f = *state;
	struct err e;

	load(f);
	rq.nodes = "c1"; /* slurmctld has not said anything yet: it may have a job */
	assert_int_equal(engine_operate(f->e, &rq, &o, &e), -1);
	assert_non_null(strstr(e.msg, "c1"));
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		rq.nodes = lists[i];
		assert_int_equal(engine_operate(f->e, &rq, &o, &e), -1);
		assert_int_equal(o.n, 0);
	}
	assert_string_equal(told(f, "c1"), "nothing");
	assert_int_equal(events(f, "c1", "terminated", "ordered by root"), 0);
}

static struct fleet_node *insert(struct fix *f, uint64_t gen, enum node_state state, int64_t ms)
{
	struct fleet_node *fn;
	struct node n;

	node_init(&n, "c3", gen, ms);
	n.state = state;
	fn = engine_insert(f->e, &n, "for the test");
	engine_commit(f->e);
	return fn;
}

/* F48: what slurmctld said was of before that was bought. */
static void test_what_was_bought_since_is_not_known_yet(void **state)
{
	const struct engine_request rq = {.nodes = "c3", .order = ENGINE_TERMINATE, .by = "root"};
	struct engine_ordered o;
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	(void)insert(f, 9, NODE_BOOTING, f->e->poll.snapshot_ms);
	assert_int_equal(engine_operate(f->e, &rq, &o, NULL), -1);
	assert_int_equal(o.n, 0);
}

/* All that there is of it goes, not the newest alone. */
static void test_what_an_admin_ends_is_all_of_the_node(void **state)
{
	const struct engine_request rq = {.nodes = "c3", .order = ENGINE_TERMINATE, .by = "root"};
	struct fleet_node *older, *newest;
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	older = insert(f, 8, NODE_QUARANTINED, f->e->poll.snapshot_ms - 2000);
	newest = insert(f, 9, NODE_BOOTING, f->e->poll.snapshot_ms - 1000);
	order(f, &rq, 1, 0, 0);
	engine_commit(f->e);
	assert_int_equal(newest->n.state, NODE_DELETING);
	assert_int_equal(older->n.state, NODE_DELETING);
}

/* Why burstd itself has a node powered down is told to whoever looks at it, and stays in the
 * journal. */
static void test_powered_down(void **state)
{
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+CLOUD+INVALID_REG Reason=Low RealMemory (1 < 2) [slurm@2026]",
		 "DOWN+CLOUD+NOT_RESPONDING Reason=Not responding [slurm@2026]",
		 "IDLE+CLOUD+POWERED_DOWN");
	assert_string_equal(told(f, "c1"), "its registration is invalid: Low RealMemory (1 < 2)");
	assert_string_equal(told(f, "c2"), "its slurmd does not answer");
	assert_int_equal(events(f, "c1", "powered-down",
				"its registration is invalid: Low RealMemory (1 < 2)"),
			 1);
	assert_int_equal(events(f, "c2", "powered-down", "its slurmd does not answer"), 1);
}

static void test_pause(void **state)
{
	struct fix *f = *state;

	load(f);
	assert_int_equal(engine_pause(f->e, "other", true, "root", NULL), -1);
	assert_false(engine_paused(f->e, 0));
	assert_null(engine_blocked(f->e, 0));
	for (int i = 0; i < 2; i++) /* again is no event */
		assert_int_equal(engine_pause(f->e, "pool", true, "uid 1001", NULL), 0);
	assert_true(engine_paused(f->e, 0));
	assert_non_null(strstr(engine_blocked(f->e, 0), "paused"));
	assert_int_equal(events(f, "", "paused", "pool pool, ordered by uid 1001"), 1);
	engine_free(f->e); /* it outlives a restart */
	f->e = NULL;
	load(f);
	assert_true(engine_paused(f->e, 0));
	assert_int_equal(engine_pause(f->e, NULL, false, "root", NULL), 0);
	assert_false(engine_paused(f->e, 0));
	assert_int_equal(events(f, "", "resumed", "pool pool, ordered by root"), 1);
}

/* --- what follows from a change ----------------------------------------------------------------
 */

/* Where a node is one certain machine its refusal is about that one: it rests. */
static void test_refused_machine(void **state)
{
	struct fix *f = *state;
	struct node_event start = {.type = NODE_EV_START, .now_ms = loop_now(f->loop), .batch = 1};
	struct node_event no = {.type = NODE_EV_REFUSED,
				.reason = NODE_BECAUSE_CAPACITY,
				.now_ms = loop_now(f->loop)};
	struct fleet_node *fn;
	struct node n;

	fake_flags |= PROVIDER_MACHINES;
	load(f);
	node_init(&n, "c3", 7, loop_now(f->loop));
	fn = engine_insert(f->e, &n, "for the test");
	engine_post(f->e, fn, &start);
	engine_commit(f->e);
	engine_post(f->e, fn, &no);
	engine_commit(f->e);
	assert_int_equal(fn->n.state, NODE_GONE);
	assert_int_equal(fn->name->fails, 1);
	assert_true(fn->name->rests_ms > engine_now(f->e));
}

/* I30, F48: a drain shows as POWER_DOWN, too, and lets the jobs run that a terminate is to end. */
static void test_a_drain_is_no_answer_to_a_terminate(void **state)
{
	static const char was[] = "ALLOCATED+CLOUD+DRAIN+POWER_DOWN";
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	struct fix *f = *state;

	load(f);
	snapshot(f, was, "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 1, 1, 0);
	assert_true(is_given(f));
	all_are_lost(f);
	snapshot(f, was, "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_true(is_given(f));
}

/* Likewise that burstd drains it for old keys, and slurmctld takes that. */
static void test_a_drain_that_is_taken_leaves_a_terminate(void **state)
{
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	struct fix *f = *state;

	load(f);
	snapshot(f, "ALLOCATED+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 1, 1, 0);
	assert_true(is_given(f));
	all_are_lost(f);
	insist_drain(f->e, fleet_find(&f->e->fleet, "c1"), "burstd: it has old keys");
	assert_true(is_given(f));
	is_taken(f, "drain");
	all_are_lost(f);
	snapshot(f, "ALLOCATED+CLOUD+DRAIN+POWER_DOWN", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_true(is_given(f));
}

/* One that does not answer is set down before it is powered down: the second may be lost. */
static void test_a_node_that_is_set_down_is_not_yet_powered_down(void **state)
{
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f);
	snapshot(f, "IDLE+CLOUD+NOT_RESPONDING", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	nm = fleet_find(&f->e->fleet, "c1");
	order(f, &rq, 1, 0, 0);
	is_taken(f, "down");
	nm->insist.took_ms--; /* the next snapshot is a later one */
	snapshot(f, "DOWN+CLOUD+NOT_RESPONDING", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_non_null(nm->insist.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_drain_is_no_answer_to_a_terminate, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_drain_that_is_taken_leaves_a_terminate,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_node_that_is_set_down_is_not_yet_powered_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_look, setup, teardown),
		cmocka_unit_test_setup_teardown(test_done, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_request_is_on_record_before_it_is_sent,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_is_lost_is_given_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_slurmctld_forgot_is_given_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_is_lost_is_not_the_next_machines,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_lost_terminate_outlives_a_drain_for_old_keys,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_found_no_room_is_given_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_refused_order_is_given_ever_more_seldom,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_deletes_of_a_turn_share_a_commit, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_deleted_again_is_named_by_its_node,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_asked_is_told_in_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_caused_a_purchase, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_burstd_does_by_itself_is_on_record_as_such, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_not_sent_after_all_is_on_record_too,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_stray_is_deleted_as_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_bought_since_is_not_known_yet, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_an_admin_ends_is_all_of_the_node, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_powered_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_machine, setup, teardown),
	};

	return cmocka_run_group_tests_name("operate", tests, NULL, NULL);
}
