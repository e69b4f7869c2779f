#include "ledger/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "ledger/charges.h"
#include "ledger/closing.h"
#include "ledger/export_budgets.h"
#include "ledger/export_invoices.h"
#include "ledger/export_notes.h"
#include "ledger/export_overrides.h"
#include "ledger/export_usage.h"
#include "ledger/export_xdmod.h"
#include "ledger/lifetimes.h"
#include "ledger/pseudonym.h"
#include "ledger/report.h"
#include "ledger/xlsx.h"

enum { NAME_MAX_BYTES = 256 };

static const char *const forms[] = {[EXPORT_FOCUS] = "focus",
				    [EXPORT_FOCUS_METADATA] = "focus-metadata",
				    [EXPORT_BILLING_PERIOD] = "focus-billing-period",
				    [EXPORT_INVOICE_DETAIL] = "focus-invoice-detail",
				    [EXPORT_STATEMENT] = "statement",
				    [EXPORT_XLSX] = "xlsx",
				    [EXPORT_WALDUR] = "waldur",
				    [EXPORT_COLDFRONT] = "coldfront",
				    [EXPORT_XDMOD] = "xdmod",
				    [EXPORT_XDMOD_EVENTS] = "xdmod-events"};

enum { NFORMS = sizeof(forms) / sizeof(forms[0]) };

const char *export_form_str(size_t i)
{
	return i < NFORMS ? forms[i] : NULL;
}

int export_parse_form(enum export_form *out, const char *text, struct err *e)
{
	struct str all;

	for (size_t i = 0; i < NFORMS; i++)
		if (strcmp(forms[i], text) == 0) {
			*out = (enum export_form)i;
			return 0;
		}
	str_init(&all, NAME_MAX_BYTES);
	for (size_t i = 0; i < NFORMS; i++)
		str_addf(&all, "%s%s", i > 0 ? ", " : "", forms[i]);
	(void)err_set(e, ERR_INVALID, "no such form: \"%.40s\"; want one of %s", text, all.p);
	str_fini(&all);
	return -1;
}

/* --- charges of one currency -------------------------------------------------------------------
 */

struct exporting {
	const struct export *x;
	struct ledger *l;
	char *cluster;
	struct report providers; /* all that have a charge */
	struct focus_provider *focus;
	char **drivers, **accounts, **numbers; /* of the providers; a number NULL: of none */
	struct closing_state state;            /* of the period, if it is a month; ... */
	struct export_invoices invoices;       /* ... likewise */
	source_fn charge;                      /* of the visit that runs */
	void *arg;
	size_t left_out; /* by it */
};

static int one_charge(void *ctx, const struct charge *c, struct err *e)
{
	struct exporting *w = ctx;

	if (strcmp(c->currency, w->x->currency) == 0)
		return w->charge(w->arg, c, e);
	w->left_out++;
	return 0;
}

/* Likewise, without names; FOCUS hides them itself. */
static int one_without_names(void *ctx, const struct charge *c, struct err *e)
{
	const struct exporting *w = ctx;
	char pseudonym[PSEUDONYM_SIZE];
	struct charge nameless = *c;

	nameless.user = pseudonym_of(pseudonym, w->x->site_key, c->user);
	nameless.job_name = "";
	return one_charge(ctx, &nameless, e);
}

static int visit(void *ctx, source_fn charge, void *arg, struct err *e)
{
	struct exporting *w = ctx;

	w->charge = charge;
	w->arg = arg;
	w->left_out = 0;
	return charges_visit(w->l, w->x->from_day, w->x->to_day,
			     w->x->site_key != NULL && w->x->form != EXPORT_FOCUS
				     ? one_without_names
				     : one_charge,
			     w, e);
}

static int64_t begin_s(const struct export *x)
{
	return zone_day_begin(x->zone, x->from_day);
}

static int64_t end_s(const struct export *x)
{
	return zone_day_begin(x->zone, x->to_day);
}

static bool is_month(const struct export *x)
{
	const int64_t month = date_month(x->from_day);

	return x->from_day == date_month_day(month) && x->to_day == date_month_day(month + 1);
}

/* A closed month is written as it was then. */
static int64_t made_s(const struct exporting *w)
{
	return w->state.closed ? w->state.at_ms / 1000 : w->x->now_s;
}

