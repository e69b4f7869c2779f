#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/fleet.h"
#include "model.h"

/* The way back to order, step by step: what is on the wire first, then what lists and slurmctld
 * say, then what burstd wants. */
enum heal {
	NEVER,
	HEAL_ARRIVES,
	HEAL_ANSWER,
	HEAL_CLOUD,
	HEAL_REPEAT,
	HEAL_LIST,
	HEAL_SLURM,
	HEAL_TIMER,
	HEAL_SEND,
	HEAL_BUY,
	HEAL_REPORT,
};

static const struct when at_once = {0};
static const struct when later = {.due = true, .counts = true, .apart = true};

/* --- the real rules of the fleet ---------------------------------------------------------------
 */

struct chain { /* the rows of one name, as fleet.c sees them */
	struct fleet_name name;
	struct fleet_node node[GENS];
};

static void chain_up(struct chain *c, const struct side *s)
{
	*c = (struct chain){.name = {.newest = NULL}};
	for (unsigned i = 0; i < GENS; i++) {
		if (!life_has_row(&s->g[i]))
			continue;
		c->node[i].n = life_row(&s->g[i], i, &at_once);
		c->node[i].name = &c->name;
		c->node[i].older = c->name.newest;
		c->name.newest = &c->node[i];
	}
}

int side_live(const struct side *s)
{
	struct chain c;
	const struct fleet_node *live;

	chain_up(&c, s);
	live = fleet_live(&c.name);
	return live != NULL ? (int)(live - c.node) : -1;
}

bool side_clear(const struct side *s, unsigned gen, const struct rules *r)
{
	struct chain c;

	chain_up(&c, s);
	return fleet_clear(&c.node[gen], r->kind != NAMES);
}

/* --- moves -------------------------------------------------------------------------------------
 */

struct ctx { /* what the functions below share */
	const struct side *s;
	const struct rules *r;
	struct moves *out;
};

static void put(struct ctx *c, const struct side *to, unsigned gen, enum move_kind kind,
		enum heal heal, const char *what)
{
	assert(c->out->n < MOVES_MAX);
	c->out->v[c->out->n++] =
		(struct move){.to = *to, .kind = kind, .gen = gen, .heal = heal, .what = what};
}

static void violate(struct ctx *c, const struct side *to, unsigned gen, const char *what)
{
	put(c, to, gen, VIOLATION, NEVER, what);
}

struct post { /* an event for one row */
	enum node_event_type type;
	enum provider_state shown;
	struct when when;
	bool joint;
};

/* Step the row, and put the move; env is the side with what else the move changes. */
static void post(struct ctx *c, struct side env, unsigned gen, struct post p, enum move_kind kind,
		 enum heal heal, const char *what)
{
	const char *wrong = life_step(&env.g[gen], gen, c->r, p.type, p.shown, &p.when, p.joint);

	if (wrong == NULL)
		wrong = side_check(&env, c->r);
	put(c, &env, gen, kind, heal, what);
	if (wrong != NULL)
		violate(c, &env, gen, wrong);
}

/* --- a create ----------------------------------------------------------------------------------
 */

/* The cloud makes the instance: now, or after burstd has given up waiting. */
static void move_arrive(struct ctx *c, unsigned gen)
{
	struct side to = *c->s;
	struct life *l = &to.g[gen];
	const struct life *other = &to.g[1 - gen];
	bool accepted = other->instance == STOPPING || other->instance == DEAF;

	if (l->instance != LATE && !(l->creating && l->instance == NONE))
		return;
	l->made = l->instance == NONE; /* else an earlier one did, or that one: it says nothing */
	l->instance = LIVE;
	put(c, &to, gen, ALONE, c->s->g[gen].creating ? HEAL_ARRIVES : NEVER,
	    "the cloud makes the instance");
	if (c->r->liar)
		return;
	if (other->instance == LIVE || other->instance == RECLAIMING ||
	    (accepted && c->r->kind == NAMES))
		violate(c, &to, gen, "I3: two instances of one node");
	if (l->state == NODE_GONE || !life_has_row(l))
		violate(c, &to, gen, "I10: an instance that no row stands for");
}

