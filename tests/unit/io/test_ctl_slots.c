/* test_ctl_slots.c - who gets in to the control socket, and that nobody keeps a hook out. */
#include "ctl_clients.h"

#include <jansson.h>
#include <sys/resource.h>
#include <time.h>

static const struct {
	uid_t uid;
	enum ctl_role role;
} roles[] = {
	{0, CTL_OWN},
	{ADMIN, CTL_ADMIN},
	{VIEWER, CTL_VIEWER},
};

static void test_role_by_uid(void **state)
{
	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		int fd = dial(roles[i].uid);

		assert_int_equal(say(fd, ASK), 0);
		assert_string_equal(hear(fd), "{\"ok\":true}");
		assert_int_equal(F.who.roles, roles[i].role);
		assert_int_equal(F.who.uid, roles[i].uid);
	}
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

static void test_hook_gets_through_when_others_fill_their_slots(void **state)
{
	int viewer[60], admin[30], asker[40];
	unsigned open = 0;

	(void)state;
	need_root();
	assert_int_equal(fill(viewer, 60, VIEWER), CTL_VIEWER_SLOTS);
	assert_int_equal(fill(admin, 30, ADMIN), CTL_OPERATOR_SLOTS);
	for (int i = 0; i < 40; i++) { /* root: no operator slot is left, and it may be a job */
		asker[i] = dial(0);
		assert_int_equal(say(asker[i], ASK), 0);
		open += is_open(asker[i]);
	}
	assert_int_equal(open, 0);
	assert_int_equal(F.requests, 40);
	assert_memory_equal(hear(asker[0]), "{\"ok\":true", 10);
	drop(asker + 1, 39);
	drop(admin, 30);
	check_request();
	drop(viewer, 60);
	check_request(); /* all slots are free again */
}

/* One frame in one piece, while the loop stands still. */
static void push_nowait(int fd, const char *text)
{
	size_t len = strlen(text);
	char *buf = malloc(FRAME_HEADER + len);

	assert_non_null(buf);
	frame_header((unsigned char *)buf, (uint32_t)len);
	memcpy(buf + FRAME_HEADER, text, len);
	assert_int_equal(send(fd, buf, FRAME_HEADER + len, MSG_NOSIGNAL),
			 (ssize_t)(FRAME_HEADER + len));
	free(buf);
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
		push_nowait(viewer[i], ASK);
	turn();
	assert_in_range(F.requests, 0, 1);
	hook = dial_nowait(0);
	push_nowait(hook, ASK);
	F.before_ours = VIEWERS;
	turn();
	assert_in_range(F.before_ours, 0, 2);
	for (int i = 0; i < VIEWERS; i++)
		assert_string_equal(hear(viewer[i]), "{\"ok\":true}");
	assert_int_equal(F.requests, VIEWERS + 1);
	assert_string_equal(hear(hook), "{\"ok\":true}");
}

/* Of work, not of waiting for a busy machine. */
static int64_t us_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* As long as may be sent, and as long to read as can be: microseconds. */
static int64_t brackets(char **out)
{
	size_t n = CTL_REQUEST_MAX / 3 - 4;
	char *text = text_of(3 * n + 3);
	int64_t begin;

	text[0] = '[';
	for (size_t i = 0; i < n; i++)
		memcpy(text + 1 + 3 * i, "[],", 3);
	memcpy(text + 1 + 3 * n, "0]", 2);
	*out = text;
	begin = us_now();
	json_decref(json_loads(text, 0, NULL));
	return us_now() - begin;
}

/* Nor for what they say to be read. */
static void test_hook_goes_before_what_viewers_say_is_read(void **state)
{
	enum { VIEWERS = CTL_VIEWER_SLOTS, TURNS_MAX = 100000 };
	int viewer[VIEWERS];
	int64_t one, longest = 0;
	char *text;

	(void)state;
	need_root();
	one = brackets(&text);
	for (int i = 0; i < VIEWERS; i++)
		viewer[i] = dial(VIEWER);
	for (int i = 0; i < VIEWERS; i++)
		push_nowait(viewer[i], text);
	for (int i = 0; i < TURNS_MAX && F.requests < VIEWERS; i++) {
		int64_t begin = us_now();

		turn();
		if (us_now() - begin > longest)
			longest = us_now() - begin;
	}
	print_message("# to read one: %d us; the longest turn: %d us\n", (int)one, (int)longest);
	assert_int_equal(F.requests, VIEWERS);
	assert_true(longest < VIEWERS / 2 * one);
	drop(viewer, VIEWERS);
	free(text);
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
	push_nowait(held, ASK);
	turn();
	turn();
	assert_int_equal(F.nheld, 1);
	F.hold = false;
	push_nowait(gone, ASK);
	push_nowait(half, ASK);
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
		push_nowait(last[i], ASK);
	turn();
	drop(last, 5); /* the server is closed while some wait */
}

