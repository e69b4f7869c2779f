#include "store/ledger_attempts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/ledger_private.h"

#define SECONDS_MAX INT64_C(253402300799) /* the year 9999 */

#define ATTEMPT                                                                                    \
	"SELECT a.id, a.job, a.start_s, a.end_s, a.submit_s, a.dbindex, a.job_id, n.text, s.text," \
	" c.text, u.text, p.text, q.text, w.text, o.text, a.cpus, a.gpus, a.memory_mb, a.nnodes,"  \
	" a.running, a.seen_ms FROM attempt AS a"                                                  \
	" JOIN word AS n ON n.id = a.name JOIN word AS s ON s.id = a.state"                        \
	" JOIN word AS c ON c.id = a.account JOIN word AS u ON u.id = a.user"                      \
	" JOIN word AS p ON p.id = a.partition JOIN word AS q ON q.id = a.qos"                     \
	" JOIN word AS w ON w.id = a.wckey JOIN word AS o ON o.id = a.source "

/* CROSS JOIN: in this order. */
static const char sql_on[] =
	"SELECT a.id, a.job, a.start_s, a.end_s, a.submit_s, a.dbindex, a.job_id, n.text, s.text,"
	" c.text, u.text, p.text, q.text, w.text, o.text, a.cpus, a.gpus, a.memory_mb, a.nnodes,"
	" a.running, a.seen_ms FROM word AS x CROSS JOIN attempt_on AS y CROSS JOIN attempt AS a"
	" JOIN word AS n ON n.id = a.name JOIN word AS s ON s.id = a.state"
	" JOIN word AS c ON c.id = a.account JOIN word AS u ON u.id = a.user"
	" JOIN word AS p ON p.id = a.partition JOIN word AS q ON q.id = a.qos"
	" JOIN word AS w ON w.id = a.wckey JOIN word AS o ON o.id = a.source"
	" WHERE x.text = ? AND y.node = x.id AND y.start_s >= ? AND y.start_s < ?"
	" AND a.id = y.attempt ORDER BY y.start_s, a.job";
static const char sql_of[] = ATTEMPT "WHERE a.job = ? ORDER BY a.start_s";
static const char sql_named[] = ATTEMPT "WHERE a.job_id = ? ORDER BY a.start_s";
static const char sql_one[] = ATTEMPT "WHERE a.id = ?";

static const char sql_job_id[] = "SELECT job_id FROM attempt WHERE id = ?";
static const char sql_job_ids[] =
	"SELECT id, job_id FROM attempt WHERE id >= ? AND id <= ? ORDER BY id";
static const char sql_find[] =
	"SELECT id FROM attempt WHERE job = ?1 AND (start_s = ?2 OR (running <> 0 AND"
	" ((?3 <> 0 AND dbindex = ?3) OR (?3 = 0 AND submit_s = ?4)))) ORDER BY start_s = ?2 DESC"
	" LIMIT 1";
static const char sql_same[] =
	"SELECT COUNT(*) FROM attempt WHERE id = ? AND start_s = ? AND end_s = ? AND submit_s = ?"
	" AND dbindex = ? AND job_id = ? AND name = ? AND state = ? AND account = ? AND user = ?"
	" AND partition = ? AND qos = ? AND wckey = ? AND cpus = ? AND gpus = ?"
	" AND memory_mb = ? AND nnodes = ? AND running = ? AND source = ?";
static const char sql_insert[] =
	"INSERT INTO attempt (start_s, end_s, submit_s, dbindex, job_id, name, state, account,"
	" user, partition, qos, wckey, cpus, gpus, memory_mb, nnodes, running, source, seen_ms,"
	" job) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_update[] =
	"UPDATE attempt SET start_s = ?, end_s = ?, submit_s = ?, dbindex = ?, job_id = ?,"
	" name = ?, state = ?, account = ?, user = ?, partition = ?, qos = ?, wckey = ?, cpus = ?,"
	" gpus = ?, memory_mb = ?, nnodes = ?, running = ?, source = ?, seen_ms = ? WHERE id = ?";
