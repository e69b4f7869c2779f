#include "slurmconf/want.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/hardware.h"
#include "slurm/node_words.h"
#include "slurm/show.h"
#include "slurmconf/billing.h"

enum {
	RESUME_TIMEOUT_S = 60, /* Slurm's default */
};

static bool is_given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* --- lists of nodes ------------------------------------------------------------------------------
 */

struct lists {
	slurmconf_nodes_fn fn;
	void *ctx;
	size_t part; /* how many were told */
};

/* Halve until it fits: n log n, whatever the names are. */
static void lists(struct lists *l, const char *const *names, size_t n)
{
	struct str s;

	str_init(&s, SLURMCONF_LINE_MAX);
	hostlist_fold(&s, names, n);
	if (s.full && n > 1) {
		lists(l, names, n / 2);
		lists(l, names + n / 2, n - n / 2);
	} else {
		l->fn(l->ctx, s.p, l->part++);
	}
	str_fini(&s);
}

void slurmconf_each_list(const struct conf_pool *p, slurmconf_nodes_fn fn, void *ctx)
{
	struct lists l = {.fn = fn, .ctx = ctx};

	lists(&l, p->nodes->names, p->nodes->n);
}

/* --- slurm.conf ----------------------------------------------------------------------------------
 */

struct nodes { /* the lines of one pool */
	const struct slurmconf_want *w;
	const struct conf_pool *pool;
	const struct slurmconf_pool *site;
	struct str *out;
	const char *rest; /* of a line, behind the list */
};

static void node_line(void *ctx, const char *list, size_t part)
{
	const struct nodes *n = ctx;

	(void)part;
	str_addf(n->out, "NodeName=%s%s State=CLOUD\n", list, n->rest);
}

static struct slurmconf_place of_pool(const struct slurmconf_want *w, const struct conf_pool *p)
{
	return (struct slurmconf_place){w->conf->path, p->line};
}

static void partly(const struct nodes *n, const struct slurmconf_owned *o, const char *what)
{
	slurmconf_find(n->w->findings, SLURM_ERROR, o->at,
		       "%s has %zu of the %zu nodes of pool \"%s\": all, or none", what, o->n,
		       n->pool->nodes->n, n->pool->name);
}

/* burstd creates the nodes; NodeName lines for them would be the same nodes twice. */
static void no_nodes(const struct nodes *n)
{
	if (n->site->nodes.n > 0)
		slurmconf_find(
			n->w->findings, SLURM_ERROR, n->site->nodes.at,
			"NodeName has %zu nodes of pool \"%s\", which is dynamic: remove them, "
			"or write dynamic = false",
			n->site->nodes.n, n->pool->name);
	if (strcmp(n->pool->name, SLURM_NODE_FEATURE) == 0)
		slurmconf_find(n->w->findings, SLURM_ERROR, of_pool(n->w, n->pool),
			       "a dynamic pool cannot be named \"%s\": a set of nodes has them by "
			       "the feature of its name, and that one all pools have",
			       n->pool->name);
}

/* A line of that name says what holds for all others. */
static bool is_default(const struct hostlist *h)
{
	bool any = false;

	for (size_t i = 0; i < h->n; i++)
		any = any || strcasecmp(h->names[i], "DEFAULT") == 0;
	return any;
}

static void want_nodes(struct nodes *n)
{
	struct str rest;

	if (is_default(n->pool->nodes))
		slurmconf_find(n->w->findings, SLURM_ERROR, of_pool(n->w, n->pool),
			       "pool \"%s\": no node can be named DEFAULT: its line would be the "
			       "defaults of all others",
			       n->pool->name);

	if (n->pool->dynamic) {
		no_nodes(n);
		return;
	}
	if (n->site->nodes.n > 0) {
		if (n->site->nodes.n < n->pool->nodes->n)
			partly(n, &n->site->nodes, "NodeName");
		return;
	}
	if (!is_given(n->pool->node)) {
		slurmconf_find(n->w->findings, SLURM_ERROR, of_pool(n->w, n->pool),
			       "pool \"%s\": node is not set, and nothing else says what its "
			       "machines have: write there what slurmd -C prints on one "
			       "(--ask-providers proposes a line)",
			       n->pool->name);
		return;
	}
	str_init(&rest, SLURM_NODE_WORDS_MAX);
	slurm_node_words(n->pool, &rest);
	n->rest = rest.p;
	slurmconf_each_list(n->pool, node_line, n);
	str_fini(&rest);
}

