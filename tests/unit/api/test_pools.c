/* Where nodes are bought and would be: "pools" and "plan", and "retry", which is an order. */
#include "buy/buy_api.h"
#include "ctl_ask.h"
#include "jobs/jobs_api.h"

#define RQ(op, rest) "{\"v\":1,\"op\":\"" op "\"" rest "}"

static struct fixture *two_pools(void)
{
	static const char *const lists[] = {"n[1-9]", "m[1-9]"};
	struct fixture *f = start_pools(lists, 2);

	f->e.price = INT64_C(29520000000);
	return f;
}

/* Pool 0 has two offers instead of a place. */
static void add_offers(struct fixture *f)
{
	struct conf_pool *p = &f->e.conf->pools[0];
	static const char *const names[] = {"spot", "od"};

	p->noffers = 2;
	p->offers = mem_zalloc(2 * sizeof(*p->offers));
	for (size_t i = 0; i < 2; i++)
		p->offers[i] =
			(struct conf_offer){.name = mem_strdup(names[i]),
					    .provider = mem_strdup("sim"),
					    .type = mem_strdup("8xh100"),
					    .region = mem_strdup("east"),
					    .zone = mem_strdup("east-a"),
					    .market = i == 0 ? PROVIDER_SPOT : PROVIDER_ON_DEMAND,
					    .jurisdiction = mem_strdup("")};
	p->offers[0].in_fabric = CONF_FABRIC_JOB;
	p->policy = CONF_CHEAPEST;
	p->max_price_nano_h = 30 * FMT_NANO;
	p->spot_share = 50;
	p->fallback_refusals = 3;
	p->fallback_ms = 1800000;
}

static const json_t *row(const json_t *r, const char *key, size_t i)
{
	const json_t *o = json_array_get(json_object_get(r, key), i);

	assert_non_null(o);
	return o;
}

static void every_pool_has_its_offers_as_they_are_tried(void **state)
{
	struct fixture *f = two_pools();
	const json_t *pool, *rung;
	json_t *r;

	(void)state;
	add_offers(f);
	f->e.why = "no capacity: cools down until 2026-01-02T03:04:05Z";
	r = ask_as(f, &viewer, RQ("pools", ""));
	assert_int_equal(json_array_size(json_object_get(r, "pools")), 2);
	assert_string_equal(text(r, "next"), "");
	assert_string_equal(text(r, "currency"), "USD");
	pool = row(r, "pools", 0);
	assert_string_equal(text(pool, "name"), "pool0");
	assert_string_equal(text(pool, "policy"), "cheapest");
	assert_string_equal(text(pool, "gang"), "all_or_nothing");
	assert_string_equal(text(pool, "max_price"), "30.00");
	assert_int_equal(number(pool, "spot_share"), 50);
	assert_int_equal(number(pool, "fallback_refusals"), 3);
	assert_int_equal(number(pool, "fallback_ms"), 1800000);
	assert_string_equal(text(pool, "blocked"), "");
	rung = row(pool, "offers", 0);
	assert_string_equal(text(rung, "offer"), "od");
	assert_string_equal(text(rung, "market"), "on-demand");
	assert_string_equal(text(rung, "price"), "29.52");
	assert_int_equal(number(rung, "place"), 1);
	assert_int_equal(number(rung, "nodes"), 2);
	assert_string_equal(text(rung, "cause"), "");
	assert_string_equal(text(rung, "fabric"), "");
	rung = row(pool, "offers", 1);
	assert_string_equal(text(rung, "offer"), "spot");
	assert_string_equal(text(rung, "zone"), "east-a");
	assert_string_equal(text(rung, "fabric"), "job");
	assert_string_equal(text(rung, "price"), "");
	assert_int_equal(number(rung, "place"), 0);
	assert_string_equal(text(rung, "cause"), "capacity");
	assert_string_equal(text(rung, "state"), "capacity");
	assert_int_equal(number(rung, "until_ms"), FAKE_NOW + 60000);
	assert_string_equal(text(rung, "why"), f->e.why);
	assert_string_equal(text(row(rung, "refusals", 0), "reason"), "capacity");
	assert_string_equal(text(row(rung, "refusals", 0), "words"), "no \"hosts\" left");
	assert_int_equal(number(row(rung, "refusals", 0), "nodes"), 3);
	/* Without offers its own place is its only one. */
	rung = row(row(r, "pools", 1), "offers", 0);
	assert_string_equal(text(rung, "offer"), "");
	assert_string_equal(text(rung, "type"), "8xh100");
	assert_int_equal(json_array_size(json_object_get(r, "cooldowns")), 5);
	assert_string_equal(text(row(r, "cooldowns", 3), "reason"), "failing");
	assert_string_equal(text(row(r, "cooldowns", 3), "state"), "failing");
	assert_string_equal(text(row(r, "cooldowns", 4), "reason"), "denied");
	assert_string_equal(text(row(r, "cooldowns", 4), "state"), "half-open");
	json_decref(r);
	stop(f);
}