static const char sql_see[] = "UPDATE attempt SET seen_ms = ? WHERE id = ?";
static const char sql_leave[] = "DELETE FROM attempt_on WHERE attempt = ?";
static const char sql_enter[] =
	"INSERT OR IGNORE INTO attempt_on (node, start_s, attempt) VALUES (?, ?, ?)";
/* Others than final ones are computed again in any case. */
static const char sql_touch[] =
	"UPDATE lifetime SET dirty = 1 WHERE state = 2 AND start_s <= ?3 AND end_s >= ?2 AND"
	" node IN (SELECT w.text FROM attempt_on AS o JOIN word AS w ON w.id = o.node"
	" WHERE o.attempt = ?1)";
/* Those that were bought for its job: who pays for their boot may be another attempt now. */
static const char sql_touch_bought[] =
	"UPDATE lifetime SET dirty = 1 WHERE state = 2 AND end_s >= ?2 AND start_s <= ?2 + 3600 AND"
	" (node, gen) IN (SELECT node, gen FROM buyer WHERE job = ?1)";
static const char sql_touch_unseen[] =
	"UPDATE lifetime SET dirty = 1 WHERE id IN (SELECT t.id FROM attempt AS a"
	" JOIN attempt_on AS o ON o.attempt = a.id JOIN word AS w ON w.id = o.node"
	" JOIN lifetime AS t ON t.node = w.text AND t.end_s >= a.start_s"
	" WHERE a.running <> 0 AND a.seen_ms < ? AND t.state = 2"
	" AND a.source = (SELECT id FROM word WHERE text = ?))";
static const char sql_had[] =
	"SELECT start_s, CASE running WHEN 0 THEN end_s ELSE 9223372036854775807 END"
	" FROM attempt WHERE id = ?";
static const char sql_end[] =
	"UPDATE attempt SET running = 0, end_s = MAX(start_s, seen_ms / 1000)"
	" WHERE running <> 0 AND seen_ms < ? AND source = (SELECT id FROM word WHERE text = ?)";
static const char sql_unseen[] =
	"SELECT start_s FROM attempt WHERE running <> 0 AND seen_ms < ?"
	" AND source = (SELECT id FROM word WHERE text = ?) GROUP BY start_s"
	" ORDER BY MIN(seen_ms), start_s LIMIT ?";
#define TAKEN "'noticed', 'taken'" /* words of core/life.h */
static const char sql_taken[] =
	"SELECT COUNT(*) FROM attempt_on AS o JOIN word AS w ON w.id = o.node"
	" JOIN life AS f ON f.node = w.text"
	" WHERE o.attempt = ? AND f.kind IN (" TAKEN ") AND f.at_ms >= ? AND f.at_ms <= ?";
static const char sql_touch_beside[] =
	"UPDATE lifetime SET dirty = 1 WHERE id IN (SELECT t.id FROM word AS w"
	" JOIN attempt_on AS o ON o.node = w.id JOIN attempt AS a ON a.id = o.attempt"
	" JOIN attempt_on AS other ON other.attempt = a.id JOIN word AS n ON n.id = other.node"
	" JOIN lifetime AS t ON t.node = n.text AND t.start_s <= a.end_s AND t.end_s >= a.start_s"
	" WHERE w.text = ?1 AND ?2 IN (" TAKEN ") AND a.running = 0 AND a.start_s * 1000 <= ?3"
	" AND a.end_s * 1000 >= ?3 - ?4 AND t.state = 2)";
static const char sql_count[] = "SELECT COUNT(*) FROM attempt WHERE source NOT IN"
				" (SELECT id FROM word WHERE text = '" LEDGER_SAID "')";

enum { NWORDS = 8, TAKEN_MS = LEDGER_TAKEN_S * 1000 };

