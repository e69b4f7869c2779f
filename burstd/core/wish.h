/* wish.h - what a job's --comment says about where its nodes are bought.
 *
 * For a pool with `job_comment = true` a comment may hold, among other text, words such as
 *
 * 	burst:spot        burst:ondemand,EU        burst:aws,lambda,max_price=20
 *
 * Words of one kind are alternatives (two markets, two providers, two places); different kinds, and
 * several `burst:`, must all be met.  Every word is a restriction: it takes offers away and adds
 * none, so that users can only buy what the admin offers.  An unknown word is reported and ignored;
 * but a word that looks like a place restricts even if there is no such place, since a promise
 * about jurisdictions fails closed.
 *
 * Pure.  Also here: which jobs' wishes burstd needs to know, and which features nodes need so that
 * --constraint works (core/constraint.h). */
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
	WISH_CODES_MAX = 64,     /* places in one list; others would allow more: dropped */
};

struct wish {
	char *constraint;     /* for constraint_ask(), in addition to the job's own; NULL: none */
	char **jurisdictions; /* NULL-terminated; NULL: any; an empty list: nowhere */
	int64_t max_price_nano_h; /* of a node per hour; 0: none */
};

/* Parse a comment; NULL is an empty one.  *unknown: a sentence about the first unknown word, or
 * code 0; the other words count all the same. */
void wish_init(struct wish *w, const char *comment, const struct conf *conf, struct err *unknown);
void wish_fini(struct wish *w);

/* What burstd needs to know of the jobs that wait for this node: nothing if its pool has no offers,
 * or no pool names it. */
enum wish_need { WISH_NOTHING, WISH_CONSTRAINT, WISH_COMMENT };
enum wish_need wish_need(const struct conf *conf, const char *node);
enum wish_need wish_most(const struct conf *conf); /* the most for any pool */
/* The most that is needed for a node of *d, and not known of its jobs. */
enum wish_need wish_missing(const struct demand *d, const struct conf *conf);

/* The features that all nodes of this pool need so that a job can choose by --constraint, as
 * slurm.conf takes them: "spot,ondemand,aws,lambda".  "": none, as its offers do not differ. */
void wish_features(const struct conf_pool *p, struct str *out);

#endif