static void move_late_never(struct ctx *c, unsigned gen)
{
	struct side to = *c->s;

	if (to.g[gen].instance != LATE || to.g[gen].creating)
		return;
	to.g[gen].instance = NONE;
	put(c, &to, gen, ALONE, HEAL_ARRIVES, "what was late never comes");
}

static void answer(struct ctx *c, unsigned gen, struct side env, struct post p, const char *what,
		   enum heal heal)
{
	env.g[gen].creating = env.g[gen].made = false;
	post(c, env, gen, p, c->s->g[gen].joint ? ANSWER : ALONE, heal, what);
}

/* The cloud has made it, by this create or an earlier one with its token. */
static void answers_made(struct ctx *c, unsigned gen)
{
	static const enum provider_state as[] = {
		[LIVE] = PROVIDER_RUNNING,      [RECLAIMING] = PROVIDER_RECLAIMING,
		[STOPPING] = PROVIDER_STOPPING, [DEAF] = PROVIDER_STOPPING,
		[ENDED] = PROVIDER_ENDED,       [FORGOTTEN] = PROVIDER_ENDED};
	const struct life *l = &c->s->g[gen];
	struct post p = {.type = NODE_EV_CREATED, .shown = as[l->instance]};

	answer(c, gen, *c->s, p, "created", HEAL_ANSWER);
	if (p.shown != PROVIDER_RUNNING) {
		p.shown = PROVIDER_RUNNING;
		answer(c, gen, *c->s, p, "created (as it was)", NEVER);
	}
}

static void move_answer(struct ctx *c, unsigned gen)
{
	const struct life *l = &c->s->g[gen];
	bool made = l->instance != NONE && l->instance != LATE, again = l->state == NODE_INDOUBT;
	struct side late = *c->s;

	if (!l->creating)
		return;
	if (made)
		answers_made(c, gen);
	answer(c, gen, *c->s, (struct post){.type = NODE_EV_LOST}, "the answer is lost", NEVER);
	if (!made) {
		late.g[gen].instance = LATE;
		answer(c, gen, late, (struct post){.type = NODE_EV_LOST},
		       "no answer; the create is on its way", NEVER);
	}
	if (l->made || (made && !again))
		return; /* a refusal is believed, so it must be true (ADR 7) */
	answer(c, gen, *c->s, (struct post){.type = NODE_EV_REFUSED}, "refused", NEVER);
	answer(c, gen, *c->s, (struct post){.type = NODE_EV_NOTSENT}, "not sent", NEVER);
	answer(c, gen, *c->s, (struct post){.type = NODE_EV_THROTTLED}, "throttled", NEVER);
	if (c->r->liar && !again)
		answer(c, gen, late, (struct post){.type = NODE_EV_REFUSED},
		       "refused, though it will happen", NEVER);
}

/* The first create of a row. */
static void move_send(struct ctx *c, unsigned gen)
{
	const struct life *l = &c->s->g[gen], *other = &c->s->g[1 - gen];
	struct side to = *c->s;
	struct post p = {.type = NODE_EV_START};

	if (l->state != NODE_WANTED || life_want(l, gen, c->r, false) != NODE_WANT_CREATE ||
	    !side_clear(c->s, gen, c->r))
		return;
	if (l->instance != NONE || l->creating || other->creating || other->instance == LATE)
		if (!c->r->liar)
			violate(c, &to, gen, "I7: a create while another one may happen");
	to.g[gen].creating = true;
	post(c, to, gen, p, ALONE, HEAL_BUY, "a create is sent");
	p.joint = true;
	post(c, to, gen, p, BUY_BOTH, NEVER, "a create with both is sent");
}

