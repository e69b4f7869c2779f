/* test_metrics_offers.c - the metrics of offers, of the jobs that wait, and of problems. */
#include "metrics_text.h"

#include "api/explain.h"

static char spot[] = "spot", od[] = "od", sim[] = "sim", type[] = "t", none[] = "";

/* The pool has two offers, spot and od. */
static void start(struct engine *e)
{
	struct conf_pool *p;

	fill(e);
	p = &e->conf->pools[1];
	p->noffers = 2;
	p->offers = mem_zalloc(2 * sizeof(*p->offers));
	for (size_t i = 0; i < 2; i++)
		p->offers[i] = (struct conf_offer){.name = mem_strdup(i == 0 ? spot : od),
						   .provider = mem_strdup(sim),
						   .type = mem_strdup(type),
						   .region = mem_strdup(none),
						   .zone = mem_strdup(none)};
}

static char *written(struct engine *e)
{
	struct api api = {.engine = e};
	struct str s;

	str_init(&s, METRICS_MAX);
	metrics_write(&api, &s);
	assert_false(s.full);
	return str_take(&s);
}

#define SPOT "{pool=\"pool1\",offer=\"spot\""
#define OD   "{pool=\"pool1\",offer=\"od\""

static void has(const char *page, const char *line)
{
	const char *at = strstr(page, line);

	print_message("# %s", line);
	assert_non_null(at);
	assert_true(at[-1] == '\n');
}

static void both_can_be_bought(void **state)
{
	struct engine e;
	char *page;

	(void)state;
	start(&e);
	page = written(&e);
	has(page, "burstd_offer_nodes" SPOT "} 1\n");
	has(page, "burstd_offer_nodes" OD "} 2\n");
	has(page, "burstd_offer_price" SPOT ",currency=\"USD\"} 29.00\n");
	has(page, "burstd_offer_place" SPOT "} 1\n");
	has(page, "burstd_offer_place" OD "} 2\n");
	has(page, "burstd_offer_nodes_refused_total" SPOT ",reason=\"capacity\"} 0\n");
	has(page, "burstd_offer_nodes_refused_total" OD ",reason=\"capacity\"} 3\n");
	has(page, "burstd_offer_nodes_refused_total" OD ",reason=\"quota\"} 0\n");
	has(page, "burstd_offer_nodes_refused_total" OD ",reason=\"denied\"} 0\n");
	has(page, "burstd_offer_nodes_refused_total" OD ",reason=\"invalid\"} 0\n");
	assert_null(strstr(page, "burstd_offer_left_out{"));
	free(page);
	fake_fini(&e);
}

static void one_is_left_out(void **state)
{
	struct engine e;
	char *page;

	(void)state;
	start(&e);
	e.why = "no capacity";
	e.rung = 1;
	page = written(&e);
	has(page, "burstd_offer_place" SPOT "} 1\n");
	has(page, "burstd_offer_place" OD "} 0\n");
	has(page, "burstd_offer_left_out" OD ",cause=\"capacity\"} 1\n");
	assert_null(strstr(page, "burstd_offer_left_out" SPOT));
	assert_null(strstr(page, "burstd_offer_price" OD)); /* its price is not known */
	free(page);
	fake_fini(&e);
}

/* It has its place in the order, and yet nothing is bought there. */
static void one_would_pass_max_rate(void **state)
{
	struct engine e;
	char *page;

	(void)state;
	start(&e);
	e.over_rate = true;
	page = written(&e);
	has(page, "burstd_offer_place" SPOT "} 0\n");
	has(page, "burstd_offer_place" OD "} 2\n");
	has(page, "burstd_offer_left_out" SPOT ",cause=\"max-rate\"} 1\n");
	assert_null(strstr(page, "burstd_offer_left_out" OD));
	free(page);
	fake_fini(&e);
}

/* All reasons are there all the time, so that a graph has no gaps; the one of before a restart has
 * a word of its own. */
