/* sim_list.c - the provider's lists: which instances they show, how, and which they leave out. */
#include <string.h>

#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_slurm.h"

/* Not one that is shown as in error: what that word means nobody knows. */
static bool is_shown_failed(const struct inst *i, enum inst_state shown)
{
	return i->error && shown == INST_PENDING && i->fate == MAKES_A_FAILURE;
}

static void show_as(struct sim_cloud *c, struct str *out, const struct inst *i,
		    enum inst_state shown, bool tags)
{
	static const char *const words[] = {"\"pending\"", "\"running\"", "\"reclaiming\"",
					    "\"stopping\"", "\"ended\""};
	static const char *const odd_words[] = {
		"\"hibernating\"", "null",
		"\"a state with a name that is longer than any state should have\""};
	int64_t now = c->w->now;
	const char *word = words[shown];
	const bool failed = is_shown_failed(i, shown);

	if (i->error && shown == INST_PENDING)
		word = failed ? "\"failed\"" : "\"error\"";
	if (i->odd && inst_live(i) && shown == i->state)
		word = odd_words[i->number % 3];

	str_adds(out, "{");
	if (tags)
		sim_tags_show(c->w, out, i);
	else
		str_addf(out, "\"name\":\"%s\",\"generation\":%llu,", i->node,
			 (unsigned long long)i->gen);
	str_addf(out,
		 "\"id\":\"i-%u\",\"state\":%s,"
		 "\"type\":\"x\",\"region\":\"r\",\"zone\":\"z\",\"market\":\"on-demand\","
		 "\"address\":\"%s\",\"hostname\":\"%s\",\"created_ms\":%lld",
		 (unsigned)i->number, word, now >= i->addr_at ? i->addr : "", i->node,
		 (long long)i->created);
	if (i->reclaim_said != 0 && i->state >= INST_RECLAIMING)
		str_addf(out, ",\"reclaim_ms\":%lld", (long long)i->reclaim_at);
	if (shown == INST_ENDED)
		str_addf(out, ",\"ended_ms\":%lld", (long long)(inst_live(i) ? now : i->ended));
	if (failed)
		str_adds(out, ",\"error\":{\"code\":\"capacity\",\"message\":\"no host found\"}");
	str_adds(out, "}");
}

void sim_cloud_show(struct sim_cloud *c, struct str *out, const struct inst *i, bool tags)
{
	show_as(c, out, i, i->stale ? INST_RUNNING : i->state, tags);
}

/* F16: one row more, of this one or of one that the list has shown already, as what it was or will
 * be, or without our tag. */
static void show_again(struct sim_cloud *c, struct str *out, const struct inst *i)
{
	static const enum inst_state others[] = {INST_PENDING, INST_RUNNING, INST_STOPPING,
						 INST_ENDED};
	const struct inst *of = world_one_in(c->w, 2) ? c->all[world_below(c->w, i->number)] : i;
	enum inst_state as;

	if (of->run != i->run || of->stale)
		of = i;
	as = of->stale ? INST_RUNNING : of->state;
	if (inst_live(of) && world_one_in(c->w, 2))
		as = others[world_below(c->w, 4)];
	if (of->pool != SIM_POOLS_MAX)
		world_met(c->w, SIM_LIST_TWICE, of->node, of->gen);
	show_as(c, out, of, as, !world_one_in(c->w, 4));
	str_adds(out, ",");
}

/* --- F18: for minutes lists are those of another account, or of a part of ours.
 *
 * What such a list may lack for as long as it likes is what burstd must not believe: nodes that
 * slurmctld has up and hears from; and those that boot, when many are lacking at once (I12). */

static bool slurmd_is_heard(const struct world *w, const char *node)
{
	for (size_t k = 0; w->told && k < w->ctld->n; k++) {
		const struct ctld_node *n = &w->ctld->told[k];

		if (strcmp(n->name, node) == 0)
			return !n->deleted && !n->down && !n->not_responding && !n->powered_down &&
			       !n->powering_down;
	}
	return false;
}

static bool may_lack(const struct sim_cloud *c, const struct inst *i)
{
	const struct sim_row *r = sim_journal_row(c->w->journal, i->node, i->gen);

	if (r == NULL || sim_cloud_by_id(c, r->n.instance) != i)
		return false;
	if (r->n.state == NODE_READY || r->n.state == NODE_DRAINING)
		return slurmd_is_heard(c->w, i->node);
	return r->n.state == NODE_BOOTING && c->other_all;
}

/* More than the brake lets through, and one or two to spare for what changes on the way. */
static bool many_alive(const struct world *w)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r), alive = 0;

	for (size_t k = 0; k < n; k++)
		if (r[k].n.state == NODE_BOOTING ||
		    (r[k].n.state == NODE_READY && slurmd_is_heard(w, r[k].n.name)))
			alive++;
	return alive >= 5;
}

