/* test_launch.c - a burst is cut into pieces: what goes out, and what is answered, leaves the loop
 * time for hooks.
 *
 * On a bare struct engine: the cloud, the journal and the fold are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/private.h"

enum { NODES = 10 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_pool pool;
	struct conf_provider provider;
	struct cloud cloud;
	unsigned recorded, sent, hurried;
	size_t sizes[NODES]; /* of those sent */
	char first[NODES][16];
	size_t fits; /* nodes, in one create */
	enum node_event_type posted[4 * NODES];
	size_t nposted;
	request_fn answer; /* of the last create, and what it wants back */
	void *ctx;
	char event[200];
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return INT64_C(1800000000000);
}

struct journal_tx *engine_tx(struct engine *e)
{
	(void)e;
	return NULL;
}

void engine_commit(struct engine *e)
{
	(void)e;
}

void engine_spend(struct engine *e, size_t nodes)
{
	e->left -= nodes < e->left ? nodes : e->left;
}

struct cloud *engine_cloud(struct engine *e, const struct node *n)
{
	(void)e;
	(void)n;
	return &F.cloud;
}

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	(void)e;
	(void)n;
	*out = (struct node_limits){.tokens = true, .settle_ms = 1000, .boot_ms = 60000};
	return out;
}

/* Durable at once. */
void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	struct node_limits lim;
	struct node next = fn->n;

	assert_true(node_step(&next, ev, engine_limits(e, &fn->n, &lim)));
	fleet_set(&e->fleet, fn, &next);
	F.posted[F.nposted++] = ev->type;
}

void cloud_send(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx)
{
	(void)c;
	assert_int_equal(op->kind, PROVIDER_CREATE);
	assert_int_equal(op->u.create.nplaces, 1);
	(void)snprintf(F.first[F.sent], sizeof(F.first[0]), "%s", op->u.create.wants[0].node);
	F.sizes[F.sent++] = op->u.create.nwants;
	assert_int_equal(F.recorded, F.sent); /* I28 */
	F.answer = fn;
	free(F.ctx);
	F.ctx = ctx;
}

bool cloud_ready(struct cloud *c)
{
	(void)c;
	return true;
}

int64_t cloud_price(const struct cloud *c, const struct conf_offer *o)
{
	(void)c;
	return o->price_nano_h;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)node;
	(void)gen;
	(void)snprintf(F.event, sizeof(F.event), "%s: %s", type, detail);
}

void cloud_hurry(struct cloud *c)
{
	(void)c;
	F.hurried++;
}

uint64_t cloud_body_hash(const struct provider_request *rq)
{
	(void)rq;
	return 1;
}

const char *pool_closed(const struct engine *e, size_t i)
{
	(void)e;
	(void)i;
	return NULL;
}

void pool_refuse_wanted(struct engine *e)
{
	(void)e;
}

void audit_begin(struct audit *a, size_t max)
{
	(void)a;
	(void)max;
}

void audit_create(struct audit *a, const struct fleet_name *nm, const struct fleet_node *fn)
{
	(void)a;
	(void)nm;
	(void)fn;
}

void audit_put(struct engine *e, struct audit *a, const char *verb, const char *target,
	       const char *request)
{
	(void)e;
	(void)a;
	(void)target;
	assert_string_equal(verb, "create");
	assert_non_null(strstr(request, "burstd-0a1b2c3d-"));
	F.recorded++;
}

void journal_put_node(struct journal_tx *tx, const struct node *n, const char *pool)
{
	(void)tx;
	(void)n;
	(void)pool;
}

void journal_put_batch(struct journal_tx *tx, const struct journal_batch *b)
{
	(void)tx;
	(void)b;
}

void journal_del_batch(struct journal_tx *tx, uint64_t id)
{
	(void)tx;
	(void)id;
}

void journal_put_number(struct journal_tx *tx, const char *key, int64_t value)
{
	(void)tx;
	(void)key;
	(void)value;
}

static int build(const void *self, const struct provider_op *op, struct provider_request *out,
		 struct err *e)
{
	(void)self;
	(void)op;
	(void)out;
	(void)e;
	return 0;
}

static size_t fits(const void *self, const struct provider_create *c)
{
	(void)self;
	return F.fits < c->nwants ? F.fits : c->nwants;
}

static const struct provider_ops ops = {.name = "test", .build = build, .fits = fits};
static char p_name[] = "p", no_text[] = "", type[] = "t", region[] = "r";

