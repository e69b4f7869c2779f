/* sim_serve.c - the provider's replies. */
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "sim_boot.h"
#include "sim_journal.h"
#include "sim_wire.h"

enum { NOTICES_HOLD_MS = 20000 };

void sim_wire_met(struct world *w, enum sim_fault f, const struct wire *q)
{
	for (size_t i = 0; q->kind == WIRE_CREATE && i < q->create.n; i++)
		world_met(w, f, q->create.wants[i].node, q->create.wants[i].gen);
	for (size_t i = 0; q->kind == WIRE_DELETE && i < q->nids; i++) {
		const struct inst *in = sim_cloud_find(w->cloud, q->ids[i]);

		if (in != NULL)
			world_met(w, f, in->node, in->gen);
	}
	if (q->kind == WIRE_LIST)
		sim_journal_met_all(w->journal, f);
}

static void error(struct wire *q, long status, const char *code)
{
	str_clear(&q->body);
	q->status = status;
	str_addf(&q->body, "{\"error\":{\"code\":\"%s\",\"message\":\"%s it is\"}}", code, code);
}

void sim_wire_no_reply(const struct world *w, struct wire *q)
{
	(void)err_set(&q->error, ERR_NET, "no reply");
	q->deadline = w->now + w->set.timeout_ms;
}

static void refuse(struct world *w, struct wire *q, const char *code)
{
	for (size_t i = 0; strcmp(code, "rate") != 0 && i < q->create.n; i++)
		sim_cloud_refuse(w->cloud, q->create.token, q->create.wants[i].node);
	if (q->kind == WIRE_MAKE)
		sim_fabric_refuse(w->cloud, q->create.fabric);
	error(q, strcmp(code, "rate") == 0 ? 429 : strcmp(code, "capacity") == 0 ? 503 : 403, code);
}

static bool made_none(const uint32_t *made, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (made[i] != 0)
			return false;
	return true;
}

static void reply_create(struct world *w, struct wire *q, bool lie)
{
	static const char *const codes[] = {"capacity", "rate", "internal"};
	uint32_t made[CLOUD_WANTS_MAX];

	const char *why = sim_cloud_create(w->cloud, &q->create, lie, made);

	if (why != NULL && made_none(made, q->create.n)) {
		refuse(w, q, why);
		return;
	}
	str_adds(&q->body, "{\"instances\":[");
	for (size_t i = 0; i < q->create.n; i++) {
		/* Who asks for one fabric has one answer. */
		bool one = w->cloud->single || q->create.fabric[0] != '\0';
		const char *code = why != NULL ? why : codes[one ? 0 : (q->handle + i) % 3];

		str_adds(&q->body, i > 0 ? "," : "");
		if (made[i] != 0)
			sim_cloud_show(w->cloud, &q->body, sim_cloud_find(w->cloud, made[i]),
				       false);
		else if (why != NULL || strcmp(code, codes[0]) == 0)
			sim_cloud_refuse(w->cloud, q->create.token, q->create.wants[i].node);
		if (made[i] == 0)
			str_addf(&q->body,
				 "{\"name\":\"%s\",\"generation\":%llu,\"error\":{\"code\":"
				 "\"%s\",\"message\":\"none left\"}}",
				 q->create.wants[i].node,
				 (unsigned long long)q->create.wants[i].gen, code);
	}
	str_adds(&q->body, "]}");
}

