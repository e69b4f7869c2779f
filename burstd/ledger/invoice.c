#include "ledger/invoice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/plain.h"
#include "ledger/cents.h"
#include "ledger/report.h"
#include "ledger/split.h"
#include "store/ledger_periods.h"

enum { WHY_MAX = 1000, NAMES_MAX = 1000 };

static const char *const rules[] = {
	[INVOICE_NONE] = "none", [INVOICE_EVEN] = "even", [INVOICE_PROPORTIONAL] = "proportional"};

const char *invoice_rule_str(enum invoice_rule r)
{
	return rules[r];
}

int invoice_rule_parse(const char *text, enum invoice_rule *out, struct err *e)
{
	for (int i = 0; i <= INVOICE_PROPORTIONAL; i++)
		if (strcmp(rules[i], text) == 0) {
			*out = (enum invoice_rule)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "--shared: want even, proportional or none, not \"%.40s\"",
		       text);
}

struct account { /* with jobs on the provider */
	char *name;
	int64_t nano;
};

struct importing {
	const struct book *book;
	const struct invoice_import *in;
	struct invoice_result *r;
	struct invoice_file file;
	int64_t *nano; /* of the items */
	struct account *accounts;
	size_t naccounts;
	int64_t n; /* lines that were written */
};

static int add(int64_t *to, int64_t v, struct err *e)
{
	return __builtin_add_overflow(*to, v, to)
		       ? err_set(e, ERR_LIMIT, "the sum of all amounts is too large")
		       : 0;
}

/* --- instances ---------------------------------------------------------------------------------
 */

struct found {
	int64_t *v;
	size_t n;
	const char *currency; /* that is wanted; NULL: any */
	const char *usual;    /* of facts that name none */
	bool by_end;          /* by the end of a path */
	char other[8];        /* one has another; "": none */
};

static int take_instance(void *ctx, int64_t lifetime, const char *currency, struct err *e)
{
	struct found *f = ctx;

	(void)e;
	f->v = mem_realloc(f->v, (f->n + 1) * sizeof(*f->v));
	f->v[f->n++] = lifetime;
	currency = currency[0] != '\0' ? currency : f->usual;
	if (f->currency != NULL && strcmp(f->currency, currency) != 0)
		(void)snprintf(f->other, sizeof(f->other), "%s", currency);
	return 0;
}

/* Clouds name a resource by a path, and its id is the end of that. */
static int find_instance(struct ledger *l, const char *provider, const char *text, struct found *f,
			 struct err *e)
{
	const char *slash = strrchr(text, '/');

	if (ledger_instances(l, provider, text, take_instance, f, e) < 0)
		return -1;
	if (f->n > 0 || slash == NULL || slash[1] == '\0')
		return 0;
	f->by_end = true;
	return ledger_instances(l, provider, slash + 1, take_instance, f, e);
}

/* Its lines are of no use here: what they are about is counted there, and would be twice. */
static int refuse_others(const struct importing *m, const char *instance, struct err *e)
{
	const char *slash = strrchr(instance, '/');
	char *other = NULL;
	int rc = ledger_provider_of(m->book->ledger, slash != NULL ? slash + 1 : instance, &other,
				    e);

	if (rc == 0 && other[0] != '\0')
		rc = err_set(e, ERR_INVALID, "%.120s: %.60s is an instance of %.40s, not of %.40s",
			     m->in->path, instance, other, m->in->provider);
	free(other);
	return rc;
}

static int knows(void *ctx, const char *instance, struct err *e)
{
	const struct importing *m = ctx;
	struct found f = {.usual = m->book->currency};
	int rc = find_instance(m->book->ledger, m->in->provider, instance, &f, e);

	if (rc == 0 && f.n == 0)
		rc = refuse_others(m, instance, e);
	free(f.v);
	return rc < 0 ? -1 : f.n == 0 ? 0 : f.by_end ? 2 : 1;
}

struct counting {
	int64_t from_day, to_day, counted, adjusted;
};

static int count(void *ctx, const struct ledger_posting *p, struct err *e)
{
	struct counting *c = ctx;

	if (p->of_day < c->from_day || p->of_day >= c->to_day)
		return 0;
	return add((p->kind & LEDGER_ADJUST) != 0 ? &c->adjusted : &c->counted, p->nano, e);
}

