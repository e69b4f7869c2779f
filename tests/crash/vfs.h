/* vfs.h - SQLite on the disk of disk.h. */
#ifndef CRASH_VFS_H
#define CRASH_VFS_H

/* From now on every file that SQLite opens is there. */
void vfs_register(void);

#endif
