/* payer_row.h - the end of a job's row of squeue with who pays (SLURM_PAYER_COLUMNS): the users'
 * texts, of a job that asks for no GPUs. */
#ifndef TESTS_UNIT_PAYER_ROW_H
#define TESTS_UNIT_PAYER_ROW_H

#include <stdio.h>
#include <string.h>

/* For printf: the account. */
#define PAYER_ACCOUNT "%-128.128s|"
/* For printf: GPUs by job, node, socket and task, and the wckey. */
#define PAYER_TEXTS "%-65s|%-65s|%-65s|%-65s|%-65s|"

/* The row up to its sockets, in which an account without a bar stands behind the last "| |" and is
 * padded here, with this wckey, and what follows; its length. */
static inline int payer_row(char *out, size_t size, const char *row, const char *key,
			    const char *rest)
{
	const char *account = row, *p = row, *bar;
	char name[400];

	while ((p = strstr(p, "| |")) != NULL)
		account = p += 3;
	bar = strchr(account, '|');
	(void)snprintf(name, sizeof(name), "%.*s", (int)(bar - account), account);
	return snprintf(out, size, "%.*s" PAYER_ACCOUNT "%s" PAYER_TEXTS "%s\n",
			(int)(account - row), row, name, bar + 1, "N/A", "N/A", "N/A", "N/A", key,
			rest);
}

#endif
