#include "core/unit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/conf_private.h"

enum { UNIT_PREFIX_SIZE = sizeof("burstd-") + 8 + 1 }; /* with the cluster's part of its uuid */

bool unit_is_of(const struct conf_offer *o)
{
	return o->in_fabric != NULL && strcmp(o->in_fabric, CONF_FABRIC_UNIT) == 0;
}

/* --- the configuration -------------------------------------------------------------------------
 */

static int bad(const struct conf *c, const struct conf_pool *p, int line, const char *why,
	       struct err *e)
{
	return err_set(e, ERR_INVALID, "%.120s:%d: pool \"%.30s\": %s", c->path, line, p->name,
		       why);
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* A fabric is one object of one provider, and stands in one place. */
static bool same_site(const struct conf_offer *a, const struct conf_offer *b)
{
	return a->provider_index == b->provider_index && same_text(a->region, b->region) &&
	       same_text(a->zone, b->zone);
}

/* *first: the first offer with fabric = unit; NULL: none. */
static int check_offers(const struct conf *c, const struct conf_pool *p,
			const struct conf_offer **first, struct err *e)
{
	size_t n;
	const struct conf_offer *v = conf_rungs(p, &n);

	*first = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!unit_is_of(&v[i]))
			continue;
		if (*first == NULL)
			*first = &v[i];
		if (!same_site(&v[i], *first))
			return err_set(e, ERR_INVALID,
				       "%.120s:%d: pool \"%.30s\": offer \"%.30s\": a unit is in "
				       "one fabric, so all offers with fabric = unit must have the "
				       "provider, region and zone of offer \"%.30s\"",
				       c->path, v[i].line, p->name, v[i].name, (*first)->name);
	}
	return 0;
}

/* Is a unit one range of names? */
static bool is_range(const char *const *names, size_t n)
{
	struct str s;
	bool one;

	str_init(&s, HOSTLIST_NAMES_MAX * 8);
	hostlist_fold(&s, names, n);
	one = !s.full && memchr(s.p, ',', s.len) == NULL;
	str_fini(&s);
	return one;
}

static int index_units(const struct conf *c, struct conf_pool *p, struct err *e)
{
	for (size_t i = 0; i < p->nodes->n; i += p->unit) {
		const char *const *v = &p->nodes->names[i];
		char why[300];

		if (!is_range(v, p->unit)) {
			(void)snprintf(why, sizeof(why),
				       "unit: %.63s and the %u nodes behind it are not consecutive",
				       v[0], p->unit - 1);
			return bad(c, p, p->nodes_line, why, e);
		}
		if (snprintf(NULL, 0, "%s-%u", v[0], p->unit) + UNIT_PREFIX_SIZE >
		    PROVIDER_WORD_MAX + 1) {
			(void)snprintf(why, sizeof(why),
				       "unit: the name %.63s is too long to name a fabric by it",
				       v[0]);
			return bad(c, p, p->nodes_line, why, e);
		}
		for (size_t k = 0; k < p->unit; k++)
			map_put(&p->unit_of, v[k], (void *)(uintptr_t)(i / p->unit + 1));
	}
	return 0;
}

int unit_finish(const struct conf *c, struct conf_pool *p, struct err *e)
{
	const struct conf_offer *first;
	char why[200];

	if (check_offers(c, p, &first, e) != 0)
		return -1;
	if (first != NULL && p->unit == 0)
		return bad(c, p, first->line, "fabric = unit: unit is missing (nodes of each)", e);
	if (p->unit == 0)
		return 0;
	if (first == NULL)
		return bad(c, p, p->line,
			   "unit: no offer has fabric = unit, so none would be bought in one", e);
	if (p->nodes->n % p->unit != 0) {
		(void)snprintf(why, sizeof(why),
			       "unit: its %zu nodes are no multiple of %u: give it whole units",
			       p->nodes->n, p->unit);
		return bad(c, p, p->nodes_line, why, e);
	}
	return index_units(c, p, e);
}

/* --- which is which ----------------------------------------------------------------------------
 */

uint32_t unit_of(const struct conf_pool *p, const char *node)
{
	return p->unit != 0 ? (uint32_t)(uintptr_t)map_get(&p->unit_of, node) : 0;
}

uint32_t unit_by(const struct conf_pool *p, const struct conf_offer *o, const char *node)
{
	return unit_is_of(o) ? unit_of(p, node) : 0;
}

uint32_t unit_count(const struct conf_pool *p)
{
	return p->unit != 0 && p->nodes != NULL ? (uint32_t)(p->nodes->n / p->unit) : 0;
}

const char *const *unit_nodes(const struct conf_pool *p, uint32_t unit)
{
	assert(unit > 0 && unit <= unit_count(p));
	return &p->nodes->names[(size_t)(unit - 1) * p->unit];
}

/* --- fabrics -----------------------------------------------------------------------------------
 */

const char *unit_fabric(char out[PROVIDER_WORD_MAX + 1], const char *uuid,
			const struct conf_pool *p, uint32_t unit)
{
	(void)snprintf(out, PROVIDER_WORD_MAX + 1, "burstd-%.8s-%s-%u", uuid,
		       unit_nodes(p, unit)[0], p->unit);
	return out;
}

bool unit_is_fabric(const char *name, const char *uuid)
{
	char prefix[UNIT_PREFIX_SIZE];
	const char *node, *nodes;

	(void)snprintf(prefix, sizeof(prefix), "burstd-%.8s-", uuid);
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	node = name + strlen(prefix);
	nodes = strrchr(node, '-');
	/* A job's has a number behind the prefix, and nothing else. */
	return nodes != NULL && nodes > node && nodes[1] >= '1' && nodes[1] <= '9' &&
	       strspn(nodes + 1, "0123456789") == strlen(nodes + 1);
}
