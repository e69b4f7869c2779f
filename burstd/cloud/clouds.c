#include <stdlib.h>

#include "base/mem.h"
#include "cloud/cloud.h"

/* Calls all providers at each moment of the engine's life. */

static void clouds_init(struct engine *e)
{
	e->cloud->all = mem_zalloc((e->conf->nproviders + 1) * sizeof(*e->cloud->all));
	cooldown_init(&e->cloud->cooldown);
	unsold_init(&e->cloud->unsold);
}

static void clouds_limits(const struct engine *e, const struct node *n, struct node_limits *out)
{
	const struct cloud *c = cloud_of(e, n);

	*out = (struct node_limits){.tokens = (c->caps.flags & PROVIDER_TOKENS) != 0,
				    .settle_ms = c->conf->settle_ms,
				    .token_ms = c->caps.token_ms / 2,
				    .boot_ms = e->conf->pools[n->pool].boot_ms,
				    .unmount_ms = e->conf->pools[n->pool].unmount_wait_ms};
}

static int clouds_open(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		if (cloud_open(&e->cloud->all[i], e, &e->conf->providers[i], err) != 0)
			return -1;
	return 0;
}

/* Check offers, once it is known which providers are off. */
static int clouds_check(struct engine *e, struct err *err)
{
	return fabric_check(e, e->conf, err);
}

static void clouds_start(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		cloud_hurry(&e->cloud->all[i]);
	off_start(e);
}

static void clouds_reload(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		cloud_reload(&e->cloud->all[i], &e->conf->providers[i]);
	off_hurry(e);
}

static void clouds_take(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		limit_turn(&e->cloud->all[i].limit);
}

static void clouds_send(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		cloud_run(&e->cloud->all[i]);
	if (cloud_quiet(e))
		engine_free_old(e);
}

/* When the next stray is old enough to be deleted. */
static int64_t strays_next_ms(const struct cloud *c)
{
	int64_t now = engine_now(c->e), next = INT64_MAX;

	for (size_t i = 0; i < c->nstrays; i++) {
		int64_t at = cloud_stray_due(c, &c->strays[i]);

		if (at > now && at < next)
			next = at;
	}
	return next;
}

static int64_t clouds_next_ms(const struct engine *e)
{
	int64_t next = e->cloud->unsent ? engine_now(e) : INT64_MAX;

	for (size_t i = 0; i < e->conf->nproviders; i++) {
		int64_t at = cloud_next_ms(&e->cloud->all[i]);
		int64_t stray = strays_next_ms(&e->cloud->all[i]);

		next = at < next ? at : next;
		next = stray < next ? stray : next;
	}
	return next;
}

static void clouds_free(struct engine *e)
{
	for (size_t i = 0; e->cloud->all[i].e != NULL; i++)
		cloud_close(&e->cloud->all[i]);
	free(e->cloud->all);
	cooldown_fini(&e->cloud->cooldown);
	unsold_fini(&e->cloud->unsold);
	refused_fini(&e->cloud->refused);
}

const struct engine_part clouds_part = {
	.name = "clouds",
	.at = {[PART_INIT] = clouds_init,
	       [PART_START] = clouds_start,
	       [PART_RELOAD] = clouds_reload,
	       [PART_PASS] = cloud_fail_unsent,
	       [PART_TAKE] = clouds_take,
	       [PART_STOP] = cloud_cancel_all,
	       [PART_FREE] = clouds_free},
	.open = clouds_open,
	.limits = clouds_limits,
	.may_use = fabric_may_use,
	.may_reload = fabric_check,
	.next_ms = clouds_next_ms,
};

const struct engine_part clouds_quotes_part = {
	.name = "quotes of clouds",
	.open = clouds_check,
};

const struct engine_part clouds_send_part = {
	.name = "requests to clouds",
	.at = {[PART_SEND] = clouds_send},
};
