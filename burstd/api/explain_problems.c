#include "api/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "slurm/parse.h"

enum {
	SENTENCE_MAX = 1024,        /* bytes; the longest part is a provider's message */
	QUIET_START_MS = 60000,     /* after a start, silence of others is no problem yet */
	INDOUBT_LONG_MS = 600000,   /* a lost create is normally settled long before */
	CLOCK_OFF_MS = 60000,       /* node-init wants 30 s of burstd's clock */
	UNHEARD_LONG_MS = 60000,    /* notices fail for longer than a hiccup */
	DELETE_LONG_MS = 10000,     /* a delete may fail; after so long a few have */
	QUARANTINE_LISTED_MAX = 20, /* nodes named one by one */
	UNREADABLE_LISTED_MAX = 20, /* instances likewise */
	STRAYS_LISTED_MAX = 20,
	STRAY_LONG_MS = 60000, /* deleted within seconds, and lists may be late */
	REBUILT_MS = 86400000, /* how long a lost journal is talked about */
	HELD_LONG_MS = 120000, /* a job that ends is counted for a moment */
	NAMES_MAX = 160,       /* bytes of a folded list of nodes; a longer one is left out */
};

struct report {
	const struct engine *e;
	explain_fn fn;
	void *ctx;
	struct str s;
	unsigned said;
};

static void say(struct report *r)
{
	if (r->said++ < EXPLAIN_PROBLEMS_MAX)
		r->fn(r->ctx, r->s.p);
	str_clear(&r->s);
}

/* what: "slurmctld", "provider sim"; consequence: what its silence means. */
static void check_source(struct report *r, const struct engine_source *src, const char *what,
			 const char *consequence)
{
	int64_t now = engine_now(r->e);
	char ago[FMT_DUR_SIZE];

	if (src->error[0] != '\0')
		str_addf(&r->s, "%s%s does not answer: %s", what, src->name, src->error);
	else if (src->ok_ms == 0 && now - engine_started_ms(r->e) > QUIET_START_MS)
		str_addf(&r->s, "%s%s has not answered since burstd started", what, src->name);
	else
		return;
	if (src->ok_ms != 0)
		str_addf(&r->s, " (last answer %s ago)", fmt_duration(ago, now - src->ok_ms));
	str_addf(&r->s, "; %s", consequence);
	say(r);
}

static void check_sources(struct report *r)
{
	struct engine_source slurm = engine_slurm_source(r->e);
	const struct conf *c = engine_conf(r->e);

	slurm.name = "slurmctld";
	check_source(r, &slurm, "",
		     "until it does, what runs goes on, no more nodes are released, and only what "
		     "a resume call asks for is bought");
	for (size_t i = 0; i < c->nproviders; i++) {
		struct engine_source src = engine_provider_source(r->e, i);

		if (engine_off(r->e, i) != NULL)
			continue; /* check_off() */
		src.name = c->providers[i].name;
		check_source(r, &src, "provider ",
			     engine_away_since(r->e, i) != 0
				     ? "its nodes stay as they are until it does, and what is "
				       "wanted there is bought elsewhere, or sent back"
				     : "its nodes stay as they are until it does");
	}
}

uint32_t explain_nodes_at(const struct engine *e, size_t provider, int64_t *rate)
{
	const struct fleet *f = engine_fleet(e);
	uint32_t n = 0;

	*rate = 0;
	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = f->states[s]; fn != NULL; fn = fn->state_next)
			if (fn->n.cloud == provider && node_counts(&fn->n)) {
				n++;
				*rate += fn->n.rate_nano_h;
			}
	return n;
}

static void add_cost(struct report *r, uint32_t n, int64_t rate)
{
	char text[FMT_MONEY_SIZE];

	str_addf(&r->s, "%" PRIu32 " %s at %s %s/h", n, n == 1 ? "node" : "nodes",
		 fmt_money(text, rate), engine_conf(r->e)->currency);
}

