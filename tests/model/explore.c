/* explore.c - breadth first, until nothing new comes.
 *
 * Two nodes have nothing in common but a create that has both, a list and a crash.  What a list
 * says of one does not depend on what it says of the other, so one list is as good as two; a crash
 * of both is as good as two crashes, for between them nothing has to happen.  So while no create
 * has both, the states of two nodes are all pairs of the states of one, and these are searched with
 * the other side idle.  Then come the pairs that may go out together, and from there all pairs
 * until their create is settled.  What is left of an older generation goes its own way meanwhile,
 * whoever else is in that create, so these pairs start without it; and so does a side whose own
 * part of it is settled: it stands still.  That all this leaves nothing out is not only said: each
 * side of each pair must be one that is known alone. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "explore.h"

/* An assertion in node.c must say which way led to it. */
static sigjmp_buf on_assert;

static void aborted(int signum)
{
	(void)signum;
	siglongjmp(on_assert, 1);
}

/* --- telling -----------------------------------------------------------------------------------
 */

struct named_step {
	uint64_t to;
	struct step found;
};

static bool name_step(struct explorer *x, const struct step *s, void *ctx)
{
	struct named_step *ns = ctx;

	(void)x;
	if (s->to == ns->to)
		ns->found = *s;
	return s->to == ns->to;
}

static void print_state(const struct explorer *x, uint64_t key)
{
	struct side a = side_unpack(x->sides[key >> 32].key);
	struct side b = side_unpack(x->sides[(uint32_t)key].key);

	side_print(&a, "a");
	side_print(&b, "| b");
	(void)printf("\n");
}

static void print_step(const struct step *s)
{
	(void)printf("#  ");
	for (int i = 0; i < SIDES; i++)
		if (s->m[i] != NULL)
			(void)printf(" %c%u: %s;", 'a' + i, s->m[i]->gen + 1u, s->m[i]->what);
	(void)printf("\n");
}

static void print_way(struct explorer *x, uint32_t state, unsigned *length)
{
	uint32_t from = x->parent[state];

	if (from == FROM_BOTH) {
		print_way(x, known_alone(x, x->states[state] >> 32), length);
		(void)printf("# and the other one:\n");
		print_way(x, known_alone(x, (uint32_t)x->states[state]), length);
		(void)printf("# so both are:\n");
	} else if (from != NO_STATE) {
		struct named_step ns = {.to = x->states[state]};
		struct pass p = step_pass(x, from, name_step, &ns, false);

		print_way(x, from, length);
		(void)step_all(x, &p);
		print_step(&ns.found);
		++*length;
	}
	(void)printf("#");
	print_state(x, x->states[state]);
}

void explore_violation(struct explorer *x, uint32_t state, const char *what)
{
	unsigned length = 0;

	x->violated = true;
	(void)printf("# VIOLATED: %s\n", what);
	print_way(x, state, &length);
	(void)printf("# %u steps\n", length);
}

/* --- the search --------------------------------------------------------------------------------
 */

struct search {
	uint32_t from;
	bool alone, astray;
};

static bool is_known(struct explorer *x, uint32_t side)
{
	return known_alone(x, known_settled(x, side)) != NO_STATE;
}

static bool take_step(struct explorer *x, const struct step *s, void *ctx)
{
	struct search *se = ctx;

	x->sum->transitions++;
	se->astray = !se->alone &&
		     (!is_known(x, (uint32_t)(s->to >> 32)) || !is_known(x, (uint32_t)s->to));
	if (se->alone || known_open(x, s->to))
		known_add(x, s->to, se->from);
	return se->astray;
}

static bool check_sides(struct explorer *x, const struct pass *p, uint32_t at)
{
	for (int i = 0; i < SIDES; i++) {
		const struct known_move *bad = x->sides[p->id[i]].bad;
		char what[200];

		if (bad == NULL)
			continue;
		(void)snprintf(what, sizeof(what), "%s (one more step of %c%u)", bad->what, 'a' + i,
			       bad->gen + 1u);
		explore_violation(x, at, what);
		return false;
	}
	return true;
}

static void search(struct explorer *x)
{
	if (sigsetjmp(on_assert, 1) != 0) {
		explore_violation(x, (uint32_t)x->at,
				  "an assertion of the code fails in one more step");
		return;
	}
	for (x->level = x->n; x->at < x->n && !x->violated; x->at++) {
		struct search se = {.from = (uint32_t)x->at, .alone = x->nalone == 0};
		struct pass p;

		if (x->at == x->level) {
			x->level = x->n;
			x->sum->depth++;
		}
		p = step_pass(x, se.from, take_step, &se, false);
		if (!check_sides(x, &p, se.from))
			return;
		(void)step_all(x, &p);
		if (se.astray)
			explore_violation(x, se.from,
					  "one more step leads to a node that one alone cannot be");
	}
}

/* May it go out with another one, and is nothing of another generation left? */
static bool pairs(const struct explorer *x, size_t state)
{
	const struct known_side *k = &x->sides[x->states[state] >> 32];
	struct side s = side_unpack(k->key);

	for (unsigned i = 0; i < GENS; i++)
		if (life_has_row(&s.g[i]) && s.g[i].state != NODE_WANTED &&
		    (s.g[i].state != NODE_GONE || s.g[i].instance != NONE || s.g[i].deleting))
			return false;
	return k->buys;
}

static void pair_up(struct explorer *x)
{
	x->nalone = x->n;
	for (size_t i = 0; i < x->nalone; i++)
		for (size_t k = i; pairs(x, i) && k < x->nalone; k++)
			if (pairs(x, k))
				known_add(x,
					  (x->states[i] & ~UINT64_C(0xffffffff)) |
						  x->states[k] >> 32,
					  FROM_BOTH);
}

bool explore(const struct rules *r, struct summary *out)
{
	struct explorer *x = mem_zalloc(sizeof(*x));
	const struct side first = {.g = {{.state = NO_ROW}, {.state = NO_ROW}}};
	bool ok;

	*out = (struct summary){0};
	x->r = r;
	x->sum = out;
	x->scratch = mem_zalloc(sizeof(*x->scratch));
	(void)signal(SIGABRT, aborted);
	x->idle = known_side(x, &first);
	known_add(x, (uint64_t)x->idle << 32 | x->idle, NO_STATE);
	search(x);
	if (!x->violated && !r->alone) {
		pair_up(x);
		search(x);
	}
	if (!x->violated)
		back_from_all(x);
	(void)signal(SIGABRT, SIG_DFL);
	out->alone = x->nalone != 0 ? x->nalone : x->n;
	out->states = x->n;
	ok = !x->violated;
	known_fini(x);
	free(x->fate);
	free(x->scratch);
	free(x);
	return ok;
}
