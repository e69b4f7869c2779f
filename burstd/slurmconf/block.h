/* block.h - the lines of a file that burstd owns: one block between two marks.
 *
 * All other lines are the site's, and stay as they are, byte for byte.  The first mark has a hash
 * of the lines between, so that an edit by hand is seen before it is lost.  A site chooses the
 * place, also in an included file, by writing the two marks itself:
 *
 * 	# BEGIN burstd
 * 	# END burstd
 */
#ifndef BURSTD_SLURMCONF_BLOCK_H
#define BURSTD_SLURMCONF_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "slurmconf/line.h"

enum slurmconf_block_state {
	SLURMCONF_BLOCK_NONE,
	SLURMCONF_BLOCK_OURS,   /* as burstd wrote it, or empty */
	SLURMCONF_BLOCK_EDITED, /* somebody else changed it */
};

struct slurmconf_block {
	enum slurmconf_block_state state;
	size_t at, end;           /* in the text, both marks included */
	size_t body_at, body_end; /* the lines between */
	int line, last;           /* of the two marks */
};

/* Find the block of this file; without one *out has the file's end.  -1: *e begins "FILE:LINE: ": a
 * mark without the other, or two blocks. */
int slurmconf_block_find(struct slurmconf_block *out, const struct slurmconf_file *f,
			 struct err *e);

/* The lines between the marks, without CR; the caller's (free()). */
char *slurmconf_block_body(const struct slurmconf_file *f, const struct slurmconf_block *b);

/* Append the text of the whole file with body (lines, each with its '\n') in its block, or with a
 * new block at its end.  Line breaks are those of the file's first line.  The same body again gives
 * the same bytes. */
void slurmconf_block_put(struct str *out, const struct slurmconf_file *f,
			 const struct slurmconf_block *b, const char *body);

#endif
