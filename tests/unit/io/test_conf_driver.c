/* test_conf_driver.c - options that only one driver has: read, refused, printed and reloaded. */
#include "conf_equal.h"

#include "providers/aws.h"
#include "providers/lambda.h"
#include "providers/static.h"

#define EC2  "provider ec2 { driver = aws region = \"eu-west-1\" image = \"ami-1\" }\n"
#define SITE "provider own { driver = static on = {\"/on\"} off = {\"/off\"} }\n"
#define WHERE                                                                                      \
	"pool p { nodes = \"c[1-8]\" type = t region = r max_nodes = 8 max_rate = \"300\" "        \
	"provider = "

static void refused(const char *text, const char *want)
{
	struct err e = {0};
	struct conf *c;

	assert_int_equal(conf_file_parse(&c, "f", text, provider_options, &e), -1);
	assert_string_equal(e.msg, want);
}

static void test_another_drivers_option_is_refused_with_its_line(void **state)
{
	(void)state;
	refused(HEAD "provider a {\ndriver = sim\nsubnets = \"z=s\"\n}\n" POOL,
		"f:5: provider \"a\": subnets is an option of driver aws, not of sim");
	refused(HEAD "provider a {\non = {\"/on\"}\n\ndriver = aws\n}\n" POOL,
		"f:4: provider \"a\": on is an option of driver static, not of aws");
	/* A driver that nobody knows has none. */
	refused(HEAD "provider a {\ndriver = asw\nregion = \"r\"\n}\n" POOL,
		"f:5: provider \"a\": region is an option of driver aws, not of asw");
}

static void test_a_bad_value_has_its_line(void **state)
{
	(void)state;
	refused(HEAD "provider a {\ndriver = static\n\nprogram = \"site\"\n}\n" POOL,
		"f:6: provider \"a\": program: want an absolute path");
	refused(HEAD "provider a {\ndriver = static\n\non = {\"site\"}\n}\n" POOL,
		"f:6: provider \"a\": on: \"site\": want the absolute path of a program first");
	refused(HEAD "provider a {\nimage = \"a\"\nimage = \"b\"\n}\n" POOL,
		"f:5: image is defined twice, first in line 4");
	refused(HEAD "provider a {\ndriver = sim\nsubnet = \"b\"\n}\n" POOL,
		"f:5: unknown option \"subnet\" in a provider; did you mean \"subnets\"?");
	refused(HEAD "provider a { driver = sim }\npool p {\nsubnets = \"b\"\n}\n",
		"f:5: unknown option \"subnets\" in a pool; did you mean \"unit\"?");
}

/* The second section of a driver is not told what the first has. */
static void test_sections_do_not_share_values_or_lines(void **state)
{
	struct conf *c = parsed(HEAD EC2 "provider b { driver = aws }\n" SITE
					 "provider sim { driver = sim }\n" WHERE "ec2 }\n");
	const struct aws_options *first = c->providers[0].own, *second = c->providers[1].own;

	(void)state;
	assert_string_equal(first->image, "ami-1");
	assert_string_equal(second->image, "");
	assert_string_equal(second->region, "");
	assert_null(c->providers[3].own);
	conf_free(c);
}

/* Names of other people's things have blanks, and those must survive config show. */
static void test_a_name_may_have_blanks(void **state)
{
	struct conf *c = parsed(HEAD
				"provider l { driver = lambda ssh_key = \"my  lab key\" }\n" WHERE
				"l }\n"),
		    *again;
	const struct lambda_options *l = c->providers[0].own;
	struct str s;

	(void)state;
	assert_string_equal(l->ssh_key, "my  lab key");
	str_init(&s, CONF_PRINT_MAX);
	conf_print(c, &s);
	again = parsed(s.p);
	assert_string_equal(((const struct lambda_options *)again->providers[0].own)->ssh_key,
			    "my  lab key");
	str_fini(&s);
	conf_free(c);
	conf_free(again);
	refused(HEAD "provider l {\ndriver = lambda\nssh_key = \" x\"\n}\n" POOL,
		"f:5: provider \"l\": ssh_key: want text of at most 4096 bytes, without a blank at "
		"either end");
	refused(HEAD "provider l {\ndriver = lambda\n}\n" POOL,
		"f:5: provider \"l\": ssh_key is missing (name of the SSH key that Lambda puts on "
		"each instance; it wants exactly one)");
}

