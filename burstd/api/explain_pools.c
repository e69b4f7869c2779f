/* explain_pools.c reports problems with pools: places refuse, offers do not exist, a limit allows
 * nothing, buying was stopped, or the provider took machines. */
#include <inttypes.h>
#include <string.h>

#include "api/explain_private.h"
#include "base/fmt.h"
#include "buy/buy_api.h"
#include "cloud/cloud_api.h"
#include "core/hardware.h"
#include "keys/keys_api.h"

enum {
	PRICE_OLD_MS = 24 * 3600000, /* list prices change a few times a year ... */
	SPOT_OLD_MS = 3600000,       /* ... and those of spot several times a day */
	UNTOLD_MS = 300000,          /* a provider may take so long for its first quotes */
};

/* "paused by an admin (uid 1000, since 2026-01-02T03:04:05Z); nothing is bought ..." */
static void add_pause(struct str *out, const struct engine *e, size_t i)
{
	int64_t since_ms;
	const char *by = engine_paused_by(e, i, &since_ms);
	char at[FMT_TIME_SIZE];

	str_adds(out, "paused by an admin");
	if (by[0] != '\0')
		str_addf(out, " (%s, since %.19sZ)", by, engine_time(e, at, since_ms));
	str_addf(out, "; nothing is bought for it until \"burstctl resume %s\"",
		 engine_conf(e)->pools[i].name);
}

/* Report pools that are paused, or whose nodes come up wrong. */
static void check_blocked(struct explain_report *r)
{
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->npools; i++) {
		const char *why = engine_blocked(r->e, i);

		if (why == NULL || c->pools[i].removed)
			continue;
		str_addf(&r->s, "pool %s: ", c->pools[i].name);
		if (engine_paused(r->e, i))
			add_pause(&r->s, r->e, i);
		else
			str_addf(&r->s, "%s; nothing is bought for it", why);
		explain_report_say(r);
	}
}

/* Report new images that were stopped: burstd waits for an admin. */
static void check_images(struct explain_report *r)
{
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&c->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			struct engine_image image;
			const struct roll *roll;

			if (!engine_image(r->e, i, rungs[k].name, &image) ||
			    image.roll->stage != ROLL_STOPPED)
				continue;
			roll = image.roll;
			str_addf(&r->s, "pool %s%s%s: its new image %s was stopped",
				 c->pools[i].name, rungs[k].name[0] != '\0' ? ", offer " : "",
				 rungs[k].name,
				 roll->next[0] != '\0' ? roll->next : "of the provider");
			if (roll->why[0] != '\0')
				str_addf(&r->s, ": %s", roll->why);
			if (roll->by[0] != '\0')
				str_addf(&r->s, ", ordered by %s", roll->by);
			str_addf(&r->s, "; it buys with %s",
				 roll->old[0] != '\0' ? roll->old : "the provider's");
			explain_report_say(r);
		}
	}
}

/* F41: report machines that the cloud took.  Nobody here can mend that, but jobs were lost. */
static void check_losses(struct explain_report *r)
{
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->npools; i++) {
		const struct engine_losses *l = engine_losses(r->e, i);
		char ago[FMT_DUR_SIZE];

		if (l == NULL)
			continue;
		str_addf(&r->s,
			 "pool %s: %" PRIu32 " machine%s taken by the provider within an hour, "
			 "the last %s ago (%s: %s); its jobs: \"burstctl events --node %s\"",
			 c->pools[i].name, l->n, l->n == 1 ? " was" : "s were",
			 fmt_duration(ago, engine_now(r->e) - l->last_ms), l->node,
			 node_reason_text(l->why), l->node);
		explain_report_say(r);
	}
}

