#include "core/rotation.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define B(p) (1u << (p))

/* Allowed transitions.  A move outside this table is a bug. */
static const struct {
	const char *name;
	unsigned next;
} phases[ROTATION_NPHASES] = {
	[ROTATION_IDLE] = {"idle", B(ROTATION_STAGING)},
	[ROTATION_STAGING] = {"staging",
			      B(ROTATION_SPREADING) | B(ROTATION_ABORTING) | B(ROTATION_ABORTED)},
	[ROTATION_SPREADING] = {"spreading",
				B(ROTATION_STAGED) | B(ROTATION_ABORTING) | B(ROTATION_ABORTED)},
	[ROTATION_STAGED] = {"staged", B(ROTATION_WINDOW) | B(ROTATION_LOADING) |
					       B(ROTATION_ABORTING) | B(ROTATION_ABORTED)},
	[ROTATION_WINDOW] = {"window",
			     B(ROTATION_SWITCHING) | B(ROTATION_ABORTING) | B(ROTATION_ABORTED)},
	[ROTATION_LOADING] = {"loading",
			      B(ROTATION_SWITCHING) | B(ROTATION_ABORTING) | B(ROTATION_ABORTED)},
	[ROTATION_SWITCHING] = {"switching", B(ROTATION_SETTLING) | B(ROTATION_ABORTED)},
	[ROTATION_SETTLING] = {"settling", B(ROTATION_AGING) | B(ROTATION_DONE)},
	[ROTATION_AGING] = {"aging", B(ROTATION_DROPPING) | B(ROTATION_ABORTED)},
	[ROTATION_DROPPING] = {"dropping", B(ROTATION_DONE) | B(ROTATION_ABORTED)},
	[ROTATION_DONE] = {"done", B(ROTATION_STAGING)},
	[ROTATION_ABORTING] = {"aborting", B(ROTATION_ABORTED)},
	[ROTATION_ABORTED] = {"aborted", B(ROTATION_STAGING)},
};

static const char *const kinds[ROTATION_NKINDS] = {
	[ROTATION_NONE] = "none", [ROTATION_MUNGE] = "munge", [ROTATION_JWKS] = "jwks"};

const char *rotation_phase_str(enum rotation_phase p)
{
	assert(p < ROTATION_NPHASES);
	return phases[p].name;
}

const char *rotation_kind_str(enum rotation_kind k)
{
	assert(k < ROTATION_NKINDS);
	return kinds[k];
}

int rotation_kind_parse(const char *word)
{
	for (int k = ROTATION_MUNGE; k < ROTATION_NKINDS; k++)
		if (strcmp(word, kinds[k]) == 0)
			return k;
	return -1;
}

bool rotation_good(const struct rotation *r)
{
	if ((unsigned)r->phase >= ROTATION_NPHASES || (unsigned)r->kind >= ROTATION_NKINDS)
		return false;
	return r->phase == ROTATION_IDLE || (r->kind != ROTATION_NONE && r->id > 0);
}

void rotation_set_back(struct rotation *r, int64_t now_ms)
{
	int64_t ahead_ms = r->since_ms - now_ms;

	if (ahead_ms <= 0)
		return;
	r->begun_ms -= ahead_ms;
	r->since_ms -= ahead_ms;
	if (r->switch_ms != 0)
		r->switch_ms -= ahead_ms;
}

bool rotation_runs(const struct rotation *r)
{
	return r->phase != ROTATION_IDLE && r->phase != ROTATION_DONE &&
	       r->phase != ROTATION_ABORTED;
}

static bool go(struct rotation *r, enum rotation_phase to, int64_t now_ms)
{
	assert(phases[r->phase].next & B(to));
	r->phase = to;
	r->since_ms = now_ms;
	r->told = false;
	return true;
}

/* If the previous rotation's switch was called off, keep saying so: a node that has not heard of it
 * has a timer, and would put this rotation's key in use. */
static bool start(struct rotation *r, const struct rotation_event *ev)
{
	int64_t off_ms = rotation_called_off(r, ev->now_ms) ? r->switch_ms : 0;

	if (rotation_runs(r) || ev->kind == ROTATION_NONE || ev->version == 0)
		return false;
	(void)go(r, ROTATION_STAGING, ev->now_ms);
	*r = (struct rotation){.kind = ev->kind,
			       .phase = ROTATION_STAGING,
			       .id = ev->id,
			       .now = ev->version,
			       .begun_ms = ev->now_ms,
			       .since_ms = ev->now_ms,
			       .switch_ms = off_ms,
			       .life_ms = ev->life_ms > 0 ? ev->life_ms : ROTATION_LIFE_MS};
	return true;
}

