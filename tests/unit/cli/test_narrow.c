/* What people read on a terminal of 80 columns: no word is cut at its edge, and a line that goes on
 * below does so farther in. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/mem.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define S        "--socket SOCKET "

#define NAME "a-pool-with-a-rather-long-name"
#define LONG                                                                                       \
	"the provider says that there is no capacity for gpu_8x_h100 in eu-north-1a just now, "    \
	"and it is asked again in a while, as long as anybody waits for it"
#define RUNG                                                                                       \
	"{\"offer\":\"an-offer-with-a-long-name\",\"provider\":\"a-long-provider\",\"type\":"      \
	"\"p5.48xlarge\",\"region\":\"eu-north-1\",\"zone\":\"eu-north-1a\",\"market\":"           \
	"\"on-demand\",\"price\":\"31.46\",\"nodes\":2,\"place\":1,\"cause\":\"capacity\","        \
	"\"state\":\"capacity\",\"why\":\"" LONG "\",\"refusals\":[{\"at_ms\":1,\"reason\":"       \
	"\"capacity\",\"nodes\":4,\"words\":\"" LONG "\"}]}"
#define POOL                                                                                       \
	"{\"name\":\"" NAME "\",\"nodes\":2,\"max_nodes\":64,\"rate\":\"62.92\",\"max_rate\":"     \
	"\"900\",\"spent\":\"12345.67\",\"states\":{\"ready\":12,\"booting\":11,\"draining\":4},"  \
	"\"blocked\":\"" LONG "\",\"probes\":\"" LONG "\",\"listed\":false,\"new\":4,\"offer\":"   \
	"\"an-offer-with-a-long-name\",\"offers\":[" RUNG "]}"

#define ROTATION(more)                                                                             \
	"{\"ok\":true,\"now_ms\":100000,\"rotation\":{" more "\"runs\":true,\"current\":\"" LONG   \
	"\",\"since_ms\":90000,\"nodes\":{\"have\":2,\"lack\":1,\"unheard\":3,\"drained\":1,"      \
	"\"others\":4,\"fixed\":5},\"lacking\":[\"a-node-with-a-long-name-1\","                    \
	"\"a-node-with-a-long-name-2\",\"a-node-with-a-long-name-3\",\"c4\"],\"driver\":"          \
	"\"vault\",\"mount\":\"kv\",\"name\":\"slurm/prod/node\",\"error\":\"" LONG "\"}}"

static const struct {
	const char *line, *reply;
} rows[] = {
	{"status",
	 "{\"ok\":true,\"version\":\"0.1\",\"cluster\":\"c\",\"now_ms\":1000000,\"currency\":"
	 "\"EUR\",\"uptime_ms\":1000,\"slurm\":{\"ok\":true,\"ok_ms\":1},\"problems\":[\"" LONG
	 "\"],\"providers\":[{\"name\":\"a-long-provider\",\"ok\":true,\"ok_ms\":1,"
	 "\"requests\":[{\"operation\":\"create\",\"queued\":812,\"oldest_ms\":1,\"allowed\":\"0."
	 "5\","
	 "\"allowed_by\":\"shared\"}]}],\"pools\":[" POOL "]}"},
	{"pools", "{\"ok\":true,\"now_ms\":1000000,\"currency\":\"EUR\",\"next\":\"\","
		  "\"cooldowns\":[],\"pools\":[" POOL "]}"},
	{"plan", "{\"ok\":true,\"now_ms\":1000000,\"currency\":\"EUR\",\"job\":{\"id\":\"7\","
		 "\"state\":\"PENDING\",\"reason\":\"Resources\",\"nodes\":4,\"partition\":"
		 "\"a-partition-with-a-long-name\",\"constraint\":\"spot&h100&infiniband\"},"
		 "\"plans\":[{\"verdict\":\"wait\",\"why\":\"" LONG "\",\"note\":\"" LONG
		 "\",\"pools\":[" POOL "]}]}"},
	{"node show h100-1",
	 "{\"ok\":true,\"now_ms\":1000000,\"currency\":\"EUR\",\"name\":\"h100-1\",\"state\":"
	 "\"ready\",\"why\":\"" LONG "\",\"pool\":\"" NAME "\",\"instance\":\"i-1\",\"slurm\":"
	 "\"IDLE+CLOUD+DRAIN+POWERING_UP+NOT_RESPONDING\",\"boot\":{\"claim\":\"refused\","
	 "\"claim_why\":\"" LONG "\"},\"generations\":[],\"events\":[]}"},
	{"events --since 0",
	 "{\"ok\":true,\"events\":[{\"seq\":1,\"at_ms\":1000,\"node\":\"a-node-with-a-long-name-"
	 "1\","
	 "\"generation\":3,\"type\":\"provider-away\",\"detail\":\"" LONG "\"}],\"last\":1}"},
	{"audit --since 0",
	 "{\"ok\":true,\"records\":[{\"seq\":1,\"at_ms\":1000,\"actor\":\"reconciler\",\"verb\":"
	 "\"delete-again\",\"target\":\"a-long-provider\",\"object\":\"a-node-with-a-long-name-1\","
	 "\"reason\":\"" LONG "\",\"request\":\"\",\"hash\":\"ab\"}],\"last\":1,\"more\":false}"},
	{"secrets show",
	 "{\"ok\":true,\"now_ms\":1000,\"secrets\":{\"driver\":\"vault\",\"address\":"
	 "\"https://vault.example:8200\",\"phase\":\"waiting\",\"error\":\"" LONG
	 "\",\"rotation\":\"munge: staged\",\"rotation_error\":\"" LONG "\"}}"},
	{"secrets rotate", ROTATION("\"kind\":\"munge\",\"phase\":\"staged\",")},
	{"secrets rotate --status",
	 ROTATION("\"kind\":\"jwks\",\"phase\":\"staging\",\"needs_credential\":true,")},
	{"secrets rotate --plan", ROTATION("\"kind\":\"none\",\"phase\":\"idle\",")},
	{"check DIR/good.conf", NULL},
};

static const char check_script[] =
	"#!/bin/sh\ncat <<'E'\n{\"error\":\"\",\"pools\":true,\"version\":\"24.11.5\","
	"\"slurm_conf\":[{\"setting\":\"SuspendTimeout\",\"severity\":\"error\",\"found\":\"" LONG
	"\",\"wanted\":\"" LONG "\",\"why\":\"" LONG "\"}]}\nE\nexit 1\n";

static size_t columns_of(const char *line, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += line[i] != '\r' && ((unsigned char)line[i] & 0xc0) != 0x80;
	return n;
}

/* Lines that begin at the first column: what goes on below does not. */
static size_t beginnings(const char *text)
{
	size_t n = 0;

	for (const char *p = text; *p != '\0'; p++)
		n += (p == text || p[-1] == '\n') && *p != ' ' && *p != '\n' && *p != '\r';
	return n;
}

