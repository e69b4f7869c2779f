/* ironic_deploy.c - PUT states/provision and states/power: a machine's instance begins and ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/ironic.h"
#include "providers/simcloud/js.h"

/* Verbs that these machines know, with the states in which each is allowed. */
enum verb { V_ACTIVE, V_REBUILD, V_DELETED, V_MANAGE, V_PROVIDE, V_NONE };

static const struct {
	const char *word;
	enum verb verb;
	unsigned states; /* bits of enum ironic_state */
} verbs[] = {
	{"active", V_ACTIVE, 1U << IRONIC_AVAILABLE | 1U << IRONIC_FAILED},
	{"deploy", V_ACTIVE, 1U << IRONIC_AVAILABLE | 1U << IRONIC_FAILED},
	{"rebuild", V_REBUILD, 1U << IRONIC_FAILED},
	{"deleted", V_DELETED, 1U << IRONIC_ACTIVE | 1U << IRONIC_FAILED | 1U << IRONIC_WAIT},
	{"undeploy", V_DELETED, 1U << IRONIC_ACTIVE | 1U << IRONIC_FAILED | 1U << IRONIC_WAIT},
	{"manage", V_MANAGE, 1U << IRONIC_AVAILABLE},
	{"provide", V_PROVIDE, 1U << IRONIC_MANAGEABLE},
};

static enum verb verb_of(const char *word, enum ironic_state state)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].word, word) == 0)
			return (verbs[i].states >> state & 1) != 0 ? verbs[i].verb : V_NONE;
	return V_NONE;
}

bool ironic_arguments(const struct ironic_run *r, const char *const *known, const char *needed)
{
	void *it = json_object_iter(r->q->body);

	for (; it != NULL; it = json_object_iter_next(r->q->body, it)) {
		const char *key = json_object_iter_key(it);
		size_t i = 0;

		while (known[i] != NULL && strcmp(known[i], key) != 0)
			i++;
		if (known[i] == NULL) {
			ironic_fail(r, 400, "Unexpected arguments: %.100s", key);
			return false;
		}
	}
	if (needed == NULL || json_object_get(r->q->body, needed) != NULL)
		return true;
	ironic_fail(r, 400, "Missing mandatory parameter: %s", needed);
	return false;
}

static void accept(const struct ironic_run *r)
{
	char path[FACE_ID_SIZE + 16];

	(void)snprintf(path, sizeof(path), "nodes/%s/states", r->q->ident);
	ironic_empty(r, 202);
	ironic_location(r, path);
}

/* --- deploy ----------------------------------------------------------------------------------- */

/* The user data in a config drive.  One that comes as an image (a text) is not looked into. */
static struct userdata *user_data(const json_t *drive)
{
	const json_t *v = json_object_get(drive, "user_data");
	struct userdata *u;
	char *text;

	if (v == NULL || json_is_null(v))
		return NULL;
	if (json_is_string(v))
		return userdata_new(json_string_value(v), json_string_length(v));
	text = mem_check(json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY));
	u = userdata_new(text, strlen(text));
	free(text);
	return u;
}

static bool drive_good(const struct ironic_run *r, const json_t *drive)
{
	static const char *const known[] = {"user_data", "meta_data", "network_data", "vendor_data",
					    NULL};
	struct err e;

	if (!json_is_object(drive) || js_only(drive, known, &e) == 0)
		return true;
	ironic_fail(r, 400, "Invalid configdrive format: %s", e.msg);
	return false;
}

/* Make the instance.  Its row, or -(enum code). */
static int32_t make(const struct ironic_run *r, struct ironic_node *n)
{
	const struct cloud_pool *p = n->pool;
	struct cloud_want want = {0};
	struct cloud_create rq = {.token = "",
				  .cluster = n->who.cluster,
				  .type = p->type,
				  .region = p->region,
				  .zone = p->zone,
				  .market = p->market,
				  .wants = &want,
				  .nwants = 1};
	int32_t row;
	enum code code;

	n->row = -1; /* the tenant of before is none */
	ironic_tenant(n, r->c);
	(void)snprintf(want.node, sizeof(want.node), "%.63s",
		       n->who.node[0] != '\0' ? n->who.node : n->name);
	want.gen = n->who.gen;
	want.user_data = user_data(json_object_get(r->q->body, "configdrive"));
	want.refuse = face_left_out(r->rule, want.node, 0, 1) ? r->rule->code : CODE_OK;
	code = cloud_create(r->c, &rq, &row, r->now);
	userdata_unref(want.user_data);
	return code == CODE_OK ? row : -(int32_t)code;
}

