#include "tests/unit/ledger/statement_file.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define UNIT      INT64_C(1000000000)

static const struct statement_budget budgets[] = {
	{"physics/November", "account physics", 20000 * UNIT, 5000 * UNIT, 18200 * UNIT + 5,
	 4123456789012},
	{"<b>gpu</b>", "partition gpu & all of its accounts", 40000 * UNIT, 0, 41000 * UNIT, 0},
	{"chem", "account chem, with those below it", 20000 * UNIT, 0, 200 * UNIT, 1},
};

static const struct statement_correction corrections[] = {
	{"2026-10, aws-eu", "invoice INV-77 came after the close", -123456789},
};

static const struct statement_invoice invoices[] = {
	{"aws-eu", "INV-2026-11", 12345678900000, 12345980000000, "a credit that was not given"},
	{"lambda", "L-9", 100 * UNIT, 100 * UNIT, ""},
};

static const struct statement_override overrides[] = {
	{CHARGES_START + 864000, "physics/November", "alice", "a deadline <script>", 500000 * UNIT,
	 false, 0},
	{CHARGES_START + 964000, "chem", "bob", "tests", 5 * UNIT, true, CHARGES_START + 1964000},
};

struct statement statement_file_input(void)
{
	return (struct statement){
		.cluster = "hpc1",
		.currency = "EUR",
		.period = "2026-11",
		.start_s = CHARGES_START,
		.end_s = CHARGES_START + CHARGES_DAYS * INT64_C(86400),
		.zone = charges_zone(),
		.revision = 3,
		.hash = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
		.made_s = CHARGES_START + 32 * INT64_C(86400),
		.share = "dominant-share",
		.has_previous = true,
		.previous = 51000 * UNIT,
		.budgets = budgets,
		.nbudgets = LENGTH(budgets),
		.corrections = corrections,
		.ncorrections = LENGTH(corrections),
		.invoices = invoices,
		.ninvoices = LENGTH(invoices),
		.overrides = overrides,
		.noverrides = LENGTH(overrides),
	};
}

struct tally_options statement_file_tally(bool distribute)
{
	return (struct tally_options){
		.currency = "EUR",
		.start_s = CHARGES_START,
		.end_s = CHARGES_START + CHARGES_DAYS * INT64_C(86400),
		.zone = charges_zone(),
		.distribute = distribute,
	};
}
