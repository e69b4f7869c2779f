/* simrun_driver.h - a simcloud for each test, asked through the driver that burstd uses. */
#ifndef TESTS_SIMRUN_DRIVER_H
#define TESTS_SIMRUN_DRIVER_H

#include "simrun.h"

#include "providers/sim.h"

static const char cluster[] = "0b1c2d3e-0000-4000-8000-000000000001";
static struct simrun S;
static void *driver;

static inline void open_driver(const char *credential)
{
	struct provider_conf conf = {.name = "t", .url = S.url, .credential = credential};

	assert_int_equal(provider_sim.open(&driver, &conf, NULL), 0);
}

static inline void begin(const char *const *args)
{
	simrun_start(&S, args);
	open_driver(NULL);
}

static inline void finish(void)
{
	provider_sim.close(driver);
	driver = NULL;
	if (S.pid > 0)
		assert_int_equal(simrun_stop(&S, SIGTERM), 0);
}

static inline int setup(void **state)
{
	(void)state;
	S = (struct simrun){0};
	begin(NULL);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	finish();
	if (S.dir[0] != '\0')
		simrun_remove(S.dir);
	S.dir[0] = '\0';
	return 0;
}

/* Run one operation; -1: no reply. */
static inline int drive(const struct provider_op *op, struct provider_result *out)
{
	return simrun_drive(&provider_sim, driver, op, out);
}

static inline int create_in(struct provider_result *out, const char *token, const char *region,
			    const struct provider_want *wants, size_t n)
{
	struct provider_place place = {.type = "gpu_8x_h100", .region = region, .zone = ""};
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){
		.cluster = cluster, .token = token, .place = &place, .wants = wants, .nwants = n};
	return drive(&op, out);
}

static inline int create(struct provider_result *out, const char *token,
			 const struct provider_want *wants, size_t n)
{
	return create_in(out, token, "eu-north-1", wants, n);
}

static inline int list(struct provider_result *out, const char *cursor)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	op.u.list.cluster = cluster;
	op.cursor = cursor;
	return drive(&op, out);
}

#endif