static int words_of(struct ledger *l, const struct ledger_attempt *a, int64_t out[NWORDS],
		    struct err *e)
{
	const char *const texts[NWORDS] = {a->name,      a->state, a->account, a->user,
					   a->partition, a->qos,   a->wckey,   a->source};

	for (size_t i = 0; i < NWORDS; i++)
		if (ledger_word(l, texts[i], &out[i], e) < 0)
			return -1;
	return 0;
}

/* All that statements have in common, in their order. */
static void bind(struct db_cursor *c, const struct ledger_attempt *a, const int64_t w[NWORDS])
{
	db_put_int(c, a->start_s);
	db_put_int(c, a->end_s);
	db_put_int(c, a->submit_s);
	db_put_int(c, (int64_t)a->dbindex);
	ledger_put_text(c, a->job_id);
	for (size_t i = 0; i + 1 < NWORDS; i++)
		db_put_int(c, w[i]);
	db_put_int(c, a->cpus);
	db_put_int(c, a->gpus);
	db_put_int(c, a->memory_mb);
	db_put_int(c, a->nnodes);
	db_put_int(c, a->running);
	db_put_int(c, w[NWORDS - 1]);
}

static int find(struct ledger *l, const struct ledger_attempt *a, int64_t *id, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_find, e) < 0)
		return -1;
	db_put_int(&c, (int64_t)a->job);
	db_put_int(&c, a->start_s);
	db_put_int(&c, (int64_t)a->dbindex);
	db_put_int(&c, a->submit_s);
	return ledger_ask(l, &c, id, e);
}

static int is_same(struct ledger *l, int64_t id, const struct ledger_attempt *a,
		   const int64_t w[NWORDS], bool *same, struct err *e)
{
	struct db_cursor c;
	int64_t n = 0;

	if (ledger_stmt(l, &c, sql_same, e) < 0)
		return -1;
	db_put_int(&c, id);
	bind(&c, a, w);
	if (ledger_ask(l, &c, &n, e) < 0)
		return -1;
	*same = n > 0;
	return 0;
}

static int see(struct ledger *l, int64_t id, int64_t seen_ms, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_see, e) < 0)
		return -1;
	db_put_int(&c, seen_ms);
	db_put_int(&c, id);
	return ledger_do(l, &c, e);
}

/* Its nodes' bills of that time. */
static int touch_time(struct ledger *l, int64_t id, uint64_t job, const int64_t times[2],
		      struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_touch, e) < 0)
		return -1;
	db_put_int(&c, id);
	db_put_int(&c, times[0]);
	db_put_int(&c, times[1]);
	if (ledger_do(l, &c, e) < 0 || ledger_stmt(l, &c, sql_touch_bought, e) < 0)
		return -1;
	db_put_int(&c, (int64_t)job);
	db_put_int(&c, times[0]);
	return ledger_do(l, &c, e);
}

static int touch(struct ledger *l, int64_t id, const struct ledger_attempt *a, struct err *e)
{
	const int64_t times[2] = {a->start_s, a->running ? INT64_MAX : a->end_s};

	return touch_time(l, id, a->job, times, e);
}

/* Where it was, and when, as it was told before: perhaps longer than it is now. */
static int touch_had(struct ledger *l, int64_t id, uint64_t job, struct err *e)
{
	struct db_cursor c;
	int64_t times[2];

	if (ledger_stmt(l, &c, sql_had, e) < 0)
		return -1;
	db_put_int(&c, id);
	if (ledger_next(l, &c, times, 2, "attempt", e) < 0)
		return -1;
	db_reset(c.st);
	return touch_time(l, id, job, times, e);
}

static int enter(struct ledger *l, int64_t id, int64_t start_s, const char *const *nodes, size_t n,
		 struct err *e)
{
	struct db_cursor c;
	int64_t node;

