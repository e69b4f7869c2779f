#include "ledger/xlsx.h"

#include <stdlib.h>
#include <string.h>
#include <xlsxwriter.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/plain.h"
#include "ledger/cents.h"
#include "ledger/number.h"

enum {
	ROWS_MAX = 1048576,     /* of a sheet: the format's limit */
	CHARGE_SHEETS_MAX = 64, /* 67 million charges; no spreadsheet opens that many */
	TEXT_MAX = 32000,       /* bytes of a cell; the format has 32767 characters */
	DIGITS_SURE = 15,       /* of a spreadsheet's number */
	HOUR_S = 3600,
	DAY_S = 86400,
};

struct book {
	lxw_workbook *wb;
	lxw_worksheet *sheet;
	lxw_format *bold, *money, *exact, *hours, *date, *time;
	lxw_row_t row;
	lxw_col_t col;
	lxw_error error; /* the first */
	struct str text;
	unsigned charge_sheets;
	const struct statement *in;
};

static void note(struct book *b, lxw_error error)
{
	if (b->error == LXW_NO_ERROR)
		b->error = error;
}

static void add_text(struct book *b, const char *text, lxw_format *format)
{
	str_clear(&b->text);
	for (const char *p = text; *p != '\0';) {
		const size_t n = plain_shown(p), bytes = plain_utf8(p);

		if (n != 0)
			str_add(&b->text, p, n);
		else
			str_adds(&b->text, "\xef\xbf\xbd");
		if (b->text.full) /* what follows is cut off, between two characters */
			break;
		p += n != 0 ? n : bytes != 0 ? bytes : 1;
	}
	if (b->text.len > 0)
		note(b, worksheet_write_string(b->sheet, b->row, b->col, b->text.p, format));
	b->col++;
}

static void text(struct book *b, const char *value)
{
	add_text(b, value, NULL);
}

static void number(struct book *b, double v, lxw_format *format)
{
	note(b, worksheet_write_number(b->sheet, b->row, b->col++, v, format));
}

static bool fits(int64_t nano)
{
	uint64_t m = nano < 0 ? -(uint64_t)nano : (uint64_t)nano;
	int digits = 0;

	while (m != 0 && m % 10 == 0)
		m /= 10;
	for (; m != 0; m /= 10)
		digits++;
	return digits <= DIGITS_SURE;
}

/* Two columns: the number, and its text if the number is not exact. */
static void money(struct book *b, int64_t nano, lxw_format *format)
{
	char exact[NUMBER_MONEY_SIZE];

	number(b, (double)nano / (double)FMT_NANO, format);
	text(b, fits(nano) ? "" : number_money(exact, nano, false));
}

static void hours(struct book *b, int64_t s)
{
	number(b, (double)s / HOUR_S, b->hours);
}

static void moment(struct book *b, int64_t t_s, lxw_format *format)
{
	note(b, worksheet_write_unixtime(b->sheet, b->row, b->col++, t_s, format));
}

static void line_end(struct book *b)
{
	b->row++;
	b->col = 0;
}

/* heads: separated by '|'. */
static void sheet(struct book *b, const char *name, const char *heads)
{
	enum { WIDTH = 16, NAME_MAX_SIZE = 64 };
	const char *h = heads;

	b->sheet = mem_check(workbook_add_worksheet(b->wb, name));
	b->row = 0;
	b->col = 0;
	while (*h != '\0') {
		char head[NAME_MAX_SIZE];
		const size_t n = strcspn(h, "|");

		(void)snprintf(head, sizeof(head), "%.*s", (int)n, h);
		note(b, worksheet_set_column(b->sheet, b->col, b->col, WIDTH, NULL));
		add_text(b, head, b->bold);
		h += n + (h[n] == '|');
	}
	worksheet_freeze_panes(b->sheet, 1, 0);
	line_end(b);
}

static void filter(struct book *b, lxw_col_t columns)
{
	note(b, worksheet_autofilter(b->sheet, 0, 0, b->row > 1 ? b->row - 1 : 1,
				     (lxw_col_t)(columns - 1)));
}

