/* Accounts, fair share, preemption and TRESBillingWeights: what is said of a site's lines, and what
 * a pool's partition bills. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/rates.h"
#include "world.h"

#define EUR INT64_C(1000000000)
#define DBD "AccountingStorageType=accounting_storage/slurmdbd\n"
/* All that is well, so that a row differs by what it is about. */
#define GOOD                                                                                       \
	DBD "AccountingStorageTRES=gres/gpu\nAccountingStorageEnforce=limits,safe\n"               \
	    "PriorityType=priority/multifactor\nPriorityWeightFairshare=1\n"                       \
	    "PriorityWeightTRES=GRES/gpu=1\nPriorityFlags=MAX_TRES\n"

static const char *const gpus = "gpu:h100:8";

/* --- what is billed ------------------------------------------------------------------------------
 */

static void test_weights(void **state)
{
	static const struct {
		const char *node, *gres, *flags, *release;
		int64_t price, unit;
		const char *want; /* NULL: no weights */
	} rows[] = {
		/* One unit is a cent an hour: a whole node is 9832 of them. */
		{"CPUs=208 RealMemory=1048576", "gpu:h100:8", "MAX_TRES", "24.11.5", 98320000000,
		 EUR / 100, "CPU=47.269231,Mem=9.601563G,GRES/gpu=1229"},
		{"CPUs=208 RealMemory=1048576", "gpu:h100:8", "", "24.11.5", 98320000000, EUR / 100,
		 "GRES/gpu=1229"},
		{"CPUs=208 RealMemory=1048576", "gpu:h100:8", "MAX_TRES_GRES", "25.05.0",
		 98320000000, EUR / 100, "GRES/gpu=1229"},
		/* Releases before it find MAX_TRES in it. */
		{"CPUs=2 RealMemory=1024", "gpu:8", "MAX_TRES_GRES", "24.11.5", 8 * EUR, EUR,
		 "CPU=4,Mem=8G,GRES/gpu=1"},
		{"CPUs=2 RealMemory=1024", "gpu:8", "NO_FAIR_TREE,MAX_TRES", "22.05.8", 8 * EUR,
		 EUR, "CPU=4,Mem=8G,GRES/gpu=1"},
		{"CPUs=2 RealMemory=1024", "gpu:8", "MAX_TRES_GRES,MAX_TRES", "25.11.7", 8 * EUR,
		 EUR, "GRES/gpu=1"},
		{"CPUs=4 RealMemory=1000", "", "", "24.11.5", EUR, EUR / 100, "CPU=25"},
		{"CPUs=4 RealMemory=1000", "", "MAX_TRES_GRES", "25.05.0", EUR, EUR / 100,
		 "CPU=25"},
		/* Never less than a whole: a third is cut up, and 0.29 is more than 0.29. */
		{"CPUs=3 RealMemory=1000", "", "", "24.11.5", EUR, EUR, "CPU=0.333334"},
		{"CPUs=100 RealMemory=1000", "", "", "24.11.5", 29 * EUR, EUR, "CPU=0.290001"},
		{"CPUs=1 RealMemory=1000", "gpu:a:4,gpu:b:4,shard:64", "", "24.11.5", 16 * EUR, EUR,
		 "GRES/gpu=2"},
		/* The dearest that a price can be: no overflow. */
		{"CPUs=1 RealMemory=1024", "", "MAX_TRES", "24.11.5", INT64_MAX, 1,
		 "CPU=9223372036854775807,Mem=9223372036854775807G"},
		{"CPUs=4 RealMemory=1000", "", "MAX_TRES", "24.11.5", EUR, 0, NULL},
		{"CPUs=4 RealMemory=1000", "", "MAX_TRES", "24.11.5", 0, EUR, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512], want[256];
		struct world w;

		world_init(&w);
		(void)snprintf(text, sizeof(text), GOOD "PriorityFlags=\"%s\"\n", rows[i].flags);
		w.slurm = text;
		w.release = rows[i].release;
		w.conf->billing_unit_nano_h = rows[i].unit;
		add_pool(&w, "c", "c1", rows[i].node, rows[i].gres)->price_nano_h = rows[i].price;
		world_run(&w);
		print_message("# row %zu: %s", i, strstr(w.body, "PartitionName"));
		(void)snprintf(want, sizeof(want), " ResumeTimeout=661 TRESBillingWeights=\"%s\"\n",
			       rows[i].want != NULL ? rows[i].want : "");
		if (rows[i].want != NULL) {
			assert_non_null(strstr(w.body, want));
			assert_non_null(strstr(w.body, " an hour at list prices: not what spot"));
		} else {
			assert_null(strstr(w.body, "Weights"));
		}
		world_fini(&w);
	}
}

