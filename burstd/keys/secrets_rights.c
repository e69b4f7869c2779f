#include "keys/secrets.h"

const char *secrets_wrong_rights(const struct secrets *s, unsigned rights)
{
	bool tokens = s->e->conf->secrets.release == CONF_USER_DATA;

	if ((rights & SECRET_MAY_ALL) != 0)
		return "its session may do anything (root or sudo): refused";
	if ((rights & SECRET_MAY_READ) == 0)
		return "its policy has no right to read the bundle";
	if ((rights & SECRET_MAY_POLL) == 0)
		return "its policy has no right to read the bundle's metadata";
	if (tokens && (rights & SECRET_MAY_LOOK) == 0)
		return "its policy has no right to look whether a token was used "
		       "(auth/token/lookup-accessor)";
	if (tokens && (rights & SECRET_MAY_REVOKE) == 0)
		return "its policy has no right to revoke a token that nobody used "
		       "(auth/token/revoke-accessor)";
	return NULL;
}

static void on_revoked(struct secrets *s, void *ctx, const struct secret_op *op,
		       const struct secret_result *r)
{
	(void)ctx;
	s->revoking--;
	if (r->code == SECRET_SPENT)
		log_write(s->e->d.log, LOG_INFO,
			  "a wrapping token was gone when it was to be revoked: used, or its time "
			  "was over",
			  "accessor", op->token, NULL);
	else if (r->code != SECRET_OK)
		log_write(s->e->d.log, LOG_INFO,
			  "a wrapping token was not revoked: it ends by itself", "accessor",
			  op->token, "error", r->message, NULL);
}

bool secrets_revoke(struct engine *e, const char *accessor)
{
	struct secrets *s = e->keys->secrets;
	const struct secret_op op = {.kind = SECRET_REVOKE, .version = "", .token = accessor};

	/* While no address answers the request would be lost: the caller tries again. */
	if (s == NULL || s->phase == SECRETS_PROBE || (s->rights & SECRET_MAY_REVOKE) == 0 ||
	    secrets_until(s) <= engine_now(e) || s->revoking >= SECRETS_REVOKES_MAX)
		return false;
	s->revoking++;
	secrets_send(s, &op, on_revoked, NULL);
	return true;
}
