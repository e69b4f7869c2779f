/* claims_store.h - a secret store for tests of claims and vouchers: it keeps the request for keys
 * that waits (F.keys_fn) and counts the tokens that are revoked.  It takes the place of secrets.c
 * when the test is linked; a test with a store of its own includes keys_engine.h without it. */
#ifndef TESTS_CLAIMS_STORE_H
#define TESTS_CLAIMS_STORE_H

#include "claims_world.h"

const struct engine_part secrets_part = {
	.at = {[PART_RELOAD] = secrets_hurry},
	.may_reload = secrets_may_replace,
};
const struct engine_part secrets_turn_part = {.name = NULL};

void secrets_poll(struct engine *e)
{
	(void)e;
}

int secrets_release(struct engine *e, enum conf_release mode, secrets_fn fn, void *ctx,
		    uint64_t *handle, struct err *err)
{
	(void)err;
	if (mode != CONF_USER_DATA)
		assert_false(e->staging.due); /* the request must be durable first */
	assert_int_equal(mode, F.release);
	assert_null(F.keys_fn);
	F.keys_fn = fn;
	F.keys_ctx = ctx;
	*handle = ++F.released;
	return 0;
}

void secrets_cancel(struct engine *e, uint64_t handle)
{
	(void)e;
	assert_int_equal(handle, F.released);
	F.keys_fn = NULL;
}

int secrets_wrap(struct engine *e, int64_t life_ms, secrets_fn fn, void *ctx, uint64_t *handle,
		 struct err *err)
{
	F.life_ms = life_ms;
	return secrets_release(e, CONF_USER_DATA, fn, ctx, handle, err);
}

bool secrets_serves(const struct engine *e)
{
	(void)e;
	return !F.away;
}

bool secrets_look(struct engine *e, enum secret_op_kind kind, const char *accessor,
		  const struct secrets_look *look)
{
	assert_false(e->staging.due); /* our own action must be durable first */
	if (F.away)
		return false;
	F.look = look;
	if (kind == SECRET_REVOKE) {
		F.revoked++;
		(void)snprintf(F.revoked_last, sizeof(F.revoked_last), "%s", accessor);
		return true;
	}
	F.looks++;
	(void)snprintf(F.looked_last, sizeof(F.looked_last), "%s", accessor);
	return true;
}

bool secrets_wraps(const struct engine *e)
{
	(void)e;
	return !F.wraps_nothing;
}

const char *secrets_address(const struct engine *e, uint32_t i)
{
	(void)e;
	return i < 2 ? (const char *const[]){"https://v1:8200", "https://[::2]:8200"}[i] : NULL;
}

const char *secrets_path(const struct engine *e)
{
	(void)e;
	return "kv/data/slurm/node";
}

bool secrets_revoke(struct engine *e, const char *accessor)
{
	(void)e;
	if (F.away)
		return false;
	F.revoked++;
	(void)snprintf(F.revoked_last, sizeof(F.revoked_last), "%s", accessor);
	return true;
}

#endif
