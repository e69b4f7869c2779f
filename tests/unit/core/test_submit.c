/* test_submit.c - the table by which job_submit.lua refuses: what is in it, and that all that is
 * not known, or moves, is rounded in favour of the job. */
#include "core/submit.h"

#include <inttypes.h>

#include "tests/unit/core/ladder_conf.h"

#include "base/zone.h"
#include "core/period.h"

enum { MANY = 600 };

static const int64_t euro = FMT_NANO;

static struct fix {
	struct conf *c;
	struct ladder_known known[2][CONF_OFFERS_MAX];
	struct ladder_known *rows[2];
	struct submit_live live[2];
	struct submit_partition part;
	uint32_t of_pool[2];
	struct submit s;
	struct str out;
	struct zone *zone;
	struct budgets *b;
} F;

static int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	F.c = empty_conf();
	set("", "currency", F.c, "EUR");
	set("pool", "max_nodes", &F.c->pools[0], "8");
	set("pool", "max_rate", &F.c->pools[0], "300");
	F.rows[0] = F.known[0];
	F.rows[1] = F.known[1];
	F.of_pool[0] = 9;
	F.part = (struct submit_partition){.name = (char *)(uintptr_t) "gpu",
					   .list = (char *)(uintptr_t) "n[1-9]",
					   .total = 9,
					   .of_pool = F.of_pool};
	F.s = (struct submit){.conf = F.c,
			      .known = F.rows,
			      .live = F.live,
			      .partitions = &F.part,
			      .npartitions = 1};
	str_init(&F.out, SUBMIT_TEXT_MAX);
	F.zone = zone_new("UTC", NULL);
	F.b = budgets_new(F.zone, now);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	budgets_free(F.b);
	zone_free(F.zone);
	str_fini(&F.out);
	conf_free(F.c);
	return 0;
}

static struct conf_offer *offer(const char *name, const char *market, const char *price)
{
	struct conf_offer *o = add_offer(F.c->pools, name, "aws", "eu-north-1", market);

	if (price != NULL)
		set("offer", "price", o, price);
	return o;
}

static const char *print(void)
{
	str_clear(&F.out);
	submit_print(&F.s, &F.out);
	return F.out.p;
}

/* The table with "|" for each tab, and its last line. */
static void check(const char *want)
{
	char all[4096];

	(void)snprintf(all, sizeof(all), "%s", print());
	for (char *p = all; *p != '\0'; p++)
		*p = (char)(*p == '\t' ? '|' : *p);
	assert_string_equal(all, want);
}

static bool has(const char *text)
{
	return strstr(print(), text) != NULL;
}

static void test_whole(void **state)
{
	char head[SUBMIT_HEAD_MAX];
	struct str text;

	(void)state;
	offer("a", "on-demand", "30");
	offer("b", "spot", NULL);
	set("pool", "job_comment", F.c->pools, "true");
	set("pool", "gres", F.c->pools, "gpu:h100:8,nic:2,gpu:a100:1");
	finish(F.c);
	check("site|currency=EUR|providers=aws,lambda\n"
	      "pool|name=p|can=8|why=pool p has max_nodes "
	      "8|gpus=h100:8,a100:1|constraint=1|comment=1\n"
	      "rung|pool=p|market=ondemand|provider=aws|price=30000000000|in=SE,EU,EEA\n"
	      "rung|pool=p|market=spot|provider=aws|price=0|in=SE,EU,EEA\n"
	      "partition|name=gpu|total=9|others=0|list=n[1-9]|pools=p:9\n"
	      "end\n");
	str_init(&text, 16);
	str_adds(&text, "end\n");
	submit_head(head, &text, INT64_C(1767362400999));
	assert_string_equal(head, "burstd-submit\t1\t1767362400\t4\t912543605d90f000\n");
	str_fini(&text);
}

