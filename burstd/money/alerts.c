/* Notices when budgets pass their limits, and writes what is to be told, before it is sent. */
#include "money/alerts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/journal_alerts.h"

enum {
	DAY_MS = 86400000,
	FORGET_MS = 600000, /* between two looks for what is old */
};

/* --- receivers -----------------------------------------------------------------------------------
 */

struct alert_message *alerts_message(const struct alerts *a, int64_t seq)
{
	size_t low = 0, high = a->nmessages;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (a->messages[mid]->seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->nmessages && a->messages[low]->seq == seq ? a->messages[low] : NULL;
}

void alerts_reckon(struct engine *e, struct alert_receiver *r)
{
	const struct alerts *a = e->money->alerts;
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < a->nmessages; i++)
		if (a->messages[i]->state == ALERT_PENDING &&
		    strcmp(a->messages[i]->to, r->name) == 0 && a->messages[i]->next_ms < first)
			first = a->messages[i]->next_ms;
	if (r->test == ALERT_TEST_WAITS)
		first = 0;
	else if (first < r->next_ms)
		first = r->next_ms;
	r->due_ms = r->wire != NULL ? INT64_MAX : first;
}

static struct alert_receiver *receiver(const struct alerts *a, const char *name)
{
	for (size_t i = 0; i < a->nreceivers; i++)
		if (strcmp(a->receivers[i]->name, name) == 0)
			return a->receivers[i];
	return NULL;
}

static bool is_among(struct alert_receiver *const *v, size_t n, const struct alert_receiver *r)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == r)
			return true;
	return false;
}

/* Have those of the configuration, in its order.  Somebody may have mended what kept messages from
 * them: try all of them now. */
static void set_receivers(struct engine *e)
{
	struct alerts *a = e->money->alerts;
	struct alert_receiver *next[CONF_ALERTS_MAX];
	size_t n = e->conf->nalerts;

	for (size_t i = 0; i < n; i++) {
		next[i] = receiver(a, e->conf->alerts[i].name);
		if (next[i] == NULL) {
			next[i] = mem_zalloc(sizeof(*next[i]));
			(void)snprintf(next[i]->name, sizeof(next[i]->name), "%s",
				       e->conf->alerts[i].name);
		}
		next[i]->failures = 0;
		next[i]->next_ms = 0;
	}
	for (size_t i = 0; i < a->nreceivers; i++)
		if (!is_among(next, n, a->receivers[i])) {
			alerts_cancel(a->receivers[i]);
			free(a->receivers[i]);
		}
	for (size_t i = 0; i < n; i++)
		a->receivers[i] = next[i];
	a->nreceivers = n;
	for (size_t i = 0; i < a->nmessages; i++)
		a->messages[i]->next_ms = 0;
	for (size_t i = 0; i < n; i++)
		alerts_reckon(e, a->receivers[i]);
}

/* What waits for a receiver that the configuration does not have is given up. */
static void give_up_orphans(struct engine *e)
{
	struct alerts *a = e->money->alerts;

	for (size_t i = 0; i < a->nmessages; i++) {
		struct alert_message *m = a->messages[i];

		if (m->state != ALERT_PENDING || receiver(a, m->to) != NULL)
			continue;
		m->state = ALERT_FAILED;
		m->tried_ms = engine_now(e);
		(void)snprintf(m->error, sizeof(m->error),
			       "the configuration has no alert of that name any more");
		journal_put_alert_message(engine_tx(e), m);
		a->ended[ALERT_FAILED]++;
	}
}

/* --- what is new ---------------------------------------------------------------------------------
 */

static bool concerns_any(const struct engine *e, const char *budget)
{
	for (size_t i = 0; i < e->conf->nalerts; i++)
		if (conf_alert_is_for(&e->conf->alerts[i], budget))
			return true;
	return false;
}

/* Note what one line has reached.  false: there is no room for more. */
static bool note(struct engine *e, const struct engine_budget *b, size_t most)
{
	const struct alert_figures f = {b->accrued, b->beyond, engine_now(e)};
	struct alerts *a = e->money->alerts;

	if (!concerns_any(e, b->line.budget->name))
		return true;
	for (int k = 0; k < ALERT_NKINDS; k++) {
		struct alert x;

		if (!alert_reached(&b->line, &f, (enum alert_kind)k, &x) ||
		    alert_book_has(&a->book, &x))
			continue;
		if (a->book.n >= most)
			return false;
		x.seq = ++a->last_alert;
		alert_book_add(&a->book, &x);
		journal_put_alert(engine_tx(e), &x);
	}
	return true;
}

