/* test_alert.c - what is told about a budget, that it is told once, and how long a message is
 * tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "core/alert.h"

#define EUR      FMT_NANO
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { HOUR = 3600000, DAY = 24 * HOUR, NOW = 1000 };

static char name[] = "physics";

static struct conf_budget budget(void)
{
	return (struct conf_budget){.name = name,
				    .amount_nano = 500 * EUR,
				    .notify_at = {{80, 95}, 2},
				    .stop_at = 100,
				    .period_rule = {.kind = PERIOD_MONTH}};
}

static struct budget_line line(const struct conf_budget *b, int64_t spent, int64_t held)
{
	return (struct budget_line){
		.budget = b,
		.value = "ann",
		.period = {.begin_ms = 0, .end_ms = 30 * (int64_t)DAY, .name = "2026-11"},
		.when = PERIOD_NOW,
		.limited = b->amount_nano != 0,
		.amount = b->amount_nano,
		.spent = spent,
		.held = held,
		.left = b->amount_nano - spent - held};
}

/* What is reached of each kind, as percents; -1: it is not. */
static void test_what_is_reached(void **state)
{
	static const struct {
		int64_t spent, accrued, held, beyond; /* cents */
		int used, stop, beyond_it;
	} rows[] = {
		{0, 0, 0, 0, -1, -1, -1},
		{39999, 0, 0, 0, -1, -1, -1},
		{40000, 0, 0, 0, 80, -1, -1},
		{30000, 10000, 10000, 0, 80, -1, -1},
		{30000, 0, 10000, 0, -1, -1, -1}, /* set aside is not used */
		{47499, 0, 0, 0, 80, -1, -1},
		{47500, 0, 0, 0, 95, -1, -1},
		{90000, 0, 0, 0, 95, 100, -1},
		{30000, 0, 19999, 0, -1, -1, -1},
		{30000, 0, 20000, 0, -1, 100, -1},
		{30000, 0, 10000, 10000, -1, -1, -1}, /* there is room for the worst case */
		{30000, 0, 10000, 10001, -1, -1, 0},
		{50000, 0, 0, 0, 95, 100, -1},
		{60000, 0, 0, 1, 95, 100, 0},
		{60000, 0, 0, 0, 95, 100, -1}, /* it is exceeded, and nothing can add to it */
	};
	const struct conf_budget b = budget();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const int want[] = {rows[i].used, rows[i].stop, rows[i].beyond_it};
		const struct budget_line l =
			line(&b, rows[i].spent * (EUR / 100), rows[i].held * (EUR / 100));
		const struct alert_figures f = {rows[i].accrued * (EUR / 100),
						rows[i].beyond * (EUR / 100), NOW};

		print_message("# row %zu\n", i);
		for (int k = 0; k < ALERT_NKINDS; k++) {
			struct alert a = {.seq = 7};
			bool is = alert_reached(&l, &f, (enum alert_kind)k, &a);

			assert_int_equal(is ? (int)a.percent : -1, want[k]);
		}
	}
}

/* A month's figures are there some seconds longer than the month: then nothing is told of it, which
 * would be told once more, for it may be told again from the end on. */
static void test_nothing_is_told_of_a_period_that_is_over(void **state)
{
	const struct conf_budget b = budget();
	const struct budget_line l = line(&b, 600 * EUR, 0);
	struct alert_figures f = {0, EUR, l.period.end_ms - 1};
	struct alert_book told;
	struct alert a;

	(void)state;
	alert_book_init(&told);
	for (int k = 0; k < ALERT_NKINDS; k++) {
		assert_true(alert_reached(&l, &f, (enum alert_kind)k, &a));
		a.seq = k + 1;
		alert_book_add(&told, &a);
	}
	for (int k = 0; k < ALERT_NKINDS; k++)
		assert_true(alert_reached(&l, &f, (enum alert_kind)k, &a) &&
			    alert_book_has(&told, &a));
	f.now_ms++;
	for (int k = 0; k < ALERT_NKINDS; k++)
		assert_false(alert_reached(&l, &f, (enum alert_kind)k, &a));
	alert_book_fini(&told);
}

