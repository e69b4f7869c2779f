/* nova_spec.c - what a create asks for, which its servers keep: read from a body that the schema
 * allows. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/name.h"
#include "providers/simcloud/nodelist.h"
#include "providers/simcloud/nova.h"

enum { COUNT_MAX = 1 << 30 };

struct nova_spec *nova_spec_ref(struct nova_spec *s)
{
	if (s != NULL)
		s->refs++;
	return s;
}

void nova_spec_unref(struct nova_spec *s)
{
	if (s == NULL || --s->refs > 0)
		return;
	json_decref(s->server);
	free(s);
}

const char *nova_spec_text(const struct nova_spec *s, const char *key)
{
	return s != NULL ? json_string_value(json_object_get(s->server, key)) : NULL;
}

void nova_spec_name(char out[NOVA_TEXT_SIZE], const struct nova_spec *s, size_t i)
{
	const char *name = nova_spec_text(s, "name");

	assert(s != NULL);
	if (s->count > 1)
		(void)snprintf(out, NOVA_TEXT_SIZE, "%.240s-%zu", name, i + 1);
	else
		(void)snprintf(out, NOVA_TEXT_SIZE, "%.255s", name);
}

bool nova_spec_has_tag(const struct nova_spec *s, const char *tag)
{
	const json_t *v;
	size_t i;

	if (s == NULL)
		return false;
	json_array_foreach(json_object_get(s->server, "tags"), i,
			   v) if (strcmp(json_string_value(v), tag) == 0) return true;
	return false;
}

/* --- reading ---------------------------------------------------------------------------------- */

static size_t count_of(const json_t *server, const char *key, size_t otherwise)
{
	const json_t *v = json_object_get(server, key);
	long long n;

	if (v == NULL)
		return otherwise;
	n = json_is_integer(v) ? json_integer_value(v) : strtoll(json_string_value(v), NULL, 10);
	return n < COUNT_MAX ? (size_t)n : COUNT_MAX;
}

static bool is_true(const json_t *v)
{
	const char *text = json_string_value(v);

	return json_is_true(v) || (text != NULL && strchr("tT1yY", text[0]) != NULL) ||
	       (text != NULL && tolower((unsigned char)text[0]) == 'o' &&
		tolower((unsigned char)text[1]) == 'n');
}

/* Decode leniently, as Nova does: what is no base64 is passed over. */
static struct userdata *read_user_data(const char *text)
{
	struct userdata *u;
	struct str s;

	if (text == NULL)
		return NULL;
	str_init(&s, strlen(text) + 1);
	for (; *text != '\0'; text++)
		if (isalnum((unsigned char)*text) || strchr("+/=", *text) != NULL)
			str_add(&s, text, 1);
	u = userdata_decode(s.p);
	str_fini(&s);
	return u;
}

/* A list has each tag once. */
static void drop_doubles(json_t *tags)
{
	for (size_t i = 0; i < json_array_size(tags); i++)
		for (size_t k = i + 1; k < json_array_size(tags);)
			if (json_equal(json_array_get(tags, i), json_array_get(tags, k)))
				(void)json_array_remove(tags, k);
			else
				k++;
}

static int check_whole(const struct nova_spec *s, struct err *e)
{
	const json_t *o = s->server;

	if (s->min > s->max)
		return err_set(e, ERR_INVALID, "min_count must be <= max_count");
	if (s->max > 1 && json_object_get(o, "hostname") != NULL)
		return err_set(e, ERR_INVALID,
			       "Unable to allocate a single hostname to multiple instances");
	if (json_object_get(o, "imageRef") == NULL &&
	    json_object_get(o, "block_device_mapping_v2") == NULL)
		return err_set(e, ERR_INVALID, "Missing imageRef attribute");
	return 0;
}

static const char *find_metadata(const void *ctx, const char *key)
{
	const struct nova_spec *s = ctx;

	return json_string_value(json_object_get(json_object_get(s->server, "metadata"), key));
}

/* The nodes, for the meter: by lists in the metadata, or by names. */
static void name_wants(struct face_call *f, const struct nova_spec *s)
{
	const char *cluster = find_metadata(s, "burstd-cluster");

	nodelist_name(f->wants, f->n, find_metadata, s);
	for (size_t i = 0; i < f->n; i++) {
		char name[NOVA_TEXT_SIZE];
		struct name n = {0};

		if (f->wants[i].node[0] != '\0')
			continue;
		nova_spec_name(name, s, i);
		if (!name_read(&n, name) && strlen(name) < sizeof(n.node))
			memcpy(n.node, name, strlen(name));
		memcpy(f->wants[i].node, n.node, sizeof(f->wants[i].node));
		f->wants[i].gen = n.gen;
		if (cluster == NULL)
			(void)snprintf(f->cluster, sizeof(f->cluster), "%s", n.cluster);
	}
	if (cluster != NULL)
		(void)snprintf(f->cluster, sizeof(f->cluster), "%.63s", cluster);
}

static void read_server(struct nova_spec *s, const json_t *doc)
{
	const json_t *flavor = json_object_get(json_object_get(doc, "server"), "flavorRef");
	const json_t *hints = json_object_get(doc, "os:scheduler_hints");

	s->server = mem_check(json_deep_copy(json_object_get(doc, "server")));
	if (json_is_integer(flavor))
		(void)snprintf(s->flavor, sizeof(s->flavor), "%lld",
			       (long long)json_integer_value(flavor));
	else
		(void)snprintf(s->flavor, sizeof(s->flavor), "%.63s", json_string_value(flavor));
	if (json_is_object(hints) && json_object_get(hints, "group") != NULL)
		(void)snprintf(s->group, sizeof(s->group), "%.36s",
			       json_string_value(json_object_get(hints, "group")));
	s->min = count_of(s->server, "min_count", 1);
	s->max = count_of(s->server, "max_count", s->min);
	s->count = s->max;
	s->by_reservation = is_true(json_object_get(s->server, "return_reservation_id"));
	drop_doubles(json_object_get(s->server, "tags"));
	(void)json_object_del(s->server, "adminPass");
	(void)json_object_set_new(
		s->server, "config_drive",
		json_boolean(is_true(json_object_get(s->server, "config_drive"))));
}

int nova_spec_read(struct face_call *f, const json_t *doc, const struct face_visit *v,
		   struct err *e)
{
	struct nova_call *x = f->own;
	struct nova_spec *s = mem_zalloc(sizeof(*s));
	struct userdata *u;

	s->refs = 1;
	x->spec = s;
	read_server(s, doc);
	if (check_whole(s, e) != 0)
		return -1;
	(void)snprintf(f->zone, sizeof(f->zone), "%.63s",
		       nova_spec_text(s, "availability_zone") != NULL
			       ? nova_spec_text(s, "availability_zone")
			       : "");
	f->n = s->max < (size_t)v->conf->create_max ? s->max : (size_t)v->conf->create_max;
	f->wants = mem_zalloc(f->n * sizeof(*f->wants));
	name_wants(f, s);
	u = read_user_data(nova_spec_text(s, "user_data"));
	(void)json_object_del(s->server, "user_data");
	for (size_t i = 0; i < f->n; i++)
		f->wants[i].user_data = userdata_ref(u);
	userdata_unref(u);
	return 0;
}
