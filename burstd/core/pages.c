#include "core/pages.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void pages_begin(struct pages *p, int64_t now_ms)
{
	*p = (struct pages){.busy = true, .due = true, .began_ms = now_ms};
}

void pages_end(struct pages *p)
{
	p->busy = p->due = false;
}

static enum pages_next next(struct pages *p, const struct provider_result *r, int64_t now_ms)
{
	bool late = now_ms - p->began_ms >= PAGES_MS;

	if (r->code == PROVIDER_RATE)
		return late ? PAGES_ENDLESS : PAGES_AGAIN;
	if (r->code == PROVIDER_OK)
		return PAGES_DONE;
	if (r->code != PROVIDER_MORE)
		return PAGES_FAILED;
	/* A cursor that is missing or repeats, or a list that never ends, is broken (F16). */
	if (late || r->cursor[0] == '\0' || strcmp(r->cursor, p->cursor) == 0 ||
	    ++p->n >= PAGES_MAX)
		return PAGES_ENDLESS;
	(void)snprintf(p->cursor, sizeof(p->cursor), "%s", r->cursor);
	return PAGES_MORE;
}

enum pages_next pages_answered(struct pages *p, const struct provider_result *r, int64_t now_ms)
{
	enum pages_next what = next(p, r, now_ms);

	assert(p->busy && !p->due);
	p->busy = p->due = what == PAGES_MORE || what == PAGES_AGAIN;
	return what;
}
