/* journal_alerts.h - what was told about budgets, and the messages that carry it. */
#ifndef BURSTD_JOURNAL_ALERTS_H
#define BURSTD_JOURNAL_ALERTS_H

#include <stdint.h>

#include "core/alert.h"

struct journal_tx;

void journal_put_alert(struct journal_tx *tx, const struct alert *a); /* a new one */
void journal_del_alert(struct journal_tx *tx, int64_t seq);
/* Insert, or replace the one of that number; next_ms is not written. */
void journal_put_alert_message(struct journal_tx *tx, const struct alert_message *m);
void journal_del_alert_message(struct journal_tx *tx, int64_t seq);

#endif
