/* test_preview_plan.c - what burstd would do with a job: burstctl plan. */
#include "core/unit.h"
#include "preview_ask.h"

#include "money/money.h"

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

/* Its nodes by name are in these; of others it is only known how many they need. */
static void a_plan_counts_the_units_of_a_job(void **state)
{
	static const struct {
		uint32_t nodes;
		const char *list;
		uint32_t units;
	} of[] = {{1, NULL, 1},     {2, NULL, 1},       {3, NULL, 2},
		  {0, "c[3-4]", 1}, {0, "c4,c5,c3", 2}, {0, "c[2-3]", 2}};
	struct engine *e = load(*state);
	struct engine_plan p = plan(e, &(struct engine_plan_ask){.nodes = 2});
	struct conf_pool *pool = &e->conf->pools[0];

	assert_int_equal(p.pools[0].units, 0);
	engine_plan_fini(&p);
	pool->unit = 2;
	pool->offers[0].in_fabric = CONF_FABRIC_UNIT;
	assert_int_equal(unit_finish(e->conf, pool, NULL), 0);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		p = plan(e, &(struct engine_plan_ask){.nodes = of[i].nodes, .list = of[i].list});
		assert_int_equal(p.npools, 1);
		assert_int_equal(p.pools[0].units, of[i].units);
		engine_plan_fini(&p);
	}
}

static void a_plan_says_how_close_together_the_nodes_are_that_are_up(void **state)
{
	struct engine *e = load(*state);
	struct engine_plan p;

	fleet_find(&e->fleet, "c1")->newest->path = mem_strdup("z/b1");
	fleet_find(&e->fleet, "c2")->newest->path = mem_strdup("z/b2");
	p = plan(e, &(struct engine_plan_ask){.list = "c[1-4]"});
	assert_int_equal(p.placed, 2);
	assert_int_equal(p.hops, 1);
	engine_plan_fini(&p);
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

/* One that is still to be submitted, by what its script says; without a word all counts. */
static void a_plan_of_a_script_has_its_comment(void **state)
{
	struct engine_plan_ask ask = {.nodes = 1, .comment = "burst:spot,colour=red"};
	struct fix *f = *state;
	struct engine *e = load(f);
	struct engine_plan p = plan(e, &ask);

	assert_int_equal(bought_from(e, &p), NEAR); /* the pool reads none */
	engine_plan_fini(&p);
	e->conf->pools[0].job_comment = true;
	p = plan(e, &ask);
	assert_int_equal(bought_from(e, &p), MID);
	assert_non_null(strstr(p.note, "\"colour=red\" was left out"));
	engine_plan_fini(&p);
	ask.wish.constraint = "ondemand";
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_REFUSE); /* both hold */
	engine_plan_fini(&p);
}

