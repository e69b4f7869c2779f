/* test_keys.c - the agent's part in a rotation: when the command that puts munge's new key in use
 * is run, and when not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "turns.h"

enum { SOON_MS = 150, LONG_MS = 400, SLOW_MS = 1000, MINUTES = 120000 };

static struct fix {
	struct agent *a;
	int64_t skew; /* of the clock: some things come once a minute */
	char script[40], ran[48], version[48], text[64];
} F;

static int64_t clock_of(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + F.skew;
}

int64_t clock_wall_ms(void)
{
	return clock_of(CLOCK_REALTIME);
}

int64_t clock_boot_ms(void)
{
	return clock_of(CLOCK_BOOTTIME);
}

static void pass(int64_t ms)
{
	turns(F.a, ms);
}

/* The words that the command was run with. */
static const char *ran(void)
{
	FILE *f = fopen(F.ran, "r");
	char word[16];

	F.text[0] = '\0';
	while (f != NULL && fgets(word, sizeof(word), f) != NULL) {
		word[strcspn(word, "\n")] = ' ';
		(void)strncat(F.text, word, sizeof(F.text) - strlen(F.text) - 1);
	}
	if (f != NULL)
		(void)fclose(f);
	return F.text;
}

/* Until it has been run so often: a machine may be slow. */
static const char *ran_times(size_t n)
{
	int64_t end = clock_boot_ms() + 10000;
	size_t words;

	do {
		pass(20);
		words = 0;
		for (const char *p = ran(); *p != '\0'; p++)
			words += *p == ' ';
	} while (words < n && clock_boot_ms() < end);
	return F.text;
}

static void told(const char *version, int64_t switch_ms)
{
	keys_told(F.a->keys, version, switch_ms, 0);
}

static FILE *make(char *path)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	return fdopen(fd, "w");
}

/* The command does `slowly` in so many seconds, and all else at once. */
static void begin(const char *slowly, const char *seconds)
{
	FILE *f;

	memset(&F, 0, sizeof(F));
	(void)snprintf(F.script, sizeof(F.script), "/tmp/burst-keys-XXXXXX");
	f = make(F.script);
	(void)snprintf(F.ran, sizeof(F.ran), "%s.ran", F.script);
	(void)fprintf(f, "echo $1 >>%s\n[ $1 != %s ] || sleep %s\n", F.ran, slowly, seconds);
	(void)fclose(f);
	(void)snprintf(F.version, sizeof(F.version), "%s.XXXXXX", F.script);
	f = make(F.version);
	(void)fputs("8\n", f);
	(void)fclose(f);
	F.a = mem_zalloc(sizeof(*F.a));
	(void)snprintf(F.a->conf.keys_command, sizeof(F.a->conf.keys_command), "/bin/sh %s %%k",
		       F.script);
	(void)snprintf(F.a->conf.key_version_file, sizeof(F.a->conf.key_version_file), "%s",
		       F.version);
	(void)snprintf(F.a->conf.proc, sizeof(F.a->conf.proc), "/proc");
	F.a->log = log_new(STDERR_FILENO, LOG_ERROR);
	F.a->keys = keys_new(F.a);
	agent_look(F.a);
	assert_string_equal(F.a->key_version, "8");
}

static int setup(void **state)
{
	(void)state;
	begin("switch", "0");
	return 0;
}

static int setup_slow(void **state)
{
	(void)state;
	begin("switch", "1");
	return 0;
}

static int setup_slow_fetch(void **state)
{
	(void)state;
	begin("stage", "1");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	keys_free(F.a->keys);
	log_free(F.a->log);
	free(F.a);
	(void)unlink(F.script);
	(void)unlink(F.ran);
	(void)unlink(F.version);
	return 0;
}

static void munges_key_is_switched_at_its_time_and_once(void **state)
{
	int64_t at = clock_wall_ms() + LONG_MS;

	(void)state;
	told("8", at);
	told("", KEYS_UNSAID); /* no word of it is not that it is off */
	told("8", KEYS_UNSAID);
	pass(LONG_MS / 4);
	assert_string_equal(ran(), "");
	assert_string_equal(ran_times(1), "switch ");
	pass(LONG_MS);
	told("8", at); /* burstd's clock is behind */
	pass(LONG_MS);
	assert_string_equal(ran(), "switch ");
}

