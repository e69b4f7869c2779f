/* The secret store: shows its state, and takes a wrapping token to enrol burstd with it. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "keys/keys_api.h"

/* Show a rotation that runs, or that has an error. */
static void put_rotation(struct ctl_reply *r)
{
	struct engine_rotation s;
	char text[64];

	engine_rotation(r->api->engine, &s);
	if (!s.there || !(rotation_runs(&s.r) || s.error[0] != '\0'))
		return;
	if (s.error[0] == '\0' && s.needs_credential)
		s.error = "it needs a credential: burstctl secrets rotate --resume";
	(void)snprintf(text, sizeof(text), "%s: %s", rotation_kind_str(s.r.kind),
		       rotation_phase_str(s.r.phase));
	jsonw_text(&r->w, "rotation", text);
	jsonw_text(&r->w, "rotation_error", s.error);
}

void ctl_secrets_put(struct ctl_reply *r)
{
	static const char *const enrolments[] = {[ENGINE_ENROL_NONE] = "",
						 [ENGINE_ENROL_BUSY] = "busy",
						 [ENGINE_ENROL_DONE] = "done",
						 [ENGINE_ENROL_FAILED] = "failed"};
	struct jsonw *w = &r->w;
	struct engine_secrets s;

	engine_secrets(r->api->engine, &s);
	if (s.driver[0] == '\0')
		return;
	jsonw_open(w, "secrets", '{');
	jsonw_text(w, "driver", s.driver);
	jsonw_text(w, "address", s.source.name);
	jsonw_text(w, "phase", s.phase);
	jsonw_bool(w, "ok", s.ready && s.source.error[0] == '\0');
	jsonw_bool(w, "insecure", s.insecure);
	ctl_reply_time(r, "ok_ms", s.source.ok_ms);
	ctl_reply_time(r, "failed_ms", s.source.failed_ms);
	jsonw_text(w, "error", s.source.error);
	jsonw_text(w, "version", s.version);
	ctl_reply_time(r, "version_ms", s.version_ms);
	jsonw_int(w, "waiting", (int64_t)s.waiting);
	jsonw_int(w, "wrapped", (int64_t)s.released[CONF_WRAP]);
	jsonw_int(w, "brokered", (int64_t)s.released[CONF_BROKER]);
	jsonw_int(w, "user_data", (int64_t)s.released[CONF_USER_DATA]);
	jsonw_int(w, "failed", (int64_t)s.failed);
	jsonw_text(w, "enrolment", enrolments[s.enrolment]);
	jsonw_text(w, "enrolment_error", s.enrolled);
	put_rotation(r);
	jsonw_close(w, '}');
}

int ctl_secrets_show(struct ctl_reply *r)
{
	ctl_reply_time(r, "now_ms", engine_now(r->api->engine));
	ctl_secrets_put(r);
	return 0;
}

/* The token is never logged, and is wiped where we can reach it. */
int ctl_secrets_enroll(struct ctl_reply *r)
{
	char by[CTL_BY_SIZE], uid[FMT_U64_SIZE], roles[CTL_ROLES_SIZE];
	const char *token;
	int rc;

	if (ctl_reply_text(r, "token", NULL, &token) != 0)
		return -1;
	(void)ctl_reply_by(by, r->who);
	rc = engine_enroll(r->api->engine, token, by, &r->err);
	explicit_bzero((char *)(uintptr_t)token, strlen(token));
	log_write(r->api->log, LOG_INFO, "secrets enroll asked for", "uid",
		  fmt_u64(uid, r->who->uid), "role", ctl_roles_str(roles, r->who->roles), "outcome",
		  rc == 0 ? "begun" : r->err.msg, NULL);
	if (rc != 0)
		r->code = r->err.code == ERR_INVALID ? "invalid" : "failed";
	return rc;
}
