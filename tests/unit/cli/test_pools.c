/* What burstctl says of offers (pools), of what would be bought (plan), and of an order to try
 * again (retry): the very text, on 80 columns. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define S        "--socket SOCKET "

#define RUNG(name, place, zone, market, price, nodes, rest)                                        \
	"{\"offer\":\"" name "\",\"provider\":\"aws\",\"type\":\"p5.48xlarge\",\"region\":"        \
	"\"eu-north-1\",\"zone\":\"" zone "\",\"market\":\"" market "\",\"price\":\"" price        \
	"\",\"nodes\":" #nodes ",\"place\":" #place rest "}"
#define CLOSED                                                                                     \
	",\"cause\":\"capacity\",\"state\":\"capacity\",\"why\":\"no capacity: cools down until "  \
	"2026-01-02T14:05:00Z\",\"refusals\":[{\"at_ms\":940000,\"reason\":\"capacity\","          \
	"\"nodes\":"                                                                               \
	"4,\"words\":\"no hosts\"},{\"at_ms\":880000,\"reason\":\"quota\",\"nodes\":1,\"words\":"  \
	"\"\"}]"
#define OFFERS                                                                                     \
	"\"offers\":[" RUNG("spot-a", 1, "eu-north-1a", "spot", "31.460000000", 2, "") "," RUNG(   \
		"any", 2, "", "on-demand", "98.32", 0,                                             \
		",\"state\":\"half-open\"") "," RUNG("spot-b", 0, "arn1-az2", "spot", "", 0,       \
						     CLOSED) "]"
#define HEAD "{\"ok\":true,\"now_ms\":1000000,\"currency\":\"USD\","

#define TABLE                                                                                      \
	"  TRY  OFFER   PROVIDER  TYPE         PLACE                MARKET     PER HOUR  NODES\n"  \
	"  1st  spot-a  aws       p5.48xlarge  eu-north-1a          spot          31.46      2\n"  \
	"  2nd  any     aws       p5.48xlarge  eu-north-1           on-demand     98.32      0\n"  \
	"    -  spot-b  aws       p5.48xlarge  eu-north-1/arn1-az2  spot              ?      0\n"  \
	"  any: cooled down: one purchase at a time is tried\n"                                    \
	"  spot-b: no capacity: cools down until 2026-01-02T23:05:00\n"

#define TERMS_A                                                                                    \
	",\"quantum_ms\":60000,\"minimum_ms\":0,\"user_data\":\"cloud-init\",\"user_data_max\":"   \
	"16384,"                                                                                   \
	"\"stock\":\"some\",\"interconnect\":\"efa\""
#define TERMS_B                                                                                    \
	",\"minimum_ms\":1200000,\"user_data\":\"none\",\"stock\":\"\",\"interconnect\":\"\""
#define RUNG_A RUNG("a", 1, "", "on-demand", "0.5", 0, TERMS_A)
#define RUNG_B RUNG("b", 2, "", "spot", "0.5", 0, TERMS_B)
#define RUNG_C RUNG("c", 3, "", "spot", "0.5", 0, ",\"user_data\":\"script\"")

static void pools_show_on_which_terms_they_buy(void **state)
{
	static const char reply[] =
		HEAD "\"next\":\"\",\"cooldowns\":[],\"pools\":[{\"name\":\"p\",\"max_nodes\":4,"
		     "\"rate\":\"0\",\"max_rate\":\"9\",\"listed\":true,\"offers\":[" RUNG_A
		     "," RUNG_B "," RUNG_C "]}]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "pools", reply);
	assert_non_null(strstr(l->out, "\n  a: billed in steps of 1m00s; no minimum rental; "
				       "interconnect: efa\n  b: at least 20m00s are billed; no "
				       "user-data\n"));
	assert_null(strstr(l->out, "\n  c: "));
	lab_free(l);
}

static void pools_show_offers_in_their_order_and_why_not(void **state)
{
	static const char reply[] = HEAD
		"\"next\":\"\",\"cooldowns\":[],\"pools\":[{\"name\":\"h100\",\"nodes\":2,"
		"\"spot\":2,\"max_nodes\":64,\"rate\":\"62.92\",\"max_rate\":\"900\","
		"\"policy\":\"cheapest\",\"gang\":\"best_effort\",\"max_price\":\"99\","
		"\"spot_share\":50,\"fallback_refusals\":3,\"fallback_ms\":1800000,"
		"\"jurisdictions\":[\"EU\",\"CH\"],\"blocked\":\"paused by an admin\",\"probes\":"
		"\"its nodes came up wrong\",\"listed\":false,\"others\":3," OFFERS
		"},{\"name\":\"plain\",\"nodes\":0,\"max_nodes\":4,\"rate\":\"0\",\"max_rate\":"
		"\"9\",\"policy\":\"ordered\",\"gang\":\"all_or_nothing\",\"max_price\":\"\","
		"\"spot_share\":100,\"fallback_refusals\":0,\"fallback_ms\":0,"
		"\"jurisdictions\":[],\"blocked\":\"\",\"listed\":true,\"offers\":[" RUNG(
			"", 1, "", "on-demand", "0.5", 0, "") "]}]}";
	static const char want[] =
		"h100  2 of 64 nodes, 62.92 of 900.00 USD per hour\n"
		"  cheapest first, max_price 99.00, 50 % of the nodes spot at most (2 of 2 are),\n"
		"  on-demand after 3 refusals or 30m00s, only in EU or CH, gang best_effort\n"
		"  nothing is bought: paused by an admin\n"
		"\n" TABLE
		"  3 more nodes are of offers that the configuration does not have any more\n"
		"  its nodes came up wrong\n"
		"  nothing is bought before each of its providers has listed its instances\n"
		"\n"
		"  refused lately\n"
		"  spot-b: 1m00s ago, 4 nodes: capacity: no hosts\n"
		"  spot-b: 2m00s ago, 1 node: quota\n"
		"\n"
		"plain  0 of 4 nodes, 0.00 of 9.00 USD per hour\n"
		"\n"
		"  TRY  OFFER  PROVIDER  TYPE         PLACE       MARKET     PER HOUR  NODES\n"
		"  1st  -      aws       p5.48xlarge  eu-north-1  on-demand    0.5000      0\n";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "pools", reply);
	lab_want(l, 0, want, "");
	assert_string_equal(l->requests[0], "{\"op\":\"pools\",\"after\":\"\",\"v\":1}");
	lab_run_once(l, S "pools h100", reply);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"pools\",\"after\":\"\",\"pool\":\"h100\",\"v\":1}");
	lab_run_once(l, S "pools x", "{\"ok\":false,\"error\":\"no pool is named \\\"x\\\"\"}");
	lab_want(l, 1, "", "burstctl: no pool is named \"x\"\n");
	lab_free(l);
}

static void pools_show_who_is_on_one_fabric(void **state)
{
	static const char reply[] = HEAD
		"\"next\":\"\",\"pools\":[{\"name\":\"h100\",\"nodes\":0,\"max_"
		"nodes\":4,"
		"\"rate\":\"0\",\"max_rate\":\"9\",\"listed\":true,\"offers\":"
		"[" RUNG("near", 1, "", "on-demand", "0.5", 0, ",\"fabric\":\"job\"") "," RUNG(
			"lab", 2, "", "on-demand", "0.5", 0,
			",\"fabric\":\"pg-1\"") "," RUNG("rack", 3, "", "on-demand", "0.5", 0,
							 ",\"fabric\":"
							 "\"unit\"") "," RUNG("any", 4, "",
									      "on-"
									      "demand",
									      "0.5", 0,
									      ",\"fabric"
									      "\":\"\"") "]}]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "pools", reply);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\n  near: a fabric for each job of several nodes\n"
				       "  lab: all on fabric pg-1\n"
				       "  rack: a fabric for each placement unit\n"));
	assert_null(strstr(l->out, "any:"));
	lab_free(l);
}

static void all_pages_of_pools_are_one_answer(void **state)
{
	static const char *const replies[] = {
		HEAD "\"pools\":[{\"name\":\"a\"}],\"next\":\"a\"}",
		HEAD "\"pools\":[{\"name\":\"b\"}],\"next\":\"\",\"cooldowns\":[{\"reason\":"
		     "\"quota\"}]}"};
	struct lab *l = lab_new();
	json_t *r;

	(void)state;
	lab_run(l, S "pools --json", replies, 2);
	assert_int_equal(l->rc, 0);
	assert_string_equal(l->requests[1], "{\"op\":\"pools\",\"after\":\"a\",\"v\":1}");
	r = json_loads(l->out, 0, NULL);
	assert_string_equal(cli_text(cli_row(r, "pools", 0), "name"), "a");
	assert_string_equal(cli_text(cli_row(r, "pools", 1), "name"), "b");
	assert_string_equal(cli_text(cli_row(r, "cooldowns", 0), "reason"), "quota");
	assert_null(json_object_get(r, "next"));
	json_decref(r);
	lab_free(l);
}

#define PART(fields)                                                                               \
	"{\"name\":\"h100\",\"nodes\":2,\"max_nodes\":64,\"rate\":\"62.92\",\"max_rate\":\"900\"," \
	"\"listed\":true," fields "," OFFERS "}"
#define BOUGHT                                                                                     \
	PART("\"new\":4,\"offer\":\"spot-a\",\"price\":\"31.46\",\"total\":\"125.84\","            \
	     "\"nodes_then\":6,\"rate_then\":\"188.76\"")
#define REFUSED                                                                                    \
	PART("\"new\":4,\"offer\":\"\",\"price\":\"\",\"total\":\"\",\"nodes_then\":2,"            \
	     "\"rate_then\":\"62.92\"")
#define LIMITS(nodes, rate)                                                                        \
	"\n  LIMIT           NOW    THEN  AT MOST\n  nodes             2       " nodes             \
	"       64\n  USD per hour  62.92  " rate "   900.00\n"
#define UNCHANGED                                                                                  \
	"\n  LIMIT           NOW   THEN  AT MOST\n  nodes             2      2       64\n"         \
	"  USD per hour  62.92  62.92   900.00\n"

static void a_plan_says_in_how_many_units_the_job_is(void **state)
{
	static const struct {
		const char *units, *out;
	} rows[] = {{"\"units\":1,\"unit\":8,", "\n  in 1 placement unit of 8 nodes\n"},
		    {"\"units\":2,\"unit\":8,", "\n  in 2 placement units of 8 nodes\n"},
		    {"\"units\":0,\"unit\":0,", NULL},
		    {"", NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab *l = lab_new();
		char reply[4000];

		(void)snprintf(reply, sizeof(reply),
			       HEAD "\"plans\":[{\"verdict\":\"buy\",\"nodes\":4,\"have\":0,"
				    "\"pools\":[{%s\"name\":\"h100\",\"new\":4,\"price\":\"1\","
				    "\"total\":\"4\",\"offers\":[]}]}]}",
			       rows[i].units);
		lab_run_once(l, S "plan --pool h100 --nodes 4", reply);
		assert_int_equal(l->rc, 0);
		if (rows[i].out != NULL)
			assert_non_null(strstr(l->out, rows[i].out));
		else
			assert_null(strstr(l->out, "placement"));
		lab_free(l);
	}
}

static void a_plan_says_how_close_together_the_jobs_nodes_are(void **state)
{
	static const struct {
		const char *placed, *out;
	} rows[] = {
		{"\"placed\":4,\"hops\":0,", "  4 of its nodes are up, below one switch\n"},
		{"\"placed\":4,\"hops\":2,", "  4 of its nodes are up, 2 hops from each other\n"},
		{"\"placed\":2,\"hops\":-1,", "  2 of its nodes are up, below no common switch\n"},
		{"\"placed\":1,", NULL},
		{"", NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab *l = lab_new();
		char reply[4000];

		(void)snprintf(reply, sizeof(reply),
			       HEAD "\"plans\":[{\"verdict\":\"have\",%s\"nodes\":4,\"have\":4,"
				    "\"pools\":[]}]}",
			       rows[i].placed);
		lab_run_once(l, S "plan --list h100-[1-4]", reply);
		assert_int_equal(l->rc, 0);
		if (rows[i].out != NULL)
			assert_non_null(strstr(l->out, rows[i].out));
		else
			assert_null(strstr(l->out, "are up"));
		lab_free(l);
	}
}

static void a_plan_says_first_what_would_be_and_exits_by_it(void **state)
{
	static const struct {
		const char *plans;
		int rc;
		const char *out;
	} rows[] = {
		{"{\"verdict\":\"buy\",\"nodes\":5,\"have\":1,\"pools\":[" BOUGHT "]}", 0,
		 "would be bought: 4 nodes of pool h100 from offer spot-a\n  31.46 USD per hour "
		 "each, "
		 "125.84 USD together\n  1 of the nodes is there, or being bought\n\n  pool "
		 "h100\n" TABLE LIMITS("6", "188.76")},
		{"{\"verdict\":\"refuse\",\"no_offer\":true,\"why\":\"pool h100: spot-a: ...\","
		 "\"again_ms\":1090000,\"pools\":[" REFUSED "]}",
		 1,
		 "would be refused: pool h100 has no offer for it now\n  the job would be tried "
		 "again in 1m30s (1970-01-01T09:18:10)\n\n  pool h100\n" TABLE UNCHANGED},
		{"{\"verdict\":\"refuse\",\"no_offer\":false,\"why\":\"pool h100: max_nodes 64 "
		 "reached\",\"again_ms\":0,\"pools\":[" REFUSED "]}",
		 1,
		 "would be refused: pool h100: max_nodes 64 reached\n\n  pool h100\n" TABLE
			 UNCHANGED},
		{"{\"verdict\":\"wait\",\"why\":\"a price is not known yet\",\"pools\":[]}", 1,
		 "would wait: a price is not known yet\n"},
		{"{\"verdict\":\"have\",\"nodes\":2,\"have\":2,\"pools\":[]}", 0,
		 "nothing to buy: all of these nodes are there, or are being bought\n"},
		{"{\"verdict\":\"wait\",\"why\":\"x\",\"pools\":[]},{\"verdict\":\"buy\",\"pools\":"
		 "["
		 "{\"name\":\"p\",\"new\":1,\"offer\":\"\",\"price\":\"2\",\"total\":\"2\","
		 "\"nodes\":0,"
		 "\"nodes_then\":1,\"max_nodes\":4,\"rate\":\"0\",\"rate_then\":\"2\",\"max_rate\":"
		 "\"9\","
		 "\"offers\":[" RUNG("", 1, "", "on-demand", "2", 0, "") "]}]}",
		 0,
		 "would wait: x\n\nor would be bought: 1 node of pool p\n  2.00 USD per hour\n\n"
		 "  pool p\n"
		 "  TRY  OFFER  PROVIDER  TYPE         PLACE       MARKET     PER HOUR  NODES\n"
		 "  1st  -      aws       p5.48xlarge  eu-north-1  on-demand      2.00      0\n"
		 "\n  LIMIT          NOW  THEN  AT MOST\n  nodes            0     1        4\n"
		 "  USD per hour  0.00  2.00     9.00\n"},
	};
	struct lab *l = lab_new();
	char reply[8192];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)snprintf(reply, sizeof(reply), HEAD "\"plans\":[%s]}", rows[i].plans);
		lab_run_once(l, S "plan", reply);
		lab_want(l, rows[i].rc, rows[i].out, "");
		lab_run_once(l, S "plan --json", reply);
		assert_int_equal(l->rc, rows[i].rc);
		assert_non_null(strstr(l->out, "\"plans\": [\n"));
	}
	lab_run_once(l, S "plan", HEAD "\"plans\":[],\"left_out\":3}");
	lab_want(l, 1, "\n3 more pools: ask for each of them by --pool\n", "");
	lab_free(l);
}

static void what_is_asked_comes_from_options_or_from_words(void **state)
{
	static const struct {
		const char *line, *request;
	} rows[] = {
		{"plan", "{\"op\":\"plan\",\"v\":1}"},
		{"plan -n 4 -p h100", "{\"op\":\"plan\",\"pool\":\"h100\",\"nodes\":4,\"v\":1}"},
		{"plan -P gpu -C spot&h100 --jurisdiction EU,CH --max-price 20.5",
		 "{\"op\":\"plan\",\"partition\":\"gpu\",\"constraint\":\"spot&h100\","
		 "\"jurisdictions\":\"EU,CH\",\"max_price\":\"20.5\",\"v\":1}"},
		{"plan --list h[1-3,5]", "{\"op\":\"plan\",\"list\":\"h[1-3,5]\",\"v\":1}"},
		{"plan --job nodes=4,constraint=spot,h100,jurisdiction=EU,CH,max_price=20",
		 "{\"op\":\"plan\",\"constraint\":\"spot,h100\",\"jurisdictions\":\"EU,CH\","
		 "\"max_price\":\"20\",\"nodes\":4,\"v\":1}"},
		{"plan --job 4711_3", "{\"op\":\"plan\",\"job\":\"4711_3\",\"v\":1}"},
		{"plan --job list=h[1,3],pool=a",
		 "{\"op\":\"plan\",\"pool\":\"a\",\"list\":\"h[1,3]\","
		 "\"v\":1}"},
	};
	static const char *const bad[] = {"plan --job 4711x", "plan --job nodes=x",
					  "plan --job nodes=0", "plan --job colour=red",
					  "plan --job nodes=4,4"};
	struct lab *l = lab_new();
	char line[256];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)snprintf(line, sizeof(line), S "%s", rows[i].line);
		lab_run_once(l, line, HEAD "\"plans\":[]}");
		assert_string_equal(l->requests[0], rows[i].request);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		(void)snprintf(line, sizeof(line), S "%s", bad[i]);
		lab_run_once(l, line, HEAD "\"plans\":[]}");
		lab_want(l, 2, "", "want the id of a job, or words such as nodes=4,pool=h100");
		assert_int_equal(l->nrequests, 0);
	}
	lab_run_once(l, S "plan --job 4711_3 -n 2", HEAD "\"plans\":[]}");
	lab_want(l, 2, "", "cannot be combined with other options");
	assert_int_equal(l->nrequests, 0);
	lab_run_once(l, S "plan -n 0", HEAD "\"plans\":[]}");
	assert_int_equal(l->rc, 2);
	lab_free(l);
}

/* Of each offer, for all of the nodes; the command line goes before the script. */
static void a_plan_of_a_script_shows_what_it_costs(void **state)
{
	static const char reply[] =
		HEAD "\"plans\":[{\"verdict\":\"buy\",\"nodes\":4,\"have\":0,\"pools\":[{\"name\":"
		     "\"h100\","
		     "\"new\":4,\"offer\":\"spot-a\",\"price\":\"31.46\",\"total\":\"125.84\","
		     "\"nodes\":0,"
		     "\"nodes_then\":4,\"max_nodes\":64,\"rate\":\"0\",\"rate_then\":\"125.84\","
		     "\"max_rate\":\"900\",\"listed\":true," OFFERS "}]}]}";
	static const char costs[] = "\n"
				    "  4 nodes for 1h30m, and some minutes more to boot and end\n"
				    "  OFFER   MARKET     UNTIL THE TIME LIMIT\n"
				    "  spot-a  spot                 188.76 USD\n"
				    "  any     on-demand            589.92 USD\n"
				    "  spot-b  spot                          ?\n";
	static const struct {
		const char *line, *request;
	} rows[] = {
		{"plan DIR/job", "{\"op\":\"plan\",\"partition\":\"gpu\",\"constraint\":\"spot\","
				 "\"comment\":\"burst:EU\",\"nodes\":4,\"v\":1}"},
		{"plan -n 2 -p h100 -C x DIR/job",
		 "{\"op\":\"plan\",\"pool\":\"h100\",\"constraint\":\"x\",\"comment\":\"burst:EU\","
		 "\"nodes\":2,\"v\":1}"},
		{"plan -P cpu DIR/job",
		 "{\"op\":\"plan\",\"partition\":\"cpu\",\"constraint\":\"spot\",\"comment\":"
		 "\"burst:EU\",\"nodes\":4,\"v\":1}"},
		{"plan -w h1 DIR/job",
		 "{\"op\":\"plan\",\"list\":\"h1\",\"constraint\":\"spot\",\"comment\":"
		 "\"burst:EU\",\"nodes\":4,\"v\":1}"},
	};
	struct lab *l = lab_new();
	char line[128];

	(void)state;
	lab_write(l, "job",
		  "#!/bin/sh\n#SBATCH -N 4 -p gpu -A physics -t 90 -C spot\n"
		  "#SBATCH --comment=burst:EU --gres=gpu:8\nsrun x\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)snprintf(line, sizeof(line), S "%s", rows[i].line);
		lab_run_once(l, line, reply);
		assert_int_equal(l->rc, 0);
		assert_string_equal(l->requests[0], rows[i].request);
	}
	assert_memory_equal(
		l->out,
		"the script asks for 4 nodes in partition gpu, account physics, gpus "
		"gpu:8, for 1h30m\n  which pools have such GPUs Slurm decides: choose one "
		"by --pool\n\nwould be bought: 4 nodes",
		80);
	assert_non_null(strstr(l->out, costs));
	lab_run_once(l, S "plan --json DIR/job", reply);
	assert_non_null(strstr(l->out, "\"limit_ms\": 5400000"));
	assert_non_null(strstr(l->out, "\"cost\": \"188.76\""));
	assert_null(strstr(l->out, "Budgets"));
	lab_run_once(l, S "plan DIR/job", HEAD "\"budgets_left_out\":true,\"plans\":[]}");
	assert_non_null(strstr(l->out,
			       "\nBudgets are not asked without a job: \"burstctl balance\" "
			       "shows what is left.\n"));
	lab_run_once(l, S "plan -t 1-0 DIR/job", reply);
	assert_non_null(strstr(l->out, "3020.16 USD\n"));
	lab_run_once(l, S "plan -t 1-0 -p h100", reply); /* without a script */
	assert_non_null(strstr(l->out, "3020.16 USD\n"));
	lab_run_once(l, S "plan -p h100", reply);
	assert_null(strstr(l->out, "UNTIL THE TIME LIMIT"));
	lab_write(l, "job", "#!/bin/sh\n#SBATCH hetjob\n");
	lab_run_once(l, S "plan DIR/job", reply);
	assert_non_null(strstr(l->out, "asks for 1 node; it says no --time, so its cost is not "
				       "known\n  it is a heterogeneous job, and"));
	lab_run_once(l, S "plan -t 0 DIR/job", reply);
	assert_non_null(strstr(l->out, "; its time is not limited, so its cost"));
	lab_remove(l, "job");
	lab_free(l);
}