/* What slurmctld makes of the weights of a whole node: it multiplies in floating point, and cuts.
 */
static void test_a_whole_node_is_its_price(void **state)
{
	(void)state;
	for (int64_t cents = 1; cents < 4000; cents += 7)
		for (int cpus = 1; cpus < 300; cpus += 13) {
			char node[64], *p;
			struct world w;

			world_init(&w);
			w.slurm = DBD;
			w.conf->billing_unit_nano_h = EUR / 100;
			(void)snprintf(node, sizeof(node), "CPUs=%d RealMemory=1024", cpus);
			add_pool(&w, "c", "c1", node, "")->price_nano_h = cents * EUR / 100;
			world_run(&w);
			p = strstr(w.body, "TRESBillingWeights=\"CPU=");
			assert_non_null(p);
			assert_int_equal((int64_t)(strtod(p + 24, NULL) * cpus), cents);
			world_fini(&w);
		}
}

static void add_offer(struct conf_pool *p, const char *name, int market, int64_t price)
{
	p->offers = mem_realloc(p->offers, (p->noffers + 1) * sizeof(*p->offers));
	p->offers[p->noffers++] = (struct conf_offer){.name = mem_strdup(name),
						      .provider = mem_strdup("sim"),
						      .type = mem_strdup("t"),
						      .region = mem_strdup("r"),
						      .zone = mem_strdup(name),
						      .market = market,
						      .price_nano_h = price};
}

static struct conf_pool *add_ladder(struct world *w)
{
	struct conf_pool *p = add_pool(w, "c", "c1", "CPUs=1 RealMemory=1024", "");
	char **places[] = {&p->provider, &p->type, &p->region};

	for (size_t i = 0; i < 3; i++) {
		free(*places[i]);
		*places[i] = mem_strdup("");
	}
	return p;
}

/* The unit is said beside the weights, once; where the site has the partitions it is not. */
static void test_the_unit_is_said(void **state)
{
	static const char line[] = "\n# A unit of TRESBillingWeights is 0.01 EUR an hour at list "
				   "prices: not what spot costs.\n";

	(void)state;
	for (int own = 0; own < 2; own++) {
		struct world w;
		char *at;

		world_init(&w);
		(void)snprintf(w.conf->currency, sizeof(w.conf->currency), "EUR");
		w.slurm = own ? DBD "PartitionName=p Nodes=burst-c,burst-d SuspendTime=9\n" : DBD;
		w.conf->billing_unit_nano_h = EUR / 100;
		add_pool(&w, "c", "c1", "CPUs=1 RealMemory=9", "")->price_nano_h = EUR;
		add_pool(&w, "d", "d1", "CPUs=1 RealMemory=9", "")->price_nano_h = EUR;
		world_run(&w);
		at = strstr(w.body, line);
		assert_int_equal(at == NULL, own);
		if (at != NULL)
			assert_non_null(strstr(at, "PartitionName=c "));
		assert_true(at == NULL || strstr(at + 1, line) == NULL);
		world_fini(&w);
	}
}