/* A create whose answer was lost goes out once more, with its token; or it cannot. */
static void move_again(struct ctx *c, unsigned gen)
{
	const struct life *l = &c->s->g[gen];
	bool wants = life_want(l, gen, c->r, false) == NODE_WANT_CREATE;
	struct side to = *c->s;

	if (l->state != NODE_INDOUBT || l->creating)
		return;
	if (wants && c->r->kind != TOKENS)
		violate(c, &to, gen, "I7: a repeat at a cloud without tokens");
	if (life_want(l, gen, c->r, true) == NODE_WANT_CREATE)
		violate(c, &to, gen, "I6: a repeat with a token that may be forgotten");
	if (wants && l->release)
		violate(c, &to, gen, "a repeat of what nobody wants");
	if (c->r->kind == TOKENS) { /* if it does not want that, another one of its create may */
		to.g[gen].creating = true;
		put(c, &to, gen, l->joint ? REPEAT : ALONE, wants ? HEAL_REPEAT : NEVER,
		    "the create is repeated");
	}
	to.g[gen].creating = false;
	post(c, to, gen, (struct post){.type = NODE_EV_REFUSED}, l->joint ? GIVE_UP : ALONE,
	     l->joint ? HEAL_REPEAT : NEVER, "it cannot be repeated");
}

/* --- a delete ----------------------------------------------------------------------------------
 */

static void move_delete(struct ctx *c, unsigned gen)
{
	struct side to = *c->s;
	const struct life *l = &c->s->g[gen];

	if (l->state != NODE_DELETING || l->deleting ||
	    life_want(l, gen, c->r, false) != NODE_WANT_DELETE)
		return;
	to.g[gen].deleting = true;
	put(c, &to, gen, ALONE, HEAL_SEND, "a delete is sent");
}

static void move_deleted(struct ctx *c, unsigned gen)
{
	struct side same = *c->s, done = *c->s;
	const struct life *l = &c->s->g[gen];
	bool runs = life_exists(l);
	struct when last = {.last = true};

	if (!l->deleting)
		return;
	same.g[gen].deleting = done.g[gen].deleting = false;
	if (runs)
		done.g[gen].instance = STOPPING;
	post(c, done, gen, (struct post){.type = NODE_EV_DELETED}, ALONE, HEAL_ANSWER,
	     runs ? "the delete is accepted" : "the delete finds nothing");
	post(c, same, gen, (struct post){.type = NODE_EV_DELETE_FAILED}, ALONE, NEVER,
	     "the delete fails");
	post(c, same, gen, (struct post){.type = NODE_EV_DELETE_DENIED}, ALONE, NEVER,
	     "the delete is denied");
	post(c, same, gen, (struct post){.type = NODE_EV_DELETE_DENIED, .when = last}, ALONE, NEVER,
	     "the delete is denied once more");
	if (!runs)
		return;
	post(c, done, gen, (struct post){.type = NODE_EV_DELETE_FAILED}, ALONE, NEVER,
	     "the answer to the delete is lost");
	same.g[gen].instance = DEAF;
	post(c, same, gen, (struct post){.type = NODE_EV_DELETED}, ALONE, NEVER,
	     "the delete is accepted, and nothing happens");
}

/* --- what the cloud does by itself -------------------------------------------------------------
 */

static void move_cloud(struct ctx *c, unsigned gen)
{
	struct side to = *c->s;
	struct life *l = &to.g[gen];

	if (l->instance == LIVE) {
		l->instance = RECLAIMING;
		put(c, &to, gen, ALONE, NEVER, "the cloud wants it back");
		l->instance = STOPPING;
		put(c, &to, gen, ALONE, NEVER, "the instance stops by itself");
	}
	if (life_exists(&c->s->g[gen]) && c->s->g[gen].instance != LATE) {
		l->instance = ENDED;
		l->omitted = false;
		put(c, &to, gen, ALONE, c->s->g[gen].instance == STOPPING ? HEAL_CLOUD : NEVER,
		    "the instance ends");
	}
	if (c->s->g[gen].instance == ENDED) {
		l->instance =
			l->state == NODE_INDOUBT || l->state == NODE_CREATING ? FORGOTTEN : NONE;
		put(c, &to, gen, ALONE, l->state == NODE_GONE ? HEAL_CLOUD : NEVER,
		    "the cloud forgets the instance");
	}
}

