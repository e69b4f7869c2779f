/* alert_text.h - messages about budgets, as each kind of receiver takes them.
 *
 * A message says what has happened, the figures, what happens next, whom to ask and where to look.
 * It is the same text each time that it is tried, as long as the configuration is: what only
 * belongs to an attempt is in headers.  A name of Slurm's may hold any bytes: in JSON and mail
 * what is not UTF-8 is replaced, and in the head of a mail all that is not ASCII. */
#ifndef BURSTD_ALERT_TEXT_H
#define BURSTD_ALERT_TEXT_H

#include "base/str.h"
#include "core/alert.h"
#include "core/conf_alert.h"

enum {
	ALERT_TEXT_MAX =
		1 << 21, /* bytes of a message: 1,000 alerts in JSON, all names as long as can be */
	ALERT_LINES_MAX = 20, /* alerts that a text for people lists; JSON has all */
	ALERT_SUBJECT_MAX = 240,
	ALERT_ID_SIZE = 128,
};

struct alert_mailing {  /* borrowed */
	const char *id; /* the same for each attempt, and of no other message */
	const char *cluster, *uuid, *currency;
	int64_t wall_ms; /* when it was made, by the wall clock */
	bool test;       /* it carries no alert, and says so */
	const struct alert *const *alerts;
	size_t n;
	const struct conf *conf;                /* what happens next, and whom to ask */
	int64_t (*wall)(void *ctx, int64_t ms); /* the wall clock at one of the engine's times */
	void *ctx;
};

/* "UUID.MADE.SEQ": fit for a header, and for a Message-ID. */
void alert_id(char out[ALERT_ID_SIZE], const char *uuid, int64_t made_ms, int64_t seq);
/* One line of printable ASCII: "hpc: budget physics: 80 % of 500.00 EUR are used up". */
void alert_subject(const struct alert_mailing *m, char out[ALERT_SUBJECT_MAX + 1]);
/* Lines for people, each ended by a line feed. */
void alert_text(const struct alert_mailing *m, struct str *out);
/* The bodies.  webhook: an object with all alerts; slack: {"text":"..."}. */
void alert_webhook(const struct alert_mailing *m, struct str *out);
void alert_slack(const struct alert_mailing *m, struct str *out);
/* A whole mail, in lines that end with CR LF and have at most 998 bytes; none begins with a dot. */
void alert_mail(const struct alert_mailing *m, const struct conf_alert *to, struct str *out);

#endif
