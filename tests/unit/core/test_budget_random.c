/* test_budget_random.c - random stories of budgets, against a model that adds up everything anew
 * each time, with arithmetic of its own: days are counted by hand, costs are exact fractions. */
#include "budget_world.h"

#include <stdio.h>

__extension__ typedef __int128 wide;

enum {
	BUDGETS = 6,
	HOLDS = 40,
	DAYS_SPENT = 400,
	STEPS = 300,
	STORIES = 120,
	DAY_MS = 86400000,
	FIRST_DAY = 20780 /* 2026-11-23 */
};

struct story {
	uint64_t dice;
	struct conf_budget list[BUDGETS];
	size_t n;
	int first[BUDGETS], last[BUDGETS]; /* of ranges */
	char names[BUDGETS][8];
	struct world w;
	int64_t now;
	struct {
		struct budget_hold h;
		struct budget_spender s;
		uint32_t number;
		bool used;
	} holds[HOLDS];
	struct {
		struct budget_spender s;
		int64_t day, nano;
	} spent[DAYS_SPENT];
	size_t nspent;
	bool reloads; /* then a budget may be smaller than what it has already */
	unsigned accepted, refused;
};

static uint64_t roll(struct story *t, uint64_t below)
{
	t->dice ^= t->dice << 13;
	t->dice ^= t->dice >> 7;
	t->dice ^= t->dice << 17;
	return t->dice % below;
}

/* --- the model ----------------------------------------------------------------------------------
 */

/* The day on which the month of that day begins, or the next one; months: 1 or 3. */
static int64_t month_edge(int64_t day, int months, bool next)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t at = 20454; /* 2026-01-01; 2028 is not reached */

	for (int m = 0;; m += months) {
		int64_t end = at;

		for (int k = 0; k < months; k++)
			end += lengths[(m + k) % 12];
		if (day < end)
			return next ? end : at;
		at = end;
	}
}

static void period_of(const struct story *t, size_t i, int64_t *begin, int64_t *end)
{
	const struct period_rule *r = &t->list[i].period_rule;
	int64_t today = t->now / DAY_MS;

	*begin = r->kind == PERIOD_RANGE ? t->first[i] : today - r->days + 1;
	*end = r->kind == PERIOD_RANGE ? t->last[i] + 1 : today + 1;
	if (r->kind == PERIOD_MONTH || r->kind == PERIOD_QUARTER) {
		*begin = month_edge(today, r->kind == PERIOD_MONTH ? 1 : 3, false);
		*end = month_edge(today, r->kind == PERIOD_MONTH ? 1 : 3, true);
	}
}

static bool lists(char **list, const char *a, const char *b)
{
	bool in = list == NULL;

	for (; list != NULL && *list != NULL; list++)
		in = in || strcmp(*list, a) == 0 || strcmp(*list, b) == 0;
	return in;
}

static const char *value_of(const struct conf_budget *b, const struct budget_spender *s)
{
	return b->each == CONF_EACH_USER        ? s->user
	       : b->each == CONF_EACH_ACCOUNT   ? s->account
	       : b->each == CONF_EACH_PARTITION ? s->partition
						: "";
}

static bool concerns(const struct conf_budget *b, const struct budget_spender *s)
{
	bool jobs = b->accounts != NULL || b->users != NULL || b->each == CONF_EACH_USER ||
		    b->each == CONF_EACH_ACCOUNT;

	return jobs != s->machine && lists(b->users, s->user, s->user) &&
	       lists(b->accounts, s->account,
		     strcmp(s->account, "quarks") == 0 ? "physics" : s->account) &&
	       lists(b->partitions, s->partition, s->partition) &&
	       lists(b->pools, s->pool, s->pool) &&
	       (b->market == CONF_MARKET_ANY || b->market == (int)s->market);
}

struct sums { /* of one value of one budget */
	wide now, later, rate, spent;
	wide exact; /* what `now` is, unrounded, times an hour */
};

/* nano-units: a whole number of them for each millisecond that has begun. */
static wide part(int64_t rate, int64_t from, int64_t until, wide *exact)
{
	wide product = until > from ? ((wide)until - from) * rate : 0;

	*exact += product;
	return product / 3600000 + (product % 3600000 != 0);
}

static void add_hold(const struct story *t, size_t i, const struct budget_hold *h, int times,
		     struct sums *to)
{
	enum period_kind kind = t->list[i].period_rule.kind;
	int64_t begin, end, until = h->until_ms;
	wide none = 0, exact = 0;

