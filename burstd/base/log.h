/* log.h - one event, one line: `2026-01-02T03:04:05.678Z info msg="node created" node=h100-1`.
 *
 * Values are quoted when they need it; all bytes but printable ASCII are escaped as \xNN, so that a
 * line is always one line and cannot steer a terminal.  A line ends at 4096 bytes, the newline
 * included; what is cut ends in "...".  Only the log redacts: the value of a key that names a
 * secret (in upper or lower case) is never shown, and text that looks like a secret (redact.h) is
 * cut out anywhere. */
#ifndef BURSTD_LOG_H
#define BURSTD_LOG_H

#include <stddef.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log;

/* Write lines of this level and above to fd, which is borrowed. */
struct log *log_new(int fd, enum log_level level);
void log_free(struct log *l); /* writes held lines first */
void log_set_level(struct log *l, enum log_level level);
/* "debug", "info", "warn", "error"; -1 for anything else. */
int log_level_parse(const char *name);

/* Key and value pairs follow (24 at most), ended by NULL; a NULL value prints as "-".  l may be
 * NULL: no log.  A line that cannot be written is lost. */
void log_write(struct log *l, enum log_level level, const char *msg, ...) __attribute__((sentinel));

/* Between these, lines are held and written together at the last release, so that ten thousand
 * events of one answer are not ten thousand system calls.  They nest.  Held lines are written at 64
 * KiB, and at a LOG_ERROR.  If the process is killed meanwhile they are lost.  l may be NULL. */
void log_hold(struct log *l);
void log_release(struct log *l);

/* The line log_write() would write, without the time and the newline, into out (always
 * NUL-terminated; size > 3, pairs end in NULL). */
void log_format(char *out, size_t size, enum log_level level, const char *msg,
		const char *const *pairs);

#endif
