#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "keys/door.h"
#include "keys/rotate.h"

/* Gives new keys to a node that has confirmed its first ones: at most once a minute, each time with
 * an audit record. */

enum { LATE_MS = 40000 }; /* a node waits no longer: revoke a token that comes later */

struct door_keys_ask {
	struct door_keys_ask *next;
	struct engine *e;
	uint64_t ticket, gen, handle;
	char node[HOSTLIST_NAME_MAX + 1];
	int64_t at_ms;
};

static void unlink_ask(struct door_keys_ask *ask)
{
	struct door_keys_ask **at = &ask->e->keys->door->keys;

	while (*at != ask)
		at = &(*at)->next;
	*at = ask->next;
	free(ask);
}

static void put_on_record(struct engine *e, struct claim_run *r, const struct secrets_released *rel)
{
	char text[SECRET_VERSION_MAX + 32];

	(void)snprintf(text, sizeof(text), "version %s", rel->version);
	engine_event(e, r->c.node, r->c.gen, "keys-released", text);
	audit_thing(e, "release-keys", "secrets", r->c.node, text);
	claims_given(e, r, rel);
	r->keys_ms = engine_now(e);
}

static void on_keys(void *ctx, const struct secrets_released *rel, const struct err *err)
{
	struct door_keys_ask *ask = ctx;
	struct engine *e = ask->e;
	struct claim_run *r = claims_of(e, ask->node, ask->gen);
	struct http_answer an = {.status = 500};
	bool late = engine_now(e) - ask->at_ms > LATE_MS;

	if (rel != NULL && r != NULL && r->c.state == CLAIM_CONFIRMED && !late) {
		claim_keys(e, rel, rotate_says_switch(e), &an);
		put_on_record(e, r, rel);
	} else {
		if (rel != NULL && rel->mode == CONF_WRAP)
			secrets_revoke(e, rel->accessor);
		if (rel == NULL)
			log_write(e->d.log, LOG_WARN, "there are no keys for a node", "node",
				  ask->node, "error", err->msg, NULL);
		door_say(&an, 503, "try again later");
		an.retry_after_s = ROTATE_KEYS_MS / 1000;
	}
	door_answer(e, ask->ticket, &an);
	unlink_ask(ask);
}

static bool waits(const struct engine *e, const struct claim_run *r)
{
	for (const struct door_keys_ask *ask = e->keys->door->keys; ask != NULL; ask = ask->next)
		if (ask->gen == r->c.gen && strcmp(ask->node, r->c.node) == 0)
			return true;
	return false;
}

void door_keys(struct engine *e, struct claim_run *r, const struct node_request *rq,
	       struct http_answer *an)
{
	enum conf_release mode = (enum conf_release)e->conf->secrets.release;
	int64_t now = engine_now(e);
	struct door_keys_ask *ask;

	if ((r->keys_ms != 0 && now - r->keys_ms < ROTATE_KEYS_MS) || waits(e, r)) {
		door_say(an, 429, "too many requests");
		an->retry_after_s = ROTATE_KEYS_MS / 1000;
		return;
	}
	ask = mem_zalloc(sizeof(*ask));
	*ask = (struct door_keys_ask){.next = e->keys->door->keys,
				      .e = e,
				      .ticket = rq->http.ticket,
				      .gen = r->c.gen,
				      .at_ms = now};
	(void)snprintf(ask->node, sizeof(ask->node), "%s", r->c.node);
	if (secrets_release(e, mode, on_keys, ask, &ask->handle, NULL) != 0) {
		free(ask);
		door_say(an, 503, "try again later");
		an->retry_after_s = ROTATE_KEYS_MS / 1000;
		return;
	}
	e->keys->door->keys = ask;
	an->later = true;
}

void door_keys_free(struct engine *e)
{
	while (e->keys->door->keys != NULL) {
		struct door_keys_ask *ask = e->keys->door->keys;

		e->keys->door->keys = ask->next;
		free(ask);
	}
}
