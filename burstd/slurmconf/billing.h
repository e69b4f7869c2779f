/* billing.h - TRESBillingWeights of a pool's partition, from prices that an admin has set.
 *
 * Slurm bills a job in units; with billing_unit in burstd.conf one unit is that much money an hour,
 * and a whole node is its price.  Only prices of burstd.conf and prices.conf are used: a provider's
 * own change by the hour, and slurm.conf must not.  So the weights are list prices, and not what a
 * spot machine costs. */
#ifndef BURSTD_SLURMCONF_BILLING_H
#define BURSTD_SLURMCONF_BILLING_H

#include "slurmconf/want.h"

/* How slurmctld makes one number of the weighted parts of a node, by PriorityFlags. */
enum slurmconf_summing {
	SLURMCONF_SUM,           /* all together */
	SLURMCONF_LARGEST,       /* MAX_TRES: the largest part */
	SLURMCONF_GRES_AND_REST, /* MAX_TRES_GRES: all GRES, and the largest of the others */
};

/* By the site's own lines, and what its release makes of them. */
enum slurmconf_summing slurmconf_summing(const struct slurmconf_want *w);

/* What a node of the pool costs an hour, in nano-units: the highest price that is set for one of
 * its on-demand offers, else for any of its offers; 0: none is. */
int64_t slurmconf_list_price(const struct slurmconf_want *w, const struct conf_pool *p);

/* Append "CPU=...,Mem=...G,GRES/gpu=..."; nothing without billing_unit, price, `node` or slurmdbd:
 * without that slurmctld counts no GPUs, and does not start.  With SLURMCONF_LARGEST each part of a
 * whole node is the whole price; else one part is: the GPUs, or the CPUs of a pool without any, so
 * that no job is billed more than its nodes cost.  A weight has six decimals, rounded up: slurmctld
 * cuts what it multiplies to a whole number. */
void slurmconf_billing_weights(const struct slurmconf_want *w, const struct conf_pool *p,
			       struct str *out);

/* The GPUs that gres of a pool has, of all types together, as slurmctld counts gres/gpu. */
uint32_t slurmconf_gpus(const struct conf_pool *p);

#endif
