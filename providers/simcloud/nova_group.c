/* nova_group.c - server groups.  One whose policy keeps servers together is a fabric of the cloud,
 * by its id; one that keeps them apart is a name, since no two instances share a host here. */
#include <stdio.h>
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/nova.h"

static const char *policy_of(const json_t *doc)
{
	const json_t *old = json_array_get(json_object_get(doc, "policies"), 0);

	return json_string_value(old != NULL ? old : json_object_get(doc, "policy"));
}

static void put_members(struct str *s, const struct nova_group *g, struct cloud *c, int64_t now)
{
	struct nova_item it;
	struct nova_walk w;
	char id[OS_ID_SIZE];

	js_open(s, "members", '[');
	nova_walk(&w, c);
	while (nova_next(&w, &it)) {
		if (it.k == NULL || strcmp(it.k->spec->group, g->id) != 0 ||
		    !nova_is_there(&it, g->region, now))
			continue;
		nova_id(id, &it);
		js_str(s, NULL, id);
	}
	js_close(s, ']');
}

static void put_rules(struct str *s, const json_t *rules)
{
	if (rules != NULL) {
		js_raw(s, "rules", rules);
		return;
	}
	js_open(s, "rules", '{');
	js_close(s, '}');
}

static void put_group(struct str *s, const char *key, const struct nova_call *x,
		      const struct nova_group *g)
{
	js_open(s, key, '{');
	js_str(s, "id", g->id);
	js_str(s, "name", json_string_value(json_object_get(g->doc, "name")));
	if (x->version >= 64) {
		js_str(s, "policy", policy_of(g->doc));
		put_rules(s, json_object_get(g->doc, "rules"));
	} else {
		js_open(s, "policies", '[');
		js_str(s, NULL, policy_of(g->doc));
		js_close(s, ']');
		js_open(s, "metadata", '{');
		js_close(s, '}');
	}
	js_str(s, "project_id", OS_PROJECT);
	js_str(s, "user_id", OS_USER);
}

static void put_whole(struct str *s, const char *key, const struct face_call *f, struct cloud *c,
		      const struct nova_group *g, int64_t now)
{
	put_group(s, key, f->own, g);
	put_members(s, g, c, now);
	js_close(s, '}');
}

static void answer_one(const struct face_call *f, struct cloud *c, const struct nova_group *g,
		       int64_t now, struct face_reply *out)
{
	struct str s;

	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	put_whole(&s, "server_group", f, c, g, now);
	js_close(&s, '}');
	nova_answer(out, f->own, 200, &s);
}

static void make(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct nova_call *x = f->own;
	struct nova_book *b = nova_book(c);
	struct cloud_fabric fabric = {.name = ""};
	struct nova_group *g;
	size_t n;

	(void)nova_groups(b, &n);
	if ((int64_t)n >= c->conf->fabric_max) {
		nova_fault(out, x, 403, "Quota exceeded, too many server groups.");
		return;
	}
	g = nova_group_add(b, f->region, x->group);
	(void)snprintf(fabric.name, sizeof(fabric.name), "%s", g->id);
	(void)snprintf(fabric.region, sizeof(fabric.region), "%s", f->region);
	if (strstr(policy_of(x->group), "anti") == NULL && fabric_make(c, &fabric) != CODE_OK) {
		nova_group_drop(b, g);
		nova_fault(out, x, 403, "Quota exceeded, too many server groups.");
		return;
	}
	answer_one(f, c, g, now, out);
}

static void list(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct nova_call *x = f->own;
	int64_t left = x->query.limit >= 0 ? x->query.limit : c->conf->page_max;
	struct nova_group *groups;
	struct str s;
	size_t n;

	groups = nova_groups(nova_book(c), &n);
	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "server_groups", '[');
	for (size_t i = 0; i < n && left > 0; i++) {
		if (strcmp(groups[i].region, f->region) != 0)
			continue;
		put_whole(&s, NULL, f, c, &groups[i], now);
		left--;
	}
	js_close(&s, ']');
	js_close(&s, '}');
	nova_answer(out, x, 200, &s);
}

/* Nova lets a group with members go; the fabric stays as long as they live. */
static void drop(const struct face_call *f, struct cloud *c, struct nova_group *g,
		 struct face_reply *out)
{
	(void)fabric_drop(c, g->id);
	nova_group_drop(nova_book(c), g);
	nova_answer(out, f->own, 204, NULL);
}

void nova_run_group(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct nova_call *x = f->own;
	struct nova_group *g = nova_group_find(nova_book(c), x->id, f->region);
	char text[NOVA_TEXT_SIZE];

	if (x->what == NOVA_MAKE_GROUP) {
		make(f, c, now, out);
	} else if (x->what == NOVA_GROUPS) {
		list(f, c, now, out);
	} else if (g == NULL) {
		(void)snprintf(text, sizeof(text), "Instance group %.200s could not be found.",
			       x->id);
		nova_fault(out, x, 404, text);
	} else if (x->what == NOVA_GROUP) {
		answer_one(f, c, g, now, out);
	} else {
		drop(f, c, g, out);
	}
}
