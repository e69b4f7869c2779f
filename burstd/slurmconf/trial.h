/* trial.h - a site's files made fit for a slurmctld that is only tried.
 *
 * There is no `slurmctld -t`: whether a configuration is good only a slurmctld shows that starts
 * with it.  Such a one must touch nothing of the site's: not its state, its database, its ports or
 * its programs.  So what says where these are is blanked out, line by line as it was, and a file
 * around all says others. */
#ifndef BURSTD_SLURMCONF_TRIAL_H
#define BURSTD_SLURMCONF_TRIAL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "slurmconf/source.h"

/* The name, in dir, of source i of a tree: "slurm-0", "gres-0". */
void slurmconf_trial_name(struct str *out, const char *dir, const char *tree, size_t i);

/* Append the text of a source as it is tried: as many lines, in the same places.  tree is
 * "slurm", "gres", "topology" or "cgroup"; auth: keep AuthType and what belongs to it.  -1: *e
 * begins "FILE:LINE: ". */
struct slurmconf_trial {
	const struct slurmconf_sources *sources; /* for the names of what it includes */
	const char *tree, *dir;
	bool auth;
};
int slurmconf_trial_text(const struct slurmconf_trial *t, const struct slurmconf_file *f,
			 struct str *out, struct err *e);

/* Append slurm.conf around it, for a slurmctld on this host that keeps all in dir. */
void slurmconf_trial_root(const struct slurmconf_trial *t, const char *host, struct str *out);

/* Append, from what slurmctld wrote, the lines that say why it ended, at most `most`, with the
 * site's names for the files of the trial in dir. */
void slurmconf_trial_why(const struct slurmconf_trees *trees, const char *dir, const char *said,
			 size_t most, struct str *out);

#endif
