/* explain_machines.c reports problems with machines at the providers: some may bill on, notices of
 * some are not heard, and some the journal did not know. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/explain_private.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cloud/cloud_api.h"

enum {
	CLOCK_OFF_MS = 60000,       /* node-init wants 30 s of burstd's clock */
	UNHEARD_LONG_MS = 60000,    /* notices fail for longer than a hiccup */
	DELETE_LONG_MS = 10000,     /* a delete may fail; after so long a few have */
	QUARANTINE_LISTED_MAX = 20, /* nodes named one by one */
	UNREADABLE_LISTED_MAX = 20, /* instances likewise */
	STRAYS_LISTED_MAX = 20,
	APART_LISTED_MAX = 20,
	STRAY_LONG_MS = 60000, /* deleted within seconds, and lists may be late */
	REBUILT_MS = 86400000, /* how long a lost journal is reported */
};

static void check_quarantined(struct explain_report *r)
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
		explain_report_say(r);
	}
	if (n > QUARANTINE_LISTED_MAX) {
		str_addf(&r->s, "%u more nodes are quarantined", n - QUARANTINE_LISTED_MAX);
		explain_report_say(r);
	}
}

static void check_unreadable(struct explain_report *r)
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
				 "bill; repair its tags or delete it at the provider",
				 c->providers[i].name, id);
			explain_report_say(r);
		}
	}
	if (n > named) {
		str_addf(&r->s, "%" PRIu64 " more instances have tags that cannot be read",
			 n - named);
		explain_report_say(r);
	}
}

static void say_stray(struct explain_report *r, size_t provider, const struct engine_stray *s)
{
	char text[FMT_DUR_SIZE];

	if (s->up) {
		str_addf(&r->s,
			 "provider %s: instance %s of this cluster is in no journal, and slurmctld "
			 "has its node %s up, which no pool names: it is left alone and may bill; "
			 "put its pool back into the configuration, or power the node down",
			 engine_conf(r->e)->providers[provider].name, s->id, s->node);
		explain_report_say(r);
		return;
	}
	str_addf(&r->s,
		 "provider %s: instance %s of this cluster (%s) is in no journal and was still "
		 "there %s after its first delete; it may bill; see at the provider why it stays",
		 engine_conf(r->e)->providers[provider].name, s->id, s->node,
		 fmt_duration(text, s->seen_ms - s->tried_ms));
	explain_report_say(r);
}

static bool stays(const struct engine_stray *s)
{
	return s->up ||
	       (s->tried_ms != 0 && !s->leaves && s->seen_ms - s->tried_ms > STRAY_LONG_MS);
}

static void check_strays(struct explain_report *r)
{
	struct engine_stray s;
	unsigned n = 0;

	for (size_t i = 0; i < engine_conf(r->e)->nproviders; i++)
		for (size_t k = 0; engine_stray(r->e, i, k, &s); k++)
			if (stays(&s) && n++ < STRAYS_LISTED_MAX)
				say_stray(r, i, &s);
	if (n > STRAYS_LISTED_MAX) {
		str_addf(&r->s, "%u more such instances stay", n - STRAYS_LISTED_MAX);
		explain_report_say(r);
	}
}

/* Has the node waited long for its delete, and has a delete failed since?  The provider's error
 * does not tell: lists that succeed between two tries clear it. */
static bool is_undeleted(const struct explain_report *r, const struct fleet_name *nm,
			 size_t provider, int64_t failed_ms)
{
	for (const struct fleet_node *fn = nm->newest; fn != NULL; fn = fn->older)
		if (fn->n.state == NODE_DELETING && !fn->n.accepted &&
		    fn->n.since_ms <= failed_ms &&
		    engine_now(r->e) - fn->n.since_ms > DELETE_LONG_MS && fn->n.cloud == provider)
			return true;
	return false;
}

