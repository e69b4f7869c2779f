/* clock.h - the only code in burstd that reads a clock.
 *
 * Decisions never use these directly: they take the time as an argument, which io/loop.h provides.
 */
#ifndef BURSTD_CLOCK_H
#define BURSTD_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void); /* milliseconds since 1970 UTC; jumps when an admin sets the clock */
int64_t clock_boot_ms(void); /* milliseconds since boot, suspend included; never jumps */
int64_t clock_boot_id(void); /* a number that differs after each boot; 0: not known */
/* How far local time (by TZ, else by the present /etc/localtime) is ahead of UTC at wall_ms. */
int64_t clock_zone_ms(int64_t wall_ms);

/* The state of an earlier process's time line; all zero: not known. */
struct clock_line {
	int64_t boot_id;
	int64_t offset_ms; /* the time line less clock_boot_ms(), in that boot */
	int64_t ahead_ms;  /* the time line less clock_wall_ms(), when last compared */
	int64_t last_ms;   /* a past time on the time line; 0: not known */
};

/* How far a time line that continues *was is ahead of the boot clock; boot_id, boot_ms, wall_ms:
 * the clocks now.  In the same boot only the boot clock counts.  After another boot the wall clock
 * says how long that took, but the line never goes back. */
int64_t clock_line_offset(const struct clock_line *was, int64_t boot_id, int64_t boot_ms,
			  int64_t wall_ms);

#endif
