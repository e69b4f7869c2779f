/* api.h - what the daemon's faces to the outside share: the control protocol and /metrics.
 *
 * They read the engine and the journal while the loop stands still, and change nothing but through
 * the few verbs of engine.h: whatever they show is one consistent moment. */
#ifndef BURSTD_API_H
#define BURSTD_API_H

#include "base/err.h"
#include "base/log.h"
#include "engine/engine.h"
#include "store/journal.h"

struct held;
struct node_server;

struct api_reload { /* who hears what a reload does; a function may be NULL */
	void (*changed)(void *ctx, const struct conf_change *change);
	/* What changed and only counts from the next start on, in one sentence. */
	void (*at_restart)(void *ctx, const char *sentence);
	void *ctx;
};

struct api { /* everything is borrowed and outlives it */
	struct engine *engine;
	struct journal *journal;
	struct log *log; /* NULL: no log */
	/* Read the configuration file again and go over to it, or refuse and change nothing; then
	 * what was told was not so. */
	int (*reload)(void *ctx, const struct api_reload *to, struct err *e);
	void *ctx;
	struct held *held;               /* requests that wait; NULL: none may */
	const struct node_server *nodes; /* the listener for nodes; NULL: there is none, now */
	bool spool_full;                 /* hooks may find no room for their calls */
	const char *unscraped; /* why nobody listens for /metrics now; NULL: somebody does, or it
				* is not wanted */
};

#endif