static void check_off(struct report *r, size_t provider)
{
	const struct conf *c = engine_conf(r->e);
	const struct conf_provider *p = &c->providers[provider];
	const char *off = engine_off(r->e, provider);
	int64_t rate;
	uint32_t n;

	if (off == NULL)
		return;
	n = explain_nodes_at(r->e, provider, &rate);
	str_addf(&r->s, "provider %s is off: %s; nothing is bought there", p->name, off);
	if (n > 0) {
		str_adds(&r->s, ", and ");
		add_cost(r, n, rate);
		str_adds(&r->s, " can be neither seen nor deleted");
	}
	if (p->removed)
		str_addf(&r->s, "; put it back into %s and restart burstd", c->path);
	else
		str_adds(&r->s, "; mend that, and it is on again within a minute");
	say(r);
}

/* What is left of pools that were taken out of the configuration. */
static void check_removed(struct report *r)
{
	const struct conf *c = engine_conf(r->e);
	const struct fleet *f = engine_fleet(r->e);

	for (size_t i = 0; i < c->npools && i < f->npools; i++) {
		if (!c->pools[i].removed || f->pools[i].nodes == 0)
			continue;
		str_addf(&r->s, "pool %s is not in %s any more; nothing is bought for it, and ",
			 c->pools[i].name, c->path);
		add_cost(r, f->pools[i].nodes, f->pools[i].rate_nano_h);
		str_adds(&r->s,
			 " stay until slurmctld or an admin (burstctl terminate) lets them go");
		say(r);
	}
}

/* Whoever had the port first is a user of this machine; or the address is not here yet. */
static void check_door(struct report *r)
{
	const char *off = engine_door_off(r->e), *init = engine_init_off(r->e);
	int64_t deadman = engine_conf(r->e)->nodes.deadman_ms;
	char text[FMT_DUR_SIZE];

	if (init != NULL) {
		str_addf(&r->s,
			 "%s; until it can be read, which is tried each minute, no node that is to "
			 "be told of it is bought, and those that boot wait for their keys",
			 init);
		say(r);
	}
	if (off == NULL)
		return;
	str_addf(&r->s,
		 "nodes cannot reach burstd: %s; until they can, which is tried each few seconds, "
		 "none that has its keys by burstd is bought, and those that boot wait for theirs",
		 off);
	if (deadman > 0)
		str_addf(&r->s, "; those that are up switch themselves off after %s (deadman)",
			 fmt_duration(text, deadman));
	say(r);
}

static void check_disk(struct report *r)
{
	const struct journal_room *room = engine_room(r->e);

	if (!room->low)
		return;
	str_addf(&r->s,
		 "disk full: %" PRId64 " MiB are free in %s; nothing is bought until there is "
		 "more, deletes go on",
		 room->free_bytes >> 20, engine_conf(r->e)->state_dir);
	say(r);
}

static void check_quarantined(struct report *r)
{
	const struct fleet_node *fn = engine_fleet(r->e)->states[NODE_QUARANTINED];
	char rate[FMT_MONEY_SIZE];
	unsigned n = 0;

	for (; fn != NULL; fn = fn->state_next) {
		if (n++ >= QUARANTINE_LISTED_MAX)
			continue;
		str_addf(&r->s,
			 "node %s is quarantined: the provider refuses to delete instance %s, "
			 "which bills on "
			 "at %s %s/h; delete it at the provider",
			 fn->n.name, fn->n.instance, fmt_money(rate, fn->n.rate_nano_h),
			 engine_conf(r->e)->currency);
		say(r);
	}
	if (n > QUARANTINE_LISTED_MAX) {
		str_addf(&r->s, "%u more nodes are quarantined", n - QUARANTINE_LISTED_MAX);
		say(r);
	}
}

static void check_unreadable(struct report *r)
{
	uint64_t n = engine_counters(r->e)->unreadable, named = 0;
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->nproviders; i++) {
		const char *id;

		for (size_t k = 0;
		     named < UNREADABLE_LISTED_MAX && (id = engine_unreadable(r->e, i, k)) != NULL;
		     k++) {
			named++;
			str_addf(&r->s,
				 "provider %s: instance %s has the tag of this cluster, but its "
				 "node or generation cannot be read: it is left alone and may "
				 "bill; mend its tags or delete it at the provider",
				 c->providers[i].name, id);
			say(r);
		}
	}
	if (n > named) {
		str_addf(&r->s, "%" PRIu64 " more instances have tags that cannot be read",
			 n - named);
		say(r);
	}
}

