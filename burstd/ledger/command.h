/* command.h - the commands of burst-ledger.  Each returns the exit status: 0; 1 if something is
 * wrong or cannot be done, which standard error says; 2 if its options make no sense;
 * 78, from command_run() alone, if the ledger is of a newer version or damaged. */
#ifndef BURSTD_LEDGER_COMMAND_H
#define BURSTD_LEDGER_COMMAND_H

#include "ledger/complain.h"
#include "ledger/settings.h"

/* Passes until SIGTERM or SIGINT; and one pass. */
int command_run(const struct settings *s);
int command_once(const struct settings *s);

/* These only read. */
int command_status(const struct settings *s);
int command_verify(const struct settings *s);
int command_rebuild(const struct settings *s);
int command_report(const struct settings *s);
int command_job(const struct settings *s, const char *id);
/* Answers questions on the socket, as a process of command_run()'s. */
int command_desk(const struct settings *s);
/* The answer to one question, which is on standard input: ledger/desk.h asks it. */
int command_answer(const struct settings *s);
int command_export(const struct settings *s, const char *form);

/* These write while the service may run, which waits meanwhile: period list, draft, close, reopen;
 * invoice import, list, show, remove.  args: the words after "period" or "invoice". */
int command_period(const struct settings *s, const struct opt_args *args);
int command_invoice(const struct settings *s, const struct opt_args *args);

#endif
