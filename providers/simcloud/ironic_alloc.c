/* ironic_alloc.c - allocations: the choice of a machine, under a name that there is once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/ironic.h"
#include "providers/simcloud/js.h"

/* --- showing ---------------------------------------------------------------------------------- */

static const char *state_of(const struct ironic_alloc *a, int64_t now)
{
	return now <= a->settled_at ? "allocating" : a->last_error != NULL ? "error" : "active";
}

static void put_own(struct str *s, const struct ironic_run *r, const struct ironic_alloc *a,
		    const char *list)
{
	bool settled = r->now > a->settled_at;

	if (list[0] == '\0' || ironic_has(list, "uuid"))
		js_str(s, "uuid", a->uuid);
	if (list[0] == '\0' || ironic_has(list, "created_at"))
		ironic_time(s, "created_at", a->made_at);
	if (list[0] == '\0' || ironic_has(list, "updated_at"))
		ironic_time(s, "updated_at", settled ? a->changed_at : -1);
	if (list[0] == '\0' || ironic_has(list, "last_error"))
		ironic_text(s, "last_error", settled ? a->last_error : NULL);
	if (list[0] == '\0' || ironic_has(list, "state"))
		js_str(s, "state", state_of(a, r->now));
	if (list[0] == '\0' || ironic_has(list, "node_uuid"))
		ironic_text(s, "node_uuid", settled && a->node != NULL ? a->node->uuid : NULL);
}

static void put_alloc(struct str *s, const struct ironic_run *r, const struct ironic_alloc *a,
		      const char *list)
{
	static const char *const keys[] = {"candidate_nodes", "extra",          "name",
					   "owner",           "resource_class", "traits"};
	char path[IRONIC_URL_SIZE];

	js_open(s, NULL, '{');
	put_own(s, r, a, list);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if ((list[0] == '\0' || ironic_has(list, keys[i])) &&
		    (r->q->minor >= 60 || strcmp(keys[i], "owner") != 0))
			js_raw(s, keys[i], json_object_get(a->doc, keys[i]));
	(void)snprintf(path, sizeof(path), "allocations/%s", a->uuid);
	ironic_links(s, "links", r, path);
	js_close(s, '}');
}

static void show(const struct ironic_run *r, const struct ironic_alloc *a, unsigned status,
		 const char *list)
{
	struct str s;

	str_init(&s, IRONIC_BODY_MAX);
	put_alloc(&s, r, a, list);
	ironic_body(r, status, &s);
}

static bool fields_known(const struct ironic_run *r, const char *list)
{
	static const char all[] = "uuid,created_at,updated_at,candidate_nodes,extra,last_error,"
				  "name,owner,resource_class,state,traits,links,node_uuid";
	char word[64];

	for (const char *p = list; *p != '\0'; p += *p == ',') {
		size_t n = strcspn(p, ",");

		(void)snprintf(word, sizeof(word), "%.*s", (int)n, p);
		if (!ironic_has(all, word)) {
			ironic_fail(r, 400, "Field(s) \"%s\" are not valid.", word);
			return false;
		}
		p += n;
	}
	return true;
}

/* --- making ----------------------------------------------------------------------------------- */

struct ironic_alloc *ironic_alloc(const struct ironic *h, const char *ident)
{
	for (size_t i = 0; i < h->nallocs; i++) {
		const char *name = ironic_string(h->allocs[i]->doc, "name");

		if (strcmp(h->allocs[i]->uuid, ident) == 0 ||
		    (name != NULL && strcmp(name, ident) == 0))
			return h->allocs[i];
	}
	return NULL;
}

static bool is_name(const char *text)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"
				   "._~";

	return text[0] != '\0' && text[strspn(text, good)] == '\0' && strlen(text) <= 255;
}

