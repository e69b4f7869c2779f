#include <stdio.h>
#include <stdlib.h>

#include "base/fnv.h"
#include "base/mem.h"
#include "engine/secrets.h"

int secrets_open(struct engine *e, struct err *err)
{
	const struct conf_secrets *c = &e->conf->secrets;
	const struct secret_store_conf sc = conf_for_store(c, e->d.store_credential);
	struct secrets *s;

	if (c->driver == NULL || c->driver[0] == '\0')
		return 0;
	s = mem_zalloc(sizeof(*s));
	*s = (struct secrets){.e = e, .dice = 0x9e3779b97f4a7c15u ^ (uint64_t)engine_now(e)};
	s->asks_last = &s->asks;
	s->renew_ms = INT64_MAX;
	s->dice = fnv_text(s->dice, e->d.uuid != NULL ? e->d.uuid : "") | 1;
	e->secrets = s;
	s->ops = e->d.store != NULL ? e->d.store(c->driver) : NULL;
	if (s->ops == NULL)
		return err_set(err, ERR_INVALID, "%s:%d: secrets: no driver \"%s\"", e->conf->path,
			       conf_secrets_line(e->conf, "driver"), c->driver);
	if (s->ops->open(&s->self, &sc, err) != 0)
		return err_wrap(err, "%s:%d: secrets", e->conf->path, c->line);
	s->flags = s->ops->flags(s->self);
	while (s->ops->address(s->self, s->naddresses) != NULL)
		s->naddresses++;
	if (secrets_may_replace(e, e->conf, err) != 0)
		return -1;
	if ((s->flags & SECRET_INSECURE) != 0)
		log_write(e->d.log, LOG_WARN,
			  "the cluster's keys are in a plain file: this is for development",
			  "driver", c->driver, NULL);
	return 0;
}

void secrets_free(struct engine *e)
{
	struct secrets *s = e->secrets;

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
	e->secrets = NULL;
}
