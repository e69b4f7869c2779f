/* html.h - pieces of a page in HTML, into which strangers' texts go.
 *
 * A text cannot end the element or the attribute it is in, whatever it holds; bytes that may not be
 * shown (base/plain.h) become U+FFFD. */
#ifndef BURSTD_LEDGER_HTML_H
#define BURSTD_LEDGER_HTML_H

#include "base/str.h"

/* Add a text, for an element or an attribute in double quotes. */
void html_text(struct str *s, const char *text);
/* A stranger's text, which may be right to left, as an element of its own. */
void html_bdi(struct str *s, const char *text);

#endif
