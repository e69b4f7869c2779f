/* intake.c: when squeue is asked though there is a resume file, and what becomes of its answer. */
#include "loaded_engine.h"

#include <time.h>

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "core/wish.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "store/journal_events.h"

static struct conf_offer make_offer(const char *name, int market)
{
	return (struct conf_offer){.name = mem_strdup(name),
				   .provider = mem_strdup("cloud"),
				   .type = mem_strdup("t"),
				   .region = mem_strdup("r"),
				   .zone = mem_strdup(name),
				   .jurisdiction = mem_strdup(""),
				   .price_nano_h = 1,
				   .market = market};
}

/* An engine whose pool has offers to choose from, or lets comments choose. */
static void load(struct fix *f, size_t offers, bool comments)
{
	struct conf *c = make_conf();
	struct conf_pool *p = &c->pools[0];

	p->job_comment = comments;
	p->spot_share = 100;
	p->offers = mem_zalloc(2 * sizeof(*p->offers));
	if (offers > 0)
		p->offers[p->noffers++] = make_offer("o", PROVIDER_ON_DEMAND);
	if (offers > 1)
		p->offers[p->noffers++] = make_offer("s", PROVIDER_SPOT);
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
}

static bool is_bought(const struct fix *f, const char *node)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, node);

	return nm != NULL && fleet_exists(nm);
}

#define OLD  "{\"jobs\":[{\"job_id\":7,\"nodes\":\"c[1-2]\"}],\"all_nodes\":\"c[1-2]\"}"
#define NEW  "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c[1-2]\"}]}"
#define TWO  "{\"jobs\":[{\"job_id\":7,\"nodes\":\"c1\"},{\"job_id\":8,\"nodes\":\"c2\"}]}"
#define NONE "{\"jobs\":[]}"

static const struct {
	const char *name, *list, *file;
	size_t offers;
	bool comments, asks;
	enum wish_need need;
} rows[] = {
	{"no offers", "c[1-2]", OLD, 0, false, false, WISH_NOTHING},
	{"no offers, no file", "c[1-2]", NULL, 0, false, true, WISH_NOTHING},
	{"no offers, no file, one node", "c1", NULL, 0, false, false, WISH_NOTHING},
	{"offers, as 22.05 has it", "c[1-2]", OLD, 2, false, true, WISH_CONSTRAINT},
	{"offers, with the constraint", "c[1-2]", NEW, 2, false, false, WISH_NOTHING},
	{"offers, no file, one node", "c1", NULL, 2, false, true, WISH_CONSTRAINT},
	{"offers, an admin's power-up", "c[1-2]", NONE, 2, false, false, WISH_NOTHING},
	{"comments", "c[1-2]", NEW, 0, true, true, WISH_COMMENT},
	{"comments of a pool with offers", "c[1-2]", OLD, 2, true, true, WISH_COMMENT},
	{"A4: one is left, as 22.05 has it", "c[1-2]", OLD, 1, false, true, WISH_CONSTRAINT},
};

static void test_squeue_is_asked_for_wishes_that_are_not_known(void **state)
{
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		load(f, rows[i].offers, rows[i].comments);
		call(f, rows[i].list, rows[i].file);
		assert_int_equal(f->e->jobs->wanted, rows[i].asks ? JOBS_FOR_INTAKE : 0);
		assert_int_equal(f->e->jobs->wishes_wanted, rows[i].need);
		assert_int_equal(f->e->buy->calls != NULL, rows[i].asks);
		assert_int_equal(is_bought(f, "c1"), !rows[i].asks);
		engine_free(f->e);
		f->e = NULL;
	}
}

/* As jobs_part.at[PART_SEND]() does when squeue is started, and later has answered. */
static void squeue(struct fix *f, const char *text, size_t len, const struct err *err)
{
	f->e->jobs->running = f->e->jobs->wanted;
	f->e->jobs->wanted = 0;
	f->e->jobs->wishes_wanted = WISH_NOTHING;
	intake_part.squeue_begins(f->e);
	jobs_answer(f->e, text, len, err);
}

struct told {
	size_t n;
	char detail[300];
};

static int on_event(void *ctx, const struct journal_event *ev)
{
	struct told *t = ctx;

	if (strcmp(ev->type, "job-comment") != 0)
		return 0;
	t->n++;
	(void)snprintf(t->detail, sizeof(t->detail), "%s", ev->detail);
	return 0;
}

