#include "ledger/desk.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/conf_file.h"
#include "io/loop.h"
#include "io/proc.h"
#include "io/user_name.h"
#include "ledger/desk_private.h"
#include "providers/options.h"

enum {
	VERSION = 1,
	HELD_MAX = 64, /* of root and our own user; LimitNOFILE of the unit is 1024 */
};

/* --- whose ------------------------------------------------------------------------------------
 */

/* user NULL: everybody's.  Without "whose" the worker refuses. */
static char *set_whose(struct visit *v, const char *user)
{
	json_t *whose = user != NULL ? mem_check(json_string(user)) : json_true();

	(void)json_object_set_new(v->args, "whose", whose);
	v->state = VISIT_WAITS;
	timer_at(v->desk->serve, 0);
	return NULL;
}

/* The name is known, "": there is none.  Not NULL: it is refused. */
static char *take_name(struct visit *v, const char *name)
{
	const char *asked = desk_text(v->args, "user");
	char text[200], roles[CTL_ROLES_SIZE];

	if (name[0] == '\0') {
		(void)snprintf(text, sizeof(text),
			       "whose costs to show is not known: uid %" PRIu32
			       " has no name on this host",
			       v->who.uid);
		return desk_failure("denied", text);
	}
	if (asked[0] == '\0' || strcmp(asked, name) == 0)
		return set_whose(v, name);
	(void)snprintf(text, sizeof(text),
		       "only admins and finance may see what others cost; you are uid %" PRIu32
		       ", %s",
		       v->who.uid, ctl_roles_str(roles, v->who.roles));
	return desk_failure("denied", text);
}

static void on_name(void *ctx, const struct err *err)
{
	struct visit *v = ctx;
	const char *name = user_names_get(v->desk->names, v->who.uid);
	char text[400], *refusal;

	v->name = NULL;
	if (name != NULL) {
		refusal = take_name(v, name);
	} else {
		(void)snprintf(text, sizeof(text),
			       "whose costs to show is not known, for the name of uid %" PRIu32
			       " is not: %.250s",
			       v->who.uid, err != NULL ? err->msg : "ask again");
		refusal = desk_failure("failed", text);
	}
	if (refusal == NULL)
		return;
	visit_tell(v, refusal);
	visit_drop(v);
}

/* Not NULL: it is refused. */
static char *find_whose(struct visit *v)
{
	const bool mine = json_is_true(json_object_get(v->args, "mine"));
	const char *asked = desk_text(v->args, "user"), *name;
	struct err e = {0};

	if (ctl_is(&v->who, CTL_FINANCE) && !mine)
		return set_whose(v, asked[0] != '\0' ? asked : NULL);
	name = user_names_get(v->desk->names, v->who.uid);
	if (name != NULL)
		return take_name(v, name);
	v->name = user_names_ask(v->desk->names, v->who.uid, on_name, v, &e);
	return v->name != NULL ? NULL : desk_failure("failed", e.msg);
}

/* --- the socket -------------------------------------------------------------------------------
 */

/* NULL: it can be asked. */
static char *check(const json_t *args)
{
	const char *op = desk_text(args, "op");

	if (!json_is_object(args))
		return desk_failure("invalid", "a request is a JSON object");
	if (json_integer_value(json_object_get(args, "v")) != VERSION)
		return desk_failure("invalid", "\"v\": burst-ledger speaks version 1 only");
	if (strcmp(op, "report") == 0 && json_object_get(args, "job") == NULL)
		return NULL;
	if (strcmp(op, "job") == 0 && desk_text(args, "job")[0] != '\0')
		return NULL;
	return desk_failure("invalid", "\"op\": want report, or job with \"job\"");
}

/* What the desk and its workers know of a request; "whose" is for the desk to say. */
static json_t *take_known(json_t *args)
{
	static const char *const keys[] = {"by",  "period",  "from", "to",  "form",
					   "job", "explain", "user", "mine"};
	json_t *known = mem_check(json_object());

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *v = json_object_get(args, keys[i]);

		if (v != NULL)
			(void)json_object_set(known, keys[i], v);
	}
	return known;
}

