/* sim_topology.c - where machines are (ADR 66): what the provider says of that, and the judge of
 * who asks and what he makes of the answer.
 *
 * A machine in a fabric is where all of that are, but for fabrics that the provider did not keep
 * together; any other is somewhere of its own, so that a path on another machine is noticed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cloud/cloud_api.h"
#include "core/fleet.h"
#include "core/hops.h"
#include "sim_journal.h"
#include "sim_slurm.h"
#include "sim_wire.h"

#define PLACED_WORDS "burstd: placed: "

enum {
	GAP_MS = 5 * SIM_SECOND,        /* from an answer to the next question */
	HOUR_MS = 60 * SIM_MINUTE,      /* ... if nobody may ask, or all is refused */
	REFUSED_MAX = 3,                /* single ones, one after the other: all is refused */
	PAUSE_MIN_MS = SIM_SECOND,      /* after a failure, doubling ... */
	PAUSE_MAX_MS = 30 * SIM_SECOND, /* ... up to this */
};

/* By no dice but those for the faults, and by a prime of their own: the other worlds stay as they
 * are. */
void sim_topology_choose(struct world *w)
{
	uint64_t rng = w->rng;

	if (w->seed % 13 != 6 && w->seed % 13 != 10)
		return;
	w->rng = rng ^ 0x70b0;
	w->set.paths = true;
	for (int f = SIM_PATHS_REFUSED; f <= SIM_PATHS_SLOW; f++)
		if (world_one_in(w, w->set.calm ? 4 : 2))
			w->set.chance[f] = sim_faults[f].per_mille;
	w->rng = rng;
}

/* --- where they are ----------------------------------------------------------------------------
 */

static unsigned hash(const char *text)
{
	unsigned h = 5381;

	for (; *text != '\0'; text++)
		h = h * 33 + (unsigned char)*text;
	return h % 1000;
}

static bool is_kept(const char *fabric)
{
	return fabric[0] != '\0' && hash(fabric) % 3 != 0;
}

/* It says nothing of this one, ever. */
static bool is_silent(const struct inst *i)
{
	return i->number % 7 == 5;
}

static void path_of(const struct inst *i, char out[64])
{
	if (is_silent(i))
		out[0] = '\0';
	else if (is_kept(i->fabric))
		(void)snprintf(out, 64, "s%u/f%u", hash(i->fabric) % 2, hash(i->fabric));
	else
		(void)snprintf(out, 64, "s%u/m%u", (unsigned)i->number % 2, (unsigned)i->number);
}

static void show(struct wire *q, const struct inst *i)
{
	char path[64];
	const char *slash;

	path_of(i, path);
	slash = strchr(path, '/');
	if (slash == NULL)
		return;
	str_addf(&q->body, "%s{\"id\":\"i-%u\",\"path\":[\"%.*s\",\"%s\"]}",
		 q->body.p[q->body.len - 1] == '[' ? "" : ",", (unsigned)i->number,
		 (int)(slash - path), path, slash + 1);
}

/* In no order, and others that nobody asked about, too. */
static void show_all(struct world *w, struct wire *q)
{
	str_adds(&q->body, "{\"instances\":[");
	if (world_one_in(w, 4))
		for (size_t k = 0; k < w->cloud->nlive; k++)
			show(q, w->cloud->live[k]);
	else
		for (size_t k = q->nids; k > 0; k--)
			if (sim_cloud_find(w->cloud, q->ids[k - 1]) != NULL)
				show(q, sim_cloud_find(w->cloud, q->ids[k - 1]));
	str_adds(&q->body, "]}");
}

static void met(struct world *w, enum sim_fault f, const struct wire *q)
{
	for (size_t k = 0; k < q->nids; k++) {
		const struct inst *i = sim_cloud_find(w->cloud, q->ids[k]);

		if (i != NULL)
			world_met(w, f, i->node, i->gen);
	}
}