/* Spot is not the list price, whatever it costs; without another it is all there is. */
static void test_the_list_price(void **state)
{
	struct world w;

	(void)state;
	for (int on_demand = 0; on_demand < 2; on_demand++) {
		struct conf_pool *p;

		world_init(&w);
		w.slurm = DBD;
		w.conf->billing_unit_nano_h = EUR;
		p = add_ladder(&w);
		add_offer(p, "a", PROVIDER_SPOT, 9 * EUR);
		add_offer(p, "b", on_demand ? PROVIDER_ON_DEMAND : PROVIDER_SPOT, 5 * EUR);
		add_offer(p, "d", on_demand ? PROVIDER_ON_DEMAND : PROVIDER_SPOT, 7 * EUR);
		world_run(&w);
		assert_non_null(strstr(w.body, on_demand ? "=\"CPU=7\"" : "=\"CPU=9\""));
		world_fini(&w);
	}
}

/* A negotiated price counts for its days only. */
static void test_negotiated_prices(void **state)
{
	struct world w;

	(void)state;
	for (int64_t day = 0; day < 3; day++) {
		char *path = mem_strdup("/p");

		world_init(&w);
		w.slurm = DBD;
		w.now_ms = 500 + day * 1000;
		w.conf->billing_unit_nano_h = EUR;
		w.conf->prices_file = path;
		w.conf->rates = mem_zalloc(sizeof(*w.conf->rates));
		w.conf->nrates = 1;
		w.conf->rates[0] = (struct conf_rate){.provider = mem_strdup("sim"),
						      .region = mem_strdup(""),
						      .zone = mem_strdup(""),
						      .type = mem_strdup("t"),
						      .market = PROVIDER_ON_DEMAND,
						      .price_nano_h = 3 * EUR,
						      .currency = "EUR",
						      .from_ms = 1000,
						      .until_ms = 2000,
						      .note = mem_strdup("")};
		add_pool(&w, "c", "c1", "CPUs=1 RealMemory=9", "")->price_nano_h = 8 * EUR;
		world_run(&w);
		assert_non_null(strstr(w.body, day == 1 ? "=\"CPU=3\"" : "=\"CPU=8\""));
		world_fini(&w);
	}
}

/* --- what is counted -----------------------------------------------------------------------------
 */

static void test_gpus_are_counted(void **state)
{
	static const struct {
		const char *slurm, *gres;
		int64_t unit;
		bool written;
		const char *want; /* a finding; NULL: none */
		enum slurm_severity severity;
	} rows[] = {
		{DBD, "gpu:8", 0, true, NULL, SLURM_ADVICE},
		{DBD, "", 0, false, NULL, SLURM_ADVICE},
		{"A=1\n", "gpu:8", 0, false, NULL, SLURM_ADVICE},
		{"A=1\n", "gpu:8", EUR, false, NULL, SLURM_ADVICE}, /* slurmctld would end */
		{DBD "AccountingStorageTRES=license/a,gres/gpu\n", "gpu:8", EUR, false, NULL,
		 SLURM_ADVICE},
		{DBD "AccountingStorageTRES=license/a\n", "gpu:8", 0, false,
		 "/s/slurm.conf:2: AccountingStorageTRES=license/a; write "
		 "AccountingStorageTRES=license/a,gres/gpu: GPUs are in no job's usage",
		 SLURM_WARNING},
		{DBD "AccountingStorageTRES=gres/gpu:h100\n", "gpu:8", EUR, false,
		 "/s/slurm.conf:2: AccountingStorageTRES=gres/gpu:h100; write "
		 "AccountingStorageTRES=gres/gpu:h100,gres/gpu: with weights for GPUs that",
		 SLURM_ERROR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		world_init(&w);
		w.slurm = rows[i].slurm;
		w.conf->billing_unit_nano_h = rows[i].unit;
		add_pool(&w, "c", "c1", "CPUs=1 RealMemory=9", rows[i].gres)->price_nano_h = EUR;
		world_run(&w);
		print_message("# row %zu\n", i);
		assert_int_equal(strstr(w.body, "\nAccountingStorageTRES=gres/gpu\n") != NULL,
				 rows[i].written);
		if (rows[i].want != NULL)
			assert_true(world_says(&w, rows[i].severity, rows[i].want));
		else
			assert_false(world_names(&w, "gres/gpu"));
		world_fini(&w);
	}
}

/* --- what a site says ----------------------------------------------------------------------------
 */

struct said {
	const char *slurm, *want; /* NULL: nothing */
	enum slurm_severity severity;
};

static void check(const struct said *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct world w;

		world_init(&w);
		w.slurm = rows[i].slurm;
		w.conf->billing_unit_nano_h = EUR / 100;
		add_pool(&w, "c", "c[1-2]", "CPUs=1 RealMemory=9", gpus)->price_nano_h = EUR;
		world_run(&w);
		print_message("# row %zu: %s", i, rows[i].slurm);
		if (rows[i].want != NULL)
			assert_true(world_says(&w, rows[i].severity, rows[i].want));
		else if (w.findings.n > 0)
			fail_msg("%s", w.findings.v[0].text);
		assert_int_equal(w.findings.n, rows[i].want != NULL);
		world_fini(&w);
	}
}

