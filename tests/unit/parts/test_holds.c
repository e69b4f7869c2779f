/* holds.c: money is set aside with a purchase, in the same commit, and becomes what was spent. */
#include "holds_lab.h"

/* --- a purchase ---------------------------------------------------------------------------------
 */

/* P4: in the commit of the row, neither before nor after. */
static void test_with_the_row(void **state)
{
	struct fix *f = *state;
	uint64_t commits;

	start(f, 100 * EUR, 100 * EUR);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "CPUTot=96 RealMemory=2000000 Gres=gpu:h100:8");
	buy_7(f);
	assert_true(is_bought(f, "c1"));
	assert_int_equal(line(f, "all").held > 0, 1); /* the next job sees it at once */
	assert_string_equal(rows(f, "SELECT count(*) FROM hold"), "0;");
	assert_string_equal(rows(f, "SELECT count(*) FROM node"), "0;");
	commits = f->e->count.commits;
	write_down(f);
	assert_int_equal(f->e->count.commits, commits + 1);
	assert_string_equal(rows(f, HOLDS), "c1 0 machine 1000000000 1   gpu pool;"
					    "c1 7 boot 1000000000 0 physics ann gpu pool;"
					    "c1 7 run 1000000000 0 physics ann gpu pool;"
					    "c2 0 machine 1000000000 1   gpu pool;"
					    "c2 7 boot 1000000000 0 physics ann gpu pool;"
					    "c2 7 run 1000000000 0 physics ann gpu pool;");
	assert_string_equal(rows(f, "SELECT count(*) FROM hold h JOIN node n ON n.name = h.node AND"
				    " n.gen = h.gen"),
			    "6;");
	same_in_journal(f);
	/* Boot, limit, a minute over it, and until the node is gone. */
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms - of(f, "c1", BUDGET_MACHINE).from_ms,
			 (10 + 120 + 1 + 10) * MINUTE + 150000);
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms - of(f, "c1", BUDGET_RUN).from_ms,
			 121 * MINUTE);
	assert_int_equal(of(f, "c1", BUDGET_BOOT).until_ms - of(f, "c1", BUDGET_BOOT).from_ms,
			 10 * MINUTE);
}

static void test_a_job_without_money_is_refused(void **state)
{
	struct fix *f = *state;

	start(f, 100 * EUR, EUR);
	buy_7(f);
	assert_false(is_bought(f, "c1"));
	assert_false(is_bought(f, "c2"));
	assert_string_equal(fleet_find(&f->e->fleet, "c1")->why,
			    "budget account/physics: this job needs 4.37 EUR for its 2 h, "
			    "1.00 of 1.00 left in 2 days");
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->refused, NODE_BECAUSE_BUDGET);
	assert_int_equal(f->e->money->nwaits, 1);
	assert_null(f->e->money->nodes);
	/* Another's job is not. */
	call(f, "c3", FILE_8);
	says(f, JOB_8);
	assert_false(is_bought(f, "c3")); /* it needs 2.18 */
	assert_int_equal(fleet_find(&f->e->fleet, "c3")->refused, NODE_BECAUSE_BUDGET);
}

static void test_without_budgets(void **state)
{
	struct fix *f = *state;

	start(f, 0, 0);
	assert_null(holds_budgets(f->e));
	call(f, "c[1-2]", FILE_7);
	assert_true(is_bought(f, "c1")); /* nobody is asked */
	write_down(f);
	assert_string_equal(rows(f, "SELECT count(*) FROM hold"), "0;");
	fake_zone = NULL;
	start(f, 100 * EUR, 100 * EUR);
	assert_null(holds_budgets(f->e));
	fake_zone = utc;
}

/* --- a life -------------------------------------------------------------------------------------
 */

