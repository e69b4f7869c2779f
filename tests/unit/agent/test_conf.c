/* test_conf.c - agent.conf, URLs, and what the kernel says. */
#include "agent/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "agent/facts.h"

#define GOOD "url=https://10.0.0.1:8443\nca=/a\ncert=/b\nkey=/c\nnode=h100-1\ngeneration=3\n"

static void test_defaults(void **state)
{
	struct agent_conf c;
	struct err e = {0};

	(void)state;
	assert_int_equal(agent_conf_parse(&c, "f", "# x\n\n \t\n" GOOD, &e), 0);
	assert_int_equal(c.nurls, 1);
	assert_string_equal(c.urls[0].name, "10.0.0.1:8443");
	assert_int_equal(c.generation, 3);
	assert_int_equal(c.heartbeat, 30000);
	assert_int_equal(c.deadman, 600000);
	assert_string_equal(c.poweroff, "systemctl poweroff -i");
	assert_string_equal(c.metadata.name, "169.254.169.254:80");
	assert_int_equal(c.cloud, AGENT_NO_CLOUD);
}

static const struct {
	const char *more, *error;
} wrong[] = {
	{"hearbeat = 5s", "f:7: unknown key \"hearbeat\"; did you mean \"heartbeat\"?"},
	{"zzzzzzzz = 5s", "f:7: unknown key \"zzzzzzzz\""},
	{"node = b", "f:7: node is defined twice"},
	{"heartbeat", "f:7: want key = value"},
	{"heartbeat = 5", "f:7: heartbeat: "},
	{"heartbeat = 1h", "f:7: heartbeat: want 1s to 5m"},
	{"gpus = many", "f:7: gpus: want a number from 0 to 1024"},
	{"gpus = -1", "f:7: gpus: want a number from 0 to 1024"},
	{"gpus = 99999999999999999999", "f:7: gpus: want a number from 0 to 1024"},
	{"url = http://10.0.0.1", "f:7: url: want https://HOST[:PORT]"},
	{"url = https://10.0.0.1/v1", "f:7: url: "},
	{"url = https://user@10.0.0.1", "f:7: url: "},
	{"url = https://10.0.0.1:0", "f:7: url: "},
	{"url = https://10.0.0.1:65536", "f:7: url: "},
	{"url = https://10.0.0.1:", "f:7: url: "},
	{"url = https://[fd00::1", "f:7: url: "},
	{"url = https://fd00::1", "f:7: url: "},
	{"url = https://", "f:7: url: "},
	{"url = https://a b", "f:7: url: "},
	{"metadata = ftp://x", "f:7: metadata: "},
	{"poweroff = a\001b", "f:7: contains a control character"},
};

static void test_wrong_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[512];
		struct agent_conf c;
		struct err e = {0};

		print_message("# %s\n", wrong[i].more);
		(void)snprintf(text, sizeof(text), GOOD "%s\n# the end", wrong[i].more);
		assert_int_equal(agent_conf_parse(&c, "f", text, &e), -1);
		assert_int_equal(strncmp(e.msg, wrong[i].error, strlen(wrong[i].error)), 0);
	}
}

static void test_must_be_given(void **state)
{
	static const char *const keys[] = {"url", "ca", "cert", "key", "node", "generation"};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char text[] = GOOD, want[64], *at;
		struct agent_conf c;
		struct err e = {0};

		(void)snprintf(want, sizeof(want), "%s=", keys[i]);
		at = strstr(text, want);
		*at = '#';
		assert_int_equal(agent_conf_parse(&c, "f", text, &e), -1);
		(void)snprintf(want, sizeof(want), "f: %s must be given", keys[i]);
		assert_string_equal(e.msg, want);
	}
}

static void test_bad_values(void **state)
{
	static const char *const nodes[] = {"", "-x", "a b", "a\"b", "a/b", "\xc3\xa4"};
	struct agent_conf c;
	struct err e = {0};
	char text[2048];

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		(void)snprintf(text, sizeof(text), "node = %s\n", nodes[i]);
		assert_int_equal(agent_conf_parse(&c, "f", text, &e), -1);
		assert_int_equal(strncmp(e.msg, "f:1: node: ", 11), 0);
	}
	(void)snprintf(text, sizeof(text), "ca = %0300d\n", 1);
	assert_int_equal(agent_conf_parse(&c, "f", text, &e), -1);
	text[0] = '\0';
	for (int i = 0; i <= AGENT_URLS_MAX; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "url = https://a%d\n", i);
	assert_int_equal(agent_conf_parse(&c, "f", text, &e), -1);
	assert_string_equal(e.msg, "f:9: url: more than 8 URLs");
}

