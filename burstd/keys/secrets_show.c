#include "keys/secrets.h"

bool secrets_ready(const struct engine *e)
{
	const struct secrets *s = e->keys->secrets;

	return s != NULL && s->phase == SECRETS_READY && s->version[0] != '\0' &&
	       secrets_until(s) > engine_now(e);
}

const char *secrets_version(const struct engine *e)
{
	return e->keys->secrets != NULL ? e->keys->secrets->version : "";
}

void engine_secrets(const struct engine *e, struct engine_secrets *out)
{
	static const char *const phases[SECRETS_NPHASES] = {[SECRETS_PROBE] = "probe",
							    [SECRETS_LOGIN] = "login",
							    [SECRETS_RIGHTS] = "rights",
							    [SECRETS_READY] = "ready",
							    [SECRETS_REFUSED] = "refused"};
	const struct secrets *s = e->keys->secrets;
	const char *address;

	*out = (struct engine_secrets){.driver = "", .phase = "", .version = "", .enrolled = ""};
	if (s == NULL)
		return;
	address = s->ops->address(s->self, s->at);
	*out = (struct engine_secrets){
		.driver = s->ops->name,
		.source = {address != NULL ? address : s->ops->name, s->ok_ms, s->failed_ms,
			   s->error},
		.phase = phases[s->phase],
		.ready = secrets_ready(e),
		.insecure = (s->flags & SECRET_INSECURE) != 0,
		.version = s->version,
		.version_ms = s->version_ms,
		.until_ms = secrets_until(s),
		.trouble_ms = s->trouble_ms,
		.waiting = s->nasks,
		.released = {s->released[0], s->released[1], s->released[2]},
		.failed = s->failed,
		.requests = s->requests,
		.logins = s->logins,
		.enrolment = s->enrolment,
		.enrolled = s->enrolled,
	};
}
