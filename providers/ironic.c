#include "providers/ironic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/secret.h"
#include "providers/ironic_private.h"

enum { TOKEN_MS = 3600000 }; /* a name is known as long as its allocation is there */

/* Ironic has no quota and no throttle of its own; what is before it may have both. */
static const struct rest_row errors[] = {
	/* Set while the allocation was made: another machine may do. */
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 400,
	 .says = "in maintenance mode",
	 .means = PROVIDER_CAPACITY},
	/* It was available a moment ago. */
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 400,
	 .says = "can not be performed on node",
	 .means = PROVIDER_NOT_YET},
	/* What burstd asked to be deployed is wrong, on any machine ... */
	{.ops = REST_OP(PROVIDER_CREATE), .status = 400, .says = "mage", .means = PROVIDER_INVALID},
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 400,
	 .says = "instance_info",
	 .means = PROVIDER_INVALID},
	/* ... and all else that keeps a machine from being deployed is of that machine: its BMC,
	 * driver_info, properties. */
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 400,
	 .says = "Failed to validate deploy or power info",
	 .means = PROVIDER_CAPACITY},
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 400,
	 .says = "boot mode is not allowed",
	 .means = PROVIDER_CAPACITY},
	{.ops = REST_OP(PROVIDER_CREATE), .status = 404, .means = PROVIDER_INVALID},
};

static const char *const headers[] = {"X-OpenStack-Ironic-API-Version: 1.56", NULL};

static const struct rest_api api = {
	.auth = REST_BASIC,
	.open = true, /* auth_strategy = noauth */
	.headers = headers,
	.error_message = "message", /* unwrap() */
	.request_id = "X-OpenStack-Request-ID",
	.rows = errors,
	.nrows = sizeof(errors) / sizeof(errors[0]),
};

const struct rest_api ironic_token_api = {
	.auth = REST_HEADER,
	.auth_header = "X-Auth-Token",
	.open = true,
	.headers = headers,
	.error_message = "message",
	.request_id = "X-OpenStack-Request-ID",
	.rows = errors,
	.nrows = sizeof(errors) / sizeof(errors[0]),
};

/* --- open, close ------------------------------------------------------------------------------ */

static void ironic_close(void *self)
{
	struct ironic *i = self;

	if (i == NULL)
		return;
	ironic_login_close(i);
	rest_fini(&i->rest);
	secret_wipe(&i->user_data);
	free(i->image);
	free(i->image_checksum);
	free(i->kernel);
	free(i->ramdisk);
	free(i->traits);
	free(i->address);
	free(i);
}

static char *copy(const char *text)
{
	return mem_strdup(text != NULL ? text : "");
}

/* "name", or "extra.KEY", "properties.KEY". */
static bool is_address(const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_.-";
	const char *key = strchr(text, '.');

	if (strcmp(text, "name") == 0)
		return true;
	return key != NULL && key[1] != '\0' && key[strspn(key, good)] == '\0' &&
	       strlen(text) < DOC_KEY_MAX &&
	       (strncmp(text, "extra.", 6) == 0 || strncmp(text, "properties.", 11) == 0);
}

static int set_options(struct ironic *i, const struct ironic_options *o, struct err *e)
{
	i->image = copy(o->image);
	i->image_checksum = copy(o->image_checksum);
	i->kernel = copy(o->kernel);
	i->ramdisk = copy(o->ramdisk);
	i->traits = copy(o->traits);
	i->address = copy(o->address != NULL && o->address[0] != '\0' ? o->address : "name");
	if (!is_address(i->address))
		return err_set(e, ERR_INVALID, "address: want name, extra.KEY or properties.KEY");
	if (!ironic_traits_good(i->traits))
		return err_set(e, ERR_INVALID,
			       "traits: want names such as CUSTOM_RACK_3,HW_GPU_API_VULKAN");
	return 0;
}

static int ironic_open(void **self, const struct provider_conf *conf, struct err *e)
{
	static const struct ironic_options none;
	const struct ironic_options *o = conf->options != NULL ? conf->options : &none;
	struct ironic *i = mem_zalloc(sizeof(*i));
	int rc;

	*self = NULL;
	ironic_who_copy(&i->who, o);
	i->by_keystone = ironic_wants_login(o);
	rc = i->by_keystone ? ironic_login_open(i, conf, e) : rest_init(&i->rest, &api, conf, e);
	if (rc != 0 || set_options(i, o, e) != 0) {
		ironic_close(i);
		return -1;
	}
	if (conf->user_data != NULL && conf->user_data[0] != '\0')
		i->user_data = mem_strdup(conf->user_data);
	*self = i;
	return 0;
}

static struct provider_caps ironic_caps(const void *self)
{
	const struct ironic *i = self;

	return (struct provider_caps){
		.flags = PROVIDER_TOKENS | PROVIDER_TAGS,
		.region = i->by_keystone && i->who.region[0] != '\0' ? i->who.region : NULL,
		.create_max = 1,
		.delete_max = 1,
		.token_ms = TOKEN_MS,
		.names = &ironic_form};
}

/* User-data is in the config drive, whose size deploy interfaces limit, each in its way. */
static struct provider_terms ironic_terms(const void *self, const struct provider_place *place)
{
	(void)self;
	(void)place;
	return (struct provider_terms){.data = PROVIDER_DATA_ANY, .own_image = true};
}