static void said(struct book *b, const char *name, const char *value)
{
	text(b, name);
	text(b, value);
	line_end(b);
}

static void said_money(struct book *b, const char *name, int64_t nano, const char *about)
{
	text(b, name);
	money(b, nano, b->money);
	text(b, about);
	line_end(b);
}

static void said_time(struct book *b, const char *name, int64_t t_s)
{
	text(b, name);
	moment(b, t_s, b->time);
	line_end(b);
}

static void summary(struct book *b, const struct tally *t)
{
	const struct tally_sum *s = &t->all;

	sheet(b, "summary", "What|Value|Exact, if the number is not|About");
	said(b, "Cluster", b->in->cluster);
	said(b, "Period", b->in->period);
	said(b, "State", b->in->closed ? "CLOSED" : "DRAFT");
	said_time(b, "From (UTC)", b->in->start_s);
	said_time(b, "Until before (UTC)", b->in->end_s);
	said(b, "Time zone", zone_name(b->in->zone));
	said(b, "Currency", b->in->currency);
	said(b, "Hash of the ledger", b->in->hash);
	said_money(b, "Total", s->nano, "all that follows, but for prices by list");
	for (int c = 0; c < ALLOCATE_NCLASSES; c++)
		said_money(b, allocate_class_str((enum allocate_class)c), s->classes[c],
			   allocate_class_text((enum allocate_class)c));
	said_money(b, "given back", s->credit, "The provider gave it back.");
	said_money(b, "adjustments", s->adjust,
		   "What differs from the provider's invoice, or turned out after a close.");
	said_money(b, "On demand by list price", s->list, "where it is known");
	said_money(b, "What the same did cost", s->listed, "");
	text(b, "GPU hours of jobs");
	hours(b, s->run_gpu_s);
	line_end(b);
	text(b, "GPU hours lost");
	hours(b, s->lost_gpu_s);
	line_end(b);
	text(b, "GPU hours idle");
	hours(b, s->idle_gpu_s);
	line_end(b);
}

static void accounts(struct book *b, const struct tally *t)
{
	enum { COLUMNS = 8 };

	sheet(b, "accounts",
	      "Account|Direct|Direct, exact|Overhead|Overhead, exact|Total|Total, exact|GPU hours");
	for (size_t i = 0; i < t->accounts.n; i++) {
		const struct tally_group *g = t->accounts.v[i];

		text(b, g->name[0] != '\0' ? g->name : "(none)");
		money(b, g->sum.nano, b->money);
		money(b, g->overhead, b->money);
		money(b, g->sum.nano + g->overhead, b->money);
		hours(b, g->sum.run_gpu_s);
		line_end(b);
	}
	if (!t->distributed && t->overhead != t->assigned) {
		text(b, "(caused by no job)");
		money(b, 0, b->money);
		money(b, t->overhead - t->assigned, b->money);
		money(b, t->overhead - t->assigned, b->money);
		hours(b, 0);
		line_end(b);
	}
	filter(b, COLUMNS);
}

static int by_cost(const void *a, const void *b)
{
	const struct tally_job *x = *(const struct tally_job *const *)a;
	const struct tally_job *y = *(const struct tally_job *const *)b;

	if (x->nano != y->nano)
		return x->nano > y->nano ? -1 : 1;
	return tally_job_compare(x, y);
}

static void job_row(struct book *b, const struct tally_job *j)
{
	number(b, (double)j->job, NULL);
	text(b, j->user->name);
	text(b, j->account->name);
	number(b, (double)j->attempts, NULL);
	hours(b, j->gpu_s);
	money(b, j->nano, b->money);
	money(b, j->lost, b->money);
	line_end(b);
}

/* What a sheet has no rows for, so that the column still adds up. */
static void other_jobs(struct book *b, const struct tally_job *const *v, size_t n)
{
	struct tally_job all = {0};

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		all.gpu_s += v[i]->gpu_s;
		all.nano += v[i]->nano;
		all.lost += v[i]->lost;
	}
	text(b, "(all others)");
	b->col += 3;
	hours(b, all.gpu_s);
	money(b, all.nano, b->money);
	money(b, all.lost, b->money);
	line_end(b);
}