static bool type_good(const struct ironic_run *r, const char *key, json_type type)
{
	static const char *const words[] = {
		[JSON_OBJECT] = "object", [JSON_ARRAY] = "array", [JSON_STRING] = "string"};
	const json_t *v = json_object_get(r->q->body, key);

	if (v == NULL || json_is_null(v) || json_typeof(v) == type)
		return true;
	ironic_fail(r, 400, "Schema error: %s is not of type '%s', 'null'", key, words[type]);
	return false;
}

static bool keys_good(const struct ironic_run *r)
{
	static const char *const known[] = {"candidate_nodes", "extra",  "name", "node", "owner",
					    "resource_class",  "traits", "uuid", NULL};
	struct err e;

	if (!json_is_object(r->q->body) && r->q->body != NULL) {
		ironic_fail(r, 400, "Schema error: want an object");
		return false;
	}
	if (r->q->body != NULL && js_only(r->q->body, known, &e) != 0) {
		ironic_fail(r, 400, "Schema error: Additional properties are not allowed (%s)",
			    e.msg);
		return false;
	}
	return type_good(r, "candidate_nodes", JSON_ARRAY) && type_good(r, "extra", JSON_OBJECT) &&
	       type_good(r, "name", JSON_STRING) && type_good(r, "owner", JSON_STRING) &&
	       type_good(r, "node", JSON_STRING) && type_good(r, "uuid", JSON_STRING) &&
	       type_good(r, "resource_class", JSON_STRING) && type_good(r, "traits", JSON_ARRAY);
}

static bool words_good(const struct ironic_run *r)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(r->q->body, "traits"), i, v)
	{
		if (json_is_string(v) && ironic_is_trait(json_string_value(v)))
			continue;
		ironic_fail(r, 400,
			    "Schema error: '%.100s' is not valid under any of the given schemas. "
			    "Possible root cause: '%.100s' does not match '^CUSTOM_[A-Z0-9_]+$'",
			    json_is_string(v) ? json_string_value(v) : "?",
			    json_is_string(v) ? json_string_value(v) : "?");
		return false;
	}
	json_array_foreach(json_object_get(r->q->body, "candidate_nodes"), i, v)
	{
		if (json_is_string(v) && ironic_node(r->h, json_string_value(v)) != NULL)
			continue;
		ironic_fail(r, 400, "Nodes cannot be found: %.100s",
			    json_is_string(v) ? json_string_value(v) : "?");
		return false;
	}
	return true;
}

static bool body_good(const struct ironic_run *r)
{
	const char *name = ironic_string(r->q->body, "name");
	const char *class = ironic_string(r->q->body, "resource_class");

	if (r->q->torn)
		ironic_fail(r, 500, "Expecting value: line 1 column 1 (char 0)");
	if (r->q->torn || !keys_good(r))
		return false;
	if (name != NULL && !is_name(name))
		ironic_fail(r, 400, "Cannot create allocation with invalid name '%.100s'", name);
	else if (class == NULL || class[0] == '\0')
		ironic_fail(r, 400, "The resource_class field is mandatory when not backfilling");
	else if (ironic_string(r->q->body, "node") != NULL ||
		 ironic_string(r->q->body, "uuid") != NULL)
		/* Ironic takes them: nobody here backfills. */
		ironic_fail(r, 400, "Schema error: simcloud takes no node and no uuid");
	else if (!words_good(r))
		return false;
	else if (name != NULL && ironic_alloc(r->h, name) != NULL)
		ironic_fail(r, 409, "An allocation with name %s already exists.", name);
	else if (r->h->nallocs >= IRONIC_ALLOCS_MAX)
		ironic_fail(r, 503, "too many allocations");
	else
		return true;
	return false;
}

/* The client's member, or in its place an empty one. */
static void adopt(json_t *doc, const json_t *body, const char *key, json_t *otherwise)
{
	json_t *v = json_object_get(body, key);

	mem_check(otherwise);
	if (v != NULL && !json_is_null(v)) {
		json_decref(otherwise);
		otherwise = mem_check(json_deep_copy(v));
	}
	(void)json_object_set_new(doc, key, otherwise);
}

