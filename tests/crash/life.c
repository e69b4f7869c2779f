/* Lives of burstd: begun from the disk as main.c begins them, ended in the middle of anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/sim_slurm.h"
#include "base/paths.h"
#include "crash.h"
#include "io/loop.h"

enum {
	RESTART_MS = 100,    /* systemd */
	BOOT_MS = 60000,     /* a machine whose power was cut */
	HOUSE_MS = 5000,     /* as in house.c */
	KEEP_EVENTS = 60000, /* so that some are forgotten */
	LONG_LOG = 1000,     /* commits that make it worth to tidy up */
	LONG_AT = 60000,     /* after the beginning */
};

static const unsigned char uuid_bytes[16] = {0x51, 0x11, 0xeb, 0, 0, 0, 0x40, 0,
					     0x80, 0,    0,    0, 0, 0, 0,    1};
static const char uuid[] = "5111eb00-0000-4000-8000-000000000001";

int64_t crash_now(void)
{
	return crash.w.now;
}

int64_t crash_boot(void)
{
	return crash.w.now - crash.booted_ms;
}

/* The first uuid is the one that the simulated cloud knows; a second must never be made. */
void crash_random(void *out, size_t len)
{
	unsigned char *p = out;

	if (len == sizeof(uuid_bytes) && !crash.uuid_known) {
		memcpy(p, uuid_bytes, len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		p[i] = (unsigned char)((crash.dice = crash.dice * 69069 + 1) >> 16);
}

/* --- death ------------------------------------------------------------------------------------ */

static enum disk_model model(const struct crash *c)
{
	return c->deaths > 1 ? c->plan.model_again : c->plan.model;
}

static void die(struct crash *c, enum disk_op op, const char *what)
{
	c->dead = true;
	c->deaths++;
	c->w.crashed = true;
	SIM_TRACE(&c->w, "*** crash %llu, model %d, before %s %s", (unsigned long long)c->ops,
		  (int)model(c), disk_op_names[op], what);
}

bool life_hook_lives(const struct crash *c)
{
	return !c->dead || model(c) == DISK_KILL;
}

bool crash_point(enum disk_op op, const char *what)
{
	struct crash *c = &crash;

	if (!c->dead && !c->muted) {
		c->ops++;
		c->count[op]++;
		if (run_is_due(c))
			die(c, op, what);
	}
	return !c->dead || (c->in_hook && life_hook_lives(c));
}

/* --- life ------------------------------------------------------------------------------------- */

static void on_begin(struct world *w, void *ctx, uint64_t arg)
{
	struct crash *c = ctx;

	(void)w;
	if (arg == c->begins)
		life_begin(c);
}

/* What is in memory goes, what is on the disk is what the crash left of it. */
static void bury(struct crash *c)
{
	timer_free(c->house_timer);
	c->house_timer = NULL;
	spool_free(c->w.spool);
	c->w.spool = NULL;
	tee_close();
	if (c->locked)
		state_dir_close(&c->state);
	c->locked = false;
	calls_close_all();
}

void life_again(struct crash *c)
{
	int64_t ms = RESTART_MS;

	bury(c);
	if (c->dead) {
		disk_crash(model(c), c->plan.at * 31 + c->deaths);
		ms = model(c) == DISK_KILL ? RESTART_MS : BOOT_MS;
		c->booted_ms = model(c) == DISK_KILL ? c->booted_ms : c->w.now;
	}
	c->dead = false;
	world_at(&c->w, c->w.now + ms, on_begin, c, ++c->begins);
}

/* Make the log so long that the next tidying copies it, and what comes then overwrites it. */
static void lengthen(struct crash *c)
{
	if (c->dead || c->deaths > 0 || c->w.now < SIM_BEGIN_MS + LONG_AT)
		return;
	c->muted = true;
	for (int64_t i = 0; i < LONG_LOG; i++) {
		struct journal_tx *tx = journal_begin(c->w.journal);

		journal_put_number(tx, "long", i);
		(void)journal_commit(tx, NULL);
	}
	c->muted = false;
	c->lengthened = true;
}

static void on_house(void *ctx)
{
	struct crash *c = ctx;
	struct err e = {0};
	bool more;
	int rc;

	if (!c->lengthened)
		lengthen(c);
	rc = journal_tidy(tee_real(), &e);
	if (rc >= 0 && !c->dead)
		rc = journal_trim(tee_real(), c->w.now - KEEP_EVENTS, c->w.now, &more, &e);
	if (rc < 0 && !c->dead)
		world_fail(&c->w, "housekeeping: %s", e.msg);
	timer_at(c->house_timer, c->w.now + HOUSE_MS);
}

/* main.c's order: the directory, the journal, the two tied together. */
static int open_store(struct crash *c, struct err *e)
{
	int64_t gen_floor;

	if (state_dir_open(&c->state, CRASH_STATE_DIR, e) != 0)
		return -1;
	c->locked = true;
	if (tee_open(c, e) != 0)
		return -1;
	if (!c->dead && state_dir_begin(&c->state, tee_real(), c->w.now, &gen_floor, e) < 0)
		return -1;
	return 0;
}

void life_begin(struct crash *c)
{
	struct err e = {0};

	c->w.crashed = false;
	if (open_store(c, &e) != 0 && !c->dead)
		world_fail(&c->w, "I23: burstd does not start: %s", e.msg);
	if (!c->dead && strcmp(c->state.uuid, uuid) != 0)
		world_fail(&c->w, "the uuid has changed: %s", c->state.uuid);
	if (c->w.failed)
		return;
	if (c->dead) {
		life_again(c);
		return;
	}
	c->uuid_known = true;
	run_has_begun(c, disk_hash());
	c->house_timer = timer_new(c->w.loop, on_house, c);
	timer_at(c->house_timer, c->w.now);
	c->w.spool = spool_new(c->w.loop, PATHS_SPOOL);
	life_start(&c->w);
}

static void end(struct crash *c)
{
	struct world *w = &c->w;

	engine_free(w->engine);
	w->engine = NULL;
	sim_http_cancel_all(w->http);
	sim_proc_cancel_all(w->proc);
	w->totals->crashes++;
	w->life++;
	w->ctld->troubled = w->now > w->ctld->troubled ? w->now : w->ctld->troubled;
	sim_pool_crashed(w);
}

void life_restart(struct crash *c)
{
	SIM_TRACE(&c->w, "*** restart");
	end(c);
	life_again(c);
}

/* In place of the simulator's, which has no disk. */
void __wrap_life_end(struct world *w);
void __wrap_life_end(struct world *w)
{
	w->crashed = true;
	end(&crash);
	life_again(&crash);
}

/* --- what the world may see --------------------------------------------------------------------
 */

void life_check_synced(struct crash *c, const char *what)
{
	if (!disk_is_synced(CRASH_JOURNAL) || !disk_is_synced(CRASH_JOURNAL "-wal") ||
	    !disk_is_synced(CRASH_STATE_DIR "/uuid"))
		world_fail(&c->w, "%s while not all of the journal is synced", what);
}

/* Before a request is sent, and after. */
bool __wrap_world_alive(struct world *w);
bool __wrap_world_alive(struct world *w)
{
	crash.moment++;
	if (!crash.dead)
		life_check_synced(&crash, "I1: a request is sent");
	return crash_point(OP_SEND, "") && !w->crashed;
}
