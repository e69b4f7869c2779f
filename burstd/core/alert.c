#include "core/alert.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/mem.h"

enum { PERCENT = 100, DAY_MS = 86400000, KEY_SIZE = 320 };

static const char *const kinds[ALERT_NKINDS] = {
	[ALERT_USED] = "used", [ALERT_STOP] = "stop", [ALERT_BEYOND] = "beyond"};

const char *alert_kind_str(enum alert_kind k)
{
	return kinds[k];
}

int alert_kind_parse(const char *word)
{
	for (int k = 0; k < ALERT_NKINDS; k++)
		if (strcmp(kinds[k], word) == 0)
			return k;
	return -1;
}

int64_t alert_whole(const struct alert *a)
{
	return clamp_add(a->amount, a->carried);
}

int64_t alert_left(const struct alert *a)
{
	const int64_t taken = clamp_add(a->spent, a->held);

	return taken == INT64_MIN ? INT64_MAX : clamp_add(alert_whole(a), -taken);
}

/* --- what is reached -----------------------------------------------------------------------------
 */

/* Does `used` reach that percent of the amount?  Not one that 64 bits do not hold; of an amount of
 * 0 whatever is used does. */
static bool reaches(int64_t used, int64_t amount, uint32_t percent)
{
	int64_t at = (int64_t)percent, sum;

	return used > 0 && !__builtin_mul_overflow(amount / PERCENT, at, &sum) &&
	       used >= clamp_add(sum, amount % PERCENT * at / PERCENT);
}

uint32_t alert_percent(const struct budget_line *l, int64_t used)
{
	const struct conf_budget *b = l->budget;
	uint32_t most = 0;

	for (size_t i = 0; i < b->notify_at.n; i++)
		if (reaches(used, l->amount, b->notify_at.at[i]))
			most = b->notify_at.at[i];
	return most;
}

/* Is it so?  *percent: at how much of the amount. */
static bool is_reached(const struct budget_line *l, const struct alert_figures *f,
		       enum alert_kind k, uint32_t *percent)
{
	const struct conf_budget *b = l->budget;

	*percent = 0;
	switch (k) {
	case ALERT_USED:
		*percent = alert_percent(l, clamp_add(l->spent, f->accrued));
		return *percent > 0;
	case ALERT_STOP:
		*percent = b->stop_at;
		return b->stop_at > 0 &&
		       reaches(clamp_add(l->spent, l->held), l->amount, b->stop_at);
	default:
		return f->beyond > 0 && f->beyond > l->left;
	}
}

bool alert_reached(const struct budget_line *l, const struct alert_figures *f, enum alert_kind k,
		   struct alert *out)
{
	const struct conf_budget *b = l->budget;
	uint32_t percent;

	/* A period that is over counts until its budget is looked at. */
	if (!l->limited || l->when != PERIOD_NOW || f->now_ms >= l->period.end_ms ||
	    !is_reached(l, f, k, &percent))
		return false;
	*out = (struct alert){.at_ms = f->now_ms,
			      .until_ms = l->period.end_ms,
			      .ends_ms = l->period.end_ms,
			      .kind = k,
			      .percent = percent,
			      .amount = l->amount - l->carried,
			      .carried = l->carried,
			      .spent = l->spent,
			      .accrued = f->accrued,
			      .held = l->held,
			      .beyond = f->beyond};
	if (b->period_rule.kind == PERIOD_ROLLING)
		out->until_ms = f->now_ms + b->period_rule.days * DAY_MS;
	(void)snprintf(out->budget, sizeof(out->budget), "%s", b->name);
	(void)snprintf(out->value, sizeof(out->value), "%s", l->value);
	(void)snprintf(out->period, sizeof(out->period), "%s", l->period.name);
	return true;
}

/* --- what was told -------------------------------------------------------------------------------
 */

struct entry { /* an alert in the book, with its key */
	struct alert a;
	char key[KEY_SIZE];
};

