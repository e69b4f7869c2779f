/* hook_lab.h - runs the real burst-hook in namespaces of its own, and reads the calls it leaves.
 *
 * The hook's paths are compiled in, so the test process gives itself a mount namespace (and a user
 * namespace when it is not root) with tmpfs on /run, /var/spool, /etc and /dev.  The hook is found
 * beside the build, or by BURST_HOOK=DIRECTORY.  Everything asserts: a function returns only when
 * all went well. */
#ifndef HOOK_LAB_H
#define HOOK_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/call.h"
#include "base/paths.h"
#include "base/str.h"

/* A hook with sanitizers is judged by other tests than those of time, beside all else. */
#ifdef __SANITIZE_ADDRESS__
enum { LAB_PATIENCE = 10 };
#else
enum { LAB_PATIENCE = 1 };
#endif

enum {
	LAB_MIB = 1 << 20,
	LAB_LIMIT_MS = 2000,  /* the hook's promise */
	LAB_GUARD_MS = 10000, /* so long after its limit the test kills a hook that hangs */
	LAB_NO_TRACE = 99,    /* exit code: ptrace is not permitted */
	LAB_NAME = 256,
	LAB_NAMES_MAX = 64, /* files in the spool */
};

/* Call first in main().  False: end with *status; a skip line or stderr has the reason. */
bool lab_enter(int *status);

struct lab_opts {
	const char *name, *list, *file; /* file: SLURM_RESUME_FILE */
	bool closed_fds, hostile_signals, traced;
	bool full_stderr;  /* standard error is a full pipe that nobody reads */
	bool lone_stderr;  /* standard error is a pipe without a reader */
	char *const *env;  /* the whole environment, in place of SLURM_RESUME_FILE */
	unsigned limit_ms; /* 0: LAB_LIMIT_MS; LAB_PATIENCE times that */
};

struct lab_proc {
	pid_t pid;
	int out, err;
	int64_t started;
	unsigned limit_ms;
};

struct lab_result {
	int code; /* exit code, or minus the signal */
	int64_t ms;
	char out[4096], err[4096];
};

void lab_start(struct lab_proc *p, const struct lab_opts *o);
/* Wait for the hook; it must write nothing to stdout and keep its limit. */
void lab_finish(struct lab_proc *p, struct lab_result *r);
/* The same, for a hook that waitpid() has already reported with this status. */
void lab_finish_ended(struct lab_proc *p, int status, struct lab_result *r);
struct lab_result lab_run(const struct lab_opts *o);

/* --- the spool --- */

struct lab_call { /* a file of the spool */
	char name[LAB_NAME];
	struct str bytes;
	struct call_end end; /* if whole */
	bool whole;
};

int lab_spool_names(char names[][LAB_NAME], int max); /* sorted; unfinished ones, too */
void lab_call_read(struct lab_call *c, const char *name);
/* Read the only file in the spool, which must be a whole call under a final name, and delete it. */
void lab_call_take(struct lab_call *c);
void lab_call_fini(struct lab_call *c);
void lab_assert_list(const struct lab_call *c, const char *list);
/* The resume file in the call has this state and the first len bytes of lab_memfd_of(). */
void lab_assert_file(const struct lab_call *c, enum call_file state, size_t len);
void lab_spool_clear(void);
void lab_assert_spool_empty(void);

/* --- syslog --- */

int lab_log_listen(void);
void lab_log_close(int fd);
const char *lab_log_next(int fd); /* the next line to syslog, or ""; static */
/* The hook told syslog and stderr the same single line, which contains why. */
void lab_assert_complaint(int log, const struct lab_result *r, const char *why);

/* --- burstd, for burst-prolog --- */

struct lab_answer {
	const char *text;
	char type;  /* 0: 'J' */
	size_t len; /* length in the header; 0: that of text */
};

int lab_server_listen(int backlog);
void lab_server_close(int fd);
int lab_server_accept(int lfd);
void lab_server_answer(int fd, const struct lab_answer *a);

int64_t lab_now_ms(clockid_t id);
void lab_slurp(int fd, char *to, size_t size); /* read to the end, as text; closes fd */
/* A file of this size as slurmctld gives it: a memfd, named through /proc.  The byte at k is
 * 'a' + k % 4096 % 23. */
int lab_memfd_of(size_t size, char path[64]);

#endif