static void say_stray(struct report *r, size_t provider, const struct engine_stray *s)
{
	char text[FMT_DUR_SIZE];

	if (s->up) {
		str_addf(&r->s,
			 "provider %s: instance %s of this cluster is in no journal, and slurmctld "
			 "has its node %s up, which no pool names: it is left alone and may bill; "
			 "put its pool back into the configuration, or power the node down",
			 engine_conf(r->e)->providers[provider].name, s->id, s->node);
		say(r);
		return;
	}
	str_addf(&r->s,
		 "provider %s: instance %s of this cluster (%s) is in no journal and was still "
		 "there %s after its first delete; it may bill; see at the provider why it stays",
		 engine_conf(r->e)->providers[provider].name, s->id, s->node,
		 fmt_duration(text, s->seen_ms - s->tried_ms));
	say(r);
}

static bool stays(const struct engine_stray *s)
{
	return s->up ||
	       (s->tried_ms != 0 && !s->leaves && s->seen_ms - s->tried_ms > STRAY_LONG_MS);
}

static void check_strays(struct report *r)
{
	struct engine_stray s;
	unsigned n = 0;

	for (size_t i = 0; i < engine_conf(r->e)->nproviders; i++)
		for (size_t k = 0; engine_stray(r->e, i, k, &s); k++)
			if (stays(&s) && n++ < STRAYS_LISTED_MAX)
				say_stray(r, i, &s);
	if (n > STRAYS_LISTED_MAX) {
		str_addf(&r->s, "%u more such instances stay", n - STRAYS_LISTED_MAX);
		say(r);
	}
}

/* " (h100-[1-4])", or nothing when it would be too long to read. */
static void add_names(struct str *out, const char *const *names, size_t n)
{
	struct str list;

	str_init(&list, NAMES_MAX);
	hostlist_fold(&list, names, n);
	if (!list.full)
		str_addf(out, " (%s)", list.p);
	str_fini(&list);
}

/* A failed delete is tried again between lists that succeed, which hide it: has this node waited
 * for long, and was it tried? */
static bool is_undeleted(const struct report *r, const struct fleet_name *nm, size_t provider,
			 int64_t failed_ms)
{
	for (const struct fleet_node *fn = nm->newest; fn != NULL; fn = fn->older)
		if (fn->n.state == NODE_DELETING && !fn->n.accepted &&
		    fn->n.since_ms <= failed_ms &&
		    engine_now(r->e) - fn->n.since_ms > DELETE_LONG_MS && fn->n.cloud == provider)
			return true;
	return false;
}

/* One that fails for a moment is tried again; what a reclaim costs without is said here. */
static void check_unheard(struct report *r, size_t provider)
{
	int64_t since_ms, now = engine_now(r->e);
	const char *why = engine_unheard(r->e, provider, &since_ms);
	char text[FMT_DUR_SIZE];

	if (since_ms == 0 || now - since_ms < UNHEARD_LONG_MS)
		return;
	str_addf(&r->s,
		 "provider %s: its notices have not been heard for %s: %s; until they are, a "
		 "reclaim is seen when it has happened",
		 engine_conf(r->e)->providers[provider].name, fmt_duration(text, now - since_ms),
		 why);
	say(r);
}

/* Which of the two is wrong is not for us to say; ours is the one that can be mended. */
static void check_clock(struct report *r, size_t provider)
{
	int64_t ahead = engine_clock_ahead(r->e, provider);
	char text[FMT_DUR_SIZE];

	if (ahead < CLOCK_OFF_MS && ahead > -CLOCK_OFF_MS)
		return;
	str_addf(&r->s,
		 "provider %s: the clock here is %s %s the provider's; until it is set, machines "
		 "may not come up, and bills are wrong by as much",
		 engine_conf(r->e)->providers[provider].name,
		 fmt_duration(text, ahead > 0 ? ahead : -ahead), ahead > 0 ? "ahead of" : "behind");
	say(r);
}

static void check_undropped(struct report *r, size_t provider)
{
	size_t n;
	const char *why = engine_undropped(r->e, provider, &n);

	if (n == 0)
		return;
	str_addf(&r->s, "provider %s: would not drop %zu %s that no node needs any more: %s",
		 engine_conf(r->e)->providers[provider].name, n, n == 1 ? "fabric" : "fabrics",
		 why);
	say(r);
}

