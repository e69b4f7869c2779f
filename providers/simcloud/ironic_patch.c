/* ironic_patch.c - JSON patch (RFC 6902) as Ironic takes it: add, replace and remove. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/ironic.h"

enum { KEY_SIZE = 128 };

/* "/a/b", as Ironic's pattern ^(/[\w-]+)+$ has it. */
static bool is_path(const char *path)
{
	if (path[0] != '/')
		return false;
	for (const char *p = path; *p != '\0'; p++)
		if (*p == '/' ? p[1] == '/' || p[1] == '\0'
			      : !isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			return false;
	return true;
}

/* Is the step one that Ironic's schema of patches lets pass? */
static bool step_good(const struct ironic_run *r, const json_t *step)
{
	const char *op = ironic_string(step, "op"), *path = ironic_string(step, "path");

	if (!json_is_object(step))
		ironic_fail(r, 400, "Schema error for patch: want objects");
	else if (op == NULL || path == NULL)
		ironic_fail(r, 400, "Schema error for patch: '%s' is a required property",
			    op == NULL ? "op" : "path");
	else if (!ironic_has("add,replace,remove", op))
		ironic_fail(r, 400,
			    "Schema error for patch: '%s' is not one of ['add', 'replace', "
			    "'remove']",
			    op);
	else if (!is_path(path))
		ironic_fail(r, 400,
			    "Schema error for patch: '%s' does not match "
			    "'^(/[\\\\w-]+)+$'",
			    path);
	else if (strcmp(op, "remove") != 0 && json_object_get(step, "value") == NULL)
		ironic_fail(r, 400, "Schema error for patch: 'value' is a required property");
	else
		return true;
	return false;
}

/* The next word of a path; moves *path behind it. */
static bool next_key(const char **path, char key[KEY_SIZE])
{
	size_t n = strcspn(*path + 1, "/");

	if (n == 0 || n >= KEY_SIZE)
		return false;
	memcpy(key, *path + 1, n);
	key[n] = '\0';
	*path += 1 + n;
	return true;
}

/* The object in which the path's last word is; NULL: there is none. */
static json_t *holder(json_t *doc, const char *path, char key[KEY_SIZE])
{
	json_t *at = doc;

	while (next_key(&path, key)) {
		if (*path == '\0')
			return json_is_object(at) ? at : NULL;
		at = json_object_get(at, key);
	}
	return NULL;
}

/* Ironic keeps null in place of a member that is removed as a whole. */
static void forget(json_t *doc, json_t *at, const char *key)
{
	const json_t *was = json_object_get(at, key);

	if (at != doc)
		(void)json_object_del(at, key);
	else if (json_is_object(was))
		(void)json_object_set_new(at, key, mem_check(json_object()));
	else if (json_is_boolean(was))
		(void)json_object_set_new(at, key, mem_check(json_false()));
	else
		(void)json_object_set_new(at, key, mem_check(json_null()));
}

static bool apply(const struct ironic_run *r, json_t *doc, const json_t *step)
{
	const char *op = ironic_string(step, "op"), *path = ironic_string(step, "path");
	char key[KEY_SIZE], top[KEY_SIZE];
	const char *rest = path;
	json_t *at;

	if (!next_key(&rest, top) || json_object_get(doc, top) == NULL ||
	    strcmp(top, "traits") == 0) {
		ironic_fail(r, 400, "Cannot patch %s. Only the following can be updated: ...",
			    path);
		return false;
	}
	at = holder(doc, path, key);
	if (at == NULL || (strcmp(op, "add") != 0 && json_object_get(at, key) == NULL)) {
		ironic_fail(r, 400,
			    "Couldn't apply patch '{'op': '%s', 'path': '%s'}'. Reason: can't %s "
			    "a non-existent object '%s'",
			    op, path, op, key);
		return false;
	}
	if (strcmp(op, "remove") == 0)
		forget(doc, at, key);
	else
		(void)json_object_set_new(
			at, key, mem_check(json_deep_copy(json_object_get(step, "value"))));
	return true;
}

json_t *ironic_patched(const struct ironic_run *r, const json_t *doc)
{
	const json_t *step;
	json_t *copy;
	size_t i;

	if (r->q->torn) {
		ironic_fail(r, 500, "Expecting value: line 1 column 1 (char 0)");
		return NULL;
	}
	if (!json_is_array(r->q->body)) {
		ironic_fail(r, 400, "Schema error for patch: want an array");
		return NULL;
	}
	copy = mem_check(json_deep_copy(doc));
	json_array_foreach(r->q->body, i, step)
	{
		if (!step_good(r, step) || !apply(r, copy, step)) {
			json_decref(copy);
			return NULL;
		}
	}
	return copy;
}
