#include "slurmconf/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "slurm/show.h"

enum {
	SHOWN = 120,  /* bytes of a value in a sentence */
	PROGRAMS = 3, /* the first settings: those of power saving */
};

static bool same_text(struct slurm_text a, struct slurm_text b)
{
	return a.n == b.n && strncasecmp(a.p != NULL ? a.p : "", b.p != NULL ? b.p : "", a.n) == 0;
}

/* "gpu:h100:8(S:0-1)" is what a node registered with as gpu:h100:8. */
static struct slurm_text bare(struct slurm_text t)
{
	const char *p = t.n > 0 ? memchr(t.p, '(', t.n) : NULL;

	return (struct slurm_text){t.p, p != NULL ? (size_t)(p - t.p) : t.n};
}

/* Is each word of a in b, too?  Commas in brackets, "(S:0,1)", begin words that nobody has. */
static bool has_words(struct slurm_text b, struct slurm_text a)
{
	struct slurm_text word;

	while (slurm_show_item(&a, &word)) {
		struct slurm_text rest = b, other;
		bool found = word.n == 0;

		while (!found && slurm_show_item(&rest, &other))
			found = same_text(bare(word), bare(other));
		if (!found)
			return false;
	}
	return true;
}

static bool same(const struct slurmconf_live_key *k, struct slurm_text file,
		 struct slurm_text running)
{
	if (k->nothing != NULL && slurm_show_is(file, k->nothing))
		return true;
	switch (k->kind) {
	case SLURMCONF_LIVE_NUMBER:
		return slurm_show_number(file) == slurm_show_number(running);
	case SLURMCONF_LIVE_WORDS:
		return has_words(file, running) && has_words(running, file);
	case SLURMCONF_LIVE_SOME:
		return has_words(running, file);
	default:
		return same_text(file, running);
	}
}

static int shown(struct slurm_text t)
{
	return (int)(t.n < SHOWN ? t.n : SHOWN);
}

static const char *how(bool restart)
{
	return restart ? "restart slurmctld" : "scontrol reconfigure";
}

/* --- settings ------------------------------------------------------------------------------------
 */

/* From 24.05 on there may be several programs: "PrologSlurmctld[0]". */
static struct slurm_text running_setting(struct slurm_text config, const char *name)
{
	struct slurm_text value = slurm_show_setting(config, name);
	char first[64];

	if (value.p != NULL)
		return value;
	(void)snprintf(first, sizeof(first), "%s[0]", name);
	return slurm_show_setting(config, first);
}

static void compare_settings(const struct slurmconf_live_file *f, struct slurm_text config,
			     struct slurmconf_findings *out)
{
	for (size_t i = 0; i < slurmconf_live_nsettings; i++) {
		const struct slurmconf_live_key *k = &slurmconf_live_settings[i];
		const struct slurmconf_live_value *have = &f->settings[i];
		const struct slurm_text value = running_setting(config, k->file);

		if (have->value.p == NULL && i < PROGRAMS && value.n > 0)
			slurmconf_find(out, SLURM_WARNING, f->at,
				       "%s is not in the file; slurmctld runs with %.*s: restart "
				       "slurmctld",
				       k->file, shown(value), value.p);
		/* What the release does not show, or the file does not say. */
		if (value.p == NULL || have->value.p == NULL || same(k, have->value, value))
			continue;
		slurmconf_find(out, SLURM_WARNING, have->at,
			       "%s=%.*s; slurmctld runs with %s%.*s: %s", k->file,
			       shown(have->value), have->value.p, value.n > 0 ? "" : "none",
			       shown(value), value.p, how(k->restart));
	}
}

static void compare_release(const struct slurmconf_want *w, const struct slurmconf_sources *files,
			    struct slurm_text config, struct slurmconf_findings *out)
{
	const struct slurm_text v = slurm_show_setting(config, "SLURM_VERSION");

	if (!slurm_show_is(v, w->version->text))
		slurmconf_find(out, SLURM_WARNING,
			       (struct slurmconf_place){files->v[0].file.path, 0},
			       "slurmctld %.*s runs, and %s is installed: restart slurmctld",
			       shown(v), v.p, w->version->text);
}

/* --- nodes ---------------------------------------------------------------------------------------
 */

struct difference { /* of the nodes of a pool, in one key */
	size_t n;
	const struct slurmconf_live_value *file; /* of the first of them ... */
	struct slurm_text running, node;         /* ... and slurmctld's */
};

