/* test_ctl_server.c - the control socket: what is read, what is cut, and the socket itself. */
#include "ctl_clients.h"

#include <fcntl.h>

static void test_request(void **state)
{
	(void)state;
	check_request();
}

/* slurmctld's hooks may be root's, and burstd has a user of its own. */
static void test_root_is_as_burstds_own_user(void **state)
{
	int fd;

	(void)state;
	need_root();
	fd = dial_nowait(0);
	assert_int_equal(seteuid(VIEWER), 0);
	turn();
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(say(fd, ASK), 0);
	assert_string_equal(hear(fd), "{\"ok\":true}");
	assert_int_equal(F.who.uid, 0);
	assert_int_equal(F.who.roles, CTL_OWN);
}

static void test_byte_by_byte(void **state)
{
	static const char bytes[] = "J\0\0\0\x0f{\"op\":\"status\"}";
	int fd = dial(geteuid());

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(bytes); i++) {
		assert_int_equal(F.requests, 0);
		assert_int_equal(push(fd, bytes + i, 1), 0);
	}
	assert_string_equal(hear(fd), "{\"ok\":true}");
	assert_int_equal(F.requests, 1);
}

/* The rest of what a peer sends is of no interest. */
static void test_one_request_is_all(void **state)
{
	static const char *const more[] = {"J\0\0\0\2{}", "L\0\0\0\2n1", "garbage"};

	(void)state;
	for (unsigned i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		char bytes[16] = "J\0\0\0\2{}";
		int fd = dial(geteuid());

		memcpy(bytes + 7, more[i], 7);
		assert_int_equal(push(fd, bytes, 14), 0);
		assert_string_equal(hear(fd), "{\"ok\":true}");
		assert_int_equal(F.requests, i + 1);
	}
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
	ROW("the list of a call", "L\0\0\0\2n1", "not a frame"),
	ROW("the end of a call", "Z\0\0\0\0", "not a frame"),
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
	assert_int_equal(F.requests, 0);
}

/* What is JSON, or not, is the handler's business. */
static void test_any_json_frame_is_a_request(void **state)
{
	static const char *const texts[] = {"", "[]", "nonsense", "{\"op\":1}",
					    "{\"op\":\"call\"}"};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int fd = dial(geteuid());

		assert_int_equal(say(fd, texts[i]), 0);
		assert_string_equal(hear(fd), "{\"ok\":true}");
		assert_int_equal(F.requests, i + 1);
	}
}

static void test_half_a_request_leaves_nothing(void **state)
{
	static const char bytes[] = "J\0\0\0\x0f{\"op\":\"status\"}";

	(void)state;
	for (size_t cut = 0; cut + 1 < sizeof(bytes); cut++)
		for (int i = 0; i < 5; i++) { /* more than there are slots: each is given back */
			int fd = dial(geteuid());

			assert_int_equal(push(fd, bytes, cut), 0);
			(void)close(fd);
			turn();
		}
	assert_int_equal(F.requests, 0);
	check_request();
}

static void test_half_closed_client_gets_its_answer(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	assert_int_equal(say(fd, ASK), 0);
	(void)shutdown(fd, SHUT_WR);
	assert_string_equal(hear(fd), "{\"ok\":true}");
}

static void test_slow_sender_is_cut(void **state)
{
	int64_t before = loop_now(F.l), took;
	int fd = dial(geteuid());

	(void)state;
	assert_int_equal(push(fd, "J\0\1\0\0", 5), 0);
	while (push(fd, " ", 1) == 0) /* always a little, never done */
		(void)usleep(5000);
	took = loop_now(F.l) - before;
	assert_in_range(took, DEADLINE_MS, DEADLINE_MS + 300);
	assert_string_equal(hear(fd), "");
	assert_int_equal(F.requests, 0);
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

static void test_longest_answer(void **state)
{
	int fd = dial(geteuid());

	(void)state;
	F.answer = text_of(CTL_REPLY_MAX);
	assert_int_equal(say(fd, ASK), 0);
	assert_int_equal(strlen(hear(fd)), CTL_REPLY_MAX);
	fd = dial(geteuid());
	F.answer = text_of(CTL_REPLY_MAX + 1);
	assert_int_equal(say(fd, ASK), 0);
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
	assert_int_equal(say(fd, ASK), 0);
	assert_int_equal(count_fds(), fds);
	while (count_fds() == fds && loop_now(F.l) < before + 5000) {
		(void)usleep(5000);
		turn();
	}
	assert_in_range(loop_now(F.l) - before, DEADLINE_MS, DEADLINE_MS + 300);
	assert_true(strlen(hear(fd)) < CTL_REPLY_MAX);
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
	assert_non_null(strstr(e.msg, "another process"));
	check_request(); /* and is still there */
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
	check_request();
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
	check_request();
}

static void test_bad_paths(void **state)
{
	static const struct ctl_handler h = {.request = on_request};
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
	int fd = dial(geteuid()), other = dial(geteuid());

	(void)state;
	assert_int_equal(push(other, "J\0\0", 3), 0);
	F.close_inside = true;
	(void)say(fd, ASK);
	assert_string_equal(hear(fd), "");
	assert_string_equal(hear(other), "");
	assert_int_equal(F.requests, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_request),
		CTL_TEST(test_root_is_as_burstds_own_user),
		CTL_TEST(test_byte_by_byte),
		CTL_TEST(test_one_request_is_all),
		CTL_TEST(test_garbage_is_answered_and_cut),
		CTL_TEST(test_any_json_frame_is_a_request),
		CTL_TEST(test_half_a_request_leaves_nothing),
		CTL_TEST(test_half_closed_client_gets_its_answer),
		CTL_TEST(test_slow_sender_is_cut),
		CTL_TEST_DEFAULT(test_deadline_is_five_seconds),
		CTL_TEST_DEFAULT(test_longest_answer),
		CTL_TEST(test_slow_reader_is_cut),
		CTL_TEST(test_mode_is_for_everybody),
		CTL_TEST(test_live_one_is_refused),
		CTL_TEST(test_dead_one_is_replaced),
		CTL_TEST(test_file_is_not_replaced),
		CTL_TEST(test_successor_keeps_its_socket),
		CTL_TEST(test_bad_paths),
		CTL_TEST(test_close_inside_a_handler),
	};

	return cmocka_run_group_tests_name("ctl_server", tests, first_loop, NULL);
}
