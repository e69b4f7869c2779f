#include "keys/secrets.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static void on_own(struct secrets *s, void *ctx, const struct secret_op *op,
		   const struct secret_result *r);

/* --- dice, and how long to wait ----------------------------------------------------------------
 */

/* Only so that many of us do not come at once: nothing secret hangs on it. */
static uint64_t dice(struct secrets *s, uint64_t sides)
{
	s->dice ^= s->dice << 13;
	s->dice ^= s->dice >> 7;
	s->dice ^= s->dice << 17;
	return sides > 0 ? s->dice % sides : 0;
}

/* Full jitter: anything up to what the doubling has come to. */
static int64_t backoff(struct secrets *s, int64_t base, int64_t cap, unsigned failures)
{
	int64_t most = base;

	while (failures-- > 1 && most < cap)
		most *= 2;
	most = most < cap ? most : cap;
	return (int64_t)dice(s, (uint64_t)most) + 1;
}

/* A replica catches up within a second, or not soon. */
static int64_t behind(struct secrets *s)
{
	return SECRETS_AGAIN_MS + backoff(s, SECRETS_BEHIND_MS, SECRETS_BEHIND_MS, 1);
}

/* --- what people are told ----------------------------------------------------------------------
 */

static const char *address_of(const struct secrets *s)
{
	const char *address = s->ops->address(s->self, s->at);

	return address != NULL ? address : s->ops->name;
}

static void failed(struct secrets *s, enum secret_code code, const char *text)
{
	s->failed_ms = engine_now(s->e);
	if (s->trouble_ms == 0)
		s->trouble_ms = s->failed_ms;
	if (strcmp(s->error, text) != 0)
		log_write(s->e->d.log, s->off ? LOG_ERROR : LOG_WARN,
			  s->off ? "the secret store is off" : "the secret store failed", "address",
			  address_of(s), "code", secret_code_str(code), "error", text, NULL);
	(void)snprintf(s->error, sizeof(s->error), "%s", text);
}

static void complain(struct secrets *s, enum secret_op_kind kind, const struct secret_result *r)
{
	char full[sizeof(s->error)];

	(void)snprintf(full, sizeof(full), "%s: %s", secret_op_str(kind), r->message);
	failed(s, r->code, full);
}

static void all_is_well(struct secrets *s)
{
	s->ok_ms = engine_now(s->e);
	s->failures = 0;
	s->round = 0;
	s->turned = false;
	s->error[0] = '\0';
	if (s->alarmed)
		engine_event(s->e, "", 0, "secrets", "the secret store answers again");
	s->alarmed = false;
	s->trouble_ms = 0;
}

/* Once, when it lasts: an hour of it is one event. */
static void alarm_when_long(struct secrets *s)
{
	if (s->trouble_ms == 0 || s->alarmed || engine_now(s->e) - s->trouble_ms < SECRETS_ALARM_MS)
		return;
	s->alarmed = true;
	engine_event(s->e, "", 0, "secrets-alarm", s->error);
}

/* --- those who wait ----------------------------------------------------------------------------
 */

static void end_ask(struct secrets *s, struct secrets_ask *ask, const struct secrets_released *r,
		    const struct err *err)
{
	struct secrets_ask **at = &s->asks;
	secrets_fn fn = ask->fn;

	while (*at != ask)
		at = &(*at)->next;
	*at = ask->next;
	if (s->asks_last == &ask->next)
		s->asks_last = at;
	s->nasks--;
	s->failed += r == NULL && fn != NULL;
	if (r != NULL && fn != NULL)
		s->released[r->mode]++;
	if (fn != NULL)
		fn(ask->ctx, r, err);
	free(ask);
}

static void refuse_ask(struct secrets *s, struct secrets_ask *ask, enum err_code code,
		       const char *words)
{
	struct err err;

	(void)err_set(&err, code, "the secret store: %.180s", words);
	end_ask(s, ask, NULL, &err);
}

/* Nobody can help them now but an admin. */
static void refuse_all(struct secrets *s, const char *words)
{
	struct secrets_ask *ask = s->asks;

	while (ask != NULL) {
		struct secrets_ask *next = ask->next;

		if (!ask->flying)
			refuse_ask(s, ask, ERR_AUTH, words);
		ask = next;
	}
}

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

