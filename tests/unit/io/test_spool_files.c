/* test_spool_files.c - what is a call: its bytes, its age, and the kind of file that it is in. */
#include "spool_lab.h"

#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/vfs.h>

/* A listing of whatever is there now. */
static const char *pass_anew(void)
{
	reopen_spool();
	return pass();
}

/* --- calls ------------------------------------------------------------------------------------ */

static void test_what_a_call_says(void **state)
{
	static const struct {
		enum call_kind kind;
		enum call_file state;
		const char *list, *file;
		size_t file_len; /* SIZE_MAX: there is none, or not all of it */
	} rows[] = {
		{CALL_RESUME, CALL_FILE_SENT, "n[1-2]", "{\"jobs\":[]}", 11},
		{CALL_RESUME, CALL_FILE_SENT, "n1", "", 0},
		{CALL_RESUME, CALL_FILE_NONE, "n[1-2]", "", SIZE_MAX},
		{CALL_RESUME, CALL_FILE_MISSING, "n[1-2]", "", SIZE_MAX},
		{CALL_RESUME, CALL_FILE_DROPPED, "n[1-2]", "", SIZE_MAX},
		{CALL_RESUME, CALL_FILE_DROPPED, "n[1-2]", "{\"jobs\":", SIZE_MAX},
		{CALL_SUSPEND, CALL_FILE_NONE, "n7", "", SIZE_MAX},
		{CALL_RESUME_FAIL, CALL_FILE_NONE, "", "", SIZE_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct call_end c = {
			.kind = rows[i].kind, .file = rows[i].state, .boot_ms = clock_boot_ms()};

		put_end("x", c, rows[i].list, rows[i].file);
		turn();
		assert_string_equal(pass(), "x ");
		assert_int_equal(F.last.kind, rows[i].kind);
		assert_int_equal(F.last.list_len, strlen(rows[i].list));
		assert_string_equal(F.list, rows[i].list);
		assert_int_equal(F.file_len, rows[i].file_len);
		assert_int_equal(F.last.file != NULL, rows[i].file_len != SIZE_MAX);
		assert_false(there("x"));
	}
	assert_int_equal(spool_bad(F.s), 0);
}

static void look_at_file(const struct spool_call *c)
{
	assert_memory_equal(c->list, "n[1-2]", 6);
	assert_memory_equal(c->file, "a\0b\n", 4);
}

static void test_a_file_is_bytes(void **state)
{
	struct call_end c = {.file = CALL_FILE_SENT, .list_len = 6, .file_len = 4};
	char bytes[10 + CALL_END];

	(void)state;
	memcpy(bytes, "n[1-2]a\0b\n", 10);
	call_end_print(&c, fnv_bytes(FNV_BEGIN, bytes, 10), bytes + 10);
	put("x", bytes, sizeof(bytes));
	F.inside = look_at_file;
	assert_string_equal(pass(), "x ");
}

/* A long one and then short ones: none sees what another left in memory. */
static void test_long_and_short(void **state)
{
	const struct call_end c = {.file = CALL_FILE_SENT};
	char *text = mem_zalloc(2000001);

	(void)state;
	memset(text, 'f', 2000000);
	put_end("1", c, "n1", text);
	put_end("2", c, "n2", "{}");
	text[70000] = '\0';
	put_end("3", c, "n3", text);
	put("4", "n4", 2);
	free(text);
	assert_string_equal(pass(), "1 2 3 ");
	assert_int_equal(F.file_len, 70000);
	assert_string_equal(F.list, "n3");
	assert_int_equal(spool_bad(F.s), 1);
}

/* F45: by the boot clock, which nobody can set; what is said of the wall clock is for people. */
static void test_age(void **state)
{
	static const struct {
		int64_t ago_ms, at_ms;
	} rows[] = {{0, 0}, {0, INT64_MAX}, {1200, -1}, {7000, 17}, {HOUR_MS, 0}, {-60000, 0}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const int64_t now = clock_boot_ms();
		const struct call_end c = {.at_ms = rows[i].at_ms, .boot_ms = now - rows[i].ago_ms};

		if (c.boot_ms < 0)
			continue; /* this machine is not up for that long */
		put_end("x", c, "", "");
		turn();
		assert_string_equal(pass(), "x ");
		assert_true(F.last.age_ms >= rows[i].ago_ms);
		assert_true(F.last.age_ms <= rows[i].ago_ms + clock_boot_ms() - now);
	}
}

/* No hook writes such a time, and nothing can be computed with it. */
static void test_no_age(void **state)
{
	static const int64_t boot_ms[] = {-1, INT64_MIN};

	(void)state;
	for (size_t i = 0; i < COUNT(boot_ms); i++) {
		put_end("x", (struct call_end){.boot_ms = boot_ms[i]}, "", "");
		turn();
		assert_string_equal(pass(), "x ");
		assert_true(F.last.age_ms == INT64_MAX);
	}
}

/* --- the former format ------------------------------------------------------------------------ */

static void add_frame(struct str *s, char type, const char *body, size_t len)
{
	const unsigned char head[] = {(unsigned char)type, (unsigned char)(len >> 24),
				      (unsigned char)(len >> 16), (unsigned char)(len >> 8),
				      (unsigned char)len};

	str_add(s, head, sizeof(head));
	str_add(s, body, len);
}

/* Frames are written TYPE and text, separated by blanks. */
static void make_former(struct str *s, const char *frames)
{
	str_init(s, 1 << 20);
	for (const char *p = frames; *p != '\0';) {
		const size_t len = strcspn(p, " ");

		add_frame(s, p[0], p + 1, len - 1);
		p += len + (p[len] == ' ');
	}
}

#define HEAD(kind) "J{\"v\":1,\"op\":\"call\",\"kind\":\"" kind "\",\"at_ms\":1764040000000}"

static const struct {
	const char *name, *frames;
	int kind; /* -1: it is none */
} formers[] = {
	{"a call", HEAD("resume") " Ln[1-2] F{\"jobs\":[]} Z", CALL_RESUME},
	{"without a file", HEAD("suspend") " Ln[1-2] Z", CALL_SUSPEND},
	{"without a list", HEAD("resume-fail") " Z", CALL_RESUME_FAIL},
	{"in parts", HEAD("resume") " Ln[1- L2] F{ F} Z", CALL_RESUME},
	{"cut", HEAD("resume") " Ln1 Fx Z{\"truncated\":true}", CALL_RESUME},
	{"with other keys", "J{\"kind\":\"suspend\",\"new\":[1],\"op\":\"call\"} Z", CALL_SUSPEND},
	{"not ended", HEAD("resume") " Ln1", -1},
	{"not ended, a head alone", HEAD("resume"), -1},
	{"more behind its end", HEAD("resume") " Z Z", -1},
	{"no head", "Ln1 Z", -1},
	{"nothing but an end", "Z", -1},
	{"two heads", HEAD("resume") " " HEAD("resume") " Z", -1},
	{"an unknown frame", HEAD("resume") " X Z", -1},
	{"another operation", "J{\"op\":\"status\",\"kind\":\"resume\"} Z", -1},
	{"no operation", "J{\"kind\":\"resume\"} Z", -1},
	{"an unknown kind", HEAD("retire") " Z", -1},
	{"no kind", "J{\"op\":\"call\"} Z", -1},
	{"a kind of another type", "J{\"op\":\"call\",\"kind\":0} Z", -1},
	{"a head that is a list", "J[] Z", -1},
	{"a head that is no JSON", "Jop=call Z", -1},
	{"a head that is empty", "J Z", -1},
	{"a key twice", "J{\"op\":\"call\",\"op\":\"call\",\"kind\":\"resume\"} Z", -1},
};

static void test_former(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(formers); i++) {
		struct str s;

		print_message("# %s\n", formers[i].name);
		make_former(&s, formers[i].frames);
		put("x", s.p, s.len);
		str_fini(&s);
		turn();
		if (formers[i].kind < 0) {
			assert_string_equal(pass(), "");
			assert_true(there("x.bad"));
			assert_int_equal(unlink(at("x.bad")), 0);
			continue;
		}
		assert_string_equal(pass(), "x ");
		assert_int_equal(F.last.kind, formers[i].kind);
		assert_true(F.last.age_ms == INT64_MAX);
		assert_int_equal(F.last.list_len, 0);
		assert_null(F.last.file);
		assert_false(there("x"));
	}
}