static void set_name(struct str *s, const struct conf_pool *p, size_t part)
{
	str_addf(s, SLURMCONF_SET_PREFIX "%s", p->name);
	if (part > 0)
		str_addf(s, "_%zu", part + 1);
}

static void set_line(void *ctx, const char *list, size_t part)
{
	const struct nodes *n = ctx;

	str_adds(n->out, "NodeSet=");
	set_name(n->out, n->pool, part);
	str_addf(n->out, " Nodes=%s\n", list);
}

/* slurmctld does not know dynamic nodes when it reads slurm.conf: a set has them by their feature.
 */
static void want_set(struct nodes *n)
{
	if (!n->pool->dynamic) {
		slurmconf_each_list(n->pool, set_line, n);
		return;
	}
	str_adds(n->out, "NodeSet=");
	set_name(n->out, n->pool, 0);
	str_addf(n->out, " Feature=%s\n", n->pool->name);
}

static void add_set(void *ctx, const char *list, size_t part)
{
	const struct nodes *n = ctx;

	(void)list;
	if (part > 0)
		str_adds(n->out, ",");
	set_name(n->out, n->pool, part);
}

static void add_weights(const struct nodes *n)
{
	struct str s;

	str_init(&s, SLURMCONF_LINE_MAX);
	slurmconf_billing_weights(n->w, n->pool, &s);
	if (s.len > 0)
		str_addf(n->out, " TRESBillingWeights=\"%s\"", s.p);
	str_fini(&s);
}

/* The times of the site's own partition: its own, else the cluster's. */
static void check_own(const struct nodes *n, const struct slurmconf_part *own, int64_t resume_s)
{
	const struct slurmconf_setting *suspend = slurmconf_site_get(n->w->site, "SuspendTime"),
				       *resume = slurmconf_site_get(n->w->site, "ResumeTimeout");
	int64_t have = own->resume.n > 0 ? slurm_show_number(own->resume)
		       : resume != NULL  ? slurm_show_number(resume->value)
					 : RESUME_TIMEOUT_S;

	if (!own->suspends && suspend == NULL)
		slurmconf_find(n->w->findings, SLURM_ERROR, own->at,
			       "partition %s without SuspendTime=: idle nodes of pool \"%s\" bill "
			       "until somebody stops them",
			       own->name, n->pool->name);
	else if (have >= 0 && have < resume_s)
		slurmconf_find(n->w->findings, SLURM_ERROR, own->at,
			       "partition %s with ResumeTimeout=%lld; write ResumeTimeout=%lld: "
			       "slurmctld gives up nodes of pool \"%s\" that still boot, and "
			       "requeues their job again and again",
			       own->name, (long long)have, (long long)resume_s, n->pool->name);
}

/* What slurm.conf(5) allows a partition to override; the site's own times hold for its own nodes.
 */
static void want_part(struct nodes *n)
{
	const struct slurmconf_part *own = n->site->part,
				    *other = map_get(&n->w->site->part_named, n->pool->name);
	int64_t resume_s = (n->pool->boot_ms + 999) / 1000 + SLURM_BOOT_MARGIN_S;

	if (own != NULL) {
		check_own(n, own, resume_s);
		return;
	}
	if (other != NULL) {
		slurmconf_find(n->w->findings, SLURM_ERROR, other->at,
			       "partition %s without all nodes of the pool of that name: write "
			       "Nodes=" SLURMCONF_SET_PREFIX "%s, or another name",
			       other->name, n->pool->name);
		return;
	}
	if (strcasecmp(n->pool->name, "DEFAULT") == 0) {
		slurmconf_find(n->w->findings, SLURM_ERROR, of_pool(n->w, n->pool),
			       "pool \"%s\": with that name its partition would be the defaults of "
			       "all others: rename it, or write a partition with all its nodes",
			       n->pool->name);
		return;
	}
	str_addf(n->out, "PartitionName=%s Nodes=", n->pool->name);
	if (n->pool->dynamic)
		set_name(n->out, n->pool, 0);
	else
		slurmconf_each_list(n->pool, add_set, n);
	str_addf(n->out, " State=UP SuspendTime=%d SuspendTimeout=%d ResumeTimeout=%lld",
		 SLURMCONF_SUSPEND_S, SLURMCONF_SUSPEND_TIMEOUT_S, (long long)resume_s);
	add_weights(n);
	str_adds(n->out, "\n");
}

