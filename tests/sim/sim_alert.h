/* sim_alert.h - alerts of budgets as the journal has them, the server that takes their mails, and
 * the judge of both: nothing is sent that is not durable or was delivered, and nothing is told
 * twice. */
#ifndef SIM_ALERT_H
#define SIM_ALERT_H

#include "store/journal_alerts.h"
#include "world.h"

enum { SIM_ALERTS_MAX = 2000, SIM_ALERTS_OF_ONE = 64 };

struct sim_message {
	struct alert_message m; /* but for its list: */
	int64_t alerts[SIM_ALERTS_OF_ONE];
};

struct sim_alerts {
	struct alert v[SIM_ALERTS_MAX];
	struct sim_message messages[SIM_ALERTS_MAX];
	size_t n, nmessages;
};

struct journal_visitor;

void sim_alert_put(struct world *w, struct sim_alerts *a, const struct alert *x);
void sim_alert_del(struct sim_alerts *a, int64_t seq);
struct sim_message sim_message_of(struct world *w, const struct alert_message *m);
void sim_message_put(struct world *w, struct sim_alerts *a, const struct sim_message *m);
void sim_message_del(struct sim_alerts *a, int64_t seq);
int sim_alerts_load(const struct sim_alerts *a, const struct journal_visitor *v, struct err *e);
/* In the end: nothing waits that could have been sent. */
bool sim_alerts_settled(struct world *w, char *why, size_t size);

#endif
