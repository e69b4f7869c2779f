/* test_payer_rate.c - a job's part of the price of its machines. */
#include "core/payer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct {
	const char *name;
	struct payer p;
	int64_t rate;
	uint32_t gpus, cpus; /* of the machine */
	int64_t want;
} rows[] = {
	{"half of the GPUs", {.nodes = 1, .cpus = 1, .node_gpus = 4}, 800, 8, 96, 400},
	{"half of the CPUs", {.nodes = 1, .cpus = 48, .node_gpus = 1}, 800, 8, 96, 400},
	{"CPUs on two nodes", {.nodes = 2, .cpus = 48, .node_gpus = 1}, 800, 8, 96, 200},
	{"nodes not said", {.cpus = 48}, 800, 8, 96, 400},
	{"no GPUs asked for", {.nodes = 1, .cpus = 24}, 800, 8, 96, 200},
	{"no GPUs there", {.nodes = 1, .cpus = 24}, 800, 0, 96, 200},
	{"GPUs of a machine whose GPUs are not known",
	 {.nodes = 1, .cpus = 24, .node_gpus = 1},
	 800,
	 0,
	 96,
	 800},
	{"all by itself", {.nodes = 1, .cpus = 1, .exclusive = true}, 800, 8, 96, 800},
	{"CPUs of the job not known", {.nodes = 1, .node_gpus = 1}, 800, 8, 96, 800},
	{"CPUs of the machine not known", {.nodes = 1, .cpus = 1, .node_gpus = 1}, 800, 8, 0, 800},
	{"more than there are", {.nodes = 1, .cpus = 200, .node_gpus = 1}, 800, 8, 96, 800},
	{"more GPUs than there are", {.nodes = 1, .cpus = 2, .node_gpus = 9}, 800, 8, 96, 800},
	{"rounded up", {.nodes = 1, .cpus = 1, .node_gpus = 1}, 10, 3, 96, 4},
	{"never nothing", {.nodes = 1, .cpus = 1}, 1, 8, 96, 1},
	{"no price", {.nodes = 1, .cpus = 1}, 0, 8, 96, 0},
	{"a great price",
	 {.nodes = 1, .cpus = 1, .node_gpus = 4},
	 INT64_MAX,
	 8,
	 96,
	 INT64_MAX / 2 + 1},
	{"many nodes",
	 {.nodes = UINT32_MAX, .cpus = UINT32_MAX},
	 INT64_MAX,
	 0,
	 UINT32_MAX,
	 INT64_C(2147483649)},
};

static void test_rates(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		assert_int_equal(payer_rate(&rows[i].p, rows[i].rate, rows[i].gpus, rows[i].cpus),
				 rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates)};

	return cmocka_run_group_tests_name("payer_rate", tests, NULL, NULL);
}
