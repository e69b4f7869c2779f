#include "providers/simcloud/gpu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_DIGITS = 3 };

bool gpu_type_read(struct gpu_type *out, const char *type)
{
	static const char *const prefixes[] = {
		[GPU_VM] = "gpu_", [GPU_CLUSTER] = "cluster_", [GPU_BARE_METAL] = "bm_"};
	char *end;

	*out = (struct gpu_type){0};
	for (int k = GPU_VM; k <= GPU_BARE_METAL; k++) {
		const char *number = type + strlen(prefixes[k]);
		unsigned long count;

		if (strncmp(type, prefixes[k], strlen(prefixes[k])) != 0 ||
		    !isdigit((unsigned char)*number))
			continue;
		count = strtoul(number, &end, 10);
		if (end - number > COUNT_DIGITS || strncmp(end, "x_", 2) != 0 || end[2] == '\0')
			return false;
		*out = (struct gpu_type){(enum gpu_shape)k, (unsigned)count, end + 2};
		return true;
	}
	return false;
}
