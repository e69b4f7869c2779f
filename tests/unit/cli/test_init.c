/* test_init.c - burstctl init: what it writes, what it asks for, and what it leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/first_conf.h"
#include "core/conf.h"
#include "io/conf_file.h"
#include "lab.h"
#include "providers/options.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define RUN      "init -f DIR/etc/burstd.conf --slurm-conf DIR/slurm.conf "
#define POOL     "driver=sim url=http://127.0.0.1:1 nodes=c[1-4] type=t region=r max_rate=9 "
#define HEAD                                                                                       \
	"# Written by `burstctl init`.  burstd.conf(5) has all options, with offers, budgets\n"    \
	"# and alerts; `burstctl config check` looks at a change before it counts.\n"

static void stop(struct lab *l)
{
	static const char *const names[] = {"etc/burstd.conf", "slurm.conf",
					    "etc/burstd.conf.last-good", "etc"};

	for (size_t i = 0; i < COUNT(names); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s/%s", l->dir, names[i]);
		(void)remove(path);
	}
	lab_free(l);
}

static bool is_there(const struct lab *l, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	return access(path, F_OK) == 0;
}

static void has(const struct lab *l, const char *name, const char *want)
{
	char path[128], text[4096] = "";
	struct stat st;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	f = fopen(path, "re");
	assert_non_null(f);
	(void)!fread(text, 1, sizeof(text) - 1, f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	(void)fclose(f);
	assert_string_equal(text, want);
}

static void test_an_empty_host(void **state)
{
	struct lab *l = lab_new();
	char want[2048], host[65] = "";

	(void)state;
	lab_run(l, RUN "--pool gpu cluster=falcon currency=EUR warm=1 " POOL, NULL, 0);
	(void)snprintf(want, sizeof(want),
		       "%s/etc/burstd.conf is written\n%s/slurm.conf is written\nnext:\n"
		       "  sudo burstctl provider check sim\n  sudo burstctl slurm-conf --write\n"
		       "  sudo systemctl restart slurmctld\n  sudo systemctl enable --now burstd\n"
		       "  srun -p gpu -N1 hostname\n",
		       l->dir, l->dir);
	lab_want(l, 0, want, "");
	has(l, "etc/burstd.conf",
	    HEAD "cluster          = \"falcon\"\ncurrency         = \"EUR\"\n\n"
		 "provider \"sim\" {\n\tdriver           = \"sim\"\n"
		 "\turl              = \"http://127.0.0.1:1\"\n}\n\n"
		 "pool \"gpu\" {\n\tprovider         = \"sim\"\n\tnodes            = \"c[1-4]\"\n"
		 "\ttype             = \"t\"\n\tregion           = \"r\"\n\tmax_nodes        = 4\n"
		 "\tmax_rate         = \"9\"\n\twarm             = 1\n}\n");
	assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	host[strcspn(host, ".")] = '\0';
	(void)snprintf(
		want, sizeof(want),
		"# Written by `burstctl init`: a controller without nodes of its own.\n"
		"ClusterName=falcon\nSlurmctldHost=%s\nSlurmUser=slurm\nAuthType=auth/munge\n"
		"StateSaveLocation=/var/lib/slurm/slurmctld\n"
		"SlurmdSpoolDir=/var/lib/slurm/slurmd\n"
		"SlurmctldLogFile=/var/log/slurm/slurmctld.log\n"
		"SlurmdLogFile=/var/log/slurm/slurmd.log\nSelectType=select/cons_tres\n"
		"SelectTypeParameters=CR_Core\n",
		host);
	has(l, "slurm.conf", want);
	stop(l);
}

static void test_a_site(void **state)
{
	static const char slurm[] = "# ours\nclustername=Falcon # the name\nNodeName=own1\n";
	struct lab *l = lab_new();

	(void)state;
	lab_write(l, "slurm.conf", slurm);
	lab_run(l, RUN "cluster=hawk currency=EUR " POOL, NULL, 0);
	lab_want(l, 2, "", "cluster=hawk: ClusterName is Falcon in ");
	assert_false(is_there(l, "etc/burstd.conf"));
	lab_run(l, RUN "currency=EUR " POOL, NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_null(strstr(l->out, "slurm.conf is written"));
	has(l, "etc/burstd.conf",
	    HEAD "cluster          = \"Falcon\"\ncurrency         = \"EUR\"\n\n"
		 "provider \"sim\" {\n\tdriver           = \"sim\"\n"
		 "\turl              = \"http://127.0.0.1:1\"\n}\n\n"
		 "pool \"cloud\" {\n\tprovider         = \"sim\"\n\tnodes            = \"c[1-4]\"\n"
		 "\ttype             = \"t\"\n\tregion           = \"r\"\n\tmax_nodes        = 4\n"
		 "\tmax_rate         = \"9\"\n}\n");
	stop(l);
}

static void test_a_file_that_is_there(void **state)
{
	struct lab *l = lab_new();
	char dir[64];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s/etc", l->dir);
	assert_int_equal(mkdir(dir, 0755), 0);
	lab_write(l, "etc/burstd.conf", "mine\n");
	lab_run(l, RUN "cluster=falcon currency=EUR " POOL, NULL, 0);
	lab_want(l, 1, "",
		 "burstd.conf is there: --replace writes a new one, and keeps it as .last-good");
	assert_false(is_there(l, "slurm.conf"));
	lab_run(l, RUN "--dry-run cluster=falcon currency=EUR " POOL, NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\nClusterName=falcon\n"));
	assert_null(strstr(l->out, "next:"));
	assert_false(is_there(l, "slurm.conf"));
	lab_run(l, RUN "--replace cluster=falcon currency=EUR " POOL, NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(
		strstr(l->out, "burstd.conf is written; as it was: .last-good beside it\n"));
	assert_true(is_there(l, "etc/burstd.conf.last-good"));
	stop(l);
}

static void test_as_json(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run(l,
		RUN
		"--dry-run --json cluster=falcon currency=EUR credential_file=/nonesuch/key " POOL,
		NULL, 0);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\"written\": false"));
	assert_non_null(strstr(l->out, "\"text\": \"# Written by"));
	assert_non_null(strstr(l->out, "\"sudo install -o slurm -m 600 YOUR-KEY /nonesuch/key\""));
	stop(l);
}

static const struct {
	const char *line, *err;
} bad_rows[] = {
	{"", "burstctl: these are needed, too:\nburstctl:   cluster=  Slurm's ClusterName\n"},
	{"", "  driver=  "},
	{"", "  type=  "},
	{"driver=lambda", "  ssh_key=  "},
	{"driver=none", "there is no driver \"none\""},
	{"driver=sim nonsense=1", "nonsense: no such option;"},
	{"subnets=1", "subnets: no such option without driver=;"},
	{"driver=sim pool.url=1", "pool.url: no such option;"},
	{"driver=sim budget.amount=1", "budget.amount: no such option;"},
	{"driver=sim cluster", "\"cluster\": want OPTION=VALUE"},
	{"driver=sim =1", "\"=1\": want OPTION=VALUE"},
	{"driver=sim provider=x", "provider: init names that section itself"},
	{"driver=sim type=a type=b", "type is given twice"},
	{"driver=sim region=a pool.region=b", "region is given twice"},
	{"driver=sim nodes=c[1-", "nodes=c[1-: "},
	{"--pool a/b driver=sim", "--pool: want a name"},
	{"cluster=a currency=EUR warm=x " POOL, "pool \"cloud\": warm: \"x\": want a number"},
	{"cluster=a currency=EUR max_nodes=1 warm=2 " POOL, "warm"},
};

static void test_bad_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_rows); i++) {
		struct lab *l = lab_new();
		char line[512];

		(void)snprintf(line, sizeof(line), RUN "%s", bad_rows[i].line);
		lab_run(l, line, NULL, 0);
		lab_want(l, 2, "", bad_rows[i].err);
		assert_false(is_there(l, "etc/burstd.conf"));
		assert_false(is_there(l, "slurm.conf"));
		stop(l);
	}
}

/* What two sections have is in both, a list is one, and quotes stay what they are. */
static void test_the_file(void **state)
{
	char text[] =
		"driver=aws\nregion=eu-north-1\nprovider.image=ami-\"1\\\nslurm.bin_dir=/opt/bin\n"
		"jurisdictions=DE,SE\ncheckpoint_command=/bin/save %j\njob_comment=true";
	char *words[8] = {strtok(text, "\n")};
	struct first_conf f;
	struct err e = {0};
	struct str s;

	(void)state;
	for (size_t i = 1; i < COUNT(words); i++)
		words[i] = strtok(NULL, "\n");
	str_init(&s, 4096);
	assert_int_equal(first_conf_init(&f, "p", words, &e), 0);
	assert_string_equal(first_conf_get(&f, "pool", "region"), "eu-north-1");
	assert_null(first_conf_get(&f, "", "cluster"));
	first_conf_write(&f, &s);
	assert_string_equal(
		s.p, HEAD
		"\nslurm {\n\tbin_dir          = \"/opt/bin\"\n}\n\n"
		"provider \"aws\" {\n\tdriver           = \"aws\"\n"
		"\tregion           = \"eu-north-1\"\n\timage            = \"ami-\\\"1\\\\\"\n}\n\n"
		"pool \"p\" {\n\tprovider         = \"aws\"\n\tregion           = \"eu-north-1\"\n"
		"\tjob_comment      = true\n"
		"\tcheckpoint_command = {\"/bin/save\", \"%j\"}\n"
		"\tjurisdictions    = {\"DE\", \"SE\"}\n}\n");
	str_fini(&s);
}

