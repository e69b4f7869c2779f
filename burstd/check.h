/* check.h - `burstd --check`: what burstd would find wrong at its start, all of it at once.
 *
 * It takes no lock, opens no socket and writes nothing, so it may run beside a running burstd.  The
 * journal, the uuid and ports are therefore not looked at. */
#ifndef BURSTD_CHECK_H
#define BURSTD_CHECK_H

#include <stdio.h>

/* Check the configuration at path and what it names.  Problems go to standard error, one in a line:
 * "FILE:LINE: ..." or "FILE: ..."; what is only worth knowing is "note: ...".  Root becomes the
 * user burstd runs as, the owner of state_dir, and stays it.  Returns the number of problems. */
unsigned check_run(const char *path);

/* A line for people; it may have the words of others (base/plain.h). */
void check_say(FILE *to, const char *line);

#endif
