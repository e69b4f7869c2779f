/* test_doc.c - a vendor's reply in JSON, and what is said about a wrong one. */
#include "providers/common/doc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/jpull.h"
#include "base/str.h"

static void load(struct doc *d, const char *text)
{
	if (!doc_load(d, text, strlen(text)))
		fail_msg("%s: %s", text, d->wrong);
}

static void test_a_page_of_instances(void **state)
{
	static const char text[] =
		"{\"data\":[{\"id\":\"i-1\",\"name\":\"n1\",\"type\":{\"name\":\"h100\"},"
		"\"price\":2.79,\"created_at\":\"1970-01-01T00:00:01Z\",\"cpus\":8,\"ok\":true},"
		"{\"id\":17,\"type\":null,\"price\":\"29.52\",\"cpus\":\"16\"}]}";
	struct doc_at rows, o;
	char id[16], name[16];
	struct doc d;

	(void)state;
	load(&d, text);
	rows = doc_list(&d.top, "data", 2);
	assert_int_equal(rows.n, 2);
	o = doc_item(&rows, 0);
	doc_id(&o, "id", id, sizeof(id));
	assert_string_equal(id, "i-1");
	doc_text(&o, "name", name, sizeof(name));
	assert_string_equal(name, "n1");
	doc_text(&o, "type.name", name, sizeof(name));
	assert_string_equal(name, "h100");
	assert_int_equal(doc_money(&o, "price", 1), 2790000000);
	assert_int_equal(doc_time(&o, "created_at"), 1000);
	assert_int_equal(doc_int(&o, "cpus"), 8);
	assert_true(doc_flag(&o, "ok"));
	o = doc_item(&rows, 1);
	doc_id(&o, "id", id, sizeof(id));
	assert_string_equal(id, "17");
	assert_false(doc_text_if(&o, "name", name, sizeof(name)));
	assert_string_equal(name, "");
	assert_false(doc_has(&o, "type.name"));
	assert_string_equal(doc_word(&o, "type.name"), "");
	assert_int_equal(doc_money(&o, "price", 1), 29520000000);
	assert_int_equal(doc_time(&o, "created_at"), 0);
	assert_int_equal(doc_int_if(&o, "gpus"), 0);
	assert_int_equal(doc_int(&o, "cpus"), 16);
	assert_false(doc_flag(&o, "ok"));
	assert_true(doc_good(&d));
	doc_fini(&d);
}

/* What is asked for in the tests below: of the member x of the one item of a list. */
enum what { TEXT, TEXT_IF, ID, INT, INT_IF, FLAG, MONEY, TIME, TIME_IF, LIST, VALUES, WORD };

static int64_t ask(const struct doc_at *o, enum what what)
{
	char text[8];

	switch (what) {
	case TEXT:
		doc_text(o, "x", text, sizeof(text));
		return (int64_t)strlen(text);
	case TEXT_IF:
		assert_true(doc_text_if(o, "x", text, sizeof(text)) == (text[0] != '\0'));
		return (int64_t)strlen(text);
	case ID:
		doc_id(o, "x", text, sizeof(text));
		return (int64_t)strlen(text);
	case INT:
		return doc_int(o, "x");
	case INT_IF:
		return doc_int_if(o, "x");
	case FLAG:
		return doc_flag(o, "x");
	case MONEY:
		return doc_money(o, "x", 100);
	case TIME:
		return doc_time(o, "x");
	case TIME_IF:
		return doc_time_if(o, "x");
	case LIST:
		return (int64_t)doc_list(o, "x", 2).n;
	case VALUES:
		return (int64_t)doc_values(o, "x", 2).n;
	case WORD:
		return (int64_t)strlen(doc_word(o, "x"));
	}
	return -1;
}

