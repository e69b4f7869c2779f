/* What slurm.conf, gres.conf, topology.conf and cgroup.conf need for burstd's pools: shown,
 * compared with what they have, or written, once a slurmctld has started with it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/slurm_conf_private.h"
#include "cli/slurm_files.h"
#include "cli/slurm_found.h"
#include "cli/slurm_proof.h"
#include "cli/slurm_running.h"
#include "cli/slurm_types.h"
#include "io/conf_file.h"
#include "providers/options.h"
#include "slurm/version.h"
#include "slurmconf/cgroup.h"
#include "slurmconf/live.h"
#include "slurmconf/money.h"
#include "slurmconf/topo.h"
#include "slurmconf/topo_kept.h"
#include "slurmconf/want.h"

enum { SAID_MAX = 16 << 10 };

static const struct slurm_conf_args slurm_conf_initial = {.diff = false};

static struct slurmconf_trees files_of(const struct slurm_conf_job *j)
{
	return (struct slurmconf_trees){.slurm = &j->trees[SLURM_CONF_SLURM].files,
					.gres = &j->trees[SLURM_CONF_GRES].files,
					.topology = &j->trees[SLURM_CONF_TOPOLOGY].files,
					.cgroup = &j->trees[SLURM_CONF_CGROUP].files};
}

/* --- what is there -------------------------------------------------------------------------------
 */

static int find_version(struct slurm_conf_job *j, struct err *e)
{
	char scontrol[PATH_MAX];

	if (j->args->slurmctld != NULL)
		(void)snprintf(j->slurmctld, sizeof(j->slurmctld), "%s", j->args->slurmctld);
	else
		slurm_found_slurmctld(j->conf->slurm_bin, j->slurmctld);
	if (j->slurmctld[0] != '\0')
		return slurm_found_version(j->slurmctld, &j->version, e);
	(void)snprintf(scontrol, sizeof(scontrol), "%.3000s/scontrol", j->conf->slurm_bin);
	return slurm_found_version(scontrol, &j->version, e);
}

static char *beside(const char *path, const char *name)
{
	return slurmconf_include_path(path, NULL, (struct slurm_text){name, strlen(name)});
}

static void find_files(struct slurm_conf_job *j)
{
	const char *path = slurm_found_conf(j->args->slurm_conf, j->conf->slurm_conf);

	j->paths[SLURM_CONF_SLURM] = mem_strdup(path);
	j->paths[SLURM_CONF_GRES] = beside(path, "gres.conf");
	j->paths[SLURM_CONF_TOPOLOGY] = beside(path, "topology.conf");
	j->paths[SLURM_CONF_CGROUP] = beside(path, "cgroup.conf");
}

/* --- what is wanted ------------------------------------------------------------------------------
 */

static bool is_there(const struct slurm_conf_tree *t)
{
	return slurm_conf_ours(t)->block.state != SLURMCONF_BLOCK_NONE;
}

/* A block that needs no line is made nowhere, and emptied where it is. */
static void compare(struct slurm_conf_tree *t)
{
	const struct slurmconf_source *x = slurm_conf_ours(t);

	t->old = is_there(t) ? slurmconf_block_body(&x->file, &x->block) : mem_strdup("");
	t->changed = strcmp(t->old, t->body) != 0;
	str_init(&t->text, 2 * SLURMCONF_FILE_MAX);
	if (t->changed || x->block.state == SLURMCONF_BLOCK_EDITED)
		slurmconf_block_put(&t->text, &x->file, &x->block, t->body);
	else
		str_add(&t->text, x->file.text, x->file.len);
}

static void look_for_edits(struct slurm_conf_job *j, const struct slurm_conf_tree *t)
{
	const struct slurmconf_block *b = &slurm_conf_ours(t)->block;

	if (b->state == SLURMCONF_BLOCK_EDITED)
		slurmconf_find(&j->findings, j->args->discard ? SLURM_WARNING : SLURM_ERROR,
			       (struct slurmconf_place){slurm_conf_ours(t)->file.path, b->line},
			       "burstd's lines were edited by hand: put what you need outside of "
			       "the block; --discard-edits drops the edits");
}

