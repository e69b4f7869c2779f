#include "core/fleet.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/ipaddr.h"
#include "base/mem.h"
#include "core/reclaim.h"
#include "core/slurm_flag.h"

void fleet_init(struct fleet *f, size_t npools)
{
	*f = (struct fleet){.npools = npools, .wake_ms = INT64_MAX};
	map_init(&f->names);
	for (int s = 0; s < NODE_NSTATES; s++)
		f->tails[s] = &f->states[s];
	f->pools = mem_zalloc((npools > 0 ? npools : 1) * sizeof(*f->pools));
}

static void free_node(struct fleet_node *fn)
{
	free(fn->why);
	free(fn->ended);
	free(fn->buyers);
	free(fn->path);
	free(fn);
}

void fleet_fini(struct fleet *f)
{
	for (size_t i = 0; i < f->nall; i++) {
		for (struct fleet_node *fn = f->all[i]->newest; fn != NULL;) {
			struct fleet_node *older = fn->older;

			free(fn->next);
			free_node(fn);
			fn = older;
		}
		free(f->all[i]->elsewhere);
		free(f->all[i]->addr);
		free(f->all[i]->told);
		free(f->all[i]);
	}
	free(f->all);
	free(f->sorted);
	free(f->pools);
	map_fini(&f->names);
	*f = (struct fleet){0};
}

void fleet_grow(struct fleet *f, size_t npools)
{
	assert(npools >= f->npools);
	if (npools == f->npools)
		return;
	f->pools = mem_realloc(f->pools, npools * sizeof(*f->pools));
	memset(f->pools + f->npools, 0, (npools - f->npools) * sizeof(*f->pools));
	f->npools = npools;
}

struct fleet_name *fleet_find(const struct fleet *f, const char *name)
{
	return map_get(&f->names, name);
}

void fleet_forget_place(struct fleet_name *nm)
{
	free(nm->elsewhere);
	nm->elsewhere = NULL;
	nm->on_instance = false;
}

void fleet_addr(struct fleet_name *nm, const char *addr)
{
	const char *had = nm->addr != NULL ? nm->addr : "";

	if (strcmp(had, addr) == 0)
		return;
	free(nm->addr);
	nm->addr = addr[0] != '\0' ? mem_strdup(addr) : NULL;
}

void fleet_addr_seen(struct fleet_name *nm, const char *addr, int64_t began_ms)
{
	struct fleet_node *live = fleet_live(nm);

	fleet_addr(nm, addr);
	if (live != NULL && !live->moved && began_ms > live->n.wanted_ms)
		live->moved = !ipaddr_same(addr, live->n.stale_addr);
}

void fleet_bar(struct fleet_name *nm, enum node_reason why, int64_t at_ms)
{
	nm->barred = true;
	nm->refused = why;
	nm->refused_ms = at_ms;
}

void fleet_unbar(struct fleet_name *nm)
{
	nm->barred = false;
}

void fleet_forget_refusal(struct fleet_name *nm)
{
	nm->refused = NODE_BECAUSE_NONE;
}

void fleet_wait_for(struct fleet_name *nm, uint64_t job, int64_t now_ms)
{
	nm->waits_for = job;
	nm->waits_ms = now_ms;
}

void fleet_wait_for_none(struct fleet_name *nm)
{
	nm->waits_for = 0;
}

void fleet_tell(struct fleet_name *nm, const char *why, int64_t now_ms)
{
	free(nm->told);
	nm->told = mem_strdup(why);
	nm->told_ms = now_ms;
}

void fleet_ended(struct fleet_node *fn, const struct provider_instance *in)
{
	free(fn->ended);
	fn->ended = NULL;
	if (in == NULL)
		return;
	fn->ended = mem_zalloc(sizeof(*fn->ended));
	*fn->ended = *in;
}

void fleet_buyer(struct fleet_node *fn, uint64_t job)
{
	fn->buyers = mem_realloc(fn->buyers, (fn->nbuyers + 1) * sizeof(*fn->buyers));
	fn->buyers[fn->nbuyers++] = job;
}

void fleet_forget_buyers(struct fleet_node *fn)
{
	free(fn->buyers);
	fn->buyers = NULL;
	fn->nbuyers = 0;
}

void fleet_because(struct fleet_node *fn, enum node_reason reason, const char *why)
{
	free(fn->why);
	fn->why = mem_strdup(why);
	fn->why_of = reason;
}

