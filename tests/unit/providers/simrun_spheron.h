/* simrun_spheron.h - the program simcloud with Spheron's face. */
#ifndef TESTS_SIMRUN_SPHERON_H
#define TESTS_SIMRUN_SPHERON_H

#include "simrun_rest.h"

#define KEY    "sai_pk_lab-k3y"
#define BEARER "Authorization: Bearer " KEY
#define AGENT  "User-Agent: lab/1"

/* Parts of a create: of an offer with and of one without cloudInit. */
#define OFFER_A                                                                                    \
	"\"provider\":\"spheron-ai\",\"offerId\":\"gpu_8x_h100_eu-north-1a\",\"gpuType\":"         \
	"\"H100\","                                                                                \
	"\"gpuCount\":8,\"region\":\"eu-north-1\",\"instanceType\":\"DEDICATED\","                 \
	"\"operatingSystem\":\"Ubuntu Server 22.04\""
#define OFFER_B                                                                                    \
	"\"provider\":\"massed-compute\",\"offerId\":\"gpu_8x_h100_eu-north-1b\","                 \
	"\"gpuType\":\"H100\",\"gpuCount\":8,\"region\":\"eu-north-1\","                           \
	"\"instanceType\":\"DEDICATED\",\"operatingSystem\":\"Ubuntu Server 22.04\""
#define TEAM            ",\"teamId\":\"team-simcloud\""
#define INLINE          ",\"ssh_public_key\":\"ssh-ed25519 A\""
#define CREATE(o, more) "{" o TEAM INLINE more "}"

static inline int setup_with(const char *const *more)
{
	rest_start("/api/", KEY, more);
	memset(rest_headers, 0, sizeof(rest_headers));
	rest_headers[0] = BEARER;
	rest_headers[1] = AGENT;
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	return 0;
}

static inline int setup(void **state)
{
	(void)state;
	return setup_with(NULL);
}

/* A deployment with that name; its id. */
static inline const char *create(const char *name)
{
	static char id[64];
	char body[640];
	json_t *d;

	(void)snprintf(body, sizeof(body), CREATE(OFFER_B, ",\"name\":\"%s\""), name);
	d = ask("POST", "deployments", body, 200);
	(void)snprintf(id, sizeof(id), "%s", text_at(d, "id"));
	json_decref(d);
	return id;
}

static inline const char *path_of(const char *id, const char *tail)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "deployments/%s%s", id, tail);
	return path;
}

/* Wait for that status; the answer is the caller's. */
static inline json_t *await(const char *id, const char *status)
{
	json_t *d = ask("GET", path_of(id, ""), NULL, 200);

	for (int i = 0; i < 500 && strcmp(text_at(d, "status"), status) != 0; i++) {
		json_decref(d);
		usleep(10000);
		d = ask("GET", path_of(id, ""), NULL, 200);
	}
	assert_string_equal(text_at(d, "status"), status);
	return d;
}

#endif
