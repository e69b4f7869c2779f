/* test_require.c - real configurations of three releases, and each setting broken in turn. */
#include "slurm_config.h"

#define REQUEUE "advice SchedulerParameters"
#define BARE                                                                                       \
	"error ResumeProgram, error SuspendProgram, error ReturnToService, "                       \
	"error SlurmctldParameters, "
#define BARE_OLD "error TreeWidth, error CommunicationParameters, error PrivateData, "
#define BARE_REST                                                                                  \
	"error SuspendTime, warning ResumeFailProgram, warning PrologSlurmctld, "                  \
	"warning ResumeRate, warning SuspendRate, warning SlurmctldParameters, "
#define OWN "error ReturnToService, error SlurmctldParameters, "
#define OWN_NEW                                                                                    \
	"warning ResumeFailProgram, warning ResumeRate, warning SuspendRate, "                     \
	"warning SlurmctldParameters, warning SuspendTime, "

static const struct {
	const char *release, *file, *partitions, *expected;
} whole[] = {
	{"22.05", "config", "partitions", SHORT_CRED},
	{"24.11", "config", "partitions", SHORT_CRED},
	{"26.05", "config", "partitions", SHORT_CRED ", " REQUEUE},
	{"22.05", "bare-config", "bare-partitions",
	 BARE BARE_OLD BARE_REST "warning SlurmctldParameters, " SHORT_CRED ", " REQUEUE},
	{"24.11", "bare-config", "bare-partitions", BARE BARE_REST SHORT_CRED ", " REQUEUE},
	{"26.05", "bare-config", "bare-partitions",
	 BARE BARE_REST SHORT_CRED ", " REQUEUE ", " REQUEUE},
	/* Partition cloud has times of its own, so power saving is on; keep has c7 and c8. */
	{"24.11", "own-config", "own-partitions",
	 OWN OWN_NEW
	 "warning SuspendExcNodes, warning SuspendExcParts, warning SuspendExcStates, " SHORT_CRED
	 ", " REQUEUE},
	{"26.05", "own-config", "own-partitions",
	 OWN OWN_NEW "warning ResumeTimeout, warning SuspendExcNodes, warning SuspendExcParts, "
		     "warning SuspendExcStates, " SHORT_CRED ", " REQUEUE ", " REQUEUE},
	{"22.05", "own-config", "own-partitions",
	 OWN BARE_OLD
	 "warning ResumeFailProgram, warning PrologSlurmctld, warning ResumeRate, "
	 "warning SuspendRate, warning SlurmctldParameters, warning SlurmctldParameters, "
	 "warning SuspendTime, warning SuspendExcNodes, warning SuspendExcParts, " SHORT_CRED
	 ", " REQUEUE},
};

static void test_whole(void **state)
{
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		char *config = fixture(whole[i].release, whole[i].file);
		char *partitions = fixture(whole[i].release, whole[i].partitions);

		print_message("# %s %s\n", whole[i].release, whole[i].file);
		check(config, partitions, &n.need, whole[i].expected);
		free(config);
		free(partitions);
	}
	need_fini(&n);
}

