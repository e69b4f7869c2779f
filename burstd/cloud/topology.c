#include "cloud/cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "core/hops.h"
#include "core/unit.h"

/* Asks providers where machines that are up stand in their network, each once in its life, and
 * compares that with what the configuration promises: that the machines of a fabric are close to
 * each other (ADR 66).  Nothing follows but what people are told.
 *
 * All of it is in memory: after a restart the providers are asked again. */

enum { APART_NODES_MAX = 160 /* bytes of a folded list */ };

/* --- the question ------------------------------------------------------------------------------
 */

struct asked { /* one question; one block of memory with all of it */
	int64_t sent_ms;
	size_t n;
	const char **ids; /* behind v */
	struct asked_row {
		uint64_t gen;
		char node[HOSTLIST_NAME_MAX + 1];
		char id[PROVIDER_ID_MAX + 1];
	} v[];
};

static bool is_new(const struct cloud *c, const struct fleet_node *fn)
{
	return fn->path == NULL && fn->n.instance[0] != '\0' && cloud_of(c->e, &fn->n) == c;
}

static size_t count_new(const struct cloud *c, size_t most)
{
	size_t n = 0;

	for (const struct fleet_node *fn = c->e->fleet.states[NODE_READY]; fn != NULL && n < most;
	     fn = fn->state_next)
		n += is_new(c, fn);
	return n;
}

static struct asked *gather(const struct cloud *c, size_t n)
{
	struct asked *a = mem_zalloc(sizeof(*a) + n * (sizeof(a->v[0]) + sizeof(a->ids[0])));

	a->ids = (const char **)(void *)(a->v + n);
	a->sent_ms = engine_now(c->e);
	for (const struct fleet_node *fn = c->e->fleet.states[NODE_READY]; a->n < n;
	     fn = fn->state_next) {
		struct asked_row *row = &a->v[a->n];

		if (!is_new(c, fn))
			continue;
		row->gen = fn->n.gen;
		memcpy(row->node, fn->n.name, sizeof(row->node));
		memcpy(row->id, fn->n.instance, sizeof(row->id));
		a->ids[a->n++] = row->id;
	}
	return a;
}

/* --- the answer --------------------------------------------------------------------------------
 */

static const char *path_of(const struct provider_result *r, const char *id)
{
	for (size_t i = 0; i < r->npaths; i++)
		if (strcmp(r->paths[i].id, id) == 0)
			return r->paths[i].path;
	return "";
}

static void take(struct cloud *c, const struct asked *a, const struct provider_result *r)
{
	for (size_t i = 0; i < a->n; i++) {
		struct fleet_name *nm = fleet_find(&c->e->fleet, a->v[i].node);
		struct fleet_node *fn = nm != NULL ? fleet_gen(nm, a->v[i].gen) : NULL;

		if (fn == NULL || fn->path != NULL || strcmp(fn->n.instance, a->v[i].id) != 0)
			continue;
		fn->path = mem_strdup(path_of(r, a->v[i].id));
		c->e->cloud->aparts_due |= fn->path[0] != '\0';
		c->e->cloud->located += fn->path[0] != '\0';
	}
}

/* It does not say, and will not soon.  That delays nothing, and is no trouble of the provider's:
 * perhaps nobody wants to know. */
static void leave(struct cloud *c, const struct provider_result *r)
{
	(void)snprintf(c->unplaced, sizeof(c->unplaced), "%s", r->message);
	c->paths_next = engine_now(c->e) + ENGINE_PATHS_DENIED_MS;
	c->paths_most = c->paths_odd = 0;
}

/* One id may be the reason: ask about half as many.  Of a single one nothing is known then; but
 * where one after the other is refused, it is the question. */
static void refused(struct cloud *c, const struct asked *a, const struct provider_result *r)
{
	const struct provider_result nothing = {.code = PROVIDER_OK};

	c->paths_most = a->n > 1 ? a->n / 2 : 1;
	if (a->n > 1)
		return;
	take(c, a, &nothing);
	if (++c->paths_odd >= ENGINE_PATHS_ODD)
		leave(c, r);
}

static void failed(struct cloud *c, const struct asked *a, const struct provider_result *r)
{
	int64_t pause;

	if (r->code == PROVIDER_DENIED && !session_doubt(c, a->sent_ms)) {
		leave(c, r);
		return;
	}
	pause = c->paths_step = engine_longer(c->paths_step);
	pause = pause > r->retry_after_ms ? pause : r->retry_after_ms;
	if (pause > ENGINE_PATHS_MS)
		c->paths_next = engine_now(c->e) + pause;
}

