/* What store/, io/spool.c and burst-hook call of libc, on the disk of disk.h.
 *
 * The linker sends their calls here (--wrap); what is not about the disk goes on to libc.  spool.c
 * is told of names that change. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "crash.h"
#include "disk.h"

enum { FD_BASE = 1 << 20, FDS = 64, PID = 4711 };

struct fd {
	bool used;
	int file;
	size_t at;
	size_t place; /* in a directory that is read */
	struct dirent ent;
};

static struct fd fds[FDS];
static int64_t written[DISK_FILES]; /* when each was, last */

static struct fd *fd_get(int fd)
{
	return fd >= FD_BASE && fd < FD_BASE + FDS && fds[fd - FD_BASE].used ? &fds[fd - FD_BASE]
									     : NULL;
}

static int fd_new(int file)
{
	for (int i = 0; i < FDS; i++)
		if (!fds[i].used) {
			fds[i] = (struct fd){.used = true, .file = file};
			return FD_BASE + i;
		}
	errno = EMFILE;
	return -1;
}

static int failed(int errnum)
{
	errno = errnum;
	return -1;
}

/* What a process that is dead gets: nobody sees it. */
static int dead(int rc)
{
	return rc < 0 ? failed(EIO) : rc;
}

void calls_close_all(void)
{
	memset(fds, 0, sizeof(fds));
}

/* "dir/name", and "dir" itself for ".". */
static const char *below(int dirfd, const char *name, char path[DISK_PATH])
{
	const struct fd *d = fd_get(dirfd);
	int n;

	if (d == NULL || strcmp(name, ".") == 0)
		n = snprintf(path, DISK_PATH, "%s", d == NULL ? name : disk_path(d->file));
	else
		n = snprintf(path, DISK_PATH, "%s/%s", disk_path(d->file), name);
	return n > 0 && n < DISK_PATH ? path : "";
}

static int open_path(const char *path, int flags)
{
	int file = disk_find(path);

	if (file >= 0 && (flags & O_EXCL) != 0)
		return failed(EEXIST);
	if (file < 0 && (flags & O_CREAT) == 0)
		return failed(ENOENT);
	if (file < 0) {
		file = disk_make(path, false);
		if (file >= 0) {
			written[file] = crash_now();
			spool_saw(&crash, "", path);
		}
	} else if ((flags & O_TRUNC) != 0 && disk_len(file) > 0 && disk_truncate(file, 0) != 0) {
		file = -1;
	}
	return file < 0 ? failed(EIO) : fd_new(file);
}

/* The prototypes: nobody else calls these by name. */
#define WRAP(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

static bool is_ours(const char *path)
{
	return strncmp(path, "/var/lib/", 9) == 0 || strncmp(path, "/var/spool/", 11) == 0 ||
	       strcmp(path, "/var/lib") == 0 || strcmp(path, "/var/spool") == 0;
}

WRAP(int, open, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if ((flags & O_CREAT) != 0)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return is_ours(path) ? open_path(path, flags) : __real_open(path, flags, mode);
}

WRAP(int, openat, int dirfd, const char *name, int flags, ...)
{
	char path[DISK_PATH];
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if ((flags & O_CREAT) != 0)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (fd_get(dirfd) == NULL)
		return __real_openat(dirfd, name, flags, mode);
	return open_path(below(dirfd, name, path), flags);
}

WRAP(int, close, int fd)
{
	struct fd *f = fd_get(fd);

	if (f == NULL)
		return fd >= FD_BASE ? 0 : __real_close(fd); /* of a life before this one */
	f->used = false;
	return 0;
}

WRAP(ssize_t, read, int fd, void *out, size_t len)
{
	struct fd *f = fd_get(fd);
	size_t n;

	if (f == NULL)
		return __real_read(fd, out, len);
	n = disk_read(f->file, out, len, f->at);
	f->at += n;
	return (ssize_t)n;
}

WRAP(ssize_t, pread, int fd, void *out, size_t len, off_t at)
{
	struct fd *f = fd_get(fd);

	return f != NULL ? (ssize_t)disk_read(f->file, out, len, (size_t)at)
			 : __real_pread(fd, out, len, at);
}

WRAP(ssize_t, write, int fd, const void *data, size_t len)
{
	struct fd *f = fd_get(fd);

	if (f == NULL)
		return __real_write(fd, data, len);
	/* The dead do not see that it fails; burst-hook's buffer is empty when it is run again. */
	if (disk_write(f->file, data, len, f->at) == 0)
		written[f->file] = crash_now();
	f->at += len;
	return (ssize_t)len;
}

WRAP(ssize_t, pwrite, int fd, const void *data, size_t len, off_t at)
{
	struct fd *f = fd_get(fd);

	if (f == NULL)
		return __real_pwrite(fd, data, len, at);
	return disk_write(f->file, data, len, (size_t)at) == 0 ? (ssize_t)len : failed(EIO);
}

WRAP(int, ftruncate, int fd, off_t len)
{
	struct fd *f = fd_get(fd);

	return f != NULL ? dead(disk_truncate(f->file, (size_t)len)) : __real_ftruncate(fd, len);
}

