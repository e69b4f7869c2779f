/* test_hook.c - what is in the call that burst-hook leaves, whatever slurmctld gave it. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fnv.h"
#include "tests/unit/hook/hook_lab.h"

/* The last line, byte for byte as base/call.h has it: a burstd of another version reads it too. */
static void assert_end_line(const struct lab_call *c, const char *kind, const char *state)
{
	const size_t before = c->bytes.len - CALL_END;
	char want[400];
	int n;

	n = snprintf(want, sizeof(want),
		     "\nburst-call 2 kind=%-11s at_ms=%020lld boot_ms=%020lld list=%010zu "
		     "file=%010zu state=%-7s sum=",
		     kind, (long long)c->end.at_ms, (long long)c->end.boot_ms, c->end.list_len,
		     c->end.file_len, state);
	assert_int_equal(n, CALL_END - 17);
	assert_memory_equal(c->bytes.p + before, want, (size_t)n);
	(void)snprintf(want, sizeof(want), "%016llx\n",
		       (unsigned long long)fnv_bytes(FNV_BEGIN, c->bytes.p, c->bytes.len - 17));
	assert_memory_equal(c->bytes.p + c->bytes.len - 17, want, 17);
}

static void test_three_names(void **state)
{
	static const struct {
		const char *name, *word, *state;
		enum call_kind kind;
		enum call_file file;
		size_t len;
	} rows[] = {
		{"burst-resume", "resume", "sent", CALL_RESUME, CALL_FILE_SENT, 100000},
		{"burst-suspend", "suspend", "none", CALL_SUSPEND, CALL_FILE_NONE, 0},
		{"burst-resume-fail", "resume-fail", "none", CALL_RESUME_FAIL, CALL_FILE_NONE, 0},
	};
	char path[64];
	int fd = lab_memfd_of(100000, path), log = lab_log_listen();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_opts o = {.name = rows[i].name, .list = "c[1-4]", .file = path};
		const struct lab_result r = lab_run(&o);
		struct lab_call c;

		assert_int_equal(r.code, 0);
		assert_string_equal(r.err, "");
		assert_string_equal(lab_log_next(log), "");
		lab_call_take(&c);
		assert_int_equal(c.end.kind, rows[i].kind);
		lab_assert_list(&c, "c[1-4]");
		lab_assert_file(&c, rows[i].file, rows[i].len);
		assert_end_line(&c, rows[i].word, rows[i].state);
		lab_call_fini(&c);
	}
	lab_log_close(log);
	(void)close(fd);
}

static void test_resume_file(void **state)
{
	static const struct {
		const char *name, *path; /* "": a memfd of size bytes */
		enum call_file want;
		size_t size, sent;
	} rows[] = {
		{"not set", NULL, CALL_FILE_NONE, 0, 0},
		{"gone (L3)", "/proc/1/fd/99999", CALL_FILE_MISSING, 0, 0},
		{"a directory", "/", CALL_FILE_MISSING, 0, 0},
		{"a FIFO", "/run/fifo", CALL_FILE_MISSING, 0, 0},
		{"a device", "/dev/null", CALL_FILE_MISSING, 0, 0},
		{"cannot be read", "/proc/self/mem", CALL_FILE_DROPPED, 0, 0},
		{"empty", "", CALL_FILE_SENT, 0, 0},
		{"one byte", "", CALL_FILE_SENT, 1, 1},
		{"the buffer, less the list", "", CALL_FILE_SENT, 65534, 65534},
		{"64 KiB", "", CALL_FILE_SENT, 65536, 65536},
		{"64 KiB and a byte", "", CALL_FILE_SENT, 65537, 65537},
		{"the longest", "", CALL_FILE_SENT, CALL_FILE_MAX, CALL_FILE_MAX},
		{"too long", "", CALL_FILE_DROPPED, CALL_FILE_MAX + 1, 0},
		{"20 MB", "", CALL_FILE_DROPPED, 20000000, 0},
	};

	(void)state;
	assert_int_equal(mkfifo("/run/fifo", 0600), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[64];
		int fd = lab_memfd_of(rows[i].size, path);
		const bool mem = rows[i].path != NULL && rows[i].path[0] == '\0';
		const struct lab_opts o = {
			.name = "burst-resume", .list = "c1", .file = mem ? path : rows[i].path};
		struct lab_call c;

		print_message("# %s\n", rows[i].name);
		assert_int_equal(lab_run(&o).code, 0);
		lab_call_take(&c);
		lab_assert_list(&c, "c1");
		lab_assert_file(&c, rows[i].want, rows[i].sent);
		lab_call_fini(&c);
		(void)close(fd);
	}
	(void)unlink("/run/fifo");
}