static const struct {
	enum what what;
	const char *item;
	int64_t value;
	const char *want; /* NULL: it is good */
} rows[] = {
	{TEXT, "{\"x\":\"1234567\"}", 7, NULL},
	{TEXT, "{\"x\":\"12345678\"}", 0, "a string of at most 7 bytes"},
	{TEXT, "{\"x\":7}", 0, "a string of at most 7 bytes"},
	{TEXT, "{\"x\":null}", 0, "a string of at most 7 bytes"},
	{TEXT, "{}", 0, "a string of at most 7 bytes"},
	{TEXT, "{\"x\":\"\"}", 0, NULL},
	{TEXT, "7", 0, "a string of at most 7 bytes"},
	{TIME_IF, "{\"x\":\"1970-01-01T00:00:01Z\"}", 1000, NULL},
	{TIME_IF, "{\"x\":\"1970-01-01T00:00:01\"}", 1000, NULL}, /* in UTC */
	{TIME_IF, "{\"x\":\"1960-01-01T00:00:01Z\"}", 0, NULL},
	{TIME_IF, "{\"x\":\"0001-01-01T00:00:00Z\"}", 0, NULL},
	{TIME_IF, "{\"x\":\"soon\"}", 0, NULL},
	{TIME_IF, "{\"x\":\"\"}", 0, NULL},
	{TIME_IF, "{\"x\":7}", 0, NULL},
	{TIME_IF, "{}", 0, NULL},
	{TEXT, "[]", 0, "a string of at most 7 bytes"},
	{TEXT_IF, "{}", 0, NULL},
	{TEXT_IF, "{\"x\":null}", 0, NULL},
	{TEXT_IF, "{\"x\":[]}", 0, "a string of at most 7 bytes"},
	{TEXT_IF, "{\"x\":\"12345678\"}", 0, "a string of at most 7 bytes"},
	{ID, "{\"x\":\"i-1\"}", 3, NULL},
	{ID, "{\"x\":1234567}", 7, NULL},
	{ID, "{\"x\":12345678}", 0, "an id of at most 7 bytes"},
	{ID, "{\"x\":0}", 1, NULL},
	{ID, "{\"x\":-1}", 0, "an id of at most 7 bytes"},
	{ID, "{\"x\":1.5}", 0, "an id of at most 7 bytes"},
	{ID, "{\"x\":\"\"}", 0, "an id of at most 7 bytes"},
	{ID, "{\"x\":\"a b\"}", 0, "an id of at most 7 bytes"},
	{ID, "{\"x\":\"a\\n\"}", 0, "an id of at most 7 bytes"},
	{ID, "{}", 0, "an id of at most 7 bytes"},
	{INT, "{\"x\":0}", 0, NULL},
	{INT, "{\"x\":9223372036854775807}", INT64_MAX, NULL},
	{INT, "{\"x\":\"9223372036854775807\"}", INT64_MAX, NULL},
	{INT, "{\"x\":\"9223372036854775808\"}", 0, "a whole number"},
	{INT, "{\"x\":\"007\"}", 7, NULL},
	{INT, "{\"x\":\"\"}", 0, "a whole number"},
	{INT, "{\"x\":\"-7\"}", 0, "a whole number"},
	{INT, "{\"x\":\"7 \"}", 0, "a whole number"},
	{INT, "{\"x\":\"7.0\"}", 0, "a whole number"},
	{INT, "{\"x\":-7}", 0, "a whole number"},
	{INT, "{\"x\":7.5}", 0, "a whole number"},
	{INT, "{\"x\":true}", 0, "a whole number"},
	{INT, "{\"x\":null}", 0, "a whole number"},
	{INT, "{}", 0, "a whole number"},
	{INT_IF, "{}", 0, NULL},
	{INT_IF, "{\"x\":null}", 0, NULL},
	{INT_IF, "{\"x\":{}}", 0, "a whole number"},
	{FLAG, "{\"x\":true}", 1, NULL},
	{FLAG, "{\"x\":false}", 0, NULL},
	{FLAG, "{}", 0, NULL},
	{FLAG, "{\"x\":1}", 0, "true or false"},
	{FLAG, "{\"x\":\"true\"}", 0, "true or false"},
	/* cents */
	{MONEY, "{\"x\":2149}", 21490000000, NULL},
	{MONEY, "{\"x\":\"2149\"}", 21490000000, NULL},
	{MONEY, "{\"x\":0.1}", 1000000, NULL},
	{MONEY, "{\"x\":1e2}", 1000000000, NULL},
	{MONEY, "{\"x\":\"0.000000101\"}", 2, NULL}, /* never less than it is */
	{MONEY, "{\"x\":123456.789012345}", 1234567890124, NULL},
	{MONEY, "{\"x\":\"0.0007750000\"}", 7750, NULL}, /* by the second */
	{MONEY, "{\"x\":\"0.0000001000\"}", 1, NULL},
	{MONEY, "{\"x\":\"0.0000001001\"}", 2, NULL},
	{MONEY, "{\"x\":\"0.0000001000x\"}", 0, "a price"},
	{MONEY, "{\"x\":\"0.0000001000.1\"}", 0, "a price"},
	{MONEY, "{\"x\":\"-0.0000000001\"}", 0, "a price"},
	{MONEY, "{\"x\":0}", 0, NULL},
	{MONEY, "{\"x\":-1}", 0, "a price"},
	{MONEY, "{\"x\":-0.5}", 0, "a price"},
	{MONEY, "{\"x\":1e10}", 0, "a price"},
	{MONEY, "{\"x\":1e300}", 0, "a price"},
	{MONEY, "{\"x\":\"1e2\"}", 0, "a price"},
	{MONEY, "{\"x\":\"$2\"}", 0, "a price"},
	{MONEY, "{\"x\":\"\"}", 0, "a price"},
	{MONEY, "{\"x\":null}", 0, "a price"},
	{MONEY, "{}", 0, "a price"},
	{TIME, "{\"x\":\"2026-01-02T03:04:05Z\"}", 1767323045000, NULL},
	{TIME, "{\"x\":\"\"}", 0, NULL},
	{TIME, "{\"x\":null}", 0, NULL},
	{TIME, "{}", 0, NULL},
	{TIME, "{\"x\":\"0001-01-01T00:00:00Z\"}", 0, NULL},
	{TIME, "{\"x\":\"1969-12-31T23:59:59Z\"}", 0, "a time such as 2026-01-02T03:04:05Z"},
	{TIME, "{\"x\":\"yesterday\"}", 0, "a time such as 2026-01-02T03:04:05Z"},
	{TIME, "{\"x\":1767323045}", 0, "a time such as 2026-01-02T03:04:05Z"},
	{VALUES, "{\"x\":{\"a\":1,\"b\":2}}", 2, NULL},
	{VALUES, "{\"x\":{}}", 0, NULL},
	{VALUES, "{\"x\":{\"a\":1,\"b\":2,\"c\":3}}", 0, "an object of at most 2"},
	{VALUES, "{\"x\":[1,2]}", 0, "an object of at most 2"},
	{VALUES, "{\"x\":null}", 0, "an object of at most 2"},
	{VALUES, "{}", 0, "an object of at most 2"},
	{LIST, "{\"x\":[1,2]}", 2, NULL},
	{LIST, "{\"x\":[]}", 0, NULL},
	{LIST, "{\"x\":[1,2,3]}", 0, "a list of at most 2"},
	{LIST, "{\"x\":{}}", 0, "a list of at most 2"},
	{LIST, "{\"x\":null}", 0, "a list of at most 2"},
	{LIST, "{}", 0, "a list of at most 2"},
	{WORD, "{\"x\":\"abc\"}", 3, NULL},
	{WORD, "{\"x\":7}", 0, NULL},
	{WORD, "{\"x\":[]}", 0, NULL},
	{WORD, "{}", 0, NULL},
	{WORD, "7", 0, NULL},
};

