#include "check_slurm.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/explain.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"
#include "check.h"
#include "io/conf_file.h"
#include "io/loop.h"
#include "io/proc.h"
#include "providers/options.h"
#include "slurm/feature.h"
#include "slurm/require.h"
#include "slurm/slurm.h"
#include "slurm/unknown.h"

enum { ANSWER_MAX = 1 << 20 }; /* bytes of JSON: SLURM_PROBLEMS_MAX of them have 40 KiB */

struct ask {
	struct loop *loop;
	struct proc *proc;
	const char *scontrol, *slurm_conf; /* slurm_conf: "SLURM_CONF=...", or NULL */
	struct str out;                    /* of the last question */
	struct err err;
	bool done;
};

/* --- asking ------------------------------------------------------------------------------------
 */

/* The scontrol to run, in path; false: there is none. */
static bool find_scontrol(const struct conf *conf, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	char *copy, *save = NULL;
	bool found = false;

	if (conf != NULL) {
		(void)snprintf(path, size, "%s/scontrol", conf->slurm_bin);
		if (access(path, X_OK) == 0)
			return true;
	}
	copy = mem_strdup(dirs != NULL ? dirs : "/usr/bin:/bin");
	for (char *dir = strtok_r(copy, ":", &save); dir != NULL && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		(void)snprintf(path, size, "%s/scontrol", dir);
		found = dir[0] == '/' && access(path, X_OK) == 0;
	}
	free(copy);
	return found;
}

/* The last line says what scontrol failed of. */
static char *last_line(const char *text)
{
	char *copy = mem_strdup(text), *last;
	size_t n = strlen(copy);

	while (n > 0 && copy[n - 1] == '\n')
		copy[--n] = '\0';
	last = strrchr(copy, '\n');
	if (last != NULL)
		memmove(copy, last + 1, strlen(last + 1) + 1);
	return copy;
}

static void on_done(void *ctx, const struct proc_reply *r, const struct err *e)
{
	struct ask *a = ctx;

	a->done = true;
	if (e != NULL) {
		a->err = *e;
	} else if (r->status != 0) {
		char *last = last_line(r->errors);

		(void)err_set(&a->err, ERR_NET, "exit status %d%s%s", r->status,
			      last[0] != '\0' ? ": " : "", last);
		free(last);
	} else {
		str_add(&a->out, r->out, r->len);
	}
	loop_stop(a->loop);
}

/* "scontrol ARG..."; its output is the caller's (str_fini()) in any case. */
static int ask(struct ask *a, const char *const *args, struct str *out, struct err *e)
{
	const char *const envp[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "SLURM_TIME_FORMAT=%s",
				    a->slurm_conf, NULL};
	const char *argv[8] = {a->scontrol};
	struct proc_call call = {.argv = argv,
				 .envp = envp,
				 .timeout_ms = SLURM_TIMEOUT_MS,
				 .max_out = SLURM_OUT_MAX};

	for (size_t i = 0; args[i] != NULL; i++)
		argv[i + 1] = args[i];
	str_init(&a->out, SLURM_OUT_MAX);
	a->err = (struct err){0};
	a->done = false;
	if (proc_run(a->proc, &call, on_done, a, &a->err) == 0)
		while (!a->done)
			loop_run(a->loop);
	*out = a->out;
	*e = a->err;
	return a->err.msg[0] != '\0' ? err_wrap(e, "%s", a->scontrol) : 0;
}

/* --- judging -----------------------------------------------------------------------------------
 */

struct texts { /* what slurmctld has said */
	struct str config, partitions;
	struct slurm_feature *features; /* of the nodes; NULL: no pool wants any */
	struct map unseen;              /* nodes of pools that it did not show */
	bool nodes;                     /* it has shown the nodes that it has */
};

static bool is_known(void *ctx, const char *node)
{
	return map_get(ctx, node) == NULL;
}

