/* explain_alerts.c says which alerts about budgets do not reach anybody. */
#include <inttypes.h>

#include "api/explain_private.h"
#include "base/fmt.h"
#include "money/money_api.h"

enum { SENTENCE_MAX = 768 };

static void check_receiver(struct explain_report *r, const struct engine_receiver *x)
{
	char ago[FMT_DUR_SIZE];

	if (x->pending > 0 && x->error[0] != '\0') {
		str_addf(&r->s, "alert %s: %zu %s, the last try %s ago failed: %s", x->conf->name,
			 x->pending, x->pending == 1 ? "message waits" : "messages wait",
			 fmt_duration(ago, engine_now(r->e) - x->failed_ms), x->error);
		explain_report_say(r);
	}
	if (x->failed == 0)
		return;
	str_addf(&r->s,
		 "alert %s: %zu %s given up within the last 7 days, and nobody was told: burstctl "
		 "budget alerts",
		 x->conf->name, x->failed, x->failed == 1 ? "message was" : "messages were");
	explain_report_say(r);
}

void explain_alerts(const struct engine *e, explain_fn fn, void *ctx)
{
	struct explain_report r = {.e = e, .fn = fn, .ctx = ctx};

	str_init(&r.s, SENTENCE_MAX);
	if (engine_alerts(e).full) {
		str_addf(&r.s,
			 "%zu alerts of budgets are kept, and no more are told: give budgets "
			 "longer periods or fewer percents in notify_at",
			 engine_alerts(e).kept);
		explain_report_say(&r);
	}
	for (size_t i = 0; i < engine_conf(e)->nalerts; i++) {
		const struct engine_receiver x = engine_receiver(e, i);

		check_receiver(&r, &x);
	}
	str_fini(&r.s);
}
