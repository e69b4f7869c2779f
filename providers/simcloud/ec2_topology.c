#include "providers/simcloud/ec2.h"

#include <stdio.h>

/* EC2's network nodes: the switches above instances that run.  One that does not run has none. */

static void put_nodes(struct str *s, const struct fabric_path *path)
{
	char name[sizeof(path->at[0]) + 3];

	str_adds(s, "<networkNodeSet>");
	for (size_t k = 0; k < path->n; k++) {
		(void)snprintf(name, sizeof(name), "nn-%s", path->at[k]);
		xmlw_text(s, "item", name);
	}
	str_adds(s, "</networkNodeSet>");
}

void ec2_run_paths(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	struct fabric_path path;
	struct str s;

	if (f->n > EC2_PATHS_MAX) {
		ec2_error(out, CODE_INVALID, "InvalidParameterValue: too many instance ids");
		return;
	}
	if (!ec2_all_known(f, c, now, out))
		return;
	ec2_begin(&s, "DescribeInstanceTopology");
	str_adds(&s, "<instanceSet>");
	for (size_t i = 0; i < f->n; i++) {
		const struct cloud_instance *in = cloud_find(c, f->ids[i], now);

		str_adds(&s, "<item>");
		xmlw_text(&s, "instanceId", f->ids[i]);
		xmlw_text(&s, "instanceType", in->pool->type);
		if (in->fabric != NULL)
			xmlw_text(&s, "groupName", in->fabric);
		fabric_path(c, in, &path);
		if (cloud_shown(in, now) == CLOUD_RUNNING)
			put_nodes(&s, &path);
		xmlw_text(&s, "availabilityZone", in->pool->zone);
		str_adds(&s, "</item>");
	}
	str_adds(&s, "</instanceSet>");
	ec2_end(&s, "DescribeInstanceTopology", out);
}