static void test_only_the_drivers_own_are_printed(void **state)
{
	struct conf *c = parsed(HEAD EC2 SITE SIM WHERE "ec2 }\n");
	struct str s;

	(void)state;
	str_init(&s, CONF_PRINT_MAX);
	conf_print(c, &s);
	assert_non_null(strstr(s.p, "\timage = \"ami-1\"\n"));
	assert_ptr_equal(strstr(strstr(s.p, "image = \"ami") + 1, "image = \"ami"), NULL);
	assert_null(strstr(strstr(s.p, "provider \"own\""), "region = \"eu-west-1\""));
	assert_non_null(strstr(s.p, "\ton = {\"/on\"}\n"));
	assert_non_null(strstr(s.p, "\tprogram = \"/usr/libexec/burstd/burst-static\"\n"));
	str_fini(&s);
	conf_free(c);
}

/* As one line each. */
static void on_change(void *ctx, const struct conf_change *change)
{
	conf_change_print(change, ctx);
	str_adds(ctx, "\n");
}

/* why: what a reload says of it; NULL: it takes it. */
static void check_change(const char *before, const char *after, const char *why, const char *diff)
{
	struct conf *a = parsed(before), *b = parsed(after);
	struct err e = {0};
	struct str s;

	assert_int_equal(conf_may_replace(a, b, &e), why != NULL ? -1 : 0);
	assert_string_equal(e.msg, why != NULL ? why : "");
	str_init(&s, 4096);
	conf_diff(a, b, on_change, &s);
	assert_string_equal(s.p, diff);
	str_fini(&s);
	conf_free(a);
	conf_free(b);
}

static void test_a_change_is_seen(void **state)
{
	(void)state;
	check_change(HEAD EC2 WHERE "ec2 }\n",
		     HEAD "provider ec2 { driver = aws region = \"eu-west-1\" }\n" WHERE "ec2 }\n",
		     NULL, "provider \"ec2\" image: ami-1 -> \"\"\n");
	check_change(HEAD EC2 WHERE "ec2 }\n",
		     HEAD
		     "provider ec2 { driver = aws region = \"eu-west-2\" image = ami-1 }\n" WHERE
		     "ec2 }\n",
		     "provider \"ec2\" region: a change needs a restart",
		     "provider \"ec2\" region: eu-west-1 -> eu-west-2\n");
	check_change(
		HEAD SITE WHERE "own }\n",
		HEAD
		"provider own { driver = static on = {\"/on\", \"%n\"} off = {\"/off\"} }\n" WHERE
		"own }\n",
		"provider \"own\" on: a change needs a restart",
		"provider \"own\" on: \"/on\" -> \"/on\", \"%n\"\n");
	/* Another driver has another struct: its options are not compared. */
	check_change(HEAD EC2 WHERE "ec2 }\n",
		     HEAD "provider ec2 { driver = static }\n" WHERE "ec2 }\n",
		     "provider \"ec2\" driver: a change needs a restart",
		     "provider \"ec2\" driver: aws -> static\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_another_drivers_option_is_refused_with_its_line),
		cmocka_unit_test(test_a_bad_value_has_its_line),
		cmocka_unit_test(test_sections_do_not_share_values_or_lines),
		cmocka_unit_test(test_a_name_may_have_blanks),
		cmocka_unit_test(test_only_the_drivers_own_are_printed),
		cmocka_unit_test(test_a_change_is_seen),
	};

	return cmocka_run_group_tests_name("options of a driver", tests, NULL, NULL);
}
