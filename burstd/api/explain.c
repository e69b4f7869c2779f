#include "api/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

enum {
	SENTENCE_MAX = 1024,        /* bytes; the longest part is a provider's message */
	QUIET_START_MS = 60000,     /* after a start, silence of others is no problem yet */
	INDOUBT_LONG_MS = 600000,   /* a lost create is normally settled long before */
	QUARANTINE_LISTED_MAX = 20, /* nodes named one by one */
};

static const char *pool_name(const struct engine *e, uint32_t pool)
{
	const struct conf *c = engine_conf(e);

	return pool < c->npools ? c->pools[pool].name : "?";
}

static const char *provider_name(const struct engine *e, uint32_t pool)
{
	const struct conf *c = engine_conf(e);

	return pool < c->npools ? c->pools[pool].provider : "?";
}

/* "the provider has no capacity (its words)" */
static void add_refusal(struct str *out, const struct fleet_name *nm)
{
	const char *reason = node_reason_text(nm->refused);

	str_adds(out, reason);
	if (nm->why[0] != '\0' && strcmp(nm->why, reason) != 0)
		str_addf(out, " (%s)", nm->why);
	str_adds(out, "; next try when Slurm asks again");
}

static void explain_off(struct str *out, const struct engine *e, const struct fleet_name *nm)
{
	if (nm != NULL && nm->refused != NODE_BECAUSE_NONE) {
		str_addf(out, "waiting: pool %s: ", pool_name(e, nm->pool));
		add_refusal(out, nm);
	} else if (nm == NULL || nm->newest == NULL) {
		str_adds(out, "off: Slurm has not asked for it");
	} else if (nm->newest->n.reason == NODE_BECAUSE_NONE) {
		str_adds(out, "off: its last instance is gone");
	} else {
		str_addf(out, "off: %s", node_reason_text(nm->newest->n.reason));
	}
}

static void add_wake(struct str *out, const struct engine *e, const struct node *n,
		     const char *what)
{
	char text[FMT_DUR_SIZE];

	if (n->wake_ms == INT64_MAX)
		return;
	if (n->wake_ms <= engine_now(e))
		str_addf(out, "; %s now", what);
	else
		str_addf(out, "; %s in %s", what, fmt_duration(text, n->wake_ms - engine_now(e)));
}

static void explain_wanted(struct str *out, const struct engine *e, const struct node *n)
{
	str_addf(out, "waiting: to be bought from provider %s", provider_name(e, n->pool));
	if (n->attempts > 0) {
		str_addf(out, ", %" PRIu32 " %s put off", n->attempts,
			 n->attempts == 1 ? "try was" : "tries were");
		add_wake(out, e, n, "next try");
	}
}

static void explain_deleting(struct str *out, const struct node *n)
{
	const char *reason = n->reason != NODE_BECAUSE_NONE ? node_reason_text(n->reason)
							    : "it is not wanted any more";

	str_addf(out, "leaving: %s; ", reason);
	if (n->instance[0] == '\0')
		str_adds(out, "making sure that no instance exists");
	else if (n->accepted)
		str_addf(
			out,
			"the delete of instance %s was accepted, waiting for proof that it is gone",
			n->instance);
	else
		str_addf(out, "instance %s is being deleted", n->instance);
}

void explain_node(struct str *out, const struct engine *e, const struct fleet_name *nm)
{
	const struct node *n = nm != NULL && nm->newest != NULL ? &nm->newest->n : NULL;

	switch (n != NULL ? n->state : NODE_GONE) {
	case NODE_WANTED:
		explain_wanted(out, e, n);
		break;
	case NODE_CREATING:
		str_addf(out, "starting: provider %s was asked for the instance",
			 provider_name(e, n->pool));
		break;
	case NODE_INDOUBT:
		str_adds(out,
			 "in doubt: the answer to the create was lost; the instance is looked for "
			 "before anything else is done");
		break;
	case NODE_BOOTING:
		str_addf(out, "starting: instance %s exists, its slurmd has not registered yet",
			 n->instance);
		add_wake(out, e, n, "given up");
		break;
	case NODE_READY:
		str_adds(out, "ready: Slurm can run jobs on it");
		break;
	case NODE_DRAINING:
		str_adds(out, "leaving: the provider takes its capacity back; jobs are moved away");
		break;
	case NODE_DELETING:
		explain_deleting(out, n);
		break;
	case NODE_QUARANTINED:
		str_addf(out,
			 "stuck: the provider refuses to delete instance %s, which bills on; "
			 "delete it "
			 "at the provider and see why it refused",
			 n->instance);
		break;
	case NODE_GONE:
	case NODE_NSTATES:
		explain_off(out, e, nm);
		break;
	}
}

