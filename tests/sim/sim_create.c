/* sim_create.c - creates at the provider: requests and their tokens, the checks of both, and the
 * instances that are made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_boot.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_money.h"
#include "sim_slurm.h"

static const char own[] = "5111eb00-0000-4000-8000-000000000001";

static struct token *find_token(const struct sim_cloud *c, const char *token)
{
	for (size_t i = 0; i < c->ntokens; i++)
		if (strcmp(c->tokens[i].token, token) == 0)
			return &c->tokens[i];
	return NULL;
}

static struct token *add_token(struct sim_cloud *c, const struct create_request *rq)
{
	struct token *t;

	if (c->ntokens == c->tokens_cap) {
		c->tokens_cap = c->tokens_cap == 0 ? 32 : 2 * c->tokens_cap;
		c->tokens = mem_realloc(c->tokens, c->tokens_cap * sizeof(*c->tokens));
	}
	t = &c->tokens[c->ntokens++];
	*t = (struct token){.hash = rq->hash, .first_sent = c->w->now, .known_from = c->w->now};
	(void)snprintf(t->token, sizeof(t->token), "%s", rq->token);
	return t;
}

static void check_want(struct world *w, const struct create_request *rq,
		       const struct create_want *want)
{
	const struct sim_row *r = sim_journal_row(w->journal, want->node, want->gen);
	const struct journal_batch *b =
		r != NULL ? sim_journal_batch(w->journal, r->n.batch) : NULL;
	const struct sim_pool *p = world_pool_of(w, want->node);

	if (p == NULL || strcmp(p->type, rq->type) != 0)
		world_fail(w, "I1: create of %s, which is of no pool, or of another type",
			   want->node);
	if (r == NULL || b == NULL)
		world_fail(w, "I1: create of %s/%llu without a durable intent", want->node,
			   (unsigned long long)want->gen);
	else if (strcmp(b->token, rq->token) != 0)
		world_fail(w, "I4: create of %s/%llu with another token than its intent",
			   want->node, (unsigned long long)want->gen);
}

/* What is bought for a job is what it wants.  One that was submitted after that was decided only
 * has its number: slurmctld forgot the other (F50). */
static void check_market(struct world *w, const struct create_request *rq, const struct sim_row *r)
{
	const struct node *n = &r->n;
	const char *wants = sim_ctld_constraint(w->ctld, n->job, r->born);

	if (!world_pool_of(w, n->name)->ladder)
		return; /* its only place is what slurmctld takes it for */
	if (wants != NULL && (strcmp(wants, "spot") == 0) != (strcmp(rq->market, "spot") == 0))
		world_fail(w, "%s is bought for job %u, which wants %s, as %s", n->name,
			   (unsigned)n->job, wants, rq->market);
}

/* A batch in doubt is asked for again whole (I4), for those of it that are wanted still; the others
 * burstd lets go once it knows what was made. */
static bool goes_with_others(const struct sim_cloud *c, const struct create_request *rq,
			     const struct sim_row *r)
{
	bool wanted = false;

	for (size_t i = 0; i < rq->n; i++)
		wanted = wanted || !sim_ctld_launch_is_stale(c->w->ctld, rq->wants[i].node);
	return wanted && r != NULL && r->n.state == NODE_INDOUBT && r->n.release;
}

