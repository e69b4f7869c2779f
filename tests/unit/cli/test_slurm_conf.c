/* burstctl slurm-conf, with a slurmctld of the test's: what it shows, what it writes, and what it
 * leaves as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab.h"

#define BURSTD                                                                                     \
	"cluster = \"falcon\"\ncurrency = \"EUR\"\n"                                               \
	"provider \"sim\" { driver = \"sim\" url = \"http://127.0.0.1:8900\" }\n"                  \
	"pool \"c\" {\nnodes = \"c[1-4]\" provider = \"sim\" type = \"t\" region = \"r\"\n"        \
	"max_nodes = 4 max_rate = \"9\" node = \"CPUs=4 RealMemory=1000\"\n}\n"
#define SLURM                                                                                      \
	"ClusterName=falcon\nReturnToService=2\nPartitionName=own Nodes=own1\n"                    \
	"SlurmctldParameters=idle_on_node_suspend,power_save_interval=1\n"

/* It says its version, and lives on only if slurm.conf has no bad line and it is apart: the first
 * process of its namespace, and in another network than the test, in which it has an address other
 * than 127.0.0.1: from 25.05 on it opens no port without.  Meanwhile somebody may add a line to
 * slurm.conf. */
#define SLURMCTLD                                                                                  \
	"#!/bin/sh\n[ \"$1\" != -V ] || { echo slurm-wlm 24.11.5; exit; }\n"                       \
	"if [ $$ != 1 ] || [ \"$(readlink /proc/self/ns/net)\" = '%s' ]; then\n"                   \
	"echo slurmctld: fatal: not apart; exit 1; fi\n"                                           \
	"if ! grep -q -- '-- 192.0.2.1$' /proc/net/fib_trie; then\n"                               \
	"echo slurmctld: fatal: no address; exit 1; fi\n"                                          \
	"if grep -qs '^Bad=' ${3%%/*}/*-*; then\n"                                                 \
	"echo \"slurmctld: error: Parse error in file ${3%%/*}/slurm-0 line 1\"\n"                 \
	"echo slurmctld: fatal: Unable to process configuration file; exit 1; fi\n"                \
	"if grep -qs '^MaxJobCount=7' ${3%%/*}/*-*; then echo A=1 >>%s/slurm.conf; fi\n"           \
	"echo slurmctld: Running as primary controller; exec sleep 60\n"
#define RUN "slurm-conf --slurmctld DIR/slurmctld --slurm-conf DIR/slurm.conf DIR/burstd.conf "

static const char hook_lines[] = "+ResumeProgram=/usr/libexec/burstd/burst-resume\n"
				 "+SuspendProgram=/usr/libexec/burstd/burst-suspend\n"
				 "+ResumeFailProgram=/usr/libexec/burstd/burst-resume-fail\n"
				 "+PrologSlurmctld=/usr/libexec/burstd/burst-prolog\n"
				 "+ResumeRate=0\n"
				 "+SuspendRate=0\n"
				 "+JobRequeue=1\n"
				 "+NodeName=c[1-4] CPUs=4 RealMemory=1000 Feature=cloud,c "
				 "State=CLOUD\n"
				 "+NodeSet=burst-c Nodes=c[1-4]\n"
				 "+PartitionName=c Nodes=burst-c State=UP SuspendTime=300 "
				 "SuspendTimeout=30 ResumeTimeout=660\n";

static void path_of(const struct lab *l, const char *name, char *out, size_t size)
{
	(void)snprintf(out, size, "%s/%s", l->dir, name);
}

static char *file(const struct lab *l, const char *name)
{
	char path[128], *text = calloc(1, 1 << 16);
	FILE *f;

	path_of(l, name, path, sizeof(path));
	f = fopen(path, "re");
	if (f == NULL) {
		free(text);
		return NULL;
	}
	(void)!fread(text, 1, (1 << 16) - 1, f);
	(void)fclose(f);
	return text;
}

