/* listener.h - what booting machines need to reach burstd: the CA, the claims' key, the HTTPS
 * listener, and its certificates, which are renewed in time.  Decisions are the engine's
 * (keys/claims.h).  A port in use is tried again; meanwhile engine_door.off says so. */
#ifndef BURSTD_LISTENER_H
#define BURSTD_LISTENER_H

#include "base/err.h"
#include "base/log.h"
#include "core/conf.h"
#include "engine/engine.h"

struct listener;
struct loop;
struct node_server;
struct sd_listen;

/* Open everything that does not need an engine.  *out is NULL without a section nodes; all
 * functions here take NULL. */
int listener_open(struct listener **out, struct loop *loop, struct log *log,
		  const struct conf *conf, struct err *e);
const struct engine_door *listener_door(const struct listener *l); /* for engine_new() */
/* Start listening, on a socket of `from` if it has the one (io/sd_listen.h).  *server, which must
 * outlive the listener, is set while it runs, else NULL.  -1: it can never run. */
int listener_start(struct listener *l, struct engine *engine, struct sd_listen *from,
		   const struct node_server **server, struct err *e);
/* Stop listening; call it before the engine is freed. */
void listener_stop(struct listener *l);
void listener_free(struct listener *l); /* after the engine and the loop */

#endif
