/* fuzz_ironic.c - any bytes as an answer of Ironic, to driver ironic; driver_check.h says how.  And
 * with any cursor, of a create, a delete and a list of instances that are ours. */
#include <stdlib.h>

#include "providers/ironic.h"
#include "tests/fuzz/driver_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLUSTER "0b1c2d3e-4f50-4000-8000-000000000001"

static void check_one(void *self, const struct provider_op *op, long status, const char *body,
		      size_t size)
{
	const struct provider_reply reply = {.status = status, .body = body, .len = size};
	struct provider_result r = {0};

	provider_ironic.parse(self, op, &reply, &r);
	check_result(op, &r);
	/* What the driver writes it can read. */
	if (r.code == PROVIDER_MORE) {
		struct provider_op next = *op;
		struct provider_request rq = {0};

		next.cursor = r.cursor;
		if (provider_ironic.build(self, &next, &rq, NULL) != 0)
			abort();
		provider_request_fini(&rq);
	}
	provider_result_fini(&r);
}

static void check_cursor(void *self, struct provider_op *op, const char *cursor, const char *body,
			 size_t size)
{
	static const long statuses[] = {200, 201, 202, 204, 400, 404, 409, 500};
	struct provider_request rq = {0};

	op->cursor = cursor;
	op->at_ms = 1000;
	if (provider_ironic.build(self, op, &rq, NULL) == 0)
		provider_request_fini(&rq);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		check_one(self, op, statuses[i], body, size);
}

/* The first line is the cursor, in which '|' is a line's end. */
static void check_steps(void *self, const uint8_t *data, size_t size)
{
	static const char *const ids[] = {"9c3e4f1a-0000-4000-8000-000000000001"};
	static const struct provider_want want = {"h100-7", 12, 0};
	const struct provider_place place = {.type = "h100", .region = "", .zone = "z1"};
	struct provider_op op = {.kind = PROVIDER_CREATE};
	const uint8_t *line = memchr(data, '\n', size);
	size_t n = line != NULL ? (size_t)(line - data) : 0;
	char *text;

	if (line == NULL)
		return;
	text = mem_zalloc(size + 1);
	memcpy(text, data, size);
	text[n] = '\0';
	for (char *p = text; *p != '\0'; p++)
		*p = (char)(*p == '|' ? '\n' : *p);
	op.u.create.cluster = CLUSTER;
	op.u.create.token = "t";
	op.u.create.place = &place;
	op.u.create.wants = &want;
	op.u.create.nwants = 1;
	check_cursor(self, &op, text, text + n + 1, size - n - 1);
	op = (struct provider_op){.kind = PROVIDER_DELETE};
	op.u.del.ids = ids;
	op.u.del.nids = 1;
	check_cursor(self, &op, text, text + n + 1, size - n - 1);
	op = (struct provider_op){.kind = PROVIDER_LIST};
	op.u.list.cluster = CLUSTER;
	check_cursor(self, &op, text, text + n + 1, size - n - 1);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct provider_conf conf = {
		.name = "ironic", .url = "http://h", .credential = "u:p"};
	const struct ironic_options o = {.user = "u", .project = "p"};
	const struct provider_conf by_keystone = {
		.name = "ironic", .url = "https://h/v3", .credential = "p", .options = &o};
	void *self;

	if (provider_ironic.open(&self, &conf, NULL) != 0)
		abort();
	check_driver(&provider_ironic, self, data, size);
	check_steps(self, data, size);
	provider_ironic.close(self);
	if (provider_ironic.open(&self, &by_keystone, NULL) != 0)
		abort();
	check_driver(&provider_ironic, self, data, size);
	provider_ironic.close(self);
	return 0;
}
