#include "ledger/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/date.h"
#include "base/fmt.h"
#include "ledger/complain.h"
#include "ledger/status.h"

enum {
	OUT_MAX = 1 << 30, /* bytes of what a command prints */
	LACKS_MAX = 1024,
};

int reading_check_file(const char *path, struct err *e)
{
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0)
		return 0;
	if (errno == ENOENT)
		return err_set(e, ERR_IO,
			       "%.120s: there is no ledger yet; the service burst-ledger makes it "
			       "in its first pass, or \"burst-ledger once\" does",
			       path);
	if (errno == EACCES)
		return err_set(e, ERR_AUTH,
			       "%.120s: only the service's user and root may read it; others ask "
			       "by \"burstctl report\" and \"burstctl cost job ID\"",
			       path);
	return err_set(e, err_of_errno(errno), "%.120s: %s", path, strerror(errno));
}

int reading_begin(struct reading *r, const struct settings *s, struct err *e)
{
	char *zone = NULL;
	int rc;

	*r = (struct reading){0};
	str_init(&r->out, OUT_MAX);
	if (site_init(&r->site, s, false, e) < 0 || reading_check_file(r->site.ledger, e) < 0 ||
	    ledger_open_to_read(&r->ledger, r->site.ledger, e) < 0 ||
	    ledger_begin(r->ledger, e) < 0 ||
	    ledger_note(r->ledger, LEDGER_CURRENCY, &r->currency, e) < 0 ||
	    ledger_note(r->ledger, LEDGER_ZONE, &zone, e) < 0)
		return -1;
	rc = calendar_init(&r->calendar, zone[0] != '\0' ? zone : "UTC", e);
	free(zone);
	return rc;
}

int reading_end(struct reading *r, int rc, const struct err *e)
{
	if (r->ledger != NULL)
		ledger_rollback(r->ledger);
	(void)fwrite(r->out.p, 1, r->out.len, stdout);
	if (rc < 0) {
		rc = complain(e);
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

struct book reading_book(struct reading *r)
{
	return (struct book){.ledger = r->ledger,
			     .calendar = &r->calendar,
			     .now_ms = clock_wall_ms(),
			     .currency = r->currency};
}

int reading_find_days(struct reading *r, const struct settings *s, struct reading_days *d,
		      struct err *e)
{
	char first[DATE_STR_SIZE], last[DATE_STR_SIZE];
	int64_t month;

	if (s->period != NULL) {
		if (calendar_parse_month(s->period, &month, e) < 0)
			return err_wrap(e, "--period");
		d->from_day = date_month_day(month);
		d->to_day = date_month_day(month + 1);
		(void)date_month_str(d->name, month);
		return 0;
	}
	d->to_day = calendar_day(&r->calendar, clock_wall_ms() / 1000);
	month = date_month(d->to_day);
	d->from_day = date_month_day(month);
	if (s->from == NULL && s->to == NULL) {
		d->to_day = date_month_day(month + 1);
		(void)date_month_str(d->name, month);
		return 0;
	}
	if (s->from != NULL && calendar_parse_day(s->from, &d->from_day, e) < 0)
		return err_wrap(e, "--from");
	if (s->to != NULL && calendar_parse_day(s->to, &d->to_day, e) < 0)
		return err_wrap(e, "--to");
	if (d->from_day > d->to_day)
		return err_set(e, ERR_INVALID, "--to: the last day is before the first");
	(void)snprintf(d->name, sizeof(d->name), "%s to %s", date_str(first, d->from_day),
		       date_str(last, d->to_day));
	d->to_day++;
	return 0;
}

/* What was read until then, and cannot be now: it matters where the report's days go on later. */
static void lacks_since(struct str *out, int64_t read_ms, int64_t end_ms, const char *what,
			const char *why)
{
	char when[FMT_TIME_SIZE];

	if (why[0] == '\0' || read_ms >= end_ms)
		return;
	str_adds(out, out->len > 0 ? "; " : "");
	if (read_ms == 0)
		str_addf(out, "%s (%s)", what, why);
	else
		str_addf(out, "%s since %s (%s)", what, fmt_time(when, read_ms), why);
}

int reading_lacks(struct reading *r, int64_t to_day, struct str *out, struct err *e)
{
	const int64_t end_ms = 1000 * calendar_day_begin(&r->calendar, to_day);
	struct status st = {0};
	int rc = status_read(&st, r->ledger, r->site.ledger, e);

	if (rc == 0 && st.unpriced + st.broken > 0)
		str_addf(out,
			 "%" PRId64 " instances have no price and %" PRId64
			 " cannot be computed: they are in no sum; see burst-ledger status",
			 st.unpriced, st.broken);
	if (rc == 0) {
		lacks_since(out, st.facts_ms, end_ms, "burstd's journal cannot be read",
			    st.facts_why);
		lacks_since(out, st.jobs_ms, end_ms,
			    "Slurm cannot be asked for jobs, and their time is shown as idle",
			    st.jobs_why);
	}
	status_fini(&st);
	return rc;
}

int reading_warn(struct reading *r, int64_t to_day, struct err *e)
{
	struct str s;
	int rc;

	str_init(&s, LACKS_MAX);
	rc = reading_lacks(r, to_day, &s, e);
	if (s.len > 0)
		(void)fprintf(stderr, "burst-ledger: %s\n", s.p);
	str_fini(&s);
	return rc;
}
