#include "core/node.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clamp.h"
#include "core/node_bill.h"

#define B(s) (1u << (s))

/* Allowed transitions.  A move outside this table is a bug. */
static const struct {
	const char *name;
	unsigned next;
} states[NODE_NSTATES] = {
	[NODE_WANTED] = {"wanted",
			 B(NODE_CREATING) | B(NODE_BOOTING) | B(NODE_DELETING) | B(NODE_GONE)},
	[NODE_CREATING] = {"creating", B(NODE_WANTED) | B(NODE_INDOUBT) | B(NODE_BOOTING) |
					       B(NODE_DELETING) | B(NODE_GONE)},
	[NODE_INDOUBT] = {"indoubt", B(NODE_BOOTING) | B(NODE_DELETING) | B(NODE_GONE)},
	[NODE_BOOTING] = {"booting",
			  B(NODE_READY) | B(NODE_DRAINING) | B(NODE_DELETING) | B(NODE_GONE)},
	[NODE_READY] = {"ready", B(NODE_DRAINING) | B(NODE_DELETING) | B(NODE_GONE)},
	[NODE_DRAINING] = {"draining", B(NODE_DELETING) | B(NODE_GONE)},
	[NODE_DELETING] = {"deleting", B(NODE_GONE) | B(NODE_QUARANTINED)},
	[NODE_GONE] = {"gone", B(NODE_DELETING)},
	[NODE_QUARANTINED] = {"quarantined", B(NODE_DELETING) | B(NODE_GONE)},
};

const char *node_state_str(enum node_state s)
{
	assert(s < NODE_NSTATES);
	return states[s].name;
}

int node_state_parse(const char *name)
{
	for (int s = 0; s < NODE_NSTATES; s++)
		if (strcmp(name, states[s].name) == 0)
			return s;
	return -1;
}

enum node_reason node_reason_of(enum provider_code code)
{
	switch (code) {
	case PROVIDER_CAPACITY:
		return NODE_BECAUSE_CAPACITY;
	case PROVIDER_QUOTA:
		return NODE_BECAUSE_QUOTA;
	case PROVIDER_DENIED:
		return NODE_BECAUSE_DENIED;
	case PROVIDER_INVALID:
		return NODE_BECAUSE_INVALID;
	default:
		return NODE_BECAUSE_NONE;
	}
}

bool node_reason_of_place(enum node_reason r)
{
	return r == NODE_BECAUSE_CAPACITY || r == NODE_BECAUSE_QUOTA || r == NODE_BECAUSE_DENIED ||
	       r == NODE_BECAUSE_INVALID || r == NODE_BECAUSE_UNREACHABLE;
}

bool node_counts(const struct node *n)
{
	return n->state != NODE_GONE;
}

bool node_lives(const struct node *n)
{
	return !n->release && n->state != NODE_DELETING && n->state != NODE_GONE &&
	       n->state != NODE_QUARANTINED;
}

bool node_coming(const struct node *n)
{
	return n->state == NODE_WANTED || n->state == NODE_CREATING || n->state == NODE_INDOUBT ||
	       n->state == NODE_BOOTING;
}

void node_init(struct node *n, const char *name, uint64_t gen, int64_t now_ms)
{
	assert(strlen(name) < sizeof(n->name));
	*n = (struct node){.gen = gen, .wanted_ms = now_ms, .since_ms = now_ms, .wake_ms = now_ms};
	(void)snprintf(n->name, sizeof(n->name), "%s", name);
}

static int64_t backoff(const struct node *n, const struct node_event *ev)
{
	unsigned shift = n->attempts < 6 ? n->attempts : 6;
	int64_t wait = (int64_t)NODE_BACKOFF_MS << shift;

	if (ev->retry_ms > ev->now_ms)
		return ev->retry_ms;
	return ev->now_ms + (wait < NODE_BACKOFF_MAX_MS ? wait : NODE_BACKOFF_MAX_MS);
}

