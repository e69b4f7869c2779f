/* Input of a booking's hash: the 64 digits of the hash before (0 for the first), then, each as
 * digest.h has it: seq, node, gen, instance, at_ms and how many postings; of each of these, in the
 * order in which they were written: day, kind, the texts of its dims, the job's number, id and
 * begin (0, "" and 0: no job), and nano to list_nano; of one that is late, by its kind, of_day,
 * too. So nobody can change whose a posting is, either. */
#include "store/ledger_booking.h"

#include <stdlib.h>
#include <string.h>

static const char origin[] = "0000000000000000000000000000000000000000000000000000000000000000";

static const char sql_last[] = "SELECT seq, hash FROM booking ORDER BY seq DESC LIMIT 1";
static const char sql_open[] = "SELECT COUNT(*) FROM posting WHERE lifetime = ? AND booking = 0"
			       " AND day < ?";
static const char sql_sum[] =
	"SELECT COALESCE(SUM(nano), 0) FROM posting WHERE lifetime = ? AND booking = 0"
	" AND day < ?";
static const char sql_close[] = "UPDATE posting SET booking = ? WHERE lifetime = ? AND booking = 0"
				" AND day < ?";
static const char sql_put[] =
	"INSERT INTO booking (seq, lifetime, at_ms, n, nano, hash) VALUES (?, ?, ?, ?, ?, ?)";
/* The index posting_in gives them in the order of id. */
static const char sql_rows[] =
	"SELECT p.id, p.day, p.kind, p.nano, p.gpu_s, p.cpu_s, p.from_s, p.to_s, p.time_s, p.part,"
	" p.whole, p.list_nano, COALESCE(a.job, 0), p.attempt,"
	" COALESCE(a.job_id, ''), w1.text, w2.text, w3.text, w4.text, w5.text, w6.text, w7.text,"
	" w8.text, w9.text, w0.text, p.of_day FROM posting AS p JOIN dims AS d ON d.id = p.dims"
	" LEFT JOIN attempt AS a ON a.id = p.attempt"
	" JOIN word AS w1 ON w1.id = d.account JOIN word AS w2 ON w2.id = d.user"
	" JOIN word AS w3 ON w3.id = d.partition JOIN word AS w4 ON w4.id = d.qos"
	" JOIN word AS w5 ON w5.id = d.wckey JOIN word AS w6 ON w6.id = d.provider"
	" JOIN word AS w7 ON w7.id = d.market JOIN word AS w8 ON w8.id = d.pool"
	" JOIN word AS w9 ON w9.id = d.type JOIN word AS w0 ON w0.id = d.currency"
	" WHERE p.booking = ? AND p.booking <> 0 ORDER BY p.id";
static const char sql_bookings[] =
	"SELECT b.seq, b.lifetime, b.at_ms, b.n, b.nano, b.hash, t.node, t.gen, t.instance"
	" FROM booking AS b JOIN lifetime AS t ON t.id = b.lifetime ORDER BY b.seq";
static const char sql_lifetime[] = "SELECT node, gen, instance FROM lifetime WHERE id = ?";
static const char sql_stray[] =
	"SELECT COALESCE(MIN(booking), 0) FROM posting WHERE booking <> 0 AND"
	" booking NOT IN (SELECT seq FROM booking)";

/* The chain's end, as the last commit wrote it: else its last bookings could be cut off. */
#define CHAIN_HEAD "chain_head"

enum { ROW_NUMBERS = 14, ROW_TEXTS = 11 };

struct head { /* of a booking, but for its postings */
	int64_t seq, lifetime, at_ms, n, nano;
	int64_t until_day; /* only while it is made */
	uint64_t gen;
	const char *node, *instance;
};

static void hash_row(struct db_cursor *c, struct digest *d, int64_t *nano)
{
	int64_t kind = 0, of_day;

	c->at = 1; /* not its id */
	for (int i = 1; i < ROW_NUMBERS; i++) {
		int64_t v = ledger_int(c);

		digest_int(d, v);
		kind = i == 2 ? v : kind;
		if (i == 3 && __builtin_add_overflow(*nano, v, nano))
			c->bad = true;
	}
	for (int i = 0; i < ROW_TEXTS; i++)
		digest_text(d, db_get_text(c, LEDGER_TEXT_MAX));
	of_day = ledger_int(c);
	if ((kind & LEDGER_LATE) != 0)
		digest_int(d, of_day);
}

static int hash_rows(struct ledger *l, const struct head *h, struct digest *d, int64_t *n,
		     int64_t *nano, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_rows, e) < 0)
		return -1;
	db_put_int(&c, h->seq);
	*n = *nano = 0;
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		hash_row(&c, d, nano);
		++*n;
		if (!c.bad)
			continue;
		db_reset(c.st);
		return db_damaged(l->db, "posting", e);
	}
	return rc;
}

/* *good: it has as many postings, and as much money, as it says. */
static int hash_of(struct ledger *l, const char *before, const struct head *h,
		   char out[DIGEST_SIZE], bool *good, struct err *e)
{
	struct digest d;
	int64_t n = 0, nano = 0;
	int rc;

	digest_begin(&d, before);
	digest_int(&d, h->seq);
	digest_text(&d, h->node);
	digest_int(&d, (int64_t)h->gen);
	digest_text(&d, h->instance);
	digest_int(&d, h->at_ms);
	digest_int(&d, h->n);
	rc = hash_rows(l, h, &d, &n, &nano, e);
	digest_end(&d, out);
	*good = n == h->n && nano == h->nano;
	return rc;
}

/* --- making ------------------------------------------------------------------------------------
 */

