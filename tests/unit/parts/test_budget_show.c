/* show.c of money: budgets as the API shows them, in order, with what runs has cost so far, how far
 * each may be overrun, and how many jobs wait for it. */
#include "intake_calls.h"

#include "jobs/postpone_private.h"
#include "money/hold.h"

enum { HOUR = 3600000, LINES = 4 };

static struct zone *utc;

/* all (machines, full), lease (machines), students (each user), unused (a rate). */
static void load_budgets(struct fix *f)
{
	struct conf *c = make_conf();
	struct conf_budget *b = mem_zalloc(LINES * sizeof(*b));

	c->pools[0].quantum_ms = 60000;
	b[0] = (struct conf_budget){.name = mem_strdup("lease"),
				    .market = CONF_MARKET_ANY,
				    .amount_nano = 1000 * FMT_NANO,
				    .reserve = CONF_RESERVE_LEASE,
				    .lease_ms = HOUR};
	b[1] = (struct conf_budget){.name = mem_strdup("all"),
				    .market = CONF_MARKET_ANY,
				    .amount_nano = 1000 * FMT_NANO};
	b[2] = (struct conf_budget){.name = mem_strdup("students"),
				    .market = CONF_MARKET_ANY,
				    .each = CONF_EACH_USER,
				    .amount_nano = 1000 * FMT_NANO};
	b[3] = (struct conf_budget){
		.name = mem_strdup("rate"), .market = CONF_MARKET_ANY, .rate_nano_h = FMT_NANO};
	c->budgets = b;
	c->nbudgets = LINES;
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->money->budgets = budgets_new(utc, engine_now(f->e));
	budgets_configure(f->e->money->budgets, b, LINES);
}

static uint32_t spender(const struct fix *f, const char *user)
{
	return budgets_spender(f->e->money->budgets,
			       &(struct budget_spender){.machine = user[0] == '\0',
							.account = "",
							.user = user,
							.qos = "",
							.wckey = "",
							.partition = "",
							.pool = "pool",
							.provider = "cloud"});
}

/* A hold of 3.60 an hour from an hour ago for two hours. */
static void hold(struct fix *f, const char *node, const char *user, enum budget_kind kind)
{
	const struct budget_hold h = {.spender = spender(f, user),
				      .kind = kind,
				      .rate_nano_h = 3600000000,
				      .from_ms = engine_now(f->e) - HOUR,
				      .until_ms = engine_now(f->e) + HOUR};

	(void)hold_add(f->e, hold_node_of(f->e, node, 1), user[0] != '\0' ? 7 : 0, &h);
}

static const struct engine_budget *named(const struct engine_budgets *all, const char *name,
					 const char *value)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].line.budget->name, name) == 0 &&
		    strcmp(all->v[i].line.value, value) == 0)
			return &all->v[i];
	return NULL;
}

static int64_t beyond(const struct fix *f, const char *name, const char *value)
{
	struct engine_budgets all;
	int64_t nano;

	engine_budgets(f->e, NULL, &all);
	nano = named(&all, name, value)->beyond;
	engine_budgets_fini(&all);
	return nano;
}

static size_t waiting(const struct fix *f, const char *name, const char *value)
{
	struct engine_budgets all;
	size_t n;

	engine_budgets(f->e, NULL, &all);
	n = named(&all, name, value)->waiting;
	engine_budgets_fini(&all);
	return n;
}

static void test_order(void **state)
{
	static const char *const want[] = {"lease/",       "all/",         "students/ann",
					   "students/bob", "students/zoe", "rate/"};
	struct fix *f = *state;
	struct engine_budgets all;

	load_budgets(f);
	(void)spender(f, "zoe");
	(void)spender(f, "ann");
	(void)spender(f, "bob");
	engine_budgets(f->e, NULL, &all);
	assert_int_equal(all.n, 6);
	for (size_t i = 0; i < all.n; i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "%s/%s", all.v[i].line.budget->name,
			       all.v[i].line.value);
		assert_string_equal(text, want[i]);
	}
	engine_budgets_fini(&all);
	engine_budgets(f->e, "bob", &all);
	assert_int_equal(all.n, 1);
	assert_string_equal(all.v[0].line.value, "bob");
	engine_budgets_fini(&all);
}

static void test_none(void **state)
{
	struct fix *f = *state;
	struct engine_budgets all;

	load(f, 0, false); /* burstd knows no zone, so there are none */
	engine_budgets(f->e, NULL, &all);
	assert_int_equal(all.n, 0);
	engine_budgets_fini(&all);
	engine_budgets(f->e, "ann", &all);
	assert_int_equal(all.n, 0);
	engine_budgets_fini(&all);
}

