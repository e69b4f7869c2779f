/* test_conf_removed.c - sections that the file no longer has, while the journal has rows of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "small_conf.h"

static struct conf *with_pools(const char *const names[3])
{
	struct conf *c = small_conf();

	for (int i = 0; i < 3 && names[i] != NULL; i++)
		add_pool(c, names[i], "one", names[i], 100 * (i + 1));
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

static struct conf *pools_a_b(void)
{
	return with_pools((const char *const[3]){"a", "b", NULL});
}

/* The titles of all sections in their order, those that are removed in parentheses. */
static void check_sections(const struct conf *c, const char *want)
{
	struct str all;

	str_init(&all, 256);
	for (size_t i = 0; i < c->nproviders; i++)
		str_addf(&all, c->providers[i].removed ? "(%s) " : "%s ", c->providers[i].name);
	str_adds(&all, "-");
	for (size_t i = 0; i < c->npools; i++)
		str_addf(&all, c->pools[i].removed ? " (%s)" : " %s", c->pools[i].name);
	assert_string_equal(all.p, want);
	str_fini(&all);
}

/* Each option is the default; a text that has none is "", so that nobody meets a NULL. */
static void check_defaults(const char *section, const void *kept, void *fresh)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];
		bool text = o->type == CONF_NAME || o->type == CONF_NODES;

		if (strcmp(o->section, section) != 0)
			continue;
		if (o->initial != NULL && !conf_option_is_list(o))
			set(section, o->name, fresh, o->initial);
		if (o->initial == NULL && text)
			assert_string_equal(
				*(char *const *)(const void *)((const char *)kept + o->offset), "");
		else if (!conf_option_same(o, kept, fresh))
			fail_msg("%s %s", section, o->name);
		conf_option_fini(o, fresh);
	}
}

static void a_section_that_is_there_is_found_and_stays(void **state)
{
	struct conf *c = pools_a_b();

	(void)state;
	assert_int_equal(conf_keep_provider(c, "one"), 0);
	assert_int_equal(conf_keep_provider(c, "two"), 1);
	assert_int_equal(conf_keep_pool(c, "a"), 0);
	assert_int_equal(conf_keep_pool(c, "b"), 1);
	check_sections(c, "one two - a b");
	conf_free(c);
}

static void a_provider_of_the_journal_alone_comes_last_and_has_no_driver(void **state)
{
	struct conf *c = pools_a_b();
	struct conf_provider fresh = {.name = NULL};

	(void)state;
	assert_int_equal(conf_keep_provider(c, "x"), 2);
	assert_int_equal(conf_keep_provider(c, "y"), 3);
	assert_int_equal(conf_keep_provider(c, "x"), 2);
	check_sections(c, "one two (x) (y) - a b");
	assert_string_equal(c->providers[2].driver, "");
	assert_string_equal(c->providers[0].driver, "sim");
	check_defaults("provider", &c->providers[2], &fresh);
	conf_free(c);
}

static void a_pool_of_the_journal_alone_comes_last_and_can_buy_nothing(void **state)
{
	struct conf *c = pools_a_b();
	struct conf_pool fresh = {.name = NULL};
	const struct conf_pool *x;
	size_t nrungs = 9;

	(void)state;
	assert_int_equal(conf_keep_pool(c, "x"), 2);
	assert_int_equal(conf_keep_pool(c, "y"), 3);
	assert_int_equal(conf_keep_pool(c, "x"), 2);
	check_sections(c, "one two - a b (x) (y)");
	x = &c->pools[2];
	assert_int_equal(x->nodes->n, 0);
	assert_int_equal(x->max_nodes, 0);
	assert_int_equal(x->max_rate_nano_h, 0);
	assert_string_equal(conf_rungs(x, &nrungs)->name, "");
	assert_int_equal(nrungs, 0);
	check_defaults("pool", x, &fresh);
	conf_free(c);
}

/* The pools move when one is added, and each node is still found in its own. */
static void nodes_stay_in_their_pools(void **state)
{
	struct conf *c = small_conf();

	(void)state;
	add_pool(c, "a", "one", "a", 100);
	add_pool(c, "b", "one", "b[1-3],b", 200);
	assert_int_equal(conf_finish(c, NULL), 0);
	for (int i = 0; i < 20; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "x%d", i);
		assert_int_equal(conf_keep_pool(c, name), 2 + i);
		assert_ptr_equal(conf_pool_of(c, "a"), &c->pools[0]);
		assert_ptr_equal(conf_pool_of(c, "b3"), &c->pools[1]);
		assert_ptr_equal(conf_pool_of(c, "b"), &c->pools[1]);
		assert_null(conf_pool_of(c, name));
	}
	conf_free(c);
}

