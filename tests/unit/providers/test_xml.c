/* test_xml.c - XML as a tree of what is wanted, and elements of long replies one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "providers/common/xml.h"

static const char *const wanted[] = {"root", "set", "item", "id", "more", NULL};

static void test_only_what_is_wanted_is_in_the_tree(void **state)
{
	static const char text[] = "<root>x<junk><id>no</id>text<set/></junk><set>"
				   "<item><id>a&amp;b</id><other>1</other>tail</item><item/></set>"
				   "</root>";
	const struct xml_node *item;
	struct xml x;

	(void)state;
	assert_int_equal(xml_parse(&x, wanted, text, sizeof(text) - 1), 0);
	item = xml_child(xml_child(x.root, "set"), "item");
	assert_string_equal(xml_text(item, "id"), "a&b");
	assert_string_equal(item->text, ""); /* what has children has no text */
	assert_null(xml_child(item, "other"));
	assert_null(item->child->next);
	assert_null(xml_again(xml_again(item)));
	assert_string_equal(xml_again(item)->text, "");
	assert_null(xml_child(x.root, "junk"));
	xml_fini(&x);
}

static void test_what_is_no_such_document_is_refused(void **state)
{
	static const char *const rows[] = {
		"",         "<root>",       "<other/>",
		"<root/>x", "<root></set>", "<!DOCTYPE root [<!ENTITY a \"b\">]><root>&a;</root>",
	};
	struct xml x;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(xml_parse(&x, wanted, rows[i], strlen(rows[i])), -1);
		assert_null(x.root);
		xml_fini(&x);
	}
	assert_int_equal(xml_parse(&x, wanted, NULL, 0), -1);
	xml_fini(&x);
}

static void test_a_text_that_is_too_long_is_not_cut(void **state)
{
	struct xml x;

	(void)state;
	for (size_t n = XML_TEXT_MAX; n <= XML_TEXT_MAX + 1; n++) {
		struct str s;

		str_init(&s, (size_t)XML_TEXT_MAX + 64);
		str_adds(&s, "<root><id>");
		for (size_t i = 0; i < n; i++)
			str_adds(&s, "a");
		str_adds(&s, "</id></root>");
		assert_int_equal(xml_parse(&x, wanted, s.p, s.len), n == XML_TEXT_MAX ? 0 : -1);
		xml_fini(&x);
		str_fini(&s);
	}
}

struct seen {
	unsigned n, stop;
	char ids[256];
};

static int see(void *ctx, const struct xml_node *n)
{
	struct seen *s = ctx;

	assert_string_equal(n->name, "item");
	strncat(s->ids, xml_text(n, "id"), 16);
	return ++s->n == s->stop ? -1 : 0;
}

static void test_each_is_given_once_and_is_not_in_the_tree(void **state)
{
	/* An item within an item, and one in another place, are none of those. */
	static const char text[] = "<root><set><more>m</more><item><id>1</id></item>"
				   "<item><id>2</id><set><item><id>x</id></item></set></item>"
				   "<id>i</id><item/></set><item><id>y</id></item>"
				   "<more><item><id>z</id></item></more></root>";
	struct seen s = {0};
	const struct xml_each each = {"item", "set", 2, see, &s};
	const struct xml_node *set;
	struct xml x;

	(void)state;
	assert_int_equal(xml_parse_each(&x, wanted, &each, text, sizeof(text) - 1), 0);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.ids, "12");
	set = xml_child(x.root, "set");
	assert_null(xml_child(set, "item"));
	assert_string_equal(xml_text(set, "more"), "m");
	assert_string_equal(xml_text(set, "id"), "i");
	assert_string_equal(xml_text(xml_child(x.root, "item"), "id"), "y");
	assert_string_equal(xml_text(xml_child(xml_child(x.root, "more"), "item"), "id"), "z");
	xml_fini(&x);
	s = (struct seen){.stop = 2};
	assert_int_equal(xml_parse_each(&x, wanted, &each, text, sizeof(text) - 1), -1);
	assert_int_equal(s.n, 2);
	xml_fini(&x);
}

