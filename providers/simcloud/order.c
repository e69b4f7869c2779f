#include "providers/simcloud/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct order *order_new(void)
{
	struct order *o = mem_zalloc(sizeof(*o));

	o->refs = 1;
	return o;
}

struct order *order_dup(const struct order *o)
{
	struct order *copy = mem_zalloc(sizeof(*copy));

	*copy = *o;
	copy->refs = 1;
	for (size_t i = 0; i < o->ntags; i++) {
		copy->tags[i].key = mem_strdup(o->tags[i].key);
		copy->tags[i].value = mem_strdup(o->tags[i].value);
	}
	return copy;
}

struct order *order_ref(struct order *o)
{
	if (o != NULL)
		o->refs++;
	return o;
}

void order_unref(struct order *o)
{
	if (o == NULL || --o->refs > 0)
		return;
	for (size_t i = 0; i < o->ntags; i++) {
		free(o->tags[i].key);
		free(o->tags[i].value);
	}
	free(o);
}

int order_tag(struct order *o, const char *key, const char *value)
{
	if (o->ntags == ORDER_TAGS_MAX || order_find(o, key) != NULL)
		return -1;
	o->tags[o->ntags].key = mem_strdup(key);
	o->tags[o->ntags++].value = mem_strdup(value);
	return 0;
}

const char *order_find(const struct order *o, const char *key)
{
	for (size_t i = 0; i < o->ntags; i++)
		if (strcmp(o->tags[i].key, key) == 0)
			return o->tags[i].value;
	return NULL;
}