	to->rate += h->kind == BUDGET_BOOT ? 0 : (wide)times * h->rate_nano_h;
	if (t->list[i].amount_nano == 0)
		return;
	period_of(t, i, &begin, &end);
	begin *= DAY_MS;
	end *= DAY_MS;
	if (kind != PERIOD_ROLLING && end < until)
		until = end;
	if (kind != PERIOD_RANGE || t->now < end)
		to->now += times * part(h->rate_nano_h, h->from_ms > begin ? h->from_ms : begin,
					until, &exact);
	to->exact += times * exact;
	if (kind == PERIOD_MONTH || kind == PERIOD_QUARTER)
		to->later += times * part(h->rate_nano_h, h->from_ms > end ? h->from_ms : end,
					  h->until_ms, &none);
}

static struct sums sums_of(const struct story *t, size_t i, const char *value)
{
	const struct conf_budget *b = &t->list[i];
	struct sums s = {0};
	int64_t begin, end;

	for (size_t k = 0; k < HOLDS; k++)
		if (t->holds[k].used && concerns(b, &t->holds[k].s) &&
		    strcmp(value_of(b, &t->holds[k].s), value) == 0)
			add_hold(t, i, &t->holds[k].h, 1, &s);
	period_of(t, i, &begin, &end);
	for (size_t k = 0; k < t->nspent && b->amount_nano != 0; k++)
		if (concerns(b, &t->spent[k].s) &&
		    strcmp(value_of(b, &t->spent[k].s), value) == 0 && t->spent[k].day >= begin &&
		    t->spent[k].day < end)
			s.spent += t->spent[k].nano;
	return s;
}

/* --- what must hold at each step ----------------------------------------------------------------
 */

static void compare(struct story *t)
{
	size_t n = budgets_lines(t->w.b);

	for (size_t k = 0; k < n; k++) {
		struct budget_line l = budgets_line(t->w.b, k);
		size_t i = (size_t)(l.budget - t->list);
		struct sums s = sums_of(t, i, l.value);

		assert_true(l.held == s.now && l.later == s.later && l.rate == s.rate);
		assert_true(l.spent == s.spent);
		assert_true(s.exact <= s.now * 3600000);
		if (t->reloads || l.budget->amount_nano == 0)
			continue;
		assert_true(l.spent + l.held <= l.budget->amount_nano);
		assert_true((wide)l.spent * 3600000 + s.exact <=
			    (wide)l.budget->amount_nano * 3600000);
		assert_true(l.later <= l.budget->amount_nano);
	}
}

static wide beyond(wide wants, wide left)
{
	return wants - (left > 0 ? left : 0);
}

/* Does the model refuse the job for budget i?  Then *lacks is how much it lacks there. */
static bool refuses(const struct story *t, size_t i, const struct budget_want *wants,
		    const struct budget_spender *who, size_t n, wide *lacks)
{
	const struct conf_budget *b = &t->list[i];
	const char *value = NULL;
	struct sums has, all = {0};
	bool on_demand = false, no = false;
	int64_t begin, end;
	wide left, later;

	*lacks = 0;
	for (size_t k = 0; k < n; k++)
		if (concerns(b, &who[k])) {
			value = value_of(b, &who[k]);
			on_demand = on_demand || who[k].market != PROVIDER_SPOT;
			add_hold(t, i, &wants[k].hold, (int)wants[k].n, &all);
		}
	if (value == NULL)
		return false;
	has = sums_of(t, i, value);
	period_of(t, i, &begin, &end);
	left = (wide)b->amount_nano *
	       (on_demand && b->spot_only_at != 0 ? b->spot_only_at : b->stop_at) / 100;
	later = left - has.later;
	left -= has.spent + has.now;
	if (b->amount_nano != 0 && (t->now < begin * DAY_MS || t->now >= end * DAY_MS)) {
		*lacks = INT64_MAX;
		no = true;
	} else if (b->amount_nano != 0 && (all.now > left || left <= 0)) {
		*lacks = beyond(all.now, left);
		no = true;
	} else if (b->amount_nano != 0 && all.later > later) {
		*lacks = beyond(all.later, later);
		no = true;
	}
	if (b->rate_nano_h != 0 && all.rate > b->rate_nano_h - has.rate) {
		wide over = beyond(all.rate, b->rate_nano_h - has.rate);

		*lacks = over > *lacks ? over : *lacks;
		no = true;
	}
	return no;
}

