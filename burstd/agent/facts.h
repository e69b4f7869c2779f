/* facts.h - what the kernel says of this node. */
#ifndef AGENT_FACTS_H
#define AGENT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FACTS_BOOT_ID_MAX = 40,
	FACTS_JOBS_MAX = 256, /* job ids that are told */
	FACTS_PATH_MAX = 320,
};

struct facts {
	char boot_id[FACTS_BOOT_ID_MAX]; /* "" when it cannot be read */
	int64_t load_milli;              /* of the last minute, by 1000 */
	int64_t uptime;                  /* seconds */
	bool job;                        /* does one run? */
	size_t njobs;                    /* of which we know the number */
	uint32_t jobs[FACTS_JOBS_MAX];
};

/* proc: /proc, but in tests. */
void facts_read(struct facts *f, const char *proc);
/* Job of a slurmstepd: root's process with the title "slurmstepd: [JOB.STEP]".  0: it is none; -1:
 * it is one that has no title yet.  `slurmstepd infinity`, which Slurm keeps for its cgroup, is
 * none.  cmdline has NULs between its words. */
int64_t facts_step(const char *cmdline, size_t len);
/* Entries of the NVIDIA driver's list; -1: there is no driver. */
int64_t facts_gpus(const char *proc);
/* The first word of a file, of letters, digits and ".-_"; "" when there is none. */
void facts_word(const char *path, char *out, size_t size);

#endif