/* Ten nodes are wanted. */
static int setup(void **state)
{
	(void)state;
	F = (struct fix){.pool = {.name = p_name,
				  .own = {.name = no_text,
					  .provider = p_name,
					  .type = type,
					  .region = region,
					  .zone = no_text}},
			 .provider = {.name = p_name},
			 .fits = NODES};
	F.conf = (struct conf){
		.pools = &F.pool, .npools = 1, .providers = &F.provider, .nproviders = 1};
	F.cloud = (struct cloud){.e = &F.e,
				 .conf = &F.provider,
				 .ops = &ops,
				 .listed = true,
				 .caps.create_max = NODES};
	cooldown_init(&F.e.cooldown);
	F.e.conf = &F.conf;
	F.e.clouds = &F.cloud;
	F.e.d.uuid = "0a1b2c3d-0000-4000-8000-001122334455";
	F.e.slice = (struct engine_slice){.send = NODES, .write = 4};
	F.e.left = F.e.slice.write;
	F.e.snapshot_ms = 1;
	F.e.answers_last = &F.e.answers;
	fleet_init(&F.e.fleet, 1);
	for (int i = 1; i <= NODES; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "c%d", i);
		node_init(&n, name, 1, engine_now(&F.e));
		(void)fleet_add(&F.e.fleet, &n);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(F.ctx);
	launch_free(&F.e);
	cooldown_fini(&F.e.cooldown);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void make_items(struct provider_item *items)
{
	for (int i = 0; i < NODES; i++) {
		struct provider_instance *in = &items[i].instance;

		items[i] = (struct provider_item){.code = PROVIDER_OK};
		(void)snprintf(in->id, sizeof(in->id), "i-%d", i + 1);
		(void)snprintf(in->node, sizeof(in->node), "c%d", i + 1);
	}
}

static void answer(size_t nitems)
{
	struct provider_item items[NODES];
	struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = nitems};

	make_items(items);
	F.nposted = 0;
	F.answer(&F.cloud, F.ctx, &r);
	memset(items, 'x', sizeof(items)); /* they are the caller's */
}

static unsigned count(enum node_state s)
{
	return F.e.fleet.pools[0].count[s];
}

static void test_nothing_goes_out_when_this_pass_has_done_its_work(void **state)
{
	(void)state;
	F.e.left = 0;
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_true(F.e.more); /* and the timer is set for now */
	F.e.left = 1;
	launch_run(&F.e);
	assert_int_equal(F.sent, 1); /* a request is never cut */
	assert_int_equal(count(NODE_CREATING), NODES);
	assert_int_equal(F.e.left, 0);
	launch_run(&F.e);
	assert_false(F.e.more); /* nothing is wanted any more */
}

static void test_an_answer_is_taken_in_by_pieces(void **state)
{
	(void)state;
	launch_run(&F.e);
	F.e.left = F.e.slice.write;
	answer(NODES);
	assert_int_equal(F.nposted, 0);
	for (unsigned posted = 4; posted <= 8; posted += 4) {
		launch_answered(&F.e);
		assert_int_equal(F.nposted, posted);
		assert_int_equal(count(NODE_BOOTING), posted);
		assert_int_equal(F.e.left, 0);
		assert_non_null(F.e.answers);
		launch_run(&F.e); /* the batch is still on the wire: no repeat, not forgotten */
		assert_non_null(F.e.batches);
		assert_int_equal(F.hurried, 0);
		F.e.left = F.e.slice.write;
	}
	launch_answered(&F.e);
	assert_int_equal(F.nposted, NODES);
	assert_int_equal(count(NODE_BOOTING), NODES);
	assert_null(F.e.answers);
	assert_int_equal(F.e.left, 2);
	assert_int_equal(F.hurried, 1);
	assert_int_equal(F.sent, 1);
	launch_settle(&F.e);
	assert_null(F.e.batches);
}

static void test_who_is_not_in_an_answer_is_in_doubt(void **state)
{
	(void)state;
	launch_run(&F.e);
	F.e.left = 4 * NODES;
	answer(7);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), 7);
	assert_int_equal(count(NODE_INDOUBT), 3);
}

/* c1 ... c3 are one job, c4 ... c7 another, the rest stand alone. */
static void make_gangs(void)
{
	for (struct fleet_node *fn = F.e.fleet.states[NODE_WANTED]; fn; fn = fn->state_next) {
		int i = atoi(fn->n.name + 1);

		fn->n.group = i <= 3 ? 1 : i <= 7 ? 2 : 0;
	}
}

static void test_a_create_has_no_more_nodes_than_the_driver_can_take(void **state)
{
	(void)state;
	F.fits = 4;
	launch_run(&F.e);
	assert_int_equal(F.sent, 3);
	assert_int_equal(F.sizes[0], 4);
	assert_int_equal(F.sizes[1], 4);
	assert_int_equal(F.sizes[2], 2);
	assert_int_equal(count(NODE_CREATING), NODES);
}

