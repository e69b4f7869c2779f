/* driver.c - a provider driver by hand: operations in, requests out, replies in, results out, each
 * as one line of JSON.  Who sends the requests, and to whom, is the script's business that runs it
 * (aws.py).
 *
 *   {"do":"open","driver":"aws","conf":{"region":"eu-west-1",...}}  -> {"ok":true}
 *        conf has the driver's own options, too, as they are written in burstd.conf
 *   {"do":"build","op":OP}                           -> {"method":...,"url":...,"headers":[...],
 *                                                        "body":...}
 *   {"do":"parse","op":OP,"status":200,"body":TEXT}  -> {"code":...,"items":[...],...}
 *        "headers":{NAME:TEXT} of the reply, if wanted
 *   {"do":"renew","session":TEXT or null}            -> {"more":true}
 *   {"do":"fits","op":OP}                            -> {"n":3}
 *   {"do":"good_until"}                              -> {"ms":...}
 *   OP: {"kind":"create","at_ms":...,"token":...,"place":{"type":...,"region":...,"zone":...,
 *        "market":...},"wants":[["c1",1,0],...]}, {"kind":"list","cursor":""},
 *        {"kind":"delete","ids":[...]}, {"kind":"quotes","types":[...],"cursor":"","since_ms":0},
 *        {"kind":"login"}, {"kind":"notices","cursor":"","wait_ms":0},
 *        {"kind":"notices","ack":TEXT}
 *
 * What goes wrong is {"error":TEXT}. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/headers.h"
#include "base/mem.h"
#include "core/conf_option.h"
#include "core/provider.h"
#include "providers/registry.h"

enum { LINE_MAX_BYTES = 64 << 20 };

struct shell {
	const struct provider_ops *ops;
	void *self;
	json_t *said; /* what the driver was opened with: it may point into it */
};

struct op { /* with what it points to */
	struct provider_op op;
	struct provider_place place;
	struct provider_want *wants;
	const char **words;
};

static const char *text(const json_t *o, const char *key)
{
	const char *t = json_string_value(json_object_get(o, key));

	return t != NULL ? t : "";
}

static json_t *problem(const char *words)
{
	return json_pack("{s:s}", "error", words);
}

static size_t words(struct op *o, const json_t *list)
{
	size_t n = json_array_size(list);

	o->words = mem_zalloc((n + 1) * sizeof(*o->words));
	for (size_t i = 0; i < n; i++)
		o->words[i] = json_string_value(json_array_get(list, i));
	return n;
}

static void read_create(struct op *o, const json_t *j)
{
	const json_t *p = json_object_get(j, "place"), *wants = json_object_get(j, "wants");
	struct provider_create *c = &o->op.u.create;

	c->cluster = text(j, "cluster");
	c->token = text(j, "token");
	c->nwants = json_array_size(wants);
	c->place = &o->place;
	c->wants = o->wants = mem_zalloc((c->nwants + 1) * sizeof(*o->wants));
	o->place = (struct provider_place){.type = text(p, "type"),
					   .region = text(p, "region"),
					   .zone = text(p, "zone"),
					   .fabric = text(p, "fabric"),
					   .market = PROVIDER_ON_DEMAND};
	(void)provider_market_parse(text(p, "market"), &o->place.market);
	for (size_t i = 0; i < c->nwants; i++) {
		const json_t *w = json_array_get(wants, i);

		o->wants[i] = (struct provider_want){
			.node = json_string_value(json_array_get(w, 0)),
			.gen = (uint64_t)json_integer_value(json_array_get(w, 1)),
			.group = (uint32_t)json_integer_value(json_array_get(w, 2))};
	}
}

static int read_op(struct op *o, const json_t *j)
{
	const char *kind = text(j, "kind");
	int k = 0;

	*o = (struct op){.op = {.cursor = text(j, "cursor"),
				.at_ms = json_integer_value(json_object_get(j, "at_ms"))}};
	while (k < PROVIDER_NOPS && strcmp(provider_op_str((enum provider_op_kind)k), kind) != 0)
		k++;
	if (k == PROVIDER_NOPS)
		return -1;
	o->op.kind = (enum provider_op_kind)k;
	if (k == PROVIDER_CREATE) {
		read_create(o, j);
	} else if (k == PROVIDER_LIST) {
		o->op.u.list.cluster = text(j, "cluster");
	} else if (k == PROVIDER_DELETE) {
		o->op.u.del.nids = words(o, json_object_get(j, "ids"));
		o->op.u.del.ids = o->words;
	} else if (k == PROVIDER_QUOTES) {
		o->op.u.quotes.ntypes = words(o, json_object_get(j, "types"));
		o->op.u.quotes.types = o->words;
		o->op.u.quotes.since_ms = json_integer_value(json_object_get(j, "since_ms"));
	} else if (k == PROVIDER_REPORT) {
		o->op.u.report.id = text(j, "id");
		o->op.u.report.words = text(j, "words");
	} else if (k == PROVIDER_TOPOLOGY) {
		o->op.u.topology.nids = words(o, json_object_get(j, "ids"));
		o->op.u.topology.ids = o->words;
	} else if (k == PROVIDER_CONSOLE) {
		o->op.u.console.id = text(j, "id");
	} else if (k == PROVIDER_NOTICES) {
		o->op.u.notices.cluster = text(j, "cluster");
		o->op.u.notices.ack = json_string_value(json_object_get(j, "ack"));
		o->op.u.notices.wait_ms =
			(uint32_t)json_integer_value(json_object_get(j, "wait_ms"));
	} else if (k == PROVIDER_FABRIC_MAKE || k == PROVIDER_FABRIC_LIST ||
		   k == PROVIDER_FABRIC_DROP) {
		o->op.u.fabric.cluster = text(j, "cluster");
		o->op.u.fabric.name = text(j, "name");
	}
	return 0;
}

