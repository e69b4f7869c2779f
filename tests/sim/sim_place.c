/* sim_place.c - places: what is sold out there, where creates fail, what burstd was told of it, and
 * the check that it leaves them alone for a while. */
#include <string.h>

#include "buy/buy_api.h"
#include "core/cooldown.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "world.h"

enum {
	/* As set in sim_life.c: for so long at least nothing more is bought where there was
	   nothing. */
	COOLS_MS = SIM_COOLDOWN_MS,
	/* A quota: 15 times that, doubled to 240. */
	QUOTA_MS = 15 * COOLS_MS,
	QUOTA_MAX_MS = 240 * COOLS_MS,
	CALM_MS = 9 * SIM_MINUTE,
	/* Where purchases fail: doubled to 15 times that, and forgotten. */
	FAILS_MAX_MS = 15 * COOLS_MS,
	FORGOTTEN_MS = 60 * SIM_MINUTE,
	RUN_MS = 10 * SIM_MINUTE, /* failures that are further apart are not one trouble */
	TURN_MS = 5 * SIM_SECOND, /* from an answer to the turn in which it is looked at */
};

/* When burstd may try again where it was told so, that often; each time after twice as long. */
static int64_t cool_at(const struct sim_cooling *c, enum sim_cool why)
{
	int64_t ms = why == COOL_QUOTA ? QUOTA_MS : COOLS_MS;
	const int64_t most = why == COOL_QUOTA ? QUOTA_MAX_MS : FAILS_MAX_MS;

	for (unsigned i = 1; i < c->times && ms < most; i++)
		ms *= 2;
	return c->since + (ms < most ? ms : most);
}

struct sim_place *sim_place_of(struct world *w, const struct create_request *rq)
{
	struct sim_place *p = w->places;

	while (p->type[0] != '\0' &&
	       (strcmp(p->type, rq->type) != 0 || strcmp(p->region, rq->region) != 0 ||
		strcmp(p->market, rq->market) != 0))
		p++;
	if (p == &w->places[SIM_PLACES_MAX - 1]) {
		world_fail(w, "a create at a place that no pool has: %s in %s, %s", rq->type,
			   rq->region, rq->market);
		p = w->places;
	}
	memcpy(p->type, rq->type, sizeof(p->type));
	memcpy(p->region, rq->region, sizeof(p->region));
	memcpy(p->market, rq->market, sizeof(p->market));
	return p;
}

bool sim_place_is_out(struct world *w, const struct create_request *rq)
{
	return w->now < sim_place_of(w, rq)->out_until;
}

void sim_place_runs_out(struct world *w, const struct create_request *rq)
{
	sim_place_of(w, rq)->out_until = w->now + world_between(w, 0, 120) * SIM_SECOND;
}

/* What was on its way when a refusal came back belongs to that one; of what is repeated that may be
 * so, too.  What was on its way when a repeated one was refused, and is refused after it, belongs
 * to that refusal if burstd counted it, and the pause has begun with it. */
void sim_place_told(struct world *w, const struct create_request *rq, int64_t sent_at,
		    enum sim_cool why)
{
	struct sim_cooling *c = &sim_place_of(w, rq)->cooling[why];

	if (c->life != w->life || w->now - cool_at(c, why) > FORGOTTEN_MS)
		c->times = 0;
	/* An operation may take a minute: others that began later have been sold there since. */
	if (c->sold_at != 0 && c->sold_life == w->life && sent_at < c->sold_at)
		return;
	if (c->times > 0 && sent_at <= c->told_at)
		return;
	if (c->times > 0 && !sim_cloud_is_first(w->cloud, rq->token, sent_at)) {
		c->maybe_at = w->now;
		c->maybe_life = w->life;
		return;
	}
	c->since = c->times > 0 && c->maybe_life == w->life && sent_at <= c->maybe_at ? c->maybe_at
										      : w->now;
	c->times++;
	c->told_at = w->now;
	c->turn = w->turn;
	c->life = w->life;
}

/* What was sent before a refusal came back says nothing about what has changed since. */
void sim_place_sold(struct world *w, const struct create_request *rq, int64_t sent_at)
{
	for (int why = 0; why < SIM_COOLS; why++) {
		struct sim_cooling *c = &sim_place_of(w, rq)->cooling[why];

		if (sent_at > c->told_at)
			*c = (struct sim_cooling){.sold_at = sent_at, .sold_life = w->life};
	}
}

