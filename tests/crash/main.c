/* crash: see crash.h.
 *
 *   crash [--every N] [--pairs N] [--seed N] [--jobs N]
 *   crash --first K [--model kill|lost|torn] [--again K2 --model-again M] [--lists] [--trace]
 *
 * The first runs all: one world goes on without a crash, and before each operation copies of it
 * (fork) die there, one for each model of a disk, start again and must come to the same end.  Two
 * that died at one moment of the world, and after whose restart the disk is the same to the byte,
 * would go on alike: of these only the first is followed to its end.  The second runs one of them,
 * as the first says when it fails. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash.h"
#include "tests/tool.h"
#include "vfs.h"

enum {
	SEEN_MAX = 1 << 18,
	PAIRS_MAX = 100000,
	STARTS_MAX = 1000, /* pairs more */
	COPIES_MAX = 64,
	CHILD_S = 60,      /* of the processor: a copy that takes longer hangs */
	FAILURES_MAX = 10, /* then it is enough */
	NEAR = 64,         /* operations: a second crash in the recovery from the first */
};

static const char *const model_names[DISK_NMODELS] = {"kill", "lost", "torn"};
static const char *const model_texts[DISK_NMODELS] = {"killed",
						      "power cut, what was not synced is lost",
						      "power cut, what was not synced is torn"};

struct shared { /* with the copies */
	uint64_t continued, same, twice;
	uint64_t seen[SEEN_MAX];
};

struct child {
	pid_t pid;
	struct crash_plan plan;
};

struct tally {
	uint64_t runs, failed;
};

static struct options {
	int64_t every, first, again, pairs, seed, jobs;
	const char *model, *model_again;
	bool lists, trace;
} options = {.every = 1, .pairs = 2000, .seed = 1, .model = "kill", .model_again = "kill"};

static const struct opt crash_opts[] = {
	{"every", 0, OPT_NUMBER, "N", "at every Nth write only (default: 1)",
	 offsetof(struct options, every), 1, INT64_MAX},
	{"pairs", 0, OPT_NUMBER, "N", "how many die twice (default: 2000)",
	 offsetof(struct options, pairs), 0, PAIRS_MAX},
	{"seed", 0, OPT_NUMBER, "N", "of the dice that choose those",
	 offsetof(struct options, seed), 0, INT64_MAX},
	{"jobs", 0, OPT_NUMBER, "N", "side by side (default: one for each processor)",
	 offsetof(struct options, jobs), 1, COPIES_MAX},
	{"first", 0, OPT_NUMBER, "N", "at this write", offsetof(struct options, first), 0,
	 INT64_MAX},
	{"model", 0, OPT_TEXT, "MODEL", "kill, or a power cut: lost or torn (default: kill)",
	 offsetof(struct options, model), 0, 0},
	{"again", 0, OPT_NUMBER, "N", "and at this one after the restart",
	 offsetof(struct options, again), 0, INT64_MAX},
	{"model-again", 0, OPT_TEXT, "MODEL", "likewise", offsetof(struct options, model_again), 0,
	 0},
	{"lists", 0, OPT_FLAG, NULL, "the provider has no tokens, lists alone",
	 offsetof(struct options, lists), 0, 0},
	{"trace", 0, OPT_FLAG, NULL, "tell all that happens", offsetof(struct options, trace), 0,
	 0},
};

static const struct tool tool = {
	.name = "crash",
	.about = "usage: crash [--every N] [--pairs N] [--seed N] [--jobs N]\n"
		 "       crash --first N [--model MODEL] [--again N --model-again MODEL]\n"
		 "             [--lists] [--trace]\n"
		 "\n"
		 "One life of burstd, which dies at every write, and then twice: each death must\n"
		 "come to the same end as a life without one.  The second form dies one of these\n"
		 "deaths again.\n",
	.exits = "exit: 0 all came to the same end, 1 one did not (\"# FAILED\" says which,\n"
		 "\"# replay\" how to see it again), 2 usage\n",
	.opts = crash_opts,
	.nopts = sizeof(crash_opts) / sizeof(crash_opts[0]),
	.object = &options,
};

