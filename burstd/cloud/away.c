#include "cloud/cloud.h"

#include <stdio.h>

#include "base/log.h"

/* Notes that a provider cannot be reached: it refuses connections, does not answer, or only with
 * 5xx.
 *
 * After `unreachable_after` the provider is away, until the first answer; burstd goes on asking for
 * its list, of which only the last page counts as an answer.  The ladder leaves its offers out
 * (core/ladder.h), and its rows are released where that is safe (away_run.c).  ADR 23. */

/* Does the service with our machines answer this kind of request?  Offers and notices may be
 * another service's. */
static bool is_asked_of_it(enum provider_op_kind kind)
{
	return kind == PROVIDER_LIST || kind == PROVIDER_DELETE || kind == PROVIDER_CREATE ||
	       kind == PROVIDER_FABRIC_MAKE || kind == PROVIDER_FABRIC_LIST ||
	       kind == PROVIDER_FABRIC_DROP || kind == PROVIDER_LOGIN;
}

static bool is_answer(enum provider_op_kind kind, enum provider_code code)
{
	if (kind == PROVIDER_LOGIN) /* a login that fails blocks all requests; one that succeeds is
				       no answer yet */
		return false;
	return code != PROVIDER_TRANSIENT && code != PROVIDER_AMBIGUOUS;
}

/* Since when the provider is silent.  Without a first list other answers do not count. */
static int64_t silent_since(const struct cloud *c)
{
	return c->listed ? c->mute_ms : c->blind_ms;
}

int64_t away_since(const struct cloud *c)
{
	return c->away ? silent_since(c) : 0;
}

bool away_is(const struct cloud *c)
{
	return c->away || off_is(c);
}

int64_t engine_away_since(const struct engine *e, size_t provider)
{
	return away_since(&e->cloud->all[provider]);
}

static void tell(struct cloud *c)
{
	char what[400];

	(void)snprintf(what, sizeof(what), "%.63s%s%.200s", c->conf->name, c->away ? ": " : "",
		       c->away ? c->error : "");
	engine_event(c->e, "", 0, c->away ? "provider-away" : "provider-back", what);
	if (c->away)
		log_write(c->e->d.log, LOG_WARN, "a provider cannot be reached", "provider",
			  c->conf->name, "error", c->error, NULL);
}

/* Rows in doubt may come up now, or be released: they do not block their nodes any more. */
void away_back(struct cloud *c)
{
	struct fleet *f = &c->e->fleet;

	for (size_t i = 0; i < f->nall; i++)
		for (struct fleet_node *fn = f->all[i]->newest; fn != NULL; fn = fn->older)
			if (cloud_of(c->e, &fn->n) == c)
				fn->unreached = false;
	cooldown_back(&c->e->cloud->cooldown, c->conf->name);
}

static void away_reply(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r,
		       int64_t sent_ms)
{
	(void)sent_ms;
	if (kind != PROVIDER_LIST)
		away_heard(c, kind, r);
}

void away_heard(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r)
{
	const int64_t now = engine_now(c->e), limit = c->conf->unreachable_ms;
	const bool was = c->away;
	int64_t since;

	if (!is_asked_of_it(kind) ||
	    (kind == PROVIDER_LOGIN && (r->code == PROVIDER_OK || r->code == PROVIDER_MORE)))
		return;
	if (is_answer(kind, r->code))
		c->mute_ms = 0;
	else if (c->mute_ms == 0)
		c->mute_ms = now;
	if (kind == PROVIDER_LIST && r->code == PROVIDER_OK)
		c->blind_ms = 0;
	else if ((kind == PROVIDER_LIST || kind == PROVIDER_LOGIN) && c->blind_ms == 0)
		c->blind_ms = now;
	since = silent_since(c);
	c->away = limit != 0 && since != 0 && (was || now - since >= limit);
	c->e->cloud->aways = c->e->cloud->aways || c->away;
	if (c->away != was)
		tell(c);
	if (!was || c->away)
		return;
	away_back(c);
	/* Rows in doubt have waited long enough for a list; but only lists may still fail (I30). */
	if (kind == PROVIDER_LIST)
		cloud_hurry(c);
	else
		c->list_next = now;
}

const struct engine_part away_part = {
	.name = "providers that are away",
	.heard = away_reply,
};
