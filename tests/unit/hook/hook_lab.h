/* hook_lab.h - runs the real burst-hook against a scripted server, in a world of its own.
 *
 * Its paths are compiled in, so the test process gives itself a mount namespace (and a user
 * namespace when it is not root) with tmpfs on /run, /var/spool, /etc and /dev.  The hook is found
 * beside the build, or by BURST_HOOK=DIRECTORY.  Everything asserts: a function returns only when
 * all went well. */
#ifndef HOOK_LAB_H
#define HOOK_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/frame.h"
#include "base/paths.h"
#include "base/str.h"

enum {
	LAB_MIB = 1 << 20,
	LAB_LIMIT_MS = 2000,  /* the promise */
	LAB_GUARD_MS = 10000, /* a hook that hangs is killed by the test, so long after its limit */
	LAB_BYTES_MAX = 64 << 20, /* of one recorded call */
	LAB_NAMES_MAX = 64,       /* files in the spool */
};

/* Call first in main().  False: end with *status; a skip line has said why, or stderr. */
bool lab_enter(int *status);

struct lab_opts {
	const char *name, *list, *file; /* file: SLURM_RESUME_FILE */
	bool closed_fds, hostile_signals, traced;
	bool full_stderr;  /* a pipe that nobody reads */
	bool lone_stderr;  /* a pipe that nobody can read any more */
	char *const *env;  /* all of it, in place of SLURM_RESUME_FILE */
	unsigned limit_ms; /* 0: LAB_LIMIT_MS */
};

struct lab_proc {
	pid_t pid;
	int out, err;
	int64_t started;
	unsigned limit_ms;
};

struct lab_result {
	int code; /* of exit, or minus the signal */
	int64_t ms;
	char out[4096], err[4096];
};

void lab_start(struct lab_proc *p, const struct lab_opts *o);
/* Nothing on stdout, no longer than the promise. */
void lab_finish(struct lab_proc *p, struct lab_result *r);
struct lab_result lab_run(const struct lab_opts *o);

/* A call as it arrived; order: the types of its frames, repeats once. */
struct lab_seen {
	struct str head, list, file, order, bytes;
	char end[64];
	bool done;
	struct frame_reader reader;
};

void lab_seen_init(struct lab_seen *s);
void lab_seen_fini(struct lab_seen *s);
void lab_assert_head(const struct lab_seen *s, const char *kind, const char *file);

int lab_spool_names(char names[][256], int max); /* sorted, unfinished ones too */
void lab_spool_read(const char *name, struct lab_seen *s);
void lab_spool_clear(void);
/* Exactly one whole call is in the spool, and it is the bytes of *want where those are whole. */
void lab_assert_spooled(const struct lab_seen *want);
void lab_assert_not_spooled(void);

enum lab_behaviour {
	LAB_ANSWER,
	LAB_ANSWER_SLOWLY,
	LAB_SILENT,
	LAB_CLOSE_AT_ONCE,
	LAB_CLOSE_MIDWAY,
	LAB_TRICKLE,
	LAB_NO_ACCEPT
};

struct lab_answer {
	enum lab_behaviour how;
	const char *text;
	char type;  /* 0: 'J' */
	size_t len; /* what the header says; 0: as long as text is */
};

extern const struct lab_answer lab_ack;

int lab_server_listen(int backlog);
void lab_server_close(int fd);
int lab_server_accept(int lfd);
/* Reads until the call is complete, the hook is gone, or max bytes. */
void lab_server_read(int fd, struct lab_seen *s, size_t max);
void lab_server_answer(int fd, const struct lab_answer *a);
void lab_serve(int lfd, const struct lab_answer *a, struct lab_seen *s);
/* A server, a run of the hook; what the server saw is in *s. */
struct lab_result lab_run_served(const struct lab_opts *o, const struct lab_answer *a,
				 struct lab_seen *s);

int64_t lab_now_ms(void);
void lab_slurp(int fd, char *to, size_t size); /* to the end, as text; closes */
/* A file of this size as slurmctld gives it: a memfd, named through /proc.  The byte at k is
 * 'a' + k % 4096 % 23. */
int lab_memfd_of(size_t size, char path[64]);

#endif
