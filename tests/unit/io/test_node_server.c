/* test_node_server.c - the node-facing listener over real sockets: certificates of clients, new
 * certificates while it runs, requests and their answers, its end. */
#include "node_listener.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>

#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

/* --- certificates ----------------------------------------------------------------------------- */

static void the_port_of_a_client_is_told(void **state)
{
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);
	struct tls_peer p;
	char out[4096], want[32];

	(void)state;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(getsockname(p.fd, (struct sockaddr *)&sa, &len), 0);
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	(void)snprintf(want, sizeof(want), " port=%u ", (unsigned)ntohs(sa.sin_port));
	assert_non_null(strstr(out, want));
	tls_peer_close(&p);
}

/* The loop sleeps on, but no longer than that; with anybody else's request it is woken anyway. */
static void what_is_lazy_waits_for_others_or_a_second(void **state)
{
	int64_t began = clock_boot_ms();
	struct tls_peer lazy, other;
	char out[4096];

	(void)state;
	start();
	assert_int_equal(once(NULL, "/lazy", out, sizeof(out)), 200);
	assert_in_range(clock_boot_ms() - began, NODE_LAZY_MS, 10000);
	assert_int_equal(dial(&lazy, NULL), 0);
	assert_int_equal(dial(&other, NULL), 0);
	assert_int_equal(say(&lazy, "GET /lazy HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	UNTIL(stats().requests == 2);
	assert_int_equal(get(&other, "/", out, sizeof(out)), 200);
	assert_int_equal(F.served, 3); /* in the same round */
	assert_int_equal(tls_peer_reply(&lazy, out, sizeof(out)), 200);
	tls_peer_close(&lazy);
	tls_peer_close(&other);
}

/* More of them than half a queue do not fill it. */
static void lazy_ones_do_not_fill_the_queue(void **state)
{
	struct tls_peer p[MANY];
	char out[4096];

	(void)state;
	F.o.queue_max = MANY;
	start();
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(dial(&p[i], NULL), 0);
		assert_int_equal(say(&p[i], "GET /lazy HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(tls_peer_reply(&p[i], out, sizeof(out)), 200);
		tls_peer_close(&p[i]);
	}
	assert_int_equal(stats().queue_full, 0);
}

static void a_secret_answer_goes_out_like_any_other(void **state)
{
	char out[4096];

	(void)state;
	start();
	assert_int_equal(once(NULL, "/secret", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "GET /secret"));
}

/* --- requests --------------------------------------------------------------------------------- */

static void the_check_answers_before_the_loop(void **state)
{
	struct tls_peer p;
	char out[4096];

	(void)state;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(get(&p, "/bad", out, sizeof(out)), 401);
	assert_int_equal(F.served, 0);
	assert_int_equal(stats().refused, 50);
	assert_int_equal(get(&p, "/good", out, sizeof(out)), 200);
	assert_int_equal(stats().accepted, 1);
	tls_peer_close(&p);
}

/* Answers in between count for nothing: who asks both in turn is cut as well. */
static void refused_often_enough_a_connection_is_closed(void **state)
{
	struct tls_peer p;
	char out[4096];

	(void)state;
	F.o.max_refused = 5;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(get(&p, "/bad", out, sizeof(out)), 401);
		assert_null(strstr(out, "Connection: close"));
		assert_int_equal(get(&p, "/good", out, sizeof(out)), 200);
	}
	assert_int_equal(get(&p, "/bad", out, sizeof(out)), 401);
	assert_non_null(strstr(out, "Connection: close"));
	assert_int_equal(get(&p, "/good", out, sizeof(out)), -1);
	tls_peer_close(&p);
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(get(&p, "/good", out, sizeof(out)), 200);
	tls_peer_close(&p);
}

/* Who has a certificate, or asks what nobody does, gets other words for it, by the loop, which such
 * a stream would keep busy. */
static void whatever_is_wrong_with_a_request_it_counts(void **state)
{
	static const struct {
		const char *path;
		int status;
	} rows[] = {{"/bad", 401}, {"/none", 404}, {"/wrong", 400}};
	struct tls_peer p;
	char out[4096];

	(void)state;
	F.o.max_refused = 3;
	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(dial(&p, NULL), 0);
		for (int n = 0; n < 3; n++)
			assert_int_equal(get(&p, rows[i].path, out, sizeof(out)), rows[i].status);
		assert_non_null(strstr(out, "Connection: close"));
		assert_int_equal(get(&p, "/good", out, sizeof(out)), -1);
		tls_peer_close(&p);
	}
	assert_int_equal(dial(&p, NULL), 0); /* of different kinds, too */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(get(&p, rows[i].path, out, sizeof(out)), rows[i].status);
	assert_int_equal(get(&p, "/good", out, sizeof(out)), -1);
	tls_peer_close(&p);
}

/* All that were sent at once, too. */
static void of_a_stream_of_bad_requests_few_are_answered(void **state)
{
	static const char bad[] = "GET /bad HTTP/1.1\r\nHost: x\r\n\r\n";
	struct tls_peer p;
	struct str s;
	char out[4096];
	int n = 0;

	(void)state;
	F.o.max_refused = NODE_REFUSED_MAX;
	start();
	str_init(&s, 1 << 20);
	for (int i = 0; i < 1000; i++)
		str_adds(&s, bad);
	assert_int_equal(dial(&p, NULL), 0);
	(void)tls_peer_send(&p, s.p, s.len);
	while (tls_peer_reply(&p, out, sizeof(out)) == 401)
		n++;
	assert_in_range(n, 1, NODE_REFUSED_MAX);
	assert_int_equal(stats().refused, NODE_REFUSED_MAX);
	str_fini(&s);
	tls_peer_close(&p);
}

static void requests_sent_at_once_are_answered_in_turn(void **state)
{
	struct tls_peer p;
	struct str s;
	char out[4096], want[32];

	(void)state;
	start();
	str_init(&s, 65536);
	for (int i = 0; i < 20; i++)
		str_addf(&s, "POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", i);
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(tls_peer_send(&p, s.p, s.len), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), 200);
		(void)snprintf(want, sizeof(want), "POST /%d?", i);
		assert_non_null(strstr(out, want));
	}
	str_fini(&s);
	tls_peer_close(&p);
}

