/* loop.h - the event loop and the time it gives.
 *
 * loop_now() starts at the wall clock and then follows the boot clock: it never goes back or jumps,
 * whatever is done to the wall clock (I26), and with loop_resume() not over a restart either.  It
 * is the only time that decisions use, and what the journal has.
 *
 * Times of others are by another clock: what slurmctld, a certificate or a person says by the wall
 * clock of this machine, what a provider says by its own.  They are brought to ours where they are
 * read, and ours to theirs where they are told: loop_ahead() is the difference. */
#ifndef BURSTD_LOOP_H
#define BURSTD_LOOP_H

#include <stdint.h>

#include "base/err.h"

struct uv_loop_s; /* libuv's loop; opaque, so that this header does not pull in uv.h */
struct loop;
struct timer;

typedef void (*loop_fn)(void *ctx);

int loop_new(struct loop **out, struct err *e); /* also makes the process ignore SIGPIPE */
void loop_free(struct loop *l); /* after everything on it is closed: waits for closes under way */
void loop_run(struct loop *l);  /* until nothing is left on it, or loop_stop() */
void loop_stop(struct loop *l);
struct uv_loop_s *loop_uv(struct loop *l); /* for the other modules of io/ */

int64_t loop_now(const struct loop *l); /* ms since 1970 UTC, monotonic */
/* How far loop_now() is ahead of the wall clock, as that is set now.  Another value means that the
 * clock was set since the last call: within one setting it is always the same. */
int64_t loop_ahead(struct loop *l);
int64_t loop_wall(struct loop *l); /* the wall clock's time: for whom ours is not */

struct clock_line;
/* Go on with the time of an earlier process (base/clock.h); before any timer. */
void loop_resume(struct loop *l, const struct clock_line *was);
void loop_line(struct loop *l, struct clock_line *out); /* for the next process */

/* fn(ctx) runs on the loop whenever the signal arrives.  Does not keep loop_run() from returning.
 */
int loop_on_signal(struct loop *l, int signum, loop_fn fn, void *ctx, struct err *e);

struct timer *timer_new(struct loop *l, loop_fn fn, void *ctx);
/* Call fn once at when_ms (at once, but never from here, if that has passed); replaces the earlier
 * time. INT64_MAX: not at all.  Never early: loop_now() >= when_ms in fn. */
void timer_at(struct timer *t, int64_t when_ms);
void timer_free(struct timer *t); /* NULL is fine; also from inside fn */

#endif
