/* What a site says in NodeName=DEFAULT: it holds for burstd's nodes too, where their lines do not
 * say it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "world.h"

/* slurmctld 22.05 counted 64 CPUs where the pool has CPUs=8, by Sockets=2 CoresPerSocket=16
 * ThreadsPerCore=2, and only logs it; a machine with 8 then has an invalid registration. */
static void test_a_key_that_a_pool_leaves_out(void **state)
{
	static const char *const keys[] = {"Sockets", "SocketsPerBoard", "CoresPerSocket",
					   "ThreadsPerCore", "Gres"};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char slurm[100], want[200];
		struct world w;

		world_init(&w);
		(void)snprintf(slurm, sizeof(slurm), "A=1\nNodeName=DEFAULT CPUs=8 %s=2\n",
			       keys[i]);
		(void)snprintf(
			want, sizeof(want),
			"/s/slurm.conf:2: %s of NodeName=DEFAULT holds for burstd's nodes "
			"too, where its lines come later: node of pool \"c\" does not say it",
			keys[i]);
		w.slurm = slurm;
		add_pool(&w, "c", "c[1-2]", "CPUs=8 RealMemory=9", "");
		world_run(&w);
		assert_true(world_says(&w, SLURM_WARNING, want));
		assert_int_equal(w.findings.n, 1);
		world_fini(&w);
	}
}

/* What the lines of all pools say, NodeName=DEFAULT may say too. */
static void test_defaults_that_each_pool_overrides(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct world w;

		world_init(&w);
		w.slurm = "NodeName=DEFAULT Sockets=9 CoresPerSocket=9 ThreadsPerCore=9 Gres=x:1\n";
		add_pool(&w, "c", "c[1-2]", H100, "gpu:2");
		if (i == 1)
			add_pool(&w, "d", "d[1-2]", "", ""); /* the site writes its lines */
		if (i == 2)
			add_pool(&w, "d", "d[1-2]", "CPUs=4 RealMemory=9 Sockets=4", "gpu:2");
		world_run(&w);
		assert_int_equal(w.findings.n, i);
		if (i == 2)
			assert_true(
				world_says(&w, SLURM_WARNING,
					   "/s/slurm.conf:1: CoresPerSocket of NodeName=DEFAULT "
					   "holds for burstd's nodes too, where its lines come "
					   "later: node of pool \"d\" does not say it"));
		world_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_that_a_pool_leaves_out),
		cmocka_unit_test(test_defaults_that_each_pool_overrides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
