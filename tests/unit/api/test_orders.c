/* What an admin orders about nodes and pools, and how it shows: drain, terminate, pause, resume; in
 * `status` and `node` also what slurm.conf lacks and why a node goes. */
#include "ctl_ask.h"

#include "buy/buy_api.h"
#include "jobs/jobs_api.h"
#include "slurm/parse.h"

static struct fixture *two_pools(void)
{
	static const char *const lists[] = {"n[1-9]", "m[1-9]"};

	return start_pools(lists, 2);
}

#define RQ(op, rest) "{\"v\":1,\"op\":\"" op "\"" rest "}"

static void test_order(void **state)
{
	static const struct {
		const char *request;
		const struct ctl_caller *who;
		enum engine_order order;
		const char *nodes, *by;
		unsigned done;
	} rows[] = {
		{RQ("drain", ",\"nodes\":\"n[1-4]\""), &admin, ENGINE_DRAIN, "n[1-4]",
		 "uid 1001, admin", 1},
		{RQ("drain", ",\"nodes\":\"n1\",\"look\":true"), &admin, ENGINE_DRAIN, "n1",
		 "uid 1001, admin", 0},
		{RQ("terminate", ",\"nodes\":\"n1\""), &root, ENGINE_TERMINATE, "n1", "root", 1},
		{RQ("terminate", ",\"all\":true"), &root, ENGINE_TERMINATE, "(all)", "root", 1},
		{RQ("terminate", ",\"all\":true,\"look\":true"), &root, ENGINE_TERMINATE, "(all)",
		 "root", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = two_pools();
		json_t *r = ask_as(f, rows[i].who, rows[i].request);

		assert_true(json_is_true(json_object_get(r, "ok")));
		assert_int_equal(json_integer_value(json_object_get(r, "nodes")), 3);
		assert_int_equal(json_integer_value(json_object_get(r, "busy")), 2);
		assert_int_equal(json_integer_value(json_object_get(r, "off")), 1);
		assert_int_equal(f->e.order.order, rows[i].order);
		assert_string_equal(f->e.order_nodes, rows[i].nodes);
		assert_string_equal(f->e.order_by, rows[i].by);
		assert_int_equal(f->e.orders, rows[i].done);
		json_decref(r);
		stop(f);
	}
}

/* Nothing is done, and the answer says why. */
static void test_refused(void **state)
{
	static const struct {
		const char *request;
		const struct ctl_caller *who;
		const char *code, *error;
	} rows[] = {
		{RQ("drain", ",\"nodes\":\"n1\""), &viewer, "denied", "uid 1000"},
		{RQ("terminate", ",\"all\":true"), &viewer, "denied", "terminate"},
		{RQ("terminate", ",\"all\":true,\"look\":true"), &viewer, "denied", "terminate"},
		{RQ("pause", ""), &viewer, "denied", "pause"},
		{RQ("resume", ""), &viewer, "denied", "resume"},
		{RQ("drain", ""), &admin, "invalid", "\"nodes\""},
		{RQ("drain", ",\"all\":true"), &admin, "invalid", "\"nodes\""},
		{RQ("drain", ",\"nodes\":\"n[1-\""), &admin, "invalid", "\"nodes\": "},
		{RQ("drain", ",\"nodes\":\"\""), &admin, "invalid", "\"nodes\": "},
		{RQ("drain", ",\"nodes\":\"n1,x7,n2\""), &admin, "not-found", "\"x7\""},
		{RQ("terminate", ""), &admin, "invalid", "\"nodes\""},
		{RQ("terminate", ",\"all\":1"), &admin, "invalid", "\"nodes\""},
		{RQ("terminate", ",\"nodes\":\"n1\",\"all\":true"), &admin, "invalid", "only one"},
		{RQ("terminate", ",\"nodes\":\"n[8-10]\""), &admin, "not-found", "\"n10\""},
		{RQ("notice", ",\"machine\":\"n1\",\"kind\":\"reclaim\""), &viewer, "denied",
		 "notice"},
		{RQ("notice", ",\"kind\":\"reclaim\""), &admin, "invalid", "\"machine\""},
		{RQ("notice", ",\"machine\":\"n1\""), &admin, "invalid", "\"kind\""},
		{RQ("notice", ",\"machines\":[],\"kind\":\"faulty\""), &admin, "invalid",
		 "1 to 1000"},
		{RQ("notice", ",\"machines\":\"n1\",\"kind\":\"faulty\""), &admin, "invalid",
		 "1 to 1000"},
		{RQ("notice", ",\"machines\":[\"n1\"],\"machine\":\"n1\",\"kind\":\"faulty\""),
		 &admin, "invalid", "no \"machine\""},
		{RQ("notice", ",\"machines\":[\"n1\",2],\"kind\":\"faulty\""), &admin, "invalid",
		 "strings"},
		{RQ("notice", ",\"machines\":[\"n1\",\"n\\t2\"],\"kind\":\"faulty\""), &admin,
		 "invalid", "control character"},
		{RQ("notice", ",\"machine\":\"n1\",\"kind\":\"soon\""), &admin, "invalid",
		 "not \"soon\""},
		{RQ("notice", ",\"machine\":\"n1\",\"kind\":\"faulty\",\"at_ms\":-1"), &admin,
		 "invalid", "\"at_ms\""},
		{RQ("notice", ",\"machine\":\"n1\",\"kind\":\"faulty\",\"at_ms\":5,\"in_ms\":5"),
		 &admin, "invalid", "only one"},
		{RQ("notice", ",\"machine\":\"n1\",\"kind\":\"faulty\",\"reason\":\"a\\nb\""),
		 &admin, "invalid", "control character"},
		{RQ("notice", ",\"machine\":\"n\\u001b1\",\"kind\":\"faulty\""), &admin, "invalid",
		 "control character"},
		{RQ("pause", ",\"pool\":\"pool7\""), &admin, "not-found", "\"pool7\""},
		{RQ("resume", ",\"pool\":7"), &admin, "invalid", "\"pool\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = two_pools();
		json_t *r = ask_as(f, rows[i].who, rows[i].request);

		assert_true(json_is_false(json_object_get(r, "ok")));
		assert_string_equal(text(r, "code"), rows[i].code);
		assert_non_null(strstr(text(r, "error"), rows[i].error));
		assert_int_equal(f->e.orders + f->e.pauses, 0);
		assert_string_equal(f->e.notice_text, "");
		json_decref(r);
		stop(f);
	}
}

static void test_notice(void **state)
{
	static const char *const results[] = {"taken", "late", "ignored"};
	struct fixture *f = two_pools();
	const json_t *rows;
	json_t *r;

	(void)state;
	for (int so = ENGINE_NOTICE_TAKEN; so <= ENGINE_NOTICE_IGNORED; so++) {
		f->e.noticed = (enum engine_noticed)so;
		r = ask_as(f, &admin,
			   RQ("notice", ",\"machine\":\"i-7\",\"kind\":\"maintenance\","
					"\"in_ms\":120000,\"reason\":\"kernel\""));
		assert_string_equal(text(r, "result"), results[so]);
		assert_string_equal(text(r, "node"), "n1");
		assert_string_equal(f->e.notice_text, "i-7|kernel|uid 1001, admin");
		assert_int_equal(f->e.notice.kind, PROVIDER_NOTICE_MAINTENANCE);
		assert_true(f->e.notice.at_ms == FAKE_NOW + 120000);
		json_decref(r);
	}
	f->e.noticed = ENGINE_NOTICE_UNKNOWN;
	r = ask_as(f, &root, RQ("notice", ",\"machine\":\"x\",\"kind\":\"faulty\",\"at_ms\":5"));
	assert_string_equal(text(r, "code"), "not-found");
	assert_true(f->e.notice.at_ms == 5);
	json_decref(r);
	f->e.noticed = ENGINE_NOTICE_SEVERAL;
	r = ask_as(f, &root, RQ("notice", ",\"machine\":\"i-7\",\"kind\":\"faulty\""));
	assert_string_equal(text(r, "code"), "invalid");
	assert_string_equal(text(r, "error"), "instances of several providers have the id \"i-7\": "
					      "name the node");
	json_decref(r);
	r = ask(f, RQ("notice", ",\"machines\":[\"i-7\"],\"kind\":\"faulty\""));
	assert_string_equal(text(json_array_get(json_object_get(r, "results"), 0), "result"),
			    "several");
	json_decref(r);
	f->e.noticed = ENGINE_NOTICE_TAKEN;
	r = ask(f, RQ("notice", ",\"machines\":[\"i-1\",\"x\",\"i-2\"],\"kind\":\"faulty\""));
	assert_int_equal(f->e.notices, 3); /* and one commit */
	rows = json_object_get(r, "results");
	assert_int_equal(json_array_size(rows), 3);
	assert_string_equal(text(json_array_get(rows, 0), "result"), "taken");
	assert_string_equal(text(json_array_get(rows, 0), "node"), "n1");
	assert_string_equal(text(json_array_get(rows, 1), "machine"), "x");
	assert_string_equal(text(json_array_get(rows, 1), "result"), "unknown");
	assert_string_equal(text(json_array_get(rows, 2), "machine"), "i-2");
	json_decref(r);
	f->e.broken = true;
	r = ask_as(f, &root, RQ("notice", ",\"machine\":\"x\",\"kind\":\"faulty\""));
	assert_true(json_is_false(json_object_get(r, "ok")));
	assert_true(f->e.notice.at_ms == 0);
	json_decref(r);
	stop(f);
}

/* What people are told of a machine that will be taken away. */
static void test_why_draining(void **state)
{
	static const struct {
		enum provider_notice_kind kind;
		int64_t deadline_ms, force_ms;
		size_t ntaken;
		const char *signal, *why;
	} rows[] = {
		{PROVIDER_NOTICE_RECLAIM, 0, FAKE_NOW, 0, "",
		 "leaving: the provider takes its capacity back; its jobs are requeued or end"},
		{PROVIDER_NOTICE_RECLAIM, 0, FAKE_NOW, 1, "",
		 "leaving: the provider takes its capacity back; its jobs are requeued or end; job "
		 "17 is requeued or ends"},
		{PROVIDER_NOTICE_MAINTENANCE, FAKE_NOW + 120000, FAKE_NOW + 110000, 1, "USR1",
		 "leaving: the provider will stop it for maintenance at 1970-01-12T13:48:40Z; it "
		 "gets no more jobs, and those on it have until 1970-01-12T13:48:30Z; job 17 was "
		 "sent USR1 and is requeued at the latest at 1970-01-12T13:48:30Z"},
		{PROVIDER_NOTICE_REBALANCE, 0, INT64_MAX, 0, "",
		 "leaving: the provider may soon take its capacity back; it gets no more jobs, and "
		 "is removed when those on it have ended"},
		{PROVIDER_NOTICE_REBALANCE, 0, INT64_MAX, 1, "USR1",
		 "leaving: the provider may soon take its capacity back; it gets no more jobs, and "
		 "is removed when those on it have ended; job 17 was sent USR1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = two_pools();
		struct fleet_node *fn = fake_node(&f->e, "n1", 1, NODE_DRAINING);
		struct node n = fn->n;
		json_t *r;

		n.notice = rows[i].kind;
		n.deadline_ms = rows[i].deadline_ms;
		fleet_set(&f->e.fleet, fn, &n);
		f->e.force_ms = rows[i].force_ms;
		f->e.ntaken = rows[i].ntaken;
		f->e.lost = (struct engine_taken){"17", rows[i].signal};
		r = ask_as(f, &admin, RQ("node", ",\"name\":\"n1\""));
		assert_string_equal(text(r, "why"), rows[i].why);
		json_decref(r);
		f->e.ntaken = 9;
		r = ask_as(f, &admin, RQ("node", ",\"name\":\"n1\""));
		assert_non_null(strstr(text(r, "why"), "; and more jobs"));
		json_decref(r);
		stop(f);
	}
}

/* An order that the journal could not take is no answer of "done" (F55). */
static void test_broken(void **state)
{
	static const char *const requests[] = {RQ("drain", ",\"nodes\":\"n1\""), RQ("pause", "")};
	struct fixture *f = two_pools();

	(void)state;
	f->e.broken = true;
	for (size_t i = 0; i < 2; i++) {
		json_t *r = ask_as(f, &root, requests[i]);

		assert_true(json_is_false(json_object_get(r, "ok")));
		assert_string_equal(text(r, "code"), "failed");
		assert_null(json_object_get(r, "changed"));
		json_decref(r);
	}
	stop(f);
}

static void want_pools(const json_t *r, const char *key, const char *want)
{
	char have[64] = "";
	const json_t *list = json_object_get(r, key);

	for (size_t i = 0; i < json_array_size(list); i++)
		(void)snprintf(have + strlen(have), sizeof(have) - strlen(have), "%s ",
			       json_string_value(json_array_get(list, i)));
	assert_string_equal(have, want);
}

static void test_pause(void **state)
{
	static const struct {
		const char *request, *changed, *unchanged;
	} rows[] = {
		{RQ("resume", ",\"pool\":\"pool0\""), "", "pool0 "},
		{RQ("pause", ",\"pool\":\"pool1\""), "pool1 ", ""},
		{RQ("pause", ""), "pool0 ", "pool1 "},
		{RQ("pause", ",\"pool\":\"pool1\""), "", "pool1 "},
		{RQ("resume", ",\"pool\":\"pool0\""), "pool0 ", ""},
		{RQ("resume", ",\"pool\":\"\""), "pool1 ", "pool0 "},
	};
	struct fixture *f = two_pools();
	json_t *r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = ask_as(f, &admin, rows[i].request);
		want_pools(r, "changed", rows[i].changed);
		want_pools(r, "unchanged", rows[i].unchanged);
		assert_string_equal(f->e.order_by, "uid 1001, admin");
		json_decref(r);
	}
	f->e.closed[1] = "its nodes come up wrong"; /* to go on is to forgive */
	r = ask_as(f, &admin, RQ("resume", ""));
	want_pools(r, "changed", "pool1 ");
	want_pools(r, "unchanged", "pool0 ");
	json_decref(r);
	stop(f);
}

/* --- what status says --------------------------------------------------------------------------
 */

static bool has_problem(const json_t *r, const char *want)
{
	const json_t *list = json_object_get(r, "problems");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), want) == 0)
			return true;
	return false;
}

