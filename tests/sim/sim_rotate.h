/* sim_rotate.h - munge's key is rotated while nodes work: people order it, abort it, write to the
 * store beside it and look after slurmctld's munged; nodes follow as burst-agent does.
 *
 *   sim_rotate.c  the bundle in the store, the people, the judge
 *   sim_follow.c  a node's agent: it fetches keys, and switches at the time that it was told
 *
 * A key is a number here: what its text hashes to. */
#ifndef SIM_ROTATE_H
#define SIM_ROTATE_H

#include "sim_boot.h"

struct sim_bundle { /* what a version of the bundle has; 0: none */
	uint64_t munge, next;
	int64_t at; /* when it was written */
};

void sim_rotate_choose(struct world *w); /* does anybody rotate in this world? */
void sim_rotate_init(struct world *w);
void sim_rotate_fini(struct world *w);

/* --- the store --- */
/* READ, WRITE, and an admin's wrapped credential.  false: it is none of these. */
bool sim_rotate_serve(struct world *w, const char *op, const char *put, struct str *out,
		      long *status);
const struct sim_bundle *sim_rotate_bundle(const struct world *w, int64_t version);

/* --- slurmctld's machine --- */
/* The site's switch_command is run. */
void sim_rotate_command(struct world *w, const char *kind, const char *word);
bool sim_rotate_speaks(const struct world *w, const struct sim_machine *m); /* to slurmctld */

/* --- what is durable --- */
void sim_rotate_phase(struct world *w, int64_t phase);
void sim_rotate_drained(struct world *w, const char *node); /* for its keys */
void sim_rotate_crashed(struct world *w);
bool sim_rotate_runs(const struct world *w);
bool sim_rotate_settled(const struct world *w, char *why, size_t size);

/* --- sim_follow.c --- */
void sim_follow_first(struct world *w, struct sim_machine *m, int64_t version);
/* Its heartbeat was answered. */
void sim_follow_told(struct world *w, struct inst *i, const struct sim_reply *r);

#endif
