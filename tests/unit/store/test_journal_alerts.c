/* Alerts and their messages: every field comes back, a message is replaced, and what nobody can
 * have written is refused. */
#include "store/journal_alerts.h"

#include "fixture.h"

enum { ROWS_MAX = 8 };

struct told {
	struct alert alerts[ROWS_MAX];
	struct alert_message messages[ROWS_MAX];
	size_t n, nmessages;
	bool stop;
};

static void drop(struct told *t)
{
	for (size_t i = 0; i < t->nmessages; i++)
		alert_message_fini(&t->messages[i]);
	t->n = t->nmessages = 0;
}

static int see_alert(void *ctx, const struct alert *a, struct err *e)
{
	struct told *t = ctx;

	t->alerts[t->n++] = *a;
	return t->stop ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int see_message(void *ctx, struct alert_message *m, struct err *e)
{
	struct told *t = ctx;

	(void)e;
	t->messages[t->nmessages++] = *m;
	m->alerts = NULL;
	return 0;
}

static int try_told(struct fixture *f, struct told *t, struct err *e)
{
	const struct journal_visitor v = {
		.alert = see_alert, .alert_message = see_message, .ctx = t};

	drop(t);
	return journal_load(f->j, &v, e);
}

static struct told *told(struct fixture *f)
{
	static struct told t;
	struct err e = {0};

	if (try_told(f, &t, &e) != 0)
		fail_msg("%s", e.msg);
	return &t;
}

static struct alert alert_of(int64_t seq)
{
	struct alert a = {.seq = seq,
			  .at_ms = 5,
			  .until_ms = INT64_MAX,
			  .kind = ALERT_STOP,
			  .percent = 100,
			  .ends_ms = 7,
			  .amount = INT64_MAX,
			  .carried = 4,
			  .spent = INT64_MIN,
			  .accrued = 1,
			  .held = 2,
			  .beyond = 3};

	(void)snprintf(a.budget, sizeof(a.budget), "physics");
	(void)snprintf(a.value, sizeof(a.value), "o'ann");
	(void)snprintf(a.period, sizeof(a.period), "2026-01-01..2026-06-30");
	return a;
}

static struct alert_message message_of(int64_t seq, int64_t *alerts, size_t n)
{
	struct alert_message m = {.seq = seq,
				  .state = ALERT_PENDING,
				  .attempts = 3,
				  .made_ms = 8,
				  .tried_ms = 9,
				  .next_ms = 10,
				  .alerts = alerts,
				  .n = n};

	(void)snprintf(m.to, sizeof(m.to), "ops");
	(void)snprintf(m.error, sizeof(m.error), "the server answered 503");
	return m;
}

static void put(struct fixture *f, const struct alert *a, const struct alert_message *m)
{
	struct journal_tx *tx = journal_begin(f->j);

	if (a != NULL)
		journal_put_alert(tx, a);
	if (m != NULL)
		journal_put_alert_message(tx, m);
	commit(tx);
}

/* One from before says nothing of what rolled over. */
static void test_a_journal_from_before(void **state)
{
	struct fixture *f = *state;
	struct alert a = alert_of(1);
	const struct told *t;

	put(f, &a, NULL);
	close_journal(f);
	assert_int_equal(
		sql(f, BEFORE_IMAGES
		    "ALTER TABLE alert DROP COLUMN carried_nano; PRAGMA user_version = 22"),
		SQLITE_OK);
	open_journal(f, true);
	t = told(f);
	assert_int_equal(t->n, 1);
	a.carried = 0;
	assert_memory_equal(&t->alerts[0], &a, sizeof(a));
}

static void test_they_come_back(void **state)
{
	struct fixture *f = *state;
	int64_t numbers[] = {1, 2, INT64_MAX};
	const struct alert a = alert_of(INT64_MAX);
	struct alert b = alert_of(1);
	const struct alert_message m = message_of(7, numbers, 3);
	const struct alert_message *got;
	const struct told *t;

	b.amount = 0; /* nothing might be spent */
	put(f, &a, &m);
	put(f, &b, NULL);
	reopen(f);
	t = told(f);
	assert_int_equal(t->n, 2);
	assert_memory_equal(&t->alerts[0], &b, sizeof(b)); /* by number */
	assert_memory_equal(&t->alerts[1], &a, sizeof(a));
	assert_int_equal(t->nmessages, 1);
	got = &t->messages[0];
	assert_int_equal(got->seq, 7);
	assert_string_equal(got->to, "ops");
	assert_int_equal(got->state, ALERT_PENDING);
	assert_int_equal(got->attempts, 3);
	assert_int_equal(got->made_ms, 8);
	assert_int_equal(got->tried_ms, 9);
	assert_int_equal(got->next_ms, 0); /* it is tried at once */
	assert_string_equal(got->error, "the server answered 503");
	assert_int_equal(got->n, 3);
	assert_memory_equal(got->alerts, numbers, sizeof(numbers));
	drop(told(f));
}

static void test_a_message_goes_on(void **state)
{
	struct fixture *f = *state;
	int64_t one = 1;
	const struct alert a = alert_of(1);
	struct alert_message m = message_of(7, &one, 1);
	struct journal_tx *tx;
	const struct told *t;

	put(f, &a, &m);
	m.state = ALERT_DELIVERED;
	m.attempts = 4;
	m.tried_ms = 99;
	m.error[0] = '\0';
	put(f, NULL, &m);
	t = told(f);
	assert_int_equal(t->nmessages, 1);
	assert_int_equal(t->messages[0].state, ALERT_DELIVERED);
	assert_int_equal(t->messages[0].attempts, 4);
	assert_int_equal(t->messages[0].made_ms, 8);
	assert_int_equal(t->messages[0].tried_ms, 99);
	assert_string_equal(t->messages[0].error, "");
	tx = journal_begin(f->j);
	journal_del_alert(tx, 1);
	journal_del_alert(tx, 2); /* what is not there is fine */
	journal_del_alert_message(tx, 7);
	journal_del_alert_message(tx, 8);
	commit(tx);
	assert_int_equal(told(f)->n, 0);
	assert_int_equal(told(f)->nmessages, 0);
}

static void test_a_visit_may_refuse(void **state)
{
	struct fixture *f = *state;
	const struct alert a = alert_of(1);
	struct told *t = told(f);
	struct err e = {0};

	put(f, &a, NULL);
	t->stop = true;
	assert_int_equal(try_told(f, t, &e), -1);
	assert_string_equal(e.msg, "stopped");
	t->stop = false;
}

/* F55 */
static void test_damaged_rows(void **state)
{
	static const char *const rows[] = {
		"UPDATE alert SET seq = 0",
		"UPDATE alert SET kind = 'gift'",
		"UPDATE alert SET percent = -1",
		"UPDATE alert SET at_ms = -1",
		"UPDATE alert SET until_ms = -1",
		"UPDATE alert SET ends_ms = 'soon'",
		"UPDATE alert SET budget = hex(zeroblob(64))",
		"UPDATE alert SET value = hex(zeroblob(64))",
		"UPDATE alert SET period = hex(zeroblob(64))",
		"UPDATE alert SET amount_nano = -1",
		"UPDATE alert SET spent_nano = 'much'",
		"UPDATE alert SET accrued_nano = -1",
		"UPDATE alert SET held_nano = -1",
		"UPDATE alert SET beyond_nano = -1",
		"UPDATE alert SET carried_nano = -1",
		"UPDATE alert_message SET seq = -7",
		"UPDATE alert_message SET receiver = hex(zeroblob(64))",
		"UPDATE alert_message SET state = 'sent'",
		"UPDATE alert_message SET attempts = -1",
		"UPDATE alert_message SET made_ms = -1",
		"UPDATE alert_message SET tried_ms = -1",
		"UPDATE alert_message SET error = hex(zeroblob(200))",
		"UPDATE alert_message SET alerts = ''",
		"UPDATE alert_message SET alerts = '0'",
		"UPDATE alert_message SET alerts = '-1'",
		"UPDATE alert_message SET alerts = '2 1'",
		"UPDATE alert_message SET alerts = '1 1'",
		"UPDATE alert_message SET alerts = '1 '",
		"UPDATE alert_message SET alerts = ' 1'",
		"UPDATE alert_message SET alerts = '1  2'",
		"UPDATE alert_message SET alerts = '1,2'",
		"UPDATE alert_message SET alerts = 'x'",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct alert a = alert_of(1);
		int64_t one = 1;
		const struct alert_message m = message_of(7, &one, 1);
		struct fixture *f;
		struct told *t;
		struct err e = {0};

		print_message("# %s\n", rows[i]);
		teardown(state);
		setup(state);
		f = *state;
		put(f, &a, &m);
		t = told(f);
		assert_int_equal(sql(f, rows[i]), SQLITE_OK);
		assert_int_equal(try_told(f, t, &e), -1);
		assert_int_equal(e.code, ERR_DAMAGED);
		drop(t);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_a_journal_from_before), TEST(test_they_come_back),
		TEST(test_a_message_goes_on),     TEST(test_a_visit_may_refuse),
		TEST(test_damaged_rows),
	};
#undef TEST

	return cmocka_run_group_tests_name("journal_alerts", tests, NULL, NULL);
}
