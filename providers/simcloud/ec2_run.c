#include "providers/simcloud/ec2.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

/* --- one instance ----------------------------------------------------------------------------- */

static void put_state(struct str *s, const char *name, enum cloud_state state)
{
	static const struct {
		int code;
		const char *word;
	} states[] = {
		[CLOUD_PENDING] = {0, "pending"},         [CLOUD_RUNNING] = {16, "running"},
		[CLOUD_RECLAIMING] = {16, "running"}, /* only the instance itself is told */
		[CLOUD_STOPPING] = {32, "shutting-down"}, [CLOUD_ENDED] = {48, "terminated"},
	};

	str_addf(s, "<%s>", name);
	xmlw_int(s, "code", states[state].code);
	xmlw_text(s, "name", states[state].word);
	str_addf(s, "</%s>", name);
}

static void put_tag(struct str *s, const char *key, const char *value)
{
	str_adds(s, "<item>");
	xmlw_text(s, "key", key);
	xmlw_text(s, "value", value);
	str_adds(s, "</item>");
}

/* One that was made by the neutral API is shown with the tags that say the same. */
static void put_tags(struct str *s, const struct cloud *c, const struct cloud_instance *i)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	char gen[FMT_U64_SIZE];

	str_adds(s, "<tagSet>");
	for (size_t k = 0; i->order != NULL && k < i->order->ntags; k++)
		put_tag(s, i->order->tags[k].key, i->order->tags[k].value);
	if (i->order == NULL) {
		put_tag(s, "burstd-cluster", row->cluster);
		put_tag(s, "burstd-node", row->node);
		put_tag(s, "burstd-generation", fmt_u64(gen, row->gen));
	}
	str_adds(s, "</tagSet>");
}

/* "User initiated (2026-01-02 03:04:05 GMT)" */
static void put_reason(struct str *s, const struct cloud_instance *i, int64_t end_ms)
{
	bool taken = i->why != NULL && strcmp(i->why, "reclaimed") == 0;
	char at[FMT_TIME_SIZE], text[96];

	(void)fmt_time(at, end_ms);
	(void)snprintf(text, sizeof(text), "%s (%.10s %.8s GMT)",
		       taken ? "Server.SpotInstanceTermination" : "User initiated", at, at + 11);
	xmlw_text(s, "reason", text);
	str_adds(s, "<stateReason>");
	xmlw_text(s, "code",
		  taken ? "Server.SpotInstanceTermination" : "Client.UserInitiatedShutdown");
	str_adds(s, "</stateReason>");
}

static void put_place(struct str *s, const struct meter_row *row, const char *group)
{
	str_adds(s, "<placement>");
	xmlw_text(s, "availabilityZone", row->zone);
	xmlw_text(s, "groupName", group != NULL ? group : "");
	str_adds(s, "<tenancy>default</tenancy></placement>"
		    "<monitoring><state>disabled</state></monitoring><subnetId>subnet-");
	str_addf(s, "%s</subnetId><vpcId>vpc-0</vpcId>", row->zone);
}

/* The network interface has an address too, one level down. */
static void put_address(struct str *s, const struct cloud_instance *i)
{
	char text[ADDR_TEXT_SIZE];

	(void)addr_text(text, i->addr);
	xmlw_text(s, "privateIpAddress", text);
	str_adds(s, "<networkInterfaceSet><item><networkInterfaceId>eni-0</networkInterfaceId>"
		    "<status>in-use</status>");
	xmlw_text(s, "privateIpAddress", text);
	str_adds(s, "</item></networkInterfaceSet>");
}

static void put_instance(struct str *s, const struct cloud *c, const struct cloud_instance *i,
			 int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	enum cloud_state shown = cloud_shown(i, now);
	char id[METER_ID_SIZE], at[FMT_TIME_SIZE];

	str_adds(s, "\n<item>");
	xmlw_text(s, "instanceId", meter_id(id, i->row));
	xmlw_text(s, "imageId", "ami-0");
	put_state(s, "instanceState", shown);
	xmlw_int(s, "amiLaunchIndex", i->order != NULL ? (long long)i->index : 0);
	str_adds(s, "<productCodes/>");
	xmlw_text(s, "instanceType", row->type);
	xmlw_text(s, "launchTime", fmt_time(at, row->start_ms));
	put_place(s, row, i->fabric);
	if (now >= i->address_at && shown != CLOUD_ENDED)
		put_address(s, i);
	if (shown == CLOUD_ENDED)
		put_reason(s, i, row->end_ms);
	if (row->market == MARKET_SPOT)
		xmlw_text(s, "instanceLifecycle", "spot");
	if (i->order != NULL)
		xmlw_text(s, "clientToken", i->order->token);
	put_tags(s, c, i);
	str_adds(s, "</item>");
}

