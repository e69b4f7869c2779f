#include "store/ledger_shown.h"

#include "store/ledger_private.h"

#define PLACE                                                                                      \
	"offer = ? AND region = ? AND zone = ? AND gpus = ? AND cpus = ? AND memory_mb = ?"        \
	" AND estimated = ?"
static const char sql_place[] = "SELECT id FROM place WHERE " PLACE;
static const char sql_put_place[] =
	"INSERT INTO place (offer, region, zone, gpus, cpus, memory_mb, estimated)"
	" VALUES (?, ?, ?, ?, ?, ?, ?)";
static const char sql_put[] =
	"INSERT INTO shown (closing, lifetime, posting, place, rate_nano_h, list_nano_h, job,"
	" number, job_id, name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

#define SHOWN                                                                                      \
	"SELECT s.lifetime, s.posting, w1.text, w2.text, w3.text, p.gpus, p.cpus, p.memory_mb,"    \
	" p.estimated, s.rate_nano_h, s.list_nano_h, s.job, s.number, w4.text, w5.text"            \
	" FROM shown AS s JOIN place AS p ON p.id = s.place"                                       \
	" JOIN word AS w1 ON w1.id = p.offer JOIN word AS w2 ON w2.id = p.region"                  \
	" JOIN word AS w3 ON w3.id = p.zone JOIN word AS w4 ON w4.id = s.job_id"                   \
	" JOIN word AS w5 ON w5.id = s.name WHERE s.closing = ?"
static const char sql_of[] = SHOWN " AND s.lifetime = ? ORDER BY s.lifetime, s.posting";
static const char sql_all[] = SHOWN " ORDER BY s.lifetime, s.posting";

static int place_of(struct ledger *l, const struct ledger_shown *s, int64_t *id, struct err *e)
{
	const char *const texts[] = {s->offer, s->region, s->zone};
	int64_t fields[] = {0, 0, 0, s->gpus, s->cpus, s->memory_mb, s->estimated};
	int rc = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (ledger_word(l, texts[i], &fields[i], e) < 0)
			return -1;
	for (int try = 0; try < 2 && rc == 0; try++) {
		struct db_cursor c;

		if (ledger_stmt(l, &c, try == 0 ? sql_place : sql_put_place, e) < 0)
			return -1;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			db_put_int(&c, fields[i]);
		rc = try == 0 ? ledger_ask(l, &c, id, e) : ledger_add(l, &c, id, e);
	}
	return rc == 1 ? 0 : -1;
}

int ledger_put_shown(struct ledger *l, int64_t closing, const struct ledger_shown *s, struct err *e)
{
	int64_t fields[] = {closing,        s->lifetime, s->posting, 0, s->rate_nano_h,
			    s->list_nano_h, s->job,      s->number,  0, 0};
	struct db_cursor c;

	if (place_of(l, s, &fields[3], e) < 0 || ledger_word(l, s->job_id, &fields[8], e) < 0 ||
	    ledger_word(l, s->name, &fields[9], e) < 0 || ledger_stmt(l, &c, sql_put, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		db_put_int(&c, fields[i]);
	return ledger_do(l, &c, e);
}

static void read_row(struct db_cursor *c, struct ledger_shown *s)
{
	c->at = 0;
	s->lifetime = ledger_int(c);
	s->posting = ledger_int(c);
	s->offer = db_get_text(c, LEDGER_TEXT_MAX);
	s->region = db_get_text(c, LEDGER_TEXT_MAX);
	s->zone = db_get_text(c, LEDGER_TEXT_MAX);
	s->gpus = ledger_int(c);
	s->cpus = ledger_int(c);
	s->memory_mb = ledger_int(c);
	s->estimated = ledger_int(c) != 0;
	s->rate_nano_h = ledger_int(c);
	s->list_nano_h = ledger_int(c);
	s->job = ledger_int(c);
	s->number = ledger_int(c);
	s->job_id = db_get_text(c, LEDGER_TEXT_MAX);
	s->name = db_get_text(c, LEDGER_TEXT_MAX);
}

static int visit(struct ledger *l, struct db_cursor *c, ledger_shown_fn fn, void *ctx,
		 struct err *e)
{
	int rc;

	while ((rc = db_step(l->db, c->st, e)) == 1) {
		struct ledger_shown s;

		read_row(c, &s);
		if (c->bad || fn(ctx, &s, e) < 0) {
			db_reset(c->st);
			return c->bad ? db_damaged(l->db, "shown", e) : -1;
		}
	}
	return rc;
}

int ledger_shown_of(struct ledger *l, int64_t closing, int64_t lifetime, ledger_shown_fn fn,
		    void *ctx, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_of, e) < 0)
		return -1;
	db_put_int(&c, closing);
	db_put_int(&c, lifetime);
	return visit(l, &c, fn, ctx, e);
}

struct digesting {
	struct digest *d;
	int64_t n;
};

static int digest_one(void *ctx, const struct ledger_shown *s, struct err *e)
{
	const int64_t numbers[] = {s->lifetime,  s->posting,   s->gpus,        s->cpus,
				   s->memory_mb, s->estimated, s->rate_nano_h, s->list_nano_h,
				   s->job,       s->number};
	const char *const texts[] = {s->offer, s->region, s->zone, s->job_id, s->name};
	struct digesting *to = ctx;

	(void)e;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		digest_int(to->d, numbers[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		digest_text(to->d, texts[i]);
	to->n++;
	return 0;
}

int ledger_digest_shown(struct ledger *l, int64_t closing, struct digest *d, int64_t *n,
			struct err *e)
{
	struct digesting to = {.d = d};
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_all, e) < 0)
		return -1;
	db_put_int(&c, closing);
	rc = visit(l, &c, digest_one, &to, e);
	*n = to.n;
	return rc;
}
