/* spheron_lab.h - the driver spheron, open, its operations and Spheron's replies. */
#ifndef TESTS_SPHERON_LAB_H
#define TESTS_SPHERON_LAB_H

#include "providers/spheron.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/mem.h"

#define NAME   PREFIX "-c-h100-7"
#define API    "https://app.spheron.ai/api/"
#define DRIVER provider_spheron
#define SECRET "sai_pk_lab.k3y"
#define NIDS   1

static const char team[] = "team-1", ssh_key[] = "key-1", os[] = "Ubuntu Server 22.04";
static const struct spheron_options options = {team, ssh_key, os};
static const char *const ids[] = {"6a01", "6a02"};
static struct provider_place place;

#include "driver_lab.h"

static inline int open_with(const struct spheron_options *o, const char *user_data, struct err *e)
{
	const struct provider_conf conf = {
		.name = "here", .credential = SECRET, .options = o, .user_data = user_data};

	place = (struct provider_place){.type = "gpu_8x_h100_us-east-1",
					.region = "us-east-1",
					.zone = "voltage-park:8xH100"};
	return provider_spheron.open(&self, &conf, e);
}

static inline int setup(void **state)
{
	(void)state;
	return open_with(&options, NULL, NULL);
}

/* The answer of that file in tests/fixtures/spheron, as text; the caller's. */
static inline char *fixture(const char *file)
{
	char path[128];
	json_t *o;
	char *text;

	(void)snprintf(path, sizeof(path), "tests/fixtures/spheron/%s", file);
	o = json_load_file(path, 0, NULL);
	assert_non_null(json_object_get(o, "origin"));
	text = json_dumps(json_object_get(o, "answer"), JSON_COMPACT);
	json_decref(o);
	return text;
}

#endif
