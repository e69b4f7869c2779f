#include "agent/alarm.h"

#include <stdarg.h>
#include <syslog.h>

void alarm_open(void)
{
	openlog("burst-agent", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void alarm_raise(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsyslog(LOG_CRIT, fmt, ap);
	va_end(ap);
}
