/* test_complete.c - what shells offer for burst-ledger: every command, option and value there is.
 * Run from the root of the tree. */
#include "ledger/complete.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "ledger/settings.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { WORDS_MAX = 8, TEXT_MAX = 1 << 14 };

static const char *const names[] = {"run",
				    "report",
				    "export FORM",
				    "job ID",
				    "period list",
				    "period draft|close|reopen MONTH",
				    "invoice import FILE",
				    "invoice list|show N",
				    "rebuild --check"};

/* line: words between blanks; at its end one: the last is empty. */
static char *complete(const char *line)
{
	char *own = mem_strdup(line), *words[WORDS_MAX], *rest = own;
	struct str s;
	size_t n = 0;

	while (rest != NULL)
		words[n++] = strsep(&rest, " ");
	str_init(&s, TEXT_MAX);
	complete_words(names, COUNT(names), words, n, &s);
	for (size_t i = 0; i < s.len; i++)
		s.p[i] = s.p[i] == '\n' ? ' ' : s.p[i];
	free(own);
	return str_take(&s);
}

static const struct {
	const char *line, *offered;
} rows[] = {
	{"", "run report export job period invoice rebuild "},
	{"re", "report rebuild "},
	{"report re", ""},
	{"nosuch ", ""},
	{"export ", "focus focus-metadata focus-billing-period focus-invoice-detail statement xlsx "
		    "waldur coldfront xdmod xdmod-events "},
	{"export fo", "focus focus-metadata focus-billing-period focus-invoice-detail "},
	{"export focus f", ""},
	{"job ", ""},
	{"period ", "list draft close reopen "},
	{"period cl", "close "},
	{"period close ", ""},
	{"period draft|c", ""},
	{"invoice ", "import list show "},
	{"invoice import ", "@files "},
	{"invoice show ", ""},
	{"invoice list import ", ""},
	{"run ", ""},
	{"report --by ",
	 "account user partition qos wckey provider market pool type class day month"
	 " job node "},
	{"report --by acc", "account "},
	{"report --by account,d", "account,day "},
	{"report --by=account,us", "--by=account,user "},
	{"report --by account job", ""}, /* no longer its value */
	{"export focus --focus ", "1.2 1.4 "},
	{"export focus --view=i", "--view=internal "},
	{"invoice import --format ", "plain focus cur "},
	{"invoice import --shared p", "proportional "},
	{"period close --allow unp", "unpriced "},
	{"period close --r", "--reason "},
	{"--ledger ", "@files "},
	{"-l ", "@files "},
	{"-l x r", "run report rebuild "},
	{"--ledger=x ", "run report export job period invoice rebuild "},
	{"--ledger=x", "@files "},
	{"run --interval 5", ""},
	{"rebuild --c", "--case --check --config "},
	{"report --c", "--case --config --csv "},
	{"report --e", ""},
	{"job --e", "--explain "},
	{"report --jo", "--journal "},
	{"export focus --pse", "--pseudonymise "},
	{"run --pse", ""},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *got = complete(rows[i].line);

		print_message("# %s\n", rows[i].line);
		assert_string_equal(got, rows[i].offered);
		free(got);
	}
}

/* Before a command is named all options are offered.  Where a value has a kind that completion does
 * not know, this test says so: nothing is offered for names, dates and times. */
static void test_options(void **state)
{
	static const char *const free_kinds[] = {"NAME", "CODE", "DAY",  "MONTH", "TYPE",
						 "TIME", "USER", "TEXT", "ID",    "AMOUNT"};

	(void)state;
	for (size_t i = 0; i < settings_noptions; i++) {
		const struct opt *o = &settings_options[i];
		char line[80], want[80], *got = complete("--");
		bool is_free = o->arg == NULL;

		(void)snprintf(want, sizeof(want), "--%s ", o->name);
		assert_non_null(strstr(got, want));
		free(got);
		for (size_t k = 0; o->arg != NULL && k < COUNT(free_kinds); k++)
			is_free = is_free || strcmp(o->arg, free_kinds[k]) == 0;
		(void)snprintf(line, sizeof(line), "--%s ", o->name);
		got = complete(line);
		print_message("# %s %s\n", o->name, o->arg != NULL ? o->arg : "");
		if (o->arg != NULL)
			assert_int_equal(got[0] == '\0', is_free);
		free(got);
	}
}

