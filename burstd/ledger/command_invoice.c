/* burst-ledger invoice: what providers want. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/date.h"
#include "base/fmt.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/plain.h"
#include "ledger/command.h"
#include "ledger/invoice.h"
#include "ledger/reading.h"
#include "ledger/writing.h"

/* --- import ------------------------------------------------------------------------------------
 */

static void print_money(struct str *out, const char *what, int64_t nano, const char *about)
{
	char text[FMT_MONEY_SIZE];

	if (nano != 0)
		str_addf(out, "  %-11s %16s  %s\n", what, fmt_money(text, nano), about);
}

static void print_result(const struct invoice_import *in, const struct invoice_result *r, bool dry,
			 struct str *out)
{
	char month[DATE_STR_SIZE], text[FMT_MONEY_SIZE], about[120];

	str_addf(out, "invoice %s of %s for %s, %" PRId64 " lines: %s %s\n", r->number,
		 in->provider, date_month_str(month, in->month), r->rows, r->currency,
		 fmt_money(text, r->nano));
	print_money(out, "counted", r->counted, "of what the invoice is about, before");
	(void)snprintf(about, sizeof(about), "instances on it: %" PRId64, r->instances);
	print_money(out, "differ", r->on - r->counted_on, about);
	print_money(out, "missing", -r->missing,
		    "instances that are not on it; if they are on another, use --partial");
	(void)snprintf(about, sizeof(about), "instances that are not known: %" PRId64, r->unknown);
	print_money(out, "unknown", r->unknown_nano, about);
	print_money(out, "shared", r->shared, "of no machine");
	print_money(out, "tax", r->tax, "as the invoice has it");
	print_money(out, "rounding", r->rounding, "to --total");
	if (r->left_out > 0)
		str_addf(out,
			 "  %" PRId64
			 " lines are of other invoices, or have no number, and were left "
			 "out\n",
			 r->left_out);
	if (r->late)
		str_adds(out, "  the month is closed: all of it is in the first open month\n");
	if (dry)
		str_adds(out, "nothing was changed\n");
	else
		str_addf(out, "it is invoice %" PRId64 " here\n", r->id);
}

static void json_result(const struct invoice_import *in, const struct invoice_result *r, bool dry,
			struct str *out)
{
	const struct {
		const char *name;
		int64_t nano;
	} sums[] = {{"total", r->nano},
		    {"counted", r->counted},
		    {"difference", r->on - r->counted_on},
		    {"missing", r->missing},
		    {"unknown", r->unknown_nano},
		    {"shared", r->shared},
		    {"tax", r->tax},
		    {"rounding", r->rounding}};
	struct jsonw w = {.out = out, .first = true};
	char month[DATE_STR_SIZE];

	jsonw_open(&w, NULL, '{');
	jsonw_int(&w, "id", dry ? 0 : r->id);
	jsonw_text(&w, "invoice", r->number);
	jsonw_text(&w, "provider", in->provider);
	jsonw_text(&w, "period", date_month_str(month, in->month));
	jsonw_text(&w, "currency", r->currency);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		jsonw_money(&w, sums[i].name, sums[i].nano);
	jsonw_int(&w, "instances", r->instances);
	jsonw_int(&w, "lines", r->rows);
	jsonw_int(&w, "left_out", r->left_out);
	jsonw_bool(&w, "late", r->late);
	jsonw_bool(&w, "dry_run", dry);
	jsonw_close(&w, '}');
	str_adds(out, "\n");
}

static int parse_import(struct invoice_import *in, const struct settings *s, struct err *e)
{
	if (s->provider == NULL || s->period == NULL)
		return err_set(e, ERR_INVALID,
			       "invoice import: want --provider NAME and --period MONTH");
	if (s->invoice != NULL && (s->invoice[0] == '\0' || !plain_is(s->invoice) ||
				   strlen(s->invoice) > INVOICE_NUMBER_MAX))
		return err_set(e, ERR_INVALID, "--invoice: want a number of 1 to %d bytes",
			       INVOICE_NUMBER_MAX);
	in->provider = s->provider;
	in->number = s->invoice;
	in->total = s->total;
	in->partial = s->partial;
	if (calendar_parse_month(s->period, &in->month, e) < 0 ||
	    invoice_format_parse(s->format != NULL ? s->format : "plain", &in->format, e) < 0)
		return -1;
	return invoice_rule_parse(s->shared != NULL ? s->shared : "none", &in->rule, e);
}