/* --- steps --------------------------------------------------------------------------------------
 */

static struct budget_spender anybody(struct story *t, bool machine)
{
	static const char *const accounts[] = {"physics", "quarks", "chem"};
	struct budget_spender s = machine_of(roll(t, 2) == 0 ? "a" : "b");

	s.partition = roll(t, 2) == 0 ? "gpu" : "cpu";
	s.market = roll(t, 2) == 0 ? PROVIDER_SPOT : PROVIDER_ON_DEMAND;
	if (machine)
		return s;
	s.machine = false;
	s.account = accounts[roll(t, 3)];
	s.user = roll(t, 2) == 0 ? "ann" : "bob";
	s.qos = "normal";
	return s;
}

/* A job that wants up to three sets of holds; as with real ones, of one account and user. */
static void step_try(struct story *t)
{
	struct budget_spender who[3], job = anybody(t, false);
	struct budget_want wants[3];
	size_t n = 1 + roll(t, 3);
	struct budget_no no;
	wide most = 0;
	bool fits, want_fits = true;

	for (size_t k = 0; k < n; k++) {
		who[k] = anybody(t, roll(t, 2) == 0);
		who[k].partition = job.partition;
		if (!who[k].machine) {
			who[k].account = job.account;
			who[k].user = job.user;
		}
		wants[k] = want(&t->w, who[k], 0, t->now + (int64_t)roll(t, 3600000), 0);
		wants[k].hold.rate_nano_h = 1 + (int64_t)roll(t, 3 * EUR);
		wants[k].hold.until_ms =
			wants[k].hold.from_ms + (int64_t)roll(t, roll(t, 4) == 0 ? 9 * DAY : DAY);
		if (!who[k].machine && roll(t, 2) == 0)
			wants[k].hold.kind = BUDGET_BOOT;
		wants[k].n = 1 + (uint32_t)roll(t, 3);
	}
	for (size_t i = 0; i < t->n; i++) {
		wide lacks;

		if (refuses(t, i, wants, who, n, &lacks))
			want_fits = false;
		most = lacks > most ? lacks : most;
	}
	fits = budgets_try(t->w.b, wants, n, true, &no);
	assert_int_equal(fits, want_fits);
	t->accepted += fits;
	t->refused += !fits;
	if (!fits)
		assert_true(no.needs - no.left == most);
	for (size_t k = 0; k < n && fits; k++)
		for (uint32_t c = 0, at = 0; c < wants[k].n; c++) {
			while (at < HOLDS && t->holds[at].used)
				at++;
			if (at == HOLDS)
				break; /* not bought after all */
			t->holds[at].used = true;
			t->holds[at].h = wants[k].hold;
			t->holds[at].s = who[k];
			t->holds[at].number = budgets_hold(t->w.b, &wants[k].hold);
		}
	budgets_forget_tries(t->w.b);
}

/* A hold ends, at its end or before: what was spent is put down to each day, as hold.c does. */
static void step_settle(struct story *t)
{
	size_t at = roll(t, HOLDS);
	struct budget_hold h = t->holds[at].h;
	int64_t end = h.from_ms + (int64_t)roll(t, (uint64_t)(h.until_ms - h.from_ms) + 1);
	int64_t before = 0;

	if (!t->holds[at].used || t->nspent + 20 > DAYS_SPENT || end > t->now)
		return;
	budgets_release(t->w.b, t->holds[at].number);
	t->holds[at].used = false;
	for (int64_t from = h.from_ms; from < end;) {
		int64_t day = from / DAY_MS, to = (day + 1) * DAY_MS, sum;

		to = to < end ? to : end;
		sum = (int64_t)(((wide)(to - h.from_ms) * h.rate_nano_h + 1800000) / 3600000);
		(void)budgets_spent(t->w.b, budgets_spender(t->w.b, &t->holds[at].s), day,
				    sum - before);
		t->spent[t->nspent].s = t->holds[at].s;
		t->spent[t->nspent].day = day;
		t->spent[t->nspent++].nano = sum - before;
		before = sum;
		from = to;
	}
}

/* A hold gets shorter at its end, as when a job's limit is lowered, or is dropped. */
static void step_change(struct story *t)
{
	size_t at = roll(t, HOLDS);
	struct budget_hold *h = &t->holds[at].h;

	if (!t->holds[at].used)
		return;
	assert_int_equal(budgets_hold_at(t->w.b, t->holds[at].number)->until_ms, h->until_ms);
	budgets_release(t->w.b, t->holds[at].number);
	t->holds[at].used = roll(t, 2) == 0;
	if (!t->holds[at].used)
		return;
	h->until_ms = h->from_ms + (int64_t)roll(t, (uint64_t)(h->until_ms - h->from_ms) + 1);
	t->holds[at].number = budgets_hold(t->w.b, h);
}

