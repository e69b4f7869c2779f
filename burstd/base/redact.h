/* redact.h - cuts out anything that looks like a secret, anywhere in a text: the last safety net,
 * for texts of others, such as a server's error that quotes a request.
 *
 * It finds tokens of Vault and OpenBao, and 64 or more hex digits, as in a claim's secret; but not
 * a place in the audit chain, 4711:9f86..., which the log must show. */
#ifndef BURSTD_REDACT_H
#define BURSTD_REDACT_H

/* A copy with [redacted] for each, the caller's; NULL: there are none. */
char *redact(const char *text);

#endif
