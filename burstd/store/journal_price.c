/* The table of prices. */
#include "store/journal_price.h"

#include "store/private.h"

#define PRICE_COLUMNS                                                                              \
	"provider, region, zone, type, market, currency, nano_h, valid_from_ms, observed_ms, "     \
	"source"

static const char sql_put_price[] =
	"INSERT INTO price (" PRICE_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static const char sql_prices[] =
	"SELECT seq, " PRICE_COLUMNS " FROM price WHERE seq > ? ORDER BY seq LIMIT ?";

/* However many rows there are, the last one of each series is found at once. */
static const char sql_last_prices[] = "SELECT seq, " PRICE_COLUMNS " FROM price"
				      " WHERE seq IN (SELECT seq FROM price_last) ORDER BY seq";

void journal_put_price(struct journal_tx *tx, const struct price *p)
{
	tx_effect(tx, sql_put_price);
	tx_text(tx, p->provider);
	tx_text(tx, p->region);
	tx_text(tx, p->zone);
	tx_text(tx, p->type);
	tx_text(tx, provider_market_str(p->market));
	tx_text(tx, p->currency);
	tx_int(tx, p->nano_h);
	tx_int(tx, p->valid_from_ms);
	tx_int(tx, p->observed_ms);
	tx_text(tx, price_source_str(p->source));
}

static int market_of(const char *word)
{
	enum provider_market m;

	return provider_market_parse(word, &m) == 0 ? (int)m : -1;
}

/* Texts are good until the next step of the query. */
static int read_price(const struct journal *j, struct db_cursor *c, int64_t *seq, struct price *p,
		      struct err *e)
{
	*seq = db_get_int(c, 1, INT64_MAX);
	p->provider = db_get_text(c, PROVIDER_WORD_MAX);
	p->region = db_get_text(c, PROVIDER_WORD_MAX);
	p->zone = db_get_text(c, PROVIDER_WORD_MAX);
	p->type = db_get_text(c, PROVIDER_WORD_MAX);
	p->market = (enum provider_market)journal_get_word(c, market_of);
	db_copy_text(c, p->currency, sizeof(p->currency));
	p->nano_h = db_get_int(c, PRICE_WITHDRAWN, INT64_MAX);
	p->valid_from_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	p->observed_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	p->source = (enum price_source)journal_get_word(c, price_source_parse);
	return c->bad || p->nano_h == 0 ? db_damaged(j->db, "price", e) : 0;
}

static int load_price(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		      struct err *e)
{
	struct price p;
	int64_t seq;

	return read_price(j, c, &seq, &p, e) < 0 ? -1 : v->price(v->ctx, &p, e);
}

int journal_load_prices(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->price != NULL ? journal_read(j, sql_last_prices, load_price, v, e) : 0;
}

int journal_prices(struct journal *j, int64_t after, unsigned limit, journal_price_fn fn, void *ctx,
		   struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_prices, e)};
	struct price p;
	int64_t seq;
	int rc = 1;

	if (c.st == NULL)
		return -1;
	db_put_int(&c, after);
	db_put_int(&c, limit);
	while (rc == 1 && (rc = db_step(j->db, c.st, e)) == 1) {
		c.at = 0;
		rc = read_price(j, &c, &seq, &p, e);
		if (rc == 0)
			rc = fn(ctx, seq, &p) == 0 ? 1 : 0;
	}
	db_reset(c.st);
	return rc < 0 ? -1 : 0;
}
