/* What journal.h promises: every field comes back, what was committed stays, what was not never
 * was. */
#include "store/journal.h"

#include <string.h>
#include <sys/stat.h>

#include "fixture.h"

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
	.stale_addr = "2001:db8::2",
	.rate_nano_h = INT64_MAX,
	.wanted_ms = 1,
	.since_ms = 2,
	.sent_ms = 3,
	.missed_ms = 4,
	.wake_ms = INT64_MAX,
	.start_ms = 5,
	.job = UINT64_C(0xfedcba9876543210),
	.end_ms = 6,
	.offer = "spot-a",
	.provider = "aws",
	.market = PROVIDER_SPOT,
	.noticed_ms = 7,
	.deadline_ms = -8,
	.signal_ms = 9,
	.image = "ami-0123456789abcdef0",
	.canary = true,
	.notice = PROVIDER_NOTICE_FAULTY,
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
	assert_string_equal(a->stale_addr, b->stale_addr);
	assert_int_equal(a->rate_nano_h, b->rate_nano_h);
	assert_int_equal(a->wanted_ms, b->wanted_ms);
	assert_int_equal(a->since_ms, b->since_ms);
	assert_int_equal(a->sent_ms, b->sent_ms);
	assert_int_equal(a->missed_ms, b->missed_ms);
	assert_int_equal(a->wake_ms, b->wake_ms);
	assert_int_equal(a->start_ms, b->start_ms);
	assert_true(a->job == b->job);
	assert_int_equal(a->end_ms, b->end_ms);
	assert_string_equal(a->offer, b->offer);
	assert_string_equal(a->provider, b->provider);
	assert_int_equal(a->market, b->market);
	assert_int_equal(a->noticed_ms, b->noticed_ms);
	assert_int_equal(a->deadline_ms, b->deadline_ms);
	assert_int_equal(a->signal_ms, b->signal_ms);
	assert_string_equal(a->image, b->image);
	assert_int_equal(a->canary, b->canary);
	assert_int_equal(a->notice, b->notice);
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
		uint32_t attempts, pool, cloud, group, slot;
		uint64_t batch, job;
		char offer[PROVIDER_WORD_MAX + 1], provider[PROVIDER_WORD_MAX + 1];
		enum provider_market market;
		char instance[PROVIDER_ID_MAX + 1], addr[PROVIDER_ADDR_MAX + 1],
			image[PROVIDER_IMAGE_MAX + 1];
		bool canary;
		char stale_addr[PROVIDER_ADDR_MAX + 1];
		int64_t rate_nano_h, wanted_ms, since_ms, sent_ms, missed_ms, wake_ms, start_ms,
			end_ms, noticed_ms, deadline_ms, signal_ms;
		enum provider_notice_kind notice;
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
	for (int k = 0; k < PROVIDER_NNOTICES; k++)
		journal_put_node(tx,
				 &(struct node){.name = "n",
						.gen = ++n,
						.notice = (enum provider_notice_kind)k},
				 "p");
	commit(tx);
	s = load(f);
	assert_int_equal(s->nnodes,
			 (int)NODE_NSTATES + (int)NODE_NREASONS + (int)PROVIDER_NNOTICES);
	for (int k = 0; k < PROVIDER_NNOTICES; k++)
		assert_int_equal(s->nodes[(int)NODE_NSTATES + (int)NODE_NREASONS + k].notice, k);
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
					       .at_ms = 4,
					       .cursor = "step 2"},
					  b = {.id = 2,
					       .token = "t-2",
					       .pool = "a100",
					       .body_hash = UINT64_MAX,
					       .at_ms = INT64_MAX};
	struct journal_batch c = a;
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
	assert_string_equal(s->batches[0].cursor, "step 2");
	assert_string_equal(s->batches[1].cursor, "");
	forget(s);

	/* It goes on: the row is written again. */
	tx = journal_begin(f->j);
	(void)snprintf(c.cursor, sizeof(c.cursor), "step 3");
	journal_put_batch(tx, &c);
	commit(tx);
	s = load(f);
	assert_string_equal(s->batches[0].cursor, "step 3");
	assert_string_equal(s->batches[0].token, "t-1");
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

/* --- events ------------------------------------------------------------------------------------
 */

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

/* --- load --------------------------------------------------------------------------------------
 */

static void test_load_order_and_stop(void **state)
{
	struct fixture *f = *state;
	struct seen *s;

	fill(f);
	for (size_t stop = 1; stop <= 4; stop++) {
		struct err e = {0};

		s = mem_zalloc(sizeof(*s));
		s->stop_at = stop;
		assert_int_equal(try_load(f, s, &e), -1);
		assert_string_equal(e.msg, "stopped");
		assert_int_equal(s->norder, stop);
		forget(s);
	}
	s = load(f);
	assert_string_equal(s->order, "bnns");
	forget(s);
	assert_int_equal(journal_load(f->j, &(struct journal_visitor){.ctx = NULL}, NULL), 0);
}

/* --- forgetting --------------------------------------------------------------------------------
 */

static void put_many(struct fixture *f, int64_t first, int64_t n)
{
	struct journal_tx *tx = journal_begin(f->j);

	for (int64_t i = first; i < first + n; i++)
		journal_put_event(tx, i, i % 2 != 0 ? "c1" : "c2", 1, "type", "detail");
	commit(tx);
}