static void test_accrued(void **state)
{
	struct fix *f = *state;
	const struct engine_budget *b;
	struct engine_budgets all;

	load_budgets(f);
	hold(f, "c1", "", BUDGET_MACHINE);
	hold(f, "c1", "ann", BUDGET_RUN);
	hold(f, "c2", "", BUDGET_MACHINE);
	engine_budgets(f->e, NULL, &all);
	b = named(&all, "all", "");
	assert_in_range(b->accrued, 7199000000, 7201000000); /* the clock goes on */
	assert_in_range(b->line.held, 14390000000, 14400000001);
	assert_in_range(named(&all, "students", "ann")->accrued, 3599000000, 3601000000);
	assert_int_equal(named(&all, "rate", "")->accrued, 0);
	engine_budgets_fini(&all);
}

/* Rate x (150 s + quantum) of each hold that has begun, if nothing ends it by the amount. */
static void test_beyond(void **state)
{
	struct fix *f = *state;
	struct budget_hold late;
	char *words[] = {NULL};

	load_budgets(f);
	hold(f, "c1", "", BUDGET_MACHINE); /* no row: its quantum is not known */
	assert_int_equal(beyond(f, "all", ""), 0);
	assert_int_equal(beyond(f, "lease", ""), 150000000);
	assert_int_equal(beyond(f, "rate", ""), 0);
	/* What ends jobs takes its time as well: 10 s of grace, 20 s to notice. */
	f->e->conf->budgets[0].grace_ms = 10000;
	assert_int_equal(beyond(f, "lease", ""), 150000000);
	f->e->conf->budgets[0].requeue_at = 100;
	assert_int_equal(beyond(f, "lease", ""), 180000000);
	f->e->conf->budgets[0].requeue_at = 0;
	f->e->conf->budgets[0].kill_at = 100;
	assert_int_equal(beyond(f, "lease", ""), 180000000);
	/* ... and 10 min until others' commands have run, if there is any time for a command. */
	f->e->conf->pools[0].checkpoint_command = words;
	assert_int_equal(beyond(f, "lease", ""), 780000000);
	f->e->conf->budgets[0].grace_ms = 0;
	assert_int_equal(beyond(f, "lease", ""), 170000000);
	f->e->conf->pools[0].checkpoint_command = NULL;
	f->e->conf->budgets[1].kill_at = 100;
	assert_int_equal(beyond(f, "all", ""), 0); /* its end is set aside */
	f->e->conf->budgets[0].kill_at = 0;
	late = (struct budget_hold){.spender = spender(f, ""),
				    .rate_nano_h = 3600000000,
				    .from_ms = engine_now(f->e) + HOUR,
				    .until_ms = INT64_MAX};
	(void)hold_add(f->e, hold_node_of(f->e, "c3", 1), 0, &late);
	assert_int_equal(beyond(f, "lease", ""), 150000000);
}

static struct fleet_node *add_row(struct fix *f, const char *name, enum node_state state)
{
	struct node n;

	(void)fleet_name(&f->e->fleet, name, 0);
	node_init(&n, name, 1, engine_now(f->e) - HOUR);
	n.state = state;
	n.since_ms = engine_now(f->e) - HOUR / 2;
	return fleet_add(&f->e->fleet, &n);
}

/* In mode full it is 0 as long as providers take deletes. */
static void test_beyond_without_deletes(void **state)
{
	enum { WITH_QUANTUM = 210000000 };
	struct fix *f = *state;
	struct fleet_node *other;
	struct cloud *c;

	load_budgets(f);
	c = &f->e->cloud->all[0];
	(void)add_row(f, "c1", NODE_READY);
	hold(f, "c1", "", BUDGET_MACHINE);
	hold(f, "c1", "ann", BUDGET_RUN);
	assert_int_equal(beyond(f, "all", ""), 0);
	assert_int_equal(beyond(f, "students", "ann"), 0);
	assert_int_equal(beyond(f, "lease", ""), WITH_QUANTUM);
	f->e->conf->pools[0].unmount_wait_ms = 7000;
	assert_int_equal(beyond(f, "lease", ""), WITH_QUANTUM + 7000000);
	f->e->conf->pools[0].unmount_wait_ms = 0;
	/* A delete was decided and has failed since; before that it is none of this one's. */
	other = add_row(f, "c2", NODE_DELETING);
	assert_int_equal(beyond(f, "all", ""), 0);
	c->undeleted_ms = engine_now(f->e) - HOUR;
	assert_int_equal(beyond(f, "all", ""), 0);
	c->undeleted_ms = engine_now(f->e);
	assert_int_equal(beyond(f, "all", ""), WITH_QUANTUM);
	assert_int_equal(beyond(f, "students", "ann"), WITH_QUANTUM);
	other->n.accepted = true;
	assert_int_equal(beyond(f, "all", ""), 0);
}