static void step_time(struct story *t)
{
	t->now += (int64_t)roll(t, roll(t, 3) == 0 ? 2 * DAY : 3 * HOUR);
	(void)budgets_now(t->w.b, t->now);
}

static char ann[] = "ann", physics[] = "physics", chem[] = "chem", gpu[] = "gpu", a[] = "a";
static char *users[] = {ann, NULL}, *accounts[] = {physics, NULL}, *both[] = {chem, physics, NULL},
	    *partitions[] = {gpu, NULL}, *pools[] = {a, NULL};

static void make_budget(struct story *t, size_t i)
{
	struct conf_budget *b = &t->list[i];

	(void)snprintf(t->names[i], sizeof(t->names[i]), "b%zu", i);
	*b = budget(t->names[i], 0, "month");
	b->period_rule.kind = (enum period_kind[]){PERIOD_MONTH, PERIOD_QUARTER, PERIOD_ROLLING,
						   PERIOD_RANGE}[roll(t, 4)];
	b->period_rule.days = 1 + (int64_t)roll(t, 6);
	t->first[i] = FIRST_DAY - 5 + (int)roll(t, 15);
	t->last[i] = t->first[i] + (int)roll(t, 30);
	b->period_rule.first_day = t->first[i];
	b->period_rule.last_day = t->last[i];
	b->amount_nano = roll(t, 4) == 0 ? 0 : 1 + (int64_t)roll(t, 400 * EUR);
	b->rate_nano_h =
		b->amount_nano != 0 && roll(t, 2) == 0 ? 0 : 1 + (int64_t)roll(t, 20 * EUR);
	b->users = roll(t, 3) == 0 ? users : NULL;
	b->accounts = roll(t, 4) == 0 ? accounts : roll(t, 4) == 0 ? both : NULL;
	b->partitions = roll(t, 4) == 0 ? partitions : NULL;
	b->pools = roll(t, 4) == 0 ? pools : NULL;
	b->market = roll(t, 4) == 0 ? (int)PROVIDER_SPOT : CONF_MARKET_ANY;
	b->each = (int)roll(t, 4);
	b->stop_at = roll(t, 2) == 0 ? 100 : 80;
	b->spot_only_at = roll(t, 3) == 0 ? 50 : 0;
}

static void step_configure(struct story *t)
{
	static struct conf_budget none;

	budgets_configure(t->w.b, &none, 0); /* nobody borrows the list while it changes */
	t->n = 1 + roll(t, BUDGETS);
	for (size_t i = 0; i < t->n; i++)
		make_budget(t, i);
	budgets_configure(t->w.b, t->list, t->n);
}

static void one_story(uint64_t seed, unsigned *accepted, unsigned *refused)
{
	struct story *t = mem_zalloc(sizeof(*t));

	t->dice = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	t->now = (int64_t)FIRST_DAY * DAY_MS + (int64_t)roll(t, DAY);
	t->w.zone = zone_new("UTC", NULL);
	t->w.b = budgets_new(t->w.zone, t->now);
	t->reloads = seed % 2 == 0;
	budgets_account(t->w.b, "quarks", "physics");
	step_configure(t);
	for (int i = 0; i < STEPS; i++) {
		uint64_t what = roll(t, 20);

		if (what < 8)
			step_try(t);
		else if (what < 13)
			step_settle(t);
		else if (what < 15)
			step_change(t);
		else if (what < 19)
			step_time(t);
		else if (t->reloads)
			step_configure(t);
		compare(t);
	}
	*accepted += t->accepted;
	*refused += t->refused;
	world_free(&t->w);
	free(t);
}

static void test_stories(void **state)
{
	unsigned accepted = 0, refused = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= STORIES; seed++) {
		print_message("# story %u\n", (unsigned)seed);
		one_story(seed, &accepted, &refused);
	}
	print_message("# %u accepted, %u refused\n", accepted, refused);
	assert_true(accepted > STORIES * STEPS / 40 && refused > STORIES * STEPS / 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stories)};

	return cmocka_run_group_tests_name("budget_random", tests, NULL, NULL);
}
