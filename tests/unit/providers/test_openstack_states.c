/* test_openstack_states.c - the driver openstack: in which state a server of a list is. */
#include "tests/unit/providers/openstack_lab.h"

#define C1                                                                                         \
	"\"metadata\":{\"burstd-cluster\":\"" UUID                                                 \
	"\",\"burstd-node\":\"c1\",\"burstd-generation\":\"4\"}"
#define SERVER(members) "{\"id\":\"i-1\"," members "}"
#define LIST(rows)      "{\"servers\":[" rows "]}"
#define STATE(status, task)                                                                        \
	LIST(SERVER("\"name\":\"c1\",\"status\":\"" status "\",\"OS-EXT-STS:task_state\":" task    \
		    "," C1))

static void test_states(void **state)
{
	static const struct {
		const char *body;
		enum provider_state state;
	} rows[] = {
		{STATE("BUILD", "\"spawning\""), PROVIDER_PENDING},
		{STATE("ACTIVE", "null"), PROVIDER_RUNNING},
		{STATE("ACTIVE", "\"deleting\""), PROVIDER_STOPPING},
		{STATE("ERROR", "\"deleting\""), PROVIDER_STOPPING},
		{STATE("BUILD", "\"deleting\""), PROVIDER_STOPPING},
		{STATE("ACTIVE", "\"soft-deleting\""), PROVIDER_STOPPING},
		{STATE("ERROR", "null"), PROVIDER_FAILED},
		{STATE("DELETED", "\"deleting\""), PROVIDER_ENDED},
		{STATE("SOFT_DELETED", "null"), PROVIDER_STOPPING}, /* may be restored, and bills */
		{STATE("SHUTOFF", "null"), PROVIDER_STOPPING},
		{STATE("SHELVED_OFFLOADED", "null"), PROVIDER_STOPPING},
		{STATE("SUSPENDED", "null"), PROVIDER_STOPPING},
		{STATE("PAUSED", "null"), PROVIDER_STOPPING},
		{STATE("HARD_REBOOT", "\"reboot_started_hard\""), PROVIDER_RUNNING},
		{STATE("RESIZE", "null"), PROVIDER_RUNNING},
		{STATE("UNKNOWN", "null"), PROVIDER_UNKNOWN},
		{STATE("ON_FIRE", "null"), PROVIDER_UNKNOWN},
		{LIST(SERVER(C1)), PROVIDER_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = list("");
		struct provider_result r;

		parse(&r, &op, 200, rows[i].body);
		assert_int_equal(r.ninstances, 1);
		if (r.instances[0].state != rows[i].state)
			fail_msg("row %zu: %d", i, (int)r.instances[0].state);
		assert_int_equal(r.nfailures, rows[i].state == PROVIDER_FAILED);
		provider_result_fini(&r);
	}
}

#define ERROR(more) LIST(SERVER("\"name\":\"c1\",\"status\":\"ERROR\"," C1 more))
#define LAUNCHED    ",\"OS-SRV-USG:launched_at\":\"2026-11-28T14:48:22.851735\""
#define POWER(n)    ",\"OS-EXT-STS:power_state\":" n

/* An admin's reset-state puts a server in ERROR while its job runs on. */
static void test_a_server_in_error_that_runs_has_not_failed(void **state)
{
	static const struct {
		const char *body;
		enum provider_state state;
	} rows[] = {
		{ERROR(LAUNCHED POWER("1")), PROVIDER_UNKNOWN},
		{ERROR(LAUNCHED POWER("1") ",\"OS-EXT-STS:task_state\":null,\"fault\":{}"),
		 PROVIDER_UNKNOWN},
		{ERROR(LAUNCHED POWER("1") ",\"OS-EXT-STS:task_state\":\"deleting\""),
		 PROVIDER_STOPPING},
		{ERROR(LAUNCHED POWER("0")), PROVIDER_FAILED}, /* NOSTATE */
		{ERROR(LAUNCHED POWER("4")), PROVIDER_FAILED}, /* SHUTDOWN */
		{ERROR(LAUNCHED POWER("6")), PROVIDER_FAILED}, /* CRASHED */
		{ERROR(LAUNCHED POWER("11")), PROVIDER_FAILED},
		{ERROR(LAUNCHED POWER("\"1\"")), PROVIDER_FAILED},
		{ERROR(LAUNCHED POWER("null")), PROVIDER_FAILED},
		{ERROR(LAUNCHED), PROVIDER_FAILED},
		{ERROR(POWER("1")), PROVIDER_FAILED},
		{ERROR(",\"OS-SRV-USG:launched_at\":null" POWER("1")), PROVIDER_FAILED},
		{ERROR(",\"OS-SRV-USG:launched_at\":\"\"" POWER("1")), PROVIDER_FAILED},
		{ERROR(",\"OS-SRV-USG:launched_at\":7" POWER("1")), PROVIDER_FAILED},
		{LIST(SERVER("\"status\":\"SHUTOFF\"," C1 LAUNCHED POWER("1"))), PROVIDER_STOPPING},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = list("");
		struct provider_result r;

		parse(&r, &op, 200, rows[i].body);
		assert_int_equal(r.ninstances, 1);
		if (r.instances[0].state != rows[i].state ||
		    r.nfailures != (rows[i].state == PROVIDER_FAILED))
			fail_msg("row %zu: %d", i, (int)r.instances[0].state);
		provider_result_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_states),
		T(test_a_server_in_error_that_runs_has_not_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
