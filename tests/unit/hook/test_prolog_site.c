/* test_prolog_site.c - burst-prolog runs a prolog of the site's own. */
#include "prolog_lab.h"

/* --- the site's own ----------------------------------------------------------------------------
 */

static void site(const char *text, mode_t mode)
{
	int fd = open(PATHS_SITE_PROLOG, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	(void)close(fd);
}

static void test_site(void **state)
{
	static const struct {
		const char *name, *text;
		mode_t mode;
		int code;
		bool runs;
		const char *log;
	} rows[] = {
		{"succeeds", "#!/bin/sh\n: >/run/ran\n", 0755, 0, true, NULL},
		{"fails", "#!/bin/sh\n: >/run/ran; exit 3\n", 0755, 3, true, NULL},
		{"is killed", "#!/bin/sh\n: >/run/ran; kill -9 $$\n", 0755, 137, true, NULL},
		{"terminates", "#!/bin/sh\n: >/run/ran; kill -TERM $$\n", 0700, 143, true, NULL},
		{"cannot be run", "#!/bin/sh\n: >/run/ran; exit 3\n", 0644, 0, false, "denied"},
		{"no interpreter", "#!/nowhere\nexit 3\n", 0755, 0, false, "No such file"},
		{"no program",
		 "\x7f"
		 "ELF",
		 0755, 0, false, "Exec format"},
		{"a group may write", "#!/bin/sh\nexit 3\n", 0775, 0, false,
		 "writable by group or others"},
		{"all may write", "#!/bin/sh\nexit 3\n", 0757, 0, false,
		 "writable by group or others"},
	};
	int log = lab_log_listen();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int lfd = lab_server_listen(1);
		struct lab_result r;
		struct lab_proc p;

		print_message("# %s\n", rows[i].name);
		site(rows[i].text, rows[i].mode);
		lab_start(&p, &prolog);
		if (rows[i].code == 0)
			reply(lfd, UP);
		lab_finish(&p, &r);
		assert_int_equal(r.code, rows[i].code);
		assert_int_equal(unlink("/run/ran") == 0, rows[i].runs);
		if (rows[i].log == NULL)
			assert_string_equal(lab_log_next(log), "");
		else
			assert_non_null(strstr(lab_log_next(log), rows[i].log));
		assert_asked_nobody(lfd);
		lab_server_close(lfd);
		(void)unlink(PATHS_SITE_PROLOG);
	}
	(void)close(log);
}

/* By SIGPIPE its status would be another than 0, and slurmctld would requeue the job. */
static void test_a_complaint_that_nobody_reads(void **state)
{
	const struct lab_opts lone = {.name = prolog.name, .env = prolog.env, .lone_stderr = true};
	int lfd = lab_server_listen(1);
	struct lab_result r;
	struct lab_proc p;

	(void)state;
	site("#!/bin/sh\nexit 3\n", 0775);
	lab_start(&p, &lone);
	reply(lfd, UP);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	lab_server_close(lfd);
	(void)unlink(PATHS_SITE_PROLOG);
}

static void test_site_is_no_file(void **state)
{
	int log = lab_log_listen(), lfd = lab_server_listen(1);
	struct lab_result r;
	struct lab_proc p;

	(void)state;
	assert_int_equal(mkdir(PATHS_SITE_PROLOG, 0755), 0);
	lab_start(&p, &prolog);
	reply(lfd, UP);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	assert_non_null(strstr(lab_log_next(log), "not a regular file"));
	assert_int_equal(rmdir(PATHS_SITE_PROLOG), 0);
	lab_server_close(lfd);
	(void)close(log);
}

/* As if slurmctld had started it: environment, arguments, signals, umask; and in our group, which
 * slurmctld kills. */
static void test_site_gets_what_we_got(void **state)
{
	char *const with[] = {(char *)(uintptr_t) "SLURM_JOB_ID=7",
			      (char *)(uintptr_t) "SLURM_JOB_NODELIST=c[1-4]",
			      (char *)(uintptr_t) "A=b c", NULL};
	const struct lab_opts o = {.name = "burst-prolog",
				   .list = "an arg",
				   .env = with,
				   .hostile_signals = true,
				   .limit_ms = 8000};
	int lfd = lab_server_listen(1);
	char text[4096], want[256];
	struct lab_result r;
	struct lab_proc p;
	mode_t was = umask(027);

	(void)state;
	site("#!/bin/sh\n"
	     "read -r pid comm state ppid group rest </proc/self/stat\n"
	     "echo \"$0|$#|$1|$A|$SLURM_JOB_ID|$(umask)|$group|\" >/run/ran\n"
	     "while read -r l; do case $l in Sig[BI]*) echo \"$l\"; esac; done "
	     "</proc/$$/status >>/run/ran\n"
	     "exit 3\n",
	     0755);
	lab_start(&p, &o);
	lab_finish(&p, &r);
	(void)umask(was);
	assert_int_equal(r.code, 3);
	lab_slurp(open("/run/ran", O_RDONLY | O_CLOEXEC), text, sizeof(text));
	(void)snprintf(want, sizeof(want), "%s|1|an arg|b c|7|0027|%d|\n", PATHS_SITE_PROLOG,
		       (int)getpgrp());
	assert_int_equal(strncmp(text, want, strlen(want)), 0);
	assert_non_null(strstr(text, "SigBlk:\t0000000000000000"));
	/* Not 32 and 33: they are libc's own, and it lets nobody set them back. */
	assert_non_null(strstr(text, "SigIgn:\t"));
	assert_int_equal(strtoull(strstr(text, "SigIgn:\t") + 8, NULL, 16) & ~(3ULL << 31), 0);
	(void)unlink("/run/ran");
	(void)unlink(PATHS_SITE_PROLOG);
	lab_server_close(lfd);
}

/* Should only we be killed, nothing is left. */
static void test_site_ends_with_us(void **state)
{
	struct lab_result r;
	struct lab_proc p;
	char text[32];
	pid_t child;
	int left = 100;

	(void)state;
	site("#!/bin/sh\necho $$ >/run/new; mv /run/new /run/ran; while :; do /bin/sleep 0.05; "
	     "done\n",
	     0755);
	lab_start(&p, &prolog);
	while (access("/run/ran", F_OK) != 0)
		(void)poll(NULL, 0, 5);
	lab_slurp(open("/run/ran", O_RDONLY | O_CLOEXEC), text, sizeof(text));
	child = (pid_t)strtol(text, NULL, 10);
	assert_int_equal(kill(child, 0), 0);
	assert_int_equal(kill(p.pid, SIGKILL), 0);
	lab_finish(&p, &r);
	assert_int_equal(r.code, -SIGKILL);
	while (left-- > 0 && kill(child, 0) == 0) {
		char path[64], stat[256];

		(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
		lab_slurp(open(path, O_RDONLY | O_CLOEXEC), stat, sizeof(stat));
		if (strstr(stat, ") Z ") != NULL)
			break; /* whoever inherited it has not looked yet */
		(void)poll(NULL, 0, 10);
	}
	assert_true(left > 0);
	(void)unlink("/run/ran");
	(void)unlink(PATHS_SITE_PROLOG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_site),
		cmocka_unit_test(test_a_complaint_that_nobody_reads),
		cmocka_unit_test(test_site_is_no_file),
		cmocka_unit_test(test_site_gets_what_we_got),
		cmocka_unit_test(test_site_ends_with_us),
	};
	int status;

	if (!lab_enter(&status))
		return status;
	return cmocka_run_group_tests_name("prolog_site", tests, NULL, NULL);
}
