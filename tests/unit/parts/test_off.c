/* What cannot be used does not keep the rest from working: a provider whose files or driver fail,
 * and sections that only the journal has (F58: it is as it was under another configuration). */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "keys/vouchers.h"
#include "loaded_engine.h"
#include "store/journal_usage.h"

static struct conf_pool pool_at(const char *name, const char *nodes, const char *provider)
{
	struct conf_pool p = make_pool(name, nodes, 3);

	free(p.provider);
	p.provider = mem_strdup(provider);
	return p;
}

static void add_provider(struct conf *c, const char *name)
{
	struct conf_provider p = {.name = mem_strdup(name),
				  .driver = mem_strdup("fake"),
				  .url = mem_strdup(""),
				  .settle_ms = 60000,
				  .list_ms = 30000,
				  .timeout_ms = 30000,
				  .concurrency = 4};

	c->providers = mem_realloc(c->providers, (c->nproviders + 1) * sizeof(p));
	c->providers[c->nproviders++] = p;
}

static void add_pool(struct conf *c, struct conf_pool p)
{
	c->pools = mem_realloc(c->pools, (c->npools + 1) * sizeof(p));
	c->pools[c->npools++] = p;
}

/* Pool "pool" of provider "cloud"; and pool "gone", of provider "far" or of the same. */
static struct conf *conf_of(bool far, const char *second)
{
	struct conf *c = one_pool("c[1-3]", 3);

	if (far)
		add_provider(c, "far");
	if (second != NULL)
		add_pool(c, pool_at("gone", second, far ? "far" : "cloud"));
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

/* A row of pool "gone", as another configuration wrote it. */
static struct node put(const struct fix *f, const char *name, enum node_state state,
		       const char *provider)
{
	struct journal_tx *tx = journal_begin(f->journal);
	struct node n;

	node_init(&n, name, 1, loop_now(f->loop) - 3600000);
	n.state = state;
	n.wake_ms = INT64_MAX;
	n.rate_nano_h = 2000000000;
	if (state != NODE_WANTED) {
		n.start_ms = n.wanted_ms;
		(void)snprintf(n.instance, sizeof(n.instance), "i-%.20s", name);
	}
	(void)snprintf(n.provider, sizeof(n.provider), "%s", provider);
	journal_put_node(tx, &n, "gone");
	assert_int_equal(journal_commit(tx, NULL), 0);
	return n;
}

static const struct node *row(const struct fix *f, const char *name)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, name);

	assert_non_null(nm);
	assert_non_null(nm->newest);
	return &nm->newest->n;
}

/* The pool is removed, its provider is not: its rows are seen to, count and cost. */
static void test_a_removed_pool(void **state)
{
	struct fix *f = *state;
	struct journal_tx *tx;
	const struct journal_usage u = {.pool = "gone",
					.node = "g9",
					.instance = "i-9",
					.gen = 1,
					.start_ms = 1,
					.end_ms = 2,
					.rate_nano_h = 1,
					.cost_nano = 7000000000};

	(void)put(f, "g1", NODE_READY, "cloud");
	(void)put(f, "g2", NODE_WANTED, "cloud");
	tx = journal_begin(f->journal);
	journal_put_usage(tx, &u);
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	assert_int_equal(f->e->conf->npools, 2);
	assert_string_equal(f->e->conf->pools[1].name, "gone");
	assert_true(f->e->conf->pools[1].removed);
	assert_int_equal(row(f, "g1")->pool, 1);
	assert_int_equal(row(f, "g1")->cloud, 0);
	assert_null(engine_off(f->e, 0));
	assert_int_equal(f->e->fleet.pools[1].nodes, 2);
	assert_true(engine_spent(f->e, 1) >= INT64_C(9000000000)); /* a bill, and an hour */
	assert_non_null(strstr(engine_blocked(f->e, 1), "not have it any more"));
	/* Its instances are not strays, and nothing more is bought. */
	assert_true(cloud_ready(&f->e->cloud->all[0], PROVIDER_LIST));
	assert_null(engine_offer_of(f->e, row(f, "g1")));
	assert_non_null(pool_refusal(f->e, row(f, "g2")));
	f->e->poll.snapshot_ms = engine_now(f->e);
	pool_refuse_wanted(f->e);
	assert_int_equal(row(f, "g2")->state, NODE_GONE);
	assert_int_equal(row(f, "g2")->reason, NODE_BECAUSE_INVALID);
	assert_int_equal(row(f, "g1")->state, NODE_READY);
}

