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

#define API    "https://cloud.lambda.ai/api/v1/"
#define DRIVER provider_lambda
#define SECRET "secret_lab.k3y"
#define NIDS   2

static const char key[] = "lab key";
static const struct provider_place place = {
	.type = "gpu_8x_h100", .region = "us-west-1", .zone = "", .market = PROVIDER_ON_DEMAND};
static const char *const ids[] = {"i-1", "i-2", "i-3", "i-4", "i-5"};

#include "driver_lab.h"

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

#endif