/* The price that counts is the least that a node may cost, and one of spot moves. */
static void test_prices(void **state)
{
	static const struct {
		const char *name, *market, *price, *max_price;
		int64_t known, agreed;
		const char *rung, *can; /* rung NULL: it is left out */
	} rows[] = {
		{"configured", "on-demand", "100", NULL, 0, 0, "price=100000000000", "can=3"},
		{"list price", "on-demand", NULL, NULL, 150, 0, "price=150000000000", "can=2"},
		{"reserved", "reserved", "301", NULL, 0, 0, "price=301000000000", "can=0"},
		{"agreed", "on-demand", "100", NULL, 0, 50, "price=50000000000", "can=6"},
		{"exactly", "on-demand", "37.5", NULL, 0, 0, "price=37500000000", "can=8"},
		{"not known yet", "on-demand", NULL, NULL, 0, 0, "price=0", "can=8"},
		{"spot moves", "spot", NULL, NULL, 150, 0, "price=0", "can=8"},
		{"spot of a known price", "spot", "100", NULL, 0, 0, "price=100000000000", "can=3"},
		{"spot of an agreed price", "spot", NULL, NULL, 0, 100, "price=100000000000",
		 "can=3"},
		{"too dear", "on-demand", "100", "99", 0, 0, NULL, "can=0"},
		{"spot too dear today", "spot", NULL, "99", 150, 0, "price=0", "can=8"},
		{"spot too dear for good", "spot", "100", "99", 0, 0, NULL, "can=0"},
		{"not offered today", "on-demand", NULL, NULL, -1, 0, "price=0", "can=8"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_offer *o;

		print_message("# %s\n", rows[i].name);
		if (i > 0)
			assert_int_equal(setup(NULL), 0);
		o = offer("a", rows[i].market, rows[i].price);
		if (rows[i].max_price != NULL)
			set("offer", "max_price", o, rows[i].max_price);
		finish(F.c);
		F.known[0][0].price = rows[i].known < 0 ? rows[i].known : rows[i].known * euro;
		F.known[0][0].agreed = rows[i].agreed * euro;
		assert_true(has(rows[i].can));
		assert_int_equal(has("\nrung\t"), rows[i].rung != NULL);
		if (rows[i].rung != NULL)
			assert_true(has(rows[i].rung));
		if (i + 1 < COUNT(rows))
			assert_int_equal(teardown(NULL), 0);
	}
}

/* Passing trouble of a provider rules nothing out: only prices are asked. */
static void test_trouble_passes(void **state)
{
	(void)state;
	offer("a", "on-demand", "30");
	finish(F.c);
	F.known[0][0] = (struct ladder_known){.away_ms = now,
					      .off = "no credential",
					      .keyless = "no listener",
					      .cool = {.state = COOLDOWN_DENIED}};
	assert_true(has("can=8"));
	assert_true(has("\nrung\t"));
}

static void test_no_place(void **state)
{
	(void)state;
	offer("a", "on-demand", NULL);
	F.known[0][0].price = LADDER_UNPRICED;
	finish(F.c);
	assert_true(has("can=0\twhy=pool p buys none: a: aws quotes no price for it, and none is "
			"configured"));
	assert_false(has("\nrung\t"));
	set("pool", "jurisdictions", F.c->pools, "US");
	F.known[0][0].price = 0;
	assert_true(has("why=pool p buys none: a: US only: eu-north-1 is outside"));
	set("pool", "max_rate", F.c->pools, "20");
}

static void test_spot_share(void **state)
{
	(void)state;
	offer("a", "spot", "10");
	finish(F.c);
	F.c->pools[0].spot_share = 0;
	assert_true(has("can=0"));
	F.c->pools[0].spot_share = 1; /* its first node may have to wait for others, not for good */
	assert_true(has("can=8"));
	assert_true(has("\nrung\t"));
}

static void test_rate(void **state)
{
	(void)state;
	offer("a", "on-demand", "100");
	offer("b", "on-demand", "80");
	finish(F.c);
	assert_true(has("can=3\twhy=pool p has max_rate 300.00 EUR/h, and a node costs 80.00\t"));
	F.known[0][1].price = 0;
	F.c->pools[0].offers[1].price_nano_h = 0;
	assert_true(has("can=8\twhy=pool p has max_nodes 8\t"));
}

/* What is up is there, whatever the limits and offers are now. */
static void test_live(void **state)
{
	(void)state;
	offer("a", "on-demand", "100");
	set("offer", "max_price", &F.c->pools[0].offers[0], "50");
	finish(F.c);
	F.live[0] = (struct submit_live){.nodes = 9, .least_nano_h = 7 * euro, .rungs = 1};
	assert_true(has("can=9\t"));
	assert_true(has("\tlive=7000000000\tconstraint=1\n"));
	assert_true(has("\nrung\t"));
	F.live[0].strange = true;
	assert_false(has("constraint=1"));
	F.live[0] = (struct submit_live){.nodes = 1, .least_nano_h = 0};
	assert_true(has("\tlive=0\t"));
	/* Machines that are up may have been cheaper than the next one. */
	F.c->pools[0].offers[0].max_price_nano_h = 0;
	F.live[0] = (struct submit_live){.nodes = 3, .rate_nano_h = 30 * euro};
	assert_true(has("can=5\t"));
	F.live[0].rate_nano_h = 201 * euro;
	assert_true(has("can=3\t"));
	F.live[0] = (struct submit_live){.nodes = 1, .rate_nano_h = 250 * euro};
	assert_true(has("\tlive=0\t"));
}

static void test_gpus(void **state)
{
	(void)state;
	offer("a", "on-demand", "1");
	finish(F.c);
	assert_false(has("gpus="));
	set("pool", "gres", F.c->pools, "nic:2");
	assert_true(has("\tgpus=\t"));
	set("pool", "gres", F.c->pools, "gpu:8");
	assert_true(has("\tgpus=:8\t"));
	F.live[0].own_gres = true;
	assert_false(has("gpus="));
}

/* What a reader might take for something else is left out. */
static void test_words(void **state)
{
	(void)state;
	offer("a", "on-demand", "1");
	finish(F.c);
	assert_true(has("\npartition\t"));
	F.part.name = (char *)(uintptr_t) "a\tpools=x";
	assert_false(has("\npartition\t"));
	F.part.name = (char *)(uintptr_t) "gpu";
	F.part.list = (char *)(uintptr_t) "n1\nend";
	assert_false(has("\npartition\t"));
	F.part.list = (char *)(uintptr_t) "n[1-9]";
	F.of_pool[0] = 0;
	F.part.others = 9;
	assert_false(has("\npartition\t")); /* nothing of burstd's */
	F.of_pool[0] = 9;
	F.c->pools[0].removed = true;
	assert_false(has("\npartition\t"));
	assert_false(has("\npool\t"));
}

/* --- budgets -----------------------------------------------------------------------------------
 */

#define LIST(...) ((char **)(uintptr_t)(const char *[]){__VA_ARGS__, NULL})

static struct conf_budget budget(int64_t amount, const char *period)
{
	struct conf_budget b = {.name = (char *)(uintptr_t) "b",
				.market = CONF_MARKET_ANY,
				.stop_at = 100,
				.amount_nano = amount * FMT_NANO};

	assert_int_equal(period_parse(&b.period_rule, period, NULL), 0);
	return b;
}

/* Its lines, each with "|" for tabs; "" if it refuses nothing. */
static const char *lines_of(struct conf_budget *b)
{
	static char lines[1024];
	const char *p;
	size_t n = 0;

	F.c->budgets = b;
	F.c->nbudgets = 1;
	F.s.budgets = F.b;
	budgets_configure(F.b, b, 1);
	for (p = strstr(print(), "\nbudget\t"); p != NULL; p = strstr(p, "\nbudget\t")) {
		p++;
		n += (size_t)snprintf(lines + n, sizeof(lines) - n, "%.*s\n", (int)strcspn(p, "\n"),
				      p);
	}
	lines[n] = '\0';
	for (char *c = lines; *c != '\0'; c++)
		*c = (char)(*c == '\t' ? '|' : *c);
	F.c->budgets = NULL;
	F.c->nbudgets = 0;
	return lines;
}

static void test_budget(void **state)
{
	struct conf_budget b = budget(100, "month");

	(void)state;
	offer("a", "on-demand", "1");
	finish(F.c);
	assert_string_equal(lines_of(&b), "budget|all=1|name=b|most=100000000000|days=27\n");
	b.accounts = LIST("Physics", "chem");
	b.users = LIST("ann");
	b.contact = (char *)(uintptr_t) "finance";
	assert_string_equal(lines_of(&b), "budget|account=chem|name=b|most=100000000000|days=27|of="
					  "jobs|contact=finance|users=ann\n"
					  "budget|account=physics|name=b|most=100000000000|days=27|"
					  "of=jobs|contact=finance|users=ann\n");
	b.accounts = NULL;
	assert_string_equal(lines_of(&b), "budget|user=ann|name=b|most=100000000000|days=27|of="
					  "jobs|contact=finance|users=ann\n");
	b.users = LIST("a,b");
	assert_string_equal(lines_of(&b), "");
	b = budget(0, "month");
	b.rate_nano_h = 5 * euro;
	b.market = PROVIDER_SPOT;
	b.pools = LIST("p", "q");
	b.providers = LIST("aws");
	b.partitions = LIST("gpu");
	assert_string_equal(lines_of(&b), "budget|all=1|name=b|rate=5000000000|market=spot|"
					  "partitions=gpu|pools=p,q|providers=aws\n");
}

/* The most that there can ever be. */
static void test_most(void **state)
{
	const struct budget_override rise = {"b", "", false, 50 * euro, now + 1, 1};
	/* Of several the last counts, until it ends. */
	const struct budget_override set_to[] = {{"b", "", true, 400 * euro, INT64_MAX, 1},
						 {"b", "", true, 30 * euro, now + 1, 2}};
	struct conf_budget b = budget(100, "month");

	(void)state;
	offer("a", "on-demand", "1");
	finish(F.c);
	b.rollover = 10;
	assert_non_null(strstr(lines_of(&b), "most=110000000000|"));
	b.stop_at = 90;
	assert_non_null(strstr(lines_of(&b), "most=99000000000|"));
	b.stop_at = 100;
	(void)budgets_overrides(F.b, &rise, 1);
	assert_non_null(strstr(lines_of(&b), "most=160000000000|"));
	(void)budgets_overrides(F.b, set_to, 2); /* less now, and more from the next period on */
	assert_non_null(strstr(lines_of(&b), "most=440000000000|"));
	(void)budgets_overrides(F.b, NULL, 0);
	b.stop_at = 0; /* it only counts */
	assert_string_equal(lines_of(&b), "");
	b.stop_at = 100;
	b.reserve = CONF_RESERVE_MINIMUM;
	assert_string_equal(lines_of(&b), "");
	b.reserve = CONF_RESERVE_LEASE;
	b.lease_ms = 3600000;
	assert_non_null(strstr(lines_of(&b), "|lease=3600"));
}

static void test_periods(void **state)
{
	static const struct {
		const char *period, *days;
	} rows[] = {{"quarter", "days=89\n"},
		    {"year", "days=364\n"},
		    {"2026-01-01..2026-06-30", "days=364\n"},
		    {"rolling 30d", "days=0\n"}};

	(void)state;
	offer("a", "on-demand", "1");
	finish(F.c);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget b = budget(100, rows[i].period);

		assert_non_null(strstr(lines_of(&b), rows[i].days));
	}
}

