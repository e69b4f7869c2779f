/* test_ctl_show.c - the control socket's requests that only look: what they show, and in which
 * words, on an engine that is as the test says. */
#include "ctl_ask.h"

#include <inttypes.h>

#include "base/fmt.h"
#include "buy/buy_api.h"

static void fake_events(struct journal *j, int64_t n, const char *detail)
{
	for (j->last = 0; j->last < n; j->last++) {
		(void)snprintf(j->events[j->last].node, sizeof(j->events[0].node), "n%d",
			       (int)(j->last % 4) + 1);
		j->events[j->last].detail = detail;
	}
}

static void test_status(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r, *pool;

	(void)state;
	(void)fake_node(&f->e, "n1", 1, NODE_READY);
	(void)fake_node(&f->e, "n2", 1, NODE_READY);
	(void)fake_node(&f->e, "n3", 1, NODE_BOOTING);
	(void)fake_node(&f->e, "n4", 1, NODE_GONE);
	f->e.fleet.pools[0].spent_nano = 3 * FMT_NANO;
	f->e.warm[0] = (struct engine_warm){.wanted = 3, .up = 2, .coming = 1, .paid = 4};
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"status\"}");
	assert_string_equal(text(r, "cluster"), "falcon");
	assert_true(strlen(text(r, "version")) > 0);
	assert_string_equal(text(r, "currency"), "USD");
	assert_int_equal(number(r, "now_ms"), FAKE_NOW);
	assert_int_equal(number(r, "uptime_ms"), 3600000);
	assert_int_equal(number(json_object_get(r, "slurm"), "ok_ms"), FAKE_NOW - 1000);
	assert_string_equal(text(json_array_get(json_object_get(r, "providers"), 0), "name"),
			    "sim");
	pool = json_array_get(json_object_get(r, "pools"), 0);
	assert_string_equal(text(pool, "name"), "pool0");
	assert_int_equal(number(pool, "nodes"), 3); /* gone does not count */
	assert_int_equal(number(pool, "names"), 4);
	assert_int_equal(number(pool, "max_nodes"), 4);
	assert_int_equal(number(pool, "warm_wanted"), 3);
	assert_int_equal(number(pool, "warm"), 2);
	assert_int_equal(number(pool, "warm_coming"), 1);
	assert_null(json_object_get(pool, "paid")); /* it has no quantum */
	assert_string_equal(text(pool, "rate"), "88.56");
	assert_string_equal(text(pool, "max_rate"), "100.00");
	assert_string_equal(text(pool, "spent"), "3.000000007");
	assert_int_equal(json_object_size(json_object_get(pool, "states")), 2);
	assert_int_equal(number(json_object_get(pool, "states"), "ready"), 2);
	assert_int_equal(number(json_object_get(pool, "states"), "booting"), 1);
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 0);
	json_decref(r);
	stop(f);
}

/* What spool_check() says of the directory. */
static void test_spool(void **state)
{
	static const struct {
		const char *error, *note;
		const char *want_error, *want_note;
	} rows[] = {
		{NULL, NULL, "", ""},
		{NULL, "is in memory", "", "is in memory"},
		{"/x: No such file", NULL, "/x: No such file", ""},
	};
	struct fixture *f = start("n1");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *r, *spool;

		f->e.spool_error = rows[i].error;
		f->e.spool_note = rows[i].note;
		r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"status\"}");
		spool = json_object_get(r, "spool");
		assert_string_equal(text(spool, "error"), rows[i].want_error);
		assert_string_equal(text(spool, "note"), rows[i].want_note);
		assert_int_equal(json_array_size(json_object_get(r, "problems")),
				 rows[i].error != NULL);
		json_decref(r);
	}
	stop(f);
}

