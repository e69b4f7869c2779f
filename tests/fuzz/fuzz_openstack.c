/* fuzz_openstack.c - any bytes as an answer of Nova and Keystone, to driver openstack, at each step
 * of a login, and about a create that was accepted; driver_check.h says how.  And what a login
 * brought, taken. */
#include <stdlib.h>

#include "providers/openstack.h"
#include "tests/fuzz/driver_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char image[] = "155d900f-4e14-4e4c-a73d-069cbf4541e6", user[] = "u", suffix[] = ".spot";

static void check_op(void *self, const struct provider_op *op, const uint8_t *data, size_t size)
{
	static const struct header token = {"X-Subject-Token", "gAAAAA"};
	char *body = mem_zalloc(size + 1);
	struct provider_reply reply = {
		.status = 200, .body = body, .len = size, .headers = {&token, 1}};
	struct provider_result r = {0};

	memcpy(body, data, size);
	provider_openstack.parse(self, op, &reply, &r);
	check_result(op, &r);
	if (r.session != NULL)
		(void)provider_openstack.renew(self, r.session, NULL);
	provider_result_fini(&r);
	assert(provider_openstack.good_until(self) >= 0);
	free(body);
}

static void check_created(void *self, const uint8_t *data, size_t size)
{
	static const char *const cursors[] = {"r-1/0", "r-1/19"};
	static const struct provider_want wants[] = {{"c1", 1, 0}, {"c2", 3, 1}};
	static const struct provider_place anywhere = {.type = "gpu", .region = "R1", .zone = ""};
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){.cluster = "u-u-i-d",
					       .token = "t",
					       .place = &anywhere,
					       .wants = wants,
					       .nwants = 2};
	for (size_t i = 0; i < sizeof(cursors) / sizeof(cursors[0]); i++) {
		op.cursor = cursors[i];
		check_op(self, &op, data, size);
	}
	op.cursor = "";
	op.u.create.nwants = 1;
	check_op(self, &op, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const steps[] = {"t\n1\nR1\nhttps://n/v2.1", "96"};
	static const struct provider_op login = {.kind = PROVIDER_LOGIN};
	const struct openstack_options options = {
		.user = user, .project = user, .image = image, .spot_suffix = suffix};
	const struct provider_conf conf = {
		.name = "os", .url = "https://k", .credential = "s", .options = &options};
	const uint8_t *line;
	void *self;

	if (provider_openstack.open(&self, &conf, NULL) != 0)
		abort();
	check_driver(&provider_openstack, self, data, size);
	line = size > 2 ? memchr(data + 2, '\n', size - 2) : NULL;
	if (line != NULL) {
		size_t n = size - (size_t)(line + 1 - data);

		check_created(self, line + 1, n);
		for (size_t i = 0; i <= 2; i++) {
			(void)provider_openstack.renew(self, NULL, NULL);
			for (size_t k = 0; k < i; k++)
				(void)provider_openstack.renew(self, steps[k], NULL);
			check_op(self, &login, line + 1, n);
		}
	}
	provider_openstack.close(self);
	return 0;
}
