/* What a site says in NodeName=DEFAULT: it holds for burstd's nodes too, where their lines do not
 * say it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* Slurm takes PartitionName=default, in any case of letters, for the defaults of the partitions
 * that follow: 22.05 gave a site's partition burstd's ResumeTimeout, and the pool none. */
static void test_a_pool_named_default(void **state)
{
	static const struct {
		const char *name, *nodes, *slurm;
		const char *says; /* NULL: nothing */
	} names[] = {
		{"default", "c[1-2]", "A=1\n",
		 "burstd.conf:10: pool \"default\": with that name its partition would be the "
		 "defaults of all others: rename it, or write a partition with all its nodes"},
		{"DEFAULT", "c[1-2]", "A=1\n", "burstd.conf:10: pool \"DEFAULT\": with that name "},
		{"default1", "c[1-2]", "A=1\n", NULL},
		{"default", "c[1-2]",
		 "PartitionName=mine Nodes=burst-default SuspendTime=9 ResumeTimeout=700\n", NULL},
		{"c", "c1,Default", "A=1\n",
		 "burstd.conf:10: pool \"c\": no node can be named DEFAULT: its line would be the "
		 "defaults of all others"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct world w;

		print_message("# %zu\n", i);
		world_init(&w);
		w.slurm = names[i].slurm;
		add_pool(&w, names[i].name, names[i].nodes, H100, "");
		world_run(&w);
		assert_int_equal(w.findings.n, names[i].says != NULL);
		if (names[i].says != NULL)
			assert_true(world_says(&w, SLURM_ERROR, names[i].says));
		if (strcasecmp(names[i].name, "DEFAULT") == 0)
			assert_null(strcasestr(w.body, "PartitionName=DEFAULT"));
		world_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_that_a_pool_leaves_out),
		cmocka_unit_test(test_defaults_that_each_pool_overrides),
		cmocka_unit_test(test_a_pool_named_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