static char *body_of(void (*want)(const struct slurmconf_want *, struct str *),
		     const struct slurmconf_want *w)
{
	struct str s;

	str_init(&s, SLURMCONF_BODY_MAX);
	want(w, &s);
	return str_take(&s);
}

static int read_all(struct slurm_conf_job *j, struct err *e)
{
	for (size_t i = 0; i < SLURM_CONF_NTREES; i++)
		if (slurmconf_sources_load(&j->trees[i].files, j->paths[i],
					   i == SLURM_CONF_SLURM ? slurm_files_read
								 : slurm_files_read_or_none,
					   NULL, e) != 0)
			return -1;
	return 0;
}

static int read_topology(struct slurm_conf_job *j, struct err *e)
{
	char *yaml = beside(j->paths[SLURM_CONF_SLURM], "topology.yaml");
	const struct slurmconf_topo_in in = {&j->site, &j->trees[SLURM_CONF_TOPOLOGY].files,
					     &j->version, access(yaml, F_OK) == 0 ? yaml : NULL};
	int rc = slurmconf_topo_init(&j->topo, &in, e);

	j->yaml = yaml; /* findings may name it */
	return rc;
}

static int want_cgroup(struct slurm_conf_job *j, const struct slurmconf_want *w, struct err *e)
{
	struct slurm_conf_tree *t = &j->trees[SLURM_CONF_CGROUP];
	struct str s;
	int rc;

	str_init(&s, SLURMCONF_BODY_MAX);
	rc = slurmconf_want_cgroup(w, &t->files, &s, e);
	t->body = str_take(&s);
	return rc;
}

/* A new topology.conf can end the slurmctld that runs, and one that is only tried does not see it.
 */
static bool is_to_ask(const struct slurm_conf_job *j)
{
	if (j->args->offline)
		return false;
	return j->args->check || (j->args->write && slurmconf_topo_keeps(&j->topo) &&
				  slurm_conf_is_to_write(&j->trees[SLURM_CONF_TOPOLOGY]));
}

static void look_at_nodes(struct slurm_conf_job *j, struct slurm_text nodes)
{
	const struct slurm_conf_tree *t = &j->trees[SLURM_CONF_TOPOLOGY];
	const struct slurmconf_source *x = slurm_conf_ours(t);

	if (slurmconf_topo_keeps(&j->topo))
		slurmconf_topo_kept(&j->topo, t->body, nodes,
				    (struct slurmconf_place){x->file.path, x->block.line});
}

/* How the slurmctld that runs differs from the files.  That it does not answer is no failure of
 * this command: *silent has it. */
static void look_at_slurmctld(struct slurm_conf_job *j, const struct slurmconf_want *w)
{
	struct slurm_running a = {.bin = j->conf->slurm_bin,
				  .slurm_conf = j->paths[SLURM_CONF_SLURM]};

	j->asked = true;
	if (slurm_running_ask(&a, &j->silent) == 0) {
		const struct slurmconf_live_said said = {
			.config = {a.said[0].p, a.said[0].len},
			.partitions = {a.said[1].p, a.said[1].len},
			.nodes = {a.said[2].p, a.said[2].len},
		};

		look_at_nodes(j, said.nodes);
		if (j->args->check)
			(void)slurmconf_live(w, &j->trees[SLURM_CONF_SLURM].files, &said, &j->live,
					     &j->silent);
	}
	slurm_running_fini(&a);
}

static void compare_types(const struct slurm_conf_job *j, const struct slurmconf_want *w)
{
	struct slurm_types t;

	slurm_types_ask(&t, j->conf, j->conf_path);
	slurmconf_types(w, t.v, t.n);
	slurm_types_fini(&t);
}

