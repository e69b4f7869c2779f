/* complete.h - what could come next on a command line of burst-ledger, for the shells' completion.
 *
 * It goes by the tables of the parser and of the commands, so that nothing can be missing. */
#ifndef BURSTD_LEDGER_COMPLETE_H
#define BURSTD_LEDGER_COMPLETE_H

#include <stddef.h>

#include "base/str.h"

/* Append each possible next word, a line each; "@files" stands for file names.  names: of the
 * commands, as --help has them: "job ID", "period draft|close MONTH".  words: those after the
 * program's name; the last is being typed, and may be empty. */
void complete_words(const char *const *names, size_t nnames, char *const *words, size_t nwords,
		    struct str *out);

#endif
