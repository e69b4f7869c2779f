/* Keeps what finance and admins have added to the amounts of budgets, or set instead of them: each
 * with a reason, and none is ever forgotten. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "jobs/jobs.h"
#include "money/line.h"

static char *copy(const char *text)
{
	return mem_strdup(text != NULL ? text : "");
}

static struct money_override *add(struct engine *e, const struct journal_override *o)
{
	struct overrides *all = &e->money->overrides;
	struct money_override *x;

	all->v = mem_realloc(all->v, (all->n + 1) * sizeof(*all->v));
	x = &all->v[all->n++];
	*x = (struct money_override){.id = o->id,
				     .set = o->set,
				     .nano = o->nano,
				     .made_ms = o->made_ms,
				     .until_ms = o->until_ms,
				     .budget = copy(o->budget),
				     .value = copy(o->value),
				     .by = copy(o->by),
				     .reason = copy(o->reason),
				     .revoked_by = copy(o->revoked_by),
				     .revoked_why = copy(o->revoked_why)};
	return x;
}

/* Give the budgets those that count. */
static void apply(struct engine *e)
{
	const struct overrides *all = &e->money->overrides;
	struct budget_override *v = mem_zalloc((all->n + 1) * sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].until_ms > engine_now(e))
			v[n++] = (struct budget_override){.budget = all->v[i].budget,
							  .value = all->v[i].value,
							  .set = all->v[i].set,
							  .nano = all->v[i].nano,
							  .until_ms = all->v[i].until_ms,
							  .id = all->v[i].id};
	if (budgets_overrides(e->money->budgets, v, n))
		e->money->freed = true;
	free(v);
}

int overrides_load(struct engine *e, const struct journal_override *o)
{
	(void)add(e, o);
	return 0;
}

void overrides_start(struct engine *e)
{
	if (e->money->budgets != NULL)
		apply(e);
}

void overrides_free(struct engine *e)
{
	struct overrides *all = &e->money->overrides;

	for (size_t i = 0; i < all->n; i++) {
		free(all->v[i].budget);
		free(all->v[i].value);
		free(all->v[i].by);
		free(all->v[i].reason);
		free(all->v[i].revoked_by);
		free(all->v[i].revoked_why);
	}
	free(all->v);
}

static void write(struct engine *e, const struct money_override *x)
{
	journal_put_override(engine_tx(e),
			     &(struct journal_override){.id = x->id,
							.budget = x->budget,
							.value = x->value,
							.set = x->set,
							.nano = x->nano,
							.made_ms = x->made_ms,
							.until_ms = x->until_ms,
							.by = x->by,
							.reason = x->reason,
							.revoked_by = x->revoked_by,
							.revoked_why = x->revoked_why});
}

/* --- orders --------------------------------------------------------------------------------------
 */

/* The end of the line's present period; 0: it has none, or is not the one that is now. */
static int64_t period_end(const struct engine *e, const struct conf_budget *of)
{
	struct period p;

	if (period_find(&of->period_rule, e->d.report_zone, engine_now(e), &p) == PERIOD_OVER)
		return 0;
	return of->period_rule.kind == PERIOD_ROLLING ? 0 : p.end_ms;
}

static int check_end(const struct engine *e, const struct engine_override *o,
		     const struct conf_budget *of, int64_t *until_ms, struct err *err)
{
	*until_ms = o->until_ms != 0 ? o->until_ms : o->set ? MONEY_NO_END : period_end(e, of);
	if (*until_ms == 0)
		return err_set(err, ERR_INVALID,
			       "budget %.60s has no period that ends: say until when", of->name);
	return *until_ms <= engine_now(e)
		       ? err_set(err, ERR_INVALID, "\"until_ms\": that time is over")
		       : 0;
}

static int check(const struct engine *e, const struct engine_override *o, int64_t *until_ms,
		 struct err *err)
{
	const struct conf_budget *of = conf_budget_named(e->conf, o->budget);

	if (of == NULL || e->money->budgets == NULL)
		return err_set(err, ERR_INVALID, "no budget is named \"%.60s\"", o->budget);
	if (of->amount_nano == 0)
		return err_set(err, ERR_INVALID, "budget %.60s has no amount to %s", of->name,
			       o->set ? "set: it limits a rate" : "add to");
	if (of->each != CONF_EACH_NONE && o->value[0] == '\0')
		return err_set(err, ERR_INVALID,
			       "budget %.60s is one for each: say whose, as in %.60s/NAME",
			       of->name, of->name);
	if (of->each == CONF_EACH_NONE && o->value[0] != '\0')
		return err_set(err, ERR_INVALID, "budget %.60s is one for all, and not for %.60s",
			       of->name, o->value);
	if (check_end(e, o, of, until_ms, err) != 0)
		return -1;
	return e->money->overrides.n >= MONEY_OVERRIDES
		       ? err_set(err, ERR_LIMIT, "there are %d overrides already", MONEY_OVERRIDES)
		       : 0;
}