static struct told events(struct fix *f)
{
	struct told t = {0};

	assert_int_equal(journal_events(f->journal, 0, NULL, 100, on_event, &t, NULL), 0);
	return t;
}

/* F47, F54: what has waited for squeue for minutes, or while burstd stood still, slurmctld may want
 * no more: a snapshot decides, soon. */
static void test_a_call_that_waited_for_long_is_not_enough(void **state)
{
	static const struct {
		int64_t waited_ms;
		bool bought;
	} waits[] = {{59000, true}, {61000, false}};
	struct fix *f = *state;
	int64_t poll_next;

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		load(f, 0, false);
		call(f, "c[1-2]", NULL); /* asks */
		call(f, "c3", NULL);     /* waits behind it */
		for (struct fresh_call *p = f->e->buy->calls; p != NULL; p = p->next)
			p->since_ms -= waits[i].waited_ms;
		f->e->poll.began_ms = engine_now(f->e);
		poll_next = f->e->poll.next_ms = engine_now(f->e) + 60000;
		squeue(f, "", 0, NULL);
		f->e->left = ENGINE_SEND;
		intake_part.at[PART_RUN](f->e);
		assert_null(f->e->buy->calls);
		assert_int_equal(is_bought(f, "c1"), waits[i].bought);
		assert_int_equal(is_bought(f, "c3"), waits[i].bought);
		assert_int_equal(f->e->count.calls[CALL_RESUME], 2);
		if (!waits[i].bought)
			assert_true(f->e->poll.next_ms < poll_next);
		engine_free(f->e);
		f->e = NULL;
	}
}

/* F47, F54: what was wanted before burstd stood still, or slurmctld fell silent, waits for a word
 * of slurmctld's. */
static void test_what_was_wanted_long_ago_waits_for_a_snapshot(void **state)
{
	static const struct {
		int64_t wanted_ms, snapshot_ms; /* so long ago; 0: no snapshot yet */
		size_t go;
	} ages[] = {
		{0, 0, 1}, {89000, 0, 1}, {91000, 0, 0}, {91000, 89000, 1}, {600000, 91000, 0},
	};
	struct fix *f = *state;
	struct fleet_node **all;
	struct node *n;

	load(f, 0, false);
	f->e->started_ms -= 3600000;
	f->e->cloud->all[0].listed = true;
	call(f, "c1", NULL);
	n = &fleet_find(&f->e->fleet, "c1")->newest->n;
	assert_int_equal(n->state, NODE_WANTED);
	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		n->wanted_ms = engine_now(f->e) - ages[i].wanted_ms;
		f->e->poll.snapshot_ms =
			ages[i].snapshot_ms != 0 ? engine_now(f->e) - ages[i].snapshot_ms : 0;
		assert_int_equal(wanted_collect(f->e, &all), ages[i].go);
		free(all);
	}
	/* Nor is what was wanted before our start, until slurmctld has spoken (I13). */
	n->wanted_ms = f->e->started_ms = engine_now(f->e);
	for (size_t spoken = 0; spoken < 2; spoken++) {
		f->e->poll.snapshot_ms = spoken == 0 ? 0 : engine_now(f->e);
		assert_int_equal(wanted_collect(f->e, &all), spoken);
		free(all);
	}
}

/* Likewise what an old snapshot showed, or one place refused long ago, once squeue has answered. */
static void test_what_was_shown_long_ago_is_not_bought(void **state)
{
	static const struct {
		int64_t age_ms;
		bool bought;
	} ages[] = {{0, true}, {89000, true}, {91000, false}, {600000, false}};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		struct fleet_name *nm, *refused;

		load(f, false, false);
		f->e->poll.snapshot_ms = engine_now(f->e) - ages[i].age_ms;
		nm = fleet_name(&f->e->fleet, "c1", 0);
		nm->flags = SLURM_KNOWN | SLURM_POWERING_UP;
		f->e->buy->wanted = mem_strdup("c1");
		refused = fleet_name(&f->e->fleet, "c2", 0);
		refused->climbs = f->e->buy->climbing = true;
		intake_part.at[PART_RUN](f->e);
		squeue(f, "", 0, NULL);
		assert_int_equal(is_bought(f, "c1"), ages[i].bought);
		assert_int_equal(is_bought(f, "c2"), ages[i].bought);
		assert_null(f->e->buy->wanted);
		assert_false(refused->climbs || f->e->buy->climbing);
		engine_free(f->e);
		f->e = NULL;
	}
}

