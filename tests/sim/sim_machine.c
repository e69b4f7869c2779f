/* sim_machine.c - a machine that boots: stage0 claims, node-init takes the keys and confirms them,
 * slurmd runs, and burst-agent says every minute or two that it lives.  If a step fails the machine
 * ends itself, as real ones do. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/claim.h"
#include "sim_rotate.h"

enum {
	CONFIRM_MS = 2 * SIM_MINUTE,  /* node-init has patience */
	DEADMAN_MS = 10 * SIM_MINUTE, /* burst-agent likewise */
	READY_TRIES = 3,
};

bool sim_machine_runs(const struct inst *i)
{
	return i->state == INST_RUNNING || i->state == INST_RECLAIMING;
}

static void met(struct world *w, enum sim_fault f, const struct inst *i)
{
	w->totals->met[f][NODE_NSTATES]++;
	SIM_TRACE(w, "  fault: %s (%s, i-%u)", sim_faults[f].name, i->node, (unsigned)i->number);
}

/* --- it ends itself --------------------------------------------------------------------------- */

static void on_off(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;

	(void)arg;
	i->excused = true;
	if (sim_machine_runs(i))
		sim_cloud_stop(w->cloud, i);
}

void sim_machine_off(struct world *w, struct inst *i, const char *why)
{
	SIM_TRACE(w, "  machine i-%u (%s) ends itself: %s", (unsigned)i->number, i->node, why);
	i->excused = true;
	world_at(w, w->now + world_between(w, 1, 5) * SIM_SECOND, on_off, i, 0);
}

static void on_told(struct world *w, struct sim_post *p, const struct sim_reply *r)
{
	(void)w;
	(void)p;
	(void)r;
}

/* By the secret of its claim. */
static void raise_alarm(struct world *w, struct inst *i, const char *reason)
{
	struct sim_post *p = sim_door_new(i, SIM_RAISE_ALARM, on_told);

	i->excused = i->machine->robbed = true;
	p->key = i->machine->key;
	(void)snprintf(p->body, sizeof(p->body),
		       "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"reason\":\"%s\"}",
		       i->claim_id, i->claim_secret, reason);
	sim_door_post(w, p);
	sim_machine_off(w, i, reason);
}

/* --- with its certificate --------------------------------------------------------------------- */

static struct sim_post *certified(struct inst *i, enum sim_verb verb,
				  void (*fn)(struct world *w, struct sim_post *p,
					     const struct sim_reply *r))
{
	const struct sim_machine *m = i->machine;
	struct sim_post *p = sim_door_new(i, verb, fn);

	p->key = m->key;
	p->gen = m->gen;
	memcpy(p->node, m->node, sizeof(p->node));
	return p;
}

static void say(struct world *w, struct sim_post *p, const char *node, const char *more)
{
	(void)snprintf(p->body, sizeof(p->body),
		       "{\"v\":1,\"node\":\"%s\",\"generation\":%" PRIu64
		       ",\"key_version\":\"%" PRId64 "\"%s}",
		       node, p->gen, p->about->machine->version, more);
	sim_door_post(w, p);
}

static void fail_step(struct world *w, struct inst *i, const char *why)
{
	i->excused = true;
	say(w, certified(i, SIM_REPORT_FAILED, on_told), i->machine->node,
	    ",\"step\":\"gpu\",\"why\":\"7 GPUs, 8 expected\"");
	sim_machine_off(w, i, why);
}

/* --- its agent -------------------------------------------------------------------------------- */

static void on_beat(struct world *w, void *ctx, uint64_t arg);

static void on_heard(struct world *w, struct sim_post *p, const struct sim_reply *r)
{
	static const char name[] = "\"key_version\":\"";

	if (r == NULL || r->status != 200)
		return;
	p->about->machine->heard = w->now;
	p->about->machine->told = strtoll(strstr(p->body, name) + strlen(name), NULL, 10);
	if (w->set.rotates && sim_machine_runs(p->about))
		sim_follow_told(w, p->about, r);
}

/* Every 30 s; less often where it does not matter, for nobody has the time to look at so many. */
static int64_t beats_in(struct world *w)
{
	bool matters = w->set.chance[SIM_RESTORED] != 0 || sim_rotate_runs(w);

	return world_between(w, 20, matters ? 40 : 150) * SIM_SECOND;
}

