#include <stdio.h>
#include <stdlib.h>

#include "base/fnv.h"
#include "base/mem.h"
#include "keys/secrets.h"

static int open_with(struct secrets *s, const char *credential, struct err *err)
{
	const struct conf *c = s->e->conf;
	const struct secret_store_conf sc = conf_for_store(&c->secrets, credential);
	void *self;

	if (s->ops->open(&self, &sc, err) != 0)
		return err_wrap(err, "%s:%d: secrets", c->path, c->secrets.line);
	s->ops->close(s->self);
	s->self = self;
	return 0;
}

int secrets_on(struct secrets *s, struct err *err)
{
	struct engine_deps *d = &s->e->d;
	const char *credential = NULL, *ca = d->store_ca;

	if (d->store_files != NULL &&
	    (d->store_files(d->ctx, s->e->conf, &credential, &ca, err) != 0 ||
	     open_with(s, credential, err) != 0))
		return -1;
	d->store_ca = ca;
	s->off = false;
	return 0;
}

/* Open the driver of the configured store; nothing is sent before its first turn.  -1: the section
 * is wrong.  A file that cannot be read only turns the store off until it can. */
static int secrets_open(struct engine *e, struct err *err)
{
	const struct conf_secrets *c = &e->conf->secrets;
	struct secrets *s;
	struct err off;

	if (c->driver == NULL || c->driver[0] == '\0')
		return 0;
	s = mem_zalloc(sizeof(*s));
	*s = (struct secrets){.e = e, .dice = 0x9e3779b97f4a7c15u ^ (uint64_t)engine_now(e)};
	s->asks_last = &s->asks;
	s->renew_ms = INT64_MAX;
	s->dice = fnv_text(s->dice, e->d.uuid != NULL ? e->d.uuid : "") | 1;
	e->keys->secrets = s;
	s->ops = e->d.store != NULL ? e->d.store(c->driver) : NULL;
	if (s->ops == NULL)
		return err_set(err, ERR_INVALID, "%s:%d: secrets: no driver \"%s\"", e->conf->path,
			       conf_secrets_line(e->conf, "driver"), c->driver);
	if (open_with(s, NULL, err) != 0)
		return -1;
	s->flags = s->ops->flags(s->self);
	while (s->ops->address(s->self, s->naddresses) != NULL)
		s->naddresses++;
	if (secrets_may_replace(e, e->conf, err) != 0)
		return -1;
	s->off = secrets_on(s, &off) != 0;
	if (s->off)
		s->phase = SECRETS_REFUSED; /* logged in the first turn, which tries again */
	if ((s->flags & SECRET_INSECURE) != 0)
		log_write(e->d.log, LOG_WARN,
			  "the cluster's keys are in a plain file: for development only", "driver",
			  c->driver, NULL);
	return 0;
}

void secrets_free(struct engine *e)
{
	struct secrets *s = e->keys->secrets;

	if (s == NULL)
		return;
	secrets_wire_free(s);
	enroll_free(s);
	while (s->asks != NULL) {
		struct secrets_ask *ask = s->asks;

		s->asks = ask->next;
		free(ask);
	}
	if (s->ops != NULL)
		s->ops->close(s->self);
	free(s);
	e->keys->secrets = NULL;
}

const struct engine_part secrets_part = {
	.name = "secrets",
	.at = {[PART_RELOAD] = secrets_hurry},
	.open = secrets_open,
	.may_reload = secrets_may_replace,
};
