/* agent.h - burst-agent: the one struct everything hangs off, and the map.
 *
 *   heartbeat  sends heartbeats to one burstd of several and renews the node's certificate
 *   notices    sends each notice to every burstd until one of them has taken it
 *   keys       fetches the cluster's keys when burstd has newer ones
 *   watch      asks the metadata service, a file or a command whether the machine is to be taken
 *   unmount    stops slurmd and unmounts file systems before the machine goes
 *   health     runs commands that tell whether the machine is sound
 *   deadman    powers the machine off when no burstd has answered for too long
 *   goodbye    sends a last notice when the agent is stopped
 *
 * It has one thread and one poll() (poller.h); wire.h is a connection, child.h a command.  It
 * believes burstd only over TLS with a certificate of burstd's CA; a false metadata service can at
 * worst cause a notice, and what follows: the node gets no more jobs. */
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
struct unmount;
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
	struct keys *keys;       /* NULL with --once */
	struct unmount *unmount; /* NULL with --once */
	struct watch *watch;
	struct health *health;
	struct child *poweroff;
	bool stop;
};

/* Read a->facts and a->key_version again. */
void agent_look(struct agent *a);
/* Log a failure, and why. */
void agent_complain(struct agent *a, const char *what, const char *why);
/* Append "key":"text", with '?' for what is not plain ASCII; key is NULL in an array. */
void agent_json_text(struct str *out, const char *key, const char *text);
/* Begin a body: {"v":1,"node":..,"generation":..,"boot_id":.. without the closing brace. */
void agent_json_begin(const struct agent *a, struct str *out);

/* heartbeat.c */
struct heartbeat *heartbeat_new(struct agent *a);
void heartbeat_free(struct heartbeat *h);
/* For --once: was the first heartbeat sent to every burstd?  *ok: one took it. */
bool heartbeat_tried(const struct heartbeat *h, bool *ok, const char **why);

/* notices.c */
struct notices *notices_new(struct agent *a);
void notices_free(struct notices *h);
/* Send a notice, unless it was sent before. */
void notices_tell(struct notices *h, const struct notice *n);
bool notices_quiet(const struct notices *h); /* no notice waits to be taken */
bool notices_taken(const struct notices *h, enum notice_type type, const char *id);
/* Forget a notice (a fault that was mended), so that it is sent if it comes again. */
void notices_forget(struct notices *h, enum notice_type type, const char *id);

/* keys.c */
struct keys *keys_new(struct agent *a);
void keys_free(struct keys *k);
/* Take what the answer to a heartbeat says of keys; version "": nothing.  switch_ms is by burstd's
 * clock, which is ahead by offset; 0: the switch is called off; KEYS_UNSAID: none is mentioned. */
enum { KEYS_UNSAID = -1 };
void keys_told(struct keys *k, const char *version, int64_t switch_ms, int64_t offset);

/* unmount.c */
struct unmount *unmount_new(struct agent *a);
void unmount_free(struct unmount *u);
/* The machine will be taken away at `at` (clock_boot_ms()): unmount so long before that as
 * unmount_before says, whoever still runs here, but no sooner than jobs can have been told.  The
 * earliest of several counts.  u NULL is fine, here and below. */
void unmount_by(struct unmount *u, int64_t at);
/* The jobs here know, or there is nobody to tell them: unmount as soon as none runs. */
void unmount_told(struct unmount *u);

/* watch.c */
struct watch *watch_new(struct agent *a);
void watch_free(struct watch *w);

/* health.c */
struct health *health_new(struct agent *a);
void health_free(struct health *h);

/* goodbye.c */
/* Send a notice that the agent stops, and wait some seconds until burstd has taken it.  All parts
 * but notices must be freed before. */
void goodbye(struct agent *a);

#endif
