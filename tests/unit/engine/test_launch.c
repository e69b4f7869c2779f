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
	unsigned made;          /* fabrics */
	char fabric[NODES][64]; /* of the creates */
	char token[64];         /* of the last one, or the name of the last fabric */
	uint64_t hash;
	char event[200];
	int64_t passed;        /* of the time */
	bool repeats;          /* the next create does */
	const char *closed;    /* the pool: why */
	unsigned looked;       /* for what is to be refused with its pool */
	bool found;            /* with the next commit all instances are there */
	int64_t last_batch;    /* as durable */
	struct provider_op op; /* of the last create */
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return INT64_C(1800000000000) + F.passed;
}

struct journal_tx *engine_tx(struct engine *e)
{
	(void)e;
	return NULL;
}

void engine_commit(struct engine *e)
{
	for (struct fleet_node *fn = e->fleet.states[NODE_INDOUBT], *next; F.found && fn;
	     fn = next) {
		struct node n = fn->n;

		next = fn->state_next;
		n.state = NODE_BOOTING;
		(void)snprintf(n.instance, sizeof(n.instance), "i-%s", n.name);
		fleet_set(&e->fleet, fn, &n);
	}
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
	*out = (struct node_limits){
		.tokens = true, .token_ms = 60000, .settle_ms = 1000, .boot_ms = 60000};
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
	const char *fabric;

	(void)c;
	F.answer = fn;
	free(F.ctx);
	F.ctx = ctx;
	if (op->kind == PROVIDER_FABRIC_MAKE) {
		assert_string_equal(op->u.fabric.cluster, F.e.d.uuid);
		(void)snprintf(F.token, sizeof(F.token), "%s", op->u.fabric.name);
		assert_int_equal(F.recorded, ++F.made + F.sent); /* I28 */
		return;
	}
	assert_int_equal(op->kind, PROVIDER_CREATE);
	F.op = *op;
	assert_int_equal(op->u.create.nplaces, 1);
	fabric = op->u.create.places[0].fabric;
	(void)snprintf(F.fabric[F.sent], sizeof(F.fabric[0]), "%s", fabric != NULL ? fabric : "");
	(void)snprintf(F.token, sizeof(F.token), "%s", op->u.create.token);
	(void)snprintf(F.first[F.sent], sizeof(F.first[0]), "%s", op->u.create.wants[0].node);
	F.sizes[F.sent++] = op->u.create.nwants;
	assert_int_equal(F.recorded, F.made + F.sent); /* I28 */
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
	return F.hash;
}

const char *pool_closed(const struct engine *e, size_t i)
{
	(void)e;
	(void)i;
	return F.closed;
}

void pool_refuse_wanted(struct engine *e)
{
	(void)e;
	F.looked++;
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
	assert_true(strcmp(verb, "create") == 0 || strcmp(verb, "create-again") == 0);
	assert_non_null(strstr(request, "burstd-0a1b2c3d-"));
	F.recorded++;
}

void audit_thing(struct engine *e, const char *verb, const char *target, const char *thing,
		 const char *reason)
{
	(void)e;
	(void)target;
	assert_string_equal(reason, "a job is to have it");
	assert_string_equal(verb, "fabric-make");
	assert_non_null(strstr(thing, "burstd-0a1b2c3d-"));
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
	assert_string_equal(key, ENGINE_LAST_BATCH);
	F.last_batch = value;
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
			 .hash = 1,
			 .fits = NODES};
	F.conf = (struct conf){
		.pools = &F.pool, .npools = 1, .providers = &F.provider, .nproviders = 1};
	F.cloud = (struct cloud){.e = &F.e,
				 .conf = &F.provider,
				 .ops = &ops,
				 .listed = true,
				 .caps.create_max = NODES};
	cooldown_init(&F.e.cooldown);
	unsold_init(&F.e.unsold);
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
	free(F.cloud.fabrics);
	unsold_fini(&F.e.unsold);
	cooldown_fini(&F.e.cooldown);
	unsold_fini(&F.e.unsold);
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
	assert_string_equal(F.op.u.create.places->type, type); /* it may be read again */
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
	assert_int_equal(F.e.count.instances_created, NODES);
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

/* --- a fabric for each job of several nodes ----------------------------------------------------
 */

