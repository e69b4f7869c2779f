/* wish.h - what a job's --comment says about where its nodes are bought.
 *
 * Of a pool with `job_comment = true` a comment may hold, among other text, words such as
 *
 *	burst:spot        burst:ondemand,EU        burst:aws,lambda,max_price=20
 *
 * Words of one kind are alternatives (two markets, two providers, two places), the kinds all count,
 * and so do several `burst:`.  Everything is a restriction: it may take offers away and give none,
 * so that a user can order nothing that the admin does not sell.  What is not understood is told
 * and left out; only what looks like the name of a place restricts even when there is no such
 * place, since a promise about jurisdictions fails closed.
 *
 * Pure.  Also here: of which jobs the wishes must be known, and which features nodes need for
 * --constraint (core/constraint.h) to be of any use. */
#ifndef BURSTD_WISH_H
#define BURSTD_WISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "core/conf.h"
#include "core/demand.h"

enum {
	WISH_COMMENT_MAX = 2000, /* bytes; Slurm takes 1,024 */
	WISH_CODES_MAX = 64, /* places in one list: the others would allow more, so they are out */
};

struct wish {
	char *constraint;         /* for constraint_ask(), besides the job's own; NULL: none */
	char **jurisdictions;     /* NULL-terminated; NULL: any; an empty list: nowhere */
	int64_t max_price_nano_h; /* of a node per hour; 0: none */
};

/* Read a comment; NULL is an empty one.  *unknown has a sentence about the first thing that was not
 * understood, or code 0; the rest counts all the same. */
void wish_init(struct wish *w, const char *comment, const struct conf *conf, struct err *unknown);
void wish_fini(struct wish *w);

/* What there is to know of the jobs that wait for this node: nothing when its pool has no
 * offers, or is not ours. */
enum wish_need { WISH_NOTHING, WISH_CONSTRAINT, WISH_COMMENT };
enum wish_need wish_need(const struct conf *conf, const char *node);
enum wish_need wish_most(const struct conf *conf); /* of all pools */
/* The most that is needed for any node of *d and not known of its jobs. */
enum wish_need wish_missing(const struct demand *d, const struct conf *conf);

/* The features that nodes of this pool must all have so that a job may choose by --constraint, as
 * slurm.conf takes them: "spot,ondemand,aws,lambda".  "": its offers do not differ. */
void wish_features(const struct conf_pool *p, struct str *out);

#endif
