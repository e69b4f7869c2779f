/* holds_lab.h - an engine with two budgets, and a job of two nodes that it buys for. */
#ifndef TESTS_HOLDS_LAB_H
#define TESTS_HOLDS_LAB_H

#include "intake_calls.h"
#include "journal_rows.h"

#include "money/hold.h"
#include "tests/unit/payer_row.h"

#define EUR    INT64_C(1000000000)
#define MINUTE INT64_C(60000)
#define HOUR   INT64_C(3600000)

/* A job of two hours on two nodes of its own; a machine costs 1 EUR an hour, boots for ten minutes
 * at most, idles for ten and ends in two and a half: holds.c.  A job may exceed its limit by one.
 */
#define PAYS     "| |physics|ann|normal|2:00:00|2|16|NO|cpu=16,gres/gpu=16|2|*|"
#define PAYS_BOB "| |chem|bob|normal|2:00:00|1|16|NO|cpu=16,gres/gpu=8|1|*|"
#define JOB_7    "7|7|CONFIGURING|gpu|None|c[1-2]" PAYS
#define JOB_8    "8|8|CONFIGURING|gpu|None|c3" PAYS_BOB
#define FILE_7   "{\"jobs\":[{\"job_id\":7,\"nodes_alloc\":\"c[1-2]\"}],\"all_nodes\":\"c[1-2]\"}"
#define FILE_8   "{\"jobs\":[{\"job_id\":8,\"nodes_alloc\":\"c3\"}],\"all_nodes\":\"c3\"}"
#define HOLDS                                                                                      \
	"SELECT node, job, kind, rate_nano_h, machine, account, user, partition, pool FROM hold"   \
	" ORDER BY node, job, kind"
#define SPENT "SELECT machine, account, user, sum(nano) > 0 FROM spent GROUP BY 1, 2, 3"

static struct zone *utc;

static inline struct conf_budget budget(const char *name, int64_t nano)
{
	return (struct conf_budget){.name = mem_strdup(name),
				    .market = CONF_MARKET_ANY,
				    .amount_nano = nano,
				    .period = mem_strdup("rolling 2d"),
				    .period_rule = {.kind = PERIOD_ROLLING, .days = 2},
				    .stop_at = 100,
				    .contact = mem_strdup("")};
}

/* For all machines so much, and so much for each account's jobs; 0: no budgets. */
static inline struct conf *conf_of(int64_t all, int64_t account)
{
	struct conf *c = make_conf();

	if (all == 0)
		return c;
	c->budgets = mem_zalloc(2 * sizeof(*c->budgets));
	c->nbudgets = 2;
	c->budgets[0] = budget("all", all);
	c->budgets[1] = budget("account", account);
	c->budgets[1].each = CONF_EACH_ACCOUNT;
	return c;
}

static inline void start(struct fix *f, int64_t all, int64_t account)
{
	assert_int_equal(load_conf(f, conf_of(all, account), NULL), 0);
	f->e->left = ENGINE_SEND;
}

static inline void says(struct fix *f, const char *row)
{
	char text[1000];
	int n = payer_row(text, sizeof(text), row, "key", "");

	squeue(f, text, (size_t)n, NULL);
	f->e->left = ENGINE_SEND;
	intake_part.at[PART_RUN](f->e);
}

/* slurmctld asks for the nodes of job 7, and squeue says whose it is. */
static inline void buy_7(struct fix *f)
{
	call(f, "c[1-2]", FILE_7);
	assert_false(is_bought(f, "c1")); /* who pays is not known yet */
	says(f, JOB_7);
}

static inline struct fleet_node *row(const struct fix *f, const char *node)
{
	return fleet_find(&f->e->fleet, node)->newest;
}

static inline void post(struct fix *f, const char *node, enum node_event_type type,
			struct provider_instance in)
{
	struct node_event ev = {
		.type = type, .now_ms = engine_now(f->e), .batch = 5, .instance = &in};

	engine_post(f->e, row(f, node), &ev);
	engine_commit(f->e);
}

static inline void step(struct fix *f, const char *node, enum node_event_type type)
{
	post(f, node, type,
	     (struct provider_instance){
		     .id = "i-1", .addr = "10.0.0.1", .state = PROVIDER_RUNNING});
}

static inline void ready(struct fix *f, const char *node)
{
	step(f, node, NODE_EV_START);
	step(f, node, NODE_EV_CREATED);
	step(f, node, NODE_EV_REGISTERED);
	assert_int_equal(row(f, node)->n.state, NODE_READY);
}

