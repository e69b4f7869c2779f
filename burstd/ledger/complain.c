#include "ledger/complain.h"

#include <stdarg.h>
#include <stdio.h>

int complain(const struct err *e)
{
	(void)fprintf(stderr, "burst-ledger: %s\n", e->msg);
	return COMMAND_WRONG;
}

int complain_of_usage(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)fputs("burst-ledger: ", stderr);
	(void)vfprintf(stderr, format, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	return COMMAND_USAGE;
}