static char *on_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who,
			const char *json, size_t len)
{
	struct desk *d = ctx;
	const bool fits = len <= DESK_QUESTION_MAX / 2; /* a name and escapes have room */
	json_t *args = fits ? json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
	char *text = args != NULL ? check(args)
				  : desk_failure("invalid", fits ? "the request is not JSON"
								 : "the request is too long");
	struct visit *v = NULL;

	if (text == NULL && desk_count(d, who->uid, false) >= DESK_EACH_MAX)
		text = desk_failure("failed", "you have asked too much at a time: ask again later");
	if (text == NULL) {
		v = visit_new(d, c, who, take_known(args));
		text = find_whose(v);
		if (text == NULL && !ctl_server_hold(c, v))
			text = desk_failure("failed", "too many ask: ask again later");
	}
	if (text != NULL && v != NULL)
		visit_cancel(v);
	json_decref(args);
	return text;
}

/* Nobody waits for it: one that runs ends by its own limits. */
static void let_go(struct visit *v)
{
	v->conn = NULL;
	if (v->state != VISIT_RUNS)
		visit_cancel(v);
}

static char *on_expired(void *ctx, void *hold)
{
	(void)ctx;
	let_go(hold);
	return desk_failure("failed", "too many ask, or it takes too long: ask again later");
}

static void on_gone(void *ctx, void *hold)
{
	(void)ctx;
	let_go(hold);
}

/* --- who may see all --------------------------------------------------------------------------
 */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Somebody who is shut out must not see on because nobody told this service.  A file that cannot be
 * used changes nothing, and each look tries it again: the fault may be elsewhere, and pass. */
static void on_look(void *ctx)
{
	struct desk *d = ctx;
	struct conf *conf;
	struct stat st;
	struct err e;

	timer_at(d->look, loop_now(d->loop) + (d->o->look_ms > 0 ? d->o->look_ms : DESK_LOOK_MS));
	if (stat(d->o->config, &st) != 0 || is_same(&st, &d->conf))
		return;
	if (conf_file_load(&conf, d->o->config, provider_options, &e) != 0) {
		log_write(d->o->log, LOG_ERROR, "who may see all is as it was", "error", e.msg,
			  NULL);
		return;
	}
	d->conf = st;
	ctl_server_know(d->ctl, &conf->people);
	conf_free(conf);
}

/* --- life -------------------------------------------------------------------------------------
 */

static void on_stop(void *ctx)
{
	struct desk *d = ctx;

	loop_stop(d->loop);
}

static int open_desk(struct desk *d, struct err *e)
{
	const struct ctl_server_opts o = {.path = d->o->socket,
					  .people = d->o->people,
					  .hold_ms = DESK_HOLD_MS,
					  .held_max = HELD_MAX};
	const struct ctl_handler h = {
		.request = on_request, .expired = on_expired, .gone = on_gone, .ctx = d};

	d->ledger = realpath(d->o->ledger, NULL);
	if (d->ledger == NULL)
		return err_set(e, err_of_errno(errno), "%s: %s", d->o->ledger, strerror(errno));
	if (loop_new(&d->loop, e) != 0)
		return -1;
	d->proc = proc_new(d->loop);
	d->names = user_names_new(d->loop, d->proc, d->o->getent);
	d->look = timer_new(d->loop, on_look, d);
	d->serve = timer_new(d->loop, desk_on_serve, d);
	timer_at(d->look, loop_now(d->loop)); /* it may have changed since */
	if (loop_on_signal(d->loop, SIGTERM, on_stop, d, e) != 0 ||
	    loop_on_signal(d->loop, SIGINT, on_stop, d, e) != 0)
		return -1;
	return ctl_server_new(&d->ctl, d->loop, &o, &h, e);
}

static void close_desk(struct desk *d)
{
	struct ctl_server *ctl = d->ctl;

	free(d->ledger);
	if (d->loop == NULL)
		return;
	d->ctl = NULL; /* nothing more is begun */
	ctl_server_close(ctl);
	timer_free(d->look);
	timer_free(d->serve);
	user_names_free(d->names);
	proc_close(d->proc); /* those that run are called back, and dropped */
	loop_free(d->loop);
}

int desk_run(const struct desk_opts *o, struct err *e)
{
	struct desk d = {.o = o};
	int rc = open_desk(&d, e);

	if (rc == 0) {
		(void)puts("ready"); /* for the process that started it */
		(void)fflush(stdout);
		loop_run(d.loop);
	}
	close_desk(&d);
	return rc;
}