static void test_what_is_wrong_is_said_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128], wrong[128] = "";
		struct doc_at list, o;
		struct doc d;

		(void)snprintf(text, sizeof(text), "{\"a\":{\"b\":[0,%s]}}", rows[i].item);
		if (rows[i].want != NULL)
			(void)snprintf(wrong, sizeof(wrong), "a.b[1].x: want %s", rows[i].want);
		load(&d, text);
		list = doc_list(&d.top, "a.b", 9);
		o = doc_item(&list, 1);
		if (ask(&o, rows[i].what) != rows[i].value || strcmp(d.wrong, wrong) != 0)
			fail_msg("row %zu: %s: %s", i, text, d.wrong);
		assert_true(doc_good(&d) == (rows[i].want == NULL));
		doc_fini(&d);
	}
}

static void test_the_first_error_ends_the_reading(void **state)
{
	struct doc_at list, o;
	struct doc d;
	char id[8];

	(void)state;
	load(&d, "{\"a\":[{\"id\":\"i\",\"n\":\"?\",\"w\":\"x\",\"f\":true}],\"m\":5,\"t\":[7]}");
	list = doc_list(&d.top, "a", 9);
	o = doc_item(&list, 0);
	assert_int_equal(doc_int(&o, "n"), 0);
	doc_id(&o, "id", id, sizeof(id));
	assert_string_equal(id, "");
	assert_int_equal(doc_int(&d.top, "m"), 0);
	assert_int_equal(doc_money(&d.top, "m", 1), 0);
	assert_int_equal(doc_list(&d.top, "t", 9).n, 0);
	assert_false(doc_has(&d.top, "m"));
	assert_false(doc_flag(&o, "f"));
	assert_string_equal(doc_word(&o, "w"), "");
	doc_wrong(&d.top, NULL, "this to be said");
	assert_string_equal(d.wrong, "a[0].n: want a whole number");
	doc_fini(&d);
}

