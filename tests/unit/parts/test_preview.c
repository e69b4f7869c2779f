/* preview.c and what place.c remembers: what a ladder is now, what would be bought for a job and
 * why not elsewhere; an admin's order to try again.  And that to look changes nothing. */
#include "loaded_engine.h"

#include "base/fmt.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "store/journal_events.h"

enum { NEAR, MID, FAR };

enum { SLOW_MS = 20000 }; /* the clock is the real one */

static void add_offer(struct conf_pool *p, const char *name, int market, int64_t price)
{
	p->offers = mem_realloc(p->offers, (p->noffers + 1) * sizeof(*p->offers));
	p->offers[p->noffers++] = (struct conf_offer){
		.name = mem_strdup(name),
		.provider = mem_strdup("cloud"),
		.type = mem_strdup("t"),
		.region = mem_strdup("r"),
		.zone = mem_strdup(name),
		.market = market,
		.jurisdiction = mem_strdup(market == PROVIDER_SPOT ? "US" : "DE"),
		.price_nano_h = price * FMT_NANO};
}

/* Three offers at 2, 3 (spot, overseas) and 5 an hour; at most 5 of 6 nodes, for 12 an hour. */
static struct conf *ladder_conf(void)
{
	struct conf *c = conf_new("burstd.conf");
	struct conf_pool *p;

	c->cluster = mem_strdup("test");
	memcpy(c->currency, "EUR", 4);
	c->state_dir = mem_strdup("/nowhere");
	c->listen = mem_strdup("");
	c->slurm_bin = mem_strdup("/nowhere");
	c->nproviders = 2; /* of the second nothing is bought */
	c->providers = mem_zalloc(2 * sizeof(*c->providers));
	for (size_t i = 0; i < 2; i++)
		c->providers[i] =
			(struct conf_provider){.name = mem_strdup(i == 0 ? "cloud" : "spare"),
					       .driver = mem_strdup("fake"),
					       .url = mem_strdup(""),
					       .settle_ms = 60000,
					       .list_ms = 30000,
					       .cooldown_ms = 60000,
					       .timeout_ms = 30000,
					       .concurrency = 4};
	c->npools = 1;
	c->pools = mem_zalloc(sizeof(*c->pools));
	p = &c->pools[0];
	*p = (struct conf_pool){.name = mem_strdup("pool"),
				.nodes_text = mem_strdup("c[1-6]"),
				.provider = mem_strdup(""),
				.type = mem_strdup(""),
				.region = mem_strdup(""),
				.zone = mem_strdup(""),
				.max_nodes = 5,
				.max_rate_nano_h = 12 * FMT_NANO,
				.spot_share = 100,
				.boot_ms = 600000};
	add_offer(p, "near", PROVIDER_ON_DEMAND, 2);
	add_offer(p, "mid", PROVIDER_SPOT, 3);
	add_offer(p, "far", PROVIDER_ON_DEMAND, 5);
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

/* c1 is up, bought near, and c2, far, at 2 each by then; all others are off. */
static struct engine *load(struct fix *f)
{
	struct journal_tx *tx = journal_begin(f->journal);

	for (int i = 1; i <= 2; i++) {
		struct node n;

		make_ready(f, i, &n);
		n.rate_nano_h = 2 * FMT_NANO;
		(void)snprintf(n.offer, sizeof(n.offer), "%s", i == 1 ? "near" : "far");
		(void)snprintf(n.provider, sizeof(n.provider), "cloud");
		journal_put_node(tx, &n, "pool");
	}
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, ladder_conf(), NULL), 0);
	return f->e;
}

static const struct conf_offer *offer(const struct engine *e, size_t i)
{
	return &e->conf->pools[0].offers[i];
}

/* A purchase of n nodes there was answered so. */
static void answered(struct engine *e, size_t rung, enum provider_code code, size_t n)
{
	struct provider_result r = {.code = code, .message = "no hosts left"};

	place_bought(e, offer(e, rung), &r, n, engine_now(e));
}

