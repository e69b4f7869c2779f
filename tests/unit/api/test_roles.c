/* test_roles.c - which role may ask what: each request of the protocol, by each role. */
#include "ctl_ask.h"

#include "api/ctl_reply.h"

static const struct ctl_caller both = {CTL_OPERATOR | CTL_FINANCE, 1000, 1000, 6};

static const struct {
	const struct ctl_caller *who;
	const char *name;
} callers[] = {{&viewer, "1000, user"}, {&finance, "1000, finance"},
	       {&operator, "1000, operator" },
		{&both, "1000, operator,finance"},
		{&admin, "1001, admin"},
		{&root, "0, admin"}};

enum { NCALLERS = sizeof(callers) / sizeof(callers[0]) };

/* "vfobar": one letter for each caller who may. */
static const struct {
	const char *op, *may, *wants;
} ops[] = {
	{"status", "vfobar", ""},
	{"nodes", "vfobar", ""},
	{"node", "vfobar", ""},
	{"events", "vfobar", ""},
	{"pools", "vfobar", ""},
	{"plan", "vfobar", ""},
	{"budgets", "vfobar", ""},
	{"secrets", "vfobar", ""},
	{"secrets-rotation", "vfobar", ""},
	{"budget-overrides", "-f-bar", "admins and finance"},
	{"budget-override", "-f-bar", "admins and finance"},
	{"budget-set", "-f-bar", "admins and finance"},
	{"budget-revoke", "-f-bar", "admins and finance"},
	{"alerts", "-f-bar", "admins and finance"},
	{"alert-test", "----ar", "admins"},
	{"audit", "-fobar", "admins, operators and finance"},
	{"audit-verify", "-fobar", "admins, operators and finance"},
	{"reconcile", "--obar", "admins and operators"},
	{"drain", "--obar", "admins and operators"},
	{"terminate", "--obar", "admins and operators"},
	{"notice", "--obar", "admins and operators"},
	{"pause", "--obar", "admins and operators"},
	{"resume", "--obar", "admins and operators"},
	{"retry", "--obar", "admins and operators"},
	{"config", "----ar", "admins"},
	{"reload", "----ar", "admins"},
	{"secrets-enroll", "----ar", "admins"},
	{"secrets-rotate", "----ar", "admins"},
	{"gate", "-----r", "root and burstd's own user"},
};

static int reload(void *ctx, const struct api_reload *to, struct err *e)
{
	(void)ctx;
	(void)to;
	return err_set(e, ERR_INVALID, "not now");
}

/* Arguments are missing: who may ask is told that, or is answered. */
static void each_request_wants_its_role_and_no_more(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		for (size_t k = 0; k < NCALLERS; k++) {
			struct fixture *f = start("n[1-3]");
			char request[64], want[160];
			const char *error;
			json_t *r;

			f->api.reload = reload;
			(void)snprintf(request, sizeof(request),
				       "{\"v\":1,\"op\":\"%s\",\"job\":[]}", ops[i].op);
			r = ask_as(f, callers[k].who, request);
			(void)snprintf(want, sizeof(want), "%s is for %s; you are uid %s",
				       ops[i].op, ops[i].wants, callers[k].name);
			error = json_string_value(json_object_get(r, "error"));
			if (ops[i].may[k] != '-') {
				assert_true(error == NULL || strstr(error, " is for ") == NULL);
			} else {
				assert_string_equal(text(r, "code"), "denied");
				assert_string_equal(error, want);
			}
			json_decref(r);
			stop(f);
		}
}

/* What is written down of an order: by which right it was given. */
static void an_order_is_by_a_role(void **state)
{
	static const struct {
		const struct ctl_caller *who;
		const char *by;
	} rows[] = {{&operator, "uid 1000, operator" },
		     {&both, "uid 1000, operator"},
		     {&admin, "uid 1001, admin"},
		     {&root, "root"}};
	static const struct ctl_caller own = {CTL_OWN, 64030, 64030, 1},
				       most = {CTL_OPERATOR, UINT32_MAX - 1, 1, 1};
	char by[CTL_BY_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = start("n[1-3]");

		json_decref(ask_as(f, rows[i].who, "{\"v\":1,\"op\":\"drain\",\"nodes\":\"n1\"}"));
		assert_string_equal(f->e.order_by, rows[i].by);
		stop(f);
	}
	assert_string_equal(ctl_reply_by(by, &own), "uid 64030, admin");
	assert_string_equal(ctl_reply_by(by, &most), "uid 4294967294, operator");
	assert_string_equal(ctl_reply_by(by, &finance), "uid 1000, finance");
	assert_string_equal(ctl_reply_by(by, &viewer), "uid 1000, user");
}

/* "vfobar", as above. */
static void a_console_is_for_who_looks_after_nodes(void **state)
{
	static const char may[] = "--obar";

	(void)state;
	for (size_t k = 0; k < NCALLERS; k++) {
		struct fixture *f = start("n[1-3]");
		json_t *r;

		f->e.console = "Kernel panic";
		r = ask_as(f, callers[k].who, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
		assert_int_equal(json_object_get(r, "console") != NULL, may[k] != '-');
		json_decref(r);
		stop(f);
	}
}

/* When a job ends is its owner's to know, and what is done to a budget is no job's; the sums are
 * for those who may see them. */
static void events_of_budgets_are_not_for_all(void **state)
{
	static const struct {
		const char *type, *detail, *shown;
	} rows[] = {
		{"job-warned",
		 "job 7: budget physics is used up for 2026-11: this job is requeued at "
		 "2026-11-29T17:00:00Z",
		 "job 7: no money is left for its job: this job is requeued at "
		 "2026-11-29T17:00:00Z"},
		{"job-postponed", "job 7, refusal 1: budget physics: this job needs 5.00 EUR",
		 "job 7, refusal 1: no money is left for its job"},
		{"budget-step", "budget physics: 105 % used up: its jobs are cancelled in 10s",
		 "about a budget; finance and operators see the rest"},
		{"budget-alert", "hpc1: budget physics: 3.72 EUR more than its 0.01 may be spent",
		 "about a budget; finance and operators see the rest"},
		{"reloaded", "/etc/burstd/burstd.conf", "/etc/burstd/burstd.conf"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < NCALLERS; k++) {
			const bool sees = callers[k].who != &viewer;
			struct fixture *f = start("n[1-4]");
			const json_t *one;
			json_t *r;

			f->j.events[f->j.last++] = (struct fake_event){
				.node = "n1", .detail = rows[i].detail, .type = rows[i].type};
			r = ask_as(f, callers[k].who, "{\"v\":1,\"op\":\"events\"}");
			one = json_array_get(json_object_get(r, "events"), 0);
			assert_string_equal(text(one, "detail"),
					    sees ? rows[i].detail : rows[i].shown);
			json_decref(r);
			stop(f);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_wants_its_role_and_no_more),
		cmocka_unit_test(an_order_is_by_a_role),
		cmocka_unit_test(a_console_is_for_who_looks_after_nodes),
		cmocka_unit_test(events_of_budgets_are_not_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
