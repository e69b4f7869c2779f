/* What burstctl slurm-conf shows: the difference, what is to be said of lines, and all as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "cli/slurm_conf_private.h"

const struct slurmconf_source *slurm_conf_ours(const struct slurm_conf_tree *t)
{
	return &t->files.v[t->files.ours];
}

bool slurm_conf_is_to_write(const struct slurm_conf_tree *t)
{
	return t->changed || slurm_conf_ours(t)->block.state == SLURMCONF_BLOCK_EDITED;
}

bool slurm_conf_differs(const struct slurm_conf_job *j)
{
	bool any = false;

	for (size_t i = 0; i < SLURM_CONF_NTREES; i++)
		any = any || slurm_conf_is_to_write(&j->trees[i]);
	return any;
}

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

typedef void (*line_fn)(struct slurm_conf_job *j, const struct slurm_conf_tree *t, bool added,
			const char *line);

/* Each line that goes, and each that comes, as diff has them: what goes first, at each place. */
static void each_difference(struct slurm_conf_job *j, const struct slurm_conf_tree *t, line_fn fn)
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

static void diff_line(struct slurm_conf_job *j, const struct slurm_conf_tree *t, bool added,
		      const char *line)
{
	(void)t;
	(void)fputc(added ? '+' : '-', j->c->out.f);
	out_text(&j->c->out, added ? OUT_GOOD : OUT_BAD, line);
	(void)fputc('\n', j->c->out.f);
}

void slurm_conf_print_diff(struct slurm_conf_job *j, const struct slurm_conf_tree *t)
{
	if (!t->changed)
		return;
	(void)fprintf(j->c->out.f, "--- %s\n+++ %s\n", slurm_conf_ours(t)->file.path,
		      slurm_conf_ours(t)->file.path);
	each_difference(j, t, diff_line);
}

static void check_line(struct slurm_conf_job *j, const struct slurm_conf_tree *t, bool added,
		       const char *line)
{
	const struct slurmconf_source *x = slurm_conf_ours(t);

	(void)fprintf(j->c->out.f, "%s:%d: %s: ", x->file.path, x->block.line,
		      added ? "lacks" : "has, and needs not");
	out_text(&j->c->out, OUT_PLAIN, line);
	(void)fputc('\n', j->c->out.f);
}

void slurm_conf_print_check(struct slurm_conf_job *j, const struct slurm_conf_tree *t)
{
	each_difference(j, t, check_line);
}

static void print_list(const struct slurm_conf_job *j, const struct slurmconf_findings *list,
		       const char *kind)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct slurmconf_finding *f = &list->v[i];

		(void)fprintf(j->c->out.f, "%s:%d: ", f->at.file, f->at.line);
		out_text(&j->c->out,
			 f->severity == SLURM_ERROR     ? OUT_BAD
			 : f->severity == SLURM_WARNING ? OUT_BUSY
							: OUT_DIM,
			 kind != NULL ? kind : slurm_severity_name(f->severity));
		(void)fputs(": ", j->c->out.f);
		out_text(&j->c->out, OUT_PLAIN, f->text);
		(void)fputc('\n', j->c->out.f);
	}
	if (list->more > 0)
		(void)fprintf(j->c->out.f, "and %zu more of these\n", list->more);
}

void slurm_conf_print_findings(const struct slurm_conf_job *j)
{
	print_list(j, &j->findings, NULL);
}

void slurm_conf_print_live(const struct slurm_conf_job *j)
{
	char text[sizeof(j->silent.msg) + 128];

	print_list(j, &j->live, "not in force");
	(void)fflush(j->c->out.f);
	if (j->silent.msg[0] == '\0')
		return;
	(void)snprintf(text, sizeof(text), "the slurmctld that runs was not compared: %s",
		       j->silent.msg);
	(void)cli_complain(CLI_UNREACHABLE, text);
}

static void json_line(struct slurm_conf_job *j, const struct slurm_conf_tree *t, bool added,
		      const char *line)
{
	(void)t;
	(void)json_array_append_new(j->lines, json_pack("{s:s, s:s}", "change",
							added ? "add" : "remove", "line", line));
}

/* slurm.conf and gres.conf are always there; a site without a topology, or without cgroups, has no
 * such file. */
static bool is_shown(const struct slurm_conf_job *j, const struct slurm_conf_tree *t)
{
	return t <= &j->trees[SLURM_CONF_GRES] || t->body[0] != '\0' ||
	       slurm_conf_ours(t)->file.len > 0;
}

static json_t *file_json(struct slurm_conf_job *j, const struct slurm_conf_tree *t)
{
	static const char *const states[] = {[SLURMCONF_BLOCK_NONE] = "none",
					     [SLURMCONF_BLOCK_OURS] = "ours",
					     [SLURMCONF_BLOCK_EDITED] = "edited"};
	const struct slurmconf_source *x = slurm_conf_ours(t);

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

/* Without what is said about them. */
static json_t *commands_json(const struct slurm_conf_job *j)
{
	char *text = mem_strdup(j->commands), *save = NULL;
	json_t *list = json_array();

	for (char *p = strtok_r(text, "\n", &save); p != NULL; p = strtok_r(NULL, "\n", &save))
		if (p[0] != '#')
			(void)json_array_append_new(list, json_string(p));
	free(text);
	return list;
}

/* null: nobody asked. */
static json_t *live_json(const struct slurm_conf_job *j)
{
	json_t *list = json_array();

	if (!j->asked) {
		json_decref(list);
		return json_null();
	}
	for (size_t i = 0; i < j->live.n; i++)
		(void)json_array_append_new(list, finding_json(&j->live.v[i]));
	return json_pack("{s:b, s:s, s:o}", "answered", j->silent.msg[0] == '\0', "error",
			 j->silent.msg, "differences", list);
}

void slurm_conf_print_json(struct slurm_conf_job *j)
{
	json_t *list = json_array(), *files = json_array(), *r;

	for (size_t i = 0; i < j->findings.n; i++)
		(void)json_array_append_new(list, finding_json(&j->findings.v[i]));
	for (size_t i = 0; i < SLURM_CONF_NTREES; i++)
		if (is_shown(j, &j->trees[i]))
			(void)json_array_append_new(files, file_json(j, &j->trees[i]));
	r = mem_check(json_pack("{s:s, s:o, s:o, s:b, s:b, s:o, s:o}", "slurm_version",
				j->version.text, "files", files, "findings", list, "proved",
				j->proved, "written", j->written, "sacctmgr", commands_json(j),
				"live", live_json(j)));
	cli_print_json(j->c, r);
	json_decref(r);
}