/* A pool that may buy nothing, and a list of nodes that nobody would read. */
static void test_limits(void **state)
{
	struct fixture *f = start("n[1-400]");
	const char *problem;
	json_t *r;

	(void)state;
	for (int i = 1; i <= 399; i += 2) {
		char name[16];

		(void)snprintf(name, sizeof(name), "n%d", i);
		fake_refuse(&f->e, name, 0, "none in east");
	}
	for (int row = 0; row < 2; row++) {
		f->e.conf->pools[0].max_nodes = row == 0 ? 4 : 0;
		f->e.conf->pools[0].max_rate_nano_h = row == 0 ? 0 : FMT_NANO;
		r = ask(f, "{\"v\":1,\"op\":\"status\"}");
		assert_int_equal(json_array_size(json_object_get(r, "problems")), 2);
		problem = json_string_value(json_array_get(json_object_get(r, "problems"), 0));
		assert_string_equal(problem,
				    row == 0 ? "pool pool0: max_rate is 0; nothing that costs is "
					       "bought for it until it is raised"
					     : "pool pool0: max_nodes is 0; nothing is bought for "
					       "it until it is raised");
		problem = json_string_value(json_array_get(json_object_get(r, "problems"), 1));
		assert_non_null(strstr(
			problem,
			"pool pool0: 200 nodes were refused, the last 12s ago: the provider"));
		json_decref(r);
	}
	stop(f);
}

static void test_nodes(void **state)
{
	struct fixture *f = start("n[1-3]");
	json_t *r, *n;

	(void)state;
	(void)fake_node(&f->e, "n1", 1, NODE_DELETING);
	(void)fake_node(&f->e, "n1", 2, NODE_READY);
	fake_refuse(&f->e, "n2", 0, "none");
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"nodes\"}");
	assert_int_equal(json_array_size(json_object_get(r, "nodes")), 3);
	assert_string_equal(text(r, "next"), "");
	n = json_array_get(json_object_get(r, "nodes"), 0);
	assert_string_equal(text(n, "name"), "n1");
	assert_int_equal(number(n, "generation"), 2);
	assert_string_equal(text(n, "state"), "ready");
	assert_string_equal(text(n, "pool"), "pool0");
	assert_string_equal(text(n, "instance"), "i-n1-2");
	assert_string_equal(text(n, "address"), "10.0.0.2");
	assert_int_equal(number(n, "since_ms"), FAKE_NOW - 60000);
	assert_string_equal(text(n, "rate"), "29.52");
	assert_string_equal(text(n, "reason"), "");
	assert_string_equal(text(n, "reason_text"), "");
	assert_string_equal(text(n, "slurm"), "IDLE+CLOUD");
	assert_int_equal(number(n, "older"), 1);
	n = json_array_get(json_object_get(r, "nodes"), 1);
	assert_string_equal(text(n, "refused"), "capacity");
	n = json_array_get(json_object_get(r, "nodes"), 2); /* never heard of */
	assert_string_equal(text(n, "name"), "n3");
	assert_string_equal(text(n, "state"), "none");
	assert_string_equal(text(n, "refused"), "");
	assert_string_equal(text(n, "rate"), "0.00");
	assert_int_equal(number(n, "since_ms"), 0);
	json_decref(r);
	stop(f);
}

/* Follow "next" and count: every name once, in order, however the pages are cut. */
static size_t walk(struct fixture *f, unsigned limit, size_t *pages)
{
	char last[64] = "", request[160];
	size_t n = 0;

	for (*pages = 0;; ++*pages) {
		json_t *r;

		(void)snprintf(request, sizeof(request),
			       "{\"v\":1,\"op\":\"nodes\",\"after\":\"%s\",\"limit\":%u}", last,
			       limit);
		r = ask(f, request);
		for (size_t i = 0; i < json_array_size(json_object_get(r, "nodes")); i++) {
			const json_t *node = json_array_get(json_object_get(r, "nodes"), i);

			assert_true(strverscmp(text(node, "name"), last) > 0);
			(void)snprintf(last, sizeof(last), "%s", text(node, "name"));
			n++;
		}
		if (text(r, "next")[0] == '\0') {
			json_decref(r);
			return n;
		}
		assert_string_equal(text(r, "next"), last);
		json_decref(r);
	}
}

static void test_nodes_paged(void **state)
{
	struct fixture *f = start("n[1-9999]");
	size_t pages;

	(void)state;
	/* Known to the journal only: its pool lost the name. */
	(void)fake_node(&f->e, "m1", 1, NODE_DELETING);
	(void)fake_node(&f->e, "n5", 1, NODE_READY);
	assert_int_equal(walk(f, 0, &pages), 10000);
	assert_true(pages >= 4);
	assert_int_equal(walk(f, 1999, &pages), 10000);
	assert_int_equal(walk(f, 2000, &pages), 10000);
	assert_int_equal(pages, 4); /* an exact fit has no empty page after it */
	stop(f);
}