/* Where nothing may be spent, whatever is spent is told, and before that nothing. */
static void test_an_amount_of_nothing(void **state)
{
	const struct conf_budget b = budget();
	const struct alert_figures f = {0, 0, NOW};
	struct budget_line l = line(&b, 0, 0);
	struct alert a;

	(void)state;
	l.amount = l.left = 0;
	assert_false(alert_reached(&l, &f, ALERT_USED, &a));
	assert_false(alert_reached(&l, &f, ALERT_STOP, &a));
	l.spent = 1;
	assert_true(alert_reached(&l, &f, ALERT_USED, &a));
	assert_int_equal(a.percent, 95);
	assert_true(alert_reached(&l, &f, ALERT_STOP, &a));
}

static void test_what_it_has(void **state)
{
	const struct conf_budget b = budget();
	const struct budget_line l = line(&b, 400 * EUR, 30 * EUR);
	const struct alert_figures f = {5 * EUR, 6 * EUR, NOW};
	struct alert a;

	(void)state;
	assert_true(alert_reached(&l, &f, ALERT_USED, &a));
	assert_int_equal(a.seq, 0);
	assert_int_equal(a.at_ms, NOW);
	assert_int_equal(a.until_ms, 30 * (int64_t)DAY);
	assert_int_equal(a.ends_ms, 30 * (int64_t)DAY);
	assert_int_equal(a.kind, ALERT_USED);
	assert_string_equal(a.budget, "physics");
	assert_string_equal(a.value, "ann");
	assert_string_equal(a.period, "2026-11");
	assert_int_equal(a.amount, 500 * EUR);
	assert_int_equal(a.spent, 400 * EUR);
	assert_int_equal(a.accrued, 5 * EUR);
	assert_int_equal(a.held, 30 * EUR);
	assert_int_equal(a.beyond, 6 * EUR);
}

static void test_of_which_lines(void **state)
{
	struct conf_budget b = budget();
	struct budget_line l = line(&b, 600 * EUR, 0);
	const struct alert_figures f = {0, EUR, NOW};
	struct alert a;

	(void)state;
	assert_true(alert_reached(&l, &f, ALERT_USED, &a));
	l.when = PERIOD_OVER;
	assert_false(alert_reached(&l, &f, ALERT_USED, &a));
	l.when = PERIOD_NOT_YET;
	assert_false(alert_reached(&l, &f, ALERT_STOP, &a));
	l.when = PERIOD_NOW;
	b.stop_at = 0;
	assert_false(alert_reached(&l, &f, ALERT_STOP, &a));
	b.notify_at.n = 0;
	assert_false(alert_reached(&l, &f, ALERT_USED, &a));
	assert_true(alert_reached(&l, &f, ALERT_BEYOND, &a));
	l.limited = false; /* only a rate */
	l.left = INT64_MAX;
	assert_false(alert_reached(&l, &f, ALERT_BEYOND, &a));
	assert_false(alert_reached(&l, &f, ALERT_USED, &a));
}

/* Percents are of all that there is in the period; what rolled over may yet change, and is no news.
 */
static void test_what_was_added(void **state)
{
	const struct conf_budget b = budget();
	struct budget_line l = line(&b, 480 * EUR, 0);
	const struct alert_figures f = {0, 0, NOW};
	struct alert a;

	(void)state;
	l.carried = 40 * EUR;
	l.added = 60 * EUR;
	l.amount = 600 * EUR;
	assert_true(alert_reached(&l, &f, ALERT_USED, &a));
	assert_int_equal(a.percent, 80);
	assert_int_equal(a.amount, 560 * EUR);
	assert_int_equal(alert_whole(&a), 600 * EUR); /* as people are told */
	assert_int_equal(alert_left(&a), 120 * EUR);
	l.spent = 480 * EUR - 1;
	assert_false(alert_reached(&l, &f, ALERT_USED, &a));
	l.spent = 599 * EUR;
	assert_false(alert_reached(&l, &f, ALERT_STOP, &a));
	l.spent = 600 * EUR;
	assert_true(alert_reached(&l, &f, ALERT_STOP, &a));
}

static void test_huge_amounts(void **state)
{
	struct conf_budget b = budget();
	struct budget_line l = line(&b, 0, 0);

	(void)state;
	l.amount = INT64_MAX;
	b.notify_at = (struct conf_percents){{50, 1000}, 2};
	assert_int_equal(alert_percent(&l, INT64_MAX / 2 - 100), 0);
	assert_int_equal(alert_percent(&l, INT64_MAX / 2 + 100), 50);
	assert_int_equal(alert_percent(&l, INT64_MAX), 50);
	l.amount = 3; /* percents of nano-units */
	b.notify_at = (struct conf_percents){{34, 67}, 2};
	assert_int_equal(alert_percent(&l, 1), 34);
	assert_int_equal(alert_percent(&l, 2), 67);
}