/* --- purchases fail, and all else is answered (F26; ADR 23) --------------------------------------
 *
 * The judge counts only what burstd must count, too, so that it takes no place for closed that may
 * be open: failures for as long as `unreachable_after`, a list among them, and no other answer. */

/* By dice of its own, so that the other worlds stay as they are without it. */
void sim_place_choose(struct world *w)
{
	if (w->seed % 7 == 6)
		w->set.chance[SIM_PLACE_FAILS] = sim_faults[SIM_PLACE_FAILS].per_mille;
	if (w->seed % 7 == 3)
		w->set.chance[SIM_STILLBORN] = sim_faults[SIM_STILLBORN].per_mille;
}

enum sim_fails sim_place_fails(struct world *w, const struct create_request *rq, bool twin)
{
	struct sim_place *p = sim_place_of(w, rq);

	p->twin = twin;
	if (w->next_fails != FAILS_NOT) {
		p->fails = w->next_fails;
		p->fails_until = INT64_MAX;
		w->next_fails = FAILS_NOT;
	} else if (w->now >= p->fails_until && world_fault(w, SIM_PLACE_FAILS)) {
		p->fails = (enum sim_fails)world_between(w, FAILS_REFUSES, FAILS_SAYS_SO);
		p->fails_until = w->now + world_between(w, 60, 1200) * SIM_SECOND;
		SIM_TRACE(w, "*** purchases of %s in %s, %s, fail", p->type, p->region, p->market);
	}
	for (size_t i = 0; w->now < p->fails_until && i < rq->n; i++)
		world_met(w, SIM_PLACE_FAILS, rq->wants[i].node, rq->wants[i].gen);
	return w->now < p->fails_until ? p->fails : FAILS_NOT;
}

void sim_place_heal(struct world *w)
{
	for (struct sim_place *p = w->places; p < w->places + SIM_PLACES_MAX; p++)
		p->fails_until = p->makes_until = 0;
}

/* Where capacity is found to be missing only while a machine is made, the next one fares no better:
 * it is so of one, or for minutes. */
enum sim_makes sim_place_makes(struct world *w, const struct create_request *rq)
{
	struct sim_place *p = sim_place_of(w, rq);
	enum sim_makes how = p->makes;

	if (w->next_makes != MAKES_WELL) {
		how = p->makes = w->next_makes;
		p->makes_until = INT64_MAX;
		w->next_makes = MAKES_WELL;
	} else if (w->now >= p->makes_until) {
		if (!world_fault(w, SIM_STILLBORN))
			return MAKES_WELL;
		how = p->makes = (enum sim_makes)world_between(w, MAKES_AN_END, MAKES_A_FAILURE);
		if (world_one_in(w, 2))
			p->makes_until = w->now + world_between(w, 60, 900) * SIM_SECOND;
	}
	return how;
}

static void begin(struct world *w, struct sim_failed *f)
{
	*f = (struct sim_failed){.life = w->life, .since = w->now, .last = w->now};
}

static bool is_closed(const struct world *w, const struct sim_failed *f)
{
	return f->times > 0 && f->life == w->life && w->now - f->until <= FORGOTTEN_MS;
}

/* What is closed before all may know of it is tried again at any time; from then on it is known
 * when.
 */
static void shut(struct world *w, struct sim_failed *f)
{
	int64_t ms = COOLS_MS;

	for (uint32_t i = 0; i < f->times && ms < FAILS_MAX_MS; i++)
		ms *= 2;
	f->until = w->now + (f->times == 0 ? 0 : ms < FAILS_MAX_MS ? ms : FAILS_MAX_MS);
	f->probe_at = 0;
	w->totals->place_fails += f->times++ == 0;
}

static void failed(struct world *w, struct sim_place *p, int64_t sent_at)
{
	struct sim_failed *f = &p->failed;
	bool closed = is_closed(w, f);

	if (closed && sent_at != f->probe_at)
		return; /* it was on its way, or is repeated */
	if (!closed &&
	    (f->since == 0 || f->life != w->life || f->times > 0 || w->now - f->last >= RUN_MS))
		begin(w, f);
	f->last = w->now;
	if (closed || (w->now - f->since >= w->set.unreachable_ms + TURN_MS &&
		       w->listed_at[p->twin] > f->since + TURN_MS))
		shut(w, f);
}

