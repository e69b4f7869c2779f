/* test_http_client.c - http_client against a scripted server in the same loop, and real TLS by
 * openssl(1). */
#include "http_client_lab.h"

/* --- the fixture ------------------------------------------------------------------------------ */

struct turns { /* of a timer, one wanted after each answer */
	struct timer *timer;
	unsigned told, ran;
	bool early;
};

static void on_turn(void *ctx)
{
	struct turns *t = ctx;

	t->ran++;
}

static void done_in_turn(void *ctx, const struct http_reply *r, const struct err *e)
{
	struct turns *t = ctx;

	assert_non_null(r);
	assert_null(e);
	t->early = t->early || t->ran < t->told;
	t->told++;
	timer_at(t->timer, 0);
}

/* Ten answers that come at once are ten turns, and others have theirs in between. */
static void test_one_answer_a_turn(void **state)
{
	struct http_call k = {
		.method = "GET", .url = url_of("/ok"), .timeout_ms = 5000, .max_reply = 4096};
	struct turns t = {.timer = timer_new(F.l, on_turn, &t)};

	(void)state;
	for (unsigned round = 1; round <= 2; round++) { /* the second on open connections */
		for (int i = 0; i < 10; i++)
			assert_int_equal(http_client_send(F.c, &k, done_in_turn, &t, NULL, NULL),
					 0);
		while (t.told < 10 * round) {
			unsigned before = t.told;

			(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
			assert_in_range(t.told, before, before + 1);
		}
	}
	timer_free(t.timer);
	assert_int_equal(t.told, 20);
	assert_false(t.early);
}

/* --- replies ---------------------------------------------------------------------------------- */

static const struct {
	const char *path;
	int code;
	long status;
	const char *body, *retry_after, *date, *msg;
} rows[] = {
	{"/ok", 0, 200, "hi", "7", "(none)", ""},
	{"/dated", 0, 429, "", "Wed, 21 Oct 2015 07:29:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT",
	 ""},
	{"/interim", 0, 200, "hi", "7", "(none)", ""},
	{"/control", 0, 503, "", "(none)", "(none)", ""},
	{"/empty", 0, 503, "", "(none)", "(none)", ""},
	{"/redirect", 0, 302, "", "(none)", "(none)", ""}, /* F31: not followed */
	{"/identity", 0, 200, "hi", "(none)", "(none)", ""},
	{"/drop", ERR_NET, 0, "", "", "", ""},
	{"/part", ERR_NET, 0, "", "", "", ""},
	{"/hang", ERR_NET, 0, "", "", "", ""},
	{"/short", ERR_NET, 0, "", "", "", ""},
	{"/gzip", ERR_NET, 0, "", "", "", "compressed"}, /* F29 */
	{"/garbage", ERR_NET, 0, "", "", "", ""},        /* F30 */
	{"/version", ERR_NET, 0, "", "", "", "status"},  /* F30 */
	{"/version22", ERR_NET, 0, "", "", "", "status"},
	{"/http09", ERR_NET, 0, "", "", "", ""},
	{"/lateday", 0, 200, "", "(none)", "Sun, 06 Nov 300000000 08:49:37 GMT", ""},
	{"/badlength", ERR_NET, 0, "", "", "", ""},
	{"/badchunk", ERR_NET, 0, "", "", "", ""},
	{"/big", ERR_LIMIT, 0, "", "", "", "longer than 4096"}, /* F29 */
	{"/chunks", ERR_LIMIT, 0, "", "", "", "longer than 4096"},
	{"/headers", ERR_LIMIT, 0, "", "", "", "headers longer"},
	{"/interims", ERR_LIMIT, 0, "", "", "", "headers longer"},
};

static void test_replies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].path);
		F.msg[0] = '\0';
		ask("GET", rows[i].path, 400);
		assert_int_equal(F.code, rows[i].code);
		assert_non_null(strstr(F.msg, rows[i].msg));
		if (rows[i].code != 0)
			continue;
		assert_int_equal(F.status, rows[i].status);
		assert_string_equal(F.body, rows[i].body);
		assert_string_equal(F.retry_after, rows[i].retry_after);
		assert_string_equal(F.date, rows[i].date);
		assert_int_equal(F.date_ms,
				 strstr(F.date, "21 Oct 2015") == NULL ? 0 : 1445412480000);
	}
}

