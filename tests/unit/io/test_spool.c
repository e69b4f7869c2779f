/* test_spool.c - ctl_collect and the spool: what is a call, and what becomes of the file it is in.
 */
#include "io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/frame.h"
#include "base/str.h"

#define HEAD "{\"v\":1,\"op\":\"call\",\"kind\":\"resume\"}"

static struct fix {
	char dir[32];
	char seen[8192]; /* "list|list|..." of the calls offered */
	unsigned n, refuse_after;
	enum err_code refuse_as; /* ERR_NONE: ERR_IO */
	const char *senseless;   /* the list of a call that will never be taken */
	const char *unreadable;  /* the name of a file of which a sector is broken */
	unsigned ndropped, ntruncated;
	size_t file_len;
} F;

static int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	F.refuse_after = 1000;
	(void)strcpy(F.dir, "/tmp/spoolXXXXXX");
	return mkdtemp(F.dir) == NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(F.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void frame(struct str *s, int type, const void *data, size_t len)
{
	unsigned char head[FRAME_HEADER];

	frame_header(head, (enum frame_type)type, (uint32_t)len);
	str_add(s, head, sizeof(head));
	str_add(s, data, len);
}

static void frames(struct str *s, int type, const char *text)
{
	frame(s, type, text, strlen(text));
}

static const char *at(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", F.dir, name);
	return path;
}

static void put(const char *name, const struct str *s)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, s->p, s->len), s->len);
	(void)close(fd);
}

static void put_call(const char *name, const char *list)
{
	struct str s;

	str_init(&s, 1 << 20);
	frames(&s, 'J', HEAD);
	frames(&s, 'L', list);
	frames(&s, 'Z', "");
	put(name, &s);
	str_fini(&s);
}

static bool there(const char *name)
{
	struct stat st;

	return lstat(at(name), &st) == 0;
}

static int take(void *ctx, const struct ctl_call *call, struct err *e)
{
	size_t used = strlen(F.seen);

	(void)ctx;
	if (F.n >= F.refuse_after)
		return err_set(e, F.refuse_as != ERR_NONE ? F.refuse_as : ERR_IO, "disk full");
	if (F.senseless != NULL && strcmp(call->list, F.senseless) == 0)
		return err_set(e, ERR_INVALID, "of a version to come");
	F.n++;
	F.ndropped += call->dropped;
	F.ntruncated += call->truncated;
	F.file_len += call->file_len;
	assert_int_equal(strlen(call->list), call->list_len);
	assert_string_equal(call->head, HEAD);
	if (call->list_len < 100)
		(void)snprintf(F.seen + used, sizeof(F.seen) - used, "%s|", call->list);
	return 0;
}

static int drain(struct err *e)
{
	return spool_drain(F.dir, take, NULL, e);
}

/* What is a call: one row per rule.  Frames are written TYPE and text, separated by blanks. */
static const struct {
	const char *name, *frames;
	bool ok;
	const char *list, *file;
	bool dropped;
} calls[] = {
	{"list only", "J{\"op\":\"call\"} Ln[1-2] Z", true, "n[1-2]", NULL, false},
	{"no list", "J{\"op\":\"call\"} Z", true, "", NULL, false},
	{"list in parts", "J{\"op\":\"call\"} Ln1 L,n2 L Z", true, "n1,n2", NULL, false},
	{"file in parts", "J{\"op\":\"call\"} Ln1 F{ F} Z", true, "n1", "{}", false},
	{"empty file", "J{\"op\":\"call\"} F Z", true, "", "", false},
	{"unknown keys", "J{\"op\":\"call\",\"new\":[1]} Z{\"new\":2}", true, "", NULL, false},
	{"the hook dropped the file", "J{\"op\":\"call\",\"file\":\"dropped\"} Ln1 Z", true, "n1",
	 NULL, true},
	{"the file went on", "J{\"op\":\"call\",\"file\":\"sent\"} Fabc Z{\"truncated\":true}",
	 true, "", NULL, true},
	{"the file did not go on", "J{\"op\":\"call\"} Fabc Z{\"truncated\":false}", true, "",
	 "abc", false},
	{"not ended", "J{\"op\":\"call\"} Ln1", false, NULL, NULL, false},
	{"nothing", "", false, NULL, NULL, false},
	{"no head", "Ln1 Z", false, NULL, NULL, false},
	{"two heads", "J{\"op\":\"call\"} J{\"op\":\"call\"} Z", false, NULL, NULL, false},
	{"list after file", "J{\"op\":\"call\"} Fx Ln1 Z", false, NULL, NULL, false},
	{"goes on after its end", "J{\"op\":\"call\"} Z Z", false, NULL, NULL, false},
	{"another operation", "J{\"op\":\"status\"} Z", false, NULL, NULL, false},
	{"head is no object", "J[] Z", false, NULL, NULL, false},
	{"head is no JSON", "Jop=call Z", false, NULL, NULL, false},
	{"head is empty", "J Z", false, NULL, NULL, false},
	{"op twice", "J{\"op\":\"call\",\"op\":\"call\"} Z", false, NULL, NULL, false},
	{"op of another type", "J{\"op\":1} Z", false, NULL, NULL, false},
	{"end is no JSON", "J{\"op\":\"call\"} Ztruncated", false, NULL, NULL, false},
	{"end of another type", "J{\"op\":\"call\"} Z{\"truncated\":1}", false, NULL, NULL, false},
};

