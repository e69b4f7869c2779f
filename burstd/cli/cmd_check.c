#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/paths.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "core/conf.h"
#include "core/ladder.h"
#include "core/rates.h"
#include "io/conf_file.h"
#include "providers/options.h"

enum {
	ERRORS_MAX = 256 << 10, /* bytes of what burstd complains of: a line for each option */
	/* its exit statuses, see burstd(8) */
	BURSTD_SILENT = 69,
	BURSTD_BAD_CONF = 78,
};

/* --- burstd --check ------------------------------------------------------------------------------
 */

/* report: descriptor for its JSON about slurm.conf; -1: do not ask */
static pid_t start_burstd(const char *path, int errors, int report)
{
	const char *plain[] = {"burstd", "--check", "--", path, NULL};
	const char *slurm[] = {"burstd", "--check", "--slurm", "--json", "--", path, NULL};
	char found[PATH_MAX], **argv = (char **)(uintptr_t)(report >= 0 ? slurm : plain);
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int rc;

	if (posix_spawn_file_actions_init(&fa) != 0)
		return -1;
	if (report >= 0)
		(void)posix_spawn_file_actions_adddup2(&fa, report, STDOUT_FILENO);
	else
		(void)posix_spawn_file_actions_addopen(&fa, STDOUT_FILENO, "/dev/null", O_WRONLY,
						       0);
	(void)posix_spawn_file_actions_adddup2(&fa, errors, STDERR_FILENO);
	rc = posix_spawnp(&pid, cli_find_burstd(found, sizeof(found)), &fa, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&fa);
	return rc == 0 ? pid : -1;
}

