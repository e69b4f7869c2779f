#include "ledger/closing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "ledger/charges.h"
#include "ledger/lifetimes.h"
#include "ledger/number.h"
#include "ledger/report.h"
#include "ledger/verify.h"

enum { TOTALS_MAX = 4096, ALLOWED_MAX = 256 };

static const struct {
	const char *name, *text;
} obstacles[CLOSING_NOBSTACLES] = {
	[CLOSING_NOT_OVER] = {"not-over", "the month is not over"},
	[CLOSING_CLOSED] = {"closed", "it is closed already"},
	[CLOSING_EARLIER] = {"earlier", "a month before it has postings and is open"},
	[CLOSING_BEHIND] = {"behind", "what happened until an hour after its end was not read yet: "
				      "run burst-ledger once"},
	[CLOSING_NEWS] = {"news", "instances are to be computed again: run burst-ledger once"},
	[CLOSING_CHAIN] = {"chain", "a booking, or a close, is not as it was written: see "
				    "burst-ledger verify"},
	[CLOSING_SUMS] = {"sums", "sums are not those of the postings: see burst-ledger verify"},
	[CLOSING_BROKEN] = {"broken", "instances cannot be computed, or do not add up"},
	[CLOSING_DIFFERS] = {"differs", "instances are not what their facts come to"},
	[CLOSING_UNPRICED] = {"unpriced", "instances have no price, and are in no sum"},
	[CLOSING_UNSETTLED] = {"unsettled",
			       "instances ended, and late records of their jobs may still "
			       "come: for an hour, or three days"},
	[CLOSING_UNENDED] = {"unended", "instances bill on, and their nodes have others"},
	[CLOSING_QUARANTINED] = {"quarantined", "instances have a job whose times cannot be right"},
};

const char *closing_obstacle_str(enum closing_obstacle o)
{
	return obstacles[o].name;
}

const char *closing_obstacle_text(enum closing_obstacle o)
{
	return obstacles[o].text;
}

bool closing_may_allow(enum closing_obstacle o)
{
	return o >= CLOSING_UNPRICED;
}

int closing_parse_allowed(const char *words, unsigned *out, struct err *e)
{
	*out = 0;
	while (*words != '\0') {
		const size_t len = strcspn(words, ",");
		int o = CLOSING_UNPRICED;

		while (o < CLOSING_NOBSTACLES && (strncmp(obstacles[o].name, words, len) != 0 ||
						  obstacles[o].name[len] != '\0'))
			o++;
		if (o == CLOSING_NOBSTACLES)
			return err_set(e, ERR_INVALID,
				       "--allow: \"%.*s\" cannot be allowed; want unpriced, "
				       "unsettled, unended or quarantined",
				       (int)(len < 40 ? len : 40), words);
		*out |= 1U << o;
		words += len;
		words += *words == ',';
	}
	return 0;
}

/* --- how months are ----------------------------------------------------------------------------
 */

struct finding {
	int64_t month;
	struct closing_state *s;
	int64_t *closed; /* those that are, in order: the last that was closed is opened first */
	size_t n, cap;
};

static int take_record(void *ctx, const struct ledger_closing *c, struct err *e)
{
	struct finding *f = ctx;
	struct closing_state *s = f->s;

	(void)e;
	if (c->month != f->month)
		return 0;
	if (s->first_ms == 0)
		s->first_ms = c->at_ms;
	s->closed = c->closed;
	s->revision = c->revision;
	s->at_ms = c->at_ms;
	s->invoice = c->invoice;
	memset(s->hash, 0, sizeof(s->hash));
	memcpy(s->hash, c->hash, strnlen(c->hash, DIGEST_SIZE - 1));
	memset(s->digest, 0, sizeof(s->digest));
	memcpy(s->digest, c->digest, strnlen(c->digest, DIGEST_SIZE - 1));
	return 0;
}