static void keep(struct alerts *a, struct alert_message *m)
{
	if (a->nmessages == a->cap) {
		a->cap = a->cap == 0 ? 16 : 2 * a->cap;
		a->messages = mem_realloc(a->messages, a->cap * sizeof(struct alert_message *));
	}
	a->messages[a->nmessages++] = m;
}

/* Make a message of n alerts; their numbers are copied. */
static void make_message(struct engine *e, const struct conf_alert *to, const int64_t *alerts,
			 size_t n)
{
	struct alerts *a = e->money->alerts;
	struct alert_message *m = mem_zalloc(sizeof(*m));

	*m = (struct alert_message){.seq = ++a->last_message, .made_ms = engine_now(e), .n = n};
	(void)snprintf(m->to, sizeof(m->to), "%s", to->name);
	m->alerts = mem_zalloc(n * sizeof(*m->alerts));
	memcpy(m->alerts, alerts, n * sizeof(*m->alerts));
	keep(a, m);
	a->made++;
	journal_put_alert_message(engine_tx(e), m);
}

/* Messages for one receiver about the alerts from index `first` on. */
static void make_messages(struct engine *e, const struct conf_alert *to, size_t first)
{
	const struct alert_book *b = &e->money->alerts->book;
	int64_t *mine = mem_zalloc((b->n - first) * sizeof(*mine));
	size_t n = 0;

	for (size_t i = first; i < b->n; i++)
		if (conf_alert_is_for(to, b->v[i]->budget))
			mine[n++] = b->v[i]->seq;
	if (n > ALERTS_SINGLE)
		make_message(e, to, mine, n);
	for (size_t i = 0; n <= ALERTS_SINGLE && i < n; i++)
		make_message(e, to, &mine[i], 1);
	free(mine);
}

static int64_t wall(void *ctx, int64_t ms)
{
	return engine_wall(ctx, ms);
}

static void tell_events(struct engine *e, size_t first)
{
	const struct alert_book *b = &e->money->alerts->book;
	size_t step = b->n - first > ALERTS_SINGLE ? b->n - first : 1;

	for (size_t i = first; i < b->n; i += step) {
		const struct alert_mailing m = {.cluster = e->conf->cluster,
						.currency = e->conf->currency,
						.alerts = (const struct alert *const *)b->v + i,
						.n = step,
						.conf = e->conf,
						.wall = wall,
						.ctx = e};
		char text[ALERT_SUBJECT_MAX + 1];

		alert_subject(&m, text);
		engine_event(e, "", 0, "budget-alert", text);
	}
}

static void look_at_budgets(struct engine *e)
{
	struct alerts *a = e->money->alerts;
	const size_t first = a->book.n;
	const size_t most =
		first + ALERTS_NEW_MAX < ALERTS_MAX ? first + ALERTS_NEW_MAX : ALERTS_MAX;
	struct engine_budgets all;
	bool room = true;

	a->full = a->nmessages + CONF_ALERTS_MAX * ALERTS_SINGLE > ALERTS_MAX;
	if (a->full)
		return;
	engine_budgets(e, NULL, &all);
	for (size_t i = 0; room && i < all.n; i++)
		room = note(e, &all.v[i], most);
	engine_budgets_fini(&all);
	a->full = !room && most == ALERTS_MAX;
	if (a->book.n == first)
		return;
	for (size_t i = 0; i < e->conf->nalerts; i++)
		make_messages(e, &e->conf->alerts[i], first);
	for (size_t i = 0; i < a->nreceivers; i++)
		alerts_reckon(e, a->receivers[i]);
	tell_events(e, first);
}

/* --- what is old ---------------------------------------------------------------------------------
 */

static bool is_old(const struct engine *e, const struct alert *x)
{
	return x == NULL || (engine_now(e) - x->until_ms) / DAY_MS >= ALERT_KEEP_DAYS;
}

static bool message_is_old(const struct engine *e, const struct alert_message *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (!is_old(e, alert_book_find(&e->money->alerts->book, m->alerts[i])))
			return false;
	return m->state != ALERT_PENDING;
}

