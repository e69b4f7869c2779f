/* show.h - the two forms in which scontrol shows settings: `Key = value` lines and `key=value`
 * words.
 *
 * Results are borrowed from the text.  Names are compared ignoring case, as Slurm does, and if a
 * key comes twice the first counts. */
#ifndef BURSTD_SLURM_SHOW_H
#define BURSTD_SLURM_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "slurm/parse.h"

#define SLURM_INFINITE INT64_MAX

bool slurm_show_is(struct slurm_text t, const char *s);

/* Cut the next piece, up to c or the end, off *rest; false: no more. */
bool slurm_show_cut(struct slurm_text *rest, char c, struct slurm_text *piece);
/* Likewise for a comma-separated list, without the spaces around the item. */
bool slurm_show_item(struct slurm_text *list, struct slurm_text *item);

/* The next line of the form `Key = value`; other lines are skipped.  The value (null) becomes
 * empty. */
bool slurm_show_next(struct slurm_text *rest, struct slurm_text *key, struct slurm_text *value);
/* The value of this key; n 0: set to nothing; p NULL: not there. */
struct slurm_text slurm_show_setting(struct slurm_text config, const char *name);

/* Is the word `name` in a list such as "a,b=1,c"?  *value: its value, if it has one. */
bool slurm_show_option(struct slurm_text list, const char *name, struct slurm_text *value);
bool slurm_show_has(struct slurm_text list, const char *name);

/* The value of a key=value word in a line, case-sensitive; p NULL: not there. */
struct slurm_text slurm_show_word(struct slurm_text line, const char *key);

/* Parse "300 sec", "0 nodes/min", "65533", "INFINITE" (SLURM_INFINITE).  -1: no number. */
int64_t slurm_show_number(struct slurm_text t);

#endif
