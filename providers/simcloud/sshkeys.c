#include "providers/simcloud/sshkeys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sshkeys_fini(struct sshkeys *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->v[i].text);
	free(k->v);
	*k = (struct sshkeys){0};
}

const struct sshkey *sshkeys_add(struct sshkeys *k, const char *name, const char *text, int64_t now)
{
	struct sshkey *key;

	if (k->n == SSHKEYS_MAX)
		return NULL;
	k->v = mem_realloc(k->v, (k->n + 1) * sizeof(*k->v));
	key = &k->v[k->n++];
	*key = (struct sshkey){.text = mem_strdup(text), .created_ms = now};
	(void)snprintf(key->id, sizeof(key->id), "key-%08llx", (unsigned long long)k->last++);
	(void)snprintf(key->name, sizeof(key->name), "%s", name);
	return key;
}

const struct sshkey *sshkeys_find(const struct sshkeys *k, const char *id)
{
	for (size_t i = 0; i < k->n; i++)
		if (strcmp(k->v[i].id, id) == 0)
			return &k->v[i];
	return NULL;
}

bool sshkeys_drop(struct sshkeys *k, const char *id)
{
	const struct sshkey *key = sshkeys_find(k, id);
	size_t at;

	if (key == NULL)
		return false;
	at = (size_t)(key - k->v);
	free(k->v[at].text);
	memmove(k->v + at, k->v + at + 1, (--k->n - at) * sizeof(*k->v));
	return true;
}
