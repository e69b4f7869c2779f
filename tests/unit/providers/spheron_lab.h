/* spheron_lab.h - the driver spheron, open, its operations and Spheron's replies. */
#ifndef TESTS_SPHERON_LAB_H
#define TESTS_SPHERON_LAB_H

#include "providers/spheron.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/mem.h"
#include "tests/unit/two_headers.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CLUSTER  "0b1c2d3e-4f50-4000-8000-000000000001"
#define PREFIX   "b0b1c2d3e4f50"
#define NAME     PREFIX "-c-h100-7"
#define API      "https://app.spheron.ai/api/"
#define SECRET   "sai_pk_lab.k3y"

static const char team[] = "team-1", ssh_key[] = "key-1", os[] = "Ubuntu Server 22.04";
static const struct spheron_options options = {team, ssh_key, os};
static const struct provider_want want = {"h100-7", 12, 0};
static const char *const ids[] = {"6a01", "6a02"};
static struct provider_place place;
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
		op.u.del.nids = 1;
	}
	return op;
}

static inline int open_with(const struct spheron_options *o, const char *user_data, struct err *e)
{
	const struct provider_conf conf = {
		.name = "here", .credential = SECRET, .options = o, .user_data = user_data};

	place = (struct provider_place){.type = "gpu_8x_h100_us-east-1",
					.region = "us-east-1",
					.zone = "voltage-park:8xH100"};
	return provider_spheron.open(&self, &conf, e);
}

static inline int setup(void **state)
{
	(void)state;
	return open_with(&options, NULL, NULL);
}

static inline int teardown(void **state)
{
	(void)state;
	provider_spheron.close(self);
	provider_spheron.close(NULL);
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

	provider_spheron.parse(self, op, &reply, &r);
	assert_null(strstr(r.message, SECRET));
	if (r.code != PROVIDER_OK && r.code != PROVIDER_MORE)
		assert_int_equal(r.nitems + r.ninstances + r.nquotes + r.nfailures, 0);
	return r;
}

static inline struct provider_result parse(enum provider_op_kind kind, long status,
					   const char *body)
{
	struct provider_op op = op_of(kind);

	return parse_op(&op, status, body);
}

/* The answer of that file in tests/fixtures/spheron, as text; the caller's. */
static inline char *fixture(const char *file)
{
	char path[128];
	json_t *o;
	char *text;

	(void)snprintf(path, sizeof(path), "tests/fixtures/spheron/%s", file);
	o = json_load_file(path, 0, NULL);
	assert_non_null(json_object_get(o, "origin"));
	text = json_dumps(json_object_get(o, "answer"), JSON_COMPACT);
	json_decref(o);
	return text;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