void sim_place_answered(struct world *w, const struct create_request *rq, long status,
			int64_t sent_at)
{
	bool fails = status == 0 || status == 500;

	if (rq == NULL && (fails || status == 200))
		return;
	if (rq != NULL && fails)
		failed(w, sim_place_of(w, rq), sent_at);
	else if (rq != NULL && status == 429 && sim_place_of(w, rq)->failed.probe_at == sent_at)
		sim_place_of(w, rq)->failed.probe_at = 0;
	for (struct sim_place *p = w->places; !fails && status != 429 && p->type[0] != '\0'; p++)
		if (rq == NULL || p == sim_place_of(w, rq))
			p->failed = (struct sim_failed){0};
}

/* Without a list for so long the provider may have been away: what failed meanwhile failed as all
 * else did. */
void sim_place_listed(struct world *w, bool twin)
{
	bool away = w->now - w->listed_at[twin] >= w->set.unreachable_ms;

	for (struct sim_place *p = w->places; away && p->type[0] != '\0'; p++)
		if (p->twin == twin && !is_closed(w, &p->failed))
			p->failed = (struct sim_failed){0};
	w->listed_at[twin] = w->now;
}

/* A create that burstd has just decided on. */
static void check_failing(struct world *w, struct sim_place *p, const struct create_request *rq)
{
	struct sim_failed *f = &p->failed;

	if (!is_closed(w, f))
		return;
	if (w->now < f->until)
		world_fail(w,
			   "F26: a create of %s (%s in %s, %s), where they fail, %d ms too early",
			   rq->wants[0].node, rq->type, rq->region, rq->market,
			   (int)(f->until - w->now));
	if (rq->fabric[0] != '\0')
		return; /* decided on when that was made */
	w->totals->place_probes++;
	/* What goes at once is one purchase, however slow the disk is. */
	if (f->probe_at != 0 && (f->probe_at == w->now || f->probe_turn == w->turn))
		return;
	if (f->probe_at != 0)
		world_fail(w, "F26: a create of %s (%s in %s, %s), where another is tried first",
			   rq->wants[0].node, rq->type, rq->region, rq->market);
	f->probe_at = w->now;
	f->probe_turn = w->turn;
}

/* When burstd decided on it: it may have waited for a slow disk since. */
static int64_t decided_at(const struct world *w, const struct create_request *rq)
{
	const struct sim_row *r = sim_journal_row(w->journal, rq->wants[0].node, 0);

	return r != NULL && r->n.state == NODE_CREATING ? r->n.sent_ms - w->skew : w->now;
}

/* An answer waits for the turn that it comes in, and for the commit before it: seconds, where the
 * disk is slow (F55). */
static bool is_known(const struct world *w, const struct sim_cooling *c)
{
	return w->slow_until < c->told_at || w->idle_turn > c->turn;
}

/* All that wait for one place learn of it by one refused call, not each by its own; and one that is
 * refused time and again is left alone for longer each time.  Then one purchase tries it. */
static void check_cooling(struct world *w, struct sim_place *p, const struct create_request *rq,
			  enum sim_cool why)
{
	struct sim_cooling *c = &p->cooling[why];

	if (c->life != w->life || c->times == 0 || decided_at(w, rq) <= c->told_at ||
	    !is_known(w, c) || w->set.chance[SIM_CLOCK_JUMP] != 0)
		return;
	if (w->now < cool_at(c, why))
		world_fail(w, "F8: a create of %s (%s in %s, %s) %d ms after refusal %u there",
			   rq->wants[0].node, rq->type, rq->region, rq->market,
			   (int)(w->now - c->told_at), c->times);
}

void sim_place_check(struct world *w, const struct create_request *rq)
{
	struct sim_place *p = sim_place_of(w, rq);

	for (int why = 0; why < SIM_COOLS; why++)
		check_cooling(w, p, rq, (enum sim_cool)why);
	check_failing(w, p, rq);
}

int64_t sim_place_calm_at(const struct world *w)
{
	int64_t at = w->now;

	for (const struct sim_place *p = w->places; p->type[0] != '\0'; p++)
		for (int why = 0; why < SIM_COOLS; why++)
			if (p->cooling[why].told_at + CALM_MS > at)
				at = p->cooling[why].told_at + CALM_MS;
	return at;
}

static void see_closed(void *ctx, const struct cooldown_row *row)
{
	bool *any = ctx;

	*any = *any || row->view.state >= COOLDOWN_CAPACITY;
}

bool sim_place_cools(const struct world *w)
{
	bool any = false;

	if (w->engine != NULL)
		engine_cooldowns(w->engine, see_closed, &any);
	return any;
}
