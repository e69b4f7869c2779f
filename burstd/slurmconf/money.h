/* money.h - what a site's own lines say of accounts, fair share and preemption.
 *
 * All of this is the site's: burstd writes none of it, and only says what is missing or costs
 * money, with the line to write.  Where there is no accounting, and burstd.conf has neither budgets
 * nor a billing_unit, it says nothing of accounts. */
#ifndef BURSTD_SLURMCONF_MONEY_H
#define BURSTD_SLURMCONF_MONEY_H

#include "slurmconf/want.h"

void slurmconf_money(const struct slurmconf_want *w);

/* Does slurm.conf name slurmdbd as the place of the accounting? */
bool slurmconf_has_accounting(const struct slurmconf_site *s);

/* Append commands for sacctmgr that go with it: for each pool that is sold both on demand and spot
 * at set prices a QOS whose usage counts by what spot costs, and for each budget of money one whose
 * GrpTRESMins holds as much.  They make QOS of their own names, and change no account, no
 * association and no usage: these may be another program's.  Nobody runs them but the admin. */
void slurmconf_sacctmgr(const struct slurmconf_want *w, struct str *out);

#endif
