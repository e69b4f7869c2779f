/* sshkeys.h - public keys that an account keeps by an id, for faces that have such a list. */
#ifndef SIMCLOUD_SSHKEYS_H
#define SIMCLOUD_SSHKEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SSHKEY_ID_SIZE = 24, SSHKEY_NAME_SIZE = 128, SSHKEYS_MAX = 500 };

struct sshkey {
	char id[SSHKEY_ID_SIZE], name[SSHKEY_NAME_SIZE];
	char *text;
	int64_t created_ms;
};

struct sshkeys { /* all zero: none */
	struct sshkey *v;
	size_t n;
	uint64_t last; /* number in the last id */
};

void sshkeys_fini(struct sshkeys *k);
/* Strings are copied.  NULL: there are too many.  Borrowed until the next call. */
const struct sshkey *sshkeys_add(struct sshkeys *k, const char *name, const char *text,
				 int64_t now);
const struct sshkey *sshkeys_find(const struct sshkeys *k, const char *id); /* NULL: none */
bool sshkeys_drop(struct sshkeys *k, const char *id);                       /* false: none */

#endif
