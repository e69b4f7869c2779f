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

/* Is its first renewal since it was doubted still to come?  One that fails ends the wait: perhaps
 * only a right is missing, and the session that there is will do. */
static bool is_awaited(const struct cloud *c)
{
	return c->login_doubted && c->login_step == 0;
}

bool session_serves(const struct cloud *c, enum provider_op_kind kind)
{
	const bool makes =
		kind == PROVIDER_CREATE || kind == PROVIDER_FABRIC_MAKE || kind == PROVIDER_STEP;

	return kind == PROVIDER_LOGIN || (session_good(c) && !(makes && is_awaited(c)));
}

/* A missing right is denied as well, and then a new session does not help: log in again every five
 * minutes at most (I30). */
bool session_doubt(struct cloud *c, int64_t sent_ms)
{
	int64_t now = engine_now(c->e);

	if (c->ops->good_until == NULL || session_until(c) == INT64_MAX)
		return false;
	if (is_awaited(c) || sent_ms < c->login_ms)
		return true;
	if (c->login_doubted_ms != 0 && now - c->login_doubted_ms < ENGINE_LOGIN_MS)
		return false;
	c->login_doubted = true;
	c->login_doubted_ms = now;
	return true;
}