/* F54: a hook of that version that was killed, at any byte; nor did anybody add one. */
static void test_part_of_a_former(void **state)
{
	struct str s;
	unsigned n = 0;

	(void)state;
	make_former(&s, formers[0].frames);
	for (size_t len = 0; len < s.len; len++) {
		char name[24];

		(void)snprintf(name, sizeof(name), "%03zu", len);
		put(name, s.p, len);
		n++;
	}
	str_adds(&s, "x");
	put("more", s.p, s.len);
	str_fini(&s);
	while (is_due())
		assert_string_equal(pass(), "");
	assert_int_equal(spool_bad(F.s), n + 1);
}

/* --- what is no call -------------------------------------------------------------------------- */

static void put_broken_call(const char *name, size_t len, size_t turned)
{
	struct str s;

	make_call(&s, (struct call_end){.file = CALL_FILE_SENT}, "n[1-2]", "{}");
	if (turned < s.len)
		s.p[turned] = (char)(s.p[turned] ^ 1);
	put(name, s.p, len < s.len ? len : s.len);
	str_fini(&s);
}

/* F54, F55: none of it is read, none of it is lost. */
static void test_no_whole_call(void **state)
{
	(void)state;
	put("empty", "", 0);
	put("text", "n[1-2]\n", 7);
	put_broken_call("half", 80, SIZE_MAX);
	put_broken_call("turned-in-the-list", SIZE_MAX, 1);
	put_broken_call("turned-in-the-end", SIZE_MAX, 60);
	put_broken_call("a-byte-less", 8 + CALL_END - 1, SIZE_MAX);
	put_call("whole");
	assert_string_equal(pass(), "whole ");
	assert_int_equal(spool_bad(F.s), 6);
	assert_true(there("empty.bad") && there("text.bad") && there("half.bad"));
	assert_true(there("turned-in-the-list.bad") && there("turned-in-the-end.bad"));
	assert_true(there("a-byte-less.bad"));
	assert_false(there("empty") || there("whole") || there("whole.bad"));
	assert_string_equal(pass_anew(), ""); /* never again */
	assert_int_equal(spool_bad(F.s), 0);
	assert_true(there("empty.bad") && !there("empty.bad.bad"));
}