/* What Ironic adds to what a client said of the image. */
static void note_image(const struct ironic_run *r, json_t *info)
{
	if (!json_is_object(info))
		return;
	if (json_object_get(r->q->body, "configdrive") != NULL)
		(void)json_object_set_new(info, "configdrive", mem_check(json_string("******")));
	if (json_object_get(info, "image_source") != NULL &&
	    json_object_get(info, "image_type") == NULL)
		(void)json_object_set_new(info, "image_type", mem_check(json_string("whole-disk")));
}

/* What the cloud refuses is known later, as everything at Ironic: the deployment fails. */
static void deploy(const struct ironic_run *r, struct ironic_node *n)
{
	int32_t row;

	row = make(r, n);
	n->row = row < 0 ? -1 : row;
	r->out->items[row < 0 ? -row : CODE_OK]++;
	free(n->last_error);
	n->last_error = NULL;
	n->locked_until = r->now + r->c->conf->machine_lock_ms;
	note_image(r, json_object_get(n->doc, "instance_info"));
	ironic_enter(n, row < 0 ? IRONIC_FAILED : IRONIC_DEPLOYING, r->now);
	if (row < 0) {
		struct str s;

		str_init(&s, IRONIC_TEXT_SIZE);
		str_addf(&s, "Deploy step deploy.prepare failed: %s", code_text((enum code) - row));
		n->last_error = str_take(&s);
	}
	accept(r);
}

/* --- undeploy --------------------------------------------------------------------------------- */

static void undeploy(const struct ironic_run *r, struct ironic_node *n)
{
	const struct cloud_instance *i = n->row >= 0 ? cloud_of_row(r->c, (uint32_t)n->row) : NULL;
	enum code code = CODE_OK;
	int64_t retry_ms = 0;
	char id[METER_ID_SIZE];

	if (face_left_out(r->rule, n->who.node, 0, 1)) {
		ironic_error(r->out, r->rule->code, NULL);
		r->out->items[r->rule->code]++;
		return;
	}
	if (i != NULL && i->state != CLOUD_ENDED)
		code = cloud_delete(r->c, meter_id(id, i->row), r->now, &retry_ms);
	r->out->items[code]++;
	if (code != CODE_OK) { /* [invented] Ironic has no minimum rental */
		ironic_refuse_locked(r, n);
		r->out->retry_ms = retry_ms;
		return;
	}
	free(n->last_error);
	n->last_error = NULL;
	ironic_enter(n, IRONIC_DELETING, r->now);
	accept(r);
}

/* --- the verbs -------------------------------------------------------------------------------- */

static void provide(const struct ironic_run *r, struct ironic_node *n)
{
	n->clean_until = r->now + dist_sample(&r->c->conf->clean, &r->c->rng);
	n->locked_until = r->now + r->c->conf->machine_lock_ms;
	ironic_enter(n, IRONIC_CLEANING, r->now);
	accept(r);
}

static void act(const struct ironic_run *r, struct ironic_node *n, enum verb verb)
{
	switch (verb) {
	case V_ACTIVE:
	case V_REBUILD:
		deploy(r, n);
		break;
	case V_DELETED:
		undeploy(r, n);
		break;
	case V_MANAGE:
		ironic_enter(n, IRONIC_MANAGEABLE, r->now);
		accept(r);
		break;
	case V_PROVIDE:
		provide(r, n);
		break;
	case V_NONE:
		break;
	}
}

static bool is_deploy(const char *target)
{
	return strcmp(target, "active") == 0 || strcmp(target, "rebuild") == 0;
}

static bool has_trait(const json_t *traits, const json_t *trait)
{
	const json_t *v;
	size_t i;

	json_array_foreach(traits, i, v)
	{
		if (json_equal(v, trait))
			return true;
	}
	return false;
}

