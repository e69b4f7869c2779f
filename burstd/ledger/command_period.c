/* burst-ledger period: months, and closing them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/fmt.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/plain.h"
#include "ledger/closing.h"
#include "ledger/command.h"
#include "ledger/reading.h"
#include "ledger/report.h"
#include "ledger/writing.h"

enum { REASON_MAX = 500, DAY_MAX = 1 << 30 };

/* --- list --------------------------------------------------------------------------------------
 */

struct total {
	char *currency;
	int64_t nano;
};

struct period { /* a month with charges, or a record */
	int64_t month;
	struct closing_state state;
	char *who, *reason;
	struct total *totals; /* of each currency */
	size_t ntotals;
};

struct periods {
	struct period *v; /* by month */
	size_t n, cap;
};

static struct period *period_of(struct periods *all, int64_t month)
{
	size_t at = 0;

	while (at < all->n && all->v[at].month < month)
		at++;
	if (at < all->n && all->v[at].month == month)
		return &all->v[at];
	if (all->n == all->cap) {
		all->cap = all->cap == 0 ? 32 : 2 * all->cap;
		all->v = mem_realloc(all->v, all->cap * sizeof(*all->v));
	}
	memmove(&all->v[at + 1], &all->v[at], (all->n++ - at) * sizeof(*all->v));
	all->v[at] =
		(struct period){.month = month, .who = mem_strdup(""), .reason = mem_strdup("")};
	return &all->v[at];
}

static void replace(char **text, const char *by)
{
	free(*text);
	*text = mem_strdup(by);
}

static int take_record(void *ctx, const struct ledger_closing *c, struct err *e)
{
	struct period *p = period_of(ctx, c->month);

	(void)e;
	p->state.closed = c->closed;
	p->state.revision = c->revision;
	p->state.at_ms = c->at_ms;
	replace(&p->who, c->who);
	replace(&p->reason, c->reason);
	return 0;
}

static void add_total(struct period *p, const struct report_row *row)
{
	p->totals = mem_realloc(p->totals, (p->ntotals + 1) * sizeof(*p->totals));
	p->totals[p->ntotals++] = (struct total){mem_strdup(row->text[1]), row->nano};
}

static void periods_fini(struct periods *all)
{
	for (size_t i = 0; i < all->n; i++) {
		for (size_t k = 0; k < all->v[i].ntotals; k++)
			free(all->v[i].totals[k].currency);
		free(all->v[i].totals);
		free(all->v[i].who);
		free(all->v[i].reason);
	}
	free(all->v);
}

static int load_periods(struct ledger *l, struct periods *all, struct err *e)
{
	const struct report_want want = {
		.keys = {REPORT_MONTH, REPORT_CURRENCY}, .n = 2, .to_day = DAY_MAX};
	struct report r;
	int rc = ledger_closings(l, take_record, all, e);

	if (rc < 0)
		return -1;
	rc = report_make(&r, l, &want, e);
	for (size_t i = 0; i < r.n && rc == 0; i++)
		add_total(period_of(all, r.rows[i].key[0]), &r.rows[i]);
	report_fini(&r);
	return rc;
}

static void print_totals(const struct period *p, struct str *out)
{
	char money[FMT_MONEY_SIZE];

	for (size_t i = 0; i < p->ntotals; i++)
		str_addf(out, "%s%s %s", i > 0 ? ", " : "", p->totals[i].currency,
			 fmt_money(money, p->totals[i].nano));
	str_adds(out, p->ntotals > 0 ? "\n" : "-\n");
}

