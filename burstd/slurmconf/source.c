#include "slurmconf/source.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct loading {
	struct slurmconf_sources *out;
	slurmconf_read_fn read;
	void *ctx;
	size_t blocks; /* so far */
};

char *slurmconf_include_path(const char *root, const char *cluster, struct slurm_text name)
{
	const char *slash = strrchr(root, '/'), *end = name.p + name.n;
	struct str path;

	str_init(&path, SLURMCONF_FILE_MAX);
	if (name.p[0] != '/' && slash != NULL)
		str_add(&path, root, (size_t)(slash - root) + 1);
	for (const char *p = name.p; p < end; p++)
		if (cluster != NULL && end - p > 1 && p[0] == '%' && p[1] == 'c') {
			str_adds(&path, cluster);
			p++;
		} else {
			str_add(&path, p, 1);
		}
	return str_take(&path);
}

/* Slurm writes it small. */
static void note_cluster(struct slurmconf_sources *s, const struct slurmconf_line *l)
{
	const struct slurmconf_pair *p = slurmconf_line_get(l, "ClusterName");

	if (p == NULL)
		return;
	free(s->cluster);
	s->cluster = mem_zalloc(p->value.n + 1);
	for (size_t i = 0; i < p->value.n; i++)
		s->cluster[i] = (char)(p->value.p[i] >= 'A' && p->value.p[i] <= 'Z'
					       ? p->value.p[i] - 'A' + 'a'
					       : p->value.p[i]);
}

static struct slurmconf_source *find(const struct slurmconf_sources *s, const char *path)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].file.path, path) == 0)
			return &s->v[i];
	return NULL;
}

static int take_block(struct loading *g, size_t i, struct err *e)
{
	struct slurmconf_source *x = &g->out->v[i];

	if (slurmconf_block_find(&x->block, &x->file, e) != 0)
		return -1;
	if (x->block.state == SLURMCONF_BLOCK_NONE)
		return 0;
	if (g->blocks++ > 0)
		return err_set(e, ERR_INVALID,
			       "%.100s:%d: a second block of burstd's, beside %.100s", x->file.path,
			       x->block.line, g->out->v[g->out->ours].file.path);
	g->out->ours = i;
	return 0;
}

static int load_includes(struct loading *g, size_t i, int depth, struct err *e);

static int load_one(struct loading *g, const char *path, int depth, struct err *e)
{
	struct slurmconf_sources *out = g->out;
	size_t i = out->n, len;
	char *text;

	if (i == SLURMCONF_SOURCES_MAX || depth == SLURMCONF_DEPTH_MAX)
		return err_set(e, ERR_LIMIT, "%.100s: more than %d files, or %d in each other",
			       path, SLURMCONF_SOURCES_MAX, SLURMCONF_DEPTH_MAX);
	if (g->read(g->ctx, path, &text, &len, e) != 0)
		return -1;
	if (slurmconf_file_init(&out->v[i].file, path, text, len, e) != 0)
		return -1;
	out->n++;
	return take_block(g, i, e);
}

static int load_include(struct loading *g, const struct slurmconf_line *l, int depth, struct err *e)
{
	char *path = slurmconf_include_path(g->out->v[0].file.path, g->out->cluster, l->include);
	size_t i = g->out->n;
	int rc;

	if (find(g->out, path) != NULL)
		rc = err_set(e, ERR_INVALID, "%.100s is included a second time", path);
	else
		rc = load_one(g, path, depth, e);
	if (rc != 0 && g->out->n == i)
		(void)err_wrap(e, "%.100s:%d: Include", l->file->path, l->number);
	else if (rc == 0)
		rc = load_includes(g, i, depth + 1, e);
	free(path);
	return rc;
}

static int load_includes(struct loading *g, size_t i, int depth, struct err *e)
{
	struct slurmconf_line l = {.number = 0};
	int rc;

	while ((rc = slurmconf_line_next(&l, &g->out->v[i].file, e)) == 1) {
		note_cluster(g->out, &l);
		if (l.include.n > 0 && load_include(g, &l, depth, e) != 0)
			return -1;
	}
	return rc;
}

int slurmconf_sources_load(struct slurmconf_sources *out, const char *path, slurmconf_read_fn read,
			   void *ctx, struct err *e)
{
	struct loading g = {.out = out, .read = read, .ctx = ctx};

	/* They never move, since lines point to them. */
	*out = (struct slurmconf_sources){.v = mem_zalloc(SLURMCONF_SOURCES_MAX * sizeof(*out->v))};
	if (load_one(&g, path, 0, e) == 0 && load_includes(&g, 0, 1, e) == 0)
		return 0;
	slurmconf_sources_fini(out);
	return -1;
}

void slurmconf_sources_fini(struct slurmconf_sources *s)
{
	for (size_t i = 0; i < s->n; i++)
		slurmconf_file_fini(&s->v[i].file);
	free(s->v);
	free(s->cluster);
	*s = (struct slurmconf_sources){.v = NULL};
}

struct walking {
	const struct slurmconf_sources *s;
	slurmconf_line_fn fn;
	void *ctx;
	bool ours; /* the block's lines, too */
};

static int walk(const struct walking *g, const struct slurmconf_source *x, struct err *e)
{
	struct slurmconf_line l = {.number = 0};
	int rc;

	while ((rc = slurmconf_line_next(&l, &x->file, e)) == 1) {
		if (!g->ours && l.at >= x->block.at && l.at < x->block.end)
			continue;
		if (l.include.n == 0) {
			if (g->fn(g->ctx, &l, e) != 0)
				return -1;
		} else {
			char *path = slurmconf_include_path(g->s->v[0].file.path, g->s->cluster,
							    l.include);
			const struct slurmconf_source *in = find(g->s, path);

			free(path);
			if (in != NULL && walk(g, in, e) != 0)
				return -1;
		}
	}
	return rc;
}

int slurmconf_sources_walk(const struct slurmconf_sources *s, slurmconf_line_fn fn, void *ctx,
			   struct err *e)
{
	const struct walking g = {s, fn, ctx, false};

	return walk(&g, &s->v[0], e);
}

int slurmconf_sources_walk_all(const struct slurmconf_sources *s, slurmconf_line_fn fn, void *ctx,
			       struct err *e)
{
	const struct walking g = {s, fn, ctx, true};

	return walk(&g, &s->v[0], e);
}
