/* journal_events.h - what happened, for people; append-only. */
#ifndef BURSTD_JOURNAL_EVENTS_H
#define BURSTD_JOURNAL_EVENTS_H

#include <stdint.h>

#include "base/err.h"

struct journal;
struct journal_tx;

struct journal_event { /* borrowed during the visit */
	int64_t seq, at_ms;
	const char *node; /* "" for burstd's own */
	uint64_t gen;
	const char *type, *detail;
};

void journal_put_event(struct journal_tx *tx, int64_t at_ms, const char *node, uint64_t gen,
		       const char *type, const char *detail);

/* Events with seq > after (of one node, if not NULL), oldest first, at most limit.  A visit that
 * does not return 0 ends it, which is no error.  Pages of a few hundred keep the loop free. */
typedef int (*journal_event_fn)(void *ctx, const struct journal_event *ev);
int journal_events(struct journal *j, int64_t after, const char *node, unsigned limit,
		   journal_event_fn fn, void *ctx, struct err *e);
int64_t journal_last_event(struct journal *j); /* 0: none, or not to be read */

#endif
