/* fail.h - between fail.c, which decides, and fail_calls.c, which stands before libc. */
#ifndef TORTURE_FAIL_H
#define TORTURE_FAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* clang-format off */
/* Variants of one (open64, __open_2, openat64) go by one name. */
#define FAIL_FUNCTIONS \
	F(open) F(openat) F(close) F(read) F(write) F(pread) F(pwrite) F(fsync) F(fdatasync) \
	F(ftruncate) F(fallocate) F(rename) F(unlink) F(mkdir) F(chmod) F(stat) F(fstat) \
	F(statvfs) F(access) F(flock) F(fcntl) F(opendir) F(readdir) F(socket) F(socketpair) \
	F(connect) F(accept) F(bind) F(listen) F(send) F(recv) F(getsockopt) F(setsockopt) \
	F(getsockname) F(epoll_create) F(epoll_ctl) F(epoll_wait) F(poll) F(eventfd) F(pipe2) \
	F(dup) F(memfd_create) F(fork) F(execvp) F(waitpid) F(kill) F(mmap) F(mremap) \
	F(getrandom) F(close_range) F(malloc) F(calloc) F(realloc)
/* clang-format on */

enum fail_function {
#define F(name) FAIL_##name,
	FAIL_FUNCTIONS
#undef F
		FAIL_NFUNCTIONS
};

enum { FAIL_SHORT = -1, FAIL_EOF = -2 };

struct fail_shared {
	uint64_t seen, fired;
};

/* 0, an errno, FAIL_SHORT or FAIL_EOF.  caller: the return address of who asks for us. */
int fail_now(enum fail_function fn, void *caller);
/* The same, for what may wait: EAGAIN only where it may not. */
int fail_fd(enum fail_function fn, void *caller, int fd, int flags);
void fail_in_child(void);
void *fail_real(const char *name);
long fail_speed(void);
int64_t fail_clock_ns(int id);

#endif