/* Run it: its exit status, and what it said to standard error; -1: there is no burstd. */
static int run_burstd(const char *path, struct str *said, int report)
{
	int ends[2], status = 0;
	char chunk[4096];
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid = start_burstd(path, ends[1], report);
	(void)close(ends[1]);
	while (pid > 0 &&
	       ((n = read(ends[0], chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			str_add(said, chunk, (size_t)n);
	(void)close(ends[0]);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- config check --------------------------------------------------------------------------------
 */

struct verdict {
	json_t *problems, *notes; /* sentences */
	bool all;                 /* burstd has looked too */
	json_t *slurm;            /* what it says of slurm.conf; NULL: nothing */
};

static void add(json_t *list, const char *text)
{
	char *clean = out_clean(text);

	(void)json_array_append_new(list, json_string(clean)); /* none if it is not UTF-8 */
	free(clean);
}

/* The report on slurm.conf goes to a file in memory, so that it need not be read while standard
 * error is. */
static int run_with_report(struct verdict *v, const char *path, struct str *said)
{
	int fd = memfd_create("report", MFD_CLOEXEC), rc;
	FILE *f;

	if (fd < 0)
		return -1;
	rc = run_burstd(path, said, fd);
	f = fdopen(fd, "r");
	if (f == NULL) {
		(void)close(fd);
		return rc;
	}
	rewind(f);
	v->slurm = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL);
	(void)fclose(f);
	return rc;
}

/* Does the exit status say that burstd has checked everything?  With slurm.conf 1 and 69 do,
 * too. */
static bool is_answer(const struct verdict *v, int rc)
{
	return rc == 0 || rc == BURSTD_BAD_CONF ||
	       (v->slurm != NULL && (rc == 1 || rc == BURSTD_SILENT));
}

/* Let burstd check what the file alone does not show. */
static void ask_burstd(struct verdict *v, const char *path, bool slurm)
{
	char text[80], *save = NULL;
	struct str said;
	int rc;

	str_init(&said, ERRORS_MAX);
	rc = slurm ? run_with_report(v, path, &said) : run_burstd(path, &said, -1);
	v->all = is_answer(v, rc);
	for (char *line = strtok_r(said.p, "\n", &save); line != NULL && rc >= 0;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "note: ", 6) == 0)
			add(v->notes, line + 6);
		else
			add(v->problems, line);
	}
	(void)snprintf(text, sizeof(text), "burstd --check failed: exit status %d", rc);
	if (rc >= 0 && (!v->all || (rc == BURSTD_BAD_CONF && json_array_size(v->problems) == 0)))
		add(v->problems, text);
	if (rc < 0)
		add(v->notes, "only the file was checked: there is no burstd beside burstctl, in "
			      "../sbin or in PATH");
	str_fini(&said);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void print_good(const struct cli *c, const char *path, const struct conf *conf)
{
	out_text(&c->out, OUT_GOOD, "ok");
	(void)fprintf(c->out.f, ": %s: cluster %s, %zu provider%s, %zu pool%s, %zu node%s\n", path,
		      conf->cluster, conf->nproviders, plural(conf->nproviders), conf->npools,
		      plural(conf->npools), conf->by_node.n, plural(conf->by_node.n));
}

static void print_verdict(const struct cli *c, const struct verdict *v, const char *path,
			  const struct conf *conf)
{
	const json_t *row;

	for (size_t i = 0; (row = json_array_get(v->problems, i)) != NULL; i++)
		(void)cli_complain(CLI_FAILED, json_string_value(row));
	if (json_array_size(v->problems) == 0)
		print_good(c, path, conf);
	for (size_t i = 0; (row = json_array_get(v->notes, i)) != NULL; i++)
		(void)fprintf(c->out.f, "note: %s\n", json_string_value(row));
}

static void print_verdict_json(const struct cli *c, const struct verdict *v, const char *path,
			       const struct conf *conf)
{
	json_t *r = json_pack("{s:s, s:s, s:O, s:O}", "path", path, "checked",
			      v->all ? "all" : "file", "problems", v->problems, "notes", v->notes);

	if (conf != NULL)
		(void)json_object_update_new(r, json_pack("{s:s, s:I, s:I, s:I}", "cluster",
							  conf->cluster, "providers",
							  (json_int_t)conf->nproviders, "pools",
							  (json_int_t)conf->npools, "nodes",
							  (json_int_t)conf->by_node.n));
	cli_print_json(c, r);
	json_decref(r);
}

static int run_config_check(const struct cli *c, const void *args, char **operands)
{
	const char *path = operands[0] != NULL ? operands[0] : PATHS_CONF;
	struct verdict v = {json_array(), json_array(), false, NULL};
	struct conf *conf = NULL;
	struct err e = {0};
	int rc;

	(void)args;
	if (conf_file_load(&conf, path, provider_options, &e) != 0)
		add(v.problems, e.msg);
	else
		ask_burstd(&v, path, false);
	rc = json_array_size(v.problems) == 0 ? CLI_OK : CLI_FAILED;
	if (c->json)
		print_verdict_json(c, &v, path, conf);
	else
		print_verdict(c, &v, path, conf);
	conf_free(conf);
	json_decref(v.problems);
	json_decref(v.notes);
	return rc;
}

const struct cli_command cmd_config_check = {
	.name = "config check",
	.operands = "[FILE]",
	.max = 1,
	.local = true,
	.summary = "is this configuration good? burstd need not run",
	.about = "Without FILE: " PATHS_CONF ".  Each problem names the file and, where there is "
		 "one, the\n"
		 "line.  Drivers, credentials, programs and directories are checked by `burstd "
		 "--check`: the\n"
		 "burstd beside burstctl, in ../sbin or in PATH.  Run it as root or as burstd's "
		 "user.",
	.example = "burstctl config check /etc/burstd/burstd.conf && burstctl reload",
	.run = run_config_check,
};

/* --- check: slurm.conf too -----------------------------------------------------------------------
 */

static enum out_style style_of(const char *severity)
{
	return strcmp(severity, "error") == 0     ? OUT_BAD
	       : strcmp(severity, "warning") == 0 ? OUT_BUSY
						  : OUT_DIM;
}

/* How many of them are more than advice. */
static size_t serious(const json_t *slurm)
{
	const json_t *p;
	size_t n = 0;

	for (size_t i = 0; (p = cli_row(slurm, "slurm_conf", i)) != NULL; i++)
		n += strcmp(cli_text(p, "severity"), "advice") != 0;
	return n;
}

static void print_slurm_problem(const struct out *o, const json_t *p)
{
	const char *severity = cli_text(p, "severity");

	(void)fputs("  ", o->f);
	out_text(o, style_of(severity), severity);
	(void)fprintf(o->f, "%*s", 9 - (int)strlen(severity), "");
	out_text(o, OUT_BOLD, cli_text(p, "setting"));
	(void)fputs(" is ", o->f);
	out_text(o, OUT_PLAIN, cli_text(p, "found"));
	(void)fputs("; wanted: ", o->f);
	out_text(o, OUT_PLAIN, cli_text(p, "wanted"));
	(void)fputs("\n           ", o->f);
	out_text(o, OUT_PLAIN, cli_text(p, "why"));
	(void)fputc('\n', o->f);
}

static void print_slurm(const struct cli *c, const json_t *slurm)
{
	size_t n = json_array_size(json_object_get(slurm, "slurm_conf"));
	const json_t *p;

	if (slurm == NULL || cli_text(slurm, "error")[0] != '\0')
		return; /* complain() says so */
	out_text(&c->out, serious(slurm) == 0 ? OUT_GOOD : OUT_BAD,
		 serious(slurm) == 0 ? "ok" : "not ok");
	(void)fputs(": slurm.conf as slurmctld ", c->out.f);
	out_text(&c->out, OUT_PLAIN, cli_text(slurm, "version"));
	(void)fprintf(c->out.f, " has read it%s\n", n > 0 ? ":" : "");
	for (size_t i = 0; (p = cli_row(slurm, "slurm_conf", i)) != NULL; i++)
		print_slurm_problem(&c->out, p);
	if (cli_text(slurm, "slurmctld_parameters")[0] != '\0') {
		(void)fputs("  write    SlurmctldParameters=", c->out.f);
		out_text(&c->out, OUT_PLAIN, cli_text(slurm, "slurmctld_parameters"));
		(void)fputc('\n', c->out.f);
	}
	if (json_is_false(json_object_get(slurm, "pools")))
		(void)fputs("note: without a good configuration, what depends on pools was not "
			    "checked in slurm.conf\n",
			    c->out.f);
}

static void print_all_json(const struct cli *c, const struct verdict *v, const char *path)
{
	json_t *r = json_pack("{s:s, s:s, s:O, s:O}", "path", path, "checked",
			      v->all ? "all" : "file", "problems", v->problems, "notes", v->notes);
	const json_t *list = json_object_get(v->slurm, "slurm_conf");

	(void)json_object_set_new(r, "slurm_error", json_string(cli_text(v->slurm, "error")));
	if (list != NULL) {
		(void)json_object_set_new(r, "slurm_version",
					  json_string(cli_text(v->slurm, "version")));
		(void)json_object_set_new(r, "slurm_conf", json_deep_copy(list));
		(void)json_object_set_new(r, "slurmctld_parameters",
					  json_string(cli_text(v->slurm, "slurmctld_parameters")));
	}
	cli_print_json(c, r);
	json_decref(r);
}

static int judge(const struct verdict *v)
{
	if (json_array_size(v->problems) > 0 || v->slurm == NULL || serious(v->slurm) > 0)
		return CLI_FAILED;
	return cli_text(v->slurm, "error")[0] == '\0' ? CLI_OK : CLI_UNREACHABLE;
}

static void complain(const struct cli *c, const struct verdict *v, const char *path,
		     const struct conf *conf)
{
	char text[512];

	print_verdict(c, v, path, conf);
	(void)snprintf(text, sizeof(text),
		       "slurm.conf was not checked, slurmctld does not answer: %.400s",
		       cli_text(v->slurm, "error"));
	if (cli_text(v->slurm, "error")[0] != '\0')
		(void)cli_complain(CLI_UNREACHABLE, text);
	else if (v->slurm == NULL)
		(void)cli_complain(
			CLI_FAILED,
			"slurm.conf was not checked: the burstd program was not found or failed");
	print_slurm(c, v->slurm);
}

/* Load the file.  If it is bad, burstd has said so, if there is one. */
static void check_file(struct verdict *v, const char *path, struct conf **conf)
{
	struct err e = {0};

	if (conf_file_load(conf, path, provider_options, &e) != 0 &&
	    json_array_size(v->problems) == 0)
		add(v->problems, e.msg);
}

/* Report pools and providers that the file lacks, though the running burstd has nodes there: after
 * a restart they would be off. */
static void check_removed(const struct cli *c, struct verdict *v, const char *path,
			  const struct conf *conf)
{
	struct err e = {0};
	json_t *r = NULL;
	const json_t *row;
	char text[512];

	if (conf == NULL || cli_ask(c, json_pack("{s:s}", "op", "status"), &r, &e) != CLI_OK)
		return; /* burstd need not run */
	for (size_t i = 0; (row = cli_row(r, "pools", i)) != NULL; i++) {
		if (cli_int(row, "nodes") == 0 || conf_pool_named(conf, cli_text(row, "name")))
			continue;
		(void)snprintf(text, sizeof(text),
			       "%.200s: pool \"%.63s\" is not in it, and burstd has %" PRId64
			       " nodes of it: put it back, or nothing more is bought for it",
			       path, cli_text(row, "name"), cli_int(row, "nodes"));
		add(v->problems, text);
	}
	for (size_t i = 0; (row = cli_row(r, "providers", i)) != NULL; i++) {
		if (cli_int(row, "nodes") == 0 ||
		    conf_provider_named(conf, cli_text(row, "name")) < conf->nproviders)
			continue;
		(void)snprintf(text, sizeof(text),
			       "%.200s: provider \"%.63s\" is not in it, and burstd has %" PRId64
			       " nodes there: without it nobody can see or delete them",
			       path, cli_text(row, "name"), cli_int(row, "nodes"));
		add(v->problems, text);
	}
	json_decref(r);
}

/* Note what was added to budgets, or set, that the file does not have.  The newest will do. */
static void check_overrides(const struct cli *c, struct verdict *v, const char *path,
			    const struct conf *conf)
{
	struct err e = {0};
	json_t *r = NULL;
	const json_t *row;
	char text[512];

	if (conf == NULL ||
	    cli_ask(c, json_pack("{s:s}", "op", "budget-overrides"), &r, &e) != CLI_OK)
		return; /* burstd need not run, nor tell everybody */
	for (size_t i = 0; (row = cli_row(r, "overrides", i)) != NULL; i++) {
		const char *budget = cli_text(row, "budget"), *value = cli_text(row, "value");
		const char *why = conf_budget_lacks(conf, budget, value);

		if (why == NULL)
			continue;
		(void)snprintf(text, sizeof(text),
			       "%.200s: override %" PRId64
			       " of budget %.63s%s%.63s has no effect with it: %s",
			       path, cli_int(row, "id"), budget, value[0] != '\0' ? "/" : "", value,
			       why);
		add(v->notes, text);
	}
	json_decref(r);
}

/* What a provider charges for an offer, as burstd has it; < 0: it is not sold. */
static int64_t price_of(const json_t *pool, const char *offer)
{
	int64_t price;
	const json_t *row;

	for (size_t i = 0; (row = cli_row(pool, "offers", i)) != NULL; i++) {
		if (strcmp(cli_text(row, "offer"), offer) != 0)
			continue;
		if (fmt_money_parse(cli_text(row, "price"), &price, NULL) == 0 && price > 0)
			return price;
		return strcmp(cli_text(row, "cause"), "not-offered") == 0 ? -1 : 0;
	}
	return 0;
}

/* The pool's cheapest node, by what its providers charge; 0: not known. */
static int64_t cheapest(const struct conf *conf, const struct conf_pool *p, const json_t *pool)
{
	struct ladder_known known[CONF_OFFERS_MAX] = {{.price = 0}};
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++) {
		known[i].price = price_of(pool, rungs[i].name);
		known[i].agreed = rates_price(conf, &rungs[i], clock_wall_ms());
	}
	return ladder_cheapest(conf, p, known);
}

static bool is_unpriced(const struct conf *conf, const struct conf_pool *p)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++)
		if (rates_set_price(conf, &rungs[i], clock_wall_ms()) == 0)
			return true;
	return false;
}