static enum disk_model parse_model(const char *text)
{
	for (int m = 0; m < DISK_NMODELS; m++)
		if (strcmp(text, model_names[m]) == 0)
			return (enum disk_model)m;
	tool_misuse(&tool, "want kill, lost or torn");
}

enum mode { ONE, EACH, PAIRS };

static struct {
	enum mode mode;
	bool tokens, is_child;
	struct shared *shared;
	uint64_t key; /* of this copy; 0: none */
	struct child children[COPIES_MAX];
	long running;
	struct tally tally[DISK_NMODELS + 1]; /* the last: pairs */
	struct crash_plan *pairs;
	size_t npairs, next;
	struct crash_plan failed; /* the first that did */
	uint64_t failures;
	uint64_t total; /* operations without a crash */
	uint64_t start; /* of them before burstd is up for the first time */
} run;

struct crash crash;

/* --- reports ---------------------------------------------------------------------------------- */

static void print_replay(const struct crash_plan *p)
{
	(void)fprintf(stderr, "# replay: crash --first %" PRIu64 " --model %s", p->at,
		      model_names[p->model]);
	if (p->again != 0)
		(void)fprintf(stderr, " --again %" PRIu64 " --model-again %s", p->again,
			      model_names[p->model_again]);
	(void)fprintf(stderr, "%s --trace\n", run.tokens ? "" : " --lists");
}

static void report(const struct crash *c)
{
	(void)fprintf(stderr, "# FAILED: %s\n", c->w.why);
	print_replay(&c->plan);
}

static void on_abort(int signum)
{
	(void)fprintf(stderr, "# signal %d\n", signum);
	print_replay(&crash.plan);
	_exit(1);
}

/* --- copies ----------------------------------------------------------------------------------- */

static uint64_t *seen(uint64_t key)
{
	size_t i = (size_t)(key % SEEN_MAX);

	while (run.shared->seen[i] != 0 && run.shared->seen[i] != key)
		i = (i + 1) % SEEN_MAX;
	return &run.shared->seen[i];
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	return a ^ (a >> 29);
}

void run_has_begun(struct crash *c, uint64_t disk)
{
	if (run.start == 0)
		run.start = c->ops;
	if (!run.is_child || c->plan.again != 0 || c->deaths != 1 || run.key != 0)
		return;
	/* How long it was away matters, too. */
	run.key = mix(mix(mix(c->moment, disk), c->plan.model == DISK_KILL), run.tokens) | 1;
	if (*seen(run.key) != run.key)
		return;
	(void)__atomic_add_fetch(&run.shared->same, 1, __ATOMIC_RELAXED);
	_exit(0);
}

_Noreturn static void child_ends(const struct crash *c)
{
	if (c->w.failed) {
		report(c);
		_exit(1);
	}
	if (run.key != 0)
		*seen(run.key) = run.key;
	(void)__atomic_add_fetch(&run.shared->continued, 1, __ATOMIC_RELAXED);
	if (c->deaths > 1)
		(void)__atomic_add_fetch(&run.shared->twice, 1, __ATOMIC_RELAXED);
	_exit(0);
}

static void count(const struct child *k, bool failed)
{
	struct tally *t = &run.tally[k->plan.again != 0 ? DISK_NMODELS : k->plan.model];

	t->runs++;
	t->failed += failed;
	if (failed && run.failures++ == 0)
		run.failed = k->plan;
}

static void wait_one(void)
{
	int status = 0;
	pid_t pid;

	do
		pid = waitpid(-1, &status, 0);
	while (pid < 0 && errno == EINTR);
	for (long i = 0; i < run.running; i++)
		if (run.children[i].pid == pid) {
			struct child k = run.children[i];

			run.children[i] = run.children[--run.running];
			if (!WIFEXITED(status)) {
				(void)fprintf(stderr, "# FAILED: a copy ended by signal %d\n",
					      WTERMSIG(status));
				print_replay(&k.plan);
			}
			count(&k, !WIFEXITED(status) || WEXITSTATUS(status) != 0);
			return;
		}
}

