/* alarm.h - writes to the system's log, wherever the agent's own log goes: why a node powered
 * itself off.
 *
 * It is separate because syslog.h and base/log.h define the same names. */
#ifndef AGENT_ALARM_H
#define AGENT_ALARM_H

void alarm_open(void);
void alarm_raise(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
