#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

enum {
	W = 60000,
	BOOT = 300000,
	TOKEN = 1800000,
	T = 1000000000, /* now */
	SINCE = T - 5 * W,
	BATCH_ALONE = 1000,
	BATCH_JOINT = 2000,
};

#define B(s) (1u << (s))

/* The drawing in node.h, once more: node.c's own table is part of what is examined (I14). */
static const unsigned drawn[NODE_NSTATES] = {
	[NODE_WANTED] = B(NODE_CREATING) | B(NODE_GONE),
	[NODE_CREATING] = B(NODE_WANTED) | B(NODE_INDOUBT) | B(NODE_BOOTING) | B(NODE_DELETING) |
			  B(NODE_GONE),
	[NODE_INDOUBT] = B(NODE_BOOTING) | B(NODE_DELETING) | B(NODE_GONE),
	[NODE_BOOTING] = B(NODE_READY) | B(NODE_DRAINING) | B(NODE_DELETING) | B(NODE_GONE),
	[NODE_READY] = B(NODE_DRAINING) | B(NODE_DELETING) | B(NODE_GONE),
	[NODE_DRAINING] = B(NODE_DELETING) | B(NODE_GONE),
	[NODE_DELETING] = B(NODE_QUARANTINED) | B(NODE_GONE),
	[NODE_QUARANTINED] = B(NODE_DELETING) | B(NODE_GONE),
	[NODE_GONE] = B(NODE_DELETING),
};

void life_limits(const struct rules *r, struct node_limits *lim)
{
	*lim = (struct node_limits){
		.tokens = r->kind == TOKENS, .settle_ms = W, .token_ms = TOKEN, .boot_ms = BOOT};
}

bool life_has_row(const struct life *l)
{
	return l->state != NO_ROW;
}

bool life_exists(const struct life *l)
{
	return l->instance >= LATE && l->instance <= DEAF;
}

static bool has_instance(const struct life *l)
{
	if (l->state == NODE_GONE)
		return l->known;
	return l->state >= NODE_BOOTING && l->state != NO_ROW;
}

static bool is_sent(unsigned state)
{
	return state == NODE_CREATING || state == NODE_INDOUBT;
}

struct node life_row(const struct life *l, unsigned gen, const struct when *w)
{
	struct node n;

	node_init(&n, "c1", gen + 1, T - 9 * W);
	n.state = (enum node_state)l->state;
	n.release = l->release;
	n.reason = l->release ? NODE_BECAUSE_SUSPENDED : NODE_BECAUSE_NONE;
	n.accepted = l->accepted;
	n.misses = l->missed;
	n.attempts = l->tired ? NODE_RETRIES : w->last ? NODE_RETRIES - 1 : 0;
	n.since_ms = SINCE;
	n.missed_ms = l->missed ? SINCE : 0;
	n.wake_ms = l->asleep ? INT64_MAX : w->due ? T : T + 1;
	if (l->state != NODE_WANTED) {
		n.batch = l->joint ? BATCH_JOINT : BATCH_ALONE;
		n.slot = 3;
		n.sent_ms = w->stale ? T - TOKEN - 1 : T - TOKEN;
	}
	if (has_instance(l)) {
		(void)snprintf(n.instance, sizeof(n.instance), "i-%u", gen);
		(void)snprintf(n.addr, sizeof(n.addr), "10.0.0.1");
		n.start_ms = SINCE;
	}
	return n;
}

/* When the list began: just late enough, or just too early.  Those on their way out may count it
 * from the moment they are, all others a settle time later. */
static int64_t list_begin(const struct life *l, const struct when *w)
{
	bool leaving = l->state == NODE_DELETING || l->state == NODE_QUARANTINED;
	int64_t from = leaving ? SINCE : SINCE + W;

	return w->counts ? from : from - 1;
}

static void write_back(struct life *l, const struct node *n)
{
	l->state = (uint8_t)n->state;
	l->release = n->release && n->state != NODE_GONE;
	l->accepted = n->accepted && n->state != NODE_GONE;
	l->missed = n->misses != 0;
	l->tired = n->state == NODE_INDOUBT && n->attempts >= NODE_RETRIES;
	l->known = n->state == NODE_GONE && n->instance[0] != '\0';
	l->asleep = n->wake_ms == INT64_MAX;
	l->joint = n->batch == BATCH_JOINT;
	if (n->state != NODE_INDOUBT && n->state != NODE_CREATING && l->instance == FORGOTTEN)
		l->instance = NONE; /* nothing of ours can bring it up any more */
}

