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

struct slurm_files_change {
	const char *path;
	const char *old; /* what it was when it was read; "" if it was not there */
	size_t old_len;
	const char *text;
	size_t len;
	const char *like; /* a new file gets owner and mode of this one; NULL: ours, 0644 */
};

/* Replace the file atomically and durably.  -1: *e; it is as it was.  Refused if it is not as it
 * was when it was read. */
int slurm_files_write(const struct slurm_files_change *c, struct err *e);
/* Put the old text back after slurm_files_write(), without touching NAME.last-good. */
int slurm_files_restore(const struct slurm_files_change *c, struct err *e);

/* Write a file for a trial, mode 0600. */
int slurm_files_put(const char *path, const char *text, size_t len, struct err *e);

#endif