/* --- once ----------------------------------------------------------------------------------------
 */

static struct alert at(enum alert_kind k, int64_t now_ms, int64_t spent,
		       const struct conf_budget *b)
{
	const struct budget_line l = line(b, spent, 0);
	const struct alert_figures f = {0, 1000 * EUR, now_ms};
	struct alert a;

	assert_true(alert_reached(&l, &f, k, &a));
	return a;
}

static void tell(struct alert_book *b, struct alert a, int64_t seq)
{
	a.seq = seq;
	alert_book_add(b, &a);
}

static void test_once(void **state)
{
	struct conf_budget b = budget();
	struct alert_book book;
	struct alert a;

	(void)state;
	alert_book_init(&book);
	a = at(ALERT_USED, NOW, 400 * EUR, &b);
	assert_false(alert_book_has(&book, &a));
	tell(&book, a, 1);
	a = at(ALERT_USED, NOW + HOUR, 410 * EUR, &b);
	assert_true(alert_book_has(&book, &a));
	a = at(ALERT_USED, NOW + HOUR, 480 * EUR, &b); /* a higher percent */
	assert_false(alert_book_has(&book, &a));
	tell(&book, a, 2);
	a = at(ALERT_USED, NOW + HOUR, 400 * EUR, &b); /* the lower one again */
	assert_true(alert_book_has(&book, &a));
	a = at(ALERT_BEYOND, NOW, 0, &b); /* another kind */
	assert_false(alert_book_has(&book, &a));
	a = at(ALERT_USED, NOW, 480 * EUR, &b);
	(void)snprintf(a.value, sizeof(a.value), "bob");
	assert_false(alert_book_has(&book, &a));
	a = at(ALERT_USED, NOW, 480 * EUR, &b);
	(void)snprintf(a.budget, sizeof(a.budget), "chemistry");
	assert_false(alert_book_has(&book, &a));
	a = at(ALERT_USED, NOW, 480 * EUR, &b);
	(void)snprintf(a.period, sizeof(a.period), "2026-12");
	assert_false(alert_book_has(&book, &a));
	b.amount_nano = 501 * EUR;
	a = at(ALERT_USED, NOW, 480 * EUR, &b);
	assert_false(alert_book_has(&book, &a));
	b.amount_nano = 500 * EUR; /* as before */
	a = at(ALERT_USED, NOW, 480 * EUR, &b);
	assert_true(alert_book_has(&book, &a));
	alert_book_fini(&book);
}

/* Its name is always the same: it is told again once a whole window has passed. */
static void test_a_rolling_window(void **state)
{
	struct conf_budget b = budget();
	struct alert_book book;
	struct alert a;

	(void)state;
	b.period_rule = (struct period_rule){.kind = PERIOD_ROLLING, .days = 7};
	alert_book_init(&book);
	a = at(ALERT_STOP, NOW, 500 * EUR, &b);
	assert_int_equal(a.until_ms, NOW + 7 * DAY);
	tell(&book, a, 1);
	a = at(ALERT_STOP, NOW + 7 * DAY - 1, 500 * EUR, &b);
	assert_true(alert_book_has(&book, &a));
	a = at(ALERT_STOP, NOW + 7 * DAY, 500 * EUR, &b);
	assert_false(alert_book_has(&book, &a));
	tell(&book, a, 2);
	a = at(ALERT_STOP, NOW + 8 * DAY, 500 * EUR, &b);
	assert_true(alert_book_has(&book, &a));
	alert_book_drop(&book, 1); /* the older one takes nothing away */
	assert_true(alert_book_has(&book, &a));
	alert_book_drop(&book, 2);
	assert_false(alert_book_has(&book, &a));
	alert_book_fini(&book);
}

static void test_by_number(void **state)
{
	const struct conf_budget b = budget();
	struct alert_book book;

	(void)state;
	alert_book_init(&book);
	assert_null(alert_book_find(&book, 1));
	for (int64_t seq = 2; seq <= 200; seq += 2) {
		struct alert a = at(ALERT_USED, NOW, 480 * EUR, &b);

		(void)snprintf(a.value, sizeof(a.value), "u%d", (int)seq);
		tell(&book, a, seq);
	}
	assert_int_equal(book.n, 100);
	assert_string_equal(alert_book_find(&book, 2)->value, "u2");
	assert_string_equal(alert_book_find(&book, 200)->value, "u200");
	assert_null(alert_book_find(&book, 3));
	assert_null(alert_book_find(&book, 201));
	alert_book_drop(&book, 3);
	alert_book_drop(&book, 100);
	assert_int_equal(book.n, 99);
	assert_null(alert_book_find(&book, 100));
	assert_string_equal(alert_book_find(&book, 102)->value, "u102");
	alert_book_fini(&book);
}

