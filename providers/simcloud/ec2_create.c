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
	enum code why[EC2_CHOICES_MAX]; /* why a choice gave none; CODE_OK: taken or not tried */
	const struct ec2_choice *taken;
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

/* Make as many as there is room for, if they are enough.  The quota is stricter: MaxCount must be
 * within it ("MaxCount: between 1 and the quota", says EC2). */
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
				  .order = m->x->order};
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
	m->taken = at;
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

static void put_fleet(struct str *s, const struct making *m)
{
	const struct ec2_call *x = m->x;
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
		for (size_t k; m->n == 0 && (k = next_choice(m, tried)) < m->x->nchoices;) {
			tried[k] = true;
			why = m->why[k] = try_choice(m, &m->x->choices[k]);
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
