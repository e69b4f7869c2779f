/* test_ctl_server.c - the control socket, by clients in the same loop: who gets in, what is cut,
 * what is left behind.  Other users are played by seteuid() around connect(), which is when the
 * kernel notes who it is; without root those tests are skipped. */
#include "io/ctl_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "base/frame.h"
#include "io/loop.h"

#define HEAD "{\"v\":1,\"op\":\"call\",\"kind\":\"resume\"}"
#define ASK  "{\"v\":1,\"op\":\"status\"}"

enum { VIEWER = 12345, ADMIN = 12346, DEADLINE_MS = 300, HOLD_MS = 600, HELD_MAX = 8 };

static struct fix {
	struct loop *l;
	struct ctl_server *s;
	char dir[32], path[64];
	unsigned fds;
	unsigned requests, calls, dropped;
	unsigned requests_before; /* the last call */
	struct ctl_caller who;
	char list[256];
	size_t file_len, list_len;
	char *answer; /* what the next request gets; NULL: {"ok":true} */
	bool close_inside;
	bool hold; /* the next requests, while there is room */
	struct ctl_conn *held[HELD_MAX + CTL_WATCH_SLOTS]; /* by what the server was given for it */
	unsigned nheld, expired, gone;
} F;

static unsigned count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return n;
}

static void maybe_close(void)
{
	if (F.close_inside) {
		ctl_server_close(F.s);
		F.s = NULL;
	}
}

