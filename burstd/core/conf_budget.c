#include "core/conf_budget.h"

#include <assert.h>
#include <string.h>

#include "core/conf.h"
#include "core/conf_option.h"
#include "core/conf_private.h"

const struct conf_budget *conf_budget_named(const struct conf *c, const char *name)
{
	for (size_t i = 0; i < c->nbudgets; i++)
		if (strcmp(c->budgets[i].name, name) == 0)
			return &c->budgets[i];
	return NULL;
}

const char *conf_budget_lacks(const struct conf *c, const char *name, const char *value)
{
	const struct conf_budget *b = conf_budget_named(c, name);

	if (b == NULL)
		return "there is no such budget";
	if (b->amount_nano == 0)
		return "the budget has no amount";
	if ((b->each == CONF_EACH_NONE) == (value[0] == '\0'))
		return NULL;
	return value[0] == '\0' ? "the budget is one for each" : "the budget is one for all";
}

bool conf_budget_is_of_jobs(const struct conf_budget *b)
{
	return b->accounts != NULL || b->users != NULL || b->qos != NULL || b->wckeys != NULL ||
	       b->each == CONF_EACH_USER || b->each == CONF_EACH_ACCOUNT;
}

bool conf_budget_takes(const struct conf_budget *b, const struct conf_option *o)
{
	static const char *const of_amount[] = {"period",       "rollover", "notify_at",
						"spot_only_at", "stop_at",  "drain_at",
						"requeue_at",   "kill_at",  "grace"};

	if (strcmp(o->name, "lease") == 0)
		return b->reserve == CONF_RESERVE_LEASE;
	for (size_t i = 0; i < sizeof(of_amount) / sizeof(of_amount[0]); i++)
		if (strcmp(o->name, of_amount[i]) == 0)
			return b->amount_nano != 0;
	return true;
}

int conf_budget_line(const struct conf_budget *b, const char *option)
{
	size_t k = 0;

	for (size_t i = 0; i < conf_noptions; i++) {
		if (strcmp(conf_options[i].section, "budget") != 0)
			continue;
		if (strcmp(conf_options[i].name, option) == 0 && b->lines[k] != 0)
			return b->lines[k];
		k++;
	}
	return b->line;
}

/* -1, with FILE:LINE of the option and the budget's name in front. */
static int bad(const struct conf *c, const struct conf_budget *b, const char *option,
	       const struct err *why, struct err *e)
{
	return err_set(e, ERR_INVALID, "%.120s:%d: budget \"%.63s\": %.140s", c->path,
		       conf_budget_line(b, option), b->name, why->msg);
}

static int check_meaning(const struct conf *c, const struct conf_budget *b, struct err *e)
{
	struct err why;
	size_t k = 0;

	if (b->amount_nano == 0 && b->rate_nano_h == 0) {
		(void)err_set(&why, ERR_INVALID, "limits nothing: set amount, or rate, or both");
		return bad(c, b, "", &why, e);
	}
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];

		if (strcmp(o->section, "budget") != 0)
			continue;
		if (b->lines[k++] == 0 || conf_budget_takes(b, o))
			continue;
		(void)err_set(&why, ERR_INVALID, "%s: only with %s", o->name,
			      strcmp(o->name, "lease") == 0 ? "reserve = lease" : "an amount");
		return bad(c, b, o->name, &why, e);
	}
	return 0;
}

static int check_names(const struct conf *c, const struct conf_budget *b, struct err *e)
{
	struct err why;

	for (size_t i = 0; b->pools != NULL && b->pools[i] != NULL; i++)
		if (conf_pool_named(c, b->pools[i]) == NULL) {
			(void)err_set(&why, ERR_INVALID, "pools: there is no pool \"%s\"",
				      b->pools[i]);
			return bad(c, b, "pools", &why, e);
		}
	for (size_t i = 0; b->providers != NULL && b->providers[i] != NULL; i++)
		if (conf_provider_named(c, b->providers[i]) >= c->nproviders) {
			(void)err_set(&why, ERR_INVALID, "providers: there is no provider \"%s\"",
				      b->providers[i]);
			return bad(c, b, "providers", &why, e);
		}
	return 0;
}

