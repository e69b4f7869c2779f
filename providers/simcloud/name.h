/* name.h - which node an instance is, read from its name, for clouds that keep no tags.
 *
 * burstd names an instance there "b", the first 12 hex digits of the cluster's uuid (without its
 * dashes), "-", the generation in base 36, "-", the node: "b0b1c2d3e0000-7-gpu-1". */
#ifndef SIMCLOUD_NAME_H
#define SIMCLOUD_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/simcloud/settings.h"

enum { NAME_CLUSTER_LEN = 12 };

struct name {
	char cluster[NAME_CLUSTER_LEN + 1]; /* the digits */
	int64_t gen;
	char node[SETTINGS_WORD_SIZE];
};

/* false: text is not of that form; *out is unchanged. */
bool name_read(struct name *out, const char *text);

#endif
