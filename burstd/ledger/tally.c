#include "ledger/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/split.h"

enum { FIRST_JOBS = 1024 };

struct reader {
	struct tally *t;
	const struct tally_options *o;
	int64_t first_day;
};

/* Sums saturate nowhere: what does not fit is an error. */
static bool add(int64_t *to, int64_t v)
{
	return __builtin_add_overflow(*to, v, to);
}

static int too_large(struct err *e)
{
	return err_set(e, ERR_LIMIT, "the sum of all charges is too large");
}

/* A job had the GPUs. */
static bool is_use(const struct charge *c)
{
	return c->owner == ALLOCATE_JOB && (c->class == ALLOCATE_RUN || c->class == ALLOCATE_LOST);
}

static bool sum_gpus(struct tally_sum *s, const struct charge *c)
{
	if (c->credit || c->adjust)
		return false;
	if (is_use(c))
		return add(&s->run_gpu_s, c->gpu_s) ||
		       (c->class == ALLOCATE_LOST && add(&s->lost_gpu_s, c->gpu_s));
	return (c->class == ALLOCATE_IDLE || c->class == ALLOCATE_DRAIN) &&
	       add(&s->idle_gpu_s, c->gpu_s);
}

static bool sum_list(struct tally_sum *s, const struct charge *c)
{
	const bool spot = c->market == PROVIDER_SPOT;
	const int64_t list = c->credit ? 0 : c->list_nano; /* it is not sold again */

	if (c->adjust || c->list_nano < 0)
		return false;
	return add(&s->list, list) || add(&s->listed, c->nano) ||
	       (spot && (add(&s->spot_list, list) || add(&s->spot_listed, c->nano)));
}

static bool sum_add(struct tally_sum *s, const struct charge *c)
{
	bool over = add(&s->nano, c->nano);

	if (c->owner == ALLOCATE_JOB)
		over |= add(&s->direct, c->nano);
	if (c->estimated)
		over |= add(&s->estimated, c->nano);
	over |= add(c->adjust   ? &s->adjust
		    : c->credit ? &s->credit
				: &s->classes[c->class],
		    c->nano);
	over |= sum_list(s, c);
	over |= sum_gpus(s, c);
	return over;
}

static struct tally_group *group_of(struct tally_groups *g, const char *name)
{
	struct tally_group *one = map_get(&g->by_name, name);

	if (one != NULL || g->n == TALLY_GROUPS_MAX)
		return one;
	if (g->n == g->cap) {
		g->cap = g->cap == 0 ? 16 : 2 * g->cap;
		g->v = mem_realloc(g->v, g->cap * sizeof(void *));
	}
	one = mem_zalloc(sizeof(*one));
	one->name = mem_strdup(name);
	g->v[g->n++] = one;
	map_put(&g->by_name, one->name, one);
	return one;
}

static int group_add(struct tally_groups *g, const char *name, const struct charge *c,
		     struct err *e)
{
	struct tally_group *one = group_of(g, name);

	if (one == NULL)
		return err_set(e, ERR_LIMIT, "more than %d accounts, users or the like",
			       TALLY_GROUPS_MAX);
	if (sum_add(&one->sum, c))
		return too_large(e);
	return 0;
}

/* A number that has two users is of two jobs: numbers begin anew when slurmctld has lost its state.
 */