int closing_state(struct ledger *l, int64_t month, struct closing_state *s, struct err *e)
{
	struct finding f = {.month = month, .s = s};

	*s = (struct closing_state){0};
	return ledger_closings(l, take_record, &f, e);
}

const char *closing_state_str(const struct closing_state *s)
{
	return s->closed ? "closed" : s->revision > 0 ? "reopened" : "open";
}

/* --- looking -----------------------------------------------------------------------------------
 */

struct looking {
	struct closing_draft *d;
	struct str *out;
};

static void say(struct looking *k, enum closing_obstacle o, const struct ledger_lifetime *t)
{
	if (++k->d->count[o] > VERIFY_SHOWN)
		return;
	str_addf(k->out, "%s, instance %s: %s\n", t->node, t->instance,
		 t->why[0] != '\0' ? t->why : obstacles[o].name);
}

static void look_at(struct looking *k, const struct ledger_lifetime *t)
{
	struct closing_draft *d = k->d;
	const bool over = t->end_s <= d->end_s; /* as far as is known */

	if (t->dirty)
		d->count[CLOSING_NEWS]++;
	if (t->node[0] == '\0' || t->start_s >= d->end_s || t->end_s <= d->start_s)
		return;
	d->instances++;
	d->go_on += !over;
	d->estimated += (t->flags & LEDGER_ESTIMATED) != 0;
	if ((t->flags & LEDGER_BROKEN) != 0)
		say(k, CLOSING_BROKEN, t);
	if ((t->flags & LEDGER_UNPRICED) != 0)
		say(k, CLOSING_UNPRICED, t);
	else if (over && t->state == LEDGER_ENDED && (t->flags & LEDGER_BROKEN) == 0)
		say(k, CLOSING_UNSETTLED, t);
	if ((t->flags & LEDGER_UNENDED) != 0)
		say(k, CLOSING_UNENDED, t);
	if ((t->flags & LEDGER_QUARANTINED) != 0)
		say(k, CLOSING_QUARANTINED, t);
}

static int look_at_all(struct ledger *l, struct looking *k, struct err *e)
{
	struct lifetimes *all = mem_zalloc(sizeof(*all));
	int rc = 0;

	while (!all->over && rc == 0) {
		rc = lifetimes_next(all, l, false, e);
		for (size_t i = 0; i < all->n && rc == 0; i++)
			look_at(k, &all->v[i]);
	}
	lifetimes_fini(all);
	free(all);
	return rc;
}

static int look_at_time(const struct book *b, struct closing_draft *d, struct err *e)
{
	const int64_t end_ms = d->end_s * 1000;
	int64_t facts_ms, jobs_ms, pass_ms;

	if (ledger_number(b->ledger, LEDGER_FACTS_MS, &facts_ms, e) < 0 ||
	    ledger_number(b->ledger, LEDGER_JOBS_MS, &jobs_ms, e) < 0 ||
	    ledger_number(b->ledger, LEDGER_PASS_MS, &pass_ms, e) < 0)
		return -1;
	d->count[CLOSING_NOT_OVER] = b->now_ms < end_ms;
	d->count[CLOSING_BEHIND] =
		b->now_ms >= end_ms &&
		(facts_ms < end_ms + BOOK_SETTLE_MS || pass_ms < end_ms + BOOK_SETTLE_MS ||
		 (jobs_ms < end_ms + BOOK_SETTLE_MS && pass_ms < end_ms + BOOK_LATE_MS));
	return 0;
}

static int find_totals(struct ledger *l, struct closing_draft *d, struct err *e)
{
	const struct report_want want = {.keys = {REPORT_CURRENCY},
					 .n = 1,
					 .from_day = date_month_day(d->month),
					 .to_day = date_month_day(d->month + 1)};
	char text[NUMBER_MONEY_SIZE];
	struct report r;
	struct str s;
	int rc = report_make(&r, l, &want, e);

	str_init(&s, TOTALS_MAX);
	for (size_t i = 0; i < r.n && rc == 0; i++)
		str_addf(&s, "%s%s %s", i > 0 ? ", " : "", r.rows[i].text[0],
			 number_money(text, r.rows[i].nano, true));
	if (rc == 0 && s.full)
		rc = err_set(e, ERR_LIMIT, "too many currencies");
	report_fini(&r);
	d->totals = str_take(&s);
	return rc;
}

