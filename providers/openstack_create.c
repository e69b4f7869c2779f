/* openstack_create.c - a create: one POST for all of its servers.
 *
 * Nova answers with the id of the first server alone.  So one of several asks for a reservation id
 * instead, and lists by it, a few times, until all have been seen: Nova shows some of them for
 * seconds, and its list does not say that there are more.  What has not been seen by then is open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/common/words.h"
#include "providers/openstack_private.h"

enum {
	TOKEN_MAX = 64,
	TEXT_MAX = OPENSTACK_PARTS * OPENSTACK_VALUE_MAX, /* of one list */
};

/* --- how many ----------------------------------------------------------------------------------
 */

/* One job, since Nova finds hosts for all servers of a create or for none; of nodes that do not
 * belong together a few. */
size_t openstack_fits(const void *self, const struct provider_create *c)
{
	const struct openstack *s = self;
	const uint32_t group = c->nwants > 0 ? c->wants[0].group : 0;
	size_t max = group != 0 ? OPENSTACK_CREATE_MAX : s->o.together, n = 0;

	while (n < max && n < c->nwants && c->wants[n].group == group)
		n++;
	return members_fit(c, n, TEXT_MAX);
}

static int check(const struct openstack *s, const struct provider_create *c, struct err *e)
{
	const char *text = c->user_data;
	const char *region = s->now != NULL ? s->now->region : s->o.region;

	if (c->nwants == 0 || c->nwants > OPENSTACK_CREATE_MAX ||
	    !words_is_plain(c->token, TOKEN_MAX))
		return err_set(e, ERR_INVALID, "create: 1 to %d servers, with a plain token",
			       OPENSTACK_CREATE_MAX);
	for (size_t i = 0; i < c->nwants; i++)
		if (!hostlist_is_name(c->wants[i].node) || c->wants[i].gen == 0 ||
		    c->wants[i].gen > INT64_MAX)
			return err_set(e, ERR_INVALID, "create: not a node's name and generation");
	if (region[0] != '\0' && strcmp(c->place->region, region) != 0)
		return err_set(e, ERR_INVALID, "this provider is for region %s, not %s", region,
			       c->place->region);
	if (provider_in_fabric(c->place))
		return err_set(e, ERR_INVALID, "this driver has no fabrics");
	if (text != NULL && strlen(text) > OPENSTACK_USER_DATA)
		return err_set(e, ERR_LIMIT, "create: user-data of more than %d bytes",
			       OPENSTACK_USER_DATA);
	if (members_fit(c, c->nwants, TEXT_MAX) != c->nwants)
		return err_set(e, ERR_LIMIT, "create: more names than the metadata can hold");
	return 0;
}

/* --- the body ----------------------------------------------------------------------------------
 */

/* Lists of words with commas between, each an object {key: word}. */
static void put_words(struct rest_call *c, const char *list, const char *key, const char *words)
{
	char word[PROVIDER_ID_MAX + 1];

	rest_open(c, list, '[');
	while (words[0] != '\0') {
		size_t n = strcspn(words, ",");

		(void)snprintf(word, sizeof(word), "%.*s", (int)n, words);
		rest_open(c, NULL, '{');
		rest_text(c, key, word);
		rest_close(c, '}');
		words += n + (words[n] == ',');
	}
	rest_close(c, ']');
}

static void put_networks(struct rest_call *c, const char *networks)
{
	if (strcmp(networks, "auto") == 0 || strcmp(networks, "none") == 0)
		rest_text(c, "networks", networks);
	else
		put_words(c, "networks", "uuid", networks);
}

/* A server's own disk, or a volume that is made from the image and goes with the server. */
static void put_disk(const struct openstack *s, struct rest_call *c, const char *image)
{
	if (s->o.volume_gb == 0) {
		rest_text(c, "imageRef", image);
		return;
	}
	rest_open(c, "block_device_mapping_v2", '[');
	rest_open(c, NULL, '{');
	rest_number(c, "boot_index", 0);
	rest_text(c, "uuid", image);
	rest_text(c, "source_type", "image");
	rest_text(c, "destination_type", "volume");
	rest_number(c, "volume_size", s->o.volume_gb);
	if (s->o.volume_type[0] != '\0')
		rest_text(c, "volume_type", s->o.volume_type);
	rest_flag(c, "delete_on_termination", true);
	rest_close(c, '}');
	rest_close(c, ']');
}

