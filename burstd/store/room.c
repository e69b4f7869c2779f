#include "store/room.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { PATH_LEN = 4200 }; /* bytes: state_dir and a name */

static int open_reserve(const struct room *r, int flags)
{
	return open(r->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
}

void room_init_in(struct room *r, const char *dir, const char *name)
{
	struct stat st;
	struct str path;

	str_init(&path, PATH_LEN);
	*r = (struct room){.free_bytes = -1, .dir = mem_strdup(dir)};
	str_addf(&path, "%s/%s", dir, name);
	r->path = str_take(&path);
	if (lstat(r->path, &st) == 0 && S_ISREG(st.st_mode))
		r->kept = st.st_size < ROOM_RESERVE ? st.st_size : ROOM_RESERVE;
}

void room_init(struct room *r, const char *file)
{
	char *copy = mem_strdup(file);

	room_init_in(r, dirname(copy), "reserve");
	free(copy);
}

void room_fini(struct room *r)
{
	free(r->path);
	free(r->dir);
	r->path = r->dir = NULL;
}

/* Refill the reserve.  Returns 0; or an errno, and the reserve has its old size. */
static int make_whole(struct room *r)
{
	int fd = open_reserve(r, O_CREAT), rc;

	if (fd < 0)
		return errno;
	rc = posix_fallocate(fd, 0, ROOM_RESERVE);
	if (rc == 0)
		r->kept = ROOM_RESERVE;
	else if (ftruncate(fd, r->kept) != 0)
		r->kept = 0; /* its size is not known */
	(void)close(fd);
	return rc;
}

void room_look(struct room *r)
{
	const bool was_low = r->low || r->kept < ROOM_RESERVE;
	struct statvfs v;
	int rc = 0;

	if (statvfs(r->dir, &v) != 0)
		return; /* the next write will show the state of the disk */
	r->free_bytes = (int64_t)v.f_bavail * (int64_t)v.f_frsize;
	r->low = r->free_bytes < (was_low ? ROOM_ENOUGH : ROOM_LOW);
	if (r->low || r->kept == ROOM_RESERVE)
		return;
	rc = make_whole(r);
	/* A quota may refuse room that the file system has.  A file system that cannot reserve
	 * blocks is no reason to stop buying. */
	r->low = rc == ENOSPC || rc == EDQUOT;
	if (rc == 0 && statvfs(r->dir, &v) == 0)
		r->free_bytes = (int64_t)v.f_bavail * (int64_t)v.f_frsize;
}

bool room_give(struct room *r)
{
	const int64_t left = r->kept > ROOM_SLICE ? r->kept - ROOM_SLICE : 0;
	int fd, rc;

	if (r->kept == 0)
		return false;
	fd = open_reserve(r, 0);
	r->kept = left;
	if (fd < 0)
		return false;
	rc = left > 0 ? ftruncate(fd, left) : unlink(r->path);
	/* A journalling file system does not reuse freed blocks before its next commit. */
	(void)fsync(fd);
	(void)close(fd);
	return rc == 0;
}
