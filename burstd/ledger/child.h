/* child.h - runs a program to its end, without a shell, with a deadline and a limit on what it
 * prints.  It blocks: for programs that have nothing else to do meanwhile. */
#ifndef BURSTD_LEDGER_CHILD_H
#define BURSTD_LEDGER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { CHILD_ERRORS_MAX = 1024 /* bytes kept of standard error */ };

struct child_call {
	const char *const *argv; /* argv[0]: absolute path; NULL-terminated */
	const char *const *envp; /* the complete environment; NULL-terminated */
	int64_t timeout_ms;      /* then it and its children are killed */
	bool (*stops)(void);     /* asked all the time: true: they are killed; NULL: never */
};

/* Append what it prints to *out, whose maximum is the limit, and the begin of what it complains to
 * *errors.  0: it has ended; *status: its exit status, or 128 + signal.  -1: it was not started
 * (ERR_NOTSENT), it was killed at its deadline (ERR_NET), it printed too much (ERR_LIMIT), or
 * somebody wants to stop (ERR_CANCELLED). */
int child_run(const struct child_call *call, struct str *out, struct str *errors, int *status,
	      struct err *e);

#endif
