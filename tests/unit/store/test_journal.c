/* What journal.h promises: every field comes back, what was committed stays, what was not never
 * was. */
#include "store/journal.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/mem.h"

struct fixture {
	char dir[32], path[64];
	struct journal *j; /* open, empty */
};

static void open_journal(struct fixture *f, bool want_existed)
{
	struct err e = {0};
	bool existed;

	if (journal_open(&f->j, f->path, &existed, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(existed, want_existed);
}

static void reopen(struct fixture *f)
{
	journal_close(f->j);
	open_journal(f, true);
}

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/journalXXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/journal.db", f->dir);
	open_journal(f, false);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	struct fixture *f = *state;
	char path[96];

	journal_close(f->j);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", f->path, suffixes[i]);
		unlink(path);
	}
	rmdir(f->dir);
	free(f);
	return 0;
}

static void commit(struct journal_tx *tx)
{
	struct err e = {0};

	if (journal_commit(tx, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Change the file behind the journal's back. */
static int sql(const struct fixture *f, const char *text)
{
	sqlite3 *db;
	int rc;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	rc = sqlite3_exec(db, text, NULL, NULL, NULL);
	sqlite3_close(db);
	return rc;
}

/* --- all that a load gives ---------------------------------------------------------------------
 */

enum { SEEN_MAX = 64 };

struct seen {
	struct node nodes[SEEN_MAX];
	char pools[SEEN_MAX][PROVIDER_WORD_MAX + 1];
	struct journal_batch batches[SEEN_MAX];
	struct journal_call calls[SEEN_MAX]; /* list and file are copies */
	char spent_pool[SEEN_MAX][PROVIDER_WORD_MAX + 1];
	int64_t spent[SEEN_MAX];
	size_t nnodes, nbatches, ncalls, nspent;
	char order[4 * SEEN_MAX];
	size_t norder, stop_at; /* refuse the visit of this number, from 1 */
};

static int visit(struct seen *s, char what, struct err *e)
{
	s->order[s->norder++] = what;
	return s->norder == s->stop_at ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int see_node(void *ctx, const struct node *n, const char *pool, struct err *e)
{
	struct seen *s = ctx;

	(void)snprintf(s->pools[s->nnodes], sizeof(s->pools[0]), "%s", pool);
	s->nodes[s->nnodes++] = *n;
	return visit(s, 'n', e);
}

static int see_batch(void *ctx, const struct journal_batch *b, struct err *e)
{
	struct seen *s = ctx;

	s->batches[s->nbatches++] = *b;
	return visit(s, 'b', e);
}

static char *copy_of(const char *data, size_t len)
{
	char *copy = data != NULL ? mem_zalloc(len + 1) : NULL;

	if (data != NULL)
		memcpy(copy, data, len);
	return copy;
}

static int see_call(void *ctx, const struct journal_call *c, struct err *e)
{
	struct seen *s = ctx;
	struct journal_call *to = &s->calls[s->ncalls++];

	*to = *c;
	to->list = copy_of(c->list, c->list_len);
	to->file = copy_of(c->file, c->file_len);
	return visit(s, 'c', e);
}

static int see_spent(void *ctx, const char *pool, int64_t cost_nano, struct err *e)
{
	struct seen *s = ctx;

	(void)snprintf(s->spent_pool[s->nspent], sizeof(s->spent_pool[0]), "%s", pool);
	s->spent[s->nspent++] = cost_nano;
	return visit(s, 's', e);
}

static int try_load(struct fixture *f, struct seen *s, struct err *e)
{
	const struct journal_visitor v = {.node = see_node,
					  .batch = see_batch,
					  .call = see_call,
					  .spent = see_spent,
					  .ctx = s};

	return journal_load(f->j, &v, e);
}

static struct seen *load(struct fixture *f)
{
	struct seen *s = mem_zalloc(sizeof(*s));
	struct err e = {0};

	if (try_load(f, s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}

static void forget(struct seen *s)
{
	for (size_t i = 0; i < s->ncalls; i++) {
		free((void *)(uintptr_t)s->calls[i].list);
		free((void *)(uintptr_t)s->calls[i].file);
	}
	free(s);
}

/* --- nodes, batches, numbers -------------------------------------------------------------------
 */

static const struct node full_node = {
	.name = "c1",
	.gen = UINT64_MAX,
	.state = NODE_DELETING,
	.reason = NODE_BECAUSE_QUOTA,
	.release = true,
	.accepted = true,
	.misses = 255,
	.attempts = UINT32_MAX,
	.group = 7,
	.slot = UINT32_MAX - 1,
	.batch = UINT64_MAX - 2,
	.instance = "i-0123'; DROP TABLE node; --",
	.addr = "2001:db8::1",
	.rate_nano_h = INT64_MAX,
	.wanted_ms = 1,
	.since_ms = 2,
	.sent_ms = 3,
	.missed_ms = 4,
	.wake_ms = INT64_MAX,
	.start_ms = 5,
	.end_ms = 6,
};

static void assert_node_equal(const struct node *a, const struct node *b)
{
	assert_string_equal(a->name, b->name);
	assert_true(a->gen == b->gen);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->reason, b->reason);
	assert_int_equal(a->release, b->release);
	assert_int_equal(a->accepted, b->accepted);
	assert_int_equal(a->misses, b->misses);
	assert_int_equal(a->attempts, b->attempts);
	assert_int_equal(a->group, b->group);
	assert_int_equal(a->slot, b->slot);
	assert_true(a->batch == b->batch);
	assert_string_equal(a->instance, b->instance);
	assert_string_equal(a->addr, b->addr);
	assert_int_equal(a->rate_nano_h, b->rate_nano_h);
	assert_int_equal(a->wanted_ms, b->wanted_ms);
	assert_int_equal(a->since_ms, b->since_ms);
	assert_int_equal(a->sent_ms, b->sent_ms);
	assert_int_equal(a->missed_ms, b->missed_ms);
	assert_int_equal(a->wake_ms, b->wake_ms);
	assert_int_equal(a->start_ms, b->start_ms);
	assert_int_equal(a->end_ms, b->end_ms);
}

static void test_node_round_trip(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct node n = full_node, plain = {.name = "b9", .gen = 1};
	struct seen *s;

	journal_put_node(tx, &n, "h100");
	n = (struct node){0}; /* effects are copies */
	journal_put_node(tx, &plain, "a100");
	commit(tx);
	reopen(f);
	s = load(f);
	assert_int_equal(s->nnodes, 2);
	assert_node_equal(&s->nodes[0], &plain);
	assert_string_equal(s->pools[0], "a100");
	assert_node_equal(&s->nodes[1], &full_node);
	assert_string_equal(s->pools[1], "h100");
	forget(s);
}

/* A field that struct node has and the table lacks would be lost without a sound.  Whoever adds one
 * changes the schema, full_node, and this. */
static void test_node_has_no_other_field(void **state)
{
	struct fields { /* in the order of node.h */
		char name[HOSTLIST_NAME_MAX + 1];
		uint64_t gen;
		enum node_state state;
		enum node_reason reason;
		bool release, accepted;
		uint8_t misses;
		uint32_t attempts, pool, group, slot;
		uint64_t batch;
		char instance[PROVIDER_ID_MAX + 1], addr[PROVIDER_ADDR_MAX + 1];
		int64_t rate_nano_h, wanted_ms, since_ms, sent_ms, missed_ms, wake_ms, start_ms,
			end_ms;
	};

	(void)state;
	assert_int_equal(sizeof(struct node), sizeof(struct fields));
}

static void test_every_state_and_reason(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct seen *s;
	size_t n = 0;

	for (int st = 0; st < NODE_NSTATES; st++)
		journal_put_node(
			tx, &(struct node){.name = "n", .gen = ++n, .state = (enum node_state)st},
			"p");
	for (int r = 0; r < NODE_NREASONS; r++)
		journal_put_node(
			tx, &(struct node){.name = "n", .gen = ++n, .reason = (enum node_reason)r},
			"p");
	commit(tx);
	s = load(f);
	assert_int_equal(s->nnodes, NODE_NSTATES + NODE_NREASONS);
	for (int st = 0; st < NODE_NSTATES; st++)
		assert_int_equal(s->nodes[st].state, st);
	for (int r = 0; r < NODE_NREASONS; r++)
		assert_int_equal(s->nodes[NODE_NSTATES + r].reason, r);
	forget(s);
}

static void test_put_again_and_delete(void **state)
{
	struct fixture *f = *state;
	struct node n = {.name = "c1", .gen = 1};
	struct journal_tx *tx = journal_begin(f->j);
	struct seen *s;

	journal_put_node(tx, &n, "h100");
	n.gen = 2;
	journal_put_node(tx, &n, "h100");
	commit(tx);

	tx = journal_begin(f->j);
	n = full_node;
	n.gen = 2;
	journal_put_node(tx, &n, "other"); /* replaces every field */
	journal_del_node(tx, "c1", 1);
	journal_del_node(tx, "c1", 3); /* absent is fine */
	commit(tx);
	s = load(f);
	assert_int_equal(s->nnodes, 1);
	assert_node_equal(&s->nodes[0], &n);
	assert_string_equal(s->pools[0], "other");
	forget(s);
}

static void test_batches(void **state)
{
	static const struct journal_batch a = {.id = 1,
					       .token = "t-1",
					       .pool = "h100",
					       .body_hash = 3,
					       .at_ms = 4},
					  b = {.id = 2,
					       .token = "t-2",
					       .pool = "a100",
					       .body_hash = UINT64_MAX,
					       .at_ms = INT64_MAX};
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct seen *s;

	journal_put_batch(tx, &b);
	journal_put_batch(tx, &a);
	commit(tx);
	reopen(f);
	s = load(f);
	assert_int_equal(s->nbatches, 2);
	assert_true(s->batches[0].id == 1 && s->batches[1].id == 2);
	assert_string_equal(s->batches[1].token, "t-2");
	assert_string_equal(s->batches[1].pool, "a100");
	assert_true(s->batches[0].body_hash == 3 && s->batches[1].body_hash == UINT64_MAX);
	assert_int_equal(s->batches[1].at_ms, INT64_MAX);
	forget(s);

	tx = journal_begin(f->j);
	journal_del_batch(tx, 1);
	commit(tx);
	s = load(f);
	assert_int_equal(s->nbatches, 1);
	assert_true(s->batches[0].id == 2);
	forget(s);
}

static void test_numbers(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	int64_t v = 1;

	assert_int_equal(journal_get_number(f->j, "next", &v, NULL), 0);
	assert_int_equal(v, 0); /* unset */
	journal_put_number(tx, "next", 5);
	journal_put_number(tx, "next", INT64_MAX);
	journal_put_number(tx, "low", INT64_MIN);
	commit(tx);
	reopen(f);
	assert_int_equal(journal_get_number(f->j, "next", &v, NULL), 0);
	assert_int_equal(v, INT64_MAX);
	assert_int_equal(journal_get_number(f->j, "low", &v, NULL), 0);
	assert_int_equal(v, INT64_MIN);
}

static int64_t number(struct fixture *f, const char *key)
{
	int64_t v;

	assert_int_equal(journal_get_number(f->j, key, &v, NULL), 0);
	return v;
}

static void test_abandoned(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j), *other = journal_begin(f->j);

	journal_put_node(tx, &full_node, "p");
	journal_put_number(tx, "a", 1);
	journal_put_event(tx, 1, "c1", 1, "t", "");
	assert_int_equal(number(f, "a"), 0); /* nothing before commit */
	journal_put_number(other, "b", 2);
	commit(other); /* another one in between is whole, and alone */
	journal_abandon(tx);
	journal_abandon(NULL);
	commit(journal_begin(f->j)); /* empty */
	assert_int_equal(number(f, "a"), 0);
	assert_int_equal(number(f, "b"), 2);
	assert_int_equal(journal_last_event(f->j), 0);
}

/* --- calls -------------------------------------------------------------------------------------
 */

static int64_t add_call(struct fixture *f, const struct journal_call *c)
{
	struct err e = {0};
	int64_t seq = 0;

	if (journal_add_call(f->j, c, &seq, &e) < 0)
		fail_msg("%s", e.msg);
	return seq;
}

/* I29: raw means raw: zero bytes, nothing at all, and sixteen megabytes. */
static void test_calls(void **state)
{
	enum { LONG = 16 << 20 };
	struct fixture *f = *state;
	char *file = mem_zalloc(LONG);
	const struct journal_call calls[] = {
		{.at_ms = 1,
		 .kind = JOURNAL_RESUME,
		 .list = "c[1-3]\0x",
		 .list_len = 8,
		 .file = file,
		 .file_len = LONG},
		{.at_ms = 2, .kind = JOURNAL_SUSPEND, .spooled = true, .list = "c1", .list_len = 2},
		{.at_ms = 3,
		 .kind = JOURNAL_RESUME_FAIL,
		 .dropped = true,
		 .list = "",
		 .file = "",
		 .file_len = 0},
	};
	int64_t seq[3];
	struct seen *s;

	memset(file, 'j', LONG);
	for (int i = 0; i < 3; i++)
		seq[i] = add_call(f, &calls[i]);
	assert_true(seq[0] > 0 && seq[1] > seq[0] && seq[2] > seq[1]);
	reopen(f);
	s = load(f);
	assert_int_equal(s->ncalls, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(s->calls[i].seq, seq[i]);
		assert_int_equal(s->calls[i].at_ms, calls[i].at_ms);
		assert_int_equal(s->calls[i].kind, calls[i].kind);
		assert_int_equal(s->calls[i].spooled, calls[i].spooled);
		assert_int_equal(s->calls[i].dropped, calls[i].dropped);
		assert_int_equal(s->calls[i].list_len, calls[i].list_len);
		assert_memory_equal(s->calls[i].list, calls[i].list, calls[i].list_len);
		assert_int_equal(s->calls[i].file_len, calls[i].file_len);
		assert_int_equal(s->calls[i].file == NULL, calls[i].file == NULL);
	}
	assert_memory_equal(s->calls[0].file, file, LONG);
	forget(s);
	free(file);
}

static void test_call_numbers_never_come_twice(void **state)
{
	static const struct journal_call c = {.kind = JOURNAL_RESUME, .list = "c1", .list_len = 2};
	struct fixture *f = *state;
	int64_t first = add_call(f, &c), second = add_call(f, &c);
	struct journal_tx *tx = journal_begin(f->j);
	struct seen *s;

	journal_end_call(tx, second);
	journal_end_call(tx, 999); /* absent is fine */
	commit(tx);
	reopen(f);
	assert_true(add_call(f, &c) > second);
	s = load(f);
	assert_int_equal(s->ncalls, 2);
	assert_int_equal(s->calls[0].seq, first);
	assert_int_equal(s->calls[1].seq, second + 1);
	forget(s);
}

/* --- events ------------------------------------------------------------------------------------
 */

struct page {
	int64_t first, last;
	size_t n, stop_at;
	char text[256]; /* of the last */
};

static int see_event(void *ctx, const struct journal_event *ev)
{
	struct page *p = ctx;

	if (p->n++ == 0)
		p->first = ev->seq;
	else
		assert_true(ev->seq > p->last);
	p->last = ev->seq;
	(void)snprintf(p->text, sizeof(p->text), "%lld %s %llu %s %s", (long long)ev->at_ms,
		       ev->node, (unsigned long long)ev->gen, ev->type, ev->detail);
	return p->n == p->stop_at;
}

static struct page events(struct fixture *f, int64_t after, const char *node, unsigned limit)
{
	struct page p = {0};

	assert_int_equal(journal_events(f->j, after, node, limit, see_event, &p, NULL), 0);
	return p;
}

static void put_events(struct fixture *f, int n)
{
	struct journal_tx *tx = journal_begin(f->j);

	for (int i = 1; i <= n; i++)
		journal_put_event(tx, 1000 + i, i % 2 == 0 ? "even" : "odd", (uint64_t)i, "type",
				  "a 'detail'");
	commit(tx);
}

static void test_events(void **state)
{
	struct fixture *f = *state;
	struct page p;

	assert_int_equal(journal_last_event(f->j), 0);
	put_events(f, 100);
	assert_int_equal(journal_last_event(f->j), 100);
	p = events(f, 0, NULL, 30);
	assert_true(p.n == 30 && p.first == 1 && p.last == 30);
	p = events(f, p.last, NULL, 1000);
	assert_true(p.n == 70 && p.first == 31 && p.last == 100);
	assert_string_equal(p.text, "1100 even 100 type a 'detail'");
	p = events(f, 100, NULL, 10);
	assert_int_equal(p.n, 0);
	p = events(f, 0, "odd", 3);
	assert_true(p.n == 3 && p.first == 1 && p.last == 5);
	p = events(f, 5, "odd", 1000);
	assert_true(p.n == 47 && p.first == 7 && p.last == 99);
	p = events(f, 0, "", 10);
	assert_int_equal(p.n, 0);
}

static void test_event_visit_stops(void **state)
{
	struct fixture *f = *state;
	struct page p = {.stop_at = 3};

	put_events(f, 10);
	assert_int_equal(journal_events(f->j, 0, NULL, 10, see_event, &p, NULL), 0);
	assert_int_equal(p.n, 3);
	p = events(f, 0, NULL, 10); /* and the next reading starts afresh */
	assert_int_equal(p.n, 10);
}

static void test_events_are_append_only(void **state)
{
	struct fixture *f = *state;

	put_events(f, 2);
	assert_int_equal(sql(f, "UPDATE event SET detail = 'x' WHERE seq = 1"), SQLITE_CONSTRAINT);
	assert_int_equal(sql(f, "DELETE FROM event"), SQLITE_OK); /* what retention will do */
	put_events(f, 1);
	assert_int_equal(journal_last_event(f->j), 3); /* a number never comes twice */
}

/* --- usage -------------------------------------------------------------------------------------
 */

static void test_usage(void **state)
{
	struct journal_usage u = {.pool = "h100",
				  .node = "c1",
				  .instance = "i-1",
				  .gen = 1,
				  .start_ms = 1,
				  .end_ms = 2,
				  .rate_nano_h = 3,
				  .cost_nano = INT64_C(5000000000000)};
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct seen *s;

	journal_put_usage(tx, &u);
	u.gen = 2;
	u.cost_nano = 7;
	journal_put_usage(tx, &u);
	u.pool = "a100";
	u.node = "a1";
	journal_put_usage(tx, &u);
	u.cost_nano = 8; /* billed again: not twice */
	journal_put_usage(tx, &u);
	commit(tx);
	reopen(f);
	s = load(f);
	assert_int_equal(s->nspent, 2);
	assert_string_equal(s->spent_pool[0], "a100");
	assert_int_equal(s->spent[0], 8);
	assert_string_equal(s->spent_pool[1], "h100");
	assert_int_equal(s->spent[1], INT64_C(5000000000007));
	forget(s);
}

/* --- load --------------------------------------------------------------------------------------
 */

static void fill(struct fixture *f)
{
	static const struct journal_call c = {.kind = JOURNAL_RESUME, .list = "c1", .list_len = 2};
	const struct journal_usage u = {.pool = "p", .node = "c1", .instance = "i"};
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_batch(tx, &(struct journal_batch){.id = 1, .token = "t", .pool = "p"});
	journal_put_node(tx, &(struct node){.name = "c1", .gen = 1}, "p");
	journal_put_node(tx, &(struct node){.name = "c2", .gen = 1}, "p");
	journal_put_usage(tx, &u);
	journal_put_event(tx, 1, "c1", 1, "type", "detail");
	commit(tx);
	(void)add_call(f, &c);
	(void)add_call(f, &c);
}

static void test_load_order_and_stop(void **state)
{
	struct fixture *f = *state;
	struct seen *s;

	fill(f);
	for (size_t stop = 1; stop <= 6; stop++) {
		struct err e = {0};

		s = mem_zalloc(sizeof(*s));
		s->stop_at = stop;
		assert_int_equal(try_load(f, s, &e), -1);
		assert_string_equal(e.msg, "stopped");
		assert_int_equal(s->norder, stop);
		forget(s);
	}
	s = load(f);
	assert_string_equal(s->order, "bnnccs");
	forget(s);
	assert_int_equal(journal_load(f->j, &(struct journal_visitor){.ctx = NULL}, NULL), 0);
}

/* --- files that are not good -------------------------------------------------------------------
 */

/* F55: a row that is not what was written is never taken for one that is. */
static void test_damaged_rows(void **state)
{
	static const char *const rows[] = {
		"UPDATE node SET state = 'sleeping' WHERE name = 'c2'",
		"UPDATE node SET reason = 'whim'",
		"UPDATE node SET gen = 'x' WHERE name = 'c1'",
		"UPDATE node SET misses = 256",
		"UPDATE node SET released = 2",
		"UPDATE node SET epoch = 1",
		"UPDATE node SET slot = -1",
		"UPDATE node SET rate_nano_h = -1",
		"UPDATE node SET pool = "
		"'0123456789012345678901234567890123456789012345678901234567890123'",
		"UPDATE batch SET token = "
		"'0123456789012345678901234567890123456789012345678901234567890123'",
		"UPDATE call SET kind = 'reboot'",
		"UPDATE usage SET cost_nano = 'much'",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		struct seen *s = mem_zalloc(sizeof(*s));
		struct err e = {0};

		print_message("# %s\n", rows[i]);
		teardown(state);
		setup(state);
		f = *state;
		fill(f);
		assert_int_equal(sql(f, rows[i]), SQLITE_OK);
		if (strstr(rows[i], "much") == NULL) { /* a sum takes it for 0 */
			assert_int_equal(try_load(f, s, &e), -1);
			assert_non_null(strstr(e.msg, "damaged"));
			assert_non_null(strstr(e.msg, f->path));
		}
		forget(s);
	}
}

static void put_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static char *get_file(const char *path, size_t *len)
{
	char *data = mem_zalloc(1 << 20);
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	*len = fread(data, 1, 1 << 20, in);
	fclose(in);
	return data;
}

/* Opening fails, says `want`, and leaves the file as it is. */
static void refused(struct fixture *f, const char *want)
{
	size_t before_len, after_len;
	char *before = get_file(f->path, &before_len), *after;
	struct err e = {0};
	bool existed;

	assert_int_equal(journal_open(&f->j, f->path, &existed, &e), -1);
	assert_null(f->j);
	if (strstr(e.msg, want) == NULL || strncmp(e.msg, f->path, strlen(f->path)) != 0)
		fail_msg("got: %s", e.msg);
	after = get_file(f->path, &after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, before_len);
	free(before);
	free(after);
}

static void close_journal(struct fixture *f)
{
	journal_close(f->j);
	f->j = NULL;
}

/* F60 */
static void test_newer_schema(void **state)
{
	struct fixture *f = *state;

	fill(f);
	close_journal(f);
	assert_int_equal(sql(f, "PRAGMA user_version = 1000"), SQLITE_OK);
	refused(f, "schema 1000 is from a newer burstd; this one knows ");
}

static void test_not_ours(void **state)
{
	struct fixture *f = *state;
	static const char text[] =
		"this is a letter and not a database, whatever its name may say; "
		"it is long enough for a header of one hundred bytes, though\n";

	close_journal(f);
	put_file(f->path, text, sizeof(text));
	refused(f, "damaged: file is not a database");
	unlink(f->path);
	assert_int_equal(sql(f, "CREATE TABLE mail (x)"), SQLITE_OK);
	refused(f, "not a file of burstd");
	unlink(f->path);
	assert_int_equal(mkdir(f->path, 0700), 0);
	assert_int_equal(journal_open(&f->j, f->path, &(bool){false}, NULL), -1);
	rmdir(f->path);
	assert_int_equal(symlink("elsewhere", f->path), 0);
	assert_int_equal(journal_open(&f->j, f->path, &(bool){false}, NULL), -1);
}

/* An empty file is what a crash leaves between the file and its tables, or a journal that was lost.
 */
static void test_empty_file(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	close_journal(f);
	put_file(f->path, "", 0);
	open_journal(f, false);
	fill(f);
	reopen(f);
}

/* F55: cut anywhere, a journal is refused or read whole; never read in part without a word. */
static void test_truncated(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	size_t len;
	char *data;

	fill(f);
	for (int i = 0; i < 500; i++)
		journal_put_event(tx, i, "c1", 1, "type",
				  "a detail of some length, to fill more than a page");
	commit(tx);
	close_journal(f); /* all of it is in the main file now */
	data = get_file(f->path, &len);
	assert_true(len > 16 * 4096 && len % 4096 == 0);
	for (size_t cut = 512; cut < len; cut += 4096) {
		put_file(f->path, data, cut);
		refused(f, "damaged");
	}
	put_file(f->path, data, len);
	open_journal(f, true);
	free(data);
}

/* F55: a page of noise anywhere is an error or is not met; nothing crashes (ASan looks). */
static void test_noise(void **state)
{
	struct fixture *f = *state;
	unsigned errors = 0;
	size_t len;
	char *data, noise[512];

	fill(f);
	close_journal(f);
	data = get_file(f->path, &len);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 167 + 13);
	for (size_t at = 0; at + sizeof(noise) <= len; at += sizeof(noise)) {
		struct seen *s = mem_zalloc(sizeof(*s));
		struct err e = {0};
		bool existed;

		put_file(f->path, data, len);
		{
			int fd = open(f->path, O_WRONLY);

			assert_int_equal(pwrite(fd, noise, sizeof(noise), (off_t)at),
					 sizeof(noise));
			close(fd);
		}
		if (journal_open(&f->j, f->path, &existed, &e) < 0 || try_load(f, s, &e) < 0) {
			errors++;
			assert_true(strlen(e.msg) > strlen(f->path));
		}
		close_journal(f);
		forget(s);
	}
	assert_true(errors > len / 4096 / 4); /* the header and every table in use */
	put_file(f->path, data, len);
	open_journal(f, true);
	free(data);
}

/* --- power cuts and full disks -----------------------------------------------------------------
 */

/* In a child, where cmocka's asserts cannot jump. */
static void must(bool ok, const char *what)
{
	if (ok)
		return;
	(void)fprintf(stderr, "# child: not so: %s\n", what);
	_exit(1);
}

/* Transaction i of the tests below.  All of it or nothing: a node, an event and a number. */
static int commit_one(struct journal *j, int64_t i)
{
	struct node n = {.name = "c1", .gen = (uint64_t)i};
	struct journal_tx *tx = journal_begin(j);

	journal_put_node(tx, &n, "p");
	journal_del_node(tx, "c1", (uint64_t)(i - 3));
	journal_put_event(tx, i, "c1", (uint64_t)i, "type",
			  "some words that take a little room in the file");
	journal_put_number(tx, "i", i);
	return journal_commit(tx, NULL);
}

/* What commit_one() left ends at the number it says, which is returned; -1 if it is not whole.  No
 * asserts: also for children. */
static int64_t whole(struct fixture *f)
{
	struct seen *s = mem_zalloc(sizeof(*s));
	struct page p = {0};
	int64_t i = -1;
	const struct journal_visitor v = {.node = see_node, .ctx = s};
	bool ok = journal_get_number(f->j, "i", &i, NULL) == 0 &&
		  journal_load(f->j, &v, NULL) == 0 &&
		  journal_events(f->j, 0, NULL, UINT32_MAX, see_event, &p, NULL) == 0;

	ok = ok && p.n == (size_t)i && journal_last_event(f->j) == i;
	ok = ok && s->nnodes == (size_t)(i < 3 ? i : 3);
	ok = ok && (i == 0 || s->nodes[s->nnodes - 1].gen == (uint64_t)i);
	forget(s);
	return ok ? i : -1;
}

/* Commit and take calls for ever; say which after each that succeeded. */
static void run_until_killed(struct fixture *f, int out)
{
	static const struct journal_call c = {.kind = JOURNAL_RESUME, .list = "c1", .list_len = 2};
	int64_t done[2];
	bool existed;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(journal_open(&f->j, f->path, &existed, NULL) == 0, "open");
	must(journal_get_number(f->j, "i", &done[0], NULL) == 0, "number");
	for (;;) {
		must(commit_one(f->j, ++done[0]) == 0, "commit");
		must(journal_add_call(f->j, &c, &done[1], NULL) == 0, "call");
		must(write(out, done, sizeof(done)) == (ssize_t)sizeof(done), "report");
	}
}

/* The last report of a child that is killed after about that many microseconds. */
static void kill_one(struct fixture *f, useconds_t after, int64_t done[2])
{
	int64_t report[2];
	int fds[2];
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0)
		run_until_killed(f, fds[1]);
	close(fds[1]);
	assert_int_equal(read(fds[0], done, sizeof(report)), sizeof(report)); /* it is at it */
	(void)usleep(after);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	while (read(fds[0], report, sizeof(report)) == (ssize_t)sizeof(report))
		memcpy(done, report, sizeof(report));
	close(fds[0]);
}

static int count_calls(void *ctx, const struct journal_call *c, struct err *e)
{
	(void)e;
	++*(int64_t *)ctx;
	assert_int_equal(c->seq, *(int64_t *)ctx); /* none is missing */
	return 0;
}

/* I23, I29, F54: kill -9 at any moment; what was reported done is there, and nothing is there in
 * part. */
static void test_kill(void **state)
{
	enum { ROUNDS = 25 };
	struct fixture *f = *state;
	int64_t i, calls, done[2];

	for (useconds_t round = 0; round < ROUNDS; round++) {
		close_journal(f);
		kill_one(f, round * 997 % 5000, done);
		open_journal(f, true);
		i = whole(f);
		assert_true(i == done[0] || i == done[0] + 1);
		calls = 0;
		assert_int_equal(
			journal_load(f->j,
				     &(struct journal_visitor){.call = count_calls, .ctx = &calls},
				     NULL),
			0);
		assert_true(calls == done[1] || calls == done[1] + 1);
	}
}

/* Commit until the disk is full: that one fails, and so does every later one, whatever became of
 * the disk (F55).  What was committed before is there afterwards. */
static int64_t fill_disk(struct fixture *f)
{
	static const struct journal_call c = {.kind = JOURNAL_RESUME, .list = "c1", .list_len = 2};
	int64_t i = 0, seq;

	while (commit_one(f->j, i + 1) == 0) {
		i++;
		must(i < 1000000, "the disk is small");
	}
	must(commit_one(f->j, i + 1) == -1, "no second try");
	must(journal_add_call(f->j, &c, &seq, NULL) == -1, "no call either");
	return i;
}

/* What makes the disk small, in the child, and what gives it room again. */
static void small_mount(const struct fixture *f)
{
	must(mount("none", f->dir, "tmpfs", 0, "size=400k,mode=0700") == 0, "mount");
}

static void large_mount(const struct fixture *f)
{
	must(mount("none", f->dir, "tmpfs", MS_REMOUNT, "size=8m,mode=0700") == 0, "remount");
}

static void small_limit(const struct fixture *f)
{
	const struct rlimit limit = {.rlim_cur = 300000, .rlim_max = RLIM_INFINITY};

	(void)f;
	must(signal(SIGXFSZ, SIG_IGN) != SIG_ERR, "signal");
	must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

static void large_limit(const struct fixture *f)
{
	const struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	(void)f;
	must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

/* The one at once, the other one after the restart that F55 asks for. */
static void full_disk(struct fixture *f, void (*shrink)(const struct fixture *),
		      void (*grow)(const struct fixture *))
{
	bool existed;
	int64_t i;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	shrink(f);
	must(journal_open(&f->j, f->path, &existed, NULL) == 0, "open");
	i = fill_disk(f);
	must(i > 10, "something fits");
	journal_close(f->j);
	grow(f);
	must(journal_open(&f->j, f->path, &existed, NULL) == 0 && existed, "open again");
	must(whole(f) == i, "what was committed is there, and nothing else");
	must(commit_one(f->j, i + 1) == 0 && whole(f) == i + 1, "go on");
	journal_close(f->j);
	_exit(0);
}

static void assert_child(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_full_disk(void **state)
{
	struct fixture *f = *state;
	pid_t child;

	close_journal(f);
	unlink(f->path);
	child = fork();
	if (child == 0) {
		if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
			_exit(77); /* no mount for us here: the next test has to do */
		full_disk(f, small_mount, large_mount);
	}
	assert_child(child);
}

static void test_file_too_large(void **state)
{
	struct fixture *f = *state;
	pid_t child;

	close_journal(f);
	unlink(f->path);
	child = fork();
	if (child == 0)
		full_disk(f, small_limit, large_limit);
	assert_child(child);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_node_round_trip),
		TEST(test_node_has_no_other_field),
		TEST(test_every_state_and_reason),
		TEST(test_put_again_and_delete),
		TEST(test_batches),
		TEST(test_numbers),
		TEST(test_abandoned),
		TEST(test_calls),
		TEST(test_call_numbers_never_come_twice),
		TEST(test_events),
		TEST(test_event_visit_stops),
		TEST(test_events_are_append_only),
		TEST(test_usage),
		TEST(test_load_order_and_stop),
		TEST(test_damaged_rows),
		TEST(test_newer_schema),
		TEST(test_not_ours),
		TEST(test_empty_file),
		TEST(test_truncated),
		TEST(test_noise),
		TEST(test_kill),
		TEST(test_full_disk),
		TEST(test_file_too_large),
	};

	return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
