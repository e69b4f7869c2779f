/* fuzz_lyceum.c - any bytes as an answer of Lyceum, to driver lyceum; driver_check.h says how.  And
 * the list of a cluster, either kind of it, and the answer to a create of its. */
#include <stdlib.h>

#include "providers/lyceum.h"
#include "tests/fuzz/driver_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLUSTER "0b1c2d3e-4f50-4000-8000-000000000001"

static void check_one(void *self, const struct provider_op *op, long status, const uint8_t *data,
		      size_t size)
{
	struct provider_reply reply = {.status = status, .len = size};
	struct provider_result r = {0};
	char *body = mem_zalloc(size + 1);

	memcpy(body, data, size);
	reply.body = body;
	provider_lyceum.parse(self, op, &reply, &r);
	check_result(op, &r);
	provider_result_fini(&r);
	free(body);
}

static void check_list(void *self, const char *cursor, const uint8_t *data, size_t size)
{
	struct provider_op op = {.kind = PROVIDER_LIST, .cursor = cursor};

	op.u.list.cluster = CLUSTER;
	check_one(self, &op, 200, data, size);
}

static void check_create(void *self, const uint8_t *data, size_t size)
{
	const struct provider_place place = {.type = "h100.8x", .region = "", .zone = ""};
	const struct provider_want want = {"h100-7", 12, 0};
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){
		.cluster = CLUSTER, .token = "t", .place = &place, .wants = &want, .nwants = 1};
	check_one(self, &op, 200, data, size);
	check_one(self, &op, 422, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lyceum_options o = {.ssh_public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"};
	const struct provider_conf conf = {.name = "lyceum", .credential = "k", .options = &o};
	const uint8_t *line;
	void *self;

	if (provider_lyceum.open(&self, &conf, NULL) != 0)
		abort();
	check_driver(&provider_lyceum, self, data, size);
	line = memchr(data, '\n', size);
	if (line != NULL) {
		size -= (size_t)(line + 1 - data);
		check_list(self, "", line + 1, size);
		check_list(self, "all", line + 1, size);
		check_create(self, line + 1, size);
	}
	provider_lyceum.close(self);
	return 0;
}
