#include "cloud/cloud.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* Listens for a provider's notices by a long poll: a notice arrives within milliseconds, and
 * without notices there is one request in 20 s.  burstd listens only while it has instances there,
 * and after the first list. */

struct hearing { /* the context of a request */
	char cursor[PROVIDER_CURSOR_MAX + 1];
	char ack[];
};

static bool is_wanted(const struct cloud *c)
{
	const struct engine *e = c->e;

	if ((c->caps.flags & PROVIDER_TELLS) == 0 || !c->listed)
		return false;
	for (size_t i = 0; i < e->conf->npools; i++)
		if (e->fleet.pools[i].nodes > 0 && cloud_sells(e, (uint32_t)i, c))
			return true;
	return false;
}

/* Try again, later each time (I30), and tell people if the failure lasts. */
static void failed(struct cloud *c, const struct provider_result *r)
{
	int64_t now = engine_now(c->e);

	if (c->unheard_ms == 0)
		c->unheard_ms = now;
	if (strcmp(c->unheard, r->message) != 0)
		log_write(c->e->d.log, LOG_WARN, "cannot read notices", "provider", c->conf->name,
			  "code", provider_code_str(r->code), "error", r->message, NULL);
	(void)snprintf(c->unheard, sizeof(c->unheard), "%s", r->message);
	c->listen_step = engine_longer(c->listen_step);
	c->listen_next =
		now + (r->retry_after_ms > c->listen_step ? r->retry_after_ms : c->listen_step);
}

static void heard(struct cloud *c)
{
	c->listen_step = 0;
	c->unheard_ms = 0;
	c->unheard[0] = '\0';
}

/* --- what it tells ----------------------------------------------------------------------------
 */

static bool is_said_to_end(const struct provider_result *r, const char *id)
{
	for (size_t i = 0; i < r->nended; i++)
		if (strcmp(r->ended[i].id, id) == 0)
			return true;
	return false;
}

/* Take notices of ended instances; those of burstd's own deletes are ignored. */
static void take_ended(struct cloud *c, const struct provider_result *r)
{
	static const enum node_state of[] = {NODE_BOOTING, NODE_READY, NODE_DRAINING};
	struct engine *e = c->e;

	for (size_t s = 0; r->nended > 0 && s < sizeof(of) / sizeof(of[0]); s++)
		for (const struct fleet_node *fn = e->fleet.states[of[s]]; fn; fn = fn->state_next)
			if (cloud_of(e, &fn->n) == c && is_said_to_end(r, fn->n.instance)) {
				cloud_hurry(c);
				return;
			}
}

static void on_forgotten(struct cloud *c, void *ctx, const struct provider_result *r)
{
	(void)ctx;
	c->listen_stuck = r->code != PROVIDER_OK;
	if (c->listen_stuck)
		failed(c, r); /* the notices come again, which is harmless */
	else
		heard(c);
}

static void forget(struct cloud *c)
{
	struct provider_op op = {.kind = PROVIDER_NOTICES};
	size_t size = strlen(c->listen_ack) + 1;
	struct hearing *h = mem_zalloc(sizeof(*h) + size);

	memcpy(h->ack, c->listen_ack, size);
	free(c->listen_ack);
	c->listen_ack = NULL;
	op.u.notices.cluster = c->e->d.uuid;
	op.cursor = h->cursor;
	op.u.notices.ack = h->ack;
	cloud_send(c, &op, on_forgotten, h);
}

/* May the next request go out at once?  Not if the provider neither held the last one nor moved its
 * cursor: it would answer at once for ever. */
static bool goes_on(const struct cloud *c, const struct provider_result *r, bool kept)
{
	if (kept)
		return false;
	if (r->nnotices + r->nended + r->nunread == 0)
		return engine_now(c->e) - c->listen_began >= ENGINE_LISTEN_PAUSE_MS;
	return r->ack != NULL || strcmp(r->cursor, c->listen_cursor) != 0;
}

static void on_notices(struct cloud *c, void *ctx, const struct provider_result *r)
{
	struct engine *e = c->e;
	bool kept = false;

	(void)ctx;
	c->listening = false;
	if (r->code != PROVIDER_OK) {
		failed(c, r);
		return;
	}
	if (r->ack == NULL && !c->listen_stuck)
		heard(c); /* otherwise after the acknowledgement */
	e->count.notices_unreadable += r->nunread;
	for (size_t i = 0; i < r->nnotices; i++)
		kept = !engine_noticed(c->e, c, &r->notices[i]) || kept;
	c->listen_next = engine_now(e) +
			 (goes_on(c, r, kept) ? c->listen_step : (int64_t)ENGINE_LISTEN_PAUSE_MS);
	take_ended(c, r);
	engine_spend(e, r->nnotices);
	engine_commit(e);
	if (e->dead)
		return;
	/* Move the cursor only now: after a crash before this the notices come again. */
	(void)snprintf(c->listen_cursor, sizeof(c->listen_cursor), "%s", r->cursor);
	if (r->ack != NULL &&
	    !kept) /* a notice that is only kept in memory must come again after a crash */
		c->listen_ack = mem_strdup(r->ack);
}

/* --- asking -----------------------------------------------------------------------------------
 */

void listen_run(struct cloud *c)
{
	struct provider_op op = {.kind = PROVIDER_NOTICES};
	struct hearing *h;

	if (c->listen_ack != NULL && cloud_ready(c, PROVIDER_NOTICES))
		forget(c);
	if (listen_next_ms(c) > engine_now(c->e) || !cloud_ready(c, PROVIDER_NOTICES))
		return;
	h = mem_zalloc(sizeof(*h));
	(void)snprintf(h->cursor, sizeof(h->cursor), "%s", c->listen_cursor);
	c->listening = true;
	c->listen_began = engine_now(c->e);
	op.u.notices.cluster = c->e->d.uuid;
	op.cursor = h->cursor;
	op.u.notices.wait_ms = ENGINE_LISTEN_MS;
	cloud_send(c, &op, on_notices, h);
}

int64_t listen_next_ms(const struct cloud *c)
{
	if (c->listening || c->listen_ack != NULL || !is_wanted(c))
		return INT64_MAX;
	return c->listen_next;
}
