/* submit.c - what slurmctld and the rows say goes into the table for job_submit.lua. */
#include "preview_ask.h"

#include "core/submit.h"

static const char config[] = "Configuration data as of 2026-11-28T00:00:00\n"
			     "BOOT_TIME = 2026-11-28T00:00:00\nSLURM_VERSION = 22.05.8\n\n";

static void shown(struct engine *e, const char *partitions)
{
	prereq_answer(e, SLURM_CONFIG, config, sizeof(config) - 1);
	prereq_answer(e, SLURM_PARTITIONS, partitions, strlen(partitions));
	assert_string_equal(engine_prereq_error(e), "");
}

/* The table with "|" for each tab; until the next call. */
static const char *table(struct engine *e)
{
	static char text[4096];
	struct str out;

	str_init(&out, SUBMIT_TEXT_MAX);
	engine_submit(e, &out);
	(void)snprintf(text, sizeof(text), "%s", out.p);
	for (char *p = text; *p != '\0'; p++)
		*p = (char)(*p == '\t' ? '|' : *p);
	str_fini(&out);
	return text;
}

#define HEAD                                                                                       \
	"site|currency=EUR|providers=cloud,spare\n"                                                \
	"pool|name=pool|can=5|why=pool pool has max_nodes 5|live=2000000000|constraint=1\n"        \
	"rung|pool=pool|market=ondemand|provider=cloud|price=2000000000|in=DE,EU,EEA\n"            \
	"rung|pool=pool|market=spot|provider=cloud|price=3000000000|in=US\n"                       \
	"rung|pool=pool|market=ondemand|provider=cloud|price=5000000000|in=DE,EU,EEA\n"

static void partitions_are_counted_by_pool(void **state)
{
	struct engine *e = load(*state);

	assert_string_equal(table(e), HEAD "end\n"); /* slurmctld has not said any */
	engine_free(e);
	((struct fix *)*state)->e = NULL;
	e = load(*state);
	shown(e, "PartitionName=gpu Nodes=c[1-6] State=UP\n"
		 "PartitionName=mixed Nodes=own[1-2],c3 State=UP\n"
		 "PartitionName=own Nodes=own[1-2] State=UP\n"
		 "PartitionName=empty Nodes=(null) State=UP\n"
		 "PartitionName=bad Nodes=c[1- State=UP\n");
	assert_string_equal(table(e), HEAD
			    "partition|name=gpu|total=6|others=0|list=c[1-6]|pools=pool:6\n"
			    "partition|name=mixed|total=3|others=2|list=own[1-2],c3|pools=pool:1\n"
			    "end\n");
}

static void rows_count_with_their_rates_and_offers(void **state)
{
	struct engine *e = load(*state);
	struct node n;

	e->conf->pools[0].max_nodes = 1;
	fleet_find(&e->fleet, "c2")->newest->n.rate_nano_h = FMT_NANO;
	assert_non_null(strstr(table(e), "|can=2|why=pool pool has max_nodes 1|live=1000000000|"));
	/* They leave 2 of 5 for another one at 2. */
	e->conf->pools[0].max_nodes = 5;
	e->conf->pools[0].max_rate_nano_h = 5 * FMT_NANO;
	assert_non_null(strstr(table(e), "|can=3|why=pool pool has max_rate 5.00 EUR/h, "));
	e->conf->pools[0].max_nodes = 1;
	e->conf->pools[0].max_rate_nano_h = 12 * FMT_NANO;
	/* Too dear by now, and some machine is of it all the same. */
	e->conf->pools[0].max_price_nano_h = 4 * FMT_NANO;
	assert_non_null(strstr(table(e), "price=5000000000"));
	n = fleet_find(&e->fleet, "c2")->newest->n;
	n.state = NODE_GONE;
	fleet_set(&e->fleet, fleet_find(&e->fleet, "c2")->newest, &n);
	assert_null(strstr(table(e), "price=5000000000"));
	assert_non_null(strstr(table(e), "|can=1|"));
	/* The configuration does not have its offer any more. */
	assert_non_null(strstr(table(e), "constraint=1"));
	memcpy(fleet_find(&e->fleet, "c1")->newest->n.offer, "old", sizeof("old"));
	assert_null(strstr(table(e), "constraint=1"));
}

static void where_slurm_conf_has_other_gpus_they_are_not_known(void **state)
{
	static const struct {
		const char *gres; /* of c3 */
		bool known;
	} rows[] = {
		{"gpu:h100:8", true},
		{"gpu:h100:8(S:0-1)", true},
		{"nic:2,gpu:h100:8", true},
		{"gpu:hopper:8", false},
		{"gpu:h100:4", false},
		{"gpu:8", false},
		{"gpu:h100:8,gpu:a100:1", false},
		{"(null)", false},
		{NULL, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct engine *e = load(*state);
		struct slurm_node nodes[] = {{.name = "c2"}, {.name = "c3"}, {.name = "own1"}};

		print_message("# %s\n", rows[i].gres != NULL ? rows[i].gres : "none");
		e->conf->pools[0].gres = mem_strdup("gpu:h100:8");
		assert_non_null(strstr(table(e), "|gpus=h100:8|"));
		nodes[0].gres = (struct slurm_text){"gpu:h100:8", 10};
		if (rows[i].gres != NULL)
			nodes[1].gres = (struct slurm_text){rows[i].gres, strlen(rows[i].gres)};
		prereq_hurry(e);
		prereq_nodes(e, nodes, 3);
		assert_int_equal(strstr(table(e), "|gpus=h100:8|") != NULL, rows[i].known);
		engine_free(e);
		((struct fix *)*state)->e = NULL;
	}
	(void)load(*state);
}

static void to_look_changes_nothing(void **state)
{
	struct fix *f = *state;
	struct engine *e = load(f);
	int64_t events = journal_last_event(f->journal);
	uint64_t commits = e->count.commits;

	(void)table(e);
	assert_int_equal(journal_last_event(f->journal), events);
	assert_int_equal(e->count.commits, commits);
	assert_int_equal(e->cloud->cooldown.places.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(partitions_are_counted_by_pool),
		TEST(rows_count_with_their_rates_and_offers),
		TEST(where_slurm_conf_has_other_gpus_they_are_not_known),
		TEST(to_look_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
