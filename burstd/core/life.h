/* life.h - the steps in the life of a cloud instance, as facts that bills are computed from.
 *
 * What a row is tells where it stands now; these say when it got there, and stay when the row has
 * gone.  Pure: derived from what an event made of a row. */
#ifndef BURSTD_LIFE_H
#define BURSTD_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/node.h"

enum life_kind {
	LIFE_WANTED, /* the row was made */
	LIFE_SENT,   /* a create is about to be sent; again for each other batch */
	/* The instance exists, and its bill has begun: at said_ms, else at_ms.  Written again, the
	 * last counts: the provider has corrected the begin. */
	LIFE_CREATED,
	LIFE_RUNNING,    /* the provider shows it running; again after a restart of burstd */
	LIFE_REGISTERED, /* slurmctld has heard its slurmd ... */
	LIFE_READY,      /* ... and gives it jobs, which in Slurm is the same moment */
	LIFE_NOTICED,    /* notice came that it will be taken away: said_ms, when */
	LIFE_DRAINED,    /* it gets no more jobs */
	LIFE_RELEASED,   /* it is not wanted any more */
	LIFE_DELETE_ASKED,
	LIFE_DELETE_ACCEPTED,
	LIFE_TAKEN,   /* the provider took it; ended follows */
	LIFE_REFUSED, /* there never was an instance, and nothing to pay */
	/* The provider does not tell its end, which is after at_ms, when the last list began that
	 * showed it: ended follows. */
	LIFE_SHOWN,
	/* It is gone for good: its bill ended at said_ms, else at_ms: when the first list was
	 * there that did not show it. */
	LIFE_ENDED,
	LIFE_SEEN, /* it is there although it was thought gone: its bill goes on from its begin */
	LIFE_NKINDS
};

struct life_step {
	enum life_kind kind;
	int64_t at_ms;   /* by burstd's clock */
	int64_t said_ms; /* by the provider, as far as it can be true; 0: not said */
};

enum { LIFE_STEPS_MAX = 8 };

/* The steps that ev led to, which made *is out of *was, in order; returns how many. */
size_t life_steps(const struct node *was, const struct node *is, const struct node_event *ev,
		  struct life_step out[LIFE_STEPS_MAX]);
/* Does ev show that the instance of *is runs, while its node boots? */
bool life_runs(const struct node *is, const struct node_event *ev);

const char *life_str(enum life_kind k); /* "wanted", "delete_asked" */
int life_parse(const char *word);       /* -1: no such step */

#endif
