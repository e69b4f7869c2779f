/* lambda_launch.c - reads the body of a launch, and for the meter which node it is for. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/lambda.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGIT "0123456789"

enum { HOSTNAME_SIZE = 64, CLUSTER_DIGITS = 12, BASE_36 = 36 };

/* Copy a string of the object; absent: out stays.  null is no string. */
static int take(const json_t *o, const char *key, char *out, size_t size, struct err *e)
{
	if (json_is_null(json_object_get(o, key)))
		return err_set(e, ERR_INVALID, "%s: want a string", key);
	return js_get_str(o, key, out, size, e);
}

static int need(const json_t *o, const char *key, char *out, size_t size, struct err *e)
{
	if (json_object_get(o, key) == NULL)
		return err_set(e, ERR_INVALID, "%s: must be given", key);
	return take(o, key, out, size, e);
}

/* The list under key, empty if there is none; NULL: it is no list. */
static const json_t *list_of(const json_t *o, const char *key, const json_t *none, struct err *e)
{
	const json_t *list = json_object_get(o, key);

	if (list == NULL)
		return none;
	if (json_is_array(list))
		return list;
	(void)err_set(e, ERR_INVALID, "%s: want a list", key);
	return NULL;
}

/* --- the members ------------------------------------------------------------------------------ */

static int take_key(struct order *order, const json_t *o, struct err *e)
{
	const json_t *list = json_object_get(o, "ssh_key_names"), *v = json_array_get(list, 0);

	if (json_array_size(list) != 1 || !json_is_string(v) ||
	    json_string_length(v) >= sizeof(order->key))
		return err_set(e, ERR_INVALID, "ssh_key_names: want exactly one name");
	memcpy(order->key, json_string_value(v), json_string_length(v) + 1);
	return 0;
}

static int take_hostname(struct order *order, const json_t *o, struct err *e)
{
	char *h = order->hostname;

	if (take(o, "hostname", h, HOSTNAME_SIZE, e) != 0)
		return -1;
	if (json_object_get(o, "hostname") != NULL &&
	    (h[0] == '\0' || h[0] == '-' || h[strspn(h, LOWER DIGIT "-")] != '\0'))
		return err_set(e, ERR_INVALID,
			       "hostname: want lower-case letters, digits and dashes");
	return 0;
}

static int take_tag(struct order *order, const json_t *o, struct err *e)
{
	static const char *const known[] = {"key", "value", NULL};
	char key[LAMBDA_TAG_KEY_MAX + 1] = "", value[LAMBDA_TAG_VALUE_MAX + 1] = "";

	if (js_only(o, known, e) != 0 || need(o, "key", key, sizeof(key), e) != 0 ||
	    need(o, "value", value, sizeof(value), e) != 0)
		return err_wrap(e, "tags");
	if (strlen(key) < 2 || strchr(LOWER, key[0]) == NULL ||
	    key[strspn(key, LOWER DIGIT "-:")] != '\0')
		return err_set(e, ERR_INVALID,
			       "tags: want keys of lower-case letters, digits, dashes and colons");
	return order_tag(order, key, value) == 0
		       ? 0
		       : err_set(e, ERR_INVALID, "tags: too many, or one twice");
}

/* Check that o is {"NAME":"..."} with one of two names. */
static int check_reference(const json_t *o, const char *a, const char *b, struct err *e)
{
	const char *const known[] = {a, b, NULL};
	const json_t *v;

	if (js_only(o, known, e) != 0)
		return -1;
	v = json_object_get(o, json_object_get(o, a) != NULL ? a : b);
	return json_is_string(v) && json_object_size(o) == 1
		       ? 0
		       : err_set(e, ERR_INVALID, "want one of %s and %s", a, b);
}

/* All images and rulesets exist. */
static int check_references(const json_t *o, const json_t *none, struct err *e)
{
	const json_t *image = json_object_get(o, "image");
	const json_t *rules = list_of(o, "firewall_rulesets", none, e);

	if (image != NULL && check_reference(image, "id", "family", e) != 0)
		return err_wrap(e, "image");
	if (rules == NULL)
		return -1;
	for (size_t i = 0; i < json_array_size(rules); i++)
		if (check_reference(json_array_get(rules, i), "id", "id", e) != 0)
			return err_wrap(e, "firewall_rulesets");
	return 0;
}

static int check_no_file_systems(const json_t *o, const json_t *none, struct err *e)
{
	const json_t *names = list_of(o, "file_system_names", none, e);
	const json_t *mounts = list_of(o, "file_system_mounts", none, e);

	if (names == NULL || mounts == NULL)
		return -1;
	if (json_array_size(names) + json_array_size(mounts) > 0)
		return err_set(e, ERR_INVALID,
			       "global/object-does-not-exist: There is no such file system.");
	return 0;
}