/* No session is used before it is known what it may do, whatever came of asking for that. */
static enum secrets_phase next_phase(const struct secrets *s)
{
	if (!has_session(s))
		return SECRETS_LOGIN;
	return s->judged || (s->flags & SECRET_RENEWS) == 0 ? SECRETS_READY : SECRETS_RIGHTS;
}

/* At once while there is one that has not failed; then later each time. */
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
	   backoff(s, away ? SECRETS_AWAY_MS : SECRETS_BASE_MS,
		   away ? SECRETS_AWAY_CAP_MS : SECRETS_CAP_MS, s->failures));
}

/* A server names another one.  Only one of ours, and only once: else anybody who can answer for it
 * would get our session. */
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
		(void)snprintf(s->error, sizeof(s->error),
			       "%s names another address, which is not in the configuration: "
			       "refused",
			       address_of(s));
		engine_event(s->e, "", 0, "secrets-redirect", s->error);
	}
	next_address(s, r);
}

static void refused(struct secrets *s, const char *words)
{
	go(s, SECRETS_REFUSED, SECRETS_REFUSED_MS);
	s->judged = false;
	refuse_all(s, words);
	if (!s->alarmed)
		engine_event(s->e, "", 0, "secrets-alarm", words);
	s->alarmed = true;
}

/* A session may have been revoked: one login, and when that does not help, no more for minutes,
 * for logins that fail are counted and lock us out. */
static void doubt(struct secrets *s, bool own, const struct secret_result *r)
{
	int64_t now = engine_now(s->e);
	bool lately = s->doubt_ms != 0 && now - s->doubt_ms < SECRETS_REFUSED_MS;

	if (s->phase != SECRETS_READY || (own && lately) || secrets_until(s) == INT64_MAX) {
		refused(s, r->message);
		return;
	}
	if (lately)
		return; /* a right is missing: the one who asked is told so */
	s->doubt_ms = now;
	drop_session(s);
	go(s, SECRETS_LOGIN, 0);
}

/* There is no use in a session with too much or too little; but its policy may be mended, and one
 * that may do no harm is asked again in five minutes what it may. */
static void refuse_rights(struct secrets *s, const char *words, bool drop)
{
	struct secret_result r = {.code = SECRET_DENIED};

	(void)snprintf(r.message, sizeof(r.message), "%s", words);
	complain(s, SECRET_RIGHTS, &r);
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

/* Of a new session it is the policy; an older one may have been revoked. */
static void rights_denied(struct secrets *s, const struct secret_result *r)
{
	char words[sizeof(r->message)];

	if (engine_now(s->e) - s->login_ms >= SECRETS_REFUSED_MS) {
		drop_session(s);
		go(s, SECRETS_LOGIN, 0);
		return;
	}
	(void)snprintf(words, sizeof(words),
		       "its policy does not let it ask what it may (sys/capabilities-self): %.80s",
		       r->message);
	refuse_rights(s, words, true);
}

/* The request of the session itself failed, or an ask for a reason that is not its own. */
static void trouble(struct secrets *s, enum secret_op_kind kind, const struct secret_result *r)
{
	bool own = kind != SECRET_WRAP && kind != SECRET_READ && kind != SECRET_LOOK;

	complain(s, kind, r);
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
			go(s, s->phase, behind(s));
		break;
	case SECRET_RATE:
		s->failures++;
		go(s, s->phase,
		   r->retry_after_ms > 0
			   ? r->retry_after_ms
			   : backoff(s, SECRETS_BASE_MS, SECRETS_CAP_MS, s->failures));
		break;
	case SECRET_DENIED:
		if (kind == SECRET_RIGHTS)
			rights_denied(s, r);
		else
			doubt(s, own, r);
		break;
	default: /* an admin must do something, or somebody speaks no Vault */
		go(s, s->phase == SECRETS_READY ? SECRETS_READY : SECRETS_PROBE, SECRETS_WRONG_MS);
		refuse_all(s, r->message);
		break;
	}
}

