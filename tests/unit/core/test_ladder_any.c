/* test_ladder_any.c - whatever the pool, and whatever the job asks for: no limit is passed. */
#include "ladder_conf.h"

static uint64_t dice;

static uint32_t throw(uint32_t sides)
{
	dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return (uint32_t)(dice >> 33) % sides;
}

static struct conf *any_conf(void)
{
	static const char *const regions[] = {"eu-north-1", "eu-west-2", "us-east-1", "x"};
	static const char *const markets[] = {"reserved", "spot", "on-demand"};
	static const char *const codes[] = {"EU", "US", "GB", "EEA"};
	struct conf *c = empty_conf();
	struct conf_pool *p = c->pools;
	uint32_t n = 1 + throw(CONF_OFFERS_MAX);
	char text[16];

	for (uint32_t i = 0; i < n; i++) {
		struct conf_offer *o;

		(void)snprintf(text, sizeof(text), "o%u", i);
		o = add_offer(p, text, throw(2) ? "aws" : "lambda", regions[throw(4)],
			      markets[throw(3)]);
		o->max_price_nano_h = throw(3) ? 0 : 1 + throw(4);
		o->price_nano_h = throw(4) ? 0 : 1 + throw(4);
		if (throw(5) == 0)
			set("offer", "jurisdiction", o, codes[throw(4)]);
	}
	if (throw(2))
		set("pool", "jurisdictions", p, codes[throw(4)]);
	p->policy = (int) throw(2);
	p->max_price_nano_h = throw(3) ? 0 : 1 + throw(4);
	p->spot_share = throw(2) ? 100 : throw(101);
	p->fallback_refusals = throw(3);
	p->fallback_ms = throw(2) ? 0 : throw(1000);
	finish(c);
	return c;
}

static void any_ask(struct ladder_ask *a, struct ladder_known *known, struct ladder_wish *wishes)
{
	static const char *const words[] = {NULL,   "spot",    "ondemand",     "aws&spot",
					    "h100", "!lambda", "spot|reserved"};

	memset(known, 0, CONF_OFFERS_MAX * sizeof(*known)); /* what no dice are thrown for */
	for (size_t i = 0; i < CONF_OFFERS_MAX; i++) {
		known[i].price = (int64_t) throw(6) - 1;
		known[i].cool.state =
			(enum cooldown_state)(throw(2) ? 0 : throw(COOLDOWN_DENIED + 1));
		known[i].cool.until_ms = known[i].cool.state > COOLDOWN_PROBING ? now + 1 : 0;
		known[i].wrong_until_ms = throw(4) ? 0 : now + 1;
		known[i].dry = throw(8) == 0;
		known[i].off = throw(8) ? NULL : "no key";
		known[i].away_ms = throw(8) ? 0 : now - 1;
		known[i].keyless = throw(8) ? NULL : "no door";
	}
	a->nodes = throw(20);
	a->spot = throw(a->nodes + 1);
	for (int i = 0; i < 2; i++)
		wishes[i] = (struct ladder_wish){.constraint = words[throw(COUNT(words))],
						 .max_price_nano_h = throw(3) ? 0 : 1 + throw(4),
						 .jurisdictions = throw(4) ? NULL : only_eu};
	a->job = (struct ladder_job){.wishes = wishes,
				     .nwishes = throw(3),
				     .nodes = throw(5),
				     .refusals = throw(4),
				     .since_ms = now - throw(2000) + 500,
				     .tried = throw(3) ? 0 : throw(UINT32_MAX)};
}

static void check_rung(const struct ladder_ask *a, uint32_t i)
{
	const struct conf_offer *o = &a->pool->offers[i];
	const char *where =
		o->jurisdiction[0] != '\0'
			? o->jurisdiction
			: jurisdiction_of(a->conf->providers[o->provider_index].driver, o->region);
	int64_t price = ladder_price(a, i);
	uint64_t more = a->job.nodes > 0 ? a->job.nodes : 1;

	if (a->pool->jurisdictions != NULL)
		assert_true(jurisdiction_within(where, a->pool->jurisdictions[0]));
	for (size_t k = 0; k < a->job.nwishes; k++) {
		const struct ladder_wish *w = &a->job.wishes[k];

		assert_int_not_equal(constraint_ask(w->constraint, a->conf, o), CONSTRAINT_NO);
		assert_true(w->max_price_nano_h == 0 || price <= w->max_price_nano_h);
		assert_true(w->jurisdictions == NULL || jurisdiction_within(where, "EU"));
	}
	assert_true(a->known[i].cool.state <= COOLDOWN_HALF);
	assert_null(a->known[i].off);
	assert_null(a->known[i].keyless);
	assert_true(price > 0);
	assert_true(o->max_price_nano_h == 0 || price <= o->max_price_nano_h);
	assert_true(a->pool->max_price_nano_h == 0 || price <= a->pool->max_price_nano_h);
	assert_int_equal(a->job.tried >> i & 1, 0);
	if (o->market == PROVIDER_SPOT)
		assert_true((a->spot + more) * 100 <= a->pool->spot_share * (a->nodes + more));
}

