/* burst-hook - hands one call of slurmctld to burstd, or keeps it in the spool.
 *
 * ResumeProgram, SuspendProgram and ResumeFailProgram are symlinks to this one program; its name
 * says which call it is.  It parses nothing and keeps nothing in memory but one buffer: the node
 * list and the resume file go out in chunks (base/frame.h), burstd makes them durable and answers,
 * and only then the exit code is 0 (I29).  Else the same bytes become a file in the spool.
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

#include "base/frame.h"
#include "base/paths.h"

enum { EXIT_DURABLE, EXIT_SPOOLED, EXIT_USAGE, EXIT_LOST };

enum {
	SOCKET_MS = 1200,   /* for burstd to take the call and answer */
	TOTAL_MS = 1900,    /* then the timer ends us, spooled or not: the promise is two seconds */
	SPOOL_MIN_MS = 300, /* but the disk has so much, whatever burstd took */
	HEAD_MAX = 160,     /* bytes of the first frame; every field in it is bounded */
	NAME_MAX_SPOOL = 64,
	/* The whole of a small call in one write. */
	BUFFER = 2 * (FRAME_HEADER + FRAME_CHUNK),
};

struct call {
	const char *kind, *list;
	int file; /* the resume file; -1: none that we can send */
	int64_t at_ns;
	char head[HEAD_MAX];
};

/* Where the bytes go: burstd's socket, or a file in the spool. */
struct sink {
	struct hook_conn c; /* or a file */
	bool socket;
	size_t used;
	unsigned char buf[BUFFER];
};

static const struct {
	const char *name, *kind;
	bool has_file;
} kinds[] = {
	{"burst-resume", "resume", true},
	{"burst-suspend", "suspend", false},
	{"burst-resume-fail", "resume-fail", false},
};

static const char usage[] =
	"usage: burst-resume NODES       as ResumeProgram of slurm.conf\n"
	"       burst-suspend NODES      as SuspendProgram\n"
	"       burst-resume-fail NODES  as ResumeFailProgram\n"
	"       burst-prolog             as PrologSlurmctld\n"
	"       burst-hook --help | --version\n"
	"\n"
	"Hands the call to burstd at " PATHS_SOCKET ", or leaves it in " PATHS_SPOOL ".\n"
	"The name it is started by says which call it is: these are symlinks to burst-hook.\n"
	"burst-prolog ends when all nodes of SLURM_JOB_ID are up; its status is 0, or that of the\n"
	"site's own " PATHS_SITE_PROLOG ".\n"
	"exit: 0 burstd has made the call durable, 1 the call is in the spool, 2 usage, 3 the call "
	"is lost\n";

static void on_alarm(int sig)
{
	(void)sig;
	hook_complain("call lost: disk of " PATHS_SPOOL " too slow");
	_exit(EXIT_LOST);
}

/* For the disk, which has no deadline of its own; burstd has one, so that a machine that stood
 * still in the meantime spools late rather than not at all.  The last resort: it cannot cut short
 * an fsync that hangs in the kernel, nothing can. */
static void start_timer(int64_t started)
{
	int64_t left =
		started / 1000 + (int64_t)TOTAL_MS * 1000 - hook_now_ns(CLOCK_MONOTONIC) / 1000;
	struct itimerval after = {.it_value = {.tv_usec = (int64_t)SPOOL_MIN_MS * 1000}};
	struct sigaction act = {.sa_handler = on_alarm};

	if (left > after.it_value.tv_usec)
		after.it_value =
			(struct timeval){.tv_sec = left / 1000000, .tv_usec = left % 1000000};
	(void)sigemptyset(&act.sa_mask);
	(void)sigaction(SIGALRM, &act, NULL);
	(void)setitimer(ITIMER_REAL, &after, NULL);
}

static int write_all(int fd, const unsigned char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n == 0 || (n < 0 && errno != EINTR))
			return -1;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int flush(struct sink *s)
{
	const size_t len = s->used;

	s->used = 0;
	/* Only now: burstd, which wakes up for it, then finds the call there.  A socket without
	 * burstd says so at once, and there is the spool. */
	if (s->socket && s->c.fd < 0 && hook_connect(&s->c, false) != 0)
		return -1;
	if (s->socket)
		return hook_send(&s->c, s->buf, len) == HOOK_OK ? 0 : -1;
	return write_all(s->c.fd, s->buf, len);
}

/* Room for one frame of up to FRAME_CHUNK bytes: NULL when what is before it cannot be written. */
static unsigned char *frame_room(struct sink *s)
{
	if (sizeof(s->buf) - s->used < FRAME_HEADER + FRAME_CHUNK && flush(s) != 0)
		return NULL;
	return s->buf + s->used + FRAME_HEADER;
}

static void frame_done(struct sink *s, enum frame_type type, size_t len)
{
	frame_header(s->buf + s->used, type, (uint32_t)len);
	s->used += FRAME_HEADER + len;
}

static int send_bytes(struct sink *s, enum frame_type type, const char *p, size_t len)
{
	while (len > 0) {
		size_t n = len < FRAME_CHUNK ? len : FRAME_CHUNK;
		unsigned char *to = frame_room(s);

		if (to == NULL)
			return -1;
		memcpy(to, p, n);
		frame_done(s, type, n);
		p += n;
		len -= n;
	}
	return 0;
}

