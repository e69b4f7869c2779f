/* fake_money.h - money_api.h of the fake engine, and the names of those who call. */
#ifndef BURSTD_TEST_FAKE_MONEY_H
#define BURSTD_TEST_FAKE_MONEY_H

#include "fake_state.h"
#include "io/user_name.h"

struct user_names {
	struct engine *e;
};

struct user_name_ask {
	struct engine *e;
	user_name_fn fn;
	void *ctx;
};

const struct stages *engine_stages(const struct engine *e)
{
	return &e->stages;
}

/* A user is shown the lines that have the name as their value. */
void engine_budgets(const struct engine *e, const char *user, struct engine_budgets *out)
{
	struct engine *noted = (struct engine *)(uintptr_t)e;

	(void)snprintf(noted->budgets_user, sizeof(noted->budgets_user), "%s",
		       user != NULL ? user : "");
	*out = (struct engine_budgets){mem_zalloc((e->nbudgets + 1) * sizeof(*out->v)), 0};
	for (size_t i = 0; i < e->nbudgets; i++)
		if (user == NULL || strcmp(e->budgets[i].line.value, user) == 0)
			out->v[out->n++] = e->budgets[i];
}

void engine_budgets_fini(struct engine_budgets *all)
{
	free(all->v);
}

const char *engine_budgets_wait(const struct engine *e)
{
	return e->budgets_wait != NULL ? e->budgets_wait : "";
}

int engine_override(struct engine *e, const struct engine_override *o, int64_t *id, struct err *err)
{
	(void)snprintf(e->override_order, sizeof(e->override_order),
		       "%s/%s %c%lld until %lld by %s: %s", o->budget, o->value, o->set ? '=' : '+',
		       (long long)o->nano, (long long)o->until_ms, o->by, o->reason);
	*id = 1;
	*err = e->override_err;
	return err->code != 0 ? -1 : 0;
}

int engine_revoke(struct engine *e, int64_t id, const char *by, const char *why, struct err *err)
{
	(void)snprintf(e->override_order, sizeof(e->override_order), "revoke %lld by %s: %s",
		       (long long)id, by, why);
	*err = e->override_err;
	return err->code != 0 ? -1 : 0;
}

const struct money_override *engine_overrides(const struct engine *e, size_t *n)
{
	*n = e->noverrides;
	return e->overrides;
}

struct engine_receiver engine_receiver(const struct engine *e, size_t i)
{
	return e->receivers[i];
}

const struct alert *engine_alert(const struct engine *e, int64_t before)
{
	const struct alert *found = NULL;

	for (size_t i = 0; i < e->nalerts; i++)
		if (e->alerts[i].seq < before)
			found = &e->alerts[i];
	return found;
}

const struct alert_message *engine_alert_message(const struct engine *e, int64_t alert,
						 int64_t after)
{
	for (size_t i = 0; i < e->nalert_messages; i++)
		if (e->alert_messages[i].seq > after && e->alert_messages[i].alerts[0] == alert)
			return &e->alert_messages[i];
	return NULL;
}

struct engine_alerts engine_alerts(const struct engine *e)
{
	return e->alerts_all;
}

int engine_alert_test(struct engine *e, const char *name, struct err *err)
{
	if (strcmp(name, "busy") == 0)
		return err_set(err, ERR_LIMIT, "a test of alert \"busy\" is under way");
	if (strcmp(name, "ops") != 0)
		return err_set(err, ERR_INVALID, "no alert is named \"%s\"", name);
	(void)snprintf(e->alert_tested, sizeof(e->alert_tested), "%s", name);
	return 0;
}

const char *user_names_get(const struct user_names *u, uint32_t uid)
{
	assert_int_equal(uid, 1000);
	return u->e->name;
}

struct user_name_ask *user_names_ask(struct user_names *u, uint32_t uid, user_name_fn fn, void *ctx,
				     struct err *err)
{
	assert_int_equal(uid, 1000);
	if (u->e->names_full) {
		(void)err_set(err, ERR_LIMIT, "too many");
		return NULL;
	}
	assert_null(u->e->name_ask);
	u->e->name_ask = mem_zalloc(sizeof(struct user_name_ask));
	*u->e->name_ask = (struct user_name_ask){u->e, fn, ctx};
	return u->e->name_ask;
}

void user_name_cancel(struct user_name_ask *a)
{
	a->e->name_ask = NULL;
	free(a);
}

/* The name is known now, or err says why it is not. */
__attribute__((unused)) static void fake_name(struct engine *e, const char *name,
					      const struct err *err)
{
	struct user_name_ask *a = e->name_ask;

	e->name = name;
	e->name_ask = NULL;
	a->fn(a->ctx, err);
	free(a);
}

#endif
