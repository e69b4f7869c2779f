/* coldfront.h - reads what allocations of ColdFront may spend: which account, how much, until when.
 *
 * The text is the answer of ColdFront's REST API (its plugin `api`, as of v1.1.7) to GET
 * /api/allocations/?allocation_attributes=true: a list of allocations, or, where the site has
 * pages, an object that has it as `results`.  That answer has no dates; `end_date` of an allocation
 * is read where a site adds it.  Pure; the text may be anything. */
#ifndef BURSTD_COLDFRONT_H
#define BURSTD_COLDFRONT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/payer.h"

enum {
	COLDFRONT_FILE_MAX = 64 << 20, /* bytes */
	COLDFRONT_ROWS_MAX = 100000,   /* allocations */
	COLDFRONT_NO_END = INT32_MAX,  /* a day later than any */
};

struct coldfront_row {
	int64_t id;                       /* of the allocation */
	char account[PAYER_NAME_MAX + 1]; /* in small letters, as Slurm has it */
	int64_t nano;                     /* >= 0 */
	int64_t last_day; /* on which it may spend (base/date.h), or COLDFRONT_NO_END */
};

struct coldfront {
	struct coldfront_row *v; /* by account; no account is there twice */
	size_t n;
	size_t inactive; /* allocations that are not active, or ended before today: not in v */
	size_t without;  /* active ones without that attribute: not in v */
};

/* attribute: the name of the one that is the amount.  today: as a day.  -1: *e says of which
 * allocation and field, and there is nothing to free. */
int coldfront_parse(struct coldfront *out, const char *text, size_t len, const char *attribute,
		    int64_t today, struct err *e);
void coldfront_fini(struct coldfront *c);

#endif