/* Who may only look gets pages that are soon made, whatever he asks for. */
static void test_nodes_of_a_viewer(void **state)
{
	struct fixture *f = start("n[1-2000]");
	json_t *r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		r = ask_as(f, i == 0 ? &viewer : &finance,
			   i == 0 ? "{\"v\":1,\"op\":\"nodes\"}"
				  : "{\"v\":1,\"op\":\"nodes\",\"limit\":2000}");
		assert_int_equal(json_array_size(json_object_get(r, "nodes")),
				 CTL_API_VIEWER_NODES);
		assert_string_equal(text(r, "next"), "n250");
		json_decref(r);
	}
	r = ask_as(f, &operator, "{\"v\":1,\"op\":\"nodes\",\"after\":\"n0300\"}");
	assert_true(json_array_size(json_object_get(r, "nodes")) > CTL_API_VIEWER_NODES);
	json_decref(r);
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"nodes\",\"after\":\"n1998\",\"limit\":1}");
	assert_int_equal(json_array_size(json_object_get(r, "nodes")), 1);
	assert_string_equal(text(r, "next"), "n1999");
	json_decref(r);
	/* a reload brings one more */
	(void)fleet_name(&f->e.fleet, "n1998a", 0);
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"nodes\",\"after\":\"n1998\"}");
	assert_int_equal(json_array_size(json_object_get(r, "nodes")), 3);
	assert_string_equal(text(r, "next"), "");
	json_decref(r);
	stop(f);
}

/* A row of over 500 bytes: fewer than the limit fit, and the answer stays below its cap. */
static void test_nodes_cap(void **state)
{
	struct fixture *f = start("n[1-2000]");
	struct fleet_node *fn;
	struct node n;
	size_t pages;

	(void)state;
	for (int i = 1; i <= 2000; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "n%d", i);
		fn = fake_node(&f->e, name, 1, NODE_READY);
		n = fn->n;
		memset(n.instance, '"', sizeof(n.instance) - 1);
		memset(n.addr, 1, sizeof(n.addr) - 1);
		fleet_set(&f->e.fleet, fn, &n);
	}
	assert_int_equal(walk(f, 0, &pages), 2000);
	assert_true(pages >= 1);
	stop(f);
}

static void test_node(void **state)
{
	struct fixture *f = start("n[1-4]");
	struct fleet_node *fn;
	struct node n;
	json_t *r, *g;

	(void)state;
	fn = fake_node(&f->e, "n1", 1, NODE_GONE);
	n = fn->n;
	n.end_ms = n.start_ms + 1800000;
	n.reason = NODE_BECAUSE_INIT;
	fleet_set(&f->e.fleet, fn, &n);
	fleet_because(fn, NODE_BECAUSE_BREACH, "of another reason");
	fleet_because(fn, NODE_BECAUSE_INIT, "gpu: 7 GPUs");
	fn = fake_node(&f->e, "n1", 2, NODE_READY);
	fn->n.end_ms = fn->n.start_ms + 1800000; /* it is there again, and costs */
	fake_events(&f->j, 3000, "x");
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_string_equal(text(r, "why"), "ready: Slurm can run jobs on it");
	assert_string_equal(text(r, "state"), "ready");
	assert_int_equal(json_array_size(json_object_get(r, "generations")), 2);
	g = json_array_get(json_object_get(r, "generations"), 0);
	assert_int_equal(number(g, "generation"), 2);
	assert_string_equal(text(g, "cost"), "29.52"); /* an hour until now */
	assert_int_equal(number(g, "end_ms"), 0);
	g = json_array_get(json_object_get(r, "generations"), 1);
	assert_string_equal(text(g, "cost"), "14.76"); /* half an hour until its end */
	assert_string_equal(text(g, "reason"), "boot-failed");
	assert_string_equal(text(g, "reason_text"), "gpu: 7 GPUs");
	assert_int_equal(json_array_size(json_object_get(r, "events")), CTL_API_NODE_EVENTS);
	/* The last ones of this node: every fourth, the newest at the end. */
	assert_int_equal(number(json_array_get(json_object_get(r, "events"), 9), "seq"), 2997);
	assert_int_equal(number(json_array_get(json_object_get(r, "events"), 0), "seq"), 2961);
	json_decref(r);
	stop(f);
}

