#include "providers/simcloud/events.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"

void events_init(struct events *e)
{
	*e = (struct events){.ring = mem_zalloc(EVENTS_MAX * sizeof(*e->ring))};
}

void events_fini(struct events *e)
{
	free(e->ring);
	*e = (struct events){0};
}

static void copy(char *to, size_t size, const char *text)
{
	(void)snprintf(to, size, "%s", text != NULL ? text : "");
}

void events_add(struct events *e, int64_t now, const char *kind, const char *const text[3])
{
	struct event *v = &e->ring[++e->last % EVENTS_MAX];

	*v = (struct event){.seq = e->last, .at = now, .kind = kind};
	copy(v->id, sizeof(v->id), text[0]);
	copy(v->node, sizeof(v->node), text[1]);
	copy(v->detail, sizeof(v->detail), text[2]);
}

void events_write(const struct events *e, uint64_t after, struct str *s)
{
	uint64_t first = e->last > EVENTS_MAX ? e->last - EVENTS_MAX + 1 : 1;

	js_open(s, NULL, '{');
	js_open(s, "events", '[');
	for (uint64_t i = after >= first ? after + 1 : first; i <= e->last; i++) {
		const struct event *v = &e->ring[i % EVENTS_MAX];

		js_open(s, NULL, '{');
		js_int(s, "seq", (int64_t)v->seq);
		js_int(s, "at_ms", v->at);
		js_str(s, "event", v->kind);
		js_str(s, "id", v->id);
		js_str(s, "node", v->node);
		js_str(s, "detail", v->detail);
		js_close(s, '}');
	}
	js_close(s, ']');
	js_int(s, "last", (int64_t)e->last);
	js_close(s, '}');
}