/* true: in the copy, which dies now. */
static bool spawn(struct crash *c, const struct crash_plan *p)
{
	const struct itimerval hang = {.it_value = {.tv_sec = CHILD_S}};
	struct child *k;

	if (run.failures >= FAILURES_MAX)
		return false;
	while (run.running >= options.jobs)
		wait_one();
	(void)fflush(NULL);
	k = &run.children[run.running];
	k->plan = *p;
	k->pid = fork();
	if (k->pid < 0) {
		perror("fork");
		exit(2);
	}
	if (k->pid > 0) {
		run.running++;
		return false;
	}
	run.is_child = true;
	c->plan = *p;
	(void)setitimer(ITIMER_PROF, &hang, NULL);
	return true;
}

bool run_is_due(struct crash *c)
{
	if (run.mode == ONE || run.is_child)
		return c->ops == c->plan.at || (c->plan.again != 0 && c->ops == c->plan.again);
	if (run.mode == EACH && c->ops % (uint64_t)options.every == 0) {
		for (int m = 0; m < DISK_NMODELS; m++)
			if (spawn(c,
				  &(struct crash_plan){.at = c->ops, .model = (enum disk_model)m}))
				return true;
	}
	while (run.mode == PAIRS && run.next < run.npairs && run.pairs[run.next].at == c->ops)
		if (spawn(c, &run.pairs[run.next++]))
			return true;
	return false;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void run_world(const struct crash_plan *plan, bool trace)
{
	story_begin(&crash, run.tokens, trace);
	crash.w.echo = trace;
	if (plan != NULL)
		crash.plan = *plan;
	story_run(&crash);
	if (run.is_child)
		child_ends(&crash);
	while (run.running > 0)
		wait_one();
}

/* The world that goes on; false: it, or a copy, failed. */
static bool run_all(enum mode mode)
{
	const char *lacks;

	run.mode = mode;
	run_world(NULL, false);
	run.total = crash.ops;
	lacks = story_lacks(&crash);
	if (crash.w.failed)
		report(&crash);
	else if (lacks != NULL)
		(void)fprintf(stderr, "# FAILED: the story lacks %s\n", lacks);
	if (!crash.w.failed)
		story_end(&crash);
	return !crash.w.failed && lacks == NULL;
}

static uint64_t dice(uint64_t *s)
{
	uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static int by_at(const void *a, const void *b)
{
	const struct crash_plan *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

/* Each death in the very first start, and a power cut when burstd is up: is all that the first one
 * had made on the disk for good? */
static void throw_starts(uint64_t *s)
{
	for (uint64_t at = 1; at <= run.start; at++)
		for (int m = 0; m < DISK_NMODELS; m++)
			run.pairs[run.npairs++] = (struct crash_plan){
				.at = at,
				.model = (enum disk_model)m,
				.again = run.start + NEAR + dice(s) % (run.total / 2),
				.model_again = DISK_LOST};
}

/* Half of the second crashes come in the recovery from the first. */
static void throw_pairs(uint64_t n)
{
	uint64_t s = (uint64_t)options.seed * 2 + run.tokens;

	run.npairs = run.next = 0;
	if (n > 0)
		throw_starts(&s);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = 1 + dice(&s) % run.total, left = run.total - at + 1;
		struct crash_plan *p = &run.pairs[run.npairs++];

		*p = (struct crash_plan){.at = at,
					 .model = (enum disk_model)(dice(&s) % DISK_NMODELS),
					 .model_again = (enum disk_model)(dice(&s) % DISK_NMODELS)};
		p->again = at + 1 + dice(&s) % (i % 2 == 0 ? NEAR : left);
	}
	qsort(run.pairs, run.npairs, sizeof(*run.pairs), by_at);
}

static void print_counts(const struct crash *c)
{
	(void)printf("# a provider with %s: %" PRIu64 " operations:",
		     run.tokens ? "tokens" : "lists alone", c->ops);
	for (int op = 0; op < OP_NOPS; op++)
		(void)printf(" %" PRIu64 " %s%s", c->count[op], disk_op_names[op],
			     op + 1 < OP_NOPS ? "," : "\n");
	(void)fflush(stdout);
}

/* The first failure again, to tell its story. */
static void tell(void)
{
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		run.mode = ONE;
		story_begin(&crash, run.tokens, true);
		crash.plan = run.failed;
		story_run(&crash);
		for (unsigned i = 0; i < SIM_TRACE_LINES; i++)
			(void)fprintf(stderr, "# %s\n",
				      crash.w.trace[(crash.w.trace_n + i) % SIM_TRACE_LINES]);
		report(&crash);
		_exit(1);
	}
	(void)waitpid(pid, NULL, 0);
}

static bool run_provider(bool tokens)
{
	bool good;

	run.tokens = tokens;
	good = run_all(EACH);
	if (!good)
		return false;
	print_counts(&crash);
	throw_pairs((uint64_t)options.pairs / 2);
	good = options.pairs == 0 || run_all(PAIRS);
	if (run.failures > 0)
		tell();
	return good && run.failures == 0;
}

static void print_tally(int i, const char *what)
{
	const struct tally *t = &run.tally[i];

	if (t->failed > 0)
		(void)printf("not ok %d - crash: %s: %" PRIu64 " of %" PRIu64
			     " deaths came to another end than a life without one\n",
			     i + 1, what, t->failed, t->runs);
	else if (t->runs == 0)
		(void)printf("not ok %d - crash: %s: nothing died\n", i + 1, what);
	else
		(void)printf("ok %d - crash: %s: %" PRIu64
			     " deaths, all came to the same end as a life without one\n",
			     i + 1, what, t->runs);
}

static int run_everything(void)
{
	bool good;

	run.pairs = calloc(PAIRS_MAX + STARTS_MAX, sizeof(*run.pairs));
	if (run.pairs == NULL)
		return 2;
	good = run_provider(true) && run_provider(false);
	(void)printf("# %" PRIu64 " followed to the end, %" PRIu64
		     " found like one before after the restart, %" PRIu64 " died twice\n",
		     run.shared->continued, run.shared->same, run.shared->twice);
	(void)printf("1..%d\n", DISK_NMODELS + (options.pairs > 0));
	for (int m = 0; m < DISK_NMODELS; m++)
		print_tally(m, model_texts[m]);
	if (options.pairs > 0)
		print_tally(DISK_NMODELS, "twice");
	free(run.pairs);
	return good ? 0 : 1;
}

static int run_one(void)
{
	const struct crash_plan p = {.at = (uint64_t)options.first,
				     .again = (uint64_t)options.again,
				     .model = parse_model(options.model),
				     .model_again = parse_model(options.model_again)};

	run.mode = ONE;
	run.tokens = !options.lists;
	run_world(&p, options.trace);
	if (crash.w.failed) {
		report(&crash);
		return 1;
	}
	print_counts(&crash);
	story_end(&crash);
	(void)printf("crash: ok: it came to a good end\n");
	return 0;
}

/* --- the command line --------------------------------------------------------------------------
 */

static void read_options(int argc, char **argv)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	options.jobs = n < 1 ? 1 : n < COPIES_MAX ? n : COPIES_MAX;
	tool_options(&tool, argc, argv);
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	vfs_register();
	(void)signal(SIGABRT, on_abort);
	run.shared = mmap(NULL, sizeof(*run.shared), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run.shared == MAP_FAILED)
		return 2;
	return options.first != 0 ? run_one() : run_everything();
}
