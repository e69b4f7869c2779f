/* burstctl config: check, show, and the options of burstd.conf. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "core/conf_option.h"
#include "providers/aws.h"
#include "providers/options.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define S "--socket SOCKET "

static void test_config(void **state)
{
	static const char good[] = "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n"
				   "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r "
				   "max_nodes = 8 max_rate = \"300\" }\n";
	struct lab *l = lab_new();
	char *first;

	(void)state;
	lab_write(l, "good.conf", good);
	lab_write(l, "bad.conf", "cluster = lab\nnonsense = 1\n");
	lab_run_once(l, "config check DIR/bad.conf", lab_hang_up);
	lab_want(l, 1, "", "bad.conf:2: ");
	lab_run_once(l, "config check DIR/none.conf", lab_hang_up);
	lab_want(l, 1, "", "none.conf");
	/* What is shown is a good configuration itself, and shows the same again. */
	lab_run_once(l, "config show DIR/good.conf", lab_hang_up);
	assert_int_equal(l->rc, 0);
	first = mem_strdup(l->out);
	lab_write(l, "shown.conf", first);
	lab_run_once(l, "config show DIR/shown.conf", lab_hang_up);
	lab_want(l, 0, first, "");
	free(first);
	lab_run_once(l, "config show DIR/bad.conf", lab_hang_up);
	lab_want(l, 1, "", "bad.conf:2: ");
	assert_int_equal(l->nrequests, 0);
	lab_remove(l, "good.conf");
	lab_remove(l, "bad.conf");
	lab_remove(l, "shown.conf");
	lab_free(l);
}

/* `burstd --check` as a script in PATH; "$3" is the file. */
static const struct {
	const char *name, *script;
	int rc;
	const char *out, *err; /* out: behind the path */
	const char *json;      /* "checked" and the rest */
} check_rows[] = {
	{"no burstd", NULL, 0,
	 ": cluster lab, 1 provider, 1 pool, 8 nodes\n"
	 "note: only the file was checked: there is no burstd beside burstctl, in ../sbin or in "
	 "PATH\n",
	 "", "{\"checked\":\"file\",\"problems\":[],\"notes\":1,\"nodes\":8}"},
	{"good", "echo ignored; exit 0", 0, ": cluster lab, 1 provider, 1 pool, 8 nodes\n", "",
	 "{\"checked\":\"all\",\"problems\":[],\"notes\":0,\"nodes\":8}"},
	{"worth knowing", "echo 'note: mind the gap' >&2; exit 0", 0,
	 ": cluster lab, 1 provider, 1 pool, 8 nodes\nnote: mind the gap\n", "",
	 "{\"checked\":\"all\",\"problems\":[],\"notes\":1,\"nodes\":8}"},
	{"two problems", "echo \"$1 $2\" >&2; echo 'f:2: \033[31mtwo' >&2; exit 78", 1, NULL,
	 "burstctl: --check --\nburstctl: f:2: ?[31mtwo\n",
	 "{\"checked\":\"all\",\"problems\":[\"--check --\",\"f:2: ?[31mtwo\"],\"notes\":0,"
	 "\"nodes\":8}"},
	{"an older one", "echo 'no option --check' >&2; exit 2", 1, NULL,
	 "burstctl: no option --check\nburstctl: burstd --check failed: exit status 2\n",
	 "{\"checked\":\"file\",\"problems\":[\"no option --check\",\"burstd --check failed: exit "
	 "status 2\"],\"notes\":0,\"nodes\":8}"},
	{"killed", "kill -9 $$", 1, NULL, "burstctl: burstd --check failed: exit status 137\n",
	 "{\"checked\":\"file\",\"problems\":[\"burstd --check failed: exit status "
	 "137\"],\"notes\":0,"
	 "\"nodes\":8}"},
	{"bad and silent", "exit 78", 1, NULL, "burstctl: burstd --check failed: exit status 78\n",
	 "{\"checked\":\"all\",\"problems\":[\"burstd --check failed: exit status "
	 "78\"],\"notes\":0,"
	 "\"nodes\":8}"},
};