static void check_undeleted(struct report *r, size_t provider)
{
	const struct fleet *f = engine_fleet(r->e);
	const char **names = mem_zalloc((f->nall + 1) * sizeof(*names));
	int64_t failed_ms;
	const char *why = engine_undeleted(r->e, provider, &failed_ms);
	size_t n = 0;

	for (size_t i = 0; failed_ms != 0 && i < f->nall; i++)
		if (is_undeleted(r, f->all[i], provider, failed_ms))
			names[n++] = f->all[i]->name;
	if (n > 0) {
		str_addf(&r->s, "provider %s: deletes fail: %zu %s",
			 engine_conf(r->e)->providers[provider].name, n, n == 1 ? "node" : "nodes");
		add_names(&r->s, names, n);
		str_addf(&r->s, " may bill on: %s; tried again by itself", why);
		say(r);
	}
	free(names);
}

static void check_indoubt(struct report *r)
{
	const struct fleet *f = engine_fleet(r->e);
	const char **names = mem_zalloc((f->nall + 1) * sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < f->nall; i++) {
		const struct fleet_node *fn = f->all[i]->newest;

		while (fn != NULL && (fn->n.state != NODE_INDOUBT ||
				      engine_now(r->e) - fn->n.since_ms <= INDOUBT_LONG_MS))
			fn = fn->older;
		if (fn != NULL)
			names[n++] = f->all[i]->name;
	}
	if (n > 0) {
		str_addf(&r->s, "%zu %s in doubt for over 10m", n,
			 n == 1 ? "node is" : "nodes are");
		add_names(&r->s, names, n);
		str_adds(&r->s, ": the answer to a create was lost and the provider's lists do not "
				"settle it");
		say(r);
	}
	free(names);
}

struct tally { /* refused names of one pool for one reason */
	uint32_t n;
	const struct fleet_name *last; /* the last one that was refused */
};

static bool is_refused(const struct fleet_name *nm)
{
	return nm->refused != NODE_BECAUSE_NONE && fleet_live(nm) == NULL;
}

/* names: room for all there are */
static void say_refused(struct report *r, const struct tally *t, const char **names)
{
	const struct fleet *f = engine_fleet(r->e);
	int64_t now = engine_now(r->e), last = t->last->refused_ms;
	char ago[FMT_DUR_SIZE];
	size_t n = 0;

	str_addf(&r->s, "pool %s: ", explain_pool(r->e, t->last->pool));
	if (t->n == 1) {
		str_addf(&r->s, "node %s was refused", t->last->name);
	} else {
		for (size_t i = 0; i < f->nall; i++)
			if (is_refused(f->all[i]) && f->all[i]->pool == t->last->pool &&
			    f->all[i]->refused == t->last->refused)
				names[n++] = f->all[i]->name;
		str_addf(&r->s, "%" PRIu32 " nodes were refused", t->n);
		add_names(&r->s, names, n);
	}
	if (last > 0)
		str_addf(&r->s, "%s %s ago", t->n == 1 ? "" : ", the last",
			 fmt_duration(ago, now > last ? now - last : 0));
	str_adds(&r->s, ": ");
	explain_refusal(&r->s, r->e, t->last);
	say(r);
}

static void check_refused(struct report *r)
{
	const struct fleet *f = engine_fleet(r->e);
	struct tally *tallies = mem_zalloc((f->npools * NODE_NREASONS + 1) * sizeof(*tallies));
	const char **names = mem_zalloc((f->nall + 1) * sizeof(*names));

	for (size_t i = 0; i < f->nall; i++) {
		const struct fleet_name *nm = f->all[i];
		struct tally *t = &tallies[nm->pool * NODE_NREASONS + nm->refused];

		if (!is_refused(nm))
			continue;
		if (t->n++ == 0 || nm->refused_ms > t->last->refused_ms)
			t->last = nm;
	}
	for (size_t i = 0; i < f->npools * NODE_NREASONS; i++)
		if (tallies[i].n > 0)
			say_refused(r, &tallies[i], names);
	free(names);
	free(tallies);
}

