/* cgroup.conf: what burstd's nodes need there, and what of a site's lines is in the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "slurmconf/cgroup.h"
#include "world.h"

#define USED "TaskPlugin=task/affinity,task/cgroup\n"
#define BOTH "ConstrainDevices=yes\nConstrainRAMSpace=yes\n"
#define MORE "; write ConstrainRAMSpace=yes: a job that takes more"

static const struct row {
	const char *slurm, *cgroup, *gres, *release;
	const char *body;
	enum slurm_severity severity;
	const char *want; /* NULL: no finding */
} rows[] = {
	{USED, "", "gpu:8", "24.11.5", BOTH, 0, NULL},
	{USED, "", "", "24.11.5", "ConstrainRAMSpace=yes\n", 0, NULL},
	{"TaskPlugin=cgroup\n", "", "gpu:8", "22.05.8", BOTH, 0, NULL},
	{USED, "CgroupPlugin=autodetect\nconstraindevices=YES\n", "gpu:8", "24.11.5",
	 "ConstrainRAMSpace=yes\n", 0, NULL},
	{USED, "ConstrainRAMSpace=yes ConstrainDevices=yes\n", "gpu:8", "24.11.5", "", 0, NULL},
	{USED, "A=1\nConstrainDevices=no\n", "gpu:8", "24.11.5", "ConstrainRAMSpace=yes\n",
	 SLURM_WARNING,
	 "/s/cgroup.conf:2: ConstrainDevices=no; write ConstrainDevices=yes: jobs of one node"},
	{USED, "ConstrainDevices=no\n", "", "24.11.5", "ConstrainRAMSpace=yes\n", 0, NULL},
	{USED, "ConstrainRAMSpace=false\n", "", "24.11.5", "", SLURM_WARNING,
	 "/s/cgroup.conf:1: ConstrainRAMSpace=false" MORE},
	/* Of a key that comes twice the last counts. */
	{USED, "ConstrainRAMSpace=yes\nConstrainRAMSpace=no\n", "", "24.11.5", "", SLURM_WARNING,
	 "/s/cgroup.conf:2: ConstrainRAMSpace=no" MORE},
	{USED, "# BEGIN burstd\nConstrainRAMSpace=no\n# END burstd\n", "", "24.11.5",
	 "ConstrainRAMSpace=yes\n", 0, NULL},
	/* Without task/cgroup it would have no effect. */
	{"A=1\n", "", "gpu:8", "24.11.5", "", SLURM_ADVICE,
	 "/s/slurm.conf:0: TaskPlugin has no task/cgroup; write TaskPlugin=task/cgroup: jobs of "
	 "one node can use each other's GPUs and memory, and burstd writes nothing into "
	 "cgroup.conf, which there is not"},
	{"A=1\nTaskPlugin=task/none\n", "ConstrainDevices=no\n", "", "24.11.5", "", SLURM_ADVICE,
	 "/s/slurm.conf:2: TaskPlugin has no task/cgroup; write TaskPlugin=task/cgroup: jobs of "
	 "one node can use each other's memory, and burstd writes nothing into cgroup.conf, which "
	 "limits no job without it"},
	{"TaskPlugin=affinity\n", "", "", "24.11.5", "", SLURM_ADVICE,
	 "/s/slurm.conf:1: TaskPlugin has no task/cgroup; write TaskPlugin=affinity,task/cgroup: "},
	{"TaskPlugin=task/xcgroup\n", "", "", "24.11.5", "", SLURM_ADVICE,
	 "/s/slurm.conf:1: TaskPlugin has no task/cgroup"},
	/* The plugin, by release. */
	{USED, "CgroupPlugin=cgroup/v1\n" BOTH, "", "25.11.7", "", SLURM_WARNING,
	 "/s/cgroup.conf:1: CgroupPlugin=cgroup/v1; write CgroupPlugin=autodetect: slurmd does "
	 "not start on images"},
	{USED, "CgroupPlugin=cgroup/v2\n" BOTH, "", "25.11.7", "", 0, NULL},
	{USED, "CgroupPlugin=disabled\n" BOTH, "", "24.05.0", "", SLURM_WARNING,
	 "/s/cgroup.conf:1: CgroupPlugin=disabled; write CgroupPlugin=autodetect: task/cgroup"},
	{USED, "CgroupPlugin=disabled\n" BOTH, "", "23.11.11", "", SLURM_ERROR,
	 "/s/cgroup.conf:1: CgroupPlugin=disabled; write CgroupPlugin=autodetect: this release"},
};

/* The advice that nobody uses cgroups comes with it: then there are two. */
static const struct row twice[] = {
	{"TaskPlugin=task/none\n", "CgroupPlugin=cgroup/v1\n", "", "24.11.5", "", SLURM_WARNING,
	 "/s/cgroup.conf:1: CgroupPlugin=cgroup/v1; write "}, /* proctrack/cgroup is the default */
	{"ProctrackType=proctrack/linuxproc\nJobAcctGatherType=jobacct_gather/cgroup\n",
	 "CgroupPlugin=cgroup/v1\n", "", "24.11.5", "", SLURM_WARNING,
	 "/s/cgroup.conf:1: CgroupPlugin=cgroup/v1; write "},
};
static const struct row once[] = {
	{"ProctrackType=proctrack/linuxproc\n", "CgroupPlugin=cgroup/v1\n", "", "24.11.5", "",
	 SLURM_ADVICE, "/s/slurm.conf:0: TaskPlugin has no task/cgroup"},
	{"ProctrackType=proctrack/linuxproc\n", "CgroupPlugin=disabled\n", "", "22.05.8", "",
	 SLURM_ADVICE, "/s/slurm.conf:0: TaskPlugin has no task/cgroup"},
};

static void check(const struct row *r, size_t findings)
{
	struct slurmconf_sources files;
	struct slurm_version version;
	struct slurmconf_want want;
	struct err e = {0};
	struct world w;
	struct str s;
	size_t before;

	world_init(&w);
	w.slurm = r->slurm;
	w.cgroup = r->cgroup;
	w.release = r->release;
	add_pool(&w, "c", "c1", "CPUs=1 RealMemory=9", r->gres);
	world_run(&w);
	before = w.findings.n;
	assert_int_equal(before, 0);
	assert_int_equal(slurm_version_parse(&version, r->release, strlen(r->release), NULL), 0);
	want = (struct slurmconf_want){
		.conf = w.conf, .site = &w.site, .version = &version, .findings = &w.findings};
	assert_int_equal(slurmconf_sources_load(&files, "/s/cgroup.conf", world_read, &w, &e), 0);
	str_init(&s, 4096);
	assert_int_equal(slurmconf_want_cgroup(&want, &files, &s, &e), 0);
	print_message("# %s%s", r->slurm, r->cgroup);
	assert_string_equal(s.p, r->body);
	if (r->want != NULL)
		assert_true(world_says(&w, r->severity, r->want));
	assert_int_equal(w.findings.n, findings);
	str_fini(&s);
	slurmconf_sources_fini(&files);
	world_fini(&w);
}

static void test_cgroup_conf(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i], rows[i].want != NULL);
	for (size_t i = 0; i < sizeof(twice) / sizeof(twice[0]); i++)
		check(&twice[i], 2);
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++)
		check(&once[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cgroup_conf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