static void check_offer(struct explain_report *r, const struct conf_pool *p,
			const struct conf_offer *o, bool unpriced)
{
	const char *of = engine_conf(r->e)->currency, *like;
	const char *market = provider_market_str((enum provider_market)o->market);

	str_addf(&r->s, "pool %s%s%s: provider %s ", p->name, o->name[0] != '\0' ? ", offer " : "",
		 o->name, o->provider);
	if (unpriced)
		str_addf(&r->s, "publishes no prices of %s instances in %s: set \"price\"; ",
			 market, of);
	else
		str_addf(&r->s, "does not offer type %s in region %s%s%s (%s, in %s); ", o->type,
			 o->region, o->zone[0] != '\0' ? ", zone " : "", o->zone, market, of);
	like = unpriced ? NULL : engine_like_type(r->e, o->provider_index, o->type);
	if (like != NULL)
		str_addf(&r->s, "did you mean %s? ", like);
	str_adds(&r->s, o->name[0] != '\0' ? "the offer is never used"
					   : "nothing can be bought for the pool");
	explain_report_say(r);
}

/* Its provider answers, perhaps, but to this question. */
static void check_untold(struct explain_report *r, const struct conf_pool *p,
			 const struct conf_offer *o)
{
	char ago[FMT_DUR_SIZE];

	if (engine_off(r->e, o->provider_index) != NULL)
		return; /* that is reported */
	str_addf(&r->s,
		 "pool %s%s%s: the price of %s (%s) is not known: provider %s has sent no quotes "
		 "since burstd started %s ago; %s until it does, or \"price\" is set",
		 p->name, o->name[0] != '\0' ? ", offer " : "", o->name, o->type,
		 provider_market_str((enum provider_market)o->market), o->provider,
		 fmt_duration(ago, engine_now(r->e) - engine_started_ms(r->e)),
		 o->name[0] != '\0' ? "the offer is not used" : "nothing is bought for the pool");
	explain_report_say(r);
}

static void check_offers(struct explain_report *r)
{
	const struct conf *c = engine_conf(r->e);
	bool early = engine_now(r->e) - engine_started_ms(r->e) <= UNTOLD_MS;

	for (size_t i = 0; i < c->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&c->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			int64_t price = engine_price(r->e, i, k);

			if (price < 0)
				check_offer(r, &c->pools[i], &rungs[k], price == LADDER_UNPRICED);
			else if (price == 0 && !early)
				check_untold(r, &c->pools[i], &rungs[k]);
		}
	}
}

/* Report offers whose provider has not said for too long what they cost.  burstd goes on to buy at
 * the price that it said last. */
static void check_age(struct explain_report *r, const struct conf_pool *p,
		      const struct conf_offer *o, int64_t age_ms)
{
	char age[FMT_DUR_SIZE];

	str_addf(&r->s,
		 "pool %s%s%s: the price of %s (%s) is %s old: provider %s has sent no quotes "
		 "since; burstd buys and counts at that price until it does",
		 p->name, o->name[0] != '\0' ? ", offer " : "", o->name, o->type,
		 provider_market_str((enum provider_market)o->market), fmt_duration(age, age_ms),
		 o->provider);
	explain_report_say(r);
}

static void check_ages(struct explain_report *r)
{
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&c->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			int64_t age = engine_price_age(r->e, i, k);

			if (age > (rungs[k].market == PROVIDER_SPOT ? SPOT_OLD_MS : PRICE_OLD_MS))
				check_age(r, &c->pools[i], &rungs[k], age);
		}
	}
}

/* Report the cooldowns that only an admin can mend, so not a lack of capacity. */
static void say_cooldown(void *ctx, const struct cooldown_row *c)
{
	struct explain_report *r = ctx;
	const bool quota = strcmp(c->reason, "quota") == 0;
	const bool failing = strcmp(c->reason, "failing") == 0;
	char at[FMT_TIME_SIZE];

	if (!quota && !failing && strcmp(c->reason, "denied") != 0)
		return;
	if (failing)
		str_addf(&r->s,
			 "provider %s: purchases of %s fail or are throttled, though it answers",
			 c->provider, c->place);
	else if (quota)
		str_addf(&r->s, "provider %s: the quota for %s is used up; raise it", c->provider,
			 c->place);
	else
		str_addf(&r->s,
			 "provider %s: it denied burstd's requests (credentials, permission or "
			 "funds?)",
			 c->provider);
	if (c->view.until_ms != 0)
		str_addf(&r->s, "; not tried until %.19sZ",
			 engine_time(r->e, at, c->view.until_ms));
	else if (c->view.state == COOLDOWN_DENIED)
		str_adds(&r->s, "; nothing is bought there until a call succeeds");
	else
		str_adds(&r->s, "; the next purchase tries it");
	if (c->view.until_ms != 0)
		str_addf(&r->s, ", or \"burstctl retry %s\"", c->provider);
	explain_report_say(r);
}

