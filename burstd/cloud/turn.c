#include <stdlib.h>

#include "base/fnv.h"
#include "cloud/cloud.h"

/* Opens and closes a provider, and gives its requests their turn: session, list, notices, fabrics,
 * quotes. */

void cloud_limit(struct cloud *c, const struct provider_limit *own)
{
	int64_t now = engine_now(c->e);

	limit_init(&c->limit, c->conf->concurrency, c->conf->rate, own, now);
	limit_seed(&c->limit, fnv_bytes(fnv_text(FNV_BEGIN, c->e->d.uuid), &now, sizeof(now)));
}

int cloud_open(struct cloud *c, struct engine *e, const struct conf_provider *conf, struct err *err)
{
	*c = (struct cloud){.e = e, .conf = conf};
	map_init(&c->unread_ids);
	map_init(&c->ids);
	cloud_limit(c, NULL);
	c->list_step = ENGINE_RETRY_MS;
	if (!conf->removed)
		c->ops = e->d.driver(conf->driver);
	if (c->ops == NULL && !conf->removed)
		return err_set(err, ERR_INVALID, "%s:%d: provider \"%s\": no driver \"%s\"",
			       e->conf->path, conf->line, conf->name, conf->driver);
	off_open(c);
	return 0;
}

void cloud_close(struct cloud *c)
{
	if (c->ops != NULL && !off_is(c))
		c->ops->close(c->self);
	free(c->seen);
	free(c->failures);
	map_fini(&c->comparison.ids);
	free(c->strays);
	map_fini(&c->unread_ids);
	map_fini(&c->ids);
	free(c->unread);
	free(c->quotes);
	free(c->coming);
	free(c->fabrics);
	free(c->listen_ack);
}

void cloud_reload(struct cloud *c, const struct conf_provider *conf)
{
	c->conf = conf;
	limit_change(&c->limit, conf->concurrency, conf->rate, c->caps.limits, engine_now(c->e));
	limit_together(&c->limit, &c->caps.together, engine_now(c->e));
}

void cloud_run(struct cloud *c)
{
	c->taken = false;
	list_compare(c);
	off_run(c);
	if (off_is(c))
		return;
	login_run(c);
	steps_run(c);
	list_run(c);
	listen_run(c);
	fabric_run(c);
	quotes_run(c);
}

/* A request that is due, but was not allowed, waits for its turn or an answer. */
static int64_t due_ms(const struct cloud *c, enum provider_op_kind kind, int64_t at)
{
	return at <= engine_now(c->e) && limit_waits(&c->limit, kind) ? INT64_MAX : at;
}

static int64_t next_request_ms(const struct cloud *c)
{
	const int64_t at[] = {
		due_ms(c, PROVIDER_LOGIN, login_next_ms(c)),
		limit_next_ms(&c->limit, engine_now(c->e)),
		steps_next_ms(c),
		due_ms(c, PROVIDER_LIST, list_next_ms(c)),
		due_ms(c, PROVIDER_QUOTES, quotes_next_ms(c)),
		due_ms(c, PROVIDER_FABRIC_LIST, fabric_next_ms(c)),
		due_ms(c, PROVIDER_NOTICES, listen_next_ms(c)),
	};
	size_t n = session_good(c) ? sizeof(at) / sizeof(at[0])
				   : 3; /* without a session nothing else can be sent */
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < n; i++)
		next = at[i] < next ? at[i] : next;
	return next;
}

int64_t cloud_next_ms(const struct cloud *c)
{
	if (c->comparison.runs || c->taken)
		return engine_now(c->e);
	return off_is(c) ? c->off_next : next_request_ms(c);
}
