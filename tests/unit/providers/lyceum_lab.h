/* lyceum_lab.h - the driver lyceum, open, its operations and Lyceum's replies. */
#ifndef TESTS_LYCEUM_LAB_H
#define TESTS_LYCEUM_LAB_H

#include "providers/lyceum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/two_headers.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CLUSTER  "0b1c2d3e-4f50-4000-8000-000000000001"
#define PREFIX   "b0b1c2d3e4f50"
#define NAME     PREFIX "-c-h100-7"
#define API      "https://api.lyceum.technology/api/v2/external/"
#define SECRET   "lk_lab-k3y"
#define BLOB     "AAAAC3NzaC1lZDI1NTE5"
#define KEY      "ssh-ed25519 " BLOB

/* A list, and a VM in it, as recorded. */
#define VMS(rows, total) "{\"vms\":[" rows "],\"total\":" total "}"
#define VM(id, status, ip, name)                                                                   \
	"{\"vm_id\":" id ",\"status\":\"" status "\",\"ip_address\":" ip                           \
	",\"created_at\":\"2026-07-31T14:04:04.426796Z\",\"instance_specs\":"                      \
	"{\"gpu_type\":\"h100\",\"gpu_count\":8},\"hardware_profile\":\"h100\",\"gpu_count\":8,"   \
	"\"instance_type\":\"spot\",\"name\":\"hyd-production-vm-d9mamgf07u65dhihp6j0\","          \
	"\"display_name\":\"" name "\",\"billed\":0.0,\"croesus_billed\":null}"
#define OURS(id, status) VM("\"" id "\"", status, "\"203.0.113.10\"", NAME)

static const struct provider_place place = {
	.type = "h100.8x", .region = "eu", .zone = "", .market = PROVIDER_ON_DEMAND};
static const struct provider_want want = {"h100-7", 12, 0};
static const char *const ids[] = {"i-1", "i-2"};
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

static inline int open_with(const char *key, const char *user_data, struct err *e)
{
	const struct lyceum_options o = {.ssh_public_key = key};
	const struct provider_conf conf = {
		.name = "here", .credential = SECRET, .options = &o, .user_data = user_data};

	return provider_lyceum.open(&self, &conf, e);
}

static inline int setup(void **state)
{
	(void)state;
	return open_with(KEY " me@here", NULL, NULL); /* it is sent without the comment */
}

static inline int teardown(void **state)
{
	(void)state;
	provider_lyceum.close(self);
	provider_lyceum.close(NULL);
	return 0;
}

static inline struct provider_result parse_op(const struct provider_op *op, long status,
					      const char *body, const char *retry_after)
{
	struct header v[2];
	struct provider_reply reply = {.status = status,
				       .body = body,
				       .len = strlen(body),
				       .headers = two_headers(v, retry_after, NULL)};
	struct provider_result r = {0};

	provider_lyceum.parse(self, op, &reply, &r);
	assert_null(strstr(r.message, SECRET));
	if (r.code != PROVIDER_OK)
		assert_int_equal(r.nitems + r.ninstances + r.nquotes, 0);
	return r;
}

static inline struct provider_result parse(enum provider_op_kind kind, long status,
					   const char *body)
{
	struct provider_op op = op_of(kind);

	return parse_op(&op, status, body, NULL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
