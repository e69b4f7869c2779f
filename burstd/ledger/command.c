/* The commands that only read. */
#include "ledger/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/date.h"
#include "ledger/explain.h"
#include "ledger/report.h"
#include "ledger/status.h"
#include "ledger/verify.h"

enum { OUT_MAX = 1 << 30 /* bytes of what a command prints */ };

struct reading {
	struct site site;
	struct ledger *ledger;
	struct calendar calendar;
	struct str out;
	char *currency; /* of facts that name none */
};

int command_fail(const struct err *e)
{
	(void)fprintf(stderr, "burst-ledger: %s\n", e->msg);
	return COMMAND_WRONG;
}

static int usage(const char *why)
{
	(void)fprintf(stderr, "burst-ledger: %s\n", why);
	return COMMAND_USAGE;
}

static int begin(struct reading *r, const struct settings *s, struct err *e)
{
	char *zone = NULL;
	int rc;

	*r = (struct reading){0};
	str_init(&r->out, OUT_MAX);
	if (site_init(&r->site, s, false, e) < 0 ||
	    ledger_open_to_read(&r->ledger, r->site.ledger, e) < 0 ||
	    ledger_begin(r->ledger, e) < 0 ||
	    ledger_note(r->ledger, LEDGER_CURRENCY, &r->currency, e) < 0 ||
	    ledger_note(r->ledger, LEDGER_ZONE, &zone, e) < 0)
		return -1;
	rc = calendar_init(&r->calendar, zone[0] != '\0' ? zone : "UTC", e);
	free(zone);
	return rc;
}

/* Print what there is, also before an error. */
static int finish(struct reading *r, int rc, const struct err *e)
{
	if (r->ledger != NULL)
		ledger_rollback(r->ledger);
	(void)fwrite(r->out.p, 1, r->out.len, stdout);
	if (rc < 0) {
		rc = command_fail(e);
	} else if (fflush(stdout) != 0 || ferror(stdout) || r->out.full) {
		(void)fputs("burst-ledger: not all could be written\n", stderr);
		rc = COMMAND_WRONG;
	}
	ledger_close(r->ledger);
	calendar_fini(&r->calendar);
	site_fini(&r->site);
	str_fini(&r->out);
	free(r->currency);
	return rc;
}

static struct book book_of(struct reading *r)
{
	return (struct book){.ledger = r->ledger,
			     .calendar = &r->calendar,
			     .now_ms = clock_wall_ms(),
			     .currency = r->currency};
}

int command_status(const struct settings *s)
{
	struct reading r;
	struct status st = {0};
	struct err e = {0};
	int rc = begin(&r, s, &e);

	if (rc == 0)
		rc = status_read(&st, r.ledger, r.site.ledger, &e);
	if (rc == 0 && s->json)
		status_json(&st, clock_wall_ms(), &r.out);
	else if (rc == 0)
		status_print(&st, clock_wall_ms(), &r.out);
	status_fini(&st);
	return finish(&r, rc, &e);
}

int command_job(const struct settings *s, const char *id)
{
	struct reading r;
	struct err e = {0};
	int rc = begin(&r, s, &e);

	if (rc == 0) {
		const struct book b = book_of(&r);

		rc = explain_job(&b, id, s->explain, &r.out, &e);
	}
	return finish(&r, rc, &e);
}

/* --- checks ------------------------------------------------------------------------------------
 */

static void print_verdict(const struct verify *v, struct str *out)
{
	str_addf(out,
		 "bookings    %" PRId64 ", chained, the last %s\n"
		 "instances   %" PRId64 ", %" PRId64 " whose parts do not add up, %" PRId64
		 " that differ when computed again\n",
		 v->chain.bookings, v->chain.hash, v->lifetimes, v->uneven, v->differ);
	if (v->late > 0)
		str_addf(out, "            %" PRId64 " have news that the next pass will book\n",
			 v->late);
	str_addf(out, "%s\n", verify_is_good(v) ? "good" : "NOT GOOD");
}

