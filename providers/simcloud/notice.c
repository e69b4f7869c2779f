#include "providers/simcloud/notice.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const words[NOTICE_KINDS] = {
	[NOTICE_RECLAIM] = "reclaim",
	[NOTICE_REBALANCE] = "rebalance",
	[NOTICE_MAINTENANCE] = "maintenance",
	[NOTICE_FAULTY] = "faulty",
	[NOTICE_ENDED] = "ended",
};

void notices_init(struct notices *t)
{
	*t = (struct notices){.ring = mem_zalloc(NOTICES_MAX * sizeof(*t->ring))};
}

void notices_fini(struct notices *t)
{
	free(t->ring);
	*t = (struct notices){0};
}

static struct notice *at(const struct notices *t, uint64_t i)
{
	return &t->ring[i % NOTICES_MAX];
}

void notices_add(struct notices *t, const struct notice *what)
{
	int64_t last = t->n > 0 ? at(t, t->n - 1)->seq : 0;
	struct notice *to = at(t, t->n++);

	*to = *what;
	to->seq = last < what->told_ms ? what->told_ms : last + 1;
	if (t->n - t->first > NOTICES_MAX)
		t->first = t->n - NOTICES_MAX;
}

const struct notice *notices_after(const struct notices *t, int64_t after)
{
	uint64_t low = t->n > NOTICES_MAX ? t->n - NOTICES_MAX : 0, high = t->n;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (at(t, mid)->seq > after)
			high = mid;
		else
			low = mid + 1;
	}
	return low < t->n ? at(t, low) : NULL;
}

struct notice *notices_visible(struct notices *t, int64_t now)
{
	while (t->first < t->n && at(t, t->first)->gone)
		t->first++;
	for (uint64_t i = t->first; i < t->n; i++)
		if (!at(t, i)->gone && at(t, i)->hidden_until <= now)
			return at(t, i);
	return NULL;
}

bool notices_delete(struct notices *t, int64_t seq)
{
	const struct notice *n = notices_after(t, seq - 1);

	if (n == NULL || n->seq != seq)
		return false;
	t->ring[n - t->ring].gone = true;
	return true;
}

const char *notice_word(enum notice_kind k)
{
	return words[k];
}

int notice_parse(const char *word, enum notice_kind *k, struct err *e)
{
	for (int i = 0; i < NOTICE_ENDED; i++)
		if (strcmp(words[i], word) == 0) {
			*k = (enum notice_kind)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "kind: want reclaim, rebalance, maintenance or faulty");
}