/* It may have been cancelled meanwhile, or released by hand: nobody tells us. */
static void check_postponed(struct report *r)
{
	struct engine_postponed p;
	size_t n = engine_postponed(r->e, &p);
	char at[FMT_TIME_SIZE];

	if (n == 0)
		return;
	(void)engine_time(r->e, at, p.until_ms);
	if (n == 1)
		str_addf(&r->s,
			 "job %s could not have its nodes (%" PRIu32 " %s) and is to wait until "
			 "%.19sZ",
			 p.job, p.refusals, p.refusals == 1 ? "time" : "times", at);
	else
		str_addf(
			&r->s,
			"%zu jobs could not have their nodes and are to wait: the first, %s, until "
			"%.19sZ",
			n, p.job, at);
	say(r);
}

void explain_put_slurm_problem(struct jsonw *w, const struct slurm_problem *p)
{
	jsonw_open(w, NULL, '{');
	jsonw_text(w, "setting", p->setting);
	jsonw_text(w, "severity", slurm_severity_name(p->severity));
	jsonw_text(w, "found", p->found);
	jsonw_text(w, "wanted", p->wanted);
	jsonw_text(w, "why", p->why);
	jsonw_close(w, '}');
}

/* Where slurmctld answers nothing at all, check_sources() has said so. */
static void check_slurm_conf_known(struct report *r)
{
	const char *error = engine_prereq_error(r->e);

	if (error[0] == '\0' || engine_slurm_source(r->e).error[0] != '\0')
		return;
	str_addf(&r->s,
		 "whether slurm.conf is good is not known: %s; slurmctld is asked each minute",
		 error);
	say(r);
}

static void check_slurm_conf(struct report *r, enum slurm_severity severity)
{
	const struct slurm_report *found = engine_prereq(r->e);

	for (size_t i = 0; found != NULL && i < found->n; i++) {
		const struct slurm_problem *p = &found->problems[i];

		if (p->severity != severity)
			continue;
		str_addf(&r->s, "slurm.conf (%s): ", slurm_severity_name(p->severity));
		slurm_problem_print(p, &r->s);
		say(r);
	}
}

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

/* Paused, or its nodes come up wrong. */
static void check_closed(struct report *r)
{
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->npools; i++) {
		const char *why = engine_closed(r->e, i);

		if (why == NULL || c->pools[i].removed)
			continue;
		str_addf(&r->s, "pool %s: ", c->pools[i].name);
		if (engine_paused(r->e, i))
			add_pause(&r->s, r->e, i);
		else
			str_addf(&r->s, "%s; nothing is bought for it", why);
		say(r);
	}
}

/* F41.  Machines that the cloud took: nobody here can mend that, but jobs were lost. */
static void check_losses(struct report *r)
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
		say(r);
	}
}

static void check_offer(struct report *r, const struct conf_pool *p, const struct conf_offer *o,
			bool unpriced)
{
	const char *of = engine_conf(r->e)->currency, *like;
	const char *market = provider_market_str((enum provider_market)o->market);

	str_addf(&r->s, "pool %s%s%s: provider %s ", p->name, o->name[0] != '\0' ? ", offer " : "",
		 o->name, o->provider);
	if (unpriced)
		str_addf(&r->s, "has no prices of %s instances in %s to ask for: set \"price\"; ",
			 market, of);
	else
		str_addf(&r->s, "does not offer type %s in region %s%s%s (%s, in %s); ", o->type,
			 o->region, o->zone[0] != '\0' ? ", zone " : "", o->zone, market, of);
	like = unpriced ? NULL : engine_like_type(r->e, o->provider_index, o->type);
	if (like != NULL)
		str_addf(&r->s, "did you mean %s? ", like);
	str_adds(&r->s, o->name[0] != '\0' ? "it is never taken" : "nothing can be bought for it");
	say(r);
}

static void check_offers(struct report *r)
{
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&c->pools[i], &n);

		for (size_t k = 0; k < n; k++)
			if (engine_price(r->e, i, k) < 0)
				check_offer(r, &c->pools[i], &rungs[k],
					    engine_price(r->e, i, k) == LADDER_UNPRICED);
	}
}

