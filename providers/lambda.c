/* lambda.c - Lambda Cloud, by its published API description, version 1.10.0:
 * https://docs.lambda.ai/api/cloud (OpenAPI), from which all of this is, unless it says otherwise.
 *
 *	POST /api/v1/instance-operations/launch     one instance, in 12 s; repeated: another
 *	GET  /api/v1/instances                      all of the account, unfiltered, one page
 *	POST /api/v1/instance-operations/terminate  many; no 404 or 409 says which id
 *	GET  /api/v1/instance-types                 prices, the same everywhere; where one is free
 *
 * Who an instance is, its tags say, and its name again; it has both from its launch on. */
#include "providers/lambda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/secret.h"
#include "providers/common/names.h"
#include "providers/common/rest.h"
#include "providers/common/words.h"
#include "providers/lambda_remove.h"

enum {
	NAME_MAX_BYTES = 64,
	HOSTNAME_MAX = 63,
	USER_DATA_MAX = 1000000, /* "cannot exceed 1MB" */
	KEY_MAX = 64,
	INSTANCES_MAX = 20000, /* one page: at a launch in 12 s nobody has so many */
	TAGS_MAX = 200,
	TYPES_MAX = 1000,
	REGIONS_MAX = 200,
};

#define TAG_CLUSTER "burstd-cluster"
#define TAG_NODE    "burstd-node"
#define TAG_GEN     "burstd-generation"

/* Launches are "limited to one request per 12 seconds, or five requests per minute", and "requests
 * to the API are generally limited to one request per second".  A tenth of a second more, since two
 * requests may arrive closer to each other than they were sent. */
static const struct provider_limit limits[PROVIDER_NOPS] = {
	[PROVIDER_CREATE] = {.requests = {1, 1, 12100}},
};
static const struct provider_bucket together = {1, 1, 1100};

/* Codes of "provider/" are of those behind Lambda ("network outages", "resource exhaustion"): they
 * do not say that nothing happened.  The object that does not exist is the instance of a terminate,
 * but the type, region, key or image of a launch; any other 404 is about the path. */
static const struct rest_row errors[] = {
	{.code = "instance-operations/launch/insufficient-capacity", .means = PROVIDER_CAPACITY},
	{.code = "global/quota-exceeded", .means = PROVIDER_QUOTA},
	{.code = "global/account-inactive", .means = PROVIDER_DENIED},
	{.code = "global/invalid-address", .means = PROVIDER_DENIED}, /* of the invoice */
	{.code = "global/invalid-api-key", .means = PROVIDER_DENIED},
	{.code = "global/forbidden", .means = PROVIDER_DENIED},
	{.code = "global/internal-error", .means = PROVIDER_AMBIGUOUS},
	{.code = "provider/", .means = PROVIDER_AMBIGUOUS},
	{.ops = REST_OP(PROVIDER_DELETE),
	 .code = "global/object-does-not-exist",
	 .means = PROVIDER_NOT_FOUND},
	{.status = 404, .means = PROVIDER_INVALID},
};

static const struct rest_api api = {
	.auth = REST_BEARER,
	.error_code = "error.code",
	.error_message = "error.message",
	.shows_code = true,
	.rows = errors,
	.nrows = sizeof(errors) / sizeof(errors[0]),
};

/* A name may be any text of 64 characters. */
static const struct provider_names form = {.max = NAME_MAX_BYTES, .upper = true, .also = "_."};

/* An unhealthy one is there, bills, and may recover: burstd's own checks decide.  That a preempted
 * one bills no more is said nowhere: it is deleted, and gone when no list has it. */
static const struct rest_state states[] = {
	{"booting", PROVIDER_PENDING},      {"active", PROVIDER_RUNNING},
	{"unhealthy", PROVIDER_RUNNING},    {"preempted", PROVIDER_STOPPING},
	{"terminating", PROVIDER_STOPPING}, {"terminated", PROVIDER_ENDED},
};

struct lambda {
	struct rest rest; /* the first, so that it is this */
	char *ssh_key, *image, *firewall_rulesets, *file_systems;
	char *user_data; /* a secret may be in it */
	const char *address;
};

/* --- open, close ------------------------------------------------------------------------------ */

static void lambda_close(void *self)
{
	struct lambda *l = self;

	if (l == NULL)
		return;
	rest_fini(&l->rest);
	secret_wipe(&l->user_data);
	free(l->ssh_key);
	free(l->image);
	free(l->firewall_rulesets);
	free(l->file_systems);
	free(l);
}

static char *copy(const char *text)
{
	return mem_strdup(text != NULL ? text : "");
}

