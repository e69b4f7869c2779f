#include "providers/simcloud/settings.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/simcloud/js.h"

enum {
	DEFAULT_BOOT_MS = 1100,
	DEFAULT_MACHINES = 8,
	SECOND_MS = 1000,
	MINUTE_MS = 60000,
	DAY_MS = 86400000
};

/* EUR an hour; spot is sold at 40 %. */
static const struct {
	const char *type, *price, *spot_price;
} types[] = {
	{"gpu_8x_h100", "29.52", "11.80"},
	{"gpu_8x_a100", "16.40", "6.56"},
	{"gpu_1x_h100", "3.69", "1.47"},
	{"cpu_4x", "0.19", "0.07"},
};
static const char *const regions[] = {"eu-north-1", "eu-west-1"};
static const char *const zone_letters[] = {"a", "b"};

static void add_default(struct settings *c, unsigned type, const char *region, const char *letter)
{
	/* By default there are no reserved offers. */
	for (int m = MARKET_ON_DEMAND; m <= MARKET_SPOT; m++) {
		struct settings_offer *o = &c->offers[c->noffers++];

		*o = (struct settings_offer){
			.market = (enum market)m, .capacity = -1, .currency = "EUR"};
		(void)snprintf(o->type, sizeof(o->type), "%s", types[type].type);
		(void)snprintf(o->region, sizeof(o->region), "%s", region);
		(void)snprintf(o->zone, sizeof(o->zone), "%s%s", region, letter);
		(void)fmt_money_parse(m == MARKET_SPOT ? types[type].spot_price : types[type].price,
				      &o->price_nano_h, NULL);
	}
}