/* Only for those who may know what a script printed. */
static void test_the_console_of_a_node_that_did_not_boot(void **state)
{
	static const char rq[] = "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}";
	struct fixture *f = start("n[1-4]");
	json_t *r, *c;

	(void)state;
	r = ask(f, rq);
	assert_null(json_object_get(r, "console"));
	json_decref(r);
	f->e.console = "Kernel panic\n";
	r = ask(f, rq);
	c = json_object_get(r, "console");
	assert_string_equal(text(c, "text"), "Kernel panic\n");
	assert_string_equal(text(c, "instance"), "i-1");
	assert_int_equal(number(c, "generation"), 1);
	assert_true(number(c, "at_ms") > 0);
	json_decref(r);
	r = ask_as(f, &viewer, rq);
	assert_null(json_object_get(r, "console"));
	json_decref(r);
	stop(f);
}

static void test_why_it_waits_for_its_token(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r;

	(void)state;
	(void)fake_node(&f->e, "n1", 1, NODE_WANTED);
	f->e.token_wait = "Vault is sealed";
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_non_null(strstr(json_string_value(json_object_get(r, "why")),
			       "to be bought from provider sim, once there is a token for its keys "
			       "(Vault is sealed)"));
	json_decref(r);
	stop(f);
}

static void test_why(void **state)
{
	static const struct {
		enum node_state state;
		int64_t wake_ms;
		const char *why;
	} rows[] = {
		{NODE_WANTED, INT64_MAX, "waiting: to be bought from provider sim"},
		{NODE_WANTED, FAKE_NOW + 4000,
		 "waiting: to be bought from provider sim, 2 tries were put off; next try in 4s"},
		{NODE_CREATING, INT64_MAX, "starting: provider sim was asked for the instance"},
		{NODE_INDOUBT, INT64_MAX, "in doubt: the answer to the create was lost"},
		{NODE_BOOTING, FAKE_NOW + 90000,
		 "starting: instance i-n1-1 exists, its slurmd has not registered yet; given up in "
		 "1m30s"},
		{NODE_READY, INT64_MAX, "ready: "},
		{NODE_DRAINING, INT64_MAX, "leaving: the provider takes its capacity back"},
		{NODE_DELETING, INT64_MAX,
		 "leaving: Slurm powered it down; instance i-n1-1 is being deleted"},
		{NODE_QUARANTINED, INT64_MAX,
		 "stuck: the provider refuses to delete instance i-n1-1"},
		{NODE_GONE, INT64_MAX, "off: Slurm powered it down"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = start("n[1-4]");
		struct fleet_node *fn;
		struct node n;
		json_t *r;

		fn = fake_node(&f->e, "n1", 1, rows[i].state);
		n = fn->n;
		n.wake_ms = rows[i].wake_ms;
		n.attempts = n.wake_ms == INT64_MAX ? 0 : 2;
		if (n.state == NODE_DELETING || n.state == NODE_GONE)
			n.reason = NODE_BECAUSE_SUSPENDED;
		fleet_set(&f->e.fleet, fn, &n);
		r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
		assert_memory_equal(text(r, "why"), rows[i].why, strlen(rows[i].why));
		json_decref(r);
		stop(f);
	}
}

static void test_why_off(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r;

	(void)state;
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_string_equal(text(r, "why"), "off: Slurm has not asked for it");
	assert_string_equal(text(r, "state"), "none");
	json_decref(r);
	(void)fake_node(&f->e, "n2", 1, NODE_GONE);
	/* A message cut in the middle of a character, and one with an escape sequence (I25). */
	fake_refuse(&f->e, "n2", 0, "\033[31mkein Platz f\xc3");
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n2\"}");
	assert_string_equal(text(r, "why"),
			    "refused 12s ago: pool pool0: the provider has no capacity "
			    "(\033[31mkein Platz f\xef\xbf\xbd); next try when Slurm asks again");
	json_decref(r);
	/* The provider's words say no more than ours. */
	(void)fake_node(&f->e, "n4", 1, NODE_GONE);
	fake_refuse(&f->e, "n4", 0, "sim: the provider has no capacity");
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n4\"}");
	assert_string_equal(text(r, "why"),
			    "refused 12s ago: pool pool0: the provider has no capacity; next try "
			    "when Slurm asks again");
	json_decref(r);
	/* Asked for again, and not bought yet: n3 never was, n2 ended before its refusal. */
	fake_refuse(&f->e, "n3", 0, "limit of pool pool0");
	fleet_find(&f->e.fleet, "n3")->refused = NODE_BECAUSE_NONE;
	fleet_find(&f->e.fleet, "n2")->refused = NODE_BECAUSE_NONE;
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n3\"}");
	assert_string_equal(text(r, "why"), "refused 12s ago: pool pool0: limit of pool pool0");
	json_decref(r);
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n2\"}");
	assert_memory_equal(text(r, "why"), "refused 12s ago: pool pool0: ", 29);
	json_decref(r);
	/* Bought after it, and over since: that is the newer story. */
	fleet_find(&f->e.fleet, "n2")->refused_ms = FAKE_NOW - 60001;
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n2\"}");
	assert_string_equal(text(r, "why"), "off: its last instance is gone");
	json_decref(r);
	stop(f);
}

