/* sbatch.h - what a batch script asks of Slurm in its lines "#SBATCH --nodes=4": how many nodes,
 * where, and for how long.
 *
 * It reads as sbatch does: from the first line, which begins with #!, to the first command; later
 * lines are not Slurm's.  Options that say nothing of where or how long are passed over, as burstd
 * and not sbatch judges here.  Pure; the text may be anything. */
#ifndef BURSTD_SBATCH_H
#define BURSTD_SBATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	SBATCH_FILE_MAX = 4 << 20, /* bytes: slurmctld takes no more */
	SBATCH_LINE_MAX = 8192,    /* bytes of a line with options */
	SBATCH_WORD_MAX = 2048,    /* bytes of one value; a comment has 1,024 at most */
	SBATCH_NOT_SAID = -1,
	SBATCH_UNLIMITED = -2,
};

struct sbatch {
	int64_t nodes;    /* at least; 0: not said */
	int64_t limit_ms; /* or SBATCH_NOT_SAID, SBATCH_UNLIMITED */
	/* As written, without quotes; NULL: not said. */
	char *partition, *account, *constraint, *comment, *gpus;
	bool more; /* of a heterogeneous job this is the first part */
};

/* -1: *e begins "line 7: "; nothing is to be freed.  Of an option that is given twice the last one
 * counts. */
int sbatch_parse(struct sbatch *out, const char *text, size_t len, struct err *e);
void sbatch_fini(struct sbatch *s);

/* "90" (minutes), "90:30", "1:30:00", "2-12", "2-12:30", "2-12:30:00", "UNLIMITED", "0" (likewise).
 * -1: it is none of these. */
int sbatch_time(const char *text, int64_t *ms);

#endif
