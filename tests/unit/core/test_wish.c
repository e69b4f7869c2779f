/* test_wish.c - what a comment may take away, whose wishes must be known, and the features that
 * --constraint needs. */
#include "core/wish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/constraint.h"
#include "small_conf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char aws[] = "aws", lambda[] = "lambda", upper[] = "OCI", letter[] = "x";
static struct conf_provider providers[] = {
	{.name = aws}, {.name = lambda}, {.name = upper}, {.name = letter}};
static const struct conf three = {.providers = providers, .nproviders = COUNT(providers)};

/* "CONSTRAINT; PLACES; PRICE", "-" for what is not restricted. */
static void show(const struct wish *w, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%s; ", w->constraint != NULL ? w->constraint : "-");

	if (w->jurisdictions == NULL)
		n += (size_t)snprintf(out + n, size - n, "-");
	else if (w->jurisdictions[0] == NULL)
		n += (size_t)snprintf(out + n, size - n, "nowhere");
	for (size_t i = 0; w->jurisdictions != NULL && w->jurisdictions[i] != NULL; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? "," : "",
				      w->jurisdictions[i]);
	(void)snprintf(out + n, size - n, w->max_price_nano_h != 0 ? "; %lld" : "; -",
		       (long long)w->max_price_nano_h);
}

static const struct {
	const char *name, *comment, *want, *unknown; /* NULL: all was understood */
} rows[] = {
	{"no comment", NULL, "-; -; -", NULL},
	{"an empty one", "", "-; -; -", NULL},
	{"some text", "for the paper, see ticket 7", "-; -; -", NULL},
	{"spot", "burst:spot", "spot; -; -", NULL},
	{"on-demand", "burst:ondemand", "ondemand; -; -", NULL},
	{"on-demand as in burstd.conf", "burst:on-demand", "on-demand; -; -", NULL},
	{"reserved", "burst:reserved", "reserved; -; -", NULL},
	{"two markets are alternatives", "burst:spot,reserved", "(spot|reserved); -; -", NULL},
	{"a provider", "burst:aws", "aws; -; -", NULL},
	{"two providers", "burst:lambda,aws", "(lambda|aws); -; -", NULL},
	{"one of a single letter", "burst:x", "x; -; -", NULL},
	{"... or another", "burst:x,aws", "(x|aws); -; -", NULL},
	{"... and a market", "burst:x burst:spot", "x&spot; -; -", NULL},
	{"both kinds count", "burst:aws,spot", "spot&aws; -; -", NULL},
	{"alternatives of both kinds", "burst:aws,spot,lambda,ondemand",
	 "(spot|ondemand)&(aws|lambda); -; -", NULL},
	{"a place", "burst:EU", "-; EU; -", NULL},
	{"two places", "burst:DE,FR", "-; DE,FR; -", NULL},
	{"a place that is nowhere restricts to it", "burst:XX", "-; XX; -", NULL},
	{"a provider in capitals is no place", "burst:OCI", "OCI; -; -", NULL},
	{"a price", "burst:max_price=20", "-; -; 20000000000", NULL},
	{"a price with decimals", "burst:max_price=0.5", "-; -; 500000000", NULL},
	{"the lower price", "burst:max_price=20,max_price=3,max_price=9", "-; -; 3000000000", NULL},
	{"all at once", "burst:aws,EU,max_price=20,spot", "spot&aws; EU; 20000000000", NULL},
	{"among other words", "run 7 burst:spot of 9", "spot; -; -", NULL},
	{"behind a comma", "project=x,burst:spot", "spot; -; -", NULL},
	{"between semicolons", "a;burst:spot;b", "spot; -; -", NULL},
	{"behind a newline", "a\nburst:spot\nb", "spot; -; -", NULL},
	{"behind a tab", "a\tburst:spot\tEU", "spot; -; -", NULL},
	{"not in a word", "sunburst:spot", "-; -; -", NULL},
	{"not in a path", "/burst:spot", "-; -; -", NULL},
	{"after one that is none", "xburst:EU burst:spot", "spot; -; -", NULL},
	{"one in another", "burst:burst:EU", "-; -; -", "\"burst:EU\" was left out"},
	{"another case", "Burst:spot", "-; -; -", NULL},
	{"two of them both count", "burst:spot burst:aws", "spot&aws; -; -", NULL},
	{"two that exclude each other", "burst:spot burst:ondemand", "spot&ondemand; -; -", NULL},
	{"two lists of places: what both allow", "burst:EU burst:DE,US", "-; DE; -", NULL},
	{"the other way round", "burst:DE,US burst:EU", "-; DE; -", NULL},
	{"all that both allow", "burst:DE,FR burst:EU,US", "-; DE,FR; -", NULL},
	{"each of both lists, once", "burst:EU,US burst:US,DE,FR", "-; US,DE,FR; -", NULL},
	{"EU is within EEA", "burst:EEA burst:EU", "-; EU; -", NULL},
	{"the same twice", "burst:EU burst:EU", "-; EU; -", NULL},
	{"nothing that both allow", "burst:EU burst:US", "-; nowhere; -", NULL},
	{"nor does a third", "burst:EU burst:US burst:US", "-; nowhere; -", NULL},
	{"a slip", "burst:spott", "-; -; -", "comment: \"spott\" was left out"},
	{"a slip beside what is understood", "burst:spott,EU", "-; EU; -", "\"spott\""},
	{"the first slip is told", "burst:one,two", "-; -; -", "\"one\""},
	{"... of all", "burst:one burst:two", "-; -; -", "\"one\""},
	{"nothing", "burst:", "-; -; -", "\"\" was left out"},
	{"a comma too many", "burst:spot,", "spot; -; -", "\"\" was left out"},
	{"a blank behind the comma", "burst:spot, EU", "spot; -; -", "\"\" was left out"},
	{"no price", "burst:max_price=", "-; -; -", "\"max_price=\""},
	{"a price of nothing", "burst:max_price=0", "-; -; -", "\"max_price=0\""},
	{"a price without its sign", "burst:max_price:20", "-; -; -", "\"max_price:20\""},
	{"another price", "burst:min_price=20", "-; -; -", "\"min_price=20\""},
	{"a price in letters", "burst:max_price=cheap", "-; -; -", "\"max_price=cheap\""},
	{"a negative price", "burst:max_price=-1", "-; -; -", "\"max_price=-1\""},
	{"an overflowing price", "burst:max_price=99999999999999999999", "-; -; -", "max_price="},
	{"an expression is none", "burst:spot|aws", "-; -; -", "\"spot|aws\""},
	{"nor is a group", "burst:(spot)", "-; -; -", "\"(spot)\""},
	{"a lower-case place", "burst:eu", "-; -; -", "\"eu\""},
	{"control bytes are shown as none", "burst:a\x7f\xff", "-; -; -", "\"a?"},
};

