/* clock.h - the only reader of the clock in burstd.
 *
 * Decisions never use these directly: they take the time as an argument, which io/loop.h provides.
 */
#ifndef BURSTD_CLOCK_H
#define BURSTD_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void); /* milliseconds since 1970 UTC; jumps when an admin sets the clock */
int64_t clock_boot_ms(void); /* milliseconds since boot, suspend included; never jumps */

#endif