static int import(const struct settings *s, const char *path)
{
	struct invoice_import in = {.path = path};
	struct invoice_result r = {.id = 0};
	struct writing w;
	struct err e = {0};
	int64_t jobs_ms;
	int rc;

	if (parse_import(&in, s, &e) < 0)
		return complain_of_usage("%s", e.msg);
	rc = writing_begin(&w, s, &e);
	in.who = w.who;
	if (rc == 0)
		rc = ledger_number(w.ledger, LEDGER_JOBS_MS, &jobs_ms, &e);
	if (rc == 0) {
		const struct book b = writing_book(&w, jobs_ms);

		rc = invoice_import(&b, &in, &r, &e);
	}
	if (rc == 0 && !s->dry_run)
		rc = writing_commit(&w, &e);
	if (rc == 0 && s->json)
		json_result(&in, &r, s->dry_run, &w.out);
	else if (rc == 0)
		print_result(&in, &r, s->dry_run, &w.out);
	invoice_result_fini(&r);
	return writing_end(&w, rc, &e);
}

/* --- list --------------------------------------------------------------------------------------
 */

struct listing {
	struct str *out;
	struct jsonw *w; /* NULL: for people */
	int64_t id;      /* only this one; 0: all */
	bool found;
	int64_t month; /* of the one */
	struct ledger *l;
};

static void json_invoice(struct jsonw *w, const struct ledger_invoice *i)
{
	char month[DATE_STR_SIZE];

	jsonw_int(w, "id", i->id);
	jsonw_text(w, "invoice", i->number);
	jsonw_text(w, "provider", i->provider);
	jsonw_text(w, "period", date_month_str(month, i->month));
	jsonw_text(w, "currency", i->currency);
	jsonw_money(w, "total", i->nano);
	jsonw_money(w, "counted", i->counted);
	jsonw_text(w, "why", i->why);
	jsonw_text(w, "format", i->format);
	jsonw_text(w, "shared", i->rule);
	jsonw_bool(w, "partial", i->partial);
	jsonw_text(w, "file", i->file);
	jsonw_int(w, "at_ms", i->at_ms);
	jsonw_text(w, "by", i->who);
	jsonw_int(w, "removed_ms", i->removed_ms);
	jsonw_text(w, "removed_by", i->removed_by);
}

static void print_invoice(struct str *out, const struct ledger_invoice *i)
{
	char month[DATE_STR_SIZE], text[FMT_MONEY_SIZE];

	str_addf(out, "%-4" PRId64 " %-8s %-12s %-20s %16s %s%s%s\n", i->id,
		 date_month_str(month, i->month), i->provider, i->number, fmt_money(text, i->nano),
		 i->currency, i->partial ? ", partial" : "", i->removed_ms != 0 ? ", removed" : "");
}

static int take_invoice(void *ctx, const struct ledger_invoice *i, struct err *e)
{
	struct listing *list = ctx;

	(void)e;
	if (list->id != 0 && list->id != i->id)
		return 0;
	list->found = true;
	list->month = i->month;
	if (list->w != NULL) {
		if (list->id == 0)
			jsonw_open(list->w, NULL, '{');
		json_invoice(list->w, i);
		if (list->id == 0)
			jsonw_close(list->w, '}');
		return 0;
	}
	print_invoice(list->out, i);
	if (list->id != 0)
		str_addf(list->out, "by %s, from %s; what it has for no machine: %s\n%s\n", i->who,
			 i->file, i->rule, i->why);
	return 0;
}

static int list(const struct settings *s)
{
	struct reading r;
	struct err e = {0};
	int rc = reading_begin(&r, s, &e);
	struct jsonw w = {.out = &r.out, .first = true};
	struct listing all = {.out = &r.out, .w = s->json ? &w : NULL};

	if (s->json) {
		jsonw_open(&w, NULL, '{');
		jsonw_open(&w, "invoices", '[');
	} else {
		str_addf(&r.out, "%-4s %-8s %-12s %-20s %16s\n", "N", "PERIOD", "PROVIDER",
			 "INVOICE", "TOTAL");
	}
	if (rc == 0)
		rc = ledger_invoices(r.ledger, take_invoice, &all, &e);
	if (s->json) {
		jsonw_close(&w, ']');
		jsonw_close(&w, '}');
		str_adds(&r.out, "\n");
	}
	return reading_end(&r, rc, &e);
}

/* --- show --------------------------------------------------------------------------------------
 */

struct lines {
	struct ledger_invoice_line *v; /* texts are its own */
	size_t n, cap;
};

static int take_line(void *ctx, const struct ledger_invoice_line *n, struct err *e)
{
	struct lines *all = ctx;

	(void)e;
	if (all->n == all->cap) {
		all->cap = all->cap == 0 ? 64 : 2 * all->cap;
		all->v = mem_realloc(all->v, all->cap * sizeof(*all->v));
	}
	all->v[all->n] = *n;
	all->v[all->n].account = mem_strdup(n->account);
	all->v[all->n].name = mem_strdup(n->name);
	all->v[all->n++].instance = "";
	return 0;
}