static const struct {
	const char *release, *key, *value; /* value NULL: not shown */
	const char *severity;              /* NULL: nothing is wrong */
	const char *found, *wanted;
} single[] = {
	{"22.05", "SLURM_VERSION", "21.08.8", "error", "21.08.8", "22.05 or later"},
	{"26.05", "SLURM_VERSION", "26.11.0", "warning", "26.11.0", NULL},
	{"26.05", "SLURM_VERSION", "26.05.0-0rc1", "warning", "26.05.0-0rc1", NULL},
	{"26.05", "SLURM_VERSION", "25.05.3", "advice", "25.05.3", "25.05.4 or later"},
	{"24.11", "SLURM_VERSION", "24.05.8", NULL, NULL, NULL},
	{"24.11", "ClusterName", "other", "error", "other", "lab"},
	{"24.11", "ClusterName", "LAB", NULL, NULL, NULL},
	{"24.11", "ResumeProgram", "(null)", "error", "not set", NULL},
	{"24.11", "ResumeProgram", "burst-resume", "error", "burst-resume", NULL},
	{"26.05", "ResumeProgram", "an_action", "warning", "an_action", NULL},
	{"24.11", "ResumeProgram", "/opt/x/resume", "warning", "/opt/x/resume", NULL},
	{"24.11", "ResumeProgram", "/opt/x-burst-resume", "warning", NULL, NULL},
	{"24.11", "ResumeProgram", "/opt/x/burst-resume", NULL, NULL, NULL},
	{"24.11", "ResumeProgram", NULL, "warning", "not shown", NULL},
	{"24.11", "SuspendProgram", "(null)", "error", "not set", NULL},
	{"24.11", "SuspendProgram", "/opt/x/burst-resume", "warning", NULL, NULL},
	{"24.11", "ResumeFailProgram", "(null)", "warning", "not set", NULL},
	{"24.11", "ResumeFailProgram", "/opt/x/fail", "warning", "/opt/x/fail", NULL},
	{"22.05", "PrologSlurmctld", "(null)", "warning", "not set", NULL},
	{"22.05", "PrologSlurmctld", "/opt/x/prolog", "warning", "/opt/x/prolog", NULL},
	{"24.11", "PrologSlurmctld[0]", NULL, "warning", "not set", NULL},
	{"24.11", "PrologSlurmctld[0]", "/a/x\nPrologSlurmctld[1] = /b/burst-prolog", NULL, NULL,
	 NULL},
	{"24.11", "PrologSlurmctld[0]", "/a/x\nPrologSlurmctld[1] = /b/y", "warning", "/a/x", NULL},
	{"24.11", "PrologEpilogTimeout", "60", "error", "60 s", "not set, or more than 60 s"},
	{"24.11", "PrologEpilogTimeout", "61", NULL, NULL, NULL},
	{"24.11", "PrologEpilogTimeout", NULL, NULL, NULL, NULL},
	{"26.05", "PrologEpilogTimeout", "700\nPrologTimeout = 10", "error",
	 "10 s by PrologTimeout", NULL},
	{"24.11", "ResumeRate", "300 nodes/min", "warning", "300 nodes/min", "0"},
	{"24.11", "SuspendRate", "60 nodes/min", "warning", "60 nodes/min", "0"},
	{"24.11", "ReturnToService", "1", "error", "1", "2"},
	{"24.11", "JobRequeue", "0", "error", "0", "1"},
	{"24.11", "SlurmctldParameters", "power_save_interval=1", "error",
	 "without idle_on_node_suspend", "idle_on_node_suspend"},
	{"24.11", "SlurmctldParameters", "power_save_interval=1,no_idle_on_node_suspend", "error",
	 NULL, NULL},
	{"24.11", "SlurmctldParameters", "IDLE_ON_NODE_SUSPEND,power_save_interval=5", NULL, NULL,
	 NULL},
	{"24.11", "SlurmctldParameters", "idle_on_node_suspend", "warning",
	 "without power_save_interval, which means 10", NULL},
	{"24.11", "SlurmctldParameters", "idle_on_node_suspend,power_save_interval=6", "warning",
	 "power_save_interval=6", NULL},
	{"24.11", "SlurmctldParameters", "idle_on_node_suspend,power_save_interval=x", "warning",
	 "power_save_interval=x", NULL},
	{"24.11", "SlurmctldParameters",
	 "idle_on_node_suspend,power_save_interval=1,power_save_min_interval=30", "warning",
	 "power_save_min_interval=30", NULL},
	{"22.05", "SlurmctldParameters", "idle_on_node_suspend,power_save_interval=1", "warning",
	 "without cloud_reg_addrs", "cloud_reg_addrs"},
	{"24.11", "SlurmctldParameters", "idle_on_node_suspend,power_save_interval=1,cloud_dns",
	 "warning", "with cloud_dns", NULL},
	{"22.05", "TreeWidth", "50", "error", "50", NULL},
	{"24.11", "TreeWidth", "50", NULL, NULL, NULL},
	{"22.05", "CommunicationParameters", "(null)", "error", "without NoAddrCache", NULL},
	{"24.11", "CommunicationParameters", "NoAddrCache", "advice", "with NoAddrCache", NULL},
	{"22.05", "PrivateData", "none", "error", "without cloud", "cloud"},
	/* SlurmUser sees everything all the same. */
	{"22.05", "PrivateData", "cloud,jobs,nodes,partitions", NULL, NULL, NULL},
	{"24.11", "PrivateData", "jobs,nodes,partitions", NULL, NULL, NULL},
	{"24.11", "SuspendTime", "INFINITE", "error", "INFINITE", NULL},
	{"24.11", "SuspendTime", "-1", "error", "-1", NULL},
	{"24.11", "SuspendTimeout", "301 sec", "warning", "301 s for pool h100 and 1 more",
	 "at most 300 s"},
	{"24.11", "SuspendTimeout", "300 sec", NULL, NULL, NULL},
	{"24.11", "SuspendTimeout", NULL, "warning", "not shown", NULL},
	{"26.05", "ResumeTimeout", "INFINITE", "warning", "INFINITE for pool h100 and 1 more",
	 "not INFINITE"},
	{"24.11", "SuspendExcNodes", "d[1-100],c[7-9]:2", "warning",
	 "d[1-100],c[7-9]:2, which has nodes of pool a100", NULL},
	{"24.11", "SuspendExcNodes", "c[9,8]", "warning", "c[9,8], which has nodes of pool a100",
	 NULL},
	{"24.11", "SuspendExcNodes", "d[1-100],e1", NULL, NULL, NULL},
	{"24.11", "SuspendExcParts", "x,cloud", "warning", "x,cloud, which has nodes of pool h100",
	 NULL},
	{"24.11", "SuspendExcParts", "clou,cloud2", NULL, NULL, NULL},
	{"24.11", "SuspendExcStates", "DOWN,CLOUD", "warning", "with CLOUD", "no CLOUD"},
	{"24.11", "SuspendExcStates", "DOWN", NULL, NULL, NULL},
	{"24.11", "SlurmdTimeout", "0 sec", "warning", "0 sec", "not 0"},
	{"24.11", "SchedulerParameters", "(null)", "advice",
	 "without sched_interval, which means 60", NULL},
	{"26.05", "SchedulerParameters", "sched_interval=5", "advice",
	 "without requeue_on_resume_failure", NULL},
	/* Values with bytes that no terminal shall see, and long ones, cut. */
	{"24.11", "ResumeRate", "1\x1b[31m\xff", "warning", "1?[31m?", NULL},
};