static void check_call(size_t i)
{
	struct ctl_collect *c = ctl_collect_new(100);
	struct ctl_call call;
	struct err e = {0};
	int rc = 0;

	print_message("# %s\n", calls[i].name);
	for (const char *p = calls[i].frames; rc == 0 && *p != '\0';) {
		size_t len = strcspn(p, " ");

		rc = ctl_collect_frame(c, p[0], p + 1, len - 1, &e);
		p += len + (p[len] == ' ');
	}
	assert_int_equal(rc == 0 && ctl_collect_done(c), calls[i].ok);
	assert_true(rc == 0 || e.code != ERR_NONE);
	if (calls[i].ok) {
		ctl_collect_get(c, &call);
		assert_string_equal(call.list, calls[i].list);
		assert_int_equal(call.dropped, calls[i].dropped);
		assert_int_equal(call.file != NULL, calls[i].file != NULL);
		if (call.file != NULL)
			assert_string_equal(call.file, calls[i].file);
	}
	ctl_collect_free(c);
}

static void test_collect_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		check_call(i);
}

static void feed(struct ctl_collect *c, int type, const char *data, size_t len)
{
	assert_int_equal(ctl_collect_frame(c, type, data, len, NULL), 0);
}

static void test_collect_caps(void **state)
{
	static char big[FRAME_LIST_MAX];
	struct ctl_collect *c = ctl_collect_new(10);
	struct ctl_call call;

	(void)state;
	memset(big, 'n', sizeof(big));
	feed(c, 'J', HEAD, strlen(HEAD));
	feed(c, 'L', big, sizeof(big) - 1);
	feed(c, 'L', "nn", 2); /* one of them fits */
	feed(c, 'F', "1234567890", 10);
	assert_int_equal(ctl_collect_held(c), strlen(HEAD) + FRAME_LIST_MAX + 10);
	feed(c, 'F', "x", 1);
	assert_int_equal(ctl_collect_held(c), strlen(HEAD) + FRAME_LIST_MAX);
	feed(c, 'F', "y", 1); /* not the start of a new file */
	feed(c, 'Z', "", 0);
	ctl_collect_get(c, &call);
	assert_int_equal(call.list_len, FRAME_LIST_MAX);
	assert_true(call.truncated && call.dropped);
	assert_null(call.file);
	ctl_collect_free(c);
	c = ctl_collect_new(10);
	memset(big, ' ', CTL_HEAD_MAX + 1);
	assert_int_equal(ctl_collect_frame(c, 'J', big, CTL_HEAD_MAX + 1, NULL), -1);
	ctl_collect_free(c);
	ctl_collect_free(NULL);
}

static void test_missing_directory_is_empty(void **state)
{
	(void)state;
	assert_int_equal(spool_drain("/nowhere/at/all", take, NULL, NULL), 0);
}

static void test_oldest_first(void **state)
{
	(void)state;
	put_call("2.call", "b");
	put_call("3.call", "c");
	put_call("1.call", "a");
	assert_int_equal(drain(NULL), 3);
	assert_string_equal(F.seen, "a|b|c|");
	assert_false(there("1.call") || there("2.call") || there("3.call"));
	assert_int_equal(drain(NULL), 0);
}

