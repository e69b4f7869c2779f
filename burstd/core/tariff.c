#include "core/tariff.h"

#include <stdio.h>
#include <string.h>

static bool is_of_type(const struct provider_quote *q, const struct conf_offer *o)
{
	return strcmp(q->type, o->type) == 0;
}

static bool is_in_region(const struct provider_quote *q, const struct conf_offer *o)
{
	return q->region[0] == '\0' || strcmp(q->region, o->region) == 0;
}

static bool is_in_zone(const struct provider_quote *q, const struct conf_offer *o)
{
	return o->zone[0] == '\0' || strcmp(q->zone, o->zone) == 0;
}

bool tariff_fits(const struct provider_quote *q, const struct conf_offer *o)
{
	return is_of_type(q, o) && is_in_region(q, o) && (int)q->market == o->market &&
	       is_in_zone(q, o);
}

int64_t tariff_price(const struct provider_quote *quotes, size_t n, const struct conf_offer *o,
		     const char *currency)
{
	int64_t best = 0;

	for (size_t i = 0; i < n; i++) {
		const struct provider_quote *q = &quotes[i];

		if (q->type[0] != '\0' &&
		    !(tariff_fits(q, o) && strcmp(q->currency, currency) == 0))
			continue;           /* without a type it is the price of all types */
		if (q->price_nano_h > best) /* any zone: take the highest price */
			best = q->price_nano_h;
	}
	return best;
}

/* The network is of the type, in whichever market it is sold.  "": nobody says, or they differ. */
static const char *interconnect(const struct provider_quote *quotes, size_t n,
				const struct conf_offer *o)
{
	const char *said = "";

	for (size_t i = 0; i < n; i++) {
		const char *word = quotes[i].terms.interconnect;

		if (word[0] == '\0' || !is_of_type(&quotes[i], o) || !is_in_region(&quotes[i], o))
			continue;
		if (said[0] != '\0' && strcmp(said, word) != 0)
			return "";
		said = word;
	}
	return said;
}

struct provider_terms tariff_terms(const struct provider_quote *quotes, size_t n,
				   const struct conf_offer *o, const struct provider_terms *known)
{
	struct provider_terms said = {.stock = PROVIDER_STOCK_UNSAID}, t = *known;
	const char *link = interconnect(quotes, n, o);

	for (size_t i = 0; i < n; i++) {
		const struct provider_terms *q = &quotes[i].terms;

		if (!tariff_fits(&quotes[i], o))
			continue;
		if (q->quantum_ms > said.quantum_ms)
			said.quantum_ms = q->quantum_ms;
		if (q->minimum_ms != 0 && (said.minimum_ms == 0 || q->minimum_ms > said.minimum_ms))
			said.minimum_ms = q->minimum_ms;
		if (q->stock > said.stock) /* some in any zone are some */
			said.stock = q->stock;
	}
	if (said.quantum_ms != 0)
		t.quantum_ms = said.quantum_ms;
	if (said.minimum_ms != 0)
		t.minimum_ms = said.minimum_ms;
	if (said.stock != PROVIDER_STOCK_UNSAID)
		t.stock = said.stock;
	if (link[0] != '\0')
		(void)snprintf(t.interconnect, sizeof(t.interconnect), "%s", link);
	return t;
}

struct tariff_machine tariff_machine(const struct provider_quote *quotes, size_t n,
				     const struct conf_offer *o)
{
	struct tariff_machine m = {.cpus = 0};

	for (size_t i = 0; i < n; i++) {
		const struct provider_quote *q = &quotes[i];

		if (!is_of_type(q, o) || !is_in_region(q, o))
			continue;
		if (q->cpus != 0 && (m.cpus == 0 || q->gpus < m.gpus))
			m.gpus = q->gpus;
		if (q->cpus != 0 && (m.cpus == 0 || q->cpus < m.cpus))
			m.cpus = q->cpus;
		if (q->memory_mb != 0 && (m.memory_mb == 0 || q->memory_mb < m.memory_mb))
			m.memory_mb = q->memory_mb;
	}
	return m;
}

bool tariff_dry(const struct provider_quote *quotes, size_t n, const struct conf_offer *o)
{
	static const struct provider_terms none;

	return tariff_terms(quotes, n, o, &none).stock == PROVIDER_STOCK_NONE;
}

/* Of the quotes that pass each test, do any pass the next, too?  The first that none passes is what
 * is lacking. */
enum tariff_lack tariff_lack(const struct provider_quote *quotes, size_t n,
			     const struct conf_offer *o, const struct provider_caps *caps)
{
	enum tariff_lack lack = TARIFF_TYPE;

	/* Such a provider has quotes of spot instances alone: another market has none. */
	if (caps->spot_prices != NULL && o->market != PROVIDER_SPOT)
		return TARIFF_SOLD;
	for (size_t i = 0; i < n; i++) {
		const struct provider_quote *q = &quotes[i];
		enum tariff_lack got = TARIFF_SOLD;

		if (q->type[0] == '\0')
			return TARIFF_SOLD;
		if (!is_of_type(q, o))
			got = TARIFF_TYPE;
		else if (!is_in_region(q, o))
			got = TARIFF_REGION;
		else if (q->zone[0] != '\0' && !is_in_zone(q, o))
			got = TARIFF_ZONE; /* many clouds quote no zones */
		else if ((int)q->market != o->market)
			got = TARIFF_MARKET;
		if (got == TARIFF_SOLD)
			return TARIFF_SOLD;
		if (got > lack)
			lack = got;
	}
	return lack;
}
