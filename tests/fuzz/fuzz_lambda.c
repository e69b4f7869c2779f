/* fuzz_lambda.c - any bytes as an answer of Lambda, to driver lambda; driver_check.h says how.  And
 * a list of instances that are ours, and an answer to a step of a delete. */
#include <stdlib.h>

#include "providers/lambda.h"
#include "tests/fuzz/driver_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_one(void *self, const struct provider_op *op, long status, const uint8_t *data,
		      size_t size)
{
	struct provider_reply reply = {.status = status, .len = size};
	struct provider_result r = {0};
	char *body = mem_zalloc(size + 1);

	memcpy(body, data, size);
	reply.body = body;
	provider_lambda.parse(self, op, &reply, &r);
	check_result(op, &r);
	provider_result_fini(&r);
	free(body);
}

static void check_ours(void *self, const uint8_t *data, size_t size)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	op.u.list.cluster = "0b1c2d3e-4f50-4000-8000-000000000001";
	check_one(self, &op, 200, data, size);
}

/* The first line is the cursor, of whatever age. */
static void check_step(void *self, const uint8_t *data, size_t size)
{
	static const char *const ids[] = {"i-1", "i-2", "i-3"};
	const uint8_t *line = memchr(data, '\n', size);
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_request rq = {0};
	char *cursor;

	if (line == NULL)
		return;
	cursor = mem_zalloc((size_t)(line - data) + 1);
	memcpy(cursor, data, (size_t)(line - data));
	op.cursor = cursor;
	op.u.del.ids = ids;
	op.u.del.nids = 3;
	if (provider_lambda.build(self, &op, &rq, NULL) == 0)
		provider_request_fini(&rq);
	check_one(self, &op, 200, line + 1, size - (size_t)(line + 1 - data));
	check_one(self, &op, 404, line + 1, size - (size_t)(line + 1 - data));
	free(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char key[] = "lab";
	const struct lambda_options o = {.ssh_key = key};
	const struct provider_conf conf = {.name = "lambda", .credential = "k", .options = &o};
	const uint8_t *line;
	void *self;

	if (provider_lambda.open(&self, &conf, NULL) != 0)
		abort();
	check_driver(&provider_lambda, self, data, size);
	check_step(self, data, size);
	line = memchr(data, '\n', size);
	if (line != NULL)
		check_ours(self, line + 1, size - (size_t)(line + 1 - data));
	provider_lambda.close(self);
	return 0;
}