static struct engine_plan plan(struct engine *e, const struct engine_plan_ask *ask)
{
	struct engine_plan p;
	struct err err = {0};
	int rc = engine_plan(e, ask, &p, &err);

	print_message("# %u nodes: verdict %d, %s%s\n", ask->nodes, (int)p.verdict, p.why, err.msg);
	assert_int_equal(rc, 0);
	return p;
}

static void a_ladder_has_its_order_its_prices_and_what_is_bought_where(void **state)
{
	struct engine *e = load(*state);
	struct engine_ladder l;

	engine_ladder(e, 0, &l);
	assert_int_equal(l.n, 3);
	assert_ptr_equal(l.rungs[0].offer, offer(e, NEAR));
	assert_int_equal(l.rungs[0].place, 1);
	assert_int_equal(l.rungs[0].nodes, 1);
	assert_int_equal(l.rungs[0].price, 2 * FMT_NANO);
	assert_string_equal(l.rungs[0].why, "");
	assert_int_equal(l.rungs[2].place, 3);
	assert_int_equal(l.rungs[1].nodes, 0);
	assert_int_equal(l.rungs[2].nodes, 1);
	assert_int_equal(l.others, 0);
	assert_false(l.listed);
	e->cloud->all[0].listed = true;
	engine_ladder(e, 0, &l);
	assert_true(l.listed);
	/* Its offer was taken out of the configuration. */
	memcpy(fleet_find(&e->fleet, "c2")->newest->n.offer, "old", sizeof("old"));
	engine_ladder(e, 0, &l);
	assert_int_equal(l.rungs[2].nodes, 0);
	assert_int_equal(l.others, 1);
}

static void what_refused_is_left_out_with_the_reason_and_what_was_said(void **state)
{
	struct engine *e = load(*state);
	struct engine_ladder l;

	answered(e, NEAR, PROVIDER_CAPACITY, 3);
	engine_ladder(e, 0, &l);
	assert_ptr_equal(l.rungs[0].offer, offer(e, MID));
	assert_int_equal(l.rungs[0].place, 1);
	assert_ptr_equal(l.rungs[2].offer, offer(e, NEAR));
	assert_int_equal(l.rungs[2].place, 0);
	assert_int_equal(l.rungs[2].nodes, 1);
	assert_int_equal(l.rungs[2].cause, LADDER_CAPACITY);
	assert_in_range(l.rungs[2].cool.until_ms - engine_now(e), 60000 - SLOW_MS, 60000);
	assert_memory_equal(l.rungs[2].why, "no capacity: cools down until ", 30);
	assert_int_equal(l.rungs[2].nsaid, 1);
	assert_int_equal(l.rungs[2].said[0].nodes, 3);
	assert_int_equal(l.rungs[2].said[0].code, PROVIDER_CAPACITY);
	assert_string_equal(l.rungs[2].said[0].words, "no hosts left");
	assert_int_equal(engine_unsold(e, 0, PROVIDER_CAPACITY), 3);
	assert_int_equal(engine_unsold(e, 0, PROVIDER_QUOTA), 0);
}

/* Of an answer item by item each code counts by itself. */
static void refusals_are_counted_node_by_node(void **state)
{
	struct engine *e = load(*state);
	struct provider_item items[4] = {{.code = PROVIDER_OK},
					 {.code = PROVIDER_CAPACITY},
					 {.code = PROVIDER_CAPACITY},
					 {.code = PROVIDER_INVALID}};
	struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = 4};
	struct engine_ladder l;

	place_bought(e, offer(e, MID), &r, 4, engine_now(e));
	assert_int_equal(engine_unsold(e, 0, PROVIDER_CAPACITY), 2);
	assert_int_equal(engine_unsold(e, 0, PROVIDER_INVALID), 1);
	engine_ladder(e, 0, &l);
	assert_ptr_equal(l.rungs[2].offer, offer(e, MID));
	assert_int_equal(l.rungs[2].nsaid, 2);
}

