/* Preemption at the limit of a pool: slurmctld may start the job that is to preempt on a node that
 * is off, and then preempts nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "world.h"

#define PRIO  "PreemptType=preempt/partition_prio\n"
#define MODE  "PreemptMode=REQUEUE\n"
#define LOW   "PartitionName=low Nodes=burst-c SuspendTime=9 ResumeTimeout=661 PriorityTier=2\n"
#define TOP   "PartitionName=top Nodes=c1 PriorityTier=5\n"
#define EQUAL "PartitionName=top Nodes=c1 PriorityTier=2\n"

static const char advice[] =
	"burstd.conf:10: pool \"c\": max_nodes 1 is less than its 2 nodes; write as many nodes: "
	"with 1 up a job may preempt no other and wait, since slurmctld may start it on one that "
	"is off, and burstd sends it back";

static void test_a_pool_with_more_names_than_machines(void **state)
{
	static const struct {
		const char *slurm;
		uint32_t max_nodes;
		bool said;
	} rows[] = {
		{PRIO MODE LOW TOP, 1, true},
		{PRIO MODE LOW TOP, 2, false},
		{PRIO MODE LOW TOP, 3, false},
		/* Nothing is bought for it at all, of which burstctl status speaks. */
		{PRIO MODE LOW TOP, 0, false},
		{PRIO MODE LOW EQUAL, 1, false},
		{PRIO MODE LOW, 1, false},
		{PRIO MODE, 1, false},
		{"PreemptType=preempt/qos\n" MODE, 1, true},
		{"PreemptType=preempt/qos\n" MODE, 2, false},
		{"PreemptType=preempt/none\n" LOW TOP, 1, false},
		{LOW, 1, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		world_init(&w);
		w.slurm = rows[i].slurm;
		add_pool(&w, "c", "c[1-2]", "CPUs=1 RealMemory=9", "")->max_nodes =
			rows[i].max_nodes;
		world_run(&w);
		print_message("# row %zu: %s", i, rows[i].slurm);
		for (size_t f = 0; f < w.findings.n; f++)
			print_message("# says: %s\n", w.findings.v[f].text);
		assert_int_equal(world_names(&w, "max_nodes"), rows[i].said);
		assert_int_equal(world_says(&w, SLURM_ADVICE, advice), rows[i].said);
		world_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pool_with_more_names_than_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
