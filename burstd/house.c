/* Every few seconds, and when nobody waits for the disk, burstd takes in spooled calls, trims the
 * journal and says where the audit log ends. */
#include <stdint.h>

#include "api/ctl_api.h"
#include "base/log.h"
#include "base/paths.h"
#include "burstd.h"
#include "engine/engine.h"
#include "io/loop.h"
#include "io/spool.h"
#include "store/journal.h"

enum {
	SPOOL_EVERY_MS = 5000,
	HEAD_EVERY_MS = 60000, /* where the audit log ends is said so often, when it grows */
	QUIET_MS = 1000,       /* since the last call: nobody waits for the disk now */
};

static int on_spooled(void *ctx, const struct ctl_call *call, struct err *e)
{
	struct burstd *b = ctx;
	int64_t seq;

	return ctl_api_take(&b->api, call, true, &seq, e);
}

/* Nobody waits for the disk now. */
static void keep_house(struct burstd *b)
{
	const int64_t now = loop_now(b->loop);
	bool more = false;
	struct err e;

	if (journal_tidy(b->journal, &e) != 0 ||
	    journal_trim(b->journal, now - engine_conf(b->engine)->events_keep_ms, now, &more,
			 &e) != 0)
		failure_on_fatal(b, &e);
	timer_at(b->spool_timer, now + (more ? QUIET_MS : SPOOL_EVERY_MS));
}

/* For another machine that keeps our log: what is cut off the audit log here is known there. */
void house_tell_head(struct burstd *b, bool now)
{
	const struct journal_mark *head = journal_audit_head(b->journal);
	char text[JOURNAL_MARK_SIZE];

	if (head->seq == b->told_seq || (!now && loop_now(b->loop) < b->told_ms + HEAD_EVERY_MS))
		return;
	b->told_seq = head->seq;
	b->told_ms = loop_now(b->loop);
	journal_mark_print(head, text);
	log_write(b->log, LOG_INFO, "audit log", "head", text, NULL);
}

void house_on_spool_timer(void *ctx)
{
	struct burstd *b = ctx;
	struct err e;
	int n = spool_drain(PATHS_SPOOL, on_spooled, b, &e);
	const bool quiet = loop_now(b->loop) >= b->called_ms + QUIET_MS;

	if (n < 0)
		log_write(b->log, LOG_WARN, "the spool cannot be read", "error", e.msg, NULL);
	engine_look_at_disk(b->engine);
	house_tell_head(b, false);
	if (quiet)
		keep_house(b);
	else
		timer_at(b->spool_timer, b->called_ms + QUIET_MS);
}
