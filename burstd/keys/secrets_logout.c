#include "keys/rotate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/http_client.h"

/* Ends the session when burstd stops, since an unused session could be stolen.  The engine is freed
 * meanwhile, so nothing here refers to it.  Wrapping tokens do not end with the session that made
 * them, so booting nodes keep theirs. */

struct logout { /* freed with the last request */
	struct log *log;
	void (*said)(void *ctx);
	void *ctx;
	unsigned left;
};

static void on_logout(void *ctx, const struct http_reply *reply, const struct err *err)
{
	struct logout *b = ctx;
	bool last = --b->left == 0, cancelled = err != NULL && err->code == ERR_CANCELLED;
	char why[64] = "";

	if (err != NULL)
		(void)snprintf(why, sizeof(why), "%.60s", err->msg);
	else if (reply->status != 200 && reply->status != 204)
		(void)snprintf(why, sizeof(why), "HTTP status %ld", reply->status);
	if (why[0] != '\0')
		log_write(b->log, LOG_INFO,
			  "the session with the secret store was not ended: it ends by itself",
			  "error", why, NULL);
	if (!last)
		return;
	if (!cancelled)
		b->said(b->ctx);
	free(b);
}

/* Send the logout, whatever the store's state: if it does not answer, that is soon known. */
static void leave(struct secrets *s, struct logout *b)
{
	const struct secret_op op = {.kind = SECRET_LOGOUT,
				     .address = s->at,
				     .at_ms = engine_wall(s->e, engine_now(s->e)),
				     .version = ""};
	const struct conf_secrets *c = &s->e->conf->secrets;
	struct secret_request rq = {0};
	struct http_call call;
	struct err err;

	if ((s->flags & SECRET_RENEWS) == 0 || secrets_until(s) <= engine_now(s->e) ||
	    s->ops->build(s->self, &op, &rq, &err) != 0)
		return;
	call = (struct http_call){.method = rq.method,
				  .url = rq.url,
				  .headers = (const char *const *)rq.headers,
				  .body = rq.body,
				  .body_len = rq.body_len,
				  .ca_file = c->ca_file,
				  .timeout_ms = SECRETS_BYE_MS,
				  .max_reply = SECRET_REPLY_MAX,
				  .secret = true};
	if (http_client_send(s->e->d.http, &call, on_logout, b, NULL, &err) == 0)
		b->left++;
	secret_request_fini(&rq);
}

bool engine_logout(struct engine *e, void (*said)(void *ctx), void *ctx)
{
	struct logout *b = mem_zalloc(sizeof(*b));

	*b = (struct logout){.log = e->d.log, .said = said, .ctx = ctx};
	if (e->keys->secrets != NULL && e->keys->secrets->self != NULL)
		leave(e->keys->secrets, b);
	if (e->keys->rotate != NULL && e->keys->rotate->store != NULL)
		leave(&e->keys->rotate->store->s, b);
	if (b->left > 0)
		return true;
	free(b);
	return false;
}
