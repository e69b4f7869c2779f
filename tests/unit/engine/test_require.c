/* test_require.c - real configurations of three releases, each setting broken in turn, and texts
 * that are none.  Run from the top of the repository: fixtures are read. */
#include <string.h>

#include "engine/slurm/require.h"
#include "slurp.h"

static char *fixture(const char *release, const char *file)
{
	char path[200];

	(void)snprintf(path, sizeof(path), "tests/fixtures/slurm/%s/%s.txt", release, file);
	return slurp(path);
}

static struct slurm_text text_of(const char *s)
{
	return (struct slurm_text){s, strlen(s)};
}

/* What the fixtures are judged for: their nodes are c1 to c8. */
struct need {
	struct slurm_need_pool pools[2];
	struct hostlist *nodes[2];
	struct slurm_need need;
};

static void need_init(struct need *n)
{
	*n = (struct need){.need = {.cluster = "lab", .npools = 2}};
	assert_int_equal(hostlist_parse(&n->nodes[0], "c[1-6]", 6, NULL), 0);
	assert_int_equal(hostlist_parse(&n->nodes[1], "c[7-8]", 6, NULL), 0);
	n->pools[0] = (struct slurm_need_pool){.name = "h100", .nodes = n->nodes[0]};
	n->pools[1] = (struct slurm_need_pool){.name = "a100", .nodes = n->nodes[1]};
	n->need.pools = n->pools;
}

static void need_fini(struct need *n)
{
	hostlist_free(n->nodes[0]);
	hostlist_free(n->nodes[1]);
}

/* The line of `key` becomes "key = value", or goes if value is NULL. */
static void edit(char *text, const char *key, const char *value)
{
	char *line = text, *rest, *old = mem_strdup(text);
	size_t n = strlen(key);

	while (line != NULL && !(strncmp(line, key, n) == 0 && strchr(" =[", line[n]) != NULL))
		if ((line = strchr(line, '\n')) != NULL)
			line++;
	if (line == NULL) {
		fail_msg("the fixture has no %s", key);
		abort();
	}
	rest = old + (line - text);
	rest = strchr(rest, '\n') + 1;
	if (value != NULL)
		line += snprintf(line, 400, "%s = %s\n", key, value);
	memcpy(line, rest, strlen(rest) + 1);
	free(old);
}

/* "error JobRequeue, advice AuthInfo" */
static void summary(const struct slurm_report *r, struct str *out)
{
	for (size_t i = 0; i < r->n; i++)
		str_addf(out, "%s%s %s", i > 0 ? ", " : "",
			 slurm_severity_name(r->problems[i].severity), r->problems[i].setting);
}

static void check(const char *config, const char *partitions, const struct slurm_need *need,
		  const char *expected)
{
	struct slurm_report r;
	struct err e = {0};
	struct str s;

	str_init(&s, 10000);
	if (slurm_require(text_of(config), text_of(partitions), need, &r, &e) != 0)
		fail_msg("refused: %s", e.msg);
	summary(&r, &s);
	assert_string_equal(s.p, expected);
	assert_int_equal(r.by_severity[0] + r.by_severity[1] + r.by_severity[2], r.n);
	str_fini(&s);
}

/* --- whole configurations --------------------------------------------------------------------- */

#define SHORT_CRED "advice AuthInfo" /* the lab has cred_expire=5, for its speed */
#define REQUEUE    "advice SchedulerParameters"
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

/* --- one setting after the other -------------------------------------------------------------- */

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

/* --- times of partitions ---------------------------------------------------------------------- */

#define PART(name, nodes, times) "PartitionName=" name " Nodes=" nodes " State=UP" times "\n"

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

/* A prolog that is not ours is not waited for, and needs no time. */
static void test_foreign_prolog(void **state)
{
	char *config = fixture("22.05", "config");
	struct need n;

	(void)state;
	need_init(&n);
	edit(config, "PrologSlurmctld", "/opt/x/prolog");
	edit(config, "PrologEpilogTimeout", "5");
	check(config, "", &n.need, "warning PrologSlurmctld, " SHORT_CRED);
	need_fini(&n);
	free(config);
}

