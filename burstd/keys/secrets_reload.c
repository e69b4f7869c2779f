#include "keys/secrets.h"

int secrets_may_replace(struct engine *e, const struct conf *next, struct err *err)
{
	const struct secrets *s = e->keys->secrets;

	if (s == NULL || conf_check_release(&next->secrets, s->flags, err) == 0)
		return 0;
	return err_wrap(err, "%.120s:%d", next->path, conf_secrets_line(next, "release"));
}

void secrets_hurry(struct engine *e)
{
	if (e->keys->secrets != NULL && e->keys->secrets->off)
		e->keys->secrets->next_ms = engine_now(e);
}
