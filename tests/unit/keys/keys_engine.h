/* keys_engine.h - an engine (claims_run.h) that has no parts but those of keys.  The test plays the
 * rest of burstd: cloud has one provider, which is asked nothing; D keeps what jobs are told;
 * launch() does about keys what buy does for a create, and keeps its user-data in F.creates.  The
 * secret store is the real one, unless the test has claims_store.h. */
#ifndef TESTS_KEYS_ENGINE_H
#define TESTS_KEYS_ENGINE_H

#include "claims_run.h"

#include "jobs/jobs.h"
#include "keys/vouchers.h"

/* --- cloud -------------------------------------------------------------------------------------
 */

static inline const struct provider_ops *fake(const char *name)
{
	static const struct provider_ops ops = {
		.name = "fake", .open = fake_open, .close = fake_close};

	(void)name;
	return &ops;
}

/* --- jobs --------------------------------------------------------------------------------------
 */

static struct {     /* since the engine was loaded */
	unsigned n; /* how many nodes were to be powered down; the last one: */
	char node[65], why[200];
	bool dead;
	unsigned drains; /* ... and drained; the last one, with its `why`: */
	char drained[65];
	uint32_t memory_percent; /* as prereq_memory_percent() says it; 0: not known */
} D;

void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	(void)e;
	D.n++;
	D.dead = dead;
	(void)snprintf(D.node, sizeof(D.node), "%s", nm->name);
	(void)snprintf(D.why, sizeof(D.why), "%s", why);
}

void insist_drain(struct engine *e, struct fleet_name *nm, const char *why)
{
	(void)e;
	D.drains++;
	(void)snprintf(D.drained, sizeof(D.drained), "%s", nm->name);
	(void)snprintf(D.why, sizeof(D.why), "%s", why);
}

uint32_t prereq_memory_percent(const struct engine *e)
{
	(void)e;
	return D.memory_percent;
}

/* No machine of these tests has a notice to give. */
int64_t notice_when(const struct cloud *c, enum provider_notice_kind kind, int64_t at_ms)
{
	(void)c;
	(void)kind;
	(void)at_ms;
	fail();
	return 0;
}

void notice_said(struct engine *e, const struct engine_notice *n, struct engine_notice_end *out)
{
	(void)e;
	(void)n;
	(void)out;
	fail();
}

/* --- the engine --------------------------------------------------------------------------------
 */

static inline void memory_init(struct engine *e)
{
	memset(&D, 0, sizeof(D));
	e->keys = mem_zalloc(sizeof(*e->keys));
	e->cloud = mem_zalloc(sizeof(*e->cloud));
	e->cloud->all = mem_zalloc(sizeof(*e->cloud->all));
	e->cloud->all[0] =
		(struct cloud){.e = e, .conf = &e->conf->providers[0], .ops = fake("fake")};
}

static inline void memory_free(struct engine *e)
{
	free(e->cloud->all);
}

static inline void memory_limits(const struct engine *e, const struct node *n,
				 struct node_limits *out)
{
	*out = (struct node_limits){.tokens = true,
				    .settle_ms = e->conf->providers[n->cloud].settle_ms,
				    .token_ms = 43200000,
				    .boot_ms = e->conf->pools[n->pool].boot_ms};
}

static inline int load_node(void *ctx, const struct node *n, const char *pool, struct err *err)
{
	struct engine *e = ctx;

	(void)err;
	assert_string_equal(pool, "pool"); /* the only one, of the only provider */
	(void)fleet_add(&e->fleet, n);
	return 0;
}

static inline int load_claim(void *ctx, const struct claim *c, struct err *err)
{
	(void)err;
	return claims_load(ctx, c);
}

static inline int load_voucher(void *ctx, struct voucher *v, struct err *err)
{
	(void)err;
	vouchers_load(ctx, v);
	return 0;
}

/* Load the journal, as parts/restore.c does. */
static inline int restore(struct engine *e, struct err *err)
{
	const struct journal_visitor v = {
		.node = load_node, .claim = load_claim, .voucher = load_voucher, .ctx = e};

	return breach_load(e, err) != 0 ? -1 : journal_load(e->d.journal, &v, err);
}

static inline struct engine_parts the_parts(void)
{
	static const struct engine_part memory = {
		.name = "what parts keep",
		.at = {[PART_INIT] = memory_init, [PART_FREE] = memory_free},
		.limits = memory_limits};
	static const struct engine_part journal = {.name = "journal", .open = restore};
	static const struct part_row rows[] = {
		{.part = &memory, .before = {&claims_part}},
		{.part = &claims_part, .before = {&journal}},
		{.part = &secrets_part, .before = {&vouchers_part, &rotate_part}},
		{.part = &vouchers_part, .before = {&journal}},
		{.part = &rotate_part},
		{.part = &door_part},
		{.part = &journal},
		{.part = &claims_turn_part},
		{.part = &vouchers_turn_part},
		{.part = &rotate_turn_part, .before = {&secrets_turn_part}},
		{.part = &secrets_turn_part},
	};

	return (struct engine_parts){rows, sizeof(rows) / sizeof(rows[0])};
}

/* --- creates -----------------------------------------------------------------------------------
 */

static inline struct fleet_node *want(int i, uint64_t gen)
{
	const struct conf_offer *o = &F.e->conf->pools[0].own;
	char name[16];
	struct node node;

	(void)snprintf(name, sizeof(name), "c%d", i);
	node_init(&node, name, gen, engine_now(F.e));
	(void)snprintf(node.offer, sizeof(node.offer), "%s", o->name);
	(void)snprintf(node.provider, sizeof(node.provider), "%s", F.e->conf->providers[0].name);
	node.rate_nano_h = 1;
	return fleet_add(&F.e->fleet, &node);
}

/* The machines of the create of these rows with this token; members: room for n. */
static inline struct keys_for keys_of_rows(struct fleet_node *const *v, size_t n, const char *token,
					   struct member *members)
{
	assert_true(n <= NODES_MAX);
	for (size_t i = 0; i < n; i++)
		members[i] = (struct member){.name = v[i]->name, .gen = v[i]->n.gen};
	return (struct keys_for){.members = members, .n = n, .token = token};
}

static inline char *user_data(const struct keys_for *k)
{
	if (claims_wanted(F.e, 0))
		return claims_user_data(F.e, k, NULL);
	if (vouchers_wanted(F.e, 0))
		return vouchers_user_data(F.e, k, &F.e->conf->pools[0].own, NULL);
	return mem_strdup("");
}

/* Do what launch_send() does about keys: make the user-data, and issue the claims in the commit
 * that makes the rows CREATING. */
static inline void launch(struct fleet_node **v, size_t n)
{
	struct member members[NODES_MAX];
	struct keys_for k;
	size_t at = F.ncreates++;

	assert_true(at < CREATES_MAX);
	(void)snprintf(F.creates[at].token, sizeof(F.creates[at].token), "burstd-%.8s-%zu", uuid,
		       at + 1);
	k = keys_of_rows(v, n, F.creates[at].token, members);
	F.creates[at].user_data = user_data(&k);
	assert_non_null(F.creates[at].user_data);
	for (size_t i = 0; i < n; i++) {
		const struct node_event ev = {.type = NODE_EV_START,
					      .now_ms = engine_now(F.e),
					      .batch = at + 1,
					      .slot = (uint32_t)i};

		engine_post(F.e, v[i], &ev);
	}
	claims_issue(F.e, &k);
	engine_commit(F.e);
	for (size_t i = 0; i < n; i++)
		v[i]->busy = true;
	turn();
}

#endif
