/* test_simcloud.c - the program simcloud over HTTP, mostly through the driver that burstd uses. */
#include "simcloud_driver.h"

static int delete (struct provider_result *out, const char *const *ids, size_t n)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};

	op.u.del.ids = ids;
	op.u.del.nids = n;
	return drive(&op, out);
}

static void silence(FILE *f)
{
	if (freopen("/dev/null", "w", f) == NULL)
		_exit(99);
}

/* --- the driver and the program agree ------------------------------------------------------------
 */

static void test_driver_whole_life(void **state)
{
	struct provider_result r, again;
	const char *ids[2];

	(void)state;
	config("{\"boot\":\"50ms\"}");
	assert_int_equal(create(&r, "t1", two, 2), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 2);
	assert_int_equal(r.items[1].code, PROVIDER_OK);
	assert_string_equal(r.items[1].instance.node, "n2");
	assert_int_equal(r.items[1].instance.gen, 7);
	assert_int_equal(r.items[1].instance.state, PROVIDER_PENDING);
	assert_true(r.items[1].instance.created_ms > 0);
	assert_int_equal(strncmp(r.items[1].instance.addr, "10.77.", 6), 0);
	/* I4: the same token gives the same instances. */
	assert_int_equal(create(&again, "t1", two, 2), 0);
	for (int i = 0; i < 2; i++)
		assert_string_equal(again.items[i].instance.id, r.items[i].instance.id);
	provider_result_fini(&again);
	settle(150);
	assert_int_equal(list(&again, ""), 0);
	assert_int_equal(again.code, PROVIDER_OK);
	assert_int_equal(again.ninstances, 2);
	assert_int_equal(again.instances[0].state, PROVIDER_RUNNING);
	assert_string_equal(again.instances[0].cluster, cluster);
	assert_string_equal(again.cursor, "");
	provider_result_fini(&again);
	ids[0] = r.items[0].instance.id;
	ids[1] = "sim-deadbeef";
	assert_int_equal(delete (&again, ids, 2), 0);
	assert_int_equal(again.items[0].code, PROVIDER_OK);
	assert_int_equal(again.items[0].instance.state, PROVIDER_ENDED);
	assert_int_equal(again.items[1].code, PROVIDER_NOT_FOUND);
	provider_result_fini(&again);
	assert_int_equal(list(&again, ""), 0);
	assert_int_equal(again.instances[0].state, PROVIDER_ENDED);
	assert_true(again.instances[0].ended_ms >= again.instances[0].created_ms);
	provider_result_fini(&again);
	provider_result_fini(&r);
}

static void test_driver_offers(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;
	bool found = false;
	char id[sizeof(r.request_id)];

	(void)state;
	assert_int_equal(drive(&op, &r), 0);
	assert_int_equal(strncmp(r.request_id, "sim-", 4), 0);
	memcpy(id, r.request_id, sizeof(id));
	provider_result_fini(&r);
	assert_int_equal(drive(&op, &r), 0);
	assert_string_not_equal(r.request_id, id); /* each has its own */
	assert_int_equal(r.code, PROVIDER_OK);
	for (size_t i = 0; i < r.nquotes; i++)
		found |= strcmp(r.quotes[i].type, "gpu_8x_h100") == 0 &&
			 strcmp(r.quotes[i].region, "eu-west-1") == 0 &&
			 r.quotes[i].market == PROVIDER_ON_DEMAND &&
			 r.quotes[i].price_nano_h == INT64_C(29520000000) &&
			 r.quotes[i].terms.minimum_ms == PROVIDER_NO_MINIMUM;
	assert_true(found);
	provider_result_fini(&r);
}

static void test_driver_largest_batch_and_pages(void **state)
{
	static struct provider_want wants[1000];
	static char names[1000][16];
	struct provider_result r;
	char cursor[128] = "";
	size_t seen = 0, pages = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "node-%04zu", i);
		wants[i] = (struct provider_want){names[i], 1, 0};
	}
	assert_int_equal(create(&r, "big", wants, 1000), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	for (size_t i = 0; i < 1000; i++)
		assert_string_equal(r.items[i].instance.node, names[i]);
	provider_result_fini(&r);
	config("{\"page_max\":300}"); /* F16: the cap is smaller than what was asked */
	do {
		assert_int_equal(list(&r, cursor), 0);
		assert_int_equal(r.code, r.cursor[0] != '\0' ? PROVIDER_MORE : PROVIDER_OK);
		for (size_t i = 0; i < r.ninstances; i++)
			assert_string_equal(r.instances[i].node, names[seen++]);
		memcpy(cursor, r.cursor, sizeof(cursor));
		provider_result_fini(&r);
		pages++;
	} while (cursor[0] != '\0');
	assert_int_equal(seen, 1000);
	assert_int_equal(pages, 4);
}