static void an_offer_has_the_terms_that_are_known(void **state)
{
	struct fixture *f = two_pools();
	const json_t *rung;
	json_t *r;

	(void)state;
	f->e.terms = (struct provider_terms){.quantum_ms = 1000,
					     .minimum_ms = 60000,
					     .data = PROVIDER_DATA_SCRIPT,
					     .data_max = 16384,
					     .stock = PROVIDER_STOCK_SOME,
					     .interconnect = "efa"};
	r = ask_as(f, &viewer, RQ("pools", ",\"pool\":\"pool0\""));
	rung = row(row(r, "pools", 0), "offers", 0);
	assert_int_equal(number(rung, "quantum_ms"), 1000);
	assert_int_equal(number(rung, "minimum_ms"), 60000);
	assert_int_equal(number(rung, "user_data_max"), 16384);
	assert_string_equal(text(rung, "user_data"), "script");
	assert_string_equal(text(rung, "stock"), "some");
	assert_string_equal(text(rung, "interconnect"), "efa");
	json_decref(r);
	f->e.terms = (struct provider_terms){.minimum_ms = PROVIDER_NO_MINIMUM};
	r = ask_as(f, &viewer, RQ("pools", ",\"pool\":\"pool0\""));
	rung = row(row(r, "pools", 0), "offers", 0);
	assert_int_equal(number(rung, "minimum_ms"), 0);
	assert_null(json_object_get(rung, "quantum_ms"));
	assert_null(json_object_get(rung, "user_data_max"));
	assert_string_equal(text(rung, "user_data"), "");
	json_decref(r);
	stop(f);
}

/* It is tried behind the others, but nothing keeps it from being bought. */
static void an_offer_that_came_up_wrong_has_a_reason_and_no_cause(void **state)
{
	struct fixture *f = two_pools();
	const json_t *rung;
	json_t *r;

	(void)state;
	f->e.passed = "a machine from there came up wrong";
	r = ask_as(f, &viewer, RQ("pools", ""));
	rung = row(row(r, "pools", 0), "offers", 0);
	assert_string_equal(text(rung, "cause"), "");
	assert_string_equal(text(rung, "why"), "a machine from there came up wrong");
	json_decref(r);
	stop(f);
}

static void an_offer_over_max_rate_has_its_place_and_its_reason(void **state)
{
	struct fixture *f = two_pools();
	const json_t *rung;
	json_t *r;

	(void)state;
	f->e.passed = "max_rate 9";
	f->e.over_rate = true;
	r = ask_as(f, &viewer, RQ("pools", ""));
	rung = row(row(r, "pools", 0), "offers", 0);
	assert_int_equal(number(rung, "place"), 1);
	assert_string_equal(text(rung, "cause"), "max-rate");
	assert_string_equal(text(rung, "why"), "max_rate 9");
	json_decref(r);
	stop(f);
}

