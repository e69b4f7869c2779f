/* payer_row.h - the end of a job's row of squeue with who pays (SLURM_PAYER_COLUMNS): the users'
 * texts, of a job that asks for no GPUs. */
#ifndef TESTS_UNIT_PAYER_ROW_H
#define TESTS_UNIT_PAYER_ROW_H

#include <stdio.h>

/* For printf: GPUs by job, node, socket and task, and the wckey. */
#define PAYER_TEXTS "%-65s|%-65s|%-65s|%-65s|%-65s|"

/* The row, with this wckey, and what follows; its length. */
static inline int payer_row(char *out, size_t size, const char *row, const char *key,
			    const char *rest)
{
	return snprintf(out, size, "%s" PAYER_TEXTS "%s\n", row, "N/A", "N/A", "N/A", "N/A", key,
			rest);
}

#endif
