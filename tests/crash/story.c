/* The one world: what happens in it, and how it must end. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/sim_boot.h"
#include "../sim/sim_cloud.h"
#include "../sim/sim_journal.h"
#include "../sim/sim_opinions.h"
#include "../sim/sim_slurm.h"
#include "crash.h"

enum {
	GANG = 10,
	PAIR = 2,
	NODES = 12,
	SUBMIT_AFTER = 3 * SIM_SECOND,   /* the gang; burstd has looked at slurmctld by then */
	RESTART_AFTER = 10 * SIM_SECOND, /* of the gang's first run */
	RECLAIM_AFTER = 20 * SIM_SECOND,
	NOTICE = 30 * SIM_SECOND,
	RUNTIME = 120 * SIM_SECOND, /* more than it takes slurmctld to miss a machine */
	STABLE = 30 * SIM_SECOND,
	NONSENSE_AFTER = 100, /* ms: a snapshot may have begun just now */
	END = 60 * SIM_MINUTE,
	PRICE = 2000000000,
	PART = 3, /* which create is made in part: the gang is refused for it ... */
	LOST = 6, /* ... and of which the reply is lost: of the next try */
};

enum stage { START, THE_GANG, QUIET, THE_PAIR, OVER };

static struct sim_totals totals;
static struct {
	enum stage stage;
	uint32_t gang, pair; /* jobs */
	int64_t running_at, stable_at, looked_at;
	bool restarted, reclaimed;
	unsigned lost, partial; /* creates so far: replies, effects */
	bool at_door;
} story;

/* --- what goes wrong by itself -----------------------------------------------------------------
 */

/* A create is asked about at the provider's door and on its way back: one reply is
 * lost after its effect. */
static bool reply_is_lost(void)
{
	story.at_door = !story.at_door;
	return !story.at_door && ++story.lost == LOST;
}

bool __wrap_world_fault(struct world *w, enum sim_fault f);
bool __wrap_world_fault(struct world *w, enum sim_fault f)
{
	(void)w;
	if (f == SIM_CREATE_REPLY_LOST)
		return reply_is_lost();
	return f == SIM_PARTIAL && ++story.partial == PART;
}

/* --- the world -------------------------------------------------------------------------------- */

static void settle_world(struct world *w, bool tokens)
{
	struct sim_pool *p = &w->set.pools[0];

	w->set = (struct sim_setting){.tokens = tokens,
				      .budgets = w->report_zone != NULL,
				      .claims = true,
				      .bootstrap = true,
				      .wrap = true,
				      .attest = CONF_ATTEST_CALLBACK,
				      .images = true,
				      .token_ms = 24 * 60 * SIM_MINUTE,
				      .instance_ids = true,
				      .create_max = PAIR,
				      .delete_max = PAIR,
				      .page = 1000,
				      .slice = 500,
				      .settle_ms = 5 * SIM_SECOND,
				      .list_ms = 10 * SIM_SECOND,
				      .timeout_ms = 5 * SIM_SECOND,
				      .boot_ms = 200 * SIM_SECOND,
				      .linger_ms = 10 * SIM_SECOND,
				      .suspend_s = 20,
				      .suspend_timeout_s = 5,
				      .resume_timeout_s = 240,
				      .requeue_s = 6,
				      .slurmd_timeout_s = 60,
				      .concurrency = 4,
				      .npools = 1};
	*p = (struct sim_pool){.name = "alpha",
			       .nodes = "c[1-12]",
			       .type = "h100",
			       .nnodes = NODES,
			       .max_nodes = NODES,
			       .price = PRICE,
			       .max_rate = (int64_t)PRICE * NODES};
	sim_price_heal(w);
}

void story_begin(struct crash *c, bool tokens, bool trace)
{
	struct world *w = &c->w;

	memset(&story, 0, sizeof(story));
	memset(c, 0, sizeof(*c));
	spool_forget();
	disk_init();
	world_init(w, tokens ? 1 : 6, &totals, trace);
	sim_ctld_free(w->ctld);
	w->ntasks = 0; /* of a world of dice */
	w->faults = false;
	settle_world(w, tokens);
	w->ctld = sim_ctld_new(w);
	totals.jobs_done = 0;
}

void story_end(struct crash *c)
{
	world_fini(&c->w);
	tee_close();
	disk_fini();
}