/* A correction needs an open month after the one that it is about, and so on. */
static int look_before(struct ledger *l, struct closing_draft *d, struct err *e)
{
	int64_t open_day;
	bool has;

	if (ledger_open_day(l, &open_day, e) < 0)
		return -1;
	if (open_day >= date_month_day(d->month + 1)) {
		d->count[CLOSING_CLOSED] = 1;
		return 0;
	}
	/* Also one that a report leaves out, since it comes to nothing: it must be in a record. */
	if (ledger_has_postings(l, open_day, date_month_day(d->month), &has, e) < 0)
		return -1;
	d->count[CLOSING_EARLIER] = has;
	return 0;
}

int closing_look(const struct book *b, int64_t month, struct closing_draft *d, struct str *out,
		 struct err *e)
{
	struct looking k = {.d = d, .out = out};
	struct closing_state s;
	struct verify v;

	*d = (struct closing_draft){
		.month = month,
		.start_s = calendar_day_begin(b->calendar, date_month_day(month)),
		.end_s = calendar_day_begin(b->calendar, date_month_day(month + 1))};
	if (closing_state(b->ledger, month, &s, e) < 0 || look_at_time(b, d, e) < 0 ||
	    look_before(b->ledger, d, e) < 0 || look_at_all(b->ledger, &k, e) < 0 ||
	    find_totals(b->ledger, d, e) < 0 ||
	    verify_time(b, d->start_s, d->end_s, &v, out, e) < 0)
		return -1;
	d->closed = d->count[CLOSING_CLOSED] != 0;
	d->revision = s.revision;
	d->count[CLOSING_CHAIN] = v.chain.bad != 0 || v.periods.bad != 0;
	d->count[CLOSING_SUMS] = v.rollups;
	d->count[CLOSING_BROKEN] =
		v.uneven > d->count[CLOSING_BROKEN] ? v.uneven : d->count[CLOSING_BROKEN];
	d->count[CLOSING_DIFFERS] = v.differ + v.lost;
	return 0;
}

void closing_draft_fini(struct closing_draft *d)
{
	free(d->totals);
	d->totals = NULL;
}

bool closing_is_stopped(const struct closing_draft *d, unsigned allowed)
{
	for (int o = 0; o < CLOSING_NOBSTACLES; o++)
		if (d->count[o] != 0 &&
		    (!closing_may_allow((enum closing_obstacle)o) || (allowed & 1U << o) == 0))
			return true;
	return false;
}

/* --- closing -----------------------------------------------------------------------------------
 */

/* Of instances that go on, or are not settled, the days that are closed. */
static int book_days(const struct book *b, int64_t until_day, struct err *e)
{
	struct lifetimes *all = mem_zalloc(sizeof(*all));
	int rc = 0;

	while (!all->over && rc == 0) {
		rc = lifetimes_next(all, b->ledger, true, e);
		for (size_t i = 0; i < all->n && rc == 0; i++)
			rc = ledger_book(b->ledger, all->v[i].id, until_day, b->now_ms, e);
	}
	lifetimes_fini(all);
	free(all);
	return rc;
}

/* Of what is allowed only what there was. */
static void list_allowed(const struct closing_draft *d, struct str *out)
{
	for (int o = 0; o < CLOSING_NOBSTACLES; o++)
		if (d->count[o] != 0)
			str_addf(out, "%s%s %" PRId64, out->len > 0 ? ", " : "", obstacles[o].name,
				 d->count[o]);
}