/* --- a list ------------------------------------------------------------------------------------
 */

static void show(struct ctx *c, unsigned gen, enum provider_state state, enum heal heal,
		 const char *what)
{
	struct side to = *c->s;
	struct life *l = &to.g[gen];

	l->omitted = false;
	if (l->creating || (l->deleting && l->state != NODE_DELETING)) {
		put(c, &to, gen, ALONE, NEVER, what); /* the answer comes first */
		return;
	}
	post(c, to, gen, (struct post){.type = NODE_EV_SEEN, .shown = state}, ALONE, heal, what);
}

static void move_shown(struct ctx *c, unsigned gen)
{
	const struct life *l = &c->s->g[gen];

	if (l->instance < LIVE || l->instance == FORGOTTEN)
		return;
	if (l->instance == RECLAIMING)
		show(c, gen, PROVIDER_RECLAIMING, HEAL_LIST, "a list: reclaimed");
	if (l->instance == STOPPING || l->instance == DEAF)
		show(c, gen, PROVIDER_STOPPING, HEAL_LIST, "a list: stopping");
	if (l->instance == ENDED)
		show(c, gen, PROVIDER_ENDED, HEAL_LIST, "a list: ended");
	show(c, gen, PROVIDER_RUNNING, l->instance == LIVE ? HEAL_LIST : NEVER, "a list: running");
}

/* A list without it.  When the cloud's word says that it must be there, no such list comes. */
static void omit(struct ctx *c, unsigned gen, bool counts, bool apart)
{
	struct side to = *c->s;
	struct life *l = &to.g[gen];
	bool there = l->instance >= LIVE && l->instance <= DEAF;
	bool leaving = l->state == NODE_DELETING || l->state == NODE_QUARANTINED;

	if (counts && !leaving && l->instance == LATE)
		return; /* nothing is late for so long */
	if (apart && l->omitted)
		return; /* nor left out for so long */
	l->omitted = there;
	if (l->creating || l->deleting) {
		put(c, &to, gen, ALONE, NEVER, "a list without it, not looked at");
		return;
	}
	post(c, to, gen,
	     (struct post){.type = NODE_EV_ABSENT, .when = {.counts = counts, .apart = apart}},
	     ALONE, counts && apart && !there && l->instance != ENDED ? HEAL_LIST : NEVER,
	     !counts ? "a list without it, begun too early"
	     : apart ? "a list without it, a settle time after the first such"
		     : "a list without it");
}

static void move_omitted(struct ctx *c, unsigned gen)
{
	const struct life *l = &c->s->g[gen];

	omit(c, gen, false, false);
	omit(c, gen, true, false);
	/* Whether it is apart is asked only after a first one, but an early list may be as well. */
	omit(c, gen, true, true);
	if (l->missed)
		omit(c, gen, false, true);
}

/* --- slurmctld and time ------------------------------------------------------------------------
 */

