#include "core/reclaim.h"

#include <assert.h>
#include <string.h>

static const struct {
	const char *word, *text;
} kinds[PROVIDER_NNOTICES] = {
	[PROVIDER_NOTICE_RECLAIM] = {"reclaim", "the provider takes its capacity back"},
	[PROVIDER_NOTICE_REBALANCE] = {"rebalance", "the provider may soon take its capacity back"},
	[PROVIDER_NOTICE_MAINTENANCE] = {"maintenance",
					 "the provider will stop it for maintenance"},
	[PROVIDER_NOTICE_FAULTY] = {"faulty", "its host is broken"},
};

const char *reclaim_kind_str(enum provider_notice_kind k)
{
	assert(k < PROVIDER_NNOTICES);
	return kinds[k].word;
}

const char *reclaim_kind_text(enum provider_notice_kind k)
{
	assert(k < PROVIDER_NNOTICES);
	return kinds[k].text;
}

int reclaim_kind_parse(const char *word)
{
	for (int k = 0; k < PROVIDER_NNOTICES; k++)
		if (strcmp(word, kinds[k].word) == 0)
			return k;
	return -1;
}

/* When the machine has to be empty; INT64_MAX: not known. */
static int64_t end_of(const struct node *n, const struct reclaim_rules *r)
{
	if (n->deadline_ms != 0)
		return n->deadline_ms;
	if (n->notice == PROVIDER_NOTICE_RECLAIM)
		return n->noticed_ms; /* any moment */
	return r->wait_ms != 0 ? n->noticed_ms + r->wait_ms : INT64_MAX;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void reclaim_plan(const struct node *n, const struct reclaim_rules *r, struct reclaim_plan *out)
{
	int64_t end = end_of(n, r), from = n->noticed_ms;
	bool waits =
		n->notice == PROVIDER_NOTICE_REBALANCE || n->notice == PROVIDER_NOTICE_MAINTENANCE;

	*out = (struct reclaim_plan){.signal_ms = INT64_MAX, .force_ms = from};
	if (n->notice == PROVIDER_NOTICE_FAULTY) {
		out->dead = true;
		return;
	}
	if (waits && end == INT64_MAX) {
		out->force_ms = INT64_MAX;
		return;
	}
	if (waits || r->signals)
		out->force_ms = later(end - RECLAIM_MARGIN_MS, from);
	if (!r->signals)
		return;
	if (out->force_ms - from < RECLAIM_LEAST_MS)
		out->force_ms = from; /* too late to signal: requeue the jobs now */
	else
		out->signal_ms = later(end - RECLAIM_LEAD_MS, from);
}