/* Only a burstd that runs has asked providers for prices: say what was left out without it. */
static void note_unpriced(struct verdict *v, const struct conf *conf)
{
	const char *first = NULL;
	size_t n = 0;
	char text[256];

	for (size_t i = 0; i < conf->npools; i++) {
		if (!is_unpriced(conf, &conf->pools[i]))
			continue;
		first = first != NULL ? first : conf->pools[i].name;
		n++;
	}
	if (n == 0)
		return;
	(void)snprintf(text, sizeof(text),
		       "burstd does not answer, and only it knows what providers charge: the price "
		       "limit of pool \"%.63s\"%s was not compared with that",
		       first, n > 1 ? " and others" : "");
	add(v->notes, text);
}

static void check_price(struct verdict *v, const char *path, const struct conf *conf,
			const struct conf_pool *p, int64_t least)
{
	const char *option;
	int64_t limit = conf_pool_dearest(p, &option);
	char text[512], price[FMT_MONEY_SIZE], most[FMT_MONEY_SIZE];

	if (least <= limit)
		return;
	(void)snprintf(text, sizeof(text),
		       "%.200s:%d: pool \"%.63s\": %s is %s %s per hour, and its cheapest node "
		       "costs %s: nothing can be bought",
		       path, p->line, p->name, option, fmt_money(most, limit), conf->currency,
		       fmt_money(price, least));
	add(v->problems, text);
}