static void check_events(struct fixture *f, const char *request, int64_t first, int64_t last_shown,
			 int64_t last, bool more)
{
	json_t *r = ask(f, request), *events = json_object_get(r, "events");
	size_t n = json_array_size(events);

	if (first == 0) {
		assert_int_equal(n, 0);
	} else {
		assert_true(n > 0);
		assert_int_equal(number(json_array_get(events, 0), "seq"), first);
		assert_int_equal(number(json_array_get(events, n - 1), "seq"), last_shown);
	}
	assert_int_equal(number(r, "last"), last);
	assert_int_equal(json_is_true(json_object_get(r, "more")), more);
	json_decref(r);
}

static void check_stranger(struct fixture *f, const char *request)
{
	json_t *r = ask_as(f, &viewer, request);

	assert_string_equal(text(r, "code"), "not-found");
	assert_string_equal(text(r, "error"),
			    "no pool names a node \"x9\"; burstd touches no other");
	json_decref(r);
}

static void test_events(void **state)
{
	struct fixture *f = start("n[1-7]");

	(void)state;
	check_events(f, "{\"v\":1,\"op\":\"events\"}", 0, 0, 0, false);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"tail\":5}", 0, 0, 0, false);
	fake_events(&f->j, 5000, "x");
	check_events(f, "{\"v\":1,\"op\":\"events\"}", 1, 1000, 1000, true);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"since\":4900}", 4901, 5000, 5000, false);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"since\":4000}", 4001, 5000, 5000, false);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"since\":5000}", 0, 0, 5000, false);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"since\":10,\"limit\":3}", 11, 13, 13, true);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"tail\":20}", 4981, 5000, 5000, false);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"tail\":0}", 0, 0, 5000, false);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"node\":\"n2\",\"tail\":3}", 4990, 4998, 5000,
		     false);
	/* More than its first look back holds. */
	check_events(f, "{\"v\":1,\"op\":\"events\",\"node\":\"n2\",\"tail\":500}", 3002, 4998,
		     5000, false);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"node\":\"n2\",\"since\":4000}", 4002, 4998,
		     5000, false);
	/* Of this one there is none; nor of a node that burstd does not know, and that is said. */
	check_events(f, "{\"v\":1,\"op\":\"events\",\"node\":\"n7\",\"tail\":3}", 0, 0, 5000,
		     false);
	check_stranger(f, "{\"v\":1,\"op\":\"events\",\"node\":\"x9\",\"tail\":3}");
	check_stranger(f, "{\"v\":1,\"op\":\"events\",\"node\":\"x9\",\"since\":0}");
	check_stranger(f, "{\"v\":1,\"op\":\"events\",\"node\":\"x9\",\"since\":0,\"wait\":true}");
	/* A node that a pool had once. */
	(void)snprintf(f->j.events[10].node, sizeof(f->j.events[10].node), "old1");
	check_events(f, "{\"v\":1,\"op\":\"events\",\"node\":\"old1\",\"tail\":3}", 11, 11, 5000,
		     false);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"node\":\"old1\",\"since\":20}", 0, 0, 5000,
		     false);
	/* Our number is beyond the end: the journal was lost.  Start again from its end. */
	check_events(f, "{\"v\":1,\"op\":\"events\",\"since\":9000}", 0, 0, 5000, false);
	stop(f);
}

