/* What a running slurmctld says beside the file: what is told, and what is none of burstd's
 * business. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "slurmconf/live.h"
#include "world.h"

#define CONFIG                                                                                     \
	"Configuration data as of 2026-11-30T12:00:00\n"                                           \
	"AccountingStorageTRES   = cpu,mem,energy,node,billing,fs/disk,vmem,pages,gres/gpu\n"      \
	"AccountingStorageEnforce = associations,limits,safe\n"                                    \
	"GresTypes               = gpu\nJobRequeue              = 1\n"                             \
	"MinJobAge               = 300 sec\nPreemptMode             = OFF\n"                       \
	"PreemptType             = (null)\nPrologSlurmctld[0]      = /p/burst-prolog\n"            \
	"ResumeProgram           = /p/burst-resume\nResumeFailProgram       = (null)\n"            \
	"ResumeRate              = 0 nodes/min\nSuspendTime             = INFINITE\n"              \
	"SlurmctldParameters     = power_save_interval=1,idle_on_node_suspend\n"                   \
	"SLURM_VERSION           = 24.11.5\nSuspendProgram          = (null)\n"                    \
	"TopologyPlugin          = topology/flat\n\nSlurmctld(primary) at ctl is UP\n"
#define NODE(n, rest)                                                                              \
	"NodeName=" n " CoresPerSocket=2  CPUAlloc=0 CPUEfctv=4 CPUTot=4 CPULoad=N/A "             \
	"AvailableFeatures=c,cloud ActiveFeatures=cloud Gres=gpu:h100:8(S:0-1) NodeAddr=" n        \
	"  RealMemory=1000 AllocMem=0 Sockets=1 Boards=1 State=IDLE+CLOUD+POWERED_DOWN "           \
	"ThreadsPerCore=2 TmpDisk=0 Weight=1 " rest "\n"
#define PART(rest)                                                                                 \
	"PartitionName=c AllowGroups=ALL Nodes=c[1-2] PriorityTier=1 PreemptMode=OFF State=DOWN "  \
	"ResumeTimeout=660 SuspendTimeout=30 SuspendTime=300 "                                     \
	"TRESBillingWeights=CPU=1,Mem=2G " rest "\n"
#define NODES NODE("c1", "") NODE("c2", "Reason=RealMemory=9 State=x")

/* As it runs; in the block and before it. */
#define FILE_NODES                                                                                 \
	"NodeName=c[1-2] CPUs=4 Sockets=1 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=1000 "      \
	"Gres=gpu:h100:8 Feature=cloud,c State=CLOUD\n"
#define FILE_PART                                                                                  \
	"PartitionName=c Nodes=burst-c SuspendTime=300 SuspendTimeout=30 ResumeTimeout=660 "       \
	"TRESBillingWeights=\"CPU=1,Mem=2G\" PriorityTier=1 PreemptMode=off\n"
#define BLOCK(lines) "# BEGIN burstd\n" lines "# END burstd\n"

