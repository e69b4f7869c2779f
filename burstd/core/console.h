/* console.h - the console log of a machine, made safe to keep and to show.
 *
 * The text is the machine's own: it may be of any bytes, and a script may have printed a secret
 * that the machine was given. */
#ifndef BURSTD_CONSOLE_H
#define BURSTD_CONSOLE_H

#include <stddef.h>

enum { CONSOLE_SHOWN_MAX = 4096 }; /* bytes of the last lines that are kept */

/* For drivers: the end of a log as in provider_result.console, '?' for each NUL; the caller's
 * (secret_wipe()).  NULL: the log is empty. */
char *console_end(const char *log, size_t len);

/* The last whole lines of a log of console_end(), at most CONSOLE_SHOWN_MAX bytes; the caller's
 * (free()).  NULL: nothing is left.  Lines end with a newline and are not empty; their characters
 * may be shown (base/plain.h); sequences that control a terminal are left out.  "[redacted]" stands
 * for what looks like a secret: what redact.h finds, words of 32 or more characters that look like
 * base64, 40 or more hex digits, and the rest of a line behind `password=`, `token:` and the
 * like. */
char *console_show(const char *log);

#endif