/* The store now has the bundle of this phase. */
static bool wrote(struct rotation *r, const struct rotation_event *ev)
{
	static const enum rotation_phase next[ROTATION_NPHASES] = {
		[ROTATION_STAGING] = ROTATION_SPREADING,
		[ROTATION_SWITCHING] = ROTATION_SETTLING,
		[ROTATION_DROPPING] = ROTATION_DONE,
		[ROTATION_ABORTING] = ROTATION_ABORTED,
	};

	bool told = r->told && r->phase == ROTATION_SWITCHING;

	if (rotation_want(r) != ROTATION_WANT_WRITE)
		return false;
	if (ev->version != r->now) /* equal: aborted before anything was written */
		r->prev = r->now;
	r->now = ev->version;
	(void)go(r, next[r->phase], ev->now_ms);
	r->told = told; /* munge switches once, however long the store takes */
	return true;
}

/* Too late to call the switch off: a node that does not hear of it in time would switch alone. */
static bool is_about_to_switch(const struct rotation *r, int64_t now_ms)
{
	return r->phase == ROTATION_WINDOW && now_ms > r->switch_ms - ROTATION_HEAR_MS;
}

/* May the rotation go on from another bundle?  Yes if nothing of it, or all of it, is in use. */
static bool is_to_follow(const struct rotation *r)
{
	return r->phase == ROTATION_STAGING ||
	       (r->phase == ROTATION_SETTLING && r->kind == ROTATION_MUNGE);
}

static bool follow(struct rotation *r, const struct rotation_event *ev)
{
	r->prev = r->now;
	r->now = ev->version;
	r->since_ms = ev->now_ms; /* nodes get their full time again */
	return true;
}

/* Somebody else has written the bundle: found before writing, or seen in a phase in which all can
 * stay as they are, before the switch or when only the old key is left to take out. */
static bool alien(struct rotation *r, const struct rotation_event *ev)
{
	if (is_to_follow(r) && ev->version != 0)
		return follow(r, ev);
	if ((phases[r->phase].next & B(ROTATION_ABORTED)) == 0 || is_about_to_switch(r, ev->now_ms))
		return false;
	r->alien = true;
	r->now = r->prev = 0; /* neither is in the store any more */
	if (r->phase == ROTATION_SWITCHING && r->kind == ROTATION_MUNGE)
		r->switch_ms = 0; /* the switch stands: nodes were right to do it */
	return go(r, ROTATION_ABORTED, ev->now_ms);
}

static bool settled(struct rotation *r, int64_t now_ms)
{
	if (r->phase == ROTATION_SPREADING)
		return go(r, ROTATION_STAGED, now_ms);
	if (r->phase != ROTATION_SETTLING || rotation_switches(r))
		return false;
	return go(r, r->kind == ROTATION_JWKS ? ROTATION_AGING : ROTATION_DONE, now_ms);
}

static bool order(struct rotation *r, const struct rotation_event *ev)
{
	if (r->phase != ROTATION_STAGED)
		return false;
	if (r->kind == ROTATION_JWKS)
		return go(r, ROTATION_LOADING, ev->now_ms);
	(void)go(r, ROTATION_WINDOW, ev->now_ms);
	r->switch_ms = ev->at_ms;
	return true;
}

/* Abort while nobody uses the new key.  switch_ms stays, so that nodes that were told of the switch
 * are told that it is off. */
static bool give_up(struct rotation *r, const struct rotation_event *ev)
{
	if ((phases[r->phase].next & B(ROTATION_ABORTING)) == 0)
		return false;
	if (is_about_to_switch(r, ev->now_ms))
		return false;
	return go(r, ROTATION_ABORTING, ev->now_ms);
}

static bool told(struct rotation *r, const struct rotation_event *ev)
{
	if (rotation_want(r) != ROTATION_WANT_TELL && !rotation_switches(r))
		return false;
	r->told = true;
	if (r->phase == ROTATION_AGING)
		r->since_ms = ev->now_ms; /* until now tokens were signed with the old key */
	return r->phase != ROTATION_LOADING || go(r, ROTATION_SWITCHING, ev->now_ms);
}

static bool timer(struct rotation *r, const struct rotation_event *ev)
{
	if (ev->now_ms < rotation_wake_ms(r))
		return false;
	if (r->phase == ROTATION_WINDOW)
		return go(r, ROTATION_SWITCHING, ev->now_ms);
	if (r->phase == ROTATION_AGING)
		return go(r, ROTATION_DROPPING, ev->now_ms);
	return settled(r, ev->now_ms);
}

