#include "ledger/statement.h"

#include "base/fmt.h"
#include "ledger/cents.h"
#include "ledger/statement_private.h"

enum { SECTION_MAX = 64 << 20 }; /* bytes: hundreds of rows of the longest names */

static void page_end(struct statement_page *p)
{
	str_adds(&p->s, "</main></body></html>\n");
}

int statement_write(const struct statement *in, const struct tally *t, const struct sink *to,
		    struct err *e)
{
	static void (*const sections[])(struct statement_page *) = {
		statement_head,        statement_summary,  statement_budgets,   statement_accounts,
		statement_partitions,  statement_users,    statement_wckeys,    statement_classes,
		statement_days,        statement_savings,  statement_jobs,      statement_waste,
		statement_corrections, statement_invoices, statement_overrides, statement_method,
		statement_sign,        page_end,
	};
	struct statement_page p = {.in = in, .t = t, .places = cents_places(in->currency)};
	int rc = 0;

	p.unit = FMT_NANO;
	for (int i = 0; i < p.places; i++)
		p.unit /= 10;
	p.total = cents_of(t->all.nano, p.unit);
	str_init(&p.s, SECTION_MAX);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && rc == 0; i++) {
		sections[i](&p);
		rc = sink_flush(to, &p.s, e);
	}
	str_fini(&p.s);
	return rc;
}