WRAP(int, fsync, int fd)
{
	struct fd *f = fd_get(fd);

	return f != NULL ? dead(disk_sync(f->file)) : __real_fsync(fd);
}

WRAP(int, mkdir, const char *path, mode_t mode)
{
	if (!is_ours(path))
		return __real_mkdir(path, mode);
	if (disk_find(path) >= 0)
		return failed(EEXIST);
	return disk_make(path, true) < 0 ? failed(EIO) : 0;
}

WRAP(int, renameat, int from_dir, const char *from, int to_dir, const char *to)
{
	char a[DISK_PATH], b[DISK_PATH];

	if (fd_get(from_dir) == NULL)
		return __real_renameat(from_dir, from, to_dir, to);
	if (disk_find(below(from_dir, from, a)) < 0)
		return failed(ENOENT);
	if (disk_rename(a, below(to_dir, to, b)) != 0)
		return failed(EIO);
	spool_saw(&crash, a, b);
	return 0;
}

WRAP(int, renameat2, int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	char path[DISK_PATH];

	if (fd_get(from_dir) == NULL)
		return __real_renameat2(from_dir, from, to_dir, to, flags);
	if ((flags & RENAME_NOREPLACE) != 0 && disk_find(below(to_dir, to, path)) >= 0)
		return failed(EEXIST);
	return __wrap_renameat(from_dir, from, to_dir, to);
}

WRAP(int, unlinkat, int dirfd, const char *name, int flags)
{
	char path[DISK_PATH];

	if (fd_get(dirfd) == NULL)
		return __real_unlinkat(dirfd, name, flags);
	if (disk_find(below(dirfd, name, path)) < 0)
		return failed(ENOENT);
	if (disk_delete(path) != 0)
		return failed(EIO);
	spool_saw(&crash, path, "");
	return 0;
}

/* --- what is there ---------------------------------------------------------------------------- */

static int stat_file(int file, struct stat *st)
{
	if (file < 0)
		return failed(ENOENT);
	*st = (struct stat){.st_mode = disk_is_dir(file) ? S_IFDIR | 0700 : S_IFREG | 0600,
			    .st_uid = geteuid(),
			    .st_nlink = 1,
			    .st_size = (off_t)disk_len(file),
			    .st_mtim = {.tv_sec = (time_t)(written[file] / 1000)}};
	return 0;
}

WRAP(int, stat, const char *path, struct stat *st)
{
	return is_ours(path) ? stat_file(disk_find(path), st) : __real_stat(path, st);
}

WRAP(int, lstat, const char *path, struct stat *st)
{
	return is_ours(path) ? stat_file(disk_find(path), st) : __real_lstat(path, st);
}

WRAP(int, fstat, int fd, struct stat *st)
{
	struct fd *f = fd_get(fd);

	return f != NULL ? stat_file(f->file, st) : __real_fstat(fd, st);
}

WRAP(int, fstatat, int dirfd, const char *name, struct stat *st, int flags)
{
	char path[DISK_PATH];

	if (fd_get(dirfd) == NULL)
		return __real_fstatat(dirfd, name, st, flags);
	return stat_file(disk_find(below(dirfd, name, path)), st);
}

WRAP(int, faccessat, int dirfd, const char *name, int mode, int flags)
{
	return fd_get(dirfd) != NULL ? 0 : __real_faccessat(dirfd, name, mode, flags);
}

/* How full the disk is, is not the matter here: there is no reserve, and it is never missed. */
WRAP(int, statvfs, const char *path, struct statvfs *v)
{
	return is_ours(path) ? failed(ENOSYS) : __real_statvfs(path, v);
}

WRAP(DIR *, fdopendir, int fd)
{
	struct fd *f = fd_get(fd);

	return f != NULL ? (DIR *)(void *)f : __real_fdopendir(fd);
}

static struct fd *of_dir(DIR *d)
{
	for (int i = 0; i < FDS; i++)
		if ((DIR *)(void *)&fds[i] == d)
			return &fds[i];
	return NULL;
}

WRAP(struct dirent *, readdir, DIR *d)
{
	struct fd *f = of_dir(d);
	const char *name;

	if (f == NULL)
		return __real_readdir(d);
	name = disk_list(disk_path(f->file), f->place++);
	if (name == NULL)
		return NULL;
	(void)snprintf(f->ent.d_name, sizeof(f->ent.d_name), "%s", name);
	return &f->ent;
}

WRAP(int, closedir, DIR *d)
{
	struct fd *f = of_dir(d);

	if (f == NULL)
		return __real_closedir(d);
	f->used = false;
	return 0;
}

/* --- what must be the same each time ---------------------------------------------------------- */

WRAP(int, flock, int fd, int how)
{
	return fd_get(fd) != NULL ? 0 : __real_flock(fd, how);
}

WRAP(pid_t, getpid, void)
{
	return PID;
}

WRAP(int64_t, clock_wall_ms, void)
{
	return crash_now();
}

WRAP(int64_t, clock_boot_ms, void)
{
	return crash_boot();
}

WRAP(ssize_t, getrandom, void *out, size_t len, unsigned flags)
{
	(void)flags;
	crash_random(out, len);
	return (ssize_t)len;
}
