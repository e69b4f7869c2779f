/* test_constraint.c - a constraint keeps a job from an offer only when it surely means that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/constraint.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char aws[] = "aws", lambda[] = "lambda", spot[] = "spot";
static struct conf_provider providers[] = {{.name = aws}, {.name = lambda}, {.name = spot}};
static const struct conf conf = {.providers = providers, .nproviders = COUNT(providers)};

/* The answer for spot at aws, on-demand at aws, spot at lambda, reserved at lambda: Yes, No or
 * Maybe. */
static const char *ask(const char *expression)
{
	static const struct conf_offer offers[] = {
		{.provider = aws, .market = PROVIDER_SPOT},
		{.provider = aws, .market = PROVIDER_ON_DEMAND},
		{.provider = lambda, .market = PROVIDER_SPOT},
		{.provider = lambda, .market = PROVIDER_RESERVED},
	};
	static char out[COUNT(offers) + 1];

	for (size_t i = 0; i < COUNT(offers); i++)
		out[i] = "NMY"[constraint_ask(expression, &conf, &offers[i])];
	return out;
}

static const struct {
	const char *name, *expression, *want;
} rows[] = {
	{"none", "", "YYYY"},
	{"none at all", NULL, "YYYY"},
	{"spot", "spot", "YNYN"},
	{"on-demand", "ondemand", "NYNN"},
	{"on-demand as in burstd.conf", "on-demand", "NYNN"},
	{"reserved", "reserved", "NNNY"},
	{"a provider", "aws", "YYNN"},
	{"the other", "lambda", "NNYY"},
	{"a word of others", "h100", "MMMM"},
	{"squeue's word for none", "(null)", "MMMM"},
	{"case counts, as in Slurm", "Spot", "MMMM"},
	{"a longer word", "spotted", "MMMM"},
	{"a shorter one", "spo", "MMMM"},
	{"and", "spot&aws", "YNNN"},
	{"and with a word of others", "spot&h100", "MNMN"},
	{"the other way round", "h100&spot", "MNMN"},
	{"or", "spot|ondemand", "YYYN"},
	{"or with a word of others may be true by it", "spot|h100", "YMYM"},
	{"three", "aws&h100&spot", "MNNN"},
	{"not", "!spot", "NYNY"},
	{"not a word of others", "!h100", "MMMM"},
	{"not, in an and", "!spot&aws", "NYNN"},
	{"not a group", "!(spot|aws)", "NNNY"},
	{"a group", "(spot)", "YNYN"},
	{"groups of alternatives", "(spot&aws)|(reserved&lambda)", "YNNY"},
	{"groups in a group", "((spot|reserved)&lambda)", "NNYY"},
	{"matching or", "[spot|ondemand]", "YYYN"},
	{"matching or of one", "[spot]", "YNYN"},
	{"matching or of racks", "[rack1|rack2]", "MMMM"},
	{"a count is of some nodes", "spot*2", "MMMM"},
	{"a count beside a plain word", "h100*2&spot", "MNMN"},
	{"a count on a group", "(spot&aws)*3", "MMMM"},
	{"counts in brackets", "[spot*2&ondemand*2]", "MMMM"},
	{"and in brackets counts too", "[spot&ondemand]", "MMMM"},
	{"groups counted in brackets", "[(spot|aws)*1&(lambda)*2]", "MMMM"},
	{"brackets and a plain word", "[rack1*2&rack2*4]&spot", "MNMN"},
	{"not a count", "!spot*2", "MMMM"},
	{"read both ways, alike", "spot&aws|reserved&lambda", "MNNY"},
	{"read both ways, not alike", "spot|reserved&aws", "YNMN"},
	{"both ways say no", "ondemand|reserved&aws", "NYNN"},
	{"or behind and is alike both ways", "aws&spot|reserved", "YNNY"},
	{"a comma is none of Slurm's operators", "spot,aws", "MMMM"},
	{"nothing before", "&spot", "MMMM"},
	{"nothing behind", "spot&", "MMMM"},
	{"nothing between", "spot||aws", "MMMM"},
	{"two operators", "spot&&aws", "MMMM"},
	{"two nots", "!!spot", "MMMM"},
	{"not of nothing", "!", "MMMM"},
	{"a not behind a word", "spot!", "MMMM"},
	{"an open group", "(spot", "MMMM"},
	{"a group closed by the other kind", "(spot]", "MMMM"},
	{"a stray end", "spot)", "MMMM"},
	{"an empty group", "()", "MMMM"},
	{"a group behind a word", "spot(aws)", "MMMM"},
	{"a count of nothing", "spot*", "MMMM"},
	{"a count of words", "spot*x", "MMMM"},
	{"only a count", "*2", "MMMM"},
	{"a space", "spot aws", "MMMM"},
	{"a space before", " spot", "MMMM"},
	{"a quote", "\"spot\"", "MMMM"},
	{"a control byte", "spot\n", "MMMM"},
	{"a delete", "spot\x7f", "MMMM"},
	{"a delete in another word", "spot&x\x7f", "MMMM"},
	{"a space in another word", "spot&x y", "MMMM"},
	{"the last of what can be printed", "spot&x~", "MNMN"},
	{"a count of nothing beside a plain word", "spot&x*", "MMMM"},
	{"one of several is counted", "[spot&aws|reserved]", "MMMM"},
	{"seventeen groups, none in another",
	 "(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&(x)&spot", "MNMN"},
	{"another alphabet", "sp\xc3\xb6t", "MMMM"},
};

