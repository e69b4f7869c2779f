#include "core/alert_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "core/conf.h"

enum { CENT = FMT_NANO / 100, TITLE_SIZE = PROVIDER_WORD_MAX + BUDGET_VALUE_MAX + 2 };

void alert_id(char out[ALERT_ID_SIZE], const char *uuid, int64_t made_ms, int64_t seq)
{
	(void)snprintf(out, ALERT_ID_SIZE, "%.60s.%" PRId64 ".%" PRId64, uuid, made_ms, seq);
}

/* --- words ---------------------------------------------------------------------------------------
 */

/* In cents; what was spent is not made more. */
static const char *cents(char out[FMT_MONEY_SIZE], int64_t nano)
{
	return fmt_money(out, nano / CENT * CENT);
}

/* "physics", "students/ann" */
static const char *title(char out[TITLE_SIZE], const struct alert *a)
{
	(void)snprintf(out, TITLE_SIZE, "%s%s%s", a->budget, a->value[0] != '\0' ? "/" : "",
		       a->value);
	return out;
}

/* "2026-12-01 00:00 UTC" */
static const char *when(char out[FMT_TIME_SIZE], const struct alert_mailing *m, int64_t ms)
{
	char time[FMT_TIME_SIZE];

	(void)fmt_time(time, m->wall(m->ctx, ms));
	(void)snprintf(out, FMT_TIME_SIZE, "%.10s %.5s UTC", time, time + 11);
	return out;
}

/* By how much the amount is exceeded in the worst case. */
static int64_t excess_of(const struct alert *a)
{
	return clamp_add(a->beyond, -alert_left(a));
}

/* "budget physics: 80 % of 500.00 EUR for 2026-11 are used up" */
static void add_what(struct str *s, const struct alert_mailing *m, const struct alert *a)
{
	char name[TITLE_SIZE], amount[FMT_MONEY_SIZE], more[FMT_MONEY_SIZE];

	(void)cents(amount, alert_whole(a));
	str_addf(s, "budget %s: ", title(name, a));
	switch (a->kind) {
	case ALERT_USED:
		str_addf(s, "%" PRIu32 " %% of %s %s for %s are used up", a->percent, amount,
			 m->currency, a->period);
		break;
	case ALERT_STOP:
		str_addf(s,
			 "%" PRIu32 " %% of %s %s for %s are spent or set aside, and no new job "
			 "starts",
			 a->percent, amount, m->currency, a->period);
		break;
	default:
		str_addf(s, "%s %s more than its %s for %s may be spent", cents(more, excess_of(a)),
			 m->currency, amount, a->period);
		break;
	}
}

static void add_figure(struct str *s, const struct alert_mailing *m, const char *name, int64_t nano)
{
	char money[FMT_MONEY_SIZE];

	str_addf(s, "  %-18s%14s %s\n", name, cents(money, nano), m->currency);
}

static void add_figures(struct str *s, const struct alert_mailing *m, const struct alert *a)
{
	char at[FMT_TIME_SIZE];

	add_figure(s, m, "amount", alert_whole(a));
	add_figure(s, m, "spent", a->spent);
	add_figure(s, m, "set aside", a->held);
	add_figure(s, m, "  used of that", a->accrued);
	add_figure(s, m, "left", alert_left(a));
	if (a->beyond > 0)
		add_figure(s, m, "beyond it, at most", a->beyond);
	str_addf(s, "  %-18s%s\n", "noticed", when(at, m, a->at_ms));
	str_addf(s, "  %-18s%s\n", "the period ends", when(at, m, a->ends_ms));
}

/* What happens as more of it is used up. */
static void add_next(struct str *s, const struct conf_budget *b, const struct alert *a)
{
	if (a->kind == ALERT_STOP)
		str_adds(s, "Its jobs wait until money is given back, the next period begins, or "
			    "somebody raises the amount. Those that run go on.\n");
	if (a->kind == ALERT_BEYOND)
		str_addf(s, "%s: see \"The bound\" in docs/budgets.md.\n",
			 b != NULL && b->reserve != CONF_RESERVE_FULL
				 ? "Its jobs may run longer than money is set aside for"
				 : "Machines that it pays for are not deleted yet, as their "
				   "provider does not answer or takes no delete");
	if (b == NULL || a->kind != ALERT_USED)
		return;
	if (b->spot_only_at > a->percent)
		str_addf(s, "From %" PRIu32 " %% on only spot machines are bought.\n",
			 b->spot_only_at);
	if (b->stop_at > 0)
		str_addf(s, "No new job starts that would take it beyond %" PRIu32 " %%.\n",
			 b->stop_at);
	if (b->drain_at > a->percent)
		str_addf(s, "From %" PRIu32 " %% on the nodes of its machines are drained.\n",
			 b->drain_at);
	if (b->requeue_at > a->percent)
		str_addf(s, "From %" PRIu32 " %% on its jobs are requeued.\n", b->requeue_at);
	if (b->kill_at > a->percent)
		str_addf(s, "From %" PRIu32 " %% on its jobs are cancelled.\n", b->kill_at);
}

static void add_one(struct str *s, const struct alert_mailing *m, const struct alert *a)
{
	const struct conf_budget *b = conf_budget_named(m->conf, a->budget);

	str_addf(s, "Cluster %s, ", m->cluster);
	add_what(s, m, a);
	str_adds(s, ".\n\n");
	add_figures(s, m, a);
	str_adds(s, "\n");
	add_next(s, b, a);
	if (b != NULL && b->contact != NULL && b->contact[0] != '\0')
		str_addf(s, "Contact: %s\n", b->contact);
	str_addf(s, "More: burstctl budget show %s\n", a->budget);
}

static void add_many(struct str *s, const struct alert_mailing *m)
{
	str_addf(s, "Cluster %s, %zu alerts of budgets:\n\n", m->cluster, m->n);
	for (size_t i = 0; i < m->n && i < ALERT_LINES_MAX; i++) {
		str_adds(s, "  ");
		add_what(s, m, m->alerts[i]);
		str_adds(s, "\n");
	}
	if (m->n > ALERT_LINES_MAX)
		str_addf(s, "  ... and %zu more\n", m->n - ALERT_LINES_MAX);
	str_adds(s, "\nMore: burstctl budget alerts, burstctl budget list\n");
}

void alert_text(const struct alert_mailing *m, struct str *out)
{
	if (m->test)
		str_addf(out,
			 "Cluster %s: this is a test of burstd's alerts. No budget has passed "
			 "anything.\n",
			 m->cluster);
	else if (m->n == 1)
		add_one(out, m, m->alerts[0]);
	else
		add_many(out, m);
}

void alert_subject(const struct alert_mailing *m, char out[ALERT_SUBJECT_MAX + 1])
{
	struct str s;

	str_init(&s, 4 * ALERT_SUBJECT_MAX);
	str_addf(&s, "%s: ", m->cluster);
	if (m->test)
		str_adds(&s, "a test of burstd's alerts");
	else if (m->n == 1)
		add_what(&s, m, m->alerts[0]);
	else
		str_addf(&s, "%zu alerts of budgets", m->n);
	(void)snprintf(out, ALERT_SUBJECT_MAX + 1, "%s", s.p);
	str_fini(&s);
	for (char *p = out; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
}