/* --- create ----------------------------------------------------------------------------------- */

struct making {
	const struct face_call *f;
	struct cloud *c;
	const struct fault_rule *rule;
	int64_t now;
	struct face_reply *out;
	int32_t *rows; /* of f->n, what was made */
	size_t n;
	enum code why[EC2_CHOICES_MAX]; /* each choice gave nothing; CODE_OK: it was taken, or not
					   tried */
	const struct ec2_choice *taken;
};

/* The answer to a token that was seen before.  false: it was not. */
static bool answer_again(struct making *m, enum code *code)
{
	const struct token *seen;
	size_t alive = 0;

	*code = CODE_OK;
	if (!m->c->conf->tokens || m->f->token[0] == '\0')
		return false;
	seen = tokens_find(&m->c->tokens, m->f->token, m->now);
	if (seen == NULL)
		return false;
	if (seen->hash != m->f->body_hash || seen->len != m->f->body_len) {
		*code = CODE_TOKEN_MISMATCH;
		return true;
	}
	for (size_t i = 0; i < seen->nitems; i++) {
		const struct cloud_instance *in =
			seen->items[i] >= 0 ? cloud_of_row(m->c, (uint32_t)seen->items[i]) : NULL;

		if (in == NULL)
			continue;
		m->rows[m->n++] = seen->items[i];
		alive += in->state != CLOUD_ENDED;
	}
	if (alive == 0)
		*code = CODE_NOT_FOUND;
	return true;
}

/* A rule may leave out some of them, and all behind the first of those. */
static size_t allowed(const struct making *m)
{
	size_t n = 0;

	while (n < m->f->n && !face_left_out(m->rule, m->f->wants[n].node, n, m->f->n))
		n++;
	return n;
}

/* As many as there is room for, if that is enough.  Not so the quota: what was asked for at most
 * must be within it ("MaxCount: between 1 and the quota", says EC2). */
static enum code try_choice(struct making *m, const struct ec2_choice *at)
{
	struct cloud_create rq = {.token = m->f->token,
				  .cluster = m->f->cluster,
				  .type = at->type,
				  .region = m->f->region,
				  .zone = at->zone,
				  .fabric = m->f->fabric,
				  .market = m->f->market,
				  .wants = m->f->wants,
				  .body_hash = m->f->body_hash,
				  .body_len = m->f->body_len,
				  .order = m->f->ec2->order};
	enum code code;
	size_t most = allowed(m);
	int64_t n = cloud_room(m->c, &rq, (int64_t)most, m->now);

	if (n < 0)
		return CODE_INVALID;
	if (m->c->conf->quota >= 0 && m->c->live + (int64_t)m->f->n > m->c->conf->quota)
		return CODE_QUOTA;
	if ((size_t)n < m->f->ec2->min)
		return most < m->f->ec2->min ? m->rule->code : CODE_CAPACITY;
	rq.nwants = (size_t)n;
	code = cloud_create(m->c, &rq, m->rows, m->now);
	if (code == CODE_OK && m->rows[0] < 0)
		code = (enum code) - m->rows[0];
	if (code != CODE_OK)
		return code;
	m->n = (size_t)n;
	m->taken = at;
	m->f->ec2->order->id = (uint32_t)m->rows[0];
	return CODE_OK;
}

static void count(struct making *m, enum code why)
{
	m->out->items[CODE_OK] += m->n;
	if (m->n < m->f->n)
		m->out->items[why] += m->f->n - m->n;
}

static void put_made(struct str *s, const struct making *m)
{
	for (size_t i = 0; i < m->n; i++)
		put_instance(s, m->c, cloud_of_row(m->c, (uint32_t)m->rows[i]), m->now);
}

