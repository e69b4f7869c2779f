/* simrun_rest.h - the program simcloud with a key, asked in JSON by paths below a face's own. */
#ifndef TESTS_SIMRUN_REST_H
#define TESTS_SIMRUN_REST_H

#include "simrun.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { REST_HEADERS = 4 };

static struct simrun S;
static const char *rest_base;                  /* such as "/api/v2/external/" */
static const char *rest_headers[REST_HEADERS]; /* of each request; NULL: none */

/* more: NULL-terminated further arguments, in which RUN is a new directory; NULL: none. */
static inline void rest_start(const char *base, const char *key, const char *const *more)
{
	char path[SIMRUN_PATH], run[SIMRUN_PATH], bearer[128];
	const char *args[SIMRUN_ARGS] = {"--token-file", path};

	S = (struct simrun){0};
	rest_base = base;
	simrun_dir(&S);
	(void)snprintf(bearer, sizeof(bearer), "%s\n", key);
	simrun_write(simrun_path(path, S.dir, "key"), bearer);
	for (size_t i = 0; more != NULL && more[i] != NULL; i++)
		args[2 + i] =
			strcmp(more[i], "RUN") == 0 ? simrun_path(run, S.dir, "run") : more[i];
	simrun_start(&S, args);
}

static inline int rest_stop(void **state)
{
	(void)state;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

/* The reply is the caller's. */
static inline void rest_send(struct simrun_reply *r, const char *method, const char *path,
			     const char *body)
{
	struct curl_slist *headers = NULL;
	char url[512];

	for (size_t i = 0; i < REST_HEADERS; i++)
		if (rest_headers[i] != NULL)
			headers = curl_slist_append(headers, rest_headers[i]);
	(void)snprintf(url, sizeof(url), "%s%s%s", S.url, rest_base, path);
	simrun_send(r, method, url, headers, body);
	curl_slist_free_all(headers);
}

/* Ask, and be answered with `status`; the body is the caller's. */
static inline json_t *ask(const char *method, const char *path, const char *body, long status)
{
	struct simrun_reply r;
	json_t *json;

	rest_send(&r, method, path, body);
	if (r.status != status)
		fail_msg("%s %s: %ld %s", method, path, r.status, r.body.p);
	json = json_incref(r.json);
	simrun_done(&r);
	return json;
}

/* Likewise; the body is that text. */
static inline void says(const char *method, const char *path, const char *body, long status,
			const char *text)
{
	struct simrun_reply r;

	rest_send(&r, method, path, body);
	if (r.status != status || strcmp(r.body.p, text) != 0)
		fail_msg("%s %s: %ld %s", method, path, r.status, r.body.p);
	simrun_done(&r);
}

/* A member by its path, "a.b.0.c"; borrowed. */
static inline const json_t *at(const json_t *o, const char *path)
{
	char word[64];

	while (o != NULL && *path != '\0') {
		size_t n = strcspn(path, ".");

		assert_true(n < sizeof(word));
		memcpy(word, path, n);
		word[n] = '\0';
		o = json_is_array(o) ? json_array_get(o, (size_t)strtoul(word, NULL, 10))
				     : json_object_get(o, word);
		path += n + (path[n] == '.');
	}
	return o;
}

static inline const char *text_at(const json_t *o, const char *path)
{
	const char *text = json_string_value(at(o, path));

	return text != NULL ? text : "(none)";
}

/* Rows of the meter that have this name; "": any. */
static inline size_t bought(const char *name)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	const json_t *rows = json_object_get(meter, "rows"), *row;
	size_t i, n = 0;

	json_array_foreach(rows, i, row) n +=
		name[0] == '\0' || strcmp(text_at(row, "name"), name) == 0;
	json_decref(meter);
	return n;
}

/* --- shapes: the keys of an answer, and the types of what they have --- */

/* Say where ours differs from the recorded, or NULL.  Each element of a list of ours must look as
 * one of the recorded does. */
static inline const char *unlike(const json_t *recorded, const json_t *ours, const char *name)
{
	const json_t *v;
	const char *key, *where;
	size_t i, k;

	if (json_is_boolean(recorded) && json_is_boolean(ours))
		return NULL;
	if (json_typeof(recorded) != json_typeof(ours))
		return name;
	if (json_is_array(recorded)) {
		json_array_foreach(ours, i, v)
		{
			where = name;
			for (k = 0; where != NULL && k < json_array_size(recorded); k++)
				where = unlike(json_array_get(recorded, k), v, name);
			if (where != NULL)
				return where;
		}
		return NULL;
	}
	if (!json_is_object(recorded))
		return NULL;
	if (json_object_size(recorded) != json_object_size(ours))
		return name;
	json_object_foreach((json_t *)(uintptr_t)recorded, key, v)
	{
		where = json_object_get(ours, key) == NULL
				? key
				: unlike(v, json_object_get(ours, key), key);
		if (where != NULL)
			return where;
	}
	return NULL;
}

/* The body that a file in dir has, or its member "answer", if it says where it is from; the
 * caller's.  NULL: there is none. */
static inline json_t *recorded(const char *dir, const char *file)
{
	char path[SIMRUN_PATH];
	json_t *all = json_load_file(simrun_path(path, dir, file), 0, NULL);
	json_t *answer =
		json_object_get(all, "origin") != NULL ? json_object_get(all, "answer") : all;

	json_incref(answer);
	json_decref(all);
	return answer;
}

/* Fail unless ours has the recording's shape. */
static inline void assert_shape(const char *dir, const char *file, const json_t *ours)
{
	json_t *want = recorded(dir, file);
	const char *where;

	assert_non_null(want);
	where = unlike(want, ours, "(all)");
	if (where != NULL) {
		char *text = json_dumps(ours, JSON_INDENT(1));

		print_error("%s\n", text);
		free(text);
		fail_msg("%s: another shape at %s", file, where);
	}
	json_decref(want);
}

#endif
