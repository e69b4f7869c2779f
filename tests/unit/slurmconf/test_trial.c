/* A site's files as they are tried: nothing of the site's is reached, and every line has its
 * number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "slurmconf/trial.h"

static const char *const disk[][2] = {
	{"/s/slurm.conf", "ClusterName=x SlurmctldHost=ctl1 ReturnToService=2\n"
			  "statesavelocation=/var/spool \\\n"
			  " AuthType = \"auth/munge\" TreeWidth=9\n"
			  "Include nodes.conf # all\n"
			  "SlurmUser=slurm"},
	{"/s/nodes.conf", "NodeName=a[1-2] State=UNKNOWN CPUs=4\nNodeName=c1 State=CLOUD\n"
			  "PartitionName=p Nodes=a1 State=UP "
			  "TRESBillingWeights=\"gres/x=1\"\nDownNodes=a2 State=DOWN\n"},
	{"/s/gres.conf", "NodeName=a1 State=x AuthType=y\nInclude /s/more\n"},
	{"/s/more", ""},
	{"/s/topology.conf", "SwitchName=a Nodes=a1\n"},
	{"/s/named.conf", "ClusterName=MO\nInclude %cre\n"},
	{"/s/more.conf", "Include \\\n  nodes.conf\nA=1\nInclude more"},
};

static int read_disk(void *ctx, const char *path, char **text, size_t *len, struct err *e)
{
	(void)ctx;
	for (size_t i = 0; i < sizeof(disk) / sizeof(disk[0]); i++) {
		if (strcmp(disk[i][0], path) != 0)
			continue;
		*text = mem_strdup(disk[i][1]);
		*len = strlen(*text);
		return 0;
	}
	return err_set(e, ERR_IO, "%s: none", path);
}

static void want(const char *root, const char *tree, size_t i, bool auth, const char *text)
{
	struct slurmconf_sources s;
	struct slurmconf_trial t = {.sources = &s, .tree = tree, .dir = "/t", .auth = auth};
	struct str out;

	assert_int_equal(slurmconf_sources_load(&s, root, read_disk, NULL, NULL), 0);
	str_init(&out, 4096);
	assert_int_equal(slurmconf_trial_text(&t, &s.v[i].file, &out, NULL), 0);
	assert_string_equal(out.p, text);
	str_fini(&out);
	slurmconf_sources_fini(&s);
}

static void test_what_is_the_sites_is_blanked(void **state)
{
	(void)state;
	want("/s/slurm.conf", "slurm", 0, false,
	     "ClusterName=x                    ReturnToService=2\n"
	     "                             \\\n"
	     "                         TreeWidth=9\n"
	     "Include /t/etc/slurm-1\n"
	     "               ");
	want("/s/slurm.conf", "slurm", 0, true,
	     "ClusterName=x                    ReturnToService=2\n"
	     "                             \\\n"
	     " AuthType = \"auth/munge\" TreeWidth=9\n"
	     "Include /t/etc/slurm-1\n"
	     "               ");
}

static void test_nodes_have_no_address(void **state)
{
	(void)state;
	want("/s/slurm.conf", "slurm", 1, false,
	     "NodeName=a[1-2]               CPUs=4\nNodeName=c1 State=CLOUD\n"
	     "PartitionName=p Nodes=a1 State=UP                              \nDownNodes=a2 "
	     "State=DOWN\n");
	want("/s/gres.conf", "gres", 0, false,
	     "NodeName=a1 State=x AuthType=y\nInclude /t/etc/gres-1\n");
}

static void test_includes_keep_their_lines(void **state)
{
	(void)state;
	want("/s/more.conf", "slurm", 0, false,
	     "Include /t/etc/slurm-1\n\nA=1\nInclude /t/etc/slurm-2");
	want("/s/named.conf", "slurm", 0, false, "ClusterName=MO\nInclude /t/etc/slurm-1\n");
}

static void test_the_file_around_it(void **state)
{
	struct slurmconf_trial t = {.tree = "slurm", .dir = "/t"};
	struct str out;

	(void)state;
	str_init(&out, 4096);
	slurmconf_trial_root(&t, "ctl", &out);
	assert_string_equal(out.p, "SlurmctldHost=ctl(127.0.0.1)\nStateSaveLocation=/t/state\n"
				   "SlurmctldPidFile=/t/slurmctld.pid\nSlurmctldDebug=info\n"
				   "SlurmctldSyslogDebug=quiet\nSlurmUser=root\n"
				   "AuthType=auth/none\nResumeProgram=/bin/true\n"
				   "SuspendProgram=/bin/true\nResumeFailProgram=/bin/true\n"
				   "NodeName=DEFAULT State=FUTURE\nInclude /t/etc/slurm-0\n");
	str_clear(&out);
	t.auth = true;
	slurmconf_trial_root(&t, "ctl", &out);
	assert_null(strstr(out.p, "AuthType"));
	str_fini(&out);
}

static void test_why_it_ended(void **state)
{
	static const char said[] =
		"slurmctld: error: Configured MailProg is invalid\n"
		"slurmctld: slurmctld version 22.05.8 started on cluster x\n"
		"slurmctld: error: Parse error in file /t/etc/slurm-1 line 3: \" x\"\n"
		"slurmctld: error: \"Include\" failed in file /t/etc/slurm-0 line 4\n"
		"slurmctld: error: \"Include\" failed in file /t/etc/slurm.conf line 12\n"
		"error: gres /t/etc/gres-0 /t/etc/gres-7 /t/etc/topology-0 /t/etc/topology.conf\n"
		"[2026-11-30T12:07:52.953] error: cannot create url_parser context for x\n"
		"slurmctld: fatal: Unable to process configuration file\n"
		"[2026-11-30T12:07:52.960] fatal: [x] /t/etc/slurm-0\n";
	struct slurmconf_sources slurm, gres, topology;
	const struct slurmconf_trees trees = {
		.slurm = &slurm, .gres = &gres, .topology = &topology};
	struct str out;

	(void)state;
	assert_int_equal(slurmconf_sources_load(&slurm, "/s/slurm.conf", read_disk, NULL, NULL), 0);
	assert_int_equal(slurmconf_sources_load(&gres, "/s/gres.conf", read_disk, NULL, NULL), 0);
	assert_int_equal(
		slurmconf_sources_load(&topology, "/s/topology.conf", read_disk, NULL, NULL), 0);
	str_init(&out, 4096);
	slurmconf_trial_why(&trees, "/t", said, 10, &out);
	assert_string_equal(out.p, "error: Parse error in file /s/nodes.conf line 3: \" x\"\n"
				   "error: \"Include\" failed in file /s/slurm.conf line 4\n"
				   "error: gres /s/gres.conf /t/etc/gres-7 /s/topology.conf "
				   "/t/etc/topology.conf\n"
				   "fatal: Unable to process configuration file\n"
				   "fatal: [x] /s/slurm.conf\n");
	str_clear(&out);
	slurmconf_trial_why(&trees, "/t", said, 1, &out);
	assert_string_equal(out.p, "error: Parse error in file /s/nodes.conf line 3: \" x\"\n");
	str_fini(&out);
	slurmconf_sources_fini(&slurm);
	slurmconf_sources_fini(&gres);
	slurmconf_sources_fini(&topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_the_sites_is_blanked),
		cmocka_unit_test(test_nodes_have_no_address),
		cmocka_unit_test(test_includes_keep_their_lines),
		cmocka_unit_test(test_the_file_around_it),
		cmocka_unit_test(test_why_it_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
