/* test_ctl_api.c - the control socket's requests that act, on an engine that does what the test
 * says. */
#include "ctl_ask.h"

static struct reloads {
	int rc;
	unsigned asked, changes;
	bool secret_changed;
} R;

/* Says that max_nodes of the pool has changed, r->changes times, and a secret. */
static int reload(void *ctx, const struct api_reload *to, struct err *e)
{
	const struct conf_change max_nodes = {"pool", "pool0", "max_nodes", "4", "8"};
	const struct conf_change pool = {"pool", "new", NULL, NULL, ""};
	struct reloads *r = ctx;

	r->asked++;
	for (unsigned i = 0; i < r->changes; i++)
		to->changed(to->ctx, &max_nodes);
	if (r->changes > 0)
		to->changed(to->ctx, &pool);
	if (r->secret_changed) {
		to->at_restart(to->ctx, "one");
		to->at_restart(to->ctx, "two");
	}
	return r->rc == 0 ? 0 : err_set(e, ERR_INVALID, "burstd.conf:3: no good");
}

static struct fixture *start_daemon(void)
{
	struct fixture *f = start("n[1-4]");

	memset(&R, 0, sizeof(R));
	f->api.reload = reload;
	f->api.ctx = &R;
	return f;
}

static void test_refusals(void **state)
{
	static const struct {
		const char *request, *code, *error;
	} rows[] = {
		{"", "invalid", "not JSON"},
		{"{", "invalid", "not JSON"},
		{"[]", "invalid", "object"},
		{"3", "invalid", "not JSON"},
		{"{\"op\":\"status\"}", "invalid", "\"v\""},
		{"{\"v\":\"1\",\"op\":\"status\"}", "invalid", "\"v\""},
		{"{\"v\":2,\"op\":\"status\"}", "invalid", "version 1"},
		{"{\"v\":1}", "invalid", "\"op\""},
		{"{\"v\":1,\"op\":7}", "invalid", "\"op\""},
		{"{\"v\":1,\"op\":\"launch\"}", "invalid", "launch"},
		{"{\"v\":1,\"v\":1,\"op\":\"status\"}", "invalid", "not JSON"},
		{"{\"v\":1,\"op\":\"nodes\",\"after\":3}", "invalid", "\"after\""},
		{"{\"v\":1,\"op\":\"nodes\",\"limit\":-1}", "invalid", "\"limit\""},
		{"{\"v\":1,\"op\":\"nodes\",\"limit\":2001}", "invalid", "\"limit\""},
		{"{\"v\":1,\"op\":\"events\",\"since\":1.5}", "invalid", "\"since\""},
		{"{\"v\":1,\"op\":\"events\",\"tail\":\"5\"}", "invalid", "\"tail\""},
		{"{\"v\":1,\"op\":\"node\"}", "invalid", "\"name\""},
		{"{\"v\":1,\"op\":\"node\",\"name\":\"other1\"}", "not-found", "other1"},
		{"{\"v\":1,\"op\":\"config\"}", "denied", "uid 1000"},
		{"{\"v\":1,\"op\":\"reconcile\"}", "denied", "reconcile"},
		{"{\"v\":1,\"op\":\"reload\"}", "denied", "reload"},
		{"{\"v\":1,\"op\":\"gate\",\"job\":7,\"nodes\":\"n1\"}", "denied", "gate"},
	};
	struct fixture *f = start_daemon();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *r = ask_as(f, &viewer, rows[i].request);

		assert_true(json_is_false(json_object_get(r, "ok")));
		assert_string_equal(text(r, "code"), rows[i].code);
		assert_non_null(strstr(text(r, "error"), rows[i].error));
		json_decref(r);
	}
	assert_int_equal(f->e.reconciles, 0);
	assert_int_equal(R.asked, 0);
	stop(f);
}

static void test_orders(void **state)
{
	struct fixture *f = start_daemon();
	json_t *r;

	(void)state;
	json_decref(ask(f, "{\"v\":1,\"op\":\"reconcile\",\"unknown\":[]}"));
	assert_int_equal(f->e.reconciles, 1);
	json_decref(ask(f, "{\"v\":1,\"op\":\"reload\"}"));
	assert_int_equal(R.asked, 1);
	R.rc = -1;
	r = ask_as(f, &admin, "{\"v\":1,\"op\":\"reload\"}");
	assert_true(json_is_false(json_object_get(r, "ok")));
	assert_string_equal(text(r, "code"), "failed");
	assert_string_equal(text(r, "error"), "burstd.conf:3: no good");
	json_decref(r);
	r = ask_as(f, &admin, "{\"v\":1,\"op\":\"gate\",\"job\":7,\"nodes\":\"n1\"}");
	assert_string_equal(text(r, "code"), "denied"); /* slurmctld's user only */
	json_decref(r);
	r = ask(f, "{\"v\":1,\"op\":\"config\"}");
	assert_string_equal(text(r, "path"), "/etc/burstd/burstd.conf");
	assert_non_null(strstr(text(r, "text"), "falcon"));
	json_decref(r);
	stop(f);
}

