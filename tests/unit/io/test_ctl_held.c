/* test_ctl_held.c - answers of the control socket that come later. */
#include "ctl_clients.h"

static int hold(uid_t uid)
{
	unsigned before = F.nheld;
	int fd = dial(uid);

	F.hold = true;
	assert_int_equal(say(fd, ASK), 0);
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
	check_request();
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
	assert_int_equal(send(a, "J", 1, 0), 1); /* one request is all */
	errno = EAGAIN;                          /* of whatever was done before */
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
	assert_int_equal(say(one, ASK), 0);
	assert_string_equal(hear(one), "{\"ok\":true}"); /* at once, for it could not be held */
	F.hold = false;
	check_request(); /* and nobody else notices */
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
	assert_int_equal(say(one, ASK), 0);
	assert_string_equal(hear(one), "{\"ok\":true}");
	(void)close(hold(0));
	drop(fd, CTL_WATCH_SLOTS);
	assert_int_equal(F.gone, CTL_WATCH_SLOTS + 1);
}

static void test_one_watcher_leaves_room_for_others(void **state)
{
	int fd[CTL_WATCH_SLOTS], other;

	(void)state;
	need_root();
	for (int i = 0; i < CTL_WATCH_SLOTS; i++)
		fd[i] = hold(VIEWER);
	other = hold(VIEWER + 2);
	assert_int_equal(F.nheld, CTL_WATCH_SLOTS + 1);
	assert_true(is_open(other));
	assert_int_equal(F.expired, 1); /* as if its time were over */
	assert_string_equal(hear(fd[0]), "{\"ok\":true,\"wait\":true}");
	assert_true(is_open(fd[1]));
	drop(fd + 1, CTL_WATCH_SLOTS - 1);
	(void)close(other);
	turn();
	assert_int_equal(F.gone, CTL_WATCH_SLOTS);
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
	(void)say(fd, ASK);
	assert_string_equal(hear(fd), "");
	assert_int_equal(F.gone, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_held_is_answered_later),
		CTL_TEST(test_held_expires),
		CTL_TEST_DEFAULT(test_hold_is_ten_seconds),
		CTL_TEST(test_held_leaves_the_deadline_of_others),
		CTL_TEST(test_peer_of_held_goes),
		CTL_TEST_DEFAULT(test_held_have_a_cap_of_their_own),
		CTL_TEST_DEFAULT(test_watchers_have_another_cap),
		CTL_TEST_DEFAULT(test_one_watcher_leaves_room_for_others),
		CTL_TEST(test_slow_reader_of_a_held_answer_is_cut),
		CTL_TEST(test_close_while_held),
		CTL_TEST(test_close_inside_expired),
		CTL_TEST(test_close_inside_a_held_request),
	};

	return cmocka_run_group_tests_name("ctl_held", tests, first_loop, NULL);
}