/* The problem of the edited setting, or NULL. */
static const struct slurm_problem *problem_of(const struct slurm_report *r, const char *key)
{
	size_t n = strcspn(key, "[");

	for (size_t i = 0; i < r->n; i++)
		if (strncmp(r->problems[i].setting, key, n) == 0 &&
		    r->problems[i].setting[n] == '\0')
			return &r->problems[i];
	return NULL;
}

static void test_single(void **state)
{
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		char *config = fixture(single[i].release, "config");
		char *partitions = fixture(single[i].release, "partitions");
		const struct slurm_problem *p;
		struct slurm_report r;

		print_message("# %zu: %s %s\n", i, single[i].release, single[i].key);
		/* What else the fixture is advised goes away. */
		edit(config, "AuthInfo", "cred_expire=30");
		if (strcmp(single[i].release, "26.05") == 0)
			edit(config, "SchedulerParameters",
			     "sched_interval=2,requeue_on_resume_failure");
		edit(config, single[i].key, single[i].value);
		assert_int_equal(
			slurm_require(text_of(config), text_of(partitions), &n.need, &r, NULL), 0);
		p = problem_of(&r, single[i].key);
		if (single[i].severity == NULL) {
			assert_int_equal(r.n, 0);
		} else {
			assert_int_equal(r.n, 1);
			assert_non_null(p);
			assert_string_equal(slurm_severity_name(p->severity), single[i].severity);
			if (single[i].found != NULL)
				assert_string_equal(p->found, single[i].found);
			if (single[i].wanted != NULL)
				assert_string_equal(p->wanted, single[i].wanted);
		}
		free(config);
		free(partitions);
	}
	need_fini(&n);
}

