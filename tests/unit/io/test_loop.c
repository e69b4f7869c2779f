/* test_loop.c - timers, signals and the clock of io/loop. */
#include "io/loop.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "base/clock.h"

enum { NTIMERS = 4 };

static struct fix {
	struct loop *l;
	struct timer *t[NTIMERS];
	int64_t fired_at, asked;
	char order[64];
	unsigned n;
} F;

static int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	return loop_new(&F.l, NULL);
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < NTIMERS; i++)
		timer_free(F.t[i]);
	loop_free(F.l);
	return 0;
}

static void count(void *ctx)
{
	(void)ctx;
	F.n++;
	F.fired_at = loop_now(F.l);
}

static void note(void *ctx)
{
	const char *c = ctx;

	F.order[F.n++] = *c;
}

static void test_run_returns_when_nothing_is_left(void **state)
{
	(void)state;
	F.t[0] = timer_new(F.l, count, NULL);
	loop_run(F.l);
	timer_at(F.t[0], loop_now(F.l) + 60000);
	timer_at(F.t[0], INT64_MAX);
	loop_run(F.l);
	assert_int_equal(F.n, 0);
}

static void test_now_follows_the_boot_clock(void **state)
{
	int64_t boot = clock_boot_ms(), first = loop_now(F.l);

	(void)state;
	assert_in_range(first - clock_wall_ms() + 1000, 0, 2000);
	(void)usleep(20000);
	/* I26: advances as the boot clock does, to the millisecond of two readings. */
	assert_in_range(loop_now(F.l) - first - (clock_boot_ms() - boot) + 5, 0, 10);
	assert_true(loop_now(F.l) >= first + 20);
}

/* F57: the clock was set while it ran, or between two processes: back, or forward. */
static void test_how_far_it_is_ahead_of_the_wall_clock(void **state)
{
	static const int64_t set[] = {7200000, -7200000, 2000, -2000};
	struct clock_line is;

	(void)state;
	assert_in_range(loop_ahead(F.l) + 500, 0, 1000);
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		const struct clock_line was = {.boot_id = clock_boot_id(),
					       .offset_ms =
						       clock_wall_ms() - clock_boot_ms() + set[i],
					       .ahead_ms = 0};
		int64_t ahead;

		loop_resume(F.l, &was);
		ahead = loop_ahead(F.l);
		assert_in_range(ahead - set[i] + 1000, 0, 2000);
		(void)usleep(20000);
		assert_true(loop_ahead(F.l) == ahead); /* one setting, one difference */
		assert_in_range(loop_wall(F.l) - clock_wall_ms() + 1000, 0, 2000);
		loop_line(F.l, &is);
		assert_true(is.boot_id == was.boot_id && is.offset_ms == was.offset_ms);
		assert_true(is.ahead_ms == ahead &&
			    is.last_ms >= clock_boot_ms() + was.offset_ms - 1000);
	}
}

/* The process before knew the difference, and nobody has set the clock since: two readings of two
 * clocks are no setting. */
static void test_a_difference_that_was_known_stays(void **state)
{
	const struct clock_line was = {.boot_id = clock_boot_id(),
				       .offset_ms = clock_wall_ms() - clock_boot_ms(),
				       .ahead_ms = -200};

	(void)state;
	loop_resume(F.l, &was);
	assert_int_equal(loop_ahead(F.l), -200);
}

static void test_fires_once_and_never_early(void **state)
{
	(void)state;
	F.t[0] = timer_new(F.l, count, NULL);
	for (int64_t ms = 1; ms < 20; ms += 3) {
		int64_t due = loop_now(F.l) + ms;

		F.n = 0;
		timer_at(F.t[0], due);
		loop_run(F.l);
		assert_int_equal(F.n, 1);
		assert_true(F.fired_at >= due);
	}
}

/* libuv's cached time is old when a callback ran long; a relative timer set then would be early. */
static void arm_after_work(void *ctx)
{
	(void)ctx;
	(void)usleep(50000);
	F.asked = loop_now(F.l) + 30;
	timer_at(F.t[1], F.asked);
}

static void test_not_early_after_a_long_callback(void **state)
{
	(void)state;
	F.t[0] = timer_new(F.l, arm_after_work, NULL);
	F.t[1] = timer_new(F.l, count, NULL);
	timer_at(F.t[0], 0);
	loop_run(F.l);
	assert_int_equal(F.n, 1);
	assert_true(F.fired_at >= F.asked);
}

static void test_past_is_at_once_but_not_inside(void **state)
{
	(void)state;
	F.t[0] = timer_new(F.l, count, NULL);
	F.asked = loop_now(F.l);
	timer_at(F.t[0], INT64_MIN);
	assert_int_equal(F.n, 0);
	loop_run(F.l);
	assert_int_equal(F.n, 1);
}