static void json_totals(const struct period *p, struct jsonw *w)
{
	jsonw_open(w, "totals", '[');
	for (size_t i = 0; i < p->ntotals; i++) {
		jsonw_open(w, NULL, '{');
		jsonw_text(w, "currency", p->totals[i].currency);
		jsonw_money(w, "cost", p->totals[i].nano);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}

static void print_periods(const struct periods *all, struct str *out)
{
	char month[DATE_STR_SIZE], when[FMT_TIME_SIZE];

	str_addf(out, "%-8s %-9s %-3s %-24s %s\n", "PERIOD", "STATE", "REV", "SINCE", "TOTAL");
	for (size_t i = 0; i < all->n; i++) {
		const struct period *p = &all->v[i];

		str_addf(out, "%-8s %-9s %-3u %-24s ", date_month_str(month, p->month),
			 closing_state_str(&p->state), p->state.revision,
			 p->state.at_ms != 0 ? fmt_time(when, p->state.at_ms) : "-");
		print_totals(p, out);
		if (p->state.at_ms != 0)
			str_addf(out, "         by %s%s%s\n", p->who,
				 p->reason[0] != '\0' ? ": " : "", p->reason);
	}
}

static void json_periods(const struct periods *all, struct str *out)
{
	struct jsonw w = {.out = out, .first = true};
	char month[DATE_STR_SIZE];

	jsonw_open(&w, NULL, '{');
	jsonw_open(&w, "periods", '[');
	for (size_t i = 0; i < all->n; i++) {
		const struct period *p = &all->v[i];

		jsonw_open(&w, NULL, '{');
		jsonw_text(&w, "period", date_month_str(month, p->month));
		jsonw_text(&w, "state", closing_state_str(&p->state));
		jsonw_int(&w, "revision", p->state.revision);
		jsonw_int(&w, "at_ms", p->state.at_ms);
		jsonw_text(&w, "by", p->who);
		jsonw_text(&w, "reason", p->reason);
		json_totals(p, &w);
		jsonw_close(&w, '}');
	}
	jsonw_close(&w, ']');
	jsonw_close(&w, '}');
	str_adds(out, "\n");
}

static int list(const struct settings *s)
{
	struct periods all = {.n = 0};
	struct reading r;
	struct err e = {0};
	int rc = reading_begin(&r, s, &e);

	if (rc == 0)
		rc = load_periods(r.ledger, &all, &e);
	if (rc == 0 && s->json)
		json_periods(&all, &r.out);
	else if (rc == 0)
		print_periods(&all, &r.out);
	periods_fini(&all);
	return reading_end(&r, rc, &e);
}

/* --- draft -------------------------------------------------------------------------------------
 */

static void print_obstacles(const struct closing_draft *d, unsigned allowed, struct str *out)
{
	for (int o = 0; o < CLOSING_NOBSTACLES; o++) {
		const bool may = closing_may_allow((enum closing_obstacle)o);

		if (d->count[o] == 0)
			continue;
		str_addf(out, "  %-12s", closing_obstacle_str((enum closing_obstacle)o));
		if (may || o == CLOSING_NEWS || o == CLOSING_BROKEN || o == CLOSING_DIFFERS)
			str_addf(out, "%" PRId64 ": ", d->count[o]);
		str_addf(out, "%s%s\n", closing_obstacle_text((enum closing_obstacle)o),
			 (allowed & 1U << o) != 0 ? " (allowed)"
			 : may                    ? " (may be allowed)"
						  : "");
	}
}

static void print_draft(const struct closing_draft *d, struct str *out)
{
	char month[DATE_STR_SIZE];

	str_addf(out, "%s: %s%s\n", date_month_str(month, d->month),
		 d->totals[0] != '\0' ? d->totals : "no charges", d->closed ? ", closed" : "");
	str_addf(out,
		 "  instances: %" PRId64 "; that go on after it: %" PRId64
		 "; whose end is estimated: %" PRId64 "\n",
		 d->instances, d->go_on, d->estimated);
	if (!closing_is_stopped(d, 0)) {
		str_adds(out, "nothing stands in the way of closing it\n");
		return;
	}
	str_adds(out, "in the way of closing it:\n");
	print_obstacles(d, 0, out);
}

static void json_draft(const struct closing_draft *d, const struct period *p, struct str *out)
{
	struct jsonw w = {.out = out, .first = true};
	char month[DATE_STR_SIZE];

	jsonw_open(&w, NULL, '{');
	jsonw_text(&w, "period", date_month_str(month, d->month));
	jsonw_bool(&w, "closed", d->closed);
	jsonw_int(&w, "revision", d->revision);
	json_totals(p, &w);
	jsonw_int(&w, "instances", d->instances);
	jsonw_int(&w, "go_on", d->go_on);
	jsonw_int(&w, "estimated", d->estimated);
	jsonw_open(&w, "obstacles", '[');
	for (int o = 0; o < CLOSING_NOBSTACLES; o++) {
		if (d->count[o] == 0)
			continue;
		jsonw_open(&w, NULL, '{');
		jsonw_text(&w, "name", closing_obstacle_str((enum closing_obstacle)o));
		jsonw_int(&w, "count", d->count[o]);
		jsonw_bool(&w, "may_be_allowed", closing_may_allow((enum closing_obstacle)o));
		jsonw_close(&w, '}');
	}
	jsonw_close(&w, ']');
	jsonw_close(&w, '}');
	str_adds(out, "\n");
}

static int draft(const struct settings *s, int64_t month)
{
	struct closing_draft d = {.totals = NULL};
	struct periods all = {.n = 0};
	struct reading r;
	struct str lines;
	struct err e = {0};
	int rc = reading_begin(&r, s, &e);
	bool stopped = false;

	str_init(&lines, 1 << 20);
	if (rc == 0) {
		const struct book b = reading_book(&r);

		rc = closing_look(&b, month, &d, &lines, &e);
	}
	if (rc == 0 && s->json)
		rc = load_periods(r.ledger, &all, &e);
	if (rc == 0 && s->json) {
		json_draft(&d, period_of(&all, month), &r.out);
	} else if (rc == 0) {
		print_draft(&d, &r.out);
		str_add(&r.out, lines.p, lines.len);
	}
	stopped = rc == 0 && closing_is_stopped(&d, 0);
	str_fini(&lines);
	closing_draft_fini(&d);
	periods_fini(&all);
	rc = reading_end(&r, rc, &e);
	return rc == 0 && stopped ? COMMAND_WRONG : rc;
}

/* --- close, reopen -----------------------------------------------------------------------------
 */

static int close_it(struct writing *w, const struct book *b, int64_t month,
		    const struct closing_by *by, struct err *e)
{
	struct closing_draft d = {.totals = NULL};
	char hash[DIGEST_SIZE], name[DATE_STR_SIZE];
	struct str lines;
	int rc;

	(void)date_month_str(name, month);
	str_init(&lines, 1 << 20);
	rc = closing_look(b, month, &d, &lines, e);
	if (rc == 0 && d.closed)
		rc = err_set(e, ERR_INVALID, "%s is closed already, as revision %u", name,
			     d.revision);
	if (rc == 0 && closing_is_stopped(&d, by->allowed)) {
		str_addf(&w->out, "in the way of closing %s:\n", name);
		print_obstacles(&d, by->allowed, &w->out);
		str_add(&w->out, lines.p, lines.len);
		rc = err_set(e, ERR_INVALID, "%s is not closed", name);
	}
	if (rc == 0)
		rc = closing_close(b, &d, by, hash, e);
	if (rc == 0)
		rc = writing_commit(w, e);
	if (rc == 0)
		str_addf(&w->out, "%s is closed, revision %u: %s\nhash %s\n", name, d.revision + 1,
			 d.totals[0] != '\0' ? d.totals : "no charges", hash);
	closing_draft_fini(&d);
	str_fini(&lines);
	return rc;
}

static int reopen_it(struct writing *w, const struct book *b, int64_t month,
		     const struct closing_by *by, struct err *e)
{
	char hash[DIGEST_SIZE], name[DATE_STR_SIZE];

	if (closing_reopen(b, month, by, hash, e) < 0 || writing_commit(w, e) < 0)
		return -1;
	str_addf(&w->out, "%s is open again\nhash %s\n", date_month_str(name, month), hash);
	return 0;
}

static int change(const struct settings *s, int64_t month,
		  int (*fn)(struct writing *w, const struct book *b, int64_t month,
			    const struct closing_by *by, struct err *e))
{
	struct closing_by by = {.reason = s->reason != NULL ? s->reason : ""};
	struct writing w;
	struct err e = {0};
	int64_t jobs_ms;
	int rc;

	if (closing_parse_allowed(s->allow != NULL ? s->allow : "", &by.allowed, &e) < 0)
		return complain_of_usage("%s", e.msg);
	if (by.reason[0] == '\0' && (by.allowed != 0 || fn == reopen_it))
		return complain_of_usage("period: want --reason TEXT, which is kept");
	if (strlen(by.reason) > REASON_MAX || !plain_is(by.reason))
		return complain_of_usage("--reason: want one line of at most %d bytes", REASON_MAX);
	rc = writing_begin(&w, s, &e);
	by.who = w.who;
	if (rc == 0)
		rc = ledger_number(w.ledger, LEDGER_JOBS_MS, &jobs_ms, &e);
	if (rc == 0) {
		const struct book b = writing_book(&w, jobs_ms);

		rc = fn(&w, &b, month, &by, &e);
	}
	return writing_end(&w, rc, &e);
}

int command_period(const struct settings *s, const struct opt_args *args)
{
	const char *what = args->n > 0 ? args->v[0] : "";
	int64_t month = 0;
	struct err e = {0};

	if (strcmp(what, "list") == 0 && args->n == 1)
		return list(s);
	if (args->n != 2 || (strcmp(what, "draft") != 0 && strcmp(what, "close") != 0 &&
			     strcmp(what, "reopen") != 0))
		return complain_of_usage(
			"period: want list, or draft, close or reopen and a month, such as "
			"2026-03");
	if (calendar_parse_month(args->v[1], &month, &e) < 0)
		return complain_of_usage("%s", e.msg);
	if (strcmp(what, "draft") == 0)
		return draft(s, month);
	return change(s, month, strcmp(what, "close") == 0 ? close_it : reopen_it);
}
