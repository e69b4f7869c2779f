/* The requests about what admins add to budgets. */
#include "ctl_ask.h"

#include "api/ctl_api.h"
#include "money/money_api.h"

#define EUR          FMT_NANO
#define RQ(op, rest) "{\"v\":1,\"op\":\"" op "\"" rest "}"

static struct money_override override(int64_t id, const char *budget, int64_t until_ms)
{
	return (struct money_override){.id = id,
				       .budget = (char *)(uintptr_t)budget,
				       .value = (char *)(uintptr_t) "ann",
				       .nano = 5 * EUR,
				       .made_ms = FAKE_NOW - 1000,
				       .until_ms = until_ms,
				       .by = (char *)(uintptr_t) "root",
				       .reason = (char *)(uintptr_t) "a deadline",
				       .revoked_by = (char *)(uintptr_t) "",
				       .revoked_why = (char *)(uintptr_t) ""};
}

static struct fixture *start_with(size_t n)
{
	struct fixture *f = start("n[1-4]");

	f->e.overrides = mem_zalloc((n + 1) * sizeof(*f->e.overrides));
	f->e.noverrides = n;
	for (size_t i = 0; i < n; i++)
		f->e.overrides[i] = override((int64_t)i + 1, i % 2 == 0 ? "physics" : "students",
					     FAKE_NOW + (i % 3 == 0 ? -1 : 1));
	return f;
}

static void stop_with(struct fixture *f)
{
	free(f->e.overrides);
	stop(f);
}

static void test_add(void **state)
{
	struct fixture *f = start_with(1);
	json_t *r = ask_as(f, &admin,
			   RQ("budget-override",
			      ",\"budget\":\"physics\",\"add\":\"0.50\",\"reason\":\"why\""));

	(void)state;
	assert_true(json_is_true(json_object_get(r, "ok")));
	assert_string_equal(f->e.override_order,
			    "physics/ +500000000 until 0 by uid 1001, admin: why");
	assert_int_equal(number(r, "id"), 1);
	assert_string_equal(text(r, "added"), "5.00");
	assert_string_equal(text(r, "currency"), "USD");
	assert_false(json_is_true(json_object_get(r, "active")));
	json_decref(r);
	r = ask_as(f, &root,
		   RQ("budget-override",
		      ",\"budget\":\"s\",\"value\":\"ann\",\"add\":\"1\",\"reason\":\"x\","
		      "\"until_ms\":5000"));
	assert_non_null(strstr(f->e.override_order, "s/ann +1000000000 until "));
	assert_null(strstr(f->e.override_order, "until 0"));
	assert_non_null(strstr(f->e.override_order, "by root: x"));
	json_decref(r);
	r = ask_as(f, &admin, RQ("budget-revoke", ",\"id\":1,\"reason\":\"over\""));
	assert_true(json_is_true(json_object_get(r, "ok")));
	assert_string_equal(f->e.override_order, "revoke 1 by uid 1001, admin: over");
	json_decref(r);
	stop_with(f);
}

static void test_set(void **state)
{
	struct fixture *f = start_with(1);
	json_t *r;

	(void)state;
	f->e.overrides[0].set = true;
	f->e.overrides[0].nano = 0;
	f->e.overrides[0].until_ms = MONEY_NO_END;
	r = ask_as(f, &finance,
		   RQ("budget-set", ",\"budget\":\"physics\",\"amount\":\"0\",\"reason\":\"why\""));
	assert_true(json_is_true(json_object_get(r, "ok")));
	assert_string_equal(f->e.override_order, "physics/ =0 until 0 by uid 1000, finance: why");
	assert_string_equal(text(r, "set"), "0.00");
	assert_null(json_object_get(r, "added"));
	assert_int_equal(number(r, "until_ms"), 0);
	assert_true(json_is_true(json_object_get(r, "active")));
	json_decref(r);
	stop_with(f);
}

/* Of somebody who also gives orders to nodes it is the role that the right to money comes from. */
static void test_by_which_role(void **state)
{
	static const struct ctl_caller both = {CTL_OPERATOR | CTL_FINANCE, 7, 7, 1};
	struct fixture *f = start_with(1);

	(void)state;
	json_decref(ask_as(f, &both, RQ("budget-revoke", ",\"id\":1,\"reason\":\"over\"")));
	assert_string_equal(f->e.override_order, "revoke 1 by uid 7, finance: over");
	stop_with(f);
}

#define ADD(rest)    RQ("budget-override", rest)
#define SET(rest)    RQ("budget-set", rest)
#define PLAIN(x)     ",\"budget\":\"b\",\"add\":\"" x "\",\"reason\":\"x\""
#define REVOKE(rest) RQ("budget-revoke", rest)

