/* timed.c - how long a command takes, from exec to exit, and how long one fsync.
 *
 *	timed run RUNS GAP_MS CMD ARG...   per run: "STARTED_US NANOSECONDS STATUS MAXRSS_KIB"
 *	timed fsync RUNS FILE BYTES        per append of so many + fdatasync: "NANOSECONDS"
 *	timed pairs RUNS GAP_MS DIR BYTES CMD ARG...  before each run a new file in DIR, synced with
 *	                                   its directory: "NANOSECONDS", and as `run`
 *	timed look RUNS GAP_MS DIR CMD ARG...  per run: ns from its end until DIR is empty
 *	timed connect SOCKET LIMIT_MS      waits until somebody accepts; "AT_US"
 *
 * Linked statically: the peak memory of a child starts from ours. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ns(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void rest(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	if (ms > 0)
		(void)nanosleep(&ts, NULL);
}

static int once(char **argv, int null)
{
	int64_t wall = now_ns(CLOCK_REALTIME), began = now_ns(CLOCK_MONOTONIC);
	struct rusage ru;
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		(void)dup2(null, STDOUT_FILENO); /* ours is for the figures */
		(void)execve(argv[0], argv, environ);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &ru) != pid)
		return 1;
	(void)printf("%lld %lld %d %ld\n", (long long)(wall / 1000),
		     (long long)(now_ns(CLOCK_MONOTONIC) - began),
		     WIFEXITED(status) ? WEXITSTATUS(status) : 128, ru.ru_maxrss);
	return 0;
}

static int run(long runs, long gap, char **argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (long i = 0; null >= 0 && i < runs; i++) {
		if (once(argv, null) != 0)
			return 1;
		rest(gap);
	}
	return null < 0;
}

static int sync_file(long runs, const char *path, size_t bytes)
{
	static char block[16 << 20];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

	if (bytes > sizeof(block))
		return 1;
	for (long i = 0; fd >= 0 && i < runs; i++) {
		int64_t began = now_ns(CLOCK_MONOTONIC);

		if (write(fd, block, bytes) != (ssize_t)bytes || fdatasync(fd) != 0)
			return 1;
		(void)printf("%lld\n", (long long)(now_ns(CLOCK_MONOTONIC) - began));
		rest(2);
	}
	return fd < 0 || unlink(path) != 0;
}

/* A new file of so many bytes, synced, and its directory: the least that a call can cost.  -1: it
 * cannot be made. */
static int64_t new_file(int dir, const char *block, size_t bytes)
{
	static const char name[] = ".floor";
	int64_t took, began = now_ns(CLOCK_MONOTONIC);
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	int good = fd >= 0 && write(fd, block, bytes) == (ssize_t)bytes && fsync(fd) == 0 &&
		   fsync(dir) == 0;

	(void)close(fd);
	took = now_ns(CLOCK_MONOTONIC) - began;
	(void)unlinkat(dir, name, 0);
	return good ? took : -1;
}

/* Alternately, for what else the disk does is not the same all the time. */
static int pairs(long runs, long gap, const char *path, size_t bytes, char **argv)
{
	static char block[16 << 20];
	int dir = open(path, O_RDONLY | O_DIRECTORY), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (bytes > sizeof(block) || dir < 0 || null < 0)
		return 1;
	for (long i = 0; i < runs; i++) {
		int64_t least = new_file(dir, block, bytes);

		rest(gap);
		(void)printf("%lld ", (long long)least);
		if (least < 0 || once(argv, null) != 0)
			return 1;
		rest(gap);
	}
	return 0;
}

static int is_empty(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *ent;
	int n = 0;

	while (d != NULL && (ent = readdir(d)) != NULL)
		n += ent->d_name[0] != '.';
	if (d != NULL)
		(void)closedir(d);
	return n == 0;
}

/* How long after the end of the command the directory is empty; 0: it was by then. */
static int look(long runs, long gap, const char *dir, char **argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (long i = 0; null >= 0 && i < runs; i++) {
		pid_t pid = vfork();
		int64_t ended;
		int status;

		if (pid == 0) {
			(void)execve(argv[0], argv, environ);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
		ended = now_ns(CLOCK_MONOTONIC);
		if (is_empty(dir)) {
			(void)printf("0\n");
		} else {
			while (!is_empty(dir)) {
			}
			(void)printf("%lld\n", (long long)(now_ns(CLOCK_MONOTONIC) - ended));
		}
		rest(gap);
	}
	return null < 0;
}

static int wait_socket(const char *path, long limit_ms)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int64_t end = now_ns(CLOCK_MONOTONIC) + limit_ms * 1000000;

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	while (now_ns(CLOCK_MONOTONIC) < end) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		int rc = connect(fd, (const struct sockaddr *)&to, sizeof(to));

		(void)close(fd);
		if (rc == 0)
			return printf("%lld\n", (long long)(now_ns(CLOCK_REALTIME) / 1000)) < 0;
		rest(1);
	}
	return 1;
}

int main(int argc, char **argv)
{
	if (argc > 4 && strcmp(argv[1], "run") == 0)
		return run(atol(argv[2]), atol(argv[3]), argv + 4);
	if (argc == 5 && strcmp(argv[1], "fsync") == 0)
		return sync_file(atol(argv[2]), argv[3], (size_t)atol(argv[4]));
	if (argc > 6 && strcmp(argv[1], "pairs") == 0)
		return pairs(atol(argv[2]), atol(argv[3]), argv[4], (size_t)atol(argv[5]),
			     argv + 6);
	if (argc > 5 && strcmp(argv[1], "look") == 0)
		return look(atol(argv[2]), atol(argv[3]), argv[4], argv + 5);
	if (argc == 4 && strcmp(argv[1], "connect") == 0)
		return wait_socket(argv[2], atol(argv[3]));
	return 2;
}
