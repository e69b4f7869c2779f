#include "sim_cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_boot.h"
#include "sim_journal.h"
#include "sim_slurm.h"

static const char own[] = "5111eb00-0000-4000-8000-000000000001";

/* --- instances -------------------------------------------------------------------------------- */

struct inst *sim_cloud_find(const struct sim_cloud *c, uint32_t number)
{
	return number >= 1 && number <= c->n ? c->all[number - 1] : NULL;
}

struct inst *sim_cloud_by_id(const struct sim_cloud *c, const char *id)
{
	return strncmp(id, "i-", 2) == 0 ? sim_cloud_find(c, (uint32_t)strtoul(id + 2, NULL, 10))
					 : NULL;
}

bool inst_live(const struct inst *i)
{
	return i->state != INST_ENDED;
}

void sim_cloud_end(struct sim_cloud *c, struct inst *i)
{
	if (i->state == INST_ENDED)
		return;
	i->state = INST_ENDED;
	i->ended = c->w->now;
	i->gone_at = c->w->now + c->w->set.linger_ms;
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k] == i) {
			c->live[k] = c->live[--c->nlive];
			break;
		}
	SIM_TRACE(c->w, "  cloud: i-%u (%s/%llu) has ended", (unsigned)i->number, i->node,
		  (unsigned long long)i->gen);
	sim_ctld_instance_ended(c->w->ctld, i);
}

void sim_cloud_restored(struct sim_cloud *c)
{
	c->restored_at = c->w->now;
	for (size_t k = 0; k < c->nlive; k++) {
		struct inst *i = c->live[k];
		const struct sim_row *r = sim_journal_row(c->w->journal, i->node, i->gen);
		char id[24];

		(void)snprintf(id, sizeof(id), "i-%u", (unsigned)i->number);
		i->known = r != NULL && strcmp(r->n.instance, id) == 0;
		i->unknown = i->unknown || !i->known;
	}
}

static void on_end(struct world *w, void *ctx, uint64_t arg)
{
	(void)arg;
	sim_cloud_end(w->cloud, ctx);
}

void sim_cloud_reclaim(struct sim_cloud *c, struct inst *i, int64_t ms)
{
	i->excused = true;
	i->state = INST_RECLAIMING;
	i->reclaim_said = c->w->now;
	i->reclaim_at = c->w->now + ms;
	world_at(c->w, i->reclaim_at, on_end, i, 0);
	sim_notice_reclaim(c->w, i);
}

void sim_cloud_reclaim_all(struct sim_cloud *c)
{
	int64_t ms = world_between(c->w, 5, 120) * SIM_SECOND;

	for (size_t k = 0; k < c->nlive; k++) {
		struct inst *i = c->live[k];

		if (i->pool == SIM_POOLS_MAX || i->state != INST_RUNNING)
			continue;
		world_met(c->w, SIM_MASS_RECLAIM, i->node, i->gen);
		sim_cloud_reclaim(c, i, ms);
	}
}

static void on_slurmd(struct world *w, void *ctx, uint64_t arg)
{
	(void)arg;
	sim_cloud_slurmd(w, ctx);
}

void sim_cloud_slurmd(struct world *w, struct inst *i)
{
	if (!inst_live(i) || i->state == INST_STOPPING)
		return;
	if (w->cloud->no_slurmd) {
		world_at(w, w->now + SIM_SECOND, on_slurmd, i, 0);
		return;
	}
	i->slurmd_at = w->now;
	sim_ctld_register(w->ctld, i);
}

static void on_reclaim(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	bool notice = arg != 0;

	if (i->state != INST_RUNNING || !w->faults)
		return;
	i->excused = true;
	world_met(w, notice ? SIM_RECLAIM : SIM_ENDED, i->node, i->gen);
	if (!notice) {
		sim_cloud_end(w->cloud, i);
		return;
	}
	sim_cloud_reclaim(w->cloud, i, world_between(w, 5, 120) * SIM_SECOND);
}

