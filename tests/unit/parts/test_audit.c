/* What goes out is on record before it is sent, with who is behind it (I28). */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "loaded_engine.h"
#include "ordered_engine.h"
#include "store/journal_audit.h"

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
	assert_true(audit_part.record(f->e));
	assert_records(f, "");
	engine_commit(f->e);
	assert_records(f, "uid 1001: power-down slurmctld c[1-2] : burstd: terminated by an "
			  "admin\n");
	commits = f->e->count.commits;
	assert_false(audit_part.record(f->e)); /* the same command: once */
	remove_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_int_equal(f->e->count.commits, commits);
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
	remove_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->count.commits, commits + 1);
	assert_int_equal(f->e->cloud->all[0].sent[PROVIDER_DELETE], 2);
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
	remove_part.at[PART_RUN](f->e);
	fn->busy = false;
	ev.type = NODE_EV_DELETE_FAILED;
	engine_post(f->e, fn, &ev);
	engine_commit(f->e);
	remove_part.at[PART_RUN](f->e);
	assert_records(f, "reconciler: delete cloud c1 i-1: Slurm powered it down\n"
			  "reconciler: delete-again cloud c1 : Slurm powered it down\n");
	/* With one that is asked for the first time, all are named. */
	fn->busy = false;
	engine_post(f->e, fn, &ev);
	ev.type = NODE_EV_RELEASE;
	fleet_find(&f->e->fleet, "c2")->listed = false;
	engine_post(f->e, fleet_live(fleet_find(&f->e->fleet, "c2")), &ev);
	engine_commit(f->e);
	remove_part.at[PART_RUN](f->e);
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

static void tell_create(struct slurm *s)
{
	assert_true(slurm_create(s, "c3", 0, " CPUs=8 Feature=cloud"));
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
		{tell_create,
		 "reconciler: create-node slurmctld c3 CPUs=8 Feature=cloud: slurmctld lacks it\n"},
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
		assert_true(audit_part.record(f->e));
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
	remove_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_records(f,
		       "reconciler: delete cloud c3 i-9: it has our tag, but belongs to no node\n");
}

/* What was it, what came of it, and what to tell the provider's support? */
static void test_an_answer_is_on_record_by_the_providers_id(void **state)
{
	static const struct {
		const char *id;
		enum provider_code code;
	} rows[] = {{"req-1, req-2", PROVIDER_OK},
		    {"", PROVIDER_OK},
		    {"req-3", PROVIDER_RATE}, /* it is sent again, and again */
		    {"req-4", PROVIDER_CAPACITY}};
	struct fix *f = *state;

	load(f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r = {.code = rows[i].code};
		struct audit a;

		(void)snprintf(r.request_id, sizeof(r.request_id), "%s", rows[i].id);
		audit_begin(&a, 2);
		audit_add(&a, "c2");
		audit_add(&a, "c1");
		audit_answered(f->e, &a, "create t-1", "cloud", &r);
	}
	engine_commit(f->e);
	assert_records(f, "provider: answered cloud c[1-2] req-1, req-2: create t-1: ok\n"
			  "provider: answered cloud c[1-2] req-4: create t-1: capacity\n");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_request_is_on_record_before_it_is_sent,
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
		cmocka_unit_test_setup_teardown(test_an_answer_is_on_record_by_the_providers_id,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
