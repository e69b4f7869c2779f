/* schema.h - the tables of the journal, as numbered steps.
 *
 * Step i takes a file of schema i to i + 1.  A released step is never edited: a change is a new
 * step. */
#ifndef BURSTD_SCHEMA_H
#define BURSTD_SCHEMA_H

enum { SCHEMA_STEPS = 24 };

extern const char *const schema_steps[SCHEMA_STEPS];

#endif
