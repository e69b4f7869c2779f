/* Prices: every field comes back, the last of each series at a start, all of them by number; none
 * is ever changed, and none is 0. */
#include "fixture.h"
#include "store/journal_price.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { ROWS_MAX = 64 };

struct got {
	struct price p[ROWS_MAX];
	char words[ROWS_MAX][4][PROVIDER_WORD_MAX + 1];
	int64_t seq[ROWS_MAX];
	size_t n, stop_at;
};

static int keep(struct got *g, const struct price *p)
{
	const char *words[] = {p->provider, p->region, p->zone, p->type};

	for (size_t i = 0; i < COUNT(words); i++)
		(void)snprintf(g->words[g->n][i], sizeof(g->words[0][0]), "%s", words[i]);
	g->p[g->n++] = *p;
	return g->n == g->stop_at ? -1 : 0;
}

static int see_price(void *ctx, const struct price *p, struct err *e)
{
	return keep(ctx, p) == 0 ? 0 : err_set(e, ERR_INVALID, "stopped");
}

static int see_numbered(void *ctx, int64_t seq, const struct price *p)
{
	struct got *g = ctx;

	g->seq[g->n] = seq;
	return keep(g, p);
}

static int try_load_prices(struct fixture *f, struct got *g, struct err *e)
{
	const struct journal_visitor v = {.price = see_price, .ctx = g};

	return journal_load(f->j, &v, e);
}

static const struct price first = {.provider = "aws",
				   .region = "eu-central-1",
				   .zone = "eu-central-1a",
				   .type = "p5.48xlarge",
				   .market = PROVIDER_SPOT,
				   .source = PRICE_QUOTE,
				   .currency = "USD",
				   .nano_h = INT64_C(55040000001),
				   .valid_from_ms = 1700000000001,
				   .observed_ms = 1700000000002};

static void put(struct fixture *f, const struct price *p)
{
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_price(tx, p);
	commit(tx);
}

static void check_first(const struct got *g, size_t i)
{
	const struct price *p = &g->p[i];

	assert_string_equal(g->words[i][0], "aws");
	assert_string_equal(g->words[i][1], "eu-central-1");
	assert_string_equal(g->words[i][2], "eu-central-1a");
	assert_string_equal(g->words[i][3], "p5.48xlarge");
	assert_int_equal(p->market, PROVIDER_SPOT);
	assert_int_equal(p->source, PRICE_QUOTE);
	assert_string_equal(p->currency, "USD");
	assert_int_equal(p->nano_h, first.nano_h);
	assert_int_equal(p->valid_from_ms, first.valid_from_ms);
	assert_int_equal(p->observed_ms, first.observed_ms);
}

static void test_every_field_comes_back(void **state)
{
	struct fixture *f = *state;
	struct got g = {.n = 0};

	put(f, &first);
	reopen(f);
	assert_int_equal(try_load_prices(f, &g, NULL), 0);
	assert_int_equal(g.n, 1);
	check_first(&g, 0);
	g.n = 0;
	assert_int_equal(journal_prices(f->j, 0, 10, see_numbered, &g, NULL), 0);
	assert_int_equal(g.n, 1);
	assert_int_equal(g.seq[0], 1);
	check_first(&g, 0);
}

