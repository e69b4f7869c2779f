/* account.h - reads the tree of accounts as slurmctld has it, which needs no slurmdbd. */
#ifndef BURSTD_SLURM_ACCOUNT_H
#define BURSTD_SLURM_ACCOUNT_H

#include "slurm/parse.h"

typedef void (*slurm_account_fn)(void *ctx, struct slurm_text account, struct slurm_text parent);
/* Parse `scontrol -o show assoc_mgr flags=assoc`: call fn for each account but the root's; lines of
 * users are skipped.  Returns how many associations there are, of root and of users, too. */
size_t slurm_account_parse(const char *text, size_t len, slurm_account_fn fn, void *ctx);

#endif
