/* test_fabric.c - fabrics of jobs are found and dropped, when nobody needs them and nobody else has
 * them.
 *
 * On a bare struct engine: the wire and the journal are the test's. */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "core/unit.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

enum { NODES = 3, SAID_MAX = 16 };

static struct fix {
	struct engine e;
	bool disk_fails;
	struct provider_op held[SAID_MAX];
	size_t nheld, gone;
	struct conf conf;
	struct conf_pool pool;
	struct conf_provider provider;
	struct cloud cloud;
	char told[300]; /* events */
	char said[400]; /* all that was sent and written down, with a semicolon behind each */
	request_fn answer[SAID_MAX]; /* of what was sent */
	void *ctx[SAID_MAX];
	unsigned n, busy; /* busy: no slot is free */
	size_t slots;     /* for so many drops; 0: for all */
} F;

void engine_commit(struct engine *e)
{
	add(F.said, sizeof(F.said), "commit;", "", "");
	e->dead = F.disk_fails;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	assert_string_equal(node, "");
	add(F.told, sizeof(F.told), type, ": ", detail);
}

bool cloud_ready(struct cloud *c, enum provider_op_kind kind)
{
	(void)c;
	(void)kind;
	return F.busy == 0;
}

void cloud_send(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx)
{
	(void)c;
	assert_string_equal(op->u.fabric.cluster, F.e.d.uuid);
	add(F.said, sizeof(F.said), provider_op_str(op->kind), " ",
	    op->kind == PROVIDER_FABRIC_LIST ? op->cursor : op->u.fabric.name);
	add(F.said, sizeof(F.said), ";", "", "");
	assert_true(F.n < SAID_MAX);
	F.answer[F.n] = fn;
	F.ctx[F.n++] = ctx;
}

/* Each is sent in the order in which they were held. */
struct request *cloud_reserve(struct cloud *c, const struct provider_op *op, request_fn fn,
			      void *ctx)
{
	(void)c;
	F.busy += F.slots > 0 && F.nheld + 1 == F.slots;
	assert_true(F.n < SAID_MAX);
	F.held[F.nheld++] = *op;
	F.answer[F.n] = fn;
	F.ctx[F.n++] = ctx;
	return NULL;
}

void cloud_send_reserved(struct request *rq)
{
	const struct provider_op *op = &F.held[F.gone++];

	(void)rq;
	assert_string_equal(op->u.fabric.cluster, F.e.d.uuid);
	add(F.said, sizeof(F.said), provider_op_str(op->kind), " ", op->u.fabric.name);
	add(F.said, sizeof(F.said), ";", "", "");
}

void audit_thing(struct engine *e, const char *verb, const char *target, const char *thing,
		 const char *reason)
{
	(void)e;
	(void)thing;
	(void)reason;
	assert_string_equal(target, "cloud");
	add(F.said, sizeof(F.said), "record ", verb, ";");
}

static char pool_name[] = "p", cloud_name[] = "cloud", path[] = "burstd.conf", no_text[] = "";

