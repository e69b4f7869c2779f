/* test_conf_example.c - the example that is installed has every option, with its default. */
#include "conf_equal.h"

#include "core/conf_option.h"

static char *read_example(void)
{
	FILE *in = fopen("scripts/pkg/burstd.conf", "r");
	char *text = mem_zalloc(1 << 16);

	assert_non_null(in); /* tests are run in the root of the tree */
	assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
	fclose(in);
	return text;
}

/* Make "#name = value" an option, where it is one that is shown with its default. */
static void uncomment(char *text)
{
	for (char *p = text; (p = strchr(p, '#')) != NULL; p++)
		if (p[1] >= 'a' && p[1] <= 'z')
			*p = ' ';
}

/* Sections that are shown as a whole stand behind "#" and a tab. */
static void uncomment_sections(char *text)
{
	for (char *p = text; (p = strstr(p, "\n#\t")) != NULL; p++)
		p[1] = ' ';
}

static void assert_shown(const char *text, const struct conf_option *o)
{
	char want[64];

	(void)snprintf(want, sizeof(want), "%s = ", o->name);
	if (strstr(text, want) == NULL)
		fail_msg("the example lacks %s %s", o->section, o->name);
}

/* One section for each driver, that of sim, which is in force, first. */
static void assert_drivers(const struct conf *c)
{
	size_t n = 0;

	assert_string_equal(c->providers[n++].driver, "sim");
	for (size_t i = 0; provider_options[i] != NULL; i++)
		if (strcmp(provider_options[i]->name, "sim") != 0)
			assert_string_equal(c->providers[n++].driver, provider_options[i]->name);
	assert_int_equal(c->nproviders, n);
}

static void test_example(void **state)
{
	char *text = read_example();
	struct conf *plain = parsed(text), *full;
	size_t plain_budgets;

	(void)state;
	uncomment(text);
	full = parsed(text); /* the defaults it shows are the defaults */
	assert_conf_equal(plain, full);
	assert_int_equal(plain->npools, 1);
	plain_budgets = plain->nbudgets;
	for (size_t i = 0; i < conf_noptions; i++)
		assert_shown(text, &conf_options[i]);
	for (size_t i = 0; provider_options[i] != NULL; i++)
		for (size_t k = 0; k < provider_options[i]->noptions; k++)
			assert_shown(text, &provider_options[i]->options[k]);
	conf_free(plain);
	conf_free(full);
	uncomment_sections(text);
	full = parsed(text);
	assert_int_equal(full->npools, 2);
	assert_int_equal(full->pools[1].noffers, 2);
	assert_drivers(full);
	assert_int_equal(plain_budgets, 0);
	assert_int_equal(full->nbudgets, 1);
	assert_string_equal(full->budgets[0].name, "physics");
	conf_free(full);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
	};

	return cmocka_run_group_tests_name("example of burstd.conf", tests, NULL, NULL);
}
