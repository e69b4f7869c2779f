/* plain.h - makes texts of others safe for a terminal.
 *
 * A provider, a node or a user may put anything into a name or a message: bytes that control the
 * terminal, characters that reverse the direction of text, and invisible ones that make two
 * different words look alike.  None of these may be shown. */
#ifndef BURSTD_PLAIN_H
#define BURSTD_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed UTF-8 sequence at text (Unicode, table 3-7), or 0.  The NUL ends every
 * check. */
size_t plain_utf8(const char *text);
/* Bytes of the character at p, which is not the end of the text; 0: it may not be shown. */
size_t plain_shown(const char *p);
bool plain_is(const char *text);
/* Replace every byte that may not be shown by `instead`. */
void plain_make(char *text, char instead);

#endif
