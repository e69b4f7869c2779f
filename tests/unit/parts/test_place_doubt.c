/* doubt.c: with a journal that is new or an older copy nothing is bought blindly (F58). */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "two_offers.h"

static void doubt(const struct fix *f, int64_t number)
{
	struct journal_tx *tx = journal_begin(f->journal);

	journal_put_number(tx, JOURNAL_DOUBTFUL, number);
	assert_int_equal(journal_commit(tx, NULL), 0);
}

static int64_t doubtful(const struct fix *f)
{
	int64_t n = -1;

	assert_int_equal(journal_get_number(f->journal, JOURNAL_DOUBTFUL, &n, NULL), 0);
	return n;
}

/* P2, F58: a node that the journal has lost may be at the one that is away, and be bought a second
 * time: with such a journal no time is long enough, over any number of starts. */
static void test_nothing_is_bought_blindly_with_a_doubtful_journal(void **state)
{
	struct fix *f = *state;
	struct node here;

	doubt(f, 1);
	for (int start = 0; start < 2; start++) {
		assert_int_equal(load(f, two_providers("dear"), NULL), 0);
		node_init(&here, "c1", 1, engine_now(f->e));
		place_set(f->e, &here, &f->e->conf->pools[0].offers[0], OD / 2);
		f->e->cloud->all[0].listed = true;
		doubt_list_seen(f->e);
		engine_commit(f->e);
		assert_null(pool_blocked(f->e, 0)); /* it may come in a moment */
		f->e->started_ms -= 3000000;
		assert_false(doubt_looked(f->e, 0));
		assert_false(doubt_may_send(f->e, &here));
		assert_ptr_equal(doubt_unlisted(f->e, 0), &f->e->cloud->all[1]);
		assert_non_null(strstr(pool_blocked(f->e, 0), f->e->conf->providers[1].name));
		assert_int_equal(doubtful(f), 1);
	}
	f->e->cloud->all[1].listed = true;
	doubt_list_seen(f->e);
	engine_commit(f->e);
	assert_true(doubt_may_send(f->e, &here));
	assert_null(pool_blocked(f->e, 0));
	assert_int_equal(doubtful(f), 0);
	assert_int_equal(load(f, two_providers("dear"), NULL), 0);
	f->e->started_ms -= 3000000;
	assert_true(doubt_looked(f->e, 0)); /* all that there is is in the journal */
}

/* burstd starts, and so late that nobody is waited for who is only late. */
static void starts_late(struct fix *f)
{
	assert_int_equal(load(f, two_providers("dear"), NULL), 0);
	f->e->started_ms -= 3000000;
}

static void lists(struct fix *f, size_t provider)
{
	f->e->cloud->all[provider].listed = true;
	doubt_list_seen(f->e);
	engine_commit(f->e);
}

/* P2, F58: a row of a provider that the configuration has no more is never shown by a list.  That
 * keeps the journal doubtful, and must not close the pools of others that were looked at, when one
 * of these is away after a later start. */
static void test_one_that_never_shows_anything_keeps_no_others_in_doubt(void **state)
{
	struct fix *f = *state;
	struct journal_tx *tx = journal_begin(f->journal);
	struct node n;

	make_ready(f, 3, &n);
	(void)snprintf(n.provider, sizeof(n.provider), "far");
	journal_put_node(tx, &n, "pool");
	assert_int_equal(journal_commit(tx, NULL), 0);
	doubt(f, 7000);
	starts_late(f);
	assert_int_equal(f->e->conf->nproviders, 3);
	lists(f, 0);
	assert_ptr_equal(doubt_unlisted(f->e, 0), &f->e->cloud->all[1]);
	lists(f, 1);
	assert_null(doubt_unlisted(f->e, 0));
	assert_int_equal(doubtful(f), 7000);
	starts_late(f);
	lists(f, 1);
	assert_null(doubt_unlisted(f->e, 0)); /* it was looked at in the life before */
	assert_null(pool_blocked(f->e, 0));
	assert_true(doubt_looked(f->e, 0));
	f->e->started_ms = engine_now(f->e); /* it may come in a moment, as with any journal */
	assert_false(doubt_looked(f->e, 0));
	/* Another older copy: what it says of the doubt before counts for nothing. */
	doubt(f, 8000);
	starts_late(f);
	lists(f, 1);
	assert_ptr_equal(doubt_unlisted(f->e, 0), &f->e->cloud->all[0]);
	assert_false(doubt_looked(f->e, 0));
}

/* ... nor need all show what they have in one life. */
static void test_each_shows_what_it_has_in_a_life_of_its_own(void **state)
{
	struct fix *f = *state;

	doubt(f, 7000);
	starts_late(f);
	lists(f, 0);
	assert_int_equal(doubtful(f), 7000);
	starts_late(f);
	assert_ptr_equal(doubt_unlisted(f->e, 0), &f->e->cloud->all[1]);
	assert_false(doubt_looked(f->e, 0));
	lists(f, 1);
	assert_int_equal(doubtful(f), 0);
	assert_true(doubt_looked(f->e, 0));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nothing_is_bought_blindly_with_a_doubtful_journal),
		T(test_one_that_never_shows_anything_keeps_no_others_in_doubt),
		T(test_each_shows_what_it_has_in_a_life_of_its_own),
	};
#undef T

	return cmocka_run_group_tests_name("a doubtful journal", tests, NULL, NULL);
}