/* Of a job whose payer slurmctld tells, budgets decide as when it is bought. */
static void a_plan_of_a_job_is_tried_by_budgets(void **state)
{
	static char physics_name[] = "physics", *physics[] = {physics_name, NULL};
	struct payer payer = {.account = "physics", .user = "ann", .limit_s = 3600, .nodes = 1};
	struct engine_job j = {.number = 7, .id = "7", .payer = &payer};
	struct engine_plan_ask ask = {.nodes = 1, .job = &j};
	struct conf_budget b = {.name = physics_name,
				.accounts = physics,
				.market = CONF_MARKET_ANY,
				.amount_nano = 3 * FMT_NANO,
				.stop_at = 100};
	struct zone *utc = zone_new("UTC", NULL);
	struct fix *f = *state;
	struct engine *e = load(f);
	struct engine_plan p;

	assert_int_equal(period_parse(&b.period_rule, "month", NULL), 0);
	e->money->budgets = budgets_new(utc, engine_now(e));
	e->money->times = (struct budget_times){.over_ms = 0};
	budgets_configure(e->money->budgets, &b, 1);
	p = plan(e, &ask); /* 10 min of boot and an hour, at 2 an hour */
	assert_int_equal(bought_from(e, &p), NEAR);
	assert_int_equal(p.aside_job, 2333333334);
	assert_int_equal(p.aside_machines, 0); /* no budget counts them */
	engine_plan_fini(&p);
	assert_int_equal(budgets_line(e->money->budgets, 0).held, 0); /* it changes nothing */
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_BUY);
	engine_plan_fini(&p);
	b.amount_nano = FMT_NANO;
	budgets_configure(e->money->budgets, &b, 1);
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_REFUSE);
	assert_non_null(strstr(p.why, "budget physics: this job needs 2.34"));
	assert_int_equal(p.aside_job, 0);
	engine_plan_fini(&p);
	j.payer = NULL; /* whose it is, is not known: nothing is said of budgets */
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_BUY);
	assert_int_equal(p.aside_job, 0);
	engine_plan_fini(&p);
	j.payer = &payer;
	b.accounts = NULL; /* it counts machines now */
	b.amount_nano = 9 * FMT_NANO;
	budgets_configure(e->money->budgets, &b, 1);
	p = plan(e, &ask);
	assert_int_equal(p.aside_job, 0);
	assert_int_equal(p.aside_machines, 2333333334);
	engine_plan_fini(&p);
	budgets_free(e->money->budgets);
	e->money->budgets = NULL;
	zone_free(utc);
}

/* A job may start in each of its partitions, of which some have budgets of their own: what burstd
 * would do in the worst of them is shown, among those that have its nodes. */
static void a_job_of_several_partitions_is_tried_in_each(void **state)
{
	static const char config[] = "Configuration data as of 2026-01-01T00:00:00\n"
				     "BOOT_TIME               = 2026-01-01T00:00:00\n"
				     "SLURM_VERSION           = 22.05.8\n\n",
			  parts[] = "PartitionName=gpu AllowGroups=ALL Nodes=c[1-4] State=UP\n"
				    "PartitionName=dear AllowGroups=ALL Nodes=c[1-4] State=UP\n"
				    "PartitionName=cpu AllowGroups=ALL Nodes=x[1-9] State=UP\n";
	static const struct {
		char partition[32];
		const char *list, *says;
		bool buys;
	} all[] = {
		{"gpu", "c3", "", true},
		{"dear", "c3", "budget dear:", false},
		{"gpu,dear", "c3", "budget dear:", false},
		{"dear,gpu", "c3", "budget dear:", false},
		{"gpu,dear", NULL, "budget dear:", false},
		{"gpu,cpu", "c3", "", true},
		{"cpu,gpu", NULL, "", true},
		{"cpu,dear", "c[3-4]", "budget dear:", false},
		{"cpu,unknown", "c3", "", true},
	};
	static char dear_name[] = "dear", cpu_name[] = "cpu", *dear[] = {dear_name, cpu_name, NULL};
	static char gpu_name[] = "gpu", *gpu[] = {gpu_name, NULL};
	struct conf_budget b[2] = {
		{.name = dear_name, .partitions = dear, .amount_nano = FMT_NANO},
		{.name = gpu_name, .partitions = gpu, .amount_nano = 99 * FMT_NANO}};
	struct payer payer = {.account = "physics", .user = "ann", .limit_s = 3600, .nodes = 1};
	struct zone *utc = zone_new("UTC", NULL);
	struct engine *e = load(*state);

	for (int i = 0; i < 2; i++) {
		b[i].market = CONF_MARKET_ANY;
		b[i].stop_at = 100;
		assert_int_equal(period_parse(&b[i].period_rule, "month", NULL), 0);
	}
	prereq_answer(e, SLURM_CONFIG, config, sizeof(config) - 1);
	prereq_answer(e, SLURM_PARTITIONS, parts, sizeof(parts) - 1);
	e->money->budgets = budgets_new(utc, engine_now(e));
	budgets_configure(e->money->budgets, b, 2);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char partition[32];
		struct engine_job j = {
			.number = 7, .id = "7", .payer = &payer, .partition = partition};
		struct engine_plan_ask ask = {.nodes = 1, .job = &j, .list = all[i].list};
		struct engine_plan p;

		print_message("# %s\n", all[i].partition);
		(void)snprintf(partition, sizeof(partition), "%s", all[i].partition);
		(void)snprintf(payer.partition, sizeof(payer.partition), "%s", partition);
		p = plan(e, &ask);
		assert_int_equal(p.verdict, all[i].buys ? PLAN_BUY : PLAN_REFUSE);
		assert_non_null(strstr(p.why, all[i].says));
		if (strstr(partition, "gpu") != NULL && all[i].buys)
			assert_true(p.aside_machines > 0); /* it counts there */
		engine_plan_fini(&p);
	}
	budgets_free(e->money->budgets);
	e->money->budgets = NULL;
	zone_free(utc);
}

