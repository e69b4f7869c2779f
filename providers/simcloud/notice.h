/* notice.h - what the cloud tells of its instances before it happens, and of their ends.
 *
 * A ring that both faces read: the neutral one goes on from a number, and SQS's hides what it gave
 * out for a while and forgets what was deleted.  Numbers begin at the clock, so that a simcloud
 * that is started again gives none twice. */
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
	NOTICE_ENDED, /* it is no more: SQS's face alone tells this */
	NOTICE_KINDS
};

struct notice {
	int64_t seq, told_ms;
	int64_t at_ms; /* when it will happen; 0: not said */
	int64_t hidden_until;
	uint32_t row, given; /* of the meter; how often it was given out */
	enum notice_kind kind;
	bool gone; /* deleted from the queue */
};

struct notices {
	struct notice *ring;
	uint64_t n;     /* ever */
	uint64_t first; /* all before it are deleted, or overwritten */
};

void notices_init(struct notices *t);
void notices_fini(struct notices *t);
void notices_add(struct notices *t, const struct notice *what); /* seq is set */
/* The next one with a number greater than after; NULL: none. */
const struct notice *notices_after(const struct notices *t, int64_t after);
/* The oldest in the queue that is neither hidden nor deleted; NULL: none. */
struct notice *notices_visible(struct notices *t, int64_t now);
/* false: there is none with this number. */
bool notices_delete(struct notices *t, int64_t seq);
const char *notice_word(enum notice_kind k); /* "reclaim", ... */
int notice_parse(const char *word, enum notice_kind *k, struct err *e);

#endif
