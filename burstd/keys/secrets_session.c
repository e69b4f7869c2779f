#include "keys/secrets_private.h"

#include <stdio.h>

/* Keeps one session with the store, at one address: logs in, renews the session and polls the
 * current version; after a failure it tries another address, or pauses. */

/* --- address and session -----------------------------------------------------------------------
 */

static void go(struct secrets *s, enum secrets_phase phase, int64_t in_ms)
{
	s->phase = phase;
	s->next_ms = engine_now(s->e) + in_ms;
}

static bool has_session(const struct secrets *s)
{
	return secrets_until(s) > engine_now(s->e);
}

static void drop_session(struct secrets *s)
{
	(void)secrets_take(s, NULL, NULL);
}

/* No session is used before its rights are known. */
static enum secrets_phase next_phase(const struct secrets *s)
{
	if (!has_session(s))
		return SECRETS_LOGIN;
	return s->judged || (s->flags & SECRET_RENEWS) == 0 ? SECRETS_READY : SECRETS_RIGHTS;
}

/* Try the next address: at once, until all have failed; then later each time. */
static void next_address(struct secrets *s, const struct secret_result *r)
{
	bool away = r->code == SECRET_AWAY || r->code == SECRET_ELSEWHERE;
	uint32_t n = s->naddresses > 0 ? s->naddresses : 1;

	s->at = (s->at + 1) % n;
	s->turned = false;
	if (++s->round < n) {
		go(s, SECRETS_PROBE, 0);
		return;
	}
	s->round = 0;
	s->failures++;
	go(s, SECRETS_PROBE,
	   secrets_backoff(s, away ? SECRETS_AWAY_MS : SECRETS_BASE_MS,
			   away ? SECRETS_AWAY_CAP_MS : SECRETS_CAP_MS, s->failures));
}

/* Follow a redirect, only to a configured address, and only once: otherwise a false server could
 * get the session. */
static void follow(struct secrets *s, const struct secret_result *r)
{
	int to = r->location[0] != '\0' ? secret_address_of(s->ops, s->self, r->location) : -1;

	if (to >= 0 && !s->turned) {
		s->turned = true;
		s->at = (uint32_t)to;
		go(s, s->phase, 0);
		return;
	}
	if (to < 0 && r->location[0] != '\0') {
		(void)snprintf(
			s->error, sizeof(s->error),
			"%s redirects to an address that is not in the configuration: refused",
			secrets_present_address(s));
		engine_event(s->e, "", 0, "secrets-redirect", s->error);
	}
	next_address(s, r);
}

static void refused(struct secrets *s, const char *words)
{
	go(s, SECRETS_REFUSED, SECRETS_REFUSED_MS);
	s->judged = false;
	secrets_refuse_all(s, words);
	if (!s->alarmed)
		engine_event(s->e, "", 0, "secrets-alarm", words);
	s->alarmed = true;
}

/* The session may have been revoked: log in once; if that does not help, pause for minutes, since
 * the store counts failed logins and locks burstd out. */
static void doubt(struct secrets *s, bool own, const struct secret_result *r)
{
	int64_t now = engine_now(s->e);
	bool lately = s->doubt_ms != 0 && now - s->doubt_ms < SECRETS_REFUSED_MS;

	if (s->phase != SECRETS_READY || (own && lately) || secrets_until(s) == INT64_MAX) {
		refused(s, r->message);
		return;
	}
	if (lately)
		return; /* a right is missing: that request fails */
	s->doubt_ms = now;
	drop_session(s);
	go(s, SECRETS_LOGIN, 0);
}

/* Refuse a session with too few or too many rights.  Its policy may be changed: a harmless session
 * is kept, and asked for its rights again in five minutes. */
static void refuse_rights(struct secrets *s, const char *words, bool drop)
{
	struct secret_result r = {.code = SECRET_DENIED};

	(void)snprintf(r.message, sizeof(r.message), "%s", words);
	secrets_complain(s, SECRET_RIGHTS, &r);
	if (drop)
		drop_session(s);
	refused(s, words);
}

static void judge_rights(struct secrets *s, const struct secret_result *r)
{
	const char *words = secrets_wrong_rights(s, r->rights);

	s->rights = r->rights;
	s->judged = words == NULL;
	if (s->judged)
		go(s, SECRETS_READY, 0);
	else
		refuse_rights(s, words, (r->rights & SECRET_MAY_ALL) != 0);
}

