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

struct api { /* everything is borrowed and outlives it */
	struct engine *engine;
	struct journal *journal;
	struct log *log; /* NULL: no log */
	/* Read the configuration file again and go over to it, or refuse and change nothing. */
	int (*reload)(void *ctx, struct err *e);
	void *ctx;
};

#endif
