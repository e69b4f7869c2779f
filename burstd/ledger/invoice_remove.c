/* An invoice that does not count any more. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/date.h"
#include "base/mem.h"
#include "ledger/invoice.h"
#include "store/ledger_periods.h"

struct removing {
	struct ledger_invoice is; /* its texts are its own */
	char *provider, *currency;
	bool found;
};

static int take_invoice(void *ctx, const struct ledger_invoice *i, struct err *e)
{
	struct removing *m = ctx;

	(void)e;
	if (i->id != m->is.id || i->removed_ms != 0)
		return 0;
	m->found = true;
	m->is.month = i->month;
	m->is.partial = i->partial;
	m->is.provider = m->provider = mem_strdup(i->provider);
	m->is.currency = m->currency = mem_strdup(i->currency);
	return 0;
}

static int remove_it(const struct book *b, const struct removing *m, const char *who, struct err *e)
{
	char name[DATE_STR_SIZE];
	int64_t open_day;

	if (!m->found)
		return err_set(e, ERR_INVALID, "there is no invoice %" PRId64, m->is.id);
	if (ledger_open_day(b->ledger, &open_day, e) < 0)
		return -1;
	if (date_month_day(m->is.month) < open_day)
		return err_set(e, ERR_INVALID, "it is of %s, which is closed",
			       date_month_str(name, m->is.month));
	if (ledger_remove_invoice(b->ledger, m->is.id, b->now_ms, who, e) < 0)
		return -1;
	return invoice_compute(b, &m->is, e);
}

int invoice_remove(const struct book *b, int64_t id, const char *who, struct err *e)
{
	struct removing m = {.is = {.id = id}};
	int rc = ledger_invoices(b->ledger, take_invoice, &m, e);

	if (rc == 0)
		rc = remove_it(b, &m, who, e);
	free(m.provider);
	free(m.currency);
	return rc;
}
