/* sd.h - notifies systemd, by its datagram protocol (sd_notify(3)), without libsystemd. */
#ifndef BURSTD_SD_H
#define BURSTD_SD_H

#include <stdint.h>

/* Send, for example, "READY=1" or "WATCHDOG=1" to $NOTIFY_SOCKET, if that is set. */
void sd_notify_state(const char *state);
/* Half of systemd's watchdog interval, in ms; 0: it does not watch this process. */
int64_t sd_watchdog_ms(void);

#endif
