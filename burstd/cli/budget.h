/* budget.h - budgets as tables, and the amounts of one, as burstctl prints them.
 *
 * b is one line of the answer to "budgets", r the whole answer. */
#ifndef BURSTD_CLI_BUDGET_H
#define BURSTD_CLI_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/str.h"
#include "cli/out.h"

enum { BUDGET_TITLE_SIZE = 160, BUDGET_FULL = 100 /* percent */ };

struct cli;

/* Ask for budgets, and put all pages into one answer: the first, with the rows of the others added.
 * Takes rq; as cli_ask_loudly(). */
int budget_ask_all(const struct cli *c, json_t *rq, json_t **reply);

bool budget_has_amount(const json_t *b);
/* An amount, maybe below zero; 0: it is none. */
int64_t budget_nano(const json_t *b, const char *key);
/* How much of the amount is spent and set aside, in percent; rounded down, at least 0. */
int64_t budget_percent(const json_t *b);
enum out_style budget_style(int64_t percent);
/* "#####===..": what is spent, what is set aside, what is left; out has columns + 1 bytes. */
const char *budget_draw(char *out, const json_t *b, int64_t columns);
/* "physics", or "students/ann" */
const char *budget_title(char out[BUDGET_TITLE_SIZE], const json_t *b);

/* "budgets of ann, in EUR, 2026-11-29T18:00:00", and an empty line. */
void budget_print_head(const struct out *o, const json_t *r);
void budget_print_table(const struct out *o, const json_t *r);
/* What the table does not say of each: "students/ann: 1 job waits for money". */
void budget_print_notes(const struct out *o, const json_t *r);
/* Add "set to 500.00 by root until 2026-12-24T00:00:00, override 7", if it is set. */
void budget_add_set(struct str *s, const json_t *b);
/* Add "2 jobs wait for money: ask finance@example.org", if any do. */
void budget_add_waiting(struct str *s, const json_t *b);

#endif
