/* sim_keys.c - checks who gets the keys, by what is durable when a byte leaves burstd, never by
 * what burstd believes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim_boot.h"
#include "sim_claims.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum {
	END_MS = 30 * SIM_SECOND,    /* a look every 10 s at what has no machine yet; a turn */
	GRACE_MS = 120 * SIM_SECOND, /* after a restart there is time to claim again */
};

/* --- what leaves ------------------------------------------------------------------------------ */

static bool is_owner(const struct claim *c, uint32_t key)
{
	uint32_t bound;

	memcpy(&bound, c->spki, sizeof(bound));
	return c->bound && bound == key;
}

static bool is_confirmed(const struct claim *c, uint32_t key)
{
	return c != NULL && c->state == CLAIM_CONFIRMED && is_owner(c, key);
}

/* Its machine, as the row has it. */
static bool is_machine(const struct world *w, const struct sim_row *r, const struct inst *i)
{
	if (r->n.instance[0] == '\0' && w->set.chance[SIM_RESTORED] != 0)
		return true; /* that is in the journal that was lost */
	return sim_cloud_by_id(w->cloud, r->n.instance) == i;
}

/* I31: to one client alone, of all that ever asked for this generation. */
static void check_first(struct world *w, const char *node, uint64_t gen, uint32_t key)
{
	struct sim_boot *b = w->boot;

	for (size_t k = 0; k < b->ngiven; k++) {
		const struct sim_given *g = &b->given[k];

		if (g->gen != gen || strcmp(g->node, node) != 0)
			continue;
		/* Of an older journal generations come again (F58). */
		if (g->key != key && w->set.chance[SIM_RESTORED] == 0)
			world_fail(w, "I31: keys for %s/%" PRIu64 " go to a second client", node,
				   gen);
		return;
	}
	if (b->ngiven == b->given_cap) {
		b->given_cap = b->given_cap == 0 ? 32 : 2 * b->given_cap;
		b->given = mem_realloc(b->given, b->given_cap * sizeof(*b->given));
	}
	b->given[b->ngiven] = (struct sim_given){.gen = gen, .key = key};
	(void)snprintf(b->given[b->ngiven++].node, sizeof(b->given[0].node), "%s", node);
}

/* A user of the machine may be taken for it, where nothing is asked for that only root has; but not
 * who has a copy of its request, and not its key. */
static bool may_pass(const struct world *w, const struct sim_post *p)
{
	if (!p->thief)
		return true;
	return p->key == p->shown && strcmp(p->address, p->about->addr) == 0 &&
	       w->set.attest != CONF_ATTEST_CALLBACK;
}

/* I31, I32: the claim says durably that this client may have them, and the node is wanted. */
static void check_keys(struct world *w, const struct sim_post *p, enum claim_state want,
		       const char *node, uint64_t gen)
{
	const struct claim *c = sim_journal_claim(w->journal, node, gen);
	const struct sim_row *r = sim_journal_row(w->journal, node, gen);

	if (!may_pass(w, p))
		world_fail(w, "I31: keys of %s/%" PRIu64 " go to a thief at %s", node, gen,
			   p->address);
	if (c == NULL || r == NULL)
		world_fail(w, "I32: keys for %s/%" PRIu64 ", of which the journal knows nothing",
			   node, gen);
	else if (!is_owner(c, p->key))
		world_fail(w, "I31: keys for %s/%" PRIu64 ", whose claim is durably %s", node, gen,
			   c->bound ? "another client's" : "nobody's");
	else if (c->state != want)
		world_fail(w, "I32: keys for %s/%" PRIu64 ", whose claim is durably %s", node, gen,
			   claim_state_str(c->state));
	else if (!node_lives(&r->n))
		world_fail(w, "I32: keys for %s/%" PRIu64 ", which is %s", node, gen,
			   node_state_str(r->n.state));
	else if (!is_machine(w, r, p->about))
		world_fail(w, "I31: keys for %s/%" PRIu64 ", which is %s, go to i-%u", node, gen,
			   r->n.instance, (unsigned)p->about->number);
	check_first(w, node, gen, p->key);
}

/* I34: who has not confirmed is no node; nor is who speaks for another. */
static void check_node(struct world *w, const struct sim_post *p)
{
	const struct claim *c = sim_journal_claim(w->journal, p->node, p->gen);

	if (p->foreign)
		world_fail(w, "I34: %s is believed what it says of another", p->node);
	else if (!p->let_in && !is_confirmed(c, p->key))
		world_fail(w, "I34: %s/%" PRIu64 " is let in, and its claim is durably %s", p->node,
			   p->gen, c != NULL ? claim_state_str(c->state) : "not there");
}

/* What was right when it was done may be over when the answer leaves. */
static void check_confirmed(struct world *w, const struct sim_post *p)
{
	const struct claim *c = sim_journal_claim(w->journal, p->node, p->gen);

	if (p->forged)
		world_fail(w, "I34: %s confirms keys that it does not have", p->node);
	else if (c != NULL && (c->state == CLAIM_ISSUED || c->state == CLAIM_ATTESTING ||
			       c->state == CLAIM_CLAIMED))
		world_fail(w, "I34: %s is told that its keys are confirmed, and durably it is %s",
			   p->node, claim_state_str(c->state));
}

