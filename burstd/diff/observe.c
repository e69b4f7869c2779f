#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "keys/keys.h"
#include "keys/vouchers.h"
#include "money/money.h"
#include "slurm/show.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "base/mem.h"
#include "io/loop.h"

/* --- a snapshot of slurmctld -------------------------------------------------------------------
 */

/* One pass over a snapshot: some nodes in each turn of the loop, so that hooks are served in
 * between. Each node is compared as of the moment when it is looked at, with a snapshot that began
 * at began_ms.  Orders to slurmctld, and decisions that need all nodes, wait for the end of the
 * pass. */
struct look {
	struct engine *e;
	size_t at; /* index of the next node */
	int64_t began_ms, now_ms;
	bool settled;    /* the snapshot shows the effect of all orders */
	uint64_t orders; /* slurm_orders() after the last turn */
	bool moving;
	bool silent;
	struct str wanted;
};

static void copy_text(char *out, size_t size, struct slurm_text t)
{
	if (t.n < size && t.n > 0)
		memcpy(out, t.p, t.n); /* a longer one cannot be burstd's */
}

static bool text_is_addr(struct slurm_text t, const char *addr)
{
	char text[PROVIDER_ADDR_MAX + 1] = "";

	if (slurm_text_is(t, addr))
		return true;
	copy_text(text, sizeof(text), t);
	return ipaddr_same(text, addr);
}

/* Does slurmctld have the node up on the live row's instance?  The InstanceId that slurmd reports
 * counts for more than NodeAddr, which burstd may have set. */
static bool at_home(const struct fleet_node *live, const struct slurm_node *sn)
{
	if (live == NULL)
		return false;
	if (sn->instance.n > 0)
		return slurm_text_is(sn->instance, live->n.instance);
	return live->n.addr[0] != '\0' && text_is_addr(sn->addr, live->n.addr);
}

static bool is_nowhere(const struct slurm_node *sn)
{
	return sn->instance.n == 0 && (sn->addr.n == 0 || slurm_text_is(sn->addr, sn->name));
}

/* The addresses of orders that this snapshot need not show stand until one shows their effect. */
static void note_addr(const struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	char addr[PROVIDER_ADDR_MAX + 1] = "";

	if (!slurm_text_is(sn->addr, sn->name))
		copy_text(addr, sizeof(addr), sn->addr);
	if (l->settled)
		fleet_addr_seen(nm, addr, l->began_ms);
	else if (nm->addr == NULL)
		fleet_addr(nm, addr);
}

static void note_place(const struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	struct fleet_elsewhere p = {.since_ms = l->began_ms};
	bool home = at_home(fleet_live(nm), sn);

	if (home || is_nowhere(sn)) {
		fleet_forget_place(nm);
		nm->on_instance = home;
		return;
	}
	nm->on_instance = false;
	copy_text(p.id, sizeof(p.id), sn->instance);
	copy_text(p.addr, sizeof(p.addr), sn->addr);
	if (nm->elsewhere == NULL)
		nm->elsewhere = mem_zalloc(sizeof(p));
	else if (strcmp(nm->elsewhere->id, p.id) == 0 && strcmp(nm->elsewhere->addr, p.addr) == 0)
		p.since_ms = nm->elsewhere->since_ms;
	*nm->elsewhere = p;
}

static bool reason_is(const struct slurm_node *sn, const char *start)
{
	size_t n = strlen(start);

	return sn->reason.n >= n && memcmp(sn->reason.p, start, n) == 0;
}

static enum drift_reason reason_of(const struct slurm_node *sn)
{
	if (reason_is(sn, "burstd:"))
		return DRIFT_REASON_OURS;
	if (reason_is(sn, "ResumeTimeout"))
		return DRIFT_REASON_TIMEOUT;
	return reason_is(sn, "Not responding") ? DRIFT_REASON_SILENT : DRIFT_REASON_OTHER;
}

static enum drift_addr addr_of(const struct fleet_node *live, const struct slurm_node *sn)
{
	if (live != NULL && live->n.addr[0] != '\0' && text_is_addr(sn->addr, live->n.addr))
		return DRIFT_ADDR_OURS;
	return sn->addr.n == 0 || slurm_text_is(sn->addr, sn->name) ? DRIFT_ADDR_NONE
								    : DRIFT_ADDR_OTHER;
}

/* The length of the Reason without the user and time that slurmctld appends. */
static int reason_len(const struct slurm_node *sn)
{
	size_t n = 0;

	while (n < sn->reason.n && n < 120 && memcmp(sn->reason.p + n, " [", 2) != 0)
		n++;
	return (int)n;
}