static void test_jobs_stay_whole_where_the_driver_can_take_them(void **state)
{
	(void)state;
	make_gangs();
	F.fits = 5;
	launch_run(&F.e);
	assert_int_equal(F.sent, 3);
	assert_int_equal(F.sizes[0], 3); /* those that stand alone; not two of a job */
	assert_int_equal(F.sizes[1], 3);
	assert_int_equal(F.sizes[2], 4);
	assert_string_equal(F.first[0], "c8");
	assert_string_equal(F.first[1], "c1");
	assert_string_equal(F.first[2], "c4");
}

static void test_who_knows_of_gangs_gets_them_as_they_came(void **state)
{
	(void)state;
	make_gangs();
	F.cloud.caps.flags = PROVIDER_GANGS;
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c1");
}

static void test_a_job_too_large_for_one_create_goes_in_pieces(void **state)
{
	(void)state;
	make_gangs();
	F.fits = 2;
	launch_run(&F.e);
	assert_int_equal(F.sizes[0], 2);
	assert_int_equal(F.sizes[1], 1); /* the last that stands alone */
	assert_int_equal(F.sizes[2], 2);
	assert_int_equal(F.sizes[3], 1);
	assert_int_equal(F.sizes[4], 2);
	assert_int_equal(F.sizes[5], 2);
	assert_int_equal(count(NODE_CREATING), NODES);
}

/* The ten are wanted at one place; the eleventh, which came last, at another. */
static void make_two_places(struct conf_offer offers[2], struct node *last)
{
	static char here[] = "here", there[] = "there", other[] = "r2";

	offers[0] = offers[1] = F.pool.own;
	offers[0].name = here;
	offers[1].name = there;
	offers[1].region = other;
	F.pool.offers = offers;
	F.pool.noffers = 2;
	for (struct fleet_node *fn = F.e.fleet.states[NODE_WANTED]; fn; fn = fn->state_next)
		place_set(&F.e, &fn->n, &offers[0], 1);
	node_init(last, "c11", 1, engine_now(&F.e));
	place_set(&F.e, last, &offers[1], 1);
	(void)fleet_add(&F.e.fleet, last);
}

static void cool(const struct conf_offer *o, int64_t ago_ms)
{
	const struct cooldown_place at = {
		.provider = p_name, .type = o->type, .region = o->region, .zone = o->zone};

	(void)cooldown_bought(&F.e.cooldown, &at, PROVIDER_CAPACITY, engine_now(&F.e) - ago_ms,
			      engine_now(&F.e) - ago_ms);
}

static void test_who_waits_for_a_probe_keeps_no_other_place_waiting(void **state)
{
	struct conf_offer offers[2];
	struct node last;

	(void)state;
	make_two_places(offers, &last);
	cool(&offers[0], COOLDOWN_CAPACITY_MS + 1);
	assert_int_equal(place_buy(&F.e, &offers[0]), PLACE_SELLS); /* that is being tried */
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c11");
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_false(F.e.more); /* an answer makes it go on */
}

static void test_who_is_refused_unsent_keeps_no_other_place_waiting(void **state)
{
	struct conf_offer offers[2];
	struct node last;

	(void)state;
	make_two_places(offers, &last);
	cool(&offers[0], 1);
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c11");
	assert_int_equal(count(NODE_GONE), NODES);
}

/* A burst at a place that may be tried is one purchase, in as many requests as it takes. */
static void test_all_that_goes_at_once_is_one_probe(void **state)
{
	struct conf_offer offers[2];
	struct node last;

	(void)state;
	make_two_places(offers, &last);
	cool(&offers[0], COOLDOWN_CAPACITY_MS + 1);
	F.fits = 6;
	F.cloud.caps.create_max = 6;
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.first[0], "c1");
	assert_string_equal(F.first[1], "c7");
	assert_int_equal(count(NODE_CREATING), NODES);
	assert_true(F.e.more); /* c11 */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nothing_goes_out_when_this_pass_has_done_its_work),
		T(test_an_answer_is_taken_in_by_pieces),
		T(test_who_is_not_in_an_answer_is_in_doubt),
		T(test_a_create_has_no_more_nodes_than_the_driver_can_take),
		T(test_jobs_stay_whole_where_the_driver_can_take_them),
		T(test_who_knows_of_gangs_gets_them_as_they_came),
		T(test_a_job_too_large_for_one_create_goes_in_pieces),
		T(test_who_waits_for_a_probe_keeps_no_other_place_waiting),
		T(test_who_is_refused_unsent_keeps_no_other_place_waiting),
		T(test_all_that_goes_at_once_is_one_probe),
	};
#undef T

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