/* --- problems ------------------------------------------------------------------------------------
 */

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
		     "what runs goes on; no new release or resume is seen until it does");
	for (size_t i = 0; i < c->nproviders; i++) {
		struct engine_source src = engine_provider_source(r->e, i);

		src.name = c->providers[i].name;
		check_source(r, &src, "provider ", "its nodes stay as they are until it does");
	}
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

static void check_indoubt(struct report *r)
{
	const struct fleet_node *fn = engine_fleet(r->e)->states[NODE_INDOUBT];
	unsigned n = 0;

	for (; fn != NULL; fn = fn->state_next)
		n += engine_now(r->e) - fn->n.since_ms > INDOUBT_LONG_MS;
	if (n == 0)
		return;
	str_addf(&r->s,
		 "%u %s in doubt for over 10m: the answer to a create was lost and the provider's "
		 "lists "
		 "do not settle it",
		 n, n == 1 ? "node is" : "nodes are");
	say(r);
}

struct tally { /* refused names of one pool for one reason */
	uint32_t n;
	const struct fleet_name *first;
};

static void say_refused(struct report *r, const struct tally *t)
{
	if (t->n == 1)
		str_addf(&r->s, "pool %s: node %s waits: ", pool_name(r->e, t->first->pool),
			 t->first->name);
	else
		str_addf(&r->s,
			 "pool %s: %" PRIu32 " nodes wait: ", pool_name(r->e, t->first->pool),
			 t->n);
	add_refusal(&r->s, t->first);
	say(r);
}

static void check_refused(struct report *r)
{
	const struct fleet *f = engine_fleet(r->e);
	struct tally *tallies = mem_zalloc((f->npools * NODE_NREASONS + 1) * sizeof(*tallies));

	for (size_t i = 0; i < f->nall; i++) {
		const struct fleet_name *nm = f->all[i];
		struct tally *t = &tallies[nm->pool * NODE_NREASONS + nm->refused];

		if (nm->refused == NODE_BECAUSE_NONE || fleet_live(nm) != NULL)
			continue;
		if (t->n++ == 0)
			t->first = nm;
	}
	for (size_t i = 0; i < f->npools * NODE_NREASONS; i++)
		if (tallies[i].n > 0)
			say_refused(r, &tallies[i]);
	free(tallies);
}

static void check_offers(struct report *r)
{
	const struct conf *c = engine_conf(r->e);

	for (size_t i = 0; i < c->npools; i++) {
		const struct conf_pool *p = &c->pools[i];

		if (engine_price(r->e, i) >= 0)
			continue;
		str_addf(
			&r->s,
			"pool %s: provider %s does not offer type %s in region %s%s%s (%s, in %s); "
			"nothing can be bought for it",
			p->name, p->provider, p->type, p->region, p->zone[0] ? ", zone " : "",
			p->zone, p->spot ? "spot" : "on-demand", c->currency);
		say(r);
	}
}

void explain_problems(const struct engine *e, explain_fn fn, void *ctx)
{
	struct report r = {.e = e, .fn = fn, .ctx = ctx};

	str_init(&r.s, SENTENCE_MAX);
	check_sources(&r);
	check_offers(&r);
	check_quarantined(&r);
	check_refused(&r);
	check_indoubt(&r);
	str_fini(&r.s);
}
