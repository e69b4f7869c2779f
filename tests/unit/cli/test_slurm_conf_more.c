/* burstctl slurm-conf: what it says besides the files: QOS, cgroups, and the slurmctld that runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "slurm_conf_lab.h"

/* Commands are printed, and what they are for; as JSON without that. */
static void test_sacctmgr(void **state)
{
	static const char none[] = "# nothing: no pool has set prices for spot and on-demand";
	static const char set[] = "sacctmgr -i modify qos burst-b set GrpTRESMins=billing=60000 "
				  "Flags=NoDecay";
	struct lab *l = start(SLURM);

	(void)state;
	lab_run(l, RUN "--sacctmgr", NULL, 0);
	assert_non_null(strstr(l->out, none));
	lab_write(l, "burstd.conf",
		  BURSTD "slurm { billing_unit = \"0.01\" }\nbudget \"b\" { amount = \"10\" }\n");
	lab_run(l, RUN "--sacctmgr", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\n# As much as budget b, at list prices"));
	assert_non_null(strstr(l->out, set));
	assert_non_null(strstr(l->out, "slurm.conf:0: warning: AccountingStorageType is not set"));
	lab_run(l, RUN, NULL, 0);
	assert_null(strstr(l->out, "sacctmgr"));
	lab_run(l, RUN "--json", NULL, 0);
	assert_non_null(strstr(l->out, set));
	assert_null(strstr(l->out, "# As much"));
	stop(l);
}

static void test_cgroup_conf(void **state)
{
	struct lab *l = start(SLURM);
	char *text;

	(void)state;
	lab_write(l, "cgroup.conf", "# ours\nConstrainCores=yes");
	lab_run(l, RUN "--check --offline", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->out, "/cgroup.conf:0: lacks: ConstrainRAMSpace=yes\n"));
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	text = file(l, "cgroup.conf");
	assert_memory_equal(text, "# ours\nConstrainCores=yes\n# BEGIN burstd: ", 42);
	assert_non_null(strstr(text, "\nConstrainRAMSpace=yes\n# END burstd\n"));
	free(text);
	lab_run(l, RUN "--check --offline", NULL, 0);
	lab_want(l, 0, "", "");
	/* Without task/cgroup burstd's lines go; where there is no such file none is made. */
	lab_write(l, "slurm.conf", "ClusterName=falcon\nReturnToService=2\n");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "slurm.conf:0: advice: TaskPlugin has no task/cgroup; "));
	text = file(l, "cgroup.conf");
	assert_null(strstr(text, "ConstrainRAM"));
	free(text);
	lab_remove(l, "cgroup.conf");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_null(file(l, "cgroup.conf"));
	stop(l);
}

/* A scontrol that prints what is in live-config and the others; without one it fails. */
static void give_scontrol(const struct lab *l, const char *config, const char *nodes)
{
	char text[1024], path[128];

	(void)snprintf(text, sizeof(text), BURSTD "slurm { bin_dir = \"%s\" }\n", l->dir);
	lab_write(l, "burstd.conf", text);
	(void)snprintf(text, sizeof(text),
		       "#!/bin/sh\n[ \"$SLURM_CONF\" = %s/slurm.conf ] || exit 7\n"
		       "if [ -s %s/live-config ]; then exec cat %s/live-$3; fi\n"
		       "echo 'slurm_load: \033[31mno answer' >&2; exit 1\n",
		       l->dir, l->dir, l->dir);
	lab_write(l, "scontrol", text);
	path_of(l, "scontrol", path, sizeof(path));
	assert_int_equal(chmod(path, 0755), 0);
	lab_write(l, "live-config", config);
	lab_write(l, "live-nodes", nodes);
	lab_write(l, "live-partitions",
		  "PartitionName=c Nodes=c[1-4] SuspendTime=300 "
		  "SuspendTimeout=30 ResumeTimeout=660\n");
}

