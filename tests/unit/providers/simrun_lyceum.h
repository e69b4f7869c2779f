/* simrun_lyceum.h - the program simcloud with Lyceum's face. */
#ifndef TESTS_SIMRUN_LYCEUM_H
#define TESTS_SIMRUN_LYCEUM_H

#include "simrun_rest.h"

#define KEY    "lk_lab-k3y"
#define BEARER "Authorization: Bearer " KEY
/* A create, and more members of it. */
#define VM(more) "{\"user_public_key\":\"ssh-ed25519 A\",\"hardware_profile\":\"h100\"" more "}"
#define GPUS(n)  ",\"instance_specs\":{\"gpu_count\":" #n "}"

static inline int setup(void **state)
{
	(void)state;
	rest_start("/api/v2/external/", KEY, NULL);
	memset(rest_headers, 0, sizeof(rest_headers));
	rest_headers[0] = BEARER;
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	return 0;
}

/* A machine with that display name; its id. */
static inline const char *create(const char *name)
{
	static char id[64];
	char body[256];
	json_t *vm;

	(void)snprintf(body, sizeof(body), VM(GPUS(8) ",\"display_name\":\"%s\""), name);
	vm = ask("POST", "vms/create", body, 200);
	(void)snprintf(id, sizeof(id), "%s", text_at(vm, "vm_id"));
	json_decref(vm);
	return id;
}

static inline json_t *status_of(const char *id)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "vms/%s/status", id);
	return ask("GET", path, NULL, 200);
}

/* Wait for that status; the answer is the caller's. */
static inline json_t *await(const char *id, const char *status)
{
	json_t *vm = status_of(id);

	for (int i = 0; i < 500 && strcmp(text_at(vm, "status"), status) != 0; i++) {
		json_decref(vm);
		usleep(10000);
		vm = status_of(id);
	}
	assert_string_equal(text_at(vm, "status"), status);
	return vm;
}

static inline void delete (const char *id, long status)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "vms/%s", id);
	json_decref(ask("DELETE", path, NULL, status));
}

#endif
