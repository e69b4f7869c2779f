/* nova_flavor.c - flavors: one for each type and market that is offered in a region. */
#include <stdio.h>
#include <string.h>

#include "base/fnv.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/nova.h"

enum { VCPUS = 4, RAM_MB = 16384, DISK_GB = 20 }; /* of all: the cloud knows no sizes */

void nova_flavor_name(char out[NOVA_TEXT_SIZE], const char *type, enum market market)
{
	(void)snprintf(out, NOVA_TEXT_SIZE, "%.63s%s", type,
		       market == MARKET_SPOT       ? ".spot"
		       : market == MARKET_RESERVED ? ".reserved"
						   : "");
}

void nova_flavor_id(char out[OS_ID_SIZE], const struct cloud_pool *p)
{
	char name[NOVA_TEXT_SIZE];

	nova_flavor_name(name, p->type, p->market);
	(void)snprintf(out, OS_ID_SIZE, "5c1d0000-0000-4000-a000-%012llx",
		       (unsigned long long)(fnv_text(FNV_BEGIN, name) & 0xffffffffffff));
}

const struct cloud_pool *nova_flavor_find(const struct cloud *c, const char *id, const char *region)
{
	char text[OS_ID_SIZE];

	for (size_t i = 0; i < c->npools; i++) {
		nova_flavor_id(text, c->pools[i]);
		if (c->pools[i]->offered && strcmp(c->pools[i]->region, region) == 0 &&
		    strcmp(text, id) == 0)
			return c->pools[i];
	}
	return NULL;
}

/* By these an instance that may be taken away is told from others; the traits are invented. */
static void put_specs(struct str *s, const struct cloud_pool *p)
{
	js_open(s, "extra_specs", '{');
	if (p->market == MARKET_SPOT)
		js_str(s, "trait:CUSTOM_PREEMPTIBLE", "required");
	if (p->market == MARKET_RESERVED)
		js_str(s, "trait:CUSTOM_RESERVED", "required");
	js_close(s, '}');
}

static void put_size(struct str *s)
{
	js_int(s, "vcpus", VCPUS);
	js_int(s, "ram", RAM_MB);
	js_int(s, "disk", DISK_GB);
}

/* None, in a way that was mended in 2.75. */
static void put_swap(struct str *s, unsigned version)
{
	if (version >= 75)
		js_int(s, "swap", 0);
	else
		js_str(s, "swap", "");
}

void nova_put_its_flavor(struct str *s, const struct nova_call *x, const struct cloud_pool *p)
{
	char name[NOVA_TEXT_SIZE], id[OS_ID_SIZE], href[OS_URL_SIZE + 64];

	js_open(s, "flavor", '{');
	if (x->version >= 47) {
		nova_flavor_name(name, p->type, p->market);
		put_size(s);
		js_int(s, "ephemeral", 0);
		js_int(s, "swap", 0);
		js_str(s, "original_name", name);
		put_specs(s, p);
	} else {
		nova_flavor_id(id, p);
		(void)snprintf(href, sizeof(href), "%s/flavors/%s", x->root, id);
		js_str(s, "id", id);
		js_open(s, "links", '[');
		js_open(s, NULL, '{');
		js_str(s, "rel", "bookmark");
		js_str(s, "href", href);
		js_close(s, '}');
		js_close(s, ']');
	}
	js_close(s, '}');
}

void nova_put_flavor(struct str *s, const struct nova_call *x, const struct cloud_pool *p)
{
	char id[OS_ID_SIZE], name[NOVA_TEXT_SIZE];

	nova_flavor_id(id, p);
	nova_flavor_name(name, p->type, p->market);
	js_str(s, "id", id);
	js_str(s, "name", name);
	if (x->detail) {
		put_size(s);
		put_swap(s, x->version);
		js_int(s, "OS-FLV-EXT-DATA:ephemeral", 0);
		js_bool(s, "OS-FLV-DISABLED:disabled", false);
		js_bool(s, "os-flavor-access:is_public", true);
		js_seconds(s, "rxtx_factor", 1000);
	}
	nova_put_links(s, x, "flavors", id);
	if (x->version >= 55)
		js_null(s, "description");
	if (x->version >= 61 && x->detail)
		put_specs(s, p);
}

/* --- the list --------------------------------------------------------------------------------- */

static bool is_first(const struct cloud *c, size_t at, const char *region)
{
	const struct cloud_pool *p = c->pools[at], *o;

	if (!p->offered || strcmp(p->region, region) != 0)
		return false;
	for (size_t i = 0; i < at; i++) {
		o = c->pools[i];
		if (o->offered && o->market == p->market && strcmp(o->type, p->type) == 0 &&
		    strcmp(o->region, region) == 0)
			return false;
	}
	return true;
}

static void put_next(struct str *s, const struct nova_call *x, const char *marker)
{
	struct str href;

	str_init(&href, OS_BODY_MAX);
	str_addf(&href, "%s/flavors%s?%s&marker=%s", x->base, x->detail ? "/detail" : "",
		 x->query.text, marker);
	js_open(s, "flavors_links", '[');
	js_open(s, NULL, '{');
	js_str(s, "rel", "next");
	js_str(s, "href", href.p);
	js_close(s, '}');
	js_close(s, ']');
	str_fini(&href);
}

static void run_list(const struct face_call *f, const struct cloud *c, struct face_reply *out)
{
	const struct nova_call *x = f->own;
	int64_t n = 0, limit = x->query.limit >= 0 ? x->query.limit : INT64_MAX;
	bool on = x->query.marker[0] == '\0';
	char id[OS_ID_SIZE] = "";
	struct str s;

	if (!on && nova_flavor_find(c, x->query.marker, f->region) == NULL) {
		(void)snprintf(id, sizeof(id), "%.20s", x->query.marker);
		str_init(&s, OS_BODY_MAX);
		str_addf(&s, "marker [%s] not found", x->query.marker);
		nova_fault(out, x, 400, s.p);
		str_fini(&s);
		return;
	}
	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "flavors", '[');
	for (size_t i = 0; i < c->npools && n < limit; i++) {
		char this[OS_ID_SIZE];

		if (!is_first(c, i, f->region))
			continue;
		nova_flavor_id(this, c->pools[i]);
		if (on) {
			js_open(&s, NULL, '{');
			nova_put_flavor(&s, x, c->pools[i]);
			js_close(&s, '}');
			memcpy(id, this, sizeof(id));
			n++;
		}
		on |= strcmp(this, x->query.marker) == 0;
	}
	js_close(&s, ']');
	if (n > 0 && n == limit)
		put_next(&s, x, id);
	js_close(&s, '}');
	nova_answer(out, x, 200, &s);
}

static void run_one(const struct face_call *f, const struct cloud *c, struct face_reply *out)
{
	const struct nova_call *x = f->own;
	const struct cloud_pool *p = nova_flavor_find(c, x->id, f->region);
	struct str s;

	str_init(&s, OS_BODY_MAX);
	if (p == NULL) {
		str_addf(&s, "Flavor %s could not be found.", x->id);
		nova_fault(out, x, 404, s.p);
		str_fini(&s);
		return;
	}
	js_open(&s, NULL, '{');
	js_open(&s, "flavor", '{');
	nova_put_flavor(&s, x, p);
	js_close(&s, '}');
	js_close(&s, '}');
	nova_answer(out, x, 200, &s);
}

void nova_run_flavors(const struct face_call *f, const struct cloud *c, struct face_reply *out)
{
	const struct nova_call *x = f->own;

	if (x->what == NOVA_FLAVORS)
		run_list(f, c, out);
	else
		run_one(f, c, out);
}