static int want_all(struct slurm_conf_job *j, struct err *e)
{
	const struct slurmconf_trees files = files_of(j);
	const struct slurmconf_want w = {.conf = j->conf,
					 .site = &j->site,
					 .version = &j->version,
					 .programs = j->programs,
					 .findings = &j->findings,
					 .now_ms = clock_wall_ms()};
	struct str topology;

	if (read_all(j, e) != 0 ||
	    slurmconf_site_init(&j->site, j->conf, &files, &j->findings, e) != 0 ||
	    read_topology(j, e) != 0)
		return -1;
	j->trees[SLURM_CONF_SLURM].body = body_of(slurmconf_want_slurm, &w);
	j->trees[SLURM_CONF_GRES].body = body_of(slurmconf_want_gres, &w);
	str_init(&topology, SLURMCONF_BODY_MAX);
	slurmconf_want_topo(&j->topo, &topology);
	j->trees[SLURM_CONF_TOPOLOGY].body = str_take(&topology);
	if (want_cgroup(j, &w, e) != 0)
		return -1;
	slurmconf_dangers(&w);
	slurmconf_money(&w);
	if (j->args->ask)
		compare_types(j, &w);
	j->commands = body_of(slurmconf_sacctmgr, &w);
	for (size_t i = 0; i < SLURM_CONF_NTREES; i++) {
		compare(&j->trees[i]);
		look_for_edits(j, &j->trees[i]);
		if (j->trees[i].text.full)
			return err_set(e, ERR_LIMIT, "%.200s would be too large", j->paths[i]);
	}
	if (is_to_ask(j))
		look_at_slurmctld(j, &w);
	return 0;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static struct slurm_files_change change_of(const struct slurm_conf_job *j,
					   const struct slurm_conf_tree *t)
{
	const struct slurmconf_file *f = &slurm_conf_ours(t)->file;

	return (struct slurm_files_change){.path = f->path,
					   .old = f->text,
					   .old_len = f->len,
					   .text = t->text.p,
					   .len = t->text.len,
					   .like = j->paths[SLURM_CONF_SLURM]};
}

static int prove(struct slurm_conf_job *j)
{
	const struct slurm_proof p = {.slurmctld = j->slurmctld,
				      .files = files_of(j),
				      .slurm_text = j->trees[SLURM_CONF_SLURM].text.p,
				      .gres_text = j->trees[SLURM_CONF_GRES].text.p,
				      .topology_text = j->trees[SLURM_CONF_TOPOLOGY].text.p,
				      .cgroup_text = j->trees[SLURM_CONF_CGROUP].text.p};
	enum slurm_proved proved;
	struct err e = {0};
	struct str said;

	if (j->slurmctld[0] == '\0')
		return cli_complain(CLI_FAILED, "there is no slurmctld on this machine to try it; "
						"--unproved writes all the same");
	str_init(&said, SAID_MAX);
	proved = slurm_proof_run(&p, &said, &e);
	j->proved = proved == SLURM_PROVED;
	if (proved == SLURM_REFUTED) {
		char *save = NULL;

		(void)cli_complain(CLI_FAILED, "nothing was written: a slurmctld that was tried "
					       "with it ended, and said:");
		for (char *line = strtok_r(said.p, "\n", &save); line != NULL;
		     line = strtok_r(NULL, "\n", &save))
			(void)cli_complain(CLI_FAILED, line);
	} else if (proved == SLURM_UNTRIED) {
		(void)err_wrap(&e, "nothing was written, it could not be tried");
		(void)cli_complain(CLI_FAILED, e.msg);
	}
	str_fini(&said);
	return j->proved ? CLI_OK : CLI_FAILED;
}

/* slurm.conf last, since it may need the others. */
static int put_files(struct slurm_files_change *v, size_t n, struct err *e)
{
	struct err back = {0};
	size_t done = 0;

	for (size_t i = 0; i < n; i++)
		if (slurm_files_prepare(&v[i], e) != 0)
			return -1;
	while (done < n && slurm_files_commit(&v[done], e) == 0)
		done++;
	if (done == n)
		return 0;
	while (done > 0)
		if (slurm_files_restore(&v[--done], &back) != 0)
			(void)cli_complain(CLI_FAILED, back.msg);
	return -1;
}

/* All files or none. */
static int write_files(struct slurm_conf_job *j)
{
	struct slurm_files_change v[SLURM_CONF_NTREES];
	struct err e = {0};
	size_t n = 0;

	for (size_t i = SLURM_CONF_NTREES; i > 0; i--)
		if (slurm_conf_is_to_write(&j->trees[i - 1]))
			v[n++] = change_of(j, &j->trees[i - 1]);
	j->written = put_files(v, n, &e) == 0;
	for (size_t i = 0; i < n; i++)
		slurm_files_drop(&v[i]);
	return j->written ? CLI_OK : cli_complain(CLI_FAILED, e.msg);
}

static int write_all(struct slurm_conf_job *j)
{
	int rc = CLI_OK;

	if (j->findings.by_severity[SLURM_ERROR] > 0)
		return cli_complain(CLI_FAILED, "nothing was written: mend the errors first");
	if (!slurm_conf_differs(j))
		return CLI_OK;
	if (!j->args->unproved)
		rc = prove(j);
	if (rc == CLI_OK)
		rc = write_files(j);
	return rc;
}

static void say_written(const struct slurm_conf_job *j)
{
	for (size_t i = 0; i < SLURM_CONF_NTREES && j->written; i++)
		if (slurm_conf_is_to_write(&j->trees[i]))
			(void)fprintf(j->c->out.f, "%s is written%s\n",
				      slurm_conf_ours(&j->trees[i])->file.path,
				      slurm_conf_ours(&j->trees[i])->file.len > 0
					      ? "; as it was: .last-good beside it"
					      : "");
	if (j->written)
		(void)fputs("slurmctld reads it at `scontrol reconfigure`; restart it instead if "
			    "nodes, GresTypes or ResumeProgram are new\n",
			    j->c->out.f);
	else if (!slurm_conf_differs(j))
		(void)fputs("nothing to write\n", j->c->out.f);
}

/* --- the command ---------------------------------------------------------------------------------
 */

static void print_commands(const struct slurm_conf_job *j)
{
	(void)fputs(j->commands, j->c->out.f);
	if (j->commands[0] == '\0')
		(void)fputs("# nothing: no pool has set prices for spot and on-demand, and no "
			    "budget an amount and a billing_unit\n",
			    j->c->out.f);
}

static int show(struct slurm_conf_job *j)
{
	int rc = j->findings.by_severity[SLURM_ERROR] > 0 ? CLI_FAILED : CLI_OK;

	if (j->args->check && (slurm_conf_differs(j) || j->live.by_severity[SLURM_WARNING] > 0 ||
			       j->findings.by_severity[SLURM_WARNING] > 0))
		rc = CLI_FAILED;
	if (rc == CLI_OK && j->silent.msg[0] != '\0')
		rc = CLI_UNREACHABLE;
	for (size_t i = 0; i < SLURM_CONF_NTREES && !j->c->json; i++) {
		if (j->args->check)
			slurm_conf_print_check(j, &j->trees[i]);
		else
			slurm_conf_print_diff(j, &j->trees[i]);
	}
	if (!j->c->json) {
		slurm_conf_print_findings(j);
		slurm_conf_print_live(j);
	}
	if (!j->c->json && j->args->sacctmgr)
		print_commands(j);
	if (j->args->write)
		rc = write_all(j);
	if (j->c->json)
		slurm_conf_print_json(j);
	else if (j->args->write && rc == CLI_OK)
		say_written(j);
	return rc;
}

static void fini(struct slurm_conf_job *j)
{
	if (j->topo.site != NULL)
		slurmconf_topo_fini(&j->topo);
	if (j->site.conf != NULL)
		slurmconf_site_fini(&j->site);
	for (size_t i = 0; i < SLURM_CONF_NTREES; i++) {
		free(j->trees[i].body);
		free(j->trees[i].old);
		str_fini(&j->trees[i].text);
		slurmconf_sources_fini(&j->trees[i].files);
		free(j->paths[i]);
	}
	slurmconf_findings_fini(&j->findings);
	slurmconf_findings_fini(&j->live);
	conf_free(j->conf);
	free(j->yaml);
	free(j->commands);
}

static int run_slurm_conf(const struct cli *c, const void *args, char **operands)
{
	struct slurm_conf_job j = {.c = c, .args = args};
	struct err e = {0};
	int rc;

	if (j.args->diff + j.args->write + j.args->check > 1)
		return cli_complain(CLI_USAGE, "one of --diff, --check and --write");
	j.conf_path = operands[0] != NULL ? operands[0] : PATHS_CONF;
	rc = conf_file_load(&j.conf, j.conf_path, provider_options, &e);
	if (rc == 0)
		rc = find_version(&j, &e);
	if (rc == 0) {
		find_files(&j);
		slurm_found_programs(j.programs);
		rc = want_all(&j, &e);
	}
	rc = rc == 0 ? show(&j) : cli_complain(CLI_FAILED, e.msg);
	fini(&j);
	return rc;
}

#define AT(field) offsetof(struct slurm_conf_args, field)

static const struct opt slurm_conf_opts[] = {
	{"diff", 0, OPT_FLAG, NULL, "show what would change (the default)", AT(diff), 0, 0},
	{"check", 0, OPT_FLAG, NULL, "one line for each difference, and what is dangerous",
	 AT(check), 0, 0},
	{"write", 0, OPT_FLAG, NULL, "show it, try it with a slurmctld of its own, and write it",
	 AT(write), 0, 0},
	{"slurm-conf", 0, OPT_TEXT, "PATH",
	 "slurm.conf; else as burstd.conf or SLURM_CONF says, or /etc/slurm/slurm.conf",
	 AT(slurm_conf), 0, 0},
	{"slurmctld", 0, OPT_TEXT, "PATH", "the slurmctld to try it with, and whose release counts",
	 AT(slurmctld), 0, 0},
	{"unproved", 0, OPT_FLAG, NULL, "write it without trying", AT(unproved), 0, 0},
	{"offline", 0, OPT_FLAG, NULL, "the files alone: do not ask the slurmctld that runs",
	 AT(offline), 0, 0},
	{"ask-providers", 0, OPT_FLAG, NULL,
	 "compare node and gres of pools with what providers say of their types", AT(ask), 0, 0},
	{"sacctmgr", 0, OPT_FLAG, NULL,
	 "also print commands for QOS that go with it; they are not run", AT(sacctmgr), 0, 0},
	{"discard-edits", 0, OPT_FLAG, NULL, "drop what was edited by hand in burstd's lines",
	 AT(discard), 0, 0},
};

#undef AT

const struct cli_command cmd_slurm_conf = {
	.name = "slurm-conf",
	.operands = "[FILE]",
	.max = 1,
	.local = true,
	.summary = "write what slurm.conf and the files beside it need for burstd's pools",
	.about = "Reads FILE (" PATHS_CONF ") and Slurm's files with all that they include.  "
		 "burstd owns one block of lines in each, between two marks; all others are "
		 "yours, and stay as they are.  What you have yourself, such as the partition of "
		 "a pool, it leaves out.  What of your lines is wrong for burstd is said with "
		 "file and line; an error is to be mended before anything is written.  Before it "
		 "writes, a slurmctld of its own starts with the new files, apart from yours: "
		 "run it as root.  --check also asks the "
		 "slurmctld that runs, and exits with 1 if anything differs or is dangerous, with "
		 "3 if only slurmctld does not answer.",
	.example = "burstctl slurm-conf && sudo burstctl slurm-conf --write",
	.opts = slurm_conf_opts,
	.nopts = sizeof(slurm_conf_opts) / sizeof(slurm_conf_opts[0]),
	.initial = &slurm_conf_initial,
	.size = sizeof(slurm_conf_initial),
	.run = run_slurm_conf,
};
