/* sim: burstd's core, engine and driver in a world of dice.
 *
 *   sim [--seeds N] [--first SEED] [--steps N] [--trace] [--queue] [--table] [--tap]
 *
 * Each seed is a world with its own size, limits, provider and faults.  It runs --steps steps under
 * faults, in which safety must hold at every step; then the faults end and it must converge in
 * CONVERGE_MS of virtual time, twice: with the jobs that fit, and when they have ended.  Then come
 * the drills, each of which times one action.  After the seeds a thousand machines are deleted
 * once, at a slow provider (sim_queue.c).  A failure prints the seed, what failed, the last lines
 * of its trace and the command that replays it. */
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim_boot.h"
#include "sim_money.h"
#include "sim_slurm.h"
#include "tests/tool.h"
#include "world.h"

enum {
	CONVERGE_MS = 40 * 60000, /* two resume time-outs, a quarantine, back-offs, lists */
	OPEN_MS = 80 * 60000,     /* a pool that was closed for longest, and a job's wait */
	STABLE_MS = 60000,        /* and stays so */
	MEET_SEEDS = 2000,        /* from so many on every cell of the table must be met */
	MEET_STEPS = 2000,        /* ... and of so many steps each */
	HANG_S = 60,              /* of the processor, for one seed: it turns in a circle */
};

struct options {
	int64_t seeds, first, steps;
	bool trace, tap, table, queue;
};

static struct world world; /* for the handler of SIGABRT, too: an assertion says which seed */
static struct options options = {.seeds = 2000, .first = 1, .steps = 3000};

static void print_trace(const struct world *w)
{
	unsigned n = w->echo ? 0 : w->trace_n < SIM_TRACE_LINES ? w->trace_n : SIM_TRACE_LINES;

	for (unsigned i = w->trace_n - n; i != w->trace_n; i++)
		(void)fprintf(stderr, "# %s\n", w->trace[i % SIM_TRACE_LINES]);
}

static void print_replay(const struct world *w)
{
	if (w->queue) {
		(void)fprintf(stderr, "# replay: sim --queue --trace\n");
		return;
	}
	(void)fprintf(stderr,
		      "# replay: sim --first %" PRIu64 " --seeds 1 --steps %" PRId64 " --trace\n",
		      w->seed, options.steps);
}

static void print_totals(const struct sim_totals *t)
{
	(void)printf("# %" PRIu64 " seeds, %" PRIu64 " steps, %" PRIu64 " lives ended, %" PRIu64
		     " instances\n",
		     t->seeds, t->steps, t->crashes, t->instances);
	(void)printf("# %" PRIu64 " jobs done, %" PRIu64 " nodes used again, %" PRIu64
		     " powered down for being idle, %" PRIu64 " that stayed warm\n",
		     t->jobs_done, t->reuses, t->idle_suspends, t->warm);
	(void)printf("# %" PRIu64 " heterogeneous jobs done, %" PRIu64
		     " of which only a part was requeued\n",
		     t->het_done, t->het_cut);
	(void)printf("# %" PRIu64 " jobs requeued since their budget was used up, %" PRIu64
		     " cancelled, %" PRIu64 " died of its signal, %" PRIu64
		     " refused by their prolog\n",
		     t->ladder_requeues, t->ladder_cancels, t->ladder_deaths, t->ladder_unpaid);
	(void)printf("# %" PRIu64 " nodes created in slurmctld, which lost %" PRIu64
		     " of them; %" PRIu64 " machines located\n",
		     t->created, t->lost, t->placed);
	(void)printf("# %" PRIu64 " new images tried, %" PRIu64 " rolled out, %" PRIu64
		     " stopped; %" PRIu64 " creates refused for one, %" PRIu64
		     " machines told to go for one\n",
		     t->images_tried, t->images_rolled, t->images_stopped, t->images_refused,
		     t->images_replaced);
	(void)printf("# %" PRIu64 " places left alone as purchases failed, %" PRIu64
		     " creates to try one\n",
		     t->place_fails, t->place_probes);
	(void)printf("# %" PRIu64 " rotations of keys done, %" PRIu64 " aborted, %" PRIu64
		     " that burstd died in; %" PRIu64 " writes of others, %" PRIu64
		     " nodes drained for old keys\n",
		     t->rotations, t->rotations_aborted, t->rotations_cut, t->rotations_beside,
		     t->rotations_drained);
	(void)printf("# %" PRIu64 " creates, %" PRIu64 " deletes, %" PRIu64 " lists, %" PRIu64
		     " Slurm commands, %" PRIu64
		     " commits; at most %u requests and %u commands in a minute\n",
		     t->creates, t->deletes, t->lists, t->polls, t->commits,
		     (unsigned)t->peak_requests, (unsigned)t->peak_commands);
}

