/* facts.h - facts about this node, from /proc. */
#ifndef AGENT_FACTS_H
#define AGENT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FACTS_BOOT_ID_MAX = 40,
	FACTS_JOBS_MAX = 256, /* job ids that a heartbeat reports */
	FACTS_PATH_MAX = 320,
};

struct facts {
	char boot_id[FACTS_BOOT_ID_MAX]; /* "": it cannot be read */
	int64_t load_milli;              /* load of the last minute, times 1000 */
	int64_t uptime;                  /* seconds */
	bool job;                        /* a job is running */
	size_t njobs;                    /* entries in jobs: those with a known number */
	uint32_t jobs[FACTS_JOBS_MAX];
};

/* proc: "/proc", except in tests. */
void facts_read(struct facts *f, const char *proc);
/* The job of a slurmstepd, a process of root's with the title "slurmstepd: [JOB.STEP]".  0: it is
 * no slurmstepd, or `slurmstepd infinity`, which Slurm keeps for its cgroup; -1: it has no title
 * yet.  cmdline has NULs between its words. */
int64_t facts_step(const char *cmdline, size_t len);
/* How many GPUs the NVIDIA driver lists; -1: there is no driver. */
int64_t facts_gpus(const char *proc);
/* The first word of a file, of letters, digits and ".-_"; "": none. */
void facts_word(const char *path, char *out, size_t size);

#endif
