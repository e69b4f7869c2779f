/* own_file.h - a small file of burstd's own is written: whole or not at all, whatever happens, and
 * durable.  Keys and names that are out there hang on these: half of one could not be used, and
 * would not be replaced. */
#ifndef BURSTD_OWN_FILE_H
#define BURSTD_OWN_FILE_H

#include <stddef.h>

enum own_file_how {
	OWN_FILE_REPLACE,
	OWN_FILE_NEW, /* one that is there stays as it is: EEXIST */
};

/* Mode 0600, in the directory that dir is open on, by way of NAME.tmp; what somebody who died here
 * left of that is removed.  -1: errno says why. */
int own_file_write(int dir, const char *name, const void *bytes, size_t len, enum own_file_how how);

#endif