/* At two thirds of its life, and not when all others do. */
static void set_renewal(struct secrets *s, const struct secret_result *r)
{
	int64_t now = engine_now(s->e), until = secrets_until(s);
	int64_t left = until - now;

	s->renewable = r->renewable && (s->flags & SECRET_RENEWS) != 0;
	s->renew_ms = INT64_MAX;
	if (until == INT64_MAX)
		return;
	/* It nears an end that cannot be put off: a new one, next time. */
	if (r->value == NULL && r->lease_ms < s->lease_ms / 2)
		s->renewable = false;
	if (r->value != NULL)
		s->lease_ms = r->lease_ms;
	s->renew_ms = now + left / 3 * 2 - (int64_t)dice(s, (uint64_t)(left / 10 + 1));
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
		go(s, SECRETS_LOGIN, 0); /* the next step */
		return;
	}
	if (rc == 0 && !has_session(s))
		rc = err_set(&err, ERR_INVALID, "the session has ended already");
	if (rc < 0) {
		drop_session(s);
		(void)snprintf(wrong.message, sizeof(wrong.message), "%.150s", err.msg);
		trouble(s, SECRET_LOGIN, &wrong);
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
	s->next_ms = engine_now(s->e); /* whatever comes next: run_ready() */
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
		/* A session that cannot be renewed is good until it ends; then there is a new one.
		 */
		if (op->kind == SECRET_RENEW && r->code != SECRET_DENIED)
			s->renew_ms = engine_now(s->e) + SECRETS_CAP_MS;
		trouble(s, op->kind, r);
		return;
	}
	switch (op->kind) {
	case SECRET_HEALTH:
		if (s->trouble_ms != 0)
			s->version_next = engine_now(s->e); /* does the rest answer, too? */
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
		all_is_well(s);
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
		send_own(s, SECRET_LOGIN); /* the old one is good meanwhile */
	else if (now >= s->version_next)
		send_own(s, SECRET_VERSION);
	else
		s->next_ms = s->renew_ms < s->version_next ? s->renew_ms : s->version_next;
}

/* A file that is not there comes with the next mount, or with an admin who is told. */
static bool comes_on(struct secrets *s)
{
	struct err err;

	if (secrets_on(s, &err) == 0) {
		log_write(s->e->d.log, LOG_INFO, "the secret store is on again", "address",
			  address_of(s), NULL);
		return true;
	}
	failed(s, SECRET_DENIED, err.msg);
	refused(s, err.msg);
	s->next_ms = engine_now(s->e) + SECRETS_WRONG_MS;
	return false;
}

static void run_own(struct secrets *s)
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

/* --- keys --------------------------------------------------------------------------------------
 */

static struct secrets_ask *ask_of(struct secrets *s, uint64_t handle)
{
	for (struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next)
		if (ask->handle == handle)
			return ask;
	return NULL;
}

/* One ask's request failed: is that its end, or may it be tried again? */
static void retry(struct secrets *s, struct secrets_ask *ask, const struct secret_op *op,
		  const struct secret_result *r)
{
	int64_t now = engine_now(s->e);

	ask->tries++;
	switch (r->code) {
	case SECRET_AWAY: /* however long */
	case SECRET_ELSEWHERE:
		ask->tries--;
		ask->at_ms = now + SECRETS_AGAIN_MS;
		break;
	case SECRET_DENIED: /* by a session that there is no more, perhaps */
		ask->at_ms = now + SECRETS_AGAIN_MS;
		break;
	case SECRET_MISSING: /* a version that was deleted: there is another one, perhaps */
		s->version_next = now;
		s->next_ms = now;
		break;
	case SECRET_BEHIND:
		ask->tries =
			++ask->behind > SECRETS_BEHIND_MAX ? SECRETS_TRIES_MAX : ask->tries - 1;
		ask->at_ms = now + behind(s);
		break;
	case SECRET_RATE:
	case SECRET_TRANSIENT:
		ask->at_ms = now + (r->retry_after_ms > 0 ? r->retry_after_ms
							  : backoff(s, SECRETS_BASE_MS,
								    SECRETS_CAP_MS, ask->tries));
		break;
	default:
		complain(s, op->kind, r);
		refuse_ask(s, ask, ERR_INVALID, r->message);
		return;
	}
	if (ask->tries >= (r->code == SECRET_MISSING || r->code == SECRET_DENIED
				   ? 2u
				   : (unsigned)SECRETS_TRIES_MAX))
		refuse_ask(s, ask, r->code == SECRET_DENIED ? ERR_AUTH : ERR_NET, r->message);
}

