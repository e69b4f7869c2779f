/* A file with what it includes: in Slurm's order, each once, and errors with their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "slurmconf/source.h"

struct disk {
	const char *files[16][2]; /* path, text */
};

static int read_disk(void *ctx, const char *path, char **text, size_t *len, struct err *e)
{
	const struct disk *d = ctx;

	for (size_t i = 0; d->files[i][0] != NULL; i++) {
		if (strcmp(d->files[i][0], path) != 0)
			continue;
		*text = mem_strdup(d->files[i][1]);
		*len = strlen(*text);
		return 0;
	}
	return err_set(e, ERR_IO, "%s: none", path);
}

static int say(void *ctx, const struct slurmconf_line *l, struct err *e)
{
	(void)e;
	str_addf(ctx, "%s:%d:%.*s ", strrchr(l->file->path, '/') + 1, l->number,
		 (int)l->pairs[0].key.n, l->pairs[0].key.p);
	return 0;
}

static void want(const struct disk *d, const char *lines, const char *ours)
{
	struct slurmconf_sources s;
	struct err e = {0};
	struct str out;

	str_init(&out, 4096);
	if (slurmconf_sources_load(&s, "/s/slurm.conf", read_disk, (void *)(uintptr_t)d, &e) != 0) {
		assert_null(s.v);
		assert_string_equal(e.msg, lines);
	} else {
		assert_int_equal(slurmconf_sources_walk(&s, say, &out, &e), 0);
		assert_string_equal(out.p, lines);
		assert_string_equal(s.v[s.ours].file.path, ours);
	}
	slurmconf_sources_fini(&s);
	str_fini(&out);
}

static void test_includes(void **state)
{
	(void)state;
	want(&(struct disk){{{"/s/slurm.conf", "A=1\nInclude b/x\nD=1\nInclude /c\nE=1"},
			     {"/s/b/x", "B=1\nInclude y\n\nB2=1\n"},
			     {"/s/y", "C=1\n"}, /* beside slurm.conf, as Slurm has it */
			     {"/c", "F=1\n"}}},
	     "slurm.conf:1:A x:1:B y:1:C x:4:B2 slurm.conf:3:D c:1:F slurm.conf:5:E ",
	     "/s/slurm.conf");
}

/* %c is the ClusterName that was said before, in lower case: measured with 22.05.8 and 25.11.7.
 * Without one slurmctld ends. */
static void test_the_name_of_the_cluster_in_a_path(void **state)
{
	(void)state;
	want(&(struct disk){{{"/s/slurm.conf", "ClusterName=FalCon\nInclude %c/a-%c%%c%d%\nD=1\n"},
			     {"/s/falcon/a-falcon%falcon%d%",
			      "B=1\n# BEGIN burstd\n# END burstd\n"}}},
	     "slurm.conf:1:ClusterName a-falcon%falcon%d%:1:B slurm.conf:3:D ",
	     "/s/falcon/a-falcon%falcon%d%");
	want(&(struct disk){{{"/s/slurm.conf", "Include name\nInclude /etc/%c\n"},
			     {"/s/name", "clustername=\"X\"\n"},
			     {"/etc/x", "B=1\n"}}},
	     "name:1:clustername x:1:B ", "/s/slurm.conf");
	want(&(struct disk){{{"/s/slurm.conf", "Include %c\nClusterName=x\n"}, {"/s/x", "B=1\n"}}},
	     "/s/slurm.conf:1: Include: /s/%c: none", "");
}

/* Our lines are not the site's; a block may be in any of the files. */
static void test_blocks(void **state)
{
	(void)state;
	want(&(struct disk){{{"/s/slurm.conf", "A=1\n# BEGIN burstd\nX=1\n# END burstd\nB=1\n"}}},
	     "slurm.conf:1:A slurm.conf:5:B ", "/s/slurm.conf");
	want(&(struct disk){{{"/s/slurm.conf", "A=1\nInclude x\nB=1\n"},
			     {"/s/x", "# BEGIN burstd\nX=1\n# END burstd\n"}}},
	     "slurm.conf:1:A slurm.conf:3:B ", "/s/x");
	want(&(struct disk){{{"/s/slurm.conf", "# BEGIN burstd\n# END burstd\nInclude x\n"},
			     {"/s/x", "\n# BEGIN burstd\n# END burstd\n"}}},
	     "/s/x:2: a second block of burstd's, beside /s/slurm.conf", "");
}

static void test_errors(void **state)
{
	(void)state;
	want(&(struct disk){{{NULL, NULL}}}, "/s/slurm.conf: none", "");
	want(&(struct disk){{{"/s/slurm.conf", "A=1\nInclude x\n"}}},
	     "/s/slurm.conf:2: Include: /s/x: none", "");
	want(&(struct disk){{{"/s/slurm.conf", "Include x\n"}, {"/s/x", "A=1\nbad\n"}}},
	     "/s/x:2: want Key=Value at \"bad\"", "");
	want(&(struct disk){{{"/s/slurm.conf", "Include x\nInclude x\n"}, {"/s/x", "A=1\n"}}},
	     "/s/slurm.conf:2: Include: /s/x is included a second time", "");
	want(&(struct disk){{{"/s/slurm.conf", "Include x\n"}, {"/s/x", "\nInclude slurm.conf\n"}}},
	     "/s/x:2: Include: /s/slurm.conf is included a second time", "");
}

static void test_depth(void **state)
{
	static const struct disk d = {{{"/s/slurm.conf", "Include 1\n"},
				       {"/s/1", "Include 2\n"},
				       {"/s/2", "Include 3\n"},
				       {"/s/3", "Include 4\n"},
				       {"/s/4", "Include 5\n"},
				       {"/s/5", "Include 6\n"},
				       {"/s/6", "Include 7\n"},
				       {"/s/7", "Include 8\n"},
				       {"/s/8", "A=1\n"}}};

	(void)state;
	want(&d, "/s/7:1: Include: /s/8: more than 64 files, or 8 in each other", "");
}

/* slurm.conf includes *ctx files, which are empty. */
static int read_any(void *ctx, const char *path, char **text, size_t *len, struct err *e)
{
	char root[2048] = "";
	size_t *n = ctx;

	(void)e;
	for (size_t i = 0; i < *n && strcmp(path, "/s/slurm.conf") == 0; i++)
		(void)snprintf(root + strlen(root), sizeof(root) - strlen(root), "Include f%zu\n",
			       i);
	*text = mem_strdup(root);
	*len = strlen(root);
	return 0;
}

static void test_many_files(void **state)
{
	struct slurmconf_sources s;
	struct err e = {0};
	size_t n = SLURMCONF_SOURCES_MAX - 1;

	(void)state;
	assert_int_equal(slurmconf_sources_load(&s, "/s/slurm.conf", read_any, &n, &e), 0);
	assert_int_equal(s.n, SLURMCONF_SOURCES_MAX);
	slurmconf_sources_fini(&s);
	n++;
	assert_int_equal(slurmconf_sources_load(&s, "/s/slurm.conf", read_any, &n, &e), -1);
	assert_string_equal(e.msg, "/s/slurm.conf:64: Include: /s/f63: more than 64 files, or 8 in "
				   "each other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_includes),
		cmocka_unit_test(test_the_name_of_the_cluster_in_a_path),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_many_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
