/* test_parts.c - simcloud's small parts: heap, dist, throttle, addr, token, settings, hosts,
 * options. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/simcloud/addr.h"
#include "providers/simcloud/dist.h"
#include "providers/simcloud/heap.h"
#include "providers/simcloud/hosts.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/options.h"
#include "providers/simcloud/settings.h"
#include "providers/simcloud/throttle.h"
#include "providers/simcloud/token.h"

static void test_heap_gives_by_time_then_by_arrival(void **state)
{
	struct heap h = {0};
	struct heap_item it;
	struct rng r;
	int64_t last = 0;
	uint32_t last_row = 0;

	(void)state;
	rng_init(&r, 7, 0);
	assert_int_equal(heap_next(&h), INT64_MAX);
	assert_false(heap_pop(&h, INT64_MAX, &it));
	for (uint32_t i = 0; i < 1000; i++)
		heap_push(&h, (int64_t)(rng_next(&r) % 50), 0, i);
	for (int i = 0; i < 1000; i++) {
		assert_false(heap_pop(&h, heap_next(&h) - 1, &it));
		assert_true(heap_pop(&h, heap_next(&h), &it));
		assert_true(it.at > last || (it.at == last && (i == 0 || it.row > last_row)));
		last = it.at;
		last_row = it.row;
	}
	assert_int_equal(h.n, 0);
	heap_fini(&h);
}

static void test_dist(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t min, max, mean_min, mean_max;
	} rows[] = {
		{"\"50ms\"", 0, 50, 50, 50, 50},
		{"{\"dist\":\"uniform\",\"min\":\"10ms\",\"max\":\"20ms\"}", 0, 10, 20, 14, 16},
		{"{\"dist\":\"lognormal\",\"median\":\"1s\",\"sigma\":0.5}", 0, 40, 25000, 1050,
		 1220},
		{"{\"dist\":\"lognormal\",\"median\":\"1s\",\"sigma\":0}", 0, 999, 1000, 999, 1000},
		{"5", -1, 0, 0, 0, 0},
		{"\"5\"", -1, 0, 0, 0, 0},
		{"{}", -1, 0, 0, 0, 0},
		{"{\"dist\":\"zipf\"}", -1, 0, 0, 0, 0},
		{"{\"dist\":\"uniform\",\"min\":\"2s\",\"max\":\"1s\"}", -1, 0, 0, 0, 0},
		{"{\"dist\":\"uniform\",\"max\":\"1s\"}", -1, 0, 0, 0, 0},
		{"{\"dist\":\"lognormal\",\"median\":\"1s\",\"sigma\":9}", -1, 0, 0, 0, 0},
		{"{\"dist\":\"lognormal\",\"median\":\"1s\"}", -1, 0, 0, 0, 0},
		{"{\"dist\":\"uniform\",\"min\":\"1s\",\"max\":\"1s\",\"x\":1}", -1, 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *o = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);
		struct dist d = {.a_ms = 77};
		struct rng r;
		int64_t sum = 0;

		rng_init(&r, 1, 0);
		assert_int_equal(dist_parse(&d, o, NULL), rows[i].rc);
		json_decref(o);
		if (rows[i].rc != 0)
			assert_int_equal(d.a_ms, 77);
		for (int k = 0; rows[i].rc == 0 && k < 10000; k++) {
			int64_t ms = dist_sample(&d, &r);

			assert_true(ms >= rows[i].min && ms <= rows[i].max);
			sum += ms;
		}
		if (rows[i].rc == 0)
			assert_in_range(sum / 10000, rows[i].mean_min, rows[i].mean_max);
	}
}

/* F7: what is let through, and what is told about the wait. */
static void test_throttle(void **state)
{
	static const struct settings_bucket c = {.rate_milli = 2000, .burst = 3}, none = {0};
	static const struct {
		int64_t at, n, wait;
	} rows[] = {
		{1000, 1, 0},    {1000, 1, 0},    {1000, 1, 0},      {1000, 1, 500},
		{1499, 1, 1},    {1500, 1, 0},    {1500, 1, 500},    {99999, 3, 0},
		{99999, 1, 500}, {101499, 10, 0}, {101499, 1, 4000}, {105499, 1, 0},
	};
	struct throttle t = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(throttle_take(&t, &c, rows[i].n, rows[i].at), rows[i].wait);
	for (int i = 0; i < 100; i++)
		assert_int_equal(throttle_take(&t, &none, 1000, 1), 0);
}

