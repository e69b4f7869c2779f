/* fold.h - a stream that wraps lines between words, for a terminal.
 *
 * A long line goes on below, indented.  It is for sentences and tables; text that people copy, such
 * as a command or a configuration, is better left to the terminal, which knows that it is one line.
 */
#ifndef BURSTD_FOLD_H
#define BURSTD_FOLD_H

#include <stddef.h>
#include <stdio.h>

/* Opens a stream that writes to f (borrowed), whole lines at a time.  fclose() writes the rest. */
FILE *fold_open(FILE *f, size_t columns);

#endif
