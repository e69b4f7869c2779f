/* A first burstd.conf and, where there is no slurm.conf, a first one of these, too. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "base/own_file.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/first_conf.h"
#include "cli/slurm_files.h"
#include "cli/slurm_found.h"
#include "core/conf.h"
#include "io/conf_file.h"
#include "providers/options.h"
#include "slurmconf/source.h"

enum { TEXT_MAX = 1 << 20 };

struct init_args {
	bool replace, dry_run;
	const char *file, *pool, *slurm_conf;
};

static const struct init_args init_initial = {.file = PATHS_CONF, .pool = "cloud"};

struct first_file { /* one of the two */
	const char *path;
	char *old;
	size_t old_len;
	struct str text; /* "" if it is not to be written */
};

struct init {
	const struct cli *c;
	const struct init_args *args;
	struct first_conf words;
	struct first_file burstd, slurm;
	char *cluster;     /* "cluster=" and slurm.conf's ClusterName; NULL: it has none */
	char *max_nodes;   /* "max_nodes=" and how many names there are */
	struct conf *conf; /* what the new burstd.conf comes to */
	size_t missing;
};

/* --- what is there -------------------------------------------------------------------------------
 */

static int take_cluster(void *ctx, const struct slurmconf_line *l, struct err *e)
{
	static const char key[] = "cluster=";
	const struct slurmconf_pair *p = slurmconf_line_get(l, "ClusterName");
	struct init *j = ctx;

	(void)e;
	if (p == NULL)
		return 0;
	free(j->cluster);
	j->cluster = mem_zalloc(sizeof(key) + p->value.n);
	memcpy(j->cluster, key, sizeof(key) - 1);
	memcpy(j->cluster + sizeof(key) - 1, p->value.p, p->value.n);
	return 0;
}

static int read_slurm_conf(struct init *j, struct err *e)
{
	struct slurmconf_sources files;
	int rc;

	if (access(j->slurm.path, F_OK) != 0)
		return 0;
	if (slurmconf_sources_load(&files, j->slurm.path, slurm_files_read, NULL, e) != 0)
		return -1;
	rc = slurmconf_sources_walk(&files, take_cluster, j, e);
	slurmconf_sources_fini(&files);
	return rc;
}

static int read_burstd_conf(struct init *j, struct err *e)
{
	if (slurm_files_read_or_none(NULL, j->burstd.path, &j->burstd.old, &j->burstd.old_len, e) !=
	    0)
		return -1;
	if (access(j->burstd.path, F_OK) == 0 && !j->args->replace && !j->args->dry_run)
		return err_set(e, ERR_INVALID,
			       "%.200s is there: --replace writes a new one, and keeps it as "
			       ".last-good beside it",
			       j->burstd.path);
	return 0;
}

/* --- burstd.conf ---------------------------------------------------------------------------------
 */

static void complain_missing(void *ctx, const struct conf_option *o)
{
	struct init *j = ctx;
	char line[512];

	if (j->missing++ == 0)
		(void)cli_complain(CLI_USAGE, "these are needed, too:");
	(void)snprintf(line, sizeof(line), "  %s=  %s", o->name, o->help);
	(void)cli_complain(CLI_USAGE, line);
}

static int fill_in_cluster(struct init *j, struct err *e)
{
	const char *given = first_conf_get(&j->words, "", "cluster");
	const char *known = j->cluster != NULL ? strchr(j->cluster, '=') + 1 : NULL;

	if (given == NULL && known != NULL)
		first_conf_add(&j->words, "", "cluster", j->cluster);
	else if (given != NULL && known != NULL && strcasecmp(given, known) != 0)
		return err_set(e, ERR_INVALID, "cluster=%.60s: ClusterName is %.60s in %.200s",
			       given, known, j->slurm.path);
	return 0;
}

/* As many as there are names. */
static int fill_in_max_nodes(struct init *j, struct err *e)
{
	const char *names = first_conf_get(&j->words, "pool", "nodes");
	struct hostlist *list;

	if (names == NULL || first_conf_get(&j->words, "pool", "max_nodes") != NULL)
		return 0;
	if (hostlist_parse(&list, names, strlen(names), e) != 0)
		return err_wrap(e, "nodes=%.100s", names);
	j->max_nodes = mem_zalloc(32);
	(void)snprintf(j->max_nodes, 32, "max_nodes=%zu", list->n);
	hostlist_free(list);
	first_conf_add(&j->words, "pool", "max_nodes", j->max_nodes);
	return 0;
}

