#include "providers/aws_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/console.h"
#include "providers/common/rest.h"
#include "providers/common/words.h"

/* --- requests ---------------------------------------------------------------------------------
 */

int aws_list_build(const char *cluster, const char *cursor, struct str *body, struct err *e)
{
	if (!aws_is_plain(cluster, PROVIDER_WORD_MAX))
		return err_set(e, ERR_INVALID, "list: not a cluster's uuid");
	query_begin(body, "DescribeInstances", AWS_EC2_VERSION);
	query_add(body, "tag:" AWS_TAG_CLUSTER, "Filter.1.Name");
	query_add(body, cluster, "Filter.1.Value.1");
	query_add_number(body, AWS_PAGE_MAX, "MaxResults");
	query_add_given(body, cursor, "NextToken");
	return 0;
}

int aws_delete_build(const char *const *ids, size_t n, struct str *body, struct err *e)
{
	if (n == 0 || n > AWS_DELETE_MAX)
		return err_set(e, ERR_INVALID, "delete: want 1 to %d ids", AWS_DELETE_MAX);
	query_begin(body, "TerminateInstances", AWS_EC2_VERSION);
	for (size_t i = 0; i < n; i++) {
		if (!aws_is_plain(ids[i], PROVIDER_ID_MAX))
			return err_set(e, ERR_INVALID, "delete: not an id of this provider");
		query_add(body, ids[i], "InstanceId.%zu", i + 1);
	}
	return 0;
}

int aws_report_build(const char *id, struct str *body, struct err *e)
{
	if (id[0] == '\0' || !aws_is_plain(id, PROVIDER_ID_MAX))
		return err_set(e, ERR_INVALID, "report: not an id of this provider");
	query_begin(body, "ReportInstanceStatus", AWS_EC2_VERSION);
	query_add(body, id, "InstanceId.1");
	query_add(body, "impaired", "Status");
	query_add(body, "other", "ReasonCode.1");
	return 0;
}

int aws_report_parse(const struct provider_reply *reply)
{
	static const char *const names[] = {"ReportInstanceStatusResponse", "return", NULL};
	struct xml x;
	int rc = xml_parse(&x, names, reply->body, reply->len) == 0 &&
				 strcmp(xml_text(x.root, "return"), "true") == 0
			 ? 0
			 : -1;

	xml_fini(&x);
	return rc;
}

int aws_console_build(const char *id, struct str *body, struct err *e)
{
	if (id[0] == '\0' || !aws_is_plain(id, PROVIDER_ID_MAX))
		return err_set(e, ERR_INVALID, "console: not an id of this provider");
	query_begin(body, "GetConsoleOutput", AWS_EC2_VERSION);
	query_add(body, id, "InstanceId");
	query_add(body, "true", "Latest");
	return 0;
}

int aws_console_parse(const struct provider_reply *reply, struct provider_result *out)
{
	static const char *const names[] = {"GetConsoleOutputResponse", "output", NULL};
	unsigned char *log = NULL;
	const char *text;
	struct xml x;
	size_t n = 0;
	int rc = -1;

	if (xml_parse(&x, names, reply->body, reply->len) == 0) {
		text = xml_text(x.root, "output");
		log = mem_zalloc(strlen(text) + 1);
		if (base64_decode(BASE64_LINES, text, strlen(text), log, strlen(text) + 1, &n)) {
			out->console = console_end((const char *)log, n);
			rc = 0;
		}
	}
	xml_fini(&x);
	free(log);
	return rc;
}

/* --- one instance -----------------------------------------------------------------------------
 */

/* A stopped instance counts as stopping: burstd never stops instances, and a stopped one still
 * costs its disks. */
static enum provider_state state_of(const char *word)
{
	static const struct {
		const char *word;
		enum provider_state state;
	} words[] = {
		{"pending", PROVIDER_PENDING},        {"running", PROVIDER_RUNNING},
		{"shutting-down", PROVIDER_STOPPING}, {"stopping", PROVIDER_STOPPING},
		{"stopped", PROVIDER_STOPPING},       {"terminated", PROVIDER_ENDED},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].state;
	return PROVIDER_UNKNOWN;
}

/* "User initiated (2026-01-02 03:04:05 GMT)": the only place where EC2 gives the time of the
 * end. */
static int64_t ended_ms(const char *reason)
{
	const char *p = strrchr(reason, '(');
	int64_t s;

	if (p == NULL)
		return 0;
	p++;
	s = aws_seconds_read(&p, ' ');
	return s >= 0 && (strcmp(p, " GMT)") == 0 || strcmp(p, " UTC)") == 0) ? s * 1000 : 0;
}

/* API_StateReason.html: "Server.SpotInstanceTermination" for a terminated instance,
 * "Server.SpotInstanceShutdown" for a stopped one. */
static bool is_reclaim(const char *code)
{
	return strncmp(code, "Server.SpotInstance", 19) == 0;
}

