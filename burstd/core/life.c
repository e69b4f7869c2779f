#include "core/life.h"

#include <assert.h>
#include <string.h>

static const char *const words[LIFE_NKINDS] = {
	[LIFE_WANTED] = "wanted",
	[LIFE_SENT] = "sent",
	[LIFE_CREATED] = "created",
	[LIFE_RUNNING] = "running",
	[LIFE_REGISTERED] = "registered",
	[LIFE_READY] = "ready",
	[LIFE_NOTICED] = "noticed",
	[LIFE_DRAINED] = "drained",
	[LIFE_RELEASED] = "released",
	[LIFE_DELETE_ASKED] = "delete_asked",
	[LIFE_DELETE_ACCEPTED] = "delete_accepted",
	[LIFE_TAKEN] = "taken",
	[LIFE_REFUSED] = "refused",
	[LIFE_SHOWN] = "shown",
	[LIFE_ENDED] = "ended",
	[LIFE_SEEN] = "seen",
};

const char *life_str(enum life_kind k)
{
	assert(k < LIFE_NKINDS);
	return words[k];
}

int life_parse(const char *word)
{
	for (int k = 0; k < LIFE_NKINDS; k++)
		if (strcmp(words[k], word) == 0)
			return k;
	return -1;
}

struct steps {
	struct life_step *v;
	size_t n;
	int64_t now_ms;
};

static void add(struct steps *s, enum life_kind kind, int64_t said_ms)
{
	assert(s->n < LIFE_STEPS_MAX);
	s->v[s->n++] = (struct life_step){.kind = kind, .at_ms = s->now_ms, .said_ms = said_ms};
}

static bool becomes(const struct node *was, const struct node *is, enum node_state state)
{
	return is->state == state && was->state != state;
}

/* The row believes the provider's time, or took its own. */
static int64_t believed(int64_t row_ms, int64_t provider_ms)
{
	return row_ms == provider_ms ? provider_ms : 0;
}

/* It is there although its bill had ended: the row was gone, or is a new one that goes on with that
 * bill. */
static bool seen_again(const struct node *was, const struct node *is)
{
	return is->state != NODE_GONE &&
	       (was->state == NODE_GONE ||
		(was->end_ms != 0 && was->instance[0] == '\0' && is->instance[0] != '\0'));
}

static void add_begin(struct steps *s, const struct node *was, const struct node *is,
		      const struct node_event *ev)
{
	if (is->start_ms != was->start_ms && is->start_ms != 0)
		add(s, LIFE_CREATED,
		    ev->instance != NULL ? believed(is->start_ms, ev->instance->created_ms) : 0);
	else if (seen_again(was, is))
		add(s, LIFE_SEEN, 0);
}

/* A machine that burstd has ended itself was not taken, whatever notice there was. */
static bool taken(const struct node *was, const struct node *is, const struct node_event *ev)
{
	if (ev->instance != NULL && ev->instance->taken)
		return true;
	return is->reason == NODE_BECAUSE_RECLAIMED && was->state != NODE_DELETING &&
	       was->state != NODE_QUARANTINED;
}

static void add_end(struct steps *s, const struct node *was, const struct node *is,
		    const struct node_event *ev)
{
	int64_t said_ms;

	if (!becomes(was, is, NODE_GONE))
		return;
	if (is->start_ms == 0) {
		add(s, LIFE_REFUSED, 0);
		return;
	}
	if (taken(was, is, ev))
		add(s, LIFE_TAKEN, 0);
	said_ms = ev->instance != NULL ? believed(is->end_ms, ev->instance->ended_ms) : 0;
	if (said_ms == 0 && ev->shown_ms != 0) {
		add(s, LIFE_SHOWN, 0);
		s->v[s->n - 1].at_ms = ev->shown_ms;
	}
	add(s, LIFE_ENDED, said_ms);
	if (said_ms == 0)
		s->v[s->n - 1].at_ms = is->end_ms;
}

size_t life_steps(const struct node *was, const struct node *is, const struct node_event *ev,
		  struct life_step out[LIFE_STEPS_MAX])
{
	struct steps s = {.v = out, .now_ms = ev->now_ms};

	if (ev->type == NODE_EV_START && becomes(was, is, NODE_CREATING))
		add(&s, LIFE_SENT, 0);
	add_begin(&s, was, is, ev);
	if (was->state == NODE_BOOTING && ev->type == NODE_EV_REGISTERED) {
		add(&s, LIFE_REGISTERED, 0);
		add(&s, LIFE_READY, 0);
	}
	/* At a restart the time of a notice is only moved (F57). */
	if (is->noticed_ms != was->noticed_ms && ev->type != NODE_EV_RESTART)
		add(&s, LIFE_NOTICED, is->deadline_ms);
	if (becomes(was, is, NODE_DRAINING))
		add(&s, LIFE_DRAINED, 0);
	if (is->release && !was->release)
		add(&s, LIFE_RELEASED, 0);
	if (becomes(was, is, NODE_DELETING))
		add(&s, LIFE_DELETE_ASKED, 0);
	if (is->accepted && !was->accepted)
		add(&s, LIFE_DELETE_ACCEPTED, 0);
	add_end(&s, was, is, ev);
	return s.n;
}

bool life_runs(const struct node *is, const struct node_event *ev)
{
	return (ev->type == NODE_EV_SEEN || ev->type == NODE_EV_CREATED) &&
	       ev->instance->state == PROVIDER_RUNNING && is->state == NODE_BOOTING;
}