static void begin_list(struct sim_cloud *c)
{
	struct world *w = c->w;

	c->runs++;
	if (w->now >= c->other_until && world_fault(w, SIM_LIST_OTHER))
		c->other_until = w->now + world_between(w, 1, 6) * SIM_MINUTE;
	c->other = w->now < c->other_until;
	c->other_all = c->other && many_alive(w);
}

/* Left out though it exists: never twice in a row (F15), but for F18. */
static bool hidden(struct sim_cloud *c, struct inst *i, bool empty)
{
	bool other = inst_live(i) && c->other && may_lack(c, i);
	bool hide = other || (i->may_hide && inst_live(i) &&
			      (empty || c->other || world_fault(c->w, SIM_FLAP)));

	if (hide) {
		i->may_hide = false;
		i->hidden_at = i->hidden_at != 0 ? i->hidden_at : c->w->now;
	}
	if (hide && i->pool != SIM_POOLS_MAX)
		world_met(c->w,
			  empty      ? SIM_LIST_EMPTY
			  : c->other ? SIM_LIST_OTHER
				     : SIM_FLAP,
			  i->node, i->gen);
	return hide;
}

/* An empty list needs every instance to have been shown by the one before. */
static bool all_may_hide(const struct sim_cloud *c)
{
	for (size_t k = 0; k < c->nlive; k++)
		if (!c->live[k]->may_hide && c->live[k]->pool != SIM_POOLS_MAX &&
		    c->w->now >= c->live[k]->visible_at)
			return false;
	return true;
}

void sim_cloud_list(struct sim_cloud *c, struct str *out, uint32_t *run, uint32_t after,
		    uint32_t *next)
{
	bool empty = *run == 0 && all_may_hide(c) && world_fault(c->w, SIM_LIST_EMPTY);
	uint32_t shown = 0;

	if (*run == 0) {
		begin_list(c);
		*run = c->runs;
	}
	*next = 0;
	for (size_t k = after; k < c->n; k++) {
		struct inst *i = c->all[k];

		if (c->w->now < i->visible_at || (!inst_live(i) && c->w->now >= i->gone_at))
			continue;
		if (hidden(c, i, empty) || empty)
			continue;
		if (shown == c->w->set.page) {
			*next = (uint32_t)k;
			return;
		}
		sim_tags_turn(c->w, i);
		if (c->w->now < i->tags_at) { /* it is there, and nobody can say whose it is */
			str_adds(out, shown++ > 0 ? "," : "");
			sim_cloud_show(c, out, i, true);
			continue;
		}
		i->odd = world_fault(c->w, SIM_UNKNOWN_STATE);
		if (i->odd && inst_live(i) && i->pool != SIM_POOLS_MAX)
			world_met(c->w, SIM_UNKNOWN_STATE, i->node, i->gen);
		i->stale = !inst_live(i) && world_fault(c->w, SIM_STALE);
		i->revived = i->revived || i->stale;
		if (i->stale)
			world_met(c->w, SIM_STALE, i->node, i->gen);
		i->run = *run;
		if (i->shown_life != c->w->life + 1) {
			i->shown_life = c->w->life + 1;
			i->shown_at = c->w->now;
		}
		if (!inst_live(i) && !i->stale)
			i->ended_run = *run;
		if (c->w->now >= i->addr_at)
			i->addr_run = *run;
		str_adds(out, shown++ > 0 ? "," : "");
		if (world_fault(c->w, SIM_LIST_TWICE))
			show_again(c, out, i);
		else if (is_shown_failed(i, i->state) && !i->odd && !i->stale)
			i->error_run = *run;
		sim_cloud_show(c, out, i, true);
	}
}

/* Whose row sees to it: the one of two names of the account that it was bought by. */
static bool is_bought_by(const struct sim_cloud *c, const struct inst *i, bool twin)
{
	const struct sim_row *r = sim_journal_row(c->w->journal, i->node, i->gen);

	return r != NULL && (strcmp(r->n.provider, "twin") == 0) == twin;
}

void sim_cloud_listed(struct sim_cloud *c, uint32_t run, bool twin)
{
	c->w->listed = true;
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k]->run == run) {
			c->live[k]->may_hide = true;
			c->live[k]->hidden_at = 0;
			c->live[k]->addr_shown = c->live[k]->addr_run == run;
			if (c->live[k]->addr_shown && is_bought_by(c, c->live[k], twin))
				c->live[k]->addr_life = c->w->life + 1;
			c->live[k]->error_known |=
				c->live[k]->error_run == run && is_bought_by(c, c->live[k], twin);
		}
	for (size_t k = 0; k < c->n; k++)
		if (c->all[k]->ended_run == run)
			c->all[k]->ended_life = c->w->life + 1;
}