static void test_a_redirect_is_told_and_not_followed(void **state)
{
	(void)state;
	ask("GET", "/redirect", 1000);
	assert_int_equal(F.status, 302);
	assert_string_equal(F.location, "file:///etc/passwd");
	ask("GET", "/ok", 1000);
	assert_string_equal(F.location, "(none)");
	assert_int_equal(F.h.requests, 2);
}

static void test_what_is_secret_is_sent_and_read_all_the_same(void **state)
{
	static const char *const own[] = {"X-Vault-Token: t", NULL};
	struct http_call k = {.headers = own, .body = "abc", .body_len = 3, .secret = true};

	(void)state;
	assert_int_equal(send_call(&k, "POST", url_of("/ok")), 0);
	wait_for(1);
	assert_int_equal(F.status, 200);
	assert_non_null(strstr(F.h.request, "\r\nX-Vault-Token: t\r\n"));
	assert_non_null(strstr(F.h.request, "\r\nContent-Length: 3\r\n"));
	k.max_reply = BIG;
	assert_int_equal(send_call(&k, "POST", url_of("/big")), 0);
	wait_for(2);
	assert_int_equal(F.len, BIG);
	k.max_reply = BIG - 1;
	assert_int_equal(send_call(&k, "POST", url_of("/big")), 0);
	wait_for(3);
	assert_int_equal(F.code, ERR_LIMIT);
}

static void test_longest_reply(void **state)
{
	struct http_call k = {.max_reply = BIG};

	(void)state;
	assert_int_equal(send_call(&k, "GET", url_of("/big")), 0);
	wait_for(1);
	assert_int_equal(F.code, 0);
	assert_int_equal(F.len, BIG);
	k.max_reply = BIG - 1;
	assert_int_equal(send_call(&k, "GET", url_of("/big")), 0);
	wait_for(2);
	assert_int_equal(F.code, ERR_LIMIT);
}

static size_t given;
static char begins[8];

static void on_data(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	assert_int_equal(F.ok + F.bad, 0);
	if (given == 0)
		(void)snprintf(begins, sizeof(begins), "%.*s", (int)len, data);
	given += len;
}

/* It goes to on_data as it comes, and is not kept; what is no success is. */
static void test_a_reply_that_is_read_as_it_comes(void **state)
{
	struct http_call k = {.max_reply = BIG, .on_data = on_data};

	(void)state;
	given = 0;
	assert_int_equal(send_call(&k, "GET", url_of("/big")), 0);
	wait_for(1);
	assert_int_equal(F.code, 0);
	assert_int_equal(F.status, 200);
	assert_int_equal(F.len, 0);
	assert_int_equal(given, BIG);
	assert_string_equal(begins, "0123456");
	F.ok = 0;
	given = 0;
	k.max_reply = BIG - 1;
	assert_int_equal(send_call(&k, "GET", url_of("/big")), 0);
	wait_for(1);
	assert_int_equal(F.code, ERR_LIMIT);
	assert_in_range(given, 1, BIG - 1);
	F.bad = 0;
	given = 0;
	assert_int_equal(send_call(&k, "GET", url_of("/created")), 0);
	wait_for(1);
	assert_int_equal(F.status, 201);
	assert_string_equal(F.body, "hi");
	assert_int_equal(given, 0);
}

/* F28: bytes keep coming, so that only a floor on the rate ends it before the deadline. */
static void test_slow_loris(void **state)
{
	static const char *const paths[] = {"/slowbody", "/slowhead"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct http_call k = {.timeout_ms = 20000, .stall_s = 1, .max_reply = BIG};
		int64_t before = loop_now(F.l);

		assert_int_equal(send_call(&k, "GET", url_of(paths[i])), 0);
		wait_for(i + 1);
		assert_int_equal(F.code, ERR_NET);
		assert_in_range(loop_now(F.l) - before, 900, 6000);
	}
}