static void nothing_changes_by_looking(void **state)
{
	struct fix *f = *state;
	struct engine *e = load(f);
	int64_t events = journal_last_event(f->journal);
	uint64_t commits = e->count.commits;
	struct engine_plan p = plan(e, &(struct engine_plan_ask){.nodes = 2});

	assert_int_equal(p.verdict, PLAN_BUY);
	assert_int_equal(p.npools, 1);
	assert_int_equal(p.pools[0].nodes, 2);
	assert_ptr_equal(p.pools[0].ladder.rungs[p.pools[0].rung].offer, offer(e, NEAR));
	engine_plan_fini(&p);
	assert_int_equal(e->fleet.pools[0].nodes, 2);
	assert_int_equal(e->fleet.pools[0].count[NODE_WANTED], 0);
	assert_int_equal(journal_last_event(f->journal), events);
	assert_int_equal(e->count.commits, commits);
	assert_int_equal(e->cloud->cooldown.places.n, 0);
	assert_null(fleet_find(&e->fleet, "c3")->newest);
}

static const struct {
	const char *name;
	struct engine_plan_ask ask;
	int near_code; /* what a purchase there was answered just now; 0: nothing */
	enum plan_verdict verdict;
	const char *why;
	int rung; /* the index of the offer; -1: none */
	uint32_t nodes, have;
	bool no_offer;
} rows[] = {
	{"some of what is off", {.nodes = 3}, 0, PLAN_BUY, "", NEAR, 3, 0, false},
	{"the next offer", {.nodes = 2}, PROVIDER_CAPACITY, PLAN_BUY, "", MID, 2, 0, false},
	{"over max_nodes",
	 {.nodes = 4},
	 0,
	 PLAN_REFUSE,
	 "pool pool: max_nodes 5 reached",
	 -1,
	 4,
	 0,
	 false},
	{"over max_rate",
	 {.nodes = 3},
	 PROVIDER_QUOTA,
	 PLAN_REFUSE,
	 "pool pool: max_rate 12.00 EUR/h reached",
	 -1,
	 3,
	 0,
	 false},
	{"not so many are off",
	 {.nodes = 5},
	 0,
	 PLAN_WAIT,
	 "4 of the 6 nodes of pool pool are off and can be bought: Slurm starts the job when "
	 "others are idle",
	 -1,
	 5,
	 0,
	 false},
	{"not so many there are",
	 {.nodes = 7},
	 0,
	 PLAN_REFUSE,
	 "pool pool has 6 nodes in all: Slurm refuses such a job",
	 -1,
	 7,
	 0,
	 false},
	{"a list, two of it up", {.list = "c[1-4]"}, 0, PLAN_BUY, "", NEAR, 4, 2, false},
	{"a list that is up", {.list = "c[1-2]"}, 0, PLAN_HAVE, "", -1, 2, 2, false},
	{"a list that repeats a node", {.list = "c3,c4,c3,c3"}, 0, PLAN_BUY, "", NEAR, 2, 0, false},
	{"too dear",
	 {.nodes = 1, .wish = {.max_price_nano_h = FMT_NANO}},
	 0,
	 PLAN_REFUSE,
	 "pool pool: near: 2.00 above max_price 1.00; mid: 3.00 above max_price 1.00; far: 5.00 "
	 "above max_price 1.00",
	 -1,
	 1,
	 0,
	 true},
	{"the job's own word",
	 {.nodes = 1, .wish = {.constraint = "spot"}},
	 0,
	 PLAN_BUY,
	 "",
	 MID,
	 1,
	 0,
	 false},
};

