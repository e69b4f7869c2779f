/* lock.h - one burst-ledger run for a ledger.
 *
 * Two would do all work twice, and the second could not answer on the socket.  Commands that write
 * for a moment (once, period, invoice) do not take it: they wait for their turn at the database. */
#ifndef BURSTD_LEDGER_LOCK_H
#define BURSTD_LEDGER_LOCK_H

#include "base/err.h"

/* Lock the ledger at that path, by a file beside it, whose name has ".lock" at its end and which
 * stays.  The lock ends with the process, not with its children, or when the descriptor that is
 * returned is closed.  -1: *e: another has it (ERR_LIMIT, with its pid; F59), or the file cannot be
 * made. */
int lock_take(const char *ledger, struct err *e);

#endif
