#include "providers/aws_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

enum {
	TYPES_MAX = 200, /* types asked about: EC2's limit of a filter's values */
	TYPES_PAGE = 100,
	PRICES_PAGE = 1000, /* both are EC2's limits */
};

/* Offers take two calls: first the instance types, then their spot prices.  EC2's API has no
 * on-demand prices; those are in the pool (`price`).  Our cursor is "tTOKEN" for the first call and
 * "p" or "pTIME,TOKEN" for the second, with EC2's token.  TIME is the same in all pages, because
 * EC2's token is good only for the request that it was given for. */
static const char types_cursor = 't', prices_cursor = 'p';

static bool is_types(const char *cursor)
{
	return cursor[0] == '\0' || cursor[0] == types_cursor;
}

static const char *token_of(const char *cursor)
{
	const char *comma = cursor[0] == prices_cursor ? strchr(cursor, ',') : NULL;

	if (comma != NULL)
		return comma + 1;
	return cursor[0] == types_cursor ? cursor + 1 : "";
}

/* StartTime of the request for prices. */
static int64_t start_of(const struct provider_op *op)
{
	const char *cursor = provider_cursor(op);

	if (token_of(cursor)[0] != '\0')
		return strtoll(cursor + 1, NULL, 10);
	return op->u.quotes.since_ms != 0 ? op->u.quotes.since_ms : op->at_ms;
}

static bool is_again(const struct provider_op *op, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(op->u.quotes.types[k], op->u.quotes.types[i]) == 0)
			return true;
	return false;
}

/* Use a filter: an unknown type, asked for by name, would fail the call for all pools, not just its
 * own.  Pools may share a type. */
static void add_types(const struct provider_op *op, struct str *body)
{
	size_t n = 0;

	if (op->u.quotes.ntypes > 0)
		query_add(body, "instance-type", "Filter.1.Name");
	for (size_t i = 0; i < op->u.quotes.ntypes && n < TYPES_MAX; i++)
		if (!is_again(op, i))
			query_add(body, op->u.quotes.types[i], "Filter.1.Value.%zu", ++n);
}

static void build_types(const struct provider_op *op, struct str *body)
{
	query_begin(body, "DescribeInstanceTypes", AWS_EC2_VERSION);
	add_types(op, body);
	query_add_number(body, TYPES_PAGE, "MaxResults");
}

static void build_prices(const struct provider_op *op, struct str *body)
{
	char start[FMT_TIME_SIZE];

	query_begin(body, "DescribeSpotPriceHistory", AWS_EC2_VERSION);
	query_add(body, fmt_time(start, start_of(op)),
		  "StartTime"); /* and what was in force then */
	query_add(body, "Linux/UNIX", "ProductDescription.1");
	add_types(op, body);
	query_add_number(body, PRICES_PAGE, "MaxResults");
}

int aws_quotes_build(const struct provider_op *op, struct str *body, struct err *e)
{
	const char *cursor = provider_cursor(op);

	for (size_t i = 0; i < op->u.quotes.ntypes; i++)
		if (!aws_is_plain(op->u.quotes.types[i], PROVIDER_WORD_MAX))
			return err_set(e, ERR_INVALID, "quotes: not an instance type");
	if (is_types(cursor))
		build_types(op, body);
	else
		build_prices(op, body);
	query_add_given(body, token_of(cursor), "NextToken");
	return 0;
}

static void set_place(const struct aws *a, struct provider_quote *o)
{
	memcpy(o->region, a->region, strlen(a->region) + 1);
	memcpy(o->currency, AWS_CURRENCY, sizeof(AWS_CURRENCY));
}

static struct provider_quote *more(struct provider_result *out)
{
	if ((out->nquotes & (out->nquotes - 1)) == 0) /* a power of two is full */
		out->quotes =
			mem_realloc(out->quotes, (2 * out->nquotes + 1) * sizeof(*out->quotes));
	out->quotes[out->nquotes] = (struct provider_quote){0};
	return &out->quotes[out->nquotes++];
}

/* --- what the types are -----------------------------------------------------------------------
 */

/* A number of at most nine digits; 0: anything else. */
static uint32_t number(const struct xml_node *n, const char *name)
{
	const char *text = xml_text(n, name);

	return text[0] != '\0' && strlen(text) <= 9 && text[strspn(text, "0123456789")] == '\0'
		       ? (uint32_t)strtoul(text, NULL, 10)
		       : 0;
}

static bool is_on_demand(const struct xml_node *item)
{
	const struct xml_node *c = xml_child(xml_child(item, "supportedUsageClasses"), "item");

	while (c != NULL && strcmp(c->text, "on-demand") != 0)
		c = xml_again(c);
	return c != NULL;
}

