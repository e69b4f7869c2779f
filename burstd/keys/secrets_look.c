#include "keys/secrets.h"

static void on_look(struct secrets *s, void *ctx, const struct secret_op *op,
		    const struct secret_result *r)
{
	const struct secrets_look *look = ctx;

	(void)op;
	(void)s;
	look->fn(look->ctx, r->code);
}

bool secrets_serves(const struct engine *e)
{
	return secrets_ready(e) && !e->keys->secrets->held;
}

bool secrets_look(struct engine *e, enum secret_op_kind kind, const char *accessor,
		  const struct secrets_look *look)
{
	const struct secret_op op = {.kind = kind, .version = "", .token = accessor};

	if (!secrets_ready(e))
		return false;
	secrets_send(e->keys->secrets, &op, on_look, (void *)(uintptr_t)look);
	return true;
}

bool secrets_wraps(const struct engine *e)
{
	return e->keys->secrets != NULL && (e->keys->secrets->flags & SECRET_WRAPS) != 0;
}

const char *secrets_address(const struct engine *e, uint32_t i)
{
	return i < e->keys->secrets->naddresses
		       ? e->keys->secrets->ops->address(e->keys->secrets->self, i)
		       : NULL;
}

const char *secrets_path(const struct engine *e)
{
	return e->keys->secrets->ops->path(e->keys->secrets->self, SECRET_WRAP);
}
