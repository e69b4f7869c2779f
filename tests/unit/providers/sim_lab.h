/* sim_lab.h - the driver sim, open, and its operations. */
#ifndef TESTS_SIM_LAB_H
#define TESTS_SIM_LAB_H

#include "providers/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char cluster[] = "0b1c2d3e-0000-4000-8000-000000000001";
static const struct provider_place place = {
	.type = "gpu_8x_h100", .region = "eu-north-1", .zone = ""};
static const struct provider_want wants[] = {{"n1", 1, 0}, {"n2", 7, 3}};
static const char *const ids[] = {"a", "b"};
static void *self;

static inline struct provider_op op_of(enum provider_op_kind kind)
{
	struct provider_op op = {.kind = kind};

	if (kind == PROVIDER_CREATE)
		op.u.create = (struct provider_create){.cluster = cluster,
						       .token = "tok",
						       .place = &place,
						       .wants = wants,
						       .nwants = 2};
	if (kind == PROVIDER_LIST) {
		op.u.list.cluster = cluster;
		op.cursor = "c1";
	}
	if (kind == PROVIDER_DELETE) {
		op.u.del.ids = ids;
		op.u.del.nids = 2;
	}
	if (kind == PROVIDER_TOPOLOGY) {
		op.u.topology.ids = ids;
		op.u.topology.nids = 2;
	}
	if (kind == PROVIDER_NOTICES) {
		op.u.notices.cluster = cluster;
		op.cursor = "17";
		op.u.notices.wait_ms = 20000;
	}
	if (kind == PROVIDER_REPORT) {
		op.u.report.id = "sim-1";
		op.u.report.words = "XID 79: \"bus\" \xc3\xa9";
	}
	if (kind == PROVIDER_CONSOLE)
		op.u.console.id = "sim-1";
	if (kind == PROVIDER_FABRIC_MAKE || kind == PROVIDER_FABRIC_LIST ||
	    kind == PROVIDER_FABRIC_DROP) {
		op.u.fabric.cluster = cluster;
		op.u.fabric.name = "tok";
		op.cursor = "";
	}
	return op;
}

static inline int setup(void **state)
{
	struct provider_conf conf = {
		.name = "here", .url = "http://127.0.0.1:1/", .credential = "s3cret"};

	(void)state;
	return provider_sim.open(&self, &conf, NULL);
}

static inline int teardown(void **state)
{
	(void)state;
	provider_sim.close(self);
	provider_sim.close(NULL);
	return 0;
}

#endif
