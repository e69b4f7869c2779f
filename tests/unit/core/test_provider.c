/* test_provider.c - what is asked of a provider, and what it answered, are released whole; the
 * words of both. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/provider.h"

enum {
	ALLOCATOR = 16, /* bytes of released memory in which malloc() notes what it likes */
	LINE = 80,
};

/* What is at an address that is no longer ours: a pointer to it may not be followed. */
static void peek(uintptr_t at, char *out, size_t n)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, out, n, (off_t)at), n);
	close(fd);
}

static char *header(char fill)
{
	char *line = mem_zalloc(LINE + 1);

	memset(line, fill, LINE);
	return line;
}

/* One of them carries the credential. */
static void test_headers_are_wiped(void **state)
{
	static const char zeros[LINE];
	char left[LINE];
	uintptr_t at[PROVIDER_HEADERS_MAX];

	(void)state;
	for (size_t n = 0; n <= PROVIDER_HEADERS_MAX; n++) {
		struct provider_request r = {.kind = PROVIDER_HTTP};

		for (size_t i = 0; i < n; i++) {
			r.headers[i] = header((char)('a' + i));
			at[i] = (uintptr_t)r.headers[i];
		}
		provider_request_fini(&r);
		for (size_t i = 0; i < n; i++) {
			peek(at[i], left, sizeof(left));
			assert_memory_equal(left + ALLOCATOR, zeros, LINE - ALLOCATOR);
		}
	}
}

/* A create's user-data has secrets of claims, and a login's answer is one. */
static void test_a_body_and_a_session_are_wiped(void **state)
{
	static const char zeros[LINE];
	struct provider_request q = {.body = header('b'), .body_len = LINE};
	struct provider_result r = {.session = header('s')};
	uintptr_t at[] = {(uintptr_t)q.body, (uintptr_t)r.session};
	char left[LINE];

	(void)state;
	provider_request_fini(&q);
	provider_result_fini(&r);
	assert_null(r.session);
	for (size_t i = 0; i < 2; i++) {
		peek(at[i], left, sizeof(left));
		assert_memory_equal(left + ALLOCATOR, zeros, LINE - ALLOCATOR);
	}
}

static void test_a_released_request_is_empty(void **state)
{
	struct provider_request r = {.kind = PROVIDER_COMMAND,
				     .method = "POST",
				     .url = mem_strdup("https://api"),
				     .headers = {header('a'), header('b')},
				     .argv = mem_zalloc(4 * sizeof(*r.argv)),
				     .deadline_ms = 1,
				     .body = mem_strdup("{}"),
				     .body_len = 2};

	(void)state;
	for (int i = 0; i < 3; i++)
		r.argv[i] = mem_strdup("word");
	for (int times = 0; times < 2; times++) { /* the second: of nothing */
		provider_request_fini(&r);
		assert_int_equal(r.kind, 0);
		assert_null(r.method);
		assert_null(r.url);
		assert_null(r.headers[0]);
		assert_null(r.headers[1]);
		assert_null(r.argv);
		assert_int_equal(r.deadline_ms, 0);
		assert_null(r.body);
		assert_int_equal(r.body_len, 0);
	}
}

static void test_a_released_result_is_empty(void **state)
{
	struct provider_result r = {.code = PROVIDER_QUOTA,
				    .items = mem_zalloc(sizeof(*r.items)),
				    .nitems = 1,
				    .instances = mem_zalloc(sizeof(*r.instances)),
				    .ninstances = 1,
				    .cursor = "2",
				    .quotes = mem_zalloc(sizeof(*r.quotes)),
				    .nquotes = 1,
				    .notices = mem_zalloc(sizeof(*r.notices)),
				    .ended = mem_zalloc(sizeof(*r.ended)),
				    .ack = mem_strdup("receipt"),
				    .fabrics = mem_zalloc(sizeof(*r.fabrics))};

	(void)state;
	for (int times = 0; times < 2; times++) {
		provider_result_fini(&r);
		assert_int_equal(r.code, PROVIDER_OK);
		assert_null(r.items);
		assert_int_equal(r.nitems, 0);
		assert_null(r.instances);
		assert_int_equal(r.ninstances, 0);
		assert_string_equal(r.cursor, "");
		assert_null(r.quotes);
		assert_int_equal(r.nquotes, 0);
		assert_null(r.notices);
		assert_null(r.ended);
		assert_null(r.ack);
		assert_null(r.fabrics);
	}
}

