/* listener.h - what burstd needs so that machines that boot can reach it: the authority, the
 * claims' key, the HTTPS listener, and their certificates, which are made anew in time.  The engine
 * has the decisions (keys/claims.h).  A port that cannot be had is tried again, and meanwhile the
 * engine is told so by its door. */
#ifndef BURSTD_LISTENER_H
#define BURSTD_LISTENER_H

#include "base/err.h"
#include "base/log.h"
#include "core/conf.h"
#include "engine/engine.h"

struct listener;
struct loop;
struct node_server;

/* All that is there before there is an engine; *out NULL without a section nodes, which is fine in
 * all of these. */
int listener_open(struct listener **out, struct loop *loop, struct log *log,
		  const struct conf *conf, struct err *e);
const struct engine_door *listener_door(const struct listener *l); /* for engine_new() */
/* *server, which outlives it, is set whenever it runs, and NULL while it does not.  -1: it never
 * can. */
int listener_start(struct listener *l, struct engine *engine, const struct node_server **server,
		   struct err *e);
/* Nobody is heard or answered from now on; before the engine goes. */
void listener_stop(struct listener *l);
void listener_free(struct listener *l); /* after the engine, and its loop */

#endif