static void check_check(struct lab *l, size_t row)
{
	json_t *r, *sought = json_loads(check_rows[row].json, 0, NULL);
	char out[256] = "";

	print_message("# %s\n", check_rows[row].name);
	lab_run_once(l, "config check DIR/good.conf", lab_hang_up);
	if (check_rows[row].out != NULL)
		(void)snprintf(out, sizeof(out), "ok: %s/good.conf%s", l->dir, check_rows[row].out);
	lab_want(l, check_rows[row].rc, out, "");
	assert_string_equal(l->err, check_rows[row].err);
	lab_run_once(l, "config check DIR/good.conf --json", lab_hang_up);
	assert_int_equal(l->rc, check_rows[row].rc);
	r = json_loads(l->out, 0, NULL);
	assert_non_null(r);
	assert_true(json_equal(json_object_get(r, "checked"), json_object_get(sought, "checked")));
	assert_true(
		json_equal(json_object_get(r, "problems"), json_object_get(sought, "problems")));
	assert_true(json_equal(json_object_get(r, "nodes"), json_object_get(sought, "nodes")));
	assert_int_equal(json_array_size(json_object_get(r, "notes")),
			 json_integer_value(json_object_get(sought, "notes")));
	json_decref(r);
	json_decref(sought);
}

/* What only burstd can say is asked of burstd. */
static void test_config_check(void **state)
{
	char *path = mem_strdup(getenv("PATH")), script[256], file[64];
	struct lab *l = lab_new();
	json_t *r;

	(void)state;
	lab_write(l, "good.conf",
		  "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n"
		  "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r "
		  "max_nodes = 8 max_rate = \"300\" }\n");
	(void)setenv("PATH", l->dir, 1);
	(void)snprintf(file, sizeof(file), "%s/burstd", l->dir);
	for (size_t i = 0; i < COUNT(check_rows); i++) {
		if (check_rows[i].script != NULL) {
			(void)snprintf(script, sizeof(script), "#!/bin/sh\n%s\n",
				       check_rows[i].script);
			lab_write(l, "burstd", script);
			assert_int_equal(chmod(file, 0700), 0);
		}
		check_check(l, i);
	}
	/* The file itself is bad: burstd need not be asked. */
	lab_write(l, "bad.conf", "cluster = lab\nnonsense = 1\n");
	lab_run_once(l, "config check DIR/bad.conf --json", lab_hang_up);
	assert_int_equal(l->rc, 1);
	r = json_loads(l->out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 1);
	assert_string_equal(cli_text(r, "checked"), "file");
	json_decref(r);
	(void)setenv("PATH", path, 1);
	free(path);
	lab_remove(l, "bad.conf");
	lab_remove(l, "burstd");
	lab_remove(l, "good.conf");
	lab_free(l);
}

static void assert_option(const char *out, const struct conf_option *o)
{
	assert_non_null(strstr(out, o->name));
	assert_non_null(strstr(out, o->help));
}

/* The options that only this driver has; NULL: those of no driver alone. */
static size_t n_of_driver(const json_t *r, const char *driver)
{
	size_t i, n = 0;
	json_t *o;

	json_array_foreach(json_object_get(r, "options"), i, o)
	{
		const char *of = json_string_value(json_object_get(o, "driver"));

		n += driver == NULL ? of == NULL : of != NULL && strcmp(of, driver) == 0;
	}
	return n;
}

static void test_config_options(void **state)
{
	struct lab *l = lab_new();
	size_t nown = 0;
	json_t *r;

	(void)state;
	lab_run_once(l, "config options", lab_hang_up);
	assert_int_equal(l->rc, 0);
	for (size_t i = 0; i < conf_noptions; i++)
		assert_option(l->out, &conf_options[i]);
	for (size_t i = 0; provider_options[i] != NULL; i++)
		for (size_t k = 0; k < provider_options[i]->noptions; k++, nown++)
			assert_option(l->out, &provider_options[i]->options[k]);
	assert_non_null(strstr(l->out, "provider aws      subnets"));
	lab_run_once(l, "config options --json", lab_hang_up);
	r = json_loads(l->out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(r, "options")), conf_noptions + nown);
	assert_int_equal(n_of_driver(r, "aws"), aws_options.noptions);
	assert_int_equal(n_of_driver(r, NULL), conf_noptions);
	json_decref(r);
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_config_options),
		cmocka_unit_test(test_config_check),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