/* One odd row of somebody else does not make the list useless. */
static void test_a_row_may_be_forgiven(void **state)
{
	struct doc_at list;
	struct doc d;
	int64_t sum = 0;
	int odd = 0;

	(void)state;
	load(&d, "{\"a\":[{\"n\":1},{\"n\":\"?\"},7,{\"n\":2}]}");
	list = doc_list(&d.top, "a", 9);
	for (size_t i = 0; i < list.n; i++) {
		struct doc_at o = doc_item(&list, i);

		sum += doc_int(&o, "n");
		odd += doc_forgive(&d);
	}
	assert_int_equal(sum, 3);
	assert_int_equal(odd, 2);
	assert_true(doc_good(&d));
	doc_fini(&d);
}

/* Keys that are data, such as the names of types: what is wrong is said without them. */
static void test_values_of_an_object_come_in_the_order_of_the_reply(void **state)
{
	struct doc_at list, o;
	struct doc d;

	(void)state;
	load(&d, "{\"a\":{\"z\":{\"n\":1},\"b\":{\"n\":2},\"m\":{\"n\":\"?\"}}}");
	list = doc_values(&d.top, "a", 9);
	assert_int_equal(list.n, 3);
	for (size_t i = 0; i < 2; i++) {
		o = doc_item(&list, i);
		assert_int_equal(doc_int(&o, "n"), i + 1);
	}
	o = doc_item(&list, 3);
	assert_false(doc_has(&o, NULL));
	o = doc_item(&list, 2);
	assert_int_equal(doc_int(&o, "n"), 0);
	assert_string_equal(d.wrong, "a[2].n: want a whole number");
	doc_fini(&d);
}

static void test_a_driver_complains_too(void **state)
{
	struct doc_at list, item, inner, seven;
	struct doc d;

	(void)state;
	load(&d, "[[1],[2]]");
	list = doc_list(&d.top, NULL, 9);
	assert_int_equal(list.n, 2);
	item = doc_item(&list, 1);
	assert_int_equal(doc_list(&item, NULL, 9).n, 1);
	doc_wrong(&item, NULL, "a pair");
	assert_string_equal(d.wrong, "[1]: want a pair");
	doc_fini(&d);
	load(&d, "7");
	assert_int_equal(doc_list(&d.top, NULL, 9).n, 0);
	assert_string_equal(d.wrong, "want a list of at most 9");
	doc_fini(&d);
	load(&d, "[[],7]");
	list = doc_list(&d.top, NULL, 9);
	item = doc_item(&list, 1);
	assert_int_equal(doc_list(&item, NULL, 9).n, 0);
	assert_string_equal(d.wrong, "[1]: want a list of at most 9");
	doc_fini(&d);
	load(&d, "{\"m\":[[],[7]]}");
	list = doc_list(&d.top, "m", 9);
	item = doc_item(&list, 1);
	inner = doc_list(&item, NULL, 9);
	seven = doc_item(&inner, 0);
	doc_wrong(&seven, NULL, "a pair");
	assert_string_equal(d.wrong, "m[1][0]: want a pair");
	doc_fini(&d);
	load(&d, "{\"m\":[]}");
	assert_int_equal(doc_int(&d.top, "m"), 0);
	assert_string_equal(d.wrong, "m: want a whole number");
	doc_fini(&d);
}

static void test_an_item_that_is_not_there_is_nothing(void **state)
{
	struct doc_at list, item;
	struct doc d;

	(void)state;
	load(&d, "[]");
	list = doc_list(&d.top, NULL, 9);
	item = doc_item(&list, 3);
	assert_int_equal(doc_int_if(&item, "x"), 0);
	assert_string_equal(doc_word(&item, NULL), "");
	assert_true(doc_good(&d));
	assert_int_equal(doc_int(&item, "x"), 0); /* what must be there is not */
	assert_string_equal(d.wrong, "[3].x: want a whole number");
	doc_fini(&d);
}