static bool has_odd(struct world *w, const struct wire *q)
{
	for (size_t k = 0; k < q->nids; k++) {
		struct inst *i = sim_cloud_find(w->cloud, q->ids[k]);

		if (i != NULL && !i->weighed) {
			i->weighed = true;
			i->unplaced = world_fault(w, SIM_PATHS_REFUSED);
		}
		if (i == NULL || i->unplaced || !inst_live(i))
			return true;
	}
	return false;
}

const char *sim_topology_serve(struct world *w, struct wire *q)
{
	if (w->now >= w->cloud->places_denied_until && world_fault(w, SIM_PATHS_DENIED))
		w->cloud->places_denied_until = w->now + world_between(w, 1, 90) * SIM_MINUTE;
	if (w->now < w->cloud->places_denied_until) {
		met(w, SIM_PATHS_DENIED, q);
		return "denied";
	}
	if (has_odd(w, q)) {
		met(w, SIM_PATHS_REFUSED, q);
		return world_one_in(w, 2) ? "invalid" : "not-found";
	}
	show_all(w, q);
	if (world_fault(w, SIM_PATHS_SLOW)) {
		met(w, SIM_PATHS_SLOW, q);
		if (world_one_in(w, 2))
			sim_wire_no_reply(w, q);
		else
			q->hold_ms = world_between(w, 1, w->set.timeout_ms / 2);
	}
	return NULL;
}

/* --- who asks ----------------------------------------------------------------------------------
 */

/* The row whose instance it is, perhaps of another generation (F58); NULL: none's. */
static const struct sim_row *row_of(const struct world *w, const struct inst *i)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);

	for (size_t k = 0; k < n; k++)
		if (r[k].n.state != NODE_GONE && sim_cloud_by_id(w->cloud, r[k].n.instance) == i)
			return &r[k];
	return NULL;
}

static struct sim_asker *asker(struct world *w, bool twin)
{
	struct sim_asker *a = &w->cloud->askers[twin];

	if (a->life != w->life + 1)
		*a = (struct sim_asker){.life = w->life + 1};
	return a;
}

/* A reload asks at once: rights may be there now. */
static bool is_early(const struct world *w, const struct sim_asker *a)
{
	return w->now < a->next_at && w->reloaded < a->told_at;
}

/* By the name of the account that it was bought by, and not again. */
static void check_asked(struct world *w, const struct inst *i, bool twin)
{
	const struct sim_row *r = row_of(w, i);

	if (r == NULL)
		return; /* its row has lost it since */
	if ((strcmp(r->n.provider, "twin") == 0) != twin)
		world_fail(w, "ADR 66: i-%u of %s is asked about where it was not bought",
			   (unsigned)i->number, i->node);
	if (i->placed_life == w->life + 1 && r->n.gen == i->placed_gen)
		world_fail(w, "ADR 66: it is asked again where i-%u of %s is", (unsigned)i->number,
			   i->node);
}

void sim_topology_asked(struct world *w, const struct wire *q, const struct wire *all)
{
	struct sim_asker *a = asker(w, q->twin);

	for (; all != NULL; all = all->next)
		if (all != q && all->kind == WIRE_PATHS && all->done != NULL &&
		    all->twin == q->twin)
			world_fail(w, "ADR 66: two questions at once where machines are");
	if (!w->set.paths)
		world_fail(w, "ADR 66: the provider cannot say where machines are");
	if (is_early(w, a))
		world_fail(w, "ADR 66: it is asked where machines are %lld ms too early",
			   (long long)(a->next_at - w->now));
	if (q->nids > SIM_PATHS_MAX || (a->most > 0 && q->nids > a->most))
		world_fail(w, "ADR 66: it is asked where %zu machines are at once", q->nids);
	for (size_t k = 0; k < q->nids; k++) {
		const struct inst *i = sim_cloud_find(w->cloud, q->ids[k]);

		if (i == NULL || i->pool == SIM_POOLS_MAX)
			world_fail(w, "ADR 66: it is asked where i-%u is, which is not ours",
				   (unsigned)q->ids[k]);
		else
			check_asked(w, i, q->twin);
		for (size_t m = 0; m < k; m++)
			if (q->ids[m] == q->ids[k])
				world_fail(w, "ADR 66: i-%u is asked about twice at once",
					   (unsigned)q->ids[k]);
	}
}

