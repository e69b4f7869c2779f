#include "core/claim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define B(s) (1u << (s))

/* Allowed transitions.  A move outside this table is a bug. */
static const struct {
	const char *name;
	unsigned next;
} states[CLAIM_NSTATES] = {
	[CLAIM_ISSUED] = {"issued", B(CLAIM_ATTESTING) | B(CLAIM_EXPIRED) | B(CLAIM_REVOKED) |
					    B(CLAIM_CLOSED) | B(CLAIM_BREACHED)},
	[CLAIM_ATTESTING] = {"attesting", B(CLAIM_CLAIMED) | B(CLAIM_EXPIRED) | B(CLAIM_REVOKED) |
						  B(CLAIM_CLOSED) | B(CLAIM_BREACHED)},
	[CLAIM_CLAIMED] = {"claimed", B(CLAIM_CONFIRMED) | B(CLAIM_EXPIRED) | B(CLAIM_REVOKED) |
					      B(CLAIM_CLOSED) | B(CLAIM_BREACHED)},
	[CLAIM_CONFIRMED] = {"confirmed", B(CLAIM_REVOKED) | B(CLAIM_CLOSED) | B(CLAIM_BREACHED)},
	[CLAIM_CLOSED] = {"closed", 0},
	[CLAIM_EXPIRED] = {"expired", B(CLAIM_CLOSED)},
	[CLAIM_REVOKED] = {"revoked", B(CLAIM_CLOSED)},
	[CLAIM_BREACHED] = {"breached", 0},
};

static const char *const events[CLAIM_EV_NTYPES] = {
	[CLAIM_EV_ASK] = "asked",
	[CLAIM_EV_ATTESTED] = "attested",
	[CLAIM_EV_REFUSED] = "proof-refused",
	[CLAIM_EV_RELEASE] = "released",
	[CLAIM_EV_CONFIRMED] = "confirmed",
	[CLAIM_EV_ALARM] = "alarm",
	[CLAIM_EV_TIMER] = "timer",
	[CLAIM_EV_REVOKE] = "revoked",
	[CLAIM_EV_GONE] = "gone",
};

static const struct {
	const char *word, *text;
} reasons[CLAIM_NREASONS] = {
	[CLAIM_BECAUSE_NONE] = {"", ""},
	[CLAIM_BECAUSE_SECRETS] = {"secrets", "too many wrong secrets were tried"},
	[CLAIM_BECAUSE_KEY] = {"key", "its secret was used with a second key"},
	[CLAIM_BECAUSE_PROOF] = {"proof", "its secret was used by another machine"},
	[CLAIM_BECAUSE_ALARM] = {"alarm", "the node reports that its bootstrap was tampered with"},
	[CLAIM_BECAUSE_TIME] = {"time", "it was not claimed in time"},
	[CLAIM_BECAUSE_RELEASED] = {"released", "the node is not wanted any more"},
	[CLAIM_BECAUSE_MUTE] = {"mute", "it did not confirm its keys in time"},
};

const char *claim_state_str(enum claim_state s)
{
	assert(s < CLAIM_NSTATES);
	return states[s].name;
}

int claim_state_parse(const char *word)
{
	for (int s = 0; s < CLAIM_NSTATES; s++)
		if (strcmp(word, states[s].name) == 0)
			return s;
	return -1;
}

const char *claim_event_str(enum claim_event_type t)
{
	assert(t < CLAIM_EV_NTYPES);
	return events[t];
}

const char *claim_reason_str(enum claim_reason r)
{
	assert(r < CLAIM_NREASONS);
	return reasons[r].word;
}

int claim_reason_parse(const char *word)
{
	for (int r = 0; r < CLAIM_NREASONS; r++)
		if (strcmp(word, reasons[r].word) == 0)
			return r;
	return -1;
}

const char *claim_reason_text(enum claim_reason r)
{
	assert(r < CLAIM_NREASONS);
	return reasons[r].text;
}

void claim_init(struct claim *c, const char *id, const char *node, uint64_t gen)
{
	assert(strlen(id) < sizeof(c->id) && strlen(node) < sizeof(c->node));
	memset(c, 0, sizeof(*c)); /* padding too: claims are compared whole */
	c->gen = gen;
	(void)snprintf(c->id, sizeof(c->id), "%s", id);
	(void)snprintf(c->node, sizeof(c->node), "%s", node);
}