/* In another region it is not known. */
static bool no_group(const struct making *m)
{
	const struct cloud_fabric *g = fabric_find(m->c, m->f->fabric);

	return m->f->fabric[0] != '\0' &&
	       (g == NULL || (g->region[0] != '\0' && strcmp(g->region, m->f->region) != 0));
}

static void run_instances(struct making *m)
{
	enum code code;
	struct str s;

	if (!answer_again(m, &code) && no_group(m)) {
		ec2_error(m->out, CODE_INVALID,
			  "InvalidPlacementGroup.Unknown: The placement group does not exist");
		return;
	}
	if (code == CODE_OK && m->n == 0)
		code = try_choice(m, &m->f->ec2->choices[0]);
	count(m, code != CODE_OK ? code : CODE_CAPACITY);
	if (code != CODE_OK) {
		ec2_error(m->out, code,
			  code == CODE_NOT_FOUND ? "IdempotentInstanceTerminated: The request is "
						   "idempotent, but its instances are terminated"
			  : code == CODE_INVALID ? "Unsupported: The requested configuration is "
						   "currently not supported"
						 : NULL);
		return;
	}
	ec2_begin(&s, "RunInstances");
	str_addf(&s,
		 "<reservationId>r-%08x</reservationId><ownerId>000000000000</ownerId>"
		 "<groupSet/><instancesSet>",
		 (unsigned)m->rows[0]);
	put_made(&s, m);
	str_adds(&s, "</instancesSet>");
	ec2_end(&s, "RunInstances", m->out);
}

/* The next to be tried: the cheapest, or the one with the lowest priority number. */
static size_t next_choice(const struct making *m, const bool *tried)
{
	const struct ec2_call *x = m->f->ec2;
	size_t best = x->nchoices;
	int64_t best_cost = 0;

	for (size_t k = 0; k < x->nchoices; k++) {
		const struct ec2_choice *at = &x->choices[k];
		const struct cloud_pool *p =
			cloud_pool_get(m->c, at->type, m->f->region, at->zone, m->f->market);
		int64_t cost = !x->by_price ? at->priority
			       : p != NULL  ? cloud_price(m->c, p, m->now)
					    : 0;

		if (tried[k] || (best < x->nchoices && cost >= best_cost))
			continue;
		best = k;
		best_cost = cost;
	}
	return best;
}

static void put_override(struct str *s, const struct ec2_choice *at)
{
	char subnet[SETTINGS_WORD_SIZE + 8];

	(void)snprintf(subnet, sizeof(subnet), "subnet-%s", at->zone);
	str_adds(s, "<launchTemplateAndOverrides><overrides>");
	xmlw_text(s, "instanceType", at->type);
	if (at->zone[0] != '\0')
		xmlw_text(s, "subnetId", subnet);
	str_adds(s, "</overrides></launchTemplateAndOverrides>");
}

static void put_fleet(struct str *s, const struct making *m)
{
	const struct ec2_call *x = m->f->ec2;
	char id[METER_ID_SIZE];

	str_adds(s, "<fleetId>fleet-0</fleetId><errorSet>");
	for (size_t k = 0; k < x->nchoices; k++) {
		if (m->why[k] == CODE_OK)
			continue;
		str_adds(s, "<item>");
		xmlw_text(s, "errorCode",
			  m->why[k] == CODE_INVALID ? "Unsupported" : ec2_error_word(m->why[k]));
		xmlw_text(s, "errorMessage", code_text(m->why[k]));
		put_override(s, &x->choices[k]);
		str_adds(s, "</item>");
	}
	str_adds(s, "</errorSet><fleetInstanceSet>");
	if (m->n > 0) {
		str_adds(s, "<item><instanceIds>");
		for (size_t i = 0; i < m->n; i++)
			xmlw_text(s, "item", meter_id(id, (uint32_t)m->rows[i]));
		str_adds(s, "</instanceIds></item>");
	}
	str_adds(s, "</fleetInstanceSet>");
}

