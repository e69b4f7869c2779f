/* show.h - the two forms in which scontrol shows settings: `Key = value` lines and `key=value`
 * words.
 *
 * Everything is borrowed from the text, compared without regard to case as Slurm does, and a key
 * that comes twice counts once: the first. */
#ifndef BURSTD_SLURM_SHOW_H
#define BURSTD_SLURM_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "slurm/parse.h"

#define SLURM_INFINITE INT64_MAX

bool slurm_show_is(struct slurm_text t, const char *s);

/* The next piece before c, or what is left of *rest, which loses it; false: no more. */
bool slurm_show_cut(struct slurm_text *rest, char c, struct slurm_text *piece);
/* The same of a list with commas, without the spaces around it. */
bool slurm_show_item(struct slurm_text *list, struct slurm_text *item);

/* The next line of the form `Key = value`; what is around them is skipped.  (null) has no bytes. */
bool slurm_show_next(struct slurm_text *rest, struct slurm_text *key, struct slurm_text *value);
/* The value of this key; n 0: set to nothing; p NULL: not there. */
struct slurm_text slurm_show_setting(struct slurm_text config, const char *name);

/* Of "a,b=1,c" the word `name`; *value is what it is set to, if it is. */
bool slurm_show_option(struct slurm_text list, const char *name, struct slurm_text *value);
bool slurm_show_has(struct slurm_text list, const char *name);

/* Of the words of a line the value of key, in this very case; p NULL: not there. */
struct slurm_text slurm_show_word(struct slurm_text line, const char *key);

/* "300 sec", "0 nodes/min", "65533", "INFINITE" (SLURM_INFINITE).  -1: no number. */
int64_t slurm_show_number(struct slurm_text t);

#endif