/* What is wrong with all of the store and not with this one ask alone, once for all that fail so.
 */
static void spread(struct secrets *s, const struct secret_op *op, const struct secret_result *r)
{
	bool all = r->code == SECRET_AWAY || r->code == SECRET_ELSEWHERE ||
		   r->code == SECRET_TRANSIENT || r->code == SECRET_DENIED;

	if (all && s->phase == SECRETS_READY && op->address == s->at && !s->busy)
		trouble(s, op->kind, r);
	else if (all)
		complain(s, op->kind, r);
}

static void give_wrap(struct secrets *s, struct secrets_ask *ask, const struct secret_op *op,
		      const struct secret_result *r)
{
	const char *addresses[SECRET_ADDRESSES_MAX + 1] = {NULL};
	uint32_t n = 0;
	struct secrets_released out = {.mode = ask->mode,
				       .version = op->version,
				       .token = r->value,
				       .accessor = r->accessor,
				       .path = r->path,
				       .ttl_ms = r->ttl_ms,
				       .sent_ms = op->sent_ms,
				       .addresses = addresses,
				       .ca_file = s->e->conf->secrets.ca_file};

	addresses[n++] = s->ops->address(s->self, op->address);
	for (uint32_t i = 0; i < s->naddresses; i++)
		if (i != op->address)
			addresses[n++] = s->ops->address(s->self, i);
	end_ask(s, ask, &out, NULL);
}

static void on_wrap(struct secrets *s, void *ctx, const struct secret_op *op,
		    const struct secret_result *r)
{
	struct secrets_ask *ask = ctx;

	s->flying--;
	ask->flying = false;
	if (r->code == SECRET_OK && ask->fn == NULL && (s->rights & SECRET_MAY_REVOKE) != 0)
		secrets_revoke(s->e, r->accessor); /* nobody will use it */
	if (r->code == SECRET_OK) {
		all_is_well(s);
		give_wrap(s, ask, op, r);
		return;
	}
	if (ask->fn == NULL)
		end_ask(s, ask, NULL, NULL);
	else
		retry(s, ask, op, r);
	spread(s, op, r);
}

/* One read is for all who wait by then. */
static void on_read(struct secrets *s, void *ctx, const struct secret_op *op,
		    const struct secret_result *r)
{
	struct secret_result bad = {.code = SECRET_INVALID};
	struct secrets_released out = {
		.mode = CONF_BROKER, .version = r->version, .bundle = r->value};
	struct secrets_ask *ask = s->asks;
	struct err err = {0};

	(void)ctx;
	s->flying--;
	if (r->code == SECRET_OK &&
	    secret_bundle_read(secret_text(r->value), secret_len(r->value), NULL, &err) < 0) {
		(void)snprintf(bad.message, sizeof(bad.message), "the bundle: %.140s", err.msg);
		r = &bad;
	}
	if (r->code == SECRET_OK)
		all_is_well(s);
	/* Somebody has written since the last poll: nodes are compared with what is known here, and
	 * would seem to have old keys with newer ones. */
	if (r->code == SECRET_OK && strcmp(r->version, s->version) != 0)
		secrets_poll(s->e);
	while (ask != NULL) {
		struct secrets_ask *next = ask->next;

		if (ask->flying && ask->mode == CONF_BROKER) {
			ask->flying = false;
			if (r->code == SECRET_OK || ask->fn == NULL)
				end_ask(s, ask, r->code == SECRET_OK ? &out : NULL, NULL);
			else
				retry(s, ask, op, r);
		}
		ask = next;
	}
	if (r->code != SECRET_OK)
		spread(s, op, r);
}

/* Nobody waits for these any more. */
static void reap(struct secrets *s)
{
	struct secrets_ask *ask = s->asks;

	while (ask != NULL) {
		struct secrets_ask *next = ask->next;

		if (ask->fn == NULL && !ask->flying)
			end_ask(s, ask, NULL, NULL);
		ask = next;
	}
}

static bool is_reading(const struct secrets *s)
{
	for (const struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next)
		if (ask->flying && ask->mode == CONF_BROKER)
			return true;
	return false;
}

static void send_read(struct secrets *s, int64_t now)
{
	const struct secret_op op = {.kind = SECRET_READ, .version = s->version};
	bool any = false;

	for (struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next)
		if (ask->mode == CONF_BROKER && !ask->flying && ask->at_ms <= now)
			any = ask->flying = true;
	if (!any)
		return;
	s->flying++;
	secrets_send(s, &op, on_read, NULL);
}

