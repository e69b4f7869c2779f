/* openstack_lab.h - an open driver openstack, logged in, and replies from tests/fixtures/openstack.
 */
#ifndef TESTS_OPENSTACK_LAB_H
#define TESTS_OPENSTACK_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "providers/openstack.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define UUID      "0b1c2d3e-4f50-4000-8000-000000000001"
#define TAG       "burstd-cluster=" UUID
#define BATCH     "burstd-0b1c2d3e-7"
#define SECRET    "s3cret"
#define THE_TOKEN "gAAAAAtheToken"
#define IMAGE     "155d900f-4e14-4e4c-a73d-069cbf4541e6"
#define NOVA      "https://nova.r1.example/v2.1"

enum { BODY_MAX = 1 << 20, WANTS_MAX = 101 };

static void *self;
static struct openstack_options options;

/* As the table of options has them. */
static inline struct openstack_options usual_options(void)
{
	return (struct openstack_options){
		.region = "R1", .user = "burstd", .project = "hpc", .image = IMAGE, .together = 8};
}

static inline struct provider_conf usual(void)
{
	return (struct provider_conf){.name = "cloud",
				      .url = "https://keystone.example/v3",
				      .credential = SECRET,
				      .options = &options};
}

static inline void reopen(const struct provider_conf *conf)
{
	struct err e = {0};

	provider_openstack.close(self);
	self = NULL;
	if (provider_openstack.open(&self, conf, &e) != 0)
		fail_msg("%s", e.msg);
}

static inline char *fixture(const char *name)
{
	char path[128], *text = mem_zalloc(BODY_MAX);
	FILE *f;

	(void)snprintf(path, sizeof(path), "tests/fixtures/openstack/%s.json", name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, BODY_MAX - 1, f) > 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* --- requests and replies ----------------------------------------------------------------------
 */

static inline void build(struct provider_request *rq, const struct provider_op *op)
{
	struct err e = {0};

	*rq = (struct provider_request){0};
	if (provider_openstack.build(self, op, rq, &e) != 0)
		fail_msg("%s", e.msg);
}

/* It cannot be sent, and that is why. */
static inline void refuse(const struct provider_op *op, const char *why)
{
	struct provider_request rq = {0};
	struct err e = {0};

	assert_int_equal(provider_openstack.build(self, op, &rq, &e), -1);
	if (strstr(e.msg, why) == NULL)
		fail_msg("%s is not in: %s", why, e.msg);
	assert_null(rq.url);
}

static inline const char *header(const struct provider_request *rq, const char *name)
{
	for (size_t i = 0; rq->headers[i] != NULL; i++)
		if (strncmp(rq->headers[i], name, strlen(name)) == 0)
			return rq->headers[i] + strlen(name) + 2;
	return "";
}

static inline void has(const struct provider_request *rq, const char *part)
{
	if (strstr(rq->body, part) == NULL)
		fail_msg("%s is not in %s", part, rq->body);
}

static inline void parse_with(struct provider_result *r, const struct provider_op *op, long status,
			      const char *body, const char *header_name, const char *value)
{
	const struct header h = {header_name, value};
	struct provider_reply reply = {.status = status, .body = body, .len = strlen(body)};

	if (header_name != NULL)
		reply.headers = (struct headers){&h, 1};
	*r = (struct provider_result){0};
	provider_openstack.parse(self, op, &reply, r);
}

static inline void parse(struct provider_result *r, const struct provider_op *op, long status,
			 const char *body)
{
	parse_with(r, op, status, body, NULL, NULL);
}

static inline void parse_fixture(struct provider_result *r, const struct provider_op *op,
				 long status, const char *name)
{
	char *body = fixture(name);

	parse(r, op, status, body);
	free(body);
}

/* --- logins ------------------------------------------------------------------------------------
 */

#define FLAVOR(id, name, specs)                                                                    \
	"{\"id\":\"" id "\",\"name\":\"" name "\",\"vcpus\":8,\"ram\":1024" specs "}"
#define SPECS(text)   ",\"extra_specs\":{" text "}"
#define TRAIT(name)   "\"trait:" name "\":\"required\""
#define FLAVORS(rows) "{\"flavors\":[" rows "]}"
#define USUAL_FLAVORS                                                                              \
	FLAVORS(FLAVOR(                                                                            \
		"f-1", "g1.h100",                                                                  \
		SPECS("\"pci_passthrough:alias\":\"h100:8\"")) "," FLAVOR("f-2", "g1.h100.spot",   \
									  SPECS(TRAIT("CUSTOM_"    \
										      "PREEMPTIBL" \
										      "E"))))

static const struct provider_op login_op = {.kind = PROVIDER_LOGIN};

/* One step, with this answer and token: what renew() says. */
static inline int step_as(const char *body, const char *token)
{
	struct provider_result r;
	int rc;

	parse_with(&r, &login_op, 200, body, "X-Subject-Token", token);
	if (r.code != PROVIDER_OK)
		fail_msg("%s: %s", provider_code_str(r.code), r.message);
	assert_non_null(r.session);
	rc = provider_openstack.renew(self, r.session, NULL);
	provider_result_fini(&r);
	return rc;
}

static inline int step(const char *body)
{
	return step_as(body, THE_TOKEN);
}

static inline int step_fixture(const char *name)
{
	char *body = fixture(name);
	int rc = step(body);

	free(body);
	return rc;
}

static inline void login(const char *flavors)
{
	assert_int_equal(step_fixture("token"), 1);
	assert_int_equal(step_fixture("version"), 1);
	assert_int_equal(step(flavors), 0);
}

static inline int setup(void **state)
{
	struct provider_conf conf = usual();

	(void)state;
	options = usual_options();
	reopen(&conf);
	login(USUAL_FLAVORS);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	provider_openstack.close(self);
	provider_openstack.close(NULL);
	self = NULL;
	return 0;
}

/* Another session, of a driver with the changed options. */
static inline void reset(const char *flavors)
{
	struct provider_conf conf = usual();

	reopen(&conf);
	login(flavors);
}

/* --- operations --------------------------------------------------------------------------------
 */

static struct provider_place place;
static struct provider_want wants[WANTS_MAX];
static char names[WANTS_MAX][HOSTLIST_NAME_MAX + 1];

/* A create of n nodes c1, c2, ... of generation 4, of one job. */
static inline struct provider_op create(size_t n)
{
	struct provider_op op = {.kind = PROVIDER_CREATE};

	place = (struct provider_place){.type = "g1.h100", .region = "R1", .zone = ""};
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "c%zu", i + 1);
		wants[i] = (struct provider_want){.node = names[i], .gen = 4, .group = 1};
	}
	op.u.create = (struct provider_create){
		.cluster = UUID, .token = BATCH, .place = &place, .wants = wants, .nwants = n};
	return op;
}

static inline struct provider_op list(const char *cursor)
{
	struct provider_op op = {.kind = PROVIDER_LIST, .cursor = cursor};

	op.u.list.cluster = UUID;
	return op;
}

static const char *const one_id[] = {"88947f67-bc37-4ebc-ab16-075677006e6f"};

static inline struct provider_op delete_one(void)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};

	op.u.del.ids = one_id;
	op.u.del.nids = 1;
	return op;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
