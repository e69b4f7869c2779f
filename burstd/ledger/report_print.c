#include "ledger/report.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/fmt.h"
#include "base/jsonw.h"
#include "base/plain.h"
#include "ledger/csv.h"
#include "ledger/number.h"

enum {
	COLUMNS = 80,
	NUMBERS = 3, /* columns of numbers: cost, GPU hours, cost of an hour */
	CELL = 40,
	KEY_MIN = 4, /* columns of a text, at least */
	HOUR_S = 3600,
};

static const char in_all[] = "total";

struct cells { /* the numbers of a row */
	char text[NUMBERS][CELL];
};

struct layout {
	size_t widths[REPORT_KEYS_MAX + NUMBERS];
	size_t decimals; /* characters of an amount from its point on, at most */
};

/* What an hour of a GPU that a job had cost, with all that it cost to have it there: "" if none had
 * any. */
static void each(char out[CELL], const struct report_row *r)
{
	__extension__ typedef __int128 wide;
	wide v;

	out[0] = '\0';
	if ((int64_t)r->jobs_gpu_s <= 0)
		return;
	v = (wide)r->nano * HOUR_S / (wide)r->jobs_gpu_s;
	if (v < INT64_MAX && v > INT64_MIN)
		(void)number_money_round(out, (int64_t)v, 2);
}

/* How many characters an amount has behind its point. */
static size_t decimals(const char *money)
{
	return strlen(money + strcspn(money, "."));
}

/* Spaces behind an amount, so that the points of all are below each other. */
static void align(char out[CELL], size_t most)
{
	const size_t n = strlen(out), has = decimals(out);

	if (has >= most)
		return;
	assert(n + most - has < CELL);
	memset(out + n, ' ', most - has);
	out[n + most - has] = '\0';
}

static void make_cells(struct cells *c, const struct report_row *r, size_t most_decimals)
{
	(void)fmt_money(c->text[0], r->nano);
	align(c->text[0], most_decimals);
	(void)number_hours(c->text[1], (int64_t)r->jobs_gpu_s);
	each(c->text[2], r);
}

/* Columns that text takes, or the bytes of its first `columns` columns. */
static size_t width(const char *text, size_t columns, size_t *bytes)
{
	size_t n = 0, at = 0;

	while (text[at] != '\0' && n < columns) {
		size_t len = plain_shown(text + at);

		at += len > 0 ? len : 1;
		n++;
	}
	*bytes = at;
	return n;
}

static void pad(struct str *out, size_t n)
{
	while (n-- > 0)
		str_adds(out, " ");
}

/* A text in so many columns; one that is cut ends in '~'. */
static void text_cell(struct str *out, const char *text, size_t columns)
{
	size_t bytes, all, n;

	if (text == NULL || text[0] == '\0')
		text = "-";
	n = width(text, columns, &bytes);
	if (text[bytes] != '\0') {
		(void)width(text, columns - 1, &all);
		str_add(out, text, all);
		str_adds(out, "~");
	} else {
		str_add(out, text, bytes);
		pad(out, columns - n);
	}
}

static size_t longest(const struct report *r, size_t k)
{
	size_t most = strlen(report_key_str(r->want.keys[k])), bytes, n;

	for (size_t i = 0; i < r->n; i++) {
		n = width(r->rows[i].text[k], COLUMNS, &bytes);
		most = n > most ? n : most;
	}
	return most;
}

/* Make the widest texts narrower until all fits. */
static void fit(size_t *widths, size_t n, size_t room)
{
	for (;;) {
		size_t sum = 0, most = 0;

		for (size_t k = 0; k < n; k++) {
			sum += widths[k] + 1;
			most = widths[k] > widths[most] ? k : most;
		}
		if (sum <= room || widths[most] <= KEY_MIN)
			return;
		widths[most]--;
	}
}

/* No line ends with spaces. */
static void end_line(struct str *out)
{
	while (out->len > 0 && out->p[out->len - 1] == ' ')
		out->p[--out->len] = '\0';
	str_adds(out, "\n");
}

static void line(const struct report *r, const char *const *texts, const struct cells *c,
		 const struct layout *l, struct str *out)
{
	const size_t n = r->want.n;

	for (size_t k = 0; k < n; k++) {
		text_cell(out, texts[k], l->widths[k]);
		str_adds(out, " ");
	}
	for (size_t i = 0; i < NUMBERS; i++) {
		size_t len = strlen(c->text[i]);

		pad(out, l->widths[n + i] > len ? l->widths[n + i] - len : 0);
		str_addf(out, "%s%s", c->text[i], i + 1 < NUMBERS ? " " : "");
	}
	end_line(out);
}

static const struct report_row *row_of(const struct report *r, size_t i)
{
	return i < r->n ? &r->rows[i] : &r->total;
}

