/* simrun_openstack.h - the program simcloud with OpenStack's faces, and a client that is logged in.
 */
#ifndef TESTS_SIMRUN_OPENSTACK_H
#define TESTS_SIMRUN_OPENSTACK_H

#include "simrun.h"

#define IMAGE "\"imageRef\":\"155d900f-4e14-4e4c-a73d-069cbf4541e6\""
#define NODES                                                                                      \
	"\"metadata\":{\"burstd-cluster\":\"k\",\"burstd-node\":\"c[1-9]\",\"burstd-generation\":" \
	"\"7*9\"}"
#define NOBODY "5c1d0000-0000-4000-8000-00000000ffff"

static struct simrun S;
static char token[160];  /* X-Auth-Token: TOKEN */
static char flavor[64];  /* id of gpu_8x_h100 */
static char version[16]; /* of requests; "": none is said */
static struct simrun_reply R;
static char headers_seen[4096]; /* of R */

static inline size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
	size_t len = strlen(headers_seen);

	(void)ctx;
	if (len + size * n < sizeof(headers_seen))
		memcpy(headers_seen + len, data, size * n);
	return size * n;
}

/* Send a request of that status; R has the answer until the next. */
static inline void ask(const char *method, const char *path, const char *body, long status)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	char url[1024], line[64];
	CURL *h = curl_easy_init();

	simrun_done(&R);
	memset(&R, 0, sizeof(R));
	memset(headers_seen, 0, sizeof(headers_seen));
	str_init(&R.body, 1 << 24);
	(void)snprintf(url, sizeof(url), "%s%s", S.url, path);
	(void)snprintf(line, sizeof(line), "OpenStack-API-Version: compute %s", version);
	headers = curl_slist_append(headers, token);
	if (version[0] != '\0')
		headers = curl_slist_append(headers, line);
	(void)curl_easy_setopt(h, CURLOPT_URL, url);
	(void)curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, method);
	(void)curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, 20000L);
	(void)curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, simrun_on_body);
	(void)curl_easy_setopt(h, CURLOPT_WRITEDATA, &R.body);
	(void)curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
	if (body != NULL)
		(void)curl_easy_setopt(h, CURLOPT_POSTFIELDS, body);
	R.rc = curl_easy_perform(h);
	(void)curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &R.status);
	curl_easy_cleanup(h);
	curl_slist_free_all(headers);
	R.json = json_loadb(R.body.p, R.body.len, 0, NULL);
	if (R.status != status)
		fail_msg("%s %s %s: %ld %s", method, path, body, R.status, R.body.p);
}

/* Likewise, with these words in the answer. */
static inline void says(const char *method, const char *path, const char *body, long status,
			const char *words)
{
	ask(method, path, body, status);
	if (strstr(R.body.p, words) == NULL)
		fail_msg("%s %s: %s is not in %s", method, path, words, R.body.p);
}

static inline void header(const char *line)
{
	if (strstr(headers_seen, line) == NULL)
		fail_msg("%s is not in %s", line, headers_seen);
}

#define USER(secret)                                                                               \
	"{\"user\":{\"name\":\"u\",\"domain\":{\"id\":\"default\"},\"password\":\"" secret "\"}}"
#define LOGIN(secret, scope)                                                                       \
	"{\"auth\":{\"identity\":{\"methods\":[\"password\"],\"password\":" USER(secret) "}" scope \
											 "}}"
#define PROJECT ",\"scope\":{\"project\":{\"name\":\"p\",\"domain\":{\"id\":\"default\"}}}"

/* Take the token of the last answer. */
static inline void keep_token(void)
{
	const char *at = strstr(headers_seen, "X-Subject-Token: ");

	assert_non_null(at);
	at += strlen("X-Subject-Token: ");
	(void)snprintf(token, sizeof(token), "X-Auth-Token: %.*s", (int)strcspn(at, "\r\n"), at);
}

static inline void login(void)
{
	ask("POST", "/identity/v3/auth/tokens", LOGIN("geheim", PROJECT), 201);
	keep_token();
}

static inline const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	assert_non_null(text);
	return text;
}

static inline const char *flavor_named(char out[64], const char *name)
{
	const json_t *f;
	size_t i;

	out[0] = '\0';
	ask("GET", "/v2.1/flavors", NULL, 200);
	json_array_foreach(json_object_get(R.json, "flavors"), i,
			   f) if (strcmp(text_of(f, "name"), name) == 0)(void)
		snprintf(out, 64, "%.63s", text_of(f, "id"));
	assert_true(out[0] != '\0');
	return out;
}

/* Settings of simcloud, and other requests that need no token. */
static inline void admin(const char *path, const char *body)
{
	simrun_do(&S, "POST", path, body);
}

static inline int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--token-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	str_init(&R.body, 1);
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "token"), "geheim");
	simrun_start(&S, args);
	admin("/admin/config", "{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	(void)snprintf(version, sizeof(version), "2.96");
	(void)snprintf(token, sizeof(token), "X-Auth-Token: none");
	login();
	(void)flavor_named(flavor, "gpu_8x_h100");
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	simrun_done(&R);
	memset(&R, 0, sizeof(R));
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

/* The body of a create of that flavor, with more members. */
static inline const char *server(const char *of, const char *more)
{
	static char body[4096];

	(void)snprintf(body, sizeof(body),
		       "{\"server\":{\"name\":\"n\",\"flavorRef\":\"%s\"," IMAGE
		       ",\"networks\":\"auto\"%s%s}}",
		       of, more[0] != '\0' ? "," : "", more);
	return body;
}

/* Create servers, and give them time to boot. */
static inline void create(const char *more)
{
	ask("POST", "/v2.1/servers", server(flavor, more), 202);
	usleep(20000);
}

/* The i-th server of a list, borrowed from R. */
static inline const json_t *listed(const char *query, size_t i, size_t n)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "/v2.1/servers/detail%s", query);
	ask("GET", path, NULL, 200);
	assert_int_equal(json_array_size(json_object_get(R.json, "servers")), n);
	return json_array_get(json_object_get(R.json, "servers"), i);
}

static inline const char *path_of(const char *id)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "/v2.1/servers/%s", id);
	return path;
}

static inline size_t rows(void)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	size_t n = json_array_size(json_object_get(meter, "rows"));

	json_decref(meter);
	return n;
}

#endif
