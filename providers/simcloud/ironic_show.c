/* ironic_show.c - nodes in answers: the fields of each, since which version they are there, and
 * the filters of a list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "providers/simcloud/ironic.h"
#include "providers/simcloud/js.h"

#define SHORT_FIELDS "instance_uuid,maintenance,power_state,provision_state,uuid,name"

enum kind {
	K_NULL,
	K_EMPTY, /* {} */
	K_FALSE,
	K_WORD, /* that text */
	K_DOC,  /* of the node's doc */
	K_LINKS,
	/* Of the node itself. */
	K_UUID,
	K_NAME,
	K_CLASS,
	K_CREATED,
	K_UPDATED,
	K_CHANGED,
	K_ERROR,
	K_POWER,
	K_STATE,
	K_TARGET,
	K_HOLDER,
	K_ALLOC,
};

static const struct field {
	const char *name;
	int64_t since;
	enum kind kind;
	const char *word;
} fields[] = {
	{"uuid", 1, K_UUID, NULL},
	{"created_at", 1, K_CREATED, NULL},
	{"updated_at", 1, K_UPDATED, NULL},
	{"automated_clean", 47, K_NULL, NULL},
	{"bios_interface", 40, K_WORD, "no-bios"},
	{"boot_interface", 31, K_WORD, "ipxe"},
	{"boot_mode", 75, K_NULL, NULL},
	{"clean_step", 7, K_EMPTY, NULL},
	{"conductor_group", 46, K_WORD, ""},
	{"console_enabled", 1, K_FALSE, NULL},
	{"console_interface", 31, K_WORD, "no-console"},
	{"deploy_interface", 31, K_WORD, "direct"},
	{"deploy_step", 44, K_EMPTY, NULL},
	{"description", 51, K_DOC, NULL},
	{"disable_power_off", 95, K_FALSE, NULL},
	{"driver", 1, K_WORD, "ipmi"},
	{"driver_info", 1, K_EMPTY, NULL},
	{"driver_internal_info", 3, K_EMPTY, NULL},
	{"extra", 1, K_DOC, NULL},
	{"fault", 42, K_NULL, NULL},
	{"firmware_interface", 86, K_WORD, "no-firmware"},
	{"health", 109, K_NULL, NULL},
	{"inspection_finished_at", 6, K_NULL, NULL},
	{"inspection_started_at", 6, K_NULL, NULL},
	{"inspect_interface", 31, K_WORD, "no-inspect"},
	{"instance_info", 1, K_DOC, NULL},
	{"instance_name", 104, K_NULL, NULL},
	{"instance_uuid", 1, K_DOC, NULL},
	{"last_error", 1, K_ERROR, NULL},
	{"lessee", 65, K_DOC, NULL},
	{"maintenance", 1, K_DOC, NULL},
	{"maintenance_reason", 1, K_DOC, NULL},
	{"management_interface", 31, K_WORD, "ipmitool"},
	{"name", 5, K_NAME, NULL},
	{"network_data", 66, K_EMPTY, NULL},
	{"network_interface", 20, K_WORD, "noop"},
	{"owner", 50, K_DOC, NULL},
	{"parent_node", 83, K_NULL, NULL},
	{"power_interface", 31, K_WORD, "ipmitool"},
	{"power_state", 1, K_POWER, NULL},
	{"properties", 1, K_DOC, NULL},
	{"protected", 48, K_FALSE, NULL},
	{"protected_reason", 48, K_NULL, NULL},
	{"provision_state", 1, K_STATE, NULL},
	{"provision_updated_at", 1, K_CHANGED, NULL},
	{"raid_config", 12, K_EMPTY, NULL},
	{"raid_interface", 31, K_WORD, "no-raid"},
	{"rescue_interface", 38, K_WORD, "no-rescue"},
	{"reservation", 1, K_HOLDER, NULL},
	{"resource_class", 21, K_CLASS, NULL},
	{"retired", 61, K_FALSE, NULL},
	{"retired_reason", 61, K_NULL, NULL},
	{"secure_boot", 75, K_NULL, NULL},
	{"service_step", 87, K_EMPTY, NULL},
	{"shard", 82, K_NULL, NULL},
	{"storage_interface", 33, K_WORD, "noop"},
	{"target_power_state", 1, K_NULL, NULL},
	{"target_provision_state", 1, K_TARGET, NULL},
	{"target_raid_config", 12, K_EMPTY, NULL},
	{"traits", 37, K_DOC, NULL},
	{"vendor_interface", 31, K_WORD, "no-vendor"},
	{"conductor", 49, K_WORD, "simcloud"},
	{"allocation_uuid", 52, K_ALLOC, NULL},
	{"chassis_uuid", 1, K_NULL, NULL},
	{"ports", 1, K_LINKS, NULL},
	{"states", 14, K_LINKS, NULL},
	{"portgroups", 24, K_LINKS, NULL},
	{"volume", 32, K_LINKS, NULL},
};

