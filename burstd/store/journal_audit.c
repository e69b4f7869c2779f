/* The audit chain: the hash of each record covers the record and the hash before it, so nobody can
 * change, remove or move one without changing all later ones.  burstd logs the last hash, once a
 * minute while there are new records, and another machine may keep that log.
 *
 * Input of a hash: the 64 digits of the hash before (0 for the first record), then seq, at_ms,
 * actor, verb, target, object, reason and request, each as its length, ':', its text and ','. */
#include "store/private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/digest.h"

/* burstd writes no larger number: no chain gets that long. */
#define SEQ_MAX (INT64_C(1) << 62)

enum { /* most that one call checks: some milliseconds */
       CHECK_ROWS = 500,
       CHECK_BYTES = 1 << 20
};

static const char sql_put_audit[] =
	"INSERT INTO audit (seq, at_ms, actor, verb, target, object, reason, request,"
	" hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";

static const char sql_audits[] =
	"SELECT seq, at_ms, actor, verb, target, object, reason, request, hash"
	" FROM audit WHERE seq > ? ORDER BY seq LIMIT ?";

static const char sql_first_audit[] = "SELECT seq FROM audit ORDER BY seq LIMIT 1";

static const char sql_last_audit[] =
	"SELECT seq, hash FROM audit WHERE seq <= ? ORDER BY seq DESC LIMIT 1";

static const char sql_last_forget[] = "SELECT request FROM audit WHERE verb = '" CHAIN_FORGET "'"
				      " ORDER BY seq DESC LIMIT 1";

/* The last of the oldest records after a number, if there are too many or all of those are old;
 * reads no other row. */
const char chain_old_audit[] =
	"SELECT seq, hash FROM"
	" (SELECT seq, hash FROM audit WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?)"
	" AS last WHERE seq <= ? OR ? > (SELECT MAX(at_ms) FROM"
	" (SELECT at_ms FROM audit WHERE seq > ? ORDER BY seq LIMIT ?) AS oldest)";

static const char sql_del_audits[] = "DELETE FROM audit WHERE seq <= ?";

static const char sql_get_mark[] = "SELECT seq, hash FROM audit_mark WHERE name = ?";

static const char sql_put_mark[] = "INSERT INTO audit_mark (name, seq, hash) VALUES (?, ?, ?)"
				   " ON CONFLICT (name) DO UPDATE SET seq = excluded.seq,"
				   " hash = excluded.hash";

static const struct journal_mark origin = {
	0, "0000000000000000000000000000000000000000000000000000000000000000"};

/* Hash record a as number seq, after the record with hash `before`. */
static void hash_of(const char *before, int64_t seq, const struct journal_audit *a,
		    char out[JOURNAL_HASH_SIZE])
{
	const char *const texts[] = {a->actor,  a->verb,   a->target,
				     a->object, a->reason, a->request};
	struct digest d;

	digest_begin(&d, before);
	digest_int(&d, seq);
	digest_int(&d, a->at_ms);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		digest_text(&d, texts[i]);
	digest_end(&d, out);
}

void journal_mark_print(const struct journal_mark *m, char out[JOURNAL_MARK_SIZE])
{
	(void)snprintf(out, JOURNAL_MARK_SIZE, "%" PRId64 ":%s", m->seq, m->hash);
}

/* --- writing -----------------------------------------------------------------------------------
 */

/* Read the mark that a statement selects; its hash is all 0 if the row has no valid one.  Without a
 * row *out is unchanged. */
static int get_place(struct journal *j, struct db_cursor *c, struct journal_mark *out,
		     struct err *e)
{
	int rc = c->st != NULL ? db_step(j->db, c->st, e) : -1;

	if (rc != 1)
		return rc;
	c->at = 0;
	out->seq = db_get_int(c, 0, SEQ_MAX);
	db_copy_text(c, out->hash, sizeof(out->hash));
	if (c->bad || strlen(out->hash) != JOURNAL_HASH_SIZE - 1)
		memcpy(out->hash, origin.hash, sizeof(out->hash));
	db_reset(c->st);
	return 0;
}

static int get_mark(struct journal *j, const char *name, struct journal_mark *out, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_get_mark, e)};

	*out = origin;
	if (c.st != NULL)
		db_put_text(&c, name, strlen(name));
	return get_place(j, &c, out, e);
}

