/* ctl_ask.h - the daemon's side of docs/protocol.md on a fake engine: callers, their requests, and
 * the fields of a reply. */
#ifndef TESTS_CTL_ASK_H
#define TESTS_CTL_ASK_H

#include "fake_engine.h"

#include <jansson.h>

#include "api/ctl_api.h"

struct fixture {
	struct engine e;
	struct journal j;
	struct api api;
};

static const struct ctl_caller root = {CTL_OWN, 0, 0, 1}, admin = {CTL_ADMIN, 1001, 1001, 2},
			       viewer = {CTL_VIEWER, 1000, 1000, 3},
			       finance = {CTL_FINANCE, 1000, 1000, 4},
			       operator= {CTL_OPERATOR, 1000, 1000, 5};

/* Make one pool for each list of nodes. */
static inline struct fixture *start_pools(const char *const *lists, size_t npools)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	fake_init(&f->e, lists, npools);
	f->api = (struct api){.engine = &f->e, .journal = &f->j};
	return f;
}

static inline struct fixture *start(const char *nodes)
{
	return start_pools(&nodes, 1);
}

static inline void stop(struct fixture *f)
{
	fake_fini(&f->e);
	free(f);
}

/* Send a request; the reply must be a JSON object no longer than allowed. */
static inline json_t *ask_as(struct fixture *f, const struct ctl_caller *who, const char *request)
{
	char *text = ctl_api_request(&f->api, NULL, who, request, strlen(request));
	json_t *r = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	print_message("# %s -> %.300s\n", request, text);
	assert_true(strlen(text) <= CTL_REPLY_MAX);
	assert_non_null(r);
	free(text);
	return r;
}

/* Send a request as an admin; it must succeed. */
static inline json_t *ask(struct fixture *f, const char *request)
{
	json_t *r = ask_as(f, &admin, request);

	assert_true(json_is_true(json_object_get(r, "ok")));
	return r;
}

static inline const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	if (s == NULL)
		print_error("no string \"%s\"\n", key);
	assert_non_null(s);
	return s;
}

static inline int64_t number(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

#endif
