/* test_console.c - the console log of a machine that did not boot: it is asked for before the
 * instance is deleted, which waits 5 s at most, and kept in memory.
 *
 * On a bare struct engine: the cloud and the clock are the test's. */
#include "cloud/cloud.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

enum { WIRE_MAX = 20 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_provider provider;
	struct cloud cloud;
	bool ready;
	struct {
		char id[PROVIDER_ID_MAX + 1];
		request_fn fn;
		void *ctx;
	} wire[WIRE_MAX];
	unsigned sent;
} F;

bool cloud_ready(struct cloud *c, enum provider_op_kind kind)
{
	(void)c;
	assert_int_equal(kind, PROVIDER_CONSOLE);
	return F.ready;
}

void cloud_send(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx)
{
	(void)c;
	assert_int_equal(op->kind, PROVIDER_CONSOLE);
	assert_true(F.sent < WIRE_MAX);
	(void)snprintf(F.wire[F.sent].id, sizeof(F.wire[F.sent].id), "%s", op->u.console.id);
	F.wire[F.sent].fn = fn;
	F.wire[F.sent++].ctx = ctx;
}

static char name[] = "ec2";

static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN};
	F = (struct fix){.ready = true};
	bare_state(&F.e);
	F.provider = (struct conf_provider){.name = name, .timeout_ms = 30000};
	F.conf = (struct conf){.providers = &F.provider, .nproviders = 1};
	F.e.conf = &F.conf;
	F.e.cloud->all = &F.cloud;
	F.cloud = (struct cloud){
		.e = &F.e, .conf = &F.provider, .caps = {.flags = PROVIDER_CONSOLES}};
	fleet_init(&F.e.fleet, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	console_part.at[PART_FREE](&F.e);
	for (unsigned i = 0; i < F.sent; i++)
		free(F.wire[i].ctx);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* A row of the node that is DELETING; the part is told that it was BOOTING. */
static struct fleet_node *row(const char *node, uint64_t gen, enum node_reason reason,
			      const char *instance)
{
	struct fleet_node *fn;
	struct node n, was;

	(void)fleet_name(&F.e.fleet, node, 0);
	node_init(&n, node, gen, BEGAN);
	(void)snprintf(n.instance, sizeof(n.instance), "%s", instance);
	n.state = NODE_BOOTING;
	was = n;
	n.state = NODE_DELETING;
	n.reason = reason;
	fn = fleet_add(&F.e.fleet, &n);
	console_part.row_durable(&F.e, fn, &was);
	return fn;
}

static void run(void)
{
	console_part.at[PART_RUN](&F.e);
}

static void answer(unsigned i, enum provider_code code, const char *log)
{
	struct provider_result r = {.code = code};

	if (log != NULL)
		r.console = mem_strdup(log);
	F.wire[i].fn(&F.cloud, F.wire[i].ctx, &r);
	free(r.console);
}

static void test_it_is_asked_for_once_kept_and_the_delete_waits(void **state)
{
	struct fleet_node *fn = row("c1", 3, NODE_BECAUSE_BOOT, "i-1");
	struct engine_console c;

	(void)state;
	assert_true(fn->consoling);
	run();
	run();
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.wire[0].id, "i-1");
	assert_true(fn->consoling);
	assert_false(engine_console(&F.e, "c1", &c));
	W.now += 700;
	answer(0, PROVIDER_OK, "booting\nKernel panic\npassword=x\n");
	assert_false(fn->consoling);
	assert_true(engine_console(&F.e, "c1", &c));
	assert_string_equal(c.text, "booting\nKernel panic\npassword=[redacted]\n");
	assert_string_equal(c.instance, "i-1");
	assert_int_equal(c.gen, 3);
	assert_int_equal(c.at_ms, BEGAN + 700);
	assert_false(engine_console(&F.e, "c2", &c));
	run();
	assert_int_equal(F.sent, 1);
	assert_true(console_part.next_ms(&F.e) == INT64_MAX);
}

/* The machine bills on. */
static void test_no_delete_waits_longer_than_5_seconds(void **state)
{
	struct fleet_node *fn = row("c1", 3, NODE_BECAUSE_BOOT, "i-1");
	struct engine_console c;

	(void)state;
	run();
	assert_int_equal(console_part.next_ms(&F.e), BEGAN + 5000);
	W.now += 4999;
	run();
	assert_true(fn->consoling);
	W.now += 1;
	run();
	assert_false(fn->consoling);
	assert_true(console_part.next_ms(&F.e) == INT64_MAX);
	answer(0, PROVIDER_OK, "too late\n");
	assert_false(engine_console(&F.e, "c1", &c));
}

static void test_nor_for_a_provider_that_may_not_be_asked(void **state)
{
	struct fleet_node *fn = row("c1", 3, NODE_BECAUSE_BOOT, "i-1");

	(void)state;
	F.ready = false;
	run();
	assert_true(fn->consoling);
	W.now += 5000;
	F.ready = true;
	run();
	assert_false(fn->consoling);
	assert_int_equal(F.sent, 0);
}

static void test_a_failure_or_an_empty_log_is_no_log(void **state)
{
	static const struct {
		enum provider_code code;
		const char *log;
	} rows[] = {
		{PROVIDER_OK, NULL},     {PROVIDER_OK, "\r\n"},
		{PROVIDER_DENIED, NULL}, {PROVIDER_TRANSIENT, "half\n"},
		{PROVIDER_RATE, NULL},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_node *fn = row("c1", 3 + i, NODE_BECAUSE_BOOT, "i-1");
		struct engine_console c;

		run();
		assert_int_equal(F.sent, i + 1);
		answer(i, rows[i].code, rows[i].log);
		assert_false(fn->consoling);
		assert_false(engine_console(&F.e, "c1", &c));
		run();
		assert_int_equal(F.sent, i + 1);
	}
}