static size_t slot_of(const struct tally *t, uint64_t job, const struct tally_group *user)
{
	/* Fibonacci hashing: ids are consecutive. */
	size_t i = (size_t)(job * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (t->jobs_cap - 1);

	while (t->jobs[i].attempts != 0 && (t->jobs[i].job != job || t->jobs[i].user != user))
		i = (i + 1) & (t->jobs_cap - 1);
	return i;
}

static void jobs_grow(struct tally *t)
{
	struct tally_job *old = t->jobs;
	const size_t cap = t->jobs_cap;

	t->jobs_cap = cap == 0 ? FIRST_JOBS : 2 * cap;
	t->jobs = mem_zalloc(t->jobs_cap * sizeof(*t->jobs));
	for (size_t i = 0; i < cap; i++)
		if (old[i].attempts != 0)
			t->jobs[slot_of(t, old[i].job, old[i].user)] = old[i];
	free(old);
}

static bool job_sum(struct tally_job *j, const struct charge *c)
{
	bool over = add(&j->nano, c->nano);

	if (c->class == ALLOCATE_LOST && !c->adjust)
		over |= add(&j->lost, c->nano);
	if (!c->credit && !c->adjust && is_use(c))
		over |= add(&j->gpu_s, c->gpu_s);
	return over;
}

/* As a rule they are one; else the order of charges must not matter. */
static const struct tally_group *group_first(const struct tally_group *a,
					     const struct tally_group *b)
{
	return a == NULL || strcmp(b->name, a->name) < 0 ? b : a;
}

static int job_add(struct tally *t, const struct charge *c, struct err *e)
{
	const struct tally_group *user = group_of(&t->users, c->user);
	struct tally_job *j;

	if (4 * t->njobs >= 3 * t->jobs_cap)
		jobs_grow(t);
	j = &t->jobs[slot_of(t, c->job, user)];
	if (j->attempts == 0 && t->njobs++ == TALLY_JOBS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d jobs", TALLY_JOBS_MAX);
	j->job = c->job;
	j->user = user;
	j->account = group_first(j->account, group_of(&t->accounts, c->account));
	j->attempts = c->attempt > j->attempts ? c->attempt : j->attempts;
	if (j->attempts == 0) /* attempts begin with 1, but a slot must be taken */
		j->attempts = 1;
	return job_sum(j, c) ? too_large(e) : 0;
}

static int column_of(const struct charge *c)
{
	return charge_is_of_no_machine(c) ? TALLY_NO_MACHINE : (int)c->market;
}

static int day_add(struct reader *r, const struct charge *c, struct err *e)
{
	const int64_t at = zone_day(r->o->zone, c->start_s) - r->first_day;

	if (at < 0 && c->adjust)
		return add(&r->t->elsewhere, c->nano) ? too_large(e) : 0;
	if (at < 0 || at >= (int64_t)r->t->ndays)
		return err_set(e, ERR_INVALID, "instance %.60s: a charge outside of the period",
			       c->instance);
	return add(&r->t->days[at].nano[column_of(c)], c->nano) ? too_large(e) : 0;
}

/* An account's part of what an invoice has for no machine. */
static int assign(struct tally *t, const struct charge *c, struct err *e)
{
	struct tally_group *one = group_of(&t->accounts, c->account);

	if (one == NULL)
		return err_set(e, ERR_LIMIT, "more than %d accounts", TALLY_GROUPS_MAX);
	if (add(&one->overhead, c->nano) || add(&t->assigned, c->nano))
		return too_large(e);
	return 0;
}

static int read_charge(void *arg, const struct charge *c, struct err *e)
{
	struct reader *r = arg;
	struct tally *t = r->t;

	if (strcmp(c->currency, r->o->currency) != 0)
		return err_set(e, ERR_INVALID, "instance %.60s: %.8s in a report of %.8s",
			       c->instance, c->currency, r->o->currency);
	t->charges++;
	if (sum_add(&t->all, c))
		return too_large(e);
	if (day_add(r, c, e) != 0 || group_add(&t->partitions, c->partition, c, e) != 0)
		return -1;
	if (c->owner != ALLOCATE_JOB)
		return c->class >= ALLOCATE_SHARED && c->account[0] != '\0' ? assign(t, c, e) : 0;
	if (group_add(&t->accounts, c->account, c, e) != 0 ||
	    group_add(&t->users, c->user, c, e) != 0 || group_add(&t->wckeys, c->wckey, c, e) != 0)
		return -1;
	return job_add(t, c, e);
}

static int64_t group_total(const struct tally_group *g)
{
	return g->sum.nano + g->overhead;
}

static int by_total(const void *a, const void *b)
{
	const struct tally_group *x = *(struct tally_group *const *)a;
	const struct tally_group *y = *(struct tally_group *const *)b;

	if (group_total(x) != group_total(y))
		return group_total(x) > group_total(y) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void groups_sort(struct tally_groups *g)
{
	if (g->n > 0)
		qsort(g->v, g->n, sizeof(void *), by_total);
}

/* If nobody has a cost of their own, the rest stays where it is, visible. */
static void distribute(struct tally *t)
{
	struct tally_groups *g = &t->accounts;
	uint64_t *weights = mem_zalloc((g->n + 1) * sizeof(*weights));
	int64_t *parts = mem_zalloc((g->n + 1) * sizeof(*parts));

	/* Of equal remainders the same one gets it, in whatever order charges come. */
	groups_sort(g);
	for (size_t i = 0; i < g->n; i++)
		weights[i] = g->v[i]->sum.nano > 0 ? (uint64_t)g->v[i]->sum.nano : 0;
	t->distributed = split(t->overhead - t->assigned, weights, g->n, parts) == 0;
	for (size_t i = 0; i < g->n && t->distributed; i++)
		g->v[i]->overhead += parts[i];
	free(weights);
	free(parts);
}

int tally_job_compare(const struct tally_job *a, const struct tally_job *b)
{
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	return strcmp(a->user->name, b->user->name);
}

typedef int64_t (*job_key_fn)(const struct tally_job *j);

static int64_t by_cost(const struct tally_job *j)
{
	return j->nano;
}

static int64_t by_loss(const struct tally_job *j)
{
	return j->lost;
}

static bool is_before(const struct tally_job *a, const struct tally_job *b, job_key_fn key)
{
	return key(a) != key(b) ? key(a) > key(b) : tally_job_compare(a, b) < 0;
}

static size_t pick_top(const struct tally *t, struct tally_top *top, job_key_fn key)
{
	size_t n = 0;

	for (size_t i = 0; i < t->jobs_cap; i++) {
		const struct tally_job *j = &t->jobs[i];
		size_t at = n;

		if (j->attempts == 0 || key(j) <= 0)
			continue;
		while (at > 0 && is_before(j, &top[at - 1].sum, key))
			at--;
		if (at == TALLY_TOP)
			continue;
		n += n < TALLY_TOP;
		memmove(&top[at + 1], &top[at], (n - at - 1) * sizeof(*top));
		top[at] = (struct tally_top){.sum = *j};
	}
	return n;
}

/* Of its charges the first by what is shown, so that their order does not matter: as a rule they
 * all say the same. */
static bool names_are_before(const struct charge *a, const struct charge *b)
{
	const int by[] = {strcmp(a->job_id, b->job_id), strcmp(a->job_name, b->job_name),
			  strcmp(a->user, b->user), strcmp(a->account, b->account)};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (by[i] != 0)
			return by[i] < 0;
	return false;
}

static void name_top(struct tally_top *top, size_t n, const struct charge *c)
{
	for (size_t i = 0; i < n; i++)
		if (top[i].sum.job == c->job && strcmp(top[i].sum.user->name, c->user) == 0 &&
		    (top[i].about.texts == NULL || names_are_before(c, &top[i].about.c)))
			held_set(&top[i].about, c);
}

static int read_names(void *arg, const struct charge *c, struct err *e)
{
	struct tally *t = arg;

	(void)e;
	if (c->owner == ALLOCATE_JOB) {
		name_top(t->top, t->ntop, c);
		name_top(t->lost, t->nlost, c);
	}
	return 0;
}

static int days_init(struct reader *r, struct err *e)
{
	const int64_t last = zone_day(r->o->zone, r->o->end_s - 1);

	r->first_day = zone_day(r->o->zone, r->o->start_s);
	if (last < r->first_day || last - r->first_day >= TALLY_DAYS_MAX)
		return err_set(e, ERR_LIMIT, "a period of more than %d days, or of none",
			       TALLY_DAYS_MAX);
	r->t->ndays = (size_t)(last - r->first_day) + 1;
	r->t->days = mem_zalloc(r->t->ndays * sizeof(*r->t->days));
	for (size_t i = 0; i < r->t->ndays; i++)
		r->t->days[i].day = r->first_day + (int64_t)i;
	return 0;
}

int tally_make(struct tally *t, const struct tally_options *o, const struct source *from,
	       struct err *e)
{
	struct reader r = {.t = t, .o = o};

	*t = (struct tally){0};
	map_init(&t->accounts.by_name);
	map_init(&t->partitions.by_name);
	map_init(&t->users.by_name);
	map_init(&t->wckeys.by_name);
	if (days_init(&r, e) != 0 || from->visit(from->ctx, read_charge, &r, e) != 0)
		goto failed;
	t->overhead = t->all.nano - t->all.direct;
	if (o->distribute)
		distribute(t);
	groups_sort(&t->accounts);
	groups_sort(&t->partitions);
	groups_sort(&t->users);
	groups_sort(&t->wckeys);
	t->ntop = pick_top(t, t->top, by_cost);
	t->nlost = pick_top(t, t->lost, by_loss);
	if (from->visit(from->ctx, read_names, t, e) == 0)
		return 0;
failed:
	tally_fini(t);
	return -1;
}

static void groups_fini(struct tally_groups *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->v[i]->name);
		free(g->v[i]);
	}
	free(g->v);
	map_fini(&g->by_name);
}

void tally_fini(struct tally *t)
{
	groups_fini(&t->accounts);
	groups_fini(&t->partitions);
	groups_fini(&t->users);
	groups_fini(&t->wckeys);
	free(t->days);
	free(t->jobs);
	for (size_t i = 0; i < TALLY_TOP; i++) {
		held_fini(&t->top[i].about);
		held_fini(&t->lost[i].about);
	}
	*t = (struct tally){0};
}