static void test_addr(void **state)
{
	static const struct {
		const char *cidr;
		int rc;
		const char *first;
	} rows[] = {
		{"10.77.0.0/16", 0, "10.77.0.10"},
		{"10.77.3.9/24", 0, "10.77.3.10"},
		{"192.168.1.16/28", 0, "192.168.1.26"},
		{"10.0.0.0/8", 0, "10.0.0.10"},
		{"10.0.0.0/29", -1, ""},
		{"10.0.0.0/7", -1, ""},
		{"10.0.0/16", -1, ""},
		{"10.0.0.256/16", -1, ""},
		{"10.0.0.0", -1, ""},
		{"10.0.0.0/16x", -1, ""},
		{"::1/64", -1, ""},
		{"", -1, ""},
		{"+1.0.0.0/16", -1, ""},
		{"1.0.0.0000/16", -1, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[ADDR_TEXT_SIZE];
		struct addr_pool p;

		assert_int_equal(addr_init(&p, rows[i].cidr, NULL), rows[i].rc);
		if (rows[i].rc == 0)
			assert_string_equal(addr_text(text, addr_take(&p, 0, 0)), rows[i].first);
		addr_fini(&p);
	}
}

static void test_addr_reuse_waits_its_delay(void **state)
{
	struct addr_pool p;
	uint32_t a[5];

	(void)state;
	assert_int_equal(addr_init(&p, "10.0.0.0/28", NULL), 0); /* .10 to .14 */
	for (int i = 0; i < 5; i++)
		a[i] = addr_take(&p, 0, 1000);
	assert_int_not_equal(a[4], 0);
	assert_int_equal(addr_take(&p, 0, 1000), 0);
	addr_give(&p, a[1], 100);
	addr_give(&p, a[2], 200);
	assert_int_equal(addr_take(&p, 1099, 1000), 0);
	assert_int_equal(addr_take(&p, 1100, 1000), a[1]); /* oldest first */
	addr_give(&p, a[3], 1150);
	assert_int_equal(addr_take(&p, 1150, 0), a[3]); /* no delay: youngest first */
	addr_fini(&p);
}

#define OFFER(market, price)                                                                       \
	"{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"market\":" market "," price "}]}"

static void test_settings(void **state)
{
	static const struct {
		const char *change;
		int rc;
	} rows[] = {
		{"{}", 0},
		{"{\"latency\":{\"create\":\"1s\"}}", 0},
		{"{\"latency\":{\"list\":\"2s\"}}", 0},
		{"{\"latency\":{\"typo\":\"2s\"}}", -1},
		{"{\"typo\":1}", -1},
		{"{\"tokens\":1}", -1},
		{"{\"page_max\":0}", -1},
		{"{\"page_max\":1001}", -1},
		{"{\"page_max\":5}", 0},
		{"{\"flap\":1.5}", -1},
		{"{\"quota\":-1}", -1},
		{"{\"boot_never\":\"n1\"}", -1},
		{"{\"boot_never\":[1]}", -1},
		{"{\"boot_fails\":[\"n*\"]}", 0},
		{"{\"boot_fails\":\"n\"}", -1},
		{"{\"clean\":\"5m\",\"machine_lock\":\"1s\",\"machines\":3}", 0},
		{"{\"clean\":5}", -1},
		{"{\"machine_lock\":5}", -1},
		{"{\"machines\":0}", -1},
		{"{\"machines\":1001}", -1},
		{"{\"buckets\":{\"create\":{\"rate\":2}}}", -1},
		{"{\"buckets\":{\"any\":{\"rate\":2}}}", -1},
		{"{\"buckets\":{\"any\":{\"rate\":2,\"burst\":9}}}", 0},
		{"{\"buckets\":{\"all\":{\"rate\":2,\"burst\":9}}}", -1},
		{"{\"buckets\":{\"create\":{\"rate\":2,\"burst\":9,\"per\":\"instance\"}}}", 0},
		{"{\"buckets\":{\"create\":{\"rate\":2,\"burst\":9,\"per\":\"year\"}}}", -1},
		{"{\"buckets\":{\"list\":{\"rate\":2,\"burst\":9,\"instances\":{\"rate\":3}}}}",
		 -1},
		{"{\"buckets\":{\"list\":{\"rate\":2,\"burst\":9,\"instances\":"
		 "{\"rate\":3,\"burst\":7,\"per\":\"request\"}}}}",
		 -1},
		{"{\"buckets\":{\"any\":{\"rate\":2,\"burst\":9,\"instances\":{\"rate\":3,"
		 "\"burst\":7}}}}",
		 -1},
		{"{\"buckets\":{\"delete\":{\"rate\":2,\"burst\":9,\"instances\":"
		 "{\"rate\":3,\"burst\":7}}}}",
		 0},
		{"{\"interfaces\":0}", -1},
		{"{\"interfaces\":33}", -1},
		{"{\"interfaces\":32}", 0},
		{"{\"offers\":[{\"type\":\"t\"}]}", -1},
		{"{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"price\":\"1\"},{\"type\":\"t\","
		 "\"region\":\"r\",\"price\":\"1\",\"currency\":\"USD\"}]}",
		 -1},
		{"{\"spot_hour\":\"0s\"}", -1},
		{"{\"spot_hour\":\"10s\"}", 0},
		{OFFER("\"spot\"", "\"prices\":[[\"0s\",\"1\"],[\"9s\",\"2\"]],\"period\":\"10s\""),
		 0},
		{OFFER("\"spot\"", "\"prices\":[[\"0s\",\"1\"],[\"9s\",\"2\"]],\"period\":\"9s\""),
		 -1},
		{OFFER("\"spot\"", "\"prices\":[[\"1s\",\"1\"]]"), -1},
		{OFFER("\"spot\"", "\"prices\":[[\"0s\",\"1\"],[\"0s\",\"2\"]]"), -1},
		{OFFER("\"spot\"", "\"prices\":[[\"0s\",\"1\",3]]"), -1},
		{OFFER("\"spot\"", "\"prices\":[]"), -1},
		{OFFER("\"on-demand\"", "\"prices\":[[\"0s\",\"1\"]]"), -1},
		{OFFER("\"reserved\"", "\"price\":\"0\""), 0},
		{OFFER("\"free\"", "\"price\":\"0\""), -1},
		{"{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"price\":\"1\"}]}", 0},
	};
	struct settings s;

	(void)state;
	settings_init(&s);
	assert_int_equal(s.noffers, 32);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *o = json_loads(rows[i].change, 0, NULL);
		json_t *before = json_deep_copy(s.doc);
		struct err e = {0};

		if (settings_merge(&s, o, &e) != rows[i].rc)
			fail_msg("%s: %s", rows[i].change, e.msg);
		if (rows[i].rc != 0)
			assert_true(json_equal(before, s.doc));
		json_decref(before);
		json_decref(o);
	}
	/* What was merged holds together. */
	assert_int_equal(s.latency[OP_CREATE].a_ms, 1000);
	assert_int_equal(s.latency[OP_LIST].a_ms, 2000);
	assert_int_equal(s.page_max, 5);
	assert_true(s.bucket[OP_CREATE].per_instance);
	assert_int_equal(s.bucket[OP_DELETE].burst, 9);
	assert_int_equal(s.bucket_items[OP_DELETE].burst, 7);
	assert_int_equal(s.bucket_items[OP_DELETE].rate_milli, 3000);
	assert_int_equal(s.interfaces, 32);
	assert_int_equal(s.noffers, 1);
	settings_fini(&s);
}

