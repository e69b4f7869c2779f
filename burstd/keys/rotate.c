#include "keys/rotate.h"
#include "keys/vouchers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "io/proc.h"
#include "jobs/jobs.h"

/* Nodes are told by their heartbeats which keys they should have, and when they switch; they fetch
 * them by /v1/node/keys.  Who does not follow gets no more jobs. */

enum { ROTATE_OUT_MAX = 4096, ROTATE_WORDS_MAX = CONF_ARGS_MAX + 3 };

struct rotate_child {      /* the site's command, or scontrol */
	struct rotate *rt; /* NULL: it is gone */
	enum rotation_phase phase;
	int64_t id;
	bool reconfigure;
};

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

int rotate_load(struct engine *e, struct err *err)
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
		return err_set(err, ERR_DAMAGED, "the journal's rotation of keys makes no sense");
	rotation_set_back(&rt->r, engine_now(e));
	rt->looked_ms = engine_now(e);
	rt->stood_ms = engine_now(e) - rt->r.since_ms; /* each node has its time anew */
	if (rotation_runs(&rt->r) && rotate_store_alone(e) && rotate_store_open(rt, NULL, err) != 0)
		rotate_complain(rt, "credential", err->msg);
	return 0;
}

static void tell_people(struct rotate *rt, const char *text)
{
	char full[200];

	(void)snprintf(full, sizeof(full), "%s: %s", rotation_kind_str(rt->r.kind), text);
	engine_event(rt->e, "", 0, "rotation", full);
}

void rotate_complain(struct rotate *rt, const char *what, const char *why)
{
	char full[sizeof(rt->error)];

	(void)snprintf(full, sizeof(full), "%.40s: %.200s", what, why);
	if (strcmp(full, rt->error) == 0)
		return;
	memcpy(rt->error, full, sizeof(full));
	engine_event(rt->e, "", 0, "rotation-alarm", full);
	log_write(rt->e->d.log, LOG_ERROR, "the rotation of keys stands still", "phase",
		  rotation_phase_str(rt->r.phase), "error", full, NULL);
}

static bool step(struct rotate *rt, const struct rotation_event *ev)
{
	enum rotation_phase was = rt->r.phase;

	if (!rotation_step(&rt->r, ev))
		return false;
	rt->dirty = true;
	if (rt->r.phase == was && ev->type == ROTATION_EV_ALIEN)
		tell_people(rt, "it goes on from what somebody else has written");
	if (rt->r.phase == was)
		return true;
	rt->commanded = false;
	rt->tell_ms = 0;
	rt->look_ms = 0;
	rt->stood_ms = 0;
	tell_people(rt, rotation_phase_str(rt->r.phase));
	if (rt->r.phase == ROTATION_DONE)
		breach_mended(rt->e, &rt->r);
	return true;
}

void rotate_event(struct rotate *rt, enum rotation_event_type type, int64_t version)
{
	const struct rotation_event ev = {
		.type = type, .now_ms = engine_now(rt->e), .version = version};

	(void)step(rt, &ev);
}

/* --- nodes -------------------------------------------------------------------------------------
 */

/* What a node should have; 0: not known. */
static int64_t wanted(const struct rotate *rt)
{
	return rotation_runs(&rt->r) ? rt->r.now : door_key_version(secrets_version(rt->e));
}

bool rotate_takes(const struct engine *e, int64_t version, int64_t claimed)
{
	int64_t current = door_key_version(secrets_version(e));
	const struct rotate *rt = e->keys->rotate;

	if (rt == NULL || (!rotation_runs(&rt->r) && (current == 0 || current != rt->r.now)))
		return version == (current != 0 ? current : claimed);
	if (rotation_holds(&rt->r, current))
		return version == rt->r.now && rt->r.phase != ROTATION_SWITCHING;
	return version == current || rotation_takes(&rt->r, version);
}

void rotate_tell(const struct engine *e, const struct claim_run *r, struct str *out)
{
	const struct rotate *rt = e->keys->rotate;
	int64_t has = (int64_t)r->key_version, want = rt != NULL ? wanted(rt) : 0;
	bool off = rt != NULL && rotation_called_off(&rt->r, engine_now(e));

	if (off && has != 0)
		str_addf(out, ",\"keys\":{\"version\":\"%" PRId64 "\",\"switch_ms\":0}",
			 want != 0 ? want : has);
	else if (want == 0)
		return;
	else if (rt->r.phase == ROTATION_WINDOW && has == want)
		str_addf(out, ",\"keys\":{\"version\":\"%" PRId64 "\",\"switch_ms\":%" PRId64 "}",
			 want, rt->r.switch_ms);
	else if (has != 0 && has != want)
		str_addf(out, ",\"keys\":{\"version\":\"%" PRId64 "\"}", want);
}

