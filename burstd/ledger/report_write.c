#include "ledger/report_write.h"

#include "base/date.h"
#include "ledger/closing.h"
#include "ledger/figures.h"

static int write_figures(struct ledger *l, const struct report_want *w, struct jsonw *json,
			 struct str *out, struct err *e)
{
	const struct figures_want want = {w->from_day, w->to_day, w->user};
	struct figures f;
	int rc = figures_make(&f, l, &want, e);

	if (rc == 0 && json != NULL)
		figures_json_put(&f, json);
	else if (rc == 0)
		figures_table(&f, out);
	figures_fini(&f);
	return rc;
}

/* Is it about a month?  Then say whether that is closed. */
static int find_state(struct report *r, struct ledger *l, const struct report_want *w,
		      struct err *e)
{
	const int64_t month = date_month(w->from_day);
	struct closing_state state;

	if (w->from_day != date_month_day(month) || w->to_day != date_month_day(month + 1))
		return 0;
	if (closing_state(l, month, &state, e) < 0)
		return -1;
	r->state = closing_state_str(&state);
	r->revision = state.revision;
	return 0;
}

int report_write(struct ledger *l, const struct report_want *w, enum report_form form,
		 struct jsonw *json, struct str *out, struct err *e)
{
	struct report r;
	int rc = report_make(&r, l, w, e);

	if (rc == 0)
		rc = find_state(&r, l, w, e);
	if (rc == 0 && form == REPORT_CSV)
		report_csv(&r, out);
	else if (rc == 0 && form == REPORT_JSON)
		report_json_put(&r, json);
	else if (rc == 0)
		report_table(&r, out);
	report_fini(&r);
	if (rc == 0 && form != REPORT_CSV)
		rc = write_figures(l, w, form == REPORT_JSON ? json : NULL, out, e);
	return rc;
}
