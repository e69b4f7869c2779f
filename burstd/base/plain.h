/* plain.h - the words of others, on their way to somebody's terminal.
 *
 * A provider, a node or a user may put anything into a name or a message: bytes that steer the
 * terminal, characters that turn the text around so that it reads as something else, and those that
 * nobody sees, which make two words look like one.  None of them gets there. */
#ifndef BURSTD_PLAIN_H
#define BURSTD_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed UTF-8 sequence at text (Unicode, table 3-7), or 0.  The NUL ends every
 * check. */
size_t plain_utf8(const char *text);
/* Bytes of what may be shown, at p, which is not its end; 0: that byte may not. */
size_t plain_shown(const char *p);
bool plain_is(const char *text);
/* Every byte that may not be shown becomes `instead`; the length stays. */
void plain_make(char *text, char instead);

#endif
