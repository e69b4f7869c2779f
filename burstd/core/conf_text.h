/* conf_text.h - what a text in burstd.conf may look like. */
#ifndef BURSTD_CONF_TEXT_H
#define BURSTD_CONF_TEXT_H

#include "core/conf_option.h"

/* Is it good for an option of this type, one of those that are kept as they are?  -1: *e says what
 * is wanted. */
int conf_text_check(enum conf_option_type type, const char *text, struct err *e);
int conf_text_code(const char *text, struct err *e); /* likewise, as a jurisdiction */

/* What conf_option_print() can put between quotes and every reader take back as it was. */
bool conf_text_is_plain(const char *text);
/* Does a node take it as one word of what burstd tells it? */
bool conf_text_is_nodes_word(const char *text);
/* Is text good as the name of a cluster, provider or pool? */
bool conf_text_is_name(const char *text);
/* ... as a jurisdiction?  Whether there is such a place is another question. */
bool conf_text_is_code(const char *text);
bool conf_text_is_currency(const char *text);
/* A decimal number up to max at *p, which moves behind it. */
bool conf_text_number(const char **p, int64_t max, int64_t *out);

#endif
