/* burst-hook - leaves one call of slurmctld in the spool, as a file that is durable when it exits.
 *
 * ResumeProgram, SuspendProgram and ResumeFailProgram are symlinks to this one program; its name
 * says which call it is.  It parses nothing and keeps nothing in memory but one buffer: the node
 * list and the resume file go into the file as they are (base/call.h), and the exit code is 0 only
 * once file and directory are synced (I29).  burstd need not run, and is not asked.
 *
 * Limits of slurmctld that shape it (reliability.md L1-L4): the environment is empty, descriptors
 * 0-2 may be closed, signals may be blocked, argv[0] may be a basename; the resume file is a memfd
 * of slurmctld that is gone when we exit; whatever we leave running is killed.  slurmctld waits for
 * us when it stops, so all of it ends within two seconds.  No allocation, no library but libc and
 * base/. */
#include "slurm/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/call.h"
#include "base/fnv.h"
#include "base/paths.h"

enum { EXIT_DURABLE, EXIT_USAGE = 2, EXIT_LOST };

enum {
	DISK_MS = 1600, /* for the disk, until the timer rings */
	LAST_MS = 300,  /* until it rings again, for a machine that stood still; then we end */
	NAME_MAX_SPOOL = 64,
	BUFFER = 65536,
};

static const struct {
	const char *name;
	enum call_kind kind;
	bool has_file;
} kinds[] = {
	{"burst-resume", CALL_RESUME, true},
	{"burst-suspend", CALL_SUSPEND, false},
	{"burst-resume-fail", CALL_RESUME_FAIL, false},
};

struct call {
	struct call_end end;
	const char *list;
	int file;        /* the resume file; -1: none that we can send */
	int64_t wall_ns; /* when the hook was started */
};

struct sink { /* the file in the spool */
	int fd;
	uint64_t sum; /* checksum of what was put */
	size_t used;
	unsigned char buf[BUFFER];
};

static const char usage[] =
	"usage: burst-resume NODES       as ResumeProgram of slurm.conf\n"
	"       burst-suspend NODES      as SuspendProgram\n"
	"       burst-resume-fail NODES  as ResumeFailProgram\n"
	"       burst-prolog             as PrologSlurmctld\n"
	"       burst-hook --help | --version\n"
	"\n"
	"Leaves the call as a file in " PATHS_SPOOL ", where burstd finds it.\n"
	"The name by which it is started selects the call: all are symlinks to burst-hook.\n"
	"burst-prolog ends when all nodes of SLURM_JOB_ID are up; its status is 0, or that of the\n"
	"site's own " PATHS_SITE_PROLOG ".\n"
	"exit: 0 the call is durable, 2 usage, 3 the call is lost\n";

/* The last resort: it cannot cut short an fsync that hangs in the kernel, nothing can. */
static void on_alarm(int sig)
{
	static volatile sig_atomic_t rang;
	const struct itimerval last = {.it_value = {.tv_usec = (int64_t)LAST_MS * 1000}};

	(void)sig;
	if (rang == 0) {
		rang = 1;
		(void)setitimer(ITIMER_REAL, &last, NULL);
		return;
	}
	hook_complain("call lost: disk of " PATHS_SPOOL " too slow");
	_exit(EXIT_LOST);
}

static void start_timer(void)
{
	const struct itimerval after = {
		.it_value = {.tv_sec = DISK_MS / 1000, .tv_usec = (int64_t)DISK_MS % 1000 * 1000}};
	struct sigaction act = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	(void)sigemptyset(&act.sa_mask);
	(void)sigaction(SIGALRM, &act, NULL);
	(void)setitimer(ITIMER_REAL, &after, NULL);
}

/* --- writing ---------------------------------------------------------------------------------- */

static int flush(struct sink *s)
{
	const unsigned char *p = s->buf;

	while (s->used > 0) {
		ssize_t n = write(s->fd, p, s->used);

		if (n == 0 || (n < 0 && errno != EINTR))
			return -1;
		if (n > 0) {
			p += n;
			s->used -= (size_t)n;
		}
	}
	return 0;
}

static int put(struct sink *s, const char *p, size_t len)
{
	while (len > 0) {
		size_t n = sizeof(s->buf) - s->used;

		n = n < len ? n : len;
		memcpy(s->buf + s->used, p, n);
		s->sum = fnv_bytes(s->sum, p, n);
		s->used += n;
		p += n;
		len -= n;
		if (s->used == sizeof(s->buf) && flush(s) != 0)
			return -1;
	}
	return 0;
}