static void test_each_code_has_a_word_of_its_own(void **state)
{
	(void)state;
	for (int c = 0; c < PROVIDER_NCODES; c++) {
		assert_string_not_equal(provider_code_str((enum provider_code)c), "?");
		for (int other = 0; other < c; other++)
			assert_string_not_equal(provider_code_str((enum provider_code)c),
						provider_code_str((enum provider_code)other));
	}
	assert_string_equal(provider_code_str(PROVIDER_NOT_YET), "not-yet");
	assert_string_equal(provider_code_str(PROVIDER_NCODES), "?");
	assert_string_equal(provider_code_str((enum provider_code) - 1), "?");
}

static void test_each_market_has_the_word_of_the_configuration(void **state)
{
	(void)state;
	assert_string_equal(provider_market_str(PROVIDER_ON_DEMAND), "on-demand");
	assert_string_equal(provider_market_str(PROVIDER_SPOT), "spot");
	assert_string_equal(provider_market_str(PROVIDER_RESERVED), "reserved");
	assert_string_equal(provider_market_str(PROVIDER_NMARKETS), "?");
	assert_string_equal(provider_market_str((enum provider_market) - 1), "?");
	for (int i = 0; i < PROVIDER_NMARKETS; i++) {
		enum provider_market m = PROVIDER_NMARKETS;

		assert_int_equal(
			provider_market_parse(provider_market_str((enum provider_market)i), &m), 0);
		assert_int_equal(m, i);
		assert_int_equal(provider_market_parse("Spot", &m), -1);
		assert_int_equal(provider_market_parse("?", &m), -1);
		assert_int_equal(m, i);
	}
}

/* They are labels of metrics, and begin the lines of a log. */
static void test_each_operation_has_a_word_of_its_own(void **state)
{
	(void)state;
	for (int k = 0; k < PROVIDER_NOPS; k++) {
		const char *word = provider_op_str((enum provider_op_kind)k);

		assert_string_not_equal(word, "?");
		for (int other = 0; other < k; other++)
			assert_string_not_equal(word,
						provider_op_str((enum provider_op_kind)other));
	}
	assert_string_equal(provider_op_str(PROVIDER_FABRIC_MAKE), "fabric-make");
	assert_string_equal(provider_op_str(PROVIDER_NOPS), "?");
	assert_string_equal(provider_op_str((enum provider_op_kind) - 1), "?");
}

static void test_a_notice_is_read_from_the_word_for_its_kind(void **state)
{
	static const char *const words[PROVIDER_NNOTICES] = {"reclaim", "rebalance", "maintenance",
							     "faulty"};
	enum provider_notice_kind kind;

	(void)state;
	for (int k = 0; k < PROVIDER_NNOTICES; k++) {
		assert_string_equal(provider_notice_str((enum provider_notice_kind)k), words[k]);
		kind = PROVIDER_NNOTICES;
		assert_int_equal(provider_notice_parse(words[k], &kind), 0);
		assert_int_equal(kind, k);
		assert_int_equal(provider_notice_parse("stopped", &kind), -1);
		assert_int_equal(provider_notice_parse("?", &kind), -1);
		assert_int_equal(kind, k);
	}
	assert_string_equal(provider_notice_str(PROVIDER_NNOTICES), "?");
	assert_string_equal(provider_notice_str((enum provider_notice_kind) - 1), "?");
}

static void test_who_quotes_spot_prices_in_dollars_says_no_others(void **state)
{
	const struct provider_caps all = {.spot_prices = NULL}, spot = {.spot_prices = "USD"};

	(void)state;
	assert_true(provider_says_prices(&all, PROVIDER_ON_DEMAND, "EUR"));
	assert_true(provider_says_prices(&all, PROVIDER_SPOT, "EUR"));
	assert_true(provider_says_prices(&spot, PROVIDER_SPOT, "USD"));
	assert_false(provider_says_prices(&spot, PROVIDER_SPOT, "EUR"));
	assert_false(provider_says_prices(&spot, PROVIDER_ON_DEMAND, "USD"));
	assert_false(provider_says_prices(&spot, PROVIDER_RESERVED, "USD"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_are_wiped),
		cmocka_unit_test(test_a_body_and_a_session_are_wiped),
		cmocka_unit_test(test_a_released_request_is_empty),
		cmocka_unit_test(test_a_released_result_is_empty),
		cmocka_unit_test(test_each_code_has_a_word_of_its_own),
		cmocka_unit_test(test_each_market_has_the_word_of_the_configuration),
		cmocka_unit_test(test_each_operation_has_a_word_of_its_own),
		cmocka_unit_test(test_a_notice_is_read_from_the_word_for_its_kind),
		cmocka_unit_test(test_who_quotes_spot_prices_in_dollars_says_no_others),
	};

	return cmocka_run_group_tests_name("provider", tests, NULL, NULL);
}
