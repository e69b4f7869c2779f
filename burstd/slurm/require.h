/* require.h - checks slurm.conf for what burstd needs.
 *
 * One table of rules, slurm_rules[], is applied to the output of `scontrol show config` and
 * `scontrol -o show partitions`: to the settings that slurmctld uses, not to a file that it has not
 * read yet.  docs/slurm.md has the same table: a test compares the two. */
#ifndef BURSTD_SLURM_REQUIRE_H
#define BURSTD_SLURM_REQUIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"
#include "base/str.h"
#include "core/conf_budget.h"
#include "slurm/parse.h"
#include "slurm/version.h"

enum {
	SLURM_CONFIG_MAX = 1 << 18,      /* real ones have 8 KiB */
	SLURM_PARTITIONS_MAX = 16 << 20, /* about 800 bytes for each partition */
	SLURM_NPARTITIONS_MAX = 4096,
	SLURM_MEMBERS_MAX = 1 << 21, /* names in partitions that override times: 0.2 s */
	SLURM_PROBLEMS_MAX = 64,     /* each rule has at most one */
	SLURM_ENFORCE_MAX = 3,       /* accounts, QOS and wckeys */
	SLURM_SUSPEND_TIMEOUT_MAX_S = 300,
	SLURM_BOOT_MARGIN_S = 60, /* burstd must give up before slurmctld, since it knows why */
};

enum slurm_severity {
	SLURM_ADVICE,  /* it works, but could work better */
	SLURM_WARNING, /* it costs money or time */
	SLURM_ERROR,   /* nodes leak, or jobs hang, loop or get lost */
};

struct slurm_problem {
	const char *setting; /* name in slurm.conf; SLURM_VERSION: the release itself */
	enum slurm_severity severity;
	char found[160]; /* printable */
	char wanted[128];
	const char *why; /* one sentence, static */
};

/* Most severe first. */
struct slurm_report {
	struct slurm_version version;
	/* As printed, in slurmctld's time zone; only to see that it changes: at a restart, and from
	 * 23.11 on at a reconfigure. */
	char boot_time[32];
	int64_t hold_ms; /* how long slurmctld holds a requeued job back; 0: not known */
	/* The percentage of RealMemory that a node must have to register; 0: any node may, whatever
	 * its CPUs, memory and disk (config_overrides). */
	uint32_t memory_percent;
	/* The corrected value of SlurmctldParameters, to be copied; "": it is right, or too long.
	 */
	char parameters[512];
	size_t n;
	size_t by_severity[SLURM_ERROR + 1];
	struct slurm_problem problems[SLURM_PROBLEMS_MAX];
};

/* What burstd.conf requires; everything is borrowed. */
struct slurm_need_pool {
	const char *name;
	const struct hostlist *nodes; /* no node is in two pools */
	int64_t boot_ms;              /* boot timeout */
	const char *features;         /* features that its nodes need, "a,b"; NULL: none */
	const char *bare;             /* a node that lacks a feature; NULL: none does */
	const char *unknown;          /* nodes that slurmctld does not know; NULL: none */
	/* Why burstd could not create these, which are of a dynamic pool; NULL: slurm.conf is to
	 * have them. */
	const char *uncreated;
	uint32_t max_nodes; /* its max_nodes */
	uint32_t warm;      /* its warm nodes */
	int64_t quantum_ms; /* billing step; 0: seconds */
};

struct slurm_need {
	const char *cluster; /* NULL: not checked */
	/* The AuthType whose key burstd gives to nodes, "auth/munge"; such nodes fetch slurm.conf
	 * from slurmctld.  NULL: images have both. */
	const char *auth;
	const struct slurm_need_pool *pools;
	size_t npools;
	/* Words of AccountingStorageEnforce without which users choose whose budget pays; then
	 * NULL. */
	const char *enforce[SLURM_ENFORCE_MAX + 1];
};

/* Set need->enforce by what the budgets go by. */
void slurm_need_budgets(struct slurm_need *need, const struct conf_budget *list, size_t n);

struct slurm_look;

struct slurm_rule {
	const char *setting;
	enum slurm_severity severity;
	enum slurm_trait trait; /* the rule applies to releases with this trait */
	bool optional;          /* the setting need not be shown */
	const char *wanted;     /* in general; a problem may be more specific */
	const char *why;
	bool (*ok)(struct slurm_look *l, const struct slurm_rule *r);
	const char *arg;           /* from here on for ok() */
	int64_t low, high, normal; /* normal: the value if it is not set */
};

extern const struct slurm_rule slurm_rules[];
extern const size_t slurm_nrules;

/* Apply the rules to the two texts.  If a setting is shown twice the first counts; a missing one is
 * a problem.  -1: a text cannot be read, is cut short or too large, and *out is empty: then nothing
 * is known. */
int slurm_require(struct slurm_text config, struct slurm_text partitions,
		  const struct slurm_need *need, struct slurm_report *out, struct err *e);

const char *slurm_severity_name(enum slurm_severity s);
/* "ResumeRate is 300 nodes/min, wanted 0: ..." */
void slurm_problem_print(const struct slurm_problem *p, struct str *out);

#endif