/* A partition that takes large jobs only, and pools that may not have so many nodes. */
static void test_partitions_of_large_jobs(void **state)
{
#define MIN(name, min, nodes) "PartitionName=" name " MinNodes=" min " Nodes=" nodes "\n"
	static const struct {
		const char *partitions;
		uint32_t h100, a100; /* max_nodes */
		const char *found, *wanted;
	} rows[] = {
		{MIN("all", "8", "c[1-8]"), 6, 2, NULL, NULL},
		{MIN("all", "8", "c[1-8]"), 4, 2,
		 "8 for all, whose nodes can be 6 at once: pool h100 has max_nodes 4",
		 "at most 6, or a higher max_nodes"},
		{MIN("all", "7", "c[1-8]"), 5, 1,
		 "7 for all, whose nodes can be 6 at once: pool h100 has max_nodes 5", NULL},
		{MIN("all", "6", "c[1-8]"), 4, 2, NULL, NULL},
		/* Nodes that are always there count as they are. */
		{MIN("all", "8", "c[1-8],d[1-2]"), 4, 2, NULL, NULL},
		{MIN("all", "9", "c[1-8],d[1-2]"), 4, 2,
		 "9 for all, whose nodes can be 8 at once: pool h100 has max_nodes 4", NULL},
		/* Its other nodes are of no use to a partition. */
		{MIN("ok", "1", "c[1-6]") MIN("small", "2", "c[7-8]"), 6, 1,
		 "2 for small, whose nodes can be 1 at once: pool a100 has max_nodes 1", NULL},
		/* What Slurm itself refuses, and a pool that is closed on purpose. */
		{MIN("all", "9", "c[1-8]"), 6, 2, NULL, NULL},
		{MIN("all", "1", "c[1-8]"), 0, 0, NULL, NULL},
		{MIN("all", "0", "c[1-8]"), 0, 0, NULL, NULL},
		{MIN("none", "2", "(null)"), 0, 0, NULL, NULL},
		{MIN("odd", "UNLIMITED", "c[1-8]"), 0, 0, NULL, NULL},
	};
#undef MIN

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *config = fixture("24.11", "config");
		const struct slurm_problem *p;
		struct slurm_report r;
		struct need n;

		need_init(&n);
		n.pools[0].max_nodes = rows[i].h100;
		n.pools[1].max_nodes = rows[i].a100;
		assert_int_equal(slurm_require(text_of(config), text_of(rows[i].partitions),
					       &n.need, &r, NULL),
				 0);
		p = problem_of(&r, "MinNodes");
		assert_string_equal(p != NULL ? p->found : "",
				    rows[i].found != NULL ? rows[i].found : "");
		if (rows[i].wanted != NULL)
			assert_string_equal(p->wanted, rows[i].wanted);
		need_fini(&n);
		free(config);
	}
}

static char *one[] = {(char *)(uintptr_t) "a", NULL};

/* slurmctld of 22.05 takes `sbatch -A` of anybody's account, and of one that there is not, unless
 * it is told to look; likewise QOS and wckeys. */