static char *on_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who,
			const char *json, size_t len)
{
	char *answer = F.answer;

	(void)ctx;
	assert_int_equal(strlen(json), len);
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

static void forget(void *hold)
{
	struct ctl_conn **c = hold;

	assert_true(c >= F.held && c < F.held + F.nheld && *c != NULL);
	*c = NULL;
}

static char *on_expired(void *ctx, void *hold)
{
	(void)ctx;
	forget(hold);
	F.expired++;
	maybe_close();
	return strdup("{\"ok\":true,\"wait\":true}");
}

static void on_gone(void *ctx, void *hold)
{
	(void)ctx;
	forget(hold);
	F.gone++;
}

static char *on_call(void *ctx, const struct ctl_caller *who, const struct ctl_call *call)
{
	(void)ctx;
	F.calls++;
	F.requests_before = F.requests;
	F.who = *who;
	F.dropped += call->dropped;
	F.file_len = call->file_len;
	F.list_len = call->list_len;
	(void)snprintf(F.list, sizeof(F.list), "%s", call->list);
	maybe_close();
	return strdup("{\"ok\":true,\"seq\":7}");
}

static int open_server(struct ctl_server **out, uint32_t deadline_ms, struct err *e)
{
	static const uint32_t admins[] = {1, ADMIN};
	static const struct ctl_handler h = {
		.request = on_request, .expired = on_expired, .gone = on_gone, .call = on_call};
	const struct ctl_server_opts o = {.path = F.path,
					  .admins = admins,
					  .nadmins = 2,
					  .deadline_ms = deadline_ms,
					  .hold_ms = deadline_ms != 0 ? HOLD_MS : 0,
					  .held_max = HELD_MAX};

	return ctl_server_new(out, F.l, &o, &h, e);
}

static int start(uint32_t deadline_ms)
{
	memset(&F, 0, sizeof(F));
	(void)snprintf(F.dir, sizeof(F.dir), "/tmp/ctlXXXXXX");
	F.fds = count_fds();
	if (mkdtemp(F.dir) == NULL || chmod(F.dir, 0755) != 0)
		return -1;
	(void)snprintf(F.path, sizeof(F.path), "%s/ctl.sock", F.dir);
	return loop_new(&F.l, NULL) != 0 || open_server(&F.s, deadline_ms, NULL) != 0 ? -1 : 0;
}

static int setup(void **state)
{
	(void)state;
	return start(DEADLINE_MS);
}

static int setup_default(void **state)
{
	(void)state;
	return start(0);
}

static int teardown(void **state)
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

static void turn(void)
{
	(void)uv_run(loop_uv(F.l), UV_RUN_NOWAIT);
}

static int dial_nowait(uid_t uid)
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

static int dial(uid_t uid)
{
	int fd = dial_nowait(uid);

	turn();
	return fd;
}

/* -1 when the server does not want it. */
static int push(int fd, const void *data, size_t len)
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

static int push_frame(int fd, int type, const char *data, size_t len)
{
	unsigned char head[FRAME_HEADER];

	frame_header(head, (enum frame_type)type, (uint32_t)len);
	return push(fd, head, sizeof(head)) != 0 ? -1 : push(fd, data, len);
}

static int say(int fd, int type, const char *text)
{
	return push_frame(fd, type, text, strlen(text));
}

/* Until the server is done with it; the text of the answer, "" when it closed without one. */
static const char *hear(int fd)
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

static bool is_open(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	turn();
	return poll(&p, 1, 0) == 0;
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

static void test_request(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	assert_int_equal(say(fd, 'J', ASK), 0);
	assert_string_equal(hear(fd), "{\"ok\":true}");
	assert_int_equal(F.requests, 1);
	assert_int_equal(F.who.role, CTL_OWN);
	assert_int_equal(F.who.uid, geteuid());
	assert_int_equal(F.who.pid, getpid());
}

static void test_call(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	assert_int_equal(say(fd, 'J', HEAD), 0);
	assert_int_equal(say(fd, 'L', "n[1-"), 0);
	assert_int_equal(say(fd, 'L', "2]"), 0);
	assert_int_equal(say(fd, 'F', "{}"), 0);
	assert_int_equal(F.calls, 0);
	assert_int_equal(say(fd, 'Z', ""), 0);
	assert_string_equal(hear(fd), "{\"ok\":true,\"seq\":7}");
	assert_int_equal(F.calls, 1);
	assert_string_equal(F.list, "n[1-2]");
	assert_int_equal(F.file_len, 2);
}

static void test_byte_by_byte(void **state)
{
	static const char bytes[] = "J\0\0\0\x0f{\"op\":\"call\"}  L\0\0\0\2n1Z\0\0\0";
	int fd = dial(geteuid());

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) /* the NUL at its end is the last byte of Z */
		assert_int_equal(push(fd, bytes + i, 1), 0);
	assert_string_equal(hear(fd), "{\"ok\":true,\"seq\":7}");
	assert_string_equal(F.list, "n1");
}

/* Bytes that are no request; want: part of the answer. */
static const struct {
	const char *name, *bytes;
	size_t len;
	const char *want;
} garbage[] = {
#define ROW(name, bytes, want)                                                                     \
	{                                                                                          \
		name, bytes, sizeof(bytes) - 1, want                                               \
	}
	ROW("no frame", "GET / HTTP/1.1\r\n\r\n", "not a frame"),
	ROW("NUL", "\0\0\0\0\0", "not a frame"),
	ROW("4 GiB", "J\xff\xff\xff\xff", "frame of 4294967295 bytes"),
	ROW("over our cap", "J\0\2\x10\1", "too long"),
	ROW("starts with a list", "L\0\0\0\2n1", "first frame must be JSON"),
	ROW("starts with the end", "Z\0\0\0\0", "first frame must be JSON"),
	ROW("two heads", "J\0\0\0\x0d{\"op\":\"call\"}J\0\0\0\x0d{\"op\":\"call\"}",
	    "out of place"),
	ROW("list after file", "J\0\0\0\x0d{\"op\":\"call\"}F\0\0\0\1xL\0\0\0\1x", "out of place"),
	ROW("unknown frame in a call", "J\0\0\0\x0d{\"op\":\"call\"}X\0\0\0\0", "not a frame"),
#undef ROW
};

static void test_garbage_is_answered_and_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		int fd = dial(geteuid());
		const char *said;

		print_message("# %s\n", garbage[i].name);
		(void)push(fd, garbage[i].bytes, garbage[i].len);
		said = hear(fd);
		assert_memory_equal(said, "{\"ok\":false,", 12);
		assert_non_null(strstr(said, garbage[i].want));
	}
	assert_int_equal(F.requests + F.calls, 0);
}