static bool lists(char *const *list, const char *name)
{
	for (size_t i = 0; list[i] != NULL; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

/* Does any of its pools buy from any of its providers?  Else no machine would ever count. */
static bool can_match(const struct conf *c, const struct conf_budget *b)
{
	for (size_t i = 0; b->pools[i] != NULL; i++) {
		size_t n;
		const struct conf_offer *o = conf_rungs(conf_pool_named(c, b->pools[i]), &n);

		for (size_t k = 0; k < n; k++)
			if (lists(b->providers, o[k].provider))
				return true;
	}
	return false;
}

static int check_match(const struct conf *c, const struct conf_budget *b, struct err *e)
{
	struct err why;

	if (b->pools == NULL || b->providers == NULL || can_match(c, b))
		return 0;
	(void)err_set(&why, ERR_INVALID, "providers: none of its pools buys from any of these");
	return bad(c, b, "providers", &why, e);
}

/* Each step begins no earlier than the one before it, those that are never taken left out.  What
 * ends jobs comes after what starts none, or they would be started again. */
static int check_ladder(const struct conf *c, const struct conf_budget *b, struct err *e)
{
	const struct {
		const char *name;
		uint32_t at;
	} steps[] = {{"notify_at", b->notify_at.n > 0 ? b->notify_at.at[0] : 0},
		     {"spot_only_at", b->spot_only_at},
		     {"stop_at", b->stop_at},
		     {"drain_at", b->drain_at},
		     {"requeue_at", b->requeue_at},
		     {"kill_at", b->kill_at}};
	const size_t n = sizeof(steps) / sizeof(steps[0]), stop = 2;
	struct err why;
	size_t last = 0;

	for (size_t i = 1; i < n; i++) {
		if (steps[i].at == 0)
			continue;
		if (steps[i].at < steps[last].at)
			(void)err_set(&why, ERR_INVALID,
				      "%s is %u, below the %u of %s: a later step may not begin "
				      "earlier",
				      steps[i].name, steps[i].at, steps[last].at, steps[last].name);
		else if (i > stop && b->stop_at == 0)
			(void)err_set(&why, ERR_INVALID,
				      "%s needs stop_at: else jobs would start again at once",
				      steps[i].name);
		else {
			last = i;
			continue;
		}
		return bad(c, b, steps[i].name, &why, e);
	}
	return 0;
}

/* Nodes belong to no account: draining them would hit whoever uses them next. */
static int check_drain(const struct conf *c, const struct conf_budget *b, struct err *e)
{
	struct err why;

	if (b->drain_at == 0 || !conf_budget_is_of_jobs(b))
		return 0;
	(void)err_set(&why, ERR_INVALID,
		      "drain_at: only for a budget of machines; this one counts jobs, which "
		      "requeue_at and kill_at end");
	return bad(c, b, "drain_at", &why, e);
}

static int check_rollover(const struct conf *c, const struct conf_budget *b, struct err *e)
{
	struct err why;

	if (b->rollover == 0 ||
	    (b->period_rule.kind != PERIOD_RANGE && b->period_rule.kind != PERIOD_ROLLING))
		return 0;
	(void)err_set(&why, ERR_INVALID, "rollover: period %s has no next one to carry money to",
		      b->period);
	return bad(c, b, "rollover", &why, e);
}

static int finish(const struct conf *c, struct conf_budget *b, struct err *e)
{
	struct err why;

	assert(b->period != NULL);
	if (period_parse(&b->period_rule, b->period, &why) < 0)
		return bad(c, b, "period", &why, e);
	if (check_meaning(c, b, e) < 0 || check_names(c, b, e) < 0 || check_match(c, b, e) < 0)
		return -1;
	if (check_ladder(c, b, e) < 0 || check_drain(c, b, e) < 0)
		return -1;
	return check_rollover(c, b, e);
}

/* The first one that has the name of one before it; NULL: none has. */
static const struct conf_budget *twice(const struct conf *c)
{
	const struct conf_budget *found = NULL;
	struct map names;

	map_init(&names);
	for (size_t i = 0; i < c->nbudgets && found == NULL; i++)
		if (map_get(&names, c->budgets[i].name) != NULL)
			found = &c->budgets[i];
		else
			map_put(&names, c->budgets[i].name, &c->budgets[i]);
	map_fini(&names);
	return found;
}

int conf_budgets_finish(struct conf *c, struct err *e)
{
	const struct conf_budget *second;

	if (c->nbudgets > CONF_BUDGETS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d budgets", c->path,
			       c->budgets[CONF_BUDGETS_MAX].line, CONF_BUDGETS_MAX);
	second = twice(c);
	if (second != NULL)
		return err_set(e, ERR_INVALID, "%.120s:%d: budget \"%s\" is defined twice", c->path,
			       second->line, second->name);
	for (size_t i = 0; i < c->nbudgets; i++)
		if (finish(c, &c->budgets[i], e) < 0)
			return -1;
	return 0;
}
