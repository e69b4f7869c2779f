/* Housekeeping, every few seconds: trims the journal, checks how full the disks are, logs where the
 * audit log ends, and writes what slurmctld may refuse jobs for. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/own_file.h"
#include "base/paths.h"
#include "burstd.h"
#include "buy/buy_api.h"
#include "engine/engine.h"
#include "io/loop.h"
#include "io/spool.h"
#include "store/journal.h"
#include "store/journal_audit.h"
#include "store/room.h"

enum {
	HOUSE_EVERY_MS = 5000,
	HEAD_EVERY_MS = 60000, /* how often the end of the audit log is logged, if it grows */
	MORE_MS = 1000,        /* there was more than one visit may do */
};

static void trim(struct burstd *b)
{
	const int64_t now = loop_now(b->loop);
	bool more = false;
	struct err e;

	if (journal_tidy(b->journal, &e) != 0 ||
	    journal_trim(b->journal, now - engine_conf(b->engine)->events_keep_ms, now, &more,
			 &e) != 0)
		failure_on_fatal(b, &e);
	timer_at(b->house_timer, now + (more ? MORE_MS : HOUSE_EVERY_MS));
}

/* Log the end of the audit log: a machine that keeps our log can then tell what was cut off. */
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

/* Give away the reserve of the spool before hooks need it: they cannot ask for it.  The directory
 * may be another one than the last time. */
static void look_at_spool(struct burstd *b)
{
	struct room r;
	bool full;

	room_init_in(&r, PATHS_SPOOL, SPOOL_RESERVE);
	room_look(&r);
	full = r.free_bytes >= 0 && r.free_bytes < ROOM_SLICE;
	if (full && room_give(&r))
		log_write(b->log, LOG_WARN,
			  "the disk of the spool is full: releasing reserved space for calls",
			  NULL);
	b->api.spool_full = full;
	room_fini(&r);
}

/* burst-prolog cannot ask for the configuration while it finds nobody to ask. */
void house_mark_away(struct burstd *b)
{
	const struct conf *c = engine_conf(b->engine);
	static const char path[] = PATHS_AWAY;
	int fd = -1;

	if (c->nbudgets == 0 || c->budgets_away != CONF_AWAY_REQUEUE) {
		if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
			log_write(b->log, LOG_WARN,
				  "jobs that start while burstd is away are still "
				  "requeued",
				  "file", path, "error", strerror(errno), NULL);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		log_write(b->log, LOG_WARN,
			  "jobs that start while burstd is away will not be requeued", "file", path,
			  "error", strerror(errno), NULL);
	else
		(void)close(fd);
}

/* job_submit.lua refuses nothing by a table that burstd has not written for five minutes.  Only
 * slurmctld's user reads it: it has amounts of budgets. */
void house_write_submit(struct burstd *b)
{
	char head[SUBMIT_HEAD_MAX];
	struct str text, all;
	int dir = -1, rc = 0;

	str_init(&text, SUBMIT_TEXT_MAX);
	str_init(&all, SUBMIT_TEXT_MAX + SUBMIT_HEAD_MAX);
	engine_submit(b->engine, &text);
	if (!submit_is_due(&b->submitted, &text, loop_now(b->loop)))
		goto out;
	submit_head(head, &text, clock_wall_ms());
	str_adds(&all, head);
	str_add(&all, text.p, text.len);
	dir = open(PATHS_RUN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = dir < 0 ? -1
		     : own_file_write(dir, PATHS_SUBMIT_NAME, all.p, all.len, OWN_FILE_REPLACE);
	if (rc != 0 && !b->submit_failed)
		log_write(b->log, LOG_WARN, "no job is refused at its submission", "file",
			  PATHS_SUBMIT, "error", strerror(errno), NULL);
	b->submit_failed = rc != 0;
	if (rc != 0)
		b->submitted.at_ms = 0; /* again at the next look */
out:
	if (dir >= 0)
		(void)close(dir);
	str_fini(&all);
	str_fini(&text);
}

void house_on_timer(void *ctx)
{
	struct burstd *b = ctx;

	engine_look_at_disk(b->engine);
	look_at_spool(b);
	house_mark_away(b);
	house_write_submit(b);
	house_tell_head(b, false);
	trim(b);
}
