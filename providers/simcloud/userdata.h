/* userdata.h - the bytes that an instance is given at its create, shared by those that got the
 * same. */
#ifndef SIMCLOUD_USERDATA_H
#define SIMCLOUD_USERDATA_H

#include <stddef.h>

enum {
	USERDATA_EC2_MAX = 16384, /* EC2's limit, of the bytes themselves */
	USERDATA_MAX = 65536,     /* of the neutral API */
};

struct userdata {
	unsigned refs;
	size_t len;
	char bytes[]; /* and a NUL behind them */
};

struct userdata *userdata_new(const void *bytes, size_t len); /* with one reference */
/* Of base64, as EC2 has it; NULL: it is none.  An empty text is no user data either. */
struct userdata *userdata_decode(const char *base64);
struct userdata *userdata_ref(struct userdata *u); /* NULL is fine in both */
void userdata_unref(struct userdata *u);

#endif
