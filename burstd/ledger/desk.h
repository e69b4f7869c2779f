/* desk.h - answers on a socket what people ask of the ledger who may not read its file.
 *
 * Admins and finance see all of it, everybody else what their own jobs cost: the kernel says which
 * user asks, and the host's list of users by which name Slurm knows that one.  The desk is a
 * process beside the one that makes the passes, and starts one more for each question (answer.c),
 * with limits of time and memory: a report that takes long keeps neither passes nor other people
 * waiting, and a pass keeps nobody from a report.  Of one user one question is answered at a time,
 * and who asked least lately is next. */
#ifndef BURSTD_LEDGER_DESK_H
#define BURSTD_LEDGER_DESK_H

#include "base/err.h"
#include "base/log.h"
#include "core/conf.h"
#include "io/ctl_server.h"

enum {
	DESK_WORKERS = 2,             /* questions that are answered at a time */
	DESK_EACH_MAX = 8,            /* questions of one user that wait */
	DESK_WORK_MS = 45000,         /* one answer */
	DESK_HOLD_MS = 60000,         /* ... with the time that it waits */
	DESK_QUESTION_MAX = 4096,     /* bytes; real ones have 200 */
	DESK_ANSWER_MAX = 1000 << 10, /* bytes; less than CTL_REPLY_MAX */
	DESK_LOOK_MS = 60000,         /* how soon a new list of admins or groups counts */
};

struct desk_opts {
	const char *socket, *ledger, *config; /* paths; config: burstd.conf, for who may see all */
	const struct conf_people *people;     /* as it is now */
	const char *program;       /* what answers, by "answer --ledger FILE"; NULL: this program */
	const char *getent;        /* NULL: the system's */
	uint32_t work_ms, look_ms; /* 0: as above */
	struct log *log;
};

/* Serve until SIGTERM or SIGINT; prints a line once it can be asked.  -1: the socket cannot be had,
 * *e. */
int desk_run(const struct desk_opts *o, struct err *e);

#endif