static void one_pool_alone_and_no_such_pool(void **state)
{
	struct fixture *f = two_pools();
	json_t *r = ask_as(f, &viewer, RQ("pools", ",\"pool\":\"pool1\""));

	(void)state;
	assert_int_equal(json_array_size(json_object_get(r, "pools")), 1);
	assert_string_equal(text(row(r, "pools", 0), "name"), "pool1");
	assert_string_equal(text(r, "next"), "");
	json_decref(r);
	r = ask_as(f, &viewer, RQ("pools", ",\"pool\":\"pool7\""));
	assert_string_equal(text(r, "code"), "not-found");
	assert_string_equal(text(r, "error"), "no pool is named \"pool7\"");
	json_decref(r);
	stop(f);
}

/* More pools than one page has: all of them, each once, and the cooldowns with the last. */
static void many_pools_come_in_pages(void **state)
{
	enum { POOLS = 150 };
	static char names[POOLS][16];
	const char *lists[POOLS];
	char request[128], after[64] = "";
	struct fixture *f;
	size_t n = 0, pages = 0;

	(void)state;
	for (size_t i = 0; i < POOLS; i++) {
		(void)snprintf(names[i], sizeof(names[0]), "x%zu", i);
		lists[i] = names[i];
	}
	f = start_pools(lists, POOLS);
	do {
		json_t *r;

		(void)snprintf(request, sizeof(request), RQ("pools", ",\"after\":\"%s\""), after);
		r = ask_as(f, &viewer, request);
		n += json_array_size(json_object_get(r, "pools"));
		(void)snprintf(after, sizeof(after), "%s", text(r, "next"));
		assert_int_equal(json_object_get(r, "cooldowns") != NULL, after[0] == '\0');
		json_decref(r);
		pages++;
	} while (after[0] != '\0' && pages < 10);
	assert_int_equal(n, POOLS);
	assert_int_equal(pages, 3);
	stop(f);
}

static void a_plan_has_the_offer_the_price_and_the_limits_before_and_after(void **state)
{
	struct fixture *f = two_pools();
	const json_t *plan, *pool;
	json_t *r;

	(void)state;
	add_offers(f);
	f->e.plan = (struct engine_plan){.verdict = PLAN_BUY, .nodes = 3, .placed = 2, .hops = 1};
	f->e.plan_pool = (struct engine_plan_pool){.nodes = 3, .units = 2, .rung = 0};
	f->e.conf->pools[0].unit = 2;
	(void)fake_node(&f->e, "n1", 1, NODE_READY);
	r = ask_as(f, &viewer,
		   RQ("plan", ",\"pool\":\"pool0\",\"nodes\":3,\"constraint\":\"spot&h100\","
			      "\"jurisdictions\":\"EU,CH\",\"max_price\":\"20.5\""));
	assert_int_equal(f->e.plans, 1);
	assert_int_equal(f->e.plan_ask.nodes, 3);
	assert_string_equal(f->e.plan_wish, "spot&h100 EU CH");
	assert_string_equal(f->e.plan_comment, "(none)");
	assert_int_equal(f->e.plan_ask.wish.max_price_nano_h, INT64_C(20500000000));
	plan = row(r, "plans", 0);
	assert_string_equal(text(plan, "verdict"), "buy");
	assert_int_equal(number(plan, "placed"), 2);
	assert_int_equal(number(plan, "hops"), 1);
	pool = row(plan, "pools", 0);
	assert_string_equal(text(pool, "name"), "pool0");
	assert_string_equal(text(pool, "offer"), "spot");
	assert_int_equal(number(pool, "new"), 3);
	assert_int_equal(number(pool, "units"), 2);
	assert_int_equal(number(pool, "unit"), 2);
	assert_string_equal(text(pool, "price"), "29.52");
	assert_string_equal(text(pool, "total"), "88.56");
	assert_int_equal(number(pool, "nodes"), 1);
	assert_int_equal(number(pool, "nodes_then"), 4);
	assert_string_equal(text(pool, "rate"), "29.52");
	assert_string_equal(text(pool, "rate_then"), "118.08");
	assert_string_equal(text(pool, "max_rate"), "100.00");
	assert_int_equal(json_array_size(json_object_get(pool, "offers")), 2);
	json_decref(r);
	json_decref(ask(f, RQ("plan", ",\"comment\":\"burst:spot\"")));
	assert_string_equal(f->e.plan_comment, "burst:spot");
	stop(f);
}

