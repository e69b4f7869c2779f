/* coldfront.c: which allocations give an amount to an account, and what is wrong with the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/date.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cli/coldfront.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define BUDGET   "Cloud Budget (EUR)"

/* Allocation 7 of ColdFront's answer, with more members behind its attributes. */
#define ATTRIBUTE(name, value)                                                                     \
	"{\"allocation_attribute_type\":\"" name "\",\"value\":\"" value "\"}"
#define OF(id, status, attributes, more)                                                           \
	"{\"id\":" id ",\"project\":\"Physics\",\"resource\":\"Cluster\",\"status\":\"" status     \
	"\",\"allocation_users\":null,\"allocation_attributes\":[" attributes "]" more "}"
#define PAYS(account, amount) ATTRIBUTE("slurm_account_name", account) "," ATTRIBUTE(BUDGET, amount)
#define ROW(attributes)       OF("7", "Active", attributes, "")
#define ENDS(status, end)     OF("7", status, PAYS("physics", "1"), ",\"end_date\":" end)

static int parse(struct coldfront *c, const char *text, struct err *e)
{
	int64_t today = 0;

	assert_true(date_parse("2026-11-30", &today));
	return coldfront_parse(c, text, strlen(text), BUDGET, today, e);
}

static void test_what_is_read(void **state)
{
	static const char physics[] = OF("3", "Active", PAYS("Physics", "500.50"), "");
	static const char chem[] =
		OF("9", "Renewal Requested", PAYS("chem", "0"), ",\"end_date\":\"2027-03-31\"");
	static const char old[] = OF("4", "Expired", PAYS("old", "x"), "");
	static const char store[] = OF("5", "Active", ATTRIBUTE("Storage Quota (GB)", "1"), "");
	char text[2000];
	struct err e = {0};
	struct coldfront c;
	int64_t day = 0;

	(void)state;
	(void)snprintf(text, sizeof(text), "[%s,%s,%s,%s]", physics, chem, old, store);
	assert_int_equal(parse(&c, text, &e), 0);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.inactive, 1);
	assert_int_equal(c.without, 1);
	assert_string_equal(c.v[0].account, "chem"); /* in order */
	assert_int_equal(c.v[0].id, 9);
	assert_int_equal(c.v[0].nano, 0);
	assert_true(date_parse("2027-03-31", &day));
	assert_int_equal(c.v[0].last_day, day);
	assert_string_equal(c.v[1].account, "physics"); /* as Slurm has it */
	assert_int_equal(c.v[1].id, 3);
	assert_int_equal(c.v[1].nano, 500500000000);
	assert_int_equal(c.v[1].last_day, COLDFRONT_NO_END);
	coldfront_fini(&c);
}