static void test_begin_of_the_bill(void **state)
{
	struct fix *f = *state;
	struct budget_hold machine, boot, run;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	machine = of(f, "c1", BUDGET_MACHINE);
	boot = of(f, "c1", BUDGET_BOOT);
	run = of(f, "c1", BUDGET_RUN);
	/* It was bought five minutes ago, and is made now. */
	for (struct hold *h = hold_find(f->e, "c1", row(f, "c1")->n.gen)->first; h; h = h->next)
		hold_change(f->e, hold_find(f->e, "c1", row(f, "c1")->n.gen), h,
			    hold_of(f->e, h)->from_ms - 5 * MINUTE,
			    hold_of(f->e, h)->until_ms - 5 * MINUTE);
	step(f, "c1", NODE_EV_START);
	step(f, "c1", NODE_EV_CREATED);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).from_ms, row(f, "c1")->n.start_ms);
	assert_int_equal(of(f, "c1", BUDGET_BOOT).from_ms, row(f, "c1")->n.start_ms);
	/* What follows is as long as before. */
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms - row(f, "c1")->n.start_ms,
			 machine.until_ms - machine.from_ms);
	assert_int_equal(of(f, "c1", BUDGET_BOOT).until_ms - row(f, "c1")->n.start_ms,
			 boot.until_ms - boot.from_ms);
	assert_int_equal(of(f, "c1", BUDGET_RUN).from_ms, run.from_ms - 5 * MINUTE);
	same_in_journal(f);
	/* The provider says that it began a moment before burstd asked: no hold gets shorter. */
	post(f, "c2", NODE_EV_START, (struct provider_instance){.id = "i-2"});
	machine = of(f, "c2", BUDGET_MACHINE);
	post(f, "c2", NODE_EV_CREATED,
	     (struct provider_instance){.id = "i-2",
					.state = PROVIDER_PENDING,
					.created_ms = machine.from_ms - MINUTE});
	assert_int_equal(of(f, "c2", BUDGET_MACHINE).from_ms, machine.from_ms - MINUTE);
	assert_int_equal(of(f, "c2", BUDGET_MACHINE).until_ms, machine.until_ms);
	same_in_journal(f);
}

static void test_ready(void **state)
{
	struct fix *f = *state;
	int64_t before, until;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	before = engine_now(f->e);
	until = of(f, "c1", BUDGET_RUN).until_ms;
	ready(f, "c1");
	assert_null(held(f, "c1", BUDGET_BOOT));
	assert_true(of(f, "c1", BUDGET_RUN).from_ms >= before);
	assert_true(of(f, "c1", BUDGET_RUN).from_ms <= engine_now(f->e));
	/* P4: its other node boots on, and the job starts when that is up. */
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms, until);
	assert_non_null(held(f, "c2", BUDGET_BOOT));
	same_in_journal(f);
}

/* A boot that took longer than it may: the job does not pay its own time for it, too. */
static void test_ready_late(void **state)
{
	const struct node_event up = {.type = NODE_EV_REGISTERED};
	struct fix *f = *state;
	struct hold_node *g;
	struct hold *run;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	step(f, "c1", NODE_EV_START);
	step(f, "c1", NODE_EV_CREATED);
	g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	run = held(f, "c1", BUDGET_RUN);
	hold_change(f->e, g, run, engine_now(f->e) - HOUR, engine_now(f->e) + HOUR);
	hold_change(f->e, g, held(f, "c1", BUDGET_BOOT), engine_now(f->e) - HOUR,
		    engine_now(f->e) + HOUR);
	step(f, "c1", NODE_EV_REGISTERED);
	near(line(f, "account").spent, EUR); /* the boot */
	assert_true(of(f, "c1", BUDGET_RUN).from_ms >= engine_now(f->e) - MINUTE);
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms - of(f, "c1", BUDGET_RUN).from_ms,
			 2 * HOUR);
	/* Jobs that run are left alone when the node is ready once more. */
	hold_change(f->e, g, run, engine_now(f->e) - HOUR, engine_now(f->e) + HOUR);
	row(f, "c1")->n.state = NODE_DRAINING;
	holds_part.stepped(
		f->e, row(f, "c1"),
		&(struct node){.state = NODE_DRAINING, .start_ms = row(f, "c1")->n.start_ms}, &up);
	row(f, "c1")->n.state = NODE_READY;
	holds_part.stepped(
		f->e, row(f, "c1"),
		&(struct node){.state = NODE_DRAINING, .start_ms = row(f, "c1")->n.start_ms}, &up);
	assert_true(of(f, "c1", BUDGET_RUN).from_ms <= engine_now(f->e) - HOUR + MINUTE);
	engine_commit(f->e);
}

/* Nothing runs on a machine that never was up, whenever its boot should have been over. */
static void test_never_ready(void **state)
{
	struct fix *f = *state;
	struct hold_node *g;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	step(f, "c1", NODE_EV_START);
	step(f, "c1", NODE_EV_CREATED);
	age(f, "c1", 3 * HOUR);
	g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), engine_now(f->e) - 2 * HOUR,
		    engine_now(f->e) + HOUR);
	ends(f, "c1");
	near(line(f, "all").spent, 3 * EUR);
	near(line(f, "account").spent, 3 * EUR); /* its boot alone */
	same_in_journal(f);
}

