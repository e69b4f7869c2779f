/* timeline.h - the time of the loop goes on over a restart.
 *
 * All times in the journal are by loop_now(), so a process must go on with it where the last one
 * was: else a wall clock that was set meanwhile would make bills, deadlines and waits longer or
 * shorter by as much (I26, F57). */
#ifndef BURSTD_TIMELINE_H
#define BURSTD_TIMELINE_H

#include "base/err.h"

struct loop;
struct journal;

/* Before any timer and anything that asks for the time.  -1: the journal failed. */
int timeline_resume(struct loop *l, struct journal *j, struct err *e);

#endif
