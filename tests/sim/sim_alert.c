#include "sim_alert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/mail.h"
#include "sim_journal.h"

/* --- the journal's tables ------------------------------------------------------------------------
 */

void sim_alert_put(struct world *w, struct sim_alerts *a, const struct alert *x)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct alert *o = &a->v[i];

		if (o->kind == x->kind && o->percent >= x->percent && o->amount == x->amount &&
		    strcmp(o->budget, x->budget) == 0 && strcmp(o->value, x->value) == 0 &&
		    strcmp(o->period, x->period) == 0 && o->until_ms > x->at_ms)
			world_fail(w, "P7: budget %s is told twice that it is %s", x->budget,
				   alert_kind_str(x->kind));
	}
	if (a->n == SIM_ALERTS_MAX)
		world_fail(w, "I25: alerts grow without end");
	else
		a->v[a->n++] = *x;
}

void sim_alert_del(struct sim_alerts *a, int64_t seq)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].seq != seq)
			a->v[n++] = a->v[i];
	a->n = n;
}

struct sim_message sim_message_of(struct world *w, const struct alert_message *m)
{
	struct sim_message x = {.m = *m};

	x.m.alerts = NULL;
	if (m->n > SIM_ALERTS_OF_ONE) {
		world_fail(w, "a message of too many alerts");
		x.m.n = SIM_ALERTS_OF_ONE;
	}
	memcpy(x.alerts, m->alerts, x.m.n * sizeof(*x.alerts));
	return x;
}

static struct sim_message *find(struct sim_alerts *a, int64_t seq)
{
	for (size_t i = 0; i < a->nmessages; i++)
		if (a->messages[i].m.seq == seq)
			return &a->messages[i];
	return NULL;
}

void sim_message_put(struct world *w, struct sim_alerts *a, const struct sim_message *m)
{
	struct sim_message *was = find(a, m->m.seq);

	if (was != NULL && was->m.state != ALERT_PENDING)
		world_fail(w, "P7: message %lld goes on after its end", (long long)m->m.seq);
	if (was == NULL && a->nmessages == SIM_ALERTS_MAX)
		world_fail(w, "I25: messages grow without end");
	else if (was == NULL)
		a->messages[a->nmessages++] = *m;
	else
		*was = *m;
}

void sim_message_del(struct sim_alerts *a, int64_t seq)
{
	struct sim_message *m = find(a, seq);

	if (m == NULL)
		return;
	a->nmessages--;
	memmove(m, m + 1, (size_t)(a->messages + a->nmessages - m) * sizeof(*m));
}

int sim_alerts_load(const struct sim_alerts *a, const struct journal_visitor *v, struct err *e)
{
	for (size_t i = 0; v->alert != NULL && i < a->n; i++)
		if (v->alert(v->ctx, &a->v[i], e) != 0)
			return -1;
	for (size_t i = 0; v->alert_message != NULL && i < a->nmessages; i++) {
		struct alert_message m = a->messages[i].m;
		int rc;

		m.next_ms = 0;
		m.alerts = mem_zalloc(m.n * sizeof(*m.alerts));
		memcpy(m.alerts, a->messages[i].alerts, m.n * sizeof(*m.alerts));
		rc = v->alert_message(v->ctx, &m, e);
		alert_message_fini(&m);
		if (rc != 0)
			return -1;
	}
	return 0;
}

bool sim_alerts_settled(struct world *w, char *why, size_t size)
{
	const struct sim_alerts *a = sim_journal_alerts(w->journal);

	for (size_t i = 0; i < a->nmessages; i++)
		if (a->messages[i].m.state == ALERT_PENDING && a->messages[i].m.attempts == 0) {
			(void)snprintf(why, size, "P7: message %lld was never sent",
				       (long long)a->messages[i].m.seq);
			return false;
		}
	return true;
}

/* --- the server ----------------------------------------------------------------------------------
 */

struct mail {
	struct world *w;
	mail_fn fn; /* NULL: nobody waits any more */
	void *ctx;
	bool fails;
};

static void on_answer(struct world *w, void *ctx, uint64_t arg)
{
	static const struct err lost = {.code = ERR_NET, .msg = "connection lost"};
	struct mail *m = ctx;

	if (m->fn != NULL && sim_freeze_holds(w, on_answer, m, arg))
		return;
	if (m->fn != NULL)
		m->fn(m->ctx, m->fails ? &lost : NULL);
	free(m);
}

/* What is sent is durable, and its end is not. */
static void check(struct world *w, const char *text)
{
	const char *id = strstr(text, "\r\nX-Burstd-Id: ");
	size_t n = id != NULL ? strcspn(id + 2, "\r") : 0;
	const struct sim_message *m = NULL;

	while (n > 0 && id[2 + n - 1] != '.')
		n--;
	if (n > 0)
		m = find(sim_journal_alerts(w->journal), strtoll(id + 2 + n, NULL, 10));
	if (n == 0 || m == NULL)
		world_fail(w, "I1: a message is sent that the journal does not have");
	else if (m->m.state != ALERT_PENDING)
		world_fail(w, "P7: a message is sent again after its end");
}

struct mail *mail_send(struct loop *l, const struct mail_call *call, mail_fn fn, void *ctx,
		       struct err *e)
{
	struct world *w = sim_loop_world(l);
	struct mail *m;

	(void)world_alive(w);
	if (w->mails++ % 5 == 4) { /* no dice: the rest of the story goes on as before */
		(void)err_set(e, ERR_NOTSENT, "no thread");
		return NULL;
	}
	m = mem_zalloc(sizeof(*m));
	*m = (struct mail){.w = w, .fn = fn, .ctx = ctx, .fails = w->mails % 3 == 0};
	if (world_alive(w))
		check(w, call->text);
	world_at(w, w->now + SIM_SECOND * (int64_t)(1 + w->mails % 7), on_answer, m, 0);
	(void)world_alive(w);
	return m;
}

void mail_cancel(struct mail *m)
{
	m->fn = NULL;
}