static void on_running(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	int64_t boot = world_between(w, 2, 60) * SIM_SECOND;

	(void)arg;
	if (i->state != INST_PENDING)
		return;
	i->state = INST_RUNNING;
	if (world_fault(w, SIM_RECLAIM))
		world_at(w, w->now + world_between(w, 1, 400) * SIM_SECOND, on_reclaim, i, 1);
	else if (world_fault(w, SIM_ENDED))
		world_at(w, w->now + world_between(w, 1, 400) * SIM_SECOND, on_reclaim, i, 0);
	if (world_fault(w, SIM_NEVER_BOOTS)) {
		world_met(w, SIM_NEVER_BOOTS, i->node, i->gen);
		return;
	}
	if (world_fault(w, SIM_SLOW_BOOT)) {
		world_met(w, SIM_SLOW_BOOT, i->node, i->gen);
		boot = world_between(w, 60, 500) * SIM_SECOND;
	}
	if (w->set.bootstrap)
		sim_machine_boots(w, i, boot);
	else if (w->set.vouchers)
		sim_token_boots(w, i, boot);
	else
		world_at(w, w->now + boot, on_slurmd, i, 0);
}

static bool is_taken_addr(const struct sim_cloud *c, const struct inst *i)
{
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k] != i && strcmp(c->live[k]->addr, i->addr) == 0)
			return true;
	return false;
}

/* A new one, or the first that is free (F37). */
static void choose_addr(const struct sim_cloud *c, struct inst *i)
{
	unsigned n = c->w->set.reuse ? 1 : i->number;

	do {
		(void)snprintf(i->addr, sizeof(i->addr), "10.1.%u.%u", n >> 7 & 255, (n & 127) + 1);
		n++;
	} while (c->w->set.reuse && is_taken_addr(c, i));
}

static struct inst *add(struct sim_cloud *c, const char *node, uint64_t gen)
{
	struct inst *i = mem_zalloc(sizeof(*i));

	if (c->n == c->cap) {
		c->cap = c->cap == 0 ? 64 : 2 * c->cap;
		c->all = mem_realloc(c->all, c->cap * sizeof(struct inst *));
		c->live = mem_realloc(c->live, c->cap * sizeof(struct inst *));
	}
	c->all[c->n++] = i;
	c->live[c->nlive++] = i;
	i->number = (uint32_t)c->n;
	i->gen = gen;
	i->created = i->visible_at = c->w->now;
	(void)snprintf(i->node, sizeof(i->node), "%s", node);
	choose_addr(c, i);
	return i;
}

static struct inst *boot(struct sim_cloud *c, const struct create_want *want, const char *cluster)
{
	struct world *w = c->w;
	struct inst *i = add(c, want->node, want->gen);
	int64_t run = w->now + world_between(w, 1, 20) * SIM_SECOND;

	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", cluster);
	i->addr_at = run;
	if (world_fault(w, SIM_LATE_VISIBLE)) {
		world_met(w, SIM_LATE_VISIBLE, i->node, i->gen);
		i->visible_at = w->now + world_between(w, 0, w->set.settle_ms);
	}
	if (world_fault(w, SIM_NO_ADDRESS)) {
		world_met(w, SIM_NO_ADDRESS, i->node, i->gen);
		i->addr_at = run + world_between(w, 0, 60) * SIM_SECOND;
	}
	world_at(w, run, on_running, i, 0);
	w->totals->instances++;
	SIM_TRACE(w, "  cloud: i-%u made for %s/%llu", (unsigned)i->number, i->node,
		  (unsigned long long)i->gen);
	return i;
}

struct inst *sim_cloud_twin(struct sim_cloud *c, const struct inst *i)
{
	struct inst *twin = add(c, i->node, i->gen);

	memcpy(twin->cluster, i->cluster, sizeof(twin->cluster));
	twin->pool = i->pool;
	twin->state = INST_RUNNING;
	twin->lied = true;
	return twin;
}

