/* sim_munge.c - io/munge_check.h: munged on burstd's host tells a good credential from a bad one,
 * and from one that it has seen.  Now and then it does not answer. */
#include "io/munge_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_boot.h"

enum { SEEN_MAX = 64 };

struct check {
	struct check *next;
	struct munge_check *m;
	char cred[64];
	munge_check_fn fn;
	void *ctx;
};

struct munge_check {
	struct world *w;
	unsigned life;
	struct check *first;
	char seen[SEEN_MAX][64];
	unsigned nseen;
};

struct munge_check *munge_check_new(struct loop *l, const char *socket)
{
	struct munge_check *m = mem_zalloc(sizeof(*m));

	(void)socket;
	m->w = sim_loop_world(l);
	m->life = m->w->life;
	m->w->boot->munge = m;
	return m;
}

static enum munge_word judge(struct munge_check *m, const char *cred)
{
	if (world_fault(m->w, SIM_MUNGE_AWAY)) {
		m->w->totals->met[SIM_MUNGE_AWAY][NODE_NSTATES]++;
		return MUNGE_AWAY;
	}
	if (strncmp(cred, "MUNGE:good:", 11) != 0)
		return MUNGE_WRONG;
	for (unsigned i = 0; i < SEEN_MAX; i++)
		if (strcmp(m->seen[i], cred) == 0)
			return MUNGE_REPLAYED;
	(void)snprintf(m->seen[m->nseen++ % SEEN_MAX], sizeof(m->seen[0]), "%s", cred);
	return MUNGE_GOOD;
}

static void unlink_check(struct check *c)
{
	struct check **at = &c->m->first;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
}

/* arg: of which life; what was asked in another is forgotten. */
static void on_answer(struct world *w, void *ctx, uint64_t life)
{
	struct munge_check *m = w->boot->munge;
	struct check *c = m != NULL && m->life == life ? m->first : NULL;
	struct munge_end end = {.why = "", .cred = ""};

	while (c != NULL && c != ctx)
		c = c->next;
	if (c == NULL || w->crashed || sim_freeze_holds(w, on_answer, ctx, life))
		return;
	unlink_check(c);
	end.word = judge(m, c->cred);
	if (end.word == MUNGE_GOOD)
		end.cred = "MUNGE:ours:";
	c->fn(c->ctx, &end);
	free(c->ctx);
	free(c);
}

int munge_check_begin(struct munge_check *m, const struct munge_ask *ask, munge_check_fn fn,
		      void *ctx, struct err *e)
{
	struct check *c = mem_zalloc(sizeof(*c));

	(void)e;
	*c = (struct check){.next = m->first, .m = m, .fn = fn, .ctx = ctx};
	(void)snprintf(c->cred, sizeof(c->cred), "%s", ask->credential);
	m->first = c;
	world_at(m->w, m->w->now + world_between(m->w, 1, 3000), on_answer, c, m->life);
	return 0;
}

void munge_check_free(struct munge_check *m)
{
	if (m == NULL)
		return;
	while (m->first != NULL) {
		struct check *c = m->first;

		unlink_check(c);
		free(c->ctx);
		free(c);
	}
	if (m->w->boot->munge == m)
		m->w->boot->munge = NULL;
	free(m);
}

const char *munge_word_str(enum munge_word w)
{
	static const char *const words[] = {"good",    "replayed", "expired",
					    "rewound", "wrong",    "away"};

	return words[w];
}
