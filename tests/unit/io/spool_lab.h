/* spool_lab.h - a spool in its own directory and loop, and the calls that it offers.
 *
 * Files are put there as burst-hook does it: under a dot name, then renamed. */
#ifndef TESTS_SPOOL_LAB_H
#define TESTS_SPOOL_LAB_H

#include "io/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fnv.h"
#include "base/mem.h"
#include "base/str.h"
#include "fds.h"
#include "io/loop.h"

enum { STRANGER = 12345, HOUR_MS = 3600000 };

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct lab {
	struct loop *l;
	struct timer *alive; /* keeps the loop looking for events */
	struct spool *s;
	char dir[32];
	unsigned fds;
	struct rlimit nofile;
	unsigned wakes;
	/* recorded by take() */
	struct str seen; /* "name name " */
	unsigned n, nearly;
	struct spool_call last; /* without its strings */
	char list[64];
	size_t file_len;
	bool keep;                                  /* what take() returns */
	void (*inside)(const struct spool_call *c); /* called by take(); NULL: nothing */
	struct err e;
} F;

static inline bool take(void *ctx, const struct spool_call *c)
{
	assert_ptr_equal(ctx, &F);
	str_addf(&F.seen, "%s ", c->name);
	F.n++;
	F.nearly += c->early;
	F.last = *c;
	(void)snprintf(F.list, sizeof(F.list), "%.*s", (int)(c->list_len < 60 ? c->list_len : 60),
		       c->list_len > 0 ? c->list : "");
	F.file_len = c->file != NULL ? c->file_len : SIZE_MAX;
	if (F.inside != NULL)
		F.inside(c);
	return F.keep;
}

static inline void on_wake(void *ctx)
{
	assert_ptr_equal(ctx, &F);
	F.wakes++;
}

static inline void on_alive(void *ctx)
{
	(void)ctx;
}

static inline void open_spool(void)
{
	F.s = spool_new(F.l, F.dir);
	spool_on_wake(F.s, on_wake, &F);
}

/* As a new process does. */
static inline void reopen_spool(void)
{
	spool_free(F.s);
	open_spool();
}

static inline int lab_open_in(const char *where)
{
	memset(&F, 0, sizeof(F));
	str_init(&F.seen, 64 << 20);
	F.fds = count_fds();
	(void)snprintf(F.dir, sizeof(F.dir), "%s/spoolXXXXXX", where);
	if (mkdtemp(F.dir) == NULL || chmod(F.dir, 0755) != 0 ||
	    getrlimit(RLIMIT_NOFILE, &F.nofile) != 0 || loop_new(&F.l, NULL) != 0)
		return -1;
	F.alive = timer_new(F.l, on_alive, NULL);
	timer_at(F.alive, loop_now(F.l) + HOUR_MS);
	open_spool();
	return 0;
}

static inline int lab_open(void **state)
{
	(void)state;
	return lab_open_in("/tmp");
}