/* Others live in the same account: with names like ours, and without any tag. */
static void add_foreign(struct sim_cloud *c)
{
	static const char *const clusters[] = {"some-other-cluster", ""};

	for (size_t k = 0; k < 2; k++) {
		struct inst *i = add(c, "c1", 1);

		(void)snprintf(i->cluster, sizeof(i->cluster), "%s", clusters[k]);
		i->pool = SIM_POOLS_MAX;
		i->state = INST_RUNNING;
	}
}

struct sim_cloud *sim_cloud_new(struct world *w)
{
	struct sim_cloud *c = mem_zalloc(sizeof(*c));

	c->w = w;
	add_foreign(c);
	sim_fabric_init(c);
	return c;
}

void sim_cloud_free(struct sim_cloud *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->all[i]->machine);
		free(c->all[i]);
	}
	free(c->all);
	free(c->live);
	free(c->tokens);
	free(c);
}

void sim_cloud_heal(struct sim_cloud *c)
{
	c->other_until = c->auth_until = c->away[0].until = c->away[1].until = 0;
	sim_place_heal(c->w);
	for (size_t k = 0; k < c->nlive; k++) {
		c->live[k]->odd = false;
		c->live[k]->denied_until = 0;
		if (c->live[k]->state == INST_STOPPING)
			world_at(c->w, c->w->now + 20 * SIM_SECOND, on_end, c->live[k], 0);
	}
}

/* --- create ----------------------------------------------------------------------------------- */

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

/* What is bought for a job is what it wants. */
static void check_market(struct world *w, const struct create_request *rq, const struct node *n)
{
	const char *wants = sim_ctld_constraint(w->ctld, n->job);

	if (!world_pool_of(w, n->name)->ladder)
		return; /* its only place is what slurmctld takes it for */
	if (wants != NULL && (strcmp(wants, "spot") == 0) != (strcmp(rq->market, "spot") == 0))
		world_fail(w, "%s is bought for job %u, which wants %s, as %s", n->name,
			   (unsigned)n->job, wants, rq->market);
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
		if (t == NULL && r != NULL && r->n.state == NODE_CREATING &&
		    r->born < c->w->life_began && !c->w->told)
			world_fail(c->w,
				   "I13: create of %s, wanted in an earlier life, before slurmctld "
				   "has spoken",
				   rq->wants[i].node);
		/* One in doubt may have been here before: it was not decided now. */
		if (t == NULL && (r == NULL || r->n.state != NODE_INDOUBT))
			sim_pool_check_create(c->w, rq->wants[i].node);
		if (t == NULL && r != NULL)
			check_market(c->w, rq, &r->n);
		if (t == NULL && sim_ctld_launch_is_stale(c->w->ctld, rq->wants[i].node))
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

bool sim_cloud_refused(const struct sim_cloud *c, const char *token, const char *node)
{
	const struct token *t = find_token(c, token);

	for (size_t i = 0; t != NULL && i < t->nrefused; i++)
		if (strcmp(t->refused[i], node) == 0)
			return true;
	return sim_fabric_refused(c, token);
}

/* Which of them cannot be had; whole groups where the provider promises that (F4, F8). */
static void refuse_some(struct sim_cloud *c, const struct create_request *rq, bool *refused)
{
	for (size_t i = 0; i < rq->n; i++)
		if (world_one_in(c->w, 2)) {
			refused[i] = true;
			world_met(c->w, SIM_PARTIAL, rq->wants[i].node, rq->wants[i].gen);
		}
	for (size_t i = 0; c->w->set.gangs && i < rq->n; i++)
		for (size_t k = 0; k < rq->n; k++)
			if (rq->wants[i].group != 0 && rq->wants[i].group == rq->wants[k].group &&
			    refused[k])
				refused[i] = true;
}

static struct inst *make(struct sim_cloud *c, const struct create_request *rq, size_t i,
			 const struct token *t)
{
	struct inst *in = boot(c, &rq->wants[i], rq->cluster);

	in->pool = (uint32_t)(world_pool_of(c->w, in->node) - c->w->set.pools);
	memcpy(in->fabric, rq->fabric, sizeof(in->fabric));
	memcpy(in->claim_id, rq->claim_id, sizeof(in->claim_id));
	memcpy(in->claim_secret, rq->claim_secret, sizeof(in->claim_secret));
	in->wrap_token = strtoull(rq->lines.token + strspn(rq->lines.token, "t-"), NULL, 10);
	in->single = world_fault(c->w, SIM_WRONG_NODE);
	in->wrong = in->single || sim_pool_is_wrong(c->w, in->pool);
	in->unknown = t->first_sent <= c->restored_at || is_taken(c, in);
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
	for (size_t i = 0; c->w->set.afresh && !c->w->set.gangs && i < rq->n; i++)
		if (t->made[i] == 0 && world_one_in(c->w, 2))
			t->made[i] = make(c, rq, i, t)->number;
}

void sim_cloud_create(struct sim_cloud *c, const struct create_request *rq, bool lie,
		      uint32_t *made)
{
	struct token *t = find_token(c, rq->token);
	bool refused[CLOUD_WANTS_MAX] = {false};

	if (c->w->set.tokens && t->effective && c->w->now - t->effective_at < c->w->set.token_ms) {
		say_again(c, rq, t);
		memcpy(made, t->made, rq->n * sizeof(*made));
		return;
	}
	if (!lie && world_fault(c->w, SIM_PARTIAL))
		refuse_some(c, rq, refused);
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
}

/* --- delete ----------------------------------------------------------------------------------- */

/* A provider that made two of one generation and lied about one: nobody can say by its list which
 * of them the job is on. */
static bool twin_of_a_lie(const struct sim_cloud *c, const struct inst *i)
{
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k]->lied && c->live[k]->gen == i->gen &&
		    strcmp(c->live[k]->node, i->node) == 0)
			return true;
	return false;
}

