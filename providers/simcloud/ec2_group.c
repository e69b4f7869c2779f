#include <stdio.h>
#include <string.h>

#include "providers/simcloud/ec2.h"

/* EC2's placement groups, of the strategy "cluster": the cloud's fabrics. */

static bool is_here(const struct face_call *f, const struct cloud_fabric *g)
{
	return g != NULL && strcmp(g->region, f->region) == 0;
}

static void put_group(struct str *s, const char *element, const struct cloud_fabric *g)
{
	str_addf(s, "<%s>", element);
	xmlw_text(s, "groupName", g->name);
	xmlw_text(s, "strategy", "cluster");
	xmlw_text(s, "state", "available");
	str_adds(s, "<groupId>pg-0</groupId><tagSet>");
	if (g->cluster[0] != '\0') {
		str_adds(s, "<item>");
		xmlw_text(s, "key", "burstd-cluster");
		xmlw_text(s, "value", g->cluster);
		str_adds(s, "</item>");
	}
	str_addf(s, "</tagSet></%s>", element);
}

static void make(const struct face_call *f, struct cloud *c, struct face_reply *out)
{
	const struct ec2_call *x = f->own;
	const char *cluster = order_find(x->tags, "burstd-cluster");
	struct cloud_fabric g = {.region = ""};
	enum code code;
	struct str s;

	memcpy(g.name, f->fabric, sizeof(g.name));
	memcpy(g.region, f->region, sizeof(g.region));
	(void)snprintf(g.cluster, sizeof(g.cluster), "%s", cluster != NULL ? cluster : "");
	code = fabric_make(c, &g);
	if (code != CODE_OK) {
		ec2_error(out, code,
			  code == CODE_QUOTA
				  ? "PlacementGroupLimitExceeded: You have too many placement "
				    "groups"
				  : "InvalidPlacementGroup.Duplicate: The placement group "
				    "already exists");
		return;
	}
	ec2_begin(&s, "CreatePlacementGroup");
	str_adds(&s, "<return>true</return>");
	put_group(&s, "placementGroup", &g);
	ec2_end(&s, "CreatePlacementGroup", out);
}

static void drop(const struct face_call *f, struct cloud *c, struct face_reply *out)
{
	bool here = is_here(f, fabric_find(c, f->fabric));
	enum code code = here ? fabric_drop(c, f->fabric) : CODE_NOT_FOUND;
	struct str s;

	if (code != CODE_OK) {
		ec2_error(out, code,
			  code == CODE_NOT_FOUND
				  ? "InvalidPlacementGroup.Unknown: The placement group does not "
				    "exist"
				  : "InvalidPlacementGroup.InUse: The placement group is in use");
		return;
	}
	ec2_begin(&s, "DeletePlacementGroup");
	str_adds(&s, "<return>true</return>");
	ec2_end(&s, "DeletePlacementGroup", out);
}

static void list(const struct face_call *f, const struct cloud *c, struct face_reply *out)
{
	struct str s;

	ec2_begin(&s, "DescribePlacementGroups");
	str_adds(&s, "<placementGroupSet>");
	for (size_t i = 0; i < c->nfabrics; i++)
		if (is_here(f, &c->fabrics[i]) &&
		    (f->cluster[0] == '\0' || strcmp(c->fabrics[i].cluster, f->cluster) == 0))
			put_group(&s, "item", &c->fabrics[i]);
	str_adds(&s, "</placementGroupSet>");
	ec2_end(&s, "DescribePlacementGroups", out);
}

void ec2_run_group(const struct face_call *f, struct cloud *c, struct face_reply *out)
{
	const struct ec2_call *x = f->own;

	if (x->action == EC2_MAKE_GROUP)
		make(f, c, out);
	else if (x->action == EC2_DROP_GROUP)
		drop(f, c, out);
	else
		list(f, c, out);
}
