/* alarm.h - the one thing that must be in the system's log, whatever our own is connected to: why a
 * node has put itself out.
 *
 * A file of its own, for syslog.h and base/log.h have the same names. */
#ifndef AGENT_ALARM_H
#define AGENT_ALARM_H

void alarm_open(void);
void alarm_raise(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