/* It says that it is another node: an honest one never does. */
static void lie(struct world *w, struct inst *i)
{
	struct sim_post *p = certified(i, SIM_HEARTBEAT, on_told);
	const struct inst *other =
		sim_cloud_find(w->cloud, 1 + world_below(w, (uint32_t)w->cloud->n));

	p->foreign = strcmp(other->node, i->node) != 0;
	met(w, SIM_MISUSE, i);
	say(w, p, other->node, "");
}

static void on_beat(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;

	(void)arg;
	if (!sim_machine_runs(i))
		return;
	if (w->now - i->machine->heard > DEADMAN_MS) {
		sim_machine_off(w, i, "burstd is silent");
		return;
	}
	say(w, certified(i, SIM_HEARTBEAT, on_heard), i->machine->node, "");
	if (!w->set.rotates && world_one_in(w, 8))
		sim_door_post(w, certified(i, SIM_KEYS_AGAIN, on_told));
	if (world_fault(w, SIM_MISUSE))
		lie(w, i);
	world_at(w, w->now + beats_in(w), on_beat, i, 0);
}

void sim_machine_notice(struct world *w, struct inst *i)
{
	char text[160];

	if (i->machine == NULL || !i->machine->up)
		return;
	(void)snprintf(text, sizeof(text),
		       ",\"type\":\"preempt\",\"id\":\"r%u\",\"deadline\":%" PRId64,
		       (unsigned)i->number, i->reclaim_at / 1000);
	say(w, certified(i, SIM_EVENT, on_told), i->machine->node, text);
}

/* --- the end of node-init --------------------------------------------------------------------- */

static void report_ready(struct world *w, struct inst *i, unsigned tries);

static void on_ready(struct world *w, struct sim_post *p, const struct sim_reply *r)
{
	struct inst *i = p->about;

	if (!sim_machine_runs(i))
		return;
	if (r == NULL && p->tries < READY_TRIES)
		report_ready(w, i, p->tries + 1);
	else
		sim_cloud_slurmd(w, i);
}

static void report_ready(struct world *w, struct inst *i, unsigned tries)
{
	struct sim_post *p = certified(i, SIM_REPORT_READY, on_ready);

	p->tries = tries;
	say(w, p, i->machine->node, ",\"total_ms\":5000,\"steps\":[]");
}

static void on_steps(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;

	(void)arg;
	if (!sim_machine_runs(i))
		return;
	if (world_fault(w, SIM_STEP_FAILS)) {
		met(w, SIM_STEP_FAILS, i);
		fail_step(w, i, "a step failed");
		return;
	}
	i->machine->up = true;
	i->machine->heard = w->now;
	report_ready(w, i, 0);
	world_at(w, w->now + world_between(w, 5, 60) * SIM_SECOND, on_beat, i, 0);
}

/* --- confirm ---------------------------------------------------------------------------------- */

static void on_confirm(struct world *w, void *ctx, uint64_t arg);

static void on_confirmed(struct world *w, struct sim_post *p, const struct sim_reply *r)
{
	struct inst *i = p->about;
	struct sim_machine *m = i->machine;
	unsigned status = r != NULL ? r->status : 503;

	if (!sim_machine_runs(i))
		return;
	if (status == 200)
		world_at(w, w->now + world_between(w, 1, 4) * SIM_SECOND, on_steps, i, 0);
	else if (status == 503 && w->now < m->until)
		world_at(w, w->now + 5 * SIM_SECOND, on_confirm, i, 0);
	else if (status == 401 && !m->again) {
		m->again = true;
		world_at(w, w->now + SIM_SECOND, on_confirm, i, 0);
	} else {
		fail_step(w, i, "its keys are not confirmed");
	}
}

/* Who has the key makes a credential; each is good once. */
static void on_confirm(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	struct sim_post *p;
	bool good;

	(void)arg;
	if (!sim_machine_runs(i))
		return;
	if (world_fault(w, SIM_EARLY)) {
		met(w, SIM_EARLY, i);
		say(w, certified(i, world_one_in(w, 2) ? SIM_REPORT_READY : SIM_HEARTBEAT, on_told),
		    i->machine->node, "");
	}
	p = certified(i, SIM_CONFIRM, on_confirmed);
	p->forged = world_fault(w, SIM_MUNGE_WRONG);
	if (p->forged)
		met(w, SIM_MUNGE_WRONG, i);
	good = !p->forged && sim_rotate_speaks(w, i->machine);
	(void)snprintf(p->cred, sizeof(p->cred), "MUNGE MUNGE:%s:%u:", good ? "good" : "bad",
		       (unsigned)world_below(w, 1000000000));
	say(w, p, i->machine->node, "");
}

