#include "keys/rotate.h"
#include "keys/vouchers.h"

#include <stdlib.h>

#include "base/mem.h"

/* Keeps the state of a rotation in the journal, and does in each turn what the state wants. */

/* --- the state, durable ------------------------------------------------------------------------
 */

static const char *const names[] = {
	"rotation_kind",  "rotation_phase", "rotation_id",     "rotation_now",  "rotation_prev",
	"rotation_begun", "rotation_since", "rotation_switch", "rotation_life", "rotation_flags"};

enum { NUMBERS = sizeof(names) / sizeof(names[0]), TOLD = 1, ALIEN = 2 };

static void put(struct rotate *rt)
{
	const struct rotation *r = &rt->r;
	const int64_t v[NUMBERS] = {r->kind,     r->phase,
				    r->id,       r->now,
				    r->prev,     r->begun_ms,
				    r->since_ms, r->switch_ms,
				    r->life_ms,  (r->told ? TOLD : 0) | (r->alien ? ALIEN : 0)};

	for (int i = 0; i < NUMBERS; i++)
		journal_put_number(engine_tx(rt->e), names[i], v[i]);
}

static int rotate_load(struct engine *e, struct err *err)
{
	struct rotate *rt = mem_zalloc(sizeof(*rt));
	int64_t v[NUMBERS];

	rt->e = e;
	e->keys->rotate = rt;
	for (int i = 0; i < NUMBERS; i++)
		if (journal_get_number(e->d.journal, names[i], &v[i], err) != 0)
			return -1;
	rt->r = (struct rotation){.kind = (enum rotation_kind)v[0],
				  .phase = (enum rotation_phase)v[1],
				  .id = v[2],
				  .now = v[3],
				  .prev = v[4],
				  .begun_ms = v[5],
				  .since_ms = v[6],
				  .switch_ms = v[7],
				  .life_ms = v[8],
				  .told = (v[9] & TOLD) != 0,
				  .alien = (v[9] & ALIEN) != 0};
	if (!rotation_good(&rt->r))
		return err_set(err, ERR_DAMAGED, "the rotation of keys in the journal is damaged");
	rotation_set_back(&rt->r, engine_now(e));
	rt->looked_ms = engine_now(e);
	if (rotation_want(&rt->r) == ROTATION_WANT_TELL)
		rt->reconfigured_ms = engine_now(e);   /* perhaps just before burstd ended */
	rt->stood_ms = engine_now(e) - rt->r.since_ms; /* each node has its full time again */
	if (rotation_runs(&rt->r) && rotate_store_alone(e) && rotate_store_open(rt, NULL, err) != 0)
		rotate_complain(rt, "credential", err->msg);
	return 0;
}

/* --- the turn ----------------------------------------------------------------------------------
 */

/* End the rotation if somebody else wrote the bundle: nodes fetch that version now, and would be
 * drained for it, and the key to switch to is not in the store any more. */
static void look_at_the_store(struct rotate *rt)
{
	const struct secrets *s = rt->e->keys->secrets;
	int64_t version = door_key_version(s->version);
	bool fresh = secrets_ready(rt->e) && engine_now(rt->e) < s->version_next;

	if (!fresh || !rotation_is_overwritten(&rt->r, version, s->seen_ms))
		return;
	rotate_event(rt, ROTATION_EV_ALIEN, version);
	if (rt->r.alien) /* otherwise burstd finds out when it writes */
		rotate_complain(rt, "bundle", "somebody else has written the bundle meanwhile");
}

/* Complain if a credential is missing after a restart, since it is in no file.  Also in the WINDOW:
 * the switch will come, whether burstd can write or not. */
static void look_for_a_credential(struct rotate *rt)
{
	bool soon = rt->r.phase == ROTATION_WINDOW || rotation_want(&rt->r) == ROTATION_WANT_WRITE;

	if (rt->store == NULL && soon && rt->error[0] == '\0')
		rotate_complain(rt, "credential", "missing; give one with --resume");
}

/* When the phase times out.  While nodes cannot fetch keys that time does not pass, as for each
 * single node. */
static int64_t wake_ms(const struct rotate *rt)
{
	bool follow = rt->r.phase == ROTATION_SPREADING || rt->r.phase == ROTATION_SETTLING;
	int64_t at = rotation_wake_ms(&rt->r);

	if (!follow || at == INT64_MAX)
		return at;
	return rotate_may_fetch(rt) ? at + rt->stood_ms : INT64_MAX;
}

void rotate_write_down(struct rotate *rt)
{
	if (!rt->dirty)
		return;
	put(rt);
	rt->dirty = false;
	engine_commit(rt->e);
}

/* Do any nodes get their keys from burstd? */
static bool has_nodes(const struct engine *e)
{
	return claims_on(e) || e->keys->vouchers != NULL;
}

static void rotate_run(struct engine *e)
{
	struct rotate *rt = e->keys->rotate;
	const struct rotation_event timer = {.type = ROTATION_EV_TIMER, .now_ms = engine_now(e)};
	const struct rotation_event order = {.type = ROTATION_EV_SWITCH, .now_ms = engine_now(e)};

	if (rt == NULL || e->keys->secrets == NULL ||
	    (!rotation_runs(&rt->r) && !has_nodes(e) && rt->store == NULL &&
	     !rotate_is_to_tell(rt)))
		return;
	look_at_the_store(rt);
	rotate_look(rt);
	if (wake_ms(rt) <= engine_now(e))
		(void)rotate_advance(rt, &timer);
	if (rt->r.phase == ROTATION_STAGED && rt->r.kind == ROTATION_JWKS && rotate_has_command(e))
		(void)rotate_advance(rt, &order); /* it needs no admin's order */
	rotate_write_down(rt);
	if (e->dead)
		return;
	e->keys->secrets->held = rotation_holds(&rt->r, door_key_version(secrets_version(e)));
	rotate_tell_slurmctld(rt);
	look_for_a_credential(rt);
	rotate_store_run(rt);
	rotate_write_down(rt);
}

static int64_t rotate_next_ms(const struct engine *e)
{
	const struct rotate *rt = e->keys->rotate;
	int64_t next = INT64_MAX, at;

	if (rt == NULL || e->keys->secrets == NULL)
		return INT64_MAX;
	if (rt->dirty)
		return engine_now(e);
	if (rotation_runs(&rt->r) || has_nodes(e))
		next = rt->look_ms;
	at = wake_ms(rt);
	next = at < next ? at : next;
	at = rotate_store_next_ms(rt);
	next = at < next ? at : next;
	if (rt->child == NULL && rotate_is_to_tell(rt) && rt->tell_ms < next)
		next = rt->tell_ms;
	return next;
}

static void rotate_free(struct engine *e)
{
	struct rotate *rt = e->keys->rotate;

	if (rt == NULL)
		return;
	rotate_store_free(rt);
	rotate_command_free(rt);
	free(rt);
	e->keys->rotate = NULL;
}

const struct engine_part rotate_part = {
	.name = "rotation",
	.open = rotate_load,
};

const struct engine_part rotate_turn_part = {
	.name = "rotation: its turn",
	.at = {[PART_RUN] = rotate_run, [PART_FREE] = rotate_free},
	.next_ms = rotate_next_ms,
};