static void a_script_that_is_wrong_is_asked_nothing_about(void **state)
{
	static const struct {
		const char *line;
		int rc;
		const char *err;
	} rows[] = {
		{"plan DIR/job", 1, "/job: line 2: --nodes: \"x\" is none that is known here"},
		{"plan DIR/nosuch", 1, "nosuch: "},
		{"plan DIR", 1, ": "},
		{"plan -j 7 DIR/good", 2, "--job cannot be combined with a script"},
		{"plan -j 7 -t 90", 2, "cannot be combined with other options"},
		{"plan -t soon", 2, "--time: \"soon\": want a time as of sbatch"},
		{"plan DIR/good DIR/good", 2, "unexpected argument"},
	};
	struct lab *l = lab_new();

	(void)state;
	lab_write(l, "job", "#!/bin/sh\n#SBATCH -N x\n");
	lab_write(l, "good", "#!/bin/sh\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char line[128];

		(void)snprintf(line, sizeof(line), S "%s", rows[i].line);
		lab_run_once(l, line, HEAD "\"plans\":[]}");
		lab_want(l, rows[i].rc, "", rows[i].err);
		assert_int_equal(l->nrequests, 0);
	}
	lab_remove(l, "job");
	lab_remove(l, "good");
	lab_free(l);
}

