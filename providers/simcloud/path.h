/* path.h - paths of a REST API that have an id in them. */
#ifndef SIMCLOUD_PATH_H
#define SIMCLOUD_PATH_H

#include <stdbool.h>

enum { PATH_ID_SIZE = 96 };

/* Does the path fit the pattern, in which "{id}" stands for one word?  id gets that word, cut to
 * its size, or "" if the pattern has none. */
bool path_fits(const char *pattern, const char *path, char id[PATH_ID_SIZE]);

#endif