static void a_plan_that_buys_nothing_changes_no_limit(void **state)
{
	struct fixture *f = two_pools();
	const json_t *plan, *pool;
	json_t *r;

	(void)state;
	f->e.plan = (struct engine_plan){.verdict = PLAN_REFUSE,
					 .why = "pool pool1: max_nodes 4 reached",
					 .no_offer = true,
					 .again_ms = FAKE_NOW + 30000,
					 .nodes = 5};
	f->e.plan_pool = (struct engine_plan_pool){.nodes = 5, .rung = -1};
	r = ask_as(f, &viewer, RQ("plan", ",\"pool\":\"pool1\",\"nodes\":5"));
	plan = row(r, "plans", 0);
	assert_string_equal(text(plan, "verdict"), "refuse");
	assert_string_equal(text(plan, "why"), "pool pool1: max_nodes 4 reached");
	assert_true(json_is_true(json_object_get(plan, "no_offer")));
	assert_int_equal(number(plan, "again_ms"), FAKE_NOW + 30000);
	pool = row(plan, "pools", 0);
	assert_string_equal(text(pool, "name"), "pool1");
	assert_string_equal(text(pool, "price"), "");
	assert_int_equal(number(pool, "new"), 5);
	assert_int_equal(number(pool, "nodes_then"), 0);
	assert_string_equal(text(pool, "rate_then"), "0.00");
	json_decref(r);
	stop(f);
}

/* Which pools a plan is made for: all, one, those of a partition; of a list one plan for all. */
static void a_plan_is_made_for_each_pool_that_is_meant(void **state)
{
	static const struct {
		const char *request, *partition;
		size_t plans;
		uint32_t last; /* pool */
		const char *within, *list;
	} rows[] = {
		{RQ("plan", ""), NULL, 2, 1, "", ""},
		{RQ("plan", ",\"pool\":\"pool0\""), NULL, 1, 0, "", ""},
		{RQ("plan", ",\"partition\":\"gpu\""), "m[2-3],z1", 1, 1, "m2,m3", ""},
		{RQ("plan", ",\"partition\":\"gpu\""), "m2,n2", 2, 1, "n2,m2", ""},
		{RQ("plan", ",\"list\":\"n1,m1\""), NULL, 1, 0, "", "n1,m1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = two_pools();
		json_t *r;

		f->e.plan.verdict = PLAN_BUY;
		f->e.partition = rows[i].partition;
		r = ask_as(f, &viewer, rows[i].request);
		assert_int_equal(json_array_size(json_object_get(r, "plans")), rows[i].plans);
		assert_int_equal(f->e.plans, rows[i].plans);
		assert_int_equal(f->e.plan_ask.pool, rows[i].last);
		assert_string_equal(f->e.plan_within, rows[i].within);
		assert_string_equal(f->e.plan_list, rows[i].list);
		assert_int_equal(f->e.plan_ask.nodes, 1);
		json_decref(r);
		stop(f);
	}
}

/* Slurm has no more nodes than fit a list, but partitions overlap. */
static void a_job_of_partitions_with_more_names_than_a_list_is_planned(void **state)
{
	static const char rq[] = RQ("plan", ",\"job\":\"7\"");
	char both[] = "gpu,all";
	const struct engine_job j = {.id = "7", .partition = both, .count = 2};
	struct fixture *f = two_pools();
	json_t *r;
	char *said;

	(void)state;
	f->e.plan.verdict = PLAN_BUY;
	f->e.partition = "n[1-65536]";
	f->e.all = "n[1-65535],m3";
	said = ctl_api_job(&f->api, &viewer, rq, strlen(rq), &j, NULL);
	r = json_loads(said, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(r, "plans")), 2);
	assert_string_equal(f->e.plan_within, "n1,n2,n3,n4,n5,n6,n7,n8,n9,m3");
	json_decref(r);
	free(said);
	stop(f);
}