static const struct {
	const char *version, *scheduler, *auth;
	const char *found; /* NULL: fine */
} delays[] = {
	{"25.05.5", "sched_interval=2", "(null)", "without cred_expire, which means 120"},
	{"25.05.5", "sched_interval=2", "socket=/x,cred_expire=120", "cred_expire=120"},
	{"25.05.5", "sched_interval=2", "socket=/x,cred_expire=119", NULL},
	{"25.05.5", "sched_interval=2", "cred_expire=9", "cred_expire=9"},
	/* There is no such thing before 25.11. */
	{"25.05.5", "sched_interval=2,requeue_delay=30", "(null)",
	 "without cred_expire, which means 120"},
	{"25.11.5", "sched_interval=2,requeue_delay=30", "(null)", NULL},
	{"25.11.5", "sched_interval=2,requeue_delay=10", "(null)", NULL},
	{"25.11.5", "sched_interval=2,requeue_delay=119", "(null)", NULL},
	{"25.11.5", "sched_interval=2,requeue_delay=300", "cred_expire=30", "requeue_delay=300"},
	{"25.11.5", "sched_interval=2,requeue_delay=1", "cred_expire=30", "requeue_delay=1"},
	{"25.11.5", "sched_interval=2", "cred_expire=300", "cred_expire=300"},
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
		if (delays[i].found != NULL)
			assert_string_equal(p->found, delays[i].found);
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

/* --- what else is given out ------------------------------------------------------------------- */

static void test_report(void **state)
{
	char *config = fixture("22.05", "bare-config");
	struct slurm_report r;
	struct need n;
	struct str s;

	(void)state;
	need_init(&n);
	assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
	assert_int_equal(r.version.number, 220508);
	assert_string_equal(r.boot_time, "2026-11-21T12:27:12");
	assert_int_equal(r.by_severity[SLURM_ERROR], 8);
	assert_int_equal(r.by_severity[SLURM_WARNING], 6);
	assert_int_equal(r.by_severity[SLURM_ADVICE], 2);
	for (size_t i = 1; i < r.n; i++)
		assert_true(r.problems[i - 1].severity >= r.problems[i].severity);
	str_init(&s, 1000);
	slurm_problem_print(&r.problems[2], &s);
	assert_string_equal(s.p, "ReturnToService is 0, wanted 2: A node that was DOWN stays DOWN "
				 "when its next instance registers, which bills for nothing.");
	str_fini(&s);
	need_fini(&n);
	free(config);
}

/* Where a setting is there twice, the first counts. */
static void test_twice(void **state)
{
	char *config = fixture("24.11", "config");
	struct need n;

	(void)state;
	need_init(&n);
	edit(config, "JobRequeue", "1\nJobRequeue = 0");
	check(config, "", &n.need, SHORT_CRED);
	edit(config, "JobRequeue", "0\nJobRequeue = 1");
	check(config, "", &n.need, "error JobRequeue, " SHORT_CRED);
	need_fini(&n);
	free(config);
}

/* What is not shown cannot be checked: said once for each setting, and in its place. */
static void test_not_shown(void **state)
{
	char *config = fixture("24.11", "config");
	struct need n;

	(void)state;
	need_init(&n);
	edit(config, "ResumeProgram", NULL);
	edit(config, "SlurmctldParameters", NULL);
	edit(config, "AuthInfo", NULL);
	edit(config, "JobRequeue", "0");
	check(config, "", &n.need,
	      "error JobRequeue, warning ResumeProgram, warning SlurmctldParameters, "
	      "warning AuthInfo");
	need_fini(&n);
	free(config);
}

/* --- texts that are none ---------------------------------------------------------------------- */

static void refuse(struct slurm_text config, struct slurm_text partitions, const char *words)
{
	struct slurm_report r;
	struct err e = {0};
	struct need n;

	need_init(&n);
	r.n = 77;
	assert_int_equal(slurm_require(config, partitions, &n.need, &r, &e), -1);
	assert_int_equal(r.n, 0);
	assert_int_equal(r.version.number, 0);
	assert_non_null(strstr(e.msg, "scontrol"));
	if (strstr(e.msg, words) == NULL)
		fail_msg("\"%s\" does not say %s", e.msg, words);
	need_fini(&n);
}

static void test_broken(void **state)
{
	static const struct {
		const char *config, *partitions, *words;
	} texts[] = {
		{"", "", "not a configuration"},
		{"slurm_load_ctl_conf error: Unable to contact slurm controller\n", "",
		 "not a configuration"},
		{"Configuration data as of ", "", "not a configuration"},
		{"Configuration data as of x\n", "", "cut short"},
		{"Configuration data as of x\n\n", "", "without SLURM_VERSION"},
		{"Configuration data as of x\nSLURM_VERSION = 24.11.5\n\n", "",
		 "without BOOT_TIME"},
		{"Configuration data as of x\nSLURM_VERSION = (null)\nBOOT_TIME = x\n\n", "",
		 "not a version"},
		{"Configuration data as of x\nSLURM_VERSION = 24.11.5\nBOOT_TIME = "
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\n",
		 "", "without BOOT_TIME"},
		{"Configuration data as of x\nA = b\n\nSLURM_VERSION = 24.11.5\nBOOT_TIME = x\n",
		 "", "without SLURM_VERSION"},
		{"Configuration data as of x\nSLURM_VERSION = 24.11.5\nBOOT_TIME = x\n\n",
		 "slurm_load_partitions: Access/permission denied\n", "not a partition"},
		{"Configuration data as of x\nSLURM_VERSION = 24.11.5\nBOOT_TIME = x\n\n",
		 "PartitionName=a Nodes=c1", "cut short"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refuse(text_of(texts[i].config), text_of(texts[i].partitions), texts[i].words);
}

/* However much of it is missing: never taken for the whole. */
static void test_cut_short(void **state)
{
	char *config = fixture("24.11", "config"), *partitions = fixture("24.11", "own-partitions");
	size_t whole_config = (size_t)(strstr(config, "\n\n") - config) + 2;
	struct slurm_report r;
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < whole_config; i++)
		assert_int_equal(slurm_require((struct slurm_text){config, i}, text_of(partitions),
					       &n.need, &r, NULL),
				 -1);
	assert_int_equal(slurm_require((struct slurm_text){config, whole_config},
				       text_of(partitions), &n.need, &r, NULL),
			 0);
	for (size_t i = 1; i < strlen(partitions); i++)
		assert_int_equal(slurm_require(text_of(config), (struct slurm_text){partitions, i},
					       &n.need, &r, NULL),
				 partitions[i - 1] == '\n' ? 0 : -1);
	need_fini(&n);
	free(config);
	free(partitions);
}

static struct slurm_text repeat(const char *head, const char *piece, size_t size)
{
	char *text = mem_zalloc(size + 1);
	size_t n = strlen(head), step = strlen(piece);

	memcpy(text, head, n);
	for (; n + step <= size; n += step)
		memcpy(text + n, piece, step);
	return (struct slurm_text){text, n};
}

static void test_huge(void **state)
{
	char *config = fixture("24.11", "config");
	struct slurm_text big =
		repeat("Configuration data as of x\n", "A = b\n", SLURM_CONFIG_MAX + 10);
	struct slurm_text parts = repeat("", PART("a", "c1", ""), SLURM_PARTITIONS_MAX + 100);
	struct slurm_text wide =
		repeat("", PART("a", "d[1-60000]", " SuspendTime=3"), (size_t)40 * 64);
	char *value = mem_zalloc(600);

	(void)state;
	refuse(big, text_of(""), "a configuration of over");
	refuse(text_of(config), parts, "partitions of over");
	parts.n = (SLURM_NPARTITIONS_MAX + 1) * strlen(PART("a", "c1", ""));
	refuse(text_of(config), parts, "too many partitions");
	refuse(text_of(config), wide, "too many partitions");

	struct slurm_report r;
	struct need n;

	need_init(&n);
	memset(value, 'x', 380);
	edit(config, "ResumeProgram", value);
	assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
	assert_int_equal(strlen(r.problems[0].found), sizeof(r.problems[0].found) - 1);
	assert_string_equal(r.problems[0].found + sizeof(r.problems[0].found) - 6, "xx...");
	need_fini(&n);
	free((void *)(uintptr_t)big.p);
	free((void *)(uintptr_t)parts.p);
	free((void *)(uintptr_t)wide.p);
	free(value);
	free(config);
}

/* --- features ----------------------------------------------------------------------------------
 */

static const struct {
	const char *name, *features[2], *bare[2], *found, *wanted; /* of the two pools */
} features[] = {
	{"no pool wants any", {NULL, NULL}, {NULL, NULL}, NULL, NULL},
	{"all nodes carry them", {"spot,ondemand", "a,b"}, {NULL, NULL}, NULL, NULL},
	{"one does not",
	 {NULL, "spot,ondemand"},
	 {NULL, "c7"},
	 "not so for c7 of pool a100",
	 "Feature=spot,ondemand"},
	{"in both pools",
	 {"a,b", "spot,ondemand"},
	 {"c1", "c7"},
	 "not so for c1 of pool h100, and in 1 more pools",
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
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_foreign_prolog),
		cmocka_unit_test(test_nodes_that_stay_up_must_be_spared_by_slurmctld),
		cmocka_unit_test(test_requeue_delay),
		cmocka_unit_test(test_topology_bug),
		cmocka_unit_test(test_unknown_need),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_not_shown),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests_name("slurm require", tests, NULL, NULL);
}
