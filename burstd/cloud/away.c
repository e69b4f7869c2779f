#include "cloud/cloud.h"

#include <stdio.h>

#include "base/log.h"

/* A provider that cannot be reached: connections are refused, nobody answers, or only with 5xx.
 *
 * After `unreachable_after` of that it is away, until the first answer; its list is asked for all
 * the while, and no page of it is an answer before the last.  The ladder leaves its offers out
 * (core/ladder.h), and what is held there is let go of (away_run.c).  ADR 23. */

/* Is it asked of what has our machines?  Offers and notices may be another service's. */
static bool is_asked_of_it(enum provider_op_kind kind)
{
	return kind == PROVIDER_LIST || kind == PROVIDER_DELETE || kind == PROVIDER_CREATE ||
	       kind == PROVIDER_FABRIC_MAKE || kind == PROVIDER_FABRIC_LIST ||
	       kind == PROVIDER_FABRIC_DROP || kind == PROVIDER_LOGIN;
}

static bool is_answer(enum provider_op_kind kind, enum provider_code code)
{
	if (kind == PROVIDER_LOGIN) /* nothing goes without a session, and one is no answer yet */
		return false;
	return code != PROVIDER_TRANSIENT && code != PROVIDER_AMBIGUOUS;
}

/* What nobody has ever listed is not known, whatever else is answered. */
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

/* What was in doubt may come up now, and be let go of later: it waits for nobody then. */
void away_back(struct cloud *c)
{
	struct fleet *f = &c->e->fleet;

	for (size_t i = 0; i < f->nall; i++)
		for (struct fleet_node *fn = f->all[i]->newest; fn != NULL; fn = fn->older)
			if (cloud_of(c->e, &fn->n) == c)
				fn->unreached = false;
	cooldown_back(&c->e->cloud->cooldown, c->conf->name);
}

void away_reply(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r,
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

	if (!is_asked_of_it(kind) || (kind == PROVIDER_LOGIN && r->code == PROVIDER_OK))
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
	/* What is in doubt there has waited for long enough; but lists may be all that fails still
	 * (I30). */
	if (kind == PROVIDER_LIST)
		cloud_hurry(c);
	else
		c->list_next = now;
}
