/* conf_alert.h - a section alert of burstd.conf: where burstd sends a message when a budget passes
 * one of its limits.
 *
 * It holds no secret: keys, passwords and Slack's URL are in files that it names, which are read
 * again before each message.  A reload may change these sections in any way, so one is known by its
 * name. */
#ifndef BURSTD_CONF_ALERT_H
#define BURSTD_CONF_ALERT_H

#include <stdbool.h>

#include "base/err.h"

enum {
	CONF_ALERTS_MAX = 16,   /* each message is written for each of them */
	CONF_ALERT_TO_MAX = 32, /* addresses of one mail */
	CONF_MAIL_MAX = 254,    /* bytes of an address: RFC 5321 */
	CONF_ALERT_OPTIONS_MAX = 16,
	CONF_ALERT_KEY_MIN = 16, /* bytes of the key in secret_file */
};

enum conf_alert_kind {
	CONF_ALERT_WEBHOOK, /* JSON by POST, signed with the key in secret_file */
	CONF_ALERT_SLACK,   /* JSON as Slack's incoming webhooks take it */
	CONF_ALERT_SMTP,    /* a mail */
};

struct conf_alert {
	char *name;
	int kind;            /* enum conf_alert_kind */
	char *url;           /* ""; https, or http to loopback; a mail's: smtp or smtps */
	char *url_file;      /* with the URL, where that is a secret; NULL: none */
	char *secret_file;   /* NULL: none */
	char *ca_file;       /* NULL: the system's */
	char *from;          /* "": none */
	char **to;           /* NULL-terminated; NULL: nobody */
	char *user;          /* "": no login */
	char *password_file; /* NULL: none */
	char **budgets;      /* names, NULL-terminated; NULL: all */
	int line;            /* in the file, where its section ends ... */
	int lines[CONF_ALERT_OPTIONS_MAX]; /* ... and its options, as in struct conf_budget */
};

struct conf;
struct conf_option;

const struct conf_alert *conf_alert_named(const struct conf *c, const char *name); /* or NULL */
/* "webhook", "slack" or "smtp". */
const char *conf_alert_kind_str(enum conf_alert_kind k);
/* Is it told about this budget? */
bool conf_alert_is_for(const struct conf_alert *a, const char *budget);
/* Does the option mean anything for its kind?  conf_print() leaves others out. */
bool conf_alert_takes(const struct conf_alert *a, const struct conf_option *o);
bool conf_alert_needs(const struct conf_alert *a, const struct conf_option *o);
/* May a message of this kind go to that URL?  -1: *e says why not, and never quotes it, for it may
 * be a secret. */
int conf_alert_check_url(enum conf_alert_kind k, const char *url, struct err *e);
/* The line of that option, or else of the section; 0: it was not read from a file. */
int conf_alert_line(const struct conf_alert *a, const char *option);
/* Is the server of this URL on this host?  Then it needs no TLS. */
bool conf_alert_is_near(const char *url);

/* A step of conf_finish(), once its budgets are known: check each.  conf_alert_check.c. */
int conf_alerts_finish(struct conf *c, struct err *e);

#endif
