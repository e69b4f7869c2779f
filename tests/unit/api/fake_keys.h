/* fake_keys.h - keys_api.h of the fake engine: the secret store, claims of nodes, and rotations. */
#ifndef BURSTD_TEST_FAKE_KEYS_H
#define BURSTD_TEST_FAKE_KEYS_H

#include "fake_state.h"

void engine_secrets(const struct engine *e, struct engine_secrets *out)
{
	*out = e->secrets;
	if (out->driver == NULL)
		*out = (struct engine_secrets){
			.driver = "", .phase = "", .version = "", .enrolled = ""};
}

bool engine_boot(const struct engine *e, const char *node, uint64_t gen, struct engine_boot *out)
{
	assert_true(node[0] != '\0' && gen > 0);
	*out = e->boot;
	return e->boot.claim != NULL;
}

const char *engine_token_wait(const struct engine *e, const struct node *n)
{
	(void)n;
	return e->token_wait;
}

const char *engine_init_off(const struct engine *e)
{
	return e->init_off;
}

const char *engine_door_off(const struct engine *e)
{
	return e->door_off;
}

const struct learned *engine_learned(const struct engine *e)
{
	return e->learned;
}

const struct engine_door_counters *engine_door_counters(const struct engine *e)
{
	return e->door;
}

/* No claim in the first state, one in the second, two in the third ... */
size_t engine_claims(const struct engine *e, size_t *states)
{
	(void)e;
	for (size_t i = 0; i < CLAIM_NSTATES; i++)
		states[i] = i;
	return 2;
}

int engine_enroll(struct engine *e, const char *token, const char *by, struct err *err)
{
	assert_non_null(by);
	if (strcmp(token, "-") == 0)
		return err_set(err, ERR_INVALID, "not a wrapping token");
	(void)snprintf(e->enroll_token, sizeof(e->enroll_token), "%s", token);
	return 0;
}

int engine_rotate(struct engine *e, const struct engine_rotate_ask *ask, struct err *err)
{
	e->rotate_ask = *ask;
	(void)snprintf(e->rotate_credential, sizeof(e->rotate_credential), "%s",
		       ask->credential != NULL ? ask->credential : "");
	return ask->verb == ENGINE_ROTATE_ABORT
		       ? err_set(err, ERR_INVALID, "no rotation is under way")
		       : 0;
}

void engine_rotation(const struct engine *e, struct engine_rotation *out)
{
	*out = e->rotation;
	if (out->error == NULL)
		out->error = "";
}

struct engine_breaches engine_breaches(const struct engine *e)
{
	return e->breaches;
}

const char *engine_rotate_command(const struct engine *e)
{
	(void)e;
	return "burstctl secrets rotate --munge";
}

size_t engine_rotation_lack(const struct engine *e, const char **nodes, size_t max)
{
	assert_true(max > 0);
	nodes[0] = "n7";
	return e->rotation.nodes.lack > 0 ? 1 : 0;
}

#endif
