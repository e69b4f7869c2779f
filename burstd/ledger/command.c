/* The commands that only read. */
#include "ledger/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ledger/closing.h"
#include "ledger/explain.h"
#include "ledger/reading.h"
#include "ledger/report_write.h"
#include "ledger/status.h"
#include "ledger/verify.h"

int command_status(const struct settings *s)
{
	struct reading r;
	struct status st = {0};
	struct err e = {0};
	int rc = reading_begin(&r, s, &e);

	if (rc == 0)
		rc = status_read(&st, r.ledger, r.site.ledger, &e);
	if (rc == 0 && s->json)
		status_json(&st, clock_wall_ms(), &r.out);
	else if (rc == 0)
		status_print(&st, clock_wall_ms(), &r.out);
	status_fini(&st);
	return reading_end(&r, rc, &e);
}

int command_job(const struct settings *s, const char *id)
{
	struct reading r;
	struct err e = {0};
	int rc = reading_begin(&r, s, &e);

	if (rc == 0) {
		const struct book b = reading_book(&r);
		struct jsonw json = {.out = &r.out, .first = true};
		const struct explain_want w = {.id = id,
					       .user = s->user,
					       .arithmetic = s->explain,
					       .json = s->json ? &json : NULL};

		if (s->json)
			jsonw_open(&json, NULL, '{');
		rc = explain_job(&b, &w, &r.out, &e);
		if (s->json && rc < 0) {
			str_clear(&r.out); /* no half of one */
		} else if (s->json) {
			jsonw_close(&json, '}');
			str_adds(&r.out, "\n");
		}
	}
	return reading_end(&r, rc, &e);
}

/* --- checks ------------------------------------------------------------------------------------
 */

static void print_verdict(const struct verify *v, struct str *out)
{
	str_addf(out,
		 "bookings    %" PRId64 ", chained, the last %s\n"
		 "closings    %" PRId64 ", with the postings of their months\n"
		 "instances   %" PRId64 ", %" PRId64 " whose parts do not add up, %" PRId64
		 " that differ when computed again\n",
		 v->chain.bookings, v->chain.hash, v->periods.closings, v->lifetimes, v->uneven,
		 v->differ);
	if (v->periods.bare > 0)
		str_addf(out,
			 "            %" PRId64 " closed months are of an older version, whose "
			 "records have no budgets\n",
			 v->periods.bare);
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
	int rc = reading_begin(&r, s, &e);

	if (rc == 0) {
		const struct book b = reading_book(&r);

		rc = verify_ledger(&b, &v, &r.out, &e);
	}
	if (rc < 0)
		return reading_end(&r, rc, &e);
	print_verdict(&v, &r.out);
	rc = reading_end(&r, 0, &e);
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
		return complain_of_usage(
			"rebuild: want --check; a ledger is computed again by removing its "
			"file, and the service reads all facts and jobs anew");
	rc = reading_begin(&r, s, &e);
	if (rc == 0) {
		const struct book b = reading_book(&r);

		rc = verify_ledger(&b, &v, &r.out, &e);
	}
	if (rc == 0)
		str_addf(&r.out, "as it is    %s\nmade again  %s\n%s\n", v.had, v.made,
			 strcmp(v.had, v.made) == 0 ? "the same" : "NOT THE SAME");
	rc = reading_end(&r, rc, &e);
	return rc == 0 && strcmp(v.had, v.made) != 0 ? COMMAND_WRONG : rc;
}

/* --- report ------------------------------------------------------------------------------------
 */

static int write_report(struct reading *r, const struct settings *s, struct report_want *w,
			struct err *e)
{
	const enum report_form form = s->json ? REPORT_JSON : s->csv ? REPORT_CSV : REPORT_TABLE;
	struct jsonw json = {.out = &r->out, .first = true};
	struct reading_days days;
	int rc;

	if (reading_find_days(r, s, &days, e) < 0)
		return -1;
	w->from_day = days.from_day;
	w->to_day = days.to_day;
	if (s->json)
		jsonw_open(&json, NULL, '{');
	rc = report_write(r->ledger, w, form, &json, &r->out, e);
	if (rc < 0) {
		str_clear(&r->out); /* no half of one */
		return rc;
	}
	if (s->json) {
		jsonw_close(&json, '}');
		str_adds(&r->out, "\n");
	}
	return reading_warn(r, w->to_day, e);
}

int command_report(const struct settings *s)
{
	struct report_want w = {.user = s->user};
	struct reading r;
	struct err e = {0};
	int rc;

	if (s->json && s->csv)
		return complain_of_usage("report: want --json or --csv, not both");
	if (s->period != NULL && (s->from != NULL || s->to != NULL))
		return complain_of_usage("report: want --period, or --from and --to");
	if (report_parse(&w, s->by != NULL ? s->by : "account", &e) < 0)
		return complain_of_usage("%s", e.msg);
	rc = reading_begin(&r, s, &e);
	if (rc == 0)
		rc = write_report(&r, s, &w, &e);
	return reading_end(&r, rc, &e);
}
