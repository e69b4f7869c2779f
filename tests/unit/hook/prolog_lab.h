/* prolog_lab.h - burst-prolog and a burstd that answers it. */
#ifndef TESTS_PROLOG_LAB_H
#define TESTS_PROLOG_LAB_H

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/frame.h"
#include "tests/unit/hook/hook_lab.h"

#define UP           "{\"ok\":true,\"up\":true}"
#define ASKED(nodes) "{\"v\":1,\"op\":\"gate\",\"job\":7,\"nodes\":\"" nodes "\"}"

static char *env[] = {(char *)(uintptr_t) "SLURM_JOB_ID=7",
		      (char *)(uintptr_t) "SLURM_JOB_NODELIST=c[1-4]", NULL};

/* It has no limit of seconds to keep, as the other hooks have; what matters is asserted. */
static const struct lab_opts prolog = {.name = "burst-prolog", .env = env, .limit_ms = 8000};

/* One whole request, as text. */
static inline void read_request(int fd, char *to, size_t size)
{
	unsigned char head[FRAME_HEADER];
	size_t len, have = 0;

	assert_int_equal(recv(fd, head, sizeof(head), MSG_WAITALL), sizeof(head));
	assert_int_equal(head[0], 'J');
	len = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
	assert_true(len < size);
	while (have < len) {
		ssize_t n = recv(fd, to + have, len - have, 0);

		assert_true(n > 0);
		have += (size_t)n;
	}
	to[len] = '\0';
}

/* Takes the next question; it must be this one. */
static inline int take(int lfd)
{
	int fd = lab_server_accept(lfd);
	char text[256];

	assert_true(fd >= 0);
	read_request(fd, text, sizeof(text));
	assert_string_equal(text, ASKED("c[1-4]"));
	return fd;
}

static inline void reply(int lfd, const char *text)
{
	const struct lab_answer a = {text, 0, 0};
	int fd = take(lfd);

	lab_server_answer(fd, &a);
	(void)close(fd);
}

static inline void assert_asked_nobody(int lfd)
{
	struct pollfd p = {.fd = lfd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, 0), 0);
}

#endif
