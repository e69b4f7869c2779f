/* nova_schema.c - what Nova's JSON schemas allow in a body, by microversion, as far as they matter:
 * each key of a server with its type, and no other key. */
#include <ctype.h>
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/nova.h"

enum {
	NAME_MAX_BYTES = 255,
	USER_DATA_MAX = 65535,
	TAG_MAX = 60,
	TAGS_MAX = 50,
	META_MAX = 255,
	HOST_NAME_MAX_BYTES = 255,
};

typedef int (*check_fn)(const char *key, const json_t *v, struct err *e);

struct rule {
	const char *key;
	unsigned since, until; /* microversions; until 0: still */
	check_fn check;
};

/* Nova's frame of what jsonschema says.  The value itself is left out where it may be long. */
static int wrong(const char *key, const char *why, struct err *e)
{
	return err_set(e, ERR_INVALID, "Invalid input for field/attribute %.60s. Value: ?. %s", key,
		       why);
}

static int is_string(const char *key, const json_t *v, struct err *e)
{
	return json_is_string(v) ? 0 : wrong(key, "it is not of type 'string'", e);
}

static int is_object(const char *key, const json_t *v, struct err *e)
{
	return json_is_object(v) ? 0 : wrong(key, "it is not of type 'object'", e);
}

static int is_array(const char *key, const json_t *v, struct err *e)
{
	return json_is_array(v) ? 0 : wrong(key, "it is not of type 'array'", e);
}

static int is_text(const char *key, const json_t *v, size_t max, struct err *e)
{
	if (is_string(key, v, e) != 0)
		return -1;
	if (json_string_length(v) == 0)
		return wrong(key, "'' should be non-empty", e);
	return json_string_length(v) <= max ? 0 : wrong(key, "it is too long", e);
}

static int is_name(const char *key, const json_t *v, struct err *e)
{
	const char *text = json_string_value(v);

	if (is_text(key, v, NAME_MAX_BYTES, e) != 0)
		return -1;
	if (isspace((unsigned char)text[0]) ||
	    isspace((unsigned char)text[json_string_length(v) - 1]))
		return err_set(e, ERR_INVALID,
			       "An invalid 'name' value was provided. The name must be: printable "
			       "characters. Can not start or end with whitespace.");
	return 0;
}

static int is_description(const char *key, const json_t *v, struct err *e)
{
	return json_is_null(v) ? 0 : is_string(key, v, e);
}

static int is_host(const char *key, const json_t *v, struct err *e)
{
	const char *text = json_string_value(v);

	if (is_text(key, v, HOST_NAME_MAX_BYTES, e) != 0)
		return -1;
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && strchr("._-", *text) == NULL)
			return wrong(key, "it does not match '^[a-zA-Z0-9-._]*$'", e);
	return 0;
}

static bool is_uuid(const char *text)
{
	size_t digits = 0;

	for (; *text != '\0'; text++) {
		if (*text == '-')
			continue;
		if (!isxdigit((unsigned char)*text))
			return false;
		digits++;
	}
	return digits == 32;
}

static int is_id(const char *key, const json_t *v, struct err *e)
{
	return json_is_string(v) && is_uuid(json_string_value(v))
		       ? 0
		       : wrong(key, "it is not a 'uuid'", e);
}

static int is_image(const char *key, const json_t *v, struct err *e)
{
	if (json_is_string(v) && (json_string_length(v) == 0 || is_uuid(json_string_value(v))))
		return 0;
	return wrong(key, "it is not valid under any of the given schemas", e);
}

static int is_flavor(const char *key, const json_t *v, struct err *e)
{
	if (json_is_integer(v) || (json_is_string(v) && json_string_length(v) > 0))
		return 0;
	return wrong(key, "it is not of type 'string', 'integer'", e);
}

static int is_count(const char *key, const json_t *v, struct err *e)
{
	const char *text = json_string_value(v);

	if (!json_is_integer(v) && text == NULL)
		return wrong(key, "it is not of type 'integer', 'string'", e);
	if (text != NULL && (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0'))
		return wrong(key, "it does not match '^[0-9]*$'", e);
	if (text != NULL ? text[strspn(text, "0")] == '\0' : json_integer_value(v) < 1)
		return wrong(key, "it is less than the minimum of 1", e);
	return 0;
}

static int is_boolean(const char *key, const json_t *v, struct err *e)
{
	static const char *const words[] = {"True", "TRUE", "true", "1",     "ON",    "On",    "on",
					    "YES",  "Yes",  "yes",  "False", "FALSE", "false", "0",
					    "OFF",  "Off",  "off",  "NO",    "No",    "no"};

	for (size_t i = 0; json_is_string(v) && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], json_string_value(v)) == 0)
			return 0;
	return json_is_boolean(v) ? 0 : wrong(key, "it is not one of True, False", e);
}

