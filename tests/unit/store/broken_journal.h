/* broken_journal.h - a journal that is killed, damaged, or on a full disk. */
#ifndef TESTS_BROKEN_JOURNAL_H
#define TESTS_BROKEN_JOURNAL_H

#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"

/* SQLite's calls come here, as this program defines the name. */
static struct {
	unsigned n;       /* since it was last set to 0 */
	const char *fail; /* EIO for files whose names end so; NULL: none */
} syncs;

static inline int sync_or_fail(int fd, long call)
{
	char link[64], path[PATH_MAX];
	ssize_t len, end = syncs.fail != NULL ? (ssize_t)strlen(syncs.fail) : 0;

	syncs.n++;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	if (syncs.fail != NULL && len >= end &&
	    memcmp(path + len - end, syncs.fail, (size_t)end) == 0) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(call, fd);
}

int fsync(int fd)
{
	return sync_or_fail(fd, SYS_fsync);
}

int fdatasync(int fd)
{
	return sync_or_fail(fd, SYS_fdatasync);
}

#endif
