/* spheron_offers.c - what Spheron sells, by kind of GPU: availability, prices and how machines are
 * connected, in one list. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/spheron.h"

enum { CPUS = 16, MEMORY_GB = 128, STORAGE_GB = 1000, GPU_GB = 80 }; /* of each GPU; invented */

const char *const spheron_os[] = {"Ubuntu Server 22.04", "Ubuntu 24.04 (CUDA 13)", NULL};

/* --- a pool as an offer ----------------------------------------------------------------------- */

/* Whose machines those of zone a, b, ... are is invented; that some drop cloudInit and some never
 * tell the port of SSH is not. */
static const struct spheron_provider *provider_of(const char *zone)
{
	static const struct spheron_provider providers[] = {
		{"spheron-ai", true, 0},
		{"massed-compute", false, 22},
		{"voltage-park", true, 22},
	};
	char last = zone[0] != '\0' ? zone[strlen(zone) - 1] : 'a';

	return &providers[last == 'a' ? 0 : last == 'b' ? 1 : 2];
}

static const char *kind_of(const struct cloud_pool *p, enum gpu_shape shape)
{
	static const char *const kinds[] = {
		[GPU_VM] = "DEDICATED", [GPU_CLUSTER] = "CLUSTER", [GPU_BARE_METAL] = "BARE_METAL"};

	return p->market == MARKET_SPOT ? "SPOT" : kinds[shape];
}

bool spheron_has_room(const struct cloud_pool *p)
{
	return p->capacity < 0 || p->capacity > p->used;
}

bool spheron_offer_of(struct spheron_offer *out, const struct cloud_pool *p)
{
	*out = (struct spheron_offer){.pool = p, .provider = provider_of(p->zone)};
	if (!gpu_type_read(&out->gpu, p->type) || p->market == MARKET_RESERVED)
		return false;
	out->kind = kind_of(p, out->gpu.shape);
	(void)snprintf(out->id, sizeof(out->id), "%s_%s%s", p->type, p->zone,
		       p->market == MARKET_SPOT ? "::spot" : "");
	for (size_t k = 0; out->gpu.name[k] != '\0'; k++)
		out->gpu_name[k] = (char)toupper((unsigned char)out->gpu.name[k]);
	return true;
}

bool spheron_offer_find(struct spheron_offer *out, const struct cloud *c, const char *id)
{
	for (size_t k = 0; k < c->npools; k++)
		if (c->pools[k]->offered && spheron_offer_of(out, c->pools[k]) &&
		    strcmp(out->id, id) == 0)
			return true;
	return false;
}

static void put_link(struct str *s, const struct spheron_offer *o)
{
	bool sxm = strstr(o->gpu_name, "SXM") != NULL;

	if (o->gpu.shape == GPU_CLUSTER) {
		js_str(s, "interconnectType", "InfiniBand");
		js_str(s, "interconnectDescription", "3.2 Tb/s InfiniBand");
	} else {
		js_str(s, "interconnectType", sxm ? "SXM5" : "PCIe");
		js_null(s, "interconnectDescription");
	}
}

static void put_hardware(struct str *s, const struct spheron_offer *o)
{
	char name[2 * SETTINGS_WORD_SIZE];

	(void)snprintf(name, sizeof(name), "%ux %s", o->gpu.count, o->gpu_name);
	js_str(s, "name", name);
	js_int(s, "gpuCount", o->gpu.count);
	js_int(s, "gpu_memory", GPU_GB);
	js_int(s, "vcpus", (int64_t)o->gpu.count * CPUS);
	js_int(s, "memory", (int64_t)o->gpu.count * MEMORY_GB);
	js_int(s, "storage", STORAGE_GB);
}

static void put_offer(struct str *s, const struct cloud *c, const struct spheron_offer *o,
		      int64_t now)
{
	int64_t price = cloud_price(c, o->pool, now);

	js_open(s, NULL, '{');
	js_str(s, "provider", o->provider->name);
	js_str(s, "offerId", o->id);
	put_hardware(s, o);
	js_money(s, "price", price);
	if (o->pool->market == MARKET_SPOT)
		js_money(s, "spot_price", price);
	js_bool(s, "available", spheron_has_room(o->pool));
	js_bool(s, "maintenance", false);
	js_open(s, "clusters", '[');
	js_str(s, NULL, o->pool->region);
	js_close(s, ']');
	js_open(s, "os_options", '[');
	for (const char *const *os = spheron_os; *os != NULL; os++)
		js_str(s, NULL, *os);
	js_close(s, ']');
	js_str(s, "instanceType", o->kind);
	put_link(s, o);
	js_bool(s, "supportsCloudInit", o->provider->cloud_init);
	js_int(s, "minimumRuntimeMinutes", spheron_minutes(c->conf->min_rental_ms));
	js_close(s, '}');
}

/* --- groups ----------------------------------------------------------------------------------- */

