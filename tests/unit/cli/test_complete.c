/* Completion: every command and every option of the tables is offered, values are asked of burstd,
 * and the scripts for the shells hand over what is typed.  Run from the root of the tree. */
#include "lab.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/cli.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool offers(const struct lab *l, const char *answer)
{
	char line[128], all[LAB_TEXT_SIZE + 2];

	(void)snprintf(line, sizeof(line), "\n%s\n", answer);
	(void)snprintf(all, sizeof(all), "\n%s", l->out);
	return strstr(all, line) != NULL;
}

/* Each word of each command, where it can come, and each of its options, the whole and its start.
 */
static void test_tables(void **state)
{
	struct lab *l = lab_new();
	char line[256], first[64], option[64];

	(void)state;
	for (size_t i = 0; i < cli_ncommands; i++) {
		const struct cli_command *k = cli_commands[i];
		const char *second = strchr(k->name, ' ');

		(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(k->name, " "), k->name);
		lab_run_once(l, "complete -- EMPTY", lab_hang_up);
		assert_int_equal(offers(l, first), !k->hidden);
		(void)snprintf(line, sizeof(line), "complete -- %.2s", first);
		lab_run_once(l, line, lab_hang_up);
		assert_int_equal(offers(l, first), !k->hidden);
		if (second != NULL) {
			(void)snprintf(line, sizeof(line), "--socket /nowhere complete -- %s EMPTY",
				       first);
			lab_run_once(l, line, lab_hang_up);
			assert_true(offers(l, second + 1));
		}
		(void)snprintf(line, sizeof(line), "complete -- %s --", k->name);
		lab_run_once(l, line, lab_hang_up);
		for (size_t o = 0; o < k->nopts; o++) {
			(void)snprintf(option, sizeof(option), "--%s", k->opts[o].name);
			assert_true(offers(l, option));
		}
		for (size_t o = 0; o < cli_nglobals; o++) {
			(void)snprintf(option, sizeof(option), "--%s", cli_globals[o].name);
			assert_true(offers(l, option));
		}
		assert_int_equal(l->rc, 0);
		assert_string_equal(l->err, "");
	}
	lab_free(l);
}

/* Where a value has a kind that completion does not know, this test says so: nothing is offered for
 * numbers and times, and for all others something. */
static bool is_known(const char *kind)
{
	static const char *const kinds[] = {
		"FILE",     "PATH",  "POOL", "STATE", "NODE",  "TIME",   "SEQ",  "COUNT",
		"SEQ:HASH", "NODES", "PART", "WORDS", "CODES", "AMOUNT", "JOB",  "KIND",
		"TEXT",     "USER",  "KEYS", "DAY",   "MONTH", "BUDGET", "WORD", "FABRIC"};

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (strcmp(kinds[i], kind) == 0)
			return true;
	return false;
}

static void test_kinds(void **state)
{
	static const char *const operands[] = {"",
					       "NAME",
					       "ID",
					       "BUDGET",
					       "[BUDGET]",
					       "ID",
					       "ALERT",
					       "NODES",
					       "NODES | --all",
					       "[POOL]",
					       "POOL",
					       "FILE",
					       "[FILE]",
					       "[COMMAND]",
					       "[WORD...]",
					       "[POOL | PROVIDER]",
					       "NODE ... | -",
					       "OPTION=VALUE...",
					       "PROVIDER [FILE]"};

	(void)state;
	for (size_t i = 0; i < cli_ncommands; i++) {
		const struct cli_command *k = cli_commands[i];
		bool known = false;

		print_message("# %s %s\n", k->name, k->operands);
		for (size_t o = 0; o < k->nopts; o++)
			assert_true(k->opts[o].arg == NULL || is_known(k->opts[o].arg));
		for (size_t o = 0; o < COUNT(operands); o++)
			known = known || strcmp(operands[o], k->operands) == 0;
		assert_true(known);
	}
	for (size_t o = 0; o < cli_nglobals; o++)
		assert_true(cli_globals[o].arg == NULL || is_known(cli_globals[o].arg));
}

static const char nodes1[] = "{\"ok\":true,\"nodes\":[{\"name\":\"h1\"},{\"name\":\"h2\"},"
			     "{\"name\":\"a1\"}],\"next\":\"h2\"}",
		  nodes2[] = "{\"ok\":true,\"nodes\":[{\"name\":\"h10\"}],\"next\":\"\"}",
		  pools[] = "{\"ok\":true,\"pools\":[{\"name\":\"h100\"},{\"name\":\"a100\"}],"
			    "\"providers\":[{\"name\":\"aws\"},{\"name\":\"hetzner\"}]}",
		  budgets[] = "{\"ok\":true,\"budgets\":[{\"name\":\"physics\"},{\"name\":"
			      "\"students\",\"value\":\"ann\"},{\"name\":\"students\",\"value\":"
			      "\"bob\"},{\"name\":\"lab\"}],\"next\":\"\"}",
		  alerts[] = "{\"ok\":true,\"receivers\":[{\"name\":\"ops\"},{\"name\":"
			     "\"chat\"}],\"alerts\":[]}";

