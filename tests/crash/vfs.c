/* SQLite on the disk of disk.h.  What it does, and in which order, is what os_unix.c does: the
 * directory is synced with a log's first sync, and with a delete if asked.  The index of the
 * log is shared memory and belongs to the processes: it is gone with them. */
#include "vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "disk.h"

enum { SHM_REGIONS = 64, SHM_FILES = 4 };

struct shm {
	char path[DISK_PATH];
	unsigned users;
	void *regions[SHM_REGIONS];
};

struct open_file {
	sqlite3_file base;
	int file;
	bool sync_dir; /* with the next sync */
	char path[DISK_PATH];
	struct shm *shm;
};

static struct shm shms[SHM_FILES];

static struct open_file *of(sqlite3_file *f)
{
	return (struct open_file *)(void *)f;
}

static int sync_dir_of(const char *path)
{
	char dir[DISK_PATH];

	(void)snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = '\0';
	return disk_sync(disk_find(dir));
}

/* --- a file ----------------------------------------------------------------------------------- */

static int x_close(sqlite3_file *f)
{
	(void)f;
	return SQLITE_OK;
}

static int x_read(sqlite3_file *f, void *out, int n, sqlite3_int64 at)
{
	size_t got = disk_read(of(f)->file, out, (size_t)n, (size_t)at);

	if (got == (size_t)n)
		return SQLITE_OK;
	memset((char *)out + got, 0, (size_t)n - got);
	return SQLITE_IOERR_SHORT_READ;
}

static int x_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at)
{
	return disk_write(of(f)->file, data, (size_t)n, (size_t)at) == 0 ? SQLITE_OK
									 : SQLITE_IOERR_WRITE;
}

static int x_truncate(sqlite3_file *f, sqlite3_int64 len)
{
	return disk_truncate(of(f)->file, (size_t)len) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int x_sync(sqlite3_file *f, int flags)
{
	(void)flags;
	if (disk_sync(of(f)->file) != 0)
		return SQLITE_IOERR_FSYNC;
	if (of(f)->sync_dir && sync_dir_of(of(f)->path) != 0)
		return SQLITE_IOERR_DIR_FSYNC;
	of(f)->sync_dir = false;
	return SQLITE_OK;
}

static int x_size(sqlite3_file *f, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)disk_len(of(f)->file);
	return SQLITE_OK;
}

/* One process with one thread: nobody is in the way. */
static int x_lock(sqlite3_file *f, int level)
{
	(void)f;
	(void)level;
	return SQLITE_OK;
}

static int x_reserved(sqlite3_file *f, int *out)
{
	(void)f;
	*out = 0;
	return SQLITE_OK;
}

static int x_control(sqlite3_file *f, int op, void *arg)
{
	(void)f;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int x_sector(sqlite3_file *f)
{
	(void)f;
	return 4096;
}

static int x_traits(sqlite3_file *f)
{
	(void)f;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* --- the index of the log --------------------------------------------------------------------- */

static struct shm *shm_get(const char *path)
{
	struct shm *spare = NULL;

	for (size_t i = 0; i < SHM_FILES; i++) {
		if (shms[i].users > 0 && strcmp(shms[i].path, path) == 0)
			return &shms[i];
		if (shms[i].users == 0)
			spare = &shms[i];
	}
	if (spare != NULL)
		(void)snprintf(spare->path, sizeof(spare->path), "%s", path);
	return spare;
}

static int x_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **out)
{
	struct open_file *o = of(f);

	(void)extend;
	*out = NULL;
	if (o->shm == NULL) {
		o->shm = shm_get(o->path);
		if (o->shm == NULL)
			return SQLITE_IOERR_SHMOPEN;
		o->shm->users++;
	}
	if (region >= SHM_REGIONS)
		return SQLITE_IOERR_SHMSIZE;
	if (o->shm->regions[region] == NULL)
		o->shm->regions[region] = mem_zalloc((size_t)size);
	*out = o->shm->regions[region];
	return SQLITE_OK;
}

static int x_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
	(void)f;
	(void)at;
	(void)n;
	(void)flags;
	return SQLITE_OK;
}