const char *fleet_why(const struct fleet_node *fn, const struct node *n)
{
	if (fn->why != NULL && fn->why_of == n->reason)
		return fn->why;
	if (n->reason == NODE_BECAUSE_SUSPENDED && n->noticed_ms != 0 &&
	    n->notice == PROVIDER_NOTICE_REBALANCE)
		return reclaim_kind_text(n->notice); /* burstd had it powered down */
	return node_reason_text(n->reason);
}

struct fleet_name *fleet_name(struct fleet *f, const char *name, uint32_t pool)
{
	struct fleet_name *nm = map_get(&f->names, name);

	if (nm != NULL)
		return nm;
	assert(pool < f->npools && strlen(name) < sizeof(nm->name));
	nm = mem_zalloc(sizeof(*nm));
	(void)snprintf(nm->name, sizeof(nm->name), "%s", name);
	nm->pool = pool;
	if (f->nall == f->cap) {
		f->cap = f->cap == 0 ? 64 : 2 * f->cap;
		f->all = mem_realloc(f->all, f->cap * sizeof(struct fleet_name *));
	}
	f->all[f->nall++] = nm;
	map_put(&f->names, nm->name, nm);
	return nm;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp((*(struct fleet_name *const *)a)->name,
			  (*(struct fleet_name *const *)b)->name);
}

struct fleet_name *const *fleet_sorted(struct fleet *f)
{
	if (f->nsorted == f->nall)
		return f->sorted;
	f->sorted = mem_realloc(f->sorted, f->nall * sizeof(struct fleet_name *));
	memcpy(f->sorted, f->all, f->nall * sizeof(struct fleet_name *));
	qsort(f->sorted, f->nall, sizeof(struct fleet_name *), by_name);
	f->nsorted = f->nall; /* names are never removed */
	return f->sorted;
}

void fleet_key(char *out, size_t size, const char *node, uint64_t gen)
{
	char g[FMT_U64_SIZE];

	(void)snprintf(out, size, "%s/%s", node, fmt_u64(g, gen));
}

struct fleet_node *fleet_gen(const struct fleet_name *nm, uint64_t gen)
{
	struct fleet_node *fn = nm->newest;

	while (fn != NULL && fn->n.gen != gen)
		fn = fn->older;
	return fn;
}

/* Add (sign 1) or take away (sign -1) what a generation contributes to its pool's sums. */
static void account(struct fleet *f, const struct node *n, int sign)
{
	struct fleet_pool *p = &f->pools[n->pool];
	uint32_t one = (uint32_t)sign;

	p->count[n->state] += one;
	if (!node_counts(n))
		return;
	p->nodes += one;
	if (n->market == PROVIDER_SPOT)
		p->spot += one;
	p->rate_nano_h += sign * n->rate_nano_h;
	if (n->state == NODE_DELETING && n->accepted) {
		p->leaving += one;
		p->leaving_nano_h += sign * n->rate_nano_h;
	}
}

/* Where the row goes in the list of its state: to the end; but a WANTED one that waits for nothing
 * of its own, since its create was throttled, before all that came later. */
static struct fleet_node **place_of(struct fleet *f, const struct fleet_node *fn)
{
	struct fleet_node **at = &f->states[fn->n.state];

	if (fn->n.state != NODE_WANTED || fn->n.wake_ms > fn->n.since_ms || fn->order == f->order)
		return f->tails[fn->n.state];
	while (*at != NULL && (*at)->order < fn->order)
		at = &(*at)->state_next;
	return at;
}

static void enlist(struct fleet *f, struct fleet_node *fn)
{
	struct fleet_node **at = place_of(f, fn);

	fn->state_next = *at;
	fn->state_prev = at;
	if (*at != NULL)
		(*at)->state_prev = &fn->state_next;
	else
		f->tails[fn->n.state] = &fn->state_next;
	*at = fn;
	account(f, &fn->n, 1);
	if (fn->n.wake_ms < f->wake_ms)
		f->wake_ms = fn->n.wake_ms;
}

static void delist(struct fleet *f, struct fleet_node *fn)
{
	*fn->state_prev = fn->state_next;
	if (fn->state_next != NULL)
		fn->state_next->state_prev = fn->state_prev;
	else
		f->tails[fn->n.state] = fn->state_prev;
	account(f, &fn->n, -1);
}