/* Node cN is ready, and came with batch 100 + N. */
static int setup(void **state)
{
	static const struct provider_ops ops = {.name = "test"};

	(void)state;
	W = (struct world){.now = BEGAN};
	F = (struct fix){.pool = {.name = pool_name,
				  .own = {.name = no_text, .in_fabric = "job", .line = 17}},
			 .provider = {.name = cloud_name}};
	bare_state(&F.e);
	F.conf = (struct conf){.path = path,
			       .pools = &F.pool,
			       .npools = 1,
			       .providers = &F.provider,
			       .nproviders = 1};
	F.cloud = (struct cloud){.e = &F.e,
				 .conf = &F.provider,
				 .ops = &ops,
				 .listed = true,
				 .caps.flags = PROVIDER_FABRICS};
	F.e.conf = &F.conf;
	F.e.cloud->all = &F.cloud;
	F.e.d.uuid = "0a1b2c3d-0000-4000-8000-001122334455";
	fleet_init(&F.e.fleet, 1);
	for (unsigned i = 1; i <= NODES; i++) {
		struct node n;
		char name[16];

		(void)snprintf(name, sizeof(name), "c%u", i);
		node_init(&n, name, 1, BEGAN);
		n.state = NODE_READY;
		n.batch = 100 + i;
		(void)fleet_add(&F.e.fleet, &n);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < F.n; i++)
		free(F.ctx[i]);
	free(F.cloud.fabrics);
	map_fini(&F.pool.unit_of);
	hostlist_free(F.pool.nodes);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void said(const char *want)
{
	assert_string_equal(F.said, want);
	F.said[0] = '\0';
}

/* To request number i: a code, and for a list names and where it goes on. */
static void say(unsigned i, enum provider_code code, const char *const *names, const char *cursor)
{
	struct provider_fabric list[8] = {0};
	struct provider_result r = {.code = code, .fabrics = list, .message = "no right to"};

	for (; names != NULL && names[r.nfabrics] != NULL; r.nfabrics++)
		(void)snprintf(list[r.nfabrics].name, sizeof(list[0].name), "%s",
			       names[r.nfabrics]);
	(void)snprintf(r.cursor, sizeof(r.cursor), "%s", cursor);
	if (code == PROVIDER_OK && cursor[0] != '\0')
		r.code = PROVIDER_MORE;
	F.answer[i](&F.cloud, F.ctx[i], &r);
}

static void ended(const char *name)
{
	struct fleet_node *fn = fleet_find(&F.e.fleet, name)->newest;
	struct node next = fn->n;

	next.state = NODE_GONE;
	fleet_set(&F.e.fleet, fn, &next);
}

/* A list of instances has come. */
static void look(void)
{
	F.cloud.fabrics_look = true;
	fabric_run(&F.cloud);
}

static void make(const char *name)
{
	fabric_make(&F.cloud, name, NULL, NULL);
	F.cloud.fabrics_next = INT64_MAX;
	F.said[0] = '\0';
}

static void test_one_goes_when_the_last_node_of_its_create_has_ended(void **state)
{
	(void)state;
	make("burstd-0a1b2c3d-101");
	look();
	said("");
	ended("c2");
	look();
	said("");
	ended("c1");
	fabric_run(&F.cloud); /* no list has shown that */
	said("");
	look();
	said("record fabric-drop;commit;fabric-drop burstd-0a1b2c3d-101;"); /* I28 */
	look();                                                             /* it is on the wire */
	said("");
	say(1, PROVIDER_OK, NULL, "");
	look();
	said("");
	assert_int_equal(F.cloud.nfabrics, 0);
}

/* c1, c2 and c3, c4; the fleet has no c4. */
static void with_units(void)
{
	F.pool.own.in_fabric = CONF_FABRIC_UNIT;
	F.pool.unit = 2;
	assert_int_equal(hostlist_parse(&F.pool.nodes, "c[1-4]", 6, NULL), 0);
	assert_int_equal(unit_finish(&F.conf, &F.pool, NULL), 0);
}

/* Whatever create they came with; and a node that is only wanted needs it, too. */
static void test_a_units_goes_when_the_last_node_of_the_unit_has_ended(void **state)
{
	struct fleet_node *wanted = fleet_find(&F.e.fleet, "c1")->newest;
	struct node n = wanted->n;

	(void)state;
	with_units();
	n.state = NODE_WANTED;
	n.batch = 0;
	fleet_set(&F.e.fleet, wanted, &n);
	make("burstd-0a1b2c3d-c1-2");
	make("burstd-0a1b2c3d-c3-2");
	look();
	said("");
	ended("c2");
	look();
	said("");
	ended("c1");
	look();
	said("record fabric-drop;commit;fabric-drop burstd-0a1b2c3d-c1-2;");
	assert_true(fabric_goes(&F.e, "burstd-0a1b2c3d-c1-2"));
	assert_false(fabric_goes(&F.e, "burstd-0a1b2c3d-c3-2"));
	say(2, PROVIDER_OK, NULL, "");
	assert_false(fabric_goes(&F.e, "burstd-0a1b2c3d-c1-2"));
	assert_int_equal(F.cloud.nfabrics, 1);
}

/* An account that has two sections has its fabrics in the lists of both: neither drops what the
 * other has made and not filled yet, nor buys in what the other drops. */
static void test_a_unit_is_one_for_all_sections_of_an_account(void **state)
{
	struct cloud both[2];
	struct conf_provider providers[2] = {F.provider, F.provider};

	(void)state;
	with_units();
	make("burstd-0a1b2c3d-c1-2");
	both[0] = F.cloud;
	both[1] = F.cloud;
	both[1].fabrics = NULL;
	both[1].nfabrics = 0;
	F.e.cloud->all = both;
	F.conf.providers = providers;
	F.conf.nproviders = 2;
	fleet_find(&F.e.fleet, "c1")->newest->n.cloud = 1;
	ended("c2");
	both[0].fabrics_look = true;
	fabric_run(&both[0]);
	said("");
	ended("c1");
	both[0].fabrics_look = true;
	assert_false(fabric_goes(&F.e, "burstd-0a1b2c3d-c1-2"));
	fabric_run(&both[0]);
	said("record fabric-drop;commit;fabric-drop burstd-0a1b2c3d-c1-2;");
	assert_true(fabric_goes(&F.e, "burstd-0a1b2c3d-c1-2"));
	F.e.cloud->all = &F.cloud;
}

static void test_the_fabric_of_a_row(void **state)
{
	static const struct {
		const char *in_fabric, *made, *want;
	} rows[] = {{NULL, NULL, ""},
		    {"pg-1", NULL, "pg-1"},
		    {"job", NULL, ""}, /* its create had none of its own */
		    {"job", "burstd-0a1b2c3d-103", "burstd-0a1b2c3d-103"},
		    {CONF_FABRIC_UNIT, NULL, "burstd-0a1b2c3d-c3-2"}};
	struct node *n = &fleet_find(&F.e.fleet, "c3")->newest->n;
	char name[PROVIDER_WORD_MAX + 1];

	(void)state;
	with_units();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		F.pool.own.in_fabric = rows[i].in_fabric;
		if (rows[i].made != NULL)
			make(rows[i].made);
		assert_string_equal(engine_fabric(&F.e, n, name), rows[i].want);
	}
	(void)snprintf(n->offer, sizeof(n->offer), "gone"); /* the configuration lacks it */
	assert_string_equal(engine_fabric(&F.e, n, name), "");
}