static void test_what_is_no_json_is_refused(void **state)
{
	static const struct {
		const char *text, *wrong;
	} texts[] = {
		{"", "empty"},
		{" ", "no JSON"},
		{"<html>ok</html>", "no JSON"},
		{"{\"a\":1", "no JSON"},
		{"{\"a\":1}x", "no JSON"},
		{"{\"a\":1,\"a\":2}", "no JSON"},
		{"{\"a\":\"\\u0000\"}", "no JSON"},
		{"{\"a\":\"\xff\"}", "no JSON"},
		{"[1e999]", "no JSON"},
		{"{'a':1}", "no JSON"},
		{"NaN", "no JSON"},
	};
	struct doc d;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(doc_load(&d, texts[i].text, strlen(texts[i].text)));
		assert_string_equal(d.wrong, texts[i].wrong);
		assert_false(doc_good(&d));
		assert_false(doc_has(&d.top, NULL));
		assert_string_equal(doc_word(&d.top, "error"), "");
		assert_int_equal(doc_list(&d.top, "data", 9).n, 0);
		doc_fini(&d);
	}
	assert_false(doc_load(&d, NULL, 0));
	assert_string_equal(d.wrong, "empty");
	doc_fini(&d);
}

static void test_depth_and_length_have_limits(void **state)
{
	char *big = malloc(DOC_BYTES_MAX + 1);
	struct doc d;
	struct str s;

	(void)state;
	for (int deep = JPULL_DEPTH_MAX - 1; deep <= JPULL_DEPTH_MAX + 1; deep++) {
		str_init(&s, 1000);
		for (int i = 0; i < 2 * deep; i++)
			str_adds(&s, i < deep ? "[" : "]");
		assert_true(doc_load(&d, s.p, s.len) == (deep <= JPULL_DEPTH_MAX));
		doc_fini(&d);
		str_fini(&s);
	}
	memset(big, ' ', DOC_BYTES_MAX + 1);
	big[0] = '7';
	assert_true(doc_load(&d, big, DOC_BYTES_MAX));
	doc_fini(&d);
	assert_false(doc_load(&d, big, DOC_BYTES_MAX + 1));
	assert_string_equal(d.wrong, "more than 33554432 bytes");
	doc_fini(&d);
	for (size_t i = 0; i < DOC_VALUES_MAX; i++) /* "[0,0,...]" */
		memcpy(big + 1 + 2 * i, "0,", 2);
	big[0] = '[';
	big[2 * (size_t)DOC_VALUES_MAX] = ']';
	assert_false(doc_load(&d, big, 2 * (size_t)DOC_VALUES_MAX + 1));
	assert_string_equal(d.wrong, "more than 2000000 values");
	doc_fini(&d);
	big[2 * (size_t)DOC_VALUES_MAX - 2] = ']';
	assert_true(doc_load(&d, big, 2 * (size_t)DOC_VALUES_MAX - 1));
	doc_fini(&d);
	free(big);
}

static void test_the_only_member_has_any_name(void **state)
{
	static const struct {
		const char *body, *text;
	} errors[] = {
		{"{\"badRequest\":{\"message\":\"m\"}}", "m"},
		{"{\"a\":{\"message\":\"m\"},\"b\":{\"message\":\"n\"}}", ""},
		{"{\"a\":1}", ""},
		{"{}", ""},
		{"[{\"message\":\"m\"}]", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct doc d;

		assert_true(doc_load(&d, errors[i].body, strlen(errors[i].body)));
		assert_string_equal(doc_word(&d.top, "*.message"), errors[i].text);
		doc_fini(&d);
	}
}

static void test_a_long_path_is_cut(void **state)
{
	char key[DOC_KEY_MAX];
	struct doc_at a, b, c;
	struct doc d;

	(void)state;
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	load(&d, "[[[7]]]");
	a = doc_list(&d.top, NULL, 9);
	b = doc_item(&a, 0);
	b = doc_list(&b, NULL, 9);
	c = doc_item(&b, 0);
	doc_wrong(&c, key, "more");
	assert_true(strlen(d.wrong) < DOC_WRONG_SIZE);
	assert_non_null(strstr(d.wrong, "want more"));
	doc_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_page_of_instances),
		cmocka_unit_test(test_what_is_wrong_is_said_with_its_place),
		cmocka_unit_test(test_the_first_error_ends_the_reading),
		cmocka_unit_test(test_a_row_may_be_forgiven),
		cmocka_unit_test(test_values_of_an_object_come_in_the_order_of_the_reply),
		cmocka_unit_test(test_a_driver_complains_too),
		cmocka_unit_test(test_an_item_that_is_not_there_is_nothing),
		cmocka_unit_test(test_what_is_no_json_is_refused),
		cmocka_unit_test(test_depth_and_length_have_limits),
		cmocka_unit_test(test_the_only_member_has_any_name),
		cmocka_unit_test(test_a_long_path_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