static int set_options(struct lambda *l, const struct lambda_options *o, struct err *e)
{
	const char *address = o->address != NULL ? o->address : "public";

	l->ssh_key = copy(o->ssh_key);
	l->image = copy(o->image);
	l->firewall_rulesets = copy(o->firewall_rulesets);
	l->file_systems = copy(o->file_systems);
	l->address = strcmp(address, "private") == 0 ? "private_ip" : "ip";
	if (strcmp(address, "private") != 0 && strcmp(address, "public") != 0)
		return err_set(e, ERR_INVALID, "address: want public or private");
	if (l->ssh_key[0] == '\0' || strlen(l->ssh_key) > KEY_MAX)
		return err_set(
			e, ERR_INVALID,
			"want ssh_key, the name of an SSH key of the account: Lambda launches "
			"nothing without");
	return 0;
}

static int set_user_data(struct lambda *l, const char *text, struct err *e)
{
	if (text == NULL || text[0] == '\0')
		return 0;
	if (strlen(text) > USER_DATA_MAX)
		return err_set(e, ERR_LIMIT,
			       "user_data_file: it has %zu bytes, and Lambda takes at most %d",
			       strlen(text), USER_DATA_MAX);
	l->user_data = mem_strdup(text);
	return 0;
}

static int lambda_open(void **self, const struct provider_conf *conf, struct err *e)
{
	static const struct lambda_options none;
	struct provider_conf at = *conf;
	struct lambda *l = mem_zalloc(sizeof(*l));

	*self = NULL;
	if (at.url == NULL || at.url[0] == '\0')
		at.url = "https://cloud.lambda.ai";
	if (rest_init(&l->rest, &api, &at, e) != 0) {
		free(l);
		return -1;
	}
	if (set_options(l, conf->options != NULL ? conf->options : &none, e) != 0 ||
	    set_user_data(l, conf->user_data, e) != 0) {
		lambda_close(l);
		return -1;
	}
	*self = l;
	return 0;
}

static struct provider_caps lambda_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){.flags = PROVIDER_TAGS | PROVIDER_IMAGES,
				      .names = &form,
				      .create_max = 1,
				      .delete_max = LAMBDA_REMOVE_MAX,
				      .limits = limits,
				      .together = together};
}

/* "Billed in increments of one minute", and without a minimum
 * (docs.lambda.ai/public-cloud/billing). */
static struct provider_terms lambda_terms(const void *self, const struct provider_place *place)
{
	const struct lambda *l = self;

	(void)place;
	return (struct provider_terms){.quantum_ms = 60000,
				       .minimum_ms = PROVIDER_NO_MINIMUM,
				       .data = PROVIDER_DATA_ANY,
				       .data_max = USER_DATA_MAX,
				       .own_image = l->image[0] != '\0'};
}

/* --- launch ----------------------------------------------------------------------------------- */

static void add_tag(struct rest_call *c, const char *key, const char *value)
{
	rest_open(c, NULL, '{');
	rest_text(c, "key", key);
	rest_text(c, "value", value);
	rest_close(c, '}');
}

/* The list "A,B" under key, each as it is, or as {"id": ...}; nothing if it is empty. */
static void add_list(struct rest_call *c, const char *key, const char *text, bool ids)
{
	if (text[0] == '\0')
		return;
	rest_open(c, key, '[');
	while (text[0] != '\0') {
		size_t n = strcspn(text, ",");
		char *one = mem_strdup(text);

		one[n] = '\0';
		if (ids)
			rest_open(c, NULL, '{');
		rest_text(c, ids ? "id" : NULL, one);
		if (ids)
			rest_close(c, '}');
		free(one);
		text += n + (text[n] == ',');
	}
	rest_close(c, ']');
}

/* Ids of images are 32 hexadecimal digits, with or without dashes. */
static void add_image(struct rest_call *c, const char *image)
{
	size_t digits = 0, n = strspn(image, "0123456789abcdef-");

	if (image[0] == '\0')
		return;
	for (const char *p = image; *p != '\0'; p++)
		digits += *p != '-';
	rest_open(c, "image", '{');
	rest_text(c, image[n] == '\0' && digits == 32 ? "id" : "family", image);
	rest_close(c, '}');
}

