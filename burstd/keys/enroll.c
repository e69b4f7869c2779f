#include "keys/secrets.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/secret_file.h"
#include "io/loop.h"

/* Takes a wrapping token with a credential from an operator.  The token's creation_path, which
 * cannot be forged, says what is in it.  A token that was used before was read by somebody else:
 * that is an alarm, and not tried again.
 *
 * Unwrapping uses the token up.  After a lost answer burstd looks whether it is used, and unwraps
 * again only if it is not. */

enum { ENROLL_TRIES_MAX = 3 };

struct enroll {
	struct secret *token;
	char by[64];
	unsigned unwraps;
};

void enroll_free(struct secrets *s)
{
	if (s->enroll == NULL)
		return;
	secret_free(s->enroll->token);
	free(s->enroll);
	s->enroll = NULL;
}

static void end(struct secrets *s, const struct err *err)
{
	char text[384];

	(void)snprintf(text, sizeof(text), "by %s: %s", s->enroll->by,
		       err != NULL ? err->msg : "a new credential is in use");
	engine_event(s->e, "", 0, "secrets-enrolled", text);
	s->enrolment = err != NULL ? ENGINE_ENROL_FAILED : ENGINE_ENROL_DONE;
	(void)snprintf(s->enrolled, sizeof(s->enrolled), "%s", err != NULL ? err->msg : "");
	enroll_free(s);
}

static void fail(struct secrets *s, enum err_code code, const char *words)
{
	struct err err;

	(void)err_set(&err, code, "%s", words);
	end(s, &err);
}

static void spent(struct secrets *s)
{
	engine_event(s->e, "", 0, "secrets-alarm",
		     s->enroll->unwraps == 0
			     ? "a wrapped credential was used before it came here, or has ended"
			     : "a wrapped credential was used, and its content did not arrive");
	fail(s, ERR_AUTH,
	     s->enroll->unwraps == 0
		     ? "the token was used before, or has ended: destroy that secret_id, look into "
		       "Vault's audit log, and make another"
		     : "the token was used and its content was lost on the way: destroy that "
		       "secret_id and make another");
}

static void keep(struct secrets *s, const struct secret_result *r)
{
	const char *path = s->e->conf->secrets.credential_file;
	struct err err = {0};

	/* Write the file first, so that a restart has the credential. */
	if (secret_file_write(path, secret_text(r->value), secret_len(r->value), NULL, &err) < 0 ||
	    s->ops->credential(s->self, secret_text(r->value), &err) < 0) {
		(void)err_wrap(&err, "the secret_id was unwrapped and cannot be kept");
		end(s, &err);
		return;
	}
	secrets_again(s);
	end(s, NULL);
}

static void peek(struct secrets *s);

static void on_unwrapped(struct secrets *s, void *ctx, const struct secret_op *op,
			 const struct secret_result *r)
{
	(void)ctx;
	(void)op;
	if (r->code == SECRET_OK)
		keep(s, r);
	else if (r->code == SECRET_SPENT || r->code == SECRET_DENIED)
		spent(s);
	else if (s->enroll->unwraps < ENROLL_TRIES_MAX)
		peek(s); /* is it whole? */
	else
		fail(s, ERR_NET, r->message);
}

static void on_peeked(struct secrets *s, void *ctx, const struct secret_op *op,
		      const struct secret_result *r)
{
	const char *want = s->ops->path(s->self, SECRET_PEEK);
	const struct secret_op unwrap = {
		.kind = SECRET_UNWRAP, .version = "", .token = secret_text(s->enroll->token)};
	char words[SECRET_PATH_MAX + 256];

	(void)ctx;
	(void)op;
	if (r->code == SECRET_SPENT || r->code == SECRET_DENIED) {
		spent(s);
	} else if (r->code != SECRET_OK) {
		fail(s, ERR_NET, r->message);
	} else if (strcmp(r->path, want) != 0) {
		(void)snprintf(words, sizeof(words),
			       "the token is from %.80s and not from %.80s: it is forged, or "
			       "role_name and auth_mount are wrong",
			       r->path, want);
		engine_event(s->e, "", 0, "secrets-alarm", words);
		fail(s, ERR_AUTH, words);
	} else {
		s->enroll->unwraps++;
		secrets_send(s, &unwrap, on_unwrapped, NULL);
	}
}

static void peek(struct secrets *s)
{
	const struct secret_op op = {
		.kind = SECRET_PEEK, .version = "", .token = secret_text(s->enroll->token)};

	secrets_send(s, &op, on_peeked, NULL);
}

int engine_enroll(struct engine *e, const char *token, const char *by, struct err *err)
{
	struct secrets *s = e->keys->secrets;

	if (s == NULL || (s->flags & SECRET_ENROLS) == 0 || s->ops->credential == NULL)
		return err_set(
			err, ERR_INVALID,
			"this needs the driver vault, with role_name in the section secrets");
	if (e->conf->secrets.credential_file == NULL)
		return err_set(err, ERR_INVALID,
			       "want credential_file in the section secrets: the credential is "
			       "kept there");
	if (strncmp(e->conf->secrets.credential_file, "/run/credentials/",
		    strlen("/run/credentials/")) == 0)
		return err_set(err, ERR_INVALID,
			       "credential_file is a credential that systemd loads: burstd cannot "
			       "write it; write the secret_id for LoadCredential= and restart "
			       "burstd");
	if (s->enroll != NULL)
		return err_set(err, ERR_LIMIT, "another enrolment is under way");
	if (token[0] == '\0' || strlen(token) > SECRET_TOKEN_MAX)
		return err_set(err, ERR_INVALID, "not a wrapping token");
	s->enroll = mem_zalloc(sizeof(*s->enroll));
	s->enroll->token = secret_new(token, strlen(token));
	s->enrolment = ENGINE_ENROL_BUSY;
	(void)snprintf(s->enroll->by, sizeof(s->enroll->by), "%.60s", by);
	peek(s);
	timer_at(e->timer, engine_now(e)); /* perhaps there is an answer already */
	return 0;
}
