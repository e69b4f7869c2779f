/* The rotation of one of the cluster's keys: shows it, and takes an admin's orders. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "keys/keys_api.h"

enum { LACK_MAX = 100 }; /* nodes that are named */

static const char *given(const char *text)
{
	return text != NULL ? text : "";
}

static void put_nodes(struct ctl_reply *r, const struct engine_rotation *s)
{
	const char *lack[LACK_MAX];
	size_t n = engine_rotation_lack(r->api->engine, lack, LACK_MAX);
	struct jsonw *w = &r->w;

	jsonw_open(w, "nodes", '{');
	jsonw_int(w, "have", s->nodes.have);
	jsonw_int(w, "lack", s->nodes.lack);
	jsonw_int(w, "unheard", s->nodes.unheard);
	jsonw_int(w, "drained", s->nodes.drained);
	jsonw_int(w, "others", s->nodes.others);
	jsonw_int(w, "fixed", s->nodes.fixed);
	jsonw_close(w, '}');
	jsonw_open(w, "lacking", '[');
	for (size_t i = 0; i < n; i++)
		jsonw_text(w, NULL, lack[i]);
	jsonw_close(w, ']');
}

int ctl_rotate_show(struct ctl_reply *r)
{
	const struct conf_secrets *c = &engine_conf(r->api->engine)->secrets;
	struct engine_secrets secrets;
	struct engine_rotation s;
	struct jsonw *w = &r->w;

	engine_rotation(r->api->engine, &s);
	engine_secrets(r->api->engine, &secrets);
	ctl_reply_time(r, "now_ms", engine_now(r->api->engine));
	if (!s.there)
		return 0;
	jsonw_open(w, "rotation", '{');
	jsonw_text(w, "kind", rotation_kind_str(s.r.kind));
	jsonw_text(w, "phase", rotation_phase_str(s.r.phase));
	jsonw_bool(w, "runs", rotation_runs(&s.r));
	jsonw_bool(w, "alien", s.r.alien);
	jsonw_text(w, "current", secrets.version);
	jsonw_int(w, "version", s.version);
	ctl_reply_time(r, "begun_ms", s.r.begun_ms);
	ctl_reply_time(r, "since_ms", s.r.since_ms);
	ctl_reply_time(r, "switch_ms", s.r.switch_ms);
	jsonw_int(w, "token_life_ms", s.r.life_ms);
	put_nodes(r, &s);
	jsonw_bool(w, "needs_credential", s.needs_credential);
	jsonw_bool(w, "busy", s.busy);
	jsonw_text(w, "error", s.error);
	jsonw_text(w, "driver", secrets.driver);
	jsonw_text(w, "mount", given(c->mount));
	jsonw_text(w, "name", given(c->name));
	jsonw_text(w, "role", given(c->rotate_role_name));
	jsonw_bool(w, "wrapped", !s.alone);
	jsonw_bool(w, "switch_command", s.has_command);
	jsonw_close(w, '}');
	return 0;
}

static int read_verb(struct ctl_reply *r, enum engine_rotate_verb *verb)
{
	static const char *const words[] = {[ENGINE_ROTATE_START] = "start",
					    [ENGINE_ROTATE_SWITCH] = "switch",
					    [ENGINE_ROTATE_ABORT] = "abort",
					    [ENGINE_ROTATE_RESUME] = "resume"};
	const char *word;

	if (ctl_reply_text(r, "verb", NULL, &word) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i]) == 0) {
			*verb = (enum engine_rotate_verb)i;
			return 0;
		}
	return ctl_reply_refuse(r, "invalid", "\"verb\": want start, switch, abort or resume");
}

static int read_ask(struct ctl_reply *r, struct engine_rotate_ask *ask)
{
	const int64_t day = INT64_C(86400000);
	const char *kind;
	int k;

	if (read_verb(r, &ask->verb) != 0 || ctl_reply_text(r, "kind", "", &kind) != 0 ||
	    ctl_reply_int(r, "in_ms", day, 0, &ask->in_ms) != 0 ||
	    ctl_reply_int(r, "token_life_ms", day, 0, &ask->life_ms) != 0 ||
	    ctl_reply_text(r, "credential", "", &ask->credential) != 0)
		return -1;
	if (ask->credential[0] == '\0')
		ask->credential = NULL;
	if (ask->verb != ENGINE_ROTATE_START)
		return 0;
	k = rotation_kind_parse(kind);
	if (k < 0)
		return ctl_reply_refuse(r, "invalid", "\"kind\": want munge or jwks");
	ask->kind = (enum rotation_kind)k;
	return 0;
}

/* The credential is never logged, and is wiped where we can reach it. */
int ctl_rotate_order(struct ctl_reply *r)
{
	struct engine_rotate_ask ask = {.by = ""};
	char by[CTL_BY_SIZE], uid[FMT_U64_SIZE], roles[CTL_ROLES_SIZE];
	int rc;

	(void)ctl_reply_by(by, r->who);
	ask.by = by;
	rc = read_ask(r, &ask);
	if (rc == 0) {
		rc = engine_rotate(r->api->engine, &ask, &r->err);
		log_write(r->api->log, LOG_INFO, "secrets rotate asked for", "uid",
			  fmt_u64(uid, r->who->uid), "role", ctl_roles_str(roles, r->who->roles),
			  "outcome", rc == 0 ? "begun" : r->err.msg, NULL);
		if (rc != 0)
			r->code = r->err.code == ERR_INVALID ? "invalid" : "failed";
	}
	if (ask.credential != NULL)
		explicit_bzero((char *)(uintptr_t)ask.credential, strlen(ask.credential));
	return rc;
}