static void move(struct node *n, enum node_state to, int64_t now_ms, int64_t wake_ms)
{
	assert(states[n->state].next & B(to));
	n->state = to;
	n->since_ms = now_ms;
	n->wake_ms = wake_ms;
	n->misses = 0;
	n->missed_ms = 0;
}

static void end(struct node *n, enum node_reason why, const struct node_event *ev)
{
	if (!n->release && why != NODE_BECAUSE_NONE)
		n->reason = why;
	if (n->start_ms != 0)
		n->end_ms = node_bill_end(n, ev);
	move(n, NODE_GONE, ev->now_ms, INT64_MAX);
}

static void delete_it(struct node *n, enum node_reason why, int64_t now_ms)
{
	if (!n->release)
		n->reason = why;
	n->release = true;
	n->accepted = false;
	n->attempts = 0;
	move(n, NODE_DELETING, now_ms, now_ms);
}

/* slurmctld gets addresses as one list, in which a comma or a bracket would give other nodes wrong
 * ones: accept only an IP address or a plain host name. */
static bool is_addr(const char *addr)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    ".:-_";

	return addr[0] != '\0' && addr[strspn(addr, plain)] == '\0';
}

static void learn(struct node *n, const struct provider_instance *in)
{
	if (is_addr(in->addr))
		(void)snprintf(n->addr, sizeof(n->addr), "%s", in->addr);
}

/* Why an instance is over that never ran.  One that the provider neither took nor refused has most
 * likely switched itself off, as one does that cannot get its keys (F10).  ev: what shows its end;
 * NULL: nothing does. */
static enum node_reason why_stopped(const struct node_event *ev)
{
	if (ev != NULL && ev->instance->taken)
		return NODE_BECAUSE_RECLAIMED;
	return ev != NULL && ev->reason != NODE_BECAUSE_NONE ? ev->reason : NODE_BECAUSE_STOPPED;
}

/* An instance is known to exist: keep it, or delete it if it is no longer wanted. */
static void adopt(struct node *n, const struct node_event *ev, const struct node_limits *lim)
{
	const struct provider_instance *in = ev->instance;

	assert(in->id[0] != '\0');
	(void)snprintf(n->instance, sizeof(n->instance), "%s", in->id);
	learn(n, in);
	if (n->start_ms == 0) /* it has no bill yet */
		n->start_ms = node_bill_begin(n, ev);
	n->attempts = 0;
	if (in->state == PROVIDER_ENDED)
		end(n, why_stopped(ev), ev);
	else if (in->state == PROVIDER_FAILED)
		delete_it(n, why_stopped(ev), ev->now_ms);
	else if (n->release || in->state == PROVIDER_RECLAIMING)
		delete_it(n, NODE_BECAUSE_RECLAIMED, ev->now_ms);
	else
		move(n, NODE_BOOTING, ev->now_ms, ev->now_ms + lim->boot_ms);
}

/* Did two complete lists, a settle time apart and the first begun at or after from_ms, lack the
 * instance (I7, I8, I9)? */
static bool absent_twice(struct node *n, const struct node_event *ev, int64_t from_ms,
			 const struct node_limits *lim)
{
	if (ev->list_ms < from_ms)
		return false;
	if (n->misses == 0) {
		n->misses = 1;
		n->missed_ms = ev->list_ms;
		return false;
	}
	return ev->list_ms >= n->missed_ms + lim->settle_ms;
}

static void step_wanted(struct node *n, const struct node_event *ev, const struct node_limits *lim)
{
	if (ev->type == NODE_EV_SEEN) /* the journal is an older copy (F58) */
		adopt(n, ev, lim);
	else if (n->release || ev->type == NODE_EV_REFUSED)
		end(n, ev->reason, ev);
	else if (ev->type == NODE_EV_START) {
		n->sent_ms = ev->now_ms;
		n->batch = ev->batch;
		n->slot = ev->slot;
		n->canary = ev->canary;
		memset(n->image, 0, sizeof(n->image)); /* node_step() compares all bytes */
		(void)snprintf(n->image, sizeof(n->image), "%s",
			       ev->image != NULL ? ev->image : "");
		move(n, NODE_CREATING, ev->now_ms, INT64_MAX);
	} else if (ev->type == NODE_EV_RESTART)
		n->wake_ms = ev->now_ms;
}

