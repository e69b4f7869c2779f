#include "slurmconf/site.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "slurm/node_words.h"
#include "slurm/show.h"

static struct slurmconf_place place(const struct slurmconf_line *l)
{
	return (struct slurmconf_place){l->file->path, l->number};
}

static char *copy(struct slurm_text t)
{
	char *s = mem_zalloc(t.n + 1);

	if (t.n > 0)
		memcpy(s, t.p, t.n);
	return s;
}

static struct slurm_text value_of(const struct slurmconf_line *l, const char *key)
{
	const struct slurmconf_pair *p = slurmconf_line_get(l, key);

	return p != NULL ? p->value : (struct slurm_text){NULL, 0};
}

/* --- settings ------------------------------------------------------------------------------------
 */

static void lower(char *s)
{
	for (; *s != '\0'; s++)
		if (*s >= 'A' && *s <= 'Z')
			*s = (char)(*s - 'A' + 'a');
}

const struct slurmconf_setting *slurmconf_site_get(const struct slurmconf_site *s, const char *key)
{
	char *name = mem_strdup(key);
	const struct slurmconf_setting *x;

	lower(name);
	x = map_get(&s->by_key, name);
	free(name);
	return x;
}

/* Of a setting that comes twice Slurm takes the last. */
static int set(struct slurmconf_site *s, const struct slurmconf_line *l,
	       const struct slurmconf_pair *p, struct err *e)
{
	char *key = copy(p->key);
	struct slurmconf_setting *x;

	lower(key);
	x = map_get(&s->by_key, key);
	if (x != NULL) {
		free(key);
	} else if (s->nsettings == SLURMCONF_SETTINGS_MAX) {
		free(key);
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d settings", l->file->path,
			       l->number, SLURMCONF_SETTINGS_MAX);
	} else {
		x = &s->settings[s->nsettings++];
		x->key = key;
		map_put(&s->by_key, x->key, x);
	}
	x->value = p->value;
	x->at = place(l);
	return 0;
}

/* --- nodes ---------------------------------------------------------------------------------------
 */

/* Expand a list of nodes.  -1: there are too many altogether; *out NULL: it is of a form that is
 * not read here, which a finding says. */
static int expand(struct slurmconf_site *s, struct slurmconf_place at, struct slurm_text list,
		  struct hostlist **out, struct err *e)
{
	struct err why = {0};

	if (hostlist_parse(out, list.p, list.n, &why) != 0) {
		slurmconf_find(s->findings, SLURM_ADVICE, at,
			       "\"%.*s\" is not compared with burstd's nodes: %s",
			       (int)(list.n < 80 ? list.n : 80), list.p, why.msg);
		return 0;
	}
	s->names += (*out)->n;
	if (s->names <= SLURMCONF_NAMES_MAX)
		return 0;
	hostlist_free(*out);
	*out = NULL;
	return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d names of nodes", at.file, at.line,
		       SLURMCONF_NAMES_MAX);
}

/* A node may have several lines, and counts once. */
static void own(struct slurmconf_site *s, struct map *seen, struct slurmconf_owned *o,
		const char *node, struct slurmconf_place at)
{
	char *name = map_get(&s->ours, node);

	if (map_get(seen, name) != NULL)
		return;
	map_put(seen, name, name);
	if (o->n++ == 0)
		o->at = at;
}

static void check_cloud(const struct slurmconf_site *s, const struct slurmconf_line *l,
			const struct conf_pool *p)
{
	const struct slurmconf_pair *state = slurmconf_line_get(l, "State");

	if (state != NULL ? slurm_show_is(state->value, "CLOUD") : s->default_cloud)
		return;
	slurmconf_find(
		s->findings, SLURM_ERROR, place(l),
		"a node of pool \"%s\" without State=CLOUD: slurmctld takes it for a machine "
		"that is there",
		p->name);
}

