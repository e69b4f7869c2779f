/* ironic_update.c - what a client may write on a node: its members, its traits, maintenance. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/ironic.h"
#include "providers/simcloud/js.h"

static bool is_uuid(const char *text)
{
	if (strlen(text) != IRONIC_UUID_SIZE - 1)
		return false;
	for (int i = 0; i < IRONIC_UUID_SIZE - 1; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-'
							    : !isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* Are the members what the schema wants? */
static bool doc_good(const struct ironic_run *r, const json_t *doc)
{
	static const struct {
		const char *key, *type;
	} rows[] = {{"extra", "object"},         {"instance_info", "object"},
		    {"properties", "object"},    {"owner", "string"},
		    {"lessee", "string"},        {"description", "string"},
		    {"instance_uuid", "string"}, {"maintenance_reason", "string"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const json_t *v = json_object_get(doc, rows[i].key);

		if (json_is_null(v) ||
		    (rows[i].type[0] == 'o' ? json_is_object(v) : json_is_string(v)))
			continue;
		ironic_fail(r, 400, "Schema error for patch: want '%s', 'null' for %s",
			    rows[i].type, rows[i].key);
		return false;
	}
	if (json_is_boolean(json_object_get(doc, "maintenance")))
		return true;
	ironic_fail(r, 400, "Expected boolean for maintenance");
	return false;
}

static const struct ironic_node *holder_of(const struct ironic *h, const char *instance)
{
	for (size_t i = 0; i < h->nnodes; i++) {
		const char *has = ironic_string(h->nodes[i]->doc, "instance_uuid");

		if (has != NULL && strcmp(has, instance) == 0)
			return h->nodes[i];
	}
	return NULL;
}

/* Each instance is on one node, and each node has one. */
static bool instance_good(const struct ironic_run *r, struct ironic_node *n, const json_t *doc)
{
	const char *was = ironic_string(n->doc, "instance_uuid");
	const char *is = ironic_string(doc, "instance_uuid");
	const struct ironic_node *other;

	if (is == NULL) {
		if (n->alloc == NULL || n->state == IRONIC_AVAILABLE ||
		    n->state == IRONIC_MANAGEABLE || ironic_maintained(n))
			return true;
		ironic_fail(r, 409,
			    "Node %s with an allocation can not have instance_uuid removed unless "
			    "it is in one of allowed (enroll, inspecting, inspect wait, "
			    "manageable, available) states or in maintenance mode. Current state "
			    "is '%s'.",
			    n->uuid, ironic_state_word(n->state));
		return false;
	}
	if (!is_uuid(is)) {
		ironic_fail(r, 400, "Expected UUID for instance_uuid: %.100s", is);
		return false;
	}
	if (was != NULL && strcmp(was, is) != 0) {
		ironic_fail(r, 409, "Node %s is associated with instance %s.", n->uuid, was);
		return false;
	}
	other = holder_of(r->h, is);
	if (other == NULL || other == n)
		return true;
	ironic_fail(r, 409,
		    "Instance %s is already associated with a node, it cannot be associated with "
		    "this other node %s",
		    is, n->uuid);
	return false;
}

void ironic_update(const struct ironic_run *r, struct ironic_node *n)
{
	json_t *doc = ironic_patched(r, n->doc);

	if (doc == NULL)
		return;
	if (!doc_good(r, doc) || !instance_good(r, n, doc)) {
		json_decref(doc);
		return;
	}
	if (ironic_is_moving(n)) {
		ironic_fail(r, 409,
			    "Node %s can not be updated while a state transition is in progress.",
			    r->q->ident);
		json_decref(doc);
		return;
	}
	if (n->alloc != NULL && ironic_string(doc, "instance_uuid") == NULL)
		ironic_alloc_drop(r->h, n->alloc);
	json_decref(n->doc);
	n->doc = doc;
	n->updated_at = r->now;
	ironic_show(r, n, "");
}

/* A node in maintenance is a broken machine: the cloud notes it as a report. */
void ironic_maintain(const struct ironic_run *r, struct ironic_node *n, bool on)
{
	static const char *const known[] = {"reason", NULL};
	const char *reason = ironic_string(r->q->body, "reason");
	char id[METER_ID_SIZE];

	if (on && !ironic_arguments(r, known, NULL))
		return;
	(void)json_object_set_new(n->doc, "maintenance", mem_check(json_boolean(on)));
	(void)json_object_set_new(
		n->doc, "maintenance_reason",
		mem_check(on && reason != NULL ? json_string(reason) : json_null()));
	n->updated_at = r->now;
	if (on && n->row >= 0)
		(void)cloud_report(r->c, meter_id(id, (uint32_t)n->row),
				   reason != NULL ? reason : "", r->now);
	ironic_empty(r, 202);
}

/* --- traits ----------------------------------------------------------------------------------- */

/* One's own begin with CUSTOM_; of the standard ones this looks at the beginning only. */
bool ironic_is_trait(const char *text)
{
	static const char *const heads[] = {"CUSTOM_", "HW_", "COMPUTE_", "STORAGE_", "MISC_"};

	for (const char *p = text; *p != '\0'; p++)
		if (!isupper((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_')
			return false;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strncmp(text, heads[i], strlen(heads[i])) == 0 &&
		    text[strlen(heads[i])] != '\0')
			return true;
	return false;
}

static bool trait_good(const struct ironic_run *r, const char *text)
{
	if (text != NULL && ironic_is_trait(text))
		return true;
	ironic_fail(r, 400,
		    "Schema error for trait: '%.100s' is not valid under any of the given "
		    "schemas. Possible root cause: '%.100s' does not match '^CUSTOM_[A-Z0-9_]+$'",
		    text != NULL ? text : "None", text != NULL ? text : "None");
	return false;
}

static size_t find_trait(const json_t *list, const char *text)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) if (strcmp(json_string_value(v), text) == 0) break;
	return i;
}

static bool set_all(const struct ironic_run *r, struct ironic_node *n)
{
	json_t *list = json_object_get(r->q->body, "traits");
	const json_t *v;
	size_t i;

	if (!json_is_array(list)) {
		ironic_fail(r, 400, "Schema error for body: 'traits' is a required property");
		return false;
	}
	json_array_foreach(list, i, v) if (!trait_good(r, json_string_value(v))) return false;
	(void)json_object_set_new(n->doc, "traits", mem_check(json_deep_copy(list)));
	return true;
}

static bool change(const struct ironic_run *r, struct ironic_node *n)
{
	json_t *list = json_object_get(n->doc, "traits");
	const char *trait = r->q->trait;
	size_t at = find_trait(list, trait);

	if (r->q->what == IRONIC_TRAITS_SET) {
		if (trait[0] == '\0')
			return set_all(r, n);
		if (!trait_good(r, trait))
			return false;
		if (at == json_array_size(list))
			(void)json_array_append_new(list, mem_check(json_string(trait)));
	} else if (trait[0] == '\0') {
		(void)json_array_clear(list);
	} else if (json_array_remove(list, at) != 0) {
		ironic_fail(r, 404, "Node %s doesn't have a trait '%s'", n->uuid, trait);
		return false;
	}
	return true;
}

void ironic_traits(const struct ironic_run *r, struct ironic_node *n)
{
	char path[FACE_ID_SIZE + IRONIC_URL_SIZE];
	struct str s;

	if (r->q->what != IRONIC_TRAITS) {
		if (!change(r, n))
			return;
		n->updated_at = r->now;
		ironic_empty(r, 204);
		(void)snprintf(path, sizeof(path), "nodes/%s/traits/%s", r->q->ident, r->q->trait);
		if (r->q->what == IRONIC_TRAITS_SET && r->q->trait[0] != '\0')
			ironic_location(r, path);
		return;
	}
	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	js_raw(&s, "traits", json_object_get(n->doc, "traits"));
	js_close(&s, '}');
	ironic_body(r, 200, &s);
}