int invoice_counted(struct ledger *l, int64_t lifetime, int64_t month, int64_t *counted,
		    int64_t *adjusted, struct err *e)
{
	struct counting c = {.from_day = date_month_day(month),
			     .to_day = date_month_day(month + 1)};

	if (ledger_postings_of(l, lifetime, count, &c, e) < 0)
		return -1;
	*counted = c.counted;
	*adjusted = c.adjusted;
	return 0;
}

/* --- checks ------------------------------------------------------------------------------------
 */

struct providers {
	const struct importing *m;
	struct str names;
	char last[64];
	bool known, same; /* the provider; and its currency */
	char other[8];    /* one of its currencies */
};

static int take_provider(void *ctx, const char *provider, const char *currency, struct err *e)
{
	struct providers *p = ctx;
	const char *c = currency[0] != '\0' ? currency : p->m->book->currency;

	(void)e;
	if (strcmp(provider, p->last) != 0)
		str_addf(&p->names, "%s%s", p->names.len > 0 ? ", " : "", provider);
	(void)snprintf(p->last, sizeof(p->last), "%s", provider);
	if (strcmp(provider, p->m->in->provider) != 0)
		return 0;
	p->known = true;
	p->same = p->same || (p->m->file.currency != NULL && strcmp(c, p->m->file.currency) == 0);
	(void)snprintf(p->other, sizeof(p->other), "%s", c);
	return 0;
}

/* file: it was read, and its currency is to be looked at. */
static int check_provider(const struct importing *m, bool file, struct err *e)
{
	struct providers p = {.m = m};
	int rc;

	str_init(&p.names, NAMES_MAX);
	rc = ledger_providers(m->book->ledger, take_provider, &p, e);
	if (rc == 0 && !p.known)
		rc = err_set(e, ERR_INVALID,
			     "--provider: there is no \"%.40s\"; want one of: %.120s",
			     m->in->provider, p.names.len > 0 ? p.names.p : "(none is known)");
	else if (rc == 0 && file && !p.same)
		rc = err_set(e, ERR_INVALID,
			     "%.120s: it is in %s, and instances of %.40s are in %s", m->in->path,
			     m->file.currency, m->in->provider, p.other);
	str_fini(&p.names);
	return rc;
}

static int check_known(void *ctx, const struct ledger_invoice *i, struct err *e)
{
	const struct importing *m = ctx;
	char when[FMT_TIME_SIZE];

	if (i->removed_ms != 0 || strcmp(i->provider, m->in->provider) != 0)
		return 0;
	if (strcmp(i->number, m->r->number) == 0)
		return err_set(e, ERR_INVALID,
			       "%.100s: invoice %.40s of %.40s is there since %s: as %" PRId64,
			       m->in->path, i->number, i->provider, fmt_time(when, i->at_ms),
			       i->id);
	if (strcmp(i->digest, m->file.digest) == 0 && m->file.left_out == 0)
		return err_set(e, ERR_INVALID,
			       "%.100s: its lines are there since %s: as invoice %.40s",
			       m->in->path, fmt_time(when, i->at_ms), i->number);
	return 0;
}

/* --- amounts -----------------------------------------------------------------------------------
 */

/* The items in nano-units, and what the invoice comes to: r->nano, r->rounding. */
static int round_items(struct importing *m, struct err *e)
{
	const struct invoice_file *f = &m->file;
	atto *v = mem_zalloc((f->n + 1) * sizeof(*v)), all = 0, total;
	int64_t sum, unit = FMT_NANO, most;
	int rc;

	for (int i = 0; i < cents_places(f->currency); i++)
		unit /= 10;
	for (size_t i = 0; i < f->n; i++)
		all += v[i] = f->items[i].amount;
	m->nano = mem_zalloc((f->n + 1) * sizeof(*m->nano));
	rc = atto_nano(all, &sum, e);
	for (size_t i = 0; i < f->n && rc == 0; i++) {
		int64_t each; /* so that none is too large for the split */

		rc = atto_nano(v[i], &each, e);
	}
	if (rc == 0)
		atto_split(v, f->n, sum, m->nano);
	free(v);
	m->r->nano = sum;
	if (rc < 0 || m->in->total == NULL)
		return rc;
	if (atto_parse(m->in->total, &total, e) < 0 || atto_nano(total, &m->r->nano, e) < 0)
		return err_wrap(e, "--total");
	/* Each line may have been rounded to a cent by itself, and the sum once more. */
	most = unit / 2 * ((int64_t)f->n + 1);
	if (!__builtin_sub_overflow(m->r->nano, sum, &m->r->rounding) && m->r->rounding <= most &&
	    m->r->rounding >= -most)
		return 0;
	{
		char text[FMT_MONEY_SIZE];

		return err_set(e, ERR_INVALID, "%.120s: its lines come to %s, and --total is %.40s",
			       m->in->path, fmt_money(text, sum), m->in->total);
	}
}

