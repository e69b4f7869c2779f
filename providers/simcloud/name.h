/* name.h - which node an instance is for, by its name alone.
 *
 * For the meter, at clouds without tags: such a name is "b" CLUSTER "-" GENERATION "-" NODE, with
 * the first 12 hexadecimal digits of the cluster's uuid and the generation in base 36.  Any other
 * name is that of the node, of no cluster and generation 0. */
#ifndef SIMCLOUD_NAME_H
#define SIMCLOUD_NAME_H

#include <stdint.h>

#include "providers/simcloud/settings.h"

struct name {
	char cluster[SETTINGS_WORD_SIZE], node[SETTINGS_WORD_SIZE]; /* "": unknown */
	int64_t gen;
};

/* Any text will do: the node is "" if it cannot be the name of one. */
void name_read(struct name *out, const char *text);

#endif
