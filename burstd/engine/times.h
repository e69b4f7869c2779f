/* times.h - whose clock a time is by.
 *
 * The engine has one time, which nobody can set (io/loop.h).  Whatever others say is by the wall
 * clock of this machine (slurmctld, certificates, people) or by a provider's own, and is brought to
 * ours where it is read; what they are told is brought to theirs.  A step of the wall clock is
 * noticed at the next turn and at the next answer of slurmctld: engine_look_at_clock() in engine.c.
 */
#ifndef BURSTD_ENGINE_TIMES_H
#define BURSTD_ENGINE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct cloud;

/* ms as another clock has it, by which it is so much later; 0 and INT64_MAX are no times. */
int64_t times_shift(int64_t ms, int64_t by);

/* --- clock.c --- */
/* What the provider says of an instance: from here on its times are ours. */
void times_instance(const struct cloud *c, struct provider_instance *in);

/* An answer of the provider has this Date (0: none); the question left us at sent_ms. */
void times_date(struct cloud *c, int64_t sent_ms, int64_t now_ms, int64_t date_ms);
/* A time of the provider's, as ours, and back; before it has told its time it is taken to have
 * that of the wall clock here.  0 and INT64_MAX are no times and stay. */
int64_t times_from(const struct cloud *c, int64_t theirs_ms);
int64_t times_of(const struct cloud *c, int64_t ms);

/* Did what slurmctld says that it began then begin after ms?  What seems to begin in the future
 * began before the clock was set back. */
bool times_since(const struct engine *e, int64_t wall_ms, int64_t ms);

#endif