/* slurmctld 22.05 counts GPUs that nobody has: not for a moment, as after each job. */
static void test_what_only_a_restart_of_slurmctld_mends(void **state)
{
	struct fixture *f = two_pools();
	json_t *r;

	(void)state;
	fleet_name(&f->e.fleet, "n1", 0)->held_ms = FAKE_NOW - 119999;
	fleet_name(&f->e.fleet, "n2", 0)->held_ms = FAKE_NOW - 119999;
	r = ask_as(f, &viewer, RQ("status", ""));
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 0);
	json_decref(r);
	fleet_name(&f->e.fleet, "n1", 0)->held_ms = FAKE_NOW - 120000;
	r = ask_as(f, &viewer, RQ("status", ""));
	assert_true(has_problem(
		r,
		"1 node is off and idle (n1), and slurmctld counts GPUs there as used: jobs that "
		"want all of such a node wait for ever. Slurm 22.05 does so when all nodes of a "
		"job fail at once, and only a restart of it helps: \"systemctl restart "
		"slurmctld\""));
	json_decref(r);
	stop(f);
}

static void test_stopped_pools(void **state)
{
	struct fixture *f = two_pools();
	const json_t *pools;
	json_t *r = ask_as(f, &viewer, RQ("status", ""));

	(void)state;
	pools = json_object_get(r, "pools");
	assert_true(json_is_false(json_object_get(json_array_get(pools, 0), "paused")));
	assert_string_equal(text(json_array_get(pools, 0), "blocked"), "");
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 0);
	json_decref(r);

	f->e.paused[0] = true;
	fake_refuse(&f->e, "n1", 0, "pool pool0: paused by an admin");
	fleet_find(&f->e.fleet, "n1")->refused = NODE_BECAUSE_OPERATOR;
	f->e.closed[1] =
		"its nodes come up wrong: m1: no GPU; buys nothing until 2026-01-02T03:04:05Z";
	r = ask_as(f, &viewer, RQ("status", ""));
	pools = json_object_get(r, "pools");
	assert_true(json_is_true(json_object_get(json_array_get(pools, 0), "paused")));
	assert_string_equal(text(json_array_get(pools, 0), "blocked"), "");
	assert_true(json_is_false(json_object_get(json_array_get(pools, 1), "paused")));
	assert_string_equal(text(json_array_get(pools, 1), "blocked"), f->e.closed[1]);
	assert_true(has_problem(r, "pool pool0: paused by an admin; nothing is bought for it until "
				   "\"burstctl resume pool0\""));
	assert_string_equal(text(json_array_get(pools, 0), "paused_by"), "");
	assert_true(has_problem(r, "pool pool0: node n1 was refused 12s ago: paused by an admin; "
				   "next try when Slurm asks again"));
	assert_true(has_problem(
		r, "pool pool1: its nodes come up wrong: m1: no GPU; buys nothing until "
		   "2026-01-02T03:04:05Z; nothing is bought for it"));
	json_decref(r);

	f->e.paused_by = "uid 1000";
	r = ask_as(f, &viewer, RQ("status", ""));
	pools = json_object_get(r, "pools");
	assert_true(has_problem(r, "pool pool0: paused by an admin (uid 1000, since "
				   "1970-01-12T13:46:40Z); nothing is bought for it until "
				   "\"burstctl resume pool0\""));
	assert_string_equal(text(json_array_get(pools, 0), "paused_by"), "uid 1000");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(pools, 0), "paused_ms")),
			 FAKE_NOW);
	assert_string_equal(text(json_array_get(pools, 1), "paused_by"), "");
	json_decref(r);
	stop(f);
}

