/* known.c - the sides and the states that are known: tables from what they are to their numbers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explore.h"

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 31) * UINT64_C(0x9E3779B97F4A7C15);
	return v ^ v >> 29;
}

static void table_grow(struct table *t, uint64_t size)
{
	free(t->slot);
	t->slot = mem_zalloc(size * sizeof(*t->slot));
	memset(t->slot, 0xff, size * sizeof(*t->slot));
	t->mask = size - 1;
}

/* --- sides -------------------------------------------------------------------------------------
 */

static void describe(struct known_side *k, const struct side *s, const struct rules *r)
{
	for (unsigned i = 0; i < GENS; i++) {
		const struct life *l = &s->g[i];

		if (!life_has_row(l) || !l->joint)
			continue;
		k->joint = true;
		k->open = l->state == NODE_CREATING || l->state == NODE_INDOUBT;
		k->inflight = l->creating;
		k->wants = l->state == NODE_INDOUBT && !l->creating &&
			   life_want(l, i, r, false) == NODE_WANT_CREATE;
		/* as repeatable() in launch.c: nothing of it may be settled otherwise */
		k->named = l->state == NODE_INDOUBT ||
			   (l->state == NODE_GONE ? l->known : l->state >= NODE_BOOTING);
	}
}

uint32_t known_side(struct explorer *x, const struct side *s)
{
	uint64_t key = side_pack(s), at;

	if ((x->nsides + 1) * 2 > x->by_side.mask) {
		table_grow(&x->by_side, x->nsides < 4096 ? 16384 : 4 * (x->by_side.mask + 1));
		for (uint32_t i = 0; i < x->nsides; i++) {
			at = mix(x->sides[i].key) & x->by_side.mask;
			while (x->by_side.slot[at] != NO_STATE)
				at = (at + 1) & x->by_side.mask;
			x->by_side.slot[at] = i;
		}
	}
	at = mix(key) & x->by_side.mask;
	for (; x->by_side.slot[at] != NO_STATE; at = (at + 1) & x->by_side.mask)
		if (x->sides[x->by_side.slot[at]].key == key)
			return x->by_side.slot[at];
	if (x->nsides == x->sides_cap) {
		x->sides_cap = x->sides_cap == 0 ? 1024 : 2 * x->sides_cap;
		x->sides = mem_realloc(x->sides, x->sides_cap * sizeof(*x->sides));
	}
	x->sides[x->nsides] = (struct known_side){.key = key, .plain = NO_STATE};
	describe(&x->sides[x->nsides], s, x->r);
	x->by_side.slot[at] = (uint32_t)x->nsides;
	return (uint32_t)x->nsides++;
}

void known_expand(struct explorer *x, uint32_t id)
{
	struct side s = side_unpack(x->sides[id].key);
	struct known_move *v;
	size_t n = 0;

	if (x->sides[id].expanded)
		return;
	side_moves(&s, x->r, x->scratch);
	v = mem_zalloc((x->scratch->n + 1) * sizeof(*v));
	for (size_t i = 0; i < x->scratch->n; i++) {
		const struct move *m = &x->scratch->v[i];
		struct known_move to = {.to = known_side(x, &m->to),
					.kind = (uint8_t)m->kind,
					.gen = (uint8_t)m->gen,
					.heal = (uint8_t)m->heal,
					.what = m->what};

		if (to.to != id || m->kind != ALONE)
			v[n++] = to;
	}
	x->sides[id].moves = v;
	x->sides[id].nmoves = n;
	x->sides[id].expanded = true;
	for (size_t i = 0; i < n; i++) {
		x->sides[id].buys = x->sides[id].buys || v[i].kind == BUY_BOTH;
		if (v[i].kind == VIOLATION && x->sides[id].bad == NULL)
			x->sides[id].bad = &v[i];
	}
}

uint32_t known_settled(struct explorer *x, uint32_t id)
{
	struct side s = side_unpack(x->sides[id].key);
	uint32_t plain;

	if (x->sides[id].plain != NO_STATE)
		return x->sides[id].plain;
	for (unsigned i = 0; i < GENS; i++)
		s.g[i].joint = false;
	plain = known_side(x, &s);
	x->sides[id].plain = plain;
	return plain;
}

/* --- states ------------------------------------------------------------------------------------
 */

static uint64_t place_of(const struct explorer *x, uint64_t key)
{
	uint64_t at = mix(key) & x->by_state.mask;

	while (x->by_state.slot[at] != NO_STATE && x->states[x->by_state.slot[at]] != key)
		at = (at + 1) & x->by_state.mask;
	return at;
}

static void grow(struct explorer *x)
{
	x->cap = x->cap == 0 ? 1 << 16 : 2 * x->cap;
	x->states = mem_realloc(x->states, x->cap * sizeof(*x->states));
	x->parent = mem_realloc(x->parent, x->cap * sizeof(*x->parent));
	table_grow(&x->by_state, 2 * x->cap);
	for (size_t i = 0; i < x->n; i++)
		x->by_state.slot[place_of(x, x->states[i])] = (uint32_t)i;
}

void known_add(struct explorer *x, uint64_t key, uint32_t parent)
{
	uint64_t at;

	if (x->n == x->cap)
		grow(x);
	at = place_of(x, key);
	if (x->by_state.slot[at] != NO_STATE)
		return;
	assert(x->n < NO_STATE);
	x->by_state.slot[at] = (uint32_t)x->n;
	x->states[x->n] = key;
	x->parent[x->n++] = parent;
}

uint32_t known_state(const struct explorer *x, uint64_t state)
{
	return x->by_state.slot[place_of(x, state)];
}

uint32_t known_alone(const struct explorer *x, uint64_t side)
{
	return known_state(x, side << 32 | x->idle);
}

bool known_open(const struct explorer *x, uint64_t key)
{
	return x->sides[key >> 32].open || x->sides[(uint32_t)key].open;
}

void known_fini(struct explorer *x)
{
	for (size_t i = 0; i < x->nsides; i++)
		free(x->sides[i].moves);
	free(x->sides);
	free(x->by_side.slot);
	free(x->by_state.slot);
	free(x->states);
	free(x->parent);
}
