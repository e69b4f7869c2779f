/* test_check.c - `burstctl check`: the file, slurm.conf as burstd --check reports it, and what only
 * a burstd that runs can tell. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/cli.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define S        "--socket SOCKET "

#define OK_FILE "ok: FILE: cluster lab, 1 provider, 1 pool, 8 nodes\n"
#define BAD_SLURM                                                                                  \
	"[{\"setting\":\"ReturnToService\",\"severity\":\"error\",\"found\":\"0\",\"wanted\":"     \
	"\"2\",\"why\":\"It stays DOWN.\"},{\"setting\":\"AuthInfo\",\"severity\":\"advice\","     \
	"\"found\":\"x\",\"wanted\":\"y\",\"why\":\"Slow.\"}]"
#define ADVICE                                                                                     \
	"[{\"setting\":\"AuthInfo\",\"severity\":\"advice\",\"found\":\"x\",\"wanted\":\"y\","     \
	"\"why\":\"Slow.\"}]"
#define REPORT(list)                                                                               \
	"{\"error\":\"\",\"pools\":true,\"version\":\"24.11.5\",\"slurm_conf\":" list "}"

/* `burstd --check --slurm --json -- FILE`, as a script: what it says, and how it ends. */
static const struct {
	const char *name, *said, *errors;
	int status, rc;
	const char *out, *err;
} check_rows[] = {
	{"good", REPORT("[]"), "", 0, 0,
	 OK_FILE "ok: slurm.conf as slurmctld 24.11.5 has read it\n", ""},
	{"advice", REPORT(ADVICE), "", 0, 0,
	 OK_FILE "ok: slurm.conf as slurmctld 24.11.5 has read it:\n"
		 "  advice   AuthInfo is x; wanted: y\n           Slow.\n",
	 ""},
	{"bad", REPORT(BAD_SLURM), "note: mind the gap\n", 1, 1,
	 OK_FILE "note: mind the gap\nnot ok: slurm.conf as slurmctld 24.11.5 has read it:\n"
		 "  error    ReturnToService is 0; wanted: 2\n           It stays DOWN.\n"
		 "  advice   AuthInfo is x; wanted: y\n           Slow.\n",
	 ""},
	{"several of one line",
	 "{\"error\":\"\",\"pools\":true,\"version\":\"24.11.5\",\"slurm_conf\":" BAD_SLURM
	 ",\"slurmctld_parameters\":\"x\\u001b,cloud_dns,idle_on_node_suspend\"}",
	 "", 1, 1,
	 OK_FILE "not ok: slurm.conf as slurmctld 24.11.5 has read it:\n"
		 "  error    ReturnToService is 0; wanted: 2\n           It stays DOWN.\n"
		 "  advice   AuthInfo is x; wanted: y\n           Slow.\n"
		 "  write    SlurmctldParameters=x?,cloud_dns,idle_on_node_suspend\n",
	 ""},
	{"silent", "{\"error\":\"scontrol: exit status 1\",\"pools\":true}", "", 69, 3, OK_FILE,
	 "burstctl: slurm.conf was not checked, slurmctld does not answer: scontrol: exit status "
	 "1\n"},
	{"a bad configuration, and silence", "{\"error\":\"no scontrol\",\"pools\":true}",
	 "f:2: two\n", 78, 1, "",
	 "burstctl: f:2: two\nburstctl: slurm.conf was not checked, slurmctld does not answer: no "
	 "scontrol\n"},
	{"a bad configuration alone",
	 "{\"error\":\"\",\"pools\":false,\"version\":\"24.11.5\",\"slurm_conf\":[]}", "f:2: two\n",
	 78, 1,
	 "ok: slurm.conf as slurmctld 24.11.5 has read it\nnote: without a good configuration, "
	 "what depends on pools was not checked in slurm.conf\n",
	 "burstctl: f:2: two\n"},
	{"an older one", "", "no option --slurm\n", 2, 1, "",
	 "burstctl: no option --slurm\n"
	 "burstctl: burstd --check failed: exit status 2\n"
	 "burstctl: slurm.conf was not checked: the burstd program was not found or failed\n"},
	{"killed", REPORT("[]"), "", 137, 1, "ok: slurm.conf as slurmctld 24.11.5 has read it\n",
	 "burstctl: burstd --check failed: exit status 137\n"},
};

static char *with_path(const struct lab *l, const char *text)
{
	const char *at = strstr(text, "FILE");
	char *out = mem_zalloc(strlen(text) + 64);

	if (at == NULL)
		(void)memcpy(out, text, strlen(text));
	else
		(void)snprintf(out, strlen(text) + 64, "%.*s%s/good.conf%s", (int)(at - text), text,
			       l->dir, at + 4);
	return out;
}

