/* slurm_conf_lab.h - a burstd.conf, Slurm's files and a slurmctld for burstctl slurm-conf. */
#ifndef BURSTD_TEST_CLI_SLURM_CONF_LAB_H
#define BURSTD_TEST_CLI_SLURM_CONF_LAB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab.h"

#define BURSTD                                                                                     \
	"cluster = \"falcon\"\ncurrency = \"EUR\"\n"                                               \
	"provider \"sim\" { driver = \"sim\" url = \"http://127.0.0.1:8900\" }\n"                  \
	"pool \"c\" {\nnodes = \"c[1-4]\" provider = \"sim\" type = \"t\" region = \"r\"\n"        \
	"max_nodes = 4 max_rate = \"9\" node = \"CPUs=4 RealMemory=1000\"\n}\n"
#define SLURM                                                                                      \
	"ClusterName=falcon\nReturnToService=2\nPartitionName=own Nodes=own1\n"                    \
	"SlurmctldParameters=idle_on_node_suspend,power_save_interval=1 TaskPlugin=task/cgroup\n"
#define CGROUP "ConstrainDevices=yes\nConstrainRAMSpace=yes\n"

/* It says its version, and lives on only if slurm.conf has no bad line and it is apart: the first
 * process of its namespace, and in another network than the test.  Meanwhile somebody may add a
 * line to slurm.conf. */
#define SLURMCTLD                                                                                  \
	"#!/bin/sh\n[ \"$1\" != -V ] || { echo slurm-wlm 24.11.5; exit; }\n"                       \
	"if [ $$ != 1 ] || [ \"$(readlink /proc/self/ns/net)\" = '%s' ]; then\n"                   \
	"echo slurmctld: fatal: not apart; exit 1; fi\n"                                           \
	"if grep -qs '^Bad=' ${3%%/*}/*-*; then\n"                                                 \
	"echo \"slurmctld: error: Parse error in file ${3%%/*}/slurm-0 line 1\"\n"                 \
	"echo slurmctld: fatal: Unable to process configuration file; exit 1; fi\n"                \
	"if grep -qs '^MaxJobCount=7' ${3%%/*}/*-*; then echo A=1 >>%s/slurm.conf; fi\n"           \
	"echo slurmctld: Running as primary controller; exec sleep 60\n"
#define RUN "slurm-conf --slurmctld DIR/slurmctld --slurm-conf DIR/slurm.conf DIR/burstd.conf "

static inline void path_of(const struct lab *l, const char *name, char *out, size_t size)
{
	(void)snprintf(out, size, "%s/%s", l->dir, name);
}

static inline char *file(const struct lab *l, const char *name)
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

static inline void has(const struct lab *l, const char *name, const char *want)
{
	char *text = file(l, name);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static inline struct lab *start(const char *slurm)
{
	struct lab *l = lab_new();
	char path[128], net[64] = "", program[2048];

	assert_true(readlink("/proc/self/ns/net", net, sizeof(net) - 1) > 0);
	(void)snprintf(program, sizeof(program), SLURMCTLD, net, l->dir);
	lab_write(l, "burstd.conf", BURSTD);
	lab_write(l, "slurm.conf", slurm);
	lab_write(l, "cgroup.conf", CGROUP);
	lab_write(l, "slurmctld", program);
	path_of(l, "slurmctld", path, sizeof(path));
	assert_int_equal(chmod(path, 0755), 0);
	path_of(l, "burstd.conf", path, sizeof(path));
	assert_int_equal(chmod(path, 0644), 0);
	return l;
}

static inline void stop(struct lab *l)
{
	static const char *const names[] = {"burstd.conf",
					    "slurm.conf",
					    "slurmctld",
					    "slurm.conf.last-good",
					    "gres.conf",
					    "real.conf",
					    "gres.conf.last-good",
					    "real.conf.last-good",
					    "topology.conf",
					    "topology.conf.last-good",
					    "topology.yaml",
					    "cgroup.conf",
					    "cgroup.conf.last-good"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[128];

		path_of(l, names[i], path, sizeof(path));
		(void)unlink(path);
	}
	lab_free(l);
}

#endif
