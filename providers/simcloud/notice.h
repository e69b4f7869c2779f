/* notice.h - the cloud's notices: what will happen to instances, and that they have ended.
 *
 * A ring that both faces read: the neutral one continues after a number; SQS's hides a message for
 * a while after giving it out, and drops deleted ones.  Numbers begin at the clock, so that a
 * restarted simcloud repeats none. */
#ifndef SIMCLOUD_NOTICE_H
#define SIMCLOUD_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { NOTICES_MAX = 1 << 16 };

enum notice_kind {
	NOTICE_RECLAIM,
	NOTICE_REBALANCE,
	NOTICE_MAINTENANCE,
	NOTICE_FAULTY,
	NOTICE_ENDED, /* the instance has ended; only SQS's face reports this */
	NOTICE_KINDS
};

struct notice {
	int64_t seq, told_ms;
	int64_t at_ms; /* when it will happen; 0: unknown */
	int64_t hidden_until;
	uint32_t row, given; /* row of the meter; number of times given out */
	enum notice_kind kind;
	bool gone; /* deleted from the queue */
};

struct notices {
	struct notice *ring;
	uint64_t n;     /* notices so far */
	uint64_t first; /* all notices before this one are deleted or overwritten */
};

void notices_init(struct notices *t);
void notices_fini(struct notices *t);
void notices_add(struct notices *t, const struct notice *what); /* sets seq */
/* The first notice with a number greater than after; NULL: none. */
const struct notice *notices_after(const struct notices *t, int64_t after);
/* The oldest notice in the queue that is neither hidden nor deleted; NULL: none. */
struct notice *notices_visible(struct notices *t, int64_t now);
/* false: no notice has this number. */
bool notices_delete(struct notices *t, int64_t seq);
const char *notice_word(enum notice_kind k); /* "reclaim", ... */
int notice_parse(const char *word, enum notice_kind *k, struct err *e);

#endif
