/* What slurm.conf, gres.conf and topology.conf need for burstd's pools: shown, compared with what
 * they have, or written, once a slurmctld has started with it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/slurm_files.h"
#include "cli/slurm_found.h"
#include "cli/slurm_proof.h"
#include "io/conf_file.h"
#include "providers/options.h"
#include "slurm/version.h"
#include "slurmconf/topo.h"
#include "slurmconf/want.h"

enum { SAID_MAX = 16 << 10 };

struct slurm_conf_args {
	bool diff, write, check, unproved, discard;
	const char *slurm_conf, *slurmctld;
};

static const struct slurm_conf_args slurm_conf_initial = {.diff = false};

enum { SLURM, GRES, TOPOLOGY, TREES };

struct tree { /* one of them, with what it includes */
	struct slurmconf_sources files;
	char *body, *old; /* of its block: wanted, and there now */
	struct str text;  /* the new text of the file that has the block */
	bool changed;
};

struct job {
	const struct cli *c;
	const struct slurm_conf_args *args;
	struct conf *conf;
	char *paths[TREES], *yaml;
	char slurmctld[PATH_MAX], programs[PATH_MAX]; /* slurmctld "": there is none */
	struct slurm_version version;
	struct tree trees[TREES];
	struct slurmconf_site site;
	struct slurmconf_topo topo;
	struct slurmconf_findings findings;
	bool proved, written;
	json_t *lines; /* of the file that is made into JSON; owned by it */
};

static struct slurmconf_trees files_of(const struct job *j)
{
	return (struct slurmconf_trees){.slurm = &j->trees[SLURM].files,
					.gres = &j->trees[GRES].files,
					.topology = &j->trees[TOPOLOGY].files};
}

static const struct slurmconf_source *ours(const struct tree *t)
{
	return &t->files.v[t->files.ours];
}

/* --- what is there -------------------------------------------------------------------------------
 */

static int find_version(struct job *j, struct err *e)
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
	return slurmconf_include_path(path, (struct slurm_text){name, strlen(name)});
}

static void find_files(struct job *j)
{
	const char *path = slurm_found_conf(j->args->slurm_conf, j->conf->slurm_conf);

	j->paths[SLURM] = mem_strdup(path);
	j->paths[GRES] = beside(path, "gres.conf");
	j->paths[TOPOLOGY] = beside(path, "topology.conf");
}

/* --- what is wanted ------------------------------------------------------------------------------
 */

static bool is_there(const struct tree *t)
{
	return ours(t)->block.state != SLURMCONF_BLOCK_NONE;
}

/* A block that needs no line is made nowhere, and emptied where it is. */
static void compare(struct tree *t)
{
	const struct slurmconf_source *x = ours(t);

	t->old = is_there(t) ? slurmconf_block_body(&x->file, &x->block) : mem_strdup("");
	t->changed = strcmp(t->old, t->body) != 0;
	str_init(&t->text, 2 * SLURMCONF_FILE_MAX);
	if (t->changed || x->block.state == SLURMCONF_BLOCK_EDITED)
		slurmconf_block_put(&t->text, &x->file, &x->block, t->body);
	else
		str_add(&t->text, x->file.text, x->file.len);
}

