#include "cloud/cloud.h"
#include "engine/times.h"

/* Tells whether the session at a provider is still valid.  login.c gets a new one. */

int64_t session_until(const struct cloud *c)
{
	return times_from(c, c->ops->good_until(c->self));
}

bool session_good(const struct cloud *c)
{
	return c->ops->good_until == NULL || session_until(c) > engine_now(c->e);
}

/* A missing right is denied as well, and then a new session does not help: log in again every five
 * minutes at most (I30). */
void session_doubt(struct cloud *c)
{
	int64_t now = engine_now(c->e);

	if (c->ops->good_until == NULL ||
	    (c->login_doubted_ms != 0 && now - c->login_doubted_ms < ENGINE_LOGIN_MS))
		return;
	c->login_doubted = true;
	c->login_doubted_ms = now;
}
