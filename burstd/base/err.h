/* err.h - one error object, passed by pointer, filled where the error is seen. */
#ifndef BURSTD_ERR_H
#define BURSTD_ERR_H

struct err {
	int code;      /* enum err_code; 0 when unset */
	char msg[256]; /* one line, control bytes replaced, cut to fit, always NUL-terminated */
};

/* ERR_NOTSENT: the request never left us, so nothing can have happened (ERR_NET: it may have).
 * ERR_DAMAGED: the journal is not as it was written.
 * ERR_TIME: it would be right at another time: perhaps a clock is wrong.
 * There is no code for lack of memory: mem.h ends the process. */
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

/* What a call of the system on a file that is ours failed as: ERR_AUTH where a person must see to
 * owners, modes or links; ERR_IO: at another time it may do. */
enum err_code err_of_errno(int errnum);

/* Put "prefix: " (at most 119 bytes of prefix) in front of the message already in *e, keep its
 * code; return -1. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