static void create_fleet(struct making *m)
{
	bool tried[EC2_CHOICES_MAX] = {false};
	enum code code, why = CODE_CAPACITY;
	struct str s;

	if (!answer_again(m, &code))
		for (size_t k; m->n == 0 && (k = next_choice(m, tried)) < m->f->ec2->nchoices;) {
			tried[k] = true;
			why = m->why[k] = try_choice(m, &m->f->ec2->choices[k]);
		}
	count(m, why != CODE_OK ? why : CODE_CAPACITY);
	if (code != CODE_OK) {
		ec2_error(m->out, code, NULL);
		return;
	}
	ec2_begin(&s, "CreateFleet");
	put_fleet(&s, m);
	ec2_end(&s, "CreateFleet", m->out);
}

static void run_create(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		       int64_t now, struct face_reply *out)
{
	struct making m = {.f = f, .c = c, .rule = rule, .now = now, .out = out};

	m.rows = mem_zalloc(f->n * sizeof(*m.rows));
	if (f->ec2->action == EC2_FLEET)
		create_fleet(&m);
	else
		run_instances(&m);
	free(m.rows);
}

/* --- list, delete ----------------------------------------------------------------------------- */

struct page {
	struct str s;
	const struct cloud *c;
	const struct fault_rule *rule;
	size_t n;
	int64_t limit, now;
	const struct order *last; /* of the reservation that is open */
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
	put_instance(&p->s, p->c, i, p->now);
}

static void describe(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		     int64_t now, struct face_reply *out)
{
	struct page p = {.c = c, .rule = rule, .limit = f->limit, .now = now};
	struct cloud_query q = {.cluster = f->cluster,
				.region = f->region, /* EC2 has an endpoint for each */
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

/* In another region it is not known. */
static bool known_here(const struct face_call *f, struct cloud *c, const char *id, int64_t now)
{
	const struct cloud_instance *i = cloud_find(c, id, now);

	return i != NULL && strcmp(i->pool->region, f->region) == 0;
}

/* One that is not known spoils it for all. */
static bool all_known(const struct face_call *f, struct cloud *c, int64_t now,
		      struct face_reply *out)
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

	if (!all_known(f, c, now, out))
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
			continue; /* nothing is said of it */
		str_adds(&s, "<item>");
		xmlw_text(&s, "instanceId", f->ids[i]);
		in = cloud_find(c, f->ids[i], now);
		put_state(&s, "currentState", in != NULL ? cloud_shown(in, now) : CLOUD_ENDED);
		put_state(&s, "previousState", before);
		str_adds(&s, "</item>");
	}
	str_adds(&s, "</instancesSet>");
	ec2_end(&s, "TerminateInstances", out);
}

static void report(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct cloud_instance *in = cloud_find(c, f->ids[0], now);
	struct str s;

	if (!all_known(f, c, now, out))
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

/* --- offers ----------------------------------------------------------------------------------- */

static bool asked_for(const struct face_call *f, const struct cloud_pool *p, enum market market)
{
	const struct ec2_call *x = f->ec2;

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

static void describe_prices(const struct face_call *f, const struct cloud *c, int64_t now,
			    struct face_reply *out)
{
	char price[FMT_MONEY_SIZE], at[FMT_TIME_SIZE];
	struct str s;

	ec2_begin(&s, "DescribeSpotPriceHistory");
	str_adds(&s, "<spotPriceHistorySet>");
	for (size_t i = 0; i < c->npools; i++) {
		const struct cloud_pool *p = c->pools[i];

		if (!asked_for(f, p, MARKET_SPOT))
			continue;
		str_adds(&s, "<item>");
		xmlw_text(&s, "instanceType", p->type);
		xmlw_text(&s, "productDescription", "Linux/UNIX");
		xmlw_text(&s, "spotPrice", fmt_money(price, cloud_price(c, p, now)));
		xmlw_text(&s, "timestamp", fmt_time(at, now));
		xmlw_text(&s, "availabilityZone", p->zone);
		str_adds(&s, "</item>");
	}
	str_adds(&s, "</spotPriceHistorySet>");
	ec2_end(&s, "DescribeSpotPriceHistory", out);
}

void ec2_run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule, int64_t now,
	     struct face_reply *out)
{
	switch (f->ec2->action) {
	case EC2_RUN:
	case EC2_FLEET:
		run_create(f, c, rule, now, out);
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
	case EC2_MAKE_GROUP:
	case EC2_LIST_GROUPS:
	case EC2_DROP_GROUP:
		ec2_run_group(f, c, out);
		break;
	}
}