/* Is there another one of this node, lost: one of which burstd may have no row? */
static bool has_twin(const struct sim_cloud *c, const struct inst *i, bool lost)
{
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k] != i && c->live[k]->pool != SIM_POOLS_MAX &&
		    (c->live[k]->unknown || !lost) && strcmp(c->live[k]->node, i->node) == 0)
			return true;
	return false;
}

/* Once its journal is an older one, burstd may take the wrong one of two for the node's. */
static bool is_clear(const struct sim_cloud *c, const struct inst *i)
{
	if (sim_ctld_told(c->w->ctld, i))
		return true;
	return i->unknown ? i->known && !has_twin(c, i, false) : !has_twin(c, i, true);
}

/* I18: a node that works is taken away only for a reason.  What stops does not work any more. */
static void check_delete(struct sim_cloud *c, const struct inst *i)
{
	if (i->pool == SIM_POOLS_MAX) {
		world_fail(c->w, "I11: delete of a foreign instance, i-%u", (unsigned)i->number);
		return;
	}
	if (!i->excused && !i->lied && i->state < INST_STOPPING && !twin_of_a_lie(c, i) &&
	    is_clear(c, i) && sim_ctld_runs_job_on(c->w->ctld, i))
		world_fail(c->w, "I18: delete of %s/%llu, on which a job runs", i->node,
			   (unsigned long long)i->gen);
}

void sim_cloud_check_delete(const struct sim_cloud *c, const struct inst *i)
{
	if (!i->known && i->shown_life == c->w->life + 1 &&
	    c->w->now - i->shown_at < c->w->set.settle_ms)
		world_fail(c->w, "I10: delete of i-%u of %s, without a row, %d ms after a list",
			   (unsigned)i->number, i->node, (int)(c->w->now - i->shown_at));
}