static void check_order(const struct ladder_ask *a, uint32_t x, uint32_t y)
{
	const struct conf_offer *ox = &a->pool->offers[x], *oy = &a->pool->offers[y];
	bool rx = ox->market == PROVIDER_RESERVED, ry = oy->market == PROVIDER_RESERVED;
	bool wx = a->known[x].wrong_until_ms != 0 || a->known[x].dry;
	bool wy = a->known[y].wrong_until_ms != 0 || a->known[y].dry;

	assert_true(!wx || wy);
	if (wx != wy)
		return;
	if (a->pool->policy == CONF_ORDERED) {
		assert_true(x < y);
		return;
	}
	assert_true(rx || !ry);
	if (rx != ry)
		return;
	assert_true(ladder_price(a, x) <= ladder_price(a, y));
	assert_true(ladder_price(a, x) < ladder_price(a, y) || x < y); /* equal: as written */
}

/* Some words for each that is left out, and none else. */
static void check_words(const struct ladder *l, const struct ladder_ask *a,
			const bool in[CONF_OFFERS_MAX])
{
	char why[200], all[CONF_OFFERS_MAX * sizeof(why)];

	for (size_t i = 0; i < l->nrungs; i++) {
		ladder_explain(l, a, i, why, sizeof(why));
		assert_int_equal(in[i], l->cause[i] == LADDER_TRY);
		assert_int_equal(in[i], why[0] == '\0');
	}
	ladder_why(l, a, all, sizeof(all));
	assert_int_equal(l->n == l->nrungs, all[0] == '\0');
}

static void check_ladder(const struct ladder *l, const struct ladder_ask *a)
{
	bool in[CONF_OFFERS_MAX] = {false};
	unsigned half = 0;

	for (size_t k = 0; k < l->n; k++) {
		uint32_t i = l->order[k];

		assert_false(in[i]);
		in[i] = true;
		check_rung(a, i);
		half += a->known[i].cool.state == COOLDOWN_HALF;
		if (k > 0)
			check_order(a, l->order[k - 1], i);
	}
	assert_true(half <= 1);
	check_words(l, a, in);
}

/* The same question once more, with less in the way: nothing that was there goes. */
static void check_fallback(const struct ladder *l, struct ladder_ask *a)
{
	struct ladder later;
	size_t spot_first = 0;

	a->job.refusals = UINT32_MAX;
	a->job.since_ms = 0;
	ladder_make(&later, a);
	check_ladder(&later, a);
	for (size_t i = 0; i < l->nrungs; i++) {
		spot_first += l->cause[i] == LADDER_SPOT_FIRST;
		assert_int_not_equal(later.cause[i], LADDER_SPOT_FIRST);
		if (l->cause[i] < LADDER_SPOT_FIRST && l->cause[i] > LADDER_TRY &&
		    l->cause[i] != LADDER_LATER)
			assert_int_equal(later.cause[i], l->cause[i]);
	}
	if (spot_first == 0)
		assert_memory_equal(l, &later, offsetof(struct ladder, cause));
}

static void test_no_pool_and_no_job_passes_a_limit(void **state)
{
	struct ladder_known known[CONF_OFFERS_MAX];
	size_t tried = 0, held = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct conf *c;

		dice = seed * 77777 + 1;
		c = any_conf();
		for (int i = 0; i < 8; i++) {
			struct ladder_ask a = {
				.conf = c, .pool = c->pools, .known = known, .now_ms = now};
			struct ladder_wish wishes[2];
			struct ladder l, again;

			any_ask(&a, known, wishes);
			ladder_make(&l, &a);
			ladder_make(&again, &a);
			assert_memory_equal(&l, &again, sizeof(l)); /* the same question */
			check_ladder(&l, &a);
			for (size_t k = 0; k < l.nrungs; k++)
				held += l.cause[k] == LADDER_SPOT_FIRST;
			tried += l.n;
			check_fallback(&l, &a);
		}
		conf_free(c);
	}
	assert_true(tried > 10000 && held > 1000); /* the dice meet what is judged */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_pool_and_no_job_passes_a_limit),
	};

	return cmocka_run_group_tests_name("ladder/any", tests, NULL, NULL);
}
