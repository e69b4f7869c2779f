/* test_address_map.c - machines behind a router that translates addresses: whatever a provider
 * answers has, for all of burstd, the address by which they are reached. */
#include "bare_cloud.h"

static char heard[128];

static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)reply;
	out->code = PROVIDER_OK;
	if (op->kind == PROVIDER_LIST) {
		out->ninstances = 2;
		out->instances = mem_zalloc(2 * sizeof(*out->instances));
		(void)snprintf(out->instances[0].addr, sizeof(out->instances[0].addr), "10.20.3.4");
		(void)snprintf(out->instances[1].addr, sizeof(out->instances[1].addr), "10.30.3.4");
	} else {
		out->nitems = 1;
		out->items = mem_zalloc(sizeof(*out->items));
		(void)snprintf(out->items[0].instance.addr, sizeof(out->items[0].instance.addr),
			       "10.20.0.5");
	}
}

static void hear(struct cloud *c, void *ctx, const struct provider_result *r)
{
	(void)c;
	(void)ctx;
	heard[0] = '\0';
	for (size_t i = 0; i < r->nitems; i++)
		add(heard, sizeof(heard), " ", r->items[i].instance.addr, "");
	for (size_t i = 0; i < r->ninstances; i++)
		add(heard, sizeof(heard), " ", r->instances[i].addr, "");
}

static void says(enum provider_op_kind kind, const char *want)
{
	struct provider_op op = {.kind = kind};

	if (kind == PROVIDER_CREATE)
		op.u.create.nwants = 1;
	else
		op.cursor = "";
	cloud_send(B.c, &op, hear, NULL);
	engine_turn(&B.e);
	answer(provider_op_str(kind), 200, "");
	assert_string_equal(heard, want);
}

static void test_lists_and_creates_are_translated(void **state)
{
	static const struct provider_ops ops = {
		.name = "test", .build = bare_build, .parse = parse};
	static char map[] = "10.20.0.0/16=198.18.0.0/16";

	(void)state;
	bare_quiet(&ops);
	says(PROVIDER_LIST, " 10.20.3.4 10.30.3.4");
	says(PROVIDER_CREATE, " 10.20.0.5");
	B.provider.address_map = map;
	says(PROVIDER_LIST, " 198.18.3.4 10.30.3.4");
	says(PROVIDER_CREATE, " 198.18.0.5");
	bare_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists_and_creates_are_translated)};

	return cmocka_run_group_tests_name("address_map", tests, NULL, NULL);
}
