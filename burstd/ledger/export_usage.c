#include "ledger/export_usage.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "ledger/ascii.h"
#include "ledger/cents.h"
#include "ledger/number.h"

enum {
	USERS_MAX = 1000000, /* pairs of an account and a user */
	HOURS_UNIT = 36,     /* seconds: a hundredth of an hour */
	TEXT_MAX = 1 << 16,
};

struct pair {
	char *key; /* account, user: see key_of() */
	const char *user;
	bool all; /* of the account, and of none of its users */
	int64_t nano, gpu_s;
};

struct pairs {
	const struct export_usage *o;
	struct map by_key;
	struct pair **v;
	size_t n, cap;
	int64_t most; /* of all amounts, without their signs: any sum of some of them fits */
};

struct amounts { /* of some rows, rounded to add up */
	int64_t *cost, *hours;
	int64_t cost_sum, hours_sum;
};

static int64_t unit_of(const struct export_usage *o)
{
	int64_t unit = FMT_NANO;

	for (int i = 0; i < cents_places(o->currency); i++)
		unit /= 10;
	return unit;
}

/* What an invoice has for no machine may be an account's, by the rule that it came with. */
static bool is_of_all(const struct charge *c)
{
	return c->owner != ALLOCATE_JOB;
}

/* The length first: no two pairs have one key. */
static char *key_of(const struct charge *c, size_t *user)
{
	const size_t size = strlen(c->account) + strlen(c->user) + FMT_U64_SIZE + 3;
	char *key = mem_zalloc(size);
	const int n = snprintf(key, size, "%s%zu:%s/", is_of_all(c) ? "=" : "", strlen(c->account),
			       c->account);

	*user = (size_t)n;
	(void)snprintf(key + n, size - (size_t)n, "%s", c->user);
	return key;
}

static const char *account_of(const struct pair *p, size_t *len)
{
	const char *colon = strchr(p->key, ':');

	*len = (size_t)(p->user - colon) - 2;
	return colon + 1;
}

/* Of a closed month, told late, hours are where their cost is.  What an invoice changes is money.
 */
static bool has_hours(const struct charge *c)
{
	return !c->credit && (!c->adjust || c->late) &&
	       (c->class == ALLOCATE_RUN || c->class == ALLOCATE_LOST);
}

static int pair_add(struct pairs *t, const struct charge *c, struct err *e)
{
	size_t user;
	char *key = key_of(c, &user);
	struct pair *p = map_get(&t->by_key, key);

	if (p != NULL) {
		free(key);
	} else {
		p = mem_zalloc(sizeof(*p));
		p->key = key;
		p->user = key + user;
		p->all = is_of_all(c);
		if (t->n == t->cap) {
			t->cap = t->cap == 0 ? 64 : 2 * t->cap;
			t->v = mem_realloc(t->v, t->cap * sizeof(void *));
		}
		t->v[t->n++] = p;
		map_put(&t->by_key, p->key, p);
	}
	if (t->n > USERS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d users of accounts", USERS_MAX);
	if (__builtin_add_overflow(t->most, c->nano < 0 ? -c->nano : c->nano, &t->most) ||
	    __builtin_add_overflow(p->nano, c->nano, &p->nano) ||
	    (has_hours(c) && __builtin_add_overflow(p->gpu_s, c->gpu_s, &p->gpu_s)))
		return err_set(e, ERR_LIMIT, "the sum of all charges is too large");
	return 0;
}

static int read_charge(void *arg, const struct charge *c, struct err *e)
{
	struct pairs *t = arg;

	if (strcmp(c->currency, t->o->currency) != 0)
		return err_set(e, ERR_INVALID, "instance %.60s: %.8s in a report of %.8s",
			       c->instance, c->currency, t->o->currency);
	if (is_of_all(c) && (c->class < ALLOCATE_SHARED || c->account[0] == '\0'))
		return 0;
	return pair_add(t, c, e);
}

static bool is_of_one_account(const struct pair *a, const struct pair *b)
{
	size_t na, nb;
	const char *of_a = account_of(a, &na), *of_b = account_of(b, &nb);

	return na == nb && strncmp(of_a, of_b, na) == 0;
}

static int by_account(const void *a, const void *b)
{
	const struct pair *x = *(struct pair *const *)a, *y = *(struct pair *const *)b;
	size_t nx, ny;
	const char *ax = account_of(x, &nx), *ay = account_of(y, &ny);
	const int by = strncmp(ax, ay, nx < ny ? nx : ny);

	if (by != 0)
		return by;
	if (nx != ny)
		return nx < ny ? -1 : 1;
	return x->all != y->all ? (x->all ? -1 : 1) : strcmp(x->user, y->user);
}

static json_t *name(const char *text, size_t len)
{
	struct str raw, s;
	json_t *j;

	/* As JSON, so that letters beyond ASCII stay what they are. */
	str_init(&raw, TEXT_MAX);
	str_init(&s, 6 * TEXT_MAX + 2);
	str_add(&raw, text, len < TEXT_MAX ? len : TEXT_MAX);
	ascii_json(&s, raw.p);
	j = mem_check(json_loads(s.p, JSON_DECODE_ANY, NULL));
	str_fini(&raw);
	str_fini(&s);
	return j;
}

static json_t *decimal(int64_t units, int places)
{
	char text[NUMBER_MONEY_SIZE];
	int64_t unit = FMT_NANO, nano;

	for (int i = 0; i < places; i++)
		unit /= 10;
	if (__builtin_mul_overflow(units, unit, &nano)) /* of the largest amount, rounded up */
		nano = units < 0 ? INT64_MIN : INT64_MAX;
	return mem_check(json_string(number_money_round(text, nano, places)));
}

static json_t *usages(const struct export_usage *o, int64_t cost, int64_t hours)
{
	json_t *j = mem_check(json_array());

	if (o->cost_component != NULL)
		(void)json_array_append_new(j, json_pack("{s:s, s:o}", "type", o->cost_component,
							 "amount",
							 decimal(cost, cents_places(o->currency))));
	if (o->gpu_component != NULL)
		(void)json_array_append_new(j, json_pack("{s:s, s:o}", "type", o->gpu_component,
							 "amount", decimal(hours, 2)));
	return j;
}

static void round_pairs(const struct pairs *t, size_t from, size_t n, struct amounts *a)
{
	const int64_t unit = unit_of(t->o);
	int64_t *v = mem_zalloc(n * sizeof(*v));
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] = t->v[from + i]->nano;
	a->cost_sum = cents_of(sum, unit);
	cents_split(v, n, unit, a->cost_sum, a->cost);
	sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i] = t->v[from + i]->gpu_s;
	a->hours_sum = cents_of(sum, HOURS_UNIT);
	cents_split(v, n, HOURS_UNIT, a->hours_sum, a->hours);
	free(v);
}