static int show_line(struct listing *list, const struct ledger_invoice_line *n, struct err *e)
{
	static const char *const kinds[] = {"instance", "unknown", "shared", "tax"};
	char theirs[FMT_MONEY_SIZE], ours[FMT_MONEY_SIZE];
	int64_t counted = 0, adjusted = 0;

	if (n->lifetime != 0 &&
	    invoice_counted(list->l, n->lifetime, list->month, &counted, &adjusted, e) < 0)
		return -1;
	if (list->w != NULL) {
		jsonw_open(list->w, NULL, '{');
		jsonw_text(list->w, "kind", kinds[n->kind]);
		jsonw_text(list->w, "name", n->name);
		jsonw_text(list->w, "account", n->account);
		jsonw_money(list->w, "invoiced", n->nano);
		jsonw_money(list->w, "counted", counted);
		jsonw_close(list->w, '}');
		return 0;
	}
	str_addf(list->out, "  %-8s %16s %16s  %s%s%s\n", kinds[n->kind],
		 fmt_money(theirs, n->nano), n->lifetime != 0 ? fmt_money(ours, counted) : "-",
		 n->name, n->account[0] != '\0' ? ", of " : "", n->account);
	return 0;
}

static int show_lines(struct listing *list, struct err *e)
{
	struct lines all = {.n = 0};
	int rc = ledger_invoice_lines(list->l, list->id, take_line, &all, e);

	if (list->w != NULL)
		jsonw_open(list->w, "lines", '[');
	else
		str_addf(list->out, "  %-8s %16s %16s\n", "KIND", "INVOICED", "COUNTED");
	for (size_t i = 0; i < all.n; i++) {
		if (rc == 0)
			rc = show_line(list, &all.v[i], e);
		free((char *)(uintptr_t)all.v[i].account);
		free((char *)(uintptr_t)all.v[i].name);
	}
	if (list->w != NULL)
		jsonw_close(list->w, ']');
	free(all.v);
	return rc;
}

static int show(const struct settings *s, int64_t id)
{
	struct reading r;
	struct err e = {0};
	int rc = reading_begin(&r, s, &e);
	struct jsonw w = {.out = &r.out, .first = true};
	struct listing one = {.out = &r.out, .w = s->json ? &w : NULL, .id = id, .l = r.ledger};

	if (s->json)
		jsonw_open(&w, NULL, '{');
	if (rc == 0)
		rc = ledger_invoices(r.ledger, take_invoice, &one, &e);
	if (rc == 0 && !one.found)
		rc = err_set(&e, ERR_INVALID, "there is no invoice %" PRId64, id);
	if (rc == 0)
		rc = show_lines(&one, &e);
	if (s->json) {
		jsonw_close(&w, '}');
		str_adds(&r.out, "\n");
	}
	if (rc < 0)
		str_clear(&r.out);
	return reading_end(&r, rc, &e);
}

static int remove_it(const struct settings *s, int64_t id)
{
	struct writing w;
	struct err e = {0};
	int64_t jobs_ms;
	int rc = writing_begin(&w, s, &e);

	if (rc == 0)
		rc = ledger_number(w.ledger, LEDGER_JOBS_MS, &jobs_ms, &e);
	if (rc == 0) {
		const struct book b = writing_book(&w, jobs_ms);

		rc = invoice_remove(&b, id, w.who, &e);
	}
	if (rc == 0)
		rc = writing_commit(&w, &e);
	if (rc == 0)
		str_addf(&w.out, "invoice %" PRId64 " does not count any more\n", id);
	return writing_end(&w, rc, &e);
}

int command_invoice(const struct settings *s, const struct opt_args *args)
{
	const char *what = args->n > 0 ? args->v[0] : "";
	int64_t id;
	char *end;

	if (strcmp(what, "list") == 0 && args->n == 1)
		return list(s);
	if (strcmp(what, "import") == 0 && args->n == 2)
		return import(s, args->v[1]);
	if (args->n != 2 || (strcmp(what, "show") != 0 && strcmp(what, "remove") != 0))
		return complain_of_usage(
			"invoice: want import FILE, list, or show or remove and a number");
	id = strtoll(args->v[1], &end, 10);
	if (end == args->v[1] || *end != '\0' || id <= 0)
		return complain_of_usage("invoice %s: want a number of invoice list", what);
	return strcmp(what, "show") == 0 ? show(s, id) : remove_it(s, id);
}