/* "until 2026-12-24T00:00:00Z", or "without end" */
static const char *end_of(const struct engine *e, const struct money_override *x,
			  char out[FMT_TIME_SIZE + 8])
{
	char at[FMT_TIME_SIZE];

	if (x->until_ms == MONEY_NO_END)
		return "without end";
	(void)snprintf(out, FMT_TIME_SIZE + 8, "until %.19sZ", engine_time(e, at, x->until_ms));
	return out;
}

static void announce(struct engine *e, const struct money_override *x, const char *type,
		     const char *by)
{
	char text[400], money[FMT_MONEY_SIZE], until[FMT_TIME_SIZE + 8];

	(void)snprintf(text, sizeof(text),
		       "budget %s%s%s: override %" PRId64 " %s %s %s %s, by %.60s: %.150s",
		       x->budget, x->value[0] != '\0' ? "/" : "", x->value, x->id,
		       x->set ? "sets its amount to" : "of", fmt_money(money, x->nano),
		       e->conf->currency, end_of(e, x, until), by,
		       x->revoked_why[0] != '\0' ? x->revoked_why : x->reason);
	engine_event(e, "", 0, type, text);
}

static int commit(struct engine *e, struct err *err)
{
	apply(e);
	engine_commit(e);
	engine_turn(e);
	return e->dead ? err_set(err, ERR_IO, "the journal failed") : 0;
}

/* It ends now, and that is staged. */
static void end(struct engine *e, struct money_override *x, const char *by, const char *why)
{
	free(x->revoked_by);
	free(x->revoked_why);
	x->revoked_by = copy(by);
	x->revoked_why = copy(why);
	x->until_ms = engine_now(e);
	write(e, x);
}

/* A line has one amount that is set: this one ends what was set before, lest that counts again when
 * this one has ended. */
static void end_former(struct engine *e, const struct journal_override *next)
{
	const struct overrides *all = &e->money->overrides;
	char why[40];

	(void)snprintf(why, sizeof(why), "set anew: %" PRId64, next->id);
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].set && all->v[i].until_ms > engine_now(e) &&
		    strcmp(all->v[i].budget, next->budget) == 0 &&
		    strcmp(all->v[i].value, next->value) == 0)
			end(e, &all->v[i], next->by, why);
}

int engine_override(struct engine *e, const struct engine_override *o, int64_t *id, struct err *err)
{
	const struct overrides *all = &e->money->overrides;
	struct journal_override row = {.id = all->n > 0 ? all->v[all->n - 1].id + 1 : 1,
				       .budget = o->budget,
				       .value = o->value,
				       .set = o->set,
				       .nano = o->nano,
				       .made_ms = engine_now(e),
				       .by = o->by,
				       .reason = o->reason};
	char account[BUDGET_VALUE_MAX + 1];
	const struct money_override *x;

	if (check(e, o, &row.until_ms, err) != 0)
		return -1;
	if (conf_budget_named(e->conf, o->budget)->each == CONF_EACH_ACCOUNT) {
		budget_fold(account, o->value);
		row.value = account;
	}
	if (row.set)
		end_former(e, &row);
	x = add(e, &row);
	*id = x->id;
	write(e, x);
	announce(e, x, o->set ? "budget-set" : "budget-raised", o->by);
	return commit(e, err);
}

static int by_id(const void *id, const void *x)
{
	int64_t a = *(const int64_t *)id, b = ((const struct money_override *)x)->id;

	return (a > b) - (a < b);
}

static struct money_override *find(const struct engine *e, int64_t id)
{
	const struct overrides *all = &e->money->overrides;

	return all->n > 0 ? bsearch(&id, all->v, all->n, sizeof(*all->v), by_id) : NULL;
}

const struct money_override *override_find(const struct engine *e, int64_t id)
{
	return find(e, id);
}

int engine_revoke(struct engine *e, int64_t id, const char *by, const char *why, struct err *err)
{
	struct money_override *x = find(e, id);

	if (x == NULL)
		return err_set(err, ERR_INVALID, "there is no override %" PRId64, id);
	if (x->until_ms <= engine_now(e))
		return err_set(err, ERR_INVALID, "override %" PRId64 " has ended already%s%s%s%s",
			       id, x->revoked_by[0] != '\0' ? ", by " : "", x->revoked_by,
			       x->revoked_by[0] != '\0' ? ": " : "", x->revoked_why);
	end(e, x, by, why);
	announce(e, x, x->set ? "budget-reset" : "budget-lowered", by);
	return commit(e, err);
}

const struct money_override *engine_overrides(const struct engine *e, size_t *n)
{
	*n = e->money->overrides.n;
	return e->money->overrides.v;
}