/* The question for rights was denied: for a new session the policy forbids it; an older one may
 * have been revoked. */
static void rights_denied(struct secrets *s, const struct secret_result *r)
{
	char words[sizeof(r->message)];

	if (engine_now(s->e) - s->login_ms >= SECRETS_REFUSED_MS) {
		drop_session(s);
		go(s, SECRETS_LOGIN, 0);
		return;
	}
	(void)snprintf(
		words, sizeof(words),
		"its policy does not let it read its own rights (sys/capabilities-self): %.80s",
		r->message);
	refuse_rights(s, words, true);
}

void secrets_trouble(struct secrets *s, enum secret_op_kind kind, const struct secret_result *r)
{
	bool own = kind != SECRET_WRAP && kind != SECRET_READ && kind != SECRET_LOOK;

	secrets_complain(s, kind, r);
	switch (r->code) {
	case SECRET_ELSEWHERE:
		follow(s, r);
		break;
	case SECRET_AWAY:
	case SECRET_TRANSIENT:
		next_address(s, r);
		break;
	case SECRET_BEHIND:
		if (++s->failures > SECRETS_BEHIND_MAX)
			next_address(s, r);
		else
			go(s, s->phase, secrets_behind_ms(s));
		break;
	case SECRET_RATE:
		s->failures++;
		go(s, s->phase,
		   r->retry_after_ms > 0
			   ? r->retry_after_ms
			   : secrets_backoff(s, SECRETS_BASE_MS, SECRETS_CAP_MS, s->failures));
		break;
	case SECRET_DENIED:
		if (kind == SECRET_RIGHTS)
			rights_denied(s, r);
		else
			doubt(s, own, r);
		break;
	default: /* an admin must act, or the server is no Vault */
		go(s, s->phase == SECRETS_READY ? SECRETS_READY : SECRETS_PROBE, SECRETS_WRONG_MS);
		secrets_refuse_all(s, r->message);
		break;
	}
}

/* Renew the session at two thirds of its life, with jitter. */
static void set_renewal(struct secrets *s, const struct secret_result *r)
{
	int64_t now = engine_now(s->e), until = secrets_until(s);
	int64_t left = until - now;

	s->renewable = r->renewable && (s->flags & SECRET_RENEWS) != 0;
	s->renew_ms = INT64_MAX;
	if (until == INT64_MAX)
		return;
	/* The renewal is limited by the session's maximum life: log in anew next time. */
	if (r->value == NULL && r->lease_ms < s->lease_ms / 2)
		s->renewable = false;
	if (r->value != NULL)
		s->lease_ms = r->lease_ms;
	s->renew_ms = now + left / 3 * 2 - (int64_t)secrets_dice(s, (uint64_t)(left / 10 + 1));
	if (s->renew_ms < now + SECRETS_BASE_MS)
		s->renew_ms = now + SECRETS_BASE_MS;
	if (r->value != NULL && !r->renewable && (s->flags & SECRET_RENEWS) != 0)
		log_write(s->e->d.log, LOG_WARN,
			  "the session with the secret store cannot be renewed", "hint",
			  "give its AppRole a token_period", NULL);
}

static void logged_in(struct secrets *s, const struct secret_result *r)
{
	struct secret_result wrong = {.code = SECRET_INVALID};
	struct err err = {0};
	int rc = secrets_take(s, r, &err);

	if (rc > 0) {
		go(s, SECRETS_LOGIN, 0); /* the next step of the login */
		return;
	}
	if (rc == 0 && !has_session(s))
		rc = err_set(&err, ERR_INVALID, "the session has ended already");
	if (rc < 0) {
		drop_session(s);
		(void)snprintf(wrong.message, sizeof(wrong.message), "%.150s", err.msg);
		secrets_trouble(s, SECRET_LOGIN, &wrong);
		return;
	}
	s->logins++;
	s->login_ms = engine_now(s->e);
	s->judged = false;
	s->rights = 0;
	set_renewal(s, r);
	go(s, next_phase(s), 0);
}

