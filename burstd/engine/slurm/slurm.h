/* slurm.h - talking to slurmctld: one snapshot a poll, updates in batches, nothing node by node.
 *
 * Through scontrol and squeue, whose command lines have not changed from 22.05 to 26.05, while the
 * library and the REST API change with every release.  At most one poll, one job query and one
 * update run at a time; updates wait in order, and neighbours of a kind become one command. */
#ifndef BURSTD_SLURM_H
#define BURSTD_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "engine/slurm/parse.h"

struct loop;
struct proc;
struct slurm;

enum {
	SLURM_TIMEOUT_MS = 30000,
	SLURM_OUT_MAX = 64 << 20, /* 65,536 nodes print about 38 MB */
	SLURM_QUEUE_MAX = 4096, /* commands waiting; more are dropped, the next diff repeats them */
	SLURM_BATCH_MAX = 1000, /* nodes in one command */
	SLURM_ARG_MAX = 100000, /* bytes of one argument; the kernel's limit is 131,071 */
};

struct slurm_callbacks {
	/* A whole snapshot, begun at began_ms; or text NULL and e set. */
	void (*snapshot)(void *ctx, const char *text, size_t len, int64_t began_ms,
			 const struct err *e);
	/* The jobs that wait for their nodes; or text NULL and e set. */
	void (*jobs)(void *ctx, const char *text, size_t len, const struct err *e);
	/* An update ended; e is set if it failed. */
	void (*updated)(void *ctx, const struct err *e);
	void *ctx;
};

struct slurm *slurm_new(struct proc *proc, struct loop *loop, struct log *log,
			const struct slurm_callbacks *cb);
/* No callback comes after this. */
void slurm_free(struct slurm *s);
/* Directory of the commands, and SLURM_CONF or NULL; copied. */
void slurm_configure(struct slurm *s, const char *bin, const char *conf);

/* Start, unless one is running. */
bool slurm_poll(struct slurm *s);
bool slurm_ask_jobs(struct slurm *s);

/* Queue: where the node is reached.  addr NULL: back to its own name. */
void slurm_set_addr(struct slurm *s, const char *node, const char *addr, const char *host);
/* Queue POWER_DOWN_FORCE; if dead, DOWN before it (slurm.md 2.2: a dead node that is only forced
 * hangs its job and corrupts its accounting on old versions).  addr: where its instance is, or NULL
 * when it never had one: a ping that comes in between makes slurmctld resolve the node's name under
 * its locks, on Debian with ten tries of a second, so such a node is given an address that leads
 * nowhere until it is down. */
void slurm_power_down(struct slurm *s, const char *node, const char *addr, bool dead,
		      const char *reason);
/* Queue: bring back a node that ResumeTimeout left down. */
void slurm_resume(struct slurm *s, const char *node);
/* Start the next command, if none is running. */
void slurm_flush(struct slurm *s);

/* A snapshot begun before this time may not show our last updates yet; INT64_MAX while some wait.
 */
int64_t slurm_settled_ms(const struct slurm *s);

#endif
