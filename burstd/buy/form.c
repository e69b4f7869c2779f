#include "buy/buy.h"
#include "cloud/cloud.h"
#include "keys/keys.h"
#include "keys/vouchers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/unit.h"

/* Puts the nodes of one place into creates: whole jobs, as many as one create takes. */

static struct cloud *cloud_for(struct engine *e, const struct draft *f)
{
	return &e->cloud->all[f->rung->provider_index];
}

/* The unit in whose fabric the draft's offer buys this row's node; 0: in none. */
static uint32_t unit_in(const struct engine *e, const struct draft *f, const struct node *n)
{
	return unit_by(&e->conf->pools[n->pool], f->rung, n->name);
}

/* With the fabric's name, if burstd makes it: of a job's the driver needs none yet. */
static struct provider_place place_of(const struct engine *e, const struct draft *f,
				      char name[PROVIDER_WORD_MAX + 1])
{
	struct provider_place place = conf_place(f->rung);
	const struct node *n = &f->v[0]->n;
	uint32_t unit = unit_in(e, f, n);

	if (unit != 0)
		place.fabric = unit_fabric(name, e->d.uuid, &e->conf->pools[n->pool], unit);
	else if (!f->alone && conf_makes_fabrics(f->rung))
		place.fabric = NULL;
	place.of_unit = unit != 0;
	return place;
}

/* How many of these nodes fit into one create: whole jobs, if possible. */
static size_t fitting(struct cloud *c, const struct draft *f)
{
	char name[PROVIDER_WORD_MAX + 1];
	struct provider_place place = place_of(c->e, f, name);
	struct provider_create ask = {
		.cluster = c->e->d.uuid,
		.token = "",
		.place = &place,
		.user_data = claims_wanted(c->e, f->rung->provider_index) ? "" : NULL};
	struct provider_want *wants;
	size_t n, whole;

	if (vouchers_wanted(c->e, f->rung->provider_index))
		return 1; /* a token in the user-data is for one machine */
	if (c->ops->fits == NULL)
		return f->n;
	wants = mem_zalloc(f->n * sizeof(*wants));
	for (size_t i = 0; i < f->n; i++)
		wants[i] = (struct provider_want){.node = f->v[i]->name->name,
						  .gen = f->v[i]->n.gen,
						  .group = f->v[i]->n.group};
	ask.wants = wants;
	ask.nwants = f->n;
	n = c->ops->fits(c->self, &ask);
	assert(n > 0 && n <= f->n);
	for (whole = n; whole > 0 && whole < f->n && wants[whole].group != 0 &&
			wants[whole].group == wants[whole - 1].group;)
		whole--;
	free(wants);
	return whole > 0 ? whole : n;
}

bool form_has_room(struct cloud *c, size_t n)
{
	int64_t now = engine_now(c->e);
	uint32_t room = limit_room(&c->limit, PROVIDER_CREATE, now);

	if (n <= room || limit_is_full(&c->limit, PROVIDER_CREATE, now))
		return true;
	limit_wait(&c->limit, PROVIDER_CREATE, (uint32_t)n, now);
	return false;
}

static size_t gang_size(const struct draft *f, size_t at)
{
	uint32_t group = f->v[at]->n.group;
	size_t n = 1;

	while (group != 0 && at + n < f->n && f->v[at + n]->n.group == group)
		n++;
	return n;
}

/* Likewise within the provider's limit now: whole jobs, in order.  0: the first job waits for room.
 */
static size_t fitting_now(struct cloud *c, const struct draft *f)
{
	uint32_t room = limit_room(&c->limit, PROVIDER_CREATE, engine_now(c->e));
	size_t most = fitting(c, f), n = 0, gang;

	if (most <= room)
		return most;
	while (n < most && n + (gang = gang_size(f, n)) <= room)
		n += gang;
	if (n > 0)
		return n < most ? n : most;
	gang = gang_size(f, 0);
	return form_has_room(c, gang < most ? gang : most) ? most : 0;
}

struct ranked {
	struct fleet_node *fn;
	size_t size, at; /* size of its gang; its index before sorting */
	size_t first;    /* index of the first gang of that size */
};

static int by_size(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* The first of v[0..n) that belongs to a gang of the same size as v[n]; n: none does. */
static size_t first_of_size(const struct ranked *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].size == v[n].size)
			return v[i].first;
	return n;
}

/* Put jobs of one size side by side: a driver may launch these alone together.  The size that came
 * first goes first, and jobs of one size in their order, so that no job is passed over for long. */
static void sort_gangs(struct draft *f)
{
	struct ranked *v = mem_zalloc((f->n + 1) * sizeof(*v));

	for (size_t i = 0, size, first; i < f->n; i += size) {
		size = gang_size(f, i);
		v[i].size = size;
		first = first_of_size(v, i);
		for (size_t k = 0; k < size; k++)
			v[i + k] = (struct ranked){f->v[i + k], size, i + k, first};
	}
	qsort(v, f->n, sizeof(*v), by_size);
	for (size_t i = 0; i < f->n; i++)
		f->v[i] = v[i].fn;
	free(v);
}

/* Not sent at all. */
void form_refuse(struct engine *e, struct fleet_node **v, size_t n, enum node_reason reason,
		 const char *why)
{
	for (size_t i = 0; i < n; i++) {
		struct node_event ev = {
			.type = NODE_EV_REFUSED, .reason = reason, .now_ms = engine_now(e)};

		(void)snprintf(v[i]->name->why, sizeof(v[i]->name->why), "%s", why);
		engine_post(e, v[i], &ev);
	}
	engine_spend(e, n);
	engine_commit(e);
}

