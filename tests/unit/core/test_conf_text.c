/* test_conf_text.c - what burstd.conf may say to nodes is what their node-init takes: its own shell
 * function is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/conf_text.h"

enum { TEXTS_MAX = 256, TEXT_SIZE = 40 };

static struct texts {
	char v[TEXTS_MAX][TEXT_SIZE];
	bool taken[TEXTS_MAX]; /* by node-init, each time it asks for it */
	size_t n;
} T;

static void add(const char *text)
{
	assert_true(T.n < TEXTS_MAX);
	(void)snprintf(T.v[T.n++], sizeof(T.v[0]), "%s", text);
}

static void add_each(const char *before, const char *after)
{
	char text[TEXT_SIZE];

	for (char c = ' '; c < 0x7f; c++) {
		(void)snprintf(text, sizeof(text), "%s%c%s", before, c, after);
		add(text);
	}
}

/* Each text as that line of the answer to a claim; what each `claim KEY ...` of the script makes of
 * it. */
static void ask_node_init(const char *key)
{
	static const char script[] =
		"eval \"$(sed -n '/^claim() {/,/^}/p' scripts/node/node-init)\"\n"
		"fail() { exit 1; }\n"
		"calls=$(grep -oE \"claim $2( '[^']*')?\" scripts/node/node-init | sort -u)\n"
		"[ -n \"$calls\" ] || exit 9\n"
		"CLAIM=$1/claim.conf\n"
		"while IFS= read -r text; do\n"
		"	printf '%s=%s\\n' \"$2\" \"$text\" >$CLAIM\n"
		"	printf '%s\\n' \"$calls\" | (\n"
		"		while IFS= read -r call; do\n"
		"			[ \"$(eval \"$call\")\" = \"$text\" ] || exit 1\n"
		"		done) && echo y || echo n\n"
		"done <$1/texts >$1/said\n";
	char dir[] = "/tmp/conf-text-XXXXXX", path[64], text[2048], line[8];
	FILE *f;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/texts", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < T.n; i++)
		(void)fprintf(f, "%s\n", T.v[i]);
	assert_int_equal(fclose(f), 0);
	(void)snprintf(path, sizeof(path), "%s/script", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	(void)fputs(script, f);
	assert_int_equal(fclose(f), 0);
	(void)snprintf(text, sizeof(text), "sh %s/script %s %s", dir, dir, key);
	assert_int_equal(system(text), 0);
	(void)snprintf(path, sizeof(path), "%s/said", dir);
	f = fopen(path, "r");
	assert_non_null(f);
	for (size_t i = 0; i < T.n; i++) {
		assert_non_null(fgets(line, sizeof(line), f));
		T.taken[i] = line[0] == 'y';
	}
	(void)fclose(f);
	(void)snprintf(text, sizeof(text), "rm -r %s", dir);
	assert_int_equal(system(text), 0);
}

static void test_options_of_slurmd_are_those_that_node_init_takes(void **state)
{
	size_t taken = 0;

	(void)state;
	T.n = 0;
	add_each("-L a", "b");
	add("-L /var/log/slurmd.log -v");
	ask_node_init("slurmd_opts");
	for (size_t i = 0; i < T.n; i++) {
		bool ours = conf_text_check(CONF_LINE, T.v[i], NULL) == 0;

		taken += ours;
		if (ours != T.taken[i])
			fail_msg("\"%s\": burstd %s it, node-init %s", T.v[i],
				 ours ? "takes" : "refuses", T.taken[i] ? "takes" : "refuses");
	}
	assert_int_equal(taken, 26 + 26 + 10 + 10 + 1);
	assert_int_equal(conf_text_check(CONF_LINE, "a\tb", NULL), -1);
	assert_int_equal(conf_text_check(CONF_LINE, "a\nb", NULL), -1);
}

static void test_node_init_takes_each_address_of_slurmctld(void **state)
{
	size_t taken = 0;

	(void)state;
	T.n = 0;
	add_each("a", "b:6817");
	add("ctl-1.example:1");
	add("10.0.0.1:65535");
	add("[2001:db8::1]:6817");
	add("[::ffff:10.0.0.1]:6817");
	ask_node_init("conf_server");
	for (size_t i = 0; i < T.n; i++) {
		bool ours = conf_text_check(CONF_HOSTS, T.v[i], NULL) == 0;

		taken += ours;
		if (ours && !T.taken[i])
			fail_msg("\"%s\": node-init refuses it", T.v[i]);
	}
	assert_true(taken >= 26 + 26 + 10 + 3 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_of_slurmd_are_those_that_node_init_takes),
		cmocka_unit_test(test_node_init_takes_each_address_of_slurmctld),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