static void test_what_budgets_go_by(void **state)
{
	static const struct {
		struct conf_budget b;
		const char *enforced, *found; /* found NULL: all is well */
	} rows[] = {
		{{.users = one}, "none", NULL},
		{{.each = CONF_EACH_USER, .partitions = one}, "none", NULL},
		{{.accounts = one}, "none", "without associations"},
		{{.each = CONF_EACH_ACCOUNT}, "(null)", "without associations"},
		{{.accounts = one}, "associations", NULL},
		{{.accounts = one}, "associations,limits,qos,safe", NULL},
		{{.qos = one}, "associations", "without qos"},
		{{.qos = one}, "associations,qos", NULL},
		{{.wckeys = one}, "associations,qos", "without wckeys"},
		{{.accounts = one, .qos = one, .wckeys = one}, "associations,qos,wckeys", NULL},
		{{.accounts = one, .qos = one, .wckeys = one},
		 "associations,wckeys",
		 "without qos"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *config = fixture("22.05", "config");
		const struct conf_budget list[] = {{.users = one}, rows[i].b};
		const struct slurm_problem *p;
		struct slurm_report r;
		struct need n;

		print_message("# row %zu\n", i);
		need_init(&n);
		slurm_need_budgets(&n.need, list, 2);
		edit(config, "AccountingStorageEnforce", rows[i].enforced);
		assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
		p = problem_of(&r, "AccountingStorageEnforce");
		assert_true((p == NULL) == (rows[i].found == NULL));
		if (p != NULL)
			assert_string_equal(p->found, rows[i].found);
		need_fini(&n);
		free(config);
	}
}

/* A prolog that is not ours is not waited for, and needs no time. */
static void test_foreign_prolog(void **state)
{
	char *config = fixture("22.05", "config");
	struct slurm_report r;
	struct need n;

	(void)state;
	need_init(&n);
	edit(config, "PrologSlurmctld", "/opt/x/prolog");
	edit(config, "PrologEpilogTimeout", "5");
	check(config, "", &n.need, "warning PrologSlurmctld, " SHORT_CRED);
	assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
	assert_non_null(strstr(problem_of(&r, "PrologSlurmctld")->wanted,
			       "this one as /etc/burstd/prolog-slurmctld"));
	need_fini(&n);
	free(config);
}

static const struct {
	const char *version, *scheduler, *auth;
	const char *found; /* NULL: fine */
	int64_t hold_ms;
} delays[] = {
	{"25.05.5", "sched_interval=2", "(null)", "without cred_expire, which means 120", 121000},
	{"25.05.5", "sched_interval=2", "socket=/x,cred_expire=120", "cred_expire=120", 121000},
	{"25.05.5", "sched_interval=2", "socket=/x,cred_expire=119", NULL, 120000},
	{"25.05.5", "sched_interval=2", "cred_expire=9", "cred_expire=9", 10000},
	/* There is no such thing before 25.11. */
	{"25.05.5", "sched_interval=2,requeue_delay=30", "(null)",
	 "without cred_expire, which means 120", 121000},
	{"25.11.5", "sched_interval=2,requeue_delay=30", "(null)", NULL, 30000},
	{"25.11.5", "sched_interval=2,requeue_delay=10", "(null)", NULL, 10000},
	{"25.11.5", "sched_interval=2,requeue_delay=119", "(null)", NULL, 119000},
	{"25.11.5", "sched_interval=2,requeue_delay=300", "cred_expire=30", "requeue_delay=300",
	 300000},
	{"25.11.5", "sched_interval=2,requeue_delay=1", "cred_expire=30", "requeue_delay=1", 1000},
	{"25.11.5", "sched_interval=2", "cred_expire=300", "cred_expire=300", 301000},
	{"25.11.5", "sched_interval=2,requeue_delay=x", "cred_expire=30", NULL, 0},
};

static void test_requeue_delay(void **state)
{
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		char *config = fixture("26.05", "config"), scheduler[200];
		const struct slurm_problem *p;
		struct slurm_report r;

		print_message("# %s %s %s\n", delays[i].version, delays[i].scheduler,
			      delays[i].auth);
		(void)snprintf(scheduler, sizeof(scheduler), "%s,requeue_on_resume_failure",
			       delays[i].scheduler);
		edit(config, "SLURM_VERSION", delays[i].version);
		edit(config, "SchedulerParameters", scheduler);
		edit(config, "AuthInfo", delays[i].auth);
		assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
		p = problem_of(&r, "AuthInfo");
		assert_int_equal(r.n, delays[i].found != NULL);
		assert_int_equal(r.hold_ms, delays[i].hold_ms);
		if (delays[i].found != NULL)
			assert_string_equal(p->found, delays[i].found);
		free(config);
	}
	need_fini(&n);
}

static const struct {
	const char *slurmctld, *slurmd;
	uint32_t percent;
} memories[] = {
	{"idle_on_node_suspend", "(null)", 90},
	{"idle_on_node_suspend,node_reg_mem_percent=75", "l3cache_as_socket", 75},
	{"node_reg_mem_percent=100", "(null)", 100},
	{"node_reg_mem_percent=87.5", "(null)", 1},
	{"node_reg_mem_percent=0", "(null)", 1},
	{"node_reg_mem_percent=100", "config_overrides", 0},
	{"node_reg_mem_percent=100", "l3cache_as_socket,config_overrides", 0},
};

/* How much less memory than slurm.conf says slurmctld lets a node have. */
static void test_memory_percent(void **state)
{
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
		char *config = fixture("26.05", "config");
		struct slurm_report r;

		print_message("# %s %s\n", memories[i].slurmctld, memories[i].slurmd);
		edit(config, "SlurmctldParameters", memories[i].slurmctld);
		edit(config, "SlurmdParameters", memories[i].slurmd);
		assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
		assert_int_equal(r.memory_percent, memories[i].percent);
		free(config);
	}
	need_fini(&n);
}