static void forget_messages(struct engine *e)
{
	struct alerts *a = e->money->alerts;
	size_t n = 0, left = ALERTS_FORGET_MAX;

	for (size_t i = 0; i < a->nmessages; i++) {
		struct alert_message *m = a->messages[i];

		if (left == 0 || !message_is_old(e, m)) {
			a->messages[n++] = m;
			continue;
		}
		left--;
		journal_del_alert_message(engine_tx(e), m->seq);
		alert_message_fini(m);
		free(m);
	}
	a->nmessages = n;
}

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The numbers of all alerts in messages that are kept, in order: the caller's. */
static int64_t *carried(const struct alerts *a, size_t *n)
{
	size_t all = 0;
	int64_t *v;

	for (size_t i = 0; i < a->nmessages; i++)
		all += a->messages[i]->n;
	v = mem_zalloc((all + 1) * sizeof(*v));
	*n = 0;
	for (size_t i = 0; i < a->nmessages; i++)
		for (size_t k = 0; k < a->messages[i]->n; k++)
			v[(*n)++] = a->messages[i]->alerts[k];
	qsort(v, *n, sizeof(*v), by_number);
	return v;
}

static void forget(struct engine *e)
{
	struct alerts *a = e->money->alerts;
	size_t left = ALERTS_FORGET_MAX, i = 0, n;
	int64_t *kept;

	if (engine_now(e) < a->forget_ms)
		return;
	a->forget_ms = engine_now(e) + FORGET_MS;
	forget_messages(e);
	kept = carried(a, &n);
	while (i < a->book.n && left > 0) {
		int64_t seq = a->book.v[i]->seq;

		if (!is_old(e, a->book.v[i])) {
			i++;
			continue;
		}
		if (bsearch(&seq, kept, n, sizeof(*kept), by_number) != NULL) {
			i++;
			continue;
		}
		left--;
		journal_del_alert(engine_tx(e), seq);
		alert_book_drop(&a->book, seq);
	}
	free(kept);
}

/* --- the part ------------------------------------------------------------------------------------
 */

static void alerts_init(struct engine *e)
{
	e->money->alerts = mem_zalloc(sizeof(*e->money->alerts));
	alert_book_init(&e->money->alerts->book);
}

void alerts_load(struct engine *e, const struct alert *x)
{
	struct alerts *a = e->money->alerts;

	a->last_alert = x->seq;
	alert_book_add(&a->book, x);
}

void alerts_load_message(struct engine *e, struct alert_message *m)
{
	struct alerts *a = e->money->alerts;

	struct alert_message *copy = mem_zalloc(sizeof(*copy));

	*copy = *m;
	m->alerts = NULL;
	a->last_message = copy->seq;
	keep(a, copy);
}

static void alerts_start(struct engine *e)
{
	set_receivers(e);
	give_up_orphans(e);
}

static bool has_work(const struct engine *e)
{
	return e->conf->nalerts > 0 && holds_budgets(e) != NULL;
}

static void alerts_run(struct engine *e)
{
	struct alerts *a = e->money->alerts;

	a->unsaved = false;
	if (engine_now(e) < a->look_ms)
		return;
	a->look_ms = engine_now(e) + ALERTS_LOOK_MS;
	forget(e);
	if (has_work(e))
		look_at_budgets(e);
}

static int64_t alerts_next_ms(const struct engine *e)
{
	const struct alerts *a = e->money->alerts;
	int64_t next = has_work(e) ? a->look_ms : INT64_MAX;

	if (a->unsaved)
		return engine_now(e);
	for (size_t i = 0; i < a->nreceivers; i++)
		if (a->receivers[i]->due_ms < next)
			next = a->receivers[i]->due_ms;
	return next;
}

static void alerts_stop(struct engine *e)
{
	for (size_t i = 0; i < e->money->alerts->nreceivers; i++)
		alerts_cancel(e->money->alerts->receivers[i]);
}

static void alerts_free(struct engine *e)
{
	struct alerts *a = e->money->alerts;

	for (size_t i = 0; i < a->nreceivers; i++)
		free(a->receivers[i]);
	for (size_t i = 0; i < a->nmessages; i++) {
		alert_message_fini(a->messages[i]);
		free(a->messages[i]);
	}
	free(a->messages);
	alert_book_fini(&a->book);
	free(a);
}

const struct engine_part alerts_part = {
	.name = "alerts about budgets",
	.at = {[PART_INIT] = alerts_init,
	       [PART_START] = alerts_start,
	       [PART_RELOAD] = alerts_start,
	       [PART_RUN] = alerts_run,
	       [PART_SEND] = alerts_send,
	       [PART_STOP] = alerts_stop,
	       [PART_FREE] = alerts_free},
	.next_ms = alerts_next_ms,
};
