/* child.h - runs a command of the admin's, without a shell, with a deadline and a limit on its
 * output.
 *
 * Words are separated by blanks; quotes or pipes need a script.  The environment is PATH, LC_ALL
 * and, if the agent has it, SLURM_CONF; standard error is the agent's. */
#ifndef AGENT_CHILD_H
#define AGENT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	CHILD_OUT_MAX = 4096,  /* bytes of output that are kept; the rest is dropped */
	CHILD_WORDS_MAX = 320, /* arguments, including a node's jobs */
};

struct child;
struct poller;

struct child_vars { /* values of %j and %n; a word "%j" becomes one word for each job */
	const char *node;
	const uint32_t *jobs;
	size_t njobs;
};

struct child_end {
	int status; /* or 128 + signal; -1: it timed out, see e */
	char out[CHILD_OUT_MAX + 1];
	size_t len;
	struct err e;
};

typedef void (*child_done_fn)(void *ctx, const struct child_end *end);

struct child_call {
	const char *command;
	struct child_vars vars;
	int64_t timeout_ms;
	child_done_fn done;
	void *ctx;
};

/* Start a command.  When it has ended *out is set to NULL and done is called, never from here.  One
 * that is out of time and cannot be killed, since it waits in the kernel, has done called with -1
 * while it still runs: *out is set to NULL when it ends, and done is not called again.  -1: *e. */
int child_start(struct child **out, struct poller *p, const struct child_call *call, struct err *e);
/* Kill it, without calling done, and wait for its end, a second at most; NULL is fine. */
void child_kill(struct child *c);
/* Let it run on by itself, without calling done. */
void child_leave(struct child *c);

#endif
