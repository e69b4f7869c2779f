/* test_budgets.c - the request "budgets": what it shows, to whom, and in which pages. */
#include "three_budgets.h"

#include <inttypes.h>

#define ASK(more) "{\"v\":1,\"op\":\"budgets\"" more "}"

static void test_what_a_line_has(void **state)
{
	static const char *const texts[][2] = {
		{"name", "physics"},  {"each", ""},
		{"value", ""},        {"when", "now"},
		{"amount", "500.00"}, {"spent", "300.00"},
		{"held", "138.80"},   {"accrued", "5.00"},
		{"later", "7.00"},    {"left", "61.20"},
		{"beyond", "0.25"},   {"rate", "2.00"},
		{"reserve", "full"},  {"contact", "finance@example.org"}};
	struct fixture *f = start_with_budgets();
	json_t *r = ask(f, ASK("")), *all = json_object_get(r, "budgets"), *b, *p;

	(void)state;
	assert_string_equal(f->e.budgets_user, "");
	assert_string_equal(text(r, "currency"), "USD");
	assert_int_equal(number(r, "now_ms"), FAKE_NOW);
	assert_null(json_object_get(r, "user"));
	assert_int_equal(json_array_size(all), 4);
	b = json_array_get(all, 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		print_message("# %s\n", texts[i][0]);
		assert_string_equal(text(b, texts[i][0]), texts[i][1]);
	}
	p = json_object_get(b, "period");
	assert_string_equal(text(p, "name"), "2026-11");
	assert_int_equal(number(p, "begin_ms"), 1000);
	assert_int_equal(number(p, "end_ms"), 2000);
	p = json_object_get(b, "forecast");
	assert_string_equal(text(p, "pace"), "1.00");
	assert_string_equal(text(p, "least"), "2.00");
	assert_string_equal(text(p, "expected"), "3.00");
	assert_string_equal(text(p, "most"), "4.00");
	assert_int_equal(number(p, "used_up_ms"), 5000);
	assert_string_equal(text(b, "step"), "requeue");
	assert_int_equal(number(b, "step_ms"), 7000);
	assert_null(json_object_get(b, "added"));
	assert_int_equal(number(b, "waiting"), 2);
	assert_int_equal(number(b, "spot_only_at"), 90);
	assert_int_equal(number(b, "stop_at"), 100);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(b, "notify_at"), 1)),
			 95);
	assert_null(json_object_get(b, "rate_limit"));
	assert_null(json_object_get(b, "lease_ms"));
	assert_null(json_object_get(b, "counts")); /* only of one that is asked for */
	b = json_array_get(all, 1);
	assert_string_equal(text(b, "value"), "ann");
	assert_null(json_object_get(b, "forecast"));
	assert_null(json_object_get(b, "step_ms"));
	assert_string_equal(text(b, "added"), "3.00");
	assert_string_equal(text(b, "carried"), "4.00");
	assert_string_equal(text(b, "each"), "user");
	assert_string_equal(text(b, "left"), "-1.00");
	assert_string_equal(text(b, "rate_limit"), "4.00");
	assert_string_equal(text(b, "reserve"), "lease");
	assert_int_equal(number(b, "lease_ms"), 14400000);
	b = json_array_get(all, 3);
	assert_null(json_object_get(b, "amount"));
	assert_null(json_object_get(b, "left"));
	assert_null(json_object_get(b, "period"));
	assert_string_equal(text(b, "reserve"), "minimum");
	assert_string_equal(text(r, "next"), "");
	json_decref(r);
	/* When something was, or will be, is said by the clock on the wall (F57). */
	f->e.of_wall_ms = 500;
	r = ask(f, ASK(""));
	b = json_array_get(json_object_get(r, "budgets"), 0);
	assert_int_equal(number(b, "step_ms"), 6500);
	assert_int_equal(number(json_object_get(b, "forecast"), "used_up_ms"), 4500);
	json_decref(r);
	stop_with_budgets(f);
}

/* What it is set to, instead of what, until when; by whom, only those who may see overrides. */
static void test_what_is_set(void **state)
{
	static char by[] = "uid 5", why[] = "a board";
	struct money_override x = {.id = 7, .set = true, .until_ms = 5000, .by = by, .reason = why};
	struct fixture *f = start_with_budgets();
	const json_t *set;
	json_t *r;

	(void)state;
	f->e.budgets[1].set = &x;
	f->e.budgets[1].line.own = 0;
	r = ask(f, ASK(""));
	assert_null(json_object_get(json_array_get(json_object_get(r, "budgets"), 0), "set"));
	set = json_object_get(json_array_get(json_object_get(r, "budgets"), 1), "set");
	assert_string_equal(text(set, "amount"), "0.00");
	assert_string_equal(text(set, "configured"), "20.00");
	assert_int_equal(number(set, "until_ms"), 5000);
	assert_int_equal(number(set, "id"), 7);
	assert_string_equal(text(set, "by"), "uid 5");
	assert_string_equal(text(set, "reason"), "a board");
	json_decref(r);
	x.until_ms = MONEY_NO_END;
	r = ask_as(f, &viewer, ASK(""));
	set = json_object_get(json_array_get(json_object_get(r, "budgets"), 0), "set");
	assert_string_equal(text(set, "amount"), "0.00");
	assert_int_equal(number(set, "until_ms"), 0);
	assert_null(json_object_get(set, "id"));
	assert_null(json_object_get(set, "by"));
	assert_null(json_object_get(set, "reason"));
	json_decref(r);
	stop_with_budgets(f);
}