/* Burstd knows now, or that nobody knows. */
static void placed(struct world *w, const struct wire *q, bool told)
{
	for (size_t k = 0; k < q->nids; k++) {
		struct inst *i = sim_cloud_find(w->cloud, q->ids[k]);

		/* Another one may be the node's by now. */
		if (i == NULL || row_of(w, i) == NULL)
			continue;
		i->placed_life = w->life + 1;
		i->placed_gen = row_of(w, i)->n.gen;
		i->place_told = told;
		w->totals->placed += told && !is_silent(i);
	}
}

static void refused(struct world *w, struct sim_asker *a, const struct wire *q)
{
	a->most = q->nids > 1 ? q->nids / 2 : 1;
	if (q->nids > 1)
		return;
	placed(w, q, false);
	if (++a->odd < REFUSED_MAX)
		return;
	a->next_at = w->now + HOUR_MS;
	a->odd = 0;
	a->most = 0;
}

static void failed(struct world *w, struct sim_asker *a, const struct wire *q)
{
	int64_t pause = a->pause < PAUSE_MIN_MS ? PAUSE_MIN_MS : 2 * a->pause;

	if (q->error.code == 0 && q->status == 403) {
		a->next_at = w->now + HOUR_MS;
		a->odd = 0;
		a->most = 0;
		return;
	}
	a->pause = pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS;
	pause = q->error.code == 0 ? q->retry_s * SIM_SECOND : 0;
	pause = pause > a->pause ? pause : a->pause;
	if (pause > GAP_MS)
		a->next_at = w->now + pause;
}

void sim_topology_told(struct world *w, const struct wire *q)
{
	struct sim_asker *a = asker(w, q->twin);

	a->told_at = w->now;
	a->next_at = w->now + GAP_MS;
	if (q->error.code == 0 && q->status == 200 && !q->garbage) {
		placed(w, q, true);
		a->odd = 0;
		a->pause = 0;
		a->most = 2 * a->most < SIM_PATHS_MAX ? 2 * a->most : 0;
	} else if (q->error.code == 0 && (q->status == 400 || q->status == 404)) {
		refused(w, a, q);
	} else {
		failed(w, a, q);
	}
}

void sim_topology_row(struct world *w, const struct node *was, const struct node *next)
{
	struct inst *i = sim_cloud_by_id(w->cloud, was->instance);

	if (i != NULL && strcmp(was->instance, next->instance) != 0)
		i->placed_life = 0;
}

/* --- what is known -----------------------------------------------------------------------------
 */

static void check_path(struct world *w, const struct fleet_node *fn)
{
	const struct inst *i = sim_cloud_by_id(w->cloud, fn->n.instance);
	char path[64];

	if (i == NULL || i->placed_life != w->life + 1) {
		world_fail(w, "ADR 66: %s is at \"%s\", and nobody said so of %s", fn->n.name,
			   fn->path, fn->n.instance);
		return;
	}
	path_of(i, path);
	if (strcmp(fn->path, i->place_told ? path : "") != 0)
		world_fail(w, "ADR 66: %s is at \"%s\", and %s is at \"%s\"", fn->n.name, fn->path,
			   fn->n.instance, i->place_told ? path : "");
}

static void check_apart(struct world *w)
{
	struct engine_apart a;

	for (size_t i = 0; engine_apart(w->engine, i, &a); i++)
		if (is_kept(a.fabric))
			world_fail(w, "ADR 66: fabric %s is said to be apart (%s), and is together",
				   a.fabric, a.nodes);
}

void sim_topology_check(struct world *w)
{
	const struct fleet *f = w->engine != NULL ? engine_fleet(w->engine) : NULL;

	if (!w->set.paths || f == NULL || w->crashed)
		return;
	for (size_t k = 0; k < f->nall; k++)
		for (const struct fleet_node *fn = f->all[k]->newest; fn != NULL; fn = fn->older)
			if (fn->path != NULL && fn->n.state != NODE_GONE)
				check_path(w, fn);
	check_apart(w);
}

