#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static int write_all(int fd, const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return -1;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return fsync(fd);
}

static int write_temporary(int dir, const char *name, const void *bytes, size_t len)
{
	int fd, rc, saved;

	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return -1;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	rc = write_all(fd, bytes, len);
	saved = errno;
	if (close(fd) < 0 && rc == 0)
		return -1;
	errno = saved;
	return rc;
}

int own_file_write(int dir, const char *name, const void *bytes, size_t len, enum own_file_how how)
{
	char temporary[NAME_MAX + 1];
	int rc, saved;

	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.tmp", name) >= sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	rc = write_temporary(dir, temporary, bytes, len);
	if (rc == 0)
		rc = how == OWN_FILE_NEW ? linkat(dir, temporary, dir, name, 0)
					 : renameat(dir, temporary, dir, name);
	if (rc == 0)
		rc = fsync(dir);
	saved = errno;
	(void)unlinkat(dir, temporary, 0);
	errno = saved;
	return rc;
}