static int judge(const struct conf *conf, struct texts *t, struct slurm_report *out, struct err *e)
{
	size_t n = conf != NULL ? conf->npools : 0;
	struct slurm_need_pool *pools = mem_zalloc((n + 1) * sizeof(*pools));
	struct slurm_need need = {.cluster = conf != NULL ? conf->cluster : NULL,
				  .auth = conf != NULL ? conf_auth_type(conf) : NULL,
				  .pools = pools,
				  .npools = n};
	int rc;

	for (size_t i = 0; i < n; i++)
		pools[i] = (struct slurm_need_pool){.name = conf->pools[i].name,
						    .nodes = conf->pools[i].nodes,
						    .boot_ms = conf->pools[i].boot_ms,
						    .max_nodes = conf->pools[i].max_nodes,
						    .warm = conf->pools[i].warm,
						    .quantum_ms = conf->pools[i].quantum_ms};
	for (size_t i = 0; t->nodes && i < n; i++)
		if (!conf->pools[i].dynamic) /* burstd creates these when it runs */
			pools[i].unknown =
				slurm_unknown(conf->pools[i].nodes, is_known, &t->unseen);
	for (size_t i = 0; t->features != NULL && i < n; i++) {
		pools[i].features = t->features[i].wanted;
		pools[i].bare = t->features[i].bare[0] != '\0' ? t->features[i].bare : NULL;
	}
	if (conf != NULL)
		slurm_need_budgets(&need, conf->budgets, conf->nbudgets);
	rc = slurm_require((struct slurm_text){t->config.p, t->config.len},
			   (struct slurm_text){t->partitions.p, t->partitions.len}, &need, out, e);
	for (size_t i = 0; i < n; i++)
		free((char *)(uintptr_t)pools[i].unknown);
	free(pools);
	return rc;
}

struct nodes {
	const struct conf *conf;
	struct texts *t;
};

static void on_node(void *ctx, const struct slurm_node *n)
{
	const struct nodes *k = ctx;

	map_del(&k->t->unseen, n->name);
	if (k->t->features != NULL)
		slurm_features_look(k->t->features, k->conf, n);
}

/* 22.05 may hide all nodes, and prints no list then; another rule reports that. */
static void ask_nodes(struct ask *a, const struct conf *conf, struct texts *t)
{
	static const char *const args[] = {"-o", "show", "nodes", NULL};
	struct nodes nodes;
	struct str text;
	struct err e;

	if (conf == NULL)
		return;
	t->features = slurm_features_new(conf);
	nodes = (struct nodes){conf, t};
	for (size_t i = 0; i < conf->npools; i++)
		for (size_t k = 0; k < conf->pools[i].nodes->n; k++)
			map_put(&t->unseen, conf->pools[i].nodes->names[k], t);
	t->nodes = ask(a, args, &text, &e) == 0 &&
		   slurm_parse_nodes(text.p, text.len, on_node, &nodes, &e) > 0;
	str_fini(&text);
}

static int ask_all(struct ask *a, const struct conf *conf, struct slurm_report *out, struct err *e)
{
	static const char *const config_args[] = {"show", "config", NULL},
				 *const partition_args[] = {"-o", "show", "partitions", NULL};
	struct texts t = {.features = NULL};
	int rc = ask(a, config_args, &t.config, e);

	map_init(&t.unseen);

	if (rc == 0) {
		rc = ask(a, partition_args, &t.partitions, e);
		if (rc == 0) {
			ask_nodes(a, conf, &t);
			rc = judge(conf, &t, out, e);
		}
		str_fini(&t.partitions);
	}
	str_fini(&t.config);
	map_fini(&t.unseen);
	slurm_features_free(t.features, conf != NULL ? conf->npools : 0);
	return rc;
}