/* "none" is said, too. */
static void read_efa(const struct xml_node *item, struct provider_terms *t)
{
	const char *efa = xml_text(xml_child(item, "networkInfo"), "efaSupported");

	if (strcmp(efa, "true") == 0)
		memcpy(t->interconnect, "efa", 4);
	else if (strcmp(efa, "false") == 0)
		memcpy(t->interconnect, "none", 5);
}

static int read_type(const struct aws *a, const struct xml_node *item, struct provider_result *out)
{
	const struct xml_node *gpu = xml_child(xml_child(item, "gpuInfo"), "gpus");
	struct provider_quote *o;

	if (!is_on_demand(item))
		return 0; /* spot only: its prices are the offer */
	o = more(out);
	set_place(a, o);
	o->cpus = number(xml_child(item, "vCpuInfo"), "defaultVCpus");
	o->memory_mb = number(xml_child(item, "memoryInfo"), "sizeInMiB");
	read_efa(item, &o->terms);
	for (gpu = xml_child(gpu, "item"); gpu != NULL; gpu = xml_again(gpu))
		o->gpus += number(gpu, "count");
	return xml_copy(item, "instanceType", o->type, sizeof(o->type)) == 1 ? 0 : -1;
}

/* --- what they cost ---------------------------------------------------------------------------
 */

static bool has_price(const struct provider_result *out, const struct provider_quote *o)
{
	for (size_t i = 0; i < out->nquotes; i++)
		if (strcmp(out->quotes[i].zone, o->zone) == 0 &&
		    strcmp(out->quotes[i].type, o->type) == 0)
			return true;
	return false;
}

/* Prices come newest first: without a past only the first of a type and zone counts. */
static int read_price(const struct aws *a, const struct xml_node *item, bool past,
		      struct provider_result *out)
{
	struct provider_quote o = {.market = PROVIDER_SPOT,
				   .valid_from_ms = aws_time_read(xml_text(item, "timestamp"))};

	if ((past && o.valid_from_ms <= 0) ||
	    xml_copy(item, "instanceType", o.type, sizeof(o.type)) != 1 ||
	    xml_copy(item, "availabilityZone", o.zone, sizeof(o.zone)) != 1 ||
	    fmt_money_parse(xml_text(item, "spotPrice"), &o.price_nano_h, NULL) != 0)
		return -1;
	if (!past && has_price(out, &o))
		return 0;
	set_place(a, &o);
	*more(out) = o;
	return 0;
}

/* Make our cursor of EC2's; prices follow the last page of types. */
static int turn_page(const struct xml_node *root, const struct provider_op *op,
		     struct provider_result *out)
{
	const char *next = xml_text(root, "nextToken"), *before = provider_cursor(op);
	char start[FMT_U64_SIZE];
	int n = 0;

	if (next[0] != '\0' && strcmp(next, token_of(before)) == 0)
		return -1;
	if (is_types(before) && next[0] != '\0')
		n = snprintf(out->cursor, sizeof(out->cursor), "%c%s", types_cursor, next);
	else if (is_types(before))
		n = snprintf(out->cursor, sizeof(out->cursor), "%c", prices_cursor);
	else if (next[0] != '\0')
		n = snprintf(out->cursor, sizeof(out->cursor), "%c%s,%s", prices_cursor,
			     fmt_i64(start, start_of(op)), next);
	return n >= 0 && (size_t)n < sizeof(out->cursor) ? 0 : -1;
}

int aws_quotes_parse(const struct aws *a, const struct provider_op *op,
		     const struct provider_reply *reply, struct provider_result *out)
{
	static const char *const types[] = {"DescribeInstanceTypesResponse",
					    "instanceTypeSet",
					    "item",
					    "instanceType",
					    "supportedUsageClasses",
					    "vCpuInfo",
					    "defaultVCpus",
					    "memoryInfo",
					    "sizeInMiB",
					    "gpuInfo",
					    "gpus",
					    "networkInfo",
					    "efaSupported",
					    "count",
					    "nextToken",
					    NULL};
	static const char *const prices[] = {"DescribeSpotPriceHistoryResponse",
					     "spotPriceHistorySet",
					     "item",
					     "instanceType",
					     "availabilityZone",
					     "spotPrice",
					     "timestamp",
					     "nextToken",
					     NULL};
	bool what = is_types(provider_cursor(op));
	const struct xml_node *set, *item;
	struct xml x;
	int rc = -1, n = 0;

	if (xml_parse(&x, what ? types : prices, reply->body, reply->len) != 0)
		return -1;
	set = xml_child(x.root, what ? "instanceTypeSet" : "spotPriceHistorySet");
	if (set != NULL)
		rc = turn_page(x.root, op, out);
	for (item = xml_child(set, "item"); item != NULL && rc == 0; item = xml_again(item)) {
		if (++n > PRICES_PAGE) /* no page of either is as long */
			rc = -1;
		else
			rc = what ? read_type(a, item, out)
				  : read_price(a, item, op->u.quotes.since_ms != 0, out);
	}
	xml_fini(&x);
	return rc;
}
