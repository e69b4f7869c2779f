/* fake_journal.h - a journal that holds the events, bills and audit records that a test puts there.
 */
#ifndef BURSTD_TEST_FAKE_JOURNAL_H
#define BURSTD_TEST_FAKE_JOURNAL_H

#include <stdint.h>
#include <string.h>

#include "base/hostlist.h"
#include "store/journal_audit.h"
#include "store/journal_events.h"
#include "store/journal_usage.h"

enum { FAKE_NOW = 1000000000, FAKE_EVENTS_MAX = 8000 };

struct fake_event {
	char node[HOSTLIST_NAME_MAX + 1];
	const char *detail, *type; /* type NULL: created */
};

struct journal {
	struct fake_event events[FAKE_EVENTS_MAX];
	int64_t last;
	int fail;
	unsigned nbills;            /* bills of every node */
	struct journal_mark head;   /* of the audit log */
	const char *object;         /* object of every other record; NULL: as the rest */
	const char *verb, *request; /* of those records; NULL: as the rest */
	struct journal_chain asked; /* the last check of the log; its result is below */
	int64_t known;
	struct journal_chain found;
};

int journal_events(struct journal *j, int64_t after, const char *node, unsigned limit,
		   journal_event_fn fn, void *ctx, struct err *e)
{
	if (j->fail)
		return err_set(e, ERR_IO, "journal: disk I/O error");
	for (int64_t seq = after + 1; seq <= j->last && limit > 0; seq++) {
		const struct fake_event *f = &j->events[seq - 1];
		const struct journal_event ev = {
			seq,      FAKE_NOW + seq, f->node, 1, f->type != NULL ? f->type : "created",
			f->detail};

		if (node != NULL && strcmp(f->node, node) != 0)
			continue;
		limit--;
		if (fn(ctx, &ev) != 0)
			return err_set(e, ERR_CANCELLED, "stopped");
	}
	return 0;
}

/* Visit j->nbills bills, of generations nbills to 1, each for an hour. */
int journal_usages(struct journal *j, const char *node, journal_usage_fn fn, void *ctx,
		   struct err *e)
{
	if (j->fail)
		return err_set(e, ERR_IO, "journal: disk I/O error");
	for (unsigned gen = j->nbills; gen > 0; gen--) {
		const struct journal_usage u = {.pool = "pool0",
						.node = node,
						.instance = "i-1",
						.gen = gen,
						.start_ms = FAKE_NOW - 7200000,
						.end_ms = FAKE_NOW - 3600000,
						.rate_nano_h = 2000000000,
						.cost_nano = 2000000000};

		if (fn(ctx, &u) != 0)
			break;
	}
	return 0;
}

int64_t journal_last_event(struct journal *j)
{
	return j->last;
}

int journal_audits(struct journal *j, int64_t after, unsigned limit, journal_audit_fn fn, void *ctx,
		   struct err *e)
{
	if (j->fail)
		return err_set(e, ERR_IO, "journal: disk I/O error");
	for (int64_t seq = after + 1; seq <= j->head.seq && limit > 0; seq++, limit--) {
		const bool own = j->object != NULL && seq % 2 == 1;
		const struct journal_audit a = {.seq = seq,
						.at_ms = FAKE_NOW + seq,
						.actor = "hook",
						.verb = own && j->verb != NULL ? j->verb : "create",
						.target = "sim",
						.object = own ? j->object : "n[1-4]",
						.reason = "asked \"for\"",
						.request = own && j->verb != NULL ? j->request
										  : "burstd-1",
						.hash = "ab"};

		if (fn(ctx, &a) != 0)
			break;
	}
	return 0;
}

const struct journal_mark *journal_audit_head(const struct journal *j)
{
	return &j->head;
}

int journal_audit_check(struct journal *j, struct journal_chain *c, struct err *e)
{
	j->asked = *c;
	j->known = c->known != NULL ? c->known->seq : -1;
	if (j->fail)
		return err_set(e, j->fail == ERR_INVALID ? ERR_INVALID : ERR_IO, "not kept");
	*c = j->found;
	return 0;
}

#endif