static void a_plan_says_what_would_become_of_a_job(void **state)
{
	struct engine *e = load(*state);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct engine_plan p;
		size_t n;

		print_message("# %s\n", rows[i].name);
		assert_int_equal(engine_retry(e, NULL, "root", &n, NULL), 0);
		if (rows[i].near_code != 0)
			answered(e, NEAR, (enum provider_code)rows[i].near_code, 1);
		p = plan(e, &rows[i].ask);
		assert_int_equal(p.verdict, rows[i].verdict);
		assert_string_equal(p.why, rows[i].why);
		assert_int_equal(p.nodes, rows[i].nodes);
		assert_int_equal(p.have, rows[i].have);
		assert_int_equal(p.no_offer, rows[i].no_offer);
		assert_int_equal(p.npools, rows[i].verdict != PLAN_HAVE);
		if (rows[i].rung >= 0)
			assert_ptr_equal(p.pools[0].ladder.rungs[p.pools[0].rung].offer,
					 offer(e, (size_t)rows[i].rung));
		else if (p.npools > 0)
			assert_int_equal(p.pools[0].rung, -1);
		engine_plan_fini(&p);
	}
}

static void a_plan_within_a_partition_has_its_nodes_alone(void **state)
{
	static const char *const names[] = {"c5", "c6", "x9"};
	struct engine *e = load(*state);
	struct engine_plan_ask ask = {.nodes = 2};
	struct engine_plan p;
	struct map within;

	map_init(&within);
	for (size_t i = 0; i < 3; i++)
		map_put(&within, names[i], &within);
	ask.within = &within;
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_BUY);
	assert_int_equal(p.nodes, 2);
	engine_plan_fini(&p);
	ask.nodes = 3;
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_REFUSE);
	assert_string_equal(p.why,
			    "pool pool has 2 nodes in that partition: Slurm refuses such a job");
	engine_plan_fini(&p);
	map_fini(&within);
}

static uint32_t bought_from(const struct engine *e, const struct engine_plan *p)
{
	assert_int_equal(p->verdict, PLAN_BUY);
	return (uint32_t)(p->pools[0].ladder.rungs[p->pools[0].rung].offer -
			  e->conf->pools[0].offers);
}

/* One that slurmctld has: its constraint; its comment where the pool reads comments, and both hold;
 * the nodes that it does not want; and what it was refused before counts. */
static void a_plan_of_a_job_has_its_own_words(void **state)
{
	char spot[] = "spot", bad[] = "burst:ondemand,colour=red", both[] = "burst:spot",
	     without[] = "c[3-5]";
	struct engine_job j = {.number = 7, .id = "7", .constraint = spot};
	struct engine_plan_ask ask = {.nodes = 1, .job = &j};
	struct fix *f = *state;
	struct engine *e = load(f);
	struct engine_plan p = plan(e, &ask);
	struct conf_pool *pool = &e->conf->pools[0];

	assert_int_equal(bought_from(e, &p), MID);
	engine_plan_fini(&p);
	j.comment = bad;
	p = plan(e, &ask);
	assert_int_equal(bought_from(e, &p), MID); /* the pool reads none */
	assert_string_equal(p.note, "");
	engine_plan_fini(&p);
	pool->job_comment = true;
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_REFUSE);
	assert_non_null(strstr(p.note, "\"colour=red\" was left out"));
	engine_plan_fini(&p);
	j.constraint = NULL;
	j.comment = both;
	ask.list = "c[3-4]";
	p = plan(e, &ask);
	assert_int_equal(bought_from(e, &p), MID);
	engine_plan_fini(&p);
	ask.list = NULL;
	ask.without = without;
	ask.nodes = 2;
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_WAIT); /* c6 alone is off */
	engine_plan_fini(&p);
}