void claim_issue(struct claim *c, int64_t now_ms, int64_t expires_ms)
{
	assert(c->state == CLAIM_ISSUED);
	c->issued_ms = now_ms;
	c->since_ms = now_ms;
	c->expires_ms = expires_ms;
}

void claim_adopt(struct claim *c, int64_t now_ms, const unsigned char spki[CLAIM_SPKI_SIZE])
{
	claim_issue(c, now_ms, now_ms);
	c->state = CLAIM_CONFIRMED;
	c->bound = true;
	memcpy(c->spki, spki, sizeof(c->spki));
}

static void move(struct claim *c, enum claim_state to, enum claim_reason why, int64_t now_ms)
{
	assert(states[c->state].next & B(to));
	c->state = to;
	c->since_ms = now_ms;
	c->attested = false;
	if (why != CLAIM_BECAUSE_NONE)
		c->reason = why;
}

static bool may_end(const struct claim *c)
{
	return (states[c->state].next & B(CLAIM_BREACHED)) != 0;
}

static struct claim_result breach(struct claim *c, enum claim_reason why, enum claim_answer answer,
				  int64_t now_ms)
{
	move(c, CLAIM_BREACHED, why, now_ms);
	return (struct claim_result){.alarm = true, .answer = answer};
}

static struct claim_result say(enum claim_answer answer)
{
	return (struct claim_result){.answer = answer};
}

static bool may_expire(const struct claim *c)
{
	return c->state == CLAIM_ISSUED || c->state == CLAIM_ATTESTING;
}

/* May the machine have lost our answer?  A clock that was set back a little must not make that look
 * like a theft. */
static bool may_have_lost_it(const struct claim *c, int64_t now_ms)
{
	return now_ms < c->released_ms + CLAIM_AGAIN_MS && c->released_ms < now_ms + CLAIM_AGAIN_MS;
}

static void bind_to(struct claim *c, const struct claim_event *ev)
{
	c->bound = true;
	memcpy(c->spki, ev->spki, sizeof(c->spki));
	(void)snprintf(c->addr, sizeof(c->addr), "%s", ev->addr);
	move(c, CLAIM_ATTESTING, CLAIM_BECAUSE_NONE, ev->now_ms);
}

static bool is_owner(const struct claim *c, const struct claim_event *ev)
{
	return c->bound && memcmp(c->spki, ev->spki, sizeof(c->spki)) == 0;
}

/* A request with the right secret. */
static struct claim_result ask(struct claim *c, const struct claim_event *ev)
{
	if (c->bound && !is_owner(c, ev) && may_end(c))
		return breach(c, CLAIM_BECAUSE_KEY, CLAIM_CONFLICT, ev->now_ms);
	switch (c->state) {
	case CLAIM_ISSUED:
		bind_to(c, ev);
		return say(CLAIM_WAIT);
	case CLAIM_ATTESTING:
		return say(CLAIM_WAIT);
	case CLAIM_CLAIMED:
		return say(may_have_lost_it(c, ev->now_ms) ? CLAIM_BYTES : CLAIM_CONFLICT);
	case CLAIM_CONFIRMED:
	case CLAIM_BREACHED:
		return say(CLAIM_CONFLICT);
	default:
		return say(CLAIM_OVER);
	}
}

static struct claim_result attested(struct claim *c, const struct claim_event *ev)
{
	c->attested = true;
	c->weak = ev->weak;
	(void)snprintf(c->instance, sizeof(c->instance), "%s", ev->instance);
	return say(CLAIM_WAIT);
}

static struct claim_result release(struct claim *c, const struct claim_event *ev)
{
	c->released_ms = ev->now_ms;
	c->version = ev->version;
	(void)snprintf(c->serial, sizeof(c->serial), "%s", ev->serial);
	move(c, CLAIM_CLAIMED, CLAIM_BECAUSE_NONE, ev->now_ms);
	return say(CLAIM_BYTES);
}