static void test_later_call_replaces(void **state)
{
	int64_t now = loop_now(F.l);

	(void)state;
	F.t[0] = timer_new(F.l, count, NULL);
	timer_at(F.t[0], now - 1);
	timer_at(F.t[0], now + 60000);
	timer_at(F.t[0], now + 20);
	loop_run(F.l);
	assert_int_equal(F.n, 1);
	assert_true(F.fired_at >= now + 20);
	timer_at(F.t[0], loop_now(F.l) + 60000);
	timer_at(F.t[0], 0);
	loop_run(F.l);
	assert_int_equal(F.n, 2);
	timer_at(F.t[0], 0);
	timer_at(F.t[0], INT64_MAX);
	loop_run(F.l);
	assert_int_equal(F.n, 2);
}

static void test_first_come_first_served(void **state)
{
	static char names[] = "abcd";

	(void)state;
	for (int i = 0; i < NTIMERS; i++) {
		F.t[i] = timer_new(F.l, note, names + i);
		timer_at(F.t[i], 0);
	}
	loop_run(F.l);
	assert_string_equal(F.order, "abcd");
}

static void again(void *ctx)
{
	(void)ctx;
	if (++F.n < 1000)
		timer_at(F.t[0], 0);
}

static void on_byte(uv_poll_t *p, int status, int events)
{
	(void)status;
	(void)events;
	F.asked = F.n; /* how often the timer ran before I/O had its turn */
	F.n = 1000;
	uv_close((uv_handle_t *)p, NULL);
}

static void test_busy_timer_does_not_starve_io(void **state)
{
	uv_poll_t p;
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(write(fd[1], "x", 1), 1);
	assert_int_equal(uv_poll_init(loop_uv(F.l), &p, fd[0]), 0);
	assert_int_equal(uv_poll_start(&p, UV_READABLE, on_byte), 0);
	F.t[0] = timer_new(F.l, again, NULL);
	timer_at(F.t[0], 0);
	loop_run(F.l);
	assert_in_range(F.asked, 0, 2);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

static void free_itself(void *ctx)
{
	struct timer **t = ctx;

	F.n++;
	timer_free(*t);
	*t = NULL;
}

static void test_free_inside_callback(void **state)
{
	(void)state;
	F.t[0] = timer_new(F.l, free_itself, &F.t[0]); /* by the due list */
	F.t[1] = timer_new(F.l, free_itself, &F.t[1]); /* by libuv */
	timer_at(F.t[0], 0);
	timer_at(F.t[1], loop_now(F.l) + 5);
	loop_run(F.l);
	assert_int_equal(F.n, 2);
}

static void test_free_of_another_that_is_due(void **state)
{
	(void)state;
	F.t[0] = timer_new(F.l, free_itself, &F.t[1]);
	F.t[1] = timer_new(F.l, count, NULL);
	timer_at(F.t[0], 0);
	timer_at(F.t[1], 0);
	loop_run(F.l);
	assert_int_equal(F.n, 1);
	assert_null(F.t[1]);
}

static void stop(void *ctx)
{
	(void)ctx;
	F.n++;
	loop_stop(F.l);
}

static void test_stop(void **state)
{
	(void)state;
	F.t[0] = timer_new(F.l, stop, NULL);
	F.t[1] = timer_new(F.l, count, NULL);
	timer_at(F.t[0], 0);
	timer_at(F.t[1], loop_now(F.l) + 60000);
	loop_run(F.l);
	assert_int_equal(F.n, 1);
}

static void raise_usr1(void *ctx)
{
	(void)ctx;
	assert_int_equal(raise(SIGUSR1), 0);
	timer_at(F.t[1], loop_now(F.l) + 5000);
}

static void on_usr1(void *ctx)
{
	(void)ctx;
	F.n += 10;
	timer_at(F.t[1], INT64_MAX);
}

static void test_signal(void **state)
{
	(void)state;
	F.t[0] = timer_new(F.l, raise_usr1, NULL);
	F.t[1] = timer_new(F.l, count, NULL);
	assert_int_equal(loop_on_signal(F.l, SIGUSR1, on_usr1, NULL, NULL), 0);
	loop_run(F.l); /* a watched signal alone does not hold it */
	timer_at(F.t[0], 0);
	loop_run(F.l);
	assert_int_equal(F.n, 10);
}

static void test_bad_signal_is_an_error(void **state)
{
	struct err e = {0};

	(void)state;
	assert_int_equal(loop_on_signal(F.l, SIGKILL, on_usr1, NULL, &e), -1);
	assert_int_equal(e.code, ERR_IO);
}

static void test_sigpipe_is_ignored(void **state)
{
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	(void)close(fd[0]);
	assert_int_equal(write(fd[1], "x", 1), -1);
	(void)close(fd[1]);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_run_returns_when_nothing_is_left),
		T(test_now_follows_the_boot_clock),
		T(test_how_far_it_is_ahead_of_the_wall_clock),
		T(test_a_difference_that_was_known_stays),
		T(test_fires_once_and_never_early),
		T(test_not_early_after_a_long_callback),
		T(test_past_is_at_once_but_not_inside),
		T(test_later_call_replaces),
		T(test_first_come_first_served),
		T(test_busy_timer_does_not_starve_io),
		T(test_free_inside_callback),
		T(test_free_of_another_that_is_due),
		T(test_stop),
		T(test_signal),
		T(test_bad_signal_is_an_error),
		T(test_sigpipe_is_ignored),
	};
#undef T

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