/* Split a list into as many values as it needs: KEY, KEY-2, KEY-3 ... */
static void put_parts(struct rest_call *c, const char *key, const struct str *text)
{
	for (size_t at = 0, part = 1; at < text->len; at += OPENSTACK_VALUE_MAX, part++) {
		char name[32], value[OPENSTACK_VALUE_MAX + 1];

		(void)snprintf(name, sizeof(name), part > 1 ? "%s-%zu" : "%s", key, part);
		(void)snprintf(value, sizeof(value), "%s", text->p + at);
		rest_text(c, name, value);
	}
}

static void put_who(struct rest_call *c, const struct provider_create *op)
{
	char tag[OPENSTACK_TAG_MAX + 1];
	struct str names, gens;

	str_init(&names, TEXT_MAX);
	str_init(&gens, TEXT_MAX);
	members_write(&names, &gens, op, op->nwants);
	rest_open(c, "metadata", '{');
	rest_text(c, OPENSTACK_CLUSTER, op->cluster);
	rest_text(c, OPENSTACK_BATCH, op->token);
	put_parts(c, OPENSTACK_NODE, &names);
	put_parts(c, OPENSTACK_GEN, &gens);
	rest_close(c, '}');
	openstack_tag(tag, op->cluster);
	c->bad = c->bad || tag[0] == '\0';
	rest_open(c, "tags", '[');
	rest_text(c, NULL, tag);
	rest_close(c, ']');
	str_fini(&names);
	str_fini(&gens);
}

static void put_count(struct rest_call *c, size_t n)
{
	if (n == 1)
		return;
	rest_number(c, "min_count", n);
	rest_number(c, "max_count", n);
	rest_flag(c, "return_reservation_id", true);
}

static void put_given(struct rest_call *c, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		rest_text(c, key, text);
}

/* Of the body nothing depends on the session but the flavor's id. */
static void put_server(const struct openstack *s, const struct provider_create *op,
		       const char *flavor, struct rest_call *c)
{
	const char *user_data = op->user_data != NULL ? op->user_data : s->user_data;

	rest_open(c, "server", '{');
	rest_text(c, "name", op->nwants == 1 ? op->wants[0].node : op->token);
	rest_text(c, "flavorRef", flavor);
	put_disk(s, c, provider_image(op->place, s->o.image));
	put_networks(c, s->o.networks);
	put_count(c, op->nwants);
	put_given(c, "availability_zone", op->place->zone);
	put_given(c, "key_name", s->o.key_name);
	if (s->o.security_groups[0] != '\0')
		put_words(c, "security_groups", "name", s->o.security_groups);
	if (s->o.config_drive)
		rest_flag(c, "config_drive", true);
	if (user_data != NULL)
		rest_base64(c, "user_data", user_data);
	put_who(c, op);
	rest_close(c, '}');
}

/* What has become of it, by its reservation. */
int openstack_question_build(const struct openstack *s, const struct provider_op *op,
			     struct rest_call *c, struct err *e)
{
	char reservation[OPENSTACK_RESERVATION + 1];
	unsigned count;

	if (!openstack_cursor_read(provider_cursor(op), reservation, &count))
		return err_set(e, ERR_INVALID, "create: not a cursor of this driver");
	openstack_begin(c, s->now, "GET", "/servers/detail");
	rest_query_number(c, "limit", OPENSTACK_PAGE_MAX);
	rest_query(c, "reservation_id", reservation);
	return 0;
}

/* Before the first login it only shows whether there can be such a create at all. */
int openstack_create_build(const struct openstack *s, const struct provider_op *op,
			   struct rest_call *c, struct err *e)
{
	const char *flavor;

	if (check(s, &op->u.create, e) != 0)
		return -1;
	flavor = openstack_flavor_id(s, op->u.create.place, e);
	if (flavor == NULL)
		return -1;
	if (s->now != NULL)
		openstack_begin(c, s->now, "POST", "/servers");
	else
		rest_begin(c, &s->keystone, "POST", "/v2.1/servers");
	rest_open(c, NULL, '{');
	put_server(s, &op->u.create, flavor, c);
	if (s->o.server_group[0] != '\0') {
		rest_open(c, "os:scheduler_hints", '{');
		rest_text(c, "group", s->o.server_group);
		rest_close(c, '}');
	}
	rest_close(c, '}');
	return 0;
}

/* --- the answer --------------------------------------------------------------------------------
 */

int openstack_created_read(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	const struct provider_create *c = &op->u.create;
	struct provider_instance *i;

	if (c->nwants != 1)
		return openstack_cursor_write(out, doc_word(&d->top, "reservation_id"), 0);
	i = rest_created(c, out);
	doc_id(&d->top, "server.id", i->id, sizeof(i->id));
	return 0;
}