/* F24: also those that another configuration made. */
static void test_units_fabrics_of_an_earlier_life_are_found(void **state)
{
	static const char *const names[] = {"burstd-0a1b2c3d-c1-2", "burstd-0a1b2c3d-c1-4",
					    "burstd-ffffffff-c1-2", "burstd-0a1b2c3d-z9-8", NULL};

	(void)state;
	with_units();
	fabric_run(&F.cloud); /* units are a reason to ask */
	said("fabric-list ;");
	say(0, PROVIDER_OK, names, "");
	look();
	said("record fabric-drop;record fabric-drop;commit;"
	     "fabric-drop burstd-0a1b2c3d-c1-4;fabric-drop burstd-0a1b2c3d-z9-8;");
}

static void test_one_that_is_not_there_is_gone_and_one_in_use_is_tried_later_each_time(void **state)
{
	static const int64_t steps_s[] = {10, 20, 40};

	(void)state;
	make("burstd-0a1b2c3d-7");
	for (unsigned i = 0; i < 3; i++) {
		look();
		said("record fabric-drop;commit;fabric-drop burstd-0a1b2c3d-7;");
		say(i + 1, i == 1 ? PROVIDER_AMBIGUOUS : PROVIDER_NOT_YET, NULL, "");
		W.now += steps_s[i] * 1000 - 1;
		look();
		said("");
		W.now++;
	}
	look();
	say(4, PROVIDER_NOT_FOUND, NULL, "");
	assert_int_equal(F.cloud.nfabrics, 0);
}

/* F7: its limit says when, and not the pause for one that is still in use. */
static void test_one_whose_drop_is_throttled_is_asked_for_again(void **state)
{
	(void)state;
	make("burstd-0a1b2c3d-101");
	ended("c1");
	look();
	F.said[0] = '\0';
	say(1, PROVIDER_RATE, NULL, "");
	fabric_run(&F.cloud); /* no list of instances, and no time, has passed */
	said("record fabric-drop;commit;fabric-drop burstd-0a1b2c3d-101;");
	say(2, PROVIDER_OK, NULL, "");
	assert_int_equal(F.cloud.nfabrics, 0);
}

