/* preview.c and what place.c remembers: what a ladder is now, what would be bought for a job and
 * why not elsewhere; an admin's order to try again.  And that to look changes nothing. */
#include "preview_ask.h"

enum { SLOW_MS = 20000 }; /* the clock is the real one */

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
	assert_int_equal(engine_offer_refused(e, 0, offer(e, NEAR)->name, PROVIDER_CAPACITY), 3);
	assert_int_equal(engine_offer_refused(e, 0, offer(e, MID)->name, PROVIDER_CAPACITY), 0);
	assert_int_equal(engine_offer_refused(e, 0, offer(e, NEAR)->name, PROVIDER_QUOTA), 0);
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
	assert_int_equal(engine_offer_refused(e, 0, offer(e, MID)->name, PROVIDER_CAPACITY), 2);
	assert_int_equal(engine_offer_refused(e, 0, offer(e, MID)->name, PROVIDER_INVALID), 1);
	assert_int_equal(engine_offer_refused(e, 0, offer(e, NEAR)->name, PROVIDER_CAPACITY), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_ladder_has_its_order_its_prices_and_what_is_bought_where),
		TEST(what_refused_is_left_out_with_the_reason_and_what_was_said),
		TEST(refusals_are_counted_node_by_node),
		TEST(nothing_changes_by_looking),
		TEST(what_is_refused_is_tried_again_after_as_long_as_its_job_waits),
		TEST(a_paused_pool_refuses_and_what_is_no_list_is_an_error),
		TEST(cooldowns_are_told_word_by_word),
		TEST(an_admin_has_what_cools_down_tried_again),
	};

	return cmocka_run_group_tests_name("preview", tests, NULL, NULL);
}
