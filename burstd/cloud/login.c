#include "cloud/cloud.h"

int64_t login_next_ms(const struct cloud *c)
{
	int64_t until, at;

	if (c->ops->good_until == NULL || c->login_busy)
		return INT64_MAX;
	until = session_until(c);
	if (until == INT64_MAX)
		return INT64_MAX;
	at = c->login_doubted ? 0 : until - ENGINE_LOGIN_MS;
	return at > c->login_next ? at : c->login_next;
}

/* Begin again with the first step, later each time (I30).  A provider that refuses every login
 * counts as away: without a session nothing else can be asked (F26). */
static void start_over(struct cloud *c)
{
	const struct provider_result no = {.code = PROVIDER_DENIED};

	if (!session_good(c))
		away_heard(c, PROVIDER_LOGIN, &no);
	(void)c->ops->renew(c->self, NULL, NULL);
	c->login_steps = 0;
	c->login_step = engine_longer(c->login_step);
	c->login_next = engine_now(c->e) + c->login_step;
}

static void on_login(struct cloud *c, void *ctx, const struct provider_result *r)
{
	struct err err = {0};
	int rc;

	(void)ctx;
	c->login_busy = false;
	if (r->code != PROVIDER_OK || r->session == NULL) {
		cloud_complain(c, PROVIDER_LOGIN, provider_code_str(r->code),
			       r->message[0] != '\0' ? r->message : "no session");
		start_over(c);
		return;
	}
	rc = c->ops->renew(c->self, r->session, &err);
	if (rc > 0 && ++c->login_steps < ENGINE_LOGIN_STEPS)
		return; /* the next step follows in this turn */
	if (rc == 0 && !session_good(c))
		(void)err_set(&err, ERR_INVALID, "the session has ended already");
	else if (rc > 0)
		(void)err_set(&err, ERR_LIMIT, "too many steps");
	if (err.code != 0) {
		cloud_complain(c, PROVIDER_LOGIN, "denied", err.msg);
		start_over(c);
		return;
	}
	c->login_steps = 0;
	c->login_step = 0;
	c->login_doubted = false;
	c->login_ms = engine_now(c->e);
	/* A session that ends soon: do not renew it at once. */
	c->login_next = engine_now(c->e) + ENGINE_RETRY_MAX_MS;
}

void login_run(struct cloud *c)
{
	struct provider_op op = {.kind = PROVIDER_LOGIN};

	if (login_next_ms(c) > engine_now(c->e) || !cloud_ready(c, PROVIDER_LOGIN))
		return;
	c->login_busy = true;
	cloud_send(c, &op, on_login, NULL);
}