/* What only an admin can mend is a problem; a place without capacity is none. */
static void test_closed_places(void **state)
{
	struct fixture *f = two_pools();
	json_t *r;

	(void)state;
	f->e.why = "closed";
	r = ask_as(f, &viewer, RQ("status", ""));
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 3);
	assert_true(has_problem(
		r, "provider sim: purchases of 8xh100 north spot fail or are "
		   "throttled, though it answers; not tried until 1970-01-12T13:48:40Z, or "
		   "\"burstctl retry sim\""));
	assert_true(has_problem(r, "provider sim: the quota for 8xh100 west spot is used up; raise "
				   "it; not tried until 1970-01-12T14:01:40Z, or \"burstctl retry "
				   "sim\""));
	assert_true(has_problem(
		r, "provider sim: it denied burstd's requests (credentials, permission or "
		   "funds?); the next purchase tries it"));
	json_decref(r);
	stop(f);
}

/* Errors and warnings are problems; advice is only in the list, which is there when it is known. */
static void test_slurm_conf(void **state)
{
	static struct slurm_report report = {
		.n = 3,
		.by_severity = {1, 1, 1},
		.problems = {{"ReturnToService", SLURM_ERROR, "0", "2", "It stays DOWN."},
			     {"ResumeRate", SLURM_WARNING, "300", "0", "Pieces."},
			     {"AuthInfo", SLURM_ADVICE, "(null)", "cred_expire", "Slow."}}};
	struct fixture *f = two_pools();
	const json_t *list;
	json_t *r = ask_as(f, &viewer, RQ("status", ""));

	(void)state;
	assert_null(json_object_get(r, "slurm_conf"));
	json_decref(r);
	f->e.prereq = &report;
	r = ask_as(f, &viewer, RQ("status", ""));
	list = json_object_get(r, "slurm_conf");
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(text(json_array_get(list, 0), "setting"), "ReturnToService");
	assert_string_equal(text(json_array_get(list, 0), "severity"), "error");
	assert_string_equal(text(json_array_get(list, 0), "found"), "0");
	assert_string_equal(text(json_array_get(list, 0), "wanted"), "2");
	assert_string_equal(text(json_array_get(list, 0), "why"), "It stays DOWN.");
	assert_string_equal(text(json_array_get(list, 2), "severity"), "advice");
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 2);
	assert_true(has_problem(
		r, "slurm.conf (error): ReturnToService is 0, wanted 2: It stays DOWN."));
	assert_true(has_problem(r, "slurm.conf (warning): ResumeRate is 300, wanted 0: Pieces."));
	json_decref(r);
	report.n = 0;
	r = ask_as(f, &viewer, RQ("status", ""));
	assert_true(json_is_array(json_object_get(r, "slurm_conf")));
	json_decref(r);
	stop(f);
}

