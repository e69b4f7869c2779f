/* fail_calls.c - the symbols that stand before libc's; fail.c decides what becomes of each call. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/fail.h"

#define CALLER __builtin_return_address(0)

/* A function that fails by -1 and errno, or NULL: type, symbol, arguments, the name it goes by. */
#define WRAP(type, symbol, params, args, fn)                                                       \
	type symbol params;                                                                        \
	type symbol params                                                                         \
	{                                                                                          \
		static type(*real) params;                                                         \
		const int why = fail_now(FAIL_##fn, CALLER);                                       \
                                                                                                   \
		if (why > 0) {                                                                     \
			errno = why;                                                               \
			return (type)FAILURE;                                                      \
		}                                                                                  \
		if (real == NULL)                                                                  \
			*(void **)&real = fail_real(#symbol);                                      \
		return real args;                                                                  \
	}

#define FAILURE (-1)
WRAP(int, fsync, (int fd), (fd), fsync)
WRAP(int, fdatasync, (int fd), (fd), fdatasync)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), ftruncate)
WRAP(int, ftruncate64, (int fd, off_t n), (fd, n), ftruncate)
WRAP(int, rename, (const char *a, const char *b), (a, b), rename)
WRAP(int, renameat, (int d, const char *a, int f, const char *b), (d, a, f, b), rename)
WRAP(int, renameat2, (int d, const char *a, int f, const char *b, unsigned k), (d, a, f, b, k),
     rename)
WRAP(int, unlink, (const char *p), (p), unlink)
WRAP(int, unlinkat, (int d, const char *p, int k), (d, p, k), unlink)
WRAP(int, mkdir, (const char *p, mode_t m), (p, m), mkdir)
WRAP(int, chmod, (const char *p, mode_t m), (p, m), chmod)
WRAP(int, fchmod, (int fd, mode_t m), (fd, m), chmod)
WRAP(int, stat, (const char *p, struct stat *s), (p, s), stat)
WRAP(int, lstat, (const char *p, struct stat *s), (p, s), stat)
WRAP(int, stat64, (const char *p, struct stat64 *s), (p, s), stat)
WRAP(int, lstat64, (const char *p, struct stat64 *s), (p, s), stat)
WRAP(int, fstatat, (int d, const char *p, struct stat *s, int k), (d, p, s, k), stat)
WRAP(int, fstat, (int fd, struct stat *s), (fd, s), fstat)
WRAP(int, fstat64, (int fd, struct stat64 *s), (fd, s), fstat)
WRAP(int, statvfs, (const char *p, void *s), (p, s), statvfs)
WRAP(int, statvfs64, (const char *p, void *s), (p, s), statvfs)
WRAP(int, access, (const char *p, int m), (p, m), access)
WRAP(int, faccessat, (int d, const char *p, int m, int k), (d, p, m, k), access)
WRAP(int, flock, (int fd, int op), (fd, op), flock)
WRAP(int, socket, (int a, int b, int c), (a, b, c), socket)
WRAP(int, socketpair, (int a, int b, int c, int d[2]), (a, b, c, d), socketpair)
WRAP(int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), connect)
WRAP(int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), bind)
WRAP(int, listen, (int fd, int n), (fd, n), listen)
WRAP(int, getsockopt, (int fd, int l, int o, void *v, socklen_t *n), (fd, l, o, v, n), getsockopt)
WRAP(int, setsockopt, (int fd, int l, int o, const void *v, socklen_t n), (fd, l, o, v, n),
     setsockopt)