static void what_is_not_TLS_or_not_HTTP_harms_nobody(void **state)
{
	static const char *const rude[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
					   "\x16\x03\x01\xff\xff\x01", "\n\n\n\n"};
	struct tls_peer p;
	char out[4096];

	(void)state;
	F.o.request_ms = 1500;
	start();
	for (size_t i = 0; i < sizeof(rude) / sizeof(rude[0]); i++) {
		int fd = tcp_open(node_server_port(F.s));

		assert_int_equal(send(fd, rude[i], strlen(rude[i]), MSG_NOSIGNAL), strlen(rude[i]));
		(void)closed_after(fd);
		(void)close(fd);
	}
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(say(&p, "what? ever\r\n\r\n"), 0);
	assert_int_not_equal(tls_peer_reply(&p, out, sizeof(out)), 200);
	tls_peer_close(&p);
	assert_int_equal(F.served, 0);
	assert_int_equal(once(NULL, "/", out, sizeof(out)), 200);
}

static void answer_on_loop(struct fix *f)
{
	while (f->nheld > 0) {
		struct http_answer an = {.status = 201, .body = mem_strdup("late"), .len = 4};

		node_server_answer(f->s, f->held[--f->nheld], &an);
		/* Once more, and one that never was: both are ignored, and their bodies freed. */
		an.body = mem_strdup("twice");
		node_server_answer(f->s, f->held[f->nheld], &an);
		an.body = mem_strdup("stray");
		node_server_answer(f->s, f->held[f->nheld] + (UINT64_C(7) << 32), &an);
	}
}