/* It is to have spot first; two refusals later it need not. */
static void a_plan_of_a_job_counts_its_refusals(void **state)
{
	struct engine_job j = {.number = 7, .id = "7"};
	const struct engine_plan_ask ask = {.nodes = 1, .job = &j};
	struct journal_refusal twice = {7, {.count = 2}};
	struct engine *e = load(*state);
	struct engine_plan p;

	e->conf->pools[0].fallback_refusals = 2;
	answered(e, MID, PROVIDER_CAPACITY, 1);
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_REFUSE);
	engine_plan_fini(&p);
	twice.r.last_ms = twice.r.first_ms = engine_now(e);
	postpone_load(e, &twice);
	p = plan(e, &ask);
	assert_int_equal(bought_from(e, &p), NEAR);
	engine_plan_fini(&p);
}

static void an_offer_that_would_pass_max_rate_says_so(void **state)
{
	struct engine *e = load(*state);
	struct engine_plan p;

	answered(e, NEAR, PROVIDER_CAPACITY, 1);
	p = plan(e, &(struct engine_plan_ask){.nodes = 3});
	assert_string_equal(
		p.pools[0].ladder.rungs[0].why,
		"max_rate 12.00: 4.00 is spent per hour, and this is 3.00 for each of 3 nodes");
	assert_int_equal(p.pools[0].ladder.rungs[0].place, 1);
	engine_plan_fini(&p);
	p = plan(e, &(struct engine_plan_ask){.nodes = 2});
	assert_string_equal(p.pools[0].ladder.rungs[0].why, "");
	assert_int_not_equal(p.pools[0].ladder.rungs[1].why[0], '\0');
	engine_plan_fini(&p);
	p = plan(e, &(struct engine_plan_ask){.list = "c[1-4]"}); /* two of which are up */
	assert_string_equal(p.pools[0].ladder.rungs[0].why, "");
	engine_plan_fini(&p);
}

/* What is gone is bought nowhere. */
static void only_what_there_is_counts_for_its_offer(void **state)
{
	struct engine *e = load(*state);
	struct engine_ladder l;
	struct node n;

	node_init(&n, "c3", 1, engine_now(e));
	n.state = NODE_GONE;
	(void)snprintf(n.offer, sizeof(n.offer), "near");
	(void)fleet_add(&e->fleet, &n);
	engine_ladder(e, 0, &l);
	assert_ptr_equal(l.rungs[0].offer, offer(e, NEAR));
	assert_int_equal(l.rungs[0].nodes, 1);
}

/* slurmctld asks anew for a new job, and does not give it nodes that are drained. */
static void a_new_job_begins_anew_and_has_no_drained_node(void **state)
{
	struct engine *e = load(*state);
	struct engine_plan p;

	fleet_find(&e->fleet, "c3")->tried = 1U << NEAR;
	fleet_find(&e->fleet, "c4")->tried = 1U << NEAR;
	p = plan(e, &(struct engine_plan_ask){.nodes = 2});
	assert_int_equal(p.verdict, PLAN_BUY);
	assert_ptr_equal(p.pools[0].ladder.rungs[p.pools[0].rung].offer, offer(e, NEAR));
	engine_plan_fini(&p);
	fleet_find(&e->fleet, "c3")->flags = SLURM_KNOWN | SLURM_IDLE | SLURM_DRAIN;
	fleet_find(&e->fleet, "c4")->flags = SLURM_KNOWN | SLURM_DOWN;
	fleet_find(&e->fleet, "c5")->rests_ms = engine_now(e) + 1000;
	p = plan(e, &(struct engine_plan_ask){.nodes = 2});
	assert_int_equal(p.verdict, PLAN_WAIT);
	assert_memory_equal(p.why, "1 of the 6 nodes of pool pool is off", 36);
	engine_plan_fini(&p);
}