static void on_answer(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const struct asked *a = ctx;

	c->paths_busy = false;
	c->paths_next = engine_now(c->e) + ENGINE_PATHS_MS;
	if (r->code == PROVIDER_OK) {
		take(c, a, r);
		c->unplaced[0] = '\0';
		c->paths_step = c->paths_odd = 0;
		c->paths_most = 2 * c->paths_most < c->caps.paths_max ? 2 * c->paths_most : 0;
	} else if (r->code == PROVIDER_INVALID || r->code == PROVIDER_NOT_FOUND) {
		refused(c, a, r);
	} else {
		failed(c, a, r);
	}
}

static bool may_ask(const struct cloud *c)
{
	return c->paths_due && !c->paths_busy && !off_is(c) &&
	       (c->caps.flags & PROVIDER_PATHS) != 0;
}

static void ask(struct cloud *c)
{
	struct provider_op op = {.kind = PROVIDER_TOPOLOGY};
	const size_t most = c->paths_most > 0 ? c->paths_most : c->caps.paths_max;
	struct asked *a;
	size_t n;

	if (!may_ask(c) || engine_now(c->e) < c->paths_next)
		return;
	n = count_new(c, most);
	c->paths_due = n > 0;
	if (n == 0 || !cloud_ready(c, PROVIDER_TOPOLOGY))
		return;
	a = gather(c, n);
	c->paths_busy = true;
	op.u.topology.ids = a->ids;
	op.u.topology.nids = a->n;
	cloud_send(c, &op, on_answer, a);
}

const char *engine_unplaced(const struct engine *e, size_t provider)
{
	return e->cloud->all[provider].unplaced;
}

/* --- are fabrics together? ---------------------------------------------------------------------
 */

struct apart {
	char fabric[PROVIDER_WORD_MAX + 1];
	char nodes[APART_NODES_MAX + 1];
	size_t n, provider;
	uint32_t pool, unit;
	int hops;
};

struct member_of { /* a machine of which the provider says where it is */
	char fabric[PROVIDER_WORD_MAX + 1];
	const struct node *n;
	const char *path;
};

/* By provider, fabric and pool: a promise is a pool's. */
static int by_fabric(const void *left, const void *right)
{
	const struct member_of *a = left, *b = right;
	int c;

	if (a->n->cloud != b->n->cloud)
		return a->n->cloud < b->n->cloud ? -1 : 1;
	c = strcmp(a->fabric, b->fabric);
	if (c != 0 || a->n->pool != b->n->pool)
		return c != 0 ? c : a->n->pool < b->n->pool ? -1 : 1;
	return strverscmp(a->n->name, b->n->name);
}

static bool same_fabric(const struct member_of *a, const struct member_of *b)
{
	return a->n->cloud == b->n->cloud && a->n->pool == b->n->pool &&
	       strcmp(a->fabric, b->fabric) == 0;
}

/* All of them, sorted. */
static struct member_of *members(const struct engine *e, size_t *n)
{
	struct member_of *v = NULL;
	size_t cap = 0;

	*n = 0;
	for (const struct fleet_node *fn = e->fleet.states[NODE_READY]; fn != NULL;
	     fn = fn->state_next) {
		if (fn->path == NULL || fn->path[0] == '\0')
			continue;
		if (*n == cap) {
			cap = cap > 0 ? 2 * cap : 64;
			v = mem_realloc(v, cap * sizeof(*v));
		}
		v[*n].n = &fn->n;
		v[*n].path = fn->path;
		*n += engine_fabric(e, &fn->n, v[*n].fabric)[0] != '\0';
	}
	if (*n > 0)
		qsort(v, *n, sizeof(*v), by_fabric);
	return v;
}

static void print_nodes(char out[APART_NODES_MAX + 1], const struct member_of *v, size_t n)
{
	const char **names = mem_zalloc(n * sizeof(*names));
	struct str s;

	for (size_t i = 0; i < n; i++)
		names[i] = v[i].n->name;
	str_init(&s, APART_NODES_MAX);
	hostlist_fold(&s, names, n);
	(void)snprintf(out, APART_NODES_MAX + 1, "%s", s.full ? "" : s.p);
	str_fini(&s);
	free(names);
}

/* Are these machines of one fabric too far from each other?  Then *out has it. */
static bool judge(const struct engine *e, const struct member_of *v, size_t n, struct apart *out)
{
	const struct conf_pool *p = &e->conf->pools[v->n->pool];
	struct hops h = {.first = NULL};
	int hops;

	for (size_t i = 0; i < n; i++)
		hops_add(&h, v[i].path);
	hops = hops_of(&h);
	if (hops != HOPS_APART && hops <= (int)p->fabric_hops)
		return false;
	*out = (struct apart){.n = n,
			      .provider = v->n->cloud,
			      .pool = v->n->pool,
			      .unit = unit_by(p, engine_offer_of(e, v->n), v->n->name),
			      .hops = hops};
	memcpy(out->fabric, v->fabric, sizeof(out->fabric));
	print_nodes(out->nodes, v, n);
	return true;
}