static void has(const struct lab *l, const char *name, const char *want)
{
	char *text = file(l, name);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static struct lab *start(const char *slurm)
{
	struct lab *l = lab_new();
	char path[128], net[64] = "", program[2048];

	assert_true(readlink("/proc/self/ns/net", net, sizeof(net) - 1) > 0);
	(void)snprintf(program, sizeof(program), SLURMCTLD, net, l->dir);
	lab_write(l, "burstd.conf", BURSTD);
	lab_write(l, "slurm.conf", slurm);
	lab_write(l, "slurmctld", program);
	path_of(l, "slurmctld", path, sizeof(path));
	assert_int_equal(chmod(path, 0755), 0);
	path_of(l, "burstd.conf", path, sizeof(path));
	assert_int_equal(chmod(path, 0644), 0);
	return l;
}

static void stop(struct lab *l)
{
	static const char *const names[] = {"burstd.conf",         "slurm.conf",
					    "slurmctld",           "slurm.conf.last-good",
					    "gres.conf",           "real.conf",
					    "gres.conf.last-good", "real.conf.last-good",
					    "topology.conf",       "topology.conf.last-good",
					    "topology.yaml"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[128];

		path_of(l, names[i], path, sizeof(path));
		(void)unlink(path);
	}
	lab_free(l);
}

static void test_the_difference(void **state)
{
	struct lab *l = start(SLURM);
	char want[2048];

	(void)state;
	lab_run(l, RUN, NULL, 0);
	(void)snprintf(want, sizeof(want), "--- %s/slurm.conf\n+++ %s/slurm.conf\n%s", l->dir,
		       l->dir, hook_lines);
	lab_want(l, 0, want, "");
	lab_run(l, RUN "--diff", NULL, 0);
	lab_want(l, 0, want, "");
	has(l, "slurm.conf", SLURM);
	assert_null(file(l, "gres.conf"));
	stop(l);
}

static void test_check_has_a_line_for_each(void **state)
{
	struct lab *l = start(SLURM);
	char want[256];

	(void)state;
	lab_run(l, RUN "--check", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_null(strstr(l->out, "error"));
	lab_write(l, "slurm.conf", SLURM "ReturnToService=1\n");
	lab_run(l, RUN "--check", NULL, 0);
	assert_int_equal(l->rc, 1);
	(void)snprintf(want, sizeof(want), "%s/slurm.conf:0: lacks: NodeName=c[1-4] CPUs=4 ",
		       l->dir);
	assert_non_null(strstr(l->out, want));
	(void)snprintf(
		want, sizeof(want),
		"%s/slurm.conf:5: error: ReturnToService=1; write ReturnToService=2: ", l->dir);
	assert_non_null(strstr(l->out, want));
	stop(l);
}

/* Written, and then nothing is left to do; links, modes and every line of the site's stay. */
static void test_write(void **state)
{
	static const char site[] = "# ours \xff\r\n" SLURM "  \t# no newline at its end";
	struct lab *l = start(site);
	char from[128], to[128], *text, *again;
	struct stat st;

	(void)state;
	path_of(l, "slurm.conf", from, sizeof(from));
	path_of(l, "real.conf", to, sizeof(to));
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(chmod(to, 0640), 0);
	assert_int_equal(symlink("real.conf", from), 0);
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(
		strstr(l->out, "/slurm.conf is written; as it was: .last-good beside it\n"));
	assert_int_equal(lstat(from, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(to, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	has(l, "real.conf.last-good", site);
	text = file(l, "real.conf");
	assert_memory_equal(text, site, sizeof(site) - 1);
	assert_memory_equal(text + sizeof(site) - 1, "\r\n# BEGIN burstd: ", 18);
	lab_run(l, RUN "--check", NULL, 0);
	lab_want(l, 0, "", "");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	lab_want(l, 0, "nothing to write\n", "");
	again = file(l, "real.conf");
	assert_string_equal(again, text);
	free(text);
	free(again);
	stop(l);
}

#define WITH_GPUS                                                                                  \
	BURSTD "pool \"g\" { nodes = \"g1\" provider = \"sim\" type = t region = r max_nodes = 1 " \
	       "max_rate = \"9\" node = \"CPUs=4 RealMemory=9\" gres = \"gpu:h100:2\" }\n"

static void test_gres_conf_is_made(void **state)
{
	struct lab *l = start(SLURM);
	struct stat st;
	char path[128], *text;

	(void)state;
	lab_write(l, "burstd.conf", WITH_GPUS);
	path_of(l, "slurm.conf", path, sizeof(path));
	assert_int_equal(chmod(path, 0604), 0);
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "/gres.conf is written\n"));
	text = file(l, "gres.conf");
	assert_non_null(strstr(text, "\nNodeName=g1 AutoDetect=off Name=gpu Type=h100 "
				     "File=/dev/nvidia[0-1]\n# END burstd\n"));
	free(text);
	path_of(l, "gres.conf", path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0604); /* as slurm.conf */
	stop(l);
}

static void test_errors_are_mended_first(void **state)
{
	struct lab *l = start(SLURM "JobRequeue=0\n");

	(void)state;
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, "nothing was written: mend the errors first"));
	assert_non_null(strstr(l->out, "slurm.conf:5: error: JobRequeue=0; write JobRequeue=1: "));
	has(l, "slurm.conf", SLURM "JobRequeue=0\n");
	stop(l);
}

static void test_edits_by_hand(void **state)
{
	struct lab *l = start(SLURM "# BEGIN burstd\nMine=1\n# END burstd\n");
	char *text;

	(void)state;
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->out, "slurm.conf:5: error: burstd's lines were edited by hand"));
	has(l, "slurm.conf", SLURM "# BEGIN burstd\nMine=1\n# END burstd\n");
	lab_run(l, RUN "--write --unproved --discard-edits", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\n-Mine=1\n"));
	text = file(l, "slurm.conf");
	assert_null(strstr(text, "Mine"));
	free(text);
	has(l, "slurm.conf.last-good", SLURM "# BEGIN burstd\nMine=1\n# END burstd\n");
	stop(l);
}

