/* child.h - a command of the admin's: started without a shell, with a deadline, little of what it
 * prints.
 *
 * Words are parted by blanks; who needs quotes or pipes writes a script.  Its environment is a
 * PATH, LC_ALL and, where we have it, SLURM_CONF; its standard error is ours. */
#ifndef AGENT_CHILD_H
#define AGENT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	CHILD_OUT_MAX = 4096,  /* bytes kept; what comes behind them is read and forgotten */
	CHILD_WORDS_MAX = 320, /* arguments: the jobs of a node are some of them */
};

struct child;
struct poller;

struct child_vars { /* what %j and %n stand for; a word "%j" becomes one word for each job */
	const char *node;
	const uint32_t *jobs;
	size_t njobs;
};

struct child_end {
	int status; /* 128 + signal when one ended it; -1: out of time, and e says so */
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

/* *out is set NULL when it has ended, just before done is told (never from here).  -1: *e. */
int child_start(struct child **out, struct poller *p, const struct child_call *call, struct err *e);
/* End it without telling; NULL is fine. */
void child_kill(struct child *c);
/* Let it run to its end by itself, and forget it. */
void child_leave(struct child *c);

#endif
