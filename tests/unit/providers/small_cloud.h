/* small_cloud.h - the example of docs/providers/writing-a-driver.md: the driver of a cloud that
 *does not exist.  One instance a create, no tokens, no tags, numbered pages, a bearer token.
 *
 *	POST   /v1/instances {"name", "type", "region", "spot", "script"}   201, the instance
 *	GET    /v1/instances?page=2                {"instances": [...], "pages": 3}
 *	DELETE /v1/instances/ID                    204; 409 too_young with "retry_after" in seconds
 *	GET    /v1/types                           {"types": [...]}
 */
#ifndef TESTS_SMALL_CLOUD_H
#define TESTS_SMALL_CLOUD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/provider.h"
#include "providers/common/names.h"
#include "providers/common/rest.h"
#include "providers/common/words.h"

enum { SMALL_PAGE_MAX = 500, SMALL_TYPES_MAX = 1000 };

/* --- the vendor, in a table --------------------------------------------------------------------
 */

static const struct rest_row small_errors[] = {
	{.code = "no_capacity", .means = PROVIDER_CAPACITY},
	{.code = "quota_exceeded", .means = PROVIDER_QUOTA},
	{.code = "too_young", .means = PROVIDER_NOT_YET},
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 500,
	 .says = "could not be provisioned",
	 .means = PROVIDER_CAPACITY},
};
static const char *const small_headers[] = {"User-Agent: burstd", NULL};
static const struct rest_api small_api = {
	.auth = REST_BEARER,
	.headers = small_headers,
	.error_code = "error.code",
	.error_message = "error.message",
	.error_wait = "error.retry_after",
	.wait_unit_ms = 1000,
	.shows_code = true,
	.request_id = "X-Request-Id",
	.rows = small_errors,
	.nrows = sizeof(small_errors) / sizeof(small_errors[0]),
};
static const struct provider_names small_names = {.max = 63};
static const struct rest_state small_states[] = {
	{"starting", PROVIDER_PENDING}, {"running", PROVIDER_RUNNING},
	{"preempted", PROVIDER_ENDED},  {"stopping", PROVIDER_STOPPING},
	{"deleted", PROVIDER_ENDED},
};

/* --- open, close -------------------------------------------------------------------------------
 */

static inline int small_open(void **self, const struct provider_conf *conf, struct err *e)
{
	struct rest *r = mem_zalloc(sizeof(*r));
	int rc = rest_init(r, &small_api, conf, e);

	if (rc != 0) {
		free(r);
		r = NULL;
	}
	*self = r;
	return rc;
}

static inline void small_close(void *self)
{
	if (self != NULL)
		rest_fini(self);
	free(self);
}

static inline struct provider_caps small_caps(const void *self)
{
	static const struct provider_limit limits[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.requests = {.size = 5, .gains = 1}},
	};

	(void)self;
	return (struct provider_caps){
		.flags = PROVIDER_TAGS, /* a name is there from birth, as a tag would be */
		.create_max = 1,
		.delete_max = 1,
		.names = &small_names,
		.limits = limits,
	};
}

/* --- requests ----------------------------------------------------------------------------------
 */

static inline int small_create(struct rest_call *c, const struct provider_create *op, struct err *e)
{
	char name[NAMES_SIZE];

	if (op->nwants != 1 || op->place->market == PROVIDER_RESERVED)
		return err_set(e, ERR_INVALID, "create: one instance, on demand or spot");
	if (names_pack(name, &small_names, op->cluster, &op->wants[0], e) != 0)
		return -1;
	rest_open(c, NULL, '{');
	rest_text(c, "name", name);
	rest_text(c, "type", op->place->type);
	rest_text(c, "region", op->place->region);
	rest_flag(c, "spot", op->place->market == PROVIDER_SPOT);
	if (op->user_data != NULL)
		rest_base64(c, "script", op->user_data);
	rest_close(c, '}');
	return 0;
}

static inline int small_build(const void *self, const struct provider_op *op,
			      struct provider_request *out, struct err *e)
{
	struct rest_call c;
	int rc = 0;