static struct ctld_job *job(struct crash *c, uint32_t id)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (c->w.ctld->jobs[i].state != JOB_FREE && c->w.ctld->jobs[i].id == id)
			return &c->w.ctld->jobs[i];
	return NULL;
}

/* --- what is done to it ------------------------------------------------------------------------
 */

static void on_reclaimed(struct world *w, void *ctx, uint64_t arg)
{
	(void)arg;
	sim_cloud_end(w->cloud, ctx);
}

static void reclaim(struct crash *c, const struct ctld_job *j)
{
	struct inst *i = sim_cloud_find(c->w.cloud, c->w.ctld->nodes[j->nodes[3]].inst);

	story.reclaimed = true;
	if (i == NULL || i->state != INST_RUNNING)
		return;
	SIM_TRACE(&c->w, "*** %s is reclaimed", i->node);
	i->excused = true;
	i->state = INST_RECLAIMING;
	i->reclaim_at = c->w.now + NOTICE;
	world_at(&c->w, i->reclaim_at, on_reclaimed, i, 0);
}

static void submit_gang(struct crash *c)
{
	struct ctld_job *j = sim_ctld_submit(c->w.ctld, 0, GANG);

	j->runtime = RUNTIME;
	story.gang = j->id;
	story.stage = THE_GANG;
}

static void tick_gang(struct crash *c)
{
	const struct ctld_job *j = job(c, story.gang);
	const bool runs = j != NULL && j->state == JOB_RUNNING;

	if (j == NULL)
		story.stage = QUIET;
	if (runs && story.running_at == 0)
		story.running_at = c->w.now;
	if (!runs || c->w.engine == NULL)
		return;
	if (!story.restarted && c->w.now >= story.running_at + RESTART_AFTER) {
		story.restarted = true;
		c->w.images.of[0] = c->w.images.n = 1;
		life_restart(c);
	} else if (!story.reclaimed && c->w.now >= story.running_at + RECLAIM_AFTER) {
		reclaim(c, j);
	}
}

static size_t living(const struct crash *c)
{
	size_t n = 0;

	for (size_t k = 0; k < c->w.cloud->nlive; k++)
		n += c->w.cloud->live[k]->pool != SIM_POOLS_MAX;
	return n;
}

/* Acted on by an event alone. */
static void on_nonsense(struct world *w, void *ctx, uint64_t arg)
{
	const struct sim_call call = {.kind = CALL_RESUME, .at = w->now, .list = "c["};

	(void)ctx;
	(void)arg;
	sim_spool_put(w->spool, &call);
}

static void tick_quiet(struct crash *c)
{
	char why[200];
	struct ctld_job *j;

	if (living(c) > 0 || !check_converged(&c->w, why, sizeof(why)))
		return;
	j = sim_ctld_submit(c->w.ctld, 0, PAIR);
	story.pair = j->id;
	story.stage = THE_PAIR;
	world_at(&c->w, c->w.now + NONSENSE_AFTER, on_nonsense, NULL, 0);
}

/* The machine in place of the reclaimed one was a canary, and the gang ended on it; the second one
 * is of the pair, and the other one of the pair may go when its job ends.  Where burstd did not see
 * what the first one did, both of the pair are canaries, and all is done; where burstd was away for
 * so long that a canary did not get its keys, the image is stopped. */
static bool is_rolled_out(const struct crash *c)
{
	const struct roll *r =
		sim_opinions_roll_of(sim_journal_opinions(c->w.journal), "alpha", "");

	if (r == NULL || strcmp(r->next, "im1") != 0)
		return false;
	if (r->stage == ROLL_STOPPED)
		return c->deaths > 0 && strstr(r->why, "came up wrong") != NULL;
	return r->stage == ROLL_ROLLING || r->stage == ROLL_SETTLED;
}

static void tick_pair(struct crash *c, char *why, size_t size)
{
	const struct ctld_job *j = job(c, story.pair);
	bool good = check_converged(&c->w, why, size);

	if (good && (j == NULL || j->state != JOB_RUNNING || living(c) != PAIR)) {
		(void)snprintf(why, size, "the second job does not run on its nodes alone");
		good = false;
	}
	if (good && !is_rolled_out(c)) {
		(void)snprintf(why, size, "the new image is not rolled out");
		good = false;
	}
	if (!good)
		story.stable_at = 0;
	else if (story.stable_at == 0)
		story.stable_at = c->w.now;
	else if (c->w.now >= story.stable_at + STABLE)
		story.stage = OVER;
}

