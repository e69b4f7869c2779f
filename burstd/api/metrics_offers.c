/* metrics_offers.c writes the metrics of offers: what is bought there, at which price, whether it
 * would be bought there now, and what the provider refused. */
#include "api/metrics_private.h"
#include "base/mem.h"
#include "buy/buy_api.h"

#include <stdlib.h>

struct offers { /* the ladder of each pool, for a new job of one node without wishes */
	const struct api *api;
	struct engine_ladder *of;
	size_t n;
};

static void label(const struct offers *o, size_t pool, const struct engine_rung *r,
		  struct metrics_label l[2])
{
	l[0] = (struct metrics_label){"pool", engine_conf(o->api->engine)->pools[pool].name};
	l[1] = (struct metrics_label){"offer", r->offer->name};
}

static void write_nodes(const struct offers *o, struct str *s)
{
	struct metrics_label l[2];

	metrics_family(s, "burstd_offer_nodes", "gauge",
		       "Nodes bought or being bought by the offer.");
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->of[i].n; k++) {
			label(o, i, &o->of[i].rungs[k], l);
			metrics_sample_u64(s, "burstd_offer_nodes", l, 2, o->of[i].rungs[k].nodes);
		}
}

static void write_prices(const struct offers *o, struct str *s)
{
	struct metrics_label l[3] = {[2] = {"currency", engine_conf(o->api->engine)->currency}};

	metrics_family(
		s, "burstd_offer_price", "gauge",
		"Price of a node by the offer, in currency units per hour; none: not known.");
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->of[i].n; k++) {
			label(o, i, &o->of[i].rungs[k], l);
			if (o->of[i].rungs[k].price > 0)
				metrics_sample_money(s, "burstd_offer_price", l, 3,
						     o->of[i].rungs[k].price);
		}
}

static void write_places(const struct offers *o, struct str *s)
{
	struct metrics_label l[2];

	metrics_family(s, "burstd_offer_place", "gauge",
		       "Position of the offer in the order in which a new job tries them; 0: it is "
		       "left out now.");
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->of[i].n; k++) {
			label(o, i, &o->of[i].rungs[k], l);
			metrics_sample_u64(s, "burstd_offer_place", l, 2,
					   o->of[i].rungs[k].limited ? 0 : o->of[i].rungs[k].place);
		}
}

/* One series at a time for each offer, for as long as the cause lasts. */
static void write_causes(const struct offers *o, struct str *s)
{
	struct metrics_label l[3];

	metrics_family(s, "burstd_offer_left_out", "gauge",
		       "1: a new job would get nothing by the offer now, for this cause.");
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->of[i].n; k++) {
			const struct engine_rung *r = &o->of[i].rungs[k];

			if (!r->limited && r->cause == LADDER_TRY)
				continue;
			label(o, i, r, l);
			l[2] = (struct metrics_label){
				"cause", r->limited ? "max-rate" : ladder_cause_str(r->cause)};
			metrics_sample_u64(s, "burstd_offer_left_out", l, 3, 1);
		}
}

static void write_refused(const struct offers *o, struct str *s)
{
	static const enum provider_code codes[] = {PROVIDER_CAPACITY, PROVIDER_QUOTA,
						   PROVIDER_DENIED, PROVIDER_INVALID};
	struct metrics_label l[3];

	metrics_family(
		s, "burstd_offer_nodes_refused_total", "counter",
		"Nodes that the provider was asked for by the offer and refused, by reason.");
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->of[i].n; k++)
			for (size_t c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
				const struct engine_rung *r = &o->of[i].rungs[k];

				label(o, i, r, l);
				l[2] = (struct metrics_label){"reason",
							      provider_code_str(codes[c])};
				metrics_sample_u64(s, "burstd_offer_nodes_refused_total", l, 3,
						   engine_offer_refused(o->api->engine, i,
									r->offer->name, codes[c]));
			}
}

void metrics_offers_write(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);
	const struct fleet *f = engine_fleet(a->engine);
	struct offers o = {.api = a, .n = c->npools < f->npools ? c->npools : f->npools};

	o.of = mem_zalloc((o.n + 1) * sizeof(*o.of));
	for (size_t i = 0; i < o.n; i++)
		engine_ladder(a->engine, i, &o.of[i]);
	write_nodes(&o, s);
	write_prices(&o, s);
	write_places(&o, s);
	write_causes(&o, s);
	write_refused(&o, s);
	free(o.of);
}