static void test_accounts(void **state)
{
	struct conf_budget b = budget(100, "month");

	(void)state;
	offer("a", "on-demand", "1");
	finish(F.c);
	budgets_account(F.b, "optics", "physics");
	budgets_account(F.b, "optics", "chem"); /* it has moved */
	(void)lines_of(&b);
	assert_null(strstr(F.out.p, "\naccount\t")); /* nobody asks */
	b.accounts = LIST("chem");
	(void)lines_of(&b);
	assert_non_null(strstr(F.out.p, "\naccount\tname=optics\tparent=chem\n"));
	assert_null(strstr(F.out.p, "parent=physics"));
	for (int i = 0; i < SUBMIT_ACCOUNTS_MAX; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "a%d", i);
		budgets_account(F.b, name, "chem");
	}
	(void)lines_of(&b);
	assert_null(strstr(F.out.p, "\naccount\t"));
}

/* However much there is, the table stays small, whole, and ends with its last line. */
static void test_limits(void **state)
{
	struct conf_budget *b = mem_zalloc(MANY * sizeof(*b));
	struct submit_partition *parts = mem_zalloc(MANY * sizeof(*parts));
	char *list = mem_zalloc(2000), (*names)[16] = mem_zalloc(MANY * sizeof(*names));
	size_t all = 0;

	(void)state;
	offer("a", "on-demand", "1");
	finish(F.c);
	memset(list, 'n', 1999);
	for (int i = 0; i < MANY; i++) {
		b[i] = budget(100, "month");
		parts[i] = F.part;
		parts[i].list = list;
		(void)snprintf(names[i], sizeof(names[i]), "part%d", i);
		parts[i].name = names[i];
	}
	F.c->budgets = b;
	F.c->nbudgets = MANY;
	F.s.budgets = F.b;
	budgets_configure(F.b, b, MANY);
	(void)print();
	for (const char *p = F.out.p; (p = strstr(p, "\nbudget\t")) != NULL; p++)
		all++;
	assert_int_equal(all, SUBMIT_FOR_ALL_MAX);
	F.s.partitions = parts;
	F.s.npartitions = MANY;
	(void)print();
	assert_true(F.out.len > SUBMIT_TEXT_MAX - 4096 && F.out.len <= SUBMIT_TEXT_MAX);
	assert_false(F.out.full);
	assert_string_equal(F.out.p + F.out.len - 5, "\nend\n");
	/* Of a pool whose offers fill half of it there is nothing, nor of its partitions. */
	F.s.partitions = &F.part;
	F.s.npartitions = 1;
	free(F.c->pools[0].name);
	F.c->pools[0].name = mem_zalloc(SUBMIT_TEXT_MAX / 8);
	memset(F.c->pools[0].name, 'p', SUBMIT_TEXT_MAX / 8 - 1);
	assert_true(has("\npool\t"));
	assert_true(has("\npartition\t"));
	for (char name[] = "b"; name[0] < 'g'; name[0]++)
		offer(name, "on-demand", "1");
	assert_false(has("\npool\t"));
	assert_false(has("\npartition\t"));
	assert_false(has("\nbudget\t"));
	F.c->pools[0].noffers = 1;
	F.part.list = list = mem_realloc(list, SUBMIT_LIST_MAX + 2);
	memset(list, 'n', SUBMIT_LIST_MAX + 1);
	list[SUBMIT_LIST_MAX + 1] = '\0';
	assert_false(has("\npartition\t"));
	F.c->pools[0].noffers = 6;
	F.c->budgets = NULL;
	F.c->nbudgets = 0;
	free(names);
	free(list);
	free(parts);
	free(b);
}

/* It is written when it would differ, and before the reader takes it for an old one. */
static void test_when(void **state)
{
	struct submit_written w = {.at_ms = 0};

	(void)state;
	str_adds(&F.out, "a\n");
	assert_true(submit_is_due(&w, &F.out, 1000));
	assert_false(submit_is_due(&w, &F.out, 1001));
	assert_false(submit_is_due(&w, &F.out, 60999));
	assert_true(submit_is_due(&w, &F.out, 61000));
	assert_false(submit_is_due(&w, &F.out, 61001));
	str_adds(&F.out, "b\n");
	assert_true(submit_is_due(&w, &F.out, 61002));
	assert_false(submit_is_due(&w, &F.out, 61003));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_whole),      T(test_prices), T(test_trouble_passes), T(test_no_place),
		T(test_spot_share), T(test_rate),   T(test_live),           T(test_gpus),
		T(test_words),      T(test_budget), T(test_most),           T(test_periods),
		T(test_accounts),   T(test_limits), T(test_when),
	};

	(void)only_eu;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