static void test_one_pass_is_bounded(void **state)
{
	char name[16], want[2048] = "";
	size_t used = 0;

	(void)state;
	for (int i = 199; i >= 0; i--) {
		(void)snprintf(name, sizeof(name), "%03d", i);
		put_call(name, name);
	}
	assert_int_equal(drain(NULL), SPOOL_PASS_MAX);
	assert_int_equal(drain(NULL), SPOOL_PASS_MAX);
	for (int i = 0; i < 2 * SPOOL_PASS_MAX; i++)
		used += (size_t)snprintf(want + used, sizeof(want) - used, "%03d|", i);
	assert_string_equal(F.seen, want);
}

static void test_refused_stays_and_nothing_overtakes_it(void **state)
{
	struct err e = {0};

	(void)state;
	put_call("1", "a");
	put_call("2", "b");
	put_call("3", "c");
	F.refuse_after = 1;
	assert_int_equal(drain(&e), -1);
	assert_non_null(strstr(e.msg, "disk full"));
	assert_non_null(strstr(e.msg, "/2"));
	assert_false(there("1"));
	assert_true(there("2") && there("3"));
	F.refuse_after = 1000;
	assert_int_equal(drain(NULL), 2);
	assert_string_equal(F.seen, "a|b|c|");
}

/* F55: a full disk is ERR_LIMIT, and whatever else fails now may do later: only what makes no sense
 * is put aside, or a resume call would be lost with the disk's moment. */
static void test_only_nonsense_is_put_aside(void **state)
{
	(void)state;
	for (int code = ERR_NONE + 1; code <= ERR_TIME; code++) {
		put_call("1", "a");
		F.refuse_after = 0;
		F.refuse_as = (enum err_code)code;
		if (code == ERR_INVALID) {
			assert_int_equal(drain(NULL), 1);
			assert_true(there("1.bad"));
			continue;
		}
		assert_int_equal(drain(NULL), -1);
		assert_true(there("1"));
		F.refuse_after = 1000;
		assert_int_equal(drain(NULL), 1);
		assert_false(there("1"));
	}
	assert_false(there("1.1.bad"));
}

/* It would be refused for ever, and everything behind it would wait as long. */
static void test_what_can_never_be_taken_is_moved_aside(void **state)
{
	(void)state;
	put_call("1", "a");
	put_call("2", "b");
	put_call("3", "c");
	F.senseless = "b";
	assert_int_equal(drain(NULL), 3);
	assert_string_equal(F.seen, "a|c|");
	assert_true(there("2.bad") && !there("2") && !there("3"));
}

static bool is_unreadable(int fd)
{
	char link[64], path[512] = "";

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return F.unreadable != NULL && readlink(link, path, sizeof(path) - 1) > 0 &&
	       strcmp(path, at(F.unreadable)) == 0;
}

ssize_t read(int fd, void *buf, size_t n)
{
	if (is_unreadable(fd)) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, buf, n);
}

/* F55: a file that the disk cannot read is said to be there, and keeps no other call waiting. */
static void test_a_broken_sector_holds_up_no_other_call(void **state)
{
	struct err e = {0};

	(void)state;
	put_call("1", "a");
	put_call("2", "b");
	put_call("3", "c");
	F.unreadable = "2";
	assert_int_equal(drain(&e), -1);
	assert_non_null(strstr(e.msg, "/2: Input/output error"));
	assert_string_equal(F.seen, "a|c|");
	assert_true(there("2") && !there("1") && !there("3"));
	F.unreadable = NULL;
	assert_int_equal(drain(NULL), 1);
	assert_string_equal(F.seen, "a|c|b|");
}

static void test_garbage_is_moved_aside(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 100);
	put("1-empty", &s);
	str_adds(&s, "J");
	put("2-half-a-header", &s);
	str_adds(&s, "garbage");
	put("3-garbage", &s);
	str_fini(&s);
	str_init(&s, 1000);
	frames(&s, 'J', HEAD); /* F56: what a hook had written when it was killed */
	frames(&s, 'L', "b");
	put("3-not-ended", &s);
	str_fini(&s);
	assert_int_equal(symlink("/etc/passwd", at("4-link")), 0);
	assert_int_equal(mkfifo(at("5-fifo"), 0600), 0);
	assert_int_equal(mkdir(at("6-directory"), 0700), 0);
	put_call("7", "a");
	assert_int_equal(drain(NULL), 8);
	assert_string_equal(F.seen, "a|");
	assert_true(there("3-not-ended.bad"));
	assert_true(there("1-empty.bad") && there("2-half-a-header.bad") && there("3-garbage.bad"));
	assert_true(there("4-link.bad") && there("5-fifo.bad") && there("6-directory.bad"));
	assert_int_equal(drain(NULL), 0); /* never tried again */
}

