#include "keys/rotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

/* Reads the bundle and writes the next one, with a credential that an admin gives for one rotation,
 * since burstd's own may not write.  This credential is in no file.
 *
 *   [PEEK - UNWRAP] - [LOGIN] - READ - WRITE [- PROMOTE]      [ ]: where the driver needs it
 *
 * Each write begins with a read: after a restart, or a lost answer, burstd does not know whether it
 * has written (core/rotation.h). */

static void go(struct rotate *rt);

static int64_t soon(const struct rotate *rt)
{
	int64_t pause = ROTATE_AGAIN_MS;

	for (unsigned i = 1; i < rt->store->failures && pause < ROTATE_AGAIN_MAX_MS; i++)
		pause *= 2;
	return engine_now(rt->e) +
	       (pause < ROTATE_AGAIN_MAX_MS ? pause : (int64_t)ROTATE_AGAIN_MAX_MS);
}

static void idle(struct rotate *rt)
{
	rt->store->step = ROTATE_IDLE;
}

static void stuck(struct rotate *rt, const char *what, const char *why)
{
	rt->store->stuck = true;
	idle(rt);
	rotate_complain(rt, what, why);
}

/* A request failed: try another address, or later; or wait for an admin. */
static void failed(struct rotate *rt, enum secret_op_kind kind, const struct secret_result *r)
{
	struct rotate_store *st = rt->store;

	switch (r->code) {
	case SECRET_DENIED:
	case SECRET_INVALID:
	case SECRET_MISSING:
	case SECRET_SPENT:
	case SECRET_NEW:
		(void)secrets_take(&st->s, NULL, NULL);
		stuck(rt, secret_op_str(kind), r->message);
		return;
	case SECRET_AWAY:
	case SECRET_ELSEWHERE:
	case SECRET_TRANSIENT:
		if (st->s.naddresses > 0)
			st->s.at = (st->s.at + 1) % st->s.naddresses;
		break;
	default:
		break;
	}
	st->failures++;
	st->next_ms = soon(rt);
	if (r->retry_after_ms > 0)
		st->next_ms = engine_now(rt->e) + r->retry_after_ms;
	idle(rt);
	if (st->failures >= 3)
		rotate_complain(rt, secret_op_str(kind), r->message);
}

static void send(struct rotate *rt, enum rotate_step step, const struct secret_op *op,
		 secrets_wire_fn fn)
{
	rt->store->step = step;
	secrets_send(&rt->store->s, op, fn, rt);
}

/* --- the bundle --------------------------------------------------------------------------------
 */

/* Is the phase of this write over, by an abort? */
static bool is_late(const struct rotate *rt)
{
	return rt->store->phase != rt->r.phase || rt->store->id != rt->r.id;
}

static void done(struct rotate *rt, const char *version)
{
	rt->store->failures = 0;
	idle(rt);
	if (is_late(rt))
		return;
	rt->error[0] = '\0';
	rotate_event(rt, ROTATION_EV_WROTE, door_key_version(version));
	secrets_poll(rt->e); /* ask for the current version */
}

static void on_promoted(struct secrets *s, void *ctx, const struct secret_op *op,
			const struct secret_result *r)
{
	struct rotate *rt = ctx;

	(void)s;
	if (r->code == SECRET_OK)
		done(rt, rt->store->written);
	else
		failed(rt, op->kind, r);
}

static void on_written(struct secrets *s, void *ctx, const struct secret_op *op,
		       const struct secret_result *r)
{
	struct rotate *rt = ctx;
	struct rotate_store *st = rt->store;
	const struct secret_op promote = {
		.kind = SECRET_PROMOTE, .version = st->read, .token = st->written};

	if (r->code != SECRET_OK) { /* also a conflict: perhaps with burstd's own write */
		failed(rt, op->kind, r);
		return;
	}
	(void)snprintf(st->written, sizeof(st->written), "%s", r->version);
	if ((s->flags & SECRET_TWO_STEPS) != 0)
		send(rt, ROTATE_PROMOTE, &promote, on_promoted);
	else
		done(rt, st->written);
}

static int roll(void *out, size_t n)
{
	return getrandom(out, n, 0) == (ssize_t)n ? 0 : -1;
}

static void begin_write(struct rotate *rt, const struct secret_result *r)
{
	struct rotate_store *st = rt->store;
	unsigned char fresh[ROTATION_FRESH], dice[16];
	char token[2 * sizeof(dice) + 1];
	struct secret_op op = {.kind = SECRET_WRITE, .version = st->read, .token = token};
	struct err err = {0};
	char *text = NULL;
	size_t size = 0;

	if (roll(fresh, sizeof(fresh)) != 0 || roll(dice, sizeof(dice)) != 0)
		(void)err_set(&err, ERR_IO, "cannot get random bytes");
	else
		text = rotation_bundle(&rt->r, secret_text(r->value), secret_len(r->value), fresh,
				       &size, &err);
	explicit_bzero(fresh, sizeof(fresh));
	if (text == NULL) {
		stuck(rt, "bundle", err.msg);
		return;
	}
	(void)fmt_hex(token, dice, sizeof(dice));
	op.bundle = text;
	send(rt, ROTATE_WRITE, &op, on_written);
	explicit_bzero(text, size);
	free(text);
}

