/* fold.h - a stream to a terminal on which no word is cut at the edge.
 *
 * A line that is too long goes on below, farther in.  It is for sentences; what people copy from a
 * terminal, such as a command or a configuration, is better left to the terminal, which knows that
 * it is one line. */
#ifndef BURSTD_FOLD_H
#define BURSTD_FOLD_H

#include <stddef.h>
#include <stdio.h>

/* What is written to it goes to f (borrowed), whole lines at once.  fclose() writes the rest. */
FILE *fold_open(FILE *f, size_t columns);

#endif