struct comparing {
	const struct slurmconf_live_file *file;
	const struct slurmconf_site *site;
	const struct conf *conf;
	struct difference *of; /* SLURMCONF_LIVE_NODE for each pool */
	struct map seen;
};

/* slurmctld adds words to it, CLOUD stays. */
static bool same_state(struct slurm_text file, struct slurm_text running)
{
	return !slurm_show_is(file, "CLOUD") ||
	       (slurm_parse_state(running.p, running.n) & SLURM_CLOUD) != 0;
}

static void compare_node(struct comparing *c, size_t pool, struct slurm_text line,
			 struct slurm_text name)
{
	char text[HOSTLIST_NAME_MAX + 1];
	const struct slurmconf_live_line *x;

	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	x = map_get(&c->file->nodes, text);
	for (size_t k = 0; x != NULL && k < slurmconf_live_nnode; k++) {
		const struct slurmconf_live_key *key = &slurmconf_live_node[k];
		struct difference *d = &c->of[pool * SLURMCONF_LIVE_NODE + k];
		struct slurm_text running =
			slurm_show_word(line, key->shown != NULL ? key->shown : key->file);

		if (slurm_show_is(running, "(null)"))
			running.n = 0;
		if (x->of[k].value.p == NULL ||
		    (key->kind == SLURMCONF_LIVE_SOME ? same_state(x->of[k].value, running)
						      : same(key, x->of[k].value, running)))
			continue;
		if (d->n++ == 0)
			*d = (struct difference){1, &x->of[k], running, name};
	}
}

/* Take one line of `scontrol -o show nodes`; those of no pool are nobody's business here. */
static void take_node(struct comparing *c, struct slurm_text line)
{
	const struct slurm_text name = slurm_show_word(line, "NodeName");
	char text[HOSTLIST_NAME_MAX + 1];
	const struct conf_pool *p;

	if (name.n == 0 || name.n > HOSTLIST_NAME_MAX)
		return;
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	p = conf_pool_of(c->conf, text);
	if (p == NULL)
		return;
	map_put(&c->seen, map_get(&c->site->ours, text), c);
	compare_node(c, conf_pool_index(c->conf, p), line, name);
}

static void say_nodes(const struct comparing *c, size_t pool, struct slurmconf_findings *out)
{
	for (size_t k = 0; k < slurmconf_live_nnode; k++) {
		const struct difference *d = &c->of[pool * SLURMCONF_LIVE_NODE + k];

		if (d->n > 0)
			slurmconf_find(out, SLURM_WARNING, d->file->at,
				       "pool \"%s\": %s=%.*s; slurmctld runs with %s%.*s for %.*s "
				       "and %zu others: restart slurmctld",
				       c->conf->pools[pool].name, slurmconf_live_node[k].file,
				       shown(d->file->value), d->file->value.p,
				       d->running.n > 0 ? "" : "none", shown(d->running),
				       d->running.p, shown(d->node), d->node.p, d->n - 1);
	}
}

/* Nodes that the file has, and slurmctld does not show. */
static void say_unknown(const struct comparing *c, size_t pool, struct slurmconf_findings *out)
{
	const struct hostlist *h = c->conf->pools[pool].nodes;
	const struct slurmconf_live_line *first = NULL;
	const char *name = NULL;
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct slurmconf_live_line *x = map_get(&c->file->nodes, h->names[i]);

		if (x == NULL || map_get(&c->seen, h->names[i]) != NULL)
			continue;
		if (n++ == 0) {
			first = x;
			name = h->names[i];
		}
	}
	if (n > 0)
		slurmconf_find(out, SLURM_WARNING, first->at,
			       "pool \"%s\": slurmctld shows no node %s, and %zu others: restart "
			       "slurmctld",
			       c->conf->pools[pool].name, name, n - 1);
}

static void compare_nodes(const struct slurmconf_want *w, const struct slurmconf_live_file *f,
			  struct slurm_text nodes, struct slurmconf_findings *out)
{
	struct comparing c = {.file = f, .site = w->site, .conf = w->conf};
	struct slurm_text line;

	c.of = mem_zalloc((w->conf->npools + 1) * SLURMCONF_LIVE_NODE * sizeof(*c.of));
	map_init(&c.seen);
	while (slurm_show_cut(&nodes, '\n', &line))
		take_node(&c, line);
	for (size_t i = 0; i < w->conf->npools; i++) {
		say_unknown(&c, i, out);
		say_nodes(&c, i, out);
	}
	map_fini(&c.seen);
	free(c.of);
}

