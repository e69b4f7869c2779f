#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

char *own_file_split(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *dir;

	*name = slash != NULL ? slash + 1 : path;
	if (slash == NULL || slash == path)
		return mem_strdup(slash == NULL ? "." : "/");
	dir = mem_strdup(path);
	dir[slash - path] = '\0';
	return dir;
}

int own_file_put(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -1;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return fsync(fd);
}

static int write_temporary(int dir, const char *name, const void *bytes, size_t len, mode_t mode)
{
	int fd, rc, saved;

	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return -1;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -1;
	rc = own_file_put(fd, bytes, len);
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
	rc = write_temporary(dir, temporary, bytes, len, how == OWN_FILE_NEW_PUBLIC ? 0644 : 0600);
	if (rc == 0)
		rc = how == OWN_FILE_REPLACE ? renameat(dir, temporary, dir, name)
					     : linkat(dir, temporary, dir, name, 0);
	if (rc == 0)
		rc = fsync(dir);
	saved = errno;
	(void)unlinkat(dir, temporary, 0);
	errno = saved;
	return rc;
}
