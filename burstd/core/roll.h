/* roll.h - how the machines of one offer go over to a new image: a few canaries first, then all.
 *
 * An image that does not work is noticed when machines do not come up, when they drain, or when
 * their jobs fail.  So a new one is tried on a few machines, while all other purchases keep the old
 * one, and goes no further if one of these fails.  Pure: buy/roll.c knows the machines, and writes
 * each change down in the transaction that follows from it.
 *
 *              another image is wanted
 *   SETTLED ---------------------------> CANARY ----all canaries work---> ROLLING
 *      ^  ^                              |    ^                           |     |
 *      |  |       one fails, an admin    v    | an admin       an admin,  |     |
 *      |  |                            STOPPED+ resumes    the circuit    |     |
 *      |  |                              ^  |  opens                      |     |
 *      |  |                              |  +-----------------------------+     |
 *      |  +------- no machine with the old image is left -----------------------+
 *      +---------- (the old image is wanted again: ROLLING back to it, without canaries)
 */
#ifndef BURSTD_ROLL_H
#define BURSTD_ROLL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/provider.h"

enum roll_stage {
	ROLL_SETTLED, /* all purchases get `next`, which is `old`, too */
	ROLL_CANARY,  /* a few get `next`, all others `old` */
	ROLL_ROLLING, /* all get `next`; machines with another image end when they are idle */
	ROLL_STOPPED, /* all get `old`; machines with `next` end when they are idle */
	ROLL_NSTAGES
};

enum { ROLL_WHY_SIZE = 200, ROLL_BY_SIZE = 64 };

struct roll {
	enum roll_stage stage;
	char old[PROVIDER_IMAGE_MAX + 1];  /* known to work; "": the provider's choice */
	char next[PROVIDER_IMAGE_MAX + 1]; /* what the configuration wants; `old`: it is known */
	uint32_t passed;                   /* canaries that have worked */
	int64_t since_ms;                  /* when the stage began */
	char why[ROLL_WHY_SIZE];           /* STOPPED: what was wrong */
	char by[ROLL_BY_SIZE];             /* the admin who stopped or resumed it; "": none did */
};

struct roll_image { /* of a create */
	const char *name;
	bool canary; /* it has not shown that it works */
};

/* The first image that is known of an offer: it is believed to work. */
void roll_init(struct roll *r, const char *image, int64_t now_ms);

/* The configuration wants this image.  false: nothing changes. */
bool roll_want(struct roll *r, const char *image, int64_t now_ms);

/* The image of a purchase that is no canary. */
const char *roll_usual(const struct roll *r);

/* How many more machines may be canaries, if `most` are to work and `untried` exist that have not
 * shown it; 0: none, and always in another stage. */
uint32_t roll_room(const struct roll *r, uint32_t most, uint32_t untried);

/* One more canary works.  With `most` of them the new image is used everywhere: true. */
bool roll_passed(struct roll *r, uint32_t most, int64_t now_ms);
/* `most` may be a smaller number than before: have as many worked already?  Likewise. */
bool roll_enough(struct roll *r, uint32_t most, int64_t now_ms);

/* Go back to the old image.  false: there is nothing to stop. */
bool roll_stop(struct roll *r, const char *why, const char *by, int64_t now_ms);
/* Try the new image once more, with other canaries.  false: it was not stopped. */
bool roll_resume(struct roll *r, const char *by, int64_t now_ms);

/* No machine with another image is left. */
void roll_end(struct roll *r, int64_t now_ms);

/* Is a machine with this image to be replaced when it is idle?  In each stage but SETTLED one is
 * that has neither the old image nor the new one: it was given up, or is from the roll before.  An
 * image that nobody knows ("") is believed to be the old one while another is tried. */
bool roll_replaces(const struct roll *r, const char *image);

const char *roll_stage_str(enum roll_stage s); /* "settled", "canary", "rolling", "stopped" */
int roll_stage_parse(const char *word);        /* -1: none of these */

#endif
