/* sim_quote.c - offers of the simulated cloud: prices, and on which terms. */
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/sim_private.h"

enum { OFFERS_MAX = 10000 };

/* Terms that an offer may have besides.  simcloud's `available` is for people: who knew it would
 * never ask for what is not there, and refusals are what simcloud is for. */
static void read_terms(struct provider_terms *t, const struct doc_at *o)
{
	const int64_t minimum = doc_has(o, "minimum_ms") ? doc_int(o, "minimum_ms") : -1;
	const char *stock = doc_word(o, "stock");

	t->quantum_ms = doc_int_if(o, "quantum_ms");
	t->minimum_ms = minimum == 0 ? PROVIDER_NO_MINIMUM : minimum > 0 ? minimum : 0;
	t->stock = strcmp(stock, "some") == 0   ? PROVIDER_STOCK_SOME
		   : strcmp(stock, "none") == 0 ? PROVIDER_STOCK_NONE
						: PROVIDER_STOCK_UNSAID;
	(void)doc_text_if(o, "interconnect", t->interconnect, sizeof(t->interconnect));
}

static void read_quote(struct provider_quote *q, const struct doc_at *o)
{
	char market[16], price[32];

	doc_text(o, "type", q->type, sizeof(q->type));
	doc_text(o, "region", q->region, sizeof(q->region));
	(void)doc_text_if(o, "zone", q->zone, sizeof(q->zone));
	doc_text(o, "market", market, sizeof(market));
	doc_text(o, "price", price, sizeof(price));
	doc_text(o, "currency", q->currency, sizeof(q->currency));
	read_terms(&q->terms, o);
	if (strlen(q->currency) != 3 || fmt_money_parse(price, &q->price_nano_h, NULL) != 0 ||
	    provider_market_parse(market, &q->market) != 0)
		doc_wrong(o, NULL, "a market, a price and its currency");
}

int sim_quotes_read(const struct doc *d, struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "offers", OFFERS_MAX);

	out->quotes = mem_zalloc((list.n + 1) * sizeof(*out->quotes));
	for (; out->nquotes < list.n; out->nquotes++) {
		struct doc_at o = doc_item(&list, out->nquotes);

		read_quote(&out->quotes[out->nquotes], &o);
	}
	return 0;
}
