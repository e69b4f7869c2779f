/* sd.h - tell systemd how we are, by its datagram protocol (sd_notify(3)); no libsystemd. */
#ifndef BURSTD_SD_H
#define BURSTD_SD_H

#include <stdint.h>

/* Send e.g. "READY=1" or "WATCHDOG=1" to $NOTIFY_SOCKET; without one, nothing happens. */
void sd_notify_state(const char *state);
/* Half of the interval systemd expects, in ms, or 0 when it watches nobody or another process. */
int64_t sd_watchdog_ms(void);

#endif