static void test_every_operation_has_a_latency_and_a_bucket(void **state)
{
	struct settings s;

	(void)state;
	settings_init(&s);
	for (int i = 0; i < OP_COUNT; i++) {
		const char *op = op_word((enum op)i);
		json_t *o = json_pack("{s:{s:s},s:{s:{s:i,s:i}}}", "latency", op, "3s", "buckets",
				      op, "rate", 2, "burst", 9);
		struct err e = {0};

		if (settings_merge(&s, o, &e) != 0)
			fail_msg("%s: %s", op, e.msg);
		assert_int_equal(s.latency[i].a_ms, 3000);
		assert_int_equal(s.bucket[i].burst, 9);
		json_decref(o);
	}
	settings_fini(&s);
}

static void test_prices_of_the_built_in_offers(void **state)
{
	struct settings s;
	unsigned h100 = 0;

	(void)state;
	settings_init(&s);
	for (unsigned i = 0; i < s.noffers; i++) {
		const struct settings_offer *o = &s.offers[i];

		assert_int_equal(o->capacity, -1);
		assert_string_equal(o->currency, "EUR");
		if (strcmp(o->type, "gpu_8x_h100") == 0 && o->market == MARKET_ON_DEMAND) {
			assert_int_equal(o->price_nano_h, INT64_C(29520000000));
			h100++;
		}
	}
	assert_int_equal(h100, 4); /* two regions of two zones */
	settings_fini(&s);
}