static void move_row(struct ctx *c, unsigned gen)
{
	const struct life *l = &c->s->g[gen];
	bool live = side_live(c->s) == (int)gen;
	bool runs = l->instance == LIVE || l->instance == RECLAIMING;

	if (live && c->s->want && l->state == NODE_BOOTING && runs)
		post(c, *c->s, gen, (struct post){.type = NODE_EV_REGISTERED}, ALONE,
		     l->instance == LIVE ? HEAL_SLURM : NEVER, "slurmd registers");
	if (live || l->state == NODE_QUARANTINED)
		post(c, *c->s, gen, (struct post){.type = NODE_EV_RELEASE}, ALONE,
		     live && (!c->s->want || l->state == NODE_DRAINING) ? HEAL_SLURM : NEVER,
		     "released");
	if (!l->asleep && !l->creating && !l->deleting) {
		post(c, *c->s, gen, (struct post){.type = NODE_EV_TIMER, .when = later}, ALONE,
		     l->instance == DEAF || l->state == NODE_QUARANTINED ? HEAL_TIMER : NEVER,
		     "its time has come");
		post(c, *c->s, gen, (struct post){.type = NODE_EV_TIMER}, ALONE, NEVER,
		     "a timer too early");
	}
}

static void move_slurm(struct ctx *c)
{
	struct side to = *c->s;
	int live = side_live(c->s);
	bool spent = life_has_row(&to.g[GENS - 1]);
	unsigned next = life_has_row(&to.g[0]) ? 1 : 0;
	struct node n;

	to.want = !to.want;
	put(c, &to, 0, ALONE, NEVER, to.want ? "a job wants the node" : "no job wants the node");
	if (!c->s->want || live >= 0)
		return;
	if (spent) {
		put(c, &to, 0, ALONE, HEAL_REPORT, "reported: the model has no third generation");
		return;
	}
	to = *c->s;
	node_init(&n, "c1", next + 1, 0);
	to.g[next] = (struct life){.state = (uint8_t)n.state};
	put(c, &to, next, ALONE, HEAL_BUY, "the node is bought");
}

/* --- a crash -----------------------------------------------------------------------------------
 */

/* What is in memory only is lost: what is on the wire, and a row that was not yet written. */
static void crash_gen(struct ctx *c, struct side to, unsigned gen)
{
	struct life *l = &to.g[gen];
	struct side other;

	if (gen == GENS) {
		put(c, &to, 0, RESTART, NEVER, "kill -9, and a restart");
		return;
	}
	if (l->state == NODE_WANTED && (gen + 1 == GENS || !life_has_row(&to.g[gen + 1]))) {
		other = to;
		other.g[gen] = (struct life){.state = NO_ROW};
		crash_gen(c, other, gen + 1);
	}
	if (l->creating && l->instance == NONE) {
		other = to;
		other.g[gen].instance = LATE;
		other.g[gen].creating = false;
		crash_gen(c, other, gen); /* it is on its way, else it never left */
	}
	if (l->deleting && life_exists(l) && l->instance != STOPPING) {
		other = to;
		other.g[gen].instance = STOPPING;
		crash_gen(c, other, gen);
	}
	l->creating = l->deleting = l->made = false;
	if (life_has_row(l)) {
		enum node_want before = life_want(l, gen, c->r, false);
		bool sent = l->state == NODE_CREATING;
		const char *wrong =
			life_step(l, gen, c->r, NODE_EV_RESTART, PROVIDER_UNKNOWN, &at_once, false);

		if (wrong == NULL && !sent && life_want(l, gen, c->r, false) != before)
			wrong = "I23: after a restart it wants something else";
		if (wrong == NULL)
			wrong = side_check(&to, c->r);
		if (wrong != NULL)
			violate(c, &to, gen, wrong);
	}
	crash_gen(c, to, gen + 1);
}

void side_moves(const struct side *s, const struct rules *r, struct moves *out)
{
	struct ctx c = {.s = s, .r = r, .out = out};

	out->n = 0;
	for (unsigned i = 0; i < GENS; i++) {
		if (!life_has_row(&s->g[i]))
			continue;
		move_arrive(&c, i);
		move_late_never(&c, i);
		move_answer(&c, i);
		move_send(&c, i);
		move_again(&c, i);
		move_delete(&c, i);
		move_deleted(&c, i);
		move_cloud(&c, i);
		move_shown(&c, i);
		move_omitted(&c, i);
		move_row(&c, i);
	}
	move_slurm(&c);
	crash_gen(&c, *s, 0);
}
