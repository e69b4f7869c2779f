/* Input of a record's hash: the hash before (64 zeros for the first), then, each as digest.h has
 * it: seq, month, revision, closed, at_ms, who, reason, allowed, zone, totals, invoice, booking,
 * chain, n, digest.  Input of digest: of each posting in the month that was booked by then, in the
 * order of id: all its numbers; then what the lines say (ledger_shown.h).  If the month had
 * invoices by then, digest is another: its input is the one before, and all that each invoice says
 * but whether it was removed, each followed by all that its lines say.  Records from before that
 * was so have one without these lines, or the one before.  Whose a posting is, as texts, is in its
 * booking's hash, and so in chain.
 *
 * After all of these, of a record that has it, comes budgets.  Its input: of each of the tables
 * budget_period and budget_override, as ledger_budgets.h and ledger_overrides.h have it, the rows
 * of the days that the record closes, and their number.  These days begin with the first that was
 * open before; if the record before has no budgets, with the first of all.  Of days that are opened
 * again rows may change: budgets is compared with them only of records whose month was not opened
 * again since. */
#include "store/ledger_periods.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "store/ledger_booking.h"
#include "store/ledger_budgets.h"
#include "store/ledger_invoices.h"
#include "store/ledger_overrides.h"
#include "store/ledger_private.h"
#include "store/ledger_shown.h"

#define OPEN_DAY "open_day"
/* The chain's end, as the last commit wrote it: else its last records could be cut off. */
#define HEAD "closing_head"

static const char origin[] = "0000000000000000000000000000000000000000000000000000000000000000";

static const char sql_put[] =
	"INSERT INTO closing (seq, month, revision, closed, at_ms, who, reason, allowed, zone,"
	" totals, invoice, booking, chain, n, digest, budgets, hash)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_all[] =
	"SELECT seq, month, revision, closed, at_ms, who, reason, allowed, zone, totals, invoice,"
	" booking, chain, n, digest, budgets, hash FROM closing ORDER BY seq";
static const char sql_last[] = "SELECT COALESCE(MAX(seq), 0) FROM closing";
static const char sql_hash[] = "SELECT hash FROM closing WHERE seq = ?";
static const char sql_before[] = "SELECT budgets FROM closing WHERE seq = ?";
static const char sql_revision[] =
	"SELECT COALESCE(MAX(revision), 0) FROM closing WHERE month = ? AND closed <> 0";
static const char sql_invoice[] = "SELECT COALESCE(MAX(id), 0) FROM invoice";
static const char sql_booking[] = "SELECT hash FROM booking WHERE seq = ?";
#define NUMBERS                                                                                    \
	"SELECT day, booking, id, lifetime, kind, of_day, dims, attempt, nano, gpu_s, cpu_s,"      \
	" from_s, to_s, time_s, part, whole, list_nano FROM posting "
static const char sql_days[] = NUMBERS "WHERE day >= ? AND day < ? ORDER BY id";

static const char sql_any[] = "SELECT EXISTS (SELECT 1 FROM posting WHERE day >= ? AND day < ?)";

enum { NNUMBERS = 17 };

int ledger_open_day(struct ledger *l, int64_t *day, struct err *e)
{
	return ledger_number(l, OPEN_DAY, day, e);
}

int ledger_has_postings(struct ledger *l, int64_t from_day, int64_t to_day, bool *has,
			struct err *e)
{
	int64_t any = 0;
	struct db_cursor c;