/* --- why a node goes ---------------------------------------------------------------------------
 */

static const struct {
	enum node_state state;
	enum node_reason reason;
	uint32_t flags;
	uint64_t job;
	const char *told;
	int64_t ago_ms;
	const char *why;
} whys[] = {
	{NODE_WANTED, 0, 0, 17, NULL, 0,
	 "waiting: to be bought from provider sim; bought for job 17"},
	{NODE_CREATING, 0, 0, 17, NULL, 0,
	 "starting: provider sim was asked for the instance; bought for job 17"},
	{NODE_BOOTING, 0, 0, 17, NULL, 0,
	 "starting: instance i-n1-1 exists, its slurmd has not registered yet; bought for "
	 "job 17"},
	{NODE_READY, 0, SLURM_IDLE, 17, NULL, 0,
	 "ready: Slurm can run jobs on it; bought for job 17"},
	/* cancelled */
	{NODE_BOOTING, 0, SLURM_IDLE, 17, "the job it boots for has ended", 1000,
	 "leaving: the job it boots for has ended; Slurm was told to power it down"},
	{NODE_DELETING, NODE_BECAUSE_SUSPENDED, 0, 17, "the job it boots for has ended", 1000,
	 "leaving: the job it boots for has ended; instance i-n1-1 is being deleted"},
	{NODE_GONE, NODE_BECAUSE_SUSPENDED, 0, 17, "the job it boots for has ended", 100000,
	 "off: the job it boots for has ended"},
	/* registered wrong, silent */
	{NODE_GONE, NODE_BECAUSE_SUSPENDED, 0, 0, "its registration is invalid: Low RealMemory",
	 1000, "off: its registration is invalid: Low RealMemory"},
	{NODE_DELETING, NODE_BECAUSE_SUSPENDED, 0, 0, "its slurmd does not answer", 1000,
	 "leaving: its slurmd does not answer; instance i-n1-1 is being deleted"},
	/* ordered */
	{NODE_READY, 0, SLURM_ALLOCATED | SLURM_DRAIN, 17, "drained by an admin", 9000000,
	 "leaving: drained by an admin; Slurm powers it down when its jobs are done"},
	{NODE_READY, 0, SLURM_ALLOCATED, 17, "terminated by an admin", 1000,
	 "leaving: terminated by an admin; Slurm was told to power it down"},
	{NODE_READY, 0, SLURM_ALLOCATED | SLURM_COMPLETING | SLURM_POWER_DOWN, 17,
	 "terminated by an admin", 1000,
	 "leaving: terminated by an admin; Slurm powers it down now, and its jobs are "
	 "requeued or end"},
	{NODE_READY, 0, SLURM_IDLE | SLURM_POWER_DOWN, 17, "terminated by an admin", 1000000,
	 "leaving: terminated by an admin; Slurm powers it down now"},
	{NODE_GONE, NODE_BECAUSE_SUSPENDED, 0, 0, "terminated by an admin", 1000,
	 "off: terminated by an admin"},
	/* somebody undrained it since */
	{NODE_READY, 0, SLURM_IDLE, 17, "drained by an admin", 100000,
	 "ready: Slurm can run jobs on it; bought for job 17"},
	/* it ended otherwise, and what was told was about an earlier instance */
	{NODE_GONE, NODE_BECAUSE_ENDED, 0, 0, "terminated by an admin", 1000,
	 "off: its machine ended"},
	{NODE_GONE, NODE_BECAUSE_SUSPENDED, 0, 0, "terminated by an admin", 9000000,
	 "off: Slurm powered it down"},
};

