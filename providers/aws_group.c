#include "providers/aws_private.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* A fabric is a placement group with the strategy "cluster": machines that are close to each other,
 * in one zone, where EFA and the bandwidth between them are what the type promises. */

enum { GROUPS_PAGE_MAX = 500 }; /* more than an account may have in a region: one page */

int aws_group_build(const struct provider_op *op, struct str *body, struct err *e)
{
	const char *cluster = op->u.fabric.cluster, *name = op->u.fabric.name;

	if (!aws_is_plain(cluster, PROVIDER_WORD_MAX) ||
	    (op->kind != PROVIDER_FABRIC_LIST && !aws_is_plain(name, PROVIDER_WORD_MAX)))
		return err_set(e, ERR_INVALID, "fabric: not a plain name");
	if (op->kind == PROVIDER_FABRIC_LIST) {
		query_begin(body, "DescribePlacementGroups", AWS_EC2_VERSION);
		query_add(body, "tag:" AWS_TAG_CLUSTER, "Filter.1.Name");
		query_add(body, cluster, "Filter.1.Value.1");
		return 0;
	}
	query_begin(body,
		    op->kind == PROVIDER_FABRIC_MAKE ? "CreatePlacementGroup"
						     : "DeletePlacementGroup",
		    AWS_EC2_VERSION);
	query_add(body, name, "GroupName");
	if (op->kind == PROVIDER_FABRIC_DROP)
		return 0;
	query_add(body, "cluster", "Strategy");
	query_add(body, "placement-group", "TagSpecification.1.ResourceType");
	query_add(body, AWS_TAG_CLUSTER, "TagSpecification.1.Tag.1.Key");
	query_add(body, cluster, "TagSpecification.1.Tag.1.Value");
	return 0;
}

/* Skip groups that are being deleted, which EC2 lists for a while. */
static void read_group(const struct xml_node *item, struct provider_result *out)
{
	struct provider_fabric *f = &out->fabrics[out->nfabrics];
	const char *state = xml_text(item, "state"), *name = xml_text(item, "groupName");

	if (strcmp(state, "deleting") == 0 || strcmp(state, "deleted") == 0 ||
	    !aws_is_plain(name, PROVIDER_WORD_MAX))
		return;
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	out->nfabrics++;
}

int aws_group_parse(const struct provider_op *op, const struct provider_reply *reply,
		    struct provider_result *out)
{
	static const char *const list[] = {"DescribePlacementGroupsResponse",
					   "placementGroupSet",
					   "item",
					   "groupName",
					   "state",
					   NULL};
	static const char *const made[] = {"CreatePlacementGroupResponse", NULL};
	static const char *const dropped[] = {"DeletePlacementGroupResponse", NULL};
	const struct xml_node *set, *item;
	struct xml x;
	size_t n = 0;
	int rc;

	if (op->kind != PROVIDER_FABRIC_LIST) {
		rc = xml_parse(&x, op->kind == PROVIDER_FABRIC_MAKE ? made : dropped, reply->body,
			       reply->len);
		xml_fini(&x);
		return rc;
	}
	rc = xml_parse(&x, list, reply->body, reply->len);
	set = rc == 0 ? xml_child(x.root, "placementGroupSet") : NULL;
	for (item = xml_child(set, "item"); item != NULL && n < GROUPS_PAGE_MAX;
	     item = xml_again(item))
		n++;
	out->fabrics = mem_zalloc((n + 1) * sizeof(*out->fabrics));
	item = xml_child(set, "item");
	for (size_t i = 0; i < n; i++, item = xml_again(item))
		read_group(item, out);
	xml_fini(&x);
	return set != NULL ? 0 : -1;
}
