/* burst-prolog - PrologSlurmctld: ends when all nodes of the job are up.
 *
 * slurmctld starts a job's steps when its prolog ends and its nodes are up; without a prolog it
 * checks the nodes only every 30 seconds (slurm.md 2.4).  burstd knows when they are up; we ask it
 * and wait.
 *
 * A failure of burstd costs those 30 seconds and nothing else: a burstd that is away may be
 * restarting, so we try to reach it for as long as slurmctld would take to check by itself; then we
 * end with 0.  Any other status requeues the job, or cancels one of srun or salloc: so we end where
 * burstd says that no budget has money for it, as for one that starts on nodes that are up already;
 * and while burstd is away, or cannot tell whether there is, where it has left word that budgets
 * must hold then, too.
 *
 * A site's own PrologSlurmctld, PATHS_SITE_PROLOG, is run first, while the nodes boot, and its
 * status is ours.  slurmctld ends us by killing our process group, which includes the site's
 * prolog. */
#include "slurm/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/call.h"
#include "base/frame.h"
#include "base/paths.h"

enum {
	AWAY_MS = 30000,     /* slurmctld checks by itself as often; longer would delay the job */
	ANSWER_MS = 15000,   /* burstd answers within 10 s, if only to say: ask again */
	PAUSE_MS = 1000,     /* between two questions, if burstd answers sooner */
	TOTAL_MS = 3600000,  /* in all, unless burstd says less: it knows how long nodes may boot */
	LOST_MS = 100,       /* from a broken connection to the next */
	STATUS_UNPAID = 1,   /* any but 0 requeues a batch job, and ends one of srun or salloc */
	STATUS_SIGNAL = 128, /* plus the signal's number, as in a shell */
	HEAD_MAX = 96,       /* bytes before the node list; every field in it is bounded */
	JOB_DIGITS_MAX = 19,
};

/* --- the site's own ----------------------------------------------------------------------------
 */

static void complain_about_site(const char *what)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "%s is not run: %s", PATHS_SITE_PROLOG, what);
	hook_complain(text);
}

/* Is the site's prolog safe to run?  Whoever can write it can do all that slurmctld can. */
static bool is_sound(void)
{
	struct stat st;

	if (stat(PATHS_SITE_PROLOG, &st) != 0) {
		if (errno != ENOENT)
			complain_about_site(strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode))
		complain_about_site("not a regular file");
	else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		complain_about_site("writable by group or others");
	else if (st.st_uid != 0 && st.st_uid != geteuid())
		complain_about_site("owned by another user");
	else
		return true;
	return false;
}

static _Noreturn void become_site(char **argv, pid_t parent, int report)
{
	static char path[] = PATHS_SITE_PROLOG;
	int why;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* in case only the parent is killed */
	if (getppid() != parent)
		_exit(0);
	(void)signal(SIGPIPE, SIG_DFL);
	argv[0] = path;
	(void)execv(path, argv);
	why = errno;
	_exit(write(report, &why, sizeof(why)) < 0);
}