/* Such a node is also the machine's host name. */
static bool is_hostname(const char *node)
{
	return node[0] != '-' && strlen(node) <= HOSTNAME_MAX &&
	       node[strspn(node, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static void add_user_data(struct rest_call *c, const struct lambda *l, const char *own)
{
	const char *text = own != NULL ? own : l->user_data;

	c->bad = c->bad || (text != NULL && strlen(text) > USER_DATA_MAX);
	if (text != NULL)
		rest_text(c, "user_data", text);
}

static int build_launch(const struct lambda *l, struct rest_call *c,
			const struct provider_create *op, struct err *e)
{
	const struct provider_want *want = &op->wants[0];
	char name[NAMES_SIZE], gen[FMT_U64_SIZE];

	if (op->nwants != 1 || op->place->market != PROVIDER_ON_DEMAND)
		return err_set(e, ERR_INVALID,
			       "create: Lambda sells one instance a call, on demand");
	if (provider_in_fabric(op->place))
		return err_set(e, ERR_INVALID, "create: Lambda puts no instance into a fabric");
	if (names_pack(name, &form, op->cluster, want, e) != 0)
		return -1;
	rest_open(c, NULL, '{');
	rest_text(c, "region_name", op->place->region);
	rest_text(c, "instance_type_name", op->place->type);
	add_list(c, "ssh_key_names", l->ssh_key, false);
	rest_text(c, "name", name);
	if (is_hostname(want->node))
		rest_text(c, "hostname", want->node);
	add_image(c, provider_image(op->place, l->image));
	add_user_data(c, l, op->user_data);
	add_list(c, "file_system_names", l->file_systems, false);
	add_list(c, "firewall_rulesets", l->firewall_rulesets, true);
	rest_open(c, "tags", '[');
	add_tag(c, TAG_CLUSTER, op->cluster);
	add_tag(c, TAG_NODE, want->node);
	add_tag(c, TAG_GEN, fmt_u64(gen, want->gen));
	rest_close(c, ']');
	rest_close(c, '}');
	return 0;
}

static int read_launched(const struct provider_create *c, struct doc *d,
			 struct provider_result *out)
{
	struct doc_at ids = doc_list(&d->top, "data.instance_ids", 1), id = doc_item(&ids, 0);
	struct provider_instance *i = rest_created(c, out);

	doc_id(&id, NULL, i->id, sizeof(i->id));
	return 0;
}

/* --- list ------------------------------------------------------------------------------------- */

struct tags {
	const char *cluster, *node, *gen;
};

/* The tags of an instance, which may be anybody's: what is odd in them is no error. */
static struct tags tags_of(const struct doc_at *o)
{
	struct doc_at list = doc_list(o, "tags", TAGS_MAX);
	struct tags t = {"", "", ""};

	for (size_t k = 0; k < list.n; k++) {
		struct doc_at tag = doc_item(&list, k);
		const char *key = doc_word(&tag, "key"), *value = doc_word(&tag, "value");

		if (strcmp(key, TAG_CLUSTER) == 0)
			t.cluster = value;
		else if (strcmp(key, TAG_NODE) == 0)
			t.node = value;
		else if (strcmp(key, TAG_GEN) == 0)
			t.gen = value;
	}
	(void)doc_forgive(o->doc);
	return t;
}

/* 0: it is none that a launch has written. */
static uint64_t gen_of(const char *text)
{
	uint64_t gen = strtoull(text, NULL, 10);
	char again[FMT_U64_SIZE];

	return gen <= INT64_MAX && strcmp(fmt_u64(again, gen), text) == 0 ? gen : 0;
}

/* Who is it?  The name tells if the tags do not; both may be changed by people. */
static bool is_ours(const struct doc_at *o, const char *cluster, struct provider_instance *i)
{
	struct tags t = tags_of(o);
	bool tagged = strcmp(t.cluster, cluster) == 0;

	if (!tagged && t.cluster[0] != '\0')
		return false;
	if (tagged && gen_of(t.gen) != 0 && hostlist_is_name(t.node)) {
		(void)snprintf(i->node, sizeof(i->node), "%s", t.node);
		i->gen = gen_of(t.gen);
	} else if (names_unpack(&form, doc_word(o, "name"), cluster, i) == NAMES_FOREIGN &&
		   !tagged) {
		return false;
	}
	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", cluster);
	return true;
}

static void read_instance(const struct lambda *l, const struct doc_at *o,
			  struct provider_instance *i)
{
	const char *status = doc_word(o, "status");

	doc_id(o, "id", i->id, sizeof(i->id));
	(void)doc_text_if(o, l->address, i->addr, sizeof(i->addr));
	i->state = rest_state(states, sizeof(states) / sizeof(states[0]), status);
	i->taken = strcmp(status, "preempted") == 0;
}

/* There are no pages.  If some day there are, half a list must not be taken for a whole one. */
static int read_list(const struct lambda *l, const struct provider_op *op, struct doc *d,
		     struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "data", INSTANCES_MAX);

	if (doc_has(&d->top, "page_token"))
		doc_wrong(&d->top, "page_token", "all instances at once");
	for (size_t k = 0; k < list.n && doc_good(d); k++) {
		struct doc_at o = doc_item(&list, k);
		struct provider_instance who = {0};

		if (!is_ours(&o, op->u.list.cluster, &who))
			continue;
		read_instance(l, &o, &who);
		*rest_add_instance(out) = who;
	}
	return rest_more(op, out, "");
}

/* --- prices ----------------------------------------------------------------------------------- */

/* What a type costs, and is; it is the same everywhere. */
static void read_type(const struct doc_at *o, struct provider_quote *q)
{
	doc_text(o, "instance_type.name", q->type, sizeof(q->type));
	q->market = PROVIDER_ON_DEMAND;
	q->price_nano_h = doc_money(o, "instance_type.price_cents_per_hour", 100);
	memcpy(q->currency, "USD", 4);
	q->cpus = (uint32_t)doc_int(o, "instance_type.specs.vcpus");
	q->gpus = (uint32_t)doc_int(o, "instance_type.specs.gpus");
	q->memory_mb = (uint64_t)doc_int(o, "instance_type.specs.memory_gib") * 1024;
}

/* One quote for all regions, in which there is none, and one for each in which there are some. */
static void add_quotes(const struct doc_at *item, struct provider_result *out)
{
	struct doc_at free_in = doc_list(item, "regions_with_capacity_available", REGIONS_MAX);
	struct provider_quote q = {.terms.stock = PROVIDER_STOCK_NONE};

	read_type(item, &q);
	out->quotes =
		mem_realloc(out->quotes, (out->nquotes + 1 + free_in.n) * sizeof(*out->quotes));
	out->quotes[out->nquotes++] = q;
	q.terms.stock = PROVIDER_STOCK_SOME;
	for (size_t k = 0; k < free_in.n; k++) {
		struct doc_at region = doc_item(&free_in, k);

		doc_text(&region, "name", q.region, sizeof(q.region));
		out->quotes[out->nquotes++] = q;
	}
}

static int read_quotes(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	struct doc_at list = doc_values(&d->top, "data", TYPES_MAX);

	for (size_t k = 0; k < list.n; k++) {
		struct doc_at item = doc_item(&list, k);

		if (rest_wants_type(op, doc_word(&item, "instance_type.name")))
			add_quotes(&item, out);
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

static int lambda_build(const void *self, const struct provider_op *op,
			struct provider_request *out, struct err *e)
{
	const struct lambda *l = self;
	struct rest_call c;
	int rc = 0;

	switch (op->kind) {
	case PROVIDER_CREATE:
		rest_begin(&c, &l->rest, "POST", "/api/v1/instance-operations/launch");
		rc = build_launch(l, &c, &op->u.create, e);
		break;
	case PROVIDER_LIST:
		rest_begin(&c, &l->rest, "GET", "/api/v1/instances");
		break;
	case PROVIDER_DELETE:
		rest_begin(&c, &l->rest, "POST", "/api/v1/instance-operations/terminate");
		rc = lambda_remove_build(&c, op, e);
		break;
	case PROVIDER_QUOTES:
		rest_begin(&c, &l->rest, "GET", "/api/v1/instance-types");
		break;
	default:
		return err_set(e, ERR_INVALID, "there is no such request");
	}
	return rest_finish(&c, rc, out, provider_op_str(op->kind), e);
}

static int read_reply(const struct rest *r, const struct provider_op *op, struct doc *d,
		      struct provider_result *out)
{
	const struct lambda *l = (const struct lambda *)(const void *)r;

	switch (op->kind) {
	case PROVIDER_CREATE:
		return read_launched(&op->u.create, d, out);
	case PROVIDER_LIST:
		return read_list(l, op, d, out);
	case PROVIDER_QUOTES:
		return read_quotes(op, d, out);
	default:
		return -1;
	}
}

static void lambda_parse(const void *self, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out)
{
	const struct lambda *l = self;

	if (op->kind == PROVIDER_DELETE)
		lambda_remove_parse(&l->rest, op, reply, out);
	else
		rest_parse(&l->rest, op, reply, read_reply, out);
}

const struct provider_ops provider_lambda = {
	.name = "lambda",
	.options = &lambda_options,
	.open = lambda_open,
	.close = lambda_close,
	.caps = lambda_caps,
	.terms = lambda_terms,
	.build = lambda_build,
	.parse = lambda_parse,
};