/* When to try again.  What was throttled waits for the provider's limit alone, and is no try. */
static int64_t again(struct node *n, const struct node_event *ev)
{
	int64_t at = backoff(n, ev);

	if (ev->type == NODE_EV_THROTTLED)
		return ev->now_ms;
	n->attempts++;
	return at;
}

static void step_creating(struct node *n, const struct node_event *ev,
			  const struct node_limits *lim)
{
	switch (ev->type) {
	case NODE_EV_CREATED:
		adopt(n, ev, lim);
		break;
	case NODE_EV_REFUSED:
		end(n, ev->reason, ev);
		break;
	case NODE_EV_NOTSENT:
	case NODE_EV_THROTTLED:
		if (n->release) {
			end(n, NODE_BECAUSE_NONE, ev);
			break;
		}
		n->batch = 0;
		move(n, NODE_WANTED, ev->now_ms, again(n, ev));
		break;
	case NODE_EV_LOST:
		n->attempts = 1;
		move(n, NODE_INDOUBT, ev->now_ms, ev->now_ms + NODE_BACKOFF_MS);
		break;
	case NODE_EV_RESTART:
		n->attempts = 0;
		move(n, NODE_INDOUBT, ev->now_ms, ev->now_ms);
		break;
	default: /* SEEN: the create's answer, or its loss, follows */
		break;
	}
}

static void step_indoubt(struct node *n, const struct node_event *ev, const struct node_limits *lim)
{
	switch (ev->type) {
	case NODE_EV_CREATED:
	case NODE_EV_SEEN:
		adopt(n, ev, lim);
		break;
	case NODE_EV_LOST: /* the create was repeated: wait anew */
		n->since_ms = ev->now_ms;
		n->misses = 0;
		n->wake_ms = backoff(n, ev);
		n->attempts++;
		break;
	case NODE_EV_NOTSENT:
	case NODE_EV_THROTTLED:
		n->misses = 0; /* lists were ignored meanwhile, and one may have shown it (F15) */
		n->wake_ms = again(n, ev);
		break;
	case NODE_EV_REFUSED: /* the first try may have succeeded (F3): only lists can tell */
		n->misses = 0;
		n->attempts = NODE_RETRIES;
		if (!n->release)
			n->reason = ev->reason;
		break;
	case NODE_EV_ABSENT:
		if (absent_twice(n, ev, n->since_ms + lim->settle_ms, lim))
			end(n, n->reason != NODE_BECAUSE_NONE ? n->reason : NODE_BECAUSE_LOST, ev);
		break;
	case NODE_EV_RESTART: /* a repeat may have been on the wire */
		n->since_ms = ev->now_ms;
		n->misses = 0;
		n->wake_ms = ev->now_ms;
		break;
	default:
		break;
	}
}

/* Urgency of a notice, from "perhaps" to "now". */
static int weight(enum provider_notice_kind k)
{
	static const int weights[PROVIDER_NNOTICES] = {[PROVIDER_NOTICE_REBALANCE] = 0,
						       [PROVIDER_NOTICE_MAINTENANCE] = 1,
						       [PROVIDER_NOTICE_RECLAIM] = 2,
						       [PROVIDER_NOTICE_FAULTY] = 3};

	assert(k < PROVIDER_NNOTICES);
	return weights[k];
}

/* Notices come twice, late and out of order (F41): the worst kind and the earliest end count. */
static void take_notice(struct node *n, enum provider_notice_kind kind, int64_t deadline_ms,
			int64_t now_ms)
{
	if (n->noticed_ms == 0 || weight(kind) > weight(n->notice)) {
		n->noticed_ms = now_ms;
		n->notice = kind;
	}
	if (deadline_ms != 0 && (n->deadline_ms == 0 || deadline_ms < n->deadline_ms))
		n->deadline_ms = deadline_ms;
	if (n->state == NODE_READY ||
	    (n->state == NODE_BOOTING && weight(kind) >= weight(PROVIDER_NOTICE_RECLAIM)))
		move(n, NODE_DRAINING, now_ms, INT64_MAX);
}