int booking_last(struct ledger *l, int64_t *seq, char hash[DIGEST_SIZE], struct err *e)
{
	struct db_cursor c;
	int rc;

	*seq = 0;
	memcpy(hash, origin, DIGEST_SIZE);
	if (ledger_stmt(l, &c, sql_last, e) < 0)
		return -1;
	rc = db_step(l->db, c.st, e);
	if (rc != 1)
		return rc;
	c.at = 0;
	*seq = ledger_int(&c);
	db_copy_text(&c, hash, DIGEST_SIZE);
	db_reset(c.st);
	return c.bad ? db_damaged(l->db, "booking", e) : 0;
}

static int ask_of(struct ledger *l, const char *sql, const struct head *h, int64_t *out,
		  struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql, e) < 0)
		return -1;
	db_put_int(&c, h->lifetime);
	db_put_int(&c, h->until_day);
	return ledger_ask(l, &c, out, e) == 1 ? 0 : -1;
}

static int close_all(struct ledger *l, const struct head *h, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_close, e) < 0)
		return -1;
	db_put_int(&c, h->seq);
	db_put_int(&c, h->lifetime);
	db_put_int(&c, h->until_day);
	return ledger_do(l, &c, e);
}

static int put(struct ledger *l, const struct head *h, const char *hash, struct err *e)
{
	const int64_t fields[] = {h->seq, h->lifetime, h->at_ms, h->n, h->nano};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		db_put_int(&c, fields[i]);
	ledger_put_text(&c, hash);
	if (ledger_do(l, &c, e) < 0)
		return -1;
	return ledger_put_note(l, CHAIN_HEAD, hash, e);
}

/* With the names of its lifetime, which are borrowed from the statement. */
static int make(struct ledger *l, struct head *h, const char *before, struct err *e)
{
	char hash[DIGEST_SIZE];
	struct db_cursor c;
	bool good = true;
	int rc = -1;

	if (ledger_stmt(l, &c, sql_lifetime, e) < 0)
		return -1;
	db_put_int(&c, h->lifetime);
	if (db_step(l->db, c.st, e) != 1)
		return err_set(e, ERR_DAMAGED, "ledger: no lifetime %lld", (long long)h->lifetime);
	c.at = 0;
	h->node = db_get_text(&c, LEDGER_TEXT_MAX);
	h->gen = (uint64_t)ledger_int(&c);
	h->instance = db_get_text(&c, LEDGER_TEXT_MAX);
	if (close_all(l, h, e) == 0 && hash_of(l, before, h, hash, &good, e) == 0)
		rc = put(l, h, hash, e);
	db_reset(c.st);
	return rc;
}

int ledger_book(struct ledger *l, int64_t lifetime, int64_t until_day, int64_t at_ms, struct err *e)
{
	struct head h = {.lifetime = lifetime, .at_ms = at_ms, .until_day = until_day};
	char before[DIGEST_SIZE];

	if (ask_of(l, sql_open, &h, &h.n, e) < 0)
		return -1;
	if (h.n == 0)
		return 0;
	if (ask_of(l, sql_sum, &h, &h.nano, e) < 0 || booking_last(l, &h.seq, before, e) < 0)
		return -1;
	h.seq++;
	return make(l, &h, before, e);
}

/* --- checking ----------------------------------------------------------------------------------
 */

static int bad(struct ledger_chain *c, int64_t seq, const char *what)
{
	c->bad = seq;
	c->what = what;
	return 0;
}

/* The booking at c, after those before it. */
static int check_one(struct ledger *l, struct db_cursor *c, struct ledger_chain *ch, struct err *e)
{
	char hash[DIGEST_SIZE], said[DIGEST_SIZE];
	struct head h;
	bool good;

	c->at = 0;
	h.seq = ledger_int(c);
	h.lifetime = ledger_int(c);
	h.at_ms = ledger_int(c);
	h.n = ledger_int(c);
	h.nano = ledger_int(c);
	db_copy_text(c, said, sizeof(said));
	h.node = db_get_text(c, LEDGER_TEXT_MAX);
	h.gen = (uint64_t)ledger_int(c);
	h.instance = db_get_text(c, LEDGER_TEXT_MAX);
	if (c->bad)
		return bad(ch, ch->bookings + 1, "changed");
	if (h.seq != ch->bookings + 1)
		return bad(ch, ch->bookings + 1, "missing");
	if (hash_of(l, ch->hash, &h, hash, &good, e) < 0)
		return -1;
	if (!good || strcmp(hash, said) != 0)
		return bad(ch, h.seq, "changed");
	memcpy(ch->hash, hash, sizeof(hash));
	ch->bookings++;
	return 0;
}

static int check_end(struct ledger *l, struct ledger_chain *ch, struct err *e)
{
	struct db_cursor c;
	char *head = NULL;
	int64_t stray = 0;

	if (ledger_stmt(l, &c, sql_stray, e) < 0 || ledger_ask(l, &c, &stray, e) < 0 ||
	    ledger_note(l, CHAIN_HEAD, &head, e) < 0)
		return -1;
	if (strcmp(head, ch->bookings > 0 ? ch->hash : "") != 0)
		(void)bad(ch, ch->bookings + 1, "cut");
	else if (stray != 0)
		(void)bad(ch, stray, "missing");
	free(head);
	return 0;
}

int ledger_check_chain(struct ledger *l, struct ledger_chain *ch, struct err *e)
{
	struct db_cursor c;
	int rc;

	*ch = (struct ledger_chain){0};
	memcpy(ch->hash, origin, sizeof(ch->hash));
	if (ledger_stmt(l, &c, sql_bookings, e) < 0)
		return -1;
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		if (check_one(l, &c, ch, e) < 0) {
			db_reset(c.st);
			return -1;
		}
		if (ch->bad == 0)
			continue;
		db_reset(c.st);
		return 0;
	}
	return rc < 0 ? -1 : check_end(l, ch, e);
}
