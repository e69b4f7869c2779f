#include "ledger/report_write.h"

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

int report_write(struct ledger *l, const struct report_want *w, enum report_form form,
		 struct jsonw *json, struct str *out, struct err *e)
{
	struct report r;
	int rc = report_make(&r, l, w, e);

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
