/* test_mail.c - a mail to a small SMTP server in a thread: what goes out, what a refusal is called,
 * and that nobody waits for a server that hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop.h"
#include "io/mail.h"

static struct {
	int listener, fd;
	char url[64];
	pthread_t thread; /* the server's, which has `heard` until heard() */
	bool serves;
	pthread_mutex_t lock; /* for fd */
	const char *refuse;   /* answer 550 to commands that begin so; "": to none */
	const char *silent;   /* say nothing to them */
	char heard[8192];
	bool told, inside;
	char error[256];
	struct loop *loop;
	struct timer *timer;
} S;

static void say(int fd, const char *text)
{
	(void)!write(fd, text, strlen(text));
}

static bool is(const char *line, const char *begin)
{
	return begin[0] != '\0' && strncasecmp(line, begin, strlen(begin)) == 0;
}

/* One connection, line by line. */
static void serve(FILE *in, int fd)
{
	char line[1024];
	bool data = false, auth = false;

	say(fd, "220 test\r\n");
	while (fgets(line, sizeof(line), in) != NULL) {
		(void)snprintf(S.heard + strlen(S.heard), sizeof(S.heard) - strlen(S.heard), "%s",
			       line);
		if (is(line, S.silent)) {
			while (fgets(line, sizeof(line), in) != NULL)
				;
			return;
		}
		if (data && strcmp(line, ".\r\n") != 0)
			continue;
		if (is(line, S.refuse))
			say(fd, "550 no such user here\r\n");
		else if (is(line, "DATA"))
			say(fd, "354 go on\r\n");
		else if (is(line, "EHLO"))
			say(fd, "250-test\r\n250 AUTH PLAIN\r\n");
		else if (is(line, "AUTH"))
			say(fd, "334 \r\n");
		else
			say(fd, auth ? "235 good\r\n" : "250 good\r\n");
		auth = is(line, "AUTH");
		data = is(line, "DATA");
		if (is(line, "QUIT"))
			return;
	}
}

static void *run(void *arg)
{
	int fd = accept(S.listener, NULL, NULL);
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;

	(void)arg;
	(void)pthread_mutex_lock(&S.lock);
	S.fd = fd;
	(void)pthread_mutex_unlock(&S.lock);
	if (in == NULL)
		return NULL;
	serve(in, fd);
	(void)fclose(in);
	return NULL;
}

static int setup(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);

	(void)state;
	memset(&S, 0, sizeof(S));
	S.fd = -1;
	S.refuse = S.silent = "";
	S.listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(S.listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(S.listener, 1), 0);
	assert_int_equal(getsockname(S.listener, (struct sockaddr *)&a, &len), 0);
	(void)snprintf(S.url, sizeof(S.url), "smtp://127.0.0.1:%d", ntohs(a.sin_port));
	assert_int_equal(pthread_mutex_init(&S.lock, NULL), 0);
	assert_int_equal(loop_new(&S.loop, NULL), 0);
	return 0;
}

/* What the server has heard, when it is done. */
static const char *heard(void)
{
	if (S.serves)
		(void)pthread_join(S.thread, NULL);
	S.serves = false;
	return S.heard;
}

static int teardown(void **state)
{
	(void)state;
	(void)shutdown(S.listener, SHUT_RDWR);
	(void)pthread_mutex_lock(&S.lock);
	(void)shutdown(S.fd, SHUT_RDWR);
	(void)pthread_mutex_unlock(&S.lock);
	(void)heard();
	close(S.listener);
	timer_free(S.timer);
	loop_free(S.loop);
	return 0;
}

static void on_end(void *ctx, const struct err *e)
{
	assert_ptr_equal(ctx, &S);
	assert_false(S.inside);
	assert_false(S.told);
	S.told = true;
	(void)snprintf(S.error, sizeof(S.error), "%s", e != NULL ? e->msg : "");
	loop_stop(S.loop);
}

static struct mail *send_it(const char *user, bool tls, uint32_t timeout_ms)
{
	static const char *const to[] = {"a@x", "b@y", NULL};
	static const char text[] = "Subject: s\r\n\r\nhello\r\n.hidden dot\r\n";
	const struct mail_call call = {.url = S.url,
				       .from = "f@z",
				       .to = to,
				       .user = user,
				       .password = user != NULL ? "sesame" : NULL,
				       .text = text,
				       .len = sizeof(text) - 1,
				       .tls = tls,
				       .timeout_ms = timeout_ms};
	struct err e = {0};
	struct mail *m;

