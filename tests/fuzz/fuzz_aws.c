/* fuzz_aws.c - any bytes as an answer of EC2, STS, SQS and the metadata service, to driver aws, at
 * each step of a login; driver_check.h says how.  And what a login brought, taken.  A create of one
 * node is a fleet's. */
#include <stdlib.h>

#include "providers/aws.h"
#include "tests/fuzz/driver_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct provider_want want = {"c1", 1, 0};
static const struct provider_place anywhere = {
	.type = "gpu", .region = "north", .zone = "", .market = PROVIDER_SPOT};

/* Prices: what comes behind types. */
static void check_prices(void *self, const uint8_t *data, size_t size)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_reply reply = {.status = 200, .body = (const char *)data, .len = size};
	struct provider_result r = {0};

	op.cursor = "p";
	provider_aws.parse(self, &op, &reply, &r);
	check_result(&op, &r);
	provider_result_fini(&r);
}

static void check_fleet(void *self, const uint8_t *data, size_t size)
{
	struct provider_op op = {.kind = PROVIDER_CREATE};
	struct provider_reply reply = {.status = 200};
	struct provider_result r = {0};
	char *body = mem_zalloc(size + 1);

	memcpy(body, data, size);
	reply.body = body;
	reply.len = size;
	op.u.create = (struct provider_create){.cluster = "u-u-i-d",
					       .token = "t",
					       .place = &anywhere,
					       .wants = &want,
					       .nwants = 1};
	provider_aws.parse(self, &op, &reply, &r);
	check_result(&op, &r);
	provider_result_fini(&r);
	free(body);
}

/* The same bytes at this step, and what they brought. */
static void check_step(void *self, const uint8_t *data, size_t size)
{
	struct provider_op op = {.kind = PROVIDER_LOGIN};
	struct provider_reply reply = {.status = 200, .body = (const char *)data, .len = size};
	struct provider_result r = {0};

	provider_aws.parse(self, &op, &reply, &r);
	check_result(&op, &r);
	if (r.session != NULL)
		(void)provider_aws.renew(self, r.session, NULL);
	provider_result_fini(&r);
	assert(provider_aws.good_until(self) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const steps[] = {"TOK", "role"};
	static const struct aws_options own = {.region = "north",
					       .launch_template = "t",
					       .subnets = "north-a=subnet-a,north-b=subnet-b",
					       .role = "arn:aws:iam::1:role/r",
					       .notice_queue = "https://sqs/1/q"};
	const struct provider_conf conf = {.name = "aws", .options = &own};
	const uint8_t *line;
	void *self;

	if (provider_aws.open(&self, &conf, NULL) != 0)
		abort();
	check_driver(&provider_aws, self, data, size);
	line = size > 2 ? memchr(data + 2, '\n', size - 2) : NULL;
	if (line != NULL) {
		size_t n = size - (size_t)(line + 1 - data);

		check_fleet(self, line + 1, n);
		check_prices(self, line + 1, n);
		for (size_t i = 0; i <= 2; i++) {
			(void)provider_aws.renew(self, NULL, NULL);
			for (size_t k = 0; k < i; k++)
				(void)provider_aws.renew(self, steps[k], NULL);
			check_step(self, line + 1, n);
		}
		(void)provider_aws.renew(self, NULL, NULL);
		(void)provider_aws.renew(self, "TOK", NULL);
		(void)provider_aws.renew(self, "role", NULL);
		(void)provider_aws.renew(self, "A\nb\nc\n1", NULL);
		check_step(self, line + 1, n); /* the answer of STS */
	}
	provider_aws.close(self);
	return 0;
}