static bool is_counted(const struct report_row *row, size_t class)
{
	return (row->key[class] & (LEDGER_ADJUST | LEDGER_CREDIT)) == 0 &&
	       (row->key[class] & LEDGER_CLASS) < ALLOCATE_SHARED;
}

static void add_account(struct importing *m, const char *name, int64_t nano)
{
	struct account *last = m->naccounts > 0 ? &m->accounts[m->naccounts - 1] : NULL;

	if (last == NULL || strcmp(last->name, name) != 0) {
		m->accounts = mem_realloc(m->accounts, (m->naccounts + 1) * sizeof(*m->accounts));
		last = &m->accounts[m->naccounts++];
		*last = (struct account){.name = mem_strdup(name)};
	}
	last->nano += nano; /* a part of what fits */
}

/* What was counted of the provider in the month, in all, whenever it turned out, and by account. */
static int find_counted(struct importing *m, int64_t *all, struct err *e)
{
	enum { ACCOUNT, PROVIDER, CLASS, CURRENCY };
	const struct report_want want = {
		.keys = {REPORT_ACCOUNT, REPORT_PROVIDER, REPORT_CLASS, REPORT_CURRENCY},
		.n = 4,
		.from_day = date_month_day(m->in->month),
		.to_day = date_month_day(m->in->month + 1)};
	const struct ledger_part of = {m->in->provider, m->file.currency, want.from_day,
				       want.to_day};
	struct report r;
	int rc;

	if (ledger_late_of(m->book->ledger, &of, all, e) < 0)
		return -1;
	rc = report_make(&r, m->book->ledger, &want, e);
	for (size_t i = 0; i < r.n && rc == 0; i++) {
		const struct report_row *row = &r.rows[i];

		if (strcmp(row->text[PROVIDER], m->in->provider) != 0 ||
		    strcmp(row->text[CURRENCY], m->file.currency) != 0 ||
		    (row->key[CLASS] & LEDGER_ADJUST) != 0 ||
		    (row->key[CLASS] & LEDGER_CLASS) >= ALLOCATE_SHARED)
			continue;
		rc = add(all, row->nano, e);
		if (row->text[ACCOUNT][0] != '\0' && is_counted(row, CLASS) && row->nano > 0)
			add_account(m, row->text[ACCOUNT], row->nano);
	}
	report_fini(&r);
	return rc;
}

/* --- lines -------------------------------------------------------------------------------------
 */

static int put_line(struct importing *m, const struct invoice_item *i, int64_t nano,
		    int64_t lifetime, const char *account, struct err *e)
{
	const struct ledger_invoice_line line = {.n = ++m->n,
						 .kind = i->kind,
						 .lifetime = lifetime,
						 .instance = i->instance,
						 .account = account,
						 .name = i->name,
						 .nano = nano,
						 .start_s = i->start_s,
						 .end_s = i->end_s};

	return ledger_put_invoice_line(m->book->ledger, m->r->id, &line, e);
}

/* One that was found again under another name is several lifetimes here. */
static int put_instance(struct importing *m, const struct invoice_item *i, int64_t nano,
			struct err *e)
{
	struct found f = {.currency = m->file.currency, .usual = m->book->currency};
	uint64_t *weights;
	int64_t *parts, ignored, counted;
	int rc = find_instance(m->book->ledger, m->in->provider, i->instance, &f, e);

