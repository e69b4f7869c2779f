/* conf_private.h - functions that conf*.c share; only these include it. */
#ifndef BURSTD_CONF_PRIVATE_H
#define BURSTD_CONF_PRIVATE_H

#include <stdbool.h>

enum {
	CONF_HOUR_MS = 3600000,
	CONF_DAY_MS = 24 * CONF_HOUR_MS,
};

struct conf_option;

/* Is the text neither NULL nor ""? */
bool conf_is_given(const char *text);
/* Is o an option of the struct that holds this section? */
bool conf_held_by(const struct conf_option *o, const char *section);

#endif