/* What only an admin can mend.  No capacity is none of these. */
static void say_cooldown(void *ctx, const struct cooldown_row *c)
{
	struct report *r = ctx;
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
		str_addf(&r->s, "provider %s: it denied us (credentials, permission or funds?)",
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
	say(r);
}

static int64_t cheapest(const struct engine *e, size_t pool)
{
	const struct conf_pool *p = &engine_conf(e)->pools[pool];
	struct ladder_known known[CONF_OFFERS_MAX] = {{.price = 0}};
	size_t n;

	(void)conf_rungs(p, &n);
	for (size_t i = 0; i < n; i++)
		known[i].price = engine_price(e, pool, i);
	return ladder_cheapest(engine_conf(e), p, known);
}

static void check_dear(struct report *r, size_t pool)
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
		 "bought for it until it is raised",
		 p->name, option, fmt_money(most, limit), engine_conf(r->e)->currency,
		 fmt_money(price, least));
	say(r);
}

/* Meant so, perhaps; but then somebody waits for nodes that never come. */
static void check_limits(struct report *r)
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
		say(r);
	}
}

/* Of slurmctld 22.05: no order mends it, and it says so nowhere but in its log. */
static void check_held(struct report *r)
{
	const struct fleet *f = engine_fleet(r->e);
	const char **names = mem_zalloc((f->nall + 1) * sizeof(*names));
	int64_t now = engine_now(r->e);
	struct str list;
	size_t n = 0;

	for (size_t i = 0; i < f->nall; i++)
		if (f->all[i]->held_ms != 0 && now - f->all[i]->held_ms >= HELD_LONG_MS)
			names[n++] = f->all[i]->name;
	str_init(&list, NAMES_MAX);
	hostlist_fold(&list, names, n);
	if (n > 0) {
		str_addf(
			&r->s,
			"%zu node%s off and idle (%s), and slurmctld counts GPUs there as used: "
			"jobs that want all of such a node wait for ever. Slurm 22.05 does so when "
			"all nodes of a job fail at once, and only a restart of it helps: "
			"\"systemctl restart slurmctld\"",
			n, n == 1 ? " is" : "s are", list.full ? "..." : list.p);
		say(r);
	}
	str_fini(&list);
	free(names);
}

/* The journal was lost, or is an older copy (F58): what that means for people, for a day. */
static void check_rebuilt(struct report *r)
{
	uint64_t n = engine_counters(r->e)->orphans;
	char at[FMT_TIME_SIZE];

	if (n == 0 || engine_now(r->e) - engine_started_ms(r->e) > REBUILT_MS)
		return;
	str_addf(&r->s,
		 "%" PRIu64 " instance%s found at the providers that the journal did not know: it "
		 "was lost, or is an older copy; %s count against the limits, and cost since when "
		 "the provider says; not known: for which jobs %s bought, and the bills of what "
		 "ended before %.19sZ",
		 n, n == 1 ? " was" : "s were", n == 1 ? "it does" : "they",
		 n == 1 ? "it was" : "they were", engine_time(r->e, at, engine_started_ms(r->e)));
	say(r);
}

void explain_problems(const struct engine *e, explain_fn fn, void *ctx)
{
	struct report r = {.e = e, .fn = fn, .ctx = ctx};

	str_init(&r.s, SENTENCE_MAX);
	check_disk(&r);
	check_door(&r);
	for (size_t i = 0; i < engine_conf(e)->nproviders; i++)
		check_off(&r, i);
	check_removed(&r);
	check_sources(&r);
	explain_secrets(e, fn, ctx);
	check_slurm_conf_known(&r);
	check_slurm_conf(&r, SLURM_ERROR);
	engine_cooldowns(e, say_cooldown, &r);
	check_offers(&r);
	check_closed(&r);
	check_limits(&r);
	check_losses(&r);
	for (size_t i = 0; i < engine_conf(e)->nproviders; i++) {
		check_undeleted(&r, i);
		check_undropped(&r, i);
		check_clock(&r, i);
		check_unheard(&r, i);
	}
	check_quarantined(&r);
	check_strays(&r);
	check_held(&r);
	check_rebuilt(&r);
	check_unreadable(&r);
	check_refused(&r);
	check_postponed(&r);
	check_indoubt(&r);
	check_slurm_conf(&r, SLURM_WARNING);
	str_fini(&r.s);
}