static void test_driver_refusals(void **state)
{
	static const struct {
		const char *config, *region;
		enum provider_code whole, item;
	} rows[] = {
		{"{\"quota\":0}", "eu-north-1", PROVIDER_OK, PROVIDER_QUOTA},
		{"{\"quota\":null}", "mars-1", PROVIDER_INVALID, 0},
		{"{\"create_max\":1}", "eu-north-1", PROVIDER_INVALID, 0},
		{"{\"create_max\":null,\"offers\":[{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-"
		 "1\","
		 "\"price\":\"1\",\"capacity\":0}]}",
		 "eu-north-1", PROVIDER_OK, PROVIDER_CAPACITY},
	};
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		config(rows[i].config);
		assert_int_equal(create_in(&r, "t", rows[i].region, two, 2), 0);
		assert_int_equal(r.code, rows[i].whole);
		if (r.code == PROVIDER_OK)
			assert_int_equal(r.items[0].code, rows[i].item);
		provider_result_fini(&r);
	}
	assert_int_equal(created(), 0);
}

static void test_driver_token_mismatch(void **state)
{
	struct provider_result r;

	(void)state;
	assert_int_equal(create(&r, "t", two, 2), 0);
	provider_result_fini(&r);
	assert_int_equal(create(&r, "t", two, 1), 0);
	assert_int_equal(r.code, PROVIDER_CONFLICT);
	provider_result_fini(&r);
	assert_int_equal(created(), 2);
}

