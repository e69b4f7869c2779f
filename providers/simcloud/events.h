/* events.h - a ring with the last events, for GET /admin/events and for people.  Judgements rest on
 * the meter, not on it. */
#ifndef SIMCLOUD_EVENTS_H
#define SIMCLOUD_EVENTS_H

#include <stdint.h>

#include "base/str.h"

enum { EVENTS_MAX = 8192, EVENTS_TEXT = 64 };

struct event {
	uint64_t seq; /* from 1 */
	int64_t at;
	const char *kind; /* static string */
	char id[16], node[EVENTS_TEXT], detail[EVENTS_TEXT];
};

struct events {
	struct event *ring;
	uint64_t last;
};

void events_init(struct events *e);
void events_fini(struct events *e);
/* Texts are cut to fit; NULL is "". */
void events_add(struct events *e, int64_t now, const char *kind, const char *const text[3]);
/* Write the events after seq as a JSON object, oldest first. */
void events_write(const struct events *e, uint64_t after, struct str *s);

#endif
