#include "keys/rotate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/proc.h"

/* Tells slurmctld, and the munged beside it, of new keys, by the site's command and scontrol. */

enum { ROTATE_OUT_MAX = 4096, ROTATE_WORDS_MAX = CONF_ARGS_MAX + 3 };

struct rotate_child {      /* the site's command, or scontrol */
	struct rotate *rt; /* NULL: the engine is gone */
	enum rotation_phase phase;
	int64_t id;
	bool reconfigure;
};

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

/* Pause after a command that could not be started: short if too many programs run, longer if it is
 * missing. */
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
	if (rt->child != NULL)
		rt->reconfigured_ms = engine_now(rt->e);
}

/* slurmctld answers nobody while it reads its configuration, for seconds where it is large.  So it
 * is not asked to more often than the site allows, however fast the phases follow each other, and
 * whatever an admin orders meanwhile. */
static bool is_too_soon(struct rotate *rt)
{
	const int64_t at = rt->reconfigured_ms + rt->e->conf->reconfigure_ms;

	if (rt->reconfigured_ms == 0 || at <= engine_now(rt->e))
		return false;
	rt->tell_ms = at;
	return true;
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

bool rotate_has_command(const struct engine *e)
{
	return e->conf->secrets.switch_command != NULL &&
	       e->conf->secrets.switch_command[0] != NULL;
}

bool rotate_is_to_tell(const struct rotate *rt)
{
	if (rt->r.kind == ROTATION_MUNGE)
		return rotation_switches(&rt->r);
	return rotation_want(&rt->r) == ROTATION_WANT_TELL;
}

void rotate_tell_slurmctld(struct rotate *rt)
{
	bool munge = rt->r.kind == ROTATION_MUNGE;

	if (rt->child != NULL || rt->dirty || !rotate_is_to_tell(rt) ||
	    engine_now(rt->e) < rt->tell_ms)
		return;
	if (rotate_has_command(rt->e) && !rt->commanded) {
		command(rt);
	} else if (munge) {
		rotate_tell_people(rt, "now: copy the new key to the machines of slurmctld, "
				       "slurmdbd and users, and restart munged there");
		if (rt->r.phase == ROTATION_SETTLING)
			rt->error[0] = '\0'; /* of a removed command */
		rotate_event(rt, ROTATION_EV_TOLD, 0);
	} else if (!is_too_soon(rt)) {
		reconfigure(rt);
	}
}

void rotate_command_free(struct rotate *rt)
{
	if (rt->child != NULL)
		rt->child->rt = NULL;
}
