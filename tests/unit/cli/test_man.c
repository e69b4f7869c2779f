/* The manual pages say what the programs do: every option and no other.  Run from the root of the
 * tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "core/conf_option.h"
#include "core/rates.h"
#include "providers/options.h"

enum { PAGE_MAX = 1 << 16 };

static char *page(const char *path)
{
	char *text = calloc(1, PAGE_MAX);
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	assert_true(fread(text, 1, PAGE_MAX, f) < PAGE_MAX - 1);
	(void)fclose(f);
	return text;
}

/* Text from *at up to the next blank line's end; *at moves on.  NULL at the end. */
static char *paragraph(char **at)
{
	char *p = *at, *end = strstr(p, "\n\n");

	if (*p == '\0')
		return NULL;
	if (end == NULL) {
		*at = p + strlen(p);
		return p;
	}
	*end = '\0';
	*at = end + 2;
	return p;
}

/* "# TOP LEVEL" and "# SECTION pool ..." to the section's name, "## DRIVER aws" to the section's
 * name as well, other headings to NULL. */
static const char *section_of(const char *heading)
{
	static const char *const sections[] = {"slurm", "secrets", "nodes",  "provider",
					       "pool",  "offer",   "budget", "alert"};

	if (strncmp(heading, "# TOP LEVEL", 11) == 0)
		return "";
	if (strncmp(heading, "## DRIVER ", 10) == 0)
		return "provider";
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strncmp(heading, "# SECTION ", 10) == 0 &&
		    strncmp(heading + 10, sections[i], strlen(sections[i])) == 0)
			return sections[i];
	return NULL;
}

/* One "*name* (reload)\n\ttext" against its row of the table. */
static void check_option(const char *text, const char *section, const struct conf_option *o)
{
	char want[128];

	print_message("# %s %s\n", section, o->name);
	(void)snprintf(want, sizeof(want), "*%s*%s\n\t", o->name, o->reload ? " (reload)" : "");
	assert_string_equal(section, o->section);
	assert_memory_equal(text, want, strlen(want));
	if (o->initial == NULL)
		(void)snprintf(want, sizeof(want), "Must be");
	else if (o->initial[0] != '\0')
		(void)snprintf(want, sizeof(want), "_%s_", o->initial);
	else
		(void)snprintf(want, sizeof(want), "Default: ");
	assert_non_null(strstr(text, want));
}

/* The options that the page should have next. */
struct rows {
	const struct conf_option *all;
	size_t n, seen;
};

/* The page goes on with a driver's own options; after those of the last with conf_options again. */
static void turn_to(struct rows *now, struct rows *rest, const char *heading)
{
	char name[32] = "";

	if (now->all == conf_options)
		*rest = *now;
	if (sscanf(heading, "## DRIVER %31s", name) == 1) {
		const struct conf_driver *d = conf_driver_find(provider_options, name);

		assert_non_null(d);
		*now = (struct rows){.all = d->options, .n = d->noptions};
	} else if (now->all != conf_options) {
		*now = *rest;
	}
}

/* burstd.conf(5) has the options of the tables, in their order, with their defaults. */
static void test_conf(void **state)
{
	char *text = page("docs/man/burstd.conf.5.scd"), *at = text, *p;
	struct rows now = {.all = conf_options, .n = conf_noptions}, rest = now;
	const char *section = NULL;
	size_t n = 0, want = conf_noptions;

	(void)state;
	while ((p = paragraph(&at)) != NULL) {
		if (p[0] == '#') {
			section = section_of(p);
			turn_to(&now, &rest, p);
		}
		if (section == NULL || p[0] != '*')
			continue;
		assert_true(now.seen < now.n);
		check_option(p, section, &now.all[now.seen++]);
		n++;
	}
	for (size_t i = 0; provider_options[i] != NULL; i++)
		want += provider_options[i]->noptions;
	assert_int_equal(n, want);
	free(text);
}

/* burstctl(1) has every command, and every option of every command by its long name or in a
 * synopsis. */
static void test_burstctl(void **state)
{
	char *text = page("docs/man/burstctl.1.scd"), want[64];

	(void)state;
	for (size_t i = 0; i < cli_ncommands; i++) {
		(void)snprintf(want, sizeof(want), "\n*%s*", cli_commands[i]->name);
		print_message("# %s\n", cli_commands[i]->name);
		assert_non_null(strstr(text, want));
		for (size_t k = 0; k < cli_commands[i]->nopts; k++) {
			print_message("#   --%s\n", cli_commands[i]->opts[k].name);
			(void)snprintf(want, sizeof(want), "*--%s*", cli_commands[i]->opts[k].name);
			assert_non_null(strstr(text, want));
		}
	}
	for (size_t i = 0; i < cli_nglobals; i++) {
		(void)snprintf(want, sizeof(want), "*--%s*", cli_globals[i].name);
		assert_non_null(strstr(text, want));
	}
	free(text);
}

/* prices.conf(5) has each option of a price once, with its default, and no other. */
static void test_prices(void **state)
{
	char *text = page("docs/man/prices.conf.5.scd"), want[40];
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < rates_noptions; i++) {
		const struct conf_option *o = &rates_options[i];
		char *at, *end;

		(void)snprintf(want, sizeof(want), "\n*%s*\n", o->name);
		at = strstr(text, want);
		end = at != NULL ? strstr(at, "\n\n") : NULL;
		if (at == NULL || end == NULL) {
			fail_msg("no option %s", o->name);
			return;
		}
		*end = '\0';
		assert_int_equal(strstr(at, "Must be given") != NULL, o->initial == NULL);
		(void)snprintf(want, sizeof(want), "Default: _%s_.",
			       o->initial != NULL ? o->initial : "");
		if (o->initial != NULL && o->initial[0] != '\0')
			assert_non_null(strstr(at, want));
		*end = '\n';
	}
	for (char *at = text; (at = strstr(at, "\n*")) != NULL; at++)
		n += strstr(at, "\n\t") == strchr(at + 1, '\n'); /* its text is indented */
	assert_int_equal(n, rates_noptions);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prices),
		cmocka_unit_test(test_conf),
		cmocka_unit_test(test_burstctl),
	};

	return cmocka_run_group_tests_name("man", tests, NULL, NULL);
}