/* It has nothing left but what it has cost. */
static void test_the_cost_of_a_removed_pool(void **state)
{
	struct fix *f = *state;
	struct journal_tx *tx = journal_begin(f->journal);
	const struct journal_usage u = {
		.pool = "gone", .node = "g9", .instance = "i-9", .cost_nano = 5};

	journal_put_usage(tx, &u);
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	assert_int_equal(f->e->conf->npools, 2);
	assert_int_equal(engine_spent(f->e, 1), 5);
}

/* Without their provider nobody can see to its rows: they stay as they are. */
static void test_a_removed_provider(void **state)
{
	struct fix *f = *state;
	struct cloud *far;

	(void)put(f, "g1", NODE_READY, "far");
	(void)put(f, "g2", NODE_DELETING, "far");
	assert_int_equal(load_conf(f, conf_of(false, "g[1-2]"), NULL), 0);
	assert_int_equal(f->e->conf->nproviders, 2);
	assert_int_equal(row(f, "g1")->cloud, 1);
	assert_false(f->e->conf->pools[1].removed);
	far = &f->e->cloud->all[1];
	assert_non_null(strstr(engine_off(f->e, 1), "not have it any more"));
	assert_false(cloud_ready(far, PROVIDER_LIST));
	assert_int_equal(cloud_next_ms(far), INT64_MAX);
	off_hurry(f->e); /* a reload does not bring it back */
	assert_int_equal(cloud_next_ms(far), INT64_MAX);
	cloud_run(far);
	f->e->poll.snapshot_ms = engine_now(f->e);
	remove_part.at[PART_RUN](f->e);
	assert_null(f->e->cloud->requests);
	assert_int_equal(row(f, "g2")->state, NODE_DELETING);
	assert_int_equal(f->e->fleet.pools[1].nodes, 2);
}

/* Nothing of it is there any more: it is not shown as a provider that fails. */
static void test_a_removed_provider_of_which_all_is_gone(void **state)
{
	struct fix *f = *state;

	(void)put(f, "g1", NODE_GONE, "far");
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	assert_int_equal(f->e->conf->nproviders, 1);
	assert_int_equal(f->e->conf->npools, 1);
}

/* A create of it is in doubt: it is neither repeated nor given up. */
static void test_a_batch_of_a_removed_provider(void **state)
{
	struct fix *f = *state;
	struct journal_batch b = {.id = 5, .token = "t-5", .pool = "gone", .provider = "far"};
	struct journal_tx *tx;
	struct node n = put(f, "g1", NODE_INDOUBT, "far");

	n.batch = 5;
	tx = journal_begin(f->journal);
	journal_put_node(tx, &n, "gone");
	journal_put_batch(tx, &b);
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	assert_non_null(f->e->buy->batches);
	assert_int_equal(f->e->buy->batches->cloud, 1);
	launch_part.at[PART_RUN](f->e);
	assert_null(f->e->cloud->requests);
	assert_int_equal(row(f, "g1")->state, NODE_INDOUBT);
}

/* Rows that do not say where they were bought, of a pool that is removed or now has two providers:
 * they are not taken for those of another provider. */
static void test_rows_of_nobody_knows_where(void **state)
{
	struct fix *f = *state;

	(void)put(f, "g1", NODE_READY, "");
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	assert_string_equal(f->e->conf->providers[row(f, "g1")->cloud].name, OFF_UNKNOWN);
	assert_non_null(strstr(engine_off(f->e, 1), "do not say where they were bought"));
	assert_string_equal(row(f, "g1")->provider, "");
	assert_false(f->e->buy->unplaced);
	/* With the pool as it was they are known again. */
	assert_int_equal(load_conf(f, conf_of(false, "g[1-2]"), NULL), 0);
	assert_string_equal(row(f, "g1")->provider, "cloud");
}