/* Have slurmctld power the node down, with a reason. */
static void take_down(struct look *l, struct fleet_name *nm, const struct slurm_node *sn,
		      const struct drift_todo *todo)
{
	char why[200];
	int n = todo->why == DRIFT_WHY_INVALID ? reason_len(sn) : 0;

	if (todo->why == DRIFT_WHY_NOTICE)
		notice_text(why, &fleet_live(nm)->n);
	else
		(void)snprintf(why, sizeof(why), "%s%s%.*s", drift_why_text(todo->why),
			       n > 0 ? ": " : "", n, n > 0 ? sn->reason.p : "");
	rescue_power_down(l->e, nm, todo->dead, why);
	if (todo->why != DRIFT_WHY_MUTE)
		engine_event(l->e, nm->name, nm->newest != NULL ? nm->newest->n.gen : 0,
			     "powered-down", nm->told);
}

static void mend_addr(struct look *l, struct fleet_name *nm, const struct fleet_node *live,
		      unsigned deeds)
{
	if ((deeds & DRIFT_SET_ADDR) != 0) {
		fleet_addr(nm, live->n.addr);
		slurm_set_addr(l->e->slurm, nm->name, live->n.addr, nm->name);
	}
	if ((deeds & DRIFT_RESET_ADDR) != 0)
		slurm_set_addr(l->e->slurm, nm->name, NULL, NULL);
}

static void forget(struct fleet_name *nm, unsigned deeds)
{
	if ((deeds & DRIFT_UNBAR) != 0)
		fleet_unbar(nm);
	if ((deeds & DRIFT_FORGET_JOB) != 0)
		fleet_wait_for_none(nm);
	if ((deeds & DRIFT_FORGET_REFUSAL) != 0)
		fleet_forget_refusal(nm);
}

/* Is the node up although it is to end?  Then its voucher is marked as used, and its jobs pay for
 * what they run instead of the boot. */
static bool is_up_late(const struct look *l, const struct fleet_node *live)
{
	return live != NULL && live->n.state == NODE_DRAINING && l->began_ms > live->n.since_ms &&
	       slurm_is_on(live->name->flags) && drift_registered(live->name->flags) &&
	       (vouchers_is_held(l->e, &live->n) || holds_boots(l->e, &live->n));
}

/* Has the node come up with wrong hardware?  It will be released, and it has used its token. */
static bool is_up_wrong(const struct look *l, const struct fleet_node *live)
{
	const uint32_t flags = live != NULL ? live->name->flags : 0;

	return (flags & SLURM_INVALID_REG) != 0 && (flags & SLURM_POWER_DOWN) == 0 &&
	       slurm_is_on(flags) && !slurm_is_silent(flags) && l->began_ms > live->n.since_ms &&
	       vouchers_is_held(l->e, &live->n);
}

static void carry_out(struct look *l, struct fleet_name *nm, const struct slurm_node *sn,
		      const struct drift_todo *todo)
{
	struct fleet_node *live = fleet_live(nm);
	struct node_event ev = {
		.type = NODE_EV_RELEASE, .reason = todo->release, .now_ms = engine_now(l->e)};
	unsigned deeds = todo->deeds;

	l->moving = l->moving || (deeds & DRIFT_WATCH) != 0;
	if (live != NULL && ((deeds & DRIFT_REGISTERED) != 0 || drift_is_heard(live)))
		live->lacked_ms = 0; /* lists are wrong to lack it, and it is billed */
	forget(nm, deeds);
	if ((deeds & DRIFT_REFUSE) != 0)
		l->e->jobs->refuse_due = true;
	if ((deeds & DRIFT_BUY) != 0)
		str_addf(&l->wanted, "%s%s", l->wanted.len > 0 ? "," : "", nm->name);
	if ((deeds & DRIFT_RELEASE) != 0)
		engine_post(l->e, live, &ev);
	mend_addr(l, nm, live, deeds);
	if ((deeds & DRIFT_RESUME) != 0)
		slurm_resume(l->e->slurm, nm->name);
	if ((deeds & DRIFT_REST) != 0)
		pool_rest(l->e, nm);
	if ((deeds & DRIFT_REGISTERED) != 0 || is_up_late(l, live))
		registered_add(l->e, live);
	if (is_up_wrong(l, live))
		vouchers_up(l->e, &live->n);
	if ((deeds & DRIFT_FAILED) != 0) {
		char why[160];

		(void)snprintf(why, sizeof(why), "registration is invalid: %.*s", reason_len(sn),
			       sn->reason.p != NULL ? sn->reason.p : "");
		if (!rolls_failed(l->e, &live->n, why))
			pool_failed(l->e, &live->n, why);
	}
	if ((deeds & DRIFT_POWER_DOWN) != 0)
		take_down(l, nm, sn, todo);
	if ((deeds & DRIFT_FENCE) != 0)
		notice_fence(l->e, nm, &live->n);
	if ((deeds & DRIFT_SIGNAL) != 0)
		rescue_signal(l->e, nm);
	if ((deeds & DRIFT_CANCEL) != 0)
		cancel_look(l->e, nm, sn, l->began_ms);
}

