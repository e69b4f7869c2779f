#include "core/budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/str.h"

enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400, LINE_MAX = 400, SPAN_SIZE = 40 };

/* "4 h", "1 h 30 min", "2 days 6 h", "45 min", "30 s": two units at most. */
static const char *span(char out[SPAN_SIZE], int64_t ms)
{
	static const struct {
		int64_t s;
		const char *one, *more;
	} units[] = {{DAY_S, "day", "days"},
		     {HOUR_S, "h", "h"},
		     {MINUTE_S, "min", "min"},
		     {1, "s", "s"}};
	int64_t s = (ms + 999) / 1000;
	size_t n = 0, shown = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && shown < 2; i++) {
		int64_t v = s / units[i].s;

		s %= units[i].s;
		if (v == 0 && shown == 0 && units[i].s != 1)
			continue;
		shown++;
		if (v == 0 && shown > 1)
			continue;
		n += (size_t)snprintf(out + n, SPAN_SIZE - n, "%s%" PRId64 " %s", n > 0 ? " " : "",
				      v, v == 1 ? units[i].one : units[i].more);
	}
	return out;
}

enum { CENT = FMT_NANO / 100 };

/* In cents: what is needed is rounded up, what there is down. */
static const char *cents_up(char out[FMT_MONEY_SIZE], int64_t nano)
{
	return fmt_money(out, nano > INT64_MAX - CENT ? nano : (nano + CENT - 1) / CENT * CENT);
}

static const char *cents_down(char out[FMT_MONEY_SIZE], int64_t nano)
{
	return fmt_money(out, nano / CENT * CENT);
}

static void add_needs(struct str *s, const struct budget_no *no, const char *currency,
		      int64_t limit_ms)
{
	char money[FMT_MONEY_SIZE], time[SPAN_SIZE];

	str_addf(s, "this job needs %s %s", cents_up(money, no->needs), currency);
	if (no->lack == BUDGET_LACKS_RATE)
		str_adds(s, " an hour");
	else if (limit_ms >= 0)
		str_addf(s, " for its %s", span(time, limit_ms));
}

static void add_left(struct str *s, const struct budget_no *no, const char *where)
{
	char left[FMT_MONEY_SIZE], limit[FMT_MONEY_SIZE];

	str_addf(s, ", %s of %s left%s%s", cents_down(left, no->left), fmt_money(limit, no->limit),
		 where[0] != '\0' ? " " : "", where);
}

/* What it lacks, as half a sentence. */
static void add_lack(struct str *s, const struct budget_no *no, const char *currency,
		     int64_t limit_ms)
{
	char where[PERIOD_NAME_SIZE + 16];

	(void)snprintf(where, sizeof(where), "%s%s",
		       no->lack == BUDGET_LACKS_LATER ? "after " : "in ", no->period);
	switch (no->lack) {
	case BUDGET_LACKS_MONEY:
	case BUDGET_LACKS_LATER:
		add_needs(s, no, currency, limit_ms);
		add_left(s, no, where);
		break;
	case BUDGET_LACKS_RATE:
		add_needs(s, no, currency, limit_ms);
		add_left(s, no, "");
		break;
	case BUDGET_WANTS_SPOT:
		add_needs(s, no, currency, limit_ms);
		add_left(s, no, "for on-demand machines; spot may still be bought");
		break;
	case BUDGET_NO_ACCOUNT:
		str_adds(s, "it is not known whose this job is, so nothing is bought for it");
		break;
	case BUDGET_NO_LIMIT:
		if (limit_ms >= 0)
			str_adds(s, "this job may outrun its time limit without end (OverTimeLimit "
				    "= UNLIMITED), so its cost cannot be set aside");
		else
			str_adds(s, "this job has no time limit, so its cost cannot be set aside: "
				    "give it one by --time");
		break;
	case BUDGET_NO_PRICE:
		str_adds(s, "the price of a machine for this job is not known");
		break;
	case BUDGET_NOT_YET:
		str_addf(s, "its period %s has not begun", no->period);
		break;
	case BUDGET_OVER:
		str_addf(s, "its period %s is over", no->period);
		break;
	}
}

/* Half an address is nobody's: it is left out where there is no room for it. */
static void add_contact(struct str *s, const char *contact, size_t size)
{
	static const char ask[] = "; ask ";

	if (contact != NULL && contact[0] != '\0' && s->len + strlen(ask) + strlen(contact) < size)
		str_addf(s, "%s%s", ask, contact);
}

/* What does not fit ends with "...", lest half an amount be taken for one. */
static void put(const struct str *s, char *out, size_t size)
{
	static const char cut[] = "...";

	(void)snprintf(out, size, "%s", s->p);
	if (s->len >= size && size > sizeof(cut))
		memcpy(out + size - sizeof(cut), cut, sizeof(cut));
}

void budget_no_print(const struct budget_no *no, const char *currency, int64_t limit_ms, char *out,
		     size_t size)
{
	struct str s;

	str_init(&s, LINE_MAX);
	str_addf(&s, "budget %s%s%s: ", no->budget->name, no->value[0] != '\0' ? "/" : "",
		 no->value);
	add_lack(&s, no, currency, limit_ms);
	add_contact(&s, no->budget->contact, size);
	put(&s, out, size);
	str_fini(&s);
}

/* --- what a budget counts ------------------------------------------------------------------------
 */

static void add_names(struct str *s, const char *what, char *const *names)
{
	if (names == NULL)
		return;
	str_addf(s, "%s%s", s->len > 0 ? "; " : "", what);
	for (size_t i = 0; names[i] != NULL; i++)
		str_addf(s, "%s %s", i > 0 ? "," : "", names[i]);
}

void budget_print_counted(struct str *s, const struct conf_budget *b)
{
	static const char *const all[] = {[CONF_EACH_NONE] = "all machines",
					  [CONF_EACH_USER] = "all jobs of each user",
					  [CONF_EACH_ACCOUNT] = "all jobs of each account",
					  [CONF_EACH_PARTITION] = "all machines"};

	add_names(s, "accounts", b->accounts);
	add_names(s, "users", b->users);
	add_names(s, "qos", b->qos);
	add_names(s, "wckeys", b->wckeys);
	add_names(s, "partitions", b->partitions);
	add_names(s, "pools", b->pools);
	add_names(s, "providers", b->providers);
	if (b->market != CONF_MARKET_ANY)
		str_addf(s, "%s%s machines", s->len > 0 ? "; " : "",
			 provider_market_str((enum provider_market)b->market));
	if (s->len == 0)
		str_adds(s, all[b->each]);
}