static void tick(struct crash *c)
{
	static char why[200];

	if (story.stage == START && c->w.now >= SIM_BEGIN_MS + SUBMIT_AFTER)
		submit_gang(c);
	else if (story.stage == THE_GANG)
		tick_gang(c);
	/* These look at everything. */
	if (c->w.now < story.looked_at + SIM_SECOND)
		return;
	story.looked_at = c->w.now;
	if (story.stage == QUIET)
		tick_quiet(c);
	else if (story.stage == THE_PAIR)
		tick_pair(c, why, sizeof(why));
	if (story.stage != OVER && c->w.now > SIM_BEGIN_MS + END) {
		(void)check_converged(&c->w, why, sizeof(why));
		world_fail(&c->w, "I24: no end in an hour, at stage %d: %s", (int)story.stage, why);
	}
}

/* --- how it ends ------------------------------------------------------------------------------ */

static void check_bill(struct crash *c, const struct inst *i, sqlite3_stmt *st)
{
	unsigned bills = 0;
	char id[24];

	(void)snprintf(id, sizeof(id), "i-%u", (unsigned)i->number);
	(void)sqlite3_reset(st);
	(void)sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
	while (sqlite3_step(st) == SQLITE_ROW) {
		bills++;
		if (strcmp((const char *)sqlite3_column_text(st, 0), i->node) != 0 ||
		    (uint64_t)sqlite3_column_int64(st, 1) != i->gen ||
		    sqlite3_column_int64(st, 2) != i->created ||
		    sqlite3_column_int64(st, 3) < i->ended || sqlite3_column_int64(st, 4) <= 0)
			world_fail(&c->w, "I22: the bill of %s is not of what it was", id);
	}
	if (bills != (i->state == INST_ENDED ? 1 : 0))
		world_fail(&c->w, "I22: %s of %s/%" PRIu64 " has %u bills", id, i->node, i->gen,
			   bills);
}

static void check_bills(struct crash *c)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	if (sqlite3_open_v2(CRASH_JOURNAL, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db,
			       "SELECT node, gen, start_ms, end_ms, cost_nano FROM usage"
			       " WHERE instance = ?",
			       -1, &st, NULL) != SQLITE_OK)
		world_fail(&c->w, "the bills cannot be read: %s", sqlite3_errmsg(db));
	for (size_t k = 0; !c->w.failed && k < c->w.cloud->n; k++)
		if (c->w.cloud->all[k]->pool != SIM_POOLS_MAX)
			check_bill(c, c->w.cloud->all[k], st);
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
}

static void check_end(struct crash *c)
{
	tee_compare(c);
	spool_check_end(c);
	check_bills(c);
	if (totals.jobs_done != 1)
		world_fail(&c->w, "the gang has run %u times", (unsigned)totals.jobs_done);
	for (size_t k = 0; k < c->w.cloud->n; k++)
		if (c->w.cloud->all[k]->pool == SIM_POOLS_MAX &&
		    (c->w.cloud->all[k]->state != INST_RUNNING || c->w.cloud->all[k]->accepted))
			world_fail(&c->w, "I11: a foreign instance was touched");
}

void story_run(struct crash *c)
{
	life_begin(c);
	while (!c->w.failed && story.stage != OVER) {
		c->moment++;
		if (!world_step(&c->w))
			world_fail(&c->w, "nothing is left to happen");
		check_step(&c->w);
		sim_keys_check(&c->w);
		if (!c->w.failed)
			tick(c);
	}
	if (!c->w.failed)
		check_end(c);
}

/* What must have happened in a run without a crash, or this test tests less than it says. */
const char *story_lacks(const struct crash *c)
{
	if (story.lost < LOST || story.partial < PART)
		return "a lost reply or a create that is made in part";
	if (c->w.boot->ngiven < GANG)
		return "keys for its nodes";
	if (!story.restarted || !story.reclaimed || !c->lengthened)
		return "a restart, a reclaimed machine or a long log";
	if (c->fresh < 3 || c->hints == 0)
		return "three calls that are acted on, or one that is a hint";
	for (int op = 0; op < OP_NOPS; op++)
		if (c->count[op] == 0)
			return disk_op_names[op];
	return NULL;
}
