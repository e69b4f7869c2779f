/* sim_fabric.c - fabrics, names under which machines are made together: whose they are, and the
 * check of which machine is in which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_cloud.h"
#include "sim_journal.h"

/* The seed's share of the numbers that divide its nodes; but each node is no unit. */
static uint32_t unit_for(uint64_t seed, uint32_t nnodes)
{
	uint32_t sizes[SIM_NODES_MAX], n = 0;

	for (uint32_t k = 2; k <= nnodes; k++)
		if (nnodes % k == 0)
			sizes[n++] = k;
	return sizes[seed / 8 % n];
}

/* By no dice at all, so that the other worlds stay as they are without it. */
void sim_fabric_choose(struct world *w)
{
	w->set.fabric = w->seed % 4 == 1;
	w->set.units = w->seed % 8 == 3 || w->seed % 8 == 6;
	for (size_t i = 0; w->set.units && i < w->set.npools; i++)
		w->set.pools[i].unit = unit_for(w->seed, w->set.pools[i].nnodes);
}

static const char own[] = "5111eb00-0000-4000-8000-000000000001";

static void add(struct sim_cloud *c, const char *name, const char *cluster, bool ours)
{
	struct sim_fabric *f = &c->fabrics[c->nfabrics];

	if (c->nfabrics == SIM_FABRICS_MAX) {
		world_fail(c->w, "%d fabrics, and none is dropped", SIM_FABRICS_MAX);
		return;
	}
	c->nfabrics++;
	*f = (struct sim_fabric){.ours = ours};
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	(void)snprintf(f->cluster, sizeof(f->cluster), "%s", cluster);
}

/* Another cluster's; and an admin's own, with our tag. */
void sim_fabric_init(struct sim_cloud *c)
{
	add(c, "burstd-0badc0de-17", "0badc0de-0000-4000-8000-000000000001", false);
	add(c, "burstd-0badc0de-18", own, false);
	add(c, "lab", own, false);
}

static struct sim_fabric *find(struct sim_cloud *c, const char *name)
{
	for (size_t i = 0; i < c->nfabrics; i++)
		if (strcmp(c->fabrics[i].name, name) == 0)
			return &c->fabrics[i];
	return NULL;
}

bool sim_fabric_there(const struct sim_cloud *c, const char *name)
{
	for (size_t i = 0; i < c->nfabrics; i++)
		if (strcmp(c->fabrics[i].name, name) == 0)
			return true;
	return false;
}

const char *sim_fabric_make(struct sim_cloud *c, const char *name, const char *cluster)
{
	if (find(c, name) == NULL)
		add(c, name, cluster, true);
	return "ok";
}

void sim_fabric_refuse(struct sim_cloud *c, const char *name)
{
	(void)snprintf(c->unmade[c->nunmade++ % SIM_FABRICS_MAX], sizeof(c->unmade[0]), "%s", name);
}

bool sim_fabric_refused(const struct sim_cloud *c, const char *name)
{
	for (size_t i = 0; i < c->nunmade && i < SIM_FABRICS_MAX; i++)
		if (strcmp(c->unmade[i], name) == 0)
			return true;
	return false;
}

/* --- units ---------------------------------------------------------------------------------------
 */

bool sim_fabric_is_none(const struct world *w, size_t rung)
{
	return w->set.units && (w->set.twins ? rung > 0 : rung == 2);
}

/* The name of the fabric of this node's unit, as the provider may expect it: the first of its
 * nodes, and how many they are.  "": the pool has no units. */
static void unit_name(const struct world *w, const char *node, char name[64])
{
	const struct sim_pool *p = world_pool_of(w, node);
	unsigned long number = strtoul(node + 1, NULL, 10);

	name[0] = '\0';
	if (p != NULL && p->unit != 0)
		(void)snprintf(name, 64, "burstd-%.8s-%c%lu-%u", own, node[0],
			       (number - 1) / p->unit * p->unit + 1, p->unit);
}

static bool is_of_unit(const struct sim_cloud *c, const char *node, const char *name)
{
	char unit[64];

	unit_name(c->w, node, unit);
	return strcmp(unit, name) == 0;
}

bool sim_fabric_unit_refused(const struct sim_cloud *c, const char *node)
{
	char unit[64];

	unit_name(c->w, node, unit);
	return unit[0] != '\0' && sim_fabric_refused(c, unit);
}

static bool is_bought_elsewhere(const struct world *w, const char *offer)
{
	static const char *const names[] = {"home", "spot", "away"};

	for (size_t i = 0; i < SIM_RUNGS; i++)
		if (strcmp(offer, names[i]) == 0)
			return sim_fabric_is_none(w, i);
	return false;
}

void sim_fabric_check_units(struct sim_cloud *c)
{
	for (size_t k = 0; c->w->set.units && k < c->nlive; k++) {
		const struct inst *in = c->live[k];

		if (in->fabric[0] != '\0' && !is_of_unit(c, in->node, in->fabric))
			world_fail(c->w, "%s is in fabric %s, which is not its unit's", in->node,
				   in->fabric);
		if (in->fabric[0] != '\0' && !sim_fabric_there(c, in->fabric))
			world_fail(c->w, "%s is in fabric %s, which is gone", in->node, in->fabric);
	}
}

