/* cloud_world.h - the simulated cloud on virtual time, and who asks it. */
#ifndef TESTS_CLOUD_WORLD_H
#define TESTS_CLOUD_WORLD_H

#include "providers/simcloud/cloud.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

struct world {
	struct settings conf;
	struct meter *meter;
	struct events events;
	struct cloud cloud;
	int64_t now;
	unsigned started, killed;
	int names;
	bool refuse_start;
	enum market market;
};
static struct world W;

static inline void configure(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	struct err e = {0};

	assert_non_null(o);
	if (settings_merge(&W.conf, o, &e) != 0)
		fail_msg("%s", e.msg);
	json_decref(o);
	cloud_reconf(&W.cloud);
}

static inline int setup(void **state)
{
	(void)state;
	memset(&W, 0, sizeof(W));
	W.now = 1000000;
	settings_init(&W.conf);
	W.meter = meter_new();
	events_init(&W.events);
	return cloud_init(&W.cloud,
			  &(struct cloud_opts){.conf = &W.conf,
					       .meter = W.meter,
					       .events = &W.events,
					       .subnet = "10.77.0.0/24",
					       .seed = 1},
			  NULL);
}

static inline int teardown(void **state)
{
	(void)state;
	cloud_fini(&W.cloud);
	events_fini(&W.events);
	meter_free(W.meter);
	settings_fini(&W.conf);
	return 0;
}

static inline void pass(int64_t ms)
{
	/* Step by step, as a loop would. */
	for (int64_t end = W.now + ms; W.now < end;) {
		int64_t next = cloud_next(&W.cloud);

		W.now = next < end ? (next > W.now ? next : W.now) : end;
		cloud_tick(&W.cloud, W.now);
	}
}

/* "n1,n2:5" makes n1 alone and n2 in group 5; results in out. */
static inline enum code create(const char *token, const char *names, uint64_t hash, int32_t *out)
{
	static struct cloud_want wants[8];
	struct cloud_create rq = {.token = token,
				  .cluster = "c",
				  .type = "gpu_8x_h100",
				  .region = "eu-north-1",
				  .zone = "",
				  .market = W.market,
				  .wants = wants,
				  .body_hash = hash,
				  .body_len = 1};

	memset(wants, 0, sizeof(wants));
	for (const char *p = names; *p != '\0'; p += *p == ',') {
		struct cloud_want *w = &wants[rq.nwants++];
		size_t len = strcspn(p, ",:");

		memcpy(w->node, p, len);
		w->gen = 1;
		p += len;
		if (*p == ':')
			w->group = strtol(p + 1, (char **)(uintptr_t)&p, 10);
	}
	return cloud_create(&W.cloud, &rq, out, W.now);
}

static inline struct cloud_instance *one(const char *name)
{
	int32_t row;

	assert_int_equal(create("", name, 0, &row), CODE_OK);
	assert_true(row >= 0);
	return cloud_of_row(&W.cloud, (uint32_t)row);
}

static inline const struct meter_row *row_of(const struct cloud_instance *i)
{
	return &W.meter->rows[i->row];
}

static inline enum code del(const struct cloud_instance *i)
{
	char id[METER_ID_SIZE];
	int64_t retry = 0;

	return cloud_delete(&W.cloud, meter_id(id, i->row), W.now, &retry);
}

static inline void count_row(void *ctx, const struct cloud_instance *i)
{
	(void)i;
	++*(unsigned *)ctx;
}

static inline unsigned listed(const char *cluster)
{
	struct cloud_query q = {.cluster = cluster, .after = -1, .limit = 1000, .now = W.now};
	unsigned n = 0;

	assert_int_equal(cloud_list(&W.cloud, &q, count_row, &n), -1);
	return n;
}

#endif