/* What is JSON, or not, is the handler's business, unless it is the head of a call. */
static void test_any_json_frame_is_a_request(void **state)
{
	static const char *const texts[] = {"", "[]", "nonsense", "{\"op\":1}",
					    "{\"op\":\"calls\"}"};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int fd = dial(geteuid());

		assert_int_equal(say(fd, 'J', texts[i]), 0);
		assert_string_equal(hear(fd), "{\"ok\":true}");
		assert_int_equal(F.requests, i + 1);
	}
}

static void test_half_a_call_leaves_nothing(void **state)
{
	static const char *const cuts[] = {"", "J", "J\0\0"};

	(void)state;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		int fd = dial(geteuid());

		assert_int_equal(push(fd, cuts[i], i), 0);
		(void)close(fd);
		turn();
	}
	for (int i = 0; i < 100; i++) { /* more than there are slots: each is given back */
		int fd = dial(geteuid());

		assert_int_equal(say(fd, 'J', HEAD), 0);
		assert_int_equal(say(fd, 'L', "n1"), 0);
		assert_int_equal(say(fd, 'F', "half"), 0);
		(void)close(fd);
		turn();
	}
	assert_int_equal(F.calls + F.requests, 0);
	test_call(state);
}

static void test_half_closed_client_gets_its_answer(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	assert_int_equal(say(fd, 'J', ASK), 0);
	(void)shutdown(fd, SHUT_WR);
	assert_string_equal(hear(fd), "{\"ok\":true}");
}

static char big[FRAME_CHUNK];

static void push_file(int fd, size_t bytes)
{
	for (size_t n = 0; n < bytes; n += sizeof(big))
		assert_int_equal(push_frame(fd, 'F', big, sizeof(big)), 0);
}

static void test_20_mb_file_is_dropped_and_flagged(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	assert_int_equal(say(fd, 'J', HEAD), 0);
	assert_int_equal(say(fd, 'L', "n1"), 0);
	push_file(fd, 20 << 20);
	assert_int_equal(say(fd, 'Z', ""), 0);
	assert_string_equal(hear(fd), "{\"ok\":true,\"seq\":7}");
	assert_int_equal(F.dropped, 1);
	assert_int_equal(F.file_len, 0);
	assert_string_equal(F.list, "n1"); /* the call itself lives */
}

static void test_budget_of_all_calls(void **state)
{
	enum { N = 6 };
	int fd[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		fd[i] = dial(geteuid());
		assert_int_equal(say(fd[i], 'J', HEAD), 0);
		push_file(fd[i], 15 << 20);
	}
	for (int i = 0; i < N; i++) {
		assert_int_equal(say(fd[i], 'Z', ""), 0);
		assert_string_equal(hear(fd[i]), "{\"ok\":true,\"seq\":7}");
		assert_int_equal(F.dropped, i < 4 ? 0 : i - 3); /* 4 x 15 MB fit into 64 */
	}
	fd[0] = dial(geteuid()); /* it is all given back */
	assert_int_equal(say(fd[0], 'J', HEAD), 0);
	push_file(fd[0], 15 << 20);
	assert_int_equal(say(fd[0], 'Z', ""), 0);
	(void)hear(fd[0]);
	assert_int_equal(F.file_len, 15 << 20);
}

static void test_slow_sender_is_cut(void **state)
{
	int64_t before = loop_now(F.l), took;
	int fd = dial(geteuid());

	(void)state;
	assert_int_equal(say(fd, 'J', HEAD), 0);
	while (push_frame(fd, 'L', "n", 1) == 0) /* always a little, never done */
		(void)usleep(5000);
	took = loop_now(F.l) - before;
	assert_in_range(took, DEADLINE_MS, DEADLINE_MS + 300);
	assert_string_equal(hear(fd), "");
	assert_int_equal(F.calls, 0);
}

static void test_deadline_is_five_seconds(void **state)
{
	int64_t before = loop_now(F.l), took;
	int fd = dial(geteuid());

	(void)state;
	assert_string_equal(hear(fd), ""); /* hear() gives up after 10 s */
	took = loop_now(F.l) - before;
	assert_in_range(took, CTL_DEADLINE_MS, CTL_DEADLINE_MS + 500);
}

static char *text_of(size_t len)
{
	char *p = malloc(len + 1);

	memset(p, 'x', len);
	p[len] = '\0';
	return p;
}

