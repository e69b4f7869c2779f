/* complete.h - what could come next on a command line of burst-ledger, for the shells' completion.
 *
 * It goes by the tables of the parser and of the commands, so that nothing can be missing. */
#ifndef BURSTD_LEDGER_COMPLETE_H
#define BURSTD_LEDGER_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"
#include "base/str.h"

/* Append each possible next word, a line each; "@files" stands for file names.  names: of the
 * commands, as --help has them: "job ID", "period draft|close MONTH".  words: those after the
 * program's name; the last is being typed, and may be empty. */
void complete_words(const char *const *names, size_t nnames, char *const *words, size_t nwords,
		    struct str *out);

/* May the command have the option?  The help of an option that is not for all begins with those
 * that it is for: "report, export: ...".  command NULL: none is named yet. */
bool complete_is_for(const char *const *names, size_t nnames, const struct opt *o,
		     const char *command);

#endif
