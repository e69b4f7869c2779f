/* proc.h - runs a program, without a shell, with a deadline and a limit on its output.
 *
 * Each program leads its own session, so that stopping it stops its children, too.  Its output goes
 * to memory files, which are read once, when it has exited: a process that it left behind cannot
 * add to it. */
#ifndef BURSTD_PROC_H
#define BURSTD_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct proc; /* the children of one loop */

enum {
	PROC_MAX = 64,          /* at a time; each costs three descriptors and a process */
	PROC_ERRORS_MAX = 1024, /* bytes kept of standard error */
};

struct proc_call {               /* borrowed during proc_run() only */
	const char *const *argv; /* argv[0]: absolute path; NULL-terminated */
	const char *const *envp; /* the complete environment; NULL-terminated */
	const char *input;       /* standard input, or NULL for /dev/null */
	size_t input_len;
	uint32_t timeout_ms; /* then SIGTERM, one second later SIGKILL; not 0 */
	size_t max_out;      /* more output is an error, and ends it within 100 ms */
};

struct proc_reply {      /* borrowed during the callback only */
	int status;      /* exit status, or 128 + signal */
	const char *out; /* NUL-terminated */
	size_t len;
	const char *errors; /* first 1 KiB of standard error, NUL-terminated */
	bool *kept;         /* set by the callback to keep out: free it by proc_drop() */
};

/* Called exactly once for each proc_run() that returned 0, never from inside it.  e is set, and r
 * NULL, if the program was stopped at its deadline (ERR_NET: it may have had its effect), wrote too
 * much (ERR_LIMIT; also more than 16 MiB of standard error), was cancelled by proc_close()
 * (ERR_CANCELLED, from inside that), or its output cannot be mapped (ERR_IO). */
typedef void (*proc_done_fn)(void *ctx, const struct proc_reply *r, const struct err *e);

struct proc *proc_new(struct loop *l);
/* -1: ERR_NOTSENT, it was not started; done will not be called. */
int proc_run(struct proc *p, const struct proc_call *call, proc_done_fn done, void *ctx,
	     struct err *e);
/* Free the out of a reply that was kept, also after proc_close(). */
void proc_drop(const char *out, size_t len);
/* Kill and reap every child, calling back with ERR_CANCELLED; frees *p from the loop, which runs
 * for at most a second more for a child that sleeps in the kernel. */
void proc_close(struct proc *p);

#endif
