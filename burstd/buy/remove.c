#include "buy/buy.h"
#include "cloud/cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/drift.h"

enum {
	STRAY_AGAIN_MS = 60000,
	STRAY_APART_MS = 600000,
	DENIED_ALONE_MAX = 16, /* denied one by one, while nothing succeeds: the cause is not these
				  instances ... */
	DENIED_WHOLE_MS = 600000, /* ... so deletes are not split again for so long (I30) */
};

struct victim {                  /* one instance of a delete on the wire */
	struct fleet_name *name; /* NULL: a stray */
	uint64_t gen;
	char id[PROVIDER_ID_MAX + 1];
};

struct removal {              /* a delete on the wire */
	struct removal *next; /* the next one of the same commit */
	struct request *rq;
	struct audit audit; /* until the audit record is staged */
	bool again;         /* its instances are on record already */
	int64_t asked_ms;
	size_t n;
	const char **ids;
	struct victim v[];
};

/* From when on a 404 means that the instance is gone: a settle time after any request that may have
 * made it, by the engine's clock (the provider's may be slow), and after burstd's start (the clock
 * may have jumped; F20, F57). */
static int64_t believed_ms(const struct cloud *c, const struct node *n)
{
	int64_t from = n->start_ms > n->sent_ms ? n->start_ms : n->sent_ms;

	from = from > c->e->started_ms ? from : c->e->started_ms;
	return from + c->conf->settle_ms;
}

static enum node_event_type verdict(const struct cloud *c, enum provider_code code,
				    const struct node *n, int64_t asked_ms)
{
	switch (code) {
	case PROVIDER_OK:
		return NODE_EV_DELETED;
	case PROVIDER_NOT_FOUND:
		return asked_ms >= believed_ms(c, n) ? NODE_EV_DELETED : NODE_EV_DELETE_FAILED;
	case PROVIDER_DENIED:
	case PROVIDER_INVALID:
		return NODE_EV_DELETE_DENIED;
	default:
		return NODE_EV_DELETE_FAILED;
	}
}

/* Some providers delete nothing if one id of a request is protected (EC2's termination protection)
 * or unknown: ask for this stray in a request of its own from now on.  *from: index to search from,
 * since a request has its strays in order. */
static void set_apart(struct cloud *c, const char *id, size_t *from)
{
	for (size_t k = 0; k < c->nstrays; k++) {
		struct stray *s = &c->strays[(*from + k) % c->nstrays];

		if (strcmp(s->id, id) == 0) {
			s->apart = true;
			*from = (*from + k + 1) % c->nstrays;
			return;
		}
	}
}

static void stray_answered(struct cloud *c, const char *id, enum provider_code code, size_t *from)
{
	if (code == PROVIDER_DENIED || code == PROVIDER_INVALID || code == PROVIDER_NOT_FOUND)
		set_apart(c, id, from);
}

/* The answer does not say which id was refused, or whether all were: ask in halves, so that one
 * instance cannot block the others for ever. */
static void cut_in_two(struct cloud *c, enum provider_code code, size_t n)
{
	if (n > 1 && (code == PROVIDER_INVALID || engine_now(c->e) >= c->delete_whole_ms))
		c->delete_most = n / 2;
	if (n > 1 || code != PROVIDER_DENIED || !c->delete_denied ||
	    ++c->delete_alone < DENIED_ALONE_MAX)
		return;
	c->delete_alone = 0;
	c->delete_most = 0;
	c->delete_whole_ms = engine_now(c->e) + DENIED_WHOLE_MS;
}

/* A whole request was refused: write one event, until a delete succeeds; status shows it as long as
 * it lasts.  The instances can be deleted once an admin has acted, so they are not quarantined. */
static void refused_whole(struct cloud *c, const struct provider_result *r, size_t n)
{
	char detail[400];

	if (c->delete_denied || n < 2)
		return;
	c->delete_denied = true;
	(void)snprintf(detail, sizeof(detail),
		       "provider %s does not delete %zu instances, and perhaps others: %.200s; "
		       "burstd retries",
		       c->conf->name, n, r->message);
	engine_event(c->e, "", 0, "deletes-refused", detail);
}