/* While it boots on, the job's own time is put off, and is as long as before. */
static void test_a_boot_takes_longer(void **state)
{
	struct fix *f = *state;
	struct hold_node *g;
	int64_t now;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	step(f, "c1", NODE_EV_START);
	step(f, "c1", NODE_EV_CREATED);
	now = engine_now(f->e);
	g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), now + 29000, now + 29000 + HOUR);
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_true(of(f, "c1", BUDGET_RUN).from_ms >= now + 2 * MINUTE);
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms - of(f, "c1", BUDGET_RUN).from_ms, HOUR);
	same_in_journal(f);
	/* One that was bought for nobody boots, too; and a boot that is paid for is one, whatever
	 * became of the node. */
	hold_drop(f->e, g, held(f, "c1", BUDGET_BOOT));
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), now - HOUR, now + HOUR);
	g = hold_find(f->e, "c2", row(f, "c2")->n.gen);
	hold_change(f->e, g, held(f, "c2", BUDGET_RUN), now - HOUR, now + HOUR);
	row(f, "c2")->n.state = NODE_DRAINING;
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_true(of(f, "c1", BUDGET_RUN).from_ms >= now + 2 * MINUTE);
	assert_true(of(f, "c2", BUDGET_RUN).from_ms >= now + 2 * MINUTE);
	row(f, "c2")->n.state = NODE_WANTED;
	/* Of one that is up nothing is put off. */
	step(f, "c1", NODE_EV_REGISTERED);
	g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), now - HOUR, now + HOUR);
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(of(f, "c1", BUDGET_RUN).from_ms, now - HOUR);
	engine_commit(f->e);
}

static void test_gone(void **state)
{
	struct fix *f = *state;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	age(f, "c1", 3 * HOUR);
	f->e->money->freed = false;
	ends(f, "c1");
	assert_null(hold_find(f->e, "c1", row(f, "c1")->n.gen));
	near(line(f, "all").spent, 3 * EUR);
	near(line(f, "account").spent, 3 * EUR);
	assert_true(f->e->money->freed);
	assert_string_equal(rows(f, SPENT), "0 physics ann 1;1   1;");
	same_in_journal(f); /* c2's is there still */
	assert_string_equal(rows(f, "SELECT count(*) FROM hold WHERE node = 'c1'"), "0;");
}

/* A create that was refused cost nothing. */
static void test_refused(void **state)
{
	struct fix *f = *state;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	step(f, "c1", NODE_EV_START);
	step(f, "c1", NODE_EV_REFUSED);
	assert_int_equal(row(f, "c1")->n.state, NODE_GONE);
	assert_null(hold_find(f->e, "c1", row(f, "c1")->n.gen));
	assert_string_equal(rows(f, "SELECT count(*) FROM hold WHERE node = 'c1'"), "0;");
	assert_string_equal(rows(f, "SELECT count(*) FROM spent"), "0;");
	assert_int_equal(line(f, "all").held, budget_cost(EUR, 0, 141 * MINUTE + 150000));
}

/* I9: gone proves wrong, and the machine's bill goes on where it ended; the job's does not. */
static void test_seen_again(void **state)
{
	struct fix *f = *state;
	int64_t spent;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	age(f, "c1", HOUR);
	ends(f, "c1");
	near(line(f, "all").spent, EUR);
	step(f, "c1", NODE_EV_SEEN);
	assert_int_equal(row(f, "c1")->n.state, NODE_DELETING);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).from_ms, row(f, "c1")->n.end_ms);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms > engine_now(f->e));
	assert_null(held(f, "c1", BUDGET_RUN));
	same_in_journal(f);
	spent = line(f, "account").spent;
	/* It has been there for half an hour more. */
	hold_change(f->e, hold_find(f->e, "c1", row(f, "c1")->n.gen), held(f, "c1", BUDGET_MACHINE),
		    engine_now(f->e) - HOUR / 2, engine_now(f->e) + HOUR);
	ends(f, "c1");
	near(line(f, "all").spent, EUR + EUR / 2);
	assert_int_equal(line(f, "account").spent, spent);
	same_in_journal(f);
}

/* One that never began to bill, and is there after all. */
static void test_seen_at_last(void **state)
{
	struct fix *f = *state;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	step(f, "c1", NODE_EV_START);
	step(f, "c1", NODE_EV_REFUSED);
	step(f, "c1", NODE_EV_SEEN);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).from_ms, row(f, "c1")->n.start_ms);
	assert_true(row(f, "c1")->n.start_ms != 0);
	same_in_journal(f);
}

/* Quantum and minimum are spent, too; by the machine, not by the job. */
static void test_terms(void **state)
{
	struct fix *f = *state;
	char today[100];

	start(f, 100 * EUR, 100 * EUR);
	f->e->conf->pools[0].quantum_ms = HOUR;
	f->e->conf->pools[0].unmount_wait_ms = HOUR; /* P4: it bills while it unmounts */
	buy_7(f);
	write_down(f);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms - of(f, "c1", BUDGET_MACHINE).from_ms,
			 4 * HOUR);
	ready(f, "c1");
	age(f, "c1", 90 * MINUTE);
	ends(f, "c1");
	/* The half hour that is still to come is tomorrow's in the last half hour of a day. */
	assert_int_equal(
		strtoll(rows(f, "SELECT sum(nano) FROM spent WHERE machine = 1"), NULL, 10),
		2 * EUR);
	snprintf(today, sizeof(today),
		 "SELECT sum(nano) FROM spent WHERE machine = 1 AND day <= %lld",
		 (long long)budgets_day(f->e->money->budgets, engine_now(f->e)));
	assert_int_equal(line(f, "all").spent, strtoll(rows(f, today), NULL, 10));
	near(line(f, "account").spent, EUR * 3 / 2);
}