/* c1 ... c3 are one job, the rest were bought before. */
static void want_a_job(const char *fabric)
{
	struct fleet_node *fn = F.e.fleet.states[NODE_WANTED], *next;

	F.pool.own.in_fabric = fabric;
	make_gangs();
	for (; fn != NULL; fn = next) {
		struct node_event ev = {.type = NODE_EV_REFUSED, .now_ms = engine_now(&F.e)};

		next = fn->state_next;
		if (fn->n.group != 1)
			engine_post(&F.e, fn, &ev);
	}
	F.e.left = 100;
	F.nposted = 0;
}

/* The next answer: to a fabric, or to a create as a whole. */
static void say(enum provider_code code)
{
	struct provider_result r = {.code = code};
	void *ctx = F.ctx;

	F.ctx = NULL;
	F.answer(&F.cloud, ctx, &r);
	free(ctx);
	launch_answered(&F.e);
}

static void test_a_fabric_is_made_before_the_create_of_its_job(void **state)
{
	char name[64];

	(void)state;
	want_a_job("job");
	launch_run(&F.e);
	assert_int_equal(F.made, 1);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_CREATING), 3); /* the intent of the create is durable */
	memcpy(name, F.token, sizeof(name));
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], 3);
	assert_string_equal(F.fabric[0], name);
	assert_string_equal(F.token, name);
	F.e.left = 1;
	answer(3);
	launch_answered(&F.e); /* in one piece: a crash must not cut it */
	assert_int_equal(count(NODE_BOOTING), 3);
	assert_null(F.e.answers);
}

/* One node of a job that has its others in another pool goes with those that stand alone. */
static void test_one_node_of_a_job_needs_no_fabric(void **state)
{
	(void)state;
	F.pool.own.in_fabric = "job";
	F.e.fleet.states[NODE_WANTED]->n.group = 7;
	launch_run(&F.e);
	assert_int_equal(F.made, 0);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], NODES);
	assert_string_equal(F.fabric[0], "");
}

static void test_each_job_has_a_fabric_and_nodes_alone_have_none(void **state)
{
	(void)state;
	make_gangs();
	F.pool.own.in_fabric = "job";
	F.cloud.caps.flags = PROVIDER_GANGS; /* which would put them all into one create */
	launch_run(&F.e);
	assert_int_equal(F.made, 2);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], 3); /* c8, c9, c10 */
	assert_string_equal(F.first[0], "c8");
	assert_string_equal(F.fabric[0], "");
}

static void test_a_fabric_that_is_there_is_for_all(void **state)
{
	(void)state;
	make_gangs();
	F.pool.own.in_fabric = "pg-1";
	F.cloud.caps.flags = PROVIDER_GANGS;
	launch_run(&F.e);
	assert_int_equal(F.made, 0);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], NODES);
	assert_string_equal(F.fabric[0], "pg-1");
}

static void test_without_its_fabric_nothing_was_bought(void **state)
{
	static const struct {
		enum provider_code code;
		enum node_state then;
		enum node_reason reason;
	} rows[] = {
		{PROVIDER_AMBIGUOUS, NODE_WANTED, NODE_BECAUSE_NONE},
		{PROVIDER_TRANSIENT, NODE_WANTED, NODE_BECAUSE_NONE},
		{PROVIDER_RATE, NODE_WANTED, NODE_BECAUSE_NONE},
		{PROVIDER_NOT_YET, NODE_WANTED, NODE_BECAUSE_NONE},
		{PROVIDER_DENIED, NODE_GONE, NODE_BECAUSE_DENIED},
		{PROVIDER_INVALID, NODE_GONE, NODE_BECAUSE_INVALID},
		{PROVIDER_QUOTA, NODE_GONE, NODE_BECAUSE_CAPACITY}, /* of fabrics, not machines */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		want_a_job("job");
		launch_run(&F.e);
		say(rows[i].code);
		assert_int_equal(F.sent, 0);
		assert_int_equal(F.nposted, 6); /* each: START, and what came of it */
		for (int k = 1; k <= 3; k++) {
			char name[16];

			(void)snprintf(name, sizeof(name), "c%d", k);
			assert_int_equal(fleet_find(&F.e.fleet, name)->newest->n.state,
					 rows[i].then);
			assert_int_equal(fleet_find(&F.e.fleet, name)->newest->n.reason,
					 rows[i].reason);
		}
		(void)teardown(state);
		(void)setup(state);
	}
}

