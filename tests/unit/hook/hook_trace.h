/* hook_trace.h - follows burst-hook from system call to system call, by ptrace.
 *
 * A hook that is let go runs on untraced; the lab's lab_finish() waits for it.  Changing registers
 * needs x86-64, and so do all tests that use this. */
#ifndef HOOK_TRACE_H
#define HOOK_TRACE_H

#include "tests/unit/hook/hook_lab.h"

#ifdef __x86_64__

struct trace {
	struct lab_proc p;
	bool entry, ended; /* stopped at the entry (else the exit) of nr; the hook has ended */
	long nr, arg[3], result;
	int status; /* as waitpid() gave it */
};

/* Start a hook and stop it before its first system call.  False: ptrace is not permitted. */
bool trace_start(struct trace *t, struct lab_opts o);
/* Run to the next entry or exit of a system call.  False: the hook has ended. */
bool trace_next(struct trace *t);
/* Run to the nth entry of nr from here on; asserts that there is one. */
void trace_to(struct trace *t, long nr, int nth);
/* Likewise, to its exit. */
void trace_past(struct trace *t, long nr, int nth);
/* Start, and run past the hook's timer: calls before it belong to libc and sanitizer, not to the
 * hook. */
bool trace_start_timed(struct trace *t, struct lab_opts o);
/* The path of the hook's descriptor fd. */
void trace_fd(const struct trace *t, long fd, char path[LAB_NAME]);

/* At an entry: replace the call by nr, with this argument; -1: by none at all. */
void trace_replace(struct trace *t, long nr, int arg, long value);
/* At an exit: replace its result, as the kernel gives it. */
void trace_set_result(struct trace *t, long result);

/* Let it run untraced; a signal that was sent meanwhile is delivered first. */
void trace_let_go(struct trace *t);
/* Let it run to its end. */
void trace_finish(struct trace *t, struct lab_result *r);

#endif
#endif