static void test_bad_ones_do_not_replace_each_other(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 100);
	for (int i = 0; i < 3; i++) {
		put("x", &s);
		assert_int_equal(drain(NULL), 1);
	}
	str_fini(&s);
	assert_true(there("x.bad") && there("x.1.bad") && there("x.2.bad"));
}

/* It could be a file of somebody else, put here under a second name. */
static void test_hard_link_is_bad(void **state)
{
	char other[64];

	(void)state;
	(void)snprintf(other, sizeof(other), "%s-other", F.dir);
	put_call("x", "a");
	assert_int_equal(link(at("x"), other), 0);
	assert_int_equal(drain(NULL), 1);
	assert_true(there("x.bad"));
	assert_int_equal(F.n, 0);
	(void)unlink(other);
}

static void test_unfinished_names_wait(void **state)
{
	struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	(void)state;
	put_call(".new-1", "a");
	assert_int_equal(drain(NULL), 0);
	assert_true(there(".new-1"));
	/* Its hook is long dead: it was killed after the last byte, before the name. */
	assert_int_equal(utimensat(AT_FDCWD, at(".new-1"), old, 0), 0);
	assert_int_equal(drain(NULL), 1);
	assert_string_equal(F.seen, "a|");
}

static void test_writable_by_others_is_refused(void **state)
{
	static const mode_t modes[] = {0770, 0707, 01777};
	struct err e;

	(void)state;
	put_call("1", "a");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(F.dir, modes[i]), 0);
		assert_int_equal(drain(&e), -1);
		assert_int_equal(e.code, ERR_AUTH);
	}
	assert_int_equal(F.n, 0);
	assert_int_equal(chmod(F.dir, 0755), 0);
	assert_int_equal(drain(NULL), 1);
}

static void test_directory_of_somebody_else_is_refused(void **state)
{
	struct err e;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(F.dir, 12345, 12345), 0);
	assert_int_equal(drain(&e), -1);
	assert_int_equal(e.code, ERR_AUTH);
}

static void test_linked_directory_is_refused(void **state)
{
	char path[64];
	struct err e;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s-link", F.dir);
	assert_int_equal(symlink(F.dir, path), 0);
	assert_int_equal(spool_drain(path, take, NULL, &e), -1);
	assert_int_equal(e.code, ERR_IO);
	(void)unlink(path);
}

static void test_huge_resume_file_is_dropped_and_flagged(void **state)
{
	char *chunk = calloc(1, FRAME_CHUNK);
	struct str s;

	(void)state;
	str_init(&s, 32 << 20);
	frames(&s, 'J', HEAD);
	frames(&s, 'L', "n1");
	for (int i = 0; i < 20 * 1024 * 1024 / FRAME_CHUNK; i++)
		frame(&s, 'F', chunk, FRAME_CHUNK);
	frames(&s, 'Z', "");
	put("1", &s);
	put_call("2", "n2");
	assert_int_equal(drain(NULL), 2);
	assert_string_equal(F.seen, "n1|n2|");
	str_fini(&s);
	free(chunk);
	assert_int_equal(F.ndropped, 1);
	assert_int_equal(F.ntruncated, 0);
	assert_int_equal(F.file_len, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collect_rows),
		cmocka_unit_test(test_collect_caps),
		cmocka_unit_test(test_missing_directory_is_empty),
		T(test_oldest_first),
		T(test_one_pass_is_bounded),
		T(test_refused_stays_and_nothing_overtakes_it),
		T(test_only_nonsense_is_put_aside),
		T(test_what_can_never_be_taken_is_moved_aside),
		T(test_a_broken_sector_holds_up_no_other_call),
		T(test_garbage_is_moved_aside),
		T(test_bad_ones_do_not_replace_each_other),
		T(test_hard_link_is_bad),
		T(test_unfinished_names_wait),
		T(test_writable_by_others_is_refused),
		T(test_directory_of_somebody_else_is_refused),
		T(test_linked_directory_is_refused),
		T(test_huge_resume_file_is_dropped_and_flagged),
	};
#undef T

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
