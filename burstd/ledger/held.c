#include "ledger/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { NTEXTS = 17 };

/* The texts of a charge: where each of them is. */
static void texts_of(struct charge *c, const char **out[NTEXTS])
{
	const char **all[NTEXTS] = {
		&c->job_id, &c->job_name, &c->account, &c->user,     &c->partition, &c->qos,
		&c->wckey,  &c->cluster,  &c->node,    &c->instance, &c->pool,      &c->provider,
		&c->offer,  &c->type,     &c->region,  &c->zone,     &c->currency,
	};

	memcpy(out, all, sizeof(all));
}

void held_set(struct held *h, const struct charge *c)
{
	const char **texts[NTEXTS];
	size_t need = 0;
	char *p;

	h->c = *c;
	texts_of(&h->c, texts);
	for (size_t i = 0; i < NTEXTS; i++)
		need += strlen(*texts[i]) + 1;
	if (need > h->cap) {
		h->texts = mem_realloc(h->texts, 2 * need);
		h->cap = 2 * need;
	}
	p = h->texts;
	for (size_t i = 0; i < NTEXTS; i++) {
		const size_t size = strlen(*texts[i]) + 1;

		*texts[i] = memcpy(p, *texts[i], size);
		p += size;
	}
}

void held_fini(struct held *h)
{
	free(h->texts);
	*h = (struct held){0};
}