	switch (op->kind) {
	case PROVIDER_CREATE:
		rest_begin(&c, self, "POST", "/v1/instances");
		rc = small_create(&c, &op->u.create, e);
		break;
	case PROVIDER_LIST:
		rest_begin(&c, self, "GET", "/v1/instances");
		rest_query_number(&c, "page", rest_page(op));
		break;
	case PROVIDER_DELETE:
		rest_begin(&c, self, "DELETE", "/v1/instances");
		rc = rest_delete_one(&c, op, "this cloud", e);
		break;
	case PROVIDER_QUOTES:
		rest_begin(&c, self, "GET", "/v1/types");
		break;
	default:
		return err_set(e, ERR_INVALID, "there is no such request");
	}
	return rest_finish(&c, rc, out, provider_op_str(op->kind), e);
}

/* --- replies -----------------------------------------------------------------------------------
 */

static inline void small_instance(const struct doc_at *o, struct provider_instance *i)
{
	doc_id(o, "id", i->id, sizeof(i->id));
	(void)doc_text_if(o, "ip", i->addr, sizeof(i->addr));
	i->created_ms = doc_time(o, "created_at");
	i->state = rest_state(small_states, sizeof(small_states) / sizeof(small_states[0]),
			      doc_word(o, "status"));
	i->taken = strcmp(doc_word(o, "status"), "preempted") == 0;
}

/* What was made must be what was asked for: else look at the list. */
static inline int small_created(const struct provider_create *c, const struct doc *d,
				struct provider_result *out)
{
	struct provider_instance *i;

	out->items = mem_zalloc(sizeof(*out->items));
	out->nitems = 1;
	i = &out->items[0].instance;
	if (names_unpack(&small_names, doc_word(&d->top, "name"), c->cluster, i) != NAMES_OURS ||
	    strcmp(i->node, c->wants[0].node) != 0 || i->gen != c->wants[0].gen)
		return -1;
	small_instance(&d->top, i);
	return 0;
}

static inline int small_list(const struct provider_op *op, const struct doc *d,
			     struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "instances", SMALL_PAGE_MAX);
	struct provider_instance who;

	for (size_t k = 0; k < list.n; k++) {
		struct doc_at o = doc_item(&list, k);

		who = (struct provider_instance){0};
		if (names_unpack(&small_names, doc_word(&o, "name"), op->u.list.cluster, &who) ==
		    NAMES_FOREIGN)
			continue; /* whatever it is, it cannot spoil our list */
		small_instance(&o, &who);
		*rest_add_instance(out) = who;
	}
	return rest_more_pages(op, out, (uint64_t)doc_int(&d->top, "pages") > rest_page(op));
}

static inline void small_quote(const struct doc_at *o, enum provider_market market,
			       struct provider_result *out)
{
	struct provider_quote *q = &out->quotes[out->nquotes++];

	doc_text(o, "name", q->type, sizeof(q->type));
	doc_text(o, "region", q->region, sizeof(q->region));
	q->market = market;
	q->price_nano_h = doc_money(o, market == PROVIDER_SPOT ? "spot_cents" : "cents", 100);
	memcpy(q->currency, "EUR", 4);
	q->cpus = (uint32_t)doc_int(o, "vcpus");
	q->gpus = (uint32_t)doc_int_if(o, "gpus");
	q->memory_mb = (uint64_t)doc_int_if(o, "memory_gib") * 1024;
}

static inline int small_quotes(const struct doc *d, struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "types", SMALL_TYPES_MAX);

	out->quotes = mem_zalloc((2 * list.n + 1) * sizeof(*out->quotes));
	for (size_t k = 0; k < list.n; k++) {
		struct doc_at o = doc_item(&list, k);

		small_quote(&o, PROVIDER_ON_DEMAND, out);
		if (doc_has(&o, "spot_cents"))
			small_quote(&o, PROVIDER_SPOT, out);
	}
	return 0;
}

static inline int small_read(const struct rest *r, const struct provider_op *op, struct doc *d,
			     struct provider_result *out)
{
	(void)r;
	switch (op->kind) {
	case PROVIDER_CREATE:
		return small_created(&op->u.create, d, out);
	case PROVIDER_LIST:
		return small_list(op, d, out);
	case PROVIDER_DELETE:
		rest_deleted(op, PROVIDER_OK, out);
		return 0;
	case PROVIDER_QUOTES:
		return small_quotes(d, out);
	default:
		return -1;
	}
}

static inline void small_parse(const void *self, const struct provider_op *op,
			       const struct provider_reply *reply, struct provider_result *out)
{
	rest_parse(self, op, reply, small_read, out);
}

static const struct provider_ops provider_small = {
	.name = "small",
	.open = small_open,
	.close = small_close,
	.caps = small_caps,
	.build = small_build,
	.parse = small_parse,
};

#endif
