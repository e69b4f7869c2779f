/* driver_lab.h - an open driver, its operations, and what it makes of replies.
 *
 * The lab of a driver, such as lambda_lab.h, defines DRIVER, SECRET and NIDS (ids of a delete),
 * place and ids, and includes this; then it has open_with() and setup(). */
#ifndef TESTS_DRIVER_LAB_H
#define TESTS_DRIVER_LAB_H

#include "tests/unit/two_headers.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CLUSTER  "0b1c2d3e-4f50-4000-8000-000000000001"
#define PREFIX   "b0b1c2d3e4f50" /* of names of that cluster's instances */

static const struct provider_want want = {"h100-7", 12, 0};
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
		op.u.del.nids = NIDS;
	}
	return op;
}

static inline int teardown(void **state)
{
	(void)state;
	DRIVER.close(self);
	DRIVER.close(NULL);
	return 0;
}

/* No reply brings the secret into a message or a cursor, and half a result is none. */
static inline struct provider_result parse_later(const struct provider_op *op, long status,
						 const char *body, const char *retry_after)
{
	struct header v[2];
	struct provider_reply reply = {.status = status,
				       .body = body,
				       .len = strlen(body),
				       .headers = two_headers(v, retry_after, NULL)};
	struct provider_result r = {0};

	DRIVER.parse(self, op, &reply, &r);
	assert_null(strstr(r.message, SECRET));
	assert_null(strstr(r.cursor, SECRET));
	if (r.code != PROVIDER_OK && r.code != PROVIDER_MORE)
		assert_int_equal(r.nitems + r.ninstances + r.nquotes + r.nfailures, 0);
	return r;
}

static inline struct provider_result parse_op(const struct provider_op *op, long status,
					      const char *body)
{
	return parse_later(op, status, body, NULL);
}

static inline struct provider_result parse(enum provider_op_kind kind, long status,
					   const char *body)
{
	struct provider_op op = op_of(kind);

	return parse_op(&op, status, body);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