static void on_abort(int signum)
{
	(void)fprintf(stderr, "# %s: seed %" PRIu64 ", step %" PRIu64 "\n",
		      signum == SIGPROF ? "aborted: it hangs" : "aborted", world.seed, world.step);
	print_trace(&world);
	if (world.totals != NULL)
		print_totals(world.totals);
	print_replay(&world);
	_exit(1);
}

/* --- one seed --------------------------------------------------------------------------------- */

static void run_step(struct world *w)
{
	if (!world_step(w))
		world_fail(w, "nothing is left to happen");
	check_step(w);
	sim_keys_check(w);
}

static void converge(struct world *w, const char *what, int64_t ms)
{
	int64_t end = w->now + ms, next = w->now, since = -1;
	char why[200] = "";

	while (!w->failed && w->now < end) {
		run_step(w);
		if (w->now < next)
			continue;
		next = w->now + 5000;
		if (!check_converged(w, why, sizeof(why)))
			since = -1;
		else if (since < 0)
			since = w->now;
		else if (w->now - since >= STABLE_MS)
			return;
	}
	sim_ctld_trace(w->ctld);
	world_fail(w, "I24: %s: no convergence in %d minutes: %s", what, (int)(ms / 60000), why);
}

static void run_seed(uint64_t seed, struct sim_totals *t, bool tracing)
{
	/* The machine may be busy with other things, or stand still for a while. */
	const struct itimerval hang = {.it_value = {.tv_sec = HANG_S}};
	struct world *w = &world;

	(void)setitimer(ITIMER_PROF, &hang, NULL);
	world_init(w, seed, t, tracing);
	w->echo = options.trace;
	life_start(w);
	while (!w->failed && w->step < sim_climate_steps(w, options.steps))
		run_step(w);
	if (!w->failed) {
		SIM_TRACE(w, "*** faults end");
		w->faults = false;
		w->disk_until = 0;
		sim_cloud_heal(w->cloud);
		sim_ctld_heal(w->ctld);
		sim_admin_heal(w);
		sim_absent_heal(w);
		sim_money_heal(w);
		converge(w, "jobs run", CONVERGE_MS + OPEN_MS);
	}
	if (!w->failed) {
		SIM_TRACE(w, "*** jobs end");
		sim_ctld_end_jobs(w->ctld);
		if (w->set.warm)
			converge(w, "nodes are warm", CONVERGE_MS);
		sim_life_cool(w);
		converge(w, "nothing is wanted", CONVERGE_MS);
	}
	if (!w->failed && !w->set.limits.some && !w->set.ladder) /* they time things */
		sim_drill(w, run_step);
	if (!w->failed)
		converge(w, "after the drills", CONVERGE_MS);
	world_fini(w);
	t->seeds++;
}

/* --- reports ---------------------------------------------------------------------------------- */

static void report(const struct world *w)
{
	(void)fprintf(stderr, "# FAILED: seed %" PRIu64 ", step %" PRIu64 ": %s\n", w->seed,
		      w->step, w->why);
	print_trace(w);
	print_replay(w);
}