	assert_int_equal(pthread_create(&S.thread, NULL, run, NULL), 0);
	S.serves = true;
	S.inside = true;
	m = mail_send(S.loop, &call, on_end, &S, &e);
	S.inside = false;
	assert_non_null(m);
	return m;
}

static void test_it_is_taken(void **state)
{
	(void)state;
	(void)send_it(NULL, false, 10000);
	loop_run(S.loop);
	assert_true(S.told);
	assert_string_equal(S.error, "");
	assert_non_null(strstr(heard(), "MAIL FROM:<f@z>"));
	assert_non_null(strstr(heard(), "RCPT TO:<a@x>\r\nRCPT TO:<b@y>\r\nDATA\r\n"
					"Subject: s\r\n\r\nhello\r\n..hidden dot\r\n.\r\n"));
	assert_non_null(strstr(heard(), "QUIT\r\n"));
	assert_null(strstr(heard(), "AUTH"));
}

static void test_a_login(void **state)
{
	(void)state;
	(void)send_it("burst", false, 10000);
	loop_run(S.loop);
	assert_string_equal(S.error, "");
	assert_non_null(strstr(heard(), "AUTH PLAIN\r\nAGJ1cnN0AHNlc2FtZQ==\r\n"));
}

/* One address that is refused is no mail to the others. */
static void test_a_refusal(void **state)
{
	(void)state;
	S.refuse = "RCPT TO:<b@y>";
	(void)send_it(NULL, false, 10000);
	loop_run(S.loop);
	assert_non_null(strstr(S.error, "RCPT failed: 550"));
	assert_null(strstr(heard(), "hello"));
}

static void test_the_last_word_counts(void **state)
{
	(void)state;
	S.refuse = ".";
	(void)send_it(NULL, false, 10000);
	loop_run(S.loop);
	assert_true(S.error[0] != '\0');
}

/* No word of the mail, and no login, without it. */
static void test_tls_is_demanded(void **state)
{
	(void)state;
	(void)send_it("burst", true, 10000);
	loop_run(S.loop);
	assert_true(S.error[0] != '\0');
	assert_null(strstr(heard(), "AUTH"));
	assert_null(strstr(heard(), "MAIL"));
}

static void test_a_server_that_hangs(void **state)
{
	int64_t began = loop_now(S.loop);

	(void)state;
	S.silent = ".\r\n"; /* after the mail: where libcurl waits */
	(void)send_it(NULL, false, 700);
	loop_run(S.loop);
	assert_true(S.error[0] != '\0');
	assert_in_range(loop_now(S.loop) - began, 600, 5000);
}

static void on_tick(void *ctx)
{
	int *ticks = ctx;

	if (++*ticks == 5)
		loop_stop(S.loop);
	else
		timer_at(S.timer, loop_now(S.loop) + 20);
}

/* The loop goes on meanwhile, and a mail that is cancelled tells nobody. */
static void test_nobody_waits(void **state)
{
	int ticks = 0;
	struct mail *m;

	(void)state;
	S.silent = ".\r\n";
	m = send_it(NULL, false, 60000);
	S.timer = timer_new(S.loop, on_tick, &ticks);
	timer_at(S.timer, 0);
	loop_run(S.loop);
	assert_int_equal(ticks, 5);
	assert_false(S.told);
	mail_cancel(m); /* loop_free() does not wait for its thread */
}

static void test_nobody_is_there(void **state)
{
	(void)state;
	(void)snprintf(S.url, sizeof(S.url), "smtp://127.0.0.1:1");
	(void)send_it(NULL, false, 10000);
	loop_run(S.loop);
	assert_non_null(strstr(S.error, "127.0.0.1"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_it_is_taken),          T(test_a_login),         T(test_a_refusal),
		T(test_the_last_word_counts), T(test_tls_is_demanded), T(test_a_server_that_hangs),
		T(test_nobody_waits),         T(test_nobody_is_there),
	};
#undef T

	curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests_name("mail", tests, NULL, NULL);
}