static void assert_fits(const char *text)
{
	for (const char *p = text, *end; *p != '\0'; p = end + 1) {
		end = strchr(p, '\n');
		assert_non_null(end);
		if (columns_of(p, (size_t)(end - p)) > 80)
			fail_msg("%zu columns: %.*s", columns_of(p, (size_t)(end - p)),
				 (int)(end - p), p);
	}
}

/* Word by word, whatever is between them. */
static void assert_same_words(char *a, char *b)
{
	static const char blanks[] = " \r\n";
	char *more_a = NULL, *more_b = NULL;
	const char *x = strtok_r(a, blanks, &more_a), *y = strtok_r(b, blanks, &more_b);

	for (; x != NULL && y != NULL; y = strtok_r(NULL, blanks, &more_b)) {
		assert_string_equal(x, y);
		x = strtok_r(NULL, blanks, &more_a);
	}
	assert_true(x == NULL && y == NULL);
}

static void test_no_word_is_cut(void **state)
{
	struct lab *l = lab_new();
	char line[100], file[64], *path = mem_strdup(getenv("PATH"));

	(void)state;
	lab_write(l, "good.conf",
		  "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n"
		  "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r "
		  "max_nodes = 8 max_rate = \"300\" price = \"29.52\" }\n");
	lab_write(l, "burstd", check_script);
	(void)snprintf(file, sizeof(file), "%s/burstd", l->dir);
	assert_int_equal(chmod(file, 0700), 0);
	(void)snprintf(line, sizeof(line), "%s:/usr/bin:/bin", l->dir);
	(void)setenv("PATH", line, 1);
	(void)setenv("TERM", "dumb", 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *reply = rows[i].reply != NULL ? rows[i].reply : lab_hang_up;
		char *wide;

		(void)snprintf(line, sizeof(line), S "%s", rows[i].line);
		l->tty = false;
		lab_run_once(l, line, reply);
		wide = mem_strdup(l->out);
		assert_non_null(strstr(wide, "anybody waits"));
		l->tty = true;
		l->columns = 80;
		lab_run_once(l, line, reply);
		assert_fits(l->out);
		assert_int_equal(beginnings(l->out), beginnings(wide));
		assert_same_words(l->out, wide);
		free(wide);
	}
	(void)setenv("PATH", path, 1);
	free(path);
	lab_remove(l, "burstd");
	lab_remove(l, "good.conf");
	lab_free(l);
}

/* What a program reads, or what somebody copies, is one line. */
static void test_json_is_as_long_as_it_is(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	l->tty = true;
	l->columns = 80;
	lab_run_once(l, S "status --json", rows[0].reply);
	assert_non_null(strstr(l->out, LONG));
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_word_is_cut),
		cmocka_unit_test(test_json_is_as_long_as_it_is),
	};

	return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}