static void answers_come_later_by_ticket(void **state)
{
	struct tls_peer p[MANY];
	char out[4096];

	(void)state;
	start();
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(dial(&p[i], NULL), 0);
		assert_int_equal(say(&p[i], "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	}
	UNTIL(F.served == MANY);
	tls_peer_close(&p[0]); /* who went away is no trouble */
	on_loop(answer_on_loop);
	for (int i = 1; i < MANY; i++) {
		assert_int_equal(tls_peer_reply(&p[i], out, sizeof(out)), 201);
		assert_non_null(strstr(out, "\r\n\r\nlate"));
		tls_peer_close(&p[i]);
	}
	assert_int_equal(once(NULL, "/drop", out, sizeof(out)), -1);
	UNTIL(stats().open == 0);
}

static void stopping_closes_all_and_waits_for_nobody(void **state)
{
	struct tls_peer held, idle;
	int raw;
	char out[4096];
	int64_t from;

	(void)state;
	start();
	assert_int_equal(dial(&held, NULL), 0);
	assert_int_equal(say(&held, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	UNTIL(F.served == 1);
	assert_int_equal(dial(&idle, &node), 0);
	raw = tcp_open(node_server_port(F.s));
	from = clock_boot_ms();
	on_loop(stop_on_loop);
	assert_in_range(clock_boot_ms() - from, 0, 3000);
	assert_int_equal(tls_peer_reply(&held, out, sizeof(out)), -1);
	assert_int_equal(tls_peer_reply(&idle, out, sizeof(out)), -1);
	(void)closed_after(raw);
	(void)close(raw);
	tls_peer_close(&held);
	tls_peer_close(&idle);
}

/* How often the thread of the listener has slept. */
static long sleeps(void)
{
	struct dirent *ent;
	DIR *tasks = opendir("/proc/self/task");
	long n = -1;

	assert_non_null(tasks);
	while ((ent = readdir(tasks)) != NULL) {
		char path[300], line[200];
		bool ours = false;
		FILE *f;

		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", ent->d_name);
		f = fopen(path, "re");
		while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
			ours = ours || strcmp(line, "Name:\tburstd-nodes\n") == 0;
			if (ours && strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
				n = strtol(line + 24, NULL, 10);
		}
		if (f != NULL)
			(void)fclose(f);
	}
	(void)closedir(tasks);
	return n;
}

static void it_sleeps_while_nobody_is_there(void **state)
{
	struct tls_peer p;
	long before;

	(void)state;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	tls_peer_close(&p);
	(void)usleep(300000);
	before = sleeps();
	assert_true(before >= 0);
	(void)usleep(1000000);
	assert_in_range(sleeps() - before, 0, 3); /* ten, with one looking for who is slow */
	assert_int_equal(dial(&p, NULL), 0);      /* and it wakes up */
	tls_peer_close(&p);
}

static void refused_on_loop(struct fix *f)
{
	struct err e = {0};
	struct node_server_opts o = f->o;

	o.address = "localhost";
	assert_int_equal(node_server_start(&f->s, &f->loop, &o, handler, f, &e), -1);
	o = f->o;
	o.key_pem = other_server.key;
	assert_int_equal(node_server_start(&f->s, &f->loop, &o, handler, f, &e), -1);
	assert_non_null(strstr(e.msg, "TLS"));
	o = f->o;
	o.address = "192.0.2.1";
	assert_int_equal(node_server_start(&f->s, &f->loop, &o, handler, f, &e), -1);
	assert_non_null(strstr(e.msg, "cannot listen"));
}

static void what_cannot_start_says_why(void **state)
{
	(void)state;
	on_loop(refused_on_loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_port_of_a_client_is_told),
		TEST(what_is_lazy_waits_for_others_or_a_second),
		TEST(lazy_ones_do_not_fill_the_queue),
		TEST(a_secret_answer_goes_out_like_any_other),
		TEST(the_check_answers_before_the_loop),
		TEST(refused_often_enough_a_connection_is_closed),
		TEST(whatever_is_wrong_with_a_request_it_counts),
		TEST(of_a_stream_of_bad_requests_few_are_answered),
		TEST(requests_sent_at_once_are_answered_in_turn),
		TEST(what_is_not_TLS_or_not_HTTP_harms_nobody),
		TEST(answers_come_later_by_ticket),
		TEST(stopping_closes_all_and_waits_for_nobody),
		TEST(it_sleeps_while_nobody_is_there),
		TEST(what_cannot_start_says_why),
	};

	return cmocka_run_group_tests(tests, make_ids, NULL);
}