/* Of one that is held only the deadline ends the silence. */
static void test_one_that_is_held_may_be_slow(void **state)
{
	struct http_call k = {.timeout_ms = 2500, .stall_s = 1, .held = true, .max_reply = BIG};
	int64_t before = loop_now(F.l);

	(void)state;
	assert_int_equal(send_call(&k, "GET", url_of("/slowbody")), 0);
	wait_for(1);
	assert_int_equal(F.code, ERR_NET);
	assert_in_range(loop_now(F.l) - before, 2400, 20000);
}

/* --- requests --------------------------------------------------------------------------------- */

static void test_what_is_sent(void **state)
{
	static const char *const own[] = {"Content-Type: application/json", "X-Token: t", NULL};
	struct http_call k = {.headers = own, .body = "{}\0x", .body_len = 4};

	(void)state;
	assert_int_equal(send_call(&k, "PATCH", url_of("/ok")), 0);
	wait_for(1);
	assert_memory_equal(F.h.request, "PATCH /ok HTTP/1.1\r\n", 20);
	assert_non_null(strstr(F.h.request, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(F.h.request, "\r\nX-Token: t\r\n"));
	assert_non_null(strstr(F.h.request, "\r\nContent-Length: 4\r\n"));
	assert_null(strstr(F.h.request, "Accept-Encoding"));
	assert_null(strstr(F.h.request, "Expect"));
	assert_null(strstr(F.h.request, "Cookie"));
	ask("POST", "/ok", 1000);
	assert_non_null(strstr(F.h.request, "\r\nContent-Length: 0\r\n"));
	assert_null(strstr(F.h.request, "Content-Type"));
	ask("DELETE", "/ok", 1000);
	assert_memory_equal(F.h.request, "DELETE /ok ", 11);
	assert_null(strstr(F.h.request, "Content-Length"));
	ask("GET", "/ok", 1000);
	assert_memory_equal(F.h.request, "GET /ok ", 8);
	assert_int_equal(F.ok, 4);
}

static void test_head(void **state)
{
	(void)state;
	ask("HEAD", "/dated", 1000);
	assert_int_equal(F.status, 429);
	assert_memory_equal(F.h.request, "HEAD ", 5);
}

/* F32: no waiting for "100 Continue". */
static void test_large_body(void **state)
{
	size_t len = 3 << 20;
	char *body = calloc(1, len);
	struct http_call k = {.body = body, .body_len = len};
	int64_t before = loop_now(F.l);

	(void)state;
	assert_int_equal(send_call(&k, "POST", url_of("/ok")), 0);
	free(body); /* it was borrowed during the send only */
	wait_for(1);
	assert_int_equal(F.code, 0);
	assert_null(strstr(F.h.request, "Expect"));
	assert_in_range(loop_now(F.l) - before, 0, 900); /* libcurl would wait for 1 s */
}

/* 6.1: header injection. */
static void test_control_bytes_are_refused(void **state)
{
	static const char *const evil[] = {"X-Node: n1\r\nX-Admin: yes", NULL};
	static const struct {
		const char *method, *url;
		const char *const *headers;
	} bad[] = {
		{"GET", "http://127.0.0.1/", evil},
		{"GET", "http://127.0.0.1/\r\nX: y", NULL},
		{"GET", "http://127.0.0.1/a b", NULL},
		{"GET\r\nX: y", "http://127.0.0.1/", NULL},
		{"GET /other", "http://127.0.0.1/", NULL},
		{"GET", "http://127.0.0.1/\x7f", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct http_call k = {.method = bad[i].method,
				      .url = bad[i].url,
				      .headers = bad[i].headers,
				      .timeout_ms = 1000};
		struct err e = {0};

		assert_int_equal(http_client_send(F.c, &k, done, NULL, NULL, &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
	}
	pass(20);
	assert_int_equal(F.ok + F.bad, 0);
}

static void test_no_proxy(void **state)
{
	static const char *const names[] = {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(setenv(names[i], "http://127.0.0.1:1", 1), 0);
	ask("GET", "/ok", 1000);
	assert_int_equal(F.code, 0);
	for (size_t i = 0; i < 4; i++)
		(void)unsetenv(names[i]);
}

/* Whose name and password for that host lie in the home directory: they are for people's tools. */
static void test_no_netrc(void **state)
{
	char home[] = "/tmp/burstd-netrc.XXXXXX", path[64];
	const char *before = getenv("HOME");
	char *was = before != NULL ? strdup(before) : NULL;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(home));
	(void)snprintf(path, sizeof(path), "%s/.netrc", home);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs("machine 127.0.0.1 login somebody password secret\n", f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(setenv("HOME", home, 1), 0);
	ask("GET", "/ok", 1000);
	assert_int_equal(was != NULL ? setenv("HOME", was, 1) : unsetenv("HOME"), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(home), 0);
	free(was);
	assert_int_equal(F.code, 0);
	assert_null(strcasestr(F.h.request, "authorization:"));
}

static void test_descriptors_are_not_inherited(void **state)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *ent;
	unsigned checked = 0;

	(void)state;
	begin("GET", "/hang", 60000);
	while (F.h.requests == 0)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	while ((ent = readdir(d)) != NULL) {
		struct sockaddr_storage a = {0};
		socklen_t len = sizeof(a);
		int fd = atoi(ent->d_name);

		/* libcurl has one that is not TCP and that it does not tell us of: proc.c takes
		 * care. */
		if (getsockname(fd, (struct sockaddr *)&a, &len) != 0 || a.ss_family != AF_INET)
			continue;
		assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		checked++;
	}
	(void)closedir(d);
	assert_int_equal(checked, 3); /* the listener and both ends */
}

/* --- sent or not ------------------------------------------------------------------------------ */

/* F26, F27, F31: no byte of the request can have gone out. */
static void test_not_sent(void **state)
{
	char https[64], user[64];
	const struct {
		const char *name, *url, *ca_file;
	} bad[] = {
		{"refused", "http://127.0.0.1:1/", NULL},
		{"bad port", "http://127.0.0.1:99999/", NULL},
		{"no host", "http:///", NULL},
		{"no URL", "", NULL},
		{"file", "file:///etc/passwd", NULL},
		{"gopher", "gopher://127.0.0.1/", NULL},
		{"name and password", user, NULL},
		{"TLS that is not TLS", https, NULL},
		{"missing CA file", https, "/nowhere/ca.pem"},
	};

	(void)state;
	(void)snprintf(https, sizeof(https), "https://127.0.0.1:%d/ok", F.h.port);
	(void)snprintf(user, sizeof(user), "http://u:p@127.0.0.1:%d/ok", F.h.port);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct http_call k = {.ca_file = bad[i].ca_file, .timeout_ms = 300};

		print_message("# %s\n", bad[i].name);
		assert_int_equal(send_call(&k, "POST", bad[i].url), 0);
		wait_for(i + 1);
		assert_int_equal(F.code, ERR_NOTSENT);
	}
	assert_int_equal(F.h.requests, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_one_answer_a_turn),
		T(test_replies),
		T(test_longest_reply),
		T(test_a_reply_that_is_read_as_it_comes),
		T(test_a_redirect_is_told_and_not_followed),
		T(test_what_is_secret_is_sent_and_read_all_the_same),
		T(test_slow_loris),
		T(test_one_that_is_held_may_be_slow),
		T(test_what_is_sent),
		T(test_head),
		T(test_large_body),
		T(test_control_bytes_are_refused),
		T(test_no_proxy),
		T(test_no_netrc),
		T(test_descriptors_are_not_inherited),
		T(test_not_sent),
	};
#undef T
	int rc;

	(void)curl_global_init(CURL_GLOBAL_ALL);
	rc = cmocka_run_group_tests_name("http_client", tests, NULL, NULL);
	curl_global_cleanup();
	return rc;
}