static void test_longest_answer(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	F.answer = text_of(CTL_REPLY_MAX);
	assert_int_equal(say(fd, 'J', ASK), 0);
	assert_int_equal(strlen(hear(fd)), CTL_REPLY_MAX);
	fd = dial(geteuid());
	F.answer = text_of(CTL_REPLY_MAX + 1);
	assert_int_equal(say(fd, 'J', ASK), 0);
	assert_string_equal(hear(fd), "{\"ok\":false,\"error\":\"the answer is too long\"}");
}

static void test_slow_reader_is_cut(void **state)
{
	int64_t before = loop_now(F.l);
	int fd = dial(geteuid());
	unsigned fds;

	(void)state;
	F.answer = text_of(CTL_REPLY_MAX); /* more than the socket holds */
	fds = count_fds();
	assert_int_equal(say(fd, 'J', ASK), 0);
	assert_int_equal(count_fds(), fds);
	while (count_fds() == fds && loop_now(F.l) < before + 5000) {
		(void)usleep(5000);
		turn();
	}
	assert_in_range(loop_now(F.l) - before, DEADLINE_MS, DEADLINE_MS + 300);
	assert_true(strlen(hear(fd)) < CTL_REPLY_MAX);
}

/* --- who gets in ------------------------------------------------------------------------------ */

static const struct {
	uid_t uid;
	enum ctl_role role;
	bool may_call;
} roles[] = {
	{0, CTL_OWN, true},
	{ADMIN, CTL_OPERATOR, false},
	{VIEWER, CTL_VIEWER, false},
};

static void test_role_by_uid(void **state)
{
	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		int fd = dial(roles[i].uid);

		assert_int_equal(say(fd, 'J', ASK), 0);
		assert_string_equal(hear(fd), "{\"ok\":true}");
		assert_int_equal(F.who.role, roles[i].role);
		assert_int_equal(F.who.uid, roles[i].uid);
		fd = dial(roles[i].uid);
		(void)say(fd, 'J', HEAD);
		(void)say(fd, 'Z', "");
		assert_int_equal(strstr(hear(fd), "\"ok\":true") != NULL, roles[i].may_call);
	}
	assert_int_equal(F.calls, 1);
}

static unsigned fill(int *fd, unsigned n, uid_t uid)
{
	unsigned open = 0;

	for (unsigned i = 0; i < n; i++)
		fd[i] = dial(uid);
	for (unsigned i = 0; i < n; i++)
		open += is_open(fd[i]);
	return open;
}

static void drop(int *fd, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		(void)close(fd[i]);
	turn();
}

static void test_hook_gets_through_when_others_fill_their_slots(void **state)
{
	int viewer[60], admin[30], asker[40];
	unsigned open = 0;

	(void)state;
	need_root();
	assert_int_equal(fill(viewer, 60, VIEWER), CTL_VIEWER_SLOTS);
	assert_int_equal(fill(admin, 30, ADMIN), CTL_OPERATOR_SLOTS);
	for (int i = 0; i < 40; i++) { /* root, asking: no operator slot is left, so it is told */
		asker[i] = dial(0);
		assert_int_equal(say(asker[i], 'J', ASK), 0);
		open += is_open(asker[i]);
	}
	assert_int_equal(open, 0);
	assert_int_equal(F.requests, 0);
	assert_memory_equal(hear(asker[0]), "{\"ok\":false,\"error\":\"busy", 25);
	test_call(state);
	drop(asker + 1, 39);
	drop(admin, 30);
	drop(viewer, 60);
	test_request(state); /* all slots are free again */
}

/* One frame in one piece, while the loop stands still. */
static void push_nowait(int fd, int type, const char *text)
{
	char buf[256];
	size_t len = strlen(text);

	frame_header((unsigned char *)buf, (enum frame_type)type, (uint32_t)len);
	memcpy(buf + FRAME_HEADER, text, len);
	assert_int_equal(send(fd, buf, FRAME_HEADER + len, MSG_NOSIGNAL),
			 (ssize_t)(FRAME_HEADER + len));
}