	if (ledger_stmt(l, &c, sql_leave, e) < 0)
		return -1;
	db_put_int(&c, id);
	if (ledger_do(l, &c, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (ledger_word(l, nodes[i], &node, e) < 0 || ledger_stmt(l, &c, sql_enter, e) < 0)
			return -1;
		db_put_int(&c, node);
		db_put_int(&c, start_s);
		db_put_int(&c, id);
		if (ledger_do(l, &c, e) < 0)
			return -1;
	}
	return 0;
}

static int write_row(struct ledger *l, bool fresh, const struct ledger_attempt *a,
		     const int64_t w[NWORDS], int64_t *id, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, fresh ? sql_insert : sql_update, e) < 0)
		return -1;
	bind(&c, a, w);
	db_put_int(&c, a->seen_ms);
	db_put_int(&c, fresh ? (int64_t)a->job : *id);
	if (fresh)
		return ledger_add(l, &c, id, e) == 1 ? 0 : -1;
	return ledger_do(l, &c, e);
}

int ledger_put_attempt(struct ledger *l, const struct ledger_attempt *a, const char *const *nodes,
		       size_t n, int64_t *id, struct err *e)
{
	int64_t w[NWORDS];
	bool same = false;
	int found;

	*id = 0;
	if (l->to_read)
		return 0;
	if (words_of(l, a, w, e) < 0)
		return -1;
	found = find(l, a, id, e);
	if (found < 0 || (found > 0 && is_same(l, *id, a, w, &same, e) < 0))
		return -1;
	if (same)
		return a->running ? see(l, *id, a->seen_ms, e) : 0;
	if (found > 0 && touch_had(l, *id, a->job, e) < 0)
		return -1;
	if (write_row(l, found == 0, a, w, id, e) < 0 || enter(l, *id, a->start_s, nodes, n, e) < 0)
		return -1;
	return touch(l, *id, a, e);
}

int ledger_end_unseen(struct ledger *l, const char *source, int64_t before_ms, struct err *e)
{
	static const char *const both[] = {sql_touch_unseen, sql_end};

	for (size_t i = 0; i < 2; i++) {
		struct db_cursor c;

		if (ledger_stmt(l, &c, both[i], e) < 0)
			return -1;
		db_put_int(&c, before_ms);
		ledger_put_text(&c, source);
		if (ledger_do(l, &c, e) < 0)
			return -1;
	}
	return 0;
}

int ledger_unseen(struct ledger *l, const char *source, int64_t before_ms, unsigned limit,
		  ledger_time_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;
	int64_t s;
	int rc;

	if (ledger_stmt(l, &c, sql_unseen, e) < 0)
		return -1;
	db_put_int(&c, before_ms);
	ledger_put_text(&c, source);
	db_put_int(&c, limit);
	while ((rc = ledger_next(l, &c, &s, 1, "attempt", e)) == 1)
		if (fn(ctx, s, e) < 0) {
			db_reset(c.st);
			return -1;
		}
	return rc;
}

/* --- reading -----------------------------------------------------------------------------------
 */

static void read_attempt(struct db_cursor *c, struct ledger_attempt *a)
{
	const char **const texts[] = {&a->job_id,    &a->name, &a->state, &a->account, &a->user,
				      &a->partition, &a->qos,  &a->wckey, &a->source};

	c->at = 0;
	a->id = ledger_int(c);
	a->job = (uint64_t)ledger_int(c);
	a->start_s = db_get_int(c, -SECONDS_MAX, SECONDS_MAX);
	a->end_s = db_get_int(c, -SECONDS_MAX, SECONDS_MAX);
	a->submit_s = db_get_int(c, -SECONDS_MAX, SECONDS_MAX);
	a->dbindex = (uint64_t)ledger_int(c);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = db_get_text(c, LEDGER_TEXT_MAX);
	a->cpus = ledger_int(c);
	a->gpus = ledger_int(c);
	a->memory_mb = ledger_int(c);
	a->nnodes = ledger_int(c);
	a->running = ledger_int(c) != 0;
	a->seen_ms = ledger_int(c);
}