/* The pool's own image would say the same once more, and another driver's pools have none. */
static void test_an_image_is_that_of_the_provider(void **state)
{
	char driver[] = "driver=aws", image[] = "image=ami-1", pools[] = "pool.image=ami-2";
	char *words[] = {driver, image, NULL}, *both[] = {driver, image, pools, NULL};
	struct first_conf f;

	(void)state;
	assert_int_equal(first_conf_init(&f, "p", words, NULL), 0);
	assert_string_equal(first_conf_get(&f, "provider", "image"), "ami-1");
	assert_null(first_conf_get(&f, "pool", "image"));
	assert_int_equal(first_conf_init(&f, "p", both, NULL), 0);
	assert_string_equal(first_conf_get(&f, "provider", "image"), "ami-1");
	assert_string_equal(first_conf_get(&f, "pool", "image"), "ami-2");
}

/* Whatever the driver: with what is asked for it is a file that burstd takes. */
static void ask(void *ctx, const struct conf_option *o)
{
	struct str *s = ctx;
	const char *value = strcmp(o->name, "nodes") == 0      ? "c[1-4]"
			    : strcmp(o->name, "currency") == 0 ? "EUR"
			    : strcmp(o->name, "max_rate") == 0 ? "9"
							       : "word";

	str_addf(s, "%s%s.%s=%s", s->len > 0 ? " " : "", o->section, o->name, value);
}