static void test_what_a_comment_wishes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct wish w;
		struct err e;
		char got[300];

		print_message("# %s\n", rows[i].name);
		memset(&w, 0x7f, sizeof(w));
		memset(&e, 0x7f, sizeof(e));
		wish_init(&w, rows[i].comment, &three, &e);
		show(&w, got, sizeof(got));
		assert_string_equal(got, rows[i].want);
		assert_int_equal(e.code != 0, rows[i].unknown != NULL);
		if (rows[i].unknown != NULL && strstr(e.msg, rows[i].unknown) == NULL)
			fail_msg("%s: %s", rows[i].name, e.msg);
		wish_fini(&w);
		assert_null(w.constraint);
	}
}

/* A list that is longer than can be kept allows less, not more. */
static void test_places_beyond_the_limit_are_left_out(void **state)
{
	char comment[WISH_COMMENT_MAX] = "burst:";
	size_t n = strlen(comment), kept = 0;
	struct wish w;
	struct err e;

	(void)state;
	for (int i = 0; i < WISH_CODES_MAX; i++)
		n += (size_t)snprintf(comment + n, sizeof(comment) - n, "A%c%c,", 'A' + i / 26,
				      'A' + i % 26);
	comment[n - 1] = '\0';
	wish_init(&w, comment, &three, &e);
	assert_int_equal(e.code, 0);
	wish_fini(&w);
	(void)snprintf(comment + n - 1, sizeof(comment) - n, ",DE");
	wish_init(&w, comment, &three, &e);
	assert_non_null(strstr(e.msg, "\"DE\""));
	while (w.jurisdictions[kept] != NULL)
		kept++;
	assert_int_equal(kept, WISH_CODES_MAX);
	wish_fini(&w);
}