#define ENFORCE(x)                                                                                 \
	DBD "AccountingStorageTRES=gres/gpu\nPriorityType=priority/multifactor\n"                  \
	    "PriorityWeightFairshare=1\nPriorityWeightTRES=GRES/gpu=1\nPriorityFlags=MAX_TRES\n" x
#define NAMES "/s/slurm.conf:7: AccountingStorageEnforce="

static void test_what_is_enforced(void **state)
{
	static const struct said rows[] = {
		{ENFORCE("AccountingStorageEnforce=limits,safe\n"), NULL, SLURM_ADVICE},
		{ENFORCE("AccountingStorageEnforce=ALL\n"), NULL, SLURM_ADVICE},
		{ENFORCE("AccountingStorageEnforce=safe\n"), NULL, SLURM_ADVICE},
		{ENFORCE(""),
		 "/s/slurm.conf:0: AccountingStorageEnforce is not set; write "
		 "AccountingStorageEnforce=limits,safe: a job may name any account",
		 SLURM_WARNING},
		{ENFORCE("AccountingStorageEnforce=nosteps\n"),
		 NAMES "nosteps; write AccountingStorageEnforce=nosteps,limits,safe: a job may",
		 SLURM_WARNING},
		{ENFORCE("AccountingStorageEnforce=associations,qos\n"),
		 NAMES "associations,qos; write AccountingStorageEnforce=associations,qos,limits,"
		       "safe: limits of accounts and QOS",
		 SLURM_ADVICE},
		{ENFORCE("AccountingStorageEnforce=limits\n"),
		 NAMES "limits; write AccountingStorageEnforce=limits,safe: a job starts that",
		 SLURM_ADVICE},
		{ENFORCE("AccountingStorageEnforce=all,nojobs\n"),
		 NAMES "all,nojobs; write AccountingStorageEnforce=all: no job is in the",
		 SLURM_WARNING},
	};

	(void)state;
	check(rows, sizeof(rows) / sizeof(rows[0]));
}

#define ACCOUNTS                                                                                   \
	DBD "AccountingStorageTRES=gres/gpu\nAccountingStorageEnforce=limits,safe\n"               \
	    "PriorityFlags=MAX_TRES\n"