bool rotate_says_switch(const struct engine *e)
{
	const struct rotate *rt = e->keys->rotate;

	return rt != NULL && rotation_in_use(&rt->r) &&
	       rt->r.now == door_key_version(secrets_version(e));
}

static bool is_heard(const struct claim_run *r)
{
	return r->heartbeat_ms != 0 && r->key_version != 0;
}

static void drain(struct engine *e, struct fleet_name *nm, uint64_t gen, uint64_t version)
{
	char g[FMT_U64_SIZE], text[96];

	(void)snprintf(text, sizeof(text), "it has version %s of the keys",
		       version != 0 ? fmt_u64(g, version) : "?");
	engine_event(e, nm->name, gen, "keys-old", text);
	fleet_tell(nm, "drained: it has old keys", engine_now(e));
	insist_drain(e, nm, "burstd: it has old keys");
}

/* As far as slurmctld has said, jobs come there.  Where it is drained or down already, that stays
 * as it is, and says who did it (F51): with the drain its machine would go, and the drain as well.
 * If he takes it back the node has old keys still. */
static bool is_in_use(const struct fleet_name *nm)
{
	return (nm->flags & SLURM_KNOWN) != 0 && (nm->flags & (SLURM_DRAIN | SLURM_DOWN)) == 0;
}

/* It has old keys, and has had its time for others. */
static bool is_late(const struct rotate *rt, const struct claim_run *r)
{
	int64_t grace = rotation_switched(&rt->r) ? ROTATION_SETTLE_MS : ROTATION_SPREAD_MS;

	return r->keys_old_ms != 0 && engine_now(rt->e) - r->keys_old_ms >= grace;
}

static void judge(struct rotate *rt, struct fleet_name *nm, struct claim_run *r, int64_t want)
{
	if (is_heard(r) ? (int64_t)r->key_version == want : !rotation_runs(&rt->r)) {
		r->keys_old_ms = 0;
		return;
	}
	if (r->keys_old_ms == 0)
		r->keys_old_ms = engine_now(rt->e);
	else
		r->keys_old_ms += rt->still_ms; /* that must not cost all nodes */
	if (!r->keys_drained && is_late(rt, r) && is_in_use(nm)) {
		r->keys_drained = true;
		drain(rt->e, nm, r->c.gen, r->key_version);
	}
}

/* Nobody can give it others: with old ones it goes as soon as they are that. */
static bool look_at_fixed(struct rotate *rt, struct fleet_name *nm, const struct node *n,
			  int64_t want)
{
	int64_t version;
	bool *drained;

	if (!vouchers_keys(rt->e, n, &version, &drained))
		return false;
	rt->nodes.fixed++;
	if (want == 0 || version == want) {
		rt->nodes.have++;
		return true;
	}
	rt->nodes.drained++;
	if (!*drained && is_in_use(nm)) {
		drain(rt->e, nm, n->gen, (uint64_t)version);
		*drained = true;
	}
	return true;
}

static void count(struct rotate *rt, const struct claim_run *r, int64_t want)
{
	struct engine_rotation_nodes *n = &rt->nodes;

	if (r == NULL)
		n->others++;
	else if (r->keys_drained || is_late(rt, r)) /* by us, or by who had taken it out */
		n->drained++;
	else if (!is_heard(r))
		n->unheard++;
	else if ((int64_t)r->key_version == want)
		n->have++;
	else
		n->lack++;
}

static bool may_fetch(const struct rotate *rt)
{
	return secrets_serves(rt->e) && engine_door_off(rt->e) == NULL;
}

/* How long since the last look nobody could have fetched keys: the store was away, or burstd could
 * not be reached, or itself stood still, and this look is late (F54). */
static int64_t still_ms(const struct rotate *rt)
{
	int64_t now = engine_now(rt->e);

	if (!may_fetch(rt))
		return now - rt->looked_ms;
	return rt->due_ms != 0 && now > rt->due_ms ? now - rt->due_ms : 0;
}