/* Report notices that fail for long, since a reclaim is then seen late; a short failure passes. */
static void check_unheard(struct explain_report *r, size_t provider)
{
	int64_t since_ms, now = engine_now(r->e);
	const char *why = engine_unheard(r->e, provider, &since_ms);
	char text[FMT_DUR_SIZE];

	if (since_ms == 0 || now - since_ms < UNHEARD_LONG_MS)
		return;
	str_addf(&r->s,
		 "provider %s: its notices could not be read for %s: %s; until they can be, a "
		 "reclaim is seen only after it has happened",
		 engine_conf(r->e)->providers[provider].name, fmt_duration(text, now - since_ms),
		 why);
	explain_report_say(r);
}

/* Either of the two clocks may be wrong; ours is the one that an admin can set. */
static void check_clock(struct explain_report *r, size_t provider)
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
	explain_report_say(r);
}

static void check_undropped(struct explain_report *r, size_t provider)
{
	size_t n;
	const char *why = engine_undropped(r->e, provider, &n);

	if (n == 0)
		return;
	str_addf(&r->s, "provider %s: does not delete %zu %s that no node needs any more: %s",
		 engine_conf(r->e)->providers[provider].name, n, n == 1 ? "fabric" : "fabrics",
		 why);
	explain_report_say(r);
}

static bool buys_in_fabrics(const struct conf *c, size_t provider)
{
	for (size_t i = 0; i < c->npools; i++) {
		size_t n;
		const struct conf_offer *v = conf_rungs(&c->pools[i], &n);

		for (size_t k = 0; k < n; k++)
			if (v[k].in_fabric != NULL && v[k].provider_index == provider)
				return true;
	}
	return false;
}

/* Without fabrics nothing is promised, and nobody needs to know. */
static void check_unplaced(struct explain_report *r, size_t provider)
{
	const char *why = engine_unplaced(r->e, provider);

	if (why[0] == '\0' || !buys_in_fabrics(engine_conf(r->e), provider))
		return;
	str_addf(&r->s,
		 "provider %s: does not say where its machines are: %s; so burstd does not know "
		 "whether those of a fabric are close to each other",
		 engine_conf(r->e)->providers[provider].name, why);
	explain_report_say(r);
}

/* The configuration promised something else to slurmctld. */
static void check_apart(struct explain_report *r)
{
	struct engine_apart a;
	size_t n = 0;

	for (; engine_apart(r->e, n, &a); n++) {
		if (n >= APART_LISTED_MAX)
			continue;
		engine_apart_text(r->e, &a, &r->s);
		str_adds(&r->s, "; its jobs run as they are");
		explain_report_say(r);
	}
	if (n > APART_LISTED_MAX) {
		str_addf(&r->s, "the machines of %zu more fabrics are not together either",
			 n - APART_LISTED_MAX);
		explain_report_say(r);
	}
}

static void check_undeleted(struct explain_report *r, size_t provider)
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
		explain_report_add_names(&r->s, names, n);
		str_addf(&r->s, " may bill on: %s; burstd retries", why);
		explain_report_say(r);
	}
	free(names);
}

/* Say for a day that the journal was lost, or is an older copy (F58), and what that means. */
static void check_rebuilt(struct explain_report *r)
{
	uint64_t n = engine_counters(r->e)->strays;
	char at[FMT_TIME_SIZE];

	if (n == 0 || engine_now(r->e) - engine_started_ms(r->e) > REBUILT_MS)
		return;
	str_addf(&r->s,
		 "%" PRIu64
		 " instance%s found at the providers that the journal did not know: the journal "
		 "was lost, or is an older copy; %s count against the limits, and cost from the "
		 "start that the provider reports; unknown are the jobs for which %s bought, and "
		 "the bills of instances that ended before %.19sZ",
		 n, n == 1 ? " was" : "s were", n == 1 ? "it does" : "they",
		 n == 1 ? "it was" : "they were", engine_time(r->e, at, engine_started_ms(r->e)));
	explain_report_say(r);
}

void explain_machines_check(struct explain_report *r)
{
	for (size_t i = 0; i < engine_conf(r->e)->nproviders; i++) {
		check_undeleted(r, i);
		check_undropped(r, i);
		check_unplaced(r, i);
		check_clock(r, i);
		check_unheard(r, i);
	}
	check_quarantined(r);
	check_strays(r);
	check_apart(r);
}

void explain_machines_unknown(struct explain_report *r)
{
	check_rebuilt(r);
	check_unreadable(r);
}
