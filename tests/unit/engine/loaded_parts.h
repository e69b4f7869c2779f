/* loaded_parts.h - the parts of an engine that is loaded from a real journal and never started: a
 * configuration of one provider, a driver that opens, and a fatal handler that fails the test. */
#ifndef TESTS_LOADED_PARTS_H
#define TESTS_LOADED_PARTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/kernel.h"
#include "io/loop.h"
#include "io/proc.h"

static const char uuid[] = "5111eb00-0000-4000-8000-000000000001";

static const char *fake_open_fails; /* why open() fails; NULL: it succeeds */

static int fake_open(void **self, const struct provider_conf *conf, struct err *e)
{
	(void)conf;
	*self = NULL;
	return fake_open_fails == NULL ? 0 : err_set(e, ERR_INVALID, "%s", fake_open_fails);
}

static void fake_close(void *self)
{
	(void)self;
}

static void on_fatal(void *ctx, const struct err *e)
{
	(void)ctx;
	fail_msg("%s", e->msg);
}

static inline struct conf_pool make_pool(const char *name, const char *nodes, uint32_t max)
{
	return (struct conf_pool){.name = mem_strdup(name),
				  .nodes_text = mem_strdup(nodes),
				  .provider = mem_strdup("cloud"),
				  .type = mem_strdup("t"),
				  .region = mem_strdup("r"),
				  .zone = mem_strdup(""),
				  .max_nodes = max,
				  .max_rate_nano_h = INT64_C(100) * 1000000000,
				  .price_nano_h = 1000000000,
				  .boot_ms = 600000};
}

/* One provider and one pool, of whose nodes `max` may run; the caller calls conf_finish(). */
static inline struct conf *one_pool(const char *nodes, uint32_t max)
{
	struct conf *c = conf_new("burstd.conf");

	c->cluster = mem_strdup("test");
	memcpy(c->currency, "EUR", 4);
	c->state_dir = mem_strdup("/nowhere");
	c->listen = mem_strdup("");
	c->slurm_bin = mem_strdup("/nowhere");
	c->nproviders = 1;
	c->providers = mem_zalloc(sizeof(*c->providers));
	c->providers[0] = (struct conf_provider){.name = mem_strdup("cloud"),
						 .driver = mem_strdup("fake"),
						 .url = mem_strdup(""),
						 .settle_ms = 60000,
						 .list_ms = 30000,
						 .timeout_ms = 30000,
						 .concurrency = 16};
	c->npools = 1;
	c->pools = mem_zalloc(sizeof(*c->pools));
	c->pools[0] = make_pool("pool", nodes, max);
	return c;
}

#endif