static void on_create(struct world *w, struct wire *q)
{
	bool lie = false;

	if (w->cloud->none != NULL) {
		refuse(w, q, w->cloud->none);
		return;
	}
	if (world_fault(w, SIM_QUOTA)) {
		sim_wire_met(w, SIM_QUOTA, q);
		refuse(w, q, "quota");
		return;
	}
	if (q->create.fabric[0] != '\0' && !sim_fabric_there(w->cloud, q->create.fabric)) {
		error(q, 404, "not-found");
		return;
	}
	if (sim_image_is_unknown(w, q->create.image)) {
		w->totals->images_refused++;
		refuse(w, q, "invalid");
		return;
	}
	if (world_fault(w, SIM_CAPACITY))
		sim_place_runs_out(w, &q->create);
	if (sim_price_gone(w, &q->create)) {
		refuse(w, q, "capacity");
		return;
	}
	if (sim_place_is_out(w, &q->create)) {
		sim_wire_met(w, SIM_CAPACITY, q);
		refuse(w, q, "capacity");
		return;
	}
	lie = world_fault(w, SIM_REFUSED_YET_MADE);
	reply_create(w, q, lie);
	if (lie) {
		sim_wire_met(w, SIM_REFUSED_YET_MADE, q);
		refuse(w, q, "capacity");
	} else if (world_fault(w, SIM_FAIL_THEN_SUCCESS)) {
		sim_wire_met(w, SIM_FAIL_THEN_SUCCESS, q);
		q->status = 502;
		str_clear(&q->body);
		str_adds(&q->body, "<html>Bad Gateway</html>");
	}
}

static void on_delete(struct world *w, struct wire *q)
{
	str_adds(&q->body, q->single ? "" : "{\"results\":[");
	for (size_t i = 0; i < q->nids; i++) {
		const char *word = sim_cloud_delete(w->cloud, q->ids[i]);

		if (strcmp(word, "ok") == 0)
			str_addf(&q->body, "%s{\"id\":\"i-%u\",\"state\":\"stopping\"}",
				 i > 0 ? "," : "", (unsigned)q->ids[i]);
		else
			str_addf(&q->body,
				 "%s{\"id\":\"i-%u\",\"error\":{\"code\":\"%s\",\"message\":"
				 "\"no\"}}",
				 i > 0 ? "," : "", (unsigned)q->ids[i], word);
		if (q->single && strcmp(word, "ok") != 0)
			error(q, strcmp(word, "not-found") == 0 ? 404 : 403, word);
	}
	str_adds(&q->body, q->single ? "" : "]}");
}

static void on_list(struct world *w, struct wire *q)
{
	unsigned run = 0, after = 0;
	uint32_t r, next;

	if (q->cursor[0] != '\0' && sscanf(q->cursor, "c%u.%u", &run, &after) != 2) {
		error(q, 400, "invalid");
		return;
	}
	r = run;
	str_adds(&q->body, "{\"instances\":[");
	sim_cloud_list(w->cloud, &q->body, &r, after, &next);
	str_adds(&q->body, "],\"cursor\":\"");
	if (next != 0)
		str_addf(&q->body, "c%u.%u", (unsigned)r, (unsigned)next);
	else
		q->list_run = r;
	str_adds(&q->body, "\"}");
}

static void on_quotes(struct world *w, struct wire *q)
{
	char price[FMT_MONEY_SIZE];
	const char *comma = "";

	if (w->no_offers) {
		error(q, 500, "internal");
		return;
	}
	sim_price_list(w, &q->offers);
	str_adds(&q->body, "{\"offers\":[");
	for (size_t i = 0; i < w->set.npools; i++)
		for (size_t k = 0; k < SIM_RUNGS; k++) {
			if (q->offers.price[i][k] == 0)
				continue;
			str_addf(&q->body,
				 "%s{\"type\":\"%s\",\"region\":\"%s\",\"zone\":\"z\",\"market\":"
				 "\"%s\",\"price\":\"%s\",\"currency\":\"USD\",\"available\":null}",
				 comma, w->set.pools[i].type, k == 2 ? "r2" : "r",
				 k == 1 ? "spot" : "on-demand",
				 fmt_money(price, q->offers.price[i][k]));
			comma = ",";
		}
	str_adds(&q->body, "]}");
}

static void on_fabric(struct world *w, struct wire *q)
{
	const char *word = "ok";
	bool refused;

	if (q->kind == WIRE_NAMES) {
		sim_fabric_list(w->cloud, &q->body);
		return;
	}
	if (q->kind == WIRE_DROP)
		word = sim_fabric_drop(w->cloud, q->create.fabric);
	else if (w->cloud->no_make)
		word = "denied";
	else if (world_fault(w, SIM_QUOTA)) /* of fabrics; or we have not the right to make one */
		word = q->handle % 2 ? "quota" : "denied";
	else
		word = sim_fabric_make(w->cloud, q->create.fabric, q->create.cluster);
	str_adds(&q->body, "{}");
	refused = strcmp(word, "quota") == 0 || strcmp(word, "denied") == 0;
	if (refused)
		sim_fabric_refuse(w->cloud, q->create.fabric);
	if (strcmp(word, "ok") != 0)
		error(q, strcmp(word, "not-found") == 0 ? 404 : refused ? 403 : 409, word);
}