static void x_shm_barrier(sqlite3_file *f)
{
	(void)f;
}

static int x_shm_unmap(sqlite3_file *f, int delete_it)
{
	struct shm *s = of(f)->shm;

	(void)delete_it;
	of(f)->shm = NULL;
	if (s == NULL || --s->users > 0)
		return SQLITE_OK;
	for (size_t i = 0; i < SHM_REGIONS; i++) {
		free(s->regions[i]);
		s->regions[i] = NULL;
	}
	return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = x_close,
	.xRead = x_read,
	.xWrite = x_write,
	.xTruncate = x_truncate,
	.xSync = x_sync,
	.xFileSize = x_size,
	.xLock = x_lock,
	.xUnlock = x_lock,
	.xCheckReservedLock = x_reserved,
	.xFileControl = x_control,
	.xSectorSize = x_sector,
	.xDeviceCharacteristics = x_traits,
	.xShmMap = x_shm_map,
	.xShmLock = x_shm_lock,
	.xShmBarrier = x_shm_barrier,
	.xShmUnmap = x_shm_unmap,
};

/* --- files ------------------------------------------------------------------------------------ */

static int x_open(sqlite3_vfs *v, const char *path, sqlite3_file *f, int flags, int *out_flags)
{
	struct open_file *o = of(f);

	(void)v;
	*o = (struct open_file){.file = path != NULL ? disk_find(path) : -1};
	if (path == NULL) /* a temporary file: they are in memory */
		return SQLITE_CANTOPEN;
	(void)snprintf(o->path, sizeof(o->path), "%s", path);
	if (o->file < 0 && (flags & SQLITE_OPEN_CREATE) != 0)
		o->file = disk_make(path, false);
	o->sync_dir = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & SQLITE_OPEN_MAIN_DB) == 0;
	if (o->file < 0)
		return SQLITE_CANTOPEN;
	if (out_flags != NULL)
		*out_flags = flags;
	o->base.pMethods = &methods;
	return SQLITE_OK;
}

static int x_delete(sqlite3_vfs *v, const char *path, int sync_dir)
{
	(void)v;
	if (disk_find(path) < 0)
		return SQLITE_IOERR_DELETE_NOENT;
	if (disk_delete(path) != 0)
		return SQLITE_IOERR_DELETE;
	return sync_dir == 0 || sync_dir_of(path) == 0 ? SQLITE_OK : SQLITE_IOERR_DIR_FSYNC;
}

static int x_access(sqlite3_vfs *v, const char *path, int flags, int *out)
{
	int file = disk_find(path);

	(void)v;
	*out = file >= 0 && (flags != SQLITE_ACCESS_EXISTS || disk_len(file) > 0);
	return SQLITE_OK;
}

static int x_full(sqlite3_vfs *v, const char *path, int n, char *out)
{
	(void)v;
	(void)snprintf(out, (size_t)n, "%s", path);
	return SQLITE_OK;
}

static int x_random(sqlite3_vfs *v, int n, char *out)
{
	(void)v;
	for (int i = 0; i < n; i++)
		out[i] = (char)(i * 37 + 11);
	return n;
}

static int x_sleep(sqlite3_vfs *v, int us)
{
	(void)v;
	return us;
}

static int x_time(sqlite3_vfs *v, double *out)
{
	(void)v;
	*out = 2460000.0;
	return SQLITE_OK;
}

static int x_error(sqlite3_vfs *v, int n, char *out)
{
	(void)v;
	(void)n;
	(void)out;
	return 0;
}

static sqlite3_vfs vfs = {
	.iVersion = 1,
	.szOsFile = sizeof(struct open_file),
	.mxPathname = DISK_PATH - 1,
	.zName = "crash",
	.xOpen = x_open,
	.xDelete = x_delete,
	.xAccess = x_access,
	.xFullPathname = x_full,
	.xRandomness = x_random,
	.xSleep = x_sleep,
	.xCurrentTime = x_time,
	.xGetLastError = x_error,
};

void vfs_register(void)
{
	/* Its locks are of the thread that took them, and a copy of us (fork) is another. */
	(void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	(void)sqlite3_vfs_register(&vfs, 1);
}
