/* inventory.c: a list that says things twice (F16), is of two providers, or older than what is
 * known. */
#include "diff/diff.h"
#include "journal_rows.h"
#include "listed_engine.h"

#include "store/journal_events.h"

enum tags { READABLE, MANGLED_TAGS, NO_TAGS, OF_OTHERS };

static const struct {
	const char *what;
	enum node_state row; /* of i-1 in the journal; GONE: it has lost that */
	struct {
		enum provider_state state;
		const char *addr;
		enum tags tags;
	} rows[2]; /* of i-1, in this order and in the other */
	const char *kept;
	enum node_state is; /* where it is kept */
	const char *addr;
} twice[] = {
	{"found, the same twice",
	 NODE_GONE,
	 {{PROVIDER_RUNNING, "10.0.0.1", READABLE}, {PROVIDER_RUNNING, "10.0.0.1", READABLE}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"found, once without its address",
	 NODE_GONE,
	 {{PROVIDER_PENDING, "", READABLE}, {PROVIDER_RUNNING, "10.0.0.1", READABLE}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"found, and ended",
	 NODE_GONE,
	 {{PROVIDER_RUNNING, "10.0.0.1", READABLE}, {PROVIDER_ENDED, "", READABLE}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"found, and it stops",
	 NODE_GONE,
	 {{PROVIDER_RUNNING, "10.0.0.1", READABLE}, {PROVIDER_STOPPING, "10.0.0.1", READABLE}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"found, once with tags that cannot be read",
	 NODE_GONE,
	 {{PROVIDER_RUNNING, "10.0.0.1", READABLE}, {PROVIDER_RUNNING, "", MANGLED_TAGS}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"found, ended where its tags can be read",
	 NODE_GONE,
	 {{PROVIDER_ENDED, "", READABLE}, {PROVIDER_RUNNING, "10.0.0.1", NO_TAGS}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"ours, and ended",
	 NODE_READY,
	 {{PROVIDER_RUNNING, "10.0.0.1", READABLE}, {PROVIDER_ENDED, "", READABLE}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"ours, in a state that nobody knows, and ended",
	 NODE_BOOTING,
	 {{PROVIDER_UNKNOWN, "10.0.0.1", READABLE}, {PROVIDER_ENDED, "", READABLE}},
	 "i-1",
	 NODE_BOOTING,
	 "10.0.0.1"},
	{"ours, and it stops",
	 NODE_READY,
	 {{PROVIDER_RUNNING, "10.0.0.1", READABLE}, {PROVIDER_STOPPING, "10.0.0.1", READABLE}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"ours, stops and has ended",
	 NODE_READY,
	 {{PROVIDER_STOPPING, "10.0.0.1", READABLE}, {PROVIDER_ENDED, "", READABLE}},
	 "i-1",
	 NODE_DRAINING,
	 "10.0.0.1"},
	{"ours, and will be taken back",
	 NODE_READY,
	 {{PROVIDER_RECLAIMING, "10.0.0.1", READABLE}, {PROVIDER_RUNNING, "10.0.0.1", READABLE}},
	 "i-1",
	 NODE_DRAINING,
	 "10.0.0.1"},
	{"ours, and somebody else's",
	 NODE_READY,
	 {{PROVIDER_RUNNING, "10.0.0.1", READABLE}, {PROVIDER_RUNNING, "10.0.0.9", OF_OTHERS}},
	 "i-1",
	 NODE_READY,
	 "10.0.0.1"},
	{"it has ended, twice",
	 NODE_READY,
	 {{PROVIDER_ENDED, "", READABLE}, {PROVIDER_ENDED, "10.0.0.1", READABLE}},
	 "none",
	 NODE_GONE,
	 NULL},
};

static struct provider_instance make_row(const struct fix *f, size_t i, int k)
{
	const struct shown in = {"i-1", twice[i].rows[k].tags == READABLE ? 5 : 0,
				 twice[i].rows[k].addr, twice[i].rows[k].state};
	struct provider_instance p = row_of(f, &in);

	if (twice[i].rows[k].tags == NO_TAGS)
		p.cluster[0] = '\0';
	if (twice[i].rows[k].tags == OF_OTHERS)
		(void)snprintf(p.cluster, sizeof(p.cluster), "somebody-else");
	return p;
}

/* I18: whatever the order, and however often, it is one instance: nothing is deleted. */
static void test_a_row_twice_is_one_instance(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown old = {"i-0", 1, "", PROVIDER_ENDED};
	struct fix *f = *state;

	for (size_t k = 0; k < 2 * sizeof(twice) / sizeof(twice[0]); k++) {
		size_t i = k / 2;
		struct provider_instance rows[3] = {make_row(f, i, k % 2),
						    make_row(f, i, 1 - k % 2)};
		const struct fleet_name *nm;

		rows[2] = rows[0]; /* pages overlap more than once */
		load(f, twice[i].row, twice[i].row == NODE_GONE ? &old : &ours);
		show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
		take(f, rows, 3);
		nm = fleet_find(&f->e->fleet, "c1");
		if (strcmp(kept(f), twice[i].kept) != 0)
			fail_msg("%s: %s stays", twice[i].what, kept(f));
		if (fleet_live(nm) != NULL && state_of(f) != twice[i].is)
			fail_msg("%s: %s", twice[i].what, node_state_str(state_of(f)));
		if (fleet_live(nm) != NULL) {
			assert_string_equal(fleet_live(nm)->n.addr, twice[i].addr);
			assert_int_equal(fleet_live(nm)->n.gen, 5);
		}
		if (f->e->fleet.states[NODE_DELETING] != NULL || f->e->cloud->all[0].nstrays != 0)
			fail_msg("%s: something is to be deleted", twice[i].what);
		assert_true(nm->last_gen <= 5);
		assert_int_equal(engine_counters(f->e)->unreadable, 0);
		assert_int_equal(engine_counters(f->e)->foreign, 0);
	}
}

/* Two that cannot be read, and one of others, are counted once each, wherever the second row of one
 * stands: pages overlap, and what was new in between moves up in the list that is kept. */
static void test_a_row_twice_is_counted_once(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown odd = {"x-1", 0, "", PROVIDER_RUNNING};
	static const struct shown other = {"x-2", 3, "", PROVIDER_RUNNING};
	static const struct shown stray = {"x-3", 5, "", PROVIDER_RUNNING};
	struct fix *f = *state;
	struct provider_instance rows[9];

	for (int i = 0; i < 2; i++) {
		rows[i] = row_of(f, &odd);
		rows[2 + i] = row_of(f, &other);
		rows[2 + i].cluster[0] = '\0';
		rows[4 + i] = row_of(f, &stray);
	}
	rows[6] = row_of(f, &ours);
	rows[7] = rows[2];
	rows[8] = rows[0];
	load(f, NODE_READY, &ours);
	show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
	take(f, rows, 9);
	assert_int_equal(engine_counters(f->e)->unreadable, 1);
	assert_int_equal(engine_counters(f->e)->foreign, 1);
	assert_int_equal(f->e->cloud->all[0].nstrays, 1);
	assert_string_equal(kept(f), "i-1");
}

/* F13, I18: somebody has changed the tags of an instance at work to those of a node that is down.
 * It is the one that has its id. */
static void test_tags_of_another_node_do_not_move_an_instance(void **state)
{
	static const char both[] = "NodeName=c1 State=ALLOCATED+CLOUD NodeAddr=10.0.0.1\n"
				   "NodeName=c2 State=IDLE+CLOUD+POWERED_DOWN NodeAddr=c2\n";
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct provider_instance row;
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	assert_int_equal(slurm_parse_nodes(both, sizeof(both) - 1, observe_node, f->e, NULL), 2);
	observe_snapshot(f->e, loop_now(f->loop), NULL);
	row = row_of(f, &ours);
	(void)snprintf(row.node, sizeof(row.node), "c2");
	row.gen = 9;
	for (int i = 0; i < 3; i++, f->ahead += 60001) {
		take(f, &row, 1);
		assert_string_equal(kept(f), "i-1");
		assert_null(fleet_find(&f->e->fleet, "c2")->newest);
		assert_null(f->e->fleet.states[NODE_DELETING]);
		assert_int_equal(f->e->cloud->all[0].nstrays, 0);
		assert_int_equal(fleet_live(fleet_find(&f->e->fleet, "c1"))->n.misses, 0);
	}
}

/* I9, F15: a list that shows it while its delete is on the wire undoes the one before that did not:
 * it takes two more. */
static void test_a_sighting_during_a_delete_counts(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_STOPPING};
	struct fix *f = *state;
	struct fleet_node *fn;

	load(f, NODE_DELETING, &ours);
	fn = fleet_find(&f->e->fleet, "c1")->newest;
	list(f, NULL, 0);
	assert_int_equal(fn->n.misses, 1);
	fn->busy = true;
	f->ahead += 60001;
	list(f, &ours, 1);
	fn->busy = false;
	f->ahead += 60001;
	list(f, NULL, 0);
	assert_int_equal(fn->n.state, NODE_DELETING);
	f->ahead += 60001;
	list(f, NULL, 0);
	assert_false(fleet_exists(fleet_find(&f->e->fleet, "c1")));
}

/* F57, F58: one that is adopted, or ours, was made when its provider says so, by the provider's
 * clock: identity documents are compared with that. */
static void test_as_old_as_its_provider_says(void **state)
{
	static const struct shown old = {"i-0", 1, "", PROVIDER_ENDED};
	static const struct shown found = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	for (int adopted = 0; adopted <= 1; adopted++) {
		const struct fleet_node *fn;

		load(f, adopted ? NODE_GONE : NODE_READY, adopted ? &old : &found);
		show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
		f->e->cloud->all[0].dated = true;
		f->e->cloud->all[0].ahead_ms = 3600000;
		f->created_ms = loop_now(f->loop) - 7200000;
		list(f, &found, 1);
		fn = fleet_live(fleet_find(&f->e->fleet, "c1"));
		assert_non_null(fn);
		assert_int_equal(fn->said_ms, f->created_ms);
		assert_true(!adopted || fn->n.start_ms == f->created_ms + 3600000); /* by ours */
	}
}

struct told {
	unsigned n;
	char text[256];
};

static int see_unpriced(void *ctx, const struct journal_event *ev)
{
	struct told *t = ctx;

	if (strcmp(ev->type, "unpriced") != 0)
		return 0;
	t->n++;
	(void)snprintf(t->text, sizeof(t->text), "%s", ev->detail);
	return 0;
}

/* What is found costs what its place cost when it was made; if nobody knows that, it is said. */
static void test_what_is_found_has_the_price_of_its_time(void **state)
{
	enum { HOUR = 3600000 };
	static const struct shown old = {"i-0", 1, "", PROVIDER_ENDED};
	static const struct shown found = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	for (int known = 1; known >= 0; known--) {
		struct conf_offer *o;
		struct price p = {.provider = "cloud",
				  .region = "r",
				  .zone = "",
				  .market = PROVIDER_ON_DEMAND,
				  .source = PRICE_HISTORY,
				  .currency = "EUR",
				  .nano_h = 7000000000};
		struct told t = {.n = 0};

		load(f, NODE_GONE, &old);
		o = &f->e->conf->pools[0].own;
		p.type = o->type;
		p.region = o->region;
		p.market = (enum provider_market)o->market;
		p.observed_ms = loop_now(f->loop);
		p.valid_from_ms = p.observed_ms - (known ? 3 : 1) * HOUR;
		o->price_nano_h = 0;
		prices_past(&f->e->cloud->prices, &p);
		show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
		f->e->cloud->all[0].quotes_known = true;
		f->created_ms = loop_now(f->loop) - 2 * HOUR;
		list(f, &found, 1);
		assert_string_equal(kept(f), "i-1");
		assert_int_equal(fleet_live(fleet_find(&f->e->fleet, "c1"))->n.rate_nano_h,
				 known ? 7000000000 : 1000000000); /* what the node cost before */
		assert_int_equal(journal_events(f->journal, 0, "c1", 1000, see_unpriced, &t, NULL),
				 0);
		assert_int_equal(t.n, !known);
		if (!known)
			assert_string_equal(t.text,
					    "its price when it was created is not known: it "
					    "counts with 1.00 EUR/h, the most that it may "
					    "cost now");
	}
}

static void put_row(const struct fix *f, const char *name, const char *id, const char *provider,
		    enum node_state state)
{
	struct journal_tx *tx = journal_begin(f->journal);
	struct node n;

	node_init(&n, name, 5, loop_now(f->loop) - 100000);
	n.state = state;
	n.wake_ms = INT64_MAX;
	(void)snprintf(n.instance, sizeof(n.instance), "%s", id);
	(void)snprintf(n.provider, sizeof(n.provider), "%s", provider);
	journal_put_node(tx, &n, "pool");
	assert_int_equal(journal_commit(tx, NULL), 0);
}

static void load_two_providers(struct fix *f)
{
	struct conf *c = one_pool("c[1-9]", 9);

	assert_int_equal(conf_finish(c, NULL), 0);
	c->nproviders = 2;
	c->providers = mem_realloc(c->providers, 2 * sizeof(*c->providers));
	c->providers[1] = (struct conf_provider){.name = mem_strdup("other"),
						 .driver = mem_strdup("fake"),
						 .url = mem_strdup(""),
						 .concurrency = 4};
	assert_int_equal(load_conf(f, c, NULL), 0);
}

/* I9, I18: two providers may give two machines the same id: each list is about its own. */
static void test_an_id_that_two_providers_have_is_two_machines(void **state)
{
	static const struct shown second = {"i-1", 5, "10.0.0.2", PROVIDER_RUNNING};
	struct provider_instance row;
	struct fix *f = *state;
	const struct fleet_name *nm;

	put_row(f, "c1", "i-1", "other", NODE_READY);
	put_row(f, "c2", "i-1", "cloud", NODE_READY);
	load_two_providers(f);
	row = row_of(f, &second);
	(void)snprintf(row.node, sizeof(row.node), "c2");
	nm = fleet_find(&f->e->fleet, "c2");
	for (int i = 0; i < 4; i++, f->ahead += 60001) {
		take(f, &row, 1);
		assert_int_equal(nm->newest->seen_ms, f->e->cloud->all[0].list_began);
		assert_int_equal(nm->newest->n.state, NODE_READY);
		assert_null(nm->newest->older);
		assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.misses, 0);
	}
}

/* I18: nor is what one account has two things, though two sections name that account. */
static void test_one_account_by_two_names_has_no_strays(void **state)
{
	static const struct shown same = {"i-1", 5, "10.0.0.2", PROVIDER_RUNNING};
	struct provider_instance row;
	struct fix *f = *state;
	struct fleet_name *nm;

	put_row(f, "c1", "i-1", "other", NODE_READY);
	load_two_providers(f);
	row = row_of(f, &same);
	nm = fleet_find(&f->e->fleet, "c1");
	nm->flags = SLURM_KNOWN | SLURM_POWERED_DOWN;
	take_at(f, 0, &row, 1);
	assert_int_equal(f->e->cloud->all[0].nstrays, 0);
	assert_int_equal(nm->newest->n.state, NODE_READY);
	assert_null(nm->newest->older);
}

/* I8: it may be made while that list is read. */
static void test_a_list_says_nothing_of_a_create_that_is_on_the_wire(void **state)
{
	static const struct shown lost = {"", 5, "", PROVIDER_UNKNOWN};
	struct fix *f = *state;
	struct fleet_node *fn;

	load(f, NODE_INDOUBT, &lost);
	fn = fleet_find(&f->e->fleet, "c1")->newest;
	fn->busy = true;
	list(f, NULL, 0);
	assert_int_equal(fn->n.misses, 0);
	fn->busy = false;
	list(f, NULL, 0);
	assert_int_equal(fn->n.misses, 1);
}

/* F58: a row that has ended at a provider which the configuration has no more says nothing of what
 * another one lists: that is an instance nobody knows. */
static void test_what_ended_at_a_provider_that_has_left_is_not_revived(void **state)
{
	static const struct shown same = {"i-1", 5, "10.0.0.2", PROVIDER_RUNNING};
	struct provider_instance row;
	struct fix *f = *state;
	const struct fleet_name *nm;

	put_row(f, "c1", "i-1", "left", NODE_GONE);
	load_two_providers(f);
	row = row_of(f, &same);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
	nm = fleet_find(&f->e->fleet, "c1");
	for (size_t c = 0; c < 2; c++) {
		take_at(f, c, &row, 1);
		assert_int_equal(nm->newest->n.state, NODE_GONE);
		assert_int_equal(f->e->cloud->all[c].nstrays, 1);
	}
}

/* I12: a list that lacks many of its provider's instances is not believed.  It is about what this
 * list shows, and about nobody else's. */
static void test_a_list_that_lacks_many(void **state)
{
	struct provider_instance rows[4];
	struct fix *f = *state;
	char name[16], id[16];

	for (int i = 1; i <= 9; i++) {
		(void)snprintf(name, sizeof(name), "c%d", i);
		(void)snprintf(id, sizeof(id), "i-%d", i);
		put_row(f, name, id, i <= 4 ? "cloud" : "other", NODE_READY);
		if (i > 4)
			continue;
		rows[i - 1] = row_of(f, &(struct shown){id, 5, "", PROVIDER_RUNNING});
		(void)snprintf(rows[i - 1].node, sizeof(rows[i - 1].node), "%s", name);
	}
	load_two_providers(f);
	for (size_t i = 0; i < f->e->fleet.nall; i++) /* nor does slurmctld hear from them */
		f->e->fleet.all[i]->flags = SLURM_KNOWN | SLURM_IDLE | SLURM_NOT_RESPONDING;
	fleet_find(&f->e->fleet, "c4")->newest->n.start_ms = 1;
	take(f, rows, 3); /* of four one */
	assert_int_equal(fleet_find(&f->e->fleet, "c4")->newest->n.misses, 1);
	assert_true(fleet_find(&f->e->fleet, "c4")->newest->lacked_ms > 0);
	assert_int_equal(fleet_find(&f->e->fleet, "c5")->newest->n.misses, 0);
	f->ahead += 60001;
	take(f, rows, 4);
	assert_int_equal(fleet_find(&f->e->fleet, "c4")->newest->n.misses, 0);
	f->ahead += 60001;
	fleet_find(&f->e->fleet, "c3")->flags |= SLURM_DOWN;
	fleet_find(&f->e->fleet, "c3")->newest->n.start_ms = 1;
	take(f, rows, 0); /* all four */
	assert_int_equal(fleet_find(&f->e->fleet, "c3")->newest->n.misses, 1);
	assert_int_equal(fleet_find(&f->e->fleet, "c3")->newest->lacked_ms, 0);
	assert_int_equal(fleet_find(&f->e->fleet, "c4")->newest->n.misses, 0);
	assert_int_equal(fleet_find(&f->e->fleet, "c4")->newest->lacked_ms, 0);
}

/* A list shows that it has ended and not when: after the last one that did not. */
static void test_the_list_before_the_one_that_shows_its_end(void **state)
{
	static const struct shown ours[] = {{"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
					    {"i-1", 5, "10.0.0.1", PROVIDER_ENDED}};
	struct fix *f = *state;
	struct fleet_node *fn;
	int64_t first;

	load(f, NODE_READY, &ours[0]);
	fn = fleet_find(&f->e->fleet, "c1")->newest;
	fn->n.start_ms = 5;
	list(f, &ours[0], 1);
	first = fn->seen_ms;
	f->ahead += 60001;
	list(f, &ours[1], 1);
	assert_int_equal(fn->n.state, NODE_GONE);
	assert_int_equal(atoll(rows(f, "SELECT at_ms FROM life WHERE kind = 'shown'")), first);
}

/* I22: what a list says of a create on the wire changes nothing before its answer; but that an
 * instance has ended is kept for it.  One that only stops has not. */
static void test_an_end_is_kept_for_the_answer_to_its_create(void **state)
{
	static const struct shown none = {"", 5, "", PROVIDER_UNKNOWN};
	static const struct shown stops = {"i-1", 5, "", PROVIDER_STOPPING};
	static const struct shown ended = {"i-1", 5, "", PROVIDER_ENDED};
	struct fix *f = *state;
	struct fleet_node *fn;

	load(f, NODE_INDOUBT, &none);
	fn = fleet_live(fleet_find(&f->e->fleet, "c1"));
	fn->busy = true;
	list(f, &stops, 1);
	assert_null(fn->ended);
	list(f, &ended, 1);
	assert_int_equal(fn->n.state, NODE_INDOUBT);
	assert_non_null(fn->ended);
	assert_string_equal(fn->ended->id, "i-1");
	fn->busy = false;
	list(f, &ended, 1);
	assert_int_equal(fn->n.state, NODE_GONE);
}

/* I21, I22: a list of many pages may be older than what closed a row; of a generation that is
 * forgotten, too.  The next list counts. */
static void test_a_list_does_not_revive_what_has_ended_since_it_began(void **state)
{
	static const struct shown runs = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown older = {"i-0", 4, "10.0.0.4", PROVIDER_RUNNING};
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f, NODE_GONE, &runs);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
	nm = fleet_find(&f->e->fleet, "c1");
	nm->newest->n.since_ms = nm->forgot_ms = loop_now(f->loop) + 60000;
	list(f, &runs, 1);
	assert_int_equal(nm->newest->n.state, NODE_GONE);
	list(f, &older, 1);
	assert_null(nm->newest->older);
	f->ahead = 70000;
	list(f, &older, 1);
	assert_int_equal(fleet_gen(nm, 4)->n.state, NODE_DELETING);
	list(f, &runs, 1);
	assert_int_equal(fleet_gen(nm, 5)->n.state, NODE_DELETING);
}

/* I18, F58: nor does it end what slurmctld has up, and what a create of an older journal made,
 * since a later one of that generation was refused: it is adopted as the next one. */
static void test_what_an_older_journal_bought_is_adopted(void **state)
{
	static const struct shown none = {"", 5, "", PROVIDER_RUNNING};
	static const struct shown runs = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	load(f, NODE_GONE, &none);
	show(f, "ALLOCATED+CLOUD", "NodeAddr=c1");
	list(f, &runs, 1);
	assert_string_equal(kept(f), "i-1");
	assert_int_equal(state_of(f), NODE_READY);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.gen, 6);
	list(f, &runs, 1); /* once */
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.gen, 6);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_row_twice_is_one_instance),
		T(test_a_row_twice_is_counted_once),
		T(test_tags_of_another_node_do_not_move_an_instance),
		T(test_a_sighting_during_a_delete_counts),
		T(test_as_old_as_its_provider_says),
		T(test_what_is_found_has_the_price_of_its_time),
		T(test_one_account_by_two_names_has_no_strays),
		T(test_a_list_says_nothing_of_a_create_that_is_on_the_wire),
		T(test_an_id_that_two_providers_have_is_two_machines),
		T(test_what_ended_at_a_provider_that_has_left_is_not_revived),
		T(test_a_list_that_lacks_many),
		T(test_the_list_before_the_one_that_shows_its_end),
		T(test_an_end_is_kept_for_the_answer_to_its_create),
		T(test_a_list_does_not_revive_what_has_ended_since_it_began),
		T(test_what_an_older_journal_bought_is_adopted),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
