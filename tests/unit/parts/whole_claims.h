/* whole_claims.h - machines that claim, on an engine of all parts (claims_run.h): buy/ sends their
 * creates by a driver of the test's, which puts the user-data alone on the wire. */
#ifndef TESTS_WHOLE_CLAIMS_H
#define TESTS_WHOLE_CLAIMS_H

#include "tests/unit/keys/claims_run.h"

#include "buy/buy.h"
#include "parts/parts.h"

static inline struct provider_caps fake_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){.flags = PROVIDER_TOKENS | PROVIDER_TAGS,
				      .create_max = 1000,
				      .delete_max = 1000,
				      .token_ms = 86400000};
}

static inline int fake_build(const void *self, const struct provider_op *op,
			     struct provider_request *out, struct err *e)
{
	(void)self;
	(void)e;
	out->method = "POST";
	out->url = mem_strdup("http://cloud/");
	out->body = mem_strdup(op->kind == PROVIDER_CREATE && op->u.create.user_data != NULL
				       ? op->u.create.user_data
				       : "");
	out->body_len = strlen(out->body);
	return 0;
}

static inline void fake_parse(const void *self, const struct provider_op *op,
			      const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)op;
	(void)reply;
	out->code = PROVIDER_TRANSIENT;
}

static inline const struct provider_ops *fake(const char *name)
{
	static const struct provider_ops ops = {.name = "fake",
						.open = fake_open,
						.close = fake_close,
						.caps = fake_caps,
						.build = fake_build,
						.parse = fake_parse};

	(void)name;
	return &ops;
}

static inline struct engine_parts the_parts(void)
{
	return parts_all();
}

static inline struct fleet_node *want(int i, uint64_t gen)
{
	char name[16];
	struct node node;

	(void)snprintf(name, sizeof(name), "c%d", i);
	node_init(&node, name, gen, engine_now(F.e));
	node.rate_nano_h = 1;
	place_set(F.e, &node, &F.e->conf->pools[0].own, 1);
	return fleet_add(&F.e->fleet, &node);
}

static inline void launch(struct fleet_node **v, size_t n)
{
	launch_send(&F.e->cloud->all[0], v, n, (struct roll_image){.name = ""});
	turn();
}

#endif