int closing_close(const struct book *b, const struct closing_draft *d, const struct closing_by *by,
		  char *hash, struct err *e)
{
	struct ledger_closing c = {.month = d->month,
				   .closed = true,
				   .at_ms = b->now_ms,
				   .who = by->who,
				   .reason = by->reason,
				   .zone = zone_name(b->calendar->zone),
				   .totals = d->totals};
	struct str allowed;
	int64_t seq = 0;
	int rc;

	if (closing_is_stopped(d, by->allowed))
		return err_set(e, ERR_INVALID, "something stands in the way");
	str_init(&allowed, ALLOWED_MAX);
	list_allowed(d, &allowed);
	c.allowed = allowed.p;
	rc = book_days(b, date_month_day(d->month + 1), e);
	if (rc == 0)
		rc = ledger_next_closing(b->ledger, &seq, e);
	if (rc == 0)
		rc = charges_freeze(b->ledger, seq, d->month, e);
	if (rc == 0)
		rc = ledger_put_closing(b->ledger, &c, hash, e);
	str_fini(&allowed);
	return rc;
}

static int take_last(void *ctx, const struct ledger_closing *c, struct err *e)
{
	struct finding *f = ctx;

	(void)e;
	if (!c->closed) {
		f->n -= f->n > 0;
		return 0;
	}
	if (f->n == f->cap) {
		f->cap = f->cap == 0 ? 16 : 2 * f->cap;
		f->closed = mem_realloc(f->closed, f->cap * sizeof(*f->closed));
	}
	f->closed[f->n++] = c->month;
	return 0;
}

/* *last: of all months that are closed; INT64_MIN: none is. */
static int find_last(struct ledger *l, int64_t *last, struct err *e)
{
	struct finding f = {.n = 0};
	int rc = ledger_closings(l, take_last, &f, e);

	*last = f.n > 0 ? f.closed[f.n - 1] : INT64_MIN;
	free(f.closed);
	return rc;
}

/* What is written next would have the end of the chain as it is now: a cut would be repaired. */
static int check_chains(struct ledger *l, struct err *e)
{
	struct ledger_period_check periods;
	struct ledger_chain chain;

	if (ledger_check_chain(l, &chain, e) < 0 || ledger_check_periods(l, &periods, e) < 0)
		return -1;
	if (chain.bad != 0)
		return err_set(e, ERR_INVALID, "booking %" PRId64 ": %s; see burst-ledger verify",
			       chain.bad, chain.what);
	if (periods.bad != 0)
		return err_set(e, ERR_INVALID, "closing %" PRId64 ": %s; see burst-ledger verify",
			       periods.bad, periods.what);
	return 0;
}

int closing_reopen(const struct book *b, int64_t month, const struct closing_by *by, char *hash,
		   struct err *e)
{
	const struct ledger_closing c = {.month = month,
					 .at_ms = b->now_ms,
					 .who = by->who,
					 .reason = by->reason,
					 .allowed = "",
					 .zone = zone_name(b->calendar->zone),
					 .totals = ""};
	struct closing_state s;
	int64_t last_month;
	char name[DATE_STR_SIZE], last[DATE_STR_SIZE];

	(void)date_month_str(name, month);
	if (check_chains(b->ledger, e) < 0 || closing_state(b->ledger, month, &s, e) < 0 ||
	    find_last(b->ledger, &last_month, e) < 0)
		return -1;
	if (!s.closed)
		return err_set(e, ERR_INVALID, "%s is not closed", name);
	if (last_month != month)
		return err_set(e, ERR_INVALID, "%s was closed after %s: reopen that first",
			       date_month_str(last, last_month), name);
	if (ledger_put_closing(b->ledger, &c, hash, e) < 0 ||
	    ledger_touch_late(b->ledger, date_month_day(month), e) < 0 ||
	    ledger_put_number(b->ledger, LEDGER_BUDGETS_MARK, 0, e) < 0) /* read all again */
		return -1;
	return book_write_news(b, e);
}
