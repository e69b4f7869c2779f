/* redact.h - what looks like a secret, wherever in a text it stands: the last net, for words that
 * others wrote (a server's error that quotes what it was sent) under a name that says nothing.
 *
 * Tokens of Vault and OpenBao, and 64 hex digits or more, as a claim's secret is.  Not the place in
 * the audit chain, 4711:9f86..., which is to be in the log. */
#ifndef BURSTD_REDACT_H
#define BURSTD_REDACT_H

/* A copy with [redacted] in their place, the caller's; NULL: there are none. */
char *redact(const char *text);

#endif