	weights = mem_zalloc((f.n + 1) * sizeof(*weights));
	parts = mem_zalloc((f.n + 1) * sizeof(*parts));
	if (rc == 0 && f.other[0] != '\0')
		rc = err_set(e, ERR_INVALID, "%.120s:%" PRId64 ": in %s, and the instance is in %s",
			     m->in->path, i->line, m->file.currency, f.other);
	for (size_t k = 0; k < f.n && rc == 0; k++) {
		rc = invoice_counted(m->book->ledger, f.v[k], m->in->month, &counted, &ignored, e);
		weights[k] = rc == 0 && counted > 0 ? (uint64_t)counted : 0;
		if (rc == 0)
			rc = add(&m->r->counted_on, counted, e);
	}
	if (rc == 0 && split(nano, weights, f.n, parts) < 0)
		parts[0] = nano;
	for (size_t k = 0; k < f.n && rc == 0; k++)
		rc = put_line(m, i, parts[k], f.v[k], "", e);
	free(f.v);
	free(weights);
	free(parts);
	return rc;
}

static int put_shared(struct importing *m, const struct invoice_item *i, int64_t nano,
		      struct err *e)
{
	uint64_t *weights;
	int64_t *parts;
	int rc = 0;

	if (i->kind == LEDGER_INVOICE_UNKNOWN || m->in->rule == INVOICE_NONE || m->naccounts == 0)
		return put_line(m, i, nano, 0, "", e);
	weights = mem_zalloc(m->naccounts * sizeof(*weights));
	parts = mem_zalloc(m->naccounts * sizeof(*parts));
	for (size_t k = 0; k < m->naccounts; k++)
		weights[k] = m->in->rule == INVOICE_EVEN ? 1 : (uint64_t)m->accounts[k].nano;
	(void)split(nano, weights, m->naccounts, parts);
	for (size_t k = 0; k < m->naccounts && rc == 0; k++)
		if (parts[k] != 0)
			rc = put_line(m, i, parts[k], 0, m->accounts[k].name, e);
	free(weights);
	free(parts);
	return rc;
}

static int put_item(struct importing *m, const struct invoice_item *i, int64_t nano, struct err *e)
{
	struct invoice_result *r = m->r;
	int64_t *const sums[] = {[LEDGER_INVOICE_INSTANCE] = &r->on,
				 [LEDGER_INVOICE_UNKNOWN] = &r->unknown_nano,
				 [LEDGER_INVOICE_SHARED] = &r->shared,
				 [LEDGER_INVOICE_TAX] = &r->tax};

	r->instances += i->kind == LEDGER_INVOICE_INSTANCE;
	r->unknown += i->kind == LEDGER_INVOICE_UNKNOWN;
	r->names += i->kind == LEDGER_INVOICE_SHARED || i->kind == LEDGER_INVOICE_TAX;
	if (add(sums[i->kind], nano, e) < 0)
		return -1;
	return i->kind == LEDGER_INVOICE_INSTANCE ? put_instance(m, i, nano, e)
						  : put_shared(m, i, nano, e);
}

static int put_items(struct importing *m, struct err *e)
{
	const struct invoice_item rounding = {
		.kind = LEDGER_INVOICE_SHARED,
		.instance = (char *)(uintptr_t) "",
		.name = (char *)(uintptr_t) "rounding of the invoice",
		.start_s = calendar_day_begin(m->book->calendar, date_month_day(m->in->month)),
		.end_s = calendar_day_begin(m->book->calendar, date_month_day(m->in->month + 1))};

	for (size_t i = 0; i < m->file.n; i++)
		if (put_item(m, &m->file.items[i], m->nano[i], e) < 0)
			return -1;
	return m->r->rounding != 0 ? put_shared(m, &rounding, m->r->rounding, e) : 0;
}

/* --- import ------------------------------------------------------------------------------------
 */

static void part(struct str *out, const char *what, int64_t nano)
{
	char text[FMT_MONEY_SIZE];

	if (nano != 0)
		str_addf(out, "%s%s%s", out->len > 0 ? "; " : "", what, fmt_money(text, nano));
}

void invoice_explain(const struct invoice_result *r, struct str *out)
{
	part(out, "instances on it: ", r->on - r->counted_on);
	part(out, "instances that are not on it: ", -r->missing);
	part(out, "instances that are not known: ", r->unknown_nano);
	part(out, "of no machine: ", r->shared);
	part(out, "tax: ", r->tax);
	part(out, "rounding: ", r->rounding);
}

