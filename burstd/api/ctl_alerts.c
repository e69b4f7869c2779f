/* The requests about alerts: what was told about budgets, to whom, and a test of one receiver. */
#include <inttypes.h>
#include <stdio.h>

#include "api/ctl_api.h"
#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "base/fmt.h"
#include "money/money_api.h"

static const char *const test_words[] = {[ALERT_TEST_NONE] = "",
					 [ALERT_TEST_WAITS] = "busy",
					 [ALERT_TEST_SENT] = "busy",
					 [ALERT_TEST_TAKEN] = "delivered",
					 [ALERT_TEST_FAILED] = "failed"};

/* URLs are left out: many are secrets. */
static void put_receiver(struct ctl_reply *r, const struct engine_receiver *x)
{
	struct jsonw *w = &r->w;

	jsonw_open(w, NULL, '{');
	jsonw_text(w, "name", x->conf->name);
	jsonw_text(w, "kind", conf_alert_kind_str((enum conf_alert_kind)x->conf->kind));
	jsonw_int(w, "pending", (int64_t)x->pending);
	jsonw_int(w, "failed", (int64_t)x->failed);
	ctl_reply_time(r, "ok_ms", x->ok_ms);
	ctl_reply_time(r, "failed_ms", x->failed_ms);
	ctl_reply_time(r, "next_ms", x->next_ms == INT64_MAX ? 0 : x->next_ms);
	jsonw_text(w, "error", x->error);
	jsonw_text(w, "test", test_words[x->test]);
	ctl_reply_time(r, "test_ms", x->test_ms);
	jsonw_text(w, "test_error", x->test_error);
	jsonw_close(w, '}');
}

static void put_messages(struct ctl_reply *r, int64_t alert)
{
	const struct alert_message *m = NULL;
	struct jsonw *w = &r->w;

	jsonw_open(w, "messages", '[');
	while ((m = engine_alert_message(r->api->engine, alert, m != NULL ? m->seq : 0)) != NULL) {
		jsonw_open(w, NULL, '{');
		jsonw_int(w, "number", m->seq);
		jsonw_text(w, "to", m->to);
		jsonw_text(w, "state", alert_state_str(m->state));
		jsonw_int(w, "attempts", m->attempts);
		ctl_reply_time(r, "made_ms", m->made_ms);
		ctl_reply_time(r, "tried_ms", m->tried_ms);
		jsonw_text(w, "error", m->error);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}

static void put_alert(struct ctl_reply *r, const struct alert *a)
{
	struct jsonw *w = &r->w;

	jsonw_open(w, NULL, '{');
	jsonw_int(w, "number", a->seq);
	ctl_reply_time(r, "at_ms", a->at_ms);
	jsonw_text(w, "kind", alert_kind_str(a->kind));
	jsonw_int(w, "percent", a->percent);
	jsonw_text(w, "budget", a->budget);
	jsonw_text(w, "value", a->value);
	jsonw_text(w, "period", a->period);
	ctl_reply_time(r, "ends_ms", a->ends_ms);
	jsonw_money(w, "amount", alert_whole(a));
	jsonw_money(w, "spent", a->spent);
	jsonw_money(w, "accrued", a->accrued);
	jsonw_money(w, "held", a->held);
	jsonw_money(w, "left", alert_left(a));
	jsonw_money(w, "beyond", a->beyond);
	put_messages(r, a->seq);
	jsonw_close(w, '}');
}

int ctl_show_alerts(struct ctl_reply *r)
{
	const struct engine *e = r->api->engine;
	const struct alert *a = NULL;
	int64_t before, most, last = 0;

	if (ctl_reply_int(r, "before", INT64_MAX, INT64_MAX, &before) != 0 ||
	    ctl_reply_int(r, "count", CTL_API_ALERTS_MAX, CTL_API_ALERTS_MAX, &most) != 0)
		return -1;
	ctl_reply_time(r, "now_ms", engine_now(e));
	jsonw_text(&r->w, "currency", engine_conf(e)->currency);
	jsonw_bool(&r->w, "full", engine_alerts(e).full);
	jsonw_open(&r->w, "receivers", '[');
	for (size_t i = 0; i < engine_conf(e)->nalerts; i++) {
		const struct engine_receiver x = engine_receiver(e, i);

		put_receiver(r, &x);
	}
	jsonw_close(&r->w, ']');
	jsonw_open(&r->w, "alerts", '[');
	for (; most > 0 && (a = engine_alert(e, before)) != NULL; most--) {
		struct ctl_row row = ctl_reply_row(r);

		put_alert(r, a);
		if (!ctl_reply_fits(r, row))
			break;
		before = last = a->seq;
	}
	jsonw_close(&r->w, ']');
	/* What to give as "before" for older ones; 0: there are none. */
	jsonw_int(&r->w, "next", last > 0 && engine_alert(e, last) != NULL ? last : 0);
	return 0;
}

int ctl_alert_test(struct ctl_reply *r)
{
	char uid[FMT_U64_SIZE];
	const char *name;
	int rc;

	if (ctl_reply_text(r, "alert", NULL, &name) != 0)
		return -1;
	rc = engine_alert_test(r->api->engine, name, &r->err);
	log_write(r->api->log, LOG_INFO, "a test of an alert asked for", "uid",
		  fmt_u64(uid, r->who->uid), "alert", name, "outcome",
		  rc == 0 ? "begun" : r->err.msg, NULL);
	if (rc != 0)
		r->code = r->err.code == ERR_INVALID ? "not-found" : "failed";
	return rc;
}