WRAP(int, getsockname, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), getsockname)
WRAP(int, epoll_create1, (int k), (k), epoll_create)
WRAP(int, eventfd, (unsigned v, int k), (v, k), eventfd)
WRAP(int, pipe2, (int fd[2], int k), (fd, k), pipe2)
WRAP(int, dup2, (int a, int b), (a, b), dup)
WRAP(int, dup3, (int a, int b, int k), (a, b, k), dup)
WRAP(int, memfd_create, (const char *n, unsigned k), (n, k), memfd_create)
WRAP(int, execvp, (const char *p, char *const *v), (p, v), execvp)
WRAP(pid_t, waitpid, (pid_t p, int *s, int k), (p, s, k), waitpid)
WRAP(int, kill, (pid_t p, int s), (p, s), kill)
WRAP(int, close_range, (unsigned a, unsigned b, int k), (a, b, k), close_range)
WRAP(ssize_t, getrandom, (void *p, size_t n, unsigned k), (p, n, k), getrandom)
WRAP(void *, mmap, (void *a, size_t n, int p, int k, int fd, off_t o), (a, n, p, k, fd, o), mmap)
WRAP(void *, mmap64, (void *a, size_t n, int p, int k, int fd, off_t o), (a, n, p, k, fd, o), mmap)
#undef FAILURE
#define FAILURE NULL
WRAP(DIR *, opendir, (const char *p), (p), opendir)
WRAP(DIR *, fdopendir, (int fd), (fd), opendir)
WRAP(struct dirent *, readdir, (DIR * d), (d), readdir)
WRAP(struct dirent64 *, readdir64, (DIR * d), (d), readdir)
#undef FAILURE

/* To take one more takes memory, to let one go does not. */
int epoll_ctl(int e, int op, int fd, struct epoll_event *v)
{
	static int (*real)(int, int, int, struct epoll_event *);
	const int why = op == EPOLL_CTL_ADD ? fail_now(FAIL_epoll_ctl, CALLER) : 0;

	if (why > 0) {
		errno = why;
		return -1;
	}
	if (real == NULL)
		*(void **)&real = fail_real("epoll_ctl");
	return real(e, op, fd, v);
}

/* Accepts that may wait and those that may not differ in EAGAIN. */
#define ACCEPT(symbol, params, args)                                                               \
	int symbol params;                                                                         \
	int symbol params                                                                          \
	{                                                                                          \
		static int(*real) params;                                                          \
		const int why = fail_fd(FAIL_accept, CALLER, fd, 0);                               \
                                                                                                   \
		if (why > 0) {                                                                     \
			errno = why;                                                               \
			return -1;                                                                 \
		}                                                                                  \
		if (real == NULL)                                                                  \
			*(void **)&real = fail_real(#symbol);                                      \
		return real args;                                                                  \
	}
ACCEPT(accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n))
ACCEPT(accept4, (int fd, struct sockaddr *a, socklen_t *n, int k), (fd, a, n, k))

/* Bytes that go in or out: also cut short, or at an end. */
#define MOVE(symbol, params, args, fn, flags)                                                      \
	ssize_t symbol params;                                                                     \
	ssize_t symbol params                                                                      \
	{                                                                                          \
		static ssize_t(*real) params;                                                      \
		const int why = fail_fd(FAIL_##fn, CALLER, fd, flags);                             \
                                                                                                   \
		if (why > 0) {                                                                     \
			errno = why;                                                               \
			return -1;                                                                 \
		}                                                                                  \
		if (why == FAIL_EOF)                                                               \
			return 0;                                                                  \
		if (why == FAIL_SHORT && n > 1)                                                    \
			n = n / 2;                                                                 \
		if (real == NULL)                                                                  \
			*(void **)&real = fail_real(#symbol);                                      \
		return real args;                                                                  \
	}
MOVE(read, (int fd, void *p, size_t n), (fd, p, n), read, 0)
MOVE(write, (int fd, const void *p, size_t n), (fd, p, n), write, 0)
MOVE(pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), pread, 0)
MOVE(pread64, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), pread, 0)
MOVE(pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), pwrite, 0)
MOVE(pwrite64, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), pwrite, 0)
MOVE(send, (int fd, const void *p, size_t n, int k), (fd, p, n, k), send, k)
MOVE(recv, (int fd, void *p, size_t n, int k), (fd, p, n, k), recv, k)
MOVE(sendto, (int fd, const void *p, size_t n, int k, const struct sockaddr *a, socklen_t l),
     (fd, p, n, k, a, l), send, k)