static void look(struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	const struct fleet_node *live = fleet_live(nm);
	struct drift_seen seen = {.flags = sn->flags,
				  .reason = reason_of(sn),
				  .addr = addr_of(live, sn),
				  .settled = l->settled,
				  .listed = doubt_looked(l->e, nm->pool),
				  .blind = live != NULL && doubt_is_blind(l->e, &live->n),
				  .loses_requeued = prereq_may_have(l->e, SLURM_BUG_REQUEUE_LOST),
				  .began_ms = l->began_ms,
				  .now_ms = l->now_ms,
				  .started_ms = l->e->started_ms,
				  .before_ms = l->e->poll.snapshot_ms};
	struct drift_todo todo;

	nm->shown = true;
	l->silent = l->silent || (live != NULL && slurm_is_silent(sn->flags));
	nm->missing_ms = 0;
	nm->flags = sn->flags;
	if (!slurm_node_holds(sn))
		nm->held_ms = 0;
	else if (nm->held_ms == 0)
		nm->held_ms = l->now_ms;
	note_addr(l, nm, sn);
	if (slurm_is_on(sn->flags))
		note_place(l, nm, sn);
	else
		fleet_forget_place(nm);
	nm->idle = false;
	if ((sn->flags & SLURM_POWERING_UP) == 0) {
		nm->useless_ms = 0;
		nm->tried = 0; /* the next demand for it is a new one */
	}
	nm->by_admin = seen.reason == DRIFT_REASON_OTHER && sn->reason.n > 0 &&
		       (sn->flags & (SLURM_DRAIN | SLURM_FAIL | SLURM_DOWN)) != 0;
	if (live != NULL && live->n.state == NODE_DRAINING)
		notice_plan(l->e, live, &seen.plan);
	drift_node(nm, &seen, &todo);
	carry_out(l, nm, sn, &todo);
	l->moving = insist_look(l->e, nm, l->began_ms) || l->moving;
}

/* Handle nodes that slurmctld does not have any more (deleted from slurm.conf, or hidden while
 * powered down).  They have no jobs, and slurmctld never suspends them: their instances would run
 * for ever (F51).  Release few at a time, for a wrong slurm.conf may be in force for a while (I12).
 */
static void look_missing(struct look *l)
{
	struct engine *e = l->e;
	struct node_event ev = {
		.type = NODE_EV_RELEASE, .reason = NODE_BECAUSE_SUSPENDED, .now_ms = engine_now(e)};
	size_t most = drift_most(e->fleet.nall);

	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];
		bool shown = nm->shown;

		nm->shown = false;
		if (shown)
			continue;
		nm->held_ms = 0; /* slurmctld has no allocation for it */
		if (nm->missing_ms == 0)
			nm->missing_ms = l->began_ms;
		if (!drift_vanished(nm, l->began_ms))
			continue;
		nm->flags = SLURM_KNOWN | SLURM_POWERED_DOWN | SLURM_VANISHED;
		fleet_unbar(nm);
		if (most == 0 || !drift_vanished_release(nm, l->began_ms))
			continue;
		most--;
		engine_post(e, fleet_live(nm), &ev);
	}
}

