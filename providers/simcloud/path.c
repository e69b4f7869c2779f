#include "providers/simcloud/path.h"

#include <stdio.h>
#include <string.h>

static const char hole[] = "{id}";

bool path_fits(const char *pattern, const char *path, char id[PATH_ID_SIZE])
{
	const char *at = strstr(pattern, hole);
	size_t before = at != NULL ? (size_t)(at - pattern) : 0, n;

	id[0] = '\0';
	if (at == NULL)
		return strcmp(pattern, path) == 0;
	if (strncmp(pattern, path, before) != 0)
		return false;
	n = strcspn(path + before, "/");
	if (n == 0 || strcmp(at + sizeof(hole) - 1, path + before + n) != 0)
		return false;
	(void)snprintf(id, PATH_ID_SIZE, "%.*s", (int)n, path + before);
	return true;
}
