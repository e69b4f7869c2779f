/* test_simcloud_faults.c - faults that are set by an admin: errors, late answers, held requests. */
#include "simcloud_driver.h"

static void fault(const char *text)
{
	simrun_do(&S, "POST", "/admin/faults", text);
}

/* --- faults ------------------------------------------------------------------------------------
 */

/* What each fault on a create looks like from here, and whether there are instances all the same.
 */
static void test_faults_on_create(void **state)
{
	static const struct {
		const char *rule;
		int rc;
		enum provider_code code;
		int made;
	} rows[] = {
		{"{\"op\":\"create\",\"action\":\"error\"}", 0, PROVIDER_AMBIGUOUS, 0},
		{"{\"op\":\"create\",\"action\":\"error\",\"code\":\"capacity\"}", 0,
		 PROVIDER_CAPACITY, 0},
		{"{\"op\":\"create\",\"action\":\"error\",\"code\":\"rate\",\"retry_after\":3}", 0,
		 PROVIDER_RATE, 0},
		{"{\"op\":\"create\",\"action\":\"error\",\"when\":\"after\",\"status\":502}", 0,
		 PROVIDER_AMBIGUOUS, 2},
		{"{\"op\":\"create\",\"action\":\"drop-request\"}", -1, 0, 0},
		{"{\"op\":\"create\",\"action\":\"drop-reply\"}", -1, 0, 2}, /* F1 */
		{"{\"op\":\"create\",\"action\":\"truncate\"}", 0, PROVIDER_AMBIGUOUS, 2},
		{"{\"op\":\"create\",\"action\":\"garbage\"}", 0, PROVIDER_AMBIGUOUS, 2}, /* F30 */
		{"{\"op\":\"create\",\"action\":\"delay\",\"ms\":30}", 0, PROVIDER_OK, 2},
		{"{\"op\":\"create\",\"action\":\"partial\"}", 0, PROVIDER_OK, 1}, /* F4 */
		{"{\"op\":\"create\",\"action\":\"partial\",\"keep\":0}", 0, PROVIDER_OK, 0},
		{"{\"op\":\"create\",\"action\":\"partial\",\"node\":\"n1\"}", 0, PROVIDER_OK, 1},
		{"{\"op\":\"create\",\"action\":\"error\",\"node\":\"n2\"}", 0, PROVIDER_AMBIGUOUS,
		 0},
		{"{\"op\":\"create\",\"action\":\"error\",\"node\":\"n3\"}", 0, PROVIDER_OK, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r;
		int64_t before = created();
		char token[16];

		(void)snprintf(token, sizeof(token), "t%zu", i);
		fault(rows[i].rule);
		if (create(&r, token, two, 2) != rows[i].rc)
			fail_msg("%s", rows[i].rule);
		if (rows[i].rc == 0 && r.code != rows[i].code)
			fail_msg("%s: %s", rows[i].rule, provider_code_str(r.code));
		assert_int_equal(created() - before, rows[i].made);
		provider_result_fini(&r);
		simrun_do(&S, "DELETE", "/admin/faults", NULL);
		/* I4: whatever was lost, the same token finds it, and makes it only once. */
		assert_int_equal(create(&r, token, two, 2), 0);
		assert_int_equal(r.code, PROVIDER_OK);
		if (rows[i].made > 0)
			assert_int_equal(created() - before, rows[i].made);
		else
			assert_int_equal(created() - before, 2);
		provider_result_fini(&r);
	}
}

/* F3: it fails, and minutes later there it is. */
static void test_late_create(void **state)
{
	struct provider_result r;

	(void)state;
	fault("{\"op\":\"create\",\"action\":\"late\",\"ms\":80,\"code\":\"capacity\"}");
	assert_int_equal(create(&r, "t", two, 2), 0);
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
	assert_int_equal(created(), 0);
	settle(200);
	assert_int_equal(created(), 2);
}

/* F16, F17: lists that lie.  `partial` and `empty` are well-formed: no driver can tell. */
static void test_faults_on_list(void **state)
{
	static const struct {
		const char *rule;
		enum provider_code code;
		size_t n;
	} rows[] = {
		{"{\"op\":\"list\",\"action\":\"partial\",\"keep\":1}", PROVIDER_OK, 1},
		{"{\"op\":\"list\",\"action\":\"partial\",\"node\":\"n1\"}", PROVIDER_OK, 1},
		{"{\"op\":\"list\",\"action\":\"empty\"}", PROVIDER_OK, 0},
		{"{\"op\":\"list\",\"action\":\"truncate\"}", PROVIDER_TRANSIENT, 0},
		{"{\"op\":\"list\",\"action\":\"garbage\"}", PROVIDER_TRANSIENT, 0},
		{"{\"op\":\"list\",\"action\":\"error\",\"code\":\"denied\"}", PROVIDER_DENIED, 0},
	};
	struct provider_result r;

	(void)state;
	assert_int_equal(create(&r, "t", two, 2), 0);
	provider_result_fini(&r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fault(rows[i].rule);
		assert_int_equal(list(&r, ""), 0);
		if (r.code != rows[i].code || r.ninstances != rows[i].n)
			fail_msg("%s: %s %zu", rows[i].rule, provider_code_str(r.code),
				 r.ninstances);
		provider_result_fini(&r);
		simrun_do(&S, "DELETE", "/admin/faults", NULL);
	}
}

static void test_tags_and_filter_can_be_switched_off(void **state)
{
	struct provider_result r;

	(void)state;
	assert_int_equal(create(&r, "t", two, 2), 0);
	provider_result_fini(&r);
	config("{\"tags\":false}");
	assert_int_equal(create(&r, "u", two, 1),
			 0); /* a create's answer still says which is which */
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	provider_result_fini(&r);
	assert_int_equal(list(&r, ""), 0);
	assert_int_equal(r.ninstances, 3);
	assert_string_equal(r.instances[0].cluster, "");
	assert_string_equal(r.instances[0].node, "");
	assert_string_not_equal(r.instances[0].id, "");
	provider_result_fini(&r);
}

struct late_call {
	pthread_t thread;
	struct provider_result r;
	int rc;
};

static void *call_create(void *arg)
{
	struct late_call *c = arg;

	c->rc = create(&c->r, "held", two, 2);
	return NULL;
}

static void wait_held(size_t n)
{
	for (int i = 0; i < 200; i++) {
		json_t *o = simrun_ask(&S, "GET", "/admin/held", NULL, 200);
		size_t have = json_array_size(json_object_get(o, "held"));

		json_decref(o);
		if (have == n)
			return;
		settle(10);
	}
	fail_msg("never %zu held", n);
}

/* F1, F2: the windows that tests open from outside, before the effect and after it. */
static void test_hold_and_release(void **state)
{
	static const struct {
		const char *rule;
		int64_t made; /* while held */
	} rows[] = {
		{"{\"op\":\"create\",\"action\":\"hold\",\"count\":1}", 0},
		{"{\"op\":\"create\",\"action\":\"hold\",\"when\":\"after\",\"count\":1}", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct late_call c = {0};

		if (i > 0) {
			assert_int_equal(teardown(NULL), 0);
			assert_int_equal(setup(NULL), 0);
		}
		fault(rows[i].rule);
		assert_int_equal(pthread_create(&c.thread, NULL, call_create, &c), 0);
		wait_held(1);
		assert_int_equal(created(), rows[i].made);
		json_decref(simrun_ask(&S, "POST", "/admin/release", "{\"id\":9}", 404));
		simrun_do(&S, "POST", "/admin/release", "{\"id\":1}");
		assert_int_equal(pthread_join(c.thread, NULL), 0);
		assert_int_equal(c.rc, 0);
		assert_int_equal(c.r.code, PROVIDER_OK);
		assert_int_equal(c.r.nitems, 2);
		assert_int_equal(created(), 2);
		provider_result_fini(&c.r);
		wait_held(0);
	}
}

/* The client is gone when it is released: the effect comes all the same, once. */
static void test_release_after_the_client_died(void **state)
{
	struct provider_result r;
	pid_t pid;

	(void)state;
	fault("{\"op\":\"create\",\"action\":\"hold\",\"count\":1}");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)create(&r, "held", two, 2);
		_exit(0);
	}
	wait_held(1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(created(), 0);
	simrun_do(&S, "POST", "/admin/release", "{}");
	assert_int_equal(created(), 2);
	assert_int_equal(create(&r, "held", two, 2), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(created(), 2);
	provider_result_fini(&r);
}

static void test_latency(void **state)
{
	struct provider_result r;
	int64_t start;

	(void)state;
	config("{\"latency\":{\"list\":\"120ms\"}}");
	start = clock_boot_ms();
	assert_int_equal(list(&r, ""), 0);
	assert_true(clock_boot_ms() - start >= 119);
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_faults_on_create), T(test_late_create),
		T(test_faults_on_list),   T(test_tags_and_filter_can_be_switched_off),
		T(test_hold_and_release), T(test_release_after_the_client_died),
		T(test_latency),
	};

	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