static bool is_refused(enum provider_code code)
{
	return code == PROVIDER_DENIED || code == PROVIDER_INVALID;
}

static void note_whole(struct cloud *c, const struct provider_result *r, size_t n)
{
	if (is_refused(r->code)) {
		cut_in_two(c, r->code, n);
		refused_whole(c, r, n);
	}
	if (r->code != PROVIDER_OK)
		return;
	c->delete_denied = false;
	c->delete_most = 0;
	c->delete_alone = 0;
}

/* Does the refusal not concern this instance in particular?  While nothing else succeeds, a single
 * denied instance may be deleted next time. */
static bool is_about_all(const struct cloud *c, const struct provider_result *r, size_t n)
{
	return is_refused(r->code) && (n > 1 || (r->code == PROVIDER_DENIED && c->delete_denied));
}

/* When to try again; 0: not said. */
static int64_t again_ms(const struct cloud *c, const struct provider_result *r)
{
	return r->retry_after_ms > 0 ? engine_now(c->e) + r->retry_after_ms : 0;
}

/* Repeats are recorded if they succeed: others may go on for days. */
static void record(struct cloud *c, const struct removal *rm, const struct provider_result *r)
{
	struct audit a;

	if (rm->again && r->code != PROVIDER_OK)
		return;
	audit_begin(&a, rm->n);
	for (size_t i = 0; i < rm->n; i++)
		audit_add(&a, rm->v[i].name != NULL ? rm->v[i].name->name : rm->v[i].id);
	audit_answered(c->e, &a, "delete", c->conf->name, r);
}

/* What can be deleted lived until then, and lists that lacked it before were wrong.  A repeat is
 * accepted of a machine that is gone, too: lists since the row is to be deleted count. */
static void accepted(struct fleet_node *fn)
{
	if (fn->lacked_ms < fn->n.since_ms)
		fn->lacked_ms = 0;
}

static void on_delete(struct cloud *c, void *ctx, const struct provider_result *r)
{
	struct removal *rm = ctx;
	size_t from = 0;
	bool all;

	record(c, rm, r);
	note_whole(c, r, rm->n);
	all = is_about_all(c, r, rm->n);
	for (size_t i = 0; i < rm->n; i++) {
		struct fleet_node *fn =
			rm->v[i].name != NULL ? fleet_gen(rm->v[i].name, rm->v[i].gen) : NULL;
		enum provider_code code = r->code;
		struct node_event ev = {.now_ms = engine_now(c->e)};

		if (code == PROVIDER_OK)
			code = i < r->nitems ? r->items[i].code : PROVIDER_AMBIGUOUS;
		if (rm->v[i].name == NULL && !all)
			stray_answered(c, rm->v[i].id, code, &from);
		if (fn == NULL)
			continue;
		fn->busy = false;
		if (code == PROVIDER_OK)
			accepted(fn);
		ev.type = all ? NODE_EV_DELETE_FAILED : verdict(c, code, &fn->n, rm->asked_ms);
		if (r->code == PROVIDER_RATE) /* with a pause of its own it would miss turns (P1) */
			ev.type = NODE_EV_THROTTLED;
		ev.retry_ms = again_ms(c, r);
		engine_post(c->e, fn, &ev);
	}
	if (r->code != PROVIDER_RATE) /* as in launch_answer.c */
		cloud_hurry(c);
}

/* Most ids of one delete that may go now. */
static size_t most_of(const struct cloud *c)
{
	size_t most = c->delete_most != 0 ? c->delete_most : c->caps.delete_max;
	uint32_t room = limit_room(&c->limit, PROVIDER_DELETE, engine_now(c->e));

	return most < room ? most : room;
}

static struct removal *removal_new(size_t max)
{
	struct removal *rm =
		mem_zalloc(sizeof(*rm) + max * sizeof(rm->v[0]) + max * sizeof(char *));

