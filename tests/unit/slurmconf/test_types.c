/* node and gres of a pool beside what providers say of its types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "slurmconf/types.h"
#include "world.h"

static void test_the_margin(void **state)
{
	static const struct {
		int64_t sold, want;
	} rows[] = {
		{2097152, 1992200},                 /* 5 % are 104,855 */
		{1048576, 996100},  {16384, 15300}, /* at least 1024 MB */
		{20480, 19400},     {2048, 1000},   {1100, 76}, {1024, 1}, {1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(slurmconf_types_memory(rows[i].sold), rows[i].want);
}

#define P "burstd.conf:10: pool \"c\": "

static const struct row {
	const char *node, *gres;
	struct slurmconf_type types[3]; /* until one has no type */
	const char *want;               /* NULL: nothing */
	enum slurm_severity severity;
} rows[] = {
	/* Missing: a line to write, by the least of each. */
	{"",
	 "",
	 {{0, "p5", 192, 8, 2097152}},
	 P "write node = \"CPUs=192 RealMemory=1992200\" gres = \"gpu:8\", with Sockets, "
	   "CoresPerSocket and ThreadsPerCore of slurmd -C, or slurmctld drains machines with "
	   "hyperthreads: type p5, whose 2097152 MB have a margin of 5 %, at least 1024 MB",
	 SLURM_ADVICE},
	{"",
	 "gpu:h100:8",
	 {{0, "p5", 192, 8, 2097152}},
	 P "write node = \"CPUs=192 RealMemory=1992200\", with",
	 SLURM_ADVICE},
	{"",
	 "",
	 {{0, "c7", 8, 0, 16384}},
	 P "write node = \"CPUs=8 RealMemory=15300\", with",
	 SLURM_ADVICE},
	{"",
	 "",
	 {{0, "a", 8, 4, 32768}, {0, "b", 6, 8, 65536}, {1, "x", 1, 1, 2048}},
	 P "write node = \"CPUs=6 RealMemory=31100\" gres = \"gpu:4\", with",
	 SLURM_ADVICE},
	{"",
	 "",
	 {{0, "p5", 0, 0, 2097152}},
	 P "no provider says what its machines have",
	 SLURM_ADVICE},
	{"", "", {{0, "p5", 4, 0, 0}}, P "no provider says what its machines have", SLURM_ADVICE},
	{"",
	 "",
	 {{1, "p5", 4, 0, 9999}},
	 P "no provider says what its machines have",
	 SLURM_ADVICE},
	/* There: what is too much. */
	{"CPUs=192 RealMemory=1992200", "gpu:8", {{0, "p5", 192, 8, 2097152}}, NULL, 0},
	{"CPUs=4 RealMemory=1", "gpu:a:4,gpu:b:4,nic:2", {{0, "p5", 192, 8, 2097152}}, NULL, 0},
	{"CPUs=192 RealMemory=1992201",
	 "gpu:8",
	 {{0, "p5", 192, 8, 2097152}},
	 P "RealMemory=1992201 of node is more than 1992200, which is what type p5 has, less a "
	   "margin of 5 %: ",
	 SLURM_WARNING},
	{"CPUs=193 RealMemory=9",
	 "gpu:8",
	 {{0, "p5", 192, 8, 2097152}},
	 P "CPUs=193 of node, and type p5 has 192: its machines are drained",
	 SLURM_WARNING},
	{"CPUs=4 RealMemory=9",
	 "gpu:9",
	 {{0, "p5", 192, 8, 2097152}},
	 P "gres has 9 GPUs, and type p5 has 8: its machines are drained",
	 SLURM_WARNING},
	{"CPUs=4 RealMemory=9",
	 "gpu:h100:4",
	 {{0, "p5", 192, 8, 2097152}},
	 P "gres has 4 GPUs, and type p5 has 8: the others are paid for, and no job",
	 SLURM_WARNING},
	{"CPUs=4 RealMemory=9",
	 "",
	 {{0, "p5", 192, 8, 2097152}},
	 P "gres has 0 GPUs, and type p5 has 8: ",
	 SLURM_WARNING},
	{"CPUs=4 RealMemory=9", "gpu:a100_3g.20gb:16", {{0, "p4", 96, 8, 2097152}}, NULL, 0},
	/* Each type by itself, and the same one once. */
	{"CPUs=4 RealMemory=9",
	 "gpu:8",
	 {{0, "a", 8, 8, 32768}, {0, "b", 8, 4, 32768}},
	 P "gres has 8 GPUs, and type b has 4",
	 SLURM_WARNING},
	{"CPUs=4 RealMemory=9",
	 "gpu:8",
	 {{0, "b", 8, 4, 32768}, {0, "b", 8, 4, 32768}},
	 P "gres has 8 GPUs, and type b has 4",
	 SLURM_WARNING},
	/* What is not known says nothing. */
	{"CPUs=4 RealMemory=9", "gpu:8", {{0, "a", 0, 0, 0}}, NULL, 0},
	{"CPUs=4 RealMemory=9", "gpu:8", {{1, "a", 1, 1, 5}}, NULL, 0},
	{"", "", {{0, NULL, 0, 0, 0}}, NULL, 0}, /* nobody asked */
};

static void test_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct slurmconf_want want;
		struct world w;
		size_t n = 0;

		while (n < 3 && r->types[n].type != NULL)
			n++;
		world_init(&w);
		add_pool(&w, "c", "c1", r->node, r->gres);
		want = (struct slurmconf_want){.conf = w.conf, .findings = &w.findings};
		slurmconf_types(&want, r->types, n);
		print_message("# row %zu\n", i);
		if (r->want != NULL)
			assert_true(world_says(&w, r->severity, r->want));
		assert_int_equal(w.findings.n, r->want != NULL);
		world_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_margin),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
