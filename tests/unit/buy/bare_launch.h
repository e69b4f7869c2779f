/* bare_launch.h - launch*.c and its helpers on a bare struct engine, with ten nodes wanted at one
 * place; cloud, journal and fold are replaced by the test. */
#ifndef TESTS_BARE_LAUNCH_H
#define TESTS_BARE_LAUNCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "keys/keys.h"
#include "keys/vouchers.h"
#include "tests/unit/engine/bare_state.h"

enum { NODES = 10 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_pool pool;
	struct conf_provider provider;
	struct cloud cloud;
	unsigned recorded, sent, hurried;
	size_t sizes[NODES]; /* nodes of each create that was sent */
	char first[NODES][16];
	bool unbuildable; /* the driver cannot build a create */
	size_t fits;      /* how many nodes fit into one create ... */
	char fits_in[64]; /* ... in this fabric, as was asked last */
	enum node_event_type posted[4 * NODES];
	unsigned hopeful; /* nodes refused by a place that may be asked again at once */
	size_t nposted;
	request_fn answer; /* callback of the last create, and its context */
	void *ctx;
	unsigned made;          /* fabrics made */
	char fabric[NODES][64]; /* fabric of each create */
	char token[64];         /* token of the last create, or name of the last fabric */
	uint64_t hash;
	char event[200];
	int64_t passed;        /* time that has passed ... */
	int64_t disk_ms;       /* ... and that a commit takes */
	bool repeats;          /* the next create repeats one */
	const char *closed;    /* why the pool is closed; NULL: it is open */
	unsigned looked;       /* calls of pool_refuse_wanted() */
	bool found;            /* the next commit finds all instances */
	int64_t last_batch;    /* the durable number */
	struct provider_op op; /* operation of the last create */
	bool busy;             /* no slot is free */
	const char *keyless;   /* why machines cannot get their keys now */
	struct provider_terms terms;
	char answered[256];                   /* the records of answers */
	bool claims;                          /* machines get user-data with claims, and ... */
	size_t issued;                        /* ... this many claims were issued */
	struct journal_batch staged, durable; /* the last row of a batch */
	size_t canaries;                      /* so many more machines may be of a new image */
	unsigned stopped;                     /* so often its provider refused one */
	char images[NODES][16];               /* of each create that was sent */
	bool vouchers; /* each machine gets a token of its own, but c4 has none yet */
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
	F.durable = F.staged;
	F.passed += F.disk_ms;
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

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	(void)e;
	(void)n;
	*out = (struct node_limits){
		.tokens = true, .token_ms = 60000, .settle_ms = 1000, .boot_ms = 60000};
	return out;
}

/* Events are durable at once. */
void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	struct node_limits lim;
	struct node next = fn->n;

	assert_true(node_step(&next, ev, engine_limits(e, &fn->n, &lim)));
	fleet_set(&e->fleet, fn, &next);
	F.posted[F.nposted++] = ev->type;
	F.hopeful += ev->type == NODE_EV_REFUSED && place_ready_ms(e, &F.pool.own) == 0;
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
	limit_take(&F.cloud.limit, op->kind, (uint32_t)op->u.create.nwants, engine_now(&F.e));
	F.op = *op;
	fabric = op->u.create.place->fabric;
	(void)snprintf(F.fabric[F.sent], sizeof(F.fabric[0]), "%s", fabric != NULL ? fabric : "");
	(void)snprintf(F.token, sizeof(F.token), "%s", op->u.create.token);
	(void)snprintf(F.first[F.sent], sizeof(F.first[0]), "%s", op->u.create.wants[0].node);
	assert_int_equal(op->u.create.place->of_unit, F.pool.unit != 0);
	(void)snprintf(F.images[F.sent], sizeof(F.images[0]), "%s", op->u.create.place->image);
	F.sizes[F.sent++] = op->u.create.nwants;
	if ((F.cloud.caps.flags & PROVIDER_ELSEWHERE) == 0)
		F.recorded += provider_cursor(op)[0] != '\0'; /* with its first request */
	assert_int_equal(F.recorded, F.made + F.sent);        /* I28 */
}

struct roll_image rolls_choose(struct engine *e, const struct node *first, bool whole, size_t *n)
{
	(void)e;
	(void)first;
	if (F.canaries == 0 || (whole && *n > F.canaries))
		return (struct roll_image){.name = "old"};
	*n = *n < F.canaries ? *n : F.canaries;
	F.canaries = 0; /* whole jobs first: what is left is for the next turn */
	return (struct roll_image){.name = "new", .canary = true};
}

void rolls_refused(struct engine *e, const struct node *n, const char *image, const char *why)
{
	(void)e;
	(void)n;
	assert_string_equal(image, "new");
	assert_true(why[0] != '\0');
	F.stopped++;
}