static void test_a_comment_too_long_is_not_read(void **state)
{
	char comment[WISH_COMMENT_MAX + 2];
	struct wish w;
	struct err e;

	(void)state;
	memset(comment, 'x', sizeof(comment));
	memcpy(comment, "burst:spot ", 11);
	comment[WISH_COMMENT_MAX] = '\0';
	wish_init(&w, comment, &three, &e);
	assert_string_equal(w.constraint, "spot");
	wish_fini(&w);
	comment[WISH_COMMENT_MAX] = 'x';
	comment[WISH_COMMENT_MAX + 1] = '\0';
	wish_init(&w, comment, &three, &e);
	assert_null(w.constraint);
	assert_int_equal(e.code, ERR_LIMIT);
	wish_fini(&w);
}

/* Whatever a user writes: it ends, and the constraint means for each offer what its words mean. */
static void test_any_bytes_are_read(void **state)
{
	static const char *const bits[] = {
		"burst:",     "spot", "ondemand", "aws", "lambda", ",", "EU", "DE", "US",
		"max_price=", "2",    " ",        ";",   "\n",     "x", "&",  "(",  ")"};
	const struct conf_offer offer = {.provider = aws, .market = PROVIDER_SPOT};
	uint64_t dice = 7;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		char comment[200] = "";
		size_t len = 0;
		struct wish w;
		struct err e;

		for (int k = 0; k < 14; k++) {
			const char *bit;

			dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407U;
			bit = bits[(dice >> 33) % COUNT(bits)];
			memcpy(comment + len, bit, strlen(bit) + 1);
			len += strlen(bit);
		}
		wish_init(&w, comment, &three, &e);
		if (w.constraint != NULL) /* our own words: never "perhaps" */
			assert_int_not_equal(constraint_ask(w.constraint, &three, &offer),
					     CONSTRAINT_MAYBE);
		assert_true(w.max_price_nano_h >= 0);
		wish_fini(&w);
	}
}

/* --- what must be known ------------------------------------------------------------------------
 */

static void add_offer(struct conf_pool *p, const char *name, const char *provider,
		      const char *market)
{
	struct conf_offer *o;

	p->offers = mem_realloc(p->offers, (p->noffers + 1) * sizeof(*o));
	o = &p->offers[p->noffers++];
	*o = (struct conf_offer){.name = mem_strdup(name)};
	set("offer", "provider", o, provider);
	set("offer", "type", o, "t");
	set("offer", "region", o, "r");
	set("offer", "zone", o, name);
	set("offer", "market", o, market);
	set("offer", "jurisdiction", o, "");
}

static struct conf_pool *bare_pool(struct conf *c, const char *name, const char *nodes)
{
	struct conf_pool *p;

	add_pool(c, name, "one", nodes, 10);
	p = &c->pools[c->npools - 1];
	free(p->provider);
	free(p->type);
	free(p->region);
	p->provider = p->type = p->region = NULL;
	return p;
}

/* a1 to a3 plain, m1 to m3 mixed, k1 to k3 with comments. */
static struct conf *wish_conf(void)
{
	struct conf *c = small_conf();
	struct conf_pool *p;
	struct err e = {0};

	add_pool(c, "plain", "one", "a[1-3]", 10);
	p = bare_pool(c, "mixed", "m[1-3]");
	add_offer(p, "s", "one", "spot");
	add_offer(p, "o", "one", "on-demand");
	add_pool(c, "comments", "one", "k[1-3]", 10);
	set("pool", "job_comment", &c->pools[2], "true");
	if (conf_finish(c, &e) != 0)
		fail_msg("%s", e.msg);
	return c;
}

