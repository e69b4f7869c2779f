#include "keys/rotate.h"
#include "store/journal_audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

/* Takes an admin's orders to begin, switch, abort or resume a rotation, and shows its progress. */

static int give(struct rotate *rt, const char *credential, struct err *err)
{
	if (rt->store != NULL && rt->store->step != ROTATE_IDLE)
		return err_set(err, ERR_LIMIT, "a write is under way: try again in a moment");
	if (credential == NULL && rt->store != NULL && !rt->store->stuck)
		return 0; /* the present session may still be valid */
	if (rotate_store_open(rt, credential, err) != 0)
		return -1;
	rt->error[0] = '\0';
	return 0;
}

static int begin(struct rotate *rt, const struct engine_rotate_ask *ask, struct err *err)
{
	struct rotation_event ev = {.type = ROTATION_EV_START,
				    .now_ms = engine_now(rt->e),
				    .kind = ask->kind,
				    .version = door_key_version(secrets_version(rt->e)),
				    .life_ms = ask->life_ms};
	uint64_t dice = 0;

	if (rotation_runs(&rt->r))
		return err_set(err, ERR_INVALID,
			       "a rotation is under way: it must end, or be aborted, first");
	if (ask->kind == ROTATION_NONE)
		return err_set(err, ERR_INVALID, "want munge or jwks");
	if (!secrets_ready(rt->e) || ev.version == 0)
		return err_set(err, ERR_INVALID, "the secret store does not answer now");
	if (getrandom(&dice, sizeof(dice), 0) != sizeof(dice))
		return err_set(err, ERR_IO, "cannot get random bytes");
	ev.id = (int64_t)(dice >> 2) + 1;
	rotate_store_free(rt); /* of an earlier rotation */
	if (give(rt, ask->credential, err) != 0)
		return -1;
	return rotate_advance(rt, &ev) ? 0
				       : err_set(err, ERR_INVALID, "not possible in this phase");
}

static int order_switch(struct rotate *rt, const struct engine_rotate_ask *ask, struct err *err)
{
	struct rotation_event ev = {.type = ROTATION_EV_SWITCH, .now_ms = engine_now(rt->e)};
	int64_t in_ms = ask->in_ms > 0 ? ask->in_ms : ROTATION_WINDOW_MS;

	if (in_ms < ROTATION_WINDOW_MS)
		return err_set(
			err, ERR_INVALID,
			"want 60 s or more: each node must have a heartbeat before the switch");
	if (rt->r.phase != ROTATION_STAGED)
		return err_set(err, ERR_INVALID,
			       "the rotation is %s: it can switch when it is staged",
			       rotation_phase_str(rt->r.phase));
	/* Check the credential now, not when half of the nodes have switched. */
	if (give(rt, ask->credential, err) != 0)
		return -1;
	ev.at_ms = engine_now(rt->e) + in_ms;
	secrets_poll(rt->e); /* a write by somebody else ends it while it can still be called off */
	return rotate_advance(rt, &ev) ? 0
				       : err_set(err, ERR_INVALID, "not possible in this phase");
}

/* Was nothing written so far, and is no write on the wire? */
static bool is_untouched(const struct rotate *rt)
{
	return rt->r.phase == ROTATION_STAGING && (rt->store == NULL || rt->store->stuck) &&
	       door_key_version(secrets_version(rt->e)) == rt->r.now;
}

static int order_abort(struct rotate *rt, const struct engine_rotate_ask *ask, struct err *err)
{
	const struct rotation_event ev = {.type = ROTATION_EV_ABORT, .now_ms = engine_now(rt->e)};

	if (!rotation_runs(&rt->r))
		return err_set(err, ERR_INVALID, "no rotation is under way");
	if (is_untouched(rt)) {
		rotate_store_free(rt);
		(void)rotate_advance(rt, &ev);
		rotate_event(rt, ROTATION_EV_WROTE, rt->r.now); /* the bundle is unchanged */
		rt->error[0] = '\0';
		return 0;
	}
	if (rt->r.phase == ROTATION_WINDOW && ev.now_ms > rt->r.switch_ms - ROTATION_HEAR_MS)
		return err_set(err, ERR_INVALID,
			       "too late: some node may not hear within %" PRId64
			       " s that the switch is cancelled; let it happen, and rotate again",
			       (rt->r.switch_ms - ev.now_ms) / 1000);
	if (rt->store == NULL || rt->store->stuck || ask->credential != NULL)
		if (give(rt, ask->credential, err) != 0)
			return -1;
	return rotate_advance(rt, &ev) ? 0
				       : err_set(err, ERR_INVALID,
						 "the rotation is %s: the new key is in use: "
						 "resume, or rotate again",
						 rotation_phase_str(rt->r.phase));
}

static int resume(struct rotate *rt, const struct engine_rotate_ask *ask, struct err *err)
{
	if (!rotation_runs(&rt->r))
		return err_set(err, ERR_INVALID, "no rotation is under way");
	if (give(rt, ask->credential, err) != 0)
		return -1;
	rt->tell_ms = 0;
	return 0;
}

int engine_rotate(struct engine *e, const struct engine_rotate_ask *ask, struct err *err)
{
	static const char *const words[] = {[ENGINE_ROTATE_START] = "rotate",
					    [ENGINE_ROTATE_SWITCH] = "rotate-switch",
					    [ENGINE_ROTATE_ABORT] = "rotate-abort",
					    [ENGINE_ROTATE_RESUME] = "rotate-resume"};
	struct rotate *rt = e->keys->rotate;
	char text[96];
	int rc;

	if (rt == NULL || e->keys->secrets == NULL)
		return err_set(err, ERR_INVALID,
			       "there is no section secrets in the configuration");
	if (ask->credential != NULL && ask->credential[0] == '\0')
		return err_set(err, ERR_INVALID, "the credential is empty");
	if (ask->verb == ENGINE_ROTATE_START)
		rc = begin(rt, ask, err);
	else if (ask->verb == ENGINE_ROTATE_SWITCH)
		rc = order_switch(rt, ask, err);
	else if (ask->verb == ENGINE_ROTATE_ABORT)
		rc = order_abort(rt, ask, err);
	else
		rc = resume(rt, ask, err);
	if (rc != 0)
		return -1;
	(void)snprintf(text, sizeof(text), "ordered by %.60s", ask->by);
	journal_put_audit(engine_tx(e),
			  &(struct journal_audit){.at_ms = engine_now(e),
						  .actor = ask->by,
						  .verb = words[ask->verb],
						  .target = "secrets",
						  .object = rotation_kind_str(rt->r.kind),
						  .reason = text,
						  .request = ""});
	rotate_write_down(rt);
	engine_commit(e);
	engine_turn(e);
	return e->dead ? err_set(err, ERR_IO, "the journal failed") : 0;
}

void engine_rotation(const struct engine *e, struct engine_rotation *out)
{
	const struct rotate *rt = e->keys->rotate;

	*out = (struct engine_rotation){.error = ""};
	if (rt == NULL || e->keys->secrets == NULL)
		return;
	*out = (struct engine_rotation){
		.there = true,
		.r = rt->r,
		.version = rotate_wanted(rt),
		.nodes = rt->nodes,
		.alone = rotate_store_alone(e),
		.has_command = rotate_has_command(e),
		.needs_credential =
			rotation_runs(&rt->r) && (rt->store == NULL || rt->store->stuck),
		.busy = rt->store != NULL && rt->store->step != ROTATE_IDLE,
		.error = rt->error,
	};
}