static const struct row {
	const char *file, *config, *partitions, *nodes;
	const char *want; /* NULL: no difference */
} rows[] = {
	{"ResumeProgram=/p/burst-resume\nPrologSlurmctld=/p/burst-prolog ResumeRate=0\n"
	 "SlurmctldParameters=idle_on_node_suspend,power_save_interval=1 MinJobAge=300\n"
	 "AccountingStorageTRES=gres/gpu AccountingStorageEnforce=all PreemptType=preempt/none\n"
	 "TopologyPlugin=topology/none SuspendTime=-1 TreeWidth=5 SuspendExcNodes=c1\n" BLOCK(
		 FILE_NODES FILE_PART),
	 CONFIG, PART(""), NODES, NULL},
	{BLOCK("ResumeProgram=/p/burst-resume\n") FILE_NODES FILE_PART, CONFIG, PART(""), NODES,
	 NULL},
	/* Settings. */
	{BLOCK("JobRequeue=0\nResumeProgram=/p/burst-resume\n"), CONFIG, "", NODES,
	 "/s/slurm.conf:2: JobRequeue=0; slurmctld runs with 1: scontrol reconfigure"},
	{"\nResumeProgram=/p/other\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: ResumeProgram=/p/other; slurmctld runs with /p/burst-resume: restart "
	 "slurmctld"},
	{"A=1\n", CONFIG, "", NODES,
	 "/s/slurm.conf:0: ResumeProgram is not in the file; slurmctld runs with /p/burst-resume: "
	 "restart slurmctld"},
#define R "ResumeProgram=/p/burst-resume\n"
	{R "SuspendProgram=/p/s\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: SuspendProgram=/p/s; slurmctld runs with none: restart slurmctld"},
	{R "PrologSlurmctld=/p/mine\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: PrologSlurmctld=/p/mine; slurmctld runs with /p/burst-prolog: restart"},
	{R "SlurmctldParameters=idle_on_node_suspend\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: SlurmctldParameters=idle_on_node_suspend; slurmctld runs with power_"},
	{R "SlurmctldParameters=idle_on_node_suspend,power_save_interval=1,x\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: SlurmctldParameters="},
	{R "AccountingStorageTRES=gres/gpu,gres/nic\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: AccountingStorageTRES=gres/gpu,gres/nic; slurmctld runs with cpu,mem"},
	{R "AccountingStorageEnforce=limits,safe,qos\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: AccountingStorageEnforce=limits,safe,qos; slurmctld runs with"},
	{R "GresTypes=gpu,nic\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: GresTypes=gpu,nic; slurmctld runs with gpu: restart slurmctld"},
	{R "MinJobAge=30\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: MinJobAge=30; slurmctld runs with 300 sec: scontrol reconfigure"},
	{R "SuspendTime=60\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: SuspendTime=60; slurmctld runs with INFINITE: scontrol reconfigure"},
	{R "TopologyPlugin=topology/tree\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: TopologyPlugin=topology/tree; slurmctld runs with topology/flat"},
	{R "PreemptType=preempt/partition_prio\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: PreemptType=preempt/partition_prio; slurmctld runs with none: restart"},
	/* Nodes. */
	{R "NodeName=c[1-2] CPUs=8 State=CLOUD\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: pool \"c\": CPUs=8; slurmctld runs with 4 for c1 and 1 others: restart "
	 "slurmctld"},
	{R "NodeName=c1 State=CLOUD\nNodeName=c2 State=CLOUD Sockets=2\n", CONFIG, "", NODES,
	 "/s/slurm.conf:3: pool \"c\": Sockets=2; slurmctld runs with 1 for c2 and 0 others"},
	{R "NodeName=DEFAULT RealMemory=900\nNodeName=c[1-2] State=CLOUD\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: pool \"c\": RealMemory=900; slurmctld runs with 1000 for c1"},
	{R "NodeName=c[1-2] CoresPerSocket=3 State=CLOUD\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: pool \"c\": CoresPerSocket=3; slurmctld runs with 2"},
	{R "NodeName=c[1-2] ThreadsPerCore=1 State=CLOUD\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: pool \"c\": ThreadsPerCore=1; slurmctld runs with 2"},
	{R "NodeName=c[1-2] Gres=gpu:h100:4 State=CLOUD\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: pool \"c\": Gres=gpu:h100:4; slurmctld runs with gpu:h100:8(S:0-1)"},
	{R "NodeName=c[1-2] Features=cloud,c,spot State=CLOUD\n", CONFIG, "", NODES,
	 "/s/slurm.conf:2: pool \"c\": Features=cloud,c,spot; slurmctld runs with c,cloud"},
	{R "NodeName=c[1-2] State=CLOUD\n", CONFIG, "",
	 NODE("c1", "") "NodeName=c2 Gres=(null) State=IDLE ThreadsPerCore=1\n",
	 "/s/slurm.conf:2: pool \"c\": State=CLOUD; slurmctld runs with IDLE for c2 and 0 others: "
	 "restart"},
	{R "NodeName=c[1-2] State=CLOUD Gres=gpu:8\n", CONFIG, "",
	 "NodeName=c1 Gres=(null) State=IDLE+CLOUD\nNodeName=c2 Gres=gpu:8 State=IDLE+CLOUD\n",
	 "/s/slurm.conf:2: pool \"c\": Gres=gpu:8; slurmctld runs with none for c1 and 0 others"},
	{R "NodeName=c[1-2] State=CLOUD\n", CONFIG, "", NODE("c1", "") NODE("d7", ""),
	 "/s/slurm.conf:2: pool \"c\": slurmctld shows no node c2, and 0 others: restart"},
	{R "NodeName=c[1-2] State=CLOUD\n", CONFIG, "", "",
	 "/s/slurm.conf:2: pool \"c\": slurmctld shows no node c1, and 1 others: restart"},
	/* What is not in the file is told by its block. */
	{R, CONFIG, "", NODES, NULL},
	/* Partitions. */
	{R "PartitionName=c Nodes=burst-c SuspendTime=60\n", CONFIG, PART(""), NODES,
	 "/s/slurm.conf:2: partition c: SuspendTime=60; slurmctld runs with 300: scontrol "
	 "reconfigure"},
	{R "PartitionName=c Nodes=burst-c SuspendTime=60\n", CONFIG,
	 "PartitionName=c Nodes=c[1-2] SuspendTime=GLOBAL\n", NODES,
	 "/s/slurm.conf:2: partition c: SuspendTime=60; slurmctld runs with GLOBAL"},
	{R "PartitionName=c Nodes=burst-c TRESBillingWeights=CPU=3,Mem=2G\n", CONFIG, PART(""),
	 NODES,
	 "/s/slurm.conf:2: partition c: TRESBillingWeights=CPU=3,Mem=2G; slurmctld runs with "
	 "CPU=1,Mem=2G: "},
	{R "PartitionName=c Nodes=burst-c ResumeTimeout=661\n", CONFIG, PART(""), NODES,
	 "/s/slurm.conf:2: partition c: ResumeTimeout=661; slurmctld runs with 660"},
	{R "PartitionName=c Nodes=burst-c\n", CONFIG, "PartitionName=C Nodes=c[1-2]\n", NODES,
	 "/s/slurm.conf:2: slurmctld has no partition c: scontrol reconfigure"},
	{R "PartitionName=c Nodes=burst-c\n", CONFIG, "PartitionName=c Nodes=c1\n", NODES,
	 "/s/slurm.conf:2: partition c: slurmctld runs without c2 and 0 others in it: scontrol"},
	{R "PartitionName=mine Nodes=burst-c\n", CONFIG, "PartitionName=mine Nodes=(null)\n", NODES,
	 "/s/slurm.conf:2: partition mine: slurmctld runs without c1 and 1 others in it: "},
	{R "PartitionName=own Nodes=own1 SuspendTime=5\n", CONFIG, "", NODES, NULL},
};

