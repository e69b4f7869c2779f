/* api.h - the context of the control protocol and of /metrics.
 *
 * Their handlers read the engine and the journal between two events of the loop, and change things
 * only by the verbs of engine.h: an answer shows one consistent moment. */
#ifndef BURSTD_API_H
#define BURSTD_API_H

#include "base/err.h"
#include "base/log.h"
#include "engine/engine.h"
#include "store/journal.h"

struct held;
struct node_server;
struct user_names;

struct api_reload { /* receives what a reload changes; a function may be NULL */
	void (*changed)(void *ctx, const struct conf_change *change);
	/* A change that takes effect at the next start, in one sentence. */
	void (*at_restart)(void *ctx, const char *sentence);
	void *ctx;
};

struct api { /* everything is borrowed and outlives it */
	struct engine *engine;
	struct journal *journal;
	struct log *log; /* NULL: no log */
	/* Read the configuration file again and go over to it.  -1: it is refused, and nothing has
	 * changed, whatever `to` was told. */
	int (*reload)(void *ctx, const struct api_reload *to, struct err *e);
	void *ctx;
	struct held *held;               /* held requests; NULL: none can be held */
	struct user_names *names;        /* of callers; NULL: they have none */
	const struct node_server *nodes; /* the listener for nodes; NULL: there is none now */
	bool spool_full;                 /* hooks may find no room for their calls */
	const char *unscraped; /* why /metrics has no listener now; NULL: it has, or needs none */
};

#endif
