#include <stdlib.h>

#include "base/mem.h"
#include "engine/private.h"

/* All providers, at each moment of the engine's life. */

void clouds_init(struct engine *e)
{
	e->clouds = mem_zalloc((e->conf->nproviders + 1) * sizeof(*e->clouds));
}

int clouds_open(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		if (cloud_open(&e->clouds[i], e, &e->conf->providers[i], err) != 0)
			return -1;
	return 0;
}

int clouds_check(struct engine *e, struct err *err)
{
	return fabric_check(e, e->conf, err);
}

void clouds_start(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		cloud_hurry(&e->clouds[i]);
	off_start(e);
}

void clouds_reload(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		cloud_reload(&e->clouds[i], &e->conf->providers[i]);
	off_hurry(e);
}

void clouds_take(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		limit_turn(&e->clouds[i].limit);
}

void clouds_send(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		cloud_run(&e->clouds[i]);
	if (cloud_quiet(e))
		engine_free_old(e);
}

/* A stray that is old enough is deleted. */
static int64_t strays_next_ms(const struct cloud *c)
{
	int64_t now = engine_now(c->e), next = INT64_MAX;

	for (size_t i = 0; i < c->nstrays; i++) {
		int64_t at = c->strays[i].first_ms + c->conf->settle_ms;

		if (at > now && at < next)
			next = at;
	}
	return next;
}

int64_t clouds_next_ms(const struct engine *e)
{
	int64_t next = e->unsent ? engine_now(e) : INT64_MAX;

	for (size_t i = 0; i < e->conf->nproviders; i++) {
		int64_t at = cloud_next_ms(&e->clouds[i]);
		int64_t stray = strays_next_ms(&e->clouds[i]);

		next = at < next ? at : next;
		next = stray < next ? stray : next;
	}
	return next;
}

void clouds_free(struct engine *e)
{
	for (size_t i = 0; e->clouds[i].e != NULL; i++)
		cloud_close(&e->clouds[i]);
	free(e->clouds);
}