static const struct {
	const char *line, *first, *out;
} value_rows[] = {
	{"drain h", nodes1, "h1\nh2\nh10\n"},
	{"drain a1,h", nodes1, "a1,h1\na1,h2\na1,h10\n"},
	{"drain h[1-2],h1", nodes1, "h[1-2],h1\nh[1-2],h10\n"},
	{"drain h[1-", nodes1, ""}, /* only the user knows */
	{"drain h1 h", nodes1, ""}, /* one operand too many */
	{"terminate -y h2", nodes1, "h2\n"},
	{"notice h", nodes1, "h1\nh2\nh10\n"},
	{"notice h1 h", nodes1, "h1\nh2\nh10\n"},
	{"notice h1 --kind r", nodes1, "reclaim\nrebalance\n"},
	{"notice h1 --kind=f", nodes1, "--kind=faulty\n"},
	{"node h", nodes1, "h1\nh2\nh10\n"},
	{"node s", nodes1, "show\n"},
	{"node show a", nodes1, "a1\n"},
	{"events -N a", nodes1, "a1\n"},
	{"events --node=h1", nodes1, "--node=h1\n--node=h10\n"},
	{"pause EMPTY", pools, "h100\na100\n"},
	{"resume h", pools, "h100\n"},
	{"pools a", pools, "a100\n"},
	{"retry EMPTY", pools, "h100\na100\naws\nhetzner\n"},
	{"retry aw", pools, "aws\n"},
	{"budget alert-test EMPTY", alerts, "ops\nchat\n"},
	{"budget alert-test o", alerts, "ops\n"},
	{"budget alert", alerts, "alerts\nalert-test\n"},
	{"provider EMPTY", pools, "check\n"},
	{"provider check h", pools, "hetzner\n"},
	{"provider check aws EMPTY", pools, "@files\n"},
	{"plan -p h", pools, "h100\n"},
	{"plan --list=a1,h2", nodes1, "--list=a1,h2\n"},
	{"nodes -p a", pools, "a100\n"},
	{"nodes --pool=a", pools, "--pool=a100\n"},
	{"nodes --state dr", pools, "draining\n"},
	{"nodes -a --state=w", pools, "--state=wanted\n"},
	{"--timeout 3s nodes -s n", pools, "none\n"},
	{"--timeout EMPTY", pools, ""},
	{"--socket EMPTY", pools, "@files\n"},
	{"check EMPTY", pools, "@files\n"},
	{"config check /etc", pools, "@files\n"},
	{"budget EMPTY", budgets,
	 "list\nshow\nset\noverride\nrevoke\noverrides\nimport\nalerts\nalert-test\n"},
	{"budget show EMPTY", budgets, "physics\nstudents\nlab\n"},
	{"budget show st", budgets, "students\n"},
	{"budget override st", budgets, "students\n"},
	{"budget overrides la", budgets, "lab\n"},
	{"budget set st", budgets, "students\n"},
	{"budget import x.json --budget la", budgets, "lab\n"},
	{"budget import EMPTY", budgets, "@files\n"},
	{"budget show lab l", budgets, ""},
	{"balance -u x", budgets, ""},
	{"ba", budgets, "balance\n"},
	{"config EMPTY", pools, "check\nshow\noptions\n"},
	{"help config s", pools, "show\n"},
	{"help dr", pools, "drain\n"},
	{"init n", pools, "nodes=\nnode=\n"},
	{"init nodes=c1 user", pools, "user_data_file=\n"},
	{"init --pool p --file EMPTY", pools, "@files\n"},
	{"nosuch --js", pools, "--json\n"},
	{"nosuch EMPTY", pools, ""},
};

static void test_values(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(value_rows); i++) {
		const char *const replies[] = {value_rows[i].first, nodes2};
		char line[256];

		(void)snprintf(line, sizeof(line), "--socket SOCKET complete -- %s",
			       value_rows[i].line);
		lab_run(l, line, replies, 2);
		lab_want(l, 0, value_rows[i].out, "");
	}
	lab_free(l);
}

/* Whoever types must not wait, or be told of it. */
static void test_nobody(void **state)
{
	static const char *const lines[] = {"--socket SOCKET complete -- drain EMPTY",
					    "--socket SOCKET complete -- pause EMPTY"};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		lab_run_once(l, lines[i], lab_hang);
		lab_want(l, 0, "", "");
		assert_in_range(l->took_ms, 250, 2000);
		lab_run_once(l, lines[i], "{\"ok\":false,\"error\":\"no\"}");
		lab_want(l, 0, "", "");
	}
	lab_free(l);
}

