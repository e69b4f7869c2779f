#include "keys/secrets_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* Keeps the list of requests for keys: they are added, answered, refused or cancelled. */

/* --- how it ends for them ----------------------------------------------------------------------
 */

void secrets_end_ask(struct secrets *s, struct secrets_ask *ask, const struct secrets_released *r,
		     const struct err *err)
{
	struct secrets_ask **at = &s->asks;
	secrets_fn fn = ask->fn;

	while (*at != ask)
		at = &(*at)->next;
	*at = ask->next;
	if (s->asks_last == &ask->next)
		s->asks_last = at;
	s->nasks--;
	s->failed += r == NULL && fn != NULL;
	if (r != NULL && fn != NULL)
		s->released[r->mode]++;
	if (fn != NULL)
		fn(ask->ctx, r, err);
	free(ask);
}

void secrets_refuse_ask(struct secrets *s, struct secrets_ask *ask, enum err_code code,
			const char *words)
{
	struct err err;

	(void)err_set(&err, code, "the secret store: %.180s", words);
	secrets_end_ask(s, ask, NULL, &err);
}

void secrets_refuse_all(struct secrets *s, const char *words)
{
	struct secrets_ask *ask = s->asks;

	while (ask != NULL) {
		struct secrets_ask *next = ask->next;

		if (!ask->flying)
			secrets_refuse_ask(s, ask, ERR_AUTH, words);
		ask = next;
	}
}

void secrets_reap(struct secrets *s)
{
	struct secrets_ask *ask = s->asks;

	while (ask != NULL) {
		struct secrets_ask *next = ask->next;

		if (ask->fn == NULL && !ask->flying)
			secrets_end_ask(s, ask, NULL, NULL);
		ask = next;
	}
}

/* --- for the rest of the engine ----------------------------------------------------------------
 */

static int put_ask(struct engine *e, const struct secrets_ask *like, uint64_t *handle,
		   struct err *err)
{
	struct secrets *s = e->keys->secrets;
	struct secrets_ask *ask;

	if (s == NULL)
		return err_set(err, ERR_INVALID,
			       "there is no section secrets in the configuration");
	if (like->mode != CONF_BROKER && (s->flags & SECRET_WRAPS) == 0)
		return err_set(err, ERR_INVALID,
			       "driver %s cannot wrap tokens: want release = broker", s->ops->name);
	if (s->nasks >= SECRETS_WAITING_MAX)
		return err_set(err, ERR_LIMIT, "%d nodes wait for keys", SECRETS_WAITING_MAX);
	ask = mem_zalloc(sizeof(*ask));
	*ask = *like;
	ask->handle = ++s->last_handle;
	*s->asks_last = ask;
	s->asks_last = &ask->next;
	s->nasks++;
	if (handle != NULL)
		*handle = ask->handle;
	return 0;
}

int secrets_release(struct engine *e, enum conf_release mode, secrets_fn fn, void *ctx,
		    uint64_t *handle, struct err *err)
{
	const struct secrets_ask like = {.mode = mode, .fn = fn, .ctx = ctx};

	return put_ask(e, &like, handle, err);
}

int secrets_wrap(struct engine *e, int64_t life_ms, secrets_fn fn, void *ctx, uint64_t *handle,
		 struct err *err)
{
	const struct secrets_ask like = {
		.mode = CONF_USER_DATA, .wrap_ms = life_ms, .fn = fn, .ctx = ctx};

	return put_ask(e, &like, handle, err);
}

static struct secrets_ask *ask_of(struct secrets *s, uint64_t handle)
{
	for (struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next)
		if (ask->handle == handle)
			return ask;
	return NULL;
}

void secrets_cancel(struct engine *e, uint64_t handle)
{
	struct secrets_ask *ask =
		e->keys->secrets != NULL ? ask_of(e->keys->secrets, handle) : NULL;

	/* Free it in the next turn: a caller may be walking through the list now. */
	if (ask != NULL)
		ask->fn = NULL;
}