/* Does burstd's NodeName line of this pool say the key? */
static bool says(const struct conf_pool *p, struct slurm_text key)
{
	struct slurm_text rest, word;
	struct str words;
	bool said = false;

	str_init(&words, SLURM_NODE_WORDS_MAX);
	slurm_node_words(p, &words);
	rest = (struct slurm_text){words.p, words.len};
	while (!said && slurm_show_cut(&rest, ' ', &word)) {
		const char *eq = word.n > 0 ? memchr(word.p, '=', word.n) : NULL;

		said = eq != NULL && (size_t)(eq - word.p) == key.n &&
		       strncasecmp(word.p, key.p, key.n) == 0;
	}
	str_fini(&words);
	return said;
}

/* The first pool whose line leaves the key to NodeName=DEFAULT; NULL: none does. */
static const struct conf_pool *leaves(const struct slurmconf_site *s, struct slurm_text key)
{
	if (slurm_show_is(key, "NodeName") || slurm_show_is(key, "State"))
		return NULL;
	if (slurm_show_is(key, "Features"))
		key = (struct slurm_text){"Feature", strlen("Feature")};
	for (size_t i = 0; i < s->conf->npools; i++) {
		const struct conf_pool *p = &s->conf->pools[i];

		if (p->node != NULL && p->node[0] != '\0' && !says(p, key))
			return p;
	}
	return NULL;
}

/* What NodeName=DEFAULT says holds for burstd's nodes too, where their line does not say it. */
static void take_default(struct slurmconf_site *s, const struct slurmconf_line *l)
{
	const struct slurmconf_pair *state = slurmconf_line_get(l, "State");

	if (state != NULL)
		s->default_cloud = slurm_show_is(state->value, "CLOUD");
	for (size_t i = 0; i < l->n; i++) {
		const struct slurm_text key = l->pairs[i].key;
		const struct conf_pool *p = leaves(s, key);

		if (p != NULL)
			slurmconf_find(
				s->findings, SLURM_WARNING, place(l),
				"%.*s of NodeName=DEFAULT holds for burstd's nodes too, "
				"where its lines come later: node of pool \"%s\" does not say "
				"it",
				(int)key.n, key.p, p->name);
	}
}

/* Take a list that has names which no pool has. */
static void keep(struct slurmconf_site *s, struct hostlist *h)
{
	if ((s->nkept & (s->nkept - 1)) == 0)
		s->kept = mem_realloc(s->kept, (2 * s->nkept + 1) * sizeof(struct hostlist *));
	s->kept[s->nkept++] = h;
	s->others = true;
	for (size_t i = 0; i < h->n; i++)
		map_put(&s->known, h->names[i], (void *)(uintptr_t)h->names[i]);
}

static int take_nodes(struct slurmconf_site *s, const struct slurmconf_line *l, struct err *e)
{
	struct slurm_text list = value_of(l, "NodeName");
	const struct conf_pool *told = NULL;
	struct hostlist *h;
	bool others = false;

	if (slurm_show_is(list, "DEFAULT")) {
		take_default(s, l);
		return 0;
	}
	if (expand(s, place(l), list, &h, e) != 0)
		return -1;
	s->others = s->others || h == NULL;
	s->unread = s->unread || h == NULL;
	for (size_t i = 0; h != NULL && i < h->n; i++) {
		const struct conf_pool *p = conf_pool_of(s->conf, h->names[i]);

		if (p == NULL) {
			others = true;
			continue;
		}
		own(s, &s->has_nodes, &s->pools[conf_pool_index(s->conf, p)].nodes, h->names[i],
		    place(l));
		if (p != told)
			check_cloud(s, l, p);
		told = p;
	}
	if (others)
		keep(s, h);
	else
		hostlist_free(h);
	return 0;
}

/* --- partitions and sets of nodes ----------------------------------------------------------------
 */

static bool is_finite(struct slurm_text t)
{
	return t.n > 0 && !slurm_show_is(t, "INFINITE") && !slurm_show_is(t, "-1");
}

