/* Shows alerts to the API, and takes the order for a test. */
#include "money/alerts.h"

static size_t count(const struct engine *e, const char *to, enum alert_state s, int64_t since_ms)
{
	const struct alerts *a = e->money->alerts;
	size_t n = 0;

	for (size_t i = 0; i < a->nmessages; i++)
		n += a->messages[i]->state == s && a->messages[i]->tried_ms >= since_ms &&
		     (to == NULL || strcmp(a->messages[i]->to, to) == 0);
	return n;
}

struct engine_receiver engine_receiver(const struct engine *e, size_t i)
{
	const struct alert_receiver *r = e->money->alerts->receivers[i];

	return (struct engine_receiver){
		.conf = &e->conf->alerts[i],
		.pending = count(e, r->name, ALERT_PENDING, 0),
		.failed = count(e, r->name, ALERT_FAILED, engine_now(e) - ALERTS_FAILED_MS),
		.ok_ms = r->ok_ms,
		.failed_ms = r->failed_ms,
		.next_ms = r->due_ms,
		.error = r->error,
		.test = r->test,
		.test_ms = r->test_ms,
		.test_error = r->test_error};
}

const struct alert *engine_alert(const struct engine *e, int64_t before)
{
	const struct alert_book *b = &e->money->alerts->book;
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->v[mid]->seq < before)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 ? b->v[low - 1] : NULL;
}

const struct alert_message *engine_alert_message(const struct engine *e, int64_t alert,
						 int64_t after)
{
	const struct alerts *a = e->money->alerts;

	for (size_t i = 0; i < a->nmessages; i++)
		for (size_t k = 0; a->messages[i]->seq > after && k < a->messages[i]->n; k++)
			if (a->messages[i]->alerts[k] == alert)
				return a->messages[i];
	return NULL;
}

struct engine_alerts engine_alerts(const struct engine *e)
{
	const struct alerts *a = e->money->alerts;

	return (struct engine_alerts){.kept = a->book.n,
				      .pending = count(e, NULL, ALERT_PENDING, 0),
				      .full = a->full,
				      .delivered = a->ended[ALERT_DELIVERED],
				      .failed = a->ended[ALERT_FAILED]};
}

int engine_alert_test(struct engine *e, const char *name, struct err *err)
{
	struct alerts *a = e->money->alerts;

	for (size_t i = 0; i < a->nreceivers; i++) {
		struct alert_receiver *r = a->receivers[i];

		if (strcmp(r->name, name) != 0)
			continue;
		if (r->test == ALERT_TEST_WAITS || r->test == ALERT_TEST_SENT)
			return err_set(err, ERR_LIMIT, "a test of alert \"%s\" is under way", name);
		r->test = ALERT_TEST_WAITS;
		alerts_reckon(e, r);
		engine_turn(e);
		return 0;
	}
	return err_set(err, ERR_INVALID, "no alert is named \"%.60s\"", name);
}