/* L2: an argv string has 128 KiB at most, with its NUL. */
static void test_lists(void **state)
{
	static const size_t lengths[] = {0, 1, 65536, 120 * 1024, (1 << 17) - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char *list = malloc(lengths[i] + 1);
		const struct lab_opts o = {.name = "burst-suspend", .list = list};
		struct lab_call c;

		assert_non_null(list);
		for (size_t k = 0; k < lengths[i]; k++)
			list[k] = (char)(1 + k % 255);
		list[lengths[i]] = '\0';
		assert_int_equal(lab_run(&o).code, 0);
		lab_call_take(&c);
		lab_assert_list(&c, list);
		lab_call_fini(&c);
		free(list);
	}
}

/* slurm.md section 1: 22.05 closes 0-2, up to 24.05 most signals are blocked. */
static void test_hostile_process(void **state)
{
	const struct lab_opts rows[] = {
		{.name = "burst-resume", .list = "c1", .closed_fds = true},
		{.name = "burst-resume", .list = "c1", .hostile_signals = true},
		{.name = "burst-resume", .list = "c1", .closed_fds = true, .hostile_signals = true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const mode_t was = umask(0777);
		const struct lab_result r = lab_run(&rows[i]);
		struct lab_call c;

		(void)umask(was);
		assert_int_equal(r.code, 0);
		lab_call_take(&c);
		lab_assert_list(&c, "c1");
		lab_call_fini(&c);
	}
}

static void test_usage(void **state)
{
	static const struct lab_opts rows[] = {
		{.name = "burst-hook", .list = "c1"},
		{.name = "burst-hook"},
		{.name = "burst-resume"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_result r = lab_run(&rows[i]);

		assert_int_equal(r.code, 2);
		assert_int_equal(strncmp(r.err, "usage: ", 7), 0);
		lab_assert_spool_empty();
	}
}

/* Nothing of it goes into the spool, and the prolog waits for nothing. */
static void test_unknown_option_is_one_sentence(void **state)
{
	static const struct lab_opts rows[] = {
		{.name = "burst-resume", .list = "--frob"},
		{.name = "burst-suspend", .list = "-h"},
		{.name = "burst-prolog", .list = "--frob"},
		{.name = "burst-hook", .list = "--frob"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_result r = lab_run(&rows[i]);
		char want[160];

		(void)snprintf(want, sizeof(want), "%s: unknown option \"%s\"; see --help\n",
			       rows[i].name, rows[i].list);
		assert_int_equal(r.code, 2);
		assert_string_equal(r.err, want);
		lab_assert_spool_empty();
	}
}

static void test_help(void **state)
{
	static const struct {
		const char *name, *option, *want;
	} rows[] = {
		{"burst-hook", "--help", "usage: burst-resume"},
		{"burst-hook", "--version", "burst-hook "},
		{"burst-suspend", "--version", "burst-hook "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_opts o = {.name = rows[i].name, .list = rows[i].option};
		char text[4096];
		struct lab_proc p;
		int status;

		lab_start(&p, &o);
		lab_slurp(p.out, text, sizeof(text));
		assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
		assert_int_equal(status, 0);
		assert_int_equal(strncmp(text, rows[i].want, strlen(rows[i].want)), 0);
		lab_slurp(p.err, text, sizeof(text));
		assert_string_equal(text, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_names),
		cmocka_unit_test(test_resume_file),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_hostile_process),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_unknown_option_is_one_sentence),
		cmocka_unit_test(test_help),
	};
	int status;

	if (!lab_enter(&status))
		return status;
	return cmocka_run_group_tests_name("hook", tests, NULL, NULL);
}