static void drop_scontrol(const struct lab *l)
{
	static const char *const names[] = {"scontrol", "live-config", "live-nodes",
					    "live-partitions"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		lab_remove(l, names[i]);
}

#define LIVE                                                                                       \
	"Configuration data as of 2026-11-30T12:00:00\nReturnToService = 2\n"                      \
	"SLURM_VERSION = 24.11.5\n"
#define LIVE_NODE(n)                                                                               \
	"NodeName=" n " CPUTot=4 AvailableFeatures=cloud,c RealMemory=1000 State=IDLE+CLOUD\n"

/* The slurmctld that runs is asked at --check; that it does not answer is no difference. */
static void test_the_slurmctld_that_runs(void **state)
{
	static const char silent[] =
		"burstctl: the slurmctld that runs was not compared: scontrol: "
		"slurm_load: ?[31mno answer\n";
	struct lab *l = start(SLURM);

	(void)state;
	give_scontrol(l, "", "");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	lab_run(l, RUN "--check", NULL, 0);
	lab_want(l, 3, "", silent);
	lab_run(l, RUN "--check --offline", NULL, 0);
	lab_want(l, 0, "", "");
	lab_run(l, RUN "--check --json", NULL, 0);
	assert_int_equal(l->rc, 3);
	assert_non_null(strstr(l->out, "\"answered\": false"));
	assert_non_null(strstr(l->out, "\"error\": \"scontrol: slurm_load: ?[31mno answer\""));
	/* A difference of the files counts more. */
	lab_write(l, "cgroup.conf", "");
	lab_run(l, RUN "--check", NULL, 0);
	assert_int_equal(l->rc, 1);
	lab_write(l, "cgroup.conf", CGROUP);

	give_scontrol(l, LIVE, LIVE_NODE("c1") LIVE_NODE("c2") LIVE_NODE("c3") LIVE_NODE("c4"));
	lab_run(l, RUN "--check", NULL, 0);
	lab_want(l, 0, "", "");
	give_scontrol(l, LIVE "JobRequeue = 0\n", LIVE_NODE("c1") LIVE_NODE("c3"));
	lab_run(l, RUN "--check", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->out, ": not in force: JobRequeue=1; slurmctld runs with 0: "
				       "scontrol reconfigure\n"));
	assert_non_null(strstr(l->out, ": not in force: pool \"c\": slurmctld shows no node c2, "
				       "and 1 others: restart slurmctld\n"));
	lab_run(l, RUN "--check --json", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->out, "\"answered\": true"));
	assert_non_null(strstr(l->out, "\"text\": \"JobRequeue=1; slurmctld runs with 0: "));
	/* Only --check asks. */
	lab_run(l, RUN "--json", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\"live\": null"));
	give_scontrol(l, "something else\n", "");
	lab_run(l, RUN "--check", NULL, 0);
	lab_want(l, 3, "", "was not compared: scontrol: not a configuration\n");
	drop_scontrol(l);
	lab_run(l, RUN "--check", NULL, 0);
	lab_want(l, 3, "", "was not compared");
	stop(l);
}

#define KEPT(place) "NodeName=x1 State=IDLE+CLOUD+DYNAMIC_NORM Extra=a Topology=default:" place "\n"

/* From 25.05 on slurmctld keeps the place of a dynamic node, and ends at a reconfigure when
 * topology.conf does not have it any more.  The one that is tried has no such node, so the one that
 * runs is asked before that file is changed. */
static void test_a_place_that_slurmctld_keeps(void **state)
{
	static const char site[] = SLURM "TopologyPlugin=topology/tree\n";
	struct lab *l = start(site);
	char path[128];

	(void)state;
	lab_write(l, "slurmctld", "#!/bin/sh\necho slurm 25.05.4\n");
	path_of(l, "slurmctld", path, sizeof(path));
	assert_int_equal(chmod(path, 0755), 0);
	give_scontrol(l, LIVE, KEPT("gone"));
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->out, "/topology.conf:0: error: slurmctld keeps node x1, and 0 "
				       "others, in Topology=default:gone, which this file will not "
				       "have: "));
	has(l, "slurm.conf", site);
	assert_null(file(l, "topology.conf"));
	lab_run(l, RUN "--check", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->out, "error: slurmctld keeps node x1"));
	/* Nobody asks. */
	lab_run(l, RUN "--check --offline", NULL, 0);
	assert_null(strstr(l->out, "slurmctld keeps node"));
	lab_run(l, RUN "--diff", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_null(strstr(l->out, "slurmctld keeps node"));
	/* burstd's own leaf is a place; and a slurmctld that is away keeps nobody from writing. */
	give_scontrol(l, LIVE, KEPT("burst-c"));
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	lab_remove(l, "topology.conf");
	give_scontrol(l, "", "");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->err, "the slurmctld that runs was not compared: scontrol: "));
	/* What is right already is not asked about. */
	lab_run(l, RUN "--write --unproved", NULL, 0);
	lab_want(l, 0, "nothing to write\n", "");
	/* --offline asks nobody here either. */
	give_scontrol(l, LIVE, KEPT("gone"));
	lab_remove(l, "topology.conf");
	lab_run(l, RUN "--write --unproved --offline", NULL, 0);
	assert_int_equal(l->rc, 0);
	drop_scontrol(l);
	stop(l);
}