/* Each series has its own last row: what the provider says now and later is one. */
static void test_the_last_of_each_series(void **state)
{
	struct fixture *f = *state;
	struct price p = first;
	struct got g = {.n = 0};

	put(f, &first);
	p.nano_h = 2;
	p.valid_from_ms -= 1000; /* the last that was written, whatever its time */
	p.source = PRICE_HISTORY;
	put(f, &p);
	for (int i = 0; i < 7; i++) {
		struct price q = first;

		q.nano_h = i == 6 ? PRICE_WITHDRAWN : 10 + i;
		q.provider = i == 0 ? "x" : q.provider;
		q.region = i == 1 ? "" : q.region;
		q.zone = i == 2 ? "" : q.zone;
		q.type = i == 3 ? "x" : q.type;
		q.market = i == 4 ? PROVIDER_ON_DEMAND : q.market;
		q.source = i == 5 ? PRICE_CONF : i == 6 ? PRICE_CONTRACT : q.source;
		put(f, &q);
	}
	reopen(f);
	assert_int_equal(try_load_prices(f, &g, NULL), 0);
	assert_int_equal(g.n, 8);
	assert_int_equal(g.p[0].nano_h, 2);
	assert_int_equal(g.p[0].source, PRICE_HISTORY);
	for (int i = 0; i < 6; i++)
		assert_int_equal(g.p[i + 1].nano_h, 10 + i);
	assert_int_equal(g.p[7].nano_h, PRICE_WITHDRAWN);
	g = (struct got){.stop_at = 3};
	assert_int_equal(try_load_prices(f, &g, NULL), -1);
	assert_int_equal(g.n, 3);
}

static void test_read_from_a_number_on(void **state)
{
	static const struct {
		int64_t after;
		unsigned limit;
		size_t stop_at, want;
		int64_t want_first;
	} rows[] = {
		{0, 100, 0, 9, 1}, {4, 100, 0, 5, 5}, {4, 2, 0, 2, 5},
		{0, 100, 3, 3, 1}, {9, 100, 0, 0, 0}, {8, 1, 0, 1, 9},
	};
	struct fixture *f = *state;

	for (int i = 1; i <= 9; i++) {
		struct price p = first;

		p.nano_h = i;
		put(f, &p);
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct got g = {.stop_at = rows[i].stop_at};

		assert_int_equal(
			journal_prices(f->j, rows[i].after, rows[i].limit, see_numbered, &g, NULL),
			0);
		assert_int_equal(g.n, rows[i].want);
		for (size_t k = 0; k < g.n; k++) {
			assert_int_equal(g.seq[k], rows[i].want_first + (int64_t)k);
			assert_int_equal(g.p[k].nano_h, g.seq[k]);
		}
	}
}

static void test_a_price_is_never_changed(void **state)
{
	struct fixture *f = *state;
	struct got g = {.n = 0};

	put(f, &first);
	assert_int_not_equal(sql(f, "UPDATE price SET nano_h = 1"), SQLITE_OK);
	assert_int_not_equal(sql(f, "INSERT INTO price (provider, region, zone, type, market, "
				    "currency, nano_h, valid_from_ms, observed_ms, source) VALUES "
				    "('a', '', '', 't', 'spot', 'EUR', 0, 1, 1, 'conf')"),
			     SQLITE_OK);
	reopen(f);
	assert_int_equal(try_load_prices(f, &g, NULL), 0);
	assert_int_equal(g.n, 1);
	check_first(&g, 0);
}

/* F55: what burstd cannot have written is no price. */
static void test_damage(void **state)
{
	static const char *const changes[] = {
		"market = 'black'",
		"source = 'rumour'",
		"nano_h = 0",
		"nano_h = -2",
		"currency = 'EURO'",
		"type = hex(zeroblob(100))",
		"valid_from_ms = 'soon'",
	};

	for (size_t i = 0; i < COUNT(changes); i++) {
		struct fixture *f;
		struct got g = {.n = 0};
		struct err e = {0};
		char text[200];

		print_message("# %s\n", changes[i]);
		teardown(state);
		setup(state);
		f = *state;
		put(f, &first);
		(void)snprintf(text, sizeof(text),
			       "DROP TRIGGER price_append_only; UPDATE price SET %s", changes[i]);
		assert_int_equal(sql(f, text), SQLITE_OK);
		assert_int_equal(try_load_prices(f, &g, &e), -1);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_non_null(strstr(e.msg, "damaged"));
		assert_int_equal(journal_prices(f->j, 0, 10, see_numbered, &g, &e), -1);
		assert_int_equal(g.n, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_field_comes_back),
		TEST(test_the_last_of_each_series),
		TEST(test_read_from_a_number_on),
		TEST(test_a_price_is_never_changed),
		TEST(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