/* --- the keys --------------------------------------------------------------------------------- */

static void on_unwrap(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	struct sim_machine *m = i->machine;
	int64_t version = m->version;

	(void)arg;
	if (!sim_machine_runs(i))
		return;
	if (m->token != 0)
		version = sim_store_unwrap(w, m->token, i->number);
	if (version < 0) {
		raise_alarm(w, i, "unwrap_failed");
	} else if (version == 0 && w->now < m->until) {
		world_at(w, w->now + 5 * SIM_SECOND, on_unwrap, i, 0);
	} else if (version == 0 || world_fault(w, SIM_STEP_FAILS)) {
		met(w, SIM_STEP_FAILS, i);
		fail_step(w, i, "a step failed");
	} else if (world_fault(w, SIM_ALARM)) {
		met(w, SIM_ALARM, i);
		raise_alarm(w, i, "creation_path");
	} else {
		sim_follow_first(w, m, version);
		m->until = w->now + CONFIRM_MS;
		world_at(w, w->now + world_between(w, 500, 4000), on_confirm, i, 0);
	}
}

static void take_keys(struct world *w, struct inst *i, const struct sim_reply *r)
{
	struct sim_machine *m = i->machine;

	if (!r->keys || strcmp(r->node, i->node) != 0 || r->gen != i->gen)
		world_fail(w, "I31: i-%u of %s/%" PRIu64 " is told that it is %s/%" PRIu64,
			   (unsigned)i->number, i->node, i->gen, r->node, r->gen);
	memcpy(m->node, r->node, sizeof(m->node));
	m->gen = r->gen;
	m->token = r->token;
	m->version = r->version;
	m->until = w->now + CONFIRM_MS;
	world_at(w, w->now + world_between(w, 500, 4000), on_unwrap, i, 0);
}

/* --- the claim -------------------------------------------------------------------------------- */

static void on_claim(struct world *w, void *ctx, uint64_t arg);

static void on_claimed(struct world *w, struct sim_post *p, const struct sim_reply *r)
{
	struct inst *i = p->about;
	unsigned status = r != NULL ? r->status : 503;

	if (!sim_machine_runs(i))
		return;
	switch (status) {
	case 200:
		take_keys(w, i, r);
		break;
	case 202:
	case 503:
		world_at(w, w->now + world_between(w, 1, 10) * SIM_SECOND, on_claim, i, 0);
		break;
	case 409:
		raise_alarm(w, i, "claim_used");
		break;
	case 401:
	case 403:
	case 410:
		sim_machine_off(w, i, "its claim is refused");
		break;
	default:
		world_fail(w, "I31: a claim is answered %u", status);
		break;
	}
}

static void on_claim(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	struct sim_post *p;

	(void)arg;
	if (!sim_machine_runs(i))
		return;
	if (w->now >= i->machine->until) {
		sim_machine_off(w, i, "out of time");
		return;
	}
	p = sim_door_new(i, SIM_CLAIM, on_claimed);
	p->key = p->shown = i->machine->key;
	p->port = (uint16_t)world_between(w, CLAIM_PORT_MIN, CLAIM_PORT_MAX);
	sim_door_claim(w, p, i->claim_secret, i->number);
	sim_door_post(w, p);
}

static void on_slurmd(struct world *w, void *ctx, uint64_t arg)
{
	(void)arg;
	sim_cloud_slurmd(w, ctx);
}

void sim_machine_boots(struct world *w, struct inst *i, int64_t ms)
{
	struct sim_machine *m = mem_zalloc(sizeof(*m));

	i->machine = m;
	m->key = ++w->boot->last_key;
	m->until = w->now + (w->set.claim_ms != 0 ? w->set.claim_ms : w->set.boot_ms);
	if (world_fault(w, SIM_THIEF))
		sim_thief_comes(w, i);
	if (world_fault(w, SIM_NEVER_CLAIMS)) {
		met(w, SIM_NEVER_CLAIMS, i);
		m->silent = true;
		if (world_one_in(w, 2)) { /* the keys are in its image, and that is not enough */
			i->excused = true;
			world_at(w, w->now + ms, on_slurmd, i, 0);
			if (world_one_in(w, 2))
				sim_thief_on(w, i);
		}
		return;
	}
	world_at(w, w->now + ms / 2, on_claim, i, 0);
}