static void take_version(struct secrets *s, const char *version)
{
	char text[2 * SECRET_VERSION_MAX + 8];

	s->seen_ms = engine_now(s->e);
	s->version_next = s->seen_ms + s->e->conf->secrets.poll_ms;
	s->next_ms = engine_now(s->e); /* run_ready() decides what comes next */
	if (strcmp(s->version, version) == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s%s%s", s->version,
		       s->version[0] != '\0' ? " -> " : "", version);
	engine_event(s->e, "", 0, "secrets-version", text);
	(void)snprintf(s->version, sizeof(s->version), "%s", version);
	s->version_ms = engine_now(s->e);
}

static void on_own(struct secrets *s, void *ctx, const struct secret_op *op,
		   const struct secret_result *r)
{
	(void)ctx;
	s->busy = false;
	if (r->code != SECRET_OK) {
		/* A session that cannot be renewed is used until it ends; then burstd logs in anew.
		 */
		if (op->kind == SECRET_RENEW && r->code != SECRET_DENIED)
			s->renew_ms = engine_now(s->e) + SECRETS_CAP_MS;
		secrets_trouble(s, op->kind, r);
		return;
	}
	switch (op->kind) {
	case SECRET_HEALTH:
		if (s->trouble_ms != 0)
			s->version_next = engine_now(
				s->e); /* ask for the version, to see whether the store answers */
		go(s, next_phase(s), 0);
		break;
	case SECRET_LOGIN:
		logged_in(s, r);
		break;
	case SECRET_RENEW:
		(void)secrets_take(s, r, NULL);
		set_renewal(s, r);
		break;
	case SECRET_RIGHTS:
		judge_rights(s, r);
		break;
	case SECRET_VERSION:
		secrets_all_is_well(s);
		take_version(s, r->version);
		break;
	default:
		break;
	}
}

static void send_own(struct secrets *s, enum secret_op_kind kind)
{
	const struct secret_op op = {.kind = kind, .version = ""};

	s->busy = true;
	secrets_send(s, &op, on_own, NULL);
}

static void run_ready(struct secrets *s)
{
	int64_t now = engine_now(s->e);

	if (!has_session(s))
		go(s, SECRETS_LOGIN, 0);
	else if (now >= s->renew_ms && s->renewable)
		send_own(s, SECRET_RENEW);
	else if (now >= s->renew_ms)
		send_own(s, SECRET_LOGIN); /* the old session is valid meanwhile */
	else if (now >= s->version_next)
		send_own(s, SECRET_VERSION);
	else
		s->next_ms = s->renew_ms < s->version_next ? s->renew_ms : s->version_next;
}

/* Try to open a store that is off: a missing file may appear with a mount, or by an admin. */
static bool comes_on(struct secrets *s)
{
	struct err err;

	if (secrets_on(s, &err) == 0) {
		log_write(s->e->d.log, LOG_INFO, "the secret store is on again", "address",
			  secrets_present_address(s), NULL);
		return true;
	}
	secrets_failed(s, SECRET_DENIED, err.msg);
	refused(s, err.msg);
	s->next_ms = engine_now(s->e) + SECRETS_WRONG_MS;
	return false;
}

void secrets_run_own(struct secrets *s)
{
	if (s->busy || engine_now(s->e) < s->next_ms || (s->off && !comes_on(s)))
		return;
	if (s->phase == SECRETS_REFUSED)
		s->phase = SECRETS_PROBE;
	if (s->phase == SECRETS_PROBE && (s->flags & SECRET_PROBES) == 0)
		s->phase = next_phase(s);
	if (s->phase == SECRETS_PROBE)
		send_own(s, SECRET_HEALTH);
	else if (s->phase == SECRETS_LOGIN)
		send_own(s, SECRET_LOGIN);
	else if (s->phase == SECRETS_RIGHTS)
		send_own(s, SECRET_RIGHTS);
	else
		run_ready(s);
}

/* --- for the rest of the engine ----------------------------------------------------------------
 */

void secrets_poll(struct engine *e)
{
	struct secrets *s = e->keys->secrets;

	s->version_next = engine_now(e);
	if (s->phase == SECRETS_READY)
		s->next_ms = s->version_next;
}

void secrets_again(struct secrets *s)
{
	drop_session(s);
	s->doubt_ms = 0;
	s->failures = 0;
	go(s, s->off ? SECRETS_REFUSED : SECRETS_PROBE, 0);
}