static void test_what_a_node_needs(void **state)
{
	struct conf *c = wish_conf();

	(void)state;
	assert_int_equal(wish_need(c, "a1"), WISH_NOTHING);
	assert_int_equal(wish_need(c, "m1"), WISH_CONSTRAINT);
	assert_int_equal(wish_need(c, "k1"), WISH_COMMENT);
	assert_int_equal(wish_need(c, "x1"), WISH_NOTHING);
	assert_int_equal(wish_most(c), WISH_COMMENT);
	c->npools = 2;
	assert_int_equal(wish_most(c), WISH_CONSTRAINT);
	c->npools = 1;
	assert_int_equal(wish_most(c), WISH_NOTHING);
	c->pools[0].job_comment = 1;
	assert_int_equal(wish_most(c), WISH_COMMENT);
	c->npools = 3;
	conf_free(c);
}

/* Jobs 1, 2, ... with these nodes; K: the constraint is known, C: the comment too, else neither. */
static const struct {
	const char *name, *nodes[3], *known;
	bool jobs; /* are known */
	enum wish_need want;
} missing[] = {
	{"jobs of a plain pool", {"a1", "a2"}, "..", true, WISH_NOTHING},
	{"a job of a mixed pool", {"a1", "m1"}, "..", true, WISH_CONSTRAINT},
	{"its constraint is known", {"a1", "m1"}, ".K", true, WISH_NOTHING},
	{"one of two is not", {"m2", "m1"}, ".K", true, WISH_CONSTRAINT},
	{"a job of a pool with comments", {"k1"}, ".", true, WISH_COMMENT},
	{"a constraint is no comment", {"k1"}, "K", true, WISH_COMMENT},
	{"both are known", {"k1"}, "C", true, WISH_NOTHING},
	{"one in both pools", {"m1,k1"}, "K", true, WISH_COMMENT},
	{"one in both, all known", {"m1,k1"}, "C", true, WISH_NOTHING},
	{"the most of all jobs", {"k1", "m1"}, "..", true, WISH_COMMENT},
	{"nodes that are not ours", {"x1"}, ".", true, WISH_NOTHING},
	{"no jobs are known, plain", {"a1", "x1"}, NULL, false, WISH_NOTHING},
	{"no jobs are known, mixed", {"a1", "m1"}, NULL, false, WISH_CONSTRAINT},
	{"no jobs are known, comments", {"m1", "k1"}, NULL, false, WISH_COMMENT},
	{"no jobs are known, one node", {"m1"}, NULL, false, WISH_CONSTRAINT},
	{"an admin's power-up: there are no jobs", {"m1", "k1"}, NULL, true, WISH_NOTHING},
};

static void test_whose_wishes_must_be_asked_for(void **state)
{
	static const char list[] = "a[1-3],m[1-3],k[1-3],x1";
	struct conf *c = wish_conf();

	(void)state;
	for (size_t i = 0; i < COUNT(missing); i++) {
		struct demand d;
		char nodes[60] = "";

		print_message("# %s\n", missing[i].name);
		for (size_t k = 0; missing[i].known == NULL && missing[i].nodes[k] != NULL; k++)
			(void)snprintf(nodes + strlen(nodes), sizeof(nodes) - strlen(nodes), "%s%s",
				       k > 0 ? "," : "", missing[i].nodes[k]);
		if (missing[i].known != NULL)
			(void)snprintf(nodes, sizeof(nodes), "%s", list);
		assert_int_equal(demand_init(&d, nodes, strlen(nodes), NULL), 0);
		for (size_t k = 0; missing[i].known != NULL && missing[i].nodes[k] != NULL; k++) {
			const char *n = missing[i].nodes[k];

			assert_int_equal(demand_add_job(&d, k + 1, n, strlen(n), NULL), 0);
			d.jobs[k].wishes_known = missing[i].known[k] != '.';
			d.jobs[k].comment_known = missing[i].known[k] == 'C';
		}
		d.has_jobs = missing[i].jobs;
		assert_int_equal(wish_missing(&d, c), missing[i].want);
		demand_fini(&d);
	}
	conf_free(c);
}

/* Whatever the first node of the call is. */
static void test_nobody_is_asked_about_nodes_of_other_jobs(void **state)
{
	struct conf *c = wish_conf();
	struct demand d;

	(void)state;
	assert_int_equal(demand_init(&d, "k1,a1", 5, NULL), 0);
	assert_int_equal(demand_add_job(&d, 1, "a1", 2, NULL), 0);
	d.has_jobs = true;
	assert_int_equal(wish_missing(&d, c), WISH_NOTHING);
	demand_fini(&d);
	conf_free(c);
}

