/* alert.h - what is told about a budget, and that it is told once.
 *
 * A budget, or one value of its `each`, has three kinds of alerts: a percent of notify_at is used
 * up; stop_at is reached, so that no new job starts; it may be exceeded.  Each is told once for a
 * period and an amount, so that a figure that goes up and down tells nothing twice.  A rolling
 * window has no end: there it is told again once a whole window has passed.
 *
 * A message (struct alert_message) carries alerts to one receiver, a section alert of burstd.conf.
 * It is tried until the receiver has taken it, or for ALERT_TRY_MS.
 *
 * Pure, and in memory; money/alerts.c writes and sends.  Amounts are nano-units of the configured
 * currency, times are the engine's milliseconds. */
#ifndef BURSTD_ALERT_H
#define BURSTD_ALERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/budget.h"

enum {
	ALERTS_MAX = 100000, /* kept, some 25 MiB; while there are so many nothing more is told */
	ALERT_ERROR_MAX = 199,
	ALERT_RETRY_MS = 60000,       /* after the first failure; then it doubles ... */
	ALERT_RETRY_MAX_MS = 3600000, /* ... up to this, without jitter */
	ALERT_TRY_MS = 86400000,      /* from when it was made until it is given up */
	ALERT_KEEP_DAYS = 31,         /* shown so long after the period */
};

enum alert_kind {
	ALERT_USED,   /* a percent of notify_at was spent, by what has ended and by what runs */
	ALERT_STOP,   /* stop_at is spent or set aside: no new job starts */
	ALERT_BEYOND, /* the worst case is more than the amount */
	ALERT_NKINDS
};

struct alert {
	int64_t seq;      /* its number, from 1; 0: it has none yet */
	int64_t at_ms;    /* when it was noticed */
	int64_t until_ms; /* it is not told again before */
	enum alert_kind kind;
	uint32_t percent; /* USED: of notify_at; STOP: stop_at; BEYOND: 0 */
	char budget[PROVIDER_WORD_MAX + 1], value[BUDGET_VALUE_MAX + 1]; /* value "": none */
	char period[PERIOD_NAME_SIZE];
	int64_t ends_ms; /* of the period */
	/* At that time.  amount: without what rolled over, which changes while jobs of the last
	 * period end, and is no news; carried: that; accrued: part of held; beyond: as struct
	 * engine_budget. */
	int64_t amount, carried, spent, accrued, held, beyond;
};

int64_t alert_whole(const struct alert *a); /* all that there was in the period */
int64_t alert_left(const struct alert *a);  /* of that; may be negative */

const char *alert_kind_str(enum alert_kind k); /* "used", "stop", "beyond" */
int alert_kind_parse(const char *word);        /* -1: there is no such kind */

/* The highest percent of notify_at that `used` reaches; 0: none. */
uint32_t alert_percent(const struct budget_line *l, int64_t used);

struct alert_figures { /* what struct budget_line does not have */
	int64_t accrued, beyond, now_ms;
};
/* Has the line reached what is told?  true: *out is it, with seq 0.  Only of lines with an amount
 * whose period is now. */
bool alert_reached(const struct budget_line *l, const struct alert_figures *f, enum alert_kind k,
		   struct alert *out);

/* --- what was told -------------------------------------------------------------------------------
 */

struct alert_book {
	struct alert **v; /* by number */
	size_t n, cap;
	struct map last; /* the last one of each kind, line, period and amount */
};

void alert_book_init(struct alert_book *b);
void alert_book_fini(struct alert_book *b);
/* Was it told, or a higher percent of the same? */
bool alert_book_has(const struct alert_book *b, const struct alert *a);
/* Add a copy; its number is above all others. */
void alert_book_add(struct alert_book *b, const struct alert *a);
const struct alert *alert_book_find(const struct alert_book *b, int64_t seq); /* or NULL */
void alert_book_drop(struct alert_book *b, int64_t seq);

/* --- messages ------------------------------------------------------------------------------------
 */

enum alert_state { ALERT_PENDING, ALERT_DELIVERED, ALERT_FAILED, ALERT_NSTATES };

struct alert_message {
	int64_t seq;
	char to[PROVIDER_WORD_MAX + 1]; /* name of the receiver */
	enum alert_state state;
	uint32_t attempts;
	int64_t made_ms;
	int64_t tried_ms; /* the end of the last attempt; 0: none */
	int64_t next_ms;  /* PENDING: not before; not in the journal */
	char error[ALERT_ERROR_MAX +
		   1];   /* of the last attempt; "": it was taken, or there is none */
	int64_t *alerts; /* their numbers, increasing */
	size_t n;
};

const char *alert_state_str(enum alert_state s); /* "pending", "delivered", "failed" */
int alert_state_parse(const char *word);         /* -1: there is no such state */
/* Free what it holds; it is zero then. */
void alert_message_fini(struct alert_message *m);

/* How long to wait after so many failures in a row: ALERT_RETRY_MS, doubling up to
 * ALERT_RETRY_MAX_MS, and up to a quarter more, by dice. */
int64_t alert_retry_ms(uint32_t failures, uint64_t dice);

struct alert_outcome { /* of an attempt */
	bool taken;
	bool final;       /* not taken, and never will be */
	int64_t later_ms; /* the receiver wants to be left alone for so long; 0: it says nothing */
	const char *error;
};
/* An attempt ended: move the message to its next state.  It is given up once the next attempt would
 * be later than ALERT_TRY_MS after it was made. */
void alert_message_tried(struct alert_message *m, const struct alert_outcome *o, int64_t now_ms,
			 uint64_t dice);

#endif