/* A burstd in PATH that says of the type what is in `says`, or nothing that is JSON. */
static void give_burstd(const struct lab *l, const char *says)
{
	char text[1024], path[128];

	(void)snprintf(
		text, sizeof(text),
		"#!/bin/sh\n[ \"$*\" = \"--check --json --provider sim -- %s/burstd.conf\" ] || "
		"exit 7\ncat <<'E'\n%s\nE\nexit 1\n",
		l->dir, says);
	lab_write(l, "burstd", text);
	path_of(l, "burstd", path, sizeof(path));
	assert_int_equal(chmod(path, 0755), 0);
}

#define REPORT(offer) "{\"good\": false, \"checks\": [{\"check\": \"login\"}, " offer "]}"

/* ADR 66: a cron job may write each minute.  What is right already is not written again, and
 * whether it is or not, when slurmctld reads it the admin decides. */
static void test_it_never_has_slurmctld_read_what_it_wrote(void **state)
{
	struct lab *l = start(SLURM "TopologyPlugin=topology/tree\n");
	struct stat was, is;
	char path[128], *said;

	(void)state;
	give_scontrol(l, "", "");
	lab_write(l, "scontrol", "#!/bin/sh\necho \"$*\" >>\"${0%/*}/asked\"; exit 1\n");
	path_of(l, "topology.conf", path, sizeof(path));
	for (int i = 0; i < 3; i++) {
		lab_run(l, RUN "--write --unproved", NULL, 0);
		assert_int_equal(l->rc, 0);
		assert_int_equal(stat(path, &is), 0);
		if (i > 0) {
			lab_want(l, 0, "nothing to write\n", "");
			assert_int_equal(is.st_ino, was.st_ino);
			assert_memory_equal(&is.st_mtim, &was.st_mtim, sizeof(is.st_mtim));
		}
		was = is;
	}
	lab_write(l, "topology.conf", "SwitchName=s Nodes=own1\n");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_null(file(l, "asked")); /* scontrol, anything at all */
	lab_run(l, RUN "--check", NULL, 0);
	said = file(l, "asked");
	assert_non_null(strstr(said, "show config"));
	assert_null(strstr(said, "reconf"));
	free(said);
	lab_remove(l, "asked");
	drop_scontrol(l);
	stop(l);
}

static void test_providers_are_asked(void **state)
{
	static const char none[] = "provider \"sim\" cannot be asked what its types have";
	const char *was = getenv("PATH");
	char *kept = strdup(was != NULL ? was : ""), path[256];
	struct lab *l = start(SLURM);

	(void)state;
	(void)snprintf(path, sizeof(path), "%s:/usr/bin:/bin", l->dir);
	assert_int_equal(setenv("PATH", path, 1), 0);
	give_burstd(l, REPORT("{\"pool\": \"c\", \"offer\": \"\", \"cpus\": 2, \"gpus\": 0, "
			      "\"memory_mb\": 65536}, {\"pool\": \"d\", \"offer\": \"\", "
			      "\"cpus\": 1}, {\"pool\": 7}"));
	lab_run(l, RUN "--ask-providers", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "/burstd.conf:7: warning: pool \"c\": CPUs=4 of node, and "
				       "type t has 2: its machines are drained\n"));
	lab_run(l, RUN, NULL, 0);
	assert_null(strstr(l->out, "CPUs=4 of node"));
	give_burstd(l, REPORT("{\"pool\": \"c\", \"offer\": \"\", \"cpus\": -1, "
			      "\"gpus\": \"x\", \"memory_mb\": 1e99}"));
	lab_run(l, RUN "--ask-providers", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_null(strstr(l->out, "warning"));
	give_burstd(l, "[not JSON");
	lab_run(l, RUN "--ask-providers", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->err, none));
	lab_remove(l, "burstd");
	assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
	lab_run(l, RUN "--ask-providers --slurm-conf DIR/slurm.conf", NULL, 0);
	assert_non_null(strstr(l->err, none));
	assert_int_equal(setenv("PATH", kept, 1), 0);
	free(kept);
	stop(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sacctmgr),
		cmocka_unit_test(test_cgroup_conf),
		cmocka_unit_test(test_the_slurmctld_that_runs),
		cmocka_unit_test(test_it_never_has_slurmctld_read_what_it_wrote),
		cmocka_unit_test(test_a_place_that_slurmctld_keeps),
		cmocka_unit_test(test_providers_are_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