/* CLI_OK: j->burstd.text is a file that burstd takes. */
static int make_burstd_conf(struct init *j, char **operands)
{
	struct err e = {0};

	if (!hostlist_is_name(j->args->pool))
		return cli_complain(CLI_USAGE, "--pool: want a name, such as cloud");
	if (first_conf_init(&j->words, j->args->pool, operands, &e) != 0 ||
	    fill_in_cluster(j, &e) != 0 || fill_in_max_nodes(j, &e) != 0)
		return cli_complain(CLI_USAGE, e.msg);
	first_conf_missing(&j->words, complain_missing, j);
	if (j->missing > 0)
		return CLI_USAGE;
	first_conf_write(&j->words, &j->burstd.text);
	if (conf_file_parse(&j->conf, j->burstd.path, j->burstd.text.p, provider_options, &e) != 0)
		return cli_complain(CLI_USAGE, e.msg);
	return CLI_OK;
}

/* --- slurm.conf ----------------------------------------------------------------------------------
 */

/* A controller alone: `burstctl slurm-conf` adds burstd's nodes and programs. */
static int make_slurm_conf(struct init *j, struct err *e)
{
	char host[HOST_NAME_MAX + 1] = "";

	if (access(j->slurm.path, F_OK) == 0)
		return 0;
	if (gethostname(host, sizeof(host) - 1) != 0)
		return err_set(e, ERR_IO, "the host has no name");
	host[strcspn(host, ".")] = '\0';
	str_addf(&j->slurm.text,
		 "# Written by `burstctl init`: a controller without nodes of its own.\n"
		 "ClusterName=%s\n"
		 "SlurmctldHost=%s\n"
		 "SlurmUser=slurm\n"
		 "AuthType=auth/munge\n"
		 "StateSaveLocation=/var/lib/slurm/slurmctld\n"
		 "SlurmdSpoolDir=/var/lib/slurm/slurmd\n"
		 "SlurmctldLogFile=/var/log/slurm/slurmctld.log\n"
		 "SlurmdLogFile=/var/log/slurm/slurmd.log\n"
		 "SelectType=select/cons_tres\n"
		 "SelectTypeParameters=CR_Core\n",
		 j->conf->cluster, host);
	return 0;
}

/* --- what is written, and said -------------------------------------------------------------------
 */

/* The directory of burstd.conf comes with it; that of slurm.conf is Slurm's. */
static int make_directory(const char *path, struct err *e)
{
	const char *name;
	char *parent = own_file_split(path, &name);
	int rc = mkdir(parent, 0755) == 0 || errno == EEXIST
			 ? 0
			 : err_set(e, err_of_errno(errno), "%.200s: %s", parent, strerror(errno));

	free(parent);
	return rc;
}

static int put(const struct first_file *f, struct err *e)
{
	struct slurm_files_change c = {.path = f->path,
				       .old = f->old != NULL ? f->old : "",
				       .old_len = f->old_len,
				       .text = f->text.p,
				       .len = f->text.len};

	return f->text.len == 0 ? 0 : slurm_files_write(&c, e);
}

static void say_file(const struct init *j, const struct first_file *f)
{
	if (f->text.len == 0)
		return;
	if (j->args->dry_run)
		(void)fprintf(j->c->out.f, "--- %s\n%s", f->path, f->text.p);
	else
		(void)fprintf(j->c->out.f, "%s is written%s\n", f->path,
			      f->old_len > 0 ? "; as it was: .last-good beside it" : "");
}

typedef void (*step_fn)(const struct init *j, json_t *list, const char *step);

static void say_step(const struct init *j, json_t *list, const char *step)
{
	(void)list;
	out_text(&j->c->out, OUT_PLAIN, "  ");
	out_text(&j->c->out, OUT_PLAIN, step);
	(void)fputc('\n', j->c->out.f);
}

static void list_step(const struct init *j, json_t *list, const char *step)
{
	(void)j;
	(void)json_array_append_new(list, json_string(step));
}

static void each_step(const struct init *j, json_t *list, step_fn fn)
{
	const struct conf_provider *p = &j->conf->providers[0];
	const char *file = p->credential_file;
	char step[PATH_MAX + 128];

	if (file != NULL && file[0] != '\0' && access(file, F_OK) != 0) {
		(void)snprintf(step, sizeof(step), "sudo install -o slurm -m 600 YOUR-KEY %.3000s",
			       file);
		fn(j, list, step);
	}
	(void)snprintf(step, sizeof(step), "sudo burstctl provider check %s", p->name);
	fn(j, list, step);
	fn(j, list, "sudo burstctl slurm-conf --write");
	fn(j, list, "sudo systemctl restart slurmctld");
	fn(j, list, "sudo systemctl enable --now burstd");
	(void)snprintf(step, sizeof(step), "srun -p %s -N1 hostname", j->args->pool);
	fn(j, list, step);
}