static void jobs(struct book *b, const struct tally *t)
{
	enum { COLUMNS = 9, MOST = ROWS_MAX - 2 };

	const struct tally_job **all = mem_zalloc((t->njobs + 1) * sizeof(void *));
	size_t n = 0, shown;

	for (size_t i = 0; i < t->jobs_cap; i++)
		if (t->jobs[i].attempts != 0)
			all[n++] = &t->jobs[i];
	if (n > 0)
		qsort(all, n, sizeof(void *), by_cost);
	shown = n < MOST ? n : MOST;
	sheet(b, "jobs", "Job|User|Account|Runs|GPU hours|Cost|Cost, exact|Lost|Lost, exact");
	for (size_t i = 0; i < shown; i++)
		job_row(b, all[i]);
	other_jobs(b, all + shown, n - shown);
	filter(b, COLUMNS);
	free(all);
}

static void days(struct book *b, const struct tally *t)
{
	enum { COLUMNS = 11 };
	static const int order[TALLY_NCOLUMNS] = {PROVIDER_SPOT, PROVIDER_ON_DEMAND,
						  PROVIDER_RESERVED, TALLY_NO_MACHINE};

	sheet(b, "days",
	      "Day|Spot|Spot, exact|On demand|On demand, exact|Reserved|Reserved, exact|"
	      "No machine|No machine, exact|Total|Total, exact");
	for (size_t i = 0; i < t->ndays; i++) {
		int64_t sum = 0;

		moment(b, t->days[i].day * DAY_S, b->date);
		for (int m = 0; m < TALLY_NCOLUMNS; m++) {
			sum += t->days[i].nano[order[m]];
			money(b, t->days[i].nano[order[m]], b->money);
		}
		money(b, sum, b->money);
		line_end(b);
	}
	filter(b, COLUMNS);
	if (t->elsewhere == 0)
		return;
	text(b, "(corrections of days before)");
	b->col = COLUMNS - 2;
	money(b, t->elsewhere, b->money);
	line_end(b);
}

static void budgets(struct book *b)
{
	enum { COLUMNS = 10 };

	sheet(b, "budgets",
	      "Budget|Counts|Amount|Amount, exact|Of it added|Added, exact|Spent|Spent, exact|"
	      "Promised|Promised, exact");
	for (size_t i = 0; i < b->in->nbudgets; i++) {
		const struct statement_budget *of = &b->in->budgets[i];

		text(b, of->name);
		text(b, of->match);
		money(b, clamp_add(of->amount, of->overrides), b->money);
		money(b, of->overrides, b->money);
		money(b, of->spent, b->money);
		money(b, of->committed, b->money);
		line_end(b);
	}
	filter(b, COLUMNS);
}

enum { CHARGE_COLUMNS = 32 };

static void charges_begin(struct book *b)
{
	char name[32];

	b->charge_sheets++;
	(void)snprintf(name, sizeof(name), b->charge_sheets == 1 ? "charges" : "charges %u",
		       b->charge_sheets);
	sheet(b, name,
	      "From (UTC)|Until (UTC)|Class|Given back|Adjustment|Estimated|Cost|Cost, exact|"
	      "By list price|By list price, exact|Owner|Job|Run|Job name|User|Account|Partition|"
	      "QOS|Wckey|GPU hours|CPU hours|Node|Instance|Provider|Offer|Type|Region|Zone|"
	      "Market|GPUs|CPUs|Currency");
}

static void flags(struct book *b, const struct charge *c)
{
	text(b, allocate_class_str(c->class));
	text(b, c->credit ? "yes" : "");
	text(b, c->adjust ? "yes" : "");
	text(b, c->estimated ? "yes" : "");
}