/* Nor what was refused meanwhile: its job is on its way back into the queue. */
static void test_what_is_refused_meanwhile_is_not_bought(void **state)
{
	struct fix *f = *state;

	for (int barred = 0; barred < 2; barred++) {
		struct fleet_name *shown, *climber;

		load(f, false, false);
		f->e->poll.snapshot_ms = engine_now(f->e);
		shown = fleet_name(&f->e->fleet, "c1", 0);
		shown->flags = SLURM_KNOWN | SLURM_POWERING_UP;
		f->e->buy->wanted = mem_strdup("c1");
		climber = fleet_name(&f->e->fleet, "c2", 0);
		climber->climbs = f->e->buy->climbing = true;
		intake_part.at[PART_RUN](f->e);
		shown->barred = climber->barred = barred;
		squeue(f, "", 0, NULL);
		assert_int_equal(is_bought(f, "c1"), !barred);
		assert_int_equal(is_bought(f, "c2"), !barred);
		engine_free(f->e);
		f->e = NULL;
	}
}

/* Else its node would be sent back no sooner than a while after the last time, be held back until
 * the next snapshot, or not be tried at a place that has refused it before. */
static void test_a_call_forgets_what_was_before_it(void **state)
{
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f, 0, false);
	nm = fleet_name(&f->e->fleet, "c1", 0);
	nm->barred = nm->climbs = true;
	nm->refused = NODE_BECAUSE_CAPACITY;
	nm->tried = 1;
	nm->waits_for = 7;
	nm->forced_ms = nm->missing_ms = nm->useless_ms = engine_now(f->e);
	(void)snprintf(nm->why, sizeof(nm->why), "none left");
	call(f, "c1", NULL);
	assert_true(is_bought(f, "c1"));
	assert_false(nm->barred || nm->climbs);
	assert_int_equal(nm->refused, NODE_BECAUSE_NONE);
	assert_int_equal(nm->tried, 0);
	assert_int_equal(nm->waits_for, 0);
	assert_int_equal(nm->forced_ms, 0);
	assert_int_equal(nm->missing_ms, 0);
	assert_int_equal(nm->useless_ms, 0);
	assert_string_equal(nm->why, "");
}

/* Two jobs of two calls are two gangs, each of which is bought, placed and refused whole. */
static void test_the_gangs_of_two_calls_are_two(void **state)
{
	static const char second[] = "{\"jobs\":[{\"job_id\":8,\"nodes\":\"c[3-4]\"}]}";
	struct fix *f = *state;
	struct conf *c = one_pool("c[1-4]", 4);
	uint32_t group[4];

	assert_int_equal(conf_finish(c, NULL), 0);
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	call(f, "c[1-2]", OLD);
	call(f, "c[3-4]", second);
	for (int i = 0; i < 4; i++) {
		char name[] = {'c', (char)('1' + i), '\0'};

		assert_true(is_bought(f, name));
		group[i] = fleet_find(&f->e->fleet, name)->newest->n.group;
	}
	assert_true(group[0] != 0 && group[0] == group[1]);
	assert_true(group[2] != 0 && group[2] == group[3]);
	assert_int_not_equal(group[0], group[2]);
}

/* What its comment says is over in a moment, not when it would be looked at by itself. */
static void test_who_is_bought_for_is_looked_at_soon(void **state)
{
	const struct slurm_job_detail d = {.number = 7, .pending = true, .comment = {"", 0}};
	struct fix *f = *state;

	load(f, 0, false);
	postpone_say(f->e, &d, "7", "burstd: lost node c9");
	postpone_part.at[PART_RUN](f->e);
	assert_true(f->e->jobs->postpone_next > engine_now(f->e) + 30000);
	call(f, "c[1-2]", OLD);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.job, 7);
	postpone_part.at[PART_RUN](f->e);
	assert_true(f->e->jobs->postpone_next <= engine_now(f->e) + 5000);
}

/* A row as SLURM_COMMENT_FORMAT has it. */
static size_t add_row(char *out, const char *row, const char *comment)
{
	return (size_t)sprintf(out, "%s%-*s\n", row, SLURM_COMMENT_WIDTH, comment);
}

