/* statement_file.h - a statement with all its sections, for tests and to look at. */
#ifndef STATEMENT_FILE_H
#define STATEMENT_FILE_H

#include "ledger/statement.h"
#include "tests/unit/ledger/charges.h"

struct statement statement_file_input(void);
struct tally_options statement_file_tally(bool distribute);

#endif