/* What a running job is told of its nodes.  An order that was on its way for long may be for an
 * earlier run. */
void sim_topology_said(struct sim_ctld *c, const struct ctld_job *j, const char *comment)
{
	const int64_t since = c->w->now - SIM_MINUTE;
	char paths[JOB_NODES_MAX][64], far[HOPS_TEXT_SIZE], want[128];
	struct hops h = {.first = NULL};

	if (strncmp(comment, PLACED_WORDS, sizeof(PLACED_WORDS) - 1) != 0 ||
	    j->state != JOB_RUNNING || j->given_at > since || c->troubled > since)
		return;
	for (uint32_t k = 0; k < j->n; k++) {
		const struct inst *i = sim_cloud_find(c->w->cloud, c->nodes[j->nodes[k]].inst);

		if (i == NULL || !inst_live(i))
			return;
		path_of(i, paths[k]);
		hops_add(&h, paths[k]);
	}
	(void)snprintf(want, sizeof(want), PLACED_WORDS "%u nodes %s", (unsigned)j->n,
		       hops_text(far, hops_of(&h)));
	if (h.unknown > 0 || strcmp(comment, want) != 0)
		world_fail(c->w, "ADR 66: job %u is told \"%s\", and has %s", (unsigned)j->id,
			   comment, want);
}

/* Two of them are known to be apart: is that said? */
static bool is_said(const struct world *w, const struct inst *one)
{
	struct engine_apart a;

	for (size_t i = 0; engine_apart(w->engine, i, &a); i++)
		if (strcmp(a.fabric, one->fabric) == 0)
			return true;
	return false;
}

static bool is_known(const struct world *w, const struct inst *i)
{
	const struct sim_row *r = row_of(w, i);

	return i->pool != SIM_POOLS_MAX && i->placed_life == w->life + 1 && i->place_told &&
	       !is_silent(i) && r != NULL && r->n.state == NODE_READY;
}

static bool are_said(const struct world *w, const struct inst *i, char *why, size_t size)
{
	for (size_t k = 0; k < w->cloud->nlive; k++) {
		const struct inst *o = w->cloud->live[k];

		if (o == i || is_kept(i->fabric) || i->fabric[0] == '\0' || o->pool != i->pool ||
		    strcmp(o->fabric, i->fabric) != 0 || !is_known(w, i) || !is_known(w, o) ||
		    is_said(w, i))
			continue;
		(void)snprintf(why, size, "%s and %s are apart, and nobody says so (ADR 66)",
			       i->node, o->node);
		return false;
	}
	return true;
}

/* What is said is no older than the machines. */
static bool is_current(const struct world *w, char *why, size_t size)
{
	struct engine_apart a;

	for (size_t i = 0; engine_apart(w->engine, i, &a); i++) {
		size_t n = 0;

		for (size_t k = 0; k < w->cloud->nlive; k++)
			n += is_known(w, w->cloud->live[k]) &&
			     strcmp(w->cloud->live[k]->fabric, a.fabric) == 0;
		if (n == a.n)
			continue;
		(void)snprintf(why, size,
			       "%zu machines of fabric %s are said to be apart, and "
			       "%zu are up (ADR 66)",
			       a.n, a.fabric, n);
		return false;
	}
	return true;
}

bool sim_topology_settled(struct world *w, char *why, size_t size)
{
	if (w->set.paths && !is_current(w, why, size))
		return false;
	for (size_t k = 0; w->set.paths && k < w->cloud->nlive; k++) {
		const struct inst *i = w->cloud->live[k];
		const struct sim_row *r = row_of(w, i);
		const bool ready = r != NULL && r->n.state == NODE_READY;
		const struct sim_asker *a = asker(w, ready && strcmp(r->n.provider, "twin") == 0);

		if (!ready || is_early(w, a))
			continue;
		if (i->placed_life != w->life + 1) {
			(void)snprintf(why, size, "nobody asks where i-%u of %s is (ADR 66)",
				       (unsigned)i->number, i->node);
			return false;
		}
		if (!are_said(w, i, why, size))
			return false;
	}
	return true;
}
