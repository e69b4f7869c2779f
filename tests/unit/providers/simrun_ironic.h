/* simrun_ironic.h - the program simcloud, asked as Ironic: two machines of one class. */
#ifndef TESTS_SIMRUN_IRONIC_H
#define TESTS_SIMRUN_IRONIC_H

#include "simrun.h"

#define TOKEN   "s3cret"
#define VERSION "X-OpenStack-Ironic-API-Version: 1.78"
#define N0      "/v1/nodes/h100-z1-0"
#define N1      "/v1/nodes/h100-z1-1"
#define DEPLOY  "{\"target\":\"active\"}"
#define ALLOC(name, node)                                                                          \
	"{\"name\":\"" name                                                                        \
	"\",\"resource_class\":\"h100\",\"extra\":{\"burstd-cluster\":\"c-1\","                    \
	"\"burstd-node\":\"" node "\",\"burstd-generation\":\"7\"}}"

static struct simrun S;

static inline void set(const char *conf)
{
	simrun_do(&S, "POST", "/admin/config", conf);
}

static inline void capacity(const char *n)
{
	char body[64];

	(void)snprintf(body, sizeof(body), "{\"capacity\":%s}", n);
	simrun_do(&S, "POST", "/admin/capacity", body);
}

static inline int start(const char *const *args)
{
	simrun_start(&S, args);
	set("{\"offers\":[{\"type\":\"h100\",\"region\":\"r1\",\"zone\":\"z1\",\"price\":\"1\","
	    "\"capacity\":2}],\"boot\":\"1ms\",\"stop\":\"1ms\",\"machine_lock\":\"1h\"}");
	return 0;
}

static inline int setup(void **state)
{
	(void)state;
	S = (struct simrun){0};
	return start(NULL);
}

static inline int teardown(void **state)
{
	(void)state;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	if (S.dir[0] != '\0')
		simrun_remove(S.dir);
	return 0;
}

/* Send a request with one header, or none. */
static inline void sent(struct simrun_reply *r, const char *method, const char *path,
			const char *header, const char *body)
{
	struct curl_slist *headers = NULL;
	char url[512];

	if (header != NULL)
		headers = curl_slist_append(headers, header);
	(void)snprintf(url, sizeof(url), "%s%s", S.url, path);
	simrun_send(r, method, url, headers, body);
	curl_slist_free_all(headers);
}

/* The answer, which must have that status, is the caller's; NULL: it has no body. */
static inline json_t *call(const char *method, const char *path, const char *body, long status)
{
	struct simrun_reply r;
	json_t *json;

	sent(&r, method, path, VERSION, body);
	if (r.status != status)
		fail_msg("%s %s %s: %ld %s", method, path, body, r.status, r.body.p);
	json = json_incref(r.json);
	simrun_done(&r);
	return json;
}

static inline void done(const char *method, const char *path, const char *body, long status)
{
	json_decref(call(method, path, body, status));
}

/* The request is refused, in Ironic's way: the error is JSON in a text, and says these words. */
static inline void refused(const char *method, const char *path, const char *body, long status,
			   const char *words)
{
	json_t *outer = call(method, path, body, status);
	const char *text = json_string_value(json_object_get(outer, "error_message"));
	json_t *inner = text != NULL ? json_loads(text, 0, NULL) : NULL;
	const char *said = json_string_value(json_object_get(
		inner, json_object_get(inner, "title") != NULL ? "title" : "faultstring"));

	if (said == NULL || strstr(said, words) == NULL)
		fail_msg("%s %s: %s, not \"%s\"", method, path, text, words);
	if (json_object_get(inner, "title") != NULL)
		assert_int_equal(simrun_int(inner, "code"), status);
	else
		assert_string_equal(json_string_value(json_object_get(inner, "faultcode")),
				    status >= 500 ? "Server" : "Client");
	json_decref(inner);
	json_decref(outer);
}

static inline const char *word(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* Is the member that text?  NULL: it is null. */
static inline bool has(const char *path, const char *key, const char *text)
{
	json_t *o = call("GET", path, NULL, 200);
	const char *v = word(o, key);
	bool same = text == NULL ? json_is_null(json_object_get(o, key))
				 : v != NULL && strcmp(v, text) == 0;

	json_decref(o);
	return same;
}

/* Wait until it is. */
static inline void until(const char *path, const char *key, const char *text)
{
	for (int i = 0; i < 1000; i++) {
		if (has(path, key, text))
			return;
		(void)usleep(5000);
	}
	fail_msg("%s: %s is not %s", path, key, text);
}

/* How many there are in a list. */
static inline size_t count(const char *path, const char *what)
{
	json_t *o = call("GET", path, NULL, 200);
	size_t n = json_array_size(json_object_get(o, what));

	json_decref(o);
	return n;
}

/* A row of the meter; borrowed from *meter, which is the caller's.  NULL: there is none. */
static inline json_t *bill(json_t **meter, size_t i)
{
	*meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	return json_array_get(json_object_get(*meter, "rows"), i);
}

static inline size_t bills(void)
{
	json_t *meter;
	size_t n;

	(void)bill(&meter, 0);
	n = json_array_size(json_object_get(meter, "rows"));
	json_decref(meter);
	return n;
}

static inline void deploy(const char *path)
{
	char states[256];

	(void)snprintf(states, sizeof(states), "%s/states/provision", path);
	done("PUT", states, DEPLOY, 202);
}

static inline void end(const char *path)
{
	char states[256];

	(void)snprintf(states, sizeof(states), "%s/states/provision", path);
	done("PUT", states, "{\"target\":\"deleted\"}", 202);
}

#endif