/* The resume file said what job 7 has; squeue, asked later, is believed about its wishes only. */
static void test_wishes_are_added_to_the_jobs_of_the_file(void **state)
{
	static char text[4 * (SLURM_COMMENT_WIDTH + 100)];
	struct fix *f = *state;
	struct told t;
	size_t n = 0;

	load(f, 0, true);
	call(f, "c[1-2]", TWO);
	assert_int_equal(f->e->buy->calls->demand.njobs, 2);
	n += add_row(text + n, "7|7|CONFIGURING|gpu|None|c[1-3]|(null) ", "burst:spott");
	n += add_row(text + n, "8|8|CONFIGURING|gpu|None|c[1-3]|(null) ", "burst:EUR,nonsense");
	squeue(f, text, n, NULL);
	assert_null(f->e->buy->calls);
	assert_true(is_bought(f, "c1"));
	assert_false(is_bought(f, "c3"));
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.job, 7);
	/* What looks like a place and is none allows nothing. */
	assert_false(is_bought(f, "c2"));
	assert_true(fleet_find(&f->e->fleet, "c2")->barred);
	assert_non_null(strstr(fleet_find(&f->e->fleet, "c2")->why, "EUR only: r is in"));
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.group, 0); /* no gang */
	t = events(f);
	assert_int_equal(t.n, 1);
	assert_non_null(strstr(t.detail, "job 7: comment: \"spott\" was left out"));
	assert_non_null(strstr(t.detail, "2 jobs, such as"));
}

static void test_one_event_tells_of_all_comments(void **state)
{
	static char text[4 * (SLURM_COMMENT_WIDTH + 100)];
	struct fix *f = *state;
	struct told t;
	size_t n = 0;

	load(f, 0, true);
	call(f, "c[1-3]", NULL);
	n += add_row(text + n, "7|7|CONFIGURING|gpu|None|c1|(null) ", "burst:one");
	n += add_row(text + n, "8|8|CONFIGURING|gpu|None|c2|(null) ", "burst:spot");
	n += add_row(text + n, "9|9|CONFIGURING|gpu|None|c3|(null) ", "burst:two");
	squeue(f, text, n, NULL);
	t = events(f);
	assert_int_equal(t.n, 1);
	assert_non_null(strstr(t.detail, "2 jobs, such as: job 7: comment: \"one\""));
	assert_true(is_bought(f, "c3"));
}

/* Nodes that a snapshot showed wanted, and nobody asked for. */
static void test_jobs_of_wanted_nodes_are_asked_for_with_their_wishes(void **state)
{
	static char text[SLURM_COMMENT_WIDTH + 100];
	static const char snapshot[] = "NodeName=c1 State=ALLOCATED+CLOUD+POWERING_UP\n";
	struct fix *f = *state;
	size_t n;

	load(f, 2, true);
	f->e->cloud->all[0].listed = true;
	assert_int_equal(
		slurm_parse_nodes(snapshot, sizeof(snapshot) - 1, observe_node, f->e, NULL), 1);
	observe_snapshot(f->e, loop_now(f->loop), NULL);
	assert_string_equal(f->e->buy->wanted, "c1");
	intake_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wishes_wanted, WISH_COMMENT);
	n = add_row(text, "7|7|CONFIGURING|gpu|None|c1|spot ", "burst:spott");
	squeue(f, text, n, NULL);
	assert_true(is_bought(f, "c1"));
	assert_int_equal(events(f).n, 1);
}

/* Whose wishes are not known is not bought for: the next look asks again. */
static void test_nothing_is_bought_when_squeue_cannot_tell(void **state)
{
	static char text[2 * (SLURM_COMMENT_WIDTH + 100)];
	const struct err err = {.code = ERR_NET, .msg = "squeue: exit status 1"};
	struct fix *f = *state;
	size_t n;

	load(f, 0, true);
	call(f, "c[1-2]", OLD);
	squeue(f, NULL, 0, &err);
	assert_null(f->e->buy->calls);
	assert_false(is_bought(f, "c1"));
	call(f, "c[1-2]", OLD);
	n = add_row(text, "7|7|CONFIGURING|gpu|None|c[1-2]|(null) ", "");
	n += (size_t)sprintf(text + n, "8|8|CONFIGURING|gpu|None|c3|(null) short\n");
	squeue(f, text, n, NULL);
	assert_null(f->e->buy->calls);
	assert_false(is_bought(f, "c1"));
}

/* A job that squeue does not show any more is over, most likely: nothing is bought for it, for what
 * it may not have is not known. */