static inline void ends(struct fix *f, const char *node)
{
	post(f, node, NODE_EV_SEEN,
	     (struct provider_instance){.id = "i-1", .state = PROVIDER_ENDED});
	assert_int_equal(row(f, node)->n.state, NODE_GONE);
}

static inline struct budget_line line(const struct fix *f, const char *name)
{
	struct budgets *b = f->e->money->budgets;
	size_t n = budgets_lines(b);

	for (size_t i = 0; i < n; i++)
		if (strcmp(budgets_line(b, i).budget->name, name) == 0 &&
		    (budgets_line(b, i).value[0] == '\0' ||
		     strcmp(budgets_line(b, i).value, "physics") == 0))
			return budgets_line(b, i);
	fail_msg("no line %s", name);
	return (struct budget_line){.budget = NULL};
}

static inline struct hold *held(const struct fix *f, const char *node, enum budget_kind kind)
{
	struct hold_node *g = hold_find(f->e, node, row(f, node)->n.gen);

	for (struct hold *h = g != NULL ? g->first : NULL; h != NULL; h = h->next)
		if (hold_of(f->e, h)->kind == kind)
			return h;
	return NULL;
}

static inline struct budget_hold of(const struct fix *f, const char *node, enum budget_kind kind)
{
	struct hold *h = held(f, node, kind);

	assert_non_null(h);
	return *hold_of(f->e, h);
}

/* What is written is what is in memory. */
static inline void same_in_journal(const struct fix *f)
{
	char want[2000] = "", text[200];
	static const char *const kinds[] = {"machine", "boot", "run"};

	for (const char *const *node = (const char *const[]){"c1", "c2", "c3", NULL}; *node != NULL;
	     node++)
		for (int k = 0; k < BUDGET_NKINDS; k++) {
			struct fleet_name *nm = fleet_find(&f->e->fleet, *node);
			struct budget_hold h;

			if (nm == NULL || nm->newest == NULL ||
			    held(f, *node, (enum budget_kind)k) == NULL)
				continue;
			h = of(f, *node, (enum budget_kind)k);
			(void)snprintf(text, sizeof(text), "%s %s %lld %lld;", *node, kinds[k],
				       (long long)h.from_ms, (long long)h.until_ms);
			(void)strncat(want, text, sizeof(want) - strlen(want) - 1);
		}
	assert_string_equal(rows(f, "SELECT node, kind, from_ms, until_ms FROM hold ORDER BY node,"
				    " kind = 'run', kind = 'boot'"),
			    want);
}

/* Move the begin of all that is held for the node, and of its bill, into the past. */
static inline void age(struct fix *f, const char *node, int64_t ms)
{
	struct hold_node *g = hold_find(f->e, node, row(f, node)->n.gen);

	for (struct hold *h = g->first; h != NULL; h = h->next)
		hold_change(f->e, g, h, hold_of(f->e, h)->from_ms - ms, hold_of(f->e, h)->until_ms);
	row(f, node)->n.start_ms -= ms;
}

/* The machines of job 7 are paid for since a minute ago, and c1 is up since an hour. */
static inline void bought(struct fix *f)
{
	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	age(f, "c1", HOUR);
	for (struct hold_node *g = f->e->money->nodes; g != NULL; g = g->next)
		for (struct hold *h = g->first; h != NULL; h = h->next)
			h->made_ms -= MINUTE;
	engine_commit(f->e);
}

/* The i-th job that waits for money, or has some promised, the oldest first. */
static inline void *part_at(const struct fix *f, enum job_concern c, size_t i)
{
	struct job_part *p = f->e->jobs->oldest[c];

	for (; p != NULL && i > 0; i--)
		p = p->prev;
	assert_non_null(p);
	return p;
}

static inline struct money_wait *waits_at(const struct fix *f, size_t i)
{
	return part_at(f, JOB_UNPAID, i);
}

static inline struct money_promise *promised_at(const struct fix *f, size_t i)
{
	return part_at(f, JOB_PROMISED, i);
}

static inline void near(int64_t got, int64_t want)
{
	if (got < want || got > want + EUR / 1000)
		fail_msg("%lld, not %lld", (long long)got, (long long)want);
}

static inline int zone_begins(void **state)
{
	(void)state;
	utc = zone_new("UTC", NULL);
	fake_zone = utc;
	return utc != NULL ? 0 : -1;
}

static inline int zone_ends(void **state)
{
	(void)state;
	zone_free(utc);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