static struct slurm_text said(const struct slurmconf_line *l, const char *key,
			      struct slurm_text before)
{
	const struct slurmconf_pair *p = slurmconf_line_get(l, key);

	return p != NULL ? p->value : before;
}

/* What a line says, over what PartitionName=DEFAULT said before it. */
static struct slurmconf_part part_of(const struct slurmconf_line *l,
				     const struct slurmconf_part *before)
{
	const struct slurm_text suspend = value_of(l, "SuspendTime"),
				tier = value_of(l, "PriorityTier");
	int64_t rank = slurm_show_number(tier);

	return (struct slurmconf_part){.nodes = value_of(l, "Nodes"),
				       .feature = value_of(l, "Feature"),
				       .suspends = suspend.n > 0 ? is_finite(suspend)
								 : before->suspends,
				       .resume = said(l, "ResumeTimeout", before->resume),
				       .weights = said(l, "TRESBillingWeights", before->weights),
				       .preempt = said(l, "PreemptMode", before->preempt),
				       .rank = rank >= 0 ? rank : before->rank,
				       .at = place(l)};
}

static int take_part(struct slurmconf_site *s, const struct slurmconf_line *l, bool set,
		     struct err *e)
{
	struct slurmconf_part *v = set ? s->sets : s->parts;
	size_t *n = set ? &s->nsets : &s->nparts;
	const char *key = set ? "NodeSet" : "PartitionName";
	struct slurm_text name = value_of(l, key);

	if (!set && slurm_show_is(name, "DEFAULT")) {
		s->part_default = part_of(l, &s->part_default);
		return 0;
	}
	if (*n == SLURMCONF_PARTS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d of %s", l->file->path,
			       l->number, SLURMCONF_PARTS_MAX, key);
	v[*n] = part_of(l, &s->part_default);
	v[(*n)++].name = copy(name);
	return 0;
}

/* Which nodes of pools a list of a partition has. */
struct cover {
	struct slurmconf_site *s;
	const struct slurmconf_part *part;
	const struct map *sets;
	size_t *n; /* of each pool */
	bool all;
};

static void cover_pool(const struct cover *c, size_t pool)
{
	c->n[pool] = c->s->conf->pools[pool].nodes->n;
}

/* Nodes by a feature that burstd's lines give them. */
static void cover_feature(const struct cover *c, struct slurm_text feature)
{
	for (size_t i = 0; i < c->s->conf->npools; i++)
		if (slurm_show_is(feature, SLURM_NODE_FEATURE) ||
		    slurm_show_is(feature, c->s->conf->pools[i].name))
			cover_pool(c, i);
}

static bool is_our_set(const struct cover *c, const char *name)
{
	const size_t n = strlen(SLURMCONF_SET_PREFIX);

	if (strncmp(name, SLURMCONF_SET_PREFIX, n) != 0)
		return false;
	for (size_t i = 0; i < c->s->conf->npools; i++)
		if (strcmp(c->s->conf->pools[i].name, name + n) == 0) {
			cover_pool(c, i);
			return true;
		}
	return false;
}

static int cover_list(struct cover *c, struct slurm_text list, bool in_set, struct err *e);

static int cover_name(struct cover *c, const char *name, bool in_set, struct err *e)
{
	const struct conf_pool *p = conf_pool_of(c->s->conf, name);
	const struct slurmconf_part *set = in_set ? NULL : map_get(c->sets, name);

	if (p != NULL) {
		c->n[conf_pool_index(c->s->conf, p)]++;
		return 0;
	}
	if (set != NULL && set->feature.n > 0)
		cover_feature(c, set->feature);
	if (set != NULL && set->nodes.n > 0)
		return cover_list(c, set->nodes, true, e);
	if (set == NULL && strcasecmp(name, "ALL") == 0)
		c->all = true;
	else if (set == NULL && !in_set)
		(void)is_our_set(c, name);
	return 0;
}