static int put_mark(struct journal *j, const char *name, const struct journal_mark *m,
		    struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_put_mark, e)};

	if (c.st == NULL)
		return -1;
	db_put_text(&c, name, strlen(name));
	db_put_int(&c, m->seq);
	db_put_text(&c, m->hash, strlen(m->hash));
	return db_step(j->db, c.st, e);
}

/* A chain that somebody edited must not keep burstd from deleting instances, which cost money:
 * append to whatever is there.  journal_audit_check() reports what is wrong. */
int chain_open(struct journal *j, struct err *e)
{
	const struct {
		const char *name;
		struct journal_mark *mark;
	} marks[] = {{"head", &j->head}, {"forgotten", &j->forgotten}};
	struct db_cursor c = {.st = db_stmt(j->db, sql_last_audit, e)};
	struct journal_mark last = {.seq = 0};

	if (c.st != NULL)
		db_put_int(&c, SEQ_MAX);
	if (get_place(j, &c, &last, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (get_mark(j, marks[i].name, marks[i].mark, e) < 0)
			return -1;
	if (last.seq > j->head.seq)
		j->head = last;
	if (j->forgotten.seq > j->head.seq)
		j->head = j->forgotten;
	return 0;
}

/* Within a transaction: write the next record.  The seq and hash of a are ignored. */
static int put_next(struct journal *j, const struct journal_audit *a, struct err *e)
{
	const char *const texts[] = {a->actor,  a->verb,   a->target,
				     a->object, a->reason, a->request};
	struct db_cursor c = {.st = db_stmt(j->db, sql_put_audit, e)};
	char hash[JOURNAL_HASH_SIZE];

	if (c.st == NULL)
		return -1;
	hash_of(j->next_head.hash, j->next_head.seq + 1, a, hash);
	j->next_head.seq++;
	memcpy(j->next_head.hash, hash, sizeof(hash));
	db_put_int(&c, j->next_head.seq);
	db_put_int(&c, a->at_ms);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		db_put_text(&c, texts[i], strlen(texts[i]));
	db_put_text(&c, hash, strlen(hash));
	return db_step(j->db, c.st, e);
}

/* From what journal_put_audit() collected. */
static int write_audit(const struct journal_tx *tx, const struct tx_effect *f, struct err *e)
{
	const struct tx_value *v = &tx->values[f->first];
	const struct journal_audit a = {.at_ms = v[0].number,
					.actor = tx->text + v[1].at,
					.verb = tx->text + v[2].at,
					.target = tx->text + v[3].at,
					.object = tx->text + v[4].at,
					.reason = tx->text + v[5].at,
					.request = tx->text + v[6].at};

	return put_next(tx->j, &a, e);
}

void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a)
{
	tx_effect_by(tx, write_audit); /* in the order in which that reads them */
	tx_int(tx, a->at_ms);
	tx_text(tx, a->actor);
	tx_text(tx, a->verb);
	tx_text(tx, a->target);
	tx_text(tx, a->object);
	tx_text(tx, a->reason);
	tx_text(tx, a->request);
}

int chain_put_head(struct journal *j, struct err *e)
{
	return j->next_head.seq != j->head.seq ? put_mark(j, "head", &j->next_head, e) : 0;
}

/* --- forgetting --------------------------------------------------------------------------------
 */

/* Set *upto to the last of the JOURNAL_TRIM oldest records if all of them may go, else to seq 0.
 * Never fewer, since forgetting adds a record each time. */
static int find_old(struct journal *j, int64_t before_ms, struct journal_mark *upto, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, chain_old_audit, e)};

	*upto = origin;
	if (c.st == NULL)
		return -1;
	db_put_int(&c, j->forgotten.seq);
	db_put_int(&c, JOURNAL_TRIM - 1);
	db_put_int(&c, j->head.seq - JOURNAL_EVENTS_MAX);
	db_put_int(&c, before_ms);
	db_put_int(&c, j->forgotten.seq);
	db_put_int(&c, JOURNAL_TRIM);
	return get_place(j, &c, upto, e);
}

