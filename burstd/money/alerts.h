/* alerts.h - alerts about budgets while burstd runs: what was told, what waits to be sent, and to
 * whom; only alerts*.c include it.
 *
 * alerts.c looks at budgets every ALERTS_LOOK_MS and writes what is new, with its messages, in one
 * transaction.  alerts_send.c sends messages that are durable, one at a time to each receiver, and
 * writes what became of each.  So a message is sent at least once, and one that a crash may have
 * sent twice has the same id. */
#ifndef BURSTD_MONEY_ALERTS_H
#define BURSTD_MONEY_ALERTS_H

#include "core/alert.h"
#include "core/alert_text.h"
#include "money/money.h"

enum {
	ALERTS_LOOK_MS = 15000, /* between two looks at all budgets */
	ALERTS_NEW_MAX =
		1000,      /* alerts of one look: one transaction; the others wait for the next */
	ALERTS_SINGLE = 4, /* alerts of one look that have a message each; more share one */
	ALERTS_PACE_MS = 3000,   /* between two messages to one receiver: 20 a minute */
	ALERTS_FORGET_MAX = 200, /* rows that one look forgets */
	ALERTS_HTTP_MS = 15000,  /* of one request */
	ALERTS_REPLY_MAX = 1 << 18,
	ALERTS_FAILED_MS = 7 * 86400000, /* a message that was given up is a problem for so long */
};

struct alert_wire; /* an attempt under way */

struct alert_receiver { /* a section alert; by its name, over reloads */
	char name[PROVIDER_WORD_MAX + 1];
	uint32_t failures;               /* in a row */
	int64_t next_ms;                 /* nothing is sent before */
	int64_t due_ms;                  /* when the next message is to be sent; INT64_MAX: never */
	int64_t ok_ms, failed_ms;        /* the last message that was taken, and that was not */
	char error[ALERT_ERROR_MAX + 1]; /* of the last attempt; "": it was taken */
	struct alert_wire *wire;         /* NULL: none */
	enum alert_test test;
	int64_t test_ms; /* its end */
	char test_error[ALERT_ERROR_MAX + 1];
};

struct alerts {
	struct alert_book book;
	struct alert_message **messages; /* by number */
	size_t nmessages, cap;
	int64_t last_alert, last_message; /* numbers */
	struct alert_receiver *receivers[CONF_ALERTS_MAX];
	size_t nreceivers;
	int64_t look_ms, forget_ms;          /* the next look at budgets, and at what is old */
	bool full;                           /* the last look found more than is kept */
	bool unsaved;                        /* a turn is needed, to write the end of an attempt */
	uint64_t made, ended[ALERT_NSTATES]; /* messages since burstd started */
};

/* --- alerts.c --- */
struct alert_message *alerts_message(const struct alerts *a, int64_t seq); /* or NULL */
/* When is the next message to this receiver due?  After any change of what that depends on. */
void alerts_reckon(struct engine *e, struct alert_receiver *r);

/* --- alerts_send.c --- */
void alerts_send(struct engine *e); /* what is due */
void alerts_cancel(struct alert_receiver *r);

#endif
