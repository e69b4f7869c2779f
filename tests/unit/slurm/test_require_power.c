/* test_require_power.c - whether slurmctld turns off the right nodes at the right time: the times
 * of partitions, nodes that stay up without a job, and nodes of no pool. */
#include "slurm_config.h"

/* --- times of partitions ---------------------------------------------------------------------- */

static const struct {
	const char *what, *suspend, *resume, *partitions; /* pool h100 boots in 600 s */
	const char *expected, *found;
} times[] = {
	{"as long as the boot", "300 sec", "600 sec", "", "error ResumeTimeout",
	 "600 s for pool h100"},
	{"a bit longer", "300 sec", "601 sec", "", "warning ResumeTimeout", "601 s for pool h100"},
	{"nearly a minute", "300 sec", "659 sec", "", "warning ResumeTimeout", NULL},
	{"a minute", "300 sec", "660 sec", "", "", NULL},
	{"longer in its partition", "300 sec", "60 sec",
	 PART("a", "c[1-6]", " ResumeTimeout=660 SuspendTimeout=GLOBAL SuspendTime=GLOBAL"), "",
	 NULL},
	{"the largest of two", "300 sec", "60 sec",
	 PART("a", "c[1-6]", " ResumeTimeout=660") PART("b", "c[1-8]", " ResumeTimeout=70"), "",
	 NULL},
	{"shorter in its partition", "300 sec", "900 sec",
	 PART("a", "c[1-6]", " ResumeTimeout=600"), "error ResumeTimeout", "600 s for pool h100"},
	{"one node outside", "300 sec", "60 sec", PART("a", "c[1-5]", " ResumeTimeout=700"),
	 "error ResumeTimeout", "60 s for pool h100"},
	{"power saving by a partition", "INFINITE", "660 sec",
	 PART("a", "c[1-8]", " SuspendTime=300"), "", NULL},
	{"power saving at once", "INFINITE", "660 sec", PART("a", "c[1-8]", " SuspendTime=0"), "",
	 NULL},
	{"power saving for others only", "INFINITE", "660 sec",
	 PART("a", "d[1-8]", " SuspendTime=300"), "error SuspendTime, warning SuspendTime",
	 "300 s for node d1 and 7 more, which no pool has"},
	{"power saving for others that is none", "INFINITE", "660 sec",
	 PART("a", "d[1-8]", " SuspendTime=INFINITE") PART("b", "c[1-6]", " SuspendTime=30"),
	 "warning SuspendTime", "INFINITE for pool a100"},
	{"one node is never suspended", "300 sec", "660 sec",
	 PART("a", "c8", " SuspendTime=INFINITE") PART("b", "c[1-8]", " SuspendTime=10"),
	 "warning SuspendTime", "INFINITE for pool a100"},
	{"INFINITE in partitions is not power saving", "INFINITE", "660 sec",
	 PART("a", "c[1-8]", " SuspendTime=INFINITE"), "error SuspendTime", "INFINITE"},
	{"no nodes", "300 sec", "660 sec", PART("a", "(null)", " SuspendTime=INFINITE"), "", NULL},
	{"nodes that are not ours", "300 sec", "660 sec",
	 PART("a", "x[0-1]y[0-1],c1", " SuspendTime=INFINITE"), "", NULL},
	{"the first of two words counts", "300 sec", "660 sec",
	 PART("a", "c1", " SuspendTimeout=20 SuspendTimeout=999"), "", NULL},
	{"no partitions", "300 sec", "660 sec", "No partitions in the system\n", "", NULL},
};

static void test_times(void **state)
{
	struct need n;

	(void)state;
	need_init(&n);
	n.pools[0].boot_ms = 600000;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		char *config = fixture("24.11", "config");
		struct slurm_report r;

		print_message("# %s\n", times[i].what);
		edit(config, "AuthInfo", "cred_expire=30");
		edit(config, "SuspendTime", times[i].suspend);
		edit(config, "ResumeTimeout", times[i].resume);
		edit(config, "PrologEpilogTimeout", "65534");
		check(config, times[i].partitions, &n.need, times[i].expected);
		assert_int_equal(slurm_require(text_of(config), text_of(times[i].partitions),
					       &n.need, &r, NULL),
				 0);
		if (times[i].found != NULL)
			assert_string_equal(r.problems[0].found, times[i].found);
		if (strstr(times[i].expected, "ResumeTimeout") != NULL)
			assert_string_equal(r.problems[0].wanted, "at least 660 s");
		free(config);
	}
	need_fini(&n);
}