/* All nodes that are up, or soon will be. */
static void look(struct rotate *rt)
{
	struct engine *e = rt->e;
	bool runs = rotation_runs(&rt->r);
	int64_t want = wanted(rt);

	if (engine_now(e) < rt->look_ms)
		return;
	rt->still_ms = still_ms(rt);
	rt->stood_ms += rt->still_ms;
	rt->looked_ms = engine_now(e);
	rt->due_ms = rt->look_ms = engine_now(e) + (runs ? ROTATE_LOOK_MS : ROTATE_IDLE_MS);
	rt->nodes = (struct engine_rotation_nodes){0};
	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];
		const struct fleet_node *fn = fleet_live(nm);
		struct claim_run *r;

		if (fn == NULL || look_at_fixed(rt, nm, &fn->n, want))
			continue;
		r = claims_of(e, nm->name, fn->n.gen);
		if (r != NULL && r->c.state != CLAIM_CONFIRMED)
			continue; /* it has not come so far, and will be refused if it is late */
		if (r != NULL && want != 0)
			judge(rt, nm, r, want);
		count(rt, r, want);
	}
	if (runs && rt->nodes.lack == 0 && rt->nodes.unheard == 0)
		rotate_event(rt, ROTATION_EV_HAVE, 0);
}

/* --- slurmctld, and the munged beside it -------------------------------------------------------
 */

static const char *word_of(const struct rotate *rt)
{
	switch (rt->r.phase) {
	case ROTATION_LOADING:
		return "stage";
	case ROTATION_DONE:
		return "drop";
	default:
		return "switch";
	}
}

static void on_child(void *ctx, const struct proc_reply *reply, const struct err *err)
{
	struct rotate_child *k = ctx;
	struct rotate *rt = k->rt;
	char why[200];

	if (rt != NULL) {
		rt->child = NULL;
		rt->tell_ms = engine_now(rt->e) + ROTATE_TELL_MS;
		why[0] = '\0';
		if (err != NULL)
			(void)snprintf(why, sizeof(why), "%.190s", err->msg);
		else if (reply->status != 0)
			(void)snprintf(why, sizeof(why), "exit status %d: %.*s", reply->status,
				       (int)strcspn(reply->errors, "\n"), reply->errors);
		if (why[0] != '\0') {
			rotate_complain(rt,
					k->reconfigure ? "scontrol reconfigure" : "switch_command",
					why);
		} else if (k->id != rt->r.id ||
			   (k->phase != rt->r.phase && !rotation_switches(&rt->r))) {
			; /* that is over */
		} else if (k->reconfigure || rt->r.kind == ROTATION_MUNGE) {
			rt->error[0] = '\0';
			rt->tell_ms = 0;
			rotate_event(rt, ROTATION_EV_TOLD, 0);
		} else {
			rt->commanded = true;
			rt->tell_ms = 0;
		}
		engine_turn(rt->e);
	}
	free(k);
}

/* It has not failed: it has not run.  Too many programs are soon fewer; a missing one is not soon
 * there. */
static int64_t unstarted_ms(struct rotate *rt)
{
	int64_t ms = (int64_t)ROTATE_AGAIN_MS << rt->unstarted;

	if (ms >= ROTATE_TELL_MS)
		return ROTATE_TELL_MS;
	rt->unstarted++;
	return ms;
}

static void run_child(struct rotate *rt, const char *const *argv, bool reconfigure)
{
	struct engine *e = rt->e;
	const char *slurm_conf = e->conf->slurm_conf;
	char conf[300];
	const char *const envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
				    slurm_conf != NULL ? conf : NULL, NULL};
	const struct proc_call call = {.argv = argv,
				       .envp = envp,
				       .timeout_ms = ROTATE_TELL_MS,
				       .max_out = ROTATE_OUT_MAX};
	struct rotate_child *k = mem_zalloc(sizeof(*k));
	struct err err;

	(void)snprintf(conf, sizeof(conf), "SLURM_CONF=%s", slurm_conf != NULL ? slurm_conf : "");
	*k = (struct rotate_child){
		.rt = rt, .phase = rt->r.phase, .id = rt->r.id, .reconfigure = reconfigure};
	audit_thing(e, reconfigure ? "reconfigure" : "switch-command", argv[0],
		    rotation_kind_str(rt->r.kind), word_of(rt));
	engine_commit(e);
	if (!e->dead && proc_run(e->d.proc, &call, on_child, k, &err) == 0) {
		rt->child = k;
		rt->unstarted = 0;
		return;
	}
	if (!e->dead)
		rotate_complain(rt, argv[0], err.msg);
	rt->tell_ms = engine_now(e) + unstarted_ms(rt);
	free(k);
}