static void test_why(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(whys) / sizeof(whys[0]); i++) {
		struct fixture *f = two_pools();
		struct fleet_node *fn = fake_node(&f->e, "n1", 1, whys[i].state);
		struct node n = fn->n;
		json_t *r;

		n.reason = whys[i].reason;
		n.job = whys[i].job;
		fn->name->flags = whys[i].flags;
		if (whys[i].told != NULL)
			fleet_tell(fn->name, whys[i].told, FAKE_NOW - whys[i].ago_ms);
		if (whys[i].told != NULL && strncmp(whys[i].told, "drained", 7) != 0)
			fn->name->forced_ms = FAKE_NOW - whys[i].ago_ms;
		if (whys[i].state == NODE_READY)
			n.wanted_ms = FAKE_NOW - 10000000;
		fleet_set(&f->e.fleet, fn, &n);
		r = ask_as(f, &viewer, RQ("node", ",\"name\":\"n1\""));
		assert_memory_equal(text(r, "why"), whys[i].why, strlen(whys[i].why));
		/* The note in a row of nodes: there if the sentence has it. */
		assert_string_equal(text(r, "told"),
				    whys[i].told != NULL &&
						    strstr(whys[i].why, whys[i].told) != NULL
					    ? whys[i].told
					    : "");
		assert_int_equal(json_integer_value(json_object_get(r, "job")),
				 whys[i].state == NODE_GONE ? 0 : (json_int_t)whys[i].job);
		assert_int_equal(
			json_integer_value(json_object_get(
				json_array_get(json_object_get(r, "generations"), 0), "job")),
			whys[i].job);
		json_decref(r);
		stop(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_what_only_a_restart_of_slurmctld_mends),
		cmocka_unit_test(test_slurm_conf),
		cmocka_unit_test(test_stopped_pools),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_notice),
		cmocka_unit_test(test_why_draining),
		cmocka_unit_test(test_closed_places),
	};

	return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