static struct slurm_text text(const char *s)
{
	return (struct slurm_text){s, strlen(s)};
}

static int compare(struct world *w, const struct row *r, struct slurmconf_findings *out,
		   struct err *e)
{
	struct slurm_version version;
	const struct slurmconf_want want = {
		.conf = w->conf, .site = &w->site, .version = &version, .findings = &w->findings};
	const struct slurmconf_live_said said = {text(r->config), text(r->partitions),
						 text(r->nodes)};

	w->slurm = r->file;
	add_pool(w, "c", "c[1-2]", "CPUs=4 RealMemory=9", "");
	world_run(w);
	assert_int_equal(slurm_version_parse(&version, w->release, strlen(w->release), NULL), 0);
	return slurmconf_live(&want, &w->slurm_files, &said, out, e);
}

static void test_differences(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slurmconf_findings live = {.n = 0};
		struct err e = {0};
		char said[1200] = "";
		struct world w;

		world_init(&w);
		print_message("# row %zu: %s", i, rows[i].file);
		assert_int_equal(compare(&w, &rows[i], &live, &e), 0);
		if (live.n > 0)
			(void)snprintf(said, sizeof(said), "%s:%d: %s", live.v[0].at.file,
				       live.v[0].at.line, live.v[0].text);
		if (rows[i].want == NULL)
			assert_string_equal(said, "");
		else if (strncmp(said, rows[i].want, strlen(rows[i].want)) != 0)
			fail_msg("%s", said);
		assert_int_equal(live.n, rows[i].want != NULL);
		slurmconf_findings_fini(&live);
		world_fini(&w);
	}
}

static void test_another_release_runs(void **state)
{
	static const struct row r = {R, CONFIG, "", NODES, NULL};
	struct slurmconf_findings live = {.n = 0};
	struct err e = {0};
	struct world w;

	(void)state;
	world_init(&w);
	w.release = "25.05.8";
	assert_int_equal(compare(&w, &r, &live, &e), 0);
	assert_int_equal(live.n, 1);
	assert_string_equal(live.v[0].text,
			    "slurmctld 24.11.5 runs, and 25.05.8 is installed: restart slurmctld");
	slurmconf_findings_fini(&live);
	world_fini(&w);
}

static void test_what_scontrol_does_not_print(void **state)
{
	static const char *const texts[] = {
		"", "slurm_load_ctl_conf error: x\n",
		"Configuration data as of 2026-11-30T12:00:00\nA = 1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct row r = {R, texts[i], "", "", NULL};
		struct slurmconf_findings live = {.n = 0};
		struct err e = {0};
		struct world w;

		world_init(&w);
		assert_int_equal(compare(&w, &r, &live, &e), -1);
		assert_string_equal(e.msg, "scontrol: not a configuration");
		assert_int_equal(live.n, 0);
		world_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_another_release_runs),
		cmocka_unit_test(test_what_scontrol_does_not_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