static void reconfigure(struct rotate *rt)
{
	char path[512];
	const char *const argv[] = {path, "reconfigure", NULL};

	(void)snprintf(path, sizeof(path), "%s/scontrol", rt->e->conf->slurm_bin);
	run_child(rt, argv, true);
}

static void command(struct rotate *rt)
{
	char *const *words = rt->e->conf->secrets.switch_command;
	const char *argv[ROTATE_WORDS_MAX];
	size_t n = 0;

	for (; n < CONF_ARGS_MAX && words[n] != NULL; n++)
		argv[n] = words[n];
	argv[n++] = rotation_kind_str(rt->r.kind);
	argv[n++] = word_of(rt);
	argv[n] = NULL;
	run_child(rt, argv, false);
}

static bool has_command(const struct engine *e)
{
	return e->conf->secrets.switch_command != NULL &&
	       e->conf->secrets.switch_command[0] != NULL;
}

static bool is_to_tell(const struct rotate *rt)
{
	if (rt->r.kind == ROTATION_MUNGE)
		return rotation_switches(&rt->r);
	return rotation_want(&rt->r) == ROTATION_WANT_TELL;
}

static void tell(struct rotate *rt)
{
	bool munge = rt->r.kind == ROTATION_MUNGE;

	if (rt->child != NULL || rt->dirty || !is_to_tell(rt) || engine_now(rt->e) < rt->tell_ms)
		return;
	if (has_command(rt->e) && !rt->commanded) {
		command(rt);
	} else if (munge) {
		tell_people(rt, "now: the new key to the machines of slurmctld, slurmdbd and of "
				"users, and munged restarted there");
		if (rt->r.phase == ROTATION_SETTLING)
			rt->error[0] = '\0'; /* of a command that was taken away */
		rotate_event(rt, ROTATION_EV_TOLD, 0);
	} else {
		reconfigure(rt);
	}
}

/* Nodes fetch what is there now, and would be drained for it; and what all are about to switch to
 * is in no store any more. */
static void look_at_the_store(struct rotate *rt)
{
	const struct secrets *s = rt->e->keys->secrets;
	int64_t version = door_key_version(s->version);
	bool fresh = secrets_ready(rt->e) && engine_now(rt->e) < s->version_next;

	if (!fresh || !rotation_is_overwritten(&rt->r, version, s->seen_ms))
		return;
	rotate_event(rt, ROTATION_EV_ALIEN, version);
	if (rt->r.alien) /* else it is found when burstd writes */
		rotate_complain(rt, "bundle", "somebody else has written the bundle meanwhile");
}

/* burstd was started anew, and a credential is in no file.  In the window, too: what comes then
 * comes whether it can be written or not. */
static void look_for_a_credential(struct rotate *rt)
{
	bool soon = rt->r.phase == ROTATION_WINDOW || rotation_want(&rt->r) == ROTATION_WANT_WRITE;

	if (rt->store == NULL && soon && rt->error[0] == '\0')
		rotate_complain(rt, "credential", "it needs one, with --resume");
}

/* --- the turn ----------------------------------------------------------------------------------
 */

/* The time for nodes to follow stands still with the store and the way to burstd, as each one's own
 * does. */
static int64_t wake_ms(const struct rotate *rt)
{
	bool follow = rt->r.phase == ROTATION_SPREADING || rt->r.phase == ROTATION_SETTLING;
	int64_t at = rotation_wake_ms(&rt->r);

	if (!follow || at == INT64_MAX)
		return at;
	return may_fetch(rt) ? at + rt->stood_ms : INT64_MAX;
}

static void write_down(struct rotate *rt)
{
	if (!rt->dirty)
		return;
	put(rt);
	rt->dirty = false;
	engine_commit(rt->e);
}

/* Some that have their keys by us. */
static bool has_nodes(const struct engine *e)
{
	return claims_on(e) || e->keys->vouchers != NULL;
}

void rotate_run(struct engine *e)
{
	struct rotate *rt = e->keys->rotate;
	const struct rotation_event timer = {.type = ROTATION_EV_TIMER, .now_ms = engine_now(e)};
	const struct rotation_event order = {.type = ROTATION_EV_SWITCH, .now_ms = engine_now(e)};

	if (rt == NULL || e->keys->secrets == NULL ||
	    (!rotation_runs(&rt->r) && !has_nodes(e) && rt->store == NULL && !is_to_tell(rt)))
		return;
	look_at_the_store(rt);
	look(rt);
	if (wake_ms(rt) <= engine_now(e))
		(void)step(rt, &timer);
	if (rt->r.phase == ROTATION_STAGED && rt->r.kind == ROTATION_JWKS && has_command(e))
		(void)step(rt, &order); /* nobody needs to be asked */
	write_down(rt);
	if (e->dead)
		return;
	e->keys->secrets->held = rotation_holds(&rt->r, door_key_version(secrets_version(e)));
	tell(rt);
	look_for_a_credential(rt);
	rotate_store_run(rt);
	write_down(rt);
}