/* --- nodes that stay up without a job ----------------------------------------------------------
 */

static const struct {
	const char *release, *excluded;
	uint32_t warm[2];
	int64_t quantum_ms;                    /* of the second pool, whose nodes are c7 and c8 */
	const char *expected, *found, *wanted; /* of the first */
} warm[] = {
	{"22.05",
	 "(null)",
	 {2, 0},
	 0,
	 "warning SuspendExcNodes",
	 "not set, and pool h100 keeps 2 warm",
	 "c[1-6]:2"},
	{"22.05", "c[1-6]:2", {2, 0}, 0, "", NULL, NULL},
	{"22.05",
	 "c[1-6]:1",
	 {2, 0},
	 0,
	 "warning SuspendExcNodes",
	 "c[1-6]:1, and pool h100 keeps 2 warm",
	 "c[1-6]:2"},
	{"22.05", "c[1-3]:1,c[4-6]:1", {2, 0}, 0, "", NULL, NULL},
	{"22.05",
	 "c[1-6]:2",
	 {2, 1},
	 0,
	 "warning SuspendExcNodes",
	 "c[1-6]:2, and pool a100 keeps 1 warm",
	 "c[7-8]:1"},
	{"22.05",
	 "c[1-8]:3",
	 {2, 1},
	 0,
	 "warning SuspendExcNodes, warning SuspendExcNodes",
	 "c[1-8]:3, which has nodes of pool h100",
	 NULL},
	{"22.05",
	 "c[1-2]",
	 {2, 0},
	 0,
	 "warning SuspendExcNodes, warning SuspendExcNodes",
	 "c[1-2], which has nodes of pool h100",
	 NULL},
	{"22.05",
	 "c[1-6]:3",
	 {2, 0},
	 0,
	 "warning SuspendExcNodes",
	 "c[1-6]:3, which has nodes of pool h100",
	 NULL},
	{"22.05",
	 "x,:2",
	 {2, 0},
	 0,
	 "warning SuspendExcNodes",
	 "x,:2, and pool h100 keeps 2 warm",
	 NULL},
	{"24.11", "(null)", {2, 0}, 0, "", NULL, NULL},
	{"24.11", "c[1-2]", {2, 0}, 0, "", NULL, NULL}, /* burstd's own */
	{"24.11",
	 "c[1-2],c7",
	 {2, 0},
	 0,
	 "warning SuspendExcNodes",
	 "c[1-2],c7, which has nodes of pool a100",
	 NULL},
	{"24.11",
	 "own[1-9]:3",
	 {2, 0},
	 0,
	 "warning SuspendExcNodes",
	 "own[1-9]:3, and pool h100 keeps 2 warm",
	 "c[1-6]:2"},
	{"24.11", "own[1-9]:3,c[1-6]:2", {2, 0}, 0, "", NULL, NULL},
	{"24.11", "c8", {0, 0}, 3600000, "", NULL, NULL},
	{"24.11",
	 "own[1-9]:3",
	 {0, 0},
	 3600000,
	 "warning SuspendExcNodes",
	 "own[1-9]:3 in 24.11.5, and pool a100 has a quantum",
	 NULL},
	{"22.05",
	 "(null)",
	 {0, 0},
	 3600000,
	 "warning SuspendExcNodes",
	 "not set in 22.05.8, and pool a100 has a quantum",
	 NULL},
};

static void test_nodes_that_stay_up_must_be_spared_by_slurmctld(void **state)
{
	struct need n;

	(void)state;
	need_init(&n);
	n.pools[0].boot_ms = 0;
	for (size_t i = 0; i < sizeof(warm) / sizeof(warm[0]); i++) {
		char *config = fixture(warm[i].release, "config");
		char *partitions = fixture(warm[i].release, "partitions");
		struct slurm_report r;

		print_message("# %s %s\n", warm[i].release, warm[i].excluded);
		edit(config, "AuthInfo", "cred_expire=30");
		edit(config, "SuspendExcNodes", warm[i].excluded);
		n.pools[0].warm = warm[i].warm[0];
		n.pools[1].warm = warm[i].warm[1];
		n.pools[1].quantum_ms = warm[i].quantum_ms;
		check(config, partitions, &n.need, warm[i].expected);
		assert_int_equal(
			slurm_require(text_of(config), text_of(partitions), &n.need, &r, NULL), 0);
		if (warm[i].found != NULL)
			assert_string_equal(r.problems[0].found, warm[i].found);
		if (warm[i].wanted != NULL)
			assert_string_equal(r.problems[0].wanted, warm[i].wanted);
		free(config);
		free(partitions);
	}
	need_fini(&n);
}

