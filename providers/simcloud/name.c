#include "providers/simcloud/name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool name_read(struct name *out, const char *text)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	const char *gen = text + 1 + NAME_CLUSTER_LEN + 1, *node;
	size_t len;
	long long n;

	if (text[0] != 'b' || strspn(text + 1, "0123456789abcdef") < NAME_CLUSTER_LEN ||
	    text[1 + NAME_CLUSTER_LEN] != '-')
		return false;
	len = strspn(gen, digits);
	if (len == 0 || gen[len] != '-')
		return false;
	node = gen + len + 1;
	errno = 0;
	n = strtoll(gen, NULL, 36);
	if (errno != 0 || node[0] == '\0' || strlen(node) >= sizeof(out->node))
		return false;
	*out = (struct name){.gen = n};
	memcpy(out->cluster, text + 1, NAME_CLUSTER_LEN);
	memcpy(out->node, node, strlen(node));
	return true;
}
