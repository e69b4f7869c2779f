#include "providers/spheron_offer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum {
	GROUPS_MAX = 1000,
	OFFERS_MAX = 10000,  /* of one kind of GPU */
	CLUSTERS_MAX = 1000, /* of one offer */
	GPUS_MAX = 100000,
	NANO = 1000000000,
};

#define NO_CLOUD_INIT "no-cloud-init"

/* --- places ----------------------------------------------------------------------------------- */

/* Move the text up to the next ':' to out, if it fits and is not empty. */
static bool take(const char **at, char *out, size_t size)
{
	size_t n = strcspn(*at, ":");

	if (n == 0 || n >= size)
		return false;
	memcpy(out, *at, n);
	out[n] = '\0';
	*at += n + ((*at)[n] == ':');
	return true;
}

static bool take_gpus(const char **at, struct spheron_offer *out)
{
	char text[PROVIDER_WORD_MAX + 1], *x;
	unsigned long n;

	if (!take(at, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return false;
	n = strtoul(text, &x, 10);
	if (*x != 'x' || x[1] == '\0' || n > GPUS_MAX)
		return false;
	out->count = (uint32_t)n;
	memcpy(out->gpu, x + 1, strlen(x));
	return true;
}

static bool read_zone(struct spheron_offer *out, const char *at, bool spot)
{
	const char *kind;

	(void)snprintf(out->kind, sizeof(out->kind), "%s", spot ? "SPOT" : "DEDICATED");
	out->cloud_init = true;
	if (!take(&at, out->provider, sizeof(out->provider)) || !take_gpus(&at, out))
		return false;
	kind = at;
	if (!spot && kind[0] >= 'A' && kind[0] <= 'Z' && !take(&at, out->kind, sizeof(out->kind)))
		return false;
	if (strcmp(at, NO_CLOUD_INIT) == 0) {
		out->cloud_init = false;
		return true;
	}
	return at[0] == '\0' && at[-1] != ':';
}

int spheron_offer_read(struct spheron_offer *out, const struct provider_place *place, struct err *e)
{
	*out = (struct spheron_offer){0};
	if (place->market == PROVIDER_RESERVED)
		return err_set(e, ERR_INVALID, "create: Spheron's API sells no reservations");
	if (place->type[0] == '\0' || place->region[0] == '\0')
		return err_set(
			e, ERR_INVALID,
			"want an offer's offerId as type, and one of its clusters as region");
	if (!read_zone(out, place->zone, place->market == PROVIDER_SPOT))
		return err_set(e, ERR_INVALID,
			       "zone \"%s\": want PROVIDER:COUNTxGPU[:KIND][:" NO_CLOUD_INIT
			       "] of the offer, such as \"voltage-park:8xH100\" "
			       "(docs/providers/spheron.md)",
			       place->zone);
	return 0;
}

/* The zone as pools write it; false: no pool can. */
static bool write_zone(char out[PROVIDER_WORD_MAX + 1], const char *gpu, const struct doc_at *o)
{
	const char *provider = doc_word(o, "provider"), *kind = doc_word(o, "instanceType");
	bool plain = strcmp(kind, "SPOT") == 0 || strcmp(kind, "DEDICATED") == 0;
	int n = snprintf(out, PROVIDER_WORD_MAX + 1, "%s:%lldx%s%s%s%s", provider,
			 (long long)doc_int(o, "gpuCount"), gpu, plain ? "" : ":",
			 plain ? "" : kind,
			 doc_flag(o, "supportsCloudInit") ? "" : ":" NO_CLOUD_INIT);
	struct spheron_offer again = {0};

	return n > 0 && n <= PROVIDER_WORD_MAX && strchr(out, ' ') == NULL &&
	       read_zone(&again, out, strcmp(kind, "SPOT") == 0) &&
	       strcmp(again.provider, provider) == 0 && strcmp(again.gpu, gpu) == 0 &&
	       strcmp(again.kind, kind) == 0;
}

/* --- prices ----------------------------------------------------------------------------------- */

/* These may have fractions. */
static int64_t whole(const struct doc_at *o, const char *key)
{
	return doc_has(o, key) ? doc_money(o, key, 1) / NANO : 0;
}

static struct provider_quote *add(struct provider_result *out)
{
	const size_t n = out->nquotes++;

	if ((n & (n - 1)) == 0)
		out->quotes = mem_realloc(out->quotes, (n == 0 ? 1 : 2 * n) * sizeof(*out->quotes));
	out->quotes[n] = (struct provider_quote){.currency = "USD"};
	return &out->quotes[n];
}

/* What else the offer says: "InfiniBand" is a network, "SXM5" is inside the machine. */
static void read_terms(const struct doc_at *o, struct provider_terms *t)
{
	const char *link = doc_word(o, "interconnectType");

	t->minimum_ms = whole(o, "minimumRuntimeMinutes") * 60000;
	if (doc_has(o, "available"))
		t->stock = doc_flag(o, "available") ? PROVIDER_STOCK_SOME : PROVIDER_STOCK_NONE;
	if (strcasecmp(link, "InfiniBand") == 0)
		memcpy(t->interconnect, "ib", 3);
	else if (strcasecmp(link, "RoCE") == 0)
		memcpy(t->interconnect, "roce", 5);
}

/* price is in dollars an hour for the whole offer.  Where there is a spot_price the vendor's own
 * programs take that. */
static void read_offer(const struct doc_at *o, const char *gpu, struct provider_result *out)
{
	struct doc_at clusters = doc_list(o, "clusters", CLUSTERS_MAX);
	bool spot = strcmp(doc_word(o, "instanceType"), "SPOT") == 0;
	const char *key = spot && doc_has(o, "spot_price") ? "spot_price" : "price";
	struct provider_quote q = {.currency = "USD"};

	if (!write_zone(q.zone, gpu, o))
		return;
	doc_text(o, "offerId", q.type, sizeof(q.type));
	q.market = spot ? PROVIDER_SPOT : PROVIDER_ON_DEMAND;
	q.price_nano_h = doc_money(o, key, 1);
	q.cpus = (uint32_t)whole(o, "vcpus");
	q.gpus = (uint32_t)doc_int(o, "gpuCount");
	q.memory_mb = (uint64_t)whole(o, "memory") * 1024;
	read_terms(o, &q.terms);
	for (size_t k = 0; k < clusters.n; k++) {
		struct doc_at region = doc_item(&clusters, k);

		doc_text(&region, NULL, q.region, sizeof(q.region));
		*add(out) = q;
	}
}

int spheron_offer_quotes(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	struct doc_at groups = doc_list(&d->top, "data", GROUPS_MAX);

	for (size_t g = 0; g < groups.n && doc_good(d); g++) {
		struct doc_at group = doc_item(&groups, g);
		struct doc_at offers = doc_list(&group, "offers", OFFERS_MAX);

		for (size_t k = 0; k < offers.n && doc_good(d); k++) {
			struct doc_at o = doc_item(&offers, k);
			const char *type = doc_word(&o, "offerId");

			if (strlen(type) <= PROVIDER_WORD_MAX && rest_wants_type(op, type))
				read_offer(&o, doc_word(&group, "gpuType"), out);
		}
	}
	return rest_more_pages(op, out,
			       (uint64_t)doc_int_if(&d->top, "totalPages") > rest_page(op));
}