static void test_beyond_of_a_machine_that_stays(void **state)
{
	struct fix *f = *state;

	load_budgets(f);
	(void)add_row(f, "c1", NODE_QUARANTINED);
	(void)add_row(f, "c2", NODE_READY);
	hold(f, "c1", "", BUDGET_MACHINE);
	hold(f, "c2", "", BUDGET_MACHINE);
	assert_int_equal(beyond(f, "all", ""), 210000000);
	f->e->cloud->all[0].away = true;
	assert_int_equal(beyond(f, "all", ""), 420000000);
}

/* --- jobs that wait ------------------------------------------------------------------------------
 */

static void refuse_for(struct fix *f, uint64_t job, size_t budget, const char *value)
{
	struct budget_no no = {.budget = &f->e->conf->budgets[budget]};

	(void)snprintf(no.value, sizeof(no.value), "%s", value);
	holds_refused(f->e, job, &no);
}

static void test_waiting(void **state)
{
	struct fix *f = *state;
	struct postponed *p;

	load_budgets(f);
	(void)spender(f, "ann");
	(void)spender(f, "bob");
	refuse_for(f, 7, 1, "");
	refuse_for(f, 7, 1, ""); /* another node of it */
	refuse_for(f, 8, 1, "");
	refuse_for(f, 9, 2, "ann");
	refuse_for(f, 0, 1, ""); /* a job that is not known */
	assert_int_equal(waiting(f, "all", ""), 2);
	assert_int_equal(waiting(f, "students", "ann"), 1);
	assert_int_equal(waiting(f, "students", "bob"), 0);
	assert_int_equal(waiting(f, "lease", ""), 0);
	refuse_for(f, 7, 0, ""); /* now it lacks more there */
	assert_int_equal(waiting(f, "all", ""), 1);
	assert_int_equal(waiting(f, "lease", ""), 1);
	holds_waits_bought(f->e, 8);
	holds_waits_bought(f->e, 12);
	assert_int_equal(waiting(f, "all", ""), 0);
	assert_int_equal(waiting(f, "lease", ""), 1);
	/* Ten minutes later only one that slurmctld was told to let wait does so. */
	for (struct money_wait *w = f->e->jobs->parts[JOB_UNPAID]; w != NULL; w = w->in.next)
		w->at_ms -= MONEY_UNSENT_MS;
	p = postpone_get(f->e, 7);
	p->until_ms = engine_now(f->e) + HOUR;
	assert_int_equal(waiting(f, "lease", ""), 1);
	assert_int_equal(waiting(f, "students", "ann"), 0);
	assert_int_equal(f->e->money->nwaits, 3);
	holds_waits_tidy(f->e);
	assert_int_equal(f->e->money->nwaits, 1);
	p->until_ms = 0;
	assert_int_equal(waiting(f, "lease", ""), 0);
}

static void test_waiting_is_bounded(void **state)
{
	struct fix *f = *state;

	load_budgets(f);
	for (uint64_t job = 1; job <= MONEY_WAITS + 5; job++)
		refuse_for(f, job, 1, "");
	assert_int_equal(waiting(f, "all", ""), MONEY_WAITS);
	refuse_for(f, 3, 0, ""); /* one that is counted may still move */
	assert_int_equal(waiting(f, "lease", ""), 1);
}

static int make_zone(void **state)
{
	(void)state;
	utc = zone_new("UTC", NULL);
	return utc == NULL;
}

static int drop_zone(void **state)
{
	(void)state;
	zone_free(utc);
	return 0;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_order),
		T(test_none),
		T(test_accrued),
		T(test_beyond),
		T(test_beyond_without_deletes),
		T(test_beyond_of_a_machine_that_stays),
		T(test_waiting),
		T(test_waiting_is_bounded),
	};
#undef T

	return cmocka_run_group_tests_name("budget_show", tests, make_zone, drop_zone);
}