/* A create of a pool with units: one unit, in its fabric, or as the offer says in none. */
static void check_unit(struct sim_cloud *c, const struct create_request *rq,
		       const struct sim_row *one)
{
	bool none = is_bought_elsewhere(c->w, one->n.offer);

	if (none != (rq->fabric[0] == '\0'))
		world_fail(c->w, "%s is bought by offer \"%s\" in fabric \"%s\"", rq->wants[0].node,
			   one->n.offer, rq->fabric);
	for (size_t i = 0; !none && i < rq->n; i++)
		if (!is_of_unit(c, rq->wants[i].node, rq->fabric))
			world_fail(c->w, "%s is bought in fabric %s, which is not its unit's",
				   rq->wants[i].node, rq->fabric);
}

/* Does a row say that its instance is in it, or may be?  A job's name ends with their batch. */
static bool is_needed(const struct sim_cloud *c, const char *name)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(c->w->journal, &r);
	uint64_t batch = strtoull(strrchr(name, '-') + 1, NULL, 10);

	for (size_t k = 0; k < n; k++)
		if (c->w->set.units ? node_counts(&r[k].n) && is_of_unit(c, r[k].n.name, name)
				    : node_lives(&r[k].n) && r[k].n.batch == batch)
			return true;
	return false;
}

bool sim_fabric_is_used(const struct sim_cloud *c, const struct create_request *rq)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(c->w->journal, &r);

	for (size_t k = 0; c->w->set.units && rq->fabric[0] != '\0' && k < n; k++) {
		bool among = false;

		for (size_t i = 0; i < rq->n; i++)
			among = among || (strcmp(rq->wants[i].node, r[k].n.name) == 0 &&
					  rq->wants[i].gen == r[k].n.gen);
		/* Of its own nodes a list may have shown one. */
		among = among && r[k].n.instance[0] == '\0';
		if (!among && node_counts(&r[k].n) && is_of_unit(c, r[k].n.name, rq->fabric))
			return true;
	}
	return false;
}

void sim_fabric_check_drop(struct sim_cloud *c, const char *name)
{
	if (c->w->set.units && c->restored_at == 0 && is_needed(c, name))
		world_fail(c->w, "fabric %s is dropped, and its unit has rows", name);
}

const char *sim_fabric_drop(struct sim_cloud *c, const char *name)
{
	struct sim_fabric *f = find(c, name);

	if (f != NULL && !f->ours)
		world_fail(c->w, "I11: fabric %s is dropped, which is not ours", name);
	if (f == NULL)
		return "not-found";
	/* That of a unit may be needed again since it was asked for. */
	if (f->ours && !c->w->set.units && c->restored_at == 0 && is_needed(c, name))
		world_fail(c->w, "fabric %s is dropped, and a row says that it is needed", name);
	for (size_t k = 0; k < c->nlive; k++)
		if (strcmp(c->live[k]->fabric, name) == 0)
			return "not-yet";
	*f = c->fabrics[--c->nfabrics];
	return "ok";
}

void sim_fabric_list(const struct sim_cloud *c, struct str *out)
{
	str_adds(out, "{\"fabrics\":[");
	for (size_t i = 0; i < c->nfabrics; i++)
		str_addf(out, "%s{\"name\":\"%s\",\"cluster\":\"%s\"}", i > 0 ? "," : "",
			 c->fabrics[i].name, c->fabrics[i].cluster);
	str_adds(out, "],\"cursor\":\"\"}");
}

const char *sim_fabric_left(const struct sim_cloud *c)
{
	for (size_t i = 0; i < c->nfabrics; i++)
		if (c->fabrics[i].ours)
			return c->fabrics[i].name;
	return NULL;
}

/* Has another create a node of this job, of the same offer, that came with this one's? */
static void check_whole(struct sim_cloud *c, const struct create_request *rq,
			const struct sim_row *one)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(c->w->journal, &r);

	for (size_t k = 0; k < n; k++)
		if (r[k].n.group == one->n.group && r[k].n.batch != one->n.batch &&
		    r[k].n.batch != 0 && r[k].n.job == one->n.job && r[k].n.pool == one->n.pool &&
		    strcmp(r[k].n.offer, one->n.offer) == 0 && node_coming(&r[k].n))
			world_fail(c->w, "the job of %s is cut: %s/%u has another fabric",
				   rq->wants[0].node, r[k].n.name, (unsigned)r[k].n.gen);
}

void sim_fabric_check_create(struct sim_cloud *c, const struct create_request *rq)
{
	const struct sim_row *r =
		sim_journal_row(c->w->journal, rq->wants[0].node, rq->wants[0].gen);
	uint32_t group = rq->wants[0].group;

	if (c->w->set.units && r != NULL)
		check_unit(c, rq, r);
	if (!c->w->set.fabric || r == NULL)
		return;
	/* Its other nodes may be in another pool: then it is one among others. */
	for (size_t i = 0; i < rq->n; i++)
		for (size_t k = i + 1; k < rq->n; k++)
			if (rq->wants[i].group != 0 && rq->wants[i].group == rq->wants[k].group &&
			    strcmp(rq->fabric, rq->token) != 0)
				world_fail(c->w, "%s and %s are of one job, and have no fabric",
					   rq->wants[i].node, rq->wants[k].node);
	for (size_t i = 1; rq->fabric[0] != '\0' && i < rq->n; i++)
		if (rq->wants[i].group != group || group == 0)
			world_fail(c->w, "%s and %s are of one fabric, and not of one job",
				   rq->wants[0].node, rq->wants[i].node);
	if (group != 0)
		check_whole(c, rq, r);
	if (rq->fabric[0] != '\0' && !is_needed(c, rq->fabric))
		world_fail(c->w, "I1: fabric %s, of which no row says", rq->fabric);
}