enum { NFIELDS = sizeof(fields) / sizeof(fields[0]) };

/* Before version 1.2 an available node had no state. */
static void put_state(struct str *s, const struct ironic_run *r, const struct ironic_node *n)
{
	ironic_text(s, "provision_state",
		    n->state == IRONIC_AVAILABLE && r->q->minor < 2 ? NULL
								    : ironic_state_word(n->state));
}

static void put_links(struct str *s, const struct ironic_run *r, const struct ironic_node *n,
		      const char *what)
{
	char path[IRONIC_URL_SIZE];

	(void)snprintf(path, sizeof(path), "nodes/%s%s%s", n->uuid, what[0] != '\0' ? "/" : "",
		       what);
	ironic_links(s, what[0] != '\0' ? what : "links", r, path);
}

/* The answer to a patch is written while the patch holds the node. */
static bool is_held(const struct ironic_run *r, const struct ironic_node *n)
{
	return ironic_is_locked(n) || r->q->what == IRONIC_NODE_PATCH;
}

static void put_own(struct str *s, const struct ironic_run *r, const struct ironic_node *n,
		    const struct field *f)
{
	switch (f->kind) {
	case K_UUID:
		js_str(s, f->name, n->uuid);
		break;
	case K_NAME:
		js_str(s, f->name, n->name);
		break;
	case K_CLASS:
		js_str(s, f->name, n->pool->type);
		break;
	case K_CREATED:
		ironic_time(s, f->name, r->c->start_ms);
		break;
	case K_UPDATED:
		ironic_time(s, f->name, n->updated_at);
		break;
	case K_CHANGED:
		ironic_time(s, f->name, n->changed_at);
		break;
	case K_ERROR:
		ironic_text(s, f->name, n->last_error);
		break;
	case K_POWER:
		js_str(s, f->name, n->on ? "power on" : "power off");
		break;
	case K_STATE:
		put_state(s, r, n);
		break;
	case K_TARGET:
		ironic_text(s, f->name, ironic_target_word(n->state));
		break;
	case K_HOLDER:
		ironic_text(s, f->name, is_held(r, n) ? "simcloud" : NULL);
		break;
	default: /* K_ALLOC */
		ironic_text(s, f->name, n->alloc != NULL ? n->alloc->uuid : NULL);
		break;
	}
}

static void put_field(struct str *s, const struct ironic_run *r, const struct ironic_node *n,
		      const struct field *f)
{
	switch (f->kind) {
	case K_NULL:
		js_null(s, f->name);
		break;
	case K_EMPTY:
		js_open(s, f->name, '{');
		js_close(s, '}');
		break;
	case K_FALSE:
		js_bool(s, f->name, false);
		break;
	case K_WORD:
		js_str(s, f->name, f->word);
		break;
	case K_DOC:
		js_raw(s, f->name, json_object_get(n->doc, f->name));
		break;
	case K_LINKS:
		put_links(s, r, n, f->name);
		break;
	default:
		put_own(s, r, n, f);
		break;
	}
}

static void put_node(struct str *s, const struct ironic_run *r, const struct ironic_node *n,
		     const char *list)
{
	js_open(s, NULL, '{');
	for (size_t i = 0; i < NFIELDS; i++)
		if (fields[i].since <= r->q->minor &&
		    (list[0] == '\0' || ironic_has(list, fields[i].name)))
			put_field(s, r, n, &fields[i]);
	put_links(s, r, n, "");
	js_close(s, '}');
}

static const struct field *find_field(const char *name, size_t len)
{
	for (size_t i = 0; i < NFIELDS; i++)
		if (strlen(fields[i].name) == len && memcmp(fields[i].name, name, len) == 0)
			return &fields[i];
	return NULL;
}

/* Ironic fails when a list is asked for what is not in its table of nodes. */
static bool is_column(const struct field *f)
{
	return f != NULL && f->kind != K_LINKS && f->kind != K_ALLOC &&
	       strcmp(f->name, "chassis_uuid") != 0 && strcmp(f->name, "conductor") != 0;
}