static void check_one(struct lab *l, size_t row)
{
	char script[2048], file[64], *out = with_path(l, check_rows[row].out);
	json_t *r;

	print_message("# %s\n", check_rows[row].name);
	(void)snprintf(script, sizeof(script),
		       "#!/bin/sh\n[ \"$*\" = \"--check --slurm --json -- %s/good.conf\" ] || exit "
		       "99\nprintf '%%s' '%s'\nprintf '%%s' '%s' >&2\nexit %d\n",
		       l->dir, check_rows[row].said, check_rows[row].errors,
		       check_rows[row].status);
	lab_write(l, "burstd", script);
	(void)snprintf(file, sizeof(file), "%s/burstd", l->dir);
	assert_int_equal(chmod(file, 0700), 0);
	lab_run_once(l, "check DIR/good.conf", lab_hang_up);
	assert_string_equal(l->err, check_rows[row].err);
	assert_string_equal(l->out, out);
	assert_int_equal(l->rc, check_rows[row].rc);
	lab_run_once(l, "check DIR/good.conf --json", lab_hang_up);
	assert_int_equal(l->rc, check_rows[row].rc);
	assert_string_equal(l->err, "");
	r = json_loads(l->out, 0, NULL);
	assert_non_null(r);
	assert_int_equal(json_is_array(json_object_get(r, "slurm_conf")),
			 strstr(check_rows[row].said, "slurm_conf") != NULL);
	if (strcmp(check_rows[row].name, "bad") == 0)
		assert_string_equal(cli_text(cli_row(r, "slurm_conf", 0), "setting"),
				    "ReturnToService");
	json_decref(r);
	free(out);
}

static void test_check(void **state)
{
	char *path = mem_strdup(getenv("PATH"));
	struct lab *l = lab_new();

	(void)state;
	lab_write(l, "good.conf",
		  "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n"
		  "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r "
		  "max_nodes = 8 max_rate = \"300\" price = \"29.52\" }\n"
		  "report_zone = UTC\nbudget all { amount = 5 period = month }\n");
	(void)setenv("PATH", l->dir, 1);
	for (size_t i = 0; i < COUNT(check_rows); i++)
		check_one(l, i);
	/* What a burstd that runs has, and the file does not: known before a restart. */
	lab_run_once(l, S "check DIR/good.conf",
		     "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"nodes\":1},{\"name\":\"old\","
		     "\"nodes\":2},{\"name\":\"empty\",\"nodes\":0}],\"providers\":[{\"name\":"
		     "\"sim\",\"nodes\":1},{\"name\":\"far\",\"nodes\":2}]}");
	assert_int_equal(l->rc, 1);
	assert_non_null(
		strstr(l->err, "good.conf: pool \"old\" is not in it, and burstd has 2 nodes"));
	assert_non_null(
		strstr(l->err, "provider \"far\" is not in it, and burstd has 2 nodes there"));
	assert_null(strstr(l->err, "empty"));
	/* What was added to a budget that the file names otherwise is nothing that fails. */
	lab_run_once(l, S "check DIR/good.conf",
		     "{\"ok\":true,\"overrides\":[{\"id\":7,\"budget\":\"gone\",\"value\":"
		     "\"ann\"},{\"id\":8,\"budget\":\"all\",\"value\":\"\"}]}");
	assert_non_null(strstr(l->out, "good.conf: override 7 of budget gone/ann has no effect "
				       "with it: there is no such budget\n"));
	assert_null(strstr(l->out, "override 8"));
	lab_remove(l, "burstd");
	lab_run_once(l, "check DIR/good.conf", lab_hang_up);
	assert_int_equal(l->rc, 1); /* half a check is none */
	assert_non_null(strstr(
		l->err, "slurm.conf was not checked: the burstd program was not found or failed"));
	lab_run_once(l, "check DIR/none.conf", lab_hang_up);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, "none.conf"));
	(void)setenv("PATH", path, 1);
	free(path);
	lab_remove(l, "good.conf");
	lab_free(l);
}

/* --- prices ------------------------------------------------------------------------------------
 */

#define POOL(name, nodes, price)                                                                   \
	"pool " name " { nodes = \"" nodes "\" provider = sim type = t region = r max_nodes = 1 "  \
	"max_rate = \"20\" " price " }\n"
#define SOLD "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[{\"price\":\"29.52\"}]}]}"
#define US   "{\"offer\":\"us\",\"price\":\"1.00\"},"
#define EU   "{\"offer\":\"eu\",\"price\":\"29.52\"},"
#define LADDER                                                                                     \
	"pool p { nodes = c1 max_nodes = 1 max_rate = \"20\" jurisdictions = {\"EU\"}\n"           \
	"offer us { provider = sim type = t region = us-east-1 jurisdiction = US }\n"              \
	"offer eu { provider = sim type = t region = eu-north-1 jurisdiction = SE }\n"             \
	"}\n"

