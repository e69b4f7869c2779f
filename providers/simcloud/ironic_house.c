/* ironic_house.c - the machines, and what time does to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/ironic.h"

/* Its address is also the owner in the cloud's annex. */
static const struct {
	const char *word, *target;
} states[IRONIC_STATES_N] = {
	[IRONIC_AVAILABLE] = {"available", NULL},
	[IRONIC_MANAGEABLE] = {"manageable", NULL},
	[IRONIC_DEPLOYING] = {"deploying", "active"},
	[IRONIC_WAIT] = {"wait call-back", "active"},
	[IRONIC_ACTIVE] = {"active", NULL},
	[IRONIC_FAILED] = {"deploy failed", "active"},
	[IRONIC_DELETING] = {"deleting", "available"},
	[IRONIC_CLEANING] = {"cleaning", "available"},
	[IRONIC_CLEANWAIT] = {"clean wait", "available"},
};

const char *ironic_state_word(enum ironic_state s)
{
	return states[s].word;
}

const char *ironic_target_word(enum ironic_state s)
{
	return states[s].target;
}

bool ironic_is_locked(const struct ironic_node *n)
{
	return n->state == IRONIC_DEPLOYING || n->state == IRONIC_DELETING ||
	       n->state == IRONIC_CLEANING;
}

bool ironic_is_moving(const struct ironic_node *n)
{
	return states[n->state].target != NULL && n->state != IRONIC_FAILED;
}