/* Whose it is depends on what was counted, so all sums come before the first line. */
static int put_invoice(struct importing *m, int64_t all, struct err *e)
{
	const struct invoice_import *in = m->in;
	const char *slash = strrchr(in->path, '/');
	char *file = mem_strdup(slash != NULL ? slash + 1 : in->path);
	struct ledger_invoice i = {.provider = in->provider,
				   .month = in->month,
				   .number = m->r->number,
				   .format = invoice_format_str(in->format),
				   .rule = rules[in->rule],
				   .partial = in->partial,
				   .currency = m->file.currency,
				   .nano = m->r->nano,
				   .file = file,
				   .digest = m->file.digest,
				   .at_ms = m->book->now_ms,
				   .who = in->who};
	struct str why;
	int rc;

	plain_make(file, '?');
	str_init(&why, WHY_MAX);
	/* The lines have the number of the invoice, and the invoice the sums of the lines. */
	rc = ledger_next_invoice(m->book->ledger, &m->r->id, e);
	if (rc == 0)
		rc = put_items(m, e);
	if (rc == 0) {
		m->r->missing = in->partial ? 0 : all - m->r->counted_on;
		m->r->counted = m->r->counted_on + m->r->missing;
		invoice_explain(m->r, &why);
		i.id = m->r->id;
		i.counted = m->r->counted;
		i.why = why.p;
		rc = ledger_put_invoice(m->book->ledger, &i, e);
	}
	str_fini(&why);
	free(file);
	return rc;
}

int invoice_compute(const struct book *b, const struct ledger_invoice *i, struct err *e)
{
	struct calendar *cal = b->calendar;

	if (ledger_touch_invoice(b->ledger, i->id, e) < 0)
		return -1;
	if (!i->partial &&
	    ledger_touch_provider(b->ledger, i->provider, i->currency,
				  calendar_day_begin(cal, date_month_day(i->month)),
				  calendar_day_begin(cal, date_month_day(i->month + 1)), e) < 0)
		return -1;
	return book_write_news(b, e);
}

static int import(struct importing *m, struct err *e)
{
	const struct invoice_import *in = m->in;
	struct calendar *cal = m->book->calendar;
	const struct invoice_ask ask = {
		.path = in->path,
		.format = in->format,
		.number = in->number,
		.start_s = calendar_day_begin(cal, date_month_day(in->month)),
		.end_s = calendar_day_begin(cal, date_month_day(in->month + 1)),
		.knows = knows,
		.ctx = m};
	char name[DATE_STR_SIZE];
	int64_t all, open_day;

	if (ask.start_s * 1000 > m->book->now_ms)
		return err_set(e, ERR_INVALID, "%s has not begun", date_month_str(name, in->month));
	/* Instances that are yet to come would cost 0. */
	if (!in->partial && ask.end_s * 1000 > m->book->now_ms)
		return err_set(e, ERR_INVALID,
			       "%s is not over, so no invoice can be the whole one of it: use "
			       "--partial",
			       date_month_str(name, in->month));
	if (check_provider(m, false, e) < 0 || invoice_file_read(&m->file, &ask, e) < 0)
		return -1;
	m->r->number = mem_strdup(m->file.number[0] != '\0' ? m->file.number
							    : date_month_str(name, in->month));
	m->r->currency = mem_strdup(m->file.currency);
	m->r->rows = m->file.rows;
	m->r->left_out = m->file.left_out;
	if (check_provider(m, true, e) < 0 ||
	    ledger_invoices(m->book->ledger, check_known, m, e) < 0 || round_items(m, e) < 0 ||
	    find_counted(m, &all, e) < 0 || ledger_open_day(m->book->ledger, &open_day, e) < 0)
		return -1;
	m->r->late = date_month_day(in->month) < open_day;
	if (put_invoice(m, all, e) < 0)
		return -1;
	return invoice_compute(m->book,
			       &(struct ledger_invoice){.id = m->r->id,
							.provider = in->provider,
							.currency = m->file.currency,
							.month = in->month,
							.partial = in->partial},
			       e);
}

int invoice_import(const struct book *b, const struct invoice_import *in, struct invoice_result *r,
		   struct err *e)
{
	struct importing m = {.book = b, .in = in, .r = r};
	int rc;

	*r = (struct invoice_result){.id = 0};
	rc = import(&m, e);
	invoice_file_fini(&m.file);
	for (size_t i = 0; i < m.naccounts; i++)
		free(m.accounts[i].name);
	free(m.accounts);
	free(m.nano);
	return rc;
}

void invoice_result_fini(struct invoice_result *r)
{
	free(r->number);
	free(r->currency);
	*r = (struct invoice_result){.id = 0};
}