static void a_plan_of_a_job_begins_with_the_job(void **state)
{
	static const char plain
		[] = HEAD
		"\"job\":{\"id\":\"7\",\"state\":\"CONFIGURING\",\"reason\":\"None\","
		"\"partition\":\"gpu\",\"nodes\":1,\"list\":\"h1\",\"constraint\":\"\","
		"\"refusals\":0,\"until_ms\":0,\"others\":0},\"plans\":[{\"verdict\":\"have\","
		"\"note\":\"\",\"pools\":[]}]}",
	   paid[] = HEAD
	   "\"job\":{\"id\":\"7\",\"state\":\"PENDING\",\"reason\":\"None\",\"partition\":\"gpu\","
	   "\"account\":\"physics\",\"limit_ms\":14400000,\"nodes\":1,\"list\":\"\"},\"plans\":[{"
	   "\"verdict\":\"buy\",\"note\":\"\",\"aside_job\":\"118.08\",\"aside_machines\":\"130\","
	   "\"pools\":[{\"name\":\"h100\",\"new\":1,\"offer\":\"spot-a\",\"price\":\"31."
	   "46\"," OFFERS "}]}]}",
	   refused[] = HEAD
	   "\"job\":{\"id\":\"7_2\",\"state\":\"PENDING\",\"reason\":\"BeginTime\",\"partition\":"
	   "\"gpu,cpu\",\"nodes\":4,\"list\":\"\",\"constraint\":\"spot\",\"refusals\":2,"
	   "\"until_ms\":1090000,\"others\":3},\"plans\":[{\"verdict\":\"wait\",\"why\":\"x\","
	   "\"note\":\"comment: \\\"a\\\" was left out\",\"pools\":[]}]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "plan -j 7", plain);
	lab_want(l, 0,
		 "job 7 is CONFIGURING: 1 node in partition gpu; of pools: h1\n"
		 "nothing to buy: all of these nodes are there, or are being bought\n",
		 "");
	lab_run_once(l, S "plan -j 7_2", refused);
	lab_want(l, 1,
		 "job 7_2 is PENDING (BeginTime): 4 nodes in partition gpu,cpu, constraint spot\n"
		 "  and 3 more of the same job, each by its own id\n"
		 "  refused 2 times so far\n"
		 "  the job would be tried again in 1m30s (1970-01-01T09:18:10)\n"
		 "would wait: x\n"
		 "  comment: \"a\" was left out\n",
		 "");
	lab_run_once(l, S "plan -j 7", paid);
	assert_non_null(strstr(l->out, "\n  31.46 USD per hour\n  budgets would set aside 118.08 "
				       "USD for the job, 130.00 USD for its machines\n"));
	assert_non_null(strstr(l->out, "  1 node for 4h00m, and some"));
	assert_non_null(strstr(l->out, "125.84 USD\n"));
	lab_run_once(l, S "plan -j 7", "{\"ok\":false,\"error\":\"slurmctld knows no job 7\"}");
	lab_want(l, 1, "", "burstctl: slurmctld knows no job 7\n");
	lab_free(l);
}