static void defaults(struct settings *c)
{
	*c = (struct settings){
		.tokens = true,
		.tags = true,
		.filter = true,
		.token_life_ms = DAY_MS,
		.login_life_ms = INT64_C(60) * MINUTE_MS,
		.ended_keep_ms = MINUTE_MS,
		.addr_reuse_ms = MINUTE_MS,
		.spot_notice_ms = INT64_C(2) * MINUTE_MS,
		.spot_hour_ms = INT64_C(60) * MINUTE_MS,
		.quota = -1,
		.fabric_max = SETTINGS_FABRICS_MAX,
		.machines = DEFAULT_MACHINES,
		.interfaces = 1,
		.machine_lock_ms = SECOND_MS,
		.page_max = SETTINGS_BATCH_MAX,
		.create_max = SETTINGS_BATCH_MAX,
		.delete_max = SETTINGS_BATCH_MAX,
		/* A slurmd that starts in the second of slurmctld's resume request is ignored. */
		.boot.a_ms = DEFAULT_BOOT_MS,
	};
	for (unsigned t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		for (unsigned r = 0; r < 2; r++)
			for (unsigned z = 0; z < 2; z++)
				add_default(c, t, regions[r], zone_letters[z]);
}

void settings_init(struct settings *c)
{
	defaults(c);
	c->doc = mem_check(json_object());
}

void settings_fini(struct settings *c)
{
	json_decref(c->doc);
	c->doc = NULL;
}

static int read_dist(const json_t *o, const char *key, struct dist *d, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (v == NULL || json_is_null(v) || dist_parse(d, v, e) == 0)
		return 0;
	return err_wrap(e, "%s", key);
}

static int read_globs(const json_t *o, const char *key, struct settings_globs *g, struct err *e)
{
	const json_t *list = json_object_get(o, key), *v;
	size_t i;

	if (list == NULL || json_is_null(list))
		return 0;
	if (!json_is_array(list) || json_array_size(list) > SETTINGS_GLOBS_MAX)
		return err_set(e, ERR_INVALID, "%s: want up to %d patterns", key,
			       SETTINGS_GLOBS_MAX);
	g->n = 0;
	json_array_foreach(list, i, v)
	{
		if (!json_is_string(v) || json_string_length(v) >= SETTINGS_WORD_SIZE)
			return err_set(e, ERR_INVALID, "%s: want strings", key);
		memcpy(g->v[g->n++], json_string_value(v), json_string_length(v) + 1);
	}
	return 0;
}

static int read_latency(const json_t *doc, struct settings *c, struct err *e)
{
	const json_t *o = json_object_get(doc, "latency");

	if (o == NULL || json_is_null(o))
		return 0;
	if (js_only(o, op_words(), e) != 0)
		return err_wrap(e, "latency");
	for (int i = 0; i < OP_COUNT; i++)
		if (read_dist(o, op_word((enum op)i), &c->latency[i], e) != 0)
			return err_wrap(e, "latency");
	return 0;
}

static int read_rate(const json_t *o, struct settings_bucket *b, struct err *e)
{
	const json_t *rate = json_object_get(o, "rate");

	if (js_get_int(o, "burst", &b->burst, e) != 0)
		return -1;
	if (!json_is_number(rate) || json_number_value(rate) < 0 || json_number_value(rate) > 1e6)
		return err_set(e, ERR_INVALID, "rate: want tokens per second, 0 to 1000000");
	b->rate_milli = (int64_t)(json_number_value(rate) * 1000);
	if (b->rate_milli > 0 && b->burst == 0)
		return err_set(e, ERR_INVALID, "burst: want at least 1");
	return 0;
}

static int read_bucket(const json_t *o, struct settings_bucket *b, struct err *e)
{
	char per[16] = "request";

	if (read_rate(o, b, e) != 0 || js_get_str(o, "per", per, sizeof(per), e) != 0)
		return -1;
	if (strcmp(per, "request") != 0 && strcmp(per, "instance") != 0)
		return err_set(e, ERR_INVALID, "per: want request or instance");
	b->per_instance = strcmp(per, "instance") == 0;
	return 0;
}

/* Read the bucket that an operation has for instances beside the one for requests. */
static int read_items(const json_t *o, struct settings_bucket *b, struct err *e)
{
	static const char *const known[] = {"rate", "burst", NULL};
	const json_t *v = json_object_get(o, "instances");

	if (v == NULL || json_is_null(v))
		return 0;
	b->per_instance = true;
	if (js_only(v, known, e) != 0 || read_rate(v, b, e) != 0)
		return err_wrap(e, "instances");
	return 0;
}

/* items: NULL: there is no bucket for instances. */
static int take_bucket(const json_t *o, const char *word, struct settings_bucket *b,
		       struct settings_bucket *items, struct err *e)
{
	const char *const known[] = {"rate", "burst", "per", items != NULL ? "instances" : NULL,
				     NULL};
	const json_t *v = json_object_get(o, word);

	if (v == NULL || json_is_null(v))
		return 0;
	if (js_only(v, known, e) != 0 || read_bucket(v, b, e) != 0 ||
	    (items != NULL && read_items(v, items, e) != 0))
		return err_wrap(e, "buckets: %s", word);
	return 0;
}

static int read_buckets(const json_t *doc, struct settings *c, struct err *e)
{
	const json_t *o = json_object_get(doc, "buckets");
	const char *known[OP_COUNT + 2] = {"any"};

	if (o == NULL || json_is_null(o))
		return 0;
	for (int i = 0; i < OP_COUNT; i++)
		known[1 + i] = op_word((enum op)i);
	if (js_only(o, known, e) != 0)
		return err_wrap(e, "buckets");
	for (int i = 0; i < OP_COUNT; i++)
		if (take_bucket(o, op_word((enum op)i), &c->bucket[i], &c->bucket_items[i], e) != 0)
			return -1;
	return take_bucket(o, "any", &c->bucket_any, NULL, e);
}

/* Read [["0s","11.80"],["10m","14.00"]]; the first is the price. */
static int read_curve(const json_t *o, struct settings_offer *to, struct err *e)
{
	const json_t *list = json_object_get(o, "prices"), *v;
	struct settings_curve *c = &to->curve;
	size_t i;

	if (js_get_ms(o, "period", &c->period_ms, e) != 0)
		return -1;
	if (json_array_size(list) == 0 || json_array_size(list) > SETTINGS_PRICES_MAX)
		return err_set(e, ERR_INVALID, "prices: want 1 to %d of [\"TIME\",\"PRICE\"]",
			       SETTINGS_PRICES_MAX);
	json_array_foreach(list, i, v)
	{
		const char *at = json_string_value(json_array_get(v, 0));
		const char *price = json_string_value(json_array_get(v, 1));
		struct settings_price *p = &c->v[c->n++];

		if (at == NULL || price == NULL || json_array_size(v) != 2 ||
		    fmt_duration_parse(at, &p->from_ms, NULL) != 0 ||
		    fmt_money_parse(price, &p->nano_h, NULL) != 0)
			return err_set(e, ERR_INVALID, "prices: want [\"TIME\",\"PRICE\"]");
		if (i == 0 ? p->from_ms != 0 : p->from_ms <= p[-1].from_ms)
			return err_set(e, ERR_INVALID,
				       "prices: want times that begin with 0s and rise");
	}
	if (c->period_ms != 0 && c->period_ms <= c->v[c->n - 1].from_ms)
		return err_set(e, ERR_INVALID, "period: want more than the last time of prices");
	to->price_nano_h = c->v[0].nano_h;
	return to->market == MARKET_SPOT
		       ? 0
		       : err_set(e, ERR_INVALID, "prices: only spot offers may have them");
}

static int read_offer(const json_t *o, struct settings_offer *to, struct err *e)
{
	static const char *const known[] = {"type",     "region",   "zone",   "market", "price",
					    "currency", "capacity", "prices", "period", NULL};
	char market[16] = "on-demand", price[32] = "";

	*to = (struct settings_offer){.capacity = -1, .currency = "EUR"};
	if (js_only(o, known, e) != 0 ||
	    js_get_str(o, "type", to->type, SETTINGS_WORD_SIZE, e) != 0 ||
	    js_get_str(o, "region", to->region, SETTINGS_WORD_SIZE, e) != 0 ||
	    js_get_str(o, "zone", to->zone, SETTINGS_WORD_SIZE, e) != 0 ||
	    js_get_str(o, "market", market, sizeof(market), e) != 0 ||
	    js_get_str(o, "currency", to->currency, sizeof(to->currency), e) != 0 ||
	    js_get_str(o, "price", price, sizeof(price), e) != 0 ||
	    js_get_int(o, "capacity", &to->capacity, e) != 0)
		return -1;
	if (to->type[0] == '\0' || to->region[0] == '\0' || strlen(to->currency) != 3)
		return err_set(e, ERR_INVALID, "want type, region, a currency of three letters");
	if (market_parse(market, &to->market, e) != 0)
		return -1;
	if (json_object_get(o, "prices") != NULL)
		return read_curve(o, to, e);
	if (fmt_money_parse(price, &to->price_nano_h, e) != 0)
		return err_wrap(e, "price");
	return 0;
}

static int read_offers(const json_t *doc, struct settings *c, struct err *e)
{
	const json_t *list = json_object_get(doc, "offers"), *o;
	size_t i;

	if (list == NULL || json_is_null(list))
		return 0;
	if (!json_is_array(list) || json_array_size(list) > SETTINGS_OFFERS_MAX)
		return err_set(e, ERR_INVALID, "offers: want up to %d of them",
			       SETTINGS_OFFERS_MAX);
	c->noffers = 0;
	json_array_foreach(list, i, o)
	{
		if (read_offer(o, &c->offers[c->noffers++], e) != 0)
			return err_wrap(e, "offer %zu", i + 1);
		/* One account has one bill. */
		if (strcmp(c->offers[i].currency, c->offers[0].currency) != 0)
			return err_set(e, ERR_INVALID,
				       "offer %zu: all offers must have one currency", i + 1);
	}
	return 0;
}

static int read_number(const json_t *doc, const char *key, int64_t *out, int64_t max, struct err *e)
{
	if (js_get_int(doc, key, out, e) != 0)
		return -1;
	if (max > 0 && (*out < 1 || *out > max))
		return err_set(e, ERR_INVALID, "%s: want 1 to %d", key, (int)max);
	return 0;
}

static int read_doc(struct settings *c, const json_t *doc, struct err *e)
{
	static const char *const known[] = {
		"tokens",       "tags",          "filter",      "token_life",    "ended_keep",
		"addr_reuse",   "min_rental",    "quota",       "page_max",      "create_max",
		"delete_max",   "latency",       "boot",        "stop",          "visible",
		"flap",         "spot_life",     "spot_notice", "address_after", "state_lag",
		"boot_never",   "end_never",     "buckets",     "offers",        "spot_hour",
		"fabric_size",  "fabric_max",    "boot_fails",  "clean",         "machine_lock",
		"machines",     "login_life",    "interfaces",  "spine_size",    "fabric_apart",
		"image_broken", "image_unknown", NULL};

	if (js_only(doc, known, e) != 0 || js_get_bool(doc, "tokens", &c->tokens, e) != 0 ||
	    js_get_bool(doc, "tags", &c->tags, e) != 0 ||
	    js_get_bool(doc, "filter", &c->filter, e) != 0 ||
	    js_get_bool(doc, "fabric_apart", &c->fabric_apart, e) != 0 ||
	    js_get_ms(doc, "token_life", &c->token_life_ms, e) != 0 ||
	    js_get_ms(doc, "login_life", &c->login_life_ms, e) != 0 ||
	    js_get_ms(doc, "ended_keep", &c->ended_keep_ms, e) != 0 ||
	    js_get_ms(doc, "addr_reuse", &c->addr_reuse_ms, e) != 0 ||
	    js_get_ms(doc, "min_rental", &c->min_rental_ms, e) != 0 ||
	    read_number(doc, "quota", &c->quota, 0, e) != 0 ||
	    read_number(doc, "fabric_size", &c->fabric_size, 0, e) != 0 ||
	    read_number(doc, "spine_size", &c->spine_size, 0, e) != 0 ||
	    read_number(doc, "fabric_max", &c->fabric_max, SETTINGS_FABRICS_MAX, e) != 0 ||
	    read_number(doc, "machines", &c->machines, SETTINGS_BATCH_MAX, e) != 0 ||
	    read_number(doc, "interfaces", &c->interfaces, SETTINGS_CARDS_MAX, e) != 0 ||
	    read_number(doc, "page_max", &c->page_max, SETTINGS_BATCH_MAX, e) != 0 ||
	    read_number(doc, "create_max", &c->create_max, SETTINGS_BATCH_MAX, e) != 0 ||
	    read_number(doc, "delete_max", &c->delete_max, SETTINGS_BATCH_MAX, e) != 0)
		return -1;
	if (read_latency(doc, c, e) != 0 || read_dist(doc, "boot", &c->boot, e) != 0 ||
	    read_dist(doc, "stop", &c->stop, e) != 0 ||
	    read_dist(doc, "visible", &c->visible, e) != 0 ||
	    read_dist(doc, "address_after", &c->address_after, e) != 0 ||
	    read_dist(doc, "state_lag", &c->state_lag, e) != 0 ||
	    read_dist(doc, "spot_life", &c->spot_life, e) != 0 ||
	    js_get_ms(doc, "spot_notice", &c->spot_notice_ms, e) != 0 ||
	    js_get_ms(doc, "spot_hour", &c->spot_hour_ms, e) != 0 ||
	    js_get_real(doc, "flap", &c->flap, e) != 0 ||
	    read_globs(doc, "boot_never", &c->boot_never, e) != 0 ||
	    read_globs(doc, "boot_fails", &c->boot_fails, e) != 0 ||
	    read_globs(doc, "image_broken", &c->image_broken, e) != 0 ||
	    read_globs(doc, "image_unknown", &c->image_unknown, e) != 0 ||
	    read_dist(doc, "clean", &c->clean, e) != 0 ||
	    js_get_ms(doc, "machine_lock", &c->machine_lock_ms, e) != 0 ||
	    read_globs(doc, "end_never", &c->end_never, e) != 0 || read_buckets(doc, c, e) != 0)
		return -1;
	if (c->spot_hour_ms < 1)
		return err_set(e, ERR_INVALID, "spot_hour: want more than 0");
	c->spot_dies = json_is_string(json_object_get(doc, "spot_life")) ||
		       json_is_object(json_object_get(doc, "spot_life"));
	return read_offers(doc, c, e);
}

static void merge(json_t *into, const json_t *change)
{
	void *it = json_object_iter((json_t *)(uintptr_t)change);

	for (; it != NULL; it = json_object_iter_next((json_t *)(uintptr_t)change, it)) {
		const char *key = json_object_iter_key(it);
		json_t *to = json_object_get(into, key), *from = json_object_iter_value(it);

		/* Replace a distribution as a whole: a "min" of the old one has no meaning in the
		 * new. */
		if (json_is_object(to) && json_is_object(from) &&
		    json_object_get(from, "dist") == NULL)
			merge(to, from);
		else
			(void)json_object_set_new(into, key, mem_check(json_deep_copy(from)));
	}
}

int settings_merge(struct settings *c, const json_t *change, struct err *e)
{
	struct settings *next;

	if (!json_is_object(change))
		return err_set(e, ERR_INVALID, "want an object");
	next = mem_zalloc(sizeof(*next));
	defaults(next);
	next->doc = mem_check(json_deep_copy(c->doc));
	merge(next->doc, change);
	if (read_doc(next, next->doc, e) != 0) {
		settings_fini(next);
		free(next);
		return -1;
	}
	settings_fini(c);
	*c = *next;
	free(next);
	return 0;
}

bool settings_glob(const struct settings_globs *g, const char *node, const char *type)
{
	for (unsigned i = 0; i < g->n; i++)
		if (fnmatch(g->v[i], node, 0) == 0 || fnmatch(g->v[i], type, 0) == 0)
			return true;
	return false;
}