/* A reload says what it changed; what does not fit one answer is left out, for it is done. */
static void test_reload(void **state)
{
	static const struct {
		unsigned changes;
		bool secret_changed;
	} rows[] = {{0, false}, {0, true}, {1, false}, {1, true}, {50000, true}};
	struct fixture *f = start_daemon();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *r, *changes, *restart;

		R.changes = rows[i].changes;
		R.secret_changed = rows[i].secret_changed;
		r = ask(f, "{\"v\":1,\"op\":\"reload\"}");
		changes = json_object_get(r, "changes");
		restart = json_object_get(r, "at_restart");
		assert_true(json_is_array(changes) && json_is_array(restart));
		if (rows[i].changes == 1) {
			assert_int_equal(json_array_size(changes), 2);
			assert_string_equal(text(json_array_get(changes, 0), "text"),
					    "pool \"pool0\" max_nodes: 4 -> 8");
			assert_string_equal(text(json_array_get(changes, 0), "from"), "4");
			assert_string_equal(text(json_array_get(changes, 0), "to"), "8");
			assert_string_equal(text(json_array_get(changes, 1), "name"), "new");
			assert_string_equal(text(json_array_get(changes, 1), "text"),
					    "pool \"new\": new");
			assert_null(json_object_get(json_array_get(changes, 1), "from"));
			assert_non_null(json_object_get(json_array_get(changes, 1), "to"));
		} else if (rows[i].changes == 0) {
			assert_int_equal(json_array_size(changes), 0);
		} else {
			assert_true(json_array_size(changes) > 1000);
			assert_true(json_array_size(changes) < rows[i].changes);
		}
		if (rows[i].changes <= 1)
			assert_int_equal(json_array_size(restart), rows[i].secret_changed ? 2 : 0);
		json_decref(r);
	}
	stop(f);
}

/* ... and which overrides add to nothing now. */
static void test_reload_of_a_renamed_budget(void **state)
{
	static char gone[] = "renamed", none[] = "";
	struct money_override x = {
		.id = 7, .budget = gone, .value = none, .until_ms = MONEY_NO_END};
	struct fixture *f = start_daemon();

	(void)state;
	f->e.overrides = &x;
	f->e.noverrides = 1;
	for (int i = 0; i < 4; i++) {
		json_t *r;
		const json_t *all;

		R.secret_changed = i % 2 != 0;
		R.rc = i == 2 ? -1 : 0; /* then nothing has changed */
		x.until_ms = i < 3 ? MONEY_NO_END : FAKE_NOW;
		r = ask_as(f, &admin, "{\"v\":1,\"op\":\"reload\"}");
		all = json_object_get(r, "overrides");
		assert_int_equal(json_is_array(all), i < 2);
		assert_int_equal(json_array_size(all), i < 2);
		if (i < 2) {
			assert_string_equal(json_string_value(json_array_get(all, 0)),
					    "override 7 of budget renamed has no effect: there is "
					    "no such budget");
			assert_int_equal(json_array_size(json_object_get(r, "at_restart")), 2 * i);
		}
		json_decref(r);
	}
	/* What does not fit is left out. */
	x.until_ms = MONEY_NO_END;
	R.changes = 50000;
	json_decref(ask(f, "{\"v\":1,\"op\":\"reload\"}"));
	f->e.overrides = NULL;
	stop(f);
}

/* F46: calls come by the spool alone, whoever asks (ADR 33).  A hook of an earlier version that is
 * refused leaves its call there. */
static void test_call(void **state)
{
	static const struct ctl_caller *const callers[] = {&root, &admin, &viewer};
	static const char *const requests[] = {
		"{\"v\":1,\"op\":\"call\"}",
		"{\"v\":1,\"op\":\"call\",\"kind\":\"resume\",\"at_ms\":1,\"file\":\"none\"}",
	};
	struct fixture *f = start_daemon();

	(void)state;
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
		for (size_t k = 0; k < sizeof(requests) / sizeof(requests[0]); k++) {
			json_t *r = ask_as(f, callers[i], requests[k]);

			assert_true(json_is_false(json_object_get(r, "ok")));
			assert_string_equal(text(r, "code"), "invalid");
			assert_non_null(strstr(text(r, "error"), "call"));
			json_decref(r);
		}
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_orders),
		cmocka_unit_test(test_reload),   cmocka_unit_test(test_reload_of_a_renamed_budget),
		cmocka_unit_test(test_call),
	};

	return cmocka_run_group_tests_name("ctl_api", tests, NULL, NULL);
}
