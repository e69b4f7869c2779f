/* sd.h - notifies systemd, by its datagram protocol (sd_notify(3)), without libsystemd.  Sockets
 * come back from it by sd_listen.h. */
#ifndef BURSTD_SD_H
#define BURSTD_SD_H

#include <stdbool.h>
#include <stdint.h>

/* Send, for example, "READY=1" or "WATCHDOG=1" to $NOTIFY_SOCKET, if that is set. */
void sd_notify_state(const char *state);
/* Half of systemd's watchdog interval, in ms; 0: it does not watch this process. */
int64_t sd_watchdog_ms(void);
/* Feed the watchdog, unless the work stands still, though somebody lives to call this: moved_ms is
 * when it last went on, by the clock of now_ms. */
enum { SD_STILL_MS = 10000 };
void sd_watchdog_feed(int64_t now_ms, int64_t moved_ms);

/* Does a service manager listen?  Then it keeps what it is given while we are restarted, and takes
 * our directory below /run away when we are stopped. */
bool sd_is_there(void);
/* Give systemd a copy of this listening socket, to keep for the next of us (FileDescriptorStoreMax=
 * of the unit; where that is 0 it does nothing). */
void sd_keep(const char *name, int fd);
void sd_drop(const char *name); /* it need not be kept any more */

#endif