/* Record what was forgotten, so that the chain itself shows where it begins. */
static int put_forgotten(struct journal *j, const struct journal_mark *upto, int64_t now_ms,
			 struct err *e)
{
	char object[64], request[JOURNAL_MARK_SIZE];
	const struct journal_audit a = {
		.at_ms = now_ms,
		.actor = "reconciler",
		.verb = CHAIN_FORGET,
		.target = "journal",
		.object = object,
		.reason = "older than events_keep, or beyond the maximum number of records",
		.request = request};

	(void)snprintf(object, sizeof(object), "%" PRId64 "-%" PRId64, j->forgotten.seq + 1,
		       upto->seq);
	journal_mark_print(upto, request);
	return put_next(j, &a, e);
}

static int forget(struct journal *j, const struct journal_mark *upto, int64_t now_ms, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_del_audits, e)};

	j->next_head = j->head;
	if (c.st == NULL || db_begin(j->db, e) < 0)
		return -1;
	db_put_int(&c, upto->seq);
	/* The mark first: the trigger audit_kept protects all records after it. */
	if (put_mark(j, "forgotten", upto, e) < 0 || put_forgotten(j, upto, now_ms, e) < 0 ||
	    chain_put_head(j, e) < 0 || db_step(j->db, c.st, e) < 0) {
		db_rollback(j->db);
		return -1;
	}
	if (db_commit(j->db, e) < 0)
		return -1;
	j->head = j->next_head;
	j->forgotten = *upto;
	return 0;
}

int chain_trim(struct journal *j, int64_t before_ms, int64_t now_ms, bool *more, struct err *e)
{
	struct journal_mark upto;

	*more = false;
	if (find_old(j, before_ms, &upto, e) < 0) {
		j->broken = true;
		return -1;
	}
	if (upto.seq == 0)
		return 0;
	*more = forget(j, &upto, now_ms, e) == 0;
	if (*more)
		return 0;
	j->broken = !db_was_full(j->db); /* trimming gets no room from the reserve */
	return j->broken ? -1 : 0;
}

/* --- reading -----------------------------------------------------------------------------------
 */

const struct journal_mark *journal_audit_head(const struct journal *j)
{
	return &j->head;
}

/* An unreadable row gets an empty hash: its readable fields are shown, and no check accepts it. */
static void read_audit(struct db_cursor *c, struct journal_audit *a)
{
	const char **const texts[] = {&a->actor,  &a->verb,    &a->target, &a->object,
				      &a->reason, &a->request, &a->hash};

	c->at = 0;
	a->seq = db_get_int(c, INT64_MIN, INT64_MAX);
	a->at_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = db_get_text(c, JOURNAL_TEXT_MAX);
	if (c->bad)
		a->hash = "";
}

int journal_audits(struct journal *j, int64_t after, unsigned limit, journal_audit_fn fn, void *ctx,
		   struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_audits, e)};
	struct journal_audit a = {.seq = 0};
	int rc;

	if (c.st == NULL)
		return -1;
	db_put_int(&c, after > j->forgotten.seq ? after : j->forgotten.seq);
	db_put_int(&c, limit);
	while ((rc = db_step(j->db, c.st, e)) == 1) {
		c.bad = false;
		read_audit(&c, &a);
		if (fn(ctx, &a) != 0)
			break;
	}
	db_reset(c.st);
	return rc < 0 ? -1 : 0;
}

struct walk { /* one pass over some rows */
	struct journal_chain *c;
	size_t rows, bytes;
	bool found; /* set by find_next() */
};

/* Count the row; is it the last one for now? */
static bool is_full(struct walk *w, const struct journal_audit *a)
{
	w->bytes += strlen(a->object) + strlen(a->request) + strlen(a->reason);
	return ++w->rows >= CHECK_ROWS || w->bytes >= CHECK_BYTES;
}

static int bad(struct journal_chain *c, int64_t seq, const char *what)
{
	c->bad = seq;
	c->what = what;
	return 1;
}

/* Has the chain another hash at the mark that is known from elsewhere? */
static bool is_another(const struct journal_chain *c)
{
	return c->known != NULL && c->known->seq == c->at.seq &&
	       strcmp(c->known->hash, c->at.hash) != 0;
}