/* A list shows the instance stopping, failed or reclaimed: it ends at reclaim_ms, or now. */
static void seen_leaving(struct node *n, const struct node_event *ev)
{
	bool stops = ev->instance->state != PROVIDER_RECLAIMING;

	if (ev->instance->state == PROVIDER_FAILED && n->state == NODE_BOOTING)
		delete_it(n, why_stopped(ev), ev->now_ms);
	else if (stops && n->state == NODE_BOOTING && n->noticed_ms == 0 && !ev->instance->taken)
		delete_it(n, NODE_BECAUSE_STOPPED, ev->now_ms);
	else
		take_notice(n, PROVIDER_NOTICE_RECLAIM,
			    stops ? ev->now_ms : ev->instance->reclaim_ms, ev->now_ms);
}

/* seen: the event with the instance as a list shows it, or NULL if none does. */
static enum node_reason why_ended(const struct node *n, const struct node_event *seen)
{
	if (n->state == NODE_BOOTING)
		return why_stopped(seen);
	if (n->state != NODE_DRAINING)
		return seen != NULL && seen->instance->taken ? NODE_BECAUSE_RECLAIMED
							     : NODE_BECAUSE_ENDED;
	if (n->notice == PROVIDER_NOTICE_FAULTY)
		return NODE_BECAUSE_FAULTY;
	return n->notice == PROVIDER_NOTICE_MAINTENANCE ? NODE_BECAUSE_MAINTENANCE
							: NODE_BECAUSE_RECLAIMED;
}

/* slurmd is up.  A notice that did not stop the boot takes effect now. */
static void registered(struct node *n, int64_t now_ms)
{
	if (n->state == NODE_BOOTING)
		move(n, NODE_READY, now_ms, n->noticed_ms != 0 ? now_ms : INT64_MAX);
}

/* The clock may have jumped while burstd was down (F57). */
static void restart_alive(struct node *n, int64_t now_ms, const struct node_limits *lim)
{
	n->misses = 0;
	if (n->state == NODE_BOOTING)
		n->wake_ms = clamp(n->wake_ms, now_ms + NODE_GRACE_MS, now_ms + lim->boot_ms);
	if (n->state == NODE_READY && n->noticed_ms != 0)
		n->wake_ms = now_ms;
	if (n->noticed_ms <= now_ms)
		return;
	if (n->deadline_ms != 0) /* keep it as far away as it was */
		n->deadline_ms -= n->noticed_ms - now_ms;
	n->noticed_ms = now_ms;
}

/* Is there something on it to be unmounted before it goes?  Not of one that never was up, and a
 * thief or a broken host has no time. */
static bool unmounts(const struct node *n)
{
	return n->state != NODE_BOOTING && n->reason != NODE_BECAUSE_BREACH &&
	       n->reason != NODE_BECAUSE_FAULTY && n->reason != NODE_BECAUSE_INIT;
}

