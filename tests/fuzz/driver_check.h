/* driver_check.h - what must be true of whatever a driver makes of a reply (core/provider.h). */
#ifndef FUZZ_DRIVER_CHECK_H
#define FUZZ_DRIVER_CHECK_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "base/str.h"
#include "core/provider.h"
#include "core/terms.h"
#include "tests/unit/two_headers.h"

#define ENDS(text) (memchr(text, '\0', sizeof(text)) != NULL)

static inline void check_instance(const struct provider_instance *in)
{
	assert(ENDS(in->id) && ENDS(in->cluster) && ENDS(in->node) && ENDS(in->addr) &&
	       ENDS(in->hostname));
	assert(in->id[0] != '\0' && in->state <= PROVIDER_ENDED);
	assert(in->created_ms >= 0 && in->ended_ms >= 0 && in->reclaim_ms >= 0);
}

static inline void check_offer(const struct provider_quote *o)
{
	struct str words;

	assert(ENDS(o->type) && ENDS(o->region) && ENDS(o->zone) && ENDS(o->currency));
	assert(o->price_nano_h >= 0);
	assert(o->terms.quantum_ms >= 0 && o->terms.minimum_ms >= PROVIDER_NO_MINIMUM);
	assert(ENDS(o->terms.interconnect));
	str_init(&words, 1 << 12);
	terms_print(&o->terms, &words);
	assert(words.len == 0 || plain_is(words.p));
	str_fini(&words);
}

static inline void check_notices(const struct provider_op *op, const struct provider_result *r)
{
	const bool asked = op->kind == PROVIDER_NOTICES;

	assert(asked || r->nnotices + r->nended + r->nunread == 0);
	assert(r->ack == NULL || (asked && op->u.notices.ack == NULL && r->ack[0] != '\0'));
	for (size_t i = 0; i < r->nnotices; i++) {
		assert(ENDS(r->notices[i].id) && r->notices[i].id[0] != '\0');
		assert(r->notices[i].kind < PROVIDER_NNOTICES && r->notices[i].at_ms >= 0);
	}
	for (size_t i = 0; i < r->nended; i++)
		assert(ENDS(r->ended[i].id) && r->ended[i].id[0] != '\0');
}

static inline void check_paths(const struct provider_op *op, const struct provider_result *r)
{
	assert(op->kind == PROVIDER_TOPOLOGY || r->npaths == 0);
	for (size_t i = 0; i < r->npaths; i++) {
		const char *p = r->paths[i].path;

		assert(ENDS(r->paths[i].id) && r->paths[i].id[0] != '\0');
		assert(ENDS(r->paths[i].path) && p[0] != '\0' && p[0] != '/');
		assert(strstr(p, "//") == NULL && p[strlen(p) - 1] != '/');
	}
}

static inline void check_result(const struct provider_op *op, const struct provider_result *r)
{
	const size_t asked = op->kind == PROVIDER_CREATE   ? op->u.create.nwants
			     : op->kind == PROVIDER_DELETE ? op->u.del.nids
							   : 0;

	assert(r->code < PROVIDER_NCODES && r->retry_after_ms >= 0);
	assert(ENDS(r->message) && ENDS(r->cursor));
	assert(r->session == NULL || op->kind == PROVIDER_LOGIN);
	assert(r->code != PROVIDER_MORE || r->cursor[0] != '\0');
	assert(r->console == NULL || (op->kind == PROVIDER_CONSOLE && r->code == PROVIDER_OK));
	assert(r->console == NULL ||
	       (r->console[0] != '\0' && strlen(r->console) <= (size_t)PROVIDER_CONSOLE_MAX));
	/* A page of a list that goes on is as whole as the last one. */
	if (r->code != PROVIDER_OK && !(r->code == PROVIDER_MORE && asked == 0)) {
		assert(r->nitems == 0 && r->ninstances == 0 && r->nquotes == 0);
		assert(r->session == NULL && r->nfabrics == 0);
		assert(r->npaths == 0);
		assert(r->nnotices == 0 && r->nended == 0 && r->nunread == 0 && r->ack == NULL);
		return;
	}
	assert(r->nitems == asked);
	for (size_t i = 0; i < r->nitems; i++) {
		assert(r->items[i].code < PROVIDER_NCODES);
		if (op->kind == PROVIDER_CREATE && r->items[i].code == PROVIDER_OK)
			check_instance(&r->items[i].instance);
	}
	for (size_t i = 0; i < r->ninstances; i++)
		check_instance(&r->instances[i]);
	for (size_t i = 0; i < r->nquotes; i++)
		check_offer(&r->quotes[i]);
	for (size_t i = 0; i < r->nfabrics; i++)
		assert(ENDS(r->fabrics[i].name) && r->fabrics[i].name[0] != '\0');
	check_paths(op, r);
	check_notices(op, r);
}

/* In pieces of seven bytes, if the driver reads such replies so. */
static inline void read_again(const struct provider_ops *ops, const void *self,
			      const struct provider_op *op, const struct provider_reply *reply,
			      struct provider_result *out)
{
	void *reader =
		reply->status == 200 && ops->read_begin != NULL ? ops->read_begin(self, op) : NULL;