static void test_fair_share(void **state)
{
	static const struct said rows[] = {
		{ACCOUNTS "PriorityType=priority/basic\n",
		 "/s/slurm.conf:5: PriorityType=priority/basic; write "
		 "PriorityType=priority/multifactor: jobs start in the order",
		 SLURM_ADVICE},
		{ACCOUNTS, "/s/slurm.conf:0: PriorityType is not set; write", SLURM_ADVICE},
		{ACCOUNTS "PriorityType=priority/multifactor\nPriorityWeightTRES=CPU=1\n",
		 "/s/slurm.conf:0: PriorityWeightFairshare is not set; write "
		 "PriorityWeightFairshare=10000: ",
		 SLURM_ADVICE},
		{ACCOUNTS "PriorityType=priority/multifactor\nPriorityWeightTRES=CPU=1\n"
			  "PriorityWeightFairShare=0\n",
		 "/s/slurm.conf:7: PriorityWeightFairshare=0; write", SLURM_ADVICE},
		{ACCOUNTS "PriorityType=priority/multifactor\nPriorityWeightFairshare=5\n",
		 "/s/slurm.conf:0: PriorityWeightTRES is not set; write PriorityWeightTRES=CPU=",
		 SLURM_ADVICE},
	};
	struct world w;

	(void)state;
	check(rows, sizeof(rows) / sizeof(rows[0]));
	/* A weight for what it does not count would end slurmctld. */
	world_init(&w);
	w.slurm = DBD "AccountingStorageTRES=license/a\nAccountingStorageEnforce=limits,safe\n"
		      "PriorityType=priority/multifactor\nPriorityWeightFairshare=1\n";
	add_pool(&w, "c", "c[1-2]", "CPUs=1 RealMemory=9", gpus);
	world_run(&w);
	assert_int_equal(w.findings.n, 1);
	assert_true(world_names(&w, "AccountingStorageTRES=license/a,gres/gpu"));
	world_fini(&w);
	/* 25.05 has fair share without being told. */
	world_init(&w);
	w.slurm = ACCOUNTS "PriorityWeightFairshare=5\nPriorityWeightTRES=CPU=1\n";
	w.release = "25.05.0";
	add_pool(&w, "c", "c[1-2]", "CPUs=1 RealMemory=9", gpus);
	world_run(&w);
	assert_int_equal(w.findings.n, 0);
	world_fini(&w);
}

#define FAIR                                                                                       \
	DBD "AccountingStorageTRES=gres/gpu\nAccountingStorageEnforce=limits,safe\n"               \
	    "PriorityType=priority/multifactor\nPriorityWeightFairshare=1\n"                       \
	    "PriorityWeightTRES=GRES/gpu=1\n"

static void test_how_parts_are_summed(void **state)
{
	static const struct said rows[] = {
		{FAIR,
		 "/s/slurm.conf:0: PriorityFlags is not set; write PriorityFlags=MAX_TRES: jobs "
		 "are billed by their GPUs alone",
		 SLURM_ADVICE},
		{FAIR "PriorityFlags=SMALL_RELATIVE_TO_TIME\n",
		 "/s/slurm.conf:7: PriorityFlags=SMALL_RELATIVE_TO_TIME; write "
		 "PriorityFlags=SMALL_RELATIVE_TO_TIME,MAX_TRES: ",
		 SLURM_ADVICE},
		{FAIR "PriorityFlags=MAX_TRES_GRES\n", NULL, SLURM_ADVICE},
	};
	struct world w;

	(void)state;
	check(rows, sizeof(rows) / sizeof(rows[0]));
	world_init(&w);
	w.slurm = FAIR "PriorityFlags=MAX_TRES_GRES\n";
	w.release = "25.11.7";
	w.conf->billing_unit_nano_h = EUR;
	add_pool(&w, "c", "c1", "CPUs=1 RealMemory=9", "")->price_nano_h = EUR;
	world_run(&w);
	assert_true(world_says(&w, SLURM_ADVICE,
			       "/s/slurm.conf:7: PriorityFlags=MAX_TRES_GRES; write "
			       "PriorityFlags=MAX_TRES: jobs are billed by their CPUs alone"));
	world_fini(&w);
}

#define LOW                                                                                        \
	"PartitionName=low Nodes=burst-c SuspendTime=9 ResumeTimeout=661 "                         \
	"TRESBillingWeights=CPU=100,Mem=11377.777778G,GRES/gpu=12.500001 PriorityTier=2 "
