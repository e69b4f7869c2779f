#include "providers/aws_private.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* The network nodes above instances that run: three or four, the outermost first, whose names are
 * made for this account alone.  Types without them are listed without, or not at all.  With ids EC2
 * takes no MaxResults, and answers in one page. */

enum { NETWORK_NODES_MAX = 16 };

int aws_topology_build(const char *const *ids, size_t n, struct str *body, struct err *e)
{
	if (n == 0 || n > AWS_PATHS_MAX)
		return err_set(e, ERR_INVALID, "topology: want 1 to %d ids", AWS_PATHS_MAX);
	query_begin(body, "DescribeInstanceTopology", AWS_EC2_VERSION);
	for (size_t i = 0; i < n; i++) {
		if (ids[i][0] == '\0' || !aws_is_plain(ids[i], PROVIDER_ID_MAX))
			return err_set(e, ERR_INVALID, "topology: not an id of this provider");
		query_add(body, ids[i], "InstanceId.%zu", i + 1);
	}
	return 0;
}

/* A path that cannot be read is none: half a path would say that it is near machines that it is not
 * near. */
static void read_path(const struct xml_node *item, struct provider_result *out)
{
	const struct xml_node *node = xml_child(xml_child(item, "networkNodeSet"), "item");
	struct provider_path *p = &out->paths[out->npaths];
	const char *id = xml_text(item, "instanceId");
	size_t n = 0;

	*p = (struct provider_path){.id = ""};
	if (id[0] == '\0' || !aws_is_plain(id, PROVIDER_ID_MAX))
		return;
	(void)snprintf(p->id, sizeof(p->id), "%s", id);
	for (; node != NULL; node = xml_again(node))
		if (n++ == NETWORK_NODES_MAX || provider_path_add(p, node->text) != 0)
			return;
	out->npaths += n > 0;
}

int aws_topology_parse(const struct provider_reply *reply, struct provider_result *out)
{
	static const char *const names[] = {"DescribeInstanceTopologyResponse",
					    "instanceSet",
					    "item",
					    "instanceId",
					    "networkNodeSet",
					    NULL};
	const struct xml_node *set = NULL, *item;
	struct xml x;

	if (xml_parse(&x, names, reply->body, reply->len) == 0)
		set = xml_child(x.root, "instanceSet");
	out->paths = mem_zalloc(AWS_PATHS_MAX * sizeof(*out->paths));
	for (item = xml_child(set, "item"); item != NULL && out->npaths < AWS_PATHS_MAX;
	     item = xml_again(item))
		read_path(item, out);
	xml_fini(&x);
	return set != NULL ? 0 : -1;
}
