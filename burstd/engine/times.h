/* times.h - converts the times of other clocks to the engine's, and back.
 *
 * The engine's time cannot be set (io/loop.h).  slurmctld, certificates and people use the wall
 * clock of this machine, and a provider uses its own: each time is converted where it is read, and
 * back where it is told.  A step of the wall clock is noticed at the next turn and at the next
 * answer of slurmctld: engine_look_at_clock() in engine.c. */
#ifndef BURSTD_ENGINE_TIMES_H
#define BURSTD_ENGINE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct cloud;

/* ms on a clock that is ahead by `by`; 0 and INT64_MAX are no times and stay. */
int64_t times_shift(int64_t ms, int64_t by);

/* --- clock.c --- */
/* Convert the times in what the provider says of an instance. */
void times_instance(const struct cloud *c, struct provider_instance *in);

/* Learn the provider's clock from the Date of its answer (0: none) to a request sent at sent_ms. */
void times_date(struct cloud *c, int64_t sent_ms, int64_t now_ms, int64_t date_ms);
/* Convert a time of the provider's clock to ours, and back.  Before its first Date the provider is
 * taken to use the wall clock of this machine.  0 and INT64_MAX are no times and stay. */
int64_t times_from(const struct cloud *c, int64_t theirs_ms);
int64_t times_of(const struct cloud *c, int64_t ms);

/* Did something that slurmctld says began at wall_ms begin after ms?  false for a begin in the
 * future: that was before somebody set the clock back. */
bool times_since(const struct engine *e, int64_t wall_ms, int64_t ms);

#endif