/* One user, who says nothing, or asks and does not read, kept all others from looking. */
static void test_one_viewer_leaves_room_for_others(void **state)
{
	int fd[CTL_VIEWER_SLOTS], other[CTL_VIEWER_SLOTS], third[CTL_VIEWER_SLOTS];

	(void)state;
	need_root();
	for (int asks = 0; asks < 2; asks++) {
		unsigned before;

		assert_int_equal(fill(fd, CTL_VIEWER_SLOTS, VIEWER), CTL_VIEWER_SLOTS);
		for (int i = 0; asks && i < CTL_VIEWER_SLOTS; i++) {
			before = F.requests;
			F.answer = text_of(CTL_REPLY_MAX);
			assert_int_equal(say(fd[i], ASK), 0);
			while (F.requests == before)
				turn();
		}
		other[0] = dial(VIEWER + 2);
		assert_int_equal(say(other[0], ASK), 0);
		assert_string_equal(hear(other[0]), "{\"ok\":true}");
		assert_true(asks || (!is_open(fd[0]) && is_open(fd[1]))); /* the oldest */
		drop(fd, CTL_VIEWER_SLOTS);
		turn();
	}
	/* In the end all have the same, and nobody takes one from who has but one more. */
	assert_int_equal(fill(fd, CTL_VIEWER_SLOTS, VIEWER), CTL_VIEWER_SLOTS);
	assert_int_equal(fill(other, CTL_VIEWER_SLOTS, VIEWER + 2), CTL_VIEWER_SLOTS / 2);
	assert_false(is_open(fd[CTL_VIEWER_SLOTS / 2 - 1]));
	assert_true(is_open(fd[CTL_VIEWER_SLOTS / 2]));
	assert_int_equal(fill(third, CTL_VIEWER_SLOTS, VIEWER + 3), CTL_VIEWER_SLOTS / 3);
	drop(third, CTL_VIEWER_SLOTS);
	drop(fd, CTL_VIEWER_SLOTS);
	drop(other, CTL_VIEWER_SLOTS);
}

static void test_askers_who_do_not_read_hold_operator_slots_first(void **state)
{
	int fd[CTL_OPERATOR_SLOTS + 1];

	(void)state;
	for (int i = 0; i <= CTL_OPERATOR_SLOTS; i++) {
		fd[i] = dial(geteuid());
		F.answer = text_of(CTL_REPLY_MAX);
		assert_int_equal(say(fd[i], ASK), 0);
	}
	F.answer = NULL;
	assert_int_equal(F.requests, CTL_OPERATOR_SLOTS + 1);
	check_request(); /* there are slots of its kind left */
	drop(fd, CTL_OPERATOR_SLOTS + 1);
	check_request();
}

/* They may be hooks, but a hook speaks at once. */
static void test_silent_ones_make_room_for_a_hook(void **state)
{
	int fd[CTL_OWN_SLOTS];

	(void)state;
	assert_int_equal(fill(fd, CTL_OWN_SLOTS, geteuid()), CTL_OWN_SLOTS);
	(void)usleep(150000); /* less than their deadline */
	check_request();
	assert_false(is_open(fd[0]));
	assert_true(is_open(fd[1]));
	drop(fd, CTL_OWN_SLOTS);
}

/* More hooks at once than slots: the rest waits in the backlog, and none is turned away. */
static void test_flood_of_hooks_waits(void **state)
{
	enum { N = 5 * CTL_OWN_SLOTS };
	int fd[N];

	(void)state;
	for (int i = 0; i < N; i++)
		fd[i] = dial_nowait(geteuid());
	for (int i = 0; i < 10; i++) {
		turn(); /* it took what it had slots for, and heard nothing from them yet */
	}
	for (int i = 0; i < N; i++)
		push_nowait(fd[i], ASK);
	for (int i = 0; i < N; i++)
		assert_string_equal(hear(fd[i]), "{\"ok\":true}");
	assert_int_equal(F.requests, N);
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
	assert_int_equal(say(fd, ASK), 0);
	assert_string_equal(hear(fd), "{\"ok\":true}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_role_by_uid),
		CTL_TEST_DEFAULT(test_hook_gets_through_when_others_fill_their_slots),
		CTL_TEST(test_hook_goes_before_viewers),
		CTL_TEST_DEFAULT(test_hook_goes_before_what_viewers_say_is_read),
		CTL_TEST(test_viewers_in_turn),
		CTL_TEST_DEFAULT(test_one_viewer_leaves_room_for_others),
		CTL_TEST_DEFAULT(test_askers_who_do_not_read_hold_operator_slots_first),
		CTL_TEST(test_silent_ones_make_room_for_a_hook),
		CTL_TEST_DEFAULT(test_flood_of_hooks_waits),
		CTL_TEST_DEFAULT(test_out_of_descriptors),
	};

	return cmocka_run_group_tests_name("ctl_slots", tests, first_loop, NULL);
}
