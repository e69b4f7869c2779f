/* fds.h - counts the descriptors that this process has open, for tests that must leave none. */
#ifndef TESTS_FDS_H
#define TESTS_FDS_H

#include <dirent.h>
#include <stddef.h>

#include "io/loop.h"

static inline unsigned count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return n;
}

/* Group setup: libuv opens descriptors for signals with its first loop and keeps them, so make one
 * before the first test counts. */
static inline int first_loop(void **state)
{
	struct loop *l;

	(void)state;
	if (loop_new(&l, NULL) != 0)
		return -1;
	loop_free(l);
	return 0;
}

#endif