/* No text in it has a line break: a value of Slurm's has none. */
static void key_of(char out[KEY_SIZE], const struct alert *a)
{
	int n = snprintf(out, KEY_SIZE, "%d\n%s\n%s\n%s\n%" PRId64, (int)a->kind, a->budget,
			 a->value, a->period, a->amount);

	assert(n > 0 && n < KEY_SIZE);
	(void)n;
}

void alert_book_init(struct alert_book *b)
{
	*b = (struct alert_book){.n = 0};
	map_init(&b->last);
}

void alert_book_fini(struct alert_book *b)
{
	map_fini(&b->last);
	for (size_t i = 0; i < b->n; i++)
		free(b->v[i]);
	free(b->v);
	*b = (struct alert_book){.n = 0};
}

bool alert_book_has(const struct alert_book *b, const struct alert *a)
{
	const struct entry *was;
	char key[KEY_SIZE];

	key_of(key, a);
	was = map_get(&b->last, key);
	return was != NULL && was->a.until_ms > a->at_ms && was->a.percent >= a->percent;
}

void alert_book_add(struct alert_book *b, const struct alert *a)
{
	struct entry *x = mem_zalloc(sizeof(*x));

	assert(b->n == 0 || b->v[b->n - 1]->seq < a->seq);
	if (b->n == b->cap) {
		b->cap = b->cap == 0 ? 16 : 2 * b->cap;
		b->v = mem_realloc(b->v, b->cap * sizeof(struct alert *));
	}
	x->a = *a;
	key_of(x->key, a);
	b->v[b->n++] = &x->a;
	map_put(&b->last, x->key, x);
}

/* Its index, or that of the first one after it. */
static size_t place(const struct alert_book *b, int64_t seq)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->v[mid]->seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct alert *alert_book_find(const struct alert_book *b, int64_t seq)
{
	size_t i = place(b, seq);

	return i < b->n && b->v[i]->seq == seq ? b->v[i] : NULL;
}

void alert_book_drop(struct alert_book *b, int64_t seq)
{
	size_t i = place(b, seq);
	struct entry *x;

	if (i == b->n || b->v[i]->seq != seq)
		return;
	x = (struct entry *)(void *)b->v[i];
	if (map_get(&b->last, x->key) == x)
		map_del(&b->last, x->key);
	free(x);
	memmove(b->v + i, b->v + i + 1, (b->n - i - 1) * sizeof(struct alert *));
	b->n--;
}

/* --- messages ------------------------------------------------------------------------------------
 */

static const char *const states[ALERT_NSTATES] = {
	[ALERT_PENDING] = "pending", [ALERT_DELIVERED] = "delivered", [ALERT_FAILED] = "failed"};

const char *alert_state_str(enum alert_state s)
{
	return states[s];
}

int alert_state_parse(const char *word)
{
	for (int s = 0; s < ALERT_NSTATES; s++)
		if (strcmp(states[s], word) == 0)
			return s;
	return -1;
}

void alert_message_fini(struct alert_message *m)
{
	free(m->alerts);
	*m = (struct alert_message){.seq = 0};
}

int64_t alert_retry_ms(uint32_t failures, uint64_t dice)
{
	int64_t ms = ALERT_RETRY_MS;

	for (uint32_t i = 1; i < failures && ms < ALERT_RETRY_MAX_MS; i++)
		ms *= 2;
	if (ms > ALERT_RETRY_MAX_MS)
		ms = ALERT_RETRY_MAX_MS;
	return ms + (int64_t)(dice % (uint64_t)(ms / 4 + 1));
}

void alert_message_tried(struct alert_message *m, const struct alert_outcome *o, int64_t now_ms,
			 uint64_t dice)
{
	int64_t wait = alert_retry_ms(++m->attempts, dice);

	m->tried_ms = now_ms;
	(void)snprintf(m->error, sizeof(m->error), "%s", o->taken ? "" : o->error);
	if (o->later_ms > wait)
		wait = o->later_ms;
	m->next_ms = now_ms + wait;
	if (o->taken)
		m->state = ALERT_DELIVERED;
	else if (o->final || m->next_ms - m->made_ms > ALERT_TRY_MS)
		m->state = ALERT_FAILED;
}
