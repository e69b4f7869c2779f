/* slurm_files.h - reads and replaces Slurm's configuration files, for slurm-conf.
 *
 * A link stays a link, owner and mode stay, and the file as it was is beside it as NAME.last-good.
 */
#ifndef BURSTD_CLI_SLURM_FILES_H
#define BURSTD_CLI_SLURM_FILES_H

#include <stddef.h>

#include "base/err.h"

/* A slurmconf_read_fn; ctx is not used. */
int slurm_files_read(void *ctx, const char *path, char **text, size_t *len, struct err *e);
/* Likewise, and a file that is not there is empty. */
int slurm_files_read_or_none(void *ctx, const char *path, char **text, size_t *len, struct err *e);

/* One file that is to be replaced.  What needs room on the disk comes first, for all files, and
 * only then names change:
 *
 *	prepare (of each) -> commit (of each) [-> restore] -> drop (of each)
 */
struct slurm_files_change {
	const char *path;
	const char *old; /* what it was when it was read; "" if it was not there */
	size_t old_len;
	const char *text;
	size_t len;
	const char *like; /* a new file gets owner and mode of this one; NULL: ours, 0644 */
	/* This module's own; zeroed. */
	struct slurm_files_place *place;
};

/* Write the new text, and the old one for NAME.last-good, beside the file, which stays as it is;
 * others that do so at the same time have files of their own.  -1: *e. */
int slurm_files_prepare(struct slurm_files_change *c, struct err *e);
/* Put them in their places, atomically and durably.  -1: *e; refused if the file is not as it was
 * when it was read, and then it stays so. */
int slurm_files_commit(struct slurm_files_change *c, struct err *e);
/* Put the old text back after slurm_files_commit(), without touching NAME.last-good; where there
 * was no file there is none. */
int slurm_files_restore(const struct slurm_files_change *c, struct err *e);
/* Remove what was prepared and not committed.  In any case, also of one that was never prepared. */
void slurm_files_drop(struct slurm_files_change *c);

/* Prepare, commit and drop. */
int slurm_files_write(struct slurm_files_change *c, struct err *e);

/* Write a file for a trial, mode 0600. */
int slurm_files_put(const char *path, const char *text, size_t len, struct err *e);

#endif
