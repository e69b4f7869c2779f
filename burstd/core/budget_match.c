#include "core/budget_private.h"

#include <string.h>
#include <strings.h>

bool budget_limits(const struct conf_budget *of, enum provider_market market)
{
	return of->amount_nano != 0 &&
	       (of->stop_at != 0 || (of->spot_only_at != 0 && market != PROVIDER_SPOT));
}

const char *budget_value(const struct conf_budget *of, const struct budget_spender *s)
{
	switch (of->each) {
	case CONF_EACH_USER:
		return s->user;
	case CONF_EACH_ACCOUNT:
		return s->account;
	case CONF_EACH_PARTITION:
		return s->partition;
	default:
		return "";
	}
}

/* Slurm writes accounts and QOS in lower case, whatever an admin wrote: no budget is to be escaped
 * by a capital letter. */
static bool is_in(char *const *list, const char *value)
{
	for (; *list != NULL; list++)
		if (strcasecmp(*list, value) == 0)
			return true;
	return false;
}

/* One that is not known may be any. */
static enum budget_match among(char *const *list, const char *value)
{
	if (list == NULL)
		return BUDGET_YES;
	if (value[0] == '\0')
		return BUDGET_PERHAPS;
	return is_in(list, value) ? BUDGET_YES : BUDGET_NO;
}

/* The account, or one above it, is in the list. */
static enum budget_match below(const struct budgets *b, char *const *list, const char *account)
{
	if (list == NULL || account[0] == '\0')
		return among(list, account);
	for (int i = 0; account != NULL && i < BUDGET_ANCESTORS_MAX; i++) {
		if (is_in(list, account))
			return BUDGET_YES;
		account = map_get(&b->parents, account);
	}
	return BUDGET_NO;
}

/* A job without a wckey, or in no partition that is known, is not of those that have one. */
static enum budget_match having(char *const *list, const char *value)
{
	return list == NULL || is_in(list, value) ? BUDGET_YES : BUDGET_NO;
}

const char *budget_wckey(const char *wckey)
{
	return wckey[0] == '*' ? wckey + 1 : wckey;
}

enum budget_match budget_match(const struct budgets *b, const struct conf_budget *of,
			       const struct budget_spender *s)
{
	const enum budget_match all[] = {
		conf_budget_is_of_jobs(of) == !s->machine ? BUDGET_YES : BUDGET_NO,
		of->market == CONF_MARKET_ANY || of->market == (int)s->market ? BUDGET_YES
									      : BUDGET_NO,
		having(of->pools, s->pool),
		having(of->providers, s->provider),
		having(of->partitions, s->partition),
		having(of->wckeys, budget_wckey(s->wckey)),
		below(b, of->accounts, s->account),
		among(of->users, s->user),
		among(of->qos, s->qos),
		of->each != CONF_EACH_NONE && budget_value(of, s)[0] == '\0' ? BUDGET_PERHAPS
									     : BUDGET_YES,
	};
	enum budget_match m = BUDGET_YES;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && m != BUDGET_NO; i++)
		m = all[i] == BUDGET_YES ? m : all[i];
	return m;
}
