/* metrics_offers.c writes the metrics of offers: what is bought there, at which price, whether it
 * would be bought there now, and what the provider refused. */
#include <stdlib.h>

#include "api/metrics_private.h"
#include "base/mem.h"
#include "buy/buy_api.h"

struct offer { /* as a new job of one node without wishes finds it */
	size_t pool;
	const char *name, *cause; /* cause: why it would get nothing there; "": it would */
	int64_t price;            /* <= 0: not known */
	uint32_t nodes, place;    /* place: 0: it is left out */
};

struct offers { /* of all pools */
	const struct api *api;
	struct offer *v;
	size_t n;
};

enum { LABELS = 2 }; /* of each offer; some metrics have one more */

static void add_pool(struct offers *o, size_t pool)
{
	struct engine_ladder l;

	engine_ladder(o->api->engine, pool, &l);
	o->v = mem_realloc(o->v, (o->n + l.n + 1) * sizeof(*o->v));
	for (size_t i = 0; i < l.n; i++) {
		const struct engine_rung *r = &l.rungs[i];

		o->v[o->n++] = (struct offer){.pool = pool,
					      .name = r->offer->name,
					      .cause = r->limited ? "max-rate"
								  : ladder_cause_str(r->cause),
					      .price = r->price,
					      .nodes = r->nodes,
					      .place = r->limited ? 0 : r->place};
	}
}

static void label(const struct offers *o, size_t i, struct metrics_label l[LABELS])
{
	l[0] = (struct metrics_label){"pool",
				      engine_conf(o->api->engine)->pools[o->v[i].pool].name};
	l[1] = (struct metrics_label){"offer", o->v[i].name};
}

static void write_nodes(const struct offers *o, struct str *s)
{
	struct metrics_label l[LABELS];

	metrics_family(s, "burstd_offer_nodes", "gauge",
		       "Nodes bought or being bought by the offer.");
	for (size_t i = 0; i < o->n; i++) {
		label(o, i, l);
		metrics_sample_u64(s, "burstd_offer_nodes", l, LABELS, o->v[i].nodes);
	}
}

static void write_prices(const struct offers *o, struct str *s)
{
	struct metrics_label l[LABELS + 1] = {
		[LABELS] = {"currency", engine_conf(o->api->engine)->currency}};

	metrics_family(
		s, "burstd_offer_price", "gauge",
		"Price of a node by the offer, in currency units per hour; none: not known.");
	for (size_t i = 0; i < o->n; i++) {
		label(o, i, l);
		if (o->v[i].price > 0)
			metrics_sample_money(s, "burstd_offer_price", l, LABELS + 1, o->v[i].price);
	}
}

static void write_places(const struct offers *o, struct str *s)
{
	struct metrics_label l[LABELS];

	metrics_family(s, "burstd_offer_place", "gauge",
		       "Position of the offer in the order in which a new job tries them; 0: it is "
		       "left out now.");
	for (size_t i = 0; i < o->n; i++) {
		label(o, i, l);
		metrics_sample_u64(s, "burstd_offer_place", l, LABELS, o->v[i].place);
	}
}

/* One series at a time for each offer, for as long as the cause lasts. */
static void write_causes(const struct offers *o, struct str *s)
{
	struct metrics_label l[LABELS + 1];

	metrics_family(s, "burstd_offer_left_out", "gauge",
		       "1: a new job would get nothing by the offer now, for this cause.");
	for (size_t i = 0; i < o->n; i++) {
		label(o, i, l);
		l[LABELS] = (struct metrics_label){"cause", o->v[i].cause};
		if (o->v[i].cause[0] != '\0')
			metrics_sample_u64(s, "burstd_offer_left_out", l, LABELS + 1, 1);
	}
}

static void write_refused(const struct offers *o, struct str *s)
{
	static const enum provider_code codes[] = {PROVIDER_CAPACITY, PROVIDER_QUOTA,
						   PROVIDER_DENIED, PROVIDER_INVALID};
	struct metrics_label l[LABELS + 1];

	metrics_family(
		s, "burstd_offer_nodes_refused_total", "counter",
		"Nodes that the provider was asked for by the offer and refused, by reason.");
	for (size_t i = 0; i < o->n; i++) {
		label(o, i, l);
		for (size_t c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
			l[LABELS] = (struct metrics_label){"reason", provider_code_str(codes[c])};
			metrics_sample_u64(s, "burstd_offer_nodes_refused_total", l, LABELS + 1,
					   engine_offer_refused(o->api->engine, o->v[i].pool,
								o->v[i].name, codes[c]));
		}
	}
}

void metrics_offers_write(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);
	const struct fleet *f = engine_fleet(a->engine);
	struct offers o = {.api = a};

	for (size_t i = 0; i < c->npools && i < f->npools; i++)
		add_pool(&o, i);
	write_nodes(&o, s);
	write_prices(&o, s);
	write_places(&o, s);
	write_causes(&o, s);
	write_refused(&o, s);
	free(o.v);
}
