#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "keys/keys.h"

/* Tracks whether the option node_init can be read: the node-init that machines run if their image
 * has another one.  The listener serves it, or user-data has its hash.  While it cannot be read,
 * burstd buys no machine that needs it, and gives none its keys, since it would run the image's
 * node-init.  Reading it is tried again each minute. */

enum { INIT_AGAIN_MS = 60000 };

void node_init_off(struct engine *e, const struct err *why)
{
	const char *text = why != NULL ? why->msg : "";

	if (strcmp(e->keys->init_off, text) != 0)
		log_write(e->d.log, why != NULL ? LOG_ERROR : LOG_INFO,
			  why != NULL ? "node-init cannot be read" : "node-init can be read again",
			  "error", why != NULL ? text : NULL, NULL);
	(void)snprintf(e->keys->init_off, sizeof(e->keys->init_off), "%s", text);
	e->keys->init_next = why != NULL ? engine_now(e) + INIT_AGAIN_MS : INT64_MAX;
}

const char *engine_init_off(const struct engine *e)
{
	return e->keys->init_off[0] != '\0' ? e->keys->init_off : NULL;
}

bool node_init_due(const struct engine *e)
{
	return e->keys->init_off[0] != '\0' && engine_now(e) >= e->keys->init_next;
}

int64_t node_init_next_ms(const struct engine *e)
{
	return e->keys->init_off[0] != '\0' ? e->keys->init_next : INT64_MAX;
}
