#include "providers/simcloud/nodelist.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hostlist.h"
#include "base/str.h"

enum { PARTS_MAX = 8, TEXT_MAX_BYTES = 4096 };

/* Join the tags KEY, KEY-2, KEY-3 ... into one text. */
static void join(struct str *out, nodelist_find_fn find, const void *ctx, const char *key)
{
	for (int part = 1; part <= PARTS_MAX; part++) {
		char name[64];
		const char *v;

		(void)snprintf(name, sizeof(name), part > 1 ? "%s-%d" : "%s", key, part);
		v = find(ctx, name);
		if (v == NULL)
			return;
		str_adds(out, v);
	}
}

/* The i-th generation in "3*5,4"; 0: none. */
static int64_t generation(const char *text, size_t i)
{
	while (*text != '\0') {
		char *p;
		int64_t gen = strtoll(text, &p, 10);
		size_t run = *p == '*' ? strtoul(p + 1, &p, 10) : 1;

		if (i < run)
			return gen;
		i -= run;
		text = *p == ',' ? p + 1 : "";
	}
	return 0;
}

void nodelist_name(struct cloud_want *wants, size_t n, nodelist_find_fn find, const void *ctx)
{
	struct str names, gens;
	struct hostlist *h;

	str_init(&names, TEXT_MAX_BYTES);
	str_init(&gens, TEXT_MAX_BYTES);
	join(&names, find, ctx, "burstd-node");
	join(&gens, find, ctx, "burstd-generation");
	if (hostlist_parse(&h, names.p, names.len, NULL) != 0)
		h = NULL;
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(wants[i].node, sizeof(wants[i].node), "%s",
			       h != NULL && i < h->n ? h->names[i] : "");
		wants[i].gen = generation(gens.p, i);
	}
	hostlist_free(h);
	str_fini(&names);
	str_fini(&gens);
}