/* A row of the journal names its pool by an index: a reload must not move it. */
static void a_reload_keeps_removed_sections_at_their_places(void **state)
{
	struct conf *old = pools_a_b(), *next = with_pools((const char *const[3]){"a", "b", "c"});

	(void)state;
	(void)conf_keep_pool(old, "x");
	(void)conf_keep_provider(old, "w");
	(void)conf_keep_provider(old, "v");
	check_diff(old, next, "pool \"c\": new\n");
	conf_keep_removed(next, old);
	check_sections(next, "one two (w) (v) - a b (x) c");
	assert_ptr_equal(conf_pool_of(next, "a"), &next->pools[0]);
	assert_ptr_equal(conf_pool_of(next, "b"), &next->pools[1]);
	assert_ptr_equal(conf_pool_of(next, "c"), &next->pools[3]);
	assert_int_equal(conf_may_replace(old, next, NULL), 0);
	conf_free(old);

	/* The next one has it in the middle, and the one after that last. */
	old = next;
	next = with_pools((const char *const[3]){"a", "b", "c"});
	conf_keep_removed(next, old);
	check_sections(next, "one two (w) (v) - a b (x) c");
	conf_free(old);
	old = next;
	next = pools_a_b();
	conf_keep_removed(next, old);
	check_sections(next, "one two (w) (v) - a b (x)");
	conf_free(old);
	conf_free(next);
}

static void a_section_that_is_back_is_not_removed_any_more(void **state)
{
	struct conf *old = with_pools((const char *const[3]){"a", NULL}), *next = pools_a_b();
	struct err e = {0};

	(void)state;
	(void)conf_keep_pool(old, "b");
	assert_int_equal(conf_may_replace(old, next, &e), 0);
	(void)conf_keep_provider(old, "w");
	add_provider(next, "w", 9);
	conf_keep_removed(next, old);
	check_sections(next, "one two w - a b");
	check_diff(old, next, "provider \"w\": new\npool \"b\": new\n");
	assert_int_equal(conf_may_replace(old, next, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:9: provider \"w\" is new: this needs a restart");
	conf_free(old);
	conf_free(next);
}

/* What the file had until now is not removed yet: such a reload is refused. */
static void a_reload_without_a_section_does_not_keep_it(void **state)
{
	struct conf *old = pools_a_b(), *next = with_pools((const char *const[3]){"a", NULL});
	struct err e = {0};

	(void)state;
	conf_keep_removed(next, old);
	check_sections(next, "one two - a");
	assert_int_equal(conf_may_replace(old, next, &e), -1);
	assert_non_null(strstr(e.msg, "pool \"b\" is gone or has moved"));
	(void)conf_keep_pool(old, "x"); /* its place is behind b's */
	conf_keep_removed(next, old);
	check_sections(next, "one two - a");
	add_provider(old, "three", 7);
	conf_keep_removed(next, old);
	check_sections(next, "one two - a");
	(void)conf_keep_provider(old, "w"); /* its place is behind that one's */
	conf_keep_removed(next, old);
	check_sections(next, "one two - a");
	conf_free(old);
	conf_free(next);
}

static void a_file_without_a_section_keeps_those_of_the_journal(void **state)
{
	struct conf *old = conf_new("burstd.conf"), *next = conf_new("burstd.conf");

	(void)state;
	assert_int_equal(conf_keep_provider(old, "w"), 0);
	assert_int_equal(conf_keep_pool(old, "x"), 0);
	conf_keep_removed(next, old);
	check_sections(next, "(w) - (x)");
	conf_free(next);
	next = with_pools((const char *const[3]){"a", NULL});
	conf_keep_removed(next, old);
	check_sections(next, "one two - (x) a"); /* w's place is taken: such a reload is refused */
	conf_free(next);
	conf_free(old);
}

static void what_is_removed_is_not_shown(void **state)
{
	struct conf *c = pools_a_b(), *old = pools_a_b();
	struct str with, without;

	(void)state;
	(void)conf_keep_provider(c, "x");
	(void)conf_keep_pool(c, "y");
	str_init(&with, CONF_PRINT_MAX);
	str_init(&without, CONF_PRINT_MAX);
	conf_print(c, &with);
	conf_print(old, &without);
	assert_string_equal(with.p, without.p);
	check_diff(c, old, "");
	str_fini(&with);
	str_fini(&without);
	conf_free(c);
	conf_free(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_section_that_is_there_is_found_and_stays),
		cmocka_unit_test(a_provider_of_the_journal_alone_comes_last_and_has_no_driver),
		cmocka_unit_test(a_pool_of_the_journal_alone_comes_last_and_can_buy_nothing),
		cmocka_unit_test(nodes_stay_in_their_pools),
		cmocka_unit_test(a_reload_keeps_removed_sections_at_their_places),
		cmocka_unit_test(a_section_that_is_back_is_not_removed_any_more),
		cmocka_unit_test(a_reload_without_a_section_does_not_keep_it),
		cmocka_unit_test(a_file_without_a_section_keeps_those_of_the_journal),
		cmocka_unit_test(what_is_removed_is_not_shown),
	};

	return cmocka_run_group_tests_name("conf_removed", tests, NULL, NULL);
}
