/* require.h - does slurm.conf say what burstd needs?
 *
 * One table of rules, slurm_rules[], judges what `scontrol show config` and `scontrol -o show
 * partitions` print.  It is also the table in docs/slurm.md: a test compares the two.  Judged is
 * what slurmctld has read, not a file that it may read one day. */
#ifndef BURSTD_SLURM_REQUIRE_H
#define BURSTD_SLURM_REQUIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"
#include "base/str.h"
#include "slurm/parse.h"
#include "slurm/version.h"

enum {
	SLURM_CONFIG_MAX = 1 << 18,      /* real ones have 8 KiB */
	SLURM_PARTITIONS_MAX = 16 << 20, /* about 800 bytes each */
	SLURM_NPARTITIONS_MAX = 4096,
	SLURM_MEMBERS_MAX = 1 << 21, /* names in partitions with times of their own: 0.2 s */
	SLURM_PROBLEMS_MAX = 64,     /* each rule gives one at most */
	SLURM_SUSPEND_TIMEOUT_MAX_S = 300,
	SLURM_BOOT_MARGIN_S = 60, /* burstd, which knows why, shall give up before slurmctld */
};

enum slurm_severity {
	SLURM_ADVICE,  /* it works, and could work better */
	SLURM_WARNING, /* money or time is lost */
	SLURM_ERROR,   /* nodes leak, or jobs hang, loop or are lost */
};

struct slurm_problem {
	const char *setting; /* in slurm.conf; SLURM_VERSION for the release itself */
	enum slurm_severity severity;
	char found[160]; /* printable */
	char wanted[128];
	const char *why; /* one sentence, static */
};

/* Most severe first. */
struct slurm_report {
	struct slurm_version version;
	/* As printed, in slurmctld's time zone: only good to see that it has changed.  It does at a
	 * restart, and from 23.11 on at a reconfigure. */
	char boot_time[32];
	int64_t hold_ms; /* so long a requeued job waits; 0: that cannot be read */
	/* So much of its RealMemory a node must have, or slurmctld does not take it; 0: it takes
	 * any, whatever it has of CPUs, memory and disk (config_overrides). */
	uint32_t memory_percent;
	/* SlurmctldParameters as it is, with what is missing there and without what must not be:
	 * the line to write; "": it is right, or too long to be written here. */
	char parameters[512];
	size_t n;
	size_t by_severity[SLURM_ERROR + 1];
	struct slurm_problem problems[SLURM_PROBLEMS_MAX];
};

/* What burstd.conf says; all borrowed. */
struct slurm_need_pool {
	const char *name;
	const struct hostlist *nodes; /* each in one pool only */
	int64_t boot_ms;              /* from instance to registration */
	const char *features;         /* that its nodes must carry, "a,b"; NULL: none */
	const char *bare;             /* one of them that lacks some; NULL: none does */
	const char *unknown;          /* nodes that slurmctld does not have; NULL: it has all */
	uint32_t max_nodes;           /* that it may have at once */
	uint32_t warm;                /* nodes that are up without a job, too */
	int64_t quantum_ms;           /* what is billed at once; 0: seconds */
};

struct slurm_need {
	const char *cluster; /* NULL: not checked */
	/* AuthType that nodes are given the key for, "auth/munge"; they fetch slurm.conf from
	 * slurmctld, too.  NULL: they have both. */
	const char *auth;
	const struct slurm_need_pool *pools;
	size_t npools;
};

struct slurm_look;

struct slurm_rule {
	const char *setting;
	enum slurm_severity severity;
	enum slurm_trait trait; /* the rule is for releases with it */
	bool optional;          /* slurmctld may not show the setting */
	const char *wanted;     /* in general; a problem may be more exact */
	const char *why;
	bool (*ok)(struct slurm_look *l, const struct slurm_rule *r);
	const char *arg;           /* the rest is for ok() */
	int64_t low, high, normal; /* normal: when it is not set */
};

extern const struct slurm_rule slurm_rules[];
extern const size_t slurm_nrules;

/* Judge the two texts.  Of settings that are shown twice the first counts; one that is not shown at
 * all is a problem itself.  -1: a text is not what it should be, or cut short, or too large, and
 * *out is empty: nothing is known then, and nothing is wrong for that. */
int slurm_require(struct slurm_text config, struct slurm_text partitions,
		  const struct slurm_need *need, struct slurm_report *out, struct err *e);

const char *slurm_severity_name(enum slurm_severity s);
/* "ResumeRate is 300 nodes/min, wanted 0: ..." */
void slurm_problem_print(const struct slurm_problem *p, struct str *out);

#endif