/* Which command may have which option; what the help does not restrict is for all. */
static void test_whose_options(void **state)
{
	static const struct {
		const char *option, *command;
		bool is_for;
	} whose[] = {
		{"json", "report", true},     {"json", "period", true},
		{"json", "job", true},        {"explain", "job", true},
		{"explain", "report", false}, {"by", "export", false},
		{"config", "job", true},      {"ledger", "report", true},
		{"check", "rebuild", true},   {"check", "report", false},
		{"view", NULL, true},         {"dry-run", "invoice", true},
		{"period", "export", true},   {"period", "job", false},
		{"user", "job", true},
	};
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(whose); i++)
		for (size_t k = 0; k < settings_noptions; k++) {
			if (strcmp(settings_options[k].name, whose[i].option) != 0)
				continue;
			found++;
			print_message("# %s --%s\n", whose[i].command, whose[i].option);
			assert_int_equal(complete_is_for(names, COUNT(names), &settings_options[k],
							 whose[i].command),
					 whose[i].is_for);
		}
	assert_int_equal(found, COUNT(whose));
}

/* --- the scripts -------------------------------------------------------------------------------
 */

/* What a shell prints for COMMANDS, with a program in place of burst-ledger that says how it was
 * called, and then this. */
static void shell(const char *name, const char *says, const char *commands, char *out, size_t size)
{
	char dir[] = "/tmp/completeXXXXXX", file[64], line[4096];
	FILE *f;
	size_t n;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(file, sizeof(file), "%s/burst-ledger", dir);
	f = fopen(file, "we");
	assert_non_null(f);
	(void)fprintf(f,
		      "#!/bin/sh\nfor a; do printf \"<%%s>\" \"$a\"; done >%s/asked\n"
		      "printf -- \"%s\"\n",
		      dir, says);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(file, 0700), 0);
	(void)snprintf(line, sizeof(line), "PATH=%s:$PATH %s -c '%s; cat %s/asked' 2>&1", dir, name,
		       commands, dir);
	f = popen(line, "re"); /* NOLINT(cert-env33-c): a shell is what is tested */
	assert_non_null(f);
	n = fread(out, 1, size - 1, f);
	out[n] = '\0';
	(void)pclose(f);
	(void)unlink(file);
	(void)snprintf(file, sizeof(file), "%s/asked", dir);
	(void)unlink(file);
	assert_int_equal(rmdir(dir), 0);
}

static const struct {
	const char *line, *says, *out;
} bash_rows[] = {
	{"burst-ledger re", "report\\nrebuild\\n", "report rebuild \n<complete><--><re>"},
	{"burst-ledger ", "run\\n", "run \n<complete><--><>"},
	{"burst-ledger report --by=acc", "--by=account\\n",
	 "account \n<complete><--><report><--by=acc>"}, /* bash replaces what is behind the = */
	{"burst-ledger -l LIC", "@files\\n", "LICENSE \n<complete><--><-l><LIC>"},
};

static void test_bash(void **state)
{
	char commands[1024], out[4096];

	(void)state;
	for (size_t i = 0; i < COUNT(bash_rows); i++) {
		(void)snprintf(commands, sizeof(commands),
			       ". scripts/pkg/completions/burst-ledger.bash; "
			       "complete -p burst-ledger >/dev/null || echo none; "
			       "COMP_LINE=\"%s\" COMP_POINT=${#COMP_LINE} COMP_WORDBREAKS=\" =:\"; "
			       "_burst_ledger; printf \"%%s \" \"${COMPREPLY[@]}\"; echo",
			       bash_rows[i].line);
		shell("bash", bash_rows[i].says, commands, out, sizeof(out));
		assert_string_equal(out, bash_rows[i].out);
	}
}

/* compadd and _files are the shell's own; what they get is looked at. */
static void test_zsh(void **state)
{
	static const char commands[] =
		"compadd() { print -r -- add \"$@\" }; _files() { print files }; "
		"words=(burst-ledger export \"f\\[\" z); CURRENT=3; "
		". scripts/pkg/completions/_burst-ledger";
	char out[4096];

	(void)state;
	if (access("/usr/bin/zsh", X_OK) != 0 && access("/bin/zsh", X_OK) != 0) {
		print_message("# zsh is not installed\n");
		skip();
	}
	shell("zsh -f", "focus\\n\\nxlsx\\n", commands, out, sizeof(out));
	assert_string_equal(out, "add -- focus xlsx\n<complete><--><export><f[>");
	shell("zsh -f", "@files\\n", commands, out, sizeof(out));
	assert_string_equal(out, "files\n<complete><--><export><f[>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),          cmocka_unit_test(test_options),
		cmocka_unit_test(test_whose_options), cmocka_unit_test(test_bash),
		cmocka_unit_test(test_zsh),
	};

	return cmocka_run_group_tests_name("ledger, completion", tests, NULL, NULL);
}