static bool trim(struct fixture *f, int64_t before_ms)
{
	struct err e = {0};
	bool more = true;

	if (journal_trim(f->j, before_ms, before_ms, &more, &e) != 0)
		fail_msg("%s", e.msg);
	return more;
}

/* Oldest first, a slice at a time; what is young enough stays, and so do bills. */
static void test_trim(void **state)
{
	enum { N = 3 * JOURNAL_TRIM, OLD = 2 * JOURNAL_TRIM + 10 };
	struct fixture *f = *state;
	const struct journal_usage u = {.pool = "p", .node = "c1", .instance = "i", .cost_nano = 5};
	struct journal_tx *tx = journal_begin(f->j);
	struct seen *s;
	struct page p;

	journal_put_usage(tx, &u);
	journal_put_node(tx, &(struct node){.name = "c1", .gen = 1}, "p");
	commit(tx);
	assert_false(trim(f, INT64_MAX)); /* nothing is there */
	put_many(f, 1, N);
	assert_false(trim(f, 1)); /* nothing is old */
	assert_true(trim(f, OLD + 1));
	assert_int_equal(events(f, 0, NULL, N).first, JOURNAL_TRIM + 1);
	assert_true(trim(f, OLD + 1));
	assert_false(trim(f, OLD + 1));
	assert_false(trim(f, OLD + 1));
	p = events(f, 0, NULL, N);
	assert_int_equal(p.first, OLD + 1);
	assert_int_equal(p.last, N);
	p = events(f, 5, "c2", N); /* who asks for what is gone gets the oldest there is */
	assert_int_equal(p.first, OLD + 2);
	s = load(f);
	assert_int_equal(s->nspent, 1);
	assert_int_equal(s->spent[0], 5);
	assert_int_equal(s->nnodes, 1);
	forget(s);
}

/* A number never comes twice, not even when all are forgotten and after a restart. */
static void test_numbers_after_a_trim(void **state)
{
	struct fixture *f = *state;

	put_many(f, 1, 100);
	assert_false(trim(f, INT64_MAX));
	assert_int_equal(events(f, 0, NULL, 10).n, 0);
	assert_int_equal(journal_last_event(f->j), 100);
	reopen(f);
	assert_int_equal(journal_last_event(f->j), 100);
	put_many(f, 1, 1);
	assert_int_equal(events(f, 0, NULL, 10).first, 101);
	assert_int_equal(journal_last_event(f->j), 101);
}

/* F57: times need not grow with the numbers. */
static void test_trim_after_a_clock_went_back(void **state)
{
	struct fixture *f = *state;

	put_many(f, 1000, 10); /* 1 to 10, from a clock that was ahead */
	put_many(f, 1, 10);
	assert_false(trim(f, 5));
	assert_int_equal(events(f, 0, NULL, 100).first, 15);
}

/* However young: the file must end somewhere. */
static void test_trim_by_number(void **state)
{
	struct fixture *f = *state;
	char text[200];

	put_many(f, 1, 1000);
	(void)snprintf(text, sizeof(text),
		       "UPDATE sqlite_sequence SET seq = %d WHERE name = 'event'",
		       JOURNAL_EVENTS_MAX + 290);
	assert_int_equal(sql(f, text), SQLITE_OK);
	reopen(f);
	assert_true(trim(f, 0));
	assert_int_equal(events(f, 0, NULL, 1).first, JOURNAL_TRIM + 1);
	assert_false(trim(f, 0));
	assert_int_equal(events(f, 0, NULL, 1).first, 291);
	assert_false(trim(f, 0));
}

static int64_t main_size(const struct fixture *f)
{
	struct stat st;

	assert_int_equal(stat(f->path, &st), 0);
	return st.st_size;
}

/* I36: tokens are in it. */
static void test_a_new_journal_is_for_us_alone(void **state)
{
	struct fixture *f = *state;
	mode_t before = umask(0);
	struct stat st;

	journal_close(f->j);
	assert_int_equal(unlink(f->path), 0);
	open_journal(f, false);
	(void)umask(before);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

/* What is forgotten makes room for what comes. */
static void test_trim_makes_room(void **state)
{
	enum { N = 20 * JOURNAL_TRIM };
	struct fixture *f = *state;
	int64_t size, at = 1;

	put_many(f, at, N);
	reopen(f);
	size = main_size(f);
	for (at += N; at < 10 * N; at += JOURNAL_TRIM) {
		(void)trim(f, at - N + JOURNAL_TRIM);
		put_many(f, at, JOURNAL_TRIM);
	}
	reopen(f);
	assert_int_equal(events(f, 0, NULL, 2 * N).n, N);
	assert_in_range(main_size(f), size / 2, size + size / 2);
}

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
		TEST(test_events),
		TEST(test_event_visit_stops),
		TEST(test_events_are_append_only),
		TEST(test_load_order_and_stop),
		TEST(test_trim),
		TEST(test_numbers_after_a_trim),
		TEST(test_trim_after_a_clock_went_back),
		TEST(test_trim_by_number),
		TEST(test_a_new_journal_is_for_us_alone),
		TEST(test_trim_makes_room),
	};

	return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
