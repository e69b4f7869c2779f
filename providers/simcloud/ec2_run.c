#include "providers/simcloud/ec2.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/fmt.h"
#include "base/mem.h"

/* --- list, delete ----------------------------------------------------------------------------- */

struct page {
	struct str s;
	const struct cloud *c;
	const struct fault_rule *rule;
	size_t n;
	int64_t limit, now;
	const struct order *last; /* order of the open reservation */
	bool open;
};

static void close_reservation(struct page *p)
{
	if (p->open)
		str_adds(&p->s, "</instancesSet></item>");
	p->open = false;
}

static void put_listed(void *ctx, const struct cloud_instance *i)
{
	struct page *p = ctx;
	const char *node = p->c->meter->rows[i->row].node;

	if (face_hides(p->rule, node, p->n++, (size_t)p->limit))
		return;
	if (!p->open || i->order == NULL || i->order != p->last) {
		close_reservation(p);
		str_addf(&p->s,
			 "\n<item><reservationId>r-%08x</reservationId><ownerId>000000000000"
			 "</ownerId><groupSet/><instancesSet>",
			 (unsigned)(i->order != NULL ? i->order->id : i->row));
		p->open = true;
		p->last = i->order;
	}
	ec2_put_instance(&p->s, p->c, i, p->now);
}

static void describe(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		     int64_t now, struct face_reply *out)
{
	struct page p = {.c = c, .rule = rule, .limit = f->limit, .now = now};
	struct cloud_query q = {.cluster = f->cluster,
				.region = f->region, /* EC2 has an endpoint per region */
				.after = f->after,
				.limit = f->limit,
				.now = now};
	char next[FACE_CURSOR_SIZE];
	int64_t row;

	ec2_begin(&p.s, "DescribeInstances");
	str_adds(&p.s, "<reservationSet>");
	row = cloud_list(c, &q, put_listed, &p);
	close_reservation(&p);
	str_adds(&p.s, "</reservationSet>");
	if (face_cursor(next, rule, row)[0] != '\0')
		xmlw_text(&p.s, "nextToken", next);
	ec2_end(&p.s, "DescribeInstances", out);
}

/* An instance of another region is unknown here. */
static bool known_here(const struct face_call *f, struct cloud *c, const char *id, int64_t now)
{
	const struct cloud_instance *i = cloud_find(c, id, now);

	return i != NULL && strcmp(i->pool->region, f->region) == 0;
}

bool ec2_all_known(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	struct str s;
	size_t n = 0;

	str_init(&s, EC2_BODY_MAX);
	for (size_t i = 0; i < f->n; i++)
		if (!known_here(f, c, f->ids[i], now))
			str_addf(&s, "%s%s", n++ > 0 ? ", " : "", f->ids[i]);
	if (n > 0) {
		struct str text;

		str_init(&text, EC2_BODY_MAX);
		str_addf(&text, "InvalidInstanceID.NotFound: The instance ID%s '%s' do%s not exist",
			 n > 1 ? "s" : "", s.p, n > 1 ? "" : "es");
		ec2_error(out, CODE_NOT_FOUND, text.p);
		out->items[CODE_NOT_FOUND] += n;
		str_fini(&text);
	}
	str_fini(&s);
	return n == 0;
}

static void terminate(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		      int64_t now, struct face_reply *out)
{
	struct str s;

	if (!ec2_all_known(f, c, now, out))
		return;
	ec2_begin(&s, "TerminateInstances");
	str_adds(&s, "<instancesSet>");
	for (size_t i = 0; i < f->n; i++) {
		const struct cloud_instance *in = cloud_find(c, f->ids[i], now);
		enum cloud_state before = cloud_shown(in, now);
		int64_t retry_ms;
		enum code code = face_left_out(rule, face_node(f, c, i), i, f->n)
					 ? rule->code
					 : cloud_delete(c, f->ids[i], now, &retry_ms);

		out->items[code]++;
		if (code != CODE_OK)
			continue; /* the reply leaves it out */
		str_adds(&s, "<item>");
		xmlw_text(&s, "instanceId", f->ids[i]);
		in = cloud_find(c, f->ids[i], now);
		ec2_put_state(&s, "currentState", in != NULL ? cloud_shown(in, now) : CLOUD_ENDED);
		ec2_put_state(&s, "previousState", before);
		str_adds(&s, "</item>");
	}
	str_adds(&s, "</instancesSet>");
	ec2_end(&s, "TerminateInstances", out);
}

static void report(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct cloud_instance *in = cloud_find(c, f->ids[0], now);
	struct str s;

	if (!ec2_all_known(f, c, now, out))
		return;
	if (cloud_shown(in, now) == CLOUD_PENDING ||
	    cloud_report(c, f->ids[0], f->reason, now) != CODE_OK) {
		ec2_error(out, CODE_INVALID, "IncorrectState: The instance is not running");
		return;
	}
	ec2_begin(&s, "ReportInstanceStatus");
	xmlw_text(&s, "return", "true");
	ec2_end(&s, "ReportInstanceStatus", out);
}

/* The answer without an output is that of an instance which has written nothing yet. */
static void console(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct cloud_instance *in = cloud_find(c, f->ids[0], now);
	char *log, *text, at[FMT_TIME_SIZE];
	struct str s;
	size_t n;

	if (!ec2_all_known(f, c, now, out))
		return;
	log = cloud_console(c, in, now);
	n = strlen(log);
	text = mem_zalloc((n + 2) / 3 * 4 + 1);
	(void)EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)log, (int)n);
	ec2_begin(&s, "GetConsoleOutput");
	xmlw_text(&s, "instanceId", f->ids[0]);
	xmlw_text(&s, "timestamp", fmt_time(at, now));
	if (text[0] != '\0')
		xmlw_text(&s, "output", text);
	ec2_end(&s, "GetConsoleOutput", out);
	free(text);
	free(log);
}