int command_verify(const struct settings *s)
{
	struct reading r;
	struct verify v = {0};
	struct err e = {0};
	int rc = begin(&r, s, &e);

	if (rc == 0) {
		const struct book b = book_of(&r);

		rc = verify_ledger(&b, &v, &r.out, &e);
	}
	if (rc < 0)
		return finish(&r, rc, &e);
	print_verdict(&v, &r.out);
	rc = finish(&r, 0, &e);
	return rc == 0 && !verify_is_good(&v) ? COMMAND_WRONG : rc;
}

/* All of the ledger is made of facts and jobs that are in it: is it that? */
int command_rebuild(const struct settings *s)
{
	struct reading r;
	struct verify v = {0};
	struct err e = {0};
	int rc;

	if (!s->check)
		return usage("rebuild: want --check; a ledger is computed again by removing its "
			     "file, and the service reads all facts and jobs anew");
	rc = begin(&r, s, &e);
	if (rc == 0) {
		const struct book b = book_of(&r);

		rc = verify_ledger(&b, &v, &r.out, &e);
	}
	if (rc == 0)
		str_addf(&r.out, "as it is    %s\nmade again  %s\n%s\n", v.had, v.made,
			 strcmp(v.had, v.made) == 0 ? "the same" : "NOT THE SAME");
	rc = finish(&r, rc, &e);
	return rc == 0 && strcmp(v.had, v.made) != 0 ? COMMAND_WRONG : rc;
}

/* --- report ------------------------------------------------------------------------------------
 */

/* The days from the options; none given: this month. */
static int find_days(struct reading *r, const struct settings *s, struct report_want *w,
		     struct err *e)
{
	int64_t month;

	if (s->period != NULL) {
		if (calendar_parse_month(s->period, &month, e) < 0)
			return -1;
		w->from_day = date_month_day(month);
		w->to_day = date_month_day(month + 1);
		return 0;
	}
	w->to_day = calendar_day(&r->calendar, clock_wall_ms() / 1000);
	w->from_day = date_month_day(date_month(w->to_day));
	if ((s->from != NULL && calendar_parse_day(s->from, &w->from_day, e) < 0) ||
	    (s->to != NULL && calendar_parse_day(s->to, &w->to_day, e) < 0))
		return -1;
	w->to_day++;
	if (w->from_day >= w->to_day)
		return err_set(e, ERR_INVALID, "the last day is before the first");
	return 0;
}

/* What no report has in it. */
static int warn(struct reading *r, struct err *e)
{
	struct status st = {0};
	int rc = status_read(&st, r->ledger, r->site.ledger, e);

	if (rc == 0 && st.unpriced + st.broken > 0)
		(void)fprintf(stderr,
			      "burst-ledger: %" PRId64 " instances have no price and %" PRId64
			      " cannot be computed: they are in no sum; see burst-ledger status\n",
			      st.unpriced, st.broken);
	status_fini(&st);
	return rc;
}

int command_report(const struct settings *s)
{
	struct report_want w = {.n = 0};
	struct report rep = {.memory = NULL};
	struct reading r;
	struct err e = {0};
	int rc;

	if (s->json && s->csv)
		return usage("report: want --json or --csv, not both");
	if (s->period != NULL && (s->from != NULL || s->to != NULL))
		return usage("report: want --period, or --from and --to");
	if (report_parse(&w, s->by != NULL ? s->by : "account", &e) < 0)
		return usage(e.msg);
	rc = begin(&r, s, &e);
	if (rc == 0)
		rc = find_days(&r, s, &w, &e);
	if (rc == 0) {
		rc = report_make(&rep, r.ledger, &w, &e);
		if (rc == 0 && s->json)
			report_json(&rep, &r.out);
		else if (rc == 0 && s->csv)
			report_csv(&rep, &r.out);
		else if (rc == 0)
			report_table(&rep, &r.out);
		if (rc == 0)
			rc = warn(&r, &e);
		report_fini(&rep);
	}
	return finish(&r, rc, &e);
}