/* A price that it does not pay is not lower in half a minute. */
static void what_is_refused_is_tried_again_after_as_long_as_its_job_waits(void **state)
{
	struct engine *e = load(*state);
	const struct engine_plan_ask ask = {.nodes = 1, .wish = {.max_price_nano_h = 1}};
	struct engine_plan p = plan(e, &ask);

	assert_in_range(p.again_ms - engine_now(e), REFUSAL_DAY_MS - SLOW_MS, REFUSAL_DAY_MS);
	engine_plan_fini(&p);
	for (size_t i = NEAR; i <= FAR; i++)
		answered(e, i, PROVIDER_QUOTA, 1);
	p = plan(e, &(struct engine_plan_ask){.nodes = 1});
	assert_int_equal(p.verdict, PLAN_REFUSE);
	assert_in_range(p.again_ms - engine_now(e), COOLDOWN_QUOTA_MS - SLOW_MS, COOLDOWN_QUOTA_MS);
	engine_plan_fini(&p);
}

static void a_paused_pool_refuses_and_what_is_no_list_is_an_error(void **state)
{
	struct engine *e = load(*state);
	struct engine_plan p;
	struct err err;

	e->d.turned = NULL;
	assert_int_equal(engine_plan(e, &(struct engine_plan_ask){.list = "c1,x9"}, &p, &err), -1);
	assert_string_equal(err.msg, "no pool names a node \"x9\"");
	assert_int_equal(engine_plan(e, &(struct engine_plan_ask){.list = "c[1-"}, &p, &err), -1);
	assert_int_equal(engine_pause(e, "pool", true, "root", NULL), 0);
	p = plan(e, &(struct engine_plan_ask){.nodes = 1});
	assert_int_equal(p.verdict, PLAN_REFUSE);
	assert_string_equal(p.why, "pool pool: paused by an admin");
	assert_false(p.no_offer);
	engine_plan_fini(&p);
}

/* --- cooldowns ---------------------------------------------------------------------------------
 */

static void join(void *ctx, const struct cooldown_row *c)
{
	size_t n = strlen(ctx);

	(void)snprintf((char *)ctx + n, 400 - n, "%s|%s|%s|%d|%u\n", c->reason, c->provider,
		       c->place, (int)c->view.state, c->times);
}

static void cooldowns_are_told_word_by_word(void **state)
{
	struct engine *e = load(*state);
	char text[400] = "";

	answered(e, NEAR, PROVIDER_CAPACITY, 1);
	answered(e, MID, PROVIDER_QUOTA, 1);
	answered(e, FAR, PROVIDER_DENIED, 1);
	engine_cooldowns(e, join, text);
	assert_string_equal(text, "denied|cloud||6|1\n"
				  "quota|cloud|t r spot|5|1\n"
				  "capacity|cloud|t r near on-demand|3|1\n");
}

struct sought {
	const char *detail;
	unsigned n;
};

static int count_retried(void *ctx, const struct journal_event *ev)
{
	struct sought *s = ctx;

	s->n += strcmp(ev->type, "retried") == 0 && strcmp(ev->detail, s->detail) == 0;
	return 0;
}

static unsigned retried(struct fix *f, const char *detail)
{
	struct sought s = {detail, 0};

	assert_int_equal(journal_events(f->journal, 0, NULL, UINT32_MAX, count_retried, &s, NULL),
			 0);
	return s.n;
}