static int visit(struct ledger *l, struct db_cursor *c, ledger_attempt_fn fn, void *ctx,
		 struct err *e)
{
	int rc;

	while ((rc = db_step(l->db, c->st, e)) == 1) {
		struct ledger_attempt a = {0};

		read_attempt(c, &a);
		if (c->bad || fn(ctx, &a, e) < 0) {
			db_reset(c->st);
			return c->bad ? db_damaged(l->db, "attempt", e) : -1;
		}
	}
	return rc;
}

int ledger_attempts_on(struct ledger *l, const char *node, int64_t from_s, int64_t to_s,
		       ledger_attempt_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_on, e) < 0)
		return -1;
	ledger_put_text(&c, node);
	db_put_int(&c, from_s);
	db_put_int(&c, to_s);
	return visit(l, &c, fn, ctx, e);
}

int ledger_attempts_of(struct ledger *l, uint64_t job, ledger_attempt_fn fn, void *ctx,
		       struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_of, e) < 0)
		return -1;
	db_put_int(&c, (int64_t)job);
	return visit(l, &c, fn, ctx, e);
}

int ledger_attempts_named(struct ledger *l, const char *job_id, ledger_attempt_fn fn, void *ctx,
			  struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_named, e) < 0)
		return -1;
	ledger_put_text(&c, job_id);
	return visit(l, &c, fn, ctx, e);
}

int ledger_attempt(struct ledger *l, int64_t id, ledger_attempt_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_one, e) < 0)
		return -1;
	db_put_int(&c, id);
	return visit(l, &c, fn, ctx, e);
}

int ledger_job_id(struct ledger *l, int64_t attempt, char **out, struct err *e)
{
	struct db_cursor c;

	*out = NULL;
	if (ledger_stmt(l, &c, sql_job_id, e) < 0)
		return -1;
	db_put_int(&c, attempt);
	return ledger_ask_text(l, &c, out, e);
}

int ledger_job_ids(struct ledger *l, int64_t first, int64_t last, ledger_job_id_fn fn, void *ctx,
		   struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_job_ids, e) < 0)
		return -1;
	db_put_int(&c, first);
	db_put_int(&c, last);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		const char *text;
		int64_t id;

		c.at = 0;
		id = ledger_int(&c);
		text = db_get_text(&c, LEDGER_TEXT_MAX);
		if (c.bad || fn(ctx, id, text, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "attempt", e) : -1;
		}
	}
	return rc;
}

int ledger_was_taken(struct ledger *l, int64_t attempt, int64_t start_s, int64_t end_s, bool *taken,
		     struct err *e)
{
	struct db_cursor c;
	int64_t n = 0;

	if (ledger_stmt(l, &c, sql_taken, e) < 0)
		return -1;
	db_put_int(&c, attempt);
	db_put_int(&c, start_s * 1000);
	db_put_int(&c, end_s * 1000 + TAKEN_MS);
	if (ledger_ask(l, &c, &n, e) < 0)
		return -1;
	*taken = n > 0;
	return 0;
}

int ledger_touch_beside(struct ledger *l, const struct fact_life *life, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_touch_beside, e) < 0)
		return -1;
	ledger_put_text(&c, life->node);
	ledger_put_text(&c, life->kind);
	db_put_int(&c, life->at_ms);
	db_put_int(&c, TAKEN_MS);
	return ledger_do(l, &c, e);
}

int ledger_count_attempts(struct ledger *l, int64_t *n, struct err *e)
{
	struct db_cursor c;

	*n = 0;
	if (ledger_stmt(l, &c, sql_count, e) < 0)
		return -1;
	return ledger_ask(l, &c, n, e) < 0 ? -1 : 0;
}