struct request *cloud_reserve(struct cloud *c, const struct provider_op *op, request_fn fn,
			      void *ctx)
{
	(void)c;
	(void)op;
	(void)fn;
	(void)ctx;
	fail();
	return NULL;
}

void cloud_send_reserved(struct request *rq)
{
	(void)rq;
	fail();
}

bool cloud_ready(struct cloud *c, enum provider_op_kind kind)
{
	(void)c;
	return !F.busy && limit_may(&F.cloud.limit, kind, engine_now(&F.e));
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

const char *pool_blocked(const struct engine *e, size_t i)
{
	(void)e;
	(void)i;
	return F.closed;
}

int64_t pool_wrong_until(const struct engine *e, size_t i, size_t rung)
{
	(void)e;
	(void)i;
	(void)rung;
	return 0;
}

void pool_set_cost(struct engine *e, size_t i, size_t rung, int64_t price)
{
	(void)e;
	(void)i;
	(void)rung;
	(void)price;
}

int64_t pool_cost(const struct engine *e, size_t i, size_t rung)
{
	(void)e;
	(void)i;
	(void)rung;
	return 0;
}

void engine_tell_quotes(struct engine *e, bool cheaper)
{
	(void)e;
	(void)cheaper;
}

void pool_refuse_wanted(struct engine *e)
{
	(void)e;
	F.looked++;
}

void away_run(struct engine *e)
{
	(void)e;
}

int64_t away_since(const struct cloud *c)
{
	(void)c;
	return 0;
}

bool away_is(const struct cloud *c)
{
	(void)c;
	return false;
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

void audit_add(struct audit *a, const char *thing)
{
	(void)a;
	(void)snprintf(F.answered + strlen(F.answered), sizeof(F.answered) - strlen(F.answered),
		       "%s ", thing);
}

void audit_answered(struct engine *e, struct audit *a, const char *what, const char *target,
		    const struct provider_result *r)
{
	(void)e;
	(void)a;
	assert_non_null(strstr(what, "create burstd-0a1b2c3d-"));
	assert_string_equal(target, "p");
	(void)snprintf(F.answered + strlen(F.answered), sizeof(F.answered) - strlen(F.answered),
		       "%s %s;", provider_code_str(r->code), r->request_id);
}

void audit_thing(struct engine *e, const char *verb, const char *target, const char *thing,
		 const char *reason)
{
	(void)e;
	(void)target;
	assert_string_equal(reason, F.pool.unit != 0 ? "for a placement unit"
						     : "for a job of several nodes");
	assert_string_equal(verb, "fabric-make");
	assert_non_null(strstr(thing, "burstd-0a1b2c3d-"));
	F.recorded++;
}

const char *engine_keyless(const struct engine *e, uint32_t provider)
{
	(void)e;
	assert_int_equal(provider, 0);
	return F.keyless;
}

bool claims_wanted(const struct engine *e, uint32_t cloud)
{
	(void)e;
	(void)cloud;
	return F.claims;
}

char *claims_user_data(const struct engine *e, const struct keys_for *k, struct err *err)
{
	(void)e;
	(void)err;
	return mem_strdup(k->token);
}

bool vouchers_wanted(const struct engine *e, uint32_t cloud)
{
	(void)e;
	(void)cloud;
	return F.vouchers;
}

/* No node waits for its token. */
bool vouchers_waits(const struct engine *e, const struct node *n)
{
	(void)e;
	(void)n;
	return false;
}

bool vouchers_have(struct engine *e, struct fleet_node *const *v, size_t n)
{
	(void)e;
	for (size_t i = 0; F.vouchers && i < n; i++)
		if (strcmp(v[i]->name->name, "c4") == 0)
			return false;
	return true;
}

char *vouchers_user_data(const struct engine *e, const struct keys_for *k,
			 const struct conf_offer *o, struct err *err)
{
	(void)e;
	(void)o;
	if (k->n != 1)
		return (void)err_set(err, ERR_INVALID, "several"), NULL;
	return mem_strdup(k->members[0].name->name);
}

void claims_issue(struct engine *e, const struct keys_for *k)
{
	(void)e;
	F.issued += k->n;
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
	F.staged = *b;
}

void journal_del_batch(struct journal_tx *tx, uint64_t id)
{
	(void)tx;
	(void)id;
}

int journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e)
{
	(void)j;
	(void)key;
	(void)e;
	*out = 0;
	return 0;
}

void journal_put_number(struct journal_tx *tx, const char *key, int64_t value)
{
	(void)tx;
	assert_string_equal(key, JOURNAL_LAST_BATCH);
	F.last_batch = value;
}

static inline int build(const void *self, const struct provider_op *op,
			struct provider_request *out, struct err *e)
{
	(void)self;
	(void)out;
	/* It is asked for the hash, which is that of the first request (I4). */
	assert_string_equal(provider_cursor(op), "");
	return F.unbuildable ? err_set(e, ERR_INVALID, "it is too long") : 0;
}

static inline size_t fits(const void *self, const struct provider_create *c)
{
	(void)self;
	(void)snprintf(F.fits_in, sizeof(F.fits_in), "%s",
		       c->place->fabric != NULL ? c->place->fabric : "");
	assert_int_equal(c->place->of_unit, F.pool.unit != 0);
	return F.fits < c->nwants ? F.fits : c->nwants;
}

static inline struct provider_terms terms(const void *self, const struct provider_place *place)
{
	(void)self;
	assert_string_equal(place->type, "t");
	return F.terms;
}

static const struct provider_ops ops = {
	.name = "test", .build = build, .terms = terms, .fits = fits};
static char p_name[] = "p", no_text[] = "", type[] = "t", region[] = "r";

/* Start with ten wanted nodes. */
static inline int setup(void **state)
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
	bare_state(&F.e);
	F.conf = (struct conf){
		.pools = &F.pool, .npools = 1, .providers = &F.provider, .nproviders = 1};
	F.cloud = (struct cloud){.e = &F.e,
				 .conf = &F.provider,
				 .ops = &ops,
				 .listed = true,
				 .caps.create_max = NODES};
	limit_init(&F.cloud.limit, 1000, 0, NULL, engine_now(&F.e));
	cooldown_init(&F.e.cloud->cooldown);
	unsold_init(&F.e.cloud->unsold);
	F.e.conf = &F.conf;
	F.e.cloud->all = &F.cloud;
	F.e.d.uuid = "0a1b2c3d-0000-4000-8000-001122334455";
	F.e.slice = (struct engine_slice){.send = NODES, .write = 4};
	F.e.left = F.e.slice.write;
	F.e.poll.snapshot_ms = 1;
	F.e.buy->answers_last = &F.e.buy->answers;
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

static inline int teardown(void **state)
{
	(void)state;
	free(F.ctx);
	launch_free(&F.e);
	free(F.cloud.fabrics);
	map_fini(&F.pool.unit_of);
	hostlist_free(F.pool.nodes);
	map_fini(&F.cloud.ids);
	cooldown_fini(&F.e.cloud->cooldown);
	unsold_fini(&F.e.cloud->unsold);
	refused_fini(&F.e.cloud->refused);
	fleet_fini(&F.e.fleet);
	return 0;
}

static inline void make_items(struct provider_item *items)
{
	for (int i = 0; i < NODES; i++) {
		struct provider_instance *in = &items[i].instance;

		items[i] = (struct provider_item){.code = PROVIDER_OK};
		in->created_ms = 1000 + i;
		(void)snprintf(in->id, sizeof(in->id), "i-%d", i + 1);
		(void)snprintf(in->node, sizeof(in->node), "c%d", i + 1);
	}
}

static inline void answer(size_t nitems)
{
	struct provider_item items[NODES];
	struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = nitems};

	make_items(items);
	F.nposted = 0;
	assert_string_equal(F.op.u.create.place->type, type); /* the operation must stay readable */
	F.answer(&F.cloud, F.ctx, &r);
	memset(items, 'x', sizeof(items)); /* the items are the caller's */
}

static inline unsigned count(enum node_state s)
{
	return F.e.fleet.pools[0].count[s];
}

/* Make c1 to c3 one job and c4 to c7 another; the rest stay single. */
static inline void make_gangs(void)
{
	for (struct fleet_node *fn = F.e.fleet.states[NODE_WANTED]; fn; fn = fn->state_next) {
		int i = atoi(fn->n.name + 1);

		fn->n.group = i <= 3 ? 1 : i <= 7 ? 2 : 0;
	}
}

static inline struct fleet_node *row(const char *name)
{
	return fleet_find(&F.e.fleet, name)->newest;
}

/* As EC2's: a thousand instances, then two a second. */
static inline void with_room_for(uint32_t n)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.instances = {NODES, 1, 1000}}};

	limit_init(&F.cloud.limit, 1000, 0, own, engine_now(&F.e));
	limit_take(&F.cloud.limit, PROVIDER_CREATE, NODES - n, engine_now(&F.e));
	limit_give(&F.cloud.limit, PROVIDER_CREATE);
}

static inline void lose_all(void)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	F.e.left = 4 * NODES;
	launch_part.at[PART_RUN](&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.repeats = true;
	F.nposted = 0;
}

#endif