static void on_read(struct secrets *s, void *ctx, const struct secret_op *op,
		    const struct secret_result *r)
{
	struct rotate *rt = ctx;
	struct err err = {0};

	(void)s;
	if (r->code != SECRET_OK) {
		failed(rt, op->kind, r);
		return;
	}
	if (is_late(rt)) {
		idle(rt);
		return;
	}
	(void)snprintf(rt->store->read, sizeof(rt->store->read), "%s", r->version);
	switch (rotation_look(&rt->r, door_key_version(r->version), secret_text(r->value),
			      secret_len(r->value), &err)) {
	case ROTATION_FOUND_OURS:
		done(rt, r->version);
		break;
	case ROTATION_FOUND_OLD:
		begin_write(rt, r);
		break;
	case ROTATION_FOUND_OTHER:
		idle(rt);
		rt->store->next_ms = engine_now(rt->e) + ROTATE_AGAIN_MS;
		rotate_event(rt, ROTATION_EV_ALIEN, door_key_version(r->version));
		if (rt->r.alien) /* otherwise the rotation goes on from that */
			rotate_complain(rt, "bundle", err.msg);
		break;
	}
}

static void begin_read(struct rotate *rt)
{
	const struct secret_op op = {.kind = SECRET_READ, .version = ""};

	rt->store->phase = rt->r.phase;
	rt->store->id = rt->r.id;
	send(rt, ROTATE_READ, &op, on_read);
}

/* --- the session -------------------------------------------------------------------------------
 */

static bool has_session(const struct rotate *rt)
{
	const struct secrets *s = &rt->store->s;

	return secrets_until(s) > engine_now(rt->e) + rt->e->conf->secrets.timeout_ms;
}

static void on_login(struct secrets *s, void *ctx, const struct secret_op *op,
		     const struct secret_result *r)
{
	struct rotate *rt = ctx;
	struct err err = {0};
	int rc;

	if (r->code != SECRET_OK) {
		failed(rt, op->kind, r);
		return;
	}
	rc = secrets_take(s, r, &err);
	idle(rt);
	if (rc < 0 || (rc == 0 && !has_session(rt)))
		stuck(rt, "login", rc < 0 ? err.msg : "the session has ended already");
	else
		go(rt); /* the next step */
}

static void on_unwrapped(struct secrets *s, void *ctx, const struct secret_op *op,
			 const struct secret_result *r)
{
	struct rotate *rt = ctx;
	struct rotate_store *st = rt->store;
	struct err err = {0};

	if (r->code == SECRET_OK) {
		secret_free(st->token);
		st->token = NULL;
		idle(rt);
		if (s->ops->credential(s->self, secret_text(r->value), &err) < 0)
			stuck(rt, "credential", err.msg);
		else
			go(rt);
	} else if (r->code == SECRET_SPENT || r->code == SECRET_DENIED ||
		   st->unwraps >= ROTATE_UNWRAPS_MAX) {
		stuck(rt, "credential",
		      "the wrapping token was used, and its content did not arrive: destroy that "
		      "secret_id, and make another");
	} else {
		failed(rt, op->kind, r); /* read the bundle again first */
	}
}

static void on_peeked(struct secrets *s, void *ctx, const struct secret_op *op,
		      const struct secret_result *r)
{
	struct rotate *rt = ctx;
	struct rotate_store *st = rt->store;
	const char *want = s->ops->path(s->self, SECRET_PEEK);
	const struct secret_op unwrap = {
		.kind = SECRET_UNWRAP, .version = "", .token = secret_text(st->token)};

	if (r->code == SECRET_SPENT || r->code == SECRET_DENIED) {
		stuck(rt, "credential",
		      "the wrapping token was used before, or has ended: destroy that secret_id, "
		      "look into Vault's audit log, and make another");
	} else if (r->code != SECRET_OK) {
		failed(rt, op->kind, r);
	} else if (want == NULL || strcmp(r->path, want) != 0) {
		stuck(rt, "credential",
		      "the wrapping token is not of rotate_role_name: it is forged, or the "
		      "configuration is wrong");
	} else {
		st->unwraps++;
		send(rt, ROTATE_UNWRAP, &unwrap, on_unwrapped);
	}
}

static void on_logout(struct secrets *s, void *ctx, const struct secret_op *op,
		      const struct secret_result *r)
{
	struct rotate *rt = ctx;

	(void)s;
	(void)op;
	(void)r; /* the session ends by itself */
	rt->store->step = ROTATE_OVER;
}

static void go(struct rotate *rt)
{
	struct rotate_store *st = rt->store;
	const struct secret_op login = {.kind = SECRET_LOGIN, .version = ""};
	const struct secret_op peek = {.kind = SECRET_PEEK,
				       .version = "",
				       .token = st->token != NULL ? secret_text(st->token) : NULL};

	if (st->token != NULL)
		send(rt, ROTATE_PEEK, &peek, on_peeked);
	else if (!has_session(rt))
		send(rt, ROTATE_LOGIN, &login, on_login);
	else
		begin_read(rt);
}