static int is_disk(const char *key, const json_t *v, struct err *e)
{
	const char *text = json_string_value(v);

	if (text != NULL && (strcmp(text, "AUTO") == 0 || strcmp(text, "MANUAL") == 0))
		return 0;
	return wrong(key, "it is not one of ['AUTO', 'MANUAL']", e);
}

/* Nova takes what its lenient decoder can make anything of. */
static int is_user_data(const char *key, const json_t *v, struct err *e)
{
	if (is_string(key, v, e) != 0)
		return -1;
	return json_string_length(v) <= USER_DATA_MAX ? 0 : wrong(key, "it is too long", e);
}

static int is_tag(const json_t *v, struct err *e)
{
	if (is_text("tags", v, TAG_MAX, e) != 0)
		return -1;
	return strpbrk(json_string_value(v), ",/") == NULL
		       ? 0
		       : wrong("tags", "it does not match '^[^,/]*$'", e);
}

static int are_tags(const char *key, const json_t *v, struct err *e)
{
	const json_t *tag;
	size_t i;

	if (is_array(key, v, e) != 0)
		return -1;
	if (json_array_size(v) > TAGS_MAX)
		return wrong(key, "it is too long", e);
	json_array_foreach(v, i, tag) if (is_tag(tag, e) != 0) return -1;
	return 0;
}

static bool is_key(const char *text)
{
	size_t n = strlen(text);

	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && strchr("-_:. ", *text) == NULL)
			return false;
	return n > 0 && n <= META_MAX;
}

static int are_pairs(const char *key, const json_t *v, struct err *e)
{
	void *it;

	if (is_object(key, v, e) != 0)
		return -1;
	for (it = json_object_iter((json_t *)(uintptr_t)v); it != NULL;
	     it = json_object_iter_next((json_t *)(uintptr_t)v, it)) {
		const char *name = json_object_iter_key(it);
		const json_t *value = json_object_iter_value(it);

		if (!is_key(name))
			return wrong(key,
				     "a key does not match any of the regexes: "
				     "'^[a-zA-Z0-9-_:. ]{1,255}$'",
				     e);
		if (is_string(name, value, e) != 0)
			return -1;
		if (json_string_length(value) > META_MAX)
			return wrong(name, "it is too long", e);
	}
	return 0;
}

/* Refuse keys that no rule of that microversion knows, and values against their rules. */
static int check(const char *where, const json_t *o, const struct rule *rules, unsigned version,
		 struct err *e)
{
	void *it;

	if (is_object(where, o, e) != 0)
		return -1;
	for (it = json_object_iter((json_t *)(uintptr_t)o); it != NULL;
	     it = json_object_iter_next((json_t *)(uintptr_t)o, it)) {
		const char *key = json_object_iter_key(it);
		const struct rule *r = rules;

		while (r->key != NULL && (strcmp(r->key, key) != 0 || version < r->since ||
					  (r->until != 0 && version > r->until)))
			r++;
		if (r->key == NULL)
			return err_set(
				e, ERR_INVALID,
				"Invalid input for field/attribute %.20s. Value: ?. Additional "
				"properties are not allowed ('%.60s' was unexpected)",
				where, key);
		if (r->check(key, json_object_iter_value(it), e) != 0)
			return -1;
	}
	return 0;
}

static int is_there(const char *where, const json_t *o, const char *key, struct err *e)
{
	char why[64] = "'";

	if (json_object_get(o, key) != NULL)
		return 0;
	(void)snprintf(why, sizeof(why), "'%.32s' is a required property", key);
	return wrong(where, why, e);
}

static int are_groups(const char *key, const json_t *v, struct err *e)
{
	static const struct rule rules[] = {{"name", 1, 0, is_name}, {0}};
	const json_t *o;
	size_t i;

	if (is_array(key, v, e) != 0)
		return -1;
	json_array_foreach(v, i, o) if (check(key, o, rules, 1, e) != 0) return -1;
	return 0;
}

static int are_networks(const char *key, const json_t *v, struct err *e)
{
	static const struct rule rules[] = {{"uuid", 1, 0, is_id},
					    {"port", 1, 0, is_id},
					    {"fixed_ip", 1, 0, is_string},
					    {"tag", 1, 0, is_string},
					    {0}};
	const json_t *o;
	size_t i;

	if (!json_is_array(v))
		return wrong(key, "it is not valid under any of the given schemas", e);
	json_array_foreach(v, i, o) if (check(key, o, rules, 1, e) != 0) return -1;
	return 0;
}