static void make_socket(const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	const char *path = at(name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	memcpy(sa.sun_path, path, strlen(path));
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	(void)close(fd);
}

static void test_no_plain_file(void **state)
{
	char other[64];

	(void)state;
	(void)snprintf(other, sizeof(other), "%s-other", F.dir);
	put_call("hard");
	assert_int_equal(link(at("hard"), other), 0); /* it could be a file of somebody else */
	assert_int_equal(symlink(other, at("link")), 0);
	assert_int_equal(symlink("/nowhere/at/all", at("link-nowhere")), 0);
	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	assert_int_equal(mkdir(at("directory"), 0700), 0);
	make_socket("socket");
	put_call("plain");
	assert_string_equal(pass(), "plain ");
	assert_int_equal(spool_bad(F.s), 6);
	assert_true(there("hard.bad") && there("link.bad") && there("link-nowhere.bad"));
	assert_true(there("fifo.bad") && there("directory.bad") && there("socket.bad"));
	assert_int_equal(unlink(other), 0);
	assert_string_equal(pass_anew(), "");
}

/* Others than root and ourselves may have written it. */
static void test_whose_it_is(void **state)
{
	static const struct {
		mode_t mode;
		bool ok;
	} rows[] = {{0600, true},  {0644, true},  {0400, true},  {0755, true},
		    {0620, false}, {0602, false}, {0666, false}, {0000, true}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		put_call("x");
		assert_int_equal(chmod(at("x"), rows[i].mode), 0);
		turn();
		if (rows[i].mode == 0000 && geteuid() != 0)
			continue;
		assert_string_equal(pass(), rows[i].ok ? "x " : "");
		assert_int_equal(there("x.bad"), !rows[i].ok);
		(void)unlink(at("x.bad"));
	}
}

static void test_a_strangers_file(void **state)
{
	(void)state;
	need_root();
	put_call("x");
	assert_int_equal(chown(at("x"), STRANGER, 0), 0);
	put_call("y");
	assert_int_equal(chown(at("y"), 0, STRANGER), 0); /* the group cannot write */
	assert_string_equal(pass(), "y ");
	assert_true(there("x.bad"));
}

/* slurmctld's hooks may be root's, and burstd has a user of its own. */
static void test_roots_file(void **state)
{
	(void)state;
	need_root();
	put_call("x");
	put_call("y");
	assert_int_equal(chmod(at("y"), 0600), 0); /* which we cannot read: so it stays */
	assert_int_equal(chown(F.dir, STRANGER, 0), 0);
	assert_int_equal(seteuid(STRANGER), 0);
	assert_string_equal(pass(), "x ");
	assert_false(there("x"));
	assert_true(there("y.bad"));
	assert_int_equal(spool_bad(F.s), 1);
}

static void test_bad_ones_do_not_replace_each_other(void **state)
{
	char name[256], want[300];

	(void)state;
	for (int i = 0; i < 3; i++) {
		put("x", "abc", (size_t)i);
		assert_string_equal(pass_anew(), "");
	}
	assert_true(there("x.bad") && there("x.1.bad") && there("x.2.bad"));
	memset(name, 'n', 255); /* the longest: what is added must fit, too */
	name[255] = '\0';
	for (int i = 0; i < 2; i++) {
		put(name, "", 0);
		assert_string_equal(pass_anew(), "");
		assert_false(there(name));
	}
	(void)snprintf(want, sizeof(want), "%.230s.bad", name);
	assert_true(there(want));
	(void)snprintf(want, sizeof(want), "%.230s.1.bad", name);
	assert_true(there(want));
}

/* They are evidence for people, whatever is in them. */
static void test_bad_ones_are_never_read(void **state)
{
	(void)state;
	put_call("x.bad");
	put_call(".bad");
	put_call("bad");
	put_call("x.bad.1");
	assert_string_equal(pass(), "bad x.bad.1 ");
	assert_true(there("x.bad") && there(".bad"));
	assert_int_equal(spool_bad(F.s), 0);
}

/* --- names that are being written ------------------------------------------------------------- */

static void set_age(const char *name, int64_t ms)
{
	const int64_t then = clock_wall_ms() - ms;
	struct timespec t[2] = {{.tv_sec = then / 1000}, {.tv_sec = then / 1000}};

	assert_int_equal(utimensat(AT_FDCWD, at(name), t, AT_SYMLINK_NOFOLLOW), 0);
}

static void test_dot_names_wait(void **state)
{
	(void)state;
	put_call(".whole");
	put(".half", "half", 4);
	assert_string_equal(pass_anew(), "");
	set_age(".whole", SPOOL_STALE_MS - 5000);
	set_age(".half", -HOUR_MS); /* a clock was set */
	assert_string_equal(pass_anew(), "");
	assert_true(there(".whole") && there(".half"));
	/* Its hook is long dead: it was killed after the last byte, before the name. */
	set_age(".whole", SPOOL_STALE_MS + 2000);
	set_age(".half", SPOOL_STALE_MS + 2000);
	assert_string_equal(pass_anew(), ".whole ");
	assert_false(there(".whole") || there(".half"));
	assert_true(there(".half.bad"));
	assert_int_equal(spool_bad(F.s), 1);
}

/* --- spool_check() ---------------------------------------------------------------------------- */

static void assert_check(const char *path, enum err_code want, const char *why)
{
	const char *note = "x";
	struct err e = {0};

	assert_int_equal(spool_check(path, &note, &e), want == ERR_NONE ? 0 : -1);
	print_message("# %s\n", e.msg);
	assert_int_equal(e.code, want);
	assert_true(want == ERR_NONE || note == NULL);
	if (want != ERR_NONE) {
		assert_non_null(strstr(e.msg, why));
		assert_non_null(strstr(e.msg, path));
	}
}

static void test_check(void **state)
{
	static const mode_t open_modes[] = {0770, 0757, 01777, 02775};

	(void)state;
	assert_check(F.dir, ERR_NONE, NULL);
	assert_check("/nowhere/at/all", ERR_IO, "No such file");
	put_call("x");
	assert_check(at("x"), ERR_INVALID, "not a directory");
	assert_int_equal(symlink(F.dir, at("link")), 0);
	assert_check(at("link"), ERR_INVALID, "a link");
	for (size_t i = 0; i < COUNT(open_modes); i++) {
		assert_int_equal(chmod(F.dir, open_modes[i]), 0);
		assert_check(F.dir, ERR_AUTH, "writable by users other than root and burstd");
	}
	assert_int_equal(chmod(F.dir, 0700), 0);
	assert_check(F.dir, ERR_NONE, NULL);
}

/* Before 2.33 glibc's faccessat() asked by the real user, which stays root's in this test. */
enum { FACCESSAT_BY_EUID = __GLIBC_PREREQ(2, 33) };

static void test_check_as_another_user(void **state)
{
	(void)state;
	if (!FACCESSAT_BY_EUID)
		skip();
	need_root();
	assert_int_equal(seteuid(STRANGER), 0);
	assert_check(F.dir, ERR_IO, "Permission denied"); /* root's, mode 0755 */
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chown(F.dir, STRANGER, 0), 0);
	assert_check(F.dir, ERR_AUTH, "writable by users other than root and burstd");
	assert_int_equal(seteuid(STRANGER), 0);
	for (mode_t mode = 0; mode <= 0700; mode += 0100) {
		const bool all = mode == 0700;

		assert_int_equal(chmod(F.dir, mode), 0);
		assert_check(F.dir, all ? ERR_NONE : ERR_IO, "Permission denied");
	}
}