/* BOOTING, READY and DRAINING: the instance exists and is wanted, or was until now. */
static void step_alive(struct node *n, const struct node_event *ev, const struct node_limits *lim)
{
	enum node_reason why = why_ended(n, ev->type == NODE_EV_SEEN ? ev : NULL);

	if (ev->type == NODE_EV_SEEN && ev->instance->state == PROVIDER_ENDED) {
		end(n, why, ev);
		return;
	}
	if (n->release) {
		int64_t wait = unmounts(n) ? lim->unmount_ms : 0;

		delete_it(n, n->reason, ev->now_ms);
		n->wake_ms += wait;
		return;
	}
	switch (ev->type) {
	case NODE_EV_SEEN:
		n->misses = 0;
		learn(n, ev->instance);
		if (ev->instance->state == PROVIDER_RECLAIMING ||
		    ev->instance->state == PROVIDER_STOPPING ||
		    ev->instance->state == PROVIDER_FAILED)
			seen_leaving(n, ev); /* slurmd may be up: its job must leave first */
		break;
	case NODE_EV_NOTICE:
		take_notice(n, ev->notice, ev->deadline_ms, ev->now_ms);
		break;
	case NODE_EV_PROVEN:
		n->canary = n->canary && n->state != NODE_READY;
		break;
	case NODE_EV_SIGNALLED:
		n->signal_ms = ev->now_ms;
		break;
	case NODE_EV_ABSENT:
		if (absent_twice(n, ev, n->since_ms + lim->settle_ms, lim))
			end(n, why, ev);
		break;
	case NODE_EV_REGISTERED:
		registered(n, ev->now_ms);
		break;
	case NODE_EV_TIMER:
		if (n->state == NODE_BOOTING && ev->now_ms >= n->wake_ms)
			delete_it(n, NODE_BECAUSE_BOOT, ev->now_ms);
		else if (n->state == NODE_READY && ev->now_ms >= n->wake_ms)
			move(n, NODE_DRAINING, ev->now_ms, INT64_MAX);
		break;
	case NODE_EV_RESTART:
		restart_alive(n, ev->now_ms, lim);
		break;
	default:
		break;
	}
}

/* Cap the provider's retry time: "in a day" would let the machine run for a day (I10). */
static int64_t delete_again(const struct node_event *ev, int64_t at)
{
	at = ev->retry_ms > ev->now_ms ? ev->retry_ms : at;
	return at < ev->now_ms + NODE_REVISIT_MS ? at : ev->now_ms + NODE_REVISIT_MS;
}

/* Pause for as long as the delete has failed so far.  Failures are not counted: in this state
 * `attempts` counts denials, and an outage must not add to them. */
static int64_t after_failure(const struct node *n, int64_t now_ms)
{
	return now_ms + clamp(now_ms - n->since_ms, NODE_BACKOFF_MS, NODE_BACKOFF_MAX_MS);
}

/* DELETING and QUARANTINED: until there is proof that the instance is gone. */
static void step_leaving(struct node *n, const struct node_event *ev, const struct node_limits *lim)
{
	bool quarantined = n->state == NODE_QUARANTINED;

	switch (ev->type) {
	case NODE_EV_SEEN:
		n->misses = 0;
		if (ev->instance->state == PROVIDER_ENDED)
			end(n, NODE_BECAUSE_NONE, ev);
		break;
	case NODE_EV_ABSENT:
		if (absent_twice(n, ev, n->since_ms, lim))
			end(n, NODE_BECAUSE_NONE, ev);
		break;
	case NODE_EV_DELETED:
		n->accepted = true;
		n->attempts = 0;
		n->wake_ms = ev->now_ms + NODE_REDELETE_MS;
		break;
	case NODE_EV_DELETE_FAILED:
		n->wake_ms = delete_again(ev, after_failure(n, ev->now_ms));
		break;
	case NODE_EV_DELETE_DENIED:
		n->wake_ms = delete_again(ev, backoff(n, ev));
		n->attempts++;
		if (!quarantined && n->attempts >= NODE_RETRIES)
			move(n, NODE_QUARANTINED, ev->now_ms, ev->now_ms + NODE_REVISIT_MS);
		break;
	case NODE_EV_RELEASE:
		if (quarantined)
			delete_it(n, n->reason, ev->now_ms);
		break;
	case NODE_EV_TIMER:
		if (ev->now_ms < n->wake_ms)
			break;
		if (quarantined)
			delete_it(n, n->reason, ev->now_ms);
		else
			n->accepted = false;
		break;
	case NODE_EV_RESTART:
		n->misses = 0;
		n->wake_ms = quarantined
				     ? clamp(n->wake_ms, ev->now_ms, ev->now_ms + NODE_REVISIT_MS)
				     : ev->now_ms;
		break;
	case NODE_EV_THROTTLED:
		n->wake_ms = ev->now_ms;
		break;
	default:
		break;
	}
}