static void a_switch_that_is_called_off_is_not_done(void **state)
{
	(void)state;
	told("8", 0); /* nothing was told before */
	told("8", clock_wall_ms() + SOON_MS);
	told("8", 0);
	pass(SOON_MS + LONG_MS);
	assert_string_equal(ran(), "");
	/* The next rotation's is. */
	told("8", clock_wall_ms() + SOON_MS);
	assert_string_equal(ran_times(1), "switch ");
	pass(LONG_MS);
	told("8", clock_wall_ms() + SOON_MS);
	told("8", 0);
	pass(SOON_MS + LONG_MS);
	assert_string_equal(ran(), "switch ");
}

/* burstd's time is an hour ahead of this machine's clock. */
static void a_switch_is_at_burstds_time(void **state)
{
	(void)state;
	keys_told(F.a->keys, "8", clock_wall_ms() + 3600000 + SOON_MS, 3600000);
	assert_string_equal(ran_times(1), "switch ");
}

/* An order of a rotation that was over long ago, from a burstd with an old journal, say. */
static void an_order_that_is_late_is_none(void **state)
{
	(void)state;
	told("8", clock_wall_ms() - 601000);
	pass(LONG_MS);
	assert_string_equal(ran(), "");
	told("8", clock_wall_ms() - 590000); /* it was away meanwhile */
	assert_string_equal(ran_times(1), "switch ");
}

/* It did not hear in time: burstd's answer to the next fetch takes it back to what all have. */
static void who_has_switched_all_the_same_fetches_the_keys_again(void **state)
{
	(void)state;
	told("8", clock_wall_ms());
	assert_string_equal(ran_times(1), "switch ");
	pass(LONG_MS);
	told("8", 0);
	assert_string_equal(ran_times(2), "switch stage ");
	pass(LONG_MS);
	F.skew += MINUTES;
	told("8", 0); /* as with each heartbeat */
	pass(LONG_MS);
	assert_string_equal(ran(), "switch stage ");
}

static void who_switches_just_now_does_so_when_that_is_done(void **state)
{
	(void)state;
	told("8", clock_wall_ms());
	assert_string_equal(ran_times(1), "switch ");
	told("8", 0); /* it runs still */
	pass(2 * SLOW_MS);
	assert_string_equal(ran(), "switch ");
	told("8", 0);
	assert_string_equal(ran_times(2), "switch stage ");
}

/* What burstd says to a fetch that was begun before may be of before. */
static void who_fetches_when_it_is_called_off_fetches_again(void **state)
{
	FILE *f;

	(void)state;
	told("8", clock_wall_ms());
	assert_string_equal(ran_times(1), "switch ");
	pass(LONG_MS);
	told("9", KEYS_UNSAID); /* another version: it is fetched */
	assert_string_equal(ran_times(2), "switch stage ");
	f = fopen(F.version, "w");
	assert_non_null(f);
	(void)fputs("9\n", f);
	(void)fclose(f);
	told("9", 0); /* that runs still */
	pass(2 * SLOW_MS);
	assert_string_equal(F.a->key_version, "9");
	F.skew += MINUTES;
	told("9", 0);
	assert_string_equal(ran_times(3), "switch stage stage ");
	pass(2 * SLOW_MS);
	F.skew += MINUTES;
	told("9", 0);
	pass(LONG_MS);
	assert_string_equal(ran(), "switch stage stage ");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(munges_key_is_switched_at_its_time_and_once),
		T(a_switch_that_is_called_off_is_not_done),
		T(a_switch_is_at_burstds_time),
		T(an_order_that_is_late_is_none),
		T(who_has_switched_all_the_same_fetches_the_keys_again),
		cmocka_unit_test_setup_teardown(who_switches_just_now_does_so_when_that_is_done,
						setup_slow, teardown),
		cmocka_unit_test_setup_teardown(who_fetches_when_it_is_called_off_fetches_again,
						setup_slow_fetch, teardown),
	};
#undef T

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
