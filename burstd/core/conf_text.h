/* conf_text.h - the syntax of texts in burstd.conf. */
#ifndef BURSTD_CONF_TEXT_H
#define BURSTD_CONF_TEXT_H

#include "core/conf_option.h"

/* Check a value of a type that is kept as it is written.  -1: *e says what is wanted. */
int conf_text_check(enum conf_option_type type, const char *text, struct err *e);
int conf_text_code(const char *text, struct err *e); /* likewise, as a jurisdiction */

/* Can conf_option_print() put the text between quotes, and every reader read it back unchanged? */
bool conf_text_is_plain(const char *text);
/* Does node-init accept the text as one word? */
bool conf_text_is_nodes_word(const char *text);
/* Is the text a valid name of a cluster, provider or pool? */
bool conf_text_is_name(const char *text);
/* Has the text the form of a jurisdiction?  It need not exist. */
bool conf_text_is_code(const char *text);
bool conf_text_is_currency(const char *text);
/* Read a decimal number up to max at *p, and move *p behind it. */
bool conf_text_number(const char **p, int64_t max, int64_t *out);

#endif