static struct engine_apart shown(const struct apart *a)
{
	return (struct engine_apart){a->fabric, a->nodes, a->n,   a->provider,
				     a->pool,   a->unit,  a->hops};
}

bool engine_apart(const struct engine *e, size_t i, struct engine_apart *out)
{
	if (i >= e->cloud->naparts)
		return false;
	*out = shown(&e->cloud->aparts[i]);
	return true;
}

void engine_apart_text(const struct engine *e, const struct engine_apart *a, struct str *out)
{
	const struct conf_pool *p = &e->conf->pools[a->pool];
	char far[HOPS_TEXT_SIZE];

	str_addf(out, "pool %s: ", p->name);
	if (a->unit != 0)
		str_addf(out, "unit %u: ", a->unit);
	str_addf(out, "%zu machines", a->n);
	if (a->nodes[0] != '\0')
		str_addf(out, " (%s)", a->nodes);
	str_addf(out,
		 " are %s, and fabric_hops is %u: provider %s did not keep what fabric %s promises",
		 hops_text(far, a->hops), p->fabric_hops, e->conf->providers[a->provider].name,
		 a->fabric);
}

/* Told once for as long as it is so. */
static bool was_told(const struct cloud_state *s, const struct apart *a)
{
	for (size_t i = 0; i < s->naparts; i++)
		if (s->aparts[i].pool == a->pool && s->aparts[i].provider == a->provider &&
		    strcmp(s->aparts[i].fabric, a->fabric) == 0)
			return true;
	return false;
}

static void tell(struct engine *e, const struct apart *a)
{
	const struct engine_apart is = shown(a);
	struct str s;

	str_init(&s, 600);
	engine_apart_text(e, &is, &s);
	engine_event(e, "", 0, "fabric-apart", s.p);
	str_fini(&s);
}

static void look(struct engine *e)
{
	struct apart *found = NULL, one;
	size_t n, nfound = 0;
	struct member_of *v = members(e, &n);

	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && same_fabric(&v[i], &v[k]); k++)
			;
		if (!judge(e, v + i, k - i, &one))
			continue;
		found = mem_realloc(found, (nfound + 1) * sizeof(*found));
		found[nfound++] = one;
		if (!was_told(e->cloud, &one))
			tell(e, &one);
	}
	free(v);
	free(e->cloud->aparts);
	e->cloud->aparts = found;
	e->cloud->naparts = nfound;
	e->cloud->aparts_due = false;
	e->cloud->aparts_next = engine_now(e) + ENGINE_APART_MS;
}

/* --- the part ----------------------------------------------------------------------------------
 */

static void on_row(struct engine *e, struct fleet_node *fn, const struct node *was)
{
	if (fn->path != NULL && strcmp(was->instance, fn->n.instance) != 0) {
		free(fn->path);
		fn->path = NULL;
	}
	if (fn->path == NULL && fn->n.state == NODE_READY)
		cloud_of(e, &fn->n)->paths_due = true;
	e->cloud->aparts_due |= fn->path != NULL && was->state != fn->n.state;
}

static void start(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		e->cloud->all[i].paths_due = true;
}

/* Rights may be there now.  Pools may be others: what is shown of them must not wait. */
static void reload(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		e->cloud->all[i].paths_next = 0;
	look(e);
}

static void topology_run(struct engine *e)
{
	if (e->cloud->aparts_due && engine_now(e) >= e->cloud->aparts_next)
		look(e);
}

static void topology_send(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders && !e->dead; i++)
		ask(&e->cloud->all[i]);
}

static int64_t topology_next_ms(const struct engine *e)
{
	int64_t next = e->cloud->aparts_due ? e->cloud->aparts_next : INT64_MAX;

	for (size_t i = 0; i < e->conf->nproviders; i++) {
		const struct cloud *c = &e->cloud->all[i];

		/* What is due and was not sent waits for its turn, or for a session. */
		if (may_ask(c) && c->paths_next > engine_now(e) && c->paths_next < next)
			next = c->paths_next;
	}
	return next;
}

static void topology_free(struct engine *e)
{
	free(e->cloud->aparts);
	e->cloud->aparts = NULL;
}

const struct engine_part topology_part = {
	.name = "topology",
	.at = {[PART_START] = start,
	       [PART_RELOAD] = reload,
	       [PART_RUN] = topology_run,
	       [PART_SEND] = topology_send,
	       [PART_FREE] = topology_free},
	.next_ms = topology_next_ms,
	.row_durable = on_row,
};