static int cover_list(struct cover *c, struct slurm_text list, bool in_set, struct err *e)
{
	struct hostlist *h;
	int rc = 0;

	if (expand(c->s, c->part->at, list, &h, e) != 0)
		return -1;
	for (size_t i = 0; h != NULL && i < h->n && rc == 0; i++)
		rc = cover_name(c, h->names[i], in_set, e);
	hostlist_free(h);
	return rc;
}

static int cover_part(struct slurmconf_site *s, const struct map *sets, size_t *n,
		      const struct slurmconf_part *part, struct err *e)
{
	struct cover c = {.s = s, .part = part, .sets = sets, .n = n};

	memset(n, 0, s->conf->npools * sizeof(*n));
	if (part->nodes.n == 0)
		return 0;
	if (cover_list(&c, part->nodes, false, e) != 0)
		return -1;
	if (c.all)
		slurmconf_find(
			s->findings, SLURM_WARNING, part->at,
			"partition %s has Nodes=ALL, and so burstd's nodes too: its jobs are "
			"bought for",
			part->name);
	for (size_t i = 0; i < s->conf->npools; i++) {
		struct slurmconf_pool *p = &s->pools[i];

		if (n[i] >= s->conf->pools[i].nodes->n && p->part == NULL)
			p->part = part;
		if (n[i] > 0 && (p->low == NULL || part->rank < p->low->rank))
			p->low = part;
		if (n[i] > 0 && (p->high == NULL || part->rank > p->high->rank))
			p->high = part;
	}
	return 0;
}

