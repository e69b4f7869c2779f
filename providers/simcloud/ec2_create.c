/* ec2_create.c - RunInstances and CreateFleet: make instances, once for each token, and list
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/ec2.h"

struct making {
	const struct face_call *f;
	const struct ec2_call *x; /* f's own */
	struct cloud *c;
	const struct fault_rule *rule;
	int64_t now;
	struct face_reply *out;
	int32_t *rows; /* the instances made; room for f->n */
	size_t n;
	enum code
		why[EC2_CHOICES_MAX]; /* why a choice gave not all; CODE_OK: it did, or not tried */
};

/* Answer a token that was seen before.  false: it is new. */
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

/* How many instances the fault rule allows: those before the first that it leaves out. */
static size_t allowed(const struct making *m)
{
	size_t n = 0;

	while (n < m->f->n && !face_left_out(m->rule, m->f->wants[n].node, n, m->f->n))
		n++;
	return n;
}

static struct cloud_create request(const struct making *m, const struct ec2_choice *at)
{
	return (struct cloud_create){.token = m->f->token,
				     .cluster = m->f->cluster,
				     .type = at->type,
				     .region = m->f->region,
				     .zone = at->zone,
				     .fabric = m->f->fabric,
				     .market = m->f->market,
				     .wants = m->f->wants,
				     .body_hash = m->f->body_hash,
				     .body_len = m->f->body_len,
				     .order = m->x->order};
}

/* Make as many as there is room for, if they are enough.  The quota is stricter: MaxCount must be
 * within it ("MaxCount: between 1 and the quota", says EC2). */
static enum code try_choice(struct making *m, const struct ec2_choice *at)
{
	struct cloud_create rq = request(m, at);
	enum code code;
	size_t most = allowed(m);
	int64_t n = cloud_room(m->c, &rq, (int64_t)most, m->now);

	if (n < 0)
		return CODE_INVALID;
	if (m->c->conf->quota >= 0 && m->c->live + (int64_t)m->f->n > m->c->conf->quota)
		return CODE_QUOTA;
	if ((size_t)n < m->x->min)
		return most < m->x->min ? m->rule->code : CODE_CAPACITY;
	rq.nwants = (size_t)n;
	code = cloud_create(m->c, &rq, m->rows, m->now);
	if (code == CODE_OK && m->rows[0] < 0)
		code = (enum code) - m->rows[0];
	if (code != CODE_OK)
		return code;
	m->n = (size_t)n;
	m->x->order->id = (uint32_t)m->rows[0];
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
		ec2_put_instance(s, m->c, cloud_of_row(m->c, (uint32_t)m->rows[i]), m->now);
}

/* A placement group of another region is unknown here. */
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
		code = try_choice(m, &m->x->choices[0]);
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