/* The result of a proof, or of the secret store: it is for the present request or for nothing, as a
 * claim is bound to one key for good and never returns to ATTESTING. */
static struct claim_result proof(struct claim *c, const struct claim_event *ev)
{
	if (c->state != CLAIM_ATTESTING || c->attested != (ev->type == CLAIM_EV_RELEASE))
		return say(CLAIM_SILENCE);
	if (ev->type == CLAIM_EV_REFUSED)
		return breach(c, CLAIM_BECAUSE_PROOF, CLAIM_DENIED, ev->now_ms);
	return ev->type == CLAIM_EV_ATTESTED ? attested(c, ev) : release(c, ev);
}

static struct claim_result confirm(struct claim *c, const struct claim_event *ev)
{
	if (!is_owner(c, ev))
		return say(CLAIM_DENIED);
	if (c->state == CLAIM_CLAIMED) {
		move(c, CLAIM_CONFIRMED, CLAIM_BECAUSE_NONE, ev->now_ms);
		memset(c->accessor, 0, sizeof(c->accessor)); /* its token was used */
	}
	return say(c->state == CLAIM_CONFIRMED ? CLAIM_OK : CLAIM_CONFLICT);
}

/* An alarm without proof ends nothing: otherwise anybody who has seen an id could end nodes. */
static struct claim_result alarm_raised(struct claim *c, const struct claim_event *ev)
{
	struct claim_result r = say(CLAIM_OK);

	if (ev->proved && may_end(c))
		return breach(c, CLAIM_BECAUSE_ALARM, CLAIM_OK, ev->now_ms);
	r.alarm = c->alarms < CLAIM_ALARMS_MAX;
	c->alarms += r.alarm;
	return r;
}

static struct claim_result end(struct claim *c, const struct claim_event *ev)
{
	const bool gone = ev->type == CLAIM_EV_GONE;
	const enum claim_state to = gone ? CLAIM_CLOSED : CLAIM_REVOKED;

	if (states[c->state].next & B(to))
		move(c, to, gone ? CLAIM_BECAUSE_NONE : CLAIM_BECAUSE_RELEASED, ev->now_ms);
	return say(CLAIM_SILENCE);
}

static struct claim_result step(struct claim *c, const struct claim_event *ev)
{
	if (ev->now_ms >= claim_wake_ms(c))
		move(c, CLAIM_EXPIRED,
		     c->state == CLAIM_CLAIMED ? CLAIM_BECAUSE_MUTE : CLAIM_BECAUSE_TIME,
		     ev->now_ms);
	switch (ev->type) {
	case CLAIM_EV_ASK:
		return ask(c, ev);
	case CLAIM_EV_ATTESTED:
	case CLAIM_EV_REFUSED:
	case CLAIM_EV_RELEASE:
		return proof(c, ev);
	case CLAIM_EV_CONFIRMED:
		return confirm(c, ev);
	case CLAIM_EV_ALARM:
		return alarm_raised(c, ev);
	case CLAIM_EV_REVOKE:
	case CLAIM_EV_GONE:
		return end(c, ev);
	default: /* TIMER: done above */
		return say(CLAIM_SILENCE);
	}
}

struct claim_result claim_step(struct claim *c, const struct claim_event *ev)
{
	struct claim before = *c;
	struct claim_result r;

	assert(c->state < CLAIM_NSTATES && ev->type < CLAIM_EV_NTYPES);
	r = step(c, ev);
	r.changed = memcmp(&before, c, sizeof(*c)) != 0;
	return r;
}

enum claim_want claim_want(const struct claim *c)
{
	switch (c->state) {
	case CLAIM_ATTESTING:
		return c->attested ? CLAIM_WANT_BYTES : CLAIM_WANT_PROOF;
	case CLAIM_EXPIRED:
	case CLAIM_BREACHED:
		return CLAIM_WANT_END;
	default:
		return CLAIM_WANT_NOTHING;
	}
}

int64_t claim_wake_ms(const struct claim *c)
{
	if (c->state == CLAIM_CLAIMED) /* perhaps by a thief, whose machine never confirms */
		return c->released_ms + CLAIM_CONFIRM_MS;
	return may_expire(c) ? c->expires_ms : INT64_MAX;
}
