/* ascii.h - texts of others in ASCII, for formats that take nothing else.
 *
 * Three ways, by what the text is for.  As an id no two texts may become one: all that is odd is
 * percent-encoded.  As JSON nothing is lost: \u00fc.  As a name for people what is odd becomes '?'.
 */
#ifndef BURSTD_LEDGER_ASCII_H
#define BURSTD_LEDGER_ASCII_H

#include "base/str.h"

/* Printable ASCII stays, but % and bytes beyond become %25, %C3%BC, ...: different texts stay
 * different. */
void ascii_id(struct str *s, const char *text);
/* Each character that is not printable ASCII, or no UTF-8, becomes one '?'. */
void ascii_name(struct str *s, const char *text);
/* A JSON string, quotes included.  Bytes that are no UTF-8 become '?'. */
void ascii_json(struct str *s, const char *text);

#endif
