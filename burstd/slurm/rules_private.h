/* rules_private.h - ok() functions of rules that are not in rules.c; only slurm/ includes it.  Each
 * returns true if the rule is met, else l->problem says what was found. */
#ifndef BURSTD_SLURM_RULES_PRIVATE_H
#define BURSTD_SLURM_RULES_PRIVATE_H

#include "slurm/look.h"
#include "slurm/require.h"

/* --- rules_hooks.c --- */
bool rule_runs(struct slurm_look *l, const struct slurm_rule *r);
bool rule_hook(struct slurm_look *l, const struct slurm_rule *r);
bool rule_hook_if_runs(struct slurm_look *l, const struct slurm_rule *r);
bool rule_prolog(struct slurm_look *l, const struct slurm_rule *r);
bool rule_prolog_may_wait(struct slurm_look *l, const struct slurm_rule *r);

/* --- rules_power.c --- */
bool rule_saves_power(struct slurm_look *l, const struct slurm_rule *r);
bool rule_suspends_ours(struct slurm_look *l, const struct slurm_rule *r);
bool rule_spares_others(struct slurm_look *l, const struct slurm_rule *r);
bool rule_suspended_soon(struct slurm_look *l, const struct slurm_rule *r);
bool rule_waits_for_boot(struct slurm_look *l, const struct slurm_rule *r);
bool rule_waits_for_burstd(struct slurm_look *l, const struct slurm_rule *r);
bool rule_gives_up(struct slurm_look *l, const struct slurm_rule *r);
bool rule_suspends_nodes(struct slurm_look *l, const struct slurm_rule *r);
bool rule_keeps_warm(struct slurm_look *l, const struct slurm_rule *r);
bool rule_keeps_paid(struct slurm_look *l, const struct slurm_rule *r);
bool rule_suspends_partitions(struct slurm_look *l, const struct slurm_rule *r);

#endif