static void a_partition_that_cannot_be_read_is_said_to_be(void **state)
{
	static const char rq[] = RQ("plan", ",\"job\":\"7\"");
	char one[] = "gpu";
	const struct engine_job j = {.id = "7", .partition = one, .count = 2};
	struct fixture *f = two_pools();
	char *said;
	json_t *r;

	(void)state;
	f->e.partition = "n[1-65537]";
	r = ask_as(f, &viewer, RQ("plan", ",\"partition\":\"gpu\""));
	assert_string_equal(text(r, "code"), "failed");
	assert_string_equal(text(r, "error"), "the nodes of partition gpu: node list, byte 9: "
					      "more than 65536 names");
	said = ctl_api_job(&f->api, &viewer, rq, strlen(rq), &j, NULL);
	assert_non_null(strstr(said, text(r, "error")));
	free(said);
	json_decref(r);
	stop(f);
}

static void more_pools_than_one_answer_takes_are_counted(void **state)
{
	static const char *const lists[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9",
					    "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"};
	struct fixture *f = start_pools(lists, 18);
	json_t *r;

	(void)state;
	f->e.plan.verdict = PLAN_BUY;
	r = ask_as(f, &viewer, RQ("plan", ""));
	assert_int_equal(json_array_size(json_object_get(r, "plans")), CTL_API_PLANS_MAX);
	assert_int_equal(number(r, "left_out"), 18 - CTL_API_PLANS_MAX);
	json_decref(r);
	stop(f);
}