static void say(const struct init *j)
{
	say_file(j, &j->burstd);
	say_file(j, &j->slurm);
	if (j->args->dry_run)
		return;
	(void)fputs("next:\n", j->c->out.f);
	each_step(j, NULL, say_step);
}

static void say_json(const struct init *j)
{
	const struct first_file *const files[] = {&j->burstd, &j->slurm};
	json_t *list = json_array(), *steps = json_array(), *r;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i]->text.len > 0)
			(void)json_array_append_new(list,
						    json_pack("{s:s, s:s}", "path", files[i]->path,
							      "text", files[i]->text.p));
	each_step(j, steps, list_step);
	r = mem_check(json_pack("{s:o, s:o, s:b}", "files", list, "next", steps, "written",
				!j->args->dry_run));
	cli_print_json(j->c, r);
	json_decref(r);
}

/* --- the command ---------------------------------------------------------------------------------
 */

static int run(struct init *j, char **operands)
{
	struct err e = {0};
	int rc;

	if (read_slurm_conf(j, &e) != 0 || read_burstd_conf(j, &e) != 0)
		return cli_complain(CLI_FAILED, e.msg);
	rc = make_burstd_conf(j, operands);
	if (rc != CLI_OK)
		return rc;
	if (make_slurm_conf(j, &e) != 0)
		return cli_complain(CLI_FAILED, e.msg);
	/* slurm.conf first: if it cannot be written, all is as it was. */
	if (!j->args->dry_run && (make_directory(j->burstd.path, &e) != 0 ||
				  put(&j->slurm, &e) != 0 || put(&j->burstd, &e) != 0))
		return cli_complain(CLI_FAILED, e.msg);
	if (j->c->json)
		say_json(j);
	else
		say(j);
	return CLI_OK;
}

static int run_init(const struct cli *c, const void *args, char **operands)
{
	struct init j = {.c = c, .args = args};
	int rc;

	j.burstd.path = j.args->file;
	j.slurm.path = slurm_found_conf(j.args->slurm_conf, NULL);
	str_init(&j.burstd.text, TEXT_MAX);
	str_init(&j.slurm.text, TEXT_MAX);
	rc = run(&j, operands);
	conf_free(j.conf);
	str_fini(&j.burstd.text);
	str_fini(&j.slurm.text);
	free(j.burstd.old);
	free(j.cluster);
	free(j.max_nodes);
	return rc;
}

#define AT(field) offsetof(struct init_args, field)

static const struct opt init_opts[] = {
	{"file", 'f', OPT_TEXT, "PATH", "the file to write (default " PATHS_CONF ")", AT(file), 0,
	 0},
	{"pool", 0, OPT_TEXT, "WORD", "name of the pool, and of its partition (default cloud)",
	 AT(pool), 0, 0},
	{"slurm-conf", 0, OPT_TEXT, "PATH",
	 "slurm.conf; else as SLURM_CONF says, or /etc/slurm/slurm.conf", AT(slurm_conf), 0, 0},
	{"replace", 0, OPT_FLAG, NULL,
	 "write it although there is one, which is kept as .last-good", AT(replace), 0, 0},
	{"dry-run", 0, OPT_FLAG, NULL, "print what would be written", AT(dry_run), 0, 0},
};

#undef AT

const struct cli_command cmd_init = {
	.name = "init",
	.operands = "OPTION=VALUE...",
	.max = FIRST_CONF_WORDS_MAX,
	.local = true,
	.summary = "write a first burstd.conf, and slurm.conf where there is none",
	.about = "One provider, and one pool of it.  OPTION is one of burstd.conf(5): driver "
		 "and the driver's own, nodes, type, region, max_rate and others of a pool; of "
		 "other sections with its name, such as slurm.bin_dir.  cluster is slurm.conf's "
		 "ClusterName.  What is needed and missing is listed; without OPTION, what "
		 "every cluster needs.  A slurm.conf that is there is not touched: burstctl "
		 "slurm-conf "
		 "adds burstd's nodes.",
	.example = "burstctl init --dry-run driver=aws region=eu-north-1",
	.opts = init_opts,
	.nopts = sizeof(init_opts) / sizeof(init_opts[0]),
	.initial = &init_initial,
	.size = sizeof(init_initial),
	.run = run_init,
};
