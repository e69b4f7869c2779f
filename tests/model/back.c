/* back.c - the way back to order from each state (I23, I24).
 *
 * A walk takes the step that is to come first (move.heal), until it is at rest or at a state whose
 * fate is known.  It must end, and what is wanted must be up then. */
#include <assert.h>

#include "base/mem.h"
#include "explore.h"

enum { WAY_MAX = 1000 };
enum { UNKNOWN, DONE, ON_THE_WAY, UP_A = 4, UP_B = 8 }; /* fates */

struct best {
	uint64_t from;
	struct step step;
};

static bool choose(struct explorer *x, const struct step *s, void *ctx)
{
	struct best *b = ctx;

	(void)x;
	if (s->to != b->from && (b->step.heal == 0 || s->heal < b->step.heal))
		b->step = *s;
	return false;
}

/* What is wanted and may still be bought comes up: a report is for what the model has no third
 * generation for. */
static bool fulfilled(const struct side *s, bool up)
{
	return !s->want || up || life_has_row(&s->g[GENS - 1]);
}

static bool judge(struct explorer *x, uint32_t state, uint8_t fate)
{
	struct side a = side_unpack(x->sides[x->states[state] >> 32].key);
	struct side b = side_unpack(x->sides[(uint32_t)x->states[state]].key);

	x->fate[state] = fate;
	return fulfilled(&a, (fate & UP_A) != 0) && fulfilled(&b, (fate & UP_B) != 0);
}

static bool is_done(const struct explorer *x, uint64_t key, uint8_t *fate)
{
	struct side a = side_unpack(x->sides[key >> 32].key);
	struct side b = side_unpack(x->sides[(uint32_t)key].key);

	*fate = (uint8_t)(DONE | (a.want ? UP_A : 0) | (b.want ? UP_B : 0));
	return side_done(&a) && side_done(&b);
}

/* What becomes of two that have nothing in common any more. */
static uint8_t fate_of_both(const struct explorer *x, uint64_t key)
{
	uint8_t a = x->fate[known_alone(x, key >> 32)], b = x->fate[known_alone(x, (uint32_t)key)];

	return (uint8_t)(DONE | (a & UP_A) | ((b & UP_A) != 0 ? UP_B : 0));
}

/* From here to a state whose fate is known.  The states of the way are on way[]. */
static const char *walk(struct explorer *x, uint32_t state, uint32_t *way, size_t *n)
{
	while (x->fate[state] == UNKNOWN) {
		struct best b = {.from = x->states[state]};
		struct pass p = step_pass(x, state, choose, &b, true);
		uint8_t fate;

		if (*n == WAY_MAX)
			return "I24: the way back to order does not end";
		way[(*n)++] = state;
		x->fate[state] = ON_THE_WAY;
		if (is_done(x, b.from, &fate)) {
			x->fate[state] = fate;
			return NULL;
		}
		if (!p.alone && !p.open) {
			x->fate[state] = fate_of_both(x, b.from);
			return NULL;
		}
		(void)step_all(x, &p);
		if (b.step.heal == 0)
			return "I24: no way back to order from here";
		if (!p.alone && !known_open(x, b.step.to)) {
			x->fate[state] = fate_of_both(x, b.step.to);
			return NULL;
		}
		state = known_state(x, b.step.to);
		assert(state != NO_STATE);
		if (x->fate[state] == ON_THE_WAY)
			return "I24: the way back to order goes round in a circle";
	}
	way[(*n)++] = state;
	return NULL;
}

void back_from_all(struct explorer *x)
{
	uint32_t way[WAY_MAX + 1];

	x->fate = mem_zalloc(x->n);
	for (uint32_t i = 0; i < x->n && !x->violated; i++) {
		size_t n = 0;
		const char *wrong;

		if (x->fate[i] != UNKNOWN)
			continue;
		wrong = walk(x, i, way, &n);
		if (wrong != NULL) {
			explore_violation(x, way[n - 1], wrong);
			return;
		}
		x->sum->longest = n > x->sum->longest ? n : x->sum->longest;
		for (size_t k = n; k-- > 0;)
			if (!judge(x, way[k], x->fate[way[n - 1]])) {
				explore_violation(x, way[k], "I24: wanted, and never bought again");
				return;
			}
	}
}
