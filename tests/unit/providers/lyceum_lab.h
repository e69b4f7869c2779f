/* lyceum_lab.h - the driver lyceum, open, its operations and Lyceum's replies. */
#ifndef TESTS_LYCEUM_LAB_H
#define TESTS_LYCEUM_LAB_H

#include "providers/lyceum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define NAME   PREFIX "-c-h100-7"
#define API    "https://api.lyceum.technology/api/v2/external/"
#define DRIVER provider_lyceum
#define SECRET "lk_lab-k3y"
#define NIDS   1
#define BLOB   "AAAAC3NzaC1lZDI1NTE5"
#define KEY    "ssh-ed25519 " BLOB

/* A list, and a VM in it, as recorded. */
#define VMS(rows, total) "{\"vms\":[" rows "],\"total\":" total "}"
#define VM(id, status, ip, name)                                                                   \
	"{\"vm_id\":" id ",\"status\":\"" status "\",\"ip_address\":" ip                           \
	",\"created_at\":\"2026-07-31T14:04:04.426796Z\",\"instance_specs\":"                      \
	"{\"gpu_type\":\"h100\",\"gpu_count\":8},\"hardware_profile\":\"h100\",\"gpu_count\":8,"   \
	"\"instance_type\":\"spot\",\"name\":\"hyd-production-vm-d9mamgf07u65dhihp6j0\","          \
	"\"display_name\":\"" name "\",\"billed\":0.0,\"croesus_billed\":null}"
#define OURS(id, status) VM("\"" id "\"", status, "\"203.0.113.10\"", NAME)

static const struct provider_place place = {
	.type = "h100.8x", .region = "eu", .zone = "", .market = PROVIDER_ON_DEMAND};
static const char *const ids[] = {"i-1", "i-2"};

#include "driver_lab.h"

static inline int open_with(const char *key, const char *user_data, struct err *e)
{
	const struct lyceum_options o = {.ssh_public_key = key};
	const struct provider_conf conf = {
		.name = "here", .credential = SECRET, .options = &o, .user_data = user_data};

	return provider_lyceum.open(&self, &conf, e);
}

static inline int setup(void **state)
{
	(void)state;
	return open_with(KEY " me@here", NULL, NULL); /* it is sent without the comment */
}

#endif