static void test_one_is_shown_whole(void **state)
{
	struct fixture *f = start_with_budgets();
	json_t *r = ask(f, ASK(",\"budget\":\"students\"")), *all = json_object_get(r, "budgets");
	const json_t *counts;

	(void)state;
	assert_int_equal(json_array_size(all), 2);
	assert_string_equal(text(r, "each"), "user");
	counts = json_object_get(json_array_get(all, 1), "counts");
	assert_string_equal(text(counts, "market"), "spot");
	assert_string_equal(json_string_value(json_array_get(json_object_get(counts, "users"), 1)),
			    "bob");
	assert_null(json_object_get(counts, "accounts"));
	assert_string_equal(text(counts, "text"), "users ann, bob; spot machines");
	json_decref(r);
	/* One that nobody has used is there, and empty; another is not. */
	f->e.nbudgets = 1;
	r = ask(f, ASK(",\"budget\":\"students\""));
	assert_int_equal(json_array_size(json_object_get(r, "budgets")), 0);
	assert_string_equal(text(r, "each"), "user");
	json_decref(r);
	r = ask_as(f, &admin, ASK(",\"budget\":\"nosuch\""));
	assert_string_equal(text(r, "code"), "not-found");
	assert_string_equal(text(r, "error"), "no budget is named \"nosuch\"");
	json_decref(r);
	stop_with_budgets(f);
}

/* Whose budgets they see: by the kernel's uid, whatever they say. */
static void test_who_sees_what(void **state)
{
	static const struct {
		const struct ctl_caller *who;
		const char *request, *name; /* of uid 1000 */
		const char *user, *code;    /* NULL: it is refused; NULL: it is not */
		int lines;
	} rows[] = {
		{&root, ASK(""), "ann", "", NULL, 4},
		{&admin, ASK(""), "ann", "", NULL, 4},
		{&admin, ASK(",\"user\":\"bob\""), "ann", "bob", NULL, 1},
		{&finance, ASK(""), "ann", "", NULL, 4},
		{&finance, ASK(",\"user\":\"bob\""), "ann", "bob", NULL, 1},
		{&finance, ASK(",\"mine\":true"), "ann", "ann", NULL, 1},
		{&operator, ASK(""), "ann", "ann", NULL, 1},
		{&operator, ASK(",\"user\":\"bob\""), "ann", NULL, "denied", 0},
		{&operator, ASK(",\"budget\":\"physics\""), "ann", NULL, "not-found", 0},
		{&viewer, ASK(""), "ann", "ann", NULL, 1},
		{&viewer, ASK(",\"mine\":true"), "ann", "ann", NULL, 1},
		{&viewer, ASK(",\"mine\":false"), "bob", "bob", NULL, 1},
		{&viewer, ASK(",\"user\":\"ann\""), "ann", "ann", NULL, 1},
		{&viewer, ASK(",\"user\":\"bob\""), "ann", NULL, "denied", 0},
		{&viewer, ASK(",\"user\":\"bob\",\"mine\":true"), "ann", NULL, "denied", 0},
		{&viewer, ASK(",\"budget\":\"students\""), "ann", "ann", NULL, 1},
		{&viewer, ASK(",\"budget\":\"physics\""), "ann", NULL, "not-found", 0},
		{&viewer, ASK(",\"budget\":\"nosuch\""), "ann", NULL, "not-found", 0},
		{&viewer, ASK(""), "", NULL, "denied", 0},
		{&viewer, ASK(",\"user\":7"), "ann", NULL, "invalid", 0},
		{&viewer, ASK(",\"budget\":7"), "ann", NULL, "invalid", 0},
		{&admin, ASK(",\"after\":7"), "ann", NULL, "invalid", 0},
		{&admin, ASK(",\"after_value\":7"), "ann", NULL, "invalid", 0},
		{&viewer, ASK(""), "carl", "carl", NULL, 0},
		{&viewer, ASK(""), NULL, NULL, "failed", 0}, /* it cannot be held */
	};
	struct fixture *f = start_with_budgets();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *r, *all;

		f->e.name = rows[i].name;
		f->e.budgets_user[0] = '\0';
		r = ask_as(f, rows[i].who, rows[i].request);
		all = json_object_get(r, "budgets");
		if (rows[i].code != NULL) {
			assert_string_equal(text(r, "code"), rows[i].code);
			json_decref(r);
			continue;
		}
		assert_string_equal(f->e.budgets_user, rows[i].user);
		assert_int_equal(json_array_size(all), rows[i].lines);
		if (rows[i].user[0] != '\0')
			assert_string_equal(text(r, "user"), rows[i].user);
		/* Who else is in the list is not said. */
		if (rows[i].user[0] != '\0' && rows[i].lines > 0)
			assert_null(json_object_get(json_array_get(all, 0), "counts"));
		json_decref(r);
	}
	stop_with_budgets(f);
}