static void test_what_is_left_from_an_earlier_life_is_found_page_by_page(void **state)
{
	static const char *const first[] = {"burstd-0a1b2c3d-55", "burstd-0a1b2c3d-102", "lab",
					    NULL};
	static const char *const next[] = {"burstd-ffffffff-56", "burstd-0a1b2c3d-x",
					   "burstd-0a1b2c3d-54", "burstd-0a1b2c3d-007", NULL};

	(void)state;
	F.cloud.listed = false; /* nobody knows yet what there is */
	assert_true(fabric_next_ms(&F.cloud) == INT64_MAX);
	fabric_run(&F.cloud);
	said("");
	F.cloud.listed = true;
	fabric_run(&F.cloud);
	said("fabric-list ;");
	say(0, PROVIDER_OK, first, "more");
	fabric_run(&F.cloud);
	said("fabric-list more;");
	say(1, PROVIDER_OK, next, "");
	look();
	said("record fabric-drop;record fabric-drop;commit;"
	     "fabric-drop burstd-0a1b2c3d-54;fabric-drop burstd-0a1b2c3d-55;");
	assert_int_equal(F.cloud.nfabrics, 3); /* 102 is needed; the others are not ours */
	W.now += ENGINE_FABRICS_MS - 1;
	fabric_run(&F.cloud);
	said("");
	W.now++;
	fabric_run(&F.cloud);
	said("fabric-list ;");
}

/* ADR 66: after a restart the fabrics may be known later than where machines are: only then can
 * burstd see which are in one. */
static void test_one_that_is_found_is_a_reason_to_compare_its_machines(void **state)
{
	static const char *const names[] = {"burstd-0a1b2c3d-102", "lab", NULL};

	(void)state;
	fabric_run(&F.cloud);
	said("fabric-list ;");
	assert_false(F.e.cloud->aparts_due);
	say(0, PROVIDER_OK, names, "");
	assert_true(F.e.cloud->aparts_due);
	F.e.cloud->aparts_due = false;
	W.now += ENGINE_FABRICS_MS;
	fabric_run(&F.cloud);
	said("fabric-list ;");
	say(1, PROVIDER_OK, names, "");
	assert_false(F.e.cloud->aparts_due); /* burstd knew it */
}

static void test_a_list_that_fails_or_goes_round_ends(void **state)
{
	(void)state;
	fabric_run(&F.cloud);
	say(0, PROVIDER_DENIED, NULL, "more");
	said("fabric-list ;");
	assert_true(fabric_next_ms(&F.cloud) == W.now + ENGINE_FABRICS_MS);
	W.now += ENGINE_FABRICS_MS;
	fabric_run(&F.cloud);
	say(1, PROVIDER_OK, NULL, "again");
	fabric_run(&F.cloud);
	say(2, PROVIDER_OK, NULL, "again");
	said("fabric-list ;fabric-list again;");
}

static void test_who_wants_no_fabrics_is_not_asked_for_the_right_to_list_them(void **state)
{
	static const char *const words[] = {NULL, "pg-1"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		F.pool.own.in_fabric = words[i];
		assert_true(fabric_next_ms(&F.cloud) == INT64_MAX);
		look();
		said("");
	}
	make("burstd-0a1b2c3d-9"); /* before a reload, and not gone */
	F.cloud.fabrics_next = 0;
	assert_true(fabric_next_ms(&F.cloud) == 0);
}

static void test_without_a_slot_the_rest_waits_for_one(void **state)
{
	(void)state;
	make("burstd-0a1b2c3d-7");
	F.busy = 1;
	look();
	said("");
	F.busy = 0;
	fabric_run(&F.cloud);
	said("record fabric-drop;commit;fabric-drop burstd-0a1b2c3d-7;");
}