void sim_cloud_check_create(struct sim_cloud *c, const struct create_request *rq)
{
	struct token *t = find_token(c, rq->token);
	bool some = false;

	if (strcmp(rq->cluster, own) != 0)
		world_fail(c->w, "I2: a create without our tag");
	if (!c->w->listed)
		world_fail(c->w, "I13: create of %s before a list has come", rq->wants[0].node);
	if (t == NULL)
		sim_place_check(c->w, rq);
	sim_fabric_check_create(c, rq);
	sim_voucher_create(c->w, rq, t != NULL);
	sim_roll_create(c->w, rq, t == NULL);
	if (t == NULL && c->w->told_full)
		world_fail(c->w, "F55: create of %s while the disk is full", rq->wants[0].node);
	if (t != NULL &&
	    token_made_nothing(t)) /* there is nothing that could be forgotten, or made twice */
		t->known_from = c->w->now;
	else if (t != NULL && !c->w->set.tokens)
		world_fail(c->w, "I7: create of %s repeated at a provider without tokens",
			   rq->wants[0].node);
	if (t != NULL && c->w->now - t->known_from >= c->w->set.token_ms)
		world_fail(c->w, "I6: create of %s repeated when its token may be forgotten",
			   rq->wants[0].node);
	if (t != NULL && t->hash != rq->hash)
		world_fail(c->w, "I4: token %s with another body", rq->token);
	for (size_t i = 0; i < rq->n; i++) {
		const struct sim_row *r =
			sim_journal_row(c->w->journal, rq->wants[i].node, rq->wants[i].gen);

		check_want(c->w, rq, &rq->wants[i]);
		/* One in doubt is asked for again: it may never have left, or made nothing. */
		if (r != NULL && (r->n.state == NODE_CREATING || r->n.state == NODE_INDOUBT) &&
		    r->born < c->w->life_began && !c->w->told)
			world_fail(c->w,
				   "I13: create of %s, wanted in an earlier life, before slurmctld "
				   "has spoken",
				   rq->wants[i].node);
		/* One in doubt may have been here before: it was not decided now. */
		if (t == NULL && (r == NULL || r->n.state != NODE_INDOUBT))
			sim_pool_check_create(c->w, rq->wants[i].node);
		if (t == NULL && r != NULL)
			check_market(c->w, rq, r);
		if (t == NULL && sim_ctld_launch_is_stale(c->w->ctld, rq->wants[i].node) &&
		    !goes_with_others(c, rq, r))
			world_fail(c->w, "F47: launch of %s, which slurmctld does not want",
				   rq->wants[i].node);
		some = some ||
		       (r != NULL && (r->n.state == NODE_CREATING || r->n.state == NODE_INDOUBT));
	}
	if (!some)
		world_fail(c->w, "I1: create of %s that no row waits for", rq->wants[0].node);
	if (t == NULL)
		t = add_token(c, rq);
	t->sent++;
}

/* Has the generation an instance that burstd could not know of?  A journal that was restored may
 * give it out again, and a provider that lied once may make it twice. */
static bool is_taken(const struct sim_cloud *c, const struct inst *in)
{
	for (size_t k = 0; k < c->n; k++)
		if (c->all[k] != in && c->all[k]->gen == in->gen &&
		    (c->restored_at != 0 || c->all[k]->lied) &&
		    (inst_live(c->all[k]) || c->w->now < c->all[k]->gone_at) &&
		    strcmp(c->all[k]->node, in->node) == 0)
			return true;
	return false;
}

void sim_cloud_refuse(struct sim_cloud *c, const char *token, const char *node)
{
	struct token *t = find_token(c, token);

	if (!sim_cloud_refused(c, token, node) && t->nrefused < CLOUD_WANTS_MAX)
		(void)snprintf(t->refused[t->nrefused++], sizeof(t->refused[0]), "%s", node);
}

void sim_cloud_throttled(struct sim_cloud *c, const char *token)
{
	struct token *t = find_token(c, token);

	if (t != NULL)
		t->throttled++;
}

bool sim_cloud_is_first(const struct sim_cloud *c, const char *token, int64_t sent_at)
{
	const struct token *t = find_token(c, token);

	return t != NULL && t->first_sent == sent_at;
}

bool sim_cloud_refused(const struct sim_cloud *c, const char *token, const char *node)
{
	const struct token *t = find_token(c, token);

	for (size_t i = 0; t != NULL && i < t->nrefused; i++)
		if (strcmp(t->refused[i], node) == 0)
			return true;
	return sim_fabric_refused(c, token) || sim_fabric_unit_refused(c, node);
}

/* Which of them cannot be had (F4, F8); whole groups where the provider promises that. */
static void refuse_some(struct sim_cloud *c, const struct create_request *rq, bool *refused)
{
	for (size_t i = 0; i < rq->n; i++)
		if (world_one_in(c->w, 2)) {
			refused[i] = true;
			world_met(c->w, SIM_PARTIAL, rq->wants[i].node, rq->wants[i].gen);
		}
}

