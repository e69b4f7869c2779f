/* simcloud_driver.h - the driver sim against a simcloud process. */
#ifndef TESTS_SIMCLOUD_DRIVER_H
#define TESTS_SIMCLOUD_DRIVER_H

#include "simrun_driver.h"

#include <pthread.h>

#include "base/clock.h"

static const struct provider_want two[] = {{"n1", 1, 0}, {"n2", 7, 0}};

static inline void config(const char *text)
{
	simrun_do(&S, "POST", "/admin/config", text);
}

static inline int64_t created(void)
{
	json_t *o = simrun_ask(&S, "GET", "/admin/stats", NULL, 200);
	int64_t n = simrun_int(o, "created");

	json_decref(o);
	return n;
}

static inline void settle(int ms)
{
	(void)usleep((useconds_t)ms * 1000);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