static void look_for_edits(struct job *j, const struct tree *t)
{
	const struct slurmconf_block *b = &ours(t)->block;

	if (b->state == SLURMCONF_BLOCK_EDITED)
		slurmconf_find(&j->findings, j->args->discard ? SLURM_WARNING : SLURM_ERROR,
			       (struct slurmconf_place){ours(t)->file.path, b->line},
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

static int read_all(struct job *j, struct err *e)
{
	for (size_t i = 0; i < TREES; i++)
		if (slurmconf_sources_load(&j->trees[i].files, j->paths[i],
					   i == SLURM ? slurm_files_read : slurm_files_read_or_none,
					   NULL, e) != 0)
			return -1;
	return 0;
}

static int read_topology(struct job *j, struct err *e)
{
	char *yaml = beside(j->paths[SLURM], "topology.yaml");
	const struct slurmconf_topo_in in = {&j->site, &j->trees[TOPOLOGY].files, &j->version,
					     access(yaml, F_OK) == 0 ? yaml : NULL};
	int rc = slurmconf_topo_init(&j->topo, &in, e);

	j->yaml = yaml; /* findings may name it */
	return rc;
}

static int want_all(struct job *j, struct err *e)
{
	const struct slurmconf_trees files = files_of(j);
	const struct slurmconf_want w = {j->conf, &j->site, &j->version, j->programs, &j->findings};
	struct str topology;

	if (read_all(j, e) != 0 ||
	    slurmconf_site_init(&j->site, j->conf, &files, &j->findings, e) != 0 ||
	    read_topology(j, e) != 0)
		return -1;
	j->trees[SLURM].body = body_of(slurmconf_want_slurm, &w);
	j->trees[GRES].body = body_of(slurmconf_want_gres, &w);
	str_init(&topology, SLURMCONF_BODY_MAX);
	slurmconf_want_topo(&j->topo, &topology);
	j->trees[TOPOLOGY].body = str_take(&topology);
	slurmconf_dangers(&w);
	for (size_t i = 0; i < TREES; i++) {
		compare(&j->trees[i]);
		look_for_edits(j, &j->trees[i]);
		if (j->trees[i].text.full)
			return err_set(e, ERR_LIMIT, "%.200s would be too large", j->paths[i]);
	}
	return 0;
}

/* --- what is shown -------------------------------------------------------------------------------
 */

/* The lines of `from` that `in` lacks, in order; *text is cut into lines. */
struct lines {
	char *text;
	struct map of;
	char **v;
	size_t n;
};

static void lines_init(struct lines *l, const char *body)
{
	char *save = NULL;
	size_t most = 1;

	for (const char *p = body; *p != '\0'; p++)
		most += *p == '\n';
	*l = (struct lines){.text = mem_strdup(body), .v = mem_zalloc(most * sizeof(*l->v))};
	map_init(&l->of);
	for (char *p = strtok_r(l->text, "\n", &save); p != NULL; p = strtok_r(NULL, "\n", &save)) {
		l->v[l->n++] = p;
		map_put(&l->of, p, p);
	}
}

static void lines_fini(struct lines *l)
{
	map_fini(&l->of);
	free(l->v);
	free(l->text);
}

typedef void (*line_fn)(struct job *j, const struct tree *t, bool added, const char *line);

/* Each line that goes, and each that comes, as diff has them: what goes first, at each place. */
static void each_difference(struct job *j, const struct tree *t, line_fn fn)
{
	struct lines old, new;
	size_t i = 0, k = 0;

	lines_init(&old, t->old);
	lines_init(&new, t->body);
	while (i < old.n || k < new.n) {
		if (i < old.n && map_get(&new.of, old.v[i]) == NULL)
			fn(j, t, false, old.v[i++]);
		else if (k < new.n && map_get(&old.of, new.v[k]) == NULL)
			fn(j, t, true, new.v[k++]);
		else {
			i += i < old.n;
			k += k < new.n;
		}
	}
	lines_fini(&old);
	lines_fini(&new);
}

static void diff_line(struct job *j, const struct tree *t, bool added, const char *line)
{
	(void)t;
	(void)fputc(added ? '+' : '-', j->c->out.f);
	out_text(&j->c->out, added ? OUT_GOOD : OUT_BAD, line);
	(void)fputc('\n', j->c->out.f);
}

static void print_diff(struct job *j, const struct tree *t)
{
	if (!t->changed)
		return;
	(void)fprintf(j->c->out.f, "--- %s\n+++ %s\n", ours(t)->file.path, ours(t)->file.path);
	each_difference(j, t, diff_line);
}

static void check_line(struct job *j, const struct tree *t, bool added, const char *line)
{
	const struct slurmconf_source *x = ours(t);

	(void)fprintf(j->c->out.f, "%s:%d: %s: ", x->file.path, x->block.line,
		      added ? "lacks" : "has, and needs not");
	out_text(&j->c->out, OUT_PLAIN, line);
	(void)fputc('\n', j->c->out.f);
}

static void print_findings(const struct job *j)
{
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct slurmconf_finding *f = &j->findings.v[i];

		(void)fprintf(j->c->out.f, "%s:%d: ", f->at.file, f->at.line);
		out_text(&j->c->out,
			 f->severity == SLURM_ERROR     ? OUT_BAD
			 : f->severity == SLURM_WARNING ? OUT_BUSY
							: OUT_DIM,
			 slurm_severity_name(f->severity));
		(void)fputs(": ", j->c->out.f);
		out_text(&j->c->out, OUT_PLAIN, f->text);
		(void)fputc('\n', j->c->out.f);
	}
	if (j->findings.more > 0)
		(void)fprintf(j->c->out.f, "and %zu more of these\n", j->findings.more);
}

static void json_line(struct job *j, const struct tree *t, bool added, const char *line)
{
	(void)t;
	(void)json_array_append_new(j->lines, json_pack("{s:s, s:s}", "change",
							added ? "add" : "remove", "line", line));
}

/* Without a topology there is no such file. */
static bool is_shown(const struct job *j, size_t tree)
{
	return tree != TOPOLOGY || j->topo.form != SLURMCONF_FLAT ||
	       ours(&j->trees[tree])->file.len > 0;
}

static json_t *file_json(struct job *j, const struct tree *t)
{
	static const char *const states[] = {[SLURMCONF_BLOCK_NONE] = "none",
					     [SLURMCONF_BLOCK_OURS] = "ours",
					     [SLURMCONF_BLOCK_EDITED] = "edited"};
	const struct slurmconf_source *x = ours(t);

	j->lines = json_array();
	each_difference(j, t, json_line);
	return json_pack("{s:s, s:s, s:i, s:o}", "path", x->file.path, "block",
			 states[x->block.state], "line", x->block.line, "changes", j->lines);
}

static json_t *finding_json(const struct slurmconf_finding *f)
{
	return json_pack("{s:s, s:s, s:i, s:s}", "severity", slurm_severity_name(f->severity),
			 "file", f->at.file, "line", f->at.line, "text", f->text);
}

static void print_json(struct job *j)
{
	json_t *list = json_array(), *files = json_array(), *r;

	for (size_t i = 0; i < j->findings.n; i++)
		(void)json_array_append_new(list, finding_json(&j->findings.v[i]));
	for (size_t i = 0; i < TREES; i++)
		if (is_shown(j, i))
			(void)json_array_append_new(files, file_json(j, &j->trees[i]));
	r = mem_check(json_pack("{s:s, s:o, s:o, s:b, s:b}", "slurm_version", j->version.text,
				"files", files, "findings", list, "proved", j->proved, "written",
				j->written));
	cli_print_json(j->c, r);
	json_decref(r);
}

/* --- writing -------------------------------------------------------------------------------------
 */

static bool is_to_write(const struct tree *t)
{
	return t->changed || ours(t)->block.state == SLURMCONF_BLOCK_EDITED;
}

static struct slurm_files_change change_of(const struct job *j, const struct tree *t)
{
	const struct slurmconf_file *f = &ours(t)->file;

	return (struct slurm_files_change){.path = f->path,
					   .old = f->text,
					   .old_len = f->len,
					   .text = t->text.p,
					   .len = t->text.len,
					   .like = j->paths[SLURM]};
}

static int prove(struct job *j)
{
	const struct slurm_proof p = {.slurmctld = j->slurmctld,
				      .files = files_of(j),
				      .slurm_text = j->trees[SLURM].text.p,
				      .gres_text = j->trees[GRES].text.p,
				      .topology_text = j->trees[TOPOLOGY].text.p};
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

/* All files or none; slurm.conf last, since it may need the others. */
static int write_files(struct job *j)
{
	struct err e = {0}, back = {0};
	size_t i = TREES;

	while (i > 0) {
		const struct slurm_files_change c = change_of(j, &j->trees[i - 1]);

		if (is_to_write(&j->trees[i - 1]) && slurm_files_write(&c, &e) != 0)
			break;
		i--;
	}
	if (i == 0) {
		j->written = true;
		return CLI_OK;
	}
	for (; i < TREES; i++) {
		const struct slurm_files_change c = change_of(j, &j->trees[i]);

		if (is_to_write(&j->trees[i]) && slurm_files_restore(&c, &back) != 0)
			(void)cli_complain(CLI_FAILED, back.msg);
	}
	return cli_complain(CLI_FAILED, e.msg);
}

static bool differs(const struct job *j)
{
	bool any = false;

	for (size_t i = 0; i < TREES; i++)
		any = any || is_to_write(&j->trees[i]);
	return any;
}

static int write_all(struct job *j)
{
	int rc = CLI_OK;

	if (j->findings.by_severity[SLURM_ERROR] > 0)
		return cli_complain(CLI_FAILED, "nothing was written: mend the errors first");
	if (!differs(j))
		return CLI_OK;
	if (!j->args->unproved)
		rc = prove(j);
	if (rc == CLI_OK)
		rc = write_files(j);
	return rc;
}

static void say_written(const struct job *j)
{
	for (size_t i = 0; i < TREES && j->written; i++)
		if (is_to_write(&j->trees[i]))
			(void)fprintf(j->c->out.f, "%s is written%s\n",
				      ours(&j->trees[i])->file.path,
				      ours(&j->trees[i])->file.len > 0
					      ? "; as it was: .last-good beside it"
					      : "");
	if (j->written)
		(void)fputs("slurmctld reads it at `scontrol reconfigure`; restart it instead if "
			    "nodes, GresTypes or ResumeProgram are new\n",
			    j->c->out.f);
	else if (!differs(j))
		(void)fputs("nothing to write\n", j->c->out.f);
}

/* --- the command ---------------------------------------------------------------------------------
 */

static int show(struct job *j)
{
	int rc = j->findings.by_severity[SLURM_ERROR] > 0 ? CLI_FAILED : CLI_OK;

	if (j->args->check && (differs(j) || j->findings.by_severity[SLURM_WARNING] > 0))
		rc = CLI_FAILED;
	for (size_t i = 0; i < TREES && !j->c->json; i++) {
		if (j->args->check)
			each_difference(j, &j->trees[i], check_line);
		else
			print_diff(j, &j->trees[i]);
	}
	if (!j->c->json)
		print_findings(j);
	if (j->args->write)
		rc = write_all(j);
	if (j->c->json)
		print_json(j);
	else if (j->args->write && rc == CLI_OK)
		say_written(j);
	return rc;
}

static void fini(struct job *j)
{
	if (j->topo.site != NULL)
		slurmconf_topo_fini(&j->topo);
	if (j->site.conf != NULL)
		slurmconf_site_fini(&j->site);
	for (size_t i = 0; i < TREES; i++) {
		free(j->trees[i].body);
		free(j->trees[i].old);
		str_fini(&j->trees[i].text);
		slurmconf_sources_fini(&j->trees[i].files);
		free(j->paths[i]);
	}
	slurmconf_findings_fini(&j->findings);
	conf_free(j->conf);
	free(j->yaml);
}

static int run_slurm_conf(const struct cli *c, const void *args, char **operands)
{
	struct job j = {.c = c, .args = args};
	struct err e = {0};
	int rc;

	if (j.args->diff + j.args->write + j.args->check > 1)
		return cli_complain(CLI_USAGE, "one of --diff, --check and --write");
	rc = conf_file_load(&j.conf, operands[0] != NULL ? operands[0] : PATHS_CONF,
			    provider_options, &e);
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
	{"discard-edits", 0, OPT_FLAG, NULL, "drop what was edited by hand in burstd's lines",
	 AT(discard), 0, 0},
};

#undef AT

const struct cli_command cmd_slurm_conf = {
	.name = "slurm-conf",
	.operands = "[FILE]",
	.max = 1,
	.local = true,
	.summary = "write what slurm.conf, gres.conf and topology.conf need for burstd's pools",
	.about = "Reads FILE (" PATHS_CONF ") and Slurm's files with all that they include.  "
		 "burstd owns one block of lines in each, between two marks; all others are "
		 "yours, and stay as they are.  What you have yourself, such as the partition of "
		 "a pool, it leaves out.  What of your lines is wrong for burstd is said with "
		 "file and line; an error is to be mended before anything is written.  Before it "
		 "writes, a slurmctld of its own starts with the new files, apart from yours: "
		 "run it as root.  --check exits with 1 if anything differs or is dangerous.",
	.example = "burstctl slurm-conf && sudo burstctl slurm-conf --write",
	.opts = slurm_conf_opts,
	.nopts = sizeof(slurm_conf_opts) / sizeof(slurm_conf_opts[0]),
	.initial = &slurm_conf_initial,
	.size = sizeof(slurm_conf_initial),
	.run = run_slurm_conf,
};