const char *ironic_string(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

bool ironic_maintained(const struct ironic_node *n)
{
	return json_is_true(json_object_get(n->doc, "maintenance"));
}

bool ironic_is_gone(const struct ironic_node *n)
{
	int64_t capacity = n->pool->capacity;

	return n->state == IRONIC_AVAILABLE && n->alloc == NULL &&
	       (!n->pool->offered || (capacity >= 0 && n->slot >= capacity));
}

void ironic_enter(struct ironic_node *n, enum ironic_state to, int64_t now)
{
	n->state = to;
	n->changed_at = n->updated_at = now;
}

/* --- making them ------------------------------------------------------------------------------ */

static void free_alloc(struct ironic_alloc *a)
{
	json_decref(a->doc);
	free(a->last_error);
	free(a);
}

static void free_house(void *own)
{
	struct ironic *h = own;

	for (size_t i = 0; i < h->nallocs; i++)
		free_alloc(h->allocs[i]);
	for (size_t i = 0; i < h->nnodes; i++) {
		json_decref(h->nodes[i]->doc);
		free(h->nodes[i]->last_error);
		free(h->nodes[i]);
	}
	free(h->allocs);
	free(h->nodes);
	free(h->made);
	free(h);
}

/* "CUSTOM_" and the zone, as the names of traits have to be. */
static void zone_trait(char *out, size_t size, const char *zone)
{
	(void)snprintf(out, size, "CUSTOM_%s", zone);
	for (char *p = out; *p != '\0'; p++) {
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
		else if ((*p < 'A' || *p > 'Z') && (*p < '0' || *p > '9'))
			*p = '_';
	}
}

static json_t *new_doc(const struct cloud_pool *p)
{
	char trait[SETTINGS_WORD_SIZE + 8];

	zone_trait(trait, sizeof(trait), p->zone);
	return mem_check(
		json_pack("{s:n, s:{}, s:{}, s:n, s:n, s:b, s:n, s:n, s:{s:s, s:s}, s:[s]}",
			  "description", "extra", "instance_info", "instance_uuid", "lessee",
			  "maintenance", 0, "maintenance_reason", "owner", "properties", "region",
			  p->region, "zone", p->zone, "traits", trait));
}

static void name_it(struct ironic_node *n)
{
	(void)snprintf(n->name, sizeof(n->name), "%s-%s-%lld%s", n->pool->type, n->pool->zone,
		       (long long)n->slot, n->pool->market == MARKET_RESERVED ? "-r" : "");
	for (char *p = n->name; *p != '\0'; p++)
		if (*p == '_')
			*p = '-'; /* the name is a host's */
}

static void add_node(struct ironic *h, const struct cloud *c, size_t pool)
{
	struct ironic_node *n = mem_zalloc(sizeof(*n));

	n->pool = c->pools[pool];
	n->slot = h->made[pool]++;
	n->row = n->changed_at = n->updated_at = -1;
	n->doc = new_doc(n->pool);
	name_it(n);
	(void)snprintf(n->uuid, sizeof(n->uuid), "00000000-0000-4000-8000-%04x%08x",
		       (unsigned)pool + 1, (unsigned)n->slot);
	if ((h->nnodes & (h->nnodes - 1)) == 0)
		h->nodes = mem_realloc(h->nodes, (h->nnodes == 0 ? 1 : 2 * h->nnodes) *
							 sizeof(struct ironic_node *));
	h->nodes[h->nnodes++] = n;
}

/* Let there be as many machines as the offers say now; of fewer, ironic_is_gone() tells. */
static void furnish(struct ironic *h, const struct cloud *c)
{
	if (h->npools < c->npools) {
		h->made = mem_realloc(h->made, c->npools * sizeof(*h->made));
		while (h->npools < c->npools)
			h->made[h->npools++] = 0;
	}
	for (size_t k = 0; k < c->npools; k++) {
		const struct cloud_pool *p = c->pools[k];
		int64_t want = p->capacity >= 0 ? p->capacity : c->conf->machines;

		if (!p->offered || p->market == MARKET_SPOT)
			continue;
		while (h->made[k] < want && h->made[k] < SETTINGS_BATCH_MAX)
			add_node(h, c, k);
	}
}

/* --- time ------------------------------------------------------------------------------------- */

/* Has its instance ended, as far as is shown? */
static bool has_ended(const struct cloud *c, const struct ironic_node *n, int64_t now)
{
	const struct cloud_instance *i = n->row >= 0 ? cloud_of_row(c, (uint32_t)n->row) : NULL;

	return i == NULL || cloud_shown(i, now) == CLOUD_ENDED;
}

static int64_t ended_at(const struct cloud *c, const struct ironic_node *n, int64_t now)
{
	int64_t at = n->row >= 0 ? c->meter->rows[n->row].end_ms : -1;

	return at >= 0 ? at : now;
}

static void follow_deploy(const struct cloud *c, struct ironic_node *n, int64_t now)
{
	const struct cloud_instance *i = n->row >= 0 ? cloud_of_row(c, (uint32_t)n->row) : NULL;

	if (has_ended(c, n, now)) {
		ironic_enter(n, IRONIC_FAILED, ended_at(c, n, now));
		n->on = false;
		free(n->last_error);
		n->last_error = mem_strdup("Deploy step deploy.write_image failed: the machine "
					   "did not boot");
	} else if (cloud_shown(i, now) != CLOUD_PENDING) {
		ironic_enter(n, IRONIC_ACTIVE, now);
		n->on = true;
	} else if (n->state == IRONIC_DEPLOYING && now >= n->locked_until) {
		ironic_enter(n, IRONIC_WAIT, n->locked_until);
	}
}

static void follow_clean(struct ironic_node *n, int64_t now)
{
	if (now >= n->clean_until)
		ironic_enter(n, IRONIC_AVAILABLE, n->clean_until);
	else if (n->state == IRONIC_CLEANING && now >= n->locked_until)
		ironic_enter(n, IRONIC_CLEANWAIT, n->locked_until);
}

static void vacate(struct ironic *h, struct cloud *c, struct ironic_node *n, int64_t now)
{
	int64_t at = ended_at(c, n, now);

	if (n->alloc != NULL)
		ironic_alloc_drop(h, n->alloc);
	(void)json_object_set_new(n->doc, "instance_uuid", mem_check(json_null()));
	(void)json_object_set_new(n->doc, "instance_info", mem_check(json_object()));
	n->row = -1;
	n->dead = false;
	n->clean_until = at + dist_sample(&c->conf->clean, &c->rng);
	n->locked_until = at + c->conf->machine_lock_ms;
	ironic_enter(n, IRONIC_CLEANING, at);
}

/* [invented] Ironic does not know what address a machine gets: its operator has noted it. */
static void note_address(const struct cloud *c, struct ironic_node *n, int64_t now)
{
	const struct cloud_instance *i = n->row >= 0 ? cloud_of_row(c, (uint32_t)n->row) : NULL;
	json_t *properties = json_object_get(n->doc, "properties");
	char text[ADDR_TEXT_SIZE];

	if (i != NULL && i->addr != 0 && now >= i->address_at)
		(void)json_object_set_new(properties, "address",
					  mem_check(json_string(addr_text(text, i->addr))));
	else
		(void)json_object_del(properties, "address");
}

static void follow(struct ironic *h, struct cloud *c, struct ironic_node *n, int64_t now)
{
	if (n->state == IRONIC_DEPLOYING || n->state == IRONIC_WAIT)
		follow_deploy(c, n, now);
	if (n->state == IRONIC_ACTIVE && !n->dead && has_ended(c, n, now)) {
		/* [invented] Nobody tells Ironic that a machine died; it sees the power. */
		n->dead = true;
		n->on = false;
	}
	if (n->state == IRONIC_DELETING && has_ended(c, n, now))
		vacate(h, c, n, now);
	if (n->state == IRONIC_CLEANING || n->state == IRONIC_CLEANWAIT)
		follow_clean(n, now);
	note_address(c, n, now);
}

struct ironic *ironic_open(struct cloud *c, int64_t now)
{
	struct ironic *h = annex_get(c->annex, states);

	if (h == NULL) {
		h = mem_zalloc(sizeof(*h));
		annex_put(&c->annex, states, h, free_house);
	}
	furnish(h, c);
	for (size_t i = 0; i < h->nnodes; i++)
		follow(h, c, h->nodes[i], now);
	return h;
}

const struct ironic *ironic_look(const struct cloud *c)
{
	return annex_get(c->annex, states);
}

struct ironic_node *ironic_node(const struct ironic *h, const char *ident)
{
	for (size_t i = 0; i < h->nnodes; i++) {
		struct ironic_node *n = h->nodes[i];

		if ((strcmp(n->uuid, ident) == 0 || strcmp(n->name, ident) == 0) &&
		    !ironic_is_gone(n))
			return n;
	}
	return NULL;
}

void ironic_alloc_drop(struct ironic *h, struct ironic_alloc *a)
{
	size_t i = 0;

	while (h->allocs[i] != a)
		i++;
	memmove(&h->allocs[i], &h->allocs[i + 1],
		(h->nallocs - i - 1) * sizeof(struct ironic_alloc *));
	h->nallocs--;
	if (a->node != NULL) {
		a->node->alloc = NULL;
		(void)json_object_set_new(a->node->doc, "instance_uuid", mem_check(json_null()));
	}
	free_alloc(a);
}
