/* sim_image.c - in every fourth world the machines of pools get new images, of which some do not
 * work: their machines register wrong, or never, or the provider knows no such image.  The judge of
 * how many are bought from one of those; sim_roll.c is that of all else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "buy/buy_api.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_opinions.h"

enum { IMAGES_MAX = 60 };

/* Not by dice: all other seeds stay the worlds that they were. */
bool sim_image_world(const struct world *w)
{
	return w->set.images;
}

static uint32_t number_of(const char *name)
{
	return name[0] != '\0' ? (uint32_t)strtoul(name + strlen("im"), NULL, 10) : 0;
}

char *sim_image_name(const struct world *w, size_t pool)
{
	char name[16] = "";

	if (w->images.of[pool] != 0)
		(void)snprintf(name, sizeof(name), "im%u", (unsigned)w->images.of[pool]);
	return mem_strdup(name);
}

bool sim_image_is_bad(const struct world *w, const char *name)
{
	return (w->images.bad & (UINT64_C(1) << number_of(name))) != 0;
}

static bool is_as(const struct world *w, const char *name, uint64_t how)
{
	return sim_image_is_bad(w, name) && (number_of(name) + w->seed / 4) % 3 == how;
}

bool sim_image_is_wrong(const struct world *w, const char *name)
{
	return is_as(w, name, 0);
}

bool sim_image_is_mute(const struct world *w, const char *name)
{
	return is_as(w, name, 1);
}

bool sim_image_is_unknown(const struct world *w, const char *name)
{
	return is_as(w, name, 2);
}

int64_t sim_image_at_once(const struct world *w)
{
	return 1 + (int64_t)(w->seed / 8 % 2);
}

void sim_image_order(struct world *w)
{
	const struct sim_pool *p;
	bool stop;
	size_t n;

	if (!sim_image_world(w) || !world_one_in(w, 150))
		return;
	p = &w->set.pools[world_below(w, (uint32_t)w->set.npools)];
	stop = world_one_in(w, 2);
	SIM_TRACE(w, "admin: image %s %s", stop ? "stop" : "resume", p->name);
	w->images.resumes = !stop;
	(void)engine_image_order(w->engine, p->name, stop, "root", &n, NULL);
	w->images.resumes = false;
}

/* Somebody wants another image, and has burstd read it. */
static void on_wanted(struct world *w, void *ctx, uint64_t arg)
{
	struct err e;

	(void)ctx;
	(void)arg;
	if (!w->faults)
		return;
	world_at(w, w->now + world_between(w, 60, 1800) * SIM_SECOND, on_wanted, NULL, 0);
	sim_image_change(w);
	if (w->engine != NULL && !w->crashed && !sim_frozen(w) && sim_life_reload(w, &e) != 0)
		world_fail(w, "a reload is refused: %s", e.msg);
}

void sim_image_start(struct world *w)
{
	if (sim_image_world(w))
		world_at(w, w->now + SIM_MINUTE, on_wanted, NULL, 0);
}

/* Burstd believes in the first image that it knows of an offer. */
static bool knows_all(const struct world *w)
{
	size_t offers = 0;

	for (size_t i = 0; i < w->set.npools; i++)
		offers += w->set.pools[i].ladder ? SIM_RUNGS : 1;
	return sim_journal_opinions(w->journal)->nrolls >= offers;
}

void sim_image_change(struct world *w)
{
	struct sim_images *all = &w->images;
	uint32_t pool;

	if (!sim_image_world(w) || !w->faults || !knows_all(w) || world_one_in(w, 2))
		return;
	pool = world_below(w, (uint32_t)w->set.npools);
	if (all->n == IMAGES_MAX || (all->n > 0 && world_one_in(w, 4))) {
		all->of[pool] = world_below(w, all->n + 1); /* an earlier one, or none */
	} else {
		all->of[pool] = ++all->n;
		if (world_one_in(w, 3))
			all->bad |= UINT64_C(1) << all->n;
	}
	SIM_TRACE(w, "*** pool %s is to have image %u%s", w->set.pools[pool].name,
		  (unsigned)all->of[pool],
		  (all->bad & (UINT64_C(1) << all->of[pool])) != 0 ? ", which is bad" : "");
}

/* One that does not work never stops being tried: at no time are there more than canaries.  What
 * burstd cannot know of does not count. */
void sim_image_made(struct world *w, const struct inst *in)
{
	const struct sim_pool *p = &w->set.pools[in->pool];
	size_t n = 0, most = (size_t)SIM_CANARIES * (p->ladder ? SIM_RUNGS : 1);

	if (!sim_image_is_bad(w, in->image))
		return;
	for (size_t i = 0; i < w->cloud->nlive; i++) {
		const struct inst *x = w->cloud->live[i];

		n += x->pool == in->pool && !x->unknown && x->state != INST_ENDED &&
		     sim_image_is_bad(w, x->image);
	}
	if (n > most)
		world_fail(w, "ADR 72: pool %s has %zu machines with images that do not work",
			   p->name, n);
}

void sim_image_forget(struct world *w)
{
	w->images.bad = 0;
}