static void stop(struct sim_cloud *c, struct inst *i)
{
	struct world *w = c->w;
	int64_t after = world_between(w, 0, 20) * SIM_SECOND;

	if (i->state == INST_STOPPING)
		return;
	i->state = INST_STOPPING;
	if (world_fault(w, SIM_STUCK_STOPPING)) {
		world_met(w, SIM_STUCK_STOPPING, i->node, i->gen);
		after = world_between(w, 2, 40) * SIM_MINUTE;
	}
	world_at(w, w->now + after, on_end, i, 0);
}

static bool denied(struct sim_cloud *c, struct inst *i)
{
	struct world *w = c->w;

	if (i->denied_until == 0 && world_fault(w, SIM_DELETE_DENIED))
		i->denied_until = w->now + world_between(w, 1, 1200) * SIM_SECOND;
	if (w->now >= i->denied_until)
		return false;
	world_met(w, SIM_DELETE_DENIED, i->node, i->gen);
	return true;
}

const char *sim_cloud_delete(struct sim_cloud *c, uint32_t number)
{
	struct inst *i = sim_cloud_find(c, number);
	struct world *w = c->w;

	if (i != NULL)
		check_delete(c, i);
	if (i == NULL || (i->state == INST_ENDED && w->now >= i->gone_at))
		return "not-found";
	if (i->state == INST_ENDED)
		return "ok";
	if (w->now < i->visible_at ||
	    (w->now < i->created + w->set.settle_ms && world_fault(w, SIM_DELETE_404))) {
		world_met(w, SIM_DELETE_404, i->node, i->gen);
		return "not-found";
	}
	if (denied(c, i))
		return i->number % 2 ? "denied" : "not-yet";
	i->accepted = true;
	if (world_fault(w, SIM_DELETE_IGNORED))
		world_met(w, SIM_DELETE_IGNORED, i->node, i->gen);
	else
		stop(c, i);
	return "ok";
}

/* --- list ------------------------------------------------------------------------------------- */

static void show_as(struct sim_cloud *c, struct str *out, const struct inst *i,
		    enum inst_state shown, bool tags)
{
	static const char *const words[] = {"\"pending\"", "\"running\"", "\"reclaiming\"",
					    "\"stopping\"", "\"ended\""};
	static const char *const odd_words[] = {
		"\"hibernating\"", "null",
		"\"a state with a name that is longer than any state should have\""};
	int64_t now = c->w->now;

	if (tags)
		str_addf(out, "{\"cluster\":\"%s\",", i->cluster);
	else
		str_adds(out, "{");
	str_addf(out,
		 "\"name\":\"%s\",\"generation\":%llu,\"id\":\"i-%u\",\"state\":%s,"
		 "\"type\":\"x\",\"region\":\"r\",\"zone\":\"z\",\"market\":\"on-demand\","
		 "\"address\":\"%s\",\"hostname\":\"%s\",\"created_ms\":%lld",
		 i->node, (unsigned long long)i->gen, (unsigned)i->number,
		 i->odd && inst_live(i) && shown == i->state ? odd_words[i->number % 3]
							     : words[shown],
		 now >= i->addr_at ? i->addr : "", i->node, (long long)i->created);
	if (i->state == INST_RECLAIMING)
		str_addf(out, ",\"reclaim_ms\":%lld", (long long)i->reclaim_at);
	if (shown == INST_ENDED)
		str_addf(out, ",\"ended_ms\":%lld", (long long)(inst_live(i) ? now : i->ended));
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
		sim_cloud_show(c, out, i, true);
	}
}

void sim_cloud_listed(struct sim_cloud *c, uint32_t run)
{
	c->w->listed = true;
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k]->run == run) {
			c->live[k]->may_hide = true;
			c->live[k]->addr_shown = c->live[k]->addr_run == run;
		}
	for (size_t k = 0; k < c->n; k++)
		if (c->all[k]->ended_run == run)
			c->all[k]->ended_life = c->w->life + 1;
}