/* What is spent on two days is put down to each, and adds up. */
static void test_over_midnight(void **state)
{
	struct fix *f = *state;
	int64_t midnight, day, whole;

	start(f, 1000 * EUR, 1000 * EUR);
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	day = budgets_day(f->e->money->budgets, engine_now(f->e));
	midnight = budgets_day_begin_ms(f->e->money->budgets, day);
	age(f, "c1", engine_now(f->e) - midnight + HOUR / 3);
	whole = of(f, "c1", BUDGET_MACHINE).from_ms;
	ends(f, "c1");
	whole = fmt_cost(row(f, "c1")->n.end_ms - whole, EUR);
	assert_string_equal(rows(f, "SELECT count(*) FROM spent WHERE machine = 1"), "2;");
	near(strtoll(rows(f, "SELECT nano FROM spent WHERE machine = 1 ORDER BY day LIMIT 1"), NULL,
		     10),
	     EUR / 3);
	assert_int_equal(
		strtoll(rows(f, "SELECT sum(nano) FROM spent WHERE machine = 1"), NULL, 10), whole);
	assert_int_equal(line(f, "all").spent, whole);
}

/* What outlives its hold is held for longer. */
static void test_what_outlives_its_hold(void **state)
{
	struct fix *f = *state;
	struct hold_node *g;
	int64_t now, until;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	now = engine_now(f->e);
	g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	until = of(f, "c2", BUDGET_MACHINE).until_ms;
	hold_change(f->e, g, held(f, "c1", BUDGET_MACHINE), now - HOUR, now + 29000);
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), now - HOUR, now - MINUTE);
	f->e->money->watch_ms = engine_now(f->e) + HOUR;
	holds_part.at[PART_RUN](f->e); /* not its time */
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms, now - MINUTE);
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms >= now + 2 * MINUTE);
	assert_true(of(f, "c1", BUDGET_RUN).until_ms >= now + 2 * MINUTE);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).from_ms, now - HOUR);
	assert_int_equal(of(f, "c2", BUDGET_MACHINE).until_ms, until);
	assert_true(holds_part.next_ms(f->e) >= now + 29000);
	same_in_journal(f);
}

/* A lease is renewed when half of it is over, and nothing else is that has more than a minute. */
static void test_a_lease_is_renewed(void **state)
{
	struct fix *f = *state;
	struct conf *c = conf_of(100 * EUR, 100 * EUR);
	struct hold_node *g;
	int64_t now;

	c->budgets[1].reserve = CONF_RESERVE_LEASE;
	c->budgets[1].lease_ms = HOUR;
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	buy_7(f);
	write_down(f);
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms - of(f, "c1", BUDGET_RUN).from_ms, HOUR);
	ready(f, "c1");
	now = engine_now(f->e);
	g = hold_find(f->e, "c2", row(f, "c2")->n.gen);
	hold_change(f->e, g, held(f, "c2", BUDGET_BOOT), now - HOUR, now + HOUR / 3);
	g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), now - HOUR / 3, now + HOUR / 3); /* short */
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms, now + HOUR / 3);
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), now - HOUR / 2, now + HOUR / 2 - 1);
	hold_change(f->e, g, held(f, "c1", BUDGET_MACHINE), now - HOUR, now + HOUR / 3);
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_int_equal(of(f, "c1", BUDGET_RUN).from_ms, now - HOUR / 2);
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms,
			 now + HOUR / 2 - 1); /* a moment too short */
	assert_int_equal(of(f, "c2", BUDGET_BOOT).until_ms, now + HOUR / 3);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, now + HOUR / 3);
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), now - HOUR, now + HOUR / 2);
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_true(of(f, "c1", BUDGET_RUN).until_ms >= now + HOUR);
	same_in_journal(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_with_the_row),
		TEST(test_a_job_without_money_is_refused),
		TEST(test_without_budgets),
		TEST(test_begin_of_the_bill),
		TEST(test_ready),
		TEST(test_ready_late),
		TEST(test_never_ready),
		TEST(test_a_boot_takes_longer),
		TEST(test_gone),
		TEST(test_refused),
		TEST(test_seen_again),
		TEST(test_seen_at_last),
		TEST(test_terms),
		TEST(test_over_midnight),
		TEST(test_what_outlives_its_hold),
		TEST(test_a_lease_is_renewed),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