/* Whole chunks, so that a second reading makes the same frames.  -1: cannot be read. */
static ssize_t read_chunk(int fd, unsigned char *to, off_t at)
{
	size_t have = 0;

	while (have < FRAME_CHUNK) {
		ssize_t n = pread(fd, to + have, FRAME_CHUNK - have, at + (off_t)have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* From the start, for the socket may have had some of it before.  *cut: burstd gets less than all.
 */
static int send_file(struct sink *s, int fd, bool *cut)
{
	off_t at = 0;

	*cut = false;
	while (fd >= 0) {
		unsigned char *to = frame_room(s);
		ssize_t n;

		if (to == NULL)
			return -1;
		n = read_chunk(fd, to, at);
		*cut = n < 0 || at + n > FRAME_FILE_MAX;
		if (n <= 0 || *cut)
			return 0;
		frame_done(s, FRAME_FILE, (size_t)n);
		at += n;
	}
	return 0;
}

/* The bytes of the call, the same for the socket and for the spool. */
static int send_call(struct sink *s, const struct call *c)
{
	static const char truncated[] = "{\"truncated\":true}";
	bool cut;

	if (send_bytes(s, FRAME_JSON, c->head, strlen(c->head)) != 0 ||
	    send_bytes(s, FRAME_LIST, c->list, strlen(c->list)) != 0 ||
	    send_file(s, c->file, &cut) != 0)
		return -1;
	if (frame_room(s) == NULL)
		return -1;
	if (cut)
		memcpy(s->buf + s->used + FRAME_HEADER, truncated, sizeof(truncated) - 1);
	frame_done(s, FRAME_END, cut ? sizeof(truncated) - 1 : 0);
	return flush(s);
}

static int hand_over(struct sink *s, const struct call *c)
{
	char answer[HOOK_ANSWER_MAX + 1];
	int rc = -1;

	s->socket = true;
	s->used = 0;
	s->c.deadline = hook_now_ns(CLOCK_MONOTONIC) + (int64_t)SOCKET_MS * 1000000;
	s->c.fd = -1;
	if (send_call(s, c) == 0 && hook_read_answer(&s->c, answer) == HOOK_OK)
		rc = 0; /* any other answer means that the call may not be durable */
	hook_close(&s->c);
	return rc;
}

/* ".new-NAME", then NAME: TIME-PID-RANDOM.call, TIME in nanoseconds so that names sort by it. */
static void spool_name(char name[NAME_MAX_SPOOL], const struct call *c)
{
	unsigned random = 0;

	/* Short of entropy at boot: time and pid are unique enough with O_EXCL. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (unsigned)hook_now_ns(CLOCK_MONOTONIC);
	(void)snprintf(name, NAME_MAX_SPOOL, ".new-%020lld-%d-%08x.call", (long long)c->at_ns,
		       (int)getpid(), random);
}

static int spool(struct sink *s, const struct call *c)
{
	char name[NAME_MAX_SPOOL];
	const char *final = name + strlen(".new-");
	int dir = open(PATHS_SPOOL, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = -1, saved;

	spool_name(name, c);
	s->socket = false;
	s->used = 0;
	s->c.fd = -1;
	if (dir < 0)
		goto out;
	s->c.fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->c.fd < 0)
		goto out;
	/* The name last: what has it is whole, whatever happens in between. */
	if (send_call(s, c) == 0 && fsync(s->c.fd) == 0 && renameat(dir, name, dir, final) == 0)
		rc = fsync(dir);
	if (rc != 0) {
		saved = errno;
		(void)unlinkat(dir, name, 0);
		errno = saved;
	}
out:
	saved = errno;
	if (s->c.fd >= 0)
		(void)close(s->c.fd);
	if (dir >= 0)
		(void)close(dir);
	errno = saved;
	return rc;
}

/* What became of the resume file, as the first frame says it; c->file is set when it is sent.  Not
 * O_NOFOLLOW: /proc/PID/fd/N is a link.  O_NONBLOCK: a FIFO must not hold us. */
static const char *open_file(struct call *c, bool has_file)
{
	const char *path = has_file ? getenv("SLURM_RESUME_FILE") : NULL;
	struct stat st;
	int fd;

	c->file = -1;
	if (path == NULL)
		return "none";
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return "missing";
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FRAME_FILE_MAX) {
		(void)close(fd);
		return st.st_size > FRAME_FILE_MAX ? "dropped" : "missing";
	}
	c->file = fd;
	return "sent";
}

static int run(struct call *c, bool has_file)
{
	struct sink s;
	char text[200];
	const char *file;

	const int64_t started = hook_now_ns(CLOCK_MONOTONIC);

	hook_reset_process();
	(void)umask(077);
	c->at_ns = hook_now_ns(CLOCK_REALTIME);
	file = open_file(c, has_file);
	(void)snprintf(c->head, sizeof(c->head),
		       "{\"v\":1,\"op\":\"call\",\"kind\":\"%s\",\"at_ms\":%lld,\"file\":\"%s\"}",
		       c->kind, (long long)(c->at_ns / 1000000), file);
	if (hand_over(&s, c) == 0)
		return EXIT_DURABLE;
	start_timer(started);
	if (spool(&s, c) == 0)
		return EXIT_SPOOLED;
	(void)snprintf(text, sizeof(text), "%s call lost: %s: %s", c->kind, PATHS_SPOOL,
		       strerror(errno));
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
	/* No name of a node begins so: this is somebody at a terminal. */
	if (c.list != NULL && c.list[0] == '-') {
		(void)fprintf(stderr,
			      "%s: there is no option \"%.60s\"; --help says what there is\n", name,
			      c.list);
		return EXIT_USAGE;
	}
	if (strcmp(name, "burst-prolog") == 0)
		return burst_prolog(argv);
	for (size_t i = 0; c.list != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(name, kinds[i].name) == 0) {
			c.kind = kinds[i].kind;
			return run(&c, kinds[i].has_file);
		}
	return show(stderr, usage, EXIT_USAGE);
}