/* Of a pool: its nodes' and its own; from a time on: found by halves, also in front of all. */
static void test_events_of_a_pool_and_from_a_time_on(void **state)
{
	static const char *const lists[] = {"n[1-2]", "n[3-4]"};
	struct fixture *f = start_pools(lists, 2);
	char request[120];
	json_t *r;
	static const struct {
		int64_t from, first;
	} rows[] = {{1, 1},
		    {FAKE_NOW + 1, 1},
		    {FAKE_NOW + 2, 2},
		    {FAKE_NOW + 2499, 2499},
		    {FAKE_NOW + 3000, 3000},
		    {FAKE_NOW + 3001, 0}};

	(void)state;
	fake_events(&f->j, 3000, "x"); /* of n1, n2, n3, n4, n1 ... */
	f->j.events[9].node[0] = '\0';
	f->j.events[9].detail = "pool pool1: its machines come up wrong";
	f->j.events[8].node[0] = '\0';
	f->j.events[8].detail = "pool pool10, x";
	check_events(f, "{\"v\":1,\"op\":\"events\",\"pool\":\"pool1\",\"since\":8}", 10, 1008,
		     1008, true);
	check_events(f, "{\"v\":1,\"op\":\"events\",\"pool\":\"pool1\",\"tail\":2}", 2999, 3000,
		     3000, false);
	/* Farther back than it looks at first. */
	check_events(f, "{\"v\":1,\"op\":\"events\",\"pool\":\"pool1\",\"tail\":900}", 1203, 3000,
		     3000, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t last = rows[i].first == 0 ? 3000 : rows[i].first;

		(void)snprintf(request, sizeof(request),
			       "{\"v\":1,\"op\":\"events\",\"since_ms\":%" PRId64 ",\"limit\":1}",
			       rows[i].from);
		check_events(f, request, rows[i].first, rows[i].first, last, last < 3000);
	}
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"events\",\"pool\":\"pool7\"}");
	assert_string_equal(text(r, "code"), "not-found");
	json_decref(r);
	stop(f);
}

static void test_events_cap(void **state)
{
	struct fixture *f = start("n[1-4]");
	char *detail = mem_zalloc(10001);
	int64_t since = 0, seen = 0;
	bool more = true;

	(void)state;
	memset(detail, 'd', 10000);
	fake_events(&f->j, 300, detail);
	for (int page = 0; more; page++) {
		char request[100];
		json_t *r;

		(void)snprintf(request, sizeof(request), "{\"v\":1,\"op\":\"events\",\"since\":%d}",
			       (int)since);
		r = ask(f, request);
		assert_true(number(r, "last") > since);
		since = number(r, "last");
		seen += (int64_t)json_array_size(json_object_get(r, "events"));
		more = json_is_true(json_object_get(r, "more"));
		json_decref(r);
		assert_true(page < 10);
	}
	assert_int_equal(seen, 300);
	f->j.fail = 1;
	{
		json_t *r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"events\"}");

		assert_string_equal(text(r, "code"), "failed");
		assert_string_equal(text(r, "error"), "journal: disk I/O error");
		json_decref(r);
	}
	free(detail);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_spool),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_nodes_paged),
		cmocka_unit_test(test_nodes_of_a_viewer),
		cmocka_unit_test(test_nodes_cap),
		cmocka_unit_test(test_node),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_the_console_of_a_node_that_did_not_boot),
		cmocka_unit_test(test_why_it_waits_for_its_token),
		cmocka_unit_test(test_why_off),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_events_of_a_pool_and_from_a_time_on),
		cmocka_unit_test(test_events_cap),
	};

	return cmocka_run_group_tests_name("ctl_show", tests, NULL, NULL);
}
