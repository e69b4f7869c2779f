#include "keys/secrets_private.h"

#include <stdio.h>

/* Asks the store for keys, or for tokens for them, and delivers them to the requests that wait. */

/* --- keys --------------------------------------------------------------------------------------
 */

/* A request for keys failed: end it, or try it again. */
static void retry(struct secrets *s, struct secrets_ask *ask, const struct secret_op *op,
		  const struct secret_result *r)
{
	int64_t now = engine_now(s->e);

	ask->tries++;
	switch (r->code) {
	case SECRET_AWAY: /* however long */
	case SECRET_ELSEWHERE:
		ask->tries--;
		ask->at_ms = now + SECRETS_AGAIN_MS;
		break;
	case SECRET_DENIED: /* perhaps the session is gone */
		ask->at_ms = now + SECRETS_AGAIN_MS;
		break;
	case SECRET_MISSING: /* the version was deleted: there may be another one */
		s->version_next = now;
		s->next_ms = now;
		break;
	case SECRET_BEHIND:
		ask->tries =
			++ask->behind > SECRETS_BEHIND_MAX ? SECRETS_TRIES_MAX : ask->tries - 1;
		ask->at_ms = now + secrets_behind_ms(s);
		break;
	case SECRET_RATE:
	case SECRET_TRANSIENT:
		ask->at_ms =
			now + (r->retry_after_ms > 0 ? r->retry_after_ms
						     : secrets_backoff(s, SECRETS_BASE_MS,
								       SECRETS_CAP_MS, ask->tries));
		break;
	default:
		secrets_complain(s, op->kind, r);
		secrets_refuse_ask(s, ask, ERR_INVALID, r->message);
		return;
	}
	if (ask->tries >= (r->code == SECRET_MISSING || r->code == SECRET_DENIED
				   ? 2u
				   : (unsigned)SECRETS_TRIES_MAX))
		secrets_refuse_ask(s, ask, r->code == SECRET_DENIED ? ERR_AUTH : ERR_NET,
				   r->message);
}

/* If the failure concerns the whole store, handle it once for all requests. */
static void spread(struct secrets *s, const struct secret_op *op, const struct secret_result *r)
{
	bool all = r->code == SECRET_AWAY || r->code == SECRET_ELSEWHERE ||
		   r->code == SECRET_TRANSIENT || r->code == SECRET_DENIED;

	if (all && s->phase == SECRETS_READY && op->address == s->at && !s->busy)
		secrets_trouble(s, op->kind, r);
	else if (all)
		secrets_complain(s, op->kind, r);
}

static void give_wrap(struct secrets *s, struct secrets_ask *ask, const struct secret_op *op,
		      const struct secret_result *r)
{
	const char *addresses[SECRET_ADDRESSES_MAX + 1] = {NULL};
	uint32_t n = 0;
	struct secrets_released out = {.mode = ask->mode,
				       .version = op->version,
				       .token = r->value,
				       .accessor = r->accessor,
				       .path = r->path,
				       .ttl_ms = r->ttl_ms,
				       .sent_ms = op->sent_ms,
				       .addresses = addresses,
				       .ca_file = s->e->conf->secrets.ca_file};

	addresses[n++] = s->ops->address(s->self, op->address);
	for (uint32_t i = 0; i < s->naddresses; i++)
		if (i != op->address)
			addresses[n++] = s->ops->address(s->self, i);
	secrets_end_ask(s, ask, &out, NULL);
}

static void on_wrap(struct secrets *s, void *ctx, const struct secret_op *op,
		    const struct secret_result *r)
{
	struct secrets_ask *ask = ctx;

	s->flying--;
	ask->flying = false;
	if (r->code == SECRET_OK && ask->fn == NULL && (s->rights & SECRET_MAY_REVOKE) != 0)
		secrets_revoke(s->e, r->accessor); /* the request was cancelled */
	if (r->code == SECRET_OK) {
		secrets_all_is_well(s);
		give_wrap(s, ask, op, r);
		return;
	}
	if (ask->fn == NULL)
		secrets_end_ask(s, ask, NULL, NULL);
	else
		retry(s, ask, op, r);
	spread(s, op, r);
}

