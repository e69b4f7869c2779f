/* lifetimes.h - all lifetimes of the ledger, some at a time, to be worked on without a query that
 * is still open. */
#ifndef BURSTD_LEDGER_LIFETIMES_H
#define BURSTD_LEDGER_LIFETIMES_H

#include "store/ledger_facts.h"

enum { LIFETIMES_MAX = 100 }; /* in one transaction, where they are written */

struct lifetimes {                               /* all zero: none were read yet */
	struct ledger_lifetime v[LIFETIMES_MAX]; /* texts are its own */
	size_t n;
	int64_t after; /* the last that was read */
	bool over;     /* there are no more */
};

/* Read the next in place of those that are there, at most LIFETIMES_MAX; due: those alone that are
 * to be computed.  -1: *e.  lifetimes_fini() in any case. */
int lifetimes_next(struct lifetimes *t, struct ledger *l, bool due, struct err *e);
void lifetimes_fini(struct lifetimes *t);

#endif