static void test_who_is_not_in_the_queue_is_not_bought_for(void **state)
{
	static const char text[] = "8|8|CONFIGURING|gpu|None|c2|ondemand\n";
	struct fix *f = *state;

	load(f, 2, false);
	call(f, "c[1-2]", TWO);
	squeue(f, text, sizeof(text) - 1, NULL);
	assert_false(is_bought(f, "c1"));
	assert_false(fleet_find(&f->e->fleet, "c1")->barred); /* the next look decides */
	assert_true(is_bought(f, "c2"));
	assert_string_equal(fleet_find(&f->e->fleet, "c2")->newest->n.offer, "o");
}

/* --- calls for nodes that slurmctld does not want (F46, ADR 2) --- */

static void snapshot(struct fix *f, const char *state)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "NodeName=c1 State=%s\n", state);
	const struct timespec tick = {0, 2000000}; /* it began after what was done */

	(void)nanosleep(&tick, NULL);
	assert_int_equal(slurm_parse_nodes(text, (size_t)n, observe_node, f->e, NULL), 1);
	(void)observe_snapshot(f->e, loop_now(f->loop), NULL);
	while (f->e->diff->look != NULL)
		(void)observe_some(f->e);
	engine_commit(f->e);
	intake_part.at[PART_RUN](f->e);
}

static uint64_t bought(const struct fix *f, const char *node)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, node);

	return nm != NULL ? nm->last_gen : 0;
}

#define WISHES(nodes, constraint)                                                                  \
	"{\"jobs\":[{\"job_id\":1,\"features\":\"" constraint "\",\"nodes_alloc\":\"" nodes "\"}]" \
	"}"

static bool is_wanted(const struct fix *f, const char *node, uint64_t gen, int market)
{
	const struct fleet_node *fn = fleet_live(fleet_find(&f->e->fleet, node));

	return fn != NULL && fn->n.state == NODE_WANTED && fn->n.gen == gen &&
	       (int)fn->n.market == market;
}

/* F50: slurmctld has lost its state and counts jobs from 1 again.  What waits to be sent for a job
 * 1 of before is not the new one's, be it named in this call or, where calls are split, in the
 * next. */
static void test_another_job_of_the_same_number_has_its_own_wishes(void **state)
{
	struct fix *f = *state;

	load(f, 2, false);
	for (int twice = 0; twice < 2; twice++) { /* F46: a call that is repeated changes nothing */
		call(f, "c[1-2]", WISHES("c[1-2]", "spot"));
		assert_true(is_wanted(f, "c1", 1, PROVIDER_SPOT));
		assert_true(is_wanted(f, "c2", 1, PROVIDER_SPOT));
	}
	call(f, "c1", WISHES("c[1-2]", "ondemand"));
	assert_true(is_wanted(f, "c1", 2, PROVIDER_ON_DEMAND));
	assert_false(is_bought(f, "c2"));
	call(f, "c2", WISHES("c[1-2]", "ondemand"));
	assert_true(is_wanted(f, "c1", 2, PROVIDER_ON_DEMAND));
	assert_true(is_wanted(f, "c2", 2, PROVIDER_ON_DEMAND));
}

/* A thousand calls would buy a thousand machines, each for the least time that is billed. */
static void test_a_node_that_was_let_go_unused_is_not_bought_by_calls(void **state)
{
	struct fix *f = *state;

	load(f, 0, false);
	f->e->cloud->all[0].listed = true;
	call(f, "c1", NULL);
	assert_int_equal(bought(f, "c1"), 1); /* the first one is enough */
	snapshot(f, "IDLE+CLOUD+POWERED_DOWN");
	assert_false(is_bought(f, "c1"));
	for (int i = 0; i < 100; i++) {
		f->e->poll.next_ms = INT64_MAX;
		call(f, "c1", NULL);
		assert_int_equal(bought(f, "c1"), 1);
		assert_true(f->e->poll.next_ms < INT64_MAX); /* it is looked at soon */
		assert_null(f->e->buy->calls);
	}
	call(f, "c[1-2]", OLD); /* nor the others that one call names with it */
	assert_int_equal(bought(f, "c2"), 0);
	call(f, "c2", NULL);
	assert_int_equal(bought(f, "c2"), 1);
	snapshot(f, "ALLOCATED+CLOUD+POWERING_UP");
	squeue(f, "7|7|CONFIGURING|gpu|None|c1\n", 28, NULL);
	assert_int_equal(bought(f, "c1"), 2);
}