static uint32_t number_of(struct slurm_text t)
{
	int64_t n = slurm_show_number(t);

	return n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* Keep the hardware that slurm.conf requires: machines that claim are told, and bills are divided
 * by it. */
static void keep_size(struct fleet_name *nm, const struct slurm_node *sn)
{
	static const char *const parts[] = {
		[SLURM_WHOLE] = NULL, [SLURM_SOME_PARTS] = "some", [SLURM_ALL_PARTS] = "all"};
	struct slurm_gpus g = slurm_parse_gpus(sn->gres);

	nm->gpus = g.n;
	nm->gpu_model = g.model;
	nm->gpu_parts = parts[g.parts];
	nm->cpus = number_of(sn->cpus);
	nm->memory_mb = number_of(sn->memory);
	nm->tmp_mb = number_of(sn->tmp);
}

static bool has_strays(const struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		if (e->cloud->all[i].nstrays > 0)
			return true;
	return false;
}

void observe_node(void *ctx, const struct slurm_node *sn)
{
	struct engine *e = ctx;
	struct sightings *s = &e->diff->seen;
	struct fleet_name *nm = fleet_find(&e->fleet, sn->name);

	if (nm == NULL && !has_strays(e))
		return;
	if (s->n == s->cap) {
		s->cap = s->cap == 0 ? 64 : 2 * s->cap;
		s->nodes = mem_realloc(s->nodes, s->cap * sizeof(*s->nodes));
		s->names = mem_realloc(s->names, s->cap * sizeof(struct fleet_name *));
	}
	if (nm != NULL)
		keep_size(nm, sn);
	s->nodes[s->n] = *sn;
	s->names[s->n++] = nm;
}

static void drop_sightings(struct engine *e)
{
	free(e->diff->seen.nodes);
	free(e->diff->seen.names);
	e->diff->seen = (struct sightings){0};
	slurm_seen(e->slurm);
}

/* Drop a broken snapshot: it decides nothing. */
static void disbelieve(struct engine *e, const struct err *err)
{
	if (strcmp(e->poll.error, err->msg) != 0)
		log_write(e->d.log, LOG_WARN, "cannot parse a snapshot of slurmctld", "error",
			  err->msg, NULL);
	(void)snprintf(e->poll.error, sizeof(e->poll.error), "%s", err->msg);
	e->poll.failed_ms = engine_now(e);
	drop_sightings(e);
}

/* Note strays whose node slurmctld has up, though no pool names it. */
static void look_strays(struct engine *e)
{
	struct sightings *seen = &e->diff->seen;
	struct map up;

	if (!has_strays(e))
		return;
	map_init(&up);
	for (size_t i = 0; i < seen->n; i++)
		if (!fleet_is_ours(seen->names[i]) && !slurm_is_off(seen->nodes[i].flags))
			map_put(&up, seen->nodes[i].name, &seen->nodes[i]);
	for (size_t i = 0; i < e->conf->nproviders; i++)
		for (size_t k = 0; k < e->cloud->all[i].nstrays; k++) {
			struct stray *s = &e->cloud->all[i].strays[k];

			s->up = map_get(&up, s->node) != NULL;
		}
	map_fini(&up);
}

/* Finish the pass: decide what needs all nodes. */
static void conclude(struct look *l)
{
	struct engine *e = l->e;

	look_missing(l);
	prereq_nodes(e, e->diff->seen.nodes, e->diff->seen.n);
	look_strays(e);
	drop_sightings(e);
	e->poll.moving = l->moving;
	e->poll.silent = l->silent;
	if (l->wanted.len > 0 && e->buy->calls == NULL && !e->buy->wanted_asked) {
		free(e->buy->wanted);
		e->buy->wanted = str_take(&l->wanted);
	} else if (e->buy->wanted != NULL && !e->buy->wanted_asked) { /* from an older snapshot */
		free(e->buy->wanted);
		e->buy->wanted = NULL;
	}
	e->poll.polled = true;
	e->poll.snapshot_ms = l->began_ms;
	e->fleet.wake_ms = engine_now(e); /* deadlines that waited for this snapshot */
	e->poll.ok_ms = engine_now(e);
	e->poll.error[0] = '\0';
}

static void end_look(struct engine *e)
{
	if (e->diff->look != NULL)
		str_fini(&e->diff->look->wanted);
	free(e->diff->look);
	e->diff->look = NULL;
	e->poll.looking = false;
}

bool observe_some(struct engine *e)
{
	struct look *l = e->diff->look;
	const struct sightings *seen = &e->diff->seen;
	size_t left = e->slice.read;

	l->now_ms = engine_now(e);
	l->settled = l->settled && l->orders == slurm_orders(e->slurm);
	for (; l->at < seen->n && left > 0; l->at++, left--)
		if (fleet_is_ours(seen->names[l->at])) /* a reload may have removed it meanwhile */
			look(l, seen->names[l->at], &seen->nodes[l->at]);
	l->orders = slurm_orders(e->slurm);
	if (l->at < seen->n) {
		timer_at(e->diff->look_timer, l->now_ms);
		return false;
	}
	conclude(l);
	end_look(e);
	engine_commit(e);
	return true;
}

bool observe_snapshot(struct engine *e, int64_t began_ms, const struct err *err)
{
	struct look *l;

	assert(e->diff->look == NULL);
	if (err != NULL) {
		disbelieve(e, err);
		return true;
	}
	l = e->diff->look = mem_zalloc(sizeof(*l));
	e->poll.looking = true;
	*l = (struct look){.e = e,
			   .began_ms = began_ms,
			   .settled = began_ms >= slurm_settled_ms(e->slurm),
			   .orders = slurm_orders(e->slurm)};
	str_init(&l->wanted, (size_t)HOSTLIST_NAMES_MAX * (HOSTLIST_NAME_MAX + 1));
	return observe_some(e);
}

void observe_free(struct engine *e)
{
	end_look(e);
	free(e->diff->seen.nodes);
	free(e->diff->seen.names);
	e->diff->seen = (struct sightings){0};
}