static int check_row(void *ctx, const struct journal_audit *a)
{
	struct walk *w = ctx;
	struct journal_chain *c = w->c;
	char hash[JOURNAL_HASH_SIZE];

	if (a->seq != c->at.seq + 1)
		return bad(c, c->at.seq + 1, "missing");
	hash_of(c->at.hash, a->seq, a, hash);
	if (strcmp(hash, a->hash) != 0)
		return bad(c, a->seq, "changed");
	c->at.seq = a->seq;
	memcpy(c->at.hash, hash, sizeof(hash));
	c->records++;
	if (is_another(c))
		return bad(c, a->seq, "changed");
	c->more = is_full(w, a);
	return c->more;
}

/* Would this record fit where the first bad one is? */
static int find_next(void *ctx, const struct journal_audit *a)
{
	struct walk *w = ctx;
	char hash[JOURNAL_HASH_SIZE];

	hash_of(w->c->at.hash, w->c->at.seq + 1, a, hash);
	w->found = strcmp(hash, a->hash) == 0;
	return w->found || is_full(w, a);
}

/* If the missing record is found further on, the records were reordered. */
static int look_further(struct journal *j, struct walk *w, struct err *e)
{
	w->rows = w->bytes = 0;
	if (journal_audits(j, w->c->at.seq + 1, CHECK_ROWS, find_next, w, e) < 0)
		return -1;
	if (w->found)
		w->c->what = "reordered";
	return 0;
}

static int begin(const struct journal *j, struct journal_chain *c, struct err *e)
{
	if (c->known != NULL && c->known->seq < j->forgotten.seq && c->at.seq < c->known->seq)
		return err_set(e, ERR_INVALID, "record %" PRId64 " was already deleted",
			       c->known->seq);
	if (!c->begun || c->at.seq < j->forgotten.seq)
		c->at = j->forgotten;
	c->begun = true;
	if (is_another(c))
		(void)bad(c, c->at.seq, "changed");
	return 0;
}

/* *seq: INT64_MAX if there is none. */
static int get_first(struct journal *j, int64_t *seq, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_first_audit, e)};
	int rc = c.st != NULL ? db_step(j->db, c.st, e) : -1;

	*seq = INT64_MAX;
	if (rc != 1)
		return rc;
	*seq = db_get_int(&c, INT64_MIN, INT64_MAX);
	db_reset(c.st);
	return 0;
}

/* Does the last `forget` record name the same place as the mark? */
static int is_on_record(struct journal *j, bool *is, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_last_forget, e)};
	char want[JOURNAL_MARK_SIZE];
	int rc;

	if (c.st == NULL)
		return -1;
	journal_mark_print(&j->forgotten, want);
	rc = db_step(j->db, c.st, e);
	c.at = 0;
	*is = rc == 1 && strcmp(db_get_text(&c, JOURNAL_TEXT_MAX), want) == 0;
	if (rc == 1)
		db_reset(c.st);
	return rc < 0 ? -1 : 0;
}

/* Check the beginning of the chain: a `forget` record confirms the mark, and no record is left
 * before it, where nothing else looks. */
static int check_begin(struct journal *j, struct journal_chain *c, struct err *e)
{
	int64_t first;
	bool is = true;

	if (get_first(j, &first, e) < 0 || (j->forgotten.seq > 0 && is_on_record(j, &is, e) < 0))
		return -1;
	if (!is)
		(void)bad(c, j->forgotten.seq, "cut");
	else if (first <= j->forgotten.seq)
		(void)bad(c, first, "added");
	return 0;
}

int journal_audit_check(struct journal *j, struct journal_chain *c, struct err *e)
{
	struct walk w = {.c = c};

	c->more = false;
	if (begin(j, c, e) < 0)
		return -1;
	if (c->bad != 0)
		return 0;
	if (journal_audits(j, c->at.seq, CHECK_ROWS, check_row, &w, e) < 0)
		return -1;
	if (c->bad != 0)
		return c->at.seq < c->bad ? look_further(j, &w, e) : 0;
	if (c->more)
		return 0;
	if (c->at.seq < j->head.seq || (c->known != NULL && c->at.seq < c->known->seq))
		(void)bad(c, c->at.seq + 1, "cut");
	else if (c->at.seq > j->head.seq)
		(void)bad(c, j->head.seq + 1, "added");
	else if (strcmp(c->at.hash, j->head.hash) != 0)
		(void)bad(c, c->at.seq, "changed");
	return c->bad == 0 ? check_begin(j, c, e) : 0;
}