/* The next choice to try: the cheapest, or the one with the lowest priority number. */
static size_t next_choice(const struct making *m, const bool *tried)
{
	const struct ec2_call *x = m->x;
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

/* How many of the instances, from `first` on, are of one reservation. */
static size_t part_at(const struct making *m, size_t first)
{
	const struct order *o = cloud_of_row(m->c, (uint32_t)m->rows[first])->order;
	size_t n = 1;

	while (first + n < m->n && cloud_of_row(m->c, (uint32_t)m->rows[first + n])->order == o)
		n++;
	return n;
}

static void put_part(struct str *s, const struct making *m, size_t first)
{
	const struct meter_row *row = &m->c->meter->rows[m->rows[first]];
	struct ec2_choice at = {.priority = 0};
	char id[METER_ID_SIZE];

	(void)snprintf(at.type, sizeof(at.type), "%s", row->type);
	(void)snprintf(at.zone, sizeof(at.zone), "%s", row->zone);
	str_adds(s, "<item>");
	put_override(s, &at);
	xmlw_text(s, "lifecycle", row->market == MARKET_SPOT ? "spot" : "on-demand");
	str_adds(s, "<instanceIds>");
	for (size_t i = first; i < first + part_at(m, first); i++)
		xmlw_text(s, "item", meter_id(id, (uint32_t)m->rows[i]));
	str_adds(s, "</instanceIds>");
	xmlw_text(s, "instanceType", row->type);
	str_adds(s, "</item>");
}

static void put_fleet(struct str *s, const struct making *m)
{
	const struct ec2_call *x = m->x;

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
	for (size_t i = 0; i < m->n; i += part_at(m, i))
		put_part(s, m, i);
	str_adds(s, "</fleetInstanceSet>");
}

/* Make what there is room for at one choice, in a reservation of its own, whose launch indexes
 * begin at 0.  CODE_OK: all that was wanted is made. */
static enum code take_part(struct making *m, const struct ec2_choice *at)
{
	struct cloud_create rq = request(m, at);
	size_t most = allowed(m);
	enum code code;
	int64_t n;

	n = cloud_room(m->c, &rq, (int64_t)(most - m->n), m->now);
	if (n < 0)
		return CODE_INVALID;
	if (m->c->conf->quota >= 0 && m->c->live + (int64_t)(m->f->n - m->n) > m->c->conf->quota)
		return CODE_QUOTA;
	if (n == 0 || (m->x->one_zone && (size_t)n < m->x->min))
		return most < m->f->n && (size_t)n == most - m->n ? m->rule->code : CODE_CAPACITY;
	rq.token = ""; /* of all parts together */
	rq.wants += m->n;
	rq.nwants = (size_t)n;
	rq.order = m->n == 0 ? order_ref(m->x->order) : order_dup(m->x->order);
	code = cloud_create(m->c, &rq, m->rows + m->n, m->now);
	if (code == CODE_OK && m->rows[m->n] < 0)
		code = (enum code) - m->rows[m->n];
	if (code == CODE_OK) {
		rq.order->id = (uint32_t)m->rows[m->n];
		m->n += (size_t)n;
		code = m->n == m->f->n ? CODE_OK : CODE_CAPACITY;
	}
	order_unref(rq.order);
	return code;
}

/* Does an earlier choice name the same place? */
static bool is_again(const struct ec2_call *x, size_t k)
{
	for (size_t i = 0; i < k; i++)
		if (strcmp(x->choices[i].type, x->choices[k].type) == 0 &&
		    strcmp(x->choices[i].zone, x->choices[k].zone) == 0)
			return true;
	return false;
}

/* Is there room for the minimum, in all choices together? */
static bool enough(const struct making *m)
{
	int64_t n = 0;

	for (size_t k = 0; k < m->x->nchoices; k++) {
		struct cloud_create rq = request(m, &m->x->choices[k]);
		int64_t room = cloud_room(m->c, &rq, (int64_t)allowed(m), m->now);

		n += room > 0 && !is_again(m->x, k) ? room : 0;
	}
	return n >= (int64_t)m->x->min;
}

static void remember(const struct making *m)
{
	struct token head = {.hash = m->f->body_hash, .len = m->f->body_len, .nitems = m->n};

	if (m->n == 0 || !m->c->conf->tokens || m->f->token[0] == '\0')
		return;
	(void)snprintf(head.text, sizeof(head.text), "%s", m->f->token);
	head.expires = m->now + m->c->conf->token_life_ms;
	tokens_put(&m->c->tokens, &head, m->rows);
}

/* Returns why there are not more. */
static enum code fill_fleet(struct making *m)
{
	bool tried[EC2_CHOICES_MAX] = {false};
	enum code why = CODE_CAPACITY;

	if (!m->x->one_zone && !enough(m)) {
		for (size_t k = 0; k < m->x->nchoices; k++)
			m->why[k] = CODE_CAPACITY;
		return why;
	}
	for (size_t k; m->n < m->f->n && (k = next_choice(m, tried)) < m->x->nchoices;) {
		tried[k] = true;
		why = m->why[k] = take_part(m, &m->x->choices[k]);
		if (m->x->one_zone && m->n > 0)
			break;
	}
	remember(m);
	return why != CODE_OK ? why : CODE_CAPACITY;
}

static void create_fleet(struct making *m)
{
	enum code code, why = CODE_CAPACITY;
	struct str s;

	if (!answer_again(m, &code))
		why = fill_fleet(m);
	count(m, why);
	if (code != CODE_OK) {
		ec2_error(m->out, code, NULL);
		return;
	}
	ec2_begin(&s, "CreateFleet");
	put_fleet(&s, m);
	ec2_end(&s, "CreateFleet", m->out);
}

void ec2_create(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	struct making m = {.f = f, .x = f->own, .c = c, .rule = rule, .now = now, .out = out};

	m.rows = mem_zalloc(f->n * sizeof(*m.rows));
	if (m.x->action == EC2_FLEET)
		create_fleet(&m);
	else
		run_instances(&m);
	free(m.rows);
}
