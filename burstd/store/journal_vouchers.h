/* journal_vouchers.h - vouchers, with the tokens in them (core/voucher.h). */
#ifndef BURSTD_JOURNAL_VOUCHERS_H
#define BURSTD_JOURNAL_VOUCHERS_H

#include <stdint.h>

#include "core/voucher.h"

struct journal_tx;

void journal_put_voucher(struct journal_tx *tx, const struct voucher *v); /* or replace */
void journal_del_voucher(struct journal_tx *tx, const char *node, uint64_t gen);

#endif