/* What it is, if the reply was asked for that: of an instance on demand EC2 says no lifecycle. */
static void read_what(const struct xml_node *item, struct provider_instance *i)
{
	if (xml_copy(item, "instanceType", i->type, sizeof(i->type)) < 0)
		i->type[0] = '\0';
	if (xml_copy(xml_child(item, "placement"), "availabilityZone", i->zone, sizeof(i->zone)) <
	    0)
		i->zone[0] = '\0';
	i->says_market = i->type[0] != '\0';
	i->spot = strcmp(xml_text(item, "instanceLifecycle"), "spot") == 0;
}

/* The address that is wanted, of the first network interface; those of the others are inside of a
 * set.  In a subnet with IPv6 alone there is no private one of IPv4. */
static int read_address(const struct aws *a, const struct xml_node *item, char *out)
{
	if (xml_copy(item, a->address, out, PROVIDER_ADDR_MAX + 1) < 0)
		return -1;
	if (out[0] != '\0' || strcmp(a->address, AWS_ADDRESS_PRIVATE) != 0)
		return 0;
	return xml_copy(item, AWS_ADDRESS_IPV6, out, PROVIDER_ADDR_MAX + 1) < 0 ? -1 : 0;
}

int aws_instance_read(const struct aws *a, const struct xml_node *item, struct provider_instance *i)
{
	const char *id = xml_text(item, "instanceId");

	if (!aws_is_plain(id, PROVIDER_ID_MAX))
		return -1;
	memcpy(i->id, id, strlen(id) + 1);
	if (read_address(a, item, i->addr) != 0)
		return -1;
	i->state = state_of(xml_text(xml_child(item, "instanceState"), "name"));
	i->created_ms = aws_time_read(xml_text(item, "launchTime"));
	i->ended_ms = i->state == PROVIDER_ENDED ? ended_ms(xml_text(item, "reason")) : 0;
	i->taken = is_reclaim(xml_text(xml_child(item, "stateReason"), "code"));
	read_what(item, i);
	return 0;
}

/* Why EC2 ended an instance by itself.  Only what is about the place is a refusal (F4); its other
 * words are for people. */
static void read_failure(const struct aws *a, const struct xml_node *item, const char *id,
			 struct provider_result *out)
{
	static const char *const wanted[] = {"UserInitiatedShutdown", "InstanceInitiatedShutdown",
					     "UserInitiatedHibernate"};
	const struct xml_node *reason = xml_child(item, "stateReason");
	const char *code = xml_text(reason, "code"), *says = xml_text(reason, "message");
	const char *dot = strchr(code, '.'), *word = dot != NULL ? dot + 1 : code;
	struct provider_failure *f;
	enum provider_code means;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (strcmp(word, wanted[i]) == 0)
			return;
	if (word[0] == '\0')
		return;
	f = rest_add_failure(out, id);
	means = aws_code(PROVIDER_CREATE, word, 0);
	if (means == PROVIDER_CAPACITY || means == PROVIDER_QUOTA)
		f->code = means;
	aws_show(a, f->message, sizeof(f->message), says[0] != '\0' ? says : code);
}

/* --- the list ---------------------------------------------------------------------------------
 */

int aws_cursor_read(const struct xml_node *root, const char *before, struct provider_result *out)
{
	if (xml_copy(root, "nextToken", out->cursor, sizeof(out->cursor)) < 0)
		return -1;
	return out->cursor[0] == '\0' || strcmp(out->cursor, before) != 0 ? 0 : -1;
}

struct aws_list { /* one page, as it comes */
	const struct aws *a;
	struct xml_reading *xml;
	struct xml_each each;
	struct provider_result r;
	struct aws_tags tags;
	size_t cap;
};

static int read_one(void *ctx, const struct xml_node *item)
{
	struct aws_list *l = ctx;
	struct provider_result *out = &l->r;
	struct provider_instance *i;

	if (out->ninstances == AWS_PAGE_INSTANCES_MAX)
		return -1;
	if (out->ninstances == l->cap) {
		l->cap = l->cap == 0 ? 64 : 2 * l->cap;
		out->instances = mem_realloc(out->instances, l->cap * sizeof(*out->instances));
	}
	i = &out->instances[out->ninstances];
	*i = (struct provider_instance){0};
	aws_tags_read(&l->tags, item);
	/* A cluster tag that is too long cannot be ours, though the filter let it pass: refuse the
	 * list. */
	if (aws_instance_read(l->a, item, i) != 0 || !l->tags.readable)
		return -1;
	aws_tags_who(&l->tags, xml_text(item, "amiLaunchIndex"), i);
	if (i->state == PROVIDER_ENDED && !i->taken)
		read_failure(l->a, item, i->id, out);
	out->ninstances++;
	return 0;
}

