/* step.c - what may happen next: one side moves, or both at once in what they share. */
#include "explore.h"

static bool emit(struct explorer *x, const struct pass *p, const struct known_move *a,
		 const struct known_move *b)
{
	struct step s = {.m = {a, b}};
	uint32_t to[SIDES] = {a != NULL ? a->to : p->id[0], b != NULL ? b->to : p->id[1]};

	if (a != NULL)
		s.heal = a->heal;
	if (b != NULL && (s.heal == 0 || (b->heal != 0 && b->heal < s.heal)))
		s.heal = b->heal;
	if (p->healing && s.heal == 0)
		return false;
	if ((x->sides[to[0]].joint || x->sides[to[1]].joint) && !x->sides[to[0]].open &&
	    !x->sides[to[1]].open) {
		to[0] = known_settled(x, to[0]);
		to[1] = known_settled(x, to[1]);
	}
	s.to = (uint64_t)to[0] << 32 | to[1];
	return p->fn(x, &s, p->ctx);
}

static bool has(const struct known_side *k, enum move_kind kind)
{
	for (size_t i = 0; i < k->nmoves; i++)
		if (k->moves[i].kind == kind)
			return true;
	return false;
}

/* May this one be taken now?  On the way back every answer is the true one. */
static bool fits(const struct pass *p, const struct known_move *m, enum move_kind kind)
{
	return m == NULL || (m->kind == kind && (!p->healing || kind != ANSWER || m->heal != 0));
}

/* Both sides at once, each by one of its moves of this kind; alone where the other has none. */
static bool both(struct explorer *x, const struct pass *p, enum move_kind kind)
{
	const struct known_side a = x->sides[p->id[0]], b = x->sides[p->id[1]];
	bool any_a = has(&a, kind) && (a.open || !p->open);
	bool any_b = has(&b, kind) && (b.open || !p->open);

	if (!any_a && !any_b)
		return false;
	for (size_t i = 0; i < (any_a ? a.nmoves : 1); i++)
		for (size_t k = 0; k < (any_b ? b.nmoves : 1); k++) {
			const struct known_move *ma = any_a ? &a.moves[i] : NULL;
			const struct known_move *mb = any_b ? &b.moves[k] : NULL;

			if (fits(p, ma, kind) && fits(p, mb, kind) && emit(x, p, ma, mb))
				return true;
		}
	return false;
}

/* The create with both, once more: the same members, or not at all (I4, I5). */
static bool repeat(struct explorer *x, const struct pass *p)
{
	const struct known_side *a = &x->sides[p->id[0]], *b = &x->sides[p->id[1]];
	bool whole = a->joint && b->joint && a->named && b->named;

	if (a->inflight || b->inflight || (!a->wants && !b->wants))
		return false;
	if (whole && both(x, p, REPEAT))
		return true;
	if (whole && p->healing)
		return false;
	return both(x, p, GIVE_UP);
}

static bool steps_of(struct explorer *x, const struct pass *p, int side)
{
	for (size_t i = 0; i < x->sides[p->id[side]].nmoves; i++) {
		const struct known_move *m = &x->sides[p->id[side]].moves[i];
		bool alone = m->kind == ALONE || (m->kind == RESTART && p->alone);

		if (alone && emit(x, p, side == 0 ? m : NULL, side == 1 ? m : NULL))
			return true;
	}
	return false;
}

bool step_all(struct explorer *x, const struct pass *p)
{
	if (p->alone)
		return steps_of(x, p, 0);
	if (!p->open)
		return both(x, p, BUY_BOTH);
	for (int i = 0; i < SIDES; i++)
		if (x->sides[p->id[i]].open && steps_of(x, p, i))
			return true;
	return both(x, p, ANSWER) || repeat(x, p) || (!p->healing && both(x, p, RESTART));
}

struct pass step_pass(struct explorer *x, uint32_t state, step_fn fn, void *ctx, bool healing)
{
	struct pass p = {.fn = fn, .ctx = ctx, .healing = healing};

	p.id[0] = (uint32_t)(x->states[state] >> 32);
	p.id[1] = (uint32_t)x->states[state];
	p.alone = state < x->nalone || x->nalone == 0;
	p.open = known_open(x, x->states[state]);
	known_expand(x, p.id[0]);
	known_expand(x, p.id[1]);
	return p;
}