static void retry_says_how_much_was_forgotten(void **state)
{
	static const struct {
		const char *line, *reply, *out, *request;
	} rows[] = {
		{S "retry", "{\"ok\":true,\"places\":2}",
		 "2 cooldowns are forgotten\nJobs that were refused start at their next try; "
		 "\"scontrol update JobId=JOB StartTime=now\" does not wait for it.\n",
		 "{\"op\":\"retry\",\"v\":1}"},
		{S "retry h100", "{\"ok\":true,\"places\":1}",
		 "1 cooldown is forgotten\nJobs that were refused start at their next try; "
		 "\"scontrol update JobId=JOB StartTime=now\" does not wait for it.\n",
		 "{\"op\":\"retry\",\"what\":\"h100\",\"v\":1}"},
		{S "retry aws", "{\"ok\":true,\"places\":0}",
		 "nothing to do: no cooldown is active there (\"burstctl resume\" lets "
		 "a blocked pool buy again)\n",
		 "{\"op\":\"retry\",\"what\":\"aws\",\"v\":1}"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lab_run_once(l, rows[i].line, rows[i].reply);
		lab_want(l, 0, rows[i].out, "");
		assert_string_equal(l->requests[0], rows[i].request);
	}
	lab_run_once(l, S "retry --json", rows[0].reply);
	assert_non_null(strstr(l->out, "\"places\": 2"));
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_show_offers_in_their_order_and_why_not),
		cmocka_unit_test(pools_show_on_which_terms_they_buy),
		cmocka_unit_test(pools_show_who_is_on_one_fabric),
		cmocka_unit_test(a_plan_says_in_how_many_units_the_job_is),
		cmocka_unit_test(a_plan_says_how_close_together_the_jobs_nodes_are),
		cmocka_unit_test(all_pages_of_pools_are_one_answer),
		cmocka_unit_test(a_plan_says_first_what_would_be_and_exits_by_it),
		cmocka_unit_test(what_is_asked_comes_from_options_or_from_words),
		cmocka_unit_test(a_plan_of_a_script_shows_what_it_costs),
		cmocka_unit_test(a_script_that_is_wrong_is_asked_nothing_about),
		cmocka_unit_test(a_plan_of_a_job_begins_with_the_job),
		cmocka_unit_test(retry_says_how_much_was_forgotten),
	};

	return cmocka_run_group_tests_name("pools", tests, NULL, NULL);
}