/* --- offers ----------------------------------------------------------------------------------- */

static bool asked_for(const struct face_call *f, const struct cloud_pool *p, enum market market)
{
	const struct ec2_call *x = f->own;

	if (!p->offered || p->market != market || strcmp(p->region, f->region) != 0)
		return false;
	for (size_t i = 0; i < x->ntypes; i++)
		if (strcmp(x->types[i], p->type) == 0)
			return true;
	return x->ntypes == 0;
}

static bool is_first(const struct face_call *f, const struct cloud *c, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (asked_for(f, c->pools[i], MARKET_ON_DEMAND) &&
		    strcmp(c->pools[i]->type, c->pools[at]->type) == 0)
			return false;
	return true;
}

static void describe_types(const struct face_call *f, const struct cloud *c, struct face_reply *out)
{
	struct str s;

	ec2_begin(&s, "DescribeInstanceTypes");
	str_adds(&s, "<instanceTypeSet>");
	for (size_t i = 0; i < c->npools; i++) {
		if (!asked_for(f, c->pools[i], MARKET_ON_DEMAND) || !is_first(f, c, i))
			continue;
		str_adds(&s, "<item>");
		xmlw_text(&s, "instanceType", c->pools[i]->type);
		str_adds(&s, "<supportedUsageClasses><item>on-demand</item><item>spot</item>"
			     "</supportedUsageClasses><vCpuInfo><defaultVCpus>4</defaultVCpus>"
			     "</vCpuInfo><memoryInfo><sizeInMiB>16384</sizeInMiB></memoryInfo>"
			     "</item>");
	}
	str_adds(&s, "</instanceTypeSet>");
	ec2_end(&s, "DescribeInstanceTypes", out);
}

static void put_price(struct str *s, const struct cloud *c, const struct cloud_pool *p,
		      int64_t at_ms, int64_t began_ms)
{
	char price[FMT_MONEY_SIZE], at[FMT_TIME_SIZE];

	str_adds(s, "<item>");
	xmlw_text(s, "instanceType", p->type);
	xmlw_text(s, "productDescription", "Linux/UNIX");
	xmlw_text(s, "spotPrice", fmt_money(price, cloud_price(c, p, at_ms)));
	xmlw_text(s, "timestamp", fmt_time(at, began_ms));
	xmlw_text(s, "availabilityZone", p->zone);
	str_adds(s, "</item>");
}

/* The prices of a pool since x->start_ms, the newest first, *left of them at most.  *at_ms: of the
 * first one; afterwards of the next one, 0: there is none. */
static void put_prices(struct str *s, const struct ec2_call *x, const struct cloud *c,
		       const struct cloud_pool *p, size_t *left, int64_t *at_ms)
{
	while (*left > 0 && *at_ms != 0) {
		int64_t began = cloud_price_began(c, p, *at_ms);
		bool last = x->start_ms == 0 || began <= x->start_ms || began <= c->start_ms;

		put_price(s, c, p, *at_ms, began);
		*at_ms = last ? 0 : began - 1;
		--*left;
	}
}

static void describe_prices(const struct face_call *f, const struct cloud *c, int64_t now,
			    struct face_reply *out)
{
	const struct ec2_call *x = f->own;
	int64_t at = x->from_ms != 0 && x->from_ms < now ? x->from_ms : now;
	size_t left = EC2_PRICES_MAX, i = x->from_pool;
	struct str s;

	ec2_begin(&s, "DescribeSpotPriceHistory");
	str_adds(&s, "<spotPriceHistorySet>");
	for (; i < c->npools; i++, at = now) {
		if (!asked_for(f, c->pools[i], MARKET_SPOT))
			continue;
		put_prices(&s, x, c, c->pools[i], &left, &at);
		if (at != 0)
			break;
	}
	str_adds(&s, "</spotPriceHistorySet>");
	if (i < c->npools)
		str_addf(&s, "<nextToken>p%zu,%lld</nextToken>", i, (long long)at);
	ec2_end(&s, "DescribeSpotPriceHistory", out);
}

void ec2_call_free(void *own)
{
	struct ec2_call *x = own;

	order_unref(x->order);
	order_unref(x->tags);
	userdata_unref(x->user_data);
	free(x);
}

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	const struct ec2_call *x = f->own;

	switch (x->action) {
	case EC2_RUN:
	case EC2_FLEET:
		ec2_create(f, c, rule, now, out);
		break;
	case EC2_DESCRIBE:
		describe(f, c, rule, now, out);
		break;
	case EC2_TERMINATE:
		terminate(f, c, rule, now, out);
		break;
	case EC2_TYPES:
		describe_types(f, c, out);
		break;
	case EC2_PRICES:
		describe_prices(f, c, now, out);
		break;
	case EC2_REPORT:
		report(f, c, now, out);
		break;
	case EC2_CONSOLE:
		console(f, c, now, out);
		break;
	case EC2_MAKE_GROUP:
	case EC2_LIST_GROUPS:
	case EC2_DROP_GROUP:
		ec2_run_group(f, c, out);
		break;
	case EC2_PATHS:
		ec2_run_paths(f, c, now, out);
		break;
	}
}

static enum code authorize(struct face_visit *v, struct err *e)
{
	return ec2_authorize(v, "ec2", e);
}

const struct face face_ec2 = {
	.name = "EC2",
	.type = "text/xml;charset=UTF-8",
	.is = ec2_is,
	.authorize = authorize,
	.parse = ec2_parse,
	.run = run,
	.error = ec2_error,
	.id_header = "x-amzn-RequestId",
	.id_prefix = "00000000-0000-4000-8000-",
	.free_own = ec2_call_free,
};
