#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Compares new images with each snapshot of slurmctld: does a canary work, and which machines are
 * to be replaced?  slurmctld is asked to power these down when their jobs have ended
 * (POWER_DOWN_ASAP), so that no job ends for it; the suspend that follows deletes the machine as
 * always.  Nothing of this but the roll itself and `canary` is durable: the next snapshot leads to
 * the same again. */

struct rung {
	size_t pool;
	const struct conf_offer *o;
	struct roll *r;
};

static bool is_of(const struct rung *x, const struct node *n)
{
	return n->pool == x->pool && strcmp(n->offer, x->o->name) == 0;
}

static bool is_busy(const struct fleet_name *nm)
{
	return (nm->flags & (SLURM_ALLOCATED | SLURM_COMPLETING)) != 0;
}

/* --- canaries ----------------------------------------------------------------------------------
 */

static bool is_well(const struct fleet_name *nm)
{
	const uint32_t ill = SLURM_DRAIN | SLURM_FAIL | SLURM_INVALID_REG;

	return slurm_is_on(nm->flags) && !slurm_is_silent(nm->flags) && (nm->flags & ill) == 0;
}

/* slurmctld counts it allocated while it boots, too: a job may be over before it is seen up. */
static void note_jobs(const struct engine *e, const struct rung *x, enum node_state state)
{
	for (struct fleet_node *fn = e->fleet.states[state]; fn; fn = fn->state_next)
		fn->worked = fn->worked || (fn->n.canary && is_of(x, &fn->n) &&
					    e->poll.snapshot_ms > fn->n.wanted_ms &&
					    (fn->name->flags & SLURM_ALLOCATED) != 0);
}

/* A job has ended on it, or it has been up for long enough. */
static bool has_proven(const struct engine *e, const struct fleet_node *fn)
{
	const struct conf_pool *p = &e->conf->pools[fn->n.pool];

	if (fn->worked && !is_busy(fn->name))
		return true;
	return e->poll.snapshot_ms - fn->n.since_ms >= p->image_trial_ms;
}

/* A spot machine that is silent may have been taken without a notice, which is not its image's
 * fault: only a list that was begun later can tell. */
static bool may_be_taken(const struct engine *e, struct fleet_node *fn)
{
	if (fn->n.market != PROVIDER_SPOT || !slurm_is_silent(fn->name->flags)) {
		fn->silent_ms = 0;
		return false;
	}
	if (fn->silent_ms == 0)
		fn->silent_ms = e->poll.snapshot_ms;
	return fn->seen_ms <= fn->silent_ms;
}

/* slurmctld has it down, or somebody has drained it who is not burstd: a health check, slurmd, or
 * an admin. */
static bool has_failed(const struct engine *e, struct fleet_node *fn)
{
	const struct fleet_name *nm = fn->name;

	return !may_be_taken(e, fn) && slurm_is_on(nm->flags) &&
	       (nm->by_admin || (nm->flags & SLURM_DOWN) != 0) && nm->insist.why == NULL;
}

static uint32_t most(const struct engine *e, const struct rung *x)
{
	return e->conf->pools[x->pool].image_canaries;
}

static void tell_rolling(struct engine *e, const struct rung *x)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "pool %.60s: all new machines get %.63s",
		       e->conf->pools[x->pool].name, x->r->next);
	engine_event(e, "", 0, "image-rolling", text);
}

static void pass(struct engine *e, const struct rung *x, struct fleet_node *fn)
{
	const struct node_event ev = {.type = NODE_EV_PROVEN, .now_ms = engine_now(e)};
	char text[200];

	engine_post(e, fn, &ev);
	(void)snprintf(text, sizeof(text), "it works with its new image %.63s", fn->n.image);
	engine_event(e, fn->n.name, fn->n.gen, "image-works", text);
	if (roll_passed(x->r, most(e, x), engine_now(e)))
		tell_rolling(e, x);
	rolls_put(e, x->pool, x->o->name);
}