/* --- the scripts -------------------------------------------------------------------------------
 */

/* What a shell prints for COMMANDS. */
static void shell(const char *name, const char *commands, char *out, size_t size)
{
	char line[4096];
	FILE *f;
	size_t n;

	(void)snprintf(line, sizeof(line), "%s -c '%s' 2>&1", name, commands);
	f = popen(line, "re"); /* NOLINT(cert-env33-c): a shell is what is tested */
	assert_non_null(f);
	n = fread(out, 1, size - 1, f);
	out[n] = '\0';
	(void)pclose(f);
}

/* In place of burstctl: says how it was called, and what it is told to say. */
static void write_stub(struct lab *l, const char *says)
{
	char script[512], file[64];

	(void)snprintf(script, sizeof(script),
		       "#!/bin/sh\nfor a; do printf \"<%%s>\" \"$a\"; done >%s/asked\n"
		       "printf -- \"%s\"\n",
		       l->dir, says);
	lab_write(l, "burstctl", script);
	(void)snprintf(file, sizeof(file), "%s/burstctl", l->dir);
	assert_int_equal(chmod(file, 0700), 0);
}

static const struct {
	const char *line; /* up to the cursor */
	const char *says, *asked;
	const char *replies; /* COMPREPLY, each with a space behind it */
} bash_rows[] = {
	{"burstctl ", "status\\nnodes\\n", "<complete><--><>", "status nodes "},
	{"burstctl  st", "status\\n", "<complete><--><st>", "status "},
	{"burstctl drain h1,h", "h1,h2\\nh1,h3\\n", "<complete><--><drain><h1,h>", "h1,h2 h1,h3 "},
	/* what bash replaces begins behind the = */
	{"burstctl nodes --state=r", "--state=ready\\n", "<complete><--><nodes><--state=r>",
	 "ready "},
	{"burstctl check LIC", "@files\\n", "<complete><--><check><LIC>", "LICENSE "},
	{"burstctl x ", "", "<complete><--><x><>", ""},
};

static void test_bash(void **state)
{
	struct lab *l = lab_new();
	char commands[1024], out[4096], want[256];

	(void)state;
	for (size_t i = 0; i < COUNT(bash_rows); i++) {
		write_stub(l, bash_rows[i].says);
		(void)snprintf(commands, sizeof(commands),
			       "PATH=%s:$PATH; . scripts/pkg/completions/burstctl.bash; "
			       "COMP_LINE=\"%s\" COMP_POINT=${#COMP_LINE} COMP_WORDBREAKS=\" =:\"; "
			       "_burstctl; printf \"%%s \" \"${COMPREPLY[@]}\"; echo; "
			       "complete -p burstctl; cat %s/asked",
			       l->dir, bash_rows[i].line, l->dir);
		shell("bash", commands, out, sizeof(out));
		(void)snprintf(want, sizeof(want), "%s\ncomplete -F _burstctl burstctl\n%s",
			       bash_rows[i].replies[0] != '\0' ? bash_rows[i].replies : " ",
			       bash_rows[i].asked);
		assert_string_equal(out, want);
	}
	lab_remove(l, "burstctl");
	lab_remove(l, "asked");
	lab_free(l);
}

/* compadd and _files are the shell's own; what they get is looked at. */
static void test_zsh(void **state)
{
	struct lab *l;
	char commands[1024], out[4096];

	(void)state;
	shell("sh", "command -v zsh", out, sizeof(out));
	if (out[0] == '\0') {
		print_message("# zsh is not installed\n");
		skip();
	}
	l = lab_new();
	write_stub(l, "ready\\n\\nh[1]\\n");
	(void)snprintf(commands, sizeof(commands),
		       "path=(%s $path); compadd() { print -r -- add \"$@\" }; "
		       "_files() { print files }; words=(burstctl drain \"h\\[\" z); CURRENT=3; "
		       ". scripts/pkg/completions/_burstctl; cat %s/asked",
		       l->dir, l->dir);
	shell("zsh -f", commands, out, sizeof(out));
	assert_string_equal(out, "add -- ready h[1]\n<complete><--><drain><h[>");
	write_stub(l, "@files\\n");
	shell("zsh -f", commands, out, sizeof(out));
	assert_string_equal(out, "files\n<complete><--><drain><h[>");
	lab_remove(l, "burstctl");
	lab_remove(l, "asked");
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables), cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_values), cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_bash),   cmocka_unit_test(test_zsh),
	};

	return cmocka_run_group_tests_name("complete", tests, NULL, NULL);
}
