/* sim_thief.c - thieves: a user of the machine, who has read its user-data; somebody elsewhere who
 * has it; and somebody who knows only the claim's id. */
#include <stdio.h>
#include <string.h>

#include "core/claim.h"
#include "sim_boot.h"

enum { TRIES = 4, WRONG_MAX = 12 };

/* Whatever becomes of this create's machines is not burstd's fault. */
static void excuse(struct world *w, const struct inst *i)
{
	for (size_t k = 0; k < w->cloud->n; k++)
		if (strcmp(w->cloud->all[k]->claim_id, i->claim_id) == 0)
			w->cloud->all[k]->excused = true;
	i->machine->robbed = true;
}

static void on_again(struct world *w, void *ctx, uint64_t arg);

static void on_answer(struct world *w, struct sim_post *p, const struct sim_reply *r)
{
	unsigned status = r != NULL ? r->status : 503;

	if ((status == 202 || status == 503) && p->tries < TRIES)
		world_at(w, w->now + world_between(w, 1, 8) * SIM_SECOND, on_again, p->about,
			 (uint64_t)p->key << 8 | (p->tries + 1) << 1 |
				 (strcmp(p->address, p->about->addr) != 0));
}

/* arg: his key, how often he has tried, and whether he comes from elsewhere. */
static void on_again(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	bool elsewhere = (arg & 1) != 0;
	struct sim_post *p;

	if (!elsewhere && !sim_machine_runs(i))
		return;
	excuse(w, i);
	p = sim_door_new(i, SIM_CLAIM, on_answer);
	p->thief = true;
	p->key = p->shown = (uint32_t)(arg >> 8);
	p->tries = (unsigned)(arg >> 1 & 127);
	/* The machine's own request, which was caught: its key he has not. */
	if (p->key == i->machine->key)
		p->shown = world_one_in(w, 2) ? ++w->boot->last_key : 0;
	/* Of a machine of his own he is root, here he is not. */
	p->port = elsewhere ? CLAIM_PORT_MAX : CLAIM_PORT_MAX + 1;
	if (elsewhere)
		(void)snprintf(p->address, sizeof(p->address), "203.0.113.9");
	sim_door_claim(w, p, i->claim_secret, elsewhere ? 1 : i->number);
	sim_door_post(w, p);
}

/* He guesses, from anywhere: that ends no machine, and keeps none waiting. */
static void on_wrong(struct world *w, void *ctx, uint64_t n)
{
	struct inst *i = ctx;

	for (; n > 0; n--) {
		struct sim_post *p = sim_door_new(i, SIM_CLAIM, on_answer);

		p->thief = true;
		p->key = p->shown = ++w->boot->last_key;
		p->tries = TRIES;
		(void)snprintf(p->address, sizeof(p->address), "203.0.113.9");
		sim_door_claim(w, p, "0000000000000000", 1);
		sim_door_post(w, p);
	}
}

/* He knows the id alone: that ends nothing. */
static void on_noise(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	struct sim_post *p = sim_door_new(i, SIM_RAISE_ALARM, on_answer);

	(void)arg;
	p->thief = true;
	p->tries = TRIES;
	(void)snprintf(p->address, sizeof(p->address), "203.0.113.9");
	(void)snprintf(p->body, sizeof(p->body),
		       "{\"claim_id\":\"%s\",\"claim_secret\":\"no\",\"reason\":\"noise\"}",
		       i->claim_id);
	sim_door_post(w, p);
}

static int64_t soon(struct world *w)
{
	return w->now + world_between(w, 0, world_one_in(w, 2) ? 5 : 90) * SIM_SECOND;
}

void sim_thief_on(struct world *w, struct inst *i)
{
	world_at(w, soon(w), on_again, i, (uint64_t)(++w->boot->last_key) << 8);
}

void sim_thief_comes(struct world *w, struct inst *i)
{
	int64_t at = soon(w);
	uint64_t key = world_one_in(w, 4) ? i->machine->key : ++w->boot->last_key;

	w->totals->met[SIM_THIEF][NODE_NSTATES]++;
	SIM_TRACE(w, "  fault: %s (%s, i-%u)", sim_faults[SIM_THIEF].name, i->node,
		  (unsigned)i->number);
	switch (world_below(w, 5)) {
	case 0: /* with a key of his own */
		sim_thief_on(w, i);
		break;
	case 1: /* with a copy of the machine's own request */
		world_at(w, at, on_again, i, (uint64_t)i->machine->key << 8);
		break;
	case 2: /* from elsewhere: with a copy, or a request of his */
		world_at(w, at, on_again, i, key << 8 | 1);
		break;
	case 3:
		world_at(w, at, on_wrong, i, 1 + world_below(w, WRONG_MAX));
		break;
	default:
		world_at(w, at, on_noise, i, 0);
		break;
	}
}