static const struct {
	const char *pools, *reply, *note, *err; /* "": none; NULL: nothing about a price */
} price_rows[] = {
	{POOL("p", "c1", ""), NULL, "price limit of pool \"p\" was not compared with that\n", ""},
	{POOL("a", "c1", "price = \"5\"") POOL("b", "c2", "") POOL("c", "c3", ""), NULL,
	 "price limit of pool \"b\" and others was not compared with that\n", ""},
	{POOL("p", "c1", "price = \"5\""), NULL, "", ""},
	{POOL("p", "c1", ""), SOLD, "",
	 "max_rate is 20.00 EUR per hour, and its cheapest node costs 29.52"},
	/* The lower of two limits counts. */
	{POOL("p", "c1", "max_price = \"2\""), SOLD, "",
	 ":4: pool \"p\": max_price is 2.00 EUR per hour, and its cheapest node costs "
	 "29.52: nothing can be bought\n"},
	{POOL("p", "c1", "max_price = \"21\""), SOLD, "",
	 "max_rate is 20.00 EUR per hour, and its cheapest node costs 29.52"},
	{POOL("p", "c1", "max_price = \"2\""),
	 "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[{\"price\":\"2.00\"}]}]}", "", NULL},
	/* Of what the pool may never have no price counts. */
	{LADDER, "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[" US EU "{}]}]}", "",
	 "max_rate is 20.00 EUR per hour, and its cheapest node costs 29.52"},
	{LADDER,
	 "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[" US
	 "{\"offer\":\"eu\",\"price\":\"\"}]}]}",
	 "", ""},
	{LADDER,
	 "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[" EU
	 "{\"offer\":\"fr\",\"price\":\"\",\"cause\":\"not-offered\"}]}]}",
	 "", "costs 29.52"},
};
#undef LADDER
#undef SOLD
#undef US
#undef EU
#undef POOL

/* Prices that the file does not have only a burstd that runs can tell: without it check says so. */
static void test_check_says_what_it_did_not_compare(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(price_rows); i++) {
		char file[1024];

		(void)snprintf(file, sizeof(file),
			       "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n%s",
			       price_rows[i].pools);
		lab_write(l, "good.conf", file);
		lab_run_once(l, S "check DIR/good.conf",
			     price_rows[i].reply != NULL ? price_rows[i].reply : lab_hang_up);
		assert_int_equal(strstr(l->out, "only it knows what providers charge") != NULL,
				 price_rows[i].note[0] != '\0');
		assert_non_null(strstr(l->out, price_rows[i].note));
		if (price_rows[i].err != NULL)
			assert_non_null(strstr(l->err, price_rows[i].err));
		else
			assert_null(strstr(l->err, "costs"));
	}
	lab_remove(l, "good.conf");
	lab_free(l);
}

/* What burstd finds and how it ends is burstctl's own answer. */
static void test_provider(void **state)
{
	static const struct {
		const char *line, *args;
		int status;
	} rows[] = {
		{"provider check aws", "--check --provider aws -- /etc/burstd/burstd.conf", 0},
		{"provider check aws /f", "--check --provider aws -- /f", 1},
		{"provider check --json aws /f", "--check --json --provider aws -- /f", 1},
	};
	char *path = mem_strdup(getenv("PATH"));
	struct lab *l = lab_new();
	char script[256], want[256], file[64];

	(void)state;
	(void)setenv("PATH", l->dir, 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)snprintf(script, sizeof(script), "#!/bin/sh\necho \"asked: $*\"\nexit %d\n",
			       rows[i].status);
		lab_write(l, "burstd", script);
		(void)snprintf(file, sizeof(file), "%s/burstd", l->dir);
		assert_int_equal(chmod(file, 0700), 0);
		lab_run_once(l, rows[i].line, lab_hang_up);
		(void)snprintf(want, sizeof(want), "asked: %s\n", rows[i].args);
		assert_string_equal(l->out, want);
		assert_string_equal(l->err, "");
		assert_int_equal(l->rc, rows[i].status);
	}
	lab_remove(l, "burstd");
	lab_run_once(l, "provider check aws", lab_hang_up);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, "no burstd beside burstctl, in ../sbin or in PATH"));
	lab_run_once(l, "provider check", lab_hang_up);
	assert_int_equal(l->rc, 2);
	(void)setenv("PATH", path, 1);
	free(path);
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_provider),
		cmocka_unit_test(test_check_says_what_it_did_not_compare),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