	*has = false;
	if (ledger_stmt(l, &c, sql_any, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, to_day);
	if (ledger_ask(l, &c, &any, e) < 0)
		return -1;
	*has = any != 0;
	return 0;
}

/* --- digests -----------------------------------------------------------------------------------
 */

struct month { /* of a record, with what was found of it */
	int64_t seq, month, booking, n;
	bool last; /* it says how the month is now */
	struct digest d;
};

struct months {
	struct month *v; /* by month, seq */
	size_t n;
	int64_t open_day;
	int64_t late; /* the record of a month that has a posting which is not in it; 0: none */
};

static void digest_row(struct month *m, const int64_t v[NNUMBERS])
{
	for (size_t i = 0; i < NNUMBERS; i++)
		digest_int(&m->d, v[i]);
	m->n++;
}

static void take_row(struct months *all, const int64_t v[NNUMBERS])
{
	const int64_t month = date_month(v[0]);
	size_t from = 0, to = all->n;
	bool known = v[0] >= all->open_day;

	while (from < to) {
		const size_t mid = (from + to) / 2;

		if (all->v[mid].month < month)
			from = mid + 1;
		else
			to = mid;
	}
	for (; from < all->n && all->v[from].month == month; from++) {
		struct month *m = &all->v[from];

		if (v[1] == 0 || v[1] > m->booking)
			continue;
		digest_row(m, v);
		known = known || m->last;
	}
	if (!known)
		all->late = all->n == 0 ? 1 : all->v[from < all->n ? from : all->n - 1].seq;
}

static int scan(struct ledger *l, struct months *all, int64_t from_day, int64_t to_day,
		struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_days, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, to_day);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		int64_t v[NNUMBERS];

		c.at = 0;
		for (size_t i = 0; i < NNUMBERS; i++)
			v[i] = ledger_int(&c);
		if (c.bad) {
			db_reset(c.st);
			return db_damaged(l->db, "posting", e);
		}
		take_row(all, v);
	}
	return rc;
}

/* Its digest, after all of its postings. */
static int finish(struct ledger *l, struct month *m, char out[DIGEST_SIZE], struct err *e)
{
	int64_t lines = 0;
	int rc = ledger_digest_shown(l, m->seq, &m->d, &lines, e);

	digest_int(&m->d, lines);
	digest_end(&m->d, out);
	return rc;
}

static int digest_month(struct ledger *l, struct ledger_closing *c, char out[DIGEST_SIZE],
			struct err *e)
{
	struct month m = {.seq = c->seq, .month = c->month, .booking = c->booking};
	struct months one = {.v = &m, .n = 1, .open_day = date_month_day(c->month)};
	const struct ledger_invoices_of of = {.month = c->month, .last = c->invoice, .lines = true};
	int rc;

	digest_begin(&m.d, "");
	rc = scan(l, &one, date_month_day(c->month), date_month_day(c->month + 1), e);
	if (finish(l, &m, out, e) < 0 || ledger_digest_invoices(l, &of, out, e) < 0)
		rc = -1;
	c->n = m.n;
	c->digest = out;
	return rc;
}

/* out: of what statements of days in [from_day, to_day) show of budgets. */
static int digest_budgets(struct ledger *l, int64_t from_day, int64_t to_day, char out[DIGEST_SIZE],
			  struct err *e)
{
	int64_t budgets = 0, overrides = 0;
	struct digest d;
	int rc;

	digest_begin(&d, "");
	rc = ledger_digest_budgets(l, from_day, to_day, &d, &budgets, e);
	digest_int(&d, budgets);
	if (rc == 0)
		rc = ledger_digest_overrides(l, from_day, to_day, &d, &overrides, e);
	digest_int(&d, overrides);
	digest_end(&d, out);
	return rc;
}

/* --- making ------------------------------------------------------------------------------------
 */