/* Compare limits with providers' prices, which no file has. */
static void check_prices(const struct cli *c, struct verdict *v, const char *path,
			 const struct conf *conf)
{
	struct err e = {0};
	json_t *r = NULL;
	const json_t *row;

	if (conf == NULL)
		return;
	if (cli_ask(c, json_pack("{s:s}", "op", "pools"), &r, &e) != CLI_OK) {
		note_unpriced(v, conf);
		return;
	}
	for (size_t i = 0; (row = cli_row(r, "pools", i)) != NULL; i++) {
		const struct conf_pool *p = conf_pool_named(conf, cli_text(row, "name"));

		if (p != NULL)
			check_price(v, path, conf, p, cheapest(conf, p, row));
	}
	json_decref(r);
}

static int run_check(const struct cli *c, const void *args, char **operands)
{
	const char *path = operands[0] != NULL ? operands[0] : PATHS_CONF;
	struct verdict v = {json_array(), json_array(), false, NULL};
	struct conf *conf = NULL;
	int rc;

	(void)args;
	ask_burstd(&v, path, true);
	check_file(&v, path, &conf);
	check_removed(c, &v, path, conf);
	check_overrides(c, &v, path, conf);
	check_prices(c, &v, path, conf);
	rc = judge(&v);
	if (c->json)
		print_all_json(c, &v, path);
	else
		complain(c, &v, path, conf);
	conf_free(conf);
	json_decref(v.problems);
	json_decref(v.notes);
	json_decref(v.slurm);
	return rc;
}

const struct cli_command cmd_check = {
	.name = "check",
	.operands = "[FILE]",
	.max = 1,
	.local = true,
	.summary = "check burstd.conf and slurm.conf; burstd need not run",
	.about = "Checks what `config check` does, and the settings that slurmctld "
		 "uses, which it asks by scontrol.  Each wrong setting is shown with "
		 "its value, the value it must have, and why.  Only a running burstd "
		 "has its providers' prices to compare limits with.  Advice alone is no "
		 "failure.",
	.example = "burstctl check",
	.folds = true,
	.run = run_check,
};
