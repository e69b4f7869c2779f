#include "cloud/cloud.h"

/* Shows to the API what is known of a provider (cloud_api.h). */

struct engine_source engine_provider_source(const struct engine *e, size_t provider)
{
	const struct cloud *c = &e->cloud->all[provider];

	return (struct engine_source){c->conf->name, c->ok_ms, c->failed_ms,
				      off_is(c) ? c->off : c->error};
}

const char *engine_undeleted(const struct engine *e, size_t provider, int64_t *failed_ms)
{
	*failed_ms = e->cloud->all[provider].undeleted_ms;
	return e->cloud->all[provider].undeleted;
}

const char *engine_unheard(const struct engine *e, size_t provider, int64_t *since_ms)
{
	*since_ms = e->cloud->all[provider].unheard_ms;
	return e->cloud->all[provider].unheard;
}

const char *engine_unreadable(const struct engine *e, size_t provider, size_t i)
{
	const struct cloud *c = &e->cloud->all[provider];

	for (size_t k = 0; k < c->nunread; k++)
		if (c->unread[k].shown && i-- == 0)
			return c->unread[k].id;
	return NULL;
}

bool engine_stray(const struct engine *e, size_t provider, size_t i, struct engine_stray *out)
{
	const struct cloud *c = &e->cloud->all[provider];

	if (i >= c->nstrays)
		return false;
	*out = (struct engine_stray){c->strays[i].id, c->strays[i].node,   c->strays[i].tried_ms,
				     c->strays_ms,    c->strays[i].leaves, c->strays[i].up};
	return true;
}

/* Of one kind all that wait are known: the limiter knows of the next alone. */
static size_t queue(const struct cloud *c, enum provider_op_kind kind, int64_t *oldest_ms)
{
	size_t n = 0;

	if (kind == PROVIDER_STEP)
		n = steps_queue(c, oldest_ms);
	else if (kind == PROVIDER_REPORT)
		n = report_queue(c, oldest_ms);
	return n > 0 ? n : 1;
}

struct engine_flow cloud_flow(const struct cloud *c, enum provider_op_kind kind)
{
	struct engine_flow f = {.sent = c->sent[kind],
				.throttled = c->throttled[kind],
				.limit = limit_view(&c->limit, kind, engine_now(c->e))};

	if (off_is(c) || !f.limit.waits)
		return f;
	f.oldest_ms = f.limit.since_ms;
	f.queued = queue(c, kind, &f.oldest_ms);
	return f;
}