static const char *files_fail; /* of provider 0 */
static unsigned files_asked;

static int some_files(void *ctx, struct conf_provider *p, size_t i, const char **credential,
		      struct err *e)
{
	(void)ctx;
	(void)p;
	*credential = "word";
	files_asked += i == 0;
	if (i == 0 && files_fail != NULL)
		return err_set(e, ERR_IO, "%s", files_fail);
	return 0;
}

/* It is off, the others work, and when its file is there it is on again. */
static void test_a_missing_credential(void **state)
{
	struct fix *f = *state;
	struct cloud *c;

	fake_files = some_files;
	files_fail = "credential_file: /nowhere: No such file or directory";
	assert_int_equal(load_conf(f, conf_of(true, "g[1-2]"), NULL), 0);
	c = &f->e->cloud->all[0];
	assert_string_equal(engine_off(f->e, 0), files_fail);
	assert_string_equal(engine_provider_source(f->e, 0).error, files_fail);
	assert_null(engine_off(f->e, 1));
	assert_false(cloud_ready(c, PROVIDER_LIST));
	assert_true(cloud_ready(&f->e->cloud->all[1], PROVIDER_LIST));
	/* Each minute, and not more often. */
	files_asked = 0;
	off_run(c);
	assert_int_equal(files_asked, 0);
	assert_int_equal(cloud_next_ms(c), c->off_next);
	assert_in_range(c->off_next - engine_now(f->e), 59000, 60000);
	c->off_next = engine_now(f->e);
	off_run(c);
	assert_int_equal(files_asked, 1);
	assert_true(off_is(c));
	assert_in_range(c->off_next - engine_now(f->e), 59000, 60000);
	/* A reload does not wait for that. */
	off_hurry(f->e);
	assert_int_equal(c->off_next, engine_now(f->e));
	files_fail = NULL;
	c->list_step = 0;
	off_run(c);
	assert_null(engine_off(f->e, 0));
	assert_true(cloud_ready(c, PROVIDER_LIST));
	assert_int_equal(c->list_step, ENGINE_LOOK_MS); /* what it has is looked at soon */
	assert_int_equal(c->caps.create_max, 1000);
	fake_files = NULL;
}

/* What the provider itself allows is known once its driver is open: it holds from then on. */
static void test_it_is_on_again_with_the_limits_of_its_own(void **state)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.requests = {2, 1, 1000}, .instances = {50, 5, 1000}}};
	struct fix *f = *state;
	struct limit_kind *creates;

	fake_files = some_files;
	files_fail = "credential_file: /nowhere: No such file or directory";
	fake_limits = own;
	assert_int_equal(load_conf(f, conf_of(true, "g[1-2]"), NULL), 0);
	creates = &f->e->cloud->all[0].limit.kinds[PROVIDER_CREATE];
	assert_int_equal(creates->requests.gains, 0);
	files_fail = NULL;
	off_hurry(f->e);
	off_run(&f->e->cloud->all[0]);
	assert_null(engine_off(f->e, 0));
	assert_int_equal(creates->requests.size, 2);
	assert_int_equal(creates->requests.gains, 1);
	assert_int_equal(creates->instances.size, 50);
	assert_true(cloud_ready(&f->e->cloud->all[0], PROVIDER_CREATE));
	fake_limits = NULL;
	fake_files = NULL;
}

/* Likewise where the driver refuses what is in it. */
static void test_a_driver_that_does_not_open(void **state)
{
	struct fix *f = *state;

	fake_open_fails = "the credential is not one word";
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	fake_open_fails = NULL;
	assert_string_equal(engine_off(f->e, 0), "the credential is not one word");
	off_hurry(f->e);
	off_run(&f->e->cloud->all[0]);
	assert_null(engine_off(f->e, 0));
}