static void what_makes_no_sense_is_refused_and_orders_are_for_operators(void **state)
{
	static const struct {
		const char *request;
		const struct ctl_caller *who;
		const char *code, *error;
	} rows[] = {
		{RQ("plan", ",\"pool\":\"pool7\""), &viewer, "not-found", "\"pool7\""},
		{RQ("plan", ",\"partition\":\"x\""), &viewer, "not-found", "no partition \"x\""},
		{RQ("plan", ",\"partition\":\"gpu\""), &viewer, "not-found", "no pool has a node"},
		{RQ("plan", ",\"pool\":\"pool0\",\"list\":\"n1\""), &viewer, "invalid", "only one"},
		{RQ("plan", ",\"job\":\"7_[1-2]\""), &viewer, "invalid", "the id of one job"},
		{RQ("plan", ",\"job\":\"7\",\"nodes\":2"), &viewer, "invalid",
		 "cannot be combined with \"nodes\""},
		{RQ("plan", ",\"job\":7"), &viewer, "invalid", "\"job\""},
		{RQ("plan", ",\"list\":\"[\""), &viewer, "invalid", "\"list\": not a node list"},
		{RQ("plan", ",\"nodes\":0"), &viewer, "invalid", "\"nodes\""},
		{RQ("plan", ",\"nodes\":\"4\""), &viewer, "invalid", "\"nodes\""},
		{RQ("plan", ",\"max_price\":\"x\""), &viewer, "invalid", "\"max_price\": "},
		{RQ("plan", ",\"jurisdictions\":\"eu\""), &viewer, "invalid", "codes"},
		{RQ("plan", ",\"jurisdictions\":\"EU CH\""), &viewer, "invalid", "codes"},
		{RQ("plan", ",\"jurisdictions\":\"EUROPE\""), &viewer, "invalid", "codes"},
		{RQ("retry", ""), &viewer, "denied",
		 "retry is for admins and operators; you are uid 1000, user"},
		{RQ("retry", ",\"what\":\"x\""), &admin, "not-found", "no pool and no provider"},
		{RQ("retry", ",\"what\":7"), &admin, "invalid", "\"what\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = two_pools();
		json_t *r;

		f->e.partition = "z[1-3]";
		r = ask_as(f, rows[i].who, rows[i].request);
		assert_true(json_is_false(json_object_get(r, "ok")));
		assert_string_equal(text(r, "code"), rows[i].code);
		assert_non_null(strstr(text(r, "error"), rows[i].error));
		assert_string_equal(f->e.retried, "");
		json_decref(r);
		stop(f);
	}
}

static void retry_is_of_a_pool_of_a_provider_or_of_all(void **state)
{
	static const struct {
		const char *request, *want;
	} rows[] = {
		{RQ("retry", ""), "all by uid 1001, admin"},
		{RQ("retry", ",\"what\":\"pool1\""), "pool1 by uid 1001, admin"},
		{RQ("retry", ",\"what\":\"sim\""), "sim by uid 1001, admin"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = two_pools();
		json_t *r = ask(f, rows[i].request);

		assert_string_equal(f->e.retried, rows[i].want);
		assert_int_equal(number(r, "places"), 2);
		json_decref(r);
		f->e.broken = true;
		r = ask_as(f, &admin, rows[i].request);
		assert_string_equal(text(r, "code"), "failed");
		json_decref(r);
		stop(f);
	}
}

/* What slurmctld says of the job is what is planned. */
static void a_plan_of_a_job_is_for_its_nodes_or_its_partitions(void **state)
{
	char one[] = "gpu", two[] = "x,gpu", none[] = "x", list[] = "n1,m1", without[] = "n2",
	     held[] = "JobHeldUser";
	struct engine_job jobs[] = {
		{.id = "7", .partition = one, .count = 3, .without = without, .reason = held},
		{.id = "7", .partition = two, .count = 3},
		{.id = "7", .partition = one, .count = 2, .nodes = list},
		{.id = "7", .partition = none, .count = 1},
	};
	static const char rq[] = RQ("plan", ",\"job\":\"7\"");
	struct fixture *f = two_pools();

	(void)state;
	f->e.partition = "n[1-4],z1";
	f->e.plan.verdict = PLAN_BUY;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		char *said = ctl_api_job(&f->api, &viewer, rq, strlen(rq), &jobs[i], NULL);
		json_t *r = json_loads(said, 0, NULL);

		print_message("# %s\n", said);
		free(said);
		if (i < 3) {
			assert_string_equal(text(json_object_get(r, "job"), "id"), "7");
			assert_int_equal(json_array_size(json_object_get(r, "plans")), 1);
			assert_ptr_equal(f->e.plan_ask.job, &jobs[i]);
			assert_int_equal(f->e.plan_ask.nodes, jobs[i].count);
			assert_string_equal(f->e.plan_within, i < 2 ? "n1,n2,n3,n4" : "");
			assert_string_equal(f->e.plan_list, i < 2 ? "" : "n1,m1");
			assert_string_equal(f->e.plan_without, i == 0 ? "n2" : "");
		} else {
			assert_string_equal(text(r, "code"), "failed");
			assert_non_null(strstr(text(r, "error"), "partition x of job 7 yet"));
		}
		json_decref(r);
	}
	f->e.partition = "z1";
	{
		char *said = ctl_api_job(&f->api, &viewer, rq, strlen(rq), &jobs[0], NULL);

		assert_non_null(strstr(said, "no pool has a node of partition gpu: burstd buys "
					     "nothing for job 7"));
		free(said);
	}
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pool_has_its_offers_as_they_are_tried),
		cmocka_unit_test(an_offer_has_the_terms_that_are_known),
		cmocka_unit_test(an_offer_over_max_rate_has_its_place_and_its_reason),
		cmocka_unit_test(an_offer_that_came_up_wrong_has_a_reason_and_no_cause),
		cmocka_unit_test(one_pool_alone_and_no_such_pool),
		cmocka_unit_test(many_pools_come_in_pages),
		cmocka_unit_test(a_plan_has_the_offer_the_price_and_the_limits_before_and_after),
		cmocka_unit_test(a_plan_that_buys_nothing_changes_no_limit),
		cmocka_unit_test(a_plan_is_made_for_each_pool_that_is_meant),
		cmocka_unit_test(a_job_of_partitions_with_more_names_than_a_list_is_planned),
		cmocka_unit_test(a_partition_that_cannot_be_read_is_said_to_be),
		cmocka_unit_test(more_pools_than_one_answer_takes_are_counted),
		cmocka_unit_test(a_plan_of_a_job_is_for_its_nodes_or_its_partitions),
		cmocka_unit_test(what_makes_no_sense_is_refused_and_orders_are_for_operators),
		cmocka_unit_test(retry_is_of_a_pool_of_a_provider_or_of_all),
	};

	return cmocka_run_group_tests_name("pools", tests, NULL, NULL);
}