/* It needs a right of its own: who wants no fabric may buy from that provider all the same. */
static void test_who_may_not_make_fabrics_may_buy_without(void **state)
{
	struct conf_offer any;

	(void)state;
	want_a_job("job");
	any = F.pool.own;
	any.in_fabric = NULL;
	launch_run(&F.e);
	say(PROVIDER_DENIED);
	assert_int_equal(fleet_find(&F.e.fleet, "c1")->newest->n.reason, NODE_BECAUSE_DENIED);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_SOLD_OUT);
	assert_int_equal(place_would(&F.e, &any), PLACE_SELLS);
	(void)teardown(state);
	(void)setup(state);
	want_a_job("job");
	launch_run(&F.e);
	say(PROVIDER_OK);
	say(PROVIDER_DENIED); /* the create is: nobody may buy */
	assert_int_equal(place_would(&F.e, &any), PLACE_SOLD_OUT);
}

static void test_what_changed_while_the_fabric_was_made_counts(void **state)
{
	struct node_event ev = {.type = NODE_EV_RELEASE,
				.reason = NODE_BECAUSE_SUSPENDED,
				.now_ms = engine_now(&F.e)};

	want_a_job("job");
	launch_run(&F.e);
	engine_post(&F.e, F.e.fleet.states[NODE_CREATING], &ev);
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), 2);
	(void)teardown(state);
	(void)setup(state);
	want_a_job("job");
	launch_run(&F.e);
	F.closed = "paused";
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), 3);
}

/* A lost answer, or a restart: the same name, and made again first, for nobody knows. */
static void test_a_repeat_makes_the_same_fabric_first(void **state)
{
	char name[64];

	(void)state;
	want_a_job("job");
	launch_run(&F.e);
	memcpy(name, F.token, sizeof(name));
	say(PROVIDER_OK);
	say(PROVIDER_AMBIGUOUS);
	assert_int_equal(count(NODE_INDOUBT), 3);
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.wake_ms = 0;
	F.e.left = 100;
	launch_run(&F.e);
	assert_int_equal(F.made, 2);
	assert_string_equal(F.token, name);
	assert_int_equal(F.sent, 1);
	say(PROVIDER_TRANSIENT); /* it may exist all the same */
	assert_int_equal(count(NODE_INDOUBT), 3);
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.wake_ms = 0;
	launch_run(&F.e);
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.token, name);
	assert_string_equal(F.fabric[1], name);
}

static void test_a_job_too_large_for_one_fabric_is_refused(void **state)
{
	(void)state;
	want_a_job("job");
	F.fits = 2;
	launch_run(&F.e);
	assert_int_equal(F.made + F.sent, 0);
	assert_int_equal(count(NODE_GONE), NODES);
	assert_string_equal(fleet_find(&F.e.fleet, "c1")->why,
			    "p: fabric: 3 nodes of one job are more than one create can have");
	assert_int_equal(fleet_find(&F.e.fleet, "c1")->newest->n.reason, NODE_BECAUSE_INVALID);
	(void)teardown(state);
	(void)setup(state);
	want_a_job("job");
	F.cloud.caps.create_max = 2;
	launch_run(&F.e);
	assert_int_equal(F.made + F.sent, 0);
	assert_int_equal(count(NODE_GONE), NODES);
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

/* A create that nobody knows about; its place is refused to another; it is asked for again. */
static void repeat_into_an_empty_place(void)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	F.e.left = 4 * NODES;
	launch_run(&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_INDOUBT), NODES);
	F.passed = 500;
	place_bought(&F.e, &F.pool.own, &none, 1, engine_now(&F.e) - 1);
	assert_int_equal(place_opens_ms(&F.e, &F.pool.own),
			 engine_now(&F.e) + COOLDOWN_CAPACITY_MS);
	F.passed = 2000;
	F.repeats = true;
	F.nposted = 0;
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
	F.passed = 3000;
}

static void test_a_repeat_that_is_refused_tells_of_the_place_as_of_the_repeat(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	repeat_into_an_empty_place();
	F.answer(&F.cloud, F.ctx, &none);
	launch_answered(&F.e);
	assert_int_equal(F.posted[NODES - 1], NODE_EV_REFUSED);
	assert_int_equal(place_opens_ms(&F.e, &F.pool.own),
			 engine_now(&F.e) + (int64_t)2 * COOLDOWN_CAPACITY_MS);
}