static void test_who_is_asked_about(void **state)
{
	static const struct {
		enum node_reason reason;
		const char *instance;
		bool asked;
	} rows[] = {
		{NODE_BECAUSE_BOOT, "i-1", true},       {NODE_BECAUSE_INIT, "i-1", true},
		{NODE_BECAUSE_STOPPED, "i-1", true},    {NODE_BECAUSE_BOOT, "", false},
		{NODE_BECAUSE_SUSPENDED, "i-1", false}, {NODE_BECAUSE_RECLAIMED, "i-1", false},
		{NODE_BECAUSE_OPERATOR, "i-1", false},
	};
	struct fleet_node *fn;
	struct node was;

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fn = row("c1", 1 + i, rows[i].reason, rows[i].instance);
		assert_int_equal(fn->consoling, rows[i].asked);
	}
	/* A later change of such a row, and one that was up. */
	was = fn->n;
	was.state = NODE_READY;
	fn->n.reason = NODE_BECAUSE_BOOT;
	console_part.row_durable(&F.e, fn, &was);
	assert_false(fn->consoling);
	was.state = NODE_DELETING;
	console_part.row_durable(&F.e, fn, &was);
	assert_false(fn->consoling);
	F.cloud.caps.flags = PROVIDER_TOKENS;
	assert_false(row("c1", 20, NODE_BECAUSE_BOOT, "i-1")->consoling);
}

static void test_of_many_that_fail_together_a_few_are_asked_about(void **state)
{
	struct fleet_node *fn = NULL;
	char node[16];

	(void)state;
	for (unsigned i = 0; i < 17; i++) {
		(void)snprintf(node, sizeof(node), "c%u", i);
		fn = row(node, 1, NODE_BECAUSE_BOOT, "i-1");
		assert_int_equal(fn->consoling, i < 16);
	}
	run();
	assert_int_equal(F.sent, 16);
}

static void test_the_youngest_of_a_node_and_256_in_all_are_kept(void **state)
{
	struct engine_console c;
	char node[16];

	(void)state;
	for (unsigned i = 0; i < 258; i++) {
		/* c1 fails again after c2 */
		(void)snprintf(node, sizeof(node), "c%u", i == 2 ? 1 : i == 1 ? 2 : i == 0 ? 1 : i);
		(void)row(node, 1 + i, NODE_BECAUSE_BOOT, "i-1");
		run();
		answer(0, PROVIDER_OK, i == 0 ? "first\n" : "second\n");
		free(F.wire[0].ctx);
		F.wire[0].ctx = NULL;
		F.sent = 0;
		if (i == 2) {
			assert_true(engine_console(&F.e, "c1", &c));
			assert_string_equal(c.text, "second\n");
		}
	}
	assert_false(engine_console(&F.e, "c2", &c)); /* the oldest of 257 */
	assert_true(engine_console(&F.e, "c1", &c));
	assert_true(engine_console(&F.e, "c257", &c));
}

/* F14: a list may show the machine once more while its log is asked for: the row stays for that. */
static void test_the_row_is_needed_as_long_as_its_log_is_asked_for(void **state)
{
	struct fleet_node *fn = row("c1", 3, NODE_BECAUSE_STOPPED, "i-1");
	struct node other = fn->n;

	(void)state;
	other.gen = 4;
	assert_true(console_part.needs(&F.e, &fn->n));
	run();
	assert_true(console_part.needs(&F.e, &fn->n));
	assert_false(console_part.needs(&F.e, &other));
	answer(0, PROVIDER_OK, "Power down\n");
	assert_false(console_part.needs(&F.e, &fn->n));
	fn = row("c2", 3, NODE_BECAUSE_STOPPED, "i-2");
	W.now += 5000;
	run();
	assert_false(console_part.needs(&F.e, &fn->n));
}

/* Its row may be gone by then. */
static void test_an_answer_for_a_row_that_is_gone_is_kept(void **state)
{
	struct fleet_node *fn = row("c1", 3, NODE_BECAUSE_STOPPED, "i-1");
	struct engine_console c;
	struct node gone = fn->n;

	(void)state;
	run();
	gone.state = NODE_GONE;
	fleet_set(&F.e.fleet, fn, &gone);
	fleet_del(&F.e.fleet, fn);
	answer(0, PROVIDER_OK, "Power down\n");
	assert_true(engine_console(&F.e, "c1", &c));
	assert_string_equal(c.text, "Power down\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_is_asked_for_once_kept_and_the_delete_waits),
		TEST(test_no_delete_waits_longer_than_5_seconds),
		TEST(test_nor_for_a_provider_that_may_not_be_asked),
		TEST(test_a_failure_or_an_empty_log_is_no_log),
		TEST(test_who_is_asked_about),
		TEST(test_of_many_that_fail_together_a_few_are_asked_about),
		TEST(test_the_youngest_of_a_node_and_256_in_all_are_kept),
		TEST(test_the_row_is_needed_as_long_as_its_log_is_asked_for),
		TEST(test_an_answer_for_a_row_that_is_gone_is_kept),
	};

	return cmocka_run_group_tests_name("console", tests, NULL, NULL);
}