static bool columns_known(const struct ironic_run *r, const char *list)
{
	for (const char *p = list; *p != '\0'; p += *p == ',') {
		size_t n = strcspn(p, ",");

		if (!is_column(find_field(p, n))) {
			ironic_fail(r, 500, "type object 'Node' has no attribute '%.*s'", (int)n,
				    p);
			return false;
		}
		p += n;
	}
	return true;
}

/* Are they fields that a node has, in this version? */
static bool fields_known(const struct ironic_run *r, const char *list)
{
	for (const char *p = list; *p != '\0'; p += *p == ',') {
		size_t n = strcspn(p, ",");
		const struct field *f = find_field(p, n);

		if (f == NULL && (n != 5 || memcmp(p, "links", 5) != 0)) {
			ironic_fail(r, 400, "Field %.*s is not a valid field.", (int)n, p);
			return false;
		}
		if (f != NULL && f->since > r->q->minor) {
			ironic_fail(r, 406, "Request not acceptable.");
			return false;
		}
		p += n;
	}
	return true;
}

void ironic_show(const struct ironic_run *r, const struct ironic_node *n, const char *list)
{
	struct str s;

	str_init(&s, IRONIC_BODY_MAX);
	put_node(&s, r, n, list);
	ironic_body(r, 200, &s);
}

void ironic_get(const struct ironic_run *r, const struct ironic_node *n)
{
	static const char *const known[] = {"fields", NULL};
	char list[IRONIC_FIELDS_SIZE];

	if (ironic_only(r, known) && ironic_value(r, "fields", list, sizeof(list)) &&
	    fields_known(r, list))
		ironic_show(r, n, list);
}

/* --- the list --------------------------------------------------------------------------------- */

enum { VALUE_SIZE = 128 };

struct filter { /* "": any */
	char state[VALUE_SIZE], class[VALUE_SIZE], maintenance[VALUE_SIZE], associated[VALUE_SIZE];
	char instance[VALUE_SIZE], owner[VALUE_SIZE], lessee[VALUE_SIZE], detail[VALUE_SIZE];
};

static bool is_state(const char *word)
{
	/* Ironic has these, too, but no machine here is ever in them. */
	static const char others[] =
		"enroll,verifying,inspecting,inspect wait,inspect failed,adopting,adopt failed,"
		"clean failed,error,rebuild,rescue,rescuing,rescue wait,rescue failed,unrescuing,"
		"unrescue failed,deploy hold,clean hold,servicing,service wait,service failed,"
		"service hold";

	for (int s = 0; s < IRONIC_STATES_N; s++)
		if (strcmp(ironic_state_word((enum ironic_state)s), word) == 0)
			return true;
	return ironic_has(others, word);
}

/* A yes or no in a query: "" where it is not there. */
static bool read_bool(const struct ironic_run *r, const char *key, char out[VALUE_SIZE])
{
	static const char yes[] = "1,t,true,on,y,yes", no[] = "0,f,false,off,n,no";

	if (!ironic_value(r, key, out, VALUE_SIZE))
		return false;
	if (out[0] == '\0')
		return true;
	for (char *p = out; *p != '\0'; p++)
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
	if (!ironic_has(yes, out) && !ironic_has(no, out)) {
		ironic_fail(r, 400,
			    "Invalid %s: Unrecognized value '%s', acceptable values are: '0', "
			    "'1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'",
			    key, out);
		return false;
	}
	memcpy(out, ironic_has(yes, out) ? "1" : "0", 2);
	return true;
}

static bool read_filter(const struct ironic_run *r, struct filter *w)
{
	if (!ironic_value(r, "provision_state", w->state, sizeof(w->state)) ||
	    !ironic_value(r, "resource_class", w->class, sizeof(w->class)) ||
	    !ironic_value(r, "instance_uuid", w->instance, sizeof(w->instance)) ||
	    !ironic_value(r, "owner", w->owner, sizeof(w->owner)) ||
	    !ironic_value(r, "lessee", w->lessee, sizeof(w->lessee)) ||
	    !read_bool(r, "maintenance", w->maintenance) ||
	    !read_bool(r, "associated", w->associated) || !read_bool(r, "detail", w->detail))
		return false;
	if (w->state[0] == '\0' || is_state(w->state))
		return true;
	ironic_fail(r, 400, "Provision state \"%s\" is not valid", w->state);
	return false;
}

static bool is_any(const char *want, const char *have)
{
	return want[0] == '\0' || (have != NULL && strcmp(want, have) == 0);
}

