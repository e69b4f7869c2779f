/* holds.c: a machine of which it is said while it boots that it will be taken away.  It may come
 * up, and run jobs until then. */
#include "holds_lab.h"

/* Node c1 boots for job 7 since an hour, and will be taken away; job 8 has come to it, too. */
static struct hold_node *noticed(struct fix *f)
{
	struct budget_hold run;
	struct hold_node *g;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	step(f, "c1", NODE_EV_START);
	step(f, "c1", NODE_EV_CREATED);
	engine_post(f->e, row(f, "c1"),
		    &(struct node_event){.type = NODE_EV_NOTICE,
					 .now_ms = engine_now(f->e),
					 .notice = PROVIDER_NOTICE_RECLAIM});
	engine_commit(f->e);
	assert_int_equal(row(f, "c1")->n.state, NODE_DRAINING);
	age(f, "c1", HOUR);
	g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	run = of(f, "c1", BUDGET_RUN);
	(void)hold_add(f->e, g, 8, &run);
	engine_commit(f->e);
	return g;
}

/* The snapshot that shows it up ends the boot. */
static void comes_up(struct fix *f)
{
	show(f, "ALLOCATED+CLOUD+DRAIN", "NodeAddr=10.0.0.1");
	f->e->left = ENGINE_SEND;
	registered_part.at[PART_TAKE](f->e);
	engine_commit(f->e);
}

static void test_its_boot_is_over_when_it_is_up(void **state)
{
	struct fix *f = *state;
	struct hold_node *g = noticed(f);
	int64_t before = engine_now(f->e);

	assert_true(holds_boots(f->e, &row(f, "c1")->n));
	comes_up(f);
	assert_int_equal(row(f, "c1")->n.state, NODE_DRAINING);
	assert_false(holds_boots(f->e, &row(f, "c1")->n));
	near(line(f, "account").spent, EUR); /* the boot, and no more of it */
	for (struct hold *h = g->first; h != NULL; h = h->next)
		if (hold_of(f->e, h)->kind == BUDGET_RUN)
			assert_in_range(hold_of(f->e, h)->from_ms, before, engine_now(f->e));
	assert_string_equal(
		rows(f, "SELECT count(*) FROM hold WHERE node = 'c1' AND kind = 'boot'"), "0;");

	/* Its jobs run: nothing of them is put off, and all is paid for. */
	age(f, "c1", HOUR);
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	comes_up(f);
	assert_true(of(f, "c1", BUDGET_RUN).from_ms < engine_now(f->e) - HOUR / 2);
	ends(f, "c1");
	near(line(f, "all").spent, 2 * EUR);
	near(line(f, "account").spent, 3 * EUR); /* the boot, and an hour of each */
	assert_string_equal(rows(f, "SELECT count(*) FROM hold WHERE node = 'c1'"), "0;");
}

static void test_one_that_does_not_come_up_boots_on(void **state)
{
	static const char *const rows[] = {
		"ALLOCATED+CLOUD+POWERING_UP",
		"ALLOCATED+CLOUD+NOT_RESPONDING",
		"IDLE+CLOUD+POWER_DOWN",
	};
	struct fix *f = *state;

	(void)noticed(f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		show(f, rows[i], "NodeAddr=10.0.0.1");
		f->e->left = ENGINE_SEND;
		registered_part.at[PART_TAKE](f->e);
		engine_commit(f->e);
		assert_true(holds_boots(f->e, &row(f, "c1")->n));
	}
	step(f, "c1", NODE_EV_SIGNALLED);
	assert_true(holds_boots(f->e, &row(f, "c1")->n));
	ends(f, "c1");
	near(line(f, "account").spent, EUR);
}

/* The token of its voucher may be why this is posted of one whose jobs run. */
static void test_one_whose_boot_is_over_is_left_alone(void **state)
{
	struct fix *f = *state;

	(void)noticed(f);
	comes_up(f);
	age(f, "c1", HOUR);
	step(f, "c1", NODE_EV_REGISTERED);
	assert_true(of(f, "c1", BUDGET_RUN).from_ms < engine_now(f->e) - HOUR / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_its_boot_is_over_when_it_is_up),
		TEST(test_one_that_does_not_come_up_boots_on),
		TEST(test_one_whose_boot_is_over_is_left_alone),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
