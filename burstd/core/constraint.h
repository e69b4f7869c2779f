/* constraint.h - what a job's --constraint says about where its nodes are bought.
 *
 * slurmctld has chosen nodes whose features satisfy the expression, and burstd ignores most words
 * of it.  It reads `spot`, `ondemand`, `reserved` and the names of providers: nodes of a pool with
 * several offers have several of these as features, and a job that names one restricts its offers
 * to that.
 *
 * The answer has three values, as the other words are not known here.  Only NO keeps a job from an
 * offer: what burstd does not understand restricts nothing.  So a count (`spot*2`, which is about
 * two nodes), an AND in square brackets (likewise) and unknown words are MAYBE.  Slurm reads
 * `a|b&c` from left to right, but not in parentheses; where the two readings differ the answer is
 * MAYBE, too.  `!x` is no syntax of Slurm's, and is read as "not x". */
#ifndef BURSTD_CONSTRAINT_H
#define BURSTD_CONSTRAINT_H

#include "core/conf.h"
#include "core/provider.h"

enum {
	CONSTRAINT_MAX = 4096,     /* bytes; a longer expression restricts nothing */
	CONSTRAINT_DEPTH_MAX = 16, /* nesting of parentheses, likewise */
};

enum constraint_answer { CONSTRAINT_NO, CONSTRAINT_MAYBE, CONSTRAINT_YES };

/* Does a node bought from this offer satisfy the expression?  NULL and "" ask for nothing: YES.
 * Providers are those of conf; a provider named like a market is ignored in favour of the market.
 */
enum constraint_answer constraint_ask(const char *expression, const struct conf *conf,
				      const struct conf_offer *offer);

#endif
