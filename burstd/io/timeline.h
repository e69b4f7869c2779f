/* timeline.h - continues the loop's time over a restart.
 *
 * All times in the journal are by loop_now(), so a process must continue the time of the last one:
 * otherwise a wall clock that was set meanwhile would change bills, deadlines and waits (I26, F57).
 */
#ifndef BURSTD_TIMELINE_H
#define BURSTD_TIMELINE_H

#include "base/err.h"

struct loop;
struct journal;

/* Call it before any timer, and before anybody asks for the time.  -1: the journal failed. */
int timeline_resume(struct loop *l, struct journal *j, struct err *e);

#endif
