/* How burstctl slurm-conf replaces files: all or none, when the disk is full, when another writes
 * too, and where a file was not there. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/str.h"
#include "cli/slurm_files.h"
#include "slurm_conf_lab.h"

enum { LIMIT = 4096 };

/* From here on a file of this process and its children holds so many bytes, as on a full disk. */
static void limit_files(rlim_t bytes)
{
	struct rlimit r;

	assert_ptr_not_equal(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* Lines of comments, so many bytes at least. */
static char *filler(size_t bytes, const char *before, const char *behind)
{
	struct str s;

	str_init(&s, 1 << 16);
	str_adds(&s, before);
	while (s.len < bytes)
		str_adds(&s, "# and more of this and that\n");
	str_adds(&s, behind);
	return str_take(&s);
}

static bool is_there(const struct lab *l, const char *name)
{
	char path[128];
	struct stat st;

	path_of(l, name, path, sizeof(path));
	return lstat(path, &st) == 0;
}

/* F55: no file has changed, though there was room for one of them, which became shorter. */
static void test_a_full_disk(void **state)
{
	char *slurm = filler(LIMIT, SLURM "TopologyPlugin=topology/tree\n", ""),
	     *topology = filler(LIMIT, "# BEGIN burstd\n", "# END burstd\n");
	struct lab *l = start(slurm);

	(void)state;
	lab_write(l, "topology.conf", topology);
	limit_files(LIMIT);
	lab_run(l, RUN "--write --unproved --discard-edits", NULL, 0);
	limit_files(RLIM_INFINITY);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, ".conf: File too large"));
	has(l, "topology.conf", topology);
	has(l, "slurm.conf", slurm);
	assert_false(is_there(l, "slurm.conf.last-good"));
	free(slurm);
	free(topology);
	stop(l);
}

/* F55: where there was no topology.conf there is none, not an empty one. */
static void test_a_full_disk_leaves_no_new_file(void **state)
{
	char *slurm = filler(LIMIT, SLURM "TopologyPlugin=topology/tree\n", "");
	struct lab *l = start(slurm);

	(void)state;
	limit_files(LIMIT);
	lab_run(l, RUN "--write --unproved", NULL, 0);
	limit_files(RLIM_INFINITY);
	assert_int_equal(l->rc, 1);
	assert_false(is_there(l, "topology.conf"));
	has(l, "slurm.conf", slurm);
	free(slurm);
	stop(l); /* fails where a temporary file is left */
}

static struct slurm_files_change change(const char *path, const char *old, const char *text)
{
	return (struct slurm_files_change){.path = path,
					   .old = old,
					   .old_len = strlen(old),
					   .text = text,
					   .len = strlen(text)};
}

/* Two at the same time: neither has the other's half of a file. */
static void test_two_writers(void **state)
{
	struct lab *l = start("old\n");
	char path[128];
	struct slurm_files_change a, b;
	struct err e = {0};

	(void)state;
	path_of(l, "slurm.conf", path, sizeof(path));
	a = change(path, "old\n", "a\n");
	b = change(path, "old\n", "b\n");
	assert_int_equal(slurm_files_prepare(&a, &e), 0);
	assert_int_equal(slurm_files_prepare(&b, &e), 0);
	has(l, "slurm.conf", "old\n");
	assert_int_equal(slurm_files_commit(&a, &e), 0);
	has(l, "slurm.conf", "a\n");
	has(l, "slurm.conf.last-good", "old\n");
	assert_int_equal(slurm_files_commit(&b, &e), -1);
	assert_non_null(strstr(e.msg, "/slurm.conf has changed since it was read; try again"));
	has(l, "slurm.conf", "a\n");
	has(l, "slurm.conf.last-good", "old\n");
	slurm_files_drop(&b);
	slurm_files_drop(&a);
	stop(l);
}

/* What was committed goes back to what it was: to its text, or to nothing. */
static void test_back(void **state)
{
	struct lab *l = start("old\n");
	char path[128];
	struct slurm_files_change c;
	struct err e = {0};

	(void)state;
	path_of(l, "slurm.conf", path, sizeof(path));
	c = change(path, "old\n", "new\n");
	assert_int_equal(slurm_files_prepare(&c, &e), 0);
	assert_int_equal(slurm_files_commit(&c, &e), 0);
	assert_int_equal(slurm_files_restore(&c, &e), 0);
	has(l, "slurm.conf", "old\n");
	slurm_files_drop(&c);
	path_of(l, "gres.conf", path, sizeof(path));
	c = change(path, "", "new\n");
	assert_int_equal(slurm_files_prepare(&c, &e), 0);
	assert_false(is_there(l, "gres.conf"));
	assert_int_equal(slurm_files_commit(&c, &e), 0);
	has(l, "gres.conf", "new\n");
	assert_int_equal(slurm_files_restore(&c, &e), 0);
	assert_false(is_there(l, "gres.conf"));
	slurm_files_drop(&c);
	/* An empty file was there, and is there again. */
	lab_write(l, "gres.conf", "");
	c = change(path, "", "new\n");
	assert_int_equal(slurm_files_prepare(&c, &e), 0);
	assert_int_equal(slurm_files_commit(&c, &e), 0);
	assert_int_equal(slurm_files_restore(&c, &e), 0);
	has(l, "gres.conf", "");
	slurm_files_drop(&c);
	stop(l);
}

/* Dropped before it was committed, it leaves nothing; a directory that is not there is told. */
static void test_nothing_is_left(void **state)
{
	struct lab *l = start("old\n");
	char path[128];
	struct slurm_files_change c;
	struct err e = {0};

	(void)state;
	path_of(l, "slurm.conf", path, sizeof(path));
	c = change(path, "old\n", "new\n");
	assert_int_equal(slurm_files_prepare(&c, &e), 0);
	slurm_files_drop(&c);
	has(l, "slurm.conf", "old\n");
	assert_false(is_there(l, "slurm.conf.last-good"));
	path_of(l, "nowhere/slurm.conf", path, sizeof(path));
	c = change(path, "", "new\n");
	assert_int_equal(slurm_files_prepare(&c, &e), -1);
	assert_non_null(strstr(e.msg, "/nowhere/slurm.conf: No such file or directory"));
	slurm_files_drop(&c);
	stop(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_disk),
		cmocka_unit_test(test_a_full_disk_leaves_no_new_file),
		cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