static inline int lab_remove(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static inline int lab_close(void **state)
{
	(void)state;
	if (geteuid() != getuid())
		assert_int_equal(seteuid(getuid()), 0);
	(void)setrlimit(RLIMIT_NOFILE, &F.nofile);
	spool_free(F.s);
	timer_free(F.alive);
	loop_free(F.l);
	str_fini(&F.seen);
	(void)chmod(F.dir, 0700);
	(void)nftw(F.dir, lab_remove, 8, FTW_DEPTH | FTW_PHYS);
	assert_int_equal(count_fds(), F.fds);
	return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static inline const char *at(const char *name)
{
	static char path[2][600];
	static unsigned i;

	i = !i;
	(void)snprintf(path[i], sizeof(path[i]), "%s/%s", F.dir, name);
	return path[i];
}

static inline void write_file(const char *name, const void *bytes, size_t len)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(fchmod(fd, 0644), 0); /* for tests that read it as another user */
	(void)close(fd);
}

static inline void put(const char *name, const void *bytes, size_t len)
{
	write_file(".being-written", bytes, len);
	assert_int_equal(rename(at(".being-written"), at(name)), 0);
}

/* Make the bytes of one call; its lengths are those of the texts. */
static inline void make_call(struct str *s, struct call_end c, const char *list, const char *file)
{
	char end[CALL_END];

	str_init(s, 64 << 20);
	str_adds(s, list);
	str_adds(s, file);
	c.list_len = strlen(list);
	c.file_len = strlen(file);
	call_end_print(&c, fnv_bytes(FNV_BEGIN, s->p, s->len), end);
	str_add(s, end, CALL_END);
}

static inline void put_end(const char *name, struct call_end c, const char *list, const char *file)
{
	struct str s;

	make_call(&s, c, list, file);
	put(name, s.p, s.len);
	str_fini(&s);
}

/* Put a good call into the spool. */
static inline void put_call(const char *name)
{
	const struct call_end c = {
		.kind = CALL_RESUME, .file = CALL_FILE_SENT, .boot_ms = clock_boot_ms()};

	put_end(name, c, "n[1-2]", "{}");
}

static inline bool there(const char *name)
{
	struct stat st;

	return lstat(at(name), &st) == 0;
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Two passes: handles closed in one are gone after the next. */
static inline void turn(void)
{
	(void)uv_run(loop_uv(F.l), UV_RUN_NOWAIT);
	(void)uv_run(loop_uv(F.l), UV_RUN_NOWAIT);
}

static inline bool is_due(void)
{
	return loop_now(F.l) >= spool_next_ms(F.s);
}

static inline void wait_until(int64_t ms)
{
	while (loop_now(F.l) < ms) {
		(void)usleep(2000);
		turn();
	}
}

/* Wait the moment that a hook is given after the watch was heard. */
static inline void settle(void)
{
	if (spool_next_ms(F.s) - loop_now(F.l) <= SPOOL_SETTLE_MS)
		wait_until(spool_next_ms(F.s));
}

static inline void hear(void)
{
	turn();
	settle();
}

/* Make a pass, which must succeed; the calls seen. */
static inline const char *pass(void)
{
	str_clear(&F.seen);
	F.n = F.nearly = 0;
	F.e = (struct err){0};
	settle();
	if (spool_pass(F.s, take, &F, &F.e) != 0)
		print_error("%s\n", F.e.msg);
	assert_string_equal(F.e.msg, "");
	return F.seen.p;
}

/* Make a pass, which must fail; the calls seen, if any. */
static inline const char *pass_fails(const char *why)
{
	str_clear(&F.seen);
	F.n = F.nearly = 0;
	F.e = (struct err){0};
	settle();
	assert_int_equal(spool_pass(F.s, take, &F, &F.e), -1);
	print_message("# %s\n", F.e.msg);
	assert_non_null(strstr(F.e.msg, why));
	assert_non_null(strstr(F.e.msg, F.dir));
	assert_null(strchr(F.e.msg, '\n'));
	return F.seen.p;
}

/* Make a pass after an event of the watch, which must have come. */
static inline const char *next_pass(void)
{
	hear();
	assert_true(is_due());
	return pass();
}

/* --- being somebody else ---------------------------------------------------------------------- */

/* From now on files in the directory can be read, but not deleted or renamed. */
static inline void forbid(void)
{
	if (geteuid() == 0)
		assert_int_equal(seteuid(STRANGER), 0);
	else
		assert_int_equal(chmod(F.dir, 0555), 0);
}

static inline void allow(void)
{
	if (geteuid() != getuid())
		assert_int_equal(seteuid(getuid()), 0);
	else
		assert_int_equal(chmod(F.dir, 0755), 0);
}

/* Allow no more descriptors, or as many as before. */
static inline void set_fds(bool any)
{
	struct rlimit few = F.nofile;

	few.rlim_cur = any ? F.nofile.rlim_cur : 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static inline void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

#define T(f) cmocka_unit_test_setup_teardown(f, lab_open, lab_close)

#endif