struct group { /* the offers of one kind of GPU that are asked for */
	char gpu[SETTINGS_WORD_SIZE];
	size_t n;
	int64_t available, lowest, highest, sum;
};

struct groups {
	struct group *v;
	size_t n;
};

static bool is_asked(const struct spheron_call *x, const struct spheron_offer *o)
{
	return o->pool->offered && (x->kind[0] == '\0' || strcmp(x->kind, o->kind) == 0) &&
	       strcasestr(o->gpu_name, x->search) != NULL;
}

static void count(struct groups *all, const struct spheron_offer *o, int64_t price)
{
	struct group *g;
	size_t k = 0;

	while (k < all->n && strcmp(all->v[k].gpu, o->gpu_name) != 0)
		k++;
	g = &all->v[k];
	if (k == all->n) {
		*g = (struct group){.lowest = INT64_MAX};
		memcpy(g->gpu, o->gpu_name, sizeof(g->gpu));
		all->n++;
	}
	g->n++;
	g->available += spheron_has_room(o->pool);
	g->sum += price;
	if (price < g->lowest)
		g->lowest = price;
	if (price > g->highest)
		g->highest = price;
}

static int64_t key_of(const struct spheron_call *x, const struct group *g)
{
	int64_t key = strcmp(x->sort_by, "lowestPrice") == 0    ? g->lowest
		      : strcmp(x->sort_by, "highestPrice") == 0 ? g->highest
		      : strcmp(x->sort_by, "averagePrice") == 0 ? g->sum / (int64_t)g->n
								: 0;

	return x->descending ? -key : key;
}

/* Keeps the order of equals; there are few. */
static void sort(struct groups *all, const struct spheron_call *x)
{
	for (size_t k = 1; k < all->n; k++)
		for (size_t i = k; i > 0 && key_of(x, &all->v[i]) < key_of(x, &all->v[i - 1]);
		     i--) {
			struct group g = all->v[i];

			all->v[i] = all->v[i - 1];
			all->v[i - 1] = g;
		}
}

static void put_providers(struct str *s, const struct cloud *c, const struct spheron_call *x,
			  const struct group *g)
{
	const char *seen[3] = {NULL};
	struct spheron_offer o;
	size_t n = 0;

	js_open(s, "providers", '[');
	for (size_t k = 0; k < c->npools && n < 3; k++) {
		size_t i = 0;

		if (!spheron_offer_of(&o, c->pools[k]) || !is_asked(x, &o) ||
		    strcmp(o.gpu_name, g->gpu) != 0)
			continue;
		while (i < n && strcmp(seen[i], o.provider->name) != 0)
			i++;
		if (i == n)
			js_str(s, NULL, seen[n++] = o.provider->name);
	}
	js_close(s, ']');
}

static void put_group(struct str *s, const struct cloud *c, const struct spheron_call *x,
		      const struct group *g, int64_t now)
{
	struct spheron_offer o;

	js_open(s, NULL, '{');
	js_str(s, "gpuType", g->gpu);
	js_str(s, "gpuModel", g->gpu);
	js_str(s, "displayName", g->gpu);
	js_int(s, "totalAvailable", g->available);
	js_money(s, "lowestPrice", g->lowest);
	js_money(s, "highestPrice", g->highest);
	js_money(s, "averagePrice", g->sum / (int64_t)g->n);
	put_providers(s, c, x, g);
	js_open(s, "offers", '[');
	for (size_t k = 0; k < c->npools; k++)
		if (spheron_offer_of(&o, c->pools[k]) && is_asked(x, &o) &&
		    strcmp(o.gpu_name, g->gpu) == 0)
			put_offer(s, c, &o, now);
	js_close(s, ']');
	js_close(s, '}');
}

void spheron_offers(const struct face_call *f, const struct cloud *c, int64_t now,
		    struct face_reply *out)
{
	const struct spheron_call *x = f->own;
	int64_t page = x->page > 0 ? x->page : 1, first = (page - 1) * x->limit;
	struct groups all = {.v = mem_zalloc((c->npools + 1) * sizeof(*all.v))};
	struct spheron_offer o;
	struct str s;

	for (size_t k = 0; k < c->npools; k++)
		if (spheron_offer_of(&o, c->pools[k]) && is_asked(x, &o))
			count(&all, &o, cloud_price(c, o.pool, now));
	sort(&all, x);
	str_init(&s, SPHERON_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "data", '[');
	for (int64_t k = first; k < (int64_t)all.n && k < first + x->limit; k++)
		put_group(&s, c, x, &all.v[k], now);
	js_close(&s, ']');
	js_int(&s, "total", (int64_t)all.n);
	js_int(&s, "page", page);
	js_int(&s, "limit", x->limit);
	js_int(&s, "totalPages", ((int64_t)all.n + x->limit - 1) / x->limit);
	js_close(&s, '}');
	face_body(out, &s);
	free(all.v);
}
