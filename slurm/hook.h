/* hook.h - what the programs that slurmctld starts have in common.
 *
 * They are one binary under several names.  Nothing here allocates, and nothing waits without a
 * deadline. */
#ifndef BURST_HOOK_H
#define BURST_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

int64_t hook_now_ns(clockid_t id);

/* What slurmctld left us (slurm.md section 1) is nothing to rely on: descriptors 0-2 are open then,
 * signals do what they do by default and none is blocked, but SIGPIPE is ignored. */
void hook_reset_process(void);

/* One line to syslog and to standard error, without ever waiting; safe in a signal handler. */
void hook_complain(const char *text);

struct hook_conn { /* to burstd */
	int fd;
	int64_t deadline; /* by hook_now_ns(CLOCK_MONOTONIC) */
};

/* A full backlog is tried again until the deadline; with `patient` a burstd that does not listen,
 * too, for it may be starting.  -1: c->fd may be open and is to be closed. */
int hook_connect(struct hook_conn *c, bool patient);
void hook_close(struct hook_conn *c);

enum hook_rc {
	HOOK_OK,
	HOOK_LOST,   /* the other end is gone */
	HOOK_FAILED, /* the deadline has passed, or what came is no answer */
};
enum hook_rc hook_send(const struct hook_conn *c, const void *data, size_t len);

enum { HOOK_ANSWER_MAX = 4096 }; /* bytes; it is about thirty */
/* burstd's answer, one whole frame, NUL-terminated; HOOK_OK only if it begins {"ok":true. */
enum hook_rc hook_read_answer(const struct hook_conn *c, char answer[HOOK_ANSWER_MAX + 1]);

/* burst-prolog.c: the exit code. */
int burst_prolog(char **argv);

#endif