/* How many of the one are taken, and how many are not active. */
static void test_which_are_active(void **state)
{
	static const struct {
		const char *text;
		size_t n, inactive;
	} rows[] = {
		{"[]", 0, 0},
		{"{\"count\":0,\"next\":null,\"previous\":null,\"results\":[]}", 0, 0},
		{"{\"results\":[" ROW(PAYS("physics", "1")) "]}", 1, 0},
		{"[" ENDS("Active", "null") "]", 1, 0},
		{"[" ENDS("Active", "\"2026-11-30\"") "]", 1, 0}, /* it is good on its last day */
		{"[" ENDS("Active", "\"2026-11-29\"") "]", 0, 1},
		{"[" ENDS("Revoked", "null") "]", 0, 1},
		{"[" ENDS("New", "null") "]", 0, 1},
		{"[" ENDS("active", "null") "]", 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};
		struct coldfront c;

		print_message("# %s\n", rows[i].text);
		assert_int_equal(parse(&c, rows[i].text, &e), 0);
		assert_int_equal(c.n, rows[i].n);
		assert_int_equal(c.inactive, rows[i].inactive);
		coldfront_fini(&c);
	}
}

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "line 1 is no JSON: "},
		{"[", "is no JSON: "},
		{"[]x", "is no JSON: "},
		{"[{\"id\":1,\"id\":2}]", "is no JSON: duplicate object key"},
		{"7", "is no JSON: "},
		{"{\"detail\":\"Invalid token.\"}", "is no list of allocations"},
		{"{\"results\":{}}", "is no list of allocations"},
		{"{\"next\":\"https://x/?page=2\",\"results\":[]}",
		 "\"next\": is one page of several"},
		{"[7]", "allocation number 1 in the list: \"id\": is no number"},
		{"[[]]", "allocation number 1 in the list: \"id\""},
		{"[{\"id\":\"7\"}]", "allocation number 1 in the list: \"id\""},
		{"[{\"id\":1e99}]", "allocation number 1 in the list: \"id\""},
		{"[{\"id\":99999999999999999999}]", "is no JSON: "},
		{"[{\"id\":7}]", "allocation 7: \"status\": is no text"},
		{"[{\"id\":7,\"status\":\"Active\",\"allocation_attributes\":null}]",
		 "allocation 7: \"allocation_attributes\": is no list; ask ColdFront with "
		 "?allocation_attributes=true"},
		{"[{\"id\":7,\"status\":\"Active\",\"allocation_attributes\":[null]}]",
		 "allocation 7: allocation_attributes[0]: has no \"allocation_attribute_type\""},
		{"[" ROW("{\"allocation_attribute_type\":\"" BUDGET "\",\"value\":500}") "]",
		 "allocation 7: \"Cloud Budget (EUR)\": the value is no text"},
		{"[" ROW(PAYS("a", "1") "," ATTRIBUTE(BUDGET, "2")) "]",
		 "allocation 7: \"Cloud Budget (EUR)\": is there twice"},
		{"[" ROW(PAYS("a", "1") "," ATTRIBUTE("slurm_account_name", "b")) "]",
		 "allocation 7: \"slurm_account_name\": is there twice"},
		{"[" ROW(ATTRIBUTE(BUDGET, "1")) "]",
		 "allocation 7: has an amount, and no \"slurm_account_name\""},
		{"[" ROW(PAYS("", "1")) "]",
		 "\"slurm_account_name\": \"\" is no account of Slurm's"},
		{"[" ROW(PAYS("a b", "1")) "]", "\"a b\" is no account"},
		{"[" ROW(PAYS("a/b", "1")) "]", "\"a/b\" is no account"},
		{"[" ROW(PAYS("a,b", "1")) "]", "\"a,b\" is no account"},
		{"[" ROW(PAYS("a\\u001b[2J", "1")) "]", "\"a?[2J\" is no account"},
		{"[" ROW(PAYS("a\\u202e", "1")) "]", "is no account"},
		{"[" ROW(PAYS("a\\u0000", "1")) "]", "is no JSON: "},
		{"[" ROW(PAYS(A64 A64, "1")) "]", "aaaaaaaaaa\" is no account"},
		{"[" ROW(PAYS("a", "")) "]", "\"\" is no amount, such as 500.00"},
		{"[" ROW(PAYS("a", "-1")) "]", "\"-1\" is no amount"},
		{"[" ROW(PAYS("a", "1,000")) "]", "\"1,000\" is no amount"},
		{"[" ROW(PAYS("a", "1e3")) "]", "\"1e3\" is no amount"},
		{"[" ROW(PAYS("a", "99999999999999999999")) "]", "is no amount"},
		{"[" ROW(PAYS("a", "x\\u001b")) "]",
		 "allocation 7: \"Cloud Budget (EUR)\": \"x?\" is no amount"},
		{"[" ENDS("Active", "\"31.12.2026\"") "]",
		 "allocation 7: \"end_date\": want a date"},
		{"[" ENDS("Active", "\"2026-02-30\"") "]", "\"end_date\": want a date"},
		{"[" ENDS("Active", "20261231") "]", "\"end_date\": want a date"},
		{"[" ROW(PAYS("Physics", "1")) "," OF("8", "Active", PAYS("physics", "1"), "") "]",
		 "allocation 8: \"slurm_account_name\": physics is that of allocation 7, too"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};
		struct coldfront c;

		print_message("# %s\n", rows[i].text);
		assert_int_equal(parse(&c, rows[i].text, &e), -1);
		print_message("# %s\n", e.msg);
		assert_non_null(strstr(e.msg, rows[i].want));
		assert_null(c.v);
		assert_int_equal(c.n, 0);
	}
}

/* Brackets without end, and more rows than there may be. */
static void test_much(void **state)
{
	enum { DEEP = 1 << 20 };
	char *text = mem_zalloc(DEEP);
	struct err e = {0};
	struct coldfront c;

	(void)state;
	memset(text, '[', DEEP - 1);
	assert_int_equal(parse(&c, text, &e), -1);
	for (size_t i = 0; i <= COLDFRONT_ROWS_MAX; i++)
		memcpy(text + 1 + 2 * i, "7,", 2);
	memcpy(text + 2 + 2 * (size_t)COLDFRONT_ROWS_MAX, "]", 2);
	assert_int_equal(parse(&c, text, &e), -1);
	assert_string_equal(e.msg, "more than 100000 allocations");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_read),
		cmocka_unit_test(test_which_are_active),
		cmocka_unit_test(test_what_is_wrong),
		cmocka_unit_test(test_much),
	};

	return cmocka_run_group_tests_name("coldfront", tests, NULL, NULL);
}