	rm->ids = (const char **)(void *)&rm->v[max];
	audit_begin(&rm->audit, max);
	return rm;
}

static void removal_add(struct removal *rm, struct fleet_node *fn, const char *id)
{
	struct victim *v = &rm->v[rm->n];

	if (fn != NULL) {
		v->name = fn->name;
		v->gen = fn->n.gen;
		fn->busy = true;
	}
	(void)snprintf(v->id, sizeof(v->id), "%s", id);
	rm->ids[rm->n++] = v->id;
}

/* Stage the audit record (I28); one commit for all deletes of this turn follows. */
static void removal_put(struct cloud *c, struct removal *rm, struct removal **all)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};

	rm->again = !rm->audit.first;
	audit_put_delete(c->e, &rm->audit, c->conf->name);
	op.u.del.ids = rm->ids;
	op.u.del.nids = rm->n;
	rm->asked_ms = engine_now(c->e);
	while (*all != NULL)
		all = &(*all)->next;
	*all = rm;
	rm->rq = cloud_reserve(c, &op, on_delete, rm);
}

/* A row that was DELETING before burstd's start may run a job by now, if slurmctld was not told
 * (I18). Then slurmctld must power it down first: why_power_down() in core/drift.c has it do so. */
static bool may_delete(const struct engine *e, const struct fleet_node *fn)
{
	const struct fleet_name *nm = fn->name;
	bool up = (nm->flags & (SLURM_POWERED_DOWN | SLURM_POWERING_DOWN | SLURM_POWERING_UP |
				SLURM_POWER_DOWN)) == 0;

	if (fn->n.wanted_ms > e->started_ms || fn->n.accepted || !nm->listed)
		return true;
	return e->poll.snapshot_ms != 0 && (!up || fleet_live(nm) != NULL);
}

static bool is_to_go(struct cloud *c, const struct fleet_node *fn)
{
	struct engine *e = c->e;
	struct node_limits lim;

	return !fn->busy && !fn->reporting && !fn->consoling && fn->next == NULL &&
	       cloud_of(e, &fn->n) == c && may_delete(e, fn) &&
	       node_want(&fn->n, engine_now(e), engine_limits(e, &fn->n, &lim)) == NODE_WANT_DELETE;
}

static struct fleet_node *first_to_go(const struct engine *e)
{
	return e->fleet.states[NODE_DELETING];
}

/* Rows that were never asked for go first: otherwise deletes that are throttled or fail again and
 * again would block them for ever. */
static struct fleet_node *next_to_go(const struct engine *e, const struct fleet_node *fn,
				     bool *asked)
{
	if (fn->state_next != NULL || *asked)
		return fn->state_next;
	*asked = true;
	return first_to_go(e);
}

static void remove_nodes(struct cloud *c, struct removal **all)
{
	struct engine *e = c->e;
	size_t most = 0;
	struct removal *rm = NULL;
	bool asked = false;

	for (struct fleet_node *fn = first_to_go(e); fn; fn = next_to_go(e, fn, &asked)) {
		if (fn->asked != asked || !is_to_go(c, fn))
			continue;
		if (rm == NULL && !cloud_ready(c, PROVIDER_DELETE))
			return;
		if (rm == NULL)
			rm = removal_new(most = most_of(c));
		audit_delete(&rm->audit, fn, fn->n.instance);
		removal_add(rm, fn, fn->n.instance);
		if (rm->n == most) {
			removal_put(c, rm, all);
			rm = NULL;
		}
	}
	if (rm != NULL)
		removal_put(c, rm, all);
}

/* May a job run on the stray?  If no pool names its node, perhaps since the journal is lost, a
 * snapshot younger than the list decides (I18). */
static bool may_work(const struct engine *e, const struct stray *s)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, s->node);

	if (fleet_is_ours(nm))
		return drift_is_elsewhere(nm, s->id, s->addr);
	return s->up || e->poll.snapshot_ms <= s->first_ms;
}