static void fini_op(struct op *o)
{
	free(o->wants);
	free(o->words);
}

/* The driver's own options as the test gives them; one that it does not give is unset. */
static void *own_options(const struct conf_driver *d, const json_t *conf)
{
	void *own = d != NULL && d->size > 0 ? mem_zalloc(d->size) : NULL;

	for (size_t i = 0; own != NULL && i < d->noptions; i++) {
		const char *value = json_string_value(json_object_get(conf, d->options[i].name));

		if (value != NULL && conf_option_set(&d->options[i], own, value, NULL) != 0)
			(void)fprintf(stderr, "driver: cannot set %s\n", d->options[i].name);
	}
	return own;
}

static void free_own(const struct conf_driver *d, void *own)
{
	for (size_t i = 0; own != NULL && i < d->noptions; i++)
		conf_option_fini(&d->options[i], own);
	free(own);
}

static json_t *do_open(struct shell *s, json_t *in)
{
	const json_t *c = json_object_get(in, "conf");
	struct provider_conf conf = {
		.name = "contract",
		.url = text(c, "url"),
		.credential = json_string_value(json_object_get(c, "credential")),
		.timeout_ms = 30000,
		.concurrency = 1,
		.user_data = json_string_value(json_object_get(c, "user_data"))};
	struct err e = {0};
	void *own;
	int rc;

	if (s->ops != NULL)
		s->ops->close(s->self);
	json_decref(s->said);
	s->said = json_incref(in);
	s->self = NULL;
	s->ops = provider_find(text(in, "driver"));
	if (s->ops == NULL)
		return problem("no such driver");
	own = own_options(s->ops->options, c);
	conf.options = own;
	rc = s->ops->open(&s->self, &conf, &e);
	free_own(s->ops->options, own);
	if (rc == 0)
		return json_pack("{s:b}", "ok", 1);
	s->ops = NULL;
	return problem(e.msg);
}

static json_t *do_build(struct shell *s, const struct provider_op *op)
{
	struct provider_request rq = {0};
	json_t *out, *headers;
	struct err e = {0};

	if (s->ops->build(s->self, op, &rq, &e) != 0)
		return problem(e.msg);
	headers = json_array();
	for (size_t i = 0; rq.headers[i] != NULL; i++)
		(void)json_array_append_new(headers, json_string(rq.headers[i]));
	out = json_pack("{s:s, s:s, s:o, s:s}", "method", rq.method, "url", rq.url, "headers",
			headers, "body", rq.body != NULL ? rq.body : "");
	provider_request_fini(&rq);
	return out;
}

static json_t *show_instance(const struct provider_instance *i)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:i, s:s, s:I, s:I}", "id", i->id, "cluster",
			 i->cluster, "node", i->node, "gen", (json_int_t)i->gen, "state",
			 (int)i->state, "addr", i->addr, "created_ms", (json_int_t)i->created_ms,
			 "ended_ms", (json_int_t)i->ended_ms);
}

static json_t *show_notices(const struct provider_result *r)
{
	json_t *notices = json_array();

	for (size_t i = 0; i < r->nnotices; i++)
		(void)json_array_append_new(
			notices, json_pack("{s:s, s:s, s:I}", "id", r->notices[i].id, "kind",
					   provider_notice_str(r->notices[i].kind), "at_ms",
					   (json_int_t)r->notices[i].at_ms));
	return notices;
}