/* The end of the last day that has begun: a cluster has no size on days to come. */
static int64_t begun_s(const struct exporting *w)
{
	const struct export *x = w->x;
	const int64_t day = zone_day(x->zone, made_s(w)) + 1;

	return zone_day_begin(x->zone, day < x->to_day ? day : x->to_day);
}

/* --- forms -------------------------------------------------------------------------------------
 */

static int load_providers(struct exporting *w, struct err *e)
{
	const struct report_want want = {.keys = {REPORT_PROVIDER, REPORT_CURRENCY},
					 .n = 2,
					 .from_day = w->x->from_day,
					 .to_day = w->x->to_day};
	char key[NAME_MAX_BYTES];

	if (report_make(&w->providers, w->l, &want, e) < 0)
		return -1;
	w->focus = mem_zalloc((w->providers.n + 1) * sizeof(*w->focus));
	w->drivers = mem_zalloc((w->providers.n + 1) * sizeof(*w->drivers));
	w->accounts = mem_zalloc((w->providers.n + 1) * sizeof(*w->accounts));
	for (size_t i = 0; i < w->providers.n; i++) {
		const char *name = w->providers.rows[i].text[0];

		(void)snprintf(key, sizeof(key), "%s%s", LEDGER_DRIVER, name);
		if (ledger_note(w->l, key, &w->drivers[i], e) < 0)
			return -1;
		(void)snprintf(key, sizeof(key), "%s%s", LEDGER_ACCOUNT, name);
		if (ledger_note(w->l, key, &w->accounts[i], e) < 0)
			return -1;
		w->focus[i] = (struct focus_provider){.name = name,
						      .driver = w->drivers[i],
						      .account = w->accounts[i],
						      .account_name = "",
						      .invoice = ""};
	}
	return 0;
}

/* A file has the numbers of invoices in all rows, or in none. */
static void find_numbers(struct exporting *w)
{
	const int64_t month = date_month(w->x->from_day);
	bool all = w->providers.n > 0;

	w->numbers = mem_zalloc((w->providers.n + 1) * sizeof(*w->numbers));
	for (size_t i = 0; i < w->providers.n; i++) {
		w->numbers[i] = export_invoices_of(&w->invoices, w->focus[i].name, month);
		all = all && w->numbers[i] != NULL;
	}
	for (size_t i = 0; i < w->providers.n; i++)
		w->focus[i].invoice = all ? w->numbers[i] : "";
}

static int write_focus(struct exporting *w, const struct source *from, const struct sink *to,
		       struct err *e)
{
	const struct export *x = w->x;
	struct focus_options o = {.version = x->version,
				  .view = x->view,
				  .grain = FOCUS_DAY, /* the ledger's own */
				  .cluster = w->cluster,
				  .currency = x->currency,
				  .start_s = begin_s(x),
				  .end_s = end_s(x),
				  .invoice = "",
				  .method = "dominant-share",
				  .zone = x->zone,
				  .site_key = x->site_key,
				  .spreadsheet = x->spreadsheet};
	struct focus_sum sum;
	char *text;
	int rc;

	if (load_providers(w, e) < 0)
		return -1;
	find_numbers(w);
	o.providers = w->focus;
	o.nproviders = w->providers.n;
	if (x->form == EXPORT_FOCUS)
		return focus_write(&o, from, to, &sum, e);
	if (x->form == EXPORT_BILLING_PERIOD)
		return export_billing_period(&o, &w->state, to, e);
	if (x->form == EXPORT_INVOICE_DETAIL)
		return export_invoice_detail(&o, &w->invoices, w->l, to, e);
	text = focus_metadata(&o, made_s(w));
	rc = to->put(to->ctx, text, strlen(text), e);
	free(text);
	return rc;
}

struct budgeting { /* what a statement says of budgets */
	struct export_budgets budgets;
	struct export_overrides overrides;
};

