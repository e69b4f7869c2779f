/* ladder.h - prints a pool's ladder: which offers are tried, and why not the others. */
#ifndef BURSTD_CLI_LADDER_H
#define BURSTD_CLI_LADDER_H

#include <jansson.h>

#include "cli/out.h"

/* Print a table of a pool's "offers", in the order in which they are tried, and below it a line for
 * each that is left out, for now or for good; indented by two. */
void ladder_print(const struct out *o, const json_t *pool);

/* Print the last refusals of its offers, a line for each, if there are any. */
void ladder_print_refusals(const struct out *o, const json_t *pool, int64_t now_ms);

/* "31.46 USD", rounded as out_money() does; out has OUT_MONEY_SIZE + 4. */
char *ladder_money(char *out, const json_t *object, const char *key, const char *currency);

#endif