static int take_user_data(struct cloud_want *w, const json_t *o, struct err *e)
{
	const json_t *v = json_object_get(o, "user_data");

	if (v == NULL)
		return 0;
	if (!json_is_string(v) || json_string_length(v) > LAMBDA_USER_DATA_MAX)
		return err_set(e, ERR_INVALID, "user_data: want a string of at most %d bytes",
			       LAMBDA_USER_DATA_MAX);
	if (json_string_length(v) > 0)
		w->user_data = userdata_new(json_string_value(v), json_string_length(v));
	return 0;
}

/* --- the node --------------------------------------------------------------------------------- */

static bool is_node(const char *text)
{
	return isalnum((unsigned char)text[0]) && strlen(text) < SETTINGS_WORD_SIZE &&
	       text[strspn(text, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGIT "-_.")] == '\0';
}

static void name_by_tags(struct face_call *f, const struct order *order)
{
	const char *cluster = order_find(order, "burstd-cluster");
	const char *node = order_find(order, "burstd-node");
	const char *gen = order_find(order, "burstd-generation");

	if (cluster != NULL && strlen(cluster) < sizeof(f->cluster))
		memcpy(f->cluster, cluster, strlen(cluster) + 1);
	if (is_node(node))
		memcpy(f->wants[0].node, node, strlen(node) + 1);
	f->wants[0].gen = gen != NULL ? strtoll(gen, NULL, 10) : 0;
}

/* Read "b" CLUSTER "-" GENERATION "-" NODE, with the first 12 hexadecimal digits of the cluster and
 * the generation in base 36.  Another name is the node's. */
static void name_by_name(struct face_call *f, const char *name)
{
	size_t hex = strspn(name + (name[0] == 'b'), DIGIT "abcdef"), n;
	const char *gen = name + 1 + CLUSTER_DIGITS + 1, *node;

	if (is_node(name))
		memcpy(f->wants[0].node, name, strlen(name) + 1);
	if (name[0] != 'b' || hex != CLUSTER_DIGITS || name[1 + CLUSTER_DIGITS] != '-')
		return;
	n = strspn(gen, LOWER DIGIT);
	node = gen + n + 1;
	if (n == 0 || gen[n] != '-' || !is_node(node))
		return;
	memcpy(f->cluster, name + 1, CLUSTER_DIGITS);
	f->cluster[CLUSTER_DIGITS] = '\0';
	f->wants[0].gen = strtoll(gen, NULL, BASE_36);
	memmove(f->wants[0].node, node, strlen(node) + 1);
}

/* --- the whole -------------------------------------------------------------------------------- */

static int read_members(struct face_call *f, const json_t *o, const json_t *none, struct err *e)
{
	struct order *order = ((struct lambda_call *)f->own)->order;
	const json_t *tags = list_of(o, "tags", none, e);

	if (need(o, "region_name", f->region, sizeof(f->region), e) != 0 ||
	    need(o, "instance_type_name", f->type, sizeof(f->type), e) != 0 ||
	    take_key(order, o, e) != 0 ||
	    take(o, "name", order->name, sizeof(order->name), e) != 0 ||
	    take_hostname(order, o, e) != 0 || take_user_data(&f->wants[0], o, e) != 0 ||
	    check_references(o, none, e) != 0 || check_no_file_systems(o, none, e) != 0 ||
	    tags == NULL)
		return -1;
	for (size_t i = 0; i < json_array_size(tags); i++)
		if (take_tag(order, json_array_get(tags, i), e) != 0)
			return -1;
	return 0;
}

int lambda_read_launch(struct face_call *f, const json_t *o, struct err *e)
{
	static const char *const known[] = {"region_name",
					    "instance_type_name",
					    "ssh_key_names",
					    "file_system_names",
					    "file_system_mounts",
					    "hostname",
					    "name",
					    "image",
					    "user_data",
					    "tags",
					    "firewall_rulesets",
					    NULL};
	struct lambda_call *x = mem_zalloc(sizeof(*x));
	json_t *none;
	int rc;

	f->own = x;
	x->order = order_new();
	f->n = 1;
	f->wants = mem_zalloc(sizeof(*f->wants));
	if (js_only(o, known, e) != 0)
		return -1;
	none = mem_check(json_array());
	rc = read_members(f, o, none, e);
	json_decref(none);
	if (rc != 0)
		return -1;
	if (order_find(x->order, "burstd-node") != NULL)
		name_by_tags(f, x->order);
	else
		name_by_name(f, x->order->name);
	return 0;
}