/* Refuse all nodes: their place cools down. */
static void refuse_sold_out(struct engine *e, struct draft *f)
{
	char why[160], at[FMT_TIME_SIZE];
	const char *place = f->rung->zone[0] != '\0' ? f->rung->zone : f->rung->region;
	struct cooldown_view v = place_view(e, f->rung);
	enum node_reason reason = NODE_BECAUSE_CAPACITY;

	if (place_fails(e, f->rung, why))
		reason = NODE_BECAUSE_UNREACHABLE;
	else if (v.until_ms != 0)
		(void)snprintf(why, sizeof(why),
			       "%.30s: no %.30s in %.25s: no capacity: cools down until %.19sZ",
			       f->rung->provider, f->rung->type, place,
			       engine_time(e, at, v.until_ms));
	else
		(void)snprintf(why, sizeof(why),
			       "%.30s: no %.30s in %.25s: no capacity: another purchase is tried",
			       f->rung->provider, f->rung->type, place);
	form_refuse(e, f->v, f->n, reason, why);
	f->n = 0;
}

static bool is_too_large(struct cloud *c, struct draft *f)
{
	size_t n = fitting(c, f);

	return n < f->n || n > c->caps.create_max;
}

/* Refuse the job: in pieces it would be on several fabrics. */
static void refuse_too_large(struct engine *e, struct draft *f)
{
	char why[160];

	(void)snprintf(why, sizeof(why),
		       "%.60s: fabric: %zu nodes of one job are more than one create can have",
		       f->rung->provider, f->n);
	form_refuse(e, f->v, f->n, NODE_BECAUSE_INVALID, why);
	f->n = 0;
}

/* The image for the first *n nodes; *n is how many of them get it: whole jobs, if possible. */
static struct roll_image image_for(struct engine *e, const struct draft *f, size_t *n)
{
	size_t most = *n, whole = 0;
	struct roll_image image = rolls_choose(e, &f->v[0]->n, f->alone, &most);

	while (most < *n && whole + gang_size(f, whole) <= most)
		whole += gang_size(f, whole);
	*n = whole > 0 ? whole : most;
	return image;
}

void form_flush(struct engine *e, struct draft *f)
{
	struct cloud *c = cloud_for(e, f);

	bool makes = f->alone || (f->n > 0 && unit_in(e, f, &f->v[0]->n) != 0);
	enum provider_op_kind first = makes ? PROVIDER_FABRIC_MAKE : PROVIDER_CREATE;

	if (!cloud_ready(c, first) || e->dead)
		return;
	/* Check this before place_buy(), or the place would wait for a probe that is never sent. */
	if (f->alone && is_too_large(c, f)) {
		refuse_too_large(e, f);
		return;
	}
	if (!f->alone && fitting_now(c, f) == 0)
		return;
	if (!f->asked)
		f->may = place_buy(e, f->rung);
	f->asked = true;
	if (f->may == PLACE_SOLD_OUT)
		refuse_sold_out(e, f);
	if (f->may != PLACE_SELLS)
		return;
	if ((c->caps.flags & PROVIDER_GANGS) == 0)
		sort_gangs(f);
	while (f->n > 0 && cloud_ready(c, first) && !e->dead) {
		size_t n = f->alone ? f->n : fitting_now(c, f);
		struct roll_image image;

		if (n == 0)
			return;
		image = image_for(e, f, &n);
		launch_send(c, f->v, n, image);
		f->n -= n;
		memmove(f->v, f->v + n, f->n * sizeof(struct fleet_node *));
	}
}

static void put(struct draft *f, struct fleet_node *fn)
{
	if (f->n == f->cap) {
		f->cap = f->cap == 0 ? 16 : 2 * f->cap;
		f->v = mem_realloc(f->v, f->cap * sizeof(struct fleet_node *));
	}
	f->v[f->n++] = fn;
}

/* Is the draft of another unit than this node?  A create has nodes of one. */
static bool is_of_another(const struct engine *e, const struct draft *f, const struct node *n)
{
	return f->n > 0 && unit_in(e, f, &f->v[0]->n) != unit_in(e, f, n);
}

/* Put one gang into its place's batch; a gang that does not fit any batch goes in pieces. */
void form_add(struct engine *e, struct draft *f, struct fleet_node **gang_v, size_t n)
{
	size_t max = cloud_for(e, f)->caps.create_max;

	if (f->n > 0 && (f->n + n > max || is_of_another(e, f, &gang_v[0]->n)))
		form_flush(e, f);
	if (is_of_another(e, f, &gang_v[0]->n))
		return; /* no slot, as below */
	for (size_t i = 0; i < n; i++) {
		if (f->n == max)
			form_flush(e, f);
		if (f->n == max)
			return; /* no slot: the rest waits for an answer */
		put(f, gang_v[i]);
	}
}

/* Make a batch of its own for this gang. */
void form_add_alone(struct engine *e, struct draft *f, struct fleet_node **gang_v, size_t n)
{
	if (f->n > 0)
		form_flush(e, f);
	if (f->n > 0 || e->dead)
		return; /* no slot, as above */
	for (size_t i = 0; i < n; i++)
		put(f, gang_v[i]);
	f->alone = true;
	form_flush(e, f);
	f->alone = false;
	f->n = 0;
}
