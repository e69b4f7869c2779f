#include "buy/buy.h"
#include "cloud/cloud.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Chooses the image of each create, and notes what becomes of machines with a new one (core/roll.h
 * decides).  An offer is known by the names of its pool and its own.  Only offers whose driver can
 * name an image in a create have a roll. */

struct roll_of {
	char pool[PROVIDER_WORD_MAX + 1], offer[PROVIDER_WORD_MAX + 1];
	struct roll r;
	uint32_t warm; /* rolls_warm(); memory only */
};

static struct roll_of *find(const struct engine *e, const char *pool, const char *offer)
{
	for (size_t i = 0; i < e->buy->nrolls; i++) {
		struct roll_of *x = &e->buy->rolls[i];

		if (strcmp(x->pool, pool) == 0 && strcmp(x->offer, offer) == 0)
			return x;
	}
	return NULL;
}

static struct roll_of *add(struct engine *e, const char *pool, const char *offer)
{
	struct roll_of *x;

	e->buy->rolls = mem_realloc(e->buy->rolls, (e->buy->nrolls + 1) * sizeof(*e->buy->rolls));
	x = &e->buy->rolls[e->buy->nrolls++];
	*x = (struct roll_of){.r = {.stage = ROLL_SETTLED}};
	(void)snprintf(x->pool, sizeof(x->pool), "%s", pool);
	(void)snprintf(x->offer, sizeof(x->offer), "%s", offer);
	return x;
}

void rolls_free(struct engine *e)
{
	free(e->buy->rolls);
}

void rolls_load(struct engine *e, const struct journal_roll *x)
{
	struct roll_of *to = add(e, x->pool, x->offer);

	to->r = x->r;
	if (to->r.since_ms > engine_now(e)) /* the clock may have gone back (F57) */
		to->r.since_ms = engine_now(e);
}

struct roll *rolls_of(const struct engine *e, size_t pool, const char *offer)
{
	struct roll_of *x = find(e, e->conf->pools[pool].name, offer);

	return x != NULL ? &x->r : NULL;
}

uint32_t *rolls_warm(const struct engine *e, size_t pool, const char *offer)
{
	struct roll_of *x = find(e, e->conf->pools[pool].name, offer);

	assert(x != NULL);
	return &x->warm;
}

void rolls_put(struct engine *e, size_t pool, const char *offer)
{
	const struct roll *r = rolls_of(e, pool, offer);
	struct journal_roll row = {.pool = e->conf->pools[pool].name, .offer = offer};

	assert(r != NULL);
	row.r = *r;
	journal_put_roll(engine_tx(e), &row);
}

static struct roll *roll_for(const struct engine *e, const struct node *n)
{
	return rolls_of(e, n->pool, n->offer);
}

static const char *name(const char *image)
{
	return image[0] != '\0' ? image : "the provider's image";
}

static void tell(struct engine *e, size_t pool, const char *offer, const char *type)
{
	const struct roll *r = rolls_of(e, pool, offer);
	struct str s;

	assert(r != NULL);
	str_init(&s, 640);
	str_addf(&s, "pool %s%s%s: ", e->conf->pools[pool].name, offer[0] != '\0' ? ", offer " : "",
		 offer);
	if (strcmp(r->old, r->next) == 0)
		str_adds(&s, name(r->next));
	else
		str_addf(&s, "%s -> %s", name(r->old), name(r->next));
	if (r->why[0] != '\0')
		str_addf(&s, ": %s", r->why);
	if (r->by[0] != '\0')
		str_addf(&s, ", ordered by %s", r->by);
	engine_event(e, "", 0, type, s.p);
	str_fini(&s);
}

/* --- what the configuration wants --------------------------------------------------------------
 */

static void want(struct engine *e, size_t pool, const struct conf_offer *o)
{
	const char *image = conf_image(e->conf, &e->conf->pools[pool], o);
	struct roll *r = rolls_of(e, pool, o->name);

	if (r == NULL) { /* it is not known yet, so no machine can be replaced by another */
		roll_init(&add(e, e->conf->pools[pool].name, o->name)->r, image, engine_now(e));
		rolls_put(e, pool, o->name);
		return;
	}
	if (!roll_want(r, image, engine_now(e)))
		return;
	rolls_put(e, pool, o->name);
	tell(e, pool, o->name, r->stage == ROLL_CANARY ? "image-canary" : "image-rolling");
}

void rolls_want(struct engine *e)
{
	for (size_t p = 0; p < e->conf->npools; p++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&e->conf->pools[p], &n);

		for (size_t k = 0; k < n; k++) {
			const struct cloud *c = &e->cloud->all[rungs[k].provider_index];

			if (!off_is(c) && (c->caps.flags & PROVIDER_IMAGES) != 0)
				want(e, p, &rungs[k]);
		}
	}
}

/* --- what is bought ----------------------------------------------------------------------------
 */

static bool is_of(const struct node *n, size_t pool, const char *offer)
{
	return n->pool == pool && strcmp(n->offer, offer) == 0;
}

/* Others may have shown by now that its image works. */
uint32_t rolls_untried(const struct engine *e, size_t pool, const char *offer)
{
	const struct roll *r = rolls_of(e, pool, offer);
	uint32_t sum = 0;

	for (int s = NODE_CREATING; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn; fn = fn->state_next)
			sum += fn->n.canary && node_counts(&fn->n) && is_of(&fn->n, pool, offer) &&
			       (r == NULL || strcmp(fn->n.image, r->old) != 0);
	return sum;
}