static json_t *doc_of(const struct ironic_run *r)
{
	json_t *doc = mem_check(json_object()), *list, *v;
	size_t i;

	adopt(doc, r->q->body, "candidate_nodes", json_array());
	adopt(doc, r->q->body, "extra", json_object());
	adopt(doc, r->q->body, "name", json_null());
	adopt(doc, r->q->body, "owner", json_null());
	adopt(doc, r->q->body, "resource_class", json_null());
	adopt(doc, r->q->body, "traits", json_array());
	list = json_object_get(doc, "candidate_nodes");
	json_array_foreach(list, i, v)
		/* A name becomes a uuid. */
		(void) json_array_set_new(
			list, i,
			mem_check(json_string(ironic_node(r->h, json_string_value(v))->uuid)));
	return doc;
}

static bool has_word(const json_t *list, const char *word)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) if (strcmp(json_string_value(v), word) == 0) return true;
	return false;
}

static bool has_all(const json_t *have, const json_t *want)
{
	const json_t *v;
	size_t i;

	json_array_foreach(want, i, v) if (!has_word(have, json_string_value(v))) return false;
	return true;
}

static bool suits(const struct ironic_node *n, const json_t *doc)
{
	const json_t *candidates = json_object_get(doc, "candidate_nodes");

	return n->state == IRONIC_AVAILABLE && n->alloc == NULL && !ironic_is_gone(n) &&
	       !ironic_maintained(n) && ironic_string(n->doc, "instance_uuid") == NULL &&
	       strcmp(n->pool->type, ironic_string(doc, "resource_class")) == 0 &&
	       has_all(json_object_get(n->doc, "traits"), json_object_get(doc, "traits")) &&
	       (json_array_size(candidates) == 0 || has_word(candidates, n->uuid));
}

static void occupy(struct ironic_alloc *a, struct ironic_node *n)
{
	json_t *info = json_object_get(n->doc, "instance_info");

	a->node = n;
	n->alloc = a;
	(void)json_object_set_new(n->doc, "instance_uuid", mem_check(json_string(a->uuid)));
	if (json_is_object(info))
		(void)json_object_set_new(
			info, "traits",
			mem_check(json_deep_copy(json_object_get(a->doc, "traits"))));
}

/* The first machine that suits; Ironic takes any. */
static void choose(const struct ironic_run *r, struct ironic_alloc *a)
{
	struct str s;

	for (size_t i = 0; i < r->h->nnodes && !face_left_out(r->rule, a->who.node, 0, 1); i++)
		if (suits(r->h->nodes[i], a->doc)) {
			occupy(a, r->h->nodes[i]);
			return;
		}
	str_init(&s, IRONIC_TEXT_SIZE);
	str_addf(&s, "Failed to process allocation %s: %s the resource class %s.", a->uuid,
		 json_array_size(json_object_get(a->doc, "candidate_nodes")) > 0
			 ? "none of the requested nodes are available and match"
			 : "no available nodes match",
		 ironic_string(a->doc, "resource_class"));
	a->last_error = str_take(&s);
	r->out->items[CODE_CAPACITY]++;
}

static void make(const struct ironic_run *r)
{
	struct ironic *h = r->h;
	struct ironic_alloc *a;
	char path[IRONIC_URL_SIZE];

	if (!body_good(r))
		return;
	a = mem_zalloc(sizeof(*a));
	(void)snprintf(a->uuid, sizeof(a->uuid), "a110ca7e-0000-4000-8000-%012llx",
		       (unsigned long long)++h->last_alloc);
	a->doc = doc_of(r);
	a->who = r->q->who;
	a->made_at = a->changed_at = r->now;
	a->settled_at = r->now + dist_sample(&r->c->conf->state_lag, &r->c->rng);
	a->visible_at = r->now + dist_sample(&r->c->conf->visible, &r->c->rng);
	choose(r, a);
	if ((h->nallocs & (h->nallocs - 1)) == 0)
		h->allocs = mem_realloc(h->allocs, (h->nallocs == 0 ? 1 : 2 * h->nallocs) *
							   sizeof(struct ironic_alloc *));
	h->allocs[h->nallocs++] = a;
	show(r, a, 201, "");
	(void)snprintf(path, sizeof(path), "allocations/%s", a->uuid);
	ironic_location(r, path);
}