/* The first request may have bought it, before there was nothing left. */
static void test_a_repeat_that_succeeds_opens_no_place(void **state)
{
	(void)state;
	repeat_into_an_empty_place();
	answer(NODES);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES);
	assert_true(place_opens_ms(&F.e, &F.pool.own) > engine_now(&F.e));
}

static struct fleet_node *row(const char *name)
{
	return fleet_find(&F.e.fleet, name)->newest;
}

/* slurmctld does not have it: neither it nor the others of its job. */
static void test_a_job_with_a_node_that_slurmctld_does_not_know_waits(void **state)
{
	(void)state;
	make_gangs();
	fleet_find(&F.e.fleet, "c1")->missing_ms = 1;
	launch_run(&F.e);
	assert_int_equal(count(NODE_WANTED), 3);
	assert_int_equal(row("c2")->n.state, NODE_WANTED);
	assert_int_equal(row("c4")->n.state, NODE_CREATING);
}

/* F58, F57: neither a journal that is yesterday's nor a clock that went back brings one again. */
static void test_the_number_of_a_batch_never_comes_again(void **state)
{
	const uint64_t now = (uint64_t)engine_now(&F.e);
	struct journal_batch j = {.id = now + 10, .pool = "p"};

	(void)state;
	assert_int_equal(launch_load(&F.e, &j, NULL), 0);
	j.id = now + 5;
	assert_int_equal(launch_load(&F.e, &j, NULL), 0);
	launch_run(&F.e);
	assert_int_equal(F.e.batches->j.id, now + 11);
	assert_int_equal(F.last_batch, now + 11);
}

/* Nor does that of a job, of all that the journal has. */
static void test_the_number_of_a_gang_never_comes_again(void **state)
{
	(void)state;
	make_gangs();
	launch_restore(&F.e);
	assert_int_equal(F.e.last_group, 2);
}

static void test_an_answer_about_another_node_is_none(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.items = items, .nitems = NODES};

	(void)state;
	launch_run(&F.e);
	F.e.left = 4 * NODES;
	make_items(items);
	(void)snprintf(items[3].instance.node, sizeof(items[3].instance.node), "c5");
	items[8].instance.id[0] = '\0';
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), 8);
	assert_int_equal(row("c4")->n.state, NODE_INDOUBT);
	assert_int_equal(row("c9")->n.state, NODE_INDOUBT);
}

static void test_who_is_throttled_waits_as_long_as_the_provider_says(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.items = items, .nitems = NODES, .retry_after_ms = 45000};

	(void)state;
	launch_run(&F.e);
	F.e.left = 4 * NODES;
	make_items(items);
	items[0].code = PROVIDER_RATE;
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(row("c1")->n.state, NODE_WANTED);
	assert_int_equal(row("c1")->n.wake_ms, engine_now(&F.e) + 45000);
}

/* However many pieces it is taken in by. */
static void test_a_refusal_counts_once_for_its_place(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	launch_run(&F.e);
	F.nposted = 0;
	F.answer(&F.cloud, F.ctx, &none);
	for (int i = 0; i < 3; i++) {
		F.e.left = F.e.slice.write;
		launch_answered(&F.e);
	}
	assert_int_equal(F.nposted, NODES);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_CAPACITY), NODES);
	assert_string_equal(fleet_find(&F.e.fleet, "c1")->why, "p: the provider has no capacity");
}

/* Where a purchase may be tried again, it is tried with all that go now, in pieces or not. */
static void test_a_place_that_opens_is_asked_once_for_all_that_go_now(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	place_bought(&F.e, &F.pool.own, &none, 1, engine_now(&F.e) - 1);
	F.passed = COOLDOWN_CAPACITY_MS + 1;
	F.cloud.caps.create_max = 4;
	launch_run(&F.e);
	assert_int_equal(F.sent, 3);
	assert_int_equal(count(NODE_CREATING), NODES);
}

/* A job may be bought at two places, a create is for one. */
static void test_a_create_is_for_one_place(void **state)
{
	static char here[] = "here", there[] = "there";
	struct conf_offer offers[2] = {F.pool.own, F.pool.own};

	(void)state;
	offers[0].name = here;
	offers[1].name = there;
	F.pool.offers = offers;
	F.pool.noffers = 2;
	for (struct fleet_node *fn = F.e.fleet.states[NODE_WANTED]; fn; fn = fn->state_next) {
		fn->n.group = 1;
		memcpy(fn->n.offer, atoi(fn->n.name + 1) <= 3 ? here : there,
		       atoi(fn->n.name + 1) <= 3 ? sizeof(here) : sizeof(there));
	}
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[0], 3);
	assert_int_equal(F.sizes[1], 7);
}