int64_t rotate_next_ms(const struct engine *e)
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
	if (rt->child == NULL && is_to_tell(rt) && rt->tell_ms < next)
		next = rt->tell_ms;
	return next;
}

void rotate_free(struct engine *e)
{
	struct rotate *rt = e->keys->rotate;

	if (rt == NULL)
		return;
	rotate_store_free(rt);
	if (rt->child != NULL)
		rt->child->rt = NULL;
	free(rt);
	e->keys->rotate = NULL;
}

/* --- what an admin orders ----------------------------------------------------------------------
 */

static int give(struct rotate *rt, const char *credential, struct err *err)
{
	if (rt->store != NULL && rt->store->step != ROTATE_IDLE)
		return err_set(err, ERR_LIMIT, "it is at it: look in a moment");
	if (credential == NULL && rt->store != NULL && !rt->store->stuck)
		return 0; /* that one is good still, perhaps */
	if (rotate_store_open(rt, credential, err) != 0)
		return -1;
	rt->error[0] = '\0';
	return 0;
}

static int begin(struct rotate *rt, const struct engine_rotate_ask *ask, struct err *err)
{
	struct rotation_event ev = {.type = ROTATION_EV_START,
				    .now_ms = engine_now(rt->e),
				    .kind = ask->kind,
				    .version = door_key_version(secrets_version(rt->e)),
				    .life_ms = ask->life_ms};
	uint64_t dice = 0;

	if (rotation_runs(&rt->r))
		return err_set(err, ERR_INVALID, "one is under way: it ends, or is aborted, first");
	if (ask->kind == ROTATION_NONE)
		return err_set(err, ERR_INVALID, "want munge or jwks");
	if (!secrets_ready(rt->e) || ev.version == 0)
		return err_set(err, ERR_INVALID, "the secret store does not answer now");
	if (getrandom(&dice, sizeof(dice), 0) != sizeof(dice))
		return err_set(err, ERR_IO, "the system has no dice");
	ev.id = (int64_t)(dice >> 2) + 1;
	rotate_store_free(rt); /* of one before */
	if (give(rt, ask->credential, err) != 0)
		return -1;
	return step(rt, &ev) ? 0 : err_set(err, ERR_INVALID, "not now");
}

static int order_switch(struct rotate *rt, const struct engine_rotate_ask *ask, struct err *err)
{
	struct rotation_event ev = {.type = ROTATION_EV_SWITCH, .now_ms = engine_now(rt->e)};
	int64_t in_ms = ask->in_ms > 0 ? ask->in_ms : ROTATION_WINDOW_MS;

	if (in_ms < ROTATION_WINDOW_MS)
		return err_set(err, ERR_INVALID,
			       "each node has a heartbeat in 60 s: no sooner than that");
	if (rt->r.phase != ROTATION_STAGED)
		return err_set(err, ERR_INVALID, "it is %s: the switch comes when it is staged",
			       rotation_phase_str(rt->r.phase));
	/* Not with half of the nodes switched is it the time to look for a credential. */
	if (give(rt, ask->credential, err) != 0)
		return -1;
	ev.at_ms = engine_now(rt->e) + in_ms;
	secrets_poll(rt->e); /* what somebody else has written calls it off while it can be */
	return step(rt, &ev) ? 0 : err_set(err, ERR_INVALID, "not now");
}

/* Nothing was written, and nothing is going to be. */
static bool is_untouched(const struct rotate *rt)
{
	return rt->r.phase == ROTATION_STAGING && (rt->store == NULL || rt->store->stuck) &&
	       door_key_version(secrets_version(rt->e)) == rt->r.now;
}