static void an_admin_has_what_cools_down_tried_again(void **state)
{
	struct fix *f = *state;
	struct engine *e = load(f);
	struct engine_ladder l;
	struct err err;
	size_t n;

	assert_int_equal(engine_retry(e, "nosuch", "root", &n, &err), -1);
	assert_string_equal(err.msg, "no pool and no provider is named \"nosuch\"");
	assert_int_equal(engine_retry(e, "pool", "root", &n, NULL), 0);
	assert_int_equal(n, 0);
	assert_int_equal(retried(f, "pool, ordered by root"), 0);
	for (int what = 0; what < 3; what++) {
		static const char *const names[] = {"pool", "cloud", NULL},
					 *const said[] = {"pool, ordered by uid 7",
							  "cloud, ordered by uid 7",
							  "all places, ordered by uid 7"};

		answered(e, NEAR, PROVIDER_CAPACITY, 1);
		answered(e, FAR, PROVIDER_QUOTA, 1);
		place_part.heard(&e->cloud->all[0], PROVIDER_DELETE,
				 &(struct provider_result){.code = PROVIDER_DENIED, .message = ""},
				 engine_now(e));
		assert_int_equal(engine_retry(e, names[what], "uid 7", &n, NULL), 0);
		assert_int_equal(n, 3);
		assert_int_equal(retried(f, said[what]), 1);
		engine_ladder(e, 0, &l);
		assert_ptr_equal(l.rungs[0].offer, offer(e, NEAR));
		assert_int_equal(l.rungs[2].place, 3);
	}
	assert_true(l.rungs[0].nsaid > 0); /* what was said is no less true */
	place_part.heard(&e->cloud->all[1], PROVIDER_DELETE,
			 &(struct provider_result){.code = PROVIDER_DENIED, .message = ""},
			 engine_now(e));
	assert_int_equal(engine_retry(e, "cloud", "root", &n, NULL), 0);
	assert_int_equal(n, 0);
	assert_int_equal(engine_retry(e, "spare", "root", &n, NULL), 0);
	assert_int_equal(n, 1);
}

static void a_partition_has_the_nodes_that_slurmctld_says(void **state)
{
	static const char config[] = "Configuration data as of 2026-01-01T00:00:00\n"
				     "BOOT_TIME               = 2026-01-01T00:00:00\n"
				     "SLURM_VERSION           = 22.05.8\n\n",
			  parts[] = "PartitionName=gpu AllowGroups=ALL Nodes=c[1-4] State=UP\n"
				    "PartitionName=gpu2 AllowGroups=ALL Nodes=c[5-6],x State=UP\n";
	struct engine *e = load(*state);
	char *list;

	assert_null(engine_partition(e, "gpu"));
	prereq_answer(e, SLURM_CONFIG, config, sizeof(config) - 1);
	prereq_answer(e, SLURM_PARTITIONS, parts, sizeof(parts) - 1);
	list = engine_partition(e, "gpu");
	assert_string_equal(list, "c[1-4]");
	free(list);
	list = engine_partition(e, "gpu2");
	assert_string_equal(list, "c[5-6],x");
	free(list);
	assert_null(engine_partition(e, "gp"));
	prereq_answer(e, SLURM_CONFIG, config, sizeof(config) - 1);
	prereq_answer(e, SLURM_PARTITIONS, parts,
		      strlen("PartitionName=gpu AllowGroups=ALL "
			     "Nodes=c[1-4] State=UP\n"));
	assert_null(engine_partition(e, "gpu2"));
}

/* slurmctld will never ask for them, whatever they would cost. */
static void what_slurmctld_does_not_know_is_not_bought(void **state)
{
	static const char config[] = "Configuration data as of 2026-01-01T00:00:00\n"
				     "BOOT_TIME               = 2026-01-01T00:00:00\n"
				     "SLURM_VERSION           = 24.11.5\n\n";
	struct engine *e = load(*state);
	struct engine_plan p;
	const struct slurm_report *r;
	bool found = false;

	fleet_find(&e->fleet, "c5")->missing_ms = fleet_find(&e->fleet, "c6")->missing_ms = 1;
	assert_int_equal(engine_plan(e, &(struct engine_plan_ask){.list = "c[3,6]"}, &p, NULL), 0);
	assert_int_equal(p.verdict, PLAN_REFUSE);
	assert_non_null(strstr(p.why, "slurmctld does not know node c6"));
	engine_plan_fini(&p);
	assert_int_equal(engine_plan(e, &(struct engine_plan_ask){.nodes = 5}, &p, NULL), 0);
	assert_int_equal(p.verdict, PLAN_REFUSE);
	assert_non_null(
		strstr(p.why, "knows only 4 nodes of pool pool and not the other 2 (c[5-6]):"));
	engine_plan_fini(&p);
	assert_int_equal(engine_plan(e, &(struct engine_plan_ask){.nodes = 2}, &p, NULL), 0);
	assert_int_equal(p.verdict, PLAN_BUY);
	engine_plan_fini(&p);
	prereq_answer(e, SLURM_CONFIG, config, sizeof(config) - 1);
	prereq_answer(e, SLURM_PARTITIONS, "", 0);
	r = engine_prereq(e);
	for (size_t i = 0; i < r->n; i++)
		found = found ||
			strstr(r->problems[i].found, "without c[5-6] of pool pool") != NULL;
	assert_true(found);
}