static void test_notes(void **state)
{
	const char *note = "x", *again = "y";
	struct statfs fs;

	(void)state;
	assert_int_equal(statfs(F.dir, &fs), 0);
	assert_int_equal(spool_look(F.s, &note, NULL), 0);
	assert_int_equal(spool_check(F.dir, &again, NULL), 0);
	assert_ptr_equal(note, again);
	if (fs.f_type == TMPFS_MAGIC)
		assert_non_null(strstr(note, "tmpfs"));
	else if (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC ||
		 fs.f_type == BTRFS_SUPER_MAGIC || fs.f_type == OVERLAYFS_SUPER_MAGIC)
		assert_null(note);
	assert_int_equal(chmod(F.dir, 0777), 0);
	assert_int_equal(spool_look(F.s, &note, NULL), -1);
}

static int lab_open_memory(void **state)
{
	struct statfs fs;

	*state = statfs("/dev/shm", &fs) == 0 && fs.f_type == TMPFS_MAGIC ? &F : NULL;
	return lab_open_in(*state != NULL ? "/dev/shm" : "/tmp");
}

static void test_note_of_memory(void **state)
{
	const char *note = NULL;

	if (*state == NULL)
		skip();
	assert_int_equal(spool_check(F.dir, &note, NULL), 0);
	assert_non_null(note);
	assert_non_null(strstr(note, "tmpfs"));
	assert_non_null(strstr(note, "reboot"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_what_a_call_says),
		T(test_a_file_is_bytes),
		T(test_long_and_short),
		T(test_age),
		T(test_no_age),
		T(test_former),
		T(test_part_of_a_former),
		T(test_no_whole_call),
		T(test_no_plain_file),
		T(test_whose_it_is),
		T(test_a_strangers_file),
		T(test_roots_file),
		T(test_bad_ones_do_not_replace_each_other),
		T(test_bad_ones_are_never_read),
		T(test_dot_names_wait),
		T(test_check),
		T(test_check_as_another_user),
		T(test_notes),
		cmocka_unit_test_setup_teardown(test_note_of_memory, lab_open_memory, lab_close),
	};

	return cmocka_run_group_tests_name("spool_files", tests, first_loop, NULL);
}
