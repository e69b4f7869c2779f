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
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/paths.h"

enum { EXIT_DURABLE, EXIT_SPOOLED, EXIT_USAGE, EXIT_LOST };

enum {
	SOCKET_MS = 1200,   /* for burstd to take the call and answer */
	TOTAL_MS = 1900,    /* then the timer ends us, spooled or not: the promise is two seconds */
	SPOOL_MIN_MS = 300, /* but the disk has so much, whatever burstd took */
	RETRY_MS = 10,      /* between two tries when the backlog of the socket is full */
	ACK_MAX = 4096,     /* bytes of an answer; it is about thirty */
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
	int fd;
	bool socket;
	int64_t deadline; /* of the socket, by now_ns(CLOCK_MONOTONIC) */
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
	"       burst-hook --help | --version\n"
	"\n"
	"Hands the call to burstd at " PATHS_SOCKET ", or leaves it in " PATHS_SPOOL ".\n"
	"The name it is started by says which call it is: these are symlinks to burst-hook.\n"
	"exit: 0 burstd has made the call durable, 1 the call is in the spool, 2 usage, 3 the call "
	"is lost\n";

static int64_t now_ns(clockid_t id)
{
	struct timespec ts = {0};

	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* To syslog, by hand: syslog(3) may block, and must not be called by a signal handler. */
static void complain(const char *text)
{
	const struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	static const char start[] = "<27>burst-hook: "; /* daemon.err */
	char line[sizeof(start) + 256];
	const size_t skip = sizeof(start) - 1;
	size_t len = strnlen(text, 255);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memcpy(line, start, skip);
	memcpy(line + skip, text, len);
	if (fd >= 0) {
		(void)sendto(fd, line, skip + len, MSG_NOSIGNAL, (const struct sockaddr *)&log,
			     sizeof(log));
		(void)close(fd);
	}
	line[skip + len] = '\n';
	/* /dev/null when slurmctld gave us none; nobody to tell if it fails. */
	if (write(STDERR_FILENO, line + 4, skip + len + 1 - 4) < 0)
		return;
}

static void on_alarm(int sig)
{
	(void)sig;
	complain("call lost: disk of " PATHS_SPOOL " too slow");
	_exit(EXIT_LOST);
}

/* For the disk, which has no deadline of its own; burstd has one, so that a machine that stood
 * still in the meantime spools late rather than not at all.  The last resort: it cannot cut short
 * an fsync that hangs in the kernel, nothing can. */
static void start_timer(int64_t started)
{
	int64_t left = started / 1000 + (int64_t)TOTAL_MS * 1000 - now_ns(CLOCK_MONOTONIC) / 1000;
	struct itimerval after = {.it_value = {.tv_usec = (int64_t)SPOOL_MIN_MS * 1000}};
	struct sigaction act = {.sa_handler = on_alarm};

	if (left > after.it_value.tv_usec)
		after.it_value =
			(struct timeval){.tv_sec = left / 1000000, .tv_usec = left % 1000000};
	(void)sigemptyset(&act.sa_mask);
	(void)sigaction(SIGALRM, &act, NULL);
	(void)setitimer(ITIMER_REAL, &after, NULL);
}

/* What slurmctld left us (slurm.md section 1) is nothing to rely on. */
static void reset_process(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", O_RDWR); /* takes the lowest free one: fd */
	(void)sigemptyset(&act.sa_mask);
	for (int sig = 1; sig < SIGRTMAX; sig++)
		(void)sigaction(sig, &act, NULL);
	act.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &act, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)umask(077);
}

static int wait_ready(const struct sink *s, short events)
{
	struct pollfd p = {.fd = s->fd, .events = events};
	int64_t left;
	int n;

	do {
		left = s->deadline - now_ns(CLOCK_MONOTONIC);
		if (left <= 0)
			return -1;
		n = poll(&p, 1, (int)(left / 1000000) + 1);
	} while (n == 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -1 : 0;
}

static ssize_t put(const struct sink *s, const unsigned char *p, size_t n)
{
	return s->socket ? send(s->fd, p, n, MSG_NOSIGNAL) : write(s->fd, p, n);
}

static int flush(struct sink *s)
{
	size_t done = 0;

	while (done < s->used) {
		ssize_t n = put(s, s->buf + done, s->used - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno == EAGAIN && s->socket) {
			if (wait_ready(s, POLLOUT) != 0)
				return -1;
		} else if (n == 0 || errno != EINTR)
			return -1;
	}
	s->used = 0;
	return 0;
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

static int read_exactly(struct sink *s, void *to, size_t len)
{
	unsigned char *p = to;

	while (len > 0) {
		ssize_t n = recv(s->fd, p, len, 0);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR) ||
			   wait_ready(s, POLLIN) != 0)
			return -1;
	}
	return 0;
}

/* {"ok":true} or {"ok":true,...}, so written: anything else means that the call may not be durable.
 */
static int read_ack(struct sink *s)
{
	static const char ok[] = "{\"ok\":true";
	unsigned char head[FRAME_HEADER], want[FRAME_HEADER];
	char body[ACK_MAX];
	size_t len;

	if (read_exactly(s, head, sizeof(head)) != 0)
		return -1;
	len = (size_t)head[3] << 8 | head[4];
	frame_header(want, FRAME_JSON, (uint32_t)len);
	if (memcmp(head, want, sizeof(head)) != 0 || len <= sizeof(ok) - 1 || len > sizeof(body) ||
	    read_exactly(s, body, len) != 0)
		return -1;
	if (memcmp(body, ok, sizeof(ok) - 1) != 0 || body[len - 1] != '}')
		return -1;
	return len == sizeof(ok) || body[sizeof(ok) - 1] == ',' ? 0 : -1;
}

/* A full backlog (EAGAIN) is the only reason to try again: a socket without burstd says so at once.
 */
static int connect_burstd(struct sink *s)
{
	const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = PATHS_SOCKET};

	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return -1;
	while (connect(s->fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		if (now_ns(CLOCK_MONOTONIC) >= s->deadline)
			return -1;
		(void)poll(NULL, 0, RETRY_MS);
	}
	return 0;
}

static int hand_over(struct sink *s, const struct call *c)
{
	int rc = -1;

	s->socket = true;
	s->used = 0;
	s->deadline = now_ns(CLOCK_MONOTONIC) + (int64_t)SOCKET_MS * 1000000;
	if (connect_burstd(s) == 0 && send_call(s, c) == 0)
		rc = read_ack(s);
	if (s->fd >= 0)
		(void)close(s->fd);
	return rc;
}

/* ".new-NAME", then NAME: TIME-PID-RANDOM.call, TIME in nanoseconds so that names sort by it. */
static void spool_name(char name[NAME_MAX_SPOOL], const struct call *c)
{
	unsigned random = 0;

	/* Short of entropy at boot: time and pid are unique enough with O_EXCL. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (unsigned)now_ns(CLOCK_MONOTONIC);
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
	s->fd = -1;
	if (dir < 0)
		goto out;
	s->fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->fd < 0)
		goto out;
	/* The name last: what has it is whole, whatever happens in between. */
	if (send_call(s, c) == 0 && fsync(s->fd) == 0 && renameat(dir, name, dir, final) == 0)
		rc = fsync(dir);
	if (rc != 0) {
		saved = errno;
		(void)unlinkat(dir, name, 0);
		errno = saved;
	}
out:
	saved = errno;
	if (s->fd >= 0)
		(void)close(s->fd);
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

	const int64_t started = now_ns(CLOCK_MONOTONIC);

	reset_process();
	c->at_ns = now_ns(CLOCK_REALTIME);
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
	complain(text);
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
	for (size_t i = 0; c.list != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(name, kinds[i].name) == 0) {
			c.kind = kinds[i].kind;
			return run(&c, kinds[i].has_file);
		}
	return show(stderr, usage, EXIT_USAGE);
}
