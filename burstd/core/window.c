#include "core/window.h"

#include <assert.h>

void window_init(struct window *w, uint32_t most, uint32_t every_ms, int64_t now_ms)
{
	assert(most <= WINDOW_MAX && (most == 0 || every_ms > 0));
	*w = (struct window){.most = most, .every_ms = every_ms};
	for (uint32_t i = 0; i < most; i++)
		w->went_ms[i] = now_ms - every_ms;
}

void window_take(struct window *w, int64_t now_ms)
{
	int64_t last;

	if (w->most == 0)
		return;
	last = w->went_ms[(w->oldest + w->most - 1) % w->most];
	w->went_ms[w->oldest] = now_ms > last ? now_ms : last; /* the clock may go back (F57) */
	w->oldest = (w->oldest + 1) % w->most;
}

int64_t window_next_ms(const struct window *w, int64_t now_ms)
{
	int64_t at = w->most > 0 ? w->went_ms[w->oldest] + w->every_ms : now_ms;

	return at > now_ms ? at : now_ms;
}