static int look(const struct conf *conf, struct slurm_report *out, struct err *e)
{
	char scontrol[PATH_MAX], slurm_conf[PATH_MAX + 16];
	const char *file =
		conf != NULL && conf->slurm_conf != NULL ? conf->slurm_conf : getenv("SLURM_CONF");
	struct ask a = {.scontrol = scontrol, .slurm_conf = file != NULL ? slurm_conf : NULL};
	int rc;

	if (!find_scontrol(conf, scontrol, sizeof(scontrol)))
		return err_set(e, ERR_NOTSENT, "there is no scontrol in %s%sPATH",
			       conf != NULL ? conf->slurm_bin : "", conf != NULL ? " or " : "");
	(void)snprintf(slurm_conf, sizeof(slurm_conf), "SLURM_CONF=%s", file != NULL ? file : "");
	if (loop_new(&a.loop, e) != 0)
		return -1;
	a.proc = proc_new(a.loop);
	rc = ask_all(&a, conf, out, e);
	proc_close(a.proc);
	loop_free(a.loop);
	return rc;
}

/* --- telling -----------------------------------------------------------------------------------
 */

/* Takes s. */
static void say(struct str *s)
{
	check_say(stdout, s->p);
	str_fini(s);
}

static void print_text(const struct slurm_report *r, const char *error)
{
	struct str s;

	if (error[0] != '\0') {
		str_init(&s, ANSWER_MAX);
		str_addf(&s, "slurm.conf: not checked, slurmctld does not answer: %s", error);
		say(&s);
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		str_init(&s, ANSWER_MAX);
		str_addf(&s, "slurm.conf: %s: ", slurm_severity_name(r->problems[i].severity));
		slurm_problem_print(&r->problems[i], &s);
		say(&s);
	}
	if (r->parameters[0] != '\0') {
		str_init(&s, ANSWER_MAX);
		str_addf(&s, "write: SlurmctldParameters=%s", r->parameters);
		say(&s);
	}
	if (r->n == 0)
		check_say(stdout, "ok: slurm.conf");
}

/* People may look at the JSON on a terminal, too: escape all but ASCII. */
static void print_ascii(const struct str *s)
{
	json_t *all = json_loadb(s->p, s->len, 0, NULL);

	if (all != NULL)
		(void)json_dumpf(all, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	(void)printf("\n");
	json_decref(all);
}

static void print_json(const struct slurm_report *r, const char *error, bool pools)
{
	struct str s;
	struct jsonw w = {.out = &s, .first = true};

	str_init(&s, ANSWER_MAX);
	jsonw_open(&w, NULL, '{');
	jsonw_text(&w, "error", error);
	jsonw_bool(&w, "pools", pools);
	if (error[0] == '\0') {
		jsonw_text(&w, "version", r->version.text);
		jsonw_open(&w, "slurm_conf", '[');
		for (size_t i = 0; i < r->n; i++)
			explain_put_slurm_problem(&w, &r->problems[i]);
		jsonw_close(&w, ']');
		jsonw_text(&w, "slurmctld_parameters", r->parameters);
	}
	jsonw_close(&w, '}');
	print_ascii(&s);
	str_fini(&s);
}

enum check_slurm check_slurm(const char *path, bool json)
{
	struct slurm_report *r = mem_zalloc(sizeof(*r));
	struct conf *conf = NULL;
	struct err e = {0};
	enum check_slurm verdict = CHECK_SLURM_SILENT;

	if (conf_file_load(&conf, path, provider_options, &e) != 0)
		conf = NULL; /* the check of the configuration says so */
	e = (struct err){0};
	if (look(conf, r, &e) == 0)
		verdict = r->by_severity[SLURM_ERROR] + r->by_severity[SLURM_WARNING] > 0
				  ? CHECK_SLURM_BAD
				  : CHECK_SLURM_GOOD;
	if (json)
		print_json(r, e.msg, conf != NULL);
	else
		print_text(r, e.msg);
	conf_free(conf);
	free(r);
	return verdict;
}
