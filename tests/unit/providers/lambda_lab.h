/* lambda_lab.h - the driver lambda, open, its operations and Lambda's replies. */
#ifndef TESTS_LAMBDA_LAB_H
#define TESTS_LAMBDA_LAB_H

#include "providers/lambda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "providers/lambda_remove.h"
#include "tests/unit/two_headers.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CLUSTER  "0b1c2d3e-4f50-4000-8000-000000000001"
#define PREFIX   "b0b1c2d3e4f50"
#define API      "https://cloud.lambda.ai/api/v1/"
#define SECRET   "secret_lab.k3y"

static const char key[] = "lab key";
static const struct provider_place place = {
	.type = "gpu_8x_h100", .region = "us-west-1", .zone = "", .market = PROVIDER_ON_DEMAND};
static const struct provider_want want = {"h100-7", 12, 0};
static const char *const ids[] = {"i-1", "i-2", "i-3", "i-4", "i-5"};
static void *self;

static inline struct provider_op op_of(enum provider_op_kind kind)
{
	struct provider_op op = {.kind = kind};

	if (kind == PROVIDER_CREATE)
		op.u.create = (struct provider_create){.cluster = CLUSTER,
						       .token = "t",
						       .place = &place,
						       .wants = &want,
						       .nwants = 1};
	if (kind == PROVIDER_LIST)
		op.u.list.cluster = CLUSTER;
	if (kind == PROVIDER_DELETE) {
		op.u.del.ids = ids;
		op.u.del.nids = 2;
	}
	return op;
}

static inline int open_with(const struct lambda_options *o, const char *user_data, struct err *e)
{
	const struct provider_conf conf = {
		.name = "here", .credential = SECRET, .options = o, .user_data = user_data};

	return provider_lambda.open(&self, &conf, e);
}

static inline int setup(void **state)
{
	const struct lambda_options o = {.ssh_key = key};

	(void)state;
	return open_with(&o, NULL, NULL);
}

static inline int teardown(void **state)
{
	(void)state;
	provider_lambda.close(self);
	provider_lambda.close(NULL);
	return 0;
}

static inline struct provider_result parse_op(const struct provider_op *op, long status,
					      const char *body)
{
	struct header v[2];
	struct provider_reply reply = {.status = status,
				       .body = body,
				       .len = strlen(body),
				       .headers = two_headers(v, NULL, NULL)};
	struct provider_result r = {0};

	provider_lambda.parse(self, op, &reply, &r);
	assert_null(strstr(r.message, SECRET));
	if (r.code != PROVIDER_OK && r.code != PROVIDER_MORE)
		assert_int_equal(r.nitems + r.ninstances + r.nquotes, 0);
	return r;
}

static inline struct provider_result parse(enum provider_op_kind kind, long status,
					   const char *body)
{
	struct provider_op op = op_of(kind);

	return parse_op(&op, status, body);
}

/* The body of a request; the caller's. */
static inline char *body_of(const struct provider_op *op)
{
	struct provider_request rq = {0};
	char *body;

	assert_int_equal(provider_lambda.build(self, op, &rq, NULL), 0);
	body = rq.body;
	rq.body = NULL;
	provider_request_fini(&rq);
	return body;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