/* --- messages ------------------------------------------------------------------------------------
 */

static void test_pauses(void **state)
{
	static const struct {
		uint32_t failures;
		int64_t ms;
	} rows[] = {{0, 60000},   {1, 60000},   {2, 120000},  {3, 240000},
		    {6, 1920000}, {7, 3600000}, {8, 3600000}, {UINT32_MAX, 3600000}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(alert_retry_ms(rows[i].failures, 0), rows[i].ms);
		for (uint64_t dice = 1; dice < 5000000; dice += 77777)
			assert_in_range(alert_retry_ms(rows[i].failures, dice), rows[i].ms,
					rows[i].ms + rows[i].ms / 4);
		assert_int_equal(alert_retry_ms(rows[i].failures, (uint64_t)rows[i].ms / 4),
				 rows[i].ms + rows[i].ms / 4);
	}
}

static void test_it_is_taken(void **state)
{
	struct alert_message m = {.made_ms = NOW, .error = "before"};

	(void)state;
	alert_message_tried(&m, &(struct alert_outcome){.taken = true}, NOW + 5, 0);
	assert_int_equal(m.state, ALERT_DELIVERED);
	assert_int_equal(m.attempts, 1);
	assert_int_equal(m.tried_ms, NOW + 5);
	assert_string_equal(m.error, "");
}

static void test_it_is_tried_for_a_day(void **state)
{
	struct alert_message m = {.made_ms = NOW};
	const struct alert_outcome away = {.error = "connection refused"};
	int64_t now = NOW;

	(void)state;
	while (m.state == ALERT_PENDING) {
		alert_message_tried(&m, &away, now, 0);
		assert_true(m.next_ms > now && m.next_ms <= now + HOUR);
		now = m.next_ms;
		assert_true(m.attempts < 100);
	}
	assert_int_equal(m.state, ALERT_FAILED);
	assert_string_equal(m.error, "connection refused");
	assert_in_range(m.tried_ms, NOW + DAY - HOUR, NOW + DAY);
	assert_in_range(m.attempts, 24, 35);
}

static void test_what_the_server_says(void **state)
{
	struct alert_message m = {.made_ms = NOW};

	(void)state;
	alert_message_tried(&m, &(struct alert_outcome){.error = "x", .later_ms = HOUR}, NOW, 0);
	assert_int_equal(m.state, ALERT_PENDING);
	assert_int_equal(m.next_ms, NOW + HOUR);
	alert_message_tried(&m, &(struct alert_outcome){.error = "x", .later_ms = 1}, NOW, 0);
	assert_int_equal(m.next_ms, NOW + 120000);
	alert_message_tried(&m, &(struct alert_outcome){.error = "gone", .final = true}, NOW, 0);
	assert_int_equal(m.state, ALERT_FAILED);
	assert_string_equal(m.error, "gone");
}

static void test_words(void **state)
{
	(void)state;
	for (int k = 0; k < ALERT_NKINDS; k++)
		assert_int_equal(alert_kind_parse(alert_kind_str((enum alert_kind)k)), k);
	for (int s = 0; s < ALERT_NSTATES; s++)
		assert_int_equal(alert_state_parse(alert_state_str((enum alert_state)s)), s);
	assert_int_equal(alert_kind_parse("other"), -1);
	assert_int_equal(alert_state_parse(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_reached),
		cmocka_unit_test(test_nothing_is_told_of_a_period_that_is_over),
		cmocka_unit_test(test_an_amount_of_nothing),
		cmocka_unit_test(test_what_it_has),
		cmocka_unit_test(test_of_which_lines),
		cmocka_unit_test(test_what_was_added),
		cmocka_unit_test(test_huge_amounts),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_a_rolling_window),
		cmocka_unit_test(test_by_number),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_it_is_taken),
		cmocka_unit_test(test_it_is_tried_for_a_day),
		cmocka_unit_test(test_what_the_server_says),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("alert", tests, NULL, NULL);
}