static void test_each_driver(void **state)
{
	(void)state;
	for (size_t i = 0; provider_options[i] != NULL; i++) {
		struct lab *l = lab_new();
		struct first_conf f;
		struct err e = {0};
		struct str s;
		char driver[64], line[1024], *words[] = {driver, NULL};

		str_init(&s, 1024);
		(void)snprintf(driver, sizeof(driver), "driver=%s", provider_options[i]->name);
		assert_int_equal(first_conf_init(&f, "p", words, &e), 0);
		first_conf_missing(&f, ask, &s);
		(void)snprintf(line, sizeof(line), RUN "%s max_nodes=4 %s", driver, s.p);
		while (strstr(line, " .") != NULL) /* of the file's top */
			memmove(strstr(line, " .") + 1, strstr(line, " .") + 2,
				strlen(strstr(line, " .") + 2) + 1);
		lab_run(l, line, NULL, 0);
		if (l->rc != 0)
			print_error("%s: %s", line, l->err);
		assert_int_equal(l->rc, 0);
		str_fini(&s);
		stop(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_host),
		cmocka_unit_test(test_a_site),
		cmocka_unit_test(test_a_file_that_is_there),
		cmocka_unit_test(test_as_json),
		cmocka_unit_test(test_bad_words),
		cmocka_unit_test(test_the_file),
		cmocka_unit_test(test_an_image_is_that_of_the_provider),
		cmocka_unit_test(test_each_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