static bool fits(const struct filter *w, const struct ironic_node *n)
{
	const char *instance = ironic_string(n->doc, "instance_uuid");

	return !ironic_is_gone(n) && is_any(w->state, ironic_state_word(n->state)) &&
	       is_any(w->class, n->pool->type) &&
	       is_any(w->maintenance, ironic_maintained(n) ? "1" : "0") &&
	       is_any(w->associated, instance != NULL ? "1" : "0") &&
	       is_any(w->instance, instance) && is_any(w->owner, ironic_string(n->doc, "owner")) &&
	       is_any(w->lessee, ironic_string(n->doc, "lessee"));
}

/* By its instance; those without one first, as a database has them. */
static int by_instance(const void *a, const void *b)
{
	const struct ironic_node *x = *(struct ironic_node *const *)a;
	const struct ironic_node *y = *(struct ironic_node *const *)b;
	const char *p = ironic_string(x->doc, "instance_uuid");
	const char *q = ironic_string(y->doc, "instance_uuid");
	int order = strcmp(p != NULL ? p : "", q != NULL ? q : "");

	return order != 0 ? order : strcmp(x->uuid, y->uuid);
}

/* All nodes in the order of the page; the caller's. */
static struct ironic_node **ordered(const struct ironic_run *r, const struct ironic_page *p)
{
	struct ironic_node **nodes = mem_zalloc((r->h->nnodes + 1) * sizeof(struct ironic_node *));

	for (size_t i = 0; i < r->h->nnodes; i++)
		nodes[i] = r->h->nodes[i];
	if (p->sorted)
		qsort(nodes, r->h->nnodes, sizeof(struct ironic_node *), by_instance);
	return nodes;
}

/* Where a list begins: behind the marker.  false: the answer is a refusal. */
static bool find_start(const struct ironic_run *r, struct ironic_node *const *nodes,
		       const char *marker, size_t *i)
{
	*i = 0;
	if (marker[0] == '\0')
		return true;
	while (*i < r->h->nnodes && strcmp(nodes[*i]->uuid, marker) != 0)
		(*i)++;
	if (*i == r->h->nnodes) {
		ironic_fail(r, 404, "Node %s could not be found.", marker);
		return false;
	}
	(*i)++;
	return true;
}

static void put_page(struct str *s, const struct ironic_run *r, struct ironic_page *p,
		     const struct filter *w, struct ironic_node *const *nodes, size_t i)
{
	js_open(s, NULL, '{');
	js_open(s, "nodes", '[');
	for (; i < r->h->nnodes && p->n < p->limit; i++) {
		const struct ironic_node *n = nodes[i];

		if (!fits(w, n))
			continue;
		if (!ironic_hides(r, p, n->who.node))
			put_node(s, r, n, p->fields);
		p->n++;
		memcpy(p->last, n->uuid, sizeof(p->last));
	}
	js_close(s, ']');
	ironic_next(s, r, p, "nodes");
	js_close(s, '}');
}

static void answer(const struct ironic_run *r, struct ironic_page *p, const struct filter *w,
		   struct ironic_node *const *nodes, size_t from)
{
	struct str s;

	if (p->fields[0] == '\0' && r->q->what != IRONIC_DETAIL && w->detail[0] != '1')
		(void)snprintf(p->fields, sizeof(p->fields), "%s", SHORT_FIELDS);
	str_init(&s, IRONIC_BODY_MAX);
	put_page(&s, r, p, w, nodes, from);
	ironic_body(r, 200, &s);
}

void ironic_list(const struct ironic_run *r)
{
	static const char *const known[] = {
		"provision_state", "resource_class", "instance_uuid", "owner",  "lessee",
		"maintenance",     "associated",     "detail",        "fields", "limit",
		"marker",          "sort_key",       "sort_dir",      NULL};
	struct filter w = {.state = ""};
	struct ironic_page p;
	struct ironic_node **nodes;
	size_t i;

	if (!ironic_only(r, known) || !read_filter(r, &w) || !ironic_page(r, &p, "instance_uuid") ||
	    !columns_known(r, p.fields) || !fields_known(r, p.fields))
		return;
	nodes = ordered(r, &p);
	if (find_start(r, nodes, p.marker, &i))
		answer(r, &p, &w, nodes, i);
	free(nodes);
}
void ironic_states(const struct ironic_run *r, const struct ironic_node *n)
{
	struct str s;

	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	for (size_t i = 0; i < NFIELDS; i++)
		if (fields[i].since <= r->q->minor &&
		    ironic_has("console_enabled,last_error,power_state,provision_state,"
			       "target_power_state,target_provision_state,provision_updated_at,"
			       "raid_config,target_raid_config,boot_mode,secure_boot",
			       fields[i].name))
			put_field(&s, r, n, &fields[i]);
	js_close(&s, '}');
	ironic_body(r, 200, &s);
}