static int finish(const struct sim_totals *t, bool failed)
{
	unsigned missed = sim_cells_missed(t);

	bool judged = !failed && t->seeds >= MEET_SEEDS && options.steps >= MEET_STEPS;

	if (options.table || (judged && missed > 0))
		sim_cells_print(t);
	print_totals(t);
	(void)fflush(stdout); /* before what is said on the other one */
	if (judged && missed > 0) {
		(void)fprintf(stderr, "# FAILED: %u cells of the table above were never met\n",
			      missed);
		failed = true;
	}
	if (judged && sim_climate_missed(t) > 0)
		failed = true;
	if (options.tap)
		(void)printf("1..1\n%s 1 - simulator: %" PRIu64 " seeds from %" PRId64 "\n",
			     failed ? "not ok" : "ok", t->seeds, options.first);
	else if (failed)
		(void)printf("sim: FAILED: why stands behind \"# FAILED\"\n");
	else
		(void)printf("sim: ok: seeds %" PRId64 " to %" PRId64
			     " broke no promise, and each came to a good end\n",
			     options.first, options.first + options.seeds - 1);
	return failed ? 1 : 0;
}

/* --- the command line --------------------------------------------------------------------------
 */

static const struct opt sim_opts[] = {
	{"seeds", 0, OPT_NUMBER, "N", "how many worlds (default: 2000)",
	 offsetof(struct options, seeds), 1, INT64_MAX},
	{"first", 0, OPT_NUMBER, "SEED", "the first of them (default: 1)",
	 offsetof(struct options, first), 0, INT64_MAX},
	{"steps", 0, OPT_NUMBER, "N",
	 "how long each has faults, before it must come to rest (default: 3000)",
	 offsetof(struct options, steps), 0, INT64_MAX},
	{"trace", 0, OPT_FLAG, NULL, "tell all that happens; for one seed",
	 offsetof(struct options, trace), 0, 0},
	{"queue", 0, OPT_FLAG, NULL, "nothing but the thousand deletes that follow the seeds",
	 offsetof(struct options, queue), 0, 0},
	{"table", 0, OPT_FLAG, NULL, "how often each fault met a node in each state",
	 offsetof(struct options, table), 0, 0},
	{"tap", 0, OPT_FLAG, NULL, "the verdict as a test of TAP", offsetof(struct options, tap), 0,
	 0},
};

static const struct tool tool = {
	.name = "sim",
	.about = "usage: sim [--seeds N] [--first SEED] [--steps N] [--trace] [--queue]\n"
		 "           [--table] [--tap]\n"
		 "\n"
		 "The real core, engine and driver in a world of dice: each seed is one world,\n"
		 "with crashes, lost replies and lies, in which every promise is looked at after\n"
		 "every step.\n",
	.exits = "exit: 0 no promise was broken, 1 one was (\"# FAILED\" says which,\n"
		 "\"# replay\" how to see it again), 2 usage\n",
	.opts = sim_opts,
	.nopts = sizeof(sim_opts) / sizeof(sim_opts[0]),
	.object = &options,
};

int main(int argc, char **argv)
{
	struct sim_totals *totals = calloc(1, sizeof(*totals));
	struct sim_totals *again = calloc(1, sizeof(*again));
	bool failed = false;
	int rc = 2;

	tool_options(&tool, argc, argv);
	(void)signal(SIGABRT, on_abort);
	(void)signal(SIGPROF, on_abort);
	if (totals == NULL || again == NULL)
		goto out;
	for (int64_t i = 0; i < options.seeds && !failed && !options.queue; i++) {
		run_seed((uint64_t)(options.first + i), totals, options.trace);
		failed = world.failed;
	}
	if (failed && !options.trace) /* once more, to tell the story */
		run_seed(world.seed, again, true);
	if (!failed && (options.queue || options.seeds > 1))
		failed = !sim_queue(&world, options.trace);
	if (failed)
		report(&world);
	rc = finish(totals, failed);
out:
	free(totals);
	free(again);
	return rc;
}
