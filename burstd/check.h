/* check.h - `burstd --check`: reports at once everything that burstd would find wrong at its start.
 *
 * It takes no lock, opens no socket and writes nothing, so that it can run beside burstd.
 * Therefore it does not check the journal, the uuid and ports. */
#ifndef BURSTD_CHECK_H
#define BURSTD_CHECK_H

#include <stdio.h>

/* Check the configuration at path and the files that it names.  Problems go to standard error, one
 * a line: "FILE:LINE: ..." or "FILE: ..."; hints begin with "note: ".  If run by root, it becomes
 * the user that burstd runs as, the owner of state_dir, for good.  Returns the number of problems.
 */
unsigned check_run(const char *path);

/* Print a line for people, made safe for a terminal (base/plain.h). */
void check_say(FILE *to, const char *line);

#endif