static int order_abort(struct rotate *rt, const struct engine_rotate_ask *ask, struct err *err)
{
	const struct rotation_event ev = {.type = ROTATION_EV_ABORT, .now_ms = engine_now(rt->e)};

	if (!rotation_runs(&rt->r))
		return err_set(err, ERR_INVALID, "none is under way");
	if (is_untouched(rt)) {
		rotate_store_free(rt);
		(void)step(rt, &ev);
		rotate_event(rt, ROTATION_EV_WROTE, rt->r.now); /* it is as it was */
		rt->error[0] = '\0';
		return 0;
	}
	if (rt->r.phase == ROTATION_WINDOW && ev.now_ms > rt->r.switch_ms - ROTATION_HEAR_MS)
		return err_set(err, ERR_INVALID,
			       "too late: some node may not hear within %" PRId64
			       " s that the switch is off; let it be, and rotate again",
			       (rt->r.switch_ms - ev.now_ms) / 1000);
	if (rt->store == NULL || rt->store->stuck || ask->credential != NULL)
		if (give(rt, ask->credential, err) != 0)
			return -1;
	return step(rt, &ev) ? 0
			     : err_set(err, ERR_INVALID,
				       "it is %s: the new key is in use, so go on, or rotate again",
				       rotation_phase_str(rt->r.phase));
}

static int resume(struct rotate *rt, const struct engine_rotate_ask *ask, struct err *err)
{
	if (!rotation_runs(&rt->r))
		return err_set(err, ERR_INVALID, "none is under way");
	if (give(rt, ask->credential, err) != 0)
		return -1;
	rt->tell_ms = 0;
	return 0;
}

int engine_rotate(struct engine *e, const struct engine_rotate_ask *ask, struct err *err)
{
	static const char *const words[] = {[ENGINE_ROTATE_START] = "rotate",
					    [ENGINE_ROTATE_SWITCH] = "rotate-switch",
					    [ENGINE_ROTATE_ABORT] = "rotate-abort",
					    [ENGINE_ROTATE_RESUME] = "rotate-resume"};
	struct rotate *rt = e->keys->rotate;
	char text[96];
	int rc;

	if (rt == NULL || e->keys->secrets == NULL)
		return err_set(err, ERR_INVALID,
			       "there is no section secrets in the configuration");
	if (ask->credential != NULL && ask->credential[0] == '\0')
		return err_set(err, ERR_INVALID, "the credential is empty");
	if (ask->verb == ENGINE_ROTATE_START)
		rc = begin(rt, ask, err);
	else if (ask->verb == ENGINE_ROTATE_SWITCH)
		rc = order_switch(rt, ask, err);
	else if (ask->verb == ENGINE_ROTATE_ABORT)
		rc = order_abort(rt, ask, err);
	else
		rc = resume(rt, ask, err);
	if (rc != 0)
		return -1;
	(void)snprintf(text, sizeof(text), "ordered by %.60s", ask->by);
	journal_put_audit(engine_tx(e),
			  &(struct journal_audit){.at_ms = engine_now(e),
						  .actor = ask->by,
						  .verb = words[ask->verb],
						  .target = "secrets",
						  .object = rotation_kind_str(rt->r.kind),
						  .reason = text,
						  .request = ""});
	write_down(rt);
	engine_commit(e);
	engine_turn(e);
	return e->dead ? err_set(err, ERR_IO, "the journal failed") : 0;
}

void engine_rotation(const struct engine *e, struct engine_rotation *out)
{
	const struct rotate *rt = e->keys->rotate;

	*out = (struct engine_rotation){.error = ""};
	if (rt == NULL || e->keys->secrets == NULL)
		return;
	*out = (struct engine_rotation){
		.there = true,
		.r = rt->r,
		.version = wanted(rt),
		.nodes = rt->nodes,
		.alone = rotate_store_alone(e),
		.has_command = has_command(e),
		.needs_credential =
			rotation_runs(&rt->r) && (rt->store == NULL || rt->store->stuck),
		.busy = rt->store != NULL && rt->store->step != ROTATE_IDLE,
		.error = rt->error,
	};
}

size_t engine_rotation_lack(const struct engine *e, const char **nodes, size_t max)
{
	int64_t want = e->keys->rotate != NULL ? wanted(e->keys->rotate) : 0;
	size_t n = 0;

	for (size_t i = 0; want != 0 && i < e->fleet.nall && n < max; i++) {
		const struct fleet_node *fn = fleet_live(e->fleet.all[i]);
		const struct claim_run *r =
			fn != NULL ? claims_of(e, e->fleet.all[i]->name, fn->n.gen) : NULL;

		if (r != NULL && r->c.state == CLAIM_CONFIRMED &&
		    (!is_heard(r) || (int64_t)r->key_version != want))
			nodes[n++] = e->fleet.all[i]->name;
	}
	return n;
}
