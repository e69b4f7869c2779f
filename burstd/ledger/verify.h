/* verify.h - checks the ledger against itself: the chain of bookings, the sums by day, that each
 * bill's parts add up to it, that closed months are as they were closed, that each machine of which
 * there are facts has a bill, and that all of it, computed again from the facts, is the same. */
#ifndef BURSTD_LEDGER_VERIFY_H
#define BURSTD_LEDGER_VERIFY_H

#include "base/str.h"
#include "ledger/book.h"
#include "store/ledger_periods.h"

enum { VERIFY_SHOWN = 20 /* lines about what is wrong, of each kind */ };

struct verify {
	struct ledger_chain chain;
	struct ledger_period_check periods;
	int64_t rollups;   /* sums that are not those of the postings */
	int64_t lost;      /* facts of machines that are not in the ledger any more */
	int64_t lifetimes; /* that were looked at */
	int64_t uneven;    /* whose postings do not add up to their bill */
	int64_t differ;    /* that are not what they are when computed again */
	int64_t late;      /* differ, and will be computed again in the next pass: news, no fault */
	char had[DIGEST_SIZE], made[DIGEST_SIZE]; /* of all postings, as they are, and made again */
};

/* Look at all; nothing is written, but within a transaction, which the caller takes back.  A line
 * for each thing that is wrong is appended to *out.  0: *v has what was found. */
int verify_ledger(const struct book *b, struct verify *v, struct str *out, struct err *e);
/* Likewise, but of instances only those with a bill in [from_s, to_s). */
int verify_time(const struct book *b, int64_t from_s, int64_t to_s, struct verify *v,
		struct str *out, struct err *e);
bool verify_is_good(const struct verify *v);

#endif
