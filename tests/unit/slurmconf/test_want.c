/* The lines that slurm.conf and gres.conf need, by release, and beside what a site has itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "world.h"

static void test_an_empty_site(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_pool(&w, "h100", "h100-[1-64]", H100, "gpu:h100:8");
	world_run(&w);
	assert_string_equal(
		w.body,
		"ResumeProgram=/usr/libexec/burstd/burst-resume\n"
		"SuspendProgram=/usr/libexec/burstd/burst-suspend\n"
		"ResumeFailProgram=/usr/libexec/burstd/burst-resume-fail\n"
		"PrologSlurmctld=/usr/libexec/burstd/burst-prolog\n"
		"ResumeRate=0\n"
		"SuspendRate=0\n"
		"SlurmctldParameters=power_save_interval=1,idle_on_node_suspend\n"
		"ReturnToService=2\n"
		"JobRequeue=1\n"
		"GresTypes=gpu\n"
		"NodeName=h100-[1-64] CPUs=208 Sockets=2 CoresPerSocket=52 ThreadsPerCore=2 "
		"RealMemory=1800000 Gres=gpu:h100:8 Feature=cloud,h100 State=CLOUD\n"
		"NodeSet=burst-h100 Nodes=h100-[1-64]\n"
		"PartitionName=h100 Nodes=burst-h100 State=UP SuspendTime=300 SuspendTimeout=30 "
		"ResumeTimeout=661\n");
	assert_string_equal(w.gres_body, "NodeName=h100-[1-64] AutoDetect=off Name=gpu Type=h100 "
					 "File=/dev/nvidia[0-7]\n");
	assert_int_equal(w.findings.n, 0);
	world_fini(&w);
}

/* A dynamic pool's nodes are in no line: slurmctld has room for them, and a set has them by their
 * feature. */
static void test_a_dynamic_pool(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_pool(&w, "h100", "h100-[1-64]", H100, "gpu:h100:8")->dynamic = true;
	add_pool(&w, "a100", "a100-[1-2]", H100, "gpu:a100:8");
	w.slurm = "ClusterName=falcon\nNodeName=own[1-70] CPUs=4\n";
	world_run(&w);
	assert_non_null(strstr(w.body, "\nMaxNodeCount=512\n")); /* twice 70 + 64 + 2, and more */
	assert_null(strstr(w.body, "NodeName=h100"));
	assert_non_null(strstr(w.body, "\nNodeName=a100-[1-2] "));
	assert_non_null(strstr(w.body, "\nNodeSet=burst-h100 Feature=h100\n"
				       "PartitionName=h100 Nodes=burst-h100 State=UP "));
	assert_non_null(strstr(w.body, "\nNodeSet=burst-a100 Nodes=a100-[1-2]\n"));
	assert_non_null(strstr(w.gres_body, "NodeName=h100-[1-64] AutoDetect=off Name=gpu"));
	assert_int_equal(w.findings.n, 0);
	world_fini(&w);
}

