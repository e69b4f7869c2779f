/* fuzz_spheron.c - any bytes as an answer of Spheron, to driver spheron; driver_check.h says how.
 * And a list of deployments that are ours, a delete of one, and the first line as a zone. */
#include <stdlib.h>

#include "providers/spheron.h"
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
	provider_spheron.parse(self, op, &reply, &r);
	check_result(op, &r);
	provider_result_fini(&r);
	free(body);
}

static void check_ours(void *self, const uint8_t *data, size_t size)
{
	static const char *const ids[] = {"6a01"};
	struct provider_op list = {.kind = PROVIDER_LIST}, del = {.kind = PROVIDER_DELETE};

	list.u.list.cluster = "0b1c2d3e-4f50-4000-8000-000000000001";
	check_one(self, &list, 200, data, size);
	del.u.del.ids = ids;
	del.u.del.nids = 1;
	check_one(self, &del, 200, data, size);
	check_one(self, &del, 400, data, size);
}

static void check_zone(void *self, const uint8_t *data, size_t size)
{
	const struct provider_want want = {"c1", 1, 0};
	char *zone = mem_zalloc(size + 1);
	const struct provider_place place = {.type = "t", .region = "r", .zone = zone};
	struct provider_op op = {.kind = PROVIDER_CREATE};
	struct provider_request rq = {0};

	memcpy(zone, data, size);
	op.u.create = (struct provider_create){.cluster = "0b1c2d3e-4f50-4000-8000-000000000001",
					       .token = "t",
					       .place = &place,
					       .wants = &want,
					       .nwants = 1};
	if (provider_spheron.build(self, &op, &rq, NULL) == 0)
		provider_request_fini(&rq);
	free(zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] = "lab";
	const struct spheron_options o = {text, text, text};
	const struct provider_conf conf = {.name = "spheron", .credential = "k", .options = &o};
	const uint8_t *line = memchr(data, '\n', size);
	void *self;

	if (provider_spheron.open(&self, &conf, NULL) != 0)
		abort();
	check_driver(&provider_spheron, self, data, size);
	check_zone(self, data, line != NULL ? (size_t)(line - data) : size);
	if (line != NULL)
		check_ours(self, line + 1, size - (size_t)(line + 1 - data));
	provider_spheron.close(self);
	return 0;
}