static void test_what_an_expression_means_for_an_offer(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s\n", rows[i].name);
		assert_string_equal(ask(rows[i].expression), rows[i].want);
	}
}

/* "spot" and so many closing parentheses, behind as many opening ones. */
static void close_all(char *text, size_t n)
{
	memcpy(text + n, "spot", 4);
	memset(text + n + 4, ')', n);
	text[2 * n + 4] = '\0';
}

static void test_parentheses_too_deep_restrict_nothing(void **state)
{
	char text[128] = "";

	(void)state;
	memset(text, '(', CONSTRAINT_DEPTH_MAX);
	close_all(text, CONSTRAINT_DEPTH_MAX);
	assert_string_equal(ask(text), "YNYN");
	memset(text, '(', CONSTRAINT_DEPTH_MAX + 1);
	close_all(text, CONSTRAINT_DEPTH_MAX + 1);
	assert_string_equal(ask(text), "MMMM");
}

static void test_an_expression_too_long_restricts_nothing(void **state)
{
	static char text[CONSTRAINT_MAX + 2];

	(void)state;
	memset(text, 'x', CONSTRAINT_MAX);
	memcpy(text, "spot&", 5);
	assert_string_equal(ask(text), "MNMN");
	text[CONSTRAINT_MAX] = 'x';
	assert_string_equal(ask(text), "MMMM");
}

/* Whatever a user writes. */
static void test_any_bytes_have_an_answer(void **state)
{
	static const char *const bits[] = {"spot", "aws", "x", "&", "|", "!", "(",
					   ")",    "[",   "]", "*", "2", ",", "\n"};
	uint64_t dice = 42;
	char text[256];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		size_t len = 0;

		for (int k = 0; k < 12; k++) {
			const char *bit;

			dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407U;
			bit = bits[(dice >> 33) % COUNT(bits)];
			memcpy(text + len, bit, strlen(bit));
			len += strlen(bit);
		}
		text[len] = '\0';
		assert_int_equal(strspn(ask(text), "NMY"), 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_an_expression_means_for_an_offer),
		cmocka_unit_test(test_parentheses_too_deep_restrict_nothing),
		cmocka_unit_test(test_an_expression_too_long_restricts_nothing),
		cmocka_unit_test(test_any_bytes_have_an_answer),
	};

	return cmocka_run_group_tests_name("constraint", tests, NULL, NULL);
}