/* The journal failed: nothing is done that is not written down (F55). */
static void test_nothing_goes_out_that_is_not_on_record(void **state)
{
	(void)state;
	make("burstd-0a1b2c3d-7");
	F.disk_fails = true;
	look();
	said("record fabric-drop;commit;");
}

static void test_those_for_which_there_is_no_slot_go_out_when_there_is_one(void **state)
{
	(void)state;
	make("burstd-0a1b2c3d-7");
	make("burstd-0a1b2c3d-8");
	F.slots = 1;
	look();
	said("record fabric-drop;commit;fabric-drop burstd-0a1b2c3d-7;");
	F.busy = 0;
	fabric_run(&F.cloud);
	said("record fabric-drop;commit;fabric-drop burstd-0a1b2c3d-8;");
}

/* Who needs one is a walk through all rows: it is not made for those that cannot go now. */
static void test_who_is_needed_is_not_asked_while_none_could_go(void **state)
{
	(void)state;
	make("burstd-0a1b2c3d-101");
	F.cloud.fabrics[0].next_ms = W.now + 1;
	look();
	assert_false(F.cloud.fabrics[0].needed);
	W.now++;
	look();
	assert_true(F.cloud.fabrics[0].needed);
	said("");
}

/* The right to, say: it is told once, until one goes. */
static void test_one_that_the_provider_would_not_drop_is_told(void **state)
{
	static const char once[] = "drops-refused: provider cloud does not delete a fabric that no "
				   "node needs any more, "
				   "and perhaps others: no right to; burstd retries";
	size_t n;

	(void)state;
	make("burstd-0a1b2c3d-7");
	make("burstd-0a1b2c3d-8");
	make("burstd-0a1b2c3d-9");
	look();
	say(3, PROVIDER_DENIED, NULL, "");
	say(4, PROVIDER_INVALID, NULL, "");
	say(5, PROVIDER_NOT_YET, NULL, ""); /* in use */
	assert_string_equal(F.told, once);
	assert_string_equal(engine_undropped(&F.e, 0, &n), "no right to");
	assert_int_equal(n, 2);
	W.now += ENGINE_DROP_MS;
	look();
	say(6, PROVIDER_OK, NULL, "");
	say(7, PROVIDER_DENIED, NULL, "");
	assert_int_equal(strlen(F.told), 2 * strlen(once));
	(void)engine_undropped(&F.e, 0, &n);
	assert_int_equal(n, 1);
}

static void test_a_driver_without_fabrics_refuses_the_option(void **state)
{
	struct err e = {0};

	(void)state;
	assert_int_equal(fabric_check(&F.e, &F.conf, &e), 0);
	F.cloud.caps.flags = 0;
	assert_int_equal(fabric_check(&F.e, &F.conf, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:17: pool \"p\": fabric: driver test has none");
	F.pool.own.in_fabric = NULL;
	assert_int_equal(fabric_check(&F.e, &F.conf, &e), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_one_goes_when_the_last_node_of_its_create_has_ended),
		T(test_a_units_goes_when_the_last_node_of_the_unit_has_ended),
		T(test_a_unit_is_one_for_all_sections_of_an_account),
		T(test_units_fabrics_of_an_earlier_life_are_found),
		T(test_the_fabric_of_a_row),
		T(test_one_that_is_not_there_is_gone_and_one_in_use_is_tried_later_each_time),
		T(test_one_whose_drop_is_throttled_is_asked_for_again),
		T(test_what_is_left_from_an_earlier_life_is_found_page_by_page),
		T(test_one_that_is_found_is_a_reason_to_compare_its_machines),
		T(test_a_list_that_fails_or_goes_round_ends),
		T(test_who_wants_no_fabrics_is_not_asked_for_the_right_to_list_them),
		T(test_without_a_slot_the_rest_waits_for_one),
		T(test_nothing_goes_out_that_is_not_on_record),
		T(test_those_for_which_there_is_no_slot_go_out_when_there_is_one),
		T(test_who_is_needed_is_not_asked_while_none_could_go),
		T(test_one_that_the_provider_would_not_drop_is_told),
		T(test_a_driver_without_fabrics_refuses_the_option),
	};
#undef T

	return cmocka_run_group_tests_name("fabric", tests, NULL, NULL);
}
