#include "api/explain.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/explain_private.h"
#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "buy/buy_api.h"
#include "cloud/cloud_api.h"
#include "jobs/jobs_api.h"
#include "keys/keys_api.h"
#include "slurm/parse.h"

enum {
	SENTENCE_MAX = 1024,      /* bytes; the longest part is a provider's message */
	QUIET_START_MS = 60000,   /* after a start, silence of others is no problem yet */
	INDOUBT_LONG_MS = 600000, /* a lost create is normally settled long before */
	HELD_LONG_MS = 120000,    /* a job that ends is counted for a moment */
};

/* what: "slurmctld", "provider sim"; consequence: what its silence means. */
static void check_source(struct explain_report *r, const struct engine_source *src,
			 const char *what, const char *consequence)
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
	explain_report_say(r);
}

static void check_sources(struct explain_report *r)
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
			continue; /* check_off() reports it */
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

static void add_cost(struct explain_report *r, uint32_t n, int64_t rate)
{
	char text[FMT_MONEY_SIZE];

	str_addf(&r->s, "%" PRIu32 " %s at %s %s/h", n, n == 1 ? "node" : "nodes",
		 fmt_money(text, rate), engine_conf(r->e)->currency);
}

static void check_off(struct explain_report *r, size_t provider)
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
		str_adds(&r->s, "; it is on again within a minute after that is repaired");
	explain_report_say(r);
}

/* Report the nodes of pools that were removed from the configuration. */
static void check_removed(struct explain_report *r)
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
		explain_report_say(r);
	}
}

/* Another user of this machine may have the port, or the address is not here yet. */
static void check_door(struct explain_report *r)
{
	const char *off = engine_door_off(r->e), *init = engine_init_off(r->e);
	int64_t deadman = engine_conf(r->e)->nodes.deadman_ms;
	char text[FMT_DUR_SIZE];

	if (init != NULL) {
		str_addf(&r->s,
			 "%s; until it can be read, which is tried each minute, no node that needs "
			 "it is bought, and nodes that boot wait for their keys",
			 init);
		explain_report_say(r);
	}
	if (off == NULL)
		return;
	str_addf(&r->s,
		 "nodes cannot reach burstd: %s; until they can, which is tried each few seconds, "
		 "no node that gets its keys from burstd is bought, and nodes that boot wait for "
		 "theirs",
		 off);
	if (deadman > 0)
		str_addf(&r->s, "; nodes that are up power off after %s (deadman)",
			 fmt_duration(text, deadman));
	explain_report_say(r);
}

static void check_disk(struct explain_report *r)
{
	const struct journal_room *room = engine_room(r->e);

	if (!room->low)
		return;
	str_addf(&r->s,
		 "disk full: %" PRId64 " MiB are free in %s; nothing is bought until there is "
		 "more, deletes go on",
		 room->free_bytes >> 20, engine_conf(r->e)->state_dir);
	explain_report_say(r);
}

static void check_spool(struct explain_report *r)
{
	const char *note;
	struct err e = {0};

	if (engine_spool(r->e, &note, &e) == 0)
		return;
	str_addf(&r->s,
		 "calls of slurmctld may be lost: the spool, %s; until that is mended only what "
		 "slurmctld's nodes show is bought, up to half a minute later",
		 e.msg);
	explain_report_say(r);
}

static void check_indoubt(struct explain_report *r)
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
		explain_report_add_names(&r->s, names, n);
		str_adds(&r->s, ": the answer to a create was lost and the provider's lists do not "
				"settle it");
		explain_report_say(r);
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

/* names: room for all nodes */
static void say_refused(struct explain_report *r, const struct tally *t, const char **names)
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
		explain_report_add_names(&r->s, names, n);
	}
	if (last > 0)
		str_addf(&r->s, "%s %s ago", t->n == 1 ? "" : ", the last",
			 fmt_duration(ago, now > last ? now - last : 0));
	str_adds(&r->s, ": ");
	explain_refusal(&r->s, r->e, t->last);
	explain_report_say(r);
}

static void check_refused(struct explain_report *r)
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

/* The job may have been cancelled meanwhile, or released by hand: nobody tells us. */
static void check_postponed(struct explain_report *r)
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
	explain_report_say(r);
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
static void check_slurm_conf_known(struct explain_report *r)
{
	const char *error = engine_prereq_error(r->e);

	if (error[0] == '\0' || engine_slurm_source(r->e).error[0] != '\0')
		return;
	str_addf(&r->s, "slurm.conf is not checked: %s; slurmctld is asked again each minute",
		 error);
	explain_report_say(r);
}

static void check_slurm_conf(struct explain_report *r, enum slurm_severity severity)
{
	const struct slurm_report *found = engine_prereq(r->e);

	for (size_t i = 0; found != NULL && i < found->n; i++) {
		const struct slurm_problem *p = &found->problems[i];

		if (p->severity != severity)
			continue;
		str_addf(&r->s, "slurm.conf (%s): ", slurm_severity_name(p->severity));
		slurm_problem_print(p, &r->s);
		explain_report_say(r);
	}
}

/* Report a fault of slurmctld 22.05 that no order mends, and that only its log shows. */
static void check_held(struct explain_report *r)
{
	const struct fleet *f = engine_fleet(r->e);
	const char **names = mem_zalloc((f->nall + 1) * sizeof(*names));
	int64_t now = engine_now(r->e);
	struct str list;
	size_t n = 0;

	for (size_t i = 0; i < f->nall; i++)
		if (f->all[i]->held_ms != 0 && now - f->all[i]->held_ms >= HELD_LONG_MS)
			names[n++] = f->all[i]->name;
	str_init(&list, EXPLAIN_NAMES_MAX);
	hostlist_fold(&list, names, n);
	if (n > 0) {
		str_addf(
			&r->s,
			"%zu node%s off and idle (%s), and slurmctld counts GPUs there as used: "
			"jobs that want all of such a node wait for ever. Slurm 22.05 does so when "
			"all nodes of a job fail at once, and only a restart of it helps: "
			"\"systemctl restart slurmctld\"",
			n, n == 1 ? " is" : "s are", list.full ? "..." : list.p);
		explain_report_say(r);
	}
	str_fini(&list);
	free(names);
}

void explain_problems(const struct engine *e, explain_fn fn, void *ctx)
{
	struct explain_report r = {.e = e, .fn = fn, .ctx = ctx};

	str_init(&r.s, SENTENCE_MAX);
	check_disk(&r);
	check_door(&r);
	for (size_t i = 0; i < engine_conf(e)->nproviders; i++)
		check_off(&r, i);
	check_removed(&r);
	check_sources(&r);
	check_spool(&r);
	explain_secrets(e, fn, ctx);
	check_slurm_conf_known(&r);
	check_slurm_conf(&r, SLURM_ERROR);
	explain_pools_check(&r);
	explain_machines_check(&r);
	check_held(&r);
	explain_machines_unknown(&r);
	check_refused(&r);
	check_postponed(&r);
	check_indoubt(&r);
	check_slurm_conf(&r, SLURM_WARNING);
	str_fini(&r.s);
}
