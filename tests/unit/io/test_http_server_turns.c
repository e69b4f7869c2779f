/* test_http_server_turns.c - many requests at once: what one connection may ask, and how long a
 * turn takes. */
#include "http_server_lab.h"

static int setup_few_asks(void **state)
{
	(void)state;
	return begin(LAST_ASK);
}

static void test_stop_cuts_off_who_waits(void **state)
{
	struct client c = {.path = "/hold"};

	(void)state;
	start(&c);
	while (F.nheld == 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	stop_server();
	wait_all();
	assert_int_equal(c.rc, CURLE_GOT_NOTHING);
	str_fini(&c.reply);
}

/* A client that gives up while its answer waits must not make the answer go elsewhere. */
static void test_client_gone_while_waiting(void **state)
{
	struct client next = {.path = "/a"};
	struct sockaddr_in a;
	char text[] = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(uv_ip4_addr("127.0.0.1", http_server_port(F.s), &a), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	while (F.nheld == 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	(void)close(fd);
	F.answer_held = true;
	while (F.nheld > 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	request(&next);
	assert_int_equal(next.status, 200);
	str_fini(&next.reply);
}

/* Real clients that send without end and read what comes, and somebody else on the same loop.  Only
 * what the loop does itself counts against it, not how long the machine lets it wait: requests
 * until it looks at all else, and its thread's processor time. */
struct storm {
	pthread_t thread;
	clockid_t loop_clock;
	uv_prepare_t timers_ran;
	uv_check_t polled;
	uv_async_t probe;
	struct sockaddr_in to;
	int64_t until, sent_ns; /* sent_ns: the probe under way, by loop_clock; 0: none is */
	unsigned nprobes, late, closed;
	unsigned before, most; /* requests: before this look, and between two at most */
	unsigned handles;
	bool over;
};

static int stream_open(const struct storm *m)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (const struct sockaddr *)&m->to, sizeof(m->to)) != 0)
		abort();
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* Hundreds of requests at once, from where the last ones were cut.  -1: the server has closed it.
 */
static int stream_more(int fd, size_t *at)
{
	static const char one[] = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
	enum { LEN = sizeof(one) - 1 };
	static char text[PIPELINED * LEN], sink[65536];
	ssize_t n;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = one[i % LEN];
	n = send(fd, text + *at, sizeof(text) - *at, MSG_NOSIGNAL);
	if (n > 0)
		*at = (*at + (size_t)n) % LEN;
	do {
		n = recv(fd, sink, sizeof(sink), 0);
	} while (n > 0);
	return n == 0 || (errno != EAGAIN && errno != EINTR) ? -1 : 0;
}

static int64_t cpu_ns(clockid_t clock)
{
	struct timespec ts = {0};

	assert_int_equal(clock_gettime(clock, &ts), 0);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void probe(struct storm *m)
{
	int64_t none = 0;

	if (__atomic_compare_exchange_n(&m->sent_ns, &none, cpu_ns(m->loop_clock), false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		(void)uv_async_send(&m->probe);
}

static void *stream(void *arg)
{
	size_t at[STREAMS] = {0};
	struct storm *m = arg;
	struct pollfd fds[STREAMS];

	for (int i = 0; i < STREAMS; i++)
		fds[i] = (struct pollfd){.fd = stream_open(m), .events = POLLIN};
	while (clock_boot_ms() < m->until ||
	       __atomic_load_n(&m->nprobes, __ATOMIC_SEQ_CST) < PROBES_MIN) {
		for (int i = 0; i < STREAMS; i++) {
			if (stream_more(fds[i].fd, &at[i]) == 0)
				continue;
			(void)close(fds[i].fd);
			fds[i].fd = stream_open(m);
			at[i] = 0;
			m->closed++;
		}
		probe(m);
		(void)poll(fds, STREAMS, 2);
	}
	for (int i = 0; i < STREAMS; i++)
		(void)close(fds[i].fd);
	__atomic_store_n(&m->over, true, __ATOMIC_SEQ_CST);
	(void)uv_async_send(&m->probe);
	return NULL;
}

static void on_probe(uv_async_t *h)
{
	struct storm *m = h->data;
	int64_t sent = __atomic_exchange_n(&m->sent_ns, 0, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&m->over, __ATOMIC_SEQ_CST))
		uv_stop(h->loop);
	if (sent == 0)
		return;
	(void)__atomic_add_fetch(&m->nprobes, 1, __ATOMIC_SEQ_CST);
	if (cpu_ns(m->loop_clock) - sent >= (int64_t)LATE_MS * 1000000)
		m->late++;
}

static void look(struct storm *m)
{
	if (F.served - m->before > m->most)
		m->most = F.served - m->before;
	m->before = F.served;
}

static void on_timers_ran(uv_prepare_t *h)
{
	look(h->data);
}

static void on_polled(uv_check_t *h)
{
	look(h->data);
}

static void on_handle_closed(uv_handle_t *h)
{
	struct storm *m = h->data;

	m->handles--;
}

static void storm(struct storm *m)
{
	assert_int_equal(uv_ip4_addr("127.0.0.1", http_server_port(F.s), &m->to), 0);
	assert_int_equal(pthread_getcpuclockid(pthread_self(), &m->loop_clock), 0);
	assert_int_equal(uv_async_init(&F.loop, &m->probe, on_probe), 0);
	assert_int_equal(uv_prepare_init(&F.loop, &m->timers_ran), 0);
	assert_int_equal(uv_prepare_start(&m->timers_ran, on_timers_ran), 0);
	assert_int_equal(uv_check_init(&F.loop, &m->polled), 0);
	assert_int_equal(uv_check_start(&m->polled, on_polled), 0);
	m->probe.data = m->timers_ran.data = m->polled.data = m;
	m->handles = 3;
	m->before = F.served;
	m->until = clock_boot_ms() + STREAM_MS;
	(void)alarm(FREEZE_S);
	assert_int_equal(pthread_create(&m->thread, NULL, stream, m), 0);
	(void)uv_run(&F.loop, UV_RUN_DEFAULT);
	(void)pthread_join(m->thread, NULL);
	(void)alarm(0);
	uv_close((uv_handle_t *)&m->probe, on_handle_closed);
	uv_close((uv_handle_t *)&m->timers_ran, on_handle_closed);
	uv_close((uv_handle_t *)&m->polled, on_handle_closed);
	while (m->handles > 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	print_message("# %u requests, %u at a time, %u probes, %u late, %u closed\n", F.served,
		      m->most, m->nprobes, m->late, m->closed);
}

static void test_no_number_of_requests_takes_the_loop(void **state)
{
	struct storm m = {0};
	struct client c = {.path = "/a"}, held = {.path = "/hold"};

	(void)state;
	storm(&m);
	assert_true(F.served > STREAMS);
	assert_true(m.nprobes >= PROBES_MIN);
	assert_in_range(m.most, 1, RUNS * STREAMS);
	assert_int_equal(m.late, 0);
	assert_int_equal(m.closed, 0);
	request(&c);
	assert_int_equal(c.status, 200);
	str_fini(&c.reply);
	/* And then an answer that comes later goes out when it comes. */
	F.answer_held = true;
	(void)alarm(FREEZE_S);
	request(&held);
	(void)alarm(0);
	assert_int_equal(held.status, 201);
	str_fini(&held.reply);
}

static void test_a_connection_has_a_last_request(void **state)
{
	struct client c = {.path = "/a", .repeat = 3 * LAST_ASK - 1};
	struct storm m = {0};

	(void)state;
	request(&c);
	assert_int_equal(c.rc, CURLE_OK);
	assert_int_equal(c.connects, 3);
	assert_int_equal(F.served, 3 * LAST_ASK);
	str_fini(&c.reply);
	storm(&m);
	assert_true(m.closed > STREAMS);
	assert_true(F.served <= 3 * LAST_ASK + (m.closed + STREAMS) * LAST_ASK);
	assert_in_range(m.most, 1, RUNS * STREAMS);
	assert_int_equal(m.late, 0);
}

/* Much is there before the server looks at any, so no client's pace counts; and while it rests it
 * hears nothing of what comes. */
static void test_a_long_queue_is_served_in_short_turns(void **state)
{
	struct storm m = {0};
	size_t at[STREAMS] = {0};
	int fds[STREAMS];
	unsigned turns = 0;
	uint64_t may_ms = 0; /* the next turn */

	(void)state;
	assert_int_equal(uv_ip4_addr("127.0.0.1", http_server_port(F.s), &m.to), 0);
	for (int i = 0; i < STREAMS; i++) {
		fds[i] = stream_open(&m);
		assert_int_equal(stream_more(fds[i], &at[i]), 0);
		assert_int_equal(at[i], 0); /* all of it */
	}
	(void)alarm(FREEZE_S);
	while (F.served < STREAMS * PIPELINED) {
		unsigned before = F.served;
		uint64_t now_ms;

		uv_update_time(&F.loop);
		now_ms = uv_now(&F.loop);
		(void)uv_run(&F.loop, UV_RUN_NOWAIT); /* no more than one turn */
		assert_int_equal(stream_more(fds[0], &at[0]), 0);
		if (F.served == before)
			continue;
		assert_in_range(F.served - before, 1, RUNS * STREAMS);
		assert_true(uv_now(&F.loop) >= may_ms);
		may_ms = now_ms + REST_MS;
		turns++;
	}
	(void)alarm(0);
	print_message("# %u requests in %u turns\n", F.served, turns);
	for (int i = 0; i < STREAMS; i++)
		(void)close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_number_of_requests_takes_the_loop, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_connection_has_a_last_request,
						setup_few_asks, teardown),
		cmocka_unit_test_setup_teardown(test_a_long_queue_is_served_in_short_turns, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_client_gone_while_waiting, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop_cuts_off_who_waits, setup, teardown),
	};

	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