/* 25.11.0 to 25.11.2 lose cloud nodes from a topology; without one there is nothing to lose. */
static void test_topology_bug(void **state)
{
	static const struct {
		const char *version, *plugin, *found;
	} cases[] = {
		{"25.11.2", "topology/block", "25.11.2 with topology/block"},
		{"25.11.0", "topology/tree", "25.11.0 with topology/tree"},
		{"25.11.2", "topology/flat", NULL},
		{"25.11.3", "topology/tree", NULL},
	};
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *config = fixture("26.05", "config");
		const struct slurm_problem *p;
		struct slurm_report r;

		edit(config, "SLURM_VERSION", cases[i].version);
		edit(config, "TopologyPlugin", cases[i].plugin);
		assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
		p = problem_of(&r, "SLURM_VERSION");
		assert_int_equal(p != NULL, cases[i].found != NULL);
		if (p != NULL)
			assert_string_equal(p->found, cases[i].found);
		free(config);
	}
	need_fini(&n);
}

/* Who has its keys from burstd has slurm.conf from slurmctld. */
static void test_nodes_that_claim(void **state)
{
	static const char serves[] = "idle_on_node_suspend,power_save_interval=1,enable_configless";
	char *config = fixture("24.11", "config");
	struct need n;

	(void)state;
	need_init(&n);
	check(config, "", &n.need, SHORT_CRED);
	n.need.auth = "auth/munge";
	edit(config, "SlurmctldParameters", "idle_on_node_suspend,power_save_interval=1");
	check(config, "", &n.need, "error SlurmctldParameters, " SHORT_CRED);
	n.need.auth = "auth/slurm";
	edit(config, "SlurmctldParameters", serves);
	check(config, "", &n.need, "error AuthType, " SHORT_CRED);
	edit(config, "AuthType", "auth/slurm");
	check(config, "", &n.need, SHORT_CRED);
	n.need.auth = "auth/slur";
	check(config, "", &n.need, "error AuthType, " SHORT_CRED);
	need_fini(&n);
	free(config);
}

/* What is not known is not checked. */
static void test_unknown_need(void **state)
{
	char *config = fixture("24.11", "config");
	struct slurm_need none = {0};
	struct need n;

	(void)state;
	need_init(&n);
	edit(config, "AuthInfo", "cred_expire=30");
	edit(config, "ClusterName", "other");
	check(config, "", &none, "");
	n.need.cluster = NULL;
	check(config, "", &n.need, "");
	need_fini(&n);
	free(config);
}

static const struct {
	const char *name, *features[2], *bare[2], *found, *wanted; /* of the two pools */
} features[] = {
	{"no pool wants any", {NULL, NULL}, {NULL, NULL}, NULL, NULL},
	{"all nodes carry them", {"spot,ondemand", "a,b"}, {NULL, NULL}, NULL, NULL},
	{"one does not",
	 {NULL, "spot,ondemand"},
	 {NULL, "c7"},
	 "missing for node c7 of pool a100",
	 "Feature=spot,ondemand"},
	{"in both pools",
	 {"a,b", "spot,ondemand"},
	 {"c1", "c7"},
	 "missing for node c1 of pool h100, and in 1 more pools",
	 "Feature=a,b"},
};

static void test_features(void **state)
{
	char *config = fixture("22.05", "config");
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		struct slurm_report r;
		const struct slurm_problem *p;

		print_message("# %s\n", features[i].name);
		for (size_t k = 0; k < 2; k++) {
			n.pools[k].features = features[i].features[k];
			n.pools[k].bare = features[i].bare[k];
		}
		assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
		assert_int_equal(r.by_severity[SLURM_WARNING], features[i].found != NULL);
		if (features[i].found == NULL)
			continue;
		p = problem_of(&r, "NodeName");
		assert_string_equal(p->found, features[i].found);
		assert_string_equal(p->wanted, features[i].wanted);
		assert_int_equal(p->severity, SLURM_WARNING);
	}
	need_fini(&n);
	free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_partitions_of_large_jobs),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_foreign_prolog),
		cmocka_unit_test(test_what_budgets_go_by),
		cmocka_unit_test(test_requeue_delay),
		cmocka_unit_test(test_memory_percent),
		cmocka_unit_test(test_topology_bug),
		cmocka_unit_test(test_nodes_that_claim),
		cmocka_unit_test(test_unknown_need),
		cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests_name("require", tests, NULL, NULL);
}