/* F46: nor when one of an earlier life is found meanwhile, and is up; until a later one is. */
static void test_an_older_machine_says_nothing_of_one_let_go_unused(void **state)
{
	static const uint64_t found[] = {2, 7}; /* generations */
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f, false, false);
	f->e->d.gen_floor = 5;
	call(f, "c1", NULL);
	nm = fleet_find(&f->e->fleet, "c1");
	assert_int_equal(nm->last_gen, 6);
	for (size_t i = 0; i < 2; i++) {
		struct node_event up = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(f->e)};
		struct fleet_node *fn;
		struct node n;

		snapshot(f, "IDLE+CLOUD+POWERED_DOWN");
		call(f, "c1", NULL);
		assert_int_equal(nm->last_gen, 6);
		node_init(&n, "c1", found[i], engine_now(f->e));
		n.state = NODE_BOOTING;
		(void)snprintf(n.instance, sizeof(n.instance), "i-%zu", i);
		fn = engine_insert(f->e, &n, "found");
		engine_post(f->e, fn, &up);
		engine_commit(f->e);
		assert_int_equal(fn->n.state, NODE_READY);
	}
	assert_int_equal(nm->unused_ms, 0);
}

static void test_a_call_is_enough_again_after_five_minutes(void **state)
{
	struct fix *f = *state;

	load(f, 0, false);
	call(f, "c1", NULL);
	snapshot(f, "IDLE+CLOUD+POWERED_DOWN");
	fleet_find(&f->e->fleet, "c1")->unused_ms -= 5 * 60000 - 1000;
	call(f, "c1", NULL);
	assert_int_equal(bought(f, "c1"), 1);
	fleet_find(&f->e->fleet, "c1")->unused_ms -= 1000;
	call(f, "c1", NULL);
	assert_int_equal(bought(f, "c1"), 2);
}

/* Whoever let it go: only slurmctld's own word says that nobody wanted it; and what was up was
 * wanted. */
static void test_of_other_nodes_a_call_is_enough(void **state)
{
	static const struct {
		enum node_reason why;
		bool up, again;
	} ways[] = {
		{NODE_BECAUSE_CAPACITY, false, true},
		{NODE_BECAUSE_OPERATOR, false, true},
		{NODE_BECAUSE_SUSPENDED, false, false},
		{NODE_BECAUSE_SUSPENDED, true, true},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const char *name = i == 0 ? "c1" : i == 1 ? "c2" : "c3";
		struct node_event ev = {.type = NODE_EV_RELEASE, .reason = ways[i].why};
		struct provider_instance in = {.id = "i-1", .state = PROVIDER_ENDED};
		struct node_event end = {.type = NODE_EV_SEEN, .instance = &in};
		struct fleet_name *nm;
		uint64_t gen;

		load(f, 0, false);
		call(f, name, NULL);
		nm = fleet_find(&f->e->fleet, name);
		assert_true(is_bought(f, name));
		if (ways[i].up) {
			fleet_stage(nm->newest)->state = NODE_READY;
			(void)snprintf(nm->newest->next->instance, 8, "i-1");
			fleet_publish(&f->e->fleet, nm->newest);
		}
		ev.now_ms = end.now_ms = engine_now(f->e);
		engine_post(f->e, nm->newest, &ev);
		engine_commit(f->e);
		engine_post(f->e, nm->newest, &end);
		engine_commit(f->e);
		assert_false(is_bought(f, name));
		gen = nm->last_gen;
		call(f, name, NULL);
		assert_int_equal(nm->last_gen, gen + ways[i].again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_who_is_not_in_the_queue_is_not_bought_for,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_squeue_is_asked_for_wishes_that_are_not_known,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_call_that_waited_for_long_is_not_enough,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_wanted_long_ago_waits_for_a_snapshot,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_shown_long_ago_is_not_bought, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_refused_meanwhile_is_not_bought, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_call_forgets_what_was_before_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_gangs_of_two_calls_are_two, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_who_is_bought_for_is_looked_at_soon, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_wishes_are_added_to_the_jobs_of_the_file,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_event_tells_of_all_comments, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_jobs_of_wanted_nodes_are_asked_for_with_their_wishes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_bought_when_squeue_cannot_tell,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_node_that_was_let_go_unused_is_not_bought_by_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_an_older_machine_says_nothing_of_one_let_go_unused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_call_is_enough_again_after_five_minutes,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_other_nodes_a_call_is_enough, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_another_job_of_the_same_number_has_its_own_wishes, setup, teardown),
	};

	return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