/* --- one -------------------------------------------------------------------------------------- */

static struct ironic_alloc *find(const struct ironic_run *r)
{
	struct ironic_alloc *a = ironic_alloc(r->h, r->q->ident);

	if (a != NULL && r->now >= a->visible_at)
		return a;
	ironic_fail(r, 404, "Allocation %s could not be found.", r->q->ident);
	return NULL;
}

static struct ironic_alloc *of_node(const struct ironic_run *r)
{
	const struct ironic_node *n = ironic_node(r->h, r->q->ident);

	if (n == NULL)
		ironic_fail(r, 404, "Node %s could not be found.", r->q->ident);
	else if (n->alloc == NULL)
		ironic_fail(r, 404, "Allocation for node %s was not found", r->q->ident);
	return n != NULL ? n->alloc : NULL;
}

static void get(const struct ironic_run *r, const struct ironic_alloc *a)
{
	static const char *const known[] = {"fields", NULL};
	char list[IRONIC_FIELDS_SIZE];

	if (ironic_only(r, known) && ironic_value(r, "fields", list, sizeof(list)) &&
	    fields_known(r, list))
		show(r, a, 200, list);
}

/* Of a failed deployment it may be removed, and the node then has no name at all. */
static bool may_drop(const struct ironic_run *r, const struct ironic_alloc *a,
		     const struct ironic_node *n)
{
	if (ironic_is_locked(n))
		ironic_refuse_locked(r, n);
	else if (!ironic_maintained(n) && ironic_is_moving(n))
		ironic_fail(r, 409,
			    "Cannot remove allocation %s for node %s, because the node is in state "
			    "%s where updates are not allowed (and maintenance mode is off)",
			    a->uuid, n->uuid, ironic_state_word(n->state));
	else if (!ironic_maintained(n) && n->state == IRONIC_ACTIVE)
		ironic_fail(r, 409,
			    "Cannot remove allocation %s for node %s, because the node is active "
			    "(and maintenance mode is off)",
			    a->uuid, n->uuid);
	else
		return true;
	return false;
}

static void drop(const struct ironic_run *r, struct ironic_alloc *a)
{
	const struct ironic_node *n = a->node;

	if (face_left_out(r->rule, a->who.node, 0, 1)) {
		ironic_error(r->out, r->rule->code, NULL);
		return;
	}
	if (n != NULL && !may_drop(r, a, n))
		return;
	ironic_alloc_drop(r->h, a);
	ironic_empty(r, 204);
}

/* Only the name and extra may change. */
static void patch(const struct ironic_run *r, struct ironic_alloc *a)
{
	json_t *part = mem_check(json_pack("{s:O, s:O}", "name", json_object_get(a->doc, "name"),
					   "extra", json_object_get(a->doc, "extra")));
	json_t *doc = ironic_patched(r, part);
	const char *name = ironic_string(doc, "name");
	const struct ironic_alloc *other = name != NULL ? ironic_alloc(r->h, name) : NULL;

	json_decref(part);
	if (doc == NULL)
		return;
	if (!json_is_object(json_object_get(doc, "extra")) || (name != NULL && !is_name(name)))
		ironic_fail(r, 400, "Schema error for patch: name or extra");
	else if (other != NULL && other != a)
		ironic_fail(r, 409, "An allocation with name %s already exists.", name);
	else {
		(void)json_object_update(a->doc, doc);
		a->changed_at = r->now;
		show(r, a, 200, "");
	}
	json_decref(doc);
}

/* --- the list --------------------------------------------------------------------------------- */