static void test_refused(void **state)
{
	static const struct {
		const char *request;
		const struct ctl_caller *who;
		const char *code, *about;
	} rows[] = {
		{ADD(PLAIN("1")), &viewer, "denied", "budget-override is for"},
		{REVOKE(",\"id\":1,\"reason\":\"x\""), &viewer, "denied", "budget-revoke is for"},
		{RQ("budget-overrides", ""), &viewer, "denied", "budget-overrides is for"},
		{ADD(",\"add\":\"1\",\"reason\":\"x\""), &admin, "invalid", "\"budget\""},
		{ADD(",\"budget\":\"b\",\"reason\":\"x\""), &admin, "invalid", "\"add\""},
		{ADD(",\"budget\":\"b\",\"add\":\"1\""), &admin, "invalid", "\"reason\""},
		{ADD(",\"budget\":\"b\",\"add\":\"1\",\"reason\":\"  \""), &admin, "invalid",
		 "say why"},
		{ADD(",\"budget\":\"b\",\"add\":\"1\",\"reason\":\"a\\u0007b\""), &admin, "invalid",
		 "plain text"},
		{ADD(PLAIN("0")), &admin, "invalid", "more than 0"},
		{ADD(PLAIN("-1")), &admin, "invalid", "\"add\""},
		{ADD(PLAIN("1e3")), &admin, "invalid", "\"add\""},
		{ADD(PLAIN("1") ",\"until_ms\":-1"), &admin, "invalid", "\"until_ms\""},
		{ADD(PLAIN("1") ",\"until_ms\":253402300800001"), &admin, "invalid",
		 "\"until_ms\""},
		{ADD(PLAIN("1") ",\"value\":\"ann\\nbob\""), &admin, "invalid", "plain text"},
		{ADD(PLAIN("1") ",\"value\":\"\\u001b[2J\""), &admin, "invalid", "plain text"},
		{SET(",\"budget\":\"b\",\"amount\":\"1\",\"reason\":\"x\""), &viewer, "denied",
		 "budget-set is for"},
		{SET(",\"budget\":\"b\",\"amount\":\"-1\",\"reason\":\"x\""), &admin, "invalid",
		 "\"amount\""},
		{SET(",\"budget\":\"b\",\"add\":\"1\",\"reason\":\"x\""), &admin, "invalid",
		 "\"amount\""},
		{SET(",\"budget\":\"b\",\"amount\":\"1\""), &admin, "invalid", "\"reason\""},
		{REVOKE(",\"id\":1"), &admin, "invalid", "\"reason\""},
		{REVOKE(",\"id\":\"x\",\"reason\":\"x\""), &admin, "invalid", "\"id\""},
	};
	struct fixture *f = start_with(1);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *r = ask_as(f, rows[i].who, rows[i].request);

		print_message("# %s\n", rows[i].request);
		assert_string_equal(text(r, "code"), rows[i].code);
		assert_non_null(strstr(text(r, "error"), rows[i].about));
		assert_string_equal(f->e.override_order, "");
		json_decref(r);
	}
	stop_with(f);
}

/* What the engine says is passed on. */
static void test_the_engine_refuses(void **state)
{
	struct fixture *f = start_with(1);
	json_t *r;

	(void)state;
	(void)err_set(&f->e.override_err, ERR_INVALID, "no budget is named \"b\"");
	r = ask_as(f, &admin, ADD(PLAIN("1")));
	assert_string_equal(text(r, "code"), "invalid");
	assert_string_equal(text(r, "error"), "no budget is named \"b\"");
	json_decref(r);
	(void)err_set(&f->e.override_err, ERR_IO, "the journal failed");
	r = ask_as(f, &admin, ADD(PLAIN("1")));
	assert_string_equal(text(r, "code"), "failed");
	json_decref(r);
	stop_with(f);
}

static size_t listed(struct fixture *f, const char *request, int64_t *first, int64_t *next)
{
	json_t *r = ask_as(f, &admin, request);
	const json_t *all = json_object_get(r, "overrides");
	size_t n = json_array_size(all);

	assert_true(json_is_true(json_object_get(r, "ok")));
	*first = n > 0 ? number(json_array_get(all, 0), "id") : 0;
	*next = number(r, "next");
	json_decref(r);
	return n;
}

static void test_list(void **state)
{
	struct fixture *f = start_with(6);
	int64_t first, next;

	(void)state;
	/* Numbers 1 and 4 have ended. */
	assert_int_equal(listed(f, RQ("budget-overrides", ""), &first, &next), 4);
	assert_int_equal(first, 6);
	assert_int_equal(next, 0);
	assert_int_equal(listed(f, RQ("budget-overrides", ",\"ended\":true"), &first, &next), 6);
	assert_int_equal(listed(f, RQ("budget-overrides", ",\"ended\":true,\"budget\":\"physics\""),
				&first, &next),
			 3);
	assert_int_equal(first, 5);
	assert_int_equal(
		listed(f, RQ("budget-overrides", ",\"ended\":true,\"before\":3"), &first, &next),
		2);
	assert_int_equal(first, 2);
	stop_with(f);
}

static void test_pages(void **state)
{
	struct fixture *f = start_with(1300);
	int64_t first, next;

	(void)state;
	assert_int_equal(listed(f, RQ("budget-overrides", ",\"ended\":true"), &first, &next), 500);
	assert_int_equal(first, 1300);
	assert_int_equal(next, 801);
	assert_int_equal(
		listed(f, RQ("budget-overrides", ",\"ended\":true,\"before\":801"), &first, &next),
		500);
	assert_int_equal(first, 800);
	assert_int_equal(
		listed(f, RQ("budget-overrides", ",\"ended\":true,\"before\":301"), &first, &next),
		300);
	assert_int_equal(next, 0);
	stop_with(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_by_which_role),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_the_engine_refuses),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests_name("overrides", tests, NULL, NULL);
}