/* What was wanted there is refused, so that its job may be told or climb; what is there stays. */
static void test_nothing_is_bought_while_it_is_off(void **state)
{
	struct fix *f = *state;
	struct ladder_known *known;

	(void)put(f, "g1", NODE_WANTED, "cloud");
	(void)put(f, "g2", NODE_BOOTING, "cloud");
	fake_open_fails = "no key";
	assert_int_equal(load_conf(f, conf_of(false, "g[1-2]"), NULL), 0);
	fake_open_fails = NULL;
	known = place_known(f->e, 1);
	assert_string_equal(known[0].off, "no key");
	free(known);
	assert_int_equal(place_next_price(f->e, 1), 0);
	assert_string_equal(pool_refusal(f->e, row(f, "g1")), "provider cloud is off: no key");
	f->e->poll.snapshot_ms = engine_now(f->e);
	launch_part.at[PART_RUN](f->e);
	assert_int_equal(row(f, "g1")->state, NODE_GONE);
	assert_int_equal(row(f, "g1")->reason, NODE_BECAUSE_DENIED);
	assert_int_equal(row(f, "g2")->state, NODE_BOOTING);
}

/* A reload may bring a pool back or another one; which index a row names stays the same. */
static void test_reload_with_a_removed_pool(void **state)
{
	struct fix *f = *state;
	struct err err = {0};
	struct conf *next;

	(void)put(f, "g1", NODE_READY, "cloud");
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	next = one_pool("c[1-3]", 3);
	add_pool(next, pool_at("new", "n[1-2]", "cloud"));
	assert_int_equal(conf_finish(next, NULL), 0);
	assert_int_equal(engine_reload(f->e, next, &err), 0);
	assert_int_equal(next->npools, 3);
	assert_true(next->pools[1].removed);
	assert_string_equal(next->pools[row(f, "g1")->pool].name, "gone");
	assert_string_equal(conf_pool_of(next, "n1")->name, "new");
	assert_string_equal(conf_pool_of(next, "c1")->name, "pool");
	/* It is back. */
	next = conf_of(false, "g[1-2]");
	add_pool(next, pool_at("new", "n[1-2]", "cloud"));
	next->by_node.n = 0;
	map_fini(&next->by_node);
	map_init(&next->by_node);
	for (size_t i = 0; i < next->npools; i++) {
		hostlist_free(next->pools[i].nodes);
		free(next->pools[i].own.name);
	}
	assert_int_equal(conf_finish(next, NULL), 0);
	assert_int_equal(engine_reload(f->e, next, &err), 0);
	assert_false(next->pools[1].removed);
	assert_null(engine_blocked(f->e, 1));
	assert_true(fleet_find(&f->e->fleet, "g1")->listed);
	/* The old refusal: what is there may not go while burstd runs. */
	next = conf_of(false, NULL);
	assert_int_equal(engine_reload(f->e, next, &err), -1);
	assert_non_null(strstr(err.msg, "pool \"gone\" is gone or has moved"));
	conf_free(next);
}

static void count_change(void *ctx, const struct conf_change *change)
{
	assert_string_equal(change->title, "gone"); /* it is new, and nothing else changed */
	assert_null(change->from);
	++*(unsigned *)ctx;
}

/* What is not in the file is not printed as if it were, is no change, and lacks nothing in
 * slurm.conf.
 */