/* --- beginning and end -------------------------------------------------------------------------
 */

static struct secret_store_conf store_conf(const struct engine *e, const char *credential)
{
	const struct conf_secrets *c = &e->conf->secrets;
	struct secret_store_conf sc = conf_for_store(c, credential);

	if (c->rotate_role_id != NULL && c->rotate_role_id[0] != '\0')
		sc.role_id = c->rotate_role_id;
	if (c->rotate_role_name != NULL && c->rotate_role_name[0] != '\0')
		sc.role_name = c->rotate_role_name;
	return sc;
}

bool rotate_store_alone(const struct engine *e)
{
	return e->keys->secrets != NULL && (e->keys->secrets->flags & SECRET_RENEWS) == 0;
}

/* Check the credential: for Vault it must be wrapped, which proves that nobody on the way has read
 * it. */
static int check(const struct engine *e, const char *credential, struct err *err)
{
	const struct conf_secrets *c = &e->conf->secrets;

	if (rotate_store_alone(e))
		return 0;
	if (c->rotate_role_id == NULL || c->rotate_role_id[0] == '\0' ||
	    c->rotate_role_name == NULL || c->rotate_role_name[0] == '\0')
		return err_set(err, ERR_INVALID,
			       "want rotate_role_id and rotate_role_name in the section secrets: "
			       "an AppRole that may write the bundle");
	if (credential == NULL)
		return err_set(err, ERR_INVALID,
			       "want a wrapping token of the AppRole %.60s: \"--credential -\" "
			       "reads it from standard input",
			       c->rotate_role_name);
	return 0;
}

static int open_store(struct rotate *rt, const char *credential, bool wrapped, struct err *err)
{
	struct engine *e = rt->e;
	const char *file = e->conf->secrets.credential_file;
	struct secret *own = NULL;
	struct secret_store_conf sc;
	int rc;

	if (credential == NULL && file != NULL && file[0] != '\0' &&
	    secret_load(&own, file, err) != 0)
		return -1;
	sc = store_conf(e, wrapped ? NULL : own != NULL ? secret_text(own) : credential);
	rc = rt->store->s.ops->open(&rt->store->s.self, &sc, err);
	secret_free(own);
	return rc;
}

int rotate_store_open(struct rotate *rt, const char *credential, struct err *err)
{
	struct engine *e = rt->e;
	bool wrapped = !rotate_store_alone(e);
	struct rotate_store *st;

	if (check(e, credential, err) != 0)
		return -1;
	rotate_store_free(rt);
	rt->store = st = mem_zalloc(sizeof(*st));
	st->s = (struct secrets){.e = e,
				 .ops = e->keys->secrets->ops,
				 .flags = e->keys->secrets->flags,
				 .naddresses = e->keys->secrets->naddresses,
				 .at = e->keys->secrets->at};
	if (open_store(rt, credential, wrapped, err) != 0) {
		rotate_store_free(rt);
		return -1;
	}
	if (wrapped)
		st->token = secret_new(credential, strlen(credential));
	return 0;
}

static void say_goodbye(struct rotate *rt)
{
	const struct secret_op op = {.kind = SECRET_LOGOUT, .version = ""};
	struct rotate_store *st = rt->store;

	if ((st->s.flags & SECRET_RENEWS) != 0 && has_session(rt))
		send(rt, ROTATE_LOGOUT, &op, on_logout);
	else
		st->step = ROTATE_OVER;
}

void rotate_store_run(struct rotate *rt)
{
	struct rotate_store *st = rt->store;

	if (st == NULL)
		return;
	secrets_wire_run(&st->s);
	if (st->step == ROTATE_IDLE && !rotation_runs(&rt->r))
		say_goodbye(rt);
	else if (st->step == ROTATE_IDLE && !st->stuck && engine_now(rt->e) >= st->next_ms &&
		 rotation_want(&rt->r) == ROTATION_WANT_WRITE && !rt->dirty)
		go(rt);
	if (st->step == ROTATE_OVER)
		rotate_store_free(rt);
}

int64_t rotate_store_next_ms(const struct rotate *rt)
{
	const struct rotate_store *st = rt->store;

	if (st == NULL)
		return INT64_MAX;
	if (secrets_wire_due(&st->s))
		return engine_now(rt->e);
	if (st->step == ROTATE_IDLE && !st->stuck && rotation_want(&rt->r) == ROTATION_WANT_WRITE)
		return st->next_ms;
	return INT64_MAX;
}

void rotate_store_free(struct rotate *rt)
{
	struct rotate_store *st = rt->store;

	if (st == NULL)
		return;
	secrets_wire_free(&st->s);
	st->s.ops->close(st->s.self);
	secret_free(st->token);
	free(st);
	rt->store = NULL;
}