static void test_a_dynamic_pool_beside_the_sites_lines(void **state)
{
	static const struct {
		const char *slurm, *topology, *pool, *want;
	} rows[] = {
		{"NodeName=c[1-2] CPUs=4\n", "", "h100",
		 "NodeName has 2 nodes of pool \"h100\", which is "},
		{"MaxNodeCount=7\n", "", "h100",
		 "MaxNodeCount=7; write MaxNodeCount=64: there is no room"},
		{"MaxNodeCount=8\n", "", "h100", ""},
		{"", "", "cloud", "a dynamic pool cannot be named \"cloud\""},
		{"TopologyPlugin=topology/tree\nNodeName=own1 CPUs=1\n",
		 "SwitchName=s1 Nodes=own1\n", "h100",
		 "pool \"h100\" is dynamic, and its nodes are in no switch of topology.conf"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;
		bool found = false;

		print_message("# %zu\n", i);
		world_init(&w);
		add_pool(&w, rows[i].pool, "c[1-8]", H100, "gpu:h100:8")->dynamic = true;
		w.slurm = rows[i].slurm;
		w.topology = rows[i].topology;
		world_run(&w);
		for (size_t k = 0; k < w.findings.n; k++)
			found = found || strstr(w.findings.v[k].text, rows[i].want) != NULL;
		assert_int_equal(found, rows[i].want[0] != '\0');
		assert_null(strstr(w.topo_body, "c[1-8]"));
		world_fini(&w);
	}
}

static void test_releases(void **state)
{
	static const struct {
		const char *release, *has, *lacks;
	} rows[] = {
		{"22.05.8", "power_save_interval=1,idle_on_node_suspend,cloud_reg_addrs\n", "?"},
		{"22.05.8", "\nTreeWidth=65533\nCommunicationParameters=NoAddrCache\n", "?"},
		{"22.05.8", "\nPrivateData=cloud\n", "?"},
		{"23.02.8", "\nTreeWidth=65533\n", "PrivateData"},
		{"23.11.11", "\nReturnToService=2\n", "TreeWidth"},
		{"23.11.11", "\nReturnToService=2\n", "NoAddrCache"},
		{"26.05.5", "\nReturnToService=2\n", "cloud_reg_addrs"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		world_init(&w);
		w.release = rows[i].release;
		add_pool(&w, "c", "c[1-2]", "CPUs=4 RealMemory=9", "");
		world_run(&w);
		assert_non_null(strstr(w.body, rows[i].has));
		assert_null(strstr(w.body, rows[i].lacks));
		assert_null(strstr(w.body, "GresTypes"));
		assert_null(strstr(w.body, "Gres="));
		assert_string_equal(w.gres_body, "");
		world_fini(&w);
	}
}

static void test_machines_that_fetch_their_configuration(void **state)
{
	char server[] = "ctl:6817", *servers[] = {server, NULL};
	struct world w;

	(void)state;
	world_init(&w);
	w.slurm = "AuthType=auth/slurm\n";
	add_pool(&w, "c", "c1", "CPUs=4 RealMemory=9", "");
	assert_int_equal(conf_finish(w.conf, NULL), 0);
	w.conf->nodes.conf_servers = servers;
	world_run(&w);
	assert_non_null(strstr(w.body, "SlurmctldParameters=power_save_interval=1,"
				       "idle_on_node_suspend,enable_configless\n"));
	assert_true(world_says(&w, SLURM_ERROR,
			       "/s/slurm.conf:1: AuthType=auth/slurm, and machines get the key of "
			       "auth/munge"));
	w.conf->nodes.conf_servers = NULL;
	world_fini(&w);
}

/* Values that the site has: right ones stay, wrong ones are said with the whole line to write. */
static void test_settings_of_the_site(void **state)
{
	static const struct {
		const char *line, *want;
		enum slurm_severity severity;
	} rows[] = {
		{"ResumeProgram=/opt/burstd/burst-resume", NULL, SLURM_ERROR},
		{"ResumeProgram=/opt/own/resume",
		 "/s/slurm.conf:2: ResumeProgram=/opt/own/resume; write "
		 "ResumeProgram=/usr/libexec/burstd/burst-resume: Slurm has one for the whole",
		 SLURM_WARNING},
		{"ResumeProgram=/opt/own/xburst-resume",
		 "/s/slurm.conf:2: ResumeProgram=", SLURM_WARNING},
		{"SuspendProgram=/opt/own/x", "/s/slurm.conf:2: SuspendProgram=", SLURM_WARNING},
		{"resumerate=0", NULL, SLURM_ERROR},
		{"ResumeRate=10",
		 "/s/slurm.conf:2: ResumeRate=10; write ResumeRate=0: ", SLURM_WARNING},
		{"ReturnToService=1", "/s/slurm.conf:2: ReturnToService=1; write ReturnToService=2",
		 SLURM_ERROR},
		{"JobRequeue=0", "/s/slurm.conf:2: JobRequeue=0; write JobRequeue=1", SLURM_ERROR},
		{"SlurmctldParameters=idle_on_node_suspend,power_save_interval=5", NULL,
		 SLURM_ERROR},
		{"SlurmctldParameters=a,power_save_interval=6,b=1",
		 "/s/slurm.conf:2: SlurmctldParameters=a,power_save_interval=6,b=1; write "
		 "SlurmctldParameters=a,b=1,power_save_interval=1,idle_on_node_suspend: ",
		 SLURM_ERROR},
		{"SlurmctldParameters=idle_on_node_suspend",
		 "/s/slurm.conf:2: SlurmctldParameters=idle_on_node_suspend; write "
		 "SlurmctldParameters=idle_on_node_suspend,power_save_interval=1: slurmctld looks",
		 SLURM_WARNING},
		{"GresTypes=gpu,nic", NULL, SLURM_ERROR},
		{"GresTypes=nic",
		 "/s/slurm.conf:2: GresTypes=nic; write GresTypes=nic,gpu: ", SLURM_ERROR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[256], key[64];
		struct world w;

		world_init(&w);
		(void)snprintf(text, sizeof(text), "ClusterName=falcon\n%s\n", rows[i].line);
		(void)snprintf(key, sizeof(key), "%.*s=", (int)strcspn(rows[i].line, "="),
			       rows[i].line);
		w.slurm = text;
		add_pool(&w, "h100", "h100-[1-64]", H100, "gpu:h100:8");
		world_run(&w);
		print_message("# %s\n", rows[i].line);
		assert_null(strstr(w.body, key));
		assert_int_equal(w.findings.n, rows[i].want != NULL);
		if (rows[i].want != NULL)
			assert_true(world_says(&w, rows[i].severity, rows[i].want));
		world_fini(&w);
	}
}

/* Of a setting that comes twice the last counts, also in an included file. */
static void test_the_last_setting_counts(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.slurm = "JobRequeue=0\nInclude inc.conf\n";
	w.included = "\nJobRequeue=1 ReturnToService=0\n";
	add_pool(&w, "c", "c[1-2]", "CPUs=4 RealMemory=9", "");
	world_run(&w);
	assert_int_equal(w.findings.n, 1);
	assert_true(world_says(&w, SLURM_ERROR, "/s/inc.conf:2: ReturnToService=0; write"));
	world_fini(&w);
}

static void test_a_pool_without_hardware(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_pool(&w, "c", "c[1-2]", "", "");
	world_run(&w);
	assert_true(world_says(&w, SLURM_ERROR, "burstd.conf:10: pool \"c\": node is not set"));
	assert_null(strstr(w.body, "NodeName"));
	world_fini(&w);
}

static void test_the_site_has_the_nodes(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.slurm = "NodeName=c1,d[1-2] CPUs=4 State=CLOUD\nNodeName=c2 State=cloud\n"
		  "PartitionName=mine Nodes=burst-c SuspendTime=60 ResumeTimeout=661\n";
	add_pool(&w, "c", "c[1-2]", "", "gpu:2");
	world_run(&w);
	assert_int_equal(w.findings.n, 0);
	assert_null(strstr(w.body, "NodeName"));
	assert_null(strstr(w.body, "PartitionName"));
	assert_non_null(strstr(w.body, "NodeSet=burst-c Nodes=c[1-2]\n"));
	assert_string_equal(w.gres_body, "NodeName=c[1-2] AutoDetect=off Name=gpu "
					 "File=/dev/nvidia[0-1]\n");
	world_fini(&w);
}

static const struct {
	const char *slurm, *gres, *want;
	enum slurm_severity severity;
} site_wrongs[] = {
	{"NodeName=c1 State=CLOUD\n", "",
	 "/s/slurm.conf:1: NodeName has 1 of the 2 nodes of pool \"c\": all, or none", SLURM_ERROR},
	{"NodeName=c[1-2] CPUs=4\n", "",
	 "/s/slurm.conf:1: a node of pool \"c\" without State=CLOUD", SLURM_ERROR},
	{"PartitionName=c Nodes=x\n", "",
	 "/s/slurm.conf:1: partition c without all nodes of the pool of that name: write "
	 "Nodes=burst-c, or",
	 SLURM_ERROR},
	{"PartitionName=p Nodes=c[1-2]\n", "",
	 "/s/slurm.conf:1: partition p without SuspendTime=: idle nodes of pool \"c\"",
	 SLURM_ERROR},
	{"PartitionName=p Nodes=c[1-2] SuspendTime=9\n", "",
	 "/s/slurm.conf:1: partition p with ResumeTimeout=60; write ResumeTimeout=661: "
	 "slurmctld gives up",
	 SLURM_ERROR},
	{"ResumeTimeout=660\nPartitionName=p Nodes=c[1-2] SuspendTime=9\n", "",
	 "/s/slurm.conf:2: partition p with ResumeTimeout=660; write ResumeTimeout=661: ",
	 SLURM_ERROR},
	{"ResumeTimeout=900\nPartitionName=p Nodes=c[1-2] SuspendTime=9 ResumeTimeout=5\n", "",
	 "/s/slurm.conf:2: partition p with ResumeTimeout=5; write ", SLURM_ERROR},
	{"PartitionName=p Nodes=c[1-2]\nPartitionName=DEFAULT SuspendTime=9\n", "",
	 "/s/slurm.conf:1: partition p without SuspendTime=", SLURM_ERROR},
	{"PartitionName=DEFAULT SuspendTime=9 ResumeTimeout=700\n"
	 "PartitionName=p Nodes=c[1-2] SuspendTime=INFINITE\n",
	 "", "/s/slurm.conf:2: partition p without SuspendTime=", SLURM_ERROR},
	{"\nPartitionName=p Nodes=ALL\n", "",
	 "/s/slurm.conf:2: partition p has Nodes=ALL, and so burstd's nodes too", SLURM_WARNING},
	{"NodeName=DEFAULT TmpDisk=9 CPUs=2\n", "",
	 "/s/slurm.conf:1: TmpDisk of NodeName=DEFAULT holds for burstd's nodes too",
	 SLURM_WARNING},
	{"NodeName=a[1-2][3-4]\n", "",
	 "/s/slurm.conf:1: \"a[1-2][3-4]\" is not compared with burstd's nodes", SLURM_ADVICE},
	{"", "AutoDetect=nvml\nName=gpu File=/dev/nvidia0\n",
	 "/s/gres.conf:2: without NodeName=, and so for burstd's nodes too", SLURM_WARNING},
	{"", "NodeName=c1 Name=gpu File=/dev/x\n",
	 "/s/gres.conf:1: gres.conf has 1 of the 2 nodes of pool \"c\"", SLURM_ERROR},
	{"", "NodeName=c1 Name=gpu File=/dev/x\nNodeName=c1 Name=shard Count=2\n",
	 "/s/gres.conf:1: gres.conf has 1 of the 2 nodes of pool \"c\"", SLURM_ERROR},
	{"NodeName=c1 State=CLOUD\nNodeName=c1 State=CLOUD\n", "",
	 "/s/slurm.conf:1: NodeName has 1 of the 2 nodes of pool \"c\"", SLURM_ERROR},
	{"", "NodeName=c[1-2] AutoDetect=nvml\n",
	 "/s/gres.conf:1: AutoDetect=nvml for nodes of pool \"c\": slurmctld does not "
	 "start",
	 SLURM_ERROR},
	{"SuspendTime=60\nNodeName=own1\n", "", "/s/slurm.conf:1: SuspendTime=60 is for all nodes",
	 SLURM_ERROR},
	{"SuspendExcNodes=x,c2\n", "", "/s/slurm.conf:1: SuspendExcNodes has nodes of pool \"c\"",
	 SLURM_WARNING},
	{"SuspendExcNodes=c[1-2]:2\n", "",
	 "/s/slurm.conf:1: SuspendExcNodes has nodes of pool \"c\"", SLURM_WARNING},
	{"SuspendExcParts=x,c\n", "", "/s/slurm.conf:1: SuspendExcParts has c: nodes",
	 SLURM_WARNING},
	{"SuspendExcStates=DOWN,CLOUD\n", "", "/s/slurm.conf:1: SuspendExcStates has CLOUD",
	 SLURM_WARNING},
	{"SlurmctldParameters=power_save_interval=1,idle_on_node_suspend,cloud_dns\n", "",
	 "/s/slurm.conf:1: SlurmctldParameters has cloud_dns", SLURM_WARNING},
	{"MinJobAge=9\n", "", "/s/slurm.conf:1: MinJobAge=9; write MinJobAge=300: slurmctld",
	 SLURM_WARNING},
	{"SlurmctldParameters=power_save_interval=1,idle_on_node_suspend,"
	 "power_save_min_interval=6\n",
	 "", "/s/slurm.conf:1: SlurmctldParameters has power_save_min_interval=6: slurmctld",
	 SLURM_WARNING},
	{"SlurmctldParameters=power_save_interval=1,idle_on_node_suspend,"
	 "max_powered_nodes=9\n",
	 "", "/s/slurm.conf:1: SlurmctldParameters has max_powered_nodes: jobs that", SLURM_ADVICE},
	{"SlurmdParameters=config_overrides\n", "",
	 "/s/slurm.conf:1: SlurmdParameters has config_overrides: a machine", SLURM_ADVICE},
	{"PrologEpilogTimeout=660\n", "",
	 "/s/slurm.conf:1: PrologEpilogTimeout=660; write PrologEpilogTimeout=721: "
	 "burst-prolog is killed",
	 SLURM_ERROR},
	{"PrologSlurmctld=/p/burst-prolog\nPrologEpilogTimeout=660\n", "",
	 "/s/slurm.conf:2: PrologEpilogTimeout=660; write ", SLURM_ERROR},
	/* Another program's time is nobody's business. */
	{"PrologSlurmctld=/p/xburst-prolog\nPrologEpilogTimeout=660\n", "",
	 "/s/slurm.conf:1: PrologSlurmctld=/p/xburst-prolog; write ", SLURM_WARNING},
	{"PrologTimeout=9\n", "",
	 "/s/slurm.conf:1: PrologTimeout=9; write PrologTimeout=721: ", SLURM_ERROR},
	{"SlurmdTimeout=0\n", "",
	 "/s/slurm.conf:1: SlurmdTimeout=0; write SlurmdTimeout=300: ", SLURM_WARNING},
	{"CommunicationParameters=NoAddrCache\n", "",
	 "/s/slurm.conf:1: CommunicationParameters has NoAddrCache", SLURM_ADVICE},
};

static void test_what_a_site_has_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(site_wrongs) / sizeof(site_wrongs[0]); i++) {
		struct world w;

		world_init(&w);
		w.slurm = site_wrongs[i].slurm;
		w.gres = site_wrongs[i].gres;
		add_pool(&w, "c", "c[1-2]", "CPUs=4 RealMemory=9", "gpu:2");
		world_run(&w);
		print_message("# %s%s", site_wrongs[i].slurm, site_wrongs[i].gres);
		assert_true(world_says(&w, site_wrongs[i].severity, site_wrongs[i].want));
		assert_int_equal(w.findings.n, 1);
		world_fini(&w);
	}
}

/* What looks like one of those, and is right. */
static void test_what_a_site_may_have(void **state)
{
	static const char *const rows[] = {
		"SuspendTime=INFINITE\nNodeName=own1\n",
		"MinJobAge=10\nSlurmdTimeout=1\nPrologEpilogTimeout=661\nPrologTimeout=INFINITE\n",
		"MinJobAge=0\nAuthType=auth/slurm\n",
		"SlurmctldParameters=power_save_interval=1,idle_on_node_suspend,"
		"power_save_min_interval=5\n",
		"SuspendTime=60\nNodeName=own1\nSuspendExcNodes=own1\n",
		"SuspendTime=60\nNodeName=own1\nSuspendExcParts=own\n",
		"SuspendTime=60\n",
		"SuspendExcNodes=c[1-2]:1\n", /* warm = 1 */
		"NodeName=DEFAULT CPUs=2 State=UNKNOWN\n",
		"nodename=DEFAULT cpus=2 REALMEMORY=4 Feature=x Features=y\n",
		"NodeName=DEFAULT State=CLOUD\nNodeName=c[1-2]\n",
		"PartitionName=DEFAULT Nodes=x\n",
		"PartitionName=DEFAULT SuspendTime=9 ResumeTimeout=700\nPartitionName=p "
		"Nodes=c[1-2]\n",
		"ResumeTimeout=661\nPartitionName=p Nodes=c[1-2] SuspendTime=9\n",
		"PartitionName=p Nodes=c[1-2] SuspendTime=9 ResumeTimeout=INFINITE\n",
		"NodeSet=all Nodes=c1\nPartitionName=p Nodes=all,y\n",
		"PartitionName=q Nodes=z SuspendTime=INFINITE\n",
		"DownNodes=c1 State=DOWN\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		world_init(&w);
		w.slurm = rows[i];
		add_pool(&w, "c", "c[1-2]", "CPUs=4 RealMemory=9", "")->warm = 1;
		world_run(&w);
		print_message("# %s", rows[i]);
		assert_int_equal(w.findings.n, 0);
		world_fini(&w);
	}
}

/* The ways to name all nodes of a pool in a partition; the sets may come later. */
static void test_partitions_of_the_site(void **state)
{
	static const char *const rows[] = {
		"PartitionName=p Nodes=c2,c1 SuspendTime=9 ResumeTimeout=661\n",
		"PartitionName=p Nodes=burst-c SuspendTime=9 ResumeTimeout=661\n",
		"PartitionName=p Nodes=s SuspendTime=9 ResumeTimeout=661\nNodeSet=s Nodes=c[1-2]\n",
		"PartitionName=p Nodes=s,c2 SuspendTime=9 ResumeTimeout=661\nNodeSet=s Nodes=c1\n",
		"PartitionName=p Nodes=s SuspendTime=9 ResumeTimeout=661\nNodeSet=s Feature=c\n",
		"NodeSet=s Feature=cloud\nPartitionName=p Nodes=s,own1 SuspendTime=9 "
		"ResumeTimeout=661\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		world_init(&w);
		w.slurm = rows[i];
		add_pool(&w, "c", "c[1-2]", "CPUs=4 RealMemory=9", "");
		add_pool(&w, "d", "d1", "CPUs=4 RealMemory=9", "");
		world_run(&w);
		print_message("# %s", rows[i]);
		assert_int_equal(w.findings.n, 0);
		assert_null(strstr(w.body, "PartitionName=c "));
		if (strstr(rows[i], "Feature=cloud") == NULL)
			assert_non_null(strstr(w.body, "PartitionName=d "));
		world_fini(&w);
	}
}

static void test_gres_lines(void **state)
{
	static const struct {
		const char *gres, *site, *want;
		bool told;
	} rows[] = {
		{"", "", "", false},
		{"", "AutoDetect=off\n", "", false},
		{"", "AutoDetect=nvml\n", "NodeName=c1 AutoDetect=off\n", false},
		{"gpu:1", "", "NodeName=c1 AutoDetect=off Name=gpu File=/dev/nvidia0\n", false},
		{"gpu:1", "AutoDetect=nvml\n",
		 "NodeName=c1 AutoDetect=off Name=gpu File=/dev/nvidia0\n", false},
		{"gpu:1", "NodeName=c1 Name=gpu MultipleFiles=/dev/x,/dev/y\n", "", false},
		{"gpu:h100:8,shard:64", "",
		 "NodeName=c1 AutoDetect=off Name=gpu Type=h100 File=/dev/nvidia[0-7]\n"
		 "NodeName=c1 Name=shard Count=64\n",
		 false},
		{"gpu:a100_3g.20gb:16", "", "NodeName=c1 AutoDetect=off\n", true},
		{"gpu:a100_3g.20gb:16", "NodeName=c1 Name=gpu MultipleFiles=/dev/x,/dev/y\n", "",
		 false},
		{"gpu:a100_3g.20gb:8,gpu:a100_1g.5gb:8,fpga:x:2", "",
		 "NodeName=c1 AutoDetect=off\nNodeName=c1 Name=fpga Type=x Count=2\n", true},
		{"gpu:a:4,gpu:b:4", "", "NodeName=c1 AutoDetect=off\n", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		world_init(&w);
		w.gres = rows[i].site;
		add_pool(&w, "c", "c1", "CPUs=4 RealMemory=9", rows[i].gres);
		world_run(&w);
		print_message("# %s\n", rows[i].gres);
		assert_string_equal(w.gres_body, rows[i].want);
		assert_int_equal(w.findings.n, rows[i].told);
		if (rows[i].told)
			assert_true(world_says(&w, SLURM_WARNING,
					       "burstd.conf:10: pool \"c\": burstd does not know"));
		world_fini(&w);
	}
}

static void test_hardware_and_features(void **state)
{
	struct world w;
	struct conf_pool *p;

	(void)state;
	world_init(&w);
	p = add_pool(&w, "cloud", "c1", "CPUs=8 Boards=2 Sockets=1 TmpDisk=7 RealMemory=9", "");
	p->noffers = 2;
	p->offers = mem_zalloc(2 * sizeof(*p->offers));
	for (size_t i = 0; i < 2; i++)
		p->offers[i] =
			(struct conf_offer){.name = mem_strdup(i == 0 ? "a" : "b"),
					    .provider = mem_strdup("sim"),
					    .type = mem_strdup("t"),
					    .region = mem_strdup("r"),
					    .zone = mem_strdup(""),
					    .market = i == 0 ? PROVIDER_SPOT : PROVIDER_ON_DEMAND};
	free(p->provider);
	p->provider = mem_strdup("");
	free(p->type);
	p->type = mem_strdup("");
	free(p->region);
	p->region = mem_strdup("");
	world_run(&w);
	assert_non_null(strstr(w.body, "NodeName=c1 CPUs=8 Boards=2 SocketsPerBoard=1 RealMemory=9 "
				       "TmpDisk=7 Feature=cloud,spot,ondemand State=CLOUD\n"));
	world_fini(&w);
}

/* Names that do not fold go into several lines, none longer than Slurm reads. */
static void test_lists_that_do_not_fold(void **state)
{
	struct str nodes;
	struct world w;
	size_t lines = 0;

	(void)state;
	world_init(&w);
	str_init(&nodes, 1 << 20);
	for (int i = 0; i < 300; i++)
		str_addf(&nodes, "%sn%dx%c", i > 0 ? "," : "", i * 7, 'a' + i % 26);
	add_pool(&w, "c", nodes.p, "CPUs=4 RealMemory=9", "");
	world_run(&w);
	for (char *p = strstr(w.body, "NodeName="); p != NULL; p = strstr(p + 1, "\nNodeName=")) {
		lines++;
		assert_true(strcspn(p + 1, "\n") < SLURMCONF_LINE_MAX + 200);
	}
	assert_int_equal(lines, 2);
	assert_non_null(strstr(w.body, "\nNodeSet=burst-c Nodes=n0xa,"));
	assert_non_null(strstr(w.body, "\nNodeSet=burst-c_2 Nodes="));
	assert_non_null(strstr(w.body, "Nodes=burst-c,burst-c_2 State=UP"));
	str_fini(&nodes);
	world_fini(&w);
}

/* A site with a line for each of its 20,000 nodes, beside a pool of 10,000. */
static void test_large_sites_take_no_time(void **state)
{
	struct str text;
	struct world w;
	int64_t t0;

	(void)state;
	world_init(&w);
	str_init(&text, 4 << 20);
	for (int i = 0; i < 20000; i++)
		str_addf(&text, "NodeName=own%d CPUs=64 RealMemory=250000\n", i);
	str_adds(&text, "PartitionName=own Nodes=own[0-19999]\n");
	w.slurm = text.p;
	add_pool(&w, "c", "c[1-10000]", "CPUs=4 RealMemory=9", "gpu:2");
	t0 = clock_boot_ms();
	world_run(&w);
	assert_true(clock_boot_ms() - t0 < 3000);
	assert_int_equal(w.findings.n, 0);
	str_fini(&text);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_site),
		cmocka_unit_test(test_a_dynamic_pool),
		cmocka_unit_test(test_a_dynamic_pool_beside_the_sites_lines),
		cmocka_unit_test(test_releases),
		cmocka_unit_test(test_machines_that_fetch_their_configuration),
		cmocka_unit_test(test_settings_of_the_site),
		cmocka_unit_test(test_the_last_setting_counts),
		cmocka_unit_test(test_a_pool_without_hardware),
		cmocka_unit_test(test_the_site_has_the_nodes),
		cmocka_unit_test(test_what_a_site_has_wrong),
		cmocka_unit_test(test_what_a_site_may_have),
		cmocka_unit_test(test_partitions_of_the_site),
		cmocka_unit_test(test_gres_lines),
		cmocka_unit_test(test_hardware_and_features),
		cmocka_unit_test(test_lists_that_do_not_fold),
		cmocka_unit_test(test_large_sites_take_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