static void measure(const struct report *r, const struct cells *head, struct layout *l)
{
	const size_t n = r->want.n;
	size_t numbers = NUMBERS - 1;
	struct cells c = {0};

	for (size_t i = 0; i < NUMBERS; i++)
		l->widths[n + i] = strlen(head->text[i]);
	for (size_t k = 0; k < n; k++)
		l->widths[k] = longest(r, k);
	if (l->widths[0] < sizeof(in_all) - 1)
		l->widths[0] = sizeof(in_all) - 1;
	for (size_t row = 0; row <= r->n; row++) {
		make_cells(&c, row_of(r, row), 0);
		if (decimals(c.text[0]) > l->decimals)
			l->decimals = decimals(c.text[0]);
	}
	for (size_t row = 0; row <= r->n; row++) {
		make_cells(&c, row_of(r, row), l->decimals);
		for (size_t i = 0; i < NUMBERS; i++)
			if (strlen(c.text[i]) > l->widths[n + i])
				l->widths[n + i] = strlen(c.text[i]);
	}
	for (size_t i = 0; i < NUMBERS; i++)
		numbers += l->widths[n + i];
	fit(l->widths, n, numbers < COLUMNS ? COLUMNS - numbers : 0);
}

static void total_line(const struct report *r, const struct layout *l, struct str *out)
{
	const char *total[REPORT_KEYS_MAX];
	struct cells c = {0};

	for (size_t k = 0; k < r->want.n; k++)
		total[k] = k == 0 ? in_all : "";
	make_cells(&c, &r->total, l->decimals);
	total[r->want.n - 1] = r->total.text[r->want.n - 1];
	line(r, total, &c, l, out);
}

void report_table(const struct report *r, struct str *out)
{
	static const struct cells head = {{"COST", "GPU-HOURS", "PER-HOUR"}};
	const char *titles[REPORT_KEYS_MAX];
	struct layout l = {.decimals = 0};
	struct cells c = {0};

	for (size_t k = 0; k < r->want.n; k++)
		titles[k] = report_key_str(r->want.keys[k]);
	if (r->n == 0) {
		str_adds(out, "no charges\n");
	} else {
		measure(r, &head, &l);
		line(r, titles, &head, &l, out);
	}
	for (size_t i = 0; i < r->n; i++) {
		make_cells(&c, &r->rows[i], l.decimals);
		line(r, r->rows[i].text, &c, &l, out);
	}
	if (r->total_is_one && r->n > 1)
		total_line(r, &l, out);
	if (r->state != NULL && r->revision > 0)
		str_addf(out, "%s, revision %u\n", r->state, r->revision);
}

/* --- for programs ------------------------------------------------------------------------------
 */

static const char *const figures[] = {"cost", "gpu_seconds", "cpu_seconds", "job_gpu_seconds"};

void report_csv(const struct report *r, struct str *out)
{
	const struct sink to = sink_str(out);
	struct err e; /* what did not fit is out->full */
	struct csv c;

	csv_init(&c, &to, false);
	for (size_t k = 0; k < r->want.n; k++)
		csv_own(&c, report_key_str(r->want.keys[k]));
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		csv_own(&c, figures[i]);
	(void)csv_end(&c, &e);
	for (size_t i = 0; i < r->n; i++) {
		const struct report_row *row = &r->rows[i];

		for (size_t k = 0; k < r->want.n; k++)
			csv_text(&c, row->text[k]);
		csv_money(&c, row->nano, false);
		csv_i64(&c, row->gpu_s);
		csv_i64(&c, row->cpu_s);
		csv_i64(&c, (int64_t)row->jobs_gpu_s);
		(void)csv_end(&c, &e);
	}
	csv_fini(&c);
}

static void json_row(const struct report *r, const struct report_row *row, struct jsonw *w)
{
	for (size_t k = 0; k < r->want.n; k++)
		if (row->text[k] != NULL)
			jsonw_text(w, report_key_str(r->want.keys[k]), row->text[k]);
	jsonw_money(w, figures[0], row->nano);
	jsonw_int(w, figures[1], row->gpu_s);
	jsonw_int(w, figures[2], row->cpu_s);
	jsonw_int(w, figures[3], (int64_t)row->jobs_gpu_s);
	jsonw_close(w, '}');
}

void report_json_put(const struct report *r, struct jsonw *w)
{
	if (r->state != NULL) {
		jsonw_text(w, "state", r->state);
		jsonw_int(w, "revision", r->revision);
	}
	jsonw_open(w, "rows", '[');
	for (size_t i = 0; i < r->n; i++) {
		jsonw_open(w, NULL, '{');
		json_row(r, &r->rows[i], w);
	}
	jsonw_close(w, ']');
	if (r->total_is_one) {
		jsonw_open(w, "total", '{');
		json_row(r, &r->total, w);
	}
}