static void read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, out, size - 1);

	assert_true(n >= 0);
	out[n] = '\0';
	(void)close(fd);
}

static void test_hosts_file_is_changed_in_place(void **state)
{
	char dir[] = "/tmp/simcloud-hosts.XXXXXX", path[64], extra[64], text[4096];
	struct stat before, after;
	struct hosts *h;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/hosts", dir);
	(void)snprintf(extra, sizeof(extra), "%s/extra", dir);
	f = fopen(extra, "w");
	(void)fputs("10.77.0.1 ctl", f);
	(void)fclose(f);
	assert_int_equal(hosts_open(&h, path, extra, NULL), 0);
	assert_int_equal(stat(path, &before), 0);
	hosts_set(h, "n1", 0, 0x0a4d000a);
	hosts_set(h, "n2", 1, 0x0a4d000b);
	read_file(path, text, sizeof(text));
	assert_ptr_equal(strstr(text, "127.0.0.1 localhost\n10.77.0.1 ctl\n10.77.0.10 n1 "), text);
	assert_non_null(strstr(text, "\n10.77.0.11 n2 "));
	hosts_set(h, "n1", 2, 0x0a4d000c); /* a younger n1 */
	hosts_set(h, "n1", 0, 0);          /* the older one ends: the name is no longer its */
	hosts_set(h, "n2", 1, 0);
	read_file(path, text, sizeof(text));
	assert_non_null(strstr(text, "\n10.77.0.12 n1 "));
	assert_null(strstr(text, "10.77.0.10"));
	assert_null(strstr(text, "n2"));
	hosts_close(h);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(hosts_open(&h, "/nonexistent/hosts", NULL, NULL), -1);
	assert_null(h);
	(void)unlink(path);
	(void)unlink(extra);
	(void)rmdir(dir);
}

static void test_json_text(void **state)
{
	json_t *o;
	struct str s;

	(void)state;
	str_init(&s, 1024);
	js_open(&s, NULL, '{');
	js_str(&s, "a", "q\"b\\c\n\x01\xff{");
	js_open(&s, "b", '[');
	js_int(&s, NULL, -5);
	js_bool(&s, NULL, true);
	js_null(&s, NULL);
	js_open(&s, NULL, '{');
	js_close(&s, '}');
	js_close(&s, ']');
	js_seconds(&s, "c", 61005);
	js_close(&s, '}');
	assert_string_equal(s.p, "{\"a\":\"q\\\"b\\\\c\\u000a\\u0001?{\",\"b\":[-5,true,null,{}],"
				 "\"c\":61.005}");
	o = json_loads(s.p, 0, NULL);
	assert_non_null(o);
	json_decref(o);
	str_fini(&s);
}

