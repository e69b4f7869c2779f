/* test_topology.c - where machines that are up stand: each is asked about once, many together, and
 * nothing waits for it; what a fabric promises is compared with that, and told once.
 *
 * On a bare struct engine: the cloud, the clock and the fabrics are the test's. */
#include "cloud/cloud.h"
#include "core/unit.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

enum { ROWS_MAX = 16 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_provider providers[2];
	struct conf_pool pools[2];
	struct cloud clouds[2];
	bool busy, unfabriced; /* no slot; no fabrics */
	bool doubtful;         /* a denial is the session's fault */
	char ids[400];         /* of the question on the wire */
	request_fn fn;
	void *ctx;
	struct cloud *to;
	unsigned sent;
	char events[1200];
	struct provider_path paths[ROWS_MAX];
	size_t npaths;
	int64_t again_ms; /* that the provider asks for */
} F;

bool cloud_ready(struct cloud *c, enum provider_op_kind kind)
{
	(void)c;
	assert_int_equal(kind, PROVIDER_TOPOLOGY);
	return !F.busy;
}

bool session_doubt(struct cloud *c, int64_t sent_ms)
{
	(void)c;
	assert_true(sent_ms <= W.now);
	return F.doubtful;
}

void cloud_send(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx)
{
	assert_int_equal(op->kind, PROVIDER_TOPOLOGY);
	assert_null(F.ctx); /* one at a time */
	F.ids[0] = '\0';
	for (size_t i = 0; i < op->u.topology.nids; i++)
		add(F.ids, sizeof(F.ids), i > 0 ? " " : "", op->u.topology.ids[i], "");
	F.to = c;
	F.fn = fn;
	F.ctx = ctx;
	F.sent++;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	assert_string_equal(node, "");
	assert_int_equal(gen, 0);
	add(F.events, sizeof(F.events), type, ": ", detail);
	add(F.events, sizeof(F.events), "\n", "", "");
}

/* The first two letters of its machine's id: "f1-3" is in the fabric f1. */
const char *engine_fabric(const struct engine *e, const struct node *n,
			  char out[PROVIDER_WORD_MAX + 1])
{
	(void)e;
	(void)snprintf(out, PROVIDER_WORD_MAX + 1, "%.2s", F.unfabriced ? "" : n->instance);
	return out;
}

uint32_t unit_by(const struct conf_pool *p, const struct conf_offer *o, const char *node)
{
	(void)p;
	(void)o;
	return node[0] == 'u' ? 7 : 0;
}

const struct conf_offer *conf_rung_named(const struct conf_pool *p, const char *name)
{
	(void)p;
	(void)name;
	return NULL;
}

static char ec2[] = "ec2", lab[] = "lab", h100[] = "h100", a100[] = "a100";