/* Sets may come behind the partitions that name them. */
static int cover(struct slurmconf_site *s, struct err *e)
{
	size_t *n = mem_zalloc((s->conf->npools + 1) * sizeof(*n));
	struct map sets;
	int rc = 0;

	map_init(&sets);
	for (size_t i = 0; i < s->nsets; i++)
		map_put(&sets, s->sets[i].name, &s->sets[i]);
	for (size_t i = 0; i < s->nparts && rc == 0; i++) {
		map_put(&s->part_named, s->parts[i].name, &s->parts[i]);
		rc = cover_part(s, &sets, n, &s->parts[i], e);
	}
	map_fini(&sets);
	free(n);
	return rc;
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* Keys that take the rest of their line. */
static bool begins_a_thing(struct slurm_text key)
{
	static const char *const keys[] = {"NodeName",     "PartitionName", "NodeSet",
					   "FrontendName", "DownNodes",     "SwitchName"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (slurm_show_is(key, keys[i]))
			return true;
	return false;
}

static int take_line(void *ctx, const struct slurmconf_line *l, struct err *e)
{
	struct slurmconf_site *s = ctx;
	size_t i = 0;

	for (; i < l->n && !begins_a_thing(l->pairs[i].key); i++)
		if (set(s, l, &l->pairs[i], e) != 0)
			return -1;
	if (i == l->n)
		return 0;
	if (slurm_show_is(l->pairs[i].key, "NodeName"))
		return take_nodes(s, l, e);
	if (slurm_show_is(l->pairs[i].key, "PartitionName"))
		return take_part(s, l, false, e);
	if (slurm_show_is(l->pairs[i].key, "NodeSet"))
		return take_part(s, l, true, e);
	return 0;
}

/* A line without nodes is about all nodes of the cluster. */
static void take_common_gres(struct slurmconf_site *s, const struct slurmconf_line *l)
{
	const struct slurmconf_pair *how = slurmconf_line_get(l, "AutoDetect");

	if (how != NULL)
		s->detects = !slurm_show_is(how->value, "off");
	if (slurmconf_line_get(l, "Name") != NULL)
		slurmconf_find(s->findings, SLURM_WARNING, place(l),
			       "without NodeName=, and so for burstd's nodes too");
}

static void take_own_gres(struct slurmconf_site *s, const struct slurmconf_line *l, size_t pool,
			  const char *node)
{
	const struct slurmconf_pair *how = slurmconf_line_get(l, "AutoDetect");
	struct slurmconf_owned *o = &s->pools[pool].gres;

	own(s, &s->has_gres, o, node, place(l));
	if (how != NULL && !slurm_show_is(how->value, "off") && o->refused != l->number) {
		slurmconf_find(s->findings, SLURM_ERROR, place(l),
			       "AutoDetect=%.*s for nodes of pool \"%s\": slurmctld does not start "
			       "with it for cloud nodes; name the device files",
			       (int)how->value.n, how->value.p, s->conf->pools[pool].name);
		o->refused = l->number;
	}
}

static int take_gres(void *ctx, const struct slurmconf_line *l, struct err *e)
{
	struct slurmconf_site *s = ctx;
	struct slurm_text list = value_of(l, "NodeName");
	struct hostlist *h;

	if (list.n == 0) {
		take_common_gres(s, l);
		return 0;
	}
	if (expand(s, place(l), list, &h, e) != 0)
		return -1;
	for (size_t i = 0; h != NULL && i < h->n; i++) {
		const struct conf_pool *p = conf_pool_of(s->conf, h->names[i]);

		if (p != NULL)
			take_own_gres(s, l, conf_pool_index(s->conf, p), h->names[i]);
	}
	hostlist_free(h);
	return 0;
}

static void know_ours(struct slurmconf_site *s)
{
	map_init(&s->ours);
	for (size_t i = 0; i < s->conf->npools; i++) {
		const struct hostlist *h = s->conf->pools[i].nodes;

		for (size_t k = 0; k < h->n; k++)
			map_put(&s->ours, h->names[k], (void *)(uintptr_t)h->names[k]);
	}
}

int slurmconf_site_init(struct slurmconf_site *out, const struct conf *conf,
			const struct slurmconf_trees *trees, struct slurmconf_findings *findings,
			struct err *e)
{
	*out = (struct slurmconf_site){
		.conf = conf, .findings = findings, .part_default.rank = 1}; /* PriorityTier */
	out->path = trees->slurm->v[0].file.path;
	out->pools = mem_zalloc((conf->npools + 1) * sizeof(*out->pools));
	out->settings = mem_zalloc(SLURMCONF_SETTINGS_MAX * sizeof(*out->settings));
	out->parts = mem_zalloc(SLURMCONF_PARTS_MAX * sizeof(*out->parts));
	out->sets = mem_zalloc(SLURMCONF_PARTS_MAX * sizeof(*out->sets));
	map_init(&out->by_key);
	map_init(&out->part_named);
	map_init(&out->known);
	map_init(&out->has_nodes);
	map_init(&out->has_gres);
	know_ours(out);
	if (slurmconf_sources_walk(trees->slurm, take_line, out, e) == 0 &&
	    slurmconf_sources_walk(trees->gres, take_gres, out, e) == 0 && cover(out, e) == 0)
		return 0;
	slurmconf_site_fini(out);
	return -1;
}

void slurmconf_site_fini(struct slurmconf_site *s)
{
	map_fini(&s->by_key);
	map_fini(&s->part_named);
	map_fini(&s->ours);
	map_fini(&s->known);
	map_fini(&s->has_nodes);
	map_fini(&s->has_gres);
	for (size_t i = 0; i < s->nsettings; i++)
		free(s->settings[i].key);
	for (size_t i = 0; i < s->nparts; i++)
		free(s->parts[i].name);
	for (size_t i = 0; i < s->nsets; i++)
		free(s->sets[i].name);
	for (size_t i = 0; i < s->nkept; i++)
		hostlist_free(s->kept[i]);
	free(s->kept);
	free(s->settings);
	free(s->parts);
	free(s->sets);
	free(s->pools);
	*s = (struct slurmconf_site){.conf = NULL};
}