static int64_t cheapest(const struct engine *e, size_t pool)
{
	const struct conf_pool *p = &engine_conf(e)->pools[pool];
	struct ladder_known known[CONF_OFFERS_MAX] = {{.price = 0}};
	size_t n;

	(void)conf_rungs(p, &n);
	for (size_t i = 0; i < n; i++) {
		known[i].price = engine_price(e, pool, i);
		known[i].agreed = known[i].price > 0 ? known[i].price : 0; /* that is in it */
	}
	return ladder_cheapest(engine_conf(e), p, known);
}

static void check_dear(struct explain_report *r, size_t pool)
{
	const struct conf_pool *p = &engine_conf(r->e)->pools[pool];
	const char *option;
	int64_t limit = conf_pool_dearest(p, &option);
	int64_t least = cheapest(r->e, pool);
	char price[FMT_MONEY_SIZE], most[FMT_MONEY_SIZE];

	if (least <= limit)
		return;
	str_addf(&r->s,
		 "pool %s: %s is %s %s per hour, and its cheapest node costs %s: nothing can be "
		 "bought for the pool until it is raised",
		 p->name, option, fmt_money(most, limit), engine_conf(r->e)->currency,
		 fmt_money(price, least));
	explain_report_say(r);
}

/* Such a limit may be intended, but somebody may wait for nodes that never come. */
static void check_limits(struct explain_report *r)
{
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->npools; i++) {
		const struct conf_pool *p = &c->pools[i];

		if (p->max_nodes > 0 && p->max_rate_nano_h > 0)
			check_dear(r, i);
		if (p->removed || (p->max_nodes > 0 && p->max_rate_nano_h > 0))
			continue;
		str_addf(&r->s, "pool %s: %s; nothing %sis bought for it until it is raised",
			 p->name, p->max_nodes == 0 ? "max_nodes is 0" : "max_rate is 0",
			 p->max_nodes == 0 ? "" : "that costs ");
		explain_report_say(r);
	}
}

/* F36: machines have other hardware than slurm.conf has of them.  Of a pool without the option
 * `node` burstd does not know what that is. */
static void check_hardware(struct explain_report *r)
{
	const struct learned *l = engine_learned(r->e);

	for (size_t i = 0; l != NULL && i < l->n; i++) {
		const struct learned_row *row = &l->v[i];
		const struct conf_pool *p = conf_pool_named(engine_conf(r->e), row->pool);
		struct hardware_node node;

		if (p == NULL || p->removed || p->node == NULL ||
		    hardware_parse_node(p->node, &node, NULL) != 0 ||
		    hardware_fits(&node, &row->has))
			continue;
		str_addf(&r->s, "pool %s%s%s: its machines have ", p->name,
			 row->offer[0] != '\0' ? ", offer " : "", row->offer);
		hardware_print(&row->has, &r->s);
		str_addf(&r->s, " (%s), and slurm.conf has %s of them: write node = \"", row->node,
			 p->node);
		hardware_propose(&row->has, &r->s);
		str_adds(&r->s, "\", and then \"burstctl slurm-conf --write\"");
		explain_report_say(r);
	}
}

void explain_pools_check(struct explain_report *r)
{
	engine_cooldowns(r->e, say_cooldown, r);
	check_offers(r);
	check_ages(r);
	check_blocked(r);
	check_images(r);
	check_limits(r);
	check_losses(r);
	check_hardware(r);
}