/* From when on the provider is asked to delete the stray, for the first time or again. */
static int64_t stray_due(const struct cloud *c, const struct stray *s)
{
	int64_t again = s->apart ? STRAY_APART_MS : STRAY_AGAIN_MS;
	int64_t due = cloud_stray_due(c, s);

	return s->asked_ms != 0 && s->asked_ms + again > due ? s->asked_ms + again : due;
}

static bool is_due(const struct cloud *c, const struct stray *s, int64_t now)
{
	return now >= stray_due(c, s) && !may_work(c->e, s);
}

static void add_stray(struct engine *e, struct removal *rm, struct stray *s)
{
	audit_stray(&rm->audit, s->node, s->id, s->asked_ms != 0);
	s->asked_ms = engine_now(e);
	if (s->tried_ms == 0)
		s->tried_ms = s->asked_ms;
	engine_event(e, s->node, s->gen, "stray-deleted", s->id);
	removal_add(rm, NULL, s->id);
}

/* Delete strays that made a request fail, each in a request of its own. */
static void remove_apart(struct cloud *c, int64_t now, struct removal **all)
{
	size_t from = c->apart_at, n = c->nstrays;

	for (size_t k = 0; k < n; k++) {
		struct stray *s = &c->strays[(from + k) % n];
		struct removal *rm;

		if (!s->apart || !is_due(c, s, now))
			continue;
		if (!cloud_ready(c, PROVIDER_DELETE))
			return;
		rm = removal_new(1);
		add_stray(c->e, rm, s);
		c->apart_at = (from + k + 1) % n;
		removal_put(c, rm, all);
	}
}

/* Begin where the last pass stopped: at a provider with a low limit the first strays are due again
 * before the last ones had their turn. */
static void remove_strays(struct cloud *c, struct removal **all)
{
	int64_t now = engine_now(c->e);
	struct removal *rm = NULL;
	size_t most = 0, from = c->strays_at, n = c->nstrays;

	for (size_t k = 0; k < n; k++) {
		struct stray *s = &c->strays[(from + k) % n];

		if (s->apart || !is_due(c, s, now))
			continue;
		if (rm == NULL && !cloud_ready(c, PROVIDER_DELETE))
			return;
		if (rm == NULL)
			rm = removal_new(most = most_of(c));
		add_stray(c->e, rm, s);
		c->strays_at = (from + k + 1) % n;
		if (rm->n == most)
			break;
	}
	if (rm != NULL)
		removal_put(c, rm, all);
	remove_apart(c, now, all);
}

size_t remove_queue(struct cloud *c, int64_t *oldest_ms)
{
	int64_t now = engine_now(c->e);
	size_t n = 0;

	for (const struct fleet_node *fn = first_to_go(c->e); fn != NULL; fn = fn->state_next)
		if (is_to_go(c, fn)) {
			n++;
			*oldest_ms = sooner(*oldest_ms, fn->n.since_ms);
		}
	for (size_t i = 0; i < c->nstrays; i++)
		if (is_due(c, &c->strays[i], now)) {
			n++;
			*oldest_ms = sooner(*oldest_ms, stray_due(c, &c->strays[i]));
		}
	return n;
}

static void remove_run(struct engine *e)
{
	struct removal *all = NULL;

	for (size_t i = 0; i < e->conf->nproviders && !e->dead; i++) {
		remove_nodes(&e->cloud->all[i], &all);
		if (e->cloud->all[i].nstrays > 0)
			remove_strays(&e->cloud->all[i], &all);
	}
	if (all != NULL)
		engine_commit(e);
	/* If the journal has failed, reserved requests are freed with the engine. */
	while (all != NULL && !e->dead) {
		struct removal *rm = all;

		all = rm->next;
		cloud_send_reserved(rm->rq);
	}
}

const struct engine_part remove_part = {
	.name = "deletes",
	.at = {[PART_RUN] = remove_run},
};