/* Only root may make the namespace in which a slurmctld is tried. */
static void test_it_is_tried_first(void **state)
{
	struct lab *l = start(SLURM);
	char want[256];

	(void)state;
	if (geteuid() != 0) {
		lab_run(l, RUN "--write", NULL, 0);
		assert_int_equal(l->rc, 1);
		assert_non_null(strstr(l->err,
				       "nothing was written, it could not be tried: no "
				       "namespace for a slurmctld to try it: run it as root"));
		has(l, "slurm.conf", SLURM);
		stop(l);
		return;
	}
	lab_write(l, "slurm.conf", SLURM "Bad=1\n");
	lab_run(l, RUN "--write", NULL, 0);
	assert_int_equal(l->rc, 1);
	(void)snprintf(
		want, sizeof(want),
		"burstctl: nothing was written: a slurmctld that was tried with it ended, and "
		"said:\nburstctl: error: Parse error in file %s/slurm.conf line 1\n",
		l->dir);
	assert_non_null(strstr(l->err, want));
	has(l, "slurm.conf", SLURM "Bad=1\n");
	lab_write(l, "slurm.conf", SLURM);
	lab_run(l, RUN "--write", NULL, 0);
	assert_int_equal(l->rc, 0);
	has(l, "slurm.conf.last-good", SLURM);
	stop(l);
}

/* What changes while it is tried is not overwritten, and then neither file is another. */
static void test_both_or_none(void **state)
{
	static const char site[] = SLURM "MaxJobCount=7\n";
	struct lab *l;

	(void)state;
	if (geteuid() != 0)
		skip();
	l = start(site);
	lab_write(l, "burstd.conf", WITH_GPUS);
	lab_write(l, "gres.conf", "# ours\n");
	lab_run(l, RUN "--write", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, "/slurm.conf has changed since it was read; try again"));
	has(l, "gres.conf", "# ours\n");
	has(l, "slurm.conf", SLURM "MaxJobCount=7\nA=1\n");
	stop(l);
}

#define TREE   "TopologyPlugin=topology/tree\nNodeName=own1 CPUs=1\n"
#define LEAVES "SwitchName=leaf Nodes=own1\nSwitchName=root Switches=leaf,burst"

static void test_topology_conf(void **state)
{
	static const char switches[] = "\nSwitchName=burst-c Nodes=c[1-4]\n"
				       "SwitchName=burst Switches=burst-c\n# END burstd\n";
	struct lab *l = start(SLURM TREE);
	char *text;

	(void)state;
	lab_write(l, "topology.conf", LEAVES);
	lab_run(l, RUN, NULL, 0);
	assert_non_null(strstr(l->out, "/topology.conf\n+SwitchName=burst-c Nodes=c[1-4]\n"
				       "+SwitchName=burst Switches=burst-c\n"));
	lab_run(l, RUN "--check", NULL, 0);
	assert_non_null(strstr(l->out, "/topology.conf:0: lacks: SwitchName=burst-c Nodes="));
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "/topology.conf is written; as it was: .last-good"));
	has(l, "topology.conf.last-good", LEAVES);
	text = file(l, "topology.conf");
	assert_memory_equal(text, LEAVES "\n# BEGIN", sizeof(LEAVES) + 7);
	assert_non_null(strstr(text, switches));
	free(text);
	lab_run(l, RUN "--check", NULL, 0);
	lab_want(l, 0, "", "");
	/* Without a topology burstd's lines go, and only these. */
	lab_write(l, "slurm.conf", SLURM "NodeName=own1 CPUs=1\n");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	text = file(l, "topology.conf");
	assert_memory_equal(text, LEAVES "\n# BEGIN", sizeof(LEAVES) + 7);
	assert_null(strstr(text, "burst-c"));
	free(text);
	stop(l);
}

/* Without one it is made, with the mode of slurm.conf; without a topology it is not. */
static void test_topology_conf_is_made(void **state)
{
	struct lab *l = start(SLURM "TopologyPlugin=topology/tree\n");
	struct stat st;
	char path[128];

	(void)state;
	path_of(l, "slurm.conf", path, sizeof(path));
	assert_int_equal(chmod(path, 0604), 0);
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	path_of(l, "topology.conf", path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0604);
	lab_run(l, RUN "--json", NULL, 0);
	assert_non_null(strstr(l->out, "/topology.conf\""));
	stop(l);
	l = start(SLURM);
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_null(file(l, "topology.conf"));
	lab_run(l, RUN "--json", NULL, 0);
	assert_null(strstr(l->out, "topology.conf"));
	stop(l);
}