#define TOP  "\nPartitionName=top Nodes=c1 PriorityTier=5\n"
#define PRIO "PreemptType=preempt/partition_prio\n"

static void test_preemption(void **state)
{
	static const struct said rows[] = {
		{GOOD LOW "\nPartitionName=top Nodes=c1 PriorityTier=2\n", NULL, SLURM_ADVICE},
		{GOOD LOW "\nPartitionName=top Nodes=own1 PriorityTier=5\n", NULL, SLURM_ADVICE},
		{GOOD LOW TOP,
		 "/s/slurm.conf:0: PreemptType is not set; write "
		 "PreemptType=preempt/partition_prio: with PreemptMode=REQUEUE; partition top is "
		 "before low",
		 SLURM_ADVICE},
		{GOOD "PreemptType=preempt/none\n" LOW TOP,
		 "/s/slurm.conf:8: PreemptType=preempt/none; write ", SLURM_ADVICE},
		{GOOD "PreemptType=preempt/qos\n" LOW TOP, NULL, SLURM_ADVICE},
		{GOOD PRIO "PreemptMode=requeue\n" LOW TOP, NULL, SLURM_ADVICE},
		{GOOD PRIO "PreemptMode=CANCEL\n" LOW "PreemptMode=REQUEUE" TOP, NULL,
		 SLURM_ADVICE},
		{GOOD PRIO "PreemptMode=SUSPEND,GANG\n" LOW TOP,
		 "/s/slurm.conf:9: partition low: PreemptMode=SUSPEND,GANG; write "
		 "PreemptMode=REQUEUE: a suspended job's nodes bill on",
		 SLURM_WARNING},
		{GOOD PRIO "PreemptMode=REQUEUE\n" LOW "PreemptMode=SUSPEND" TOP,
		 "/s/slurm.conf:10: partition low: PreemptMode=SUSPEND; write", SLURM_WARNING},
		{GOOD PRIO "PreemptMode=REQUEUE\n" LOW "PreemptMode=CANCEL" TOP,
		 "/s/slurm.conf:10: partition low: PreemptMode=CANCEL; write", SLURM_ADVICE},
		{GOOD PRIO "PreemptMode=REQUEUE\n" LOW "PreemptMode=OFF" TOP,
		 "/s/slurm.conf:10: partition low: no PreemptMode; write", SLURM_ADVICE},
	};

	(void)state;
	check(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_partitions_of_the_site(void **state)
{
	static const struct said rows[] = {
		{GOOD "PartitionName=p Nodes=burst-c SuspendTime=9 ResumeTimeout=661\n",
		 "/s/slurm.conf:8: partition p: write TRESBillingWeights=\"CPU=100,Mem=11377.777778"
		 "G,GRES/gpu=12.500001\" for nodes of pool \"c\"",
		 SLURM_ADVICE},
		{GOOD "PartitionName=p Nodes=burst-c SuspendTime=9 ResumeTimeout=661 "
		      "TRESBillingWeights=\"CPU=1\"\n",
		 "/s/slurm.conf:8: partition p: write TRESBillingWeights=", SLURM_ADVICE},
		{GOOD "PartitionName=p Nodes=burst-c SuspendTime=9 ResumeTimeout=661 "
		      "TRESBillingWeights=\"cpu=100,mem=11377.777778G,gres/gpu=12.500001\"\n",
		 NULL, SLURM_ADVICE},
	};

	(void)state;
	check(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Without accounting only who has budgets, or a unit, hears of it. */
static void test_no_accounting(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct world w;

		world_init(&w);
		if (i == 1)
			w.conf->billing_unit_nano_h = EUR;
		if (i == 2) {
			w.conf->budgets = mem_zalloc(sizeof(*w.conf->budgets));
			w.conf->budgets[0].name = mem_strdup("b");
		}
		add_pool(&w, "c", "c1", "CPUs=1 RealMemory=9", "")->price_nano_h = EUR;
		assert_int_equal(conf_finish(w.conf, NULL), 0);
		w.conf->nbudgets = i == 2; /* after the check of its own options */
		world_run(&w);
		assert_null(strstr(w.body, "Weights"));
		if (i == 0)
			assert_int_equal(w.findings.n, 0);
		else
			assert_true(
				world_says(&w, SLURM_WARNING,
					   "/s/slurm.conf:0: AccountingStorageType is not set; "
					   "write "
					   "AccountingStorageType=accounting_storage/slurmdbd"));
		world_fini(&w);
	}
}

static void test_no_price(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.slurm = GOOD;
	w.conf->billing_unit_nano_h = EUR;
	add_pool(&w, "c", "c1", "CPUs=1 RealMemory=9", "");
	world_run(&w);
	assert_int_equal(w.findings.n, 1);
	assert_true(world_says(&w, SLURM_WARNING,
			       "burstd.conf:10: pool \"c\": no price is set here or in "
			       "prices.conf, so Slurm bills its CPUs: "));
	world_fini(&w);
}

/* --- sacctmgr ------------------------------------------------------------------------------------
 */

static void test_sacctmgr(void **state)
{
	struct conf_budget budgets[] = {
		{.name = (char *)(uintptr_t) "astro", .amount_nano = 1000 * EUR},
		{.name = (char *)(uintptr_t) "rate", .rate_nano_h = EUR}};
	struct slurmconf_want want;
	struct conf_pool *p;
	struct world w;
	struct str s;

	(void)state;
	world_init(&w);
	w.conf->billing_unit_nano_h = EUR / 100;
	p = add_ladder(&w);
	add_offer(p, "a", PROVIDER_SPOT, 3 * EUR);
	add_offer(p, "b", PROVIDER_ON_DEMAND, 7 * EUR);
	assert_int_equal(conf_finish(w.conf, NULL), 0);
	w.conf->budgets = budgets;
	w.conf->nbudgets = 2;
	want = (struct slurmconf_want){.conf = w.conf};
	str_init(&s, 1 << 16);
	slurmconf_sacctmgr(&want, &s);
	assert_non_null(strstr(s.p, "\nsacctmgr -i add qos burst-c-spot\n"
				    "sacctmgr -i modify qos burst-c-spot set "
				    "UsageFactor=0.428571\n"));
	/* 1000 EUR are 100,000 unit-hours. */
	assert_non_null(strstr(s.p, "\nsacctmgr -i modify qos burst-astro set "
				    "GrpTRESMins=billing=6000000 Flags=NoDecay\n"));
	assert_null(strstr(s.p, "burst-rate"));
	for (char *save = NULL, *line = strtok_r(s.p, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		/* Nothing of what may be another program's. */
		assert_true(line[0] == '#' ||
			    strncmp(line, "sacctmgr -i add qos burst-", 26) == 0 ||
			    strncmp(line, "sacctmgr -i modify qos burst-", 29) == 0);
		assert_null(strstr(line, "RawUsage"));
		assert_null(strstr(line, "GrpSubmit"));
	}
	w.conf->budgets = NULL;
	w.conf->nbudgets = 0;
	str_fini(&s);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_a_whole_node_is_its_price),
		cmocka_unit_test(test_the_unit_is_said),
		cmocka_unit_test(test_the_list_price),
		cmocka_unit_test(test_negotiated_prices),
		cmocka_unit_test(test_gpus_are_counted),
		cmocka_unit_test(test_what_is_enforced),
		cmocka_unit_test(test_fair_share),
		cmocka_unit_test(test_how_parts_are_summed),
		cmocka_unit_test(test_preemption),
		cmocka_unit_test(test_partitions_of_the_site),
		cmocka_unit_test(test_no_accounting),
		cmocka_unit_test(test_no_price),
		cmocka_unit_test(test_sacctmgr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