struct fleet_node *fleet_add(struct fleet *f, const struct node *n)
{
	struct fleet_name *nm = fleet_name(f, n->name, n->pool);
	struct fleet_node *fn = mem_zalloc(sizeof(*fn));
	struct fleet_node **at = &nm->newest;

	assert(fleet_gen(nm, n->gen) == NULL);
	while (*at != NULL && (*at)->n.gen > n->gen)
		at = &(*at)->older;
	fn->n = *n;
	fn->name = nm;
	fn->older = *at;
	*at = fn;
	if (n->gen > nm->last_gen)
		nm->last_gen = n->gen;
	fn->order = ++f->order;
	enlist(f, fn);
	return fn;
}

void fleet_set(struct fleet *f, struct fleet_node *fn, const struct node *next)
{
	assert(next->gen == fn->n.gen && next->pool == fn->n.pool);
	assert(next->rate_nano_h == fn->n.rate_nano_h && next->market == fn->n.market);
	if (next->state == fn->n.state) { /* keep its place: a gang stays together */
		account(f, &fn->n, -1);
		fn->n = *next;
		account(f, &fn->n, 1);
		if (next->wake_ms < f->wake_ms)
			f->wake_ms = next->wake_ms;
		return;
	}
	delist(f, fn);
	fn->n = *next;
	enlist(f, fn);
}

void fleet_last(struct fleet *f, struct fleet_node *fn)
{
	delist(f, fn);
	fn->order = ++f->order;
	enlist(f, fn);
}

struct node *fleet_stage(struct fleet_node *fn)
{
	if (fn->next == NULL) {
		fn->next = mem_zalloc(sizeof(*fn->next));
		*fn->next = fn->n;
	}
	return fn->next;
}

struct node *fleet_swap(struct fleet *f, struct fleet_node *fn)
{
	struct node *next = fn->next, was = fn->n;

	assert(next != NULL);
	fleet_set(f, fn, next);
	fn->next = NULL;
	*next = was;
	return next;
}

void fleet_publish(struct fleet *f, struct fleet_node *fn)
{
	free(fleet_swap(f, fn));
}

void fleet_del(struct fleet *f, struct fleet_node *fn)
{
	struct fleet_node **at = &fn->name->newest;

	assert(fn->n.state == NODE_GONE && fn->next == NULL && !fn->busy);
	if (fn->n.since_ms > fn->name->forgot_ms)
		fn->name->forgot_ms = fn->n.since_ms;
	while (*at != fn)
		at = &(*at)->older;
	*at = fn->older;
	delist(f, fn);
	free_node(fn);
}

struct fleet_node *fleet_live(const struct fleet_name *nm)
{
	struct fleet_node *fn = nm->newest;

	while (fn != NULL && !node_lives(fn->next != NULL ? fn->next : &fn->n))
		fn = fn->older;
	return fn;
}

bool fleet_may_work(const struct fleet_name *nm)
{
	const struct fleet_node *fn = fleet_live(nm);

	return slurm_is_on(nm->flags) || (!nm->barred && (nm->flags & SLURM_POWERING_UP) != 0 &&
					  fn != NULL && fn->n.state == NODE_BOOTING);
}

struct fleet_node *fleet_unreached(const struct fleet_name *nm)
{
	struct fleet_node *fn = nm->newest;

	while (fn != NULL && (!fn->unreached || node_lives(&fn->n) || !node_counts(&fn->n)))
		fn = fn->older;
	return fn;
}

bool fleet_stuck(const struct fleet_name *nm)
{
	const struct fleet_node *fn = nm->newest;

	while (fn != NULL && fn->n.state != NODE_QUARANTINED)
		fn = fn->older;
	return fn != NULL || fleet_unreached(nm) != NULL;
}

bool fleet_exists(const struct fleet_name *nm)
{
	for (const struct fleet_node *fn = nm->newest; fn != NULL; fn = fn->older)
		if (node_counts(&fn->n))
			return true;
	return false;
}

bool fleet_is_ours(const struct fleet_name *nm)
{
	return nm != NULL && (nm->listed || fleet_exists(nm));
}

bool fleet_clear(const struct fleet_node *fn, bool tagged)
{
	for (const struct fleet_node *o = fn->name->newest; o != NULL; o = o->older)
		if (o != fn && o->n.state != NODE_GONE &&
		    !(tagged && o->n.state == NODE_DELETING && o->n.accepted) &&
		    !(o->n.state == NODE_WANTED && o->n.gen > fn->n.gen)) /* it waits for fn */
			return false;
	return true;
}
