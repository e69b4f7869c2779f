/* err.h - one error object, passed by pointer, set where the error occurs. */
#ifndef BURSTD_ERR_H
#define BURSTD_ERR_H

struct err {
	int code;      /* enum err_code; 0 when unset */
	char msg[256]; /* one line, control bytes replaced, cut to fit, always NUL-terminated */
};

/* ERR_NOTSENT: the request was not sent, so it had no effect (ERR_NET: it may have had).
 * ERR_DAMAGED: the journal is damaged.
 * ERR_TIME: it would be right at another time; perhaps a clock is wrong.
 * Lack of memory has no code: mem.h ends the process. */
enum err_code {
	ERR_NONE,
	ERR_INVALID,
	ERR_DAMAGED,
	ERR_IO,
	ERR_NET,
	ERR_NOTSENT,
	ERR_CANCELLED,
	ERR_LIMIT,
	ERR_AUTH,
	ERR_TIME
};

/* Set *e (which may be NULL) and return -1, so that callers can write
 * `return err_set(e, ERR_IO, "open %s: %s", path, strerror(errno));`.  e->msg may be an argument.
 */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The code for a failed system call on a file of burstd's: ERR_AUTH: an admin must fix owner, mode
 * or a link; ERR_IO: another try may succeed. */
enum err_code err_of_errno(int errnum);

/* Put "prefix: " (at most 119 bytes of prefix) in front of the message in *e, and keep its code;
 * return -1. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
