/* The images of pools: which is in force, how far a new one is, and an admin's orders about it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/ctl_api.h"
#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "base/fmt.h"
#include "buy/buy_api.h"

static void put_roll(struct ctl_reply *r, const struct conf_pool *p, const struct engine_image *i)
{
	const struct roll *roll = i->roll;
	struct jsonw *w = &r->w;

	jsonw_text(w, "stage", roll_stage_str(roll->stage));
	jsonw_text(w, "old", roll->old);
	jsonw_text(w, "image", roll->next);
	jsonw_text(w, "buys", roll_usual(roll));
	ctl_reply_time(r, "since_ms", roll->since_ms);
	jsonw_int(w, "canaries", p->image_canaries);
	jsonw_int(w, "passed", roll->passed);
	jsonw_int(w, "untried", i->untried);
	jsonw_int(w, "with_image", i->with_next);
	jsonw_int(w, "with_others", i->with_others);
	jsonw_text(w, "why", roll->why);
	jsonw_text(w, "by", roll->by);
}

/* Where burstd names no image in a purchase, stage is "none". */
static void put_offer(struct ctl_reply *r, size_t pool, const struct conf_offer *o)
{
	const struct conf_pool *p = &engine_conf(r->api->engine)->pools[pool];
	struct engine_image i;

	jsonw_open(&r->w, NULL, '{');
	jsonw_text(&r->w, "pool", p->name);
	jsonw_text(&r->w, "offer", o->name);
	jsonw_text(&r->w, "provider", o->provider);
	if (engine_image(r->api->engine, pool, o->name, &i))
		put_roll(r, p, &i);
	else
		jsonw_text(&r->w, "stage", "none");
	jsonw_close(&r->w, '}');
}

static void put_pool(struct ctl_reply *r, size_t pool)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&engine_conf(r->api->engine)->pools[pool], &n);

	for (size_t k = 0; k < n; k++)
		put_offer(r, pool, &rungs[k]);
}

/* The index of the pool of that name; "": 0, before all. */
static int find_pool(struct ctl_reply *r, const char *name, size_t *at)
{
	const struct conf *c = engine_conf(r->api->engine);
	const struct conf_pool *p = conf_pool_named(c, name);

	if (p == NULL && name[0] != '\0')
		return ctl_reply_refuse(r, "not-found", "no pool is named \"%.60s\"", name);
	*at = p != NULL ? conf_pool_index(c, p) : 0;
	return 0;
}

int ctl_images_show(struct ctl_reply *r)
{
	const struct conf *c = engine_conf(r->api->engine);
	const char *pool, *after;
	size_t one = 0, at, end = c->npools, from = 0;

	if (ctl_reply_text(r, "pool", "", &pool) != 0 ||
	    ctl_reply_text(r, "after", "", &after) != 0 || find_pool(r, pool, &one) != 0 ||
	    find_pool(r, after, &from) != 0)
		return -1;
	from += after[0] != '\0';
	if (pool[0] != '\0') {
		from = one;
		end = one + 1;
	}
	jsonw_open(&r->w, "images", '[');
	for (at = from; at < end; at++) {
		struct ctl_row row = ctl_reply_row(r);

		put_pool(r, at);
		if (!ctl_reply_fits(r, row))
			break;
	}
	jsonw_close(&r->w, ']');
	jsonw_text(&r->w, "next", at > from && at < end ? c->pools[at - 1].name : "");
	return 0;
}

static void log_it(struct ctl_reply *r, const char *what, const char *pool, const char *outcome)
{
	char uid[FMT_U64_SIZE], pid[FMT_U64_SIZE], roles[CTL_ROLES_SIZE];

	log_write(r->api->log, LOG_INFO, what, "pool", pool, "uid", fmt_u64(uid, r->who->uid),
		  "role", ctl_roles_str(roles, r->who->roles), "pid", fmt_i64(pid, r->who->pid),
		  "outcome", outcome, NULL);
}

static int order(struct ctl_reply *r, bool stop)
{
	char who[CTL_BY_SIZE];
	const char *pool;
	size_t n = 0, at;
	int rc;

	if (ctl_reply_text(r, "pool", NULL, &pool) != 0 || find_pool(r, pool, &at) != 0)
		return -1;
	rc = engine_image_order(r->api->engine, pool, stop, ctl_reply_by(who, r->who), &n, &r->err);
	log_it(r, stop ? "new image stopped" : "new image resumed", pool,
	       rc != 0 ? r->err.msg
	       : n > 0 ? "done"
		       : "nothing to do");
	jsonw_int(&r->w, "offers", (int64_t)n);
	return rc;
}

int ctl_images_stop(struct ctl_reply *r)
{
	return order(r, true);
}

int ctl_images_resume(struct ctl_reply *r)
{
	return order(r, false);
}
