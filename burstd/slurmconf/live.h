/* live.h - what a running slurmctld says, compared with slurm.conf as it is on disk.
 *
 * A file that was changed counts after a reconfigure or a restart, and until then slurmctld goes by
 * the old one.  What burstd needs is compared: settings, the nodes of pools, and their partitions.
 * What the file does not say is not compared, since defaults differ by release; nor is what burstd
 * itself changes while slurmctld runs, such as SuspendExcNodes and the State of a partition. */
#ifndef BURSTD_SLURMCONF_LIVE_H
#define BURSTD_SLURMCONF_LIVE_H

#include "base/map.h"
#include "slurmconf/want.h"

/* What scontrol printed, with -o but for the first. */
struct slurmconf_live_said {
	struct slurm_text config, partitions, nodes;
};

/* One finding for each difference: at the line of the file, what slurmctld has instead, and whether
 * a reconfigure is enough.  Of nodes one for each key of a pool, which names the first node.  files
 * is slurm.conf with all that it includes; findings of out borrow their places from it.  -1: that
 * is not what scontrol prints, or a line of the file cannot be read. */
int slurmconf_live(const struct slurmconf_want *w, const struct slurmconf_sources *files,
		   const struct slurmconf_live_said *said, struct slurmconf_findings *out,
		   struct err *e);

/* --- shared by live.c and live_file.c ------------------------------------------------------------
 */

enum slurmconf_live_kind {
	SLURMCONF_LIVE_TEXT,
	SLURMCONF_LIVE_NUMBER, /* "300", where slurmctld says "300 sec" */
	SLURMCONF_LIVE_WORDS,  /* the same ones, in any order */
	SLURMCONF_LIVE_SOME,   /* slurmctld has these, and more */
};

struct slurmconf_live_key {
	const char *file, *shown; /* its name; shown NULL: the same */
	enum slurmconf_live_kind kind;
	bool restart;        /* a reconfigure is not enough */
	const char *nothing; /* a value that slurmctld may show as none; NULL */
};

enum {
	SLURMCONF_LIVE_SETTINGS = 32,
	SLURMCONF_LIVE_NODE = 10, /* keys of a node ... */
	SLURMCONF_LIVE_PART = 6,  /* ... and of a partition */
};

extern const struct slurmconf_live_key slurmconf_live_settings[], slurmconf_live_node[],
	slurmconf_live_part[];
extern const size_t slurmconf_live_nsettings, slurmconf_live_nnode, slurmconf_live_npart;

struct slurmconf_live_value { /* p NULL: the file does not say */
	struct slurm_text value;
	struct slurmconf_place at;
};

struct slurmconf_live_line { /* NodeName, or PartitionName */
	struct slurmconf_live_value of[SLURMCONF_LIVE_NODE];
	struct slurmconf_place at;
	char *name; /* of a partition */
};

/* The file, as slurmctld would read it. */
struct slurmconf_live_file {
	struct slurmconf_live_value settings[SLURMCONF_LIVE_SETTINGS];
	struct slurmconf_live_line defaults;
	struct slurmconf_live_line **lines; /* all, so that they can be freed */
	size_t nlines;
	struct map nodes; /* of pools -> their line */
	struct map parts; /* name -> its line */
	const struct slurmconf_site *site;
	struct slurmconf_place at; /* the file as a whole */
};

int slurmconf_live_read(struct slurmconf_live_file *out, const struct slurmconf_site *site,
			const struct slurmconf_sources *files, struct err *e);
void slurmconf_live_fini(struct slurmconf_live_file *f);

#endif
