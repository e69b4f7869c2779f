/* ctl_clients.h - a control socket whose handlers record their arguments, and clients of it in the
 * same loop.  A test acts as another user by seteuid() around connect(), when the kernel notes the
 * peer's user; without root those tests are skipped. */
#ifndef TESTS_CTL_CLIENTS_H
#define TESTS_CTL_CLIENTS_H

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "base/frame.h"
#include "fds.h"
#include "io/ctl_server.h"
#include "io/loop.h"

#define ASK "{\"v\":1,\"op\":\"status\"}"

enum { VIEWER = 12345, ADMIN = 12346, DEADLINE_MS = 300, HOLD_MS = 600, HELD_MAX = 8 };
enum { OPERATORS = 23451, FINANCE, BOSSES, NOBODYS }; /* groups */

static struct fix {
	struct loop *l;
	struct ctl_server *s;
	char dir[32], path[64];
	unsigned fds;
	unsigned requests;
	unsigned before_ours; /* requests before the last one of our own user */
	struct ctl_caller who;
	char *answer; /* reply to the next request; NULL: {"ok":true} */
	bool close_inside;
	bool hold; /* hold the next requests, while there is room */
	struct ctl_conn *held[HELD_MAX + CTL_WATCH_SLOTS]; /* the server has a pointer to each */
	unsigned nheld, expired, gone;
} F;

static inline void maybe_close(void)
{
	if (F.close_inside) {
		ctl_server_close(F.s);
		F.s = NULL;
	}
}

static inline char *on_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who,
			       const char *json, size_t len)
{
	char *answer = F.answer;

	(void)ctx;
	assert_int_equal(strlen(json), len);
	if (who->roles == CTL_OWN)
		F.before_ours = F.requests;
	F.requests++;
	F.who = *who;
	F.answer = NULL;
	if (F.hold && ctl_server_hold(c, &F.held[F.nheld])) {
		F.held[F.nheld++] = c;
		maybe_close();
		return NULL;
	}
	maybe_close();
	return answer != NULL ? answer : strdup("{\"ok\":true}");
}

static inline void forget(void *hold)
{
	struct ctl_conn **c = hold;

	assert_true(c >= F.held && c < F.held + F.nheld && *c != NULL);
	*c = NULL;
}

static inline char *on_expired(void *ctx, void *hold)
{
	(void)ctx;
	forget(hold);
	F.expired++;
	maybe_close();
	return strdup("{\"ok\":true,\"wait\":true}");
}

static inline void on_gone(void *ctx, void *hold)
{
	(void)ctx;
	forget(hold);
	F.gone++;
}

static inline int open_server(struct ctl_server **out, uint32_t deadline_ms, struct err *e)
{
	static uint32_t admins[] = {1, ADMIN}, admin_groups[] = {2, BOSSES},
			operator_groups[] = {OPERATORS}, finance_groups[] = {FINANCE};
	static const struct conf_people people = {.admins = {admins, 2},
						  .admin_groups = {admin_groups, 2},
						  .operator_groups = {operator_groups, 1},
						  .finance_groups = {finance_groups, 1}};
	static const struct ctl_handler h = {
		.request = on_request, .expired = on_expired, .gone = on_gone};
	const struct ctl_server_opts o = {.path = F.path,
					  .people = &people,
					  .deadline_ms = deadline_ms,
					  .hold_ms = deadline_ms != 0 ? HOLD_MS : 0,
					  .held_max = HELD_MAX};

	return ctl_server_new(out, F.l, &o, &h, e);
}

static inline int start(uint32_t deadline_ms)
{
	memset(&F, 0, sizeof(F));
	(void)snprintf(F.dir, sizeof(F.dir), "/tmp/ctlXXXXXX");
	F.fds = count_fds();
	if (mkdtemp(F.dir) == NULL || chmod(F.dir, 0755) != 0)
		return -1;
	(void)snprintf(F.path, sizeof(F.path), "%s/ctl.sock", F.dir);
	return loop_new(&F.l, NULL) != 0 || open_server(&F.s, deadline_ms, NULL) != 0 ? -1 : 0;
}

static inline int setup(void **state)
{
	(void)state;
	return start(DEADLINE_MS);
}

static inline int setup_default(void **state)
{
	(void)state;
	return start(0);
}

static inline int teardown(void **state)
{
	(void)state;
	ctl_server_close(F.s);
	loop_free(F.l);
	free(F.answer);
	assert_int_equal(access(F.path, F_OK), -1);
	assert_int_equal(rmdir(F.dir), 0);
	assert_int_equal(count_fds(), F.fds);
	return 0;
}

/* --- clients ---------------------------------------------------------------------------------- */

static inline void turn(void)
{
	(void)uv_run(loop_uv(F.l), UV_RUN_NOWAIT);
}

static inline int dial_nowait(uid_t uid)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memcpy(sa.sun_path, F.path, strlen(F.path));
	if (uid != geteuid())
		assert_int_equal(seteuid(uid), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	if (geteuid() != getuid())
		assert_int_equal(seteuid(getuid()), 0);
	return fd;
}

static inline int dial(uid_t uid)
{
	int fd = dial_nowait(uid);

	turn();
	return fd;
}

/* Send all bytes; -1: the server closed. */
static inline int push(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return -1;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
		turn();
	}
	return 0;
}

/* Send one request. */
static inline int say(int fd, const char *text)
{
	unsigned char head[FRAME_HEADER];

	frame_header(head, (uint32_t)strlen(text));
	return push(fd, head, sizeof(head)) != 0 ? -1 : push(fd, text, strlen(text));
}

/* Read until the server closes; the text of the reply, "" if it closed without one. */
static inline const char *hear(int fd)
{
	static char buf[CTL_REPLY_MAX + 64];
	size_t n = 0;
	int64_t until = loop_now(F.l) + 10000;

	while (loop_now(F.l) < until) {
		ssize_t got = recv(fd, buf + n, sizeof(buf) - 1 - n, 0);

		if (got == 0 || (got < 0 && errno != EAGAIN))
			break;
		if (got > 0)
			n += (size_t)got;
		turn();
	}
	assert_true(loop_now(F.l) < until);
	buf[n] = '\0';
	(void)close(fd);
	turn();
	if (n == 0)
		return "";
	assert_true(n > FRAME_HEADER);
	assert_int_equal(buf[0], 'J');
	return buf + FRAME_HEADER;
}

static inline bool is_open(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	turn();
	return poll(&p, 1, 0) == 0;
}

static inline void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

static inline char *text_of(size_t len)
{
	char *p = malloc(len + 1);

	memset(p, 'x', len);
	p[len] = '\0';
	return p;
}

static inline void drop(int *fd, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		(void)close(fd[i]);
	turn();
}

/* Check that a request of our own user gets through. */
static inline void check_request(void)
{
	const unsigned before = F.requests;
	int fd = dial(geteuid());

	assert_int_equal(say(fd, ASK), 0);
	assert_string_equal(hear(fd), "{\"ok\":true}");
	assert_int_equal(F.requests, before + 1);
	assert_int_equal(F.who.roles, CTL_OWN);
	assert_int_equal(F.who.uid, geteuid());
	assert_int_equal(F.who.pid, getpid());
}

#define CTL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
/* With burstd's own times and numbers. */
#define CTL_TEST_DEFAULT(f) cmocka_unit_test_setup_teardown(f, setup_default, teardown)

#endif