/* A reload may want fewer canaries than have worked: no other will be bought. */
static void look_at_count(struct engine *e, const struct rung *x)
{
	if (!roll_enough(x->r, most(e, x), engine_now(e)))
		return;
	tell_rolling(e, x);
	rolls_put(e, x->pool, x->o->name);
}

static void look_at_canaries(struct engine *e, const struct rung *x)
{
	struct fleet_node *fn = e->fleet.states[NODE_READY];

	look_at_count(e, x);
	note_jobs(e, x, NODE_BOOTING);
	note_jobs(e, x, NODE_READY);
	for (; fn != NULL && x->r->stage == ROLL_CANARY; fn = fn->state_next) {
		if (!is_of(x, &fn->n) || fn->next != NULL || !fn->n.canary || fn->n.release ||
		    strcmp(fn->n.image, x->r->next) != 0 || e->poll.snapshot_ms <= fn->n.since_ms)
			continue;
		if (has_failed(e, fn)) {
			char why[ROLL_WHY_SIZE];

			(void)snprintf(why, sizeof(why), "%.60s is %s", fn->n.name,
				       (fn->name->flags & SLURM_DOWN) != 0 ? "down" : "drained");
			rolls_stop(e, x->pool, x->o->name, why, "");
		} else if (is_well(fn->name) && has_proven(e, fn)) {
			pass(e, x, fn);
		} else { /* its job may end, and slurmctld power it down, within seconds */
			e->poll.moving = true;
		}
	}
}

/* --- what is replaced --------------------------------------------------------------------------
 */

struct replacing {
	uint32_t left; /* machines with the wrong image that live */
	uint32_t out;  /* machines that are away for it: going down, or lacking ... */
	uint32_t most; /* ... and how many may be */
	uint32_t told; /* busy ones that will go down when their jobs end */
};

static bool is_told(const struct fleet_name *nm)
{
	return (nm->flags & (SLURM_POWER_DOWN | SLURM_POWERING_DOWN)) != 0 ||
	       nm->insist.why != NULL;
}

/* Nodes of the pool that wait to go down for any offer's new image. */
static uint32_t going(const struct engine *e, size_t pool)
{
	uint32_t n = 0;

	for (const struct fleet_node *fn = e->fleet.states[NODE_READY]; fn; fn = fn->state_next)
		n += fn->n.pool == pool && fn->name->insist.why != NULL &&
		     strcmp(fn->name->insist.why, ENGINE_WHY_IMAGE) == 0 && !is_busy(fn->name);
	return n;
}

/* Where nodes are to stay up without jobs one is away at a time.  It is away until as many are up
 * as before: the pool may have room for fewer than are wanted. */
static void count_warm(const struct engine *e, const struct rung *x, struct replacing *out)
{
	const struct engine_warm w = engine_warm(e, x->pool);
	const uint32_t had = *rolls_warm(e, x->pool, x->o->name), others = going(e, x->pool);

	if (w.wanted == 0)
		return;
	if (had > w.up && w.wanted > w.up)
		out->out += had - w.up;
	if (out->out < others) /* of other offers */
		out->out = others;
	out->most = 1;
}

/* One that the provider refuses to delete stays for an admin, and holds nothing up. */
static void count(const struct engine *e, const struct rung *x, struct replacing *out)
{
	*out = (struct replacing){.most = e->conf->pools[x->pool].image_at_once};
	for (int s = NODE_CREATING; s < NODE_GONE; s++) /* QUARANTINED is behind it */
		for (const struct fleet_node *fn = e->fleet.states[s]; fn; fn = fn->state_next) {
			if (!is_of(x, &fn->n) || !roll_replaces(x->r, fn->n.image))
				continue;
			out->left += node_lives(&fn->n);
			if (!node_lives(&fn->n))
				out->out++;
			else if (s == NODE_READY && is_told(fn->name))
				*(is_busy(fn->name) ? &out->told : &out->out) += 1;
		}
	count_warm(e, x, out);
}