static void lose_all(void)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	F.e.left = 4 * NODES;
	launch_run(&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.repeats = true;
	F.nposted = 0;
}

/* A provider that looks at each afresh could make it now: only lists may tell (I4, I6). */
static void test_a_create_of_which_some_was_settled_otherwise_is_not_repeated(void **state)
{
	struct node n;

	(void)state;
	lose_all();
	n = row("c1")->n;
	n.state = NODE_GONE;
	fleet_set(&F.e.fleet, row("c1"), &n);
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.nposted, NODES - 1);
	assert_int_equal(F.posted[0], NODE_EV_REFUSED);
}

static void test_nothing_goes_out_for_a_pool_that_is_closed(void **state)
{
	(void)state;
	F.closed = "an admin";
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_int_equal(F.looked, 1); /* they are refused */
}

static void test_nothing_is_bought_again_for_a_pool_that_is_closed(void **state)
{
	(void)state;
	lose_all();
	F.closed = "an admin";
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(count(NODE_INDOUBT), NODES);
}

/* A list may be sooner than the answer, which still has to find what it is for. */
static void test_a_create_on_the_wire_is_not_forgotten(void **state)
{
	(void)state;
	launch_run(&F.e);
	for (int i = 1; i <= NODES; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "c%d", i);
		n = row(name)->n;
		n.state = NODE_BOOTING;
		fleet_set(&F.e.fleet, row(name), &n);
	}
	launch_settle(&F.e);
	assert_non_null(F.e.batches);
}

/* Its answer or the time wakes us: to look again at once would burn a processor (I25). */
static void test_where_nothing_can_go_nobody_tries_at_once_again(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	place_bought(&F.e, &F.pool.own, &none, 1, engine_now(&F.e) - 1);
	F.passed = COOLDOWN_CAPACITY_MS + 1;
	assert_int_equal(place_buy(&F.e, &F.pool.own), PLACE_SELLS);
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_false(F.e.more);
}

/* To write the repeat down may take in a list that shows what it is for. */
static void test_what_turns_up_meanwhile_is_not_asked_for_again(void **state)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	(void)state;
	F.e.left = 4 * NODES;
	launch_run(&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.repeats = F.found = true;
	F.recorded--; /* it is written down, and not sent */
	launch_run(&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES);
	assert_int_equal(F.sent, 1);
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
		T(test_a_repeat_that_is_refused_tells_of_the_place_as_of_the_repeat),
		T(test_a_repeat_that_succeeds_opens_no_place),
		T(test_a_job_with_a_node_that_slurmctld_does_not_know_waits),
		T(test_the_number_of_a_batch_never_comes_again),
		T(test_the_number_of_a_gang_never_comes_again),
		T(test_an_answer_about_another_node_is_none),
		T(test_who_is_throttled_waits_as_long_as_the_provider_says),
		T(test_a_refusal_counts_once_for_its_place),
		T(test_a_place_that_opens_is_asked_once_for_all_that_go_now),
		T(test_a_create_is_for_one_place),
		T(test_what_turns_up_meanwhile_is_not_asked_for_again),
		T(test_a_create_of_which_some_was_settled_otherwise_is_not_repeated),
		T(test_nothing_is_bought_again_for_a_pool_that_is_closed),
		T(test_nothing_goes_out_for_a_pool_that_is_closed),
		T(test_a_create_on_the_wire_is_not_forgotten),
		T(test_where_nothing_can_go_nobody_tries_at_once_again),
		T(test_a_fabric_is_made_before_the_create_of_its_job),
		T(test_one_node_of_a_job_needs_no_fabric),
		T(test_each_job_has_a_fabric_and_nodes_alone_have_none),
		T(test_a_fabric_that_is_there_is_for_all),
		T(test_without_its_fabric_nothing_was_bought),
		T(test_who_may_not_make_fabrics_may_buy_without),
		T(test_what_changed_while_the_fabric_was_made_counts),
		T(test_a_repeat_makes_the_same_fabric_first),
		T(test_a_job_too_large_for_one_fabric_is_refused),
	};
#undef T

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