/* I33: the right secret is taken for as long as there is its claim, whatever others have tried. */
static void check_unknown(struct world *w, const struct inst *i)
{
	const struct sim_claims *all = sim_journal_claims(w->journal);

	for (size_t k = 0; k < all->n; k++)
		if (strcmp(all->v[k].c.id, i->claim_id) == 0)
			world_fail(w, "I33: i-%u is told that there is no claim %s",
				   (unsigned)i->number, i->claim_id);
}

void sim_keys_come(const struct world *w, struct sim_post *p)
{
	p->let_in = is_confirmed(sim_journal_claim(w->journal, p->node, p->gen), p->key);
}

void sim_keys_leave(struct world *w, const struct sim_post *p)
{
	const struct sim_reply *r = &p->reply;

	if (p->verb == SIM_CLAIM && !p->thief && r->status == 401)
		check_unknown(w, p->about);
	if (r->status != 200 && !r->keys)
		return;
	switch (p->verb) {
	case SIM_CLAIM:
		check_keys(w, p, CLAIM_CLAIMED, r->node, r->gen);
		break;
	case SIM_KEYS_AGAIN:
		check_keys(w, p, CLAIM_CONFIRMED, p->node, p->gen);
		break;
	case SIM_CONFIRM:
		check_confirmed(w, p);
		break;
	case SIM_REPORT_READY:
	case SIM_HEARTBEAT:
	case SIM_EVENT:
		check_node(w, p);
		break;
	default:
		break;
	}
}

/* --- what lives on ---------------------------------------------------------------------------- */

static bool serves(const struct sim_row *r)
{
	return r->n.state == NODE_BOOTING || r->n.state == NODE_READY ||
	       r->n.state == NODE_DRAINING;
}

/* Is it one whose machine must go? */
static bool is_bad(const struct world *w, const struct claim *c)
{
	if (c->state == CLAIM_BREACHED || c->state == CLAIM_EXPIRED)
		return true;
	return w->now + w->skew > claim_wake_ms(c);
}

/* Has anybody had its secret but the one machine that was made with it?  Guesses are no reason. */
static bool is_misused(const struct world *w, const struct claim *c)
{
	size_t twins = 0;

	for (size_t k = 0; k < w->cloud->n; k++) {
		const struct inst *i = w->cloud->all[k];

		if (strcmp(i->claim_id, c->id) != 0)
			continue;
		if (i->machine != NULL && i->machine->robbed)
			return true;
		twins += i->gen == c->gen && strcmp(i->node, c->node) == 0;
	}
	return twins > 1;
}

static void check_one(struct world *w, struct sim_claim *x)
{
	const struct sim_row *r = sim_journal_row(w->journal, x->c.node, x->c.gen);
	int64_t since = w->life_began + GRACE_MS;

	if ((r == NULL || r->n.state == NODE_GONE) && w->set.chance[SIM_RESTORED] == 0)
		world_fail(w, "I35: the claim of %s/%" PRIu64 " is there, and its node is gone",
			   x->c.node, x->c.gen);
	if (x->c.state == CLAIM_BREACHED && w->set.chance[SIM_RESTORED] == 0 &&
	    !is_misused(w, &x->c))
		world_fail(w,
			   "I33: the claim of %s/%" PRIu64
			   " is a breach, and nobody had its secret",
			   x->c.node, x->c.gen);
	if (r == NULL || !serves(r) || !is_bad(w, &x->c) || w->engine == NULL)
		x->bad_at = w->now;
	since = x->bad_at > since ? x->bad_at : since;
	/* Nobody looks here while it stands still in the midst of a commit. */
	since = w->frozen_until > since ? w->frozen_until : since;
	if (w->now - since > END_MS)
		world_fail(w, "I33: %s/%" PRIu64 " lives on as %s, and its claim is %s", x->c.node,
			   x->c.gen, node_state_str(r->n.state), claim_state_str(x->c.state));
}

void sim_keys_check(struct world *w)
{
	struct sim_claims *all = sim_journal_claims(w->journal);

	for (size_t i = 0; w->set.bootstrap && i < all->n; i++)
		check_one(w, &all->v[i]);
}

/* Where an older journal has neither the machine nor its claim, or the provider said that it had
 * made none (F3), so that both were forgotten, nobody can tell one that has never made a claim from
 * one that was bought before nodes had to. */
static bool is_of_no_claim(const struct world *w, const struct node *n)
{
	const struct inst *i;
	unsigned number = 0;

	if (sscanf(n->instance, "i-%u", &number) != 1)
		return false;
	i = sim_cloud_find(w->cloud, number);
	return i != NULL && (i->unknown || i->lied) && i->machine != NULL && i->machine->silent;
}

/* I34: what works has confirmed that it has the keys. */
bool sim_keys_settled(const struct world *w, const struct node *n, char *why, size_t size)
{
	const struct claim *c = sim_journal_claim(w->journal, n->name, n->gen);

	if (!w->set.bootstrap || n->state != NODE_READY ||
	    (c != NULL ? c->state == CLAIM_CONFIRMED : is_of_no_claim(w, n)))
		return true;
	(void)snprintf(why, size, "%s is in use, and its claim is %s (I34)", n->name,
		       c != NULL ? claim_state_str(c->state) : "not there");
	return false;
}