static void refuse_whole_groups(struct sim_cloud *c, const struct create_request *rq, bool *refused)
{
	for (size_t i = 0; c->w->set.gangs && i < rq->n; i++)
		for (size_t k = 0; k < rq->n; k++)
			if (rq->wants[i].group != 0 && rq->wants[i].group == rq->wants[k].group &&
			    refused[k])
				refused[i] = true;
}

static struct inst *make(struct sim_cloud *c, const struct create_request *rq, size_t i,
			 const struct token *t)
{
	struct inst *in;

	sim_money_created(c->w, rq->wants[i].node, rq->wants[i].gen);
	in = sim_cloud_boot(c, &rq->wants[i], rq->cluster);
	enum sim_makes how = sim_place_makes(c->w, rq);

	sim_stock_sold(c->w, rq, in);
	if (how != MAKES_WELL)
		sim_cloud_doom(c, in, how);
	in->pool = (uint32_t)(world_pool_of(c->w, in->node) - c->w->set.pools);
	memcpy(in->fabric, rq->fabric, sizeof(in->fabric));
	memcpy(in->claim_id, rq->claim_id, sizeof(in->claim_id));
	memcpy(in->claim_secret, rq->claim_secret, sizeof(in->claim_secret));
	in->wrap_token = strtoull(rq->lines.token + strspn(rq->lines.token, "t-"), NULL, 10);
	in->single = world_fault(c->w, SIM_WRONG_NODE);
	in->wrong = in->single || sim_pool_is_wrong(c->w, in->pool) ||
		    sim_image_is_wrong(c->w, rq->image);
	in->mute = sim_image_is_mute(c->w, rq->image);
	memcpy(in->image, rq->image, sizeof(in->image));
	in->unknown = t->first_sent <= c->restored_at || is_taken(c, in);
	sim_image_made(c->w, in);
	in->excused = sim_ctld_unwanted_since(c->w->ctld, in->node, t->first_sent);
	if (c->w->set.vouchers) {
		sim_voucher_made(c->w, in, t->token);
		sim_token_is_read(c->w, in);
	}
	return in;
}

/* The provider knows this create: it says what it made of it, and may try the rest again. */
static void say_again(struct sim_cloud *c, const struct create_request *rq, struct token *t)
{
	const char *why;

	for (size_t i = 0; c->w->set.afresh && !c->w->set.gangs && i < rq->n; i++)
		if (t->made[i] == 0 && sim_stock_left(c->w, rq, &why) > 0 && world_one_in(c->w, 2))
			t->made[i] = make(c, rq, i, t)->number;
}

const char *sim_cloud_create(struct sim_cloud *c, const struct create_request *rq, bool lie,
			     uint32_t *made)
{
	struct token *t = find_token(c, rq->token);
	bool refused[CLOUD_WANTS_MAX] = {false};

	if (c->w->set.tokens && t->effective && c->w->now - t->effective_at < c->w->set.token_ms) {
		say_again(c, rq, t);
		memcpy(made, t->made, rq->n * sizeof(*made));
		return t->why;
	}
	if (!lie && world_fault(c->w, SIM_PARTIAL))
		refuse_some(c, rq, refused);
	t->why = lie ? NULL : sim_stock_refuse(c->w, rq, refused);
	refuse_whole_groups(c, rq, refused);
	for (size_t i = 1; c->single && i < rq->n; i++)
		refused[i] = true;
	if (c->single && c->w->set.gangs && rq->n > 1)
		refused[0] = rq->wants[0].group != 0;
	for (size_t i = 0; i < rq->n; i++) {
		struct inst *in = refused[i] ? NULL : make(c, rq, i, t);

		made[i] = in != NULL ? in->number : 0;
		if (in == NULL)
			continue;
		in->lied = lie;
		t->effective = !lie;
		t->effective_at = c->w->now;
	}
	memcpy(t->made, made, rq->n * sizeof(*made));
	return t->why;
}