/* --- offers and their features ------------------------------------------------------------------
 */

static const struct {
	const char *name;
	struct {
		const char *provider, *market, *region, *jurisdiction;
	} offers[4];
	const char *features;
} pools[] = {
	{"one offer", {{"one", "spot", "r", ""}}, ""},
	{"two zones", {{"one", "spot", "r", ""}, {"one", "spot", "r", ""}}, ""},
	{"two markets", {{"one", "spot", "r", ""}, {"one", "on-demand", "r", ""}}, "spot,ondemand"},
	{"two markets in two zones",
	 {{"one", "spot", "r", ""},
	  {"one", "spot", "r", ""},
	  {"one", "on-demand", "r", ""},
	  {"one", "reserved", "r", ""}},
	 "spot,ondemand,reserved"},
	{"two providers", {{"one", "spot", "r", ""}, {"two", "spot", "r", ""}}, "one,two"},
	{"both",
	 {{"one", "spot", "r", ""}, {"two", "on-demand", "r", ""}, {"one", "on-demand", "r", ""}},
	 "spot,ondemand,one,two"},
	{"two regions", {{"one", "spot", "r", ""}, {"one", "spot", "q", ""}}, ""},
	{"two regions of one country",
	 {{"one", "spot", "r", "DE"}, {"one", "spot", "q", "DE"}},
	 ""},
	{"two countries", {{"one", "spot", "r", "DE"}, {"one", "spot", "r", "FR"}}, ""},
	{"one country is not told", {{"one", "spot", "r", "DE"}, {"one", "spot", "r", ""}}, ""},
	{"the third differs",
	 {{"one", "spot", "r", ""}, {"one", "spot", "r", ""}, {"two", "spot", "r", ""}},
	 "one,two"},
};

static void test_what_nodes_of_offers_must_carry_and_whose_jobs_are_asked(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(pools); i++) {
		struct conf *c = small_conf();
		struct conf_pool *p = bare_pool(c, "p", "n1");
		struct err e = {0};
		struct str s;

		print_message("# %s\n", pools[i].name);
		for (size_t k = 0; k < 4 && pools[i].offers[k].provider != NULL; k++) {
			char name[8];

			(void)snprintf(name, sizeof(name), "o%zu", k);
			add_offer(p, name, pools[i].offers[k].provider, pools[i].offers[k].market);
			set("offer", "region", &p->offers[k], pools[i].offers[k].region);
			set("offer", "jurisdiction", &p->offers[k],
			    pools[i].offers[k].jurisdiction);
		}
		if (conf_finish(c, &e) != 0)
			fail_msg("%s", e.msg);
		str_init(&s, 1000);
		wish_features(p, &s);
		assert_string_equal(s.p, pools[i].features);
		/* Whatever they are, a job may want none of them (A4: the others were taken out).
		 */
		assert_int_equal(wish_need(c, "n1"), WISH_CONSTRAINT);
		str_fini(&s);
		conf_free(c);
	}
}

static void test_a_feature_may_be_one_letter(void **state)
{
	struct conf_offer offers[] = {{.provider = letter}, {.provider = aws}};
	const struct conf_pool p = {.offers = offers, .noffers = COUNT(offers)};
	struct str s;

	(void)state;
	str_init(&s, 100);
	wish_features(&p, &s);
	assert_string_equal(s.p, "x,aws");
	str_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_comment_wishes),
		cmocka_unit_test(test_places_beyond_the_limit_are_left_out),
		cmocka_unit_test(test_a_comment_too_long_is_not_read),
		cmocka_unit_test(test_any_bytes_are_read),
		cmocka_unit_test(test_what_a_node_needs),
		cmocka_unit_test(test_whose_wishes_must_be_asked_for),
		cmocka_unit_test(test_nobody_is_asked_about_nodes_of_other_jobs),
		cmocka_unit_test(test_a_feature_may_be_one_letter),
		cmocka_unit_test(test_what_nodes_of_offers_must_carry_and_whose_jobs_are_asked),
	};

	return cmocka_run_group_tests_name("wish", tests, NULL, NULL);
}
