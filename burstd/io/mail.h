/* mail.h - sends a mail by SMTP, in a thread of its own.
 *
 * libcurl's SMTP waits for the server's last word inside one call, whatever interface is used: on
 * the loop a server that thinks about a mail would hold up hooks.  So each mail has a thread, which
 * shares nothing with the loop but its copy of the mail; callers limit their number. */
#ifndef BURSTD_MAIL_H
#define BURSTD_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct mail;

enum {
	MAIL_TIMEOUT_MS = 60000
}; /* for all of it: servers may look at a mail before they take it */

struct mail_call {                   /* borrowed during mail_send() only */
	const char *url;             /* smtp://HOST[:PORT] or smtps://HOST[:PORT] */
	const char *from;            /* the address that hears of what cannot be delivered */
	const char *const *to;       /* NULL-terminated */
	const char *user, *password; /* NULL: no login */
	const char *text;            /* with its head, in lines that end with CR LF */
	size_t len;
	const char *ca_file; /* PEM file to trust instead of the system's, or NULL */
	bool tls;            /* smtp://: STARTTLS or nothing; false: never */
	/* Until all is sent, and then again for the server's last word; not 0. */
	uint32_t timeout_ms;
};

/* e NULL: the server has taken the mail for all receivers. */
typedef void (*mail_fn)(void *ctx, const struct err *e);

/* Calls fn from the loop, once.  NULL: nothing is sent, *e says why, and fn is never called. */
struct mail *mail_send(struct loop *l, const struct mail_call *call, mail_fn fn, void *ctx,
		       struct err *e);
/* fn is not called.  The server may take the mail all the same: the thread ends by itself. */
void mail_cancel(struct mail *m);

#endif
