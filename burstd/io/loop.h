/* loop.h - the event loop, and the engine's time.
 *
 * loop_now() starts at the wall clock and then follows the boot clock: it never goes back or jumps,
 * even if somebody sets the wall clock (I26), and with loop_resume() not over a restart either.
 * Decisions use no other time, and the journal has no other.
 *
 * slurmctld, certificates and people use the wall clock of this machine, and a provider its own
 * clock.  Their times are converted where they are read, and converted back where they are told:
 * loop_ahead() is the difference to the wall clock. */
#ifndef BURSTD_LOOP_H
#define BURSTD_LOOP_H

#include <stdint.h>

#include "base/err.h"

struct uv_loop_s; /* libuv's loop; opaque, so that this header does not pull in uv.h */
struct loop;
struct timer;

typedef void (*loop_fn)(void *ctx);

int loop_new(struct loop **out, struct err *e); /* also makes the process ignore SIGPIPE */
void loop_free(struct loop *l); /* after everything on it is closed, or closing: waits for that */
void loop_run(struct loop *l);  /* until nothing is left on it, or loop_stop() */
void loop_stop(struct loop *l);
struct uv_loop_s *loop_uv(struct loop *l); /* for the other modules of io/ */

int64_t loop_now(const struct loop *l); /* ms since 1970 UTC, monotonic */
/* How far loop_now() is ahead of the wall clock.  The value changes only if somebody sets the wall
 * clock. */
int64_t loop_ahead(struct loop *l);
int64_t loop_wall(struct loop *l); /* the wall clock's time, for others */

struct clock_line;
/* Continue the time of an earlier process (base/clock.h); call it before any timer. */
void loop_resume(struct loop *l, const struct clock_line *was);
void loop_line(struct loop *l, struct clock_line *out); /* for the next process */

/* Call fn(ctx) on the loop whenever the signal arrives.  Does not keep loop_run() from returning.
 */
int loop_on_signal(struct loop *l, int signum, loop_fn fn, void *ctx, struct err *e);

struct timer *timer_new(struct loop *l, loop_fn fn, void *ctx);
/* Call fn once at when_ms (if that has passed, soon, but never from here); replaces the earlier
 * time.  INT64_MAX: never.  fn is never called early: loop_now() >= when_ms in it. */
void timer_at(struct timer *t, int64_t when_ms);
void timer_free(struct timer *t); /* NULL is fine; also from inside fn */

#endif