/* Copy as much of the resume file as can be read; c->end says how much, and whether that is all. */
static int put_resume_file(struct sink *s, struct call *c)
{
	while (c->file >= 0) {
		const size_t room = sizeof(s->buf) - s->used;
		ssize_t n = pread(c->file, s->buf + s->used, room, (off_t)c->end.file_len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return 0;
		if (n < 0 || c->end.file_len + (size_t)n > CALL_FILE_MAX) {
			c->end.file = CALL_FILE_DROPPED;
			return 0;
		}
		s->sum = fnv_bytes(s->sum, s->buf + s->used, (size_t)n);
		s->used += (size_t)n;
		c->end.file_len += (size_t)n;
		if (s->used == sizeof(s->buf) && flush(s) != 0)
			return -1;
	}
	return 0;
}

static int put_call(struct sink *s, struct call *c)
{
	char end[CALL_END];

	c->end.list_len = strlen(c->list);
	if (put(s, c->list, c->end.list_len) != 0 || put_resume_file(s, c) != 0)
		return -1;
	call_end_print(&c->end, s->sum, end);
	return put(s, end, sizeof(end)) == 0 ? flush(s) : -1;
}

/* ".new-NAME", then NAME: TIME-PID-RANDOM.call, TIME in nanoseconds so that names sort by it. */
static void name_call(char name[NAME_MAX_SPOOL], const struct call *c)
{
	unsigned random = 0;

	/* Short of entropy at boot: time and pid are unique enough with O_EXCL. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (unsigned)hook_now_ns(CLOCK_MONOTONIC);
	(void)snprintf(name, NAME_MAX_SPOOL, ".new-%020lld-%d-%08x.call", (long long)c->wall_ns,
		       (int)getpid(), random);
}

/* Rename before the syncs, so that burstd sees the call while the disk is still at work.  If the
 * power is cut in between, the checksum shows it. */
static int spool(struct call *c)
{
	static struct sink s;
	char name[NAME_MAX_SPOOL];
	const char *final = name + strlen(".new-");
	int dir = open(PATHS_SPOOL, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = -1, saved;

	name_call(name, c);
	s.fd = -1;
	s.sum = FNV_BEGIN;
	if (dir < 0)
		goto out;
	s.fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s.fd < 0)
		goto out;
	rc = put_call(&s, c) == 0 ? renameat(dir, name, dir, final) : -1;
	if (rc != 0) {
		saved = errno;
		(void)unlinkat(dir, name, 0);
		errno = saved;
	} else if (fsync(s.fd) != 0 || fsync(dir) != 0) {
		rc = -1;
	}
out:
	saved = errno;
	if (s.fd >= 0)
		(void)close(s.fd);
	if (dir >= 0)
		(void)close(dir);
	errno = saved;
	return rc;
}

/* Open the resume file; c->file is set if it can be sent.  Not O_NOFOLLOW: /proc/PID/fd/N is a
 * link.  O_NONBLOCK: a FIFO must not block. */
static enum call_file open_file(struct call *c, bool has_file)
{
	const char *path = has_file ? getenv("SLURM_RESUME_FILE") : NULL;
	struct stat st;
	int fd;

	c->file = -1;
	if (path == NULL)
		return CALL_FILE_NONE;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return CALL_FILE_MISSING;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return CALL_FILE_MISSING;
	}
	if (st.st_size > CALL_FILE_MAX) {
		(void)close(fd);
		return CALL_FILE_DROPPED;
	}
	c->file = fd;
	return CALL_FILE_SENT;
}

static int run(struct call *c, bool has_file)
{
	char text[200];

	c->wall_ns = hook_now_ns(CLOCK_REALTIME);
	c->end.at_ms = c->wall_ns / 1000000;
	c->end.boot_ms = hook_now_ns(CLOCK_BOOTTIME) / 1000000;
	hook_reset_process();
	start_timer();
	(void)umask(077);
	c->end.file = open_file(c, has_file);
	if (spool(c) == 0)
		return EXIT_DURABLE;
	(void)snprintf(text, sizeof(text), "%s call lost: %s: %s", call_kind_str(c->end.kind),
		       PATHS_SPOOL, strerror(errno));
	hook_complain(text);
	return EXIT_LOST;
}

static int show(FILE *to, const char *text, int rc)
{
	return fputs(text, to) < 0 || fflush(to) != 0 ? EXIT_USAGE : rc;
}

int main(int argc, char **argv)
{
	const char *name = argc > 0 ? argv[0] : "";
	const char *slash = strrchr(name, '/');
	struct call c = {.list = argc > 1 ? argv[1] : NULL};

	if (slash != NULL)
		name = slash + 1;
	if (c.list != NULL && strcmp(c.list, "--help") == 0)
		return show(stdout, usage, EXIT_DURABLE);
	if (c.list != NULL && strcmp(c.list, "--version") == 0)
		return show(stdout, "burst-hook " BURSTD_VERSION "\n", EXIT_DURABLE);
	/* No node name begins with a '-': this is somebody at a terminal. */
	if (c.list != NULL && c.list[0] == '-') {
		(void)fprintf(stderr, "%s: unknown option \"%.60s\"; see --help\n", name, c.list);
		return EXIT_USAGE;
	}
	if (strcmp(name, "burst-prolog") == 0)
		return burst_prolog(argv);
	for (size_t i = 0; c.list != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(name, kinds[i].name) == 0) {
			c.end.kind = kinds[i].kind;
			return run(&c, kinds[i].has_file);
		}
	return show(stderr, usage, EXIT_USAGE);
}