/* A text that comes in pieces is read as if it were whole, wherever it is cut. */
static void test_a_text_may_come_in_pieces(void **state)
{
	static const char text[] = "<root><set><item><id>a&amp;\xc3\xa4</id><more>x</more></item>"
				   "<item><id>2</id></item></set><id>tail</id></root>";
	const size_t n = sizeof(text) - 1;
	struct xml_reading *r;
	struct xml x;

	(void)state;
	for (size_t cut = 0; cut <= n; cut++)
		for (size_t again = cut; again <= n; again += 7) {
			struct seen s = {0};
			const struct xml_each each = {"item", "set", 2, see, &s};

			r = xml_begin(wanted, &each);
			xml_add(r, text, cut);
			xml_add(r, text + cut, again - cut);
			xml_add(r, text + again, n - again);
			assert_int_equal(xml_end(r, &x), 0);
			assert_string_equal(s.ids, "a&\xc3\xa4"
						   "2");
			assert_string_equal(xml_text(x.root, "id"), "tail");
			xml_fini(&x);
		}
	for (size_t cut = 0; cut < n; cut++) { /* cut off; and dropped */
		r = xml_begin(wanted, NULL);
		xml_add(r, text, cut);
		assert_int_equal(xml_end(r, &x), -1);
		assert_null(x.root);
		r = xml_begin(wanted, NULL);
		xml_add(r, text, cut);
		assert_int_equal(xml_end(r, NULL), 0);
	}
	r = xml_begin(wanted, NULL); /* what follows a mistake changes nothing */
	xml_add(r, "<root></wrong>", 14);
	xml_add(r, text, n);
	assert_int_equal(xml_end(r, &x), -1);
}

/* F30: expat 2.5 reads a tag or a comment that has not ended from its beginning with each piece. */
static void test_a_tag_has_an_end(void **state)
{
	enum { PIECE = 2048, PIECES = 33 };
	char piece[PIECE];
	struct xml_reading *r;
	struct xml x;

	(void)state;
	memset(piece, 'a', sizeof(piece));
	for (int pieces = PIECES - 2; pieces <= PIECES; pieces++) {
		r = xml_begin(wanted, NULL);
		xml_add(r, "<root><!--", 10);
		for (int i = 0; i < pieces; i++)
			xml_add(r, piece, sizeof(piece));
		xml_add(r, "--></root>", 10);
		assert_int_equal(xml_end(r, &x), pieces < PIECES - 1 ? 0 : -1);
		xml_fini(&x);
	}
	r = xml_begin(wanted, NULL); /* a long text is no tag */
	xml_add(r, "<root><more><b>", 15);
	for (int i = 0; i < 10 * PIECES; i++)
		xml_add(r, piece, sizeof(piece));
	xml_add(r, "</b></more></root>", 18);
	assert_int_equal(xml_end(r, &x), 0);
	xml_fini(&x);
}

static int take(void *ctx, const struct xml_node *n)
{
	assert_int_equal(strlen(xml_text(n, "id")), 10000);
	++*(unsigned *)ctx;
	return 0;
}

/* More of them than the tree may hold. */
static void test_each_costs_memory_only_while_it_is_read(void **state)
{
	enum { ID = 10000, IDS = 10, N = 2 * (XML_MEMORY_MAX / ID / IDS) };
	char *text = malloc((size_t)N * IDS * (ID + 64) + 64), *p = text;
	unsigned n = 0;
	const struct xml_each each = {"item", "set", 2, take, &n};
	struct xml x;

	(void)state;
	assert_non_null(text);
	p += sprintf(p, "<root><set>");
	for (int i = 0; i < N; i++) {
		p += sprintf(p, "<item>");
		for (int k = 0; k < IDS; k++) {
			p += sprintf(p, "<id>");
			memset(p, 'a', ID);
			p += ID;
			p += sprintf(p, "</id>");
		}
		p += sprintf(p, "</item>");
	}
	p += sprintf(p, "</set></root>");
	assert_int_equal(xml_parse_each(&x, wanted, &each, text, (size_t)(p - text)), 0);
	assert_int_equal(n, N);
	xml_fini(&x);
	assert_int_equal(xml_parse(&x, wanted, text, (size_t)(p - text)), -1);
	xml_fini(&x);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_wanted_is_in_the_tree),
		cmocka_unit_test(test_a_text_may_come_in_pieces),
		cmocka_unit_test(test_a_tag_has_an_end),
		cmocka_unit_test(test_what_is_no_such_document_is_refused),
		cmocka_unit_test(test_a_text_that_is_too_long_is_not_cut),
		cmocka_unit_test(test_each_is_given_once_and_is_not_in_the_tree),
		cmocka_unit_test(test_each_costs_memory_only_while_it_is_read),
	};

	return cmocka_run_group_tests_name("xml", tests, NULL, NULL);
}