static void test_urls(void **state)
{
	static const struct {
		const char *url, *name, *host;
		bool numeric;
	} rows[] = {
		{"https://burst.example.org", "burst.example.org:443", "burst.example.org", false},
		{"http://169.254.169.254", "169.254.169.254:80", "169.254.169.254", true},
		{"https://[fd00::1]:8443", "[fd00::1]:8443", "fd00::1", true},
		{"https://[fd00::1]", "[fd00::1]:443", "fd00::1", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct origin p;
		struct err e = {0};

		print_message("# %s\n", rows[i].url);
		assert_int_equal(origin_parse(&p, rows[i].url, &e), 0);
		assert_string_equal(p.name, rows[i].name);
		assert_string_equal(p.host, rows[i].host);
		assert_int_equal(p.numeric, rows[i].numeric);
		assert_int_equal(p.n, rows[i].numeric ? 1 : 0);
	}
}

/* A lookup is a child's work; what was found is used on when nobody answers any more. */
static void test_addresses_are_kept(void **state)
{
	struct origin p, found;
	struct err e = {0};
	pid_t child = -1;
	int fd;

	(void)state;
	assert_int_equal(origin_parse(&p, "https://name.invalid", &e), 0);
	assert_int_equal(origin_parse(&found, "https://10.0.0.9", &e), 0);
	assert_true(origin_stale(&p, 0));
	for (int i = 0; i < 3; i++) {
		fd = origin_lookup(&p, &child, &e);
		assert_true(fd >= 0 && child > 0);
		assert_int_equal(origin_found(&p, child, found.addr,
					      i == 1 ? sizeof(found.addr[0]) : 0, 1000),
				 i == 0 ? -1 : 0);
		(void)close(fd);
	}
	assert_int_equal(p.n, 1);
	assert_memory_equal(&p.addr[0], &found.addr[0], sizeof(found.addr[0]));
	assert_false(origin_stale(&p, 1000));
	assert_true(origin_stale(&p, 1000 + ORIGIN_GOOD_MS));
}

static void test_steps(void **state)
{
	static const struct {
		const char *cmdline;
		size_t len;
		int64_t id;
	} rows[] = {
		{"slurmstepd: [4711.batch]", 24, 4711}, {"slurmstepd: [4711.0]", 20, 4711},
		{"slurmstepd: [x.0]", 17, -1},          {"slurmstepd: [99999999999.0]", 27, -1},
		{"/usr/sbin/slurmstepd", 20, -1},       {"/usr/sbin/slurmstepd\0infinity", 29, 0},
		{"slurmstepd\0infinity", 19, 0},        {"/usr/sbin/slurmd\0-D", 19, 0},
		{"my-slurmstepd: [4711.0]", 23, 0},     {"", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64] = "";

		print_message("# %s\n", rows[i].cmdline);
		memcpy(text, rows[i].cmdline, rows[i].len);
		assert_int_equal(facts_step(text, rows[i].len), rows[i].id);
	}
}

/* Where /proc cannot be seen, nobody may be put out for want of jobs. */
static void test_blind(void **state)
{
	struct facts f;

	(void)state;
	facts_read(&f, "/nonexistent");
	assert_true(f.job);
	assert_int_equal(f.njobs, 0);
	assert_string_equal(f.boot_id, "");
	assert_int_equal(facts_gpus("/nonexistent"), -1);
}

static void test_json(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 100);
	agent_json_text(&s, "k", "a\"b\\c\n\x80\x1b");
	assert_string_equal(s.p, "\"k\":\"a\\\"b\\\\c???\"");
	str_fini(&s);
}

/* burst-agent(8) has every key, and its default. */
static void test_manual(void **state)
{
	FILE *f = fopen("docs/man/burst-agent.8.scd", "re");
	char *page = calloc(1, 1 << 16), *at, *line;
	struct str help;

	(void)state;
	assert_non_null(f);
	assert_true(fread(page, 1, (1 << 16) - 1, f) > 0);
	(void)fclose(f);
	str_init(&help, 1 << 14);
	agent_conf_help(&help);
	/* A line that begins farther in goes on with the one before. */
	while ((at = strstr(help.p, "\n          ")) != NULL)
		memmove(at + 1, at + 1 + strspn(at + 1, " "),
			strlen(at + 1 + strspn(at + 1, " ")) + 1),
			*at = ' ';
	at = help.p;
	while ((line = strsep(&at, "\n")) != NULL && line[0] != '\0') {
		char want[128], *key = line + 2, *initial = strstr(line, "(default ");

		key[strcspn(key, " ")] = '\0';
		print_message("# %s\n", key);
		(void)snprintf(want, sizeof(want), "*%s*", key);
		assert_non_null(strstr(page, want));
		if (initial == NULL)
			continue;
		initial += strlen("(default ");
		initial[strlen(initial) - 1] = '\0';
		(void)snprintf(want, sizeof(want), "_%s_", initial);
		assert_non_null(strstr(page, want));
	}
	str_fini(&help);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),      cmocka_unit_test(test_wrong_lines),
		cmocka_unit_test(test_must_be_given), cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_urls),          cmocka_unit_test(test_addresses_are_kept),
		cmocka_unit_test(test_steps),         cmocka_unit_test(test_blind),
		cmocka_unit_test(test_json),          cmocka_unit_test(test_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