struct filter {
	char state[32], class[SETTINGS_WORD_SIZE], node[FACE_ID_SIZE], owner[FACE_ID_SIZE];
};

static bool fits(const struct ironic_run *r, const struct filter *w, const struct ironic_alloc *a)
{
	const char *owner = ironic_string(a->doc, "owner");

	return r->now >= a->visible_at &&
	       (w->state[0] == '\0' || strcmp(w->state, state_of(a, r->now)) == 0) &&
	       (w->class[0] == '\0' ||
		strcmp(w->class, ironic_string(a->doc, "resource_class")) == 0) &&
	       (w->owner[0] == '\0' || (owner != NULL && strcmp(w->owner, owner) == 0)) &&
	       (w->node[0] == '\0' || (a->node != NULL && a->node == ironic_node(r->h, w->node)));
}

/* They are numbered as they come, so they are in order by their uuid as well. */
static bool find_start(const struct ironic_run *r, const char *marker, size_t *i)
{
	*i = 0;
	if (marker[0] == '\0')
		return true;
	while (*i < r->h->nallocs && strcmp(r->h->allocs[*i]->uuid, marker) != 0)
		(*i)++;
	if (*i == r->h->nallocs) {
		ironic_fail(r, 404, "Allocation %s could not be found.", marker);
		return false;
	}
	(*i)++;
	return true;
}

static bool read_filter(const struct ironic_run *r, struct filter *w)
{
	if (!ironic_value(r, "state", w->state, sizeof(w->state)) ||
	    !ironic_value(r, "resource_class", w->class, sizeof(w->class)) ||
	    !ironic_value(r, "node", w->node, sizeof(w->node)) ||
	    !ironic_value(r, "owner", w->owner, sizeof(w->owner)))
		return false;
	if (w->node[0] == '\0' || ironic_node(r->h, w->node) != NULL)
		return true;
	ironic_fail(r, 400, "Node %s could not be found.", w->node);
	return false;
}

static void list(const struct ironic_run *r)
{
	static const char *const known[] = {
		"state",  "resource_class", "node",     "owner",    "limit",
		"marker", "fields",         "sort_key", "sort_dir", NULL};
	struct filter w;
	struct ironic_page p;
	struct str s;
	size_t i;

	if (!ironic_only(r, known) || !read_filter(r, &w) || !ironic_page(r, &p, "uuid") ||
	    !fields_known(r, p.fields) || !find_start(r, p.marker, &i))
		return;
	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "allocations", '[');
	for (; i < r->h->nallocs && p.n < p.limit; i++) {
		const struct ironic_alloc *a = r->h->allocs[i];

		if (!fits(r, &w, a))
			continue;
		if (!ironic_hides(r, &p, a->who.node))
			put_alloc(&s, r, a, p.fields);
		p.n++;
		memcpy(p.last, a->uuid, sizeof(p.last));
	}
	js_close(&s, ']');
	ironic_next(&s, r, &p, "allocations");
	js_close(&s, '}');
	ironic_body(r, 200, &s);
}

void ironic_alloc_run(const struct ironic_run *r)
{
	enum ironic_what what = r->q->what;
	bool at_node = what == IRONIC_NODE_ALLOC || what == IRONIC_NODE_ALLOC_DROP;
	struct ironic_alloc *a;

	if (r->q->minor < 52) {
		ironic_fail(r, r->f->op == OP_GET || r->f->op == OP_LIST ? 404 : 405,
			    "The API version does not allow allocations");
	} else if (what == IRONIC_ALLOCS) {
		list(r);
	} else if (what == IRONIC_ALLOC_MAKE) {
		make(r);
	} else {
		a = at_node ? of_node(r) : find(r);
		if (a == NULL)
			return;
		if (what == IRONIC_ALLOC || what == IRONIC_NODE_ALLOC)
			get(r, a);
		else if (what == IRONIC_ALLOC_PATCH)
			patch(r, a);
		else
			drop(r, a);
	}
}
