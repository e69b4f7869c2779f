/* sim_absent.c - one of two providers is taken away: an admin removes its section and its offers
 * and restarts burstd, or its credential cannot be read when burstd starts.  It comes back with
 * another restart, or when burstd reads the file again.  Meanwhile the provider is off: burstd asks
 * nothing of it, and its rows stay as they are, since nobody can tell what is there. */
#include <string.h>

#include "sim_journal.h"
#include "sim_slurm.h"
#include "world.h"

/* By dice of its own, so that the other worlds stay as they are without it. */
void sim_absent_choose(struct world *w)
{
	uint64_t rng = w->rng;

	w->set.chance[SIM_ABSENT] =
		w->set.twins && world_one_in(w, 2) ? sim_faults[SIM_ABSENT].per_mille : 0;
	w->rng = rng;
}

bool sim_absent_section(const struct world *w)
{
	return w->absent == ABSENT_SECTION;
}

static bool is_there(const struct node *n)
{
	return strcmp(n->provider, "twin") == 0;
}

static void met_all(struct world *w)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);

	for (size_t i = 0; i < n; i++)
		if (is_there(&r[i].n))
			w->totals->met[SIM_ABSENT][r[i].n.state]++;
}

/* --- it goes, and comes back ------------------------------------------------------------------ */

static void change(struct world *w)
{
	if (w->absent != ABSENT_NOT) {
		w->absent = world_one_in(w, 2) ? ABSENT_NOT : w->absent;
		return;
	}
	if (world_fault(w, SIM_ABSENT))
		w->absent = world_one_in(w, 2) ? ABSENT_SECTION : ABSENT_FILE;
}

/* Who forgets that this needs a restart is told so, and nothing changes. */
static void try_reload(struct world *w)
{
	enum sim_absent was = w->absent;
	struct err e;

	w->absent = was == ABSENT_SECTION ? ABSENT_NOT : ABSENT_SECTION;
	if (was != ABSENT_FILE && sim_life_reload(w, &e) == 0)
		world_fail(w, "a provider comes or goes by a reload");
	w->absent = was;
}

static void on_admin(struct world *w, void *ctx, uint64_t arg)
{
	enum sim_absent was = w->absent;

	(void)ctx;
	(void)arg;
	if (!w->faults)
		return;
	world_at(w, w->now + world_between(w, 60, 300) * SIM_SECOND, on_admin, NULL, 0);
	if (w->engine == NULL || w->crashed || sim_frozen(w))
		return;
	if (w->off)
		met_all(w);
	if (world_one_in(w, 4))
		try_reload(w);
	change(w);
	if (was == w->absent || (was == ABSENT_FILE && world_one_in(w, 2)))
		return; /* burstd looks for itself */
	SIM_TRACE(w, "*** burstd is restarted, and its other provider is %s",
		  w->absent == ABSENT_NOT       ? "there"
		  : w->absent == ABSENT_SECTION ? "taken out"
						: "without its credential");
	w->crashed = true;
}

void sim_absent_start(struct world *w)
{
	if (w->set.chance[SIM_ABSENT] != 0)
		world_at(w, w->now + SIM_MINUTE, on_admin, NULL, 0);
}

void sim_absent_heal(struct world *w)
{
	w->crashed = w->crashed || (sim_absent_section(w) && w->engine != NULL);
	w->absent = ABSENT_NOT;
}

/* --- what burstd knows of it ------------------------------------------------------------------ */

void sim_absent_life(struct world *w)
{
	w->off = w->absent != ABSENT_NOT;
	if (w->off)
		met_all(w);
}

int sim_absent_files(void *ctx, struct conf_provider *p, size_t i, const char **credential,
		     struct err *e)
{
	struct world *w = ctx;

	(void)i;
	(void)credential;
	if (strcmp(p->name, "twin") != 0)
		return 0;
	w->off = w->absent != ABSENT_NOT;
	return w->off ? err_set(e, ERR_IO, "its credential cannot be read") : 0;
}

/* --- the judge -------------------------------------------------------------------------------- */

void sim_absent_asked(struct world *w, const char *url)
{
	if (w->off && strncmp(url, w->twin_url, strlen(w->twin_url)) == 0)
		world_fail(w, "a provider that is off is asked for %s", url);
}

/* What never was on its way there may be bought elsewhere.  All else counts and costs until the
 * provider itself says that it has ended (I9). */
void sim_absent_row(struct world *w, const struct node *was, const struct node *next)
{
	if (w->off && is_there(was) && was->state != NODE_WANTED && was->state != NODE_GONE &&
	    next->state == NODE_GONE)
		world_fail(w, "I9: %s/%llu is %s at a provider that is off, and taken for gone",
			   was->name, (unsigned long long)was->gen, node_state_str(was->state));
}