static void run_asks(struct secrets *s)
{
	int64_t now = engine_now(s->e);
	struct secret_op op = {.kind = SECRET_WRAP, .version = s->version};

	if (s->phase == SECRETS_REFUSED) {
		refuse_all(s, s->error);
		return;
	}
	reap(s);
	if (s->held || !secrets_ready(s->e) || s->version_next <= now)
		return;
	for (struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next) {
		if (s->flying >= SECRETS_FLYING_MAX)
			return;
		if (ask->mode == CONF_BROKER || ask->flying || ask->at_ms > now)
			continue;
		op.wrap_s =
			(uint32_t)((ask->wrap_ms > 0 ? ask->wrap_ms : s->e->conf->secrets.wrap_ms) /
				   1000);
		ask->flying = true;
		s->flying++;
		secrets_send(s, &op, on_wrap, ask);
	}
	if (!is_reading(s))
		send_read(s, now);
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

static int put_ask(struct engine *e, const struct secrets_ask *like, uint64_t *handle,
		   struct err *err)
{
	struct secrets *s = e->keys->secrets;
	struct secrets_ask *ask;

	if (s == NULL)
		return err_set(err, ERR_INVALID,
			       "there is no section secrets in the configuration");
	if (like->mode != CONF_BROKER && (s->flags & SECRET_WRAPS) == 0)
		return err_set(err, ERR_INVALID, "driver %s wraps nothing: want release = broker",
			       s->ops->name);
	if (s->nasks >= SECRETS_WAITING_MAX)
		return err_set(err, ERR_LIMIT, "%d nodes wait for keys", SECRETS_WAITING_MAX);
	ask = mem_zalloc(sizeof(*ask));
	*ask = *like;
	ask->handle = ++s->last_handle;
	*s->asks_last = ask;
	s->asks_last = &ask->next;
	s->nasks++;
	if (handle != NULL)
		*handle = ask->handle;
	return 0;
}

int secrets_release(struct engine *e, enum conf_release mode, secrets_fn fn, void *ctx,
		    uint64_t *handle, struct err *err)
{
	const struct secrets_ask like = {.mode = mode, .fn = fn, .ctx = ctx};

	return put_ask(e, &like, handle, err);
}

int secrets_wrap(struct engine *e, int64_t life_ms, secrets_fn fn, void *ctx, uint64_t *handle,
		 struct err *err)
{
	const struct secrets_ask like = {
		.mode = CONF_USER_DATA, .wrap_ms = life_ms, .fn = fn, .ctx = ctx};

	return put_ask(e, &like, handle, err);
}

void secrets_cancel(struct engine *e, uint64_t handle)
{
	struct secrets_ask *ask =
		e->keys->secrets != NULL ? ask_of(e->keys->secrets, handle) : NULL;

	/* It goes in the next turn: somebody may be walking along the list now. */
	if (ask != NULL)
		ask->fn = NULL;
}

void secrets_again(struct secrets *s)
{
	drop_session(s);
	s->doubt_ms = 0;
	s->failures = 0;
	go(s, s->off ? SECRETS_REFUSED : SECRETS_PROBE, 0);
}

void secrets_run(struct engine *e)
{
	struct secrets *s = e->keys->secrets;

	if (s == NULL)
		return;
	secrets_wire_run(s);
	run_own(s);
	run_asks(s);
	alarm_when_long(s);
}

int64_t secrets_next_ms(const struct engine *e)
{
	const struct secrets *s = e->keys->secrets;
	int64_t next;

	if (s == NULL)
		return INT64_MAX;
	if (secrets_wire_due(s))
		return engine_now(e);
	next = s->busy ? INT64_MAX : s->next_ms;
	for (const struct secrets_ask *ask = s->asks; ask != NULL; ask = ask->next)
		if (!ask->flying && ask->at_ms > engine_now(e) && ask->at_ms < next)
			next = ask->at_ms;
	if (s->trouble_ms != 0 && !s->alarmed && s->trouble_ms + SECRETS_ALARM_MS < next)
		next = s->trouble_ms + SECRETS_ALARM_MS;
	return next;
}