static void test_a_bad_topology_is_mended_first(void **state)
{
	struct lab *l = start(SLURM TREE);

	(void)state;
	lab_write(l, "topology.conf", "# ours\nSwitchName=root Switches=gone\n");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->out, "/topology.conf:2: error: there is no switch gone"));
	has(l, "topology.conf", "# ours\nSwitchName=root Switches=gone\n");
	has(l, "slurm.conf", SLURM TREE);
	stop(l);
}

/* 25.05: slurmctld reads topology.yaml alone. */
static void test_topology_yaml(void **state)
{
	struct lab *l = start(SLURM TREE);
	char program[256];

	(void)state;
	(void)snprintf(program, sizeof(program), "#!/bin/sh\necho slurm 25.05.4\n");
	lab_write(l, "slurmctld", program);
	path_of(l, "slurmctld", program, sizeof(program));
	assert_int_equal(chmod(program, 0755), 0);
	lab_write(l, "topology.conf", LEAVES "\n");
	lab_write(l, "topology.yaml", "- topology: default\n");
	lab_run(l, RUN "--write --unproved", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(
		strstr(l->out, "/topology.conf:1: error: slurmctld ignores this file, because"));
	has(l, "topology.conf", LEAVES "\n");
	has(l, "slurm.conf", SLURM TREE);
	stop(l);
}

/* It is tried with topology.conf, which is as it was when slurm.conf cannot be written. */
static void test_topology_conf_is_tried(void **state)
{
	struct lab *l;

	(void)state;
	if (geteuid() != 0)
		skip();
	l = start(SLURM TREE);
	lab_write(l, "topology.conf", LEAVES "\nBad=1\n");
	lab_run(l, RUN "--write", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, "nothing was written: a slurmctld that was tried"));
	has(l, "topology.conf", LEAVES "\nBad=1\n");
	has(l, "slurm.conf", SLURM TREE);
	lab_write(l, "topology.conf", LEAVES);
	lab_write(l, "slurm.conf", SLURM TREE "MaxJobCount=7\n");
	lab_run(l, RUN "--write", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, "/slurm.conf has changed since it was read; try again"));
	has(l, "topology.conf", LEAVES);
	stop(l);
}

static void test_json(void **state)
{
	struct lab *l = start(SLURM "ReturnToService=1\n");

	(void)state;
	lab_run(l, RUN "--json", NULL, 0);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->out, "\"slurm_version\": \"24.11.5\""));
	assert_non_null(strstr(l->out, "\"block\": \"none\""));
	assert_non_null(strstr(l->out, "\"change\": \"add\""));
	assert_non_null(strstr(l->out, "\"line\": \"NodeSet=burst-c Nodes=c[1-4]\""));
	assert_non_null(strstr(l->out, "\"severity\": \"error\""));
	assert_non_null(strstr(l->out, "\"written\": false"));
	stop(l);
}

static void test_what_cannot_be_read(void **state)
{
	static const struct {
		const char *line, *slurm, *want;
		int rc;
	} rows[] = {
		{RUN, "A=1\nbad\n", "/slurm.conf:2: want Key=Value at \"bad\"", 1},
		{RUN, "A=1\nInclude none\n", "/slurm.conf:2: Include: ", 1},
		{RUN, "# END burstd\n", "/slurm.conf:1: \"# END burstd\" without its BEGIN", 1},
		{"slurm-conf --slurmctld DIR/slurmctld --slurm-conf DIR/none DIR/burstd.conf", "",
		 "/none: No such file or directory", 1},
		{"slurm-conf --slurmctld DIR/none DIR/burstd.conf", "", "/none", 1},
		{"slurm-conf DIR/none", "", "/none: No such file or directory", 1},
		{RUN "--check --write", "", "one of --diff, --check and --write", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab *l = start(rows[i].slurm);

		lab_run(l, rows[i].line, NULL, 0);
		print_message("# %s", l->err);
		assert_int_equal(l->rc, rows[i].rc);
		assert_non_null(strstr(l->err, rows[i].want));
		stop(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_difference),
		cmocka_unit_test(test_check_has_a_line_for_each),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_gres_conf_is_made),
		cmocka_unit_test(test_errors_are_mended_first),
		cmocka_unit_test(test_edits_by_hand),
		cmocka_unit_test(test_it_is_tried_first),
		cmocka_unit_test(test_both_or_none),
		cmocka_unit_test(test_topology_conf),
		cmocka_unit_test(test_topology_conf_is_made),
		cmocka_unit_test(test_a_bad_topology_is_mended_first),
		cmocka_unit_test(test_topology_yaml),
		cmocka_unit_test(test_topology_conf_is_tried),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_what_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