static void test_driver_is_told_to_wait(void **state)
{
	const char *id = "sim-00000000";
	struct provider_result r;

	(void)state;
	config("{\"min_rental\":\"90s\"}"); /* F22 */
	assert_int_equal(create(&r, "t", two, 1), 0);
	provider_result_fini(&r);
	assert_int_equal(delete (&r, &id, 1), 0);
	assert_int_equal(r.items[0].code, PROVIDER_NOT_YET);
	assert_in_range(r.retry_after_ms, 80000, 90000);
	provider_result_fini(&r);
	config("{\"buckets\":{\"list\":{\"rate\":0.1,\"burst\":1}}}");
	assert_int_equal(list(&r, ""), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	assert_int_equal(list(&r, ""), 0);
	assert_int_equal(r.code, PROVIDER_RATE);
	assert_int_equal(r.retry_after_ms, 10000);
	provider_result_fini(&r);
}

static void test_credentials(void **state)
{
	struct provider_result r;
	char token[128], admin[128];
	const char *args[] = {"--token-file", token, "--admin-token-file", admin, NULL};

	(void)state;
	finish();
	simrun_dir(&S);
	(void)snprintf(token, sizeof(token), "%s/token", S.dir);
	(void)snprintf(admin, sizeof(admin), "%s/admin", S.dir);
	simrun_write(token, "right\n");
	simrun_write(admin, "other\n");
	begin(args);
	assert_int_equal(list(&r, ""), 0);
	assert_int_equal(r.code, PROVIDER_DENIED);
	provider_result_fini(&r);
	for (int i = 0; i < 3; i++) {
		static const char *const words[] = {"wrong", "rightx", "right"};

		provider_sim.close(driver);
		open_driver(words[i]);
		assert_int_equal(list(&r, ""), 0);
		assert_int_equal(r.code, i == 2 ? PROVIDER_OK : PROVIDER_DENIED);
		assert_null(strstr(r.message, words[i]));
		provider_result_fini(&r);
	}
	json_decref(simrun_ask(&S, "GET", "/admin/stats", NULL, 401));
}

/* --- the side door -------------------------------------------------------------------------------
 */

static void test_reclaim_and_kill(void **state)
{
	static const struct {
		const char *path, *body;
		long status;
	} rows[] = {
		{"/admin/reclaim", "{\"node\":\"x*\",\"notice_ms\":1}", 404},
		{"/admin/reclaim", "{}", 400},
		{"/admin/reclaim", "{\"nodes\":\"n1\"}", 400},
		{"/admin/reclaim", "{\"node\":\"n1\",\"notice_ms\":60000}", 200},
		{"/admin/kill", "{\"id\":\"sim-00000001\"}", 200},
		{"/admin/kill", "{\"id\":\"sim-00000001\"}", 404},
	};
	struct provider_result r;

	(void)state;
	assert_int_equal(create(&r, "t", two, 2), 0);
	provider_result_fini(&r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_decref(simrun_ask(&S, "POST", rows[i].path, rows[i].body, rows[i].status));
	assert_int_equal(list(&r, ""), 0);
	assert_int_equal(r.instances[0].state, PROVIDER_RECLAIMING);
	assert_true(r.instances[0].reclaim_ms >= r.instances[0].created_ms + 60000);
	assert_true(r.instances[0].taken);
	assert_false(r.instances[1].taken);
	assert_int_equal(r.instances[1].state, PROVIDER_ENDED);
	provider_result_fini(&r);
}

static void test_capacity_by_admin(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"zone\":\"eu-north-1b\",\"market\":\"on-demand\","
		  "\"capacity\":1}");
	config("{\"boot\":\"1s\"}"); /* does not undo it */
	assert_int_equal(create(&r, "t", two, 2), 0);
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	assert_int_equal(r.items[1].code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
	json_decref(simrun_ask(&S, "POST", "/admin/capacity", "{\"type\":\"x\"}", 404));
}

/* --- the meter, and the audit of it
 * ---------------------------------------------------------------- */

static int audit(const char *meter, const char *wanted)
{
	const char *argv[] = {"audit",   "--meter", meter,    "--wanted", wanted,
			      "--grace", "1s",      "--json", NULL};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		silence(stdout);
		silence(stderr);
		_exit(app_audit(8, (char **)(uintptr_t)argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_meter_survives_kill_and_audit_reads_it(void **state)
{
	char file[128], good[128], bad[128], url[128];
	const char *args[] = {"--state", file, NULL};
	struct provider_result r;

	(void)state;
	finish();
	simrun_dir(&S);
	(void)snprintf(file, sizeof(file), "%s/meter", S.dir);
	(void)snprintf(good, sizeof(good), "%s/good", S.dir);
	(void)snprintf(bad, sizeof(bad), "%s/bad", S.dir);
	simrun_write(good, "n1 0 -\nn2 0 -\n");
	simrun_write(bad, "n1 0 -\n");
	begin(args);
	assert_int_equal(create(&r, "t", two, 2), 0);
	provider_result_fini(&r);
	settle(1200);
	(void)snprintf(url, sizeof(url), "%s/admin/meter", S.url);
	assert_int_equal(audit(url, good), 0);
	assert_int_equal(audit(url, bad), 1);
	assert_int_equal(audit("http://127.0.0.1:1/admin/meter", good), 2);
	assert_int_equal(audit(url, "/nonexistent"), 2);
	provider_sim.close(driver);
	assert_int_equal(simrun_stop(&S, SIGKILL), -1);
	begin(args);
	assert_int_equal(create(&r, "t", two, 2), 0); /* ids go on */
	assert_string_equal(r.items[0].instance.id, "sim-00000002");
	provider_result_fini(&r);
	assert_int_equal(simrun_stop(&S, SIGINT), 0);
	assert_int_equal(audit(file, good), 0);
}

static void test_wrong_usage_is_told(void **state)
{
	static const char *const rows[][5] = {
		{"simcloud", "--config", "/nonexistent"},
		{"simcloud", "--listen", "127.0.0.1:1:1"},
		{"simcloud", "--boot", "relative", "--run-dir", "/tmp"},
		{"simcloud", "--subnet", "10.0.0.0/33"},
		{"simcloud", "--nonsense"},
		{"simcloud", "audit"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int argc = 0, status;
		pid_t pid;

		while (argc < 5 && rows[i][argc] != NULL)
			argc++;
		pid = fork();
		if (pid == 0) {
			silence(stderr);
			_exit(app_main(argc, (char **)(uintptr_t)rows[i]));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_driver_whole_life),
		T(test_driver_offers),
		T(test_driver_largest_batch_and_pages),
		T(test_driver_refusals),
		T(test_driver_token_mismatch),
		T(test_driver_is_told_to_wait),
		T(test_credentials),
		T(test_reclaim_and_kill),
		T(test_capacity_by_admin),
		T(test_meter_survives_kill_and_audit_reads_it),
		T(test_wrong_usage_is_told),
	};

	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