/* Run the site's prolog; returns its status, or 0 if there is none, or it cannot be run. */
static int run_site(char **argv)
{
	int report[2], status = 0, why;
	pid_t self = getpid(), pid;

	if (!is_sound())
		return 0;
	if (pipe2(report, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
		complain_about_site(strerror(errno));
		return 0;
	}
	if (pid == 0)
		become_site(argv, self, report[1]);
	(void)close(report[1]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (read(report[0], &why, sizeof(why)) == sizeof(why)) {
		complain_about_site(strerror(why));
		status = 0;
	}
	(void)close(report[0]);
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* --- the gate ----------------------------------------------------------------------------------
 */

struct question {
	char head[HEAD_MAX];
	const char *nodes;
};

static bool is_number(const char *s)
{
	const size_t n = strspn(s, "0123456789");

	return n > 0 && n <= JOB_DIGITS_MAX && s[n] == '\0';
}

/* Has the node list nothing that JSON would have to escape? */
static bool is_plain(const char *s)
{
	for (; *s != '\0'; s++)
		if (*s <= ' ' || *s > '~' || *s == '"' || *s == '\\')
			return false;
	return true;
}

static int make_question(struct question *q)
{
	const char *job = getenv("SLURM_JOB_ID");

	q->nodes = getenv("SLURM_JOB_NODELIST");
	if (job == NULL || q->nodes == NULL || !is_number(job) || !is_plain(q->nodes) ||
	    strlen(q->nodes) > CALL_LIST_MAX) {
		hook_complain(
			"burst-prolog: SLURM_JOB_ID or SLURM_JOB_NODELIST is missing or malformed");
		return -1;
	}
	(void)snprintf(q->head, sizeof(q->head), "{\"v\":1,\"op\":\"gate\",\"job\":%s,\"nodes\":\"",
		       job);
	return 0;
}

static int64_t from_now(int64_t ms)
{
	return hook_now_ns(CLOCK_MONOTONIC) + ms * 1000000;
}

/* Ask burstd once.  HOOK_LOST: burstd went away meanwhile.  away: until when burstd may be away.
 * *reached: it has the question. */
static enum hook_rc ask(const struct question *q, int64_t away, int64_t deadline, char *answer,
			bool *reached)
{
	static const char tail[] = "\"}";
	unsigned char frame[FRAME_HEADER];
	const char *const parts[] = {q->head, q->nodes, tail};
	struct hook_conn c = {.deadline = away < deadline ? away : deadline};
	enum hook_rc rc = HOOK_FAILED;

	frame_header(frame, (uint32_t)(strlen(q->head) + strlen(q->nodes) + strlen(tail)));
	*reached = hook_connect(&c, true) == 0;
	if (!*reached)
		goto out;
	c.deadline = from_now(ANSWER_MS);
	if (deadline < c.deadline)
		c.deadline = deadline;
	rc = hook_send(&c, frame, sizeof(frame));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && rc == HOOK_OK; i++)
		rc = hook_send(&c, parts[i], strlen(parts[i]));
	if (rc == HOOK_OK)
		rc = hook_read_answer(&c, answer);
out:
	hook_close(&c);
	return rc;
}

/* How long burstd says that we may wait, from our start. */
static int64_t limit_ms(const char *answer)
{
	static const char key[] = "\"deadline_ms\":";
	const char *at = strstr(answer, key);
	const long long ms = at != NULL ? strtoll(at + sizeof(key) - 1, NULL, 10) : 0;

	return ms > 0 && ms < TOTAL_MS ? ms : TOTAL_MS;
}

static void pause_until(int64_t when)
{
	int64_t left = when - hook_now_ns(CLOCK_MONOTONIC);

	if (left > 0)
		(void)poll(NULL, 0, (int)(left / 1000000) + 1);
}

/* Wait at the gate. */
enum gate_end {
	GATE_OVER,   /* and this says no more */
	GATE_UNPAID, /* there is no money for the job, which is to be requeued */
	GATE_AWAY,   /* burstd does not answer, or with an error */
	GATE_UNSAID, /* it has not said whether there is money, for as long as we may wait */
};
static enum gate_end gate(const struct question *q, int64_t started)
{
	char answer[HOOK_ANSWER_MAX + 1];
	int64_t deadline = started + (int64_t)TOTAL_MS * 1000000, away = from_now(AWAY_MS);
	bool lost = false;   /* `away` counts from then */
	bool unsaid = false; /* by its last answer */
	bool reached = false;

	while (hook_now_ns(CLOCK_MONOTONIC) < deadline) {
		const int64_t soonest = from_now(PAUSE_MS);
		const enum hook_rc rc = ask(q, away, deadline, answer, &reached);

		if (rc == HOOK_FAILED && reached && hook_now_ns(CLOCK_MONOTONIC) >= deadline)
			break; /* burstd holds the question: it is there */
		if (rc == HOOK_LOST) {
			if (lost && hook_now_ns(CLOCK_MONOTONIC) >= away)
				return GATE_AWAY;
			if (!lost)
				away = from_now(AWAY_MS);
			lost = true;
			pause_until(from_now(LOST_MS));
			continue;
		}
		if (rc != HOOK_OK || strstr(answer, "\"ok\":true") == NULL)
			return GATE_AWAY;
		if (strstr(answer, "\"unpaid\":true") != NULL)
			return GATE_UNPAID;
		if (strstr(answer, "\"wait\":true") == NULL)
			return GATE_OVER;
		lost = false;
		unsaid = strstr(answer, "\"unsaid\":true") != NULL;
		if (started + limit_ms(answer) * 1000000 < deadline)
			deadline = started + limit_ms(answer) * 1000000;
		pause_until(soonest < deadline ? soonest : deadline);
		away = from_now(AWAY_MS);
	}
	return unsaid ? GATE_UNSAID : GATE_OVER;
}

/* Is a job to be requeued of which burstd does not say whether there is money for it?  A budget
 * must hold then, whatever it costs. */
static bool is_strict(enum gate_end end)
{
	char text[160];
	struct stat st;

	if (end != GATE_AWAY && end != GATE_UNSAID)
		return false;

	if (lstat(PATHS_AWAY, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (st.st_uid != 0 && st.st_uid != geteuid()))
		return false;
	(void)snprintf(text, sizeof(text),
		       "burst-prolog: burstd %s, and budgets_away = requeue: the job does not "
		       "start",
		       end == GATE_AWAY ? "is away" : "cannot tell whether there is money");
	hook_complain(text);
	return true;
}

int burst_prolog(char **argv)
{
	const int64_t started = hook_now_ns(CLOCK_MONOTONIC);
	struct question q;
	enum gate_end end;
	int status;

	hook_reset_process();
	status = run_site(argv);
	if (status != 0 || make_question(&q) != 0)
		return status;
	end = gate(&q, started);
	return end == GATE_UNPAID || is_strict(end) ? STATUS_UNPAID : status;
}