/* May it be told to go down?  What an admin has drained or reserved is his. */
static bool may_go(const struct engine *e, const struct rung *x, const struct fleet_node *fn)
{
	const struct fleet_name *nm = fn->name;
	const uint32_t no = SLURM_DRAIN | SLURM_FAIL | SLURM_REBOOT | SLURM_MAINT | SLURM_RESERVED;

	return is_of(x, &fn->n) && roll_replaces(x->r, fn->n.image) && fn->next == NULL &&
	       fn == fleet_live(nm) && !fn->n.release && e->poll.snapshot_ms > fn->n.since_ms &&
	       slurm_is_on(nm->flags) && !slurm_is_silent(nm->flags) && (nm->flags & no) == 0 &&
	       !is_told(nm);
}

static void replace(struct engine *e, const struct rung *x, struct fleet_node *fn)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "%s: its image is %.63s, and %.63s is in force",
		       is_busy(fn->name) ? "goes down when its jobs end" : "goes down",
		       fn->n.image[0] != '\0' ? fn->n.image : "not known or the provider's",
		       roll_usual(x->r)[0] != '\0' ? roll_usual(x->r) : "the provider's");
	engine_event(e, fn->n.name, fn->n.gen, "image-replaced", text);
	fleet_tell(fn->name, engine_bare(ENGINE_WHY_IMAGE), engine_now(e));
	if (!is_busy(fn->name))
		*rolls_warm(e, x->pool, x->o->name) = engine_warm(e, x->pool).up;
	insist_drain(e, fn->name, ENGINE_WHY_IMAGE);
	e->poll.moving = true;
}

/* Idle ones and busy ones have a bound each: a job of a week must not keep idle machines from being
 * replaced. */
static void replace_some(struct engine *e, const struct rung *x, struct replacing *r)
{
	const uint32_t most_told = e->conf->pools[x->pool].image_at_once;
	struct fleet_node *fn = e->fleet.states[NODE_READY];

	for (; fn != NULL && (r->out < r->most || r->told < most_told); fn = fn->state_next) {
		const bool busy = is_busy(fn->name);
		uint32_t *n = busy ? &r->told : &r->out;

		if (*n >= (busy ? most_told : r->most) || !may_go(e, x, fn))
			continue;
		replace(e, x, fn);
		(*n)++;
	}
}

static void finish(struct engine *e, const struct rung *x)
{
	char text[200];

	roll_end(x->r, engine_now(e));
	rolls_put(e, x->pool, x->o->name);
	(void)snprintf(text, sizeof(text), "pool %.60s: no machine has another image than %.63s",
		       e->conf->pools[x->pool].name,
		       x->r->next[0] != '\0' ? x->r->next : "the provider's");
	engine_event(e, "", 0, "image-done", text);
}

/* --- a turn ------------------------------------------------------------------------------------
 */

static void look(struct engine *e, const struct rung *x)
{
	struct replacing r;

	if (x->r->stage == ROLL_CANARY)
		look_at_canaries(e, x);
	/* All machines that are bought now have the new image, and they come up wrong. */
	if (x->r->stage == ROLL_ROLLING && strcmp(x->r->old, x->r->next) != 0 &&
	    pool_is_open(e, x->pool)) {
		rolls_stop(e, x->pool, x->o->name, "its machines come up wrong", "");
		pool_close(e, x->pool);
	}
	count(e, x, &r);
	if (r.left == 0 && x->r->stage == ROLL_ROLLING)
		finish(e, x);
	else
		replace_some(e, x, &r);
}