/* May this event prove that it is gone, and is it?  (I8, I9) */
static const char *check_end(const struct life *l, const struct node *was,
			     const struct node_event *ev, const struct rules *r)
{
	bool unsent = was->state == NODE_WANTED;

	switch (ev->type) {
	case NODE_EV_SEEN:
	case NODE_EV_CREATED:
		if (ev->instance->state != PROVIDER_ENDED)
			return "I9: gone, though it was shown alive";
		break;
	case NODE_EV_ABSENT:
		if (was->misses == 0)
			return "I9: gone after a single absence";
		break;
	case NODE_EV_REFUSED:
	case NODE_EV_NOTSENT:
	case NODE_EV_THROTTLED:
		if (was->state == NODE_INDOUBT)
			return "I8: gone by the answer to a repeat, which says nothing of the "
			       "first try";
		if (r->liar)
			return NULL;
		break;
	default:
		if (!unsent)
			return "I9: gone without proof";
	}
	if (l->instance == LATE)
		return "I8: gone while its create may still happen";
	return life_exists(l) ? "I9: gone while it has an instance" : NULL;
}

static const char *check_step(const struct life *l, const struct node *was, const struct node *is,
			      const struct node_event *ev, const struct rules *r)
{
	if (was->state != is->state && (drawn[was->state] & B(is->state)) == 0)
		return "I14: a move that node.h does not draw";
	if (was->release && !is->release)
		return "a release was forgotten";
	if (is->release && is->state >= NODE_BOOTING && is->state <= NODE_DRAINING)
		return "released, and yet kept";
	if (is_sent(was->state) && is_sent(is->state) &&
	    (was->batch != is->batch || was->slot != is->slot))
		return "I5: its batch changed while the create may be on the wire";
	if (is_sent(was->state) && is_sent(is->state) && was->sent_ms != is->sent_ms)
		return "I6: its token was made younger";
	if (is->state == NODE_WANTED && is->batch != 0)
		return "I4: to be sent anew under an old token";
	if (is->state == NODE_GONE && was->state != NODE_GONE)
		return check_end(l, was, ev, r);
	return NULL;
}

/* A word that the driver does not know exists and bills, like one that runs (I14); and what holds
 * for one restart holds for two (I23). */
static const char *check_same(const struct node *was, const struct node *is,
			      const struct node_event *ev, const struct node_limits *lim)
{
	struct provider_instance in;
	struct node_event other = *ev;
	struct node twin = ev->type == NODE_EV_RESTART ? *is : *was;

	if (ev->type != NODE_EV_RESTART &&
	    (ev->instance == NULL || ev->instance->state != PROVIDER_RUNNING))
		return NULL;
	if (ev->instance != NULL) {
		in = *ev->instance;
		in.state = PROVIDER_UNKNOWN;
		other.instance = &in;
	}
	(void)node_step(&twin, &other, lim);
	if (memcmp(&twin, is, sizeof(twin)) == 0)
		return NULL;
	return ev->type == NODE_EV_RESTART ? "I23: a second restart does more than one"
					   : "I14: an unknown state is not taken for one that runs";
}

/* What the model believes of the clock: each state, and each doubt, begins now, and an absence when
 * its list did. */
static const char *check_clock(const struct node *was, const struct node *is,
			       const struct node_event *ev)
{
	bool doubt = is->state == NODE_INDOUBT &&
		     (ev->type == NODE_EV_LOST || ev->type == NODE_EV_RESTART);
	bool begins = was->state != is->state || doubt;

	if (is->since_ms != (begins ? ev->now_ms : was->since_ms))
		return "I7: the settle time does not begin with the state or the doubt";
	if (is->misses > 0 && is->missed_ms != (was->misses > 0 ? was->missed_ms : ev->list_ms))
		return "I9: the settle time does not begin with the first absence";
	return NULL;
}

const char *life_step(struct life *l, unsigned gen, const struct rules *r,
		      enum node_event_type type, enum provider_state shown, const struct when *w,
		      bool joint)
{
	struct provider_instance in = {.state = shown, .addr = "10.0.0.1"};
	struct node_event ev = {.type = type, .now_ms = T, .reason = NODE_BECAUSE_SUSPENDED};
	struct node was = life_row(l, gen, w), is;
	struct node_limits lim;
	const char *wrong;

	life_limits(r, &lim);
	if (type == NODE_EV_CREATED || type == NODE_EV_SEEN) {
		(void)snprintf(in.id, sizeof(in.id), "i-%u", gen);
		ev.instance = &in;
	}
	if (type == NODE_EV_ABSENT) {
		ev.list_ms = list_begin(l, w);
		was.missed_ms = !l->missed ? 0 : w->apart ? ev.list_ms - W : ev.list_ms - W + 1;
	}
	if (type == NODE_EV_START) {
		ev.batch = joint ? BATCH_JOINT : BATCH_ALONE;
		ev.slot = 3;
	}
	is = was;
	(void)node_step(&is, &ev, &lim);
	wrong = check_step(l, &was, &is, &ev, r);
	if (wrong == NULL)
		wrong = check_clock(&was, &is, &ev);
	if (wrong == NULL)
		wrong = check_same(&was, &is, &ev, &lim);
	write_back(l, &is);
	return wrong;
}

enum node_want life_want(const struct life *l, unsigned gen, const struct rules *r, bool stale)
{
	struct node n = life_row(l, gen, &(struct when){.due = true, .stale = stale});
	struct node_limits lim;

	life_limits(r, &lim);
	return node_want(&n, T, &lim);
}