/* Slurm takes what is up and idle before it has anything powered up. */
static void idle_nodes_come_first(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags, nodes, have;
		enum plan_verdict verdict;
	} cases[] = {
		{"both idle", SLURM_IDLE, 3, 2, PLAN_BUY},
		{"they suffice", SLURM_IDLE, 2, 2, PLAN_HAVE},
		{"with a job", SLURM_ALLOCATED, 2, 0, PLAN_BUY},
		{"to be drained", SLURM_IDLE | SLURM_DRAIN, 2, 0, PLAN_BUY},
		{"reserved", SLURM_IDLE | SLURM_RESERVED, 2, 0, PLAN_BUY},
		{"silent", SLURM_IDLE | SLURM_NOT_RESPONDING, 2, 0, PLAN_BUY},
		{"going", SLURM_IDLE | SLURM_POWER_DOWN, 2, 0, PLAN_BUY},
		{"to be rebooted", SLURM_IDLE | SLURM_REBOOT, 2, 0, PLAN_BUY},
		{"in maintenance", SLURM_IDLE | SLURM_MAINT, 2, 0, PLAN_BUY},
		{"failing", SLURM_IDLE | SLURM_FAIL, 2, 0, PLAN_BUY},
		{"its last job ends", SLURM_IDLE | SLURM_COMPLETING, 2, 0, PLAN_BUY},
		{"other than its line", SLURM_IDLE | SLURM_INVALID_REG, 2, 0, PLAN_BUY},
	};
	struct engine *e = load(*state);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct engine_plan_ask ask = {.nodes = cases[i].nodes};
		struct engine_plan p;

		print_message("# %s\n", cases[i].name);
		fleet_find(&e->fleet, "c1")->flags = fleet_find(&e->fleet, "c2")->flags =
			SLURM_KNOWN | SLURM_CLOUD | cases[i].flags;
		assert_int_equal(engine_plan(e, &ask, &p, NULL), 0);
		assert_int_equal(p.verdict, cases[i].verdict);
		assert_int_equal(p.nodes, cases[i].nodes);
		assert_int_equal(p.have, cases[i].have);
		engine_plan_fini(&p);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_ladder_has_its_order_its_prices_and_what_is_bought_where),
		TEST(what_refused_is_left_out_with_the_reason_and_what_was_said),
		TEST(refusals_are_counted_node_by_node),
		TEST(nothing_changes_by_looking),
		TEST(a_plan_says_what_would_become_of_a_job),
		TEST(a_plan_within_a_partition_has_its_nodes_alone),
		TEST(a_plan_of_a_job_has_its_own_words),
		TEST(a_plan_of_a_job_counts_its_refusals),
		TEST(an_offer_that_would_pass_max_rate_says_so),
		TEST(only_what_there_is_counts_for_its_offer),
		TEST(a_new_job_begins_anew_and_has_no_drained_node),
		TEST(what_is_refused_is_tried_again_after_as_long_as_its_job_waits),
		TEST(a_paused_pool_refuses_and_what_is_no_list_is_an_error),
		TEST(cooldowns_are_told_word_by_word),
		TEST(an_admin_has_what_cools_down_tried_again),
		TEST(a_partition_has_the_nodes_that_slurmctld_says),
		TEST(what_slurmctld_does_not_know_is_not_bought),
		TEST(idle_nodes_come_first),
	};

	return cmocka_run_group_tests_name("preview", tests, NULL, NULL);
}