/* Who reads the weights later must not take them for what machines cost. */
static void explain_weights(const struct slurmconf_want *w, struct str *out)
{
	char unit[FMT_MONEY_SIZE];
	struct str s;

	str_init(&s, SLURMCONF_LINE_MAX);
	for (size_t i = 0; i < w->conf->npools; i++)
		if (w->site->pools[i].part == NULL)
			slurmconf_billing_weights(w, &w->conf->pools[i], &s);
	if (s.len > 0)
		str_addf(out,
			 "# A unit of TRESBillingWeights is %s %s an hour at list prices: not "
			 "what spot costs.\n",
			 fmt_money(unit, w->conf->billing_unit_nano_h), w->conf->currency);
	str_fini(&s);
}

void slurmconf_want_slurm(const struct slurmconf_want *w, struct str *out)
{
	slurmconf_want_settings(w, out);
	explain_weights(w, out);
	for (size_t i = 0; i < w->conf->npools; i++) {
		struct nodes n = {
			.w = w, .pool = &w->conf->pools[i], .site = &w->site->pools[i], .out = out};

		want_nodes(&n);
		want_set(&n);
		want_part(&n);
	}
}

/* --- gres.conf -----------------------------------------------------------------------------------
 */

/* Without File= slurmd counts no GPU. */
static void gres_rest(const struct hardware_gres *g, struct str *s)
{
	str_addf(s, "%s Name=%s", strcmp(g->name, "gpu") == 0 ? " AutoDetect=off" : "", g->name);
	if (g->type[0] != '\0')
		str_addf(s, " Type=%s", g->type);
	if (strcmp(g->name, "gpu") == 0)
		str_addf(s, g->count > 1 ? " File=/dev/nvidia[0-%u]" : " File=/dev/nvidia0",
			 g->count - 1);
	else
		str_addf(s, " Count=%u", g->count);
}

static void gres_line(void *ctx, const char *list, size_t part)
{
	const struct nodes *n = ctx;

	(void)part;
	str_addf(n->out, "NodeName=%s%s\n", list, n->rest);
}

static void want_kind(struct nodes *n, const struct hardware_gres *g)
{
	struct str rest;

	str_init(&rest, 512);
	gres_rest(g, &rest);
	n->rest = rest.p;
	slurmconf_each_list(n->pool, gres_line, n);
	str_fini(&rest);
}

/* Only the driver knows which file is of which type, where there are several, and which are a MIG
 * instance's. */
static bool is_detected(const struct hardware_gres_list *l)
{
	size_t gpus = 0;
	bool mig = false;

	for (size_t i = 0; i < l->n; i++) {
		gpus += strcmp(l->v[i].name, "gpu") == 0;
		mig = mig || (strcmp(l->v[i].name, "gpu") == 0 && hardware_is_mig(&l->v[i]));
	}
	return mig || gpus > 1;
}

/* With AutoDetect for a cloud node slurmctld does not start ("Cannot use AutoDetect on cloud
 * node"), not even if gres.conf has it for all nodes. */
static void no_detection(struct nodes *n)
{
	n->rest = " AutoDetect=off";
	slurmconf_each_list(n->pool, gres_line, n);
}

static void want_gres(struct nodes *n)
{
	struct hardware_gres_list l = {.n = 0};
	bool detected;

	if (is_given(n->pool->gres))
		(void)hardware_parse_gres(n->pool->gres, &l, NULL);
	detected = is_detected(&l);
	if (detected)
		slurmconf_find(
			n->w->findings, SLURM_WARNING, of_pool(n->w, n->pool),
			"pool \"%s\": burstd does not know the device files of gres = \"%s\": "
			"write lines with MultipleFiles= into gres.conf, or AutoDetect=nvml "
			"(nvidia does not see MIG) into that of the nodes' image alone",
			n->pool->name, n->pool->gres);
	if (detected || (l.n == 0 && n->w->site->detects))
		no_detection(n);
	for (size_t i = 0; i < l.n; i++)
		if (!detected || strcmp(l.v[i].name, "gpu") != 0)
			want_kind(n, &l.v[i]);
}

void slurmconf_want_gres(const struct slurmconf_want *w, struct str *out)
{
	for (size_t i = 0; i < w->conf->npools; i++) {
		struct nodes n = {
			.w = w, .pool = &w->conf->pools[i], .site = &w->site->pools[i], .out = out};

		if (n.site->gres.n == 0)
			want_gres(&n);
		else if (n.site->gres.n < n.pool->nodes->n)
			partly(&n, &n.site->gres, "gres.conf");
	}
}