static void jobs_wait_for_reasons(void **state)
{
	struct engine e;
	char *page;
	size_t n = 0;

	(void)state;
	start(&e);
	e.npostponed = 4;
	page = written(&e);
	has(page, "burstd_jobs_waiting{reason=\"budget\"} 4\n");
	has(page, "burstd_jobs_waiting{reason=\"capacity\"} 0\n");
	has(page, "burstd_jobs_waiting{reason=\"unknown\"} 0\n");
	for (const char *p = page; (p = strstr(p, "burstd_jobs_waiting{")) != NULL; p++)
		n++;
	assert_int_equal(n, NODE_NREASONS);
	free(page);
	fake_fini(&e);
}

static void count(void *ctx, const char *sentence)
{
	size_t *n = ctx;

	(void)sentence;
	*n += 1;
}

/* As many as status has. */
static void problems_are_counted(void **state)
{
	struct engine e;
	char line[64], *page;
	size_t n = 0;

	(void)state;
	start(&e);
	e.npostponed = 4;
	e.postponed = (struct engine_postponed){.job = "7", .until_ms = FAKE_NOW};
	explain_problems(&e, count, &n);
	assert_true(n > 1);
	(void)snprintf(line, sizeof(line), "burstd_problems %zu\n", n);
	page = written(&e);
	has(page, line);
	free(page);
	fake_fini(&e);
}

static void a_rotation_that_is_blocked(void **state)
{
	static const struct {
		bool there, needs;
		const char *error, *want;
	} rows[] = {
		{false, false, "", "0"},   {true, false, "", "0"},
		{true, true, "", "1"},     {true, false, "the store refuses", "1"},
		{false, true, "old", "0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct engine e;
		char line[64], *page;

		start(&e);
		e.secrets = (struct engine_secrets){.driver = "vault"};
		e.rotation.there = rows[i].there;
		e.rotation.needs_credential = rows[i].needs;
		e.rotation.error = rows[i].error;
		page = written(&e);
		(void)snprintf(line, sizeof(line), "burstd_rotation_blocked %s\n", rows[i].want);
		has(page, line);
		free(page);
		fake_fini(&e);
	}
}

static char *long_name(char letter, int i)
{
	char name[PROVIDER_WORD_MAX + 1];

	memset(name, letter, PROVIDER_WORD_MAX);
	name[PROVIDER_WORD_MAX] = '\0';
	(void)snprintf(name, sizeof(name), "%c%d", letter, i);
	name[strlen(name)] = letter;
	return mem_strdup(name);
}

/* All pools and offers that burstd.conf may have, with names as long as they may be. */
static void the_most_offers_fit_the_page(void **state)
{
	static char lists[CONF_POOLS_MAX][16];
	const char *pointers[CONF_POOLS_MAX];
	struct engine e;
	char *page;

	(void)state;
	for (int i = 0; i < CONF_POOLS_MAX; i++) {
		(void)snprintf(lists[i], sizeof(lists[i]), "p%d-1", i);
		pointers[i] = lists[i];
	}
	fake_init(&e, pointers, CONF_POOLS_MAX);
	e.why = "no capacity"; /* each has a cause, too */
	for (int i = 0; i < CONF_POOLS_MAX; i++) {
		struct conf_pool *p = &e.conf->pools[i];

		free(p->name);
		p->name = long_name('p', i);
		p->noffers = CONF_OFFERS_MAX;
		p->offers = mem_zalloc(CONF_OFFERS_MAX * sizeof(*p->offers));
		for (int k = 0; k < CONF_OFFERS_MAX; k++)
			p->offers[k] = (struct conf_offer){.name = long_name('o', k),
							   .provider = mem_strdup(sim),
							   .type = mem_strdup(type),
							   .region = mem_strdup(none),
							   .zone = mem_strdup(none)};
	}
	page = written(&e); /* it is not full */
	assert_true(strlen(page) < METRICS_MAX / 2);
	free(page);
	fake_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_can_be_bought),
		cmocka_unit_test(one_is_left_out),
		cmocka_unit_test(one_would_pass_max_rate),
		cmocka_unit_test(jobs_wait_for_reasons),
		cmocka_unit_test(problems_are_counted),
		cmocka_unit_test(the_most_offers_fit_the_page),
		cmocka_unit_test(a_rotation_that_is_blocked),
	};

	return cmocka_run_group_tests_name("metrics_offers", tests, NULL, NULL);
}