/* A create that was given up for lost took effect after all (F3). */
static void step_gone(struct node *n, const struct node_event *ev)
{
	const struct provider_instance *in = ev->instance;

	if (ev->type != NODE_EV_SEEN && ev->type != NODE_EV_CREATED)
		return;
	if (in->state == PROVIDER_ENDED)
		return;
	if (n->instance[0] != '\0' && strcmp(n->instance, in->id) != 0)
		return;
	(void)snprintf(n->instance, sizeof(n->instance), "%s", in->id);
	if (n->start_ms == 0)
		n->start_ms = node_bill_begin(n, ev);
	delete_it(n, n->reason, ev->now_ms);
}

/* slurmctld powers a draining node down because burstd told it to, so the reason is the notice.  A
 * rebalance notice is none: the machine was not taken. */
static enum node_reason why_released(const struct node *n, enum node_reason why)
{
	if (why != NODE_BECAUSE_SUSPENDED || n->state != NODE_DRAINING ||
	    n->notice == PROVIDER_NOTICE_REBALANCE)
		return why;
	return why_ended(n, NULL);
}

bool node_step(struct node *n, const struct node_event *ev, const struct node_limits *lim)
{
	struct node before = *n;

	assert(n->state < NODE_NSTATES && ev->type < NODE_EV_NTYPES);
	assert((ev->type != NODE_EV_CREATED && ev->type != NODE_EV_SEEN) || ev->instance != NULL);
	if (ev->type == NODE_EV_RELEASE && !n->release && n->state != NODE_GONE) {
		n->reason = why_released(n, ev->reason);
		n->release = true;
	}
	if (ev->type == NODE_EV_RESTART) { /* a time in the future would delay all (F57) */
		n->since_ms = n->since_ms < ev->now_ms ? n->since_ms : ev->now_ms;
		n->wanted_ms = n->wanted_ms < ev->now_ms ? n->wanted_ms : ev->now_ms;
	}
	if (ev->type == NODE_EV_SEEN && strcmp(n->instance, ev->instance->id) == 0)
		n->start_ms = node_bill_mended(n, ev);
	switch (n->state) {
	case NODE_WANTED:
		step_wanted(n, ev, lim);
		break;
	case NODE_CREATING:
		step_creating(n, ev, lim);
		break;
	case NODE_INDOUBT:
		step_indoubt(n, ev, lim);
		break;
	case NODE_BOOTING:
	case NODE_READY:
	case NODE_DRAINING:
		step_alive(n, ev, lim);
		break;
	case NODE_DELETING:
	case NODE_QUARANTINED:
		step_leaving(n, ev, lim);
		break;
	case NODE_GONE:
	default: /* there is no other */
		step_gone(n, ev);
		break;
	}
	return memcmp(&before, n, sizeof(*n)) != 0;
}

enum node_want node_want(const struct node *n, int64_t now_ms, const struct node_limits *lim)
{
	bool due = now_ms >= n->wake_ms;

	switch (n->state) {
	case NODE_WANTED:
		return due ? NODE_WANT_CREATE : NODE_WANT_NOTHING;
	case NODE_INDOUBT:
		if (!lim->tokens || n->release || n->attempts >= NODE_RETRIES ||
		    now_ms < n->sent_ms || now_ms - n->sent_ms > lim->token_ms)
			return NODE_WANT_LIST;
		return due ? NODE_WANT_CREATE : NODE_WANT_NOTHING;
	case NODE_BOOTING:
		return n->addr[0] == '\0' ? NODE_WANT_LIST : NODE_WANT_NOTHING;
	case NODE_DELETING:
		if (n->accepted)
			return NODE_WANT_LIST;
		return due ? NODE_WANT_DELETE : NODE_WANT_NOTHING;
	default:
		return NODE_WANT_NOTHING;
	}
}
