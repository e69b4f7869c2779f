/* simrun_lambda.h - the program simcloud with Lambda's face, asked with the key of --token-file. */
#ifndef TESTS_SIMRUN_LAMBDA_H
#define TESTS_SIMRUN_LAMBDA_H

#include "simrun.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define BEARER   "Authorization: Bearer secret_lab.k3y"
/* A launch, and more members of it. */
#define LAUNCH(more)                                                                               \
	"{\"region_name\":\"eu-north-1\",\"instance_type_name\":\"gpu_8x_h100\","                  \
	"\"ssh_key_names\":[\"lab\"]" more "}"
#define TAGS                                                                                       \
	",\"tags\":[{\"key\":\"burstd-cluster\",\"value\":\"0b1c2d3e-0000-4000-8000-"              \
	"000000000001\"},"                                                                         \
	"{\"key\":\"burstd-node\",\"value\":\"h100-7\"},"                                          \
	"{\"key\":\"burstd-generation\",\"value\":\"12\"}]"

static struct simrun S;

static inline int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--token-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "key"), "secret_lab.k3y\n");
	simrun_start(&S, args);
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

/* Send a request with one header, which may be NULL; the reply is the caller's. */
static inline void send_as(struct simrun_reply *r, const char *header, const char *method,
			   const char *path, const char *body)
{
	struct curl_slist *headers = header != NULL ? curl_slist_append(NULL, header) : NULL;
	char url[512];

	(void)snprintf(url, sizeof(url), "%s/api/v1/%s", S.url, path);
	simrun_send(r, method, url, headers, body);
	curl_slist_free_all(headers);
}

/* Ask, and be answered with `status`; returns what is in "data" or "error", which is the caller's.
 */
static inline json_t *ask(const char *method, const char *path, const char *body, long status)
{
	struct simrun_reply r;
	json_t *in;

	send_as(&r, BEARER, method, path, body);
	if (r.status != status)
		fail_msg("%s %s %s: %ld %s", method, path, body != NULL ? body : "", r.status,
			 r.body.p);
	json_decref(r.json);
	r.json = json_loadb(r.body.p, r.body.len, JSON_REJECT_DUPLICATES, NULL);
	in = json_incref(json_object_get(r.json, status == 200 ? "data" : "error"));
	assert_non_null(in);
	assert_int_equal(json_object_size(r.json), 1);
	simrun_done(&r);
	return in;
}

static inline const char *text(const json_t *o, const char *key)
{
	const char *v = json_string_value(json_object_get(o, key));

	return v != NULL ? v : "";
}

/* Be refused with that status, code and, unless NULL, a message with these words. */
static inline void refused(const char *method, const char *path, const char *body, long status,
			   const char *code, const char *words)
{
	json_t *e = ask(method, path, body, status);

	if (strcmp(text(e, "code"), code) != 0 || text(e, "message")[0] == '\0' ||
	    (words != NULL && strstr(text(e, "message"), words) == NULL))
		fail_msg("%s: %s, %s", path, text(e, "code"), text(e, "message"));
	json_decref(e);
}

/* Launch one; id gets its id. */
static inline void launch(char id[32], const char *body)
{
	json_t *d = ask("POST", "instance-operations/launch", body, 200);
	const json_t *ids = json_object_get(d, "instance_ids");

	assert_int_equal(json_array_size(ids), 1);
	(void)snprintf(id, 32, "%s", json_string_value(json_array_get(ids, 0)));
	json_decref(d);
}

/* The instance, which is the caller's. */
static inline json_t *get(const char *id)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "instances/%s", id);
	return ask("GET", path, NULL, 200);
}

/* Wait until the instance has this status. */
static inline void becomes(const char *id, const char *status)
{
	bool is = false;

	for (int i = 0; i < 500 && !is; i++) {
		json_t *o = get(id);

		is = strcmp(text(o, "status"), status) == 0;
		json_decref(o);
		if (!is)
			usleep(10000);
	}
	assert_true(is);
}

static inline size_t listed(void)
{
	json_t *d = ask("GET", "instances", NULL, 200);
	size_t n = json_array_size(d);

	json_decref(d);
	return n;
}

/* The i-th row of the meter, which is the caller's; NULL: there are fewer. */
static inline json_t *row(size_t i)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	json_t *r = json_incref(json_array_get(json_object_get(meter, "rows"), i));

	json_decref(meter);
	return r;
}

#endif