bool rotation_step(struct rotation *r, const struct rotation_event *ev)
{
	switch (ev->type) {
	case ROTATION_EV_START:
		return start(r, ev);
	case ROTATION_EV_WROTE:
		return wrote(r, ev);
	case ROTATION_EV_ALIEN:
		return alien(r, ev);
	case ROTATION_EV_HAVE:
		return settled(r, ev->now_ms);
	case ROTATION_EV_SWITCH:
		return order(r, ev);
	case ROTATION_EV_TOLD:
		return told(r, ev);
	case ROTATION_EV_ABORT:
		return give_up(r, ev);
	case ROTATION_EV_TIMER:
		return timer(r, ev);
	case ROTATION_EV_NTYPES:
		break;
	}
	return false;
}

bool rotation_switches(const struct rotation *r)
{
	return r->kind == ROTATION_MUNGE && !r->told &&
	       (r->phase == ROTATION_SWITCHING || r->phase == ROTATION_SETTLING);
}

enum rotation_want rotation_want(const struct rotation *r)
{
	switch (r->phase) {
	case ROTATION_STAGING:
	case ROTATION_SWITCHING:
	case ROTATION_DROPPING:
	case ROTATION_ABORTING:
		return ROTATION_WANT_WRITE;
	case ROTATION_LOADING:
		return ROTATION_WANT_TELL;
	case ROTATION_AGING:
	case ROTATION_DONE:
		return r->kind == ROTATION_JWKS && !r->told ? ROTATION_WANT_TELL
							    : ROTATION_WANT_NOTHING;
	default:
		return ROTATION_WANT_NOTHING;
	}
}

int64_t rotation_wake_ms(const struct rotation *r)
{
	switch (r->phase) {
	case ROTATION_SPREADING:
		return r->since_ms + ROTATION_SPREAD_MS;
	case ROTATION_WINDOW:
		return r->switch_ms;
	case ROTATION_SETTLING:
		return rotation_switches(r) ? INT64_MAX : r->since_ms + ROTATION_SETTLE_MS;
	case ROTATION_AGING: /* from when slurmctld signs with the new key */
		return r->told ? r->since_ms + 2 * r->life_ms : INT64_MAX;
	default:
		return INT64_MAX;
	}
}

bool rotation_is_overwritten(const struct rotation *r, int64_t current, int64_t seen_ms)
{
	/* A server that is behind still has the previous version. */
	if (current == 0 || current == r->now || current == r->prev)
		return false;
	/* If no node is up, all was written in seconds, and a server may be two versions behind. */
	if ((r->phase == ROTATION_AGING || r->phase == ROTATION_SETTLING) &&
	    seen_ms < r->since_ms + ROTATION_BEHIND_MS)
		return false;
	return rotation_want(r) != ROTATION_WANT_WRITE &&
	       (is_to_follow(r) || (phases[r->phase].next & B(ROTATION_ABORTED)) != 0);
}

bool rotation_called_off(const struct rotation *r, int64_t now_ms)
{
	/* The phases in which a switch is off: this rotation's or the previous one's. */
	const unsigned off = B(ROTATION_ABORTING) | B(ROTATION_ABORTED) | B(ROTATION_STAGING) |
			     B(ROTATION_SPREADING) | B(ROTATION_STAGED);

	if (r->switch_ms == 0 || (r->kind == ROTATION_MUNGE && (off & B(r->phase)) == 0))
		return false;
	return r->phase == ROTATION_ABORTING || now_ms < r->switch_ms + ROTATION_SPREAD_MS;
}

bool rotation_in_use(const struct rotation *r)
{
	return r->kind == ROTATION_MUNGE && r->now != 0 && r->phase != ROTATION_SWITCHING;
}

bool rotation_switched(const struct rotation *r)
{
	return r->phase == ROTATION_SWITCHING || r->phase == ROTATION_SETTLING ||
	       (r->phase == ROTATION_DONE && r->kind == ROTATION_MUNGE);
}

bool rotation_takes(const struct rotation *r, int64_t version)
{
	bool munge = r->kind == ROTATION_MUNGE;

	if (version == 0 || r->phase == ROTATION_IDLE)
		return false;
	/* While munge switches, the staged bundle still names the old key as the current one, which
	 * others may not use any more: no node may start with it. */
	if (version == r->now)
		return !(munge && r->phase == ROTATION_SWITCHING);
	return version == r->prev && !(munge && rotation_switched(r));
}

bool rotation_holds(const struct rotation *r, int64_t current)
{
	if (r->kind != ROTATION_MUNGE)
		return false;
	return r->phase == ROTATION_SWITCHING ||
	       (r->phase == ROTATION_SETTLING && current != r->now);
}

void rotation_mark(const struct rotation *r, char out[ROTATION_MARK_SIZE])
{
	(void)snprintf(out, ROTATION_MARK_SIZE, "%" PRIx64 "-%s", (uint64_t)r->id,
		       phases[r->phase].name);
}
