/* Gathers what core/submit.h makes a table of: what pools have and what their machines cost, and
 * which partitions have nodes of them. */
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/fnv.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "buy/buy.h"
#include "core/submit.h"
#include "jobs/jobs.h"
#include "money/money.h"
#include "slurm/require.h"
#include "slurm/show.h"

struct submit_seen { /* of slurmctld's partitions, as of known_ms */
	int64_t known_ms;
	const struct conf *conf; /* that it was counted for */
	uint64_t hash;           /* of what slurmctld showed */
	struct submit_partition *v;
	size_t n;
};

/* --- what slurmctld has ------------------------------------------------------------------------
 */

static void forget(struct submit_seen *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].name);
		free(s->v[i].list);
		free(s->v[i].of_pool);
	}
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

static char *copy_of(struct slurm_text t)
{
	char *s = mem_zalloc(t.n + 1);

	memcpy(s, t.p, t.n);
	return s;
}

static void count(const struct conf *c, const struct hostlist *h, struct submit_partition *p)
{
	p->of_pool = mem_zalloc((c->npools + 1) * sizeof(*p->of_pool));
	for (size_t i = 0; i < h->n; i++) {
		const struct conf_pool *pool = conf_pool_of(c, h->names[i]);

		if (pool != NULL)
			p->of_pool[conf_pool_index(c, pool)]++;
		else
			p->others++;
	}
	p->total = (uint32_t)h->n;
}

/* A partition whose nodes cannot be read is left out. */
static void add(struct submit_seen *s, struct slurm_text name, struct slurm_text list, size_t *left)
{
	struct submit_partition p = {.name = NULL};
	struct hostlist *h;

	if (name.n == 0 || list.n == 0 || hostlist_parse(&h, list.p, list.n, NULL) != 0)
		return;
	if (h->n <= *left) {
		*left -= h->n;
		count(s->conf, h, &p);
		p.name = copy_of(name);
		p.list = copy_of(list);
		s->v = mem_realloc(s->v, (s->n + 1) * sizeof(*s->v));
		s->v[s->n++] = p;
	}
	hostlist_free(h);
}

/* Count anew, if slurmctld has said anything else since, or the pools are others. */
static struct submit_seen *see(struct engine *e)
{
	struct submit_seen *s = e->buy->submit;
	struct slurm_text rest = prereq_partitions(e), line, name;
	size_t left = SLURM_MEMBERS_MAX;
	uint64_t hash;

	if (s == NULL)
		s = e->buy->submit = mem_zalloc(sizeof(*s));
	if (s->conf == e->conf && s->known_ms == prereq_known_ms(e))
		return s;
	s->known_ms = prereq_known_ms(e);
	hash = rest.n > 0 ? fnv_bytes(FNV_BEGIN, rest.p, rest.n) : 0;
	if (s->conf != e->conf || s->hash != hash) {
		forget(s);
		s->conf = e->conf;
		s->hash = hash;
		while (slurm_show_cut(&rest, '\n', &line))
			if (slurm_show_cut(&line, ' ', &name))
				add(s, name, line, &left);
	}
	return s;
}

/* --- what burstd has ---------------------------------------------------------------------------
 */

static void note_row(const struct engine *e, const struct node *n, struct submit_live *live)
{
	const struct conf_offer *o = engine_offer_of(e, n);
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[n->pool], NULL);

	if (live->nodes == 0 || n->rate_nano_h < live->least_nano_h)
		live->least_nano_h = n->rate_nano_h;
	live->nodes++;
	live->rate_nano_h = clamp_add(live->rate_nano_h, n->rate_nano_h);
	if (o != NULL)
		live->rungs |= UINT32_C(1) << (size_t)(o - rungs);
	else
		live->strange = true;
}

static struct submit_live *look_at_rows(const struct engine *e)
{
	struct submit_live *live = mem_zalloc((e->conf->npools + 1) * sizeof(*live));

	for (int state = 0; state < NODE_NSTATES; state++)
		for (const struct fleet_node *fn = e->fleet.states[state];
		     fn != NULL && state != NODE_GONE; fn = fn->state_next)
			note_row(e, &fn->n, &live[fn->n.pool]);
	for (size_t i = 0; i < e->conf->npools; i++)
		live[i].own_gres = prereq_has_own_gres(e, i);
	return live;
}

void engine_submit(struct engine *e, struct str *out)
{
	const struct submit_seen *seen = see(e);
	struct ladder_known **known =
		mem_zalloc((e->conf->npools + 1) * sizeof(struct ladder_known *));
	struct submit_live *live = look_at_rows(e);
	const struct submit s = {.conf = e->conf,
				 .known = known,
				 .live = live,
				 .partitions = seen->v,
				 .npartitions = seen->n,
				 .budgets = e->money->budgets};

	for (uint32_t i = 0; i < e->conf->npools; i++)
		known[i] = place_known(e, i);
	submit_print(&s, out);
	for (size_t i = 0; i < e->conf->npools; i++)
		free(known[i]);
	free(known);
	free(live);
}

static void submit_free(struct engine *e)
{
	struct submit_seen *s = e->buy->submit;

	if (s == NULL)
		return;
	forget(s);
	free(s);
	e->buy->submit = NULL;
}

const struct engine_part submit_part = {
	.name = "what submissions are refused for",
	.at = {[PART_FREE] = submit_free},
};