/* It has none to tell. */
static void on_notices(struct wire *q)
{
	str_adds(&q->body, "{\"notices\":[],\"cursor\":\"0\"}");
	q->hold_ms = NOTICES_HOLD_MS;
}

static bool ends(const struct wire *q)
{
	return q->kind == WIRE_DELETE || q->kind == WIRE_DROP;
}

/* What goes wrong on the way back, after the effect. */
static void spoil(struct world *w, struct wire *q)
{
	enum sim_fault lost = wire_makes(q) ? SIM_CREATE_REPLY_LOST
			      : ends(q)     ? SIM_DELETE_REPLY_LOST
					    : SIM_LIST_BROKEN;

	if ((q->status == 200 || q->status == 202) && world_fault(w, lost)) {
		sim_wire_met(w, lost, q);
		sim_wire_no_reply(w, q);
	} else if ((q->status == 200 || q->status == 202) && world_fault(w, SIM_GARBAGE)) {
		sim_wire_met(w, SIM_GARBAGE, q);
		q->garbage = true;
		q->list_run = 0;
		if (world_one_in(w, 2) && q->body.len > 0)
			q->body.len = world_below(w, (uint32_t)q->body.len);
		else
			memset(q->body.p, 'x', q->body.len);
		q->body.p[q->body.len] = '\0';
	}
}

static enum sim_limit_kind limit_of(const struct wire *q)
{
	switch (q->kind) {
	case WIRE_CREATE:
	case WIRE_MAKE:
		return SIM_LIMIT_CREATE;
	case WIRE_LIST:
		return SIM_LIMIT_LIST;
	case WIRE_DELETE:
		return SIM_LIMIT_DELETE;
	default:
		return SIM_LIMIT_REST;
	}
}

/* By its buckets, or for no reason that anybody would know. */
static bool throttled(struct world *w, struct wire *q)
{
	if (!sim_limit_refuses(w, limit_of(q), &q->retry_s)) {
		if (!world_fault(w, SIM_THROTTLED))
			return false;
		q->retry_s = world_one_in(w, 2) ? (unsigned)world_between(w, 1, 20) : 0;
	}
	sim_wire_met(w, SIM_THROTTLED, q);
	error(q, 429, "rate");
	return true;
}

bool sim_wire_away(struct world *w, struct wire *q)
{
	struct sim_away *a = &w->cloud->away[q->twin];

	if (q->kind == WIRE_STORE)
		return false;
	if (w->now >= a->until && world_fault(w, SIM_AWAY)) {
		a->until = w->now + world_between(w, 20, 900) * SIM_SECOND;
		a->how = world_below(w, 3);
		SIM_TRACE(w, "*** the provider is away%s", q->twin ? ", by its other name" : "");
	}
	return w->now < a->until;
}

/* Nothing but this comes of what is asked by the name that is bad.  true: it is. */
static bool is_bad(struct world *w, struct wire *q)
{
	switch (q->twin ? BAD_NOT : w->cloud->bad) {
	case BAD_DENIES:
		refuse(w, q, "denied");
		return true;
	case BAD_THROTTLES:
		error(q, 429, "rate");
		return true;
	case BAD_BREAKS:
		error(q, 500, "internal");
		return true;
	case BAD_HANGS:
		sim_wire_no_reply(w, q);
		return true;
	case BAD_GARBAGE:
		q->garbage = true;
		str_adds(&q->body, "xxx");
		return true;
	case BAD_LISTS:
		if (q->kind == WIRE_LIST)
			error(q, 500, "internal");
		else if (q->kind == WIRE_CREATE)
			refuse(w, q, "capacity");
		return q->kind == WIRE_LIST || q->kind == WIRE_CREATE;
	default:
		return false;
	}
}

