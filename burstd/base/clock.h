/* clock.h - the only reader of the clock in burstd.
 *
 * Decisions never use these directly: they take the time as an argument, which io/loop.h provides.
 */
#ifndef BURSTD_CLOCK_H
#define BURSTD_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void); /* milliseconds since 1970 UTC; jumps when an admin sets the clock */
int64_t clock_boot_ms(void); /* milliseconds since boot, suspend included; never jumps */
int64_t clock_boot_id(void); /* a number that is another after each boot; 0: not known */
/* By how much local time (TZ, else /etc/localtime, as it is now) is ahead of UTC at that time. */
int64_t clock_zone_ms(int64_t wall_ms);

/* Where a time line stood: known of an earlier process; all zero: nothing is. */
struct clock_line {
	int64_t boot_id;
	int64_t offset_ms; /* the time line less clock_boot_ms(); good for that boot */
	int64_t ahead_ms;  /* the time line less clock_wall_ms(), when that was looked at last */
	int64_t last_ms;   /* a time on it that has passed; 0: none is known */
};

/* By how much the line that goes on from *was is ahead of the boot clock, as all clocks are now:
 * wall_ms, boot_ms, boot_id.  Within a boot nothing but that boot's clock counts.  After another
 * boot the wall clock says how long that took; but the line never goes back. */
int64_t clock_line_offset(const struct clock_line *was, int64_t boot_id, int64_t boot_ms,
			  int64_t wall_ms);

#endif