/* --- quotes: is there a machine of each class?  What it costs nobody says. ---------------------
 */

/* The number of the type that is asked for. */
static int quotes_build(const struct ironic *i, const struct provider_op *op, struct rest_call *c,
			struct err *e)
{
	size_t k = (size_t)rest_page(op) - 1;

	if (k > 0 && k >= op->u.quotes.ntypes)
		return err_set(e, ERR_INVALID, "quotes: unknown cursor");
	rest_begin(c, &i->rest, "GET", "/v1/nodes");
	if (op->u.quotes.ntypes > 0)
		rest_query(c, "resource_class", op->u.quotes.types[k]);
	rest_query(c, "fields", "resource_class");
	rest_query_number(c, "limit", 1);
	return 0;
}

static int quotes_read(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "nodes", 1);
	struct doc_at o = doc_item(&list, 0);
	bool wanted = list.n == 1 && op->u.quotes.ntypes > 0;

	out->quotes = mem_zalloc(sizeof(*out->quotes));
	if (wanted && doc_has(&o, "resource_class")) {
		out->nquotes = 1;
		doc_text(&o, "resource_class", out->quotes[0].type, sizeof(out->quotes[0].type));
		out->quotes[0].market = PROVIDER_ON_DEMAND;
	}
	return rest_more_pages(op, out, rest_page(op) < op->u.quotes.ntypes);
}

/* ---------------------------------------------------------------------------------------------- */

static int begin(const struct ironic *i, const struct provider_op *op, struct rest_call *c,
		 struct err *e)
{
	switch (op->kind) {
	case PROVIDER_CREATE:
		return ironic_create_build(i, op, c, e);
	case PROVIDER_LIST:
		return ironic_list_build(i, op, c, e);
	case PROVIDER_DELETE:
		return ironic_remove_build(i, op, c, e);
	case PROVIDER_QUOTES:
		return quotes_build(i, op, c, e);
	default:
		return err_set(e, ERR_INVALID, "there is no such request");
	}
}

static int ironic_build(const void *self, const struct provider_op *op,
			struct provider_request *out, struct err *e)
{
	const struct ironic *i = self;
	struct rest_call c;

	if (op->kind == PROVIDER_LOGIN && i->by_keystone)
		return ironic_login_build(i, out, e);
	if (begin(i, op, &c, e) != 0)
		return -1;
	return rest_end(&c, out, provider_op_str(op->kind), e);
}

static int read_reply(const struct rest *r, const struct provider_op *op, struct doc *d,
		      struct provider_result *out)
{
	const struct ironic *i = (const struct ironic *)(const void *)r;

	if (op->kind == PROVIDER_LIST)
		return ironic_list_read(i, op, d, out);
	return op->kind == PROVIDER_QUOTES ? quotes_read(op, d, out) : -1;
}

/* The words of an error: {"error_message": TEXT}, where TEXT is JSON again, of Ironic
 * ("faultstring") or of the framework below it ("description"); {"error": {"message": ...}} of
 * http_basic. */
static const char *words_of(const struct doc *d, struct doc *inner)
{
	const char *text = doc_word(&d->top, "error_message"), *words;

	if (text[0] == '\0')
		return doc_word(&d->top, "error.message");
	if (!doc_load(inner, text, strlen(text)))
		return text;
	words = doc_word(&inner->top, "faultstring");
	return words[0] != '\0' ? words : doc_word(&inner->top, "description");
}

/* A refusal in the form that rest.h reads; the caller's. */
static char *unwrap(const struct provider_reply *reply)
{
	struct doc d, inner = {0};
	json_t *plain;
	char *text;

	(void)doc_load(&d, reply->body, reply->len);
	plain = mem_check(json_pack("{s:s}", "message", words_of(&d, &inner)));
	text = mem_check(json_dumps(plain, JSON_COMPACT));
	json_decref(plain);
	doc_fini(&inner);
	doc_fini(&d);
	return text;
}

static void parse_plain(const struct ironic *i, const struct provider_op *op,
			const struct provider_reply *reply, struct provider_result *out)
{
	if (op->kind == PROVIDER_CREATE)
		ironic_create_parse(i, op, reply, out);
	else if (op->kind == PROVIDER_DELETE)
		ironic_remove_parse(i, op, reply, out);
	else
		rest_parse(&i->rest, op, reply, read_reply, out);
}

static void ironic_parse(const void *self, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out)
{
	struct provider_reply plain = *reply;
	char *text;

	if (op->kind == PROVIDER_LOGIN) {
		ironic_login_parse(self, op, reply, out);
		return;
	}
	if (rest_succeeded(reply)) {
		parse_plain(self, op, reply, out);
		return;
	}
	plain.body = text = unwrap(reply);
	plain.len = strlen(text);
	parse_plain(self, op, &plain, out);
	secret_wipe(&text);
}

const struct provider_ops provider_ironic = {
	.name = "ironic",
	.options = &ironic_options,
	.open = ironic_open,
	.close = ironic_close,
	.caps = ironic_caps,
	.terms = ironic_terms,
	.request_id = rest_request_id,
	.build = ironic_build,
	.parse = ironic_parse,
	.good_until = ironic_good_until,
	.renew = ironic_renew,
};