MOVE(recvfrom, (int fd, void *p, size_t n, int k, struct sockaddr *a, socklen_t *l),
     (fd, p, n, k, a, l), recv, k)

/* libmicrohttpd writes its answers with this one. */
ssize_t sendmsg(int fd, const struct msghdr *m, int k)
{
	static ssize_t (*real)(int, const struct msghdr *, int);
	const int why = fail_fd(FAIL_send, CALLER, fd, k);
	struct iovec half;
	struct msghdr cut;

	if (why > 0) {
		errno = why;
		return -1;
	}
	if (real == NULL)
		*(void **)&real = fail_real("sendmsg");
	if (why == FAIL_SHORT && m->msg_iovlen > 0 && m->msg_iov[0].iov_len > 1) {
		cut = *m;
		half = m->msg_iov[0];
		half.iov_len /= 2;
		cut.msg_iov = &half;
		cut.msg_iovlen = 1;
		return real(fd, &cut, k);
	}
	return real(fd, m, k);
}

/* Variadic, and with the variants that a fortified program calls. */
#define OPEN(symbol, fn, before, give)                                                             \
	int symbol(before const char *path, int flags, ...);                                       \
	int symbol(before const char *path, int flags, ...)                                        \
	{                                                                                          \
		static int (*real)(before const char *, int, ...);                                 \
		const int why = fail_now(FAIL_##fn, CALLER);                                       \
		mode_t mode = 0;                                                                   \
		va_list ap;                                                                        \
                                                                                                   \
		if (why > 0) {                                                                     \
			errno = why;                                                               \
			return -1;                                                                 \
		}                                                                                  \
		if (flags & (O_CREAT | O_TMPFILE)) {                                               \
			va_start(ap, flags);                                                       \
			mode = va_arg(ap, mode_t);                                                 \
			va_end(ap);                                                                \
		}                                                                                  \
		if (real == NULL)                                                                  \
			*(void **)&real = fail_real(#symbol);                                      \
		return real(give path, flags, mode);                                               \
	}
#define NOTHING
#define DIRECTORY     int dir,
#define THE_DIRECTORY dir,
OPEN(open, open, NOTHING, NOTHING)
OPEN(open64, open, NOTHING, NOTHING)
OPEN(__open_2, open, NOTHING, NOTHING)
OPEN(__open64_2, open, NOTHING, NOTHING)
OPEN(openat, openat, DIRECTORY, THE_DIRECTORY)
OPEN(openat64, openat, DIRECTORY, THE_DIRECTORY)

static int any_fcntl(const char *symbol, int (**real)(int, int, ...), void *caller, int fd, int op,
		     void *arg)
{
	/* Locks; what else it is used for does not fail. */
	const bool lock = op == F_SETLK || op == F_SETLKW || op == F_GETLK;
	const int why = lock ? fail_now(FAIL_fcntl, caller) : 0;

	if (why > 0) {
		errno = why;
		return -1;
	}
	if (*real == NULL)
		*(void **)real = fail_real(symbol);
	return (*real)(fd, op, arg);
}

#define FCNTL(symbol)                                                                              \
	int symbol(int fd, int op, ...);                                                           \
	int symbol(int fd, int op, ...)                                                            \
	{                                                                                          \
		static int (*real)(int, int, ...);                                                 \
		va_list ap;                                                                        \
		void *arg;                                                                         \
                                                                                                   \
		va_start(ap, op);                                                                  \
		arg = va_arg(ap, void *);                                                          \
		va_end(ap);                                                                        \
		return any_fcntl(#symbol, &real, CALLER, fd, op, arg);                             \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

void *mremap(void *old, size_t n, size_t size, int k, ...)
{
	const int why = fail_now(FAIL_mremap, CALLER);
	static void *(*real)(void *, size_t, size_t, int, ...);

	if (why > 0) {
		errno = why;
		return (void *)-1;
	}
	if (real == NULL)
		*(void **)&real = fail_real("mremap");
	return real(old, n, size, k); /* nobody here names the new address */
}

/* It says what went wrong by its result. */
static int any_fallocate(const char *symbol, void *caller, int fd, off_t at, off_t n)
{
	static int (*real)(int, off_t, off_t);
	const int why = fail_now(FAIL_fallocate, caller);

	if (why > 0)
		return why;
	if (real == NULL)
		*(void **)&real = fail_real(symbol);
	return real(fd, at, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
	return any_fallocate("posix_fallocate", CALLER, fd, at, n);
}

int posix_fallocate64(int fd, off_t at, off_t n)
{
	return any_fallocate("posix_fallocate64", CALLER, fd, at, n);
}

/* The descriptor is free even when close() fails. */
int close(int fd)
{
	static int (*real)(int);
	const int why = fail_now(FAIL_close, CALLER);
	int rc;

	if (real == NULL)
		*(void **)&real = fail_real("close");
	rc = real(fd);
	if (why > 0) {
		errno = why;
		rc = -1;
	}
	return rc;
}

pid_t fork(void)
{
	static pid_t (*real)(void);
	const int why = fail_now(FAIL_fork, CALLER);
	pid_t pid;

	if (why > 0) {
		errno = why;
		return -1;
	}
	if (real == NULL)
		*(void **)&real = fail_real("fork");
	pid = real();
	if (pid == 0)
		fail_in_child();
	return pid;
}

/* --- memory: dlsym() itself needs it, so libc's own names ------------------------------------- */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	if (fail_now(FAIL_malloc, CALLER) != 0) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	if (fail_now(FAIL_calloc, CALLER) != 0) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	if (fail_now(FAIL_realloc, CALLER) != 0) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, n);
}

/* --- clocks, and waits by them ------------------------------------------------------------------
 */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns = fail_clock_ns(id);

	ts->tv_sec = ns / 1000000000;
	ts->tv_nsec = ns % 1000000000;
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	int64_t ns = fail_clock_ns(CLOCK_REALTIME);

	(void)tz;
	*tv = (struct timeval){.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000};
	return 0;
}

time_t time(time_t *to)
{
	time_t now = fail_clock_ns(CLOCK_REALTIME) / 1000000000;

	if (to != NULL)
		*to = now;
	return now;
}

static int shorter(int ms)
{
	return ms <= 0 ? ms : (int)((ms + fail_speed() - 1) / fail_speed());
}

#define WAIT(symbol, params, args, fn)                                                             \
	int symbol params;                                                                         \
	int symbol params                                                                          \
	{                                                                                          \
		static int(*real) params;                                                          \
		const int why = fail_now(FAIL_##fn, CALLER);                                       \
                                                                                                   \
		if (why > 0) {                                                                     \
			errno = why;                                                               \
			return -1;                                                                 \
		}                                                                                  \
		if (real == NULL)                                                                  \
			*(void **)&real = fail_real(#symbol);                                      \
		return real args;                                                                  \
	}
WAIT(epoll_wait, (int e, struct epoll_event *v, int n, int ms), (e, v, n, shorter(ms)), epoll_wait)
WAIT(epoll_pwait, (int e, struct epoll_event *v, int n, int ms, const sigset_t *s),
     (e, v, n, shorter(ms), s), epoll_wait)
WAIT(poll, (struct pollfd * v, nfds_t n, int ms), (v, n, shorter(ms)), poll)

int usleep(useconds_t us)
{
	struct timespec ts = {.tv_nsec = (long)us * 1000 / fail_speed() % 1000000000};

	return nanosleep(&ts, NULL);
}