/* Until it is known which accounts are below others, a plan says that the job waits. */
static void a_plan_waits_for_accounts(void **state)
{
	static char name[] = "science", *science[] = {name, NULL};
	struct payer payer = {.account = "physics", .user = "ann", .limit_s = 3600, .nodes = 1};
	struct engine_job j = {.number = 7, .id = "7", .payer = &payer};
	struct engine_plan_ask ask = {.nodes = 1, .job = &j};
	struct conf_budget b = {.name = name, .accounts = science, .market = CONF_MARKET_ANY};
	struct zone *utc = zone_new("UTC", NULL);
	struct engine *e = load(*state);
	struct conf *c = (struct conf *)(uintptr_t)e->conf;
	struct engine_plan p;

	e->money->budgets = budgets_new(utc, engine_now(e));
	budgets_configure(e->money->budgets, &b, 1);
	c->budgets = &b;
	c->nbudgets = 1;
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_WAIT);
	assert_non_null(strstr(p.why, "slurmctld has not said yet which accounts there are"));
	engine_plan_fini(&p);
	e->money->accounts.known = true;
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_WAIT);
	assert_non_null(strstr(p.why, "account physics is new"));
	engine_plan_fini(&p);
	e->money->accounts.answered_ms = engine_now(e);
	p = plan(e, &ask);
	assert_int_equal(p.verdict, PLAN_BUY);
	engine_plan_fini(&p);
	c->budgets = NULL;
	c->nbudgets = 0;
	budgets_free(e->money->budgets);
	e->money->budgets = NULL;
	zone_free(utc);
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
	assert_true(p.pools[0].ladder.rungs[0].limited);
	engine_plan_fini(&p);
	p = plan(e, &(struct engine_plan_ask){.nodes = 2});
	assert_false(p.pools[0].ladder.rungs[0].limited);
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

/* --- cooldowns ---------------------------------------------------------------------------------
 */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_plan_says_what_would_become_of_a_job),
		TEST(a_plan_counts_the_units_of_a_job),
		TEST(a_plan_says_how_close_together_the_nodes_are_that_are_up),
		TEST(a_plan_within_a_partition_has_its_nodes_alone),
		TEST(a_plan_of_a_job_has_its_own_words),
		TEST(a_plan_of_a_script_has_its_comment),
		TEST(a_plan_of_a_job_is_tried_by_budgets),
		TEST(a_job_of_several_partitions_is_tried_in_each),
		TEST(a_plan_waits_for_accounts),
		TEST(a_plan_of_a_job_counts_its_refusals),
		TEST(an_offer_that_would_pass_max_rate_says_so),
		TEST(only_what_there_is_counts_for_its_offer),
		TEST(a_new_job_begins_anew_and_has_no_drained_node),
		TEST(a_partition_has_the_nodes_that_slurmctld_says),
		TEST(what_slurmctld_does_not_know_is_not_bought),
		TEST(idle_nodes_come_first),
	};

	return cmocka_run_group_tests_name("preview_plan", tests, NULL, NULL);
}
