/* io/loop.h on the world's clock. */
#include "io/loop.h"

#include <stdlib.h>

#include "base/mem.h"
#include "world.h"

struct timer {
	struct loop *l;
	struct timer *next, **prev;
	loop_fn fn;
	void *ctx;
	int64_t at;
};

struct loop {
	struct world *w;
	struct timer *timers;
};

struct loop *sim_loop_new(struct world *w)
{
	struct loop *l = mem_zalloc(sizeof(*l));

	l->w = w;
	return l;
}

void sim_loop_free(struct loop *l)
{
	if (l->timers != NULL)
		world_fail(l->w, "a timer was left behind");
	free(l);
}

struct world *sim_loop_world(const struct loop *l)
{
	return l->w;
}

int64_t loop_now(const struct loop *l)
{
	return l->w->now + l->w->skew;
}

int64_t loop_ahead(struct loop *l)
{
	return l->w->skew - l->w->wall;
}

struct timer *timer_new(struct loop *l, loop_fn fn, void *ctx)
{
	struct timer *t = mem_zalloc(sizeof(*t));

	*t = (struct timer){.l = l,
			    .next = l->timers,
			    .prev = &l->timers,
			    .fn = fn,
			    .ctx = ctx,
			    .at = INT64_MAX};
	if (t->next != NULL)
		t->next->prev = &t->next;
	l->timers = t;
	return t;
}

void timer_at(struct timer *t, int64_t when_ms)
{
	t->at = when_ms;
}

void timer_free(struct timer *t)
{
	if (t == NULL)
		return;
	*t->prev = t->next;
	if (t->next != NULL)
		t->next->prev = t->prev;
	free(t);
}

static struct timer *first(const struct loop *l)
{
	struct timer *best = NULL;

	for (struct timer *t = l->timers; t != NULL; t = t->next)
		if (t->at != INT64_MAX && (best == NULL || t->at < best->at))
			best = t;
	return best;
}

int64_t sim_loop_next(const struct loop *l)
{
	const struct timer *t = first(l);

	return t != NULL ? t->at - l->w->skew : INT64_MAX;
}

void sim_loop_fire(struct loop *l)
{
	struct timer *t = first(l);

	if (t == NULL)
		return;
	t->at = INT64_MAX;
	t->fn(t->ctx);
}
