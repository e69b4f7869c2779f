/* disk.h - a disk in memory that remembers what was synced.
 *
 * Each file has two images: as its processes see it, and as it is once the power was cut; and a
 * list of the writes that make the one into the other.  Names are the same: a name that was made,
 * moved or taken away is so for good only when its directory was synced.  There is one disk, for
 * the functions of libc that are redirected to it (calls.c) have no argument to say which.
 *
 * What changes it asks crash_point() first, and does nothing if the process is dead by then. */
#ifndef CRASH_DISK_H
#define CRASH_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DISK_SECTOR = 512,
	DISK_FILES = 4096, /* ever */
	DISK_NAMES = 64,   /* at once */
	DISK_PATH = 128,
};

enum disk_model {
	DISK_KILL, /* the process is gone: all that was written is there */
	DISK_LOST, /* the power is: all that was not synced is lost */
	DISK_TORN, /* likewise, but any sectors of it are there, or parts of them */
	DISK_NMODELS
};

/* What is about to happen; false: the process does not live to see it. */
enum disk_op {
	OP_WRITE,
	OP_TRUNCATE,
	OP_SYNC,
	OP_MAKE,
	OP_RENAME,
	OP_DELETE,
	OP_SYNC_DIR,
	OP_SEND, /* not of the disk: a request, sent or about to be */
	OP_NOPS
};
extern const char *const disk_op_names[OP_NOPS];
bool crash_point(enum disk_op op, const char *what);

void disk_init(void);
void disk_fini(void);

/* A file's number, -1: there is none. */
int disk_find(const char *path);
bool disk_is_dir(int file);
/* -1: the process is dead. */
int disk_make(const char *path, bool dir);
int disk_delete(const char *path);
int disk_rename(const char *from, const char *to);
int disk_write(int file, const void *data, size_t len, size_t at);
int disk_truncate(int file, size_t len);
int disk_sync(int file); /* of a directory: the names in it */
size_t disk_read(int file, void *out, size_t len, size_t at);
size_t disk_len(int file);
const char *disk_path(int file); /* "": it has no name any more */
/* The name at this place among those below dir (no deeper); NULL: no more. */
const char *disk_list(const char *dir, size_t place);

/* Is all of this file on the disk for good, and its name? */
bool disk_is_synced(const char *path);

/* End all processes, or cut the power. */
void disk_crash(enum disk_model m, uint64_t seed);

/* Of all that is there, as seen. */
uint64_t disk_hash(void);

#endif