/* What viewers ask for may take a while each: a hook never waits for all of them. */
static void test_hook_goes_before_viewers(void **state)
{
	enum { VIEWERS = 20 };
	int viewer[VIEWERS], hook;

	(void)state;
	need_root();
	for (int i = 0; i < VIEWERS; i++)
		viewer[i] = dial(VIEWER);
	for (int i = 0; i < VIEWERS; i++)
		push_nowait(viewer[i], 'J', ASK);
	turn();
	assert_in_range(F.requests, 0, 1);
	hook = dial_nowait(0);
	push_nowait(hook, 'J', HEAD);
	push_nowait(hook, 'Z', "");
	turn();
	assert_int_equal(F.calls, 1);
	assert_in_range(F.requests_before, 0, 2);
	for (int i = 0; i < VIEWERS; i++)
		assert_string_equal(hear(viewer[i]), "{\"ok\":true}");
	assert_int_equal(F.requests, VIEWERS);
	assert_string_equal(hear(hook), "{\"ok\":true,\"seq\":7}");
}

/* In his turn, and while he waits for it, a viewer is as good as any other. */
static void test_viewers_in_turn(void **state)
{
	int held, gone, half, last[5];

	(void)state;
	need_root();
	held = dial(VIEWER);
	gone = dial(VIEWER);
	half = dial(VIEWER);
	F.hold = true;
	push_nowait(held, 'J', ASK);
	turn();
	turn();
	assert_int_equal(F.nheld, 1);
	F.hold = false;
	push_nowait(gone, 'J', ASK);
	push_nowait(half, 'J', ASK);
	assert_int_equal(shutdown(half, SHUT_WR), 0);
	(void)close(gone);
	assert_string_equal(hear(half), "{\"ok\":true}");
	(void)close(held); /* seen, though nothing was read while he waited for his turn */
	turn();
	turn();
	assert_int_equal(F.gone, 1);
	for (int i = 0; i < 5; i++)
		last[i] = dial(VIEWER);
	for (int i = 0; i < 5; i++)
		push_nowait(last[i], 'J', ASK);
	turn();
	drop(last, 5); /* the server is closed while some wait */
}

static void test_askers_who_do_not_read_hold_operator_slots_only(void **state)
{
	int fd[CTL_OPERATOR_SLOTS + 1];

	(void)state;
	for (int i = 0; i <= CTL_OPERATOR_SLOTS; i++) {
		fd[i] = dial(geteuid());
		F.answer = text_of(CTL_REPLY_MAX);
		assert_int_equal(say(fd[i], 'J', ASK), 0);
	}
	free(F.answer); /* of the one that was refused */
	F.answer = NULL;
	assert_int_equal(F.requests, CTL_OPERATOR_SLOTS);
	assert_memory_equal(hear(fd[CTL_OPERATOR_SLOTS]), "{\"ok\":false,\"error\":\"busy", 25);
	test_call(state);
	drop(fd, CTL_OPERATOR_SLOTS);
}

/* They may be hooks, but a hook speaks at once. */
static void test_silent_ones_make_room_for_a_hook(void **state)
{
	int fd[CTL_HOOK_SLOTS];

	(void)state;
	assert_int_equal(fill(fd, CTL_HOOK_SLOTS, geteuid()), CTL_HOOK_SLOTS);
	(void)usleep(150000); /* less than their deadline */
	test_call(state);
	assert_false(is_open(fd[0]));
	assert_true(is_open(fd[1]));
	drop(fd, CTL_HOOK_SLOTS);
}

