/* agent.h - burst-agent: the one struct everything hangs off, and the map.
 *
 *   heartbeat  sends heartbeats to one burstd of several and renews the node's certificate
 *   notices    sends each notice to every burstd until one of them has taken it
 *   keys       fetches the cluster's keys when burstd has newer ones
 *   watch      asks the metadata service, a file or a command whether the machine is to be taken
 *   health     runs commands that tell whether the machine is sound
 *   deadman    powers the machine off when no burstd has answered for too long
 *   goodbye    sends a last notice when the agent is stopped
 *
 * One thread, one poll() (poller.h); wire.h is a connection, child.h a command.  What burstd says
 * is believed only over TLS that ends at our CA; what a metadata service says may at worst cause a
 * notice. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>

#include "agent/conf.h"
#include "agent/deadman.h"
#include "agent/facts.h"
#include "agent/meta.h"
#include "agent/poller.h"
#include "agent/tls.h"
#include "base/log.h"

struct child;
struct health;
struct notices;
struct heartbeat;
struct keys;
struct watch;

struct agent {
	struct agent_conf conf;
	struct poller poller;
	struct log *log;
	struct tls *tls;
	struct facts facts; /* as of the last look */
	char key_version[64];
	int64_t gpus; /* -1: not known */
	bool faulty;
	struct deadman deadman;
	struct heartbeat *heartbeat;
	struct notices *notices;
	struct keys *keys; /* NULL with --once */
	struct watch *watch;
	struct health *health;
	struct child *poweroff;
	bool stop;
};

/* Look at the node anew: a->facts, a->key_version. */
void agent_look(struct agent *a);
/* Log that something did not work, and why. */
void agent_complain(struct agent *a, const char *what, const char *why);
/* "key":"text", with what is not plain ASCII as '?'; key is NULL in an array. */
void agent_json_text(struct str *out, const char *key, const char *text);
/* Bodies begin with {"v":1,"node":..,"generation":..,"boot_id":.. and are not closed. */
void agent_json_begin(const struct agent *a, struct str *out);

/* heartbeat.c */
struct heartbeat *heartbeat_new(struct agent *a);
void heartbeat_free(struct heartbeat *h);
/* For --once: has the first heartbeat been tried everywhere, and did it succeed? */
bool heartbeat_tried(const struct heartbeat *h, bool *ok, const char **why);

/* notices.c */
struct notices *notices_new(struct agent *a);
void notices_free(struct notices *h);
/* Tell of it, unless that was done before. */
void notices_tell(struct notices *h, const struct notice *n);
bool notices_quiet(const struct notices *h); /* nothing waits to be taken */
bool notices_taken(const struct notices *h, enum notice_type type, const char *id);
/* Forget it: when it comes again, it is told again (a fault that was mended). */
void notices_forget(struct notices *h, enum notice_type type, const char *id);

/* keys.c */
struct keys *keys_new(struct agent *a);
void keys_free(struct keys *k);
/* By the answer to a heartbeat; version "": nothing.  switch_ms by burstd's clock, which is offset
 * ahead of ours; 0: the switch is called off; KEYS_UNSAID: there is nothing to say of one. */
enum { KEYS_UNSAID = -1 };
void keys_told(struct keys *k, const char *version, int64_t switch_ms, int64_t offset);

/* watch.c */
struct watch *watch_new(struct agent *a);
void watch_free(struct watch *w);

/* health.c */
struct health *health_new(struct agent *a);
void health_free(struct health *h);

/* goodbye.c */
/* Tell that we end, and wait some seconds until burstd has taken it.  Nothing but notices is left.
 */
void goodbye(struct agent *a);

#endif