/* Since 2.37 it may be a word as well. */
static int are_networks_or_word(const char *key, const json_t *v, struct err *e)
{
	const char *word = json_string_value(v);

	if (word != NULL && (strcmp(word, "auto") == 0 || strcmp(word, "none") == 0))
		return 0;
	return are_networks(key, v, e);
}

int nova_check_create(const json_t *doc, unsigned version, struct err *e)
{
	static const struct rule server[] = {{"name", 1, 0, is_name},
					     {"imageRef", 1, 0, is_image},
					     {"flavorRef", 1, 0, is_flavor},
					     {"adminPass", 1, 0, is_string},
					     {"metadata", 1, 0, are_pairs},
					     {"networks", 1, 36, are_networks},
					     {"networks", 37, 0, are_networks_or_word},
					     {"OS-DCF:diskConfig", 1, 0, is_disk},
					     {"accessIPv4", 1, 0, is_string},
					     {"accessIPv6", 1, 0, is_string},
					     {"personality", 1, 56, is_array},
					     {"availability_zone", 1, 0, is_name},
					     {"block_device_mapping", 1, 0, is_array},
					     {"block_device_mapping_v2", 1, 0, is_array},
					     {"config_drive", 1, 0, is_boolean},
					     {"key_name", 1, 0, is_name},
					     {"min_count", 1, 0, is_count},
					     {"max_count", 1, 0, is_count},
					     {"return_reservation_id", 1, 0, is_boolean},
					     {"security_groups", 1, 0, are_groups},
					     {"user_data", 1, 0, is_user_data},
					     {"description", 19, 0, is_description},
					     {"tags", 52, 0, are_tags},
					     {"trusted_image_certificates", 63, 0, is_array},
					     {"host", 74, 0, is_host},
					     {"hypervisor_hostname", 74, 0, is_host},
					     {"hostname", 90, 0, is_host},
					     {0}};
	static const struct rule top[] = {{"server", 1, 0, is_object},
					  {"os:scheduler_hints", 1, 0, is_object},
					  {"OS-SCH-HNT:scheduler_hints", 1, 0, is_object},
					  {0}};
	const json_t *o = json_object_get(doc, "server");
	const json_t *group = json_object_get(json_object_get(doc, "os:scheduler_hints"), "group");

	if (check("body", doc, top, version, e) != 0 || is_there("body", doc, "server", e) != 0 ||
	    check("server", o, server, version, e) != 0 || is_there("server", o, "name", e) != 0 ||
	    is_there("server", o, "flavorRef", e) != 0 ||
	    (version >= 37 && is_there("server", o, "networks", e) != 0))
		return -1;
	return group == NULL ? 0 : is_id("group", group, e);
}

static int is_policy(const char *key, const json_t *v, struct err *e)
{
	static const char *const words[] = {"anti-affinity", "affinity", "soft-anti-affinity",
					    "soft-affinity"};

	for (size_t i = 0; json_is_string(v) && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], json_string_value(v)) == 0)
			return 0;
	return wrong(key,
		     "it is not one of ['anti-affinity', 'affinity', 'soft-anti-affinity', "
		     "'soft-affinity']",
		     e);
}

static int are_policies(const char *key, const json_t *v, struct err *e)
{
	if (!json_is_array(v) || json_array_size(v) != 1)
		return wrong(key, "it is not of type 'array'", e);
	return is_policy(key, json_array_get(v, 0), e);
}

static int are_rules(const char *key, const json_t *v, struct err *e)
{
	static const struct rule rules[] = {{"max_server_per_host", 1, 0, is_count}, {0}};

	return check(key, v, rules, 1, e);
}

int nova_check_group(const json_t *doc, unsigned version, struct err *e)
{
	static const struct rule group[] = {{"name", 1, 0, is_name},
					    {"policies", 1, 63, are_policies},
					    {"policy", 64, 0, is_policy},
					    {"rules", 64, 0, are_rules},
					    {0}};
	static const struct rule top[] = {{"server_group", 1, 0, is_object}, {0}};
	const json_t *o = json_object_get(doc, "server_group");
	const char *policy = json_string_value(json_object_get(o, "policy"));

	if (check("body", doc, top, version, e) != 0 ||
	    is_there("body", doc, "server_group", e) != 0 ||
	    check("server_group", o, group, version, e) != 0 ||
	    is_there("server_group", o, "name", e) != 0 ||
	    is_there("server_group", o, version >= 64 ? "policy" : "policies", e) != 0)
		return -1;
	if (json_object_size(json_object_get(o, "rules")) > 0 && policy != NULL &&
	    strcmp(policy, "anti-affinity") != 0)
		return err_set(e, ERR_INVALID, "Only anti-affinity policy supports rules.");
	return 0;
}
