/* Lines of slurm.conf: comments, continuations, keys in any case, Include, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/str.h"
#include "file_of.h"

/* "NUMBER:key=value,key=value;" of each line, or the error. */
static void show(const char *text, const char *want)
{
	struct slurmconf_file f = file_of("f", text);
	struct slurmconf_line l = {.n = 0};
	struct err e = {0};
	struct str s;
	int rc;

	str_init(&s, 1 << 16);
	while ((rc = slurmconf_line_next(&l, &f, &e)) == 1) {
		str_addf(&s, "%d:", l.number);
		if (l.include.n > 0)
			str_addf(&s, "<%.*s>", (int)l.include.n, l.include.p);
		for (size_t i = 0; i < l.n; i++)
			str_addf(&s, "%s%.*s=%.*s", i > 0 ? "," : "", (int)l.pairs[i].key.n,
				 l.pairs[i].key.p, (int)l.pairs[i].value.n, l.pairs[i].value.p);
		str_adds(&s, ";");
	}
	if (rc < 0)
		str_adds(&s, e.msg);
	assert_string_equal(s.p, want);
	str_fini(&s);
	slurmconf_file_fini(&f);
}

static void test_lines(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", ""},
		{"\n\n# nothing\n   \n", ""},
		{"A=1", "1:A=1;"},
		{"A=1\nB=2\n", "1:A=1;2:B=2;"},
		{"A=1\r\nB=2\r\n", "1:A=1;2:B=2;"},
		{"  A = 1  B=2\t# two\n", "1:A=1,B=2;"},
		{"Nodes+=a,b\n", "1:Nodes=a,b;"},
		{"Comment=\"two words\" X=1\n", "1:Comment=two words,X=1;"},
		{"A=x=y,z=1\n", "1:A=x=y,z=1;"},
		{"A=1 \\\n  B=2 \\\nC=3\nD=4\n", "1:A=1,B=2,C=3;4:D=4;"},
		{"A=1 \\\r\nB=2\r\nC=3\r\n", "1:A=1,B=2;3:C=3;"},
		/* Blanks behind the backslash do not matter to Slurm; two backslashes are one. */
		{"A=1 \\  \nB=2\n", "1:A=1,B=2;"},
		{"A=1\\\\\nB=2\n", "1:A=1\\\\;2:B=2;"},
		/* A comment hides the backslash at its end. */
		{"A=1 # more \\\nB=2\n", "1:A=1;2:B=2;"},
		{"A=x\\#y B=2\n", "1:A=x\\#y,B=2;"},
		{"\\\n\\\nA=1\nB=2\n", "1:A=1;4:B=2;"},
		{"A=1 \\", "1:A=1;"},
		{"Include nodes.conf\ninclude\t/etc/slurm/x\r\n",
		 "1:<nodes.conf>;2:</etc/slurm/x>;"},
		{"IncludeX=1\n", "1:IncludeX=1;"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		show(rows[i].text, rows[i].want);
}

static void test_errors_have_their_line(void **state)
{
	(void)state;
	show("A=1\nnonsense\nB=2\n", "1:A=1;f:2: want Key=Value at \"nonsense\"");
	show("A=1 \\\n\nB 2\n", "1:A=1;f:3: want Key=Value at \"B 2\"");
	show("SuspendExcNodes =\n", "f:1: want Key=Value at \"SuspendExcNodes =\"");
	show("A=\"open\n", "f:1: want Key=Value at \"A=\"open\"");
	show("A=1 B C=2\n", "f:1: want Key=Value at \"B C=2\"");
	show("Include\n", "f:1: want Key=Value at \"Include\"");
	show("Include a b\n", "f:1: want Key=Value at \"b\"");
	show("=1\n", "f:1: want Key=Value at \"=1\"");
}

static void test_many_keys(void **state)
{
	struct err e = {0};
	struct slurmconf_line l = {.n = 0};
	struct slurmconf_file f;
	struct str s;

	(void)state;
	str_init(&s, 4096);
	for (int i = 0; i < SLURMCONF_PAIRS_MAX; i++)
		str_addf(&s, "k%d=1 ", i);
	f = file_of("f", s.p);
	assert_int_equal(slurmconf_line_next(&l, &f, &e), 1);
	assert_int_equal(l.n, SLURMCONF_PAIRS_MAX);
	slurmconf_file_fini(&f);
	str_adds(&s, "one=2");
	f = file_of("f", s.p);
	l = (struct slurmconf_line){.n = 0};
	assert_int_equal(slurmconf_line_next(&l, &f, &e), -1);
	assert_string_equal(e.msg, "f:1: more than 64 keys in a line");
	slurmconf_file_fini(&f);
	str_fini(&s);
}

static void test_a_nul_is_refused(void **state)
{
	static const char bytes[] = "A=1\nB=\0002\n";
	char *text = mem_zalloc(sizeof(bytes));
	struct slurmconf_file f;
	struct err e = {0};

	(void)state;
	memcpy(text, bytes, sizeof(bytes));
	assert_int_equal(slurmconf_file_init(&f, "f", text, sizeof(bytes) - 1, &e), -1);
	assert_string_equal(e.msg, "f:2: a NUL byte");
}

/* A pair's place is that in the file, so that it can be replaced there. */
static void test_places(void **state)
{
	struct slurmconf_file f = file_of("f", "# x\nA=1 \\\n B = \"2 3\" C=4\n");
	struct slurmconf_line l = {.n = 0};
	const struct slurmconf_pair *p;

	(void)state;
	assert_int_equal(slurmconf_line_next(&l, &f, NULL), 1);
	assert_int_equal(l.at, 4);
	assert_int_equal(l.end, f.len);
	p = slurmconf_line_get(&l, "b");
	assert_non_null(p);
	assert_memory_equal(f.text + p->at, "B = \"2 3\"", p->end - p->at);
	assert_int_equal(p->end - p->at, strlen("B = \"2 3\""));
	assert_null(slurmconf_line_get(&l, "D"));
	slurmconf_file_fini(&f);
}

static void test_the_last_of_a_key_counts(void **state)
{
	struct slurmconf_file f = file_of("f", "A=1 a=2");
	struct slurmconf_line l = {.n = 0};

	(void)state;
	assert_int_equal(slurmconf_line_next(&l, &f, NULL), 1);
	assert_memory_equal(slurmconf_line_get(&l, "A")->value.p, "2", 1);
	slurmconf_file_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),     cmocka_unit_test(test_errors_have_their_line),
		cmocka_unit_test(test_many_keys), cmocka_unit_test(test_a_nul_is_refused),
		cmocka_unit_test(test_places),    cmocka_unit_test(test_the_last_of_a_key_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
