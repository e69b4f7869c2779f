/* node_bill.h - when the bill of an instance begins and ends: by the provider where it says so and
 * that can be true, else by what lists show.  Pure. */
#ifndef BURSTD_NODE_BILL_H
#define BURSTD_NODE_BILL_H

#include "core/node.h"

/* ev->instance shows that the instance exists. */
int64_t node_bill_begin(const struct node *n, const struct node_event *ev);
/* The begin, corrected if a wrong clock wrote it down at a start of burstd (F57). */
int64_t node_bill_mended(const struct node *n, const struct node_event *ev);
/* *ev proves that the instance is gone.  The proof comes a while after the end, and the time in
 * between is not billed; but an end never moves to an earlier time. */
int64_t node_bill_end(const struct node *n, const struct node_event *ev);

#endif
