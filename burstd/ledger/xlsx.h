/* xlsx.h - a period's costs as a workbook for spreadsheets.
 *
 * Sheets: summary, accounts, jobs, days, charges; each has a line of heads that stays in view, and
 * a filter.  Amounts are numbers, so that a reader can compute with them.  A spreadsheet's numbers
 * have 15 digits: an amount of more has its exact text in the column beside it.  What users typed
 * is text, never a formula.  The same input gives the same bytes. */
#ifndef BURSTD_LEDGER_XLSX_H
#define BURSTD_LEDGER_XLSX_H

#include "ledger/statement.h"

/* Write the file at path, which is replaced; rows go to a temporary file in tmp_dir (NULL: /tmp)
 * first, so that memory does not grow with them.  in: of the same period as t and `from`.  -1: the
 * source failed, there are more rows than 64 sheets have, or a file cannot be written; path is
 * then missing or useless. */
int xlsx_write(const char *path, const char *tmp_dir, const struct statement *in,
	       const struct tally *t, const struct source *from, struct err *e);

#endif