/* What is there and may not be seen is as what is not there. */
static void test_no_probing(void **state)
{
	struct fixture *f = start_with_budgets();
	json_t *there = ask_as(f, &viewer, ASK(",\"budget\":\"physics\"")),
	       *absent = ask_as(f, &viewer, ASK(",\"budget\":\"phys1cs\""));

	(void)state;
	assert_string_equal(text(there, "error"), "no budget \"physics\" concerns ann");
	assert_string_equal(text(absent, "error"), "no budget \"phys1cs\" concerns ann");
	json_decref(there);
	json_decref(absent);
	stop_with_budgets(f);
}

/* Each line once, in order, however often it is asked. */
static void test_pages(void **state)
{
	struct fixture *f = start_with_budgets();
	char values[LINES][8], after[16] = "", value[16] = "", request[128];
	size_t seen = 0, pages = 0;
	json_t *r;

	(void)state;
	f->e.nbudgets = LINES;
	for (size_t i = 0; i < LINES; i++) {
		(void)snprintf(values[i], sizeof(values[i]), "u%05zu", i);
		f->e.budgets[i] =
			(struct engine_budget){.line = line_of(&f->e.conf->budgets[1], values[i])};
	}
	do {
		const json_t *all;

		(void)snprintf(request, sizeof(request),
			       ASK(",\"after\":\"%s\",\"after_value\":\"%s\""), after, value);
		r = ask(f, request);
		all = json_object_get(r, "budgets");
		for (size_t i = 0; i < json_array_size(all); i++)
			assert_string_equal(text(json_array_get(all, i), "value"), values[seen++]);
		(void)snprintf(after, sizeof(after), "%s", text(r, "next"));
		(void)snprintf(value, sizeof(value), "%s", text(r, "next_value"));
		json_decref(r);
		pages++;
	} while (after[0] != '\0');
	assert_int_equal(seen, LINES);
	assert_int_equal(pages, 3);
	/* The value may be gone meanwhile; not the budget. */
	r = ask(f, ASK(",\"after\":\"students\",\"after_value\":\"u01198+\""));
	assert_int_equal(json_array_size(json_object_get(r, "budgets")), 1);
	json_decref(r);
	r = ask(f, ASK(",\"after\":\"physics\""));
	assert_int_equal(json_array_size(json_object_get(r, "budgets")), 500);
	json_decref(r);
	r = ask_as(f, &admin, ASK(",\"after\":\"gone\""));
	assert_string_equal(text(r, "code"), "not-found");
	json_decref(r);
	stop_with_budgets(f);
}

/* How much is left is for those whom it concerns, wherever burstd says it. */
static void test_others_do_not_read_it(void **state)
{
	static const char money[] =
		"budget physics: this job needs 118.08 EUR, 61.20 of 500.00 left in 2026-11";
	const struct ctl_caller *const callers[] = {&viewer, &admin, &finance, &operator};
	struct fixture *f = start("n[1-4]");
	struct fleet_name *nm;
	char detail[200];

	(void)state;
	fake_refuse(&f->e, "n1", 0, money);
	fake_refuse(&f->e, "n2", 0, money);
	nm = fleet_find(&f->e.fleet, "n1");
	nm->refused = NODE_BECAUSE_BUDGET;
	fleet_find(&f->e.fleet, "n2")->refused = NODE_BECAUSE_NONE; /* Slurm has asked anew */
	(void)snprintf(detail, sizeof(detail), "job 7, refusal 1: %s", money);
	f->j.last = 1;
	(void)snprintf(f->j.events[0].node, sizeof(f->j.events[0].node), "n1");
	f->j.events[0].detail = detail;
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
		static const char *const requests[] = {
			"{\"v\":1,\"op\":\"status\"}", "{\"v\":1,\"op\":\"nodes\"}",
			"{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}",
			"{\"v\":1,\"op\":\"node\",\"name\":\"n2\"}", "{\"v\":1,\"op\":\"events\"}"};

		for (size_t k = 0; k < sizeof(requests) / sizeof(requests[0]); k++) {
			json_t *r = ask_as(f, callers[i], requests[k]);
			char *all = json_dumps(r, 0);

			if (callers[i] == &viewer)
				assert_null(strstr(all, "61.20"));
			else if (k == 4)
				assert_non_null(strstr(all, money));
			if (k == 4 && callers[i] == &viewer)
				assert_non_null(strstr(
					all, "job 7, refusal 1: no money is left for its job\""));
			free(all);
			json_decref(r);
		}
	}
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_line_has),
		cmocka_unit_test(test_what_is_set),
		cmocka_unit_test(test_one_is_shown_whole),
		cmocka_unit_test(test_who_sees_what),
		cmocka_unit_test(test_no_probing),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_others_do_not_read_it),
	};

	return cmocka_run_group_tests_name("budgets", tests, NULL, NULL);
}