static json_t *show_result(const struct provider_result *r)
{
	json_t *items = json_array(), *instances = json_array(), *quotes = json_array();
	json_t *ended = json_array(), *fabrics = json_array(), *failures = json_array();

	for (size_t i = 0; i < r->nitems; i++)
		(void)json_array_append_new(
			items, json_pack("{s:s, s:o}", "code", provider_code_str(r->items[i].code),
					 "instance", show_instance(&r->items[i].instance)));
	for (size_t i = 0; i < r->ninstances; i++)
		(void)json_array_append_new(instances, show_instance(&r->instances[i]));
	for (size_t i = 0; i < r->nquotes; i++)
		(void)json_array_append_new(
			quotes,
			json_pack("{s:s, s:s, s:b, s:I, s:s, s:I, s:I, s:I, s:I}", "type",
				  r->quotes[i].type, "zone", r->quotes[i].zone, "spot",
				  r->quotes[i].market == PROVIDER_SPOT, "price_nano_h",
				  (json_int_t)r->quotes[i].price_nano_h, "currency",
				  r->quotes[i].currency, "cpus", (json_int_t)r->quotes[i].cpus,
				  "gpus", (json_int_t)r->quotes[i].gpus, "memory_mb",
				  (json_int_t)r->quotes[i].memory_mb, "valid_from_ms",
				  (json_int_t)r->quotes[i].valid_from_ms));
	for (size_t i = 0; i < r->nfailures; i++)
		(void)json_array_append_new(
			failures, json_pack("{s:s, s:s, s:s}", "id", r->failures[i].id, "code",
					    provider_code_str(r->failures[i].code), "message",
					    r->failures[i].message));
	for (size_t i = 0; i < r->nended; i++)
		(void)json_array_append_new(ended, json_string(r->ended[i].id));
	for (size_t i = 0; i < r->nfabrics; i++)
		(void)json_array_append_new(fabrics, json_string(r->fabrics[i].name));
	return json_pack("{s:s, s:b, s:s, s:o, s:o, s:o, s:s, s:s?, s:I, s:o, s:o, s:I, s:s?, s:o, "
			 "s:o, s:s?}",
			 "code", provider_code_str(r->code), "for_good", r->denied_for_good,
			 "message", r->message, "items", items, "instances", instances, "quotes",
			 quotes, "cursor", r->cursor, "session", r->session, "retry_after_ms",
			 (json_int_t)r->retry_after_ms, "notices", show_notices(r), "ended", ended,
			 "unread", (json_int_t)r->nunread, "ack", r->ack, "fabrics", fabrics,
			 "failures", failures, "console", r->console);
}

static json_t *do_parse(struct shell *s, const struct provider_op *op, const json_t *in)
{
	const char *body = text(in, "body"), *name;
	struct headers headers = {0};
	struct provider_reply reply = {
		.status = (long)json_integer_value(json_object_get(in, "status")),
		.body = body,
		.len = strlen(body)};
	struct provider_result r = {0};
	json_t *out, *value;

	if (json_is_string(json_object_get(in, "retry_after")))
		headers_add(&headers, "Retry-After", text(in, "retry_after"));
	json_object_foreach(json_object_get(in, "headers"), name, value)
		headers_add(&headers, name, json_string_value(value));
	reply.headers = headers;
	s->ops->parse(s->self, op, &reply, &r);
	headers_free(&headers);
	out = show_result(&r);
	provider_result_fini(&r);
	return out;
}

static json_t *do_renew(struct shell *s, const json_t *in)
{
	struct err e = {0};
	int rc;

	if (s->ops->renew == NULL)
		return problem("it has no login");
	rc = s->ops->renew(s->self, json_string_value(json_object_get(in, "session")), &e);
	return rc < 0 ? problem(e.msg) : json_pack("{s:b}", "more", rc);
}

static json_t *answer(struct shell *s, json_t *in)
{
	const char *what = text(in, "do");
	json_t *out;
	struct op o;

	if (strcmp(what, "open") == 0)
		return do_open(s, in);
	if (s->ops == NULL)
		return problem("open a driver first");
	if (strcmp(what, "renew") == 0)
		return do_renew(s, in);
	if (strcmp(what, "good_until") == 0)
		return json_pack("{s:I}", "ms", (json_int_t)s->ops->good_until(s->self));
	if (read_op(&o, json_object_get(in, "op")) != 0)
		return problem("no such operation");
	if (strcmp(what, "build") == 0)
		out = do_build(s, &o.op);
	else if (strcmp(what, "parse") == 0)
		out = do_parse(s, &o.op, in);
	else if (strcmp(what, "fits") == 0 && s->ops->fits != NULL)
		out = json_pack("{s:I}", "n", (json_int_t)s->ops->fits(s->self, &o.op.u.create));
	else
		out = problem("do what?");
	fini_op(&o);
	return out;
}

int main(void)
{
	struct shell s = {0};
	char *line = mem_zalloc(LINE_MAX_BYTES);

	while (fgets(line, LINE_MAX_BYTES, stdin) != NULL) {
		json_t *in = json_loads(line, 0, NULL), *out;

		out = in != NULL ? answer(&s, in) : problem("not JSON");
		(void)json_dumpf(out, stdout, JSON_COMPACT);
		(void)putchar('\n');
		(void)fflush(stdout);
		json_decref(out);
		json_decref(in);
	}
	if (s.ops != NULL)
		s.ops->close(s.self);
	json_decref(s.said);
	free(line);
	return 0;
}