/* Budgets are in the ledger's own currency: a statement in another one has none. */
static int find_budgets(const struct exporting *w, struct budgeting *out, struct err *e)
{
	const struct export *x = w->x;
	char *own;
	int rc = ledger_note(w->l, LEDGER_CURRENCY, &own, e);
	const bool here = rc == 0 && strcmp(own, x->currency) == 0;

	*out = (struct budgeting){0};
	free(own);
	if (!here)
		return rc;
	rc = export_budgets_load(&out->budgets, w->l, begin_s(x), end_s(x), x->site_key, e);
	if (rc == 0)
		rc = export_overrides_load(&out->overrides, w->l, begin_s(x), end_s(x), x->site_key,
					   e);
	if (rc < 0)
		export_budgets_fini(&out->budgets);
	return rc;
}

static void forget_budgets(struct budgeting *b)
{
	export_budgets_fini(&b->budgets);
	export_overrides_fini(&b->overrides);
}

/* The total of as many months before as the period has; only a month has one before it. */
static int find_previous(const struct exporting *w, struct statement *s, struct err *e)
{
	const struct export *x = w->x;
	const int64_t month = date_month(x->from_day);
	const struct report_want want = {.keys = {REPORT_CURRENCY},
					 .n = 1,
					 .from_day = date_month_day(month - 1),
					 .to_day = date_month_day(month)};
	struct report r;
	int rc;

	if (!is_month(x))
		return 0;
	rc = report_make(&r, w->l, &want, e);
	for (size_t i = 0; i < r.n && rc == 0; i++)
		if (strcmp(r.rows[i].text[0], x->currency) == 0) {
			s->has_previous = true;
			s->previous = r.rows[i].nano;
		}
	report_fini(&r);
	return rc;
}

static int write_pages(const struct exporting *w, const struct source *from, const struct tally *t,
		       const struct sink *to, struct err *e)
{
	const struct export *x = w->x;
	struct statement s = {.cluster = w->cluster,
			      .zone = x->zone,
			      .currency = x->currency,
			      .period = x->period,
			      .start_s = begin_s(x),
			      .end_s = end_s(x),
			      .closed = w->state.closed,
			      .revision = w->state.revision + !w->state.closed,
			      .hash = w->state.closed ? w->state.hash : "",
			      .made_s = made_s(w),
			      .share = "dominant-share"};
	struct budgeting had;
	struct export_notes notes;
	int rc = find_previous(w, &s, e);

	if (rc < 0 || find_budgets(w, &had, e) < 0)
		return -1;
	if (export_notes_make(&notes, from, x->zone, e) < 0) {
		forget_budgets(&had);
		return -1;
	}
	s.corrections = notes.corrections;
	s.ncorrections = notes.ncorrections;
	s.invoices = w->invoices.lines;
	s.ninvoices = w->invoices.n;
	s.budgets = had.budgets.v;
	s.nbudgets = had.budgets.n;
	s.overrides = had.overrides.v;
	s.noverrides = had.overrides.n;
	if (x->form == EXPORT_XLSX)
		rc = xlsx_write(x->path, x->tmp_dir, &s, t, from, e);
	else
		rc = statement_write(&s, t, to, e);
	export_notes_fini(&notes);
	forget_budgets(&had);
	return rc;
}

static int write_usage(const struct exporting *w, const struct source *from, const struct tally *t,
		       const struct sink *to, struct err *e)
{
	const struct export *x = w->x;
	char attribute[NAME_MAX_BYTES];
	const struct export_usage o = {.currency = x->currency,
				       .start_s = begin_s(x),
				       .cost_component = x->cost_component,
				       .gpu_component = x->gpu_component,
				       .attribute =
					       x->attribute != NULL ? x->attribute : attribute};

	(void)snprintf(attribute, sizeof(attribute), "Cloud Budget (%s)", x->currency);
	return x->form == EXPORT_WALDUR ? export_waldur(&o, from, to, e)
					: export_coldfront(&o, t, to, e);
}

static int write_sums(const struct exporting *w, const struct source *from, const struct sink *to,
		      struct err *e)
{
	const struct export *x = w->x;
	const struct tally_options o = {.currency = x->currency,
					.start_s = begin_s(x),
					.end_s = end_s(x),
					.zone = x->zone,
					.distribute = x->distribute};
	struct tally t;
	int rc;

	if (tally_make(&t, &o, from, e) < 0)
		return -1;
	rc = x->form == EXPORT_COLDFRONT ? write_usage(w, from, &t, to, e)
					 : write_pages(w, from, &t, to, e);
	tally_fini(&t);
	return rc;
}