static int put_json(json_t *j, const char *before, const struct sink *to, struct err *e)
{
	char *text = mem_check(json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII));
	int rc = to->put(to->ctx, before, strlen(before), e);

	if (rc == 0)
		rc = to->put(to->ctx, text, strlen(text), e);
	free(text);
	json_decref(j);
	return rc;
}

/* n users of one account; maybe the first is all of them. */
static json_t *resource(const struct pairs *t, size_t from, size_t n)
{
	struct amounts a = {.cost = mem_zalloc(n * sizeof(int64_t)),
			    .hours = mem_zalloc(n * sizeof(int64_t))};
	json_t *users = mem_check(json_array()), *j;
	size_t len;
	const char *account = account_of(t->v[from], &len);

	round_pairs(t, from, n, &a);
	for (size_t i = t->v[from]->all ? 1 : 0; i < n; i++)
		(void)json_array_append_new(
			users, json_pack("{s:o, s:o}", "username",
					 name(t->v[from + i]->user, strlen(t->v[from + i]->user)),
					 "usages", usages(t->o, a.cost[i], a.hours[i])));
	j = mem_check(json_pack("{s:o, s:o, s:o}", "account", name(account, len), "usages",
				usages(t->o, a.cost_sum, a.hours_sum), "users", users));
	free(a.cost);
	free(a.hours);
	return j;
}

static int put_resources(struct pairs *t, const struct sink *to, struct err *e)
{
	char text[FMT_TIME_SIZE], head[FMT_TIME_SIZE + 64];

	if (t->n > 0)
		qsort(t->v, t->n, sizeof(void *), by_account);
	(void)fmt_time(text, t->o->start_s * 1000);
	(void)snprintf(head, sizeof(head), "{\"date\":\"%s\",\"resources\":[", text);
	if (to->put(to->ctx, head, strlen(head), e) != 0)
		return -1;
	for (size_t i = 0, n; i < t->n; i += n) {
		for (n = 1; i + n < t->n && is_of_one_account(t->v[i], t->v[i + n]);)
			n++;
		if (put_json(resource(t, i, n), i == 0 ? "\n" : ",\n", to, e) != 0)
			return -1;
	}
	return to->put(to->ctx, "\n]}\n", 4, e);
}

int export_waldur(const struct export_usage *o, const struct source *from, const struct sink *to,
		  struct err *e)
{
	struct pairs t = {.o = o};
	int rc;

	map_init(&t.by_key);
	rc = from->visit(from->ctx, read_charge, &t, e);
	if (rc == 0)
		rc = put_resources(&t, to, e);
	for (size_t i = 0; i < t.n; i++) {
		free(t.v[i]->key);
		free(t.v[i]);
	}
	free(t.v);
	map_fini(&t.by_key);
	return rc;
}

int export_coldfront(const struct export_usage *o, const struct tally *t, const struct sink *to,
		     struct err *e)
{
	const size_t n = t->accounts.n;
	const int64_t unit = unit_of(o);
	int64_t *v = mem_zalloc((n + 1) * sizeof(*v)), *units = mem_zalloc((n + 1) * sizeof(*v));
	const int64_t sum = t->distributed ? t->all.nano : t->all.direct + t->assigned;
	int rc = to->put(to->ctx, "[", 1, e);

	for (size_t i = 0; i < n; i++)
		v[i] = t->accounts.v[i]->sum.nano + t->accounts.v[i]->overhead;
	cents_split(v, n, unit, cents_of(sum, unit), units);
	for (size_t i = 0; i < n && rc == 0; i++) {
		const char *account = t->accounts.v[i]->name;

		rc = put_json(mem_check(json_pack("{s:o, s:s, s:o}", "slurm_account_name",
						  name(account, strlen(account)), "attribute",
						  o->attribute, "usage",
						  decimal(units[i], cents_places(o->currency)))),
			      i == 0 ? "\n" : ",\n", to, e);
	}
	if (rc == 0)
		rc = to->put(to->ctx, "\n]\n", 3, e);
	free(v);
	free(units);
	return rc;
}
