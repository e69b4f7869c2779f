/* complain.h - says on standard error what is wrong with a command; each returns its exit status.
 */
#ifndef BURSTD_LEDGER_COMPLAIN_H
#define BURSTD_LEDGER_COMPLAIN_H

#include "base/err.h"

enum {
	COMMAND_WRONG = 1,
	COMMAND_USAGE = 2,
	COMMAND_GIVE_UP = 78, /* EX_CONFIG: systemd is told not to start the service again */
};

int complain(const struct err *e);             /* COMMAND_WRONG */
int complain_of_usage(const char *format, ...) /* COMMAND_USAGE */
	__attribute__((format(printf, 1, 2)));

#endif