static void rolls_run(struct engine *e)
{
	if (e->buy->rolls_due)
		rolls_want(e);
	if (!e->buy->rolls_due &&
	    (e->poll.snapshot_ms == 0 || e->poll.snapshot_ms == e->buy->rolls_ms)) {
		return;
	}
	e->buy->rolls_due = false;
	e->buy->rolls_ms = e->poll.snapshot_ms;
	for (size_t p = 0; p < e->conf->npools && e->poll.snapshot_ms != 0; p++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&e->conf->pools[p], &n);

		for (size_t k = 0; k < n; k++) {
			const struct rung x = {p, &rungs[k], rolls_of(e, p, rungs[k].name)};

			if (x.r != NULL && x.r->stage != ROLL_SETTLED)
				look(e, &x);
		}
	}
	engine_commit(e);
}

/* The configuration is another one, or burstd starts. */
static void rolls_hurry(struct engine *e)
{
	e->buy->rolls_due = true;
}

static int64_t rolls_next_ms(const struct engine *e)
{
	return e->buy->rolls_due ? engine_now(e) : INT64_MAX;
}

/* --- what the configuration may say ------------------------------------------------------------
 */

static int check(struct engine *e, const struct conf *conf, struct err *err)
{
	for (size_t i = 0; i < conf->npools; i++) {
		const struct conf_pool *p = &conf->pools[i];
		size_t n;
		const struct conf_offer *rungs = conf_rungs(p, &n);

		for (size_t k = 0; k < n; k++) {
			const struct cloud *c = &e->cloud->all[rungs[k].provider_index];
			const char *image = rungs[k].image;

			if (image == NULL || image[0] == '\0')
				image = p->image;
			if (image != NULL && image[0] != '\0' && !off_is(c) &&
			    (c->caps.flags & PROVIDER_IMAGES) == 0)
				return err_set(err, ERR_INVALID,
					       "%.120s:%d: pool \"%.30s\": image: driver %s names "
					       "none in a purchase, so burstd cannot roll one out",
					       conf->path, rungs[k].line, p->name, c->ops->name);
		}
	}
	return 0;
}

static int rolls_open(struct engine *e, struct err *err)
{
	return check(e, e->conf, err);
}

static int rolls_may_use(struct engine *e, size_t provider, struct err *err)
{
	(void)provider;
	e->buy->rolls_due = true;
	return check(e, e->conf, err);
}

/* The driver has the provider's image of the start, which it uses where a create names none. */
static int may_change_own(const struct conf_provider *was, const struct conf_provider *is,
			  struct err *err)
{
	const char *a = conf_own_image_text(was), *b = conf_own_image_text(is);

	if (strcmp(a, b) != 0 && (strlen(a) > PROVIDER_IMAGE_MAX || strlen(b) > PROVIDER_IMAGE_MAX))
		return err_set(err, ERR_INVALID,
			       "provider \"%s\" image: burstd rolls out no name of more than %d "
			       "characters: a change needs a restart",
			       was->name, PROVIDER_IMAGE_MAX);
	if ((a[0] == '\0') != (b[0] == '\0'))
		return err_set(err, ERR_INVALID,
			       "provider \"%s\" image: from or to none: a change needs a restart",
			       was->name);
	return 0;
}

static int rolls_may_reload(struct engine *e, const struct conf *next, struct err *err)
{
	for (size_t i = 0; i < e->conf->nproviders; i++) {
		const struct conf_provider *was = &e->conf->providers[i];
		const uint32_t at = conf_provider_named(next, was->name);
		const struct conf_provider *is = at < next->nproviders ? &next->providers[at] : was;

		if (may_change_own(was, is, err) != 0)
			return -1;
	}
	return check(e, next, err);
}

const struct engine_part rolls_part = {
	.name = "new images",
	.at = {[PART_START] = rolls_hurry,
	       [PART_RELOAD] = rolls_hurry,
	       [PART_RUN] = rolls_run,
	       [PART_FREE] = rolls_free},
	.open = rolls_open,
	.may_use = rolls_may_use,
	.may_reload = rolls_may_reload,
	.next_ms = rolls_next_ms,
};