static void whose(struct book *b, const struct charge *c)
{
	static const char *const owners[] = {"job", "pool", "cluster"};

	text(b, owners[c->owner]);
	text(b, c->job_id);
	if (c->owner == ALLOCATE_JOB)
		number(b, (double)c->attempt, NULL);
	else
		b->col++;
	text(b, c->job_name);
	text(b, c->user);
	text(b, c->account);
	text(b, c->partition);
	text(b, c->qos);
	text(b, c->wckey);
	hours(b, c->gpu_s);
	hours(b, c->cpu_s);
}

static void machine(struct book *b, const struct charge *c)
{
	text(b, c->node);
	text(b, c->instance);
	text(b, c->provider);
	text(b, c->offer);
	text(b, c->type);
	text(b, c->region);
	text(b, c->zone);
	text(b, charge_is_of_no_machine(c) ? "" : provider_market_str(c->market));
	number(b, c->gpus, NULL);
	number(b, c->cpus, NULL);
	text(b, c->currency);
}

static int charge(void *arg, const struct charge *c, struct err *e)
{
	struct book *b = arg;

	if (b->row == ROWS_MAX) {
		filter(b, CHARGE_COLUMNS);
		if (b->charge_sheets == CHARGE_SHEETS_MAX)
			return err_set(e, ERR_LIMIT, "more charges than %d sheets have rows",
				       CHARGE_SHEETS_MAX);
		charges_begin(b);
	}
	moment(b, c->start_s, b->time);
	moment(b, c->end_s, b->time);
	flags(b, c);
	money(b, c->nano, b->exact);
	if (c->list_nano >= 0)
		money(b, c->list_nano, b->exact);
	else
		b->col += 2;
	whose(b, c);
	machine(b, c);
	line_end(b);
	return b->error == LXW_NO_ERROR
		       ? 0
		       : err_set(e, ERR_IO, "workbook: %s", lxw_strerror(b->error));
}

static lxw_format *format(struct book *b, const char *as)
{
	lxw_format *f = mem_check(workbook_add_format(b->wb));

	if (as != NULL)
		format_set_num_format(f, as);
	else
		format_set_bold(f);
	return f;
}

static void open_book(struct book *b, const char *path, const char *tmp_dir)
{
	static const char *const decimals[] = {"#,##0", "", "#,##0.00", "#,##0.000"};
	char *dir = tmp_dir != NULL ? mem_strdup(tmp_dir) : NULL;
	lxw_workbook_options options = {.constant_memory = LXW_TRUE, .tmpdir = dir};
	/* Not the time of the call: the same period gives the same bytes. */
	lxw_doc_properties about = {.created = (time_t)b->in->made_s};

	b->wb = mem_check(workbook_new_opt(path, &options));
	free(dir);
	note(b, workbook_set_properties(b->wb, &about));
	b->bold = format(b, NULL);
	b->money = format(b, decimals[cents_places(b->in->currency)]);
	b->exact = format(b, "0.000000000");
	b->hours = format(b, "#,##0.0");
	b->date = format(b, "yyyy\\-mm\\-dd");
	b->time = format(b, "yyyy\\-mm\\-dd hh:mm:ss");
}

int xlsx_write(const char *path, const char *tmp_dir, const struct statement *in,
	       const struct tally *t, const struct source *from, struct err *e)
{
	struct book b = {.in = in};
	int rc;

	str_init(&b.text, TEXT_MAX);
	open_book(&b, path, tmp_dir);
	summary(&b, t);
	accounts(&b, t);
	jobs(&b, t);
	days(&b, t);
	budgets(&b);
	charges_begin(&b);
	rc = from->visit(from->ctx, charge, &b, e);
	filter(&b, CHARGE_COLUMNS);
	if (rc == 0 && b.error == LXW_NO_ERROR)
		b.error = workbook_close(b.wb);
	else
		lxw_workbook_free(b.wb);
	if (rc == 0 && b.error != LXW_NO_ERROR)
		rc = err_set(e, ERR_IO, "%s: %s", path, lxw_strerror(b.error));
	str_fini(&b.text);
	return rc;
}