	if (reader == NULL) {
		ops->parse(self, op, reply, out);
		return;
	}
	for (size_t at = 0; at < reply->len; at += 7)
		ops->read_some(reader, reply->body + at, reply->len - at < 7 ? reply->len - at : 7);
	ops->read_end(reader, self, op, reply, out); /* the body: for the id of the request */
}

/* The operation of this byte ('n': notices, 'a': their acknowledgement, where the driver has them,
 * 'F', 'G', 'H': of fabrics, 'c': a console log, 'r': a report, 't': a topology). */
static inline struct provider_op driver_op(const struct provider_ops *ops, void *self, uint8_t byte)
{
	static const char *const ids[] = {"i-1", "i-2"};
	static const struct provider_place place = {.type = "gpu", .region = "north", .zone = ""};
	static const struct provider_want wants[] = {{"c1", 1, 0}, {"c2", 3, 1}};
	const struct provider_caps caps = ops->caps(self);
	struct provider_op op = {.kind = PROVIDER_QUOTES};

	/* burstd sends no LOGIN to a driver whose session never ends. */
	op.kind = (enum provider_op_kind)(
		byte % (ops->good_until != NULL && ops->good_until(self) < INT64_MAX ? 5 : 4));
	if ((caps.flags & PROVIDER_TELLS) != 0 && (byte == 'n' || byte == 'a')) {
		op.kind = PROVIDER_NOTICES;
		op.u.notices.cluster = op.cursor = "";
		op.u.notices.ack = byte == 'a' ? "r" : NULL;
	} else if ((caps.flags & PROVIDER_CONSOLES) != 0 && byte == 'c') {
		op.kind = PROVIDER_CONSOLE;
		op.u.console.id = "i-1";
	} else if ((caps.flags & PROVIDER_PATHS) != 0 && byte == 't') {
		op.kind = PROVIDER_TOPOLOGY;
		op.u.topology.ids = ids;
		op.u.topology.nids = 2;
	} else if ((caps.flags & PROVIDER_REPORTS) != 0 && byte == 'r') {
		op.kind = PROVIDER_REPORT;
		op.u.report.id = "i-1";
		op.u.report.words = "fell off the bus";
	} else if ((caps.flags & PROVIDER_FABRICS) != 0 && byte >= 'F' && byte <= 'H') {
		op.kind = (enum provider_op_kind)(PROVIDER_FABRIC_MAKE + byte - 'F');
		op.u.fabric.cluster = "u-u-i-d";
		op.u.fabric.name = "t";
		op.cursor = "";
	} else if (op.kind == PROVIDER_CREATE) {
		op.u.create.cluster = "u-u-i-d";
		op.u.create.token = "t";
		op.u.create.place = &place;
		op.u.create.wants = wants;
		op.u.create.nwants = caps.create_max < 2 ? 1 : 2;
	} else if (op.kind == PROVIDER_LIST) {
		op.u.list.cluster = "u-u-i-d";
		op.cursor = "";
	} else if (op.kind == PROVIDER_QUOTES) {
		op.cursor = "";
	} else if (op.kind == PROVIDER_DELETE) {
		op.u.del.ids = ids;
		op.u.del.nids = caps.delete_max < 2 ? 1 : 2;
	}
	return op;
}

/* The first byte: which operation; the second: the status; a line: Retry-After; the rest: a body.
 * Twice the same bytes give twice the same. */
static inline void check_driver(const struct provider_ops *ops, void *self, const uint8_t *data,
				size_t size)
{
	static const long statuses[] = {0,   1,   2,   200, 201, 202, 204, 400, 401, 402, 403,
					404, 409, 410, 422, 429, 500, 502, 503, 504, 127, 137};
	struct provider_reply reply = {0};
	struct provider_op op;
	struct provider_result a = {0}, b = {0};
	const uint8_t *line;
	struct header v[2];
	char *header, *body;

	if (size < 3 || (line = memchr(data + 2, '\n', size - 2)) == NULL)
		return;
	op = driver_op(ops, self, data[0]);
	header = mem_zalloc((size_t)(line - data));
	memcpy(header, data + 2, (size_t)(line - data) - 2);
	reply.len = size - (size_t)(line + 1 - data);
	body = mem_zalloc(reply.len + 1);
	memcpy(body, line + 1, reply.len);
	reply.body = body;
	reply.status = statuses[data[1] % (sizeof(statuses) / sizeof(statuses[0]))];
	reply.headers = two_headers(v, header, NULL);
	ops->parse(self, &op, &reply, &a);
	read_again(ops, self, &op, &reply, &b);
	check_result(&op, &a);
	assert(a.code == b.code && a.retry_after_ms == b.retry_after_ms && a.nitems == b.nitems);
	assert(a.ninstances == b.ninstances && a.nquotes == b.nquotes);
	assert(a.nfabrics == b.nfabrics && a.npaths == b.npaths);
	assert(a.nnotices == b.nnotices && a.nended == b.nended && a.nunread == b.nunread);
	assert(strcmp(a.message, b.message) == 0 && strcmp(a.cursor, b.cursor) == 0);
	provider_result_fini(&a);
	provider_result_fini(&b);
	free(header);
	free(body);
}

#undef ENDS
#endif
