/* ironic_lab.h - the driver ironic, open, its operations and Ironic's replies. */
#ifndef TESTS_IRONIC_LAB_H
#define TESTS_IRONIC_LAB_H

#include "providers/ironic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define NAME    "b0b1c2d3e4f50-c-h100-7"
#define API     "http://ironic:6385/v1/"
#define DRIVER  provider_ironic
#define SECRET  "s3cret.of-the-l4b"
#define NIDS    1
#define ID      "9c3e4f1a-0000-4000-8000-000000000001"
#define THEIRS  "9c3e4f1a-0000-4000-8000-0000000000ff"
#define MACHINE "1f2e3d4c-0000-4000-8000-00000000000a"
#define NOW     1000000

/* As Ironic writes an error: JSON in a text. */
#define FAULT(text)                                                                                \
	"{\"error_message\":\"{\\\"faultcode\\\":\\\"Client\\\",\\\"faultstring\\\":\\\"" text     \
	"\\\",\\\"debuginfo\\\":null}\"}"
#define TITLE(text)                                                                                \
	"{\"error_message\":\"{\\\"code\\\":406,\\\"title\\\":\\\"Not "                            \
	"Acceptable\\\",\\\"description\\\":\\\"" text "\\\"}\"}"
#define LOCKED FAULT("Node " MACHINE " is locked by host c1, please retry after")
#define ALLOC(state, node, error)                                                                  \
	"{\"uuid\":\"" ID "\",\"name\":\"" NAME "\",\"state\":\"" state "\",\"node_uuid\":" node   \
	",\"last_error\":" error ",\"resource_class\":\"h100\",\"traits\":[],\"extra\":{}}"
#define ACTIVE ALLOC("active", "\"" MACHINE "\"", "null")
#define NODE(instance, state, held, info)                                                          \
	"{\"instance_uuid\":" instance ",\"provision_state\":\"" state "\",\"reservation\":" held  \
	",\"instance_info\":{" info "},\"links\":[]}"
#define OURS(state) NODE("\"" ID "\"", state, "null", "")
/* Cursors of a create and a delete. */
#define CHOSEN     "c 0 0 0 o - - "
#define AT(letter) letter " 0 1000000 0 o " ID " " MACHINE " "

static const struct provider_place place = {
	.type = "h100", .region = "here", .zone = "", .market = PROVIDER_ON_DEMAND};
static const char *const ids[] = {ID, THEIRS};

#include "driver_lab.h"

static inline struct provider_op op_at(enum provider_op_kind kind, const char *cursor)
{
	static const char *const types[] = {"h100", "a100"};
	struct provider_op op = op_of(kind);

	op.cursor = cursor;
	op.at_ms = NOW;
	if (kind == PROVIDER_QUOTES) {
		op.u.quotes.types = types;
		op.u.quotes.ntypes = 2;
	}
	return op;
}

static inline int open_with(const struct ironic_options *o, const char *user_data, struct err *e)
{
	const struct provider_conf conf = {.name = "here",
					   .url = "http://ironic:6385/",
					   .credential = "admin:" SECRET,
					   .options = o,
					   .user_data = user_data};

	return provider_ironic.open(&self, &conf, e);
}

static inline int setup(void **state)
{
	(void)state;
	return open_with(NULL, NULL, NULL);
}

static inline struct provider_result parse_at(enum provider_op_kind kind, const char *cursor,
					      long status, const char *body)
{
	struct provider_op op = op_at(kind, cursor);

	return parse_op(&op, status, body);
}

/* The request as "METHOD URL BODY"; the caller's. */
static inline char *request_of(const struct provider_op *op)
{
	struct provider_request rq = {0};
	struct err e = {0};
	struct str s;

	if (provider_ironic.build(self, op, &rq, &e) != 0)
		fail_msg("%s", e.msg);
	str_init(&s, 1 << 20);
	str_addf(&s, "%s %s", rq.method, rq.url);
	if (rq.body != NULL)
		str_addf(&s, " %s", rq.body);
	provider_request_fini(&rq);
	return str_take(&s);
}

static inline void assert_request(const struct provider_op *op, const char *want_text)
{
	char *text = request_of(op);

	assert_string_equal(text, want_text);
	free(text);
}

#endif