static void test_options(void **state)
{
	static const struct {
		const char *argv[8];
		int rc;
		const char *address;
		unsigned port;
	} rows[] = {
		{{"simcloud"}, 0, "127.0.0.1", 0},
		{{"simcloud", "--listen", "127.0.0.1:80"}, 0, "127.0.0.1", 80},
		{{"simcloud", "--listen", "[::1]:80"}, 0, "::1", 80},
		{{"simcloud", "--listen", "0.0.0.0:80"}, -1, "", 0},
		{{"simcloud", "--listen", "0.0.0.0:80", "--token-file", "x"}, -1, "", 0},
		{{"simcloud", "--listen", "0.0.0.0:80", "--token-file", "x", "--admin-token-file",
		  "y"},
		 0,
		 "0.0.0.0",
		 80},
		{{"simcloud", "--listen", "80"}, -1, "", 0},
		{{"simcloud", "--listen", "1.2.3.4:"}, -1, "", 0},
		{{"simcloud", "--listen", "1.2.3.4:65536"}, -1, "", 0},
		{{"simcloud", "--listen", "127.0.0.1:-1"}, -1, "", 0},
		{{"simcloud", "--boot", "/bin/true"}, -1, "", 0},
		{{"simcloud", "--boot", "/bin/true", "--run-dir", "/x"}, 0, "127.0.0.1", 0},
		{{"simcloud", "--run-dir", "/x"}, -1, "", 0},
		{{"simcloud", "--seed", "x"}, -1, "", 0},
		{{"simcloud", "--metadata", "169.254.169.254:80"}, 0, "127.0.0.1", 0},
		{{"simcloud", "--metadata", "169.254.169.254"}, -1, "", 0},
		{{"simcloud", "--identity", "/x"}, -1, "", 0},
		{{"simcloud", "--metadata", "127.0.0.1:80", "--metadata-as", "gcp"},
		 0,
		 "127.0.0.1",
		 0},
		{{"simcloud", "--metadata", "127.0.0.1:80", "--metadata-as", "azure"},
		 0,
		 "127.0.0.1",
		 0},
		{{"simcloud", "--metadata", "127.0.0.1:80", "--metadata-as", "oci"}, -1, "", 0},
		{{"simcloud", "--metadata-as", "gcp"}, -1, "", 0},
		{{"simcloud", "--metadata", "127.0.0.1:80", "--metadata-as", "gcp",
		  "--aws-key-file", "x"},
		 -1,
		 "",
		 0},
		{{"simcloud", "--seed", "18446744073709551615"}, 0, "127.0.0.1", 0},
		{{"simcloud", "extra"}, -1, "", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o;
		struct err e = {0};
		int argc = 0;

		while (argc < 8 && rows[i].argv[argc] != NULL)
			argc++;
		optind = 0; /* glibc: getopt starts afresh */
		assert_int_equal(options_parse(&o, argc, (char **)(uintptr_t)rows[i].argv, &e),
				 rows[i].rc);
		if (rows[i].rc == 0) {
			assert_string_equal(o.address, rows[i].address);
			assert_int_equal(o.port, rows[i].port);
		} else {
			assert_true(e.msg[0] != '\0');
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap_gives_by_time_then_by_arrival),
		cmocka_unit_test(test_dist),
		cmocka_unit_test(test_throttle),
		cmocka_unit_test(test_addr),
		cmocka_unit_test(test_addr_reuse_waits_its_delay),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_every_operation_has_a_latency_and_a_bucket),
		cmocka_unit_test(test_prices_of_the_built_in_offers),
		cmocka_unit_test(test_hosts_file_is_changed_in_place),
		cmocka_unit_test(test_json_text),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
