/* test_limit_last.c - where machines are is asked after all else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/limit.h"

enum { SECOND = 1000 };

/* One request a second: whoever else wants it has it, however long the question has waited. */
static void test_it_keeps_nothing_waiting(void **state)
{
	static const enum provider_op_kind others[] = {
		PROVIDER_CREATE,      PROVIDER_LIST,        PROVIDER_DELETE,
		PROVIDER_QUOTES,      PROVIDER_FABRIC_MAKE, PROVIDER_FABRIC_DROP,
		PROVIDER_FABRIC_LIST, PROVIDER_CONSOLE,     PROVIDER_REPORT,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct limit l;
		int64_t now = SECOND;

		limit_init(&l, 8, 1, NULL, now);
		for (; limit_may(&l, others[i], now); limit_give(&l, others[i]))
			limit_take(&l, others[i], 0, now);
		for (int k = 0; k < 20; k++) {
			now += SECOND;
			limit_turn(&l); /* both wait by now */
			assert_false(limit_may(&l, PROVIDER_TOPOLOGY, now));
			assert_true(limit_may(&l, others[i], now));
			limit_take(&l, others[i], 0, now);
			limit_give(&l, others[i]);
			assert_false(limit_may(&l, others[i], now));
		}
		limit_turn(&l);
		limit_turn(&l); /* nobody else asks any more */
		now += SECOND;
		assert_true(limit_may(&l, PROVIDER_TOPOLOGY, now));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_keeps_nothing_waiting),
	};

	return cmocka_run_group_tests_name("limit_last", tests, NULL, NULL);
}
