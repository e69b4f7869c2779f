#include "sim_facts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim_journal.h"

enum { LIVES_MAX = 200000 };

static bool is_of(const struct sim_life *l, const struct sim_life *is)
{
	return l->gen == is->gen && strcmp(l->node, is->node) == 0;
}

/* The newest first: most facts are about those. */
static struct sim_life *find(const struct sim_facts *f, const struct sim_life *is)
{
	for (size_t i = f->n; i-- > 0;)
		if (is_of(&f->v[i], is) && strcmp(f->v[i].instance, is->instance) == 0)
			return &f->v[i];
	return NULL;
}

/* What is said of the generation, whatever its instance. */
static bool has_machine(const struct sim_facts *f, const struct sim_life *is)
{
	for (size_t i = 0; i < f->n; i++)
		if (is_of(&f->v[i], is) && f->v[i].machine)
			return true;
	return false;
}

static struct sim_life *life_of(struct world *w, struct sim_facts *f, const struct sim_life *is)
{
	struct sim_life *l = find(f, is);

	if (l != NULL)
		return l;
	if (f->n == f->cap) {
		if (f->n >= LIVES_MAX)
			world_fail(w, "I25: the facts grow without end");
		f->cap = f->cap == 0 ? 64 : 2 * f->cap;
		f->v = mem_realloc(f->v, f->cap * sizeof(*f->v));
	}
	f->v[f->n] = *is;
	return &f->v[f->n++];
}

/* A generation may have a second instance, and that is adopted when the first has ended. */
static void check_alone(struct world *w, const struct sim_facts *f, const struct sim_life *l)
{
	if (l->instance[0] == '\0')
		world_fail(w, "I22: the facts let %s begin without an instance", l->node);
	for (size_t i = 0; i < f->n; i++)
		if (&f->v[i] != l && is_of(&f->v[i], l) && f->v[i].begin_ms != 0 && !f->v[i].ended)
			world_fail(w, "I22: the facts give %s two instances", l->node);
}

/* Whose bill has ended is seen again, and does not begin anew.  If burstd's time has jumped over a
 * restart since (F57), it looks like a machine that was made later, with the same id. */
static void begin(struct world *w, struct sim_facts *f, struct sim_life *l,
		  const struct life_step *step)
{
	if (l->ended && l->skew == w->skew)
		world_fail(w, "I22: by the facts %s of %s begins a second time", l->instance,
			   l->node);
	f->twice = f->twice || l->ended;
	l->ended = false;
	l->begin_ms = step->said_ms != 0 ? step->said_ms : step->at_ms;
}

static void end(const struct world *w, struct sim_life *l, const struct life_step *step)
{
	l->end_ms = step->said_ms != 0 ? step->said_ms : step->at_ms;
	l->skew = w->skew;
}

void sim_facts_put(struct world *w, struct sim_facts *f, const struct sim_life *is,
		   const struct life_step *step)
{
	struct sim_life *l;

	if (w->set.chance[SIM_RESTORED] != 0) /* an older copy lacks some, and numbers come again */
		return;
	l = life_of(w, f, is);
	l->machine = l->machine || is->machine;
	l->buyer = l->buyer || is->buyer;
	if (step == NULL)
		return;
	if (!has_machine(f, is))
		world_fail(w, "I22: a step in the life of %s, and no fact says what it is",
			   l->node);
	if (step->kind == LIFE_CREATED || step->kind == LIFE_SEEN)
		check_alone(w, f, l);
	if (step->kind == LIFE_CREATED)
		begin(w, f, l, step);
	else if (step->kind == LIFE_SEEN && !l->ended)
		world_fail(w, "I22: by the facts %s is seen again, and has not ended", l->node);
	else if (step->kind == LIFE_READY && l->begin_ms == 0)
		world_fail(w, "I22: by the facts %s is ready, and has no instance", l->node);
	else if (step->kind == LIFE_ENDED && l->ended)
		world_fail(w, "I22: by the facts %s of %s ends a second time", l->instance,
			   l->node);
	else if (step->kind == LIFE_ENDED)
		end(w, l, step);
	l->ended = step->kind == LIFE_ENDED || (l->ended && step->kind != LIFE_SEEN);
	l->last = step->kind;
}

void sim_facts_bill(struct world *w, const struct sim_facts *f, const struct sim_bill *b)
{
	struct sim_life is = {.gen = b->gen};
	const struct sim_life *l;

	(void)snprintf(is.node, sizeof(is.node), "%s", b->node);
	(void)snprintf(is.instance, sizeof(is.instance), "%s", b->instance);
	l = find(f, &is);
	if (w->set.chance[SIM_RESTORED] != 0)
		return;
	if (l == NULL || !l->ended)
		world_fail(w, "I22: a bill of %s without the facts that it ended", b->node);
	else if (l->begin_ms != b->start_ms || l->end_ms != b->end_ms)
		world_fail(w, "I22: the facts of %s give %lld to %lld, its bill %lld to %lld",
			   b->node, (long long)l->begin_ms, (long long)l->end_ms,
			   (long long)b->start_ms, (long long)b->end_ms);
}
