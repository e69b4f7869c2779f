/* aws_lab.h - an open driver aws, creates, and replies from tests/fixtures/aws. */
#ifndef TESTS_AWS_LAB_H
#define TESTS_AWS_LAB_H

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
#include "providers/aws.h"
#include "providers/registry.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define UUID     "0a1b2c3d-0000-4000-8000-001122334455"
#define SECRET   "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define CRED     "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = " SECRET "\n"
#define SUBNETS  "eu-west-1a=subnet-a,eu-west-1b=subnet-b,eu-west-1a=subnet-c"
#define XML      "<?xml version=\"1.0\"?>"

enum { BODY_MAX = 1 << 20, WANTS_MAX = 500, NOW_S = 1795000000 };

static const int64_t now_ms = NOW_S * INT64_C(1000);
static void *self;

static struct aws_options own; /* of usual() */

static inline struct provider_conf usual(void)
{
	own = (struct aws_options){.region = "eu-west-1", .image = "ami-1", .subnets = SUBNETS};
	return (struct provider_conf){
		.name = "ec2", .url = "", .credential = CRED, .options = &own};
}

static inline void reopen(const struct provider_conf *conf)
{
	struct err e = {0};

	provider_aws.close(self);
	self = NULL;
	if (provider_aws.open(&self, conf, &e) != 0)
		fail_msg("%s", e.msg);
}

static inline int setup(void **state)
{
	struct provider_conf conf = usual();

	(void)state;
	return provider_aws.open(&self, &conf, NULL);
}

static inline int teardown(void **state)
{
	(void)state;
	provider_aws.close(self);
	provider_aws.close(NULL);
	self = NULL;
	return 0;
}

static struct provider_place place = {.type = "p5.48xlarge", .region = "eu-west-1", .zone = ""};
static struct provider_want wants[WANTS_MAX];
static char names[WANTS_MAX][HOSTLIST_NAME_MAX + 1];

/* A create of n nodes c1, c2, ... of generation 1, each single, in zone b. */
static inline struct provider_op create(size_t n)
{
	struct provider_op op = {.kind = PROVIDER_CREATE, .at_ms = now_ms};

	place = (struct provider_place){
		.type = "p5.48xlarge", .region = "eu-west-1", .zone = "eu-west-1b"};
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "c%zu", i + 1);
		wants[i] = (struct provider_want){.node = names[i], .gen = 1};
	}
	op.u.create = (struct provider_create){
		.cluster = UUID, .token = "tok", .place = &place, .wants = wants, .nwants = n};
	return op;
}

static inline void build(struct provider_request *rq, const struct provider_op *op)
{
	struct err e = {0};

	*rq = (struct provider_request){0};
	if (provider_aws.build(self, op, rq, &e) != 0)
		fail_msg("%s", e.msg);
}

static inline void parse(struct provider_result *r, const struct provider_op *op, long status,
			 const char *body)
{
	struct provider_reply reply = {.status = status, .body = body, .len = strlen(body)};

	*r = (struct provider_result){0};
	provider_aws.parse(self, op, &reply, r);
}

static inline char *fixture(const char *name)
{
	char path[128], *text = mem_zalloc(BODY_MAX);
	FILE *f;

	(void)snprintf(path, sizeof(path), "tests/fixtures/aws/%s", name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, BODY_MAX - 1, f) > 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static inline const char *header(const struct provider_request *rq, const char *name)
{
	for (size_t i = 0; rq->headers[i] != NULL; i++)
		if (strncmp(rq->headers[i], name, strlen(name)) == 0)
			return rq->headers[i] + strlen(name) + 2;
	return NULL;
}

static inline bool has(const struct provider_request *rq, const char *parameter)
{
	const char *at = strstr(rq->body, parameter);

	return at != NULL && (at[strlen(parameter)] == '&' || at[strlen(parameter)] == '\0');
}

/* A reply to DescribeInstances, and one instance in it. */
#define LIST(instances, more)                                                                      \
	XML "<DescribeInstancesResponse><reservationSet><item><instancesSet>" instances            \
	    "</instancesSet></item></reservationSet>" more "</DescribeInstancesResponse>"
#define ONE(index, tags)                                                                           \
	"<item><instanceId>i-1</instanceId><amiLaunchIndex>" index                                 \
	"</amiLaunchIndex><instanceState><name>running</name></instanceState><tagSet>" tags        \
	"</tagSet></item>"
#define TAG(key, value) "<item><key>" key "</key><value>" value "</value></item>"
#define OURS            TAG("burstd-cluster", UUID)

#endif