static void hash_of(const struct ledger_closing *c, const char *before, char out[DIGEST_SIZE])
{
	const int64_t numbers[] = {c->seq,   c->month,   (int64_t)c->revision, c->closed,
				   c->at_ms, c->invoice, c->booking,           c->n};
	const char *const texts[] = {c->who,    c->reason, c->allowed, c->zone,
				     c->totals, c->chain,  c->digest};
	struct digest d;

	digest_begin(&d, before);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		digest_int(&d, numbers[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		digest_text(&d, texts[i]);
	if (c->budgets[0] != '\0')
		digest_text(&d, c->budgets);
	digest_end(&d, out);
}

static int put_row(struct ledger *l, const struct ledger_closing *c, const char *hash,
		   struct err *e)
{
	const int64_t first[] = {c->seq, c->month, (int64_t)c->revision, c->closed, c->at_ms};
	const char *const texts[] = {c->who, c->reason, c->allowed, c->zone, c->totals};
	struct db_cursor at;

	if (ledger_stmt(l, &at, sql_put, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		db_put_int(&at, first[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ledger_put_text(&at, texts[i]);
	db_put_int(&at, c->invoice);
	db_put_int(&at, c->booking);
	ledger_put_text(&at, c->chain);
	db_put_int(&at, c->n);
	ledger_put_text(&at, c->digest);
	ledger_put_text(&at, c->budgets);
	ledger_put_text(&at, hash);
	return ledger_do(l, &at, e);
}

static int ask(struct ledger *l, const char *sql, int64_t *out, struct err *e)
{
	struct db_cursor c;

	*out = 0;
	if (ledger_stmt(l, &c, sql, e) < 0)
		return -1;
	return ledger_ask(l, &c, out, e) < 0 ? -1 : 0;
}

/* The text of the row with that number; "" if there is none. */
static int ask_text(struct ledger *l, const char *sql, int64_t number, char **out, struct err *e)
{
	struct db_cursor c;

	*out = NULL;
	if (ledger_stmt(l, &c, sql, e) < 0)
		return -1;
	db_put_int(&c, number);
	return ledger_ask_text(l, &c, out, e);
}

int ledger_next_closing(struct ledger *l, int64_t *seq, struct err *e)
{
	if (ask(l, sql_last, seq, e) < 0)
		return -1;
	++*seq;
	return 0;
}

static int find_revision(struct ledger *l, struct ledger_closing *c, struct err *e)
{
	int64_t revision = 0;
	struct db_cursor at;

	if (ledger_stmt(l, &at, sql_revision, e) < 0)
		return -1;
	db_put_int(&at, c->month);
	if (ledger_ask(l, &at, &revision, e) < 0)
		return -1;
	c->revision = (unsigned)revision + (c->closed ? 1 : 0);
	return 0;
}

/* The first day of which a record speaks that comes after one with this text of budgets. */
static int64_t budgets_from(const char *before, int64_t open_day)
{
	return before[0] != '\0' ? open_day : INT64_MIN;
}

static int find_budgets(struct ledger *l, struct ledger_closing *c, char out[DIGEST_SIZE],
			struct err *e)
{
	char *before = NULL;
	int64_t open_day = 0;
	int rc = ask_text(l, sql_before, c->seq - 1, &before, e);

	if (rc == 0)
		rc = ledger_open_day(l, &open_day, e);
	if (rc == 0)
		rc = digest_budgets(l, budgets_from(before, open_day), date_month_day(c->month + 1),
				    out, e);
	free(before);
	c->budgets = out;
	return rc;
}

int ledger_put_closing(struct ledger *l, const struct ledger_closing *given, char *hash,
		       struct err *e)
{
	struct ledger_closing c = *given;
	char chain[DIGEST_SIZE], digest[DIGEST_SIZE] = "", budgets[DIGEST_SIZE] = "";
	char *before = NULL;
	int rc = -1;

	if (ledger_next_closing(l, &c.seq, e) < 0 || find_revision(l, &c, e) < 0 ||
	    booking_last(l, &c.booking, chain, e) < 0 || ask(l, sql_invoice, &c.invoice, e) < 0)
		return -1;
	c.chain = chain;
	c.n = 0;
	c.digest = digest;
	c.budgets = budgets;
	if (c.closed && (digest_month(l, &c, digest, e) < 0 || find_budgets(l, &c, budgets, e) < 0))
		return -1;
	if (ask_text(l, sql_hash, c.seq - 1, &before, e) == 0) {
		hash_of(&c, c.seq > 1 ? before : origin, hash);
		rc = put_row(l, &c, hash, e);
	}
	free(before);
	if (rc == 0)
		rc = ledger_put_note(l, HEAD, hash, e);
	if (rc == 0)
		rc = ledger_put_number(l, OPEN_DAY, date_month_day(c.month + c.closed), e);
	return rc;
}

/* --- reading -----------------------------------------------------------------------------------
 */

int ledger_closings(struct ledger *l, ledger_closing_fn fn, void *ctx, struct err *e)
{
	struct db_cursor at;
	int rc;

	if (ledger_stmt(l, &at, sql_all, e) < 0)
		return -1;
	while ((rc = db_step(l->db, at.st, e)) == 1) {
		struct ledger_closing c = {0};

		at.at = 0;
		c.seq = ledger_int(&at);
		c.month = ledger_int(&at);
		c.revision = (unsigned)db_get_int(&at, 0, UINT32_MAX);
		c.closed = ledger_int(&at) != 0;
		c.at_ms = ledger_int(&at);
		c.who = db_get_text(&at, LEDGER_TEXT_MAX);
		c.reason = db_get_text(&at, LEDGER_TEXT_MAX);
		c.allowed = db_get_text(&at, LEDGER_TEXT_MAX);
		c.zone = db_get_text(&at, LEDGER_TEXT_MAX);
		c.totals = db_get_text(&at, LEDGER_TEXT_MAX);
		c.invoice = ledger_int(&at);
		c.booking = ledger_int(&at);
		c.chain = db_get_text(&at, LEDGER_TEXT_MAX);
		c.n = ledger_int(&at);
		c.digest = db_get_text(&at, LEDGER_TEXT_MAX);
		c.budgets = db_get_text(&at, LEDGER_TEXT_MAX);
		c.hash = db_get_text(&at, LEDGER_TEXT_MAX);
		if (at.bad || fn(ctx, &c, e) < 0) {
			db_reset(at.st);
			return at.bad ? db_damaged(l->db, "closing", e) : -1;
		}
	}
	return rc;
}

/* --- checking ----------------------------------------------------------------------------------
 */

struct record { /* as it says */
	int64_t seq, month, booking, invoice, n;
	bool closed;
	bool opened;      /* again, since */
	int64_t from_day; /* of budgets */
	char digest[DIGEST_SIZE], chain[DIGEST_SIZE], budgets[DIGEST_SIZE];
};

struct checking {
	struct ledger_period_check *check;
	char hash[DIGEST_SIZE]; /* of the last */
	struct record *v;
	size_t n, cap;
	int64_t open_day; /* by the records */
};

static int bad(struct ledger_period_check *c, int64_t seq, const char *what)
{
	if (c->bad == 0) {
		c->bad = seq;
		c->what = what;
	}
	return 0;
}

static void add_record(struct checking *all, const struct ledger_closing *c, int64_t from_day)
{
	struct record *r;

	if (all->n == all->cap) {
		all->cap = all->cap == 0 ? 16 : 2 * all->cap;
		all->v = mem_realloc(all->v, all->cap * sizeof(*all->v));
	}
	for (size_t i = 0; i < all->n && !c->closed; i++)
		all->v[i].opened = all->v[i].opened || all->v[i].month == c->month;
	r = &all->v[all->n++];
	*r = (struct record){.seq = c->seq,
			     .month = c->month,
			     .booking = c->booking,
			     .invoice = c->invoice,
			     .n = c->n,
			     .closed = c->closed,
			     .from_day = from_day};
	memcpy(r->digest, c->digest, strnlen(c->digest, DIGEST_SIZE - 1));
	memcpy(r->chain, c->chain, strnlen(c->chain, DIGEST_SIZE - 1));
	memcpy(r->budgets, c->budgets, strnlen(c->budgets, DIGEST_SIZE - 1));
}

static int check_one(void *ctx, const struct ledger_closing *c, struct err *e)
{
	struct checking *all = ctx;
	const char *before = all->n > 0 ? all->v[all->n - 1].budgets : "";
	const int64_t from_day = budgets_from(before, all->open_day);
	char hash[DIGEST_SIZE];

	(void)e;
	if (all->check->bad != 0)
		return 0;
	if (c->seq != all->check->closings + 1)
		return bad(all->check, all->check->closings + 1, "missing");
	hash_of(c, all->hash, hash);
	if (strcmp(hash, c->hash) != 0)
		return bad(all->check, c->seq, "changed");
	memcpy(all->hash, hash, sizeof(hash));
	all->check->closings++;
	all->open_day = date_month_day(c->month + c->closed);
	add_record(all, c, from_day);
	return 0;
}

/* The bookings up to there are those that there were. */
static int check_chain(struct ledger *l, const struct checking *all, struct err *e)
{
	for (size_t i = 0; i < all->n; i++) {
		char *hash = NULL;

		if (ask_text(l, sql_booking, all->v[i].booking, &hash, e) < 0)
			return -1;
		if (strcmp(all->v[i].booking > 0 ? hash : origin, all->v[i].chain) != 0)
			(void)bad(all->check, all->v[i].seq, "has other bookings before it");
		free(hash);
	}
	return 0;
}

static int by_month(const void *a, const void *b)
{
	const struct month *x = a, *y = b;

	if (x->month != y->month)
		return x->month < y->month ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static const struct record *record_of(const struct checking *all, int64_t seq)
{
	return &all->v[seq - 1];
}

/* digest: of the postings. */
static int check_digest(struct ledger *l, const struct checking *all, const struct record *r,
			const char digest[DIGEST_SIZE], struct err *e)
{
	struct ledger_invoices_of of = {.month = r->month, .last = r->invoice};
	char with[DIGEST_SIZE];

	for (int way = 0; way < 3; way++) {
		memcpy(with, digest, sizeof(with));
		of.lines = way == 0;
		if (way < 2 && ledger_digest_invoices(l, &of, with, e) < 0)
			return -1;
		if (strcmp(with, r->digest) == 0)
			return 0;
	}
	return bad(all->check, r->seq, "has postings, or invoices, that differ");
}

static int check_postings(struct ledger *l, struct checking *all, struct err *e)
{
	struct months m = {.v = mem_zalloc((all->n + 1) * sizeof(*m.v)), .open_day = all->open_day};
	int rc;

	for (size_t i = 0; i < all->n; i++) {
		if (!all->v[i].closed)
			continue;
		m.v[m.n] = (struct month){.seq = all->v[i].seq,
					  .month = all->v[i].month,
					  .booking = all->v[i].booking};
		digest_begin(&m.v[m.n++].d, "");
	}
	if (m.n > 0)
		qsort(m.v, m.n, sizeof(*m.v), by_month);
	for (size_t i = 0; i < m.n; i++)
		m.v[i].last = i + 1 == m.n || m.v[i + 1].month != m.v[i].month;
	rc = scan(l, &m, INT64_MIN, INT64_MAX, e);
	for (size_t i = 0; i < m.n; i++) {
		const struct record *r = record_of(all, m.v[i].seq);
		char digest[DIGEST_SIZE];

		if (finish(l, &m.v[i], digest, e) < 0 || check_digest(l, all, r, digest, e) < 0)
			rc = -1;
		if (m.v[i].n != r->n)
			(void)bad(all->check, r->seq, "has postings that differ");
	}
	if (m.late != 0)
		(void)bad(all->check, m.late, "has postings that came later");
	free(m.v);
	return rc;
}

/* What budgets have in months that are closed. */
static int check_budgets(struct ledger *l, const struct checking *all, struct err *e)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct record *r = &all->v[i];
		char digest[DIGEST_SIZE];

		if (!r->closed || r->opened)
			continue;
		if (r->budgets[0] == '\0') {
			all->check->bare++;
			continue;
		}
		if (digest_budgets(l, r->from_day, date_month_day(r->month + 1), digest, e) < 0)
			return -1;
		if (strcmp(digest, r->budgets) != 0)
			(void)bad(all->check, r->seq, "has budgets, or overrides, that differ");
	}
	return 0;
}

int ledger_check_periods(struct ledger *l, struct ledger_period_check *c, struct err *e)
{
	struct checking all = {.check = c};
	int64_t open_day = 0;
	char *head = NULL;
	int rc;

	*c = (struct ledger_period_check){0};
	memcpy(all.hash, origin, sizeof(all.hash));
	rc = ledger_closings(l, check_one, &all, e);
	if (rc == 0)
		rc = ledger_note(l, HEAD, &head, e);
	if (rc == 0)
		rc = ledger_open_day(l, &open_day, e);
	if (rc == 0 && strcmp(head, all.n > 0 ? all.hash : "") != 0)
		(void)bad(c, c->closings + 1, "cut");
	if (rc == 0 && open_day != all.open_day)
		(void)bad(c, c->closings + 1, "does not say which days are closed");
	if (rc == 0)
		rc = check_chain(l, &all, e);
	if (rc == 0 && all.n > 0)
		rc = check_postings(l, &all, e);
	if (rc == 0)
		rc = check_budgets(l, &all, e);
	free(head);
	free(all.v);
	return rc;
}
