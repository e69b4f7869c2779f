/* lyceum_offers.c - what Lyceum sells: which counts of which profile are free, and prices. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/lyceum.h"

enum {
	HOUR_S = 3600,
	UNIT_DIGITS = 8,
	UNIT_NANO = 10,
	DECIMAL_SIZE = 64
}; /* prices a second have 8 decimals */

static bool has_room(const struct cloud_pool *p)
{
	return p->capacity < 0 || p->capacity > p->used;
}

static bool is_sold(const struct cloud_pool *p, const char *profile, unsigned count,
		    enum market market)
{
	struct gpu_type gpu;

	return p->offered && p->market == market && gpu_type_read(&gpu, p->type) &&
	       gpu.shape == GPU_VM && gpu.count == count && strcmp(gpu.name, profile) == 0;
}

const struct cloud_pool *lyceum_pool(const struct cloud *c, const char *profile, unsigned count,
				     enum market market)
{
	const struct cloud_pool *full = NULL;

	for (size_t k = 0; k < c->npools; k++) {
		if (!is_sold(c->pools[k], profile, count, market))
			continue;
		if (has_room(c->pools[k]))
			return c->pools[k];
		if (full == NULL)
			full = c->pools[k];
	}
	return full;
}

/* Any count of it; NULL: the profile is not sold so. */
static const struct cloud_pool *smallest(const struct cloud *c, const char *profile,
					 enum market market, unsigned *count)
{
	for (unsigned k = 0; k < LYCEUM_COUNTS; k++) {
		const struct cloud_pool *p = lyceum_pool(c, profile, lyceum_counts[k], market);

		*count = lyceum_counts[k];
		if (p != NULL)
			return p;
	}
	return NULL;
}

static void put_variant(struct str *s, const struct cloud *c, const char *profile,
			enum market market, bool all, int64_t now)
{
	unsigned count;
	const struct cloud_pool *p = smallest(c, profile, market, &count);

	if (p == NULL)
		return;
	js_open(s, NULL, '{');
	js_str(s, "hardware_profile", profile);
	if (all)
		js_str(s, "gpu_type", profile);
	else
		js_str(s, "instance_type", market_word(market));
	js_money(s, "price_per_hour", cloud_price(c, p, now) / count);
	js_open(s, "allowed_gpus_per_instance", '[');
	for (unsigned k = 0; k < LYCEUM_COUNTS; k++)
		js_int(s, NULL, lyceum_counts[k]);
	js_close(s, ']');
	js_open(s, "available_gpus_per_instance", '[');
	for (unsigned k = 0; k < LYCEUM_COUNTS; k++) {
		p = lyceum_pool(c, profile, lyceum_counts[k], market);
		if (p != NULL && has_room(p))
			js_int(s, NULL, lyceum_counts[k]);
	}
	js_close(s, ']');
	js_close(s, '}');
}

static void put_variants(struct str *s, const struct cloud *c, enum market market, bool all,
			 int64_t now)
{
	for (unsigned k = 0; k < LYCEUM_PROFILES; k++)
		put_variant(s, c, lyceum_profiles[k], market, all, now);
}

/* The first list is of profiles, and says nothing of spot. */
void lyceum_availability(const struct cloud *c, int64_t now, struct face_reply *out)
{
	struct str s;

	str_init(&s, LYCEUM_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "available_hardware_profiles", '[');
	put_variants(&s, c, MARKET_ON_DEMAND, true, now);
	js_close(&s, ']');
	js_open(&s, "available_instance_variants", '[');
	put_variants(&s, c, MARKET_ON_DEMAND, false, now);
	put_variants(&s, c, MARKET_SPOT, false, now);
	js_close(&s, ']');
	js_close(&s, '}');
	face_body(out, &s);
}

/* --- prices ----------------------------------------------------------------------------------- */

/* n / 10^digits as text. */
static const char *decimal(char out[DECIMAL_SIZE], int64_t n, int digits)
{
	int64_t unit = 1;

	for (int k = 0; k < digits; k++)
		unit *= 10;
	if (digits == 0)
		(void)snprintf(out, DECIMAL_SIZE, "%" PRId64, n);
	else
		(void)snprintf(out, DECIMAL_SIZE, "%" PRId64 ".%0*" PRId64, n / unit, digits,
			       n % unit);
	return out;
}

/* The price of a second is rounded, and that of an hour is 3600 times the rounded one, with as many
 * decimals: 1.59 an hour is told as "0.00044167" and "1.59001200". */
static void put_prices(struct str *s, int64_t nano_h)
{
	int64_t unit = (nano_h + HOUR_S * UNIT_NANO / 2) / (HOUR_S * UNIT_NANO);
	int digits = UNIT_DIGITS;
	char text[DECIMAL_SIZE];

	for (; digits > 0 && unit % 10 == 0; digits--)
		unit /= 10;
	js_str(s, "unit", "second");
	js_str(s, "unit_price", decimal(text, unit, digits));
	js_str(s, "unit_price_per_hour", decimal(text, unit * HOUR_S, digits));
}

static void put_price(struct str *s, const struct cloud *c, const char *profile, unsigned count,
		      enum market market, int64_t now)
{
	const struct cloud_pool *p = lyceum_pool(c, profile, count, market);
	char name[2 * SETTINGS_WORD_SIZE];

	if (p == NULL)
		return;
	(void)snprintf(name, sizeof(name), "%s.%s.%ux", market_word(market), profile, count);
	js_open(s, NULL, '{');
	js_str(s, "meter_slug", "vm_running");
	js_str(s, "resource", "vm");
	js_open(s, "applies_to", '{');
	js_str(s, "hardware_profile", name);
	js_close(s, '}');
	put_prices(s, cloud_price(c, p, now));
	js_close(s, '}');
}

/* Storage is in the list too (its words are invented): who takes it for a machine is wrong. */
static void put_storage(struct str *s)
{
	js_open(s, NULL, '{');
	js_str(s, "meter_slug", "storage_gb");
	js_str(s, "resource", "storage");
	js_open(s, "applies_to", '{');
	js_close(s, '}');
	put_prices(s, INT64_C(360000));
	js_close(s, '}');
}

void lyceum_pricing(const struct cloud *c, int64_t now, struct face_reply *out)
{
	struct str s;

	str_init(&s, LYCEUM_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "prices", '[');
	for (int m = MARKET_ON_DEMAND; m <= MARKET_SPOT; m++)
		for (unsigned k = 0; k < LYCEUM_PROFILES; k++)
			for (unsigned n = 0; n < LYCEUM_COUNTS; n++)
				put_price(&s, c, lyceum_profiles[k], lyceum_counts[n],
					  (enum market)m, now);
	put_storage(&s);
	js_close(&s, ']');
	js_close(&s, '}');
	face_body(out, &s);
}