struct machine { /* what is known of it */
	char *pool, *type;
	int64_t cpus, memory_mb;
};

static int take_machine(void *ctx, const struct fact_machine *m, struct err *e)
{
	(void)e;
	*(struct machine *)ctx = (struct machine){.pool = mem_strdup(m->pool),
						  .type = mem_strdup(m->type),
						  .cpus = m->cpus,
						  .memory_mb = m->memory_mb};
	return 0;
}

/* Several accounts use a machine; in XDMoD's cloud realm it is its pool's. */
static int write_events_of(const struct exporting *w, const struct ledger_lifetime *t,
			   const struct sink *to, struct err *e)
{
	const struct export *x = w->x;
	const int64_t until_s = end_s(x) < x->now_s + 1 ? end_s(x) : x->now_s + 1;
	struct machine m = {NULL, NULL, 0, 0};
	int rc = ledger_machine(w->l, t->node, t->gen, take_machine, &m, e);

	if (rc == 0) {
		const struct export_xdmod_instance i = {
			.instance = t->instance,
			.account = m.pool != NULL ? m.pool : "unknown",
			.type = m.type != NULL ? m.type : "unknown",
			.image = "unknown",
			.cpus = (uint32_t)m.cpus,
			.memory_mb = (uint64_t)m.memory_mb,
			.start_s = t->start_s,
			.end_s = t->state == LEDGER_OPEN ? 0 : t->end_s};

		rc = export_xdmod_events(&i, begin_s(x), until_s, to, e);
	}
	free(m.pool);
	free(m.type);
	return rc;
}

static int write_events(const struct exporting *w, const struct sink *to, struct err *e)
{
	struct lifetimes *all = mem_zalloc(sizeof(*all));
	int rc = 0;

	while (rc == 0 && !all->over) {
		rc = lifetimes_next(all, w->l, false, e);
		for (size_t i = 0; rc == 0 && i < all->n; i++)
			if (all->v[i].start_s != 0)
				rc = write_events_of(w, &all->v[i], to, e);
	}
	lifetimes_fini(all);
	free(all);
	return rc;
}

static int write_form(struct exporting *w, const struct sink *to, struct err *e)
{
	const struct source from = {.visit = visit, .ctx = w};
	const struct export_xdmod sizes = {w->cluster, begin_s(w->x), begun_s(w), w->x->zone};

	switch (w->x->form) {
	case EXPORT_BILLING_PERIOD:
	case EXPORT_INVOICE_DETAIL:
		if (!is_month(w->x))
			return err_set(e, ERR_INVALID, "it is about a month: want --period");
		return write_focus(w, &from, to, e);
	case EXPORT_FOCUS:
	case EXPORT_FOCUS_METADATA:
		return write_focus(w, &from, to, e);
	case EXPORT_WALDUR:
		return write_usage(w, &from, NULL, to, e);
	case EXPORT_XDMOD:
		return export_xdmod_specs(&sizes, &from, to, e);
	case EXPORT_XDMOD_EVENTS:
		return write_events(w, to, e);
	default:
		return write_sums(w, &from, to, e);
	}
}

int export_write(const struct export *x, struct ledger *l, const struct sink *to, size_t *left_out,
		 struct err *e)
{
	struct exporting w = {.x = x, .l = l};
	int rc = ledger_note(l, LEDGER_CLUSTER, &w.cluster, e);

	if (rc == 0 && is_month(x))
		rc = closing_state(l, date_month(x->from_day), &w.state, e);
	if (rc == 0 && is_month(x))
		rc = export_invoices_load(&w.invoices, l, date_month(x->from_day), x->currency, e);
	if (rc == 0)
		rc = write_form(&w, to, e);
	*left_out = w.left_out;
	for (size_t i = 0; w.drivers != NULL && i < w.providers.n; i++) {
		free(w.drivers[i]);
		free(w.accounts[i]);
	}
	for (size_t i = 0; w.numbers != NULL && i < w.providers.n; i++)
		free(w.numbers[i]);
	free(w.drivers);
	free(w.accounts);
	free(w.numbers);
	export_invoices_fini(&w.invoices);
	free(w.focus);
	if (w.providers.memory != NULL)
		report_fini(&w.providers);
	free(w.cluster);
	return rc;
}