static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN};
	F = (struct fix){.sent = 0};
	bare_state(&F.e);
	F.providers[0] = (struct conf_provider){.name = ec2};
	F.providers[1] = (struct conf_provider){.name = lab};
	F.pools[0] = (struct conf_pool){.name = h100};
	F.pools[1] = (struct conf_pool){.name = a100, .fabric_hops = 1};
	F.conf = (struct conf){
		.providers = F.providers, .nproviders = 2, .pools = F.pools, .npools = 2};
	F.e.conf = &F.conf;
	F.e.cloud->all = F.clouds;
	F.clouds[0] = (struct cloud){.e = &F.e,
				     .conf = &F.providers[0],
				     .caps = {.flags = PROVIDER_PATHS, .paths_max = 4}};
	F.clouds[1] = (struct cloud){.e = &F.e, .conf = &F.providers[1], .caps = {.paths_max = 4}};
	fleet_init(&F.e.fleet, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	topology_part.at[PART_FREE](&F.e);
	free(F.ctx);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* A machine that has just come up. */
static struct fleet_node *up(const char *node, const char *instance, uint32_t pool, uint32_t cloud)
{
	struct fleet_node *fn;
	struct node n, was;

	(void)fleet_name(&F.e.fleet, node, pool);
	node_init(&n, node, 3, BEGAN);
	(void)snprintf(n.instance, sizeof(n.instance), "%s", instance);
	n.pool = pool;
	n.cloud = cloud;
	n.state = NODE_READY;
	was = n;
	was.state = NODE_BOOTING;
	fn = fleet_add(&F.e.fleet, &n);
	topology_part.row_durable(&F.e, fn, &was);
	return fn;
}

/* u2 with i-2, and so on. */
static void some_up(int from, int to)
{
	char node[12], id[12];

	for (int i = from; i <= to; i++) {
		(void)snprintf(node, sizeof(node), "u%d", i);
		(void)snprintf(id, sizeof(id), "i-%d", i);
		(void)up(node, id, 0, 0);
	}
}

/* It is in another state now. */
static void move(struct fleet_node *fn, enum node_state to)
{
	struct node was = fn->n, next = fn->n;

	next.state = to;
	fleet_set(&F.e.fleet, fn, &next);
	topology_part.row_durable(&F.e, fn, &was);
}

/* It has another machine now. */
static void replace(struct fleet_node *fn, const char *instance)
{
	struct node was = fn->n, next = fn->n;

	(void)snprintf(next.instance, sizeof(next.instance), "%s", instance);
	fleet_set(&F.e.fleet, fn, &next);
	topology_part.row_durable(&F.e, fn, &was);
}

static void run(int64_t later_ms)
{
	W.now += later_ms;
	topology_part.at[PART_RUN](&F.e);
	topology_part.at[PART_SEND](&F.e);
}

static void at(const char *id, const char *path)
{
	struct provider_path *p = &F.paths[F.npaths++];

	(void)snprintf(p->id, sizeof(p->id), "%s", id);
	(void)snprintf(p->path, sizeof(p->path), "%s", path);
}

static void answer(enum provider_code code, const char *message)
{
	struct provider_result r = {
		.code = code, .paths = F.paths, .npaths = F.npaths, .retry_after_ms = F.again_ms};
	void *ctx = F.ctx;

	assert_non_null(ctx);
	(void)snprintf(r.message, sizeof(r.message), "%s", message);
	F.ctx = NULL;
	F.fn(F.to, ctx, &r);
	free(ctx);
	F.npaths = 0;
}

/* --- the question ------------------------------------------------------------------------------
 */

static void test_each_machine_is_asked_about_once(void **state)
{
	struct fleet_node *a = up("u1", "i-1", 0, 0), *b = up("u2", "i-2", 0, 0), *c;

	(void)state;
	run(0);
	assert_string_equal(F.ids, "i-1 i-2");
	run(1);
	run(60000);
	assert_int_equal(F.sent, 1); /* an answer is still to come */
	assert_null(a->path);
	at("i-2", "z/b");
	at("i-9", "z/c"); /* nobody asked */
	answer(PROVIDER_OK, "");
	assert_string_equal(b->path, "z/b");
	assert_string_equal(a->path, ""); /* and it will not say so later */
	run(0);
	c = up("u3", "i-3", 0, 0);
	assert_true(topology_part.next_ms(&F.e) == W.now + 5000);
	run(4999);
	assert_int_equal(F.sent, 1);
	run(1);
	assert_string_equal(F.ids, "i-3");
	at("i-3", "z/b");
	answer(PROVIDER_OK, "");
	assert_string_equal(c->path, "z/b");
	run(3600000);
	move(a, NODE_DRAINING);
	move(a, NODE_READY);
	run(3600000);
	assert_int_equal(F.sent, 2);
	assert_true(topology_part.next_ms(&F.e) == INT64_MAX);
}

/* Only those of a provider that says so, that run, and no more than it takes. */
static void test_who_is_asked_about(void **state)
{
	struct fleet_node *boots = up("u0", "i-0", 0, 0);

	(void)state;
	move(boots, NODE_BOOTING);
	(void)up("x1", "lab-1", 0, 1);
	(void)up("u1", "", 0, 0);
	some_up(2, 7);
	run(0);
	assert_string_equal(F.ids, "i-2 i-3 i-4 i-5");
	answer(PROVIDER_OK, "");
	run(5000);
	assert_string_equal(F.ids, "i-6 i-7");
	answer(PROVIDER_OK, "");
	run(5000);
	assert_int_equal(F.sent, 2);
}

/* Rows of the journal come without an event. */
static void test_after_a_start_all_are_asked_about(void **state)
{
	struct fleet_node *fn = up("u1", "i-1", 0, 0);

	(void)state;
	F.clouds[0].paths_due = false;
	run(0);
	assert_int_equal(F.sent, 0);
	topology_part.at[PART_START](&F.e);
	run(0);
	assert_string_equal(F.ids, "i-1");
	answer(PROVIDER_OK, "");
	assert_string_equal(fn->path, "");
}

static void test_it_waits_for_a_slot_and_for_a_provider_that_is_on(void **state)
{
	(void)state;
	(void)up("u1", "i-1", 0, 0);
	F.busy = true;
	run(0);
	assert_int_equal(F.sent, 0);
	F.busy = false;
	(void)snprintf(F.clouds[0].off, sizeof(F.clouds[0].off), "no key");
	run(0);
	assert_int_equal(F.sent, 0);
	assert_true(topology_part.next_ms(&F.e) == INT64_MAX);
	F.clouds[0].off[0] = '\0';
	run(0);
	assert_int_equal(F.sent, 1);
}

/* --- answers that are none ---------------------------------------------------------------------
 */

/* EC2 refuses all for one id that it does not know (F14). */
static void test_one_odd_id_is_found_by_halves(void **state)
{
	static const char *const asked[] = {"i-1 i-2 i-3 i-4", "i-1 i-2", "i-1", "i-2", "i-3 i-4"};
	char text[8], id[8];

	(void)state;
	some_up(1, 4);
	for (size_t i = 0; i < 5; i++) {
		run(5000);
		assert_int_equal(F.sent, i + 1);
		assert_string_equal(F.ids, asked[i]);
		if (strstr(F.ids, "i-1") != NULL) {
			answer(PROVIDER_INVALID, "InvalidInstanceID.NotFound");
			continue;
		}
		for (int k = 2; k <= 4; k++) {
			(void)snprintf(id, sizeof(id), "i-%d", k);
			if (strstr(F.ids, id) != NULL)
				at(id, "z/b");
		}
		answer(PROVIDER_OK, "");
	}
	for (int i = 1; i <= 4; i++) {
		(void)snprintf(text, sizeof(text), "u%d", i);
		assert_string_equal(fleet_find(&F.e.fleet, text)->newest->path, i > 1 ? "z/b" : "");
	}
	assert_string_equal(engine_unplaced(&F.e, 0), "");
	run(3600000);
	assert_int_equal(F.sent, 5);
}

/* The region has no such request: that is not asked for each machine. */
static void test_a_question_that_is_refused_again_and_again_is_left(void **state)
{
	(void)state;
	some_up(1, 9);
	for (int i = 0; i < 5; i++) { /* of four, two, and three single ones */
		run(5000);
		assert_string_equal(engine_unplaced(&F.e, 0), "");
		answer(PROVIDER_INVALID, "UnsupportedOperation: not here");
	}
	assert_string_equal(engine_unplaced(&F.e, 0), "UnsupportedOperation: not here");
	run(3599999);
	assert_int_equal(F.sent, 5);
	run(1);
	assert_string_equal(F.ids, "i-4 i-5 i-6 i-7");
	answer(PROVIDER_INVALID, "x");
	F.clouds[0].unplaced[0] = '\0';
	for (int i = 0; i < 5; i++) { /* in a row, and those here are not */
		F.clouds[0].paths_most = 1;
		run(5000);
		answer(i == 1 ? PROVIDER_OK : PROVIDER_INVALID, "x");
		assert_string_equal(engine_unplaced(&F.e, 0), i < 4 ? "" : "x");
	}
}

static void test_a_denied_right_is_asked_for_again_in_an_hour_or_after_a_reload(void **state)
{
	(void)state;
	(void)up("u1", "i-1", 0, 0);
	run(0);
	answer(PROVIDER_DENIED, "UnauthorizedOperation: no");
	assert_string_equal(engine_unplaced(&F.e, 0), "UnauthorizedOperation: no");
	assert_true(topology_part.next_ms(&F.e) == W.now + 3600000);
	run(3599999);
	assert_int_equal(F.sent, 1);
	topology_part.at[PART_RELOAD](&F.e);
	run(0);
	assert_int_equal(F.sent, 2);
	answer(PROVIDER_DENIED, "UnauthorizedOperation: no");
	run(3600000);
	assert_int_equal(F.sent, 3);
	answer(PROVIDER_OK, "");
	assert_string_equal(engine_unplaced(&F.e, 0), "");
}

static void test_a_denial_for_the_session_is_none(void **state)
{
	(void)state;
	F.doubtful = true;
	(void)up("u1", "i-1", 0, 0);
	run(0);
	answer(PROVIDER_DENIED, "ExpiredToken");
	assert_string_equal(engine_unplaced(&F.e, 0), "");
	run(5000);
	assert_int_equal(F.sent, 2);
}

/* I30: the pause gets longer, and is never short. */
static void test_failures_are_repeated_later_each_time(void **state)
{
	static const int64_t pauses[] = {5000, 5000, 5000, 8000, 16000, 30000, 30000};
	const size_t n = sizeof(pauses) / sizeof(pauses[0]);

	(void)state;
	(void)up("u1", "i-1", 0, 0);
	run(0);
	for (size_t i = 0; i < n; i++) {
		answer(i % 2 == 0 ? PROVIDER_TRANSIENT : PROVIDER_RATE, "x");
		run(pauses[i] - 1);
		assert_int_equal(F.sent, i + 1);
		run(1);
		assert_int_equal(F.sent, i + 2);
	}
	answer(PROVIDER_OK, "");
	(void)up("u2", "i-2", 0, 0);
	run(5000);
	answer(PROVIDER_TRANSIENT, "x");
	run(5000); /* the next failure is the first again */
	assert_int_equal(F.sent, n + 3);
	F.again_ms = 90000;
	answer(PROVIDER_TRANSIENT, "x");
	run(89999);
	assert_int_equal(F.sent, n + 3);
	run(1);
	assert_int_equal(F.sent, n + 4);
}

/* The row may be gone, or another's, when the answer comes. */
static void test_an_answer_for_nobody_is_dropped(void **state)
{
	struct fleet_node *gone = up("u1", "i-1", 0, 0), *other = up("u2", "i-2", 0, 0);

	(void)state;
	run(0);
	gone->path = mem_strdup("z/b");
	move(gone, NODE_GONE);
	fleet_del(&F.e.fleet, gone);
	replace(other, "i-7");
	at("i-1", "z/b");
	at("i-2", "z/b");
	answer(PROVIDER_OK, "");
	assert_null(other->path);
	run(5000);
	assert_string_equal(F.ids, "i-7");
	at("i-7", "z/c");
	answer(PROVIDER_OK, "");
	assert_string_equal(other->path, "z/c");
	replace(other, "i-8");
	assert_null(other->path);
	run(5000);
	assert_string_equal(F.ids, "i-8");
}

/* --- are fabrics together? ---------------------------------------------------------------------
 */

static void place(struct fleet_node *fn, const char *path)
{
	free(fn->path);
	fn->path = mem_strdup(path);
	F.e.cloud->aparts_due = true;
}

static void test_a_unit_that_is_not_together_is_told_of_once(void **state)
{
	struct fleet_node *a = up("u1", "f1-1", 0, 0), *b = up("u2", "f1-2", 0, 0),
			  *c = up("u3", "f2-1", 0, 0);
	struct engine_apart is;

	(void)state;
	run(0);
	at("f1-1", "z/s/b1");
	at("f1-2", "z/s/b2");
	at("f2-1", "z/t/b9"); /* of another fabric: nobody promised that */
	answer(PROVIDER_OK, "");
	run(0);
	assert_string_equal(F.events, "fabric-apart: pool h100: unit 7: 2 machines (u[1-2]) are 1 "
				      "hop from each other, and fabric_hops is 0: provider ec2 did "
				      "not keep what fabric f1 promises\n");
	assert_true(engine_apart(&F.e, 0, &is));
	assert_string_equal(is.fabric, "f1");
	assert_string_equal(is.nodes, "u[1-2]");
	assert_int_equal(is.n, 2);
	assert_int_equal(is.unit, 7);
	assert_int_equal(is.pool, 0);
	assert_int_equal(is.hops, 1);
	assert_false(engine_apart(&F.e, 1, &is));
	place(c, "z/t/b8");
	F.events[0] = '\0';
	run(5000);
	topology_part.at[PART_RELOAD](&F.e);
	assert_string_equal(F.events, "");
	move(b, NODE_DRAINING); /* it goes */
	run(5000);
	assert_false(engine_apart(&F.e, 0, &is));
	move(b, NODE_READY);
	run(5000);
	assert_true(engine_apart(&F.e, 0, &is));
	assert_true(strlen(F.events) > 0); /* it was over, and begins anew */
	place(a, "y/s/b2");
	run(5000);
	assert_true(engine_apart(&F.e, 0, &is));
	assert_int_equal(is.hops, -1);
}

/* The pool says how much it may be; a job's fabric, or a named one, is no unit. */
static void test_a_pool_says_how_far_is_too_far(void **state)
{
	struct fleet_node *a = up("x1", "f1-1", 1, 0), *b = up("x2", "f1-2", 1, 0);
	struct engine_apart is;

	(void)state;
	place(a, "z/s/b1");
	place(b, "z/s/b2");
	run(0);
	assert_false(engine_apart(&F.e, 0, &is));
	place(b, "z/t/b2");
	run(5000);
	assert_true(engine_apart(&F.e, 0, &is));
	assert_int_equal(is.hops, 2);
	assert_int_equal(is.unit, 0);
	assert_string_equal(F.events,
			    "fabric-apart: pool a100: 2 machines (x[1-2]) are 2 hops from "
			    "each other, and fabric_hops is 1: provider ec2 did not keep "
			    "what fabric f1 promises\n");
	F.pools[1].fabric_hops = 2;
	topology_part.at[PART_RELOAD](&F.e); /* at once */
	assert_false(engine_apart(&F.e, 0, &is));
	place(a, "y/t/b2"); /* no switch in common: further than any number of hops */
	run(5000);
	assert_true(engine_apart(&F.e, 0, &is));
	assert_non_null(strstr(F.events, "are below no common switch, "));
}

/* A fabric of two pools, or one of the same name at two providers, is two promises. */
static void test_what_is_not_one_promise_is_not_compared(void **state)
{
	struct engine_apart is;

	(void)state;
	place(up("u1", "f1-1", 0, 0), "z/b1");
	place(up("x2", "f1-2", 1, 0), "y/b2");
	place(up("u3", "f1-3", 0, 1), "x/b3");
	place(up("u4", "f1-4", 0, 0), ""); /* nobody knows */
	(void)up("u5", "f1-5", 0, 0);
	run(0);
	assert_false(engine_apart(&F.e, 0, &is));
	F.unfabriced = true;
	place(up("u6", "f1-6", 0, 0), "z/b2");
	run(5000);
	assert_false(engine_apart(&F.e, 0, &is));
	F.unfabriced = false;
	F.e.cloud->aparts_due = true;
	run(4999); /* not more often than each 5 s */
	assert_false(engine_apart(&F.e, 0, &is));
	assert_true(topology_part.next_ms(&F.e) == W.now + 1);
	run(1);
	assert_true(engine_apart(&F.e, 0, &is));
	assert_string_equal(is.nodes, "u[1,6]");
	place(up("u7", "f3-1", 0, 0), "z/b1"); /* by name one of the other pool is between them */
	place(up("u8", "f3-2", 1, 0), "z/b1");
	place(up("u9", "f3-3", 0, 0), "z/b2");
	run(5000);
	assert_true(engine_apart(&F.e, 1, &is));
	assert_string_equal(is.nodes, "u[7,9]");
	assert_false(engine_apart(&F.e, 2, &is));
}

static void test_a_long_list_of_nodes_is_left_out(void **state)
{
	struct engine_apart is;

	(void)state;
	for (int i = 0; i < 12; i++) {
		char node[40], path[16];

		(void)snprintf(node, sizeof(node), "%c-a-name-that-is-longer-than-it-must",
			       'a' + i);
		(void)snprintf(path, sizeof(path), "z/%d", i);
		place(up(node, "f1-1", 0, 0), path);
	}
	run(0);
	assert_true(engine_apart(&F.e, 0, &is));
	assert_string_equal(is.nodes, "");
	assert_int_equal(is.n, 12);
	assert_non_null(strstr(F.events, "h100: 12 machines are 1 hop"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_each_machine_is_asked_about_once),
		T(test_who_is_asked_about),
		T(test_after_a_start_all_are_asked_about),
		T(test_it_waits_for_a_slot_and_for_a_provider_that_is_on),
		T(test_one_odd_id_is_found_by_halves),
		T(test_a_question_that_is_refused_again_and_again_is_left),
		T(test_a_denied_right_is_asked_for_again_in_an_hour_or_after_a_reload),
		T(test_a_denial_for_the_session_is_none),
		T(test_failures_are_repeated_later_each_time),
		T(test_an_answer_for_nobody_is_dropped),
		T(test_a_unit_that_is_not_together_is_told_of_once),
		T(test_a_pool_says_how_far_is_too_far),
		T(test_what_is_not_one_promise_is_not_compared),
		T(test_a_long_list_of_nodes_is_left_out),
	};
#undef T

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
