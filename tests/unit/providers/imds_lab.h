/* imds_lab.h - a cloud with two instances, and its metadata service, without a socket. */
#ifndef TESTS_PROVIDERS_IMDS_LAB_H
#define TESTS_PROVIDERS_IMDS_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/simcloud/imds.h"

static struct {
	struct settings conf;
	struct meter *meter;
	struct events events;
	struct cloud cloud;
	struct identity *identity;
	struct imds imds;
	struct order *order;
	int64_t now;
	char dir[32], cert[64], key[64];
} W;

static inline void imds_lab_make(struct order *order, enum market market, const char *user_data)
{
	struct cloud_want want = {.node = "c1", .gen = 1};
	struct cloud_create rq = {.token = "",
				  .cluster = "lab",
				  .type = "gpu_8x_h100",
				  .region = "eu-north-1",
				  .zone = "eu-north-1a",
				  .market = market,
				  .wants = &want,
				  .nwants = 1,
				  .order = order};
	int32_t row;

	want.user_data = userdata_new(user_data, strlen(user_data));
	assert_int_equal(cloud_create(&W.cloud, &rq, &row, W.now), CODE_OK);
	assert_true(row >= 0);
	userdata_unref(want.user_data);
}

/* Make row 0, spot, at 10.77.0.10, by EC2's API if kind is AWS's, and row 1 by the neutral API. */
static inline void imds_lab_open(enum identity_kind kind, int64_t now)
{
	struct cloud_opts o = {.conf = &W.conf,
			       .meter = NULL,
			       .events = &W.events,
			       .subnet = "10.77.0.0/24",
			       .seed = 1,
			       .start_ms = now};

	memset(&W, 0, sizeof(W));
	W.now = now;
	(void)snprintf(W.dir, sizeof(W.dir), "/tmp/imdsXXXXXX");
	assert_non_null(mkdtemp(W.dir));
	(void)snprintf(W.cert, sizeof(W.cert), "%s/cert", W.dir);
	(void)snprintf(W.key, sizeof(W.key), "%s/cert.key", W.dir);
	settings_init(&W.conf);
	o.meter = W.meter = meter_new();
	events_init(&W.events);
	assert_int_equal(cloud_init(&W.cloud, &o, NULL), 0);
	assert_int_equal(identity_open(&W.identity, kind, W.cert, NULL), 0);
	W.imds = (struct imds){.cloud = &W.cloud, .identity = W.identity};
	W.order = order_new();
	W.order->ec2 = W.order->tokens_only = true;
	imds_lab_make(kind == IDENTITY_AWS ? W.order : NULL, MARKET_SPOT, "#!/bin/sh\n: claim\n");
	imds_lab_make(NULL, MARKET_ON_DEMAND, "plain");
}

static inline void imds_lab_close(void)
{
	imds_fini(&W.imds);
	identity_close(W.identity);
	cloud_fini(&W.cloud);
	order_unref(W.order);
	events_fini(&W.events);
	meter_free(W.meter);
	settings_fini(&W.conf);
	(void)unlink(W.cert);
	(void)unlink(W.key);
	(void)rmdir(W.dir);
}

#endif
