/* line.h - reads Slurm's configuration files (slurm.conf, gres.conf) as Slurm itself does.
 *
 * A line ends at a line break that has no backslash before it; '#' begins a comment, which hides a
 * backslash behind it, too; CR is a blank.  Keys are compared ignoring case.  The reader works on a
 * flat copy of the file: as long as the file, with comments and joined line breaks as blanks, so
 * that a place in one is the same place in the other. */
#ifndef BURSTD_SLURMCONF_LINE_H
#define BURSTD_SLURMCONF_LINE_H

#include <stddef.h>

#include "base/err.h"
#include "slurm/parse.h"

enum {
	SLURMCONF_FILE_MAX = 16 << 20, /* bytes; 65,536 nodes of a line each are 10 MiB */
	SLURMCONF_PAIRS_MAX = 64,      /* of one line; a node has about 30 keys */
};

/* A configuration file that is held in memory. */
struct slurmconf_file {
	char *path;
	char *text; /* as it is on disk */
	size_t len;
	char *flat; /* likewise long */
};

struct slurmconf_pair {
	struct slurm_text key, value; /* in flat; value without quotes */
	size_t at, end;               /* from the key to the end of the value, quotes too */
};

/* A line with all its continuations: "Include FILE", or pairs. */
struct slurmconf_line {
	const struct slurmconf_file *file;
	int number;                /* of its first line in the file, from 1 */
	size_t at, end;            /* in the file, with the line break if there is one */
	struct slurm_text include; /* n 0: it is none */
	size_t n;
	struct slurmconf_pair pairs[SLURMCONF_PAIRS_MAX];
};

/* Copies path; takes text, len bytes from malloc() with a NUL behind them. -1: *e begins
 * "FILE:LINE: ", and f needs no fini: the text has a NUL in it. */
int slurmconf_file_init(struct slurmconf_file *f, const char *path, char *text, size_t len,
			struct err *e);
void slurmconf_file_fini(struct slurmconf_file *f);

/* The next line that says something.  *l is zeroed before the first.  1: *l has it; 0: there is
 * none; -1: it cannot be read, and *e begins "FILE:LINE: ". */
int slurmconf_line_next(struct slurmconf_line *l, const struct slurmconf_file *f, struct err *e);

/* The last pair of that key; NULL: there is none. */
const struct slurmconf_pair *slurmconf_line_get(const struct slurmconf_line *l, const char *key);

#endif