/* Refused at the door, before any effect.  true: it was. */
static bool at_the_door(struct world *w, struct wire *q)
{
	enum sim_fault lost = wire_makes(q) ? SIM_CREATE_REPLY_LOST : SIM_DELETE_REPLY_LOST;
	const struct sim_away *a = &w->cloud->away[q->twin];

	if (w->now < a->until && a->how != AWAY_REFUSES) {
		sim_wire_met(w, SIM_AWAY, q);
		if (a->how == AWAY_FAILS)
			error(q, 500, "internal");
		else
			sim_wire_no_reply(w, q);
		return true;
	}
	if (is_bad(w, q))
		return true;
	if ((q->kind == WIRE_LIST && w->cloud->no_lists) || q->fails == FAILS_SAYS_SO) {
		error(q, 500, "internal");
		return true;
	}
	if (world_fault(w, SIM_AUTH))
		w->cloud->auth_until = w->now + world_between(w, 5, 300) * SIM_SECOND;
	if (w->now < w->cloud->auth_until) {
		sim_wire_met(w, SIM_AUTH, q);
		refuse(w, q, "denied");
		return true;
	}
	if (throttled(w, q))
		return true;
	if ((ends(q) || q->kind == WIRE_LIST) &&
	    world_fault(w, q->kind == WIRE_LIST ? SIM_LIST_BROKEN : SIM_DELETE_5XX)) {
		sim_wire_met(w, q->kind == WIRE_LIST ? SIM_LIST_BROKEN : SIM_DELETE_5XX, q);
		error(q, 500, "internal");
		return true;
	}
	if ((wire_makes(q) || ends(q) || q->kind == WIRE_STEP) && world_fault(w, lost)) {
		sim_wire_met(w, lost, q);
		sim_wire_no_reply(w, q);
		return true;
	}
	return false;
}

/* A step is about a create that the provider has taken on. */
static void on_step(struct world *w, struct wire *q)
{
	if (!sim_operation_ask(w, q))
		error(q, 404, "not-found");
}

static void on_report(struct world *w, struct wire *q)
{
	const struct inst *in = sim_cloud_find(w->cloud, q->ids[0]);

	if (in == NULL || world_one_in(w, 5))
		error(q, 404, "not-found");
	else
		str_adds(&q->body, "{}");
}

static void on_console(struct world *w, struct wire *q)
{
	const struct inst *in = sim_cloud_find(w->cloud, q->ids[0]);

	if (in == NULL || world_one_in(w, 5))
		error(q, 404, "not-found");
	else if (world_one_in(w, 5))
		str_adds(&q->body, "{\"console\":\"\"}");
	else
		str_adds(&q->body, "{\"console\":\"Kernel panic\\n\"}");
}

static void on_paths(struct world *w, struct wire *q)
{
	const char *word = sim_topology_serve(w, q);

	if (word != NULL)
		error(q,
		      strcmp(word, "denied") == 0    ? 403
		      : strcmp(word, "invalid") == 0 ? 400
						     : 404,
		      word);
}

void sim_wire_serve(struct world *w, struct wire *q)
{
	q->status = 200;
	if (q->kind == WIRE_STORE) {
		if (!sim_store_serve(w, q->url, q->put, &q->body, &q->status))
			sim_wire_no_reply(w, q);
		return;
	}
	if (at_the_door(w, q))
		return;
	if (q->kind == WIRE_CREATE) {
		on_create(w, q);
		if (w->set.polled && q->status != 502 && q->status != 429)
			sim_operation_begin(w, q);
	} else if (q->kind == WIRE_STEP)
		on_step(w, q);
	else if (q->kind == WIRE_DELETE)
		on_delete(w, q);
	else if (q->kind == WIRE_LIST)
		on_list(w, q);
	else if (q->kind == WIRE_NOTICES)
		on_notices(q);
	else if (q->kind == WIRE_REPORT)
		on_report(w, q);
	else if (q->kind == WIRE_CONSOLE)
		on_console(w, q);
	else if (q->kind == WIRE_PATHS)
		on_paths(w, q);
	else if (q->kind != WIRE_OFFERS)
		on_fabric(w, q);
	else
		on_quotes(w, q);
	spoil(w, q);
}
