/* journal_claims.h - claims to the cluster's keys (core/claim.h). */
#ifndef BURSTD_JOURNAL_CLAIMS_H
#define BURSTD_JOURNAL_CLAIMS_H

#include <stdint.h>

#include "core/claim.h"

struct journal_tx;

void journal_put_claim(struct journal_tx *tx, const struct claim *c); /* insert or replace */
void journal_del_claim(struct journal_tx *tx, const char *node, uint64_t gen);

#endif