static void test_a_removed_pool_is_not_in_the_file(void **state)
{
	static const char config[] = "Configuration data as of 2026-01-01T00:00:00\n"
				     "BOOT_TIME               = 2026-01-01T00:00:00\n"
				     "SLURM_VERSION           = 24.11.5\n"
				     "ResumeTimeout           = 60 sec\n\n";
	struct fix *f = *state;
	const struct slurm_report *r;
	struct conf *next;
	struct str s;
	unsigned n = 0;

	(void)put(f, "g1", NODE_READY, "far");
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	str_init(&s, 1 << 20);
	conf_print(f->e->conf, &s);
	assert_null(strstr(s.p, "gone"));
	assert_null(strstr(s.p, "far"));
	str_fini(&s);
	next = conf_of(false, NULL);
	conf_diff(f->e->conf, next, count_change, &n);
	assert_int_equal(n, 0);
	conf_free(next);
	next = conf_of(false, "g[1-2]");
	conf_diff(f->e->conf, next, count_change, &n);
	assert_int_equal(n, 1);
	conf_free(next);
	assert_string_equal(engine_prereq_error(f->e), "");
	prereq_answer(f->e, SLURM_CONFIG, NULL, 0);
	assert_string_equal(engine_prereq_error(f->e), "scontrol show config failed");
	prereq_answer(f->e, SLURM_CONFIG, config, sizeof(config) - 1);
	prereq_answer(f->e, SLURM_PARTITIONS, NULL, 0);
	assert_string_equal(engine_prereq_error(f->e), "scontrol show partitions failed");
	prereq_answer(f->e, SLURM_CONFIG, "x", 1);
	prereq_answer(f->e, SLURM_PARTITIONS, "", 0);
	assert_non_null(strstr(engine_prereq_error(f->e), "cannot parse slurmctld's settings: "));
	assert_null(engine_prereq(f->e));
	prereq_answer(f->e, SLURM_CONFIG, config, sizeof(config) - 1);
	prereq_answer(f->e, SLURM_PARTITIONS, "", 0);
	assert_string_equal(engine_prereq_error(f->e), "");
	prereq_answer(f->e, SLURM_CONFIG, NULL, 0);
	assert_string_equal(engine_prereq_error(f->e), ""); /* as of a minute ago */
	r = engine_prereq(f->e);
	assert_true(r->n > 0);
	for (size_t i = 0; i < r->n; i++)
		assert_null(strstr(r->problems[i].found, "more")); /* "for pool pool and 1 more" */
}

/* A provider comes back with a restart alone. */
static void test_reload_with_a_removed_provider(void **state)
{
	struct fix *f = *state;
	struct err err = {0};
	struct conf *next;

	(void)put(f, "g1", NODE_READY, "far");
	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	next = conf_of(true, NULL);
	assert_int_equal(engine_reload(f->e, next, &err), -1);
	assert_non_null(strstr(err.msg, "provider \"far\" is new: this needs a restart"));
	conf_free(next);
	next = conf_of(false, NULL);
	assert_int_equal(engine_reload(f->e, next, &err), 0);
	assert_int_equal(next->nproviders, 2);
	assert_true(next->providers[1].removed);
	assert_ptr_equal(f->e->cloud->all[1].conf, &next->providers[1]);
	assert_int_equal(load_conf(f, conf_of(true, NULL), NULL), 0);
	assert_null(engine_off(f->e, 1));
	assert_int_equal(row(f, "g1")->cloud, 1);
}

static int forget(void **state)
{
	fake_files = NULL;
	files_fail = fake_open_fails = NULL;
	return teardown(state);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, forget)

/* One that could not be opened at the start is checked as all were then: an offer of it may name a
 * fabric, which its driver has none of. */
static void test_a_provider_that_is_on_again_must_have_what_offers_name(void **state)
{
	struct fix *f = *state;
	struct err err;

	assert_int_equal(load_conf(f, conf_of(false, NULL), NULL), 0);
	assert_int_equal(engine_may_use(f->e, 0, &err), 0);
	f->e->conf->pools[0].own.in_fabric = "job";
	assert_int_equal(engine_may_use(f->e, 0, &err), -1);
	assert_non_null(strstr(err.msg, "fabric: driver fake has none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_removed_pool),
		T(test_the_cost_of_a_removed_pool),
		T(test_a_removed_provider),
		T(test_a_removed_provider_of_which_all_is_gone),
		T(test_a_batch_of_a_removed_provider),
		T(test_rows_of_nobody_knows_where),
		T(test_a_missing_credential),
		T(test_it_is_on_again_with_the_limits_of_its_own),
		T(test_a_driver_that_does_not_open),
		T(test_nothing_is_bought_while_it_is_off),
		T(test_reload_with_a_removed_pool),
		T(test_reload_with_a_removed_provider),
		T(test_a_removed_pool_is_not_in_the_file),
		T(test_a_provider_that_is_on_again_must_have_what_offers_name),
	};

	return cmocka_run_group_tests_name("parts/off", tests, NULL, NULL);
}