struct roll_image rolls_choose(struct engine *e, const struct node *first, bool whole, size_t *n)
{
	const struct roll *r = roll_for(e, first);
	uint32_t room;

	if (r == NULL)
		return (struct roll_image){.name = ""};
	if (r->stage != ROLL_CANARY)
		return (struct roll_image){.name = roll_usual(r)};
	room = roll_room(r, e->conf->pools[first->pool].image_canaries,
			 rolls_untried(e, first->pool, first->offer));
	if (room == 0 || (whole && *n > room))
		return (struct roll_image){.name = roll_usual(r)};
	*n = *n < room ? *n : room;
	return (struct roll_image){.name = r->next, .canary = true};
}

/* --- what becomes of it ------------------------------------------------------------------------
 */

void rolls_stop(struct engine *e, size_t pool, const char *offer, const char *why, const char *by)
{
	struct roll *r = rolls_of(e, pool, offer);

	assert(r != NULL);
	if (!roll_stop(r, why, by, engine_now(e)))
		return;
	rolls_put(e, pool, offer);
	tell(e, pool, offer, "image-stopped");
	e->buy->rolls_ms = 0; /* its machines are to be replaced */
}

/* Unless it has an image that nobody wants any more.  say: the words around its name. */
static void fail(struct engine *e, const struct node *n, const char *image,
		 const char *const say[2], const char *why)
{
	const struct roll *r = roll_for(e, n);
	char text[ROLL_WHY_SIZE];

	if (r == NULL || strcmp(r->next, image) != 0)
		return;
	(void)snprintf(text, sizeof(text), "%s%.60s %s%s%.100s", say[0], n->name, say[1],
		       why[0] != '\0' ? ": " : "", why);
	rolls_stop(e, n->pool, n->offer, text, "");
}

void rolls_refused(struct engine *e, const struct node *n, const char *image, const char *why)
{
	fail(e, n, image, (const char *const[]){"the purchase of ", "with it is refused"}, why);
}

bool rolls_failed(struct engine *e, const struct node *n, const char *why)
{
	struct fleet_name *nm = fleet_find(&e->fleet, n->name);

	if (!n->canary)
		return false;
	if (nm != NULL) /* its job comes back when the node has rested */
		pool_node_failed(e, nm, n->gen);
	fail(e, n, n->image, (const char *const[]){"", "came up wrong"}, why);
	return true;
}

/* It switched itself off while it booted, or ended when it was up.  A spot machine that ends may
 * have been taken without a notice. */
static bool died(const struct node *was, const struct node *is)
{
	if (is->state != NODE_DELETING && is->state != NODE_GONE)
		return false;
	if (was->state == NODE_BOOTING)
		return is->reason == NODE_BECAUSE_STOPPED;
	return was->state == NODE_READY && is->reason == NODE_BECAUSE_ENDED && !was->release &&
	       is->market != PROVIDER_SPOT;
}

void rolls_look(struct engine *e, const struct node *was, const struct node *is, const char *why)
{
	if (is->canary && died(was, is))
		fail(e, is, is->image, (const char *const[]){"", "died"}, why);
}

/* --- an admin's word, and what people read ------------------------------------------------------
 */

int engine_image_order(struct engine *e, const char *pool, bool stop, const char *by, size_t *n,
		       struct err *err)
{
	const struct conf_pool *p = conf_pool_named(e->conf, pool);
	size_t nrungs, at;
	const struct conf_offer *rungs;

	*n = 0;
	if (p == NULL)
		return err_set(err, ERR_INVALID, "no pool is named \"%.60s\"", pool);
	at = conf_pool_index(e->conf, p);
	rungs = conf_rungs(p, &nrungs);
	for (size_t k = 0; k < nrungs; k++) {
		struct roll *r = rolls_of(e, at, rungs[k].name);
		const enum roll_stage was = r != NULL ? r->stage : ROLL_SETTLED;

		if (r == NULL)
			continue;
		if (stop) {
			rolls_stop(e, at, rungs[k].name, "", by);
		} else if (roll_resume(r, by, engine_now(e))) {
			rolls_put(e, at, rungs[k].name);
			tell(e, at, rungs[k].name, "image-canary");
		}
		*n += r->stage != was;
	}
	engine_commit(e);
	engine_turn(e);
	return e->dead ? err_set(err, ERR_IO, "the journal failed") : 0;
}

/* Machines that are up or on their way, by what they were made from. */
static void count(const struct engine *e, size_t pool, const char *offer, struct engine_image *out)
{
	const struct roll *r = out->roll;

	for (int s = NODE_CREATING; s <= NODE_DRAINING; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn; fn = fn->state_next) {
			if (!is_of(&fn->n, pool, offer) || !node_lives(&fn->n))
				continue;
			if (strcmp(fn->n.image, r->next) == 0)
				out->with_next++;
			else
				out->with_others++;
		}
	out->untried = rolls_untried(e, pool, offer);
}

bool engine_image(const struct engine *e, size_t pool, const char *offer, struct engine_image *out)
{
	const struct roll *r = rolls_of(e, pool, offer);

	*out = (struct engine_image){.roll = NULL};
	if (r == NULL)
		return false;
	out->roll = r;
	count(e, pool, offer, out);
	return true;
}