struct aws_list *aws_list_begin(const struct aws *a)
{
	static const char *const names[] = {"DescribeInstancesResponse",
					    "item",
					    "reservationSet",
					    "instancesSet",
					    "instanceId",
					    "instanceState",
					    "name",
					    "reason",
					    "stateReason",
					    "code",
					    "message",
					    AWS_ADDRESS_PRIVATE,
					    AWS_ADDRESS_PUBLIC,
					    AWS_ADDRESS_IPV6,
					    "amiLaunchIndex",
					    "launchTime",
					    "instanceType",
					    "instanceLifecycle",
					    "placement",
					    "availabilityZone",
					    "tagSet",
					    "key",
					    "value",
					    "nextToken",
					    NULL};
	struct aws_list *l = mem_zalloc(sizeof(*l));

	l->a = a;
	aws_tags_init(&l->tags);
	/* DescribeInstancesResponse/reservationSet/item/instancesSet/item */
	l->each = (struct xml_each){"item", "instancesSet", 4, read_one, l};
	l->xml = xml_begin(names, &l->each);
	return l;
}

void aws_list_add(struct aws_list *l, const char *p, size_t len)
{
	xml_add(l->xml, p, len);
}

int aws_list_end(struct aws_list *l, const char *cursor, struct provider_result *out)
{
	struct xml x = {0};
	int rc = -1;

	/* Without the set the list may be incomplete (I12). */
	if (xml_end(l->xml, out != NULL ? &x : NULL) == 0 && out != NULL &&
	    xml_child(x.root, "reservationSet") != NULL)
		rc = aws_cursor_read(x.root, cursor, &l->r);
	xml_fini(&x);
	aws_tags_fini(&l->tags);
	if (out != NULL)
		*out = l->r;
	else
		provider_result_fini(&l->r);
	free(l);
	return rc;
}

/* --- deletes ----------------------------------------------------------------------------------
 */

static void make_items(const char *const *ids, size_t n, enum provider_code code,
		       struct provider_result *out)
{
	out->items = mem_zalloc(n * sizeof(*out->items));
	out->nitems = n;
	for (size_t i = 0; i < n; i++) {
		out->items[i].code = code;
		(void)snprintf(out->items[i].instance.id, sizeof(out->items[i].instance.id), "%s",
			       ids[i]);
	}
}

int aws_delete_parse(const char *const *ids, size_t n, const struct provider_reply *reply,
		     struct provider_result *out)
{
	static const char *const names[] = {"TerminateInstancesResponse",
					    "instancesSet",
					    "item",
					    "instanceId",
					    "currentState",
					    "name",
					    NULL};
	const struct xml_node *item;
	struct map by_id;
	struct xml x;
	int rc = -1;

	map_init(&by_id);
	make_items(ids, n, PROVIDER_TRANSIENT, out);
	for (size_t i = 0; i < n; i++)
		map_put(&by_id, ids[i], &out->items[i]);
	if (xml_parse(&x, names, reply->body, reply->len) == 0 &&
	    xml_child(x.root, "instancesSet") != NULL) {
		item = xml_child(xml_child(x.root, "instancesSet"), "item");
		for (; item != NULL; item = xml_again(item)) {
			struct provider_item *it = map_get(&by_id, xml_text(item, "instanceId"));

			if (it == NULL)
				continue;
			it->code = PROVIDER_OK;
			it->instance.state =
				state_of(xml_text(xml_child(item, "currentState"), "name"));
		}
		rc = 0;
	}
	xml_fini(&x);
	map_fini(&by_id);
	return rc;
}

/* Does text contain id as a whole word, not as the beginning of a longer id? */
static bool names(const char *text, const char *id)
{
	size_t n = strlen(id);

	for (const char *p = strstr(text, id); p != NULL; p = strstr(p + 1, id))
		if ((p == text || strchr(" ',\"", p[-1]) != NULL) &&
		    (p[n] == '\0' || strchr(" ',.\"", p[n]) != NULL))
			return true;
	return false;
}

/* EC2 refuses a whole delete for one id that it does not know, or that is protected or in a state
 * in which it cannot be ended.  Blame the ids that it names; the others are sent again without
 * them. */
bool aws_delete_error(const char *const *ids, size_t n, const char *code, const char *message,
		      struct provider_result *out)
{
	enum provider_code blame = aws_code(PROVIDER_DELETE, code, 400);
	bool some = false;

	if (strcmp(code, "InvalidInstanceID.NotFound") != 0 &&
	    strcmp(code, "OperationNotPermitted") != 0 &&
	    strcmp(code, "IncorrectInstanceState") != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		some = some || names(message, ids[i]);
	if (!some)
		return false;
	make_items(ids, n, PROVIDER_TRANSIENT, out);
	for (size_t i = 0; i < n; i++)
		if (names(message, ids[i]))
			out->items[i].code = blame;
	out->code = PROVIDER_OK; /* the items have the codes */
	return true;
}