/* --- nodes of no pool ------------------------------------------------------------------------- */

#define OTHERS_OWN PART("own", "d[1-3],e1", "")
#define OURS       PART("cloud", "c[1-8]", " SuspendTime=300")

static const struct {
	const char *what, *suspend, *nodes, *parts,
		*partitions; /* nodes, parts: that are excluded */
	const char *found;   /* NULL: all are left on */
} others[] = {
	{"power saving for all", "300 sec", "(null)", "(null)", OURS OTHERS_OWN,
	 "300 s for node d1 and 3 more, which no pool has"},
	{"one is left", "30 sec", "d[1-3]", "(null)", OURS OTHERS_OWN,
	 "30 s for node e1, which no pool has"},
	{"excluded one by one", "300 sec", "e[1-9],d1,d[2-3]", "(null)", OURS OTHERS_OWN, NULL},
	{"some of them are left on", "300 sec", "d[1-3]:2,e1", "(null)", OURS OTHERS_OWN,
	 "300 s for node d1 and 2 more, which no pool has"},
	{"some, which is all", "300 sec", "d[1-3]:3,e1:1", "(null)", OURS OTHERS_OWN, NULL},
	{"their partition is excluded", "300 sec", "(null)", "x,own", OURS OTHERS_OWN, NULL},
	{"a partition of some", "300 sec", "(null)", "some",
	 OURS OTHERS_OWN PART("some", "d[1-2],e1", ""), "300 s for node d3, which no pool has"},
	{"the same partition before", "300 sec", "(null)", "some",
	 PART("some", "d[1-2],e1", "") OURS OTHERS_OWN, "300 s for node d3, which no pool has"},
	{"in a partition without an end", "300 sec", "(null)", "(null)",
	 OURS OTHERS_OWN PART("all", "d[1-3],e1", " SuspendTime=INFINITE"), NULL},
	{"a time for the pools alone", "INFINITE", "(null)", "(null)", OURS OTHERS_OWN, NULL},
	{"a time for a partition of both", "INFINITE", "(null)", "(null)",
	 PART("all", "d[1-3],c[1-8]", " SuspendTime=60") OTHERS_OWN,
	 "60 s for node d1 and 2 more, which no pool has"},
	{"both, and an excluded partition", "INFINITE", "(null)", "own",
	 PART("all", "d[1-3],c[1-8]", " SuspendTime=60") OTHERS_OWN, NULL},
	{"named twice", "300 sec", "(null)", "(null)", OURS PART("own", "d1,d1,d1", ""),
	 "300 s for node d1, which no pool has"},
	{"nobody else", "300 sec", "(null)", "(null)", OURS, NULL},
	{"no list of nodes", "300 sec", "(null)", "(null)", OURS PART("own", "(null)", ""), NULL},
};

/* Power saving is for all nodes, and burstd for those of its pools. */
static void test_others(void **state)
{
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char *config = fixture("24.11", "config");
		struct slurm_report r;

		print_message("# %s\n", others[i].what);
		edit(config, "AuthInfo", "cred_expire=30");
		edit(config, "SuspendTime", others[i].suspend);
		edit(config, "SuspendExcNodes", others[i].nodes);
		edit(config, "SuspendExcParts", others[i].parts);
		check(config, others[i].partitions, &n.need,
		      others[i].found != NULL ? "error SuspendTime" : "");
		assert_int_equal(slurm_require(text_of(config), text_of(others[i].partitions),
					       &n.need, &r, NULL),
				 0);
		if (others[i].found != NULL)
			assert_string_equal(r.problems[0].found, others[i].found);
		/* Without pools nobody knows whose they are. */
		check(config, others[i].partitions, &(struct slurm_need){0}, "");
		free(config);
	}
	need_fini(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_nodes_that_stay_up_must_be_spared_by_slurmctld),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests_name("slurm require: power saving", tests, NULL, NULL);
}