/* Of what keeps a machine from being deployed the one thing that these machines know, too. */
static bool traits_good(const struct ironic_run *r, const struct ironic_node *n)
{
	const json_t *info = json_object_get(n->doc, "instance_info"), *v;
	size_t i;

	json_array_foreach(json_object_get(info, "traits"), i, v)
	{
		if (has_trait(json_object_get(n->doc, "traits"), v))
			continue;
		ironic_fail(r, 400,
			    "Failed to validate deploy or power info for node %s: Cannot specify "
			    "instance traits that are not also set on the node. Node %s is missing "
			    "traits %.100s",
			    n->uuid, n->uuid, json_string_value(v));
		return false;
	}
	return true;
}

/* In Ironic's order: the types, maintenance, the state, the config drive, the machine. */
static bool provision_good(const struct ironic_run *r, const struct ironic_node *n,
			   const char *target, enum verb verb)
{
	const json_t *drive = json_object_get(r->q->body, "configdrive");

	if (drive != NULL && !json_is_null(drive) && !json_is_object(drive) &&
	    !json_is_string(drive))
		ironic_fail(r, 400,
			    "Expected types <class 'NoneType'>, <class 'dict'>, <class 'str'> for "
			    "configdrive");
	else if (is_deploy(target) && ironic_maintained(n))
		ironic_fail(r, 400,
			    "The provisioning operation can't be performed on node %s because it's "
			    "in maintenance mode.",
			    n->uuid);
	else if (verb == V_NONE && ironic_is_locked(n))
		ironic_refuse_locked(r, n);
	else if (verb == V_NONE)
		ironic_fail(r, 400,
			    "The requested action \"%.100s\" can not be performed on node \"%s\" "
			    "while it is in state \"%s\".",
			    target, n->uuid, ironic_state_word(n->state));
	else if (drive != NULL && !json_is_null(drive) && !is_deploy(target))
		ironic_fail(r, 400,
			    "Adding a config drive is only supported when setting provision state "
			    "to active, rebuild");
	else
		return drive_good(r, drive) && (!is_deploy(target) || traits_good(r, n));
	return false;
}

void ironic_provision(const struct ironic_run *r, struct ironic_node *n)
{
	static const char *const known[] = {"target",        "configdrive",     "clean_steps",
					    "deploy_steps",  "rescue_password", "disable_ramdisk",
					    "service_steps", "runbook",         NULL};
	const char *target = ironic_string(r->q->body, "target");
	enum verb verb;

	if (!ironic_arguments(r, known, "target"))
		return;
	if (target == NULL) {
		ironic_fail(r, 400, "Expected string for target");
		return;
	}
	verb = verb_of(target, n->state);
	if (provision_good(r, n, target, verb))
		act(r, n, verb);
}

/* Power is a word here: what runs on the machine does not notice. */
void ironic_power(const struct ironic_run *r, struct ironic_node *n)
{
	static const char *const known[] = {"target", "timeout", NULL};
	const char *target = ironic_string(r->q->body, "target");
	const json_t *timeout = json_object_get(r->q->body, "timeout");

	if (!ironic_arguments(r, known, "target"))
		return;
	if (timeout != NULL && json_integer_value(timeout) < 1) {
		ironic_fail(r, 400, "timeout has to be positive integer");
	} else if (target == NULL ||
		   !ironic_has("power on,power off,rebooting,soft power off,soft rebooting",
			       target)) {
		ironic_fail(r, 400,
			    "The requested action \"%.100s\" can not be performed on node \"%s\" "
			    "while it is in state \"%s\".",
			    target != NULL ? target : "None", r->q->ident,
			    n->on ? "power on" : "power off");
	} else if (n->state == IRONIC_CLEANING || n->state == IRONIC_CLEANWAIT) {
		ironic_fail(r, 400,
			    "The requested action \"%s\" can not be performed on node \"%s\" while "
			    "it is in state \"%s\".",
			    target, r->q->ident, ironic_state_word(n->state));
	} else if (ironic_is_locked(n)) {
		ironic_refuse_locked(r, n);
	} else {
		n->on = strstr(target, "off") == NULL;
		n->updated_at = r->now;
		accept(r);
	}
}