/* --- partitions ----------------------------------------------------------------------------------
 */

static bool find_line(struct slurm_text partitions, const char *name, struct slurm_text *line)
{
	while (slurm_show_cut(&partitions, '\n', line)) {
		const struct slurm_text n = slurm_show_word(*line, "PartitionName");

		/* Names differ by case, too. */
		if (n.n == strlen(name) && memcmp(n.p, name, n.n) == 0)
			return true;
	}
	return false;
}

/* Which of the pool's nodes slurmctld has in it. */
static void compare_members(const struct conf_pool *p, const struct slurmconf_live_line *x,
			    struct slurm_text line, struct slurmconf_findings *out)
{
	const struct slurm_text list = slurm_show_word(line, "Nodes");
	struct hostlist *h = NULL;
	struct map have;
	size_t lacks = 0;
	const char *first = NULL;

	map_init(&have);
	if (list.n > 0 && !slurm_show_is(list, "(null)"))
		(void)hostlist_parse(&h, list.p, list.n, NULL);
	for (size_t i = 0; h != NULL && i < h->n; i++)
		map_put(&have, h->names[i], h);
	for (size_t i = 0; i < p->nodes->n; i++)
		if (map_get(&have, p->nodes->names[i]) == NULL && lacks++ == 0)
			first = p->nodes->names[i];
	if (lacks > 0)
		slurmconf_find(out, SLURM_WARNING, x->at,
			       "partition %s: slurmctld runs without %s and %zu others in it: "
			       "scontrol reconfigure",
			       x->name, first, lacks - 1);
	map_fini(&have);
	hostlist_free(h);
}

static void compare_part(const struct slurmconf_live_line *x, struct slurm_text line,
			 struct slurmconf_findings *out)
{
	for (size_t k = 0; k < slurmconf_live_npart; k++) {
		const struct slurmconf_live_key *key = &slurmconf_live_part[k];
		const struct slurm_text value = slurm_show_word(line, key->file);

		if (x->of[k].value.p == NULL || same(key, x->of[k].value, value))
			continue;
		slurmconf_find(out, SLURM_WARNING, x->of[k].at,
			       "partition %s: %s=%.*s; slurmctld runs with %s%.*s: %s", x->name,
			       key->file, shown(x->of[k].value), x->of[k].value.p,
			       value.n > 0 ? "" : "none", shown(value), value.p, how(key->restart));
	}
}

/* The partition that has all nodes of the pool: the site's, or burstd's. */
static void compare_parts(const struct slurmconf_want *w, const struct slurmconf_live_file *f,
			  struct slurm_text partitions, struct slurmconf_findings *out)
{
	for (size_t i = 0; i < w->conf->npools; i++) {
		const struct slurmconf_part *own = w->site->pools[i].part;
		const struct slurmconf_live_line *x =
			map_get(&f->parts, own != NULL ? own->name : w->conf->pools[i].name);
		struct slurm_text line;

		if (x == NULL)
			continue;
		if (!find_line(partitions, x->name, &line)) {
			slurmconf_find(out, SLURM_WARNING, x->at,
				       "slurmctld has no partition %s: scontrol reconfigure",
				       x->name);
			continue;
		}
		compare_members(&w->conf->pools[i], x, line, out);
		compare_part(x, line, out);
	}
}

static int check(const struct slurmconf_live_said *said, struct err *e)
{
	static const char head[] = "Configuration data as of ";

	if (said->config.n < sizeof(head) - 1 ||
	    memcmp(said->config.p, head, sizeof(head) - 1) != 0 ||
	    slurm_show_setting(said->config, "SLURM_VERSION").n == 0)
		return err_set(e, ERR_INVALID, "scontrol: not a configuration");
	return 0;
}

int slurmconf_live(const struct slurmconf_want *w, const struct slurmconf_sources *files,
		   const struct slurmconf_live_said *said, struct slurmconf_findings *out,
		   struct err *e)
{
	struct slurmconf_live_file f;

	if (check(said, e) != 0 || slurmconf_live_read(&f, w->site, files, e) != 0)
		return -1;
	compare_release(w, files, said->config, out);
	compare_settings(&f, said->config, out);
	compare_nodes(w, &f, said->nodes, out);
	compare_parts(w, &f, said->partitions, out);
	slurmconf_live_fini(&f);
	return 0;
}
