/* Money that is set aside, and what was spent by day: every field comes back, one row replaces
 * another, and what nobody can have written is refused. */
#include "store/journal_money.h"

#include "fixture.h"
#include "store/schema.h"

enum { ROWS_MAX = 8, SCHEMA_BEFORE = 16 };

struct money {
	struct journal_hold holds[ROWS_MAX];
	struct journal_spent days[ROWS_MAX];
	size_t nholds, ndays;
	char texts[2 * ROWS_MAX * 8][160];
	size_t ntexts;
	bool stop;
};

static const char *keep(struct money *m, const char *text)
{
	char *to = m->texts[m->ntexts++];

	(void)snprintf(to, sizeof(m->texts[0]), "%s", text);
	return to;
}

static struct budget_spender keep_spender(struct money *m, struct budget_spender s)
{
	s.account = keep(m, s.account);
	s.user = keep(m, s.user);
	s.qos = keep(m, s.qos);
	s.wckey = keep(m, s.wckey);
	s.partition = keep(m, s.partition);
	s.pool = keep(m, s.pool);
	s.provider = keep(m, s.provider);
	return s;
}

static int see_hold(void *ctx, const struct journal_hold *h, struct err *e)
{
	struct money *m = ctx;
	struct journal_hold *to = &m->holds[m->nholds++];

	*to = *h;
	to->node = keep(m, h->node);
	to->spender = keep_spender(m, h->spender);
	return m->stop ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int see_day(void *ctx, const struct journal_spent *s, struct err *e)
{
	struct money *m = ctx;
	struct journal_spent *to = &m->days[m->ndays++];

	*to = *s;
	to->spender = keep_spender(m, s->spender);
	return m->stop ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int try_money(struct fixture *f, struct money *m, struct err *e)
{
	const struct journal_visitor v = {.hold = see_hold, .day = see_day, .ctx = m};

	m->nholds = m->ndays = m->ntexts = 0;
	return journal_load(f->j, &v, e);
}

static struct money *money(struct fixture *f)
{
	static struct money m;
	struct err e = {0};

	if (try_money(f, &m, &e) != 0)
		fail_msg("%s", e.msg);
	return &m;
}

static const struct budget_spender ann = {.account = "physics",
					  .user = "ann",
					  .qos = "normal",
					  .wckey = "w|'1",
					  .partition = "gpu",
					  .pool = "h100",
					  .provider = "aws",
					  .market = PROVIDER_SPOT};
static const struct budget_spender machine = {.machine = true,
					      .account = "",
					      .user = "",
					      .qos = "",
					      .wckey = "",
					      .partition = "gpu",
					      .pool = "h100",
					      .provider = "aws",
					      .market = PROVIDER_RESERVED};

static struct journal_hold hold(enum budget_kind kind)
{
	return (struct journal_hold){.node = "c1",
				     .gen = UINT64_MAX,
				     .job = kind == BUDGET_MACHINE ? 0 : UINT64_MAX - 1,
				     .hold = {.kind = kind,
					      .rate_nano_h = INT64_MAX,
					      .from_ms = 5,
					      .until_ms = INT64_MAX},
				     .spender = kind == BUDGET_MACHINE ? machine : ann};
}

static void put(struct fixture *f, const struct journal_hold *h)
{
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_hold(tx, h);
	commit(tx);
}

static void put_day(struct fixture *f, int64_t day, const struct budget_spender *s, int64_t nano)
{
	const struct journal_spent x = {day, *s, nano};
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_spent(tx, &x);
	commit(tx);
}

static void same_spender(const struct budget_spender *a, const struct budget_spender *b)
{
	assert_int_equal(a->machine, b->machine);
	assert_string_equal(a->account, b->account);
	assert_string_equal(a->user, b->user);
	assert_string_equal(a->qos, b->qos);
	assert_string_equal(a->wckey, b->wckey);
	assert_string_equal(a->partition, b->partition);
	assert_string_equal(a->pool, b->pool);
	assert_string_equal(a->provider, b->provider);
	assert_int_equal(a->market, b->market);
}

static void same(const struct journal_hold *a, const struct journal_hold *b)
{
	assert_string_equal(a->node, b->node);
	assert_int_equal(a->gen, b->gen);
	assert_int_equal(a->job, b->job);
	assert_int_equal(a->hold.kind, b->hold.kind);
	assert_int_equal(a->hold.rate_nano_h, b->hold.rate_nano_h);
	assert_int_equal(a->hold.from_ms, b->hold.from_ms);
	assert_int_equal(a->hold.until_ms, b->hold.until_ms);
	same_spender(&a->spender, &b->spender);
}

static void test_holds_come_back(void **state)
{
	struct fixture *f = *state;

	for (int k = 0; k < BUDGET_NKINDS; k++) {
		struct journal_hold h = hold((enum budget_kind)k);

		put(f, &h);
	}
	reopen(f);
	assert_int_equal(money(f)->nholds, BUDGET_NKINDS);
	for (size_t i = 0; i < BUDGET_NKINDS; i++) {
		struct journal_hold want = hold(money(f)->holds[i].hold.kind);

		same(&money(f)->holds[i], &want);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(money(f)->holds[k].hold.kind,
					     money(f)->holds[i].hold.kind);
	}
}

/* One of that node, generation, job and kind; any other is beside it. */
static void test_a_hold_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct journal_hold h = hold(BUDGET_RUN), other;
	struct journal_tx *tx;

	put(f, &h);
	h.hold.rate_nano_h = 7;
	h.hold.from_ms = 8;
	h.hold.until_ms = 9;
	h.spender.account = "chem";
	h.spender.user = "bob";
	h.spender.qos = "q";
	h.spender.wckey = "";
	h.spender.partition = "p";
	h.spender.pool = "x";
	h.spender.provider = "y";
	h.spender.market = PROVIDER_ON_DEMAND;
	put(f, &h);
	assert_int_equal(money(f)->nholds, 1);
	same(&money(f)->holds[0], &h);
	for (int i = 0; i < 4; i++) {
		other = h;
		if (i == 0)
			other.node = "c2";
		else if (i == 1)
			other.gen = 1;
		else if (i == 2)
			other.job = 1;
		else
			other.hold.kind = BUDGET_BOOT;
		put(f, &other);
		assert_int_equal(money(f)->nholds, 2);
		tx = journal_begin(f->j);
		journal_del_hold(tx, &other);
		commit(tx);
		assert_int_equal(money(f)->nholds, 1);
		same(&money(f)->holds[0], &h);
	}
	tx = journal_begin(f->j);
	journal_del_hold(tx, &h);
	journal_del_hold(tx, &h); /* what is not there is fine */
	commit(tx);
	assert_int_equal(money(f)->nholds, 0);
}

static void test_days(void **state)
{
	struct fixture *f = *state;
	struct budget_spender s = ann;
	struct journal_tx *tx;

	put_day(f, 20000, &ann, 5);
	put_day(f, 20000, &ann, 7); /* in all */
	put_day(f, 20001, &ann, INT64_MAX);
	put_day(f, -3, &machine, INT64_MIN);
	reopen(f);
	assert_int_equal(money(f)->ndays, 3);
	assert_int_equal(money(f)->days[0].day, -3);
	assert_int_equal(money(f)->days[0].nano, INT64_MIN);
	same_spender(&money(f)->days[0].spender, &machine);
	assert_int_equal(money(f)->days[1].day, 20000);
	assert_int_equal(money(f)->days[1].nano, 7);
	same_spender(&money(f)->days[1].spender, &ann);
	assert_int_equal(money(f)->days[2].nano, INT64_MAX);
	tx = journal_begin(f->j);
	journal_del_spent(tx, 20001);
	commit(tx);
	assert_int_equal(money(f)->ndays, 1);
	assert_int_equal(money(f)->days[0].day, 20001);
	/* Another spender has days of its own. */
	for (int i = 0; i < 7; i++) {
		const char **texts[] = {&s.account,   &s.user, &s.qos,     &s.wckey,
					&s.partition, &s.pool, &s.provider};

		*texts[i] = "other";
		if (i < 5)
			put_day(f, 20001, &s, i);
	}
	assert_int_equal(money(f)->ndays, 6);
	s.market = PROVIDER_ON_DEMAND;
	put_day(f, 20001, &s, 9);
	assert_int_equal(money(f)->ndays, 7);
}

static void test_a_visit_may_refuse(void **state)
{
	struct fixture *f = *state;
	struct journal_hold h = hold(BUDGET_RUN);
	struct money *m = money(f);
	struct err e = {0};

	put(f, &h);
	m->stop = true;
	assert_int_equal(try_money(f, m, &e), -1);
	assert_non_null(strstr(e.msg, "stopped"));
	m->stop = false;
}

/* F55 */
static void test_damaged_rows(void **state)
{
	static const char *const rows[] = {
		"UPDATE hold SET kind = 'gift' WHERE kind = 'run'",
		"UPDATE hold SET kind = 'machine' WHERE kind = 'run'",
		"UPDATE hold SET job = 0 WHERE kind = 'run'",
		"UPDATE hold SET job = 7 WHERE kind = 'machine'",
		"UPDATE hold SET machine = 1 WHERE kind = 'boot'",
		"UPDATE hold SET machine = 2",
		"UPDATE hold SET rate_nano_h = -1",
		"UPDATE hold SET rate_nano_h = 'much'",
		"UPDATE hold SET from_ms = -1",
		"UPDATE hold SET until_ms = -1",
		"UPDATE hold SET from_ms = 10, until_ms = 9",
		"UPDATE hold SET market = 'black'",
		"UPDATE hold SET node = hex(zeroblob(100)) WHERE kind = 'run'",
		"UPDATE hold SET account = hex(zeroblob(64))",
		"UPDATE hold SET wckey = hex(zeroblob(64))",
		"UPDATE hold SET provider = hex(zeroblob(64))",
		"UPDATE spent SET day = 'today'",
		"UPDATE spent SET day = 1099511627776",
		"UPDATE spent SET nano = 'much'",
		"UPDATE spent SET machine = -1",
		"UPDATE spent SET market = ''",
		"UPDATE spent SET user = hex(zeroblob(64))",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		struct money *m;
		struct err e = {0};

		print_message("# %s\n", rows[i]);
		teardown(state);
		setup(state);
		f = *state;
		for (int k = 0; k < BUDGET_NKINDS; k++) {
			struct journal_hold h = hold((enum budget_kind)k);

			put(f, &h);
		}
		put_day(f, 20000, &ann, 5);
		m = money(f);
		assert_int_equal(sql(f, rows[i]), SQLITE_OK);
		assert_int_equal(try_money(f, m, &e), -1);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_non_null(strstr(e.msg, "damaged"));
	}
}

/* A journal from before has no money; what it has stays. */
static void test_a_journal_from_before(void **state)
{
	struct fixture *f = *state;
	struct seen *s;

	fill(f);
	close_journal(f);
	assert_int_equal(sql(f, BEFORE_IMAGES
			     "DROP TABLE budget_period; DROP TABLE budget_override;"
			     "DROP TABLE alert; DROP TABLE alert_message; DROP TABLE ending; "
			     "DROP TABLE drained;"
			     " DROP TABLE hold; DROP TABLE spent; ALTER TABLE refusal DROP"
			     " COLUMN money; PRAGMA user_version = 17"),
			 SQLITE_OK);
	assert_true(SCHEMA_STEPS > (int)SCHEMA_BEFORE);
	open_journal(f, true);
	assert_int_equal(money(f)->nholds, 0);
	assert_int_equal(money(f)->ndays, 0);
	put_day(f, 1, &ann, 1);
	assert_int_equal(money(f)->ndays, 1);
	s = load(f);
	assert_int_equal(s->nnodes, 2);
	forget(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_holds_come_back),
		TEST(test_a_hold_is_replaced),
		TEST(test_days),
		TEST(test_a_visit_may_refuse),
		TEST(test_damaged_rows),
		TEST(test_a_journal_from_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