/* More hooks at once than slots: the rest waits in the backlog, and none is turned away. */
static void test_flood_of_hooks_waits(void **state)
{
	enum { N = 5 * CTL_HOOK_SLOTS };
	static const char call[] = "J\0\0\0\x0d{\"op\":\"call\"}L\0\0\0\2n1Z\0\0\0";
	int fd[N];

	(void)state;
	for (int i = 0; i < N; i++)
		fd[i] = dial_nowait(geteuid());
	for (int i = 0; i < 10; i++) {
		turn(); /* it took what it had slots for, and heard nothing from them yet */
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(send(fd[i], call, sizeof(call), MSG_NOSIGNAL), sizeof(call));
	for (int i = 0; i < N; i++)
		assert_string_equal(hear(fd[i]), "{\"ok\":true,\"seq\":7}");
	assert_int_equal(F.calls, N);
}

static void note_time(void *ctx)
{
	bool *over = ctx;

	*over = true;
}

/* F56: no spinning, and the hook waits in the backlog until there is a descriptor. */
static void test_out_of_descriptors(void **state)
{
	bool over = false;
	struct timer *t = timer_new(F.l, note_time, &over);
	struct rlimit was, few;
	clock_t cpu;
	int fd;

	(void)state;
	fd = dial_nowait(geteuid());
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	few.rlim_cur = 4;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	cpu = clock();
	timer_at(t, loop_now(F.l) + 350);
	while (!over)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	cpu = clock() - cpu;
	timer_free(t);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_true(cpu < CLOCKS_PER_SEC / 10);
	assert_int_equal(say(fd, 'J', ASK), 0);
	assert_string_equal(hear(fd), "{\"ok\":true}");
}

/* --- answers that come later --------------------------------------------------------------------
 */

static int hold(uid_t uid)
{
	unsigned before = F.nheld;
	int fd = dial(uid);

	F.hold = true;
	assert_int_equal(say(fd, 'J', ASK), 0);
	assert_int_equal(F.nheld, before + 1);
	F.hold = false;
	return fd;
}

static void answer_held(unsigned i, const char *text)
{
	struct ctl_conn *c = F.held[i];

	F.held[i] = NULL;
	ctl_server_answer(c, strdup(text));
}

static void pass(int64_t ms)
{
	int64_t until = loop_now(F.l) + ms;

	while (loop_now(F.l) < until) {
		(void)usleep(2000);
		turn();
	}
}

/* Longer than the deadline of the others; in any order. */
static void test_held_is_answered_later(void **state)
{
	int a = hold(geteuid()), b = hold(geteuid());

	(void)state;
	pass(DEADLINE_MS + 100);
	assert_true(is_open(a) && is_open(b));
	answer_held(1, "{\"ok\":true,\"n\":2}");
	assert_string_equal(hear(b), "{\"ok\":true,\"n\":2}");
	answer_held(0, "{\"ok\":true,\"n\":1}");
	assert_string_equal(hear(a), "{\"ok\":true,\"n\":1}");
	assert_int_equal(F.expired + F.gone, 0);
}

static void test_held_expires(void **state)
{
	int64_t before = loop_now(F.l);
	int fd = hold(geteuid());

	(void)state;
	assert_string_equal(hear(fd), "{\"ok\":true,\"wait\":true}");
	assert_in_range(loop_now(F.l) - before, HOLD_MS, HOLD_MS + 200);
	assert_int_equal(F.expired, 1);
	assert_int_equal(F.gone, 0);
}

/* Ten seconds, as docs/protocol.md says. */
static void test_hold_is_ten_seconds(void **state)
{
	int64_t before = loop_now(F.l);
	int fd = hold(geteuid());

	(void)state;
	pass(CTL_HOLD_MS - 500);
	assert_true(is_open(fd));
	assert_string_equal(hear(fd), "{\"ok\":true,\"wait\":true}");
	assert_in_range(loop_now(F.l) - before, CTL_HOLD_MS, CTL_HOLD_MS + 500);
}

/* They do not stand in the way of those whose time is shorter. */
static void test_held_leaves_the_deadline_of_others(void **state)
{
	int a = hold(geteuid()), slow = dial(geteuid());
	int64_t before = loop_now(F.l);

	(void)state;
	assert_string_equal(hear(slow), "");
	assert_in_range(loop_now(F.l) - before, 0, DEADLINE_MS + 150);
	assert_true(is_open(a));
	test_call(state);
	(void)close(a);
	turn();
	assert_int_equal(F.gone, 1);
}

static void test_peer_of_held_goes(void **state)
{
	int a = hold(geteuid()), b = hold(geteuid()), c = hold(geteuid());

	(void)state;
	(void)close(b);
	turn();
	assert_int_equal(F.gone, 1);
	assert_null(F.held[1]);
	(void)shutdown(c, SHUT_WR); /* it would not be told from one that is gone */
	turn();
	assert_int_equal(F.gone, 2);
	(void)close(c);
	(void)say(a, 'J', ASK); /* one request is all */
	turn();
	assert_int_equal(F.gone, 3);
	assert_int_equal(F.requests, 3);
	(void)close(a);
}

static void test_held_have_a_cap_of_their_own(void **state)
{
	int fd[HELD_MAX], one;

	(void)state;
	for (int i = 0; i < HELD_MAX; i++)
		fd[i] = hold(geteuid());
	F.hold = true;
	one = dial(geteuid());
	assert_int_equal(say(one, 'J', ASK), 0);
	assert_string_equal(hear(one), "{\"ok\":true}"); /* at once, for it could not be held */
	F.hold = false;
	test_call(state); /* and nobody else notices */
	(void)close(fd[3]);
	turn();
	(void)close(hold(geteuid()));
	drop(fd, 3);
	drop(fd + 4, HELD_MAX - 4);
	assert_int_equal(F.gone, HELD_MAX + 1);
}

/* However many others watch, there is room for jobs that start. */
static void test_watchers_have_another_cap(void **state)
{
	int fd[CTL_WATCH_SLOTS], one;

	(void)state;
	need_root();
	for (int i = 0; i < CTL_WATCH_SLOTS; i++)
		fd[i] = hold(i % 2 == 0 ? VIEWER : ADMIN);
	F.hold = true;
	one = dial(VIEWER);
	assert_int_equal(say(one, 'J', ASK), 0);
	assert_string_equal(hear(one), "{\"ok\":true}");
	(void)close(hold(0));
	drop(fd, CTL_WATCH_SLOTS);
	assert_int_equal(F.gone, CTL_WATCH_SLOTS + 1);
}

static void test_slow_reader_of_a_held_answer_is_cut(void **state)
{
	int fd = hold(geteuid());
	struct ctl_conn *c = F.held[0];
	int64_t before;

	(void)state;
	pass(200);
	before = loop_now(F.l);
	F.held[0] = NULL;
	ctl_server_answer(c, text_of(CTL_REPLY_MAX));
	pass(DEADLINE_MS + 100);
	assert_true(strlen(hear(fd)) < CTL_REPLY_MAX);
	assert_true(loop_now(F.l) - before < DEADLINE_MS + 300);
}

static void test_close_while_held(void **state)
{
	int a = hold(geteuid()), b = hold(geteuid());

	(void)state;
	ctl_server_close(F.s);
	F.s = NULL;
	assert_int_equal(F.gone, 2);
	assert_string_equal(hear(a), "");
	assert_string_equal(hear(b), "");
	assert_int_equal(F.expired, 0);
}

static void test_close_inside_expired(void **state)
{
	int a = hold(geteuid()), b = hold(geteuid());

	(void)state;
	F.close_inside = true;
	assert_string_equal(hear(a), "");
	assert_string_equal(hear(b), "");
	assert_int_equal(F.expired, 1);
	assert_int_equal(F.gone, 1);
}

static void test_close_inside_a_held_request(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	F.close_inside = F.hold = true;
	(void)say(fd, 'J', ASK);
	assert_string_equal(hear(fd), "");
	assert_int_equal(F.gone, 1);
}

/* --- the socket itself ------------------------------------------------------------------------ */

static void test_mode_is_for_everybody(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(lstat(F.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
}

/* F59 */
static void test_live_one_is_refused(void **state)
{
	struct ctl_server *other;
	struct err e;

	(void)state;
	assert_int_equal(open_server(&other, 0, &e), -1);
	assert_null(other);
	assert_int_equal(e.code, ERR_IO);
	assert_non_null(strstr(e.msg, "another burstd"));
	test_request(state); /* and is still there */
}

static void test_dead_one_is_replaced(void **state)
{
	struct ctl_server *first = F.s;
	char aside[80];

	(void)state;
	(void)snprintf(aside, sizeof(aside), "%s.old", F.path);
	assert_int_equal(rename(F.path, aside), 0); /* so that its owner does not remove it */
	ctl_server_close(first);
	F.s = NULL;
	turn();
	assert_int_equal(rename(aside, F.path), 0);
	assert_int_equal(open_server(&F.s, 0, NULL), 0);
	test_request(state);
}

static void test_file_is_not_replaced(void **state)
{
	struct err e;
	int fd;

	(void)state;
	ctl_server_close(F.s);
	F.s = NULL;
	fd = open(F.path, O_CREAT | O_WRONLY | O_EXCL, 0600);
	(void)close(fd);
	assert_int_equal(open_server(&F.s, 0, &e), -1);
	assert_int_equal(e.code, ERR_IO);
	assert_int_equal(unlink(F.path), 0); /* it is still there */
}

static void test_successor_keeps_its_socket(void **state)
{
	struct ctl_server *first = F.s;

	(void)state;
	assert_int_equal(unlink(F.path), 0);
	assert_int_equal(open_server(&F.s, 0, NULL), 0);
	ctl_server_close(first);
	test_request(state);
}

static void test_bad_paths(void **state)
{
	static const struct ctl_handler h = {.request = on_request, .call = on_call};
	struct ctl_server_opts o = {.path = "/nowhere/at/all/ctl.sock"};
	struct ctl_server *s;
	char longest[200];
	struct err e;

	(void)state;
	assert_int_equal(ctl_server_new(&s, F.l, &o, &h, &e), -1);
	assert_int_equal(e.code, ERR_IO);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	o.path = longest;
	assert_int_equal(ctl_server_new(&s, F.l, &o, &h, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_null(s);
}

static void test_close_inside_a_handler(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	F.close_inside = true;
	(void)say(fd, 'J', ASK);
	assert_string_equal(hear(fd), "");
	assert_int_equal(F.requests, 1);
}

static void test_close_inside_a_call(void **state)
{
	int fd = dial(geteuid());
	int other = dial(geteuid());

	(void)state;
	F.close_inside = true;
	(void)say(other, 'J', HEAD);
	(void)say(fd, 'J', HEAD);
	(void)say(fd, 'Z', "");
	assert_string_equal(hear(fd), "");
	assert_string_equal(hear(other), "");
	assert_int_equal(F.calls, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define D(f) cmocka_unit_test_setup_teardown(f, setup_default, teardown)
	const struct CMUnitTest tests[] = {
		T(test_request),
		T(test_call),
		T(test_byte_by_byte),
		T(test_garbage_is_answered_and_cut),
		T(test_any_json_frame_is_a_request),
		T(test_half_a_call_leaves_nothing),
		T(test_half_closed_client_gets_its_answer),
		D(test_20_mb_file_is_dropped_and_flagged),
		D(test_budget_of_all_calls),
		T(test_slow_sender_is_cut),
		D(test_deadline_is_five_seconds),
		D(test_longest_answer),
		T(test_slow_reader_is_cut),
		T(test_role_by_uid),
		D(test_hook_gets_through_when_others_fill_their_slots),
		T(test_hook_goes_before_viewers),
		T(test_viewers_in_turn),
		D(test_askers_who_do_not_read_hold_operator_slots_only),
		T(test_silent_ones_make_room_for_a_hook),
		D(test_flood_of_hooks_waits),
		D(test_out_of_descriptors),
		T(test_mode_is_for_everybody),
		T(test_live_one_is_refused),
		T(test_dead_one_is_replaced),
		T(test_file_is_not_replaced),
		T(test_successor_keeps_its_socket),
		T(test_bad_paths),
		T(test_close_inside_a_handler),
		T(test_close_inside_a_call),
		T(test_held_is_answered_later),
		T(test_held_expires),
		D(test_hold_is_ten_seconds),
		T(test_held_leaves_the_deadline_of_others),
		T(test_peer_of_held_goes),
		D(test_held_have_a_cap_of_their_own),
		D(test_watchers_have_another_cap),
		T(test_slow_reader_of_a_held_answer_is_cut),
		T(test_close_while_held),
		T(test_close_inside_expired),
		T(test_close_inside_a_held_request),
	};
#undef T
#undef D
	struct loop *l;

	/* libuv opens descriptors for signals with its first loop, and keeps them. */
	if (loop_new(&l, NULL) != 0)
		return 1;
	loop_free(l);
	return cmocka_run_group_tests_name("ctl_server", tests, NULL, NULL);
}