/* Deliver one read to all requests that wait. */
static void on_read(struct secrets *s, void *ctx, const struct secret_op *op,
		    const struct secret_result *r)
{
	struct secret_result bad = {.code = SECRET_INVALID};
	struct secrets_released out = {
		.mode = CONF_BROKER, .version = r->version, .bundle = r->value};
	struct secrets_ask *ask = s->asks;
	struct err err = {0};

	(void)ctx;
	s->flying--;
	if (r->code == SECRET_OK &&
	    secret_bundle_read(secret_text(r->value), secret_len(r->value), NULL, &err) < 0) {
		(void)snprintf(bad.message, sizeof(bad.message), "invalid keys: %.140s", err.msg);
		r = &bad;
	}
	if (r->code == SECRET_OK)
		secrets_all_is_well(s);
	/* The bundle was written since the last poll: take its version now, or nodes with the newer
	 * keys would seem to have outdated ones. */
	if (r->code == SECRET_OK && strcmp(r->version, s->version) != 0)
		secrets_poll(s->e);
	while (ask != NULL) {
		struct secrets_ask *next = ask->next;

		if (ask->flying && ask->mode == CONF_BROKER) {
			ask->flying = false;
			if (r->code == SECRET_OK || ask->fn == NULL)
				secrets_end_ask(s, ask, r->code == SECRET_OK ? &out : NULL, NULL);
			else
				retry(s, ask, op, r);
		}
		ask = next;
	}
	if (r->code != SECRET_OK)
		spread(s, op, r);
}

static bool is_reading(const struct secrets *s)
{
	for (const struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next)
		if (ask->flying && ask->mode == CONF_BROKER)
			return true;
	return false;
}

static void send_read(struct secrets *s, int64_t now)
{
	const struct secret_op op = {.kind = SECRET_READ, .version = s->version};
	bool any = false;

	for (struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next)
		if (ask->mode == CONF_BROKER && !ask->flying && ask->at_ms <= now)
			any = ask->flying = true;
	if (!any)
		return;
	s->flying++;
	secrets_send(s, &op, on_read, NULL);
}

static void run_asks(struct secrets *s)
{
	int64_t now = engine_now(s->e);
	struct secret_op op = {.kind = SECRET_WRAP, .version = s->version};

	if (s->phase == SECRETS_REFUSED) {
		secrets_refuse_all(s, s->error);
		return;
	}
	secrets_reap(s);
	if (s->held || !secrets_ready(s->e) || s->version_next <= now)
		return;
	for (struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next) {
		if (s->flying >= SECRETS_FLYING_MAX)
			return;
		if (ask->mode == CONF_BROKER || ask->flying || ask->at_ms > now)
			continue;
		op.wrap_s =
			(uint32_t)((ask->wrap_ms > 0 ? ask->wrap_ms : s->e->conf->secrets.wrap_ms) /
				   1000);
		ask->flying = true;
		s->flying++;
		secrets_send(s, &op, on_wrap, ask);
	}
	if (!is_reading(s))
		send_read(s, now);
}

/* --- for the rest of the engine ----------------------------------------------------------------
 */

static void secrets_run(struct engine *e)
{
	struct secrets *s = e->keys->secrets;

	if (s == NULL)
		return;
	secrets_wire_run(s);
	secrets_run_own(s);
	run_asks(s);
	secrets_alarm_when_long(s);
}

static int64_t secrets_next_ms(const struct engine *e)
{
	const struct secrets *s = e->keys->secrets;
	int64_t next;

	if (s == NULL)
		return INT64_MAX;
	if (secrets_wire_due(s))
		return engine_now(e);
	next = s->busy ? INT64_MAX : s->next_ms;
	for (const struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next)
		if (!ask->flying && ask->at_ms > engine_now(e) && ask->at_ms < next)
			next = ask->at_ms;
	if (s->trouble_ms != 0 && !s->alarmed && s->trouble_ms + SECRETS_ALARM_MS < next)
		next = s->trouble_ms + SECRETS_ALARM_MS;
	return next;
}

const struct engine_part secrets_turn_part = {
	.name = "secrets: their turn",
	.at = {[PART_RUN] = secrets_run, [PART_FREE] = secrets_free},
	.next_ms = secrets_next_ms,
};
