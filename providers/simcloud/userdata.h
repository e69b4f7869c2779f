/* userdata.h - user data: bytes given to instances at their create, and shared by them. */
#ifndef SIMCLOUD_USERDATA_H
#define SIMCLOUD_USERDATA_H

#include <stddef.h>

enum {
	USERDATA_EC2_MAX = 16384, /* EC2's limit on the decoded bytes */
	USERDATA_MAX = 65536,     /* limit of the neutral API */
};

struct userdata {
	unsigned refs;
	size_t len;
	char bytes[]; /* followed by a NUL */
};

struct userdata *userdata_new(const void *bytes, size_t len); /* with one reference */
/* Decode base64, as EC2 sends it; NULL: malformed or empty. */
struct userdata *userdata_decode(const char *base64);
struct userdata *userdata_ref(struct userdata *u); /* NULL is fine in both */
void userdata_unref(struct userdata *u);

#endif
