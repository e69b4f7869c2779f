/* constraint.h - what a job's --constraint says about where its nodes are bought.
 *
 * slurmctld has chosen nodes whose features satisfy the expression; most of its words are none of
 * our business.  Ours are `spot`, `ondemand` and `reserved`, and the names of providers: nodes of a
 * pool with several offers carry several of them, and the job that names one means it.
 *
 * The answer has three values, as the rest of the expression is not known here.  Only NO keeps a
 * job from an offer: whatever is not understood restricts nothing.  So a count (`spot*2`: of two
 * nodes, not of this one), an AND in square brackets (likewise) and words of others are MAYBE.
 * Slurm itself reads `a|b&c` from left to right, and in parentheses not; where the two readings
 * differ, that is MAYBE too.  `!x` is no syntax of Slurm's, and read as "not x". */
#ifndef BURSTD_CONSTRAINT_H
#define BURSTD_CONSTRAINT_H

#include "core/conf.h"
#include "core/provider.h"

enum {
	CONSTRAINT_MAX = 4096,     /* bytes: a user's; longer ones restrict nothing */
	CONSTRAINT_DEPTH_MAX = 16, /* of parentheses, likewise */
};

enum constraint_answer { CONSTRAINT_NO, CONSTRAINT_MAYBE, CONSTRAINT_YES };

/* Does a node bought from this offer satisfy the expression?  NULL and "" ask for nothing: YES.
 * Providers are those of conf; one that is called as a market is known by the market's meaning. */
enum constraint_answer constraint_ask(const char *expression, const struct conf *conf,
				      const struct conf_offer *offer);

#endif
