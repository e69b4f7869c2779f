/* ironic_who.c - which node of a cluster a machine's instance is to be. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/ironic.h"
#include "providers/simcloud/name.h"

static void copy(char *out, size_t size, const char *text)
{
	if (text != NULL && strlen(text) < size)
		memcpy(out, text, strlen(text) + 1);
}

/* Tags have a generation as a number or as its digits. */
static int64_t generation(const json_t *v)
{
	if (json_is_string(v))
		return strtoll(json_string_value(v), NULL, 10);
	return (int64_t)json_integer_value(v);
}

bool ironic_who(struct ironic_who *who, const json_t *tags, const char *name)
{
	const char *node = ironic_string(tags, "burstd-node");
	struct name n;

	if (node != NULL && node[0] != '\0' && strlen(node) < sizeof(who->node)) {
		*who = (struct ironic_who){
			.gen = generation(json_object_get(tags, "burstd-generation"))};
		copy(who->node, sizeof(who->node), node);
		copy(who->cluster, sizeof(who->cluster), ironic_string(tags, "burstd-cluster"));
		return true;
	}
	if (name == NULL || !name_read(&n, name))
		return false;
	*who = (struct ironic_who){.gen = n.gen};
	memcpy(who->node, n.node, sizeof(n.node));
	memcpy(who->cluster, n.cluster, sizeof(n.cluster));
	return true;
}

void ironic_tenant(struct ironic_node *n, const struct cloud *c)
{
	struct ironic_who *who = &n->who;
	const json_t *info = json_object_get(n->doc, "instance_info");

	*who = (struct ironic_who){0};
	if (n->row >= 0) {
		const struct meter_row *row = &c->meter->rows[n->row];

		copy(who->node, sizeof(who->node), row->node);
		copy(who->cluster, sizeof(who->cluster), row->cluster);
		who->gen = (int64_t)row->gen;
	} else if (n->alloc != NULL && n->alloc->who.node[0] != '\0') {
		*who = n->alloc->who;
	} else if (!ironic_who(who, json_object_get(n->doc, "extra"), NULL)) {
		(void)ironic_who(who, info, ironic_string(info, "display_name"));
	}
}
